#include "estimate/labels_choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/sample.h"
#include "estimate/choose_private.h"
#include "estimate/labels_choose_private.h"
#include "kernel/rotation.h"

/* ---- one candidate -------------------------------------------------------------------------- */

/* A candidate to try. */
struct plan {
  struct gpnn_fit_options fit;
  enum gpnn_rotate rotate;
  const struct gpnn_label_trial *before; /* that it continues, or NULL */
  bool is_simpler; /* it must be better than the best by more than chance explains */
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
static void note_stage(const struct plan *plan, struct gpnn_label_trial *trial)
{
  if (plan->before != NULL) {
    trial->n_stages = plan->before->n_stages;
    memcpy(trial->stage, plan->before->stage, sizeof trial->stage);
  }
  trial->stage[trial->n_stages++] = (struct gpnn_label_stage){
      plan->fit.kernel, plan->fit.k, plan->fit.steps, plan->fit.rate, plan->fit.learn_rotation};
}

/* True if chance explains that a trial is better than the best so far. */
static bool is_level(struct gpnn_label_choice *c, const struct gpnn_label_trial *trial)
{
  const struct gpnn_label_trial *best = gpnn_label_choice_best(c);
  double standard_error;
  if (best == NULL) return false;
  double better = gpnn_choice_mean_difference(c->n, best->loss + best->best * c->n,
                                              trial->loss + trial->best * c->n, &standard_error);
  return better <= standard_error;
}

/* Fits and scores one candidate, and keeps it if that succeeds. */
static enum gpnn_status try_one(struct gpnn_label_choice *c, const struct plan *plan,
                                struct gpnn_error *err)
{
  struct gpnn_label_trial trial = {0};
  struct gpnn_fit_options fit = plan->fit;
  size_t n_counts = c->n_counts < GPNN_LABEL_FIRST_COUNTS ? c->n_counts : GPNN_LABEL_FIRST_COUNTS;
  fit.rows = gpnn_label_choice_rows_left(c, fit.rows);
  if (c->n_trials == GPNN_LABEL_TRIALS ||
      (plan->before != NULL && plan->before->n_stages == GPNN_LABEL_STAGES))
    return GPNN_OK;
  enum gpnn_status status = gpnn_fit(1, &c->dataset, &fit, &trial.params, &trial.fit, err);
  trial.candidate = describe(plan, &trial.fit);
  note_stage(plan, &trial);
  if (status == GPNN_OK) status = gpnn_label_choice_score(c, &trial, n_counts, err);
  if (c->listener != NULL && (status == GPNN_OK || status == GPNN_ENUMERIC))
    c->listener(c->context, &trial.candidate);
  if (status != GPNN_OK) {
    gpnn_label_trial_release(&trial);
    return status == GPNN_ENUMERIC ? GPNN_OK : status;
  }
  trial.is_passed_over = plan->is_simpler && is_level(c, &trial);
  c->trial[c->n_trials++] = trial;
  return GPNN_OK;
}

/* A candidate that continues a trial. */
static struct plan go_on(const struct gpnn_label_choice *c, const struct gpnn_label_trial *before,
                         size_t steps, double rate)
{
  struct plan plan = {.fit = c->options->fit, .rotate = before->candidate.rotate, .before = before};
  plan.fit.kernel = before->candidate.kernel;
  plan.fit.smoothness = before->candidate.smoothness;
  plan.fit.ard = before->candidate.ard;
  plan.fit.k = before->stage[before->n_stages - 1].k;
  plan.fit.rotation = before->params.covariance.rotation;
  plan.fit.learn_rotation = before->candidate.rotate == GPNN_ROTATE_LEARN;
  plan.fit.start = &before->params;
  plan.fit.n_starts = 1;
  plan.fit.steps = steps;
  plan.fit.rate = rate;
  return plan;
}

/* ---- what to try ---------------------------------------------------------------------------- */

/* Parameters move by up to the sum of the rates of all steps, which fall from these. */
static const double first_rate = 0.15, later_rate = 0.08;

static double rotation_rate(const struct gpnn_dataset *dataset)
{
  return 0.1 / sqrt((double)dataset->d);
}

/* With few rows, long descents fit noise, so that they are scored, and perhaps stopped, sooner. */
static size_t first_steps(const struct gpnn_label_choice *c)
{
  enum { FEW = 3000, PART = 3 };
  size_t steps = c->options->fit.steps;
  return c->dataset->n < FEW ? (steps + PART - 1) / PART : steps;
}

/* True if searches for neighbours take much of the time. */
static bool is_large(const struct gpnn_dataset *dataset)
{
  enum { LARGE = 1 << 19 };
  return dataset->n > LARGE / dataset->d;
}

static const char *const kernels[] = {"matern32", "exp", "rbf"};
enum { N_KERNELS = sizeof kernels / sizeof kernels[0] };

/* Tries every kernel, or only the given one.  In a large table those after the first go on from the
 * best so far, whose metric hardly changes with the kernel; otherwise each makes its own mistakes,
 * which is of use if they are averaged. */
static enum gpnn_status try_kernels(struct gpnn_label_choice *c, const struct plan *first,
                                    struct gpnn_error *err)
{
  enum { PART = 3 };
  struct plan plan = *first;
  plan.fit.steps = first_steps(c);
  plan.fit.rate = first_rate;
  if (!c->options->kernel) return try_one(c, &plan, err);
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 0; k < N_KERNELS && status == GPNN_OK; k++) {
    const struct gpnn_label_trial *best = gpnn_label_choice_best(c);
    if (is_large(c->dataset) && best != NULL)
      plan = go_on(c, best, (first_steps(c) + PART - 1) / PART, later_rate);
    plan.fit.kernel = gpnn_kernel_by_name(kernels[k]);
    plan.fit.smoothness = 0;
    status = try_one(c, &plan, err);
  }
  return status;
}

