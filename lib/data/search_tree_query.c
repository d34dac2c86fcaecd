/*
 * Queries of a tree: depth first, the nearest box first, with all that is known to be too far left
 * out.
 *
 * Rows are kept while they may be among the k nearest: no farther than a bound, which falls as
 * nearer ones turn up.  With R the k-th least distance in single precision and b how far that may
 * be off, the k-th nearest row is no farther than R + b, and every row as near as that is found
 * within R + 2 b; a third b pays for the rounding of the bound itself.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/search_engine.h"

enum { LANES = GPNN_TREE_LANES, STACK = GPNN_TREE_LEVELS * GPNN_TREE_LANES, FETCHED = 512 };

/* A box to look into: a group of 'level', or a leaf on level 0. */
struct visit {
  float distance;
  uint32_t number;
  size_t level;
};

/* A query under way. */
struct quest {
  const struct gpnn_tree *tree;
  const struct gpnn_tree_loops *loops;
  struct gpnn_tree_scratch *scratch;
  size_t k, n, limit; /* rows kept; more than so many are thinned out */
  size_t n_blocks;    /* looked at */
  float bound, reach; /* squared: farther rows, and farther boxes, are of no use */
  double norm;        /* of the query */
  struct visit stack[STACK];
  size_t height;
};

/* ---- scratch ---- */

static bool scratch_grow(struct gpnn_tree_scratch *scratch, size_t capacity)
{
  float *distances = gpnn_alloc(capacity, 1, sizeof *distances);
  float *spare = gpnn_alloc(capacity, 1, sizeof *spare);
  uint32_t *positions = gpnn_alloc(capacity, 1, sizeof *positions);
  int64_t *rows = gpnn_alloc(capacity, 1, sizeof *rows);
  if (distances == NULL || spare == NULL || positions == NULL || rows == NULL) {
    free(distances);
    free(spare);
    free(positions);
    free(rows);
    return false;
  }
  if (scratch->capacity > 0) {
    memcpy(distances, scratch->distances, scratch->capacity * sizeof *distances);
    memcpy(positions, scratch->positions, scratch->capacity * sizeof *positions);
  }
  free(scratch->distances);
  free(scratch->spare);
  free(scratch->positions);
  free(scratch->rows);
  scratch->distances = distances;
  scratch->spare = spare;
  scratch->positions = positions;
  scratch->rows = rows;
  scratch->capacity = capacity;
  return true;
}

/* Rows that are kept before they are thinned out to about k: often is dear, seldom keeps the bound
 * high. */
static size_t limit_for(size_t k)
{
  return k + k / 2 + 32;
}

bool gpnn_tree_scratch_init(const struct gpnn_tree *tree, size_t k,
                            struct gpnn_tree_scratch *scratch)
{
  *scratch = (struct gpnn_tree_scratch){0};
  scratch->query = gpnn_alloc(tree->d, 1, sizeof *scratch->query);
  if (scratch->query != NULL && scratch_grow(scratch, limit_for(k) + 2 * GPNN_TREE_LEAF))
    return true;
  gpnn_tree_scratch_release(scratch);
  return false;
}

void gpnn_tree_scratch_release(struct gpnn_tree_scratch *scratch)
{
  free(scratch->query);
  free(scratch->distances);
  free(scratch->spare);
  free(scratch->positions);
  free(scratch->rows);
  *scratch = (struct gpnn_tree_scratch){0};
}

/* ---- the bound ---- */

static float bound_for(const struct quest *quest, float kth)
{
  const struct gpnn_frame *frame = &quest->tree->frame;
  double radius = sqrt((double)kth);
  /* Beyond, rows stand at the edge of the frame instead of where they are. */
  if (radius >= GPNN_FRAME_EDGE / 4) return FLT_MAX;
  double bound = radius + 3 * gpnn_frame_blur(frame, quest->norm, radius);
  bound *= bound * (1 + 0x1p-20);
  return bound < FLT_MAX ? (float)bound : FLT_MAX;
}

/* Lowers the bound, and drops what is beyond it. */
static void tighten(struct quest *quest)
{
  struct gpnn_tree_scratch *scratch = quest->scratch;
  float *distances = scratch->distances;
  uint32_t *positions = scratch->positions;
  size_t kept = 0;
  memcpy(scratch->spare, distances, quest->n * sizeof *distances);
  float bound = bound_for(quest, gpnn_select_float(quest->n, scratch->spare, quest->k - 1));
  if (bound < quest->bound) quest->bound = bound;
  quest->reach = (float)(quest->tree->share * quest->tree->share) * quest->bound;
  for (size_t i = 0; i < quest->n; i++) {
    distances[kept] = distances[i];
    positions[kept] = positions[i];
    kept += distances[i] <= quest->bound;
  }
  quest->n = kept;
  /* Many rows may be at the same distance: in proportion, lest they be dropped and kept for ever.
   */
  quest->limit = limit_for(kept);
}

