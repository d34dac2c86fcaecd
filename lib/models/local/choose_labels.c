#include "models/local/choose_labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/sample.h"
#include "kernel/rotation.h"
#include "models/local/choose_labels_private.h"
#include "models/local/choose_private.h"

/* ---- one candidate -------------------------------------------------------------------------- */

/* A candidate to try: its fit, and whether it goes on from the best so far. */
struct plan {
  struct gpnn_fit_options fit;
  enum gpnn_rotate rotate;
  bool continues;
  bool is_simpler; /* replaces the best only if chance does not explain that it is better */
};

static struct gpnn_candidate describe(const struct plan *plan, const struct gpnn_fit_report *fit)
{
  return (struct gpnn_candidate){.kernel = plan->fit.kernel,
                                 .smoothness = plan->fit.smoothness,
                                 .ard = plan->fit.ard,
                                 .rotate = plan->rotate,
                                 .objective = GPNN_OBJECTIVE_LABELS,
                                 .k = fit->k,
                                 .neighbours = plan->fit.neighbours,
                                 .nll = NAN,
                                 .standard_error = NAN,
                                 .rmse = NAN};
}

/* Notes how the trial came about, so that it can be repeated with other rows. */
static void note_stage(const struct gpnn_label_choice *c, const struct plan *plan,
                       struct gpnn_label_trial *trial)
{
  if (plan->continues) {
    trial->n_stages = c->best.n_stages;
    memcpy(trial->stage, c->best.stage, sizeof trial->stage);
  }
  trial->stage[trial->n_stages++] = (struct gpnn_label_stage){
      plan->fit.kernel, plan->fit.steps, plan->fit.rate, plan->fit.learn_rotation};
}

/* True if a trial should replace the best so far. */
static bool is_better(const struct gpnn_label_choice *c, const struct plan *plan,
                      const struct gpnn_label_trial *trial)
{
  const struct gpnn_label_trial *best = &c->best;
  double standard_error;
  if (best->loss == NULL) return true;
  double better = gpnn_choice_mean_difference(c->n, best->loss + best->best * c->n,
                                              trial->loss + trial->best * c->n, &standard_error);
  return better > (plan->is_simpler ? standard_error : 0);
}

/* Fits and scores one candidate, and keeps it if it is the best so far. */
static enum gpnn_status try_one(struct gpnn_label_choice *c, const struct plan *plan,
                                struct gpnn_error *err)
{
  struct gpnn_label_trial trial = {0};
  struct gpnn_fit_options fit = plan->fit;
  size_t n_counts = c->n_counts < GPNN_LABEL_FIRST_COUNTS ? c->n_counts : GPNN_LABEL_FIRST_COUNTS;
  fit.rows = gpnn_label_choice_rows_left(c, fit.rows);
  if (plan->continues && c->best.n_stages == GPNN_LABEL_STAGES) return GPNN_OK;
  enum gpnn_status status = gpnn_fit(1, &c->dataset, &fit, &trial.params, &trial.fit, err);
  trial.candidate = describe(plan, &trial.fit);
  note_stage(c, plan, &trial);
  if (status == GPNN_OK) status = gpnn_label_choice_score(c, &trial, n_counts, err);
  if (c->listener != NULL && (status == GPNN_OK || status == GPNN_ENUMERIC))
    c->listener(c->context, &trial.candidate);
  if (status == GPNN_OK && is_better(c, plan, &trial)) {
    struct gpnn_label_trial before = c->best;
    c->best = trial;
    trial = before;
  }
  if (trial.loss != NULL && (c->runner_up.kernel == NULL || trial.candidate.nll < c->runner_up.nll))
    c->runner_up = trial.candidate;
  gpnn_label_trial_release(&trial);
  return status == GPNN_ENUMERIC ? GPNN_OK : status;
}

