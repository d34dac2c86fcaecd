/* The candidates for targets that are numbers, and what becomes of the best. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "estimate/choose_private.h"

static const size_t counts[] = {16, 32, 64, 128, 256, 400};
enum { N_COUNTS = sizeof counts / sizeof *counts, FIRST_COUNTS = 3 };

/* ---- what is open --------------------------------------------------------------------------- */

static bool both_are_open(const struct gpnn_choice *c)
{
  return c->tries_isotropic && c->options->kernel;
}

static bool isotropic_is_open_alone(const struct gpnn_choice *c)
{
  return c->tries_isotropic && !c->options->kernel;
}

static bool rotation_is_open(const struct gpnn_choice *c)
{
  return c->tries_rotations;
}

static bool rotated_kernel_is_open(const struct gpnn_choice *c)
{
  return c->tries_rotations && c->options->kernel;
}

/* Lengthscales for which there are so few rows learn most of what new rows bear out in a short
 * descent, and from then on the rows. */
static bool has_few_rows(const struct gpnn_choice *c)
{
  enum { EACH = 4 };
  return gpnn_choice_may_be_sparse(c) && c->dataset->n / EACH < c->dataset->n_groups;
}

/* The first descents were shorter than they may be. */
static bool goes_on(const struct gpnn_choice *c)
{
  return c->early_steps < c->start.steps;
}

static bool others_are_open(const struct gpnn_choice *c)
{
  return is_thorough(c) && c->options->kernel;
}

static bool whitening_is_open(const struct gpnn_choice *c)
{
  return is_thorough(c) && c->whitening != NULL;
}

static bool rotation_is_open_anew(const struct gpnn_choice *c)
{
  return is_thorough(c) && c->tries_rotations;
}

static bool rotated_scores_are_open(const struct gpnn_choice *c)
{
  return rotation_is_open_anew(c) && gpnn_choice_has_scores(c);
}

static bool k_is_open_beyond(const struct gpnn_choice *c, size_t rows)
{
  return c->options->k && c->dataset->n > rows;
}

static bool k_is_open_beyond_32(const struct gpnn_choice *c)
{
  return k_is_open_beyond(c, 32);
}

static bool k_is_open_beyond_64(const struct gpnn_choice *c)
{
  return k_is_open_beyond(c, 64);
}

static bool k_is_open_beyond_128(const struct gpnn_choice *c)
{
  return k_is_open_beyond(c, 128);
}

/* ---- what the scores suggest ---------------------------------------------------------------- */

static bool best_is_not_plain(const struct gpnn_choice *c)
{
  return gpnn_choice_best(c) != NULL && !gpnn_choice_is_plain(c);
}

/* The best of a table is not rotated where none of its candidates is. */
static bool best_here_is_plain(const struct gpnn_choice *c)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best_here(c);
  return best != NULL && best->candidate.sight == GPNN_SIGHT_VALUE;
}

/* A single lengthscale cannot be rotated. */
static bool best_has_ard(const struct gpnn_choice *c)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  return best != NULL && best->candidate.ard;
}

/* The fewest rows for each number of a rotation.  The exact likelihood of few rows, which cannot
 * learn one, is better than a rotation of which they tell little. */
static size_t rows_to_rotate(size_t n)
{
  enum { OF_MANY = 2 };
  return n <= GPNN_CHOOSE_EXACT ? GPNN_CHOOSE_ROTATION_ROWS : OF_MANY;
}

/* The same of all that the best sees. */
static bool best_may_rotate(const struct gpnn_choice *c)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  if (!best_has_ard(c)) return false;
  size_t n = c->dataset->n, seen = best->params->covariance.n_lengthscales;
  return n / rows_to_rotate(n) >= seen * seen;
}

/* Values and scores of inputs need lengthscales of their own, which rows can tell. */
static bool has_rows_for_both(const struct gpnn_choice *c)
{
  size_t most = 2 * c->dataset->n_groups;
  return most <= 2 * GPNN_CHOOSE_ARD && c->dataset->n / GPNN_CHOOSE_ARD_ROWS >= most;
}

static bool may_see_both(const struct gpnn_choice *c)
{
  return gpnn_choice_is_plain(c) && best_has_ard(c) && has_rows_for_both(c);
}

