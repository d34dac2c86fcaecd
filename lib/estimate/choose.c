#include "estimate/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/choose_private.h"
#include "kernel/rotation.h"

/* ---- candidates --------------------------------------------------------------------------- */

/* Fits a trial.  If the index has several targets, the parameters record which they belong to. */
static enum gpnn_status fit_trial(const struct gpnn_choice *c,
                                  const struct gpnn_fit_options *options,
                                  struct gpnn_choose_trial *trial, struct gpnn_error *err)
{
  trial->params = gpnn_alloc(c->n_targets, 1, sizeof *trial->params);
  if (trial->params == NULL) return gpnn_fail_memory(err, "for the parameters");
  trial->n_targets = c->n_targets;
  enum gpnn_status status =
      gpnn_fit(c->n_targets, c->targets, options, trial->params, &trial->fit, err);
  for (size_t t = 0; t < c->n_targets; t++) trial->params[t].likelihood = c->options->likelihood;
  if (status != GPNN_OK || gpnn_dataset_n_targets(c->dataset) == 1) return status;
  for (size_t t = 0; t < c->n_targets; t++) {
    const char *name = c->targets[t]->schema.target.name;
    trial->params[t].target = gpnn_copy_text(name, strlen(name));
    if (trial->params[t].target == NULL) return gpnn_fail_memory(err, "for the parameters");
  }
  return GPNN_OK;
}

static enum gpnn_rotate rotate_of(const struct gpnn_fit_options *options)
{
  if (options->learn_rotation) return GPNN_ROTATE_LEARN;
  return options->rotation == NULL ? GPNN_ROTATE_NONE : GPNN_ROTATE_WHITEN;
}

enum gpnn_status gpnn_choice_try(struct gpnn_choice *c, const struct gpnn_fit_options *options,
                                 struct gpnn_error *err)
{
  struct gpnn_choose_trial trial = {0};
  size_t first = gpnn_choice_first_counts(c);
  trial.loss = gpnn_alloc(GPNN_CHOOSE_COUNTS, c->n, sizeof *trial.loss);
  if (trial.loss == NULL) return gpnn_fail_memory(err, "for a choice");
  enum gpnn_status status = fit_trial(c, options, &trial, err);
  trial.candidate = (struct gpnn_candidate){.kernel = options->kernel,
                                            .smoothness = options->smoothness,
                                            .ard = options->ard,
                                            .rotate = rotate_of(options),
                                            .objective = trial.fit.objective,
                                            .exact = gpnn_choice_is_exact(c, options),
                                            .k = trial.fit.k};
  if (status == GPNN_OK) status = gpnn_choice_score(c, &trial, first, err);
  if (status == GPNN_OK) status = gpnn_choice_keep(c, &trial, err);
  gpnn_choose_trial_release(&trial);
  return status == GPNN_ENUMERIC ? GPNN_OK : status;
}

/* Kernels in the order of trial: from medium roughness outwards. */
static const char *const by_roughness[] = {"matern32", "exp", "matern52", "rbf"};
enum { N_KERNELS = sizeof by_roughness / sizeof by_roughness[0] };

/*
 * Tries every kernel, or only the given one.  Scores have a single peak along roughness, so unless
 * 'all' is set a smoother kernel is tried only if the smoothest so far is the best.
 */
static enum gpnn_status try_kernels(struct gpnn_choice *c, struct gpnn_fit_options options,
                                    bool all, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (!c->options->kernel) return gpnn_choice_try(c, &options, err);
  for (size_t k = 0; k < N_KERNELS && status == GPNN_OK; k++) {
    const struct gpnn_kernel *smoother = k == 2   ? gpnn_kernel_by_name(by_roughness[0])
                                         : k == 3 ? gpnn_kernel_by_name(by_roughness[2])
                                                  : NULL;
    const struct gpnn_choose_trial *best = gpnn_choice_best(c);
    if (!all && smoother != NULL && (best == NULL || best->candidate.kernel != smoother)) break;
    options.kernel = gpnn_kernel_by_name(by_roughness[k]);
    status = gpnn_choice_try(c, &options, err);
  }
  return status;
}

