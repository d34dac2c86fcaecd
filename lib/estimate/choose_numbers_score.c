/*
 * Scores of candidates for numbers on training rows that no fit has seen, under likelihoods whose
 * scale is estimated on these rows too.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/choose_private.h"
#include "likelihood/head.h"
#include "likelihood/scale.h"
#include "linalg/arrays.h"
#include "models/heldout.h"
#include "models/mixture.h"
#include "stats/scores/difference.h"

/* ---- rows --------------------------------------------------------------------------------- */

enum gpnn_status gpnn_numbers_make_room(struct gpnn_choice *c, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = c->dataset;
  size_t n = c->n, p = dataset->n_regressors;
  c->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(c->y, n, 1), GPNN_ARRAY(c->noise, n, 1), GPNN_ARRAY(c->regressors, n, p),
      GPNN_ARRAY(c->mean, GPNN_CHOOSE_LISTS, n), GPNN_ARRAY(c->latent, GPNN_CHOOSE_LISTS, n),
      GPNN_ARRAY(c->misfit, GPNN_CHOOSE_LISTS, n), GPNN_ARRAY(c->loss, n, 1),
      GPNN_ARRAY(c->crps, n, 1), GPNN_ARRAY(c->unit, c->n_targets, 1));
  if (c->arrays == NULL) return gpnn_fail_memory(err, "for a choice");
  for (size_t i = 0; i < n && p > 0; i++)
    memcpy(c->regressors + i * p, dataset->regressors + (size_t)c->self[i] * p,
           p * sizeof *c->regressors);
  return GPNN_OK;
}

/* Loads the validation rows' values of a target. */
static void load_target(struct gpnn_choice *c, const struct gpnn_dataset *target)
{
  for (size_t i = 0; i < c->n; i++) c->y[i] = target->y[c->self[i]];
  for (size_t i = 0; i < c->n && target->noise != NULL; i++)
    c->noise[i] = target->noise[c->self[i]];
}

/* Replaces the validation rows by held-out rows that resemble options->like, under the metric of
 * 'model'.  Like those, they have what they lack filled in. */
