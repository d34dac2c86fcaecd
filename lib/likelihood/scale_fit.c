/* The scale of predictive distributions, estimated. */
#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"
#include "likelihood/scale_private.h"
#include "linalg/arrays.h"
#include "linalg/optimize.h"
#include "stats/distributions/student.h"

/* ---- the sample --------------------------------------------------------------------------- */

/* The rows, reduced to what the likelihood needs. */
struct sample {
  size_t n;
  double *error, *model, *rest; /* n: y - mean; the squared scale that the factor multiplies, and
                                   what is added to it */
  double *feature;              /* n by GPNN_SCALE_FEATURES */
  struct gpnn_arrays *arrays;   /* owned; what frees the arrays */
};

static enum gpnn_status set_row(struct sample *sample, const struct gpnn_scale_rows *rows, size_t i,
                                struct gpnn_error *err)
{
  const struct gpnn_latent_row row = {.mean = rows->mean[i],
                                      .variance = rows->variance[i],
                                      .mean_variance =
                                          rows->mean_variance == NULL ? 0 : rows->mean_variance[i],
                                      .misfit = rows->misfit[i],
                                      .nearest = rows->nearest == NULL ? 1 : rows->nearest[i]};
  double noise = rows->own_noise == NULL ? rows->noise : rows->own_noise[i];
  sample->error[i] = rows->y[i] - row.mean;
  sample->model[i] = gpnn_scale_process(&row) + noise;
  sample->rest[i] = row.mean_variance + (rows->known_noise == NULL ? 0 : rows->known_noise[i]);
  for (int j = 0; j < GPNN_SCALE_FEATURES; j++)
    sample->feature[i * GPNN_SCALE_FEATURES + (size_t)j] =
        gpnn_scale_feature((enum gpnn_scale_feature)j, &row, noise);
  if (!(sample->model[i] + sample->rest[i] > 0) && sample->error[i] != 0)
    return gpnn_fail(err, GPNN_ENUMERIC, "a row is predicted with an sd of 0, but with an error");
  if (isfinite(sample->error[i]) && isfinite(sample->model[i] + sample->rest[i])) return GPNN_OK;
  return gpnn_fail(err, GPNN_ENUMERIC, "the error of a row is not finite");
}

static enum gpnn_status sample_init(struct sample *sample, const struct gpnn_scale_rows *rows,
                                    struct gpnn_error *err)
{
  sample->n = rows->n;
  sample->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(sample->error, rows->n, 1), GPNN_ARRAY(sample->model, rows->n, 1),
                  GPNN_ARRAY(sample->rest, rows->n, 1),
                  GPNN_ARRAY(sample->feature, rows->n, GPNN_SCALE_FEATURES));
  if (sample->arrays == NULL) return gpnn_fail_memory(err, "for the scale of predictions");
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < rows->n && status == GPNN_OK; i++) status = set_row(sample, rows, i, err);
  return status;
}

/* ---- the likelihood ----------------------------------------------------------------------- */

/*
 * Coordinates: log S, log(nu - 2), and the coefficients of the features used.  Means and standard
 * deviations of their normal prior, and their bounds:
 */
enum { FACTOR, DEGREES, FIRST_COEFFICIENT, MOST_COORDINATES = 2 + GPNN_SCALE_FEATURES };
static const double usual_degrees = 8, spread_of_degrees = 1.5, spread_of_others = 1;
static const double most_degrees = 1000, most_log_factor = 60, most_coefficient = 2;

/* A law being estimated from the rows outside [skip_begin, skip_end). */
struct problem {
  const struct sample *sample;
  size_t skip_begin, skip_end, step; /* of the others, every 'step'-th row is used */
  size_t n_features;
  enum gpnn_scale_feature feature[GPNN_SCALE_FEATURES];
  struct gpnn_scale_term range[GPNN_SCALE_FEATURES]; /* of each feature used */
  double low, high;                                  /* range of the sum of their terms */
};

static size_t next_row(const struct problem *p, size_t i)
{
  return i >= p->skip_begin && i < p->skip_end ? p->skip_end : i;
}

static double clipped(const struct problem *p, size_t i, size_t k)
{
  double value = p->sample->feature[i * GPNN_SCALE_FEATURES + (size_t)p->feature[k]];
  return fmin(fmax(value, p->range[k].low), p->range[k].high);
}

/* The sum of the terms of a row. */
static double sum_of_terms(const struct problem *p, const double *u, size_t i)
{
  double sum = 0;
  for (size_t k = 0; k < p->n_features; k++) sum += u[FIRST_COEFFICIENT + k] * clipped(p, i, k);
  return fmin(fmax(sum, p->low), p->high);
}

