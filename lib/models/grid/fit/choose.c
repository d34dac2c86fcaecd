#include "models/grid/fit/choose.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "models/grid/fit/fit_private.h"
#include "models/grid/fit/likelihood.h"

/* Samples and cells held out while candidates are compared, and at the end. */
static const struct {
  size_t blocks, cells, sites, evaluations, tasks;
} trial_size[] = {{2, 500, 50, 25, 100}, {3, 720, 60, 50, 400}, {3, 800, 80, 40, 300}},
  final_size[] = {{3, 720, 72, 40, 150}, {4, 1000, 100, 60, 1000}, {6, 1440, 120, 100, 500}};

/* What a candidate has to gain, in standard errors of the difference; and what it may lose in the
 * root mean square error, which a transform can spoil where it improves the densities. */
enum { TRIAL_PARTS = 3, FINAL_PARTS = 5, FINAL_ROUNDS = 2, BLOCKS_APART = 1000, MOST_EXACT = 600 };
static const double least_gain = 1, most_error = 1.05;

/* A kernel is left for one next to it in this order. */
static const char *const by_smoothness[] = {"exp", "matern32", "matern52", "rbf"};
enum { N_KERNELS = sizeof by_smoothness / sizeof by_smoothness[0] };

/* ---- trying a candidate ---------------------------------------------------------------------- */

/* Fits a trial, whose parameters have the values to start from. */
static enum gpnn_status fit_trial(struct gpnn_grid_choice *choice, struct gpnn_grid_trial *trial,
                                  size_t evaluations, bool complete, bool scans,
                                  struct gpnn_error *err)
{
  struct gpnn_grid_view view;
  struct gpnn_grid grid;
  struct gpnn_grid_fit_options options = {.evaluations = evaluations,
                                          .complete = complete,
                                          .scans = scans,
                                          .task_spread = trial->task_spread,
                                          .held = choice->held,
                                          .threads = choice->options->threads};
  enum gpnn_status status = gpnn_grid_choice_view(choice, trial, &grid, &view, err);
  if (status == GPNN_OK)
    status = gpnn_grid_fit(&trial->parameters, &view, &choice->blocks, &options, &trial->fit, err);
  gpnn_grid_view_release(&view);
  return status;
}

static enum gpnn_status score_trial(struct gpnn_grid_choice *choice, struct gpnn_grid_trial *trial,
                                    struct gpnn_error *err)
{
  struct gpnn_grid_view view;
  struct gpnn_grid grid;
  if (gpnn_grid_choice_has_tasks(choice))
    return gpnn_grid_choice_crossfit(choice, trial, choice->evaluations, err);
  gpnn_grid_score_release(&trial->score);
  enum gpnn_status status = gpnn_grid_choice_view(choice, trial, &grid, &view, err);
  if (status == GPNN_OK)
    status = gpnn_grid_score(&trial->score, choice->dataset, &view, 1, &trial->parameters,
                             &choice->tasks, choice->options->threads, err);
  gpnn_grid_view_release(&view);
  return status;
}

static void tell(struct gpnn_grid_choice *choice, const struct gpnn_grid_trial *trial)
{
  struct gpnn_grid_candidate candidate;
  gpnn_grid_trial_describe(trial, &candidate);
  choice->n_candidates++;
  if (choice->listener != NULL) choice->listener(choice->context, &candidate);
}

/* Scores 'trial', which takes the place of the best if it gains more than 'least' standard errors,
 * and releases the other. */
static enum gpnn_status compete(struct gpnn_grid_choice *choice, struct gpnn_grid_trial *trial,
                                double least, bool *is_better, struct gpnn_error *err)
{
  double error;
  enum gpnn_status status = score_trial(choice, trial, err);
  *is_better = false;
  if (status == GPNN_OK || status == GPNN_ENUMERIC) tell(choice, trial);
  if (status == GPNN_OK) {
    double gain = gpnn_grid_score_gain(&trial->score, &choice->best.score, &error);
    *is_better = gain > least * error && trial->score.rmse <= most_error * choice->best.score.rmse;
  }
  if (*is_better) {
    struct gpnn_grid_trial kept = choice->best;
    choice->best = *trial;
    *trial = kept;
  }
  gpnn_grid_trial_release(trial);
  return status == GPNN_ENUMERIC ? GPNN_OK : status;
}

