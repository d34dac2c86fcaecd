#include "models/tucker/tucker.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/stored.h"

#define MEMORY_FOR "for a grid of inducing points"

/* ---- memory -------------------------------------------------------------------------------- */

size_t gpnn_tucker_core_size(const struct gpnn_tucker_shape *shape)
{
  size_t size = 1;
  if (shape->is_diagonal) return shape->q[0];
  for (size_t l = 0; l < shape->p; l++)
    if (!gpnn_multiply(size, shape->q[l], &size)) return SIZE_MAX;
  return size;
}

/* Where the numbers of each kind begin. */
static void lay_out(struct gpnn_tucker *t)
{
  size_t at = t->n_core;
  t->n_points = 1;
  for (size_t l = 0; l < t->shape.p; l++) {
    t->factor[l] = at;
    at += t->shape.m[l] * t->shape.q[l];
  }
  for (size_t l = 0; l < t->shape.p; l++) {
    t->rho[l] = at;
    at += t->shape.m[l];
    t->n_grid += t->shape.m[l];
    t->n_points *= (double)t->shape.m[l];
  }
  t->lengthscale = at;
  t->kernelscale = at + t->shape.p;
  t->noise = t->kernelscale + 1;
  t->n_numbers = t->noise + 1;
}

enum gpnn_status gpnn_tucker_new(struct gpnn_tucker *tucker, const struct gpnn_tucker_shape *shape,
                                 const struct gpnn_kernel *kernel, struct gpnn_error *err)
{
  *tucker = (struct gpnn_tucker){.shape = *shape,
                                 .n_core = gpnn_tucker_core_size(shape),
                                 .kernel = kernel,
                                 .jitter = GPNN_TUCKER_JITTER,
                                 .has_covariance = true};
  size_t bytes;
  if (gpnn_multiply(tucker->n_core, 2 * sizeof(double), &bytes)) {
    lay_out(tucker);
    tucker->grid = gpnn_alloc(tucker->n_grid, 1, sizeof(double));
    tucker->numbers = gpnn_alloc(tucker->n_numbers, 1, sizeof(double));
  }
  if (tucker->grid == NULL || tucker->numbers == NULL) {
    gpnn_tucker_release(tucker);
    return gpnn_fail_memory(err, MEMORY_FOR);
  }
  for (size_t l = 0, at = 0; l < shape->p; at += shape->m[l++])
    tucker->points[l] = tucker->grid + at;
  return GPNN_OK;
}

void gpnn_tucker_release(struct gpnn_tucker *tucker)
{
  free(tucker->grid);
  free(tucker->numbers);
  *tucker = (struct gpnn_tucker){0};
}

/* ---- arrays -------------------------------------------------------------------------------- */

enum gpnn_status gpnn_tucker_store(const struct gpnn_tucker *t, const char *target,
                                   struct gpnn_state *arrays, struct gpnn_error *err)
{
  double size[GPNN_TUCKER_DIMENSIONS], rank[GPNN_TUCKER_DIMENSIONS];
  size_t p = t->shape.p;
  for (size_t l = 0; l < p; l++) {
    size[l] = (double)t->shape.m[l];
    rank[l] = (double)t->shape.q[l];
  }
  const struct {
    const char *name;
    size_t n;
    const double *values;
  } array[] = {{GPNN_TUCKER_GRID_SIZE, p, size},
               {GPNN_TUCKER_RANK, p, rank},
               {GPNN_TUCKER_GRID, t->n_grid, t->grid},
               {GPNN_TUCKER_FACTOR, t->rho[0] - t->factor[0], t->numbers + t->factor[0]},
               {GPNN_TUCKER_CORE, t->n_core, t->numbers},
               {GPNN_TUCKER_JITTER_USED, 1, &t->jitter},
               {GPNN_TUCKER_RHO, t->n_grid, t->numbers + t->rho[0]}};
  size_t n = sizeof array / sizeof *array - (t->has_covariance ? 0 : 1);
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    status = gpnn_state_add(arrays, target, array[i].name, array[i].n, array[i].values, err);
  return status;
}

/* Where arrays are looked for. */
struct source {
  const struct gpnn_state *arrays;
  const char *target;
};

/* The values of an array of 'n' numbers. */
static enum gpnn_status find(const struct source *source, const char *name, size_t n,
                             const double **values, struct gpnn_error *err)
{
  const struct gpnn_state_array *array = gpnn_state_find(source->arrays, source->target, name);
  if (array == NULL) return gpnn_fail(err, GPNN_EFORMAT, "there is no array '%s'", name);
  if (array->n != n)
    return gpnn_fail(err, GPNN_EFORMAT, "array '%s' has %zu numbers, not %zu", name, array->n, n);
  *values = array->values;
  return GPNN_OK;
}

/* An array of 'p' whole numbers, from 1 to 'most'. */
static enum gpnn_status find_counts(const struct source *source, const char *name, size_t p,
                                    size_t most, size_t *counts, struct gpnn_error *err)
{
  const double *values;
  enum gpnn_status status = find(source, name, p, &values, err);
  for (size_t l = 0; l < p && status == GPNN_OK; l++) {
    if (!(values[l] >= 1 && values[l] <= (double)most && values[l] == floor(values[l])))
      return gpnn_fail(err, GPNN_EFORMAT, "array '%s' has a value that is not from 1 to %zu", name,
                       most);
    counts[l] = (size_t)values[l];
  }
  return status;
}