/* A candidate that continues the best so far. */
static struct plan from_best(const struct gpnn_label_choice *c, size_t steps, double rate)
{
  const struct gpnn_label_trial *best = &c->best;
  struct plan plan = {.fit = c->options->fit, .rotate = best->candidate.rotate, .continues = true};
  plan.fit.kernel = best->candidate.kernel;
  plan.fit.smoothness = best->candidate.smoothness;
  plan.fit.ard = best->candidate.ard;
  plan.fit.rotation = best->params.covariance.rotation;
  plan.fit.start = &best->params;
  plan.fit.n_starts = 1;
  plan.fit.steps = steps;
  plan.fit.rate = rate;
  return plan;
}

/* ---- what to try ---------------------------------------------------------------------------- */

/* Parameters move by up to the sum of the rates of all steps, which fall from these. */
static const double first_rate = 0.15, later_rate = 0.08;

/* With few rows, long descents fit noise, so that they are scored, and perhaps stopped, sooner. */
static size_t first_steps(const struct gpnn_label_choice *c)
{
  enum { FEW = 3000, PART = 3 };
  size_t steps = c->options->fit.steps;
  return c->dataset->n < FEW ? (steps + PART - 1) / PART : steps;
}

static const char *const kernels[] = {"matern32", "exp", "rbf"};
enum { N_KERNELS = sizeof kernels / sizeof kernels[0] };

/* Tries the first kernel, or the given one, and then the others from the best so far, whose metric
 * hardly changes with the kernel. */
static enum gpnn_status try_kernels(struct gpnn_label_choice *c, struct plan plan,
                                    struct gpnn_error *err)
{
  enum { PART = 3 };
  plan.fit.steps = first_steps(c);
  plan.fit.rate = first_rate;
  if (c->options->kernel) plan.fit.kernel = gpnn_kernel_by_name(kernels[0]);
  enum gpnn_status status = try_one(c, &plan, err);
  for (size_t k = 1; k < N_KERNELS && c->options->kernel && status == GPNN_OK; k++) {
    if (c->best.loss != NULL) plan = from_best(c, (first_steps(c) + PART - 1) / PART, later_rate);
    plan.fit.kernel = gpnn_kernel_by_name(kernels[k]);
    plan.fit.smoothness = 0;
    status = try_one(c, &plan, err);
  }
  return status;
}

/* Tries the best with a single lengthscale, if the rows are few for many. */
static enum gpnn_status try_isotropic(struct gpnn_label_choice *c, struct plan plan,
                                      struct gpnn_error *err)
{
  enum { ENOUGH = 100 };
  if (!c->options->ard || !plan.fit.ard || plan.fit.learn_rotation || c->dataset->n_groups == 1 ||
      c->dataset->n / ENOUGH >= c->dataset->n_groups)
    return GPNN_OK;
  plan.fit.kernel = c->best.candidate.kernel;
  plan.fit.steps = first_steps(c);
  plan.fit.rate = first_rate;
  plan.fit.ard = false;
  plan.is_simpler = true;
  return try_one(c, &plan, err);
}

/* How often a descent may be continued. */
static size_t longer(const struct gpnn_choose_options *options)
{
  return options->effort == GPNN_EFFORT_THOROUGH ? 5 : 2;
}

/* Continues the best as long as that makes a difference. */
static enum gpnn_status try_longer(struct gpnn_label_choice *c, struct gpnn_error *err)
{
  const double enough = 0.99;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < longer(c->options) && status == GPNN_OK; i++) {
    double before = c->best.candidate.nll;
    struct plan plan = from_best(c, c->options->fit.steps, later_rate);
    status = try_one(c, &plan, err);
    if (!(c->best.candidate.nll < enough * before)) break;
  }
  return status;
}

/* True if a rotation may be tried, and there are rows enough to learn one. */
static bool can_rotate(const struct gpnn_label_choice *c)
{
  const struct gpnn_dataset *dataset = c->dataset;
  size_t d = dataset->d, rows = gpnn_label_choice_rows_left(c, dataset->n);
  return c->options->rotation && c->options->fit.rotation == NULL && c->best.candidate.ard &&
         d > 1 && d <= GPNN_CHOOSE_ROTATION && dataset->n_groups == d &&
         rows / GPNN_CHOOSE_LABELS_ROTATION_ROWS >= d * d;
}

