/*
 * dataset: what models are made from: standardised training rows, how they were standardised, and
 * a search for the nearest of them.
 *
 * Datasets come from an index file (dataset/index/index.h) or are a sample of another's rows
 * (dataset/sample.h); callers may also fill in a struct gpnn_dataset themselves, leaving 'source'
 * NULL.  Whoever made a dataset owns what it points to.  The rows of several targets are one
 * dataset, with a view for each target.  A row may lack some of the targets, but not all: the view
 * of a target has only the rows that have it.
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
struct gpnn_ids;       /* dataset/ids.h */
struct gpnn_grid;      /* dataset/grid/grid.h */
struct gpnn_stored;    /* dataset/stored.h */
struct gpnn_transform; /* stats/transform.h */

/* A standardised input: how it was made of the columns of the table. */
struct gpnn_coordinate {
  uint32_t input; /* column of the schema; of a position on the globe, its latitude */
  size_t feature; /* of the schema, as the steps (dataset/steps.h) leave it, with its mean and
                     factor in the scaling */
  uint32_t group; /* of those that share a lengthscale, from 0 */
  bool has_unit;  /* a coordinate of a point on the globe, in km */
  bool is_score;  /* the normal score of the standardised feature (dataset/scores.h) */
};

/* How the training table was read, where that concerns the tables to predict; zeroed: as usual. */
struct gpnn_reading {
  char delimiter; /* as it was given; 0: it was detected */
  bool skips_bad; /* bad rows were to be left out: of a table to predict, they have no prediction */
  uint32_t skip_lines; /* lines before it that were not part of the table */
};

/* What the file of a model holds besides its rows (dataset/index/index.h); zeroed: nothing. */
struct gpnn_packed {
  const void *parameters; /* as a parameters file, with their state if they have one */
  size_t parameters_length;
  const char *report; /* how the model was made, in lines for people; NULL: not told */
  size_t report_length;
};

/* The 'target' of a dataset that is no target's view. */
#define GPNN_DATASET_ALL_ROWS SIZE_MAX

/* Groups from which errors can be told, as rows of a group err together. */
enum { GPNN_DATASET_GROUPS = 30 };

/*
 * The view of one target: the rows, in standardised units except for offsets, with that target in
 * 'y', 'calibration_y', 'noise', 'calibration_noise', 'offset', 'calibration_offset', 'scaling' and
 * 'schema'.  A target with an offset is what is left when that is subtracted.  A target of classes
 * is not standardised: 'y' has their numbers, from 0 to gpnn_dataset_n_classes() - 1, and mean and
 * sd are 0 and 1.
 *
 * The dataset of all rows has the further targets too ('more' and the like), NaN where a row lacks
 * one, and is what an index file is written from.  It is the view of the first target as well, or
 * if that is missing in some rows, no target's view.  In any other view n_more is 0 here, in
 * 'scaling' and in 'schema'.
 *
 * Inputs that are the coordinates of one point, on a circle or on the sphere, form a group and
 * share a lengthscale; every other input is a group of its own.
 */
