/* Several rows together: their covariances, draws and sums, against a dense Gaussian process. */
#include "base/threads.h"
#include "dense.h"
#include "fixture.h"
#include "linalg/blas_threads.h"
#include "models.h"
#include "models/joint.h"
#include "random.h"
#include "stats/distributions/student.h"

enum { N = 60, D = 2, C = 14, TERMS = 1 + D };

struct setting {
  struct fixture f;
  struct gpnn_dataset data; /* with known noise */
  double lengthscale[D], noise[N], own[C];
  double coefficients[TERMS], covariance[TERMS * TERMS];
  struct gpnn_parameters params;
  struct gpnn_model *model;
};

/* A model that predicts from 'm' of N rows, with known noise and a linear mean with uncertain
 * coefficients. */
static void set_up(struct setting *s, const char *kernel, size_t n_calibration, size_t m,
                   int threads)
{
  *s = (struct setting){.lengthscale = {0.8, 1.3}, .coefficients = {0.3, -0.2, 0.5}};
  fixture_new(&s->f, N, D, n_calibration, 1);
  s->data = *s->f.data;
  s->data.noise = s->noise;
  for (size_t i = 0; i < N; i++) s->noise[i] = 0.02 * (double)(i % 5);
  for (size_t i = 0; i < C; i++) s->own[i] = 0.1 * (double)(i % 3);
  for (size_t a = 0; a < TERMS; a++)
    for (size_t b = 0; b < TERMS; b++) s->covariance[a * TERMS + b] = a == b ? 0.2 : 0.05;
  s->params = (struct gpnn_parameters){.covariance = {.kernel = gpnn_kernel_by_name(kernel),
                                                      .n_lengthscales = D,
                                                      .lengthscale = s->lengthscale,
                                                      .kernelscale = 0.7,
                                                      .noise = 0.1},
                                       .mean = {.kind = GPNN_MEAN_LINEAR,
                                                .n_coefficients = TERMS,
                                                .coefficients = s->coefficients,
                                                .covariance = s->covariance},
                                       .neighbours = m};
  const struct gpnn_channel channel = {&s->data, &s->params};
  const struct gpnn_model_options options = {.threads = threads};
  assert_ok(gpnn_model_new(&s->model, 1, &channel, &options, &err));
}

static void tear_down(struct setting *s)
{
  gpnn_model_free(s->model);
  fixture_free(&s->f);
}

/* ---- the reference ------------------------------------------------------------------------ */

static long double kernel_at(const struct setting *s, const double *a, const double *b)
{
  return 0.7L * dense_kernel(s->params.covariance.kernel->name, D, a, b, D, s->lengthscale);
}

static double distance(const double *a, const double *b, const double *lengthscale)
{
  return pow((a[0] - b[0]) / lengthscale[0], 2) + pow((a[1] - b[1]) / lengthscale[1], 2);
}

static bool is_among_nearest(const struct setting *s, size_t row, const double *x)
{
  size_t nearer = 0;
  for (size_t i = 0; i < N; i++)
    nearer += distance(s->data.x + i * D, x, s->lengthscale) <
              distance(s->data.x + row * D, x, s->lengthscale);
  return nearer < s->params.neighbours;
}

/* The weights of all training rows in the mean at 'x': zero but for the nearest. */
static void dense_weights(const struct setting *s, const double *x, long double w[N])
{
  static long double a[N * N], b[N], unused[N];
  size_t n = 0, rows[N];
  for (size_t i = 0; i < N; i++)
    if (is_among_nearest(s, i, x)) rows[n++] = i;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++)
      a[i * n + j] = kernel_at(s, s->data.x + rows[i] * D, s->data.x + rows[j] * D) +
                     (i == j ? 0.1L + s->noise[rows[i]] : 0);
    b[i] = kernel_at(s, s->data.x + rows[i] * D, x);
    unused[i] = 0;
  }
  dense_solve(n, a, b, unused);
  for (size_t i = 0; i < N; i++) w[i] = 0;
  for (size_t i = 0; i < n; i++) w[rows[i]] = b[i];
}

