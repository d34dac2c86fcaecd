/*
 * stored_model: what models have in common that predict from the arrays of a model file
 * (dataset/stored.h) in place of training rows: a state for each channel, the factor that
 * calibration may have multiplied its kernel scale by, and the loops over channels.  The model's
 * own functions know a single channel.  Everything is in standardised units.
 *
 * The arrays belong to the kernel scale that they were made for (gpnn-model(5)).  A factor of it
 * multiplies variances and leaves means alone.  Rows have no neighbours, so their misfit is 1.
 *
 * Threads: a model never changes and may be shared.
 */
#ifndef GPNN_MODELS_STORED_MODEL_H
#define GPNN_MODELS_STORED_MODEL_H

#include "models/model.h"

/* Prepares predictions of a channel whose dataset has 'stored' and whose parameters are those that
 * the arrays were made for; both outlive '*state', which is set on success only.  GPNN_EMISMATCH:
 * the parameters are of another kind.  GPNN_EFORMAT: an array is missing, or not as long or in such
 * a range as it must be; nothing in a file is trusted.  GPNN_ENOMEM, GPNN_ENUMERIC. */
typedef enum gpnn_status gpnn_stored_make(void **state, const struct gpnn_channel *channel,
                                          int threads, struct gpnn_error *err);
typedef void gpnn_stored_free(void *state);

/* Predicts n rows 'x' (n by d): mean, variance and nearest of 'latent', where they are not NULL.
 * Results depend neither on how rows are divided over calls, nor on threads.  GPNN_ENOMEM. */
typedef enum gpnn_status gpnn_stored_predict(const void *state, size_t n, const double *x,
                                             const struct gpnn_latent *latent,
                                             struct gpnn_error *err);

/* The covariances of the latent function at n rows, n by n. */
typedef enum gpnn_status gpnn_stored_joint(const void *state, size_t n, const double *x,
                                           double *covariance, struct gpnn_error *err);

/* Make a model whose channels 'make' prepares and 'free' frees. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_stored_model_new(void **model, size_t n, const struct gpnn_channel *channels, int threads,
                      gpnn_stored_make *make, gpnn_stored_free *free, struct gpnn_error *err);

/* Of struct gpnn_model_ops, as they are. */
enum gpnn_status gpnn_stored_model_with(const void *model, const struct gpnn_channel *channels,
                                        void **other, struct gpnn_error *err);
void gpnn_stored_model_free(void *model);

/* Of struct gpnn_model_ops, given what one channel needs. */
GPNN_MUST_CHECK enum gpnn_status gpnn_stored_model_predict(const void *model,
                                                           const struct gpnn_query *query,
                                                           const struct gpnn_latent *latent,
                                                           gpnn_stored_predict *predict,
                                                           struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status
gpnn_stored_model_joint(const void *model, size_t channel, const struct gpnn_query *query,
                        const struct gpnn_errors *errors, double *covariance,
                        gpnn_stored_joint *joint, struct gpnn_error *err);

#endif
