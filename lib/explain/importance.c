#include "explain/importance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dataset/missing.h"
#include "linalg/arrays.h"
#include "models/labels.h"

struct gpnn_importance_job {
  const struct gpnn_model *model;
  const struct gpnn_dataset *dataset;
  const struct gpnn_importance_rows *rows;
  struct gpnn_predictor *predictor; /* owned; NULL: of classes, */
  struct gpnn_labels *labels;       /* owned: for which there is this */
  size_t n, n_classes;
  double *base; /* 2 by n: losses of rows with all columns, as score() has them */
  /* Scratch, for one column at a time. */
  double *x, *regressors;
  double *loss;        /* 2 by n */
  double *sum;         /* 2 by n: over permutations, of what a row contributes */
  uint64_t *permuted;  /* n */
  double *p, *moments; /* n by classes; 2 by n */
  struct gpnn_distribution *distributions;
  struct gpnn_distribution_score *scores;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* ---- losses of rows -------------------------------------------------------------------------- */

static enum gpnn_status score_classes(const struct gpnn_importance_job *job,
                                      const struct gpnn_predict_rows *rows, double *loss,
                                      struct gpnn_error *err)
{
  struct gpnn_counts counts = {0};
  enum gpnn_status status = gpnn_labels_predict(job->labels, rows, job->p, &counts, err);
  for (size_t i = 0; i < job->n && status == GPNN_OK; i++) {
    loss[i] = -log(job->p[i * job->n_classes + (size_t)job->rows->truth[i]]);
    loss[job->n + i] = NAN;
  }
  return status;
}

/* Writes the CRPS and the squared error of each row, or its negative log probability and NaN. */
static enum gpnn_status score(const struct gpnn_importance_job *job,
                              const struct gpnn_predict_rows *rows, double *loss,
                              struct gpnn_error *err)
{
  size_t n = job->n;
  struct gpnn_counts counts = {0};
  if (job->labels != NULL) return score_classes(job, rows, loss, err);
  enum gpnn_status status =
      gpnn_predict_distributions(job->predictor, rows, job->distributions, &counts, err);
  if (status == GPNN_OK)
    status = gpnn_predict_moments(job->predictor, n, job->distributions, job->moments,
                                  job->moments + n, err);
  if (status != GPNN_OK) return status;
  gpnn_predict_scores(job->predictor, n, job->distributions, job->rows->truth, job->scores);
  for (size_t i = 0; i < n; i++) {
    double error = job->rows->truth[i] - job->moments[i];
    loss[i] = job->scores[i].crps;
    loss[n + i] = error * error;
  }
  return GPNN_OK;
}

static double mean_of(size_t n, const double *values)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += values[i];
  return sum / (double)n;
}

/* What the rows' losses of kind 'k' come to. */
static double total(size_t n, size_t k, const double *loss)
{
  double mean = mean_of(n, loss + k * n);
  return k == 0 ? mean : sqrt(mean);
}

/* ---- life ------------------------------------------------------------------------------------ */

static enum gpnn_status make_room(struct gpnn_importance_job *job, struct gpnn_error *err)
{
  size_t n = job->n, d = job->dataset->d;
  size_t p = job->rows->of.regressors == NULL ? 0 : job->dataset->n_regressors;
  size_t n_numbers = job->n_classes > 0 ? 0 : n;
  job->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(job->base, n, GPNN_IMPORTANCE_LOSSES), GPNN_ARRAY(job->x, n, d),
      GPNN_ARRAY(job->regressors, n, p), GPNN_ARRAY(job->loss, n, GPNN_IMPORTANCE_LOSSES),
      GPNN_ARRAY(job->sum, n, GPNN_IMPORTANCE_LOSSES), GPNN_ARRAY(job->permuted, n, 1),
      GPNN_ARRAY(job->p, n, job->n_classes), GPNN_ARRAY(job->moments, n_numbers, 2),
      GPNN_ARRAY(job->distributions, n_numbers, 1), GPNN_ARRAY(job->scores, n_numbers, 1));
  return job->arrays == NULL ? gpnn_fail_memory(err, "for the rows to score") : GPNN_OK;
}

