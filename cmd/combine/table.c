/* Reading predictions of several models, and truths. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/combine/combine.h"
#include "cmd/common/open.h"
#include "cmd/common/table.h"
#include "table/columns.h"

/* The last column of that name, as those carried along come before predictions. */
static size_t find_named(const struct gpnn_table *table, const char *name)
{
  for (size_t j = gpnn_table_columns(table); j-- > 0;)
    if (strcmp(gpnn_table_column(table, j), name) == 0) return j;
  return SIZE_MAX;
}

/* A table without a header has truth, mean, sd and degrees of freedom, as for gpnn-eval. */
static void find_by_position(struct combine_reading *r)
{
  const size_t n = gpnn_table_columns(r->table), at = n == 1 ? 0 : 1;
  r->truth = n == 1 ? SIZE_MAX : 0;
  r->mean = at;
  r->sd = n > 2 ? 2 : SIZE_MAX;
  r->df = SIZE_MAX;
}

static enum gpnn_status find_columns(struct combine_reading *r, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (gpnn_table_has_header(r->table)) {
    r->mean = find_named(r->table, "mean");
    r->sd = find_named(r->table, "sd");
    r->df = find_named(r->table, "df");
    r->truth = r->mean == SIZE_MAX || r->mean == 0 ? SIZE_MAX : r->mean - 1;
    if (r->mean == SIZE_MAX && find_named(r->table, "label") != SIZE_MAX)
      return gpnn_fail(err, GPNN_EMISMATCH,
                       "%s: has predictions of classes, which are not combined",
                       gpnn_table_name(r->table));
    if (r->mean == SIZE_MAX)
      return gpnn_fail(err, GPNN_EINVAL,
                       "%s: has no column 'mean': is it a table of predictions of one target?",
                       gpnn_table_name(r->table));
    if (find_named(r->table, "sample1") != SIZE_MAX)
      return gpnn_fail(err, GPNN_EMISMATCH,
                       "%s: has draws (sample1 ...), which are not combined: predict without "
                       "--samples",
                       gpnn_table_name(r->table));
  } else {
    find_by_position(r);
  }
  r->id = SIZE_MAX;
  if (r->a->id != NULL) status = gpnn_columns_find(r->table, r->a->id, &r->id, err);
  if (status == GPNN_OK && r->truth == r->id) r->truth = SIZE_MAX;
  if (status == GPNN_OK && r->a->truth != NULL)
    status = gpnn_columns_find(r->table, r->a->truth, &r->truth, err);
  return status;
}

static enum gpnn_status read_number(const struct combine_reading *r,
                                    const struct gpnn_record *record, size_t column, double *to,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_columns_optional(r->table, record, column, to, err);
  if (status == GPNN_OK && fabs(*to) > COMBINE_MOST)
    status = gpnn_columns_fail_field(r->table, record, column,
                                     "numbers beyond 1e100 are not combined: use another unit",
                                     true, err);
  return status;
}

/* An infinite number of degrees of freedom may be written as such. */
static enum gpnn_status read_degrees(const struct combine_reading *r,
                                     const struct gpnn_record *record, double *to,
                                     struct gpnn_error *err)
{
  *to = INFINITY;
  if (r->df == SIZE_MAX) return GPNN_OK;
  const struct gpnn_field *field = &record->fields[r->df];
  if (gpnn_field_is_missing(r->table, field)) return GPNN_OK;
  if (field->length == 3 && memcmp(field->text, "inf", 3) == 0) return GPNN_OK;
  enum gpnn_status status = gpnn_columns_number(r->table, record, r->df, to, err);
  if (status == GPNN_OK && !(*to > 2))
    status = gpnn_columns_fail_field(
        r->table, record, r->df, "with degrees of freedom not above 2 there is no sd", true, err);
  return status;
}

static enum gpnn_status grow(struct combine_table *t, struct gpnn_error *err)
{
  double **const arrays[] = {&t->mean, &t->sd, &t->df, &t->truth};
  const size_t rows = t->capacity == 0 ? 1024 : 2 * t->capacity;
  if (t->n < t->capacity) return GPNN_OK;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    size_t capacity = t->capacity;
    if (!gpnn_grow(arrays[i], &capacity, rows, sizeof **arrays[i]))
      return gpnn_fail_memory(err, "for predictions");
  }
  t->capacity = rows;
  return GPNN_OK;
}

