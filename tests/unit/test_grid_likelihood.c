/* The likelihoods of data on a grid: the golden case, central differences, each other. */
#include "models/grid/fit/likelihood.h"

#include "base/rng.h"
#include "unit.h"

enum { P = 4, Q = 3, MOST = 64 };

/* A process, the levels it is for, and observed cells of them. */
struct fixture {
  struct gpnn_grid grid;
  struct gpnn_grid_factor factor[GPNN_GRID_FACTORS];
  const double *prepared[GPNN_GRID_FACTORS];
  double x[GPNN_GRID_FACTORS][MOST];
  int64_t cell[MOST];
  double y[MOST];
  uint32_t counts[MOST];
  struct gpnn_parameters parameters;
  struct gpnn_factor process[GPNN_GRID_FACTORS];
  struct gpnn_grid_subset subset;
};

static void add_factor(struct fixture *f, const char *kernel, size_t n, size_t d)
{
  size_t a = f->grid.n_factors++;
  f->prepared[a] = f->x[a];
  f->factor[a] = (struct gpnn_grid_factor){.name = "thing", .n = n, .d = d, .x = f->x[a]};
  f->grid.factor = f->factor;
  f->parameters.grid.n_factors = f->grid.n_factors;
  f->parameters.grid.factor = f->process;
  assert_ok(gpnn_factor_parse(&f->process[a], kernel, d, n, true, &err));
}

/* The n cells in 'cell' with the targets in 'y'. */
static void observe(struct fixture *f, size_t n)
{
  size_t all[MOST];
  f->grid.n_cells = n;
  f->grid.cell = f->cell;
  f->grid.y = f->y;
  f->grid.n_observations = 0;
  for (size_t i = 0; i < n; i++) {
    all[i] = i;
    f->grid.n_observations += f->grid.counts == NULL ? 1 : f->counts[i];
  }
  gpnn_grid_subset_release(&f->subset);
  assert_ok(gpnn_grid_subset_collect(&f->subset, &f->grid, f->prepared, NULL, n, all, &err));
}

static void release(struct fixture *f)
{
  for (size_t a = 0; a < f->grid.n_factors; a++) gpnn_factor_release(&f->process[a]);
  gpnn_grid_subset_release(&f->subset);
}

/* The golden case: four sites, three times, nine observed cells. */
static void make_golden(struct fixture *f)
{
  static const int64_t cells[] = {0, 1, 3, 4, 5, 6, 8, 9, 10};
  memset(f, 0, sizeof *f);
  add_factor(f, "matern52", P, 2);
  add_factor(f, "rbf", Q, 1);
  for (size_t i = 0; i < P; i++) {
    f->x[0][2 * i] = sin(1 + (double)i);
    f->x[0][2 * i + 1] = cos(2 * (double)i);
  }
  for (size_t j = 0; j < Q; j++) f->x[1][j] = 0.5 * (double)j;
  f->process[0].term[0].lengthscale[0] = 0.7;
  f->process[0].term[0].lengthscale[1] = 1.1;
  f->process[1].term[0].lengthscale[0] = 0.6;
  f->parameters.covariance.kernelscale = 1.5;
  f->parameters.covariance.noise = 0.05;
  for (size_t i = 0; i < 9; i++) {
    f->cell[i] = cells[i];
    f->y[i] = cos(0.7 * (double)cells[i]) + 0.1 * (double)cells[i];
  }
  observe(f, 9);
}

static void the_golden_case(void **state)
{
  (void)state;
  struct fixture f;
  double value, gradient[5];
  const double expected[] = {-0.0651638, 0.1432111, 2.9330929, -1.2744722, -0.2174185};
  make_golden(&f);
  assert_ok(gpnn_grid_likelihood_dense(&f.subset, &f.parameters, &value, gradient, &err));
  assert_near(value, -11.488347805927, 5e-13);
  for (size_t i = 0; i < 5; i++) assert_near(gradient[i], expected[i], 5e-8);
  release(&f);
}

/* Compares the gradient with central differences of the value. */
static void check_gradient(struct fixture *f)
{
  double value, gradient[MOST], at[MOST], ends[2];
  size_t n = gpnn_grid_n_coordinates(&f->parameters);
  assert_true(n <= MOST);
  assert_ok(gpnn_grid_likelihood_dense(&f->subset, &f->parameters, &value, gradient, &err));
  gpnn_grid_get_coordinates(&f->parameters, at);
  for (size_t i = 0; i < n; i++) {
    double centre = at[i];
    for (int side = 0; side < 2; side++) {
      at[i] = centre + (side == 0 ? -1e-5 : 1e-5);
      gpnn_grid_set_coordinates(&f->parameters, at);
      assert_ok(gpnn_grid_likelihood_dense(&f->subset, &f->parameters, &ends[side], NULL, &err));
    }
    at[i] = centre;
    gpnn_grid_set_coordinates(&f->parameters, at);
    assert_near((ends[1] - ends[0]) / 2e-5, gradient[i], 1e-6 * (1 + fabs(gradient[i])));
  }
}

