/* Reading answers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "cotrain/answers_private.h"
#include "table/columns.h"

/* Of a matrix that is symmetric, two numbers that belong together may differ by this, as a share of
 * its largest number. */
static const double most_asymmetry = 1e-9;

struct reading {
  struct gpnn_table *table;
  struct gpnn_answers *answers;
  size_t column[ANSWERS_FIELDS]; /* the first of each field */
  bool has_column[ANSWERS_FIELDS];
  size_t capacity; /* rows that there is memory for */
};

/* ---- comments ------------------------------------------------------------------------------- */

/* The text after "# NAME: " in the comments, up to the end of its line; NULL: there is none. */
static const char *find_comment(const char *comments, const char *name, size_t *length)
{
  size_t n = strlen(name);
  for (const char *line = comments; *line != '\0'; line = strchr(line, '\n') + 1)
    if (memcmp(line, "# ", 2) == 0 && strncmp(line + 2, name, n) == 0 &&
        strncmp(line + 2 + n, ": ", 2) == 0) {
      *length = (size_t)(strchr(line, '\n') - (line + n + 4));
      return line + n + 4;
    }
  return NULL;
}

static enum gpnn_status fail_comment(const struct reading *r, const char *name,
                                     struct gpnn_error *err)
{
  return gpnn_fail(err, GPNN_EMISMATCH,
                   "%s: is not a table of answers, or has lost a comment: there is no line \"# %s: "
                   "...\" before the header, or not as gpnn-answer writes it",
                   gpnn_table_name(r->table), name);
}

static enum gpnn_status read_number_comment(const struct reading *r, const char *name,
                                            double *value, struct gpnn_error *err)
{
  size_t length = 0;
  const char *text = find_comment(gpnn_table_comments(r->table), name, &length);
  if (text == NULL || gpnn_number_read(text, length, value) != GPNN_NUMBER_OK)
    return fail_comment(r, name, err);
  return GPNN_OK;
}

static enum gpnn_status read_report(const struct reading *r, struct gpnn_error *err)
{
  size_t length = 0;
  const char *text = find_comment(gpnn_table_comments(r->table), "report", &length);
  for (enum gpnn_report report = 0; text != NULL && report < GPNN_REPORTS; report++) {
    const char *name = gpnn_report_name(report);
    if (strlen(name) != length || memcmp(name, text, length) != 0) continue;
    r->answers->report = report;
    return GPNN_OK;
  }
  return fail_comment(r, "report", err);
}

static enum gpnn_status check_version(const struct reading *r, struct gpnn_error *err)
{
  const char *comments = gpnn_table_comments(r->table);
  size_t magic = sizeof ANSWERS_MAGIC - 1;
  if (strncmp(comments, ANSWERS_MAGIC, magic) != 0)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "%s: is not a table of answers: its first line is not \"" ANSWERS_MAGIC
                     "...\"",
                     gpnn_table_name(r->table));
  if (strncmp(comments + magic, "1.", 2) != 0)
    return gpnn_fail(err, GPNN_EVERSION, "%s: answers of a version that this gpnn cannot read",
                     gpnn_table_name(r->table));
  return GPNN_OK;
}

/* True of a line of comments that has an array or text of its own in the object. */
static bool is_own(const char *line)
{
  static const char *const own[] = {ANSWERS_MAGIC,
                                    "# target: ", "# centre: ", "# scale: ", "# report: "};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (strncmp(line, own[i], strlen(own[i])) == 0) return true;
  return false;
}

/* Keeps the comments that mean nothing here. */
static enum gpnn_status keep_notes(const struct reading *r, struct gpnn_error *err)
{
  const char *comments = gpnn_table_comments(r->table);
  char *notes = gpnn_copy_text(comments, strlen(comments)), *to = notes;
  if (notes == NULL) return gpnn_fail_memory(err, "for answers");
  for (const char *line = comments; *line != '\0';) {
    size_t length = (size_t)(strchr(line, '\n') + 1 - line);
    if (!is_own(line)) {
      memcpy(to, line, length);
      to += length;
    }
    line += length;
  }
  *to = '\0';
  r->answers->notes = notes;
  return GPNN_OK;
}

static enum gpnn_status read_comments(const struct reading *r, struct gpnn_error *err)
{
  struct gpnn_answers *answers = r->answers;
  size_t length = 0;
  enum gpnn_status status = check_version(r, err);
  const char *target = find_comment(gpnn_table_comments(r->table), "target", &length);
  if (status == GPNN_OK && target == NULL) status = fail_comment(r, "target", err);
  if (status == GPNN_OK) status = read_number_comment(r, "centre", &answers->centre, err);
  if (status == GPNN_OK) status = read_number_comment(r, "scale", &answers->scale, err);
  if (status == GPNN_OK && !(answers->scale > 0)) status = fail_comment(r, "scale", err);
  if (status == GPNN_OK) status = read_report(r, err);
  if (status == GPNN_OK) status = keep_notes(r, err);
  if (status != GPNN_OK) return status;
  answers->target = gpnn_copy_text(target, length);
  return answers->target == NULL ? gpnn_fail_memory(err, "for answers") : GPNN_OK;
}

