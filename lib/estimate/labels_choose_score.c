/* Scores of candidates for classes on training rows that no fit has seen. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "estimate/choose_private.h"
#include "estimate/labels_choose_private.h"
#include "estimate/neighbourhood.h"
#include "likelihood/categorical.h"
#include "search/search.h"

static const size_t neighbour_counts[GPNN_LABEL_COUNTS] = {32, 64, 128};

void gpnn_label_trial_release(struct gpnn_label_trial *trial)
{
  gpnn_parameters_release(&trial->params);
  free(trial->loss);
  *trial = (struct gpnn_label_trial){0};
}

void gpnn_label_choice_release(struct gpnn_label_choice *c)
{
  for (size_t i = 0; i < c->n_trials; i++) gpnn_label_trial_release(&c->trial[i]);
  free(c->share);
  free(c->row);
  free(c->x);
}

/* ---- rows --------------------------------------------------------------------------------- */

size_t gpnn_label_choice_rows_left(const struct gpnn_label_choice *c, size_t wanted)
{
  size_t left = c->dataset->n - c->n_kept;
  return wanted < left ? wanted : left;
}

/* Takes all numbers below the number of rows, and the next larger one. */
static void set_counts(struct gpnn_label_choice *c)
{
  if (!c->options->neighbours) {
    c->counts[c->n_counts++] = c->options->fit.neighbours;
    return;
  }
  while (c->n_counts < GPNN_LABEL_COUNTS) {
    c->counts[c->n_counts] = neighbour_counts[c->n_counts];
    if (c->counts[c->n_counts++] >= c->dataset->n) break;
  }
}

/* A fit takes the first rows of a random order of all rows, so those at its end are new to it.  If
 * chance would decide on so few, rows of the fit are used as well: left out of their own
 * prediction, they still show which candidate predicts better. */
enum gpnn_status gpnn_label_choice_draw(struct gpnn_label_choice *c, struct gpnn_error *err)
{
  enum { FEWEST = 32, PART = 3 };
  const struct gpnn_dataset *dataset = c->dataset;
  size_t n = dataset->n, d = dataset->d, n_classes = gpnn_dataset_n_classes(dataset);
  struct gpnn_rng rng;
  set_counts(c);
  c->n_kept = n / PART < GPNN_CHOOSE_LABELS_ROWS ? n / PART : GPNN_CHOOSE_LABELS_ROWS;
  c->n = c->n_kept < FEWEST ? (n < FEWEST ? n : FEWEST) : c->n_kept;
  uint64_t *order = gpnn_alloc(n, 1, sizeof *order);
  c->share = gpnn_alloc(n_classes, 1, sizeof *c->share);
  c->row = gpnn_alloc(c->n, 1, sizeof *c->row);
  c->x = gpnn_alloc(c->n, d, sizeof *c->x);
  enum gpnn_status status = GPNN_OK;
  if (order == NULL || c->share == NULL || c->row == NULL || c->x == NULL)
    status = gpnn_fail_memory(err, "for a choice");
  gpnn_rng_init(&rng, c->options->fit.seed, GPNN_RNG_ESTIMATE);
  if (status == GPNN_OK) status = gpnn_rng_sample(&rng, n, n, order, err);
  for (size_t i = 0; i < c->n && status == GPNN_OK; i++) {
    c->row[i] = (int64_t)order[n - c->n + i];
    memcpy(c->x + i * d, dataset->x + order[n - c->n + i] * d, d * sizeof *c->x);
  }
  if (status == GPNN_OK) gpnn_categorical_shares(n_classes, n, dataset->y, c->share);
  free(order);
  return status;
}

/* ---- neighbours --------------------------------------------------------------------------- */

/* True if training row 'other' must not help to predict row 'row'. */
static bool is_excluded(const struct gpnn_dataset *dataset, int64_t row, int64_t other)
{
  return other == row ||
         (dataset->row_group != NULL && dataset->row_group[other] == dataset->row_group[row]);
}

