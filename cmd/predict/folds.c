#include "cmd/predict/folds.h"

#include "cmd/predict/subset.h"

enum gpnn_status folds_open(struct folds *folds, const struct cli *cli,
                            const struct predict_arguments *a, size_t n,
                            const struct gpnn_channel *channels, struct gpnn_error *err)
{
  const struct gpnn_model_options options = {
      .neighbours = a->neighbours, .precision = a->precision, .threads = cli->threads};
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

enum gpnn_status folds_predict(const struct folds *folds, const struct gpnn_predict_rows *rows,
                               const struct forecast *to, struct gpnn_counts *counts,
                               struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t f = 0; f < gpnn_crossfit_n_folds(folds->crossfit) && status == GPNN_OK; f++)
    status = predict_fold(folds, f, rows, to, counts, err);
  return status;
}

void folds_release(struct folds *folds)
{
  for (size_t f = 0; f < GPNN_CROSSFIT_FOLDS; f++) forecaster_release(&folds->forecasters[f]);
  gpnn_crossfit_free(folds->crossfit);
  *folds = (struct folds){0};
}
