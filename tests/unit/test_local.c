#include "base/compare.h"
#include "base/threads.h"
#include "dense.h"
#include "fixture.h"
#include "linalg/blas_threads.h"
#include "models.h"
#include "models/model.h"

static const char *const kernels[] = {"rbf", "exp", "matern32", "matern52"};

static struct gpnn_parameters make_params(const char *kernel, size_t n_lengthscales,
                                          size_t neighbours)
{
  struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name(kernel),
                                   .covariance.n_lengthscales = n_lengthscales,
                                   .covariance.kernelscale = 0.9,
                                   .covariance.noise = 0.05,
                                   .neighbours = neighbours};
  params.covariance.lengthscale = calloc(n_lengthscales, sizeof *params.covariance.lengthscale);
  assert_non_null(params.covariance.lengthscale);
  for (size_t j = 0; j < n_lengthscales; j++)
    params.covariance.lengthscale[j] = 0.6 + 0.5 * (double)j;
  return params;
}

static void predict(const struct fixture *f, const struct gpnn_parameters *params, size_t n_rows,
                    const double *x, const int64_t *self, int threads, double *mean, double *latent,
                    struct gpnn_counts *counts)
{
  struct gpnn_model *gp = NULL;
  assert_ok(make_model(&gp, f->data, params, 0, threads, &err));
  assert_ok(gpnn_model_predict(gp, &(struct gpnn_query){.n = n_rows, .x = x, .self = self},
                               &(struct gpnn_latent){.mean = mean, .variance = latent}, counts,
                               &err));
  gpnn_model_free(gp);
}

/* Predicts the fixture's calibration rows and compares each with the dense formula over the
 * training rows 'chosen' says (NULL: all). */
static void compare_with_dense(const struct fixture *f, const struct gpnn_parameters *params)
{
  double mean[16], latent[16];
  struct gpnn_counts counts = {0};
  assert_true(f->c <= 16);
  predict(f, params, f->c, f->cx, NULL, 2, mean, latent, &counts);
  for (size_t i = 0; i < f->c; i++) {
    double m, v;
    dense_predict(params->covariance.kernel->name, f->n, f->d, f->x, f->y, f->cx + i * f->d,
                  params->covariance.n_lengthscales, params->covariance.lengthscale,
                  params->covariance.kernelscale, params->covariance.noise, &m, &v);
    assert_close(mean[i], m, 1e-10);
    assert_close(latent[i], v, 1e-10);
  }
  assert_int_equal(counts.jitter.n, 0);
}

static void all_rows_as_neighbours_give_the_dense_gp(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, 60, 3, 12, 1);
  for (size_t k = 0; k < 4; k++) {
    for (size_t n_lengthscales = 1; n_lengthscales <= 3; n_lengthscales += 2) {
      struct gpnn_parameters params = make_params(kernels[k], n_lengthscales, 400);
      compare_with_dense(&f, &params);
      params.neighbours = 60;
      compare_with_dense(&f, &params);
      gpnn_parameters_release(&params);
    }
  }
  fixture_free(&f);
}

struct near {
  double distance;
  size_t row;
};

static void neighbours_are_the_nearest_in_the_metric_of_the_kernel(void **state)
{
  (void)state;
  enum { M = 9, N = 80, D = 3 };
  struct fixture f;
  fixture_new(&f, N, D, 10, 1);
  for (size_t n_lengthscales = 1; n_lengthscales <= D; n_lengthscales += 2) {
    struct gpnn_parameters params = make_params("matern32", n_lengthscales, M);
    double mean[10], latent[10], x[M * D], y[M];
    struct gpnn_counts counts = {0};
    predict(&f, &params, 10, f.cx, NULL, 1, mean, latent, &counts);
    for (size_t i = 0; i < 10; i++) {
      struct near all[N];
      for (size_t r = 0; r < N; r++) {
        all[r] = (struct near){0, r};
        for (size_t j = 0; j < D; j++)
          all[r].distance += pow((f.x[r * D + j] - f.cx[i * D + j]) /
                                     params.covariance.lengthscale[n_lengthscales > 1 ? j : 0],
                                 2);
      }
      qsort(all, N, sizeof all[0], gpnn_compare_doubles);
      for (size_t r = 0; r < M; r++) {
        memcpy(x + r * D, f.x + all[r].row * D, D * sizeof(double));
        y[r] = f.y[all[r].row];
      }
      double m, v;
      dense_predict("matern32", M, D, x, y, f.cx + i * D, n_lengthscales,
                    params.covariance.lengthscale, params.covariance.kernelscale,
                    params.covariance.noise, &m, &v);
      assert_close(mean[i], m, 1e-10);
      assert_close(latent[i], v, 1e-10);
    }
    gpnn_parameters_release(&params);
  }
  fixture_free(&f);
}