/* Tries the best kernel so far with a single lengthscale. */
static enum gpnn_status try_isotropic(struct gpnn_choice *c, struct gpnn_fit_options options,
                                      struct gpnn_error *err)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  if (best == NULL) return GPNN_OK;
  options.kernel = best->candidate.kernel;
  options.smoothness = best->candidate.smoothness;
  options.ard = false;
  return gpnn_choice_try(c, &options, err);
}

/* Options that continue from a trial, with the last objective only. */
static struct gpnn_fit_options from_trial(const struct gpnn_choose_trial *trial,
                                          struct gpnn_fit_options options)
{
  options.kernel = trial->candidate.kernel;
  options.smoothness = trial->candidate.smoothness;
  options.ard = trial->candidate.ard;
  options.rotation = trial->params->covariance.rotation;
  options.start = trial->params;
  options.n_starts = trial->n_targets;
  if (options.second != GPNN_OBJECTIVE_NONE) options.first = options.second;
  options.second = GPNN_OBJECTIVE_NONE;
  return options;
}

/* The kernel 'by' steps rougher than 'kernel' (negative: smoother), or NULL. */
static const struct gpnn_kernel *rougher(const struct gpnn_kernel *kernel, int by)
{
  static const char *const falling[] = {"rbf", "matern52", "matern32", "exp"};
  enum { N = sizeof falling / sizeof falling[0] };
  for (int k = 0; k < N; k++)
    if (kernel == gpnn_kernel_by_name(falling[k]) && k + by >= 0 && k + by < N)
      return gpnn_kernel_by_name(falling[k + by]);
  return NULL;
}

/* Tries the kernel 'by' steps rougher than the best so far, with half the optimiser's steps. */
static enum gpnn_status try_rougher(struct gpnn_choice *c, struct gpnn_fit_options options, int by,
                                    struct gpnn_error *err)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  const struct gpnn_kernel *kernel = rougher(best->candidate.kernel, by);
  if (!c->options->kernel || kernel == NULL) return GPNN_OK;
  options = from_trial(best, options);
  options.kernel = kernel;
  options.steps = (options.steps + 1) / 2;
  return gpnn_choice_try(c, &options, err);
}

/* Tries the best so far with whitened inputs, and then with a learnt rotation. */
static enum gpnn_status try_rotations(struct gpnn_choice *c, struct gpnn_fit_options options,
                                      struct gpnn_error *err)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  size_t all_steps = options.steps;
  if (best == NULL) return GPNN_OK;
  options.kernel = best->candidate.kernel;
  options.smoothness = best->candidate.smoothness;
  options.rotation = c->whitening;
  options.steps = (all_steps + 1) / 2;
  enum gpnn_status status = gpnn_choice_try(c, &options, err);
  best = gpnn_choice_best(c);
  if (status != GPNN_OK || !best->candidate.ard) return status;
  options = from_trial(best, options);
  options.steps = all_steps;
  options.learn_rotation = true;
  status = gpnn_choice_try(c, &options, err);
  /* A learnt rotation brings rows nearer to their neighbours, where a rougher kernel may fit
   * better.
   */
  return status == GPNN_OK ? try_rougher(c, options, 1, err) : status;
}

/* Decides whether rotations will be tried ('*tried'), and computes the whitening if it is needed.
 */
static enum gpnn_status prepare_rotation(struct gpnn_choice *c, bool *tried, struct gpnn_error *err)
{
  const struct gpnn_choose_options *options = c->options;
  const struct gpnn_dataset *dataset = c->dataset;
  size_t d = dataset->d;
  *tried = options->rotation && options->effort != GPNN_EFFORT_FAST && d > 1 &&
           d <= GPNN_CHOOSE_ROTATION && dataset->n / GPNN_CHOOSE_ROTATION_ROWS >= d * d &&
           dataset->n_groups == d && options->fit.mean != GPNN_MEAN_LINEAR && options->fit.ard &&
           options->objective;
  if (!*tried && (options->rotation || options->rotate != GPNN_ROTATE_WHITEN)) return GPNN_OK;
  c->whitening = gpnn_alloc(d, d, sizeof *c->whitening);
  if (c->whitening == NULL) return gpnn_fail_memory(err, "for a rotation");
  return gpnn_rotation_whiten(dataset->n, d, dataset->x, options->fit.seed, c->whitening, err);
}

