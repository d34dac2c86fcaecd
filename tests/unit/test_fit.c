#include "models.h"
#include "unit.h"

#include "base/rng.h"
#include "base/threads.h"
#include "estimate/fit.h"
#include "linalg/blas_threads.h"

enum { ROWS = 240, D = 3 };

/* Every input is a group of its own. */
static const uint32_t groups[] = {0, 1, 2};

/* A smooth function of two of three columns, with noise. */
struct data {
  double x[ROWS * D], y[ROWS];
  struct gpnn_dataset dataset;
};

static void make_data(struct data *data)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
  for (size_t i = 0; i < ROWS; i++) {
    double *x = data->x + i * D;
    for (size_t j = 0; j < D; j++) x[j] = gpnn_rng_normal(&rng);
    data->y[i] = sin(2 * x[0]) + 0.4 * x[1] + 0.2 * gpnn_rng_normal(&rng);
  }
  data->dataset = (struct gpnn_dataset){
      .n = ROWS, .d = D, .n_groups = D, .group = groups, .x = data->x, .y = data->y};
}

static struct gpnn_fit_options options(const char *kernel)
{
  struct gpnn_fit_options options = GPNN_FIT_OPTIONS_INIT;
  options.kernel = gpnn_kernel_by_name(kernel);
  options.smoothness = 1.2;
  options.n_blocks = 3;
  options.block_size = 60;
  return options;
}

/* 1/2 (y' K^-1 y + log det K + s log 2 pi) of one block by Gaussian elimination. */
static double dense_loss(const struct gpnn_parameters *params, size_t s, const double *x,
                         const double *y)
{
  double k[20][21], loss = (double)s * log(8 * atan(1));
  for (size_t i = 0; i < s; i++) {
    for (size_t q = 0; q < s; q++) {
      double r2 = 0;
      for (size_t j = 0; j < D; j++)
        r2 +=
            pow((x[i * D + j] - x[q * D + j]) /
                    params->covariance.lengthscale[params->covariance.n_lengthscales == 1 ? 0 : j],
                2);
      gpnn_kernel_correlate(params->covariance.kernel, params->covariance.smoothness, 1, &r2);
      k[i][q] = params->covariance.kernelscale * r2 + (i == q ? params->covariance.noise : 0);
    }
    k[i][s] = y[i];
  }
  /* Eliminating below the pivots leaves z with y' K^-1 y = sum z_i^2 / pivot_i. */
  for (size_t i = 0; i < s; i++) {
    for (size_t below = i + 1; below < s; below++) {
      double share = k[below][i] / k[i][i];
      for (size_t q = i; q <= s; q++) k[below][q] -= share * k[i][q];
    }
    loss += log(k[i][i]) + k[i][s] * k[i][s] / k[i][i];
  }
  return loss / 2;
}

static void the_objective_is_the_dense_formula_over_blocks(void **state)
{
  (void)state;
  struct data data;
  double lengthscale[] = {0.7, 1.9, 3.1}, value, expected = 0;
  struct gpnn_parameters params = {.covariance.smoothness = 1.2,
                                   .covariance.n_lengthscales = 3,
                                   .covariance.lengthscale = lengthscale,
                                   .covariance.kernelscale = 1.3,
                                   .covariance.noise = 0.07};
  make_data(&data);
  for (size_t k = 0; gpnn_kernel_at(k) != NULL; k++) {
    params.covariance.kernel = gpnn_kernel_at(k);
    expected = 0;
    for (size_t b = 0; b < 4; b++)
      expected += dense_loss(&params, 20, data.x + b * 20 * D, data.y + b * 20);
    assert_ok(gpnn_fit_block_objective(&params, 4, 20, D, groups, data.x, data.y, NULL, 2, &value,
                                       NULL, &err));
    assert_close(value, expected / 80, 1e-12);
  }
}

static double value_at(const struct gpnn_parameters *params, const struct data *data)
{
  double value = 0;
  assert_ok(gpnn_fit_block_objective(params, 4, 60, D, groups, data->x, data->y, NULL, 2, &value,
                                     NULL, &err));
  return value;
}

