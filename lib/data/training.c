#include "data/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "data/columns.h"

enum { CALIBRATION_ROWS = 1000, LEAST_ROWS = 2 };

enum gpnn_status gpnn_training_begin(struct gpnn_training *training, const struct gpnn_table *table,
                                     const struct gpnn_roles *roles, struct gpnn_error *err)
{
  struct gpnn_schema *schema = &training->contents.schema;
  enum gpnn_status status = gpnn_schema_choose(schema, table, roles, err);
  if (status == GPNN_OK) status = gpnn_schema_match(schema, table, &training->map, err);
  training->n_others = schema->n_more + schema->n_regressors + schema->has_noise;
  return status;
}

/* Reads the columns of a row that are neither input nor the first target. */
static enum gpnn_status read_others(const struct gpnn_training *training,
                                    const struct gpnn_table *table,
                                    const struct gpnn_record *record, const char *na,
                                    double *others, struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &training->contents.schema;
  const struct gpnn_columns_map *map = &training->map;
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < schema->n_more && status == GPNN_OK; t++)
    status = gpnn_columns_number(table, record, map->more[t], na, others++, err);
  for (size_t j = 0; j < schema->n_regressors && status == GPNN_OK; j++)
    status = gpnn_columns_number(table, record, map->regressors[j], na, others++, err);
  if (status == GPNN_OK && schema->has_noise)
    status = gpnn_schema_noise(map, table, record, na, others, err);
  return status;
}

/* Reads one record into the next row, which is not counted before all of it is good. */
static enum gpnn_status read_row(struct gpnn_training *training, struct gpnn_table *table,
                                 const char *na, struct gpnn_error *err)
{
  struct gpnn_schema *schema = &training->contents.schema;
  struct gpnn_record record;
  enum gpnn_status status = gpnn_table_next(table, &record, err);
  if (status != GPNN_OK) return status;
  size_t row = training->n * schema->n_inputs, others = training->n * training->n_others;
  if (!gpnn_grow(&training->cells, &training->cells_capacity, row + schema->n_inputs,
                 sizeof *training->cells) ||
      !gpnn_grow(&training->y, &training->y_capacity, training->n + 1, sizeof *training->y) ||
      !gpnn_grow(&training->others, &training->others_capacity, others + training->n_others,
                 sizeof *training->others))
    return gpnn_fail_memory(err, "for the training rows");
  status =
      gpnn_columns_number(table, &record, training->map.target, na, &training->y[training->n], err);
  if (status == GPNN_OK && training->n_others > 0)
    status = read_others(training, table, &record, na, training->others + others, err);
  if (status == GPNN_OK)
    status =
        gpnn_schema_learn(schema, &training->map, table, &record, na, training->cells + row, err);
  if (status == GPNN_OK) training->n++;
  return status;
}

enum gpnn_status gpnn_training_next(struct gpnn_training *training, struct gpnn_table *table,
                                    const char *na, bool skip_bad, struct gpnn_error *err)
{
  enum gpnn_status status = read_row(training, table, na, err);
  if (status != GPNN_EDATA || !skip_bad) return status;
  training->contents.n_skipped++;
  return GPNN_OK;
}

/* Turns categories and points into features; the cells become rows of these. */
static enum gpnn_status expand(struct gpnn_training *training, struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &training->contents.schema;
  size_t n_features = gpnn_schema_features(schema);
  bool all_numbers = true;
  for (size_t j = 0; j < schema->n_inputs; j++)
    all_numbers = all_numbers && schema->inputs[j].kind == GPNN_COLUMN_NUMBER;
  if (all_numbers) return GPNN_OK;
  double *features = gpnn_alloc(training->n, n_features, sizeof *features);
  if (features == NULL) return gpnn_fail_memory(err, "for the training rows");
  for (size_t i = 0; i < training->n; i++)
    gpnn_schema_expand(schema, training->cells + i * schema->n_inputs, features + i * n_features);
  free(training->cells);
  training->cells = features;
  return GPNN_OK;
}

