/* The memory that a thread needs to evaluate neighbourhoods. */
#include <stdlib.h>

#include "base/memory.h"
#include "estimate/neighbourhood_private.h"
#include "linalg/cholesky.h"

/* ---- one row -------------------------------------------------------------------------- */

void gpnn_term_scratch_release(struct gpnn_term_scratch *s)
{
  free(s->z);
  free(s->t);
  free(s->difference);
  free(s->r2);
  free(s->cross2);
  free(s->a);
  free(s->work);
  free(s->diagonal);
  free(s->row);
}

bool gpnn_term_scratch_init(struct gpnn_term_scratch *scratch, size_t k, size_t d)
{
  size_t s = k + 1, pairs = s * k / 2;
  scratch->z = gpnn_alloc(d, s, sizeof(double));
  scratch->t = gpnn_alloc(d, s, sizeof(double));
  scratch->difference = gpnn_alloc(d, 1, sizeof(double));
  scratch->r2 = gpnn_alloc(3, pairs, sizeof(double));
  scratch->cross2 = gpnn_alloc(3, k, sizeof(double));
  scratch->a = gpnn_alloc(s, s, sizeof(double));
  scratch->work = gpnn_alloc(gpnn_cholesky_work(s), 1, sizeof(double));
  scratch->diagonal = gpnn_alloc(4, s, sizeof(double));
  scratch->row = gpnn_alloc(s, 1, sizeof *scratch->row);
  if (scratch->z == NULL || scratch->t == NULL || scratch->difference == NULL ||
      scratch->r2 == NULL || scratch->cross2 == NULL || scratch->a == NULL ||
      scratch->work == NULL || scratch->diagonal == NULL || scratch->row == NULL)
    return false;
  scratch->slope = scratch->r2 + pairs;
  scratch->pair = scratch->slope + pairs;
  scratch->cross = scratch->cross2 + k;
  scratch->cross_slope = scratch->cross + k;
  scratch->r = scratch->diagonal + s;
  scratch->alpha = scratch->r + s;
  scratch->w = scratch->alpha + s;
  return true;
}

/* ---- several rows --------------------------------------------------------------------- */

bool gpnn_lanes_init(struct gpnn_lanes *lanes, const struct gpnn_dataset *data,
                     const struct gpnn_parameters *params, const double *inverse, const double *map,
                     size_t k, bool with_map)
{
  size_t d = data->d, pairs = k * (k - (k > 0)) / 2, width = params->covariance.n_lengthscales + 3;
  size_t padded = (d + GPNN_LANES_COLUMNS - 1) / GPNN_LANES_COLUMNS * GPNN_LANES_COLUMNS;
  *lanes = (struct gpnn_lanes){.data = data,
                               .params = params,
                               .inverse = inverse,
                               .map = map,
                               .k = k,
                               .padded = padded,
                               .with_map = with_map};
  lanes->difference = gpnn_alloc(d, 1, sizeof(gpnn_lanes_vector));
  lanes->z = gpnn_alloc(2 * k, padded, sizeof(gpnn_lanes_vector));
  lanes->r2 = gpnn_alloc(pairs, 3, sizeof(gpnn_lanes_vector));
  lanes->cross2 = gpnn_alloc(k, 6, sizeof(gpnn_lanes_vector));
  lanes->factor = gpnn_alloc(pairs + 3 * k, 1, sizeof(gpnn_lanes_vector));
  lanes->gradient = gpnn_alloc(width, 1, sizeof(gpnn_lanes_vector));
  lanes->by_map = gpnn_alloc(d, with_map ? d : 1, sizeof(gpnn_lanes_vector));
  if (!lanes->difference || !lanes->z || !lanes->r2 || !lanes->cross2 || !lanes->factor ||
      !lanes->gradient || !lanes->by_map)
    return false;
  lanes->t = lanes->z + k * padded;
  lanes->slope = lanes->r2 + pairs;
  lanes->pair = lanes->slope + pairs;
  lanes->cross = lanes->cross2 + k;
  lanes->cross_slope = lanes->cross + k;
  lanes->diagonal = lanes->cross_slope + k;
  lanes->inverse_diagonal = lanes->diagonal + k;
  lanes->sum = lanes->inverse_diagonal + k;
  return true;
}

void gpnn_lanes_release(struct gpnn_lanes *lanes)
{
  free(lanes->difference);
  free(lanes->z);
  free(lanes->r2);
  free(lanes->cross2);
  free(lanes->factor);
  free(lanes->gradient);
  free(lanes->by_map);
}

/* ---- classes -------------------------------------------------------------------------- */

void gpnn_labels_release(struct gpnn_labels *labels)
{
  free(labels->latent);
  free(labels->w);
  free(labels->label);
}

bool gpnn_labels_init(struct gpnn_labels *labels, size_t n_classes, const struct gpnn_link *link,
                      const double *share, size_t k)
{
  *labels = (struct gpnn_labels){
      .classes = {.n = n_classes, .link = link, .share = share, .temperature = 1}};
  labels->latent = gpnn_alloc(n_classes, 4, sizeof *labels->latent);
  labels->w = gpnn_alloc(k, 2, sizeof *labels->w);
  labels->label = gpnn_alloc(k, 1, sizeof *labels->label);
  if (labels->latent == NULL || labels->w == NULL || labels->label == NULL) return false;
  labels->probability = labels->latent + n_classes;
  labels->slopes.bias = labels->probability + n_classes;
  labels->slopes.latent = labels->slopes.bias + n_classes;
  labels->by_w = labels->w + k;
  return true;
}
