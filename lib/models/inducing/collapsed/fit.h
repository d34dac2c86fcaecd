/*
 * fit: the whole estimation of a model of inducing points with the optimal distribution
 * of their values (models/inducing/collapsed/collapsed.h): kernel and lengthscales from a sample
 * of the rows, inducing points from the rows under that kernel, and kernel scale, noise variance
 * and posterior from one pass over all rows (gpnn-methods-sparse(7), equations 17.1 to 17.7).
 *
 * Threads: results do not depend on their number.
 */
#ifndef GPNN_MODELS_INDUCING_COLLAPSED_FIT_H
#define GPNN_MODELS_INDUCING_COLLAPSED_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "container/state.h"
#include "dataset/dataset.h"
#include "kernel/covariance.h"
#include "kernel/parameters.h"
#include "models/inducing/inducing.h"

/* ---- the start ---------------------------------------------------------------------------- */

/*
 * Kernel, lengthscales, kernel scale and noise variance from a sample of the rows,
 * by the collapsed bound (models/inducing/collapsed/collapsed.h) with some of them as inducing
 * points. Every model of inducing points may start with what it finds.
 *
 * Threads: results do not depend on their number.
 */

struct gpnn_collapsed_start_options {
  const struct gpnn_kernel *kernel; /* NULL: that of exp, matern32, matern52 and rbf for which the
                                       bound is largest */
  double smoothness;                /* of the kernel, if it needs one */
  bool ard;                         /* a lengthscale for each group of inputs */
  size_t rows, inducing;            /* of the sample, at most; at least 1 */
  size_t most_evaluations;          /* of the bound, for each kernel */

  /* The same of a larger sample, on which the kernel chosen ends, if there are more rows; its
   * points are means of clusters.  No evaluations: it is left out. */
  size_t refined_rows, refined_inducing, refined_evaluations;

  const struct gpnn_covariance *guess; /* where to start: with as many lengthscales, or one for
                                          all, or none: then at the root of d, times the spread of
                                          positions in km; NULL: there, with kernel scale 1 and
                                          noise variance 0.1 */
  bool fixes_lengthscales, fixes_kernelscale, fixes_noise; /* keep those of the guess */
  uint64_t seed;
  int threads;
};

/* 3000 rows, 300 inducing points, 60 evaluations; then 8000, 800 and 25; ARD, one thread. */
struct gpnn_collapsed_start_options gpnn_collapsed_start_defaults(void);

/*
 * Estimates 'covariance' of the view of one target, in standardised units; its lengthscales are the
 * caller's to free, and are NULL after a failure.  '*evaluations' counts those of all kernels.  A
 * search that ends where the kernel scale is below a thousandth of the noise variance is repeated
 * from a quarter of the lengthscales, and then from four times them, unless one of these is fixed.
 *
 *   GPNN_EDATA     there are fewer than two rows
 *   GPNN_ENUMERIC  the bound cannot be computed at the start
 *   GPNN_ENOMEM
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_collapsed_start(
    const struct gpnn_dataset *view, const struct gpnn_collapsed_start_options *options,
    struct gpnn_covariance *covariance, size_t *evaluations, struct gpnn_error *err);

/* ---- all of it ---------------------------------------------------------------------------- */

struct gpnn_svgp_options; /* models/inducing/collapsed/collapsed.h */

struct gpnn_collapsed_options {
  struct gpnn_collapsed_start_options start; /* with seed and threads of everything */
  size_t inducing;                           /* points, at least 1 */
  enum gpnn_inducing_how how;                /* they are chosen */
  const double *z;                           /* or the points themselves: inducing by d; NULL */
  size_t steps; /* evaluations of the bound of all rows, to improve the lengthscales; 0: none */
  const struct gpnn_svgp_options *batches; /* the family svgp: lengthscales, kernel scale, noise and
                                              posterior by batches of rows; nothing is fixed, and
                                              'steps' is not used; NULL: collapsed */
};

/* What users get without options. */
struct gpnn_collapsed_options gpnn_collapsed_default_options(void);

struct gpnn_collapsed_report {
  size_t evaluations; /* of the sample's bound */
  size_t inducing;    /* distinct points */
  size_t rank;        /* of what they explain */
  double bound;       /* of all rows */
};

/*
 * Estimates the target of a view (dataset/dataset.h).  'params', zeroed, get family, covariance,
 * GPNN_LIKELIHOOD_LOCAL and the number of rows; 'arrays' those of models/inducing/inducing.h.
 * Outcomes as for gpnn_collapsed_start(), gpnn_inducing_choose() and gpnn_collapsed_posterior();
 * the caller releases both, also after a failure.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_collapsed_fit(const struct gpnn_dataset *view, const struct gpnn_collapsed_options *options,
                   struct gpnn_parameters *params, struct gpnn_state *arrays,
                   struct gpnn_collapsed_report *report, struct gpnn_error *err);

#endif
