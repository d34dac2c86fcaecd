#include "explain/axis.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/number.h"
#include "dataset/missing.h"
#include "linalg/arrays.h"
#include "stats/moments.h"
#include "table/schema.h"

static const struct gpnn_column *input_of(const struct gpnn_axis *axis)
{
  return &axis->view->schema.inputs[axis->view->coordinates[axis->place].input];
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* Numbers by value, before other texts by their bytes. */
static bool comes_before(const struct gpnn_column *column, size_t a, size_t b)
{
  double left, right;
  bool is_left =
      gpnn_number_read(column->levels[a], column->level_lengths[a], &left) == GPNN_NUMBER_OK;
  bool is_right =
      gpnn_number_read(column->levels[b], column->level_lengths[b], &right) == GPNN_NUMBER_OK;
  if (is_left && is_right) return left < right;
  if (is_left != is_right) return is_left;
  return strcmp(column->levels[a], column->levels[b]) < 0;
}

static void rank_levels(struct gpnn_axis *axis, const struct gpnn_column *column)
{
  for (size_t l = 0; l < axis->n_levels; l++) {
    size_t at = l;
    for (; at > 0 && comes_before(column, l, axis->level[at - 1]); at--)
      axis->level[at] = axis->level[at - 1];
    axis->level[at] = l;
  }
}

/* What a row of each level has. */
static void find_codes(struct gpnn_axis *axis)
{
  size_t n = axis->column->n;
  for (size_t rank = 0; rank < axis->n_levels; rank++) {
    axis->cells[axis->column->input] = (double)axis->level[rank];
    gpnn_schema_expand(&axis->view->schema, axis->cells, axis->features);
    gpnn_scaling_apply(&axis->dataset->scaling, axis->features, axis->z);
    for (size_t c = 0; c < n; c++) axis->codes[rank * n + c] = axis->z[axis->column->coordinate[c]];
  }
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Finds the first standardised input that has the values, and so the kind of the axis. */
static bool find_place(struct gpnn_axis *axis)
{
  const struct gpnn_dataset *view = axis->view;
  size_t input = axis->column->input;
  for (size_t j = 0; j < view->d; j++) {
    size_t own = view->coordinates[j].input;
    if (own < input || view->schema.inputs[own].position != view->schema.inputs[input].position)
      continue;
    const struct gpnn_column *column = &view->schema.inputs[own];
    axis->place = j;
    axis->kind = column->kind == GPNN_COLUMN_CATEGORY   ? GPNN_AXIS_LEVELS
                 : column->kind == GPNN_COLUMN_PERIODIC ? GPNN_AXIS_CIRCLE
                 : column->date != NULL                 ? GPNN_AXIS_DATE
                                                        : GPNN_AXIS_NUMBER;
    axis->period = column->period;
    axis->n_levels = axis->kind == GPNN_AXIS_LEVELS ? column->n_levels : 0;
    return true;
  }
  return false;
}

static enum gpnn_status check_column(const struct gpnn_axis *axis, struct gpnn_error *err)
{
  const struct gpnn_explain_column *column = axis->column;
  if (column->input == SIZE_MAX)
    return gpnn_fail(err, GPNN_EDATA,
                     "column '%s' is a term of the mean function alone: what it does is its "
                     "coefficient",
                     column->name);
  if (axis->view->schema.inputs[column->input].kind == GPNN_COLUMN_LATITUDE)
    return gpnn_fail(err, GPNN_EDATA, "column '%s' is a position, which has no single axis",
                     column->name);
  if (column->n == 0) return gpnn_fail(err, GPNN_EDATA, "column '%s' does not vary", column->name);
  return GPNN_OK;
}

enum gpnn_status gpnn_axis_init(struct gpnn_axis *axis, const struct gpnn_dataset *dataset,
                                const struct gpnn_dataset *view,
                                const struct gpnn_explain_column *column, struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &view->schema;
  *axis = (struct gpnn_axis){
      .dataset = dataset, .view = view, .column = column, .scaling = dataset->scaling};
  for (size_t s = 0; s < GPNN_STEPS; s++) axis->scaling.steps[s] = (struct gpnn_learnt){0};
  enum gpnn_status status = check_column(axis, err);
  if (status != GPNN_OK) return status;
  if (!find_place(axis))
    return gpnn_fail(err, GPNN_EDATA, "column '%s' does not vary", column->name);
  axis->arrays = GPNN_ARRAYS(GPNN_ARRAY(axis->level, axis->n_levels, 1),
                             GPNN_ARRAY(axis->codes, axis->n_levels, column->n),
                             GPNN_ARRAY(axis->cells, schema->n_inputs, 1),
                             GPNN_ARRAY(axis->features, gpnn_schema_features(schema), 1),
                             GPNN_ARRAY(axis->z, gpnn_scaling_width(&dataset->scaling), 1));
  if (axis->arrays == NULL) return gpnn_fail_memory(err, "for the values of a column");
  if (axis->kind != GPNN_AXIS_LEVELS) return GPNN_OK;
  rank_levels(axis, &schema->inputs[column->input]);
  find_codes(axis);
  return GPNN_OK;
}

void gpnn_axis_release(struct gpnn_axis *axis)
{
  gpnn_arrays_free(axis->arrays);
  *axis = (struct gpnn_axis){0};
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Feature of standardised input 'j' of the view in a row, as the steps left it. */
static double feature_of(const struct gpnn_axis *axis, size_t row, size_t j)
{
  const struct gpnn_scaling *scaling = &axis->view->scaling;
  double z = axis->view->x[row * axis->view->d + j];
  return scaling->method == GPNN_SCALING_NONE
             ? z
             : gpnn_scaling_restore_input(scaling, axis->view->coordinates[j].feature, z);
}

/* The rank of the level whose code a row has; NaN: of none. */
static double level_of(const struct gpnn_axis *axis, size_t row)
{
  static const double rounding = 1e-9;
  const double *x = axis->dataset->x + row * axis->dataset->d;
  size_t n = axis->column->n;
  for (size_t rank = 0; rank < axis->n_levels; rank++) {
    double off = 0;
    for (size_t c = 0; c < n; c++)
      off = fmax(off, fabs(x[axis->column->coordinate[c]] - axis->codes[rank * n + c]));
    if (off < rounding) return (double)rank;
  }
  return NAN;
}

static bool lacks(const struct gpnn_axis *axis, size_t row)
{
  const struct gpnn_dataset *view = axis->view;
  size_t bytes = gpnn_lacks_bytes(view->schema.n_inputs);
  return view->lacks != NULL && gpnn_lacks(view->lacks + row * bytes, axis->column->input);
}

double gpnn_axis_value(const struct gpnn_axis *axis, size_t row)
{
  if (lacks(axis, row)) return NAN;
  if (axis->kind == GPNN_AXIS_LEVELS) return level_of(axis, row);
  double value = feature_of(axis, row, axis->place);
  if (axis->kind != GPNN_AXIS_CIRCLE) return value;
  const double turn = 8 * atan(1);
  double angle = atan2(value, feature_of(axis, row, axis->place + 1));
  return axis->period * (angle < 0 ? angle / turn + 1 : angle / turn);
}

double gpnn_axis_shown(const struct gpnn_axis *axis, double value)
{
  if (axis->kind != GPNN_AXIS_NUMBER && axis->kind != GPNN_AXIS_DATE) return value;
  return gpnn_scaling_undo_steps(&axis->view->scaling, axis->view->coordinates[axis->place].feature,
                                 value);
}

const char *gpnn_axis_level(const struct gpnn_axis *axis, size_t rank, size_t *length)
{
  const struct gpnn_column *column = input_of(axis);
  *length = column->level_lengths[axis->level[rank]];
  return column->levels[axis->level[rank]];
}

/* Gives a row a number, of which the scaling makes what the model sees. */
static void set_number(struct gpnn_axis *axis, const struct gpnn_scaling *scaling, double value,
                       double *x)
{
  const struct gpnn_explain_column *column = axis->column;
  const struct gpnn_schema *schema = &axis->view->schema;
  size_t i = column->input;
  do {
    axis->cells[i++] = value;
  } while (i < schema->n_inputs && gpnn_schema_is_repeat(schema, i));
  gpnn_schema_expand(schema, axis->cells, axis->features);
  gpnn_scaling_apply(scaling, axis->features, axis->z);
  for (size_t c = 0; c < column->n; c++) x[column->coordinate[c]] = axis->z[column->coordinate[c]];
}

static void set_regressor(const struct gpnn_axis *axis, double shown, double *regressors)
{
  size_t r = axis->column->regressor;
  if (regressors == NULL || r == SIZE_MAX) return;
  const struct gpnn_moments *moments = &axis->scaling.regressors[r];
  regressors[r] = (shown - moments->mean) / moments->sd;
}

void gpnn_axis_set(struct gpnn_axis *axis, double value, double *x, double *regressors)
{
  const struct gpnn_explain_column *column = axis->column;
  if (axis->kind == GPNN_AXIS_LEVELS) {
    for (size_t c = 0; c < column->n; c++)
      x[column->coordinate[c]] = axis->codes[(size_t)value * column->n + c];
    return;
  }
  set_number(axis, &axis->scaling, value, x);
  set_regressor(axis, gpnn_axis_shown(axis, value), regressors);
}

void gpnn_axis_set_shown(struct gpnn_axis *axis, double shown, double *x, double *regressors)
{
  set_number(axis, &axis->dataset->scaling, shown, x);
  set_regressor(axis, shown, regressors);
}
