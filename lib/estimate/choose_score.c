/*
 * Scores of candidates on training rows that no fit has seen.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "estimate/choose_private.h"
#include "likelihood/head.h"
#include "models/heldout.h"
#include "models/model.h"

static const size_t neighbour_counts[GPNN_CHOOSE_COUNTS] = {16, 32, 64, 128, 256, 400};

void gpnn_choose_trial_release(struct gpnn_choose_trial *trial)
{
  gpnn_parameters_free(trial->params, trial->n_targets);
  free(trial->loss);
  *trial = (struct gpnn_choose_trial){0};
}

/* ---- validation rows ---------------------------------------------------------------------- */

void gpnn_choice_release(struct gpnn_choice *c)
{
  for (size_t i = 0; i < c->n_trials; i++) gpnn_choose_trial_release(&c->trials[i]);
  free(c->trials);
  free(c->x);
  free(c->y);
  free(c->noise);
  free(c->regressors);
  free(c->self);
  free(c->mean);
  free(c->latent);
  free(c->misfit);
  free(c->before);
  free(c->whitening);
}

static bool choice_alloc(struct gpnn_choice *c, size_t n)
{
  c->n = c->n_drawn = n;
  c->x = gpnn_alloc(n, c->dataset->d, sizeof *c->x);
  c->y = gpnn_alloc(n, 1, sizeof *c->y);
  c->noise = gpnn_alloc(n, 1, sizeof *c->noise);
  c->regressors = gpnn_alloc(n, c->dataset->n_regressors, sizeof *c->regressors);
  c->self = gpnn_alloc(n, 1, sizeof *c->self);
  c->mean = gpnn_alloc(GPNN_CHOOSE_COUNTS, n, sizeof *c->mean);
  c->latent = gpnn_alloc(GPNN_CHOOSE_COUNTS, n, sizeof *c->latent);
  c->misfit = gpnn_alloc(GPNN_CHOOSE_COUNTS, n, sizeof *c->misfit);
  c->before = gpnn_alloc(n, 1, sizeof *c->before);
  return c->x && c->y && c->noise && c->regressors && c->self && c->mean && c->latent &&
         c->misfit && c->before;
}

static void copy_row(struct gpnn_choice *c, size_t i, uint64_t row)
{
  const struct gpnn_dataset *dataset = c->dataset;
  size_t d = dataset->d, p = dataset->n_regressors;
  memcpy(c->x + i * d, dataset->x + row * d, d * sizeof *c->x);
  if (p > 0)
    memcpy(c->regressors + i * p, dataset->regressors + row * p, p * sizeof *c->regressors);
  c->self[i] = (int64_t)row;
}

size_t gpnn_choice_rows_left(const struct gpnn_choice *c, size_t wanted)
{
  size_t left = c->dataset->n - c->n_kept;
  return wanted < left ? wanted : left;
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
 * A fit takes the first rows of a random order of all rows, so those at its end are new to it; up
 * to a third of the rows is withheld from fits by neighbourhoods.  If blocks take more than the
 * rest, or so few rows are withheld that chance would decide, rows of the fit are used as well:
 * left out of their own prediction, they still show which candidate predicts better.
 */
enum gpnn_status gpnn_choice_draw_rows(struct gpnn_choice *c, struct gpnn_error *err)
{
  enum { FEWEST = 32 };
  const struct gpnn_dataset *dataset = c->dataset;
  size_t n = (dataset->n + 2) / 3 < GPNN_CHOOSE_ROWS ? (dataset->n + 2) / 3 : GPNN_CHOOSE_ROWS;
  if (c->options->like != NULL && n > c->options->like->n) n = c->options->like->n;
  if (c->options->like != NULL && n > GPNN_CHOOSE_LAST_ROWS) n = GPNN_CHOOSE_LAST_ROWS;
  size_t fitted = rows_of_fit(c->options);
  c->n_kept = n;
  if (fitted > dataset->n - n) fitted = dataset->n - n;
  if (n < FEWEST && c->options->like == NULL) n = dataset->n < FEWEST ? dataset->n : FEWEST;
  size_t n_drawn = fitted + c->n_kept < n ? n : fitted + c->n_kept;
  uint64_t *drawn = gpnn_alloc(n_drawn, 1, sizeof *drawn);
  enum gpnn_status status = GPNN_OK;
  if (drawn == NULL || !choice_alloc(c, n)) status = gpnn_fail_memory(err, "for a choice");
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, c->options->fit.seed, GPNN_RNG_ESTIMATE);
  if (status == GPNN_OK) status = gpnn_rng_sample(&rng, dataset->n, n_drawn, drawn, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) copy_row(c, i, drawn[n_drawn - n + i]);
  free(drawn);
  return status;
}

