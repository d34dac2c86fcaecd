#include "assess/calibrate.h"
#include "base/threads.h"
#include "fixture.h"
#include "linalg/blas_threads.h"
#include "models.h"

enum { N = 400, D = 2, C = 120 };

struct setting {
  struct fixture f;
  struct gpnn_parameters params;
  struct gpnn_model *gp;
};

static void set_up(struct setting *s)
{
  fixture_new(&s->f, N, D, C, 1);
  s->params = (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name("matern32"),
                                       .covariance.n_lengthscales = 1,
                                       .covariance.kernelscale = 0.7,
                                       .covariance.noise = 0.3,
                                       .neighbours = 25};
  s->params.covariance.lengthscale = calloc(1, sizeof(double));
  assert_non_null(s->params.covariance.lengthscale);
  s->params.covariance.lengthscale[0] = 0.8;
  s->gp = NULL;
  assert_ok(make_model(&s->gp, s->f.data, &s->params, 0, 2, &err));
}

static void tear_down(struct setting *s)
{
  gpnn_model_free(s->gp);
  gpnn_parameters_release(&s->params);
  fixture_free(&s->f);
}

/* Calibrates on the first 'wanted' of the fixture's calibration rows. */
static enum gpnn_status on_given(struct setting *s, size_t wanted,
                                 struct gpnn_calibrate_report *calibration, struct gpnn_error *err)
{
  const struct gpnn_calibrate_options options = {.wanted = wanted,
                                                 .given = gpnn_heldout_of_dataset(s->f.data)};
  gpnn_calibrate_report_release(calibration);
  return gpnn_calibrate(s->gp, &options, calibration, err);
}

static enum gpnn_status on_left_out(struct setting *s, size_t wanted, uint64_t seed,
                                    struct gpnn_calibrate_report *calibration,
                                    struct gpnn_error *err)
{
  const struct gpnn_calibrate_options options = {
      .on = GPNN_CALIBRATE_LEFT_OUT, .wanted = wanted, .seed = seed};
  gpnn_calibrate_report_release(calibration);
  return gpnn_calibrate(s->gp, &options, calibration, err);
}

/* Mean of z^2 and NLL on the calibration rows with variances multiplied by 'factor'. */
static void score(const struct setting *s, double factor, double *z2, double *nll, double *means)
{
  double latent[C];
  struct gpnn_counts counts = {0};
  assert_ok(gpnn_model_predict(s->gp, &(struct gpnn_query){.n = C, .x = s->f.cx, .self = NULL},
                               &(struct gpnn_latent){.mean = means, .variance = latent}, &counts,
                               &err));
  *z2 = *nll = 0;
  for (size_t i = 0; i < C; i++) {
    double v = factor * (latent[i] + s->params.covariance.noise), e = s->f.cy[i] - means[i];
    *z2 += e * e / v / C;
    *nll += 0.5 * (log(v) + e * e / v) / C;
  }
}

static void after_calibration_z2_is_one_and_nll_minimal(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_calibrate_report calibration = {0};
  assert_ok(on_given(&s, C, &calibration, &err));
  double before[C], after[C], z2, best, worse;
  score(&s, 1, &z2, &worse, before);
  assert_close(calibration.alpha, z2, 1e-12);
  gpnn_calibrate_apply(&calibration, &s.params);
  score(&s, 1, &z2, &best, after);
  assert_near(z2, 1, 1e-12);
  assert_true(best < worse);
  for (double factor = 0.9; factor < 1.11; factor += 0.02) {
    score(&s, factor, &z2, &worse, after);
    assert_true(best <= worse + 1e-15);
  }
  for (size_t i = 0; i < C; i++) assert_near(after[i], before[i], 1e-12);
  assert_true(s.params.calibration.has_factor);
  assert_close(s.params.calibration.factor, calibration.alpha, 1e-15);
  gpnn_calibrate_report_release(&calibration);
  tear_down(&s);
}

static void calibrating_again_finds_a_factor_of_one(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_calibrate_report first = {0}, second = {0};
  assert_ok(on_given(&s, C, &first, &err));
  gpnn_calibrate_apply(&first, &s.params);
  assert_ok(on_given(&s, C, &second, &err));
  assert_near(second.alpha, 1, 1e-12);
  gpnn_calibrate_apply(&second, &s.params);
  assert_close(s.params.calibration.factor, first.alpha, 1e-12);
  gpnn_calibrate_report_release(&first);
  gpnn_calibrate_report_release(&second);
  tear_down(&s);
}

