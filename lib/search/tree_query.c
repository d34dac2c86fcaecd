/*
 * Queries of a tree: depth first, the nearest box first, with all that is known to be too far left
 * out.  Where that leaves out little, as among many inputs that all matter, a query would wait for
 * rows from memory most of the time; so several go through the leaves in their order together, once
 * each knows from some near leaves how far rows may be.
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

#include "base/memory.h"
#include "search/search_private.h"

enum { LANES = GPNN_TREE_LANES, STACK = GPNN_TREE_LEVELS * GPNN_TREE_LANES, FETCHED = 512 };

/* A box to look into: a group of 'level', or a leaf on level 0. */
struct visit {
  float distance;
  uint32_t number;
  size_t level;
};

/* A query under way. */
struct gpnn_tree_quest {
  const struct gpnn_tree *tree;
  const struct gpnn_tree_loops *loops;
  struct gpnn_tree_scratch *scratch;
  size_t k, n, limit; /* rows kept; more than so many are thinned out */
  size_t n_blocks;    /* looked at */
  size_t most_blocks; /* after which it waits for others to go on with */
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

static bool scratch_init(const struct gpnn_tree *tree, size_t k, struct gpnn_tree_scratch *scratch)
{
  if (scratch->query != NULL) return true;
  scratch->query = gpnn_alloc(tree->d, 1, sizeof *scratch->query);
  return scratch->query != NULL && scratch_grow(scratch, limit_for(k) + 2 * GPNN_TREE_LEAF);
}

static void scratch_release(struct gpnn_tree_scratch *scratch)
{
  free(scratch->query);
  free(scratch->distances);
  free(scratch->spare);
  free(scratch->positions);
  free(scratch->rows);
}

bool gpnn_tree_room_init(const struct gpnn_tree *tree, size_t k, struct gpnn_tree_room *room)
{
  *room = (struct gpnn_tree_room){0};
  room->quests = gpnn_alloc(GPNN_TREE_QUERIES, 1, sizeof *room->quests);
  if (room->quests != NULL && scratch_init(tree, k, &room->scratch[0])) return true;
  gpnn_tree_room_release(room);
  return false;
}

void gpnn_tree_room_release(struct gpnn_tree_room *room)
{
  for (size_t q = 0; q < GPNN_TREE_QUERIES; q++) scratch_release(&room->scratch[q]);
  free(room->quests);
  *room = (struct gpnn_tree_room){0};
}

/* ---- the bound ---- */

static float bound_for(const struct gpnn_tree_quest *quest, float kth)
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
static void tighten(struct gpnn_tree_quest *quest)
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

/* Makes room for the rows of a leaf; false without memory. */
static bool reserve_leaf(struct gpnn_tree_quest *quest)
{
  struct gpnn_tree_scratch *scratch = quest->scratch;
  return quest->n + 2 * GPNN_TREE_LEAF <= scratch->capacity ||
         scratch_grow(scratch, 2 * scratch->capacity);
}

static void tighten_if_full(struct gpnn_tree_quest *quest)
{
  if (quest->n >= quest->limit || (quest->bound == FLT_MAX && quest->n >= quest->k)) tighten(quest);
}

static bool scan_leaf(struct gpnn_tree_quest *quest, size_t leaf)
{
  const struct gpnn_tree *tree = quest->tree;
  struct gpnn_tree_scratch *scratch = quest->scratch;
  struct span blocks = blocks_of(tree, leaf);
  quest->n_blocks += blocks.end - blocks.begin;
  if (!reserve_leaf(quest)) return false;
  for (size_t block = blocks.begin; block < blocks.end; block++)
    quest->n += quest->loops->scan(tree->d, tree->rows + block * tree->d * LANES, scratch->query,
                                   quest->bound, (uint32_t)(block * LANES),
                                   scratch->distances + quest->n, scratch->positions + quest->n);
  tighten_if_full(quest);
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
static void open_group(struct gpnn_tree_quest *quest, size_t level, size_t group)
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
                      struct gpnn_tree_room *room)
{
  size_t number = 0;
  const struct gpnn_tree_scratch *scratch = &room->scratch[0];
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

/* Goes on until nothing is left that may hold near rows, or enough has been looked at; false
 * without memory. */
static bool walk(struct gpnn_tree_quest *quest)
{
  while (quest->height > 0 && quest->n_blocks < quest->most_blocks) {
    struct visit visit = quest->stack[--quest->height];
    if (visit.distance > quest->reach) continue;
    if (visit.level > 0)
      open_group(quest, visit.level - 1, visit.number);
    else if (!scan_leaf(quest, visit.number))
      return false;
    if (quest->height > 0 && quest->stack[quest->height - 1].level == 0)
      fetch_leaf(quest->tree, quest->stack[quest->height - 1].number);
  }
  if (quest->n > quest->k) tighten(quest);
  return true;
}

/* Begins with 'query', and walks through up to 'most_blocks' blocks; false without memory. */
static bool set_out(struct gpnn_tree_quest *quest, const struct gpnn_tree *tree,
                    const double *query, size_t k, size_t most_blocks,
                    struct gpnn_tree_scratch *scratch)
{
  if (!scratch_init(tree, k, scratch)) return false;
  quest->tree = tree;
  quest->loops = gpnn_tree_loops();
  quest->scratch = scratch;
  quest->k = k;
  quest->limit = limit_for(k);
  quest->n = quest->n_blocks = quest->height = 0;
  quest->most_blocks = most_blocks;
  quest->bound = quest->reach = FLT_MAX;
  quest->norm = gpnn_frame_apply(&tree->frame, query, scratch->query);
  open_group(quest, tree->n_levels - 1, 0);
  return walk(quest);
}

/* ---- together ---- */

/* Quests that go through leaves together, and those of a leaf. */
struct party {
  size_t n;
  struct gpnn_tree_quest *members[GPNN_TREE_QUERIES];
};

/* Notes rows of a block at 'distances' that are near enough. */
static void keep_near(struct gpnn_tree_quest *quest, size_t block, const float *distances)
{
  struct gpnn_tree_scratch *scratch = quest->scratch;
  size_t n = quest->n;
  for (size_t i = 0; i < LANES; i++) {
    scratch->distances[n] = distances[i];
    scratch->positions[n] = (uint32_t)(block * LANES + i);
    n += distances[i] <= quest->bound;
  }
  quest->n = n;
}

/* The members from 'first' on, as many as go abreast; a place that stays empty has the first's
 * query, and a bound that nothing meets. */
static void scan_abreast(const struct party *party, size_t first, struct span blocks)
{
  const struct gpnn_tree *tree = party->members[0]->tree;
  struct gpnn_tree_quest *const *members = party->members + first;
  size_t n = party->n - first < GPNN_TREE_ABREAST ? party->n - first : GPNN_TREE_ABREAST;
  const float *queries[GPNN_TREE_ABREAST];
  float bounds[GPNN_TREE_ABREAST], distances[GPNN_TREE_ABREAST * LANES];
  for (size_t q = 0; q < GPNN_TREE_ABREAST; q++) {
    queries[q] = members[q < n ? q : 0]->scratch->query;
    bounds[q] = q < n ? members[q]->bound : -1;
  }
  for (size_t block = blocks.begin; block < blocks.end; block++) {
    if (!members[0]->loops->measure(tree->d, tree->rows + block * tree->d * LANES, queries, bounds,
                                    distances))
      continue;
    for (size_t q = 0; q < n; q++) keep_near(members[q], block, distances + q * LANES);
  }
}

/* Looks at a leaf for all of the party; false without memory. */
static bool scan_together(const struct party *party, size_t leaf)
{
  struct span blocks = blocks_of(party->members[0]->tree, leaf);
  for (size_t q = 0; q < party->n; q++) {
    party->members[q]->n_blocks += blocks.end - blocks.begin;
    if (!reserve_leaf(party->members[q])) return false;
  }
  for (size_t q = 0; q < party->n; q += GPNN_TREE_ABREAST) scan_abreast(party, q, blocks);
  for (size_t q = 0; q < party->n; q++) tighten_if_full(party->members[q]);
  return true;
}

/* All leaves of a group, each for those whom it may hold near rows for; false without memory. */
static bool visit_together(const struct party *party, size_t group)
{
  const struct gpnn_tree *tree = party->members[0]->tree;
  size_t first = group * LANES, n = tree->n_children[0] - first;
  float distances[GPNN_TREE_QUERIES][LANES];
  if (n > LANES) n = LANES;
  for (size_t q = 0; q < party->n; q++)
    party->members[q]->loops->boxes(tree->d, tree->boxes[0] + group * 2 * tree->d * LANES,
                                    party->members[q]->scratch->query, distances[q]);
  for (size_t i = 0; i < n; i++) {
    struct party near = {0};
    for (size_t q = 0; q < party->n; q++)
      if (distances[q][i] <= party->members[q]->reach) near.members[near.n++] = party->members[q];
    if (near.n > 0 && !scan_together(&near, first + i)) return false;
  }
  return true;
}

/* Begins again at the first leaf, with what is known of the bound; false without memory. */
static bool go_together(const struct party *party)
{
  if (party->n == 0) return true;
  const struct gpnn_tree *tree = party->members[0]->tree;
  for (size_t q = 0; q < party->n; q++) {
    party->members[q]->n = 0;
    party->members[q]->limit = limit_for(party->members[q]->k);
  }
  for (size_t group = 0; group * LANES < tree->n_children[0]; group++)
    if (!visit_together(party, group)) return false;
  for (size_t q = 0; q < party->n; q++)
    if (party->members[q]->n > party->members[q]->k) tighten(party->members[q]);
  return true;
}

/* ---- all queries ---- */

/* Blocks that the first of several queries looks at before it waits for the others, which look at
 * some near leaves before they join. */
struct patience {
  size_t first, others;
};

static struct patience patience_of(const struct gpnn_tree *tree, size_t n_queries, size_t k)
{
  size_t much = (tree->n + LANES - 1) / LANES / GPNN_TREE_PATIENCE, near = 4 * (k / LANES + 1);
  bool alone = tree->share < 1 || n_queries < GPNN_TREE_ABREAST || much < near;
  return alone ? (struct patience){SIZE_MAX, SIZE_MAX} : (struct patience){much, near};
}

static bool find_all(const struct gpnn_tree *tree, size_t n_queries, const double *const *queries,
                     size_t k, struct gpnn_tree_room *room)
{
  struct patience patience = patience_of(tree, n_queries, k);
  struct party party = {0};
  for (size_t q = 0; q < n_queries; q++) {
    struct gpnn_tree_quest *quest = &room->quests[q];
    size_t most = q == 0 ? patience.first : party.n > 0 ? patience.others : SIZE_MAX;
    if (!set_out(quest, tree, queries[q], k, most, &room->scratch[q])) return false;
    if (quest->height > 0) party.members[party.n++] = quest;
  }
  return go_together(&party);
}

enum gpnn_status gpnn_tree_candidates(const struct gpnn_tree *tree, size_t n_queries,
                                      const double *const *queries, size_t k,
                                      struct gpnn_tree_room *room, size_t *visited,
                                      struct gpnn_error *err)
{
  if (!find_all(tree, n_queries, queries, k, room)) return gpnn_fail_memory(err, "for a search");
  for (size_t q = 0; q < n_queries; q++) {
    const struct gpnn_tree_quest *quest = &room->quests[q];
    struct gpnn_tree_scratch *scratch = &room->scratch[q];
    for (size_t i = 0; i < quest->n; i++) scratch->rows[i] = tree->ids[scratch->positions[i]];
    scratch->found = quest->n;
    *visited += quest->n_blocks * LANES < tree->n ? quest->n_blocks * LANES : tree->n;
  }
  return GPNN_OK;
}
