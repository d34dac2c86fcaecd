/*
 * model: what every method of prediction can do, whatever it is inside.
 *
 * A model is made of channels.  A channel is a latent function: the training rows of one target and
 * the parameters of its process; several targets are several channels of one model, which works
 * out once what they have in common.  The calling sequence:
 *
 *   gpnn_channels_find()   the rows of each set of parameters' target, and whether the two fit
 *   gpnn_model_new()       prepares predictions
 *   gpnn_model_predict()   mean and variance of the latent functions, any number of times
 *   gpnn_model_with()      the same model by other parameters; it shares what took time to make
 *   gpnn_model_free()
 *
 * What an observation is, given the latent function, is the head's business (likelihood/head.h);
 * units, distances and the like are those of models/predict.h.  Everything here is in standardised
 * units.  Rows whose truth is known, with what they may be predicted from, are made by
 * gpnn_model_hold_out() (models/heldout.h).
 *
 * From an index and parameters to the prediction of a row 'x' (d numbers) in standardised units:
 *
 *   struct gpnn_channel channel;
 *   struct gpnn_model *model = NULL;
 *   struct gpnn_counts counts = {0};
 *   struct gpnn_error err;
 *   bool other_index;
 *   double mean, variance;
 *   const struct gpnn_model_options options = {.threads = 1};
 *   const struct gpnn_query query = {.n = 1, .x = x};
 *   const struct gpnn_latent latent = {.mean = &mean, .variance = &variance};
 *   const struct gpnn_dataset *dataset = gpnn_index_dataset(index);
 *   enum gpnn_status status =
 *       gpnn_channels_find(dataset, 1, &parameters, &channel, &other_index, &err);
 *   if (status == GPNN_OK) status = gpnn_model_new(&model, 1, &channel, &options, &err);
 *   if (status == GPNN_OK) status = gpnn_model_predict(model, &query, &latent, &counts, &err);
 *   gpnn_model_free(model);
 *
 * Failures: besides the outcomes named below, GPNN_ENOMEM, and those of the search where it has to
 * be loaded or built (dataset/dataset.h).  Handles are set on success only.
 * Threads: a model never changes and may be shared freely.
 *
 * To add a model, write a struct gpnn_model_ops in a folder of its own and add a row to the table
 * in model.c: CONTRIBUTING.md has an example.
 */
#ifndef GPNN_MODELS_MODEL_H
#define GPNN_MODELS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"
#include "linalg/jitter.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_model;
struct gpnn_heldout;         /* models/heldout.h */
struct gpnn_holdout_options; /* models/heldout.h */

/* ---- what goes in ------------------------------------------------------------------------- */

/* One latent function: the dataset in the view of its target, and its parameters; both borrowed. */
struct gpnn_channel {
  const struct gpnn_dataset *dataset;
  const struct gpnn_parameters *parameters;
};

/*
 * How covariances are factored: in double precision; or in single precision, and the result brought
 * to double precision by what the factor leaves over.  Mixed results differ from the others by at
 * most 1e-8 in the mean, in standardised units, and by 1e-7 of the latent variance and of the
 * misfit; rows where that is not assured are factored in double precision as well.
 */
enum gpnn_precision { GPNN_PRECISION_DOUBLE = 0, GPNN_PRECISION_MIXED = 1 };

/* A model that has no use for an option ignores it. */
struct gpnn_model_options {
  size_t neighbours; /* training rows that each row is predicted from; 0: as the parameters say */
  enum gpnn_precision precision;
  /* Up to so many rows that lie together may be predicted from the union of their neighbours, by
   * one factorisation in double precision, where that takes fewer operations; 0 or 1: each from its
   * own.  Which rows those are depends on the rows predicted in one call; none is predicted from
   * fewer than its own neighbours.  Rows that are training rows or bring candidates do not share.
   */
  size_t share;
  int threads; /* that work, at least 1 */
};

/* Rows to predict; all borrowed. */
struct gpnn_query {
  size_t n;
  const double *x;          /* n by d */
  const double *regressors; /* n by n_regressors; NULL: there are none */
  const int64_t *self;      /* n: the training row that each is, which is no neighbour of its own,
                               or -1; NULL: none is one */
  /* n by n_candidates: the training rows that each may be predicted from, nearest first, -1 after
   * the last; NULL: all but itself. */
  const int64_t *candidates;
  size_t n_candidates;
};

/* ---- what comes out ----------------------------------------------------------------------- */

/* What is known of the latent functions, one channel after another; any of the arrays may be NULL,
 * which leaves it out. */
struct gpnn_latent {
  double *mean, *variance; /* channels by n: of the function, without noise */
  double *misfit;          /* channels by n: r'K^-1 r / m of the m training rows that a row was
                              predicted from, r being their targets less the mean function and K
                              their covariance: about 1 where the parameters' variances fit the
                              neighbourhood, and 1 if there are no such rows */
  double *nearest;         /* channels by n: distance to the nearest of these rows, in lengthscales;
                              infinite if there are none */
};

/* What was out of the ordinary, of one channel, added up over calls.  Models count the first two,
 * models/predict.h the others. */
struct gpnn_counts {
  size_t n_clamped;          /* rows whose variance rounding made negative; it was set to zero */
  struct gpnn_jitter jitter; /* of rows, in standardised y squared */
  size_t n_rows;
  size_t n_far;    /* farther from the training rows than 99.9 % of the rows seen in calibration */
  size_t n_beyond; /* beyond the largest distance allowed */
};

