/*
 * What holds of every prediction, tried on rows, kernels and parameters drawn at random.
 *
 * Each trial is made from its number alone; a failure names it.  Results are compared with a
 * direct solve in long double over neighbours that a full scan finds.  How far they may be off is
 * worked out for each: a factorisation is exact for a matrix whose element (i, j) is off by m + 1
 * roundings of the diagonal, as the kernel and the distances are by some more; which changes the
 * mean by |w| times |alpha| of that, the variance by |w| twice, w = K^-1 k and alpha = K^-1 y.
 */
#include "assess/calibrate.h"
#include "base/threads.h"
#include "dense.h"
#include "fixture.h"
#include "kernel/kernel.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "linalg/factors/cholesky.h"
#include "linalg/panels/panels.h"
#include "models.h"
#include "models/predict.h"

#include <float.h>

enum { POINTS = 6, MOST_ROWS = 28, MOST_INPUTS = 6 };

/* An argument makes it more or fewer: make properties TRIALS=5000. */
static size_t n_trials = 200;

struct trial {
  size_t number;
  struct gpnn_rng rng;
  struct fixture f; /* its calibration rows are the points to predict */
  char kernel[GPNN_KERNEL_BYTES];
  struct gpnn_parameters params;
  double lengthscale[MOST_INPUTS];
};

