#include "cmd/predict/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void texts_clear(struct texts *texts)
{
  texts->n = 0;
}

enum gpnn_status texts_add(struct texts *texts, const char *text, size_t length,
                           struct gpnn_error *err)
{
  size_t begin = texts->n == 0 ? 0 : texts->end[texts->n - 1];
  if (!gpnn_grow(&texts->bytes, &texts->bytes_capacity, begin + length, 1) ||
      !gpnn_grow(&texts->end, &texts->end_capacity, texts->n + 1, sizeof *texts->end))
    return gpnn_fail_memory(err, "for the classes of rows");
  if (length > 0) memcpy(texts->bytes + begin, text, length);
  texts->end[texts->n++] = begin + length;
  return GPNN_OK;
}

const char *texts_get(const struct texts *texts, size_t i, size_t *length)
{
  size_t begin = i == 0 ? 0 : texts->end[i - 1];
  *length = texts->end[i] - begin;
  return texts->bytes + begin;
}

void texts_release(struct texts *texts)
{
  free(texts->bytes);
  free(texts->end);
  *texts = (struct texts){0};
}
