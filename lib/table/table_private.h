/*
 * table_private: shared by the files of this folder.
 */
#ifndef GPNN_TABLE_TABLE_PRIVATE_H
#define GPNN_TABLE_TABLE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/number.h"
#include "base/status.h"
#include "table/npy.h"
#include "table/predictions.h"
#include "table/schema.h"
#include "table/table.h"

/* True of a space and of a tab. */
static inline bool gpnn_is_blank(char c)
{
  return c == ' ' || c == '\t';
}

/* How a table may begin (a byte order mark), and how parameters files do. */
#define GPNN_TABLE_BOM "\xef\xbb\xbf"
#define GPNN_TABLE_PARAMS "# gpnn parameters"

/* The last BLOCK_BYTES of the buffer are never filled, so that a whole block can be examined from
 * any byte that was read. */
enum { FIRST_BUFFER_BYTES = 256 * 1024, BLOCK_BYTES = 64 };

struct gpnn_table {
  struct gpnn_input *input;
  char delimiter, usual_delimiter; /* as in the options, until the first is known */
  bool has_header;
  struct gpnn_values values; /* owned */

  char *buffer;                /* bytes start..end were read from the stream but not yet consumed */
  size_t capacity, start, end; /* the capacity includes the last BLOCK_BYTES */
  bool at_end;                 /* the stream has no more bytes */
  bool bytes_dropped;          /* the buffer no longer begins with the stream's first byte */
  bool ends_in_line;           /* the last byte that was read is no line end */
  bool is_torn;                /* the last of the whole file, of which this is a part, is none */
  struct gpnn_error failure;   /* of reading ahead, for who reads on; GPNN_OK: none */
  size_t n_records;            /* good ones so far */
  size_t line;                 /* number of the line at 'start', from 1 */

  struct gpnn_field *fields;
  size_t fields_capacity;
  char *unquoted; /* the text of fields with doubled quotes */
  size_t unquoted_capacity, unquoted_used;

  struct gpnn_npy npy; /* no columns: the table is text */
  double *numbers;     /* of its last record, if it is not, or if its values are not plain JSON */