/* |actual - expected| <= tolerance, or the trial is named. */
#define check_near(trial, actual, expected, tolerance)                                \
  do {                                                                                \
    double a_ = (actual), e_ = (expected), t_ = (tolerance);                          \
    if (!(fabs(a_ - e_) <= t_))                                                       \
      fail_msg("trial %zu (%s, n %zu, d %zu, m %zu): %s is %.17g, not %.17g (off by " \
               "%.3g, allowed %.3g)",                                                 \
               (trial)->number, (trial)->kernel, (trial)->f.n, (trial)->f.d,          \
               (trial)->params.neighbours, #actual, a_, e_, a_ - e_, t_);             \
  } while (0)

#define check_true(trial, what)                                                                 \
  do {                                                                                          \
    if (!(what))                                                                                \
      fail_msg("trial %zu (%s, n %zu, d %zu, m %zu): not %s", (trial)->number, (trial)->kernel, \
               (trial)->f.n, (trial)->f.d, (trial)->params.neighbours, #what);                  \
  } while (0)

/* ---- trials ------------------------------------------------------------------------------- */

static double any_power(struct gpnn_rng *rng, double low, double high)
{
  return pow(10, low + (high - low) * gpnn_rng_uniform(rng));
}

static size_t any_count(struct gpnn_rng *rng, size_t low, size_t high)
{
  return low + (size_t)gpnn_rng_below(rng, high - low + 1);
}

static void draw_kernel(struct trial *t)
{
  static const char *const names[] = {"exp", "matern32", "matern52", "rbf"};
  size_t which = gpnn_rng_below(&t->rng, 5);
  /* Under 1/2 correlations of rows next to each other hang on the last digits of these. */
  double nu = any_power(&t->rng, log10(0.5), 1.3);
  if (which < 4)
    snprintf(t->kernel, sizeof t->kernel, "%s", names[which]);
  else
    snprintf(t->kernel, sizeof t->kernel, "matern:%.3g", nu);
  assert_true(
      gpnn_kernel_parse(t->kernel, &t->params.covariance.kernel, &t->params.covariance.smoothness));
}

/* Parameters of any scale, with noise that is no less than 'least' of the kernel scale. */
static void draw_params(struct trial *t, double least)
{
  struct gpnn_parameters *params = &t->params;
  size_t d = t->f.d;
  *params = (struct gpnn_parameters){.covariance.lengthscale = t->lengthscale};
  draw_kernel(t);
  params->covariance.n_lengthscales = gpnn_rng_below(&t->rng, 2) == 0 ? 1 : d;
  for (size_t j = 0; j < params->covariance.n_lengthscales; j++)
    params->covariance.lengthscale[j] = any_power(&t->rng, -0.7, 1) * sqrt((double)d);
  params->covariance.kernelscale = any_power(&t->rng, -4, 4);
  params->covariance.noise = params->covariance.kernelscale * any_power(&t->rng, log10(least), 1);
  params->neighbours = any_count(&t->rng, 1, t->f.n + 3);
}

/* Rows here and there, some of them the same as others, and some nearly. */
static void draw_rows(struct trial *t)
{
  struct fixture *f = &t->f;
  double same = gpnn_rng_below(&t->rng, 2) == 0 ? 0 : 0.2;
  fixture_rows(&t->rng, f->n, f->d, 1, f->x, f->y);
  fixture_rows(&t->rng, f->c, f->d, 1, f->cx, f->cy);
  for (size_t i = 1; i < f->n; i++) {
    if (gpnn_rng_uniform(&t->rng) >= same) continue;
    size_t other = gpnn_rng_below(&t->rng, i);
    memcpy(f->x + i * f->d, f->x + other * f->d, f->d * sizeof *f->x);
    if (gpnn_rng_below(&t->rng, 2) == 0) f->x[i * f->d] *= 1 + 4 * DBL_EPSILON;
  }
  memcpy(f->cx, f->x, f->d * sizeof *f->x);                           /* a training row */
  for (size_t j = 0; j < f->d; j++) f->cx[f->d + j] = 30 + (double)j; /* far away */
}

static void fixture_room(struct fixture *f, size_t n, size_t d)
{
  *f = (struct fixture){.n = n, .d = d, .c = POINTS};
  f->x = gpnn_alloc(n, d, sizeof(double));
  f->y = gpnn_alloc(n, 1, sizeof(double));
  f->cx = gpnn_alloc(POINTS, d, sizeof(double));
  f->cy = gpnn_alloc(POINTS, 1, sizeof(double));
  assert_true(f->x != NULL && f->y != NULL && f->cx != NULL && f->cy != NULL);
}

static void trial_new(struct trial *t, size_t number, double least_noise)
{
  *t = (struct trial){.number = number};
  gpnn_rng_init(&t->rng, number, GPNN_RNG_TEST);
  size_t n = any_count(&t->rng, 2, MOST_ROWS), d = any_count(&t->rng, 1, MOST_INPUTS);
  fixture_room(&t->f, n, d);
  draw_rows(t);
  draw_params(t, least_noise);
  fixture_write(&t->f);
}

static void trial_free(struct trial *t)
{
  fixture_free(&t->f);
}

/* The same trial with other rows or parameters, which the caller changes before it writes it. */
static void trial_copy(struct trial *copy, const struct trial *t)
{
  const struct fixture *f = &t->f;
  *copy = *t;
  copy->params.covariance.lengthscale = copy->lengthscale;
  fixture_room(&copy->f, f->n, f->d);
  memcpy(copy->f.x, f->x, f->n * f->d * sizeof *f->x);
  memcpy(copy->f.y, f->y, f->n * sizeof *f->y);
  memcpy(copy->f.cx, f->cx, POINTS * f->d * sizeof *f->cx);
}

/* Predicts rows 'points' of the trial. */
static void predict(const struct trial *t, enum gpnn_precision precision, size_t n,
                    const double *points, double *mean, double *latent, struct gpnn_counts *counts)
{
  struct gpnn_model *gp = NULL;
  const struct gpnn_model_options options = {.precision = precision, .threads = 1};
  assert_ok(make_model_with(&gp, gpnn_index_dataset(t->f.index), &t->params, options, &err));
  assert_ok(gpnn_model_predict(gp, &(struct gpnn_query){.n = n, .x = points},
                               &(struct gpnn_latent){.mean = mean, .variance = latent}, counts,
                               &err));
  gpnn_model_free(gp);
}

/* ---- the direct solve --------------------------------------------------------------------- */

struct direct {
  double mean, latent;
  double mean_error, latent_error; /* that are to be allowed */
};

static double lengthscale_of(const struct trial *t, size_t j)
{
  return t->lengthscale[t->params.covariance.n_lengthscales > 1 ? j : 0];
}

static long double distance2(const struct trial *t, size_t row, const double *point)
{
  long double sum = 0;
  for (size_t j = 0; j < t->f.d; j++) {
    long double off = ((long double)t->f.x[row * t->f.d + j] - point[j]) / lengthscale_of(t, j);
    sum += off * off;
  }
  return sum;
}

/* The m rows nearest to the point; false: rounding decides which they are. */
static bool find_nearest(const struct trial *t, const double *point, size_t m, size_t *rows)
{
  long double distance[MOST_ROWS] = {0};
  for (size_t i = 0; i < t->f.n; i++) {
    long double own = distance2(t, i, point);
    size_t at = i;
    for (; at > 0 && own < distance[at - 1]; at--) {
      distance[at] = distance[at - 1];
      rows[at] = rows[at - 1];
    }
    distance[at] = own;
    rows[at] = i;
  }
  return m == t->f.n || distance[m] - distance[m - 1] > 1e-12L * (1 + distance[m]);
}

/* Roundings by which an element of the covariance may be off. */
static double roundings(const struct trial *t, size_t m)
{
  double largest = 0, least = INFINITY;
  for (size_t k = 0; k < t->f.n * t->f.d; k++) largest = fmax(largest, fabs(t->f.x[k]));
  for (size_t j = 0; j < t->params.covariance.n_lengthscales; j++)
    least = fmin(least, t->lengthscale[j]);
  double kernel = strncmp(t->kernel, "matern:", 7) == 0 ? 500 : 10;
  return (double)m + kernel + 4 * (double)t->f.d * largest / least;
}

/* What 'm' rows say of the point, with 'jitter' as further noise. */
static struct direct solve_directly(const struct trial *t, size_t m, const size_t *rows,
                                    const double *point, double jitter)
{
  const struct gpnn_parameters *p = &t->params;
  size_t d = t->f.d;
  long double k[MOST_ROWS * MOST_ROWS], c[MOST_ROWS], w[MOST_ROWS], alpha[MOST_ROWS];
  for (size_t a = 0; a < m; a++) {
    const double *x = t->f.x + rows[a] * d;
    for (size_t b = 0; b <= a; b++)
      k[a * m + b] = k[b * m + a] =
          p->covariance.kernelscale * dense_kernel(t->kernel, d, x, t->f.x + rows[b] * d,
                                                   p->covariance.n_lengthscales,
                                                   p->covariance.lengthscale);
    k[a * m + a] += (long double)p->covariance.noise + jitter;
    w[a] = c[a] = p->covariance.kernelscale * dense_kernel(t->kernel, d, x, point,
                                                           p->covariance.n_lengthscales,
                                                           p->covariance.lengthscale);
    alpha[a] = t->f.y[rows[a]];
  }
  dense_solve(m, k, w, alpha);
  long double mean = 0, latent = p->covariance.kernelscale, size_w = 1, size_alpha = 0;
  for (size_t a = 0; a < m; a++) {
    mean += c[a] * alpha[a];
    latent -= c[a] * w[a];
    size_w += fabsl(w[a]);
    size_alpha += fabsl(alpha[a]);
  }
  double one =
      2 * DBL_EPSILON * roundings(t, m) * (p->covariance.kernelscale + p->covariance.noise);
  return (struct direct){(double)mean, (double)latent, one * (double)(size_w * size_alpha),
                         one * (double)(size_w * size_w)};
}

static size_t neighbours_of(const struct trial *t)
{
  return t->params.neighbours < t->f.n ? t->params.neighbours : t->f.n;
}

/* ---- properties --------------------------------------------------------------------------- */

/* Whatever the kernel, the rows, the parameters, and the number of neighbours. */
static void predictions_are_those_of_the_direct_solve(void **state)
{
  (void)state;
  size_t n_compared = 0;
  for (size_t number = 1; number <= n_trials; number++) {
    struct trial t;
    double mean[POINTS], latent[POINTS], mixed_mean[POINTS], mixed_latent[POINTS];
    struct gpnn_counts counts = {0};
    trial_new(&t, number, 1e-9);
    predict(&t, GPNN_PRECISION_DOUBLE, POINTS, t.f.cx, mean, latent, &counts);
    predict(&t, GPNN_PRECISION_MIXED, POINTS, t.f.cx, mixed_mean, mixed_latent, &counts);
    check_true(&t, counts.jitter.n == 0);
    for (size_t i = 0; i < POINTS; i++) {
      size_t rows[MOST_ROWS], m = neighbours_of(&t);
      const double *point = t.f.cx + i * t.f.d;
      if (!find_nearest(&t, point, m, rows)) continue;
      struct direct direct = solve_directly(&t, m, rows, point, 0);
      check_near(&t, mean[i], direct.mean, direct.mean_error);
      check_near(&t, latent[i], fmax(direct.latent, 0), direct.latent_error);
      check_near(&t, mixed_mean[i], direct.mean, direct.mean_error + 1e-8);
      check_near(&t, mixed_latent[i], fmax(direct.latent, 0),
                 direct.latent_error + 1e-7 * direct.latent);
      n_compared++;
    }
    trial_free(&t);
  }
  assert_true(n_compared >= n_trials * POINTS * 3 / 4);
}

static void never(void *context, double *a)
{
  (void)context;
  (void)a;
  fail_msg("refilled though noise makes the covariance definite");
}

/* The same by one set of instructions: v'v and v'u of all rows, k and y below them. */
static void solve_by_set(const struct trial *t, const struct gpnn_panel_set *set,
                         const double *point, double *mean, double *latent)
{
  const struct gpnn_parameters *p = &t->params;
  size_t n = t->f.n, d = t->f.d, stride = (n + 2 + 7) / 8 * 8, lanes = set->lanes;
  double *columns = gpnn_alloc(d, stride, sizeof *columns), jitter;
  double *a = gpnn_alloc(gpnn_panel_room(n, n + 2, lanes), 1, sizeof *a);
  assert_true(columns != NULL && a != NULL);
  for (size_t j = 0; j < d; j++)
    for (size_t i = 0; i <= n; i++)
      columns[j * stride + i] = (i < n ? t->f.x[i * d + j] : point[j]) / lengthscale_of(t, j);
  gpnn_kernel_fill_panels(p->covariance.kernel, p->covariance.smoothness, set, n, n + 1, d, stride,
                          columns, a);
  for (size_t i = 0; i < n; i++) {
    a[gpnn_panel_at(n, lanes, i, i)] += p->covariance.noise / p->covariance.kernelscale;
    a[gpnn_panel_at(n, lanes, n + 1, i)] = t->f.y[i];
  }
  assert_ok(gpnn_cholesky_factor_panels(set, n, n + 2, a, 1, never, NULL, &jitter, &err));
  *mean = 0;
  *latent = p->covariance.kernelscale;
  for (size_t i = 0; i < n; i++) {
    double v = a[gpnn_panel_at(n, lanes, n, i)];
    *mean += v * a[gpnn_panel_at(n, lanes, n + 1, i)];
    *latent -= p->covariance.kernelscale * v * v;
  }
  free(columns);
  free(a);
}

static void every_set_of_instructions_solves_alike(void **state)
{
  (void)state;
  const struct gpnn_panel_set *set;
  for (size_t number = 1; number <= n_trials; number++) {
    struct trial t;
    size_t rows[MOST_ROWS];
    trial_new(&t, number, 1e-9);
    for (size_t i = 0; i < t.f.n; i++) rows[i] = i;
    const double *point = t.f.cx + number % POINTS * t.f.d;
    struct direct direct = solve_directly(&t, t.f.n, rows, point, 0);
    for (size_t s = 0; (set = gpnn_panels_at(s)) != NULL; s++) {
      double mean, latent;
      solve_by_set(&t, set, point, &mean, &latent);
      check_near(&t, mean, direct.mean, direct.mean_error);
      check_near(&t, latent, direct.latent, direct.latent_error);
    }
    trial_free(&t);
  }
}

/* Twins make the covariance singular, whatever rounding makes of it: jitter is added and told, and
 * what comes out is what that much noise gives. */
static void without_noise_twins_take_jitter_that_is_told(void **state)
{
  (void)state;
  for (size_t number = 1; number <= n_trials; number++) {
    struct trial t;
    size_t rows[MOST_ROWS];
    trial_new(&t, number, 1e-9);
    struct trial twins;
    trial_copy(&twins, &t);
    memcpy(twins.f.x + (t.f.n - 1) * t.f.d, twins.f.x, t.f.d * sizeof *t.f.x);
    twins.params.covariance.noise = 0;
    twins.params.neighbours = t.f.n;
    fixture_write(&twins.f);
    for (size_t i = 0; i < t.f.n; i++) rows[i] = i;
    for (size_t i = 0; i < POINTS; i++) {
      const double *point = t.f.cx + i * t.f.d;
      struct gpnn_counts counts = {0};
      double mean, latent;
      predict(&twins, GPNN_PRECISION_DOUBLE, 1, point, &mean, &latent, &counts);
      check_true(&twins, counts.jitter.n == 1 && counts.jitter.most > 0);
      struct direct direct = solve_directly(&twins, t.f.n, rows, point, counts.jitter.most);
      check_near(&twins, mean, direct.mean, direct.mean_error);
      check_near(&twins, latent, fmax(direct.latent, 0), direct.latent_error);
      check_true(&twins, latent >= 0);
    }
    trial_free(&twins);
    trial_free(&t);
  }
}

/* Compares all points of two trials that are to say the same, the second in units that make the
 * mean 'unit' times as large; 'slack' times what is allowed to one of them. */
static void compare(const struct trial *a, const struct trial *b, double unit, double slack)
{
  double mean[2][POINTS], latent[2][POINTS];
  struct gpnn_counts counts = {0};
  predict(a, GPNN_PRECISION_DOUBLE, POINTS, a->f.cx, mean[0], latent[0], &counts);
  predict(b, GPNN_PRECISION_DOUBLE, POINTS, b->f.cx, mean[1], latent[1], &counts);
  for (size_t i = 0; i < POINTS; i++) {
    size_t rows[MOST_ROWS], m = neighbours_of(a);
    const double *point = a->f.cx + i * a->f.d;
    if (!find_nearest(a, point, m, rows)) continue;
    struct direct direct = solve_directly(a, m, rows, point, 0);
    check_near(a, mean[1][i] / unit, mean[0][i], slack * direct.mean_error + DBL_MIN);
    check_near(a, latent[1][i] / unit / unit, latent[0][i], slack * direct.latent_error);
  }
}

/* A random order of 0 .. n-1. */
static void shuffle(struct gpnn_rng *rng, size_t n, size_t *order)
{
  for (size_t i = 0; i < n; i++) order[i] = i;
  for (size_t i = n; i-- > 1;) {
    size_t at = gpnn_rng_below(rng, i + 1), held = order[i];
    order[i] = order[at];
    order[at] = held;
  }
}

static void the_order_of_training_rows_does_not_matter(void **state)
{
  (void)state;
  for (size_t number = 1; number <= n_trials / 3; number++) {
    struct trial t, other;
    size_t order[MOST_ROWS];
    trial_new(&t, number, 1e-6);
    trial_copy(&other, &t);
    shuffle(&t.rng, t.f.n, order);
    for (size_t i = 0; i < t.f.n; i++) {
      memcpy(other.f.x + order[i] * t.f.d, t.f.x + i * t.f.d, t.f.d * sizeof *t.f.x);
      other.f.y[order[i]] = t.f.y[i];
    }
    fixture_write(&other.f);
    compare(&t, &other, 1, 2);
    trial_free(&other);
    trial_free(&t);
  }
}

static void permute_columns(size_t n, size_t d, const size_t *order, const double *from, double *to)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < d; j++) to[i * d + order[j]] = from[i * d + j];
}