/* Lists the nearest 'm' other rows of each row to score, under the metric of 'params'. */
static enum gpnn_status find_neighbours(const struct gpnn_label_choice *c,
                                        const struct gpnn_parameters *params,
                                        const double *lengthscale, size_t m, int64_t *neighbour,
                                        struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = c->dataset;
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  struct gpnn_search *search = NULL;
  size_t wanted = m * (dataset->row_group == NULL ? 1 : 2) + 1;
  options.neighbours = wanted;
  options.recall = 0.95;
  options.lengthscale = lengthscale;
  options.rotation = params->covariance.rotation;
  options.seed = c->options->fit.seed;
  options.threads = c->options->fit.threads;
  options.brief = true;
  int64_t *found = gpnn_alloc(c->n, wanted, sizeof *found);
  double *distance = gpnn_alloc(c->n, wanted, sizeof *distance);
  enum gpnn_status status = GPNN_OK;
  if (found == NULL || distance == NULL) status = gpnn_fail_memory(err, "for neighbours");
  if (status == GPNN_OK)
    status = gpnn_search_build(&search, dataset->n, dataset->d, dataset->x, &options, err);
  if (status == GPNN_OK)
    status = gpnn_search_query(search, c->n, c->x, wanted, found, distance, options.threads, err);
  for (size_t i = 0; i < c->n && status == GPNN_OK; i++) {
    size_t kept = 0;
    for (size_t a = 0; a < wanted && kept < m; a++) {
      int64_t other = found[i * wanted + a];
      if (other >= 0 && !is_excluded(dataset, c->row[i], other)) neighbour[i * m + kept++] = other;
    }
    while (kept < m) neighbour[i * m + kept++] = -1;
  }
  gpnn_search_free(search);
  free(found);
  free(distance);
  return status;
}

/* ---- scores ------------------------------------------------------------------------------- */

/* Scores one number of neighbours, the 'at'-th, from lists of 'm' of them. */
static enum gpnn_status score_count(const struct gpnn_label_choice *c,
                                    struct gpnn_label_trial *trial, const double *map, size_t at,
                                    size_t m, const int64_t *neighbour, struct gpnn_error *err)
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
      .n = n, .k = k, .row = c->row, .neighbour = nearest, .share = c->share};
  if (status == GPNN_OK)
    status = gpnn_neighbourhood_objective(c->dataset, &trial->params, map, GPNN_DENSITY_LABELS,
                                          &hoods, NULL, c->options->fit.threads, &result, err);
  if (status == GPNN_OK) {
    trial->nll[at] = gpnn_choice_mean_difference(n, result.loss, NULL, &standard_error);
    trial->error[at] = gpnn_choice_mean_difference(n, wrong, NULL, &standard_error);
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

static void note_best(const struct gpnn_label_choice *c, struct gpnn_label_trial *trial,
                      size_t n_counts)
{
  struct gpnn_candidate *candidate = &trial->candidate;
  size_t best = 0;
  for (size_t k = 1; k < n_counts; k++)
    if (trial->nll[k] < trial->nll[best]) best = k;
  trial->best = best;
  candidate->neighbours = c->counts[best];
  candidate->error = trial->error[best];
  candidate->nll = gpnn_choice_mean_difference(c->n, trial->loss + best * c->n, NULL,
                                               &candidate->standard_error);
}

enum gpnn_status gpnn_label_choice_score(struct gpnn_label_choice *c,
                                         struct gpnn_label_trial *trial, size_t n_counts,
                                         struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = c->dataset;
  size_t d = dataset->d, m = c->counts[n_counts - 1];
  double *lengthscale = gpnn_alloc(d, 1, sizeof *lengthscale), *map = NULL;
  int64_t *neighbour = gpnn_alloc(c->n, m, sizeof *neighbour);
  if (trial->loss == NULL) trial->loss = gpnn_alloc(c->n, GPNN_LABEL_COUNTS, sizeof *trial->loss);
  enum gpnn_status status = GPNN_OK;
  if (lengthscale == NULL || neighbour == NULL || trial->loss == NULL)
    status = gpnn_fail_memory(err, "for a choice");
  if (status == GPNN_OK) {
    gpnn_covariance_expand(&trial->params.covariance, d, dataset->group, lengthscale);
    status = make_map(d, &trial->params, lengthscale, &map, err);
  }
  if (status == GPNN_OK)
    status = find_neighbours(c, &trial->params, lengthscale, m, neighbour, err);
  for (size_t k = 0; k < n_counts && status == GPNN_OK; k++)
    status = score_count(c, trial, map, k, m, neighbour, err);
  if (status == GPNN_OK) note_best(c, trial, n_counts);
  if (status == GPNN_OK && !isfinite(trial->candidate.nll))
    status = gpnn_fail(err, GPNN_ENUMERIC, "a score is not finite");
  free(lengthscale);
  free(map);
  free(neighbour);
  return status;
}

struct gpnn_label_trial *gpnn_label_choice_best(struct gpnn_label_choice *c)
{
  struct gpnn_label_trial *best = NULL;
  for (size_t i = 0; i < c->n_trials; i++)
    if (!c->trial[i].is_passed_over &&
        (best == NULL || c->trial[i].candidate.nll < best->candidate.nll))
      best = &c->trial[i];
  return best;
}