static bool may_see_both_here(const struct gpnn_choice *c)
{
  return best_here_is_plain(c) && has_rows_for_both(c);
}

/* The same of values and scores together. */
static bool both_may_rotate(const struct gpnn_choice *c)
{
  size_t n = c->dataset->n, seen = 2 * c->dataset->n_groups;
  return has_rows_for_both(c) && n / rows_to_rotate(n) >= seen * seen;
}

static bool best_is_rotated(const struct gpnn_choice *c)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  return best != NULL && best->candidate.rotate == GPNN_ROTATE_LEARN;
}

/* The first descents do for what rotations would have improved, but did not. */
static bool may_go_on(const struct gpnn_choice *c)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  if (best == NULL || (best->candidate.ard && has_few_rows(c))) return false;
  return !c->tries_rotations || best_is_rotated(c);
}

/* Few inputs, or much the same lengthscale for all. */
static bool may_be_isotropic(const struct gpnn_choice *c)
{
  enum { FEW = 3 };
  const double most = 4;
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  if (best == NULL) return false;
  const struct gpnn_covariance *covariance = &best->params->covariance;
  double least = INFINITY, greatest = 0;
  for (size_t j = 0; j < covariance->n_lengthscales; j++) {
    least = fmin(least, covariance->lengthscale[j]);
    greatest = fmax(greatest, covariance->lengthscale[j]);
  }
  return covariance->n_lengthscales <= FEW || greatest <= most * least;
}

static bool last_is_whitened(const struct gpnn_choice *c)
{
  return c->n_trials > 0 && c->trials[c->n_trials - 1]->candidate.rotate == GPNN_ROTATE_WHITEN;
}

static bool last_is_whitened_and_near(const struct gpnn_choice *c)
{
  static const double near = 0.1; /* of the score */
  return last_is_whitened(c) &&
         c->trials[c->n_trials - 1]->candidate.score < gpnn_choice_best(c)->candidate.score + near;
}

static bool best_is_exact(const struct gpnn_choice *c)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  return best != NULL && best->candidate.exact;
}

static bool best_sees_scores(const struct gpnn_choice *c)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c);
  return best != NULL && best->candidate.sight != GPNN_SIGHT_VALUE &&
         best->candidate.rotate == GPNN_ROTATE_NONE;
}

/* ---- tables of candidates ------------------------------------------------------------------- */

/*
 * Kernels from medium roughness outwards: scores have a single peak along roughness, so that a
 * smoother kernel is tried only if the smoothest so far is the best.  The first three start anew:
 * averages gain most from errors that differ.  Where all inputs have one lengthscale, the best goes
 * on with one for each.  Scores of the inputs and more neighbours in the objective go on from the
 * best.  Then a single lengthscale, which needs fewer steps, and
 * rotations: whitened inputs get few steps unless they come near the best; learnt directions bring
 * rows nearer to their neighbours, where a rougher kernel may fit better.  In the end the best goes
 * on.
 */
static const struct gpnn_choose_row normal[] = {
    {kernel_is_given, .is_early = true},
    {kernel_is_open, .kernel = "matern32", .is_early = true},
    {kernel_is_open, .kernel = "exp", .is_early = true},
    {kernel_is_open, .kernel = "matern52", .after = "matern32", .is_early = true},
    {kernel_is_open, .from = GPNN_FROM_BEST, .kernel = "rbf", .after = "matern52", .is_early = true,
     .part = 2},
    {gpnn_choice_may_be_sparse, has_best, GPNN_FROM_BEST, .ard = true, .is_early = true, .part = 8},
    {gpnn_choice_has_scores, may_see_both, GPNN_FROM_BEST, .sight = GPNN_SIGHT_BOTH,
     .is_early = true, .part = 2},
    {gpnn_choice_has_scores, gpnn_choice_is_plain, GPNN_FROM_BEST, .sight = GPNN_SIGHT_SCORE,
     .is_early = true, .part = 2},
    {k_is_open_beyond_32, has_best, GPNN_FROM_BEST, .k = 64, .is_early = true, .part = 2},
    {k_is_open_beyond_64, has_best, GPNN_FROM_BEST, .k = 128, .is_early = true, .part = 2},
    {k_is_open_beyond_128, has_best, GPNN_FROM_BEST, .k = 256, .is_early = true, .part = 2},
    {isotropic_is_open, may_be_isotropic, .isotropic = true, .part = 4},
    {rotation_is_open, has_best, .turn = GPNN_TURN_WHITEN, .part = 8},
    {rotation_is_open, last_is_whitened_and_near, GPNN_FROM_LAST, GPNN_TURN_HOLD, .part = 2},
    {rotation_is_open, best_may_rotate, GPNN_FROM_BEST, .turn = GPNN_TURN_LEARN, .part = 4},
    {rotated_kernel_is_open, best_is_rotated, GPNN_FROM_BEST, GPNN_TURN_LEARN, .rougher = 1,
     .part = 4},
    {goes_on, may_go_on, GPNN_FROM_BEST, GPNN_TURN_RETAIN, .part = 2},
};

