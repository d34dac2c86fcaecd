/*
 * search_engine: what search.c and its engines share; not for other modules.
 *
 * search.c (queries) and search_tune.c (building to a recall) sit on two engines:
 * search_exact.c looks at every row in double; search_faiss.c proposes candidates.
 */
#ifndef GPNN_DATA_SEARCH_ENGINE_H
#define GPNN_DATA_SEARCH_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "data/search.h"

/* The rows and the metric; arrays are borrowed. */
struct gpnn_points {
  size_t n, d;
  const double *x;       /* n by d, row-major */
  const double *inverse; /* d reciprocal lengthscales, or NULL: Euclidean */
};

/* Squared distance of 'row' from 'query': the one definition, so that equal pairs have equal
 * distances whichever engine asks. */
double gpnn_points_distance(const struct gpnn_points *points, size_t row, const double *query);

/* ---- search_exact.c ---- */

struct gpnn_neighbour {
  double distance;
  int64_t row;
};

/* Order by (distance, row), for qsort(). */
int gpnn_neighbour_compare(const void *a, const void *b);

/* gpnn_search_query() by looking at every row.  Cost n d a query. */
GPNN_MUST_CHECK enum gpnn_status gpnn_exact_query(const struct gpnn_points *points,
                                                  size_t n_queries, const double *queries, size_t k,
                                                  int64_t *rows, double *distances, int threads,
                                                  struct gpnn_error *err);

/* ---- search_faiss.c ---- */

/*
 * FAISS chooses another way to compute distances for 20 queries at once, which differs in the
 * last bits: it is never asked for more than this many, so that no answer depends on a batch.
 */
enum { GPNN_FAISS_BLOCK = 16 };

struct gpnn_faiss;

/* Builds flat, inverted lists ('n_lists' of them) or a graph over 'points', whose arrays
 * must outlive it.  The effort is 1 at first. */
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
  float *queries;   /* GPNN_FAISS_BLOCK by d */
  float *distances; /* capacity */
  float *coarse;    /* ivf: GPNN_FAISS_BLOCK by effort */
  int64_t *lists;   /* likewise */
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

/* How far FAISS's single precision may put a row at 'distance' (not squared) from 'query'
 * nearer or farther than it is. */
double gpnn_faiss_blur(const struct gpnn_faiss *engine, const double *query, double distance);

GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_save(const struct gpnn_faiss *engine, FILE *file,
                                                 struct gpnn_error *err);

/* Takes an engine back from 'file'; refuses with GPNN_EFORMAT what does not fit 'points' and
 * 'report'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_load(struct gpnn_faiss **engine, FILE *file,
                                                 const struct gpnn_points *points,
                                                 const struct gpnn_search_report *report,
                                                 struct gpnn_error *err);

void gpnn_faiss_free(struct gpnn_faiss *engine);

/* ---- search.c and search_tune.c ---- */

struct gpnn_search {
  struct gpnn_points points;
  double *lengthscale; /* owned: d, or NULL */
  double *inverse;     /* owned: their reciprocals; points.inverse */
  struct gpnn_search_report report;
  struct gpnn_faiss *engine; /* owned; NULL for exact */
};

/* gpnn_search_query(), which also adds up the rows that inverted lists looked at. */
GPNN_MUST_CHECK enum gpnn_status gpnn_search_query_counted(const struct gpnn_search *search,
                                                           size_t n_queries, const double *queries,
                                                           size_t k, int64_t *rows,
                                                           double *distances, int threads,
                                                           size_t *visited, struct gpnn_error *err);

/* Builds the engine of 'search', whose points are set, as 'options' ask, and fills in the
 * report. */
GPNN_MUST_CHECK enum gpnn_status gpnn_search_tune(struct gpnn_search *search,
                                                  const struct gpnn_search_options *options,
                                                  struct gpnn_error *err);

#endif
