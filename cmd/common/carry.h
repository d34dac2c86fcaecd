/*
 * carry: fields that travel unchanged from the rows of an input table to the rows of an
 * output table, a batch at a time.
 */
#ifndef GPNN_CMD_COMMON_CARRY_H
#define GPNN_CMD_COMMON_CARRY_H

#include <stddef.h>

#include "base/status.h"
#include "table/table.h"

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

#endif