static enum gpnn_status try_rotation(struct gpnn_label_choice *c, struct gpnn_error *err)
{
  struct plan plan = from_best(c, c->options->fit.steps, 0.1 / sqrt((double)c->dataset->d));
  if (!can_rotate(c)) return GPNN_OK;
  plan.fit.learn_rotation = true;
  plan.rotate = GPNN_ROTATE_LEARN;
  return try_one(c, &plan, err);
}

static enum gpnn_status try_all(struct gpnn_label_choice *c, const struct plan *first,
                                struct gpnn_error *err)
{
  enum gpnn_status status = try_kernels(c, *first, err);
  if (status == GPNN_OK && c->best.loss == NULL)
    return gpnn_fail(err, GPNN_ENUMERIC, "no candidate could be fitted");
  if (status == GPNN_OK) status = try_isotropic(c, *first, err);
  if (c->options->effort == GPNN_EFFORT_FAST) return status;
  if (status == GPNN_OK) status = try_longer(c, err);
  return status == GPNN_OK ? try_rotation(c, err) : status;
}

/* If the rows kept for the score would have mattered to the fit, repeats it with all rows. */
static enum gpnn_status refit(struct gpnn_label_choice *c, const struct plan *first,
                              struct gpnn_error *err)
{
  struct gpnn_label_trial *best = &c->best, trial = {0};
  struct gpnn_fit_options fit = first->fit;
  enum gpnn_status status = GPNN_OK;
  if (gpnn_label_choice_rows_left(c, fit.rows) == fit.rows) return GPNN_OK;
  fit.smoothness = best->candidate.smoothness;
  fit.ard = best->candidate.ard;
  for (size_t i = 0; i < best->n_stages && status == GPNN_OK; i++) {
    struct gpnn_parameters before = trial.params;
    trial.params = (struct gpnn_parameters){0};
    fit.kernel = best->stage[i].kernel;
    fit.steps = best->stage[i].steps;
    fit.rate = best->stage[i].rate;
    fit.learn_rotation = best->stage[i].rotates;
    if (i > 0) {
      fit.start = &before;
      fit.n_starts = 1;
      fit.rotation = before.covariance.rotation;
    }
    status = gpnn_fit(1, &c->dataset, &fit, &trial.params, &trial.fit, err);
    gpnn_parameters_release(&before);
  }
  if (status == GPNN_OK) {
    struct gpnn_parameters before = best->params;
    trial.params.neighbours = before.neighbours;
    best->params = trial.params;
    best->fit = trial.fit;
    trial.params = before;
  }
  gpnn_label_trial_release(&trial);
  return status == GPNN_ENUMERIC ? GPNN_OK : status;
}

/* ---- the whole choice ----------------------------------------------------------------------- */

/* Many inputs leave no time for lengthscales of their own. */
static bool can_have_ard(const struct gpnn_dataset *dataset)
{
  return dataset->n_groups <= GPNN_CHOOSE_LABELS_ARD;
}

static bool is_open(const struct gpnn_choose_options *options)
{
  return options->kernel || options->ard || options->neighbours || options->rotation;
}

/* Fits all rows the only way that is left. */
static enum gpnn_status fit_only(struct gpnn_label_choice *c, const struct plan *plan,
                                 struct gpnn_error *err)
{
  struct gpnn_fit_options fit = plan->fit;
  fit.rate = fit.start == NULL ? first_rate : later_rate;
  return gpnn_fit(1, &c->dataset, &fit, &c->best.params, &c->best.fit, err);
}

static enum gpnn_status choose(struct gpnn_label_choice *c, const struct plan *first,
                               struct gpnn_choose_report *report, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_label_choice_draw(c, err);
  if (status == GPNN_OK) status = try_all(c, first, err);
  if (status == GPNN_OK && c->n_counts > GPNN_LABEL_FIRST_COUNTS)
    status = gpnn_label_choice_score(c, &c->best, c->n_counts, err);
  if (status != GPNN_OK) return status;
  gpnn_label_choice_neighbours(c, &report->fewest);
  report->chosen = c->best.candidate;
  report->runner_up = c->runner_up;
  report->n_rows = c->n;
  return refit(c, first, err);
}