static void the_standard_error_is_that_of_a_mean(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_calibrate_report calibration = {0};
  double mean[C], latent[C], squares = 0;
  struct gpnn_counts counts = {0};
  assert_ok(on_given(&s, C, &calibration, &err));
  assert_ok(gpnn_model_predict(s.gp, &(struct gpnn_query){.n = C, .x = s.f.cx, .self = NULL},
                               &(struct gpnn_latent){.mean = mean, .variance = latent}, &counts,
                               &err));
  for (size_t i = 0; i < C; i++) {
    double z2 = pow(s.f.cy[i] - mean[i], 2) / (latent[i] + s.params.covariance.noise);
    squares += pow(z2 - calibration.alpha, 2);
  }
  /* That of the mean, but no less than normal errors have: few rows may lack a tail by chance. */
  double normal = calibration.alpha * sqrt(2.0 / C);
  assert_close(calibration.standard_error, fmax(sqrt(squares / (C - 1) / C), normal), 1e-12);
  s.f.cy[5] += 3;
  struct gpnn_heldout rows = gpnn_heldout_of_dataset(gpnn_index_dataset(s.f.index));
  rows.y = s.f.cy;
  gpnn_calibrate_report_release(&calibration);
  assert_ok(gpnn_calibrate(s.gp, &(struct gpnn_calibrate_options){.wanted = C, .given = rows},
                           &calibration, &err));
  squares = 0;
  for (size_t i = 0; i < C; i++)
    squares += pow(calibration.alpha * (pow(calibration.z[i], 2) - 1), 2);
  assert_close(calibration.standard_error, sqrt(squares / (C - 1) / C), 1e-10);
  assert_true(calibration.standard_error > 2 * calibration.alpha * sqrt(2.0 / C));
  assert_int_equal(calibration.n_rows, C);
  assert_ok(on_given(&s, 1, &calibration, &err));
  assert_true(isinf(calibration.standard_error)); /* one row says nothing of its spread */
  gpnn_calibrate_report_release(&calibration);
  tear_down(&s);
}

/* Errors all of one size would have a mean without any error. */
static void the_standard_error_is_at_least_that_of_normal_errors(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  double mean[C], latent[C];
  struct gpnn_counts counts = {0};
  assert_ok(gpnn_model_predict(s.gp, &(struct gpnn_query){.n = C, .x = s.f.cx},
                               &(struct gpnn_latent){.mean = mean, .variance = latent}, &counts,
                               &err));
  for (size_t i = 0; i < C; i++)
    s.f.cy[i] = mean[i] + 1.5 * sqrt(latent[i] + s.params.covariance.noise);
  struct gpnn_heldout rows = gpnn_heldout_of_dataset(s.f.data);
  rows.y = s.f.cy;
  struct gpnn_calibrate_report calibration = {0};
  assert_ok(gpnn_calibrate(s.gp, &(struct gpnn_calibrate_options){.wanted = C, .given = rows},
                           &calibration, &err));
  assert_close(calibration.alpha, 2.25, 1e-10);
  assert_close(calibration.standard_error, 2.25 * sqrt(2.0 / C), 1e-10);
  gpnn_calibrate_report_release(&calibration);
  tear_down(&s);
}

static void the_standard_error_of_a_scale_is_that_of_its_log_times_it(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_calibrate_report calibration = {0};
  struct gpnn_counts counts = {0};
  double mean[C], variance[C], misfit[C], nearest[C], of_log;
  set_up(&s);
  s.params.likelihood = GPNN_LIKELIHOOD_STUDENT;
  assert_ok(on_given(&s, C, &calibration, &err));
  assert_ok(gpnn_model_predict(
      s.gp, &(struct gpnn_query){.n = C, .x = s.f.cx},
      &(struct gpnn_latent){
          .mean = mean, .variance = variance, .misfit = misfit, .nearest = nearest},
      &counts, &err));
  const struct gpnn_scale_rows rows = {.n = C,
                                       .y = s.f.cy,
                                       .mean = mean,
                                       .variance = variance,
                                       .misfit = misfit,
                                       .nearest = nearest,
                                       .noise = s.params.covariance.noise,
                                       .cluster_rows = 1};
  assert_ok(gpnn_scale_standard_error(&rows, &calibration.law, &of_log, &err));
  assert_true(calibration.by_scale && calibration.alpha < 0.5 && of_log > 0);
  assert_close(calibration.standard_error, of_log * calibration.alpha, 1e-9);
  gpnn_calibrate_report_release(&calibration);
  tear_down(&s);
}