/* Copies the rows drawn to 'held', in the order drawn, so that the first few of them are a random
 * sample too, and closes the gaps they leave among 'n' rows of 'width' values. */
static void move_out(size_t n, size_t width, double *values, size_t c, const uint64_t *drawn,
                     const bool *is_drawn, double *held)
{
  if (width == 0) return;
  for (size_t i = 0; i < c; i++)
    memcpy(held + i * width, values + drawn[i] * width, width * sizeof *values);
  size_t kept = 0;
  for (size_t i = 0; i < n; i++)
    if (!is_drawn[i]) memmove(values + kept++ * width, values + i * width, width * sizeof *values);
}

static enum gpnn_status hold_out(struct gpnn_training *training, size_t c, size_t width,
                                 uint64_t seed, struct gpnn_error *err)
{
  uint64_t *drawn = gpnn_alloc(c, 1, sizeof *drawn);
  bool *is_drawn = gpnn_alloc(training->n, 1, sizeof *is_drawn);
  training->calibration_x = gpnn_alloc(c, width, sizeof *training->calibration_x);
  training->calibration_y = gpnn_alloc(c, 1, sizeof *training->calibration_y);
  training->calibration_others =
      gpnn_alloc(c, training->n_others, sizeof *training->calibration_others);
  enum gpnn_status status = GPNN_OK;
  if (drawn == NULL || is_drawn == NULL || training->calibration_x == NULL ||
      training->calibration_y == NULL || training->calibration_others == NULL)
    status = gpnn_fail_memory(err, "for the calibration rows");
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_HOLD_OUT);
  if (status == GPNN_OK) status = gpnn_rng_sample(&rng, training->n, c, drawn, err);
  if (status == GPNN_OK) {
    size_t n = training->n;
    for (size_t i = 0; i < c; i++) is_drawn[drawn[i]] = true;
    move_out(n, width, training->cells, c, drawn, is_drawn, training->calibration_x);
    move_out(n, 1, training->y, c, drawn, is_drawn, training->calibration_y);
    move_out(n, training->n_others, training->others, c, drawn, is_drawn,
             training->calibration_others);
    training->n -= c;
    training->contents.n_calibration = c;
  }
  free(drawn);
  free(is_drawn);
  return status;
}

/* Standardises rows where they are: a row never grows, so writing never overtakes reading. */
static void standardise(const struct gpnn_standard *standard, size_t n, double *x, double *y,
                        double *row)
{
  for (size_t i = 0; i < n; i++) {
    gpnn_standard_apply(standard, x + i * standard->n_in, row);
    memcpy(x + i * standard->n_out, row, standard->n_out * sizeof *row);
    y[i] = (y[i] - standard->y_mean) / standard->y_sd;
  }
}

/* ---- columns that are no inputs ---- */

/* Puts the other columns of 'n' rows where they belong: further targets and noise one column after
 * another, noise once for every target; regressors by rows. */
static enum gpnn_status part(const struct gpnn_schema *schema, size_t n, const double *others,
                             struct gpnn_training_columns *parts, struct gpnn_error *err)
{
  size_t n_more = schema->n_more, r = schema->n_regressors;
  size_t n_others = n_more + r + schema->has_noise;
  parts->more = gpnn_alloc(n_more, n, sizeof *parts->more);
  parts->regressors = gpnn_alloc(n, r, sizeof *parts->regressors);
  parts->noise = gpnn_alloc(schema->has_noise ? n_more + 1 : 0, n, sizeof *parts->noise);
  if (parts->more == NULL || parts->regressors == NULL || parts->noise == NULL)
    return gpnn_fail_memory(err, "for the training rows");
  for (size_t i = 0; i < n; i++) {
    const double *row = others + i * n_others;
    for (size_t t = 0; t < n_more; t++) parts->more[t * n + i] = row[t];
    for (size_t j = 0; j < r; j++) parts->regressors[i * r + j] = row[n_more + j];
    for (size_t t = 0; t <= n_more && schema->has_noise; t++)
      parts->noise[t * n + i] = row[n_more + r];
  }
  return GPNN_OK;
}

