#include "cmd/predict/folds.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum gpnn_status folds_open(struct folds *folds, const struct cli *cli,
                            const struct predict_arguments *a, const struct opened *opened,
                            struct gpnn_error *err)
{
  const struct gpnn_model_options options = {
      .neighbours = a->neighbours, .precision = a->precision, .threads = cli->threads};
  if (!gpnn_channels_can_refit(opened->n, opened->channels))
    return gpnn_fail(err, GPNN_EDATA,
                     "--cross-fit: the parameters do not say how they were estimated, as those of "
                     "gpnn-fit do unless their likelihood is Gaussian");
  folds->dataset = opened->dataset;
  folds->n_targets = opened->n;
  enum gpnn_status status = gpnn_crossfit_new(&folds->crossfit, opened->n, opened->channels,
                                              &options, opened->dataset->n, cli->seed, err);
  size_t n = status == GPNN_OK ? gpnn_crossfit_n_folds(folds->crossfit) : 0;
  for (size_t f = 0; f < n && status == GPNN_OK; f++)
    status = gpnn_predictor_new(&folds->predictors[f], gpnn_crossfit_model(folds->crossfit, f),
                                &a->plan.options, err);
  return status;
}

/* The rows of one fold, and their predictions. */
struct part {
  size_t n;
  size_t *at;                              /* owned; n: their places among all rows to predict */
  double *x, *regressors, *noise, *offset; /* owned; NULL: there are none */
  int64_t *self;                           /* owned */
  struct gpnn_distribution *distributions; /* owned; targets by n */
};

static void part_release(struct part *part)
{
  free(part->at);
  free(part->x);
  free(part->regressors);
  free(part->noise);
  free(part->offset);
  free(part->self);
  free(part->distributions);
}

/* Copies the rows of a part, each of 'width' numbers, to a new array in '*to'; false: not enough
 * memory. */
static bool gather(const struct part *part, size_t width, const double *from, double **to)
{
  if (from == NULL) return true;
  *to = gpnn_alloc(part->n, width, sizeof **to);
  for (size_t i = 0; i < part->n && *to != NULL; i++)
    memcpy(*to + i * width, from + part->at[i] * width, width * sizeof **to);
  return *to != NULL;
}

static enum gpnn_status part_init(const struct folds *folds, size_t fold,
                                  const struct gpnn_predict_rows *rows, struct part *part,
                                  struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = folds->dataset;
  part->at = gpnn_alloc(rows->n, 1, sizeof *part->at);
  if (part->at == NULL) return gpnn_fail_memory(err, "for predictions");
  for (size_t i = 0; i < rows->n; i++)
    if (gpnn_crossfit_fold(folds->crossfit, rows->self[i]) == fold) part->at[part->n++] = i;
  part->self = gpnn_alloc(part->n, 1, sizeof *part->self);
  part->distributions = gpnn_alloc(folds->n_targets, part->n, sizeof *part->distributions);
  if (part->self == NULL || part->distributions == NULL ||
      !gather(part, dataset->d, rows->x, &part->x) ||
      !gather(part, dataset->n_regressors, rows->regressors, &part->regressors) ||
      !gather(part, 1, rows->noise, &part->noise) ||
      !gather(part, gpnn_dataset_n_targets(dataset), rows->offset, &part->offset))
    return gpnn_fail_memory(err, "for predictions");
  for (size_t i = 0; i < part->n; i++) part->self[i] = rows->self[part->at[i]];
  return GPNN_OK;
}

static enum gpnn_status predict_fold(const struct folds *folds, size_t fold,
                                     const struct gpnn_predict_rows *rows,
                                     struct gpnn_distribution *distributions,
                                     struct gpnn_counts *counts, struct gpnn_error *err)
{
  struct part part = {0};
  enum gpnn_status status = part_init(folds, fold, rows, &part, err);
  const struct gpnn_predict_rows own = {.n = part.n,
                                        .x = part.x,
                                        .regressors = part.regressors,
                                        .noise = part.noise,
                                        .offset = part.offset,
                                        .self = part.self};
  if (status == GPNN_OK)
    status =
        gpnn_predict_distributions(folds->predictors[fold], &own, part.distributions, counts, err);
  for (size_t t = 0; t < folds->n_targets && status == GPNN_OK; t++)
    for (size_t i = 0; i < part.n; i++)
      distributions[t * rows->n + part.at[i]] = part.distributions[t * part.n + i];
  part_release(&part);
  return status;
}

enum gpnn_status folds_predict(const struct folds *folds, const struct gpnn_predict_rows *rows,
                               struct gpnn_distribution *distributions, struct gpnn_counts *counts,
                               struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t f = 0; f < gpnn_crossfit_n_folds(folds->crossfit) && status == GPNN_OK; f++)
    status = predict_fold(folds, f, rows, distributions, counts, err);
  return status;
}

void folds_release(struct folds *folds)
{
  for (size_t f = 0; f < GPNN_CROSSFIT_FOLDS; f++) gpnn_predictor_free(folds->predictors[f]);
  gpnn_crossfit_free(folds->crossfit);
  *folds = (struct folds){0};
}
