#include "search/faiss_calls_private.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wcast-qual"
#include <faiss/IndexFlat.h>
#include <faiss/impl/AuxIndexStructures.h>
#include <faiss/impl/DistanceComputer.h>
#include <faiss/impl/HNSW.h>
#include <faiss/utils/distances.h>
#include <faiss/utils/random.h>

#include "search/search.h"
#pragma GCC diagnostic pop

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <omp.h>
#include <vector>

namespace
{

/*
 * Runs 'work', which is FAISS 'doing' something, without exceptions.  FAISS takes its number of
 * threads from OpenMP, whose threads spin while they wait, so each of our threads limits it to one.
 */
template <typename Work>
enum gpnn_status guarded(const char *doing, struct gpnn_error *err, Work work) noexcept
{
  enum gpnn_status status = GPNN_OK;
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  try {
    work();
  } catch (const std::bad_alloc &) {
    status = gpnn_fail_memory(err, "for a search");
  } catch (const std::exception &error) {
    status = gpnn_fail(err, GPNN_EEXTERNAL, "%s: faiss: %s", doing, error.what());
  }
  omp_set_num_threads(before);
  return status;
}

/* Distances from a query to the rows of a graph, and between them. */
struct Distances : faiss::DistanceComputer {
  const float *rows, *query = nullptr;
  const size_t d;

  explicit Distances(const gpnn_graph &graph) : rows(graph.rows), d(graph.d)
  {
  }
  const float *at(int64_t i) const
  {
    return rows + static_cast<size_t>(i) * d;
  }
  void set_query(const float *x) override
  {
    query = x;
  }
  float operator()(int64_t i) override
  {
    return faiss::fvec_L2sqr(query, at(i), d);
  }
  float symmetric_dis(int64_t i, int64_t j) override
  {
    return faiss::fvec_L2sqr(at(i), at(j), d);
  }
};

/* Moves each mean to the middle of the rows nearest to it; returns how many these are. */
std::vector<float> move_means(size_t n, size_t d, const float *rows, const int64_t *nearest,
                              std::vector<float> &means)
{
  std::vector<float> counts(means.size() / d);
  std::fill(means.begin(), means.end(), 0.0F);
  for (size_t i = 0; i < n; i++) {
    const size_t at = static_cast<size_t>(nearest[i]);
    counts[at] += 1;
    for (size_t j = 0; j < d; j++) means[at * d + j] += rows[i * d + j];
  }
  for (size_t i = 0; i < means.size(); i++)
    if (counts[i / d] > 0) means[i] *= 1 / counts[i / d];
  return counts;
}

/* A mean without rows gets half of those of another, the more likely the more that has. */
void split_means(size_t n, size_t d, std::vector<float> &counts, std::vector<float> &means)
{
  const size_t k = counts.size();
  faiss::RandomGenerator random(1234);
  for (size_t empty = 0; empty < k; empty++) {
    size_t from = 0;
    if (counts[empty] > 0) continue;
    while (!(random.rand_float() < (counts[from] - 1) / static_cast<float>(n - k)))
      from = (from + 1) % k;
    for (size_t j = 0; j < d; j++) {
      float *mean = &means[from * d + j];
      const float step = j % 2 == 0 ? 0x1p-10F : -0x1p-10F;
      means[empty * d + j] = *mean * (1 + step);
      *mean *= 1 - step;
    }
    counts[empty] = counts[from] / 2;
    counts[from] -= counts[empty];
  }
}

/* Lloyd's algorithm, as FAISS has it in a class that brings all its transforms of vectors along. */
std::vector<float> find_means(size_t n, size_t d, const float *rows, size_t k)
{
  enum { STEPS = 10 };
  std::vector<int> order(n);
  std::vector<float> means(k * d), distances(n);
  std::vector<int64_t> nearest(n);
  faiss::IndexFlatL2 flat(static_cast<int64_t>(d));
  faiss::rand_perm(order.data(), n, 1235);
  for (size_t i = 0; i < k; i++)
    std::copy_n(rows + static_cast<size_t>(order[i]) * d, d,
                means.begin() + static_cast<std::ptrdiff_t>(i * d));
  for (int step = 0; step < STEPS; step++) {
    flat.reset();
    flat.add(static_cast<int64_t>(k), means.data());
    flat.search(static_cast<int64_t>(n), rows, 1, distances.data(), nearest.data());
    std::vector<float> counts = move_means(n, d, rows, nearest.data(), means);
    split_means(n, d, counts, means);
  }
  return means;
}

/* A graph while rows are added, those of the highest levels first, otherwise in random order. */
class Linking
{
  const gpnn_graph &graph;
  faiss::HNSW hnsw{GPNN_GRAPH_UPPER};
  faiss::VisitedTable visited;
  std::vector<omp_lock_t> locks; /* FAISS wants them, but there is one thread */
  Distances distances;
  size_t next[GPNN_GRAPH_LEVELS] = {}; /* the next place whose row has this as highest level */

public:
  explicit Linking(const gpnn_graph &of)
      : graph(of), visited(static_cast<int>(of.n)), locks(of.n), distances(of)
  {
    hnsw.levels.resize(graph.n);
    for (size_t l = 0; l < graph.n_levels; l++) {
      for (size_t place = 0; place < graph.counts[l]; place++) hnsw.levels[place]++;
      if (l > 0) next[l - 1] = graph.counts[l];
    }
    hnsw.prepare_level_tab(graph.n, true);
    for (omp_lock_t &lock : locks) omp_init_lock(&lock);
  }
  Linking(const Linking &) = delete;
  Linking &operator=(const Linking &) = delete;
  ~Linking()
  {
    for (omp_lock_t &lock : locks) omp_destroy_lock(&lock);
  }

