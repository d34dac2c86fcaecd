#include "models/grid/grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MEMORY_FOR "for the model of a grid"
#define MEMORY_FOR_PLACES "for places on a grid"

/* ---- rows of a table as places on a grid -------------------------------------------------- */

/* The levels of a grid in order. */
struct finder {
  const struct gpnn_grid *grid;       /* borrowed */
  uint32_t *order[GPNN_GRID_FACTORS]; /* owned; levels, ascending by their coordinates */
};

/* Places with their arrays. */
struct found {
  struct gpnn_grid_places places; /* whose arrays are: */
  uint32_t *level;                /* owned */
  double *x[GPNN_GRID_FACTORS];   /* owned */
};

static void finder_release(struct finder *finder)
{
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) free(finder->order[a]);
  memset(finder, 0, sizeof *finder);
}

static void found_release(struct found *found)
{
  free(found->level);
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) free(found->x[a]);
  memset(found, 0, sizeof *found);
}

/* A point and what it is of. */
struct key {
  const double *x;
  size_t d;
  size_t number;
};

static int compare_points(size_t d, const double *a, const double *b)
{
  for (size_t j = 0; j < d; j++)
    if (a[j] != b[j]) return a[j] < b[j] ? -1 : 1;
  return 0;
}

static int compare_keys(const void *a, const void *b)
{
  const struct key *p = a, *q = b;
  int order = compare_points(p->d, p->x, q->x);
  return order != 0 ? order : (p->number > q->number) - (p->number < q->number);
}

/* ---- the grid's levels -------------------------------------------------------------------- */

static enum gpnn_status sort_levels(struct finder *finder, size_t a, struct gpnn_error *err)
{
  const struct gpnn_grid_factor *factor = &finder->grid->factor[a];
  struct key *keys = gpnn_alloc(factor->n, 1, sizeof *keys);
  finder->order[a] = gpnn_alloc(factor->n, 1, sizeof *finder->order[a]);
  bool fits = keys != NULL && finder->order[a] != NULL;
  for (size_t l = 0; fits && l < factor->n; l++)
    keys[l] = (struct key){factor->x + l * factor->d, factor->d, l};
  if (fits) qsort(keys, factor->n, sizeof *keys, compare_keys);
  for (size_t l = 0; fits && l < factor->n; l++) finder->order[a][l] = (uint32_t)keys[l].number;
  free(keys);
  return fits ? GPNN_OK : gpnn_fail_memory(err, MEMORY_FOR_PLACES);
}

static enum gpnn_status finder_make(struct finder *finder, const struct gpnn_grid *grid,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  finder->grid = grid;
  for (size_t a = 0; a < grid->n_factors && status == GPNN_OK; a++)
    status = sort_levels(finder, a, err);
  if (status != GPNN_OK) finder_release(finder);
  return status;
}

/* The level with these coordinates, or the number of levels. */
static size_t find_level(const struct finder *finder, size_t a, const double *x)
{
  const struct gpnn_grid_factor *factor = &finder->grid->factor[a];
  size_t low = 0, high = factor->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2, level = finder->order[a][middle];
    int order = compare_points(factor->d, factor->x + level * factor->d, x);
    if (order == 0) return level;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return factor->n;
}

/* ---- rows --------------------------------------------------------------------------------- */

/* Numbers the new levels of factor 'a' of rows, 'keys' (n of them). */
static enum gpnn_status number_new(struct found *found, size_t a, size_t n_factors, size_t levels,
                                   size_t n, struct key *keys, struct gpnn_error *err)
{
  size_t d = n > 0 ? keys[0].d : 0, count = 0;
  if (n > 0) qsort(keys, n, sizeof *keys, compare_keys);
  found->x[a] = gpnn_alloc(n, d, sizeof *found->x[a]);
  if (found->x[a] == NULL) return gpnn_fail_memory(err, MEMORY_FOR_PLACES);
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || compare_points(d, keys[i - 1].x, keys[i].x) != 0)
      memcpy(found->x[a] + count++ * d, keys[i].x, d * sizeof(double));
    found->level[keys[i].number * n_factors + a] = (uint32_t)(levels + count - 1);
  }
  found->places.x[a] = found->x[a];
  found->places.n_new[a] = count;
  return GPNN_OK;
}

/* Finds 'n' rows 'x', which have the coordinates of all factors one after another, as the grid has
 * them.  A level is the grid's if all coordinates are equal; equal new ones are one level, and they
 * are numbered in ascending order.  GPNN_ENOMEM: 'found', which must be zeroed, stays so. */
