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
  size_t row = training->n * schema->n_inputs;
  if (!gpnn_grow(&training->cells, &training->cells_capacity, row + schema->n_inputs,
                 sizeof *training->cells) ||
      !gpnn_grow(&training->y, &training->y_capacity, training->n + 1, sizeof *training->y))
    return gpnn_fail_memory(err, "for the training rows");
  status =
      gpnn_columns_number(table, &record, training->map.target, na, &training->y[training->n], err);
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

/* Expands categories; the cells become rows of features. */
static enum gpnn_status expand(struct gpnn_training *training, struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &training->contents.schema;
  size_t n_features = gpnn_schema_features(schema);
  bool has_category = false;
  for (size_t j = 0; j < schema->n_inputs; j++)
    has_category = has_category || schema->inputs[j].is_category;
  if (!has_category) return GPNN_OK;
  double *features = gpnn_alloc(training->n, n_features, sizeof *features);
  if (features == NULL) return gpnn_fail_memory(err, "for the training rows");
  for (size_t i = 0; i < training->n; i++)
    gpnn_schema_expand(schema, training->cells + i * schema->n_inputs, features + i * n_features);
  free(training->cells);
  training->cells = features;
  return GPNN_OK;
}

/* Copies the rows drawn, in the order drawn, so that the first few of them are a random sample
 * too, and closes the gaps they leave. */
static void move_out(struct gpnn_training *training, size_t width, size_t c, const uint64_t *drawn,
                     bool *is_drawn)
{
  double *cells = training->cells, *y = training->y;
  for (size_t i = 0; i < c; i++) {
    memcpy(training->calibration_x + i * width, cells + drawn[i] * width, width * sizeof *cells);
    training->calibration_y[i] = y[drawn[i]];
    is_drawn[drawn[i]] = true;
  }
  size_t kept = 0;
  for (size_t i = 0; i < training->n; i++) {
    if (is_drawn[i]) continue;
    memmove(cells + kept * width, cells + i * width, width * sizeof *cells);
    y[kept++] = y[i];
  }
  training->n = kept;
}

static enum gpnn_status hold_out(struct gpnn_training *training, size_t c, size_t width,
                                 uint64_t seed, struct gpnn_error *err)
{
  uint64_t *drawn = gpnn_alloc(c, 1, sizeof *drawn);
  bool *is_drawn = gpnn_alloc(training->n, 1, sizeof *is_drawn);
  training->calibration_x = gpnn_alloc(c, width, sizeof *training->calibration_x);
  training->calibration_y = gpnn_alloc(c, 1, sizeof *training->calibration_y);
  enum gpnn_status status = GPNN_OK;
  if (drawn == NULL || is_drawn == NULL || training->calibration_x == NULL ||
      training->calibration_y == NULL)
    status = gpnn_fail_memory(err, "for the calibration rows");
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_HOLD_OUT);
  if (status == GPNN_OK) status = gpnn_rng_sample(&rng, training->n, c, drawn, err);
  if (status == GPNN_OK) {
    move_out(training, width, c, drawn, is_drawn);
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

/* Finds the row that contributes most to the target's variance. */
static void find_outlier(struct gpnn_training *training)
{
  const struct gpnn_standard *standard = &training->contents.standard;
  double farthest = 0;
  for (size_t i = 0; i < training->n; i++)
    if (fabs(training->y[i]) > fabs(farthest)) farthest = training->y[i];
  training->largest_share = farthest * farthest / (double)training->n;
  training->outlier = standard->y_mean + standard->y_sd * farthest;
}

static enum gpnn_status learn(struct gpnn_training *training,
                              const struct gpnn_training_options *options, size_t width,
                              struct gpnn_error *err)
{
  struct gpnn_index_contents *contents = &training->contents;
  struct gpnn_standard *standard = &contents->standard;
  enum gpnn_status status =
      gpnn_standard_learn(standard, options->standardise, options->whiten_eps, training->n, width,
                          training->cells, training->y, err);
  if (status != GPNN_OK) return status;
  double *row = gpnn_alloc(standard->n_out, 1, sizeof *row);
  if (row == NULL) return gpnn_fail_memory(err, "for a row");
  standardise(standard, training->n, training->cells, training->y, row);
  standardise(standard, contents->n_calibration, training->calibration_x, training->calibration_y,
              row);
  free(row);
  find_outlier(training);
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
  contents->seed = options->seed;
  return GPNN_OK;
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
  memset(training, 0, sizeof *training);
}
