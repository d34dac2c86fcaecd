#include "dense.h"
#include "fixture.h"
#include "linalg/blas_threads.h"
#include "models.h"
#include "models/model.h"

/* Predictions from all training rows by their common factor, which a likelihood in the parameters
 * asks for; without one, each row is solved by itself. */

enum { N = 70, D = 3, C = 9, TERMS = 1 + D, NEAR = 32 };

struct out {
  double mean[N], variance[N], mean_variance[N], misfit[N], nearest[N];
  struct gpnn_counts counts;
};

static double lengthscale[D] = {0.7, 1.3, 2}, coefficients[TERMS] = {0.3, -0.2, 0.1, 0.4};
static double covariance[TERMS * TERMS], row_noise[N];

static struct gpnn_parameters parameters(const char *kernel, enum gpnn_likelihood likelihood)
{
  return (struct gpnn_parameters){.covariance = {.kernel = gpnn_kernel_by_name(kernel),
                                                 .n_lengthscales = D,
                                                 .lengthscale = lengthscale,
                                                 .kernelscale = 0.9,
                                                 .noise = 0.05},
                                  .likelihood = likelihood,
                                  .degrees = likelihood == GPNN_LIKELIHOOD_GAUSSIAN ? 0 : 5,
                                  .neighbours = 400};
}

/* Gives the parameters a plane with uncertain coefficients as their mean. */
static void add_plane(struct gpnn_parameters *params)
{
  params->mean.kind = GPNN_MEAN_LINEAR;
  params->mean.n_coefficients = TERMS;
  params->mean.coefficients = coefficients;
  params->mean.covariance = covariance;
  for (size_t i = 0; i < TERMS; i++)
    for (size_t j = 0; j < TERMS; j++) covariance[i * TERMS + j] = i == j ? 0.5 : 0.1;
}

static struct gpnn_dataset *contents_of(const struct fixture *f)
{
  const struct gpnn_dataset *borrowed = f->data;
  struct gpnn_dataset *dataset;
  memcpy(&dataset, &borrowed, sizeof dataset);
  return dataset;
}

static void make_noisy(struct fixture *f)
{
  for (size_t i = 0; i < N; i++) row_noise[i] = i % 7 == 0 ? 1e4 : i % 3 == 0 ? 0.3 : 0;
  contents_of(f)->noise = row_noise;
}

/* Predicts rows of 'x', each from all training rows or all but one ('self'). */
static void predict_at(const struct fixture *f, const struct gpnn_parameters *params,
                       const double *x, const int64_t *self, size_t begin, size_t end, int threads,
                       struct out *out)
{
  struct gpnn_model *model = NULL;
  const struct gpnn_query query = {
      .n = end - begin, .x = x + begin * D, .self = self == NULL ? NULL : self + begin};
  const struct gpnn_latent latent = {.mean = out->mean + begin,
                                     .variance = out->variance + begin,
                                     .mean_variance = out->mean_variance + begin,
                                     .misfit = out->misfit + begin,
                                     .nearest = out->nearest + begin};
  assert_ok(make_model(&model, f->data, params, 0, threads, &err));
  assert_ok(gpnn_model_predict(model, &query, &latent, &out->counts, &err));
  gpnn_model_free(model);
}

/* Predicts the calibration rows, or each training row from the others ('self'). */
static void predict(const struct fixture *f, const struct gpnn_parameters *params,
                    const int64_t *self, size_t begin, size_t end, int threads, struct out *out)
{
  predict_at(f, params, self == NULL ? f->cx : f->x, self, begin, end, threads, out);
}

static const int64_t *selves(void)
{
  static int64_t self[N];
  for (size_t i = 0; i < N; i++) self[i] = (int64_t)i;
  return self;
}

