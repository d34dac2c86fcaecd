#include "base/rng.h"
#include "shard/shard_private.h"
#include "unit.h"

enum { N = 1000, D = 3 };

/* Rows that are twice as wide in the second direction as in the others. */
static void draw(double *x, double *number)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 1, GPNN_RNG_TEST);
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j < D; j++) x[i * D + j] = (j == 1 ? 2 : 1) * gpnn_rng_normal(&rng);
    number[i] = (double)i;
  }
}

static void count(size_t n_ranks, const double *x, const double *number, size_t *counts)
{
  struct gpnn_cut cuts[16];
  assert_ok(gpnn_deal_cuts(N, D, x, number, n_ranks, cuts, &err));
  memset(counts, 0, n_ranks * sizeof *counts);
  for (size_t i = 0; i < N; i++) counts[gpnn_deal_rank(n_ranks, cuts, x + i * D, number[i])]++;
}

static void ranks_get_equal_shares(void **state)
{
  (void)state;
  static double x[N * D], number[N];
  size_t counts[16];
  draw(x, number);
  for (size_t n = 1; n <= 16; n++) {
    count(n, x, number, counts);
    for (size_t r = 0; r < n; r++) assert_near((double)counts[r], (double)N / (double)n, 2);
  }
}

static void rows_that_are_all_equal_are_dealt_by_number(void **state)
{
  (void)state;
  static double x[N * D], number[N];
  size_t counts[16];
  for (size_t i = 0; i < N; i++) number[i] = (double)i;
  count(7, x, number, counts);
  for (size_t r = 0; r < 7; r++) assert_near((double)counts[r], N / 7.0, 1);
}

static void the_first_cut_is_across_the_widest_direction(void **state)
{
  (void)state;
  static double x[N * D], number[N];
  struct gpnn_cut cuts[2];
  draw(x, number);
  assert_ok(gpnn_deal_cuts(N, D, x, number, 2, cuts, &err));
  assert_int_equal(cuts[1].axis, 1);
  assert_int_equal(gpnn_deal_rank(2, cuts, (double[]){0, cuts[1].value - 1e-3, 0}, 0), 0);
  assert_int_equal(gpnn_deal_rank(2, cuts, (double[]){0, cuts[1].value + 1e-3, 0}, 0), 1);
  assert_int_equal(gpnn_deal_rank(2, cuts, (double[]){0, cuts[1].value, 0}, cuts[1].number), 1);
  assert_int_equal(gpnn_deal_rank(2, cuts, (double[]){0, cuts[1].value, 0}, cuts[1].number - 1), 0);
}

static void fewer_rows_than_ranks_leave_some_empty(void **state)
{
  (void)state;
  struct gpnn_cut cuts[5];
  const double x[2] = {1, 2}, number[2] = {0, 1};
  assert_ok(gpnn_deal_cuts(2, 1, x, number, 5, cuts, &err));
  assert_true(gpnn_deal_rank(5, cuts, &x[0], 0) < gpnn_deal_rank(5, cuts, &x[1], 1));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranks_get_equal_shares),
      cmocka_unit_test(rows_that_are_all_equal_are_dealt_by_number),
      cmocka_unit_test(the_first_cut_is_across_the_widest_direction),
      cmocka_unit_test(fewer_rows_than_ranks_leave_some_empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