/* What weights 'w' leave of term 't' at 'x'. */
static long double missing(const struct setting *s, const double *x, const long double *w, size_t t)
{
  long double sum = t == 0 ? 1 : x[t - 1];
  for (size_t i = 0; i < N; i++) sum -= w[i] * (t == 0 ? 1 : s->data.x[i * D + t - 1]);
  return sum;
}

/* The covariance of the latent errors at x and z, whose means have weights v and w. */
static double dense_covariance(const struct setting *s, const double *x, const double *z,
                               const long double *v, const long double *w)
{
  long double sum = kernel_at(s, x, z);
  for (size_t i = 0; i < N; i++) {
    sum -= v[i] * kernel_at(s, s->data.x + i * D, z) + w[i] * kernel_at(s, s->data.x + i * D, x);
    sum += v[i] * w[i] * (0.1L + s->noise[i]);
    for (size_t j = 0; j < N; j++)
      sum += v[i] * w[j] * kernel_at(s, s->data.x + i * D, s->data.x + j * D);
  }
  for (size_t t = 0; t < TERMS; t++)
    for (size_t u = 0; u < TERMS; u++)
      sum += missing(s, x, v, t) * s->covariance[t * TERMS + u] * missing(s, z, w, u);
  return (double)sum;
}

static void dense_joint(const struct setting *s, double covariance[C * C])
{
  static long double w[C][N];
  for (size_t i = 0; i < C; i++) dense_weights(s, s->f.cx + i * D, w[i]);
  for (size_t i = 0; i < C; i++)
    for (size_t j = 0; j < C; j++)
      covariance[i * C + j] = dense_covariance(s, s->f.cx + i * D, s->f.cx + j * D, w[i], w[j]);
}

static const double ones[C] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* ---- covariances -------------------------------------------------------------------------- */

/* With m = n they are the posterior's. */
static void covariances_are_those_of_the_errors_of_the_means(void **state)
{
  (void)state;
  static const char *const kernels[] = {"exp", "matern32", "rbf"};
  static const size_t neighbours[] = {N, 9, 1};
  for (size_t k = 0; k < 3; k++)
    for (size_t m = 0; m < 3; m++) {
      struct setting s;
      static double expected[C * C], found[C * C], variance[C];
      struct gpnn_counts counts = {0};
      set_up(&s, kernels[k], C, neighbours[m], 2);
      const struct gpnn_query query = {.n = C, .x = s.f.cx};
      dense_joint(&s, expected);
      assert_ok(gpnn_model_joint(s.model, 0, &query, &(struct gpnn_errors){ones, ones, false},
                                 found, &err));
      for (size_t i = 0; i < C * C; i++) assert_near(found[i], expected[i], 1e-12);
      const struct gpnn_latent latent = {.variance = variance};
      assert_ok(gpnn_model_predict(s.model, &query, &latent, &counts, &err));
      for (size_t i = 0; i < C; i++) assert_near(found[i * C + i], variance[i], 1e-13);
      tear_down(&s);
    }
}

/* The posterior given all rows, by elimination. */
static void covariances_from_all_rows_are_the_posterior(void **state)
{
  (void)state;
  static long double a[N * N], b[N], c[N];
  static double found[C * C];
  struct setting s;
  set_up(&s, "matern32", C, N, 1);
  s.params.mean.covariance = NULL;
  const double *x = s.f.cx;
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j < N; j++)
      a[i * N + j] =
          kernel_at(&s, s.data.x + i * D, s.data.x + j * D) + (i == j ? 0.1L + s.noise[i] : 0);
    b[i] = kernel_at(&s, s.data.x + i * D, x);
    c[i] = 0;
  }
  dense_solve(N, a, b, c);
  assert_ok(gpnn_model_joint(s.model, 0, &(struct gpnn_query){.n = C, .x = x},
                             &(struct gpnn_errors){ones, ones, false}, found, &err));
  for (size_t j = 0; j < C; j++) {
    long double sum = kernel_at(&s, x, x + j * D);
    for (size_t i = 0; i < N; i++) sum -= b[i] * kernel_at(&s, s.data.x + i * D, x + j * D);
    assert_near(found[j], (double)sum, 1e-12);
  }
  tear_down(&s);
}

