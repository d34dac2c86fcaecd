/*
 * tree: a k-d tree of boxes, which proposes every row that may be among the nearest.
 *
 *   tree.c        building a tree and storing it
 *   tree_query.c  walking through it
 *   tree_simd.c   the innermost loops, for each set of instructions
 */
#ifndef GPNN_SEARCH_TREE_PRIVATE_H
#define GPNN_SEARCH_TREE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "search/points_private.h"

/* ---- tree.c ---- */

/*
 * Distinct rows are halved in the coordinate in which they are most spread out (gpnn-methods(7),
 * section 10), until GPNN_TREE_LEAF are left.  The tree is stored without pointers: leaves are full
 * except the last, 16 of them are a group, 16 groups are a group of the level above, and so on; a
 * group holds the boxes of its 16 children.  Everything is laid out in blocks of 16, one coordinate
 * after another, so that 16 rows or boxes are compared with a query at once.
 */
enum { GPNN_TREE_LANES = 16, GPNN_TREE_LEAF = 32, GPNN_TREE_LEVELS = 8 };

struct gpnn_tree {
  size_t n, d, n_levels; /* n distinct rows */
  struct gpnn_float_frame frame;
  unsigned char *owned;                 /* 'bytes', unless they are mapped */
  const unsigned char *bytes;           /* the layout of gpnn-index(5), */
  size_t length;                        /* this long */
  const float *rows;                    /* blocks of d by 16 */
  const uint32_t *ids;                  /* the distinct row of each, padded to a multiple of 16 */
  const float *boxes[GPNN_TREE_LEVELS]; /* by level, the leaves' first: groups of d by 2
                                           (least, greatest) by 16 */
  size_t n_children[GPNN_TREE_LEVELS];  /* leaves, then groups */
  double reach; /* boxes farther than this fraction of the k-th nearest's distance are not opened;
                   1: exact */
};

/* Builds a tree over 'points', the same for any number of threads.  GPNN_EDATA: too many rows. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tree_build(struct gpnn_tree **tree,
                                                 const struct gpnn_search_points *points,
                                                 int threads, struct gpnn_error *err);

GPNN_MUST_CHECK enum gpnn_status gpnn_tree_save(const struct gpnn_tree *tree, FILE *file,
                                                struct gpnn_error *err);

/*
 * Restores a tree from 'bytes' (borrowed, 64-byte aligned), which are used in place.  GPNN_EFORMAT:
 * they do not fit 'points'.  Queries stay within bounds whatever the bytes are.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_tree_map(struct gpnn_tree **tree, const void *bytes,
                                               size_t length,
                                               const struct gpnn_search_points *points,
                                               struct gpnn_error *err);

void gpnn_tree_free(struct gpnn_tree *tree);

/* ---- tree_simd.c ---- */

/* Queries compared with a block of rows together, so that it is fetched once for all. */
enum { GPNN_TREE_TOGETHER = 8 };

/*
 * Loops over 16 rows or boxes.
 *   scan      appends the rows of a block that are no farther than 'bound' (squared) from 'query',
 *             as distances and as positions counted from 'first', and returns how many; both arrays
 *             have space for 16
 *   measure   squared distances of 16 rows from each of GPNN_TREE_TOGETHER queries; false, and no
 *             distances, if every row is farther from each query than that query's bound
 *   boxes     squared distances of 16 boxes from 'query'
 */
struct gpnn_tree_loops {
  size_t (*scan)(size_t d, const float *block, const float *query, float bound, uint32_t first,
                 float *distances, uint32_t *positions);
  bool (*measure)(size_t d, const float *block, const float *const *queries, const float *bounds,
                  float *distances);
  void (*boxes)(size_t d, const float *block, const float *query, float distances[16]);
};

extern const struct gpnn_tree_loops gpnn_tree_loops_portable;

/* The fastest loops that this machine can run. */
const struct gpnn_tree_loops *gpnn_tree_loops(void);

/* ---- tree_query.c ---- */

/* Queries that a thread answers at a time.  They go through the leaves together once the first has
 * looked at one in GPNN_TREE_SWITCH rows. */
enum { GPNN_TREE_QUERIES = 32, GPNN_TREE_SWITCH = 6 };

/* Memory of one query. */
struct gpnn_tree_scratch {
  float *query;             /* d */
  float *distances, *spare; /* capacity */
  uint32_t *positions;      /* capacity */
  int64_t *rows;            /* capacity: the candidates, as distinct rows */
  size_t capacity, found;   /* candidates found */
};

struct gpnn_tree_traversal;

/* Memory of one thread. */
struct gpnn_tree_workspace {
  struct gpnn_tree_scratch scratch[GPNN_TREE_QUERIES]; /* each allocated when first needed */
  struct gpnn_tree_traversal *traversals;              /* owned: GPNN_TREE_QUERIES */
};

GPNN_MUST_CHECK bool gpnn_tree_workspace_init(const struct gpnn_tree *tree, size_t k,
                                              struct gpnn_tree_workspace *workspace);
void gpnn_tree_workspace_release(struct gpnn_tree_workspace *workspace);

/* A leaf in or close to which 'query' lies: queries sorted by it find rows still in cache. */
size_t gpnn_tree_leaf(const struct gpnn_tree *tree, const double *query,
                      struct gpnn_tree_workspace *workspace);

/*
 * Writes to workspace->scratch[q].rows all rows that may be among the 'k' nearest, 0 < k <= n, of
 * query q < n_queries <= GPNN_TREE_QUERIES, and sets 'found' there: at least k, and if the reach
 * is 1 all that single precision cannot rule out.  Adds the rows looked at to '*visited'.
 * GPNN_ENOMEM.
 *
 * Each query walks through the tree by itself, unless the reach is 1 and the first had to look at
 * much of the tree: then all go through the leaves together.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_tree_candidates(const struct gpnn_tree *tree,
                                                      size_t n_queries,
                                                      const double *const *queries, size_t k,
                                                      struct gpnn_tree_workspace *workspace,
                                                      size_t *visited, struct gpnn_error *err);

#endif