/* Takes all numbers below the number of rows, and the next larger one. */
void gpnn_choice_set_counts(struct gpnn_choice *c)
{
  const struct gpnn_choose_options *options = c->options;
  if (!options->neighbours) {
    c->counts[c->n_counts++] = options->fit.neighbours;
    return;
  }
  while (c->n_counts < GPNN_CHOOSE_COUNTS) {
    c->counts[c->n_counts] = neighbour_counts[c->n_counts];
    if (c->counts[c->n_counts++] >= c->dataset->n) break;
  }
}

/* ---- scores ------------------------------------------------------------------------------- */

/*
 * Adds to 'loss' the negative log densities of a target under calibrated variances, divided by the
 * number of targets; 'mean' and 'latent' are those of the latent function.  Returns false if one is
 * not finite.  The calibration factor for a row comes from all other rows, since a row would excuse
 * its own error.  See gpnn-methods(7), equations 5.1 and 5.2.
 */
static bool add_losses(const struct gpnn_choice *c, const struct gpnn_head *head,
                       const double *mean, const double *latent, double *loss)
{
  double sum = 0, others = (double)c->n - 1, after = 0;
  for (size_t i = 0; i < c->n; i++) {
    const struct gpnn_latent_row row = {.mean = mean[i], .variance = latent[i]};
    c->before[i] = sum;
    sum += pow(c->y[i] - mean[i], 2) / gpnn_head_observe(head, &row, c->noise[i]).variance;
  }
  for (size_t i = c->n; i-- > 0;) {
    const struct gpnn_latent_row row = {.mean = mean[i], .variance = latent[i]};
    double error = c->y[i] - mean[i];
    double variance = gpnn_head_observe(head, &row, c->noise[i]).variance;
    double alpha = c->n == 1 ? 1 : (c->before[i] + after) / others;
    after += error * error / variance;
    loss[i] += gpnn_head_nll(head, error, alpha * variance) / (double)c->n_targets;
    if (!isfinite(loss[i])) return false;
  }
  return true;
}

double gpnn_choice_mean_difference(size_t n, const double *a, const double *b,
                                   double *standard_error)
{
  double mean = 0, squares = 0;
  for (size_t i = 0; i < n; i++) mean += (a[i] - (b == NULL ? 0 : b[i])) / (double)n;
  for (size_t i = 0; i < n; i++) squares += pow(a[i] - (b == NULL ? 0 : b[i]) - mean, 2);
  *standard_error = n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : 0;
  return mean;
}

static double mean_square(const struct gpnn_choice *c, const double *mean)
{
  double sum = 0;
  for (size_t i = 0; i < c->n; i++) sum += (c->y[i] - mean[i]) * (c->y[i] - mean[i]);
  return sum / (double)c->n;
}

/* Totals of the targets' predictions with each number of neighbours. */
struct tally {
  double square[GPNN_CHOOSE_COUNTS]; /* mean over targets and rows of the squared error */
  bool failed[GPNN_CHOOSE_COUNTS];   /* a loss is not finite */
};

/* The numbers of neighbours that a trial is scored with. */
static const size_t *counts_of(const struct gpnn_choice *c, const struct gpnn_choose_trial *trial)
{
  return trial->candidate.exact ? &c->dataset->n : c->counts;
}

