/*
 * fit: cheap estimation of the kernel parameters on a few thousand rows.
 *
 * Objectives, all minimised, all per row:
 *   block    'n_blocks' * 'block_size' training rows are drawn without replacement and cut into
 *            blocks b, which are treated as independent of each other,
 *              L = sum_b 1/2 [ y_b' K_b^-1 y_b + log det K_b + s log 2 pi ],
 *              K_b = kernelscale C_b + noise I
 *            (Allison et al. 2023, section 6.1; gpnn-methods(7), equation 4.3);
 *   loo      the density of a row given its k nearest others (estimate/neighbourhood.h);
 *   mll-k    the joint density of a row and its k - 1 nearest others;
 *   vecchia  the density of a row given its k nearest among those before it in the order of the
 *            first principal component;
 *   labels   minus the log probability of a row's class given its k nearest others, for targets
 *            that hold classes, which are fitted one at a time.  The kernel scale is 1, and the
 *            link (likelihood/categorical.h) is estimated too.
 * The rows in a random block are mostly far apart.  The other objectives see real neighbourhoods,
 * as predictions do; they are averaged over a pool of random rows, whose neighbours among all
 * training rows are found again as the lengthscales change (gpnn-methods(7), section 4).
 *
 * Apart from these searches the cost does not grow with n.
 */
#ifndef GPNN_ESTIMATE_FIT_H
#define GPNN_ESTIMATE_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/index/index.h"
#include "kernel/parameters.h"
#include "linalg/factors/jitter.h"
#include "linalg/optimize.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_near;

enum gpnn_optimizer {
  GPNN_OPTIMIZER_USUAL = 0, /* lbfgs for blocks, adam for neighbourhoods */
  GPNN_OPTIMIZER_LBFGS = 1, /* on the logarithms of the parameters, bounded */
  GPNN_OPTIMIZER_ADAM = 2,  /* blocks: as published: softplus, 200 steps, every parameter starts at
                               log 2; neighbourhoods: logarithms, minibatches, a falling rate */
};

struct gpnn_fit_options {
  const struct gpnn_kernel *kernel;
  double smoothness;               /* of the kernel, where it needs one (kernel/kernel.h) */
  bool ard;                        /* a lengthscale for each group of inputs */
  enum gpnn_objective_kind first;  /* minimised first */
  enum gpnn_objective_kind second; /* minimised next, starting from that result; or NONE */
  enum gpnn_optimizer optimizer;
  size_t n_blocks;        /* w */
  size_t block_size;      /* s */
  size_t k;               /* neighbours of a row in the objective */
  size_t rows;            /* in the pool */
  size_t batch;           /* rows per step of adam */
  size_t steps;           /* of adam */
  double rate;            /* of its first step over neighbourhoods; 0: the usual one */
  size_t refresh;         /* steps of adam between searches for neighbours */
  double thin;            /* rows within this distance, in standardised inputs, are not neighbours;
                             negative: no limit */
  enum gpnn_mean mean;    /* its coefficients are estimated too */
  bool learn_rotation;    /* by the objectives of neighbourhoods; ARD only */
  const double *rotation; /* d by d: applied to the inputs (kernel/rotation.h), or NULL.
                             Not with a linear mean, nor with groups of inputs. */
  bool same_ratio;        /* give all targets the same ratio of noise to kernel scale, unless the
                             noise is fixed */
  size_t neighbours;      /* recorded in the parameters; not used by the objective */
  double fixed_kernelscale;            /* > 0: fixed at this value; 0: free */
  double fixed_noise;                  /* > 0: fixed; 0: free */
  double fixed_lengthscale;            /* > 0: all fixed; 0: free */
  const double *unseen;                /* n_groups lengthscales, of which those that say that the
                                          process does not see a group (kernel/sight.h) are kept;
                                          NULL: it sees all */
  double prior_factor;                 /* above 1: one standard deviation of the prior of a
                                          parameter is this factor */
  struct gpnn_link fixed_link;         /* of its numbers those > 0 are fixed; no biases */
  const struct gpnn_parameters *start; /* n_starts initial values, or NULL: the median pairwise
                                          distance for the lengthscale, 0.9 for the kernel scale and
                                          0.1 for the noise.  Ignored by the published adam. */
  size_t n_starts;                     /* targets with their own start; the others use the first */
  uint64_t seed;
  int threads;
  struct gpnn_near *near; /* what fits of the same rows by one seed find (estimate/near.h), kept for
                             the next; NULL: nothing is kept.  Borrowed. */
};