/* Three factors, one of tasks, a product with a period, a nugget, repeated cells, noise by level.
 */
static void make_rich(struct fixture *f)
{
  struct gpnn_rng rng;
  memset(f, 0, sizeof *f);
  gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
  add_factor(f, "matern32", 4, 2);
  add_factor(f, "rbf*periodic", 5, 1);
  add_factor(f, "icm:2", 3, 1);
  gpnn_rng_normals(&rng, 8, f->x[0]);
  for (size_t j = 0; j < 5; j++) f->x[1][j] = (double)j * 0.4;
  for (size_t j = 0; j < 3; j++) f->x[2][j] = (double)j;
  f->process[0].nugget = 0.2;
  f->process[1].term[1].period = 1.3;
  gpnn_rng_normals(&rng, 6, f->process[2].loadings);
  f->parameters.covariance.kernelscale = 0.8;
  f->parameters.covariance.noise = 0.1;
  f->parameters.grid.noise_factor = 3;
  f->parameters.grid.n_noise = 3;
  size_t n = 0;
  for (int64_t c = 0; c < 60; c++)
    if (gpnn_rng_uniform(&rng) < 0.6) {
      f->cell[n] = c;
      f->counts[n] = 1 + (uint32_t)gpnn_rng_below(&rng, 3);
      f->y[n++] = gpnn_rng_normal(&rng);
    }
  f->grid.counts = f->counts;
  f->grid.within = 0.7;
  observe(f, n);
}

static void gradients_are_those_of_central_differences(void **state)
{
  (void)state;
  struct fixture f;
  double noise[] = {0.1, 0.3, 0.05};
  make_golden(&f);
  check_gradient(&f);
  release(&f);
  make_rich(&f);
  f.parameters.grid.noise = noise;
  check_gradient(&f);
  f.parameters.grid.noise_factor = 0;
  check_gradient(&f);
  release(&f);
}

/* A cell with three observations is as three cells at the same place would be: a level that occurs
 * three times. */
static void repeated_cells_count_for_all_their_observations(void **state)
{
  (void)state;
  struct fixture once, thrice;
  double value, other;
  const double y[] = {0.3, -0.4, 0.9};
  make_golden(&once);
  once.grid.counts = once.counts;
  for (size_t i = 0; i < 9; i++) once.counts[i] = 1;
  once.counts[8] = 3;
  once.y[8] = (y[0] + y[1] + y[2]) / 3;
  once.grid.within = 0;
  for (size_t i = 0; i < 3; i++) once.grid.within += (y[i] - once.y[8]) * (y[i] - once.y[8]);
  observe(&once, 9);
  make_golden(&thrice);
  thrice.factor[1].n = 5; /* times 3 and 4 are time 1 again, which cell 10 = (3, 1) is at */
  thrice.x[1][3] = thrice.x[1][4] = 0.5;
  for (size_t i = 0; i < 9; i++) thrice.cell[i] = thrice.cell[i] / Q * 5 + thrice.cell[i] % Q;
  for (size_t i = 0; i < 3; i++) thrice.y[8 + i] = y[i];
  thrice.cell[9] = 3 * 5 + 3;
  thrice.cell[10] = 3 * 5 + 4;
  observe(&thrice, 11);
  assert_ok(gpnn_grid_likelihood_dense(&once.subset, &once.parameters, &value, NULL, &err));
  assert_ok(gpnn_grid_likelihood_dense(&thrice.subset, &thrice.parameters, &other, NULL, &err));
  assert_near(value, other, 1e-11);
  release(&once);
  release(&thrice);
}