/* ---- columns -------------------------------------------------------------------------------- */

static enum gpnn_status fail_column(const struct reading *r, const char *name,
                                    struct gpnn_error *err)
{
  return gpnn_fail(err, GPNN_EMISMATCH, "%s: has no column '%s', which a report \"%s\" has",
                   gpnn_table_name(r->table), name, gpnn_report_name(r->answers->report));
}

/* Finds the columns of a field; a matrix has as many as there are answers, one after another, and
 * none where there are none. */
static enum gpnn_status find_field(struct reading *r, size_t f, struct gpnn_error *err)
{
  const struct answers_field *field = &gpnn_answers_fields[f];
  char name[40];
  snprintf(name, sizeof name, "%s%s", field->name, field->is_matrix ? "1" : "");
  for (size_t j = 1; j < gpnn_table_columns(r->table); j++)
    if (strcmp(gpnn_table_column(r->table, j), name) == 0) {
      r->has_column[f] = true;
      r->column[f] = j;
      return GPNN_OK;
    }
  return field->is_optional || field->is_matrix ? GPNN_OK : fail_column(r, name, err);
}

static enum gpnn_status find_columns(struct reading *r, struct gpnn_error *err)
{
  const char *id = gpnn_table_column(r->table, 0);
  enum gpnn_status status = GPNN_OK;
  r->answers->id_name = gpnn_copy_text(id, strlen(id));
  if (r->answers->id_name == NULL) return gpnn_fail_memory(err, "for answers");
  for (size_t f = 0; f < ANSWERS_FIELDS && status == GPNN_OK; f++)
    if (gpnn_answers_tells(r->answers->report, &gpnn_answers_fields[f]))
      status = find_field(r, f, err);
  return status;
}

