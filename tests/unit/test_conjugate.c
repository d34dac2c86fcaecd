#include "base/threads.h"
#include "fixture.h"
#include "gls.h"
#include "linalg/blas_threads.h"
#include "models.h"
#include "models/conjugate/conjugate.h"
#include "models/model.h"
#include "vecchia/gls.h"

enum { N = 48, D = 2, C = 6, P = D + 1 };
static const double one_noise[] = {0.2};
static const double range_of_exp = 2.9957322735539909; /* log 20 */

static struct gpnn_conjugate_options make_options(size_t neighbours)
{
  struct gpnn_conjugate_options options;
  gpnn_conjugate_defaults(&options);
  options.mean = GPNN_MEAN_LINEAR;
  options.neighbours = neighbours;
  options.n_ranges = 1;
  options.n_noises = 1;
  options.noises = one_noise;
  return options;
}

/* Dense terms, target and correlation plus 'noise' on the diagonal, of n rows. */
static void gls_rows(struct gls *g, size_t n, const double *x, const double *y, double lengthscale,
                     double noise)
{
  g->n = n;
  g->p = P;
  for (size_t i = 0; i < n; i++) {
    g->y[i] = y[i];
    g->t[i * P] = 1;
    for (size_t j = 0; j < D; j++) g->t[i * P + 1 + j] = x[i * D + j];
    for (size_t j = 0; j < n; j++)
      g->m[i * n + j] = dense_kernel("exp", D, x + i * D, x + j * D, 1, &lengthscale) +
                        (i == j ? (long double)noise : 0);
  }
  gls_fit(g);
}

/* Location and v of section 10 at 'point', given all rows of 'g', whose inputs are 'x'. */
static void gls_predict(const struct gls *g, const double *x, const double *point,
                        double lengthscale, double noise, double *location, double *v)
{
  long double c[GLS_ROWS] = {0}, w[GLS_ROWS], q[P] = {1}, mean, variance = 1 + (long double)noise;
  for (size_t j = 0; j < D; j++) q[1 + j] = point[j];
  for (size_t i = 0; i < g->n; i++)
    c[i] = dense_kernel("exp", D, x + i * D, point, 1, &lengthscale);
  gls_apply(g, c, w);
  mean = 0;
  for (size_t t = 0; t < P; t++) mean += q[t] * g->coefficients[t];
  for (size_t i = 0; i < g->n; i++) {
    long double rest = g->y[i];
    for (size_t t = 0; t < P; t++) rest -= g->t[i * P + t] * g->coefficients[t];
    mean += w[i] * rest;
    variance -= w[i] * c[i];
    for (size_t t = 0; t < P; t++) q[t] -= g->t[i * P + t] * w[i];
  }
  for (size_t t = 0; t < P; t++)
    for (size_t s = 0; s < P; s++) variance += q[t] * g->covariance[t * P + s] * q[s];
  *location = (double)mean;
  *v = (double)variance;
}

static struct gpnn_parameters given_params(double *lengthscale, double noise, size_t neighbours)
{
  return (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name("exp"),
                                  .covariance.n_lengthscales = 1,
                                  .covariance.lengthscale = lengthscale,
                                  .covariance.noise = noise,
                                  .mean.kind = GPNN_MEAN_LINEAR,
                                  .neighbours = neighbours};
}

