/* The latent functions at one row, conditional on its neighbours (gpnn-methods-classes(7),
 * equations 15.2 to 15.5 and 15.9 to 15.14). */
#include <math.h>

#include "kernel/kernel.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"
#include "linalg/simd.h"
#include "models/polya_gamma/polya_gamma_private.h"

/* ---- scratch ---------------------------------------------------------------------------- */

void gpnn_polya_gamma_row_release(struct gpnn_polya_gamma_row *row)
{
  gpnn_arrays_free(row->arrays);
}

bool gpnn_polya_gamma_row_init(struct gpnn_polya_gamma_row *row)
{
  size_t k = row->most, d = row->data->d, pairs = k * (k - (k > 0)) / 2, n = row->n_channels;
  row->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(row->z, d, k), GPNN_ARRAY(row->r2, pairs, 1), GPNN_ARRAY(row->pair, pairs, 1),
      GPNN_ARRAY(row->slope, pairs, 1), GPNN_ARRAY(row->weight, pairs, 1),
      GPNN_ARRAY(row->cross2, k, 1), GPNN_ARRAY(row->cross, k, 1),
      GPNN_ARRAY(row->cross_slope, k, 1), GPNN_ARRAY(row->root, k, 1), GPNN_ARRAY(row->b, k, k),
      GPNN_ARRAY(row->work, gpnn_cholesky_work(k), 1), GPNN_ARRAY(row->omega, n, k),
      GPNN_ARRAY(row->w, n, k), GPNN_ARRAY(row->alpha, n, k), GPNN_ARRAY(row->mean, n, 1),
      GPNN_ARRAY(row->variance, n, 1), GPNN_ARRAY(row->log_p, n, 1), GPNN_ARRAY(row->slopes, n, 1));
  return row->arrays != NULL;
}

/* ---- correlations ----------------------------------------------------------------------- */

GPNN_SIMD static void add_squares(size_t n, const double *z, double here, double *r2)
{
#pragma omp simd
  for (size_t i = 0; i < n; i++) r2[i] += (z[i] - here) * (z[i] - here);
}

static void measure(struct gpnn_polya_gamma_row *row)
{
  size_t k = row->k;
  double *r2 = row->r2;
  for (size_t p = 0; p < k * (k - (k > 0)) / 2; p++) r2[p] = 0;
  for (size_t a = 0; a < k; a++) row->cross2[a] = 0;
  for (size_t b = 0; b < k; r2 += k - 1 - b++)
    for (size_t j = 0; j < row->data->d; j++) {
      const double *z = row->z + j * row->most + b;
      add_squares(k - 1 - b, z + 1, *z, r2);
    }
  for (size_t j = 0; j < row->data->d; j++) add_squares(k, row->z + j * row->most, 0, row->cross2);
}

static void correlate(const struct gpnn_covariance *covariance, size_t n, const double *r2,
                      double *c, double *slope)
{
  if (slope != NULL) {
    covariance->kernel->with_slope(covariance->smoothness, n, r2, c, slope);
    return;
  }
  for (size_t i = 0; i < n; i++) c[i] = r2[i];
  gpnn_kernel_correlate(covariance->kernel, covariance->smoothness, n, c);
}

void gpnn_polya_gamma_place(struct gpnn_polya_gamma_row *row, const double *centre, size_t k,
                            const int64_t *neighbour, bool with_slopes)
{
  size_t d = row->data->d;
  row->k = k;
  row->neighbour = neighbour;
  for (size_t a = 0; a < k; a++) {
    const double *x = row->data->x + (size_t)neighbour[a] * d;
    for (size_t j = 0; j < d; j++) row->z[j * row->most + a] = (x[j] - centre[j]) * row->inverse[j];
  }
  measure(row);
  correlate(row->covariance, k * (k - (k > 0)) / 2, row->r2, row->pair,
            with_slopes ? row->slope : NULL);
  correlate(row->covariance, k, row->cross2, row->cross, with_slopes ? row->cross_slope : NULL);
}

/* ---- conditioning ----------------------------------------------------------------------- */

/* The sign that class 'label' has in channel 'c'. */
static double sign_of(const struct gpnn_polya_gamma_row *row, size_t c, size_t label)
{
  return label == (row->n_channels == 1 ? 1 : c) ? 1 : -1;
}

