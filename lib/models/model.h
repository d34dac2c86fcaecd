/*
 * model: the interface that every method of prediction implements.
 *
 * A model consists of channels.  A channel is a latent function: the training rows of one target
 * and the parameters of its process.  Several targets are several channels of one model, which
 * computes only once what they have in common.  The calling sequence:
 *
 *   gpnn_channels_transform()   transforms the targets whose parameters say so, or replaces them
 *   gpnn_channels_find()   finds the target that each set of parameters belongs to
 *   gpnn_model_new()       prepares predictions
 *   gpnn_model_predict()   mean and variance of the latent functions, any number of times
 *   gpnn_model_with()      the same model with other parameters, sharing what is costly to make
 *   gpnn_model_free()
 *
 * The distribution of an observation, given the latent function, is left to likelihood/head.h;
 * conversion to the target's units and limits on distance are left to models/predict.h.  Everything
 * here is in standardised units.  gpnn_model_hold_out() makes rows with known targets to test
 * predictions on (models/heldout.h).
 *
 * A channel whose target holds classes has no distribution of that kind: gpnn_model_classify()
 * gives the probabilities of its classes, and models/labels.h what users see of them.
 *
 * From an index and parameters to the prediction of a row 'x' (d numbers) in standardised units:
 *
 *   struct gpnn_channel channel;
 *   struct gpnn_model *model = NULL;
 *   struct gpnn_counts counts = {0};
 *   struct gpnn_error err;
 *   bool other_model;
 *   double mean, variance;
 *   const struct gpnn_model_options options = {.threads = 1};
 *   const struct gpnn_query query = {.n = 1, .x = x};
 *   const struct gpnn_latent latent = {.mean = &mean, .variance = &variance};
 *   const struct gpnn_dataset *dataset = gpnn_index_dataset(index);
 *   enum gpnn_status status =
 *       gpnn_channels_find(dataset, 1, &parameters, &channel, &other_model, &err);
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
#include "linalg/factors/jitter.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_model;
struct gpnn_heldout;         /* models/heldout.h */
struct gpnn_holdout_options; /* models/heldout.h */
struct gpnn_transformed;     /* dataset/transformed.h */
struct gpnn_state;           /* container/state.h */

/* ---- what goes in ------------------------------------------------------------------------- */

/* One latent function: the dataset's view of its target, and its parameters; both borrowed. */
struct gpnn_channel {
  const struct gpnn_dataset *dataset;
  const struct gpnn_parameters *parameters;
};

/* The target of a training row minus the mean function, and its noise variance including that of
 * the parameters. */
double gpnn_channel_residual(const struct gpnn_dataset *data, const struct gpnn_parameters *params,
                             size_t row);
double gpnn_channel_noise(const struct gpnn_dataset *data, const struct gpnn_parameters *params,
                          size_t row);

/*
 * How covariances are factored: in double precision, or in single precision with the solution then
 * refined to double precision.  Mixed results differ from those in double precision by at most 1e-8
 * in the mean, in standardised units, and by 1e-7 of the latent variance and of the misfit; rows
 * for which that cannot be guaranteed are factored again in double precision.
 */
enum gpnn_precision { GPNN_PRECISION_DOUBLE = 0, GPNN_PRECISION_MIXED = 1 };

/* A model that has no use for an option ignores it. */
struct gpnn_model_options {
  size_t neighbours; /* training rows that each row is predicted from; 0: as the parameters say */
  enum gpnn_precision precision;
  /* Up to this many nearby rows may be predicted from the union of their neighbours, with a single
   * factorisation in double precision, if that takes fewer operations; 0 or 1: each row only from
   * its own.  Which rows are grouped depends on the rows predicted in one call; no row loses any of
   * its own neighbours.  Rows that are training rows, have groups or bring candidates are not
   * grouped. */
  size_t share;
  size_t draws; /* of what a row to predict lacks (models/missing.h); 0: GPNN_MISSING_DRAWS;
                   GPNN_MISSING_DRAWS_MOST at most */
  int threads;  /* at least 1 */
  bool brings;  /* all queries bring their candidates, so that no search has to be built */
};

