#include "cmd/predict/together.h"

#include <stdlib.h>

#include "base/memory.h"
#include "cmd/predict/subset.h"
#include "models/grid/posterior.h"

bool together_is_apart(const struct predict_arguments *a, const struct opened *opened)
{
  bool differ = false;
  for (size_t t = 1; t < opened->n; t++)
    differ = differ || opened->channels[t].dataset->x != opened->channels[0].dataset->x;
  /* A single target may lack some of the rows too. */
  differ = differ || opened->channels[0].dataset->x != opened->dataset->x;
  return a->loo && differ;
}

static enum gpnn_status open_one(struct together *together, const struct cli *cli,
                                 const struct predict_arguments *a, const struct opened *opened,
                                 struct gpnn_error *err)
{
  struct gpnn_grid_posterior_options grid = a->grid;
  const struct gpnn_model_options options = {.neighbours = a->neighbours,
                                             .precision = a->precision,
                                             .share = a->share,
                                             .threads = cli->threads,
                                             .grid = &grid};
  size_t first = together->first, n = together->n;
  const struct gpnn_dataset *dataset = opened->channels[first].dataset;
  if (dataset->grid != NULL)
    gpnn_grid_state_find(opened->state, dataset->fingerprint, dataset->schema.target.name,
                         dataset->n, &grid);
  enum gpnn_status status = open_model(cli, opened, first, n, &options, &together->model, err);
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
