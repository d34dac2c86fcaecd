#include "assess/crossfit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "container/state.h"
#include "linalg/blas_threads.h"
#include "models/heldout.h"

/* The parameters estimated without a fold, and their model. */
struct fold {
  struct gpnn_parameters *params; /* owned; n_channels */
  struct gpnn_channel *channels;  /* owned; n_channels */
  struct gpnn_model *model;       /* owned */
};

struct gpnn_crossfit {
  const struct gpnn_dataset *dataset; /* of the first channel */
  size_t n_channels, n_rows, n_folds;
  int64_t *rows;  /* owned; n_rows */
  uint8_t *where; /* owned; the fold of each training row, or n_folds */
  struct fold folds[GPNN_CROSSFIT_FOLDS];
};

/* ---- folds -------------------------------------------------------------------------------- */

static void fold_release(struct fold *fold, size_t n_channels)
{
  gpnn_model_free(fold->model);
  if (fold->params != NULL) gpnn_parameters_free(fold->params, n_channels);
  free(fold->channels);
}

/* The rows left out with a fold, in ascending order; NULL: not enough memory. */
static uint64_t *rows_of_fold(const struct gpnn_crossfit *crossfit, size_t f, size_t *n)
{
  size_t size = 0;
  for (size_t i = 0; i < crossfit->dataset->n; i++) size += crossfit->where[i] == f;
  uint64_t *rows = gpnn_alloc(size, 1, sizeof *rows);
  *n = 0;
  for (size_t i = 0; i < crossfit->dataset->n && rows != NULL; i++)
    if (crossfit->where[i] == f) rows[(*n)++] = i;
  return rows;
}

/* Estimates the parameters without fold 'f'. */
static enum gpnn_status estimate(struct gpnn_crossfit *crossfit,
                                 const struct gpnn_channel *channels, int threads, size_t f,
                                 struct gpnn_error *err)
{
  struct gpnn_error inner;
  size_t n_excluded;
  uint64_t *excluded = rows_of_fold(crossfit, f, &n_excluded);
  if (excluded == NULL) return gpnn_fail_memory(err, "for a cross-fit");
  enum gpnn_status status = gpnn_channels_refit(crossfit->n_channels, channels, threads, n_excluded,
                                                excluded, crossfit->folds[f].params, &inner);
  free(excluded);
  if (status == GPNN_OK) return GPNN_OK;
  return gpnn_fail(err, status, "without %zu of the %zu training rows: %s", n_excluded,
                   crossfit->dataset->n, inner.text);
}

/* Takes over the parameters without fold 'f' from those of all folds. */
static void take(struct gpnn_crossfit *crossfit, const struct gpnn_channel *channels, size_t f,
                 struct gpnn_parameters *known)
{
  for (size_t c = 0; c < crossfit->n_channels; c++) {
    const struct gpnn_parameters *given = channels[c].parameters;
    struct gpnn_parameters *from = &known[f * crossfit->n_channels + c];
    from->scale = given->scale;
    from->degrees = given->degrees;
    crossfit->folds[f].params[c] = *from;
    *from = (struct gpnn_parameters){0};
  }
}

/* Makes the model without fold 'f', of parameters that are known, unless that is NULL. */
static enum gpnn_status make_fold(struct gpnn_crossfit *crossfit,
                                  const struct gpnn_channel *channels,
                                  const struct gpnn_model_options *options, size_t f,
                                  struct gpnn_parameters *known, struct gpnn_error *err)
{
  struct fold *fold = &crossfit->folds[f];
  size_t n = crossfit->n_channels;
  enum gpnn_status status = GPNN_OK;
  fold->params = gpnn_alloc(n, 1, sizeof *fold->params);
  fold->channels = gpnn_alloc(n, 1, sizeof *fold->channels);
  if (fold->params == NULL || fold->channels == NULL)
    return gpnn_fail_memory(err, "for a cross-fit");
  if (known != NULL)
    take(crossfit, channels, f, known);
  else
    status = estimate(crossfit, channels, options->threads, f, err);
  if (status != GPNN_OK) return status;
  for (size_t c = 0; c < n; c++)
    fold->channels[c] = (struct gpnn_channel){channels[c].dataset, &fold->params[c]};
  return gpnn_model_new(&fold->model, n, fold->channels, options, err);
}

static size_t number_of_folds(size_t n)
{
  return n < GPNN_CROSSFIT_FOLDS ? n : GPNN_CROSSFIT_FOLDS;
}

/* Deals the rows drawn to the folds in turn. */
static void deal_rows(struct gpnn_crossfit *crossfit)
{
  crossfit->n_folds = number_of_folds(crossfit->n_rows);
  memset(crossfit->where, (int)crossfit->n_folds, crossfit->dataset->n);
  for (size_t i = 0; i < crossfit->n_rows; i++)
    crossfit->where[crossfit->rows[i]] = (uint8_t)(i % crossfit->n_folds);
}

