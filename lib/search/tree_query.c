/*
 * Queries of a tree.
 *
 * A query walks through the tree depth first, the nearest box first, and skips boxes that are too
 * far away.  With many inputs that all matter few boxes are, and it would mostly wait for memory.
 * Several queries then visit all leaves together, in the order of storage, once each has a bound
 * from a few leaves close to it; where there are enough inputs, by a filter (tree_filter.c), which
 * leaves few rows to be compared in full.
 *
 * Rows are kept while they may be among the k nearest: no farther than a bound, which falls as
 * nearer ones turn up.  Let R be the k-th least distance in single precision and e the bound of its
 * error.  Then the k-th nearest row is no farther than R + e, and single precision puts every row
 * as near as that within R + 2 e; a third e pays for rounding the bound itself.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search/search_private.h"

enum { LANES = GPNN_TREE_LANES, STACK = GPNN_TREE_LEVELS * GPNN_TREE_LANES, PREFETCHED = 512 };

/* A box to open: a group of 'level', or a leaf if that is 0. */
struct visit {
  float distance;
  uint32_t number;
  size_t level;
};

/* The state of one query. */
struct gpnn_tree_traversal {
  const struct gpnn_tree *tree;
  const struct gpnn_tree_loops *loops;
  const struct gpnn_tree_filter *filter; /* distances are at most what is kept; NULL: they are it */
  struct gpnn_tree_scratch *scratch;
  size_t k, n, limit; /* n rows are kept; they are thinned out once they reach the limit */
  size_t n_blocks;    /* looked at so far */
  size_t most_blocks; /* to look at by itself, before it joins others */
  float bound;        /* squared: rows farther away are of no use */
  float box_bound;    /* squared: nor are boxes farther away than this */
  double norm;        /* distance of the query from the frame's origin */
  struct visit stack[STACK];
  size_t height;
};

/* ---- scratch ---- */

static bool scratch_grow(struct gpnn_tree_scratch *scratch, size_t capacity)
{
  float *distances = gpnn_alloc(capacity, 1, sizeof *distances);
  float *spare = gpnn_alloc(capacity, 1, sizeof *spare);
  float *least = gpnn_alloc(capacity, 1, sizeof *least);
  uint32_t *positions = gpnn_alloc(capacity, 1, sizeof *positions);
  int64_t *rows = gpnn_alloc(capacity, 1, sizeof *rows);
  if (distances == NULL || spare == NULL || least == NULL || positions == NULL || rows == NULL) {
    free(distances);
    free(spare);
    free(least);
    free(positions);
    free(rows);
    return false;
  }
  if (scratch->capacity > 0) {
    memcpy(distances, scratch->distances, scratch->capacity * sizeof *distances);
    memcpy(least, scratch->least, scratch->capacity * sizeof *least);
    memcpy(positions, scratch->positions, scratch->capacity * sizeof *positions);
  }
  free(scratch->distances);
  free(scratch->spare);
  free(scratch->least);
  free(scratch->positions);
  free(scratch->rows);
  scratch->distances = distances;
  scratch->spare = spare;
  scratch->least = least;
  scratch->positions = positions;
  scratch->rows = rows;
  scratch->capacity = capacity;
  return true;
}

/* How many rows to keep before they are thinned out to about k: thinning out often takes time, but
 * seldom leaves the bound high. */
static size_t limit_for(size_t k)
{
  return k + k / 2 + 32;
}

static bool scratch_init(const struct gpnn_tree *tree, size_t k, struct gpnn_tree_scratch *scratch)
{
  if (scratch->query != NULL) return true;
  scratch->query = gpnn_alloc(tree->d, 1, sizeof *scratch->query);
  return scratch->query != NULL && scratch_grow(scratch, limit_for(k) + 2 * GPNN_TREE_LEAF);
}

static void scratch_release(struct gpnn_tree_scratch *scratch)
{
  free(scratch->coded.codes);
  free(scratch->scaled);
  free(scratch->query);
  free(scratch->distances);
  free(scratch->spare);
  free(scratch->least);
  free(scratch->positions);
  free(scratch->rows);
}

