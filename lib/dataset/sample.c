#include "dataset/sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "dataset/dataset_private.h"

struct gpnn_sample {
  double *rows;        /* owned: all numbers that the dataset has for each row */
  uint32_t *row_group; /* owned; NULL: none */
  struct gpnn_dataset first;
  struct gpnn_dataset_source source; /* first.source */
};

/* Sorted, so that mapped pages are read one after another. */
static enum gpnn_status draw_rows(uint64_t n, size_t n_drawn, uint64_t seed, uint64_t *row,
                                  struct gpnn_error *err)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_SAMPLE);
  enum gpnn_status status = gpnn_rng_sample(&rng, n, n_drawn, row, err);
  if (status == GPNN_OK) qsort(row, n_drawn, sizeof *row, gpnn_compare_uint64s);
  return status;
}

/* Copies 'width' numbers of each of 'n' rows of 'from' to '*to', and moves '*to' to their end. */
static const double *copy_rows(double **to, const double *from, size_t width, size_t n,
                               const uint64_t *row)
{
  double *start = *to;
  if (from == NULL) return NULL;
  for (size_t i = 0; i < n; i++)
    memcpy(start + i * width, from + row[i] * width, width * sizeof *start);
  *to = start + n * width;
  return start;
}

/* The same for 'n_blocks' arrays, one after another, of one number for each of 'n_all' rows. */
static const double *copy_blocks(double **to, const double *from, size_t n_blocks, size_t n_all,
                                 size_t n, const uint64_t *row)
{
  double *start = *to;
  if (from == NULL) return NULL;
  for (size_t t = 0; t < n_blocks; t++) (void)copy_rows(to, from + t * n_all, 1, n, row);
  return start;
}

/* Fills in the view of the first target. */
static void copy_view(struct gpnn_sample *sample, const struct gpnn_dataset *from, size_t n,
                      const uint64_t *row)
{
  struct gpnn_dataset *to = &sample->first;
  double *next = sample->rows;
  *to = *from;
  to->x = copy_rows(&next, from->x, from->d, n, row);
  to->y = copy_rows(&next, from->y, 1, n, row);
  to->regressors = copy_rows(&next, from->regressors, from->n_regressors, n, row);
  to->more = from->n_more == 0 ? NULL : next;
  for (size_t t = 1; t <= from->n_more; t++)
    (void)copy_rows(&next, gpnn_dataset_target(from, t)->y, 1, n, row);
  to->noise = copy_blocks(&next, from->noise, 1 + from->n_more, from->n, n, row);
  to->offset = copy_blocks(&next, from->offset, 1 + from->n_more, from->n, n, row);
  if (from->row_group != NULL) {
    for (size_t i = 0; i < n; i++) sample->row_group[i] = from->row_group[row[i]];
    to->row_group = sample->row_group;
  }
  to->n = n;
}

/* Calibration targets are shared, and may be transformed. */
static void copy_calibration(struct gpnn_dataset *to, const struct gpnn_dataset *from)
{
  to->calibration_y = from->calibration_y;
  to->transform = from->transform;
}

enum gpnn_status gpnn_sample_take(struct gpnn_sample **sample, const struct gpnn_dataset *dataset,
                                  size_t n_rows, const uint64_t *row, struct gpnn_error *err)
{
  const struct gpnn_dataset *first = gpnn_dataset_target(dataset, 0);
  size_t width = first->d + first->n_regressors + 3 * (1 + first->n_more);
  struct gpnn_sample *made = calloc(1, sizeof *made);
  if (made == NULL) return gpnn_fail_memory(err, "for a sample of the rows");
  made->source.report = gpnn_dataset_search_report(first);
  made->source.report.kind = GPNN_SEARCH_AUTO;
  made->source.metric = gpnn_dataset_search_metric(first);
  made->rows = gpnn_alloc(n_rows, width, sizeof *made->rows);
  made->row_group = gpnn_alloc(first->row_group == NULL ? 0 : n_rows, 1, sizeof *made->row_group);
  enum gpnn_status status = made->rows == NULL || made->row_group == NULL
                                ? gpnn_fail_memory(err, "for a sample of the rows")
                                : GPNN_OK;
  if (status == GPNN_OK) {
    copy_view(made, first, n_rows, row);
    status = gpnn_dataset_set_views(&made->source, &made->first, err);
  }
  for (size_t t = 1; t <= first->n_more && status == GPNN_OK; t++)
    copy_calibration(&made->source.views[t - 1], gpnn_dataset_target(first, t));
  if (status == GPNN_OK)
    *sample = made;
  else
    gpnn_sample_free(made);
  return status;
}

enum gpnn_status gpnn_sample_draw(struct gpnn_sample **sample, const struct gpnn_dataset *dataset,
                                  size_t n_rows, uint64_t seed, struct gpnn_error *err)
{
  uint64_t *row = gpnn_alloc(n_rows, 1, sizeof *row);
  if (row == NULL) return gpnn_fail_memory(err, "for a sample of the rows");
  enum gpnn_status status = draw_rows(dataset->n, n_rows, seed, row, err);
  if (status == GPNN_OK) status = gpnn_sample_take(sample, dataset, n_rows, row, err);
  free(row);
  return status;
}

const struct gpnn_dataset *gpnn_sample_target(const struct gpnn_sample *sample, size_t t)
{
  return gpnn_dataset_target(&sample->first, t);
}

void gpnn_sample_free(struct gpnn_sample *sample)
{
  if (sample == NULL) return;
  free(sample->source.views);
  free(sample->rows);
  free(sample->row_group);
  free(sample);
}
