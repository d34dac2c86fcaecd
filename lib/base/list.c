#include "base/list.h"

#include <string.h>

#include "base/number.h"

const char *gpnn_list_next(const char **rest, size_t *length)
{
  const char *item = *rest;
  if (item == NULL) return NULL;
  *length = strcspn(item, ",");
  *rest = item[*length] == ',' ? item + *length + 1 : NULL;
  return item;
}

bool gpnn_list_has(const char *list, const char *item, size_t length)
{
  const char *other, *rest = list;
  size_t other_length;
  while ((other = gpnn_list_next(&rest, &other_length)) != NULL)
    if (other_length == length && memcmp(other, item, length) == 0) return true;
  return false;
}

bool gpnn_list_read_pair(const char *list, double pair[2])
{
  const char *rest = list;
  size_t length;
  for (int i = 0; i < 2; i++) {
    const char *item = gpnn_list_next(&rest, &length);
    if (item == NULL || gpnn_number_read(item, length, &pair[i]) != GPNN_NUMBER_OK) return false;
  }
  return rest == NULL;
}
