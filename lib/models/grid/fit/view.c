#include "models/grid/fit/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "models/grid/means.h"

static enum gpnn_status count_cells(struct gpnn_grid_view *view, struct gpnn_error *err)
{
  const struct gpnn_grid *grid = view->grid;
  size_t p = grid->factor[0].n, level[GPNN_GRID_FACTORS];
  view->inner = gpnn_grid_size(grid) / p;
  view->first = gpnn_alloc(p + 1, 1, sizeof *view->first);
  bool is_complete = view->first != NULL;
  for (size_t a = 0; a < grid->n_factors; a++) {
    view->n_at[a] = gpnn_alloc(grid->factor[a].n, 1, sizeof *view->n_at[a]);
    is_complete = is_complete && view->n_at[a] != NULL;
  }
  if (!is_complete) return gpnn_fail_memory(err, "for levels");
  for (size_t c = 0; c < grid->n_cells; c++) {
    gpnn_grid_levels(grid, grid->cell[c], level);
    for (size_t a = 0; a < grid->n_factors; a++) view->n_at[a][level[a]]++;
  }
  for (size_t i = 0; i < p; i++) view->first[i + 1] = view->first[i] + view->n_at[0][i];
  return GPNN_OK;
}

/* The means of the levels of the parameters' mean factor, to each cell. */
static enum gpnn_status find_means(struct gpnn_grid_view *view, size_t factor,
                                   struct gpnn_error *err)
{
  const struct gpnn_grid *grid = view->grid;
  struct gpnn_grid_means means = {0};
  size_t level[GPNN_GRID_FACTORS];
  view->mean = gpnn_alloc(grid->n_cells, 1, sizeof *view->mean);
  if (view->mean == NULL) return gpnn_fail_memory(err, "for means of levels");
  enum gpnn_status status = gpnn_grid_means_make(&means, grid, factor, grid->y, err);
  for (size_t c = 0; c < grid->n_cells && status == GPNN_OK; c++) {
    gpnn_grid_levels(grid, grid->cell[c], level);
    view->mean[c] = gpnn_grid_means_at(&means, level);
  }
  gpnn_grid_means_release(&means);
  return status;
}

enum gpnn_status gpnn_grid_view_make(struct gpnn_grid_view *view, const struct gpnn_grid *grid,
                                     const struct gpnn_parameters *parameters,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  view->grid = grid;
  for (size_t a = 0; a < grid->n_factors && status == GPNN_OK; a++) {
    const struct gpnn_grid_factor *factor = &grid->factor[a];
    view->prepared[a] = gpnn_alloc(factor->n, factor->d, sizeof(double));
    if (view->prepared[a] == NULL) status = gpnn_fail_memory(err, "for levels");
    if (status == GPNN_OK)
      status = gpnn_factor_prepare(&parameters->grid.factor[a], factor->d, factor->n, factor->x,
                                   factor->n, factor->x, view->prepared[a], err);
  }
  if (status == GPNN_OK) status = count_cells(view, err);
  if (status == GPNN_OK && parameters->grid.mean_factor > 0)
    status = find_means(view, parameters->grid.mean_factor, err);
  if (status != GPNN_OK) gpnn_grid_view_release(view);
  return status;
}

void gpnn_grid_view_release(struct gpnn_grid_view *view)
{
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) {
    free(view->prepared[a]);
    free(view->n_at[a]);
  }
  free(view->first);
  free(view->mean);
  memset(view, 0, sizeof *view);
}

/* ---- some of its cells ----------------------------------------------------------------------- */

/* Numbers the levels of factor 'a' that occur in cells, whose levels are still the grid's. */
static enum gpnn_status number_levels(struct gpnn_grid_subset *cells, size_t a,
                                      const struct gpnn_grid_factor *from, const double *prepared,
                                      struct gpnn_error *err)
{
  struct gpnn_grid_subset_factor *factor = &cells->factor[a];
  size_t f = cells->n_factors;
  uint32_t *number = gpnn_alloc(from->n, 1, sizeof *number); /* 0: the level does not occur */
  if (number == NULL) return gpnn_fail_memory(err, "for levels");
  for (size_t i = 0; i < cells->n; i++) number[cells->level[i * f + a]] = 1;
  for (size_t l = 0; l < from->n; l++) factor->n += number[l];
  factor->d = from->d;
  factor->x = gpnn_alloc(factor->n, from->d, sizeof *factor->x);
  factor->origin = gpnn_alloc(factor->n, 1, sizeof *factor->origin);
  bool is_complete = factor->x != NULL && factor->origin != NULL;
  for (size_t l = 0, next = 0; is_complete && l < from->n; l++) {
    if (number[l] == 0) continue;
    memcpy(factor->x + next * from->d, prepared + l * from->d, from->d * sizeof *prepared);
    factor->origin[next] = (uint32_t)l;
    number[l] = (uint32_t)next++;
  }
  for (size_t i = 0; is_complete && i < cells->n; i++)
    cells->level[i * f + a] = number[cells->level[i * f + a]];
  free(number);
  return is_complete ? GPNN_OK : gpnn_fail_memory(err, "for levels");
}

