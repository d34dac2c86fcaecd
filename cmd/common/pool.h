/*
 * pool: rows that several owners or models know by an id: their ids, and the rows as one of them
 * sees them.
 *
 * Calling sequence: pool_read(), pool_release(); for ids alone ids_read(), or ids_add() for each
 * row and ids_order(); ids_find() any number of times; ids_release().  Ids are compared as texts.
 * A zeroed object of either is empty and may be released.
 */
#ifndef GPNN_CMD_COMMON_POOL_H
#define GPNN_CMD_COMMON_POOL_H

#include <stddef.h>

#include "cmd/common/cli.h"
#include "dataset/dataset.h"
#include "table/records.h"
#include "table/table.h"

/* ---- ids ------------------------------------------------------------------------------------- */

/* Ids, each once, in the order of their table. */
struct ids {
  size_t n;
  char **text;     /* owned, as are the texts */
  size_t *ordered; /* owned; their numbers in the order of their texts */
  size_t capacity;
};

/* Reads the ids in a column of a table ("-": standard input).  GPNN_EDATA: one is missing or there
 * twice.  GPNN_EINVAL: the table has no such column.  '*ids' is zeroed before, and may hold some
 * after a failure. */
GPNN_MUST_CHECK enum gpnn_status ids_read(const struct cli *cli, const char *path,
                                          const char *column, struct ids *ids,
                                          struct gpnn_error *err);

/* For those who read ids along with other columns: appends one (GPNN_ENOMEM), and at the end orders
 * them; 'name' and 'column' are for messages.  GPNN_EDATA: one is there twice. */
GPNN_MUST_CHECK enum gpnn_status ids_add(struct ids *ids, const struct gpnn_field *field,
                                         struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status ids_order(struct ids *ids, const char *name, const char *column,
                                           struct gpnn_error *err);

/* The number of an id among them, or SIZE_MAX. */
size_t ids_find(const struct ids *ids, const char *text, size_t length);

void ids_release(struct ids *ids);

/* ---- rows ------------------------------------------------------------------------------------ */

struct pool {
  struct ids ids;
  double *x;                   /* owned; n by d: the inputs of 'dataset', standardised */
  struct gpnn_records records; /* of the rows, with all their columns, if they were to be kept */
  size_t n_columns;
  char **columns; /* owned, as are the texts: the names of the table's columns */
  size_t x_capacity;
};

/*
 * Reads the rows of the table 'path', all ('wanted' NULL) or those with the ids of a list, in the
 * order of that list, by the columns and the scaling of 'dataset'.
 *
 * GPNN_EDATA: a wanted row's input is bad, an id is missing or there twice, or a wanted id is not
 * in the table.  GPNN_EINVAL: there is no column 'column'.  GPNN_EMISMATCH: inputs are missing.
 * '*pool' is zeroed before, and may hold some rows after a failure.
 */
GPNN_MUST_CHECK enum gpnn_status pool_read(const struct cli *cli,
                                           const struct gpnn_dataset *dataset, const char *path,
                                           const char *column, const struct ids *wanted,
                                           bool keeps_records, struct pool *pool,
                                           struct gpnn_error *err);

void pool_release(struct pool *pool);

#endif
