/*
 * table: CSV and TSV records in, fields out (the format of gpnn-table(5)).
 *
 * Calling sequence: gpnn_table_open() reads the first line (the names, or the first record
 * where there is no header); gpnn_table_next() gives record after record until GPNN_END;
 * gpnn_table_close().  The module owns delimiters, quoting (RFC 4180), line ends (LF, CRLF,
 * or none on the last line), the UTF-8 byte order mark, gzip (through stream.h), and lines
 * of any length.  Blank lines are passed over.  Each record must have as many fields as the
 * first line.  It knows nothing of numbers or of what the columns are for.
 *
 * Cost: one pass over the bytes; fields point into the read buffer, which grows to the
 * longest record, and only fields with doubled quotes are copied.
 * Threads: one table belongs to one thread at a time.
 */
#ifndef GPNN_TABLE_TABLE_H
#define GPNN_TABLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "table/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_table;

struct gpnn_table_options {
  char delimiter;  /* 0: told from the first line: tab if it has one, else comma, else
                      semicolon, else tab (one column); quoted text does not count */
  bool has_header; /* the first line names the columns */
};

#define GPNN_TABLE_OPTIONS_INIT \
  {                             \
    0, true                     \
  }

/* A field as it reads, quotes removed and doubled quotes undoubled; not NUL-terminated. */
struct gpnn_field {
  const char *text;
  size_t length;
};

/* One record; everything it points to belongs to the table and lasts until the next call. */
struct gpnn_record {
  size_t line; /* 1-based number of the line the record starts on */
  size_t n_fields;
  const struct gpnn_field *fields; /* n_fields of them */
  const char *raw;                 /* the bytes as they stand in the file, line end excluded */
  size_t raw_length;
};

/*
 * Opens 'path' ("-": standard input) and reads its first line.  GPNN_EDATA: no line at all,
 * or a malformed one.  GPNN_EFORMAT: as gpnn_table_next().  GPNN_EINVAL: a quote, CR, LF
 * or a byte outside ASCII as delimiter.  GPNN_EMISMATCH: a gpnn index, told by its magic
 * bytes, "... is an index, not a table", or a parameters file.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_table_open(struct gpnn_table **table, const char *path,
                                                 const struct gpnn_table_options *options,
                                                 struct gpnn_error *err);

/*
 * Reads the next record.  GPNN_END: no more.  GPNN_EDATA: this record is malformed (another
 * number of fields, stray quote), the sentence says where, and the next call goes on with
 * the following line; '*record' then holds its line and raw bytes and no fields.
 * GPNN_EFORMAT: the rest cannot be read (unterminated quote, a NUL byte, corrupt gzip).
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_table_next(struct gpnn_table *table, struct gpnn_record *record, struct gpnn_error *err);

const char *gpnn_table_name(const struct gpnn_table *table);   /* the path as messages show it */
struct gpnn_input *gpnn_table_input(struct gpnn_table *table); /* its stream, to interrupt it */
char gpnn_table_delimiter(const struct gpnn_table *table);
bool gpnn_table_has_header(const struct gpnn_table *table);
size_t gpnn_table_columns(const struct gpnn_table *table);

/* Name of column 'j'; without a header its 1-based number as text.  NUL-terminated; owned
 * by the table. */
const char *gpnn_table_column(const struct gpnn_table *table, size_t j);

/* The header line as it stands in the file, line end and byte order mark excluded (empty
 * without a header); owned by the table. */
struct gpnn_field gpnn_table_header(const struct gpnn_table *table);

/* Closes and frees; NULL is allowed. */
void gpnn_table_close(struct gpnn_table *table);

/* Appends one field to 'output', quoted where the delimiter, a quote, CR or LF demands it, or
 * what a reader that tells the delimiter from a header would prefer to ours: a tab, a comma; or
 * where a table that began with it would be taken for another file.
 * A record of one empty field would be a blank line, which readers pass over. */
GPNN_MUST_CHECK enum gpnn_status gpnn_table_write_field(struct gpnn_output *output, char delimiter,
                                                        const char *text, size_t length,
                                                        struct gpnn_error *err);

/* Appends a number as one field, or 'na' where it is not finite: what has no value is missing. */
GPNN_MUST_CHECK enum gpnn_status gpnn_table_write_number(struct gpnn_output *output, char delimiter,
                                                         double value, const char *na,
                                                         struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
