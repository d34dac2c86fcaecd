/*
 * pool: rows that several owners or models know by an id: their ids, and the rows as one of them
 * sees them.
 *
 * Calling sequence: pool_read(), pool_release().  A zeroed object is empty and may be released.
 */
#ifndef GPNN_CMD_COMMON_POOL_H
#define GPNN_CMD_COMMON_POOL_H

#include <stddef.h>

#include "cmd/common/cli.h"
#include "cmd/common/ids.h"
#include "dataset/dataset.h"
#include "table/records.h"

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
