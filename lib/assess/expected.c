#include "assess/expected.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assess/calibrate.h"
#include "assess/crossfit.h"
#include "base/memory.h"
#include "dataset/missing.h"
#include "likelihood/categorical.h"
#include "models/heldout.h"
#include "models/labels.h"
#include "models/predict.h"

enum { MOST_HELD_OUT = 10000, LEFT_OUT = 1000, FEWEST_TO_REFIT = 3 };

/* What is scored, and what the rows have come to so far. */
struct job {
  size_t n; /* channels that are estimated together, */
  const struct gpnn_channel *channels;
  size_t channel; /* and the one in question */
  const struct gpnn_dataset *truths;
  struct gpnn_expected_options options;
  struct gpnn_metrics metrics, parts[GPNN_EXPECTED_PARTS];
  size_t n_classes; /* 0: the target is a number */
  struct gpnn_classification classes;
  double nll_of_shares; /* the sum of it */
  double *share;        /* owned; n_classes */
};

static const struct gpnn_channel *channel_of(const struct job *job)
{
  return &job->channels[job->channel];
}

/* ---- rows --------------------------------------------------------------------------------- */

/* Rows to predict, without their offsets, and their targets.  Arrays of 'own' are owned. */
struct rows {
  struct gpnn_predict_rows of;
  double *truth; /* owned */
  struct {
    double *x, *regressors, *noise, *exposure;
    int64_t *self;
  } own;
};

static void rows_release(struct rows *rows)
{
  free(rows->truth);
  free(rows->own.x);
  free(rows->own.regressors);
  free(rows->own.noise);
  free(rows->own.exposure);
  free(rows->own.self);
}

/* Puts standardised noise variances, if there are any, into the target's units squared. */
static enum gpnn_status set_noise(struct rows *rows, const struct gpnn_dataset *dataset,
                                  const double *noise, struct gpnn_error *err)
{
  double unit = dataset->scaling.y_sd * dataset->scaling.y_sd;
  if (noise == NULL) return GPNN_OK;
  rows->own.noise = gpnn_alloc(rows->of.n, 1, sizeof *rows->own.noise);
  if (rows->own.noise == NULL) return gpnn_fail_memory(err, "for the rows to score");
  for (size_t i = 0; i < rows->of.n; i++)
    rows->own.noise[i] = unit * noise[rows->of.self == NULL ? i : (size_t)rows->of.self[i]];
  rows->of.noise = rows->own.noise;
  return GPNN_OK;
}

static enum gpnn_status rows_held_out(const struct job *job, struct rows *rows,
                                      struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = channel_of(job)->dataset;
  const struct gpnn_heldout heldout = gpnn_heldout_of_dataset(dataset);
  const struct gpnn_heldout original = gpnn_heldout_of_dataset(job->truths);
  size_t n = heldout.query.n < MOST_HELD_OUT ? heldout.query.n : MOST_HELD_OUT;
  rows->of = (struct gpnn_predict_rows){.n = n,
                                        .x = heldout.query.x,
                                        .regressors = heldout.query.regressors,
                                        .exposure = heldout.exposure};
  rows->truth = gpnn_alloc(n, 1, sizeof *rows->truth);
  if (rows->truth == NULL) return gpnn_fail_memory(err, "for the rows to score");
  for (size_t i = 0; i < n; i++)
    rows->truth[i] = gpnn_scaling_restore(&job->truths->scaling, original.y[i], 0);
  return set_noise(rows, dataset, heldout.noise, err);
}

/* Copies those of the 'n' training rows 'from' that belong to 'fold', or all where 'crossfit' is
 * NULL. */
