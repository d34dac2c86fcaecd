#include "models/grid/means.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Frequencies are tried in steps of 1 / STEPS of a period over all values, from two periods on, but
 * no period shorter than about STEPS values; then in finer ones beside the best. */
enum { STEPS = 4, FEWEST_PERIODS = 2, MOST_FREQUENCIES = 2000, FINER = 8 };

/* Ranges that are tried, in gaps between values and in the distance of the last from the first. */
static const double shortest_range = 0.25, longest_range = 4, range_step = 1.25;

/* What remains of the squared correlation at a distance: 1 - exp(-2 d / range). */
static double lost(double distance, double range)
{
  return -expm1(-2 * distance / range);
}

/* ---- estimation ------------------------------------------------------------------------------ */

/* The process in the making. */
struct estimate {
  size_t n;
  const double *x, *y;
  double period, range, wave[2], variance, log_likelihood;
};

static double span_of(const struct estimate *e)
{
  return e->x[e->n - 1] - e->x[0];
}

/* Estimates wave and variance for the period and the range: what is left of each value given the
 * one before is independent of all others, so that this is a regression. */
static void regress(struct estimate *e)
{
  double cc = 0, cs = 0, ss = 0, cy = 0, sy = 0, yy = 0, logs = 0;
  double turn = e->period > 0 ? 2 * M_PI / e->period : 0, before[3] = {0};
  for (size_t i = 0; i < e->n; i++) {
    double distance = i == 0 ? INFINITY : e->x[i] - e->x[i - 1], free = lost(distance, e->range);
    double rho = exp(-distance / e->range), scale = 1 / sqrt(free);
    double now[3] = {0, 0, e->y[i]};
    if (turn > 0) now[0] = cos(turn * e->x[i]);
    if (turn > 0) now[1] = sin(turn * e->x[i]);
    double c = scale * (now[0] - rho * before[0]), s = scale * (now[1] - rho * before[1]);
    double y = scale * (now[2] - rho * before[2]);
    cc += c * c, cs += c * s, ss += s * s, cy += c * y, sy += s * y, yy += y * y;
    logs += log(free);
    memcpy(before, now, sizeof before);
  }
  double determinant = cc * ss - cs * cs;
  bool has_wave = determinant > DBL_EPSILON * cc * ss;
  e->wave[0] = has_wave ? (cy * ss - sy * cs) / determinant : 0;
  e->wave[1] = has_wave ? (sy * cc - cy * cs) / determinant : 0;
  double n = (double)e->n, square = yy - e->wave[0] * cy - e->wave[1] * sy;
  e->variance = fmax(square, DBL_EPSILON * yy) / n;
  e->log_likelihood = -0.5 * (n * log(fmax(e->variance, DBL_MIN)) + logs);
}

/* Takes the range that makes the values likeliest. */
static void choose_range(struct estimate *e)
{
  struct estimate best = *e;
  double most = longest_range * span_of(e), gap = span_of(e) / (double)(e->n - 1);
  best.log_likelihood = -INFINITY;
  for (e->range = shortest_range * gap; e->range < most; e->range *= range_step) {
    regress(e);
    if (e->log_likelihood > best.log_likelihood) best = *e;
  }
  *e = best;
}

/* Tries 'n' frequencies from 'first' on, by the range there is. */
static void try_frequencies(struct estimate *e, size_t n, double first, double step)
{
  struct estimate best = *e;
  for (size_t k = 0; k < n; k++) {
    e->period = 1 / (first + (double)k * step);
    regress(e);
    if (e->log_likelihood > best.log_likelihood) best = *e;
  }
  *e = best;
}

/* Takes the likeliest of 'n' frequencies from 'first' on, with its range.  A walk that remembers
 * for long does without a season, so that its range alone would not find one: shorter ones are
 * tried besides. */
static void find_period(struct estimate *e, size_t n, double first, double step)
{
  const double shorter = 4;
  struct estimate best = *e;
  double gap = span_of(e) / (double)(e->n - 1);
  for (double range = e->range; range > gap; range /= shorter) {
    struct estimate tried = *e;
    tried.range = range;
    tried.log_likelihood = -INFINITY;
    try_frequencies(&tried, n, first, step);
    choose_range(&tried);
    if (tried.log_likelihood > best.log_likelihood) best = tried;
  }
  *e = best;
}

/* A season of three numbers takes some of the variance of values that amount to 'n' independent
 * ones, and is uncertain by as much. */
static double allowance(const struct estimate *e)
{
  const double numbers = 3;
  double n = fmax(1 + span_of(e) / (2 * e->range), 2 * numbers);
  return (n + numbers) / (n - numbers);
}