static void leaving_one_out_over_all_rows_covers_each_row_once(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_calibrate_report drawn = {0};
  int64_t self[N];
  double mean[N], latent[N], alpha = 0;
  struct gpnn_counts counts = {0};
  for (size_t i = 0; i < N; i++) self[i] = (int64_t)i;
  assert_ok(gpnn_model_predict(s.gp, &(struct gpnn_query){.n = N, .x = s.f.x, .self = self},
                               &(struct gpnn_latent){.mean = mean, .variance = latent}, &counts,
                               &err));
  for (size_t i = 0; i < N; i++)
    alpha += pow(s.f.y[i] - mean[i], 2) / (latent[i] + s.params.covariance.noise) / N;
  assert_ok(on_left_out(&s, 10 * N, 3, &drawn, &err));
  assert_int_equal(drawn.n_rows, N);
  assert_close(drawn.alpha, alpha, 1e-12);
  gpnn_calibrate_report_release(&drawn);
  tear_down(&s);
}

static void auto_takes_all_rows_when_they_are_too_few_for_its_precision(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_calibrate_report calibration = {0};
  assert_ok(on_given(&s, GPNN_CALIBRATE_AUTO, &calibration, &err));
  assert_int_equal(calibration.n_rows, C);
  gpnn_calibrate_report_release(&calibration);
  tear_down(&s);
}

static void auto_doubles_while_the_standard_error_is_over_its_precision(void **state)
{
  (void)state;
  struct setting s;
  fixture_new(&s.f, 2500, D, 0, 1);
  s.params = (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name("matern32"),
                                      .covariance.n_lengthscales = 1,
                                      .covariance.kernelscale = 0.7,
                                      .covariance.noise = 0.01,
                                      .neighbours = 10};
  s.params.covariance.lengthscale = calloc(1, sizeof(double));
  assert_non_null(s.params.covariance.lengthscale);
  s.params.covariance.lengthscale[0] = 0.8;
  s.gp = NULL;
  assert_ok(make_model(&s.gp, gpnn_index_dataset(s.f.index), &s.params, 0, 2, &err));
  struct gpnn_calibrate_report calibration = {0};
  assert_ok(on_left_out(&s, GPNN_CALIBRATE_AUTO, 1, &calibration, &err));
  /* Normal errors have a relative standard error of sqrt(2/2500), still more than 2 %. */
  assert_int_equal(calibration.n_rows, 2500);
  assert_true(calibration.standard_error > 0.02 * calibration.alpha);
  gpnn_calibrate_report_release(&calibration);
  tear_down(&s);
}

/* Mean of z^2 over the calibration rows by the definition, each row with 'known' noise. */
static double mean_square_of(const struct setting *s, const double *known)
{
  double mean[C], latent[C], sum = 0;
  struct gpnn_counts counts = {0};
  assert_ok(gpnn_model_predict(s->gp, &(struct gpnn_query){.n = C, .x = s->f.cx},
                               &(struct gpnn_latent){.mean = mean, .variance = latent}, &counts,
                               &err));
  for (size_t i = 0; i < C; i++)
    sum += pow(s->f.cy[i] - mean[i], 2) /
           (latent[i] + s->params.covariance.noise + (known == NULL ? 0 : known[i])) / C;
  return sum;
}

static void by_noise_keeps_the_kernel_scale_and_makes_z2_one(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  for (int zero = 0; zero < 2; zero++) {
    s.params.covariance.noise = zero ? 0 : 0.3;
    struct gpnn_calibrate_report calibration = {0};
    const struct gpnn_calibrate_options options = {
        .by = GPNN_CALIBRATE_NOISE,
        .wanted = C,
        .given = gpnn_heldout_of_dataset(gpnn_index_dataset(s.f.index))};
    double before = mean_square_of(&s, NULL);
    assert_ok(gpnn_calibrate(s.gp, &options, &calibration, &err));
    assert_true(s.params.covariance.noise ==
                (zero ? 0 : 0.3)); /* nothing moves until it is applied */
    assert_false(calibration.by_factor);
    assert_close(calibration.alpha, before, 1e-12);
    gpnn_calibrate_apply(&calibration, &s.params);
    assert_true(s.params.covariance.kernelscale == 0.7);
    assert_false(s.params.calibration.has_factor);
    assert_near(mean_square_of(&s, NULL), 1, 1e-8);
    gpnn_calibrate_report_release(&calibration);
  }
  tear_down(&s);
}

