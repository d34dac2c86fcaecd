/*
 * Fitting transforms to a sample of targets.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "stats/distributions/normal.h"
#include "stats/transform.h"

/* Targets in ascending order. */
struct targets {
  size_t n;
  const double *y;
};

/* ---- moments ------------------------------------------------------------------------------ */

/* Mean and population sd of T. */
static void raw_moments(struct gpnn_transform *t, const struct targets *targets)
{
  double sum = 0, squares = 0, n = (double)targets->n;
  t->mean = 0;
  t->sd = 1;
  double centre = gpnn_transform_apply(t, targets->y[targets->n / 2]);
  for (size_t i = 0; i < targets->n; i++) {
    double value = gpnn_transform_apply(t, targets->y[i]) - centre;
    sum += value;
    squares += value * value;
  }
  t->mean = centre + sum / n;
  t->sd = sqrt(fmax(0, squares / n - sum / n * (sum / n)));
}

/* ---- likelihood --------------------------------------------------------------------------- */

/* The mean negative log density of the targets, but for a constant, if T is normal with the mean
 * and variance that it has. */
static double loss(struct gpnn_transform t, const struct targets *targets)
{
  double slopes = 0;
  raw_moments(&t, targets);
  if (!(t.sd > 0) || !isfinite(t.sd)) return INFINITY;
  for (size_t i = 0; i < targets->n; i++) slopes += gpnn_transform_log_slope(&t, targets->y[i]);
  return -slopes / (double)targets->n;
}

/* The number searched for: the power, or the logarithm of the scale of asinh. */
static double loss_at(struct gpnn_transform *t, const struct targets *targets, double number)
{
  if (t->kind == GPNN_TRANSFORM_ASINH)
    t->scale = exp(number);
  else
    t->power = number;
  return loss(*t, targets);
}

/* Gives 't' the number between 'low' and 'high' of the least loss, which is returned: the best of a
 * grid, improved by ever smaller steps. */
static double search(struct gpnn_transform *t, const struct targets *targets, double low,
                     double high)
{
  enum { GRID = 12, SECTIONS = 12 };
  const double golden = 0.61803398874989484820;
  double step = (high - low) / GRID, best = low, least = INFINITY;
  for (int i = 0; i <= GRID; i++) {
    double here = loss_at(t, targets, low + step * i);
    if (here < least) least = here, best = low + step * i;
  }
  for (int i = 0; i < SECTIONS; i++) {
    step *= golden;
    for (int side = -1; side <= 1; side += 2) {
      double number = fmin(high, fmax(low, best + side * step)), here = loss_at(t, targets, number);
      if (here < least) {
        least = here;
        best = number;
        break;
      }
    }
  }
  return loss_at(t, targets, best);
}

/* ---- kinds -------------------------------------------------------------------------------- */

/* The median distance from 'centre' of the targets that differ from it, so that a target most of
 * whose values are equal is judged by the others. */
static enum gpnn_status find_spread(const struct targets *targets, double centre, double *spread,
                                    struct gpnn_error *err)
{
  size_t n = 0;
  double *distance = gpnn_alloc(targets->n, 1, sizeof *distance);
  if (distance == NULL) return gpnn_fail_memory(err, "for a transform");
  for (size_t i = 0; i < targets->n; i++)
    if (targets->y[i] != centre) distance[n++] = fabs(targets->y[i] - centre);
  qsort(distance, n, sizeof *distance, gpnn_compare_doubles);
  *spread = distance[n / 2];
  free(distance);
  return GPNN_OK;
}

/* Centres are tried at quantiles.  Much smaller scales than the spread would only pay because many
 * targets are equal to a centre. */
static void fit_asinh(struct gpnn_transform *t, const struct targets *targets)
{
  static const double levels[] = {0, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98, 1};
  const double most = 20;
  struct gpnn_transform best = *t;
  double spread = t->scale, least = INFINITY;
  for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
    t->centre = targets->y[(size_t)(levels[i] * (double)(targets->n - 1))];
    double here = search(t, targets, log(spread / most), log(spread * most));
    if (here < least) {
      least = here;
      best = *t;
    }
  }
  *t = best;
}

