#include "models/grid/fit/nearby.h"

#include <stdlib.h>

#include "base/memory.h"
#include "models/grid/fit/likelihood.h"
#include "models/grid/fit/subset.h"

/* How many of the site's own cells, besides those to predict, other sites are to have cells near.
 */
enum { OWN_ANCHORS = 6, ANCHORS = GPNN_GRID_TASK_CELLS + OWN_ANCHORS };

/* A prediction in the making. */
struct search {
  const struct gpnn_grid_view *view;
  const struct gpnn_parameters *parameters;
  const struct gpnn_grid_task *task;
  double *near;    /* ANCHORS by inner: covariances of inner levels with those of anchors */
  double *of_site; /* of the first factor's levels with the task's site */
  bool *is_taken;  /* inner: of a site's cells */
  size_t n_anchors;
  struct gpnn_grid_nearby_size size;
  size_t *nearest;   /* size.sites: the sites most correlated with the task's */
  size_t n, *chosen; /* positions of cells */
};

/* Covariances of one level of factor 'a' with all. */
static void correlate(const struct search *s, size_t a, size_t level, double *k)
{
  const struct gpnn_grid_factor *factor = &s->view->grid->factor[a];
  const double *x = s->view->prepared[a];
  gpnn_factor_matrix(&s->parameters->grid.factor[a], factor->d, 1, x + level * factor->d, factor->n,
                     x, false, 1, k);
}

/* Covariances of the inner levels of a cell with all, to 'k' (inner): the product over the factors,
 * the last varying fastest.  'row' is scratch. */
static void correlate_inner(const struct search *s, size_t position, double *row, double *k)
{
  const struct gpnn_grid *grid = s->view->grid;
  size_t level[GPNN_GRID_FACTORS], after = s->view->inner;
  gpnn_grid_levels(grid, grid->cell[position], level);
  for (size_t j = 0; j < s->view->inner; j++) k[j] = 1;
  for (size_t a = 1; a < grid->n_factors; a++) {
    size_t n = grid->factor[a].n;
    correlate(s, a, level[a], row);
    after /= n;
    for (size_t j = 0; j < s->view->inner; j++) k[j] *= row[j / after % n];
  }
}

static size_t inner_of(const struct search *s, size_t position)
{
  return (size_t)s->view->grid->cell[position] % s->view->inner;
}

static bool may_use(const struct search *s, size_t site, size_t position)
{
  const struct gpnn_grid_task *task = s->task;
  size_t level[GPNN_GRID_FACTORS];
  if (site == task->site && task->is_hidden[position - s->view->first[site]]) return false;
  if (task->hidden_factor == 0) return true;
  gpnn_grid_levels(s->view->grid, s->view->grid->cell[position], level);
  size_t l = level[task->hidden_factor - 1];
  return l < task->hidden_first || l > task->hidden_last;
}

/* Takes up to 'most' cells of a site: in turn the one nearest to each of the first n_anchors. */
static void take_cells(struct search *s, size_t site, size_t n_anchors, size_t most)
{
  size_t first = s->view->first[site], end = s->view->first[site + 1], n = 0, missed = 0;
  for (size_t c = first; c < end; c++) s->is_taken[c - first] = !may_use(s, site, c);
  for (size_t turn = 0; n < most && missed < n_anchors; turn++) {
    const double *near = s->near + turn % n_anchors * s->view->inner;
    size_t best = SIZE_MAX;
    double highest = 0;
    for (size_t c = first; c < end; c++) {
      if (s->is_taken[c - first]) continue;
      double k = near[inner_of(s, c)];
      if (best != SIZE_MAX && k <= highest) continue;
      best = c;
      highest = k;
    }
    missed = best == SIZE_MAX ? missed + 1 : 0;
    if (best == SIZE_MAX) continue;
    s->is_taken[best - first] = true;
    s->chosen[s->n++] = best;
    n++;
  }
}

/* Adds anchors among the site's own cells, evenly from the nearest on. */
static void add_own_anchors(struct search *s, double *row)
{
  for (size_t i = 0, n = s->n; i < OWN_ANCHORS && i < n; i++) {
    size_t own = n <= OWN_ANCHORS ? i : i * (n - 1) / (OWN_ANCHORS - 1);
    correlate_inner(s, s->chosen[own], row, s->near + s->n_anchors++ * s->view->inner);
  }
}

