#include "dataset/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "dataset/dataset_private.h"
#include "dataset/missing.h"

struct gpnn_sample {
  double *rows;         /* owned: all numbers that the dataset has for each row */
  uint32_t *row_group;  /* owned; NULL: none */
  unsigned char *lacks; /* owned; NULL: none */
  struct gpnn_dataset_source source;
};

enum gpnn_status gpnn_sample_numbers(uint64_t n, size_t n_drawn, uint64_t seed, uint64_t *row,
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

/* Fills in the view of a target from the same view of the original, but for the numbers that all
 * targets share, which 'shared' has.  Calibration rows are those of the original. */
static void copy_view(struct gpnn_dataset *to, const struct gpnn_dataset *from,
                      const struct gpnn_dataset *shared, double **next, const uint64_t *row)
{
  const struct gpnn_dataset_source *source = to->source;
  size_t n = shared->n;
  *to = *from;
  to->source = source;
  to->is_partial = false;
  to->n = n;
  to->x = shared->x;
  to->regressors = shared->regressors;
  to->exposure = shared->exposure;
  to->row_group = shared->row_group;
  to->lacks = shared->lacks;
  if (to->row_group == NULL) to->n_row_groups = 0;
  to->y = copy_rows(next, from->y, 1, n, row);
  to->noise = copy_rows(next, from->noise, 1, n, row);
  to->offset = copy_rows(next, from->offset, 1, n, row);
  to->observed = copy_rows(next, from->observed, 1, n, row);
  to->n_more = to->schema.n_more = to->scaling.n_more = 0;
  to->more = to->calibration_more = NULL;
  to->schema.more = NULL;
  to->scaling.more = NULL;
}

/* Fills in the views of all targets that have the rows of 'dataset'. */
static void copy_views(struct gpnn_sample *sample, const struct gpnn_dataset *dataset, size_t n,
                       const uint64_t *row)
{
  double *next = sample->rows;
  struct gpnn_dataset shared = {.n = n};
  shared.x = copy_rows(&next, dataset->x, dataset->d, n, row);
  shared.regressors = copy_rows(&next, dataset->regressors, dataset->n_regressors, n, row);
  shared.exposure = copy_rows(&next, dataset->exposure, 1, n, row);
  for (size_t i = 0; i < n && dataset->row_group != NULL; i++)
    sample->row_group[i] = dataset->row_group[row[i]];
  if (dataset->row_group != NULL) shared.row_group = sample->row_group;
  size_t bytes = gpnn_lacks_bytes(dataset->schema.n_inputs);
  for (size_t i = 0; i < n && dataset->lacks != NULL; i++)
    memcpy(sample->lacks + i * bytes, dataset->lacks + row[i] * bytes, bytes);
  if (dataset->lacks != NULL) shared.lacks = sample->lacks;
  for (size_t t = 0; t < sample->source.n_targets; t++) {
    const struct gpnn_dataset *from = gpnn_dataset_target(dataset, t);
    if (from->x == dataset->x) copy_view(&sample->source.views[t], from, &shared, &next, row);
  }
}

enum gpnn_status gpnn_sample_take(struct gpnn_sample **sample, const struct gpnn_dataset *dataset,
                                  size_t n_rows, const uint64_t *row, struct gpnn_error *err)
{
  size_t n_targets = gpnn_dataset_n_targets(dataset);
  size_t width = dataset->d + dataset->n_regressors + (dataset->exposure != NULL) + 4 * n_targets;
  struct gpnn_sample *made = calloc(1, sizeof *made);
  if (made == NULL) return gpnn_fail_memory(err, "for a sample of the rows");
  made->source.n_targets = n_targets;
  made->source.report = gpnn_dataset_search_report(dataset);
  made->source.report.kind = GPNN_SEARCH_AUTO;
  made->source.metric = gpnn_dataset_search_metric(dataset);
  made->rows = gpnn_alloc(n_rows, width, sizeof *made->rows);
  made->row_group = gpnn_alloc(dataset->row_group == NULL ? 0 : n_rows, 1, sizeof *made->row_group);
  made->lacks = gpnn_alloc(dataset->lacks == NULL ? 0 : n_rows,
                           gpnn_lacks_bytes(dataset->schema.n_inputs), 1);
  enum gpnn_status status = made->rows == NULL || made->row_group == NULL || made->lacks == NULL
                                ? gpnn_fail_memory(err, "for a sample of the rows")
                                : gpnn_dataset_new_views(&made->source, err);
  if (status == GPNN_OK) {
    copy_views(made, dataset, n_rows, row);
    *sample = made;
  } else {
    gpnn_sample_free(made);
  }
  return status;
}

enum gpnn_status gpnn_sample_draw(struct gpnn_sample **sample, const struct gpnn_dataset *dataset,
                                  size_t n_rows, uint64_t seed, struct gpnn_error *err)
{
  uint64_t *row = gpnn_alloc(n_rows, 1, sizeof *row);
  if (row == NULL) return gpnn_fail_memory(err, "for a sample of the rows");
  enum gpnn_status status = gpnn_sample_numbers(dataset->n, n_rows, seed, row, err);
  if (status == GPNN_OK) status = gpnn_sample_take(sample, dataset, n_rows, row, err);
  free(row);
  return status;
}

enum gpnn_status gpnn_sample_distinct(struct gpnn_sample **sample,
                                      const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  size_t n = 0;
  struct gpnn_dataset alone = *dataset;
  uint64_t *row = gpnn_alloc(dataset->n, 1, sizeof *row);
  bool *is_first = gpnn_alloc(dataset->n, 1, sizeof *is_first);
  bool enough = row != NULL && is_first != NULL && gpnn_dataset_distinct(dataset, is_first) > 0;
  for (size_t i = 0; i < dataset->n && enough; i++)
    if (is_first[i]) row[n++] = i;
  alone.row_group = NULL;
  alone.n_row_groups = 0;
  enum gpnn_status status = enough ? gpnn_sample_take(sample, &alone, n, row, err)
                                   : gpnn_fail_memory(err, "for the distinct rows");
  free(row);
  free(is_first);
  return status;
}

/* ---- rows that have all targets ------------------------------------------------------------ */

static bool has_all_targets(const struct gpnn_dataset *rows, size_t row)
{
  bool has_all = !isnan(rows->y[row]);
  for (size_t t = 0; t < rows->n_more; t++)
    has_all = has_all && !isnan(rows->more[t * rows->n + row]);
  return has_all;
}

/* Replaces the calibration rows of a view, some of which lack the target, by those that have it. */
static void replace_calibration(struct gpnn_dataset *to, const struct gpnn_dataset *view)
{
  to->n_calibration = view->n_calibration;
  to->calibration_x = view->calibration_x;
  to->calibration_y = view->calibration_y;
  to->calibration_regressors = view->calibration_regressors;
  to->calibration_noise = view->calibration_noise;
  to->calibration_offset = view->calibration_offset;
  to->calibration_exposure = view->calibration_exposure;
}

/* Copies 'n_rows' of all rows, which have every target. */
static enum gpnn_status take_common(struct gpnn_sample **sample, const struct gpnn_dataset *dataset,
                                    size_t n_rows, const uint64_t *row, struct gpnn_error *err)
{
  struct gpnn_dataset rows = *dataset;
  struct gpnn_dataset_source source = *dataset->source; /* of views that lack no rows */
  rows.target = 0;
  enum gpnn_status status = gpnn_dataset_set_views(&source, &rows, err);
  if (status != GPNN_OK) return status;
  status = gpnn_sample_take(sample, &rows, n_rows, row, err);
  for (size_t t = 0; t < source.n_targets && status == GPNN_OK; t++)
    replace_calibration(&(*sample)->source.views[t], gpnn_dataset_target(dataset, t));
  free(source.views);
  return status;
}

enum gpnn_status gpnn_sample_common(struct gpnn_sample **sample, const struct gpnn_dataset *dataset,
                                    struct gpnn_error *err)
{
  size_t n = 0;
  uint64_t *row = gpnn_alloc(dataset->n, 1, sizeof *row);
  if (row == NULL) return gpnn_fail_memory(err, "for a sample of the rows");
  for (size_t i = 0; i < dataset->n; i++)
    if (has_all_targets(dataset, i)) row[n++] = i;
  enum gpnn_status status = n == 0 ? gpnn_fail(err, GPNN_EDATA, "no training row has all targets")
                                   : take_common(sample, dataset, n, row, err);
  free(row);
  return status;
}

const struct gpnn_dataset *gpnn_sample_target(const struct gpnn_sample *sample, size_t t)
{
  return &sample->source.views[t];
}

void gpnn_sample_free(struct gpnn_sample *sample)
{
  if (sample == NULL) return;
  free(sample->source.views);
  free(sample->rows);
  free(sample->row_group);
  free(sample->lacks);
  free(sample);
}
