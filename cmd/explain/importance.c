/* importance: how much worse rows are predicted without what a column tells. */
#include "explain/importance.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/memory.h"
#include "cmd/common/progress.h"
#include "cmd/explain/explain.h"
#include "explain/columns.h"
#include "models/heldout.h"

/* Columns and what they are worth. */
struct worth {
  const struct explain_item *item;
  struct gpnn_importance of;
};

struct weighing {
  struct explaining *e;
  struct gpnn_reader_rows table; /* of --with */
  struct gpnn_heldout heldout;
  const char *on;        /* what these rows are, in words */
  double *truth, *noise; /* owned; of them */
  struct gpnn_importance_rows rows;
  struct gpnn_importance_options options;
  struct gpnn_importance_job *job;
  struct explain_items items;
  struct worth *worths; /* owned; a copy of each */
};

/* ---- rows ------------------------------------------------------------------------------------ */

/* Held-out rows, if they are enough or there are no more training rows; otherwise training rows. */
static enum gpnn_status find_heldout(struct weighing *w, size_t most, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = w->e->channel->dataset;
  const struct gpnn_holdout_options options = {.how = GPNN_HOLDOUT_ALONE,
                                               .n_rows = dataset->n < most ? dataset->n : most,
                                               .seed = w->e->cli->seed};
  bool are_few = !gpnn_dataset_holds_out_enough(dataset) && dataset->n_calibration < dataset->n;
  w->on = are_few ? "training rows, each left out," : "held-out rows";
  if (are_few) return gpnn_model_hold_out(w->e->model, &options, &w->heldout, err);
  w->heldout = gpnn_heldout_of_dataset(dataset);
  return GPNN_OK;
}

static enum gpnn_status find_rows(struct weighing *w, size_t most, struct gpnn_error *err)
{
  const struct explaining *e = w->e;
  const char *with = e->a->with;
  w->table.by = e->a->by;
  if (with == NULL) return find_heldout(w, most, err);
  enum gpnn_status status =
      rows_read(e->cli, with, e->channel, false, e->a->skip_bad, "to score", &w->table, err);
  w->on = "rows";
  w->heldout = (struct gpnn_heldout){
      .query = {.n = w->table.n, .x = w->table.x, .regressors = w->table.regressors},
      .y = w->table.y,
      .noise = w->table.noise,
      .exposure = w->table.exposure};
  return status;
}