struct gpnn_dataset {
  size_t n;                                  /* training rows */
  size_t d;                                  /* standardised inputs of a row */
  size_t n_groups;                           /* of inputs */
  const uint32_t *group;                     /* d: the group of each input, from 0 */
  const struct gpnn_coordinate *coordinates; /* d: what they are; NULL: whitening has mixed them */
  const double *x;                           /* n by d, row-major */
  const double *y;             /* n: the target; the number of its class, from 0, where the target
                                  holds classes, which are not standardised */
  size_t n_regressors;         /* terms of the mean besides the inputs, may be 0 */
  const double *regressors;    /* n by n_regressors, row-major, centred and scaled to sd 1;
                                  NULL if there are none */
  const double *noise;         /* n: known noise variance of each row, which adds to that of
                                  the parameters; of all rows followed by n for each further
                                  target, which differ in scale only; NULL: none */
  const double *offset;        /* n: the offset of each row, in units of the table; of all rows
                                  followed by n for each further target; NULL: none.  Any number
                                  where the target is missing */
  const double *exposure;      /* n: what a count is proportional to, > 0, in units of the table and
                                  the same for all targets; NULL: none */
  size_t n_row_groups;         /* groups of training rows that belong together, those of a column
                                  or sets of copies (gpnn_dataset_has_copies()); 0: none */
  const uint32_t *row_group;   /* n: the group of each row, from 0; NULL: none.  A row that is left
                                  out is not predicted from others of its group, and rows held out
                                  for calibration belong to other groups */
  const uint64_t *group_keys;  /* n_row_groups, then n_calibration: by what groups of a column are
                                  known, a hash of their text, and for each calibration row that of
                                  its group; NULL: not known.  Those of all calibration rows, also
                                  where a view has fewer */
  bool rows_follow_targets;    /* targets may decide which rows there are, or are held out, as
                                  rows that equal others in all columns are left out or stay
                                  together; only found out if 'scaling.y_given' */
  const struct gpnn_ids *ids;  /* of all rows of the index that this is of, whichever of them it
                                  has; NULL: none */
  size_t n_more;               /* further targets, may be 0 */
  const double *more;          /* n_more by n: one target after another; NULL: none */
  size_t n_calibration;        /* rows held out for calibration, may be 0 */
  size_t n_calibration_groups; /* groups of a column that these belong to, at most
                                  GPNN_DATASET_GROUPS; 0: not known */
  const double *calibration_x; /* n_calibration by d */
  const double *calibration_y; /* n_calibration */
  const double *calibration_regressors; /* n_calibration by n_regressors, or NULL */
  const double *calibration_noise;      /* as 'noise' for these rows, or NULL */
  const double *calibration_offset;     /* as 'offset' for these rows, or NULL */
  const double *calibration_exposure;   /* as 'exposure' for these rows, or NULL */
  const uint64_t *held_out; /* n_calibration: the number of each among all rows, those of training
                               and these in the order of the table, from 0 and without those that
                               were left out; NULL: the numbers that 'seed' draws */
  const double *calibration_more; /* n_more by n_calibration, or NULL */
  struct gpnn_schema schema;      /* columns of the table */
  struct gpnn_scaling scaling;    /* table units <-> standardised units */
  size_t n_skipped;               /* rows of the table that were left out as bad */
  uint64_t seed;                  /* of all random choices made */
  const char *provenance;         /* "name<TAB>value" lines: options used; for people */
  struct gpnn_reading reading;
  struct gpnn_packed packed;   /* borrowed; about these rows, so whoever changes them clears it */
  struct gpnn_mapping mapping; /* the file that holds the rows, so that pages behind a pass
                                  over them can be evicted; zeroed: they are in memory */
  size_t target;               /* which target this is the view of, from 0, or
                                  GPNN_DATASET_ALL_ROWS */
  bool is_partial;             /* rows that lack the target have been left out, and a
                                  search over the others is built when asked for */
  uint64_t fingerprint;        /* hashes of the columns and their scaling, in the upper 32 bits,
                                  and of rows, targets, regressors, noise and calibration rows,
                                  in the lower; not of the search.  Parameters compare the upper
                                  half, numbers that belong to rows both.  The same data and
                                  options have the same fingerprint; 0: none */
  const struct gpnn_dataset_source *source; /* the other views and the search; NULL: there is one
                                               target, and a search is built when asked for */
  const struct gpnn_transform
      *transform;               /* that has been applied to 'y' and 'calibration_y' and
                                   standardises them; 'scaling' and 'more' stay those of
                                   the target itself (dataset/transformed.h); NULL: none */
  const struct gpnn_grid *grid; /* of a grid (dataset/grid/grid.h): the observed cells, which are
                                   the n rows in their order; 'x' is then NULL, as the coordinates
                                   of a cell are those of its levels.  NULL: the data are rows */
  const struct gpnn_stored *stored; /* of a model file (dataset/stored.h), which stands for n
                                       training rows that it does not have: 'x' and 'y' are NULL, as
                                       is 'calibration_x'.  NULL: the data are rows or a grid */
  const struct gpnn_scores *scores; /* of the inputs of the index; NULL: they have none */
  bool drops_missing;               /* rows that lack inputs are bad, here as in training */
  const unsigned char *lacks; /* n by gpnn_lacks_bytes() (dataset/missing.h): which inputs of the
                                 schema each row lacked, that 'x' has filled in; NULL: none.  In
                                 'calibration_x' such inputs are NaN */
  const double *observed; /* n: the targets, standardised, where 'y' and 'noise' are pseudo-targets
                             and their noise (dataset/transformed.h), which 'calibration_y' and
                             'scaling' are not about; NULL: 'y' has the targets */
  const double *class_share; /* gpnn_dataset_n_classes(): the shares (likelihood/categorical.h) in
                                all rows, of which these are some; NULL: these are all */
};

