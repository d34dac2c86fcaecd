#define _DEFAULT_SOURCE /* madvise(): posix_madvise() may do nothing */
#include "base/pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void gpnn_pages_release(const void *bytes, size_t length)
{
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)bytes;
  uintptr_t first = (begin + page - 1) / page * page, end = (begin + length) / page * page;
  /* It is advice: refused, it costs memory and nothing else. */
  if (end > first) madvise((void *)first, end - first, MADV_DONTNEED); /* NOLINT */
}
