/*
 * Candidates of a choice: the first, those that differ from it, and scores of one by cells that its
 * estimates have not seen.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "linalg/factors/eigen.h"
#include "models/grid/fit/fit_private.h"

/* ---- the covariance of tasks ----------------------------------------------------------------- */

/* Tasks start from the eigenvectors of their second moments where they were observed together. */

#define MEMORY_FOR "for the covariance of tasks"

/* The share of a task's variance that it has to itself. */
static const double own_share = 0.1, least_own = 1e-3;

/* A cell by the levels of all factors but that of the tasks. */
struct entry {
  size_t rest, task;
  double y;
};

static int compare_rest(const void *a, const void *b)
{
  const struct entry *x = a, *y = b;
  if (x->rest != y->rest) return x->rest < y->rest ? -1 : 1;
  return x->task < y->task ? -1 : x->task > y->task;
}

static void fill_entries(const struct gpnn_grid *grid, size_t a, struct entry *entry)
{
  for (size_t i = 0; i < grid->n_cells; i++) {
    size_t level[GPNN_GRID_FACTORS], rest = 0;
    gpnn_grid_levels(grid, grid->cell[i], level);
    for (size_t f = 0; f < grid->n_factors; f++)
      if (f != a) rest = rest * grid->factor[f].n + level[f];
    entry[i] = (struct entry){rest, level[a], grid->y[i]};
  }
  qsort(entry, grid->n_cells, sizeof *entry, compare_rest);
}

/* Mean products of the values of each pair of tasks, to 'c' (n by n, lower triangle); 0 for a pair
 * that was never observed together.  'count' (n by n) is scratch. */
static void fill_moments(size_t n_entries, const struct entry *entry, size_t n, double *c,
                         double *count)
{
  for (size_t i = 0; i < n * n; i++) c[i] = count[i] = 0;
  for (size_t first = 0, i = 0; i < n_entries; i++) {
    if (entry[i].rest != entry[first].rest) first = i;
    for (size_t j = first; j <= i; j++) {
      size_t at = entry[j].task * n + entry[i].task; /* column-major */
      c[at] += entry[i].y * entry[j].y;
      count[at]++;
    }
  }
  for (size_t i = 0; i < n * n; i++)
    if (count[i] > 0) c[i] /= count[i];
}

/* Loadings are the leading eigenvectors; 'c' is replaced by all, 'values' (n) has room for their
 * eigenvalues, ascending. */