/* How many targets there are, and the view of target 't' of them, from 0, which is valid as long as
 * the dataset. */
size_t gpnn_dataset_n_targets(const struct gpnn_dataset *dataset);
const struct gpnn_dataset *gpnn_dataset_target(const struct gpnn_dataset *dataset, size_t t);

/* The view of the target called 'name' (without a header, the number of its column in the training
 * table, from 1), or NULL if there is none. */
const struct gpnn_dataset *gpnn_dataset_find_target(const struct gpnn_dataset *dataset,
                                                    const char *name);

/* How many classes the target of a view has, or 0 if it is a number. */
size_t gpnn_dataset_n_classes(const struct gpnn_dataset *view);

/* The name of class 'c' of a view's target, as the training table has it: '*length' bytes, which
 * may be any, and a NUL. */
const char *gpnn_dataset_class(const struct gpnn_dataset *view, size_t c, size_t *length);

/* Counts the training rows of each class of a view in 'counts', gpnn_dataset_n_classes() of them.
 */
void gpnn_dataset_count_classes(const struct gpnn_dataset *view, size_t *counts);

/* A target of the table, standardised as the targets of a view are. */
double gpnn_dataset_standardise(const struct gpnn_dataset *dataset, double y);

/* True if the groups of rows are sets of copies, rows with the same inputs and targets. */
bool gpnn_dataset_has_copies(const struct gpnn_dataset *dataset);

/* How many of 'n' rows 'x' (n by d, standardised, row-major) have an input below the least or above
 * the greatest of the training rows; all where memory has run out.  O((n + dataset->n) d). */
size_t gpnn_dataset_count_outside(const struct gpnn_dataset *dataset, size_t n, const double *x);

/* True if errors can be told from the rows that are held out for calibration: if they are 200 or
 * more, and of GPNN_DATASET_GROUPS or more where rows have groups, as those of a group err
 * together. */
bool gpnn_dataset_holds_out_enough(const struct gpnn_dataset *dataset);

/* How many training rows there are, each set of copies counted once. */
size_t gpnn_dataset_n_distinct(const struct gpnn_dataset *dataset);

/* Marks the first row of each group in 'is_first' (n of them); returns how many they are, or 0 if
 * there is not enough memory.  Rows must have groups; any that are damaged count as first. */
size_t gpnn_dataset_distinct(const struct gpnn_dataset *dataset, bool *is_first);

/* The first standardised input that is the target of a view in other units, or SIZE_MAX.  The first
 * 1000 rows are looked at. */
size_t gpnn_dataset_find_copy_of_target(const struct gpnn_dataset *view);

/* True if the views of targets 'a' and 'b' have the same rows. */
bool gpnn_dataset_share_rows(const struct gpnn_dataset *dataset, size_t a, size_t b);

/* Report and metric of the search that is stored with the rows, without loading it; if none is,
 * those of the search that gpnn_dataset_search() would build. */
struct gpnn_search_report gpnn_dataset_search_report(const struct gpnn_dataset *dataset);
struct gpnn_search_metric gpnn_dataset_search_metric(const struct gpnn_dataset *dataset);

/*
 * Loads the stored search, or builds one if none is stored.  The caller frees '*search' with
 * gpnn_search_free(), before the dataset, whose rows and mapped tree it uses.  GPNN_EMISMATCH: the
 * dataset is a grid or a model file's.  GPNN_EFORMAT: the stored search is damaged; other outcomes
 * as gpnn_search_load() and gpnn_search_build().  After a failure '*search' is not set.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_dataset_search(const struct gpnn_dataset *dataset,
                                                     struct gpnn_search **search,
                                                     struct gpnn_error *err);

/* The name of a group of inputs, for messages: "hour", "lat,lon", "colour=red", "score of hour";
 * after whitening, which mixes inputs, "direction 1" and so on.  Masked.  'at' may be NULL; it
 * makes names one after the other quick.  Returns 'name'. */
const char *gpnn_dataset_group_name(const struct gpnn_dataset *dataset,
                                    struct gpnn_feature_cursor *at, size_t group,
                                    char name[GPNN_MASK_BYTES]);

#ifdef __cplusplus
}
#endif

#endif
