/* Estimation from neighbourhoods: leave-one-out, joint, Vecchia's. */
#include "base/rng.h"
#include "base/threads.h"
#include "dense.h"
#include "estimate/fit.h"
#include "estimate/neighbourhood.h"
#include "kernel/rotation.h"
#include "linalg/blas_threads.h"
#include "models.h"
#include "stats/moments.h"
#include "unit.h"

static const enum gpnn_objective_kind kinds[] = {GPNN_OBJECTIVE_LOO, GPNN_OBJECTIVE_MLL_K,
                                                 GPNN_OBJECTIVE_VECCHIA};
enum { N_KINDS = 3 };

/* ---- data ------------------------------------------------------------------------------- */

/* Contents that own what they point to; 'spare' has room for noise variances or a regressor. */
struct data {
  struct gpnn_dataset dataset;
  double *x, *y, *spare;
  uint32_t *group;
};

static double smooth(size_t d, const double *x)
{
  double y = sin(2 * x[0]);
  if (d > 1) y += 0.4 * x[1];
  return y;
}

/* Standard normal inputs, a smooth function of the first two, noise of sd 0.2. */
static struct data data_new(size_t n, size_t d)
{
  struct data data = {.x = calloc(n * d, sizeof *data.x),
                      .y = calloc(n, sizeof *data.y),
                      .spare = calloc(n, sizeof *data.spare),
                      .group = calloc(d, sizeof *data.group)};
  struct gpnn_rng rng;
  assert_non_null(data.group);
  gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
  for (size_t i = 0; i < n * d; i++) data.x[i] = gpnn_rng_normal(&rng);
  for (size_t i = 0; i < n; i++)
    data.y[i] = smooth(d, data.x + i * d) + 0.2 * gpnn_rng_normal(&rng);
  for (size_t j = 0; j < d; j++) data.group[j] = (uint32_t)j;
  data.dataset = (struct gpnn_dataset){
      .n = n, .d = d, .n_groups = d, .group = data.group, .x = data.x, .y = data.y};
  return data;
}

static void data_free(struct data *data)
{
  free(data->x);
  free(data->y);
  free(data->spare);
  free(data->group);
}

/* Makes the targets a draw from the process itself: the Cholesky factor of the covariance
 * times standard normal numbers. */
static void draw_from_process(struct data *data, const char *kernel, const double *lengthscale,
                              double kernelscale, double noise)
{
  size_t n = data->dataset.n, d = data->dataset.d;
  double *l = calloc(n * n, sizeof *l);
  struct gpnn_rng rng;
  assert_non_null(l);
  gpnn_rng_init(&rng, 77, GPNN_RNG_TEST);
  for (size_t j = 0; j < n; j++)
    for (size_t i = j; i < n; i++) {
      double sum = kernelscale * (double)dense_kernel(kernel, d, data->x + i * d, data->x + j * d,
                                                      d, lengthscale);
      if (i == j) sum += noise;
      for (size_t q = 0; q < j; q++) sum -= l[i * n + q] * l[j * n + q];
      l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
    }
  memset(data->y, 0, n * sizeof *data->y);
  for (size_t j = 0; j < n; j++) {
    double e = gpnn_rng_normal(&rng);
    for (size_t i = j; i < n; i++) data->y[i] += l[i * n + j] * e;
  }
  free(l);
}

/* ---- estimations ------------------------------------------------------------------------ */

static struct gpnn_fit_options options(enum gpnn_objective_kind kind, enum gpnn_optimizer optimizer)
{
  struct gpnn_fit_options options = GPNN_FIT_OPTIONS_INIT;
  options.kernel = gpnn_kernel_by_name("matern32");
  options.first = kind;
  options.optimizer = optimizer;
  options.k = 12;
  options.rows = 300;
  options.steps = 150;
  options.batch = 32;
  options.refresh = 50;
  options.n_blocks = 2;
  options.block_size = 100;
  return options;
}

/* One estimation that has to succeed. */
static struct gpnn_fit_report fit(const struct gpnn_dataset *dataset,
                                  const struct gpnn_fit_options *opts,
                                  struct gpnn_parameters *params)
{
  struct gpnn_fit_report report = {0};
  assert_ok(fit_one(dataset, opts, params, &report, &err));
  assert_true(isfinite(report.value));
  for (size_t j = 0; j < params->covariance.n_lengthscales; j++)
    assert_true(isfinite(params->covariance.lengthscale[j]) &&
                params->covariance.lengthscale[j] > 0);
  assert_true(isfinite(params->covariance.kernelscale) && params->covariance.kernelscale > 0);
  assert_true(isfinite(params->covariance.noise) && params->covariance.noise > 0);
  return report;
}

static void assert_same(const struct gpnn_parameters *a, const struct gpnn_parameters *b)
{
  assert_int_equal(a->covariance.n_lengthscales, b->covariance.n_lengthscales);
  assert_memory_equal(a->covariance.lengthscale, b->covariance.lengthscale,
                      a->covariance.n_lengthscales * sizeof(double));
  assert_true(a->covariance.kernelscale == b->covariance.kernelscale &&
              a->covariance.noise == b->covariance.noise);
  assert_int_equal(a->covariance.n_rotation, b->covariance.n_rotation);
  if (a->covariance.n_rotation > 0)
    assert_memory_equal(a->covariance.rotation, b->covariance.rotation,
                        a->covariance.n_rotation * sizeof(double));
}

/* ---- the objective at the result ---------------------------------------------------------- */

/* Solves K z = b, K the covariance of the first n rows: kernelscale C + noise + known noise. */
static double *solve(const struct data *data, const struct gpnn_parameters *params, const double *b)
{
  const struct gpnn_dataset *c = &data->dataset;
  size_t n = c->n;
  long double *k = calloc(n * n, sizeof *k), *u = calloc(n, sizeof *u), *v = calloc(n, sizeof *v);
  double *z = calloc(n, sizeof *z);
  assert_non_null(z);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++)
      k[i * n + j] =
          (long double)params->covariance.kernelscale *
          dense_kernel(params->covariance.kernel->name, c->d, c->x + i * c->d, c->x + j * c->d,
                       params->covariance.n_lengthscales, params->covariance.lengthscale);
    k[i * n + i] += (long double)params->covariance.noise + (c->noise == NULL ? 0 : c->noise[i]);
    u[i] = b[i];
  }
  dense_solve(n, k, u, v);
  for (size_t i = 0; i < n; i++) z[i] = (double)u[i];
  free(k);
  free(u);
  free(v);
  return z;
}