/* Tries the best with a single lengthscale, if the rows are few for many. */
static enum gpnn_status try_isotropic(struct gpnn_label_choice *c, const struct plan *first,
                                      struct gpnn_error *err)
{
  enum { ENOUGH = 100 };
  struct plan plan = *first;
  if (!c->options->ard || !plan.fit.ard || plan.fit.learn_rotation || c->dataset->n_groups == 1 ||
      c->dataset->n / ENOUGH >= c->dataset->n_groups)
    return GPNN_OK;
  plan.fit.kernel = gpnn_label_choice_best(c)->candidate.kernel;
  plan.fit.steps = first_steps(c);
  plan.fit.rate = first_rate;
  plan.fit.ard = false;
  plan.is_simpler = true;
  return try_one(c, &plan, err);
}

/* How often the descent of a kernel may be continued. */
static size_t longer(const struct gpnn_choose_options *options)
{
  return options->effort == GPNN_EFFORT_THOROUGH ? 4 : 2;
}

/* Continues a trial as long as that makes a difference; '*best' gets the best that comes of it. */
static enum gpnn_status try_longer(struct gpnn_label_choice *c,
                                   const struct gpnn_label_trial **best, struct gpnn_error *err)
{
  const double enough = 0.99;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < longer(c->options) && status == GPNN_OK; i++) {
    const struct gpnn_label_trial *trial = &c->trial[c->n_trials];
    double before = (*best)->candidate.nll;
    struct plan plan = go_on(c, *best, c->options->fit.steps, later_rate);
    status = try_one(c, &plan, err);
    if (status != GPNN_OK || trial->loss == NULL || !(trial->candidate.nll < before)) break;
    *best = trial;
    if (!(trial->candidate.nll < enough * before)) break;
  }
  return status;
}

/* True if there are rows enough to learn the numbers of a rotation. */
static bool has_rows_to_rotate(const struct gpnn_dataset *dataset)
{
  enum { EACH = 2, MORE = 60, MOST_MORE = 1200 };
  size_t numbers = dataset->d * dataset->d;
  size_t more = MORE * numbers < MOST_MORE ? MORE * numbers : MOST_MORE;
  return dataset->n >= EACH * numbers + more;
}

