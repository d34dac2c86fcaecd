/*
 * table: CSV, TSV and JSON Lines in, records and their fields out (the format of gpnn-table(5)).
 *
 * Calling sequence:
 *
 *   const struct gpnn_table_options options = GPNN_TABLE_OPTIONS_INIT;
 *   struct gpnn_table *table = NULL;
 *   struct gpnn_record record;
 *   struct gpnn_error err;
 *   enum gpnn_status status = gpnn_table_open(&table, path, &options, &err);
 *   while (status == GPNN_OK) {
 *     status = gpnn_table_next(table, &record, &err);
 *     if (status == GPNN_OK) ... use record.fields[0] to record.fields[record.n_fields - 1] ...
 *   }
 *   if (status != GPNN_END) ... err.text says what is wrong ...
 *   gpnn_table_close(table);
 *
 * Opening reads the first line: the column names or, without a header, the first record, which
 * gpnn_table_next() then returns.  A table of a header alone has no records: the first call of
 * gpnn_table_next() returns GPNN_END.  Every record has as many fields, at least one, as the first
 * line.
 *
 * A table whose first line begins with an object of JSON is JSON Lines: the members of that object
 * name the columns, whatever the options say of a header, and each line is a record, in which
 * members that an object lacks are empty fields.
 *
 * A .npy file (table/npy.h), recognised from its first bytes, is a table without a header, whatever
 * the options say; its records are its rows.
 *
 * The module deals with delimiters, quotes (RFC 4180), line ends (LF, CRLF, or none on the last
 * line), a UTF-8 byte order mark, gzip (through stream.h) and lines of any length, and skips blank
 * lines and comments.  It does not interpret fields: see table/columns.h for numbers and missing
 * values.
 *
 * Failures: besides the outcomes named below, GPNN_EIO where the system refuses and GPNN_ENOMEM.
 * Messages begin with "path:" or "path:line:", of a .npy file "path: row N:".
 * Cost: one pass over the bytes.  Fields point into the read buffer, which grows to the longest
 * record; only fields with doubled quotes are copied.
 * Threads: a table belongs to one thread at a time.
 */
#ifndef GPNN_TABLE_TABLE_H
#define GPNN_TABLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "table/notation.h"
#include "table/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_table;  /* an open table */
struct gpnn_schema; /* table/schema.h */

struct gpnn_table_options {
  char delimiter;       /* ' ': blanks, any number of them; 0: detected, as gpnn-table(5) says */
  char usual_delimiter; /* taken rather than detected if the first lines have it; 0: none */
  bool has_header;      /* the first line names the columns */
  bool may_lack_header; /* even so, it is a row if it can be no names: numbers, or missing values,
                           but not just 1, 2, 3 and so on */
  size_t skip_lines;    /* lines before it that are not part of the table */
  const struct gpnn_schema *usual; /* borrowed for the call that opens the table: there may be fewer
                                      such lines, if one of them names all of its inputs; or NULL */
  struct gpnn_notation notation;   /* borrowed for the call that opens the table */
};

/* Detect the delimiter; the first line is a header. */
#define GPNN_TABLE_OPTIONS_INIT \
  {                             \
    .has_header = true          \
  }

/* The text of a field, without the quotes around it and with doubled quotes made single; not
 * NUL-terminated, and possibly empty. */
struct gpnn_field {
  const char *text;
  size_t length;
};

/* A record.  All that it points to belongs to the table and is valid until the next call of
 * gpnn_table_next() or gpnn_table_close(); table/records.h keeps copies. */
struct gpnn_record {
  size_t line; /* number of the line that the record starts on, or of the row of a .npy file, from 1
                */
  size_t n_fields;
  const struct gpnn_field *fields; /* n_fields of them */
  const double *numbers; /* NULL, or the fields of a row of a .npy file; NaN: missing, and the field
                            is empty; or the numbers of an object where the notation has others;
                            NaN: the field's text counts */
  const char *raw;       /* the record as it stands in the file, without its line end; for a .npy
                            file or an object a line of its fields */
  size_t raw_length;
};

/*
 * Opens 'path' ("-": standard input) and reads its first line.  '*table' is set on success only.
 *
 *   GPNN_EDATA      the table is empty, its first line is malformed, or it is a .npy file of
 *                   something else than rows of float32 or float64
 *   GPNN_EFORMAT    the first line cannot be read, as gpnn_table_next() says, or the header of a
 *                   .npy file
 *   GPNN_EINVAL     the delimiter is a quote, CR, LF or outside printable ASCII
 *   GPNN_EMISMATCH  the file is another of gpnn's, recognised from its first bytes: an index,
 *                   another binary file, or parameters; or of another format that tables are kept
 *                   in, and the message says how to turn it into text
 *   GPNN_EIO        the file cannot be opened or read, or is a directory
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_table_open(struct gpnn_table **table, const char *path,
                                                 const struct gpnn_table_options *options,
                                                 struct gpnn_error *err);

/*
 * Reads the next record into '*record'.
 *
 *   GPNN_END      there are no more records
 *   GPNN_EDATA    this record is malformed: it has another number of fields than the first line, or
 *                 text after a closing quote, or is no object of JSON with names of the first, each
 *                 once.  '*record' has its line and raw bytes but no fields, and the next call goes
 *                 on with the record that follows.
 *   GPNN_EFORMAT  the rest of the table cannot be read: a quote is never closed, there is a NUL
 *                 byte, gzip data are damaged, or a .npy file is shorter or longer than its header
 *                 says
 *
 * After any outcome but GPNN_OK and GPNN_EDATA, only close the table; '*record' is unchanged.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_table_next(struct gpnn_table *table, struct gpnn_record *record, struct gpnn_error *err);

/*
 * A part of a table that several readers share: whole lines.  Each opens the table, finds its part
 * before any record is read, and takes it once it knows the parts before.
 */