static void a_row_left_out_is_predicted_from_the_others(void **state)
{
  (void)state;
  enum { N = 40, D = 2 };
  struct fixture f;
  fixture_new(&f, N, D, 0, 1);
  memcpy(f.x + D, f.x, D * sizeof(double)); /* rows 0 and 1 have the same inputs */
  gpnn_index_close(f.index);
  gpnn_schema_release(&f.dataset.schema);
  gpnn_scaling_release(&f.dataset.scaling);
  fixture_write(&f);
  struct gpnn_parameters params = make_params("exp", 1, N);
  int64_t self[N];
  double mean[N], latent[N], x[N * D], y[N];
  struct gpnn_counts counts = {0};
  for (size_t i = 0; i < N; i++) self[i] = (int64_t)i;
  predict(&f, &params, N, f.x, self, 2, mean, latent, &counts);
  for (size_t i = 0; i < N; i++) {
    size_t kept = 0;
    for (size_t r = 0; r < N; r++) {
      if (r == i) continue;
      memcpy(x + kept * D, f.x + r * D, D * sizeof(double));
      y[kept++] = f.y[r];
    }
    double m, v;
    dense_predict("exp", kept, D, x, y, f.x + i * D, 1, params.covariance.lengthscale,
                  params.covariance.kernelscale, params.covariance.noise, &m, &v);
    assert_close(mean[i], m, 1e-10);
    assert_close(latent[i], v, 1e-10);
  }
  gpnn_parameters_release(&params);
  fixture_free(&f);
}

static void threads_and_batches_change_no_bit(void **state)
{
  (void)state;
  enum { ROWS = 300 };
  struct fixture f;
  fixture_new(&f, 500, 4, ROWS, 1);
  struct gpnn_parameters params = make_params("matern52", 4, 30);
  double mean[3][ROWS], latent[3][ROWS];
  struct gpnn_counts counts = {0};
  predict(&f, &params, ROWS, f.cx, NULL, 1, mean[0], latent[0], &counts);
  predict(&f, &params, ROWS, f.cx, NULL, 3, mean[1], latent[1], &counts);
  for (size_t i = 0; i < ROWS; i += 7) {
    size_t n = ROWS - i < 7 ? ROWS - i : 7;
    predict(&f, &params, n, f.cx + i * f.d, NULL, 2, mean[2] + i, latent[2] + i, &counts);
  }
  for (int k = 1; k < 3; k++) {
    assert_memory_equal(mean[0], mean[k], sizeof mean[0]);
    assert_memory_equal(latent[0], latent[k], sizeof latent[0]);
  }
  gpnn_parameters_release(&params);
  fixture_free(&f);
}

static void duplicates_without_noise_need_jitter_and_stay_finite(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, 50, 2, 5, 1);
  for (size_t i = 1; i < 50; i++) memcpy(f.x + 2 * i, f.x + 2 * (i % 5), 2 * sizeof(double));
  gpnn_index_close(f.index);
  gpnn_schema_release(&f.dataset.schema);
  gpnn_scaling_release(&f.dataset.scaling);
  fixture_write(&f);
  struct gpnn_parameters params = make_params("rbf", 1, 50);
  params.covariance.noise = 0;
  double mean[5], latent[5];
  struct gpnn_counts counts = {0};
  predict(&f, &params, 5, f.cx, NULL, 1, mean, latent, &counts);
  assert_int_equal(counts.jitter.n, 5);
  assert_true(counts.jitter.most > 0);
  for (size_t i = 0; i < 5; i++) {
    assert_true(isfinite(mean[i]));
    assert_true(latent[i] >= 0 && latent[i] <= params.covariance.kernelscale);
  }
  gpnn_parameters_release(&params);
  fixture_free(&f);
}

static void lengthscales_for_other_inputs_are_refused(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, 30, 4, 0, 1);
  struct gpnn_parameters params = make_params("rbf", 3, 10);
  struct gpnn_model *gp = NULL;
  assert_fails(make_model(&gp, f.data, &params, 0, 1, &err), GPNN_EMISMATCH, "lengthscale");
  assert_null(gp);
  gpnn_parameters_release(&params);
  fixture_free(&f);
}

/* ---- means, known noise, candidates -------------------------------------------------------- */

enum { ROWS = 70, INPUTS = 3, POINTS = 8, REGRESSORS = 2, TERMS = 4 };

/* An index with regressors and known noise, and points with the same. */
struct model {
  struct fixture f;
  struct gpnn_parameters params;
  double regressors[ROWS * REGRESSORS], point_regressors[POINTS * REGRESSORS], noise[ROWS];
  double coefficients[TERMS], covariance[TERMS * TERMS];
};

/* What an index file holds, to be changed: the object behind the pointer is no constant. */
static struct gpnn_dataset *contents_of(const struct fixture *f)
{
  const struct gpnn_dataset *borrowed = f->data;
  struct gpnn_dataset *dataset;
  memcpy(&dataset, &borrowed, sizeof dataset);
  return dataset;
}

