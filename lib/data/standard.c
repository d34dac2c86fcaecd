#include "data/standard.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "base/mem.h"

static const char *const names[] = {
    [GPNN_STANDARD_NONE] = "none",
    [GPNN_STANDARD_SCALE] = "scale",
    [GPNN_STANDARD_WHITEN] = "whiten",
};

bool gpnn_standard_by_name(const char *name, enum gpnn_standard_method *method)
{
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(name, names[i]) != 0) continue;
    *method = (enum gpnn_standard_method)i;
    return true;
  }
  return false;
}

const char *gpnn_standard_name(enum gpnn_standard_method method)
{
  return names[method];
}

/*
 * Mean and population standard deviation of 'n' values 'stride' apart.  In units of their
 * own largest magnitude, about the middle of their range, so that squares neither overflow
 * nor vanish and values far from zero lose no digits; the mean is corrected by the mean
 * of what remains.  The sd is 0 where it is nothing but the rounding of the values: less
 * than a few units in the last place of the largest.
 */
static void moments(size_t n, const double *values, size_t stride, double *mean, double *sd)
{
  double low = values[0], high = values[0];
  for (size_t i = 1; i < n; i++) {
    low = fmin(low, values[i * stride]);
    high = fmax(high, values[i * stride]);
  }
  double unit = fmax(fabs(low), fabs(high));
  *mean = low;
  *sd = 0;
  if (high - low <= fmax(4 * DBL_EPSILON * unit, DBL_MIN)) return;
  int exponent;
  frexp(unit, &exponent);
  double middle = ldexp(low, -exponent) / 2 + ldexp(high, -exponent) / 2, sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) sum += ldexp(values[i * stride], -exponent) - middle;
  double centre = middle + sum / (double)n, rest = 0;
  for (size_t i = 0; i < n; i++) {
    double deviation = ldexp(values[i * stride], -exponent) - centre;
    rest += deviation;
    squares += deviation * deviation;
  }
  rest /= (double)n;
  *mean = ldexp(centre + rest, exponent);
  *sd = ldexp(sqrt(fmax(squares / (double)n - rest * rest, 0)), exponent);
}

static uint32_t group_of(const struct gpnn_feature *features, size_t j)
{
  return features == NULL ? (uint32_t)j : features[j].group;
}

/* The first feature after 'j' that is not of its group. */
static size_t group_end(const struct gpnn_feature *features, size_t n_in, size_t j)
{
  size_t end = j + 1;
  while (end < n_in && group_of(features, end) == group_of(features, j)) end++;
  return end;
}

/* Root of the sum of squares, over- and underflow avoided. */
static double length_of(size_t n, const double *values)
{
  double length = 0;
  for (size_t i = 0; i < n; i++) length = hypot(length, values[i]);
  return length;
}

/* weight_j = 1 / (sqrt(kept groups) sd of the group), 0 for one that does not vary. */
static enum gpnn_status learn_scale(struct gpnn_standard *standard, size_t n,
                                    const struct gpnn_feature *features, const double *x,
                                    struct gpnn_error *err)
{
  size_t n_in = standard->n_in, n_groups = 0;
  double *weight = standard->weight = gpnn_alloc(n_in, 1, sizeof *weight);
  if (weight == NULL) return gpnn_fail_memory(err, "for the standardisation");
  for (size_t j = 0; j < n_in; j++) moments(n, x + j, n_in, &standard->mean[j], &weight[j]);
  for (size_t j = 0, end; j < n_in; j = end) {
    end = group_end(features, n_in, j);
    double sd = length_of(end - j, weight + j);
    for (size_t k = j; k < end; k++) weight[k] = sd;
    if (sd > 0) standard->n_out += end - j;
    n_groups += sd > 0;
  }
  double root = sqrt((double)n_groups);
  for (size_t j = 0; j < n_in; j++) {
    if (weight[j] == 0) continue;
    weight[j] = features != NULL && features[j].has_unit ? 1 : 1 / root / weight[j];
  }
  return GPNN_OK;
}

