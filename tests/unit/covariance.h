/*
 * covariance: isotropic covariances by the names of their kernels, for tests of simulations.
 */
#ifndef GPNN_TESTS_COVARIANCE_H
#define GPNN_TESTS_COVARIANCE_H

#include "kernel/covariance.h"
#include "unit.h"

/* 'kernel' as gpnn_kernel_parse() takes it: "rbf", "matern:1.3". */
static inline struct gpnn_covariance covariance_of(const char *kernel, double lengthscale,
                                                   double kernelscale, double noise)
{
  struct gpnn_covariance c = gpnn_covariance_isotropic(NULL, 0, lengthscale, kernelscale, noise);
  assert_true(gpnn_kernel_parse(kernel, &c.kernel, &c.smoothness));
  return c;
}

#endif
