/*
 * Scores of candidates for classes on training rows that no fit has seen; which of them predict
 * better together, and from how many neighbours.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/choose_private.h"
#include "estimate/neighbourhood.h"
#include "likelihood/categorical.h"
#include "linalg/arrays.h"
#include "search/search.h"
#include "stats/scores/difference.h"

enum gpnn_status gpnn_labels_make_room(struct gpnn_choice *c, struct gpnn_error *err)
{
  size_t n_classes = gpnn_dataset_n_classes(c->dataset);
  c->arrays = GPNN_ARRAYS(GPNN_ARRAY(c->share, n_classes, 1));
  if (c->arrays == NULL) return gpnn_fail_memory(err, "for a choice");
  gpnn_categorical_shares(n_classes, c->dataset->n, c->dataset->y, c->share);
  return GPNN_OK;
}

/* ---- neighbours --------------------------------------------------------------------------- */

/* True if training row 'other' must not help to predict row 'row'. */
static bool is_excluded(const struct gpnn_dataset *dataset, int64_t row, int64_t other)
{
  return other == row ||
         (dataset->row_group != NULL && dataset->row_group[other] == dataset->row_group[row]);
}

/* Lists the nearest 'm' other rows of each row to score, under the metric of 'params'. */
static enum gpnn_status find_neighbours(struct gpnn_choice *c, const struct gpnn_parameters *params,
                                        size_t m, int64_t *neighbour, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = c->dataset;
  const struct gpnn_near_lists *found;
  size_t wanted = m * (dataset->row_group == NULL ? 1 : 2) + 1;
  enum gpnn_status status = gpnn_choice_find_near(c, c->n, params, wanted, 0.95, &found, err);
  for (size_t i = 0; i < c->n && status == GPNN_OK; i++) {
    size_t kept = 0;
    for (size_t a = 0; a < found->k && kept < m; a++) {
      int64_t other = found->row[i * found->k + a];
      if (other >= 0 && !is_excluded(dataset, c->self[i], other)) neighbour[i * m + kept++] = other;
    }
    while (kept < m) neighbour[i * m + kept++] = -1;
  }
  return status;
}

/* ---- scores ------------------------------------------------------------------------------- */

/* Scores one number of neighbours, the 'at'-th, from lists of 'm' of them. */
static enum gpnn_status score_count(const struct gpnn_choice *c, struct gpnn_choose_trial *trial,
                                    const double *map, size_t at, size_t m,
                                    const int64_t *neighbour, struct gpnn_error *err)
{
  size_t k = c->counts[at], n = c->n;
  struct gpnn_neighbourhood_result result = {.loss = trial->loss + at * n};
  int64_t *nearest = gpnn_alloc(n, k, sizeof *nearest);
  double *wrong = gpnn_alloc(n, 1, sizeof *wrong), standard_error;
  enum gpnn_status status = GPNN_OK;
  if (nearest == NULL || wrong == NULL) status = gpnn_fail_memory(err, "for neighbours");
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    memcpy(nearest + i * k, neighbour + i * m, k * sizeof *nearest);
  result.z2 = wrong;
  const struct gpnn_neighbourhoods hoods = {
      .n = n, .k = k, .row = c->self, .neighbour = nearest, .share = c->share};
  if (status == GPNN_OK)
    status = gpnn_neighbourhood_objective(c->dataset, trial->params, map, GPNN_DENSITY_LABELS,
                                          &hoods, NULL, c->options->fit.threads, &result, err);
  if (status == GPNN_OK) {
    trial->nll[at] = gpnn_mean_difference(n, result.loss, NULL, &standard_error);
    trial->error[at] = gpnn_mean_difference(n, wrong, NULL, &standard_error);
  }
  free(nearest);
  free(wrong);
  return status;
}

/* The map of the inputs that a rotation and lengthscales make, or NULL in '*map' without one. */
static enum gpnn_status make_map(size_t d, const struct gpnn_parameters *params,
                                 const double *lengthscale, double **map, struct gpnn_error *err)
{
  const double *rotation = params->covariance.rotation;
  if (rotation == NULL) return GPNN_OK;
  *map = gpnn_alloc(d, d, sizeof **map);
  if (*map == NULL) return gpnn_fail_memory(err, "for a rotation");
  for (size_t i = 0; i < d * d; i++) (*map)[i] = rotation[i] / lengthscale[i / d];
  return GPNN_OK;
}