/* Fits the candidate 'trial', unless its score does, and lets it compete.  One that cannot be
 * computed is none. */
static enum gpnn_status try_trial(struct gpnn_grid_choice *choice, struct gpnn_grid_trial *trial,
                                  bool *is_better, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_grid_choice_has_tasks(choice)
                                ? GPNN_OK
                                : fit_trial(choice, trial, choice->evaluations, false, false, err);
  *is_better = false;
  if (status == GPNN_OK) return compete(choice, trial, least_gain, is_better, err);
  gpnn_grid_trial_release(trial);
  return status == GPNN_ENUMERIC || status == GPNN_EDATA ? GPNN_OK : status;
}

/* ---- the candidates -------------------------------------------------------------------------- */

static enum gpnn_status try_inputs(struct gpnn_grid_choice *choice, size_t a,
                                   enum gpnn_factor_inputs inputs, struct gpnn_error *err)
{
  struct gpnn_grid_trial trial;
  bool is_better;
  enum gpnn_status status = gpnn_grid_trial_copy(&trial, &choice->best, err);
  if (status != GPNN_OK) return status;
  gpnn_grid_choice_set_inputs(choice, &trial, a, inputs);
  return try_trial(choice, &trial, &is_better, err);
}

static enum gpnn_status choose_inputs(struct gpnn_grid_choice *choice, struct gpnn_error *err)
{
  const struct gpnn_grid *grid = choice->dataset->grid;
  enum gpnn_status status = GPNN_OK;
  for (size_t a = grid->n_factors; a-- > 0 && status == GPNN_OK;) {
    if (choice->options->inputs[a] != GPNN_GRID_INPUTS_AUTO || choice->keeps_inputs[a] ||
        grid->factor[a].labels != NULL)
      continue;
    bool has_ranks = choice->best.parameters.grid.factor[a].inputs == GPNN_FACTOR_RANKS;
    if (a == 0)
      status = try_inputs(choice, a, has_ranks ? GPNN_FACTOR_RAW : GPNN_FACTOR_RANKS, err);
    else if (gpnn_grid_choice_has_logarithms(&grid->factor[a]))
      status = try_inputs(choice, a, GPNN_FACTOR_LOG, err);
  }
  return status;
}

/* Walks from kernel 'at' of factor 'a' in one direction as long as that helps. */
static enum gpnn_status walk(struct gpnn_grid_choice *choice, size_t a, size_t at, bool up,
                             bool *moved, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  bool is_better = true;
  *moved = false;
  while (is_better && (up ? at + 1 < N_KERNELS : at > 0)) {
    struct gpnn_grid_trial trial;
    at = up ? at + 1 : at - 1;
    status = gpnn_grid_trial_copy(&trial, &choice->best, err);
    if (status != GPNN_OK) return status;
    trial.parameters.grid.factor[a].term[0].kernel = gpnn_kernel_by_name(by_smoothness[at]);
    status = try_trial(choice, &trial, &is_better, err);
    if (status != GPNN_OK) return status;
    *moved = *moved || is_better;
  }
  return status;
}

/* The place of a factor's kernel in that order; N_KERNELS: it has none. */
static size_t place_of(const struct gpnn_factor *factor)
{
  size_t at = 0;
  if (factor->n_terms != 1 || factor->term[0].kernel == NULL) return N_KERNELS;
  while (at < N_KERNELS && factor->term[0].kernel != gpnn_kernel_by_name(by_smoothness[at])) at++;
  return at;
}

