/* Conformal intervals: which residual, how many are needed, and the coverage promised. */
#include "base/rng.h"
#include "likelihood/conformal.h"
#include "unit.h"

static void the_width_is_the_ceiling_of_c_plus_one_times_p_th_smallest(void **state)
{
  (void)state;
  enum { N = 19 };
  static const double levels[] = {0.95, 0.5, 0.05, 0.9, 0.01};
  struct gpnn_parameters params = {0};
  double z[N];
  for (size_t i = 0; i < N; i++) z[i] = (i % 2 == 0 ? -1.0 : 1.0) * (double)(1 + i * 7 % N);
  assert_ok(gpnn_conformal_record(&params, N, z, 5, levels, &err));
  assert_int_equal(params.calibration.n_conformal, 5);
  for (size_t i = 1; i < 5; i++)
    assert_true(params.calibration.conformal_level[i - 1] < params.calibration.conformal_level[i]);
  assert_true(gpnn_conformal_width(&params, 0.95) == 19); /* 20 * 0.95, in floating point too */
  assert_true(gpnn_conformal_width(&params, 0.9) == 18);
  assert_true(gpnn_conformal_width(&params, 0.5) == 10);
  assert_true(gpnn_conformal_width(&params, 0.05) == 1);
  assert_true(gpnn_conformal_width(&params, 0.01) == 1);
  assert_true(isnan(gpnn_conformal_width(&params, 0.8))); /* not recorded */
  gpnn_parameters_release(&params);
}

static void too_few_rows_for_a_level_are_refused_with_the_number_needed(void **state)
{
  (void)state;
  struct gpnn_parameters params = {0};
  double z[100] = {0}, levels[] = {0.5, 0.99};
  assert_fails(gpnn_conformal_record(&params, 98, z, 2, levels, &err), GPNN_EDATA,
               "0.99 needs at least 99 calibration rows; there are 98");
  assert_int_equal(params.calibration.n_conformal, 0);
  assert_ok(gpnn_conformal_record(&params, 99, z, 2, levels, &err));
  assert_int_equal(gpnn_conformal_rows(0.999), 999);
  assert_int_equal(gpnn_conformal_rows(0.9), 9);
  assert_int_equal(gpnn_conformal_rows(0.1), 1);
  gpnn_parameters_release(&params);
}

static void new_widths_replace_old_ones(void **state)
{
  (void)state;
  struct gpnn_parameters params = {0};
  double z[] = {1, 2, 3}, first = 0.5, second = 0.25;
  assert_ok(gpnn_conformal_record(&params, 3, z, 1, &first, &err));
  assert_ok(gpnn_conformal_record(&params, 3, z, 1, &second, &err));
  assert_int_equal(params.calibration.n_conformal, 1);
  assert_true(isnan(gpnn_conformal_width(&params, 0.5)));
  assert_true(gpnn_conformal_width(&params, 0.25) == 1);
  gpnn_parameters_release(&params);
}

/* Errors far from Gaussian: skewed, and so heavy-tailed that they have no variance. */
static double skewed(struct gpnn_rng *rng)
{
  return exp(1.5 * gpnn_rng_normal(rng)) - 1;
}

static double heavy(struct gpnn_rng *rng)
{
  return gpnn_rng_normal(rng) / gpnn_rng_normal(rng);
}

/*
 * Over fresh calibrations with one new row each, coverage is ceil((c+1)P)/(c+1) exactly for
 * continuous errors; the count of rows covered is binomial, and 4.5 of its standard deviations are
 * allowed.
 */
static void coverage_is_what_is_promised_for_any_errors(void **state)
{
  (void)state;
  enum { C = 40, TIMES = 20000, N_LEVELS = 3 };
  static const double levels[N_LEVELS] = {0.5, 0.9, 0.95};
  static double (*const errors[])(struct gpnn_rng *) = {skewed, heavy};
  for (size_t k = 0; k < 2; k++) {
    struct gpnn_rng rng;
    struct gpnn_parameters params = {0};
    size_t covered[N_LEVELS] = {0};
    gpnn_rng_init(&rng, k, GPNN_RNG_TEST);
    for (size_t t = 0; t < TIMES; t++) {
      double z[C], new = errors[k](&rng);
      for (size_t i = 0; i < C; i++) z[i] = errors[k](&rng);
      assert_ok(gpnn_conformal_record(&params, C, z, N_LEVELS, levels, &err));
      for (size_t l = 0; l < N_LEVELS; l++)
        covered[l] += fabs(new) <= gpnn_conformal_width(&params, levels[l]);
    }
    for (size_t l = 0; l < N_LEVELS; l++) {
      double promised = ceil((C + 1) * levels[l] - 1e-6) / (C + 1);
      double sd = sqrt(promised * (1 - promised) / TIMES);
      assert_true(promised >= levels[l]);
      assert_near((double)covered[l] / TIMES, promised, 4.5 * sd);
    }
    gpnn_parameters_release(&params);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_width_is_the_ceiling_of_c_plus_one_times_p_th_smallest),
      cmocka_unit_test(too_few_rows_for_a_level_are_refused_with_the_number_needed),
      cmocka_unit_test(new_widths_replace_old_ones),
      cmocka_unit_test(coverage_is_what_is_promised_for_any_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
