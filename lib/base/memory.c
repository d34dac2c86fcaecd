#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "base/memory.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
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

/* ---- how much there may be ------------------------------------------------------------------ */

static void lower(size_t *allowed, size_t to)
{
  if (to > 0 && (*allowed == 0 || to < *allowed)) *allowed = to;
}

static void lower_by_limit(size_t *allowed, struct rlimit limit)
{
  if (limit.rlim_cur != RLIM_INFINITY) lower(allowed, (size_t)limit.rlim_cur);
}

/* Lowers 'allowed' to the limits of the control group at 'path' (PATH_MAX bytes, which change) and
 * of those around it; each has its limit in the file 'name', unless it is "max". */
static void lower_by_group(size_t *allowed, char *path, size_t root, const char *name)
{
  for (char *end = path + strlen(path); end != NULL; end = strrchr(path + root, '/')) {
    size_t length = (size_t)(end - path);
    unsigned long long limit;
    snprintf(path + length, PATH_MAX - length, "/%s", name);
    FILE *file = fopen(path, "re");
    if (file != NULL && fscanf(file, "%llu", &limit) == 1) lower(allowed, (size_t)limit);
    if (file != NULL) fclose(file);
    *end = '\0';
  }
}

/* Lines of /proc/self/cgroup are NUMBER:CONTROLLERS:PATH; without controllers it is version 2. */
static void lower_by_groups(size_t *allowed)
{
  static const char v2[] = "/sys/fs/cgroup", v1[] = "/sys/fs/cgroup/memory";
  char line[PATH_MAX], path[PATH_MAX + sizeof v1];
  FILE *file = fopen("/proc/self/cgroup", "re");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (group == NULL || strlen(group + 1) + sizeof v1 > PATH_MAX) continue;
    bool is_v2 = group == controllers + 1;
    if (!is_v2 && strncmp(controllers, ":memory:", 8) != 0) continue;
    const char *root = is_v2 ? v2 : v1;
    snprintf(path, sizeof path, "%s%s", root, strcmp(group + 1, "/") == 0 ? "" : group + 1);
    lower_by_group(allowed, path, strlen(root), is_v2 ? "memory.max" : "memory.limit_in_bytes");
  }
  if (file != NULL) fclose(file);
}

size_t gpnn_memory_allowed(void)
{
  long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGE_SIZE);
  size_t allowed = pages > 0 && bytes > 0 ? (size_t)pages * (size_t)bytes : 0;
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0) lower_by_limit(&allowed, limit);
  if (getrlimit(RLIMIT_DATA, &limit) == 0) lower_by_limit(&allowed, limit);
  lower_by_groups(&allowed);
  return allowed;
}

/* Whether the limits of the process leave room for so much besides what it has already. */
static bool has_room(double bytes)
{
  if (bytes < 1) return true;
  if (bytes > (double)(SIZE_MAX / 2)) return false;
  void *room = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return room != MAP_FAILED && munmap(room, (size_t)bytes) == 0;
}

enum gpnn_status gpnn_memory_check(const char *what, double bytes, struct gpnn_error *err)
{
  size_t allowed = gpnn_memory_allowed();
  if ((allowed == 0 || bytes <= (double)allowed) && has_room(bytes)) return GPNN_OK;
  return gpnn_fail(err, GPNN_ENOMEM,
                   "%s needs about %.3g GB of memory, more than is left of the %.3g GB that are "
                   "allowed",
                   what, bytes / 1e9, (double)allowed / 1e9);
}