/* ---- the walk ---- */

static bool scan_leaf(struct quest *quest, size_t leaf)
{
  enum { BLOCKS = GPNN_TREE_LEAF / LANES };
  const struct gpnn_tree *tree = quest->tree;
  struct gpnn_tree_scratch *scratch = quest->scratch;
  size_t block = leaf * BLOCKS, end = block + BLOCKS, all = (tree->n + LANES - 1) / LANES;
  if (end > all) end = all;
  quest->n_blocks += end - block;
  if (quest->n + 2 * GPNN_TREE_LEAF > scratch->capacity &&
      !scratch_grow(scratch, 2 * scratch->capacity))
    return false;
  for (; block < end; block++)
    quest->n += quest->loops->scan(tree->d, tree->rows + block * tree->d * LANES, scratch->query,
                                   quest->bound, (uint32_t)(block * LANES),
                                   scratch->distances + quest->n, scratch->positions + quest->n);
  if (quest->n >= quest->limit || (quest->bound == FLT_MAX && quest->n >= quest->k)) tighten(quest);
  return true;
}

/* Asks for the rows of a leaf that will be looked at next. */
static void fetch_leaf(const struct gpnn_tree *tree, size_t leaf)
{
  enum { LINE_FLOATS = 16 };
  const float *rows = tree->rows + leaf * GPNN_TREE_LEAF * tree->d;
  size_t n = tree->n - leaf * GPNN_TREE_LEAF < GPNN_TREE_LEAF ? LANES : GPNN_TREE_LEAF;
  for (size_t i = 0; i < n * tree->d && i < FETCHED; i += LINE_FLOATS) __builtin_prefetch(rows + i);
}

/* Puts the children of a group on the stack, the nearest on top. */
static void open_group(struct quest *quest, size_t level, size_t group)
{
  const struct gpnn_tree *tree = quest->tree;
  struct visit *stack = quest->stack + quest->height;
  size_t first = group * LANES, left = tree->n_children[level] - first, n = 0;
  float distances[LANES];
  quest->loops->boxes(tree->d, tree->boxes[level] + group * 2 * tree->d * LANES,
                      quest->scratch->query, distances);
  for (size_t i = 0; i < LANES && i < left; i++) {
    if (!(distances[i] <= quest->reach)) continue;
    size_t at = n++;
    for (; at > 0 && stack[at - 1].distance < distances[i]; at--) stack[at] = stack[at - 1];
    stack[at] = (struct visit){distances[i], (uint32_t)(first + i), level};
  }
  quest->height += n;
}

size_t gpnn_tree_leaf(const struct gpnn_tree *tree, const double *query,
                      struct gpnn_tree_scratch *scratch)
{
  size_t number = 0;
  gpnn_frame_apply(&tree->frame, query, scratch->query);
  for (size_t level = tree->n_levels; level-- > 0;) {
    size_t first = number * LANES, left = tree->n_children[level] - first, best = 0;
    float distances[LANES];
    gpnn_tree_loops()->boxes(tree->d, tree->boxes[level] + number * 2 * tree->d * LANES,
                             scratch->query, distances);
    for (size_t i = 1; i < LANES && i < left; i++)
      if (distances[i] < distances[best]) best = i;
    number = first + best;
  }
  return number;
}

enum gpnn_status gpnn_tree_candidates(const struct gpnn_tree *tree, const double *query, size_t k,
                                      struct gpnn_tree_scratch *scratch, size_t *found,
                                      size_t *visited, struct gpnn_error *err)
{
  struct quest quest = {.tree = tree,
                        .loops = gpnn_tree_loops(),
                        .scratch = scratch,
                        .k = k,
                        .limit = limit_for(k),
                        .bound = FLT_MAX,
                        .reach = FLT_MAX};
  quest.norm = gpnn_frame_apply(&tree->frame, query, scratch->query);
  open_group(&quest, tree->n_levels - 1, 0);
  while (quest.height > 0) {
    struct visit visit = quest.stack[--quest.height];
    if (visit.distance > quest.reach) continue;
    if (visit.level > 0)
      open_group(&quest, visit.level - 1, visit.number);
    else if (!scan_leaf(&quest, visit.number))
      return gpnn_fail_memory(err, "for a search");
    if (quest.height > 0 && quest.stack[quest.height - 1].level == 0)
      fetch_leaf(tree, quest.stack[quest.height - 1].number);
  }
  if (quest.n > k) tighten(&quest);
  for (size_t i = 0; i < quest.n; i++) scratch->rows[i] = tree->ids[scratch->positions[i]];
  *found = quest.n;
  *visited += quest.n_blocks * LANES < tree->n ? quest.n_blocks * LANES : tree->n;
  return GPNN_OK;
}