/* ---- predictions -------------------------------------------------------------------------- */

struct predicted {
  struct gpnn_predictor *predictor;
  struct gpnn_predict_rows rows;
  struct gpnn_distribution *distributions; /* rows.n, as are the following */
  double *mean, *sd;
  size_t *all; /* the numbers of the rows */
  struct gpnn_joint *joint;
};

static void predict(const struct setting *s, struct gpnn_predict_options options, size_t n,
                    const double *x, const double *noise, struct predicted *p)
{
  struct gpnn_counts counts = {0};
  *p = (struct predicted){.rows = {.n = n, .x = x, .noise = noise}};
  p->mean = gpnn_alloc(n, 1, sizeof(double));
  p->sd = gpnn_alloc(n, 1, sizeof(double));
  assert_ok(gpnn_predictor_new(&p->predictor, s->model, &options, &err));
  p->distributions = gpnn_alloc(n, 1, sizeof *p->distributions);
  assert_ok(gpnn_predict_distributions(p->predictor, &p->rows, p->distributions, &counts, &err));
  assert_ok(gpnn_predict_moments(p->predictor, n, p->distributions, p->mean, p->sd, &err));
  assert_ok(gpnn_joint_new(&p->joint, p->predictor, &p->rows, p->distributions, &err));
  p->all = gpnn_alloc(n, 1, sizeof *p->all);
  for (size_t i = 0; i < n; i++) p->all[i] = i;
}

static void predicted_release(struct predicted *p)
{
  gpnn_joint_free(p->joint);
  gpnn_predictor_free(p->predictor);
  free(p->all);
  free(p->distributions);
  free(p->mean);
  free(p->sd);
}

static double *draw(const struct predicted *p, size_t n_draws, uint64_t seed)
{
  double *draws = gpnn_alloc(p->rows.n, n_draws, sizeof *draws);
  assert_ok(gpnn_joint_draw(p->joint, 0, n_draws, seed, draws, &err));
  return draws;
}

static void sum(const struct predicted *p, double weight, double *mean, double *sd)
{
  assert_ok(gpnn_joint_sum(p->joint, 0, p->rows.n, p->all, weight, mean, sd, &err));
}

/* The covariance of observations in units of the table, whose sd is 2. */
static void dense_observations(const struct setting *s, bool latent, double covariance[C * C])
{
  dense_joint(s, covariance);
  for (size_t i = 0; i < C * C; i++) covariance[i] *= 4;
  for (size_t i = 0; i < C && !latent; i++) covariance[i * C + i] += 4 * 0.1 + s->own[i];
}

static void sums_have_the_mean_and_variance_of_a_dense_process(void **state)
{
  (void)state;
  static const size_t neighbours[] = {N, 9};
  for (int latent = 0; latent < 2; latent++)
    for (size_t m = 0; m < 2; m++) {
      struct setting s;
      struct predicted p;
      static double covariance[C * C];
      size_t members[] = {7, 2, 3, 11, 5}, n = sizeof members / sizeof *members;
      double mean, sd, variance = 0, expected = 0, weight = -0.2;
      set_up(&s, "exp", C, neighbours[m], 2);
      predict(&s, (struct gpnn_predict_options){.latent = latent}, C, s.f.cx, s.own, &p);
      assert_ok(gpnn_joint_sum(p.joint, 0, n, members, weight, &mean, &sd, &err));
      dense_observations(&s, latent, covariance);
      for (size_t i = 0; i < n; i++) {
        expected += weight * p.mean[members[i]];
        for (size_t j = 0; j < n; j++)
          variance += weight * weight * covariance[members[i] * C + members[j]];
      }
      assert_near(mean, expected, 1e-12);
      assert_near(sd, sqrt(variance), 1e-10);
      predicted_release(&p);
      tear_down(&s);
    }
}

/* A local scale multiplies the errors of the process and the noise of each row by its own factor;
 * neither what the coefficients' uncertainty adds nor known noise. */
