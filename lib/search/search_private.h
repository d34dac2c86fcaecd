/*
 * search_engine: what search.c and its engines share; not for other modules.
 *
 * search.c (queries) and search_tune.c (building to a recall) sit on three engines:
 * search_places.c finds rows at one place, search_rank.c ranks what the engines propose.
 * search_exact.c looks at every row in double; search_tree.c (building), search_tree_query.c and
 * search_tree_scan.c propose every row that may be near; search_faiss.c proposes candidates, and
 * has search_faiss_check.c look at what it takes back from a file.
 */
#ifndef GPNN_SEARCH_SEARCH_PRIVATE_H
#define GPNN_SEARCH_SEARCH_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "linalg/blas_threads.h"
#include "search/search.h"

/* The rows and the metric; arrays are borrowed.  Distances are Euclidean after 'map', or after
 * multiplication by 'inverse', if there is either. */
struct gpnn_points {
  size_t n, d;
  const double *x;       /* n by d, row-major */
  const double *inverse; /* d reciprocal lengthscales, or NULL */
  const double *map;     /* d by d, row-major: the rotation divided by the lengthscales, or NULL */
  struct gpnn_mapping mapping; /* that x may be in */
  size_t n_places;             /* rows that are alike are at one place, which engines see once */
  const uint32_t *first;       /* of each place, ascending; NULL: every row is a place of its own */
  const uint32_t *next;        /* n: the next row at the same place, or 0 */
};

/* The first row at a place.  Whatever was stored, it is there. */
static inline size_t gpnn_points_first(const struct gpnn_points *points, size_t place)
{
  if (points->first == NULL) return place;
  return points->first[place] < points->n ? points->first[place] : 0;
}

/* The next row at the place of 'row', or 0.  Whatever was stored, it comes after 'row'. */
static inline size_t gpnn_points_next(const struct gpnn_points *points, size_t row)
{
  if (points->next == NULL) return 0;
  size_t next = points->next[row];
  return next > row && next < points->n ? next : 0;
}

/* ---- search_places.c ---- */

/*
 * Finds the places of the rows, if any has many rows: else each row is a place of its own.
 * '*owned', which the caller frees, has next, then first.  False without memory.
 */
GPNN_MUST_CHECK bool gpnn_points_meet(struct gpnn_points *points, uint32_t **owned);

/* Releases the pages of the rows from the first at place 'begin' to that before place 'end'. */
void gpnn_points_let_go(const struct gpnn_points *points, size_t begin, size_t end);

/* Takes places from such an array, which is borrowed. */
void gpnn_points_share(struct gpnn_points *points, size_t n_places, const uint32_t *places);

/* ---- search_exact.c ---- */

enum { GPNN_POINTS_LANES = 8 };

/*
 * Squared distances of 'n' rows from 'query': the one definition, so that equal pairs have equal
 * distances whichever engine asks; one that is no number is infinite.  'room' is GPNN_POINTS_LANES
 * by d.
 */
void gpnn_points_distances(const struct gpnn_points *points, const double *query, size_t n,
                           const int64_t *rows, double *room, double *distances);

/* ---- search_frame.c ---- */

/*
 * Single precision is given coordinates in a frame of its own: z = f (x - o), or F (x - o) under a
 * rotation, where o is a point amid the rows and f, or F, is the metric times the power of two that
 * brings z to about unit size: columns far from zero and tiny or huge units then lose nothing to
 * rounding.
 */
struct gpnn_frame {
  size_t d;
  double *origin, *factor; /* owned: d; d or NULL */
  double *map;             /* owned: d by d, column-major, or NULL */
  double scale;            /* the power of two */
};

/* No coordinate is farther out. */
#define GPNN_FRAME_EDGE 1e15

/* Both are false without memory, and 'frame' is then empty. */
GPNN_MUST_CHECK bool gpnn_frame_alloc(struct gpnn_frame *frame, size_t d, bool has_map);
GPNN_MUST_CHECK bool gpnn_frame_init(struct gpnn_frame *frame, const struct gpnn_points *points);
void gpnn_frame_release(struct gpnn_frame *frame);

/* Writes the coordinates of a row; returns its distance from the origin. */
double gpnn_frame_apply(const struct gpnn_frame *frame, const double *row, float *framed);

/* How far single precision may put a row at 'distance' (not squared, in the frame) from a query of
 * 'norm' nearer or farther than it is. */
double gpnn_frame_blur(const struct gpnn_frame *frame, double norm, double distance);