/* Continues the best two candidates at greater expense. */
static enum gpnn_status try_harder(struct gpnn_choice *c, struct gpnn_fit_options options,
                                   struct gpnn_error *err)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c), *second = gpnn_choice_second(c);
  if (best == NULL) return GPNN_OK;
  /* Keeping another trial may move the array of trials, but not what they own. */
  struct gpnn_choose_trial from[] = {*best, second == NULL ? *best : *second};
  size_t n = second == NULL ? 1 : 2;
  enum gpnn_status status = GPNN_OK;
  options.first = options.second != GPNN_OBJECTIVE_NONE ? options.second : options.first;
  options.second = GPNN_OBJECTIVE_NONE;
  options.rows = gpnn_choice_rows_left(c, 4 * options.rows);
  options.steps *= 3;
  options.k *= 2;
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    options.kernel = from[i].candidate.kernel;
    options.smoothness = from[i].candidate.smoothness;
    options.ard = from[i].candidate.ard;
    options.start = from[i].params;
    options.n_starts = c->n_targets;
    options.rotation = from[i].params->covariance.rotation;
    options.learn_rotation = from[i].candidate.rotate == GPNN_ROTATE_LEARN;
    status = gpnn_choice_try(c, &options, err);
  }
  return status;
}

/* Tries several k for the objective, each starting from the best so far. */
static enum gpnn_status try_k(struct gpnn_choice *c, struct gpnn_fit_options options,
                              struct gpnn_error *err)
{
  static const size_t grid[] = {32, 64, 128, 256};
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < sizeof grid / sizeof *grid && status == GPNN_OK; i++) {
    const struct gpnn_choose_trial *best = gpnn_choice_best(c);
    struct gpnn_fit_options own = options;
    own.k = grid[i];
    if (i > 0 && (best == NULL || grid[i - 1] >= c->dataset->n)) break;
    if (i > 0) {
      own = from_trial(best, own);
      own.steps = (options.steps + 1) / 2;
    }
    status = i == 0 ? try_kernels(c, own, false, err) : gpnn_choice_try(c, &own, err);
  }
  return status;
}

/* Tries every kernel with many lengthscales and with one, by the block objective alone. */
static enum gpnn_status try_fast(struct gpnn_choice *c, struct gpnn_fit_options fit, bool both,
                                 struct gpnn_error *err)
{
  enum gpnn_status status = try_kernels(c, fit, true, err);
  if (status != GPNN_OK || !both) return status;
  fit.ard = false;
  return try_kernels(c, fit, true, err);
}

/*
 * Tries kernels, with half the steps if a rotation will be learnt from the best of them; then a
 * single lengthscale, which needs fewer steps still; then rotations.
 */
static enum gpnn_status try_normal(struct gpnn_choice *c, struct gpnn_fit_options fit, bool both,
                                   bool rotations, struct gpnn_error *err)
{
  struct gpnn_fit_options own = fit;
  if (rotations) own.steps = (fit.steps + 1) / 2;
  enum gpnn_status status =
      c->options->k ? try_k(c, own, err) : try_kernels(c, own, c->options->like != NULL, err);
  own.steps = (fit.steps + 3) / 4;
  if (status == GPNN_OK && both) status = try_isotropic(c, own, err);
  if (status == GPNN_OK && rotations) status = try_rotations(c, fit, err);
  if (status == GPNN_OK && c->options->effort == GPNN_EFFORT_THOROUGH)
    status = try_harder(c, fit, err);
  return status;
}

/* The options that all candidates share. */
static struct gpnn_fit_options common(const struct gpnn_choice *c)
{
  const struct gpnn_choose_options *options = c->options;
  struct gpnn_fit_options fit = options->fit;
  if (!options->rotation && options->rotate == GPNN_ROTATE_WHITEN) fit.rotation = c->whitening;
  if (!options->rotation) fit.learn_rotation = options->rotate == GPNN_ROTATE_LEARN;
  if (options->objective)
    fit.first = options->effort == GPNN_EFFORT_FAST ? GPNN_OBJECTIVE_BLOCK : GPNN_OBJECTIVE_LOO;
  return fit;
}

