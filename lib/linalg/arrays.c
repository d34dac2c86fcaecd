#include "linalg/arrays.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct gpnn_arrays {
  size_t n;
  void *block[]; /* each an allocation of its own, so that tools see where it ends */
};

struct gpnn_arrays *gpnn_arrays_new(size_t n, const struct gpnn_array *array)
{
  struct gpnn_arrays *arrays = calloc(1, sizeof *arrays + n * sizeof *arrays->block);
  if (arrays == NULL) return NULL;
  for (arrays->n = 0; arrays->n < n; arrays->n++) {
    const struct gpnn_array *a = &array[arrays->n];
    if (a->item_bytes == 0) continue;
    arrays->block[arrays->n] = gpnn_alloc(a->n, a->m, a->item_bytes);
    if (arrays->block[arrays->n] != NULL) continue;
    gpnn_arrays_free(arrays);
    return NULL;
  }
  for (size_t i = 0; i < n; i++)
    if (array[i].item_bytes > 0) memcpy(array[i].at, &arrays->block[i], sizeof arrays->block[i]);
  return arrays;
}

void gpnn_arrays_free(struct gpnn_arrays *arrays)
{
  if (arrays == NULL) return;
  for (size_t i = 0; i < arrays->n; i++) free(arrays->block[i]);
  free(arrays);
}
