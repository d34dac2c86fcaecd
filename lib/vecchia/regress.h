/*
 * regress: estimates the coefficients of a mean on a data set, by generalised least squares
 * (vecchia/gls.h).
 */
#ifndef GPNN_VECCHIA_REGRESS_H
#define GPNN_VECCHIA_REGRESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"
#include "linalg/jitter.h"

struct gpnn_regress_options {
  size_t most_rows;  /* rows used: all, or this many random ones, so that the cost does not
                        grow with n */
  size_t neighbours; /* earlier rows that each is conditioned on; >= 1 */
  uint64_t seed;
  int threads;
};

#define GPNN_REGRESS_OPTIONS_INIT \
  {                               \
    20000, 30, 1, 1               \
  }

struct gpnn_regress_report {
  size_t n_rows;             /* used */
  struct gpnn_jitter jitter; /* of their neighbours' covariance matrices, in standardised
                                y squared */
};

/*
 * Estimates the coefficients of params->mean under params->covariance and the known noise of
 * 'dataset', and puts them and their covariance into 'params' in place of others.  Rows are
 * conditioned on one another in random order.
 * GPNN_EDATA: the terms are collinear; the message names the first that is a combination of those
 * before it.  GPNN_EINVAL: no rows or no neighbours.  GPNN_EMISMATCH: the number of lengthscales
 * does not fit the inputs.  GPNN_ENUMERIC: a covariance matrix is not positive definite.  After a
 * failure 'params' are unchanged.  Cost O(rows (m^3/3 + m^2 (d + p)) + a search); the result does
 * not depend on the number of threads.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_regress(const struct gpnn_dataset *dataset,
                                              const struct gpnn_regress_options *options,
                                              struct gpnn_parameters *params,
                                              struct gpnn_regress_report *report,
                                              struct gpnn_error *err);

#endif
