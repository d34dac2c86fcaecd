/* The density of one row conditional on, or jointly with, its neighbours. */
#include <math.h>
#include <string.h>

#include "estimate/neighbourhood_private.h"
#include "kernel/kernel.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"
#include "linalg/simd.h"
#include "models/model.h"
#include "stats/distributions/normal.h"

/* ---- covariances ---------------------------------------------------------------------- */

void gpnn_term_add(const struct gpnn_term *term, size_t i, size_t row, size_t centre)
{
  const struct gpnn_term_scratch *scratch = term->scratch;
  size_t d = term->data->d;
  const double *x = term->data->x + row * d, *origin = term->data->x + centre * d;
  for (size_t j = 0; j < d; j++) scratch->difference[j] = x[j] - origin[j];
  for (size_t j = 0; j < d; j++)
    scratch->z[j * term->stride + i] =
        term->map == NULL ? scratch->difference[j] * term->inverse[j]
                          : cblas_ddot((int)d, term->map + j * d, 1, scratch->difference, 1);
  scratch->r[i] = gpnn_channel_residual(term->data, term->params, row);
  scratch->diagonal[i] = gpnn_channel_noise(term->data, term->params, row);
  scratch->row[i] = row;
}

/* Correlations and slopes of all pairs among the first 'k' rows added. */
static void correlate_pairs(const struct gpnn_term *term, size_t k)
{
  const struct gpnn_term_scratch *scratch = term->scratch;
  size_t stride = term->stride, d = term->data->d;
  double *r2 = scratch->r2;
  for (size_t b = 0; b + 1 < k; b++) {
    size_t n = k - 1 - b;
    for (size_t i = 0; i < n; i++) r2[i] = 0;
    for (size_t j = 0; j < d; j++) {
      const double *z = scratch->z + j * stride + b;
#pragma omp simd
      for (size_t i = 0; i < n; i++) r2[i] += (z[i + 1] - z[0]) * (z[i + 1] - z[0]);
    }
    r2 += n;
  }
  term->params->covariance.kernel->with_slope(term->params->covariance.smoothness,
                                              k * (k - (k > 0)) / 2, scratch->r2, scratch->pair,
                                              scratch->slope);
}

/* Writes the lower triangle of A over the first term->k rows added. */
static void fill_covariance(void *context, double *a)
{
  const struct gpnn_term *term = context;
  const double *pair = term->scratch->pair;
  size_t k = term->k;
  for (size_t b = 0; b < k; b++) {
    double *column = a + b * k;
    column[b] = term->params->covariance.kernelscale + term->scratch->diagonal[b];
    for (size_t i = b + 1; i < k; i++) column[i] = term->params->covariance.kernelscale * *pair++;
  }
}

/* Correlations and slopes of the rows added with the row in their centre. */
static void correlate_with_centre(const struct gpnn_term *term)
{
  const struct gpnn_term_scratch *scratch = term->scratch;
  for (size_t i = 0; i < term->k; i++) scratch->cross2[i] = 0;
  for (size_t j = 0; j < term->data->d; j++) {
    const double *z = scratch->z + j * term->stride;
#pragma omp simd
    for (size_t i = 0; i < term->k; i++) scratch->cross2[i] += z[i] * z[i];
  }
  term->params->covariance.kernel->with_slope(term->params->covariance.smoothness, term->k,
                                              scratch->cross2, scratch->cross,
                                              scratch->cross_slope);
}

/* ---- derivatives by the lengthscales -------------------------------------------------- */

/*
 * Adds to 'gradient' the contributions of pairs of rows, whose weights kernelscale g(r) dell/dA are
 * in scratch->pair, once for both triangles.
 */