/* Central differences with one step of Richardson's extrapolation: error O(h^4). */
static double difference(struct gpnn_parameters *params, double *parameter, const struct data *data)
{
  double estimate[2], centre = *parameter;
  for (int i = 0; i < 2; i++) {
    double h = i == 0 ? 2e-3 : 1e-3;
    *parameter = centre * exp(h);
    double up = value_at(params, data);
    *parameter = centre * exp(-h);
    estimate[i] = (up - value_at(params, data)) / (2 * h);
    *parameter = centre;
  }
  return (4 * estimate[1] - estimate[0]) / 3;
}

static void check_gradient(size_t n_lengthscales)
{
  struct data data;
  double lengthscale[] = {0.8, 1.7, 2.9};
  struct gpnn_parameters params = {.covariance.smoothness = 1.2,
                                   .covariance.n_lengthscales = n_lengthscales,
                                   .covariance.lengthscale = lengthscale,
                                   .covariance.kernelscale = 1.4,
                                   .covariance.noise = 0.09};
  make_data(&data);
  for (size_t k = 0; gpnn_kernel_at(k) != NULL; k++) {
    double gradient[5], value;
    params.covariance.kernel = gpnn_kernel_at(k);
    assert_ok(gpnn_fit_block_objective(&params, 4, 60, D, groups, data.x, data.y, NULL, 2, &value,
                                       gradient, &err));
    for (size_t j = 0; j < n_lengthscales; j++)
      assert_close(gradient[j], difference(&params, &lengthscale[j], &data), 1e-6);
    assert_close(gradient[n_lengthscales],
                 difference(&params, &params.covariance.kernelscale, &data), 1e-6);
    assert_close(gradient[n_lengthscales + 1], difference(&params, &params.covariance.noise, &data),
                 1e-6);
  }
}

static void isotropic_gradient_agrees_with_differences(void **state)
{
  (void)state;
  check_gradient(1);
}

static void ard_gradient_agrees_with_differences(void **state)
{
  (void)state;
  check_gradient(3);
}

/* But for the prior's share, which Adam does without. */
static void lbfgs_is_no_worse_than_adam(void **state)
{
  (void)state;
  struct data data;
  make_data(&data);
  for (size_t k = 0; gpnn_kernel_at(k) != NULL; k++)
    for (int ard = 0; ard < 2; ard++) {
      struct gpnn_fit_options opts = options(gpnn_kernel_at(k)->name);
      struct gpnn_parameters params[2] = {{0}, {0}};
      struct gpnn_fit_report report[2];
      opts.ard = ard;
      for (int i = 0; i < 2; i++) {
        opts.optimizer = i == 0 ? GPNN_OPTIMIZER_LBFGS : GPNN_OPTIMIZER_ADAM;
        assert_ok(fit_one(&data.dataset, &opts, &params[i], &report[i], &err));
        assert_int_equal(params[i].covariance.n_lengthscales, ard ? D : 1);
      }
      double share = report[0].optimize.end - report[0].value;
      assert_true(share > 0);
      assert_true(report[0].value <= report[1].value + share);
      gpnn_parameters_release(&params[0]);
      gpnn_parameters_release(&params[1]);
    }
}

/* The values are those of an independent implementation (NumPy, dense algebra, 200 steps)
 * on the same 24 rows in one block. */
static void adam_takes_the_published_steps(void **state)
{
  (void)state;
  enum { N = 24 };
  double x[2 * N], y[N];
  for (size_t i = 0; i < N; i++) {
    x[2 * i] = sin(1 + (double)i);
    x[2 * i + 1] = cos(2 * (double)i);
    y[i] = sin(3 * x[2 * i]) + 0.5 * x[2 * i + 1] + 0.1 * cos(7 * (double)i);
  }
  struct gpnn_dataset dataset = {.n = N, .d = 2, .n_groups = 2, .group = groups, .x = x, .y = y};
  struct gpnn_fit_options opts = options("matern32");
  struct gpnn_parameters params = {0};
  struct gpnn_fit_report report;
  opts.optimizer = GPNN_OPTIMIZER_ADAM;
  opts.ard = false;
  assert_ok(fit_one(&dataset, &opts, &params, &report, &err));
  assert_int_equal(report.n_blocks, 1);
  assert_int_equal(report.block_size, N);
  assert_close(params.covariance.lengthscale[0], 0.89460123665037172, 1e-9);
  assert_close(params.covariance.noise, 0.00081294798463402986, 1e-9);
  assert_close(params.covariance.kernelscale, 0.7318497744977488, 1e-9);
  gpnn_parameters_release(&params);
}