static void the_order_of_columns_does_not_matter(void **state)
{
  (void)state;
  for (size_t number = 1; number <= n_trials / 3; number++) {
    struct trial t, other;
    size_t order[MOST_INPUTS];
    trial_new(&t, number, 1e-6);
    trial_copy(&other, &t);
    shuffle(&t.rng, t.f.d, order);
    permute_columns(t.f.n, t.f.d, order, t.f.x, other.f.x);
    permute_columns(POINTS, t.f.d, order, t.f.cx, other.f.cx);
    if (t.params.covariance.n_lengthscales > 1)
      permute_columns(1, t.f.d, order, t.lengthscale, other.lengthscale);
    fixture_write(&other.f);
    compare(&t, &other, 1, 2);
    trial_free(&other);
    trial_free(&t);
  }
}

/* Powers of two change no digit, so that nothing at all may change. */
static void units_of_inputs_and_target_do_not_matter(void **state)
{
  (void)state;
  for (size_t number = 1; number <= n_trials / 3; number++) {
    struct trial t, other;
    trial_new(&t, number, 1e-6);
    trial_copy(&other, &t);
    double unit = ldexp(1, (int)any_count(&t.rng, 0, 200) - 100);
    double y_unit = ldexp(1, (int)any_count(&t.rng, 0, 200) - 100);
    for (size_t k = 0; k < t.f.n * t.f.d; k++) other.f.x[k] *= unit;
    for (size_t k = 0; k < POINTS * t.f.d; k++) other.f.cx[k] *= unit;
    for (size_t j = 0; j < t.params.covariance.n_lengthscales; j++) other.lengthscale[j] *= unit;
    for (size_t i = 0; i < t.f.n; i++) other.f.y[i] *= y_unit;
    other.params.covariance.kernelscale *= y_unit * y_unit;
    other.params.covariance.noise *= y_unit * y_unit;
    fixture_write(&other.f);
    compare(&t, &other, y_unit, 0);
    trial_free(&other);
    trial_free(&t);
  }
}