static void the_posterior_is_the_dense_one_and_its_predictions_are_student_t(void **state)
{
  (void)state;
  struct fixture f;
  struct gls g;
  struct gpnn_model *gp = NULL;
  struct gpnn_conjugate_options options = make_options(N);
  double lengthscale = 0.8, mean[C], latent[C], location, v;
  struct gpnn_parameters params = given_params(&lengthscale, 0.15, N);
  fixture_new(&f, N, D, C, 1);
  options.prior_shape = 2.5;
  options.prior_scale = 0.7;
  gls_rows(&g, N, f.x, f.y, lengthscale, 0.15);
  double a = 2.5 + (N - P) / 2.0, b = 0.7 + (double)g.left / 2, s2 = b / (a - 1);
  assert_ok(gpnn_conjugate_posterior(f.data, &options, &params, &err));
  assert_close(params.covariance.kernelscale, s2, 1e-11);
  assert_close(params.covariance.noise, 0.15 * s2, 1e-11);
  assert_near(params.degrees, 2 * a, 0);
  assert_int_equal(params.mean.n_coefficients, P);
  for (size_t t = 0; t < P; t++)
    assert_close(params.mean.coefficients[t], (double)g.coefficients[t], 1e-10);
  for (size_t t = 0; t < P * P; t++)
    assert_near(params.mean.covariance[t], (double)g.covariance[t] * s2, 1e-12);
  struct gpnn_counts counts = {0};
  assert_ok(make_model(&gp, f.data, &params, 0, 1, &err));
  assert_ok(gpnn_model_predict(gp, &(struct gpnn_query){.n = C, .x = f.cx},
                               &(struct gpnn_latent){.mean = mean, .variance = latent}, &counts,
                               &err));
  for (size_t i = 0; i < C; i++) {
    gls_predict(&g, f.x, f.cx + i * D, lengthscale, 0.15, &location, &v);
    assert_close(mean[i], location, 1e-10);
    assert_close(latent[i] + params.covariance.noise, b * v / (a - 1), 1e-10);
  }
  gpnn_model_free(gp);
  params.covariance.lengthscale = NULL;
  gpnn_parameters_release(&params);
  fixture_free(&f);
}

/* Of independent observations of an unknown constant, s2's posterior is that of textbooks. */
static void far_rows_are_independent_observations_of_a_constant(void **state)
{
  (void)state;
  double x[4] = {0, 1000, 2000, 3000}, y[4] = {1, 2, 4, 9}, lengthscale = 0.1;
  uint32_t group[1] = {0};
  struct gpnn_dataset dataset = {.n = 4, .d = 1, .n_groups = 1, .group = group, .x = x, .y = y};
  struct gpnn_conjugate_options options = make_options(2);
  struct gpnn_parameters params = given_params(&lengthscale, 3, 2);
  params.mean.kind = GPNN_MEAN_CONSTANT;
  assert_ok(gpnn_conjugate_posterior(&dataset, &options, &params, &err));
  double squares = 9 + 4 + 0 + 25, s2 = (1 + squares / 4 / 2) / (2 + 1.5 - 1);
  assert_close(params.mean.coefficients[0], 4, 1e-14);
  assert_close(params.covariance.kernelscale, s2, 1e-14);
  assert_close(params.covariance.noise, 3 * s2, 1e-14);
  assert_close(params.mean.covariance[0], 4 * s2 / 4, 1e-14);
  assert_near(params.degrees, 7, 0);
  params.covariance.lengthscale = NULL;
  gpnn_parameters_release(&params);
}

/* Without a prior on s2 a straight line through independent observations is that of textbooks:
 * Student-t with n - 2 degrees of freedom about it, of scale^2 s^2 (1 + 1/n + (x - mean)^2 / Sxx),
 * s^2 the residuals' sum of squares over n - 2. */
static void a_line_through_independent_rows_has_n_minus_two_degrees(void **state)
{
  (void)state;
  enum { ROWS = 8 };
  double x[ROWS], y[ROWS] = {1, 3, 2, 5, 4, 7, 9, 6}, tiny = 1e-4, at = 2500, mean, latent;
  struct fixture f;
  double sxx = 0, sxy = 0, middle = 3500, average = 37.0 / 8, rss = 0;
  for (size_t i = 0; i < ROWS; i++) x[i] = 1000 * (double)i;
  for (size_t i = 0; i < ROWS; i++) sxx += pow(x[i] - middle, 2);
  for (size_t i = 0; i < ROWS; i++) sxy += (x[i] - middle) * (y[i] - average);
  for (size_t i = 0; i < ROWS; i++) rss += pow(y[i] - average - sxy / sxx * (x[i] - middle), 2);
  fixture_new(&f, ROWS, 1, 0, 1);
  struct gpnn_dataset dataset = *f.data;
  struct gpnn_conjugate_options options = make_options(2);
  struct gpnn_parameters params = given_params(&tiny, 1, 2);
  dataset.x = x;
  dataset.y = y;
  options.prior_shape = options.prior_scale = 0;
  assert_ok(gpnn_conjugate_posterior(&dataset, &options, &params, &err));
  assert_near(params.degrees, ROWS - 2, 0);
  double *c = params.mean.coefficients, *v = params.mean.covariance;
  mean = c[0] + c[1] * at;
  latent = params.covariance.kernelscale + v[0] + 2 * v[2] * at + v[3] * at * at;
  /* The variance of Student's t is degrees / (degrees - 2) times its scale^2. */
  double scale2 = rss / (ROWS - 2) * (1 + 1.0 / ROWS + pow(at - middle, 2) / sxx);
  assert_close(mean, average + sxy / sxx * (at - middle), 1e-12);
  assert_close(latent + params.covariance.noise, scale2 * (ROWS - 2) / (ROWS - 4), 1e-10);
  params.covariance.lengthscale = NULL;
  gpnn_parameters_release(&params);
  fixture_free(&f);
}

