/*
 * fit: cheap estimation of the kernel parameters on a few thousand rows.
 *
 * Objectives, all minimised, all per row:
 *   block    'blocks' * 'block_size' training rows are drawn without replacement and cut into
 *            blocks b, taken to be independent of each other,
 *              L = sum_b 1/2 [ y_b' K_b^-1 y_b + log det K_b + s log 2 pi ],
 *              K_b = kernelscale C_b + noise I
 *            (Allison et al. 2023, section 6.1; gpnn-methods(7), equation 4.3);
 *   loo      the density of a row given its k nearest others (models/local/neighbourhood.h);
 *   mll-k    the joint density of a row and its k - 1 nearest others;
 *   vecchia  the density of a row given its k nearest among those before it in the order of the
 *            first principal component.
 * Blocks of random rows consist of distant pairs.  The other objectives see real neighbourhoods,
 * as predictions do; they are summed over a pool of random rows, whose neighbours among all
 * training rows are searched again as the lengthscales change (gpnn-methods(7), section 4).
 *
 * Apart from these searches the cost does not grow with n.
 */
#ifndef GPNN_MODELS_LOCAL_FIT_H
#define GPNN_MODELS_LOCAL_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/index.h"
#include "kernel/parameters.h"
#include "linalg/jitter.h"
#include "linalg/optimize.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gpnn_objective_kind {
  GPNN_OBJECTIVE_NONE = 0,
  GPNN_OBJECTIVE_BLOCK,
  GPNN_OBJECTIVE_LOO,
  GPNN_OBJECTIVE_MLL_K,
  GPNN_OBJECTIVE_VECCHIA,
};

/* "none", "block", "loo", "mll-k" or "vecchia". */
const char *gpnn_objective_name(enum gpnn_objective_kind kind);

enum gpnn_optimizer {
  GPNN_OPTIMIZER_USUAL = 0, /* lbfgs for blocks, adam for neighbourhoods */
  GPNN_OPTIMIZER_LBFGS = 1, /* logarithms of the parameters, bounded */
  GPNN_OPTIMIZER_ADAM = 2,  /* blocks: the paper's, softplus, 200 steps, start at log 2 each;
                               neighbourhoods: logarithms, minibatches, a falling rate */
};

struct gpnn_fit_options {
  const struct gpnn_kernel *kernel;
  double smoothness;               /* of the kernel, where it needs one (kernel/kernel.h) */
  bool ard;                        /* one lengthscale a group of inputs */
  enum gpnn_objective_kind first;  /* what to minimise */
  enum gpnn_objective_kind second; /* then, from there; NONE: that is all */
  enum gpnn_optimizer optimizer;
  size_t n_blocks;        /* w */
  size_t block_size;      /* s */
  size_t k;               /* neighbours of a row in the objective */
  size_t rows;            /* in the pool */
  size_t batch;           /* rows a step of adam */
  size_t steps;           /* of adam */
  size_t refresh;         /* steps of adam between searches for neighbours */
  double thin;            /* rows no farther than this, in standardised inputs, are not neighbours;
                             negative: all may be */
  enum gpnn_mean mean;    /* its coefficients are estimated too */
  bool learn_rotation;    /* by the objectives of neighbourhoods; ARD only */
  const double *rotation; /* d by d: what the kernel sees (kernel/rotation.h), or NULL.
                             Not with a linear mean, nor with groups of inputs. */
  bool same_ratio;        /* of several targets: noise in the same proportion to the
                             kernel scale, unless it is held */
  size_t neighbours;      /* recorded in the parameters; not used by the objective */
  double fixed_kernelscale;            /* > 0: held at this value; 0: free */
  double fixed_noise;                  /* > 0: held; 0: free */
  double fixed_lengthscale;            /* > 0: all of them held; 0: free */
  const struct gpnn_parameters *start; /* where to start, or NULL: median pairwise distance for
                                      the lengthscale, 0.9 and 0.1.  Not for the paper's adam. */
  size_t n_starts;                     /* targets with a start of their own, in an array; the others
                                          take the first */
  uint64_t seed;
  int threads;
};

