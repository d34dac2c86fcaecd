#define _DEFAULT_SOURCE /* madvise(): posix_madvise() may do nothing */
#include "base/mapping.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

bool gpnn_mapping_open(struct gpnn_mapping *mapping, int fd, size_t length)
{
  void *start = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
  if (start == MAP_FAILED) return false;
  *mapping = (struct gpnn_mapping){start, length};
  return true;
}

void gpnn_mapping_close(struct gpnn_mapping *mapping)
{
  /* The bytes are const to their readers, not to munmap(). */
  if (mapping->start != NULL) munmap((void *)(uintptr_t)mapping->start, mapping->length);
  *mapping = (struct gpnn_mapping){0};
}

void gpnn_mapping_evict(struct gpnn_mapping mapping, const void *bytes, size_t length)
{
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)mapping.start;
  uintptr_t begin = (uintptr_t)bytes, first = (begin + page - 1) / page * page;
  uintptr_t end = (begin + length) / page * page;
  if (begin < start || begin - start > mapping.length) return;
  if (length > mapping.length - (begin - start) || end <= first) return;
  madvise((void *)first, end - first, MADV_DONTNEED); /* a failure costs memory alone */
}