/* ---- functions ---------------------------------------------------------------------------- */

/*
 * Fills 'channels' (n) with the view of 'dataset' that each of 'parameters' (n) is of, and the
 * parameters.  The target is that which the parameters name, or the first.  '*other_index' tells
 * whether any of them name another index of the same columns, which is worth a warning.
 * GPNN_EMISMATCH: there is no such target, or the parameters do not fit the dataset.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_channels_find(const struct gpnn_dataset *dataset, size_t n,
                                                    const struct gpnn_parameters *parameters,
                                                    struct gpnn_channel *channels,
                                                    bool *other_index, struct gpnn_error *err);

/*
 * Makes the model that the parameters of all 'n' > 0 channels belong to.  The channels are copied,
 * but datasets and parameters are borrowed and must outlive the model; they fit each other, as
 * after gpnn_channels_find().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_model_new(struct gpnn_model **model, size_t n,
                                                const struct gpnn_channel *channels,
                                                const struct gpnn_model_options *options,
                                                struct gpnn_error *err);

/*
 * Makes '*other', the same model with each channel replaced by one of 'channels' (as many): another
 * target of the same rows, or parameters that differ in the kernel, its scale, the noise, the mean
 * function, or in all lengthscales by one factor.  Nearest rows stay the nearest, and so all
 * searches are shared; 'model' must outlive '*other'.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_model_with(const struct gpnn_model *model,
                                                 const struct gpnn_channel *channels,
                                                 struct gpnn_model **other, struct gpnn_error *err);

/*
 * Predicts rows: writes those arrays of 'latent' that are not NULL and adds to 'counts' (one for
 * each channel).  Unless rows may share neighbours, a row's result depends on no other row, and
 * never on the threads.  Results of several channels are those of models of one channel each but
 * for rounding.  GPNN_ENUMERIC: a covariance is not positive definite, even with jitter, or a
 * prediction is not finite; the arrays are then partly written.  n = 0 does nothing.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_model_predict(const struct gpnn_model *model,
                                                    const struct gpnn_query *query,
                                                    const struct gpnn_latent *latent,
                                                    struct gpnn_counts *counts,
                                                    struct gpnn_error *err);

/*
 * The same from several numbers of neighbours at about the cost of the largest, for a model of one
 * channel that predicts from neighbours: 'numbers' (n_numbers, ascending) are those.  'mean',
 * 'variance' and 'misfit' get one block of n rows after another, a block for each number.  Works in
 * double precision if there are several.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_model_predict_each(const struct gpnn_model *model, const struct gpnn_query *query,
                        size_t n_numbers, const size_t *numbers, const struct gpnn_latent *latent,
                        struct gpnn_counts *counts, struct gpnn_error *err);

/* Takes training rows to stand for rows to predict, as models/heldout.h describes. */
GPNN_MUST_CHECK enum gpnn_status gpnn_model_hold_out(const struct gpnn_model *model,
                                                     const struct gpnn_holdout_options *options,
                                                     struct gpnn_heldout *heldout,
                                                     struct gpnn_error *err);

/* "local", "conjugate": the name of the row of the table in model.c. */
const char *gpnn_model_kind(const struct gpnn_model *model);

size_t gpnn_model_n_channels(const struct gpnn_model *model);
const struct gpnn_channel *gpnn_model_channel(const struct gpnn_model *model, size_t channel);

/* As given to gpnn_model_new(). */
const struct gpnn_model_options *gpnn_model_options(const struct gpnn_model *model);

/* Training rows that each row is predicted from: as asked for, but never more than there are. */
size_t gpnn_model_neighbours(const struct gpnn_model *model, size_t channel);

/* True if a search had to be built again because that of the dataset has another metric, and that
 * took noticeable work. */
bool gpnn_model_rebuilt_search(const struct gpnn_model *model);

/* NULL is allowed.  Models made from it by gpnn_model_with() come first. */
void gpnn_model_free(struct gpnn_model *model);

/* ---- what a model implements -------------------------------------------------------------- */

/*
 * A model's functions, whose contracts are those of the gpnn_model functions above; 'state' is what
 * its make() or with() made.  model.c keeps channels and options, which outlive the state.
 */
struct gpnn_model_ops {
  enum gpnn_status (*make)(void **state, size_t n, const struct gpnn_channel *channels,
                           const struct gpnn_model_options *options, struct gpnn_error *err);
  enum gpnn_status (*with)(const void *state, const struct gpnn_channel *channels, void **other,
                           struct gpnn_error *err);
  enum gpnn_status (*predict)(const void *state, const struct gpnn_query *query,
                              const struct gpnn_latent *latent, struct gpnn_counts *counts,
                              struct gpnn_error *err);
  enum gpnn_status (*predict_each)(const void *state, const struct gpnn_query *query,
                                   size_t n_numbers, const size_t *numbers,
                                   const struct gpnn_latent *latent, struct gpnn_counts *counts,
                                   struct gpnn_error *err);
  enum gpnn_status (*hold_out)(const void *state, const struct gpnn_holdout_options *options,
                               struct gpnn_heldout *heldout, struct gpnn_error *err);
  size_t (*neighbours)(const void *state, size_t channel);
  bool (*rebuilt_search)(const void *state);
  void (*free)(void *state);
};

#ifdef __cplusplus
}
#endif

#endif
