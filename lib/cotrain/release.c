#include "cotrain/release.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/secret.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"
#include "stats/distributions/normal.h"

/* The ellipsoid is the smallest up to this share of q, or after so many steps; it is one around the
 * columns in any case. */
static const double tolerance = 1e-3;
enum { MOST_STEPS = 2000 };

/* Keeps M invertible where answers go together, relative to the mean square of a column, and to the
 * mean prior variance. */
static const double ridge = 1e-9, path_jitter = 1e-6;

/* The part of the noise that is rounded away. */
static const double noise_share = 0x1p-20;

const char *gpnn_mechanism_name(enum gpnn_mechanism mechanism)
{
  static const char *const names[GPNN_MECHANISMS] = {"none", "shaped", "isotropic", "path"};
  return names[mechanism];
}

/* The columns that a shape is found for. */
struct shaping {
  size_t q, n;
  const double *parts;        /* q by n */
  double *scaled;             /* owned; q by n: columns times a number each, or solved for */
  double *weight;             /* owned; n: those of the columns in the sum, which add to 1 */
  double *distance;           /* owned; n: A_j' S^-1 A_j */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static void copy_lower(size_t q, const double *from, double *to)
{
  for (size_t j = 0; j < q; j++) memcpy(to + j * q + j, from + j * q + j, (q - j) * sizeof *to);
}

/* There is no other way to write M: one that is not positive definite has failed. */
static void give_up(void *context, double *k)
{
  (void)context;
  k[0] = NAN;
}

/* Factors M, its lower triangle, with nothing added to it. */
static enum gpnn_status factor(struct gpnn_release *r, struct gpnn_error *err)
{
  copy_lower(r->q, r->m, r->factor);
  return gpnn_cholesky_factor(r->q, r->factor, NULL, 1, give_up, NULL, NULL, err);
}

/* Writes A_j' M^-1 A_j of all columns, and returns the largest. */
static double measure(const struct gpnn_release *r, struct shaping *s)
{
  double largest = 0;
  memcpy(s->scaled, s->parts, s->q * s->n * sizeof *s->scaled);
  gpnn_cholesky_forward(s->q, r->factor, s->n, s->scaled);
  for (size_t j = 0; j < s->n; j++) {
    const double *column = s->scaled + j * s->q;
    s->distance[j] = cblas_ddot((int)s->q, column, 1, column, 1);
    largest = fmax(largest, s->distance[j]);
  }
  return largest;
}

/* Writes the sum of the weighted columns' products, and a ridge. */
static void sum_products(struct gpnn_release *r, struct shaping *s, double added)
{
  const int q = (int)s->q, n = (int)s->n;
  for (size_t j = 0; j < s->n; j++)
    for (size_t i = 0; i < s->q; i++)
      s->scaled[j * s->q + i] = sqrt(s->weight[j]) * s->parts[j * s->q + i];
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, q, n, 1, s->scaled, q, 0, r->m, q);
  for (size_t i = 0; i < s->q; i++) r->m[i * (s->q + 1)] += added;
}

/* The smallest ellipsoid, by multiplying the weight of each column by how far out it lies. */
static enum gpnn_status shape(struct gpnn_release *r, struct shaping *s, double square,
                              struct gpnn_error *err)
{
  const double added = ridge * square / (double)s->n;
  double largest = 0;
  for (size_t j = 0; j < s->n; j++) s->weight[j] = 1 / (double)s->n;
  for (size_t step = 0; step < MOST_STEPS; step++) {
    sum_products(r, s, added);
    enum gpnn_status status = factor(r, err);
    if (status != GPNN_OK) return status;
    largest = measure(r, s);
    if (largest <= (1 + tolerance) * (double)s->q) break;
    double sum = cblas_ddot((int)s->n, s->weight, 1, s->distance, 1);
    for (size_t j = 0; j < s->n; j++) s->weight[j] *= s->distance[j] / sum;
  }
  cblas_dscal((int)(s->q * s->q), largest, r->m, 1);
  return factor(r, err);
}

/* M where it does not depend on the columns: that of a random function, or the identity. */
static enum gpnn_status take(struct gpnn_release *r, const double *prior, struct gpnn_error *err)
{
  double mean = 0;
  for (size_t i = 0; i < r->q && prior != NULL; i++) mean += prior[i * (r->q + 1)] / (double)r->q;
  if (prior != NULL) copy_lower(r->q, prior, r->m);
  for (size_t i = 0; i < r->q; i++) r->m[i * (r->q + 1)] += prior == NULL ? 1 : path_jitter * mean;
  return factor(r, err);
}