/* Leave-one-out over all other rows from the inverse of K: v_i = 1/Q_ii, e_i = v_i (Q r)_i. */
static double dense_leave_one_out(const struct data *data, const struct gpnn_parameters *params)
{
  size_t n = data->dataset.n;
  double *r = calloc(n, sizeof *r), *unit = calloc(n, sizeof *unit), sum = 0;
  assert_true(r != NULL && unit != NULL);
  for (size_t i = 0; i < n; i++)
    r[i] =
        data->y[i] - (params->mean.kind == GPNN_MEAN_CONSTANT ? params->mean.coefficients[0] : 0);
  double *alpha = solve(data, params, r);
  for (size_t i = 0; i < n; i++) {
    unit[i] = 1;
    double *column = solve(data, params, unit);
    double v = 1 / column[i], e = v * alpha[i];
    sum += (log(8 * atan(1) * v) + e * e / v) / 2;
    unit[i] = 0;
    free(column);
  }
  free(r);
  free(unit);
  free(alpha);
  return sum / (double)n;
}

/* With all other rows as neighbours no list can change, and the value reported has to be the
 * dense one at the parameters returned, with a mean and known noise too. */
static void loo_of_all_others_reports_the_dense_value(void **state)
{
  (void)state;
  struct data data = data_new(24, 2);
  for (size_t i = 0; i < 24; i++) data.spare[i] = i % 2 == 0 ? 0.3 : 0;
  for (int way = 0; way < 4; way++) {
    struct gpnn_fit_options opts =
        options(GPNN_OBJECTIVE_LOO, way % 2 == 0 ? GPNN_OPTIMIZER_LBFGS : GPNN_OPTIMIZER_ADAM);
    struct gpnn_parameters params = {0};
    opts.k = 100;
    opts.mean = way < 2 ? GPNN_MEAN_ZERO : GPNN_MEAN_CONSTANT;
    data.dataset.noise = way < 2 ? NULL : data.spare;
    struct gpnn_fit_report report = fit(&data.dataset, &opts, &params);
    assert_int_equal(report.k, 23);
    assert_int_equal(report.n_rows, 24);
    assert_near(report.value, dense_leave_one_out(&data, &params), 1e-8);
    gpnn_parameters_release(&params);
  }
  data_free(&data);
}

/* Each row given all before it, in any order, is the joint density of all; so is that of each
 * row's neighbourhood where it is of all rows. */
static void vecchia_and_mll_of_all_rows_agree(void **state)
{
  (void)state;
  struct data data = data_new(24, 2);
  double value[2];
  for (int i = 0; i < 2; i++) {
    struct gpnn_fit_options opts =
        options(i == 0 ? GPNN_OBJECTIVE_VECCHIA : GPNN_OBJECTIVE_MLL_K, GPNN_OPTIMIZER_LBFGS);
    struct gpnn_parameters params = {0};
    opts.k = 24;
    opts.fixed_lengthscale = 0.8;
    struct gpnn_fit_report report = fit(&data.dataset, &opts, &params);
    value[i] = report.value * (i == 0 ? 24 : 1);
    assert_int_equal(report.k, 23);
    gpnn_parameters_release(&params);
  }
  assert_near(value[0], value[1], 1e-5);
  data_free(&data);
}

static void adam_and_lbfgs_agree_on_the_objective(void **state)
{
  (void)state;
  struct data data = data_new(300, 2);
  for (size_t k = 0; k < N_KINDS; k++) {
    double value[2];
    for (int adam = 0; adam < 2; adam++) {
      struct gpnn_fit_options opts =
          options(kinds[k], adam ? GPNN_OPTIMIZER_ADAM : GPNN_OPTIMIZER_LBFGS);
      struct gpnn_parameters params = {0};
      opts.steps = 400;
      struct gpnn_fit_report report = fit(&data.dataset, &opts, &params);
      assert_int_equal(report.objective, kinds[k]);
      value[adam] = report.value / (kinds[k] == GPNN_OBJECTIVE_MLL_K ? (double)opts.k : 1);
      gpnn_parameters_release(&params);
    }
    assert_near(value[1], value[0], 0.02);
  }
  data_free(&data);
}

/* Blocks first, which only gives a start. */
static void the_second_objective_continues_from_the_first(void **state)
{
  (void)state;
  struct data data = data_new(300, 2);
  struct gpnn_parameters one = {0}, two = {0};
  struct gpnn_fit_options opts = options(GPNN_OBJECTIVE_LOO, GPNN_OPTIMIZER_LBFGS);
  struct gpnn_fit_report alone = fit(&data.dataset, &opts, &one);
  opts.first = GPNN_OBJECTIVE_BLOCK;
  opts.second = GPNN_OBJECTIVE_LOO;
  struct gpnn_fit_report both = fit(&data.dataset, &opts, &two);
  assert_int_equal(both.objective, GPNN_OBJECTIVE_LOO);
  assert_near(both.value, alone.value, 0.01);
  assert_true(both.optimize.start < alone.optimize.start);
  gpnn_parameters_release(&one);
  gpnn_parameters_release(&two);
  data_free(&data);
}

/* ---- what is held, where it starts -------------------------------------------------------- */

static void fixed_parameters_are_kept_exactly(void **state)
{
  (void)state;
  struct data data = data_new(60, 2);
  for (size_t k = 0; k < N_KINDS; k++)
    for (int mask = 1; mask < 8; mask++)
      for (int adam = 0; adam < 2; adam++) {
        struct gpnn_fit_options opts =
            options(kinds[k], adam ? GPNN_OPTIMIZER_ADAM : GPNN_OPTIMIZER_LBFGS);
        struct gpnn_parameters params = {0};
        opts.steps = 5;
        opts.fixed_lengthscale = mask & 1 ? 1.1 : 0;
        opts.fixed_kernelscale = mask & 2 ? 0.7 : 0;
        opts.fixed_noise = mask & 4 ? 0.3 : 0;
        fit(&data.dataset, &opts, &params);
        for (size_t j = 0; j < 2; j++)
          assert_true((params.covariance.lengthscale[j] == 1.1) == (mask & 1));
        assert_true((params.covariance.kernelscale == 0.7) == (mask >> 1 & 1));
        assert_true((params.covariance.noise == 0.3) == (mask >> 2 & 1));
        gpnn_parameters_release(&params);
      }
  data_free(&data);
}