/* Whole numbers, whose differences stay exact. */
static void the_origin_of_inputs_does_not_matter(void **state)
{
  (void)state;
  for (size_t number = 1; number <= n_trials / 3; number++) {
    struct trial t, other;
    trial_new(&t, number, 1e-6);
    trial_copy(&other, &t);
    double shift = floor(any_power(&t.rng, 0, 6));
    for (size_t k = 0; k < t.f.n * t.f.d; k++) other.f.x[k] = t.f.x[k] + shift;
    for (size_t k = 0; k < POINTS * t.f.d; k++) other.f.cx[k] = t.f.cx[k] + shift;
    fixture_write(&other.f);
    compare(&other, &t, 1, 2); /* what is allowed grows with the numbers */
    trial_free(&other);
    trial_free(&t);
  }
}

/* In any order, given twice, and in parts: each row has the very same answer. */
static void other_points_change_no_bit_of_an_answer(void **state)
{
  (void)state;
  for (size_t number = 1; number <= n_trials / 3; number++) {
    struct trial t;
    size_t order[2 * POINTS];
    double mean[POINTS], latent[POINTS], twice_mean[2 * POINTS], twice_latent[2 * POINTS];
    double twice[2 * POINTS * MOST_INPUTS];
    struct gpnn_counts counts = {0};
    trial_new(&t, number, 1e-6);
    shuffle(&t.rng, 2 * POINTS, order);
    for (size_t i = 0; i < 2 * POINTS; i++)
      memcpy(twice + order[i] * t.f.d, t.f.cx + i % POINTS * t.f.d, t.f.d * sizeof *twice);
    size_t first = any_count(&t.rng, 0, 2 * POINTS);
    static const enum gpnn_precision precisions[] = {GPNN_PRECISION_DOUBLE, GPNN_PRECISION_MIXED};
    for (size_t p = 0; p < 2; p++) {
      enum gpnn_precision precision = precisions[p];
      predict(&t, precision, POINTS, t.f.cx, mean, latent, &counts);
      predict(&t, precision, first, twice, twice_mean, twice_latent, &counts);
      predict(&t, precision, 2 * POINTS - first, twice + first * t.f.d, twice_mean + first,
              twice_latent + first, &counts);
      for (size_t i = 0; i < 2 * POINTS; i++) {
        check_near(&t, twice_mean[order[i]], mean[i % POINTS], 0);
        check_near(&t, twice_latent[order[i]], latent[i % POINTS], 0);
      }
    }
    trial_free(&t);
  }
}

