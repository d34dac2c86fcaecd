#include "models/local/neighbourhood.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "kernel/kernel.h"
#include "kernel/mean.h"
#include "linalg/blas.h"
#include "linalg/cholesky.h"
#include "linalg/simd.h"
#include "models/local/neighbourhood_lanes_private.h"

static const double log_two_pi = 1.83787706640934548356;

/* What a thread needs for a row of k neighbours and d inputs; s = k + 1. */
struct scratch {
  double *z;          /* d by s, a column after another: (x - x_i) as the kernel sees it */
  double *t;          /* the same: weights times z */
  double *difference; /* d: of one row */
  double *r2, *slope; /* s (s - 1) / 2: of pairs, columns of the lower triangle, no diagonal */
  double *pair;       /* the same: correlations, later weights */
  double *cross2, *cross, *cross_slope; /* k: the same with the row itself */
  double *a;                            /* s by s, lower triangle */
  double *work;                         /* gpnn_cholesky_work(s) */
  double *diagonal;                     /* s: noise variances */
  double *r, *alpha, *w;                /* s each */
};

/* A row's term under way. */
struct term {
  const struct gpnn_dataset *data;
  const struct gpnn_parameters *params;
  const double *inverse; /* d: 1 / lengthscale */
  const double *map;     /* d by d, or NULL: in the place of 'inverse' */
  size_t k, stride;      /* neighbours; numbers from one column of z to the next */
  struct scratch *scratch;
};

/* What a row contributes; the gradient stands behind it. */
struct outcome {
  double loss, z2, jitter;
};

/* ---- scratch -------------------------------------------------------------------------- */

static void scratch_release(struct scratch *s)
{
  free(s->z);
  free(s->t);
  free(s->difference);
  free(s->r2);
  free(s->cross2);
  free(s->a);
  free(s->work);
  free(s->diagonal);
}

static bool scratch_init(struct scratch *scratch, size_t k, size_t d)
{
  size_t s = k + 1, pairs = s * k / 2;
  scratch->z = gpnn_alloc(d, s, sizeof(double));
  scratch->t = gpnn_alloc(d, s, sizeof(double));
  scratch->difference = gpnn_alloc(d, 1, sizeof(double));
  scratch->r2 = gpnn_alloc(3, pairs, sizeof(double));
  scratch->cross2 = gpnn_alloc(3, k, sizeof(double));
  scratch->a = gpnn_alloc(s, s, sizeof(double));
  scratch->work = gpnn_alloc(gpnn_cholesky_work(s), 1, sizeof(double));
  scratch->diagonal = gpnn_alloc(4, s, sizeof(double));
  if (scratch->z == NULL || scratch->t == NULL || scratch->difference == NULL ||
      scratch->r2 == NULL || scratch->cross2 == NULL || scratch->a == NULL ||
      scratch->work == NULL || scratch->diagonal == NULL)
    return false;
  scratch->slope = scratch->r2 + pairs;
  scratch->pair = scratch->slope + pairs;
  scratch->cross = scratch->cross2 + k;
  scratch->cross_slope = scratch->cross + k;
  scratch->r = scratch->diagonal + s;
  scratch->alpha = scratch->r + s;
  scratch->w = scratch->alpha + s;
  return true;
}

/* ---- covariances ---------------------------------------------------------------------- */

static double residual(const struct term *term, size_t row)
{
  const struct gpnn_dataset *data = term->data;
  size_t p = data->n_regressors;
  return data->y[row] - gpnn_mean_value(term->params->mean.kind, term->params->mean.coefficients,
                                        data->d, data->x + row * data->d, p,
                                        p == 0 ? NULL : data->regressors + row * p);
}

static double noise_of(const struct term *term, size_t row)
{
  return term->params->covariance.noise + (term->data->noise == NULL ? 0 : term->data->noise[row]);
}

/* Copies row 'row' to place 'i', its inputs about those of row 'centre'. */
static void place(const struct term *term, size_t i, size_t row, size_t centre)
{
  const struct scratch *scratch = term->scratch;
  size_t d = term->data->d;
  const double *x = term->data->x + row * d, *origin = term->data->x + centre * d;
  for (size_t j = 0; j < d; j++) scratch->difference[j] = x[j] - origin[j];
  for (size_t j = 0; j < d; j++)
    scratch->z[j * term->stride + i] =
        term->map == NULL ? scratch->difference[j] * term->inverse[j]
                          : cblas_ddot((int)d, term->map + j * d, 1, scratch->difference, 1);
  scratch->r[i] = residual(term, row);
  scratch->diagonal[i] = noise_of(term, row);
}