/* A step of adam moves a logarithm by no more than its rate, 0.1. */
static void estimation_starts_from_the_parameters_given(void **state)
{
  (void)state;
  struct data data = data_new(100, 2);
  double lengthscale[] = {0.05, 7};
  struct gpnn_parameters start = {.covariance.kernel = gpnn_kernel_by_name("exp"),
                                  .covariance.n_lengthscales = 2,
                                  .covariance.lengthscale = lengthscale,
                                  .covariance.kernelscale = 5,
                                  .covariance.noise = 0.9};
  for (size_t k = 0; k < N_KINDS; k++) {
    struct gpnn_fit_options opts = options(kinds[k], GPNN_OPTIMIZER_ADAM);
    struct gpnn_parameters params = {0};
    opts.steps = 1;
    opts.start = &start;
    fit(&data.dataset, &opts, &params);
    for (size_t j = 0; j < 2; j++)
      assert_near(log(params.covariance.lengthscale[j]), log(lengthscale[j]), 0.1001);
    assert_near(log(params.covariance.kernelscale), log(5), 0.1001);
    assert_near(log(params.covariance.noise), log(0.9), 0.1001);
    assert_true(params.covariance.noise != 0.9);
    gpnn_parameters_release(&params);
  }
  data_free(&data);
}

static void one_lengthscale_starts_from_the_geometric_mean_of_several(void **state)
{
  (void)state;
  struct data data = data_new(100, 2);
  double lengthscale[] = {0.5, 8};
  struct gpnn_parameters start = {.covariance.kernel = gpnn_kernel_by_name("exp"),
                                  .covariance.n_lengthscales = 2,
                                  .covariance.lengthscale = lengthscale,
                                  .covariance.kernelscale = 5,
                                  .covariance.noise = 0.9};
  struct gpnn_parameters params = {0};
  struct gpnn_fit_options opts = options(kinds[0], GPNN_OPTIMIZER_ADAM);
  opts.ard = false;
  opts.steps = 1;
  opts.start = &start;
  fit(&data.dataset, &opts, &params);
  assert_int_equal(params.covariance.n_lengthscales, 1);
  assert_near(log(params.covariance.lengthscale[0]), log(2), 0.1001);
  gpnn_parameters_release(&params);
  data_free(&data);
}

/* ---- the errors predicted are those made ---------------------------------------------------- */

/* mean(e^2/v) over all rows, each predicted from its k nearest others. */
static double mean_z2(const struct data *data, const struct gpnn_parameters *params, size_t k)
{
  const struct gpnn_dataset *c = &data->dataset;
  int64_t *row = calloc(c->n, sizeof *row), *neighbour = calloc(c->n * k, sizeof *neighbour);
  double *z2 = calloc(c->n, sizeof *z2), *r2 = calloc(c->n, sizeof *r2), sum = 0;
  assert_true(row && neighbour && z2 && r2);
  for (size_t i = 0; i < c->n; i++) {
    row[i] = (int64_t)i;
    for (size_t q = 0; q < c->n; q++) {
      r2[q] = q == i ? INFINITY : 0;
      for (size_t j = 0; j < c->d; j++)
        r2[q] +=
            pow((c->x[i * c->d + j] - c->x[q * c->d + j]) / params->covariance.lengthscale[j], 2);
    }
    for (size_t a = 0; a < k; a++) {
      size_t nearest = 0;
      for (size_t q = 1; q < c->n; q++)
        if (r2[q] < r2[nearest]) nearest = q;
      neighbour[i * k + a] = (int64_t)nearest;
      r2[nearest] = INFINITY;
    }
  }
  struct gpnn_neighbourhoods hoods = {c->n, k, row, neighbour, NULL, NULL};
  struct gpnn_neighbourhood_result result = {.z2 = z2};
  assert_ok(gpnn_neighbourhood_objective(c, params, NULL, GPNN_DENSITY_CONDITIONAL, &hoods, NULL, 1,
                                         &result, &err));
  for (size_t i = 0; i < c->n; i++) sum += z2[i] / (double)c->n;
  free(row);
  free(neighbour);
  free(z2);
  free(r2);
  return sum;
}

static void errors_after_loo_are_as_large_as_predicted(void **state)
{
  (void)state;
  const double lengthscale[] = {0.4, 1};
  struct data data = data_new(400, 2);
  draw_from_process(&data, "exp", lengthscale, 1, 0.05);
  for (int adam = 0; adam < 2; adam++) {
    struct gpnn_fit_options opts =
        options(GPNN_OBJECTIVE_LOO, adam ? GPNN_OPTIMIZER_ADAM : GPNN_OPTIMIZER_LBFGS);
    struct gpnn_parameters params = {0};
    opts.rows = 400;
    opts.steps = 400;
    fit(&data.dataset, &opts, &params);
    assert_near(mean_z2(&data, &params, 12), 1, adam ? 0.05 : 0.02);
    gpnn_parameters_release(&params);
  }
  data_free(&data);
}

/* Along a smooth kernel's ridge, where scale and lengthscales grow together, leave-one-out hardly
 * changes; so of it only what does not move along the ridge is asked. */
static void parameters_that_made_the_data_are_found(void **state)
{
  (void)state;
  const double lengthscale[] = {0.6, 2};
  struct data data = data_new(600, 2);
  draw_from_process(&data, "matern32", lengthscale, 1, 0.1);
  for (size_t k = 0; k < N_KINDS; k++) {
    struct gpnn_fit_options opts = options(kinds[k], GPNN_OPTIMIZER_LBFGS);
    struct gpnn_parameters params = {0};
    opts.k = 24;
    opts.rows = 600;
    fit(&data.dataset, &opts, &params);
    assert_close(params.covariance.noise, 0.1, 0.3);
    assert_close(params.covariance.lengthscale[1] / params.covariance.lengthscale[0], 2 / 0.6, 0.3);
    for (size_t j = 0; j < 2 && kinds[k] != GPNN_OBJECTIVE_LOO; j++) {
      assert_true(params.covariance.lengthscale[j] > lengthscale[j] / 2);
      assert_true(params.covariance.lengthscale[j] < lengthscale[j] * 2);
      assert_true(params.covariance.kernelscale > 0.4 && params.covariance.kernelscale < 2.5);
    }
    gpnn_parameters_release(&params);
  }
  data_free(&data);
}

/* ---- near duplicates ------------------------------------------------------------------------ */

/* Each row twice, a hair apart, with the same target but for a hair. */
static struct data duplicated(size_t n)
{
  struct data data = data_new(n, 2);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 9, GPNN_RNG_TEST);
  for (size_t i = 0; i + 1 < n; i += 2) {
    for (size_t j = 0; j < 2; j++)
      data.x[2 * (i + 1) + j] = data.x[2 * i + j] + 1e-3 * gpnn_rng_normal(&rng);
    data.y[i + 1] = data.y[i] + 1e-3 * gpnn_rng_normal(&rng);
  }
  return data;
}