/* If there are several targets, the parameters name theirs. */
static enum gpnn_status name_target(const struct gpnn_dataset *dataset,
                                    struct gpnn_parameters *params, struct gpnn_error *err)
{
  const char *name = dataset->schema.target.name;
  if (gpnn_dataset_n_targets(dataset) == 1) return GPNN_OK;
  params->target = gpnn_copy_text(name, strlen(name));
  return params->target == NULL ? gpnn_fail_memory(err, "for the parameters") : GPNN_OK;
}

/* Chooses for the rows of c->dataset, and hands the parameters over. */
static enum gpnn_status choose_in(struct gpnn_label_choice *c, struct gpnn_parameters *params,
                                  struct gpnn_choose_report *report, struct gpnn_error *err)
{
  const struct gpnn_choose_options *options = c->options;
  struct plan first = {.fit = options->fit,
                       .rotate = options->rotation ? GPNN_ROTATE_NONE : options->rotate};
  size_t d = c->dataset->d;
  double *whitening = NULL;
  enum gpnn_status status = GPNN_OK;
  if (options->ard) first.fit.ard = can_have_ard(c->dataset);
  first.fit.learn_rotation = first.rotate == GPNN_ROTATE_LEARN;
  if (first.rotate == GPNN_ROTATE_WHITEN && first.fit.rotation == NULL) {
    whitening = gpnn_alloc(d, d, sizeof *whitening);
    if (whitening == NULL) return gpnn_fail_memory(err, "for a rotation");
    first.fit.rotation = whitening;
    status = gpnn_rotation_whiten(c->dataset->n, d, c->dataset->x, first.fit.seed, whitening, err);
  }
  if (status == GPNN_OK)
    status = is_open(options) ? choose(c, &first, report, err) : fit_only(c, &first, err);
  free(whitening);
  if (status == GPNN_OK) status = name_target(c->dataset, &c->best.params, err);
  if (status != GPNN_OK) return status;
  report->fit = c->best.fit;
  *params = c->best.params;
  c->best.params = (struct gpnn_parameters){0};
  return GPNN_OK;
}

size_t gpnn_choose_labels_most(const struct gpnn_dataset *view,
                               const struct gpnn_choose_options *options)
{
  size_t most = options->kernel ? N_KERNELS : 1;
  if (!is_open(options)) return 0;
  if (options->ard && can_have_ard(view)) most++;
  if (options->effort == GPNN_EFFORT_FAST) return most;
  return most + longer(options) + (options->rotation ? 1 : 0);
}

enum gpnn_status gpnn_choose_labels(const struct gpnn_dataset *view,
                                    const struct gpnn_choose_options *options,
                                    gpnn_choose_listener *listener, void *context,
                                    struct gpnn_parameters *params,
                                    struct gpnn_choose_report *report, struct gpnn_error *err)
{
  struct gpnn_choose_report own = {0};
  struct gpnn_label_choice c = {
      .dataset = view, .options = options, .listener = listener, .context = context};
  struct gpnn_sample *sample = NULL;
  enum gpnn_status status = GPNN_OK;
  if (gpnn_dataset_n_classes(view) == 0)
    return gpnn_fail(err, GPNN_EINVAL, "the target holds no classes");
  if (view->n < 2)
    return gpnn_fail(err, GPNN_EDATA, "estimation needs at least 2 rows; there are %zu", view->n);
  if (options->sample_rows > 0 && view->n > options->sample_rows)
    status = gpnn_sample_draw(&sample, view, options->sample_rows, options->fit.seed, err);
  if (status == GPNN_OK && sample != NULL) c.dataset = gpnn_sample_target(sample, view->target);
  if (status == GPNN_OK) status = choose_in(&c, params, &own, err);
  if (status == GPNN_OK) *report = own;
  gpnn_label_choice_release(&c);
  gpnn_sample_free(sample);
  return status;
}
