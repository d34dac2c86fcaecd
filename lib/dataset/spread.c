#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "dataset/steps_private.h"
#include "stats/row_source.h"
#include "table/schema.h"

enum {
  SAMPLE = 1024, /* rows */
  LEAST = 12,    /* cells that must differ from the centre for a column to be judged */
};

/* Judges a column by 'n' of its values, which are overwritten; NaN where it is missing. */
static struct gpnn_spread judge(size_t n, double *values)
{
  struct gpnn_spread column = {0};
  size_t differ = 0;
  gpnn_sort_doubles(n, values);
  while (n > 0 && isnan(values[n - 1])) n--;
  if (n == 0) return column;
  double centre = values[(n - 1) / 2];
  for (size_t i = 0; i < n; i++)
    if (values[i] != centre) values[differ++] = fabs(values[i] / 2 - centre / 2);
  if (differ < LEAST) return column;
  gpnn_sort_doubles(differ, values);
  double spread = values[(differ - 1) / 2];
  column.centre = centre / 2;
  column.has_levels = values[0] < values[differ - 1];
  /* A spread of the order of rounding errors means nothing. */
  if (spread > fmax(4 * DBL_EPSILON * fabs(centre), DBL_MIN)) column.spread = spread;
  return column;
}

/* Draws '*n' rows; 'cells' holds column after column. */
static enum gpnn_status draw(const struct gpnn_row_source *rows, size_t n_in, size_t *n,
                             double *cells, struct gpnn_error *err)
{
  uint64_t drawn[SAMPLE];
  struct gpnn_rng rng;
  *n = rows->n < SAMPLE ? rows->n : SAMPLE;
  double *picked = gpnn_alloc(*n, rows->width, sizeof *picked);
  if (picked == NULL) return gpnn_fail_memory(err, "for a sample of rows");
  gpnn_rng_init(&rng, 1, GPNN_RNG_LIMITS);
  enum gpnn_status status = gpnn_rng_sample(&rng, rows->n, *n, drawn, err);
  if (status == GPNN_OK) qsort(drawn, *n, sizeof *drawn, gpnn_compare_uint64s);
  if (status == GPNN_OK) status = gpnn_row_source_pick(rows, *n, drawn, picked, err);
  for (size_t i = 0; i < *n && status == GPNN_OK; i++)
    for (size_t j = 0; j < n_in; j++) cells[j * *n + i] = picked[i * rows->width + j];
  free(picked);
  return status;
}

/* True if column 'j' is a number of its own without a unit, and no level's. */
static bool may_be_judged(const struct gpnn_feature *features, size_t n_in, size_t j)
{
  if (features == NULL) return true;
  if (features[j].has_unit || features[j].is_level) return false;
  return (j == 0 || features[j - 1].group != features[j].group) &&
         (j + 1 == n_in || features[j + 1].group != features[j].group);
}

enum gpnn_status gpnn_spread_learn(const struct gpnn_row_source *rows, size_t n_in,
                                   const struct gpnn_feature *features, struct gpnn_spread *spreads,
                                   struct gpnn_error *err)
{
  size_t n;
  double *cells = gpnn_alloc(n_in, rows->n < SAMPLE ? rows->n : SAMPLE, sizeof *cells);
  if (cells == NULL) return gpnn_fail_memory(err, "for a sample of rows");
  enum gpnn_status status = draw(rows, n_in, &n, cells, err);
  for (size_t j = 0; j < n_in && status == GPNN_OK; j++) {
    spreads[j] = (struct gpnn_spread){0};
    if (may_be_judged(features, n_in, j)) spreads[j] = judge(n, cells + j * n);
  }
  free(cells);
  return status;
}