static void near_duplicates_are_noticed_and_thinned(void **state)
{
  (void)state;
  struct data data = duplicated(600), plain = data_new(600, 2);
  struct gpnn_fit_options opts = options(GPNN_OBJECTIVE_LOO, GPNN_OPTIMIZER_LBFGS);
  struct gpnn_parameters params = {0}, thinned = {0}, usual = {0};
  opts.rows = 600;
  opts.k = 10;
  struct gpnn_fit_report report = fit(&data.dataset, &opts, &params);
  assert_true(gpnn_fit_has_copies(&report));
  assert_true(params.covariance.noise < 0.01); /* the noise of the data is 0.04 */
  opts.thin = 0.02;
  fit(&data.dataset, &opts, &thinned);
  assert_true(thinned.covariance.noise > 0.02 && thinned.covariance.noise < 0.08);
  opts.thin = -1;
  report = fit(&plain.dataset, &opts, &usual);
  assert_true(report.spacing > 0.15 && report.spacing < 0.6 && !gpnn_fit_has_copies(&report));
  assert_true(usual.covariance.noise > 0.02 && usual.covariance.noise < 0.08);
  gpnn_parameters_release(&params);
  gpnn_parameters_release(&thinned);
  gpnn_parameters_release(&usual);
  data_free(&data);
  data_free(&plain);
}

/* Uniform inputs, rounded to multiples of 'grid' unless that is 0, and targets of pure noise. */
static struct data uniform(size_t n, size_t d, double grid)
{
  struct data data = data_new(n, d);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 11, GPNN_RNG_TEST);
  for (size_t i = 0; i < n * d; i++) {
    data.x[i] = gpnn_rng_uniform(&rng);
    if (grid > 0) data.x[i] = grid * round(data.x[i] / grid);
  }
  for (size_t i = 0; i < n; i++) data.y[i] = gpnn_rng_normal(&rng);
  return data;
}

/* The report of a short fit by 'k' neighbours. */
static struct gpnn_fit_report report_of(const struct data *data, size_t k)
{
  struct gpnn_fit_options opts = options(GPNN_OBJECTIVE_LOO, GPNN_OPTIMIZER_ADAM);
  struct gpnn_parameters params = {0};
  opts.rows = 1000;
  opts.k = k;
  opts.steps = 1;
  struct gpnn_fit_report report = fit(&data->dataset, &opts, &params);
  gpnn_parameters_release(&params);
  return report;
}

static void the_usual_spacing_is_that_of_random_rows_in_any_dimension(void **state)
{
  static const size_t dimensions[] = {1, 2, 3, 5}, ks[] = {4, 8, 32, 33};
  (void)state;
  for (size_t i = 0; i < 4; i++)
    for (size_t j = 0; j < 4; j++) {
      struct data data = uniform(4000, dimensions[i], 0);
      struct gpnn_fit_report report = report_of(&data, ks[j]);
      double expected = gpnn_fit_usual_spacing(ks[j], (double)dimensions[i]);
      /* Faces make far neighbours farther, where many rows are near one. */
      double d = (double)dimensions[i];
      assert_near(log(report.spacing) * d, log(expected) * d, 0.25 + 0.15 * d);
      assert_near(log(report.usual_spacing) * d, log(expected) * d, 0.25 + 0.15 * d);
      assert_false(gpnn_fit_has_copies(&report));
      data_free(&data);
    }
  assert_near(gpnn_fit_usual_spacing(2, 1), 0.5, 1e-15); /* one of two is nearer: uniform ratio */
  assert_near(gpnn_fit_usual_spacing(3, 2), sqrt(1 - sqrt(0.5)), 1e-15);
}

static void copies_are_noticed_in_any_dimension_and_number(void **state)
{
  (void)state;
  for (size_t d = 1; d <= 4; d += 3)
    for (size_t copies = 2; copies <= 6; copies += 2)
      for (int exact = 0; exact < 2; exact++) {
        struct data data = uniform(3000, d, 0);
        for (size_t i = 0; i < 3000; i++) {
          size_t from = i - i % copies;
          for (size_t j = 0; j < d; j++)
            data.x[i * d + j] = data.x[from * d + j] + (exact ? 0 : 1e-7 * (double)(i - from));
          data.y[i] = data.y[from];
        }
        struct gpnn_fit_report report = report_of(&data, 32);
        assert_true(gpnn_fit_has_copies(&report));
        data_free(&data);
      }
}

static void rows_that_rounding_makes_equal_are_no_copies(void **state)
{
  (void)state;
  for (size_t d = 1; d <= 2; d++)
    for (int two_targets = 0; two_targets < 2; two_targets++) {
      struct data data = uniform(4000, d, d == 1 ? 0.005 : 0.04);
      for (size_t i = 0; i < 4000 && two_targets; i++) data.y[i] = data.y[i] > 1;
      struct gpnn_fit_report report = report_of(&data, 32);
      assert_false(gpnn_fit_has_copies(&report));
      data_free(&data);
    }
}

static void a_curve_has_the_spacing_of_one_dimension(void **state)
{
  (void)state;
  struct data data = uniform(4000, 5, 0);
  for (size_t i = 0; i < 4000; i++) {
    double t = data.x[5 * i];
    for (size_t j = 0; j < 5; j++) data.x[5 * i + j] = sin((double)(j + 1) * t + (double)j);
  }
  struct gpnn_fit_report report = report_of(&data, 32);
  assert_true(report.spacing < 0.04);
  assert_near(log(report.usual_spacing), log(gpnn_fit_usual_spacing(32, 1)), 0.3);
  assert_false(gpnn_fit_has_copies(&report));
  data_free(&data);
}

static void thinning_that_leaves_no_neighbour_is_refused(void **state)
{
  (void)state;
  struct data data = data_new(100, 2);
  for (size_t k = 0; k < N_KINDS; k++) {
    struct gpnn_fit_options opts = options(kinds[k], GPNN_OPTIMIZER_LBFGS);
    struct gpnn_parameters params = {0};
    opts.thin = 1e6;
    assert_fails(fit_one(&data.dataset, &opts, &params, NULL, &err), GPNN_EINVAL,
                 "excludes every neighbour of every row");
  }
  data_free(&data);
}

/* Of twenty rows there are not as many again to look at. */
static void thinning_rows_that_are_far_apart_changes_nothing(void **state)
{
  (void)state;
  struct data data = data_new(20, 2);
  for (size_t k = 0; k < N_KINDS; k++) {
    struct gpnn_fit_options opts = options(kinds[k], GPNN_OPTIMIZER_LBFGS);
    struct gpnn_parameters params = {0}, thinned = {0};
    opts.k = 15;
    opts.steps = 20;
    fit(&data.dataset, &opts, &params);
    opts.thin = 1e-9;
    fit(&data.dataset, &opts, &thinned);
    assert_memory_equal(thinned.covariance.lengthscale, params.covariance.lengthscale,
                        params.covariance.n_lengthscales * sizeof(double));
    assert_true(thinned.covariance.kernelscale == params.covariance.kernelscale &&
                thinned.covariance.noise == params.covariance.noise);
    gpnn_parameters_release(&params);
    gpnn_parameters_release(&thinned);
  }
  data_free(&data);
}

