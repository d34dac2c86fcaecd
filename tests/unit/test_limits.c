#include <float.h>

#include "base/rng.h"
#include "dataset/steps_private.h"
#include "stats/row_source.h"
#include "table/schema.h"
#include "unit.h"

enum { N = 3 * GPNN_ROW_SOURCE_BLOCK + 100 };

/* Rows of one column in memory, read from anywhere. */
static enum gpnn_status read_values(void *context, size_t from, size_t count, double *rows,
                                    struct gpnn_error *error)
{
  const double *values = context;
  (void)error;
  memcpy(rows, values + from, count * sizeof *rows);
  return GPNN_OK;
}

/* Learns the limits of one column; false if it gets none, and the other arguments are untouched. */
static bool is_limited(size_t n, double *values, double *lower, double *upper,
                       struct gpnn_outliers *outliers)
{
  const struct gpnn_row_source source = {n, 1, read_values, values, 1, NULL};
  struct gpnn_learnt limits = {0};
  struct gpnn_outlier_columns found = {0};
  assert_ok(gpnn_limits_learn(&limits, &found, &source, 1, 0, NULL, &err));
  bool limited = gpnn_limits_has(&limits, 0);
  assert_int_equal(found.n, limited);
  if (limited) {
    *lower = limits.numbers[0];
    *upper = limits.numbers[1];
    *outliers = found.of[0];
  }
  free(limits.numbers);
  gpnn_outlier_columns_release(&found);
  return limited;
}

/* If every 'every'th of n normal values is 'wild', the others are within limits that it exceeds. */
static void assert_found(size_t n, size_t every, double wild)
{
  double values[N], lower, upper, least = INFINITY, greatest = -INFINITY;
  struct gpnn_outliers outliers;
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, n, GPNN_RNG_TEST);
  for (size_t i = 0; i < n; i++) {
    values[i] = i % every == every - 1 ? wild : gpnn_rng_normal(&rng);
    if (values[i] == wild) continue;
    least = fmin(least, values[i]);
    greatest = fmax(greatest, values[i]);
  }
  if (!is_limited(n, values, &lower, &upper, &outliers))
    fail_msg("no limits with each %zuth of %zu cells %g", every, n, wild);
  assert_true(lower < least && upper > greatest);
  assert_true(lower > -20 && upper < 20);
  assert_true(wild < lower || wild > upper);
  assert_int_equal(outliers.n, n / every);
  assert_int_equal(outliers.n_equal, n / every);
  assert_near(outliers.value, wild, 0);
  assert_near(outliers.low, least, 0);
  assert_near(outliers.high, greatest, 0);
}

static void outliers_are_found(void **state)
{
  (void)state;
  static const double wild[] = {1e5, -99999, -1e20, 1e300, 1.7e308, -1.7e308, 100};
  for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
    assert_found(20, 20, wild[i]);
    assert_found(100, 100, wild[i]);
    assert_found(100, 33, wild[i]);
    assert_found(N, N, wild[i]);
    assert_found(N, 100, wild[i]);
    assert_found(N, 50, wild[i]);
    assert_found(N, 5, wild[i]); /* all alike: a code */
  }
}

/* Value 'i' of columns in which nothing is wild. */
static double honest(int kind, size_t i, struct gpnn_rng *rng)
{
  double z = gpnn_rng_normal(rng), u = gpnn_rng_uniform(rng);
  switch (kind) {
  case 0:
    return z;
  case 1:
    return 1e9 + z;
  case 2:
    return 1e307 * u;
  case 3:
    return exp(2 * z); /* a long tail */
  case 4:
    return u < 0.9 ? 0 : exp(2 * z); /* and mostly zero */
  case 5:
    return u < 0.01; /* a rare level */
  case 6:
    return 42;
  case 7:
    return i == 7 ? 1e5 : 42; /* a rarer one, for all we know */
  case 8:
    return u < 0.8 ? 1e-3 * z : 1000 + z; /* two states */
  case 9:
    return u < 0.97 ? 999 : 10 * u; /* mostly a code */
  case 10:
    return z * (i % 2 ? 1e-16 : 0) + 1; /* rounding */
  default:
    return z / (u + 0.01); /* outliers of all sizes */
  }
}

static void columns_without_outliers_have_no_limits(void **state)
{
  (void)state;
  enum { KINDS = 12 };
  static const size_t sizes[] = {2, 20, 100, N};
  double values[N], lower, upper;
  struct gpnn_outliers outliers;
  for (int kind = 0; kind < KINDS; kind++)
    for (size_t s = 0; s < 4; s++) {
      struct gpnn_rng rng;
      gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
      for (size_t i = 0; i < sizes[s]; i++) values[i] = honest(kind, i, &rng);
      if (is_limited(sizes[s], values, &lower, &upper, &outliers))
        fail_msg("kind %d of %zu: %g to %g", kind, sizes[s], lower, upper);
    }
}

