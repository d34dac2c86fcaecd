/*
 * Predictions of classes: their columns, the names of the classes, and rows.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "table/columns.h"
#include "table/table_private.h"

struct gpnn_predictions_classes {
  size_t label;
  struct gpnn_column names; /* its levels are the classes */
  struct gpnn_level_order order;
  size_t n_p;  /* columns p_NAME */
  size_t *p;   /* owned; they */
  double *row; /* owned; their values in the row last read */
  size_t n_top;
  struct top {
    size_t label, probability;
  } * top; /* owned; columns of the most probable classes, n_top of them */
  bool has_logp;
  size_t logp;
};

/* ---- names -------------------------------------------------------------------------------- */

size_t gpnn_predictions_n_classes(const struct gpnn_predictions_classes *classes)
{
  return classes->names.n_levels;
}

size_t gpnn_predictions_n_probabilities(const struct gpnn_predictions_classes *classes)
{
  return classes->n_p;
}

bool gpnn_predictions_has_top(const struct gpnn_predictions_classes *classes)
{
  return classes->n_p > 0 || classes->n_top > 0;
}

struct gpnn_field gpnn_predictions_class_name(const struct gpnn_predictions_classes *classes,
                                              size_t c)
{
  return (struct gpnn_field){classes->names.levels[c], classes->names.level_lengths[c]};
}

size_t gpnn_predictions_class_at(const struct gpnn_predictions_classes *classes, size_t i)
{
  return gpnn_schema_level_at(&classes->order, i);
}

void gpnn_predictions_free_classes(struct gpnn_predictions_classes *classes)
{
  if (classes == NULL) return;
  for (size_t c = 0; c < classes->names.n_levels; c++) free(classes->names.levels[c]);
  free(classes->names.levels);
  free(classes->names.level_lengths);
  free(classes->order.keys);
  free(classes->p);
  free(classes->row);
  free(classes->top);
  free(classes);
}

/* ---- columns ------------------------------------------------------------------------------ */

/* True if column 'j' is p_NAME of the target; 'class' is the part that names the class. */
static bool is_probability(const struct gpnn_table *table, size_t j, const char *target,
                           struct gpnn_field *class)
{
  const char *name = gpnn_table_column(table, j);
  return gpnn_predictions_strip(name, "p_", target, &class->text, &class->length) &&
         class->length > 0;
}

static enum gpnn_status add_probability(struct gpnn_predictions_classes *c,
                                        const struct gpnn_table *table, size_t j,
                                        const struct gpnn_field *class, struct gpnn_error *err)
{
  const struct gpnn_values *values = gpnn_table_values(table);
  char name[GPNN_COLUMN_BYTES], other[GPNN_COLUMN_BYTES];
  size_t same;
  if (gpnn_schema_find_level(&c->names, &c->order, values, class, &same))
    return gpnn_fail(err, GPNN_EDATA, "%s: %s and %s have probabilities of the same class",
                     gpnn_table_name(table), gpnn_columns_describe(table, c->p[same], other),
                     gpnn_columns_describe(table, j, name));
  if (c->n_p == GPNN_LEVELS_MAX)
    return gpnn_fail(err, GPNN_EDATA, "%s: probabilities of more than %d classes",
                     gpnn_table_name(table), GPNN_LEVELS_MAX);
  c->p[c->n_p++] = j;
  return gpnn_schema_add_level(&c->names, &c->order, values, class, err);
}

/* Finds all p_NAME between the label and column 'end'. */
static enum gpnn_status find_probabilities(struct gpnn_predictions_classes *c, const char *target,
                                           const struct gpnn_table *table, size_t end,
                                           struct gpnn_error *err)
{
  size_t n = end - c->label;
  struct gpnn_field class;
  enum gpnn_status status = GPNN_OK;
  c->p = gpnn_alloc(n, 1, sizeof *c->p);
  c->row = gpnn_alloc(n, 1, sizeof *c->row);
  if (c->p == NULL || c->row == NULL) return gpnn_fail_memory(err, "for the classes");
  for (size_t j = c->label + 1; j < end && status == GPNN_OK; j++)
    if (is_probability(table, j, target, &class))
      status = add_probability(c, table, j, &class, err);
  return status;
}

/* Finds label and probability, label2 and probability2 ... */
static enum gpnn_status find_top(struct gpnn_predictions_classes *c, const char *target,
                                 const struct gpnn_table *table, struct gpnn_error *err)
{
  enum gpnn_status status;
  struct top next = {.label = c->label};
  char rank[24] = "";
  c->top = gpnn_alloc(gpnn_table_columns(table), 1, sizeof *c->top);
  if (c->top == NULL) return gpnn_fail_memory(err, "for the classes");
  for (;;) {
    size_t n = strlen(rank), after = c->label + 1;
    status = n == 0 ? GPNN_OK
                    : gpnn_predictions_find_affixed(table, after, "label", rank, n, target,
                                                    &next.label, err);
    if (status == GPNN_OK)
      status = gpnn_predictions_find_affixed(table, after, "probability", rank, n, target,
                                             &next.probability, err);
    if (status != GPNN_OK) break;
    c->top[c->n_top++] = next;
    snprintf(rank, sizeof rank, "%zu", c->n_top + 1);
  }
  if (status == GPNN_END)
    status =
        gpnn_predictions_find_affixed(table, c->label + 1, "logp", "", 0, target, &c->logp, err);
  c->has_logp = status == GPNN_OK;
  return status == GPNN_END ? GPNN_OK : status;
}

