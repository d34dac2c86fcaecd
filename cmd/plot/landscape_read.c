#include "cmd/plot/landscape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/list.h"
#include "base/memory.h"
#include "cmd/common/report.h"
#include "table/columns.h"

/* The columns of one metric; SIZE_MAX: there is none. */
struct metric_columns {
  size_t value, se, limit, matched;
};

struct reader {
  size_t rows, varied, at, quantity; /* columns; quantity SIZE_MAX: a metric is a column */
  size_t n_columns;
  struct metric_columns *columns; /* owned */
  struct landscape *l;
  size_t n_left_out;
};

/* ---- columns ------------------------------------------------------------------------------ */

/* The column called 'name' and 'suffix', if there is one. */
static enum gpnn_status find_companion(const struct plot *plot, const char *name,
                                       const char *suffix, size_t *column, struct gpnn_error *err)
{
  size_t bytes = strlen(name) + strlen(suffix) + 1;
  char *whole = malloc(bytes);
  if (whole == NULL) return gpnn_fail_memory(err, "for the name of a column");
  snprintf(whole, bytes, "%s%s", name, suffix);
  if (!plot_has_column(plot, whole, column)) *column = SIZE_MAX;
  free(whole);
  return GPNN_OK;
}

static enum gpnn_status find_metric(const struct plot *plot, size_t column,
                                    struct metric_columns *m, struct gpnn_error *err)
{
  const char *name = gpnn_table_column(plot->table, column);
  m->value = column;
  enum gpnn_status status = find_companion(plot, name, "_se", &m->se, err);
  if (status == GPNN_OK) status = find_companion(plot, name, "_limit", &m->limit, err);
  if (status == GPNN_OK) status = find_companion(plot, name, "_matched", &m->matched, err);
  return status;
}

/* A table with a column per metric, as written by gpnn-simulate limits. */
static enum gpnn_status find_metrics(const struct plot *plot, struct reader *r,
                                     struct gpnn_error *err)
{
  static const char usual[] = "mse,nll,cal";
  size_t *columns = NULL, n = 0;
  const char *list = plot->o->y != NULL ? plot->o->y : usual;
  enum gpnn_status status = gpnn_columns_find_list(plot->table, list, &columns, &n, err);
  if (status != GPNN_OK) return status;
  if (n > LANDSCAPE_NAMES_MAX)
    status = gpnn_fail(err, GPNN_EINVAL, "more than %d metrics", LANDSCAPE_NAMES_MAX);
  else if ((r->columns = gpnn_alloc(n, 1, sizeof *r->columns)) == NULL)
    status = gpnn_fail_memory(err, "for the columns");
  r->n_columns = status == GPNN_OK ? n : 0;
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    status = find_metric(plot, columns[i], &r->columns[i], err);
  free(columns);
  return status;
}

/* Finds a column that no option can name: without it the table is not one that this kind draws, and
 * another command line would not help. */
static enum gpnn_status find_required(const struct plot *plot, const char *name, size_t *column,
                                      struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_columns_find(plot->table, name, column, err);
  if (status != GPNN_EINVAL) return status;
  const struct gpnn_error cause = *err;
  return gpnn_fail(err, GPNN_EMISMATCH, "%s", cause.text);
}

/* A table with one quantity per row, as written by gpnn-simulate risk. */
static enum gpnn_status find_quantity(const struct plot *plot, struct reader *r,
                                      struct gpnn_error *err)
{
  struct metric_columns m = {0, SIZE_MAX, SIZE_MAX, SIZE_MAX};
  enum gpnn_status status = find_required(plot, "value", &m.value, err);
  if (status != GPNN_OK) return status;
  plot_has_column(plot, "se", &m.se);
  r->columns = gpnn_alloc(1, 1, sizeof *r->columns);
  if (r->columns == NULL) return gpnn_fail_memory(err, "for the columns");
  r->columns[0] = m;
  r->n_columns = 1;
  return GPNN_OK;
}

static enum gpnn_status find_columns(const struct plot *plot, struct reader *r,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = find_required(plot, "rows", &r->rows, err);
  if (status == GPNN_OK) status = find_required(plot, "varied", &r->varied, err);
  if (status == GPNN_OK) status = find_required(plot, "at", &r->at, err);
  if (status != GPNN_OK) return status;
  r->quantity = SIZE_MAX;
  return plot_has_column(plot, "quantity", &r->quantity) ? find_quantity(plot, r, err)
                                                         : find_metrics(plot, r, err);
}

/* ---- rows --------------------------------------------------------------------------------- */

/* The index of a name, which is added if it is new. */
static enum gpnn_status number_of(struct landscape_names *names, const char *text, size_t length,
                                  size_t *i, struct gpnn_error *err)
{
  for (*i = 0; *i < names->n; ++*i)
    if (strlen(names->items[*i]) == length && memcmp(names->items[*i], text, length) == 0)
      return GPNN_OK;
  if (names->n == LANDSCAPE_NAMES_MAX)
    return gpnn_fail(err, GPNN_EDATA, "more than %d parameters or quantities", LANDSCAPE_NAMES_MAX);
  names->items[names->n] = gpnn_copy_text(text, length);
  if (names->items[names->n] == NULL) return gpnn_fail_memory(err, "for names");
  names->n++;
  return GPNN_OK;
}