static void compare(const struct fixture *f, const char *kernel, bool with_plane, size_t n,
                    const double *x, const int64_t *self, double error)
{
  static struct out dense, alone;
  size_t bounded = 0;
  struct gpnn_parameters params = parameters(kernel, GPNN_LIKELIHOOD_LOCAL);
  if (with_plane) add_plane(&params);
  predict_at(f, &params, x, self, 0, n, 2, &dense);
  params.likelihood = GPNN_LIKELIHOOD_GAUSSIAN;
  params.degrees = 0;
  predict_at(f, &params, x, self, 0, n, 2, &alone);
  for (size_t i = 0; i < n; i++) {
    bounded += fabs(dense.mean[i] - alone.mean[i]) > error; /* test_local_bound.c */
    assert_near(dense.variance[i], alone.variance[i], error);
    assert_near(dense.mean_variance[i], alone.mean_variance[i], error);
    assert_near(dense.nearest[i], alone.nearest[i], 1e-12);
  }
  assert_true(bounded <= n / 8);
}

static void predictions_are_those_of_a_solve_for_each_row(void **state)
{
  (void)state;
  static const char *const kernels[] = {"exp", "matern32", "matern52", "rbf"};
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
    for (int variant = 0; variant < 4; variant++) {
      struct fixture f;
      fixture_new(&f, N, D, C, 1);
      if (variant / 2 > 0) make_noisy(&f);
      compare(&f, kernels[k], variant % 2 > 0, C, f.cx, NULL, 1e-10);
      compare(&f, kernels[k], variant % 2 > 0, N, f.x, selves(), 1e-8);
      /* A row may leave out a training row that is elsewhere. */
      compare(&f, kernels[k], variant % 2 > 0, C, f.cx, selves(), 1e-8);
      fixture_free(&f);
    }
}

/* The squared standardised error of row 'j' predicted from all rows but itself and 'without'. */
static double z2_of(const struct fixture *f, const struct gpnn_parameters *params, size_t j,
                    size_t without)
{
  double x[N * D], y[N], mean, variance;
  size_t n = 0;
  for (size_t i = 0; i < N; i++) {
    if (i == j || i == without) continue;
    memcpy(x + n * D, f->x + i * D, D * sizeof *x);
    y[n++] = f->y[i];
  }
  dense_predict(params->covariance.kernel->name, n, D, x, y, f->x + j * D, D, lengthscale,
                params->covariance.kernelscale, params->covariance.noise, &mean, &variance);
  return pow(f->y[j] - mean, 2) / (variance + params->covariance.noise);
}

static double distance_of(const double *a, const double *b)
{
  double r2 = 0;
  for (size_t j = 0; j < D; j++) r2 += pow((a[j] - b[j]) / lengthscale[j], 2);
  return r2;
}

/* The mean of that over the NEAR rows nearest to 'x' other than 'without'. */
static double misfit_of(const struct fixture *f, const struct gpnn_parameters *params,
                        const double *x, size_t without)
{
  double sum = 0;
  for (size_t j = 0; j < N; j++) {
    size_t nearer = 0;
    for (size_t i = 0; i < N; i++)
      nearer += i != without && distance_of(x, f->x + i * D) < distance_of(x, f->x + j * D);
    if (j != without && nearer < NEAR) sum += z2_of(f, params, j, without) / NEAR;
  }
  return sum;
}

static void the_misfit_is_that_of_the_nearest_rows_left_out(void **state)
{
  (void)state;
  static struct out out;
  struct fixture f;
  fixture_new(&f, N, D, C, 1);
  const struct gpnn_parameters params = parameters("matern32", GPNN_LIKELIHOOD_LOCAL);
  predict(&f, &params, NULL, 0, C, 2, &out);
  for (size_t i = 0; i < C; i++)
    assert_close(out.misfit[i], misfit_of(&f, &params, f.cx + i * D, SIZE_MAX), 1e-8);
  predict(&f, &params, selves(), 0, N, 2, &out);
  for (size_t i = 0; i < 8; i++)
    assert_close(out.misfit[i], misfit_of(&f, &params, f.x + i * D, i), 1e-8);
  predict_at(&f, &params, f.cx, selves(), 0, C, 2, &out);
  for (size_t i = 0; i < C; i++)
    assert_close(out.misfit[i], misfit_of(&f, &params, f.cx + i * D, i), 1e-8);
  fixture_free(&f);
}

