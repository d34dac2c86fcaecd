/*
 * trained: tables whose cells say which row they are of, and datasets trained on them.
 */
#ifndef GPNN_TESTS_TRAINED_H
#define GPNN_TESTS_TRAINED_H

#include "dataset/training/training.h"
#include "scratch.h"
#include "stats/row_source.h"

/* More rows than are processed in one block. */
enum { ROWS = 2 * GPNN_ROW_SOURCE_BLOCK + 500 };

/* Columns x a b r s v, all functions of the row's number; v is a variance.  The caller frees it. */
static inline char *numbered_table(void)
{
  char *text = malloc(1 << 20);
  int n = sprintf(text, "x\ta\tb\tr\ts\tv\n");
  for (int i = 0; i < ROWS; i++)
    n += sprintf(text + n, "%d\t%d\t%d\t%d\t%d\t%g\n", i, 3 * i + 7, i * i, 1000 - i,
                 i * (i % 2 ? 1 : -1), 0.5 * i);
  return text;
}

/* Trains on 'text', whatever comes of it. */
static inline enum gpnn_status try_to_train(struct gpnn_training *training, const char *text,
                                            const struct gpnn_roles *roles,
                                            const struct gpnn_training_options *options,
                                            struct gpnn_error *error)
{
  const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;
  const struct gpnn_training_reading how = {.threads = options->threads};
  struct gpnn_table *table = NULL;
  enum gpnn_status status = gpnn_table_open(&table, scratch_text("t.tsv", text), &as_usual, error);
  if (status == GPNN_OK)
    status = gpnn_training_begin(training, table, roles, scratch_path("t.gpi"), error);
  if (status == GPNN_OK) status = gpnn_training_read(training, table, &how, error);
  if (status == GPNN_OK) status = gpnn_training_finish(training, options, "t.tsv", error);
  gpnn_table_close(table);
  return status;
}

/* Trains on 'text' with 'calibration_rows' held out. */
static inline void train(struct gpnn_training *training, const char *text,
                         const struct gpnn_roles *roles, enum gpnn_scaling_method method,
                         size_t calibration_rows)
{
  struct gpnn_training_options options = GPNN_TRAINING_OPTIONS_INIT;
  options.standardise = method;
  options.default_calibration = false;
  options.calibration_rows = calibration_rows;
  assert_ok(try_to_train(training, text, roles, &options, &err));
}

#endif
