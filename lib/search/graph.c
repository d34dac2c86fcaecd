/*
 * Navigable graphs (HNSW): from row to row along links, always to the nearest one met so far.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "search/search_private.h"

enum { LEVELS = GPNN_GRAPH_LEVELS, HEADER_BYTES = 128, COUNTS_AT = 64 };

/* ---- layout ---- */

/* Offsets in the bytes. */
struct layout {
  size_t ids, rows, links[LEVELS], length;
};

static size_t links_of(size_t level)
{
  return level == 0 ? GPNN_GRAPH_LOWEST : GPNN_GRAPH_UPPER;
}

/* Sets where the parts of a graph are whose counts are known; false if there are too many. */
static bool lay_out(const struct gpnn_graph *graph, struct layout *layout)
{
  size_t at = HEADER_BYTES;
  layout->ids = at;
  if (!gpnn_search_advance(&at, graph->n, 1, sizeof(uint32_t))) return false;
  layout->rows = at;
  if (!gpnn_search_advance(&at, graph->n, graph->d, sizeof(float))) return false;
  for (size_t l = 0; l < graph->n_levels; l++) {
    layout->links[l] = at;
    if (!gpnn_search_advance(&at, graph->counts[l], links_of(l), sizeof(uint32_t))) return false;
  }
  layout->length = at;
  return true;
}

static void point_into(struct gpnn_graph *graph, const unsigned char *bytes,
                       const struct layout *layout)
{
  graph->ids = (const uint32_t *)(const void *)(bytes + layout->ids);
  graph->rows = (const float *)(const void *)(bytes + layout->rows);
  for (size_t l = 0; l < graph->n_levels; l++)
    graph->links[l] = (const uint32_t *)(const void *)(bytes + layout->links[l]);
}

/* ---- building ---- */

/* Counts the rows of each level. */
static void count(struct gpnn_graph *graph, const unsigned char *levels)
{
  for (size_t i = 0; i < graph->n; i++) {
    if (levels[i] > graph->n_levels) graph->n_levels = levels[i];
    for (size_t l = 0; l < levels[i]; l++) graph->counts[l]++;
  }
}

/* Rows of more levels come first, otherwise in their order. */
static void place(const struct gpnn_graph *graph, const unsigned char *levels, uint32_t *places,
                  uint32_t *ids)
{
  size_t next[LEVELS + 1] = {0}; /* by number of levels */
  for (size_t l = 1; l < graph->n_levels; l++) next[l] = graph->counts[l];
  for (size_t i = 0; i < graph->n; i++) {
    places[i] = (uint32_t)next[levels[i]]++;
    ids[places[i]] = (uint32_t)i;
  }
}

static void write_header(const struct gpnn_graph *graph, unsigned char *bytes)
{
  gpnn_store_u64(bytes, graph->n);
  gpnn_store_u64(bytes + 8, graph->d);
  gpnn_store_u64(bytes + 16, graph->n_levels);
  gpnn_store_u64(bytes + 24, graph->entry);
  for (size_t l = 0; l < graph->n_levels; l++)
    gpnn_store_u64(bytes + COUNTS_AT + 8 * l, graph->counts[l]);
}

enum gpnn_status gpnn_graph_build(struct gpnn_faiss *engine, int threads, struct gpnn_error *err)
{
  size_t n = engine->points->n_distinct;
  struct gpnn_graph *graph = &engine->graph;
  struct layout layout;
  uint32_t *places = gpnn_alloc(n, 1, sizeof *places), *links[LEVELS] = {NULL};
  unsigned char *levels = gpnn_alloc(n, 1, 1);
  enum gpnn_status status = places != NULL && levels != NULL
                                ? gpnn_faiss_draw_levels(n, levels, err)
                                : gpnn_fail_memory(err, "for a search");
  if (status != GPNN_OK) goto out;
  *graph = (struct gpnn_graph){.n = n, .d = engine->points->d};
  count(graph, levels);
  status = lay_out(graph, &layout) ? gpnn_faiss_reserve(engine, layout.length, err)
                                   : gpnn_fail_memory(err, "for a search");
  if (status != GPNN_OK) goto out;
  unsigned char *bytes = engine->owned;
  point_into(graph, bytes, &layout);
  place(graph, levels, places, (uint32_t *)(void *)(bytes + layout.ids));
  status =
      gpnn_faiss_place_rows(engine, threads, places, (float *)(void *)(bytes + layout.rows), err);
  for (size_t l = 0; l < graph->n_levels; l++)
    links[l] = (uint32_t *)(void *)(bytes + layout.links[l]);
  if (status == GPNN_OK) status = gpnn_faiss_link(graph, links, err);
  if (status == GPNN_OK) write_header(graph, bytes);
out:
  free(places);
  free(levels);
  return status;
}

/* ---- mapping ---- */