static enum gpnn_status rows_of_training(const struct job *job,
                                         const struct gpnn_crossfit *crossfit, size_t fold,
                                         size_t n, const int64_t *from, struct rows *rows,
                                         struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = channel_of(job)->dataset;
  size_t d = dataset->d, p = dataset->n_regressors, m = 0;
  rows->own.self = gpnn_alloc(n, 1, sizeof *rows->own.self);
  rows->own.x = gpnn_alloc(n, d, sizeof *rows->own.x);
  rows->own.regressors = gpnn_alloc(n, p, sizeof *rows->own.regressors);
  rows->own.exposure = gpnn_alloc(n, 1, sizeof *rows->own.exposure);
  rows->truth = gpnn_alloc(n, 1, sizeof *rows->truth);
  if (rows->own.self == NULL || rows->own.x == NULL || rows->own.regressors == NULL ||
      rows->own.exposure == NULL || rows->truth == NULL)
    return gpnn_fail_memory(err, "for the rows to score");
  for (size_t i = 0; i < n; i++) {
    size_t row = (size_t)from[i];
    if (crossfit != NULL && gpnn_crossfit_fold(crossfit, from[i]) != fold) continue;
    gpnn_missing_restore(dataset, row, rows->own.x + m * d);
    if (p > 0)
      memcpy(rows->own.regressors + m * p, dataset->regressors + row * p,
             p * sizeof *dataset->regressors);
    rows->truth[m] = gpnn_scaling_restore(&job->truths->scaling, job->truths->y[row], 0);
    rows->own.exposure[m] = dataset->exposure == NULL ? 1 : dataset->exposure[row];
    rows->own.self[m++] = from[i];
  }
  rows->of =
      (struct gpnn_predict_rows){.n = m,
                                 .x = rows->own.x,
                                 .regressors = p > 0 ? rows->own.regressors : NULL,
                                 .exposure = dataset->exposure == NULL ? NULL : rows->own.exposure,
                                 .self = rows->own.self};
  return set_noise(rows, dataset, dataset->observed != NULL ? NULL : dataset->noise, err);
}

/* ---- scores ------------------------------------------------------------------------------- */

/* Scores one row: by its density where mean, sd and degrees of freedom do not determine that. */
static enum gpnn_status add_to(const struct gpnn_predictor *predictor, bool says_all,
                               const struct gpnn_distribution *distribution, double truth,
                               struct gpnn_metrics *metrics, struct gpnn_error *err)
{
  struct gpnn_distribution_score score;
  double mean = 0, sd = 0;
  enum gpnn_status status = gpnn_predict_moments(predictor, 1, distribution, &mean, &sd, err);
  if (status != GPNN_OK) return status;
  if (says_all) return gpnn_metrics_add(metrics, truth, mean, sd, distribution->degrees, err);
  gpnn_predict_scores(predictor, 1, distribution, &truth, &score);
  const struct gpnn_metrics_given given = {score.logp, score.crps, score.pit, score.step};
  return gpnn_metrics_add_given(metrics, truth, mean, sd, INFINITY, &given, err);
}

/* Scores one row in all of them, and in its part. */
static enum gpnn_status add(struct job *job, const struct gpnn_predictor *predictor, bool says_all,
                            const struct gpnn_distribution *distribution, double truth,
                            struct gpnn_error *err)
{
  struct gpnn_metrics *part = &job->parts[job->metrics.n % GPNN_EXPECTED_PARTS];
  enum gpnn_status status = add_to(predictor, says_all, distribution, truth, &job->metrics, err);
  if (status != GPNN_OK || job->options.parts == NULL) return status;
  return add_to(predictor, says_all, distribution, truth, part, err);
}

/* Adds the scores of rows whose classes have the probabilities 'p'. */
static enum gpnn_status add_classes(struct job *job, const struct rows *rows, double *p,
                                    struct gpnn_error *err)
{
  double temperature = channel_of(job)->parameters->calibration.temperature;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < rows->of.n && status == GPNN_OK; i++) {
    double *own = p + i * job->n_classes;
    size_t label;
    gpnn_labels_temper(job->n_classes, temperature > 0 ? temperature : 1, own);
    gpnn_labels_rank(job->n_classes, own, NULL, 1, &label);
    const struct gpnn_classification_row row = {
        .truth = (uint32_t)rows->truth[i], .label = (uint32_t)label, .p = own};
    status = gpnn_classification_add(&job->classes, &row, err);
    job->nll_of_shares -= log(job->share[row.truth]);
  }
  return status;
}

