#include "base/compare.h"
#include "fixture.h"
#include "linalg/blas_threads.h"
#include "models.h"
#include "models/model.h"

/* Means are kept near the targets of neighbours, gpnn-methods(7), equations 3.36 and 3.37; without
 * a likelihood they are not. */

enum { N = 300, D = 2, C = 120, M = 16, NEAR = 32 };

struct out {
  double mean[C], variance[C], misfit[C];
};

static double lengthscale[1] = {1.5}, targets[N], slope[1 + D] = {0.5, 40, -30};

static struct gpnn_parameters parameters(enum gpnn_likelihood likelihood, size_t neighbours)
{
  return (struct gpnn_parameters){.covariance = {.kernel = gpnn_kernel_by_name("rbf"),
                                                 .n_lengthscales = 1,
                                                 .lengthscale = lengthscale,
                                                 .kernelscale = 1,
                                                 .noise = 1e-6},
                                  .likelihood = likelihood,
                                  .degrees = likelihood == GPNN_LIKELIHOOD_GAUSSIAN ? 0 : 5,
                                  .neighbours = neighbours};
}

/* The fixture with targets that neighbours do not have in common: -1 and 1. */
static void contradict(struct fixture *f)
{
  const struct gpnn_dataset *borrowed = f->data;
  struct gpnn_dataset *dataset;
  struct gpnn_rng rng;
  memcpy(&dataset, &borrowed, sizeof dataset);
  gpnn_rng_init(&rng, 3, GPNN_RNG_TEST);
  for (size_t i = 0; i < N; i++) targets[i] = gpnn_rng_below(&rng, 2) == 0 ? -1 : 1;
  dataset->y = targets;
}

static void predict_with(const struct fixture *f, const struct gpnn_parameters *params,
                         struct gpnn_model_options options, size_t begin, size_t end,
                         struct out *out)
{
  struct gpnn_model *model = NULL;
  struct gpnn_counts counts = {0};
  const struct gpnn_query query = {.n = end - begin, .x = f->cx + begin * D};
  const struct gpnn_latent latent = {
      .mean = out->mean + begin, .variance = out->variance + begin, .misfit = out->misfit + begin};
  assert_ok(make_model_with(&model, f->data, params, options, &err));
  assert_ok(gpnn_model_predict(model, &query, &latent, &counts, &err));
  gpnn_model_free(model);
}

static void predict(const struct fixture *f, enum gpnn_likelihood likelihood, size_t neighbours,
                    struct out *out)
{
  const struct gpnn_parameters params = parameters(likelihood, neighbours);
  predict_with(f, &params, (struct gpnn_model_options){.threads = 2}, 0, C, out);
}

struct near {
  double distance;
  size_t row;
};

/* The least and the largest target of the 'm' training rows nearest to row 'i'. */
static void find_range(const struct fixture *f, size_t i, size_t m, double *least, double *most)
{
  struct near all[N];
  for (size_t r = 0; r < N; r++)
    all[r] =
        (struct near){hypot(f->x[r * D] - f->cx[i * D], f->x[r * D + 1] - f->cx[i * D + 1]), r};
  qsort(all, N, sizeof all[0], gpnn_compare_doubles);
  *least = INFINITY, *most = -INFINITY;
  for (size_t k = 0; k < m; k++) {
    *least = fmin(*least, f->data->y[all[k].row]);
    *most = fmax(*most, f->data->y[all[k].row]);
  }
}

/* Checks the bounded means against the formula, where the kernel scale is 'scale', and returns how
 * many were with a misfit below 'greatest'. */
static size_t check_scaled(const struct fixture *f, size_t m, double scale, double greatest,
                           const struct out *free_means, const struct out *bounded)
{
  double least = INFINITY, most = -INFINITY; /* of all targets */
  size_t changed = 0;
  for (size_t i = 0; i < N; i++) {
    least = fmin(least, f->data->y[i]);
    most = fmax(most, f->data->y[i]);
  }
  for (size_t i = 0; i < C; i++) {
    double low, high, variance = bounded->variance[i], mean = free_means->mean[i];
    find_range(f, i, m, &low, &high);
    double beyond =
        (high - low) * (1 - variance / scale) / fmax(1, bounded->misfit[i]) + sqrt(variance) / 10;
    low = fmax(low - beyond, least - (most - least) / 10);
    high = fmin(high + beyond, most + (most - least) / 10);
    double expected = mean < low ? low : mean > high ? high : mean;
    assert_near(bounded->mean[i], expected, 1e-6);
    assert_near(variance, free_means->variance[i], 1e-9);
    changed += fabs(expected - mean) > 1e-3 && bounded->misfit[i] < greatest;
  }
  return changed;
}