/* ---- search_order.c ---- */

struct gpnn_neighbour {
  double distance;
  int64_t row;
};

/* Sorts by (distance, row); 'spare' is as large. */
void gpnn_neighbours_sort(size_t n, struct gpnn_neighbour *neighbours,
                          struct gpnn_neighbour *spare);

/* Moves the k first in that order, k <= n, to the front, in any order. */
void gpnn_neighbours_select(size_t n, struct gpnn_neighbour *neighbours, size_t k);

/* The value that sorting would put at 'k' < n; 'values' are reordered. */
float gpnn_select_float(size_t n, float *values, size_t k);

/* ---- search_rank.c ---- */

/* Candidates of a query. */
struct gpnn_ranking {
  size_t capacity;
  struct gpnn_neighbour *neighbours, *spare; /* capacity */
  double *distances;                         /* capacity */
  double *lanes;                             /* for gpnn_points_distances() */
  size_t k;
  struct gpnn_neighbour *crowd; /* 6 k, or NULL: the nearest rows where places have several */
};

/* Makes room for 'n' candidates; false without memory. */
GPNN_MUST_CHECK bool gpnn_ranking_reserve(struct gpnn_ranking *ranking, size_t n, size_t d);
void gpnn_ranking_release(struct gpnn_ranking *ranking);

/* Sorts the candidates 'places', which are overwritten, by their distances in double and the first
 * rows there; returns how many there are, or at least as many as the k nearest if there are many
 * more. */
size_t gpnn_rank(const struct gpnn_points *points, const double *query, size_t n_places,
                 int64_t *places, size_t k, struct gpnn_ranking *ranking);

/* Writes the k nearest rows at the 'found' places that were ranked. */
GPNN_MUST_CHECK enum gpnn_status gpnn_rank_take(const struct gpnn_points *points,
                                                struct gpnn_ranking *ranking, size_t found,
                                                size_t k, int64_t *rows, double *distances,
                                                struct gpnn_error *err);

/* ---- search_exact.c, looking at all ---- */

/* gpnn_search_query() by looking at every row.  Cost n d a query. */
GPNN_MUST_CHECK enum gpnn_status gpnn_exact_query(const struct gpnn_points *points,
                                                  size_t n_queries, const double *queries, size_t k,
                                                  int64_t *rows, double *distances, int threads,
                                                  struct gpnn_error *err);

/* ---- search_tree.c ---- */

/*
 * A k-d tree of boxes: rows, one for each place, are halved where they are most spread out
 * (gpnn-methods(7), section 10), until GPNN_TREE_LEAF are left.  It is stored without any pointer:
 * leaves are full but for the last, 16 of them are a group, 16 groups are a group of the level
 * above, and so on; a group knows the boxes of its 16 children.  Everything is laid out in blocks
 * of 16, one coordinate after another, so that 16 rows or boxes are looked at at once.
 */
enum { GPNN_TREE_LANES = 16, GPNN_TREE_LEAF = 32, GPNN_TREE_LEVELS = 8 };

struct gpnn_tree {
  size_t n, d, n_levels; /* n places */
  struct gpnn_frame frame;
  unsigned char *owned;                 /* the bytes, unless they are mapped */
  const unsigned char *bytes;           /* as in gpnn-index(5), */
  size_t length;                        /* so many */
  const float *rows;                    /* blocks of d by 16 */
  const uint32_t *ids;                  /* of each, its place, padded to a multiple of 16 */
  const float *boxes[GPNN_TREE_LEVELS]; /* of each level, the leaves' first: groups of d by 2
                                           (least, greatest) by 16 */
  size_t n_children[GPNN_TREE_LEVELS];  /* leaves, then groups */
  double share; /* boxes farther than this share of the k-th nearest's distance are passed over; 1:
                   exact */
};

/* Builds a tree over 'points'; the same for any number of threads.  GPNN_EDATA: too many rows. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tree_build(struct gpnn_tree **tree,
                                                 const struct gpnn_points *points, int threads,
                                                 struct gpnn_error *err);

GPNN_MUST_CHECK enum gpnn_status gpnn_tree_save(const struct gpnn_tree *tree, FILE *file,
                                                struct gpnn_error *err);

/*
 * Takes a tree back from 'bytes' (borrowed, 64-byte aligned), which are used in place; refuses with
 * GPNN_EFORMAT what does not fit 'points'.  Whatever the bytes are, queries stay inside them.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_tree_map(struct gpnn_tree **tree, const void *bytes,
                                               size_t length, const struct gpnn_points *points,
                                               struct gpnn_error *err);

void gpnn_tree_free(struct gpnn_tree *tree);

/* ---- search_tree_scan.c ---- */