/* How many numbers of a field a row has. */
static size_t find_width(const struct reading *r, size_t f)
{
  const struct answers_field *field = &gpnn_answers_fields[f];
  size_t width = 1;
  char name[40];
  if (!field->is_matrix) return 1;
  for (; r->column[f] + width < gpnn_table_columns(r->table); width++) {
    snprintf(name, sizeof name, "%s%zu", field->name, width + 1);
    if (strcmp(gpnn_table_column(r->table, r->column[f] + width), name) != 0) break;
  }
  return width;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static enum gpnn_status reserve(struct reading *r, const size_t width[ANSWERS_FIELDS],
                                struct gpnn_error *err)
{
  struct gpnn_answers *answers = r->answers;
  size_t rows = r->capacity == 0 ? 64 : r->capacity * 2, capacity = r->capacity;
  bool done = gpnn_grow(&answers->ids, &capacity, rows, sizeof *answers->ids);
  for (size_t f = 0; f < ANSWERS_FIELDS && done; f++) {
    size_t numbers = 0, have = r->capacity * width[f];
    if (!r->has_column[f]) continue;
    double **array = gpnn_answers_array(answers, &gpnn_answers_fields[f]);
    done =
        gpnn_multiply(rows, width[f], &numbers) && gpnn_grow(array, &have, numbers, sizeof **array);
  }
  if (!done) return gpnn_fail_memory(err, "for answers");
  r->capacity = rows;
  return GPNN_OK;
}

static enum gpnn_status read_field(const struct reading *r, const struct gpnn_record *record,
                                   size_t f, size_t width, struct gpnn_error *err)
{
  const struct answers_field *field = &gpnn_answers_fields[f];
  double *to = *gpnn_answers_array(r->answers, field) + r->answers->n * width;
  for (size_t j = 0; j < width; j++) {
    const size_t column = r->column[f] + j;
    enum gpnn_status status = gpnn_columns_number(r->table, record, column, &to[j], err);
    if (status != GPNN_OK) return status;
    if (field->range == ANSWERS_NOT_NEGATIVE && to[j] < 0)
      return gpnn_columns_fail_field(r->table, record, column, "a variance that is negative", true,
                                     err);
    if (field->range == ANSWERS_POSITIVE && !(to[j] > 0))
      return gpnn_columns_fail_field(r->table, record, column, "a variance that is not positive",
                                     true, err);
  }
  return GPNN_OK;
}

static enum gpnn_status read_row(struct reading *r, const struct gpnn_record *record,
                                 const size_t width[ANSWERS_FIELDS], struct gpnn_error *err)
{
  struct gpnn_answers *answers = r->answers;
  const struct gpnn_field id = record->fields[0];
  enum gpnn_status status = gpnn_columns_present(r->table, record, 0, err);
  if (status == GPNN_OK && answers->n == r->capacity) status = reserve(r, width, err);
  for (size_t f = 0; f < ANSWERS_FIELDS && status == GPNN_OK; f++)
    if (r->has_column[f]) status = read_field(r, record, f, width[f], err);
  if (status != GPNN_OK) return status;
  answers->ids[answers->n] = gpnn_copy_text(id.text, id.length);
  if (answers->ids[answers->n] == NULL) return gpnn_fail_memory(err, "for answers");
  answers->n++;
  return GPNN_OK;
}

/* A matrix has as many columns as there are answers. */
static enum gpnn_status check_widths(const struct reading *r, const size_t width[ANSWERS_FIELDS],
                                     struct gpnn_error *err)
{
  const size_t n = r->answers->n;
  for (size_t f = 0; f < ANSWERS_FIELDS; f++) {
    const struct answers_field *field = &gpnn_answers_fields[f];
    if (!field->is_matrix || width[f] == n || !gpnn_answers_tells(r->answers->report, field))
      continue;
    if (!r->has_column[f] && field->is_optional) continue;
    return gpnn_fail(err, GPNN_EDATA,
                     "%s: has %zu answers, but %zu columns '%s...': rows or columns are missing",
                     gpnn_table_name(r->table), n, width[f], field->name);
  }
  return GPNN_OK;
}

static enum gpnn_status read_rows(struct reading *r, struct gpnn_error *err)
{
  size_t width[ANSWERS_FIELDS];
  struct gpnn_record record;
  for (size_t f = 0; f < ANSWERS_FIELDS; f++) width[f] = r->has_column[f] ? find_width(r, f) : 0;
  enum gpnn_status status = reserve(r, width, err);
  while (status == GPNN_OK) {
    status = gpnn_table_next(r->table, &record, err);
    if (status == GPNN_OK) status = read_row(r, &record, width, err);
  }
  return status == GPNN_END ? check_widths(r, width, err) : status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int compare_ids(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum gpnn_status check_ids(const struct reading *r, struct gpnn_error *err)
{
  size_t n = r->answers->n;
  char shown[GPNN_MASK_BYTES], **sorted = gpnn_alloc(n, 1, sizeof *sorted);
  enum gpnn_status status = GPNN_OK;
  if (sorted == NULL) return gpnn_fail_memory(err, "for answers");
  memcpy(sorted, r->answers->ids, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, compare_ids);
  for (size_t i = 1; i < n && status == GPNN_OK; i++)
    if (strcmp(sorted[i - 1], sorted[i]) == 0)
      status = gpnn_fail(err, GPNN_EDATA, "%s: two answers have the id \"%s\"",
                         gpnn_table_name(r->table), gpnn_mask(shown, sorted[i], strlen(sorted[i])));
  free(sorted);
  return status;
}

static enum gpnn_status check_symmetry(const struct reading *r, size_t f, struct gpnn_error *err)
{
  size_t n = r->answers->n;
  const double *a = *gpnn_answers_array(r->answers, &gpnn_answers_fields[f]);
  double largest = 0;
  for (size_t i = 0; i < n * n; i++) largest = fmax(largest, fabs(a[i]));
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      if (!(fabs(a[i * n + j] - a[j * n + i]) <= most_asymmetry * largest))
        return gpnn_fail(err, GPNN_EDATA,
                         "%s: the matrix of columns '%s...' is not symmetric: rows %zu and %zu",
                         gpnn_table_name(r->table), gpnn_answers_fields[f].name, j + 1, i + 1);
  return GPNN_OK;
}

static enum gpnn_status read_table(struct reading *r, struct gpnn_error *err)
{
  enum gpnn_status status = read_comments(r, err);
  if (status == GPNN_OK) status = find_columns(r, err);
  if (status == GPNN_OK) status = read_rows(r, err);
  if (status == GPNN_OK) status = check_ids(r, err);
  for (size_t f = 0; f < ANSWERS_FIELDS && status == GPNN_OK; f++)
    if (r->has_column[f] && gpnn_answers_fields[f].is_matrix) status = check_symmetry(r, f, err);
  return status;
}

enum gpnn_status gpnn_answers_read(const char *path, struct gpnn_answers *answers,
                                   struct gpnn_error *err)
{
  const struct gpnn_table_options options = {.has_header = true, .notation = {.comment = "#"}};
  struct gpnn_answers read = {0};
  struct reading r = {.answers = &read};
  enum gpnn_status status = gpnn_table_open(&r.table, path, &options, err);
  if (status != GPNN_OK) return status;
  status = read_table(&r, err);
  gpnn_table_close(r.table);
  if (status == GPNN_OK)
    *answers = read;
  else
    gpnn_answers_release(&read);
  return status;
}
