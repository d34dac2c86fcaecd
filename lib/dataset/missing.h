/*
 * missing: rows that lack some of their inputs.
 *
 * Training rows are used with what they lack filled in, and the dataset remembers what that was.
 * Rows to predict have NaN in its place, in each standardised input that depends on what they
 * lack: models (models/missing.h) predict them from draws of it, which come from training rows that
 * are like them in all that they have.
 *
 * Categories lack nothing unless they are coded: that one is missing is a level of its own
 * (table/schema.h).
 * Threads: nothing here changes a dataset.
 */
#ifndef GPNN_DATASET_MISSING_H
#define GPNN_DATASET_MISSING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"

/* Bytes that say of a row which of its inputs, columns of the schema, it lacks: a bit each. */
size_t gpnn_lacks_bytes(size_t n_inputs);

/* Notes in 'bits', which are zeroed, that input 'i' is missing; and tells whether it is. */
void gpnn_lacks_note(unsigned char *bits, size_t i);
bool gpnn_lacks(const unsigned char *bits, size_t i);

/* True if rows that lack inputs can be predicted: not where training left such rows out, where
 * whitening has mixed the inputs, or where there are no training rows to learn from. */
bool gpnn_dataset_takes_missing(const struct gpnn_dataset *dataset);

/* True if any, or all, of the 'd' inputs of a row are missing. */
bool gpnn_row_is_incomplete(size_t d, const double *x);
bool gpnn_row_is_empty(size_t d, const double *x);

/* What the training rows of an index lacked; categories do not count. */
struct gpnn_missing_count {
  size_t n_rows, n_cells; /* rows that lack inputs, and how many of these in all */
  size_t n_inputs;        /* that are missing in some row */
  double share;           /* of the cells of all inputs */
};

struct gpnn_missing_count gpnn_missing_count(const struct gpnn_dataset *dataset);

/* How many training rows lacked input 'i', a column of the schema. */
size_t gpnn_missing_rows(const struct gpnn_dataset *dataset, size_t i);

/* Copies training row 'row' to 'x' as a row to predict: NaN where it lacked an input. */
void gpnn_missing_restore(const struct gpnn_dataset *dataset, size_t row, double *x);

/* Draws at most for a row. */
enum { GPNN_MISSING_DRAWS_MOST = 1000 };

/*
 * Completes row 'x' (d numbers, some NaN) in 'n_draws' > 0 ways, to 'draws' (n_draws by d): by the
 * values that the training rows nearest to it in the inputs that it has have of the others, a row
 * for each draw (gpnn-methods(7), equation 1.23).  What rows lack themselves counts as it was
 * filled in: where rows lack an input together, models know such rows by that.  Up to 8192 training
 * rows are looked at, evenly spaced, fewer of many inputs; 'but' (a row's own number, or -1) and
 * those of its group are not among them.
 */
void gpnn_missing_draw(const struct gpnn_dataset *dataset, const double *x, int64_t but,
                       size_t n_draws, double *draws);

#endif