/* Other kernels under the metric of the best, whatever the scores of the first descents, the inputs
 * as they are, and rotations learnt from elsewhere: members of a stack are the better the more
 * their errors differ.  Then the best goes on at greater expense. */
static const struct gpnn_choose_row harder[] = {
    {others_are_open, .from = GPNN_FROM_LEADER, .turn = GPNN_TURN_RETAIN, .kernel = "exp",
     .times_rows = 4},
    {others_are_open, .from = GPNN_FROM_LEADER, .turn = GPNN_TURN_RETAIN, .kernel = "matern32",
     .times_rows = 4},
    {others_are_open, .from = GPNN_FROM_LEADER, .turn = GPNN_TURN_RETAIN, .kernel = "matern52",
     .times_rows = 4},
    {others_are_open, .from = GPNN_FROM_LEADER, .turn = GPNN_TURN_RETAIN, .kernel = "rbf",
     .times_rows = 4},
    {whitening_is_open, has_best, .turn = GPNN_TURN_WHITEN, .part = 2},
    {whitening_is_open, last_is_whitened, GPNN_FROM_LAST, GPNN_TURN_LEARN, .times_rows = 4},
    {is_thorough, .is_worthwhile = best_is_not_plain},
    {rotation_is_open_anew, has_best, .turn = GPNN_TURN_LEARN, .times_rows = 4},
    {rotated_scores_are_open, both_may_rotate, .turn = GPNN_TURN_LEARN, .sight = GPNN_SIGHT_BOTH,
     .times_rows = 4},
    {rotated_scores_are_open, has_best, .turn = GPNN_TURN_LEARN, .sight = GPNN_SIGHT_SCORE,
     .times_rows = 4},
    {is_thorough, .from = GPNN_FROM_BEST, .turn = GPNN_TURN_RETAIN, .times_k = 2, .times_rows = 4},
};

/* By the block objective alone. */
static const struct gpnn_choose_row fast[] = {
    {.is_open = kernel_is_given},
    {kernel_is_open, .kernel = "matern32"},
    {kernel_is_open, .kernel = "exp"},
    {kernel_is_open, .kernel = "matern52"},
    {kernel_is_open, .kernel = "rbf"},
    {isotropic_is_open_alone, .isotropic = true},
    {both_are_open, .kernel = "matern32", .isotropic = true},
    {both_are_open, .kernel = "exp", .isotropic = true},
    {both_are_open, .kernel = "matern52", .isotropic = true},
    {both_are_open, .kernel = "rbf", .isotropic = true},
};

/* For small datasets: fitted by the exact marginal likelihood of all rows together, one block, and
 * predicting from all rows. */
static const struct gpnn_choose_row exact[] = {
    {.is_open = kernel_is_given},
    {kernel_is_open, .from = GPNN_FROM_LAST, .kernel = "matern32"},
    {kernel_is_open, .from = GPNN_FROM_LAST, .kernel = "exp"},
    {kernel_is_open, .from = GPNN_FROM_BEST_HERE, .kernel = "matern52"},
    {kernel_is_open, best_is_exact, GPNN_FROM_LAST, .kernel = "rbf", .after = "matern52"},
    {gpnn_choice_has_scores, may_see_both_here, GPNN_FROM_BEST_HERE, .sight = GPNN_SIGHT_BOTH},
    {gpnn_choice_has_scores, best_here_is_plain, GPNN_FROM_BEST_HERE, .sight = GPNN_SIGHT_SCORE},
};

/* The same with the other kernels where the best sees scores, as these have been tried with the
 * best kernel alone: averages gain from errors that differ. */
