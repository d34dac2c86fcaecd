#include <string.h>

#include "dataset/training/layout_private.h"
#include "stats/moments.h"

struct gpnn_layout gpnn_layout_of(const struct gpnn_scaling *scaling,
                                  const struct gpnn_schema *schema)
{
  return (struct gpnn_layout){.n_features = gpnn_schema_features(schema),
                              .d = scaling->n_out,
                              .n_more = scaling->n_more,
                              .n_regressors = scaling->n_regressors,
                              .n_noises = schema->has_noise ? scaling->n_more + 1 : 0,
                              .n_offsets = schema->n_offsets,
                              .n_exposures = schema->has_exposure};
}

/* ---- where arrays begin, in numbers of a row ---- */

static size_t before_more(const struct gpnn_layout *layout)
{
  return layout->d + 1;
}

static size_t before_regressors(const struct gpnn_layout *layout)
{
  return before_more(layout) + layout->n_more;
}

static size_t before_noises(const struct gpnn_layout *layout)
{
  return before_regressors(layout) + layout->n_regressors;
}

static size_t before_offsets(const struct gpnn_layout *layout)
{
  return before_noises(layout) + layout->n_noises;
}

static size_t before_exposures(const struct gpnn_layout *layout)
{
  return before_offsets(layout) + layout->n_offsets;
}

size_t gpnn_layout_width(const struct gpnn_layout *layout)
{
  return before_exposures(layout) + layout->n_exposures;
}

/* Array 'k', all of whose rows have 'width' numbers, behind 'before' numbers of the arrays before
 * it; false: there are no more. */
static bool find_array(const struct gpnn_layout *layout, size_t k, size_t *before, size_t *width)
{
  size_t regressors = 2 + layout->n_more, at = before_regressors(layout);
  *width = k == 0 ? layout->d : k == regressors ? layout->n_regressors : 1;
  if (k == 0)
    *before = 0;
  else if (k <= regressors)
    *before = layout->d + k - 1;
  else
    *before = at + layout->n_regressors + k - regressors - 1;
  return *before < gpnn_layout_width(layout);
}

/* ---- rows ---- */

void gpnn_layout_standardise(const struct gpnn_scaling *scaling, const struct gpnn_layout *layout,
                             const double *row, size_t n, size_t i, double *numbers)
{
  const double *y = row + layout->n_features, *regressors = y + 1 + layout->n_more;
  const double *offsets = regressors + layout->n_regressors + (layout->n_noises > 0);
  double *own = numbers + n * before_regressors(layout) + i * layout->n_regressors;
  gpnn_scaling_apply(scaling, row, numbers + i * layout->d);
  numbers[n * layout->d + i] = (y[0] - scaling->y_mean) / scaling->y_sd;
  for (size_t t = 0; t < layout->n_more; t++)
    numbers[n * (before_more(layout) + t) + i] =
        (y[1 + t] - scaling->more[t].mean) / scaling->more[t].sd;
  memcpy(own, regressors, layout->n_regressors * sizeof *own);
  gpnn_scaling_apply_regressors(scaling, own);
  for (size_t t = 0; t < layout->n_noises; t++) {
    double sd = t == 0 ? scaling->y_sd : scaling->more[t - 1].sd;
    numbers[n * (before_noises(layout) + t) + i] =
        gpnn_scaling_variance(regressors[layout->n_regressors], sd);
  }
  for (size_t t = 0; t < layout->n_offsets + layout->n_exposures; t++)
    numbers[n * (before_offsets(layout) + t) + i] = offsets[t];
}

/* Array 'k' of the rows of a dataset. */
static const double *array_of(const struct gpnn_layout *layout, const struct gpnn_dataset *dataset,
                              bool is_calibration, size_t k)
{
  const struct gpnn_dataset *c = dataset;
  size_t n = is_calibration ? c->n_calibration : c->n;
  size_t regressors = 2 + layout->n_more, noises = regressors + 1;
  size_t offsets = noises + layout->n_noises, exposure = offsets + layout->n_offsets;
  if (k == 0) return is_calibration ? c->calibration_x : c->x;
  if (k == 1) return is_calibration ? c->calibration_y : c->y;
  if (k < regressors) return (is_calibration ? c->calibration_more : c->more) + (k - 2) * n;
  if (k == regressors) return is_calibration ? c->calibration_regressors : c->regressors;
  if (k < offsets) return (is_calibration ? c->calibration_noise : c->noise) + (k - noises) * n;
  if (k < exposure) return (is_calibration ? c->calibration_offset : c->offset) + (k - offsets) * n;
  return is_calibration ? c->calibration_exposure : c->exposure;
}

void gpnn_layout_take(const struct gpnn_layout *layout, const struct gpnn_dataset *dataset,
                      bool is_calibration, size_t i, double *row)
{
  size_t before, width;
  for (size_t k = 0; find_array(layout, k, &before, &width); k++)
    if (width > 0)
      memcpy(row + before, array_of(layout, dataset, is_calibration, k) + i * width,
             width * sizeof *row);
}

void gpnn_layout_put(const struct gpnn_layout *layout, const double *row, size_t n, size_t i,
                     double *numbers)
{
  size_t before, width;
  for (size_t k = 0; find_array(layout, k, &before, &width); k++)
    memcpy(numbers + n * before + i * width, row + before, width * sizeof *row);
}

enum gpnn_status gpnn_layout_write(struct gpnn_spool *spool, const struct gpnn_layout *layout,
                                   size_t n, size_t from, size_t count, const double *numbers,
                                   struct gpnn_error *err)
{
  size_t before, width;
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 0; status == GPNN_OK && find_array(layout, k, &before, &width); k++)
    if (width > 0)
      status = gpnn_spool_write(spool, n * before + from * width, count * width,
                                numbers + count * before, err);
  return status;
}

/* The array that begins after 'before' numbers of each of 'n' rows, if rows have any. */
static const double *part(const double *numbers, size_t n, size_t before, size_t n_of_row)
{
  return n_of_row > 0 ? numbers + n * before : NULL;
}

void gpnn_layout_point(struct gpnn_dataset *dataset, size_t n, const struct gpnn_layout *layout,
                       const struct gpnn_spool *spool, const double *held_out)
{
  const struct gpnn_layout *l = layout;
  const double *rows = spool->numbers;
  size_t c = dataset->n_calibration;
  dataset->d = l->d;
  dataset->n_more = l->n_more;
  dataset->n_regressors = l->n_regressors;
  dataset->x = rows;
  dataset->y = rows + n * l->d;
  dataset->calibration_x = held_out;
  dataset->calibration_y = held_out + c * l->d;
  dataset->more = part(rows, n, before_more(l), l->n_more);
  dataset->calibration_more = part(held_out, c, before_more(l), l->n_more);
  dataset->regressors = part(rows, n, before_regressors(l), l->n_regressors);
  dataset->calibration_regressors = part(held_out, c, before_regressors(l), l->n_regressors);
  dataset->noise = part(rows, n, before_noises(l), l->n_noises);
  dataset->calibration_noise = part(held_out, c, before_noises(l), l->n_noises);
  dataset->offset = part(rows, n, before_offsets(l), l->n_offsets);
  dataset->calibration_offset = part(held_out, c, before_offsets(l), l->n_offsets);
  dataset->exposure = part(rows, n, before_exposures(l), l->n_exposures);
  dataset->calibration_exposure = part(held_out, c, before_exposures(l), l->n_exposures);
  dataset->mapping = gpnn_spool_mapping(spool);
}
