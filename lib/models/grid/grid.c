#include "models/grid/grid.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "models/grid/places.h"

#define MEMORY_FOR "for the model of a grid"

struct grid_model {
  size_t n;
  const struct gpnn_channel *channels; /* borrowed; n */
  struct gpnn_grid_posterior_options options;
  struct gpnn_grid_posterior **posterior; /* owned; n */
  struct gpnn_grid_finder finder;
};

struct gpnn_grid_posterior_options gpnn_grid_default_options(void)
{
  return (struct gpnn_grid_posterior_options){.tolerance = 1e-5,
                                              .exact_tolerance = 1e-6,
                                              .most_iterations = 10000,
                                              .draws = 64,
                                              .keep_draws = true,
                                              .seed = 1};
}

static void grid_free(void *state)
{
  struct grid_model *m = state;
  if (m == NULL) return;
  for (size_t c = 0; m->posterior != NULL && c < m->n; c++)
    gpnn_grid_posterior_free(m->posterior[c]);
  free(m->posterior);
  gpnn_grid_finder_release(&m->finder);
  free(m);
}

static enum gpnn_status make_with(void **state, size_t n, const struct gpnn_channel *channels,
                                  const struct gpnn_grid_posterior_options *options,
                                  struct gpnn_error *err)
{
  struct grid_model *m = calloc(1, sizeof *m);
  if (m == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  m->n = n;
  m->channels = channels;
  m->options = *options;
  m->posterior = gpnn_alloc(n, 1, sizeof(struct gpnn_grid_posterior *));
  enum gpnn_status status = m->posterior == NULL
                                ? gpnn_fail_memory(err, MEMORY_FOR)
                                : gpnn_grid_finder_make(&m->finder, channels[0].dataset->grid, err);
  for (size_t c = 0; c < n && status == GPNN_OK; c++)
    status =
        gpnn_grid_posterior_new(&m->posterior[c], channels[c].dataset->grid, channels[c].dataset->y,
                                channels[c].parameters, &m->options, err);
  if (status == GPNN_OK)
    *state = m;
  else
    grid_free(m);
  return status;
}

static enum gpnn_status grid_make(void **state, size_t n, const struct gpnn_channel *channels,
                                  const struct gpnn_model_options *options, struct gpnn_error *err)
{
  struct gpnn_grid_posterior_options own = gpnn_grid_default_options();
  if (options->grid != NULL) own = *options->grid;
  own.system.threads = options->threads;
  return make_with(state, n, channels, &own, err);
}

static enum gpnn_status grid_with(const void *state, const struct gpnn_channel *channels,
                                  void **other, struct gpnn_error *err)
{
  const struct grid_model *m = state;
  return make_with(other, m->n, channels, &m->options, err);
}

/* Rows have no neighbours whose distance or misfit would say more. */
static void fill_rest(size_t n, const struct gpnn_latent *latent)
{
  for (size_t i = 0; i < n; i++) {
    if (latent->mean_variance != NULL) latent->mean_variance[i] = 0;
    if (latent->misfit != NULL) latent->misfit[i] = 1;
    if (latent->nearest != NULL) latent->nearest[i] = INFINITY;
  }
}

/* What the levels' own noise is more than that of the covariance. */
static void fill_noise(const struct gpnn_grid_posterior *posterior,
                       const struct gpnn_parameters *parameters,
                       const struct gpnn_grid_places *places, double *noise)
{
  for (size_t i = 0; i < places->n; i++)
    noise[i] = gpnn_grid_posterior_noise(posterior, places, i) - parameters->covariance.noise;
}

static enum gpnn_status grid_predict(const void *state, const struct gpnn_query *query,
                                     const struct gpnn_latent *latent, struct gpnn_counts *counts,
                                     struct gpnn_error *err)
{
  const struct grid_model *m = state;
  struct gpnn_grid_found found = {0};
  (void)counts; /* whose events are those of single rows */
  if (query->n == 0) return GPNN_OK;
  enum gpnn_status status = gpnn_grid_find(&found, &m->finder, query->n, query->x, err);
  for (size_t c = 0; c < m->n && status == GPNN_OK; c++)
    status = gpnn_grid_posterior_predict(
        m->posterior[c], &found.places, latent->mean == NULL ? NULL : latent->mean + c * query->n,
        latent->variance == NULL ? NULL : latent->variance + c * query->n, err);
  for (size_t c = 0; c < m->n && status == GPNN_OK && latent->noise != NULL; c++)
    fill_noise(m->posterior[c], m->channels[c].parameters, &found.places,
               latent->noise + c * query->n);
  if (status == GPNN_OK) fill_rest(m->n * query->n, latent);
  gpnn_grid_found_release(&found);
  return status;
}

static enum gpnn_status grid_draw(const void *state, size_t channel, const struct gpnn_query *query,
                                  size_t n_draws, double *errors, struct gpnn_error *err)
{
  const struct grid_model *m = state;
  const struct gpnn_grid_posterior *posterior = m->posterior[channel];
  struct gpnn_grid_found found = {0};
  double *mean = gpnn_alloc(query->n, 1, sizeof *mean);
  enum gpnn_status status = mean == NULL
                                ? gpnn_fail_memory(err, MEMORY_FOR)
                                : gpnn_grid_find(&found, &m->finder, query->n, query->x, err);
  if (status == GPNN_OK)
    status = gpnn_grid_posterior_predict(posterior, &found.places, mean, NULL, err);
  if (status == GPNN_OK)
    status = gpnn_grid_posterior_draws(posterior, &found.places, 0, n_draws, errors, err);
  for (size_t i = 0; status == GPNN_OK && i < query->n * n_draws; i++)
    errors[i] -= mean[i / n_draws];
  gpnn_grid_found_release(&found);
  free(mean);
  return status;
}

static size_t grid_neighbours(const void *state, size_t channel)
{
  (void)channel;
  return ((const struct grid_model *)state)->finder.grid->n_cells;
}

struct gpnn_grid_posterior_report gpnn_grid_model_report(const struct gpnn_model *model,
                                                         size_t channel)
{
  const struct grid_model *m = gpnn_model_state(model);
  return gpnn_grid_posterior_report(m->posterior[channel]);
}

const struct gpnn_model_ops gpnn_grid_ops = {.make = grid_make,
                                             .with = grid_with,
                                             .predict = grid_predict,
                                             .draw = grid_draw,
                                             .neighbours = grid_neighbours,
                                             .free = grid_free};