static enum gpnn_status read_row(struct combine_table *t, const struct gpnn_record *record,
                                 struct gpnn_error *err)
{
  const struct combine_reading *r = &t->reading;
  const size_t i = t->n;
  enum gpnn_status status = grow(t, err);
  if (status == GPNN_OK) status = read_number(r, record, r->mean, &t->mean[i], err);
  if (status == GPNN_OK) status = read_number(r, record, r->sd, &t->sd[i], err);
  if (status == GPNN_OK) status = read_degrees(r, record, &t->df[i], err);
  if (status == GPNN_OK) status = read_number(r, record, r->truth, &t->truth[i], err);
  if (status == GPNN_OK && t->sd[i] < 0)
    status =
        gpnn_columns_fail_field(r->table, record, r->sd, "a standard deviation below 0", true, err);
  if (status == GPNN_OK && r->id != SIZE_MAX)
    status = gpnn_columns_present(r->table, record, r->id, err);
  if (status == GPNN_OK && r->id != SIZE_MAX)
    status = ids_add(&t->ids, &record->fields[r->id], err);
  if (status != GPNN_OK) return status;
  t->has_sd = t->has_sd || !isnan(t->sd[i]);
  t->n++;
  return GPNN_OK;
}

/* What is to be done once all rows are read. */
static enum gpnn_status end(struct combine_table *t, struct gpnn_error *err)
{
  struct combine_reading *r = &t->reading;
  enum gpnn_status status = GPNN_OK;
  if (r->id != SIZE_MAX)
    status = ids_order(&t->ids, gpnn_table_name(r->table), gpnn_table_column(r->table, r->id), err);
  if (status == GPNN_OK) table_warn_if_torn(r->cli, r->table);
  gpnn_table_close(r->table);
  r->table = NULL;
  t->has_ended = true;
  return status;
}

enum gpnn_status combine_next(struct combine_table *table, size_t most, struct gpnn_error *err)
{
  struct gpnn_record record;
  enum gpnn_status status = GPNN_OK;
  table->before += table->n;
  table->n = 0;
  while (status == GPNN_OK && table->n < most && !table->has_ended) {
    status = gpnn_table_next(table->reading.table, &record, err);
    if (status == GPNN_OK)
      status = read_row(table, &record, err);
    else if (status == GPNN_END)
      status = end(table, err);
  }
  return status;
}

static enum gpnn_status name_target(struct combine_table *t, struct gpnn_error *err)
{
  const struct combine_reading *r = &t->reading;
  if (r->truth == SIZE_MAX) return GPNN_OK;
  const char *name = gpnn_table_has_header(r->table) ? gpnn_table_column(r->table, r->truth) : "y";
  t->target = gpnn_copy_text(name, strlen(name));
  return t->target == NULL ? gpnn_fail_memory(err, "for predictions") : GPNN_OK;
}

enum gpnn_status combine_open(const struct cli *cli, const struct combine_arguments *a,
                              const char *path, struct combine_table *table, struct gpnn_error *err)
{
  *table = (struct combine_table){.name = path, .reading = {.cli = cli, .a = a}};
  enum gpnn_status status = gpnn_table_open(&table->reading.table, path, &cli->table, err);
  if (status == GPNN_OK) status = find_columns(&table->reading, err);
  return status == GPNN_OK ? name_target(table, err) : status;
}

/* ---- the order of the first table ---------------------------------------------------------- */

/* Finds the row of each of the first table's ids; both tables have the same number of rows. */
static enum gpnn_status find_rows(const struct combine_table *first, const struct combine_table *t,
                                  size_t *row, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  for (size_t i = 0; i < first->n; i++) {
    const char *id = first->ids.text[i];
    row[i] = ids_find(&t->ids, id, strlen(id));
    if (row[i] == SIZE_MAX)
      return gpnn_fail(err, GPNN_EDATA, "%s: has no row with the id \"%s\", which %s has", t->name,
                       gpnn_mask(shown, id, strlen(id)), first->name);
  }
  return GPNN_OK;
}

static void put_in_order(size_t n, const size_t *row, double *scratch, double *values)
{
  for (size_t i = 0; i < n; i++) scratch[i] = values[row[i]];
  memcpy(values, scratch, n * sizeof *values);
}

static enum gpnn_status follow_ids(const struct combine_table *first, struct combine_table *t,
                                   struct gpnn_error *err)
{
  size_t *row = gpnn_alloc(t->n, 1, sizeof *row);
  double *scratch = gpnn_alloc(t->n, 1, sizeof *scratch);
  enum gpnn_status status = row == NULL || scratch == NULL
                                ? gpnn_fail_memory(err, "for predictions")
                                : find_rows(first, t, row, err);
  double *const arrays[] = {t->mean, t->sd, t->df, t->truth};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays && status == GPNN_OK; k++)
    put_in_order(t->n, row, scratch, arrays[k]);
  free(row);
  free(scratch);
  return status;
}

/* Truths of one row that differ mean that the tables are about other rows, or another target. */
static enum gpnn_status check_truths(const struct combine_table *first,
                                     const struct combine_table *t, struct gpnn_error *err)
{
  for (size_t i = 0; i < t->n && first->target != NULL && t->target != NULL; i++)
    if (first->truth[i] != t->truth[i] && !(isnan(first->truth[i]) || isnan(t->truth[i])))
      return gpnn_fail(err, GPNN_EDATA,
                       "%s: column '%s': the truth of row %zu is %.10g, but %.10g in %s: are these "
                       "the same rows%s?",
                       t->name, t->target, t->before + i + 1, t->truth[i], first->truth[i],
                       first->name, t->reading.a->id == NULL ? ", in the same order" : "");
  return GPNN_OK;
}

