#include "assess/shift.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "dataset/reader.h"
#include "stats/sum.h"

/* An input over the training rows, and sums over the table's rows about their mean. */
struct tally {
  double mean, sd, low, high;
  struct gpnn_sum sum;
  struct gpnn_squares squares;
  size_t n, n_beyond;
};

static void learn(struct tally *tally, const struct gpnn_dataset *dataset, size_t j)
{
  struct gpnn_sum sum = {0};
  struct gpnn_squares squares = {0};
  size_t n = dataset->n, d = dataset->d;
  tally->low = INFINITY;
  tally->high = -INFINITY;
  for (size_t i = 0; i < n; i++) {
    double x = dataset->x[i * d + j];
    gpnn_sum_add(&sum, x);
    tally->low = fmin(tally->low, x);
    tally->high = fmax(tally->high, x);
  }
  tally->mean = gpnn_sum_mean(&sum, n);
  for (size_t i = 0; i < n; i++) gpnn_squares_add(&squares, dataset->x[i * d + j] - tally->mean);
  tally->sd = gpnn_squares_root_mean(&squares, n);
}

static void add(struct tally *tally, double x)
{
  const double rounding = 1e-9;
  if (isnan(x)) return;
  tally->n++;
  tally->n_beyond += x < tally->low - rounding || x > tally->high + rounding;
  gpnn_sum_add(&tally->sum, x - tally->mean);
  gpnn_squares_add(&tally->squares, x - tally->mean);
}

static struct gpnn_shift_input conclude(const struct tally *tally, size_t n_rows)
{
  double shift = gpnn_sum_mean(&tally->sum, tally->n);
  double variance = gpnn_squares_mean(&tally->squares, tally->n) - shift * shift;
  bool varies = tally->sd > 0;
  return (struct gpnn_shift_input){
      .shift = varies ? shift / tally->sd : shift,
      .spread = varies ? sqrt(variance < 0 ? 0 : variance) / tally->sd : NAN,
      .beyond = tally->n == 0 ? NAN : (double)tally->n_beyond / (double)tally->n,
      .missing = (double)(n_rows - tally->n) / (double)n_rows};
}

static enum gpnn_status read_rows(struct gpnn_shift *shift, struct tally *tallies, double *x,
                                  const struct gpnn_reader *reader, struct gpnn_table *table,
                                  struct gpnn_error *err)
{
  struct gpnn_record record;
  double noise;
  enum gpnn_status status;
  while ((status = gpnn_table_next(table, &record, err)) == GPNN_OK || status == GPNN_EDATA) {
    if (status == GPNN_OK)
      status = gpnn_reader_read(reader, &record, x, NULL, &noise, &shift->n_unseen, err);
    if (status != GPNN_OK && status != GPNN_EDATA) return status;
    shift->n_rows += status == GPNN_OK;
    shift->n_bad += status != GPNN_OK;
    for (size_t j = 0; j < reader->dataset->d && status == GPNN_OK; j++) add(&tallies[j], x[j]);
  }
  if (status != GPNN_END) return status;
  if (shift->n_rows > 0) return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA, "%s: no row that can be read", gpnn_table_name(table));
}

enum gpnn_status gpnn_shift_find(struct gpnn_shift *shift, const struct gpnn_dataset *dataset,
                                 struct gpnn_table *table, struct gpnn_error *err)
{
  struct gpnn_reader reader = {0};
  size_t d = dataset->d;
  double *x = gpnn_alloc(d, 1, sizeof *x);
  struct tally *tallies = calloc(d, sizeof *tallies);
  shift->inputs = calloc(d, sizeof *shift->inputs);
  enum gpnn_status status = x == NULL || tallies == NULL || shift->inputs == NULL
                                ? gpnn_fail_memory(err, "for the inputs of a table")
                                : gpnn_reader_open(&reader, dataset, table, false, err);
  if (status == GPNN_OK) {
    gpnn_reader_take_missing(&reader);
    for (size_t j = 0; j < d; j++) learn(&tallies[j], dataset, j);
    status = read_rows(shift, tallies, x, &reader, table, err);
  }
  for (size_t j = 0; j < d && status == GPNN_OK; j++)
    shift->inputs[j] = conclude(&tallies[j], shift->n_rows);
  gpnn_reader_release(&reader);
  free(tallies);
  free(x);
  return status;
}

void gpnn_shift_release(struct gpnn_shift *shift)
{
  free(shift->inputs);
  *shift = (struct gpnn_shift){0};
}
