/*
 * search_faiss: flat search, inverted lists and graphs by FAISS, which propose candidates.
 *
 *   faiss.c        building, queries and storing
 *   faiss_check.c  what a file says, before FAISS reads it
 *   faiss_c.cc     FAISS's C interface, where the system has none
 */
#ifndef GPNN_SEARCH_SEARCH_FAISS_PRIVATE_H
#define GPNN_SEARCH_SEARCH_FAISS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "search/points_private.h"
#include "search/search.h"

/* ---- faiss.c ---- */

/*
 * Queries per call of FAISS.  From 20 on it computes distances from products of matrices, by the
 * BLAS: many times as fast, but less precise, by an amount that depends on the batch.  Flat search,
 * which corrects for that, gets many; lists and graphs, whose candidates are taken as they come,
 * get so few that no answer depends on the batch.
 */
enum { GPNN_FAISS_BLOCK = 256, GPNN_FAISS_FEW = 16 };

struct gpnn_faiss;

/* Builds flat search, 'n_lists' inverted lists or a graph over 'points', whose arrays must outlive
 * it.  The effort is 1 at first.  Lists use the BLAS (gpnn_blas_claim()). */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_build(struct gpnn_faiss **engine,
                                                  const struct gpnn_search_points *points,
                                                  enum gpnn_search_kind kind, size_t n_lists,
                                                  uint64_t seed, int threads,
                                                  struct gpnn_error *err);

/* Lists visited per query, or efSearch; flat search has no effort. */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_set_effort(struct gpnn_faiss *engine, size_t effort,
                                                       struct gpnn_error *err);

/* Memory of one thread for blocks with up to 'capacity' candidates in all. */
struct gpnn_faiss_scratch {
  float *queries;                 /* GPNN_FAISS_BLOCK by d */
  float *distances;               /* capacity */
  float *coarse;                  /* ivf: GPNN_FAISS_BLOCK by effort */
  int64_t *lists;                 /* likewise */
  double norms[GPNN_FAISS_BLOCK]; /* distances of the queries from the frame's origin */
};

GPNN_MUST_CHECK bool gpnn_faiss_scratch_init(const struct gpnn_faiss *engine, size_t capacity,
                                             struct gpnn_faiss_scratch *scratch);
void gpnn_faiss_scratch_release(struct gpnn_faiss_scratch *scratch);

/*
 * Proposes the 'k' nearest distinct rows, as FAISS computes distances, of each of 'n_queries' <=
 * GPNN_FAISS_BLOCK queries: 'rows' is n_queries by k, -1 where there are no more.  Adds the rows
 * looked at to '*visited' unless it is NULL (ivf only).
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_candidates(const struct gpnn_faiss *engine,
                                                       size_t n_queries, const double *queries,
                                                       size_t k, struct gpnn_faiss_scratch *scratch,
                                                       int64_t *rows, size_t *visited,
                                                       struct gpnn_error *err);

/* Bounds the error of FAISS's distances: of a row at 'distance' (not squared) from a query of
 * 'norm' (scratch->norms), one of 'n_queries' in a call. */
double gpnn_faiss_error(const struct gpnn_faiss *engine, size_t n_queries, double norm,
                        double distance);

GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_save(const struct gpnn_faiss *engine, FILE *file,
                                                 struct gpnn_error *err);

/* Restores an engine from 'stored', whose bytes and file are the same.  GPNN_EFORMAT: they do not
 * fit 'points' and 'report'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_load(struct gpnn_faiss **engine,
                                                 struct gpnn_search_stored stored,
                                                 const struct gpnn_search_points *points,
                                                 const struct gpnn_search_report *report,
                                                 struct gpnn_error *err);

void gpnn_faiss_free(struct gpnn_faiss *engine);

/* ---- faiss_check.c ---- */

/* The greatest efSearch of a graph: beyond it, looking at every row is faster. */
enum { GPNN_FAISS_BEAM_MOST = 1 << 16 };

/*
 * GPNN_EFORMAT unless the 'length' bytes at 'bytes' are just what FAISS writes for the inverted
 * lists or the graph of 'report' over n rows by d: then FAISS stays within its memory, ends, and
 * allocates no more than they justify, whoever wrote them.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_faiss_check(const void *bytes, size_t length, size_t n,
                                                  size_t d, const struct gpnn_search_report *report,
                                                  struct gpnn_error *err);

#endif
