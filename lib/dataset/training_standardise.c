/*
 * Standardising the rows of a training table, block after block.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "dataset/training_private.h"
#include "stats/moments.h"

/* ---- rows as read, as rows of features ---- */

/* Gives the classes of a row, whose first target is at 'y', the numbers of their order. */
static void renumber(const struct gpnn_training_rows *rows, double *y)
{
  for (size_t t = 0; t <= rows->schema->n_more; t++) {
    const double *number = rows->targets[t].number;
    if (number != NULL && !isnan(y[t])) y[t] = number[(size_t)y[t]];
  }
}

/* Writes the features of row number 'row' as read, then its other numbers. */
static void expand(const struct gpnn_training_rows *rows, size_t row, double *expanded)
{
  const double *cells = rows->read + row * rows->width;
  size_t n_inputs = rows->schema->n_inputs;
  if (rows->all_numbers)
    memcpy(expanded, cells, n_inputs * sizeof *cells);
  else
    gpnn_schema_expand(rows->schema, cells, expanded);
  memcpy(expanded + rows->n_features, cells + n_inputs, (rows->width - n_inputs) * sizeof *cells);
  renumber(rows, expanded + rows->n_features);
}

static size_t expanded_width(const struct gpnn_training_rows *rows)
{
  return rows->n_features + rows->width - rows->schema->n_inputs;
}