static void note_best(const struct gpnn_choice *c, struct gpnn_choose_trial *trial, size_t n_counts)
{
  struct gpnn_candidate *candidate = &trial->candidate;
  size_t best = 0;
  for (size_t k = 1; k < n_counts; k++)
    if (trial->nll[k] < trial->nll[best]) best = k;
  trial->best = best;
  candidate->neighbours = c->counts[best];
  candidate->error = trial->error[best];
  candidate->score =
      gpnn_mean_difference(c->n, trial->loss + best * c->n, NULL, &candidate->standard_error);
}

enum gpnn_status gpnn_labels_score(struct gpnn_choice *c, struct gpnn_choose_trial *trial,
                                   size_t n_counts, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_choice_see(c, trial->candidate.sight, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_dataset *dataset = c->dataset;
  size_t d = dataset->d, m = c->counts[n_counts - 1];
  double *lengthscale = gpnn_alloc(d, 1, sizeof *lengthscale), *map = NULL;
  int64_t *neighbour = gpnn_alloc(c->n, m, sizeof *neighbour);
  if (lengthscale == NULL || neighbour == NULL) status = gpnn_fail_memory(err, "for a choice");
  if (status == GPNN_OK) {
    gpnn_covariance_expand(&trial->params->covariance, d, dataset->group, lengthscale);
    status = make_map(d, trial->params, lengthscale, &map, err);
  }
  if (status == GPNN_OK) status = find_neighbours(c, trial->params, m, neighbour, err);
  for (size_t k = 0; k < n_counts && status == GPNN_OK; k++)
    status = score_count(c, trial, map, k, m, neighbour, err);
  if (status == GPNN_OK) note_best(c, trial, n_counts);
  trial->candidate.nll = trial->candidate.score;
  if (status == GPNN_OK && !isfinite(trial->candidate.nll))
    status = gpnn_fail(err, GPNN_ENUMERIC, "a score is not finite");
  free(lengthscale);
  free(map);
  free(neighbour);
  return status;
}

/* ---- averages ----------------------------------------------------------------------------- */

/* What is averaged: the members, with number 'count' of neighbours (GPNN_CHOOSE_COUNTS: each with
 * its best). */
struct mixture {
  size_t n;
  const struct gpnn_choose_trial *trial[GPNN_CHOOSE_MOST_MEMBERS];
  size_t count;
};

/* The number of neighbours of member 'k' under a choice of it. */
static size_t count_of(const struct mixture *mixture, size_t k)
{
  return mixture->count == GPNN_CHOOSE_COUNTS ? mixture->trial[k]->best : mixture->count;
}

/* The probability that member 'k' gives to the class of row 'i'. */
static double probability(const struct gpnn_choice *c, const struct mixture *mixture, size_t k,
                          size_t i)
{
  const struct gpnn_choose_trial *trial = mixture->trial[k];
  return exp(-trial->loss[count_of(mixture, k) * c->n + i]);
}

/* The weights under which every 'step'-th row from 'first' on is the most probable, by expectation
 * and maximisation (equation 13.13). */
static void find_weights(const struct gpnn_choice *c, const struct mixture *mixture, size_t first,
                         size_t step, double *weight)
{
  enum { ROUNDS = 30 };
  size_t n = mixture->n;
  for (size_t k = 0; k < n; k++) weight[k] = 1 / (double)n;
  for (size_t round = 0; round < ROUNDS && n > 1; round++) {
    double sum[GPNN_CHOOSE_MOST_MEMBERS] = {0}, p[GPNN_CHOOSE_MOST_MEMBERS], rows = 0;
    for (size_t i = first; i < c->n; i += step) {
      double whole = 0;
      for (size_t k = 0; k < n; k++) whole += p[k] = weight[k] * probability(c, mixture, k, i);
      for (size_t k = 0; whole > 0 && k < n; k++) sum[k] += p[k] / whole;
      rows += whole > 0;
    }
    for (size_t k = 0; rows > 0 && k < n; k++) weight[k] = sum[k] / rows;
  }
}

/* Writes the loss of every second row from 'first' on under 'weight'. */
static void find_losses(const struct gpnn_choice *c, const struct mixture *mixture,
                        const double *weight, size_t first, double *loss)
{
  for (size_t i = first; i < c->n; i += 2) {
    double p = 0;
    for (size_t k = 0; k < mixture->n; k++) p += weight[k] * probability(c, mixture, k, i);
    loss[i] = p > 0 ? -log(p) : INFINITY;
  }
}

/* The mean loss of all rows, each under the weights that suit the other half of them. */
static double score(const struct gpnn_choice *c, const struct mixture *mixture, double *loss)
{
  double weight[GPNN_CHOOSE_MOST_MEMBERS], standard_error;
  for (size_t half = 0; half < 2; half++) {
    find_weights(c, mixture, 1 - half, 2, weight);
    find_losses(c, mixture, weight, half, loss);
  }
  return gpnn_mean_difference(c->n, loss, NULL, &standard_error);
}

static bool is_member(const struct mixture *mixture, const struct gpnn_choose_trial *trial)
{
  for (size_t k = 0; k < mixture->n; k++)
    if (mixture->trial[k] == trial) return true;
  return false;
}

/* Adds the trial that lowers the score most, if that is worth its time. */
static bool add_member(struct gpnn_choice *c, struct mixture *mixture, double *nll, double *loss)
{
  const double enough = 0.99;
  struct mixture wider = *mixture;
  struct gpnn_choose_trial *best = NULL;
  double lowest = enough * *nll;
  wider.n++;
  for (size_t i = 0; i < c->n_trials; i++) {
    if (is_member(mixture, c->trials[i])) continue;
    wider.trial[mixture->n] = c->trials[i];
    double own = score(c, &wider, loss);
    if (!(own < lowest)) continue;
    lowest = own;
    best = c->trials[i];
  }
  if (best == NULL) return false;
  *nll = lowest;
  mixture->trial[mixture->n++] = best;
  c->stack.trial[c->stack.n++] = best;
  return true;
}

enum gpnn_status gpnn_labels_stack(struct gpnn_choice *c, struct gpnn_error *err)
{
  enum { FEWEST = 50 };
  struct gpnn_choice_stack *stack = &c->stack;
  struct mixture mixture = {.n = 1, .count = GPNN_CHOOSE_COUNTS};
  double *loss = gpnn_alloc(c->n, 1, sizeof *loss);
  if (loss == NULL) return gpnn_fail_memory(err, "for a stack");
  *stack = (struct gpnn_choice_stack){.n = 1, .weight = {1}, .n_rows = c->n, .rmse = NAN};
  mixture.trial[0] = stack->trial[0] = gpnn_choice_best(c);
  stack->nll = stack->trial[0]->candidate.nll;
  while (c->n >= FEWEST && c->options->effort != GPNN_EFFORT_FAST &&
         stack->n < c->options->members &&
         gpnn_choice_affords(c, stack->trial[0]->candidate.neighbours, stack->n + 1) &&
         add_member(c, &mixture, &stack->nll, loss)) {
  }
  free(loss);
  return GPNN_OK;
}

/* The first choice of numbers whose score is about that of the best: the same number for all, or
 * each with its own. */
static size_t choose_count(const struct gpnn_choice *c, struct mixture *mixture, double *loss,
                           double *nll)
{
  const double most = 0.003; /* of the score to give up for speed, however uncertain */
  size_t best = 0, i = 0, n_counts = c->n_counts + (mixture->n > 1 ? 1 : 0);
  for (size_t k = 0; k < n_counts; k++) {
    mixture->count = k < c->n_counts ? k : GPNN_CHOOSE_COUNTS;
    nll[k] = score(c, mixture, loss + k * c->n);
    if (nll[k] < nll[best]) best = k;
  }
  for (; i < best; i++) {
    double standard_error,
        worse = gpnn_mean_difference(c->n, loss + i * c->n, loss + best * c->n, &standard_error);
    if (worse <= fmin(standard_error, most * nll[best])) break;
  }
  mixture->count = i < c->n_counts ? i : GPNN_CHOOSE_COUNTS;
  return i;
}

enum gpnn_status gpnn_labels_choose_neighbours(struct gpnn_choice *c, struct gpnn_error *err)
{
  struct gpnn_candidate *fewest = &c->report->fewest;
  struct gpnn_choice_stack *stack = &c->stack;
  struct mixture mixture = {.n = stack->n};
  double *loss = gpnn_alloc(c->n, GPNN_CHOOSE_COUNTS + 1, sizeof *loss),
         nll[GPNN_CHOOSE_COUNTS + 1] = {0};
  if (loss == NULL) return gpnn_fail_memory(err, "for a stack");
  for (size_t k = 0; k < stack->n; k++) mixture.trial[k] = stack->trial[k];
  stack->nll = nll[choose_count(c, &mixture, loss, nll)];
  find_weights(c, &mixture, 0, 1, stack->weight);
  for (size_t k = 0; k < stack->n; k++)
    stack->trial[k]->params->neighbours = c->counts[count_of(&mixture, k)];
  *fewest = stack->trial[0]->candidate;
  fewest->neighbours = stack->trial[0]->params->neighbours;
  fewest->nll = stack->trial[0]->nll[count_of(&mixture, 0)];
  fewest->error = stack->trial[0]->error[count_of(&mixture, 0)];
  free(loss);
  return GPNN_OK;
}
