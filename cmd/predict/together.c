#include "cmd/predict/together.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "models/grid/posterior.h"

/* ---- predictors of one model ----------------------------------------------------------------- */

/* Predictions of rows, as the forecaster makes them: targets by rows, or rows by classes. */
struct forecast {
  struct gpnn_distribution *numbers;
  double *classes;
};

/* 'model', which is borrowed, has one target if that holds classes.  Outcomes as for
 * gpnn_predictor_new() and gpnn_labels_new(). */
static enum gpnn_status forecaster_new(struct forecaster *forecaster,
                                       const struct gpnn_model *model,
                                       const struct gpnn_predict_options *options,
                                       struct gpnn_error *err)
{
  size_t n_classes = gpnn_dataset_n_classes(gpnn_model_channel(model, 0)->dataset);
  forecaster->width = n_classes > 0 ? n_classes : gpnn_model_n_channels(model);
  return n_classes > 0 ? gpnn_labels_new(&forecaster->classes, model, 0, options, err)
                       : gpnn_predictor_new(&forecaster->numbers, model, options, err);
}

static void forecaster_release(struct forecaster *forecaster)
{
  gpnn_predictor_free(forecaster->numbers);
  gpnn_labels_free(forecaster->classes);
  *forecaster = (struct forecaster){0};
}

/* Predicts rows into 'to'; 'counts' has one for each target.  Outcomes as for
 * gpnn_predict_distributions() and gpnn_labels_predict(). */
static enum gpnn_status forecaster_predict(const struct forecaster *forecaster,
                                           const struct gpnn_predict_rows *rows,
                                           const struct forecast *to, struct gpnn_counts *counts,
                                           struct gpnn_error *err)
{
  return forecaster->classes != NULL
             ? gpnn_labels_predict(forecaster->classes, rows, to->classes, counts, err)
             : gpnn_predict_distributions(forecaster->numbers, rows, to->numbers, counts, err);
}

/* Makes room for predictions of 'n' rows; the caller releases it, also after a failure. */
static enum gpnn_status forecast_new(struct forecast *forecast, const struct forecaster *forecaster,
                                     size_t n, struct gpnn_error *err)
{
  if (forecaster->classes != NULL)
    forecast->classes = gpnn_alloc(n, forecaster->width, sizeof *forecast->classes);
  else
    forecast->numbers = gpnn_alloc(n, forecaster->width, sizeof *forecast->numbers);
  return forecast->classes != NULL || forecast->numbers != NULL
             ? GPNN_OK
             : gpnn_fail_memory(err, "for predictions");
}

static void forecast_release(struct forecast *forecast)
{
  free(forecast->numbers);
  free(forecast->classes);
  *forecast = (struct forecast){0};
}

/* Makes the predictions of all 'n' rows missing. */
static void forecast_clear(const struct forecast *forecast, const struct forecaster *forecaster,
                           size_t n)
{
  const struct gpnn_distribution missing = {.location = NAN, .sd = NAN, .degrees = INFINITY};
  for (size_t i = 0; i < n * forecaster->width; i++)
    if (forecaster->classes != NULL)
      forecast->classes[i] = NAN;
    else
      forecast->numbers[i] = missing;
}

/* Copies those of 'n' rows to the rows 'at' (n) of 'to', which has 'n_all'. */
static void forecast_scatter(const struct forecast *forecast, const struct forecaster *forecaster,
                             size_t n, const size_t *at, size_t n_all, const struct forecast *to)
{
  size_t width = forecaster->width;
  for (size_t i = 0; i < n && forecaster->classes != NULL; i++)
    memcpy(to->classes + at[i] * width, forecast->classes + i * width, width * sizeof *to->classes);
  for (size_t c = 0; c < width && forecaster->classes == NULL; c++)
    for (size_t i = 0; i < n; i++) to->numbers[c * n_all + at[i]] = forecast->numbers[c * n + i];
}

/* ---- some of the rows of a batch, to be predicted apart from the others ---------------------- */