/* Takes the cells of the sites most correlated with the task's. */
static void take_neighbours(struct search *s)
{
  size_t p = s->view->grid->factor[0].n, *near = s->nearest, n = 0, most = s->size.sites;
  correlate(s, 0, s->task->site, s->of_site);
  for (size_t i = 0; i < p; i++) {
    if (i == s->task->site || s->view->n_at[0][i] == 0) continue;
    if (n == most && s->of_site[i] <= s->of_site[near[n - 1]]) continue;
    size_t at = n < most ? n++ : most - 1;
    for (; at > 0 && s->of_site[near[at - 1]] < s->of_site[i]; at--) near[at] = near[at - 1];
    near[at] = i;
  }
  for (size_t i = 0; i < n; i++) take_cells(s, near[i], s->n_anchors, s->size.cells);
}

static void choose_cells(struct search *s, double *row)
{
  for (size_t t = 0; t < s->task->n; t++)
    correlate_inner(s, s->task->target[t], row, s->near + t * s->view->inner);
  s->n_anchors = s->task->n;
  take_cells(s, s->task->site, s->n_anchors, s->size.own_cells);
  add_own_anchors(s, row);
  take_neighbours(s);
  for (size_t t = 0; t < s->task->n; t++) s->chosen[s->n++] = s->task->target[t];
}

/* True if nothing may be known of the mean of the level that a task's cell is at. */
static bool loses_mean(const struct search *s)
{
  const struct gpnn_grid_task *task = s->task;
  size_t a = s->parameters->grid.mean_factor;
  if (a == 0) return false;
  if (a == task->hidden_factor) return true;
  size_t first = s->view->first[task->site], n = s->view->first[task->site + 1] - first;
  bool all = a == 1;
  for (size_t i = 0; i < n; i++) all = all && task->is_hidden[i];
  return all;
}

/* The cells that were chosen, those to predict last. */
static enum gpnn_status collect(const struct search *s, struct gpnn_grid_subset *cells,
                                struct gpnn_error *err)
{
  const double *prepared[GPNN_GRID_FACTORS];
  for (size_t a = 0; a < s->view->grid->n_factors; a++) prepared[a] = s->view->prepared[a];
  enum gpnn_status status =
      gpnn_grid_subset_collect(cells, s->view->grid, prepared, s->view->mean, s->n, s->chosen, err);
  if (status != GPNN_OK || !loses_mean(s)) return status;
  for (size_t t = 0; t < s->task->n; t++)
    cells->y[s->n - s->task->n + t] = s->view->grid->y[s->task->target[t]];
  return status;
}

enum gpnn_status gpnn_grid_nearby_collect(struct gpnn_grid_subset *cells,
                                          const struct gpnn_grid_view *view,
                                          const struct gpnn_parameters *parameters,
                                          const struct gpnn_grid_task *task,
                                          struct gpnn_grid_nearby_size size, struct gpnn_error *err)
{
  struct search s = {.view = view, .parameters = parameters, .task = task, .size = size};
  enum gpnn_status status = GPNN_OK;
  s.near = gpnn_alloc(ANCHORS, view->inner, sizeof *s.near);
  s.of_site = gpnn_alloc(view->grid->factor[0].n, 1, sizeof *s.of_site);
  s.is_taken = gpnn_alloc(view->inner, 1, sizeof *s.is_taken);
  s.nearest = gpnn_alloc(size.sites, 1, sizeof *s.nearest);
  s.chosen = gpnn_alloc(size.sites * size.cells + size.own_cells + task->n, 1, sizeof *s.chosen);
  double *row = gpnn_alloc(view->inner, 1, sizeof *row);
  if (s.near == NULL || s.of_site == NULL || s.is_taken == NULL || row == NULL ||
      s.nearest == NULL || s.chosen == NULL)
    status = gpnn_fail_memory(err, "for cells held out");
  if (status == GPNN_OK) {
    choose_cells(&s, row);
    status = collect(&s, cells, err);
  }
  free(s.near);
  free(s.of_site);
  free(s.is_taken);
  free(s.nearest);
  free(s.chosen);
  free(row);
  return status;
}

enum gpnn_status gpnn_grid_nearby_predict(struct gpnn_grid_nearby *prediction,
                                          const struct gpnn_grid_view *view,
                                          const struct gpnn_parameters *parameters,
                                          const struct gpnn_grid_task *task,
                                          struct gpnn_grid_nearby_size size, struct gpnn_error *err)
{
  struct gpnn_grid_subset cells = {0};
  double value;
  enum gpnn_status status = gpnn_grid_nearby_collect(&cells, view, parameters, task, size, err);
  if (status == GPNN_OK)
    status = gpnn_grid_likelihood_conditional(&cells, task->n, parameters, prediction->mean,
                                              prediction->variance, &value, NULL, err);
  for (size_t t = 0; t < task->n && status == GPNN_OK; t++)
    prediction->y[t] = cells.y[cells.n - task->n + t];
  gpnn_grid_subset_release(&cells);
  return status;
}