/*
 * Lower triangle of the population covariance, column-major.  Rows are centred in blocks,
 * each block a d by rows column-major matrix (our rows are its columns), so that memory
 * beyond the result does not grow with n.
 */
static enum gpnn_status covariance(size_t n, size_t d, const double *x, const double *mean,
                                   double *cov, struct gpnn_error *err)
{
  enum { BLOCK = 256 };
  double *centred = gpnn_alloc(BLOCK, d, sizeof *centred);
  if (centred == NULL) return gpnn_fail_memory(err, "for a covariance");
  for (size_t from = 0; from < n; from += BLOCK) {
    size_t rows = n - from < BLOCK ? n - from : BLOCK;
    for (size_t i = 0; i < rows; i++)
      for (size_t j = 0; j < d; j++) centred[i * d + j] = x[(from + i) * d + j] - mean[j];
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (blasint)d, (blasint)rows, 1, centred,
                (blasint)d, 1, cov, (blasint)d);
  }
  free(centred);
  for (size_t i = 0; i < d * d; i++) cov[i] /= (double)n;
  return GPNN_OK;
}

/* An eigenvector's sign is arbitrary: the entry of largest magnitude shall be positive. */
static double sign_of(size_t d, const double *vector)
{
  size_t largest = 0;
  for (size_t j = 1; j < d; j++)
    if (fabs(vector[j]) > fabs(vector[largest])) largest = j;
  return vector[largest] < 0 ? -1 : 1;
}

/*
 * A direction varies unless its variance is rounding beside what it would be were the columns
 * uncorrelated.  Comparing with the largest eigenvalue instead would drop columns for being
 * measured in large units: in one of the published data sets, a column whose standard deviation
 * is 1e-7 of another's.
 */
static bool direction_varies(size_t d, double lambda, const double *u, const double *variance)
{
  double uncorrelated = 0;
  for (size_t j = 0; j < d; j++) uncorrelated += u[j] * u[j] * variance[j];
  return lambda > 1e-12 * uncorrelated;
}

/* Rows of W = diag(1/sqrt(lambda + eps)) U' / sqrt(d) for the directions that vary, in
 * ascending order of lambda; 'vectors' holds U column-major. */
static enum gpnn_status fill_weights(struct gpnn_standard *standard, const double *lambda,
                                     const double *vectors, const double *variance,
                                     struct gpnn_error *err)
{
  size_t d = standard->n_in;
  standard->weight = gpnn_alloc(d, d, sizeof *standard->weight);
  if (standard->weight == NULL) return gpnn_fail_memory(err, "for the standardisation");
  for (size_t i = 0; i < d; i++) {
    const double *u = vectors + i * d;
    if (!direction_varies(d, lambda[i], u, variance)) continue;
    double *row = standard->weight + standard->n_out++ * d;
    double factor = sign_of(d, u) / sqrt(lambda[i] + standard->eps) / sqrt((double)d);
    for (size_t j = 0; j < d; j++) row[j] = factor * u[j];
  }
  return GPNN_OK;
}

static enum gpnn_status learn_whiten(struct gpnn_standard *standard, size_t n, const double *x,
                                     struct gpnn_error *err)
{
  size_t d = standard->n_in;
  double *cov = gpnn_alloc(d, d, sizeof *cov), *lambda = gpnn_alloc(d, 1, sizeof *lambda);
  double *variance = gpnn_alloc(d, 1, sizeof *variance);
  bool varies = false;
  enum gpnn_status status = GPNN_OK;
  if (cov == NULL || lambda == NULL || variance == NULL) {
    status = gpnn_fail_memory(err, "for the covariance of the inputs");
    goto out;
  }
  for (size_t j = 0; j < d; j++) {
    double sd;
    moments(n, x + j, d, &standard->mean[j], &sd);
    variance[j] = sd * sd;
    varies = varies || sd > 0;
  }
  if (!varies) goto out; /* the caller says so */
  status = covariance(n, d, x, standard->mean, cov, err);
  for (size_t i = 0; i < d * d && status == GPNN_OK; i++)
    if (!isfinite(cov[i]))
      status =
          gpnn_fail(err, GPNN_ENUMERIC, "the covariance of the inputs is too large for whitening");
  if (status != GPNN_OK) goto out;
  lapack_int info =
      LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)d, cov, (lapack_int)d, lambda);
  status = info == LAPACK_WORK_MEMORY_ERROR
               ? gpnn_fail_memory(err, "for the covariance of the inputs")
           : info != 0 ? gpnn_fail(err, GPNN_ENUMERIC,
                                   "the eigenvalues of the inputs' covariance did not converge")
                       : fill_weights(standard, lambda, cov, variance, err);