/* A zeroed object may be released. */
struct subset {
  size_t n;
  size_t *at;                                         /* owned; n: their places among all rows */
  double *x, *regressors, *noise, *offset, *exposure; /* owned; NULL: there are none */
  int64_t *self;                                      /* owned; n */
  struct gpnn_predict_rows rows;                      /* borrows the arrays */
};

/* Copies the rows of a subset, each of 'width' numbers, to a new array in '*to'; false: not enough
 * memory. */
static bool gather(const struct subset *subset, size_t width, const double *from, double **to)
{
  if (from == NULL) return true;
  *to = gpnn_alloc(subset->n, width, sizeof **to);
  for (size_t i = 0; i < subset->n && *to != NULL; i++)
    memcpy(*to + i * width, from + subset->at[i] * width, width * sizeof **to);
  return *to != NULL;
}

/* Copies those of 'rows' for which 'chosen' is true; of the dataset, only the numbers of inputs,
 * regressors and targets count.  'self' replaces that of 'rows'.  'subset' must be zeroed; release
 * it after a failure too.  GPNN_ENOMEM. */
static enum gpnn_status subset_init(struct subset *subset, const struct gpnn_predict_rows *rows,
                                    const int64_t *self,
                                    bool (*chosen)(const void *context, int64_t self),
                                    const void *context, const struct gpnn_dataset *dataset,
                                    struct gpnn_error *err)
{
  subset->at = gpnn_alloc(rows->n, 1, sizeof *subset->at);
  if (subset->at == NULL) return gpnn_fail_memory(err, "for predictions");
  for (size_t i = 0; i < rows->n; i++)
    if (chosen(context, self[i])) subset->at[subset->n++] = i;
  subset->self = gpnn_alloc(subset->n, 1, sizeof *subset->self);
  if (subset->self == NULL || !gather(subset, dataset->d, rows->x, &subset->x) ||
      !gather(subset, dataset->n_regressors, rows->regressors, &subset->regressors) ||
      !gather(subset, 1, rows->noise, &subset->noise) ||
      !gather(subset, gpnn_dataset_n_targets(dataset), rows->offset, &subset->offset) ||
      !gather(subset, 1, rows->exposure, &subset->exposure))
    return gpnn_fail_memory(err, "for predictions");
  for (size_t i = 0; i < subset->n; i++) subset->self[i] = self[subset->at[i]];
  subset->rows = (struct gpnn_predict_rows){.n = subset->n,
                                            .x = subset->x,
                                            .regressors = subset->regressors,
                                            .noise = subset->noise,
                                            .offset = subset->offset,
                                            .exposure = subset->exposure,
                                            .self = subset->self};
  return GPNN_OK;
}

static void subset_release(struct subset *subset)
{
  free(subset->at);
  free(subset->x);
  free(subset->regressors);
  free(subset->noise);
  free(subset->offset);
  free(subset->exposure);
  free(subset->self);
}

/* ---- --cross-fit ----------------------------------------------------------------------------- */

/* Estimates the parameters of 'n' targets with the same rows without each fold of the training
 * rows.  GPNN_EDATA: the parameters do not say how they were estimated, or as gpnn_crossfit_new().
 */
static enum gpnn_status folds_open(struct folds *folds, const struct cli *cli,
                                   const struct predict_arguments *a, size_t n,
                                   const struct gpnn_channel *channels, struct gpnn_error *err)
{
  const struct gpnn_model_options options = {.neighbours = a->neighbours,
                                             .precision = a->precision,
                                             .draws = a->draws,
                                             .threads = cli->threads};
  if (!gpnn_channels_can_refit(n, channels))
    return gpnn_fail(err, GPNN_EDATA,
                     "--cross-fit: the parameters do not say how they were estimated, as those of "
                     "gpnn-fit do unless their likelihood is Gaussian or one of counts, or classes "
                     "are inferred by polya-gamma");
  folds->dataset = channels->dataset;
  enum gpnn_status status = gpnn_crossfit_new(&folds->crossfit, n, channels, &options,
                                              channels->dataset->n, cli->seed, err);
  size_t n_folds = status == GPNN_OK ? gpnn_crossfit_n_folds(folds->crossfit) : 0;
  for (size_t f = 0; f < n_folds && status == GPNN_OK; f++)
    status = forecaster_new(&folds->forecasters[f], gpnn_crossfit_model(folds->crossfit, f),
                            &a->plan.options, err);
  return status;
}