/* Rows to predict; all borrowed.  gpnn_query_part() takes some of them. */
struct gpnn_query {
  size_t n;
  const double *x; /* n by d; NaN: an input that is missing (models/missing.h).  NULL: all rows held
                      out of a model without training rows, which keeps what it predicts of them
                      (dataset/stored.h) */
  const double *regressors; /* n by n_regressors; NULL: there are none */
  const int64_t *self;      /* n: the training row that each row is, and which is therefore excluded
                               from its neighbours, or -1; NULL: none is a training row */
  const uint32_t *group;    /* n: the group of each row; training rows of the same group
                               (dataset/dataset.h) are excluded from its neighbours.  NULL: that of
                               'self', where training rows have groups */
  /* n by n_candidates: the training rows that each may be predicted from, nearest first, -1 after
   * the last; NULL: all that are not excluded. */
  const int64_t *candidates;
  size_t n_candidates;
};

/* Rows [from, from + n) of a query about rows like those of 'dataset'. */
struct gpnn_query gpnn_query_part(const struct gpnn_query *query,
                                  const struct gpnn_dataset *dataset, size_t from, size_t n);

/* ---- what comes out ----------------------------------------------------------------------- */

/* Predictions of the latent functions, one channel after another.  An array that is NULL is not
 * computed. */
struct gpnn_latent {
  double *mean, *variance; /* channels by n: of the function, without noise; a mean that would leave
                              what the training rows' targets can say is bounded (gpnn-methods(7),
                              equation 3.37) */
  double *mean_variance; /* channels by n: the part of the variance that the uncertainty of the mean
                            function's coefficients causes, and that of inputs that a row lacks */
  double *misfit;        /* channels by n: r'K^-1 r / m over the m training rows that a row is
                            predicted from, where r is their targets minus the mean function and K
                            their covariance: about 1 where the parameters' variances fit the
                            neighbourhood, and exactly 1 if there are no such rows.  If a row is
                            predicted from all training rows by a common factor: the mean over
                            the 32 nearest of their squared errors, each predicted from all
                            others, in units of its variance */
  double *nearest;       /* channels by n: distance to the nearest of these rows, in lengthscales;
                            infinite if there are none */
  double *noise;         /* channels by n, zeroed by the caller: noise variance of an observation of
                            the row beyond that of the parameters; only grids, whose levels may have
                            noise of their own, write it */
  const double *atom;    /* channels: a standardised target, or NaN (likelihood/atom.h); NULL if
                            'share' is */
  double *share;         /* channels by n: (k + 1/2) / (m + 1), if the targets of k of the m nearest
                            of these rows, up to 32, are the channel's atom; NaN if there are no
                            such rows.  Only models of training rows write it (likelihood/atom.h) */
};

/*
 * What rows are predicted from, for one channel: m is gpnn_model_n_weights().  An array that is
 * NULL is not computed.  The mean of a row's latent function, before it is bounded, is the mean
 * function there plus the sum of weight times (target minus mean function) over its neighbours.
 */
struct gpnn_weights {
  int64_t *neighbour; /* n by m: training rows, nearest first unless they are all that there are; -1
                         after the last; of a stack one member's after another's, and the same row
                         may be among several of them */
  double *weight;     /* n by m: 0 after the last */
  double *variance;   /* n: of the function, if the coefficients of its mean were known; of a stack
                         the mean of its members' */
  double *nearest;    /* n: as in struct gpnn_latent */
};

/* The errors of rows: process[i] times the error of row i that is left if the coefficients of the
 * mean function are known, plus mean[i] times what their uncertainty adds. */
struct gpnn_errors {
  const double *process, *mean; /* n of each */
  bool total;                   /* of all rows together, rather than of each */
};

/* Counts of unusual events in one channel, accumulated over calls.  Models count the first two,
 * models/predict.h the others. */
struct gpnn_counts {
  size_t n_clamped;          /* rows whose variance was set to zero as rounding made it negative */
  struct gpnn_jitter jitter; /* of rows, in standardised y squared */
  size_t n_rows;
  size_t n_far;    /* farther from the training rows than 99.9 % of the rows seen in calibration */
  size_t n_beyond; /* beyond the largest distance allowed */
  size_t n_upon;   /* where a training row is, but for rounding */
};

/* The arrays of a state that replace target and noise of the training rows. */
#define GPNN_STATE_TARGET "pseudo-target"
#define GPNN_STATE_NOISE "pseudo-noise"

/* ---- functions ---------------------------------------------------------------------------- */

