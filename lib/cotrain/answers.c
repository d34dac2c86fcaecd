#include "cotrain/answers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "table/columns.h"

/* ---- the arrays and their columns ----------------------------------------------------------- */

#define MAGIC "# gpnn answers "
#define VERSION "1.0"

enum range { ANY, NOT_NEGATIVE, POSITIVE };

/* An array of struct gpnn_answers and its columns. */
struct field {
  const char *name; /* of the column; of a matrix, with the number of the column after it, from 1 */
  size_t offset;    /* of the pointer in struct gpnn_answers */
  unsigned reports; /* those that have it, a bit (1 << report) each */
  bool is_matrix, is_optional;
  enum range range;
};

enum {
  ALL = 1 << GPNN_REPORT_NONE | 1 << GPNN_REPORT_MARGINAL | 1 << GPNN_REPORT_FULL,
  VARIANCES = 1 << GPNN_REPORT_MARGINAL | 1 << GPNN_REPORT_FULL,
  FULL = 1 << GPNN_REPORT_FULL,
};

#define FIELD(member) offsetof(struct gpnn_answers, member)

/* All of them, in the order of the columns. */
static const struct field fields[] = {
    {"mean", FIELD(mean), ALL, false, false, ANY},
    {"variance", FIELD(variance), VARIANCES, false, false, NOT_NEGATIVE},
    {"prior_variance", FIELD(prior_variance), VARIANCES, false, false, POSITIVE},
    {"noise_variance", FIELD(noise_variance), ALL, false, false, NOT_NEGATIVE},
    {"cov_", FIELD(covariance), FULL, true, false, ANY},
    {"kq_", FIELD(prior), FULL, true, false, ANY},
    {"noise_", FIELD(privacy), FULL, true, true, ANY},
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

/* True if a report tells a field. */
static bool tells(enum gpnn_report report, const struct field *field)
{
  return (field->reports >> report & 1) != 0;
}

/* Where the object keeps the array of a field. */
static double **array_of(struct gpnn_answers *answers, const struct field *field)
{
  return (double **)(void *)((char *)answers + field->offset);
}

const char *gpnn_report_name(enum gpnn_report report)
{
  static const char *const names[GPNN_REPORTS] = {"none", "marginal", "full"};
  return names[report];
}

enum gpnn_status gpnn_answers_allocate(struct gpnn_answers *answers, bool has_privacy,
                                       struct gpnn_error *err)
{
  bool done = (answers->ids = gpnn_alloc(answers->n, 1, sizeof *answers->ids)) != NULL;
  for (size_t f = 0; f < N_FIELDS && done; f++) {
    const struct field *field = &fields[f];
    if (!tells(answers->report, field)) continue;
    if (field->is_optional && !has_privacy) continue;
    double **array = array_of(answers, field);
    *array = gpnn_alloc(answers->n, field->is_matrix ? answers->n : 1, sizeof **array);
    done = *array != NULL;
  }
  return done ? GPNN_OK : gpnn_fail_memory(err, "for answers");
}

void gpnn_answers_release(struct gpnn_answers *answers)
{
  for (size_t i = 0; answers->ids != NULL && i < answers->n; i++) free(answers->ids[i]);
  for (size_t f = 0; f < N_FIELDS; f++) free(*array_of(answers, &fields[f]));
  free(answers->ids);
  free(answers->id_name);
  free(answers->target);
  free(answers->notes);
  *answers = (struct gpnn_answers){0};
}

/* ---- writing -------------------------------------------------------------------------------- */

/* A field that would be taken for a comment at the beginning of a line is put in quotes. */
static enum gpnn_status write_id(struct gpnn_output *output, const char *text,
                                 struct gpnn_error *err)
{
  if (text[0] != '#') return gpnn_table_write_field(output, '\t', text, strlen(text), err);
  enum gpnn_status status = gpnn_output_text(output, "\"", err);
  for (; *text != '\0' && status == GPNN_OK; text++)
    status = gpnn_output_write(output, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1, err);
  return status == GPNN_OK ? gpnn_output_text(output, "\"", err) : status;
}

/* A text of any bytes in one line. */
static enum gpnn_status write_comment(struct gpnn_output *output, const char *name,
                                      const char *text, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_printf(output, err, "# %s: ", name);
  for (; *text != '\0' && status == GPNN_OK; text++) {
    bool ends = *text == '\n' || *text == '\r';
    status = gpnn_output_write(output, ends ? " " : text, 1, err);
  }
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

static enum gpnn_status write_number_comment(struct gpnn_output *output, const char *name,
                                             double value, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_printf(output, err, "# %s: ", name);
  if (status == GPNN_OK) status = gpnn_output_number(output, value, err);
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

static enum gpnn_status write_comments(const struct gpnn_answers *answers,
                                       struct gpnn_output *output, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_text(output, MAGIC VERSION "\n", err);
  if (status == GPNN_OK) status = write_comment(output, "target", answers->target, err);
  if (status == GPNN_OK) status = write_number_comment(output, "centre", answers->centre, err);
  if (status == GPNN_OK) status = write_number_comment(output, "scale", answers->scale, err);
  if (status == GPNN_OK)
    status = write_comment(output, "report", gpnn_report_name(answers->report), err);
  if (status == GPNN_OK && answers->notes != NULL)
    status = gpnn_output_text(output, answers->notes, err);
  return status;
}

/* The array of a field, or NULL if it is not told. */
static const double *find_array(const struct gpnn_answers *answers, const struct field *field)
{
  struct gpnn_answers pointers = *answers;
  return tells(answers->report, field) ? *array_of(&pointers, field) : NULL;
}

static enum gpnn_status write_header(const struct gpnn_answers *answers, struct gpnn_output *output,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = write_id(output, answers->id_name, err);
  for (size_t f = 0; f < N_FIELDS; f++) {
    const struct field *field = &fields[f];
    if (find_array(answers, field) == NULL) continue;
    if (!field->is_matrix && status == GPNN_OK)
      status = gpnn_output_printf(output, err, "\t%s", field->name);
    for (size_t j = 0; field->is_matrix && j < answers->n && status == GPNN_OK; j++)
      status = gpnn_output_printf(output, err, "\t%s%zu", field->name, j + 1);
  }
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

static enum gpnn_status write_row(const struct gpnn_answers *answers, size_t i,
                                  struct gpnn_output *output, struct gpnn_error *err)
{
  enum gpnn_status status = write_id(output, answers->ids[i], err);
  for (size_t f = 0; f < N_FIELDS; f++) {
    const struct field *field = &fields[f];
    const double *array = find_array(answers, field);
    size_t width = field->is_matrix ? answers->n : 1;
    for (size_t j = 0; array != NULL && j < width && status == GPNN_OK; j++) {
      status = gpnn_output_text(output, "\t", err);
      if (status == GPNN_OK) status = gpnn_output_number(output, array[i * width + j], err);
    }
  }
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

enum gpnn_status gpnn_answers_write(const struct gpnn_answers *answers, struct gpnn_output *output,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = write_comments(answers, output, err);
  if (status == GPNN_OK) status = write_header(answers, output, err);
  for (size_t i = 0; i < answers->n && status == GPNN_OK; i++)
    status = write_row(answers, i, output, err);
  return status;
}

/* ---- reading: comments ---------------------------------------------------------------------- */

/* Two numbers of a symmetric matrix that belong together may differ by this share of its largest
 * number. */
static const double most_asymmetry = 1e-9;

struct reading {
  struct gpnn_table *table;
  struct gpnn_answers *answers;
  size_t column[N_FIELDS]; /* the first of each field */
  bool has_column[N_FIELDS];
  size_t capacity; /* rows that there is memory for */
};

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
  size_t magic = sizeof MAGIC - 1;
  if (strncmp(comments, MAGIC, magic) != 0)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "%s: is not a table of answers: its first line is not \"" MAGIC "...\"",
                     gpnn_table_name(r->table));
  if (strncmp(comments + magic, "1.", 2) != 0)
    return gpnn_fail(err, GPNN_EVERSION, "%s: answers of a version that this gpnn cannot read",
                     gpnn_table_name(r->table));
  return GPNN_OK;
}

/* True of a line of comments that has an array or text of its own in the object. */
static bool is_own(const char *line)
{
  static const char *const own[] = {MAGIC, "# target: ", "# centre: ", "# scale: ", "# report: "};
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
  const struct field *field = &fields[f];
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
  for (size_t f = 0; f < N_FIELDS && status == GPNN_OK; f++)
    if (tells(r->answers->report, &fields[f])) status = find_field(r, f, err);
  return status;
}

/* How many numbers of a field a row has. */
static size_t find_width(const struct reading *r, size_t f)
{
  const struct field *field = &fields[f];
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

static enum gpnn_status reserve(struct reading *r, const size_t width[N_FIELDS],
                                struct gpnn_error *err)
{
  struct gpnn_answers *answers = r->answers;
  size_t rows = r->capacity == 0 ? 64 : r->capacity * 2, capacity = r->capacity;
  bool done = gpnn_grow(&answers->ids, &capacity, rows, sizeof *answers->ids);
  for (size_t f = 0; f < N_FIELDS && done; f++) {
    size_t numbers = 0, have = r->capacity * width[f];
    if (!r->has_column[f]) continue;
    double **array = array_of(answers, &fields[f]);
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
  const struct field *field = &fields[f];
  double *to = *array_of(r->answers, field) + r->answers->n * width;
  for (size_t j = 0; j < width; j++) {
    const size_t column = r->column[f] + j;
    enum gpnn_status status = gpnn_columns_number(r->table, record, column, &to[j], err);
    if (status != GPNN_OK) return status;
    if (field->range == NOT_NEGATIVE && to[j] < 0)
      return gpnn_columns_fail_field(r->table, record, column, "a variance that is negative", true,
                                     err);
    if (field->range == POSITIVE && !(to[j] > 0))
      return gpnn_columns_fail_field(r->table, record, column, "a variance that is not positive",
                                     true, err);
  }
  return GPNN_OK;
}

static enum gpnn_status read_row(struct reading *r, const struct gpnn_record *record,
                                 const size_t width[N_FIELDS], struct gpnn_error *err)
{
  struct gpnn_answers *answers = r->answers;
  const struct gpnn_field id = record->fields[0];
  enum gpnn_status status = gpnn_columns_present(r->table, record, 0, err);
  if (status == GPNN_OK && answers->n == r->capacity) status = reserve(r, width, err);
  for (size_t f = 0; f < N_FIELDS && status == GPNN_OK; f++)
    if (r->has_column[f]) status = read_field(r, record, f, width[f], err);
  if (status != GPNN_OK) return status;
  answers->ids[answers->n] = gpnn_copy_text(id.text, id.length);
  if (answers->ids[answers->n] == NULL) return gpnn_fail_memory(err, "for answers");
  answers->n++;
  return GPNN_OK;
}

/* A matrix has as many columns as there are answers. */
static enum gpnn_status check_widths(const struct reading *r, const size_t width[N_FIELDS],
                                     struct gpnn_error *err)
{
  const size_t n = r->answers->n;
  for (size_t f = 0; f < N_FIELDS; f++) {
    const struct field *field = &fields[f];
    if (!field->is_matrix || width[f] == n || !tells(r->answers->report, field)) continue;
    if (!r->has_column[f] && field->is_optional) continue;
    return gpnn_fail(err, GPNN_EDATA,
                     "%s: has %zu answers, but %zu columns '%s...': rows or columns are missing",
                     gpnn_table_name(r->table), n, width[f], field->name);
  }
  return GPNN_OK;
}

static enum gpnn_status read_rows(struct reading *r, struct gpnn_error *err)
{
  size_t width[N_FIELDS];
  struct gpnn_record record;
  for (size_t f = 0; f < N_FIELDS; f++) width[f] = r->has_column[f] ? find_width(r, f) : 0;
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
  const double *a = *array_of(r->answers, &fields[f]);
  double largest = 0;
  for (size_t i = 0; i < n * n; i++) largest = fmax(largest, fabs(a[i]));
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      if (!(fabs(a[i * n + j] - a[j * n + i]) <= most_asymmetry * largest))
        return gpnn_fail(err, GPNN_EDATA,
                         "%s: the matrix of columns '%s...' is not symmetric: rows %zu and %zu",
                         gpnn_table_name(r->table), fields[f].name, j + 1, i + 1);
  return GPNN_OK;
}

static enum gpnn_status read_table(struct reading *r, struct gpnn_error *err)
{
  enum gpnn_status status = read_comments(r, err);
  if (status == GPNN_OK) status = find_columns(r, err);
  if (status == GPNN_OK) status = read_rows(r, err);
  if (status == GPNN_OK) status = check_ids(r, err);
  for (size_t f = 0; f < N_FIELDS && status == GPNN_OK; f++)
    if (r->has_column[f] && fields[f].is_matrix) status = check_symmetry(r, f, err);
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
