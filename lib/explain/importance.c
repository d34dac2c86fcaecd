#include "explain/importance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/rng.h"
#include "dataset/missing.h"
#include "linalg/arrays.h"
#include "models/labels.h"
#include "models/missing.h"

/* Some of the rows of a job, changed or not, and what is needed to predict and score them. */
struct taken {
  size_t n;
  size_t *row; /* which they are; the following are those of these rows, in this order */
  double *x, *regressors, *noise, *exposure, *truth;
  int64_t *self;
};

struct gpnn_importance_job {
  const struct gpnn_dataset *dataset;
  const struct gpnn_importance_rows *rows;
  struct gpnn_predictor *predictor; /* owned; NULL: of classes, */
  struct gpnn_labels *labels;       /* owned: for which there is this */
  size_t n, n_classes, n_draws;     /* of what is missing */
  bool has_regressors;
  double *base; /* 2 by n: losses of rows with all columns, as score() has them */
  /* Scratch. */
  struct taken taken;
  double *sum; /* n: over ways, of what a row contributes */
  size_t n_groups;
  double *of_group;    /* n_groups: the sum of a group's rows; NaN: none is taken */
  uint64_t *permuted;  /* n */
  double *p, *moments; /* n by classes; n */
  struct gpnn_distribution *distributions;
  struct gpnn_distribution_score *scores;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* Losses of rows that lack something in several ways. */
struct losses {
  size_t n_ways;
  size_t n;      /* rows that do */
  uint64_t *row; /* owned; n: they, in ascending order */
  double share;  /* of what draws lose that very many would; 1: there are no draws */
  double *loss;  /* owned; n_ways by 2 by the job's n */
};

/* ---- rows taken ------------------------------------------------------------------------------ */

/* Takes row 'i' as it is. */
static void take(struct gpnn_importance_job *job, size_t i)
{
  const struct gpnn_predict_rows *of = &job->rows->of;
  struct taken *t = &job->taken;
  size_t k = t->n++, d = job->dataset->d, p = job->dataset->n_regressors;
  t->row[k] = i;
  t->truth[k] = job->rows->truth[i];
  memcpy(t->x + k * d, of->x + i * d, d * sizeof *t->x);
  if (job->has_regressors)
    memcpy(t->regressors + k * p, of->regressors + i * p, p * sizeof *t->regressors);
  if (of->noise != NULL) t->noise[k] = of->noise[i];
  if (of->exposure != NULL) t->exposure[k] = of->exposure[i];
  if (of->self != NULL) t->self[k] = of->self[i];
}

/* Gives the row that was taken last the values of row 'from' in the columns. */
static void give(struct gpnn_importance_job *job, const struct gpnn_explain_group *group,
                 size_t from)
{
  const struct gpnn_predict_rows *of = &job->rows->of;
  size_t k = job->taken.n - 1, d = job->dataset->d, p = job->dataset->n_regressors;
  for (size_t g = 0; g < group->n; g++) {
    const struct gpnn_explain_column *column = group->of[g];
    for (size_t c = 0; c < column->n; c++)
      job->taken.x[k * d + column->coordinate[c]] = of->x[from * d + column->coordinate[c]];
    if (job->has_regressors && column->regressor != SIZE_MAX)
      job->taken.regressors[k * p + column->regressor] =
          of->regressors[from * p + column->regressor];
  }
}

/* True if the row that was taken last is what it was. */
static bool is_unchanged(const struct gpnn_importance_job *job)
{
  const struct gpnn_predict_rows *of = &job->rows->of;
  const struct taken *t = &job->taken;
  size_t k = t->n - 1, i = t->row[k], d = job->dataset->d, p = job->dataset->n_regressors;
  return memcmp(t->x + k * d, of->x + i * d, d * sizeof *t->x) == 0 &&
         (!job->has_regressors ||
          memcmp(t->regressors + k * p, of->regressors + i * p, p * sizeof *t->regressors) == 0);
}

static void lose(struct gpnn_importance_job *job, const struct gpnn_explain_group *group)
{
  double *x = job->taken.x + (job->taken.n - 1) * job->dataset->d;
  for (size_t g = 0; g < group->n; g++)
    for (size_t c = 0; c < group->of[g]->n; c++) x[group->of[g]->coordinate[c]] = NAN;
}

/* ---- losses of rows -------------------------------------------------------------------------- */

static struct gpnn_predict_rows rows_taken(const struct gpnn_importance_job *job)
{
  const struct gpnn_predict_rows *of = &job->rows->of;
  const struct taken *t = &job->taken;
  return (struct gpnn_predict_rows){.n = t->n,
                                    .x = t->x,
                                    .regressors = job->has_regressors ? t->regressors : NULL,
                                    .noise = of->noise == NULL ? NULL : t->noise,
                                    .exposure = of->exposure == NULL ? NULL : t->exposure,
                                    .self = of->self == NULL ? NULL : t->self};
}

static enum gpnn_status score_classes(const struct gpnn_importance_job *job,
                                      const struct gpnn_predict_rows *rows, double *loss,
                                      struct gpnn_error *err)
{
  const struct taken *t = &job->taken;
  struct gpnn_counts counts = {0};
  enum gpnn_status status = gpnn_labels_predict(job->labels, rows, job->p, &counts, err);
  for (size_t k = 0; k < t->n && status == GPNN_OK; k++) {
    loss[t->row[k]] = -log(job->p[k * job->n_classes + (size_t)t->truth[k]]);
    loss[job->n + t->row[k]] = NAN;
  }
  return status;
}

/* Writes the CRPS and the squared error of each row taken, or its negative log probability and NaN,
 * to its place in 'loss' (2 by the job's n), and takes none any more. */
static enum gpnn_status score(struct gpnn_importance_job *job, double *loss, struct gpnn_error *err)
{
  const struct gpnn_predict_rows rows = rows_taken(job);
  struct taken *t = &job->taken;
  struct gpnn_counts counts = {0};
  enum gpnn_status status = GPNN_OK;
  if (job->labels != NULL) {
    status = score_classes(job, &rows, loss, err);
    t->n = 0;
    return status;
  }
  status = gpnn_predict_distributions(job->predictor, &rows, job->distributions, &counts, err);
  if (status == GPNN_OK)
    status =
        gpnn_predict_moments(job->predictor, t->n, job->distributions, job->moments, NULL, err);
  if (status == GPNN_OK)
    gpnn_predict_scores(job->predictor, t->n, job->distributions, t->truth, job->scores);
  for (size_t k = 0; k < t->n && status == GPNN_OK; k++) {
    double error = t->truth[k] - job->moments[k];
    loss[t->row[k]] = job->scores[k].crps;
    loss[job->n + t->row[k]] = error * error;
  }
  t->n = 0;
  return status;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* The group of a row, which without any is one by itself. */
static size_t group_of(const struct gpnn_importance_job *job, size_t i)
{
  const uint32_t *of_training = job->dataset->row_group;
  const int64_t *self = job->rows->of.self;
  if (job->rows->group != NULL) return job->rows->group[i];
  return self != NULL && of_training != NULL ? of_training[self[i]] : i;
}

static size_t count_groups(const struct gpnn_importance_job *job)
{
  size_t n = 0;
  for (size_t i = 0; i < job->n; i++)
    if (group_of(job, i) >= n) n = group_of(job, i) + 1;
  return n;
}

/* ---- life ------------------------------------------------------------------------------------ */

static enum gpnn_status make_room(struct gpnn_importance_job *job, struct gpnn_error *err)
{
  size_t n = job->n, n_numbers = job->n_classes > 0 ? 0 : n;
  struct taken *t = &job->taken;
  job->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(job->base, n, GPNN_IMPORTANCE_LOSSES), GPNN_ARRAY(t->row, n, 1),
      GPNN_ARRAY(t->x, n, job->dataset->d),
      GPNN_ARRAY_IF(job->has_regressors, t->regressors, n, job->dataset->n_regressors),
      GPNN_ARRAY(t->noise, n, 1), GPNN_ARRAY(t->exposure, n, 1), GPNN_ARRAY(t->truth, n, 1),
      GPNN_ARRAY(t->self, n, 1), GPNN_ARRAY(job->sum, n, 1),
      GPNN_ARRAY(job->of_group, job->n_groups, 1), GPNN_ARRAY(job->permuted, n, 1),
      GPNN_ARRAY(job->p, n, job->n_classes), GPNN_ARRAY(job->moments, n_numbers, 1),
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
  *new = (struct gpnn_importance_job){.dataset = dataset,
                                      .rows = rows,
                                      .n = rows->of.n,
                                      .n_draws = gpnn_missing_draws(model),
                                      .n_classes = gpnn_dataset_n_classes(dataset),
                                      .has_regressors = rows->of.regressors != NULL};
  new->n_groups = count_groups(new);
  enum gpnn_status status = make_room(new, err);
  if (status == GPNN_OK)
    status = new->n_classes > 0 ? gpnn_labels_new(&new->labels, model, 0, &usual, err)
                                : gpnn_predictor_new(&new->predictor, model, &usual, err);
  for (size_t i = 0; i < new->n &&status == GPNN_OK; i++) take(new, i);
  if (status == GPNN_OK) status = score(new, new->base, err);
  if (status == GPNN_OK)
    *job = new;
  else
    gpnn_importance_free(new);
  return status;
}

void gpnn_importance_free(struct gpnn_importance_job *job)
{
  if (job == NULL) return;
  gpnn_predictor_free(job->predictor);
  gpnn_labels_free(job->labels);
  gpnn_arrays_free(job->arrays);
  free(job);
}

/* ---- averages -------------------------------------------------------------------------------- */

static double mean_of(size_t n, const double *values)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += values[i];
  return sum / (double)n;
}

/* What the losses of kind 'k' of 'n' rows come to; 'loss' has those of all rows, which the 'n' are
 * for 'row' NULL. */
static double total(size_t n, const uint64_t *row, size_t k, const double *loss)
{
  double sum = 0;
  for (size_t c = 0; c < n; c++) sum += loss[row == NULL ? c : row[c]];
  return k == 0 ? sum / (double)n : sqrt(sum / (double)n);
}

void gpnn_importance_base(const struct gpnn_importance_job *job,
                          double base[GPNN_IMPORTANCE_LOSSES])
{
  for (size_t k = 0; k < GPNN_IMPORTANCE_LOSSES; k++)
    base[k] = total(job->n, NULL, k, job->base + k * job->n);
}

/* A difference, and its slopes in the losses that it is of. */
struct contrast {
  double difference, in_after, in_before;
};

/* What is lost, of what K draws lose: the mean of these has another variance between them over K
 * for an error, as much as 'share', K / (K + 1), leaves out (equation 22.3).  1: there are no
 * draws.
 */
static struct contrast contrast_of(const struct gpnn_importance_job *job, double share,
                                   double before, double after)
{
  double whole = hypot(sqrt(1 - share) * before, sqrt(share) * after);
  if (job->labels != NULL || !(whole > 0))
    return (struct contrast){share * (after - before), share, -share};
  return (struct contrast){whole - before, share * after / whole, (1 - share) * before / whole - 1};
}

/* Adds what each row contributes to the difference that 'losses' in a way make, and returns the
 * difference.  A root's is linear in the squared errors as far as standard errors are concerned. */
static double add_difference(const struct gpnn_importance_job *job, const struct losses *losses,
                             size_t k, size_t way)
{
  const double *loss = losses->loss + (way * GPNN_IMPORTANCE_LOSSES + k) * job->n;
  const double *base = job->base + k * job->n;
  double after = total(losses->n, losses->row, k, loss);
  double before = total(losses->n, losses->row, k, base);
  struct contrast contrast = contrast_of(job, losses->share, before, after);
  if (k > 0) contrast.in_after *= after > 0 ? 0.5 / after : 0;
  if (k > 0) contrast.in_before *= before > 0 ? 0.5 / before : 0;
  for (size_t c = 0; c < losses->n; c++)
    job->sum[c] +=
        contrast.in_after * loss[losses->row[c]] + contrast.in_before * base[losses->row[c]];
  return contrast.difference;
}

/* The squared standard error of the mean of 'n' numbers; 0 of a single one. */
static double squared_error(size_t n, const double *values)
{
  double mean = mean_of(n, values), sum = 0;
  if (n < 2) return 0;
  for (size_t i = 0; i < n; i++) sum += (values[i] - mean) * (values[i] - mean);
  return sum / (double)(n - 1) / (double)n;
}

/* The squared standard error of the mean of the rows' sums, divided by the ways: of groups as one
 * (equation 22.4). */
static double squared_error_of_rows(const struct gpnn_importance_job *job,
                                    const struct losses *losses)
{
  size_t n = losses->n, n_groups = 0;
  double mean = mean_of(n, job->sum), sum = 0, by = (double)losses->n_ways;
  for (size_t g = 0; g < job->n_groups; g++) job->of_group[g] = NAN;
  for (size_t c = 0; c < n; c++) {
    double *of = &job->of_group[group_of(job, losses->row[c])];
    *of = (isnan(*of) ? 0 : *of) + (job->sum[c] - mean);
  }
  for (size_t g = 0; g < job->n_groups; g++) {
    if (isnan(job->of_group[g])) continue;
    sum += job->of_group[g] * job->of_group[g];
    n_groups++;
  }
  if (n_groups < 2) return 0;
  return sum / (by * by) * (double)n_groups / (double)(n_groups - 1) / (double)n / (double)n;
}

/* What the losses of kind 'k' are, on average over ways.  'difference' (n_ways) is scratch. */
static struct gpnn_importance_loss summarise(const struct gpnn_importance_job *job,
                                             const struct losses *losses, size_t k,
                                             double *difference)
{
  size_t ways = losses->n_ways;
  memset(job->sum, 0, losses->n * sizeof *job->sum);
  for (size_t way = 0; way < ways; way++) difference[way] = add_difference(job, losses, k, way);
  double of_rows = squared_error_of_rows(job, losses);
  return (struct gpnn_importance_loss){.mean = mean_of(ways, difference),
                                       .standard_error =
                                           sqrt(of_rows + squared_error(ways, difference))};
}

/* ---- columns taken away ---------------------------------------------------------------------- */

/* Chooses the rows that lack something: at random, as the order of rows may mean something. */
static enum gpnn_status choose_rows(const struct gpnn_importance_job *job, uint64_t seed,
                                    struct losses *losses, struct gpnn_error *err)
{
  struct gpnn_rng rng;
  gpnn_rng_init_at(&rng, seed, GPNN_RNG_PERMUTE, UINT64_MAX);
  enum gpnn_status status = gpnn_rng_sample(&rng, job->n, losses->n, losses->row, err);
  qsort(losses->row, losses->n, sizeof *losses->row, gpnn_compare_uint64s);
  return status;
}

/* Gives each row the values of another, and scores those that this changes. */
static enum gpnn_status score_permuted(struct gpnn_importance_job *job,
                                       const struct gpnn_explain_group *group, uint64_t seed,
                                       const struct losses *losses, size_t way,
                                       struct gpnn_error *err)
{
  double *loss = losses->loss + way * GPNN_IMPORTANCE_LOSSES * job->n;
  struct gpnn_rng rng;
  gpnn_rng_init_at(&rng, seed, GPNN_RNG_PERMUTE, way);
  enum gpnn_status status = gpnn_rng_sample(&rng, job->n, job->n, job->permuted, err);
  if (status != GPNN_OK) return status;
  memcpy(loss, job->base, job->n * GPNN_IMPORTANCE_LOSSES * sizeof *loss);
  for (size_t c = 0; c < losses->n; c++) {
    take(job, losses->row[c]);
    give(job, group, (size_t)job->permuted[losses->row[c]]);
    if (is_unchanged(job)) job->taken.n--;
  }
  return score(job, loss, err);
}

static enum gpnn_status score_missing(struct gpnn_importance_job *job,
                                      const struct gpnn_explain_group *group,
                                      const struct losses *losses, struct gpnn_error *err)
{
  for (size_t c = 0; c < losses->n; c++) {
    take(job, losses->row[c]);
    lose(job, group);
  }
  return score(job, losses->loss, err);
}

/* True if the model sees one of the columns, and in '*as_regressor' whether in its mean function.
 */
static bool is_seen(const struct gpnn_importance_job *job, const struct gpnn_explain_group *group,
                    bool *as_regressor)
{
  bool is = false;
  *as_regressor = false;
  for (size_t g = 0; g < group->n; g++) {
    is = is || group->of[g]->n > 0;
    *as_regressor = *as_regressor || (job->has_regressors && group->of[g]->regressor != SIZE_MAX);
  }
  return is || *as_regressor;
}

enum gpnn_status gpnn_importance_of(struct gpnn_importance_job *job,
                                    const struct gpnn_explain_group *group,
                                    const struct gpnn_importance_options *options,
                                    struct gpnn_importance *importance, struct gpnn_error *err)
{
  double n_draws = (double)job->n_draws;
  bool as_regressor, seen = is_seen(job, group, &as_regressor);
  bool may_be_missing = !as_regressor && gpnn_dataset_takes_missing(job->dataset);
  size_t n_ways = options->n_permutations, n_losses = GPNN_IMPORTANCE_LOSSES * job->n;
  struct losses permuted = {.n_ways = n_ways, .n = options->n_permuted, .share = 1},
                missing = {.n_ways = 1, .n = options->n_missing, .share = n_draws / (n_draws + 1)};
  struct gpnn_importance found = {0};
  double *difference = NULL;
  struct gpnn_arrays *arrays =
      GPNN_ARRAYS(GPNN_ARRAY(difference, n_ways, 1), GPNN_ARRAY(permuted.loss, n_ways, n_losses),
                  GPNN_ARRAY(missing.loss, 1, n_losses), GPNN_ARRAY(permuted.row, permuted.n, 1),
                  GPNN_ARRAY(missing.row, missing.n, 1));
  enum gpnn_status status = arrays != NULL ? GPNN_OK : gpnn_fail_memory(err, "for permutations");
  if (status == GPNN_OK) status = choose_rows(job, options->seed, &permuted, err);
  if (status == GPNN_OK) status = choose_rows(job, options->seed, &missing, err);
  for (size_t way = 0; way < n_ways && seen && status == GPNN_OK; way++)
    status = score_permuted(job, group, options->seed, &permuted, way, err);
  if (status == GPNN_OK && seen && may_be_missing)
    status = score_missing(job, group, &missing, err);
  for (size_t k = 0; k < GPNN_IMPORTANCE_LOSSES && seen && status == GPNN_OK; k++) {
    found.permuted[k] = summarise(job, &permuted, k, difference);
    found.missing[k] = may_be_missing ? summarise(job, &missing, k, difference)
                                      : (struct gpnn_importance_loss){NAN, NAN};
  }
  gpnn_arrays_free(arrays);
  if (status == GPNN_OK) *importance = found;
  return status;
}