/* An index is opened without a look at the groups of all its rows. */
static enum gpnn_status check_groups(const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  for (size_t i = 0; i < dataset->n; i++)
    if (dataset->row_group[i] >= dataset->n_row_groups)
      return gpnn_fail(err, GPNN_EFORMAT, "the index is damaged: row %zu is in group %lu of %zu",
                       i + 1, (unsigned long)dataset->row_group[i] + 1, dataset->n_row_groups);
  return GPNN_OK;
}

/* Deals the groups of the rows drawn to the folds in turn. */
static enum gpnn_status deal_groups(struct gpnn_crossfit *crossfit, struct gpnn_error *err)
{
  enum { NONE = GPNN_CROSSFIT_FOLDS };
  const struct gpnn_dataset *dataset = crossfit->dataset;
  size_t n_drawn = 0;
  enum gpnn_status status = check_groups(dataset, err);
  if (status != GPNN_OK) return status;
  uint8_t *fold = gpnn_alloc(dataset->n_row_groups, 1, sizeof *fold);
  if (fold == NULL) return gpnn_fail_memory(err, "for a cross-fit");
  memset(fold, NONE, dataset->n_row_groups);
  for (size_t i = 0; i < crossfit->n_rows; i++) {
    uint8_t *of_group = &fold[dataset->row_group[crossfit->rows[i]]];
    if (*of_group == NONE) *of_group = (uint8_t)(n_drawn++ % GPNN_CROSSFIT_FOLDS);
  }
  crossfit->n_folds = number_of_folds(n_drawn);
  for (size_t i = 0; i < dataset->n; i++) {
    uint8_t f = fold[dataset->row_group[i]];
    crossfit->where[i] = f == NONE ? (uint8_t)crossfit->n_folds : f;
  }
  free(fold);
  return GPNN_OK;
}

static enum gpnn_status draw_rows(struct gpnn_crossfit *crossfit, uint64_t seed,
                                  struct gpnn_error *err)
{
  size_t n = crossfit->dataset->n;
  uint64_t *drawn = NULL;
  enum gpnn_status status =
      gpnn_heldout_draw(n, crossfit->n_rows, seed, GPNN_RNG_FOLDS, &drawn, err);
  crossfit->rows = gpnn_alloc(crossfit->n_rows, 1, sizeof *crossfit->rows);
  crossfit->where = gpnn_alloc(n, 1, sizeof *crossfit->where);
  if (status == GPNN_OK && (crossfit->rows == NULL || crossfit->where == NULL))
    status = gpnn_fail_memory(err, "for a cross-fit");
  for (size_t i = 0; i < crossfit->n_rows && status == GPNN_OK; i++)
    crossfit->rows[i] = (int64_t)drawn[i];
  free(drawn);
  if (status != GPNN_OK) return status;
  if (crossfit->dataset->row_group != NULL) return deal_groups(crossfit, err);
  deal_rows(crossfit);
  return GPNN_OK;
}

enum gpnn_status gpnn_crossfit_again(struct gpnn_crossfit **crossfit, size_t n_channels,
                                     const struct gpnn_channel *channels,
                                     const struct gpnn_model_options *options, size_t n_rows,
                                     uint64_t seed, size_t n_known, struct gpnn_parameters *known,
                                     struct gpnn_error *err)
{
  struct gpnn_crossfit *made = calloc(1, sizeof *made);
  if (made == NULL) return gpnn_fail_memory(err, "for a cross-fit");
  made->dataset = channels[0].dataset;
  made->n_channels = n_channels;
  made->n_rows = n_rows;
  struct gpnn_model_options own = *options;
  own.threads = gpnn_blas_claim(options->threads);
  enum gpnn_status status =
      own.threads > 0 ? draw_rows(made, seed, err) : gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  if (n_known != made->n_folds * n_channels) known = NULL;
  for (size_t f = 0; f < made->n_folds && status == GPNN_OK; f++)
    status = make_fold(made, channels, &own, f, known, err);
  if (status == GPNN_OK)
    *crossfit = made;
  else
    gpnn_crossfit_free(made);
  return status;
}

enum gpnn_status gpnn_crossfit_new(struct gpnn_crossfit **crossfit, size_t n_channels,
                                   const struct gpnn_channel *channels,
                                   const struct gpnn_model_options *options, size_t n_rows,
                                   uint64_t seed, struct gpnn_error *err)
{
  return gpnn_crossfit_again(crossfit, n_channels, channels, options, n_rows, seed, 0, NULL, err);
}