/* True if the list of -y names this quantity. */
static bool is_wanted(const char *list, const struct gpnn_field *quantity)
{
  return list == NULL || gpnn_list_has(list, quantity->text, quantity->length);
}

static enum gpnn_status optional(const struct plot *plot, const struct gpnn_record *record,
                                 size_t column, double *value, struct gpnn_error *err)
{
  *value = NAN;
  return column == SIZE_MAX ? GPNN_OK : plot_number(plot, record, column, value, err);
}

static enum gpnn_status add_value(struct plot *plot, struct reader *r,
                                  const struct gpnn_record *record, const struct metric_columns *m,
                                  struct landscape_value v, struct gpnn_error *err)
{
  const char *name = gpnn_table_column(plot->table, m->value);
  struct gpnn_field field = {name, strlen(name)};
  if (r->quantity != SIZE_MAX) field = record->fields[r->quantity];
  if (r->quantity != SIZE_MAX && !is_wanted(plot->o->y, &field)) return GPNN_OK;
  enum gpnn_status status = plot_number(plot, record, m->value, &v.value, err);
  if (status == GPNN_OK) status = optional(plot, record, m->se, &v.se, err);
  if (status == GPNN_OK) status = optional(plot, record, m->limit, &v.limit, err);
  if (status == GPNN_OK) status = optional(plot, record, m->matched, &v.matched, err);
  if (status != GPNN_OK) return status;
  if (isnan(v.value)) {
    r->n_left_out++;
    return GPNN_OK;
  }
  const struct gpnn_field *varied = &record->fields[r->varied];
  status = number_of(&r->l->parameters, varied->text, varied->length, &v.parameter, err);
  if (status == GPNN_OK)
    status = number_of(&r->l->metrics, field.text, field.length, &v.metric, err);
  if (status != GPNN_OK) return status;
  if (!gpnn_grow(&r->l->values, &r->l->capacity, r->l->n + 1, sizeof *r->l->values))
    return gpnn_fail_memory(err, "for the points of the picture");
  r->l->values[r->l->n++] = v;
  return GPNN_OK;
}

static enum gpnn_status read_row(struct plot *plot, struct reader *r, struct gpnn_error *err)
{
  struct gpnn_record record;
  struct landscape_value v = {0};
  enum gpnn_status status = gpnn_table_next(plot->table, &record, err);
  if (status == GPNN_OK) status = plot_number(plot, &record, r->rows, &v.rows, err);
  if (status == GPNN_OK) status = plot_number(plot, &record, r->at, &v.at, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_field *varied = &record.fields[r->varied];
  bool nothing = varied->length == 1 && varied->text[0] == '-';
  if (isnan(v.rows) || isnan(v.at) || nothing) {
    r->n_left_out++;
    return GPNN_OK;
  }
  for (size_t i = 0; i < r->n_columns && status == GPNN_OK; i++)
    status = add_value(plot, r, &record, &r->columns[i], v, err);
  return status;
}

static int compare_values(const void *a, const void *b)
{
  const struct landscape_value *v = a, *w = b;
  int order = gpnn_compare_sizes(&v->metric, &w->metric);
  if (order == 0) order = gpnn_compare_sizes(&v->parameter, &w->parameter);
  if (order == 0) order = gpnn_compare_doubles(&v->rows, &w->rows);
  return order != 0 ? order : gpnn_compare_doubles(&v->at, &w->at);
}

static enum gpnn_status read_rows(struct plot *plot, struct reader *r, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  while (status == GPNN_OK) status = read_row(plot, r, err);
  if (status != GPNN_END) return status;
  report_left_out(plot->cli, plot->table, r->n_left_out, "a parameter varied or a value");
  if (r->l->n == 0 && r->quantity != SIZE_MAX && plot->o->y != NULL)
    return gpnn_fail(err, GPNN_EDATA, "%s: no row with a value of a quantity in --truth",
                     gpnn_table_name(plot->table));
  if (r->l->n == 0)
    return gpnn_fail(err, GPNN_EDATA,
                     "%s: no row with a value to draw: is a parameter varied (--vary)?",
                     gpnn_table_name(plot->table));
  qsort(r->l->values, r->l->n, sizeof *r->l->values, compare_values);
  return GPNN_OK;
}

/* ---- life --------------------------------------------------------------------------------- */

enum gpnn_status landscape_read(struct landscape *l, struct plot *plot, struct gpnn_error *err)
{
  struct reader r = {.l = l};
  enum gpnn_status status = find_columns(plot, &r, err);
  if (status == GPNN_OK) status = read_rows(plot, &r, err);
  free(r.columns);
  return status;
}

static void release_names(struct landscape_names *names)
{
  for (size_t i = 0; i < names->n; i++) free(names->items[i]);
}

void landscape_release(struct landscape *l)
{
  release_names(&l->parameters);
  release_names(&l->metrics);
  free(l->values);
  *l = (struct landscape){0};
}
