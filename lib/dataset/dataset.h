/*
 * dataset: what models are made from: standardised training rows, how they were standardised, and
 * a search for the nearest of them.
 *
 * An index file holds one (dataset/index.h); some rows of one are another (dataset/sample.h); and a
 * struct gpnn_dataset that a caller fills in itself, with a NULL 'source', is one too.  The rows of
 * several targets are one dataset, seen from each target in turn.
 *
 * Threads: a dataset is read-only and may be shared freely.
 */
#ifndef GPNN_DATASET_DATASET_H
#define GPNN_DATASET_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mapping.h"
#include "base/status.h"
#include "dataset/scaling.h"
#include "search/search.h"
#include "table/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_dataset_source;

/*
 * The rows, in standardised units throughout, in the view of one of their targets.  The view of the
 * first target has the further ones too, and is what an index file is written from; in the view of
 * a further target, that target takes the place of the first in 'y', 'calibration_y', 'noise',
 * 'calibration_noise', 'scaling' and 'schema', and there are no others (n_more is 0 in all three).
 *
 * Inputs that are coordinates of one column or pair (a point on a circle, a place on the sphere)
 * form a group and take one lengthscale; every other input is a group of its own.
 */
struct gpnn_dataset {
  size_t n;                             /* training rows */
  size_t d;                             /* standardised inputs a row */
  size_t n_groups;                      /* of inputs */
  const uint32_t *group;                /* d: of which group each input is */
  const double *x;                      /* n by d, row-major */
  const double *y;                      /* n: the target */
  size_t n_regressors;                  /* terms of the mean that are no inputs, may be 0 */
  const double *regressors;             /* n by n_regressors, row-major, centred and scaled to sd 1;
                                           NULL if there are none */
  const double *noise;                  /* n: known noise variance of each row, in addition to the
                                           parameters'; then as many for each further target, which
                                           differ in scale alone; NULL: none */
  size_t n_more;                        /* further targets, may be 0 */
  const double *more;                   /* n_more by n: one target after another; NULL: none */
  size_t n_calibration;                 /* rows held out for calibration, may be 0 */
  const double *calibration_x;          /* n_calibration by d */
  const double *calibration_y;          /* n_calibration */
  const double *calibration_regressors; /* n_calibration by n_regressors, or NULL */
  const double *calibration_noise;      /* as 'noise' for these rows, or NULL */
  const double *calibration_more;       /* n_more by n_calibration, or NULL */
  struct gpnn_schema schema;            /* columns of the table */
  struct gpnn_scaling scaling;          /* table units <-> standardised units */
  size_t n_skipped;                     /* rows of the table that were left out as bad */
  uint64_t seed;                        /* of every random choice made */
  const char *provenance;               /* "name<TAB>value" lines: options used; for people */
  struct gpnn_mapping mapping;          /* what is mapped of a file: who goes through many rows may
                                       let those there go; zeroed: nothing */
  size_t target;                        /* which target this is the view of, from 0 */
  uint64_t fingerprint;                 /* of columns in the upper half; in the lower, of rows,
                                           targets, regressors, noise, calibration rows and scaling,
                                           whatever the search.  Equal data and options have equal
                                           fingerprints; 0: none */
  const struct gpnn_dataset_source *source; /* its other views and its search; NULL: it has one
                                               target, and a search is built when asked for */
};

/* How many targets there are, and the view of target 't' of them (from 0). */
size_t gpnn_dataset_n_targets(const struct gpnn_dataset *dataset);
const struct gpnn_dataset *gpnn_dataset_target(const struct gpnn_dataset *dataset, size_t t);

/* The view of the target called 'name' (without a header: its number in the training table), or
 * NULL if there is none of that name. */
const struct gpnn_dataset *gpnn_dataset_find_target(const struct gpnn_dataset *dataset,
                                                    const char *name);

/* The search that comes with the rows, without loading it: its report and its metric.  Where none
 * does, the report says what one would be built for. */
struct gpnn_search_report gpnn_dataset_search_report(const struct gpnn_dataset *dataset);
struct gpnn_search_metric gpnn_dataset_search_metric(const struct gpnn_dataset *dataset);

/*
 * Loads that search into '*search', or builds one where none comes with the rows.  The caller frees
 * it before the dataset goes: a tree may be used where it is mapped.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_dataset_search(const struct gpnn_dataset *dataset,
                                                     struct gpnn_search **search,
                                                     struct gpnn_error *err);

/* Whether feature 'feature' of the schema is among the inputs: what does not vary is not. */
bool gpnn_dataset_keeps(const struct gpnn_dataset *dataset, size_t feature);

/* Name of group 'group' of inputs, masked: "hour", "lat,lon", "colour=red"; under whiten, where
 * inputs are mixed, "direction 1" and so on. */
const char *gpnn_dataset_group_name(const struct gpnn_dataset *dataset, size_t group,
                                    char name[GPNN_MASK_BYTES]);

#ifdef __cplusplus
}
#endif

#endif