static void the_result_does_not_depend_on_threads(void **state)
{
  (void)state;
  struct data data;
  make_data(&data);
  struct gpnn_parameters params[3] = {{0}, {0}, {0}};
  struct gpnn_fit_report report[3];
  for (int i = 0; i < 3; i++) {
    struct gpnn_fit_options opts = options("matern52");
    opts.threads = i + 1;
    assert_ok(fit_one(&data.dataset, &opts, &params[i], &report[i], &err));
    assert_memory_equal(params[i].covariance.lengthscale, params[0].covariance.lengthscale,
                        D * sizeof(double));
    assert_true(params[i].covariance.noise == params[0].covariance.noise);
    assert_true(params[i].covariance.kernelscale == params[0].covariance.kernelscale);
    assert_true(report[i].value == report[0].value);
  }
  for (int i = 0; i < 3; i++) gpnn_parameters_release(&params[i]);
}

static void fixed_parameters_are_kept_exactly(void **state)
{
  (void)state;
  struct data data;
  make_data(&data);
  for (int mask = 1; mask < 8; mask++)
    for (int adam = 0; adam < 2; adam++) {
      struct gpnn_fit_options opts = options("exp");
      struct gpnn_parameters params = {0};
      struct gpnn_fit_report report;
      opts.optimizer = adam ? GPNN_OPTIMIZER_ADAM : GPNN_OPTIMIZER_LBFGS;
      opts.fixed_lengthscale = mask & 1 ? 1.1 : 0;
      opts.fixed_kernelscale = mask & 2 ? 0.7 : 0;
      opts.fixed_noise = mask & 4 ? 0.3 : 0;
      assert_ok(fit_one(&data.dataset, &opts, &params, &report, &err));
      for (size_t j = 0; j < D; j++)
        assert_true((params.covariance.lengthscale[j] == 1.1) == (mask & 1));
      assert_true((params.covariance.kernelscale == 0.7) == (mask >> 1 & 1));
      assert_true((params.covariance.noise == 0.3) == (mask >> 2 & 1));
      gpnn_parameters_release(&params);
    }
}

/* Noise-free rows leave no noise to find: the search ends at the floor of the kernel, which is
 * higher for the rough one; asked for, less is held. */
static void noise_is_bounded_below_by_the_kernels_floor(void **state)
{
  (void)state;
  struct data data;
  make_data(&data);
  double y[sizeof data.y / sizeof *data.y];
  for (size_t i = 0; i < data.dataset.n; i++) y[i] = sin(data.x[i * D]);
  data.dataset.y = y;
  struct gpnn_fit_options opts = options("exp");
  struct gpnn_parameters params = {0};
  struct gpnn_fit_report report;
  assert_ok(fit_one(&data.dataset, &opts, &params, &report, &err));
  assert_close(params.covariance.noise, 3e-3, 1e-6);
  gpnn_parameters_release(&params);
  opts = options("matern52");
  assert_ok(fit_one(&data.dataset, &opts, &params, &report, &err));
  assert_true(params.covariance.noise >= 0.999e-6 && params.covariance.noise < 3e-3);
  gpnn_parameters_release(&params);
  opts = options("exp");
  opts.fixed_noise = 1e-5;
  assert_ok(fit_one(&data.dataset, &opts, &params, &report, &err));
  assert_true(params.covariance.noise == 1e-5);
  gpnn_parameters_release(&params);
}