static void model_new(struct model *s, enum gpnn_mean mean, bool noisy, size_t neighbours)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
  fixture_new(&s->f, ROWS, INPUTS, POINTS, 1);
  for (size_t i = 0; i < ROWS * REGRESSORS; i++) s->regressors[i] = gpnn_rng_normal(&rng);
  for (size_t i = 0; i < POINTS * REGRESSORS; i++) s->point_regressors[i] = gpnn_rng_normal(&rng);
  for (size_t i = 0; i < ROWS; i++) s->noise[i] = i % 3 == 0 ? 0 : gpnn_rng_uniform(&rng);
  for (size_t i = 0; i < TERMS; i++) s->coefficients[i] = gpnn_rng_normal(&rng);
  struct gpnn_dataset *dataset = contents_of(&s->f);
  dataset->n_regressors = REGRESSORS;
  dataset->regressors = s->regressors;
  dataset->noise = noisy ? s->noise : NULL;
  s->params = make_params("matern32", INPUTS, neighbours);
  s->params.mean.kind = mean;
  s->params.mean.n_coefficients = gpnn_mean_width(mean, INPUTS, REGRESSORS);
  s->params.mean.coefficients = s->coefficients;
}

static void model_free(struct model *s)
{
  s->params.mean.coefficients = s->params.mean.covariance = NULL; /* not owned here */
  gpnn_parameters_release(&s->params);
  fixture_free(&s->f);
}

static struct gpnn_query points_of(const struct model *s)
{
  return (struct gpnn_query){.n = POINTS, .x = s->f.cx, .regressors = s->point_regressors};
}

static void model_predict(const struct model *s, const struct gpnn_query *points,
                          const struct gpnn_latent *prediction)
{
  struct gpnn_model *gp = NULL;
  struct gpnn_counts counts = {0};
  assert_ok(make_model(&gp, s->f.data, &s->params, 0, 2, &err));
  assert_ok(gpnn_model_predict(gp, points, prediction, &counts, &err));
  assert_int_equal(counts.jitter.n, 0);
  gpnn_model_free(gp);
}

/* Term 't' of a row. */
static double term_of(const struct model *s, size_t t, const double *x, const double *regressors)
{
  if (t == 0) return 1;
  return s->params.mean.kind == GPNN_MEAN_LINEAR ? x[t - 1] : regressors[t - 1];
}

static double row_term(const struct model *s, size_t t, size_t row)
{
  return term_of(s, t, s->f.x + row * INPUTS, s->regressors + row * REGRESSORS);
}

static double point_term(const struct model *s, size_t t, size_t i)
{
  return term_of(s, t, s->f.cx + i * INPUTS, s->point_regressors + i * REGRESSORS);
}

static long double covariance_of(const struct model *s, const double *a, const double *b)
{
  return (long double)s->params.covariance.kernelscale *
         dense_kernel("matern32", INPUTS, a, b, INPUTS, s->params.covariance.lengthscale);
}

/* Covariance of observations 'a' and 'b'. */
static long double observed(const struct model *s, size_t a, size_t b)
{
  long double noise = s->params.covariance.noise;
  if (contents_of(&s->f)->noise != NULL) noise += s->noise[a];
  return covariance_of(s, s->f.x + a * INPUTS, s->f.x + b * INPUTS) + (a == b ? noise : 0);
}

/* The formula of local.h for point 'i' from 'n' rows, without a covariance. */
static void expect_known_mean(const struct model *s, size_t i, size_t n, const size_t *rows,
                              double *mean, double *latent)
{
  static long double k[ROWS * ROWS], cross[ROWS], u[ROWS], v[ROWS];
  long double m = 0, variance = s->params.covariance.kernelscale;
  size_t p = s->params.mean.n_coefficients;
  for (size_t a = 0; a < n; a++) {
    for (size_t b = 0; b < n; b++) k[a * n + b] = observed(s, rows[a], rows[b]);
    u[a] = cross[a] = covariance_of(s, s->f.x + rows[a] * INPUTS, s->f.cx + i * INPUTS);
    v[a] = s->f.y[rows[a]];
    for (size_t t = 0; t < p; t++)
      v[a] -= (long double)s->coefficients[t] * row_term(s, t, rows[a]);
  }
  dense_solve(n, k, u, v);
  for (size_t t = 0; t < p; t++) m += (long double)s->coefficients[t] * point_term(s, t, i);
  for (size_t a = 0; a < n; a++) {
    m += cross[a] * v[a];
    variance -= cross[a] * u[a];
  }
  *mean = (double)m;
  *latent = (double)variance;
}

/* The up to m rows nearest to point 'i' that are not of 'cluster', and their distances. */
static size_t nearest_rows(const struct model *s, size_t i, const uint32_t *clusters,
                           uint32_t cluster, size_t m, size_t *rows, double *distances)
{
  struct near all[ROWS];
  size_t n = 0;
  for (size_t r = 0; r < ROWS; r++) {
    if (clusters != NULL && clusters[r] == cluster) continue;
    all[n] = (struct near){0, r};
    for (size_t j = 0; j < INPUTS; j++)
      all[n].distance += pow((s->f.x[r * INPUTS + j] - s->f.cx[i * INPUTS + j]) /
                                 s->params.covariance.lengthscale[j],
                             2);
    n++;
  }
  qsort(all, n, sizeof all[0], gpnn_compare_doubles);
  if (n > m) n = m;
  for (size_t a = 0; a < n; a++) {
    rows[a] = all[a].row;
    distances[a] = sqrt(all[a].distance);
  }
  return n;
}

