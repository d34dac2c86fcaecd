#include "stats/scores/classification.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"

enum { BINS = GPNN_RELIABILITY_BINS };

/* The bin ((b-1)/B, b/B] of a probability; 0 belongs to the first. */
static size_t bin_of(double probability)
{
  double above = ceil(probability * BINS);
  return above <= 1 ? 0 : above >= BINS ? BINS - 1 : (size_t)above - 1;
}

enum gpnn_status gpnn_reliability_add(struct gpnn_reliability *reliability, double probability,
                                      bool is_right, struct gpnn_error *err)
{
  if (!gpnn_grow(&reliability->probabilities, &reliability->capacity, reliability->n + 1,
                 sizeof *reliability->probabilities))
    return gpnn_fail_memory(err, "for the calibration of predictions");
  reliability->probabilities[reliability->n++] = probability;
  struct gpnn_reliability_sums *sums = &reliability->sums[bin_of(probability)];
  sums->n++;
  sums->n_right += is_right;
  gpnn_sum_add(&sums->probability, probability);
  gpnn_sum_add(&sums->variance, probability * (1 - probability));
  return GPNN_OK;
}

struct gpnn_reliability_bin gpnn_reliability_bin(const struct gpnn_reliability *reliability,
                                                 size_t b)
{
  const struct gpnn_reliability_sums *sums = &reliability->sums[b];
  double n = (double)sums->n;
  return (struct gpnn_reliability_bin){
      .from = (double)b / BINS,
      .to = (double)(b + 1) / BINS,
      .n = sums->n,
      .predicted = gpnn_sum_mean(&sums->probability, sums->n),
      .observed = sums->n == 0 ? NAN : (double)sums->n_right / n,
      .se = sqrt(gpnn_sum_mean(&sums->variance, sums->n) / n),
  };
}

double gpnn_reliability_error(const struct gpnn_reliability *reliability)
{
  double error = 0;
  if (reliability->n == 0) return NAN;
  for (size_t b = 0; b < BINS; b++) {
    struct gpnn_reliability_bin bin = gpnn_reliability_bin(reliability, b);
    if (bin.n > 0) error += (double)bin.n * fabs(bin.observed - bin.predicted);
  }
  return error / (double)reliability->n;
}

/* The error, times n, if each row is right with its probability. */
static double draw_error(const struct gpnn_reliability *reliability, struct gpnn_rng *rng)
{
  size_t n_right[BINS] = {0};
  double error = 0;
  for (size_t i = 0; i < reliability->n; i++) {
    double p = reliability->probabilities[i];
    n_right[bin_of(p)] += gpnn_rng_uniform(rng) < p;
  }
  for (size_t b = 0; b < BINS; b++) {
    const struct gpnn_reliability_sums *sums = &reliability->sums[b];
    if (sums->n > 0)
      error +=
          fabs((double)n_right[b] - (double)sums->n * gpnn_sum_mean(&sums->probability, sums->n));
  }
  return error;
}

double gpnn_reliability_chance(struct gpnn_reliability *reliability)
{
  enum { SEED = 1, DRAWS = 100 };
  struct gpnn_sum errors = {0};
  size_t n = reliability->n;
  if (n == 0) return NAN;
  qsort(reliability->probabilities, n, sizeof *reliability->probabilities, gpnn_compare_doubles);
  for (size_t i = 0; i < DRAWS; i++) {
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, SEED, GPNN_RNG_LABELS, i);
    gpnn_sum_add(&errors, draw_error(reliability, &rng) / (double)n);
  }
  return gpnn_sum_mean(&errors, DRAWS);
}

void gpnn_reliability_release(struct gpnn_reliability *reliability)
{
  free(reliability->probabilities);
  *reliability = (struct gpnn_reliability){0};
}