/* Says which column a mistake in the data is about. */
static enum gpnn_status name_column(const struct gpnn_column *column, enum gpnn_status status,
                                    struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  if (status != GPNN_EDATA) return status;
  return gpnn_prefix(err, status, "column '%s'",
                     gpnn_mask(shown, column->name, strlen(column->name)));
}

/* Standardises the other columns of 'n' rows by what was learnt; regressors of training rows are
 * standardised already. */
static void apply_others(const struct gpnn_standard *standard, size_t n, bool with_regressors,
                         bool has_noise, struct gpnn_training_columns *parts)
{
  size_t n_noises = has_noise ? standard->n_more + 1 : 0;
  for (size_t t = 0; t < standard->n_more; t++) {
    struct gpnn_moments y = standard->more[t];
    for (size_t i = 0; i < n; i++)
      parts->more[t * n + i] = (parts->more[t * n + i] - y.mean) / y.sd;
  }
  for (size_t t = 0; t < n_noises; t++) {
    double sd = t == 0 ? standard->y_sd : standard->more[t - 1].sd;
    for (size_t i = 0; i < n; i++) parts->noise[t * n + i] = parts->noise[t * n + i] / sd / sd;
  }
  for (size_t i = 0; i < n && with_regressors; i++)
    gpnn_standard_apply_regressors(standard, parts->regressors + i * standard->n_regressors);
}

static enum gpnn_status learn_others(struct gpnn_training *training, struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &training->contents.schema;
  struct gpnn_standard *standard = &training->contents.standard;
  size_t n = training->n, c = training->contents.n_calibration, at = 0;
  enum gpnn_status status = part(schema, n, training->others, &training->kept, err);
  if (status == GPNN_OK)
    status = part(schema, c, training->calibration_others, &training->held, err);
  if (status == GPNN_OK && schema->n_more > 0) {
    status = gpnn_standard_learn_more(standard, n, schema->n_more, training->kept.more, &at, err);
    if (status != GPNN_OK) return name_column(&schema->more[at], status, err);
  }
  if (status == GPNN_OK && schema->n_regressors > 0) {
    status = gpnn_standard_learn_regressors(standard, n, schema->n_regressors,
                                            training->kept.regressors, &at, err);
    if (status != GPNN_OK) return name_column(&schema->regressors[at], status, err);
  }
  if (status != GPNN_OK) return status;
  apply_others(standard, n, false, schema->has_noise, &training->kept);
  apply_others(standard, c, schema->n_regressors > 0, schema->has_noise, &training->held);
  free(training->others);
  free(training->calibration_others);
  training->others = training->calibration_others = NULL;
  return GPNN_OK;
}

/* Finds the row that contributes most to the variance of standardised target number 'target'. */
static void find_outlier(struct gpnn_training *training, size_t target, const double *y)
{
  const struct gpnn_standard *standard = &training->contents.standard;
  struct gpnn_moments of = {standard->y_mean, standard->y_sd};
  if (target > 0) of = standard->more[target - 1];
  double farthest = 0;
  for (size_t i = 0; i < training->n; i++)
    if (fabs(y[i]) > fabs(farthest)) farthest = y[i];
  double share = farthest * farthest / (double)training->n;
  if (target > 0 && share <= training->largest_share) return;
  training->largest_share = share;
  training->outlier = of.mean + of.sd * farthest;
  training->outlier_target = target;
}

