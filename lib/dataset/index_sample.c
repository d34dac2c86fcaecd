/*
 * A sample of an index's rows, in memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dataset/index_private.h"

static int compare_rows(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* In their order, so that mapped pages are met one after another. */
static enum gpnn_status draw_rows(uint64_t n, size_t n_drawn, uint64_t seed, uint64_t *row,
                                  struct gpnn_error *err)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_SAMPLE);
  enum gpnn_status status = gpnn_rng_sample(&rng, n, n_drawn, row, err);
  if (status == GPNN_OK) qsort(row, n_drawn, sizeof *row, compare_rows);
  return status;
}

/* Copies 'width' numbers of each of 'n' rows of 'from' to '*to', which moves behind them. */
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

/* The same for one number of each row and 'n_blocks' blocks of 'n_all' rows. */
static const double *copy_blocks(double **to, const double *from, size_t n_blocks, size_t n_all,
                                 size_t n, const uint64_t *row)
{
  double *start = *to;
  if (from == NULL) return NULL;
  for (size_t t = 0; t < n_blocks; t++) (void)copy_rows(to, from + t * n_all, 1, n, row);
  return start;
}

static void copy_contents(struct gpnn_index *sample, size_t n, const uint64_t *row)
{
  struct gpnn_dataset *c = &sample->dataset;
  size_t all = c->n;
  double *to = sample->rows;
  c->x = copy_rows(&to, c->x, c->d, n, row);
  c->y = copy_rows(&to, c->y, 1, n, row);
  c->regressors = copy_rows(&to, c->regressors, c->n_regressors, n, row);
  c->more = copy_blocks(&to, c->more, c->n_more, all, n, row);
  c->noise = copy_blocks(&to, c->noise, 1 + c->n_more, all, n, row);
  c->n = n;
}

enum gpnn_status gpnn_index_take(const struct gpnn_index *index, size_t n_rows, const uint64_t *row,
                                 struct gpnn_index **sample, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = &index->dataset;
  size_t width = dataset->d + dataset->n_regressors + 2 * (1 + dataset->n_more);
  struct gpnn_index *made = calloc(1, sizeof *made);
  if (made == NULL) return gpnn_fail_memory(err, "for a sample of the rows");
  *made = *index;
  made->report.kind = GPNN_SEARCH_AUTO;
  made->views = NULL;
  made->rows = gpnn_alloc(n_rows, width, sizeof *made->rows);
  enum gpnn_status status =
      made->rows == NULL ? gpnn_fail_memory(err, "for a sample of the rows") : GPNN_OK;
  if (status == GPNN_OK) {
    copy_contents(made, n_rows, row);
    status = gpnn_index_set_views(made, err);
  }
  if (status == GPNN_OK) {
    *sample = made;
    return GPNN_OK;
  }
  free(made->rows);
  free(made);
  return status;
}

enum gpnn_status gpnn_index_sample(const struct gpnn_index *index, size_t n_rows, uint64_t seed,
                                   struct gpnn_index **sample, struct gpnn_error *err)
{
  uint64_t *row = gpnn_alloc(n_rows, 1, sizeof *row);
  if (row == NULL) return gpnn_fail_memory(err, "for a sample of the rows");
  enum gpnn_status status = draw_rows(index->dataset.n, n_rows, seed, row, err);
  if (status == GPNN_OK) status = gpnn_index_take(index, n_rows, row, sample, err);
  free(row);
  return status;
}

enum gpnn_status gpnn_index_search_sample(const struct gpnn_index *sample,
                                          struct gpnn_search **search, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = &sample->dataset;
  const struct gpnn_search_options options = {.kind = sample->report.kind,
                                              .recall = sample->report.asked,
                                              .neighbours = sample->report.neighbours,
                                              .lengthscale = sample->lengthscale,
                                              .rotation = sample->rotation,
                                              .seed = dataset->seed,
                                              .threads = 1,
                                              .brief = true};
  return gpnn_search_build(search, dataset->n, dataset->d, dataset->x, &options, err);
}
