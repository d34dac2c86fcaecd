/*
 * table_private: an open table, and what reading its first line and reading its records share.
 */
#ifndef GPNN_TABLE_TABLE_PRIVATE_H
#define GPNN_TABLE_TABLE_PRIVATE_H

#include "table/table.h"

/* What a table may begin with, and what our parameters begin with. */
#define GPNN_TABLE_BOM "\xef\xbb\xbf"
#define GPNN_TABLE_PARAMS "# gpnn parameters"

/* The buffer ends with BLOCK_BYTES that are never filled, so that a block can be looked at
 * wherever a byte that was read stands. */
enum { FIRST_BUFFER_BYTES = 256 * 1024, BLOCK_BYTES = 64 };

struct gpnn_table {
  struct gpnn_input *input;
  char delimiter;
  bool has_header;

  char *buffer;                /* bytes start..end are read and not yet taken */
  size_t capacity, start, end; /* capacity: with the last BLOCK_BYTES */
  bool at_end;                 /* the stream has no more */
  size_t line;                 /* number of the line at 'start' */

  struct gpnn_field *fields;
  size_t fields_capacity;
  char *unquoted; /* fields that had doubled quotes */
  size_t unquoted_capacity, unquoted_used;

  size_t n_columns; /* 0 until the first line is read */
  char **columns;   /* into 'names' */
  char *names;
  char *header;
  size_t header_length;
};

/* The bytes of one record in the buffer, and where the next one starts. */
struct gpnn_extent {
  size_t length;  /* without the line end */
  size_t taken;   /* with it */
  size_t n_lines; /* physical lines */
};

/* Reads more bytes behind those not yet taken, which may move to the buffer's front. */
GPNN_MUST_CHECK enum gpnn_status gpnn_table_fill(struct gpnn_table *table, struct gpnn_error *err);

/* The first delimiter in [s, end), or NULL; while it is not yet known (0), any candidate. */
const char *gpnn_table_find_delimiter(const char *s, const char *end, char delimiter);

/* Finds the extent of the record at the start; GPNN_END if no byte is left. */
GPNN_MUST_CHECK enum gpnn_status gpnn_table_find_record(struct gpnn_table *table,
                                                        struct gpnn_extent *extent,
                                                        struct gpnn_error *err);

/* The same, past blank lines. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_table_find_next(struct gpnn_table *table, struct gpnn_extent *extent, struct gpnn_error *err);

/* Splits the record of 'length' bytes at the start into table->fields. */
GPNN_MUST_CHECK enum gpnn_status gpnn_table_split(struct gpnn_table *table, size_t length,
                                                  size_t *n_fields, struct gpnn_error *err);

/* Goes on to what follows the record at the start. */
void gpnn_table_take(struct gpnn_table *table, const struct gpnn_extent *extent);

#endif
