#include "tucker_dense.h"

#include "linalg/blas_threads.h"
#include "models/tucker/fit.h"
#include "models/tucker/tucker_private.h"

/* Rows of a known function, standardised, and as many to test on. */
struct rows {
  struct gpnn_dataset view;
  double *x, *y, *truth, sd;
  uint32_t group[8];
  char name[2];
};

static double additive(size_t p, const double *x)
{
  double sum = 0;
  for (size_t l = 0; l < p; l++) sum += sin(1.5 * x[l] + (double)l);
  return sum;
}

static double limited(size_t p, const double *x)
{
  double sum = 0;
  for (size_t l = 0; l < p; l++) sum += x[l];
  return sin(sum) + 0.5 * x[0] * x[1];
}

static struct rows *made(double (*function)(size_t p, const double *x), size_t n, size_t p)
{
  struct rows *r = calloc(1, sizeof *r);
  assert_non_null(r);
  struct gpnn_rng rng = seeded(21);
  r->x = gpnn_alloc(n, p, sizeof *r->x);
  r->y = gpnn_alloc(n, 1, sizeof *r->y);
  r->truth = gpnn_alloc(n, 1, sizeof *r->truth);
  assert_true(r->x != NULL && r->y != NULL && r->truth != NULL);
  double mean = 0, squares = 0;
  for (size_t i = 0; i < n; i++) {
    for (size_t l = 0; l < p; l++) r->x[i * p + l] = 3.4 * gpnn_rng_uniform(&rng) - 1.7;
    r->truth[i] = function(p, r->x + i * p);
    mean += r->truth[i] / (double)n;
    squares += r->truth[i] * r->truth[i] / (double)n;
  }
  r->sd = sqrt(squares - mean * mean);
  for (size_t i = 0; i < n; i++) {
    r->truth[i] = (r->truth[i] - mean) / r->sd;
    r->y[i] = r->truth[i] + 0.3 * gpnn_rng_normal(&rng);
  }
  for (size_t l = 0; l < p && l < 8; l++) r->group[l] = (uint32_t)l;
  r->name[0] = 'y';
  r->view =
      (struct gpnn_dataset){.n = n, .d = p, .n_groups = p, .group = r->group, .x = r->x, .y = r->y};
  r->view.schema.target.name = r->name;
  return r;
}

static void release(struct rows *r)
{
  free(r->x);
  free(r->y);
  free(r->truth);
  free(r);
}

/* What came of a fit. */
struct fitted {
  struct gpnn_parameters params;
  struct gpnn_state *arrays;
  struct gpnn_tucker_report report;
  struct gpnn_tucker tucker;
};

static struct fitted fitted(const struct rows *r, const struct gpnn_tucker_options *options)
{
  struct fitted f = {0};
  assert_ok(gpnn_state_new(&f.arrays, 0, &err));
  assert_ok(gpnn_tucker_fit(&r->view, options, &f.params, f.arrays, &f.report, &err));
  assert_ok(gpnn_tucker_restore(&f.tucker, r->view.d, options->kernel, "y", f.arrays, &err));
  for (size_t l = 0; l < r->view.d; l++)
    f.tucker.numbers[f.tucker.lengthscale + l] = log(f.params.covariance.lengthscale[r->group[l]]);
  f.tucker.numbers[f.tucker.kernelscale] = log(f.params.covariance.kernelscale);
  f.tucker.numbers[f.tucker.noise] = log(f.params.covariance.noise);
  return f;
}

static void fitted_release(struct fitted *f)
{
  gpnn_parameters_release(&f->params);
  gpnn_state_free(f->arrays);
  gpnn_tucker_release(&f->tucker);
}

/* Root mean square distance from the true function. */
static double error_of(const struct rows *r, const struct fitted *f)
{
  struct gpnn_tucker_tile tile;
  const struct gpnn_tucker_data data = {.n = r->view.n, .x = r->x};
  double squares = 0;
  assert_ok(gpnn_tucker_tile_new(&tile, &f->tucker, &err));
  for (size_t first = 0; first < r->view.n; first += GPNN_TUCKER_TILE) {
    size_t n = r->view.n - first < GPNN_TUCKER_TILE ? r->view.n - first : GPNN_TUCKER_TILE;
    gpnn_tucker_tile_project(&f->tucker, &data, first, n, false, &tile);
    gpnn_tucker_tile_means(&f->tucker, n, &tile);
    for (size_t i = 0; i < n; i++)
      squares += (tile.mean[i] - r->truth[first + i]) * (tile.mean[i] - r->truth[first + i]);
  }
  gpnn_tucker_tile_release(&tile);
  return sqrt(squares / (double)r->view.n);
}

