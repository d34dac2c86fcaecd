/*
 * With scratch memory, matrices are copied into panels (linalg/panels/panels.h) and factored or
 * inverted there, which takes half the time of LAPACK at the orders of local models.
 */
#include "linalg/factors/cholesky.h"

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>

#include "linalg/blas.h"
#include "linalg/panels/panels.h"

size_t gpnn_cholesky_work(size_t n)
{
  return 2 * gpnn_panel_room(n, n, gpnn_panels_best()->lanes);
}

double gpnn_cholesky_rounding(size_t n)
{
  return (double)n * DBL_EPSILON;
}

/* ---- factor ------------------------------------------------------------------------------- */

static bool factor_by_lapack(size_t n, double *k)
{
  lapack_int order = (lapack_int)n;
  if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', order, k, order) != 0) return false;
  /* dpotrf compares pivots with zero, which does not catch a NaN.  But a NaN or infinity anywhere
   * in row i of the lower triangle ends up in L_ii, so it is enough to look at the diagonal. */
  for (size_t i = 0; i < n; i++)
    if (!isfinite(k[i * n + i])) return false;
  return true;
}

static bool factor_columns(size_t n, double *k, double *work)
{
  const struct gpnn_panel_set *set = gpnn_panels_best();
  if (work == NULL) return factor_by_lapack(n, k);
  set->pack(n, k, work);
  if (!set->factor(n, n, work)) return false;
  set->unpack(n, work, k);
  return true;
}

/* A matrix to factor: column-major, or in panels with right-hand sides below. */
struct matrix {
  const struct gpnn_panel_set *set; /* NULL: column-major */
  size_t n, n_rows;
  double *k, *work;
};

static double *element(const struct matrix *m, size_t i, size_t j)
{
  return m->k + (m->set == NULL ? j * m->n + i : gpnn_panel_at(m->n, m->set->lanes, i, j));
}

static double largest_on_diagonal(const struct matrix *m)
{
  double largest = 0;
  for (size_t i = 0; i < m->n; i++) largest = fmax(largest, *element(m, i, i));
  return largest;
}

/*
 * True if each pivot exceeds the rounding errors of the subtractions that led to it; otherwise it
 * might as well be zero, and solutions would mean nothing.  'largest' was the largest diagonal
 * element of K, for a quick test.  If that fails, each pivot is compared with its own K_ii, which
 * is the sum of the squares of row i of L, so that rows with much noise do not decide for the
 * others.
 */
static bool pivots_exceed_rounding(const struct matrix *m, double largest)
{
  double least = INFINITY;
  for (size_t i = 0; i < m->n; i++) least = fmin(least, *element(m, i, i));
  if (least * least > gpnn_cholesky_rounding(m->n) * largest) return true;
  for (size_t i = 0; i < m->n; i++) {
    double diagonal = 0, root = *element(m, i, i);
    for (size_t j = 0; j <= i; j++) diagonal += *element(m, i, j) * *element(m, i, j);
    if (!(root * root > gpnn_cholesky_rounding(m->n) * diagonal)) return false;
  }
  return true;
}

static bool factor_matrix(const struct matrix *m)
{
  double largest = largest_on_diagonal(m);
  bool done =
      m->set == NULL ? factor_columns(m->n, m->k, m->work) : m->set->factor(m->n, m->n_rows, m->k);
  return done && pivots_exceed_rounding(m, largest);
}

static bool lower_is_finite(const struct matrix *m)
{
  for (size_t j = 0; j < m->n; j++)
    for (size_t i = j; i < m->n; i++)
      if (!isfinite(*element(m, i, j))) return false;
  return true;
}

/* The jitter policy of gpnn_cholesky_factor(). */
static enum gpnn_status factor_with_jitter(const struct matrix *m, double scale,
                                           void (*refill)(void *context, double *k), void *context,
                                           double *jitter, struct gpnn_error *err)
{
  assert(m->n <= INT_MAX);
  double tried = 0;
  for (double factor = 1e-10; m->n > 0 && !factor_matrix(m); factor *= 10) {
    if (factor > 2e-4)
      return gpnn_fail(err, GPNN_ENUMERIC,
                       "covariance matrix of order %zu is not positive definite, even with %.3g "
                       "on its diagonal",
                       m->n, tried);
    refill(context, m->k);
    if (!lower_is_finite(m))
      return gpnn_fail(err, GPNN_ENUMERIC,
                       "covariance matrix of order %zu holds a value that is not finite", m->n);
    tried = factor * scale;
    for (size_t i = 0; i < m->n; i++) *element(m, i, i) += tried;
  }
  if (jitter != NULL) *jitter = tried;
  return GPNN_OK;
}

enum gpnn_status gpnn_cholesky_factor(size_t n, double *k, double *work, double scale,
                                      void (*refill)(void *context, double *k), void *context,
                                      double *jitter, struct gpnn_error *err)
{
  const struct matrix m = {NULL, n, n, k, work};
  return factor_with_jitter(&m, scale, refill, context, jitter, err);
}

enum gpnn_status gpnn_cholesky_factor_panels(const struct gpnn_panel_set *set, size_t n,
                                             size_t n_rows, double *a, double scale,
                                             void (*refill)(void *context, double *a),
                                             void *context, double *jitter, struct gpnn_error *err)
{
  const struct matrix m = {set, n, n_rows, a, NULL};
  return factor_with_jitter(&m, scale, refill, context, jitter, err);
}

/* ---- solve -------------------------------------------------------------------------------- */

/* Solves L z = b, or L' z = b. */
static void solve_triangle(CBLAS_TRANSPOSE transpose, size_t n, const double *factor, size_t n_rhs,
                           double *b)
{
  int order = (int)n;
  if (n == 0 || n_rhs == 0) return;
  if (n_rhs == 1)
    cblas_dtrsv(CblasColMajor, CblasLower, transpose, CblasNonUnit, order, factor, order, b, 1);
  else
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, transpose, CblasNonUnit, order, (int)n_rhs, 1,
                factor, order, b, order);
}

void gpnn_cholesky_forward(size_t n, const double *factor, size_t n_rhs, double *b)
{
  solve_triangle(CblasNoTrans, n, factor, n_rhs, b);
}

void gpnn_cholesky_backward(size_t n, const double *factor, size_t n_rhs, double *b)
{
  solve_triangle(CblasTrans, n, factor, n_rhs, b);
}

void gpnn_cholesky_solve(size_t n, const double *factor, double *b)
{
  gpnn_cholesky_forward(n, factor, 1, b);
  gpnn_cholesky_backward(n, factor, 1, b);
}

double gpnn_cholesky_logdet(size_t n, const double *factor)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += log(factor[i * n + i]);
  return 2 * sum;
}

/* ---- invert ------------------------------------------------------------------------------- */

static void invert_by_lapack(size_t n, double *factor)
{
  lapack_int order = (lapack_int)n;
  lapack_int failed = LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', order, factor, order);
  assert(failed == 0); /* it fails only if a diagonal element is zero */
  (void)failed;
}

void gpnn_cholesky_invert(size_t n, double *factor, double *work)
{
  const struct gpnn_panel_set *set = gpnn_panels_best();
  if (n > 0 && work == NULL) invert_by_lapack(n, factor);
  if (n == 0 || work == NULL) return;
  set->pack(n, factor, work);
  set->invert(n, work, work + gpnn_panel_room(n, n, set->lanes));
  set->unpack(n, work, factor);
}
