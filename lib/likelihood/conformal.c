#include "likelihood/conformal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"

/* Rounding may put a product such as 20 * 0.95 slightly above the whole number that it equals. */
static const double rounding = 1e-9;

/* The rank, among 'n' residuals, of the one that becomes the width: 1 is the smallest.  n + 1 means
 * that there are too few of them. */
static size_t rank_of(double level, size_t n)
{
  double rank = ceil(((double)n + 1) * level - rounding);
  return rank < 1 ? 1 : (size_t)rank;
}

size_t gpnn_conformal_rows(double level)
{
  double rows = ceil(level / (1 - level) - rounding);
  return rows < 1 ? 1 : (size_t)rows;
}

static enum gpnn_status check_levels(size_t n, size_t n_levels, const double *levels,
                                     struct gpnn_error *err)
{
  for (size_t i = 0; i < n_levels; i++)
    if (rank_of(levels[i], n) > n)
      return gpnn_fail(err, GPNN_EDATA,
                       "a conformal interval of %g needs at least %zu calibration rows; there are "
                       "%zu",
                       levels[i], gpnn_conformal_rows(levels[i]), n);
  return GPNN_OK;
}

enum gpnn_status gpnn_conformal_record(struct gpnn_parameters *params, size_t n, const double *z,
                                       size_t n_levels, const double *levels,
                                       struct gpnn_error *err)
{
  enum gpnn_status status = check_levels(n, n_levels, levels, err);
  if (status != GPNN_OK) return status;
  double *sizes = gpnn_alloc(n, 1, sizeof *sizes);
  double *ascending = gpnn_alloc(n_levels, 1, sizeof *ascending);
  double *widths = gpnn_alloc(n_levels, 1, sizeof *widths);
  if (sizes == NULL || ascending == NULL || widths == NULL) {
    free(sizes);
    free(ascending);
    free(widths);
    return gpnn_fail_memory(err, "for conformal intervals");
  }
  for (size_t i = 0; i < n; i++) sizes[i] = fabs(z[i]);
  qsort(sizes, n, sizeof *sizes, gpnn_compare_doubles);
  memcpy(ascending, levels, n_levels * sizeof *ascending);
  qsort(ascending, n_levels, sizeof *ascending, gpnn_compare_doubles);
  for (size_t i = 0; i < n_levels; i++) widths[i] = sizes[rank_of(ascending[i], n) - 1];
  free(sizes);
  free(params->calibration.conformal_level);
  free(params->calibration.conformal_width);
  params->calibration.n_conformal = n_levels;
  params->calibration.conformal_level = ascending;
  params->calibration.conformal_width = widths;
  return GPNN_OK;
}

double gpnn_conformal_width(const struct gpnn_parameters *params, double level)
{
  for (size_t i = 0; i < params->calibration.n_conformal; i++)
    if (params->calibration.conformal_level[i] == level)
      return params->calibration.conformal_width[i];
  return NAN;
}
