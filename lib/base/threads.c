#include "base/threads.h"

#include <omp.h>

#include "base/blas.h"

int gpnn_threads_available(void)
{
  int n = omp_get_num_procs();
  return n < 1 ? 1 : n;
}

void gpnn_threads_single_blas(void)
{
  openblas_set_num_threads(1);
}

const char *gpnn_threads_blas(void)
{
  return openblas_get_config();
}