/* True if a rotation may be tried.  Many columns of a large table, often mostly zero, become hard
 * to search once they are rotated. */
static bool can_rotate(const struct gpnn_label_choice *c, const struct gpnn_label_trial *trial)
{
  enum { FEW_COLUMNS = 32, MANY_COLUMNS = 64 };
  const struct gpnn_dataset *dataset = c->dataset;
  size_t d = dataset->d;
  return c->options->rotation && c->options->fit.rotation == NULL && trial->candidate.ard &&
         d > 1 && d <= (is_large(dataset) ? FEW_COLUMNS : MANY_COLUMNS) && dataset->n_groups == d &&
         has_rows_to_rotate(dataset);
}

static enum gpnn_status try_rotation(struct gpnn_label_choice *c,
                                     const struct gpnn_label_trial *trial, struct gpnn_error *err)
{
  struct plan plan = go_on(c, trial, c->options->fit.steps, rotation_rate(c->dataset));
  if (!can_rotate(c, trial)) return GPNN_OK;
  plan.fit.learn_rotation = true;
  plan.rotate = GPNN_ROTATE_LEARN;
  return try_one(c, &plan, err);
}

/* Continues the best with twice the neighbours in its objective, if it predicts better from more.
 */
static enum gpnn_status try_wider(struct gpnn_label_choice *c, struct gpnn_error *err)
{
  enum { PART = 5 };
  const struct gpnn_label_trial *best = gpnn_label_choice_best(c);
  struct plan plan = go_on(c, best, (c->options->fit.steps + PART - 1) / PART, later_rate);
  if (!c->options->k || best->candidate.neighbours <= plan.fit.k) return GPNN_OK;
  plan.fit.k *= 2;
  plan.fit.learn_rotation = false;
  return try_one(c, &plan, err);
}

/* The best trial of another kernel than 'best', or NULL. */
static const struct gpnn_label_trial *best_of_others(const struct gpnn_label_choice *c,
                                                     const struct gpnn_label_trial *best)
{
  const struct gpnn_label_trial *second = NULL;
  for (size_t i = 0; i < c->n_trials; i++)
    if (c->trial[i].candidate.kernel != best->candidate.kernel && !c->trial[i].is_passed_over &&
        (second == NULL || c->trial[i].candidate.nll < second->candidate.nll))
      second = &c->trial[i];
  return second;
}

/* Tries the kernels, and goes on with the best two. */
static enum gpnn_status try_all(struct gpnn_label_choice *c, const struct plan *first,
                                struct gpnn_error *err)
{
  enum gpnn_status status = try_kernels(c, first, err);
  if (status == GPNN_OK && c->n_trials == 0)
    return gpnn_fail(err, GPNN_ENUMERIC, "no candidate could be fitted");
  if (status == GPNN_OK) status = try_isotropic(c, first, err);
  if (c->options->effort == GPNN_EFFORT_FAST || status != GPNN_OK) return status;
  const struct gpnn_label_trial *best = gpnn_label_choice_best(c),
                                *second = best_of_others(c, best);
  status = try_longer(c, &best, err);
  if (status == GPNN_OK) status = try_rotation(c, best, err);
  if (second != NULL && !is_large(c->dataset)) {
    if (status == GPNN_OK) status = try_longer(c, &second, err);
    if (status == GPNN_OK) status = try_rotation(c, second, err);
  }
  return status == GPNN_OK ? try_wider(c, err) : status;
}

/* ---- all rows ------------------------------------------------------------------------------- */

/* Repeats the descents of a trial with all rows. */
static enum gpnn_status repeat(const struct gpnn_label_choice *c, const struct plan *first,
                               const struct gpnn_label_trial *trial, struct gpnn_parameters *params,
                               struct gpnn_fit_report *report, struct gpnn_error *err)
{
  struct gpnn_fit_options fit = first->fit;
  enum gpnn_status status = GPNN_OK;
  fit.smoothness = trial->candidate.smoothness;
  fit.ard = trial->candidate.ard;
  for (size_t i = 0; i < trial->n_stages && status == GPNN_OK; i++) {
    struct gpnn_parameters before = *params;
    *params = (struct gpnn_parameters){0};
    fit.kernel = trial->stage[i].kernel;
    fit.k = trial->stage[i].k;
    fit.steps = trial->stage[i].steps;
    fit.rate = trial->stage[i].rate;
    fit.learn_rotation = trial->stage[i].rotates;
    if (i > 0) {
      fit.start = &before;
      fit.n_starts = 1;
      fit.rotation = before.covariance.rotation;
    }
    status = gpnn_fit(1, &c->dataset, &fit, params, report, err);
    gpnn_parameters_release(&before);
  }
  return status;
}

