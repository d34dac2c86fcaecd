#define _DEFAULT_SOURCE /* madvise(): posix_madvise() may do nothing */
#include "base/pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void gpnn_pages_release(struct gpnn_pages pages, const void *bytes, size_t length)
{
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)pages.start;
  uintptr_t begin = (uintptr_t)bytes, first = (begin + page - 1) / page * page;
  uintptr_t end = (begin + length) / page * page;
  if (begin < start || begin - start > pages.length) return;
  if (length > pages.length - (begin - start) || end <= first) return;
  madvise((void *)first, end - first, MADV_DONTNEED); /* refused, it costs memory, nothing else */
}
