#include "stats/scores/pit.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "stats/distributions/normal.h"
#include "stats/distributions/student.h"

/* What the numbers of a row are.  Without a scale, the error is the PIT itself, or the middle of a
 * step, the height of which takes the place of the degrees of freedom. */
enum { TRUTH, ERROR, SCALE, DF, WIDTH, STEP = DF };

/* ---- adding ------------------------------------------------------------------------------- */

enum gpnn_status gpnn_pit_add(struct gpnn_pit *pit, double truth, double error, double scale,
                              double df, struct gpnn_error *err)
{
  if (!gpnn_grow(&pit->numbers, &pit->capacity, WIDTH * (pit->n + 1), sizeof *pit->numbers))
    return gpnn_fail_memory(err, "for the calibration of predictions");
  double *row = pit->numbers + WIDTH * pit->n++;
  row[TRUTH] = truth;
  row[ERROR] = error;
  row[SCALE] = scale;
  row[DF] = df;
  return GPNN_OK;
}

enum gpnn_status gpnn_pit_add_value(struct gpnn_pit *pit, double truth, double value,
                                    double density, struct gpnn_error *err)
{
  double z = value <= 0 ? -INFINITY : value >= 1 ? INFINITY : gpnn_normal_quantile(value);
  double scale = gpnn_normal_density(z) / density;
  bool is_known = scale > 0 && isfinite(scale) && isfinite(z * scale);
  return is_known ? gpnn_pit_add(pit, truth, z * scale, scale, INFINITY, err)
                  : gpnn_pit_add(pit, truth, value, NAN, 0, err);
}

enum gpnn_status gpnn_pit_add_step(struct gpnn_pit *pit, double truth, double value, double step,
                                   struct gpnn_error *err)
{
  return gpnn_pit_add(pit, truth, value, NAN, step, err);
}

/* ---- values ------------------------------------------------------------------------------- */

/* By all numbers of a row, so that equal rows are interchangeable. */
static int compare_rows(const void *a, const void *b)
{
  const double *p = a, *q = b;
  int order = 0;
  for (size_t i = 0; i < WIDTH && order == 0; i++) order = gpnn_compare_doubles(&p[i], &q[i]);
  return order;
}

/* The probability of values below the one that lies 'beyond' the truth. */
static double below(const double *row, double beyond)
{
  return gpnn_student_cdf((row[ERROR] + beyond) / row[SCALE], row[DF]);
}

/* The PIT of row number 'i'; if several rows have its truth, the next ones are at distances 'down'
 * and 'up'. */
static double pit_of(const double *row, size_t i, bool is_tied, double down, double up)
{
  enum { SEED = 1 };
  struct gpnn_rng rng;
  bool has_step = isnan(row[SCALE]);
  if (has_step && row[STEP] == 0) return row[ERROR];
  if (!has_step && !is_tied) return below(row, 0);
  double low = isinf(down) ? 0 : below(row, -down / 2), high = isinf(up) ? 1 : below(row, up / 2);
  if (has_step) {
    low = fmax(row[ERROR] - row[STEP] / 2, 0);
    high = fmin(row[ERROR] + row[STEP] / 2, 1);
  }
  gpnn_rng_init_at(&rng, SEED, GPNN_RNG_TIES, i);
  return low + (high - low) * gpnn_rng_uniform(&rng);
}

/* Replaces each row by its PIT.  A PIT is written where its row, or an earlier one, began. */
static void finish_rows(struct gpnn_pit *pit)
{
  size_t n = pit->n, end;
  double *numbers = pit->numbers, down = INFINITY;
  bool one_truth = n == 0 || numbers[TRUTH] == numbers[WIDTH * (n - 1) + TRUTH];
  for (size_t begin = 0; begin < n; begin = end) {
    double truth = numbers[WIDTH * begin + TRUTH];
    for (end = begin + 1; end < n && numbers[WIDTH * end + TRUTH] == truth;) end++;
    double up = end < n ? numbers[WIDTH * end + TRUTH] - truth : INFINITY;
    bool is_tied = end > begin + 1 && !one_truth;
    for (size_t i = begin; i < end; i++)
      numbers[i] = pit_of(numbers + WIDTH * i, i, is_tied, down, up);
    down = up;
  }
}

const double *gpnn_pit_values(struct gpnn_pit *pit)
{
  if (pit->is_final) return pit->numbers;
  pit->is_final = true;
  if (pit->n == 0) return pit->numbers;
  qsort(pit->numbers, pit->n, WIDTH * sizeof *pit->numbers, compare_rows);
  finish_rows(pit);
  qsort(pit->numbers, pit->n, sizeof *pit->numbers, gpnn_compare_doubles);
  return pit->numbers;
}

void gpnn_pit_release(struct gpnn_pit *pit)
{
  free(pit->numbers);
  *pit = (struct gpnn_pit){0};
}