static void rare_levels_are_not_outliers_but_cells_far_from_them_are(void **state)
{
  (void)state;
  double values[N] = {0}, lower, upper;
  struct gpnn_outliers outliers;
  for (size_t i = 0; i < N; i += 40) values[i] = 1;
  assert_false(is_limited(N, values, &lower, &upper, &outliers));
  for (size_t i = 1; i < N; i += 100) values[i] = -99999;
  assert_true(is_limited(N, values, &lower, &upper, &outliers));
  assert_true(lower < 0 && upper > 1 && lower > -20 && upper < 20);
}

static void many_cells_are_outliers_only_if_they_are_equal(void **state)
{
  (void)state;
  double values[N], lower, upper;
  struct gpnn_outliers outliers;
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 6, GPNN_RNG_TEST);
  for (size_t i = 0; i < N; i++) values[i] = gpnn_rng_normal(&rng);
  for (size_t i = 0; i < N; i += 10) values[i] = i % 20 == 0 ? -999 : 9999;
  assert_true(is_limited(N, values, &lower, &upper, &outliers));
  for (size_t i = 0; i < N; i += 10) values[i] = 5000 + (double)i;
  assert_false(is_limited(N, values, &lower, &upper, &outliers));
  for (size_t i = 0; i < N; i += 10)
    if (i % 60 != 0) values[i] = 0;
  assert_true(is_limited(N, values, &lower, &upper, &outliers));
  assert_int_equal(outliers.n_equal, 1);
  assert_int_equal(outliers.n, (N + 59) / 60);
}

/* Every fifth cell is each of two values, of which 0 to 2 are the others. */
static bool are_two_levels_limited(double a, double b)
{
  double values[N], lower, upper;
  struct gpnn_outliers outliers;
  for (size_t i = 0; i < N; i++) values[i] = i % 5 == 0 ? a : i % 5 == 1 ? b : (double)(i % 5 - 2);
  return is_limited(N, values, &lower, &upper, &outliers);
}

static void two_levels_that_differ_are_not_codes(void **state)
{
  (void)state;
  assert_true(are_two_levels_limited(998, 999));
  assert_true(are_two_levels_limited(88888, 99999));
  assert_true(are_two_levels_limited(-999, -999));
  assert_true(are_two_levels_limited(-999, 9999));
  assert_false(are_two_levels_limited(1000, 2000));
  assert_false(are_two_levels_limited(-100, -300));
  assert_false(are_two_levels_limited(1e300, 1.7e308));
}

static void the_most_frequent_of_the_outermost_and_innermost_is_reported(void **state)
{
  (void)state;
  double values[N], lower, upper;
  struct gpnn_outliers outliers;
  for (size_t i = 0; i < N; i++) values[i] = (double)(i % 50);
  values[3] = -1e20;
  values[40] = values[1500] = values[2500] = -99999;
  values[2000] = 1e6;
  assert_true(is_limited(N, values, &lower, &upper, &outliers));
  assert_int_equal(outliers.n, 5);
  assert_int_equal(outliers.n_equal, 3);
  assert_near(outliers.value, -99999, 0);
}

static void outliers_are_clipped_or_replaced_by_the_middle_of_the_limits(void **state)
{
  (void)state;
  double bounds[] = {-2, -DBL_MAX, 4, DBL_MAX};
  const struct gpnn_learnt limits = {2, 4, bounds}, none = {0};
  assert_near(gpnn_limits_clip(&limits, 0, -1e308), -2, 0);
  assert_near(gpnn_limits_clip(&limits, 0, 1e308), 4, 0);
  assert_near(gpnn_limits_clip(&limits, 0, 4), 4, 0);
  assert_near(gpnn_limits_replace(&limits, 0, 4), 4, 0);
  assert_near(gpnn_limits_replace(&limits, 0, 4.1), 1, 0);
  assert_near(gpnn_limits_clip(&limits, 1, 1e308), 1e308, 0);
  assert_near(gpnn_limits_replace(&limits, 1, 1e308), 1e308, 0);
  assert_near(gpnn_limits_clip(&none, 7, 1e308), 1e308, 0);
  assert_true(gpnn_limits_has(&limits, 0) && !gpnn_limits_has(&limits, 1));
  assert_false(gpnn_limits_has(&none, 0));
}