/* The same as score() for classes. */
static enum gpnn_status score_classes(struct job *job, const struct gpnn_model *model,
                                      size_t channel, const struct rows *rows,
                                      struct gpnn_error *err)
{
  const struct gpnn_query query = {
      .n = rows->of.n, .x = rows->of.x, .regressors = rows->of.regressors, .self = rows->of.self};
  struct gpnn_counts counts = {0};
  double *p = gpnn_alloc(query.n, job->n_classes, sizeof *p);
  if (p == NULL) return gpnn_fail_memory(err, "for the rows to score");
  enum gpnn_status status = gpnn_model_classify(model, channel, &query, p, NULL, &counts, err);
  if (status == GPNN_OK) status = add_classes(job, rows, p, err);
  free(p);
  return status;
}

/* Predicts rows by channel number 'channel' of a model, and adds their scores. */
static enum gpnn_status score(struct job *job, const struct gpnn_model *model, size_t channel,
                              const struct rows *rows, struct gpnn_error *err)
{
  if (job->n_classes > 0) return score_classes(job, model, channel, rows, err);
  const struct gpnn_predict_options options = {.units = GPNN_UNITS_ORIGINAL};
  size_t n = rows->of.n, n_channels = gpnn_model_n_channels(model);
  struct gpnn_predictor *predictor = NULL;
  struct gpnn_distribution *distributions = gpnn_alloc(n, n_channels, sizeof *distributions);
  struct gpnn_counts *counts = gpnn_alloc(n_channels, 1, sizeof *counts);
  enum gpnn_status status = distributions == NULL || counts == NULL
                                ? gpnn_fail_memory(err, "for the rows to score")
                                : GPNN_OK;
  if (status == GPNN_OK) status = gpnn_predictor_new(&predictor, model, &options, err);
  if (status == GPNN_OK)
    status = gpnn_predict_distributions(predictor, &rows->of, distributions, counts, err);
  bool says_all = status == GPNN_OK && !gpnn_predictor_needs_scores(predictor, channel);
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    status = add(job, predictor, says_all, &distributions[channel * n + i], rows->truth[i], err);
  gpnn_predictor_free(predictor);
  free(distributions);
  free(counts);
  return status;
}

/* ---- where rows come from ----------------------------------------------------------------- */

static enum gpnn_status score_held_out(struct job *job, const struct gpnn_model *model,
                                       struct gpnn_error *err)
{
  struct rows rows = {0};
  enum gpnn_status status = rows_held_out(job, &rows, err);
  if (status == GPNN_OK) status = score(job, model, 0, &rows, err);
  rows_release(&rows);
  return status;
}

static enum gpnn_status score_left_out(struct job *job, const struct gpnn_model *model,
                                       struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = channel_of(job)->dataset;
  const struct gpnn_holdout_options options = {.how = GPNN_HOLDOUT_ALONE,
                                               .n_rows =
                                                   dataset->n < LEFT_OUT ? dataset->n : LEFT_OUT,
                                               .seed = job->options.seed};
  struct gpnn_heldout drawn = {0};
  struct rows rows = {0};
  enum gpnn_status status = gpnn_model_hold_out(model, &options, &drawn, err);
  if (status == GPNN_OK)
    status = rows_of_training(job, NULL, 0, drawn.query.n, drawn.query.self, &rows, err);
  if (status == GPNN_OK) status = score(job, model, 0, &rows, err);
  rows_release(&rows);
  gpnn_heldout_release(&drawn);
  return status;
}

static enum gpnn_status score_fold(struct job *job, const struct gpnn_crossfit *crossfit,
                                   size_t fold, struct gpnn_error *err)
{
  struct rows rows = {0};
  enum gpnn_status status = rows_of_training(job, crossfit, fold, gpnn_crossfit_n_rows(crossfit),
                                             gpnn_crossfit_rows(crossfit), &rows, err);
  if (status == GPNN_OK)
    status = score(job, gpnn_crossfit_model(crossfit, fold), job->channel, &rows, err);
  rows_release(&rows);
  return status;
}

