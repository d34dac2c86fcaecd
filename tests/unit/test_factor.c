#include "unit.h"

#include "base/memory.h"
#include "base/rng.h"
#include "kernel/factor.h"

enum { LEVELS = 150, COLUMNS = 3 };

/* Levels in the plane of the first two columns, the last two at one place. */
static void make_levels(size_t d, double *x)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 1, GPNN_RNG_TEST);
  gpnn_rng_normals(&rng, LEVELS * d, x);
  memcpy(x + (LEVELS - 1) * d, x + (LEVELS - 2) * d, d * sizeof *x);
}

static void make_factor(struct gpnn_factor *factor, const char *text, size_t d, double nugget)
{
  double c[64];
  assert_ok(gpnn_factor_parse(factor, text, d, 4, true, &err));
  factor->nugget = nugget;
  gpnn_factor_get_coordinates(factor, c);
  for (size_t i = 0; i < gpnn_factor_n_coordinates(factor); i++)
    c[i] += 0.3 * sin(1.0 + (double)i) - 0.1;
  gpnn_factor_set_coordinates(factor, c);
}

static void matrices_are_products_of_correlations(void **state)
{
  (void)state;
  struct gpnn_factor factor = {0};
  double x[LEVELS], k[LEVELS * LEVELS], again[LEVELS * LEVELS];
  make_levels(1, x);
  assert_ok(gpnn_factor_parse(&factor, "rbf*periodic*matern32", 1, 0, true, &err));
  factor.term[0].lengthscale[0] = 0.7;
  factor.term[1].lengthscale[0] = 1.3;
  factor.term[1].period = 0.9;
  factor.term[2].lengthscale[0] = 2;
  factor.nugget = 0.25;
  gpnn_factor_matrix(&factor, 1, LEVELS, x, LEVELS, x, true, 2, k);
  for (size_t i = 0; i < LEVELS; i++)
    for (size_t j = 0; j < LEVELS; j++) {
      double r = fabs(x[i] - x[j]), s = sin(M_PI * r / 0.9) / 1.3, m = sqrt(3) * r / 2;
      double expected = exp(-0.5 * r * r / 0.49) * exp(-2 * s * s) * (1 + m) * exp(-m);
      assert_near(k[i * LEVELS + j], expected + (i == j ? 0.25 : 0), 1e-14);
    }
  gpnn_factor_matrix(&factor, 1, LEVELS, x, LEVELS, x, true, 1, again);
  assert_memory_equal(k, again, sizeof k);
  gpnn_factor_matrix(&factor, 1, LEVELS, x, LEVELS, x, false, 3, again);
  for (size_t i = 0; i < LEVELS; i++)
    for (size_t j = 0; j < LEVELS; j++) {
      assert_true(k[i * LEVELS + j] == k[j * LEVELS + i]);
      assert_near(again[i * LEVELS + j], k[i * LEVELS + j] - (i == j ? 0.25 : 0), 1e-15);
    }
  assert_near(gpnn_factor_variance(&factor, x), 1.25, 1e-15);
  gpnn_factor_release(&factor);
}

static void periods_beyond_all_numbers_are_finite(void **state)
{
  (void)state;
  struct gpnn_factor factor = {0};
  const double near[] = {0}, far[] = {1e300};
  double k;
  assert_ok(gpnn_factor_parse(&factor, "rbf*periodic", 1, 0, true, &err));
  factor.term[1].period = 1e-100;
  gpnn_factor_matrix(&factor, 1, 1, near, 1, far, false, 1, &k);
  assert_true(k == 0);
  gpnn_factor_release(&factor);
}

static void tasks_covary_by_loadings(void **state)
{
  (void)state;
  struct gpnn_factor factor = {0};
  const double tasks[] = {0, 1, 2};
  double k[9];
  assert_ok(gpnn_factor_parse(&factor, "icm:2", 1, 3, true, &err));
  const double loadings[] = {1, 2, -1, 0.5, 0, 3}, own[] = {0.1, 0.2, 0.3};
  memcpy(factor.loadings, loadings, sizeof loadings);
  memcpy(factor.own, own, sizeof own);
  gpnn_factor_matrix(&factor, 1, 3, tasks, 3, tasks, true, 1, k);
  const double expected[] = {5.1, 0, 6, 0, 1.45, 1.5, 6, 1.5, 9.3};
  for (size_t i = 0; i < 9; i++) assert_near(k[i], expected[i], 1e-14);
  assert_near(gpnn_factor_variance(&factor, &tasks[2]), 9.3, 1e-14);
  gpnn_factor_release(&factor);
}