struct gpnn_table_part {
  uint64_t begin, end; /* bytes of the file */
  uint64_t n_lines;    /* line ends */
  bool ends_in_quotes; /* some line does, so that it is not all of a record */
  bool is_torn;        /* its last line, which is that of the file, has no end */
};

/* True of text or JSON Lines in a file that can be read from any byte on. */
bool gpnn_table_has_parts(const struct gpnn_table *table);

/* Finds part 'k' of 'n' by reading its lines; they have as many bytes, but for whole lines.
 * GPNN_EIO. */
GPNN_MUST_CHECK enum gpnn_status gpnn_table_find_part(struct gpnn_table *table, size_t k, size_t n,
                                                      struct gpnn_table_part *part,
                                                      struct gpnn_error *err);

/* Lets gpnn_table_next() go on with this part, 'n_before' lines behind the first record, and end
 * with it.  'is_torn' may be that of the last part, which gpnn_table_is_torn() then tells.
 * GPNN_EIO. */
GPNN_MUST_CHECK enum gpnn_status gpnn_table_take_part(struct gpnn_table *table,
                                                      const struct gpnn_table_part *part,
                                                      uint64_t n_before, struct gpnn_error *err);

/* What was learnt at opening.  The pointers belong to the table. */
const char *gpnn_table_name(const struct gpnn_table *table);   /* the path as messages show it */
struct gpnn_input *gpnn_table_input(struct gpnn_table *table); /* its stream, to interrupt it */
char gpnn_table_delimiter(const struct gpnn_table *table);

/* How many lines precede what looks like the first line of the table, for messages about a table
 * whose lines do not agree; 0: nothing suggests that there are any. */
size_t gpnn_table_preamble(const struct gpnn_table *table);

/* The same as the end of a message: "; does the table begin on line 4? --skip-lines 3"; if those
 * lines all begin with '#', "; are lines of '#' comments? --comment '#'"; empty if there are none.
 * Returns 'text'. */
enum { GPNN_TABLE_HINT_BYTES = 100 };
const char *gpnn_table_hint(const struct gpnn_table *table, char text[GPNN_TABLE_HINT_BYTES]);

bool gpnn_table_has_header(const struct gpnn_table *table);
const struct gpnn_values *gpnn_table_values(const struct gpnn_table *table);
size_t gpnn_table_columns(const struct gpnn_table *table); /* how many there are, at least 1 */
bool gpnn_table_is_text(
    const struct gpnn_table *table); /* false: a .npy file, which has no lines */
bool gpnn_table_is_json(const struct gpnn_table *table); /* JSON Lines */

/* What stands in messages between the table's name and the number of a line: ":", or ": row " for a
 * .npy file. */
const char *gpnn_table_before_line(const struct gpnn_table *table);

/* The NUL-terminated name of column 'j' (from 0); without a header, its number from 1 as text.
 * Names may be empty or occur twice.  The pointer belongs to the table. */
const char *gpnn_table_column(const struct gpnn_table *table, size_t j);

/* The header line as it stands in the file, without line end and byte order mark, or of JSON Lines
 * a line of the names; empty if the table has no header.  The text belongs to the table. */
struct gpnn_field gpnn_table_header(const struct gpnn_table *table);

/* The comments that come before the first line, if the notation says what begins one; each ends
 * with a newline.  NUL-terminated; the text belongs to the table. */
const char *gpnn_table_comments(const struct gpnn_table *table);

/* Once all was read: true if there was no record; and if the last line has no end, as of a file
 * that was cut off, where half a number looks like one.  False of a .npy file and of JSON Lines,
 * whose objects have ends of their own. */
bool gpnn_table_is_empty(const struct gpnn_table *table);
bool gpnn_table_is_torn(const struct gpnn_table *table);

/* True if a character may be a delimiter: a tab, or printable ASCII other than a quote. */
bool gpnn_table_can_delimit(char c);

/* Closes and frees; NULL is allowed. */
void gpnn_table_close(struct gpnn_table *table);

/*
 * Appends one field to 'output', in quotes if the text could be misread otherwise: if it contains
 * the delimiter, a quote, CR or LF; a tab or a comma, which could be detected as the delimiter of a
 * header; if it is empty and blanks delimit; or if it begins as a gzip or parameters file or a byte
 * order mark does. The caller writes delimiters and line ends.  A record of one empty field becomes
 * a blank line, which readers skip.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_table_write_field(struct gpnn_output *output, char delimiter,
                                                        const char *text, size_t length,
                                                        struct gpnn_error *err);

/* Appends a number as one field, or the text 'na' if the number is not finite. */
GPNN_MUST_CHECK enum gpnn_status gpnn_table_write_number(struct gpnn_output *output, char delimiter,
                                                         double value, const char *na,
                                                         struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