static double error_with(const struct rows *r, const struct gpnn_tucker_options *options)
{
  struct fitted f = fitted(r, options);
  double error = error_of(r, &f);
  fitted_release(&f);
  return error;
}

/* ---- what it learns ----------------------------------------------------------------------- */

static void a_sum_of_functions_needs_rank_two(void **state)
{
  (void)state;
  struct rows *r = made(additive, 500, 2);
  struct gpnn_tucker_options options = gpnn_tucker_usual_options();
  options.size[0] = 8;
  options.rank[0] = 1;
  assert_true(error_with(r, &options) > 0.5);
  options.rank[0] = 2;
  assert_true(error_with(r, &options) < 0.07);
  options.is_sum = true;
  assert_true(error_with(r, &options) < 0.07);
  options.rank[0] = 1;
  assert_true(error_with(r, &options) > 0.5);
  release(r);
}

static void a_few_sweeps_find_the_truth(void **state)
{
  (void)state;
  struct rows *r = made(limited, 2000, 4);
  struct gpnn_tucker_options options = gpnn_tucker_usual_options();
  options.size[0] = 8;
  options.rank[0] = 3;
  options.n_sweeps = 5;
  options.has_prior_covariance = true;
  assert_true(error_with(r, &options) < 0.08);
  release(r);
}

/* ---- options ------------------------------------------------------------------------------ */

static void threads_change_no_array(void **state)
{
  (void)state;
  struct rows *r = made(limited, 9000, 2);
  struct gpnn_tucker_options options = gpnn_tucker_usual_options();
  options.n_sweeps = 2;
  options.threads = 1;
  struct fitted one = fitted(r, &options);
  options.threads = 3;
  struct fitted other = fitted(r, &options);
  assert_int_equal(one.arrays->n, other.arrays->n);
  for (size_t i = 0; i < one.arrays->n; i++)
    assert_memory_equal(one.arrays->arrays[i].values, other.arrays->arrays[i].values,
                        one.arrays->arrays[i].n * sizeof(double));
  fitted_release(&one);
  fitted_release(&other);
  release(r);
}

static void without_a_covariance_the_variance_is_that_of_the_residuals(void **state)
{
  (void)state;
  struct rows *r = made(additive, 300, 2);
  struct gpnn_tucker_options options = gpnn_tucker_usual_options();
  struct fitted with = fitted(r, &options);
  assert_int_equal(with.report.variance, GPNN_TUCKER_VARIATIONAL);
  assert_null(gpnn_state_find(with.arrays, "y", GPNN_TUCKER_RESIDUAL_VARIANCE));
  assert_non_null(gpnn_state_find(with.arrays, "y", GPNN_TUCKER_RHO));
  options.has_prior_covariance = true;
  r->view.n_calibration = 100;
  r->view.calibration_x = r->x;
  r->view.calibration_y = r->y;
  struct fitted without = fitted(r, &options);
  assert_int_equal(without.report.variance, GPNN_TUCKER_RESIDUAL);
  assert_near(without.report.shrinkage, 1, 0);
  assert_null(gpnn_state_find(without.arrays, "y", GPNN_TUCKER_RHO));
  const struct gpnn_state_array *array =
      gpnn_state_find(without.arrays, "y", GPNN_TUCKER_RESIDUAL_VARIANCE);
  assert_non_null(array);
  assert_near(array->values[0], without.report.residual, 0);
  assert_true(without.params.covariance.noise <= without.report.residual);
  options.variance = GPNN_TUCKER_VARIATIONAL;
  struct fitted asked = fitted(r, &options);
  assert_null(gpnn_state_find(asked.arrays, "y", GPNN_TUCKER_RESIDUAL_VARIANCE));
  fitted_release(&with);
  fitted_release(&without);
  fitted_release(&asked);
  release(r);
}

