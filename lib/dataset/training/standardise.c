/*
 * Standardising the rows of a training table, block after block.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/threads.h"
#include "dataset/training/layout_private.h"
#include "dataset/training/training_private.h"
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

/* Writes the features of a row as read, then its other numbers. */
static void expand(const struct gpnn_training_rows *rows, const double *cells, double *expanded)
{
  size_t n_inputs = rows->schema->n_inputs;
  gpnn_schema_expand(rows->schema, cells, expanded);
  memcpy(expanded + rows->n_features, cells + n_inputs, (rows->width - n_inputs) * sizeof *cells);
}

/* The same of 'n' rows, whose classes get the numbers of their order. */
static void expand_all(const struct gpnn_training_rows *rows, size_t n, const double *cells,
                       double *expanded)
{
  size_t width = gpnn_training_expanded_width(rows);
  if (rows->all_numbers)
    memcpy(expanded, cells, n * width * sizeof *cells);
  else
    for (size_t i = 0; i < n; i++) expand(rows, cells + i * rows->width, expanded + i * width);
  for (size_t i = 0; i < n && rows->has_classes; i++)
    renumber(rows, expanded + i * width + rows->n_features);
}

size_t gpnn_training_expanded_width(const struct gpnn_training_rows *rows)
{
  return rows->n_features + rows->width - rows->schema->n_inputs;
}

