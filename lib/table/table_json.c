/*
 * Reading JSON Lines as records: each line is an object, and its members are the fields.
 *
 * The first object is read twice: for its names, and like all others as a record.  Where objects
 * have their members in the same order, as nearly all have, each is in the column after the last.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "table/json_private.h"
#include "table/table_private.h"

/* Names that are longer are mistakes, and those of nested members repeat the outer one's. */
enum { MOST_NAME_BYTES = 1000, PLACE_BYTES = GPNN_MASK_BYTES + 16 };

static const char twice[] = "occurs twice in one object";

struct gpnn_table_json {
  struct gpnn_column_lookup lookup;
  size_t *seen;  /* n_columns: the number of the last object that had it, or an inner object of its
                    name; owned */
  size_t *inner; /* n_columns: of the first, by name, of an inner object, that of the last object
                    that had this, or null in its place; in 'seen' */
  size_t n_objects;
};

/* A line that is being read. */
struct reading {
  struct gpnn_table *table;
  /* Takes the value of the member that 'name' is. */
  bool (*take)(struct reading *r, bool is_number, const char *text, size_t length);
  bool is_object;      /* the line began as one */
  size_t depth;        /* objects around */
  size_t outer_length; /* of the outer name with its point, in 'name' */
  size_t name_length;  /* 0: none so far */
  char name[MOST_NAME_BYTES + 1];
  size_t next;             /* columns: the number so far, or that which comes next */
  enum gpnn_status status; /* of a failure that has its message */
  struct gpnn_error *err;
};

static void begin(struct reading *r, struct gpnn_table *table,
                  bool (*take)(struct reading *, bool, const char *, size_t),
                  struct gpnn_error *err)
{
  r->table = table;
  r->take = take;
  r->is_object = false;
  r->depth = r->outer_length = r->name_length = r->next = 0;
  r->status = GPNN_OK;
  r->err = err;
}

/* ---- failures ---------------------------------------------------------------------------- */

/* "column 'a.b': ", or nothing where no name was read. */
static const char *describe_place(const struct reading *r, char place[PLACE_BYTES])
{
  char shown[GPNN_MASK_BYTES];
  place[0] = '\0';
  if (r->name_length > 0)
    snprintf(place, PLACE_BYTES, "column '%s': ", gpnn_mask(shown, r->name, r->name_length));
  return place;
}

/* Fails about the member that was named last; false, to stop the reading. */
static bool refuse(struct reading *r, const char *what)
{
  char place[PLACE_BYTES];
  r->status = gpnn_fail(r->err, GPNN_EDATA, "%s:%zu: %s%s", gpnn_table_name(r->table),
                        r->table->line, describe_place(r, place), what);
  return false;
}

static bool lack_memory(struct reading *r)
{
  r->status = gpnn_fail_memory(r->err, "for the columns of a table");
  return false;
}

/* Fails about a line of 'length' bytes that is not JSON: 'wrong' is the sentence of the reader. */
static enum gpnn_status fail_syntax(struct reading *r, const char *wrong, size_t at, size_t length)
{
  static const char *const hint =
      "; a table whose first line begins with { and a quote is read as JSON Lines";
  const struct gpnn_table *table = r->table;
  char place[PLACE_BYTES];
  if (!r->is_object)
    refuse(r, "is not a JSON object, as each line of JSON Lines is");
  else if (at >= length)
    refuse(
        r,
        "the line ends within its object: was the file cut off, or do objects take several lines?");
  else
    r->status = gpnn_fail(r->err, GPNN_EDATA, "%s:%zu: %snot JSON at byte %zu: %c%.*s%s",
                          gpnn_table_name(table), table->line, describe_place(r, place), at + 1,
                          tolower((unsigned char)wrong[0]), (int)strlen(wrong) - 2, wrong + 1,
                          table->n_columns == 0 ? hint : "");
  return r->status;
}

/* ---- one line ---------------------------------------------------------------------------- */

