#include "estimate/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/choose_private.h"
#include "kernel/rotation.h"
#include "linalg/arrays.h"
#include "stats/scores/difference.h"

/* ---- trials ------------------------------------------------------------------------------- */

void gpnn_choose_trial_release(struct gpnn_choose_trial *trial)
{
  gpnn_parameters_free(trial->params, trial->n_targets);
  free(trial->loss);
  *trial = (struct gpnn_choose_trial){0};
}

void gpnn_choice_release(struct gpnn_choice *c)
{
  for (size_t i = 0; i < c->n_trials; i++) {
    gpnn_choose_trial_release(c->trials[i]);
    free(c->trials[i]);
  }
  free(c->trials);
  free(c->whitening);
  gpnn_choice_release_views(c);
  free(c->self);
  gpnn_arrays_free(c->arrays);
}

enum gpnn_status gpnn_choice_keep(struct gpnn_choice *c, struct gpnn_choose_trial *trial,
                                  struct gpnn_error *err)
{
  struct gpnn_choose_trial *kept = malloc(sizeof *kept);
  if (kept == NULL ||
      !gpnn_grow(&c->trials, &c->capacity, c->n_trials + 1, sizeof(struct gpnn_choose_trial *))) {
    free(kept);
    return gpnn_fail_memory(err, "for a choice");
  }
  *kept = *trial;
  c->trials[c->n_trials++] = kept;
  *trial = (struct gpnn_choose_trial){0};
  return GPNN_OK;
}

/* ---- the best ------------------------------------------------------------------------------- */

/* True if a trial is left out of a comparison. */
typedef bool is_left_out(const struct gpnn_choose_trial *trial,
                         const struct gpnn_choose_trial *without);

static bool is_itself(const struct gpnn_choose_trial *trial,
                      const struct gpnn_choose_trial *without)
{
  return trial == without;
}

static bool sees_inputs_alike(const struct gpnn_choose_trial *trial,
                              const struct gpnn_choose_trial *without)
{
  return trial->candidate.rotate == without->candidate.rotate;
}

static bool has_same_kernel(const struct gpnn_choose_trial *trial,
                            const struct gpnn_choose_trial *without)
{
  return trial->candidate.kernel == without->candidate.kernel;
}

static bool has_as_many_lengthscales(const struct gpnn_choose_trial *trial,
                                     const struct gpnn_choose_trial *without)
{
  return trial->candidate.ard == without->candidate.ard;
}

/* The best of all trials but those left out; NULL: none is left. */
static struct gpnn_choose_trial *best_without(const struct gpnn_choice *c, is_left_out *left_out,
                                              const struct gpnn_choose_trial *without)
{
  struct gpnn_choose_trial *lowest = NULL, *best;
  for (size_t i = 0; i < c->n_trials; i++) {
    struct gpnn_choose_trial *t = c->trials[i];
    if (!t->passed_over && !left_out(t, without) &&
        (lowest == NULL || t->candidate.score < lowest->candidate.score))
      lowest = t;
  }
  best = lowest;
  for (size_t i = 0; i < c->n_trials && c->head->is_better != NULL; i++) {
    struct gpnn_choose_trial *t = c->trials[i];
    if (!t->passed_over && !left_out(t, without) && c->head->is_better(c, t, best, lowest))
      best = t;
  }
  return best;
}

struct gpnn_choose_trial *gpnn_choice_best(const struct gpnn_choice *c)
{
  return best_without(c, is_itself, NULL);
}

bool gpnn_choice_is_plain(const struct gpnn_choice *c)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  return best != NULL && best->candidate.sight == GPNN_SIGHT_VALUE &&
         best->candidate.rotate == GPNN_ROTATE_NONE;
}

struct gpnn_choose_trial *gpnn_choice_second(const struct gpnn_choice *c)
{
  return c->n_trials < 2 ? NULL : best_without(c, is_itself, gpnn_choice_best(c));
}

struct gpnn_choose_trial *gpnn_choice_otherwise_rotated(const struct gpnn_choice *c)
{
  return c->n_trials == 0 ? NULL : best_without(c, sees_inputs_alike, gpnn_choice_best(c));
}

