/*
 * grown: the dataset of an index with the rows of a table added to it, some of its own forgotten,
 * or both, without the table that it was made from.
 *
 * Columns, levels, scaling, scores and seed stay those of the index, so that parameters keep their
 * meaning: its first half of the fingerprint does not change.  What rows lack is filled in by its
 * mean given what they have, as in the training rows.
 *
 * Levels that training has not seen: groups with effects get them; so do coded inputs, where a
 * row's code is made of the rows before it that have the level, and later rows get that of all; and
 * a category with an input for each of its levels has no room for more, so that such a row is coded
 * as it would be where it is predicted.
 *
 * Calling sequence: gpnn_grown_begin(); gpnn_grown_forget_oldest() or gpnn_grown_forget_below();
 * gpnn_grown_read() with a table; gpnn_grown_finish(); then 'dataset' is ready for
 * gpnn_index_make().  gpnn_grown_release() at the end, whatever happened.
 *
 * Calibration rows stay a random sample of all rows: as many as keep their share, until they are a
 * thousand; those that the rows added have of it are drawn from these, and replace some of the
 * index, which become training rows.  No row that was one of training is held out, as parameters
 * may have been estimated from it. So the training rows are, in the order in which they came, all
 * that are not held out.
 *
 * Groups of rows and sets of copies stay together, whether the index had some of their rows or all
 * are added: they are held out or not as a whole, so that calibration rows are about as many.
 *
 * Memory: a few numbers for each row added, bytes for each that the index has where rows are
 * forgotten, ids, and the calibration rows; 48 bytes for each row where there are groups or copies.
 * Rows are in unlinked files (base/spool.h).
 */
#ifndef GPNN_DATASET_TRAINING_GROWN_H
#define GPNN_DATASET_TRAINING_GROWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/spool.h"
#include "base/status.h"
#include "dataset/copies.h"
#include "dataset/dataset.h"
#include "dataset/ids.h"
#include "table/skipped.h"

/* How the rows added differ from those of the index, in standard deviations of these. */
struct gpnn_grown_shift {
  size_t coordinate; /* the standardised input whose mean has moved most; SIZE_MAX: none varies */
  double input;      /* by how much */
  double target;     /* how much the mean of the first target has; 0 of classes */
};

/* An object of GPNN_GROWN_INIT is empty and may be released. */
struct gpnn_grown {
  const struct gpnn_dataset *old; /* borrowed */
  const char *beside;             /* borrowed: the index to be written */
  const char *volatile *watch;    /* borrowed, or NULL; as in base/atomic_file.h */
  size_t n_added, n_forgotten;
  size_t n_unseen;                  /* rows added that have a level which training has not seen,
                                       of a category with an input for each */
  size_t n_new_levels;              /* those that coded inputs and groups with effects have got */
  struct gpnn_skipped skipped;      /* rows of the table that were left out */
  struct gpnn_copies_report copies; /* of the rows added, and whether they were there already */
  struct gpnn_grown_shift drift;
  bool *is_forgotten;            /* owned; for each training row of the index, then for each of
                                    calibration */
  uint64_t *drawn;               /* owned; the number of each calibration row of the index */
  struct gpnn_spool added, rows; /* the rows added, each by itself; the training rows, by arrays */
  bool has_dropped;              /* parameters that the index was packed with */
  bool are_complete;             /* no row added lacks an input */
  double *held_out;              /* owned; the calibration rows */
  uint64_t *numbers;             /* owned; theirs: dataset.held_out */
  unsigned char *lacks;          /* owned; dataset.lacks */
  uint32_t *row_group;           /* owned; dataset.row_group */
  uint64_t *keys;                /* owned; for each row added, by what its group is known */
  size_t n_keys;                 /* that there is room for */
  uint64_t *group_keys;          /* owned; dataset.group_keys */
  struct gpnn_ids_list new_ids, ids; /* of the rows added; dataset.ids points to the latter, if the
                                        index has any */
  struct gpnn_column *inputs;  /* owned, as are their levels that 'old' lacks: dataset.schema's */
  struct gpnn_dataset dataset; /* the result; it borrows from 'old' */
};

#define GPNN_GROWN_INIT                               \
  {                                                   \
    .added = GPNN_SPOOL_INIT, .rows = GPNN_SPOOL_INIT \
  }

/* GPNN_EMISMATCH: the dataset of an index cannot grow, as it is a grid or a model file's, or its
 * rows have copies, and codes by which these differ, or groups that it does not name; the message
 * says so. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grown_check(const struct gpnn_dataset *old,
                                                  struct gpnn_error *err);

/*
 * Begins with the dataset of an open index, of all rows, which must outlive the object; files will
 * be in the directory of 'beside', the index to be written.  Parameters that were packed with it
 * and have numbers for each row are not those of the result, which has none then.  Outcomes as of
 * gpnn_grown_check(); GPNN_EFORMAT: the ids of its rows are damaged; and GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grown_begin(struct gpnn_grown *grown,
                                                  const struct gpnn_dataset *old,
                                                  const char *beside, const char *volatile *watch,
                                                  struct gpnn_error *err);

/* Forgets the 'n' rows that came first. */
void gpnn_grown_forget_oldest(struct gpnn_grown *grown, uint64_t n);

/*
 * Forgets the rows whose input 'name' is below 'value', a number or a date as in the table; those
 * that lack it stay.  GPNN_EINVAL: there is no such input, it is no number or was standardised
 * together with others, or 'value' cannot be read; the message says which.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grown_forget_below(struct gpnn_grown *grown, const char *name,
                                                         size_t length, const char *value,
                                                         struct gpnn_error *err);

/*
 * Reads all records of 'table', by the columns of the index, which it must have, targets included.
 * With 'skip_bad' bad rows are left out and counted.
 *
 * GPNN_EMISMATCH: columns are missing.  GPNN_EDATA: the first bad row, such as one of a class that
 * the index does not have; or there is no row; or more than half of the rows are training rows
 * already, as those of a table are that was added before.  GPNN_EIO: the disk is full.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grown_read(struct gpnn_grown *grown, struct gpnn_table *table,
                                                 bool skip_bad, struct gpnn_error *err);

/* Completes 'dataset'.  GPNN_EDATA: fewer than two training rows would be left, or none that has
 * some target.  GPNN_EIO: the disk is full.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grown_finish(struct gpnn_grown *grown,
                                                   struct gpnn_error *err);

void gpnn_grown_release(struct gpnn_grown *grown);

#endif