static void means_and_known_noise_agree_with_the_dense_formula(void **state)
{
  (void)state;
  static struct model s;
  for (int mean = GPNN_MEAN_ZERO; mean <= GPNN_MEAN_REGRESSORS; mean++)
    for (int noisy = 0; noisy < 2; noisy++)
      for (size_t m = 12; m <= ROWS; m += ROWS - 12) {
        double means[POINTS] = {0}, latent[POINTS] = {0}, right, right_latent, distances[ROWS];
        size_t rows[ROWS];
        model_new(&s, (enum gpnn_mean)mean, noisy, m);
        struct gpnn_query points = points_of(&s);
        model_predict(&s, &points, &(struct gpnn_latent){.mean = means, .variance = latent});
        for (size_t i = 0; i < POINTS; i++) {
          assert_int_equal(nearest_rows(&s, i, NULL, 0, m, rows, distances), m);
          expect_known_mean(&s, i, m, rows, &right, &right_latent);
          assert_near(means[i], right, 1e-10);
          assert_near(latent[i], right_latent, 1e-10);
        }
        model_free(&s);
      }
}

/*
 * Solves [K T; T' 0] [w; l] = right, in place, over all rows: universal kriging, in which the
 * unbiasedness of the weights w stands for any estimate of coefficients.
 */
static void solve_bordered(const struct model *s, long double *right)
{
  static long double matrix[(ROWS + TERMS) * (ROWS + TERMS)], unused[ROWS + TERMS];
  size_t p = s->params.mean.n_coefficients, n = ROWS + p;
  memset(matrix, 0, sizeof matrix);
  for (size_t a = 0; a < ROWS; a++) {
    for (size_t b = 0; b < ROWS; b++) matrix[a * n + b] = observed(s, a, b);
    for (size_t t = 0; t < p; t++)
      matrix[a * n + ROWS + t] = matrix[(ROWS + t) * n + a] = row_term(s, t, a);
  }
  memset(unused, 0, sizeof unused);
  dense_solve(n, matrix, right, unused);
}

/* Generalised least squares: coefficients and their covariance, from bordered systems too. */
static void estimate_coefficients(struct model *s)
{
  long double right[ROWS + TERMS] = {0};
  size_t p = s->params.mean.n_coefficients;
  for (size_t a = 0; a < ROWS; a++) right[a] = s->f.y[a];
  solve_bordered(s, right);
  for (size_t t = 0; t < p; t++) s->coefficients[t] = (double)right[ROWS + t];
  for (size_t t = 0; t < p; t++) {
    memset(right, 0, sizeof right);
    right[ROWS + t] = 1;
    solve_bordered(s, right);
    for (size_t q = 0; q < p; q++) s->covariance[t * p + q] = -(double)right[ROWS + q];
  }
  s->params.mean.covariance = s->covariance;
}

static void uncertain_coefficients_give_universal_kriging(void **state)
{
  (void)state;
  static struct model s;
  for (int mean = GPNN_MEAN_CONSTANT; mean <= GPNN_MEAN_REGRESSORS; mean++) {
    double means[POINTS] = {0}, latent[POINTS] = {0}, known[POINTS];
    model_new(&s, (enum gpnn_mean)mean, true, ROWS);
    struct gpnn_query points = points_of(&s);
    estimate_coefficients(&s);
    model_predict(&s, &points, &(struct gpnn_latent){.mean = means, .variance = latent});
    s.params.mean.covariance = NULL;
    model_predict(&s, &points, &(struct gpnn_latent){.variance = known});
    for (size_t i = 0; i < POINTS; i++) {
      long double right[ROWS + TERMS], value = 0, variance = s.params.covariance.kernelscale;
      size_t n = ROWS + s.params.mean.n_coefficients;
      for (size_t a = 0; a < n; a++)
        right[a] = a < ROWS ? covariance_of(&s, s.f.x + a * INPUTS, s.f.cx + i * INPUTS)
                            : point_term(&s, a - ROWS, i);
      long double given[ROWS + TERMS];
      memcpy(given, right, sizeof given);
      solve_bordered(&s, right);
      for (size_t a = 0; a < n; a++) variance -= right[a] * given[a];
      for (size_t a = 0; a < ROWS; a++) value += right[a] * s.f.y[a];
      assert_near(means[i], (double)value, 1e-10);
      assert_near(latent[i], (double)variance, 1e-10);
      assert_true(latent[i] > known[i]);
    }
    model_free(&s);
  }
}

