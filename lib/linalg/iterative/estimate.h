/*
 * estimate: traces, diagonals and log determinants of matrices that are known only by their
 * products with vectors, from random vectors (gpnn-methods-sparse(7), equations 17.32 and
 * 17.33; gpnn-methods-grid(7), equation 16.38).
 *
 * Source: Hutchinson (1990), A stochastic estimator of the trace; Bekas, Kokiopoulou and Saad
 * (2007), An estimator for the diagonal of a matrix; Ubaru, Chen and Saad (2017).
 *
 * The matrix is any that linalg/iterative/cg.h describes; its preconditioner is not used.  For
 * traces and diagonals it need be neither symmetric nor definite, and its product may itself be
 * random with the right mean: that of an inverse, say (linalg/iterative/truncated_cg.h).
 *
 * Outcomes: those of the product; GPNN_ENUMERIC: an estimate is not finite; GPNN_ENOMEM.  Outputs
 * are then untouched.  Memory: two blocks of 16 vectors.
 * Threads: as the product; estimates do not depend on their number.
 */
#ifndef GPNN_LINALG_ESTIMATE_H
#define GPNN_LINALG_ESTIMATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "linalg/iterative/cg.h"
#include "linalg/iterative/probes.h"
#include "linalg/iterative/truncated_cg.h"

/* Random vectors 'first' to first + n - 1 of linalg/iterative/probes.h. */
struct gpnn_estimate_probes {
  size_t n; /* at least 1 */
  enum gpnn_probes_kind kind;
  uint64_t seed, first;
  int threads; /* that draw them */
};

struct gpnn_estimate {
  double value;
  double error; /* standard error, from the spread over the vectors; not finite for one alone */
};

GPNN_MUST_CHECK enum gpnn_status gpnn_estimate_trace(const struct gpnn_cg_matrix *matrix,
                                                     const struct gpnn_estimate_probes *probes,
                                                     struct gpnn_estimate *trace,
                                                     struct gpnn_error *err);

/* 'diagonal' has as many elements as a vector, outer * inner. */
GPNN_MUST_CHECK enum gpnn_status gpnn_estimate_diagonal(const struct gpnn_cg_matrix *matrix,
                                                        const struct gpnn_estimate_probes *probes,
                                                        struct gpnn_estimate *diagonal,
                                                        struct gpnn_error *err);

/*
 * The log determinant of a positive definite matrix, from the steps of solutions as 'options' say,
 * but never randomly truncated: the closer they are, the less it is biased
 * (linalg/iterative/lanczos.h). 'report' as for gpnn_truncated_cg_solve(), whose outcomes it has
 * besides those above, and those of gpnn_lanczos_logdet().  Memory: that of solutions of 16
 * columns.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_estimate_logdet(const struct gpnn_cg_matrix *matrix, const struct gpnn_estimate_probes *probes,
                     const struct gpnn_truncated_cg_options *options, struct gpnn_estimate *logdet,
                     struct gpnn_truncated_cg_report *report, struct gpnn_error *err);

#endif