static const struct gpnn_choose_row exact_others[] = {
    {kernel_is_open, best_sees_scores, GPNN_FROM_LEADER, .kernel = "matern32"},
    {kernel_is_open, best_sees_scores, GPNN_FROM_LEADER, .kernel = "exp"},
    {kernel_is_open, best_sees_scores, GPNN_FROM_LEADER, .kernel = "matern52"},
    {others_are_open, best_sees_scores, GPNN_FROM_LEADER, .kernel = "rbf"},
};

/* Where few of many inputs matter.  The exact likelihood of few rows has many maxima, of which
 * neighbourhoods come near a good one. */
static const struct gpnn_choose_row sparse[] = {
    {gpnn_choice_may_be_sparse, has_best, .ard = true, .is_early = true, .part = 4},
};
static const struct gpnn_choose_row exact_sparse[] = {
    {gpnn_choice_may_be_sparse, best_has_ard, .from = GPNN_FROM_BEST},
    {gpnn_choice_may_be_sparse, best_has_ard, GPNN_FROM_BEST, .rougher = 1},
    {gpnn_choice_may_be_sparse, best_has_ard, GPNN_FROM_BEST, .rougher = -1},
};

/* In the larger sample, where nearer rows may favour a smoother kernel. */
static const struct gpnn_choose_row smoother[] = {
    {kernel_is_open, has_best, GPNN_FROM_BEST, .rougher = -1, .part = 2},
};

enum {
  N_NORMAL = sizeof normal / sizeof *normal,
  N_HARDER = sizeof harder / sizeof *harder,
  N_FAST = sizeof fast / sizeof *fast,
  N_EXACT = sizeof exact / sizeof *exact,
  N_EXACT_OTHERS = sizeof exact_others / sizeof *exact_others,
  N_SPARSE = sizeof sparse / sizeof *sparse,
  N_EXACT_SPARSE = sizeof exact_sparse / sizeof *exact_sparse,
  N_SMOOTHER = sizeof smoother / sizeof *smoother,
};

/* ---- what all candidates have in common ----------------------------------------------------- */

/* True if rotations may be tried. */
static bool can_rotate(const struct gpnn_choice *c)
{
  const struct gpnn_choose_options *options = c->options;
  const struct gpnn_dataset *dataset = c->dataset;
  size_t d = dataset->d;
  return options->rotation && options->effort != GPNN_EFFORT_FAST && d > 1 &&
         d <= GPNN_CHOOSE_ROTATION && dataset->n / rows_to_rotate(dataset->n) >= d * d &&
         dataset->n_groups == d && options->fit.mean != GPNN_MEAN_LINEAR && options->fit.ard &&
         options->objective;
}

/* With a single group, ARD has one lengthscale anyway. */
static bool can_be_isotropic(const struct gpnn_choice *c)
{
  size_t n_groups = c->dataset->n_groups;
  return c->options->ard && !c->start.learn_rotation && n_groups > 1 &&
         n_groups <= GPNN_CHOOSE_ARD && c->dataset->n / GPNN_CHOOSE_ARD_ROWS >= n_groups;
}

static enum gpnn_objective_kind objective_of(const struct gpnn_choose_options *options)
{
  if (!options->objective) return options->fit.first;
  return options->effort == GPNN_EFFORT_FAST ? GPNN_OBJECTIVE_BLOCK : GPNN_OBJECTIVE_LOO;
}

static void begin(struct gpnn_choice *c)
{
  enum { FEWEST_K = 32 };
  const struct gpnn_choose_options *options = c->options;
  struct gpnn_fit_options *start = &c->start;
  *start = options->fit;
  if (!options->rotation) start->learn_rotation = options->rotate == GPNN_ROTATE_LEARN;
  start->first = objective_of(options);
  c->rotate = start->learn_rotation     ? GPNN_ROTATE_LEARN
              : start->rotation == NULL ? GPNN_ROTATE_NONE
                                        : GPNN_ROTATE_WHITEN;
  c->tries_rotations = can_rotate(c);
  c->tries_isotropic = can_be_isotropic(c);
  start->ard = c->tries_isotropic || (options->ard ? start->learn_rotation : start->ard);
  c->compares_all = options->like != NULL && !options->k;
  c->early_steps = (start->steps + 1) / 2; /* the best goes on in the end */
  c->early_k = options->k ? FEWEST_K : start->k;
}