struct gpnn_choose_trial *gpnn_choice_of_other_kernel(const struct gpnn_choice *c)
{
  return c->n_trials == 0 ? NULL : best_without(c, has_same_kernel, gpnn_choice_best(c));
}

struct gpnn_choose_trial *gpnn_choice_otherwise_scaled(const struct gpnn_choice *c)
{
  return c->n_trials == 0 ? NULL : best_without(c, has_as_many_lengthscales, gpnn_choice_best(c));
}

/* ---- one candidate -------------------------------------------------------------------------- */

/* If the index has several targets, the parameters record which they belong to. */
static enum gpnn_status name_targets(const struct gpnn_choice *c, struct gpnn_choose_trial *trial,
                                     struct gpnn_error *err)
{
  for (size_t t = 0; t < c->n_targets && gpnn_dataset_n_targets(c->dataset) > 1; t++) {
    const char *name = c->targets[t]->schema.target.name;
    trial->params[t].target = gpnn_copy_text(name, strlen(name));
    if (trial->params[t].target == NULL) return gpnn_fail_memory(err, "for the parameters");
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_choice_descend(struct gpnn_choice *c, enum gpnn_sight sight,
                                     const struct gpnn_choose_trial *before,
                                     const struct gpnn_fit_options *options,
                                     struct gpnn_parameters *params, struct gpnn_fit_report *report,
                                     struct gpnn_error *err)
{
  struct gpnn_fit_options fit = *options;
  struct gpnn_parameters *lifted = NULL;
  enum gpnn_status status = gpnn_choice_see(c, sight, err);
  if (status != GPNN_OK) return status;
  fit.near = &c->views[sight].fitted;
  if (before != NULL && before->candidate.sight != sight) {
    fit.start = lifted = gpnn_alloc(c->n_targets, 1, sizeof *lifted);
    if (lifted == NULL) return gpnn_fail_memory(err, "for a choice");
    status = gpnn_choice_lift(c, before, sight, lifted, err);
  }
  if (status == GPNN_OK) status = gpnn_fit(c->n_targets, c->targets, &fit, params, report, err);
  for (size_t t = 0; t < c->n_targets && lifted != NULL; t++)
    free(lifted[t].covariance.lengthscale);
  free(lifted);
  return status;
}

enum gpnn_status gpnn_choice_fit(struct gpnn_choice *c, const struct gpnn_choose_trial *before,
                                 const struct gpnn_fit_options *options,
                                 struct gpnn_choose_trial *trial, struct gpnn_error *err)
{
  trial->params = gpnn_alloc(c->n_targets, 1, sizeof *trial->params);
  if (trial->params == NULL) return gpnn_fail_memory(err, "for the parameters");
  trial->n_targets = c->n_targets;
  enum gpnn_status status = gpnn_choice_descend(c, trial->candidate.sight, before, options,
                                                trial->params, &trial->fit, err);
  for (size_t t = 0; t < c->n_targets && c->head->of_numbers; t++)
    trial->params[t].likelihood = c->options->likelihood;
  return status == GPNN_OK ? name_targets(c, trial, err) : status;
}

static struct gpnn_candidate describe(const struct gpnn_choice *c,
                                      const struct gpnn_choose_plan *plan,
                                      const struct gpnn_fit_report *fit)
{
  bool is_of_all = c->options->neighbours && plan->fit.neighbours == c->dataset->n &&
                   plan->fit.first == GPNN_OBJECTIVE_BLOCK && plan->fit.n_blocks == 1;
  return (struct gpnn_candidate){.kernel = plan->fit.kernel,
                                 .smoothness = plan->fit.smoothness,
                                 .ard = plan->fit.ard,
                                 .rotate = plan->rotate,
                                 .sight = plan->sight,
                                 .objective = fit->objective,
                                 .exact = is_of_all,
                                 .k = fit->k,
                                 .neighbours = plan->fit.neighbours,
                                 .score = NAN,
                                 .nll = NAN,
                                 .crps = NAN,
                                 .standard_error = NAN,
                                 .rmse = NAN};
}

/* True if chance explains that a trial is better than the best so far. */
static bool is_level(const struct gpnn_choice *c, const struct gpnn_choose_trial *trial)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  double standard_error;
  if (best == NULL) return false;
  double better = gpnn_mean_difference(c->n, best->loss + best->best * c->n,
                                       trial->loss + trial->best * c->n, &standard_error);
  return better <= standard_error;
}

bool gpnn_choice_may_be_sparse(const struct gpnn_choice *c)
{
  enum { LEAST = 100 };
  size_t n_groups = c->dataset->n_groups;
  return c->options->ard && !c->start.ard && c->dataset->n >= LEAST && n_groups > 1 &&
         n_groups <= GPNN_CHOOSE_ARD_SPARSE;
}

/* What a trial predicts amiss: the RMSE of numbers, the log loss of classes. */
static double error_of(const struct gpnn_choice *c, const struct gpnn_choose_trial *trial)
{
  return c->head->of_numbers ? trial->candidate.rmse : trial->candidate.nll;
}

/* True if a trial has a far smaller error than the best so far.  Where rows are much like each
 * other many lengthscales learn which, and predict rows left out a little better for it, but new
 * ones worse. */
static bool is_far_better(const struct gpnn_choice *c, const struct gpnn_choose_trial *trial)
{
  static const double most = 0.9; /* of that error */
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  return !is_level(c, trial) && error_of(c, trial) < most * error_of(c, best);
}

enum gpnn_status gpnn_choice_try(struct gpnn_choice *c, const struct gpnn_choose_plan *plan,
                                 struct gpnn_error *err)
{
  struct gpnn_choose_trial trial = {
      .candidate.sight = plan->sight, .before = plan->before, .how = plan->fit};
  trial.loss = gpnn_alloc(GPNN_CHOOSE_COUNTS, c->n, sizeof *trial.loss);
  if (trial.loss == NULL) return gpnn_fail_memory(err, "for a choice");
  enum gpnn_status status = gpnn_choice_fit(c, plan->before, &plan->fit, &trial, err);
  trial.candidate = describe(c, plan, &trial.fit);
  if (status == GPNN_OK) {
    status = c->head->score(c, &trial, gpnn_choice_first_counts(c), err);
    if (c->listener != NULL) c->listener(c->context, &trial.candidate);
  }
  if (status == GPNN_OK) {
    trial.passed_over = plan->is_simpler && is_level(c, &trial);
    if (!plan->must_be_far_better || is_far_better(c, &trial))
      status = gpnn_choice_keep(c, &trial, err);
  }
  gpnn_choose_trial_release(&trial);
  if (status == GPNN_OK || status == GPNN_ENUMERIC)
    status = gpnn_choice_see(c, GPNN_SIGHT_VALUE, err);
  return status;
}

/* ---- a table of candidates ------------------------------------------------------------------ */

struct gpnn_fit_options gpnn_choice_go_on(const struct gpnn_choose_trial *trial,
                                          struct gpnn_fit_options fit)
{
  fit.kernel = trial->candidate.kernel;
  fit.smoothness = trial->candidate.smoothness;
  fit.ard = trial->candidate.ard;
  fit.rotation = trial->params->covariance.rotation;
  fit.start = trial->params;
  fit.n_starts = trial->n_targets;
  if (fit.second != GPNN_OBJECTIVE_NONE) fit.first = fit.second;
  fit.second = GPNN_OBJECTIVE_NONE;
  return fit;
}

const struct gpnn_choose_trial *gpnn_choice_best_here(const struct gpnn_choice *c)
{
  const struct gpnn_choose_trial *best = NULL;
  for (size_t i = c->first_trial; i < c->n_trials; i++)
    if (best == NULL || c->trials[i]->candidate.score < best->candidate.score) best = c->trials[i];
  return best;
}

/* The trial that a candidate goes on from, or NULL. */
static const struct gpnn_choose_trial *find_base(const struct gpnn_choice *c,
                                                 enum gpnn_choose_from from)
{
  switch (from) {
  case GPNN_FROM_BEST:
    return gpnn_choice_best(c);
  case GPNN_FROM_LAST:
    return c->n_trials > c->first_trial ? c->trials[c->n_trials - 1] : NULL;
  case GPNN_FROM_BEST_HERE:
    return gpnn_choice_best_here(c);
  case GPNN_FROM_LEADER:
    return c->line[0];
  case GPNN_FROM_RIVAL:
    return c->line[1];
  case GPNN_FROM_START:
    break;
  }
  return NULL;
}

static bool has_line(const struct gpnn_choose_row *row)
{
  return row->from == GPNN_FROM_LEADER || row->from == GPNN_FROM_RIVAL;
}

/* Sets the kernel of a candidate; false: there is no such kernel, or the leader or rival that it
 * goes on from has it. */
static bool set_kernel(const struct gpnn_choice *c, const struct gpnn_choose_row *row,
                       struct gpnn_fit_options *fit)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  if (row->kernel != NULL) {
    if (has_line(row) && fit->kernel == gpnn_kernel_by_name(row->kernel)) return false;
    fit->kernel = gpnn_kernel_by_name(row->kernel);
    fit->smoothness = 0;
  } else if (row->rougher != 0) {
    fit->kernel = gpnn_kernel_next(best->candidate.kernel, -row->rougher);
  } else if (row->from == GPNN_FROM_START && best != NULL) {
    fit->kernel = best->candidate.kernel;
    fit->smoothness = best->candidate.smoothness;
  }
  return fit->kernel != NULL;
}