static enum gpnn_status set_loadings(struct gpnn_factor *factor, double *c, double *values,
                                     struct gpnn_error *err)
{
  size_t n = factor->n_tasks;
  for (size_t i = 0; i < n; i++) factor->own[i] = fmax(own_share * c[i * n + i], least_own);
  if (gpnn_blas_claim(1) == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  enum gpnn_status status = gpnn_eigen(n, c, values, "the covariance of the tasks", err);
  if (status != GPNN_OK) return status;
  for (size_t r = 0; r < factor->rank; r++) {
    size_t k = n - 1 - r;
    double size = r < n ? sqrt((1 - own_share) * fmax(values[k], 0)) : 0;
    for (size_t i = 0; i < n; i++)
      factor->loadings[i * factor->rank + r] = r < n ? size * c[k * n + i] : 0;
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_choice_start_tasks(const struct gpnn_grid_choice *choice,
                                              struct gpnn_grid_trial *trial, struct gpnn_error *err)
{
  const struct gpnn_grid *grid = choice->dataset->grid;
  enum gpnn_status status = GPNN_OK;
  for (size_t a = 0; a < grid->n_factors && status == GPNN_OK; a++) {
    struct gpnn_factor *factor = &trial->parameters.grid.factor[a];
    size_t n = factor->n_tasks;
    if (factor->n_terms > 0) continue;
    struct entry *entry = gpnn_alloc(grid->n_cells, 1, sizeof *entry);
    double *moments = gpnn_alloc(n, 2 * n + 1, sizeof *moments);
    if (entry == NULL || moments == NULL) status = gpnn_fail_memory(err, MEMORY_FOR);
    if (status == GPNN_OK) {
      fill_entries(grid, a, entry);
      fill_moments(grid->n_cells, entry, n, moments, moments + n * n);
      status = set_loadings(factor, moments, moments + 2 * n * n, err);
    }
    free(entry);
    free(moments);
  }
  return status;
}

/* Tasks have a covariance of full rank up to so many, and of three more from then on. */
enum { FULL_TASKS = 10, TASK_RANK = 3 };

/* Sites with more coordinates than a place has are settings, whose scales mean little: the first
 * candidate has their ranks. */
enum { MOST_PLACES = 3 };

/* ---- copies ---------------------------------------------------------------------------------- */

enum gpnn_status gpnn_grid_trial_copy(struct gpnn_grid_trial *to,
                                      const struct gpnn_grid_trial *from, struct gpnn_error *err)
{
  *to = (struct gpnn_grid_trial){.parameters = {.covariance = from->parameters.covariance,
                                                .transform = from->parameters.transform,
                                                .likelihood = from->parameters.likelihood,
                                                .neighbours = from->parameters.neighbours},
                                 .task_spread = from->task_spread};
  enum gpnn_status status =
      gpnn_parameters_grid_copy(&to->parameters.grid, &from->parameters.grid, err);
  if (status != GPNN_OK) gpnn_grid_trial_release(to);
  return status;
}

void gpnn_grid_trial_release(struct gpnn_grid_trial *trial)
{
  gpnn_parameters_grid_release(&trial->parameters.grid);
  gpnn_grid_score_release(&trial->score);
  memset(trial, 0, sizeof *trial);
}

void gpnn_grid_trial_describe(const struct gpnn_grid_trial *trial,
                              struct gpnn_grid_candidate *candidate)
{
  const struct gpnn_grid_process *grid = &trial->parameters.grid;
  *candidate =
      (struct gpnn_grid_candidate){.n_factors = grid->n_factors,
                                   .mean_factor = grid->mean_factor,
                                   .transform = trial->parameters.transform.kind,
                                   .nll = trial->score.loss == NULL ? NAN : trial->score.nll,
                                   .rmse = trial->score.rmse,
                                   .factor = trial->score.factor,
                                   .log_likelihood = trial->fit.log_likelihood};
  for (size_t a = 0; a < grid->n_factors; a++) {
    gpnn_factor_write(&grid->factor[a], candidate->kernel[a], GPNN_GRID_KERNEL_BYTES);
    candidate->inputs[a] = grid->factor[a].inputs;
    candidate->has_nugget = candidate->has_nugget || grid->factor[a].nugget > 0;
  }
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* The spread of coordinate 'j' of a factor's levels as a process sees them. */
static double spread_of(const struct gpnn_factor *factor, const struct gpnn_grid_factor *levels,
                        size_t j)
{
  double mean = 0, square = 0, n = (double)levels->n;
  if (factor->inputs == GPNN_FACTOR_RANKS) return 1;
  bool logs = factor->inputs == GPNN_FACTOR_LOG;
  for (size_t i = 0; i < levels->n; i++) {
    double x = levels->x[i * levels->d + j];
    mean += (logs ? log(x) : x) / n;
  }
  for (size_t i = 0; i < levels->n; i++) {
    double x = levels->x[i * levels->d + j];
    square += pow((logs ? log(x) : x) - mean, 2) / n;
  }
  return square > 0 && isfinite(square) ? sqrt(square) : 1;
}

void gpnn_grid_choice_set_inputs(const struct gpnn_grid_choice *choice,
                                 struct gpnn_grid_trial *trial, size_t a,
                                 enum gpnn_factor_inputs inputs)
{
  struct gpnn_factor *factor = &trial->parameters.grid.factor[a], before = *factor;
  const struct gpnn_grid_factor *levels = &choice->dataset->grid->factor[a];
  factor->inputs = inputs;
  for (size_t t = 0; t < factor->n_terms; t++)
    for (size_t j = 0; j < factor->term[t].n_lengthscales && factor->term[t].kernel != NULL; j++)
      factor->term[t].lengthscale[j] *=
          spread_of(factor, levels, j) / spread_of(&before, levels, j);
}

bool gpnn_grid_choice_has_logarithms(const struct gpnn_grid_factor *factor)
{
  double least = INFINITY, greatest = 0;
  for (size_t i = 0; i < factor->n * factor->d; i++) {
    least = fmin(least, factor->x[i]);
    greatest = fmax(greatest, factor->x[i]);
  }
  return factor->n > 2 && least > 0 && greatest >= 10 * least;
}

/* ---- the first candidate --------------------------------------------------------------------- */

static bool is_same_term(const struct gpnn_factor_term *a, const struct gpnn_factor_term *b)
{
  return a->kernel == b->kernel && a->n_lengthscales == b->n_lengthscales;
}

/* Takes over what the start has of a factor, if its terms are the same; inputs and nugget only if
 * they are left open. */
static void take_over(const struct gpnn_grid_choose_options *o, size_t a,
                      struct gpnn_factor *factor, const struct gpnn_factor *start)
{
  bool same = factor->n_terms == start->n_terms && factor->n_tasks == start->n_tasks &&
              factor->rank == start->rank;
  for (size_t t = 0; same && t < factor->n_terms; t++)
    same = is_same_term(&factor->term[t], &start->term[t]);
  if (!same) return;
  double *coordinates = gpnn_alloc(gpnn_factor_n_coordinates(start), 1, sizeof *coordinates);
  if (coordinates == NULL) return;
  enum gpnn_factor_inputs inputs = factor->inputs;
  double nugget = factor->nugget;
  factor->nugget = start->nugget;
  gpnn_factor_get_coordinates(start, coordinates);
  gpnn_factor_set_coordinates(factor, coordinates);
  factor->inputs = o->inputs[a] == GPNN_GRID_INPUTS_AUTO ? start->inputs : inputs;
  if (!o->chooses_nugget && (nugget > 0) != (factor->nugget > 0)) factor->nugget = nugget;
  free(coordinates);
}

/* The start's factor of this number, if it is one of the same levels; otherwise NULL. */
static const struct gpnn_factor *start_of(const struct gpnn_grid_choice *choice, size_t a)
{
  const struct gpnn_parameters *start = choice->options->start;
  const struct gpnn_grid_factor *levels = &choice->dataset->grid->factor[a];
  if (start == NULL || a >= start->grid.n_factors) return NULL;
  const struct gpnn_factor *factor = &start->grid.factor[a];
  if (strcmp(factor->name, levels->name) != 0) return NULL;
  return factor->n_terms > 0 || factor->n_tasks == levels->n ? factor : NULL;
}

/* Tasks that share half of their variance. */
static void start_tasks(struct gpnn_factor *factor)
{
  for (size_t i = 0; i < factor->n_tasks; i++) {
    for (size_t r = 0; r < factor->rank; r++)
      factor->loadings[i * factor->rank + r] = r == 0 ? 0.7 : 0.5 * (r == i);
    factor->own[i] = 0.1;
  }
}

static enum gpnn_status start_factor(const struct gpnn_grid_choice *choice,
                                     struct gpnn_factor *factor, size_t a, struct gpnn_error *err)
{
  const struct gpnn_grid_choose_options *o = choice->options;
  const struct gpnn_grid_factor *levels = &choice->dataset->grid->factor[a];
  char kernel[GPNN_GRID_KERNEL_BYTES];
  snprintf(kernel, sizeof kernel, "%s", o->published ? "rbf" : "matern32");
  if (levels->labels != NULL && levels->n <= FULL_TASKS) snprintf(kernel, sizeof kernel, "icm");
  if (levels->labels != NULL && levels->n > FULL_TASKS)
    snprintf(kernel, sizeof kernel, "icm:%d", TASK_RANK);
  if (start_of(choice, a) != NULL) gpnn_factor_write(start_of(choice, a), kernel, sizeof kernel);
  factor->name = gpnn_copy_text(levels->name, strlen(levels->name));
  if (factor->name == NULL) return gpnn_fail_memory(err, "for parameters");
  enum gpnn_status status = gpnn_factor_parse(factor, o->kernel[a] == NULL ? kernel : o->kernel[a],
                                              levels->d, levels->n, true, err);
  if (status != GPNN_OK) return status;
  if (factor->n_terms == 0) start_tasks(factor);
  if (o->inputs[a] == GPNN_GRID_INPUTS_RANKS) factor->inputs = GPNN_FACTOR_RANKS;
  if (o->inputs[a] == GPNN_GRID_INPUTS_AUTO && a == 0 && levels->d > MOST_PLACES && !o->published)
    factor->inputs = GPNN_FACTOR_RANKS;
  if (o->inputs[a] == GPNN_GRID_INPUTS_LOG) factor->inputs = GPNN_FACTOR_LOG;
  for (size_t t = 0; t < factor->n_terms; t++)
    for (size_t j = 0; j < factor->term[t].n_lengthscales; j++)
      if (factor->term[t].kernel != NULL)
        factor->term[t].lengthscale[j] = spread_of(factor, levels, j) * sqrt((double)levels->d);
  bool has_nugget = (o->chooses_nugget && !o->published) || o->nugget;
  if (a == 0 && factor->n_terms > 0 && has_nugget) factor->nugget = 0.05;
  return GPNN_OK;
}

static enum gpnn_status start_noise(struct gpnn_grid_choice *choice, struct gpnn_error *err)
{
  struct gpnn_grid_process *grid = &choice->best.parameters.grid;
  if (choice->options->noise_factor == 0) return GPNN_OK;
  size_t n = choice->dataset->grid->factor[choice->options->noise_factor - 1].n;
  grid->noise = gpnn_alloc(n, 1, sizeof *grid->noise);
  if (grid->noise == NULL) return gpnn_fail_memory(err, "for noise variances");
  grid->noise_factor = choice->options->noise_factor;
  grid->n_noise = n;
  for (size_t i = 0; i < n; i++) grid->noise[i] = choice->best.parameters.covariance.noise;
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_choice_set(struct gpnn_grid_choice *choice, struct gpnn_error *err)
{
  const struct gpnn_grid_choose_options *o = choice->options;
  struct gpnn_grid_numbers set;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < o->n_settings && status == GPNN_OK; i++) {
    status = gpnn_parameters_grid_set(&choice->best.parameters, o->settings[i].name,
                                      o->settings[i].value, &set, err);
    if (status != GPNN_OK || !o->settings[i].is_held) continue;
    if (choice->held.n == GPNN_GRID_MOST_HELD)
      return gpnn_fail(err, GPNN_EINVAL, "more than %d parameters are fixed", GPNN_GRID_MOST_HELD);
    choice->held.of[choice->held.n++] = set;
    if (set.factor < GPNN_GRID_FACTORS && strcmp(set.name, "lengthscale") == 0)
      choice->keeps_inputs[set.factor] = true;
  }
  return status;
}

/* What the start has apart from its factors, where that is left open. */
static void take_over_rest(struct gpnn_grid_choice *choice, const struct gpnn_parameters *start)
{
  const struct gpnn_grid_choose_options *o = choice->options;
  struct gpnn_parameters *params = &choice->best.parameters;
  params->covariance.kernelscale = start->covariance.kernelscale;
  params->covariance.noise = start->covariance.noise;
  if (o->chooses_mean && start->grid.mean_factor <= choice->dataset->grid->n_factors)
    params->grid.mean_factor = start->grid.mean_factor;
  if (o->chooses_transform && gpnn_grid_choice_can_transform(choice, start->transform.kind))
    params->transform.kind = start->transform.kind;
}

enum gpnn_status gpnn_grid_choice_start(struct gpnn_grid_choice *choice, struct gpnn_error *err)
{
  struct gpnn_parameters *params = &choice->best.parameters;
  const struct gpnn_parameters *start = choice->options->start;
  size_t n = choice->dataset->grid->n_factors;
  enum gpnn_status status = GPNN_OK;
  params->grid.factor = gpnn_alloc(n, 1, sizeof *params->grid.factor);
  if (params->grid.factor == NULL) return gpnn_fail_memory(err, "for parameters");
  choice->best.task_spread = 0.1;
  params->covariance.kernelscale = 1;
  params->covariance.noise = 0.05;
  params->covariance.kernel = gpnn_kernel_by_name("matern32");
  params->covariance.n_lengthscales = 1;
  params->covariance.isotropic = 1;
  params->grid.mean_factor = choice->options->mean_factor;
  params->transform.kind = choice->options->transform;
  for (size_t a = 0; a < n && status == GPNN_OK; a++) {
    struct gpnn_factor *factor = &params->grid.factor[params->grid.n_factors++];
    status = start_factor(choice, factor, a, err);
    if (status == GPNN_OK && start_of(choice, a) != NULL)
      take_over(choice->options, a, factor, start_of(choice, a));
  }
  if (start != NULL) take_over_rest(choice, start);
  if (status == GPNN_OK) status = start_noise(choice, err);
  return status;
}

void gpnn_grid_choice_release(struct gpnn_grid_choice *choice)
{
  gpnn_grid_samples_release(&choice->blocks);
  gpnn_grid_tasks_release(&choice->tasks);
  gpnn_grid_trial_release(&choice->best);
  gpnn_transformed_free(choice->transformed);
}

/* ---- transforms ------------------------------------------------------------------------------ */

bool gpnn_grid_choice_can_transform(const struct gpnn_grid_choice *choice,
                                    enum gpnn_transform_kind kind)
{
  struct gpnn_error why;
  return gpnn_transformed_check(choice->dataset, kind, &why) == GPNN_OK;
}

/* Makes the transformed dataset that 'transform' asks for, unless it is there. */
static enum gpnn_status apply(struct gpnn_grid_choice *choice,
                              const struct gpnn_transform *transform, struct gpnn_error *err)
{
  const struct gpnn_transform *const all[] = {transform};
  if (choice->transformed != NULL && choice->transform.kind == transform->kind) return GPNN_OK;
  gpnn_transformed_free(choice->transformed);
  choice->transformed = NULL;
  choice->transform = *transform;
  return gpnn_transformed_new(&choice->transformed, choice->dataset,
                              &(struct gpnn_changes){.transforms = all}, err);
}

enum gpnn_status gpnn_grid_choice_transform(struct gpnn_grid_choice *choice,
                                            struct gpnn_grid_trial *trial, struct gpnn_grid *grid,
                                            struct gpnn_error *err)
{
  struct gpnn_transform *transform = &trial->parameters.transform;
  enum gpnn_status status = GPNN_OK;
  *grid = *choice->dataset->grid;
  if (transform->kind == GPNN_TRANSFORM_NONE) return GPNN_OK;
  if (!(transform->sd > 0)) {
    enum gpnn_transform_kind kind = transform->kind;
    status = gpnn_transformed_fit(transform, choice->dataset, kind, choice->options->seed, err);
  }
  if (status == GPNN_OK) status = apply(choice, transform, err);
  if (status == GPNN_OK) grid->y = gpnn_transformed_target(choice->transformed, 0)->y;
  return status;
}

/* ---- views ----------------------------------------------------------------------------------- */

enum gpnn_status gpnn_grid_choice_view(struct gpnn_grid_choice *choice,
                                       struct gpnn_grid_trial *trial, struct gpnn_grid *grid,
                                       struct gpnn_grid_view *view, struct gpnn_error *err)
{
  *view = (struct gpnn_grid_view){.grid = NULL};
  enum gpnn_status status = gpnn_grid_choice_transform(choice, trial, grid, err);
  if (status == GPNN_OK) status = gpnn_grid_view_make(view, grid, &trial->parameters, err);
  return status;
}

/* ---- scores by parts ------------------------------------------------------------------------- */

/* Tasks are scored by estimates that have not seen what they are scored on.  They may have more
 * numbers than a few cells for each can tell: what they were fitted to, they predict too well. */

/* How many parts the cells held out are in, at most. */
enum { MOST_PARTS = 8 };

bool gpnn_grid_choice_has_tasks(const struct gpnn_grid_choice *choice)
{
  const struct gpnn_grid_process *grid = &choice->best.parameters.grid;
  for (size_t a = 0; a < grid->n_factors; a++)
    if (grid->factor[a].n_terms == 0) return true;
  return false;
}

/* Hides no more of a site than the cells beside each other of which its first target is one.  A
 * level of few cells that loses as many as another one lacks is known much worse than either. */
static void trim(struct gpnn_grid_task *task, const size_t *first)
{
  size_t from = first[task->site], n = first[task->site + 1] - from, kept = 0;
  size_t low = task->target[0] - from, high = low;
  while (low > 0 && task->is_hidden[low - 1]) low--;
  while (high + 1 < n && task->is_hidden[high + 1]) high++;
  for (size_t i = 0; i < n; i++) task->is_hidden[i] = task->is_hidden[i] && i >= low && i <= high;
  for (size_t t = 0; t < task->n; t++)
    if (task->target[t] >= from + low && task->target[t] <= from + high)
      task->target[kept++] = task->target[t];
  task->n = kept;
}

enum gpnn_status gpnn_grid_choice_part_tasks(struct gpnn_grid_choice *choice,
                                             const struct gpnn_grid_view *view,
                                             struct gpnn_error *err)
{
  bool has_few = choice->best.parameters.grid.factor[0].n_terms == 0;
  struct gpnn_grid_tasks *tasks = &choice->tasks;
  bool *seen = gpnn_alloc(choice->dataset->grid->n_cells, 1, sizeof *seen);
  size_t n = 0;
  if (seen == NULL) return gpnn_fail_memory(err, "for cells held out");
  for (size_t i = 0; i < tasks->n; i++) {
    struct gpnn_grid_task *task = &tasks->task[i];
    bool is_new = true;
    if (has_few && task->hidden_factor == 0) trim(task, view->first);
    for (size_t t = 0; t < task->n; t++) is_new = is_new && !seen[task->target[t]];
    for (size_t t = 0; t < task->n && is_new; t++) seen[task->target[t]] = true;
    if (is_new)
      tasks->task[n++] = *task;
    else
      gpnn_grid_task_release(task);
  }
  tasks->n = n;
  free(seen);
  return GPNN_OK;
}

/* The samples without the cells of part 'part'; 'is_out' is scratch, of all cells. */
static enum gpnn_status leave_out(const struct gpnn_grid_choice *choice, size_t part, bool *is_out,
                                  struct gpnn_grid_samples *rest, struct gpnn_error *err)
{
  const struct gpnn_grid_samples *all = &choice->blocks;
  memset(is_out, 0, choice->dataset->grid->n_cells * sizeof *is_out);
  for (size_t i = part; i < choice->tasks.n; i += choice->n_parts)
    for (size_t t = 0; t < choice->tasks.task[i].n; t++)
      is_out[choice->tasks.task[i].target[t]] = true;
  rest->chosen = gpnn_alloc(all->n, 1, sizeof *rest->chosen);
  rest->n_cells = gpnn_alloc(all->n, 1, sizeof *rest->n_cells);
  bool is_complete = rest->chosen != NULL && rest->n_cells != NULL;
  for (size_t b = 0; b < all->n && is_complete; b++) {
    size_t n = 0,
           *chosen = rest->chosen[rest->n++] = gpnn_alloc(all->n_cells[b], 1, sizeof *chosen);
    is_complete = chosen != NULL;
    for (size_t c = 0; c < all->n_cells[b] && is_complete; c++)
      if (!is_out[all->chosen[b][c]]) chosen[n++] = all->chosen[b][c];
    rest->n_cells[b] = n;
  }
  return is_complete ? GPNN_OK : gpnn_fail_memory(err, "for samples of cells");
}

/* Estimates the parameters of one part from the trial's values on. */
static enum gpnn_status fit_part(const struct gpnn_grid_choice *choice,
                                 const struct gpnn_grid_trial *trial,
                                 const struct gpnn_grid_view *view, size_t evaluations, size_t part,
                                 struct gpnn_parameters *parameters, bool *is_out,
                                 struct gpnn_error *err)
{
  const struct gpnn_grid_fit_options options = {.evaluations = evaluations,
                                                .scans = true,
                                                .task_spread = trial->task_spread,
                                                .held = choice->held,
                                                .threads = choice->options->threads};
  struct gpnn_grid_samples rest = {0};
  struct gpnn_grid_fit_report report;
  enum gpnn_status status = leave_out(choice, part, is_out, &rest, err);
  if (status == GPNN_OK) status = gpnn_grid_fit(parameters, view, &rest, &options, &report, err);
  gpnn_grid_samples_release(&rest);
  return status;
}

enum gpnn_status gpnn_grid_choice_crossfit(struct gpnn_grid_choice *choice,
                                           struct gpnn_grid_trial *trial, size_t evaluations,
                                           struct gpnn_error *err)
{
  struct gpnn_grid_trial copy[MOST_PARTS] = {0};
  struct gpnn_parameters part[MOST_PARTS];
  struct gpnn_grid_view view;
  struct gpnn_grid grid;
  bool *is_out = gpnn_alloc(choice->dataset->grid->n_cells, 1, sizeof *is_out);
  gpnn_grid_score_release(&trial->score);
  enum gpnn_status status = gpnn_grid_choice_view(choice, trial, &grid, &view, err);
  if (status == GPNN_OK && is_out == NULL) status = gpnn_fail_memory(err, "for cells held out");
  for (size_t k = 0; k < choice->n_parts && status == GPNN_OK; k++) {
    status = gpnn_grid_trial_copy(&copy[k], trial, err);
    if (status == GPNN_OK)
      status = fit_part(choice, trial, &view, evaluations, k, &copy[k].parameters, is_out, err);
    part[k] = copy[k].parameters;
  }
  if (status == GPNN_OK)
    status = gpnn_grid_score(&trial->score, choice->dataset, &view, choice->n_parts, part,
                             &choice->tasks, choice->options->threads, err);
  for (size_t k = 0; k < MOST_PARTS; k++) gpnn_grid_trial_release(&copy[k]);
  gpnn_grid_view_release(&view);
  free(is_out);
  return status;
}
