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
  assert_ok(gpnn_grid_system_spread(system, 0, columns, x, spread, &err));
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

/* Four sites and three times, nine cells observed, and what the weights are; from an independent
 * program. */
enum { P = 4, Q = 3, OBSERVED = 9 };
static const int64_t golden_cells[OBSERVED] = {0, 1, 3, 4, 5, 6, 8, 9, 10};
static const double golden_alpha[OBSERVED] = {0.4440380105,  0.3873085883,  0.1783776770,
                                              -0.6844177131, -0.6105580413, -0.3732533565,
                                              1.4318108113,  0.9350639462,  0.3675974344};

struct golden {
  double sites[P * 2], times[Q], y[OBSERVED];
  struct gpnn_grid_factor levels[2];
  struct gpnn_factor factors[2];
  struct gpnn_grid grid;
  struct gpnn_parameters parameters;
};

static void golden_make(struct golden *g)
{
  *g = (struct golden){.times = {0, 0.5, 1}};
  for (size_t i = 0; i < P; i++) {
    g->sites[2 * i] = sin(1 + (double)i);
    g->sites[2 * i + 1] = cos(2 * (double)i);
  }
  for (size_t i = 0; i < OBSERVED; i++)
    g->y[i] = cos(0.7 * (double)golden_cells[i]) + 0.1 * (double)golden_cells[i];
  g->levels[0] = (struct gpnn_grid_factor){.name = "site", .n = P, .d = 2, .x = g->sites};
  g->levels[1] = (struct gpnn_grid_factor){.name = "time", .n = Q, .d = 1, .x = g->times};
  assert_ok(gpnn_factor_parse(&g->factors[0], "matern52", 2, 0, true, &err));
  assert_ok(gpnn_factor_parse(&g->factors[1], "rbf", 1, 0, true, &err));
  g->factors[0].term[0].lengthscale[0] = 0.7;
  g->factors[0].term[0].lengthscale[1] = 1.1;
  g->factors[1].term[0].lengthscale[0] = 0.6;
  g->grid = (struct gpnn_grid){.n_factors = 2,
                               .factor = g->levels,
                               .n_cells = OBSERVED,
                               .cell = golden_cells,
                               .y = g->y,
                               .n_observations = OBSERVED};
  g->parameters.covariance.kernelscale = 1.5;
  g->parameters.covariance.noise = 0.05;
  g->parameters.grid.n_factors = 2;
  g->parameters.grid.factor = g->factors;
}

static void golden_release(struct golden *g)
{
  gpnn_factor_release(&g->factors[0]);
  gpnn_factor_release(&g->factors[1]);
}

static struct gpnn_grid_system *golden_system(const struct golden *g)
{
  struct gpnn_grid_system *system = NULL;
  assert_ok(gpnn_grid_system_new(&system, &g->grid, &g->parameters, &plain, &err));
  return system;
}

static void the_golden_case_has_its_weights(void **state)
{
  (void)state;
  struct golden g;
  struct gpnn_cg_report report;
  double b[P * Q] = {0}, x[P * Q] = {0};
  golden_make(&g);
  struct gpnn_grid_system *system = golden_system(&g);
  for (size_t i = 0; i < OBSERVED; i++) b[golden_cells[i]] = g.y[i];
  assert_ok(gpnn_grid_system_solve(system, 1, b, x, &lattice_exactly, &report, &err));
  for (size_t i = 0; i < OBSERVED; i++) assert_near(x[golden_cells[i]], golden_alpha[i], 6e-11);
  assert_near(gpnn_grid_system_factor(system, 0)[0], 1.5, 1e-15);
  assert_near(gpnn_grid_system_factor(system, 1)[0], 1, 1e-15);
  gpnn_grid_system_free(system);
  golden_release(&g);
}

/* A mean of several observations has less noise; and noise may be that of the time. */
static void noise_is_that_of_the_cell(void **state)
{
  (void)state;
  struct golden g;
  const uint32_t counts[OBSERVED] = {1, 1, 4, 1, 1, 2, 1, 1, 1};
  double by_time[Q] = {0.1, 0.2, 0.3};
  golden_make(&g);
  g.grid.counts = counts;
  struct gpnn_grid_system *system = golden_system(&g);
  const double *noise = gpnn_grid_system_noise(system);
  assert_true(noise[0] == 0.05 && noise[2] == 0 && noise[3] == 0.05 / 4 && noise[6] == 0.05 / 2);
  gpnn_grid_system_free(system);
  g.parameters.grid.noise_factor = 2;
  g.parameters.grid.n_noise = Q;
  g.parameters.grid.noise = by_time;
  system = golden_system(&g);
  noise = gpnn_grid_system_noise(system);
  assert_true(noise[0] == 0.1 && noise[2] == 0 && noise[3] == 0.1 / 4 && noise[5] == 0.3);
  gpnn_grid_system_free(system);
  g.factors[0].term[0].lengthscale[1] = NAN;
  assert_fails(gpnn_grid_system_new(&system, &g.grid, &g.parameters, &plain, &err), GPNN_ENUMERIC,
               "not finite");
  golden_release(&g);
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
  assert_ok(gpnn_grid_system_spread(system, 0, 0, NULL, NULL, &err));
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

/* Refused before levels are looked at: there are none here. */
static void sizes_beyond_memory_are_named(void **state)
{
  (void)state;
  struct gpnn_grid_factor factor[] = {{.name = "site", .n = 400000000, .d = 1},
                                      {.name = "time", .n = 3, .d = 1}};
  struct gpnn_grid grid = {.n_factors = 2, .factor = factor, .n_cells = 2};
  struct gpnn_parameters parameters = {0};
  struct gpnn_grid_system *system = NULL;
  assert_fails(
      gpnn_grid_system_new(&system, &grid, &parameters, &plain, &err), GPNN_ENOMEM,
      "400000000 levels of site x 3 of time: their covariances and 6 vectors with a number "
      "for each cell need 3.84e+09 GB of memory at least");
  assert_null(system);
  factor[0].n = 3;
  assert_fails(gpnn_grid_check_memory(&grid, (size_t)1 << 40, &err), GPNN_ENOMEM,
               "3 levels of site x 3 of time");
  assert_ok(gpnn_grid_check_memory(&grid, 64, &err));
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
      cmocka_unit_test(the_golden_case_has_its_weights),
      cmocka_unit_test(noise_is_that_of_the_cell),
      cmocka_unit_test(batches_change_nothing_but_rounding),
      cmocka_unit_test(nothing_is_solved_for_no_columns),
      cmocka_unit_test(matrices_must_be_finite),
      cmocka_unit_test(sizes_beyond_memory_are_named),
      cmocka_unit_test(threads_do_not_change_results),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