static void each_number_of_neighbours_predicts_as_it_does_alone(void **state)
{
  (void)state;
  enum { N_NUMBERS = 5 };
  static const size_t numbers[N_NUMBERS] = {1, 2, 9, 33, 60};
  static struct model s;
  for (int mean = GPNN_MEAN_ZERO; mean <= GPNN_MEAN_LINEAR; mean += 2) {
    double means[N_NUMBERS][POINTS], latent[N_NUMBERS][POINTS], nearest[POINTS];
    double mean_1[POINTS] = {0}, latent_1[POINTS] = {0}, nearest_1[POINTS] = {0};
    int64_t self[POINTS];
    struct gpnn_model *gp = NULL;
    struct gpnn_counts counts = {0};
    model_new(&s, (enum gpnn_mean)mean, true, 60);
    if (mean != GPNN_MEAN_ZERO) estimate_coefficients(&s);
    for (size_t i = 0; i < POINTS; i++) self[i] = (int64_t)i;
    struct gpnn_query points = points_of(&s);
    points.x = s.f.x;
    points.self = self;
    assert_ok(make_model(&gp, gpnn_index_dataset(s.f.index), &s.params, 0, 2, &err));
    struct gpnn_latent all = {.mean = means[0], .variance = latent[0], .nearest = nearest};
    assert_ok(gpnn_model_predict_each(gp, &points, N_NUMBERS, numbers, &all, &counts, &err));
    for (size_t k = 0; k < N_NUMBERS; k++) {
      struct gpnn_latent one = {.mean = mean_1, .variance = latent_1, .nearest = nearest_1};
      struct gpnn_model *fewer = NULL;
      assert_ok(make_model(&fewer, gpnn_index_dataset(s.f.index), &s.params, numbers[k], 2, &err));
      assert_ok(gpnn_model_predict(fewer, &points, &one, &counts, &err));
      gpnn_model_free(fewer);
      for (size_t i = 0; i < POINTS; i++) {
        assert_near(means[k][i], mean_1[i], 1e-10);
        assert_near(latent[k][i], latent_1[i], 1e-10);
        assert_true(nearest[i] == nearest_1[i]);
      }
    }
    gpnn_model_free(gp);
    model_free(&s);
  }
}

static void a_model_with_other_parameters_predicts_as_one_made_from_them(void **state)
{
  (void)state;
  enum { M = 20, N = 300, D = 3, Q = 30 };
  struct fixture f;
  struct gpnn_model *gp = NULL;
  struct gpnn_counts counts = {0};
  double mean[Q], latent[Q], mean_1[Q], latent_1[Q];
  fixture_new(&f, N, D, Q, 1);
  struct gpnn_parameters params = make_params("matern32", D, M), others = make_params("exp", D, M);
  const struct gpnn_query points = {.n = Q, .x = f.cx};
  const struct gpnn_latent to = {.mean = mean, .variance = latent};
  for (size_t j = 0; j < D; j++) others.covariance.lengthscale[j] *= 3;
  others.covariance.noise *= 5;
  assert_ok(make_model(&gp, f.data, &params, 0, 1, &err));
  const struct gpnn_parameters *const turns[] = {&others, &params};
  for (size_t k = 0; k < 2; k++) {
    const struct gpnn_channel channel = {f.data, turns[k]};
    struct gpnn_model *other = NULL;
    assert_ok(gpnn_model_with(gp, &channel, &other, &err));
    assert_ptr_equal(gpnn_model_channel(other, 0)->parameters, turns[k]);
    assert_ok(gpnn_model_predict(other, &points, &to, &counts, &err));
    gpnn_model_free(other);
    predict(&f, turns[k], Q, f.cx, NULL, 1, mean_1, latent_1, &counts);
    for (size_t i = 0; i < Q; i++) assert_near(mean[i], mean_1[i], 1e-12);
    for (size_t i = 0; i < Q; i++) assert_near(latent[i], latent_1[i], 1e-12);
  }
  gpnn_model_free(gp);
  gpnn_parameters_release(&params);
  gpnn_parameters_release(&others);
  fixture_free(&f);
}

static void neighbours_are_taken_only_from_the_candidates(void **state)
{
  (void)state;
  enum { M = 15, N_CLUSTERS = 5, N_CANDIDATES = M + 4 };
  static struct model s;
  uint32_t clusters[ROWS];
  int64_t candidates[POINTS * N_CANDIDATES];
  double means[POINTS] = {0}, latent[POINTS] = {0}, nearest[POINTS] = {0}, distances[ROWS], right,
         right_latent;
  size_t rows[ROWS];
  model_new(&s, GPNN_MEAN_CONSTANT, false, M);
  for (size_t r = 0; r < ROWS; r++) clusters[r] = r % 2 == 0 ? 0 : (uint32_t)r % N_CLUSTERS;
  for (size_t i = 0; i < POINTS; i++) { /* the nearest of another cluster; of odd points fewer */
    size_t n = nearest_rows(&s, i, clusters, (uint32_t)i % N_CLUSTERS,
                            i % 2 == 0 ? (size_t)N_CANDIDATES : M - 5, rows, distances);
    for (size_t k = 0; k < N_CANDIDATES; k++)
      candidates[i * N_CANDIDATES + k] = k < n ? (int64_t)rows[k] : -1;
  }
  struct gpnn_query points = points_of(&s);
  points.candidates = candidates;
  points.n_candidates = N_CANDIDATES;
  model_predict(&s, &points,
                &(struct gpnn_latent){.mean = means, .variance = latent, .nearest = nearest});
  for (size_t i = 0; i < POINTS; i++) {
    size_t m = i % 2 == 0 ? M : M - 5;
    assert_int_equal(nearest_rows(&s, i, clusters, (uint32_t)i % N_CLUSTERS, m, rows, distances),
                     m);
    expect_known_mean(&s, i, m, rows, &right, &right_latent);
    assert_near(means[i], right, 1e-10);
    assert_near(latent[i], right_latent, 1e-10);
    assert_close(nearest[i], distances[0], 1e-12);
  }
  model_free(&s);
}