/* <K, gamma> for coordinates 'c'. */
static double inner(const struct gpnn_factor *factor, const double *c, size_t d, const double *x,
                    const double *gamma)
{
  struct gpnn_factor moved = {0};
  double k[LEVELS * LEVELS], sum = 0;
  assert_ok(gpnn_factor_copy(&moved, factor, &err));
  gpnn_factor_set_coordinates(&moved, c);
  gpnn_factor_matrix(&moved, d, LEVELS, x, LEVELS, x, true, 1, k);
  for (size_t i = 0; i < LEVELS * LEVELS; i++) sum += k[i] * gamma[i];
  gpnn_factor_release(&moved);
  return sum;
}

static void check_gradient(const char *text, size_t d, double nugget)
{
  struct gpnn_factor factor = {0};
  struct gpnn_rng rng;
  double x[LEVELS * COLUMNS], gamma[LEVELS * LEVELS], c[64], gradient[64] = {0}, again[64] = {0};
  make_levels(d, x);
  if (strncmp(text, "icm", 3) == 0)
    for (size_t i = 0; i < LEVELS; i++) x[i] = (double)(i % 4);
  make_factor(&factor, text, d, nugget);
  gpnn_rng_init(&rng, 2, GPNN_RNG_TEST);
  for (size_t i = 0; i < LEVELS; i++)
    for (size_t j = 0; j <= i; j++)
      gamma[i * LEVELS + j] = gamma[j * LEVELS + i] = gpnn_rng_normal(&rng);
  size_t n = gpnn_factor_n_coordinates(&factor);
  gpnn_factor_get_coordinates(&factor, c);
  assert_ok(gpnn_factor_contract(&factor, d, LEVELS, x, gamma, 1, gradient, &err));
  assert_ok(gpnn_factor_contract(&factor, d, LEVELS, x, gamma, 3, again, &err));
  assert_memory_equal(gradient, again, sizeof gradient);
  for (size_t i = 0; i < n; i++) {
    const double step = 1e-5, at = c[i];
    c[i] = at + step;
    double above = inner(&factor, c, d, x, gamma);
    c[i] = at - step;
    double below = inner(&factor, c, d, x, gamma);
    c[i] = at;
    assert_near(gradient[i], (above - below) / (2 * step), 1e-7 * (1 + fabs(gradient[i])));
  }
  gpnn_factor_release(&factor);
}

static void gradients_match_finite_differences(void **state)
{
  (void)state;
  check_gradient("rbf", 3, 0);
  check_gradient("exp", 2, 0.1);
  check_gradient("matern32", 3, 0.2);
  check_gradient("matern:1.2", 1, 0);
  check_gradient("periodic", 1, 0);
  check_gradient("rbf*periodic", 1, 0.3);
  check_gradient("matern52*exp*periodic*rbf", 1, 0.3);
  check_gradient("matern52*rbf", 2, 0);
  check_gradient("icm", 1, 0);
  check_gradient("icm:2", 1, 0);
}

static void ranks_share_ties_and_are_interpolated(void **state)
{
  (void)state;
  struct gpnn_factor factor = {.inputs = GPNN_FACTOR_RANKS};
  const double levels[] = {10, 20, 20, 1000}, x[] = {10, 20, 510, 1000, -50, 1e9};
  double z[6], in_place[4];
  assert_ok(gpnn_factor_parse(&factor, "rbf", 1, 0, true, &err));
  assert_ok(gpnn_factor_prepare(&factor, 1, 4, levels, 6, x, z, &err));
  /* ranks 0, 1.5, 1.5, 3 with mean 1.5 and variance 4.5 / 4 */
  const double sd = sqrt(4.5 / 4), expected[] = {-1.5, 0, 0.75, 1.5, -2.5, 2.5};
  for (size_t i = 0; i < 6; i++) assert_near(z[i], expected[i] / sd, 1e-14);
  memcpy(in_place, levels, sizeof levels);
  assert_ok(gpnn_factor_prepare(&factor, 1, 4, in_place, 4, in_place, in_place, &err));
  assert_near(in_place[3], 1.5 / sd, 1e-14);
  const double same[] = {3, 3};
  assert_ok(gpnn_factor_prepare(&factor, 1, 2, same, 2, same, z, &err));
  assert_true(z[0] == 0 && z[1] == 0);
  gpnn_factor_release(&factor);
}

static void tasks_are_numbered_by_the_levels(void **state)
{
  (void)state;
  struct gpnn_factor factor = {0};
  double levels[] = {7, 3, 5};
  const double x[] = {5, 7}, unknown[] = {5, 4};
  double z[2];
  assert_ok(gpnn_factor_parse(&factor, "icm", 1, 3, true, &err));
  assert_ok(gpnn_factor_prepare(&factor, 1, 3, levels, 2, x, z, &err));
  assert_true(z[0] == 2 && z[1] == 0);
  assert_fails(gpnn_factor_prepare(&factor, 1, 3, levels, 2, unknown, z, &err), GPNN_EDATA,
               "4 is none of the 3 tasks");
  assert_ok(gpnn_factor_prepare(&factor, 1, 3, levels, 3, levels, levels, &err));
  assert_true(levels[0] == 0 && levels[1] == 1 && levels[2] == 2);
  gpnn_factor_release(&factor);
}