enum gpnn_status gpnn_crossfit_write(const struct gpnn_crossfit *crossfit,
                                     struct gpnn_output *output, struct gpnn_error *err)
{
  enum { ROOM = 24 };
  size_t n_channels = crossfit->n_channels, n = crossfit->n_folds * n_channels;
  struct gpnn_parameters *all = gpnn_alloc(n, 1, sizeof *all); /* their arrays are the folds' */
  char(*name)[ROOM] = gpnn_alloc(n, 1, sizeof *name);
  struct gpnn_state *state = NULL;
  enum gpnn_status status = all == NULL || name == NULL
                                ? gpnn_fail_memory(err, "for the parameters of a cross-fit")
                                : gpnn_state_new(&state, crossfit->dataset->fingerprint, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    snprintf(name[i], ROOM, "%zu", i + 1);
    all[i] = crossfit->folds[i / n_channels].params[i % n_channels];
    all[i].target = name[i];
    status = gpnn_parameters_store_effects(&all[i], state, err);
  }
  if (status == GPNN_OK)
    status = gpnn_parameters_write_with_state(all, n, state->n > 0 ? state : NULL, output, err);
  gpnn_state_free(state);
  free(all);
  free(name);
  return status;
}

void gpnn_crossfit_free(struct gpnn_crossfit *crossfit)
{
  if (crossfit == NULL) return;
  for (size_t f = 0; f < crossfit->n_folds; f++)
    fold_release(&crossfit->folds[f], crossfit->n_channels);
  free(crossfit->rows);
  free(crossfit->where);
  free(crossfit);
}

/* ---- what there is ------------------------------------------------------------------------ */

size_t gpnn_crossfit_n_rows(const struct gpnn_crossfit *crossfit)
{
  return crossfit->n_rows;
}

const int64_t *gpnn_crossfit_rows(const struct gpnn_crossfit *crossfit)
{
  return crossfit->rows;
}

size_t gpnn_crossfit_n_channels(const struct gpnn_crossfit *crossfit)
{
  return crossfit->n_channels;
}

size_t gpnn_crossfit_n_folds(const struct gpnn_crossfit *crossfit)
{
  return crossfit->n_folds;
}

size_t gpnn_crossfit_fold(const struct gpnn_crossfit *crossfit, int64_t row)
{
  return crossfit->where[row];
}

const struct gpnn_model *gpnn_crossfit_model(const struct gpnn_crossfit *crossfit, size_t fold)
{
  return crossfit->folds[fold].model;
}

/* ---- predictions -------------------------------------------------------------------------- */

/* The arrays of a struct gpnn_latent. */
enum { ARRAYS = 6 };

static void list_arrays(const struct gpnn_latent *latent, double *arrays[ARRAYS])
{
  arrays[0] = latent->mean;
  arrays[1] = latent->variance;
  arrays[2] = latent->mean_variance;
  arrays[3] = latent->misfit;
  arrays[4] = latent->nearest;
  arrays[5] = latent->share;
}

/* The rows to predict that belong to one fold, and their predictions. */
struct part {
  size_t n;
  size_t *at; /* owned; n: their places among all rows to predict */
  struct gpnn_heldout heldout;
  double *arrays[ARRAYS]; /* owned; channels by n; NULL: unwanted */
};

static void part_release(struct part *part)
{
  free(part->at);
  gpnn_heldout_release(&part->heldout);
  for (int a = 0; a < ARRAYS; a++) free(part->arrays[a]);
}

static enum gpnn_status part_init(const struct gpnn_crossfit *crossfit, size_t fold, size_t n,
                                  const int64_t *rows, double *const wanted[ARRAYS],
                                  struct part *part, struct gpnn_error *err)
{
  bool enough = true;
  part->at = gpnn_alloc(n, 1, sizeof *part->at);
  if (part->at == NULL) return gpnn_fail_memory(err, "for predictions");
  for (size_t i = 0; i < n; i++)
    if (gpnn_crossfit_fold(crossfit, rows[i]) == fold) part->at[part->n++] = i;
  for (int a = 0; a < ARRAYS; a++) {
    if (wanted[a] == NULL) continue;
    part->arrays[a] = gpnn_alloc(crossfit->n_channels, part->n, sizeof *part->arrays[a]);
    enough = enough && part->arrays[a] != NULL;
  }
  if (!enough) return gpnn_fail_memory(err, "for predictions");
  enum gpnn_status status = gpnn_heldout_new(&part->heldout, crossfit->dataset, part->n, 0, err);
  for (size_t i = 0; i < part->n && status == GPNN_OK; i++)
    gpnn_heldout_set(&part->heldout, crossfit->dataset, i, (size_t)rows[part->at[i]]);
  return status;
}

/* Copies the predictions of a part to their places among those of all 'n' rows. */
static void scatter(const struct gpnn_crossfit *crossfit, const struct part *part, size_t n,
                    double *const to[ARRAYS])
{
  for (int a = 0; a < ARRAYS; a++)
    for (size_t c = 0; c < crossfit->n_channels && to[a] != NULL; c++)
      for (size_t i = 0; i < part->n; i++)
        to[a][c * n + part->at[i]] = part->arrays[a][c * part->n + i];
}