/* True if anything other than a rotation is to be chosen. */
static bool has_choice(const struct gpnn_choose_options *options)
{
  return options->kernel || options->ard || options->neighbours || options->k;
}

static bool is_open(const struct gpnn_choice *c)
{
  return has_choice(c->options) || c->tries_rotations;
}

/* Rows in the larger sample.  A single fit by blocks needs no sample: it uses few rows anyway. */
static size_t wide_rows(const struct gpnn_choice *c)
{
  const struct gpnn_choose_options *options = c->options;
  bool by_blocks = objective_of(options) == GPNN_OBJECTIVE_BLOCK;
  return by_blocks && !has_choice(options) && !options->rotation ? 0 : options->last_sample_rows;
}

/* How many rows a fit takes from the front of the random order. */
static size_t rows_of_fit(const struct gpnn_choose_options *options)
{
  const struct gpnn_fit_options *fit = &options->fit;
  size_t blocks = 0, pool = fit->rows;
  if (!gpnn_multiply(fit->n_blocks, fit->block_size, &blocks)) return SIZE_MAX;
  if (options->effort == GPNN_EFFORT_THOROUGH && !gpnn_multiply(pool, 4, &pool)) return SIZE_MAX;
  return blocks > pool ? blocks : pool;
}

/*
 * Up to a third of the rows is withheld from fits by neighbourhoods.  If blocks take more than the
 * rest, or so few rows are withheld that chance would decide, rows of the fit are used as well:
 * left out of their own prediction, they still show which candidate predicts better.
 */
static size_t count_rows(struct gpnn_choice *c)
{
  enum { FEWEST = 32 };
  size_t all = c->dataset->n, fitted = rows_of_fit(c->options);
  size_t most = c->dataset->d > GPNN_CHOOSE_MANY_INPUTS ? GPNN_CHOOSE_ROWS / 2 : GPNN_CHOOSE_ROWS;
  size_t n = (all + 2) / 3 < most ? (all + 2) / 3 : most;
  const struct gpnn_query *like = c->options->like;
  if (like != NULL && n > like->n) n = like->n;
  if (like != NULL && n > GPNN_CHOOSE_LAST_ROWS) n = GPNN_CHOOSE_LAST_ROWS;
  c->n_kept = n;
  if (fitted > all - n) fitted = all - n;
  if (n < FEWEST && like == NULL) n = all < FEWEST ? all : FEWEST;
  c->n = n;
  return fitted + c->n_kept < n ? n : fitted + c->n_kept;
}

/* ---- the race ------------------------------------------------------------------------------- */

/* True if a factor of all rows is affordable: one, or, as rows that are left out take others with
 * them, one for each of these, of which only distinct rows are left out where others are copies. */
static bool is_small(const struct gpnn_choice *c)
{
  bool may_be_more = is_thorough(c) || gpnn_dataset_has_copies(c->whole);
  size_t grouped = may_be_more ? GPNN_CHOOSE_EXACT_COPIES : GPNN_CHOOSE_EXACT_GROUPS;
  return c->whole->n <= (c->whole->n_row_groups > 0 ? grouped : GPNN_CHOOSE_EXACT);
}

/* True if exact candidates are affordable, and the options leave their objective, their number of
 * neighbours and the inputs as they are open. */
static bool exact_is_open(const struct gpnn_choice *c)
{
  const struct gpnn_choose_options *options = c->options;
  return options->likelihood != GPNN_LIKELIHOOD_GAUSSIAN && options->effort != GPNN_EFFORT_FAST &&
         options->objective && options->neighbours && options->like == NULL &&
         (options->rotation || options->rotate == GPNN_ROTATE_NONE) &&
         options->fit.optimizer != GPNN_OPTIMIZER_ADAM && options->fit.thin < 0 && is_small(c) &&
         gpnn_choice_affords(c, c->whole->n, 1);
}