/* More is known with every neighbour; and of an observation never more than its noise allows. */
static void a_neighbour_more_never_raises_the_variance(void **state)
{
  (void)state;
  for (size_t number = 1; number <= n_trials; number++) {
    struct trial t;
    size_t numbers[MOST_ROWS], rows[MOST_ROWS];
    double mean[MOST_ROWS * POINTS], latent[MOST_ROWS * POINTS];
    struct gpnn_counts counts = {0};
    struct gpnn_model *gp = NULL;
    trial_new(&t, number, 1e-9);
    size_t n = t.f.n;
    for (size_t k = 0; k < n; k++) rows[k] = k, numbers[k] = k + 1;
    assert_ok(make_model(&gp, gpnn_index_dataset(t.f.index), &t.params, n, 1, &err));
    assert_ok(gpnn_model_predict_each(
        gp, &(struct gpnn_query){.n = POINTS, .x = t.f.cx}, n, numbers,
        &(struct gpnn_latent){.mean = mean, .variance = latent}, &counts, &err));
    for (size_t i = 0; i < POINTS; i++) {
      double before = t.params.covariance.kernelscale;
      struct direct direct = solve_directly(&t, n, rows, t.f.cx + i * t.f.d, 0);
      for (size_t k = 0; k < n; k++) {
        double now = latent[k * POINTS + i];
        check_true(&t, now >= 0);
        check_true(&t, now <= before + direct.latent_error);
        before = now;
      }
    }
    gpnn_model_free(gp);
    trial_free(&t);
  }
}

