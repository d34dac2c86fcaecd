/* Training rows among rows to predict. */
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "dataset/copies.h"
#include "unit.h"

enum { D = 3 };

/* 'n' rows of random inputs and targets that take 'levels' different values each; 0: any. */
static void draw(uint64_t seed, size_t n, unsigned levels, double *x, double *y)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_TEST);
  for (size_t i = 0; i < n * (D + 1); i++) {
    double *to = i < n * D ? &x[i] : &y[i - n * D];
    uint64_t level = gpnn_rng_below(&rng, levels == 0 ? 2 : levels);
    *to = levels == 0 ? gpnn_rng_normal(&rng) : (double)level;
  }
}

enum { N = 2000, M = 500 };

/* What is found if, of M rows, the first 'n_training' are training rows and the others are drawn
 * like these. */
static struct gpnn_copies_report count(unsigned levels, size_t n_training, bool has_target)
{
  static double x[N * D], y[N], new_x[M * D], new_y[M];
  struct gpnn_dataset dataset = {.n = N, .d = D, .x = x, .y = y};
  struct gpnn_copies copies = {0};
  struct gpnn_copies_report report;
  draw(1, N, levels, x, y);
  draw(2, M, levels, new_x, new_y);
  for (size_t i = 0; i < M; i++) {
    size_t row = 7 * i % N;
    bool is_copy = i < n_training;
    assert_ok(gpnn_copies_add(&copies, &dataset, is_copy ? x + row * D : new_x + i * D,
                              !has_target ? NAN
                              : is_copy   ? y[row]
                                          : new_y[i],
                              &err));
  }
  assert_ok(gpnn_copies_count(&copies, &dataset, has_target, &report, &err));
  gpnn_copies_release(&copies);
  assert_int_equal(report.n, M);
  assert_int_equal(report.n_training, N);
  return report;
}

static void training_rows_are_counted(void **state)
{
  (void)state;
  for (int has_target = 0; has_target < 2; has_target++)
    for (size_t n = 0; n <= M; n += 100) {
      struct gpnn_copies_report report = count(0, n, has_target);
      assert_int_equal(report.n_copies, n);
      assert_int_equal(report.n_twins, 0);
      assert_int_equal(gpnn_copies_exceed_chance(&report), n >= 100);
    }
}

static void rows_that_are_alike_by_chance_are_none(void **state)
{
  (void)state;
  for (unsigned levels = 2; levels <= 12; levels++)
    for (int has_target = 0; has_target < 2; has_target++) {
      struct gpnn_copies_report none = count(levels, 0, has_target), all;
      assert_false(gpnn_copies_exceed_chance(&none));
      all = count(levels, M, has_target);
      assert_int_equal(all.n_copies, M);
      /* Where nearly every new row is like some training row, nothing can be said. */
      if (10 * none.n_copies < 8 * M) assert_true(gpnn_copies_exceed_chance(&all));
    }
}

static void a_target_that_differs_makes_another_row(void **state)
{
  (void)state;
  double x[4 * D] = {0}, y[4] = {1, 2, 3, -0.0};
  struct gpnn_dataset dataset = {.n = 4, .d = D, .x = x, .y = y};
  struct gpnn_copies copies = {0};
  struct gpnn_copies_report report;
  assert_ok(gpnn_copies_count(&copies, &dataset, true, &report, &err));
  assert_int_equal(report.n, 0);
  assert_false(gpnn_copies_exceed_chance(&report));
  assert_ok(gpnn_copies_add(&copies, &dataset, x, 0, &err));
  assert_ok(gpnn_copies_add(&copies, &dataset, x, 4, &err));
  assert_ok(gpnn_copies_count(&copies, &dataset, true, &report, &err));
  assert_int_equal(report.n_copies, 1);
  assert_int_equal(report.n_twins, 0);
  gpnn_copies_release(&copies);
}

static void few_copies_are_not_many(void **state)
{
  (void)state;
  assert_false(gpnn_copies_exceed_chance(&(struct gpnn_copies_report){4, 4, 100, 0}));
  assert_true(gpnn_copies_exceed_chance(&(struct gpnn_copies_report){5, 5, 100, 0}));
  assert_false(gpnn_copies_exceed_chance(&(struct gpnn_copies_report){100, 10, 100, 0}));
  assert_true(gpnn_copies_exceed_chance(&(struct gpnn_copies_report){100, 11, 100, 0}));
  assert_false(gpnn_copies_exceed_chance(&(struct gpnn_copies_report){100, 60, 100, 50}));
  assert_true(gpnn_copies_exceed_chance(&(struct gpnn_copies_report){100, 80, 100, 50}));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(training_rows_are_counted),
      cmocka_unit_test(rows_that_are_alike_by_chance_are_none),
      cmocka_unit_test(a_target_that_differs_makes_another_row),
      cmocka_unit_test(few_copies_are_not_many),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
