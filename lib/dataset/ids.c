#include "dataset/ids.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum gpnn_status gpnn_ids_add(struct gpnn_ids_list *list, const char *text, size_t length,
                              struct gpnn_error *err)
{
  struct gpnn_ids *ids = &list->ids;
  if (length > SIZE_MAX - ids->n_bytes ||
      !gpnn_grow(&list->text, &list->text_capacity, ids->n_bytes + length, 1) ||
      !gpnn_grow(&list->ends, &list->ends_capacity, ids->n + 1, sizeof *list->ends))
    return gpnn_fail_memory(err, "for the ids of rows");
  if (length > 0) memcpy(list->text + ids->n_bytes, text, length);
  ids->n_bytes += length;
  list->ends[ids->n++] = ids->n_bytes;
  ids->ends = list->ends;
  ids->text = list->text;
  return GPNN_OK;
}

const char *gpnn_ids_get(const struct gpnn_ids *ids, size_t row, size_t *length)
{
  size_t begin = row == 0 ? 0 : (size_t)ids->ends[row - 1];
  *length = (size_t)ids->ends[row] - begin;
  return ids->text + begin;
}

bool gpnn_ids_are_good(const struct gpnn_ids *ids)
{
  uint64_t before = 0;
  for (size_t row = 0; row < ids->n; row++) {
    if (ids->ends[row] < before) return false;
    before = ids->ends[row];
  }
  return before == ids->n_bytes;
}

void gpnn_ids_release(struct gpnn_ids_list *list)
{
  free(list->ends);
  free(list->text);
  *list = (struct gpnn_ids_list){0};
}