/* The derivative of the logarithm of the gamma function: recurrence, then its asymptotic series. */
static double digamma(double x)
{
  double sum = 0;
  for (; x < 8; x++) sum -= 1 / x;
  double u = 1 / (x * x);
  return sum + log(x) - 0.5 / x - u * (1.0 / 12 - u * (1.0 / 120 - u * (1.0 / 252 - u / 240)));
}

/* The negative log density of row 'i', but for the constant that depends on the degrees of freedom
 * only; adds its derivatives, with that of the constant, to 'gradient' (may be NULL). */
static double loss_of_row(const struct problem *p, const double *u, size_t i, double *gradient)
{
  const struct sample *s = p->sample;
  double degrees = 2 + exp(u[DEGREES]);
  double of_model = exp(u[FACTOR] + sum_of_terms(p, u, i)) * s->model[i],
         square = of_model + s->rest[i];
  double z2 = s->error[i] * s->error[i] / square;
  if (s->error[i] == 0) z2 = 0;
  double share = z2 / (degrees + z2);
  double slope = (0.5 - (degrees + 1) / 2 * share) * (square > 0 ? of_model / square : 1);
  double loss = 0.5 * log(square) + (degrees + 1) / 2 * log1p(z2 / degrees);
  if (gradient == NULL) return loss;
  gradient[FACTOR] += slope;
  for (size_t k = 0; k < p->n_features; k++)
    gradient[FIRST_COEFFICIENT + k] += slope * clipped(p, i, k);
  double by_degrees = 0.5 * (digamma(degrees / 2) - digamma((degrees + 1) / 2) + 1 / degrees +
                             log1p(z2 / degrees) - (degrees + 1) / degrees * share);
  gradient[DEGREES] += by_degrees * (degrees - 2);
  return loss;
}

/* That constant. */
static double constant_of(const double *u)
{
  return -log(gpnn_student_density(0, 2 + exp(u[DEGREES])));
}

/* Adds the negative log density of the prior. */
static double prior(const struct problem *p, const double *u, double *gradient)
{
  double sum = 0;
  for (size_t j = 0; j < FIRST_COEFFICIENT + p->n_features; j++) {
    double usual = j == DEGREES ? log(usual_degrees - 2) : 0;
    double spread = j == DEGREES ? spread_of_degrees : spread_of_others;
    double off = (u[j] - usual) / spread;
    sum += 0.5 * off * off;
    if (gradient != NULL) gradient[j] += off / spread;
  }
  return sum;
}

static enum gpnn_status objective(void *context, size_t n, const double *u, double *f,
                                  double *gradient, struct gpnn_error *err)
{
  const struct problem *p = context;
  (void)err;
  for (size_t j = 0; gradient != NULL && j < n; j++) gradient[j] = 0;
  double constant = constant_of(u);
  *f = prior(p, u, gradient);
  for (size_t i = next_row(p, 0); i < p->sample->n; i = next_row(p, i + p->step))
    *f += constant + loss_of_row(p, u, i, gradient);
  return GPNN_OK;
}

/* ---- estimation --------------------------------------------------------------------------- */

/* Sets the ranges of the features from the rows used. */
static void set_ranges(struct problem *p)
{
  const struct sample *s = p->sample;
  for (size_t k = 0; k < p->n_features; k++) {
    struct gpnn_scale_term *range = &p->range[k];
    *range = (struct gpnn_scale_term){0, INFINITY, -INFINITY};
    for (size_t i = next_row(p, 0); i < s->n; i = next_row(p, i + p->step)) {
      double value = s->feature[i * GPNN_SCALE_FEATURES + (size_t)p->feature[k]];
      range->low = fmin(range->low, value);
      range->high = fmax(range->high, value);
    }
  }
}

/* Sets the starting point and the bounds. */
static void start(const struct problem *p, double *u, double *lower, double *upper)
{
  static const double most_exponent = 50;
  u[FACTOR] = 0;
  lower[FACTOR] = -most_log_factor;
  upper[FACTOR] = most_log_factor;
  u[DEGREES] = log(usual_degrees - 2);
  lower[DEGREES] = log(GPNN_SCALE_FEWEST_DEGREES - 2);
  upper[DEGREES] = log(most_degrees - 2);
  for (size_t k = 0; k < p->n_features; k++) {
    double largest = fmax(fabs(p->range[k].low), fabs(p->range[k].high));
    double bound = fmin(most_coefficient, most_exponent / fmax(largest, 1));
    u[FIRST_COEFFICIENT + k] = k == 0 ? bound / 4 : 0;
    lower[FIRST_COEFFICIENT + k] = -bound;
    upper[FIRST_COEFFICIENT + k] = bound;
  }
}