  struct gpnn_table_json *json; /* owned; NULL: the table is not JSON Lines */

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

/* The usual delimiter if the first two lines have it, or else the one at which most of the first
 * lines in the buffer have as many fields as the first of all, which is 'first_length' bytes long;
 * where that holds of several, at which more of these fields look like numbers. */
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

/* The same, and whether the line ends inside quotes if it does not begin there. */
GPNN_MUST_CHECK enum gpnn_status gpnn_table_find_quotes(struct gpnn_table *table,
                                                        struct gpnn_extent *extent,
                                                        bool *ends_inside, struct gpnn_error *err);

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

/* Opens a table whose first line, from table->start on, is an object of JSON: sets the names of the
 * columns, and all that a first line determines.  If it is not, 'json' stays NULL, and only blank
 * lines and comments are consumed.  GPNN_EDATA: the object is none that a table can begin with. */
GPNN_MUST_CHECK enum gpnn_status gpnn_table_open_json(struct gpnn_table *table,
                                                      struct gpnn_error *err);

/* gpnn_table_next() for JSON Lines. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_table_next_json(struct gpnn_table *table, struct gpnn_record *record, struct gpnn_error *err);

/* Frees what gpnn_table_open_json() made; nothing if that was nothing. */
void gpnn_table_close_json(struct gpnn_table *table);

/* Goes on to the record after this one. */
void gpnn_table_consume(struct gpnn_table *table, const struct gpnn_extent *extent);

/* ---- table_write.c ------------------------------------------------------------------------ */

/* True if gpnn_table_write_field() puts a field into quotes. */
bool gpnn_table_needs_quotes(char delimiter, const char *text, size_t length);

/* ---- foreign.c ---------------------------------------------------------------------------- */

/* Files of other formats that people have tables in are recognised by how they begin, so that a
 * message can say what to do with them. */

enum { GPNN_FOREIGN_FORMATS = 12, GPNN_FOREIGN_MAGIC_BYTES = 10 };

struct gpnn_foreign {
  char magic[GPNN_FOREIGN_MAGIC_BYTES]; /* how its files begin, which no text does */
  size_t magic_bytes;
  const char *advice; /* "is a ... file: ..."; FILE stands for its name */
};

/* Format 'i' < GPNN_FOREIGN_FORMATS; static. */
const struct gpnn_foreign *gpnn_foreign(size_t i);

/* ---- stream.c ----------------------------------------------------------------------------- */

/*
 * What stream.c, which reads, and stream_output.c, which writes, share.
 */

/* A copy of what messages call 'path', for the caller to free(): 'standard' if it is "-".  NULL:
 * there is no memory. */
char *gpnn_stream_name(const char *path, const char *standard);

/* open(), started again when a signal interrupts it; the descriptor is closed by exec(), and a
 * terminal does not become ours. */
int gpnn_stream_open(const char *path, int flags);

/* ---- fields ------------------------------------------------------------------------------- */

/* Reads a field that is a number in the usual notation and cannot be missing, as most are; false
 * if it takes a closer look. */
static inline bool gpnn_field_read_plain(const struct gpnn_values *values,
                                         const struct gpnn_field *field, double *value)
{
  return values->is_plain && field->length > 0 &&
         !values->may_be_missing[(unsigned char)field->text[0]] &&
         gpnn_number_read(field->text, field->length, value) == GPNN_NUMBER_OK;
}

/* ---- columns.c ---------------------------------------------------------------------------- */

/*
 * Looking up columns by name, and messages about columns.
 */

struct gpnn_column_name {
  const char *name; /* the table's */
  size_t position;
};

/* The columns of a table sorted by name, so that a wide table's are found by bisection.  A zeroed
 * object is empty and may be released. */
struct gpnn_column_lookup {
  const struct gpnn_table *table; /* borrowed; outlives the lookup */
  size_t n;
  struct gpnn_column_name *sorted; /* owned; columns of the same name in the table's order */
};

/* GPNN_ENOMEM leaves 'lookup' unchanged. */
GPNN_MUST_CHECK enum gpnn_status gpnn_column_lookup_make(struct gpnn_column_lookup *lookup,
                                                         const struct gpnn_table *table,
                                                         struct gpnn_error *err);
void gpnn_column_lookup_release(struct gpnn_column_lookup *lookup);

/* How many columns are called 'name'; '*columns' points to them, in the table's order. */
size_t gpnn_column_lookup_all(const struct gpnn_column_lookup *lookup, const char *name,
                              const struct gpnn_column_name **columns);

/* The same; '*column' is set to the first, if there is any. */
size_t gpnn_column_lookup_count(const struct gpnn_column_lookup *lookup, const char *name,
                                size_t *column);

/* Finds one column by name or number or, if 'last' is not NULL, a range of them, first to last;
 * outcomes as gpnn_columns_find(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_column_lookup_find(const struct gpnn_column_lookup *lookup,
                                                         const char *wanted, size_t *first,
                                                         size_t *last, struct gpnn_error *err);

/* Fails with "table: column 'name' WHAT" and GPNN_EINVAL. */
enum gpnn_status gpnn_columns_fail(const struct gpnn_table *table, size_t column, const char *what,
                                   struct gpnn_error *err);

/* ---- schema*.c ---------------------------------------------------------------------------- */

/*
 * What schema.c, which finds columns, schema_choose.c, schema_kinds.c,
 * schema_encode.c and schema_levels.c share.
 */

/* How many features an input is encoded as. */
size_t gpnn_schema_width(const struct gpnn_column *column);

/* True of an input whose texts are levels. */
bool gpnn_schema_has_levels(const struct gpnn_column *column);

/* The word for a period of so many days, as users ask for it ("week"), or NULL. */
const char *gpnn_schema_period_word(double days);

/* Finds the level that a field is; false if there is none.  'order' has all levels of 'column'. */
bool gpnn_schema_find_level(const struct gpnn_column *column, const struct gpnn_level_order *order,
                            const struct gpnn_values *values, const struct gpnn_field *field,
                            size_t *level);

/* Adds the field as a level, which it is not yet.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_add_level(struct gpnn_column *column,
                                                       struct gpnn_level_order *order,
                                                       const struct gpnn_values *values,
                                                       const struct gpnn_field *field,
                                                       struct gpnn_error *err);

/* Removes the level that was added last. */
void gpnn_schema_remove_last_level(struct gpnn_column *column, struct gpnn_level_order *order);

/* Sorts the levels of 'column' into 'order', which is empty.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_order_column(const struct gpnn_column *column,
                                                          struct gpnn_level_order *order,
                                                          struct gpnn_error *err);

/* Moves the levels of 'column' to their places in 'order', which follows them; 'number' becomes the
 * new number of each level by its old one.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_sort_levels(struct gpnn_column *column,
                                                         struct gpnn_level_order *order,
                                                         double *number, struct gpnn_error *err);

/* The level that comes 'i'-th in order, from 0. */
size_t gpnn_schema_level_at(const struct gpnn_level_order *order, size_t i);

/* Sorts the levels that each category and each target has so far into the orders of 'map', which
 * are empty.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_order_levels(const struct gpnn_schema *schema,
                                                          struct gpnn_columns_map *map,
                                                          struct gpnn_error *err);

/* The roles of a column, added up: an input may be a regressor too. */
enum {
  GPNN_ROLE_INPUT = 1,
  GPNN_ROLE_TARGET = 2,
  GPNN_ROLE_REGRESSOR = 4,
  GPNN_ROLE_NOISE = 8,
  GPNN_ROLE_OFFSET = 16,
  GPNN_ROLE_BY = 32,
  GPNN_ROLE_EXPOSURE = 64,
  GPNN_ROLE_EFFECT = 128,
  GPNN_ROLE_ID = 256
};

struct gpnn_picked {
  size_t n;
  size_t *columns; /* owned */
};

/* The roles chosen so far: of each column, and for each role its columns in order. */
struct gpnn_choice {
  const struct gpnn_column_lookup *lookup;
  unsigned *roles; /* owned; of each column of the table */
  struct gpnn_picked inputs, targets, regressors, noise, offsets, exposure, by, id;
  struct gpnn_picked effects; /* those whose levels have effects */
  size_t n_group_effects;
  struct gpnn_group_effect *group_effects; /* owned; of columns of the table instead of inputs */
};

/* Fails with "table: column 'name' WHAT" and GPNN_EINVAL. */
enum gpnn_status gpnn_choice_fail(const struct gpnn_choice *choice, size_t column, const char *what,
                                  struct gpnn_error *err);

/* gpnn_columns_find_list() in the table of 'choice'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_find_list(const struct gpnn_choice *choice,
                                                       const char *list, struct gpnn_picked *picked,
                                                       struct gpnn_error *err);

/* Makes a column of the schema of column 'position' of the table.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_fill_column(struct gpnn_column *column,
                                                         const struct gpnn_choice *choice,
                                                         size_t position, struct gpnn_error *err);

/* Reads the effects in 'list' (NULL: none); a column that is one by itself is then no input, unless
 * the user has listed these.  Outcomes as gpnn_schema_choose(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_effects(struct gpnn_choice *choice, const char *list,
                                                     bool are_inputs_listed,
                                                     struct gpnn_error *err);

/* Gives the schema, whose inputs have their kinds, the effects that were read, with an input for
 * each of their columns. */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_mark_effects(struct gpnn_schema *schema,
                                                          struct gpnn_choice *choice,
                                                          struct gpnn_error *err);

/* Marks inputs and regressors as dates, and inputs as categories, periodic or places.  'schema' has
 * the columns of 'choice', all of them numbers.  Outcomes as gpnn_schema_choose(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_schema_mark_kinds(struct gpnn_schema *schema,
                                                        const struct gpnn_choice *choice,
                                                        const struct gpnn_roles *roles,
                                                        struct gpnn_error *err);

/* ---- predictions*.c ----------------------------------------------------------------------- */

/*
 * What predictions.c and predictions_classes.c share.
 */

/* Finds the part of 'name' between 'prefix' and the suffix "_TARGET" (no suffix if 'target' is
 * NULL); false if the name lacks either. */
bool gpnn_predictions_strip(const char *name, const char *prefix, const char *target,
                            const char **text, size_t *length);

/* Finds the column, 'first' or after it, whose name is 'prefix', 'what' ('what_length' bytes) and
 * the target's suffix.  GPNN_END: there is none.  GPNN_EINVAL: there are several. */
GPNN_MUST_CHECK enum gpnn_status gpnn_predictions_find_affixed(const struct gpnn_table *table,
                                                               size_t first, const char *prefix,
                                                               const char *what, size_t what_length,
                                                               const char *target, size_t *column,
                                                               struct gpnn_error *err);

/* True if column 'j' is the mean or the label of one of several targets. */
bool gpnn_predictions_is_target(const struct gpnn_table *table, size_t j);

/* Finds the other columns of a target that is classes, whose label is column 'label'.  Outcomes as
 * gpnn_predictions_find(); after a failure, too, gpnn_predictions_free_classes() is due. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_predictions_find_classes(struct gpnn_predictions_target *target,
                              const struct gpnn_table *table, size_t label, struct gpnn_error *err);

/* True if the table has predictions of one target, which is classes; '*label' is its label. */
bool gpnn_predictions_are_classes(const struct gpnn_table *table, size_t *label);

/* Reads a number that may be infinite; '*value' is 'missing' if there is none.  GPNN_EDATA: it is
 * not a number. */
GPNN_MUST_CHECK enum gpnn_status gpnn_predictions_read_infinite(const struct gpnn_table *table,
                                                                const struct gpnn_record *record,
                                                                size_t column, double missing,
                                                                double *value,
                                                                struct gpnn_error *err);

/* NULL is allowed. */
void gpnn_predictions_free_classes(struct gpnn_predictions_classes *classes);

/* True of a line that names all inputs, as the first of a table with names does; false if the
 * training table had none. */
bool gpnn_schema_names_inputs(const struct gpnn_schema *schema, const char *line, size_t length);

#endif