/* Lets candidates of a table race that are fitted to all 'n' rows together. */
static enum gpnn_status race_of_all(struct gpnn_choice *c, size_t n, size_t n_rows,
                                    const struct gpnn_choose_row *rows, struct gpnn_error *err)
{
  const struct gpnn_fit_options start = c->start;
  c->start.first = GPNN_OBJECTIVE_BLOCK;
  c->start.second = GPNN_OBJECTIVE_NONE;
  c->start.n_blocks = 1;
  c->start.block_size = n;
  c->start.neighbours = c->dataset->n;
  enum gpnn_status status = gpnn_choice_race(c, n_rows, rows, err);
  c->start = start;
  return status;
}

/* 'is_alone': no other candidates are tried. */
static enum gpnn_status race_exact(struct gpnn_choice *c, bool is_alone, struct gpnn_error *err)
{
  size_t n = gpnn_choice_rows_left(c, c->dataset->n);
  if (!exact_is_open(c) || n < 2) return GPNN_OK; /* one row has no likelihood to maximise */
  enum gpnn_status status = race_of_all(c, n, N_EXACT, exact, err);
  if (status == GPNN_OK) status = race_of_all(c, n, N_EXACT_OTHERS, exact_others, err);
  if (status == GPNN_OK && is_alone) status = gpnn_choice_race(c, N_SPARSE, sparse, err);
  return status == GPNN_OK ? race_of_all(c, n, N_EXACT_SPARSE, exact_sparse, err) : status;
}

static enum gpnn_status race(struct gpnn_choice *c, struct gpnn_error *err)
{
  bool is_fast = c->options->effort == GPNN_EFFORT_FAST;
  /* The exact likelihood cannot learn a rotation, where there are enough rows for one.  Otherwise
   * it stands alone, as few rows leave more candidates to chance, unless it is one more of those
   * that copies and groups have with less effort or fewer rows. */
  bool is_more = is_thorough(c) || c->whole->n > GPNN_CHOOSE_EXACT_GROUPS;
  bool together = c->tries_rotations || (is_more && c->whole->n_row_groups > 0);
  enum gpnn_status status = together ? GPNN_OK : race_exact(c, true, err);
  if (status == GPNN_OK && c->n_trials == 0) {
    status = is_fast ? gpnn_choice_race(c, N_FAST, fast, err)
                     : gpnn_choice_race(c, N_NORMAL, normal, err);
    if (status == GPNN_OK) status = gpnn_choice_race(c, N_HARDER, harder, err);
  }
  return status == GPNN_OK && together ? race_exact(c, false, err) : status;
}

static size_t most(const struct gpnn_choice *c, bool is_sampled)
{
  enum { COMPARED = 2, WIDENED = 2 };
  size_t n = c->options->neighbours ? COMPARED + gpnn_choice_may_be_sparse(c) : 0;
  if (is_sampled) n += WIDENED + N_SMOOTHER;
  if (c->options->effort == GPNN_EFFORT_FAST) return n + gpnn_choice_count_open(c, N_FAST, fast);
  if (exact_is_open(c))
    n += gpnn_choice_count_open(c, N_EXACT, exact) + gpnn_choice_count_open(c, N_SPARSE, sparse) +
         gpnn_choice_count_open(c, N_EXACT_OTHERS, exact_others);
  return n + gpnn_choice_count_open(c, N_NORMAL, normal) +
         gpnn_choice_count_open(c, N_HARDER, harder);
}

/* ---- all rows ------------------------------------------------------------------------------- */

/* Continues a trial unchanged for 'steps' more steps. */
static struct gpnn_choose_plan continue_trial(const struct gpnn_choice *c,
                                              const struct gpnn_choose_trial *trial, size_t steps)
{
  const struct gpnn_candidate *candidate = &trial->candidate;
  struct gpnn_fit_options fit = gpnn_choice_go_on(trial, c->start);
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
  return (struct gpnn_choose_plan){
      .fit = fit, .rotate = candidate->rotate, .sight = candidate->sight};
}

/* If the rows kept for the score would have mattered to the fit of a trial, continues it on all
 * rows. */