static void set_rotation(const struct gpnn_choice *c, const struct gpnn_choose_row *row,
                         struct gpnn_choose_plan *plan)
{
  const struct gpnn_choose_trial *before = plan->before;
  plan->rotate = before == NULL ? c->rotate : before->candidate.rotate;
  if (row->turn == GPNN_TURN_WHITEN) {
    plan->fit.rotation = c->whitening;
    plan->rotate = GPNN_ROTATE_WHITEN;
  }
  if (row->turn == GPNN_TURN_LEARN) plan->fit.learn_rotation = true;
  if (row->turn == GPNN_TURN_RETAIN) plan->fit.learn_rotation = plan->rotate == GPNN_ROTATE_LEARN;
  if (row->turn == GPNN_TURN_HOLD) plan->fit.learn_rotation = false;
  if (plan->fit.learn_rotation) plan->rotate = GPNN_ROTATE_LEARN;
}

static size_t or_one(size_t times)
{
  return times == 0 ? 1 : times;
}

/* The numbers of a descent.  One that cannot go on from the best, as there is none, is as long as
 * the first. */
static void set_descent(const struct gpnn_choice *c, const struct gpnn_choose_row *row,
                        struct gpnn_choose_plan *plan)
{
  bool is_anew = row->from != GPNN_FROM_START && plan->before == NULL;
  size_t steps = row->is_early ? c->early_steps : c->start.steps;
  size_t part = is_anew ? 1 : or_one(row->part);
  size_t k = row->k > 0 ? row->k : row->is_early ? c->early_k : c->start.k;
  plan->fit.steps = (steps + part - 1) / part;
  plan->fit.k = k * or_one(row->times_k);
  plan->fit.rows = gpnn_choice_rows_left(c, c->start.rows * or_one(row->times_rows));
  if (c->head->rate != NULL) plan->fit.rate = c->head->rate(c, plan);
}