/* The centre is the geometric mean. */
static void fit_boxcox(struct gpnn_transform *t, const struct targets *targets)
{
  double sum = 0;
  for (size_t i = 0; i < targets->n; i++) sum += log(targets->y[i]);
  t->centre = exp(sum / (double)targets->n);
  (void)search(t, targets, -2, 2);
}

/* Knots at about equal distances in the score, with at least a few targets between them.  Equal
 * targets get the score in their middle. */
static void fit_rank(struct gpnn_transform *t, const struct targets *targets)
{
  enum { FEWEST = 10 };
  size_t n = targets->n, next, since = 0;
  const double *y = targets->y;
  double step = 2 * gpnn_normal_quantile(1 - 0.5 / (double)n) / (GPNN_TRANSFORM_KNOTS - 2);
  for (size_t i = 0; i < n; i = next) {
    for (next = i + 1; next < n && y[next] == y[i]; next++) continue;
    double score = gpnn_normal_quantile((double)(i + next) / (2 * (double)n));
    bool is_near =
        t->n_knots > 0 && (i - since < FEWEST || score - t->score[t->n_knots - 1] < step);
    if (is_near && next < n) continue;
    if (is_near && t->n_knots > 1) t->n_knots--; /* the last target is always a knot */
    t->value[t->n_knots] = y[i];
    t->score[t->n_knots++] = score;
    since = i;
  }
}

static enum gpnn_status fit_numbers(struct gpnn_transform *t, const struct targets *targets,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (t->kind == GPNN_TRANSFORM_ASINH || t->kind == GPNN_TRANSFORM_YEO_JOHNSON) {
    t->centre = targets->y[targets->n / 2];
    status = find_spread(targets, t->centre, &t->scale, err);
  }
  if (status != GPNN_OK) return status;
  if (t->kind == GPNN_TRANSFORM_ASINH) fit_asinh(t, targets);
  if (t->kind == GPNN_TRANSFORM_BOXCOX) fit_boxcox(t, targets);
  if (t->kind == GPNN_TRANSFORM_YEO_JOHNSON) (void)search(t, targets, -1, 3);
  return GPNN_OK;
}

/* ---- fit ---------------------------------------------------------------------------------- */

/* Evenly spaced ones of the targets, the first and the last included: as many as the likelihood
 * needs. */
static size_t thin(size_t n, const double *y, double *few, size_t most)
{
  size_t n_few = n < most ? n : most;
  for (size_t i = 0; i < n_few; i++) few[i] = y[i * (n - 1) / (n_few - 1)];
  return n_few;
}

static enum gpnn_status fit_sorted(struct gpnn_transform *transform, enum gpnn_transform_kind kind,
                                   const struct targets *targets, struct gpnn_error *err)
{
  enum { MOST = 1024 };
  double few[MOST];
  struct gpnn_transform t = {
      .kind = kind, .low = targets->y[0], .high = targets->y[targets->n - 1]};
  const struct targets some = {thin(targets->n, targets->y, few, MOST), few};
  if (!gpnn_transform_takes(kind, t.low))
    return gpnn_fail(err, GPNN_EDATA, "%g is not positive, as a %s transform needs", t.low,
                     gpnn_transform_name(kind));
  if (!(t.low < t.high)) return gpnn_fail(err, GPNN_EDATA, "all targets are equal");
  enum gpnn_status status = fit_numbers(&t, &some, err);
  if (status != GPNN_OK) return status;
  if (kind == GPNN_TRANSFORM_RANK) fit_rank(&t, targets);
  raw_moments(&t, targets);
  if (!(t.sd > 0) || !isfinite(t.sd))
    return gpnn_fail(err, GPNN_EDATA, "a %s transform of targets such as %g has no spread",
                     gpnn_transform_name(kind), t.low);
  *transform = t;
  return GPNN_OK;
}

enum gpnn_status gpnn_transform_fit(struct gpnn_transform *transform, enum gpnn_transform_kind kind,
                                    size_t n, const double *y, struct gpnn_error *err)
{
  double *sorted = gpnn_alloc(n, 1, sizeof *sorted);
  if (sorted == NULL) return gpnn_fail_memory(err, "for a transform");
  memcpy(sorted, y, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, gpnn_compare_doubles);
  const struct targets targets = {n, sorted};
  enum gpnn_status status = fit_sorted(transform, kind, &targets, err);
  free(sorted);
  return status;
}