/* Predicts the target of 'model' and adds its errors to the tally and to 'loss'. */
static enum gpnn_status add_target(struct gpnn_choice *c, const struct gpnn_model *model,
                                   size_t n_counts, const size_t *numbers, struct tally *tally,
                                   double *loss, struct gpnn_error *err)
{
  const struct gpnn_channel *channel = gpnn_model_channel(model, 0);
  const struct gpnn_head head = gpnn_head_of(channel->parameters);
  struct gpnn_counts counts = {0};
  struct gpnn_heldout heldout = {0};
  bool is_scaled = channel->parameters->likelihood != GPNN_LIKELIHOOD_GAUSSIAN;
  const struct gpnn_latent latent = {
      .mean = c->mean, .variance = c->latent, .misfit = is_scaled ? c->misfit : NULL};
  enum gpnn_status status = gpnn_choice_load(c, model, &heldout, err);
  if (status == GPNN_OK)
    status =
        gpnn_model_predict_each(model, &heldout.query, n_counts, numbers, &latent, &counts, err);
  gpnn_heldout_release(&heldout);
  for (size_t k = 0; k < n_counts && status == GPNN_OK; k++) {
    size_t at = k * c->n;
    bool good = is_scaled ? gpnn_choice_add_scaled_losses(c, channel->parameters, at, loss + at)
                          : add_losses(c, &head, c->mean + at, c->latent + at, loss + at);
    if (!good) tally->failed[k] = true;
    tally->square[k] += mean_square(c, c->mean + at) / (double)c->n_targets;
  }
  return status;
}

static enum gpnn_status predict(struct gpnn_choice *c, struct gpnn_choose_trial *trial,
                                size_t n_counts, struct tally *tally, struct gpnn_error *err)
{
  const size_t *numbers = counts_of(c, trial);
  const struct gpnn_model_options options = {.neighbours = numbers[n_counts - 1],
                                             .threads = c->options->fit.threads};
  struct gpnn_channel channel = {c->targets[0], &trial->params[0]};
  struct gpnn_model *first = NULL;
  for (size_t i = 0; i < n_counts * c->n; i++) trial->loss[i] = 0;
  enum gpnn_status status = gpnn_model_new(&first, 1, &channel, &options, err);
  if (status == GPNN_OK) status = add_target(c, first, n_counts, numbers, tally, trial->loss, err);
  for (size_t t = 1; t < c->n_targets && status == GPNN_OK; t++) { /* all share a metric */
    struct gpnn_model *model = NULL;
    channel = (struct gpnn_channel){c->targets[t], &trial->params[t]};
    status = gpnn_model_with(first, &channel, &model, err);
    if (status == GPNN_OK)
      status = add_target(c, model, n_counts, numbers, tally, trial->loss, err);
    gpnn_model_free(model);
  }
  gpnn_model_free(first);
  return status;
}

/* The scale of a row makes up for much of what a poor mean does to the NLL.  So where rows have
 * one, candidates whose NLL is hardly worse than the lowest are compared by what their means do as
 * well: by the sum of the NLL and the logarithm of the error, the NLL of a distribution with one
 * scale. */
static double merit(double nll, double rmse)
{
  return nll + log(rmse);
}

static bool is_hardly_worse(double worse, double standard_error)
{
  static const double little = 0.1, standard_errors = 2;
  return worse <= fmax(little, standard_errors * standard_error);
}

/* True if number 'k' of neighbours, which is hardly worse than the lowest, should replace 'best'.
 * In gaps, rows held out say little about numbers, and more of them do no harm. */
static bool is_better_count(const struct gpnn_choice *c, const struct gpnn_choose_trial *trial,
                            size_t k, size_t best)
{
  static const double about = 1.01;
  const double *nll = trial->nll, *rmse = trial->rmse;
  if (c->options->like != NULL) return k > best && rmse[k] <= about * rmse[best];
  return merit(nll[k], rmse[k]) < merit(nll[best], rmse[best]);
}

/* The best number of neighbours of a trial: that of the lowest NLL or, with a scale, of the best
 * merit. */
static size_t best_count(const struct gpnn_choice *c, const struct gpnn_choose_trial *trial,
                         size_t n_counts)
{
  const double *nll = trial->nll;
  size_t lowest = 0;
  for (size_t k = 1; k < n_counts; k++)
    if (isnan(nll[lowest]) || nll[k] < nll[lowest]) lowest = k;
  size_t best = lowest;
  if (c->options->likelihood == GPNN_LIKELIHOOD_GAUSSIAN) return best;
  for (size_t k = 0; k < n_counts; k++) {
    double standard_error;
    double worse = gpnn_choice_mean_difference(c->n, trial->loss + k * c->n,
                                               trial->loss + lowest * c->n, &standard_error);
    if (!isnan(nll[k]) && is_hardly_worse(worse, standard_error) &&
        is_better_count(c, trial, k, best))
      best = k;
  }
  return best;
}