static void sums_under_a_local_scale_have_its_factors(void **state)
{
  (void)state;
  static double whole[C * C], process[C * C], misfit[C];
  const double degrees = 5, unit = gpnn_student_unit_scale(5);
  struct gpnn_counts counts = {0};
  struct setting s;
  struct predicted p;
  double mean, sd, variance = 0, scale[C];
  set_up(&s, "exp", C, 9, 1);
  s.params.likelihood = GPNN_LIKELIHOOD_LOCAL;
  s.params.degrees = degrees;
  s.params.scale.factor = 0.8;
  s.params.scale.term[GPNN_SCALE_MISFIT] = (struct gpnn_scale_term){1.2, -3, 3};
  predict(&s, (struct gpnn_predict_options){.units = GPNN_UNITS_STANDARD}, C, s.f.cx, s.own, &p);
  assert_ok(gpnn_model_predict(s.model, &(struct gpnn_query){.n = C, .x = s.f.cx},
                               &(struct gpnn_latent){.misfit = misfit}, &counts, &err));
  dense_joint(&s, whole);
  memset(s.covariance, 0, sizeof s.covariance);
  dense_joint(&s, process);
  for (size_t i = 0; i < C; i++) {
    scale[i] = sqrt(0.8 * pow(misfit[i], 1.2));
    variance += scale[i] * scale[i] * 0.1 + s.own[i] / 4; /* the fixture's sd is 2 */
  }
  for (size_t i = 0; i < C; i++)
    for (size_t j = 0; j < C; j++)
      variance += scale[i] * scale[j] * process[i * C + j] + whole[i * C + j] - process[i * C + j];
  for (size_t t = 0; t < TERMS * TERMS; t++) s.covariance[t] = t % (TERMS + 1) == 0 ? 0.2 : 0.05;
  sum(&p, 1, &mean, &sd);
  assert_close(sd, sqrt(variance) / unit, 1e-10);
  predicted_release(&p);
  tear_down(&s);
}

static void a_single_row_is_its_own_sum(void **state)
{
  (void)state;
  struct setting s;
  struct predicted p;
  double mean = 5, sd = 5;
  set_up(&s, "matern52", C, 9, 1);
  predict(&s, (struct gpnn_predict_options){0}, C, s.f.cx, s.own, &p);
  for (size_t i = 0; i < C; i++) {
    assert_ok(gpnn_joint_sum(p.joint, 0, 1, &i, 1, &mean, &sd, &err));
    assert_true(mean == p.mean[i] && sd == p.sd[i]);
  }
  assert_ok(gpnn_joint_sum(p.joint, 0, 0, NULL, 1, &mean, &sd, &err));
  assert_true(mean == 0 && sd == 0);
  predicted_release(&p);
  tear_down(&s);
}

/* ---- draws -------------------------------------------------------------------------------- */

/* Means, and averages of products of errors, are within 4 of their standard errors, that of a
 * product being that of normal deviates. */
static void check_moments(const struct predicted *p, const double *covariance, size_t n_draws,
                          const double *draws)
{
  for (size_t i = 0; i < C; i++) {
    double mean = 0;
    for (size_t k = 0; k < n_draws; k++) mean += draws[i * n_draws + k] / (double)n_draws;
    assert_near(mean, p->mean[i], 4 * sqrt(covariance[i * C + i] / (double)n_draws));
    for (size_t j = 0; j <= i; j++) {
      double product = 0, c = covariance[i * C + j];
      for (size_t k = 0; k < n_draws; k++)
        product += (draws[i * n_draws + k] - p->mean[i]) * (draws[j * n_draws + k] - p->mean[j]);
      double error =
          sqrt((covariance[i * C + i] * covariance[j * C + j] + c * c) / (double)n_draws);
      assert_near(product / (double)n_draws, c, 4 * error);
    }
  }
}

static void draws_have_the_moments_of_a_dense_process(void **state)
{
  (void)state;
  static double covariance[C * C];
  const size_t n_draws = 10000;
  for (int latent = 0; latent < 2; latent++) {
    struct setting s;
    struct predicted p;
    set_up(&s, "matern32", C, latent ? 9 : N, 2);
    predict(&s, (struct gpnn_predict_options){.latent = latent}, C, s.f.cx, s.own, &p);
    double *draws = draw(&p, n_draws, 1);
    dense_observations(&s, latent, covariance);
    check_moments(&p, covariance, n_draws, draws);
    free(draws);
    predicted_release(&p);
    tear_down(&s);
  }
}

