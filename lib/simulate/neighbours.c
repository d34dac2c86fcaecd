#include "simulate/neighbours.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/threads.h"
#include "simulate/neighbours_private.h"

static const double two_pi = 6.28318530717958647692;

static const char *const names[] = {
    [GPNN_INPUTS_NORMAL] = "normal",
    [GPNN_INPUTS_DISK] = "disk",
    [GPNN_INPUTS_CUBE] = "cube",
};

bool gpnn_inputs_by_name(const char *name, enum gpnn_inputs_law *law)
{
  for (int i = GPNN_INPUTS_NORMAL; i <= GPNN_INPUTS_CUBE; i++) {
    if (strcmp(name, names[i]) != 0) continue;
    *law = (enum gpnn_inputs_law)i;
    return true;
  }
  return false;
}

void gpnn_inputs_draw(const struct gpnn_inputs *inputs, struct gpnn_rng *rng, double *x)
{
  if (inputs->law == GPNN_INPUTS_DISK) {
    double radius = inputs->scale * sqrt(gpnn_rng_uniform(rng));
    double angle = two_pi * gpnn_rng_uniform(rng);
    x[0] = radius * cos(angle);
    x[1] = radius * sin(angle);
  } else if (inputs->law == GPNN_INPUTS_NORMAL) {
    gpnn_rng_normals(rng, inputs->d, x);
    for (size_t j = 0; j < inputs->d; j++) x[j] *= inputs->scale;
  } else {
    for (size_t j = 0; j < inputs->d; j++) x[j] = inputs->scale * (2 * gpnn_rng_uniform(rng) - 1);
  }
}

double gpnn_neighbours_next(struct gpnn_neighbours_order *order, struct gpnn_rng *rng,
                            double *cumulated)
{
  order->cumulated += gpnn_rng_exponential(rng) / (double)(order->n - order->taken++);
  *cumulated = order->cumulated;
  return log(-expm1(-order->cumulated));
}

static enum gpnn_status check(const struct gpnn_neighbours_options *options, struct gpnn_error *err)
{
  const struct gpnn_inputs *inputs = &options->inputs;
  if (options->n == 0 || options->n > GPNN_NEIGHBOURS_MOST)
    return gpnn_fail(err, GPNN_EINVAL, "the number of training rows is not in 1 to %llu",
                     (unsigned long long)GPNN_NEIGHBOURS_MOST);
  if (options->m > options->n)
    return gpnn_fail(err, GPNN_EINVAL, "%zu neighbours are more than the %llu training rows",
                     options->m, (unsigned long long)options->n);
  if (inputs->d == 0) return gpnn_fail(err, GPNN_EINVAL, "a row has at least 1 input");
  if (inputs->law == GPNN_INPUTS_DISK && inputs->d != 2)
    return gpnn_fail(err, GPNN_EINVAL, "a disk has 2 inputs, not %zu", inputs->d);
  if (!(inputs->scale > 0) || isinf(inputs->scale))
    return gpnn_fail(err, GPNN_EINVAL, "the scale of the inputs is not a positive number");
  if (inputs->law == GPNN_INPUTS_CUBE && !options->by_search)
    return gpnn_fail(err, GPNN_EINVAL, "neighbours in a cube can be had by search alone");
  return GPNN_OK;
}

enum gpnn_status gpnn_neighbours_new(struct gpnn_neighbours **near,
                                     const struct gpnn_neighbours_options *options,
                                     struct gpnn_error *err)
{
  unsigned char draw[8];
  enum gpnn_status status = check(options, err);
  if (status != GPNN_OK) return status;
  assert(options->threads > 0);
  struct gpnn_neighbours *made = calloc(1, sizeof *made);
  if (made == NULL) return gpnn_fail_memory(err, "for nearest neighbours");
  made->options = *options;
  gpnn_store_u64(draw, options->draw);
  made->seed = gpnn_rng_hash(options->seed, draw, sizeof draw);
  if (options->by_search) status = gpnn_neighbours_make_cloud(made, err);
  if (status == GPNN_OK)
    *near = made;
  else
    gpnn_neighbours_free(made);
  return status;
}

enum { TOGETHER = 4 }; /* points that a thread takes at a time */

/* Points whose neighbours are drawn. */
struct drawing {
  const struct gpnn_neighbours *near;
  uint64_t first;
  const double *x;
  double *offsets;
};

static void draw_around(void *context, size_t thread, size_t i)
{
  const struct drawing *drawing = context;
  const struct gpnn_neighbours_options *options = &drawing->near->options;
  const struct gpnn_inputs *inputs = &options->inputs;
  const double *x = drawing->x + i * inputs->d;
  double *offsets = drawing->offsets + i * options->m * inputs->d;
  struct gpnn_rng rng;
  (void)thread;
  gpnn_rng_init_at(&rng, drawing->near->seed, GPNN_RNG_NEAR, drawing->first + i);
  if (inputs->law == GPNN_INPUTS_DISK)
    gpnn_neighbours_disk(inputs, options->n, options->m, x, &rng, offsets);
  else
    gpnn_neighbours_normal(inputs, options->n, options->m, x, &rng, offsets);
}

enum gpnn_status gpnn_neighbours_find(const struct gpnn_neighbours *near, uint64_t first,
                                      size_t n_points, const double *x, double *offsets,
                                      struct gpnn_error *err)
{
  const struct gpnn_neighbours_options *options = &near->options;
  struct drawing drawing = {near, first, x, offsets};
  if (options->by_search) return gpnn_neighbours_look(near, n_points, x, offsets, err);
  gpnn_threads_each(options->threads, n_points, TOGETHER, draw_around, &drawing);
  return GPNN_OK;
}

void gpnn_neighbours_free(struct gpnn_neighbours *near)
{
  if (near == NULL) return;
  gpnn_search_free(near->search);
  free(near->rows);
  free(near);
}
