#include "cotrain/ask.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "models/predict.h"

#define MEMORY_FOR "to choose rows to ask about"

/* The rows that are chosen among. */
struct choice {
  const struct gpnn_model *model;
  size_t n;
  const double *x;
  size_t count; /* at most n */
  size_t *chosen;
};

/* ---- by variance ---------------------------------------------------------------------------- */

static enum gpnn_status predict_sds(const struct choice *c, double *sd, struct gpnn_error *err)
{
  const struct gpnn_predict_options options = {.units = GPNN_UNITS_STANDARD};
  const struct gpnn_predict_rows rows = {.n = c->n, .x = c->x};
  struct gpnn_counts counts = {0};
  struct gpnn_predictor *predictor = NULL;
  double *mean = gpnn_alloc(c->n, 1, sizeof *mean);
  enum gpnn_status status = mean == NULL ? gpnn_fail_memory(err, MEMORY_FOR)
                                         : gpnn_predictor_new(&predictor, c->model, &options, err);
  if (status == GPNN_OK) status = gpnn_predict(predictor, &rows, mean, sd, &counts, err);
  gpnn_predictor_free(predictor);
  free(mean);
  return status;
}

/* The row that is left with the largest number, which is then taken off the list. */
static size_t take_largest(size_t n, double *left)
{
  size_t largest = 0;
  for (size_t i = 1; i < n; i++)
    if (left[i] > left[largest]) largest = i;
  left[largest] = -INFINITY;
  return largest;
}

static enum gpnn_status choose_by_variance(const struct choice *c, struct gpnn_error *err)
{
  double *sd = gpnn_alloc(c->n, 1, sizeof *sd);
  enum gpnn_status status =
      sd == NULL ? gpnn_fail_memory(err, MEMORY_FOR) : predict_sds(c, sd, err);
  for (size_t t = 0; t < c->count && status == GPNN_OK; t++) c->chosen[t] = take_largest(c->n, sd);
  free(sd);
  return status;
}

/* ---- greedily ------------------------------------------------------------------------------- */

/* The covariances of the latent function among all rows, given the training rows. */
static enum gpnn_status find_covariances(const struct choice *c, double *covariance,
                                         struct gpnn_error *err)
{
  const struct gpnn_query query = {.n = c->n, .x = c->x};
  double *process = gpnn_alloc(c->n, 1, sizeof *process);
  if (process == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t i = 0; i < c->n; i++) process[i] = 1;
  const struct gpnn_errors errors = {.process = process, .mean = process};
  enum gpnn_status status = gpnn_model_joint(c->model, 0, &query, &errors, covariance, err);
  free(process);
  return status;
}

/*
 * A Cholesky factorisation that takes the row with the largest remaining variance as its next
 * pivot: what the rows chosen so far, observed with noise, explain of row i is the sum of the
 * squares of column i of 'explained' (count by n).
 */
static void choose_pivots(const struct choice *c, double noise, const double *covariance,
                          double *explained, double *left)
{
  for (size_t i = 0; i < c->n; i++) left[i] = covariance[i * (c->n + 1)];
  for (size_t t = 0; t < c->count; t++) {
    double *row = explained + t * c->n;
    const size_t p = c->chosen[t] = take_largest(c->n, left);
    for (size_t i = 0; i < c->n; i++) row[i] = covariance[p * c->n + i];
    for (size_t s = 0; s < t; s++)
      for (size_t i = 0; i < c->n; i++) row[i] -= explained[s * c->n + p] * explained[s * c->n + i];
    const double pivot = row[p] + noise, scale = pivot > 0 ? 1 / sqrt(pivot) : 0;
    for (size_t i = 0; i < c->n; i++) {
      row[i] *= scale;
      left[i] -= row[i] * row[i];
    }
  }
}

static enum gpnn_status choose_greedily(const struct choice *c, struct gpnn_error *err)
{
  const double noise = gpnn_model_channel(c->model, 0)->parameters->covariance.noise;
  if (c->n > GPNN_ASK_MOST)
    return gpnn_fail(err, GPNN_EINVAL,
                     "the greedy strategy compares all rows with each other, so that %d are the "
                     "most, and these are %zu: ask by variance, or make the pool smaller",
                     GPNN_ASK_MOST, c->n);
  double *covariance = gpnn_alloc(c->n, c->n, sizeof *covariance);
  double *explained = gpnn_alloc(c->count, c->n, sizeof *explained);
  double *left = gpnn_alloc(c->n, 1, sizeof *left);
  enum gpnn_status status = covariance == NULL || explained == NULL || left == NULL
                                ? gpnn_fail_memory(err, MEMORY_FOR)
                                : find_covariances(c, covariance, err);
  if (status == GPNN_OK) choose_pivots(c, noise, covariance, explained, left);
  free(covariance);
  free(explained);
  free(left);
  return status;
}

/* ---- at random ------------------------------------------------------------------------------ */

static enum gpnn_status choose_at_random(const struct choice *c, uint64_t seed,
                                         struct gpnn_error *err)
{
  struct gpnn_rng rng;
  uint64_t *drawn = gpnn_alloc(c->count, 1, sizeof *drawn);
  if (drawn == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  gpnn_rng_init(&rng, seed, GPNN_RNG_ASK);
  enum gpnn_status status = gpnn_rng_sample(&rng, c->n, c->count, drawn, err);
  for (size_t t = 0; t < c->count && status == GPNN_OK; t++) c->chosen[t] = (size_t)drawn[t];
  free(drawn);
  return status;
}

enum gpnn_status gpnn_ask_choose(const struct gpnn_model *model, enum gpnn_ask_strategy strategy,
                                 size_t n, const double *x, size_t count, uint64_t seed,
                                 size_t *chosen, size_t *n_chosen, struct gpnn_error *err)
{
  const struct choice c = {
      .model = model, .n = n, .x = x, .count = count < n ? count : n, .chosen = chosen};
  *n_chosen = c.count;
  if (c.count == 0) return GPNN_OK;
  if (strategy == GPNN_ASK_RANDOM) return choose_at_random(&c, seed, err);
  return strategy == GPNN_ASK_GREEDY ? choose_greedily(&c, err) : choose_by_variance(&c, err);
}
