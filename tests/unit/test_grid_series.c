/* The series that means of levels follow: against the dense formula, and on simulated series. */
#include "models/grid/means.h"

#include "linalg/factors/cholesky.h"
#include "unit.h"

enum { FEW = 6, MANY = 400, BEYOND = 60, SERIES = 100 };

/* A walk of this range and variance about a wave of this amplitude and period (0: none), at the
 * places 0, 1, 2, ... */
static void simulate(struct gpnn_rng *rng, double range, double variance, double amplitude,
                     double period, size_t n, double *x, double *y)
{
  double rho = exp(-1 / range), walk = sqrt(variance) * gpnn_rng_normal(rng);
  for (size_t i = 0; i < n; i++) {
    x[i] = (double)i;
    y[i] = walk;
    if (period > 0) y[i] += amplitude * sin(2 * M_PI * (x[i] / period + 0.1));
    walk = rho * walk + sqrt(variance * (1 - rho * rho)) * gpnn_rng_normal(rng);
  }
}

/* Far from regular places, and between, before and after them. */
static const double places[FEW] = {0, 0.3, 1, 4, 4.5, 9};
static const double values[FEW] = {1, 0.5, -0.2, 0.4, 0.1, -1};
static const double wanted[] = {-2, 0.1, 0.6, 2, 3, 4.4, 9.5, 10, 30};
enum { WANTED = sizeof wanted / sizeof *wanted };

static struct gpnn_grid_series fit_few(void)
{
  struct gpnn_grid_series series = {.n = 0};
  assert_ok(gpnn_grid_series_fit(&series, FEW, places, values, &err));
  assert_true(series.period == 0);
  return series;
}

/* The covariance of two wanted places given all values, and the mean of the first. */
static double conditional(const struct gpnn_grid_series *s, double a, double b, double *mean)
{
  double k[FEW * FEW], left[FEW], right[FEW], jitter = 0;
  for (size_t i = 0; i < FEW; i++) {
    for (size_t j = 0; j < FEW; j++)
      k[i * FEW + j] = s->variance * exp(-fabs(places[i] - places[j]) / s->range);
    left[i] = s->variance * exp(-fabs(places[i] - a) / s->range);
    right[i] = s->variance * exp(-fabs(places[i] - b) / s->range);
  }
  assert_ok(gpnn_cholesky_factor(FEW, k, NULL, 1, NULL, NULL, &jitter, &err));
  gpnn_cholesky_solve(FEW, k, left);
  double covariance = s->variance * exp(-fabs(a - b) / s->range);
  *mean = 0;
  for (size_t i = 0; i < FEW; i++) *mean += left[i] * values[i];
  for (size_t i = 0; i < FEW; i++) covariance -= left[i] * right[i];
  return covariance;
}

static void predictions_are_those_of_the_dense_formula(void **state)
{
  (void)state;
  struct gpnn_grid_series series = fit_few();
  double mean, variance, exact;
  for (size_t i = 0; i < WANTED; i++) {
    gpnn_grid_series_predict(&series, wanted[i], &mean, &variance);
    assert_near(variance, conditional(&series, wanted[i], wanted[i], &exact), 1e-12);
    assert_near(mean, exact, 1e-12);
  }
  for (size_t i = 0; i < FEW; i++) {
    gpnn_grid_series_predict(&series, places[i], &mean, &variance);
    assert_true(mean == values[i] && variance == 0);
  }
  gpnn_grid_series_release(&series);
}

static void draws_have_the_covariances_of_the_dense_formula(void **state)
{
  enum { DRAWS = 40000 };
  (void)state;
  struct gpnn_rng rng;
  struct gpnn_grid_series series = fit_few();
  double error[WANTED], sum[WANTED][WANTED] = {{0}}, mean;
  gpnn_rng_init(&rng, 3, GPNN_RNG_TEST);
  for (size_t d = 0; d < DRAWS; d++) {
    gpnn_grid_series_draw(&series, &rng, WANTED, wanted, error);
    for (size_t i = 0; i < WANTED; i++)
      for (size_t j = 0; j < WANTED; j++) sum[i][j] += error[i] * error[j] / DRAWS;
  }
  for (size_t i = 0; i < WANTED; i++)
    for (size_t j = 0; j < WANTED; j++)
      assert_near(sum[i][j], conditional(&series, wanted[i], wanted[j], &mean),
                  5 * series.variance * sqrt(2. / DRAWS));
  gpnn_grid_series_release(&series);
}

/* What comes after a series is as far from its forecast as that says, with a season and without. */
static void forecasts_are_as_certain_as_they_say(void **state)
{
  (void)state;
  struct gpnn_rng rng;
  double x[MANY + BEYOND], y[MANY + BEYOND], mean, variance;
  gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
  for (int has_season = 0; has_season < 2; has_season++) {
    double inside = 0, squares = 0, n = 0, found = 0;
    for (int s = 0; s < SERIES; s++) {
      struct gpnn_grid_series series = {.n = 0};
      simulate(&rng, 4, 1, 2.5, has_season ? 73.4 : 0, MANY + BEYOND, x, y);
      assert_ok(gpnn_grid_series_fit(&series, MANY, x, y, &err));
      found += fabs(series.period - 73.4) < 2;
      for (size_t i = MANY; i < MANY + BEYOND; i++, n++) {
        gpnn_grid_series_predict(&series, x[i], &mean, &variance);
        double z2 = (y[i] - mean) * (y[i] - mean) / variance;
        squares += z2;
        inside += z2 < 1.96 * 1.96;
      }
      gpnn_grid_series_release(&series);
    }
    assert_true(has_season ? found > 0.9 * SERIES : found == 0);
    assert_near(squares / n, 1, 0.1);
    assert_near(inside / n, 0.95, 0.02);
  }
}

static void a_walk_has_no_season(void **state)
{
  (void)state;
  struct gpnn_rng rng;
  double x[MANY], y[MANY];
  gpnn_rng_init(&rng, 7, GPNN_RNG_TEST);
  for (int s = 0; s < SERIES; s++) {
    struct gpnn_grid_series series = {.n = 0};
    simulate(&rng, s % 2 == 0 ? 1 : 30, 1, 0, 0, MANY, x, y);
    assert_ok(gpnn_grid_series_fit(&series, MANY, x, y, &err));
    assert_true(series.period == 0);
    gpnn_grid_series_release(&series);
  }
}

/* None at all, one, two, and values that are all 0. */
static void few_values_are_enough(void **state)
{
  (void)state;
  const double x[] = {0, 1, 2}, y[] = {2, 1, 0}, zero[3] = {0};
  double mean, variance;
  for (size_t n = 0; n <= 3; n++) {
    struct gpnn_grid_series series = {.n = 0};
    assert_ok(gpnn_grid_series_fit(&series, n, x, n == 3 ? zero : y, &err));
    gpnn_grid_series_predict(&series, 100, &mean, &variance);
    assert_near(mean, 0, n < 2 ? 1e-9 : 2);
    assert_true(isfinite(variance) && variance >= 0);
    gpnn_grid_series_release(&series);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(predictions_are_those_of_the_dense_formula),
      cmocka_unit_test(draws_have_the_covariances_of_the_dense_formula),
      cmocka_unit_test(forecasts_are_as_certain_as_they_say),
      cmocka_unit_test(a_walk_has_no_season),
      cmocka_unit_test(few_values_are_enough),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
