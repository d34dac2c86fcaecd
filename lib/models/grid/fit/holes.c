#include "models/grid/fit/choose.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"

/* How often a hole, and a site to give its pattern to, are drawn before giving up. */
enum { HOLE_TRIES = 1000, SITE_TRIES = 20 };

/* A task in the making. */
struct drawing {
  const struct gpnn_grid_view *view;
  struct gpnn_grid_task *task;
  struct gpnn_rng rng;
};

/* The combination of inner levels of the cell at a position. */
static size_t inner_of(const struct gpnn_grid_view *view, size_t position)
{
  return (size_t)view->grid->cell[position] % view->inner;
}

/* The position of an observed cell, or SIZE_MAX. */
static size_t find_cell(const struct gpnn_grid_view *view, size_t site, size_t inner)
{
  size_t low = view->first[site], high = view->first[site + 1];
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (inner_of(view, middle) < inner)
      low = middle + 1;
    else
      high = middle;
  }
  return low < view->first[site + 1] && inner_of(view, low) == inner ? low : SIZE_MAX;
}

/* ---- hiding ---------------------------------------------------------------------------------- */

static enum gpnn_status hide_nothing(struct drawing *d, size_t site, struct gpnn_error *err)
{
  size_t n = d->view->first[site + 1] - d->view->first[site];
  free(d->task->is_hidden);
  d->task->site = site;
  d->task->is_hidden = gpnn_alloc(n, 1, sizeof *d->task->is_hidden);
  return d->task->is_hidden == NULL ? gpnn_fail_memory(err, "for cells held out") : GPNN_OK;
}

/* Chooses targets among the hidden cells of the site: 'wanted' (or SIZE_MAX), and random ones. */
static void choose_targets(struct drawing *d, size_t wanted)
{
  const struct gpnn_grid_view *view = d->view;
  struct gpnn_grid_task *task = d->task;
  size_t first = view->first[task->site], n = view->first[task->site + 1] - first, seen = 0;
  if (wanted != SIZE_MAX) task->target[task->n++] = wanted;
  size_t kept = task->n;
  for (size_t i = 0; i < n; i++) {
    if (!task->is_hidden[i] || first + i == wanted) continue;
    seen++;
    if (task->n < GPNN_GRID_TASK_CELLS) {
      task->target[task->n++] = first + i;
      continue;
    }
    size_t at = (size_t)gpnn_rng_below(&d->rng, seen); /* each of those seen is as likely to stay */
    if (at < GPNN_GRID_TASK_CELLS - kept) task->target[kept + at] = first + i;
  }
}

/* A random site with cells. */
static size_t draw_site(struct drawing *d)
{
  const struct gpnn_grid *grid = d->view->grid;
  size_t position = (size_t)gpnn_rng_below(&d->rng, grid->n_cells);
  return (size_t)grid->cell[position] / d->view->inner;
}

static enum gpnn_status hide_uniform(struct drawing *d, struct gpnn_error *err)
{
  size_t position = (size_t)gpnn_rng_below(&d->rng, d->view->grid->n_cells);
  size_t site = (size_t)d->view->grid->cell[position] / d->view->inner;
  size_t first = d->view->first[site], n = d->view->first[site + 1] - first;
  enum gpnn_status status = hide_nothing(d, site, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < n; i++)
    d->task->is_hidden[i] = first + i == position || gpnn_rng_uniform(&d->rng) < 0.1;
  choose_targets(d, position);
  return GPNN_OK;
}

static enum gpnn_status hide_trailing(struct drawing *d, struct gpnn_error *err)
{
  size_t site = draw_site(d), n = d->view->first[site + 1] - d->view->first[site];
  enum gpnn_status status = hide_nothing(d, site, err);
  if (status != GPNN_OK) return status;
  for (size_t i = (size_t)gpnn_rng_below(&d->rng, n); i < n; i++) d->task->is_hidden[i] = true;
  choose_targets(d, SIZE_MAX);
  return GPNN_OK;
}