/* Sets the range of the sum of terms to that of the rows used: features that are each within their
 * range may together be where no row was, and promise any scale there. */
static void set_range_of_sum(struct problem *p, const double *u)
{
  double low = INFINITY, high = -INFINITY;
  for (size_t i = next_row(p, 0); i < p->sample->n; i = next_row(p, i + p->step)) {
    const double sum = sum_of_terms(p, u, i);
    low = fmin(low, sum);
    high = fmax(high, sum);
  }
  p->low = low;
  p->high = high;
}

static enum gpnn_status estimate(struct problem *p, double *u, struct gpnn_error *err)
{
  enum { EVALUATIONS = 200 };
  double lower[MOST_COORDINATES], upper[MOST_COORDINATES];
  struct gpnn_optimize_report report;
  set_ranges(p);
  start(p, u, lower, upper);
  p->low = -INFINITY;
  p->high = INFINITY;
  enum gpnn_status status = gpnn_optimize_lbfgs(objective, p, FIRST_COEFFICIENT + p->n_features,
                                                EVALUATIONS, 0, lower, upper, u, &report, err);
  if (status == GPNN_OK) set_range_of_sum(p, u);
  return status;
}

/* The problem of all rows: local scales depend on the misfit, or on every feature. */
static struct problem problem_of(const struct sample *sample, enum gpnn_likelihood likelihood,
                                 bool all_features)
{
  struct problem p = {.sample = sample, .step = 1};
  if (likelihood != GPNN_LIKELIHOOD_LOCAL) return p;
  size_t n = all_features ? GPNN_SCALE_FEATURES : 1;
  for (; p.n_features < n; p.n_features++)
    p.feature[p.n_features] = (enum gpnn_scale_feature)p.n_features;
  return p;
}

/* ---- rows kept out ------------------------------------------------------------------------ */

enum { FOLDS = 5 };

/* What laws estimated from other rows say of each row; an array that is NULL is not wanted. */
struct crossed {
  double *loss, *crps;
  double *error;   /* without its sign, in units of the scale but for S */
  double *central; /* probability of smaller errors */
};

static void cross_row(const struct problem *p, const double *u, size_t i,
                      const struct crossed *crossed)
{
  const struct sample *s = p->sample;
  if (crossed->loss != NULL) crossed->loss[i] = constant_of(u) + loss_of_row(p, u, i, NULL);
  if (crossed->error == NULL && crossed->crps == NULL) return;
  double error = fabs(s->error[i]), of_model = exp(sum_of_terms(p, u, i)) * s->model[i];
  double scale = sqrt(exp(u[FACTOR]) * of_model + s->rest[i]), degrees = 2 + exp(u[DEGREES]);
  if (crossed->crps != NULL) crossed->crps[i] = scale * gpnn_student_crps(error / scale, degrees);
  if (crossed->error == NULL) return;
  crossed->error[i] = error == 0 ? 0 : error / sqrt(of_model + s->rest[i]);
  double below = error == 0 ? 0.5 : gpnn_student_cdf(error / scale, degrees);
  crossed->central[i] = 2 * below - 1;
}

/* Estimates a law without each of the folds, from at most 'most' rows (0: any number). */
static enum gpnn_status cross(struct problem p, size_t folds, size_t most,
                              const struct crossed *crossed, struct gpnn_error *err)
{
  size_t n = p.sample->n;
  enum gpnn_status status = GPNN_OK;
  if (folds > n) folds = n;
  for (size_t f = 0; f < folds && status == GPNN_OK; f++) {
    double u[MOST_COORDINATES];
    p.skip_begin = f * n / folds;
    p.skip_end = (f + 1) * n / folds;
    size_t used = n - (p.skip_end - p.skip_begin);
    p.step = most == 0 || used <= most ? 1 : used / most;
    if (used == 0) p.skip_begin = p.skip_end = 0; /* a single row has no others */
    status = estimate(&p, u, err);
    for (size_t i = f * n / folds; i < (f + 1) * n / folds && status == GPNN_OK; i++)
      cross_row(&p, u, i, crossed);
  }
  return status;
}