out:
  free(cov);
  free(lambda);
  free(variance);
  return status;
}

static bool has_groups(const struct gpnn_feature *features, size_t n_in)
{
  for (size_t j = 0; j < n_in; j++)
    if (group_end(features, n_in, j) > j + 1) return true;
  return false;
}

static enum gpnn_status learn_inputs(struct gpnn_standard *standard, size_t n,
                                     const struct gpnn_feature *features, const double *x,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  switch (standard->method) {
  case GPNN_STANDARD_NONE:
    standard->n_out = standard->n_in;
    return GPNN_OK;
  case GPNN_STANDARD_SCALE:
    status = learn_scale(standard, n, features, x, err);
    break;
  case GPNN_STANDARD_WHITEN:
    if (has_groups(features, standard->n_in))
      return gpnn_fail(err, GPNN_EINVAL, "whitening mixes inputs, points among them too");
    status = learn_whiten(standard, n, x, err);
    break;
  }
  if (status == GPNN_OK && standard->n_out == 0)
    status = gpnn_fail(err, GPNN_EDATA, "no input varies");
  return status;
}

enum gpnn_status gpnn_standard_learn(struct gpnn_standard *standard,
                                     enum gpnn_standard_method method, double eps, size_t n,
                                     size_t n_in, const struct gpnn_feature *features,
                                     const double *x, const double *y, struct gpnn_error *err)
{
  if (n < 2) return gpnn_fail(err, GPNN_EDATA, "%zu rows are too few, at least 2 are needed", n);
  if (n_in == 0 || n_in > INT_MAX)
    return gpnn_fail(err, GPNN_EDATA, "%zu inputs, not from 1 to %d", n_in, INT_MAX);
  struct gpnn_standard learnt = {.method = method, .n_in = n_in};
  learnt.eps = method == GPNN_STANDARD_WHITEN ? eps : 0;
  learnt.mean = gpnn_alloc(n_in, 1, sizeof *learnt.mean);
  if (learnt.mean == NULL) return gpnn_fail_memory(err, "for the standardisation");
  moments(n, y, 1, &learnt.y_mean, &learnt.y_sd);
  enum gpnn_status status = learnt.y_sd > 0
                                ? learn_inputs(&learnt, n, features, x, err)
                                : gpnn_fail(err, GPNN_EDATA, "the target does not vary");
  if (status == GPNN_OK)
    *standard = learnt;
  else
    gpnn_standard_release(&learnt);
  return status;
}

/* ---- further targets and regressors ---- */

