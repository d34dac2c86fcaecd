#include "shard/shard_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

size_t gpnn_rows_width(const struct gpnn_dataset *dataset)
{
  return 2 + dataset->d + dataset->n_regressors + (dataset->noise != NULL) +
         (dataset->offset != NULL) + (dataset->exposure != NULL) + (dataset->row_group != NULL);
}

void gpnn_rows_pack(const struct gpnn_dataset *dataset, size_t i, double number, double *packed)
{
  size_t d = dataset->d, p = dataset->n_regressors;
  *packed++ = number;
  *packed++ = dataset->y[i];
  memcpy(packed, dataset->x + i * d, d * sizeof *packed);
  packed += d;
  if (p > 0) memcpy(packed, dataset->regressors + i * p, p * sizeof *packed);
  packed += p;
  if (dataset->noise != NULL) *packed++ = dataset->noise[i];
  if (dataset->offset != NULL) *packed++ = dataset->offset[i];
  if (dataset->exposure != NULL) *packed++ = dataset->exposure[i];
  if (dataset->row_group != NULL) *packed++ = dataset->row_group[i];
}

/* Takes 'n' numbers of the memory, if they are wanted. */
static double *take(double **memory, bool is_wanted, size_t n)
{
  double *start = *memory;
  if (!is_wanted) return NULL;
  *memory += n;
  return start;
}

enum gpnn_status gpnn_rows_new(struct gpnn_rows *rows, const struct gpnn_dataset *like, size_t n,
                               struct gpnn_error *err)
{
  double *memory = gpnn_alloc(n, gpnn_rows_width(like), sizeof *memory);
  uint32_t *sets = gpnn_alloc(like->row_group == NULL ? 0 : n, 1, sizeof *sets);
  if (memory == NULL || sets == NULL) {
    free(memory);
    free(sets);
    return gpnn_fail_memory(err, "for rows of other ranks");
  }
  *rows = (struct gpnn_rows){.dataset = *like, .memory = memory, .sets = sets};
  struct gpnn_dataset *dataset = &rows->dataset;
  dataset->n = n;
  rows->numbers = take(&memory, true, n);
  dataset->y = take(&memory, true, n);
  dataset->x = take(&memory, true, n * like->d);
  dataset->regressors = take(&memory, like->n_regressors > 0, n * like->n_regressors);
  dataset->noise = take(&memory, like->noise != NULL, n);
  dataset->offset = take(&memory, like->offset != NULL, n);
  dataset->exposure = take(&memory, like->exposure != NULL, n);
  if (like->row_group != NULL)
    dataset->row_group = sets;
  else
    dataset->n_row_groups = 0;
  dataset->held_out = NULL; /* they are numbered among other rows */
  dataset->mapping = (struct gpnn_mapping){0};
  return GPNN_OK;
}

/* Copies 'n' numbers to place 'i' of an array of the dataset, which is ours. */
static const double *put(const double *array, size_t i, size_t n, const double *from)
{
  if (array == NULL) return from;
  memcpy((double *)(uintptr_t)array + i * n, from, n * sizeof *from);
  return from + n;
}

void gpnn_rows_set(struct gpnn_rows *rows, size_t i, const double *packed)
{
  const struct gpnn_dataset *dataset = &rows->dataset;
  rows->numbers[i] = *packed++;
  packed = put(dataset->y, i, 1, packed);
  packed = put(dataset->x, i, dataset->d, packed);
  packed = put(dataset->regressors, i, dataset->n_regressors, packed);
  packed = put(dataset->noise, i, 1, packed);
  packed = put(dataset->offset, i, 1, packed);
  packed = put(dataset->exposure, i, 1, packed);
  if (dataset->row_group != NULL) rows->sets[i] = (uint32_t)*packed;
}

void gpnn_rows_release(struct gpnn_rows *rows)
{
  free(rows->memory);
  free(rows->sets);
  *rows = (struct gpnn_rows){0};
}