/* The known noise is little of the variances that are right, so that rows say as much of the factor
 * as without it, be the variances before too large or less than the known noise. */
static void with_known_noise_the_standard_error_is_that_of_the_factor(void **state)
{
  (void)state;
  struct setting s;
  double known[C], share[2];
  set_up(&s);
  for (size_t i = 0; i < C; i++) known[i] = 0.001;
  struct gpnn_heldout rows = gpnn_heldout_of_dataset(gpnn_index_dataset(s.f.index));
  rows.noise = known;
  const struct gpnn_calibrate_options options = {.wanted = C, .given = rows};
  for (size_t i = 0; i < 2; i++) {
    struct gpnn_calibrate_report calibration = {0};
    s.params.covariance.kernelscale *= i == 0 ? 1 : 1e-4;
    s.params.covariance.noise *= i == 0 ? 1 : 1e-4;
    assert_ok(gpnn_calibrate(s.gp, &options, &calibration, &err));
    share[i] = calibration.standard_error / calibration.alpha;
    gpnn_calibrate_report_release(&calibration);
  }
  assert_near(share[0], sqrt(2.0 / C), 0.05); /* of normal errors */
  assert_close(share[1], share[0], 0.3);
  tear_down(&s);
}

/* Coefficients that are uncertain by as much as the rows' errors: their covariance counts. */
static void the_factor_multiplies_the_covariance_of_coefficients_too(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_calibrate_report calibration = {0};
  set_up(&s);
  size_t p = gpnn_mean_width(GPNN_MEAN_LINEAR, D, 0);
  s.params.mean.kind = GPNN_MEAN_LINEAR;
  s.params.mean.n_coefficients = p;
  s.params.mean.coefficients = calloc(p, sizeof(double));
  s.params.mean.covariance = calloc(p * p, sizeof(double));
  assert_true(s.params.mean.coefficients != NULL && s.params.mean.covariance != NULL);
  for (size_t i = 0; i < p; i++) s.params.mean.covariance[i * p + i] = 50;
  gpnn_model_free(s.gp);
  s.gp = NULL;
  assert_ok(make_model(&s.gp, gpnn_index_dataset(s.f.index), &s.params, 0, 2, &err));
  assert_ok(on_given(&s, C, &calibration, &err));
  assert_true(fabs(calibration.alpha - 1) > 0.2); /* else there is nothing to multiply */
  gpnn_calibrate_apply(&calibration, &s.params);
  for (size_t i = 0; i < p; i++)
    assert_close(s.params.mean.covariance[i * p + i], 50 * calibration.alpha, 1e-12);
  assert_near(mean_square_of(&s, NULL), 1, 1e-9);
  gpnn_calibrate_report_release(&calibration);
  tear_down(&s);
}

static void if_no_noise_is_small_enough_a_factor_is_found(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  s.params.covariance.kernelscale =
      1000; /* so uncertain that even without noise z^2 is too small */
  s.params.covariance.lengthscale[0] = 0.1;
  gpnn_model_free(s.gp);
  assert_ok(make_model(&s.gp, gpnn_index_dataset(s.f.index), &s.params, 0, 2, &err));
  struct gpnn_calibrate_report calibration = {0};
  const struct gpnn_calibrate_options options = {
      .by = GPNN_CALIBRATE_NOISE,
      .wanted = C,
      .given = gpnn_heldout_of_dataset(gpnn_index_dataset(s.f.index))};
  double alpha = mean_square_of(&s, NULL);
  assert_ok(gpnn_calibrate(s.gp, &options, &calibration, &err));
  assert_true(calibration.by_factor);
  assert_close(calibration.alpha, alpha, 1e-12);
  assert_close(calibration.noise, 0.3 * alpha, 1e-12);
  gpnn_calibrate_report_release(&calibration);
  tear_down(&s);
}

