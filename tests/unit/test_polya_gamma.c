#include "unit.h"

#include "base/compare.h"
#include "stats/distributions/hermite.h"
#include "stats/distributions/polya_gamma.h"

/* ---- the density ------------------------------------------------------------------------ */

/* Either series for the density of PG(1, 0), with so many terms that it serves on both sides. */
static double series_for_small(double omega, int terms)
{
  double sum = 0;
  for (int j = terms - 1; j >= 0; j--) {
    double t = 2 * j + 1;
    sum +=
        (j % 2 ? -1 : 1) * t / sqrt(2 * M_PI * omega * omega * omega) * exp(-t * t / (8 * omega));
  }
  return sum;
}

static double series_for_large(double omega, int terms)
{
  double sum = 0;
  for (int j = terms - 1; j >= 0; j--) {
    double h = j + 0.5;
    sum += (j % 2 ? -1 : 1) * 4 * M_PI * h * exp(-2 * h * h * M_PI * M_PI * omega);
  }
  return sum;
}

static double density(double omega)
{
  double slope;
  return exp(gpnn_polya_gamma_log_density(omega, &slope));
}

static void density_is_the_sum_of_both_series(void **state)
{
  (void)state;
  for (double omega = 0.02; omega < 2.5; omega += 0.00371) {
    double reference = omega < 0.25 ? series_for_small(omega, 60) : series_for_large(omega, 60);
    assert_close(density(omega), reference, 2e-14);
  }
  static const double known[][2] = {
      {0.05, 2.928996494274}, {0.25, 1.829460902536}, {1.0, 0.04518793583228}};
  for (size_t i = 0; i < 3; i++) assert_close(density(known[i][0]), known[i][1], 1e-12);
}

/* Jankowiak and Pleiss (2021, appendix A.6) keep seven terms of the first series up to 2.5. */
static void seven_terms_of_one_series_do_not_reach_as_far(void **state)
{
  (void)state;
  for (double omega = 0.05; omega < 1.9; omega += 0.01)
    assert_near(series_for_small(omega, 7), density(omega), 1e-6);
  assert_true(fabs(series_for_small(2.5, 7) / density(2.5) - 1) > 0.5);
}

/* The density is at most exp(-1250), a subnormal number's square, but its logarithm has all
 * digits. */
static void log_density_does_not_underflow(void **state)
{
  (void)state;
  double slope;
  double tiny = gpnn_polya_gamma_log_density(1e-4, &slope);
  assert_close(tiny, -1250 - 1.5 * log(1e-4) - 0.5 * log(2 * M_PI), 1e-14);
  assert_close(slope, -1.5 + 1250, 1e-14);
  double huge = gpnn_polya_gamma_log_density(1000, &slope);
  assert_close(huge, log(2 * M_PI) - M_PI * M_PI / 2 * 1000, 1e-14);
  assert_close(slope, -M_PI * M_PI / 2 * 1000, 1e-14);
}

static void slope_is_the_derivative_by_the_logarithm(void **state)
{
  (void)state;
  static const double omegas[] = {0.001, 0.01, 0.05, 0.159, 0.161, 0.3, 1, 2.4, 30};
  for (size_t i = 0; i < sizeof omegas / sizeof omegas[0]; i++) {
    const double h = 1e-5;
    double slope, ignored;
    gpnn_polya_gamma_log_density(omegas[i], &slope);
    double up = gpnn_polya_gamma_log_density(omegas[i] * exp(h), &ignored),
           down = gpnn_polya_gamma_log_density(omegas[i] * exp(-h), &ignored);
    assert_near(slope, (up - down) / (2 * h), 1e-7 * (1 + fabs(slope)));
  }
}

/* The identity that makes the logistic likelihood Gaussian, and with it the total probability. */
static void mixture_of_gaussians_is_logistic(void **state)
{
  (void)state;
  static const double fs[] = {0, 0.4, -3, 5};
  for (size_t i = 0; i < 4; i++) {
    double sum = 0, step = 1e-4;
    for (double omega = step / 2; omega < 6; omega += step)
      sum += step * density(omega) * exp(-0.5 * omega * fs[i] * fs[i]);
    assert_near(0.5 * exp(fs[i] / 2) * sum, 1 / (1 + exp(-fs[i])), 1e-8);
  }
}

/* ---- the divergence --------------------------------------------------------------------- */

static void divergence_is_the_known_one(void **state)
{
  (void)state;
  struct gpnn_hermite rule;
  double slope[2];
  gpnn_hermite_init(&rule, 20);
  assert_near(gpnn_polya_gamma_divergence((struct gpnn_log_normal){log(0.22), 0.6}, &rule, slope),
              0.0926428184, 1e-10);
  double least = gpnn_polya_gamma_divergence(gpnn_polya_gamma_nearest(), &rule, slope);
  assert_near(least, 0.010522, 1e-6);
  assert_near(slope[0], 0, 1e-5);
  assert_near(slope[1], 0, 1e-5);
}

static void slopes_of_the_divergence_are_its_derivatives(void **state)
{
  (void)state;
  static const struct gpnn_log_normal qs[] = {{-1.5, 0.6}, {-1.7, 0.77}, {-2.5, 0.2}, {0.5, 1.1}};
  struct gpnn_hermite rule;
  gpnn_hermite_init(&rule, 20);
  for (size_t i = 0; i < 4; i++) {
    const double h = 1e-5;
    double slope[2], ignored[2];
    struct gpnn_log_normal q = qs[i];
    gpnn_polya_gamma_divergence(q, &rule, slope);
    double by_m =
        (gpnn_polya_gamma_divergence((struct gpnn_log_normal){q.m + h, q.s}, &rule, ignored) -
         gpnn_polya_gamma_divergence((struct gpnn_log_normal){q.m - h, q.s}, &rule, ignored)) /
        (2 * h);
    double by_s =
        (gpnn_polya_gamma_divergence((struct gpnn_log_normal){q.m, q.s * exp(h)}, &rule, ignored) -
         gpnn_polya_gamma_divergence((struct gpnn_log_normal){q.m, q.s * exp(-h)}, &rule,
                                     ignored)) /
        (2 * h);
    assert_near(slope[0], by_m, 1e-6 * (1 + fabs(by_m)));
    assert_near(slope[1], by_s, 1e-6 * (1 + fabs(by_s)));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(density_is_the_sum_of_both_series),
      cmocka_unit_test(seven_terms_of_one_series_do_not_reach_as_far),
      cmocka_unit_test(log_density_does_not_underflow),
      cmocka_unit_test(slope_is_the_derivative_by_the_logarithm),
      cmocka_unit_test(mixture_of_gaussians_is_logistic),
      cmocka_unit_test(divergence_is_the_known_one),
      cmocka_unit_test(slopes_of_the_divergence_are_its_derivatives),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
