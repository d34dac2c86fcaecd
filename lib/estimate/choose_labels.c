/* The candidates for targets that hold classes, and what becomes of the best. */
#include <math.h>
#include <stdlib.h>

#include "estimate/choose_private.h"

static const size_t counts[] = {32, 64, 128};
enum { N_COUNTS = sizeof counts / sizeof *counts, FIRST_COUNTS = 2 };

/* Parameters move by up to the sum of the rates of all steps, which fall from these. */
static const double first_rate = 0.15, later_rate = 0.08;

static double rotation_rate(const struct gpnn_choice *c)
{
  return 0.1 / sqrt((double)c->dataset->d);
}

static double rate(const struct gpnn_choice *c, const struct gpnn_choose_plan *plan)
{
  if (plan->before == NULL) return first_rate;
  bool starts_to_rotate =
      plan->fit.learn_rotation && plan->before->candidate.rotate != GPNN_ROTATE_LEARN;
  return starts_to_rotate ? rotation_rate(c) : later_rate;
}

/* ---- what is open --------------------------------------------------------------------------- */

/* True if searches for neighbours take much of the time. */
static bool is_large(const struct gpnn_choice *c)
{
  enum { LARGE = 1 << 19 };
  return c->dataset->n > LARGE / c->dataset->d;
}

static bool kernel_is_open_in_large(const struct gpnn_choice *c)
{
  return c->options->kernel && is_large(c);
}

static bool kernel_is_open_in_small(const struct gpnn_choice *c)
{
  return c->options->kernel && !is_large(c);
}

static bool rival_is_open(const struct gpnn_choice *c)
{
  return !is_large(c);
}

static bool rival_is_open_thorough(const struct gpnn_choice *c)
{
  return !is_large(c) && is_thorough(c);
}

/* True if there are rows enough to learn the numbers of a rotation. */
static bool has_rows_to_rotate(const struct gpnn_dataset *dataset)
{
  enum { EACH = 2, MORE = 60, MOST_MORE = 1200 };
  size_t numbers = dataset->d * dataset->d;
  size_t more = MORE * numbers < MOST_MORE ? MORE * numbers : MOST_MORE;
  return dataset->n >= EACH * numbers + more;
}

/* Many columns of a large table, often mostly zero, become hard to search once they are rotated. */
static bool rotation_is_open(const struct gpnn_choice *c)
{
  enum { FEW_COLUMNS = 32, MANY_COLUMNS = 64 };
  const struct gpnn_dataset *dataset = c->dataset;
  size_t d = dataset->d;
  return c->options->rotation && c->options->fit.rotation == NULL && d > 1 &&
         d <= (is_large(c) ? FEW_COLUMNS : MANY_COLUMNS) && dataset->n_groups == d &&
         has_rows_to_rotate(dataset);
}

static bool rival_rotation_is_open(const struct gpnn_choice *c)
{
  return !is_large(c) && rotation_is_open(c);
}

static bool k_is_open(const struct gpnn_choice *c)
{
  return c->options->k;
}

/* ---- what the scores suggest ---------------------------------------------------------------- */

/* Values and scores of inputs need lengthscales of their own, which take time. */
static bool may_see_both(const struct gpnn_choice *c)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  return gpnn_choice_is_plain(c) && best->candidate.ard &&
         2 * c->dataset->n_groups <= GPNN_CHOOSE_LABELS_ARD;
}

static bool leader_has_ard(const struct gpnn_choice *c)
{
  return c->line[0]->candidate.ard;
}

static bool rival_has_ard(const struct gpnn_choice *c)
{
  return c->line[1]->candidate.ard;
}

/* The best predicts better from more neighbours than its objective has. */
static bool best_wants_more(const struct gpnn_choice *c)
{
  return gpnn_choice_best(c)->candidate.neighbours > c->start.k;
}

/* ---- tables of candidates ------------------------------------------------------------------- */

/*
 * In a large table kernels after the first go on from the best so far, whose metric hardly changes
 * with the kernel; otherwise each makes its own mistakes, which is of use if they are averaged.
 * Then a single lengthscale, if the rows are few for many, or one for each of very many.
 */
static const struct gpnn_choose_row kernels[] = {
    {kernel_is_given, .is_early = true},
    {kernel_is_open, .kernel = "matern32", .is_early = true},
    {kernel_is_open_in_small, .kernel = "exp", .is_early = true},
    {kernel_is_open_in_small, .kernel = "rbf", .is_early = true},
    {kernel_is_open_in_large, .from = GPNN_FROM_BEST, .kernel = "exp", .is_early = true, .part = 3},
    {kernel_is_open_in_large, .from = GPNN_FROM_BEST, .kernel = "rbf", .is_early = true, .part = 3},
    {gpnn_choice_has_scores, may_see_both, GPNN_FROM_BEST, .sight = GPNN_SIGHT_BOTH,
     .is_early = true, .part = 2},
    {gpnn_choice_has_scores, gpnn_choice_is_plain, GPNN_FROM_BEST, .sight = GPNN_SIGHT_SCORE,
     .is_early = true, .part = 2},
    {isotropic_is_open, has_best, .isotropic = true, .is_early = true, .is_simpler = true},
    {gpnn_choice_may_be_sparse, has_best, GPNN_FROM_BEST, .ard = true, .is_early = true},
};

