#include "linalg/factors/eigen.h"

#include "linalg/blas.h"

enum gpnn_status gpnn_eigen(size_t n, double *a, double *values, const char *what,
                            struct gpnn_error *err)
{
  const lapack_int info =
      LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)n, a, (lapack_int)n, values);
  if (info == LAPACK_WORK_MEMORY_ERROR) return gpnn_fail_memory(err, "for eigenvectors");
  if (info == 0) return GPNN_OK;
  return gpnn_fail(err, GPNN_ENUMERIC, "the eigenvectors of %s were not found", what);
}
