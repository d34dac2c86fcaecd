#include "lattice.h"
#include "linalg/blas_threads.h"

static const struct gpnn_grid_system_options plain = {.preconditioner = GPNN_GRID_PRECONDITION_NONE,
                                                      .threads = 2};

/* Compares the products with A and with K, of 'columns' vectors, with sums over all pairs. */
static void check_products(const struct lattice *l, size_t columns)
{
  struct gpnn_grid_system *system = lattice_system(l, &plain);
  double *x = lattice_vectors(l, columns, 5), *y = gpnn_alloc(l->cells, columns, sizeof *y);
  double *spread = gpnn_alloc(l->cells, columns, sizeof *spread);
  assert_true(y != NULL && spread != NULL);
  assert_int_equal(gpnn_grid_system_outer(system), l->n[0]);
  assert_int_equal(gpnn_grid_system_inner(system), l->cells / l->n[0]);
  assert_ok(gpnn_grid_system_multiply(system, columns, x, y, &err));
  assert_ok(gpnn_grid_system_spread(system, columns, x, spread, &err));
  const double *noise = gpnn_grid_system_noise(system);
  for (size_t c = 0; c < columns; c++) {
    for (size_t i = 0; i < l->cells; i += 1 + l->cells / 200) {
      long double sum = 0, size = 0;
      for (size_t j = 0; j < l->n_cells; j++) {
        long double term = lattice_covariance(l, i, (size_t)l->cell[j]) *
                           x[lattice_at(l, columns, c, (size_t)l->cell[j])];
        sum += term;
        size += fabsl(term);
      }
      size_t at = lattice_at(l, columns, c, i);
      assert_near(spread[at], (double)sum, 1e-12 * (1 + (double)size));
      sum = noise[i] > 0 ? sum + (long double)noise[i] * x[at] : 0;
      assert_near(y[at], (double)sum, 1e-12 * (1 + (double)size));
    }
  }
  gpnn_grid_system_free(system);
  free(x);
  free(y);
  free(spread);
}

static void products_are_those_of_the_dense_matrix(void **state)
{
  (void)state;
  const size_t sizes[] = {1, 2, 7, 64};
  const double missing[] = {0, 0.3, 0.9, 1};
  for (size_t p = 0; p < 4; p++) {
    for (size_t q = 0; q < 4; q++) {
      for (size_t m = 0; m < 4; m++) {
        struct lattice l = lattice_make(2, (size_t[]){sizes[p], sizes[q]}, missing[m], 0.1, 7 + m);
        check_products(&l, m == 0 ? 5 : 1 + m % 2);
        lattice_free(&l);
      }
    }
  }
}

static void there_may_be_more_than_two_factors(void **state)
{
  (void)state;
  const size_t n[] = {5, 4, 3, 6};
  for (size_t m = 0; m < 3; m++) {
    const double missing[] = {0, 0.4, 0.97};
    for (size_t n_factors = 3; n_factors <= 4; n_factors++) {
      struct lattice l = lattice_make(n_factors, n, missing[m], 0.1, 11 + m);
      check_products(&l, 3);
      lattice_free(&l);
    }
  }
}

/* Smooth enough that products go by the numerical rank; still to rounding. */
static void low_ranks_are_as_exact(void **state)
{
  (void)state;
  for (size_t m = 0; m < 2; m++) {
    struct lattice l = lattice_make(2, (size_t[]){40, 52}, m == 0 ? 0.4 : 0, 0.1, 15);
    for (size_t i = 0; i < 52 * 52; i++) {
      double r = log((1. + (double)(i / 52)) / (1. + (double)(i % 52))) / log(53);
      l.k[1][i] = exp(-r * r / 2);
    }
    struct gpnn_grid_system *system = lattice_system(&l, &plain);
    assert_in_range(system->reduced.rank, 5, 20);
    gpnn_grid_system_free(system);
    check_products(&l, 3);
    lattice_free(&l);
  }
}

/* Rows and tiles that do not divide evenly. */
static void grids_larger_than_a_tile_are_cut(void **state)
{
  (void)state;
  struct lattice l = lattice_make(2, (size_t[]){531, 13}, 0.5, 0.1, 17);
  check_products(&l, 21);
  lattice_free(&l);
  l = lattice_make(2, (size_t[]){9, 611}, 0.5, 0.1, 18);
  check_products(&l, 3);
  lattice_free(&l);
}

static void an_axis_may_be_multiplied_by_other_levels(void **state)
{
  (void)state;
  enum { M = 2, TO = 4 };
  const size_t dims[] = {3, 2, 5};
  double *x = normal_rows(30, M, 1), y[3 * M * 5 * TO];
  for (size_t axis = 0; axis < 3; axis++) {
    double *k = normal_rows(TO, dims[axis], 2);
    size_t to[] = {dims[0], dims[1], dims[2]};
    to[axis] = TO;
    assert_ok(gpnn_grid_contract_axis(3, dims, M, axis, TO, k, x, y, 2, &err));
    for (size_t i = 0; i < to[0] * to[1] * to[2] * M; i++) {
      size_t level[] = {i / (M * to[1] * to[2]), i / to[2] % to[1], i % to[2]};
      size_t m = i / (to[1] * to[2]) % M, row = level[axis];
      double sum = 0;
      for (level[axis] = 0; level[axis] < dims[axis]; level[axis]++)
        sum += k[row * dims[axis] + level[axis]] *
               x[((level[0] * M + m) * dims[1] + level[1]) * dims[2] + level[2]];
      assert_near(y[i], sum, 1e-13);
    }
    free(k);
  }
  free(x);
}

