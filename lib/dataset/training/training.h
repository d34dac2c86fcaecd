/*
 * training: from the rows of a table to a dataset.
 *
 * Calling sequence: gpnn_training_begin() with an open table and the roles of its columns;
 * gpnn_training_read(); gpnn_training_finish(), which draws the calibration rows, learns the
 * scaling from the others and standardises all; then 'dataset' is ready for gpnn_index_write().
 * gpnn_training_release() at the end, whatever happened.
 *
 * Memory: a few blocks of rows, however many there are.  Rows are stored in unlinked files
 * (base/spool.h), as they were read and then standardised, 8 bytes a number; the dataset is mapped
 * from the latter.  Calibration rows are in memory, as are ids.
 */
#ifndef GPNN_DATASET_TRAINING_TRAINING_H
#define GPNN_DATASET_TRAINING_TRAINING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/spool.h"
#include "base/status.h"
#include "dataset/dataset.h"
#include "dataset/ids.h"
#include "dataset/scaling.h"
#include "table/groups.h"
#include "table/schema.h"
#include "table/skipped.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_profile; /* profile/profile.h */
struct gpnn_peers;   /* base/peers.h */
struct gpnn_parts;

/* Whether the long tails of inputs are compressed (dataset/steps.h). */
enum gpnn_training_tails {
  GPNN_TAILS_AUTO = 0, /* if a target holds classes */
  GPNN_TAILS_COMPRESS = 1,
  GPNN_TAILS_KEEP = 2,
};

/* Rows that are held out for calibration by default, unless they are more than a tenth. */
enum { GPNN_TRAINING_HELD_OUT = 1000 };

struct gpnn_training_options {
  enum gpnn_scaling_method standardise;
  double whiten_eps;
  bool limits; /* of inputs (dataset/steps.h) */
  enum gpnn_training_tails tails;
  bool default_calibration; /* 1000 rows, but at most a tenth of all; none if all targets hold
                               classes, which gain more from a row than from a temperature; else: */
  size_t calibration_rows;  /* this many; if rows have groups, see gpnn_training_finish() */
  uint64_t seed;
  int threads;    /* results do not depend on them */
  size_t n_given; /* 0, or how many targets there are: */
  const struct gpnn_moments
      *given; /* borrowed: mean and sd of each, instead of those of its rows */
};

#define GPNN_TRAINING_OPTIONS_INIT                                                 \
  {                                                                                \
    .standardise = GPNN_SCALING_SCALE, .whiten_eps = 1e-5, .limits = true,         \
    .tails = GPNN_TAILS_AUTO, .default_calibration = true, .seed = 1, .threads = 1 \
  }

/* More different values than a target of numbers has that may be meant to be classes. */
enum { GPNN_TRAINING_MANY = 11 };

/* What is learnt of a target besides its scaling. */
struct gpnn_training_target {
  size_t n_different;                   /* values of a number, up to GPNN_TRAINING_MANY */
  double different[GPNN_TRAINING_MANY]; /* in the order in which they were first seen */
  bool is_decided;                      /* rows have told whether it is a number or a class, or: */
  bool is_asked;                        /* the user has made it classes */
  /* Of classes; NULL: it is a number.  By the order in which classes were first seen until they are
   * sorted, and then by their number. */
  size_t *n_rows; /* owned; how many rows each has, those held out too */
  double *number; /* owned; their numbers, by the order in which they were first seen; NULL: they
                     are not sorted yet */
};