/* Under Student's t they divide by the same deviate, so that the squares of errors are correlated
 * even where the errors are not. */
static void draws_of_students_t_share_one_scale(void **state)
{
  (void)state;
  enum { DRAWS = 20000 };
  const double degrees = 9;
  struct setting s;
  struct predicted p;
  static double covariance[C * C];
  set_up(&s, "exp", C, N, 1);
  s.params.degrees = degrees;
  predict(&s, (struct gpnn_predict_options){0}, C, s.f.cx, s.own, &p);
  double *draws = draw(&p, DRAWS, 3), squares = 0, fourths = 0;
  dense_observations(&s, false, covariance);
  for (size_t k = 0; k < DRAWS; k++) {
    double a = draws[k] - p.mean[0], b = draws[(C - 1) * DRAWS + k] - p.mean[C - 1];
    squares += a * a / covariance[0] / DRAWS;
    fourths += a * a * b * b / covariance[0] / covariance[C * C - 1] / DRAWS;
  }
  double r = covariance[C - 1] / sqrt(covariance[0] * covariance[C * C - 1]);
  assert_near(squares, 1, 0.04);
  /* E a'2 b'2 of a bivariate t: (1 + 2 r'2) (nu - 2) / (nu - 4), against 1 + 2 r'2. */
  assert_close(fourths, (1 + 2 * r * r) * (degrees - 2) / (degrees - 4), 0.12);
  free(draws);
  predicted_release(&p);
  tear_down(&s);
}

/* A truth drawn from the process, with one scale for the rows of a sum: intervals of sums contain
 * it as often as they say. */
static void intervals_of_sums_contain_the_truth(void **state)
{
  (void)state;
  enum { TRIALS = 2000 };
  static const double levels[] = {0.5, 0.95};
  const double degrees = 4;
  struct setting s;
  struct predicted p;
  double mean, sd, *truth;
  static double covariance[C * C];
  set_up(&s, "matern32", C, 9, 1);
  predict(&s, (struct gpnn_predict_options){0}, C, s.f.cx, s.own, &p);
  dense_observations(&s, false, covariance);
  truth = draw(&p, TRIALS, 11); /* normal */
  s.params.degrees = degrees;
  sum(&p, 1, &mean, &sd);
  struct gpnn_rng rng = seeded(5);
  for (size_t l = 0; l < 2; l++) {
    double half = gpnn_student_half_width(levels[l], degrees) * gpnn_student_unit_scale(degrees);
    double inside = 0;
    for (size_t k = 0; k < TRIALS; k++) {
      double chi2 = 0, total = 0;
      for (size_t a = 0; a < (size_t)degrees; a++) chi2 += pow(gpnn_rng_normal(&rng), 2);
      double scale = gpnn_student_unit_scale(degrees) * sqrt(degrees / chi2);
      for (size_t i = 0; i < C; i++) total += scale * (truth[i * TRIALS + k] - p.mean[i]);
      inside += fabs(total) <= half * sd;
    }
    double error = sqrt(levels[l] * (1 - levels[l]) / TRIALS);
    assert_near(inside / TRIALS, levels[l], 4 * error);
  }
  free(truth);
  predicted_release(&p);
  tear_down(&s);
}

/* Training targets and truth are drawn from one process: z-scores of sums of predictions from few
 * neighbours have a variance of 1. */