enum gpnn_status gpnn_importance_new(struct gpnn_importance_job **job,
                                     const struct gpnn_model *model,
                                     const struct gpnn_importance_rows *rows,
                                     struct gpnn_error *err)
{
  const struct gpnn_predict_options usual = {.units = GPNN_UNITS_ORIGINAL};
  const struct gpnn_dataset *dataset = gpnn_model_channel(model, 0)->dataset;
  if (rows->of.n == 0) return gpnn_fail(err, GPNN_EDATA, "no rows to score");
  struct gpnn_importance_job *new = calloc(1, sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "for the rows to score");
  *new = (struct gpnn_importance_job){.model = model,
                                      .dataset = dataset,
                                      .rows = rows,
                                      .n = rows->of.n,
                                      .n_classes = gpnn_dataset_n_classes(dataset)};
  enum gpnn_status status = make_room(new, err);
  if (status == GPNN_OK)
    status = new->n_classes > 0 ? gpnn_labels_new(&new->labels, model, 0, &usual, err)
                                : gpnn_predictor_new(&new->predictor, model, &usual, err);
  if (status == GPNN_OK) status = score(new, &rows->of, new->base, err);
  if (status == GPNN_OK)
    *job = new;
  else
    gpnn_importance_free(new);
  return status;
}

void gpnn_importance_base(const struct gpnn_importance_job *job,
                          double base[GPNN_IMPORTANCE_LOSSES])
{
  for (size_t k = 0; k < GPNN_IMPORTANCE_LOSSES; k++) base[k] = total(job->n, k, job->base);
}

void gpnn_importance_free(struct gpnn_importance_job *job)
{
  if (job == NULL) return;
  gpnn_predictor_free(job->predictor);
  gpnn_labels_free(job->labels);
  gpnn_arrays_free(job->arrays);
  free(job);
}

/* ---- differences ----------------------------------------------------------------------------- */

/* Adds what each row contributes to the difference that 'loss' makes, and returns the difference. A
 * root's is linear in the squared errors as far as standard errors are concerned. */
static double add_difference(const struct gpnn_importance_job *job, size_t k)
{
  size_t n = job->n;
  const double *loss = job->loss + k * n, *base = job->base + k * n;
  double after = total(n, k, job->loss), before = total(n, k, job->base);
  double slope_after = k == 0 ? 1 : after > 0 ? 0.5 / after : 0;
  double slope_before = k == 0 ? 1 : before > 0 ? 0.5 / before : 0;
  for (size_t i = 0; i < n; i++)
    job->sum[k * n + i] += slope_after * loss[i] - slope_before * base[i];
  return after - before;
}

/* The squared standard error of the mean of 'n' numbers divided by 'by'; 0 of a single one. */
static double squared_error(size_t n, const double *values, double by)
{
  double mean = mean_of(n, values), sum = 0;
  if (n < 2) return 0;
  for (size_t i = 0; i < n; i++) sum += (values[i] - mean) * (values[i] - mean);
  return sum / (by * by) / (double)(n - 1) / (double)n;
}

/* Where each of several ways to take a column away made a 'difference' (n_ways). */
static struct gpnn_importance_loss summarise(const struct gpnn_importance_job *job, size_t k,
                                             size_t n_ways, const double *difference)
{
  double of_rows = squared_error(job->n, job->sum + k * job->n, (double)n_ways);
  return (struct gpnn_importance_loss){.mean = mean_of(n_ways, difference),
                                       .standard_error =
                                           sqrt(of_rows + squared_error(n_ways, difference, 1))};
}

/* ---- a column taken away --------------------------------------------------------------------- */

static void restore(const struct gpnn_importance_job *job)
{
  const struct gpnn_predict_rows *of = &job->rows->of;
  memcpy(job->x, of->x, job->n * job->dataset->d * sizeof *job->x);
  if (of->regressors != NULL)
    memcpy(job->regressors, of->regressors,
           job->n * job->dataset->n_regressors * sizeof *job->regressors);
}