static enum gpnn_status learn(struct gpnn_training *training,
                              const struct gpnn_training_options *options, size_t width,
                              struct gpnn_error *err)
{
  struct gpnn_index_contents *contents = &training->contents;
  struct gpnn_standard *standard = &contents->standard;
  struct gpnn_feature *features = gpnn_alloc(width, 1, sizeof *features);
  if (features == NULL) return gpnn_fail_memory(err, "for the features");
  gpnn_schema_groups(&contents->schema, features);
  enum gpnn_status status =
      gpnn_standard_learn(standard, options->standardise, options->whiten_eps, training->n, width,
                          features, training->cells, training->y, err);
  free(features);
  if (status != GPNN_OK) return status;
  double *row = gpnn_alloc(standard->n_out, 1, sizeof *row);
  if (row == NULL) return gpnn_fail_memory(err, "for a row");
  standardise(standard, training->n, training->cells, training->y, row);
  standardise(standard, contents->n_calibration, training->calibration_x, training->calibration_y,
              row);
  free(row);
  status = learn_others(training, err);
  if (status != GPNN_OK) return status;
  find_outlier(training, 0, training->y);
  for (size_t t = 0; t < standard->n_more; t++)
    find_outlier(training, t + 1, training->kept.more + t * training->n);
  return GPNN_OK;
}

static enum gpnn_status finish(struct gpnn_training *training,
                               const struct gpnn_training_options *options, struct gpnn_error *err)
{
  size_t tenth = training->n / 10, c = options->calibration_rows;
  if (options->default_calibration) c = tenth < CALIBRATION_ROWS ? tenth : CALIBRATION_ROWS;
  if (training->n < LEAST_ROWS || c > training->n - LEAST_ROWS)
    return gpnn_fail(err, GPNN_EDATA, "%zu rows are too few to train on%s", training->n,
                     c > 0 ? " and to hold out rows for calibration" : "");
  size_t width = gpnn_schema_features(&training->contents.schema);
  enum gpnn_status status = expand(training, err);
  if (status == GPNN_OK) status = hold_out(training, c, width, options->seed, err);
  if (status == GPNN_OK) status = learn(training, options, width, err);
  return status;
}

/* Columns that no row has are NULL in the contents. */
static void take_others(struct gpnn_training *training)
{
  struct gpnn_index_contents *contents = &training->contents;
  const struct gpnn_schema *schema = &contents->schema;
  contents->n_more = schema->n_more;
  contents->n_regressors = schema->n_regressors;
  if (schema->n_more > 0) {
    contents->more = training->kept.more;
    contents->calibration_more = training->held.more;
  }
  if (schema->n_regressors > 0) {
    contents->regressors = training->kept.regressors;
    contents->calibration_regressors = training->held.regressors;
  }
  if (schema->has_noise) {
    contents->noise = training->kept.noise;
    contents->calibration_noise = training->held.noise;
  }
}

enum gpnn_status gpnn_training_finish(struct gpnn_training *training,
                                      const struct gpnn_training_options *options,
                                      const char *table_name, struct gpnn_error *err)
{
  enum gpnn_status status = finish(training, options, err);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "%s", table_name);
  struct gpnn_index_contents *contents = &training->contents;
  contents->n = training->n;
  contents->d = contents->standard.n_out;
  contents->x = training->cells;
  contents->y = training->y;
  contents->calibration_x = training->calibration_x;
  contents->calibration_y = training->calibration_y;
  take_others(training);
  contents->seed = options->seed;
  return GPNN_OK;
}

static void release_columns(struct gpnn_training_columns *columns)
{
  free(columns->more);
  free(columns->regressors);
  free(columns->noise);
}

void gpnn_training_release(struct gpnn_training *training)
{
  gpnn_schema_release(&training->contents.schema);
  gpnn_standard_release(&training->contents.standard);
  gpnn_columns_map_release(&training->map);
  free(training->cells);
  free(training->y);
  free(training->calibration_x);
  free(training->calibration_y);
  free(training->others);
  free(training->calibration_others);
  release_columns(&training->kept);
  release_columns(&training->held);
  memset(training, 0, sizeof *training);
}