static enum gpnn_status score_cross_fitted(struct job *job, struct gpnn_error *err)
{
  const struct gpnn_model_options options = {.threads = job->options.threads};
  size_t n = channel_of(job)->dataset->n;
  struct gpnn_crossfit *crossfit = NULL;
  enum gpnn_status status =
      gpnn_crossfit_again(&crossfit, job->n, job->channels, &options, n < LEFT_OUT ? n : LEFT_OUT,
                          job->options.seed, job->options.n_known, job->options.known, err);
  size_t n_folds = status == GPNN_OK ? gpnn_crossfit_n_folds(crossfit) : 0;
  for (size_t f = 0; f < n_folds && status == GPNN_OK; f++)
    status = score_fold(job, crossfit, f, err);
  gpnn_crossfit_free(crossfit);
  return status;
}

/* ---- the choice --------------------------------------------------------------------------- */

/* Which rows suit, as gpnn-calibrate chooses its own. */
static enum gpnn_expected_on choose(const struct job *job)
{
  const struct gpnn_dataset *dataset = channel_of(job)->dataset;
  const struct gpnn_parameters *params = channel_of(job)->parameters;
  bool few = !gpnn_dataset_holds_out_enough(dataset) && dataset->n_calibration < dataset->n;
  bool other = params->provenance.has_index && params->provenance.index != dataset->fingerprint;
  bool can_refit = params->likelihood != GPNN_LIKELIHOOD_GAUSSIAN && !other &&
                   dataset->n >= FEWEST_TO_REFIT && gpnn_channels_can_refit(job->n, job->channels);
  if (few && can_refit)
    return gpnn_calibrate_is_circular(params, gpnn_dataset_n_distinct(dataset))
               ? GPNN_EXPECTED_CROSS_FITTED
               : GPNN_EXPECTED_LEFT_OUT;
  return dataset->n_calibration > 0 ? GPNN_EXPECTED_HELD_OUT : GPNN_EXPECTED_LEFT_OUT;
}

static void release(struct job *job)
{
  gpnn_metrics_release(&job->metrics);
  for (size_t i = 0; i < GPNN_EXPECTED_PARTS; i++) gpnn_metrics_release(&job->parts[i]);
  gpnn_classification_release(&job->classes);
}

/* Begins anew, without rows. */
static void forget(struct job *job)
{
  static const double level[] = {GPNN_EXPECTED_LEVEL};
  release(job);
  gpnn_metrics_levels(&job->metrics, 1, level);
  for (size_t i = 0; i < GPNN_EXPECTED_PARTS; i++) gpnn_metrics_levels(&job->parts[i], 1, level);
  gpnn_classification_init(&job->classes, job->n_classes, true);
  job->nll_of_shares = 0;
}

static enum gpnn_status set_shares(struct job *job, struct gpnn_error *err)
{
  const struct gpnn_dataset *truths = job->truths;
  job->share = gpnn_alloc(job->n_classes, 1, sizeof *job->share);
  if (job->share == NULL) return gpnn_fail_memory(err, "for the classes");
  gpnn_categorical_shares(job->n_classes, truths->n, truths->y, job->share);
  return GPNN_OK;
}

/* The scores of the parts, if they have enough rows. */
static enum gpnn_status finish_parts(struct job *job, struct gpnn_expected *found,
                                     struct gpnn_error *err)
{
  enum { LEAST = 10 };
  enum gpnn_status status = GPNN_OK;
  found->has_parts = job->options.parts != NULL && job->n_classes == 0 &&
                     job->metrics.n >= LEAST * GPNN_EXPECTED_PARTS;
  for (size_t i = 0; found->has_parts && i < GPNN_EXPECTED_PARTS && status == GPNN_OK; i++)
    status = gpnn_metrics_result(&job->parts[i], &job->options.parts[i], err);
  return status;
}