/* Queries that look at a block of rows together: it is fetched once for all. */
enum { GPNN_TREE_ABREAST = 8 };

/*
 * The loops over 16 rows or boxes.  scan: appends those rows of a block that are no farther than
 * 'bound' (squared) from 'query', as distances and as positions from 'first' on, and returns how
 * many; both arrays have room for 16.  measure: squared distances of 16 rows from each of
 * GPNN_TREE_ABREAST queries; false, without them, where every row is farther from each query than
 * its bound.  boxes: squared distances of 16 boxes.
 */
struct gpnn_tree_loops {
  size_t (*scan)(size_t d, const float *block, const float *query, float bound, uint32_t first,
                 float *distances, uint32_t *positions);
  bool (*measure)(size_t d, const float *block, const float *const *queries, const float *bounds,
                  float *distances);
  void (*boxes)(size_t d, const float *block, const float *query, float distances[16]);
};

extern const struct gpnn_tree_loops gpnn_tree_loops_portable;

/* The fastest of this machine. */
const struct gpnn_tree_loops *gpnn_tree_loops(void);

/* ---- search_tree_query.c ---- */

/* Queries answered at a time by a thread; they go together once the first has looked at one in
 * GPNN_TREE_PATIENCE rows. */
enum { GPNN_TREE_QUERIES = 32, GPNN_TREE_PATIENCE = 6 };

/* What a query needs. */
struct gpnn_tree_scratch {
  float *query;             /* d */
  float *distances, *spare; /* capacity */
  uint32_t *positions;      /* capacity */
  int64_t *rows;            /* capacity: the candidates */
  size_t capacity, found;   /* candidates found */
};

struct gpnn_tree_quest;

/* What one thread needs. */
struct gpnn_tree_room {
  struct gpnn_tree_scratch scratch[GPNN_TREE_QUERIES]; /* set up when first needed */
  struct gpnn_tree_quest *quests;                      /* owned: GPNN_TREE_QUERIES */
};

GPNN_MUST_CHECK bool gpnn_tree_room_init(const struct gpnn_tree *tree, size_t k,
                                         struct gpnn_tree_room *room);
void gpnn_tree_room_release(struct gpnn_tree_room *room);

/* The leaf that 'query' lies in or near: queries in their order find rows still in cache. */
size_t gpnn_tree_leaf(const struct gpnn_tree *tree, const double *query,
                      struct gpnn_tree_room *room);

/*
 * Writes to room->scratch[q].rows all rows that may be among the 'k' nearest, 0 < k <= n, of query
 * q of 'n_queries' <= GPNN_TREE_QUERIES, and their number to 'found' there: at least k of them, and
 * under a share of 1 all that single precision cannot rule out.  Adds the rows looked at to
 * '*visited'.  GPNN_ENOMEM.
 *
 * Each query walks through the tree by itself, unless the tree is whole and the first has looked at
 * much of it already: then they go through all leaves together.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_tree_candidates(const struct gpnn_tree *tree,
                                                      size_t n_queries,
                                                      const double *const *queries, size_t k,
                                                      struct gpnn_tree_room *room, size_t *visited,
                                                      struct gpnn_error *err);

/* ---- search_faiss.c ---- */

/*
 * Queries that FAISS is asked at a time.  For 20 or more it computes distances from products of
 * matrices, by the BLAS: many times as fast, but less precise, and by how much depends on the
 * batch. Flat search, which makes up for that, is asked many; lists and graphs, whose answers are
 * taken as they come, are asked so few that no answer depends on a batch.
 */
enum { GPNN_FAISS_BLOCK = 256, GPNN_FAISS_FEW = 16 };

struct gpnn_faiss;

/* Builds flat, inverted lists ('n_lists' of them) or a graph over 'points', whose arrays
 * must outlive it.  The effort is 1 at first.  Lists take the BLAS (gpnn_blas_claim()). */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_build(struct gpnn_faiss **engine,
                                                  const struct gpnn_points *points,
                                                  enum gpnn_search_kind kind, size_t n_lists,
                                                  uint64_t seed, int threads,
                                                  struct gpnn_error *err);

/* Lists visited a query, or efSearch; flat has none. */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_set_effort(struct gpnn_faiss *engine, size_t effort,
                                                       struct gpnn_error *err);