bool gpnn_tree_workspace_init(const struct gpnn_tree *tree, size_t k, bool is_counted,
                              struct gpnn_tree_workspace *workspace)
{
  *workspace = (struct gpnn_tree_workspace){.is_counted = is_counted};
  workspace->traversals = gpnn_alloc(GPNN_TREE_QUERIES, 1, sizeof *workspace->traversals);
  if (workspace->traversals != NULL && scratch_init(tree, k, &workspace->scratch[0])) return true;
  gpnn_tree_workspace_release(workspace);
  return false;
}

void gpnn_tree_workspace_release(struct gpnn_tree_workspace *workspace)
{
  for (size_t q = 0; q < GPNN_TREE_QUERIES; q++) scratch_release(&workspace->scratch[q]);
  free(workspace->traversals);
  *workspace = (struct gpnn_tree_workspace){0};
}

/* ---- the bound ---- */

static float bound_for(const struct gpnn_tree_traversal *traversal, float kth)
{
  const struct gpnn_float_frame *frame = &traversal->tree->frame;
  double radius = sqrt((double)kth);
  /* Beyond that, rows may have been clamped to the edge of the frame. */
  if (radius >= GPNN_FLOAT_FRAME_EDGE / 4) return FLT_MAX;
  double bound = radius + 3 * gpnn_float_frame_error(frame, traversal->norm, radius);
  bound *= bound * (1 + 0x1p-20);
  return bound < FLT_MAX ? (float)bound : FLT_MAX;
}

static void set_bound(struct gpnn_tree_traversal *traversal, float bound)
{
  double reach = traversal->tree->reach;
  traversal->bound = bound;
  traversal->box_bound = bound < FLT_MAX ? (float)(reach * reach) * bound : FLT_MAX;
  gpnn_tree_filter_bound(&traversal->scratch->coded, traversal->tree->d, bound);
}

/* Lowers the bound and drops the rows beyond it. */
static void tighten(struct gpnn_tree_traversal *traversal)
{
  struct gpnn_tree_scratch *scratch = traversal->scratch;
  float *distances = scratch->distances;
  bool estimates = traversal->filter != NULL;
  memcpy(scratch->spare, distances, traversal->n * sizeof *distances);
  float bound = bound_for(
      traversal, gpnn_nearest_select_float(traversal->n, scratch->spare, traversal->k - 1));
  set_bound(traversal, bound < traversal->bound ? bound : traversal->bound);
  size_t kept =
      traversal->loops->keep(traversal->n, traversal->bound, estimates ? scratch->least : distances,
                             estimates ? distances : NULL, scratch->positions);
  traversal->n = kept;
  /* Many rows may be equally near: without a limit that grows with them, every leaf would thin out
   * again. */
  traversal->limit = limit_for(kept);
}

/* ---- leaves by the filter ---- */

/* Queries that visit the leaves, or one leaf, together. */
struct company {
  size_t n;
  struct gpnn_tree_traversal *members[GPNN_TREE_QUERIES];
};

/* Blocks of a leaf. */
struct span {
  size_t begin, end;
};

static struct span blocks_of(const struct gpnn_tree *tree, size_t leaf)
{
  enum { BLOCKS = GPNN_TREE_LEAF / LANES };
  size_t begin = leaf * BLOCKS, end = begin + BLOCKS, all = (tree->n + LANES - 1) / LANES;
  return (struct span){begin, end < all ? end : all};
}

/* Keeps estimates of the rows of a block that pass the filter. */
static void keep_estimates(struct gpnn_tree_traversal *traversal, const float *terms, size_t block,
                           unsigned passed, const float *squares)
{
  struct gpnn_tree_scratch *scratch = traversal->scratch;
  size_t n = traversal->n;
  for (; passed != 0; passed &= passed - 1) {
    size_t i = (size_t)__builtin_ctz(passed);
    const struct gpnn_tree_estimate estimate =
        gpnn_tree_filter_estimate(&scratch->coded, terms, squares, i);
    scratch->distances[n] = estimate.most;
    scratch->least[n] = estimate.least;
    scratch->positions[n] = (uint32_t)(block * LANES + i);
    n += estimate.least <= traversal->bound;
  }
  traversal->n = n;
}

