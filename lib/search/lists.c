/*
 * Inverted lists: the rows nearest to each of some centroids, of which a query visits a few.
 *
 * Centroids are found by k-means, and the nearest ones by flat search.
 */
#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "search/search_private.h"

enum {
  ASSIGN_BLOCK = 1 << 10, /* rows assigned to lists by one call */
  TRAIN_PER_LIST = 40,    /* training rows a list, just above what FAISS asks for */
  TRAIN_LEAST = 39,       /* FAISS complains on standard error below this many */
  HEADER_BYTES = 64,
};

/* ---- layout ---- */

/* Offsets in the bytes. */
struct layout {
  size_t centroids, ends, ids, rows, length;
};

/* False if there are too many. */
static bool lay_out(size_t n, size_t d, size_t n_lists, struct layout *layout)
{
  size_t at = HEADER_BYTES;
  layout->centroids = at;
  if (!gpnn_search_advance(&at, n_lists, d, sizeof(float))) return false;
  layout->ends = at;
  if (!gpnn_search_advance(&at, n_lists, 1, sizeof(uint32_t))) return false;
  layout->ids = at;
  if (!gpnn_search_advance(&at, n, 1, sizeof(uint32_t))) return false;
  layout->rows = at;
  if (!gpnn_search_advance(&at, n, d, sizeof(float))) return false;
  layout->length = at;
  return true;
}

/* Makes the lists of 'engine' those in its bytes. */
static enum gpnn_status use(struct gpnn_faiss *engine, const struct layout *layout, size_t n_lists,
                            struct gpnn_error *err)
{
  const unsigned char *bytes = engine->bytes;
  size_t d = engine->points->d;
  struct gpnn_lists *lists = &engine->lists;
  *lists = (struct gpnn_lists){.n = engine->points->n_distinct,
                               .d = d,
                               .n_lists = n_lists,
                               .ends = (const uint32_t *)(const void *)(bytes + layout->ends),
                               .ids = (const uint32_t *)(const void *)(bytes + layout->ids),
                               .rows = (const float *)(const void *)(bytes + layout->rows)};
  enum gpnn_status status = gpnn_faiss_flat_new(&lists->centroids, d, err);
  if (status != GPNN_OK) return status;
  const float *centroids = (const float *)(const void *)(bytes + layout->centroids);
  return gpnn_faiss_flat_add(lists->centroids, n_lists, centroids, err);
}

/* ---- building ---- */

/* Finds the centroids of the lists from a random sample of rows. */
static enum gpnn_status train(const struct gpnn_faiss *engine, size_t n_lists, uint64_t seed,
                              float *centroids, struct gpnn_error *err)
{
  const struct gpnn_search_points *points = engine->points;
  size_t n = points->n_distinct, d = points->d;
  size_t n_rows = n < n_lists * TRAIN_PER_LIST ? n : n_lists * TRAIN_PER_LIST;
  /* Too few rows for the lists are used more than once. */
  size_t n_train = n_rows < n_lists * TRAIN_LEAST ? n_lists * TRAIN_LEAST : n_rows;
  uint64_t *rows = gpnn_alloc(n_rows, 1, sizeof *rows);
  float *sample = gpnn_alloc(n_train, d, sizeof *sample);
  enum gpnn_status status = GPNN_OK;
  if (rows == NULL || sample == NULL) {
    status = gpnn_fail_memory(err, "for training a search");
    goto out;
  }
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_SEARCH_TRAIN);
  status = gpnn_rng_sample(&rng, n, n_rows, rows, err);
  if (status != GPNN_OK) goto out;
  for (size_t i = 0; i < n_train; i++)
    gpnn_float_frame_apply(&engine->frame,
                           points->x + gpnn_duplicates_first(points, (size_t)rows[i % n_rows]) * d,
                           sample + i * d);
  status = gpnn_faiss_means(n_train, d, sample, n_lists, centroids, err);
out:
  free(rows);
  free(sample);
  return status;
}

/* Rows that are assigned to lists. */
struct assigning {
  const struct gpnn_lists *lists;
  int threads;
  uint32_t *list; /* n: of each row */
  size_t first, n;
  const float *rows; /* n by d, those from 'first' on */
};

