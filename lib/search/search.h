/*
 * search: the k nearest of n rows, behind one interface to several engines.
 *
 * Calling sequence: gpnn_search_build() over n rows, or gpnn_search_load() from an index file;
 * gpnn_search_query() any number of times; gpnn_search_free().
 *
 * Metric (gpnn-methods(7), equation 2.4): squared distance sum_j (z_j - z'_j)^2 / lengthscale_j^2
 * with z = x, or z = A x under a rotation A; Euclidean without lengthscales.
 *
 * Exactness: flat search, and a tree with an effort of 100, find exactly what brute force in double
 * precision finds, ties included: equally near rows come in the order of their numbers.  The others
 * are approximate: they miss rows, but the distances of those they find are exact.  Engines work in
 * single precision and only propose candidates; their distances are computed again in double
 * precision, and more candidates are requested while single precision may have excluded one of the
 * k nearest.  No other part of the library sees an engine's own distances.
 *
 * Duplicates: engines see identical rows once where there are many; all of them are found, in the
 * order of their numbers.
 *
 * NaN: rows and queries are expected to be finite.  Distances that would be NaN are infinite, and
 * which rows are found is then unspecified, but they are in range.
 *
 * Determinism: the answer to a query depends neither on the other queries of the call nor on the
 * number of threads; equal rows, options and seed build equal engines.
 *
 * Threads: what a search finds does not change once it is built; several threads may query it at a
 * time.
 *
 * Memory: besides the rows, which are borrowed, all engines take about n d floats, and graphs 64
 * links per row more, twice these while they are built; a tree takes twice that while it is built,
 * and n d bytes more once several queries had to look at many of its rows.  A query takes memory
 * for its candidates, a small multiple of k, per thread.
 */
#ifndef GPNN_SEARCH_SEARCH_H
#define GPNN_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mapping.h"
#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_search;

enum gpnn_search_kind {
  GPNN_SEARCH_AUTO = 0,  /* as an option only: chosen by the library, at present a tree */
  GPNN_SEARCH_FLAT = 1,  /* FAISS looks at every row */
  GPNN_SEARCH_IVF = 2,   /* FAISS: inverted lists, those of the nearest centroids */
  GPNN_SEARCH_HNSW = 3,  /* FAISS: a navigable graph; built by one thread */
  GPNN_SEARCH_EXACT = 4, /* brute force in double precision: the reference for tests */
  GPNN_SEARCH_TREE = 5,  /* a k-d tree of boxes */
};

struct gpnn_search_options {
  enum gpnn_search_kind kind;
  double recall;             /* fraction of the true neighbours to be found, in (0, 1] */
  size_t neighbours;         /* k for which the recall is to be reached */
  const double *lengthscale; /* d of them, or NULL: Euclidean.  Copied. */
  uint64_t seed;
  int threads;            /* of the build */
  bool brief;             /* few queries are expected: build quickly rather than search quickly */
  const double *rotation; /* d by d, row-major, or NULL: none.  Copied. */
  struct gpnn_mapping mapping; /* that the rows lie in, if any: what was read is evicted */
  size_t effort; /* of a search over nearly the same rows, near which that of this one is sought
                    first; 0: none */
  bool to_save;  /* rather than to ask: of flat, which files have nothing of, nothing is built, and
                    queries go row by row */
};

#define GPNN_SEARCH_OPTIONS_INIT                                              \
  {                                                                           \
    GPNN_SEARCH_AUTO, 0.99, 400, NULL, 1, 1, false, NULL, {NULL, 0}, 0, false \
  }

/* What was built, and its measurements on a sample of queries. */
struct gpnn_search_report {
  enum gpnn_search_kind kind;
  size_t n_lists;    /* ivf: inverted lists */
  size_t effort;     /* ivf: lists visited per query; hnsw: efSearch; tree: boxes farther than this
                        percentage of the k-th nearest's distance are skipped, 100: exact */
  double asked;      /* the recall asked for */
  double recall;     /* the mean recall measured; 1 if the search is exact */
  size_t n_queries;  /* queries it was measured on; 0: not measured */
  size_t neighbours; /* k it was measured for */
  double visited;    /* ivf, tree: mean fraction of the rows looked at; 1 otherwise and if not
                        measured */
};

/* "auto", "tree", "flat", "ivf", "hnsw" or "exact". */
const char *gpnn_search_name(enum gpnn_search_kind kind);

/* The version of FAISS, "1.7.3". */
const char *gpnn_search_engine_version(void);