/* All cells of a random site. */
static enum gpnn_status hide_site(struct drawing *d, struct gpnn_error *err)
{
  size_t site = draw_site(d);
  enum gpnn_status status = hide_nothing(d, site, err);
  for (size_t i = 0; status == GPNN_OK && i < d->view->first[site + 1] - d->view->first[site]; i++)
    d->task->is_hidden[i] = true;
  if (status == GPNN_OK) choose_targets(d, SIZE_MAX);
  return status;
}

/* Levels 'first' to 'last' of factor 'a', which a random site has cells at. */
static enum gpnn_status hide_levels(struct drawing *d, size_t a, size_t first, size_t last,
                                    struct gpnn_error *err)
{
  const struct gpnn_grid_view *view = d->view;
  size_t level[GPNN_GRID_FACTORS], found = SIZE_MAX;
  for (size_t tries = 0; tries < HOLE_TRIES && found == SIZE_MAX; tries++) {
    size_t position = (size_t)gpnn_rng_below(&d->rng, view->grid->n_cells);
    gpnn_grid_levels(view->grid, view->grid->cell[position], level);
    if (level[a] >= first && level[a] <= last) found = position;
  }
  if (found == SIZE_MAX) return GPNN_OK;
  size_t site = (size_t)view->grid->cell[found] / view->inner, from = view->first[site];
  enum gpnn_status status = hide_nothing(d, site, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < view->first[site + 1] - from; i++) {
    gpnn_grid_levels(view->grid, view->grid->cell[from + i], level);
    d->task->is_hidden[i] = level[a] >= first && level[a] <= last;
  }
  d->task->hidden_factor = a + 1;
  d->task->hidden_first = first;
  d->task->hidden_last = last;
  choose_targets(d, found);
  return GPNN_OK;
}

/* ---- the pattern of the holes ---------------------------------------------------------------- */

/* Draws a random hole; false: found none, as of a complete grid. */
static bool draw_hole(struct drawing *d, size_t *site, size_t *inner)
{
  size_t size = gpnn_grid_size(d->view->grid);
  for (size_t tries = 0; tries < HOLE_TRIES && d->view->grid->n_cells < size; tries++) {
    size_t cell = (size_t)gpnn_rng_below(&d->rng, size);
    *site = cell / d->view->inner;
    *inner = cell % d->view->inner;
    if (find_cell(d->view, *site, *inner) == SIZE_MAX) return true;
  }
  return false;
}

/* A run of levels as long as that around level 'l' of factor 'a' at which nothing was observed:
 * anywhere, but before such a run at the end. */
static void place_run(struct drawing *d, size_t a, size_t l, size_t *first, size_t *last)
{
  size_t n = d->view->grid->factor[a].n, low = l, high = l;
  while (low > 0 && d->view->n_at[a][low - 1] == 0) low--;
  while (high + 1 < n && d->view->n_at[a][high + 1] == 0) high++;
  size_t length = high - low + 1;
  if (length > n / 3) length = n / 3 > 0 ? n / 3 : 1;
  if (high + 1 == n && low >= length)
    *first = low - length;
  else
    *first = (size_t)gpnn_rng_below(&d->rng, n - length + 1);
  *last = *first + length - 1;
}

/* How many cells of 'site' are where another one, 'pattern', has holes; they are hidden if 'hides'.
 */
static size_t overlay(struct drawing *d, size_t site, size_t pattern, bool hides)
{
  const struct gpnn_grid_view *view = d->view;
  size_t first = view->first[site], n = view->first[site + 1] - first, count = 0;
  size_t other = view->first[pattern], end = view->first[pattern + 1];
  for (size_t i = 0; i < n; i++) {
    size_t inner = inner_of(view, first + i);
    while (other < end && inner_of(view, other) < inner) other++;
    bool is_hole = other == end || inner_of(view, other) > inner;
    count += is_hole;
    if (hides) d->task->is_hidden[i] = is_hole;
  }
  return count;
}

/* Gives the holes of a site, of which 'inner' is one, to another that has a cell there: of several
 * the one with the most cells in their place, as most sites that are cut off cannot show the end.
 */
