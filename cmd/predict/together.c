#include "cmd/predict/together.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cmd/predict/subset.h"

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
  const struct gpnn_model_options options = {.neighbours = a->neighbours,
                                             .precision = a->precision,
                                             .share = a->share,
                                             .threads = cli->threads};
  size_t first = together->first, n = together->n;
  enum gpnn_status status = open_model(cli, opened, first, n, &options, &together->model, err);
  if (status == GPNN_OK)
    status = gpnn_predictor_new(&together->predictor, together->model, &a->plan.options, err);
  if (status == GPNN_OK && a->cross_fit)
    status = folds_open(&together->folds, cli, a, n, opened->channels + first, err);
  return status;
}

enum gpnn_status together_new(struct together **together, size_t *n, const struct cli *cli,
                              const struct predict_arguments *a, const struct opened *opened,
                              struct gpnn_error *err)
{
  bool is_apart = together_is_apart(a, opened);
  size_t each = is_apart ? 1 : opened->n;
  *n = opened->n / each;
  *together = calloc(*n, sizeof **together);
  if (*together == NULL) return gpnn_fail_memory(err, "for the targets");
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < *n && status == GPNN_OK; i++) {
    struct together *one = &(*together)[i];
    one->first = i * each;
    one->n = each;
    one->is_apart = is_apart;
    status = open_one(one, cli, a, opened, err);
  }
  return status;
}

static enum gpnn_status predict(const struct together *together,
                                const struct gpnn_predict_rows *rows,
                                struct gpnn_distribution *distributions, struct gpnn_counts *counts,
                                struct gpnn_error *err)
{
  return together->folds.crossfit != NULL
             ? folds_predict(&together->folds, rows, distributions, counts, err)
             : gpnn_predict_distributions(together->predictor, rows, distributions, counts, err);
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
                                        struct gpnn_distribution *distributions,
                                        struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_distribution missing = {.location = NAN, .sd = NAN, .degrees = INFINITY};
  const struct gpnn_dataset *dataset = gpnn_model_channel(together->model, 0)->dataset;
  struct subset subset = {0};
  for (size_t i = 0; i < rows->n; i++) distributions[i] = missing;
  enum gpnn_status status =
      subset_init(&subset, rows, self, is_training_row, NULL, dataset, 1, err);
  if (status == GPNN_OK)
    status = predict(together, &subset.rows, subset.distributions, counts, err);
  if (status == GPNN_OK) subset_scatter(&subset, rows->n, distributions);
  subset_release(&subset);
  return status;
}

enum gpnn_status together_predict(const struct together *together,
                                  const struct gpnn_predict_rows *rows, struct batch *batch,
                                  struct gpnn_counts *counts, struct gpnn_error *err)
{
  size_t t = together->first, n_selves = batch->shape.n_selves;
  struct gpnn_distribution *distributions = batch->distributions + t * rows->n;
  if (!together->is_apart) return predict(together, rows, distributions, counts + t, err);
  int64_t *self = gpnn_alloc(rows->n, 1, sizeof *self);
  if (self == NULL) return gpnn_fail_memory(err, "for predictions");
  for (size_t i = 0; i < rows->n; i++) self[i] = batch->self[i * n_selves + t];
  enum gpnn_status status = predict_present(together, rows, self, distributions, counts + t, err);
  free(self);
  return status;
}

void together_free(struct together *together, size_t n)
{
  for (size_t i = 0; together != NULL && i < n; i++) {
    folds_release(&together[i].folds);
    gpnn_predictor_free(together[i].predictor);
    gpnn_model_free(together[i].model);
  }
  free(together);
}