/* A fold whose rows are asked for. */
struct fold {
  const struct gpnn_crossfit *crossfit;
  size_t number;
};

static bool is_in_fold(const void *context, int64_t self)
{
  const struct fold *fold = context;
  return gpnn_crossfit_fold(fold->crossfit, self) == fold->number;
}

static enum gpnn_status predict_fold(const struct folds *folds, size_t number,
                                     const struct gpnn_predict_rows *rows,
                                     const struct forecast *to, struct gpnn_counts *counts,
                                     struct gpnn_error *err)
{
  const struct fold fold = {folds->crossfit, number};
  const struct forecaster *forecaster = &folds->forecasters[number];
  struct subset subset = {0};
  struct forecast own = {0};
  enum gpnn_status status =
      subset_init(&subset, rows, rows->self, is_in_fold, &fold, folds->dataset, err);
  if (status == GPNN_OK) status = forecast_new(&own, forecaster, subset.n, err);
  if (status == GPNN_OK) status = forecaster_predict(forecaster, &subset.rows, &own, counts, err);
  if (status == GPNN_OK) forecast_scatter(&own, forecaster, subset.n, subset.at, rows->n, to);
  forecast_release(&own);
  subset_release(&subset);
  return status;
}

/* As forecaster_predict(), for rows that are all training rows, each by the parameters
 * estimated without its fold. */
static enum gpnn_status folds_predict(const struct folds *folds,
                                      const struct gpnn_predict_rows *rows,
                                      const struct forecast *to, struct gpnn_counts *counts,
                                      struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t f = 0; f < gpnn_crossfit_n_folds(folds->crossfit) && status == GPNN_OK; f++)
    status = predict_fold(folds, f, rows, to, counts, err);
  return status;
}

static void folds_release(struct folds *folds)
{
  for (size_t f = 0; f < GPNN_CROSSFIT_FOLDS; f++) forecaster_release(&folds->forecasters[f]);
  gpnn_crossfit_free(folds->crossfit);
  *folds = (struct folds){0};
}

/* ---- together -------------------------------------------------------------------------------- */

bool together_is_apart(const struct predict_arguments *a, const struct opened *opened)
{
  bool differ = false;
  for (size_t t = 1; t < opened->n; t++)
    differ = differ || opened->channels[t].dataset->x != opened->channels[0].dataset->x;
  /* A single target may lack some of the rows too. */
  differ = differ || opened->channels[0].dataset->x != opened->dataset->x;
  return a->loo && differ;
}

/* Makes the model of a grid, which goes on from the state that its estimation left. */
static enum gpnn_status open_grid(const struct predict_arguments *a, const struct opened *opened,
                                  const struct gpnn_model_options *options,
                                  struct together *together, struct gpnn_error *err)
{
  const struct gpnn_channel *channels = opened->channels + together->first;
  const struct gpnn_dataset *dataset = channels->dataset;
  struct gpnn_grid_posterior_options grid = a->grid;
  gpnn_grid_state_find(opened->state, dataset->fingerprint, dataset->schema.target.name, dataset->n,
                       &grid);
  return gpnn_grid_model_new(&together->model, together->n, channels, &grid, options, err);
}

static enum gpnn_status open_one(struct together *together, const struct cli *cli,
                                 const struct predict_arguments *a, const struct opened *opened,
                                 struct gpnn_error *err)
{
  const struct gpnn_model_options options = {.neighbours = a->neighbours,
                                             .precision = a->precision,
                                             .share = a->share,
                                             .draws = a->draws,
                                             .threads = cli->threads};
  size_t first = together->first, n = together->n;
  bool of_grid = opened->channels[first].dataset->grid != NULL;
  enum gpnn_status status =
      of_grid ? open_grid(a, opened, &options, together, err)
              : open_model(cli, opened, first, n, &options, &together->model, err);
  if (status == GPNN_OK)
    status = forecaster_new(&together->forecaster, together->model, &a->plan.options, err);
  if (status == GPNN_OK && a->cross_fit)
    status = folds_open(&together->folds, cli, a, n, opened->channels + first, err);
  return status;
}

