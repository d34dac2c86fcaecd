/*
 * fit: estimates a Tucker model (models/tucker/tucker.h) from the rows of a
 * target: factors and core by least squares in turn, between steps of the lengthscales and of the
 * covariance of the grid's values (gpnn-methods-sparse(7), equations 17.44 to 17.48).
 */
#ifndef GPNN_MODELS_TUCKER_FIT_H
#define GPNN_MODELS_TUCKER_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "container/state.h"
#include "dataset/dataset.h"
#include "kernel/kernel.h"
#include "kernel/parameters.h"
#include "models/tucker/tucker.h"

enum gpnn_tucker_variance {
  GPNN_TUCKER_VARIANCE_AUTO = 0, /* residual where the shrinkage is above 0.1 */
  GPNN_TUCKER_VARIATIONAL = 1,   /* that of q(f) */
  GPNN_TUCKER_RESIDUAL = 2,      /* the same for all rows: that of what is left of rows held out */
};

/* What is known after a sweep. */
struct gpnn_tucker_progress {
  size_t sweep; /* how many there were */
  double bound; /* (17.38), of all rows */
  double rmse;  /* of the rows, standardised */
  size_t p;     /* lengthscales */
  const double *lengthscale;
  double kernelscale, noise;
  double shrinkage; /* (17.50) */
};

struct gpnn_tucker_options {
  size_t n_sizes, n_ranks;             /* 1: the same for all dimensions; or p */
  size_t size[GPNN_TUCKER_DIMENSIONS]; /* grid points, at least 1 */
  size_t rank[GPNN_TUCKER_DIMENSIONS]; /* at least 1; above the points, it is these */
  size_t most_core;                    /* ranks fall until the core has no more numbers; 0: they
                                          stay */
  bool at_quantiles;                   /* points at quantiles of the inputs; else equally spaced */
  double margin;                       /* >= 0: how far the grid reaches beyond the inputs, in
                                          units of their range */
  bool is_sum;                         /* the core is diagonal: the mean is a sum of 'rank[0]'
                                          Kronecker products */
  bool has_prior_covariance;           /* rho is not used: variances are those of the prior */
  const struct gpnn_kernel *kernel;    /* that has a smoothness of its own */
  size_t n_sweeps;                     /* of least squares, at most */
  double noise, kernelscale;           /* > 0: what they stay, or begin with */
  bool frees_noise, frees_kernelscale;
  double jitter; /* > 0 */
  enum gpnn_tucker_variance variance;
  uint64_t seed;
  int threads;
  /* Called on the way if not NULL, never from another thread. */
  void (*progress)(void *context, const struct gpnn_tucker_progress *progress);
  void *progress_context;
};

/* The usual options, with one thread. */
struct gpnn_tucker_options gpnn_tucker_usual_options(void);

/* Array of one number: the variance of an observation, where it is the same for all rows
 * (GPNN_TUCKER_RESIDUAL); the noise variance of the parameters is not above it. */
#define GPNN_TUCKER_RESIDUAL_VARIANCE "residual-variance"

struct gpnn_tucker_report {
  struct gpnn_tucker_shape shape; /* ranks as they turned out */
  size_t n_sweeps;                /* of least squares */
  bool converged;                 /* the bound changed by less than 1e-5 of itself in a sweep */
  double bound, rmse;             /* of the training rows */
  double shrinkage;               /* (17.50) */
  double residual;                /* mean squared residual of the rows held out, or where there are
                                     none, of the training rows */
  enum gpnn_tucker_variance variance; /* never AUTO */
  double jitter;                      /* that was needed */
  double n_points;                    /* of the grid; above 1e15 the bound is not known to 1 nat */
};

/*
 * Estimates the parameters and arrays of a view's target, which are added under its name.
 * 'params' is zeroed on entry and the caller's to release; it gets kernel, a lengthscale for each
 * group of inputs, kernel scale, noise, family and the number of rows.
 *
 * GPNN_EDATA: no row, no input, or more inputs than GPNN_TUCKER_DIMENSIONS.  GPNN_ENUMERIC: the
 * correlation matrix of a dimension, which is named, is not positive definite even with the largest
 * jitter, or the bound is not finite.  GPNN_ENOMEM.  After a failure 'params' is empty.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_tucker_fit(const struct gpnn_dataset *view, const struct gpnn_tucker_options *options,
                struct gpnn_parameters *params, struct gpnn_state *arrays,
                struct gpnn_tucker_report *report, struct gpnn_error *err);

#endif