#define GPNN_FIT_OPTIONS_INIT                                                                \
  {                                                                                          \
    .ard = true, .first = GPNN_OBJECTIVE_BLOCK, .n_blocks = 10, .block_size = 300, .k = 32,  \
    .rows = 8000, .batch = 64, .steps = 1500, .refresh = 250, .thin = -1, .neighbours = 400, \
    .seed = 1, .threads = 1                                                                  \
  }

struct gpnn_fit_report {
  enum gpnn_objective_kind objective; /* the last one */
  double value;                       /* of it at the result, a row */
  size_t n_rows;                      /* it was summed over */
  size_t n_blocks, block_size;        /* as used: fewer or smaller where the rows do not suffice */
  size_t k;                           /* as used */
  size_t n_searches; /* for neighbours: one, unless lengthscales change in proportion to each other
                      */
  double spacing; /* median over the pool of nearest by k-th distance; 1 where not measured.  Near
                     0: rows have near duplicates, which neighbourhoods mistake for precision */
  struct gpnn_jitter jitter; /* of the objective's covariances at the result, of all targets, in
                                standardised y squared: of blocks, or of rows' neighbourhoods */
  struct gpnn_jitter mean_jitter; /* the same of neighbours of rows that the mean comes from */
  struct gpnn_optimize_report optimize;
};

/* Below this spacing rows are near duplicates of each other (gpnn-methods(7), section 4). */
#define GPNN_FIT_DUPLICATES 0.05

/*
 * Estimates the parameters of 'n' > 0 targets of one dataset, each in its view, that are to have
 * one metric: one kernel, rotation and set of lengthscales, but each its own kernel scale, noise
 * variance and coefficients of the mean; under 'same_ratio' noise variances are in proportion to
 * kernel scales, up to rounding, so that predictions share a factor (models/local/local.h).  Given
 * the metric the targets are taken to be independent: what is minimised is the mean of their
 * objectives over the same rows.
 *
 * 'params' has n entries, zeroed; the caller releases them, and sets the index's fingerprint in
 * them.  GPNN_EDATA: fewer than 2 rows, or collinear terms of the mean.  GPNN_EINVAL: no blocks, or
 * of fewer than 2 rows; no neighbours, rows, steps; a rotation where it cannot be; no row has a
 * neighbour after thinning.  GPNN_EMISMATCH: 'start' has another number of columns, or there are no
 * regressors for the mean.  GPNN_ENUMERIC: no finite objective.  The result does not depend on the
 * number of threads.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_fit(size_t n, const struct gpnn_dataset *const dataset[],
                                          const struct gpnn_fit_options *options,
                                          struct gpnn_parameters *params,
                                          struct gpnn_fit_report *report, struct gpnn_error *err);

/*
 * True if the noise is lost in the rounding of a covariance of as many rows as predictions are made
 * from: duplicate rows among them then need jitter (linalg/cholesky.h), even if the objective has
 * seen no duplicates.
 */
bool gpnn_fit_loses_noise(const struct gpnn_parameters *params);

/*
 * The objective of blocks itself, for tests: L / rows over given blocks ('x' n_blocks*block_size
 * by d in block order, 'y' likewise), at the parameters' values.  'group' as in struct
 * gpnn_dataset.  'noise', if not NULL, is known noise of each row.  'gradient', if not
 * NULL, gets n_lengthscales + 2 derivatives with respect to the logarithms of the lengthscales,
 * of the kernel scale and of the noise variance, in this order.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_fit_block_objective(const struct gpnn_parameters *params, size_t n_blocks, size_t block_size,
                         size_t d, const uint32_t *group, const double *x, const double *y,
                         const double *noise, int threads, double *value, double *gradient,
                         struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
