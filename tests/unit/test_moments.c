#include "base/memory.h"
#include "random.h"
#include "source.h"
#include "stats/moments.h"

enum { N = 2 * GPNN_ROW_SOURCE_BLOCK + 300, W = 5 };

/* Columns: normal, far from zero, huge, tiny, constant. */
static double *make_rows(void)
{
  double *rows = malloc(N * W * sizeof *rows);
  struct gpnn_rng rng = seeded(3);
  for (size_t i = 0; i < N; i++) {
    double *row = rows + i * W, z = gpnn_rng_normal(&rng);
    row[0] = z;
    row[1] = 1e9 + z;
    row[2] = 1e307 * z;
    row[3] = 1e-300 * z;
    row[4] = 42;
  }
  return rows;
}

static void moments_are_those_of_all_rows_whatever_the_unit(void **state)
{
  (void)state;
  double *rows = make_rows();
  struct source_rows given = {N, W, 0, rows};
  const struct gpnn_row_source source = source_of(&given);
  struct gpnn_moments moments[W];
  long double mean = 0, squares = 0;
  for (size_t i = 0; i < N; i++) mean += rows[i * W] / (long double)N;
  for (size_t i = 0; i < N; i++) {
    long double deviation = rows[i * W] - mean;
    squares += deviation * deviation / (long double)N;
  }
  double sd = (double)sqrtl(squares);
  assert_ok(gpnn_moments_learn(&source, W, moments, &err));
  assert_near(moments[0].mean, (double)mean, 1e-15);
  assert_close(moments[0].sd, sd, 1e-14);
  assert_near(moments[1].mean, 1e9 + (double)mean, 1e-7);
  assert_close(moments[1].sd, sd, 1e-7); /* the digits that 1e9 leaves */
  assert_close(moments[2].sd, 1e307 * sd, 1e-12);
  assert_close(moments[3].sd, 1e-300 * sd, 1e-12);
  assert_true(moments[4].mean == 42 && moments[4].sd == 0);
  free(rows);
}

/* One row is so far out that sums about the middle of the range lose more digits than the mean may
 * lose. */
static void a_mean_far_from_the_middle_keeps_its_digits(void **state)
{
  (void)state;
  enum { ROWS = 2000 };
  double rows[ROWS];
  struct source_rows given = {ROWS, 1, 0, rows};
  const struct gpnn_row_source source = source_of(&given);
  struct gpnn_moments moments;
  struct gpnn_rng rng = seeded(5);
  long double mean = 0;
  for (size_t i = 0; i < ROWS; i++) rows[i] = i == 7 ? 1e12 : gpnn_rng_uniform(&rng);
  for (size_t i = 0; i < ROWS; i++) mean += (long double)rows[i] / ROWS;
  assert_ok(gpnn_moments_learn(&source, 1, &moments, &err));
  assert_close(moments.mean, (double)mean, 2e-16);
}

static void further_columns_are_ignored(void **state)
{
  (void)state;
  static const double rows[] = {1, 7, 3, -7, 5, INFINITY};
  struct source_rows given = {3, 2, 0, rows};
  const struct gpnn_row_source source = source_of(&given);
  struct gpnn_moments moments[2] = {{0, 0}, {-1, -1}};
  assert_ok(gpnn_moments_learn(&source, 1, moments, &err));
  assert_near(moments[0].mean, 3, 1e-15);
  assert_close(moments[0].sd, sqrt(8.0 / 3), 1e-15);
  assert_true(moments[1].mean == -1 && moments[1].sd == -1);
}

/* Those of a column with gaps are those of the numbers that it has, whatever row they are in. */
static void numbers_that_are_missing_do_not_count(void **state)
{
  (void)state;
  enum { ROWS = 3000 };
  double *rows = calloc(2 * ROWS, sizeof *rows), *kept = calloc(ROWS, sizeof *kept);
  struct gpnn_rng rng = seeded(9);
  struct gpnn_moments moments[2], alone;
  size_t n = 0;
  for (size_t i = 0; i < ROWS; i++) {
    rows[2 * i] = gpnn_rng_normal(&rng);
    rows[2 * i + 1] = i % 3 == 0 || i < 1100 ? NAN : 1e6 + gpnn_rng_normal(&rng);
    if (!isnan(rows[2 * i + 1])) kept[n++] = rows[2 * i + 1];
  }
  struct source_rows given = {ROWS, 2, 0, rows}, own = {n, 1, 0, kept};
  const struct gpnn_row_source source = source_of(&given), own_source = source_of(&own);
  assert_ok(gpnn_moments_learn_present(&source, 2, moments, &err));
  assert_ok(gpnn_moments_learn(&own_source, 1, &alone, &err));
  assert_close(moments[1].mean, alone.mean, 1e-15);
  assert_close(moments[1].sd, alone.sd, 1e-12);
  for (size_t i = 0; i < ROWS; i++) rows[2 * i + 1] = NAN;
  assert_ok(gpnn_moments_learn_present(&source, 2, moments, &err));
  assert_true(isnan(moments[1].mean) && moments[1].sd == 0 && moments[0].sd > 0.9);
  free(rows);
  free(kept);
}