/* Every candidate that the options leave open. */
static enum gpnn_status try_all(struct gpnn_choice *c, bool rotations, struct gpnn_error *err)
{
  const struct gpnn_choose_options *options = c->options;
  struct gpnn_fit_options fit = common(c);
  /* With a single group, ARD has one lengthscale anyway. */
  size_t n_groups = c->dataset->n_groups;
  bool both = options->ard && !fit.learn_rotation && n_groups > 1 && n_groups <= GPNN_CHOOSE_ARD &&
              c->dataset->n / GPNN_CHOOSE_ARD_ROWS >= n_groups;
  fit.rows = gpnn_choice_rows_left(c, fit.rows);
  /* A single lengthscale cannot be rotated. */
  fit.ard = both || (options->ard ? fit.learn_rotation : fit.ard);
  /* The exact likelihood cannot learn a rotation, where there are enough rows for one. */
  bool together = rotations || options->effort == GPNN_EFFORT_THOROUGH;
  enum gpnn_status status = together ? GPNN_OK : gpnn_choice_try_exact(c, fit, err);
  if (status == GPNN_OK && c->n_trials == 0)
    status = options->effort == GPNN_EFFORT_FAST ? try_fast(c, fit, both, err)
                                                 : try_normal(c, fit, both, rotations, err);
  if (status == GPNN_OK && together) status = gpnn_choice_try_exact(c, fit, err);
  if (status == GPNN_OK && c->n_trials == 0)
    return gpnn_fail(err, GPNN_ENUMERIC, "no candidate gives finite predictions");
  return status;
}

/* Fits the only candidate, unscored, on all rows, where there is nothing to choose. */
static enum gpnn_status fit_only(struct gpnn_choice *c, struct gpnn_error *err)
{
  struct gpnn_fit_options fit = common(c);
  struct gpnn_choose_trial trial = {0};
  enum gpnn_status status = fit_trial(c, &fit, &trial, err);
  trial.candidate = (struct gpnn_candidate){.kernel = fit.kernel,
                                            .smoothness = fit.smoothness,
                                            .ard = fit.ard,
                                            .rotate = rotate_of(&fit),
                                            .objective = trial.fit.objective,
                                            .k = trial.fit.k,
                                            .neighbours = fit.neighbours,
                                            .nll = NAN,
                                            .standard_error = NAN,
                                            .rmse = NAN};
  if (status == GPNN_OK) status = gpnn_choice_keep(c, &trial, err);
  gpnn_choose_trial_release(&trial);
  return status;
}

/* Options that continue a trial unchanged for 'steps' more steps. */
static struct gpnn_fit_options continue_trial(const struct gpnn_choice *c,
                                              const struct gpnn_choose_trial *trial, size_t steps)
{
  const struct gpnn_candidate *candidate = &trial->candidate;
  struct gpnn_fit_options fit = from_trial(trial, common(c));
  fit.first = candidate->objective;
  fit.learn_rotation = candidate->rotate == GPNN_ROTATE_LEARN;
  fit.k = candidate->k + (fit.first == GPNN_OBJECTIVE_MLL_K); /* which counts the row itself */
  fit.steps = steps;
  fit.neighbours = trial->params->neighbours;
  if (candidate->exact) {
    fit.n_blocks = 1;
    fit.block_size = c->dataset->n;
    fit.k = c->options->fit.k;
  }
  return fit;
}

/* If the rows kept for the score would have mattered to the fit of a trial, continues it on all
 * rows. */
static enum gpnn_status refit_trial(const struct gpnn_choice *c, struct gpnn_choose_trial *best,
                                    struct gpnn_error *err)
{
  const struct gpnn_choose_options *given = c->options;
  struct gpnn_choose_trial trial = {0};
  struct gpnn_fit_options fit = continue_trial(c, best, (given->fit.steps + 1) / 2);
  bool by_blocks = best->candidate.objective == GPNN_OBJECTIVE_BLOCK;
  if (!best->candidate.exact && (by_blocks || gpnn_choice_rows_left(c, fit.rows) == fit.rows))
    return GPNN_OK;
  if (given->effort == GPNN_EFFORT_THOROUGH) fit.rows = c->dataset->n;
  enum gpnn_status status = fit_trial(c, &fit, &trial, err);
  if (status == GPNN_OK) {
    struct gpnn_parameters *params = best->params;
    for (size_t t = 0; t < c->n_targets; t++) {
      trial.params[t].scale = params[t].scale;
      trial.params[t].degrees = params[t].degrees;
    }
    best->params = trial.params;
    best->fit = trial.fit;
    trial.params = params;
  }
  gpnn_choose_trial_release(&trial);
  return status == GPNN_ENUMERIC ? GPNN_OK : status;
}

