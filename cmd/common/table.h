/*
 * table: what tools say of the tables that they read, whatever they read them for.
 */
#ifndef GPNN_CMD_COMMON_TABLE_H
#define GPNN_CMD_COMMON_TABLE_H

#include "cmd/common/cli.h"
#include "table/table.h"

/* True if what is at 'path' can be read more than once: it is a regular file. */
bool table_can_reread(const char *path);

/* Warns if a table (NULL: none) that was read to its end may have gone on once. */
void table_warn_if_torn(const struct cli *cli, const struct gpnn_table *table);

/* Warns of 'n' rows of 'table' left out because they have no 'what'. */
void table_warn_left_out(const struct cli *cli, const struct gpnn_table *table, size_t n,
                         const char *what);

#endif