/* Estimates the distances of blocks from up to GPNN_TREE_TOGETHER members from 'first' on.  Missing
 * members are filled up by the first one, to no effect. */
static void estimate_blocks(const struct company *company, size_t first, struct span blocks)
{
  struct gpnn_tree_traversal *const *members = company->members + first;
  const struct gpnn_tree_filter *filter = members[0]->filter;
  size_t n = company->n - first < GPNN_TREE_TOGETHER ? company->n - first : GPNN_TREE_TOGETHER;
  const struct gpnn_tree_coded *queries[GPNN_TREE_TOGETHER];
  uint16_t passed[GPNN_TREE_TOGETHER];
  float squares[GPNN_TREE_TOGETHER * LANES];
  for (size_t q = 0; q < GPNN_TREE_TOGETHER; q++)
    queries[q] = &members[q < n ? q : 0]->scratch->coded;
  for (size_t block = blocks.begin; block < blocks.end; block++) {
    const float *terms = filter->terms + block * GPNN_TREE_TERMS * LANES;
    members[0]->loops->pass(n, filter->n_groups, filter->codes + block * filter->n_groups * LANES,
                            terms, queries, passed, squares);
    for (size_t q = 0; q < n; q++)
      keep_estimates(members[q], terms, block, passed[q], squares + q * LANES);
  }
}

/* ---- one query by itself ---- */

/* Reserves memory for the rows of a leaf; false if there is none. */
static bool reserve_leaf(struct gpnn_tree_traversal *traversal)
{
  struct gpnn_tree_scratch *scratch = traversal->scratch;
  return traversal->n + 2 * GPNN_TREE_LEAF <= scratch->capacity ||
         scratch_grow(scratch, 2 * scratch->capacity);
}

static void tighten_if_full(struct gpnn_tree_traversal *traversal)
{
  if (traversal->n >= traversal->limit ||
      (traversal->bound == FLT_MAX && traversal->n >= traversal->k))
    tighten(traversal);
}

/* Keeps the rows of some blocks that are within the bound. */
static void scan(struct gpnn_tree_traversal *traversal, size_t n, const uint32_t *blocks)
{
  const struct gpnn_tree *tree = traversal->tree;
  const struct gpnn_tree_scratch *scratch = traversal->scratch;
  traversal->n +=
      traversal->loops->scan(tree->d, tree->rows, n, blocks, scratch->query, traversal->bound,
                             scratch->distances + traversal->n, scratch->positions + traversal->n);
}

static bool scan_leaf(struct gpnn_tree_traversal *traversal, size_t leaf)
{
  struct span blocks = blocks_of(traversal->tree, leaf);
  traversal->n_blocks += blocks.end - blocks.begin;
  if (!reserve_leaf(traversal)) return false;
  if (traversal->filter == NULL) {
    const uint32_t numbers[] = {(uint32_t)blocks.begin, (uint32_t)blocks.begin + 1};
    scan(traversal, blocks.end - blocks.begin, numbers);
  } else {
    const struct company alone = {1, {traversal}};
    estimate_blocks(&alone, 0, blocks);
  }
  tighten_if_full(traversal);
  return true;
}

/* Prefetches the rows of the leaf to be looked at next. */
static void prefetch_leaf(const struct gpnn_tree *tree, size_t leaf)
{
  enum { LINE_FLOATS = 16 };
  const float *rows = tree->rows + leaf * GPNN_TREE_LEAF * tree->d;
  size_t n = tree->n - leaf * GPNN_TREE_LEAF < GPNN_TREE_LEAF ? LANES : GPNN_TREE_LEAF;
  for (size_t i = 0; i < n * tree->d && i < PREFETCHED; i += LINE_FLOATS)
    __builtin_prefetch(rows + i);
}

