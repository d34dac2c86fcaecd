#include "linalg/iterative/lanczos.h"

#include <math.h>
#include <stdbool.h>

#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/iterative/cg.h"

/* Steps that are used: quadratures by more points are no better, and take time by their cube. */
enum { MOST_STEPS = 500 };

/* A tridiagonal matrix of up to 'most' rows, and what LAPACK needs to take it apart. */
struct tridiagonal {
  double *diagonal, *off, *vectors, *work;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static size_t steps_of(const struct gpnn_cg_steps *steps, size_t column)
{
  return steps->n[column] < MOST_STEPS ? steps->n[column] : MOST_STEPS;
}

static enum gpnn_status allocate(struct tridiagonal *t, size_t most, struct gpnn_error *err)
{
  t->arrays = GPNN_ARRAYS(GPNN_ARRAY(t->diagonal, most, 1), GPNN_ARRAY(t->off, most, 1),
                          GPNN_ARRAY(t->vectors, most, most), GPNN_ARRAY(t->work, most, 2));
  return t->arrays != NULL ? GPNN_OK : gpnn_fail_memory(err, "for a log determinant");
}

/* Equation 16.37. */
static void fill(struct tridiagonal *t, const struct gpnn_cg_steps *steps, size_t column)
{
  size_t m = steps_of(steps, column);
  for (size_t k = 0; k < m; k++) {
    size_t at = k * steps->columns + column, before = at - steps->columns;
    t->diagonal[k] = 1 / steps->a[at];
    if (k > 0) t->diagonal[k] += steps->b[before] / steps->a[before];
    t->off[k] = sqrt(steps->b[at]) / steps->a[at];
  }
}

static bool is_finite(const struct tridiagonal *t, size_t m)
{
  for (size_t k = 0; k < m; k++)
    if (!isfinite(t->diagonal[k]) || !isfinite(t->off[k])) return false;
  return true;
}

/* The first element of log T: the sum over eigenvectors, which have unit length, of the square of
 * their first element times the logarithm of their eigenvalue. */
static enum gpnn_status quadrature(struct tridiagonal *t, const struct gpnn_cg_steps *steps,
                                   size_t column, double *value, struct gpnn_error *err)
{
  size_t m = steps_of(steps, column);
  double sum = 0;
  fill(t, steps, column);
  if (m == 0 || !is_finite(t, m) ||
      LAPACKE_dstev_work(LAPACK_COL_MAJOR, 'V', (int)m, t->diagonal, t->off, t->vectors, (int)m,
                         t->work) != 0)
    return gpnn_fail(err, GPNN_ENUMERIC, "log determinant: no quadrature from %zu steps", m);
  for (size_t k = 0; k < m; k++) {
    double first = t->vectors[k * m];
    if (!(t->diagonal[k] > 0))
      return gpnn_fail(err, GPNN_ENUMERIC,
                       "log determinant: the matrix is not positive definite: eigenvalue %.3g",
                       t->diagonal[k]);
    sum += first * first * log(t->diagonal[k]);
  }
  *value = sum;
  return GPNN_OK;
}

enum gpnn_status gpnn_lanczos_logdet(const struct gpnn_cg_steps *steps, size_t first, size_t probes,
                                     size_t n, struct gpnn_lanczos_estimate *estimate,
                                     struct gpnn_error *err)
{
  struct tridiagonal t = {0};
  size_t most = 1;
  double mean = 0, squares = 0; /* Welford's */
  for (size_t j = first; j < first + probes && n > 0; j++)
    if (steps_of(steps, j) > most) most = steps_of(steps, j);
  enum gpnn_status status = allocate(&t, most, err);
  for (size_t j = 0; j < probes && n > 0 && status == GPNN_OK; j++) {
    double value = 0, before = mean;
    status = quadrature(&t, steps, first + j, &value, err);
    mean += (value - before) / (double)(j + 1);
    squares += (value - before) * (value - mean);
  }
  gpnn_arrays_free(t.arrays);
  if (status != GPNN_OK) return status;
  double spread = probes > 1 ? sqrt(squares / (double)(probes - 1) / (double)probes) : INFINITY;
  estimate->value = (double)n * mean;
  estimate->error = n == 0 ? 0 : (double)n * spread;
  return GPNN_OK;
}