static void starting_at_the_result_stays_there(void **state)
{
  (void)state;
  struct data data;
  make_data(&data);
  struct gpnn_fit_options opts = options("rbf");
  struct gpnn_parameters first = {0}, second = {0};
  struct gpnn_fit_report report, again;
  assert_ok(fit_one(&data.dataset, &opts, &first, &report, &err));
  opts.start = &first;
  assert_ok(fit_one(&data.dataset, &opts, &second, &again, &err));
  assert_near(again.optimize.start, report.optimize.end, 1e-12);
  assert_near(again.value, report.value, 0.01 / (double)report.n_rows);
  gpnn_parameters_release(&first);
  gpnn_parameters_release(&second);
}

static void start_with_other_columns_is_refused(void **state)
{
  (void)state;
  struct data data;
  double two[] = {1, 2};
  struct gpnn_parameters start = {.covariance.n_lengthscales = 2, .covariance.lengthscale = two},
                         params = {0};
  struct gpnn_fit_options opts = options("exp");
  struct gpnn_fit_report report;
  make_data(&data);
  opts.start = &start;
  assert_fails(fit_one(&data.dataset, &opts, &params, &report, &err), GPNN_EMISMATCH,
               "2 lengthscales but the index has 3 inputs");
}

static void few_rows_give_fewer_or_smaller_blocks(void **state)
{
  (void)state;
  static const size_t rows[] = {2, 59, 60, 130, ROWS};
  static const size_t blocks[] = {1, 1, 1, 2, 3}, sizes[] = {2, 59, 60, 60, 60};
  struct data data;
  make_data(&data);
  for (size_t i = 0; i < 5; i++) {
    struct gpnn_fit_options opts = options("exp");
    struct gpnn_parameters params = {0};
    struct gpnn_fit_report report;
    data.dataset.n = rows[i];
    assert_ok(fit_one(&data.dataset, &opts, &params, &report, &err));
    assert_int_equal(report.n_blocks, blocks[i]);
    assert_int_equal(report.block_size, sizes[i]);
    gpnn_parameters_release(&params);
  }
}

static void what_cannot_be_estimated_is_refused(void **state)
{
  (void)state;
  struct data data;
  struct gpnn_parameters params = {0};
  struct gpnn_fit_report report;
  struct gpnn_fit_options opts = options("exp");
  make_data(&data);
  data.dataset.n = 1;
  assert_fails(fit_one(&data.dataset, &opts, &params, &report, &err), GPNN_EDATA,
               "at least 2 rows; there are 1");
  data.dataset.n = ROWS;
  opts.block_size = 1;
  assert_fails(fit_one(&data.dataset, &opts, &params, &report, &err), GPNN_EINVAL,
               "a block of at least 2 rows");
  opts.block_size = ROWS;
  data.y[17] = NAN;
  assert_fails(fit_one(&data.dataset, &opts, &params, &report, &err), GPNN_ENUMERIC, "not finite");
  assert_null(params.covariance.lengthscale);
}

static void identical_rows_can_be_fitted(void **state)
{
  (void)state;
  struct data data;
  struct gpnn_parameters params = {0};
  struct gpnn_fit_report report;
  struct gpnn_fit_options opts = options("rbf");
  make_data(&data);
  for (size_t i = 0; i < ROWS * D; i++) data.x[i] = 3;
  assert_ok(fit_one(&data.dataset, &opts, &params, &report, &err));
  assert_true(isfinite(report.value));
  gpnn_parameters_release(&params);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_objective_is_the_dense_formula_over_blocks),
      cmocka_unit_test(isotropic_gradient_agrees_with_differences),
      cmocka_unit_test(ard_gradient_agrees_with_differences),
      cmocka_unit_test(lbfgs_is_no_worse_than_adam),
      cmocka_unit_test(adam_takes_the_published_steps),
      cmocka_unit_test(the_result_does_not_depend_on_threads),
      cmocka_unit_test(fixed_parameters_are_kept_exactly),
      cmocka_unit_test(noise_is_bounded_below_by_the_kernels_floor),
      cmocka_unit_test(starting_at_the_result_stays_there),
      cmocka_unit_test(start_with_other_columns_is_refused),
      cmocka_unit_test(few_rows_give_fewer_or_smaller_blocks),
      cmocka_unit_test(what_cannot_be_estimated_is_refused),
      cmocka_unit_test(identical_rows_can_be_fitted),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