/* Takes a season if that gains more than its numbers and the search for one of them do by chance.
 */
static void choose_season(struct estimate *e)
{
  struct estimate found = *e;
  double step = 1 / (STEPS * span_of(e)), first = FEWEST_PERIODS * STEPS * step;
  size_t n = e->n < MOST_FREQUENCIES ? e->n : MOST_FREQUENCIES;
  if (n <= FEWEST_PERIODS * STEPS) return;
  n -= FEWEST_PERIODS * STEPS;
  find_period(&found, n, first, step);
  if (!(found.period > 0)) return;
  try_frequencies(&found, 2 * FINER, fmax(first, 1 / found.period - step), step / FINER);
  choose_range(&found);
  double chance = log((double)n) + 1.5 * log((double)e->n);
  if (!(found.log_likelihood - e->log_likelihood > chance)) return;
  *e = found;
  e->variance *= allowance(e);
}

static double season_at(const struct gpnn_grid_series *series, double x)
{
  if (!(series->period > 0)) return 0;
  double phase = 2 * M_PI * x / series->period;
  return series->wave[0] * cos(phase) + series->wave[1] * sin(phase);
}

enum gpnn_status gpnn_grid_series_fit(struct gpnn_grid_series *series, size_t n, const double *x,
                                      const double *y, struct gpnn_error *err)
{
  struct estimate e = {.n = n, .x = x, .y = y, .range = 1};
  double *places = gpnn_alloc(n, 1, sizeof *places), *rest = gpnn_alloc(n, 1, sizeof *rest);
  if (places == NULL || rest == NULL) {
    free(places);
    free(rest);
    return gpnn_fail_memory(err, "for means of levels");
  }
  if (n > 0) regress(&e);
  if (n > 1) choose_range(&e);
  if (n > 1) choose_season(&e);
  *series = (struct gpnn_grid_series){.n = n,
                                      .x = places,
                                      .rest = rest,
                                      .period = e.period,
                                      .wave = {e.wave[0], e.wave[1]},
                                      .range = e.range,
                                      .variance = e.variance};
  for (size_t i = 0; i < n; i++) {
    places[i] = x[i];
    rest[i] = y[i] - season_at(series, x[i]);
  }
  return GPNN_OK;
}

/* ---- prediction ------------------------------------------------------------------------------ */

/* The first place that is not before 'x'. */
static size_t find(const struct gpnn_grid_series *series, double x)
{
  size_t low = 0, high = series->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (series->x[middle] < x)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* What a place is predicted from: the values at these distances before and after it (infinite:
 * there is none), by these weights. */
struct bridge {
  double before, after, weight_before, weight_after;
  double variance;
};

static void weigh(struct bridge *b, const struct gpnn_grid_series *series)
{
  double range = series->range, free = lost(b->before + b->after, range);
  b->weight_before = exp(-b->before / range) * lost(b->after, range) / free;
  b->weight_after = exp(-b->after / range) * lost(b->before, range) / free;
  b->variance = series->variance * lost(b->before, range) * lost(b->after, range) / free;
}

void gpnn_grid_series_predict(const struct gpnn_grid_series *series, double x, double *mean,
                              double *variance)
{
  size_t at = find(series, x);
  struct bridge b = {.before = at > 0 ? x - series->x[at - 1] : INFINITY,
                     .after = at < series->n ? series->x[at] - x : INFINITY};
  weigh(&b, series);
  *mean = season_at(series, x);
  if (at > 0) *mean += b.weight_before * series->rest[at - 1];
  if (at < series->n) *mean += b.weight_after * series->rest[at];
  *variance = b.variance;
}

void gpnn_grid_series_draw(const struct gpnn_grid_series *series, struct gpnn_rng *rng, size_t n,
                           const double *x, double *error)
{
  for (size_t i = 0; i < n; i++) {
    size_t at = find(series, x[i]);
    struct bridge b = {.before = at > 0 ? x[i] - series->x[at - 1] : INFINITY,
                       .after = at < series->n ? series->x[at] - x[i] : INFINITY};
    /* The place drawn before is nearer than any value before it, unless there is one between. */
    bool follows = i > 0 && x[i] - x[i - 1] < b.before;
    if (follows) b.before = x[i] - x[i - 1];
    weigh(&b, series);
    error[i] = sqrt(b.variance) * gpnn_rng_normal(rng);
    if (follows) error[i] += b.weight_before * error[i - 1];
  }
}

void gpnn_grid_series_release(struct gpnn_grid_series *series)
{
  free(series->x);
  free(series->rest);
  memset(series, 0, sizeof *series);
}