static void solutions_are_those_of_lapack(void **state)
{
  (void)state;
  const double missing[] = {0, 0.3, 0.95};
  for (size_t m = 0; m < 3; m++) {
    struct lattice l = lattice_make(2, (size_t[]){23, 17}, missing[m], 0.2, 31 + m);
    lattice_check(&l, 3, &plain);
    lattice_free(&l);
    l = lattice_make(3, (size_t[]){9, 5, 6}, missing[m], 0.2, 41 + m);
    lattice_check(&l, 2, &plain);
    lattice_free(&l);
  }
}

static void batches_change_nothing_but_rounding(void **state)
{
  (void)state;
  struct lattice l = lattice_make(2, (size_t[]){23, 17}, 0.3, 0.2, 51);
  struct gpnn_grid_system_options narrow = plain;
  narrow.memory = 2 * 7 * 8 * l.cells;
  lattice_check(&l, 5, &narrow);
  narrow.memory = 1;
  lattice_check(&l, 3, &narrow);
  lattice_free(&l);
}

static void nothing_is_solved_for_no_columns(void **state)
{
  (void)state;
  struct lattice l = lattice_make(2, (size_t[]){3, 4}, 0.3, 0.2, 52);
  struct gpnn_grid_system *system = lattice_system(&l, &plain);
  struct gpnn_cg_report report;
  assert_ok(gpnn_grid_system_solve(system, 0, NULL, NULL, &lattice_exactly, &report, &err));
  assert_true(report.converged && report.iterations == 0);
  assert_ok(gpnn_grid_system_multiply(system, 0, NULL, NULL, &err));
  assert_ok(gpnn_grid_system_spread(system, 0, NULL, NULL, &err));
  gpnn_grid_system_free(system);
  gpnn_grid_system_free(NULL);
  lattice_free(&l);
}

static void matrices_must_be_finite(void **state)
{
  (void)state;
  struct lattice l = lattice_make(2, (size_t[]){3, 4}, 0.3, 0.2, 53);
  struct gpnn_grid_system *system = NULL;
  l.k[1][5] = NAN;
  assert_fails(gpnn_grid_system_from_matrices(&system, 2, l.n, (const double *const *)l.k,
                                              l.n_cells, l.cell, l.noise, &plain, &err),
               GPNN_ENUMERIC, "not finite");
  assert_null(system);
  lattice_free(&l);
}

/* Fails unless products and solutions are the same bytes with 1, 3 and 8 threads. */
static void check_threads(const struct lattice *l, struct gpnn_grid_system_options options)
{
  enum { M = 9 };
  size_t size = l->cells * M;
  const struct gpnn_cg_options few = {.tolerance = 1e-3, .most_iterations = 500, .threads = 1};
  double *b = lattice_vectors(l, M, 3), *first[2] = {NULL, NULL};
  for (size_t t = 0; t < 3; t++) {
    options.threads = (int[]){1, 3, 8}[t];
    struct gpnn_grid_system *system = lattice_system(l, &options);
    struct gpnn_cg_options cg = few;
    struct gpnn_cg_report report;
    double *y = gpnn_alloc(size, 1, sizeof *y), *x = gpnn_alloc(size, 1, sizeof *x);
    assert_true(x != NULL && y != NULL);
    cg.threads = options.threads;
    assert_ok(gpnn_grid_system_multiply(system, M, b, y, &err));
    assert_ok(gpnn_grid_system_solve(system, M, b, x, &cg, &report, &err));
    gpnn_grid_system_free(system);
    if (t == 0) {
      first[0] = y;
      first[1] = x;
      continue;
    }
    assert_memory_equal(y, first[0], size * sizeof *y);
    assert_memory_equal(x, first[1], size * sizeof *x);
    free(x);
    free(y);
  }
  free(b);
  free(first[0]);
  free(first[1]);
}

static void threads_do_not_change_results(void **state)
{
  (void)state;
  struct lattice l = lattice_make(2, (size_t[]){601, 31}, 0.4, 0.2, 61);
  check_threads(&l, plain);
  lattice_free(&l);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_are_those_of_the_dense_matrix),
      cmocka_unit_test(there_may_be_more_than_two_factors),
      cmocka_unit_test(low_ranks_are_as_exact),
      cmocka_unit_test(grids_larger_than_a_tile_are_cut),
      cmocka_unit_test(an_axis_may_be_multiplied_by_other_levels),
      cmocka_unit_test(solutions_are_those_of_lapack),
      cmocka_unit_test(batches_change_nothing_but_rounding),
      cmocka_unit_test(nothing_is_solved_for_no_columns),
      cmocka_unit_test(matrices_must_be_finite),
      cmocka_unit_test(threads_do_not_change_results),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
