/* Draws at sites and times: their covariance, and what they do not depend on. */
#include "covariance.h"
#include "simulate/process.h"
#include "unit.h"

enum { P = 4, Q = 3, CELLS = P * Q };

static struct gpnn_separable_options usual(void)
{
  return (struct gpnn_separable_options){.sites = P,
                                         .times = Q,
                                         .d = 2,
                                         .site = covariance_of("matern32", 1.5, 2, 0),
                                         .time = covariance_of("exp", 4, 1, 0),
                                         .noise = 0.25,
                                         .missing = 0.3,
                                         .seed = 1,
                                         .threads = 1};
}

static struct gpnn_separable drawn(const struct gpnn_separable_options *o)
{
  struct gpnn_separable made = {0};
  assert_ok(gpnn_separable_draw(&made, o, &err));
  return made;
}

/* The covariance of two cells by closed forms. */
static double covariance(const double *x, size_t a, size_t b)
{
  const double *s = x + a / Q * 2, *t = x + b / Q * 2;
  double r = sqrt(3) * hypot(s[0] - t[0], s[1] - t[1]) / 1.5;
  return 2 * (1 + r) * exp(-r) * exp(-fabs((double)(a % Q) - (double)(b % Q)) / 4);
}

/* Sites change with the seed, so each product is compared with the covariance of its own sites. */
static void draws_have_the_covariance(void **state)
{
  (void)state;
  enum { DRAWS = 6000 };
  double excess[CELLS * CELLS] = {0}, square[CELLS * CELLS] = {0};
  struct gpnn_separable_options o = usual();
  for (o.seed = 1; o.seed <= DRAWS; o.seed++) {
    struct gpnn_separable made = drawn(&o);
    for (size_t a = 0; a < CELLS; a++)
      for (size_t b = 0; b < CELLS; b++) {
        double e = made.f[a] * made.f[b] - covariance(made.x, a, b);
        excess[a * CELLS + b] += e;
        square[a * CELLS + b] += e * e;
      }
    gpnn_separable_release(&made);
  }
  for (size_t i = 0; i < (size_t)CELLS * CELLS; i++)
    assert_true(fabs(excess[i]) < 4.5 * sqrt(square[i]));
}

static void sites_have_mean_0_and_sd_1(void **state)
{
  (void)state;
  struct gpnn_separable_options o = usual();
  o.sites = 2000;
  o.times = 1;
  struct gpnn_separable made = drawn(&o);
  double sum = 0, square = 0;
  for (size_t i = 0; i < o.sites * o.d; i++) {
    assert_true(fabs(made.x[i]) <= sqrt(3));
    sum += made.x[i];
    square += made.x[i] * made.x[i];
  }
  assert_near(sum / 4000, 0, 0.06);
  assert_near(square / 4000, 1, 0.06);
  gpnn_separable_release(&made);
}

static void noise_and_holes_are_as_asked_for(void **state)
{
  (void)state;
  struct gpnn_separable_options o = usual();
  o.sites = 150;
  o.times = 200;
  struct gpnn_separable made = drawn(&o);
  size_t n = 0;
  double square = 0;
  for (size_t c = 0; c < 30000; c++) {
    if (isnan(made.y[c])) continue;
    n++;
    square += (made.y[c] - made.f[c]) * (made.y[c] - made.f[c]);
  }
  assert_near((double)n / 30000, 0.7, 0.011);
  assert_near(square / (double)n, 0.25, 0.01);
  gpnn_separable_release(&made);
}

static void noise_holes_and_threads_leave_the_process_as_it_is(void **state)
{
  (void)state;
  struct gpnn_separable_options o = usual();
  o.sites = 300;
  o.times = 140;
  struct gpnn_separable one = drawn(&o);
  o.noise = 0;
  o.missing = 0;
  o.threads = 3;
  struct gpnn_separable other = drawn(&o);
  assert_memory_equal(one.x, other.x, 600 * sizeof(double));
  assert_memory_equal(one.f, other.f, 300 * 140 * sizeof(double));
  assert_memory_equal(other.f, other.y, 300 * 140 * sizeof(double));
  gpnn_separable_release(&one);
  gpnn_separable_release(&other);
}

static void one_cell_and_nothing_observed_are_grids(void **state)
{
  (void)state;
  struct gpnn_separable_options o = usual();
  o.sites = o.times = o.d = 1;
  o.missing = 1;
  struct gpnn_separable made = drawn(&o);
  assert_true(isfinite(made.f[0]));
  assert_true(isnan(made.y[0]));
  gpnn_separable_release(&made);
}

static void coordinates_that_overflow_are_refused(void **state)
{
  (void)state;
  struct gpnn_separable_options o = usual();
  o.time.isotropic = 1e-320;
  struct gpnn_separable made = {0};
  assert_fails(gpnn_separable_draw(&made, &o, &err), GPNN_ENUMERIC, "finite");
  assert_null(made.x);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(draws_have_the_covariance),
      cmocka_unit_test(sites_have_mean_0_and_sd_1),
      cmocka_unit_test(noise_and_holes_are_as_asked_for),
      cmocka_unit_test(noise_holes_and_threads_leave_the_process_as_it_is),
      cmocka_unit_test(one_cell_and_nothing_observed_are_grids),
      cmocka_unit_test(coordinates_that_overflow_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