/*
 * The dataset that models of these parameters (n) work on, which see inputs alike
 * (gpnn_sight_agree()).  If they see scores, or any of them has a transform, or is
 * of counts, '*transformed' is a copy of 'dataset' with the targets so transformed, or replaced by
 * the pseudo-targets that 'state' has for them (dataset/transformed.h): use its views instead, and
 * free it after the models, before the dataset and the state, from which it borrows.  Otherwise
 * NULL. 'state' may be NULL: there is none.
 *
 * GPNN_EDATA and GPNN_ENOMEM as gpnn_transformed_new().  GPNN_EMISMATCH: there is no such target;
 * or parameters of counts come without a state, or with that of another index.  GPNN_EFORMAT: the
 * state does not have what it should.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_channels_transform(const struct gpnn_dataset *dataset, size_t n,
                        const struct gpnn_parameters *parameters, const struct gpnn_state *state,
                        struct gpnn_transformed **transformed, struct gpnn_error *err);

/*
 * Fills 'channels' (n), pairing each of 'parameters' (n) with the dataset's view of the target that
 * they name, or of the first target if they name none.  '*other_model' becomes true if any of them
 * calibrate another model file, which deserves a warning.
 * GPNN_EMISMATCH: there is no such target, or the parameters do not fit the dataset.  GPNN_EINVAL:
 * the target is transformed otherwise than the parameters say (gpnn_channels_transform()).
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_channels_find(const struct gpnn_dataset *dataset, size_t n,
                                                    const struct gpnn_parameters *parameters,
                                                    struct gpnn_channel *channels,
                                                    bool *other_model, struct gpnn_error *err);

/*
 * Makes the model that suits the parameters of all 'n' > 0 channels, which must match their
 * datasets, as they do after gpnn_channels_find().  The channels are copied, but datasets and
 * parameters are borrowed and must outlive the model.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_model_new(struct gpnn_model **model, size_t n,
                                                const struct gpnn_channel *channels,
                                                const struct gpnn_model_options *options,
                                                struct gpnn_error *err);

struct gpnn_model_ops;

/* Makes a model of one's own, which is called 'name' in messages: 'ops' does what it can, with
 * 'state', which belongs to the model, also after a failure.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_model_wrap(struct gpnn_model **model, const char *name,
                                                 const struct gpnn_model_ops *ops, void *state,
                                                 size_t n, const struct gpnn_channel *channels,
                                                 const struct gpnn_model_options *options,
                                                 struct gpnn_error *err);

/*
 * Makes '*other', the same model with its channels replaced by 'channels' (the same number).  Each
 * may have another target of the same rows, other rows if all queries bring their candidates, or
 * parameters that differ in the kernel, its scale, the noise, the mean function, or by one factor
 * in all lengthscales.  None of this changes which rows are nearest, so '*other' shares the
 * searches of 'model', which must outlive it.
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
 * Predicts from each of several numbers of neighbours, 'numbers' (n_numbers, ascending), at about
 * the cost of the largest; for a model with one channel that predicts from neighbours.  'mean',
 * 'variance', 'mean_variance' and 'misfit' get a block of n rows for each number, one after
 * another.  Several numbers are always computed in double precision.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_model_predict_each(const struct gpnn_model *model, const struct gpnn_query *query,
                        size_t n_numbers, const size_t *numbers, const struct gpnn_latent *latent,
                        struct gpnn_counts *counts, struct gpnn_error *err);

/*
 * The covariances, among the rows of 'query', of the errors of one channel: of the latent function
 * minus the mean that gpnn_model_predict() gives each row before it is bounded (gpnn-methods(7),
 * equation 3.30), as 'errors' scales them.  'covariance' is n by n or, for their total, one number.
 * The query's rows are not training rows and have no candidates; rows do not share neighbours.
 *
 * With u different training rows among the neighbours, this takes n solves and (n + u)^2 / 2
 * covariances.  GPNN_EINVAL: the model does not know them.
 * GPNN_ENUMERIC as for gpnn_model_predict().  'covariance' is partly written after a failure.
 * n = 0 does nothing.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_model_joint(const struct gpnn_model *model, size_t channel,
                                                  const struct gpnn_query *query,
                                                  const struct gpnn_errors *errors,
                                                  double *covariance, struct gpnn_error *err);

/* True if the model draws rows itself, and not by their covariances. */
bool gpnn_model_can_draw(const struct gpnn_model *model);