/* Exact copies are at distance 0, which is not farther than 0. */
static void thinning_by_zero_ignores_exact_copies(void **state)
{
  (void)state;
  struct data data = data_new(400, 2);
  for (size_t i = 0; i + 1 < 400; i += 2) {
    memcpy(data.x + 2 * (i + 1), data.x + 2 * i, 2 * sizeof *data.x);
    data.y[i + 1] = data.y[i];
  }
  for (size_t k = 0; k < N_KINDS; k++) {
    struct gpnn_fit_options opts = options(kinds[k], GPNN_OPTIMIZER_LBFGS);
    struct gpnn_parameters params = {0};
    opts.thin = 0;
    fit(&data.dataset, &opts, &params);
    if (kinds[k] == GPNN_OBJECTIVE_LOO) assert_true(params.covariance.noise > 0.015);
    gpnn_parameters_release(&params);
  }
  data_free(&data);
}

/* ---- means, noise, groups ------------------------------------------------------------------- */

/* A row given its neighbours says little of the constant, which they have too; so leave-one-out
 * is only asked to be no worse for having one. */
static void the_constant_of_the_mean_is_found(void **state)
{
  (void)state;
  struct data data = data_new(300, 2);
  for (size_t i = 0; i < 300; i++) data.y[i] += 2;
  for (size_t k = 0; k < N_KINDS; k++) {
    struct gpnn_fit_options opts = options(kinds[k], GPNN_OPTIMIZER_LBFGS);
    struct gpnn_parameters params = {0}, without = {0};
    struct gpnn_fit_report report = fit(&data.dataset, &opts, &without);
    double value = report.value;
    opts.mean = GPNN_MEAN_CONSTANT;
    report = fit(&data.dataset, &opts, &params);
    assert_int_equal(params.mean.n_coefficients, 1);
    assert_null(params.mean.covariance);
    assert_true(report.value < value + 0.01);
    if (kinds[k] != GPNN_OBJECTIVE_LOO) assert_near(params.mean.coefficients[0], 2, 1);
    gpnn_parameters_release(&params);
    gpnn_parameters_release(&without);
  }
  data_free(&data);
}

/* Terms of the mean have names, for messages: those of two inputs and of a regressor. */
static void name_terms(struct gpnn_dataset *dataset, struct gpnn_column *columns,
                       struct gpnn_moments *moments)
{
  dataset->schema.n_inputs = 2;
  dataset->schema.inputs = columns;
  dataset->schema.n_regressors = 1;
  dataset->schema.regressors = columns + 2;
  dataset->scaling.n_in = dataset->scaling.n_out = 2;
  dataset->scaling.y_sd = 1;
  dataset->scaling.n_regressors = 1;
  dataset->scaling.regressors = moments;
}

static void slopes_of_the_mean_are_found(void **state)
{
  (void)state;
  struct data data = data_new(400, 2);
  struct gpnn_fit_options opts = options(GPNN_OBJECTIVE_LOO, GPNN_OPTIMIZER_ADAM);
  struct gpnn_parameters linear = {0}, regressors = {0};
  struct gpnn_rng rng;
  char names[][3] = {"x1", "x2", "t"};
  struct gpnn_column columns[] = {{.name = names[0]}, {.name = names[1]}, {.name = names[2]}};
  struct gpnn_moments moments = {0, 1};
  gpnn_rng_init(&rng, 11, GPNN_RNG_TEST);
  for (size_t i = 0; i < 400; i++) data.spare[i] = gpnn_rng_normal(&rng);
  for (size_t i = 0; i < 400; i++) data.y[i] += 3 * data.x[2 * i + 1] - 2 * data.spare[i];
  data.dataset.regressors = data.spare;
  data.dataset.n_regressors = 1;
  name_terms(&data.dataset, columns, &moments);
  opts.mean = GPNN_MEAN_REGRESSORS;
  fit(&data.dataset, &opts, &regressors);
  assert_int_equal(regressors.mean.n_coefficients, gpnn_mean_width(GPNN_MEAN_REGRESSORS, 2, 1));
  assert_near(regressors.mean.coefficients[regressors.mean.n_coefficients - 1], -2, 0.1);
  opts.mean = GPNN_MEAN_LINEAR;
  fit(&data.dataset, &opts, &linear);
  assert_int_equal(linear.mean.n_coefficients, gpnn_mean_width(GPNN_MEAN_LINEAR, 2, 1));
  /* Of x2 the data have 0.4 already. */
  assert_near(linear.mean.coefficients[2], 3.4, 0.3);
  assert_non_null(linear.mean.covariance);
  gpnn_parameters_release(&linear);
  gpnn_parameters_release(&regressors);
  data_free(&data);
}

/* Every other row has noise of variance 1 more, which is known. */
static void known_noise_is_not_counted_again(void **state)
{
  (void)state;
  struct data data = data_new(600, 2);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 13, GPNN_RNG_TEST);
  for (size_t i = 0; i < 600; i += 2) {
    data.spare[i] = 1;
    data.y[i] += gpnn_rng_normal(&rng);
  }
  for (size_t k = 0; k < N_KINDS; k++) {
    struct gpnn_fit_options opts = options(kinds[k], GPNN_OPTIMIZER_LBFGS);
    struct gpnn_parameters known = {0}, unknown = {0};
    opts.rows = 600;
    opts.k = 20;
    data.dataset.noise = data.spare;
    fit(&data.dataset, &opts, &known);
    data.dataset.noise = NULL;
    fit(&data.dataset, &opts, &unknown);
    assert_true(known.covariance.noise > 0.015 && known.covariance.noise < 0.1);
    assert_true(unknown.covariance.noise > 0.25);
    gpnn_parameters_release(&known);
    gpnn_parameters_release(&unknown);
  }
  data_free(&data);
}

/* Inputs 0 and 1 as a point on a circle, input 2 by itself. */
static void a_point_has_one_lengthscale(void **state)
{
  (void)state;
  struct data data = data_new(300, 3);
  for (size_t i = 0; i < 300; i++) {
    double *x = data.x + 3 * i, angle = 6.283 * (double)((i * 7919) % 300) / 300;
    x[0] = cos(angle);
    x[1] = sin(angle);
    data.y[i] = sin(3 * angle) + 0.05 * x[2];
  }
  data.group[0] = data.group[1] = 0;
  data.group[2] = 1;
  data.dataset.n_groups = 2;
  for (size_t k = 0; k < N_KINDS; k++) {
    struct gpnn_fit_options opts = options(kinds[k], GPNN_OPTIMIZER_LBFGS);
    struct gpnn_parameters params = {0};
    fit(&data.dataset, &opts, &params);
    assert_int_equal(params.covariance.n_lengthscales, 2);
    assert_true(params.covariance.lengthscale[0] * 3 < params.covariance.lengthscale[1]);
    gpnn_parameters_release(&params);
  }
  data_free(&data);
}