/* Pushes the children of a group that are near enough, the nearest last. */
static void open_group(struct gpnn_tree_traversal *traversal, size_t level, size_t group)
{
  const struct gpnn_tree *tree = traversal->tree;
  struct visit *stack = traversal->stack + traversal->height;
  const float *query = traversal->scratch->query;
  float distances[1][LANES];
  unsigned char order[LANES];
  traversal->loops->boxes(tree->d, tree->boxes[level] + group * 2 * tree->d * LANES, 1, &query,
                          distances);
  size_t left = tree->n_children[level] - group * LANES;
  for (size_t i = left; i < LANES; i++) distances[0][i] = INFINITY;
  size_t n = traversal->loops->order(distances[0], traversal->box_bound, order);
  for (size_t i = 0; i < n; i++)
    stack[i] = (struct visit){distances[0][order[i]], (uint32_t)(group * LANES + order[i]), level};
  traversal->height += n;
}

size_t gpnn_tree_leaf(const struct gpnn_tree *tree, const double *query,
                      struct gpnn_tree_workspace *workspace)
{
  size_t number = 0;
  const struct gpnn_tree_scratch *scratch = &workspace->scratch[0];
  gpnn_float_frame_apply(&tree->frame, query, scratch->query);
  for (size_t level = tree->n_levels; level-- > 0;) {
    size_t first = number * LANES, left = tree->n_children[level] - first, best = 0;
    const float *seen = scratch->query;
    float distances[1][LANES];
    gpnn_tree_loops()->boxes(tree->d, tree->boxes[level] + number * 2 * tree->d * LANES, 1, &seen,
                             distances);
    for (size_t i = 1; i < LANES && i < left; i++)
      if (distances[0][i] < distances[0][best]) best = i;
    number = first + best;
  }
  return number;
}

/* Continues until no box left may hold near rows, or the query is to join others; false without
 * memory. */
static bool walk(struct gpnn_tree_traversal *traversal)
{
  while (traversal->height > 0 && traversal->n_blocks < traversal->most_blocks) {
    struct visit visit = traversal->stack[--traversal->height];
    if (visit.distance > traversal->box_bound) continue;
    if (visit.level > 0)
      open_group(traversal, visit.level - 1, visit.number);
    else if (!scan_leaf(traversal, visit.number))
      return false;
    if (traversal->height > 0 && traversal->stack[traversal->height - 1].level == 0)
      prefetch_leaf(traversal->tree, traversal->stack[traversal->height - 1].number);
  }
  if (traversal->n > traversal->k) tighten(traversal);
  return true;
}

/* Looks at rows by the filter from now on, if there is one; false without memory. */
static bool use_filter(struct gpnn_tree_traversal *traversal, const struct gpnn_tree_filter *filter)
{
  struct gpnn_tree_scratch *scratch = traversal->scratch;
  struct gpnn_tree_coded *coded = &scratch->coded;
  size_t d = traversal->tree->d;
  bool is_coded = traversal->filter != NULL;
  traversal->filter = filter;
  if (filter == NULL || is_coded) return true;
  if (coded->codes == NULL) coded->codes = gpnn_alloc(filter->n_groups, 1, sizeof *coded->codes);
  if (scratch->scaled == NULL) scratch->scaled = gpnn_alloc(d, 1, sizeof *scratch->scaled);
  if (coded->codes == NULL || scratch->scaled == NULL) return false;
  gpnn_tree_filter_code(filter, d, scratch->query, scratch->scaled, coded);
  return true;
}

/* A query, and how far from it rows are of use, squared. */
struct sought {
  const double *query;
  double within;
};