static void logarithms_need_positive_numbers(void **state)
{
  (void)state;
  struct gpnn_factor factor = {.inputs = GPNN_FACTOR_LOG};
  const double x[] = {1, M_E, 0};
  double z[3];
  assert_ok(gpnn_factor_parse(&factor, "rbf", 1, 0, true, &err));
  assert_ok(gpnn_factor_prepare(&factor, 1, 2, x, 2, x, z, &err));
  assert_near(z[1], 1, 1e-15);
  assert_fails(gpnn_factor_prepare(&factor, 1, 3, x, 3, x, z, &err), GPNN_EDATA,
               "has no logarithm");
  gpnn_factor_release(&factor);
}

static void texts_are_read_as_they_are_written(void **state)
{
  (void)state;
  static const char *const texts[] = {"rbf", "matern32*periodic", "matern:1.2*rbf", "icm", "icm:2"};
  char text[100];
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct gpnn_factor factor = {0}, copy = {0};
    assert_ok(gpnn_factor_parse(&factor, texts[i], 1, 4, true, &err));
    assert_ok(gpnn_factor_copy(&copy, &factor, &err));
    assert_string_equal(gpnn_factor_write(&copy, text, sizeof text), texts[i]);
    assert_int_equal(gpnn_factor_n_coordinates(&copy), gpnn_factor_n_coordinates(&factor));
    gpnn_factor_release(&factor);
    gpnn_factor_release(&copy);
  }
}

/* Of a single level no coordinate varies, and none is kept. */
static void levels_without_coordinates_are_alike(void **state)
{
  (void)state;
  struct gpnn_factor factor = {0};
  const double x[1] = {0};
  double k[4], gradient[1] = {0};
  assert_ok(gpnn_factor_parse(&factor, "rbf", 0, 0, true, &err));
  assert_int_equal(factor.term[0].n_lengthscales, 1);
  gpnn_factor_matrix(&factor, 0, 2, x, 2, x, true, 1, k);
  for (size_t i = 0; i < 4; i++) assert_near(k[i], 1, 0);
  assert_ok(gpnn_factor_contract(&factor, 0, 2, x, k, 1, gradient, &err));
  assert_near(gradient[0], 0, 0);
  gpnn_factor_release(&factor);
}

static void bad_texts_are_refused_and_change_nothing(void **state)
{
  (void)state;
  struct gpnn_factor factor = {0};
  char text[100];
  assert_ok(gpnn_factor_parse(&factor, "rbf", 2, 4, true, &err));
  assert_fails(gpnn_factor_parse(&factor, "rfb", 2, 4, true, &err), GPNN_EINVAL, "not a kernel");
  assert_fails(gpnn_factor_parse(&factor, "rbf*", 2, 4, true, &err), GPNN_EINVAL, "not a kernel");
  assert_fails(gpnn_factor_parse(&factor, "", 2, 4, true, &err), GPNN_EINVAL, "not a kernel");
  assert_fails(gpnn_factor_parse(&factor, "rbf*icm", 2, 4, true, &err), GPNN_EINVAL, "kernel");
  assert_fails(gpnn_factor_parse(&factor, "periodic", 2, 4, true, &err), GPNN_EINVAL, "one column");
  assert_fails(gpnn_factor_parse(&factor, "rbf*rbf*rbf*rbf*rbf", 2, 4, true, &err), GPNN_EINVAL,
               "more than");
  assert_fails(gpnn_factor_parse(&factor, "icm:5", 1, 4, true, &err), GPNN_EINVAL, "1 to 4");
  assert_fails(gpnn_factor_parse(&factor, "icm", 1, 0, true, &err), GPNN_EINVAL, "no tasks");
  assert_fails(gpnn_factor_parse(&factor, "icm", 2, 4, true, &err), GPNN_EINVAL, "one column");
  assert_string_equal(gpnn_factor_write(&factor, text, sizeof text), "rbf");
  assert_int_equal(factor.term[0].n_lengthscales, 2);
  gpnn_factor_release(&factor);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrices_are_products_of_correlations),
      cmocka_unit_test(periods_beyond_all_numbers_are_finite),
      cmocka_unit_test(tasks_covary_by_loadings),
      cmocka_unit_test(gradients_match_finite_differences),
      cmocka_unit_test(ranks_share_ties_and_are_interpolated),
      cmocka_unit_test(tasks_are_numbered_by_the_levels),
      cmocka_unit_test(logarithms_need_positive_numbers),
      cmocka_unit_test(texts_are_read_as_they_are_written),
      cmocka_unit_test(levels_without_coordinates_are_alike),
      cmocka_unit_test(bad_texts_are_refused_and_change_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