static enum gpnn_status predict_fold(const struct gpnn_crossfit *crossfit, size_t f, size_t n,
                                     const int64_t *rows, double *const wanted[ARRAYS],
                                     const double *atom, double *noise, struct gpnn_counts *counts,
                                     struct gpnn_error *err)
{
  const struct fold *fold = &crossfit->folds[f];
  struct part part = {0};
  enum gpnn_status status = part_init(crossfit, f, n, rows, wanted, &part, err);
  const struct gpnn_latent latent = {.mean = part.arrays[0],
                                     .variance = part.arrays[1],
                                     .mean_variance = part.arrays[2],
                                     .misfit = part.arrays[3],
                                     .nearest = part.arrays[4],
                                     .atom = atom,
                                     .share = part.arrays[5]};
  if (status == GPNN_OK)
    status = gpnn_model_predict(fold->model, &part.heldout.query, &latent, counts, err);
  if (status == GPNN_OK) {
    scatter(crossfit, &part, n, wanted);
    for (size_t c = 0; c < crossfit->n_channels && noise != NULL; c++)
      for (size_t i = 0; i < part.n; i++)
        noise[c * n + part.at[i]] = gpnn_parameters_noise(&fold->params[c]);
  }
  part_release(&part);
  return status;
}

/* GPNN_EINVAL: one of the rows belongs to no fold. */
static enum gpnn_status check_rows(const struct gpnn_crossfit *crossfit, size_t n,
                                   const int64_t *rows, struct gpnn_error *err)
{
  for (size_t i = 0; i < n; i++)
    if (gpnn_crossfit_fold(crossfit, rows[i]) == crossfit->n_folds)
      return gpnn_fail(err, GPNN_EINVAL, "training row %zu belongs to no fold",
                       (size_t)rows[i] + 1);
  return GPNN_OK;
}

enum gpnn_status gpnn_crossfit_predict(const struct gpnn_crossfit *crossfit, size_t n,
                                       const int64_t *rows, const struct gpnn_latent *latent,
                                       double *noise, struct gpnn_counts *counts,
                                       struct gpnn_error *err)
{
  double *wanted[ARRAYS];
  list_arrays(latent, wanted);
  enum gpnn_status status = check_rows(crossfit, n, rows, err);
  for (size_t f = 0; f < crossfit->n_folds && status == GPNN_OK; f++)
    status = predict_fold(crossfit, f, n, rows, wanted, latent->atom, noise, counts, err);
  return status;
}

/* Classifies those of the rows that belong to fold 'f'; 'own' and 'own_nearest' have room for all
 * of them. */
static enum gpnn_status classify_fold(const struct gpnn_crossfit *crossfit, size_t channel,
                                      size_t f, size_t n, const int64_t *rows, double *own,
                                      double *own_nearest, double *p, double *nearest,
                                      struct gpnn_counts *counts, struct gpnn_error *err)
{
  double *const none[ARRAYS] = {NULL};
  const struct gpnn_model *model = crossfit->folds[f].model;
  size_t width = gpnn_dataset_n_classes(gpnn_model_channel(model, channel)->dataset);
  struct part part = {0};
  enum gpnn_status status = part_init(crossfit, f, n, rows, none, &part, err);
  if (status == GPNN_OK)
    status =
        gpnn_model_classify(model, channel, &part.heldout.query, own, own_nearest, counts, err);
  for (size_t i = 0; i < part.n && status == GPNN_OK; i++) {
    memcpy(p + part.at[i] * width, own + i * width, width * sizeof *p);
    if (nearest != NULL) nearest[part.at[i]] = own_nearest[i];
  }
  part_release(&part);
  return status;
}

enum gpnn_status gpnn_crossfit_classify(const struct gpnn_crossfit *crossfit, size_t channel,
                                        size_t n, const int64_t *rows, double *p, double *nearest,
                                        struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_model *any = crossfit->folds[0].model;
  size_t width = gpnn_dataset_n_classes(gpnn_model_channel(any, channel)->dataset);
  double *own = gpnn_alloc(n, width, sizeof *own);
  double *own_nearest = gpnn_alloc(n, 1, sizeof *own_nearest);
  enum gpnn_status status = own != NULL && own_nearest != NULL
                                ? check_rows(crossfit, n, rows, err)
                                : gpnn_fail_memory(err, "for predictions");
  for (size_t f = 0; f < crossfit->n_folds && status == GPNN_OK; f++)
    status =
        classify_fold(crossfit, channel, f, n, rows, own, own_nearest, p, nearest, counts, err);
  free(own);
  free(own_nearest);
  return status;
}