/* Starts a query and looks at up to 'most_blocks' blocks; false without memory. */
static bool start(struct gpnn_tree_traversal *traversal, const struct gpnn_tree *tree,
                  const struct gpnn_tree_filter *filter, struct sought sought, size_t k,
                  size_t most_blocks, struct gpnn_tree_scratch *scratch)
{
  const float rounding = 1 + 0x1p-20F;
  if (!scratch_init(tree, k, scratch)) return false;
  traversal->tree = tree;
  traversal->loops = gpnn_tree_loops();
  traversal->scratch = scratch;
  traversal->k = k;
  traversal->limit = limit_for(k);
  traversal->n = traversal->n_blocks = traversal->height = 0;
  traversal->filter = NULL;
  traversal->most_blocks = most_blocks;
  traversal->norm = gpnn_float_frame_apply(&tree->frame, sought.query, scratch->query);
  double within = sought.within * tree->frame.scale * tree->frame.scale;
  set_bound(traversal,
            within < FLT_MAX / 2 ? bound_for(traversal, (float)within * rounding) : FLT_MAX);
  if (!use_filter(traversal, filter)) return false;
  open_group(traversal, tree->n_levels - 1, 0);
  return walk(traversal);
}

/* ---- several queries together ---- */

/* Keeps the rows of a block whose 'distances' are within the bound. */
static void keep_rows(struct gpnn_tree_traversal *traversal, size_t block, const float *distances)
{
  struct gpnn_tree_scratch *scratch = traversal->scratch;
  size_t n = traversal->n;
  for (size_t i = 0; i < LANES; i++) {
    scratch->distances[n] = distances[i];
    scratch->positions[n] = (uint32_t)(block * LANES + i);
    n += distances[i] <= traversal->bound;
  }
  traversal->n = n;
}

/* Compares the blocks with up to GPNN_TREE_TOGETHER members from 'first' on.  Missing members are
 * filled up by the first one's query with a bound that no row meets. */
static void scan_blocks(const struct company *company, size_t first, struct span blocks)
{
  const struct gpnn_tree *tree = company->members[0]->tree;
  struct gpnn_tree_traversal *const *members = company->members + first;
  size_t n = company->n - first < GPNN_TREE_TOGETHER ? company->n - first : GPNN_TREE_TOGETHER;
  const float *queries[GPNN_TREE_TOGETHER];
  float bounds[GPNN_TREE_TOGETHER], distances[GPNN_TREE_TOGETHER * LANES];
  for (size_t q = 0; q < GPNN_TREE_TOGETHER; q++) {
    queries[q] = members[q < n ? q : 0]->scratch->query;
    bounds[q] = q < n ? members[q]->bound : -1;
  }
  for (size_t block = blocks.begin; block < blocks.end; block++) {
    if (!members[0]->loops->measure(tree->d, tree->rows + block * tree->d * LANES, queries, bounds,
                                    distances))
      continue;
    for (size_t q = 0; q < n; q++) keep_rows(members[q], block, distances + q * LANES);
  }
}

/* Looks at a leaf for all members; false without memory. */
static bool scan_together(const struct company *company, size_t leaf)
{
  struct span blocks = blocks_of(company->members[0]->tree, leaf);
  for (size_t q = 0; q < company->n; q++) {
    company->members[q]->n_blocks += blocks.end - blocks.begin;
    if (!reserve_leaf(company->members[q])) return false;
  }
  for (size_t q = 0; q < company->n; q += GPNN_TREE_TOGETHER)
    (company->members[0]->filter == NULL ? scan_blocks : estimate_blocks)(company, q, blocks);
  for (size_t q = 0; q < company->n; q++) tighten_if_full(company->members[q]);
  return true;
}

/* Visits each leaf of a group for the members that it may hold near rows for; false without
 * memory. */
static bool visit_together(const struct company *company, size_t group)
{
  const struct gpnn_tree *tree = company->members[0]->tree;
  size_t first = group * LANES, n = tree->n_children[0] - first;
  const float *queries[GPNN_TREE_QUERIES];
  float distances[GPNN_TREE_QUERIES][LANES];
  if (n > LANES) n = LANES;
  for (size_t q = 0; q < company->n; q++) queries[q] = company->members[q]->scratch->query;
  company->members[0]->loops->boxes(tree->d, tree->boxes[0] + group * 2 * tree->d * LANES,
                                    company->n, queries, distances);
  for (size_t i = 0; i < n; i++) {
    struct company close = {0};
    for (size_t q = 0; q < company->n; q++)
      if (distances[q][i] <= company->members[q]->box_bound)
        close.members[close.n++] = company->members[q];
    if (close.n > 0 && !scan_together(&close, first + i)) return false;
  }
  return true;
}