static void known_noise_of_the_rows_is_not_multiplied(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  double known[C];
  for (size_t i = 0; i < C; i++) known[i] = i % 2 == 0 ? 0.001 : 0.02;
  struct gpnn_heldout rows = gpnn_heldout_of_dataset(gpnn_index_dataset(s.f.index));
  rows.noise = known;
  struct gpnn_calibrate_report calibration = {0};
  const struct gpnn_calibrate_options options = {.wanted = C, .given = rows};
  assert_ok(gpnn_calibrate(s.gp, &options, &calibration, &err));
  gpnn_calibrate_apply(&calibration, &s.params);
  assert_close(s.params.covariance.noise / 0.3, s.params.covariance.kernelscale / 0.7, 1e-12);
  assert_close(s.params.calibration.factor, s.params.covariance.kernelscale / 0.7, 1e-12);
  assert_near(mean_square_of(&s, known), 1, 1e-8);
  gpnn_calibrate_report_release(&calibration);
  for (size_t i = 0; i < C; i++) known[i] = 1e6;
  assert_fails(gpnn_calibrate(s.gp, &options, &calibration, &err), GPNN_ENUMERIC,
               "known noise of the rows exceeds their errors");
  tear_down(&s);
}

/* Coefficients of a linear mean, so uncertain that it matters. */
static void add_uncertain_mean(struct setting *s)
{
  enum { P = 1 + D };
  s->params.mean.kind = GPNN_MEAN_LINEAR;
  s->params.mean.n_coefficients = P;
  s->params.mean.coefficients = calloc(P, sizeof(double));
  s->params.mean.covariance = calloc(P * P, sizeof(double));
  assert_non_null(s->params.mean.coefficients);
  assert_non_null(s->params.mean.covariance);
  for (size_t i = 0; i < P; i++) s->params.mean.covariance[i * P + i] = 5;
  gpnn_model_free(s->gp);
  assert_ok(make_model(&s->gp, s->f.data, &s->params, 0, 2, &err));
}

static void known_noise_and_uncertain_coefficients_calibrate_once_for_all(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  add_uncertain_mean(&s);
  double known[C], covariance = s.params.mean.covariance[0];
  for (size_t i = 0; i < C; i++) known[i] = i % 2 == 0 ? 0.001 : 0.02;
  struct gpnn_heldout rows = gpnn_heldout_of_dataset(gpnn_index_dataset(s.f.index));
  rows.noise = known;
  struct gpnn_calibrate_report first = {0}, second = {0};
  const struct gpnn_calibrate_options options = {.wanted = C, .given = rows};
  assert_ok(gpnn_calibrate(s.gp, &options, &first, &err));
  assert_true(s.params.mean.covariance[0] == covariance); /* nothing moves until it is applied */
  gpnn_calibrate_apply(&first, &s.params);
  assert_close(s.params.mean.covariance[0], covariance * first.alpha, 1e-12);
  assert_near(mean_square_of(&s, known), 1, 1e-8);
  assert_ok(gpnn_calibrate(s.gp, &options, &second, &err));
  assert_near(second.alpha, 1, 1e-7);
  gpnn_calibrate_report_release(&first);
  gpnn_calibrate_report_release(&second);
  tear_down(&s);
}

static void scores_are_those_of_the_calibrated_parameters(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_calibrate_report calibration = {0};
  double mean[C], latent[C];
  struct gpnn_counts counts = {0};
  assert_ok(on_given(&s, C, &calibration, &err));
  gpnn_calibrate_apply(&calibration, &s.params);
  assert_ok(gpnn_model_predict(s.gp, &(struct gpnn_query){.n = C, .x = s.f.cx},
                               &(struct gpnn_latent){.mean = mean, .variance = latent}, &counts,
                               &err));
  for (size_t i = 0; i < C; i++)
    assert_near(calibration.z[i],
                (s.f.cy[i] - mean[i]) / sqrt(latent[i] + s.params.covariance.noise), 1e-10);
  gpnn_calibrate_report_release(&calibration);
  tear_down(&s);
}

