#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "linalg/blas_threads.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "linalg/blas.h"

/* Of OpenBLAS, which calls it before a fork, but not in its headers; NULL with any other BLAS. */
#pragma weak blas_thread_shutdown_
extern int blas_thread_shutdown_(void);

void gpnn_blas_single_thread(void)
{
  openblas_set_num_threads(1);
  /* OpenBLAS starts its threads while the program is being loaded.  They spin for a tenth of a
   * second, in which other threads of the program could use the processors. */
  if (blas_thread_shutdown_ != NULL) blas_thread_shutdown_();
}

/* Likewise: OpenBLAS's pool of buffers, which never shrinks. */
#pragma weak blas_memory_alloc
#pragma weak blas_memory_free
extern void *blas_memory_alloc(int position);
extern void blas_memory_free(void *buffer);

/* True if the address space of the process is limited in any way. */
static bool is_limited(void)
{
  struct rlimit all, data;
  return (getrlimit(RLIMIT_AS, &all) == 0 && all.rlim_cur != RLIM_INFINITY) ||
         (getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY);
}

/* True if there is room for the buffers of 'n' threads and for what else each thread takes: a
 * stack, and an arena of the allocator. */
static bool has_room(int n)
{
  const uint64_t mib = 1 << 20, buffer = 128 * mib, thread = 80 * mib, spare = 16 * mib;
  uint64_t bytes = (uint64_t)n * buffer + (uint64_t)(n - 1) * thread + spare;
  if (bytes > SIZE_MAX / 2) return false;
  void *room = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return room != MAP_FAILED && munmap(room, (size_t)bytes) == 0;
}

int gpnn_blas_claim(int threads)
{
  enum { MOST = 64 };
  void *buffers[MOST];
  if (blas_memory_alloc == NULL || blas_memory_free == NULL) return threads;
  if (!is_limited()) return threads;
  int n = threads < MOST ? threads : MOST;
  while (n > 0 && !has_room(n)) n--;
  for (int i = 0; i < n; i++) buffers[i] = blas_memory_alloc(0);
  for (int i = 0; i < n; i++) blas_memory_free(buffers[i]);
  return n;
}

const char *gpnn_blas_version(void)
{
  return openblas_get_config();
}
