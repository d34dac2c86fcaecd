/*
 * search_private: shared by the files of this folder: points, the engines that search them, and
 * what makes one of them a search.
 */
#ifndef GPNN_SEARCH_SEARCH_PRIVATE_H
#define GPNN_SEARCH_SEARCH_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mapping.h"
#include "base/memory.h"
#include "base/status.h"
#include "search/faiss_calls_private.h"
#include "search/nearest.h"
#include "search/search.h"

/* ---- points ------------------------------------------------------------------------------- */

/*
 * The rows that are searched, with their metric, and what every engine does with them.
 *
 *   duplicates.c   identical rows, which engines see once
 *   exact.c        distances in double precision; brute force over all rows
 *   float_frame.c  coordinates in single precision, and how wrong they may be
 *   rerank.c       an engine's candidates, ranked again in double precision
 */

/* The rows and the metric; arrays are borrowed.  Distances are Euclidean after the linear map
 * 'map', or after multiplication by 'inverse', or as the rows are if both are NULL. */
struct gpnn_search_points {
  size_t n, d;
  const double *x;       /* n by d, row-major */
  const double *inverse; /* d reciprocal lengthscales, or NULL */
  const double *map;     /* d by d, row-major: the rotation divided by the lengthscales, or NULL */
  struct gpnn_mapping mapping; /* that x lies in, if it is mapped */
  size_t n_distinct;           /* rows after identical ones are merged: what engines search */
  const uint32_t *first; /* n_distinct: the first row of each, ascending; NULL: no duplicates */
  const uint32_t *next;  /* n: the next identical row, or 0; NULL: no duplicates */
};

/* ---- duplicates.c ---- */

/* The first row of distinct row 'i'.  Below n whatever was stored. */
static inline size_t gpnn_duplicates_first(const struct gpnn_search_points *points, size_t i)
{
  if (points->first == NULL) return i;
  return points->first[i] < points->n ? points->first[i] : 0;
}

/* The next row identical to 'row', or 0.  Greater than 'row' and below n whatever was stored. */
static inline size_t gpnn_duplicates_next(const struct gpnn_search_points *points, size_t row)
{
  if (points->next == NULL) return 0;
  size_t next = points->next[row];
  return next > row && next < points->n ? next : 0;
}

/*
 * Finds identical rows and sets n_distinct, first and next; they stay NULL unless some row stands
 * often enough to slow a search.  '*owned', which the caller frees, holds next, then first.  False
 * without memory.
 */
GPNN_MUST_CHECK bool gpnn_duplicates_find(struct gpnn_search_points *points, uint32_t **owned);

/* Sets them from such an array, which is borrowed. */
void gpnn_duplicates_set(struct gpnn_search_points *points, size_t n_distinct,
                         const uint32_t *next_and_first);

/* Evicts the rows from distinct row 'begin' to the one before 'end'. */
void gpnn_search_points_evict(const struct gpnn_search_points *points, size_t begin, size_t end);

/* ---- exact.c ---- */

enum { GPNN_DISTANCE_LANES = 8 };

/*
 * Squared distances of 'n' rows from 'query', infinite instead of NaN.  All engines report these,
 * so that equal pairs have equal distances.  'differences' is scratch of GPNN_DISTANCE_LANES by d.
 */
void gpnn_search_points_distances(const struct gpnn_search_points *points, const double *query,
                                  size_t n, const int64_t *rows, double *differences,
                                  double *distances);

/* gpnn_search_query() by brute force over every row.  Cost n d per query. */
GPNN_MUST_CHECK enum gpnn_status gpnn_exact_query(const struct gpnn_search_points *points,
                                                  size_t n_queries, const double *queries, size_t k,
                                                  int64_t *rows, double *distances, int threads,
                                                  struct gpnn_error *err);

/* ---- float_frame.c ---- */

/*
 * A coordinate frame for single precision: z = f (x - o), or F (x - o) under a rotation.  The
 * origin o is a point among the rows; f, or F, is the metric times the power of two that brings z
 * to about unit size.  So columns far from zero and tiny or huge units lose nothing to rounding.
 */
