#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool gpnn_multiply(size_t a, size_t b, size_t *product)
{
  return !__builtin_mul_overflow(a, b, product);
}

void *gpnn_alloc(size_t n, size_t m, size_t item_bytes)
{
  enum { ALIGN = 64 };
  size_t items, bytes;
  if (!gpnn_multiply(n, m, &items) || !gpnn_multiply(items, item_bytes, &bytes)) return NULL;
  if (bytes > SIZE_MAX / 2) return NULL;
  bytes = bytes == 0 ? ALIGN : (bytes + ALIGN - 1) / ALIGN * ALIGN;
  void *block = NULL;
  if (posix_memalign(&block, ALIGN, bytes) != 0) return NULL;
  return memset(block, 0, bytes);
}

bool gpnn_grow(void *array, size_t *capacity, size_t needed, size_t item_bytes)
{
  if (needed <= *capacity) return true;
  size_t wanted = *capacity + *capacity / 2;
  if (wanted < needed) wanted = needed;
  if (wanted < 16) wanted = 16;
  size_t bytes;
  if (!gpnn_multiply(wanted, item_bytes, &bytes)) return false;
  void *old;
  memcpy(&old, array, sizeof old);
  void *grown = realloc(old, bytes);
  if (grown == NULL) return false;
  memcpy(array, &grown, sizeof grown);
  *capacity = wanted;
  return true;
}

char *gpnn_copy_text(const char *text, size_t length)
{
  if (length == SIZE_MAX) return NULL;
  char *copy = malloc(length + 1);
  if (copy == NULL) return NULL;
  if (length > 0) memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

size_t gpnn_machine_memory(void)
{
  long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && bytes > 0 ? (size_t)pages * (size_t)bytes : 0;
}
