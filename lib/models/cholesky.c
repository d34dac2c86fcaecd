#include "models/cholesky.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>

#include "base/blas.h"

/*
 * dpotrf compares pivots with zero, which a NaN passes; but a NaN or infinity anywhere in
 * row i of the lower triangle ends up in L_ii, so the diagonal of the factor tells.
 */
static bool factor_in_place(size_t n, double *k)
{
  lapack_int order = (lapack_int)n;
  if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', order, k, order) != 0) return false;
  for (size_t i = 0; i < n; i++)
    if (!isfinite(k[i * n + i])) return false;
  return true;
}

static bool lower_is_finite(size_t n, const double *k)
{
  for (size_t j = 0; j < n; j++)
    for (size_t i = j; i < n; i++)
      if (!isfinite(k[j * n + i])) return false;
  return true;
}

enum gpnn_status gpnn_cholesky_factor(size_t n, double *k, double scale,
                                      void (*refill)(void *context, double *k), void *context,
                                      double *jitter, struct gpnn_error *err)
{
  assert(n <= INT_MAX);
  double tried = 0;
  for (double share = 1e-10; n > 0 && !factor_in_place(n, k); share *= 10) {
    if (share > 2e-4)
      return gpnn_fail(err, GPNN_ENUMERIC,
                       "covariance matrix of order %zu is not positive definite, even with %.3g "
                       "on its diagonal",
                       n, tried);
    refill(context, k);
    if (!lower_is_finite(n, k))
      return gpnn_fail(err, GPNN_ENUMERIC,
                       "covariance matrix of order %zu holds a value that is not finite", n);
    tried = share * scale;
    for (size_t i = 0; i < n; i++) k[i * n + i] += tried;
  }
  *jitter = tried;
  return GPNN_OK;
}

void gpnn_cholesky_forward(size_t n, const double *factor, size_t n_rhs, double *b)
{
  int order = (int)n;
  if (n == 0 || n_rhs == 0) return;
  if (n_rhs == 1)
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, order, factor, order, b, 1);
  else
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, order, (int)n_rhs,
                1, factor, order, b, order);
}

void gpnn_cholesky_backward(size_t n, const double *factor, size_t n_rhs, double *b)
{
  int order = (int)n;
  if (n == 0 || n_rhs == 0) return;
  if (n_rhs == 1)
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, order, factor, order, b, 1);
  else
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, order, (int)n_rhs,
                1, factor, order, b, order);
}

void gpnn_cholesky_solve(size_t n, const double *factor, double *b)
{
  int order = (int)n;
  if (n == 0) return;
  cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, order, factor, order, b, 1);
  cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, order, factor, order, b, 1);
}

double gpnn_cholesky_logdet(size_t n, const double *factor)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += log(factor[i * n + i]);
  return 2 * sum;
}

/*
 * Inverts the lower triangle of order n and leading dimension 'stride' by halves,
 *   [A 0; B C]^-1 = [A^-1 0; -C^-1 B A^-1  C^-1],
 * which spends its time in dtrmm.  LAPACK's dtrtri spends it in dtrsm, which runs at a
 * quarter of the speed in OpenBLAS at these orders.
 */
static void invert_triangle(size_t n, size_t stride, double *l)
{
  int ld = (int)stride;
  if (n <= 32) {
    lapack_int failed = LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'L', 'N', (lapack_int)n, l, ld);
    assert(failed == 0); /* the diagonal of a factor has no zero */
    (void)failed;
    return;
  }
  size_t half = n / 2, rest = n - half;
  double *below = l + half, *corner = l + half * stride + half;
  invert_triangle(half, stride, l);
  invert_triangle(rest, stride, corner);
  cblas_dtrmm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, (int)rest,
              (int)half, -1, l, ld, below, ld);
  cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)rest,
              (int)half, 1, corner, ld, below, ld);
}

void gpnn_cholesky_invert(size_t n, double *factor)
{
  if (n == 0) return;
  invert_triangle(n, n, factor);
  /* K^-1 = L^-T L^-1 */
  lapack_int failed =
      LAPACKE_dlauum_work(LAPACK_COL_MAJOR, 'L', (lapack_int)n, factor, (lapack_int)n);
  assert(failed == 0);
  (void)failed;
}