/* Puts targets, and noise variances, into the units of the table. */
static enum gpnn_status convert_rows(struct weighing *w, size_t most, struct gpnn_error *err)
{
  const struct explaining *e = w->e;
  const struct gpnn_heldout *heldout = &w->heldout;
  const struct gpnn_scaling *scaling = &e->view->scaling;
  const struct gpnn_transform *transform = e->channel->dataset->transform;
  size_t n = heldout->query.n < most ? heldout->query.n : most;
  w->truth = gpnn_alloc(n, 1, sizeof *w->truth);
  w->noise = gpnn_alloc(n, 1, sizeof *w->noise);
  if (w->truth == NULL || w->noise == NULL) return gpnn_fail_memory(err, "for the rows to score");
  for (size_t i = 0; i < n; i++) {
    w->truth[i] = transform != NULL ? gpnn_transform_invert(transform, heldout->y[i])
                                    : gpnn_scaling_restore(scaling, heldout->y[i], 0);
    if (heldout->noise != NULL) w->noise[i] = heldout->noise[i] * scaling->y_sd * scaling->y_sd;
  }
  bool has_regressors = gpnn_parameters_use_regressors(e->channel->parameters);
  w->rows = (struct gpnn_importance_rows){
      .of = {.n = n,
             .x = heldout->query.x,
             .regressors = has_regressors ? heldout->query.regressors : NULL,
             .noise = heldout->noise == NULL ? NULL : w->noise,
             .exposure = heldout->exposure,
             .self = heldout->query.self},
      .truth = w->truth,
      .group = w->table.group};
  return GPNN_OK;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* How many of the rows are looked at so that all columns take 'budget' times the predictions of all
 * rows, but at least 'least', where each takes 'draws' predictions. */
static size_t rows_of(const struct weighing *w, double budget, size_t draws, size_t least)
{
  size_t n = w->rows.of.n;
  double share = budget / (double)(w->items.n * draws), wanted = share * (double)n;
  if (wanted < (double)least) wanted = (double)least;
  return wanted < (double)n ? (size_t)wanted : n;
}

static enum gpnn_status weigh_columns(struct weighing *w, struct gpnn_error *err)
{
  enum { LEAST = 200, LEAST_MISSING = 70 };
  static const double permuting = 4, missing = 4; /* of the time that predicting the rows takes */
  struct gpnn_importance_options *options = &w->options;
  *options =
      (struct gpnn_importance_options){.n_permutations = w->e->a->repeats, .seed = w->e->cli->seed};
  enum gpnn_status status = explain_find_items(w->e, &w->items, err);
  options->n_permuted = rows_of(w, permuting, 1, LEAST);
  options->n_missing = rows_of(w, missing, w->e->opened.draws, LEAST_MISSING);
  size_t n = w->items.n;
  if (status == GPNN_OK) w->worths = gpnn_alloc(n, 1, sizeof *w->worths);
  if (status == GPNN_OK && w->worths == NULL) status = gpnn_fail_memory(err, "for the columns");
  for (size_t k = 0; k < n && status == GPNN_OK; k++) {
    w->worths[k].item = &w->items.of[k];
    status = gpnn_importance_of(w->job, &w->items.of[k].group, options, &w->worths[k].of, err);
    progress_share("columns weighed", k + 1, (double)(k + 1) / (double)n);
  }
  return status;
}

/* The most important first; those that are alike in the order of the table. */
static int compare(const void *a, const void *b)
{
  const struct worth *p = a, *q = b;
  double left = p->of.permuted[0].mean, right = q->of.permuted[0].mean;
  if (left != right && !isnan(left) && !isnan(right)) return left > right ? -1 : 1;
  return p->item < q->item ? -1 : p->item > q->item;
}

/* ---- what is written ------------------------------------------------------------------------- */

static void write_loss(struct sheet *sheet, const char *name, const char *error,
                       const struct gpnn_importance_loss *loss)
{
  sheet_number(sheet, name, loss->mean);
  sheet_number(sheet, error, loss->standard_error);
}

static void write_worth(struct sheet *sheet, const struct worth *worth, bool of_classes)
{
  const struct gpnn_importance *of = &worth->of;
  sheet_begin(sheet);
  sheet_text(sheet, "column", worth->item->name);
  if (of_classes) {
    write_loss(sheet, "logloss", "logloss_se", &of->permuted[0]);
    write_loss(sheet, "missing_logloss", "missing_logloss_se", &of->missing[0]);
  } else {
    write_loss(sheet, "crps", "crps_se", &of->permuted[0]);
    write_loss(sheet, "rmse", "rmse_se", &of->permuted[1]);
    write_loss(sheet, "missing_crps", "missing_crps_se", &of->missing[0]);
    write_loss(sheet, "missing_rmse", "missing_rmse_se", &of->missing[1]);
  }
  sheet_end(sheet);
}

static enum gpnn_status write_all(struct weighing *w, struct gpnn_error *err)
{
  bool of_classes = w->e->n_classes > 0;
  double base[GPNN_IMPORTANCE_LOSSES];
  struct sheet sheet;
  gpnn_importance_base(w->job, base);
  if (of_classes)
    cli_say(w->e->cli, "log loss %.4g on %zu %s with all columns", base[0], w->rows.of.n, w->on);
  else
    cli_say(w->e->cli, "CRPS %.4g and RMSE %.4g on %zu %s with all columns", base[0], base[1],
            w->rows.of.n, w->on);
  cli_say(w->e->cli, "each column is permuted in %zu of these rows, and missing in %zu",
          w->options.n_permuted, w->options.n_missing);
  qsort(w->worths, w->items.n, sizeof *w->worths, compare);
  sheet_open(&sheet, w->e->cli, w->e->a->json);
  if (w->e->a->json) {
    json_count(&sheet.json, "n", w->rows.of.n);
    json_number(&sheet.json, of_classes ? "logloss" : "crps", base[0]);
    if (!of_classes) json_number(&sheet.json, "rmse", base[1]);
  }
  sheet_lines(&sheet,
              of_classes ? "column,logloss,logloss_se,missing_logloss,missing_logloss_se"
                         : "column,crps,crps_se,rmse,rmse_se,missing_crps,missing_crps_se,"
                           "missing_rmse,missing_rmse_se",
              "columns");
  for (size_t k = 0; k < w->items.n; k++) write_worth(&sheet, &w->worths[k], of_classes);
  return sheet_close(&sheet, GPNN_OK, err);
}

/* ---- the kind -------------------------------------------------------------------------------- */

static void release(struct weighing *w)
{
  gpnn_importance_free(w->job);
  explain_items_release(&w->items);
  gpnn_heldout_release(&w->heldout);
  gpnn_reader_rows_release(&w->table);
  free(w->truth);
  free(w->noise);
  free(w->worths);
}

enum gpnn_status explain_importance(struct explaining *e, struct gpnn_error *err)
{
  enum { USUAL = 1000 };
  struct weighing w = {.e = e};
  size_t most = e->a->rows > 0 ? e->a->rows : USUAL;
  enum gpnn_status status = find_rows(&w, most, err);
  if (status == GPNN_OK) status = convert_rows(&w, most, err);
  if (status == GPNN_OK) status = gpnn_importance_new(&w.job, e->model, &w.rows, err);
  if (status == GPNN_OK) status = weigh_columns(&w, err);
  if (status == GPNN_OK) status = write_all(&w, err);
  release(&w);
  return status;
}