enum gpnn_status gpnn_choice_score(struct gpnn_choice *c, struct gpnn_choose_trial *trial,
                                   size_t n_counts, struct gpnn_error *err)
{
  struct gpnn_candidate *candidate = &trial->candidate;
  struct tally tally = {{0}, {0}};
  double standard_error[GPNN_CHOOSE_COUNTS];
  const size_t *numbers = counts_of(c, trial);
  if (candidate->exact) n_counts = 1;
  candidate->nll = candidate->standard_error = NAN;
  candidate->neighbours = numbers[0];
  enum gpnn_status status = predict(c, trial, n_counts, &tally, err);
  for (size_t k = 0; k < n_counts && status == GPNN_OK; k++) {
    trial->nll[k] = NAN;
    trial->rmse[k] = sqrt(tally.square[k]);
    if (!tally.failed[k])
      trial->nll[k] =
          gpnn_choice_mean_difference(c->n, trial->loss + k * c->n, NULL, &standard_error[k]);
  }
  if (status == GPNN_OK) {
    size_t best = trial->best = best_count(c, trial, n_counts);
    candidate->neighbours = numbers[best];
    candidate->nll = trial->nll[best];
    candidate->standard_error = isnan(candidate->nll) ? NAN : standard_error[best];
    candidate->rmse = trial->rmse[best];
  }
  if (status == GPNN_OK && isnan(candidate->nll))
    status = gpnn_fail(err, GPNN_ENUMERIC, "a score is not finite");
  if (c->listener != NULL) c->listener(c->context, candidate);
  return status;
}

/* ---- the best ------------------------------------------------------------------------------- */

enum gpnn_status gpnn_choice_keep(struct gpnn_choice *c, struct gpnn_choose_trial *trial,
                                  struct gpnn_error *err)
{
  if (!gpnn_grow(&c->trials, &c->capacity, c->n_trials + 1, sizeof *c->trials))
    return gpnn_fail_memory(err, "for a choice");
  c->trials[c->n_trials++] = *trial;
  *trial = (struct gpnn_choose_trial){0};
  return GPNN_OK;
}

/* True if 'a' is better than 'best', where 'lowest' has the lowest NLL: if its NLL is no worse than
 * chance explains and its means have a smaller error or, with a scale, if it is hardly worse and
 * has more merit. */
static bool is_better(const struct gpnn_choice *c, const struct gpnn_choose_trial *a,
                      const struct gpnn_choose_trial *best, const struct gpnn_choose_trial *lowest)
{
  double standard_error, worse = a->candidate.nll - lowest->candidate.nll;
  (void)gpnn_choice_mean_difference(c->n, a->loss + a->best * c->n,
                                    lowest->loss + lowest->best * c->n, &standard_error);
  if (c->options->likelihood == GPNN_LIKELIHOOD_GAUSSIAN)
    return worse <= standard_error && a->candidate.rmse < best->candidate.rmse;
  return is_hardly_worse(worse, standard_error) &&
         merit(a->candidate.nll, a->candidate.rmse) <
             merit(best->candidate.nll, best->candidate.rmse);
}

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

/* The best of all trials but those left out; NULL: none is left. */
static struct gpnn_choose_trial *best_without(const struct gpnn_choice *c, is_left_out *left_out,
                                              const struct gpnn_choose_trial *without)
{
  struct gpnn_choose_trial *lowest = NULL, *best;
  for (size_t i = 0; i < c->n_trials; i++) {
    struct gpnn_choose_trial *t = &c->trials[i];
    if (!t->passed_over && !left_out(t, without) &&
        (lowest == NULL || t->candidate.nll < lowest->candidate.nll))
      lowest = t;
  }
  best = lowest;
  for (size_t i = 0; i < c->n_trials; i++) {
    struct gpnn_choose_trial *t = &c->trials[i];
    if (!t->passed_over && !left_out(t, without) && is_better(c, t, best, lowest)) best = t;
  }
  return best;
}

