#include "stats/scores/learning_curve.h"

#include <math.h>

/* The points to fit. */
struct points {
  size_t count;
  const double *n, *value, *weight;
  double least_floor;
};

/* (n / unit)^-exponent - 1, without cancellation for exponents near 0, at which floor and scale are
 * both large. */
static double rise(double n, double unit, double exponent)
{
  return expm1(-exponent * log(n / unit));
}

/* The weighted sum of squared residuals. */
static double misfit(const struct points *p, const struct gpnn_learning_curve *curve)
{
  double sum = 0;
  for (size_t i = 0; i < p->count; i++) {
    double residual = p->value[i] - gpnn_learning_curve_at(curve, p->n[i]);
    sum += p->weight[i] * residual * residual;
  }
  return sum;
}

/* The best scale for the least floor allowed, when the best line's floor would be too low. */
static void hold_floor(const struct points *p, struct gpnn_learning_curve *curve)
{
  double product = 0, square = 0;
  for (size_t i = 0; i < p->count; i++) {
    double law = 1 + rise(p->n[i], curve->unit, curve->exponent);
    product += p->weight[i] * law * (p->value[i] - p->least_floor);
    square += p->weight[i] * law * law;
  }
  curve->floor = p->least_floor;
  curve->scale = fmax(0, product / square);
}

/* Finds floor and scale for the curve's exponent, and returns the misfit: a straight line in the
 * powers of n. */
static double fit_line(const struct points *p, struct gpnn_learning_curve *curve)
{
  double weights = 0, mean_rise = 0, mean_value = 0, product = 0, square = 0;
  for (size_t i = 0; i < p->count; i++) {
    weights += p->weight[i];
    mean_rise += p->weight[i] * rise(p->n[i], curve->unit, curve->exponent);
    mean_value += p->weight[i] * p->value[i];
  }
  mean_rise /= weights;
  mean_value /= weights;
  for (size_t i = 0; i < p->count; i++) {
    double deviation = rise(p->n[i], curve->unit, curve->exponent) - mean_rise;
    product += p->weight[i] * deviation * (p->value[i] - mean_value);
    square += p->weight[i] * deviation * deviation;
  }
  curve->scale = square > 0 ? fmax(0, product / square) : 0;
  curve->floor = mean_value - curve->scale * (1 + mean_rise);
  if (curve->floor < p->least_floor) hold_floor(p, curve);
  return misfit(p, curve);
}

static double misfit_at(const struct points *p, double log_exponent,
                        struct gpnn_learning_curve *curve)
{
  curve->exponent = exp(log_exponent);
  return fit_line(p, curve);
}

/* The logarithm in [low, high] of the best exponent; the misfit should have one minimum there. */
static double golden_section(const struct points *p, double low, double high,
                             struct gpnn_learning_curve *curve)
{
  enum { STEPS = 40 };
  static const double golden = 0.61803398874989484820;
  double left = high - golden * (high - low), right = low + golden * (high - low);
  double at_left = misfit_at(p, left, curve), at_right = misfit_at(p, right, curve);
  for (int step = 0; step < STEPS; step++) {
    if (at_left <= at_right) {
      high = right, right = left, at_right = at_left;
      left = high - golden * (high - low);
      at_left = misfit_at(p, left, curve);
    } else {
      low = left, left = right, at_left = at_right;
      right = low + golden * (high - low);
      at_right = misfit_at(p, right, curve);
    }
  }
  return at_left <= at_right ? left : right;
}

void gpnn_learning_curve_fit(size_t n_points, const double *n, const double *value,
                             const double *weight, double least_floor,
                             struct gpnn_learning_curve *curve)
{
  enum { GRID = 40 };
  const struct points points = {n_points, n, value, weight, least_floor};
  double first = log(GPNN_LEARNING_CURVE_SLOWEST),
         stride = log(GPNN_LEARNING_CURVE_FASTEST / GPNN_LEARNING_CURVE_SLOWEST);
  struct gpnn_learning_curve tried = {.unit = n[n_points - 1]}, best = tried;
  double least = INFINITY;
  size_t at = 0;
  stride /= GRID;
  for (size_t i = 0; i <= GRID; i++) {
    double left = misfit_at(&points, first + (double)i * stride, &tried);
    if (!(left < least)) continue;
    least = left, best = tried, at = i;
  }
  double low = first + (double)(at == 0 ? 0 : at - 1) * stride;
  double high = first + (double)(at == GRID ? GRID : at + 1) * stride;
  double found = golden_section(&points, low, high, &tried);
  if (misfit_at(&points, found, &tried) < least) best = tried;
  if (best.scale == 0) best.exponent = 0;
  *curve = best;
}

double gpnn_learning_curve_at(const struct gpnn_learning_curve *curve, double n)
{
  if (isinf(n)) return curve->floor;
  return curve->floor + curve->scale * (1 + rise(n, curve->unit, curve->exponent));
}
