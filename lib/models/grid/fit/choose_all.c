/*
 * How much larger errors are, beside their variances, where all cells are predicted from than where
 * the nearest ones are (gpnn-methods-grid(7), equations 16.64 to 16.66).
 *
 * Scores are by cells nearby, whose variances are larger than those that all cells leave.  A
 * process that is not quite the true one learns less from cells far away than it believes.  All
 * cells are those of a part of the grid, if it is large.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "linalg/arrays.h"
#include "models/grid/fit/fit_private.h"
#include "models/grid/fit/likelihood.h"

/* Draws that variances are estimated from; cells that both predictions are compared at. */
enum { DRAWS = 16, COLUMNS = 1 + DRAWS, COMPARED_CELLS = 600, FEWEST_CELLS = 100 };

/* About how many observed cells a part has at most, of how many sites if times are many. */
enum { MOST_CELLS = 12000, USUAL_SITES = 128, MOST_ITERATIONS = 1000 };

/* ---- a part of the grid ---------------------------------------------------------------------- */

/* Levels near a random one, with all cells observed there.  Levels are as the kernels see them, and
 * cells without means. */
struct part {
  struct gpnn_grid grid;
  struct gpnn_grid_factor factor[GPNN_GRID_FACTORS];
  struct gpnn_parameters parameters;
  double *x[GPNN_GRID_FACTORS];      /* levels of the part */
  size_t *number[GPNN_GRID_FACTORS]; /* of each level of the grid: that of the part, or SIZE_MAX */
  int64_t *cell;
  double *y;
  uint32_t *counts;
  size_t *position; /* among the whole grid's cells */
};

struct near_level {
  double far;
  size_t level;
};

static int compare_near(const void *a, const void *b)
{
  const struct near_level *x = a, *y = b;
  if (x->far != y->far) return x->far < y->far ? -1 : 1;
  return x->level < y->level ? -1 : x->level > y->level;
}

/* How many levels of the first and of the last factor make a part of about the wanted cells. */
static void size_part(const struct gpnn_grid_view *view, size_t *wanted)
{
  const struct gpnn_grid *grid = view->grid;
  size_t f = grid->n_factors, p = grid->factor[0].n, q = grid->factor[f - 1].n;
  double sites = fmin((double)p, USUAL_SITES), each = (double)grid->n_cells / (double)p;
  double times = fmax(1, floor((double)q * MOST_CELLS / (sites * each)));
  if (times >= (double)q) sites = fmin((double)p, fmax(1, floor(MOST_CELLS / each)));
  times = fmin(times, (double)q);
  for (size_t a = 0; a < f; a++) wanted[a] = grid->factor[a].n;
  wanted[0] = (size_t)sites;
  wanted[f - 1] = (size_t)times;
}

/* Keeps the 'wanted' levels of factor 'a' that are nearest to a random one: in order if they have
 * one coordinate, otherwise by their correlation. */
static enum gpnn_status keep_levels(struct part *part, const struct gpnn_grid_view *view,
                                    const struct gpnn_factor *kernel, size_t a, size_t wanted,
                                    struct gpnn_rng *rng, struct gpnn_error *err)
{
  const struct gpnn_grid_factor *all = &view->grid->factor[a];
  const double *x = view->prepared[a];
  size_t n = all->n, d = all->d, kept = 0, centre = (size_t)gpnn_rng_below(rng, n);
  double *k = gpnn_alloc(n, 1, sizeof *k);
  struct near_level *near = gpnn_alloc(n, 1, sizeof *near);
  part->number[a] = gpnn_alloc(n, 1, sizeof *part->number[a]);
  part->x[a] = gpnn_alloc(n, d, sizeof *part->x[a]);
  bool is_there = k != NULL && near != NULL && part->number[a] != NULL && part->x[a] != NULL;
  if (is_there && d > 1) gpnn_factor_matrix(kernel, d, 1, x + centre * d, n, x, false, 1, k);
  for (size_t i = 0; i < n && is_there; i++) {
    near[i] = (struct near_level){d > 1 ? -k[i] : fabs(x[i] - x[centre]), i};
    part->number[a][i] = SIZE_MAX;
  }
  if (is_there) qsort(near, n, sizeof *near, compare_near);
  for (size_t i = 0; i < n && is_there; i++)
    if (i < wanted || kernel->n_terms == 0) part->number[a][near[i].level] = 0;
  for (size_t i = 0; i < n && is_there; i++) {
    if (part->number[a][i] == SIZE_MAX) continue;
    memcpy(part->x[a] + kept * d, x + i * d, d * sizeof *x);
    part->number[a][i] = kept++;
  }
  part->factor[a] = *all;
  part->factor[a].n = kept;
  part->factor[a].x = part->x[a];
  free(k);
  free(near);
  return is_there ? GPNN_OK : gpnn_fail_memory(err, "for levels of a grid");
}

