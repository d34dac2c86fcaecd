/*
 * crossfit: training rows predicted by parameters that have not seen them (gpnn-methods(7),
 * equation 8.19).
 *
 * Parameters fit the rows that they were estimated from better than new rows, so that errors of
 * these rows are too small, even if each is left out of its own prediction.  Here the rows are
 * divided into five folds at random.  For each fold the parameters are estimated again without its
 * rows (gpnn_channels_refit()), and with them each of its rows is predicted from all other training
 * rows, those of its own fold included.  What is left of the difference between these rows and new
 * ones is that the parameters come from four fifths of the rows.
 *
 * Where training rows belong to groups (dataset/dataset.h), folds are made of whole groups, because
 * a new row belongs to a group that the parameters have not seen, and a row is predicted from other
 * groups only.
 *
 *   gpnn_crossfit_new()      divides the rows and estimates: the cost is that of five fits
 *   gpnn_crossfit_write()    writes what was estimated, for gpnn_crossfit_again()
 *   gpnn_crossfit_predict()  predicts some of the rows, any number of times;
 *                            gpnn_crossfit_classify() their classes
 *   gpnn_crossfit_free()
 *
 * Threads: a crossfit never changes and may be shared.  Results depend neither on the number of
 * threads nor on which rows are predicted in one call.
 */
#ifndef GPNN_ASSESS_CROSSFIT_H
#define GPNN_ASSESS_CROSSFIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "estimate/refit.h"
#include "models/model.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_crossfit;

enum { GPNN_CROSSFIT_FOLDS = 5 };

/*
 * Divides 'n_rows' random training rows of the dataset of 'n_channels' > 0 channels, at least 1 and
 * at most all, into folds: five, or as many as there are rows, or groups of these rows.  Each fold
 * is left out alone, with all training rows of its groups; training rows that belong to none serve
 * all estimations.  Requires gpnn_channels_can_refit().  The channels' datasets must outlive
 * '*crossfit', which is set on success only.  Outcomes as for gpnn_channels_refit() and
 * gpnn_model_new(), to which 'options' go.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_crossfit_new(struct gpnn_crossfit **crossfit, size_t n_channels,
                  const struct gpnn_channel *channels, const struct gpnn_model_options *options,
                  size_t n_rows, uint64_t seed, struct gpnn_error *err);

/*
 * The same where 'known' has the 'n_known' parameters that gpnn_crossfit_write() wrote of the same
 * rows, by the same seed: nothing is estimated, and but for what calibration finds, the
 * likelihood's scale, which the channels may have by now, they are those of that cross-fit.  They
 * are taken over and zeroed.  If they are not as many as there are folds of all channels, it is
 * made anew.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_crossfit_again(struct gpnn_crossfit **crossfit, size_t n_channels,
                    const struct gpnn_channel *channels, const struct gpnn_model_options *options,
                    size_t n_rows, uint64_t seed, size_t n_known, struct gpnn_parameters *known,
                    struct gpnn_error *err);

/* Writes the parameters of all channels without the first fold, without the second and so on, as
 * if they were those of as many targets, which are numbered from 1.  Outcomes as for
 * gpnn_parameters_write(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_crossfit_write(const struct gpnn_crossfit *crossfit,
                                                     struct gpnn_output *output,
                                                     struct gpnn_error *err);

/* The rows, in random order: their number, and their numbers among the training rows. */
size_t gpnn_crossfit_n_rows(const struct gpnn_crossfit *crossfit);
const int64_t *gpnn_crossfit_rows(const struct gpnn_crossfit *crossfit);

size_t gpnn_crossfit_n_channels(const struct gpnn_crossfit *crossfit);

size_t gpnn_crossfit_n_folds(const struct gpnn_crossfit *crossfit);

/* The fold that training row 'row' belongs to, or the number of folds if it belongs to none.  Rows
 * of the same group belong to the same fold, whether they were drawn or not. */
size_t gpnn_crossfit_fold(const struct gpnn_crossfit *crossfit, int64_t row);

/* The model whose parameters were estimated without the rows of 'fold'. */
const struct gpnn_model *gpnn_crossfit_model(const struct gpnn_crossfit *crossfit, size_t fold);

/*
 * Predicts 'n' training rows that belong to folds, each from all other training rows, or all of
 * other groups, by the model of its fold: writes those arrays of 'latent' that are not NULL, and to
 * 'noise' (channels by n; NULL: unwanted) the noise variance in the parameters of that model,
 * without any known noise of the row.  Adds to 'counts', one for each channel.  GPNN_EINVAL: a row
 * belongs to no fold; otherwise outcomes as for gpnn_model_predict().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_crossfit_predict(const struct gpnn_crossfit *crossfit,
                                                       size_t n, const int64_t *rows,
                                                       const struct gpnn_latent *latent,
                                                       double *noise, struct gpnn_counts *counts,
                                                       struct gpnn_error *err);

/* The same for the classes of channel 'channel': writes what gpnn_model_classify() does, and adds
 * to
 * '*counts', that of the channel. */
GPNN_MUST_CHECK enum gpnn_status gpnn_crossfit_classify(const struct gpnn_crossfit *crossfit,
                                                        size_t channel, size_t n,
                                                        const int64_t *rows, double *p,
                                                        double *nearest, struct gpnn_counts *counts,
                                                        struct gpnn_error *err);

/* NULL is allowed. */
void gpnn_crossfit_free(struct gpnn_crossfit *crossfit);

#ifdef __cplusplus
}
#endif

#endif
