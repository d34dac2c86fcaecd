/*
 * table_private: the state of an open table, and what table.c, which reads the first line, shares
 * with table_read.c and table_npy.c, which read records.
 */
#ifndef GPNN_TABLE_TABLE_PRIVATE_H
#define GPNN_TABLE_TABLE_PRIVATE_H

#include "table/npy.h"
#include "table/table.h"

/* How a table may begin (a byte order mark), and how parameters files do. */
#define GPNN_TABLE_BOM "\xef\xbb\xbf"
#define GPNN_TABLE_PARAMS "# gpnn parameters"

/* The last BLOCK_BYTES of the buffer are never filled, so that a whole block can be examined from
 * any byte that was read. */
enum { FIRST_BUFFER_BYTES = 256 * 1024, BLOCK_BYTES = 64 };

struct gpnn_table {
  struct gpnn_input *input;
  char delimiter;
  bool has_header;
  struct gpnn_values values; /* owned */

  char *buffer;                /* bytes start..end were read from the stream but not yet consumed */
  size_t capacity, start, end; /* the capacity includes the last BLOCK_BYTES */
  bool at_end;                 /* the stream has no more bytes */
  bool bytes_dropped;          /* the buffer no longer begins with the stream's first byte */
  bool ends_in_line;           /* the last byte that was read is no line end */
  size_t n_records;            /* good ones so far */
  size_t line;                 /* number of the line at 'start', from 1 */

  struct gpnn_field *fields;
  size_t fields_capacity;
  char *unquoted; /* the text of fields with doubled quotes */
  size_t unquoted_capacity, unquoted_used;

  struct gpnn_npy npy; /* no columns: the table is text */
  double *numbers;     /* of its last record, if it is not */

  size_t n_columns; /* 0 until the first line is read */
  char **columns;   /* into 'names' */
  char *names;
  char *header;
  size_t header_length;
  char *comments; /* those before the first line, each with a newline, and a NUL; NULL: none */
  size_t comments_capacity, comments_length;
};

/* How many bytes of the buffer the next record takes. */
struct gpnn_extent {
  size_t length;  /* without its line end */
  size_t n_bytes; /* with its line end */
  size_t n_lines; /* lines of the file */
};

/* ---- table_detect.c ---- */

/* The delimiter at which most of the first lines in the buffer have as many fields as the first of
 * all, which is 'first_length' bytes long; where that holds of several, at which more of these
 * fields look like numbers. */
char gpnn_table_detect_delimiter(const struct gpnn_table *table, size_t first_length);

/* True if the first line alone does not tell its delimiter: it contains several candidates, or only
 * blanks. */
bool gpnn_table_is_ambiguous(const char *line, size_t length);

/* A column that the header has no name for. */
enum gpnn_unnamed { GPNN_UNNAMED_NONE, GPNN_UNNAMED_FIRST, GPNN_UNNAMED_LAST };

/* Which column that is, if the lines after the first, which is 'first_length' bytes long and has
 * 'n_names' fields, all have one more: the first, if it holds names or numbers of rows, or the
 * last, if it is always empty. */
enum gpnn_unnamed gpnn_table_find_unnamed(const struct gpnn_table *table, size_t first_length,
                                          size_t n_names);

/* True if the buffer has as many lines as the detection looks at, or all there are. */
bool gpnn_table_sees_enough(const struct gpnn_table *table);

/* ---- table_read.c ---- */

/* Reads more bytes from the stream; those not yet consumed may move to the buffer's start. */
GPNN_MUST_CHECK enum gpnn_status gpnn_table_fill(struct gpnn_table *table, struct gpnn_error *err);

/* The first delimiter in [s, end), or NULL; if the delimiter is still unknown (0), any candidate.
 */
const char *gpnn_table_find_delimiter(const char *s, const char *end, char delimiter);

/* Finds the extent of the next record, or of a blank line.  GPNN_END: there are no more bytes. */
GPNN_MUST_CHECK enum gpnn_status gpnn_table_find_record(struct gpnn_table *table,
                                                        struct gpnn_extent *extent,
                                                        struct gpnn_error *err);

/* Finds the extent of the next line, whatever is in it.  GPNN_END: there are no more bytes. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_table_find_line(struct gpnn_table *table, struct gpnn_extent *extent, struct gpnn_error *err);

/* The same as gpnn_table_find_record() after skipping blank lines and comments. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_table_find_next(struct gpnn_table *table, struct gpnn_extent *extent, struct gpnn_error *err);

/* Splits the next record, of 'length' bytes, into table->fields.  GPNN_EDATA: text after a closing
 * quote. */
GPNN_MUST_CHECK enum gpnn_status gpnn_table_split(struct gpnn_table *table, size_t length,
                                                  size_t *n_fields, struct gpnn_error *err);

/* Opens a .npy file, which begins at table->start with its magic bytes: sets all but the names of
 * the columns.  Fails as gpnn_npy_header_read(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_table_open_npy(struct gpnn_table *table,
                                                     struct gpnn_error *err);

/* gpnn_table_next() for a .npy file. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_table_next_npy(struct gpnn_table *table, struct gpnn_record *record, struct gpnn_error *err);

/* Goes on to the record after this one. */
void gpnn_table_consume(struct gpnn_table *table, const struct gpnn_extent *extent);

#endif