static void the_standard_error_of_clusters_is_that_of_their_means(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  enum { SIZE = 8 };
  struct gpnn_calibrate_report calibration = {0};
  const struct gpnn_calibrate_options options = {
      .on = GPNN_CALIBRATE_CLUSTERS, .wanted = 75, .cluster_rows = SIZE, .seed = 1};
  assert_ok(gpnn_calibrate(s.gp, &options, &calibration, &err));
  assert_int_equal(calibration.n_rows, 80); /* whole clusters */
  double squares = 0, scale = calibration.alpha;
  for (size_t c = 0; c < 10; c++) {
    double mean = 0;
    for (size_t i = 0; i < SIZE; i++) mean += scale * pow(calibration.z[c * SIZE + i], 2) / SIZE;
    squares += pow(mean - scale, 2);
  }
  assert_close(calibration.standard_error, fmax(sqrt(squares / 90), scale * sqrt(2.0 / 80)), 1e-10);
  gpnn_calibrate_report_release(&calibration);
  tear_down(&s);
}

static double nearest_to(const struct setting *s, const double *x)
{
  double nearest = INFINITY;
  for (size_t k = 0; k < N; k++)
    nearest = fmin(nearest, hypot(x[0] - s->f.x[k * D], x[1] - s->f.x[k * D + 1]));
  return nearest / s->params.covariance.lengthscale[0];
}

/* The distance of a calibration row that as many as 'rank' do not exceed, itself among them. */
static double distance_of_rank(const struct setting *s, size_t rank)
{
  for (size_t i = 0; i < C; i++) {
    double here = nearest_to(s, s->f.cx + i * D);
    size_t n = 0;
    for (size_t k = 0; k < C; k++) n += nearest_to(s, s->f.cx + k * D) <= here;
    if (n == rank) return here;
  }
  fail_msg("no distance of rank %zu", rank);
  return NAN;
}

static void distances_are_recorded_if_there_are_enough_rows(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_calibrate_report calibration = {0};
  assert_ok(on_given(&s, 99, &calibration, &err));
  gpnn_calibrate_apply(&calibration, &s.params);
  assert_false(s.params.calibration.has_distance);
  assert_ok(on_given(&s, C, &calibration, &err));
  gpnn_calibrate_apply(&calibration, &s.params);
  assert_true(s.params.calibration.has_distance);
  static const size_t rank[GPNN_N_DISTANCES] = {60, 108, 119, 120}; /* of 120; each rounded up */
  for (size_t i = 0; i < GPNN_N_DISTANCES; i++)
    assert_close(s.params.calibration.distance[i], distance_of_rank(&s, rank[i]), 1e-12);
  gpnn_calibrate_report_release(&calibration);
  tear_down(&s);
}

/* What is written has to be what can be read. */
static void variances_that_are_not_finite_are_refused(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  double known[C] = {0}, first_y = s.f.cy[0];
  struct gpnn_heldout rows = gpnn_heldout_of_dataset(gpnn_index_dataset(s.f.index));
  rows.y = s.f.cy;
  rows.query.x = s.f.cx;
  for (int way = 0; way < 4; way++) {
    struct gpnn_calibrate_report calibration = {0};
    struct gpnn_calibrate_options options = {.by = way % 2 == 0 ? GPNN_CALIBRATE_FACTOR
                                                                : GPNN_CALIBRATE_NOISE,
                                             .wanted = C,
                                             .given = rows};
    if (way >= 2) options.given.noise = known;
    memcpy(s.f.cx, s.f.x, D * sizeof *s.f.x); /* where the variance is little more than the noise */
    s.f.cy[0] = 5e152;
    s.params.covariance.kernelscale = 1e3;
    s.params.covariance.noise = 1e-3;
    assert_fails(gpnn_calibrate(s.gp, &options, &calibration, &err), GPNN_ENUMERIC,
                 way < 2 ? "outside the range of numbers" : "no factor calibrates");
    s.f.cy[0] = first_y;
    s.f.cx[0] = 1e200;
    assert_fails(gpnn_calibrate(s.gp, &options, &calibration, &err), GPNN_ENUMERIC,
                 "is one of its inputs wrong");
    assert_null(calibration.z);
  }
  /* A factor that earlier ones have left no room for. */
  struct gpnn_calibrate_report calibration = {0};
  s.params.calibration.factor = 1e308;
  s.params.calibration.has_factor = true;
  s.params.covariance.kernelscale = 1e-4;
  s.params.covariance.noise = 1e-4;
  assert_fails(on_given(&s, C, &calibration, &err), GPNN_ENUMERIC, "outside the range of numbers");
  tear_down(&s);
}