/* Collects the cells whose levels were kept. */
static enum gpnn_status keep_cells(struct part *part, const struct gpnn_grid_view *view,
                                   struct gpnn_error *err)
{
  const struct gpnn_grid *all = view->grid;
  size_t level[GPNN_GRID_FACTORS], n = 0;
  part->cell = gpnn_alloc(all->n_cells, 1, sizeof *part->cell);
  part->y = gpnn_alloc(all->n_cells, 1, sizeof *part->y);
  part->counts = gpnn_alloc(all->n_cells, 1, sizeof *part->counts);
  part->position = gpnn_alloc(all->n_cells, 1, sizeof *part->position);
  if (part->cell == NULL || part->y == NULL || part->counts == NULL || part->position == NULL)
    return gpnn_fail_memory(err, "for cells of a grid");
  for (size_t c = 0; c < all->n_cells; c++) {
    int64_t number = 0;
    bool is_kept = true;
    gpnn_grid_levels(all, all->cell[c], level);
    for (size_t a = 0; a < all->n_factors; a++) {
      size_t at = part->number[a][level[a]];
      is_kept = is_kept && at != SIZE_MAX;
      number = number * (int64_t)part->factor[a].n + (int64_t)(is_kept ? at : 0);
    }
    if (!is_kept) continue;
    part->cell[n] = number;
    part->y[n] = all->y[c] - (view->mean == NULL ? 0 : view->mean[c]);
    part->counts[n] = all->counts == NULL ? 1 : all->counts[c];
    part->position[n++] = c;
  }
  part->grid = (struct gpnn_grid){.n_factors = all->n_factors,
                                  .factor = part->factor,
                                  .n_cells = n,
                                  .cell = part->cell,
                                  .y = part->y,
                                  .counts = all->counts == NULL ? NULL : part->counts};
  for (size_t i = 0; i < n; i++) part->grid.n_observations += part->counts[i];
  return GPNN_OK;
}

/* The process on the levels of the part. */
static enum gpnn_status keep_process(struct part *part, const struct gpnn_parameters *parameters,
                                     struct gpnn_error *err)
{
  struct gpnn_grid_process *process = &part->parameters.grid;
  part->parameters.covariance = parameters->covariance;
  enum gpnn_status status = gpnn_parameters_grid_copy(process, &parameters->grid, err);
  if (status != GPNN_OK) return status;
  process->mean_factor = 0;
  for (size_t a = 0; a < process->n_factors; a++) process->factor[a].inputs = GPNN_FACTOR_RAW;
  if (process->noise_factor == 0) return GPNN_OK;
  for (size_t i = 0; i < process->n_noise; i++) {
    size_t at = part->number[process->noise_factor - 1][i];
    if (at != SIZE_MAX) process->noise[at] = parameters->grid.noise[i]; /* at <= i */
  }
  process->n_noise = part->factor[process->noise_factor - 1].n;
  return GPNN_OK;
}

static enum gpnn_status make_part(struct part *part, const struct gpnn_grid_view *view,
                                  const struct gpnn_parameters *parameters, uint64_t seed,
                                  struct gpnn_error *err)
{
  struct gpnn_rng rng;
  size_t wanted[GPNN_GRID_FACTORS];
  enum gpnn_status status = GPNN_OK;
  gpnn_rng_init(&rng, seed, GPNN_RNG_GRID_HOLES);
  size_part(view, wanted);
  for (size_t a = 0; a < view->grid->n_factors && status == GPNN_OK; a++)
    status = keep_levels(part, view, &parameters->grid.factor[a], a, wanted[a], &rng, err);
  if (status == GPNN_OK) status = keep_cells(part, view, err);
  return status == GPNN_OK ? keep_process(part, parameters, err) : status;
}