/* The columns whose names begin with name[0..length), which lie together in 'lookup'. */
static size_t find_inner(const struct gpnn_column_lookup *lookup, const char *name, size_t length,
                         const struct gpnn_column_name **columns)
{
  size_t low = 0, high = lookup->n, n = 0;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (strncmp(lookup->sorted[middle].name, name, length) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  while (low + n < lookup->n && strncmp(lookup->sorted[low + n].name, name, length) == 0) n++;
  *columns = lookup->sorted + low;
  return n;
}

/* Notes that the object that is being read has a member that is an object, or null in place of it,
 * whose name with its point is of 'length' bytes; false: it has had one of this name. */
static bool note_inner(struct reading *r, size_t length)
{
  const struct gpnn_table_json *json = r->table->json;
  const struct gpnn_column_name *inner;
  if (find_inner(&json->lookup, r->name, length, &inner) == 0) return true;
  size_t *last = &json->inner[inner->position];
  bool is_first = *last != json->n_objects;
  *last = json->n_objects;
  return is_first;
}

/* Notes that the object that is being read has a member of the name of column 'column'; false: it
 * has had one. */
static bool note_column(struct reading *r, size_t column)
{
  size_t *last = &r->table->json->seen[column];
  bool is_first = *last != r->table->json->n_objects;
  *last = r->table->json->n_objects;
  return is_first;
}

static bool begin_object(struct reading *r)
{
  r->is_object = true;
  if (r->depth == 2) return refuse(r, "is nested more than two deep");
  if (r->depth++ == 0) return true;
  if (r->name_length == MOST_NAME_BYTES) return refuse(r, "has too long a name");
  size_t column;
  bool is_known = r->table->n_columns > 0, is_first = true;
  if (is_known && gpnn_column_lookup_count(&r->table->json->lookup, r->name, &column) > 0)
    is_first = note_column(r, column);
  r->name[r->name_length] = '.';
  if (is_known && !(note_inner(r, r->name_length + 1) && is_first)) return refuse(r, twice);
  r->outer_length = r->name_length + 1;
  return true;
}

static bool take_name(struct reading *r, const char *text, size_t length)
{
  bool fits = length <= MOST_NAME_BYTES - r->outer_length;
  if (!fits) length = MOST_NAME_BYTES - r->outer_length;
  memcpy(r->name + r->outer_length, text, length);
  r->name_length = r->outer_length + length;
  r->name[r->name_length] = '\0';
  return fits || refuse(r, "has too long a name");
}

/* A gpnn_json_listener. */
static bool listen(void *context, enum gpnn_json_event event, const char *text, size_t length)
{
  struct reading *r = context;
  switch (event) {
  case GPNN_JSON_OBJECT:
    return begin_object(r);
  case GPNN_JSON_END:
    r->outer_length = 0;
    if (--r->depth == 0) r->name_length = 0;
    return true;
  case GPNN_JSON_NAME:
    return take_name(r, text, length);
  case GPNN_JSON_ARRAY:
    if (r->depth > 0) return refuse(r, "is an array, which is no value of a column");
    break;
  default:
    if (r->depth > 0) return r->take(r, event == GPNN_JSON_NUMBER, text, length);
  }
  return refuse(r, "is not a JSON object, as each line of JSON Lines is");
}

/* Reads a line of 'length' bytes, with room for a NUL. */
static enum gpnn_status read_line(struct reading *r, char *line, size_t length)
{
  size_t at;
  if (length > GPNN_JSON_MOST_BYTES) refuse(r, "is longer than 2 GiB");
  if (r->status != GPNN_OK) return r->status;
  line[length] = '\0';
  const char *wrong = gpnn_json_read(line, listen, r, &at);
  if (wrong == NULL || *wrong == '\0') return r->status;
  return fail_syntax(r, wrong, at, length);
}

/* Writes the fields as a line, and lets those point into it that stand there as they are. */
static enum gpnn_status write_line(struct gpnn_table *table, size_t *length, struct gpnn_error *err)
{
  const char delimiter = table->delimiter;
  size_t n = table->n_columns, most = 2;
  for (size_t j = 0; j < n; j++) most += 2 * table->fields[j].length + 3; /* all of it quotes */
  if (!gpnn_grow(&table->unquoted, &table->unquoted_capacity, most, 1))
    return gpnn_fail_memory(err, "to read a long record");
  char *to = table->unquoted;
  for (size_t j = 0; j < n; j++) {
    struct gpnn_field *field = &table->fields[j];
    bool is_quoted = gpnn_table_needs_quotes(delimiter, field->text, field->length);
    if (j > 0) *to++ = delimiter;
    if (is_quoted) *to++ = '"';
    if (!is_quoted) {
      memcpy(to, field->text, field->length);
      field->text = to;
      to += field->length;
    }
    for (size_t i = 0; i < field->length && is_quoted; i++) {
      if (field->text[i] == '"') *to++ = '"';
      *to++ = field->text[i];
    }
    if (is_quoted) *to++ = '"';
  }
  *length = (size_t)(to - table->unquoted);
  if (*length > 0) return GPNN_OK;
  memcpy(table->unquoted, "\"\"", 2); /* a blank line would be no record */
  *length = 2;
  return GPNN_OK;
}

/* ---- the first object -------------------------------------------------------------------- */

/* Appends 'name' to 'unquoted'; the fields have their lengths only, as it may move. */
static bool take_column(struct reading *r, bool is_number, const char *text, size_t length)
{
  struct gpnn_table *table = r->table;
  size_t used = table->unquoted_used;
  (void)is_number, (void)text, (void)length;
  if (!gpnn_grow(&table->fields, &table->fields_capacity, r->next + 1, sizeof *table->fields) ||
      !gpnn_grow(&table->unquoted, &table->unquoted_capacity, used + r->name_length + 1, 1))
    return lack_memory(r);
  memcpy(table->unquoted + used, r->name, r->name_length + 1);
  table->fields[r->next++].length = r->name_length;
  table->unquoted_used += r->name_length + 1;
  return true;
}

/* Reads the names of the columns into table->names. */
static enum gpnn_status read_names(struct gpnn_table *table, size_t length, struct gpnn_error *err)
{
  struct reading r;
  char *line = gpnn_alloc(length + 1, 1, 1);
  if (line == NULL) return gpnn_fail_memory(err, "to read a long record");
  memcpy(line, table->buffer + table->start, length);
  begin(&r, table, take_column, err);
  enum gpnn_status status = read_line(&r, line, length);
  free(line);
  if (status == GPNN_OK && r.next == 0) {
    refuse(&r, "the first object has no members, which name the columns");
    status = r.status;
  }
  if (status != GPNN_OK) return status;
  table->names = table->unquoted;
  table->unquoted = NULL;
  table->unquoted_capacity = table->unquoted_used = 0;
  table->n_columns = r.next;
  table->columns = gpnn_alloc(r.next, 1, sizeof *table->columns);
  if (table->columns == NULL) return gpnn_fail_memory(err, "for the column names");
  char *name = table->names;
  for (size_t j = 0; j < r.next; j++) {
    table->columns[j] = name;
    table->fields[j].text = name;
    name += table->fields[j].length + 1;
  }
  return GPNN_OK;
}

/* Makes what finds columns by name; fails if two have the same. */
static enum gpnn_status index_names(struct gpnn_table *table, struct gpnn_error *err)
{
  struct gpnn_table_json *json = table->json;
  size_t n = table->n_columns;
  enum gpnn_status status = gpnn_column_lookup_make(&json->lookup, table, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 1; i < n; i++) {
    struct reading r;
    const char *name = json->lookup.sorted[i].name;
    if (strcmp(name, json->lookup.sorted[i - 1].name) != 0) continue;
    begin(&r, table, NULL, err);
    take_name(&r, name, strlen(name));
    refuse(&r, twice);
    return r.status;
  }
  json->seen = gpnn_alloc(n, 2, sizeof *json->seen);
  if (!table->values.is_plain) table->numbers = gpnn_alloc(n, 1, sizeof *table->numbers);
  if (json->seen == NULL || (!table->values.is_plain && table->numbers == NULL))
    return gpnn_fail_memory(err, "for the columns of a table");
  json->inner = json->seen + n;
  return GPNN_OK;
}

/* True if the line begins with an object that has a name. */
static bool begins_object(const char *s, size_t length)
{
  const char *end = s + length;
  while (s < end && *s == ' ') s++;
  if (s == end || *s++ != '{') return false;
  while (s < end && *s == ' ') s++;
  return s < end && *s == '"';
}

enum gpnn_status gpnn_table_open_json(struct gpnn_table *table, struct gpnn_error *err)
{
  struct gpnn_extent extent;
  size_t length = 0;
  table->json = calloc(1, sizeof *table->json);
  if (table->json == NULL) return gpnn_fail_memory(err, "to open a table");
  enum gpnn_status status = gpnn_table_find_next(table, &extent, err);
  if (status != GPNN_OK || !begins_object(table->buffer + table->start, extent.length)) {
    gpnn_table_close_json(table);
    return status == GPNN_END ? GPNN_OK : status;
  }
  table->has_header = true;
  if (table->delimiter == 0 || table->delimiter == ' ') table->delimiter = '\t';
  status = read_names(table, extent.length, err);
  if (status == GPNN_OK) status = index_names(table, err);
  if (status == GPNN_OK) status = write_line(table, &length, err);
  if (status != GPNN_OK) return status;
  table->header = gpnn_copy_text(table->unquoted, length);
  table->header_length = length;
  return table->header == NULL ? gpnn_fail_memory(err, "for the header") : GPNN_OK;
}

void gpnn_table_close_json(struct gpnn_table *table)
{
  if (table->json == NULL) return;
  gpnn_column_lookup_release(&table->json->lookup);
  free(table->json->seen);
  free(table->json);
  table->json = NULL;
}

/* ---- records ----------------------------------------------------------------------------- */

/* Finds the column that 'name' is; false if there is none. */
static bool find_column(struct reading *r, size_t *column)
{
  const struct gpnn_table *table = r->table;
  if (r->next < table->n_columns && strcmp(table->columns[r->next], r->name) == 0) {
    *column = r->next;
    return true;
  }
  return gpnn_column_lookup_count(&table->json->lookup, r->name, column) > 0;
}

static bool take_value(struct reading *r, bool is_number, const char *text, size_t length)
{
  struct gpnn_table *table = r->table;
  struct gpnn_table_json *json = table->json;
  const struct gpnn_column_name *inner;
  size_t column;
  if (!find_column(r, &column)) {
    r->name[r->name_length] = '.';
    bool lacks_inner = r->depth == 1 && length == 0 &&
                       find_inner(&json->lookup, r->name, r->name_length + 1, &inner) > 0;
    if (lacks_inner) return note_inner(r, r->name_length + 1) || refuse(r, twice);
    return refuse(r, "is not in the first object, which names the columns; give it there too, as "
                     "null");
  }
  if (!note_column(r, column)) return refuse(r, twice);
  table->fields[column] = (struct gpnn_field){text, length};
  if (is_number && table->numbers != NULL &&
      gpnn_number_read(text, length, &table->numbers[column]) != GPNN_NUMBER_OK)
    table->numbers[column] = NAN;
  r->next = column + 1;
  return true;
}

/* Reads the object that begins at table->start into the fields; those it lacks are empty. */
static enum gpnn_status read_object(struct gpnn_table *table, size_t length, struct gpnn_error *err)
{
  struct reading r;
  begin(&r, table, take_value, err);
  table->json->n_objects++;
  for (size_t j = 0; j < table->n_columns; j++) {
    table->fields[j] = (struct gpnn_field){"", 0};
    if (table->numbers != NULL) table->numbers[j] = NAN;
  }
  return read_line(&r, table->buffer + table->start, length);
}

enum gpnn_status gpnn_table_next_json(struct gpnn_table *table, struct gpnn_record *record,
                                      struct gpnn_error *err)
{
  struct gpnn_extent extent;
  enum gpnn_status status = gpnn_table_find_next(table, &extent, err);
  if (status != GPNN_OK) return status;
  struct gpnn_record read = {
      .line = table->line, .raw = table->buffer + table->start, .raw_length = extent.length};
  status = read_object(table, extent.length, err);
  if (status == GPNN_OK) status = write_line(table, &read.raw_length, err);
  if (status == GPNN_OK) {
    read.n_fields = table->n_columns;
    read.fields = table->fields;
    read.numbers = table->numbers;
    read.raw = table->unquoted;
  } else if (status != GPNN_EDATA)
    return status;
  *record = read;
  gpnn_table_consume(table, &extent);
  return status;
}