/* The share of the sum of squares within cells that falls to those that were collected. */
static double share_within(const struct gpnn_grid *grid, const struct gpnn_grid_subset *cells)
{
  size_t all = grid->n_observations - grid->n_cells, here = 0;
  for (size_t i = 0; i < cells->n; i++) here += cells->count[i] - 1;
  if (here == all) return grid->within; /* exactly */
  return grid->within * (double)here / (double)all;
}

enum gpnn_status gpnn_grid_subset_collect(struct gpnn_grid_subset *cells,
                                          const struct gpnn_grid *grid,
                                          const double *const prepared[], const double *mean,
                                          size_t n, const size_t *chosen, struct gpnn_error *err)
{
  size_t level[GPNN_GRID_FACTORS];
  enum gpnn_status status = GPNN_OK;
  cells->n_factors = grid->n_factors;
  cells->n = n;
  cells->level = gpnn_alloc(n, grid->n_factors, sizeof *cells->level);
  cells->y = gpnn_alloc(n, 1, sizeof *cells->y);
  cells->count = gpnn_alloc(n, 1, sizeof *cells->count);
  if (cells->level == NULL || cells->y == NULL || cells->count == NULL)
    status = gpnn_fail_memory(err, "for cells");
  for (size_t i = 0; status == GPNN_OK && i < n; i++) {
    size_t c = chosen[i];
    gpnn_grid_levels(grid, grid->cell[c], level);
    for (size_t a = 0; a < grid->n_factors; a++)
      cells->level[i * grid->n_factors + a] = (uint32_t)level[a];
    cells->y[i] = grid->y[c] - (mean == NULL ? 0 : mean[c]);
    cells->count[i] = grid->counts == NULL ? 1 : grid->counts[c];
  }
  if (status == GPNN_OK) cells->within = share_within(grid, cells);
  for (size_t a = 0; status == GPNN_OK && a < grid->n_factors; a++)
    status = number_levels(cells, a, &grid->factor[a], prepared[a], err);
  if (status != GPNN_OK) gpnn_grid_subset_release(cells);
  return status;
}