static void add_pairs(const struct gpnn_term *term, double *gradient)
{
  const struct gpnn_term_scratch *scratch = term->scratch;
  size_t stride = term->stride, k = term->k;
  /* With a single lengthscale, squared distances suffice. */
  if (term->params->covariance.n_lengthscales == 1) {
    gradient[0] += 2 * cblas_ddot((int)(k * (k - (k > 0)) / 2), scratch->pair, 1, scratch->r2, 1);
    return;
  }
  for (size_t j = 0; j < term->data->d; j++) {
    const double *z = scratch->z + j * stride, *weight = scratch->pair;
    double sum = 0;
    for (size_t b = 0; b + 1 < k; b++) {
      sum += gpnn_kernel_weighted_squares(k - 1 - b, weight, z + b + 1, z[b]);
      weight += k - 1 - b;
    }
    gradient[term->data->group[j]] += 2 * sum;
  }
}

/* Adds the contributions of the covariances with the centre, whose weights are 'weight'. */
static void add_cross(const struct gpnn_term *term, const double *weight, double *gradient)
{
  for (size_t j = 0; j < term->data->d; j++)
    gradient[term->params->covariance.n_lengthscales == 1 ? 0 : term->data->group[j]] +=
        gpnn_kernel_weighted_squares(term->k, weight, term->scratch->z + j * term->stride, 0);
}

/* ---- derivatives by the map ------------------------------------------------------------ */

/*
 * Adds to 'by_map' the contributions of pairs of rows, whose diagonal is what add_pairs() adds
 * (gpnn-methods(7), equation 4.28):
 * 2 sum_ab weight_ab (z_a - z_b)(z_a - z_b)' over pairs, = 2 Z (D - W) Z', with the weights as a
 * symmetric matrix W and its row sums D.
 */
static void add_map_pairs(const struct gpnn_term *term, double *by_map)
{
  const struct gpnn_term_scratch *scratch = term->scratch;
  size_t stride = term->stride, k = term->k, d = term->data->d;
  const double *weight = scratch->pair;
  double *sum = scratch->diagonal, *w = scratch->a;
  for (size_t a = 0; a < k; a++) sum[a] = w[a * k + a] = 0;
  for (size_t b = 0; b < k; b++)
    for (size_t a = b + 1; a < k; a++) {
      w[b * k + a] = w[a * k + b] = -*weight;
      sum[a] += *weight;
      sum[b] += *weight++;
    }
  for (size_t a = 0; a < k; a++) w[a * k + a] = sum[a];
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)k, (int)d, (int)k, 1, w, (int)k,
              scratch->z, (int)stride, 0, scratch->t, (int)stride);
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)d, (int)d, (int)k, 2, scratch->z,
              (int)stride, scratch->t, (int)stride, 1, by_map, (int)d);
}

/* Adds the contributions of the covariances with the centre, whose weights are 'weight'. */
static void add_map_cross(const struct gpnn_term *term, const double *weight, double *by_map)
{
  const struct gpnn_term_scratch *scratch = term->scratch;
  size_t stride = term->stride, k = term->k, d = term->data->d;
  for (size_t j = 0; j < d; j++)
    for (size_t a = 0; a < k; a++)
      scratch->t[j * stride + a] = weight[a] * scratch->z[j * stride + a];
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)d, (int)d, (int)k, 1, scratch->z,
              (int)stride, scratch->t, (int)stride, 1, by_map, (int)d);
}

/* ---- conditional ---------------------------------------------------------------------- */

/*
 * Gradient of log N(e; 0, v), where by_mean and by_variance are its derivatives by the mean and
 * by v (gpnn-methods(7), equations 4.13 to 4.19).
 */