/* Gives each row the values of another in the column. */
static enum gpnn_status permute(const struct gpnn_importance_job *job,
                                const struct gpnn_explain_column *column, uint64_t seed, size_t way,
                                struct gpnn_error *err)
{
  const struct gpnn_predict_rows *of = &job->rows->of;
  size_t d = job->dataset->d, p = job->dataset->n_regressors;
  struct gpnn_rng rng;
  gpnn_rng_init_at(&rng, seed, GPNN_RNG_PERMUTE, way);
  enum gpnn_status status = gpnn_rng_sample(&rng, job->n, job->n, job->permuted, err);
  for (size_t i = 0; i < job->n && status == GPNN_OK; i++) {
    size_t from = (size_t)job->permuted[i];
    for (size_t c = 0; c < column->n; c++)
      job->x[i * d + column->coordinate[c]] = of->x[from * d + column->coordinate[c]];
    if (of->regressors != NULL && column->regressor != SIZE_MAX)
      job->regressors[i * p + column->regressor] = of->regressors[from * p + column->regressor];
  }
  return status;
}

static void lose(const struct gpnn_importance_job *job, const struct gpnn_explain_column *column)
{
  size_t d = job->dataset->d;
  for (size_t i = 0; i < job->n; i++)
    for (size_t c = 0; c < column->n; c++) job->x[i * d + column->coordinate[c]] = NAN;
}

static struct gpnn_predict_rows changed_rows(const struct gpnn_importance_job *job)
{
  struct gpnn_predict_rows rows = job->rows->of;
  rows.x = job->x;
  if (rows.regressors != NULL) rows.regressors = job->regressors;
  return rows;
}

static enum gpnn_status find_permuted(const struct gpnn_importance_job *job,
                                      const struct gpnn_explain_column *column,
                                      size_t n_permutations, uint64_t seed,
                                      struct gpnn_importance_loss *losses, struct gpnn_error *err)
{
  const struct gpnn_predict_rows rows = changed_rows(job);
  double *difference = gpnn_alloc(n_permutations, GPNN_IMPORTANCE_LOSSES, sizeof *difference);
  enum gpnn_status status =
      difference != NULL ? GPNN_OK : gpnn_fail_memory(err, "for permutations");
  memset(job->sum, 0, job->n * GPNN_IMPORTANCE_LOSSES * sizeof *job->sum);
  restore(job);
  for (size_t way = 0; way < n_permutations && status == GPNN_OK; way++) {
    status = permute(job, column, seed, way, err);
    if (status == GPNN_OK) status = score(job, &rows, job->loss, err);
    for (size_t k = 0; k < GPNN_IMPORTANCE_LOSSES && status == GPNN_OK; k++)
      difference[k * n_permutations + way] = add_difference(job, k);
  }
  for (size_t k = 0; k < GPNN_IMPORTANCE_LOSSES && status == GPNN_OK; k++)
    losses[k] = summarise(job, k, n_permutations, difference + k * n_permutations);
  free(difference);
  return status;
}

static enum gpnn_status find_missing(const struct gpnn_importance_job *job,
                                     const struct gpnn_explain_column *column,
                                     struct gpnn_importance_loss *losses, struct gpnn_error *err)
{
  const struct gpnn_predict_rows rows = changed_rows(job);
  memset(job->sum, 0, job->n * GPNN_IMPORTANCE_LOSSES * sizeof *job->sum);
  restore(job);
  lose(job, column);
  enum gpnn_status status = score(job, &rows, job->loss, err);
  for (size_t k = 0; k < GPNN_IMPORTANCE_LOSSES && status == GPNN_OK; k++) {
    double difference = add_difference(job, k);
    losses[k] = summarise(job, k, 1, &difference);
  }
  return status;
}

enum gpnn_status gpnn_importance_of(const struct gpnn_importance_job *job,
                                    const struct gpnn_explain_column *column, size_t n_permutations,
                                    uint64_t seed, struct gpnn_importance *importance,
                                    struct gpnn_error *err)
{
  bool is_regressor = job->rows->of.regressors != NULL && column->regressor != SIZE_MAX;
  bool is_seen = column->n > 0 || is_regressor;
  bool may_be_missing = !is_regressor && gpnn_dataset_takes_missing(job->dataset);
  struct gpnn_importance found = {0};
  for (size_t k = 0; k < GPNN_IMPORTANCE_LOSSES && is_seen && !may_be_missing; k++)
    found.missing[k] = (struct gpnn_importance_loss){NAN, NAN};
  enum gpnn_status status =
      is_seen ? find_permuted(job, column, n_permutations, seed, found.permuted, err) : GPNN_OK;
  if (status == GPNN_OK && is_seen && may_be_missing)
    status = find_missing(job, column, found.missing, err);
  if (status == GPNN_OK) *importance = found;
  return status;
}