static void sums_of_predictions_from_few_neighbours_err_as_they_say(void **state)
{
  (void)state;
  enum { TRIALS = 3000, ALL = N + C };
  static long double w[C][N];
  static double factor[ALL * ALL], points[ALL * D], z[ALL], y[ALL];
  struct setting s;
  struct predicted p;
  double mean, sd, squares = 0;
  set_up(&s, "exp", C, 6, 1);
  s.params.mean = (struct gpnn_mean_function){0};
  predict(&s, (struct gpnn_predict_options){.units = GPNN_UNITS_STANDARD}, C, s.f.cx, NULL, &p);
  sum(&p, 1, &mean, &sd);
  memcpy(points, s.data.x, N * D * sizeof *points);
  memcpy(points + N * D, s.f.cx, C * D * sizeof *points);
  for (size_t i = 0; i < C; i++) dense_weights(&s, s.f.cx + i * D, w[i]);
  for (size_t i = 0; i < ALL; i++) /* a Cholesky factor, row by row */
    for (size_t j = 0; j <= i; j++) {
      double rest = (double)kernel_at(&s, points + i * D, points + j * D);
      if (i == j) rest += 0.1 + (i < N ? s.noise[i] : 0);
      for (size_t k = 0; k < j; k++) rest -= factor[i * ALL + k] * factor[j * ALL + k];
      factor[i * ALL + j] = i == j ? sqrt(rest) : rest / factor[j * ALL + j];
    }
  struct gpnn_rng rng = seeded(8);
  for (size_t trial = 0; trial < TRIALS; trial++) {
    double error = 0;
    gpnn_rng_normals(&rng, ALL, z);
    for (size_t i = 0; i < ALL; i++) {
      y[i] = 0;
      for (size_t k = 0; k <= i; k++) y[i] += factor[i * ALL + k] * z[k];
    }
    for (size_t i = 0; i < C; i++) {
      error += y[N + i];
      for (size_t j = 0; j < N; j++) error -= (double)w[i][j] * y[j];
    }
    squares += error * error / (sd * sd) / TRIALS;
  }
  assert_near(squares, 1, 4 * sqrt(2.0 / TRIALS));
  predicted_release(&p);
  tear_down(&s);
}

/* ---- more rows than are drawn at once ----------------------------------------------------- */

/* Draws in blocks have the variances of rows, and of sums, which compute them otherwise. */
static void draws_in_blocks_have_the_variances_of_rows_and_sums(void **state)
{
  (void)state;
  enum { ROWS = GPNN_JOINT_WHOLE + 600, DRAWS = 600 };
  struct setting s;
  struct predicted p;
  double mean, sd, rows = 0, sums = 0;
  set_up(&s, "exp", ROWS, 7, 2);
  predict(&s, (struct gpnn_predict_options){.latent = true}, ROWS, s.f.cx, NULL, &p);
  double *draws = draw(&p, DRAWS, 1);
  sum(&p, 1, &mean, &sd);
  for (size_t k = 0; k < DRAWS; k++) {
    double total = 0;
    for (size_t i = 0; i < ROWS; i++) {
      double error = draws[i * DRAWS + k] - p.mean[i];
      total += error;
      rows += error * error / (p.sd[i] * p.sd[i]) / ROWS / DRAWS;
    }
    sums += total * total / (sd * sd) / DRAWS;
  }
  assert_near(rows, 1, 0.05);
  assert_near(sums, 1, 4 * sqrt(2.0 / DRAWS));
  free(draws);
  predicted_release(&p);
  tear_down(&s);
}

/* A smooth function is known so well from those rows of it that are drawn that small errors of
 * these could grow from block to block. */
static void smooth_draws_in_blocks_stay_within_their_variances(void **state)
{
  (void)state;
  enum { ROWS = 3 * GPNN_JOINT_WHOLE, DRAWS = 20 };
  struct setting s;
  struct predicted p;
  double worst = 0;
  set_up(&s, "rbf", ROWS, N, 2);
  s.params.covariance.kernelscale = 1.4;
  s.params.mean = (struct gpnn_mean_function){0};
  s.data.n = 11;
  s.params.neighbours = 11;
  predict(&s, (struct gpnn_predict_options){.latent = true}, ROWS, s.f.cx, NULL, &p);
  double *draws = draw(&p, DRAWS, 1);
  for (size_t i = 0; i < ROWS; i++)
    for (size_t k = 0; k < DRAWS; k++)
      worst = fmax(worst, fabs(draws[i * DRAWS + k] - p.mean[i]) / p.sd[i]);
  assert_true(worst < 7); /* of 61440 normal deviates */
  free(draws);
  predicted_release(&p);
  tear_down(&s);
}

/* ---- what results depend on --------------------------------------------------------------- */

