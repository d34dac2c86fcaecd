/*
 * search: the m nearest rows of a set, the narrow waist over every engine.
 *
 * Calling sequence: gpnn_search_build() over n rows (or gpnn_search_load() from an index
 * file), gpnn_search_query() any number of times, gpnn_search_free().
 *
 * Precision: an engine may work in single precision and may be approximate.  It proposes a
 * few more candidates than asked; their distances are then computed again here, in double,
 * from the rows themselves, and the nearest are kept in the order of (distance, row).  While
 * the last one kept is no nearer than the farthest candidate, within the error of single
 * precision, more candidates are asked for; a tree proposes all that single precision cannot rule
 * out.  So flat search and a whole tree find what brute force in double finds, ties included.
 * Nothing else of the library uses the engine's distances.
 *
 * Metric (gpnn-methods(7), equation 2.4): squared distance sum_j (z_j - z'_j)^2 / lengthscale_j^2
 * with z = x, or z = A x under a rotation A; without lengthscales the Euclidean one.
 *
 * Places: rows that are alike, where there are many, are seen by the engines once; of a place that
 * is found, as many rows as are asked for come in their order.
 *
 * Determinism: a query's answer depends on neither the other queries of its batch nor the
 * number of threads, and equal rows, options and seed build equal engines.
 */
#ifndef GPNN_SEARCH_SEARCH_H
#define GPNN_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mapping.h"
#include "base/status.h"

struct gpnn_search;

enum gpnn_search_kind {
  GPNN_SEARCH_AUTO = 0,  /* only as an option: measured, then one of the others */
  GPNN_SEARCH_FLAT = 1,  /* every row is looked at */
  GPNN_SEARCH_IVF = 2,   /* inverted lists: the lists of the nearest centroids */
  GPNN_SEARCH_HNSW = 3,  /* a graph; built by one thread */
  GPNN_SEARCH_EXACT = 4, /* brute force in double: the reference, used by tests */
  GPNN_SEARCH_TREE = 5,  /* a tree of boxes: those that may hold near rows */
};

struct gpnn_search_options {
  enum gpnn_search_kind kind;
  double recall;             /* share of the true nearest to be found, in (0, 1] */
  size_t neighbours;         /* for how many neighbours the recall is asked */
  const double *lengthscale; /* d of them, or NULL: Euclidean.  Copied. */
  uint64_t seed;
  int threads;
  bool brief;             /* it will answer few queries: be quick to build rather than to search */
  const double *rotation; /* d by d, row-major, or NULL: none.  Copied. */
  struct gpnn_mapping mapping; /* that the rows may be in: parts gone through are let go */
};

#define GPNN_SEARCH_OPTIONS_INIT                          \
  {                                                       \
    GPNN_SEARCH_AUTO, 0.99, 400, NULL, 1, 1, false, NULL, \
    {                                                     \
      NULL, 0                                             \
    }                                                     \
  }

/* What was built, and what it was measured to do on a sample of queries. */
struct gpnn_search_report {
  enum gpnn_search_kind kind;
  size_t n_lists;    /* ivf: inverted lists */
  size_t effort;     /* ivf: lists visited a query; hnsw: efSearch; tree: boxes farther than so
                        many per cent of the k-th nearest's distance are passed over */
  double asked;      /* the recall asked for */
  double recall;     /* measured mean share found; 1 for flat, exact and an effort of 100 */
  size_t n_queries;  /* queries it was measured on; 0: none, it is exact */
  size_t neighbours; /* for how many neighbours */
  double visited;    /* ivf, tree: mean share of the rows looked at; else, and unmeasured, 1 */
};

/* "flat" -> GPNN_SEARCH_FLAT and so on (auto, tree, flat, ivf, hnsw); false if it is none. */
bool gpnn_search_by_name(const char *name, enum gpnn_search_kind *kind);
const char *gpnn_search_name(enum gpnn_search_kind kind);

