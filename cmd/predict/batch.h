/*
 * batch: rows on their way through gpnn-predict, which reads, predicts and writes many at a time.
 */
#ifndef GPNN_CMD_PREDICT_BATCH_H
#define GPNN_CMD_PREDICT_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "likelihood/distribution.h"
#include "table/table.h"

/* ---- texts, in the order in which they were added, to be looked up by number ----------------- */

/* A zeroed object has none and may be released. */
struct texts {
  size_t n;
  char *bytes; /* owned */
  size_t *end; /* owned; n: where each ends in 'bytes' */
  size_t bytes_capacity, end_capacity;
};

/* Removes all. */
void texts_clear(struct texts *texts);

/* Adds a copy of 'length' bytes, which may be none.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status texts_add(struct texts *texts, const char *text, size_t length,
                                           struct gpnn_error *err);

/* Text number 'i', from 0, of '*length' bytes; valid until one is added. */
const char *texts_get(const struct texts *texts, size_t i, size_t *length);

void texts_release(struct texts *texts);

/* ---- fields that travel unchanged from the rows of a table to those of the output ------------ */

/* Which columns.  A zeroed object carries none and may be released. */
struct carry {
  size_t n_columns;
  size_t *columns;                  /* owned: 0-based columns of the input */
  const struct gpnn_table *numeric; /* NULL, or the input, whose fields have to be numbers because
                                       the output is a .npy file */
};

/* Their fields in the rows of a batch.  A zeroed object has no rows and may be released. */
struct carried {
  size_t n_rows;
  char *text; /* owned: the fields of all rows, one after another */
  size_t text_length, text_capacity;
  size_t *lengths; /* owned: n_rows by n_columns */
  size_t lengths_capacity;
};

/* Removes all rows. */
void carried_clear(struct carried *carried);

/* Keeps the fields of one row; a record without fields (malformed) counts as all 'na'.
 * GPNN_EFORMAT: a field is not a number but has to be. */
GPNN_MUST_CHECK enum gpnn_status carry_add(const struct carry *carry, struct carried *carried,
                                           const struct gpnn_record *record, const char *na,
                                           struct gpnn_error *err);

/* The next row to write; zeroed: the first. */
struct carry_cursor {
  size_t row, text;
};

/* Writes the fields of the next row, each followed by 'delimiter'. */
GPNN_MUST_CHECK enum gpnn_status carry_write(const struct carry *carry,
                                             const struct carried *carried, struct carry_cursor *at,
                                             struct gpnn_output *output, char delimiter,
                                             struct gpnn_error *err);

void carry_release(struct carry *carry);
void carried_release(struct carried *carried);

/* ---- batches --------------------------------------------------------------------------------- */

/* What the rows of a batch consist of. */
struct batch_shape {
  size_t capacity; /* rows; SIZE_MAX: all that there are */
  size_t d, n_regressors, n_targets;
  size_t n_selves;  /* training rows that a row is: one, or one for each target */
  size_t n_offsets; /* of a row: one for each target of the index, or none */
  size_t n_classes; /* of all targets that hold classes, together */
  bool has_scores;  /* predictions are scored */
};

/* Only good rows, which could be read, are predicted.  A zeroed object may be released. */
struct batch {
  struct batch_shape shape;
  size_t room; /* rows that the arrays, all of them owned, have room for */
  size_t n_rows, n_good;
  double share;                   /* of the rows there are, up to its last; NaN: not known */
  size_t first, last;             /* lines of the table, or numbers of training rows */
  bool *is_good;                  /* all rows */
  double *x, *regressors, *noise; /* by d, by n_regressors, by 1: the good rows */
  double *exposure;               /* the good rows: what counts are proportional to */
  double *offset;                 /* by n_offsets: the good rows, in the units of the table */
  int64_t *self;                  /* by n_selves: the training row that each good row is, or -1 */
  uint64_t *number;               /* all rows: that of a training row in its table, from 1, or
                                     if that is not known, among the training rows */
  struct carried carried;         /* all rows */
  double *truth;                  /* by n_targets: of all rows, in the units of the table, or the
                                     number of the class, GPNN_CLASS_UNSEEN if training has not
                                     seen it; NaN: missing */
  struct texts truths; /* of all rows of a table, those of each target that holds classes;
                          empty for what is missing */
  double *classes;     /* for each target that holds classes, n_good by as many */
  struct gpnn_distribution *distributions; /* targets by n_good, like all that follows;
                                             undefined for classes */
  double *mean, *sd;
  double *observed; /* has_scores: the truths in the units asked for */
  struct gpnn_distribution_score *scores;
  double *draws; /* and by draws; NULL: none */
};

/* What there was not enough memory for if a batch has all rows. */
#define BATCH_ALL_ROWS "for all rows of the table, which --samples and --group hold at once"

/* Empties the batch. */
void batch_begin(struct batch *batch, const struct batch_shape *shape);

/* Makes room for another row: the first time for all of its capacity, as a short table needs only
 * one batch, or for half as many again if that is all rows there are. */
GPNN_MUST_CHECK enum gpnn_status batch_make_room(struct batch *batch, struct gpnn_error *err);

void batch_release(struct batch *batch);

#endif
