#include "models/inducing/collapsed/whitened.h"

#include <math.h>
#include <string.h>

#include "linalg/blas.h"
#include "linalg/cholesky.h"
#include "linalg/triangular.h"

size_t gpnn_whitened_directions(size_t m, const double *share, double factor, const double *vectors,
                                double *root)
{
  const double least = 1e-9;
  size_t rank = 0;
  for (size_t j = m; j-- > 0;) {
    if (!(share[j] > least)) continue;
    memcpy(root + rank * m, vectors + j * m, m * sizeof *root);
    cblas_dscal((int)m, sqrt(share[j] / factor), root + rank * m, 1);
    rank++;
  }
  return rank;
}

enum gpnn_status gpnn_whitened_root(size_t m, double *precision, const double *factor,
                                    double *scratch, double *root, size_t *rank,
                                    struct gpnn_error *err)
{
  if (LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)m, precision, (lapack_int)m,
                     scratch) != 0)
    return gpnn_fail(err, GPNN_ENUMERIC, "%zu inducing points: their eigenvalues were not found",
                     m);
  for (size_t j = 0; j < m; j++) scratch[j] = 1 - 1 / scratch[j];
  *rank = gpnn_whitened_directions(m, scratch, 1, precision, root);
  gpnn_cholesky_backward(m, factor, *rank, root);
  return gpnn_triangular_rotate(m, rank, root, scratch, err);
}