/* ---- rotations ------------------------------------------------------------------------------ */

static void a_given_rotation_is_equivalent_to_rotated_rows(void **state)
{
  (void)state;
  const double rotation[] = {0.6, 0.8, 0, -1.6, 1.2, 0, 0.5, 0, 0.3};
  struct data data = data_new(200, 3), rotated = data_new(200, 3);
  gpnn_rotation_apply(3, rotation, 200, data.x, rotated.x);
  for (size_t k = 0; k < N_KINDS; k++) {
    struct gpnn_fit_options opts = options(kinds[k], GPNN_OPTIMIZER_LBFGS);
    struct gpnn_parameters a = {0}, b = {0};
    fit(&rotated.dataset, &opts, &b);
    opts.rotation = rotation;
    fit(&data.dataset, &opts, &a);
    assert_null(b.covariance.rotation);
    assert_int_equal(a.covariance.n_rotation, 9);
    assert_memory_equal(a.covariance.rotation, rotation, sizeof rotation);
    assert_memory_equal(a.covariance.lengthscale, b.covariance.lengthscale,
                        3 * sizeof *a.covariance.lengthscale);
    assert_true(a.covariance.noise == b.covariance.noise &&
                a.covariance.kernelscale == b.covariance.kernelscale);
    gpnn_parameters_release(&a);
    gpnn_parameters_release(&b);
  }
  data_free(&data);
  data_free(&rotated);
}

/* Targets that depend on x1 + x2 alone. */
static struct data mixed(size_t n)
{
  struct data data = data_new(n, 3);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 15, GPNN_RNG_TEST);
  for (size_t i = 0; i < n; i++)
    data.y[i] = sin(2.5 * (data.x[3 * i] + data.x[3 * i + 1])) + 0.1 * gpnn_rng_normal(&rng);
  return data;
}

static void the_relevant_direction_is_learnt(void **state)
{
  (void)state;
  struct data data = mixed(800);
  for (int lbfgs = 0; lbfgs < 2; lbfgs++) {
    struct gpnn_fit_options opts =
        options(GPNN_OBJECTIVE_LOO, lbfgs ? GPNN_OPTIMIZER_LBFGS : GPNN_OPTIMIZER_ADAM);
    struct gpnn_parameters ard = {0}, learnt = {0};
    opts.rows = 500;
    opts.steps = 300;
    struct gpnn_fit_report before = fit(&data.dataset, &opts, &ard);
    opts.learn_rotation = true;
    struct gpnn_fit_report after = fit(&data.dataset, &opts, &learnt);
    assert_true(after.value < before.value - 0.1);
    assert_int_equal(learnt.covariance.n_rotation, 9);
    assert_int_equal(learnt.covariance.n_lengthscales, 3);
    assert_true(fabs(learnt.covariance.rotation[0] + learnt.covariance.rotation[1]) >
                0.98 * sqrt(2));
    assert_true(learnt.covariance.lengthscale[0] * 3 < learnt.covariance.lengthscale[1]);
    assert_true(learnt.covariance.lengthscale[1] <= learnt.covariance.lengthscale[2]);
    gpnn_parameters_release(&ard);
    gpnn_parameters_release(&learnt);
  }
  data_free(&data);
}

/* The density that a prediction has by the parameters alone, from rows rotated by them. */
static double value_of(const struct data *data, const struct gpnn_parameters *params)
{
  struct data rotated = *data;
  size_t n = data->dataset.n, d = data->dataset.d;
  rotated.dataset.x = rotated.x = calloc(n * d, sizeof *rotated.x);
  assert_non_null(rotated.x);
  gpnn_rotation_apply(d, params->covariance.rotation, n, data->x, rotated.x);
  double value = dense_leave_one_out(&rotated, params);
  free(rotated.x);
  return value;
}

static void the_report_is_for_the_rotation_returned(void **state)
{
  (void)state;
  static const enum gpnn_objective_kind first[] = {GPNN_OBJECTIVE_LOO, GPNN_OBJECTIVE_BLOCK,
                                                   GPNN_OBJECTIVE_LOO, GPNN_OBJECTIVE_MLL_K};
  const double rotation[] = {0.6, 0.8, 0, -1.6, 1.2, 0, 0.5, 0, 0.3};
  struct data data = mixed(24);
  for (int way = 0; way < 8; way++) {
    struct gpnn_fit_options opts = options(first[way % 4], GPNN_OPTIMIZER_USUAL);
    struct gpnn_parameters params = {0};
    if (way % 4 > 0) opts.second = GPNN_OBJECTIVE_LOO;
    if (way >= 4) opts.rotation = rotation;
    opts.learn_rotation = true;
    opts.k = 100;
    opts.steps = 40;
    struct gpnn_fit_report report = fit(&data.dataset, &opts, &params);
    assert_near(report.value, value_of(&data, &params), 1e-7);
    gpnn_parameters_release(&params);
  }
  data_free(&data);
}

/* A fit of nothing but the coefficients, on rows rotated beforehand, has to give the same. */
static void coefficients_are_estimated_under_the_learnt_rotation(void **state)
{
  (void)state;
  struct data data = mixed(200), rotated = mixed(200);
  struct gpnn_rng rng;
  struct gpnn_column columns[] = {{.name = NULL}, {.name = NULL}, {.name = NULL}};
  struct gpnn_moments moments = {0, 1};
  char name[] = "t";
  gpnn_rng_init(&rng, 17, GPNN_RNG_TEST);
  for (size_t i = 0; i < 200; i++) data.spare[i] = gpnn_rng_normal(&rng);
  for (size_t i = 0; i < 200; i++) data.y[i] += 2 * data.spare[i];
  columns[2].name = name;
  name_terms(&data.dataset, columns, &moments);
  data.dataset.regressors = data.spare;
  data.dataset.n_regressors = 1;
  struct gpnn_fit_options opts = options(GPNN_OBJECTIVE_LOO, GPNN_OPTIMIZER_ADAM);
  struct gpnn_parameters learnt = {0}, given = {0};
  opts.mean = GPNN_MEAN_REGRESSORS;
  opts.learn_rotation = true;
  fit(&data.dataset, &opts, &learnt);
  gpnn_rotation_apply(3, learnt.covariance.rotation, 200, data.x, rotated.x);
  double *x = rotated.x;
  rotated.dataset = data.dataset;
  rotated.dataset.x = x;
  opts.learn_rotation = false;
  opts.start = &learnt;
  opts.steps = 1;
  opts.fixed_kernelscale = learnt.covariance.kernelscale;
  opts.fixed_noise = learnt.covariance.noise;
  opts.optimizer = GPNN_OPTIMIZER_ADAM;
  fit(&rotated.dataset, &opts, &given);
  assert_near(learnt.mean.coefficients[1], 2, 0.1);
  /* One step of adam moves the lengthscales by a tenth. */
  assert_near(given.mean.coefficients[1], learnt.mean.coefficients[1], 0.01);
  assert_near(sqrt(given.mean.covariance[3] / learnt.mean.covariance[3]), 1, 0.2);
  gpnn_parameters_release(&learnt);
  gpnn_parameters_release(&given);
  data_free(&data);
  data_free(&rotated);
}