/* The mean over many probes is within four standard errors of the exact derivative. */
static void check_estimator(enum gpnn_grid_estimator estimator, bool is_rich)
{
  enum { RUNS = 250, PROBES = 16 };
  struct fixture f;
  struct gpnn_grid_view view = {0};
  double value, exact[MOST], gradient[MOST], sum[MOST] = {0}, squares[MOST] = {0};
  double noise[] = {0.1, 0.3, 0.05};
  struct gpnn_cg_report report;
  struct gpnn_grid_estimate_options options = {.estimator = estimator, .probes = PROBES};
  options.system.preconditioner = GPNN_GRID_PRECONDITION_NONE;
  options.system.threads = 1;
  options.solve =
      (struct gpnn_cg_options){.tolerance = 1e-10, .most_iterations = 200, .threads = 1};
  if (is_rich)
    make_rich(&f);
  else
    make_golden(&f);
  f.parameters.grid.noise = noise;
  assert_ok(gpnn_grid_view_make(&view, &f.grid, &f.parameters, &err));
  size_t n = gpnn_grid_n_coordinates(&f.parameters);
  assert_ok(gpnn_grid_likelihood_dense(&f.subset, &f.parameters, &value, exact, &err));
  for (options.seed = 1; options.seed <= RUNS; options.seed++) {
    assert_ok(gpnn_grid_likelihood_estimate(&view, &f.parameters, &options, NULL, gradient, &report,
                                            &err));
    assert_true(report.converged);
    for (size_t i = 0; i < n; i++) sum[i] += gradient[i];
    for (size_t i = 0; i < n; i++) squares[i] += gradient[i] * gradient[i];
  }
  for (size_t i = 0; i < n; i++) {
    double mean = sum[i] / RUNS, variance = squares[i] / RUNS - mean * mean;
    assert_near(mean, exact[i], 4 * sqrt(fmax(variance, 0) / RUNS) + 1e-9);
  }
  gpnn_grid_view_release(&view);
  release(&f);
}

static void estimates_have_no_bias(void **state)
{
  (void)state;
  check_estimator(GPNN_GRID_ESTIMATOR_PATHWISE, false);
  check_estimator(GPNN_GRID_ESTIMATOR_HUTCHINSON, false);
  check_estimator(GPNN_GRID_ESTIMATOR_PATHWISE, true);
  check_estimator(GPNN_GRID_ESTIMATOR_HUTCHINSON, true);
}

/* A grid without holes, by its eigenvectors as by its covariance matrix. */
static void check_complete(bool is_rich)
{
  struct fixture f;
  struct gpnn_grid_view view = {0};
  double value, exact, gradient[MOST], expected[MOST];
  if (is_rich)
    make_rich(&f);
  else
    make_golden(&f);
  f.parameters.grid.noise_factor = 0;
  size_t n_cells = gpnn_grid_size(&f.grid), n = gpnn_grid_n_coordinates(&f.parameters);
  f.grid.within = is_rich ? 1.7 : 0;
  for (size_t c = 0; c < n_cells; c++) {
    f.cell[c] = (int64_t)c;
    f.y[c] = sin((double)(c * c));
    f.counts[c] = 2;
  }
  assert_false(gpnn_grid_likelihood_is_complete(&f.grid, &f.parameters));
  observe(&f, n_cells);
  assert_true(gpnn_grid_likelihood_is_complete(&f.grid, &f.parameters));
  assert_ok(gpnn_grid_view_make(&view, &f.grid, &f.parameters, &err));
  assert_ok(gpnn_grid_likelihood_complete(&view, &f.parameters, &value, gradient, &err));
  assert_ok(gpnn_grid_likelihood_dense(&f.subset, &f.parameters, &exact, expected, &err));
  assert_near(value, exact, 1e-10);
  for (size_t i = 0; i < n; i++) assert_near(gradient[i], expected[i], 1e-8);
  gpnn_grid_view_release(&view);
  release(&f);
}

static void complete_grids_need_only_the_eigenvectors_of_their_factors(void **state)
{
  (void)state;
  check_complete(false);
  check_complete(true);
}

/* The density of the last cells given the others, by the difference of likelihoods. */
static void conditional_densities_are_ratios_of_likelihoods(void **state)
{
  (void)state;
  struct fixture f;
  double mean, variance, value, all, without, gradient[MOST], of_all[MOST], of_others[MOST];
  make_golden(&f);
  size_t n = gpnn_grid_n_coordinates(&f.parameters);
  assert_ok(gpnn_grid_likelihood_conditional(&f.subset, 1, &f.parameters, &mean, &variance, &value,
                                             gradient, &err));
  assert_ok(gpnn_grid_likelihood_dense(&f.subset, &f.parameters, &all, of_all, &err));
  f.subset.n--;
  assert_ok(gpnn_grid_likelihood_dense(&f.subset, &f.parameters, &without, of_others, &err));
  assert_near(value, all - without, 1e-11);
  for (size_t i = 0; i < n; i++) assert_near(gradient[i], of_all[i] - of_others[i], 1e-10);
  release(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_golden_case),
      cmocka_unit_test(gradients_are_those_of_central_differences),
      cmocka_unit_test(estimates_have_no_bias),
      cmocka_unit_test(conditional_densities_are_ratios_of_likelihoods),
      cmocka_unit_test(complete_grids_need_only_the_eigenvectors_of_their_factors),
      cmocka_unit_test(repeated_cells_count_for_all_their_observations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
