#include "simulate/neighbours.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/threads.h"
#include "search/search.h"
#include "simulate/neighbours_private.h"

/* What a thread takes at a time. */
enum { ROWS_AT_ONCE = 1024, POINTS_AT_ONCE = 4 };

struct gpnn_neighbours {
  struct gpnn_neighbours_options options;
  uint64_t seed;              /* of this draw: a hash of the options' seed and draw */
  double *rows;               /* owned: the cloud, n by d; NULL: none */
  struct gpnn_search *search; /* owned: over the cloud, or NULL */
};

/* ---- search in a cloud -------------------------------------------------------------------- */

/* Each row has its own generator, so that threads do not matter. */
static void draw_row(void *context, size_t thread, size_t row)
{
  const struct gpnn_neighbours *neighbours = context;
  const struct gpnn_inputs *inputs = &neighbours->options.inputs;
  struct gpnn_rng rng;
  (void)thread;
  gpnn_rng_init_at(&rng, neighbours->seed, GPNN_RNG_CLOUD, row);
  gpnn_inputs_draw(inputs, &rng, neighbours->rows + row * inputs->d);
}

static enum gpnn_status make_cloud(struct gpnn_neighbours *neighbours, struct gpnn_error *err)
{
  const struct gpnn_neighbours_options *options = &neighbours->options;
  struct gpnn_search_options wanted = GPNN_SEARCH_OPTIONS_INIT;
  wanted.recall = 1;
  wanted.brief = true; /* there is nothing to tune at this recall */
  wanted.neighbours = options->m;
  wanted.seed = neighbours->seed;
  wanted.threads = options->threads;
  if (options->n <= SIZE_MAX)
    neighbours->rows = gpnn_alloc((size_t)options->n, options->inputs.d, sizeof *neighbours->rows);
  if (neighbours->rows == NULL) return gpnn_fail_memory(err, "for a cloud of training rows");
  gpnn_threads_each(options->threads, (size_t)options->n, ROWS_AT_ONCE, draw_row, neighbours);
  return gpnn_search_build(&neighbours->search, (size_t)options->n, options->inputs.d,
                           neighbours->rows, &wanted, err);
}

/* Writes the rows found minus their points. */
static void subtract(const struct gpnn_neighbours *neighbours, size_t n_points, const double *x,
                     const int64_t *found, double *offsets)
{
  size_t d = neighbours->options.inputs.d, m = neighbours->options.m;
  for (size_t i = 0; i < n_points; i++)
    for (size_t k = 0; k < m; k++) {
      const double *row = neighbours->rows + (size_t)found[i * m + k] * d;
      for (size_t j = 0; j < d; j++) *offsets++ = row[j] - x[i * d + j];
    }
}

static enum gpnn_status search_cloud(const struct gpnn_neighbours *neighbours, size_t n_points,
                                     const double *x, double *offsets, struct gpnn_error *err)
{
  size_t m = neighbours->options.m;
  int64_t *found = gpnn_alloc(n_points, m, sizeof *found);
  double *distances = gpnn_alloc(n_points, m, sizeof *distances);
  enum gpnn_status status = GPNN_OK;
  if (found == NULL || distances == NULL)
    status = gpnn_fail_memory(err, "for nearest neighbours");
  else
    status = gpnn_search_query(neighbours->search, n_points, x, m, found, distances,
                               neighbours->options.threads, err);
  if (status == GPNN_OK) subtract(neighbours, n_points, x, found, offsets);
  free(found);
  free(distances);
  return status;
}

/* ---- either way --------------------------------------------------------------------------- */

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
    return gpnn_fail(err, GPNN_EINVAL, "neighbours in a cube can only be found by search");
  return GPNN_OK;
}

enum gpnn_status gpnn_neighbours_new(struct gpnn_neighbours **neighbours,
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
  if (options->by_search) status = make_cloud(made, err);
  if (status == GPNN_OK)
    *neighbours = made;
  else
    gpnn_neighbours_free(made);
  return status;
}

/* Points whose neighbours are drawn. */
struct drawing {
  const struct gpnn_neighbours *neighbours;
  uint64_t first;
  const double *x;
  double *offsets;
};

static void draw_point(void *context, size_t thread, size_t i)
{
  const struct drawing *drawing = context;
  const struct gpnn_neighbours_options *options = &drawing->neighbours->options;
  size_t d = options->inputs.d;
  struct gpnn_rng rng;
  (void)thread;
  gpnn_rng_init_at(&rng, drawing->neighbours->seed, GPNN_RNG_NEAR, drawing->first + i);
  gpnn_neighbours_draw(&options->inputs, options->n, options->m, drawing->x + i * d, &rng,
                       drawing->offsets + i * options->m * d);
}

enum gpnn_status gpnn_neighbours_find(const struct gpnn_neighbours *neighbours, uint64_t first,
                                      size_t n_points, const double *x, double *offsets,
                                      struct gpnn_error *err)
{
  const struct gpnn_neighbours_options *options = &neighbours->options;
  struct drawing drawing = {neighbours, first, x, offsets};
  if (options->by_search) return search_cloud(neighbours, n_points, x, offsets, err);
  gpnn_threads_each(options->threads, n_points, POINTS_AT_ONCE, draw_point, &drawing);
  return GPNN_OK;
}

void gpnn_neighbours_free(struct gpnn_neighbours *neighbours)
{
  if (neighbours == NULL) return;
  gpnn_search_free(neighbours->search);
  free(neighbours->rows);
  free(neighbours);
}