struct gpnn_float_frame {
  size_t d;
  double *origin, *factor; /* owned: d; d or NULL */
  double *map;             /* owned: d by d, column-major, or NULL */
  double scale;            /* the power of two */
};

/* Coordinates are clamped to this magnitude. */
#define GPNN_FLOAT_FRAME_EDGE 1e15

/* Both are false without memory, and 'frame' is then empty. */
GPNN_MUST_CHECK bool gpnn_float_frame_alloc(struct gpnn_float_frame *frame, size_t d, bool has_map);
GPNN_MUST_CHECK bool gpnn_float_frame_init(struct gpnn_float_frame *frame,
                                           const struct gpnn_search_points *points);
void gpnn_float_frame_release(struct gpnn_float_frame *frame);

/* Writes the coordinates of a row; returns its distance from the origin, in the frame's units. */
double gpnn_float_frame_apply(const struct gpnn_float_frame *frame, const double *row,
                              float *framed);

/* Bounds the error of a distance computed in single precision: of a row at 'distance' (not squared,
 * in the frame's units) from a query whose distance from the origin is 'norm'. */
double gpnn_float_frame_error(const struct gpnn_float_frame *frame, double norm, double distance);

/* ---- rerank.c ---- */

/* The candidates of one query, and scratch. */
struct gpnn_reranking {
  size_t capacity;
  struct gpnn_neighbour *neighbours, *spare; /* capacity */
  double *distances;                         /* capacity */
  double *differences;                       /* for gpnn_search_points_distances() */
  size_t k;
  struct gpnn_neighbour *expanded; /* 6 k, or NULL: the nearest rows with their duplicates */
  struct gpnn_arrays *arrays;      /* owned; what frees the arrays */
};

/* Allocates for 'n' candidates; false without memory. */
GPNN_MUST_CHECK bool gpnn_rerank_reserve(struct gpnn_reranking *ranking, size_t n, size_t d);
void gpnn_rerank_release(struct gpnn_reranking *ranking);

/* Sorts the distinct rows 'candidates', which are overwritten, by distance in double precision,
 * ties by their first row; returns how many there are, or the k nearest of them if there are many
 * more. */
size_t gpnn_rerank(const struct gpnn_search_points *points, const double *query,
                   size_t n_candidates, int64_t *candidates, size_t k,
                   struct gpnn_reranking *ranking);

/* Writes the k nearest rows, duplicates included, of the 'found' distinct rows in 'ranking'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_rerank_write(const struct gpnn_search_points *points,
                                                   struct gpnn_reranking *ranking, size_t found,
                                                   size_t k, int64_t *rows, double *distances,
                                                   struct gpnn_error *err);

/* ---- what is stored ----------------------------------------------------------------------- */

/* Parts of a stored structure begin at multiples of this. */
enum { GPNN_SEARCH_ALIGNMENT = 64 };

/* Advances '*at' by n by m items, rounded up to the alignment; false on overflow. */
static inline bool gpnn_search_advance(size_t *at, size_t n, size_t m, size_t item_bytes)
{
  size_t count, bytes;
  if (!gpnn_multiply(n, m, &count) || !gpnn_multiply(count, item_bytes, &bytes)) return false;
  if (bytes > SIZE_MAX / 2 - GPNN_SEARCH_ALIGNMENT - *at) return false;
  bytes += GPNN_SEARCH_ALIGNMENT - 1;
  *at += bytes - bytes % GPNN_SEARCH_ALIGNMENT;
  return true;
}

/* ---- tree --------------------------------------------------------------------------------- */

/*
 * A k-d tree of boxes, which proposes every row that may be among the nearest.
 *
 *   tree.c        building a tree and storing it
 *   tree_query.c  walking through it
 *   tree_filter.c rows in bytes, by which most of those that are too far are told
 *   tree_simd.c   the innermost loops, for each set of instructions
 */

/* ---- tree.c ---- */

/*
 * Distinct rows are halved in the coordinate in which they are most spread out (gpnn-methods(7),
 * section 10), until GPNN_TREE_LEAF are left.  The tree is stored without pointers: leaves are full
 * except the last, 16 of them are a group, 16 groups are a group of the level above, and so on; a
 * group holds the boxes of its 16 children.  Everything is laid out in blocks of 16, one coordinate
 * after another, so that 16 rows or boxes are compared with a query at once.
 */