static size_t check_bounds(const struct fixture *f, size_t m, const struct out *free_means,
                           const struct out *bounded)
{
  return check_scaled(f, m, 1, INFINITY, free_means, bounded);
}

static void means_of_contradicting_neighbours_are_bounded_as_the_formula_says(void **state)
{
  (void)state;
  static struct out unbounded, bounded;
  struct fixture f;
  fixture_new(&f, N, D, C, 1);
  contradict(&f);
  predict(&f, GPNN_LIKELIHOOD_GAUSSIAN, M, &unbounded);
  for (size_t k = 0; k < 2; k++) {
    predict(&f, k == 0 ? GPNN_LIKELIHOOD_LOCAL : GPNN_LIKELIHOOD_STUDENT, M, &bounded);
    size_t changed = check_bounds(&f, M, &unbounded, &bounded);
    assert_true(changed > C / 4 && changed < C);
  }
  fixture_free(&f);
}

/* All variances times a number leave means where they were and divide misfits.  A target far from
 * the others leaves room for what neighbours explain. */
static void misfits_just_above_1_narrow_the_bounds(void **state)
{
  (void)state;
  static struct out unbounded, bounded;
  const double scale = 2.5e5;
  struct fixture f;
  fixture_new(&f, N, D, C, 1);
  contradict(&f);
  targets[0] = 60;
  for (int likelihood = 0; likelihood < 2; likelihood++) {
    struct gpnn_parameters params =
        parameters(likelihood == 0 ? GPNN_LIKELIHOOD_GAUSSIAN : GPNN_LIKELIHOOD_LOCAL, M);
    params.covariance.kernelscale *= scale;
    params.covariance.noise *= scale;
    predict_with(&f, &params, (struct gpnn_model_options){.threads = 1}, 0, C,
                 likelihood == 0 ? &unbounded : &bounded);
  }
  size_t all = check_scaled(&f, M, scale, 2, &unbounded, &bounded);
  assert_true(all - check_scaled(&f, M, scale, 1, &unbounded, &bounded) > 3);
  fixture_free(&f);
}

static void predictions_from_all_rows_are_bounded_by_the_nearest(void **state)
{
  (void)state;
  static struct out unbounded, bounded;
  struct fixture f;
  fixture_new(&f, N, D, C, 1);
  contradict(&f);
  predict(&f, GPNN_LIKELIHOOD_GAUSSIAN, N, &unbounded);
  predict(&f, GPNN_LIKELIHOOD_LOCAL, N, &bounded);
  assert_true(check_bounds(&f, NEAR, &unbounded, &bounded) > 3);
  fixture_free(&f);
}

static void neither_batches_nor_precision_nor_what_is_wanted_changes_a_bound(void **state)
{
  (void)state;
  static struct out whole, parts, mixed;
  double mean[2 * C];
  struct fixture f;
  fixture_new(&f, N, D, C, 1);
  contradict(&f);
  const struct gpnn_parameters params = parameters(GPNN_LIKELIHOOD_LOCAL, M);
  const struct gpnn_query query = {.n = C, .x = f.cx};
  predict_with(&f, &params, (struct gpnn_model_options){.threads = 3}, 0, C, &whole);
  for (size_t i = 0; i < C; i += 40)
    predict_with(&f, &params, (struct gpnn_model_options){.threads = 1}, i, i + 40, &parts);
  assert_memory_equal(whole.mean, parts.mean, sizeof whole.mean);
  struct gpnn_model_options options = {.threads = 1, .precision = GPNN_PRECISION_MIXED};
  predict_with(&f, &params, options, 0, C, &mixed);
  for (size_t i = 0; i < C; i++) assert_near(mixed.mean[i], whole.mean[i], 1e-6);
  for (int precision = 0; precision < 2; precision++) {
    struct gpnn_model *model = NULL;
    struct gpnn_counts counts = {0};
    options.precision = precision == 0 ? GPNN_PRECISION_DOUBLE : GPNN_PRECISION_MIXED;
    assert_ok(make_model_with(&model, f.data, &params, options, &err));
    assert_ok(
        gpnn_model_predict(model, &query, &(struct gpnn_latent){.mean = mean}, &counts, &err));
    assert_memory_equal(mean, precision == 0 ? whole.mean : mixed.mean, sizeof whole.mean);
    assert_ok(gpnn_model_predict_each(model, &query, 2, (size_t[]){4, M},
                                      &(struct gpnn_latent){.mean = mean}, &counts, &err));
    for (size_t i = 0; i < C; i++) assert_near(mean[C + i], whole.mean[i], 1e-7);
    gpnn_model_free(model);
  }
  fixture_free(&f);
}

