/*
 * Checking bytes before FAISS reads them.
 *
 * FAISS trusts what it reads and follows counts, offsets and links unchecked.  So it gets nothing
 * but the exact forms that it writes for inverted lists ("IwFl") and graphs ("IHNf"): a header and
 * parts in which each number is known or bounded, and not a byte more.  Source:
 * impl/index_write.cpp of FAISS 1.7, whose forms later versions kept.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "search/search_private.h"

/* Bytes still to be checked, in the machine's byte order and not aligned; once something is missing
 * or wrong, nothing is good any more. */
struct walk {
  const unsigned char *at;
  size_t left;
  bool good;
};

static void require(struct walk *walk, bool condition)
{
  if (!condition) walk->good = false;
}

/* Steps over n by m items; NULL if they are not all there. */
static const unsigned char *step(struct walk *walk, size_t n, size_t m, size_t item_bytes)
{
  size_t items, bytes;
  require(walk, gpnn_multiply(n, m, &items) && gpnn_multiply(items, item_bytes, &bytes) &&
                    bytes <= walk->left);
  if (!walk->good) return NULL;
  const unsigned char *from = walk->at;
  walk->at += bytes;
  walk->left -= bytes;
  return from;
}

static int32_t i32_at(const unsigned char *items, size_t i)
{
  int32_t value;
  memcpy(&value, items + i * sizeof value, sizeof value);
  return value;
}

static uint64_t u64_at(const unsigned char *items, size_t i)
{
  uint64_t value;
  memcpy(&value, items + i * sizeof value, sizeof value);
  return value;
}

static int32_t step_i32(struct walk *walk)
{
  const unsigned char *from = step(walk, 1, 1, sizeof(int32_t));
  return from == NULL ? 0 : i32_at(from, 0);
}

static uint64_t step_u64(struct walk *walk)
{
  const unsigned char *from = step(walk, 1, 1, sizeof(uint64_t));
  return from == NULL ? 0 : u64_at(from, 0);
}

/* Four letters that say what follows. */
static void step_letters(struct walk *walk, const char *letters)
{
  const unsigned char *from = step(walk, 4, 1, 1);
  require(walk, from != NULL && memcmp(from, letters, 4) == 0);
}

/* A vector: its count, which must be 'n', and its items. */
static const unsigned char *step_vector(struct walk *walk, size_t n, size_t item_bytes)
{
  require(walk, step_u64(walk) == n);
  return step(walk, n, 1, item_bytes);
}

/* Letters, d, number of rows, two unused words, trained, Euclidean. */
static void step_head(struct walk *walk, const char *letters, size_t n, size_t d)
{
  enum { EUCLIDEAN = 1 };
  step_letters(walk, letters);
  require(walk, d <= INT32_MAX && step_i32(walk) == (int32_t)d);
  require(walk, step_u64(walk) == n);
  step(walk, 2, 1, sizeof(uint64_t));
  const unsigned char *is_trained = step(walk, 1, 1, 1);
  require(walk, is_trained != NULL && *is_trained == 1);
  require(walk, step_i32(walk) == EUCLIDEAN);
}

/* n rows: the centroids of lists, which may be a little farther out than any row, or the rows of a
 * graph. */
static void step_flat(struct walk *walk, size_t n, size_t d)
{
  step_head(walk, "IxF2", n, d);
  size_t count = 0;
  require(walk, gpnn_multiply(n, d, &count));
  const unsigned char *values = step_vector(walk, count, sizeof(float));
  for (size_t i = 0; values != NULL && i < count; i++) {
    float value;
    memcpy(&value, values + i * sizeof value, sizeof value);
    require(walk, fabsf(value) < 2 * (float)GPNN_FLOAT_FRAME_EDGE);
  }
}

/* ---- inverted lists ---- */

/* Adds the length of a list; all lists together hold 'n' rows. */
static void add_list(struct walk *walk, uint64_t length, size_t n, size_t *sum)
{
  require(walk, length <= n - *sum);
  if (walk->good) *sum += (size_t)length;
}

/* The lengths of all lists, or, where most are empty, number and length of those that are not. */
static void step_lengths(struct walk *walk, size_t n_lists, size_t n)
{
  const unsigned char *form = step(walk, 4, 1, 1);
  bool is_full = form != NULL && memcmp(form, "full", 4) == 0;
  require(walk, is_full || (form != NULL && memcmp(form, "sprs", 4) == 0));
  size_t count = (size_t)step_u64(walk), sum = 0;
  require(walk, is_full ? count == n_lists : count / 2 <= n_lists && count % 2 == 0);
  const unsigned char *items = step(walk, count, 1, sizeof(uint64_t));
  for (size_t i = 0; is_full && i < count && walk->good; i++)
    add_list(walk, u64_at(items, i), n, &sum);
  for (size_t i = 0; !is_full && i < count && walk->good; i += 2) {
    uint64_t list = u64_at(items, i);
    require(walk, list < n_lists && (i == 0 || list > u64_at(items, i - 2)));
    add_list(walk, u64_at(items, i + 1), n, &sum);
  }
  require(walk, sum == n);
}

/* The contents of the lists stay unread, as they are large: FAISS makes no use of row numbers, and
 * rerank.c skips those out of range. */