/* Two channels whose covariances are proportional have one factor; a third has its own. */
static void channels_of_a_family_are_predicted_as_alone(void **state)
{
  (void)state;
  enum { CHANNELS = 3 };
  static struct out alone;
  static double mean[CHANNELS][N], variance[CHANNELS][N], misfit[CHANNELS][N];
  struct fixture f;
  struct gpnn_parameters params[CHANNELS];
  struct gpnn_channel channels[CHANNELS];
  struct gpnn_counts counts[CHANNELS] = {0};
  struct gpnn_model *model = NULL;
  const struct gpnn_model_options options = {.threads = 2};
  const struct gpnn_latent latent = {.mean = mean[0], .variance = variance[0], .misfit = misfit[0]};
  fixture_new(&f, N, D, C, 1);
  for (size_t c = 0; c < CHANNELS; c++) {
    params[c] = parameters("matern32", GPNN_LIKELIHOOD_LOCAL);
    channels[c] = (struct gpnn_channel){f.data, &params[c]};
  }
  params[1].covariance.noise = 0.2;
  params[2].covariance.noise *= 4;
  params[2].covariance.kernelscale *= 4;
  add_plane(&params[0]);
  assert_ok(gpnn_model_new(&model, CHANNELS, channels, &options, &err));
  assert_ok(gpnn_model_predict(model, &(struct gpnn_query){.n = N, .x = f.x, .self = selves()},
                               &latent, counts, &err));
  for (size_t c = 0; c < CHANNELS; c++) {
    predict(&f, &params[c], selves(), 0, N, 1, &alone);
    for (size_t i = 0; i < N; i++) {
      assert_near(mean[c][i], alone.mean[i], 1e-12);
      assert_near(variance[c][i], alone.variance[i], 1e-12);
      assert_close(misfit[c][i], alone.misfit[i], 1e-10);
    }
  }
  gpnn_model_free(model);
  fixture_free(&f);
}

static void threads_and_batches_change_no_bit(void **state)
{
  (void)state;
  static struct out all, parts;
  struct fixture f;
  fixture_new(&f, N, D, C, 1);
  const struct gpnn_parameters params = parameters("matern52", GPNN_LIKELIHOOD_LOCAL);
  predict(&f, &params, selves(), 0, N, 4, &all);
  for (size_t begin = 0; begin < N; begin += 31)
    predict(&f, &params, selves(), begin, begin + 31 < N ? begin + 31 : N, 1, &parts);
  assert_memory_equal(all.mean, parts.mean, sizeof all.mean);
  assert_memory_equal(all.variance, parts.variance, sizeof all.variance);
  assert_memory_equal(all.misfit, parts.misfit, sizeof all.misfit);
  assert_memory_equal(all.nearest, parts.nearest, sizeof all.nearest);
  fixture_free(&f);
}

static void duplicates_without_noise_are_counted_as_jittered(void **state)
{
  (void)state;
  static struct out out;
  struct fixture f;
  fixture_new(&f, N, D, C, 1);
  struct gpnn_dataset *dataset = contents_of(&f);
  static double doubled[N * D];
  for (size_t i = 0; i < N * D; i++) doubled[i] = f.x[i % (N / 2 * D)];
  dataset->x = doubled;
  struct gpnn_parameters params = parameters("rbf", GPNN_LIKELIHOOD_LOCAL);
  params.covariance.noise = 1e-300;
  memset(&out, 0, sizeof out);
  predict(&f, &params, NULL, 0, C, 2, &out);
  assert_int_equal(out.counts.jitter.n, C);
  for (size_t i = 0; i < C; i++)
    assert_true(isfinite(out.mean[i]) && out.variance[i] >= 0 && out.misfit[i] >= 0);
  fixture_free(&f);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(predictions_are_those_of_a_solve_for_each_row),
      cmocka_unit_test(the_misfit_is_that_of_the_nearest_rows_left_out),
      cmocka_unit_test(channels_of_a_family_are_predicted_as_alone),
      cmocka_unit_test(threads_and_batches_change_no_bit),
      cmocka_unit_test(duplicates_without_noise_are_counted_as_jittered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