enum gpnn_status gpnn_scale_cross_losses(const struct gpnn_scale_rows *rows,
                                         enum gpnn_likelihood likelihood, bool all_features,
                                         size_t folds, size_t most, double *loss, double *crps,
                                         struct gpnn_error *err)
{
  struct sample sample = {0};
  enum gpnn_status status = sample_init(&sample, rows, err);
  if (status == GPNN_OK)
    status = cross(problem_of(&sample, likelihood, all_features), folds, most,
                   &(struct crossed){.loss = loss, .crps = crps}, err);
  gpnn_arrays_free(sample.arrays);
  return status;
}

/* True if the mean of 'b' is below that of 'a' by more than the standard error of the difference.
 */
static bool is_clearly_lower(size_t n, const double *b, const double *a)
{
  double mean = 0, squares = 0;
  for (size_t i = 0; i < n; i++) mean += (a[i] - b[i]) / (double)n;
  for (size_t i = 0; i < n; i++) squares += pow(a[i] - b[i] - mean, 2);
  return n > 1 && mean > sqrt(squares / (double)(n - 1) / (double)n);
}

/* Decides whether all features pay. */
static enum gpnn_status compare_features(const struct sample *sample, bool *pays,
                                         struct gpnn_error *err)
{
  enum { FEWEST = 100 };
  double *few = gpnn_alloc(2 * sample->n, 1, sizeof *few);
  *pays = false;
  if (few == NULL) return gpnn_fail_memory(err, "for the scale of predictions");
  double *many = few + sample->n;
  enum gpnn_status status = GPNN_OK;
  if (sample->n >= FEWEST) {
    status = cross(problem_of(sample, GPNN_LIKELIHOOD_LOCAL, false), FOLDS, 0,
                   &(struct crossed){.loss = few}, err);
    if (status == GPNN_OK)
      status = cross(problem_of(sample, GPNN_LIKELIHOOD_LOCAL, true), FOLDS, 0,
                     &(struct crossed){.loss = many}, err);
    if (status == GPNN_OK) *pays = is_clearly_lower(sample->n, many, few);
  }
  free(few);
  return status;
}

/* ---- coverage ----------------------------------------------------------------------------- */

/* Central intervals whose coverage is checked. */
static const double inner_level = 0.5, outer_level = 0.95;

/* True if the intervals of a level cover a share of the rows that chance hardly explains. */
static bool is_off(size_t n, const double *central, double level)
{
  static const double standard_errors = 1.5;
  size_t inside = 0;
  for (size_t i = 0; i < n; i++) inside += central[i] <= level;
  return fabs((double)inside / (double)n - level) >
         standard_errors * sqrt(level * (1 - level) / (double)n);
}

/* The degrees of freedom whose outer interval is 'ratio' times as wide as the inner one. */
static double degrees_of_ratio(double ratio)
{
  enum { STEPS = 60 };
  double low = log(GPNN_SCALE_FEWEST_DEGREES - 2), high = log(most_degrees - 2);
  for (int step = 0; step < STEPS; step++) {
    double middle = (low + high) / 2, degrees = 2 + exp(middle);
    bool wider = gpnn_student_half_width(outer_level, degrees) >
                 ratio * gpnn_student_half_width(inner_level, degrees);
    *(wider ? &low : &high) = middle;
  }
  return 2 + exp(low);
}

/* Sets S and the degrees of freedom so that the inner and the outer interval cover their share of
 * the rows; if no degrees of freedom suit both, S is a compromise.  The two intervals say nothing
 * of the few rows beyond them, rare events among zeros for instance, which the likelihood has seen:
 * so tails never become lighter than is most likely. */
static void match_coverage(size_t n, double *error, double *u)
{
  qsort(error, n, sizeof *error, gpnn_compare_doubles);
  double inner = error[(size_t)(inner_level * (double)n)];
  double outer = error[(size_t)(outer_level * (double)n)];
  if (!(inner > 0)) return;
  double degrees = fmin(degrees_of_ratio(outer / inner), 2 + exp(u[DEGREES]));
  u[FACTOR] = log(inner / gpnn_student_half_width(inner_level, degrees)) +
              log(outer / gpnn_student_half_width(outer_level, degrees));
  u[DEGREES] = log(degrees - 2);
}

/*
 * No t distribution suits errors that are sometimes exactly nothing: a few rows with an enormous
 * density then outweigh all others, and intervals no longer cover what they promise.  And a law
 * that many numbers were fitted to promises a little too much.  So coverage is checked on rows kept
 * out of the estimation, and corrected if it is off.
 */
