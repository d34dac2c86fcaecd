#include "base/memory.h"
#include "random.h"
#include "stats/incomplete.h"
#include "unit.h"

enum { N = 4000, D = 3 };

/* Rows of a normal distribution: x, y with correlation 0.8 and in other units, and z apart. */
static double *make_rows(double share)
{
  double *rows = malloc(N * D * sizeof *rows);
  struct gpnn_rng rng = seeded(11);
  for (size_t i = 0; i < N; i++) {
    double *row = rows + i * D, x = gpnn_rng_normal(&rng), e = gpnn_rng_normal(&rng);
    row[0] = x;
    row[1] = 100 + 10 * (0.8 * x + 0.6 * e);
    row[2] = gpnn_rng_normal(&rng);
    for (size_t j = 0; j < D; j++)
      if (gpnn_rng_uniform(&rng) < share) row[j] = NAN;
  }
  return rows;
}

static double completed(const struct gpnn_incomplete *fitted, double x, double y, double z,
                        size_t which)
{
  double row[D] = {x, y, z}, scratch[64];
  assert_true(gpnn_incomplete_scratch(D) <= 64);
  assert_ok(gpnn_incomplete_complete(fitted, row, scratch, &err));
  return row[which];
}

static void what_is_missing_is_its_mean_given_the_rest(void **state)
{
  (void)state;
  double *rows = make_rows(0.2);
  struct gpnn_incomplete fitted = {0};
  assert_ok(gpnn_incomplete_fit(&fitted, N, D, rows, &err));
  assert_near(completed(&fitted, 1, NAN, 0, 1), 108, 0.5);
  assert_near(completed(&fitted, NAN, 116, 0, 0), 1.28, 0.06);
  assert_near(completed(&fitted, NAN, NAN, 2, 1), 100, 0.5);
  assert_near(completed(&fitted, NAN, NAN, NAN, 0), 0, 0.05);
  assert_true(completed(&fitted, 1, 2, 3, 1) == 2);
  gpnn_incomplete_release(&fitted);
  free(rows);
}

/* With complete rows the moments are those of the rows. */
static void complete_rows_need_no_guess(void **state)
{
  (void)state;
  double *rows = make_rows(0), sum = 0, squares = 0, products = 0, other = 0;
  struct gpnn_incomplete fitted = {0};
  for (size_t i = 0; i < N; i++) {
    sum += rows[i * D] / N;
    other += rows[i * D + 1] / N;
  }
  for (size_t i = 0; i < N; i++) {
    squares += (rows[i * D] - sum) * (rows[i * D] - sum) / N;
    products += (rows[i * D] - sum) * (rows[i * D + 1] - other) / N;
  }
  assert_ok(gpnn_incomplete_fit(&fitted, N, D, rows, &err));
  double slope = completed(&fitted, 1, NAN, 0, 1) - completed(&fitted, 0, NAN, 0, 1);
  assert_close(slope, products / squares, 2e-3); /* 1e-3 is added to variances */
  assert_true(fitted.n_steps <= 2);
  gpnn_incomplete_release(&fitted);
  free(rows);
}

static void empty_and_constant_columns_are_no_matter(void **state)
{
  (void)state;
  double rows[] = {1, NAN, 7, 2, NAN, 7, NAN, NAN, 7, 4, NAN, NAN};
  struct gpnn_incomplete fitted = {0};
  assert_ok(gpnn_incomplete_fit(&fitted, 4, D, rows, &err));
  assert_near(completed(&fitted, NAN, NAN, 7, 0), 7.0 / 3, 0.2);
  assert_true(completed(&fitted, 1, NAN, 7, 1) == 0);
  assert_near(completed(&fitted, 1, NAN, NAN, 2), 7, 1e-9);
  gpnn_incomplete_release(&fitted);
}

/* One cell out of all measure, among those that are there. */
static void a_wild_cell_changes_little(void **state)
{
  (void)state;
  double *rows = make_rows(0.2);
  static const double wild[] = {-99999, 1e200, -1e308};
  for (size_t w = 0; w < 3; w++) {
    struct gpnn_incomplete fitted = {0};
    rows[0] = wild[w];
    assert_ok(gpnn_incomplete_fit(&fitted, N, D, rows, &err));
    assert_near(completed(&fitted, 1, NAN, 0, 1), 108, 0.5);
    assert_true(fabs(completed(&fitted, wild[w], NAN, 0, 1)) < 1000);
    gpnn_incomplete_release(&fitted);
  }
  free(rows);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_missing_is_its_mean_given_the_rest),
      cmocka_unit_test(complete_rows_need_no_guess),
      cmocka_unit_test(empty_and_constant_columns_are_no_matter),
      cmocka_unit_test(a_wild_cell_changes_little),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