/* Learning goes on from what is given: a step from it changes little. */
static void learning_continues_from_the_given_rotation(void **state)
{
  (void)state;
  const double s = sqrt(0.5), rotation[] = {s, s, 0, s, -s, 0, 0, 0, 1};
  double lengthscale[] = {0.5, 20, 20};
  struct gpnn_parameters start = {.covariance.n_lengthscales = 3,
                                  .covariance.lengthscale = lengthscale,
                                  .covariance.kernelscale = 1,
                                  .covariance.noise = 0.01};
  struct data data = mixed(300);
  struct gpnn_fit_options opts = options(GPNN_OBJECTIVE_LOO, GPNN_OPTIMIZER_ADAM);
  struct gpnn_parameters params = {0};
  opts.learn_rotation = true;
  opts.rotation = rotation;
  opts.start = &start;
  opts.steps = 1;
  fit(&data.dataset, &opts, &params);
  assert_true(fabs(params.covariance.rotation[0] * s + params.covariance.rotation[1] * s) > 0.99);
  assert_near(log(params.covariance.lengthscale[0]), log(0.5), 0.15);
  gpnn_parameters_release(&params);
  data_free(&data);
}

/* ---- searches ------------------------------------------------------------------------------- */

/* One lengthscale for all leaves neighbours what they are; many are looked for as often as asked.
 */
static void neighbours_are_searched_again_only_if_they_may_change(void **state)
{
  (void)state;
  struct data data = mixed(300);
  for (size_t k = 0; k < N_KINDS; k++)
    for (int way = 0; way < 4; way++) {
      bool by_adam = way % 2 == 0, ard = way >= 2;
      struct gpnn_fit_options opts =
          options(kinds[k], by_adam ? GPNN_OPTIMIZER_ADAM : GPNN_OPTIMIZER_LBFGS);
      struct gpnn_parameters params = {0};
      opts.steps = 40;
      opts.refresh = 10;
      opts.ard = ard;
      size_t n = fit(&data.dataset, &opts, &params).n_searches;
      if (!ard) assert_int_equal(n, 1);
      if (ard && by_adam) assert_int_equal(n, 4);
      if (ard && !by_adam) assert_true(n > 1);
      gpnn_parameters_release(&params);
    }
  data_free(&data);
}

/* ---- threads -------------------------------------------------------------------------------- */

static void threads_change_no_bit(void **state)
{
  (void)state;
  struct data data = mixed(300);
  for (size_t way = 0; way < N_KINDS + 2; way++) {
    struct gpnn_fit_options opts =
        options(way < N_KINDS ? kinds[way] : GPNN_OBJECTIVE_LOO,
                way == 0 || way == N_KINDS ? GPNN_OPTIMIZER_LBFGS : GPNN_OPTIMIZER_ADAM);
    struct gpnn_parameters params[2] = {{0}, {0}};
    opts.steps = 30;
    opts.refresh = 10;
    opts.learn_rotation = way > N_KINDS;
    for (int i = 0; i < 2; i++) {
      opts.threads = i == 0 ? 1 : 4;
      fit(&data.dataset, &opts, &params[i]);
    }
    assert_same(&params[0], &params[1]);
    gpnn_parameters_release(&params[0]);
    gpnn_parameters_release(&params[1]);
  }
  data_free(&data);
}

/* ---- little to learn from ------------------------------------------------------------------- */

static void a_few_rows_are_enough_for_an_answer(void **state)
{
  (void)state;
  struct data data = data_new(5, 2);
  for (size_t n = 2; n <= 5; n++)
    for (size_t k = 0; k < N_KINDS; k++)
      for (int way = 0; way < 4; way++) {
        struct gpnn_fit_options opts =
            options(kinds[k], way % 2 == 0 ? GPNN_OPTIMIZER_LBFGS : GPNN_OPTIMIZER_ADAM);
        struct gpnn_parameters params = {0};
        data.dataset.n = n;
        opts.thin = way < 2 ? -1 : 0.1;
        struct gpnn_fit_report report = fit(&data.dataset, &opts, &params);
        assert_int_equal(report.k, n - 1);
        assert_int_equal(report.n_rows, n);
        gpnn_parameters_release(&params);
      }
  data_free(&data);
}

static void one_neighbour_and_one_row_per_step_are_enough(void **state)
{
  (void)state;
  struct data data = data_new(50, 2);
  for (size_t k = 0; k < N_KINDS; k++) {
    struct gpnn_fit_options opts = options(kinds[k], GPNN_OPTIMIZER_ADAM);
    struct gpnn_parameters params = {0};
    opts.k = 1;
    opts.batch = 1;
    opts.rows = 3;
    opts.refresh = 1;
    struct gpnn_fit_report report = fit(&data.dataset, &opts, &params);
    assert_int_equal(report.k, 1);
    assert_int_equal(report.n_rows, 3);
    gpnn_parameters_release(&params);
  }
  data_free(&data);
}

static void a_column_without_variation_does_no_harm(void **state)
{
  (void)state;
  struct data data = data_new(200, 3);
  for (size_t i = 0; i < 200; i++) data.x[3 * i + 2] = 0;
  for (size_t k = 0; k < N_KINDS; k++)
    for (int adam = 0; adam < 2; adam++) {
      struct gpnn_fit_options opts =
          options(kinds[k], adam ? GPNN_OPTIMIZER_ADAM : GPNN_OPTIMIZER_LBFGS);
      struct gpnn_parameters params = {0};
      fit(&data.dataset, &opts, &params);
      assert_true(params.covariance.noise < 0.2);
      gpnn_parameters_release(&params);
    }
  data_free(&data);
}