enum { GPNN_TREE_LANES = 16, GPNN_TREE_LEAF = 32, GPNN_TREE_LEVELS = 8 };

struct gpnn_tree_filter;

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
  struct gpnn_tree_filter *filter; /* owned; made by the first queries that need it */
};

/* Builds a tree over 'points', the same for any number of threads.  GPNN_EDATA: too many rows. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tree_build(struct gpnn_tree **tree,
                                                 const struct gpnn_search_points *points,
                                                 int threads, struct gpnn_error *err);

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

/* A query as the filter sees it (tree_filter.c).  Its largest coordinates are not in bytes. */
enum { GPNN_TREE_BIAS = 128, GPNN_TREE_LARGE = 8 };

struct gpnn_tree_coded {
  uint32_t *codes; /* owned: b, groups of four bytes */
  size_t n_large;
  uint32_t large[GPNN_TREE_LARGE]; /* which they are, */
  float factors[GPNN_TREE_LARGE];  /* and what a row's bytes there are multiplied by */
  int32_t start;                   /* of the sum of products, for the bias of the rows' bytes */
  float step;                      /* -2 t */
  float rest;                      /* 2 |p| */
  float squares;                   /* |z|^2 */
  float radius;                    /* of the bound */
};

/*
 * Loops over 16 rows or boxes, or what has been found of them.
 *   scan      appends the rows of some blocks that are no farther than 'bound' (squared) from
 *             'query', as distances and as positions, and returns how many; both arrays have space
 *             for 16 more
 *   measure   squared distances of 16 rows from each of GPNN_TREE_TOGETHER queries; false, and no
 *             distances, if every row is farther from each query than that query's bound
 *   boxes     squared distances of 16 boxes from each of 'n' queries
 *   keep      moves what is at keys of at most 'bound' to the front, in three arrays of which
 *             'others' may be NULL, and returns how many these are
 *   order     numbers of those of 16 distances that are at most 'bound', the farthest first, and
 *             how many
 *   pass      bits of the 16 rows that may be within the bound of the only query, or of each of
 *             GPNN_TREE_TOGETHER, and |s a - z|^2 at least (tree_filter.c); NULL: this machine
 *             lacks the instruction
 */
struct gpnn_tree_loops {
  size_t (*scan)(size_t d, const float *rows, size_t n_blocks, const uint32_t *blocks,
                 const float *query, float bound, float *distances, uint32_t *positions);
  bool (*measure)(size_t d, const float *block, const float *const *queries, const float *bounds,
                  float *distances);
  void (*boxes)(size_t d, const float *block, size_t n, const float *const *queries,
                float (*distances)[16]);
  size_t (*keep)(size_t n, float bound, float *keys, float *others, uint32_t *positions);
  size_t (*order)(const float *distances, float bound, unsigned char *order);
  void (*pass)(size_t n, size_t n_groups, const uint32_t *codes, const float *terms,
               const struct gpnn_tree_coded *const *queries, uint16_t *passed, float *squares);
};

extern const struct gpnn_tree_loops gpnn_tree_loops_portable;

/* The fastest loops that this machine can run. */
const struct gpnn_tree_loops *gpnn_tree_loops(void);

/* ---- tree_filter.c ---- */

/* The numbers that a row has besides its bytes: |s a|^2, |a| and e. */
enum { GPNN_TREE_TERMS = 3 };

/* Rows in bytes, in blocks as the tree's. */
struct gpnn_tree_filter {
  int state;
  size_t n_groups;            /* of four coordinates */
  double *centre, *step;      /* d */
  uint32_t *codes;            /* blocks by n_groups by 16 */
  float *terms;               /* blocks by GPNN_TREE_TERMS by 16 */
  struct gpnn_arrays *arrays; /* owned; what frees these */
};

/* The filter of a tree, which takes a byte a coordinate; if it has not been made, 'make' makes it.
 * NULL: not yet, or there are too few coordinates, this machine cannot use one, or there is no
 * memory. */
const struct gpnn_tree_filter *gpnn_tree_filter_of(const struct gpnn_tree *tree, bool make);
void gpnn_tree_filter_free(struct gpnn_tree_filter *filter);

