/*
 * ids: texts by which several tables know the same rows.
 *
 * Calling sequence: ids_read(), or ids_add() for each row and ids_order(); ids_find() any number of
 * times; ids_release().  Ids are compared as texts.  A zeroed object is empty and may be released.
 */
#ifndef GPNN_CMD_COMMON_IDS_H
#define GPNN_CMD_COMMON_IDS_H

#include <stddef.h>

#include "cmd/common/cli.h"
#include "table/table.h"

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

#endif