/* Sets what a row says; false: there is nothing to try. */
static bool make_plan(const struct gpnn_choice *c, const struct gpnn_choose_row *row,
                      struct gpnn_choose_plan *plan)
{
  *plan = (struct gpnn_choose_plan){.fit = c->start,
                                    .before = find_base(c, row->from),
                                    .is_simpler = row->is_simpler,
                                    .must_be_far_better = row->ard};
  if (plan->before != NULL) plan->fit = gpnn_choice_go_on(plan->before, c->start);
  if (!set_kernel(c, row, &plan->fit)) return false;
  plan->sight = row->sight != 0        ? row->sight
                : plan->before != NULL ? plan->before->candidate.sight
                                       : GPNN_SIGHT_VALUE;
  if (row->isotropic) plan->fit.ard = false;
  if (row->ard) plan->fit.ard = true;
  set_rotation(c, row, plan);
  set_descent(c, row, plan);
  return true;
}

static bool is_worthwhile(const struct gpnn_choice *c, const struct gpnn_choose_row *row)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  size_t line = row->from == GPNN_FROM_RIVAL;
  if (row->after != NULL && !c->compares_all &&
      (best == NULL || best->candidate.kernel != gpnn_kernel_by_name(row->after)))
    return false;
  if (has_line(row) && (c->line[line] == NULL || (row->advances && !c->falls[line]))) return false;
  return row->is_worthwhile == NULL || row->is_worthwhile(c);
}