/* The best, and the best of another kernel, go on as long as that makes a difference, and are then
 * rotated; the best of all gets more neighbours. */
static const struct gpnn_choose_row further[] = {
    {NULL, .from = GPNN_FROM_LEADER, .advances = true},
    {NULL, .from = GPNN_FROM_LEADER, .advances = true},
    {is_thorough, .from = GPNN_FROM_LEADER, .advances = true},
    {is_thorough, .from = GPNN_FROM_LEADER, .advances = true},
    {rotation_is_open, leader_has_ard, GPNN_FROM_LEADER, .turn = GPNN_TURN_LEARN},
    {rival_is_open, .from = GPNN_FROM_RIVAL, .advances = true},
    {rival_is_open, .from = GPNN_FROM_RIVAL, .advances = true},
    {rival_is_open_thorough, .from = GPNN_FROM_RIVAL, .advances = true},
    {rival_is_open_thorough, .from = GPNN_FROM_RIVAL, .advances = true},
    {rival_rotation_is_open, rival_has_ard, GPNN_FROM_RIVAL, .turn = GPNN_TURN_LEARN},
    {k_is_open, best_wants_more, GPNN_FROM_BEST, GPNN_TURN_HOLD, .part = 5, .times_k = 2},
};

enum {
  N_KERNELS = sizeof kernels / sizeof *kernels,
  N_FURTHER = sizeof further / sizeof *further,
};

/* ---- what all candidates have in common ----------------------------------------------------- */

/* With few rows, long descents fit noise, so that they are scored, and perhaps stopped, sooner. */
static size_t early_steps(const struct gpnn_choice *c)
{
  enum { FEW = 3000, PART = 3 };
  size_t steps = c->options->fit.steps;
  return c->dataset->n < FEW ? (steps + PART - 1) / PART : steps;
}

static void begin(struct gpnn_choice *c)
{
  enum { ENOUGH = 100 };
  const struct gpnn_choose_options *options = c->options;
  const struct gpnn_dataset *dataset = c->dataset;
  struct gpnn_fit_options *start = &c->start;
  *start = options->fit;
  /* Many inputs leave no time for lengthscales of their own. */
  if (options->ard) start->ard = dataset->n_groups <= GPNN_CHOOSE_LABELS_ARD;
  c->rotate = options->rotation ? GPNN_ROTATE_NONE : options->rotate;
  start->learn_rotation = c->rotate == GPNN_ROTATE_LEARN;
  start->rate = start->start == NULL ? first_rate : later_rate;
  c->tries_isotropic = options->ard && start->ard && !start->learn_rotation &&
                       dataset->n_groups != 1 && dataset->n / ENOUGH < dataset->n_groups;
  c->early_steps = early_steps(c);
  c->early_k = start->k;
}

static bool is_open(const struct gpnn_choice *c)
{
  const struct gpnn_choose_options *options = c->options;
  return options->kernel || options->ard || options->neighbours || options->rotation;
}

static size_t wide_rows(const struct gpnn_choice *c)
{
  return c->options->sample_rows;
}

/* If chance would decide on so few rows, rows of the fit are used as well: left out of their own
 * prediction, they still show which candidate predicts better. */
static size_t count_rows(struct gpnn_choice *c)
{
  enum { FEWEST = 32, PART = 3 };
  size_t n = c->dataset->n;
  c->n_kept = n / PART < GPNN_CHOOSE_LABELS_ROWS ? n / PART : GPNN_CHOOSE_LABELS_ROWS;
  c->n = c->n_kept < FEWEST ? (n < FEWEST ? n : FEWEST) : c->n_kept;
  return n;
}

/* ---- the race ------------------------------------------------------------------------------- */

static enum gpnn_status race(struct gpnn_choice *c, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_choice_race(c, N_KERNELS, kernels, err);
  bool is_over = c->n_trials == 0 || c->options->effort == GPNN_EFFORT_FAST;
  return status == GPNN_OK && !is_over ? gpnn_choice_race(c, N_FURTHER, further, err) : status;
}

static size_t most(const struct gpnn_choice *c, bool is_sampled)
{
  (void)is_sampled;
  bool is_fast = c->options->effort == GPNN_EFFORT_FAST;
  return gpnn_choice_count_open(c, N_KERNELS, kernels) +
         (is_fast ? 0 : gpnn_choice_count_open(c, N_FURTHER, further));
}

/* Whatever has the lowest score besides the best. */
static struct gpnn_choose_trial *runner_up(const struct gpnn_choice *c)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  struct gpnn_choose_trial *next = NULL;
  for (size_t i = 0; i < c->n_trials; i++)
    if (c->trials[i] != best &&
        (next == NULL || c->trials[i]->candidate.score < next->candidate.score))
      next = c->trials[i];
  return next;
}