static void an_observation_varies_no_less_than_its_noise(void **state)
{
  (void)state;
  for (size_t number = 1; number <= n_trials; number++) {
    struct trial t;
    double mean[POINTS], sd[POINTS];
    struct gpnn_predict_options options = {.units = GPNN_UNITS_ORIGINAL};
    struct gpnn_counts counts = {0};
    struct gpnn_model *gp = NULL;
    struct gpnn_predictor *predictor = NULL;
    trial_new(&t, number, 1e-9);
    assert_ok(make_model(&gp, gpnn_index_dataset(t.f.index), &t.params, 0, 1, &err));
    const struct gpnn_predict_rows rows = {.n = POINTS, .x = t.f.cx};
    assert_ok(gpnn_predictor_new(&predictor, gp, &options, &err));
    assert_ok(gpnn_predict(predictor, &rows, mean, sd, &counts, &err));
    double unit = t.f.dataset.scaling.y_sd, noise = t.params.covariance.noise;
    for (size_t i = 0; i < POINTS; i++) {
      double variance = sd[i] * sd[i] / (unit * unit);
      check_true(&t, isfinite(mean[i]));
      check_true(&t, variance >= noise * (1 - 4 * DBL_EPSILON));
      check_true(&t, variance <= (noise + t.params.covariance.kernelscale) * (1 + 4 * DBL_EPSILON));
    }
    gpnn_predictor_free(predictor);
    gpnn_model_free(gp);
    trial_free(&t);
  }
}