/* A core of as many numbers as a rank, where that is not the product of ranks, is diagonal. */
static enum gpnn_status find_shape(const struct source *source, size_t p,
                                   struct gpnn_tucker_shape *shape, struct gpnn_error *err)
{
  *shape = (struct gpnn_tucker_shape){.p = p};
  enum gpnn_status status =
      find_counts(source, GPNN_TUCKER_GRID_SIZE, p, GPNN_TUCKER_MOST_POINTS, shape->m, err);
  if (status == GPNN_OK)
    status = find_counts(source, GPNN_TUCKER_RANK, p, GPNN_TUCKER_MOST_POINTS, shape->q, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_state_array *core =
      gpnn_state_find(source->arrays, source->target, GPNN_TUCKER_CORE);
  bool are_equal = true;
  for (size_t l = 1; l < p; l++) are_equal = are_equal && shape->q[l] == shape->q[0];
  shape->is_diagonal = core != NULL && are_equal && core->n != gpnn_tucker_core_size(shape);
  const double *values;
  return find(source, GPNN_TUCKER_CORE, gpnn_tucker_core_size(shape), &values, err);
}

/* Copies an array, if it is as long as it must be. */
static enum gpnn_status take(const struct source *source, const char *name, size_t n, double *to,
                             struct gpnn_error *err)
{
  const double *values;
  enum gpnn_status status = find(source, name, n, &values, err);
  if (status == GPNN_OK) memcpy(to, values, n * sizeof *values);
  return status;
}

static enum gpnn_status check_points(const struct gpnn_tucker *t, struct gpnn_error *err)
{
  bool is_fine = t->jitter > 0 && t->jitter <= 1;
  for (size_t l = 0; l < t->shape.p; l++)
    for (size_t j = 1; j < t->shape.m[l]; j++)
      is_fine = is_fine && t->points[l][j] > t->points[l][j - 1];
  return is_fine ? GPNN_OK
                 : gpnn_fail(err, GPNN_EFORMAT,
                             "the points of a grid do not ascend, or its jitter "
                             "is not above 0");
}

static enum gpnn_status take_all(struct gpnn_tucker *t, const struct source *source,
                                 struct gpnn_error *err)
{
  const struct {
    const char *name;
    size_t n;
    double *to;
  } array[] = {{GPNN_TUCKER_GRID, t->n_grid, t->grid},
               {GPNN_TUCKER_FACTOR, t->rho[0] - t->factor[0], t->numbers + t->factor[0]},
               {GPNN_TUCKER_CORE, t->n_core, t->numbers},
               {GPNN_TUCKER_JITTER_USED, 1, &t->jitter},
               {GPNN_TUCKER_RHO, t->n_grid, t->numbers + t->rho[0]}};
  t->has_covariance = gpnn_state_find(source->arrays, source->target, GPNN_TUCKER_RHO) != NULL;
  size_t n = sizeof array / sizeof *array - (t->has_covariance ? 0 : 1);
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    status = take(source, array[i].name, array[i].n, array[i].to, err);
  return status == GPNN_OK ? check_points(t, err) : status;
}

enum gpnn_status gpnn_tucker_restore(struct gpnn_tucker *tucker, size_t p,
                                     const struct gpnn_kernel *kernel, const char *target,
                                     const struct gpnn_state *arrays, struct gpnn_error *err)
{
  const struct source source = {arrays, target};
  struct gpnn_tucker_shape shape;
  *tucker = (struct gpnn_tucker){0};
  if (p < 1 || p > GPNN_TUCKER_DIMENSIONS)
    return gpnn_fail(err, GPNN_EFORMAT, "a grid has 1 to %d dimensions, not %zu",
                     GPNN_TUCKER_DIMENSIONS, p);
  enum gpnn_status status = find_shape(&source, p, &shape, err);
  if (status == GPNN_OK) status = gpnn_tucker_new(tucker, &shape, kernel, err);
  if (status == GPNN_OK) status = take_all(tucker, &source, err);
  if (status != GPNN_OK) gpnn_tucker_release(tucker);
  return status;
}

/* ---- the box ------------------------------------------------------------------------------- */

enum gpnn_status gpnn_tucker_box_of(struct gpnn_tucker_box *box, const struct gpnn_channel *channel,
                                    struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = channel->dataset;
  struct gpnn_tucker tucker;
  if (dataset->stored == NULL || channel->parameters->family != GPNN_FAMILY_TUCKER)
    return gpnn_fail(err, GPNN_EMISMATCH, "not a model on a grid of inducing points");
  enum gpnn_status status =
      gpnn_tucker_restore(&tucker, dataset->d, channel->parameters->covariance.kernel,
                          dataset->schema.target.name, dataset->stored->arrays, err);
  if (status != GPNN_OK) return status;
  box->p = tucker.shape.p;
  for (size_t l = 0; l < box->p; l++) {
    box->low[l] = tucker.points[l][0];
    box->high[l] = tucker.points[l][tucker.shape.m[l] - 1];
  }
  gpnn_tucker_release(&tucker);
  return GPNN_OK;
}

bool gpnn_tucker_box_excludes(const struct gpnn_tucker_box *box, const double *x)
{
  for (size_t l = 0; l < box->p; l++)
    if (!(x[l] >= box->low[l] && x[l] <= box->high[l])) return true;
  return false;
}