/* How many rows held out precede number 'row' of those that are not. */
static size_t held_out_before(const struct gpnn_training_rows *rows, size_t row)
{
  size_t low = 0, high = rows->n_held_out;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (rows->held_out[middle] - middle <= row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Evicts a stretch of rows when the next one is entered, which is when that begins among the rows
 * from 'first' up to 'end'.  Threads that still need them read them again. */
static void evict_behind(const struct gpnn_training_rows *rows, size_t first, size_t end)
{
  size_t row_bytes = rows->width * sizeof *rows->read;
  size_t stretch = GPNN_MAPPING_STRIDE / row_bytes + 1, begin = end / stretch * stretch;
  if (begin < first || begin < stretch) return;
  gpnn_mapping_evict(rows->mapping, rows->read + (begin - stretch) * rows->width,
                     stretch * row_bytes);
}

static enum gpnn_status read_expanded(void *context, size_t from, size_t count, double *expanded,
                                      struct gpnn_error *err)
{
  const struct gpnn_training_rows *rows = context;
  size_t numbers[GPNN_ROW_SOURCE_BLOCK], skipped = held_out_before(rows, from);
  size_t width = expanded_width(rows);
  (void)err;
  for (size_t i = 0, row = from + skipped; i < count; row++) {
    if (skipped < rows->n_held_out && rows->held_out[skipped] == row)
      skipped++;
    else
      numbers[i++] = row;
  }
  for (size_t i = 0; i < count; i++) expand(rows, numbers[i], expanded + i * width);
  evict_behind(rows, numbers[0], numbers[count - 1] + 1);
  return GPNN_OK;
}

struct gpnn_row_source gpnn_training_source(struct gpnn_training_rows *rows, size_t n, int threads)
{
  return (struct gpnn_row_source){n, expanded_width(rows), read_expanded, rows, threads};
}

/* ---- the layout of standardised rows ---- */

/* The columns of n standardised rows, one array after another: inputs, by rows; the first target;
 * each further target; regressors, by rows; the noise variances for each target; their offsets and
 * the exposure, which are not standardised.  Before, a row has n_features numbers in place of d. */
struct layout {
  size_t n_features, d, n_more, n_regressors, n_noises, n_offsets, n_exposures;
};

static struct layout layout_of(const struct gpnn_scaling *scaling, const struct gpnn_schema *schema)
{
  return (struct layout){.n_features = gpnn_schema_features(schema),
                         .d = scaling->n_out,
                         .n_more = scaling->n_more,
                         .n_regressors = scaling->n_regressors,
                         .n_noises = schema->has_noise ? scaling->n_more + 1 : 0,
                         .n_offsets = schema->n_offsets,
                         .n_exposures = schema->has_exposure};
}

/* Numbers per row. */
static size_t width_of(const struct layout *layout)
{
  return layout->d + 1 + layout->n_more + layout->n_regressors + layout->n_noises +
         layout->n_offsets + layout->n_exposures;
}

/* Where the arrays of 'n' rows begin. */
static size_t more_at(const struct layout *layout, size_t n)
{
  return n * (layout->d + 1);
}

static size_t regressors_at(const struct layout *layout, size_t n)
{
  return n * (layout->d + 1 + layout->n_more);
}

static size_t noise_at(const struct layout *layout, size_t n)
{
  return n * (layout->d + 1 + layout->n_more + layout->n_regressors);
}

static size_t offset_at(const struct layout *layout, size_t n)
{
  return n * (width_of(layout) - layout->n_exposures - layout->n_offsets);
}

static size_t exposure_at(const struct layout *layout, size_t n)
{
  return n * (width_of(layout) - layout->n_exposures);
}

/* Standardises a row of features and other numbers as number 'i' of 'n' in 'numbers'. */
static void standardise_row(const struct gpnn_scaling *scaling, const struct layout *layout,
                            const double *row, size_t n, size_t i, double *numbers)
{
  const double *y = row + layout->n_features, *regressors = y + 1 + layout->n_more;
  const double *offsets = regressors + layout->n_regressors + (layout->n_noises > 0);
  double *own = numbers + regressors_at(layout, n) + i * layout->n_regressors;
  gpnn_scaling_apply(scaling, row, numbers + i * layout->d);
  numbers[n * layout->d + i] = (y[0] - scaling->y_mean) / scaling->y_sd;
  for (size_t t = 0; t < layout->n_more; t++)
    numbers[more_at(layout, n) + t * n + i] =
        (y[1 + t] - scaling->more[t].mean) / scaling->more[t].sd;
  memcpy(own, regressors, layout->n_regressors * sizeof *own);
  gpnn_scaling_apply_regressors(scaling, own);
  for (size_t t = 0; t < layout->n_noises; t++) {
    double sd = t == 0 ? scaling->y_sd : scaling->more[t - 1].sd;
    numbers[noise_at(layout, n) + t * n + i] =
        gpnn_scaling_variance(regressors[layout->n_regressors], sd);
  }
  for (size_t t = 0; t < layout->n_offsets; t++)
    numbers[offset_at(layout, n) + t * n + i] = offsets[t];
  if (layout->n_exposures > 0) numbers[exposure_at(layout, n) + i] = offsets[layout->n_offsets];
}

/* Writes the arrays of 'count' rows into those of 'n' rows, from row 'from' on. */
static enum gpnn_status write_rows(struct gpnn_spool *spool, const struct layout *layout, size_t n,
                                   size_t from, size_t count, const double *numbers,
                                   struct gpnn_error *err)
{
  size_t d = layout->d, r = layout->n_regressors, n_targets = 1 + layout->n_more;
  enum gpnn_status status = gpnn_spool_write(spool, from * d, count * d, numbers, err);
  for (size_t t = 0; t < n_targets && status == GPNN_OK; t++)
    status = gpnn_spool_write(spool, n * (d + t) + from, count, numbers + count * (d + t), err);
  if (r > 0 && status == GPNN_OK)
    status = gpnn_spool_write(spool, regressors_at(layout, n) + from * r, count * r,
                              numbers + regressors_at(layout, count), err);
  for (size_t t = 0; t < layout->n_noises && status == GPNN_OK; t++)
    status = gpnn_spool_write(spool, noise_at(layout, n) + t * n + from, count,
                              numbers + noise_at(layout, count) + t * count, err);
  for (size_t t = 0; t < layout->n_offsets && status == GPNN_OK; t++)
    status = gpnn_spool_write(spool, offset_at(layout, n) + t * n + from, count,
                              numbers + offset_at(layout, count) + t * count, err);
  if (layout->n_exposures > 0 && status == GPNN_OK)
    status = gpnn_spool_write(spool, exposure_at(layout, n) + from, count,
                              numbers + exposure_at(layout, count), err);
  return status;
}

/* Points the dataset at the arrays of its rows and of those held out; arrays that it lacks are
 * NULL. */
static void set_arrays(struct gpnn_training *training, const struct layout *layout)
{
  struct gpnn_dataset *dataset = &training->dataset;
  const double *rows = training->rows.numbers, *held_out = training->held_out;
  size_t n = dataset->n, c = dataset->n_calibration;
  dataset->d = layout->d;
  dataset->n_more = layout->n_more;
  dataset->n_regressors = layout->n_regressors;
  dataset->x = rows;
  dataset->y = rows + n * layout->d;
  dataset->calibration_x = held_out;
  dataset->calibration_y = held_out + c * layout->d;
  if (layout->n_more > 0) {
    dataset->more = rows + more_at(layout, n);
    dataset->calibration_more = held_out + more_at(layout, c);
  }
  if (layout->n_regressors > 0) {
    dataset->regressors = rows + regressors_at(layout, n);
    dataset->calibration_regressors = held_out + regressors_at(layout, c);
  }
  if (layout->n_noises > 0) {
    dataset->noise = rows + noise_at(layout, n);
    dataset->calibration_noise = held_out + noise_at(layout, c);
  }
  if (layout->n_offsets > 0) {
    dataset->offset = rows + offset_at(layout, n);
    dataset->calibration_offset = held_out + offset_at(layout, c);
  }
  if (layout->n_exposures > 0) {
    dataset->exposure = rows + exposure_at(layout, n);
    dataset->calibration_exposure = held_out + exposure_at(layout, c);
  }
  dataset->mapping = gpnn_spool_mapping(&training->rows);
}

/* ---- the target's outlier ---- */

/* The standardised value of largest magnitude of a target, and how many rows have the target. */
struct extreme {
  double value;
  size_t n;
};

/* Takes a block into the extremes of each target; 'y' has one target after another, NaN where it is
 * missing. */
static void find_extremes(size_t n_targets, size_t count, const double *y, struct extreme *extremes)
{
  for (size_t t = 0; t < n_targets; t++)
    for (size_t i = 0; i < count; i++) {
      double value = y[t * count + i];
      extremes[t].n += isnan(value) ? 0 : 1;
      if (fabs(value) > fabs(extremes[t].value)) extremes[t].value = value;
    }
}

/* Sets the outlier to the row that contributes most to the variance of its target.  Classes have
 * none. */
static void set_outlier(struct gpnn_training *training, const struct extreme *extremes)
{
  const struct gpnn_scaling *scaling = &training->dataset.scaling;
  for (size_t t = 0; t <= scaling->n_more; t++) {
    double value = extremes[t].value, fraction = value * value / (double)extremes[t].n;
    if (training->targets[t].number != NULL || fraction <= training->outlier_fraction) continue;
    double mean = t == 0 ? scaling->y_mean : scaling->more[t - 1].mean;
    double sd = t == 0 ? scaling->y_sd : scaling->more[t - 1].sd;
    training->outlier_fraction = fraction;
    training->outlier = mean + sd * value;
    training->outlier_rows = extremes[t].n;
    training->outlier_target = t;
  }
}

/* ---- all rows ---- */

/* Memory of one thread for a block of rows, before and after. */
struct block {
  double *rows, *numbers;
};

static bool block_alloc(struct block *block, size_t width, const struct layout *layout)
{
  size_t most = gpnn_row_source_block(width);
  block->rows = gpnn_alloc(most, width, sizeof *block->rows);
  block->numbers = gpnn_alloc(most, width_of(layout), sizeof *block->numbers);
  return block->rows != NULL && block->numbers != NULL;
}

/* What the loop over blocks shares. */
struct blocks {
  struct gpnn_training *training;
  const struct gpnn_row_source *source;
  const struct layout *layout;
  struct block *of;         /* owned; one per thread, each allocated when first needed */
  struct extreme *extremes; /* owned; of each target */
};

static size_t count_of(const struct gpnn_row_source *source, size_t from)
{
  size_t most = gpnn_row_source_block(source->width);
  return source->n - from < most ? source->n - from : most;
}

static enum gpnn_status standardise_block(void *context, size_t thread, size_t b,
                                          struct gpnn_error *err)
{
  const struct blocks *blocks = context;
  const struct gpnn_row_source *source = blocks->source;
  struct block *block = &blocks->of[thread];
  size_t from = b * gpnn_row_source_block(source->width), count = count_of(source, from);
  if (block->rows == NULL && !block_alloc(block, source->width, blocks->layout))
    return gpnn_fail_memory(err, "for the training rows");
  enum gpnn_status status = source->read(source->context, from, count, block->rows, err);
  for (size_t i = 0; i < count && status == GPNN_OK; i++)
    standardise_row(&blocks->training->dataset.scaling, blocks->layout,
                    block->rows + i * source->width, count, i, block->numbers);
  if (status != GPNN_OK) return status;
  return write_rows(&blocks->training->rows, blocks->layout, source->n, from, count, block->numbers,
                    err);
}

static enum gpnn_status find_block_extremes(void *context, size_t thread, size_t b,
                                            struct gpnn_error *err)
{
  const struct blocks *blocks = context;
  const struct layout *layout = blocks->layout;
  size_t count = count_of(blocks->source, b * gpnn_row_source_block(blocks->source->width));
  (void)err;
  find_extremes(1 + layout->n_more, count, blocks->of[thread].numbers + count * layout->d,
                blocks->extremes);
  return GPNN_OK;
}

static enum gpnn_status standardise_all(struct gpnn_training *training,
                                        const struct gpnn_row_source *source,
                                        const struct layout *layout, struct gpnn_error *err)
{
  size_t most = gpnn_row_source_block(source->width);
  size_t n_blocks = source->n / most + (source->n % most > 0);
  int threads = gpnn_threads_for(source->threads, n_blocks);
  struct blocks blocks = {training, source, layout,
                          gpnn_alloc((size_t)threads, 1, sizeof *blocks.of),
                          gpnn_alloc(1 + layout->n_more, 1, sizeof *blocks.extremes)};
  enum gpnn_status status = blocks.of == NULL || blocks.extremes == NULL
                                ? gpnn_fail_memory(err, "for the training rows")
                                : gpnn_threads_in_order(threads, n_blocks, standardise_block,
                                                        find_block_extremes, &blocks, err);
  if (status == GPNN_OK) set_outlier(training, blocks.extremes);
  for (int t = 0; blocks.of != NULL && t < threads; t++) {
    free(blocks.of[t].rows);
    free(blocks.of[t].numbers);
  }
  free(blocks.of);
  free(blocks.extremes);
  return status;
}

/* Standardises the rows held out in the order drawn, so that the first few of them are a random
 * sample too. */
static enum gpnn_status standardise_held_out(struct gpnn_training *training,
                                             const struct gpnn_training_rows *rows,
                                             const struct layout *layout, const uint64_t *drawn,
                                             struct gpnn_error *err)
{
  size_t c = rows->n_held_out;
  double *row = gpnn_alloc(expanded_width(rows), 1, sizeof *row);
  training->held_out = gpnn_alloc(c, width_of(layout), sizeof *training->held_out);
  enum gpnn_status status = row == NULL || training->held_out == NULL
                                ? gpnn_fail_memory(err, "for the calibration rows")
                                : GPNN_OK;
  for (size_t i = 0; i < c && status == GPNN_OK; i++) {
    expand(rows, (size_t)drawn[i], row);
    standardise_row(&training->dataset.scaling, layout, row, c, i, training->held_out);
  }
  free(row);
  return status;
}

enum gpnn_status gpnn_training_standardise(struct gpnn_training *training,
                                           const struct gpnn_row_source *source,
                                           const struct gpnn_training_rows *rows,
                                           const uint64_t *drawn, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = &training->dataset;
  const struct layout layout = layout_of(&dataset->scaling, &dataset->schema);
  size_t total;
  if (!gpnn_multiply(dataset->n, width_of(&layout), &total))
    return gpnn_fail_memory(err, "for the training rows");
  enum gpnn_status status = standardise_all(training, source, &layout, err);
  if (status == GPNN_OK) status = standardise_held_out(training, rows, &layout, drawn, err);
  if (status == GPNN_OK) status = gpnn_spool_map(&training->rows, err);
  if (status == GPNN_OK) set_arrays(training, &layout);
  return status;
}
