/* Counts, averages, lattices and quantiles of points, by hand and by brute force. */
#include "random.h"
#include "stats/scatter.h"
#include "unit.h"

enum { N = 1000 };

static const struct gpnn_scatter_grid grid = {4, 3, -2, 10, 1, 5};

static void points_fall_into_their_cells(void **state)
{
  (void)state;
  assert_int_equal(gpnn_scatter_cell(&grid, -2, 10), 0);
  assert_int_equal(gpnn_scatter_cell(&grid, -1.001, 14.999), 0);
  assert_int_equal(gpnn_scatter_cell(&grid, -1, 10), 1);
  assert_int_equal(gpnn_scatter_cell(&grid, 1.5, 21), 11);
}

static void points_outside_go_to_the_nearest_cell(void **state)
{
  (void)state;
  assert_int_equal(gpnn_scatter_cell(&grid, -1e300, -1e300), 0);
  assert_int_equal(gpnn_scatter_cell(&grid, 1e300, 12), 3);
  assert_int_equal(gpnn_scatter_cell(&grid, 2, 25), 11);
  assert_int_equal(gpnn_scatter_cell(&grid, INFINITY, 1e300), 11);
}

static void counts_and_averages_are_those_of_each_cell(void **state)
{
  (void)state;
  const double x[] = {-1.5, -1.7, 0.5, 1.9}, y[] = {11, 12, 16, 24}, values[] = {1, 4, 7, -3};
  double counts[12], averages[12];
  gpnn_scatter_count(&grid, 4, x, y, counts);
  gpnn_scatter_average(&grid, 4, x, y, values, counts, averages);
  double sum = 0;
  for (size_t c = 0; c < 12; c++) {
    sum += counts[c];
    assert_true(isnan(averages[c]) == (counts[c] == 0));
  }
  assert_near(sum, 4, 0);
  assert_near(counts[0], 2, 0);
  assert_near(averages[0], 2.5, 1e-15);
  assert_near(averages[6], 7, 0);
  assert_near(averages[11], -3, 0);
}

static void a_lattice_with_gaps_and_rounding_is_found(void **state)
{
  (void)state;
  const double values[] = {0.1 + 0.2, 0.9, 0.3, 0.6, 0.1 * 3, 2.1};
  bool regular = false;
  double step = 0;
  size_t places = 0;
  assert_ok(gpnn_scatter_lattice(6, values, 100, &regular, &step, &places, &err));
  assert_true(regular);
  assert_near(step, 0.3, 1e-12);
  assert_int_equal(places, 7);
}

static void a_single_point_is_a_lattice_of_step_one(void **state)
{
  (void)state;
  const double values[] = {5, 5};
  bool regular = false;
  double step = 0;
  size_t places = 0;
  assert_ok(gpnn_scatter_lattice(2, values, 100, &regular, &step, &places, &err));
  assert_true(regular && step == 1 && places == 1);
}

static void irregular_values_and_too_many_points_are_not_a_lattice(void **state)
{
  (void)state;
  const double irregular[] = {0, 1, 2.5, 3.1}, many[] = {0, 1, 2, 1000};
  bool regular = true;
  double step = -1;
  size_t places = 7;
  assert_ok(gpnn_scatter_lattice(4, irregular, 100, &regular, &step, &places, &err));
  assert_false(regular);
  assert_ok(gpnn_scatter_lattice(4, many, 100, &regular, &step, &places, &err));
  assert_false(regular);
  assert_true(step == -1 && places == 7);
}

static void quantiles_run_along_x(void **state)
{
  (void)state;
  const double x[] = {6, 1, 5, 2, 4, 3, 0}, y[] = {60, 10, 50, 20, 40, 30, 0}, p[] = {0, 0.5, 1};
  double rows[8];
  assert_ok(gpnn_scatter_quantiles(7, x, y, 2, 3, p, rows, &err));
  const double expected[] = {1.5, 0, 15, 30, 5, 40, 50, 60};
  for (size_t i = 0; i < 8; i++) assert_near(rows[i], expected[i], 1e-13);
}

static void groups_are_equal_and_hold_every_point(void **state)
{
  (void)state;
  double x[N], y[N], rows[7 * 3];
  const double p[] = {0, 1};
  struct gpnn_rng rng = seeded(1);
  for (size_t i = 0; i < N; i++) {
    x[i] = gpnn_rng_uniform(&rng);
    y[i] = x[i]; /* the extremes of y are then those of x in the group */
  }
  assert_ok(gpnn_scatter_quantiles(N, x, y, 7, 2, p, rows, &err));
  size_t held = 0;
  for (size_t g = 0; g < 7; g++) {
    size_t n = 0;
    for (size_t i = 0; i < N; i++) n += x[i] >= rows[3 * g + 1] && x[i] <= rows[3 * g + 2];
    assert_true(n == N / 7 || n == N / 7 + 1);
    held += n;
  }
  assert_int_equal(held, N);
}

/* A sine of 5 periods over [0, 1]. */
static double sine(double x)
{
  return sin(10 * 3.14159265358979 * x);
}

static void a_function_is_told_from_means_that_depend_on_more(void **state)
{
  (void)state;
  enum { ROWS = 200 };
  double x[ROWS], wave[ROWS], scattered[ROWS], ties[ROWS], constant[ROWS];
  struct gpnn_rng rng = seeded(3);
  for (size_t i = 0; i < ROWS; i++) {
    x[i] = (double)(i / 2) / ROWS;
    wave[i] = sine(x[i]);
    scattered[i] = gpnn_rng_uniform(&rng);
    ties[i] = wave[i] + (i % 2 == 0 ? 0 : 0.5);
    constant[i] = 1e300;
  }
  assert_true(gpnn_scatter_is_function(ROWS, x, wave));
  assert_true(gpnn_scatter_is_function(ROWS, x, constant));
  assert_false(gpnn_scatter_is_function(ROWS, x, ties));
  for (size_t i = 0; i < ROWS; i++) x[i] = (double)i;
  assert_false(gpnn_scatter_is_function(ROWS, x, scattered));
  assert_true(gpnn_scatter_is_function(19, x, scattered)); /* too few to tell */
}

static void wild_and_few_values_are_judged(void **state)
{
  (void)state;
  const double x[] = {1, 1, 2}, wild[] = {-1e308, 1e308, 0}, same[] = {1e308, 1e308, -1e308};
  assert_true(gpnn_scatter_is_function(0, x, wild));
  assert_true(gpnn_scatter_is_function(1, x, wild));
  assert_false(gpnn_scatter_is_function(2, x, wild));
  assert_false(gpnn_scatter_is_function(3, x, wild));
  assert_true(gpnn_scatter_is_function(3, x, same));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_fall_into_their_cells),
      cmocka_unit_test(points_outside_go_to_the_nearest_cell),
      cmocka_unit_test(counts_and_averages_are_those_of_each_cell),
      cmocka_unit_test(a_lattice_with_gaps_and_rounding_is_found),
      cmocka_unit_test(a_single_point_is_a_lattice_of_step_one),
      cmocka_unit_test(irregular_values_and_too_many_points_are_not_a_lattice),
      cmocka_unit_test(quantiles_run_along_x),
      cmocka_unit_test(a_function_is_told_from_means_that_depend_on_more),
      cmocka_unit_test(wild_and_few_values_are_judged),
      cmocka_unit_test(groups_are_equal_and_hold_every_point),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