/* Lets a trial go on with all rows for a while. */
static enum gpnn_status settle(const struct gpnn_label_choice *c,
                               const struct gpnn_label_trial *trial, struct gpnn_parameters *params,
                               struct gpnn_fit_report *report, struct gpnn_error *err)
{
  enum { PART = 3 };
  bool is_rotated = trial->candidate.rotate == GPNN_ROTATE_LEARN;
  struct plan plan = go_on(c, trial, (c->options->fit.steps + PART - 1) / PART,
                           is_rotated ? rotation_rate(c->dataset) / 2 : later_rate / 2);
  return gpnn_fit(1, &c->dataset, &plan.fit, params, report, err);
}

/* If the rows kept for the score would have mattered to the fit of a trial, fits it to all rows:
 * again if they are few, or else for a little longer. */
static enum gpnn_status refit(const struct gpnn_label_choice *c, const struct plan *first,
                              struct gpnn_label_trial *trial, struct gpnn_error *err)
{
  enum { FEW = 6000 };
  struct gpnn_parameters params = {0}, before = trial->params;
  struct gpnn_fit_report report = trial->fit;
  size_t rows = c->options->fit.rows;
  size_t all = rows < c->dataset->n ? rows : c->dataset->n;
  size_t used = gpnn_label_choice_rows_left(c, rows);
  if (used >= all - all / 5) return GPNN_OK;
  enum gpnn_status status = c->dataset->n < FEW ? repeat(c, first, trial, &params, &report, err)
                                                : settle(c, trial, &params, &report, err);
  if (status == GPNN_OK) {
    params.neighbours = before.neighbours;
    trial->params = params;
    trial->fit = report;
    params = before;
  }
  gpnn_parameters_release(&params);
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
  enum gpnn_status status =
      gpnn_fit(1, &c->dataset, &fit, &c->trial[0].params, &c->trial[0].fit, err);
  c->n_trials = 1;
  c->stack = (struct gpnn_label_stack){.n = 1, .trial = {&c->trial[0]}, .weight = {1}};
  return status;
}

/* Scores the members of the stack with all numbers of neighbours, and chooses one. */
static enum gpnn_status choose_neighbours(struct gpnn_label_choice *c,
                                          struct gpnn_candidate *fewest, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 0; k < c->stack.n && status == GPNN_OK; k++)
    if (c->n_counts > GPNN_LABEL_FIRST_COUNTS)
      status = gpnn_label_choice_score(c, c->stack.trial[k], c->n_counts, err);
  return status == GPNN_OK ? gpnn_label_choice_neighbours(c, fewest, err) : status;
}

static void note_candidates(struct gpnn_label_choice *c, struct gpnn_choose_report *report)
{
  const struct gpnn_label_trial *best = c->stack.trial[0];
  report->chosen = best->candidate;
  report->n_rows = c->n;
  for (size_t i = 0; i < c->n_trials; i++)
    if (&c->trial[i] != best &&
        (report->runner_up.kernel == NULL || c->trial[i].candidate.nll < report->runner_up.nll))
      report->runner_up = c->trial[i].candidate;
}

static enum gpnn_status choose(struct gpnn_label_choice *c, const struct plan *first,
                               struct gpnn_choose_report *report, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_label_choice_draw(c, err);
  if (status == GPNN_OK) status = try_all(c, first, err);
  if (status == GPNN_OK) status = gpnn_label_choice_stack(c, err);
  if (status == GPNN_OK) status = choose_neighbours(c, &report->fewest, err);
  if (status == GPNN_OK) note_candidates(c, report);
  for (size_t k = 0; k < c->stack.n && status == GPNN_OK; k++)
    status = refit(c, first, c->stack.trial[k], err);
  return status;
}

