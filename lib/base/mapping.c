#define _DEFAULT_SOURCE /* madvise(): posix_madvise() may do nothing */
#include "base/mapping.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void gpnn_mapping_evict(struct gpnn_mapping mapping, const void *bytes, size_t length)
{
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)mapping.start;
  uintptr_t begin = (uintptr_t)bytes, first = (begin + page - 1) / page * page;
  uintptr_t end = (begin + length) / page * page;
  if (begin < start || begin - start > mapping.length) return;
  if (length > mapping.length - (begin - start) || end <= first) return;
  madvise((void *)first, end - first, MADV_DONTNEED); /* a failure costs memory alone */
}