/* Sets '*n' to the number of rows of a table, and reads those that remain. */
static enum gpnn_status count(struct combine_table *t, size_t *n, struct gpnn_error *err)
{
  struct gpnn_record record;
  enum gpnn_status status = GPNN_OK;
  *n = t->before + t->n;
  while (status == GPNN_OK && !t->has_ended) {
    status = gpnn_table_next(t->reading.table, &record, err);
    if (status == GPNN_OK) ++*n;
    if (status == GPNN_END) status = end(t, err);
  }
  return status;
}

static enum gpnn_status refuse_length(struct combine_table *first, struct combine_table *t,
                                      struct gpnn_error *err)
{
  size_t n_first, n;
  enum gpnn_status status = count(first, &n_first, err);
  if (status == GPNN_OK) status = count(t, &n, err);
  if (status != GPNN_OK) return status;
  return gpnn_fail(err, GPNN_EDATA, "%s: has %zu rows, but %s has %zu", t->name, n, first->name,
                   n_first);
}

enum gpnn_status combine_follow(struct combine_table *first, struct combine_table *table,
                                struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (table->n != first->n) return refuse_length(first, table, err);
  if (table->reading.a->id != NULL) status = follow_ids(first, table, err);
  return status == GPNN_OK ? check_truths(first, table, err) : status;
}

void combine_table_release(struct combine_table *table)
{
  gpnn_table_close(table->reading.table);
  free(table->mean);
  free(table->sd);
  free(table->df);
  free(table->truth);
  free(table->target);
  ids_release(&table->ids);
  *table = (struct combine_table){0};
}

/* ---- truths -------------------------------------------------------------------------------- */

/* Where the truth of a record belongs; SIZE_MAX: nowhere. */
static size_t find_place(const struct combine_reading *r, const struct gpnn_record *record,
                         const struct combine_table *first, size_t i)
{
  if (r->id == SIZE_MAX) return i < first->n ? i : SIZE_MAX;
  return ids_find(&first->ids, record->fields[r->id].text, record->fields[r->id].length);
}

static enum gpnn_status read_truths(const struct combine_reading *r,
                                    const struct combine_table *first, double *truth,
                                    struct gpnn_error *err)
{
  struct gpnn_record record;
  enum gpnn_status status = GPNN_OK;
  size_t n = 0;
  for (size_t i = 0; i < first->n; i++) truth[i] = NAN;
  while (status == GPNN_OK) {
    status = gpnn_table_next(r->table, &record, err);
    if (status != GPNN_OK) break;
    const size_t place = find_place(r, &record, first, n++);
    if (place != SIZE_MAX) status = read_number(r, &record, r->truth, &truth[place], err);
  }
  if (status != GPNN_END) return status;
  if (r->id == SIZE_MAX && n != first->n)
    return gpnn_fail(err, GPNN_EDATA, "%s: has %zu rows, but %s has %zu", gpnn_table_name(r->table),
                     n, first->name, first->n);
  return GPNN_OK;
}

/* The column of the predicted target's name, if the table has it, or else the last. */
static enum gpnn_status find_truth(struct combine_reading *r, const struct combine_table *first,
                                   struct gpnn_error *err)
{
  r->id = SIZE_MAX;
  r->truth = first->target == NULL ? SIZE_MAX : find_named(r->table, first->target);
  if (r->truth == SIZE_MAX) r->truth = gpnn_table_columns(r->table) - 1;
  enum gpnn_status status = GPNN_OK;
  if (r->a->truth != NULL) status = gpnn_columns_find(r->table, r->a->truth, &r->truth, err);
  if (status == GPNN_OK && r->a->id != NULL)
    status = gpnn_columns_find(r->table, r->a->id, &r->id, err);
  return status;
}

enum gpnn_status combine_read_truth(const struct cli *cli, const struct combine_arguments *a,
                                    const char *path, const struct combine_table *first,
                                    double **truth, struct gpnn_error *err)
{
  struct combine_reading r = {.cli = cli, .a = a};
  double *read = gpnn_alloc(first->n, 1, sizeof *read);
  enum gpnn_status status = read == NULL ? gpnn_fail_memory(err, "for truths")
                                         : gpnn_table_open(&r.table, path, &cli->table, err);
  if (status == GPNN_OK) status = find_truth(&r, first, err);
  if (status == GPNN_OK) status = read_truths(&r, first, read, err);
  if (status == GPNN_OK) table_warn_if_torn(cli, r.table);
  gpnn_table_close(r.table);
  if (status == GPNN_OK)
    *truth = read;
  else
    free(read);
  return status;
}
