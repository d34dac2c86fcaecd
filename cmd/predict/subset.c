#include "cmd/predict/subset.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Copies the rows of a subset, each of 'width' numbers, to a new array in '*to'; false: not enough
 * memory. */
static bool gather(const struct subset *subset, size_t width, const double *from, double **to)
{
  if (from == NULL) return true;
  *to = gpnn_alloc(subset->n, width, sizeof **to);
  for (size_t i = 0; i < subset->n && *to != NULL; i++)
    memcpy(*to + i * width, from + subset->at[i] * width, width * sizeof **to);
  return *to != NULL;
}

enum gpnn_status subset_init(struct subset *subset, const struct gpnn_predict_rows *rows,
                             const int64_t *self, bool (*chosen)(const void *context, int64_t self),
                             const void *context, const struct gpnn_dataset *dataset,
                             struct gpnn_error *err)
{
  subset->at = gpnn_alloc(rows->n, 1, sizeof *subset->at);
  if (subset->at == NULL) return gpnn_fail_memory(err, "for predictions");
  for (size_t i = 0; i < rows->n; i++)
    if (chosen(context, self[i])) subset->at[subset->n++] = i;
  subset->self = gpnn_alloc(subset->n, 1, sizeof *subset->self);
  if (subset->self == NULL || !gather(subset, dataset->d, rows->x, &subset->x) ||
      !gather(subset, dataset->n_regressors, rows->regressors, &subset->regressors) ||
      !gather(subset, 1, rows->noise, &subset->noise) ||
      !gather(subset, gpnn_dataset_n_targets(dataset), rows->offset, &subset->offset) ||
      !gather(subset, 1, rows->exposure, &subset->exposure))
    return gpnn_fail_memory(err, "for predictions");
  for (size_t i = 0; i < subset->n; i++) subset->self[i] = self[subset->at[i]];
  subset->rows = (struct gpnn_predict_rows){.n = subset->n,
                                            .x = subset->x,
                                            .regressors = subset->regressors,
                                            .noise = subset->noise,
                                            .offset = subset->offset,
                                            .exposure = subset->exposure,
                                            .self = subset->self};
  return GPNN_OK;
}

void subset_release(struct subset *subset)
{
  free(subset->at);
  free(subset->x);
  free(subset->regressors);
  free(subset->noise);
  free(subset->offset);
  free(subset->exposure);
  free(subset->self);
}