static enum gpnn_status choose_kernels(struct gpnn_grid_choice *choice, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t a = choice->dataset->grid->n_factors; a-- > 0 && status == GPNN_OK;) {
    bool moved;
    size_t at = place_of(&choice->best.parameters.grid.factor[a]);
    if (choice->options->kernel[a] != NULL || at == N_KERNELS) continue;
    status = walk(choice, a, at, false, &moved, err);
    if (status == GPNN_OK && !moved) status = walk(choice, a, at, true, &moved, err);
  }
  return status;
}

/* Walks from the first candidate's spread of tasks in one direction as long as that helps. */
static enum gpnn_status walk_spread(struct gpnn_grid_choice *choice, double step, bool *moved,
                                    struct gpnn_error *err)
{
  static const double least = 0.01, most = 3;
  enum gpnn_status status = GPNN_OK;
  bool is_better = true;
  *moved = false;
  while (is_better && status == GPNN_OK) {
    struct gpnn_grid_trial trial;
    double spread = choice->best.task_spread * step;
    if (spread < least || spread > most) return GPNN_OK;
    status = gpnn_grid_trial_copy(&trial, &choice->best, err);
    if (status != GPNN_OK) return status;
    trial.task_spread = spread;
    status = try_trial(choice, &trial, &is_better, err);
    *moved = *moved || is_better;
  }
  return status;
}

static enum gpnn_status choose_task_spread(struct gpnn_grid_choice *choice, struct gpnn_error *err)
{
  bool moved = true;
  enum gpnn_status status = GPNN_OK;
  if (gpnn_grid_choice_has_tasks(choice)) status = walk_spread(choice, 1 / 3., &moved, err);
  return status == GPNN_OK && !moved ? walk_spread(choice, 3, &moved, err) : status;
}

/* A nugget that is not needed becomes small; to do without one at all is tried with patience. */
static enum gpnn_status choose_nugget(struct gpnn_grid_choice *choice, struct gpnn_error *err)
{
  struct gpnn_grid_trial trial;
  bool is_better;
  if (choice->options->effort < GPNN_GRID_EFFORT_THOROUGH || !choice->options->chooses_nugget ||
      choice->best.parameters.grid.factor[0].n_terms == 0)
    return GPNN_OK;
  enum gpnn_status status = gpnn_grid_trial_copy(&trial, &choice->best, err);
  if (status != GPNN_OK) return status;
  trial.parameters.grid.factor[0].nugget = 0;
  return try_trial(choice, &trial, &is_better, err);
}

static enum gpnn_status choose_transform(struct gpnn_grid_choice *choice, struct gpnn_error *err)
{
  static const enum gpnn_transform_kind kinds[] = {GPNN_TRANSFORM_LOG, GPNN_TRANSFORM_ASINH,
                                                   GPNN_TRANSFORM_YEO_JOHNSON};
  enum gpnn_status status = GPNN_OK;
  bool is_better = false;
  for (size_t i = 0; choice->options->chooses_transform && i < 3 && status == GPNN_OK; i++) {
    struct gpnn_grid_trial trial;
    if (i > 0 && choice->options->effort < GPNN_GRID_EFFORT_THOROUGH) break;
    if (!gpnn_grid_choice_can_transform(choice, kinds[i])) continue;
    status = gpnn_grid_trial_copy(&trial, &choice->best, err);
    if (status != GPNN_OK) return status;
    trial.parameters.transform = (struct gpnn_transform){.kind = kinds[i]};
    status = try_trial(choice, &trial, &is_better, err);
  }
  return status;
}