static void without_candidates_the_mean_function_is_predicted(void **state)
{
  (void)state;
  static struct model s;
  int64_t candidates[POINTS];
  double means[POINTS] = {0}, latent[POINTS] = {0}, nearest[POINTS] = {0};
  model_new(&s, GPNN_MEAN_CONSTANT, false, 5);
  for (size_t i = 0; i < POINTS; i++) candidates[i] = -1;
  struct gpnn_query points = points_of(&s);
  points.candidates = candidates;
  points.n_candidates = 1;
  model_predict(&s, &points,
                &(struct gpnn_latent){.mean = means, .variance = latent, .nearest = nearest});
  for (size_t i = 0; i < POINTS; i++) {
    assert_true(means[i] == s.coefficients[0]);
    assert_true(latent[i] == s.params.covariance.kernelscale);
    assert_true(isinf(nearest[i]));
  }
  model_free(&s);
}

static void nearest_is_the_distance_in_lengthscales(void **state)
{
  (void)state;
  static struct model s;
  double nearest[POINTS], distances[ROWS];
  size_t rows[ROWS];
  int64_t self[POINTS];
  model_new(&s, GPNN_MEAN_LINEAR, false, 3);
  struct gpnn_query points = points_of(&s);
  model_predict(&s, &points, &(struct gpnn_latent){.nearest = nearest});
  for (size_t i = 0; i < POINTS; i++) {
    nearest_rows(&s, i, NULL, 0, 1, rows, distances);
    assert_close(nearest[i], distances[0], 1e-12);
    self[i] = (int64_t)i;
  }
  points.x = s.f.x;
  model_predict(&s, &points, &(struct gpnn_latent){.nearest = nearest});
  for (size_t i = 0; i < POINTS; i++) assert_true(nearest[i] == 0);
  points.self = self; /* a training row is not its own neighbour */
  model_predict(&s, &points, &(struct gpnn_latent){.nearest = nearest});
  for (size_t i = 0; i < POINTS; i++) assert_true(nearest[i] > 0);
  model_free(&s);
}

/* ---- mixed precision ---------------------------------------------------------------------- */

/* Predicts in both precisions; returns how many of the means differ at all. */
static size_t compare_precisions(const struct fixture *f, const struct gpnn_parameters *params)
{
  enum { MOST = 64 };
  double mean[2][MOST] = {{0}}, latent[2][MOST] = {{0}}, misfit[2][MOST] = {{0}};
  const struct gpnn_query query = {.n = f->c, .x = f->cx};
  struct gpnn_counts counts = {0};
  size_t n_different = 0;
  assert_true(f->c <= MOST);
  for (int mixed = 0; mixed < 2; mixed++) {
    struct gpnn_model *gp = NULL;
    const struct gpnn_model_options options = {
        .precision = mixed ? GPNN_PRECISION_MIXED : GPNN_PRECISION_DOUBLE, .threads = 2};
    assert_ok(make_model_with(&gp, f->data, params, options, &err));
    const struct gpnn_latent usual = {.mean = mean[mixed], .variance = latent[mixed]};
    const struct gpnn_latent more = {.misfit = misfit[mixed]};
    assert_ok(gpnn_model_predict(gp, &query, &usual, &counts, &err));
    assert_ok(gpnn_model_predict(gp, &query, &more, &counts, &err));
    gpnn_model_free(gp);
  }
  for (size_t i = 0; i < f->c; i++) {
    assert_near(mean[1][i], mean[0][i], 1e-8);
    assert_close(latent[1][i], latent[0][i], 1e-7);
    assert_close(misfit[1][i], misfit[0][i], 1e-7);
    n_different += mean[1][i] != mean[0][i];
  }
  return n_different;
}

static void mixed_precision_is_as_accurate_as_promised(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, 700, 3, 40, 1);
  for (size_t k = 0; k < 4; k++)
    for (size_t m = 1; m < 200; m += 1 + m * 2)
      for (double noise = 1; noise > 1e-12; noise /= 30) {
        struct gpnn_parameters params = make_params(kernels[k], 3, m);
        params.covariance.noise = noise;
        size_t n_different = compare_precisions(&f, &params);
        /* It is not that everything was done in double precision. */
        if (noise > 0.01 && m > 10) assert_true(n_different > 20);
        gpnn_parameters_release(&params);
      }
  fixture_free(&f);
}