static void freed_scales_are_where_the_bound_is_highest(void **state)
{
  (void)state;
  struct rows *r = made(additive, 300, 2);
  struct gpnn_tucker_options options = gpnn_tucker_usual_options();
  options.frees_noise = options.frees_kernelscale = options.has_prior_covariance = true;
  options.variance = GPNN_TUCKER_VARIATIONAL;
  options.size[0] = 4;
  struct fitted f = fitted(r, &options);
  const struct gpnn_tucker_data data = {.n = 300, .x = r->x, .y = r->y, .weight = 1, .threads = 1};
  struct gpnn_tucker_bound *bound = NULL;
  struct gpnn_tucker_value value;
  assert_ok(gpnn_tucker_bound_new(&bound, &f.tucker, 1, &err));
  assert_ok(gpnn_tucker_bound_at(bound, &f.tucker, &data, &value, NULL, &err));
  assert_close(f.params.covariance.noise,
               (value.squares + f.params.covariance.kernelscale * value.left) / 300, 1e-9);
  gpnn_tucker_bound_free(bound);
  fitted_release(&f);
  release(r);
}

static void count(void *context, const struct gpnn_tucker_progress *progress)
{
  size_t *seen = context;
  assert_true(isfinite(progress->bound) && progress->rmse > 0 && progress->p == 2);
  assert_true(progress->lengthscale[0] > 0 && progress->noise > 0 && progress->kernelscale > 0);
  assert_true(progress->sweep > *seen);
  *seen = progress->sweep;
}

static void ranks_fit_the_grid_and_the_core_its_limit(void **state)
{
  (void)state;
  struct rows *r = made(limited, 200, 2);
  size_t seen = 0;
  struct gpnn_tucker_options options = gpnn_tucker_usual_options();
  options.n_sizes = options.n_ranks = 2;
  options.size[0] = 3;
  options.size[1] = 9;
  options.rank[0] = options.rank[1] = 8;
  options.most_core = 12;
  options.progress = count;
  options.progress_context = &seen;
  struct fitted f = fitted(r, &options);
  assert_int_equal(f.report.shape.m[0], 3);
  assert_int_equal(f.report.shape.m[1], 9);
  assert_true(f.report.shape.q[0] <= 3 && f.report.shape.q[1] <= 4);
  assert_int_equal(seen, f.report.n_sweeps);
  fitted_release(&f);
  release(r);
}

static void inputs_of_a_group_share_their_lengthscale(void **state)
{
  (void)state;
  struct rows *r = made(limited, 400, 3);
  struct gpnn_tucker_options options = gpnn_tucker_usual_options();
  r->group[1] = 0;
  r->group[2] = 1;
  r->view.n_groups = 2;
  struct fitted f = fitted(r, &options);
  assert_int_equal(f.params.covariance.n_lengthscales, 2);
  assert_true(f.params.covariance.lengthscale[0] != f.params.covariance.lengthscale[1]);
  fitted_release(&f);
  release(r);
}

/* ---- few rows, and bad ones ---------------------------------------------------------------- */

static void few_rows_and_a_constant_target_are_fitted(void **state)
{
  (void)state;
  const size_t n[] = {1, 3, 20, 60};
  for (size_t i = 0; i < 4; i++) {
    struct rows *r = made(limited, n[i], 2);
    struct gpnn_tucker_options options = gpnn_tucker_usual_options();
    if (i > 0) memset(r->y, 0, n[i] * sizeof *r->y);
    if (i == 0) r->y[0] = 0.5;
    struct fitted f = fitted(r, &options);
    assert_true(isfinite(f.report.bound) && isfinite(f.report.rmse));
    fitted_release(&f);
    release(r);
  }
}