/* The fold of row 'i' in random order: its number or that of its group, counted in the order in
 * which groups appear, modulo K. */
static size_t fold_of(const struct gpnn_gls_rows *rows, size_t n_folds, size_t i)
{
  size_t rank = 0;
  if (rows->group == NULL) return i % n_folds;
  for (size_t k = 0; rows->group[k] != rows->group[i]; k++) {
    bool is_first = true;
    for (size_t l = 0; l < k; l++) is_first = is_first && rows->group[l] != rows->group[k];
    rank += is_first;
  }
  return rank % n_folds;
}

/* Scores of K folds by the dense formulas, each fold's rows from all others. */
static void dense_folds(const struct gpnn_dataset *dataset, const struct gpnn_conjugate_options *o,
                        double lengthscale, double noise, double *rmspe, double *crps)
{
  struct gpnn_gls_rows rows = {0};
  *rmspe = *crps = 0;
  assert_ok(gpnn_gls_draw_rows(&rows, dataset, GPNN_MEAN_LINEAR, N, o->seed, GPNN_RNG_FOLDS, &err));
  for (size_t fold = 0; fold < o->n_folds; fold++) {
    double x[N * D], y[N];
    size_t n = 0;
    struct gls g;
    for (size_t i = 0; i < N; i++) {
      if (fold_of(&rows, o->n_folds, i) == fold) continue;
      memcpy(x + n * D, rows.x + i * D, D * sizeof *x);
      y[n++] = rows.values[i * (P + 1) + P];
    }
    gls_rows(&g, n, x, y, lengthscale, noise);
    double s2 = (o->prior_scale + (double)g.left / 2) / (o->prior_shape + (double)(n - P) / 2 - 1);
    for (size_t i = 0; i < N; i++) {
      if (fold_of(&rows, o->n_folds, i) != fold) continue;
      double location, v;
      gls_predict(&g, x, rows.x + i * D, lengthscale, noise, &location, &v);
      double error = rows.values[i * (P + 1) + P] - location, sd = sqrt(s2 * v), z = error / sd;
      *rmspe += error * error / N;
      *crps += sd * (z * erf(z / sqrt(2)) + sqrt(2 / M_PI) * exp(-z * z / 2) - 1 / sqrt(M_PI)) / N;
    }
  }
  *rmspe = sqrt(*rmspe);
  gpnn_gls_rows_release(&rows);
}

static void a_fold_is_predicted_only_from_the_others(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_conjugate_options options = make_options(N);
  struct gpnn_conjugate_report report;
  struct gpnn_parameters params = {0};
  double rmspe, crps;
  uint32_t group[N];
  fixture_new(&f, N, D, 0, 1);
  struct gpnn_dataset dataset = *f.data;
  for (uint32_t i = 0; i < N; i++) group[i] = i * i % 11;
  for (int with_groups = 0; with_groups < 2; with_groups++) {
    if (with_groups) dataset.row_group = group;
    if (with_groups) dataset.n_row_groups = 11;
    assert_ok(gpnn_conjugate(&dataset, &options, NULL, NULL, &params, &report, &err));
    assert_close(report.best.lengthscale * range_of_exp, report.best.range, 1e-12);
    dense_folds(&dataset, &options, report.best.lengthscale, 0.2, &rmspe, &crps);
    assert_close(report.best.rmspe, rmspe, 1e-9);
    assert_close(report.best.crps, crps, 1e-9);
    assert_int_equal(report.n_scored, N);
    assert_int_equal(report.n_points, 1);
    gpnn_parameters_release(&params);
  }
  memset(group, 0, sizeof group);
  assert_fails(gpnn_conjugate(&dataset, &options, NULL, NULL, &params, &report, &err), GPNN_EDATA,
               "all rows are of one group");
  group[N / 2] = 11;
  assert_fails(gpnn_conjugate(&dataset, &options, NULL, NULL, &params, &report, &err), GPNN_EFORMAT,
               "a row has a group that is not there");
  fixture_free(&f);
}

