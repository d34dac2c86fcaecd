#include "models/tucker/place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "linalg/blas.h"
#include "models/tucker/matrices.h"
#include "models/tucker/tune.h"

/* ---- points ------------------------------------------------------------------------------- */

/* Writes 'm' points from 'low' to 'high', if there is room between them. */
static size_t space_equally(double low, double high, size_t m, double *points)
{
  if (!(high > low) || m == 1) {
    *points = 0.5 * (low + high);
    return 1;
  }
  for (size_t j = 0; j < m; j++) points[j] = low + (high - low) * ((double)j / (double)(m - 1));
  return m;
}

/* Drops points that are not clearly above the one before. */
static size_t drop_equal(size_t m, double *points)
{
  size_t kept = 1;
  double least = 1e-6 * (points[m - 1] - points[0]);
  for (size_t j = 1; j < m; j++)
    if (points[j] > points[kept - 1] + least) points[kept++] = points[j];
  return kept;
}

size_t gpnn_tucker_place(size_t n, size_t p, size_t l, const double *x, bool at_quantiles,
                         double margin, size_t m, double *points)
{
  double *sorted = gpnn_alloc(n, 1, sizeof *sorted);
  if (sorted == NULL) return SIZE_MAX;
  for (size_t i = 0; i < n; i++) sorted[i] = x[i * p + l];
  qsort(sorted, n, sizeof *sorted, gpnn_compare_doubles);
  double beyond = margin * (sorted[n - 1] - sorted[0]);
  size_t placed = space_equally(sorted[0] - beyond, sorted[n - 1] + beyond, m, points);
  if (at_quantiles && placed > 1) {
    for (size_t j = 1; j + 1 < m; j++)
      points[j] = sorted[(size_t)((double)j / (double)(m - 1) * (double)(n - 1) + 0.5)];
    placed = drop_equal(m, points);
  }
  free(sorted);
  return placed;
}

/* ---- numbers ------------------------------------------------------------------------------ */

static double log_lengthscale(const struct gpnn_tucker *t, size_t l, double factor)
{
  size_t m = t->shape.m[l];
  double spacing = m < 2 ? 0 : (t->points[l][m - 1] - t->points[l][0]) / (double)(m - 1);
  double lower, upper;
  gpnn_tucker_limit_lengthscale(t, l, &lower, &upper);
  return fmin(fmax(log(factor * fmax(1, spacing)), lower), upper);
}

/* U_l: the leading eigenvectors of R_l over the roots of their eigenvalues, and noise. */
static enum gpnn_status begin_factor(struct gpnn_tucker *t, const double *r, size_t l,
                                     struct gpnn_rng *rng, struct gpnn_error *err)
{
  size_t m = t->shape.m[l], q = t->shape.q[l];
  double *vectors = gpnn_alloc(m, m + 1, sizeof *vectors), *u = t->numbers + t->factor[l];
  if (vectors == NULL) return gpnn_fail_memory(err, "for a grid of inducing points");
  double *values = vectors + m * m;
  memcpy(vectors, r, m * m * sizeof *vectors);
  lapack_int info = LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', (int)m, vectors, (int)m, values);
  for (size_t j = 0; j < m && info == 0; j++)
    for (size_t a = 0; a < q; a++) {
      bool has_vector = a < m && !t->shape.is_diagonal;
      double noise = gpnn_rng_normal(rng);
      u[j * q + a] = has_vector
                         ? vectors[(m - 1 - a) * m + j] / sqrt(values[m - 1 - a]) + 0.01 * noise
                         : 0.3 * noise;
    }
  free(vectors);
  return info == 0 ? GPNN_OK
                   : gpnn_fail(err, GPNN_ENUMERIC, "a grid's eigenvectors cannot be found");
}

enum gpnn_status gpnn_tucker_begin(struct gpnn_tucker *tucker, uint64_t seed, double factor,
                                   double core_scale, struct gpnn_error *err)
{
  struct gpnn_tucker_matrices matrices;
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_TUCKER_BEGIN);
  for (size_t l = 0; l < tucker->shape.p; l++)
    tucker->numbers[tucker->lengthscale + l] = log_lengthscale(tucker, l, factor);
  memset(tucker->numbers + tucker->rho[0], 0, tucker->n_grid * sizeof(double));
  enum gpnn_status status = gpnn_tucker_matrices_new(&matrices, tucker, err);
  if (status == GPNN_OK) status = gpnn_tucker_matrices_escalate(&matrices, tucker, err);
  for (size_t i = 0; i < tucker->n_core && status == GPNN_OK; i++)
    tucker->numbers[i] = core_scale * gpnn_rng_normal(&rng) / sqrt((double)tucker->n_core);
  for (size_t l = 0; l < tucker->shape.p && status == GPNN_OK; l++)
    status = begin_factor(tucker, matrices.dimension[l].r, l, &rng, err);
  gpnn_tucker_matrices_release(&matrices);
  return status;
}