static enum gpnn_status correct_coverage(const struct problem *p, double *u, struct gpnn_error *err)
{
  enum { FEWEST = 200 };
  size_t n = p->sample->n;
  if (n < FEWEST) return GPNN_OK;
  double *error = gpnn_alloc(2 * n, 1, sizeof *error);
  if (error == NULL) return gpnn_fail_memory(err, "for the scale of predictions");
  const struct crossed crossed = {.error = error, .central = error + n};
  enum gpnn_status status = cross(*p, FOLDS, 0, &crossed, err);
  if (status == GPNN_OK &&
      (is_off(n, crossed.central, inner_level) || is_off(n, crossed.central, outer_level)))
    match_coverage(n, error, u);
  free(error);
  return status;
}

/* ---- the law ------------------------------------------------------------------------------ */

static void set_law(const struct problem *p, enum gpnn_likelihood likelihood, const double *u,
                    struct gpnn_scale_law *law)
{
  *law = (struct gpnn_scale_law){
      .likelihood = likelihood, .scale.factor = exp(u[FACTOR]), .degrees = 2 + exp(u[DEGREES])};
  for (size_t k = 0; k < p->n_features; k++) {
    bool is_zero = p->range[k].low == 0 && p->range[k].high == 0; /* as models without neighbours
                                                                      have their misfit */
    law->scale.term[p->feature[k]] = p->range[k];
    law->scale.term[p->feature[k]].coefficient = is_zero ? 0 : u[FIRST_COEFFICIENT + k];
  }
  if (p->n_features < 2) return; /* the range of the feature is enough */
  law->scale.low = p->low;
  law->scale.high = p->high;
}

enum gpnn_status gpnn_scale_fit(const struct gpnn_scale_rows *rows, enum gpnn_likelihood likelihood,
                                bool all_features, struct gpnn_scale_law *law,
                                struct gpnn_error *err)
{
  struct sample sample = {0};
  double u[MOST_COORDINATES];
  bool pays = false;
  enum gpnn_status status = sample_init(&sample, rows, err);
  if (status == GPNN_OK && all_features && likelihood == GPNN_LIKELIHOOD_LOCAL)
    status = compare_features(&sample, &pays, err);
  if (status == GPNN_OK) {
    struct problem p = problem_of(&sample, likelihood, pays);
    status = estimate(&p, u, err);
    if (status == GPNN_OK) status = correct_coverage(&p, u, err);
    if (status == GPNN_OK) set_law(&p, likelihood, u, law);
  }
  gpnn_arrays_free(sample.arrays);
  return status;
}

/* ---- standard error ------------------------------------------------------------------------- */

/* The problem whose features are those of 'law'. */
static struct problem problem_like(const struct sample *sample, const struct gpnn_scale_law *law)
{
  bool others = false;
  for (int j = 1; j < GPNN_SCALE_FEATURES; j++)
    others = others || law->scale.term[j].low != law->scale.term[j].high;
  return problem_of(sample, law->likelihood, others);
}

/* The jackknife of log S over 'groups' runs of whole clusters. */
static enum gpnn_status jackknife(struct problem p, size_t clusters, size_t cluster_rows,
                                  size_t groups, double *standard_error, struct gpnn_error *err)
{
  double sum = 0, squares = 0;
  enum gpnn_status status = GPNN_OK;
  for (size_t g = 0; g < groups && status == GPNN_OK; g++) {
    double u[MOST_COORDINATES] = {0};
    p.skip_begin = g * clusters / groups * cluster_rows;
    p.skip_end = g + 1 == groups ? p.sample->n : (g + 1) * clusters / groups * cluster_rows;
    status = estimate(&p, u, err);
    sum += u[FACTOR];
    squares += u[FACTOR] * u[FACTOR];
  }
  double n = (double)groups;
  *standard_error = sqrt(fmax(squares - sum * sum / n, 0) * (n - 1) / n);
  return status;
}

enum gpnn_status gpnn_scale_standard_error(const struct gpnn_scale_rows *rows,
                                           const struct gpnn_scale_law *law, double *standard_error,
                                           struct gpnn_error *err)
{
  enum { MOST_GROUPS = 20 };
  struct sample sample = {0};
  size_t cluster_rows = rows->cluster_rows > 0 ? rows->cluster_rows : 1;
  size_t clusters = rows->n / cluster_rows;
  size_t groups = clusters < MOST_GROUPS ? clusters : MOST_GROUPS;
  *standard_error = INFINITY;
  if (groups < 2) return GPNN_OK;
  enum gpnn_status status = sample_init(&sample, rows, err);
  if (status == GPNN_OK)
    status =
        jackknife(problem_like(&sample, law), clusters, cluster_rows, groups, standard_error, err);
  gpnn_arrays_free(sample.arrays);
  return status;
}