/* Lets the line of a row go on with the last trial, if that is new and better, and notes whether it
 * still falls by enough. */
static void advance(struct gpnn_choice *c, const struct gpnn_choose_row *row, bool is_new)
{
  const double enough = 0.99;
  size_t line = row->from == GPNN_FROM_RIVAL;
  double before = c->line[line]->candidate.score;
  const struct gpnn_choose_trial *last = c->trials[c->n_trials - 1];
  c->falls[line] = is_new && last->candidate.score < enough * before;
  if (is_new && last->candidate.score < before) c->line[line] = last;
}

enum gpnn_status gpnn_choice_race(struct gpnn_choice *c, size_t n,
                                  const struct gpnn_choose_row *rows, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  c->line[0] = gpnn_choice_best(c);
  c->line[1] = c->head->rival(c);
  c->falls[0] = c->falls[1] = true;
  c->first_trial = c->n_trials;
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    struct gpnn_choose_plan plan;
    size_t n_before = c->n_trials;
    if (rows[i].is_open != NULL && !rows[i].is_open(c)) continue;
    if (!is_worthwhile(c, &rows[i]) || !make_plan(c, &rows[i], &plan)) continue;
    status = gpnn_choice_try(c, &plan, err);
    if (rows[i].advances && status == GPNN_OK) advance(c, &rows[i], c->n_trials > n_before);
  }
  return status;
}

size_t gpnn_choice_count_open(const struct gpnn_choice *c, size_t n,
                              const struct gpnn_choose_row *rows)
{
  size_t open = 0;
  for (size_t i = 0; i < n; i++) open += rows[i].is_open == NULL || rows[i].is_open(c);
  return open;
}

/* ---- the parameters that were chosen -------------------------------------------------------- */

bool gpnn_choice_stack_view(const struct gpnn_choice *c, size_t t, struct gpnn_parameters *view)
{
  const struct gpnn_choice_stack *stack = &c->stack;
  *view = gpnn_choice_best(c)->params[t];
  if (stack->n <= 1) return true;
  view->members = gpnn_alloc(stack->n - 1, 1, sizeof *view->members);
  if (view->members == NULL) return false;
  view->weight = stack->weight[0];
  view->n_members = stack->n - 1;
  for (size_t k = 1; k < stack->n; k++) {
    struct gpnn_parameters *member = &view->members[k - 1];
    *member = stack->trial[k]->params[t];
    member->target = NULL;
    member->likelihood = GPNN_LIKELIHOOD_GAUSSIAN; /* the target as a whole has one */
    member->weight = stack->weight[k];
  }
  return true;
}

/* Completes the report. */
static void report_choice(const struct gpnn_choice *c)
{
  struct gpnn_choose_report *report = c->report;
  const struct gpnn_choose_trial *best = gpnn_choice_best(c), *next = c->head->runner_up(c);
  report->n_rows = c->n;
  report->chosen = best->candidate;
  if (next != NULL) report->runner_up = next->candidate;
  report->fit = best->fit;
  report->stack.n = c->stack.n > 1 ? c->stack.n : 0;
  for (size_t k = 0; k < report->stack.n; k++) {
    report->stack.member[k] = c->stack.trial[k]->candidate;
    report->stack.weight[k] = c->stack.weight[k];
  }
  report->stack.n_rows = c->stack.n_rows;
  report->stack.crps = c->stack.crps;
  report->stack.nll = c->stack.nll;
  report->stack.rmse = c->stack.rmse;
}

/* Completes the report, and moves the parameters of the best trial, and of those stacked upon it,
 * to 'params' (n_targets, zeroed). */