static void what_no_grid_can_do_is_refused(void **state)
{
  (void)state;
  struct rows *r = made(limited, 30, 9);
  struct gpnn_tucker_options options = gpnn_tucker_usual_options();
  struct gpnn_parameters params = {0};
  struct gpnn_tucker_report report;
  struct gpnn_state *arrays = NULL;
  assert_ok(gpnn_state_new(&arrays, 0, &err));
  assert_fails(gpnn_tucker_fit(&r->view, &options, &params, arrays, &report, &err), GPNN_EDATA,
               "at most 8 dimensions, and there are 9 inputs");
  r->view.d = 0;
  assert_fails(gpnn_tucker_fit(&r->view, &options, &params, arrays, &report, &err), GPNN_EDATA,
               "an input that varies");
  r->view.d = 2;
  r->view.n = 0;
  assert_fails(gpnn_tucker_fit(&r->view, &options, &params, arrays, &report, &err), GPNN_EDATA,
               "no row");
  r->view.n = 30;
  options.n_sizes = 3;
  assert_fails(gpnn_tucker_fit(&r->view, &options, &params, arrays, &report, &err), GPNN_EDATA,
               "3 grid sizes for 2 inputs");
  options.n_sizes = 1;
  options.n_ranks = 3;
  assert_fails(gpnn_tucker_fit(&r->view, &options, &params, arrays, &report, &err), GPNN_EDATA,
               "3 ranks for 2 inputs");
  assert_int_equal(arrays->n, 0);
  gpnn_state_free(arrays);
  release(r);
}

/* ---- points ------------------------------------------------------------------------------- */

static void points_are_equally_spaced_or_at_quantiles(void **state)
{
  (void)state;
  const double x[] = {5, 0, 5, 1, 5, 2, 5, 3, 5, 10};
  double points[5];
  assert_int_equal(gpnn_tucker_place(5, 2, 1, x, false, 0.1, 5, points), 5);
  for (size_t j = 0; j < 5; j++) assert_near(points[j], -1 + 3 * (double)j, 1e-12);
  assert_int_equal(gpnn_tucker_place(5, 2, 1, x, true, 0.1, 5, points), 5);
  const double quantiles[] = {-1, 1, 2, 3, 11};
  for (size_t j = 0; j < 5; j++) assert_near(points[j], quantiles[j], 1e-12);
  assert_int_equal(gpnn_tucker_place(5, 2, 0, x, true, 0.1, 5, points), 1);
  assert_near(points[0], 5, 0);
  assert_int_equal(gpnn_tucker_place(5, 2, 1, x, false, 0.1, 1, points), 1);
  assert_near(points[0], 5, 1e-12);
  const double tied[] = {0, 0, 0, 0, 1};
  assert_int_equal(gpnn_tucker_place(5, 1, 0, tied, true, 0.1, 5, points), 3);
}

/* ---- ranks and arrays --------------------------------------------------------------------- */

static void directions_without_weight_are_dropped(void **state)
{
  (void)state;
  struct tucker_case c = tucker_made("rbf", 5);
  struct gpnn_tucker *t = &c.tucker;
  struct gpnn_tucker_als *als = NULL;
  struct gpnn_tucker_tile tile;
  double before[40];
  for (size_t i = 0; i < 12; i++) /* of the second dimension only two directions */
    if (i / 2 % 3 == 2) t->numbers[i] = t->numbers[i - 2] - t->numbers[i - 4];
  assert_ok(gpnn_tucker_als_new(&als, t, GPNN_TUCKER_MOST_DENSE, 1, &err));
  assert_ok(gpnn_tucker_als_set(als, t, &err));
  for (size_t l = 0; l < 3; l++) assert_ok(gpnn_tucker_als_gauge(als, t, l, &err));
  gpnn_tucker_als_free(als);
  assert_ok(gpnn_tucker_tile_new(&tile, t, &err));
  gpnn_tucker_tile_project(t, &c.data, 0, 40, false, &tile);
  gpnn_tucker_tile_means(t, 40, &tile);
  memcpy(before, tile.mean, sizeof before);
  gpnn_tucker_tile_release(&tile);
  assert_ok(gpnn_tucker_reduce(t, 1e-6, &err));
  assert_int_equal(t->shape.q[0], 2);
  assert_int_equal(t->shape.q[1], 2);
  assert_int_equal(t->shape.q[2], 2);
  assert_int_equal(t->n_core, 8);
  assert_ok(gpnn_tucker_tile_new(&tile, t, &err));
  gpnn_tucker_tile_project(t, &c.data, 0, 40, false, &tile);
  gpnn_tucker_tile_means(t, 40, &tile);
  for (size_t i = 0; i < 40; i++) assert_near(tile.mean[i], before[i], 1e-9);
  gpnn_tucker_tile_release(&tile);
  tucker_case_release(&c);
}