/* Codes a query (d), all but its bound; 'codes' has room for n_groups, 'scaled' is scratch (d). */
void gpnn_tree_filter_code(const struct gpnn_tree_filter *filter, size_t d, const float *query,
                           double *scaled, struct gpnn_tree_coded *coded);

/* Sets the bound of a query: a squared distance, as computed in single precision. */
void gpnn_tree_filter_bound(struct gpnn_tree_coded *coded, size_t d, float bound);

/* The squared distance of row 'i' of 16 from a query, at least and at most. */
struct gpnn_tree_estimate {
  float least, most;
};
struct gpnn_tree_estimate gpnn_tree_filter_estimate(const struct gpnn_tree_coded *coded,
                                                    const float *terms, const float *squares,
                                                    size_t i);

/* ---- tree_query.c ---- */

/* Queries that a thread answers at a time.  They go through the leaves together once the first has
 * looked at one in GPNN_TREE_SWITCH rows, or that divided by GPNN_TREE_FILTERED with a filter. */
enum { GPNN_TREE_QUERIES = 32, GPNN_TREE_SWITCH = 6, GPNN_TREE_FILTERED = 4 };

/* Memory of one query. */
struct gpnn_tree_scratch {
  float *query;             /* d */
  float *distances, *spare; /* capacity */
  float *least;             /* capacity: where distances are estimates, what they are at least */
  uint32_t *positions;      /* capacity */
  int64_t *rows;            /* capacity: the candidates, as distinct rows */
  size_t capacity, found;   /* candidates found */
  struct gpnn_tree_coded coded;
  double *scaled; /* d, or NULL, as it is not needed yet: to code the query */
};

struct gpnn_tree_traversal;

/* Memory of one thread. */
struct gpnn_tree_workspace {
  struct gpnn_tree_scratch scratch[GPNN_TREE_QUERIES]; /* each allocated when first needed */
  struct gpnn_tree_traversal *traversals;              /* owned: GPNN_TREE_QUERIES */
  bool is_counted; /* the rows looked at are of interest: without a filter, which changes them */
};

GPNN_MUST_CHECK bool gpnn_tree_workspace_init(const struct gpnn_tree *tree, size_t k,
                                              bool is_counted,
                                              struct gpnn_tree_workspace *workspace);
void gpnn_tree_workspace_release(struct gpnn_tree_workspace *workspace);

/* A leaf in or close to which 'query' lies: queries sorted by it find rows still in cache. */
size_t gpnn_tree_leaf(const struct gpnn_tree *tree, const double *query,
                      struct gpnn_tree_workspace *workspace);

/*
 * Writes to workspace->scratch[q].rows all rows that may be among the 'k' nearest, 0 < k <= n, of
 * query q < n_queries <= GPNN_TREE_QUERIES, and sets 'found' there: at least k, and if the reach
 * is 1 all that single precision cannot rule out.  Of rows at squared distances above 'within'
 * (n_queries; NULL: none) there may be fewer.  Adds the rows looked at to '*visited'.  GPNN_ENOMEM.
 *
 * Each query walks through the tree by itself, unless the reach is 1 and the first had to look at
 * much of the tree: then all go through the leaves together.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_tree_candidates(const struct gpnn_tree *tree, size_t n_queries, const double *const *queries,
                     const double *within, size_t k, struct gpnn_tree_workspace *workspace,
                     size_t *visited, struct gpnn_error *err);

/* ---- faiss -------------------------------------------------------------------------------- */

/*
 * Flat search, inverted lists and graphs, which propose candidates.
 *
 *   faiss.c         what they have in common: coordinates, errors, memory of queries
 *   lists.c         inverted lists
 *   graph.c         graphs
 *   faiss_calls.cc  what FAISS does of this
 *
 * Lists and graphs are stored, and used where they are mapped, in the layout of gpnn-index(5).
 */

/* ---- lists.c ---- */

/* Rows in lists, one after the other: each in the one of the nearest centroid. */
struct gpnn_lists {
  size_t n, d, n_lists;
  struct gpnn_faiss_flat *centroids; /* owned */
  const uint32_t *ends;              /* n_lists: where each list ends */
  const uint32_t *ids;               /* n: the distinct row at each place */
  const float *rows;                 /* n by d */
};