static enum gpnn_status hand_over(struct gpnn_choice *c, struct gpnn_parameters *params,
                                  struct gpnn_error *err)
{
  struct gpnn_choose_trial *alone = gpnn_choice_best(c);
  size_t n = c->stack.n > 1 ? c->stack.n : 1;
  report_choice(c);
  for (size_t t = 0; t < c->n_targets; t++)
    if (!gpnn_choice_stack_view(c, t, &params[t])) {
      for (; t-- > 0; params[t] = (struct gpnn_parameters){0}) free(params[t].members);
      return gpnn_fail_memory(err, "for the parameters");
    }
  for (size_t k = 0; k < n; k++) {
    struct gpnn_choose_trial *trial = k == 0 ? alone : c->stack.trial[k];
    for (size_t t = 0; t < c->n_targets && k > 0; t++) free(trial->params[t].target);
    free(trial->params);
    trial->params = NULL;
    trial->n_targets = 0;
  }
  return GPNN_OK;
}

/* What predicts from all distinct rows predicts from their copies too, as far as time allows. */
static void take_all_neighbours(size_t n, struct gpnn_parameters *params, size_t n_distinct,
                                size_t n_all)
{
  size_t most = n_all < GPNN_CHOOSE_NEIGHBOURS ? n_all : GPNN_CHOOSE_NEIGHBOURS;
  for (size_t t = 0; t < n; t++) {
    if (params[t].neighbours >= n_distinct) params[t].neighbours = most;
    take_all_neighbours(params[t].n_members, params[t].members, n_distinct, n_all);
  }
}

/* ---- the whole choice ----------------------------------------------------------------------- */

static const struct gpnn_choose_head *head_of(const struct gpnn_choose_options *options)
{
  return options->fit.first == GPNN_OBJECTIVE_LABELS ? &gpnn_choose_labels : &gpnn_choose_numbers;
}

/* Sets what all candidates have in common, with the whitening where it is needed. */
static enum gpnn_status begin(struct gpnn_choice *c, struct gpnn_error *err)
{
  const struct gpnn_choose_options *options = c->options;
  const struct gpnn_dataset *dataset = c->dataset;
  size_t d = dataset->d;
  c->head->begin(c);
  bool is_given = !options->rotation && options->rotate == GPNN_ROTATE_WHITEN;
  if (!c->tries_rotations && !is_given) return GPNN_OK;
  c->whitening = gpnn_alloc(d, d, sizeof *c->whitening);
  if (c->whitening == NULL) return gpnn_fail_memory(err, "for a rotation");
  if (is_given) c->start.rotation = c->whitening, c->rotate = GPNN_ROTATE_WHITEN;
  return gpnn_rotation_whiten(dataset->n, d, dataset->x, options->fit.seed, c->whitening, err);
}

/* Fits the only candidate, unscored, on all rows, where there is nothing to choose. */
static enum gpnn_status fit_only(struct gpnn_choice *c, struct gpnn_error *err)
{
  const struct gpnn_choose_plan plan = {
      .fit = c->start, .rotate = c->rotate, .sight = GPNN_SIGHT_VALUE};
  struct gpnn_choose_trial trial = {.candidate.sight = plan.sight};
  enum gpnn_status status = gpnn_choice_fit(c, NULL, &plan.fit, &trial, err);
  trial.candidate = describe(c, &plan, &trial.fit);
  if (status == GPNN_OK) status = gpnn_choice_keep(c, &trial, err);
  gpnn_choose_trial_release(&trial);
  return status;
}

/* Chooses by the rows of 'narrow', and fits to those of 'wide'. */
static enum gpnn_status choose_in(struct gpnn_choice *c, const struct gpnn_choice_rows *narrow,
                                  const struct gpnn_choice_rows *wide, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_choice_use_rows(c, narrow->targets, err);
  if (status == GPNN_OK) status = begin(c, err);
  if (status != GPNN_OK) return status;
  if (!c->head->is_open(c)) {
    status = gpnn_choice_use_rows(c, wide->targets, err);
    return status == GPNN_OK ? fit_only(c, err) : status;
  }
  status = gpnn_choice_draw_rows(c, err);
  if (status == GPNN_OK) status = c->head->race(c, err);
  if (status == GPNN_OK && c->n_trials == 0)
    status = gpnn_fail(err, GPNN_ENUMERIC, "no candidate gives finite predictions");
  return status == GPNN_OK ? c->head->finish(c, wide->targets, narrow->sample != NULL, err)
                           : status;
}