bool gpnn_graph_map(struct gpnn_faiss *engine)
{
  const unsigned char *bytes = engine->bytes;
  struct gpnn_graph graph = {.n = engine->points->n_distinct, .d = engine->points->d};
  struct layout layout;
  if (engine->length < HEADER_BYTES || gpnn_load_u64(bytes) != graph.n ||
      gpnn_load_u64(bytes + 8) != graph.d)
    return false;
  uint64_t n_levels = gpnn_load_u64(bytes + 16), entry = gpnn_load_u64(bytes + 24), most = graph.n;
  if (n_levels < 1 || n_levels > LEVELS) return false;
  graph.n_levels = (size_t)n_levels;
  for (size_t l = 0; l < graph.n_levels; l++) {
    uint64_t n = gpnn_load_u64(bytes + COUNTS_AT + 8 * l);
    if (n < 1 || n > most || (l == 0 && n != most)) return false;
    graph.counts[l] = (size_t)n;
    most = n;
  }
  if (entry >= most || !lay_out(&graph, &layout) || engine->length != layout.length) return false;
  graph.entry = (size_t)entry;
  point_into(&graph, bytes, &layout);
  engine->graph = graph;
  return true;
}

/* ---- queries ---- */

static float distance_of(const struct gpnn_graph *graph, const float *query, size_t place)
{
  return gpnn_faiss_distance(graph->d, query, graph->rows + place * graph->d);
}

/* The links of a place; returns how many there are. */
static size_t follow(const struct gpnn_graph *graph, size_t level, size_t place,
                     const uint32_t **links)
{
  size_t most = links_of(level), n = 0;
  *links = graph->links[level] + place * most;
  while (n < most && (*links)[n] < graph->counts[level]) n++;
  return n;
}

/* Goes down to the lowest level, on each of the others to a place none of whose links is nearer. */
static size_t descend(const struct gpnn_graph *graph, const float *query)
{
  size_t nearest = graph->entry;
  float least = distance_of(graph, query, nearest);
  for (size_t level = graph->n_levels - 1; level > 0; level--)
    for (bool has_moved = true; has_moved;) {
      const uint32_t *links;
      size_t n = follow(graph, level, nearest, &links);
      has_moved = false;
      for (size_t i = 0; i < n; i++) {
        float distance = distance_of(graph, query, links[i]);
        if (!(distance < least)) continue;
        least = distance;
        nearest = links[i];
        has_moved = true;
      }
    }
  return nearest;
}

/* Rows that a query has met: the 'most' nearest, sorted. */
struct met {
  size_t n, most;
  struct gpnn_graph_found *found;
};

/* Adds a row; returns its position, or 'most' if it is too far. */
static size_t add(struct met *met, float distance, size_t place)
{
  size_t low = 0, high = met->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (met->found[middle].distance <= distance)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == met->most) return low;
  if (met->n < met->most) met->n++;
  memmove(met->found + low + 1, met->found + low, (met->n - 1 - low) * sizeof *met->found);
  met->found[low] = (struct gpnn_graph_found){distance, (uint32_t)place, false};
  return low;
}

/* Follows the links of the nearest row whose links have not been, until 'effort' rows are nearer
 * than that. */
static void explore(const struct gpnn_graph *graph, const float *query, size_t effort,
                    struct gpnn_faiss_scratch *scratch, struct met *met)
{
  for (size_t at = 0; at < met->n;) {
    struct gpnn_graph_found *found = &met->found[at];
    if (at >= effort && met->found[effort - 1].distance < found->distance) break;
    if (found->is_followed) {
      at++;
      continue;
    }
    found->is_followed = true;
    const uint32_t *links;
    size_t n = follow(graph, 0, found->place, &links);
    for (size_t i = 0; i < n; i++) {
      if (scratch->seen[links[i]] == scratch->stamp) continue;
      scratch->seen[links[i]] = scratch->stamp;
      size_t to = add(met, distance_of(graph, query, links[i]), links[i]);
      if (to < at) at = to;
    }
  }
}

void gpnn_graph_candidates(const struct gpnn_faiss *engine, size_t n_queries, size_t k,
                           struct gpnn_faiss_scratch *scratch, int64_t *rows)
{
  const struct gpnn_graph *graph = &engine->graph;
  for (size_t q = 0; q < n_queries; q++) {
    const float *query = scratch->queries + q * graph->d;
    struct met met = {.most = k > engine->effort ? k : engine->effort, .found = scratch->found};
    if (++scratch->stamp == 0) {
      memset(scratch->seen, 0, graph->n);
      scratch->stamp = 1;
    }
    size_t first = descend(graph, query);
    scratch->seen[first] = scratch->stamp;
    add(&met, distance_of(graph, query, first), first);
    explore(graph, query, engine->effort, scratch, &met);
    for (size_t i = 0; i < k; i++)
      rows[q * k + i] = i < met.n ? (int64_t)graph->ids[met.found[i].place] : -1;
  }
}