/* N rows of 3 columns, each with outliers; rows from '*good' on cannot be read. */
static enum gpnn_status read_three(void *context, size_t from, size_t count, double *rows,
                                   struct gpnn_error *error)
{
  const size_t *good = context;
  if (from + count > *good) return gpnn_fail(error, GPNN_EIO, "the disk is gone");
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < 3; j++)
      rows[i * 3 + j] = (from + i) % 500 == j ? 1e6 : (double)((from + i) * (j + 3) % 101);
  return GPNN_OK;
}

static void points_and_features_with_a_unit_have_no_limits(void **state)
{
  (void)state;
  size_t good = N;
  static const struct gpnn_feature pair[] = {{0, false, false},
                                             {1, false, false},
                                             {1, false, false}},
                                   unit[] = {
                                       {0, true, false}, {1, false, false}, {2, false, false}};
  const struct gpnn_row_source source = {N, 3, read_three, &good, 1, NULL};
  struct gpnn_learnt limits = {0};
  struct gpnn_outlier_columns outliers = {0};
  assert_ok(gpnn_limits_learn(&limits, &outliers, &source, 3, 0, pair, &err));
  assert_int_equal(outliers.n, 1);
  assert_int_equal(outliers.of[0].column, 0);
  free(limits.numbers);
  gpnn_outlier_columns_release(&outliers);
  assert_ok(gpnn_limits_learn(&limits, &outliers, &source, 3, 0, unit, &err));
  assert_int_equal(outliers.n, 2);
  assert_int_equal(outliers.of[0].column, 1);
  free(limits.numbers);
  gpnn_outlier_columns_release(&outliers);
}

static void columns_that_follow_are_described_but_get_no_limits(void **state)
{
  (void)state;
  size_t good = N;
  const struct gpnn_row_source source = {N, 3, read_three, &good, 1, NULL};
  struct gpnn_learnt limits = {0};
  struct gpnn_outlier_columns outliers = {0};
  assert_ok(gpnn_limits_learn(&limits, &outliers, &source, 1, 2, NULL, &err));
  assert_int_equal(outliers.n, 3);
  assert_int_equal(limits.n_features, 1);
  free(limits.numbers);
  gpnn_outlier_columns_release(&outliers);
}

static void limits_do_not_depend_on_threads(void **state)
{
  (void)state;
  size_t good = N;
  struct gpnn_learnt limits[2] = {{0}};
  struct gpnn_outlier_columns outliers[2] = {{0}};
  for (int i = 0; i < 2; i++) {
    const struct gpnn_row_source source = {N, 3, read_three, &good, i == 0 ? 1 : 3, NULL};
    assert_ok(gpnn_limits_learn(&limits[i], &outliers[i], &source, 3, 0, NULL, &err));
  }
  assert_int_equal(outliers[0].n, 3);
  assert_memory_equal(limits[0].numbers, limits[1].numbers, 6 * sizeof(double));
  assert_memory_equal(outliers[0].of, outliers[1].of, 3 * sizeof *outliers[0].of);
  for (int i = 0; i < 2; i++) {
    free(limits[i].numbers);
    gpnn_outlier_columns_release(&outliers[i]);
  }
}

static void a_failure_of_the_source_is_passed_on(void **state)
{
  (void)state;
  size_t good = 2000;
  struct gpnn_learnt limits = {0};
  struct gpnn_outlier_columns outliers = {0};
  const struct gpnn_row_source source = {N, 3, read_three, &good, 2, NULL};
  assert_fails(gpnn_limits_learn(&limits, &outliers, &source, 3, 0, NULL, &err), GPNN_EIO,
               "disk is gone");
  assert_true(limits.numbers == NULL && outliers.of == NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outliers_are_found),
      cmocka_unit_test(columns_without_outliers_have_no_limits),
      cmocka_unit_test(rare_levels_are_not_outliers_but_cells_far_from_them_are),
      cmocka_unit_test(many_cells_are_outliers_only_if_they_are_equal),
      cmocka_unit_test(two_levels_that_differ_are_not_codes),
      cmocka_unit_test(the_most_frequent_of_the_outermost_and_innermost_is_reported),
      cmocka_unit_test(outliers_are_clipped_or_replaced_by_the_middle_of_the_limits),
      cmocka_unit_test(points_and_features_with_a_unit_have_no_limits),
      cmocka_unit_test(columns_that_follow_are_described_but_get_no_limits),
      cmocka_unit_test(limits_do_not_depend_on_threads),
      cmocka_unit_test(a_failure_of_the_source_is_passed_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
