/*
 * family: what each family of variational models can do, so that models/variational.c
 * makes a model of it.  A family keeps what it needs for predictions in the arrays of
 * dataset/stored.h, whether they come from a model file or were just estimated, and its kernel,
 * lengthscales, kernel scale and noise variance in the parameters.  Everything is in standardised
 * units.
 *
 * To add a family: a value of enum gpnn_family, a struct gpnn_family_ops in a file of its own, a
 * row of the table in variational.c, and a tool that estimates it.
 */
#ifndef GPNN_MODELS_FAMILY_H
#define GPNN_MODELS_FAMILY_H

#include <stddef.h>

#include "base/status.h"
#include "models/model.h"

/* Predictions of the latent function of n rows; an array that is NULL is not computed. */
struct gpnn_family_latent {
  double *mean, *variance; /* n: without noise */
  double *nearest;         /* n: distance to the nearest inducing point, in lengthscales */
};

struct gpnn_family_ops {
  enum gpnn_family family;
  /* Prepares predictions of a channel whose dataset has 'stored'; channel and dataset outlive
   * '*state', which is set on success only.  GPNN_EFORMAT: an array is missing, or not as long or
   * in such a range as it must be; nothing in a file is trusted.  GPNN_ENOMEM, GPNN_ENUMERIC. */
  enum gpnn_status (*make)(void **state, const struct gpnn_channel *channel, int threads,
                           struct gpnn_error *err);
  /* Predicts n rows 'x' (n by d) with the threads given to make(); results do not depend on how
   * rows are divided over calls, nor on threads.  n = 0 does nothing.  GPNN_ENOMEM. */
  enum gpnn_status (*predict)(const void *state, size_t n, const double *x,
                              const struct gpnn_family_latent *latent, struct gpnn_error *err);
  /* Covariance of the latent function at n rows, n by n.  NULL: the family cannot say. */
  enum gpnn_status (*joint)(const void *state, size_t n, const double *x, double *covariance,
                            struct gpnn_error *err);
  void (*free)(void *state);
};

/* The families; each is defined in the file of its name. */
extern const struct gpnn_family_ops gpnn_inducing_ops[3]; /* collapsed, diag and augmented */
extern const struct gpnn_family_ops gpnn_tucker_ops;

#endif