static enum gpnn_status find_places(struct found *found, const struct finder *finder, size_t n,
                                    const double *x, struct gpnn_error *err)
{
  const struct gpnn_grid *grid = finder->grid;
  size_t f = grid->n_factors, width = 0, from = 0;
  struct key *keys = gpnn_alloc(n, 1, sizeof *keys);
  found->level = gpnn_alloc(n, f, sizeof *found->level);
  enum gpnn_status status =
      keys == NULL || found->level == NULL ? gpnn_fail_memory(err, MEMORY_FOR_PLACES) : GPNN_OK;
  found->places = (struct gpnn_grid_places){.n = n, .level = found->level};
  for (size_t a = 0; a < f; a++) width += grid->factor[a].d;
  for (size_t a = 0; a < f && status == GPNN_OK; from += grid->factor[a++].d) {
    size_t n_new = 0;
    for (size_t i = 0; i < n; i++) {
      size_t level = find_level(finder, a, x + i * width + from);
      found->level[i * f + a] = (uint32_t)level;
      if (level == grid->factor[a].n)
        keys[n_new++] = (struct key){x + i * width + from, grid->factor[a].d, i};
    }
    status = number_new(found, a, f, grid->factor[a].n, n_new, keys, err);
  }
  free(keys);
  if (status != GPNN_OK) found_release(found);
  return status;
}

/* ---- the model ---------------------------------------------------------------------------- */

struct grid_model {
  size_t n;
  const struct gpnn_channel *channels; /* borrowed; n */
  struct gpnn_grid_posterior_options options;
  struct gpnn_grid_posterior **posterior; /* owned; n */
  struct finder finder;
};

struct gpnn_grid_posterior_options gpnn_grid_default_options(void)
{
  return (struct gpnn_grid_posterior_options){.exact_tolerance = 1e-6,
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
  finder_release(&m->finder);
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
                                : finder_make(&m->finder, channels[0].dataset->grid, err);
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
  own.system.threads = options->threads;
  return make_with(state, n, channels, &own, err);
}

enum gpnn_status gpnn_grid_model_new(struct gpnn_model **model, size_t n,
                                     const struct gpnn_channel *channels,
                                     const struct gpnn_grid_posterior_options *posterior,
                                     const struct gpnn_model_options *options,
                                     struct gpnn_error *err)
{
  struct gpnn_grid_posterior_options own = *posterior;
  void *state = NULL;
  own.system.threads = options->threads;
  enum gpnn_status status = make_with(&state, n, channels, &own, err);
  if (status == GPNN_OK)
    status = gpnn_model_wrap(model, "grid", &gpnn_grid_ops, state, n, channels, options, err);
  if (status == GPNN_OK) ((struct grid_model *)state)->channels = gpnn_model_channel(*model, 0);
  return status;
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
  struct found found = {0};
  (void)counts; /* whose events are those of single rows */
  if (query->n == 0) return GPNN_OK;
  enum gpnn_status status = find_places(&found, &m->finder, query->n, query->x, err);
  for (size_t c = 0; c < m->n && status == GPNN_OK; c++)
    status = gpnn_grid_posterior_predict(
        m->posterior[c], &found.places, latent->mean == NULL ? NULL : latent->mean + c * query->n,
        latent->variance == NULL ? NULL : latent->variance + c * query->n, err);
  for (size_t c = 0; c < m->n && status == GPNN_OK && latent->noise != NULL; c++)
    fill_noise(m->posterior[c], m->channels[c].parameters, &found.places,
               latent->noise + c * query->n);
  if (status == GPNN_OK) fill_rest(m->n * query->n, latent);
  found_release(&found);
  return status;
}

static enum gpnn_status grid_draw(const void *state, size_t channel, const struct gpnn_query *query,
                                  size_t n_draws, double *errors, struct gpnn_error *err)
{
  const struct grid_model *m = state;
  const struct gpnn_grid_posterior *posterior = m->posterior[channel];
  struct found found = {0};
  double *mean = gpnn_alloc(query->n, 1, sizeof *mean);
  enum gpnn_status status = mean == NULL ? gpnn_fail_memory(err, MEMORY_FOR)
                                         : find_places(&found, &m->finder, query->n, query->x, err);
  if (status == GPNN_OK)
    status = gpnn_grid_posterior_predict(posterior, &found.places, mean, NULL, err);
  if (status == GPNN_OK)
    status = gpnn_grid_posterior_draws(posterior, &found.places, 0, n_draws, errors, err);
  for (size_t i = 0; status == GPNN_OK && i < query->n * n_draws; i++)
    errors[i] -= mean[i / n_draws];
  found_release(&found);
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
