/*
 * training_private: what training.c and the other sources of training.h share.
 */
#ifndef GPNN_DATASET_TRAINING_TRAINING_PRIVATE_H
#define GPNN_DATASET_TRAINING_TRAINING_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mapping.h"
#include "base/peers.h"
#include "base/status.h"
#include "dataset/training/training.h"
#include "stats/row_source.h"
#include "table/records.h"

/* All rows as read, some of which are held out for calibration. */
struct gpnn_training_rows {
  const struct gpnn_schema *schema;
  const double *read;          /* row-major, those here */
  size_t begin;                /* number of the first of these */
  const double *read_held_out; /* where not all are here, those held out, in ascending order */
  struct gpnn_mapping mapping; /* that it lies in */
  size_t width;                /* numbers in a row as read */
  size_t n_features;           /* numbers that its inputs expand to */
  size_t n_held_out;
  const uint64_t *held_out; /* ascending */
  const struct gpnn_training_target *targets;
  bool all_numbers; /* every input is a number, which is its own only feature */
  bool has_classes; /* some of the targets */
};

/*
 * Draws the rows to hold out, '*n_held_out' of them, in random order to '*drawn' and ascending to
 * '*ascending', which the caller frees even after a failure: about 'wanted' rows, in whole groups
 * as gpnn_training_finish() says.  Sets the groups of the training rows.  The rows must be mapped.
 * GPNN_EDATA: all groups are too large to hold out, or fewer than two would remain.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_training_draw_groups(struct gpnn_training *training,
                                                           uint64_t seed, size_t wanted,
                                                           size_t *n_held_out, uint64_t **drawn,
                                                           uint64_t **ascending,
                                                           struct gpnn_error *err);

/* The number of each calibration row of a dataset among all rows, in their order, in '*drawn',
 * which the caller frees, also after a failure.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_training_drawn(const struct gpnn_dataset *dataset,
                                                     uint64_t **drawn, struct gpnn_error *err);

/* How many of 'n' rows held out, in ascending order, precede number 'row' of those that are not. */
size_t gpnn_training_held_out_before(size_t n, const uint64_t *held_out, size_t row);

/* ---- rows in parts ---- */

struct gpnn_training_parts {
  struct gpnn_parts read, rows; /* rows as read; training rows */
  size_t begin;                 /* number of the row that the rows as read begin with here */
  double *held_out;             /* owned; rows held out as read, in ascending order */
  char *reasons;                /* owned; why rows were left out, for training->skipped */
};

/* Moves rows as read to where blocks of 'block' training rows can be read, once it is known which
 * of them are held out, and fetches those; nothing if all are here.  GPNN_EIO, GPNN_ENOMEM, and
 * failures of the peers. */
GPNN_MUST_CHECK enum gpnn_status gpnn_training_settle(struct gpnn_training *training, size_t block,
                                                      size_t n_held_out, const uint64_t *held_out,
                                                      struct gpnn_error *err);

/* Frees the parts, if there are any. */
void gpnn_training_release_parts(struct gpnn_training *training);

/* ---- missing inputs ---- */

/* Fills in what the rows as read lack, by their mean given what they have under a normal
 * distribution of the inputs (stats/incomplete.h), and notes what it was in 'lacks'.
 * The rows must be mapped.  GPNN_EIO, GPNN_ENOMEM; GPNN_ENUMERIC: numbers are too large for a
 * distribution. */
GPNN_MUST_CHECK enum gpnn_status gpnn_training_fill_in(struct gpnn_training *training,
                                                       struct gpnn_error *err);

/* Tells the standardised dataset what its rows lacked, those held out in the order 'drawn'. */
void gpnn_training_set_lacks(struct gpnn_training *training, const struct gpnn_training_rows *rows,
                             const uint64_t *drawn);

/* ---- codes ---- */