struct gpnn_choose_trial *gpnn_choice_best(const struct gpnn_choice *c)
{
  return best_without(c, is_itself, NULL);
}

struct gpnn_choose_trial *gpnn_choice_second(const struct gpnn_choice *c)
{
  return c->n_trials < 2 ? NULL : best_without(c, is_itself, gpnn_choice_best(c));
}

struct gpnn_choose_trial *gpnn_choice_otherwise_rotated(const struct gpnn_choice *c)
{
  return c->n_trials == 0 ? NULL : best_without(c, sees_inputs_alike, gpnn_choice_best(c));
}

/* ---- the best two at more neighbours -------------------------------------------------------- */

/* Few neighbours suffice to compare candidates on rows among the training rows, but not on rows in
 * gaps. */
size_t gpnn_choice_first_counts(const struct gpnn_choice *c)
{
  return c->options->like != NULL || c->n_counts < GPNN_CHOOSE_FIRST_COUNTS
             ? c->n_counts
             : GPNN_CHOOSE_FIRST_COUNTS;
}

/* Scores a trial with all numbers of neighbours on the first GPNN_CHOOSE_LAST_ROWS rows, and adds
 * the gain of the further numbers to its score on all rows, which is more certain. */
static enum gpnn_status score_all(struct gpnn_choice *c, struct gpnn_choose_trial *trial,
                                  struct gpnn_error *err)
{
  struct gpnn_candidate first = trial->candidate, *candidate = &trial->candidate;
  double lowest = INFINITY;
  if (candidate->exact) return GPNN_OK; /* has a single number */
  enum gpnn_status status = gpnn_choice_score(c, trial, c->n_counts, err);
  if (status != GPNN_OK) return status;
  for (size_t k = 0; k < GPNN_CHOOSE_FIRST_COUNTS; k++) lowest = fmin(lowest, trial->nll[k]);
  candidate->nll = first.nll + (candidate->nll - lowest);
  candidate->standard_error = first.standard_error;
  candidate->rmse = first.rmse;
  return GPNN_OK;
}

/* Passes over all trials except the best two. */
static void keep_two(struct gpnn_choice *c)
{
  struct gpnn_choose_trial *best = gpnn_choice_best(c), *second = gpnn_choice_second(c);
  for (size_t i = 0; i < c->n_trials; i++)
    c->trials[i].passed_over = &c->trials[i] != best && &c->trials[i] != second;
}

enum gpnn_status gpnn_choice_compare_best(struct gpnn_choice *c, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (c->n_counts == gpnn_choice_first_counts(c)) return GPNN_OK;
  keep_two(c);
  if (c->n > GPNN_CHOOSE_LAST_ROWS) c->n = GPNN_CHOOSE_LAST_ROWS;
  for (size_t i = 0; i < c->n_trials && status == GPNN_OK; i++)
    if (!c->trials[i].passed_over) status = score_all(c, &c->trials[i], err);
  return status;
}

void gpnn_choice_choose_neighbours(struct gpnn_choice *c)
{
  struct gpnn_choose_trial *trial = gpnn_choice_best(c);
  struct gpnn_candidate *fewest = &c->report->fewest;
  /* The most to give up for speed, however uncertain the scores, of the NLL and of the error. */
  const double most = 0.01, most_error = 0.005;
  bool is_scaled = c->options->likelihood != GPNN_LIKELIHOOD_GAUSSIAN;
  size_t best = trial->best, i = c->options->like == NULL ? 0 : best;
  for (; i < best; i++) {
    double standard_error, *loss = trial->loss;
    if (isnan(trial->nll[i])) continue;
    if (is_scaled && trial->rmse[i] > (1 + most_error) * trial->rmse[best]) continue;
    double worse =
        gpnn_choice_mean_difference(c->n, loss + i * c->n, loss + best * c->n, &standard_error);
    if (worse <= fmin(standard_error, most)) break;
  }
  *fewest = trial->candidate;
  fewest->neighbours = counts_of(c, trial)[i];
  fewest->nll += trial->nll[i] - trial->nll[best];
  for (size_t t = 0; t < c->n_targets; t++) trial->params[t].neighbours = fewest->neighbours;
}