static enum gpnn_status learn_moments(size_t n, size_t n_columns, const double *values,
                                      size_t column_step, size_t row_step,
                                      struct gpnn_moments *learnt, size_t *at,
                                      struct gpnn_error *err)
{
  for (size_t j = 0; j < n_columns; j++) {
    moments(n, values + j * column_step, row_step, &learnt[j].mean, &learnt[j].sd);
    *at = j;
    if (learnt[j].sd == 0) return gpnn_fail(err, GPNN_EDATA, "does not vary");
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_standard_learn_more(struct gpnn_standard *standard, size_t n, size_t n_more,
                                          const double *y, size_t *at, struct gpnn_error *err)
{
  struct gpnn_moments *learnt = gpnn_alloc(n_more, 1, sizeof *learnt);
  if (learnt == NULL) return gpnn_fail_memory(err, "for the standardisation");
  enum gpnn_status status = learn_moments(n, n_more, y, n, 1, learnt, at, err);
  if (status == GPNN_OK) {
    standard->more = learnt;
    standard->n_more = n_more;
  } else {
    free(learnt);
  }
  return status;
}

static void standardise(size_t n, const struct gpnn_moments *learnt, double *values)
{
  for (size_t j = 0; j < n; j++) values[j] = (values[j] - learnt[j].mean) / learnt[j].sd;
}

/* Factors correlations (lower triangle, column-major) in place, as far as each column has a
 * variance of its own; '*at' is the first without. */
static bool is_independent(size_t d, double *r, size_t *at)
{
  static const double least = 1e-12;
  for (size_t j = 0; j < d; j++) {
    *at = j;
    if (r[j * d + j] < least) return false;
    double root = sqrt(r[j * d + j]);
    for (size_t i = j; i < d; i++) r[j * d + i] /= root;
    for (size_t k = j + 1; k < d; k++)
      for (size_t i = k; i < d; i++) r[k * d + i] -= r[j * d + i] * r[j * d + k];
  }
  return true;
}

/* 'values' are standardised, so that their covariances are correlations. */
static enum gpnn_status check_independent(size_t n, size_t d, const double *values, size_t *at,
                                          struct gpnn_error *err)
{
  double *r = gpnn_alloc(d, d, sizeof *r), *centre = gpnn_alloc(d, 1, sizeof *centre);
  enum gpnn_status status = r == NULL || centre == NULL
                                ? gpnn_fail_memory(err, "for the correlations of the regressors")
                                : covariance(n, d, values, centre, r, err);
  if (status == GPNN_OK && !is_independent(d, r, at))
    status = gpnn_fail(err, GPNN_EDATA,
                       "is a linear combination of a constant and the regressors before it");
  free(r);
  free(centre);
  return status;
}

enum gpnn_status gpnn_standard_learn_regressors(struct gpnn_standard *standard, size_t n,
                                                size_t n_regressors, double *values, size_t *at,
                                                struct gpnn_error *err)
{
  struct gpnn_moments *learnt = gpnn_alloc(n_regressors, 1, sizeof *learnt);
  if (learnt == NULL) return gpnn_fail_memory(err, "for the standardisation");
  enum gpnn_status status =
      learn_moments(n, n_regressors, values, 1, n_regressors, learnt, at, err);
  if (status == GPNN_OK) {
    for (size_t i = 0; i < n; i++) standardise(n_regressors, learnt, values + i * n_regressors);
    status = check_independent(n, n_regressors, values, at, err);
  }
  if (status == GPNN_OK) {
    standard->regressors = learnt;
    standard->n_regressors = n_regressors;
  } else {
    free(learnt);
  }
  return status;
}

void gpnn_standard_apply_regressors(const struct gpnn_standard *standard, double *values)
{
  standardise(standard->n_regressors, standard->regressors, values);
}

double gpnn_standard_noise(const struct gpnn_standard *standard, double variance)
{
  return variance / standard->y_sd / standard->y_sd;
}

void gpnn_standard_apply(const struct gpnn_standard *standard, const double *x, double *z)
{
  size_t n_in = standard->n_in, kept = 0;
  const double *mean = standard->mean, *weight = standard->weight;
  switch (standard->method) {
  case GPNN_STANDARD_NONE:
    memmove(z, x, n_in * sizeof *z);
    break;
  case GPNN_STANDARD_SCALE:
    for (size_t j = 0; j < n_in; j++)
      if (weight[j] != 0) z[kept++] = (x[j] - mean[j]) * weight[j];
    break;
  case GPNN_STANDARD_WHITEN:
    for (size_t i = 0; i < standard->n_out; i++) {
      z[i] = 0;
      for (size_t j = 0; j < n_in; j++) z[i] += weight[i * n_in + j] * (x[j] - mean[j]);
    }
    break;
  }
}

void gpnn_standard_release(struct gpnn_standard *standard)
{
  free(standard->mean);
  free(standard->weight);
  free(standard->more);
  free(standard->regressors);
  *standard = (struct gpnn_standard){0};
}
