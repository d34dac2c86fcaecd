#include "profile/patterns.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { MOST_PATTERNS = 1 << 16, MOST_LACKS = 1 << 20 };

/* Makes a pattern of no rows yet, the last. */
static enum gpnn_status make(struct gpnn_patterns *patterns, size_t n,
                             const struct gpnn_lack *lacks, struct gpnn_error *err)
{
  if (!gpnn_grow(&patterns->patterns, &patterns->capacity, patterns->n + 1,
                 sizeof *patterns->patterns) ||
      !gpnn_grow(&patterns->lacks, &patterns->lacks_capacity, patterns->n_lacks + n,
                 sizeof *patterns->lacks))
    return gpnn_fail_memory(err, "for the missing values");
  memcpy(patterns->lacks + patterns->n_lacks, lacks, n * sizeof *lacks);
  patterns->patterns[patterns->n++] = (struct gpnn_pattern){patterns->n_lacks, n, 0};
  patterns->n_lacks += n;
  return GPNN_OK;
}

enum gpnn_status gpnn_patterns_add(struct gpnn_patterns *patterns, size_t n,
                                   const struct gpnn_lack *lacks, struct gpnn_error *err)
{
  uint32_t number;
  bool is_full = patterns->n >= MOST_PATTERNS || patterns->n_lacks + n > MOST_LACKS;
  if (is_full) {
    patterns->n_placeless++;
    return GPNN_OK;
  }
  enum gpnn_status status =
      gpnn_groups_number(&patterns->groups, (const char *)lacks, n * sizeof *lacks, &number, err);
  if (status == GPNN_OK && number == patterns->n) status = make(patterns, n, lacks, err);
  if (status == GPNN_OK) patterns->patterns[number].n_rows++;
  return status;
}

size_t gpnn_patterns_count(const struct gpnn_patterns *patterns,
                           bool (*is_needed)(const void *context, const struct gpnn_lack *lack),
                           const void *context)
{
  size_t n_rows = patterns->n_placeless;
  for (size_t i = 0; i < patterns->n; i++) {
    const struct gpnn_pattern *pattern = &patterns->patterns[i];
    size_t at = 0;
    while (at < pattern->length && !is_needed(context, &patterns->lacks[pattern->begin + at])) at++;
    if (at < pattern->length) n_rows += pattern->n_rows;
  }
  return n_rows;
}

void gpnn_patterns_release(struct gpnn_patterns *patterns)
{
  gpnn_groups_release(&patterns->groups);
  free(patterns->patterns);
  free(patterns->lacks);
  *patterns = (struct gpnn_patterns){0};
}