/* Is told of everything tried. */
struct heard {
  size_t n;
  struct gpnn_conjugate_point points[16];
};

static void listen(void *context, const struct gpnn_conjugate_point *point)
{
  struct heard *heard = context;
  assert_true(heard->n < 16);
  heard->points[heard->n++] = *point;
}

static void the_grid_is_searched_by_the_score_requested(void **state)
{
  (void)state;
  static const double noises[] = {0.01, 0.1, 1, 10};
  struct fixture f;
  struct gpnn_conjugate_options options = make_options(10);
  fixture_new(&f, 300, D, 0, 1);
  options.n_ranges = 4;
  options.least_range = 0.02;
  options.most_range = 0.16;
  options.n_noises = 4;
  options.noises = noises;
  for (int k = 0; k < 2; k++) {
    struct heard heard = {0};
    struct gpnn_conjugate_report report;
    struct gpnn_parameters params = {0};
    options.score = k == 0 ? GPNN_CONJUGATE_RMSPE : GPNN_CONJUGATE_CRPS;
    assert_ok(gpnn_conjugate(f.data, &options, listen, &heard, &params, &report, &err));
    assert_int_equal(heard.n, 16);
    assert_int_equal(report.n_points, 16);
    for (size_t i = 0; i < 16; i++) {
      assert_true(k == 0 ? report.best.rmspe <= heard.points[i].rmspe
                         : report.best.crps <= heard.points[i].crps);
      assert_close(heard.points[i].range, heard.points[0].range * pow(2, (double)(i / 4)), 1e-12);
      assert_near(heard.points[i].noise, noises[i % 4], 0);
    }
    assert_close(params.covariance.lengthscale[0], report.best.lengthscale, 1e-15);
    assert_close(params.covariance.noise / params.covariance.kernelscale, report.best.noise, 1e-15);
    assert_int_equal(params.neighbours, 10);
    gpnn_parameters_release(&params);
  }
  fixture_free(&f);
}

/* Where the target is noise alone, more noise predicts better; where it is smooth, less does. */
static void a_best_point_at_the_edge_of_the_grid_is_reported(void **state)
{
  (void)state;
  static const double noises[] = {0.001, 0.1, 10};
  struct fixture f;
  struct gpnn_conjugate_options options = make_options(10);
  fixture_new(&f, 400, D, 0, 1);
  double *y = gpnn_alloc(400, 1, sizeof *y);
  struct gpnn_dataset dataset = *f.data;
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 2, GPNN_RNG_TEST);
  options.kernel = gpnn_kernel_by_name("matern52");
  options.least_range = 0.5;
  options.n_noises = 3;
  options.noises = noises;
  dataset.y = y;
  for (int smooth = 0; smooth < 2; smooth++) {
    struct gpnn_conjugate_report report;
    struct gpnn_parameters params = {0};
    for (size_t i = 0; i < 400; i++)
      y[i] = smooth ? sin(f.x[i * D]) * f.x[i * D + 1] : gpnn_rng_normal(&rng);
    assert_ok(gpnn_conjugate(&dataset, &options, NULL, NULL, &params, &report, &err));
    assert_int_equal(report.at_least_noise, smooth);
    assert_int_equal(report.at_most_noise, !smooth);
    assert_true(report.at_least_range && report.at_most_range); /* there is but one */
    assert_true(smooth ? report.best.rmspe < 0.2 : report.best.rmspe > 0.9);
    gpnn_parameters_release(&params);
  }
  free(y);
  fixture_free(&f);
}

static void threads_change_no_bit(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_conjugate_options options = make_options(8);
  struct gpnn_conjugate_report reports[2];
  struct gpnn_parameters params[2] = {{0}, {0}};
  fixture_new(&f, 6000, D, 0, 1);
  options.n_ranges = 2;
  options.most_rows = 1500;
  for (int k = 0; k < 2; k++) {
    options.threads = 1 + 2 * k;
    assert_ok(gpnn_conjugate(f.data, &options, NULL, NULL, &params[k], &reports[k], &err));
    assert_int_equal(reports[k].n_scored, 1500);
  }
  assert_near(reports[0].best.crps, reports[1].best.crps, 0);
  assert_near(params[0].covariance.kernelscale, params[1].covariance.kernelscale, 0);
  assert_memory_equal(params[0].mean.coefficients, params[1].mean.coefficients, P * sizeof(double));
  assert_memory_equal(params[0].mean.covariance, params[1].mean.covariance, P * P * sizeof(double));
  assert_near(params[0].degrees, 6004 - P, 0); /* the posterior is of all rows */
  gpnn_parameters_release(&params[0]);
  gpnn_parameters_release(&params[1]);
  fixture_free(&f);
}