  /* Adds the rows up to number 'end'. */
  void add(size_t end)
  {
    faiss::RandomGenerator random(789);
    std::vector<int> places;
    for (size_t l = graph.n_levels; l-- > 0;) {
      places.clear();
      while (next[l] < graph.counts[l] && graph.ids[next[l]] < end)
        places.push_back(static_cast<int>(next[l]++));
      const int n = static_cast<int>(places.size());
      for (int i = 0; i < n; i++) {
        std::swap(places[static_cast<size_t>(i)],
                  places[static_cast<size_t>(i + random.rand_int(n - i))]);
        const int place = places[static_cast<size_t>(i)];
        distances.set_query(distances.at(place));
        hnsw.add_with_locks(distances, static_cast<int>(l), place, locks, visited);
      }
    }
  }

  /* Copies the links, and returns the entry. */
  size_t take(uint32_t *const *links) const
  {
    for (size_t l = 0; l < graph.n_levels; l++)
      for (size_t place = 0; place < graph.counts[l]; place++) {
        size_t begin, end;
        hnsw.neighbor_range(static_cast<int64_t>(place), static_cast<int>(l), &begin, &end);
        const size_t width = end - begin;
        for (size_t i = 0; i < width; i++)
          links[l][place * width + i] = static_cast<uint32_t>(hnsw.neighbors[begin + i]);
      }
    return static_cast<size_t>(hnsw.entry_point);
  }
};

} // namespace

struct gpnn_faiss_flat {
  faiss::IndexFlatL2 index;
};

const char *gpnn_search_engine_version(void)
{
#define TEXT_OF(number) #number
#define DOTTED(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)
  return DOTTED(FAISS_VERSION_MAJOR, FAISS_VERSION_MINOR, FAISS_VERSION_PATCH);
}

enum gpnn_status gpnn_faiss_flat_new(struct gpnn_faiss_flat **flat, size_t d,
                                     struct gpnn_error *err)
{
  return guarded("making a search", err,
                 [&] { *flat = new gpnn_faiss_flat{faiss::IndexFlatL2(static_cast<int64_t>(d))}; });
}

enum gpnn_status gpnn_faiss_flat_add(struct gpnn_faiss_flat *flat, size_t n, const float *rows,
                                     struct gpnn_error *err)
{
  return guarded("filling a search", err, [&] { flat->index.add(static_cast<int64_t>(n), rows); });
}

enum gpnn_status gpnn_faiss_flat_nearest(const struct gpnn_faiss_flat *flat, size_t n,
                                         const float *queries, size_t k, float *distances,
                                         int64_t *rows, struct gpnn_error *err)
{
  return guarded("searching", err, [&] {
    flat->index.search(static_cast<int64_t>(n), queries, static_cast<int64_t>(k), distances, rows);
  });
}

void gpnn_faiss_flat_free(struct gpnn_faiss_flat *flat)
{
  delete flat;
}

enum gpnn_status gpnn_faiss_means(size_t n, size_t d, const float *rows, size_t k, float *means,
                                  struct gpnn_error *err)
{
  return guarded("training a search", err, [&] {
    const std::vector<float> found = find_means(n, d, rows, k);
    std::copy(found.begin(), found.end(), means);
  });
}

float gpnn_faiss_distance(size_t d, const float *a, const float *b)
{
  return faiss::fvec_L2sqr(a, b, d);
}

enum gpnn_status gpnn_faiss_draw_levels(size_t n, unsigned char *levels, struct gpnn_error *err)
{
  return guarded("making a graph", err, [&] {
    faiss::HNSW hnsw(GPNN_GRAPH_UPPER);
    for (size_t i = 0; i < n; i++)
      levels[i] =
          static_cast<unsigned char>(std::min<int>(hnsw.random_level() + 1, GPNN_GRAPH_LEVELS));
  });
}

enum gpnn_status gpnn_faiss_link(struct gpnn_graph *graph, uint32_t *const *links,
                                 struct gpnn_error *err)
{
  enum { TOGETHER = 1 << 16 }; /* rows that are added before others of any level */
  return guarded("making a graph", err, [&] {
    Linking linking(*graph);
    for (size_t begin = 0; begin < graph->n; begin += TOGETHER) linking.add(begin + TOGETHER);
    graph->entry = linking.take(links);
  });
}
