/*
 * Filling in what rows as read lack, before anything else is learnt from them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/missing.h"
#include "dataset/training/training_private.h"
#include "stats/incomplete.h"

/* Which cells of a row may be missing: those of inputs that are no categories, each column once. */
static size_t list_columns(const struct gpnn_schema *schema, size_t *columns)
{
  size_t n = 0;
  for (size_t i = 0; i < schema->n_inputs; i++)
    if (schema->inputs[i].kind != GPNN_COLUMN_CATEGORY &&
        schema->inputs[i].kind != GPNN_COLUMN_EFFECT && !gpnn_schema_is_repeat(schema, i))
      columns[n++] = i;
  return n;
}

struct filling {
  struct gpnn_training *training;
  size_t n_columns, *columns; /* owned */
  double *cells, *scratch;    /* owned; of one row */
  double *block;              /* owned; rows */
  struct gpnn_incomplete fitted;
};

static void take_cells(const struct filling *f, const double *row, double *cells)
{
  for (size_t c = 0; c < f->n_columns; c++) cells[c] = row[f->columns[c]];
}

/* Fits the distribution of the inputs to rows spread evenly over the table. */
static enum gpnn_status fit(struct filling *f, struct gpnn_error *err)
{
  enum { MOST = 20000 };
  const struct gpnn_training *training = f->training;
  size_t n = training->n < MOST ? training->n : MOST;
  double *sample = gpnn_alloc(n, f->n_columns, sizeof *sample);
  if (sample == NULL) return gpnn_fail_memory(err, "for what rows lack");
  for (size_t i = 0; i < n; i++) {
    size_t row = (size_t)((double)i / (double)n * (double)training->n);
    take_cells(f, training->read.numbers + row * training->width, sample + i * f->n_columns);
  }
  enum gpnn_status status = gpnn_incomplete_fit(&f->fitted, n, f->n_columns, sample, err);
  free(sample);
  return status;
}

/* Notes what a row lacks: a position without one of its coordinates lacks both. */
static void note(const struct gpnn_schema *schema, const double *row, unsigned char *lacks)
{
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const struct gpnn_column *column = &schema->inputs[i];
    bool is_position =
        column->kind == GPNN_COLUMN_LATITUDE || column->kind == GPNN_COLUMN_LONGITUDE;
    if (isnan(row[i])) gpnn_lacks_note(lacks, i);
    if (is_position && isnan(row[i])) gpnn_lacks_note(lacks, column->partner);
  }
}

/* Fills in a coordinate that is no position, as a mean of degrees may be none. */
static double within(const struct gpnn_column *column, double value)
{
  double most = column->kind == GPNN_COLUMN_LATITUDE    ? 90
                : column->kind == GPNN_COLUMN_LONGITUDE ? 720
                                                        : INFINITY;
  return fmax(-most, fmin(most, value));
}

static enum gpnn_status fill_row(struct filling *f, double *row, unsigned char *lacks,
                                 struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &f->training->dataset.schema;
  note(schema, row, lacks);
  take_cells(f, row, f->cells);
  enum gpnn_status status = gpnn_incomplete_complete(&f->fitted, f->cells, f->scratch, err);
  for (size_t c = 0; c < f->n_columns; c++)
    row[f->columns[c]] = within(&schema->inputs[f->columns[c]], f->cells[c]);
  for (size_t i = 0; i < schema->n_inputs; i++)
    if (gpnn_schema_is_repeat(schema, i)) row[i] = row[i - 1];
  return status;
}

