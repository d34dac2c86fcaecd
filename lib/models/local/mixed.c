/*
 * The local solve in mixed precision (gpnn-methods(7), equations 3.19 to 3.23).
 *
 * A single-precision factor, L L' = K + E, gives x = L^-T L^-1 k, close to K^-1 k.  With the
 * residual r = k - K x in double precision, w = L^-1 r, u = L^-1 b and D = L^-1 E L^-T,
 *   b'K^-1 k = b'x + r'K^-1 b        = b'x + w'u         to within |w| |D| |u|,
 *   k'K^-1 k = k'x + r'x + r'K^-1 r  = k'x + r'x + w'w   to within |w|^2 |D|.
 * Since |w| is about |D| |L^-1 k|, these errors are of second and third order in |D|.  |D| is
 * estimated as the larger of what the steps show and what the smallest pivot makes possible.  While
 * the error is too large, x is refined by adding L^-T w, which reduces w by another factor |D|.
 */
#include <math.h>

#include "models/local/local_private.h"

/* Safety factor: the largest error observed is 20 times what the formulas above say. */
static const double caution = 64;

/* Guaranteed absolute error of the mean, and relative errors of the latent variance and the misfit.
 */
static const double mean_tolerance = 1e-8, variance_tolerance = 1e-7, misfit_tolerance = 1e-7;

/* Rounding of doubles relative to that of floats: the error that a double solve has anyway. */
static const double finer = 0x1p-29;

struct mixed_solve {
  const struct gpnn_panel_set *set;
  const struct gpnn_local_mixed *mixed;
  size_t n, n_rows;
  const double *k;
};

/* Row 'i' of the matrix, and of the factor; their numbers are set->lanes and twice that apart. */
static const double *given(const struct mixed_solve *s, size_t i)
{
  return s->k + gpnn_panel_at(s->n, s->set->lanes, i, 0);
}

static const float *solved(const struct mixed_solve *s, size_t i)
{
  return s->mixed->k + gpnn_panel_at(s->n, 2 * s->set->lanes, i, 0);
}

static double norm(size_t n, size_t stride, const float *x)
{
  double sum = 0;
  for (size_t a = 0; a < n; a++) sum += (double)x[a * stride] * (double)x[a * stride];
  return sqrt(sum);
}

/* How large |D| may be: a few roundings to floats, amplified by the smallest pivot. */
static double least_error(const struct mixed_solve *s)
{
  size_t lanes = 2 * s->set->lanes;
  double least = INFINITY;
  for (size_t a = 0; a < s->n; a++) least = fmin(least, (double)solved(s, a)[a * lanes]);
  return 0x1p-23 * given(s, 0)[0] / (least * least);
}

/* The largest |u| of the right-hand sides. */
static double largest_norm(const struct mixed_solve *s)
{
  double most = 0;
  for (size_t i = s->n + 1; i < s->n_rows; i++)
    most = fmax(most, norm(s->n, 2 * s->set->lanes, solved(s, i)));
  return most;
}

/* Sets x to L^-T L^-1 b for the right-hand side b in row 'i'. */
static void start(const struct mixed_solve *s, size_t i)
{
  size_t lanes = 2 * s->set->lanes, whole = (s->n + lanes - 1) / lanes * lanes;
  const float *v = solved(s, i);
  for (size_t a = 0; a < whole; a++) s->mixed->step[a] = a < s->n ? v[a * lanes] : 0;
  s->set->backward(s->n, s->mixed->k, s->mixed->step);
  for (size_t a = 0; a < whole; a++) s->mixed->x[a] = (double)s->mixed->step[a];
}

/* Sets the residual to b - K x for the right-hand side b in row 'i' and the step to w; returns the
 * norm of w. */
static double find_residual(const struct mixed_solve *s, size_t i)
{
  const struct gpnn_local_mixed *mixed = s->mixed;
  const double *b = given(s, i);
  for (size_t a = 0; a < s->n; a++) mixed->residual[a] = b[a * s->set->lanes];
  s->set->subtract_product(s->n, s->k, mixed->x, mixed->residual);
  for (size_t a = 0; a < s->n; a++) mixed->step[a] = (float)mixed->residual[a];
  s->set->forward(s->n, mixed->k, mixed->step);
  return norm(s->n, 1, mixed->step);
}

static void refine(const struct mixed_solve *s)
{
  s->set->backward(s->n, s->mixed->k, s->mixed->step);
  for (size_t a = 0; a < s->n; a++) s->mixed->x[a] += (double)s->mixed->step[a];
}

/* b'K^-1 b for the right-hand side b in row 'i', which x, the residual and the step belong to. */
static double square(const struct mixed_solve *s, size_t i)
{
  const double *x = s->mixed->x, *residual = s->mixed->residual, *b = given(s, i);
  const float *w = s->mixed->step;
  double sum = 0;
  for (size_t a = 0; a < s->n; a++)
    sum += (b[a * s->set->lanes] + residual[a]) * x[a] + (double)w[a] * (double)w[a];
  return sum;
}

/* Writes b'K^-1 k for every right-hand side b. */
static void explain(const struct mixed_solve *s, double *explained)
{
  const double *x = s->mixed->x;
  const float *w = s->mixed->step;
  size_t n = s->n, lanes = s->set->lanes;
  explained[0] = square(s, n);
  for (size_t i = n + 1; i < s->n_rows; i++) {
    const double *b = given(s, i);
    const float *u = solved(s, i);
    double sum = 0;
    for (size_t a = 0; a < n; a++)
      sum += b[a * lanes] * x[a] + (double)w[a] * (double)u[2 * a * lanes];
    explained[i - n] = sum;
  }
}

bool gpnn_local_solve_mixed(const struct gpnn_panel_set *set, const struct gpnn_local_mixed *mixed,
                            size_t n, size_t n_rows, const double *k, double *explained)
{
  enum { PASSES = 3 };
  const struct mixed_solve s = {set, mixed, n, n_rows, k};
  set->narrow(n, n_rows, k, mixed->k);
  if (!set->factor_float(n, n_rows, mixed->k)) return false;
  double v = norm(n, 2 * set->lanes, solved(&s, n)), u = largest_norm(&s), d = least_error(&s),
         before = v;
  start(&s, n);
  for (int pass = 0; pass < PASSES; pass++) {
    double w = find_residual(&s, n);
    if (w > 0) d = fmax(d, w / before);
    explain(&s, explained);
    double mean_error = caution * d * u * (w + finer * v);
    double variance_error = caution * d * (w * w + finer * v * v);
    if (mean_error <= mean_tolerance && variance_error <= variance_tolerance * (1 - explained[0]))
      return true;
    if (!(d < 0.01)) break; /* refinement would converge too slowly */
    refine(&s);
    before = w;
  }
  return false;
}

bool gpnn_local_mixed_square(const struct gpnn_panel_set *set, const struct gpnn_local_mixed *mixed,
                             size_t n, size_t row, const double *k, double *result)
{
  const struct mixed_solve s = {set, mixed, n, row + 1, k};
  double u = norm(n, 2 * set->lanes, solved(&s, row)), d = least_error(&s);
  start(&s, row);
  double w = find_residual(&s, row);
  if (u > 0) d = fmax(d, w / u);
  *result = square(&s, row);
  return caution * d * (w * w + finer * u * u) <= misfit_tolerance * *result;
}