/* Continues the fits of all members of the stack. */
static enum gpnn_status refit(struct gpnn_choice *c, struct gpnn_error *err)
{
  enum gpnn_status status = refit_trial(c, gpnn_choice_best(c), err);
  for (size_t k = 1; k < c->stack.n && status == GPNN_OK; k++)
    status = refit_trial(c, c->stack.trial[k], err);
  return status;
}

static enum gpnn_status compare_all(struct gpnn_choice *c, bool rotations, struct gpnn_error *err)
{
  gpnn_choice_set_counts(c);
  enum gpnn_status status = gpnn_choice_draw_rows(c, err);
  return status == GPNN_OK ? try_all(c, rotations, err) : status;
}

/* Decides between the best two candidates, chooses the number of neighbours, and stacks others upon
 * the best. */
static enum gpnn_status decide(struct gpnn_choice *c, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_choice_compare_best(c, err);
  if (status == GPNN_OK && c->options->neighbours) gpnn_choice_choose_neighbours(c);
  return status == GPNN_OK ? gpnn_choice_stack(c, err) : status;
}

/* ---- samples ------------------------------------------------------------------------------ */

static void swap(struct gpnn_choice *a, struct gpnn_choice *b)
{
  struct gpnn_choice kept = *a;
  *a = *b;
  *b = kept;
}

/* A rotation that was level in the small sample may be better in the large one, where a scale is
 * learnt from nearer rows; so one candidate of another rotation continues there too. */
static enum gpnn_status widen_other(const struct gpnn_choice *c, struct gpnn_choice *wider,
                                    size_t steps, struct gpnn_error *err)
{
  static const double level = 0.2; /* in nats */
  const struct gpnn_choose_trial *other = gpnn_choice_otherwise_rotated(c);
  if (c->options->likelihood == GPNN_LIKELIHOOD_GAUSSIAN || other == NULL ||
      other->candidate.nll - gpnn_choice_best(c)->candidate.nll > level)
    return GPNN_OK;
  struct gpnn_fit_options fit = continue_trial(c, other, steps);
  fit.refresh = steps;
  return gpnn_choice_try(wider, &fit, err);
}

/*
 * Continues the best candidate on a larger sample, where rows are nearer to one another, and scores
 * it and chooses its number of neighbours there; tries a smoother kernel as well, since nearer rows
 * may favour one.  If the best cannot be fitted there, it stays as it is.
 */
static enum gpnn_status widen(struct gpnn_choice *c, const struct gpnn_choice_rows *rows,
                              struct gpnn_error *err)
{
  struct gpnn_choice wider = {.n_targets = c->n_targets,
                              .options = c->options,
                              .listener = c->listener,
                              .context = c->context,
                              .report = c->report};
  size_t steps = (c->options->fit.steps + 3) / 4;
  struct gpnn_fit_options fit = continue_trial(c, gpnn_choice_best(c), steps);
  fit.refresh = fit.steps;
  gpnn_choice_use_rows(&wider, rows);
  gpnn_choice_set_counts(&wider);
  enum gpnn_status status = gpnn_choice_draw_rows(&wider, err);
  if (status == GPNN_OK) status = gpnn_choice_try(&wider, &fit, err);
  if (status == GPNN_OK) status = widen_other(c, &wider, steps, err);
  fit.steps = fit.refresh = c->options->fit.steps;
  bool fitted = wider.n_trials > 0;
  if (status == GPNN_OK && fitted) status = try_rougher(&wider, fit, -1, err);
  if (status == GPNN_OK) status = decide(fitted ? &wider : c, err);
  if (status == GPNN_OK && fitted) swap(c, &wider);
  gpnn_choice_release(&wider);
  return status == GPNN_OK ? gpnn_choice_estimate_scales(c, err) : status;
}

