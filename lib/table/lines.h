/*
 * lines: stretches of a table that are whole records, one a line, which another thread can cut into
 * fields.
 *
 * gpnn_lines_take() copies the next lines of a table where they are plain: there are no quotes, NUL
 * bytes, comments and blank lines among them, and so each is a record.  Where they are not, the
 * records come from gpnn_table_next(), as they may everywhere.  gpnn_lines_open() makes a table of
 * such lines, which gpnn_lines_set() gives it and gpnn_table_next() reads, with the outcomes and
 * messages that the table itself would have had.
 *
 * Threads: the tables of gpnn_lines_open() belong to one thread each, while another reads on in the
 * table that they are of.
 */
#ifndef GPNN_TABLE_LINES_H
#define GPNN_TABLE_LINES_H

#include <stddef.h>

#include "base/status.h"
#include "table/table.h"

/* A zeroed object is empty; its bytes are the caller's to free(). */
struct gpnn_lines {
  size_t n;     /* lines */
  size_t first; /* number of the first of them */
  size_t length;
  char *bytes; /* 'length' of them */
  size_t capacity;
};

/*
 * Takes the lines of the next 'most' records or, if these are longer, of as many as it takes for
 * 'most_bytes' bytes without line ends.  'n' is 0, and nothing is taken, where they are not plain,
 * where so many are not left or one goes on for more bytes than that, and before the first good
 * record.  That the table cannot be read on is left for gpnn_table_next() to say.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_lines_take(struct gpnn_table *table, size_t most,
                                                 size_t most_bytes, struct gpnn_lines *lines,
                                                 struct gpnn_error *err);

/* Makes '*of_lines', which has no records yet, while nobody else uses 'table'; close it with
 * gpnn_lines_close(), before 'table' is closed.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_lines_open(struct gpnn_table **of_lines,
                                                 const struct gpnn_table *table,
                                                 struct gpnn_error *err);

/* Lets gpnn_table_next() go on with the first of these lines, which are borrowed until it has
 * returned GPNN_END. */
void gpnn_lines_set(struct gpnn_table *of_lines, const struct gpnn_lines *lines);

/* NULL is allowed. */
void gpnn_lines_close(struct gpnn_table *of_lines);

#endif