static void arrays_give_back_the_same_model(void **state)
{
  (void)state;
  const struct gpnn_tucker_shape shape[] = {
      {.p = 3, .m = {4, 5, 3}, .q = {2, 3, 2}},
      {.p = 3, .m = {4, 5, 3}, .q = {6, 6, 6}, .is_diagonal = true}};
  for (size_t s = 0; s < 2; s++)
    for (int has_covariance = 0; has_covariance < 2; has_covariance++) {
      struct tucker_case c = tucker_made_of(&shape[s], "rbf", 5, 6);
      struct gpnn_state *arrays = NULL;
      struct gpnn_tucker t;
      c.tucker.has_covariance = has_covariance;
      assert_ok(gpnn_state_new(&arrays, 0, &err));
      assert_ok(gpnn_tucker_store(&c.tucker, "y", arrays, &err));
      assert_ok(gpnn_tucker_restore(&t, 3, c.tucker.kernel, "y", arrays, &err));
      assert_int_equal(t.has_covariance, has_covariance);
      assert_int_equal(t.shape.is_diagonal, s == 1);
      size_t n = has_covariance ? t.lengthscale : t.rho[0];
      assert_int_equal(t.n_numbers, c.tucker.n_numbers);
      assert_memory_equal(t.numbers, c.tucker.numbers, n * sizeof *t.numbers);
      assert_memory_equal(t.grid, c.tucker.grid, t.n_grid * sizeof *t.grid);
      gpnn_tucker_release(&t);
      gpnn_state_free(arrays);
      tucker_case_release(&c);
    }
}

static void damaged_arrays_are_refused(void **state)
{
  (void)state;
  const struct {
    const char *name;
    size_t at;
    double value;
    const char *complaint;
  } damage[] = {{GPNN_TUCKER_GRID_SIZE, 0, 0, "'grid-size'"},
                {GPNN_TUCKER_GRID_SIZE, 0, 3, "'grid'"},
                {GPNN_TUCKER_GRID_SIZE, 1, 2.5, "'grid-size'"},
                {GPNN_TUCKER_RANK, 0, 1e9, "'rank'"},
                {GPNN_TUCKER_RANK, 0, 3, "'core'"},
                {GPNN_TUCKER_RANK, 1, NAN, "'rank'"},
                {GPNN_TUCKER_GRID, 1, -5, "do not ascend"},
                {GPNN_TUCKER_JITTER_USED, 0, 0, "jitter"}};
  for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
    struct tucker_case c = tucker_made("rbf", 6);
    struct gpnn_state *arrays = NULL;
    struct gpnn_tucker t;
    assert_ok(gpnn_state_new(&arrays, 0, &err));
    assert_fails(gpnn_tucker_restore(&t, 3, c.tucker.kernel, "y", arrays, &err), GPNN_EFORMAT,
                 "no array 'grid-size'");
    assert_ok(gpnn_tucker_store(&c.tucker, "y", arrays, &err));
    for (size_t a = 0; a < arrays->n; a++)
      if (strcmp(arrays->arrays[a].name, damage[i].name) == 0)
        arrays->arrays[a].values[damage[i].at] = damage[i].value;
    assert_fails(gpnn_tucker_restore(&t, 3, c.tucker.kernel, "y", arrays, &err), GPNN_EFORMAT,
                 damage[i].complaint);
    assert_fails(gpnn_tucker_restore(&t, 9, c.tucker.kernel, "y", arrays, &err), GPNN_EFORMAT,
                 "1 to 8 dimensions");
    gpnn_state_free(arrays);
    tucker_case_release(&c);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sum_of_functions_needs_rank_two),
      cmocka_unit_test(a_few_sweeps_find_the_truth),
      cmocka_unit_test(threads_change_no_array),
      cmocka_unit_test(without_a_covariance_the_variance_is_that_of_the_residuals),
      cmocka_unit_test(freed_scales_are_where_the_bound_is_highest),
      cmocka_unit_test(ranks_fit_the_grid_and_the_core_its_limit),
      cmocka_unit_test(inputs_of_a_group_share_their_lengthscale),
      cmocka_unit_test(few_rows_and_a_constant_target_are_fitted),
      cmocka_unit_test(what_no_grid_can_do_is_refused),
      cmocka_unit_test(points_are_equally_spaced_or_at_quantiles),
      cmocka_unit_test(directions_without_weight_are_dropped),
      cmocka_unit_test(arrays_give_back_the_same_model),
      cmocka_unit_test(damaged_arrays_are_refused),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