void gpnn_grid_subset_release(struct gpnn_grid_subset *cells)
{
  for (size_t a = 0; a < cells->n_factors; a++) {
    free(cells->factor[a].x);
    free(cells->factor[a].origin);
  }
  free(cells->level);
  free(cells->y);
  free(cells->count);
  memset(cells, 0, sizeof *cells);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Up to so many combinations of inner levels each site has its own; of more, sites share some. */
enum { FEW_INNER = 64 };

/* A sample in the making. */
struct sample {
  const struct gpnn_grid_view *view;
  struct gpnn_rng rng;
  size_t n_sites, n_inner; /* chosen so far */
  size_t *site;
  bool *is_site;   /* of each level of the first factor: it has been chosen */
  bool *is_inner;  /* of each combination of the other levels: the sites share it */
  size_t *scratch; /* positions of a site */
};

static size_t n_observed(const struct gpnn_grid_view *view, size_t site)
{
  return view->first[site + 1] - view->first[site];
}

static void add_site(struct sample *s, size_t site)
{
  s->site[s->n_sites++] = site;
  s->is_site[site] = true;
}

/* The nearest level to 'site' that has cells and is not chosen, or 'site' itself. */
static size_t find_nearest(const struct sample *s, size_t site)
{
  const struct gpnn_grid_factor *factor = &s->view->grid->factor[0];
  double least = INFINITY;
  size_t nearest = site;
  for (size_t i = 0; i < factor->n; i++) {
    double r2 = 0;
    if (s->is_site[i] || n_observed(s->view, i) == 0) continue;
    for (size_t j = 0; j < factor->d; j++)
      r2 += pow(factor->x[i * factor->d + j] - factor->x[site * factor->d + j], 2);
    if (r2 < least) nearest = i;
    if (r2 < least) least = r2;
  }
  return nearest;
}

/* Chooses up to 'most' of the levels with cells: in pairs of neighbours, unless all are taken. */
static void choose_sites(struct sample *s, size_t most)
{
  size_t p = s->view->grid->factor[0].n, n = 0;
  for (size_t i = 0; i < p; i++) n += n_observed(s->view, i) > 0;
  for (size_t i = 0; i < p && n <= most; i++)
    if (n_observed(s->view, i) > 0) add_site(s, i);
  while (n > most && s->n_sites < most) {
    size_t i = (size_t)gpnn_rng_below(&s->rng, p);
    if (s->is_site[i] || n_observed(s->view, i) == 0) continue;
    add_site(s, i);
    size_t nearest = find_nearest(s, i);
    if (nearest != i && s->n_sites < most) add_site(s, nearest);
  }
}

/* Chooses the levels that sites share: 'window' consecutive ones, and as many others. */
static void choose_inner(struct sample *s, size_t window)
{
  size_t inner = s->view->inner;
  size_t from = (size_t)gpnn_rng_below(&s->rng, inner - window + 1);
  double centre = (double)from + 0.5 * (double)window;
  for (size_t j = 0; j < window; j++) s->is_inner[from + j] = true;
  for (size_t tries = 0, n = 0; tries < 100 * window && n < window; tries++) {
    double lag = (double)window * pow((double)inner / (double)window, gpnn_rng_uniform(&s->rng));
    double at = gpnn_rng_uniform(&s->rng) < 0.5 ? centre - lag : centre + lag;
    if (at < 0 || at >= (double)inner || s->is_inner[(size_t)at]) continue;
    s->is_inner[(size_t)at] = true;
    n++;
  }
}

/* Moves 'k' random ones of 'n' numbers to the front. */
static void shuffle(struct gpnn_rng *rng, size_t n, size_t k, size_t *x)
{
  for (size_t i = 0; i < k && i < n; i++) {
    size_t j = i + (size_t)gpnn_rng_below(rng, n - i), kept = x[i];
    x[i] = x[j];
    x[j] = kept;
  }
}

/* Adds up to 'most' cells of a site to 'chosen': those at levels that are shared, then others.
 * Returns how many. */
static size_t choose_cells(struct sample *s, size_t site, size_t most, size_t *chosen)
{
  const struct gpnn_grid_view *view = s->view;
  size_t n = 0, n_shared = 0, all = n_observed(view, site);
  for (int pass = 0; pass < 2; pass++) {
    for (size_t c = view->first[site]; c < view->first[site + 1]; c++)
      if (s->is_inner[(size_t)view->grid->cell[c] % view->inner] == (pass == 0))
        s->scratch[n++] = c;
    if (pass == 0) n_shared = n;
  }
  shuffle(&s->rng, n_shared, most, s->scratch);
  if (n_shared < most) shuffle(&s->rng, all - n_shared, most - n_shared, s->scratch + n_shared);
  n = all < most ? all : most;
  memcpy(chosen, s->scratch, n * sizeof *chosen);
  return n;
}

static enum gpnn_status take_all(size_t n_cells, size_t **chosen, size_t *n, struct gpnn_error *err)
{
  size_t *all = gpnn_alloc(n_cells, 1, sizeof *all);
  if (all == NULL) return gpnn_fail_memory(err, "for a sample of cells");
  for (size_t i = 0; i < n_cells; i++) all[i] = i;
  *chosen = all;
  *n = n_cells;
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_sample(const struct gpnn_grid_view *view,
                                  struct gpnn_grid_sample_size size, uint64_t seed, uint64_t number,
                                  size_t **chosen, size_t *n, struct gpnn_error *err)
{
  if (view->grid->n_cells <= size.cells) return take_all(view->grid->n_cells, chosen, n, err);
  size_t p = view->grid->factor[0].n, found = 0;
  struct sample s = {.view = view};
  s.site = gpnn_alloc(p, 1, sizeof *s.site);
  s.is_site = gpnn_alloc(p, 1, sizeof *s.is_site);
  s.is_inner = gpnn_alloc(view->inner, 1, sizeof *s.is_inner);
  s.scratch = gpnn_alloc(view->inner, 1, sizeof *s.scratch);
  size_t *cells = gpnn_alloc(size.cells + size.sites, 1, sizeof *cells);
  bool is_complete = s.site != NULL && s.is_site != NULL && s.is_inner != NULL &&
                     s.scratch != NULL && cells != NULL;
  if (is_complete) {
    gpnn_rng_init_at(&s.rng, seed, GPNN_RNG_GRID_SAMPLE, number);
    choose_sites(&s, size.sites);
    size_t most = size.cells / s.n_sites;
    if (view->inner > FEW_INNER && view->inner > 2 * most) choose_inner(&s, most);
    for (size_t i = 0; i < s.n_sites; i++)
      found += choose_cells(&s, s.site[i], most, cells + found);
    qsort(cells, found, sizeof *cells, gpnn_compare_sizes);
    *chosen = cells;
    *n = found;
  }
  free(s.site);
  free(s.is_site);
  free(s.is_inner);
  free(s.scratch);
  if (is_complete) return GPNN_OK;
  free(cells);
  return gpnn_fail_memory(err, "for a sample of cells");
}
