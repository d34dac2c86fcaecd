/*
 * Neighbours found in a cloud of rows.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "simulate/neighbours_private.h"

enum { TOGETHER = 1024 }; /* rows that a thread draws at a time */

/* A row is drawn by a generator of its own: threads do not matter. */
static void draw_row(void *context, size_t thread, size_t row)
{
  const struct gpnn_neighbours *near = context;
  const struct gpnn_inputs *inputs = &near->options.inputs;
  struct gpnn_rng rng;
  (void)thread;
  gpnn_rng_init_at(&rng, near->seed, GPNN_RNG_CLOUD, row);
  gpnn_inputs_draw(inputs, &rng, near->rows + row * inputs->d);
}

enum gpnn_status gpnn_neighbours_make_cloud(struct gpnn_neighbours *near, struct gpnn_error *err)
{
  const struct gpnn_neighbours_options *options = &near->options;
  struct gpnn_search_options wanted = GPNN_SEARCH_OPTIONS_INIT;
  wanted.recall = 1;
  wanted.brief = true; /* what tuning would find out does not matter at this recall */
  wanted.neighbours = options->m;
  wanted.seed = near->seed;
  wanted.threads = options->threads;
  if (options->n <= SIZE_MAX)
    near->rows = gpnn_alloc((size_t)options->n, options->inputs.d, sizeof *near->rows);
  if (near->rows == NULL) return gpnn_fail_memory(err, "for a cloud of training rows");
  gpnn_threads_each(options->threads, (size_t)options->n, TOGETHER, draw_row, near);
  return gpnn_search_build(&near->search, (size_t)options->n, options->inputs.d, near->rows,
                           &wanted, err);
}

/* Takes the points from the rows found for them. */
static void subtract(const struct gpnn_neighbours *near, size_t n_points, const double *x,
                     const int64_t *found, double *offsets)
{
  size_t d = near->options.inputs.d, m = near->options.m;
  for (size_t i = 0; i < n_points; i++)
    for (size_t k = 0; k < m; k++) {
      const double *row = near->rows + (size_t)found[i * m + k] * d;
      for (size_t j = 0; j < d; j++) *offsets++ = row[j] - x[i * d + j];
    }
}

enum gpnn_status gpnn_neighbours_look(const struct gpnn_neighbours *near, size_t n_points,
                                      const double *x, double *offsets, struct gpnn_error *err)
{
  size_t m = near->options.m;
  int64_t *found = gpnn_alloc(n_points, m, sizeof *found);
  double *distances = gpnn_alloc(n_points, m, sizeof *distances);
  enum gpnn_status status = GPNN_OK;
  if (found == NULL || distances == NULL)
    status = gpnn_fail_memory(err, "for nearest neighbours");
  else
    status = gpnn_search_query(near->search, n_points, x, m, found, distances,
                               near->options.threads, err);
  if (status == GPNN_OK) subtract(near, n_points, x, found, offsets);
  free(found);
  free(distances);
  return status;
}