/*
 * Builds a search over 'x', n rows by d columns, row-major, which is borrowed and must outlive the
 * search.
 *
 * A tree is exact if that takes little more work than the recall asked for, or little beside a
 * prediction from that many neighbours, if there are few rows, or if most rows must be looked at
 * anyway.  Work is counted in rows looked at, not in seconds, so that the choice is reproducible.
 *
 * GPNN_EINVAL: n or d is 0, or the recall is out of range.  GPNN_ENUMERIC: a lengthscale is not a
 * positive number.  GPNN_EDATA: more rows or inputs than the engine can number.  GPNN_ENOMEM.
 * GPNN_EEXTERNAL: FAISS failed, with its message.  '*search' is then untouched.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_search_build(struct gpnn_search **search, size_t n, size_t d,
                                                   const double *x,
                                                   const struct gpnn_search_options *options,
                                                   struct gpnn_error *err);

/*
 * Finds the 'k' nearest rows of each of 'n_queries' rows of 'queries' (n_queries by d): 'rows' and
 * 'distances' (squared, in the search's metric) are n_queries by k, the nearest first, ties by row
 * number.  A query that is itself one of the rows finds that row too.  If k > n, the last k - n of
 * 'rows' are -1 and of 'distances' infinity.  If n_queries or k is 0, nothing is written.
 *
 * GPNN_ENOMEM, or GPNN_EEXTERNAL from FAISS: 'rows' and 'distances' may then hold anything.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_search_query(const struct gpnn_search *search,
                                                   size_t n_queries, const double *queries,
                                                   size_t k, int64_t *rows, double *distances,
                                                   int threads, struct gpnn_error *err);

/* The same, but rows at squared distances above 'within' (n_queries) may be missing, as if there
 * were fewer rows: that takes less time where few are as near. */
GPNN_MUST_CHECK enum gpnn_status gpnn_search_query_within(const struct gpnn_search *search,
                                                          size_t n_queries, const double *queries,
                                                          const double *within, size_t k,
                                                          int64_t *rows, double *distances,
                                                          int threads, struct gpnn_error *err);

/* Writes the numbers of the queries to 'order' (n_queries), those that find rows near each other
 * one after another, as far as the engine knows: what is looked up for one is then in cache for the
 * next. GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_search_order(const struct gpnn_search *search,
                                                   size_t n_queries, const double *queries,
                                                   int threads, size_t *order,
                                                   struct gpnn_error *err);

/* The metric; see the top of this file. */
struct gpnn_search_metric {
  const double *lengthscale; /* d, or NULL: all 1 */
  const double *rotation;    /* d by d, row-major, or NULL: none */
};

/* The report of the build, and the metric; both live as long as the search. */
const struct gpnn_search_report *gpnn_search_describe(const struct gpnn_search *search);
struct gpnn_search_metric gpnn_search_metric(const struct gpnn_search *search);

/* True if two metrics over d columns order rows alike: their lengthscales are proportional and
 * their rotations equal, both to 1e-9. */
bool gpnn_search_same_metric(size_t d, struct gpnn_search_metric a, struct gpnn_search_metric b);

/* The recall to ask for when the rows of a search of 'report' are to be searched by another metric:
 * 1 if it looked at every row, else the one asked for then. */
double gpnn_search_recall_again(const struct gpnn_search_report *report);

/* Writes the engine's structure to 'file' at its position; nothing for flat and exact.  GPNN_EIO.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_search_save(const struct gpnn_search *search, FILE *file,
                                                  struct gpnn_error *err);

/* Which rows are identical, in '*length' bytes to be stored beside the structure; NULL, and 0
 * bytes, if too few are to matter. */
const uint32_t *gpnn_search_duplicates(const struct gpnn_search *search, size_t *length);

/* What gpnn_search_save() wrote; for flat and exact, all zero except the duplicates. */
struct gpnn_search_stored {
  const void *bytes; /* 64-byte aligned, used in place, and borrowed as long as the search lives */
  size_t length;     /* of the bytes */
  const uint32_t *duplicates; /* from gpnn_search_duplicates(), borrowed as long as the search
                                 lives; NULL: none */
  size_t duplicates_length;   /* in bytes */
};

/*
 * Restores the search of 'report' and 'metric' (both copied) over the n by d rows 'x' (borrowed)
 * from 'stored'.  GPNN_EFORMAT: it does not fit n, d, the metric or the report, or is missing.
 * Whatever the bytes are, loading and searching stay within bounds, and rows found are in range.
 * Otherwise as gpnn_search_build().
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_search_load(struct gpnn_search **search, struct gpnn_search_stored stored, size_t n, size_t d,
                 const double *x, const struct gpnn_search_report *report,
                 struct gpnn_search_metric metric, struct gpnn_error *err);

/* NULL does nothing. */
void gpnn_search_free(struct gpnn_search *search);

#ifdef __cplusplus
}
#endif

#endif