/* What the rows have come to. */
static enum gpnn_status finish(struct job *job, struct gpnn_expected *found, struct gpnn_error *err)
{
  if (job->n_classes == 0) return gpnn_metrics_result(&job->metrics, &found->scores, err);
  enum gpnn_status status = gpnn_classification_result(&job->classes, &found->classes, err);
  found->of_classes = true;
  found->scores.n = found->classes.n;
  found->nll_of_shares = job->nll_of_shares / (double)found->classes.n;
  return status;
}

static enum gpnn_status score_all(struct job *job, enum gpnn_expected_on *on,
                                  struct gpnn_error *err)
{
  const struct gpnn_model_options options = {.threads = job->options.threads};
  const struct gpnn_dataset *dataset = channel_of(job)->dataset;
  struct gpnn_model *model = NULL;
  *on = choose(job);
  if (*on == GPNN_EXPECTED_CROSS_FITTED) {
    enum gpnn_status status = score_cross_fitted(job, err);
    if ((status != GPNN_EDATA && status != GPNN_ENUMERIC) || dataset->n_calibration == 0)
      return status;
    forget(job); /* a fold left too little to estimate from */
    *on = GPNN_EXPECTED_HELD_OUT;
  }
  enum gpnn_status status = gpnn_model_new(&model, 1, channel_of(job), &options, err);
  if (status == GPNN_OK)
    status = *on == GPNN_EXPECTED_HELD_OUT ? score_held_out(job, model, err)
                                           : score_left_out(job, model, err);
  gpnn_model_free(model);
  return status;
}

/* Scores training rows each predicted from all others, those that are copies of it too. */
static enum gpnn_status score_with_copies(struct job *job, struct gpnn_expected *found,
                                          struct gpnn_error *err)
{
  const struct gpnn_model_options options = {.threads = job->options.threads};
  struct gpnn_dataset rows = *channel_of(job)->dataset;
  const struct gpnn_channel channel = {&rows, channel_of(job)->parameters};
  struct gpnn_model *model = NULL;
  rows.row_group = NULL;
  rows.n_row_groups = 0;
  forget(job);
  enum gpnn_status status = gpnn_model_new(&model, 1, &channel, &options, err);
  if (status == GPNN_OK) status = score_left_out(job, model, err);
  struct gpnn_expected with_copies = {0};
  if (status == GPNN_OK) status = finish(job, &with_copies, err);
  found->scores_with_copies = with_copies.scores;
  found->classes_with_copies = with_copies.classes;
  gpnn_model_free(model);
  return status;
}

enum gpnn_status gpnn_expected_scores(size_t n, const struct gpnn_channel *channels, size_t target,
                                      const struct gpnn_dataset *truths,
                                      const struct gpnn_expected_options *options,
                                      struct gpnn_expected *expected, struct gpnn_error *err)
{
  bool shared = channels[target].parameters->provenance.estimation.shared_lengthscales;
  struct job *job = gpnn_alloc(1, 1, sizeof *job); /* stacks may be small */
  if (job == NULL) return gpnn_fail_memory(err, "for scores");
  *job = (struct job){.n = shared ? n : 1,
                      .channels = shared ? channels : channels + target,
                      .channel = shared ? target : 0,
                      .truths = truths,
                      .options = *options,
                      .n_classes = gpnn_dataset_n_classes(truths)};
  struct gpnn_expected found = {
      .unit = truths->scaling.y_sd,
      .of_counts = gpnn_likelihood_is_of_counts(channels[target].parameters->likelihood)};
  forget(job);
  enum gpnn_status status = job->n_classes > 0 ? set_shares(job, err) : GPNN_OK;
  if (status == GPNN_OK) status = score_all(job, &found.on, err);
  if (status == GPNN_OK) status = finish(job, &found, err);
  if (status == GPNN_OK) status = finish_parts(job, &found, err);
  const struct gpnn_dataset *rows = channel_of(job)->dataset;
  found.n_copies = rows->n - gpnn_dataset_n_distinct(rows);
  if (status == GPNN_OK && found.n_copies > 0) status = score_with_copies(job, &found, err);
  release(job);
  free(job->share);
  free(job);
  if (status == GPNN_OK) *expected = found;
  return status;
}
