#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "models/grid/system/precondition_private.h"

/* How many eigenvalues exceed 1e-13 of the largest variance, or the rounding of the largest of
 * them. */
static size_t numerical_rank(const struct gpnn_grid_spectrum *spectrum, const double *k)
{
  size_t n = spectrum->n, rank = 0;
  double variance = 0;
  for (size_t i = 0; i < n; i++) variance = fmax(variance, k[i * n + i]);
  double least = fmax(1e-13 * variance, 4 * DBL_EPSILON * spectrum->values[0]);
  while (rank < n && spectrum->values[rank] > least) rank++;
  return rank;
}

/* Decompositions pay where a product takes longer; the product of rank r saves work if
 * 2 r (p + 2 q) p is clearly less than 2 q (p + q) p. */
enum gpnn_status gpnn_grid_find_root(struct gpnn_grid_cells *cells, struct gpnn_error *err)
{
  double p = (double)cells->outer, q = (double)cells->inner;
  struct gpnn_grid_spectrum spectrum = {0};
  if (cells->n_factors != 2 || q > 2 * p) return GPNN_OK;
  enum gpnn_status status = gpnn_grid_decompose(&spectrum, cells->n[1], cells->k[1], err);
  if (status != GPNN_OK) return status;
  size_t n = cells->n[1], rank = numerical_rank(&spectrum, cells->k[1]);
  if ((double)rank * (p + 2 * q) < 0.9 * q * (p + q)) {
    cells->root = gpnn_alloc(n, rank, sizeof *cells->root);
    if (cells->root == NULL) status = gpnn_fail_memory(err, "for the covariance of a grid");
  }
  if (cells->root != NULL) {
    cells->rank = rank;
    for (size_t i = 0; i < n; i++)
      for (size_t r = 0; r < rank; r++)
        cells->root[i * rank + r] = sqrt(spectrum.values[r]) * spectrum.vectors[r * n + i];
  }
  gpnn_grid_spectrum_release(&spectrum);
  return status;
}