static double neighbour_sign(const struct gpnn_polya_gamma_row *row, size_t c, size_t a)
{
  return sign_of(row, c, (size_t)row->data->y[row->neighbour[a]]);
}

/* Writes the lower triangle of B = I + D K D, D = diag(root). */
static void fill(void *context, double *b)
{
  const struct gpnn_polya_gamma_row *row = context;
  const double *pair = row->pair, *root = row->root;
  double scale = row->covariance->kernelscale;
  size_t k = row->k;
  for (size_t a = 0; a < k; a++) {
    double *column = b + a * k;
    column[a] = 1 + scale * root[a] * root[a];
    for (size_t i = a + 1; i < k; i++) column[i] = scale * root[a] * root[i] * *pair++;
  }
}

static enum gpnn_status factor(struct gpnn_polya_gamma_row *row, const double *omega,
                               struct gpnn_error *err)
{
  for (size_t a = 0; a < row->k; a++) row->root[a] = sqrt(omega[a]);
  fill(row, row->b);
  return gpnn_cholesky_factor(row->k, row->b, row->work, 1, fill, row, NULL, err);
}

/* Conditions channel 'c' by the factor of B; w and alpha are left as L^-1 D kappa and
 * L^-1 D^-1 y / 2. */
static void condition(struct gpnn_polya_gamma_row *row, size_t c)
{
  const double least = 1e-10;
  size_t k = row->k;
  double *w = row->w + c * row->most, *alpha = row->alpha + c * row->most;
  double scale = row->covariance->kernelscale;
  for (size_t a = 0; a < k; a++) {
    w[a] = row->root[a] * scale * row->cross[a];
    alpha[a] = 0.5 * neighbour_sign(row, c, a) / row->root[a];
  }
  gpnn_cholesky_forward(k, row->b, 1, w);
  gpnn_cholesky_forward(k, row->b, 1, alpha);
  row->mean[c] = cblas_ddot((int)k, w, 1, alpha, 1);
  row->variance[c] = fmax(scale - cblas_ddot((int)k, w, 1, w, 1), least);
}

/* Turns what condition() left into w = D B^-1 D kappa and alpha = D B^-1 D^-1 y / 2. */
static void weigh(struct gpnn_polya_gamma_row *row, size_t c)
{
  double *w = row->w + c * row->most, *alpha = row->alpha + c * row->most;
  gpnn_cholesky_backward(row->k, row->b, 1, w);
  gpnn_cholesky_backward(row->k, row->b, 1, alpha);
  for (size_t a = 0; a < row->k; a++) {
    w[a] *= row->root[a];
    alpha[a] *= row->root[a];
  }
}

enum gpnn_status gpnn_polya_gamma_condition(struct gpnn_polya_gamma_row *row,
                                            struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t c = 0; c < row->n_channels && status == GPNN_OK; c++) {
    if (c == 0 || !row->is_common) status = factor(row, row->omega + c * row->most, err);
    if (status != GPNN_OK) break;
    condition(row, c);
    if (!isfinite(row->mean[c]) || !isfinite(row->variance[c]))
      return gpnn_fail(err, GPNN_ENUMERIC, "a latent function is not finite");
    weigh(row, c);
  }
  return status;
}

/* ---- probabilities ---------------------------------------------------------------------- */

static double log_probability(const struct gpnn_polya_gamma_row *row, size_t c, double sign,
                              struct gpnn_logistic_slopes *slopes)
{
  return gpnn_logistic_log_probability(row->logistic, sign, row->mean[c], row->variance[c], slopes);
}

/* The log of the sum over classes of p~. */
static double log_sum(size_t n, const double *log_p)
{
  double most = log_p[0], sum = 0;
  for (size_t c = 1; c < n; c++) most = fmax(most, log_p[c]);
  for (size_t c = 0; c < n; c++) sum += exp(log_p[c] - most);
  return most + log(fmax(sum, 1)); /* as the greatest of its terms is 1 */
}

void gpnn_polya_gamma_classes(struct gpnn_polya_gamma_row *row, double *p)
{
  size_t n = row->n_channels == 1 ? 2 : row->n_channels;
  if (row->n_channels == 1) p[0] = log_probability(row, 0, -1, NULL);
  if (row->n_channels == 1) p[1] = log_probability(row, 0, 1, NULL);
  for (size_t c = 0; row->n_channels > 1 && c < n; c++) p[c] = log_probability(row, c, 1, NULL);
  double whole = log_sum(n, p);
  for (size_t c = 0; c < n; c++) p[c] = exp(p[c] - whole);
}