size_t gpnn_training_held_out_before(size_t n, const uint64_t *held_out, size_t row)
{
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (held_out[middle] - middle <= row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Evicts a stretch of rows when the next one is entered, which is when that begins among the rows
 * here from 'first' up to 'end'.  Threads that still need them read them again. */
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
  size_t numbers[GPNN_ROW_SOURCE_BLOCK], width = gpnn_training_expanded_width(rows);
  size_t skipped = gpnn_training_held_out_before(rows->n_held_out, rows->held_out, from);
  (void)err;
  for (size_t i = 0, row = from + skipped; i < count; row++) {
    if (skipped < rows->n_held_out && rows->held_out[skipped] == row)
      skipped++;
    else
      numbers[i++] = row - rows->begin;
  }
  for (size_t i = 0, n; i < count; i += n) {
    for (n = 1; i + n < count && numbers[i + n] == numbers[i] + n;) n++;
    expand_all(rows, n, rows->read + numbers[i] * rows->width, expanded + i * width);
  }
  evict_behind(rows, numbers[0], numbers[count - 1] + 1);
  return GPNN_OK;
}

struct gpnn_row_source gpnn_training_source(struct gpnn_training_rows *rows, size_t n,
                                            const struct gpnn_parts *parts, int threads)
{
  size_t width = gpnn_training_expanded_width(rows);
  return (struct gpnn_row_source){n, width, read_expanded, rows, threads, parts};
}

/* ---- all rows ---- */

/* Memory of one thread for a block of rows, before and after. */
struct block {
  double *rows, *numbers;
};

static bool block_alloc(struct block *block, size_t width, const struct gpnn_layout *layout)
{
  size_t most = gpnn_row_source_block(width);
  block->rows = gpnn_alloc(most, width, sizeof *block->rows);
  block->numbers = gpnn_alloc(most, gpnn_layout_width(layout), sizeof *block->numbers);
  return block->rows != NULL && block->numbers != NULL;
}

/* What the loop over blocks shares. */
struct blocks {
  size_t first, n; /* rows here */
  struct gpnn_training *training;
  const struct gpnn_row_source *source;
  const struct gpnn_layout *layout;
  struct block *of; /* owned; one per thread, each allocated when first needed */
};

static enum gpnn_status standardise_block(void *context, size_t thread, size_t b,
                                          struct gpnn_error *err)
{
  const struct blocks *blocks = context;
  const struct gpnn_row_source *source = blocks->source;
  struct block *block = &blocks->of[thread];
  size_t most = gpnn_row_source_block(source->width), from = b * most;
  size_t count = blocks->n - from < most ? blocks->n - from : most;
  if (block->rows == NULL && !block_alloc(block, source->width, blocks->layout))
    return gpnn_fail_memory(err, "for the training rows");
  enum gpnn_status status =
      source->read(source->context, blocks->first + from, count, block->rows, err);
  for (size_t i = 0; i < count && status == GPNN_OK; i++)
    gpnn_layout_standardise(&blocks->training->dataset.scaling, blocks->layout,
                            block->rows + i * source->width, count, i, block->numbers);
  if (status != GPNN_OK) return status;
  return gpnn_layout_write(&blocks->training->rows, blocks->layout, blocks->n, from, count,
                           block->numbers, err);
}

/* Standardises the 'n' rows here, from number 'first' on. */
static enum gpnn_status standardise_rows(struct gpnn_training *training,
                                         const struct gpnn_row_source *source, size_t first,
                                         size_t n, const struct gpnn_layout *layout,
                                         struct gpnn_error *err)
{
  static const double nothing = 0; /* as a file without numbers could not be mapped */
  size_t most = gpnn_row_source_block(source->width), n_blocks = n / most + (n % most > 0);
  int threads = gpnn_threads_for(source->threads, n_blocks);
  if (n == 0) return gpnn_spool_write(&training->rows, 0, 1, &nothing, err);
  struct blocks blocks = {first,  n,      training,
                          source, layout, gpnn_alloc((size_t)threads, 1, sizeof *blocks.of)};
  enum gpnn_status status =
      blocks.of == NULL ? gpnn_fail_memory(err, "for the training rows")
                        : gpnn_threads_try(threads, n_blocks, 1, standardise_block, &blocks, err);
  for (int t = 0; blocks.of != NULL && t < threads; t++) {
    free(blocks.of[t].rows);
    free(blocks.of[t].numbers);
  }
  free(blocks.of);
  return status;
}

/* A row held out, as read. */
static const double *find_held_out(const struct gpnn_training_rows *rows, const uint64_t *row)
{
  if (rows->read_held_out == NULL) return rows->read + *row * rows->width;
  const uint64_t *place =
      bsearch(row, rows->held_out, rows->n_held_out, sizeof *row, gpnn_compare_uint64s);
  return rows->read_held_out + (size_t)(place - rows->held_out) * rows->width;
}

/* Standardises the rows held out in the order drawn, so that the first few of them are a random
 * sample too. */
static enum gpnn_status standardise_held_out(struct gpnn_training *training,
                                             const struct gpnn_training_rows *rows,
                                             const struct gpnn_layout *layout,
                                             const uint64_t *drawn, struct gpnn_error *err)
{
  size_t c = rows->n_held_out;
  double *row = gpnn_alloc(gpnn_training_expanded_width(rows), 1, sizeof *row);
  training->held_out = gpnn_alloc(c, gpnn_layout_width(layout), sizeof *training->held_out);
  enum gpnn_status status = row == NULL || training->held_out == NULL
                                ? gpnn_fail_memory(err, "for the calibration rows")
                                : GPNN_OK;
  for (size_t i = 0; i < c && status == GPNN_OK; i++) {
    expand_all(rows, 1, find_held_out(rows, &drawn[i]), row);
    gpnn_layout_standardise(&training->dataset.scaling, layout, row, c, i, training->held_out);
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
  const struct gpnn_layout layout = gpnn_layout_of(&dataset->scaling, &dataset->schema);
  size_t total, first = (size_t)gpnn_parts_first(source->parts);
  size_t n = (size_t)gpnn_parts_end(source->parts, dataset->n) - first;
  if (!gpnn_multiply(dataset->n, gpnn_layout_width(&layout), &total))
    return gpnn_fail_memory(err, "for the training rows");
  enum gpnn_status status = standardise_rows(training, source, first, n, &layout, err);
  if (status == GPNN_OK) status = standardise_held_out(training, rows, &layout, drawn, err);
  if (status == GPNN_OK) status = gpnn_spool_map(&training->rows, err);
  if (status == GPNN_OK)
    gpnn_layout_point(&training->dataset, n, &layout, &training->rows, training->held_out);
  return status;
}