static void covariances_are_those_of_the_chosen_columns(void **state)
{
  (void)state;
  double *rows = malloc(N * W * sizeof *rows), cov[4] = {0}, scaled[4] = {0}, expected = 0;
  struct gpnn_moments moments[W];
  struct gpnn_rng rng = seeded(4);
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j < W; j++) rows[i * W + j] = (double)j + gpnn_rng_normal(&rng);
    rows[i * W + 3] += 2 * rows[i * W + 2];
  }
  struct source_rows given = {N, W, 0, rows};
  const struct gpnn_row_source source = source_of(&given);
  assert_ok(gpnn_moments_learn(&source, W, moments, &err));
  for (size_t i = 0; i < N; i++)
    expected += (rows[i * W + 2] - moments[2].mean) * (rows[i * W + 3] - moments[3].mean) / N;
  assert_ok(gpnn_moments_covariance(&source, 2, 2, moments + 2, false, cov, &err));
  assert_close(cov[0], moments[2].sd * moments[2].sd, 1e-12);
  assert_close(cov[1], expected, 1e-12);
  assert_close(cov[3], moments[3].sd * moments[3].sd, 1e-12);
  assert_ok(gpnn_moments_covariance(&source, 2, 2, moments + 2, true, scaled, &err));
  assert_close(scaled[0], 1, 1e-12);
  assert_close(scaled[1], expected / moments[2].sd / moments[3].sd, 1e-12);
  free(rows);
}

static enum gpnn_status fail_late(void *context, size_t from, size_t count, double *rows,
                                  struct gpnn_error *error)
{
  (void)context;
  for (size_t i = 0; i < count; i++) rows[i] = (double)i;
  return from == 0 ? GPNN_OK : gpnn_fail(error, GPNN_EIO, "the disk is gone");
}

static enum gpnn_status copy_rows(void *context, size_t from, size_t count, double *rows,
                                  struct gpnn_error *error)
{
  const double *values = context;
  (void)error;
  memcpy(rows, values + from * W, count * W * sizeof *rows);
  return GPNN_OK;
}

static void sums_do_not_depend_on_threads(void **state)
{
  (void)state;
  double *rows = make_rows(), cov[2][W * W] = {{0}};
  struct gpnn_moments moments[2][W];
  for (int i = 0; i < 2; i++) {
    const struct gpnn_row_source source = {N, W, copy_rows, rows, i == 0 ? 1 : 3, NULL};
    assert_ok(gpnn_moments_learn(&source, W, moments[i], &err));
    assert_ok(gpnn_moments_covariance(&source, 0, 2, moments[i], false, cov[i], &err));
  }
  assert_memory_equal(moments[0], moments[1], sizeof moments[0]);
  assert_memory_equal(cov[0], cov[1], sizeof cov[0]);
  free(rows);
}

static void rows_so_wide_that_blocks_are_short_have_the_same_moments(void **state)
{
  (void)state;
  enum { ROWS = 8, WIDTH = 300000 };
  double *rows = gpnn_alloc(ROWS, WIDTH, sizeof *rows);
  for (size_t i = 0; i < ROWS; i++) rows[i * WIDTH + 7] = (double)i;
  struct source_rows given = {ROWS, WIDTH, 0, rows};
  const struct gpnn_row_source source = source_of(&given);
  struct gpnn_moments moments[8];
  assert_ok(gpnn_moments_learn(&source, 8, moments, &err));
  assert_near(moments[7].mean, 3.5, 1e-15);
  assert_near(moments[7].sd, sqrt(5.25), 1e-14);
  free(rows);
}

static void failures_of_a_source_are_passed_on(void **state)
{
  (void)state;
  for (int threads = 1; threads <= 3; threads++) {
    const struct gpnn_row_source source = {
        5 * GPNN_ROW_SOURCE_BLOCK, 1, fail_late, NULL, threads, NULL};
    struct gpnn_moments moments = {-1, -1};
    double cov = 0;
    assert_fails(gpnn_moments_learn(&source, 1, &moments, &err), GPNN_EIO, "the disk is gone");
    assert_true(moments.mean == -1);
    assert_fails(gpnn_moments_covariance(&source, 0, 1, &moments, false, &cov, &err), GPNN_EIO,
                 "the disk is gone");
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moments_are_those_of_all_rows_whatever_the_unit),
      cmocka_unit_test(a_mean_far_from_the_middle_keeps_its_digits),
      cmocka_unit_test(further_columns_are_ignored),
      cmocka_unit_test(numbers_that_are_missing_do_not_count),
      cmocka_unit_test(covariances_are_those_of_the_chosen_columns),
      cmocka_unit_test(sums_do_not_depend_on_threads),
      cmocka_unit_test(rows_so_wide_that_blocks_are_short_have_the_same_moments),
      cmocka_unit_test(failures_of_a_source_are_passed_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
