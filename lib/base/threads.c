#include "base/threads.h"

#include <omp.h>

#include "base/blas.h"

int gpnn_threads_available(void)
{
  int n = omp_get_num_procs();
  return n < 1 ? 1 : n;
}

int gpnn_threads_for(int threads, size_t n)
{
  if (threads < 1 || n < 1) return 1;
  return n < (size_t)threads ? (int)n : threads;
}

/* Where OpenBLAS has it, which calls it before a fork: not in its headers. */
#pragma weak blas_thread_shutdown_
extern int blas_thread_shutdown_(void);

void gpnn_threads_single_blas(void)
{
  openblas_set_num_threads(1);
  /* OpenBLAS starts its threads as the program is loaded, and they look for work for a tenth of a
   * second, which other threads of the program could use. */
  if (blas_thread_shutdown_ != NULL) blas_thread_shutdown_();
}

const char *gpnn_threads_blas(void)
{
  return openblas_get_config();
}
