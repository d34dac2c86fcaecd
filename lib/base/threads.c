#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "base/threads.h"

#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

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

/* Where OpenBLAS has them: its pool of buffers, which does not shrink.  Not in its headers either.
 */
#pragma weak blas_memory_alloc
#pragma weak blas_memory_free
extern void *blas_memory_alloc(int position);
extern void blas_memory_free(void *buffer);

static bool is_limited(int resource)
{
  struct rlimit limit;
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* Whether there is room for the buffers of 'n' threads, and for what else each takes: a stack, and
 * an arena for its allocations. */
static bool has_room(int n)
{
  const uint64_t mib = 1 << 20, buffer = 128 * mib, thread = 80 * mib, spare = 16 * mib;
  uint64_t bytes = (uint64_t)n * buffer + (uint64_t)(n - 1) * thread + spare;
  if (bytes > SIZE_MAX / 2) return false;
  void *room = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return room != MAP_FAILED && munmap(room, (size_t)bytes) == 0;
}

int gpnn_threads_claim_blas(int threads)
{
  enum { MOST = 64 };
  void *buffers[MOST];
  if (blas_memory_alloc == NULL || blas_memory_free == NULL) return threads;
  if (!is_limited(RLIMIT_AS) && !is_limited(RLIMIT_DATA)) return threads;
  int n = threads < MOST ? threads : MOST;
  while (n > 0 && !has_room(n)) n--;
  for (int i = 0; i < n; i++) buffers[i] = blas_memory_alloc(0);
  for (int i = 0; i < n; i++) blas_memory_free(buffers[i]);
  return n;
}

const char *gpnn_threads_blas(void)
{
  return openblas_get_config();
}
