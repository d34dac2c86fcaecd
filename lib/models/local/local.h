/*
 * local: Gaussian-process prediction of each row from its m nearest training rows (Allison et al.
 * 2023, equations 5 to 7; gpnn-methods(7), equations 3.1 to 3.9).
 *
 * For a row x*, with N its m nearest training rows, K = kernelscale C_N + noise I = L L',
 * k_j = kernelscale c(x_j, x*), v = L^-1 k, u = L^-1 (y_N - T_N b):
 *   mean = t*'b + v'u,   variance = kernelscale - v'v,   misfit = u'u / m,
 * where b are the coefficients of the mean's terms t (kernel/mean.h).  Under a local or Student
 * likelihood v'u is kept near the residuals of the neighbours (bound.c).  Where the rows have known
 * noise variances they are added to K's diagonal.  Where the coefficients have a covariance V,
 * q'Vq with q = t* - T_N'K^-1 k is added to the variance.
 *
 * Channels are independent of each other given their parameters; what they have in common is
 * computed once.  Channels with the same metric, kernel and number of neighbours share the search
 * and the matrix of correlations for each row.  If, in addition, their ratio of noise to kernel
 * scale is the same up to rounding, including known noise, they share the factorisation and hardly
 * cost more than a single channel.
 *
 * Neighbours are the nearest rows in the metric of the kernel: Euclidean after applying the
 * parameters' rotation, if any, and dividing by the lengthscales.  If the dataset's own search has
 * that metric, it is used; otherwise the model builds one in memory.  Predictions from several
 * numbers of neighbours need only one factorisation: neighbours are factored nearest first, so that
 * the factor for fewer neighbours is its leading part.
 *
 * Cost of a prediction: O(m^3/3 + m^2 d) per row; memory O(threads m^2 + 1024 m).
 */
#ifndef GPNN_MODELS_LOCAL_LOCAL_H
#define GPNN_MODELS_LOCAL_LOCAL_H

#include "models/model.h"

extern const struct gpnn_model_ops gpnn_local_ops;

#endif