/* Nothing varies that could be learnt: parameters end at their bounds, not at NaN. */
static void constant_targets_and_identical_rows_can_be_fitted(void **state)
{
  (void)state;
  struct data targets = data_new(100, 2), rows = data_new(100, 2);
  for (size_t i = 0; i < 100; i++) targets.y[i] = 0.25;
  for (size_t i = 0; i < 200; i++) rows.x[i] = 3;
  for (size_t k = 0; k < N_KINDS; k++)
    for (int way = 0; way < 4; way++) {
      struct gpnn_fit_options opts =
          options(kinds[k], way % 2 == 0 ? GPNN_OPTIMIZER_LBFGS : GPNN_OPTIMIZER_ADAM);
      struct gpnn_parameters params = {0};
      opts.mean = way < 2 ? GPNN_MEAN_ZERO : GPNN_MEAN_CONSTANT;
      fit(&targets.dataset, &opts, &params);
      gpnn_parameters_release(&params);
      fit(&rows.dataset, &opts, &params);
      gpnn_parameters_release(&params);
    }
  data_free(&targets);
  data_free(&rows);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static void refuse(const struct data *data, const struct gpnn_fit_options *opts,
                   enum gpnn_status status, const char *text)
{
  struct gpnn_parameters params = {0};
  struct gpnn_fit_report report = {.n_rows = 77};
  assert_fails(fit_one(&data->dataset, opts, &params, &report, &err), status, text);
  assert_null(params.covariance.lengthscale);
  assert_null(params.covariance.rotation);
  assert_int_equal(report.n_rows, 77);
}

static void what_cannot_be_estimated_is_refused(void **state)
{
  (void)state;
  const double rotation[] = {1, 0, 0, 1};
  struct data data = data_new(40, 2);
  const struct gpnn_fit_options good = options(GPNN_OBJECTIVE_LOO, GPNN_OPTIMIZER_ADAM);
  struct gpnn_fit_options opts;
  for (int i = 0; i < 5; i++) {
    opts = good;
    *(size_t *[]){&opts.k, &opts.rows, &opts.batch, &opts.steps, &opts.refresh}[i] = 0;
    refuse(&data, &opts, GPNN_EINVAL, "estimation needs neighbours, rows and steps");
  }
  opts = good;
  opts.mean = GPNN_MEAN_REGRESSORS;
  refuse(&data, &opts, GPNN_EMISMATCH, "the index has no regressors");
  opts.mean = GPNN_MEAN_LINEAR;
  opts.rotation = rotation;
  refuse(&data, &opts, GPNN_EINVAL, "cannot be rotated under a linear mean");
  opts.rotation = NULL;
  opts.learn_rotation = true;
  refuse(&data, &opts, GPNN_EINVAL, "a rotation can be learnt only with ARD");
  opts.mean = GPNN_MEAN_ZERO;
  opts.ard = false;
  refuse(&data, &opts, GPNN_EINVAL, "a rotation can be learnt only with ARD");
  opts.ard = true;
  opts.second = GPNN_OBJECTIVE_VECCHIA;
  refuse(&data, &opts, GPNN_EINVAL, "or vecchia");
  opts.second = GPNN_OBJECTIVE_BLOCK;
  refuse(&data, &opts, GPNN_EINVAL, "learnt by loo and mll-k, not by block");
  opts.second = GPNN_OBJECTIVE_NONE;
  data.group[1] = 0;
  data.dataset.n_groups = 1;
  refuse(&data, &opts, GPNN_EINVAL, "points");
  opts.learn_rotation = false;
  opts.rotation = rotation;
  refuse(&data, &opts, GPNN_EINVAL, "with points");
  data_free(&data);
}

static void targets_that_are_not_finite_are_refused(void **state)
{
  (void)state;
  struct data data = data_new(40, 2);
  for (size_t i = 0; i < 40; i++) data.y[i] = NAN;
  for (size_t k = 0; k < N_KINDS; k++)
    for (int adam = 0; adam < 2; adam++) {
      struct gpnn_fit_options opts =
          options(kinds[k], adam ? GPNN_OPTIMIZER_ADAM : GPNN_OPTIMIZER_LBFGS);
      refuse(&data, &opts, GPNN_ENUMERIC, "not finite");
    }
  data_free(&data);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loo_of_all_others_reports_the_dense_value),
      cmocka_unit_test(vecchia_and_mll_of_all_rows_agree),
      cmocka_unit_test(adam_and_lbfgs_agree_on_the_objective),
      cmocka_unit_test(the_second_objective_continues_from_the_first),
      cmocka_unit_test(fixed_parameters_are_kept_exactly),
      cmocka_unit_test(estimation_starts_from_the_parameters_given),
      cmocka_unit_test(one_lengthscale_starts_from_the_geometric_mean_of_several),
      cmocka_unit_test(errors_after_loo_are_as_large_as_predicted),
      cmocka_unit_test(parameters_that_made_the_data_are_found),
      cmocka_unit_test(near_duplicates_are_noticed_and_thinned),
      cmocka_unit_test(the_usual_spacing_is_that_of_random_rows_in_any_dimension),
      cmocka_unit_test(copies_are_noticed_in_any_dimension_and_number),
      cmocka_unit_test(rows_that_rounding_makes_equal_are_no_copies),
      cmocka_unit_test(a_curve_has_the_spacing_of_one_dimension),
      cmocka_unit_test(thinning_that_leaves_no_neighbour_is_refused),
      cmocka_unit_test(thinning_rows_that_are_far_apart_changes_nothing),
      cmocka_unit_test(thinning_by_zero_ignores_exact_copies),
      cmocka_unit_test(the_constant_of_the_mean_is_found),
      cmocka_unit_test(slopes_of_the_mean_are_found),
      cmocka_unit_test(known_noise_is_not_counted_again),
      cmocka_unit_test(a_point_has_one_lengthscale),
      cmocka_unit_test(a_given_rotation_is_equivalent_to_rotated_rows),
      cmocka_unit_test(the_relevant_direction_is_learnt),
      cmocka_unit_test(the_report_is_for_the_rotation_returned),
      cmocka_unit_test(coefficients_are_estimated_under_the_learnt_rotation),
      cmocka_unit_test(learning_continues_from_the_given_rotation),
      cmocka_unit_test(neighbours_are_searched_again_only_if_they_may_change),
      cmocka_unit_test(threads_change_no_bit),
      cmocka_unit_test(a_few_rows_are_enough_for_an_answer),
      cmocka_unit_test(one_neighbour_and_one_row_per_step_are_enough),
      cmocka_unit_test(a_column_without_variation_does_no_harm),
      cmocka_unit_test(constant_targets_and_identical_rows_can_be_fitted),
      cmocka_unit_test(what_cannot_be_estimated_is_refused),
      cmocka_unit_test(targets_that_are_not_finite_are_refused),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