static void mixed_precision_leaves_singular_rows_to_double(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, 200, 2, 20, 1);
  for (size_t i = 1; i < 200; i++) memcpy(f.x + 2 * i, f.x + 2 * (i % 40), 2 * sizeof(double));
  memcpy(f.cx, f.x, 20 * sizeof(double)); /* points where rows are */
  gpnn_index_close(f.index);
  gpnn_schema_release(&f.dataset.schema);
  gpnn_scaling_release(&f.dataset.scaling);
  fixture_write(&f);
  for (size_t k = 0; k < 4; k++)
    for (double noise = 1e-3; noise > 1e-14; noise /= 100) {
      struct gpnn_parameters params = make_params(kernels[k], 1, 100);
      params.covariance.noise = noise;
      size_t n_different = compare_precisions(&f, &params);
      if (noise < 1e-8) assert_int_equal(n_different, 0);
      gpnn_parameters_release(&params);
    }
  fixture_free(&f);
}

static void mixed_precision_solves_every_right_hand_side(void **state)
{
  (void)state;
  static struct model s;
  for (int mean = GPNN_MEAN_CONSTANT; mean <= GPNN_MEAN_REGRESSORS; mean++)
    for (size_t m = 0; m <= ROWS; m += 14) {
      double means[2][POINTS] = {{0}}, latent[2][POINTS] = {{0}};
      int64_t candidates[POINTS * ROWS];
      struct gpnn_counts counts = {0};
      model_new(&s, (enum gpnn_mean)mean, true, ROWS);
      struct gpnn_query points = points_of(&s);
      estimate_coefficients(&s);
      for (size_t i = 0; i < POINTS * ROWS; i++) /* points of fewer and fewer neighbours */
        candidates[i] = i % ROWS + i / ROWS < m ? (int64_t)(i % ROWS) : -1;
      points.candidates = candidates;
      points.n_candidates = ROWS;
      for (int mixed = 0; mixed < 2; mixed++) {
        struct gpnn_model *gp = NULL;
        const struct gpnn_model_options options = {
            .precision = mixed ? GPNN_PRECISION_MIXED : GPNN_PRECISION_DOUBLE, .threads = 2};
        assert_ok(make_model_with(&gp, gpnn_index_dataset(s.f.index), &s.params, options, &err));
        assert_ok(gpnn_model_predict(
            gp, &points, &(struct gpnn_latent){.mean = means[mixed], .variance = latent[mixed]},
            &counts, &err));
        gpnn_model_free(gp);
      }
      for (size_t i = 0; i < POINTS; i++) {
        assert_near(means[1][i], means[0][i], 1e-8);
        assert_close(latent[1][i], latent[0][i], 1e-7);
      }
      model_free(&s);
    }
}

/* ---- shared factorisations ----------------------------------------------------------------- */

enum { SHARED_ROWS = 400, SHARED_POINTS = 90, SHARED_D = 2 };

/* Predicts the calibration rows, pairs of which lie close together. */
static void predict_shared(const struct fixture *f, const struct gpnn_parameters *params,
                           size_t share, int threads, double *mean, double *latent, double *nearest)
{
  struct gpnn_model *gp = NULL;
  struct gpnn_counts counts = {0};
  const struct gpnn_model_options options = {.share = share, .threads = threads};
  assert_ok(make_model_with(&gp, f->data, params, options, &err));
  assert_ok(gpnn_model_predict(
      gp, &(struct gpnn_query){.n = f->c, .x = f->cx},
      &(struct gpnn_latent){.mean = mean, .variance = latent, .nearest = nearest}, &counts, &err));
  gpnn_model_free(gp);
}

static void sharing_conditions_on_no_fewer_neighbours(void **state)
{
  (void)state;
  static double mean[2][SHARED_POINTS], latent[2][SHARED_POINTS], nearest[2][SHARED_POINTS];
  struct fixture f;
  fixture_new(&f, SHARED_ROWS, SHARED_D, SHARED_POINTS, 1);
  for (size_t share = 2; share <= 64; share *= 2)
    for (size_t m = 1; m <= 61; m += 12) {
      struct gpnn_parameters params = make_params("matern32", 1, m);
      size_t more = 0;
      predict_shared(&f, &params, 1, 1, mean[0], latent[0], nearest[0]);
      predict_shared(&f, &params, share, 1, mean[1], latent[1], nearest[1]);
      for (size_t i = 0; i < f.c; i++) {
        assert_true(latent[1][i] <= latent[0][i] * (1 + 1e-12));
        assert_true(nearest[1][i] == nearest[0][i]);
        more += latent[1][i] < latent[0][i] * (1 - 1e-9);
      }
      if (m > 1) assert_true(more > 0);
      free(params.covariance.lengthscale);
    }
  fixture_free(&f);
}

