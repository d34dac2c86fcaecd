#include "linalg/factors/triangular.h"

#include <string.h>

#include "linalg/blas.h"

/* Makes of a lower triangle in columns one in rows, with zeros above. */
static void transpose(size_t n, double *a)
{
  for (size_t j = 0; j < n; j++)
    for (size_t i = j + 1; i < n; i++) {
      a[i * n + j] = a[j * n + i];
      a[j * n + i] = 0;
    }
}

void gpnn_triangular_invert(size_t n, double *factor)
{
  if (n == 0) return;
  LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'L', 'N', (lapack_int)n, factor, (lapack_int)n);
  transpose(n, factor);
}

void gpnn_triangular_mirror(size_t n, double *matrix)
{
  for (size_t j = 0; j < n; j++)
    for (size_t i = j + 1; i < n; i++) matrix[i * n + j] = matrix[j * n + i];
}

enum gpnn_status gpnn_triangular_rotate(size_t m, size_t *rank, double *root, double *scratch,
                                        struct gpnn_error *err)
{
  if (*rank == 0) return GPNN_OK;
  if (LAPACKE_dgelqf(LAPACK_COL_MAJOR, (lapack_int)m, (lapack_int)*rank, root, (lapack_int)m,
                     scratch) != 0)
    return gpnn_fail_memory(err, "for a root");
  if (*rank > m) *rank = m;
  for (size_t j = 1; j < *rank; j++) memset(root + j * m, 0, j * sizeof *root);
  return GPNN_OK;
}
