/*
 * collapsed_start: kernel, lengthscales, kernel scale and noise variance from a sample of the rows,
 * by the collapsed bound (models/inducing/collapsed/collapsed.h) with some of them as inducing
 * points. Every model of inducing points may start with what it finds.
 *
 * Threads: results do not depend on their number.
 */
#ifndef GPNN_MODELS_INDUCING_COLLAPSED_START_H
#define GPNN_MODELS_INDUCING_COLLAPSED_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/covariance.h"

struct gpnn_collapsed_start_options {
  const struct gpnn_kernel *kernel; /* NULL: that of exp, matern32, matern52 and rbf for which the
                                       bound is largest */
  double smoothness;                /* of the kernel, if it needs one */
  bool ard;                         /* a lengthscale for each group of inputs */
  size_t rows, inducing;            /* of the sample, at most; at least 1 */
  size_t most_evaluations;          /* of the bound, for each kernel */
  size_t refined_rows, refined_inducing,
      refined_evaluations;             /* the same of a larger sample, on which
                   the kernel chosen ends, if there are more rows; its points
                   are means of clusters; no evaluations: it is left out */
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

#endif