static enum gpnn_status imitate(struct drawing *d, size_t pattern, size_t inner,
                                struct gpnn_error *err)
{
  size_t p = d->view->grid->factor[0].n, most = 0, chosen = SIZE_MAX;
  for (size_t tries = 0, n = 0; tries < HOLE_TRIES && n < SITE_TRIES; tries++) {
    size_t site = (size_t)gpnn_rng_below(&d->rng, p);
    if (find_cell(d->view, site, inner) == SIZE_MAX) continue;
    n++;
    size_t count = overlay(d, site, pattern, false);
    if (count > most) chosen = site;
    if (count > most) most = count;
  }
  if (chosen == SIZE_MAX) return GPNN_OK;
  enum gpnn_status status = hide_nothing(d, chosen, err);
  if (status != GPNN_OK) return status;
  overlay(d, chosen, pattern, true);
  choose_targets(d, find_cell(d->view, chosen, inner));
  return GPNN_OK;
}

static enum gpnn_status follow_holes(struct drawing *d, struct gpnn_error *err)
{
  const struct gpnn_grid *grid = d->view->grid;
  size_t site, inner, level[GPNN_GRID_FACTORS], first, last;
  if (!draw_hole(d, &site, &inner)) return hide_uniform(d, err);
  gpnn_grid_levels(grid, (int64_t)(site * d->view->inner + inner), level);
  for (size_t a = 1; a < grid->n_factors; a++) {
    if (d->view->n_at[a][level[a]] > 0) continue;
    place_run(d, a, level[a], &first, &last);
    return hide_levels(d, a, first, last, err);
  }
  return imitate(d, site, inner, err);
}

enum gpnn_status gpnn_grid_task_draw(struct gpnn_grid_task *task, const struct gpnn_grid_view *view,
                                     enum gpnn_grid_holdout holdout, uint64_t seed, uint64_t number,
                                     struct gpnn_error *err)
{
  struct drawing d = {.view = view, .task = task};
  size_t last = view->grid->n_factors - 1, n = view->grid->factor[last].n;
  gpnn_rng_init_at(&d.rng, seed, GPNN_RNG_GRID_HOLES, number);
  switch (holdout) {
  case GPNN_GRID_HOLDOUT_UNIFORM:
    return hide_uniform(&d, err);
  case GPNN_GRID_HOLDOUT_TRAILING:
    return hide_trailing(&d, err);
  case GPNN_GRID_HOLDOUT_LEVELS:
    if (number % 2 == 0) return hide_site(&d, err);
    size_t level = (size_t)gpnn_rng_below(&d.rng, n);
    return hide_levels(&d, last, level, level, err);
  case GPNN_GRID_HOLDOUT_AUTO:
    break;
  }
  return follow_holes(&d, err);
}

void gpnn_grid_task_release(struct gpnn_grid_task *task)
{
  free(task->is_hidden);
  memset(task, 0, sizeof *task);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

enum gpnn_status gpnn_grid_tasks_draw(struct gpnn_grid_tasks *tasks, size_t n,
                                      const struct gpnn_grid_view *view,
                                      enum gpnn_grid_holdout holdout, uint64_t seed, uint64_t first,
                                      struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  tasks->task = gpnn_alloc(n, 1, sizeof *tasks->task);
  if (tasks->task == NULL) return gpnn_fail_memory(err, "for cells held out");
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    struct gpnn_grid_task *task = &tasks->task[tasks->n];
    status = gpnn_grid_task_draw(task, view, holdout, seed, first + i, err);
    if (task->n > 0)
      tasks->n++;
    else
      gpnn_grid_task_release(task);
  }
  if (status != GPNN_OK) gpnn_grid_tasks_release(tasks);
  return status;
}

void gpnn_grid_tasks_release(struct gpnn_grid_tasks *tasks)
{
  for (size_t i = 0; i < tasks->n; i++) gpnn_grid_task_release(&tasks->task[i]);
  free(tasks->task);
  memset(tasks, 0, sizeof *tasks);
}