/* Buffers of one thread for blocks of up to 'capacity' candidates in all. */
struct gpnn_faiss_scratch {
  float *queries;                 /* GPNN_FAISS_BLOCK by d */
  float *distances;               /* capacity */
  float *coarse;                  /* ivf: GPNN_FAISS_BLOCK by effort */
  int64_t *lists;                 /* likewise */
  double norms[GPNN_FAISS_BLOCK]; /* of the queries, in the frame */
};

GPNN_MUST_CHECK bool gpnn_faiss_scratch_init(const struct gpnn_faiss *engine, size_t capacity,
                                             struct gpnn_faiss_scratch *scratch);
void gpnn_faiss_scratch_release(struct gpnn_faiss_scratch *scratch);

/*
 * Proposes the 'k' nearest rows by FAISS's reckoning of each of 'n_queries' <=
 * GPNN_FAISS_BLOCK queries: 'rows' is n_queries by k, -1 where there is none.  '*visited',
 * if not NULL, is added the number of rows looked at (ivf only).
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_candidates(const struct gpnn_faiss *engine,
                                                       size_t n_queries, const double *queries,
                                                       size_t k, struct gpnn_faiss_scratch *scratch,
                                                       int64_t *rows, size_t *visited,
                                                       struct gpnn_error *err);

/* How far FAISS's single precision may put a row at 'distance' (not squared) from a query whose
 * norm (scratch->norms) is 'norm', one of 'n_queries' asked together, nearer or farther than it is.
 */
double gpnn_faiss_blur(const struct gpnn_faiss *engine, size_t n_queries, double norm,
                       double distance);

GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_save(const struct gpnn_faiss *engine, FILE *file,
                                                 struct gpnn_error *err);

/* Takes an engine back from 'stored', the same bytes in the file as in memory; refuses with
 * GPNN_EFORMAT what does not fit 'points' and 'report'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_load(struct gpnn_faiss **engine,
                                                 struct gpnn_search_stored stored,
                                                 const struct gpnn_points *points,
                                                 const struct gpnn_search_report *report,
                                                 struct gpnn_error *err);

void gpnn_faiss_free(struct gpnn_faiss *engine);

/* ---- search_faiss_check.c ---- */

/* The widest beam (efSearch) of a graph: a wider one is slower than looking at every row. */
enum { GPNN_FAISS_BEAM_MOST = 1 << 16 };

/*
 * Refuses with GPNN_EFORMAT the 'length' bytes at 'bytes' unless they are just what FAISS writes
 * for the inverted lists or the graph of 'report' over n rows by d: whoever made them, FAISS
 * neither leaves its memory, nor runs on for ever, nor asks for more memory than they vouch for.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_check(const void *bytes, size_t length, size_t n,
                                                  size_t d, const struct gpnn_search_report *report,
                                                  struct gpnn_error *err);

/* ---- search.c and search_tune.c ---- */

/* With neither engine nor tree, every row is looked at in double. */
struct gpnn_search {
  struct gpnn_points points;
  double *lengthscale; /* owned: d, or NULL */
  double *rotation;    /* owned: d by d, or NULL */
  double *inverse;     /* owned: reciprocals of the lengthscales, or NULL; points.inverse */
  double *map;         /* owned: d by d, or NULL; points.map */
  struct gpnn_search_report report;
  uint32_t *places;          /* owned, or NULL: those of the points */
  struct gpnn_faiss *engine; /* owned: flat, inverted lists or a graph */
  struct gpnn_tree *tree;    /* owned */
};

/* gpnn_search_query(), which also adds up the rows that lists or a tree looked at. */
GPNN_MUST_CHECK enum gpnn_status gpnn_search_query_counted(const struct gpnn_search *search,
                                                           size_t n_queries, const double *queries,
                                                           size_t k, int64_t *rows,
                                                           double *distances, int threads,
                                                           size_t *visited, struct gpnn_error *err);

/* Sets lists visited a query, efSearch, or the per cent of a tree's 'share'; flat and exact have
 * none. */
GPNN_MUST_CHECK enum gpnn_status gpnn_search_set_effort(struct gpnn_search *search, size_t effort,
                                                        struct gpnn_error *err);

/* Builds the engine of 'search', whose points are set, as 'options' ask, and fills in the
 * report. */
GPNN_MUST_CHECK enum gpnn_status gpnn_search_tune(struct gpnn_search *search,
                                                  const struct gpnn_search_options *options,
                                                  struct gpnn_error *err);

#endif