/* ... where all rows are neighbours of all, they change nothing. */
static void sharing_all_rows_changes_nothing_nor_do_threads(void **state)
{
  (void)state;
  static double mean[3][SHARED_POINTS], latent[3][SHARED_POINTS], nearest[3][SHARED_POINTS];
  struct fixture f;
  fixture_new(&f, SHARED_ROWS / 4, SHARED_D, SHARED_POINTS, 1);
  for (size_t m = 20; m <= SHARED_ROWS / 4; m += 80) {
    struct gpnn_parameters params = make_params("exp", SHARED_D, m);
    predict_shared(&f, &params, 1, 1, mean[0], latent[0], nearest[0]);
    predict_shared(&f, &params, 16, 1, mean[1], latent[1], nearest[1]);
    predict_shared(&f, &params, 16, 3, mean[2], latent[2], nearest[2]);
    assert_memory_equal(mean[1], mean[2], sizeof mean[1]);
    assert_memory_equal(latent[1], latent[2], sizeof latent[1]);
    for (size_t i = 0; i < f.c && m == f.n; i++) {
      assert_close(mean[1][i], mean[0][i], 1e-10);
      assert_close(latent[1][i], latent[0][i], 1e-10);
    }
    free(params.covariance.lengthscale);
  }
  fixture_free(&f);
}

/* One factorisation serves several points, and each of them is predicted with its jitter. */
static void every_point_that_shares_a_factor_with_jitter_is_counted(void **state)
{
  (void)state;
  enum { N = 50, FEW = 12 };
  struct fixture f;
  fixture_new(&f, N, 2, FEW, 1);
  for (size_t i = 0; i < N; i++) memcpy(f.x + 2 * i, f.cx + 2 * (i % 5), 2 * sizeof(double));
  gpnn_index_close(f.index);
  gpnn_schema_release(&f.dataset.schema);
  gpnn_scaling_release(&f.dataset.scaling);
  fixture_write(&f);
  struct gpnn_parameters params = make_params("rbf", 1, N); /* all rows: all points share */
  params.covariance.noise = 0;
  for (size_t share = 1; share <= 16; share *= 4) {
    struct gpnn_model *gp = NULL;
    struct gpnn_counts counts = {0};
    double mean[FEW];
    const struct gpnn_model_options options = {.share = share, .threads = 1};
    assert_ok(make_model_with(&gp, f.data, &params, options, &err));
    assert_ok(gpnn_model_predict(gp, &(struct gpnn_query){.n = FEW, .x = f.cx},
                                 &(struct gpnn_latent){.mean = mean}, &counts, &err));
    if (counts.jitter.n != FEW)
      fail_msg("shared by up to %zu: %zu of %d points counted", share, (size_t)counts.jitter.n,
               (int)FEW);
    assert_true(counts.jitter.most > 0);
    gpnn_model_free(gp);
  }
  gpnn_parameters_release(&params);
  fixture_free(&f);
}

static void coefficients_for_another_mean_are_refused(void **state)
{
  (void)state;
  static struct model s;
  struct gpnn_model *gp = NULL;
  model_new(&s, GPNN_MEAN_LINEAR, false, 5);
  s.params.mean.kind = GPNN_MEAN_REGRESSORS;
  assert_fails(make_model(&gp, gpnn_index_dataset(s.f.index), &s.params, 0, 1, &err),
               GPNN_EMISMATCH, "4 coefficients, a regressors mean has 3 with this index");
  assert_null(gp);
  model_free(&s);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_rows_as_neighbours_give_the_dense_gp),
      cmocka_unit_test(neighbours_are_the_nearest_in_the_metric_of_the_kernel),
      cmocka_unit_test(a_row_left_out_is_predicted_from_the_others),
      cmocka_unit_test(threads_and_batches_change_no_bit),
      cmocka_unit_test(duplicates_without_noise_need_jitter_and_stay_finite),
      cmocka_unit_test(lengthscales_for_other_inputs_are_refused),
      cmocka_unit_test(means_and_known_noise_agree_with_the_dense_formula),
      cmocka_unit_test(uncertain_coefficients_give_universal_kriging),
      cmocka_unit_test(each_number_of_neighbours_predicts_as_it_does_alone),
      cmocka_unit_test(a_model_with_other_parameters_predicts_as_one_made_from_them),
      cmocka_unit_test(neighbours_are_taken_only_from_the_candidates),
      cmocka_unit_test(without_candidates_the_mean_function_is_predicted),
      cmocka_unit_test(nearest_is_the_distance_in_lengthscales),
      cmocka_unit_test(mixed_precision_is_as_accurate_as_promised),
      cmocka_unit_test(mixed_precision_leaves_singular_rows_to_double),
      cmocka_unit_test(mixed_precision_solves_every_right_hand_side),
      cmocka_unit_test(sharing_conditions_on_no_fewer_neighbours),
      cmocka_unit_test(sharing_all_rows_changes_nothing_nor_do_threads),
      cmocka_unit_test(every_point_that_shares_a_factor_with_jitter_is_counted),
      cmocka_unit_test(coefficients_for_another_mean_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