/* A mean for each level of the last factor (a time), and under thorough effort of the first. */
static enum gpnn_status choose_mean(struct gpnn_grid_choice *choice, struct gpnn_error *err)
{
  size_t n = choice->dataset->grid->n_factors;
  enum gpnn_status status = GPNN_OK;
  bool is_better, tries_sites = choice->options->effort == GPNN_GRID_EFFORT_THOROUGH;
  for (size_t i = 0; choice->options->chooses_mean && i < 2 && status == GPNN_OK; i++) {
    struct gpnn_grid_trial trial;
    if (i == 1 && !tries_sites) break;
    status = gpnn_grid_trial_copy(&trial, &choice->best, err);
    if (status != GPNN_OK) return status;
    trial.parameters.grid.mean_factor = i == 0 ? n : 1;
    status = try_trial(choice, &trial, &is_better, err);
  }
  return status;
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* Draws what candidates are fitted to: in round 0 all of them, then the best one. */
static enum gpnn_status draw_blocks(struct gpnn_grid_choice *choice, size_t round,
                                    struct gpnn_error *err)
{
  struct gpnn_grid_view view = {0};
  size_t e = (size_t)choice->options->effort,
         n = round > 0 ? final_size[e].blocks : trial_size[e].blocks;
  struct gpnn_grid_sample_size size = {round > 0 ? final_size[e].cells : trial_size[e].cells,
                                       round > 0 ? final_size[e].sites : trial_size[e].sites};
  size_t enough = choice->dataset->grid->n_cells / size.cells + 1;
  if (gpnn_grid_choice_has_tasks(choice) && n > enough) n = enough; /* each is estimated often */
  gpnn_grid_samples_release(&choice->blocks);
  enum gpnn_status status =
      gpnn_grid_view_make(&view, choice->dataset->grid, &choice->best.parameters, err);
  if (status == GPNN_OK)
    status = gpnn_grid_samples_draw(&choice->blocks, n, &view, size, choice->options->seed,
                                    round * BLOCKS_APART, err);
  gpnn_grid_view_release(&view);
  return status;
}

/* Draws the cells that candidates are scored on, or others that the best is. */
static enum gpnn_status draw_tasks(struct gpnn_grid_choice *choice, bool is_final,
                                   struct gpnn_error *err)
{
  const struct gpnn_grid_choose_options *o = choice->options;
  struct gpnn_grid_view view = {0};
  size_t before = trial_size[o->effort].tasks, n = is_final ? final_size[o->effort].tasks : before;
  gpnn_grid_tasks_release(&choice->tasks);
  enum gpnn_status status =
      gpnn_grid_view_make(&view, choice->dataset->grid, &choice->best.parameters, err);
  if (status == GPNN_OK)
    status = gpnn_grid_tasks_draw(&choice->tasks, n, &view, o->holdout, o->seed,
                                  is_final ? before : 0, err);
  if (status == GPNN_OK && gpnn_grid_choice_has_tasks(choice))
    status = gpnn_grid_choice_part_tasks(choice, &view, err);
  gpnn_grid_view_release(&view);
  return status;
}

/* True if tasks may start elsewhere than at the first candidate. */
static bool has_open_tasks(const struct gpnn_grid_choice *choice)
{
  return gpnn_grid_choice_has_tasks(choice) && choice->options->start == NULL &&
         choice->options->n_settings == 0;
}

/* Scores the first candidate.  The likelihood of tasks has several maxima: the better of two places
 * to start from is taken. */
static enum gpnn_status score_first(struct gpnn_grid_choice *choice, struct gpnn_error *err)
{
  struct gpnn_grid_trial other;
  bool is_better;
  enum gpnn_status status = GPNN_OK;
  if (!gpnn_grid_choice_has_tasks(choice))
    status = fit_trial(choice, &choice->best, choice->evaluations, false, true, err);
  if (status == GPNN_OK) status = score_trial(choice, &choice->best, err);
  if (status != GPNN_OK) return status;
  tell(choice, &choice->best);
  if (!has_open_tasks(choice)) return GPNN_OK;
  status = gpnn_grid_trial_copy(&other, &choice->best, err);
  if (status != GPNN_OK) return status;
  status = gpnn_grid_choice_start_tasks(choice, &other, err);
  if (status == GPNN_OK) return try_trial(choice, &other, &is_better, err);
  gpnn_grid_trial_release(&other);
  return status == GPNN_ENUMERIC ? GPNN_OK : status;
}

static enum gpnn_status choose_all(struct gpnn_grid_choice *choice, struct gpnn_error *err)
{
  enum gpnn_status status = draw_blocks(choice, 0, err);
  if (status == GPNN_OK) status = draw_tasks(choice, false, err);
  choice->evaluations = trial_size[choice->options->effort].evaluations;
  choice->n_parts = TRIAL_PARTS;
  if (status == GPNN_OK) status = score_first(choice, err);
  if (status != GPNN_OK) return status;
  if (choice->options->effort == GPNN_GRID_EFFORT_FAST ||
      choice->best.score.n_distinct < GPNN_GRID_FEW_CELLS)
    return GPNN_OK;
  status = choose_task_spread(choice, err);
  if (status == GPNN_OK) status = choose_inputs(choice, err);
  if (status == GPNN_OK) status = choose_transform(choice, err);
  if (status == GPNN_OK) status = choose_mean(choice, err);
  if (status == GPNN_OK) status = choose_kernels(choice, err);
  if (status == GPNN_OK) status = choose_nugget(choice, err);
  return status;
}

/* Adds the coordinates of the process to 'sum'. */
static void add_coordinates(const struct gpnn_parameters *parameters, double *scratch, double *sum)
{
  size_t n = gpnn_grid_n_coordinates(parameters);
  gpnn_grid_get_coordinates(parameters, scratch);
  for (size_t i = 0; i < n; i++) sum[i] += scratch[i];
}

/* True if the likelihood of all cells is as easily computed as that of samples. */
static bool is_exact(const struct gpnn_grid_choice *choice)
{
  const struct gpnn_grid *grid = choice->dataset->grid;
  bool is_small = true;
  for (size_t a = 0; a < grid->n_factors; a++)
    is_small = is_small && grid->factor[a].n <= MOST_EXACT;
  return is_small && gpnn_grid_likelihood_is_complete(grid, &choice->best.parameters);
}

/* Estimates 'trial' from the samples of a round, and lets it compete; '*n' counts those that could
 * be, whose coordinates are added to 'sum'. */
static enum gpnn_status fit_again(struct gpnn_grid_choice *choice, struct gpnn_grid_trial *trial,
                                  size_t round, double *scratch, double *sum, size_t *n,
                                  struct gpnn_error *err)
{
  bool is_better;
  enum gpnn_status status = draw_blocks(choice, round, err);
  if (status == GPNN_OK)
    status = fit_trial(choice, trial, final_size[choice->options->effort].evaluations,
                       is_exact(choice), false, err);
  if (status == GPNN_OK) {
    add_coordinates(&trial->parameters, scratch, sum);
    ++*n;
    return compete(choice, trial, 0, &is_better, err);
  }
  gpnn_grid_trial_release(trial);
  return status == GPNN_ENUMERIC ? GPNN_OK : status;
}

/* Lets the mean of 'n' estimates compete. */
static enum gpnn_status average(struct gpnn_grid_choice *choice, size_t n, double *sum,
                                struct gpnn_error *err)
{
  struct gpnn_grid_trial trial;
  bool is_better;
  enum gpnn_status status = gpnn_grid_trial_copy(&trial, &choice->best, err);
  if (status != GPNN_OK) return status;
  size_t n_coordinates = gpnn_grid_n_coordinates(&trial.parameters);
  for (size_t i = 0; i < n_coordinates; i++) sum[i] /= (double)n;
  gpnn_grid_set_coordinates(&trial.parameters, sum);
  trial.fit = choice->best.fit;
  return compete(choice, &trial, 0, &is_better, err);
}

/* Scores the best candidate of tasks on cells that no choice has seen, and estimates it from all
 * cells of its samples, those included. */
static enum gpnn_status finish_tasks(struct gpnn_grid_choice *choice, struct gpnn_error *err)
{
  enum gpnn_status status = draw_blocks(choice, 1, err);
  choice->evaluations = final_size[choice->options->effort].evaluations;
  choice->n_parts = FINAL_PARTS;
  if (status == GPNN_OK) status = draw_tasks(choice, true, err);
  if (status == GPNN_OK) status = score_trial(choice, &choice->best, err);
  if (status != GPNN_OK) return status;
  tell(choice, &choice->best);
  return fit_trial(choice, &choice->best, choice->evaluations, is_exact(choice), true, err);
}

/* Estimates from several samples, and their mean, compete on cells that no choice has seen: one
 * sample alone may lead astray. */
static enum gpnn_status finish(struct gpnn_grid_choice *choice, struct gpnn_error *err)
{
  size_t n = gpnn_grid_n_coordinates(&choice->best.parameters), n_fits = 1;
  double *sum = gpnn_alloc(n, 2, sizeof *sum);
  struct gpnn_grid_trial start = {.score = {.n_cells = 0}};
  enum gpnn_status status = sum == NULL ? gpnn_fail_memory(err, "for parameters") : GPNN_OK;
  if (status == GPNN_OK) status = draw_tasks(choice, true, err);
  if (status == GPNN_OK) status = score_trial(choice, &choice->best, err);
  if (status == GPNN_OK) tell(choice, &choice->best); /* on other cells than before */
  if (status == GPNN_OK) status = gpnn_grid_trial_copy(&start, &choice->best, err);
  if (status == GPNN_OK) add_coordinates(&start.parameters, sum + n, sum);
  for (size_t round = 1; round <= FINAL_ROUNDS && status == GPNN_OK; round++) {
    struct gpnn_grid_trial trial;
    status = gpnn_grid_trial_copy(&trial, &start, err);
    if (status == GPNN_OK) status = fit_again(choice, &trial, round, sum + n, sum, &n_fits, err);
    size_t most = final_size[choice->options->effort].cells;
    if (is_exact(choice) || choice->dataset->grid->n_cells <= most) break;
  }
  if (status == GPNN_OK && n_fits > 2) status = average(choice, n_fits, sum, err);
  gpnn_grid_trial_release(&start);
  free(sum);
  return status;
}

/* Takes the steps on all cells. */
static enum gpnn_status polish(struct gpnn_grid_choice *choice, struct gpnn_grid_trial *trial,
                               struct gpnn_grid_adam_report *report, struct gpnn_error *err)
{
  struct gpnn_grid_adam_options options = choice->options->adam;
  struct gpnn_grid_view view;
  struct gpnn_grid grid;
  options.held = choice->held;
  enum gpnn_status status = gpnn_grid_choice_view(choice, trial, &grid, &view, err);
  if (status == GPNN_OK) status = gpnn_grid_adam(&trial->parameters, &view, &options, report, err);
  gpnn_grid_view_release(&view);
  return status;
}

/* The published method. */
static enum gpnn_status follow_paper(struct gpnn_grid_choice *choice,
                                     struct gpnn_grid_adam_report *report, struct gpnn_error *err)
{
  if (choice->options->start == NULL)
    gpnn_grid_adam_start(&choice->best.parameters, choice->options->seed);
  enum gpnn_status status = gpnn_grid_choice_set(choice, err);
  return status == GPNN_OK ? polish(choice, &choice->best, report, err) : status;
}

/* All that is not published. */
static enum gpnn_status choose(struct gpnn_grid_choice *choice,
                               struct gpnn_grid_adam_report *report, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_grid_choice_set(choice, err);
  if (status == GPNN_OK) status = choose_all(choice, err);
  if (status == GPNN_OK)
    status = gpnn_grid_choice_has_tasks(choice) ? finish_tasks(choice, err) : finish(choice, err);
  if (status != GPNN_OK || choice->options->adam.steps == 0) return status;
  struct gpnn_grid_trial trial;
  bool is_better;
  if (gpnn_grid_choice_has_tasks(choice)) return polish(choice, &choice->best, report, err);
  status = gpnn_grid_trial_copy(&trial, &choice->best, err);
  if (status != GPNN_OK) return status;
  trial.fit = choice->best.fit;
  status = polish(choice, &trial, report, err);
  if (status == GPNN_OK) return compete(choice, &trial, 0, &is_better, err);
  gpnn_grid_trial_release(&trial);
  return status;
}

/* What the factor is multiplied by, as predictions are made from all cells.  A site that is given
 * another one's holes keeps its own, and is poorer than either, so the factor of single cells
 * counts, too: by as much as cells held out are as well known as these.  It does not if a pattern
 * was asked for, or if estimates have seen the single cells and may know them too well, as those of
 * tasks.  'size' is that of the errors of cells held out.  Where the tails are so heavy that
 * squares of these have no variance, hardly any error tells of the ratio. */
static double ratio_of(const struct gpnn_grid_choice *choice, const struct gpnn_grid_law *law,
                       double size, const struct gpnn_grid_comparison *found)
{
  const double least_degrees = 4;
  const struct gpnn_grid_score *score = &choice->best.score;
  bool is_open = choice->options->holdout == GPNN_GRID_HOLDOUT_AUTO;
  if (law->degrees > 0 && law->degrees <= least_degrees) return 1;
  if (!is_open || gpnn_grid_choice_has_tasks(choice) || !(found->nearby > 0) || !(size > 0))
    return found->ratio;
  double weight = fmin(1, found->variance / gpnn_grid_score_variance(score));
  return found->ratio * pow(found->nearby / size, weight);
}

/* Chooses how errors are distributed, and reports. */
static enum gpnn_status conclude(struct gpnn_grid_choice *choice,
                                 struct gpnn_grid_choose_report *report, struct gpnn_error *err)
{
  struct gpnn_grid_law law;
  struct gpnn_grid_comparison found;
  double size;
  gpnn_grid_trial_describe(&choice->best, &report->chosen);
  report->n_candidates = choice->n_candidates;
  report->n_held_out = choice->best.score.n_cells;
  report->fit = choice->best.fit;
  if (report->n_held_out == 0) return GPNN_OK;
  enum gpnn_status status = gpnn_grid_choice_law(choice, &law, err);
  if (status == GPNN_OK) status = gpnn_grid_choice_compare_all(choice, &law, &found, err);
  if (status == GPNN_OK) status = gpnn_grid_score_size(&choice->best.score, &law, &size, err);
  if (status != GPNN_OK) return status;
  double ratio = ratio_of(choice, &law, size, &found);
  law.factor *= ratio;
  law.factor_error *= ratio;
  report->chosen.degrees = law.degrees;
  report->chosen.nll -= law.gain;
  /* Estimates from all cells are better than those that were scored. */
  if (gpnn_grid_choice_has_tasks(choice)) law.factor_error = 0;
  report->chosen.factor = law.factor + law.factor_error;
  return gpnn_grid_choice_calibrate(choice, &law, err);
}

enum gpnn_status gpnn_grid_choose(const struct gpnn_dataset *dataset,
                                  const struct gpnn_grid_choose_options *options,
                                  gpnn_grid_choose_listener *listener, void *context,
                                  struct gpnn_parameters *params,
                                  struct gpnn_grid_choose_report *report, struct gpnn_error *err)
{
  struct gpnn_grid_choice choice = {
      .dataset = dataset, .options = options, .listener = listener, .context = context};
  enum gpnn_status status = gpnn_grid_choice_start(&choice, err);
  *report = (struct gpnn_grid_choose_report){.n_candidates = 0};
  if (status == GPNN_OK)
    status = options->published ? follow_paper(&choice, &report->adam, err)
                                : choose(&choice, &report->adam, err);
  if (status == GPNN_OK) status = conclude(&choice, report, err);
  if (status == GPNN_OK) {
    *params = choice.best.parameters;
    choice.best.parameters = (struct gpnn_parameters){0};
  }
  gpnn_grid_choice_release(&choice);
  return status;
}