/* The loss, and row->slopes. */
static double evaluate(struct gpnn_polya_gamma_row *row, size_t label)
{
  size_t n = row->n_channels;
  if (n == 1) return -log_probability(row, 0, sign_of(row, 0, label), row->slopes);
  for (size_t c = 0; c < n; c++) row->log_p[c] = log_probability(row, c, 1, &row->slopes[c]);
  double whole = log_sum(n, row->log_p);
  for (size_t c = 0; c < n; c++) {
    double share = (c == label ? 1 : 0) - exp(row->log_p[c] - whole);
    row->slopes[c].mean *= share;
    row->slopes[c].variance *= share;
  }
  return whole - row->log_p[label];
}

/* ---- derivatives ------------------------------------------------------------------------ */

/* Adds what channel 'c' contributes to the weights of squared differences, those between pairs for
 * both triangles, and writes its derivatives by the logarithms of omega.  Returns the derivative by
 * the logarithm of the kernel scale.  K alpha and K w follow from the equations that alpha and w
 * solve. */
static double add_channel(struct gpnn_polya_gamma_row *row, size_t c, double *cross_weight,
                          double *by_omega)
{
  const double *w = row->w + c * row->most, *alpha = row->alpha + c * row->most;
  const double *omega = row->omega + c * row->most, *slope = row->slope;
  double scale = row->covariance->kernelscale, *weight = row->weight;
  double a = row->slopes[c].mean, b = row->slopes[c].variance, by_scale = b * scale;
  for (size_t i = 0; i < row->k; i++) {
    double own = scale * (b * w[i] - 0.5 * a * alpha[i]), other = -0.5 * scale * a * w[i];
    for (size_t l = i + 1; l < row->k; l++) *weight++ += *slope++ * (own * w[l] + other * alpha[l]);
    double by_cross = a * alpha[i] - 2 * b * w[i], kappa = scale * row->cross[i];
    double k_alpha = (0.5 * neighbour_sign(row, c, i) - alpha[i]) / omega[i];
    double k_w = kappa - w[i] / omega[i];
    cross_weight[i] += scale * row->cross_slope[i] * by_cross;
    by_scale += by_cross * kappa - a * w[i] * k_alpha + b * w[i] * k_w;
    by_omega[i] = -a * w[i] * k_alpha - b * w[i] * w[i] / omega[i];
  }
  return by_scale;
}

/* Adds the derivatives by the logarithms of the lengthscales. */
static void add_lengthscales(const struct gpnn_polya_gamma_row *row, const double *cross_weight,
                             double *gradient)
{
  size_t k = row->k;
  if (row->covariance->n_lengthscales == 1) {
    gradient[0] += cblas_ddot((int)k, cross_weight, 1, row->cross2, 1) +
                   2 * cblas_ddot((int)(k * (k - (k > 0)) / 2), row->weight, 1, row->r2, 1);
    return;
  }
  for (size_t j = 0; j < row->data->d; j++) {
    const double *z = row->z + j * row->most, *weight = row->weight;
    double sum = 0;
    for (size_t b = 0; b < k; weight += k - 1 - b++)
      sum += gpnn_kernel_weighted_squares(k - 1 - b, weight, z + b + 1, z[b]);
    gradient[row->data->group[j]] += gpnn_kernel_weighted_squares(k, cross_weight, z, 0) + 2 * sum;
  }
}

double gpnn_polya_gamma_loss(struct gpnn_polya_gamma_row *row, size_t label, double *gradient,
                             double *by_omega)
{
  size_t k = row->k, n_lengthscales = row->covariance->n_lengthscales;
  double *cross_weight = row->root, loss = evaluate(row, label);
  if (gradient == NULL) return loss;
  for (size_t i = 0; i < k * (k - (k > 0)) / 2; i++) row->weight[i] = 0;
  for (size_t i = 0; i < k; i++) cross_weight[i] = 0;
  for (size_t j = 0; j <= n_lengthscales; j++) gradient[j] = 0;
  for (size_t c = 0; c < row->n_channels; c++)
    gradient[n_lengthscales] += add_channel(row, c, cross_weight, by_omega + c * row->most);
  add_lengthscales(row, cross_weight, gradient);
  return loss;
}
