/*
 * fit: cheap estimation of the kernel parameters on a few thousand rows (A 6.1; T "A Cheap
 * Hyper-Parameter Estimation Method"; specification section 3).
 *
 * 'blocks' * 'block_size' training rows are drawn without replacement and cut into blocks b;
 * the objective is the negative log likelihood of a Gaussian process that is independent
 * from block to block,
 *   L = sum_b 1/2 [ y_b' K_b^-1 y_b + log det K_b + s log 2 pi ],  K_b = kernelscale C_b + noise I,
 * with gradient sum_b 1/2 [ tr(K_b^-1 dK_b) - a_b' dK_b a_b ],  a_b = K_b^-1 y_b.
 * The cost, O(blocks block_size^3) an evaluation, does not grow with n.
 */
#ifndef GPNN_METHODS_FIT_H
#define GPNN_METHODS_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "data/index.h"
#include "methods/optimize.h"
#include "models/params.h"

enum gpnn_optimizer {
  GPNN_OPTIMIZER_LBFGS = 0, /* logarithms of the parameters, bounded */
  GPNN_OPTIMIZER_ADAM = 1,  /* the paper's: softplus, 200 steps, start at log 2 each */
};

struct gpnn_fit_options {
  const struct gpnn_kernel *kernel;
  double smoothness; /* of the kernel, where it needs one (models/kernel.h) */
  bool ard;          /* one lengthscale a column */
  enum gpnn_optimizer optimizer;
  size_t n_blocks;                 /* w */
  size_t block_size;               /* s */
  size_t neighbours;               /* recorded in the parameters; not used by the objective */
  double fixed_kernelscale;        /* > 0: held at this value; 0: free */
  double fixed_noise;              /* > 0: held; 0: free */
  double fixed_lengthscale;        /* > 0: all of them held; 0: free */
  const struct gpnn_params *start; /* where to start, or NULL: median pairwise distance for
                                      the lengthscale, 0.9 and 0.1.  Not for adam. */
  uint64_t seed;
  int threads;
};

#define GPNN_FIT_OPTIONS_INIT                                              \
  {                                                                        \
    NULL, 0, true, GPNN_OPTIMIZER_LBFGS, 10, 300, 400, 0, 0, 0, NULL, 1, 1 \
  }

struct gpnn_fit_report {
  size_t n_blocks, block_size; /* as used: fewer or smaller where the rows do not suffice */
  double objective;            /* L at the result, divided by the number of rows used */
  struct gpnn_optimize_report optimize;
};

/*
 * Estimates parameters from the training rows of 'contents'.  'params' must be zeroed; the
 * caller releases it, and sets the index's fingerprint in it.  GPNN_EDATA: fewer than 2 rows.
 * GPNN_EINVAL: no blocks, or of fewer than 2 rows.  GPNN_EMISMATCH: 'start' has another number
 * of columns.  GPNN_ENUMERIC: no finite objective.  The result does not depend on the number
 * of threads.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_fit_block(const struct gpnn_index_contents *contents, const struct gpnn_fit_options *options,
               struct gpnn_params *params, struct gpnn_fit_report *report, struct gpnn_error *err);

/*
 * The objective itself, for tests and for methods that compare fits: L / rows over given
 * blocks ('x' n_blocks*block_size by d in block order, 'y' likewise), at the parameters'
 * values.  'gradient', if not NULL, gets n_lengthscales + 2 derivatives with respect to the
 * logarithms of the lengthscales, of the kernel scale and of the noise variance, in this
 * order.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_fit_block_objective(const struct gpnn_params *params, size_t n_blocks, size_t block_size,
                         size_t d, const double *x, const double *y, int threads, double *value,
                         double *gradient, struct gpnn_error *err);

#endif