enum gpnn_status gpnn_predictions_find_classes(struct gpnn_predictions_target *target,
                                               const struct gpnn_table *table, size_t label,
                                               struct gpnn_error *err)
{
  struct gpnn_predictions_classes *c = gpnn_alloc(1, 1, sizeof *c);
  size_t end = label + 1, n_columns = gpnn_table_columns(table);
  if (c == NULL) return gpnn_fail_memory(err, "for the classes");
  target->classes = c;
  c->label = label;
  /* p_a_b may be of class a and target b, or of class a_b: it belongs to the label before it. */
  while (end < n_columns && (target->name == NULL || !gpnn_predictions_is_target(table, end)))
    end++;
  enum gpnn_status status = find_probabilities(c, target->name, table, end, err);
  return status != GPNN_OK || c->n_p > 0 ? status : find_top(c, target->name, table, err);
}

bool gpnn_predictions_are_classes(const struct gpnn_table *table, size_t *label)
{
  size_t n = gpnn_table_columns(table), found = SIZE_MAX;
  bool has_probabilities = false, has_mean = false, has_mean_after = false;
  struct gpnn_field class;
  for (size_t j = 0; j < n; j++) {
    const char *name = gpnn_table_column(table, j);
    bool is_label = strcmp(name, "label") == 0;
    bool is_mean = strcmp(name, "mean") == 0 || gpnn_predictions_is_target(table, j);
    if (is_label) found = j; /* one before it may be the truth */
    has_mean = has_mean || is_mean;
    has_mean_after = !is_label && (has_mean_after || is_mean);
    has_probabilities = !is_label && (has_probabilities || is_probability(table, j, NULL, &class) ||
                                      strcmp(name, "probability") == 0);
  }
  *label = found;
  return found != SIZE_MAX && (has_probabilities ? !has_mean_after : !has_mean);
}

/* ---- rows --------------------------------------------------------------------------------- */

/* Finds the class that a field names, which may be a new one. */
static enum gpnn_status read_class(struct gpnn_predictions_classes *c,
                                   const struct gpnn_table *table, const struct gpnn_record *record,
                                   size_t column, uint32_t *class, struct gpnn_error *err)
{
  const struct gpnn_values *values = gpnn_table_values(table);
  const struct gpnn_field *field = &record->fields[column];
  size_t number = 0;
  enum gpnn_status status = GPNN_OK;
  if (!gpnn_schema_find_level(&c->names, &c->order, values, field, &number)) {
    number = c->names.n_levels;
    if (number == GPNN_LEVELS_MAX)
      return gpnn_columns_fail_field(table, record, column,
                                     "has more than 1000 different values: does it hold classes?",
                                     false, err);
    status = gpnn_schema_add_level(&c->names, &c->order, values, field, err);
  }
  if (status == GPNN_OK) *class = (uint32_t)number;
  return status;
}

bool gpnn_predictions_is_missing(const struct gpnn_predictions_target *target,
                                 const struct gpnn_table *table, const struct gpnn_record *record)
{
  size_t column = target->classes == NULL ? target->mean : target->classes->label;
  return gpnn_field_is_missing(table, &record->fields[column]);
}

static bool is_missing(const struct gpnn_predictions_target *t, const struct gpnn_table *table,
                       const struct gpnn_record *record)
{
  const struct gpnn_predictions_classes *c = t->classes;
  bool missing = gpnn_field_is_missing(table, &record->fields[t->truth]) ||
                 gpnn_field_is_missing(table, &record->fields[c->label]);
  for (size_t i = 0; i < c->n_p && !missing; i++)
    missing = gpnn_field_is_missing(table, &record->fields[c->p[i]]);
  return missing;
}

/* The most probable of the classes that the row names. */
static enum gpnn_status read_top(struct gpnn_predictions_classes *c, const struct gpnn_table *table,
                                 const struct gpnn_record *record,
                                 struct gpnn_predictions_class_row *row, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < c->n_top && status == GPNN_OK; i++) {
    const struct top *top = &c->top[i];
    double p;
    if (gpnn_field_is_missing(table, &record->fields[top->label]) ||
        gpnn_field_is_missing(table, &record->fields[top->probability]))
      continue;
    status = gpnn_columns_number(table, record, top->probability, &p, err);
    if (status != GPNN_OK || p <= row->top_probability) continue;
    row->top_probability = p;
    status = read_class(c, table, record, top->label, &row->top, err);
  }
  if (status == GPNN_OK && c->has_logp)
    status = gpnn_predictions_read_infinite(table, record, c->logp, NAN, &row->logp, err);
  return status;
}

enum gpnn_status gpnn_predictions_read_class(struct gpnn_predictions_target *target,
                                             const struct gpnn_table *table,
                                             const struct gpnn_record *record,
                                             struct gpnn_predictions_class_row *row,
                                             struct gpnn_error *err)
{
  struct gpnn_predictions_classes *c = target->classes;
  struct gpnn_predictions_class_row r = {.top_probability = NAN, .logp = NAN};
  if (is_missing(target, table, record)) return GPNN_END;
  enum gpnn_status status = read_class(c, table, record, target->truth, &r.truth, err);
  if (status == GPNN_OK) status = read_class(c, table, record, c->label, &r.label, err);
  for (size_t i = 0; i < c->n_p && status == GPNN_OK; i++)
    status = gpnn_columns_number(table, record, c->p[i], &c->row[i], err);
  if (status == GPNN_OK) status = read_top(c, table, record, &r, err);
  if (c->n_p > 0) r.p = c->row;
  if (status == GPNN_OK) *row = r;
  return status;
}