/* An object of GPNN_TRAINING_INIT is empty and may be released. */
struct gpnn_training {
  struct gpnn_columns_map map;
  size_t n;             /* rows read so far */
  size_t n_others;      /* further targets, regressors, noise variance, offsets, exposure,
                           number of the group */
  size_t width;         /* numbers in a row as read: inputs, target, others */
  size_t *n_lacking;    /* owned; for each target, how many of these rows lack it */
  size_t n_incomplete;  /* of these rows, lack an input that is no category */
  unsigned char *lacks; /* owned; what they lack (dataset/missing.h): of all rows, at the end of the
                           training rows; NULL: nothing */
  struct gpnn_training_target *targets; /* owned; 1 + n_more */
  size_t n_undecided;                   /* of them, may still turn out to be classes */
  bool has_classes;                     /* a target is classes */
  bool has_bad_classes;         /* there are too many of them, or all rows are of one, or each
                                   of another: why reading or finishing failed */
  uint64_t *drawn;              /* owned; the numbers of the rows held out, in their order */
  struct gpnn_spool read, rows; /* rows as read; standardised, one column array after another */
  double *held_out;             /* owned; the calibration rows, likewise */
  struct gpnn_groups groups;    /* of all rows read */
  uint64_t *group_keys;         /* owned; dataset.group_keys */
  struct gpnn_ids_list ids;     /* likewise; dataset.ids points to it, if there are any */
  uint32_t *row_group;          /* owned; those of the training rows, 4 bytes a row; NULL: none */
  uint32_t *set;                /* owned; the set of copies that each row read belongs to, from 0;
                                   NULL: rows have groups, or hardly any copies */
  size_t n_sets, n_copied;      /* sets, and rows that have a copy; 0 without 'set' */
  struct gpnn_groups seen;      /* rows read so far, if only one of each set is kept */
  bool is_unique;               /* only one is */
  size_t n_dropped;             /* the others, which have been left out */
  struct gpnn_skipped skipped;  /* rows left out */
  struct gpnn_dataset dataset;  /* schema and n_skipped grow; the rest is set at the end */
  struct gpnn_coordinate *coordinates;         /* dataset.coordinates */
  struct gpnn_scores scores;                   /* dataset.scores points to it, if there are any */
  struct gpnn_training_parts *parts;           /* owned; which rows are here; NULL: all of them */
  struct gpnn_outlier_columns outlier_columns; /* features, then targets, counted on, that have
                                                  cells far outside the rest */
  const char *volatile *watch; /* borrowed, or NULL; as in base/atomic_file.h, for its files */
};

#define GPNN_TRAINING_INIT                           \
  {                                                  \
    .read = GPNN_SPOOL_INIT, .rows = GPNN_SPOOL_INIT \
  }

/* Chooses the columns' roles in 'table' (gpnn_schema_choose()).  'training' must be empty.  Its
 * files will be in the directory of 'beside', the index to be written. */
GPNN_MUST_CHECK enum gpnn_status gpnn_training_begin(struct gpnn_training *training,
                                                     const struct gpnn_table *table,
                                                     const struct gpnn_roles *roles,
                                                     const char *beside, struct gpnn_error *err);

/* How a table is read. */
struct gpnn_training_reading {
  bool skip_bad; /* leave bad rows out and count them instead of failing */
  bool unique;   /* leave out rows that equal an earlier one in all columns that are used, and count
                    them */
  int threads;   /* that read rows; above 1, the table is read and rows are stored meanwhile */
  /* Called now and then with the rows so far, and the share of the table that they are or NaN
   * (gpnn_input_share()); or NULL. */
  void (*progress)(size_t n_rows, double share);
  struct gpnn_profile *profile; /* zeroed, of those rows that come after a bad one; or NULL */
};