/* ---- all rows ------------------------------------------------------------------------------- */

/* Repeats with all rows the descents that led to a trial. */
static enum gpnn_status repeat(struct gpnn_choice *c, const struct gpnn_choose_trial *trial,
                               struct gpnn_parameters *params, struct gpnn_fit_report *report,
                               struct gpnn_error *err)
{
  struct gpnn_parameters before = {0};
  struct gpnn_fit_options fit = c->start;
  enum gpnn_status status = GPNN_OK;
  if (trial->before != NULL) {
    status = repeat(c, trial->before, &before, report, err);
    fit.start = &before;
    fit.n_starts = 1;
    fit.rotation = before.covariance.rotation;
  }
  fit.kernel = trial->how.kernel;
  fit.smoothness = trial->how.smoothness;
  fit.ard = trial->how.ard;
  fit.k = trial->how.k;
  fit.steps = trial->how.steps;
  fit.rate = trial->how.rate;
  fit.learn_rotation = trial->how.learn_rotation;
  struct gpnn_choose_trial from = {.n_targets = 1, .params = &before};
  if (trial->before != NULL) from.candidate.sight = trial->before->candidate.sight;
  if (status == GPNN_OK)
    status = gpnn_choice_descend(c, trial->candidate.sight, trial->before == NULL ? NULL : &from,
                                 &fit, params, report, err);
  gpnn_parameters_release(&before);
  return status;
}

/* Lets a trial go on with all rows for a while. */
static enum gpnn_status settle(struct gpnn_choice *c, const struct gpnn_choose_trial *trial,
                               struct gpnn_parameters *params, struct gpnn_fit_report *report,
                               struct gpnn_error *err)
{
  enum { PART = 3 };
  bool is_rotated = trial->candidate.rotate == GPNN_ROTATE_LEARN;
  struct gpnn_fit_options fit = gpnn_choice_go_on(trial, c->start);
  fit.k = trial->how.k;
  fit.steps = (c->start.steps + PART - 1) / PART;
  fit.rate = is_rotated ? rotation_rate(c) / 2 : later_rate / 2;
  fit.learn_rotation = is_rotated;
  return gpnn_choice_descend(c, trial->candidate.sight, NULL, &fit, params, report, err);
}

/* If the rows kept for the score would have mattered to the fit of a trial, fits it to all rows:
 * again if they are few, or else for a little longer. */
static enum gpnn_status refit(struct gpnn_choice *c, struct gpnn_choose_trial *trial,
                              struct gpnn_error *err)
{
  enum { FEW = 6000 };
  struct gpnn_parameters params = {0}, before = *trial->params;
  struct gpnn_fit_report report = trial->fit;
  size_t rows = c->options->fit.rows;
  size_t all = rows < c->dataset->n ? rows : c->dataset->n;
  size_t used = gpnn_choice_rows_left(c, rows);
  if (used >= all - all / 5) return GPNN_OK;
  enum gpnn_status status = c->dataset->n < FEW ? repeat(c, trial, &params, &report, err)
                                                : settle(c, trial, &params, &report, err);
  if (status == GPNN_OK) {
    params.neighbours = before.neighbours;
    params.target = before.target;
    before.target = NULL;
    *trial->params = params;
    trial->fit = report;
    params = before;
  }
  gpnn_parameters_release(&params);
  return status == GPNN_ENUMERIC ? GPNN_OK : status;
}

static enum gpnn_status finish(struct gpnn_choice *c, const struct gpnn_dataset *const *targets,
                               bool is_sample, struct gpnn_error *err)
{
  (void)targets, (void)is_sample;
  enum gpnn_status status = gpnn_labels_stack(c, err);
  /* Further scores of the members do not change which is the first. */
  for (size_t i = 0; i < c->n_trials && status == GPNN_OK; i++)
    c->trials[i]->passed_over = c->trials[i] != c->stack.trial[0];
  for (size_t k = 0; k < c->stack.n && status == GPNN_OK; k++)
    if (c->n_counts > FIRST_COUNTS)
      status = gpnn_labels_score(c, c->stack.trial[k], c->n_counts, err);
  if (status == GPNN_OK) status = gpnn_labels_choose_neighbours(c, err);
  for (size_t k = 0; k < c->stack.n && status == GPNN_OK; k++)
    status = refit(c, c->stack.trial[k], err);
  return status;
}

const struct gpnn_choose_head gpnn_choose_labels = {.n_counts = N_COUNTS,
                                                    .n_first = FIRST_COUNTS,
                                                    .counts = counts,
                                                    .begin = begin,
                                                    .is_open = is_open,
                                                    .wide_rows = wide_rows,
                                                    .count_rows = count_rows,
                                                    .make_room = gpnn_labels_make_room,
                                                    .rate = rate,
                                                    .score = gpnn_labels_score,
                                                    .rival = gpnn_choice_of_other_kernel,
                                                    .runner_up = runner_up,
                                                    .race = race,
                                                    .most = most,
                                                    .finish = finish};
