/*
 * covariance: a Gaussian process and the noise on its observations,
 *   cov(y(x), y(x')) = kernelscale c(r) + noise [same row],  r = |(R x - R x') / lengthscale|,
 * of a correlation c (kernel/kernel.h), lengthscales and a rotation R of the inputs.
 */
#ifndef GPNN_KERNEL_COVARIANCE_H
#define GPNN_KERNEL_COVARIANCE_H

#include <stddef.h>

#include "kernel/kernel.h"

/* A zeroed object is empty.  Who owns the arrays, the holder says. */
struct gpnn_covariance {
  const struct gpnn_kernel *kernel; /* of the table in kernel.c */
  double smoothness;                /* nu of the general Matern kernel, > 0; else 0 */
  size_t n_rotation;                /* 0, or d squared: */
  double *rotation;                 /* d by d: what the kernel sees of the standardised inputs
                                       (kernel/rotation.h); NULL: the inputs themselves */
  size_t n_lengthscales;            /* 1, or under ARD one a group of inputs (dataset/dataset.h) */
  double *lengthscale;              /* > 0 */
  double kernelscale;               /* > 0 */
  double noise;                     /* >= 0 */
};

#endif