/*
 * Starts again at the first leaf, keeping the bounds, with the filter if there is one; false
 * without memory.  A query that the filter leaves so many rows that looking at each of them by
 * itself takes longer than comparing all does without it, as where it is far from all rows.
 */
static bool visit_all_together(const struct company *company, const struct gpnn_tree_filter *filter)
{
  if (company->n == 0) return true;
  const struct gpnn_tree *tree = company->members[0]->tree;
  size_t many = tree->n / (2 * GPNN_TREE_TOGETHER); /* in doubles, and not shared by as many */
  struct company left = {0};
  for (size_t q = 0; q < company->n; q++) {
    company->members[q]->n = 0;
    company->members[q]->limit = limit_for(company->members[q]->k);
    if (!use_filter(company->members[q], filter)) return false;
  }
  for (size_t group = 0; group * LANES < tree->n_children[0]; group++)
    if (!visit_together(company, group)) return false;
  for (size_t q = 0; q < company->n; q++) {
    struct gpnn_tree_traversal *member = company->members[q];
    if (member->n > member->k) tighten(member);
    if (filter != NULL && member->n > many) left.members[left.n++] = member;
  }
  return visit_all_together(&left, NULL);
}

/* ---- all queries ---- */

/* Blocks that the first of several queries looks at by itself before it gives up, and those that
 * the others look at before they join it. */
struct budget {
  size_t first, others;
};

static struct budget budget_of(const struct gpnn_tree *tree, size_t n_queries, size_t k)
{
  size_t much = (tree->n + LANES - 1) / LANES / GPNN_TREE_SWITCH, few = 4 * (k / LANES + 1);
  bool alone = tree->reach < 1 || n_queries < GPNN_TREE_TOGETHER || much < few;
  return alone ? (struct budget){SIZE_MAX, SIZE_MAX} : (struct budget){much, few};
}

static bool find_all(const struct gpnn_tree *tree, size_t n_queries, const double *const *queries,
                     const double *within, size_t k, struct gpnn_tree_workspace *workspace)
{
  struct budget budget = budget_of(tree, n_queries, k);
  bool may_filter = budget.first < SIZE_MAX && !workspace->is_counted;
  const struct gpnn_tree_filter *filter = may_filter ? gpnn_tree_filter_of(tree, false) : NULL;
  struct company company = {0};
  if (filter != NULL) budget.first /= GPNN_TREE_FILTERED; /* may be fewer than the others' */
  for (size_t q = 0; q < n_queries; q++) {
    struct gpnn_tree_traversal *traversal = &workspace->traversals[q];
    size_t most = q == 0 ? budget.first : company.n > 0 ? budget.others : SIZE_MAX;
    const struct sought sought = {queries[q], within == NULL ? INFINITY : within[q]};
    if (!start(traversal, tree, filter, sought, k, most, &workspace->scratch[q])) return false;
    if (traversal->height > 0) company.members[company.n++] = traversal;
  }
  if (company.n > 0 && may_filter) filter = gpnn_tree_filter_of(tree, true);
  return visit_all_together(&company, filter);
}

enum gpnn_status gpnn_tree_candidates(const struct gpnn_tree *tree, size_t n_queries,
                                      const double *const *queries, const double *within, size_t k,
                                      struct gpnn_tree_workspace *workspace, size_t *visited,
                                      struct gpnn_error *err)
{
  if (!find_all(tree, n_queries, queries, within, k, workspace))
    return gpnn_fail_memory(err, "for a search");
  for (size_t q = 0; q < n_queries; q++) {
    const struct gpnn_tree_traversal *traversal = &workspace->traversals[q];
    struct gpnn_tree_scratch *scratch = &workspace->scratch[q];
    for (size_t i = 0; i < traversal->n; i++) scratch->rows[i] = tree->ids[scratch->positions[i]];
    scratch->found = traversal->n;
    *visited += traversal->n_blocks * LANES < tree->n ? traversal->n_blocks * LANES : tree->n;
  }
  return GPNN_OK;
}