/*
 * Makes codes of the levels in coded inputs of the rows as read (gpnn-methods(7), equations 1.26 to
 * 1.28), and keeps in the schema the levels that training rows have, with their codes.  The rows
 * must be mapped, and 'rows' know which are held out; they are then others, in 'training'.  A code
 * that is missing is NaN.
 *
 * GPNN_EINVAL: the first target holds more than two classes, or has a mean and an sd that are
 * given. GPNN_EDATA: no training row has any level of an input.  GPNN_EIO, GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_training_code(struct gpnn_training *training,
                                                    const struct gpnn_training_rows *rows,
                                                    const struct gpnn_training_options *options,
                                                    struct gpnn_error *err);

/* ---- copies ---- */

/* The hash of a row as read, by which copies are known. */
uint64_t gpnn_training_hash(const struct gpnn_training *training, const double *row);

/* Into whole grains of what size numbers are rounded that count as equal: a ten-millionth of the
 * range that the middle half of 'n' 'values' is in, which are sorted, and so small that 'n_rows'
 * rows in even steps do not share one.  0: they are not rounded. */
enum { GPNN_TRAINING_GRAIN_ROWS = 1000 }; /* as many values will do */
double gpnn_training_grain(size_t n_rows, size_t n, double *values);

/* Finds the sets of copies among the rows, which must be mapped; if not all are here, only how many
 * there are.  GPNN_ENOMEM, and failures of the peers. */
GPNN_MUST_CHECK enum gpnn_status gpnn_training_find_copies(struct gpnn_training *training,
                                                           struct gpnn_error *err);

/* Finds out whether as many rows are equal in inputs that targets decide whether there are copies.
 * The rows must be mapped.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_training_may_have_copies(const struct gpnn_training *training,
                                                               bool *may, struct gpnn_error *err);

/* ---- classes ---- */

/* Finds out of each target that is undecided, and of which one of 'records' has a value, whether it
 * is classes.  GPNN_EINVAL: as gpnn_schema_make_classes().  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_training_decide(struct gpnn_training *training,
                                                      const struct gpnn_table *table,
                                                      struct gpnn_records *records,
                                                      struct gpnn_error *err);

/* Makes room for the counts of target 't' if it is classes, which is then decided.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_training_begin_target(struct gpnn_training *training,
                                                            size_t t, struct gpnn_error *err);

/* Reads the classes of a row whose other numbers are good.  'targets' has anything but NaN for
 * classes that the row has.  GPNN_EDATA: too many classes. */
GPNN_MUST_CHECK enum gpnn_status gpnn_training_read_classes(struct gpnn_training *training,
                                                            const struct gpnn_table *table,
                                                            const struct gpnn_record *record,
                                                            double *targets,
                                                            struct gpnn_error *err);

/* Lets the profile judge those targets of which the rows so far do not show that they are classes,
 * since no class has two rows. */
void gpnn_training_doubt_classes(const struct gpnn_training *training,
                                 struct gpnn_profile *profile);

/* Sorts the classes of all targets and checks that there are several and that some rows share one.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_training_sort_classes(struct gpnn_training *training,
                                                            struct gpnn_error *err);

/* Lets each class keep a training row, as far as possible, by exchanging rows of 'drawn' and of
 * 'ascending', the 'c' rows to hold out; '*are_exchanged' becomes true if any are.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_training_keep_classes(struct gpnn_training *training, const struct gpnn_training_rows *rows,
                           size_t c, uint64_t *drawn, uint64_t *ascending, bool *are_exchanged,
                           struct gpnn_error *err);

/* The rows that are not held out, as rows of features, then the other numbers.  'rows' and 'parts'
 * are borrowed; n is how many there are. */
struct gpnn_row_source gpnn_training_source(struct gpnn_training_rows *rows, size_t n,
                                            const struct gpnn_parts *parts, int threads);

/* Numbers in a row of that source. */
size_t gpnn_training_expanded_width(const struct gpnn_training_rows *rows);

/*
 * Standardises the rows of 'source' by the scaling of 'training', and in memory those held out, in
 * the order 'drawn'; then points the arrays of the dataset at them.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_training_standardise(struct gpnn_training *training,
                                                           const struct gpnn_row_source *source,
                                                           const struct gpnn_training_rows *rows,
                                                           const uint64_t *drawn,
                                                           struct gpnn_error *err);

#endif