/* What the numbers of a target need once the choice is made for its distinct rows. */
static enum gpnn_status complete_numbers(struct gpnn_choice *c, enum gpnn_sight sight, size_t n_all,
                                         struct gpnn_parameters *params, struct gpnn_error *err)
{
  size_t n_distinct = c->dataset->n;
  if (c->options->neighbours && n_distinct < n_all)
    take_all_neighbours(c->n_targets, params, n_distinct, n_all);
  if (n_distinct > GPNN_FIT_SPACING_ROWS)
    return GPNN_OK; /* what many rows show takes long to see */
  enum gpnn_status status = gpnn_choice_see(c, sight, err);
  if (status != GPNN_OK) return status;
  return gpnn_fit_find_spacing(c->dataset, params, &c->options->fit, &c->report->fit, err);
}

static enum gpnn_status check_labels(const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  if (gpnn_dataset_n_classes(dataset) == 0)
    return gpnn_fail(err, GPNN_EINVAL, "the target holds no classes");
  if (dataset->n < 2)
    return gpnn_fail(err, GPNN_EDATA, "estimation needs at least 2 rows; there are %zu",
                     dataset->n);
  return GPNN_OK;
}

enum gpnn_status gpnn_choose(size_t n, const struct gpnn_dataset *const targets[],
                             const struct gpnn_choose_options *options,
                             gpnn_choose_listener *listener, void *context,
                             struct gpnn_parameters *params, struct gpnn_choose_report *report,
                             struct gpnn_error *err)
{
  struct gpnn_choose_report own = {0};
  struct gpnn_choice c = {.head = head_of(options),
                          .n_targets = n,
                          .targets = targets,
                          .dataset = targets[0],
                          .whole = targets[0],
                          .options = options,
                          .listener = listener,
                          .context = context,
                          .report = &own};
  struct gpnn_choice_rows distinct = {0}, wide = {0}, narrow = {0};
  enum gpnn_status status = c.head->of_numbers ? GPNN_OK : check_labels(c.dataset, err);
  if (status == GPNN_OK) status = gpnn_choice_take_distinct(&distinct, &c, err);
  if (status == GPNN_OK) status = gpnn_choice_use_rows(&c, distinct.targets, err);
  if (status == GPNN_OK) status = gpnn_choice_draw_sample(&wide, &c, c.head->wide_rows(&c), err);
  if (status == GPNN_OK) status = gpnn_choice_use_rows(&c, wide.targets, err);
  if (status == GPNN_OK) status = gpnn_choice_draw_sample(&narrow, &c, options->sample_rows, err);
  if (status == GPNN_OK) status = choose_in(&c, &narrow, &wide, err);
  if (status == GPNN_OK) status = hand_over(&c, params, err);
  if (status == GPNN_OK) status = gpnn_choice_use_rows(&c, distinct.targets, err);
  if (status == GPNN_OK && c.head->of_numbers)
    status = complete_numbers(&c, own.chosen.sight, targets[0]->n, params, err);
  if (status == GPNN_OK) *report = own;
  gpnn_choice_release(&c);
  gpnn_choice_release_rows(&narrow);
  gpnn_choice_release_rows(&wide);
  gpnn_choice_release_rows(&distinct);
  return status;
}

size_t gpnn_choose_rows(const struct gpnn_choose_options *options)
{
  const struct gpnn_choice c = {.options = options};
  return head_of(options)->wide_rows(&c);
}

size_t gpnn_choose_most(const struct gpnn_dataset *dataset,
                        const struct gpnn_choose_options *options)
{
  struct gpnn_dataset sample = *dataset;
  struct gpnn_choice c = {
      .head = head_of(options), .dataset = &sample, .whole = dataset, .options = options};
  bool is_sampled = options->sample_rows > 0 && dataset->n > options->sample_rows;
  if (is_sampled) sample.n = options->sample_rows;
  c.head->begin(&c);
  return c.head->is_open(&c) ? c.head->most(&c, is_sampled) : 0;
}