/* Completes the report, and moves the parameters of the stack to 'params'. */
static enum gpnn_status hand_over(struct gpnn_label_choice *c, struct gpnn_parameters *params,
                                  struct gpnn_choose_report *report, struct gpnn_error *err)
{
  struct gpnn_label_stack *stack = &c->stack;
  struct gpnn_parameters *first = &stack->trial[0]->params;
  report->fit = stack->trial[0]->fit;
  if (stack->n > 1) {
    first->members = gpnn_alloc(stack->n - 1, 1, sizeof *first->members);
    if (first->members == NULL) return gpnn_fail_memory(err, "for a stack");
    first->weight = stack->weight[0];
    report->stack =
        (struct gpnn_choose_stack){.n = stack->n, .n_rows = c->n, .nll = stack->nll, .rmse = NAN};
  }
  for (size_t k = 0; k < stack->n && stack->n > 1; k++) {
    report->stack.member[k] = stack->trial[k]->candidate;
    report->stack.weight[k] = stack->weight[k];
    if (k == 0) continue;
    struct gpnn_parameters *member = &first->members[first->n_members++];
    *member = stack->trial[k]->params;
    member->weight = stack->weight[k];
    member->likelihood = GPNN_LIKELIHOOD_GAUSSIAN; /* the target as a whole has one */
    stack->trial[k]->params = (struct gpnn_parameters){0};
  }
  *params = *first;
  *first = (struct gpnn_parameters){0};
  return GPNN_OK;
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
  if (status == GPNN_OK) status = name_target(c->dataset, &c->stack.trial[0]->params, err);
  return status == GPNN_OK ? hand_over(c, params, report, err) : status;
}

size_t gpnn_labels_choose_most(const struct gpnn_dataset *view,
                               const struct gpnn_choose_options *options)
{
  size_t most = options->kernel ? N_KERNELS : 1;
  if (!is_open(options)) return 0;
  if (options->ard && can_have_ard(view)) most++;
  if (options->effort == GPNN_EFFORT_FAST) return most;
  return most + (options->kernel ? 2 : 1) * (longer(options) + (options->rotation ? 1 : 0)) +
         (options->k ? 1 : 0);
}

enum gpnn_status gpnn_labels_choose(const struct gpnn_dataset *view,
                                    const struct gpnn_choose_options *options,
                                    gpnn_choose_listener *listener, void *context,
                                    struct gpnn_parameters *params,
                                    struct gpnn_choose_report *report, struct gpnn_error *err)
{
  struct gpnn_choose_report own = {0};
  struct gpnn_label_choice c = {
      .dataset = view, .options = options, .listener = listener, .context = context};
  struct gpnn_sample *distinct = NULL, *sample = NULL;
  enum gpnn_status status = GPNN_OK;
  if (gpnn_dataset_n_classes(view) == 0)
    return gpnn_fail(err, GPNN_EINVAL, "the target holds no classes");
  if (view->n < 2)
    return gpnn_fail(err, GPNN_EDATA, "estimation needs at least 2 rows; there are %zu", view->n);
  if (gpnn_dataset_has_copies(view)) status = gpnn_sample_distinct(&distinct, view, err);
  if (distinct != NULL) c.dataset = gpnn_sample_target(distinct, view->target);
  if (status == GPNN_OK && options->sample_rows > 0 && c.dataset->n > options->sample_rows)
    status = gpnn_sample_draw(&sample, c.dataset, options->sample_rows, options->fit.seed, err);
  if (status == GPNN_OK && sample != NULL) c.dataset = gpnn_sample_target(sample, view->target);
  if (status == GPNN_OK) status = choose_in(&c, params, &own, err);
  if (status == GPNN_OK) *report = own;
  gpnn_label_choice_release(&c);
  gpnn_sample_free(sample);
  gpnn_sample_free(distinct);
  return status;
}
