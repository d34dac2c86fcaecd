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

/* weight_j = 1 / (sqrt(kept columns) sd_j), 0 for a column that does not vary. */
static enum gpnn_status learn_scale(struct gpnn_standard *standard, size_t n, const double *x,
                                    struct gpnn_error *err)
{
  standard->weight = gpnn_alloc(standard->n_in, 1, sizeof *standard->weight);
  if (standard->weight == NULL) return gpnn_fail_memory(err, "for the standardisation");
  for (size_t j = 0; j < standard->n_in; j++) {
    moments(n, x + j, standard->n_in, &standard->mean[j], &standard->weight[j]);
    if (standard->weight[j] > 0) standard->n_out++;
  }
  double root = sqrt((double)standard->n_out);
  for (size_t j = 0; j < standard->n_in; j++)
    if (standard->weight[j] > 0) standard->weight[j] = 1 / root / standard->weight[j];
  return GPNN_OK;
}

/*
 * Lower triangle of the population covariance, column-major.  Rows are centred in blocks,
 * each block a d by rows column-major matrix (our rows are its columns), so that memory
 * beyond the result does not grow with n.
 */
static enum gpnn_status covariance(const struct gpnn_standard *standard, size_t n, const double *x,
                                   double *cov, struct gpnn_error *err)
{
  enum { BLOCK = 256 };
  size_t d = standard->n_in;
  double *centred = gpnn_alloc(BLOCK, d, sizeof *centred);
  if (centred == NULL) return gpnn_fail_memory(err, "for the covariance of the inputs");
  for (size_t from = 0; from < n; from += BLOCK) {
    size_t rows = n - from < BLOCK ? n - from : BLOCK;
    for (size_t i = 0; i < rows; i++)
      for (size_t j = 0; j < d; j++) centred[i * d + j] = x[(from + i) * d + j] - standard->mean[j];
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (blasint)d, (blasint)rows, 1, centred,
                (blasint)d, 1, cov, (blasint)d);
  }
  free(centred);
  for (size_t i = 0; i < d * d; i++) {
    cov[i] /= (double)n;
    if (!isfinite(cov[i]))
      return gpnn_fail(err, GPNN_ENUMERIC,
                       "the covariance of the inputs is too large for whitening");
  }
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
  status = covariance(standard, n, x, cov, err);
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

static enum gpnn_status learn_inputs(struct gpnn_standard *standard, size_t n, const double *x,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  switch (standard->method) {
  case GPNN_STANDARD_NONE:
    standard->n_out = standard->n_in;
    return GPNN_OK;
  case GPNN_STANDARD_SCALE:
    status = learn_scale(standard, n, x, err);
    break;
  case GPNN_STANDARD_WHITEN:
    status = learn_whiten(standard, n, x, err);
    break;
  }
  if (status == GPNN_OK && standard->n_out == 0)
    status = gpnn_fail(err, GPNN_EDATA, "no input varies");
  return status;
}

enum gpnn_status gpnn_standard_learn(struct gpnn_standard *standard,
                                     enum gpnn_standard_method method, double eps, size_t n,
                                     size_t n_in, const double *x, const double *y,
                                     struct gpnn_error *err)
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
                                ? learn_inputs(&learnt, n, x, err)
                                : gpnn_fail(err, GPNN_EDATA, "the target does not vary");
  if (status == GPNN_OK)
    *standard = learnt;
  else
    gpnn_standard_release(&learnt);
  return status;
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
  *standard = (struct gpnn_standard){0};
}