/* Assigns the next ASSIGN_BLOCK rows, or as many as are left. */
static enum gpnn_status assign_piece(void *context, size_t thread, size_t piece,
                                     struct gpnn_error *err)
{
  const struct assigning *a = context;
  size_t from = piece * ASSIGN_BLOCK, left = a->n - from;
  size_t n = left < ASSIGN_BLOCK ? left : ASSIGN_BLOCK;
  float distances[ASSIGN_BLOCK];
  int64_t nearest[ASSIGN_BLOCK];
  (void)thread;
  enum gpnn_status status = gpnn_faiss_flat_nearest(
      a->lists->centroids, n, a->rows + from * a->lists->d, 1, distances, nearest, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    a->list[a->first + from + i] = (uint32_t)nearest[i];
  return status;
}

static enum gpnn_status assign(void *context, size_t first, size_t n, const float *rows,
                               struct gpnn_error *err)
{
  struct assigning *a = context;
  a->first = first;
  a->n = n;
  a->rows = rows;
  return gpnn_threads_try(a->threads, (n + ASSIGN_BLOCK - 1) / ASSIGN_BLOCK, 1, assign_piece, a,
                          err);
}

/* Sets the ends of the lists, and the rows in them; 'list', the list of each row, becomes its
 * place. */
static void place(size_t n, size_t n_lists, uint32_t *list, uint32_t *ends, uint32_t *ids)
{
  for (size_t i = 0; i < n; i++) ends[list[i]]++;
  uint32_t begin = 0;
  for (size_t l = 0; l < n_lists; l++) {
    uint32_t count = ends[l];
    ends[l] = begin;
    begin += count;
  }
  for (size_t i = 0; i < n; i++) {
    list[i] = ends[list[i]]++;
    ids[list[i]] = (uint32_t)i;
  }
}

/* Fills the lists, whose centroids are known. */
static enum gpnn_status fill(struct gpnn_faiss *engine, const struct layout *layout, int threads,
                             struct gpnn_error *err)
{
  const struct gpnn_lists *lists = &engine->lists;
  unsigned char *bytes = engine->owned;
  uint32_t *list = gpnn_alloc(lists->n, 1, sizeof *list);
  if (list == NULL) return gpnn_fail_memory(err, "for filling a search");
  struct assigning assigning = {.lists = lists, .threads = threads, .list = list};
  enum gpnn_status status = gpnn_faiss_each_row(engine, threads, assign, &assigning, err);
  if (status == GPNN_OK) {
    place(lists->n, lists->n_lists, list, (uint32_t *)(void *)(bytes + layout->ends),
          (uint32_t *)(void *)(bytes + layout->ids));
    status =
        gpnn_faiss_place_rows(engine, threads, list, (float *)(void *)(bytes + layout->rows), err);
  }
  free(list);
  return status;
}

enum gpnn_status gpnn_lists_build(struct gpnn_faiss *engine, size_t n_lists, uint64_t seed,
                                  int threads, struct gpnn_error *err)
{
  size_t n = engine->points->n_distinct, d = engine->points->d;
  struct layout layout;
  if (!lay_out(n, d, n_lists, &layout)) return gpnn_fail_memory(err, "for a search");
  enum gpnn_status status = gpnn_faiss_reserve(engine, layout.length, err);
  if (status != GPNN_OK) return status;
  gpnn_store_u64(engine->owned, n);
  gpnn_store_u64(engine->owned + 8, d);
  gpnn_store_u64(engine->owned + 16, n_lists);
  status = train(engine, n_lists, seed, (float *)(void *)(engine->owned + layout.centroids), err);
  if (status == GPNN_OK) status = use(engine, &layout, n_lists, err);
  if (status == GPNN_OK) status = fill(engine, &layout, threads, err);
  return status;
}

/* ---- mapping ---- */

/* True if lists end one after the other, the last with the last row, and no centroid is farther out
 * than rows can be.  What is in the lists is not read. */
static bool is_sound(const struct gpnn_faiss *engine, const struct layout *layout, size_t n_lists)
{
  size_t d = engine->points->d;
  const float *centroids = (const float *)(const void *)(engine->bytes + layout->centroids);
  const uint32_t *ends = (const uint32_t *)(const void *)(engine->bytes + layout->ends);
  for (size_t i = 0; i < n_lists * d; i++)
    if (!(fabsf(centroids[i]) < 2 * (float)GPNN_FLOAT_FRAME_EDGE)) return false;
  for (size_t l = 1; l < n_lists; l++)
    if (ends[l] < ends[l - 1]) return false;
  return ends[n_lists - 1] == engine->points->n_distinct;
}

enum gpnn_status gpnn_lists_map(struct gpnn_faiss *engine, size_t n_lists, bool *fits,
                                struct gpnn_error *err)
{
  const unsigned char *bytes = engine->bytes;
  size_t n = engine->points->n_distinct, d = engine->points->d;
  struct layout layout;
  *fits = engine->length >= HEADER_BYTES && gpnn_load_u64(bytes) == n &&
          gpnn_load_u64(bytes + 8) == d && gpnn_load_u64(bytes + 16) == n_lists &&
          lay_out(n, d, n_lists, &layout) && engine->length == layout.length &&
          is_sound(engine, &layout, n_lists);
  return *fits ? use(engine, &layout, n_lists, err) : GPNN_OK;
}

/* ---- queries ---- */

/* Offers a heap of the k nearest the rows of list 'l'; returns how many these are. */
static size_t scan(const struct gpnn_lists *lists, const float *query, size_t l, size_t k,
                   struct gpnn_neighbour *nearest)
{
  size_t begin = l == 0 ? 0 : lists->ends[l - 1], end = lists->ends[l];
  for (size_t i = begin; i < end; i++) {
    double distance = (double)gpnn_faiss_distance(lists->d, query, lists->rows + i * lists->d);
    gpnn_nearest_offer(nearest, k, (struct gpnn_neighbour){distance, lists->ids[i]});
  }
  return end - begin;
}

enum gpnn_status gpnn_lists_candidates(const struct gpnn_faiss *engine, size_t n_queries, size_t k,
                                       struct gpnn_faiss_scratch *scratch, int64_t *rows,
                                       size_t *visited, struct gpnn_error *err)
{
  const struct gpnn_lists *lists = &engine->lists;
  size_t effort = engine->effort, n_scanned = 0;
  enum gpnn_status status = gpnn_faiss_flat_nearest(lists->centroids, n_queries, scratch->queries,
                                                    effort, scratch->coarse, scratch->lists, err);
  for (size_t q = 0; q < n_queries && status == GPNN_OK; q++) {
    struct gpnn_neighbour *nearest = scratch->nearest;
    for (size_t i = 0; i < k; i++)
      nearest[i] = (struct gpnn_neighbour){INFINITY, GPNN_NEAREST_NONE};
    for (size_t i = 0; i < effort; i++) {
      int64_t list = scratch->lists[q * effort + i];
      if (list >= 0)
        n_scanned += scan(lists, scratch->queries + q * lists->d, (size_t)list, k, nearest);
    }
    for (size_t i = 0; i < k; i++)
      rows[q * k + i] = nearest[i].row == GPNN_NEAREST_NONE ? -1 : nearest[i].row;
  }
  if (visited != NULL) *visited += n_scanned;
  return status;
}