static void calibrating_on_few_rows_that_were_fitted_is_circular(void **state)
{
  (void)state;
  double two[2] = {1, 1}, nine[9] = {0};
  struct gpnn_parameters params = {
      .covariance.n_lengthscales = 1, .covariance.lengthscale = two, .provenance.fit_rows = 299};
  assert_true(gpnn_calibrate_is_circular(&params, 299)); /* three numbers */
  assert_false(gpnn_calibrate_is_circular(&params, 300));
  params.covariance.n_lengthscales = 2;
  assert_true(gpnn_calibrate_is_circular(&params, 399));
  params.mean.n_coefficients = 3;
  assert_true(gpnn_calibrate_is_circular(&params, 699));
  assert_false(gpnn_calibrate_is_circular(&params, 700));
  params.mean.n_coefficients = 0;
  params.covariance.rotation = nine;
  params.covariance.n_rotation = 9; /* which has the lengthscales in it */
  assert_true(gpnn_calibrate_is_circular(&params, 1099));
  assert_false(gpnn_calibrate_is_circular(&params, 1100));
  params.provenance.fit_rows = 51;
  assert_true(gpnn_calibrate_is_circular(&params, 500));
  params.provenance.fit_rows = 50; /* one in ten */
  assert_false(gpnn_calibrate_is_circular(&params, 500));
  params.provenance.fit_rows = 0; /* not told */
  assert_false(gpnn_calibrate_is_circular(&params, 5));
}

static void rows_that_were_fitted_never_reduce_variances(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  for (int larger = 0; larger < 2; larger++) {
    struct gpnn_calibrate_report calibration = {0};
    s.params.covariance.kernelscale = larger ? 0.001 : 7;
    s.params.covariance.noise = larger ? 0.0005 : 3;
    double before = s.params.covariance.kernelscale;
    assert_ok(on_left_out(&s, N, 1, &calibration, &err));
    assert_int_equal(calibration.alpha > 1, larger);
    assert_int_equal(gpnn_calibrate_apply_bound(&calibration, &s.params), larger);
    assert_close(s.params.covariance.kernelscale, larger ? before * calibration.alpha : before,
                 1e-14);
    assert_int_equal(s.params.calibration.has_factor, larger);
    assert_true(s.params.calibration.has_distance);
    gpnn_calibrate_report_release(&calibration);
  }
  tear_down(&s);
}

static void no_rows_are_refused(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_calibrate_report calibration = {0};
  assert_fails(
      gpnn_calibrate(s.gp, &(struct gpnn_calibrate_options){.wanted = 5}, &calibration, &err),
      GPNN_EDATA, "no rows");
  gpnn_calibrate_report_release(&calibration);
  tear_down(&s);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(after_calibration_z2_is_one_and_nll_minimal),
      cmocka_unit_test(calibrating_again_finds_a_factor_of_one),
      cmocka_unit_test(the_standard_error_is_that_of_a_mean),
      cmocka_unit_test(the_standard_error_is_at_least_that_of_normal_errors),
      cmocka_unit_test(the_standard_error_of_a_scale_is_that_of_its_log_times_it),
      cmocka_unit_test(leaving_one_out_over_all_rows_covers_each_row_once),
      cmocka_unit_test(auto_takes_all_rows_when_they_are_too_few_for_its_precision),
      cmocka_unit_test(auto_doubles_while_the_standard_error_is_over_its_precision),
      cmocka_unit_test(by_noise_keeps_the_kernel_scale_and_makes_z2_one),
      cmocka_unit_test(with_known_noise_the_standard_error_is_that_of_the_factor),
      cmocka_unit_test(the_factor_multiplies_the_covariance_of_coefficients_too),
      cmocka_unit_test(if_no_noise_is_small_enough_a_factor_is_found),
      cmocka_unit_test(known_noise_of_the_rows_is_not_multiplied),
      cmocka_unit_test(known_noise_and_uncertain_coefficients_calibrate_once_for_all),
      cmocka_unit_test(scores_are_those_of_the_calibrated_parameters),
      cmocka_unit_test(the_standard_error_of_clusters_is_that_of_their_means),
      cmocka_unit_test(distances_are_recorded_if_there_are_enough_rows),
      cmocka_unit_test(variances_that_are_not_finite_are_refused),
      cmocka_unit_test(calibrating_on_few_rows_that_were_fitted_is_circular),
      cmocka_unit_test(rows_that_were_fitted_never_reduce_variances),
      cmocka_unit_test(no_rows_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
