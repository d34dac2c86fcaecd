/*
 * mixture: what several members of a stack predict together.
 *
 * Member k predicts a row with mean mean_k and variance v_k, and has weight w_k.  Together they
 * predict the moments of the mixture of their distributions (gpnn-methods(7), equations 5.6 and
 * 5.7):
 *   mean = sum_k w_k mean_k,   variance = sum_k w_k (v_k + (mean_k - mean)^2).
 * Where the members disagree, the variance is larger than theirs.  The other numbers that describe
 * a prediction are averaged.
 */
#ifndef GPNN_MODELS_MIXTURE_H
#define GPNN_MODELS_MIXTURE_H

#include <stddef.h>

#include "models/model.h"

/*
 * Combines the predictions of 'n_members' > 0 members for 'n' rows of one channel.  'weight' (> 0,
 * n_members) sums to 1.  Writes those arrays of 'mixture' that are not NULL; the members have all
 * of these, and their means if the variance is wanted.
 */
void gpnn_mixture_combine(size_t n_members, const double *weight, const struct gpnn_latent *members,
                          size_t n, const struct gpnn_latent *mixture);

#endif