static void conditional_gradient(const struct gpnn_term *term, double by_mean, double by_variance,
                                 double explained, double *gradient, double *by_map)
{
  const struct gpnn_parameters *params = term->params;
  const struct gpnn_term_scratch *scratch = term->scratch;
  const double *w = scratch->w, *alpha = scratch->alpha;
  size_t k = term->k, n_lengthscales = params->covariance.n_lengthscales;
  double *weight = scratch->pair, *cross = scratch->cross;
  const double *slope = scratch->slope;
  double scale = params->covariance.kernelscale, noise = params->covariance.noise;
  double wa = 0, ww = 0, kept = 0, sum_w = 0;
  for (size_t b = 0; b < k; b++) {
    double own = by_variance * w[b] - 0.5 * by_mean * alpha[b], other = -0.5 * by_mean * w[b];
    for (size_t i = b + 1; i < k; i++)
      *weight++ = scale * *slope++ * (own * w[i] + other * alpha[i]);
    cross[b] = scale * scratch->cross_slope[b] * (by_mean * alpha[b] - 2 * by_variance * w[b]);
    wa += w[b] * alpha[b];
    ww += w[b] * w[b];
    kept += scratch->diagonal[b] * (by_mean * w[b] * alpha[b] - by_variance * w[b] * w[b]);
    sum_w += w[b];
  }
  add_pairs(term, gradient);
  add_cross(term, cross, gradient);
  if (by_map != NULL) add_map_cross(term, cross, by_map);
  if (by_map != NULL) add_map_pairs(term, by_map);
  gradient[n_lengthscales] = by_variance * (scale - explained) + kept;
  gradient[n_lengthscales + 1] = noise * (by_variance - by_mean * wa + by_variance * ww);
  gradient[n_lengthscales + 2] = by_mean * (1 - sum_w);
}

/* Factors the covariance of the rows added, and writes their covariances with the centre, times
 * the inverse of the factor, to scratch->w; returns the variance that they explain in '*explained'.
 */
static enum gpnn_status factor(struct gpnn_term *term, double *explained,
                               struct gpnn_term_outcome *outcome, struct gpnn_error *err)
{
  const struct gpnn_term_scratch *scratch = term->scratch;
  const struct gpnn_covariance *covariance = &term->params->covariance;
  size_t k = term->k;
  correlate_pairs(term, k);
  correlate_with_centre(term);
  fill_covariance(term, scratch->a);
  enum gpnn_status status =
      gpnn_cholesky_factor(k, scratch->a, scratch->work, covariance->kernelscale, fill_covariance,
                           term, &outcome->jitter, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < k; i++) scratch->w[i] = covariance->kernelscale * scratch->cross[i];
  gpnn_cholesky_forward(k, scratch->a, 1, scratch->w);
  *explained = cblas_ddot((int)k, scratch->w, 1, scratch->w, 1);
  return GPNN_OK;
}

enum gpnn_status gpnn_term_conditional(struct gpnn_term *term, size_t row,
                                       struct gpnn_term_outcome *outcome, double *gradient,
                                       double *by_map, struct gpnn_error *err)
{
  const struct gpnn_term_scratch *scratch = term->scratch;
  const struct gpnn_parameters *params = term->params;
  size_t k = term->k;
  double explained;
  enum gpnn_status status = factor(term, &explained, outcome, err);
  if (status != GPNN_OK) return status;
  memcpy(scratch->alpha, scratch->r, k * sizeof *scratch->r);
  gpnn_cholesky_forward(k, scratch->a, 1, scratch->alpha);
  double mean = cblas_ddot((int)k, scratch->w, 1, scratch->alpha, 1);
  double total = params->covariance.kernelscale + gpnn_channel_noise(term->data, term->params, row);
  double v = fmax(total - explained, 1e-12 * total),
         e = gpnn_channel_residual(term->data, term->params, row) - mean;
  outcome->z2 = e * e / v;
  outcome->loss = 0.5 * (log(v) + outcome->z2 + GPNN_LOG_TWO_PI);
  if (gradient == NULL || !isfinite(outcome->loss)) return GPNN_OK;
  gpnn_cholesky_backward(k, scratch->a, 1, scratch->w);
  gpnn_cholesky_backward(k, scratch->a, 1, scratch->alpha);
  conditional_gradient(term, e / v, 0.5 * (outcome->z2 - 1) / v, explained, gradient, by_map);
  return GPNN_OK;
}

/* ---- labels --------------------------------------------------------------------------- */

/* The derivatives by the weights take the place of the targets; the noise of the row itself is no
 * part of v. */