#define GPNN_FIT_OPTIONS_INIT                                                                \
  {                                                                                          \
    .ard = true, .first = GPNN_OBJECTIVE_BLOCK, .n_blocks = 10, .block_size = 300, .k = 32,  \
    .rows = 8000, .batch = 64, .steps = 1500, .refresh = 250, .thin = -1, .neighbours = 400, \
    .prior_factor = 3, .seed = 1, .threads = 1                                               \
  }

struct gpnn_fit_report {
  enum gpnn_objective_kind objective; /* the last one minimised */
  double value;                       /* of that objective at the result, per row */
  size_t n_rows;                      /* that it was evaluated on */
  size_t n_blocks, block_size;        /* as used: fewer or smaller if there are too few rows */
  size_t k;                           /* as used */
  size_t n_searches; /* for neighbours: 1, unless the ratios of the lengthscales change */
  /* Median over the pool of a row's nearest divided by its k-th distance, and what it would be in
   * rows scattered at random; 1 if not measured. */
  double spacing, usual_spacing;
  struct gpnn_jitter jitter; /* of the objective's covariances at the result, over all targets, in
                                standardised y squared: of blocks, or of rows' neighbourhoods */
  struct gpnn_jitter mean_jitter; /* the same, of the neighbourhoods that the mean was estimated
                                     from */
  struct gpnn_optimize_report optimize;
};

/* True if most rows have near copies, which neighbourhoods mistake for precision: if the spacing is
 * below 0.05 and a third of the usual one (gpnn-methods(7), equations 4.26 and 4.27). */
bool gpnn_fit_has_copies(const struct gpnn_fit_report *report);

/*
 * Sets the spacing of a report that lacks it, as those of objectives that need no neighbours do:
 * of the first 1000 rows of the random order that all estimations share, each with its k nearest in
 * the metric of 'params', where k and the seed are those of 'options'.  A rotation is ignored:
 * near copies are near under any.  Does nothing above GPNN_FIT_SPACING_ROWS rows, where finding
 * neighbours takes longer than estimating over blocks.
 */
enum { GPNN_FIT_SPACING_ROWS = 100000 };
GPNN_MUST_CHECK enum gpnn_status gpnn_fit_find_spacing(const struct gpnn_dataset *dataset,
                                                       const struct gpnn_parameters *params,
                                                       const struct gpnn_fit_options *options,
                                                       struct gpnn_fit_report *report,
                                                       struct gpnn_error *err);

/* The median ratio of the distances of the nearest and the m-th nearest of rows that are scattered
 * at random in so many dimensions (equation 4.26); 1 if m < 2. */
double gpnn_fit_usual_spacing(size_t m, double dimension);

/*
 * Estimates the parameters of 'n' > 0 targets of one dataset, each given by its view.  They share a
 * metric, that is, the kernel, rotation and lengthscales, but each has its own kernel scale, noise
 * variance and coefficients of the mean.  Under 'same_ratio' noise variances are proportional to
 * kernel scales, up to rounding, so that predictions share a factorisation (models/local/local.h).
 * Given the metric, the targets are treated as independent: the mean of their objectives over the
 * same rows is minimised.
 *
 * 'params' has n zeroed entries; the caller releases them, and sets the index's fingerprint in
 * them.  They record how they were estimated (struct gpnn_estimation).  GPNN_EDATA: fewer than 2
 * rows, or collinear terms of the mean.  GPNN_EINVAL: no blocks, or blocks of fewer than 2 rows; no
 * neighbours, rows or steps; a rotation where none is possible; no row has a neighbour after
 * thinning.  GPNN_EMISMATCH: 'start' has another number of columns, or there are no regressors for
 * the mean.  GPNN_ENUMERIC: the objective is not finite.  The result does not depend on the number
 * of threads.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_fit(size_t n, const struct gpnn_dataset *const dataset[],
                                          const struct gpnn_fit_options *options,
                                          struct gpnn_parameters *params,
                                          struct gpnn_fit_report *report, struct gpnn_error *err);

/*
 * True if the noise is below the rounding error of a covariance matrix of params->neighbours rows.
 * Predictions from duplicate rows then need jitter (linalg/factors/cholesky.h), even if the
 * objective has seen no duplicates.
 */
bool gpnn_fit_loses_noise(const struct gpnn_parameters *params);

/*
 * Evaluates the block objective, for tests: L / rows over given blocks ('x' n_blocks*block_size by
 * d in block order, 'y' likewise), at the parameters' values.  'group' is as in struct
 * gpnn_dataset.  'noise', unless NULL, is the known noise variance of each row.  'gradient', unless
 * NULL, gets n_lengthscales + 2 derivatives with respect to the logarithms of the lengthscales, the
 * kernel scale and the noise variance, in this order.
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