static void walk_lists(struct walk *walk, size_t n, size_t d, size_t n_lists)
{
  step_head(walk, "IwFl", n, d);
  require(walk, step_u64(walk) == n_lists);
  step_u64(walk); /* lists visited: set later */
  step_flat(walk, n_lists, d);
  const unsigned char *has_map = step(walk, 1, 1, 1);
  require(walk, has_map != NULL && *has_map == 0 && step_u64(walk) == 0);
  step_letters(walk, "ilar");
  require(walk, step_u64(walk) == n_lists);
  require(walk, step_u64(walk) == d * sizeof(float));
  step_lengths(walk, n_lists, n);
  if (walk->good) step(walk, n, d * sizeof(float) + sizeof(int64_t), 1);
}

/* ---- graphs ---- */

/* A graph: how many levels each row is on, and its links. */
struct graph {
  size_t n, n_levels;           /* the most levels */
  const unsigned char *ends;    /* n_levels + 1 i32: links of a row up to each level */
  const unsigned char *levels;  /* n i32 */
  const unsigned char *offsets; /* n + 1 u64, into */
  const unsigned char *links;   /* i32 */
};

static bool is_on_level(const struct graph *graph, int32_t row, size_t level)
{
  return row >= 0 && (size_t)row < graph->n && (size_t)i32_at(graph->levels, (size_t)row) > level;
}

static void step_ends(struct walk *walk, struct graph *graph)
{
  enum { LEVELS_MOST = 64 };
  uint64_t n_levels = step_u64(walk);
  require(walk, n_levels > 0 && n_levels <= LEVELS_MOST);
  if (!walk->good) return;
  graph->n_levels = (size_t)n_levels;
  step(walk, graph->n_levels, 1,
       sizeof(double)); /* probabilities of levels: only used to add rows */
  graph->ends = step_vector(walk, graph->n_levels + 1, sizeof(int32_t));
  require(walk, graph->ends != NULL && i32_at(graph->ends, 0) == 0);
  for (size_t l = 0; l < graph->n_levels && walk->good; l++)
    require(walk, i32_at(graph->ends, l) <= i32_at(graph->ends, l + 1));
}

/* Every row is on at least one level and has the links of its levels. */
static void step_rows(struct walk *walk, struct graph *graph)
{
  size_t n = graph->n;
  graph->levels = step_vector(walk, n, sizeof(int32_t));
  graph->offsets = step_vector(walk, n + 1, sizeof(uint64_t));
  require(walk, graph->offsets != NULL && u64_at(graph->offsets, 0) == 0);
  for (size_t i = 0; i < n && walk->good; i++) {
    int32_t level = i32_at(graph->levels, i);
    require(walk, level >= 1 && (size_t)level <= graph->n_levels);
    if (!walk->good) return;
    uint64_t begin = u64_at(graph->offsets, i), end = u64_at(graph->offsets, i + 1);
    require(walk, end >= begin && end - begin == (uint64_t)i32_at(graph->ends, (size_t)level));
  }
}

/* Every link is missing (-1) or leads to a row on the same level. */
static void check_links(struct walk *walk, const struct graph *graph, size_t row)
{
  size_t begin = (size_t)u64_at(graph->offsets, row);
  size_t n_levels = (size_t)i32_at(graph->levels, row);
  for (size_t l = 0; l < n_levels; l++) {
    size_t from = begin + (size_t)i32_at(graph->ends, l);
    size_t end = begin + (size_t)i32_at(graph->ends, l + 1);
    for (size_t i = from; i < end; i++) {
      int32_t link = i32_at(graph->links, i);
      require(walk, link == -1 || is_on_level(graph, link, l));
    }
  }
}

static void walk_graph(struct walk *walk, size_t n, size_t d)
{
  struct graph graph = {.n = n};
  step_head(walk, "IHNf", n, d);
  step_ends(walk, &graph);
  step_rows(walk, &graph);
  if (!walk->good) return;
  graph.links = step_vector(walk, (size_t)u64_at(graph.offsets, n), sizeof(int32_t));
  for (size_t i = 0; i < n && walk->good; i++) check_links(walk, &graph, i);
  int32_t entry = step_i32(walk), top = step_i32(walk);
  require(walk, top >= 0 && walk->good && is_on_level(&graph, entry, (size_t)top));
  step(walk, 2, 1, sizeof(int32_t)); /* efforts of building, and of searching, which is set later */
  require(walk,
          step_i32(walk) == 1); /* entries to the upper levels: others search in another way */
  step_flat(walk, n, d);
}

enum gpnn_status gpnn_faiss_check(const void *bytes, size_t length, size_t n, size_t d,
                                  const struct gpnn_search_report *report, struct gpnn_error *err)
{
  struct walk walk = {bytes, length, true};
  bool has_lists = report->kind == GPNN_SEARCH_IVF;
  size_t most = has_lists ? report->n_lists : GPNN_FAISS_BEAM_MOST;
  require(&walk, report->effort >= 1 && report->effort <= most);
  if (has_lists)
    walk_lists(&walk, n, d, report->n_lists);
  else
    walk_graph(&walk, n, d);
  if (walk.good && walk.left == 0) return GPNN_OK;
  return gpnn_fail(err, GPNN_EFORMAT,
                   "the search structure is damaged, or of other rows; make the index again");
}