enum gpnn_status gpnn_term_labels(struct gpnn_term *term, size_t row,
                                  struct gpnn_term_outcome *outcome, double *gradient,
                                  double *by_map, struct gpnn_error *err)
{
  const struct gpnn_term_scratch *scratch = term->scratch;
  const struct gpnn_covariance *covariance = &term->params->covariance;
  struct gpnn_labels *labels = term->labels;
  size_t k = term->k, n = covariance->n_lengthscales;
  double explained, by_variance, *by_link = gradient == NULL ? NULL : gradient + n + 3;
  enum gpnn_status status = factor(term, &explained, outcome, err);
  if (status != GPNN_OK) return status;
  gpnn_cholesky_backward(k, scratch->a, 1, scratch->w);
  for (size_t i = 0; i < k; i++) {
    labels->w[i] = scratch->w[i];
    labels->label[i] = (size_t)term->data->y[scratch->row[i]];
  }
  double total = covariance->kernelscale, v = fmax(total - explained, 1e-12 * total);
  size_t label = (size_t)term->data->y[row];
  outcome->loss = gpnn_labels_loss(labels, label, k, v, by_link, &by_variance);
  outcome->z2 = gpnn_labels_error(labels, label);
  if (gradient == NULL || !isfinite(outcome->loss)) return GPNN_OK;
  memcpy(scratch->alpha, labels->by_w, k * sizeof *labels->by_w);
  gpnn_cholesky_solve(k, scratch->a, scratch->alpha);
  conditional_gradient(term, 1, by_variance, explained, gradient, by_map);
  gradient[n + 1] -= covariance->noise * by_variance;
  return GPNN_OK;
}

/* ---- joint ---------------------------------------------------------------------------- */

/* Gradient of log N(r; 0, A), where scratch->a has A inverted in place (gpnn-methods(7), equations
 * 4.20 to 4.23). */
static void joint_gradient(const struct gpnn_term *term, double fit, double *gradient,
                           double *by_map)
{
  const struct gpnn_parameters *params = term->params;
  const struct gpnn_term_scratch *scratch = term->scratch;
  size_t k = term->k, n_lengthscales = params->covariance.n_lengthscales;
  const double *alpha = scratch->alpha, *slope = scratch->slope;
  double *weight = scratch->pair;
  double trace = 0, squares = 0, kept = 0, sum = 0;
  for (size_t b = 0; b < k; b++) {
    const double *inverse = scratch->a + b * k;
    for (size_t i = b + 1; i < k; i++)
      *weight++ =
          params->covariance.kernelscale * *slope++ * 0.5 * (alpha[b] * alpha[i] - inverse[i]);
    double own = alpha[b] * alpha[b] - inverse[b];
    squares += alpha[b] * alpha[b];
    trace += inverse[b];
    kept += scratch->diagonal[b] * own;
    sum += alpha[b];
  }
  add_pairs(term, gradient);
  if (by_map != NULL) add_map_pairs(term, by_map);
  gradient[n_lengthscales] = 0.5 * (fit - (double)k - kept);
  gradient[n_lengthscales + 1] = 0.5 * params->covariance.noise * (squares - trace);
  gradient[n_lengthscales + 2] = sum;
}

enum gpnn_status gpnn_term_joint(struct gpnn_term *term, struct gpnn_term_outcome *outcome,
                                 double *gradient, double *by_map, struct gpnn_error *err)
{
  const struct gpnn_term_scratch *scratch = term->scratch;
  size_t k = term->k;
  correlate_pairs(term, k);
  fill_covariance(term, scratch->a);
  enum gpnn_status status =
      gpnn_cholesky_factor(k, scratch->a, scratch->work, term->params->covariance.kernelscale,
                           fill_covariance, term, &outcome->jitter, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < k; i++) scratch->alpha[i] = scratch->r[i];
  gpnn_cholesky_solve(k, scratch->a, scratch->alpha);
  double fit = cblas_ddot((int)k, scratch->alpha, 1, scratch->r, 1);
  outcome->z2 = fit / (double)k;
  outcome->loss = 0.5 * (fit + gpnn_cholesky_logdet(k, scratch->a) + (double)k * GPNN_LOG_TWO_PI);
  if (gradient == NULL || !isfinite(outcome->loss)) return GPNN_OK;
  gpnn_cholesky_invert(k, scratch->a, scratch->work);
  joint_gradient(term, fit, gradient, by_map);
  return GPNN_OK;
}