/* ---- faiss.c ---- */

/*
 * Queries per call of FAISS.  From 20 on it computes distances from products of matrices, by the
 * BLAS: many times as fast, but less precise, by an amount that depends on the batch.  Flat search,
 * which corrects for that, gets many; lists and graphs, whose candidates are taken as they come,
 * get so few that no answer depends on the batch.
 */
enum { GPNN_FAISS_BLOCK = 256, GPNN_FAISS_FEW = 16 };

/* The greatest effort of a graph: beyond it, looking at every row is faster. */
enum { GPNN_FAISS_BEAM_MOST = 1 << 16 };

struct gpnn_faiss {
  const struct gpnn_search_points *points;
  enum gpnn_search_kind kind;
  size_t effort; /* lists visited per query, or efSearch; flat search has no effort */
  struct gpnn_float_frame frame;
  struct gpnn_faiss_flat *flat; /* owned: all rows of flat search, or NULL */
  struct gpnn_lists lists;
  struct gpnn_graph graph;
  unsigned char *owned;       /* 'bytes', unless they are mapped */
  const unsigned char *bytes; /* of lists or a graph, */
  size_t length;              /* this long */
};

/* Builds flat search, 'n_lists' inverted lists or a graph over 'points', whose arrays must outlive
 * it.  The effort is 1 at first.  Lists use the BLAS (gpnn_blas_claim()).  GPNN_EDATA: there are
 * more rows or coordinates than can be numbered. */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_build(struct gpnn_faiss **engine,
                                                  const struct gpnn_search_points *points,
                                                  enum gpnn_search_kind kind, size_t n_lists,
                                                  uint64_t seed, int threads,
                                                  struct gpnn_error *err);

/* Memory of one thread for blocks with up to 'capacity' candidates in all. */
struct gpnn_faiss_scratch {
  float *queries;                 /* GPNN_FAISS_BLOCK by d */
  float *distances;               /* flat: capacity */
  float *coarse;                  /* ivf: GPNN_FAISS_BLOCK by effort */
  int64_t *lists;                 /* likewise */
  struct gpnn_neighbour *nearest; /* ivf: capacity */
  struct gpnn_graph_found *found; /* hnsw: capacity or effort, whichever is more */
  unsigned char *seen;            /* hnsw: rows, 'stamp' if the query has met them */
  unsigned char stamp;
  double norms[GPNN_FAISS_BLOCK]; /* distances of the queries from the frame's origin */
  struct gpnn_arrays *arrays;     /* owned; what frees the arrays */
};

GPNN_MUST_CHECK bool gpnn_faiss_scratch_init(const struct gpnn_faiss *engine, size_t capacity,
                                             struct gpnn_faiss_scratch *scratch);
void gpnn_faiss_scratch_release(struct gpnn_faiss_scratch *scratch);

/*
 * Proposes the 'k' nearest distinct rows, by distances in single precision, of each of 'n_queries'
 * <= GPNN_FAISS_BLOCK queries: 'rows' is n_queries by k, -1 where there are no more.  Adds the rows
 * looked at to '*visited' unless it is NULL (ivf only).
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_candidates(const struct gpnn_faiss *engine,
                                                       size_t n_queries, const double *queries,
                                                       size_t k, struct gpnn_faiss_scratch *scratch,
                                                       int64_t *rows, size_t *visited,
                                                       struct gpnn_error *err);

/* Bounds the error of these distances: of a row at 'distance' (not squared) from a query of
 * 'norm' (scratch->norms), one of 'n_queries' in a call. */
double gpnn_faiss_error(const struct gpnn_faiss *engine, size_t n_queries, double norm,
                        double distance);

/*
 * Restores lists or a graph from 'bytes' (borrowed, 64-byte aligned), which are used in place.
 * GPNN_EFORMAT: they do not fit 'points' and 'report'.  Queries stay within bounds, and end,
 * whatever the bytes are.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_map(struct gpnn_faiss **engine, const void *bytes,
                                                size_t length,
                                                const struct gpnn_search_points *points,
                                                const struct gpnn_search_report *report,
                                                struct gpnn_error *err);

void gpnn_faiss_free(struct gpnn_faiss *engine);

/*
 * Calls 'take' for all distinct rows, GPNN_FAISS_ROWS or fewer at a time and in order: 'rows' (n by
 * d) are rows 'first' and following.  GPNN_ENOMEM.
 */