/* Correlations and slopes of all pairs among the first 'k' places. */
static void correlate_pairs(const struct term *term, size_t k)
{
  const struct scratch *scratch = term->scratch;
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

/* Writes the lower triangle of A over the first term->k places. */
static void fill_covariance(void *context, double *a)
{
  const struct term *term = context;
  const double *pair = term->scratch->pair;
  size_t k = term->k;
  for (size_t b = 0; b < k; b++) {
    double *column = a + b * k;
    column[b] = term->params->covariance.kernelscale + term->scratch->diagonal[b];
    for (size_t i = b + 1; i < k; i++) column[i] = term->params->covariance.kernelscale * *pair++;
  }
}

/* Correlations and slopes of the places with the row in their centre. */
static void correlate_with_centre(const struct term *term)
{
  const struct scratch *scratch = term->scratch;
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

/* sum_i weight_i (z_i - here)^2 */
GPNN_SIMD static double weighted_squares(size_t n, const double *weight, const double *z,
                                         double here)
{
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; i++) sum += weight[i] * (z[i] - here) * (z[i] - here);
  return sum;
}

/*
 * Adds to 'gradient' the derivatives that come through the pairs of places, whose weights
 * kernelscale g(r) dell/dA stand in scratch->pair, once for both triangles.
 */
static void add_pairs(const struct term *term, double *gradient)
{
  const struct scratch *scratch = term->scratch;
  size_t stride = term->stride, k = term->k;
  /* With one lengthscale the distances say all. */
  if (term->params->covariance.n_lengthscales == 1) {
    gradient[0] += 2 * cblas_ddot((int)(k * (k - (k > 0)) / 2), scratch->pair, 1, scratch->r2, 1);
    return;
  }
  for (size_t j = 0; j < term->data->d; j++) {
    const double *z = scratch->z + j * stride, *weight = scratch->pair;
    double sum = 0;
    for (size_t b = 0; b + 1 < k; b++) {
      sum += weighted_squares(k - 1 - b, weight, z + b + 1, z[b]);
      weight += k - 1 - b;
    }
    gradient[term->data->group[j]] += 2 * sum;
  }
}

/* The same through the covariances with the centre, of weights 'weight'. */
static void add_cross(const struct term *term, const double *weight, double *gradient)
{
  for (size_t j = 0; j < term->data->d; j++)
    gradient[term->params->covariance.n_lengthscales == 1 ? 0 : term->data->group[j]] +=
        weighted_squares(term->k, weight, term->scratch->z + j * term->stride, 0);
}

/* ---- derivatives by the map ------------------------------------------------------------ */

/*
 * Adds to 'by_map' what add_pairs() adds to its diagonal, for all pairs of directions
 * (gpnn-methods(7), equation 4.26):
 * 2 sum_ab weight_ab (z_a - z_b)(z_a - z_b)' over pairs, = 2 Z (D - W) Z', with the weights as a
 * symmetric matrix W and its row sums D.
 */
static void add_map_pairs(const struct term *term, double *by_map)
{
  const struct scratch *scratch = term->scratch;
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

/* The same with the centre, of weights 'weight'. */
static void add_map_cross(const struct term *term, const double *weight, double *by_map)
{
  const struct scratch *scratch = term->scratch;
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
static void conditional_gradient(const struct term *term, double by_mean, double by_variance,
                                 double explained, double *gradient, double *by_map)
{
  const struct gpnn_parameters *params = term->params;
  const struct scratch *scratch = term->scratch;
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

/* The log density of row 'row' given the neighbours in place. */
static enum gpnn_status conditional(struct term *term, size_t row, struct outcome *outcome,
                                    double *gradient, double *by_map, struct gpnn_error *err)
{
  const struct scratch *scratch = term->scratch;
  const struct gpnn_parameters *params = term->params;
  size_t k = term->k;
  correlate_pairs(term, k);
  correlate_with_centre(term);
  fill_covariance(term, scratch->a);
  enum gpnn_status status =
      gpnn_cholesky_factor(k, scratch->a, scratch->work, params->covariance.kernelscale,
                           fill_covariance, term, &outcome->jitter, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < k; i++) {
    scratch->alpha[i] = scratch->r[i];
    scratch->w[i] = params->covariance.kernelscale * scratch->cross[i];
  }
  gpnn_cholesky_forward(k, scratch->a, 1, scratch->w);
  gpnn_cholesky_forward(k, scratch->a, 1, scratch->alpha);
  double explained = cblas_ddot((int)k, scratch->w, 1, scratch->w, 1);
  double mean = cblas_ddot((int)k, scratch->w, 1, scratch->alpha, 1);
  double total = params->covariance.kernelscale + noise_of(term, row);
  double v = fmax(total - explained, 1e-12 * total), e = residual(term, row) - mean;
  outcome->z2 = e * e / v;
  outcome->loss = 0.5 * (log(v) + outcome->z2 + log_two_pi);
  if (gradient == NULL || !isfinite(outcome->loss)) return GPNN_OK;
  gpnn_cholesky_backward(k, scratch->a, 1, scratch->w);
  gpnn_cholesky_backward(k, scratch->a, 1, scratch->alpha);
  conditional_gradient(term, e / v, 0.5 * (outcome->z2 - 1) / v, explained, gradient, by_map);
  return GPNN_OK;
}

/* ---- joint ---------------------------------------------------------------------------- */

/* Gradient of log N(r; 0, A), A inverted in place (gpnn-methods(7), equations 4.20 to
 * 4.23). */
static void joint_gradient(const struct term *term, double fit, double *gradient, double *by_map)
{
  const struct gpnn_parameters *params = term->params;
  const struct scratch *scratch = term->scratch;
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

/* The log density of the rows in place together. */
static enum gpnn_status joint(struct term *term, struct outcome *outcome, double *gradient,
                              double *by_map, struct gpnn_error *err)
{
  const struct scratch *scratch = term->scratch;
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
  outcome->loss = 0.5 * (fit + gpnn_cholesky_logdet(k, scratch->a) + (double)k * log_two_pi);
  if (gradient == NULL || !isfinite(outcome->loss)) return GPNN_OK;
  gpnn_cholesky_invert(k, scratch->a, scratch->work);
  joint_gradient(term, fit, gradient, by_map);
  return GPNN_OK;
}

/* ---- all rows ------------------------------------------------------------------------- */

/* Puts the neighbours of row 'i' in place, and for the joint density the row before them. */
static void gather(struct term *term, const struct gpnn_neighbourhoods *hoods,
                   enum gpnn_density density, size_t i)
{
  size_t centre = (size_t)hoods->row[i];
  term->k = 0;
  if (density == GPNN_DENSITY_JOINT) place(term, term->k++, centre, centre);
  for (size_t a = 0; a < hoods->k; a++) {
    int64_t row = hoods->neighbour[i * hoods->k + a];
    if (row >= 0) place(term, term->k++, (size_t)row, centre);
  }
}

/* All rows under way: 'gradients' has for each row 'width' numbers of the gradient and then,
 * behind them, of the map, n_map of them. */
struct evaluation {
  struct term shared;
  const struct gpnn_neighbourhoods *hoods;
  enum gpnn_density density;
  size_t n_threads, width, n_map;
  struct scratch *scratch;  /* n_threads, each made when it is first needed */
  struct gpnn_lanes *lanes; /* likewise; NULL: rows are evaluated one by one */
  struct outcome *outcomes;
  double *gradients; /* NULL: none are wanted */
};

static void evaluation_release(struct evaluation *e)
{
  for (size_t t = 0; e->scratch != NULL && t < e->n_threads; t++) scratch_release(&e->scratch[t]);
  for (size_t t = 0; e->lanes != NULL && t < e->n_threads; t++) gpnn_lanes_release(&e->lanes[t]);
  free(e->scratch);
  free(e->lanes);
  free(e->outcomes);
  free(e->gradients);
}

/* Many neighbours fill vectors by themselves, and several rows' matrices would not fit the cache.
 */
static bool uses_lanes(const struct evaluation *e)
{
  enum { MOST = 128 };
  return e->density == GPNN_DENSITY_CONDITIONAL && e->hoods->k > 0 && e->hoods->k <= MOST;
}

static bool evaluation_alloc(struct evaluation *e, bool with_gradient)
{
  size_t n = e->hoods->n;
  bool by_lanes = uses_lanes(e);
  e->scratch = gpnn_alloc(e->n_threads, 1, sizeof *e->scratch);
  if (by_lanes) e->lanes = gpnn_alloc(e->n_threads, 1, sizeof *e->lanes);
  e->outcomes = gpnn_alloc(n, 1, sizeof *e->outcomes);
  if (with_gradient) e->gradients = gpnn_alloc(n, e->width + e->n_map, sizeof *e->gradients);
  return e->scratch && e->outcomes && !(by_lanes && !e->lanes) && !(with_gradient && !e->gradients);
}

/* Makes what a thread works in, unless it is there; false without memory. */
static bool prepare(const struct evaluation *e, size_t thread)
{
  const struct term *term = &e->shared;
  if (e->scratch[thread].z != NULL) return true;
  return scratch_init(&e->scratch[thread], e->hoods->k, term->data->d) &&
         (e->lanes == NULL ||
          gpnn_lanes_init(&e->lanes[thread], term->data, term->params, term->inverse, term->map,
                          e->hoods->k, e->gradients != NULL && e->n_map > 0));
}

static void evaluate_row(const struct evaluation *e, size_t thread, size_t i)
{
  struct term term = e->shared;
  struct gpnn_error ignored;
  struct outcome *outcome = &e->outcomes[i];
  double *gradient = e->gradients == NULL ? NULL : e->gradients + i * (e->width + e->n_map);
  double *by_map = gradient == NULL || e->n_map == 0 ? NULL : gradient + e->width;
  for (size_t j = 0; gradient != NULL && j < e->width + e->n_map; j++) gradient[j] = 0;
  term.scratch = &e->scratch[thread];
  gather(&term, e->hoods, e->density, i);
  enum gpnn_status status =
      e->density == GPNN_DENSITY_JOINT
          ? joint(&term, outcome, gradient, by_map, &ignored)
          : conditional(&term, (size_t)e->hoods->row[i], outcome, gradient, by_map, &ignored);
  if (status != GPNN_OK || !isfinite(outcome->loss)) outcome->loss = NAN;
}

/* Rows from 'first' on, side by side; false, with nothing done: one lacks neighbours. */
static bool evaluate_lanes(const struct evaluation *e, size_t thread, size_t first)
{
  const struct gpnn_neighbourhoods *hoods = e->hoods;
  const int64_t *neighbour = hoods->neighbour + first * hoods->k;
  size_t all = e->width + e->n_map;
  double loss[GPNN_LANES], z2[GPNN_LANES];
  if (e->lanes == NULL || hoods->n - first < GPNN_LANES) return false;
  for (size_t a = 0; a < GPNN_LANES * hoods->k; a++)
    if (neighbour[a] < 0) return false;
  const double *squares =
      hoods->squares == NULL ? NULL : hoods->squares + first * GPNN_HOOD_SQUARES(hoods->k);
  gpnn_lanes_conditional(&e->lanes[thread], hoods->row + first, neighbour, squares, loss, z2,
                         e->gradients == NULL ? NULL : e->gradients + first * all, all);
  for (size_t l = 0; l < GPNN_LANES; l++)
    e->outcomes[first + l] = (struct outcome){loss[l], z2[l], 0};
  return true;
}

/* A piece is GPNN_LANES rows, or as many as are left; those that need jitter one by one. */
static enum gpnn_status evaluate_rows(void *context, size_t thread, size_t piece,
                                      struct gpnn_error *err)
{
  const struct evaluation *e = context;
  if (!prepare(e, thread)) return gpnn_fail_memory(err, "for neighbourhoods");
  size_t first = piece * GPNN_LANES, left = e->hoods->n - first;
  size_t end = first + (left < GPNN_LANES ? left : GPNN_LANES);
  bool done = evaluate_lanes(e, thread, first);
  for (size_t i = first; i < end; i++)
    if (!done || isnan(e->outcomes[i].loss)) evaluate_row(e, thread, i);
  return GPNN_OK;
}

GPNN_SIMD static double square_distance(size_t d, const double *x, const double *z)
{
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t j = 0; j < d; j++) sum += (x[j] - z[j]) * (x[j] - z[j]);
  return sum;
}

/* Distances under way. */
struct squaring {
  const struct gpnn_neighbourhoods *hoods;
  const double *x;
  size_t d;
  double *squares;
};

static void square_row(void *context, size_t thread, size_t i)
{
  const struct squaring *all = context;
  const double *x = all->x;
  size_t k = all->hoods->k, d = all->d;
  double *to = all->squares + i * GPNN_HOOD_SQUARES(k);
  const int64_t *neighbour = all->hoods->neighbour + i * k;
  (void)thread;
  if (k == 0 || neighbour[k - 1] < 0) return;
  for (size_t a = 0; a < k; a++)
    for (size_t b = 0; b < a; b++)
      *to++ = square_distance(d, x + (size_t)neighbour[a] * d, x + (size_t)neighbour[b] * d);
  for (size_t a = 0; a < k; a++)
    *to++ = square_distance(d, x + (size_t)neighbour[a] * d, x + (size_t)all->hoods->row[i] * d);
}

void gpnn_neighbourhood_squares(const struct gpnn_dataset *dataset,
                                const struct gpnn_neighbourhoods *hoods, int threads,
                                double *squares)
{
  enum { TOGETHER = 32 };
  struct squaring all = {hoods, dataset->x, dataset->d, squares};
  gpnn_threads_each(threads, hoods->n, TOGETHER, square_row, &all);
}

/* Sums over the rows in their order, so that rounding does not depend on who computed what. */
static enum gpnn_status add_up(const struct evaluation *e, struct gpnn_neighbourhood_result *result,
                               struct gpnn_error *err)
{
  size_t used = 0, all = e->width + e->n_map;
  double sum = 0;
  result->jitter = (struct gpnn_jitter){0, 0};
  for (size_t j = 0; e->gradients != NULL && j < e->width; j++) result->gradient[j] = 0;
  for (size_t j = 0; e->gradients != NULL && j < e->n_map; j++) result->by_map[j] = 0;
  for (size_t i = 0; i < e->hoods->n; i++) {
    if (isnan(e->outcomes[i].loss)) continue;
    used++;
    sum += e->outcomes[i].loss;
    gpnn_jitter_note(&result->jitter, e->outcomes[i].jitter > 0, e->outcomes[i].jitter);
    if (e->gradients == NULL) continue;
    const double *own = e->gradients + i * all;
    for (size_t j = 0; j < e->width; j++) result->gradient[j] -= own[j];
    /* A lengthscale and its direction of the map pull in opposite ways. */
    for (size_t j = 0; j < e->n_map; j++) result->by_map[j] += own[e->width + j];
  }
  if (used == 0) return gpnn_fail(err, GPNN_ENUMERIC, "the likelihood is not finite");
  result->value = sum / (double)used;
  for (size_t j = 0; e->gradients != NULL && j < e->width; j++) result->gradient[j] /= (double)used;
  for (size_t j = 0; e->gradients != NULL && j < e->n_map; j++) result->by_map[j] /= (double)used;
  return GPNN_OK;
}

enum gpnn_status gpnn_neighbourhood_objective(
    const struct gpnn_dataset *dataset, const struct gpnn_parameters *params, const double *map,
    enum gpnn_density density, const struct gpnn_neighbourhoods *hoods, struct gpnn_team *team,
    int threads, struct gpnn_neighbourhood_result *result, struct gpnn_error *err)
{
  size_t d = dataset->d, n_pieces = (hoods->n + GPNN_LANES - 1) / GPNN_LANES;
  double *inverse = gpnn_alloc(d, 1, sizeof *inverse);
  struct evaluation e = {
      .shared = {.data = dataset, .params = params, .map = map, .stride = hoods->k + 1},
      .hoods = hoods,
      .density = density,
      .n_threads = (size_t)gpnn_threads_for(threads, n_pieces),
      .width = params->covariance.n_lengthscales + 3,
      .n_map = result->by_map == NULL ? 0 : d * d};
  enum gpnn_status status = GPNN_OK;
  e.shared.inverse = inverse;
  if (inverse == NULL || !evaluation_alloc(&e, result->gradient != NULL)) {
    status = gpnn_fail_memory(err, "for neighbourhoods");
  } else {
    gpnn_covariance_expand(&params->covariance, d, dataset->group, inverse);
    for (size_t j = 0; j < d; j++) inverse[j] = 1 / inverse[j];
    status = gpnn_team_try(team, (int)e.n_threads, n_pieces, 1, evaluate_rows, &e, err);
    if (status == GPNN_OK) status = add_up(&e, result, err);
  }
  for (size_t i = 0; i < hoods->n && status == GPNN_OK; i++) {
    if (result->loss != NULL) result->loss[i] = e.outcomes[i].loss;
    if (result->z2 != NULL) result->z2[i] = e.outcomes[i].z2;
  }
  evaluation_release(&e);
  free(inverse);
  return status;
}
