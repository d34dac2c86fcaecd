/*
 * calibrate: one scale factor that makes the predictive variances right on average
 * (A Algorithm 2 and Lemma 5; T eq. 22; specification section 5).
 *
 *   alpha = (1/c) sum_i (y_i - mean_i)^2 / variance_i
 * over c rows that were not used to make the predictions; kernel scale and noise variance
 * are multiplied by it.  Then the mean of z^2 on these rows is 1, their NLL is minimal over
 * all factors, and no predictive mean anywhere moves.
 */
#ifndef GPNN_METHODS_CALIBRATE_H
#define GPNN_METHODS_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "models/localgp.h"

struct gpnn_calibration {
  double alpha;          /* the factor found */
  double standard_error; /* of alpha: the ideal bootstrap's, sqrt(sum (z^2 - alpha)^2) / c;
                            infinite for one row */
  size_t n_rows;         /* c */
  struct gpnn_localgp_counts counts;
};

/* How many rows: begin with 1000 and double until the standard error is under 2 % of alpha. */
enum { GPNN_CALIBRATE_AUTO = 0 };

/*
 * Finds the factor on the first 'wanted' (or GPNN_CALIBRATE_AUTO; never more than there are) of
 * 'n_rows' given rows in random order: 'x' n_rows by d and 'y', both standardised; the rows an
 * index holds out are such.  GPNN_EDATA: no rows.  GPNN_ENUMERIC: alpha is zero (every row is
 * predicted without error) or not finite.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_calibrate_rows(const struct gpnn_localgp *gp, size_t n_rows, const double *x, const double *y,
                    size_t wanted, struct gpnn_calibration *calibration, struct gpnn_error *err);

/*
 * Finds the factor on 'wanted' (likewise) random training rows, each predicted from the others.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_calibrate_left_out(const struct gpnn_localgp *gp,
                                                         size_t wanted, uint64_t seed,
                                                         struct gpnn_calibration *calibration,
                                                         struct gpnn_error *err);

/* Multiplies kernel scale and noise variance by alpha and records it, cumulatively. */
void gpnn_calibrate_apply(const struct gpnn_calibration *calibration, struct gpnn_params *params);

#endif
