/*
 * local: Gaussian-process prediction of a row from its m nearest training rows alone
 * (Allison et al. 2023, equations 5 to 7; gpnn-methods(7), equations 3.1 to 3.9).
 *
 * For a row x*, with N its m nearest training rows, K = kernelscale C_N + noise I = L L',
 * k_j = kernelscale c(x_j, x*), v = L^-1 k, u = L^-1 (y_N - T_N b):
 *   mean = t*'b + v'u,   variance = kernelscale - v'v,   misfit = u'u / m,
 * where b are the coefficients of the mean's terms t (kernel/mean.h).  Where the rows have known
 * noise variances they are added to K's diagonal.  Where the coefficients have a covariance V,
 * q'Vq with q = t* - T_N'K^-1 k is added to the variance.
 *
 * Channels are independent of each other given their parameters; what they have in common is worked
 * out once.  Those that share a metric, a kernel and the number of neighbours have one search a row
 * and one matrix of correlations; and of those, channels whose ratio of noise to kernel scale is
 * the same (but for rounding), known noise included, have one factorisation and cost hardly more
 * than one channel.
 *
 * Neighbours are the nearest in the metric of the kernel: Euclidean after the parameters' rotation,
 * if they have one, and division by the lengthscales.  The dataset's own search serves if it has
 * that metric; otherwise one is built in memory for the life of the model.  From several numbers of
 * neighbours a row is predicted by one factorisation: neighbours are factored nearest first, so
 * that the factor of the fewer ones is the leading part.
 *
 * Cost of a prediction: O(m^3/3 + m^2 d) a row; memory O(threads m^2 + 1024 m).
 */
#ifndef GPNN_MODELS_LOCAL_LOCAL_H
#define GPNN_MODELS_LOCAL_LOCAL_H

#include "models/model.h"

extern const struct gpnn_model_ops gpnn_local_ops;

#endif