/* Fills in all rows, which are then those of 'filled'. */
static enum gpnn_status fill_rows(struct filling *f, struct gpnn_spool *filled,
                                  struct gpnn_error *err)
{
  struct gpnn_training *training = f->training;
  size_t width = training->width, most = gpnn_row_source_block(width);
  size_t bytes = gpnn_lacks_bytes(training->dataset.schema.n_inputs);
  enum gpnn_status status = GPNN_OK;
  for (size_t from = 0; from < training->n && status == GPNN_OK; from += most) {
    size_t count = training->n - from < most ? training->n - from : most;
    memcpy(f->block, training->read.numbers + from * width, count * width * sizeof *f->block);
    for (size_t i = 0; i < count && status == GPNN_OK; i++)
      status = fill_row(f, f->block + i * width, training->lacks + (from + i) * bytes, err);
    if (status == GPNN_OK)
      status = gpnn_spool_write(filled, from * width, count * width, f->block, err);
  }
  return status;
}

enum gpnn_status gpnn_training_fill_in(struct gpnn_training *training, struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &training->dataset.schema;
  struct gpnn_spool filled = GPNN_SPOOL_INIT;
  struct filling f = {.training = training};
  if (training->n_incomplete == 0) return GPNN_OK;
  f.columns = gpnn_alloc(schema->n_inputs, 1, sizeof *f.columns);
  f.n_columns = f.columns == NULL ? 0 : list_columns(schema, f.columns);
  f.cells = gpnn_alloc(f.n_columns, 1, sizeof *f.cells);
  f.scratch = gpnn_alloc(gpnn_incomplete_scratch(f.n_columns), 1, sizeof *f.scratch);
  f.block = gpnn_alloc(gpnn_row_source_block(training->width), training->width, sizeof *f.block);
  training->lacks =
      gpnn_alloc(training->n, gpnn_lacks_bytes(schema->n_inputs), sizeof *training->lacks);
  enum gpnn_status status = f.columns == NULL || f.cells == NULL || f.scratch == NULL ||
                                    f.block == NULL || training->lacks == NULL
                                ? gpnn_fail_memory(err, "for what rows lack")
                                : fit(&f, err);
  if (status == GPNN_OK)
    status = gpnn_spool_create(&filled, training->read.beside, training->watch, err);
  if (status == GPNN_OK) status = fill_rows(&f, &filled, err);
  if (status == GPNN_OK) status = gpnn_spool_map(&filled, err);
  if (status == GPNN_OK) {
    gpnn_spool_release(&training->read);
    training->read = filled;
  } else {
    gpnn_spool_release(&filled);
  }
  gpnn_incomplete_release(&f.fitted);
  free(f.columns);
  free(f.cells);
  free(f.scratch);
  free(f.block);
  return status;
}

/* Makes NaN of what the held-out rows lacked, in the order 'drawn'. */
static void blank_held_out(struct gpnn_training *training, const uint64_t *drawn)
{
  const struct gpnn_dataset *dataset = &training->dataset;
  size_t bytes = gpnn_lacks_bytes(dataset->schema.n_inputs), d = dataset->d;
  for (size_t i = 0; i < dataset->n_calibration; i++)
    for (size_t j = 0; j < d; j++)
      if (gpnn_lacks(training->lacks + drawn[i] * bytes, dataset->coordinates[j].input))
        training->held_out[i * d + j] = NAN;
}

/* Keeps what the training rows lacked: those that are not held out. */
static void keep_training_rows(struct gpnn_training *training,
                               const struct gpnn_training_rows *rows)
{
  size_t bytes = gpnn_lacks_bytes(rows->schema->n_inputs), next = 0, kept = 0;
  for (size_t i = 0; i < training->n; i++) {
    bool is_held_out = next < rows->n_held_out && rows->held_out[next] == i;
    next += is_held_out;
    if (is_held_out) continue;
    memmove(training->lacks + kept * bytes, training->lacks + i * bytes, bytes);
    kept++;
  }
}

void gpnn_training_set_lacks(struct gpnn_training *training, const struct gpnn_training_rows *rows,
                             const uint64_t *drawn)
{
  if (training->lacks == NULL || !gpnn_dataset_takes_missing(&training->dataset)) return;
  blank_held_out(training, drawn);
  keep_training_rows(training, rows);
  training->dataset.lacks = training->lacks;
}