/* Mean of z^2 on the trial's points by the direct solve, their values being f.cy. */
static double direct_mean_square(const struct trial *t, double factor, bool *is_sure)
{
  double sum = 0;
  *is_sure = true;
  for (size_t i = 0; i < POINTS; i++) {
    size_t rows[MOST_ROWS], m = neighbours_of(t);
    const double *point = t->f.cx + i * t->f.d;
    *is_sure &= find_nearest(t, point, m, rows);
    struct direct direct = solve_directly(t, m, rows, point, 0);
    double error = t->f.cy[i] - direct.mean;
    sum += error * error / (factor * (fmax(direct.latent, 0) + t->params.covariance.noise));
  }
  return sum / POINTS;
}

/* The factor makes the mean of z^2 one, multiplies kernel scale and noise, and the sd of every
 * prediction by its root; no mean moves. */
static void calibration_multiplies_variances_and_moves_no_mean(void **state)
{
  (void)state;
  for (size_t number = 1; number <= n_trials / 3; number++) {
    struct trial t;
    double mean[2][POINTS], latent[2][POINTS];
    bool is_sure;
    struct gpnn_counts counts = {0};
    struct gpnn_calibrate_report found = {0};
    struct gpnn_model *gp = NULL;
    trial_new(&t, number, 1e-3);
    predict(&t, GPNN_PRECISION_DOUBLE, POINTS, t.f.cx, mean[0], latent[0], &counts);
    double wanted = direct_mean_square(&t, 1, &is_sure), scale = t.params.covariance.kernelscale;
    assert_ok(make_model(&gp, gpnn_index_dataset(t.f.index), &t.params, 0, 1, &err));
    const struct gpnn_calibrate_options options = {
        .wanted = POINTS, .given = gpnn_heldout_of_dataset(gpnn_index_dataset(t.f.index))};
    assert_ok(gpnn_calibrate(gp, &options, &found, &err));
    gpnn_model_free(gp);
    gpnn_calibrate_apply(&found, &t.params);
    if (is_sure) check_near(&t, found.alpha, wanted, 1e-7 * wanted);
    if (is_sure) check_near(&t, direct_mean_square(&t, 1, &is_sure), 1, 1e-7);
    check_near(&t, t.params.covariance.kernelscale, found.alpha * scale,
               1e-15 * found.alpha * scale);
    predict(&t, GPNN_PRECISION_DOUBLE, POINTS, t.f.cx, mean[1], latent[1], &counts);
    for (size_t i = 0; i < POINTS; i++) {
      check_near(&t, mean[1][i], mean[0][i], 1e-11 * (1 + fabs(mean[0][i])));
      check_near(&t, latent[1][i], found.alpha * latent[0][i], 1e-11 * found.alpha * scale);
    }
    gpnn_calibrate_report_release(&found);
    trial_free(&t);
  }
}