static void results_do_not_depend_on_threads(void **state)
{
  (void)state;
  enum { ROWS = GPNN_JOINT_WHOLE + 100, DRAWS = 3 };
  double *draws[2], sd[2], mean;
  for (int t = 0; t < 2; t++) {
    struct setting s;
    struct predicted p;
    set_up(&s, "matern32", ROWS, 12, 1 + 2 * t);
    predict(&s, (struct gpnn_predict_options){0}, ROWS, s.f.cx, NULL, &p);
    draws[t] = draw(&p, DRAWS, 7);
    sum(&p, 1, &mean, &sd[t]);
    predicted_release(&p);
    tear_down(&s);
  }
  assert_memory_equal(draws[0], draws[1], ROWS * DRAWS * sizeof(double));
  assert_true(sd[0] == sd[1]);
  free(draws[0]);
  free(draws[1]);
}

static void draws_depend_on_the_seed_and_not_on_their_number(void **state)
{
  (void)state;
  struct setting s;
  struct predicted p;
  set_up(&s, "matern32", C, 12, 1);
  s.params.degrees = 5;
  predict(&s, (struct gpnn_predict_options){0}, C, s.f.cx, NULL, &p);
  double *few = draw(&p, 3, 7), *many = draw(&p, 40, 7), *other = draw(&p, 3, 8);
  for (size_t i = 0; i < C; i++)
    for (size_t k = 0; k < 3; k++) {
      assert_near(few[i * 3 + k], many[i * 40 + k], 1e-12);
      assert_true(few[i * 3 + k] != other[i * 3 + k]);
    }
  assert_ok(gpnn_joint_draw(p.joint, 0, 0, 1, NULL, &err));
  free(few);
  free(many);
  free(other);
  predicted_release(&p);
  tear_down(&s);
}

/* At training rows, of a function without noise. */
static void rows_without_variance_are_drawn_at_their_means(void **state)
{
  (void)state;
  struct setting s;
  struct predicted p;
  set_up(&s, "exp", C, 12, 1);
  s.params.covariance.noise = 0;
  s.params.mean.covariance = NULL;
  memset(s.noise, 0, sizeof s.noise);
  predict(&s, (struct gpnn_predict_options){0}, 3, s.data.x, NULL, &p);
  memset(p.sd, 0, 3 * sizeof *p.sd);
  double *draws = draw(&p, 2, 7);
  for (size_t i = 0; i < 3; i++)
    for (size_t k = 0; k < 2; k++) assert_near(draws[i * 2 + k], p.mean[i], 1e-6);
  free(draws);
  predicted_release(&p);
  tear_down(&s);
}

/* A function without noise has one value at one place, and at a training row that row's. */
static void rows_at_one_place_are_drawn_alike(void **state)
{
  (void)state;
  struct setting s;
  struct predicted p;
  double x[3 * D];
  set_up(&s, "matern32", C, 12, 1);
  s.params.covariance.noise = 1e-8;
  memset(s.noise, 0, sizeof s.noise);
  for (size_t j = 0; j < D; j++) {
    x[j] = x[D + j] = s.f.cx[j];
    x[2 * D + j] = s.data.x[5 * D + j];
  }
  predict(&s, (struct gpnn_predict_options){.latent = true}, 3, x, NULL, &p);
  double *draws = draw(&p, 20, 7);
  for (size_t k = 0; k < 20; k++) {
    assert_near(draws[k], draws[20 + k], 1e-3 * p.sd[0]);
    assert_near(draws[40 + k], 3 + 2 * s.data.y[5], 1e-2);
  }
  free(draws);
  predicted_release(&p);
  tear_down(&s);
}

/* ---- offsets and warping functions -------------------------------------------------------- */