/*
 * Draws, for a model that can, the errors of one channel in all rows of 'query' together: of the
 * latent function minus the mean that gpnn_model_predict() gives.  'errors' is n by n_draws; a
 * model makes only so many draws as it was asked for when it was made.  GPNN_EINVAL: these are
 * fewer; otherwise outcomes as for gpnn_model_predict().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_model_draw(const struct gpnn_model *model, size_t channel,
                                                 const struct gpnn_query *query, size_t n_draws,
                                                 double *errors, struct gpnn_error *err);

/*
 * The weights with which channel 'channel' predicts the rows of 'query' from their neighbours
 * (gpnn-methods(7), equation 3.3); adds to '*counts', that of the channel.  Always in double
 * precision, and each row from its own neighbours.  GPNN_EINVAL: predictions of the model's kind
 * have no weights; otherwise outcomes as for gpnn_model_predict().  n = 0 does nothing.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_model_weights(const struct gpnn_model *model, size_t channel,
                                                    const struct gpnn_query *query,
                                                    const struct gpnn_weights *weights,
                                                    struct gpnn_counts *counts,
                                                    struct gpnn_error *err);

/* How many weights gpnn_model_weights() has room for in each row. */
size_t gpnn_model_n_weights(const struct gpnn_model *model, size_t channel);

/*
 * The probabilities of the K classes of channel 'channel', whose parameters are of classes: 'p' is
 * n by K, each row of sum 1 but for rounding; 'nearest' (n) as in struct gpnn_latent, or NULL. Adds
 * to '*counts', that of the channel.  The temperature of calibration is left to the caller.  A row
 * without neighbours gets the probabilities far from all training rows.  GPNN_EINVAL: the model's
 * kind predicts no classes; otherwise outcomes as for gpnn_model_predict().  n = 0 does nothing.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_model_classify(const struct gpnn_model *model, size_t channel,
                                                     const struct gpnn_query *query, double *p,
                                                     double *nearest, struct gpnn_counts *counts,
                                                     struct gpnn_error *err);

/* Leaves training rows out of their own predictions, as models/heldout.h describes. */
GPNN_MUST_CHECK enum gpnn_status gpnn_model_hold_out(const struct gpnn_model *model,
                                                     const struct gpnn_holdout_options *options,
                                                     struct gpnn_heldout *heldout,
                                                     struct gpnn_error *err);

size_t gpnn_model_n_channels(const struct gpnn_model *model);
const struct gpnn_channel *gpnn_model_channel(const struct gpnn_model *model, size_t channel);

/* As given to gpnn_model_new(). */
const struct gpnn_model_options *gpnn_model_options(const struct gpnn_model *model);

/* Number of training rows that each row is predicted from: the number requested, or all of them if
 * there are fewer. */
size_t gpnn_model_neighbours(const struct gpnn_model *model, size_t channel);

/* True if a search was built, at noticeable cost, because that of the dataset has another metric.
 */
bool gpnn_model_rebuilt_search(const struct gpnn_model *model);

/* NULL is allowed.  Models made from it by gpnn_model_with() come first. */
void gpnn_model_free(struct gpnn_model *model);

/* What make() or with() of its kind returned; for the folder of that kind. */
const void *gpnn_model_state(const struct gpnn_model *model);

/* ---- what a model implements -------------------------------------------------------------- */

/*
 * A model's functions, with the contracts of the gpnn_model functions above.  'state' comes from
 * its make() or with().  model.c keeps the channels and options, which outlive the state.  Besides
 * make(), with(), predict() and free(), a function may be NULL: the model cannot do that, or it has
 * no neighbours, and model.c says so (GPNN_EINVAL).
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
  enum gpnn_status (*joint)(const void *state, size_t channel, const struct gpnn_query *query,
                            const struct gpnn_errors *errors, double *covariance,
                            struct gpnn_error *err);
  /* NULL: draws follow from the covariances of joint(). */
  enum gpnn_status (*draw)(const void *state, size_t channel, const struct gpnn_query *query,
                           size_t n_draws, double *errors, struct gpnn_error *err);
  enum gpnn_status (*weights)(const void *state, size_t channel, const struct gpnn_query *query,
                              const struct gpnn_weights *weights, struct gpnn_counts *counts,
                              struct gpnn_error *err);
  enum gpnn_status (*classify)(const void *state, size_t channel, const struct gpnn_query *query,
                               double *p, double *nearest, struct gpnn_counts *counts,
                               struct gpnn_error *err);
  size_t (*neighbours)(const void *state, size_t channel);
  size_t (*n_weights)(const void *state, size_t channel); /* NULL: as many as neighbours */
  bool (*rebuilt_search)(const void *state);
  void (*free)(void *state);
};

#ifdef __cplusplus
}
#endif

#endif
