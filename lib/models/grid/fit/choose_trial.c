#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "models/grid/fit/choose_private.h"

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
  return gpnn_transformed_new(&choice->transformed, choice->dataset, all, NULL, err);
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