static void offsets_are_part_of_draws_and_add_up_in_sums(void **state)
{
  (void)state;
  struct setting s;
  for (int units = 0; units < 2; units++) {
    const struct gpnn_predict_options options = {.units = units == 0 ? GPNN_UNITS_ORIGINAL
                                                                     : GPNN_UNITS_STANDARD};
    struct predicted p;
    struct gpnn_counts counts = {0};
    double offset[C], total = 0, mean, sd, mean_with, sd_with;
    set_up(&s, "matern32", C, 9, 1);
    predict(&s, options, C, s.f.cx, s.own, &p);
    double *without = draw(&p, 3, 5);
    sum(&p, 0.5, &mean, &sd);
    for (size_t i = 0; i < C; i++) total += offset[i] = 3 * (double)i - 4;
    p.rows.offset = offset;
    assert_ok(gpnn_predict_distributions(p.predictor, &p.rows, p.distributions, &counts, &err));
    double *with = draw(&p, 3, 5), unit = units == 0 ? 1 : 2; /* the fixture's sd is 2 */
    for (size_t i = 0; i < 3 * (size_t)C; i++)
      assert_near(with[i], without[i] + offset[i / 3] / unit, 1e-12);
    sum(&p, 0.5, &mean_with, &sd_with);
    assert_near(mean_with, mean + 0.5 * total / unit, 1e-12);
    assert_true(sd_with == sd);
    free(with);
    free(without);
    predicted_release(&p);
    tear_down(&s);
  }
}

static double logarithm(const void *context, double y)
{
  (void)context;
  return log(y);
}

static double exponential(const void *context, double w)
{
  (void)context;
  return exp(w);
}

static double minus_logarithm(const void *context, double y)
{
  (void)context;
  return -log(y);
}

/* In standardised units w has the units of the latent function with a warping function and without.
 */
static void draws_go_through_the_warping_function_row_by_row(void **state)
{
  (void)state;
  const struct gpnn_warp warp = {NULL, logarithm, exponential, minus_logarithm, 0.6, 3, 0, NULL};
  const struct gpnn_predict_options options = {.units = GPNN_UNITS_STANDARD};
  enum { DRAWS = 50 };
  struct setting s;
  struct predicted p;
  double mean, sd;
  size_t n_ends = 0;
  set_up(&s, "matern32", C, 9, 1);
  predict(&s, options, C, s.f.cx, s.own, &p);
  double *plain = draw(&p, DRAWS, 5);
  for (size_t i = 0; i < C; i++) {
    p.distributions[i].warp = &warp;
    p.distributions[i].offset = (double)i;
  }
  double *warped = draw(&p, DRAWS, 5);
  for (size_t i = 0; i < C; i++)
    for (size_t k = i * DRAWS; k < (i + 1) * DRAWS; k++) {
      double y = exp(plain[k]);
      n_ends += y < 0.6 || y > 3;
      assert_near(warped[k], fmin(fmax(y, 0.6), 3) + (double)i, 1e-13);
    }
  assert_true(n_ends > 10 && n_ends < C * DRAWS - 10);
  assert_fails(gpnn_joint_sum(p.joint, 0, C, p.all, 1, &mean, &sd, &err), GPNN_EINVAL,
               "no closed form");
  free(plain);
  free(warped);
  predicted_release(&p);
  tear_down(&s);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(covariances_are_those_of_the_errors_of_the_means),
      cmocka_unit_test(covariances_from_all_rows_are_the_posterior),
      cmocka_unit_test(sums_have_the_mean_and_variance_of_a_dense_process),
      cmocka_unit_test(sums_under_a_local_scale_have_its_factors),
      cmocka_unit_test(a_single_row_is_its_own_sum),
      cmocka_unit_test(draws_have_the_moments_of_a_dense_process),
      cmocka_unit_test(draws_of_students_t_share_one_scale),
      cmocka_unit_test(intervals_of_sums_contain_the_truth),
      cmocka_unit_test(sums_of_predictions_from_few_neighbours_err_as_they_say),
      cmocka_unit_test(draws_in_blocks_have_the_variances_of_rows_and_sums),
      cmocka_unit_test(smooth_draws_in_blocks_stay_within_their_variances),
      cmocka_unit_test(results_do_not_depend_on_threads),
      cmocka_unit_test(draws_depend_on_the_seed_and_not_on_their_number),
      cmocka_unit_test(rows_without_variance_are_drawn_at_their_means),
      cmocka_unit_test(rows_at_one_place_are_drawn_alike),
      cmocka_unit_test(offsets_are_part_of_draws_and_add_up_in_sums),
      cmocka_unit_test(draws_go_through_the_warping_function_row_by_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
