/*
 * Exchanging rows that are held out for calibration, so that each class keeps a training row.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "dataset/training_private.h"

/* The rows held out, and how many training rows each class has. */
struct exchange {
  const struct gpnn_training_rows *rows;
  size_t n; /* of them */
  size_t c; /* held out */
  uint64_t *drawn, *ascending;
  size_t *n_left; /* owned; for each target, GPNN_LEVELS_MAX classes */
  size_t n_exchanged, capacity;
  uint64_t *exchanged; /* owned */
};

static size_t n_targets(const struct exchange *exchange)
{
  return 1 + exchange->rows->schema->n_more;
}

/* The number of training rows of the same class in target 't' as a row; NULL: the row lacks the
 * target, or that is a number. */
static size_t *left_of(const struct exchange *exchange, size_t row, size_t t)
{
  const struct gpnn_training_rows *rows = exchange->rows;
  const double *number = rows->targets[t].number;
  double y = rows->read[row * rows->width + rows->schema->n_inputs + t];
  if (number == NULL || isnan(y)) return NULL;
  return &exchange->n_left[t * GPNN_LEVELS_MAX + (size_t)number[(size_t)y]];
}

/* Makes a row a training row, or takes it from them. */
static void count_row(struct exchange *exchange, size_t row, bool is_training)
{
  for (size_t t = 0; t < n_targets(exchange); t++) {
    size_t *n_left = left_of(exchange, row, t);
    if (n_left != NULL) *n_left += is_training ? 1 : SIZE_MAX;
  }
}

/* True if a class of a row has no more than 'most' training rows. */
static bool is_scarce(const struct exchange *exchange, size_t row, size_t most)
{
  for (size_t t = 0; t < n_targets(exchange); t++) {
    const size_t *n_left = left_of(exchange, row, t);
    if (n_left != NULL && *n_left <= most) return true;
  }
  return false;
}

static bool is_held_out(const struct exchange *exchange, uint64_t row)
{
  return bsearch(&row, exchange->ascending, exchange->c, sizeof row, gpnn_compare_uint64s) != NULL;
}

/* The next training row after 'row', from the first again after the last, that its classes can
 * spare; SIZE_MAX: there is none. */
static size_t find_spare(const struct exchange *exchange, size_t row)
{
  for (size_t step = 1; step < exchange->n; step++) {
    size_t other = (row + step) % exchange->n;
    if (!is_held_out(exchange, other) && !is_scarce(exchange, other, 1)) return other;
  }
  return SIZE_MAX;
}

/* Holds out 'other' in place of the row that was drawn as number 'i'. */
static enum gpnn_status replace(struct exchange *exchange, size_t i, size_t other,
                                struct gpnn_error *err)
{
  size_t row = (size_t)exchange->drawn[i], n = exchange->n_exchanged;
  if (!gpnn_grow(&exchange->exchanged, &exchange->capacity, 2 * (n + 1),
                 sizeof *exchange->exchanged))
    return gpnn_fail_memory(err, "for the calibration rows");
  exchange->exchanged[2 * n] = row;
  exchange->exchanged[2 * n + 1] = other;
  exchange->n_exchanged++;
  exchange->drawn[i] = other;
  memcpy(exchange->ascending, exchange->drawn, exchange->c * sizeof *exchange->drawn);
  qsort(exchange->ascending, exchange->c, sizeof *exchange->ascending, gpnn_compare_uint64s);
  count_row(exchange, row, true);
  count_row(exchange, other, false);
  return GPNN_OK;
}

/* Counts the training rows of each class. */
static void count_rows(struct exchange *exchange)
{
  const struct gpnn_training_rows *rows = exchange->rows;
  for (size_t t = 0; t < n_targets(exchange); t++)
    if (rows->targets[t].n_rows != NULL)
      memcpy(exchange->n_left + t * GPNN_LEVELS_MAX, rows->targets[t].n_rows,
             gpnn_schema_target(rows->schema, t)->n_levels * sizeof *exchange->n_left);
  for (size_t i = 0; i < exchange->c; i++) count_row(exchange, (size_t)exchange->drawn[i], false);
}

enum gpnn_status gpnn_training_keep_classes(struct gpnn_training *training,
                                            const struct gpnn_training_rows *rows, size_t c,
                                            uint64_t *drawn, uint64_t *ascending,
                                            struct gpnn_error *err)
{
  struct exchange exchange = {
      .rows = rows, .n = training->n, .c = c, .drawn = drawn, .ascending = ascending};
  exchange.n_left = gpnn_alloc(n_targets(&exchange), GPNN_LEVELS_MAX, sizeof *exchange.n_left);
  if (exchange.n_left == NULL) return gpnn_fail_memory(err, "for the classes");
  enum gpnn_status status = GPNN_OK;
  count_rows(&exchange);
  for (size_t i = 0; i < c && status == GPNN_OK; i++) {
    if (!is_scarce(&exchange, (size_t)drawn[i], 0)) continue;
    size_t other = find_spare(&exchange, (size_t)drawn[i]);
    if (other != SIZE_MAX) status = replace(&exchange, i, other, err);
  }
  training->exchanged = exchange.exchanged;
  training->dataset.exchanged = exchange.exchanged;
  training->dataset.n_exchanged = exchange.n_exchanged;
  free(exchange.n_left);
  return status;
}