/* True if anything other than a rotation is to be chosen. */
static bool is_open(const struct gpnn_choose_options *options)
{
  return options->kernel || options->ard || options->neighbours || options->k;
}

/* Rows in the larger sample.  A single fit by blocks needs no sample: it uses few rows anyway. */
static size_t wide_rows(const struct gpnn_choice *c)
{
  const struct gpnn_choose_options *options = c->options;
  bool by_blocks = common(c).first == GPNN_OBJECTIVE_BLOCK;
  return by_blocks && !is_open(options) && !options->rotation ? 0 : options->last_sample_rows;
}

static enum gpnn_status choose_in(struct gpnn_choice *c, const struct gpnn_choice_rows *narrow,
                                  const struct gpnn_choice_rows *wide, struct gpnn_error *err)
{
  bool rotations;
  gpnn_choice_use_rows(c, narrow);
  enum gpnn_status status = prepare_rotation(c, &rotations, err);
  if (status != GPNN_OK) return status;
  if (!is_open(c->options) && !rotations) {
    gpnn_choice_use_rows(c, wide);
    return fit_only(c, err);
  }
  status = compare_all(c, rotations, err);
  if (status != GPNN_OK) return status;
  if (narrow->sample != NULL && gpnn_choice_best(c)->candidate.objective != GPNN_OBJECTIVE_BLOCK)
    return widen(c, wide, err);
  status = decide(c, err);
  if (status == GPNN_OK) status = gpnn_choice_estimate_scales(c, err);
  return status == GPNN_OK ? refit(c, err) : status;
}

/* What predicts from all distinct rows predicts from their copies too. */
static void take_all_neighbours(size_t n, struct gpnn_parameters *params, size_t n_distinct,
                                size_t n_all)
{
  for (size_t t = 0; t < n; t++) {
    if (params[t].neighbours >= n_distinct) params[t].neighbours = n_all;
    take_all_neighbours(params[t].n_members, params[t].members, n_distinct, n_all);
  }
}

enum gpnn_status gpnn_choose(size_t n, const struct gpnn_dataset *const targets[],
                             const struct gpnn_choose_options *options,
                             gpnn_choose_listener *listener, void *context,
                             struct gpnn_parameters *params, struct gpnn_choose_report *report,
                             struct gpnn_error *err)
{
  struct gpnn_choose_report own = {0};
  struct gpnn_choice c = {.n_targets = n,
                          .targets = targets,
                          .dataset = targets[0],
                          .options = options,
                          .listener = listener,
                          .context = context,
                          .report = &own};
  struct gpnn_choice_rows distinct = {0}, wide = {0}, narrow = {0};
  enum gpnn_status status = gpnn_choice_take_distinct(&distinct, &c, err);
  if (status == GPNN_OK) gpnn_choice_use_rows(&c, &distinct);
  size_t n_distinct = c.dataset->n;
  if (status == GPNN_OK) status = gpnn_choice_draw_sample(&wide, &c, wide_rows(&c), err);
  if (status == GPNN_OK) gpnn_choice_use_rows(&c, &wide);
  if (status == GPNN_OK) status = gpnn_choice_draw_sample(&narrow, &c, options->sample_rows, err);
  if (status == GPNN_OK) status = choose_in(&c, &narrow, &wide, err);
  if (status == GPNN_OK) status = gpnn_choice_hand_over(&c, params, err);
  if (status == GPNN_OK && options->neighbours && n_distinct < targets[0]->n)
    take_all_neighbours(n, params, n_distinct, targets[0]->n);
  if (status == GPNN_OK) gpnn_choice_use_rows(&c, &distinct);
  if (status == GPNN_OK)
    status = gpnn_fit_find_spacing(c.dataset, params, &options->fit, &own.fit, err);
  if (status == GPNN_OK) *report = own;
  gpnn_choice_release(&c);
  gpnn_choice_release_rows(&narrow);
  gpnn_choice_release_rows(&wide);
  gpnn_choice_release_rows(&distinct);
  return status;
}