static void release_part(struct part *part)
{
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) {
    free(part->x[a]);
    free(part->number[a]);
  }
  free(part->cell);
  free(part->y);
  free(part->counts);
  free(part->position);
  gpnn_parameters_grid_release(&part->parameters.grid);
}

/* ---- predictions from all of it -------------------------------------------------------------- */

/* Solves for the targets, and for draws of them: 'x' is padded. */
static enum gpnn_status solve(const struct part *part, uint64_t seed, int threads, double *x,
                              struct gpnn_cg_report *report, struct gpnn_error *err)
{
  double tolerance = gpnn_grid_noise_tolerance(&part->parameters);
  const struct gpnn_grid_estimate_options options = {
      .estimator = GPNN_GRID_ESTIMATOR_PATHWISE,
      .probes = DRAWS,
      .seed = seed,
      .system = {.threads = threads, .columns = COLUMNS, .tolerance = tolerance},
      .solve = {.tolerance = tolerance, .most_iterations = MOST_ITERATIONS, .threads = threads}};
  struct gpnn_grid_view view = {.grid = NULL};
  enum gpnn_status status = gpnn_grid_view_make(&view, &part->grid, &part->parameters, err);
  if (status != GPNN_OK) return status;
  status = gpnn_grid_likelihood_estimate(&view, &part->parameters, &options, x, NULL, report, err);
  gpnn_grid_view_release(&view);
  return status;
}

/* The squared error of a cell predicted from all others, divided by its variance, as the law has
 * it: with a = A^-1 y and d the diagonal of A^-1, which is the variance of A^-1 times a draw, these
 * are (a / d)^2 and 1 / d. */
static double ratio_at(const struct gpnn_grid_view *view, const struct part *part,
                       const struct gpnn_grid_law *law, const double *x, size_t i)
{
  size_t cell = (size_t)part->grid.cell[i], inner = gpnn_grid_size(&part->grid) / part->factor[0].n;
  const double *at = x + cell / inner * COLUMNS * inner + cell % inner;
  double squares = 0;
  for (size_t m = 1; m <= DRAWS; m++) squares += pow(at[m * inner], 2);
  /* E 1 / squares = 1 / (d (DRAWS - 2)), and exp E log squares is nearly d (DRAWS - 1), which
   * matters where large ratios count for less. */
  double d = squares / (law->degrees > 0 ? DRAWS - 1 : DRAWS - 2);
  double mean = view->grid->y[part->position[i]] - at[0] / d;
  return at[0] * at[0] / d / gpnn_grid_law_relative(law, mean);
}

/* ---- comparison ------------------------------------------------------------------------------ */

/* The one with number 'i' of 'n' cells evenly spread over 'cells' of them. */
static size_t spread(size_t i, size_t n, size_t cells)
{
  return (2 * i + 1) * cells / (2 * n);
}

/* A single cell to predict. */
static enum gpnn_status add_cell(struct gpnn_grid_tasks *tasks, const struct gpnn_grid_view *view,
                                 size_t position, struct gpnn_error *err)
{
  size_t site = (size_t)view->grid->cell[position] / view->inner, first = view->first[site];
  struct gpnn_grid_task *task = &tasks->task[tasks->n];
  *task = (struct gpnn_grid_task){.site = site, .n = 1, .target = {position}};
  task->is_hidden = gpnn_alloc(view->first[site + 1] - first, 1, sizeof *task->is_hidden);
  if (task->is_hidden == NULL) return gpnn_fail_memory(err, "for cells held out");
  tasks->n++;
  for (size_t i = first; i < view->first[site + 1]; i++) task->is_hidden[i - first] = i == position;
  return GPNN_OK;
}

/* How large the errors of 'n' single cells evenly spread over 'cells' of them are where the nearest
 * ones predict them, and the mean of their variances.  'position' says which cells these are among
 * the grid's; NULL: all. */
