#include "random.h"
#include "unit.h"

#include "linalg/iterative/probes.h"

enum { OUTER = 70, INNER = 9, N = OUTER * INNER };

static size_t at(size_t columns, size_t e, size_t j)
{
  return (e / INNER * columns + j) * INNER + e % INNER;
}

static double *drawn(enum gpnn_probes_kind kind, uint64_t seed, uint64_t first, size_t columns,
                     const double *present, int threads)
{
  double *z = normal_rows(N, columns, 1); /* whatever was there */
  gpnn_probes_draw(kind, seed, first, OUTER, columns, INNER, present, threads, z);
  return z;
}

static void moments_are_those_of_white_noise(void **state)
{
  (void)state;
  enum { COLUMNS = 300 };
  for (int kind = 0; kind < 2; kind++) {
    double *z = drawn(kind, 51, 0, COLUMNS, NULL, 1), n = (double)N * COLUMNS;
    double sum = 0, squares = 0, lag = 0, across = 0;
    for (size_t j = 0; j < COLUMNS; j++)
      for (size_t e = 0; e < N; e++) {
        double now = z[at(COLUMNS, e, j)];
        assert_true(kind == GPNN_PROBES_NORMALS || fabs(now) == 1);
        sum += now;
        squares += now * now;
        lag += now * z[at(COLUMNS, (e + 1) % N, j)];
        across += now * z[at(COLUMNS, e, (j + 1) % COLUMNS)];
      }
    assert_near(sum / sqrt(n), 0, 4);
    assert_near((squares - n) / sqrt(2 * n), 0, 4);
    assert_near(lag / sqrt(n), 0, 4);
    assert_near(across / sqrt(n), 0, 4);
    free(z);
  }
}

static void a_probe_is_the_same_in_any_block(void **state)
{
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    double *all = drawn(kind, 52, 10, 6, NULL, 1), *again = drawn(kind, 52, 10, 6, NULL, 3);
    double *one = drawn(kind, 52, 13, 1, NULL, 1), *other = drawn(kind, 53, 13, 1, NULL, 1);
    size_t equal = 0;
    assert_memory_equal(all, again, 6 * N * sizeof *all);
    for (size_t e = 0; e < N; e++) {
      assert_true(one[e] == all[at(6, e, 3)]);
      equal += one[e] == other[e];
    }
    assert_true(equal < N * 6 / 10);
    free(all);
    free(again);
    free(one);
    free(other);
  }
}

static void holes_are_zero_and_change_nothing_else(void **state)
{
  (void)state;
  double present[N];
  for (size_t e = 0; e < N; e++) present[e] = e % 5 == 2 ? 0 : 0.25;
  for (int kind = 0; kind < 2; kind++) {
    double *z = drawn(kind, 54, 0, 2, NULL, 1), *holes = drawn(kind, 54, 0, 2, present, 1);
    for (size_t e = 0; e < N; e++)
      for (size_t j = 0; j < 2; j++)
        assert_true(holes[at(2, e, j)] == (e % 5 == 2 ? 0 : z[at(2, e, j)]));
    free(z);
    free(holes);
  }
}

static void no_columns_and_no_elements_are_nothing(void **state)
{
  (void)state;
  double z = 7;
  gpnn_probes_draw(GPNN_PROBES_SIGNS, 1, 0, 1, 0, 1, NULL, 2, &z);
  gpnn_probes_draw(GPNN_PROBES_SIGNS, 1, 0, 0, 1, 1, NULL, 2, &z);
  assert_true(z == 7);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moments_are_those_of_white_noise),
      cmocka_unit_test(a_probe_is_the_same_in_any_block),
      cmocka_unit_test(holes_are_zero_and_change_nothing_else),
      cmocka_unit_test(no_columns_and_no_elements_are_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