/* How many targets from number 'first' on one model predicts. */
static size_t count_together(const struct opened *opened, size_t first, bool is_apart)
{
  size_t end = first + 1;
  if (is_apart || gpnn_dataset_n_classes(opened->channels[first].dataset) > 0) return 1;
  while (end < opened->n && gpnn_dataset_n_classes(opened->channels[end].dataset) == 0) end++;
  return end - first;
}

enum gpnn_status together_new(struct together **together, size_t *n, const struct cli *cli,
                              const struct predict_arguments *a, const struct opened *opened,
                              struct gpnn_error *err)
{
  bool is_apart = together_is_apart(a, opened);
  size_t n_classes = 0, size;
  enum gpnn_status status = GPNN_OK;
  *n = 0;
  *together = calloc(opened->n, sizeof **together);
  if (*together == NULL) return gpnn_fail_memory(err, "for the targets");
  for (size_t first = 0; first < opened->n && status == GPNN_OK; first += size) {
    struct together *one = &(*together)[(*n)++];
    size = count_together(opened, first, is_apart);
    *one = (struct together){
        .first = first, .n = size, .is_apart = is_apart, .n_classes_before = n_classes};
    n_classes += gpnn_dataset_n_classes(opened->channels[first].dataset);
    status = open_one(one, cli, a, opened, err);
  }
  return status;
}

static enum gpnn_status predict(const struct together *together,
                                const struct gpnn_predict_rows *rows, const struct forecast *to,
                                struct gpnn_counts *counts, struct gpnn_error *err)
{
  return together->folds.crossfit != NULL
             ? folds_predict(&together->folds, rows, to, counts, err)
             : forecaster_predict(&together->forecaster, rows, to, counts, err);
}

static bool is_training_row(const void *context, int64_t self)
{
  (void)context;
  return self >= 0;
}

/* Predicts the rows that have the target, which are training rows of it by the numbers in 'self'.
 */
static enum gpnn_status predict_present(const struct together *together,
                                        const struct gpnn_predict_rows *rows, const int64_t *self,
                                        const struct forecast *to, struct gpnn_counts *counts,
                                        struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = gpnn_model_channel(together->model, 0)->dataset;
  const struct forecaster *forecaster = &together->forecaster;
  struct subset subset = {0};
  struct forecast own = {0};
  forecast_clear(to, forecaster, rows->n);
  enum gpnn_status status = subset_init(&subset, rows, self, is_training_row, NULL, dataset, err);
  if (status == GPNN_OK) status = forecast_new(&own, forecaster, subset.n, err);
  if (status == GPNN_OK) status = predict(together, &subset.rows, &own, counts, err);
  if (status == GPNN_OK) forecast_scatter(&own, forecaster, subset.n, subset.at, rows->n, to);
  forecast_release(&own);
  subset_release(&subset);
  return status;
}

enum gpnn_status together_predict(const struct together *together,
                                  const struct gpnn_predict_rows *rows, struct batch *batch,
                                  struct gpnn_counts *counts, struct gpnn_error *err)
{
  size_t t = together->first, n_selves = batch->shape.n_selves;
  const struct forecast to = {batch->distributions + t * rows->n,
                              batch->classes + together->n_classes_before * rows->n};
  if (!together->is_apart) return predict(together, rows, &to, counts + t, err);
  int64_t *self = gpnn_alloc(rows->n, 1, sizeof *self);
  if (self == NULL) return gpnn_fail_memory(err, "for predictions");
  for (size_t i = 0; i < rows->n; i++) self[i] = batch->self[i * n_selves + t];
  enum gpnn_status status = predict_present(together, rows, self, &to, counts + t, err);
  free(self);
  return status;
}

void together_free(struct together *together, size_t n)
{
  for (size_t i = 0; together != NULL && i < n; i++) {
    folds_release(&together[i].folds);
    forecaster_release(&together[i].forecaster);
    gpnn_model_free(together[i].model);
  }
  free(together);
}