/* Targets of a smooth function without noise, or of a plane. */
static void smooth(struct fixture *f, double curved)
{
  const struct gpnn_dataset *borrowed = f->data;
  struct gpnn_dataset *dataset;
  memcpy(&dataset, &borrowed, sizeof dataset);
  for (size_t i = 0; i < N; i++) {
    const double *x = f->x + i * D;
    targets[i] =
        curved > 0 ? curved * sin(x[0]) * cos(x[1]) : slope[0] + slope[1] * x[0] + slope[2] * x[1];
  }
  dataset->y = targets;
}

static void exact_smooth_functions_are_predicted_as_without_bounds(void **state)
{
  (void)state;
  static struct out unbounded, bounded;
  struct fixture f;
  fixture_new(&f, N, D, C, 1);
  smooth(&f, 1);
  predict(&f, GPNN_LIKELIHOOD_GAUSSIAN, 64, &unbounded);
  predict(&f, GPNN_LIKELIHOOD_LOCAL, 64, &bounded);
  assert_memory_equal(bounded.mean, unbounded.mean, sizeof bounded.mean);
  assert_memory_equal(bounded.variance, unbounded.variance, sizeof bounded.variance);
  fixture_free(&f);
}

static void a_linear_mean_function_goes_on_beyond_the_targets(void **state)
{
  (void)state;
  static struct out out;
  double x[D] = {9, -9};
  struct fixture f;
  fixture_new(&f, N, D, C, 1);
  smooth(&f, 0);
  memcpy(f.cx, x, sizeof x);
  struct gpnn_parameters params = parameters(GPNN_LIKELIHOOD_LOCAL, M);
  params.mean = (struct gpnn_mean_function){
      .kind = GPNN_MEAN_LINEAR, .n_coefficients = 1 + D, .coefficients = slope};
  predict_with(&f, &params, (struct gpnn_model_options){.threads = 1}, 0, 1, &out);
  assert_near(out.mean[0], 0.5 + 9 * 40 + 9 * 30, 1e-6);
  fixture_free(&f);
}

static void far_rows_are_predicted_within_a_tenth_of_their_sd_of_neighbours(void **state)
{
  (void)state;
  static struct out out;
  struct fixture f;
  fixture_new(&f, N, D, C, 1);
  smooth(&f, 0);
  for (size_t i = 0; i < N; i++) targets[i] = 3 + 1e-3 * (double)(i % 2);
  for (size_t j = 0; j < D; j++) f.cx[j] = 1e3;
  predict(&f, GPNN_LIKELIHOOD_LOCAL, M, &out);
  assert_near(out.variance[0], 1, 1e-12);
  assert_near(out.mean[0], 3 - 1e-4, 1e-12); /* the range of all targets is narrower still */
  targets[0] = 0;
  predict(&f, GPNN_LIKELIHOOD_LOCAL, M, &out);
  assert_near(out.mean[0], 3 - 0.1, 1e-12);
  fixture_free(&f);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(means_of_contradicting_neighbours_are_bounded_as_the_formula_says),
      cmocka_unit_test(misfits_just_above_1_narrow_the_bounds),
      cmocka_unit_test(predictions_from_all_rows_are_bounded_by_the_nearest),
      cmocka_unit_test(neither_batches_nor_precision_nor_what_is_wanted_changes_a_bound),
      cmocka_unit_test(exact_smooth_functions_are_predicted_as_without_bounds),
      cmocka_unit_test(a_linear_mean_function_goes_on_beyond_the_targets),
      cmocka_unit_test(far_rows_are_predicted_within_a_tenth_of_their_sd_of_neighbours),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