/* Lengthscales in a given ratio are equal ones after dividing the inputs by it. */
static void a_ratio_of_lengthscales_is_a_scale_of_inputs(void **state)
{
  (void)state;
  static const double ratio[] = {4, 1};
  struct fixture f;
  struct gpnn_conjugate_options options = make_options(10);
  struct gpnn_conjugate_report equal, scaled;
  struct gpnn_parameters params[2] = {{0}, {0}};
  fixture_new(&f, 200, D, 0, 1);
  struct gpnn_dataset dataset = *f.data;
  options.mean = GPNN_MEAN_CONSTANT;
  assert_ok(gpnn_conjugate(&dataset, &options, NULL, NULL, &params[0], &equal, &err));
  for (size_t i = 0; i < 200; i++) f.x[i * D] *= 4;
  dataset.x = f.x;
  options.ratio = ratio;
  assert_ok(gpnn_conjugate(&dataset, &options, NULL, NULL, &params[1], &scaled, &err));
  assert_int_equal(params[1].covariance.n_lengthscales, 2);
  assert_close(params[1].covariance.lengthscale[0], 4 * params[0].covariance.lengthscale[0], 1e-12);
  assert_close(params[1].covariance.lengthscale[1], params[0].covariance.lengthscale[0], 1e-12);
  assert_close(scaled.best.rmspe, equal.best.rmspe, 1e-10);
  assert_close(params[1].covariance.kernelscale, params[0].covariance.kernelscale, 1e-10);
  gpnn_parameters_release(&params[0]);
  gpnn_parameters_release(&params[1]);
  fixture_free(&f);
}

static void what_cannot_be_done_is_refused(void **state)
{
  (void)state;
  static const double zero[] = {0};
  struct fixture f;
  struct gpnn_conjugate_report report;
  struct gpnn_parameters params = {0};
  fixture_new(&f, 20, D, 0, 1);
  struct gpnn_dataset dataset = *f.data;
  struct gpnn_conjugate_options good = make_options(10), bad = good;
#define REFUSED(status, text) \
  assert_fails(gpnn_conjugate(&dataset, &bad, NULL, NULL, &params, &report, &err), status, text)
  bad.n_folds = 1;
  REFUSED(GPNN_EINVAL, "two folds");
  bad.n_folds = 21;
  REFUSED(GPNN_EDATA, "too few");
  bad = good;
  bad.noises = zero;
  REFUSED(GPNN_EINVAL, "ratio");
  bad = good;
  bad.least_range = 0.9;
  REFUSED(GPNN_EINVAL, "ranges");
  bad = good;
  bad.prior_scale = 0;
  REFUSED(GPNN_EINVAL, "prior");
  bad = good;
  dataset.noise = f.y;
  REFUSED(GPNN_EDATA, "known noise");
  dataset.noise = NULL;
  dataset.x = f.x;
  memset(f.x, 0, 20 * D * sizeof *f.x);
  REFUSED(GPNN_EDATA, "the same inputs");
#undef REFUSED
  assert_null(params.covariance.lengthscale);
  fixture_free(&f);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_posterior_is_the_dense_one_and_its_predictions_are_student_t),
      cmocka_unit_test(far_rows_are_independent_observations_of_a_constant),
      cmocka_unit_test(a_line_through_independent_rows_has_n_minus_two_degrees),
      cmocka_unit_test(a_fold_is_predicted_only_from_the_others),
      cmocka_unit_test(the_grid_is_searched_by_the_score_requested),
      cmocka_unit_test(a_best_point_at_the_edge_of_the_grid_is_reported),
      cmocka_unit_test(threads_change_no_bit),
      cmocka_unit_test(a_ratio_of_lengthscales_is_a_scale_of_inputs),
      cmocka_unit_test(what_cannot_be_done_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