/* Standardised, rows of other units and another origin are the same rows, and so are rows that
 * all stand there twice. */
static void standardised_rows_have_no_unit_and_no_origin(void **state)
{
  (void)state;
  static const enum gpnn_scaling_method methods[] = {GPNN_SCALING_SCALE, GPNN_SCALING_WHITEN};
  for (size_t number = 1; number <= n_trials; number++) {
    struct trial t;
    trial_new(&t, number, 1e-3);
    size_t n = t.f.n, d = t.f.d;
    double x[2 * MOST_ROWS * MOST_INPUTS], y[2 * MOST_ROWS], is[MOST_INPUTS], was[MOST_INPUTS];
    double unit = any_power(&t.rng, -100, 100), origin = 10 * gpnn_rng_normal(&t.rng);
    double y_unit = any_power(&t.rng, -300, 300);
    for (size_t k = 0; k < 2 * n * d; k++) x[k] = (t.f.x[k % (n * d)] + origin) * unit;
    for (size_t i = 0; i < 2 * n; i++) y[i] = (t.f.y[i % n] + origin) * y_unit;
    for (size_t k = 0; k < sizeof methods / sizeof *methods && n > d + 1; k++) {
      struct gpnn_scaling a = {0}, b = {0};
      assert_ok(gpnn_scaling_learn(&a, methods[k], 0, n, d, NULL, t.f.x, t.f.y, &err));
      assert_ok(gpnn_scaling_learn(&b, methods[k], 0, 2 * n, d, NULL, x, y, &err));
      /* Copies may leave too few rows to fill all directions; whether they do is rounding. */
      bool is_full = a.n_out == d && b.n_out == d;
      check_true(&t, is_full || k == 1);
      check_near(&t, b.y_sd / y_unit, a.y_sd, 1e-12 * a.y_sd);
      check_near(&t, b.y_mean / y_unit, a.y_mean + origin, 1e-13 * (1 + fabs(origin)));
      for (size_t i = 0; i < n && k == 0; i++) {
        gpnn_scaling_apply(&a, t.f.x + i * d, was);
        gpnn_scaling_apply(&b, x + i * d, is);
        for (size_t j = 0; j < d; j++) check_near(&t, is[j], was[j], 1e-12 * (1 + fabs(was[j])));
      }
      for (size_t i = 0; i < n && k == 1 && is_full;
           i++) { /* the axes of what is white are anyone's */
        gpnn_scaling_apply(&a, t.f.x + i * d, was);
        gpnn_scaling_apply(&b, x + i * d, is);
        check_near(&t, cblas_ddot((int)d, is, 1, is, 1), cblas_ddot((int)d, was, 1, was, 1), 1e-9);
      }
      gpnn_scaling_release(&a);
      gpnn_scaling_release(&b);
    }
    trial_free(&t);
  }
}

int main(int argc, char **argv)
{
  if (argc > 1) n_trials = strtoul(argv[1], NULL, 10);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(predictions_are_those_of_the_direct_solve),
      cmocka_unit_test(every_set_of_instructions_solves_alike),
      cmocka_unit_test(without_noise_twins_take_jitter_that_is_told),
      cmocka_unit_test(the_order_of_training_rows_does_not_matter),
      cmocka_unit_test(the_order_of_columns_does_not_matter),
      cmocka_unit_test(units_of_inputs_and_target_do_not_matter),
      cmocka_unit_test(the_origin_of_inputs_does_not_matter),
      cmocka_unit_test(other_points_change_no_bit_of_an_answer),
      cmocka_unit_test(a_neighbour_more_never_raises_the_variance),
      cmocka_unit_test(an_observation_varies_no_less_than_its_noise),
      cmocka_unit_test(calibration_multiplies_variances_and_moves_no_mean),
      cmocka_unit_test(standardised_rows_have_no_unit_and_no_origin),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