static enum gpnn_status predict_nearby(struct gpnn_grid_choice *choice,
                                       const struct gpnn_grid_view *view,
                                       const struct gpnn_grid_law *law, size_t n, size_t cells,
                                       const size_t *position, double *size, double *variance,
                                       struct gpnn_error *err)
{
  struct gpnn_grid_tasks tasks = {0};
  struct gpnn_grid_score score = {0};
  enum gpnn_status status = GPNN_OK;
  tasks.task = gpnn_alloc(n, 1, sizeof *tasks.task);
  if (tasks.task == NULL) status = gpnn_fail_memory(err, "for cells held out");
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    size_t at = spread(i, n, cells);
    status = add_cell(&tasks, view, position == NULL ? at : position[at], err);
  }
  if (status == GPNN_OK)
    status = gpnn_grid_score(&score, choice->dataset, view, 1, &choice->best.parameters, &tasks,
                             choice->options->threads, err);
  if (status == GPNN_OK) status = gpnn_grid_score_size(&score, law, size, err);
  if (status == GPNN_OK) *variance = gpnn_grid_score_variance(&score);
  gpnn_grid_score_release(&score);
  gpnn_grid_tasks_release(&tasks);
  return status;
}

/* Compares the predictions of cells of the part, and says what follows for single cells of the
 * whole grid, where errors may be larger or smaller than here. */
static enum gpnn_status compare(struct gpnn_grid_choice *choice, const struct gpnn_grid_view *view,
                                const struct part *part, const struct gpnn_grid_law *law,
                                const double *x, struct gpnn_grid_comparison *found,
                                struct gpnn_error *err)
{
  size_t whole = view->grid->n_cells, cells = part->grid.n_cells;
  size_t n = cells < COMPARED_CELLS ? cells : COMPARED_CELLS;
  double here = 0, everywhere = 0, variance = 0, square[COMPARED_CELLS];
  for (size_t i = 0; i < n; i++) square[i] = ratio_at(view, part, law, x, spread(i, n, cells));
  double all = gpnn_grid_law_size(law, n, square);
  enum gpnn_status status =
      predict_nearby(choice, view, law, n, cells, part->position, &here, &variance, err);
  if (status == GPNN_OK)
    status = predict_nearby(choice, view, law, n, whole, NULL, &everywhere, &variance, err);
  double ratio = all / here;
  if (status == GPNN_OK && here > 0 && all > 0 && isfinite(ratio) && isfinite(everywhere))
    *found =
        (struct gpnn_grid_comparison){.ratio = ratio, .nearby = everywhere, .variance = variance};
  return status;
}

/* Solves for the part, and compares. */
static enum gpnn_status measure(struct gpnn_grid_choice *choice, const struct gpnn_grid_view *view,
                                const struct part *part, const struct gpnn_grid_law *law,
                                struct gpnn_grid_comparison *found, struct gpnn_error *err)
{
  struct gpnn_cg_report report;
  size_t size = gpnn_grid_size(&part->grid);
  double *x = gpnn_alloc(size, COLUMNS, sizeof *x);
  if (x == NULL) return gpnn_fail_memory(err, "for vectors of a grid");
  memset(x, 0, size * COLUMNS * sizeof *x);
  enum gpnn_status status =
      solve(part, choice->options->seed, choice->options->threads, x, &report, err);
  if (status == GPNN_OK && report.converged)
    status = compare(choice, view, part, law, x, found, err);
  free(x);
  return status;
}

enum gpnn_status gpnn_grid_choice_compare_all(struct gpnn_grid_choice *choice,
                                              const struct gpnn_grid_law *law,
                                              struct gpnn_grid_comparison *found,
                                              struct gpnn_error *err)
{
  struct gpnn_grid_view view;
  struct gpnn_grid grid;
  struct part part = {.cell = NULL};
  *found = (struct gpnn_grid_comparison){.ratio = 1};
  if (choice->dataset->grid->n_cells < FEWEST_CELLS) return GPNN_OK;
  enum gpnn_status status = gpnn_grid_choice_view(choice, &choice->best, &grid, &view, err);
  if (status == GPNN_OK)
    status = make_part(&part, &view, &choice->best.parameters, choice->options->seed, err);
  if (status == GPNN_OK && part.grid.n_cells >= FEWEST_CELLS)
    status = measure(choice, &view, &part, law, found, err);
  release_part(&part);
  gpnn_grid_view_release(&view);
  return status == GPNN_ENUMERIC ? GPNN_OK : status;
}
