#include "models/grid/root.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "linalg/factors/cholesky.h"
#include "linalg/factors/eigen.h"

#define MEMORY_FOR "for a root of a factor's covariance"

static const double LEAST_JITTER = 1e-8;
enum { JITTERS = 3 };

/* Row-major and lower triangular is column-major and upper, which LAPACK factors as U' U; the rest
 * is cleared.  False: a pivot is not positive, or only by rounding. */
static bool factor(size_t n, const double *k, double jitter, double *f)
{
  double rounding = gpnn_cholesky_rounding(n);
  memcpy(f, k, n * n * sizeof *f);
  for (size_t i = 0; i < n; i++) f[i * n + i] += jitter;
  if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, f, (lapack_int)n) != 0)
    return false;
  for (size_t i = 0; i < n; i++) {
    double pivot = f[i * n + i] * f[i * n + i];
    if (!(pivot > rounding * (k[i * n + i] + jitter))) return false;
    memset(f + i * n + i + 1, 0, (n - i - 1) * sizeof *f);
  }
  return true;
}

/* The root of eigenvectors: column j of f is vector j times the root of its value. */
static enum gpnn_status decompose(struct gpnn_grid_root *root, const double *k,
                                  struct gpnn_error *err)
{
  size_t n = root->n;
  double *vectors = gpnn_alloc(n, n, sizeof *vectors);
  root->value = gpnn_alloc(n, 1, sizeof *root->value);
  if (vectors == NULL || root->value == NULL) {
    free(vectors);
    return gpnn_fail_memory(err, MEMORY_FOR);
  }
  memcpy(vectors, k, n * n * sizeof *k);
  enum gpnn_status status = gpnn_eigen(n, vectors, root->value, "a factor's covariance", err);
  double least = (double)n * DBL_EPSILON * root->value[n - 1];
  for (size_t j = 0; j < n && status == GPNN_OK; j++) {
    if (!(root->value[j] > least)) root->value[j] = 0;
    double size = sqrt(root->value[j]);
    for (size_t i = 0; i < n; i++) root->f[i * n + j] = size * vectors[j * n + i];
  }
  free(vectors);
  return status;
}

static enum gpnn_status find(struct gpnn_grid_root *root, const double *k, struct gpnn_error *err)
{
  size_t n = root->n;
  double mean = 0;
  if (gpnn_blas_claim(1) == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  for (size_t i = 0; i < n; i++) mean += k[i * n + i] / (double)n;
  if (factor(n, k, 0, root->f)) return GPNN_OK;
  double jitter = LEAST_JITTER * mean;
  for (int i = 0; i < JITTERS; i++, jitter *= 10) {
    if (!factor(n, k, jitter, root->f)) continue;
    root->jitter = jitter;
    return GPNN_OK;
  }
  return decompose(root, k, err);
}

enum gpnn_status gpnn_grid_root_make(struct gpnn_grid_root *root, size_t n, const double *k,
                                     struct gpnn_error *err)
{
  root->n = n;
  root->f = gpnn_alloc(n, n, sizeof *root->f);
  enum gpnn_status status =
      root->f == NULL ? gpnn_fail_memory(err, MEMORY_FOR) : find(root, k, err);
  if (status != GPNN_OK) gpnn_grid_root_release(root);
  return status;
}

/* Rows that are extended together: always as many, so that what becomes of one does not depend on
 * the others. */
enum { GROUP = 32 };

/* B = K_new,old F^-1', where F is triangular, or K_new,old F / value. */
static void extend_group(const struct gpnn_grid_root *root, double *k, double *b)
{
  int n = (int)root->n;
  if (root->value == NULL) {
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, GROUP, n, 1,
                root->f, n, k, n);
    return;
  }
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, GROUP, n, n, 1, k, n, root->f, n, 0, b, n);
  for (size_t i = 0; i < GROUP; i++)
    for (size_t j = 0; j < root->n; j++)
      k[i * root->n + j] = root->value[j] > 0 ? b[i * root->n + j] / root->value[j] : 0;
}

enum gpnn_status gpnn_grid_root_extend(const struct gpnn_grid_root *root, size_t n_new, double *k,
                                       struct gpnn_error *err)
{
  size_t n = root->n;
  if (n_new == 0) return GPNN_OK;
  if (gpnn_blas_claim(1) == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  double *group = gpnn_alloc(n, (size_t)2 * GROUP, sizeof *group);
  if (group == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t first = 0; first < n_new; first += GROUP) {
    size_t count = n_new - first < GROUP ? n_new - first : GROUP;
    memset(group, 0, GROUP * n * sizeof *group);
    memcpy(group, k + first * n, count * n * sizeof *group);
    extend_group(root, group, group + GROUP * n);
    memcpy(k + first * n, group, count * n * sizeof *group);
  }
  free(group);
  return GPNN_OK;
}

void gpnn_grid_root_release(struct gpnn_grid_root *root)
{
  free(root->f);
  free(root->value);
  memset(root, 0, sizeof *root);
}