enum { GPNN_FAISS_ROWS = 1 << 16 };
typedef enum gpnn_status gpnn_faiss_take(void *context, size_t first, size_t n, const float *rows,
                                         struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_each_row(const struct gpnn_faiss *engine, int threads,
                                                     gpnn_faiss_take *take, void *context,
                                                     struct gpnn_error *err);

/* Copies row i of all distinct rows to row places[i] of 'to'.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_place_rows(const struct gpnn_faiss *engine, int threads,
                                                       const uint32_t *places, float *to,
                                                       struct gpnn_error *err);

/* Allocates 'length' bytes for what is stored.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_reserve(struct gpnn_faiss *engine, size_t length,
                                                    struct gpnn_error *err);

/* ---- lists.c: the steps of building, mapping and searching lists ---- */

GPNN_MUST_CHECK enum gpnn_status gpnn_lists_build(struct gpnn_faiss *engine, size_t n_lists,
                                                  uint64_t seed, int threads,
                                                  struct gpnn_error *err);
/* The bytes of 'engine' are set.  '*fits' is false if they cannot be those of 'n_lists' lists. */
GPNN_MUST_CHECK enum gpnn_status gpnn_lists_map(struct gpnn_faiss *engine, size_t n_lists,
                                                bool *fits, struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_lists_candidates(const struct gpnn_faiss *engine,
                                                       size_t n_queries, size_t k,
                                                       struct gpnn_faiss_scratch *scratch,
                                                       int64_t *rows, size_t *visited,
                                                       struct gpnn_error *err);

/* ---- graph.c: the same for a graph ---- */

/* A row that a query has met; its links are followed once, after those of all nearer ones. */
struct gpnn_graph_found {
  float distance;
  uint32_t place;
  bool is_followed;
};

GPNN_MUST_CHECK enum gpnn_status gpnn_graph_build(struct gpnn_faiss *engine, int threads,
                                                  struct gpnn_error *err);
/* False if the bytes cannot be those of a graph. */
GPNN_MUST_CHECK bool gpnn_graph_map(struct gpnn_faiss *engine);
void gpnn_graph_candidates(const struct gpnn_faiss *engine, size_t n_queries, size_t k,
                           struct gpnn_faiss_scratch *scratch, int64_t *rows);

/* Without 'faiss' and 'tree' a search is exact: brute force in double precision. */
struct gpnn_search {
  struct gpnn_search_points points;
  double *lengthscale; /* owned: d, or NULL */
  double *rotation;    /* owned: d by d, or NULL */
  double *inverse;     /* owned: reciprocals of the lengthscales, or NULL; points.inverse */
  double *map;         /* owned: d by d, or NULL; points.map */
  struct gpnn_search_report report;
  uint32_t *duplicates;     /* owned, or NULL: points.next and points.first */
  struct gpnn_faiss *faiss; /* owned: flat, inverted lists or a graph */
  struct gpnn_tree *tree;   /* owned */
};

/* ---- query.c ---- */

/* gpnn_search_query_within() as the engine answers, which under ivf may lack rows; adds to
 * '*visited', unless it is NULL, the rows that lists or a tree looked at. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_search_query_counted(const struct gpnn_search *search, size_t n_queries, const double *queries,
                          const double *within, size_t k, int64_t *rows, double *distances,
                          int threads, size_t *visited, struct gpnn_error *err);

/* ---- tune.c ---- */

/* Sets lists visited per query, efSearch, or the reach of a tree in per cent; flat and exact
 * search have no effort. */
void gpnn_search_set_effort(struct gpnn_search *search, size_t effort);

/* Builds the engine that 'options' ask for over the points of 'search', and sets the report. */
GPNN_MUST_CHECK enum gpnn_status gpnn_search_tune(struct gpnn_search *search,
                                                  const struct gpnn_search_options *options,
                                                  struct gpnn_error *err);

#endif