static enum gpnn_status choose(struct gpnn_release *r, enum gpnn_mechanism mechanism,
                               struct shaping *s, const double *prior, double width,
                               struct gpnn_error *err)
{
  double square = 0;
  for (size_t i = 0; i < s->q * s->n; i++) square += s->parts[i] * s->parts[i];
  if (!isfinite(square) || !isfinite(width))
    return gpnn_fail(err, GPNN_EDATA, "answers depend on responses by numbers that are not finite");
  enum gpnn_status status = mechanism == GPNN_MECHANISM_SHAPED && square > 0
                                ? shape(r, s, square, err)
                                : take(r, mechanism == GPNN_MECHANISM_PATH ? prior : NULL, err);
  if (status != GPNN_OK) return status;
  r->sensitivity = width * sqrt(measure(r, s));
  for (size_t j = 0; j < s->q; j++)
    for (size_t i = 0; i < j; i++) r->m[j * s->q + i] = r->m[i * s->q + j];
  return GPNN_OK;
}

static enum gpnn_status begin_shaping(struct shaping *s, struct gpnn_error *err)
{
  s->arrays = GPNN_ARRAYS(GPNN_ARRAY(s->scaled, s->q, s->n), GPNN_ARRAY(s->weight, s->n, 1),
                          GPNN_ARRAY(s->distance, s->n, 1));
  return s->arrays != NULL ? GPNN_OK : gpnn_fail_memory(err, "to shape the noise of answers");
}

enum gpnn_status gpnn_release_shape(struct gpnn_release *release, enum gpnn_mechanism mechanism,
                                    size_t q, size_t n, const double *parts, const double *prior,
                                    double width, struct gpnn_error *err)
{
  struct gpnn_release r = {.q = q};
  struct shaping s = {.q = q, .n = n, .parts = parts};
  if (mechanism == GPNN_MECHANISM_NONE)
    return gpnn_fail(err, GPNN_EINVAL, "answers without noise have no shape of it");
  if (width < 0)
    return gpnn_fail(err, GPNN_EINVAL, "responses cannot change by %g, which is below 0", width);
  enum gpnn_status status = begin_shaping(&s, err);
  r.m = gpnn_alloc(q, q, sizeof *r.m);
  r.factor = gpnn_alloc(q, q, sizeof *r.factor);
  if (status == GPNN_OK && (r.m == NULL || r.factor == NULL))
    status = gpnn_fail_memory(err, "to shape the noise of answers");
  if (status == GPNN_OK) status = choose(&r, mechanism, &s, prior, width, err);
  gpnn_arrays_free(s.arrays);
  if (status == GPNN_OK)
    *release = r;
  else
    gpnn_release_free(&r);
  return status;
}

/* A standard normal deviate, by the quantile of its tail and a sign: both tails are as they should
 * be up to 2^-993, which is 37 standard deviations away. */
static double draw_normal(struct gpnn_secret *secret)
{
  const double z = gpnn_normal_quantile(0.5 * gpnn_secret_uniform(secret));
  return (gpnn_secret_word(secret) & 1) == 0 ? z : -z;
}

/* What answers are rounded to: at least 'unit', and that share of the least noise. */
static double find_unit(const struct gpnn_release *release, double tau, double unit)
{
  double least = INFINITY;
  for (size_t i = 0; i < release->q; i++) least = fmin(least, release->m[i * (release->q + 1)]);
  const double share = tau * sqrt(least) * noise_share;
  return share > unit ? ldexp(1, ilogb(share)) : unit;
}

enum gpnn_status gpnn_release_draw(const struct gpnn_release *release, double tau, double unit,
                                   struct gpnn_secret *secret, double *answers,
                                   struct gpnn_error *err)
{
  const int q = (int)release->q;
  if (q == 0) return GPNN_OK;
  double *noise = gpnn_alloc(release->q, 1, sizeof *noise);
  if (noise == NULL) return gpnn_fail_memory(err, "for the noise of answers");
  const double step = find_unit(release, tau, unit);
  for (size_t i = 0; i < release->q; i++) noise[i] = draw_normal(secret);
  cblas_dtrmv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, q, release->factor, q, noise,
              1);
  for (size_t i = 0; i < release->q; i++)
    answers[i] = step * round((answers[i] + tau * noise[i]) / step);
  free(noise);
  return GPNN_OK;
}

void gpnn_release_free(struct gpnn_release *release)
{
  free(release->m);
  free(release->factor);
  *release = (struct gpnn_release){0};
}