/*
 * Reads all records of 'table', once.  A row may lack some of several targets, and their offsets,
 * but one without any target is bad.  A target whose values are mostly texts, among the first rows
 * that have any, is classes: neither numbers, dates nor numbers with a unit, and not texts such as
 * n/a; a target of too many classes is GPNN_EDATA even if bad rows are left out, and GPNN_EINVAL is
 * one whose rows have offsets or noise variances (gpnn_schema_make_classes()).  Results do not
 * depend on threads.  GPNN_EDATA: the first bad row, unless bad rows are left out.  GPNN_EIO: the
 * disk is full.  Otherwise as gpnn_table_next().
 *
 * If there is a 'profile' and bad rows are not left out, the first of them does not end the
 * reading: the profile gets this row, all that follow, and some good ones that come before; 'n'
 * counts the rows before these, all good, and the outcome is that of the first bad row.  The
 * profile stays zeroed if there is no bad row, or if the table cannot be read to its end.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_training_read(struct gpnn_training *training,
                                                    struct gpnn_table *table,
                                                    const struct gpnn_training_reading *how,
                                                    struct gpnn_error *err);

/*
 * For processes each of which has read a part of a table, between gpnn_training_read(), whose
 * outcome there was 'status', and gpnn_training_finish(): joins what they know, so that the latter
 * finishes the rows of all together.  The dataset is then that of all rows, whose arrays have those
 * here; its calibration rows are everywhere.
 *
 * '*why' is NULL then.  Otherwise it says in static text, everywhere, why one of them has to read
 * the whole table: a part could not be read, or rows have what takes all rows in one place, that
 * is several targets, classes, levels of inputs, missing inputs, groups, ids, copies, or too many
 * kinds of bad rows.  Failures are those of the peers (base/peers.h).
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_training_join(struct gpnn_training *training,
                                                    struct gpnn_peers *peers,
                                                    enum gpnn_status status, const char **why,
                                                    struct gpnn_error *err);

/* Which training rows are where; NULL: all are here.  Borrowed. */
const struct gpnn_parts *gpnn_training_parts(const struct gpnn_training *training);

/*
 * Completes 'dataset' except for its groups of inputs.
 *
 * Rows that are equal in all columns that are used, inputs up to 1e-7 of the range of the middle
 * half of the rows, are copies of each other, if they are at least a hundredth of all, and rows
 * equal in inputs have the same targets so much more often than others that no chance explains it.
 * Sets of copies are then groups of rows ('row_group' of the dataset), unless a column has groups.
 *
 * Levels of coded inputs become numbers, the shrunken means of the first target over the training
 * rows of each; in a training row over those of other tenths than its own, where rows of a group
 * are in the same tenth (gpnn-methods(7), equations 1.26 to 1.28).  Levels that no training row has
 * are missing, or have code 0 where rows that lack inputs are bad.
 *
 * Rows are held out for calibration at random.  If they have groups, whole groups are held out, in
 * random order, until there are enough rows; groups that would make them more than twice as many
 * are passed over.  If this leaves too few rows, the smallest of these is held out too, unless
 * fewer than half of all rows would remain.  Without groups, each class keeps a training row as far
 * as possible: where all its rows would be held out, one of them changes places with the next row
 * that can be spared.
 *
 * Classes are sorted.  GPNN_EDATA: all rows are of one class, or each of another.
 *
 * GPNN_EDATA: fewer than two rows or groups remain for training, all groups are too large to hold
 * out, no training row has a level of a coded input, or the scaling cannot be learnt from the rows
 * (gpnn_scaling_learn_rows()); messages begin with 'table_name' and the column.  GPNN_EINVAL:
 * whitening with periodic inputs or positions on the globe, mean and sd are given of another number
 * of targets, or of classes, or inputs are coded where they are given or the first target holds
 * more than two classes.  GPNN_EIO: the disk is full.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_training_finish(struct gpnn_training *training,
                                                      const struct gpnn_training_options *options,
                                                      const char *table_name,
                                                      struct gpnn_error *err);

/*
 * Which rows of a dataset are held out for calibration: their numbers among those that were read
 * and not left out, from 0 and ascending, in '*held_out', which the caller frees.  The others are
 * its training rows, in their order.  GPNN_ENOMEM: '*held_out' is NULL.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_training_held_out(const struct gpnn_dataset *dataset,
                                                        uint64_t **held_out,
                                                        struct gpnn_error *err);

void gpnn_training_release(struct gpnn_training *training);

#ifdef __cplusplus
}
#endif

#endif