/* Version of FAISS, the engine behind flat, ivf and hnsw: "1.7.3", or "unknown". */
const char *gpnn_search_engine_version(void);

/*
 * Builds a search over 'x', n > 0 rows by d columns, row-major, which is borrowed and must
 * outlive the search.  AUTO builds a tree, the fastest in nearly every case.  A tree is exact where
 * that takes little more work than the recall asked for, or little beside a prediction from that
 * many neighbours, where rows are few, or where most rows have to be looked at, which queries then
 * do together; work is counted in rows looked at, not seconds, so that
 * the choice is reproducible.  GPNN_EEXTERNAL carries the engine's own message.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_search_build(struct gpnn_search **search, size_t n, size_t d,
                                                   const double *x,
                                                   const struct gpnn_search_options *options,
                                                   struct gpnn_error *err);

/*
 * Finds the 'k' nearest rows of each of 'n_queries' rows of 'queries' (n_queries by d):
 * 'rows' and 'distances' (squared, in the search's metric) have n_queries by k entries, each
 * query's nearest first, ties by row number.  If k > n the rest of 'rows' is -1 and of
 * 'distances' infinity.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_search_query(const struct gpnn_search *search,
                                                   size_t n_queries, const double *queries,
                                                   size_t k, int64_t *rows, double *distances,
                                                   int threads, struct gpnn_error *err);

/* What distances are measured by. */
struct gpnn_search_metric {
  const double *lengthscale; /* d, or NULL: they are all 1 */
  const double *rotation;    /* d by d, row-major, or NULL: none */
};

/* The report of the build, and the metric. */
const struct gpnn_search_report *gpnn_search_describe(const struct gpnn_search *search);
struct gpnn_search_metric gpnn_search_metric(const struct gpnn_search *search);

/* True if two metrics over d columns order points alike: ratios of their lengthscales are all equal
 * to 1e-9, and so are their rotations. */
bool gpnn_search_same_metric(size_t d, struct gpnn_search_metric a, struct gpnn_search_metric b);

/* The recall to ask for where the rows of a search of 'report' are searched again, by another
 * metric: all of it if it looked at every row, else what it was asked for. */
double gpnn_search_recall_again(const struct gpnn_search_report *report);

/* Writes the engine's own structure to 'file' at its position (flat: nothing). */
GPNN_MUST_CHECK enum gpnn_status gpnn_search_save(const struct gpnn_search *search, FILE *file,
                                                  struct gpnn_error *err);

/* Which rows are at one place, in '*length' bytes to be kept beside the structure; NULL: hardly any
 * are. */
const uint32_t *gpnn_search_places(const struct gpnn_search *search, size_t *length);

/* Where a structure is that gpnn_search_save() wrote; all but the places zero for flat and exact.
 */
struct gpnn_search_stored {
  const void *bytes; /* its bytes, borrowed for the call; those of a tree are 64-byte aligned,
                        borrowed as long as the search lives, and used in place */
  size_t length;     /* of them */
  FILE *file;        /* ivf, hnsw: a stream positioned at the same bytes in a file, borrowed for the
                        call; large parts are then mapped, not read */
  const uint32_t *places; /* what gpnn_search_places() gave, borrowed as long as the search lives */
  size_t places_length;   /* in bytes */
};

/*
 * Takes the search of 'report' and 'metric' (copied) over the rows 'x' (borrowed) back from
 * 'stored'.  What is read is checked against n, d and 'report': GPNN_EFORMAT.  Whatever the bytes
 * are, loading and searching stay within bounds; rows found are rows that are there.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_search_load(struct gpnn_search **search, struct gpnn_search_stored stored, size_t n, size_t d,
                 const double *x, const struct gpnn_search_report *report,
                 struct gpnn_search_metric metric, struct gpnn_error *err);

void gpnn_search_free(struct gpnn_search *search);

#endif