static enum gpnn_status refit(struct gpnn_choice *c, struct gpnn_choose_trial *best,
                              struct gpnn_error *err)
{
  const struct gpnn_choose_options *given = c->options;
  struct gpnn_choose_trial trial = {.candidate.sight = best->candidate.sight};
  struct gpnn_fit_options fit = continue_trial(c, best, (given->fit.steps + 3) / 4).fit;
  bool by_blocks = best->candidate.objective == GPNN_OBJECTIVE_BLOCK;
  if (!best->candidate.exact && (by_blocks || gpnn_choice_rows_left(c, fit.rows) == fit.rows))
    return GPNN_OK;
  if (is_thorough(c)) fit.rows = c->dataset->n;
  if (best->candidate.ard && has_few_rows(c)) { /* as before, and no farther */
    fit.start = NULL;
    fit.n_starts = 0;
    fit.steps = best->how.steps;
  }
  enum gpnn_status status = gpnn_choice_fit(c, NULL, &fit, &trial, err);
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

/* Decides between the best two candidates, chooses the number of neighbours, and stacks others upon
 * the best. */
static enum gpnn_status decide(struct gpnn_choice *c, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_numbers_compare_best(c, err);
  if (status == GPNN_OK && c->options->neighbours) gpnn_numbers_choose_neighbours(c);
  return status == GPNN_OK ? gpnn_numbers_stack(c, err) : status;
}

/* ---- the larger sample ---------------------------------------------------------------------- */

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
  struct gpnn_choose_plan plan = continue_trial(c, other, steps);
  plan.fit.refresh = steps;
  return gpnn_choice_try(wider, &plan, err);
}

/*
 * Continues the best candidate on a larger sample, where rows are nearer to one another, and scores
 * it and chooses its number of neighbours there.  If it cannot be fitted there, it stays as it is.
 */
static enum gpnn_status widen(struct gpnn_choice *c, const struct gpnn_dataset *const *targets,
                              struct gpnn_error *err)
{
  struct gpnn_choice wider = {.head = c->head,
                              .n_targets = c->n_targets,
                              .whole = c->whole,
                              .options = c->options,
                              .listener = c->listener,
                              .context = c->context,
                              .report = c->report};
  size_t steps = (c->options->fit.steps + 3) / 4;
  struct gpnn_choose_plan plan = continue_trial(c, gpnn_choice_best(c), steps);
  plan.fit.refresh = steps;
  enum gpnn_status status = gpnn_choice_use_rows(&wider, targets, err);
  if (status == GPNN_OK) status = gpnn_choice_draw_rows(&wider, err);
  if (status == GPNN_OK) status = gpnn_choice_try(&wider, &plan, err);
  if (status == GPNN_OK) status = widen_other(c, &wider, steps, err);
  wider.start = plan.fit;
  wider.start.steps = wider.start.refresh = c->options->fit.steps;
  bool fitted = wider.n_trials > 0;
  if (status == GPNN_OK && fitted) status = gpnn_choice_race(&wider, N_SMOOTHER, smoother, err);
  if (status == GPNN_OK) status = decide(fitted ? &wider : c, err);
  if (status == GPNN_OK && fitted) swap(c, &wider);
  gpnn_choice_release(&wider);
  return status == GPNN_OK ? gpnn_numbers_estimate_scales(c, err) : status;
}

static enum gpnn_status finish(struct gpnn_choice *c, const struct gpnn_dataset *const *targets,
                               bool is_sample, struct gpnn_error *err)
{
  if (is_sample && gpnn_choice_best(c)->candidate.objective != GPNN_OBJECTIVE_BLOCK)
    return widen(c, targets, err);
  enum gpnn_status status = decide(c, err);
  if (status == GPNN_OK) status = gpnn_numbers_estimate_scales(c, err);
  if (status == GPNN_OK) status = refit(c, gpnn_choice_best(c), err);
  for (size_t k = 1; k < c->stack.n && status == GPNN_OK; k++)
    status = refit(c, c->stack.trial[k], err);
  return status;
}

const struct gpnn_choose_head gpnn_choose_numbers = {.of_numbers = true,
                                                     .n_counts = N_COUNTS,
                                                     .n_first = FIRST_COUNTS,
                                                     .counts = counts,
                                                     .begin = begin,
                                                     .is_open = is_open,
                                                     .wide_rows = wide_rows,
                                                     .count_rows = count_rows,
                                                     .make_room = gpnn_numbers_make_room,
                                                     .score = gpnn_numbers_score,
                                                     .is_better = gpnn_numbers_is_better,
                                                     .rival = gpnn_choice_second,
                                                     .runner_up = gpnn_choice_second,
                                                     .race = race,
                                                     .most = most,
                                                     .finish = finish};