static enum gpnn_status load_like(struct gpnn_choice *c, const struct gpnn_model *model,
                                  struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  const struct gpnn_holdout_options options = {.how = GPNN_HOLDOUT_LIKE,
                                               .n_rows = c->n,
                                               .like = c->options->like,
                                               .seed = c->options->fit.seed};
  enum gpnn_status status = gpnn_model_hold_out(model, &options, heldout, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_dataset *dataset = gpnn_model_channel(model, 0)->dataset;
  for (size_t i = 0; i < c->n; i++)
    memcpy(heldout->own.x + i * dataset->d, dataset->x + (size_t)heldout->own.self[i] * dataset->d,
           dataset->d * sizeof *dataset->x);
  memcpy(c->y, heldout->y, c->n * sizeof *c->y);
  if (heldout->noise != NULL) memcpy(c->noise, heldout->noise, c->n * sizeof *c->noise);
  return GPNN_OK;
}

/* True if the rows that load() loads bring their candidates. */
static bool brings(const struct gpnn_choice *c, const struct gpnn_parameters *params, size_t m)
{
  return c->options->like == NULL && gpnn_choice_brings_near(c, params, m);
}

/* Loads the validation rows' values of the target of 'model' into 'c', and their inputs into
 * 'heldout', which must be zeroed and is released by the caller even after a failure, for
 * predictions from up to 'm' neighbours.  Rows that resemble options->like depend on the metric of
 * 'model'. */
static enum gpnn_status load(struct gpnn_choice *c, const struct gpnn_model *model, size_t m,
                             struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  load_target(c, gpnn_model_channel(model, 0)->dataset);
  heldout->query =
      (struct gpnn_query){.n = c->n, .x = c->x, .regressors = c->regressors, .self = c->self};
  if (c->options->like != NULL) return load_like(c, model, heldout, err);
  return gpnn_choice_bring_near(c, gpnn_model_channel(model, 0)->parameters, m, &heldout->query,
                                err);
}

/* ---- scores ------------------------------------------------------------------------------- */

/* The predictions of a target that start at 'at'. */
static struct gpnn_scale_rows rows_at(const struct gpnn_choice *c,
                                      const struct gpnn_parameters *params, size_t at)
{
  return (struct gpnn_scale_rows){.n = c->n,
                                  .y = c->y,
                                  .mean = c->mean + at,
                                  .variance = c->latent + at,
                                  .misfit = c->misfit + at,
                                  .known_noise = c->noise,
                                  .noise = gpnn_parameters_noise(params)};
}

enum gpnn_status gpnn_numbers_scaled_losses(const struct gpnn_scale_rows *rows,
                                            enum gpnn_likelihood likelihood, bool all_features,
                                            double *loss, double *crps, struct gpnn_error *err)
{
  enum { FOLDS = 2, MANY_FOLDS = 5, FEW_ROWS = 200, ROWS_OF_A_LAW = 1000 };
  size_t folds = rows->n < FEW_ROWS ? MANY_FOLDS : FOLDS;
  return gpnn_scale_cross_losses(rows, likelihood, all_features, folds, ROWS_OF_A_LAW, loss, crps,
                                 err);
}

/* Adds to 'loss' the scores of target 't', divided by the number of targets, under the scaled
 * likelihood of 'params', which for each row is estimated from others: its negative log density
 * plus its CRPS in the target's unit, which the first candidate sets.  Adds the means of the two to
 * '*nll' and '*crps'.  The predictions start at entry 'at' of the scratch.  Returns false if one is
 * not finite. */
static bool add_scaled_losses(struct gpnn_choice *c, size_t t, const struct gpnn_parameters *params,
                              size_t at, double *loss, double *nll, double *crps)
{
  struct gpnn_error err;
  const struct gpnn_scale_rows rows = rows_at(c, params, at);
  if (gpnn_numbers_scaled_losses(&rows, params->likelihood, false, c->loss, c->crps, &err) !=
      GPNN_OK)
    return false;
  double of_target = 0;
  for (size_t i = 0; i < c->n; i++) of_target += c->crps[i] / (double)c->n;
  if (c->unit[t] == 0 && isfinite(of_target)) c->unit[t] = fmax(of_target, DBL_MIN);
  for (size_t i = 0; i < c->n; i++) {
    loss[i] += (c->loss[i] + c->crps[i] / c->unit[t]) / (double)c->n_targets;
    *nll += c->loss[i] / (double)(c->n * c->n_targets);
    if (!isfinite(loss[i])) return false;
  }
  *crps += of_target / (double)c->n_targets;
  return true;
}

/*
 * Adds to 'loss' the negative log densities of a target under calibrated variances, divided by the
 * number of targets; 'mean' and 'latent' are those of the latent function.  Returns false if one is
 * not finite.  The calibration factor for a row comes from all other rows, since a row would excuse
 * its own error.  See gpnn-methods(7), equations 5.1 and 5.2.
 */
static bool add_losses(const struct gpnn_choice *c, const struct gpnn_head *head,
                       const double *mean, const double *latent, double *loss, double *nll)
{
  double sum = 0, others = (double)c->n - 1, after = 0;
  for (size_t i = 0; i < c->n; i++) {
    const struct gpnn_latent_row row = {.mean = mean[i], .variance = latent[i]};
    c->loss[i] = sum;
    sum += pow(c->y[i] - mean[i], 2) / gpnn_head_observe(head, &row, c->noise[i]).variance;
  }
  for (size_t i = c->n; i-- > 0;) {
    const struct gpnn_latent_row row = {.mean = mean[i], .variance = latent[i]};
    double error = c->y[i] - mean[i];
    double variance = gpnn_head_observe(head, &row, c->noise[i]).variance;
    double alpha = c->n == 1 ? 1 : (c->loss[i] + after) / others;
    after += error * error / variance;
    double of_row = gpnn_head_nll(head, error, alpha * variance);
    loss[i] += of_row / (double)c->n_targets;
    *nll += of_row / (double)(c->n * c->n_targets);
    if (!isfinite(loss[i])) return false;
  }
  return true;
}

static double mean_square(const struct gpnn_choice *c, const double *mean)
{
  double sum = 0;
  for (size_t i = 0; i < c->n; i++) sum += (c->y[i] - mean[i]) * (c->y[i] - mean[i]);
  return sum / (double)c->n;
}

/* Totals of the targets' predictions with each number of neighbours. */
struct tally {
  /* means over targets and rows of the squared error, the NLL and the CRPS */
  double square[GPNN_CHOOSE_COUNTS], nll[GPNN_CHOOSE_COUNTS], crps[GPNN_CHOOSE_COUNTS];
  bool failed[GPNN_CHOOSE_COUNTS]; /* a loss is not finite */
};

/* The numbers of neighbours that a trial is scored with. */
static const size_t *counts_of(const struct gpnn_choice *c, const struct gpnn_choose_trial *trial)
{
  return trial->candidate.exact ? &c->dataset->n : c->counts;
}

/* Predicts target 't' by 'model' and adds its errors to the tally and to 'loss'. */
static enum gpnn_status add_target(struct gpnn_choice *c, size_t t, const struct gpnn_model *model,
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
  enum gpnn_status status = load(c, model, numbers[n_counts - 1], &heldout, err);
  if (status == GPNN_OK)
    status =
        gpnn_model_predict_each(model, &heldout.query, n_counts, numbers, &latent, &counts, err);
  gpnn_heldout_release(&heldout);
  for (size_t k = 0; k < n_counts && status == GPNN_OK; k++) {
    size_t at = k * c->n;
    double *nll = &tally->nll[k];
    bool good = is_scaled ? add_scaled_losses(c, t, channel->parameters, at, loss + at, nll,
                                              &tally->crps[k])
                          : add_losses(c, &head, c->mean + at, c->latent + at, loss + at, nll);
    if (!good) tally->failed[k] = true;
    tally->square[k] += mean_square(c, c->mean + at) / (double)c->n_targets;
  }
  return status;
}

static enum gpnn_status predict(struct gpnn_choice *c, struct gpnn_choose_trial *trial,
                                size_t n_counts, struct tally *tally, struct gpnn_error *err)
{
  const size_t *numbers = counts_of(c, trial);
  size_t most = numbers[n_counts - 1];
  const struct gpnn_model_options options = {.neighbours = most,
                                             .threads = c->options->fit.threads,
                                             .brings = brings(c, &trial->params[0], most)};
  struct gpnn_channel channel = {c->targets[0], &trial->params[0]};
  struct gpnn_model *first = NULL;
  for (size_t i = 0; i < n_counts * c->n; i++) trial->loss[i] = 0;
  enum gpnn_status status = gpnn_model_new(&first, 1, &channel, &options, err);
  if (status == GPNN_OK)
    status = add_target(c, 0, first, n_counts, numbers, tally, trial->loss, err);
  for (size_t t = 1; t < c->n_targets && status == GPNN_OK; t++) { /* all share a metric */
    struct gpnn_model *model = NULL;
    channel = (struct gpnn_channel){c->targets[t], &trial->params[t]};
    status = gpnn_model_with(first, &channel, &model, err);
    if (status == GPNN_OK)
      status = add_target(c, t, model, n_counts, numbers, tally, trial->loss, err);
    gpnn_model_free(model);
  }
  gpnn_model_free(first);
  return status;
}

/* True if chance explains by how much one score is above another. */
static bool is_hardly_worse(double worse, double standard_error)
{
  static const double standard_errors = 2;
  return worse <= standard_errors * standard_error;
}

/* The best number of neighbours of a trial, that of the lowest score.  In gaps rows held out say
 * little about numbers, and more neighbours do no harm. */
static size_t best_count(const struct gpnn_choice *c, const struct gpnn_choose_trial *trial,
                         size_t n_counts)
{
  static const double about = 1.01;
  const double *score = trial->score, *rmse = trial->rmse;
  size_t lowest = 0;
  for (size_t k = 1; k < n_counts; k++)
    if (isnan(score[lowest]) || score[k] < score[lowest]) lowest = k;
  size_t best = lowest;
  for (size_t k = best + 1; k < n_counts && c->options->like != NULL; k++) {
    double standard_error;
    double worse = gpnn_mean_difference(c->n, trial->loss + k * c->n, trial->loss + lowest * c->n,
                                        &standard_error);
    if (is_hardly_worse(worse, standard_error) && rmse[k] <= about * rmse[best]) best = k;
  }
  return best;
}

enum gpnn_status gpnn_numbers_score(struct gpnn_choice *c, struct gpnn_choose_trial *trial,
                                    size_t n_counts, struct gpnn_error *err)
{
  struct gpnn_candidate *candidate = &trial->candidate;
  struct tally tally = {.failed = {0}};
  double standard_error[GPNN_CHOOSE_COUNTS];
  const size_t *numbers = counts_of(c, trial);
  if (candidate->exact) n_counts = 1;
  candidate->score = candidate->nll = candidate->standard_error = NAN;
  candidate->neighbours = numbers[0];
  enum gpnn_status status = gpnn_choice_see(c, trial->candidate.sight, err);
  if (status == GPNN_OK) status = predict(c, trial, n_counts, &tally, err);
  for (size_t k = 0; k < n_counts && status == GPNN_OK; k++) {
    trial->score[k] = NAN;
    trial->nll[k] = tally.nll[k];
    trial->crps[k] = tally.crps[k] > 0 ? tally.crps[k] : NAN;
    trial->rmse[k] = sqrt(tally.square[k]);
    if (!tally.failed[k])
      trial->score[k] =
          gpnn_mean_difference(c->n, trial->loss + k * c->n, NULL, &standard_error[k]);
  }
  if (status == GPNN_OK) {
    size_t best = trial->best = best_count(c, trial, n_counts);
    candidate->neighbours = numbers[best];
    candidate->score = trial->score[best];
    candidate->nll = trial->nll[best];
    candidate->crps = trial->crps[best];
    candidate->standard_error = isnan(candidate->score) ? NAN : standard_error[best];
    candidate->rmse = trial->rmse[best];
  }
  if (status == GPNN_OK && isnan(candidate->score))
    status = gpnn_fail(err, GPNN_ENUMERIC, "a score is not finite");
  return status;
}

/* Of a Gaussian likelihood: if its NLL is no worse than chance explains, and its means have a
 * smaller error. */
bool gpnn_numbers_is_better(const struct gpnn_choice *c, const struct gpnn_choose_trial *a,
                            const struct gpnn_choose_trial *best,
                            const struct gpnn_choose_trial *lowest)
{
  double standard_error, worse = a->candidate.score - lowest->candidate.score;
  if (c->options->likelihood != GPNN_LIKELIHOOD_GAUSSIAN) return false;
  (void)gpnn_mean_difference(c->n, a->loss + a->best * c->n, lowest->loss + lowest->best * c->n,
                             &standard_error);
  return worse <= standard_error && a->candidate.rmse < best->candidate.rmse;
}

/* ---- the best two at more neighbours -------------------------------------------------------- */

/* Scores a trial with all numbers of neighbours on the first GPNN_CHOOSE_LAST_ROWS rows, and adds
 * the gain of the further numbers to its score on all rows, which is more certain. */
static enum gpnn_status score_all(struct gpnn_choice *c, struct gpnn_choose_trial *trial,
                                  struct gpnn_error *err)
{
  struct gpnn_candidate first = trial->candidate, *candidate = &trial->candidate;
  double lowest = INFINITY, nll = NAN, crps = NAN;
  if (candidate->exact) return GPNN_OK; /* has a single number */
  enum gpnn_status status = gpnn_numbers_score(c, trial, c->n_counts, err);
  if (c->listener != NULL) c->listener(c->context, candidate);
  if (status != GPNN_OK) return status;
  for (size_t k = 0; k < c->head->n_first; k++)
    if (trial->score[k] < lowest) {
      lowest = trial->score[k];
      nll = trial->nll[k];
      crps = trial->crps[k];
    }
  candidate->score = first.score + (candidate->score - lowest);
  candidate->nll = first.nll + (candidate->nll - nll);
  candidate->crps = first.crps + (candidate->crps - crps);
  candidate->standard_error = first.standard_error;
  candidate->rmse = first.rmse;
  return GPNN_OK;
}

/* Passes over all trials except the best two and, where a lengthscale for each of many inputs is
 * better than one for all, the best with one: that may need more neighbours to be ahead. */
static void keep_best(struct gpnn_choice *c)
{
  const struct gpnn_choose_trial *best = gpnn_choice_best(c), *second = gpnn_choice_second(c),
                                 *other = best->candidate.ard && !c->start.ard
                                              ? gpnn_choice_otherwise_scaled(c)
                                              : NULL;
  for (size_t i = 0; i < c->n_trials; i++) {
    const struct gpnn_choose_trial *trial = c->trials[i];
    c->trials[i]->passed_over = trial != best && trial != second && trial != other;
  }
}

/* True if more neighbours than those that all trials were scored with will not improve a trial: its
 * score gets worse towards the largest of these numbers, by more than chance explains. */
static bool has_enough(const struct gpnn_choice *c, const struct gpnn_choose_trial *trial)
{
  size_t last = gpnn_choice_first_counts(c) - 1;
  double standard_error;
  if (trial == NULL || trial->candidate.exact) return true;
  double worse = gpnn_mean_difference(c->n, trial->loss + last * c->n,
                                      trial->loss + trial->best * c->n, &standard_error);
  return isfinite(worse) && !is_hardly_worse(worse, standard_error);
}

enum gpnn_status gpnn_numbers_compare_best(struct gpnn_choice *c, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (c->n_counts == gpnn_choice_first_counts(c)) return GPNN_OK;
  if (has_enough(c, gpnn_choice_best(c)) && has_enough(c, gpnn_choice_second(c))) return GPNN_OK;
  keep_best(c);
  if (c->n > GPNN_CHOOSE_LAST_ROWS) c->n = GPNN_CHOOSE_LAST_ROWS;
  for (size_t i = 0; i < c->n_trials && status == GPNN_OK; i++)
    if (!c->trials[i]->passed_over) status = score_all(c, c->trials[i], err);
  return status;
}

/* What it costs to predict as many rows as there are from 'm' neighbours, in the unit of the score:
 * a hundredth for each quarter of an hour on one core (gpnn-methods(7), equation 5.14).  Below a
 * million rows that is next to nothing. */
static double price(const struct gpnn_choice *c, size_t m)
{
  static const double per_microsecond = 0.01 / 900e6;
  size_t n = c->options->n_rows > 0 ? c->options->n_rows : c->whole->n;
  return per_microsecond * (double)n * gpnn_choose_cost(m, c->whole->d);
}

/* The index of the number of neighbours that is best of those up to the best of a trial, if
 * predictions have their price, whatever that is with thorough effort. */
static size_t best_at_its_price(const struct gpnn_choice *c, const struct gpnn_choose_trial *trial)
{
  size_t best = trial->best;
  const size_t *numbers = counts_of(c, trial);
  if (c->options->effort == GPNN_EFFORT_THOROUGH || c->options->like != NULL) return best;
  for (size_t i = trial->best; i-- > 0;)
    if (trial->score[i] + price(c, numbers[i]) < trial->score[best] + price(c, numbers[best]))
      best = i;
  return best;
}

void gpnn_numbers_choose_neighbours(struct gpnn_choice *c)
{
  struct gpnn_choose_trial *trial = gpnn_choice_best(c);
  struct gpnn_candidate *fewest = &c->report->fewest;
  /* The most to give up for speed, however uncertain the scores, of the score and of the error. */
  const double most = 0.01, most_error = 0.005;
  bool is_scaled = c->options->likelihood != GPNN_LIKELIHOOD_GAUSSIAN;
  size_t best = best_at_its_price(c, trial), i = c->options->like == NULL ? 0 : best;
  for (; i < best; i++) {
    double standard_error, *loss = trial->loss;
    if (isnan(trial->score[i])) continue;
    if (is_scaled && trial->rmse[i] > (1 + most_error) * trial->rmse[best]) continue;
    double worse = gpnn_mean_difference(c->n, loss + i * c->n, loss + best * c->n, &standard_error);
    if (worse <= fmin(standard_error, most)) break;
  }
  *fewest = trial->candidate;
  fewest->neighbours = counts_of(c, trial)[i];
  fewest->score += trial->score[i] - trial->score[trial->best];
  fewest->nll += trial->nll[i] - trial->nll[trial->best];
  fewest->crps += trial->crps[i] - trial->crps[trial->best];
  for (size_t t = 0; t < c->n_targets; t++) trial->params[t].neighbours = fewest->neighbours;
}

/* ---- the scale of the chosen candidate ------------------------------------------------------ */

/* Models of the members of the stack, each of its first target, and what they predict of one
 * target's first rows. */
struct members {
  struct gpnn_model *first[GPNN_CHOOSE_MOST_MEMBERS]; /* owned */
  size_t n;
  struct gpnn_latent latent[GPNN_CHOOSE_LISTS]; /* in c, but for 'nearest'; the last is of all
                                                         together */
  double *nearest;                              /* owned */
};

/* Predicts target 't' from one member, which sees the inputs in its own way. */
static enum gpnn_status predict_member(struct gpnn_choice *c, struct members *members, size_t k,
                                       size_t t, size_t *n_rows, struct gpnn_error *err)
{
  struct gpnn_choose_trial *trial = k == 0 ? gpnn_choice_best(c) : c->stack.trial[k];
  struct gpnn_model *model = NULL;
  struct gpnn_heldout heldout = {0};
  struct gpnn_counts counts = {0};
  enum gpnn_status status = gpnn_choice_see(c, trial->candidate.sight, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_channel channel = {c->targets[t], &trial->params[t]};
  const struct gpnn_model_options options = {
      .threads = c->options->fit.threads,
      .brings = brings(c, &trial->params[0], trial->params[0].neighbours)};
  if (t == 0)
    status = gpnn_model_new(&members->first[k], 1, &channel, &options, err);
  else /* all targets share a metric */
    status = gpnn_model_with(members->first[k], &channel, &model, err);
  const struct gpnn_model *of = t == 0 ? members->first[k] : model;
  if (status == GPNN_OK) status = load(c, of, gpnn_model_neighbours(of, 0), &heldout, err);
  if (heldout.query.n > GPNN_CHOOSE_LAST_ROWS) heldout.query.n = GPNN_CHOOSE_LAST_ROWS;
  *n_rows = heldout.query.n;
  if (status == GPNN_OK)
    status = gpnn_model_predict(of, &heldout.query, &members->latent[k], &counts, err);
  gpnn_heldout_release(&heldout);
  gpnn_model_free(model);
  return status;
}

/* Estimates the scale of target 't'. */
static enum gpnn_status estimate_scale(struct gpnn_choice *c, struct members *members, size_t t,
                                       struct gpnn_error *err)
{
  struct gpnn_choose_trial *trial = gpnn_choice_best(c);
  struct gpnn_parameters view;
  struct gpnn_scale_law law;
  size_t n = 0;
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 0; k < members->n && status == GPNN_OK; k++)
    status = predict_member(c, members, k, t, &n, err);
  if (status != GPNN_OK) return status;
  size_t at = members->n > 1 ? members->n : 0; /* of what is predicted in the end */
  if (at > 0)
    gpnn_mixture_combine(members->n, c->stack.weight, members->latent, n, &members->latent[at]);
  if (!gpnn_choice_stack_view(c, t, &view)) return gpnn_fail_memory(err, "for a choice");
  struct gpnn_scale_rows rows = rows_at(c, &view, at * c->n);
  free(members->n > 1 ? view.members : NULL);
  rows.n = n;
  rows.nearest = members->latent[at].nearest;
  status = gpnn_scale_fit(&rows, trial->params[t].likelihood, true, &law, err);
  if (status != GPNN_OK) return status;
  trial->params[t].scale = law.scale;
  trial->params[t].degrees = law.degrees;
  return GPNN_OK;
}

enum gpnn_status gpnn_numbers_estimate_scales(struct gpnn_choice *c, struct gpnn_error *err)
{
  struct members members = {.n = c->stack.n > 1 ? c->stack.n : 1};
  enum gpnn_status status = GPNN_OK;
  if (c->options->likelihood == GPNN_LIKELIHOOD_GAUSSIAN) return GPNN_OK;
  members.nearest = gpnn_alloc(members.n + 1, c->n, sizeof *members.nearest);
  if (members.nearest == NULL) return gpnn_fail_memory(err, "for a choice");
  for (size_t k = 0; k <= members.n; k++)
    members.latent[k] = (struct gpnn_latent){.mean = c->mean + k * c->n,
                                             .variance = c->latent + k * c->n,
                                             .misfit = c->misfit + k * c->n,
                                             .nearest = members.nearest + k * c->n};
  for (size_t t = 0; t < c->n_targets && status == GPNN_OK; t++)
    status = estimate_scale(c, &members, t, err);
  for (size_t k = 0; k < members.n; k++) gpnn_model_free(members.first[k]);
  free(members.nearest);
  return status == GPNN_ENUMERIC ? GPNN_OK : status;
}
