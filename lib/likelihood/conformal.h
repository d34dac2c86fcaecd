/*
 * conformal: intervals that hold new rows as often as they say, whatever the distribution of
 * errors (split conformal prediction: Lei et al. 2018, section 2.2 and, for residuals scaled by a
 * standard deviation, 5.2; gpnn-methods(7), equations 8.9 and 8.10).
 *
 * Of c rows that no prediction used, s_i = |y_i - mean_i| / sd_i.  With w the k-th smallest s,
 * k = ceil((c + 1) P), the interval mean -+ w sd holds the target of a new row with probability
 * at least P, and under P + 1/(c + 1) if no two s are equal: on average over rows and
 * calibrations, and exactly, if the new row and the c are exchangeable and the means and standard
 * deviations were found without them.  A factor common to all standard deviations changes
 * nothing, even if it was found from the same rows.
 */
#ifndef GPNN_LIKELIHOOD_CONFORMAL_H
#define GPNN_LIKELIHOOD_CONFORMAL_H

#include <stddef.h>

#include "base/status.h"
#include "kernel/parameters.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The smallest c that gives an interval of probability 'level'. */
size_t gpnn_conformal_rows(double level);

/*
 * Replaces the levels and widths of 'params' by 'n_levels' (> 0) probabilities in (0, 1), all
 * different, in any order, with their widths from 'n' standardised residuals of either sign.
 * GPNN_EDATA: too few residuals for a level.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_conformal_record(struct gpnn_parameters *params, size_t n,
                                                       const double *z, size_t n_levels,
                                                       const double *levels,
                                                       struct gpnn_error *err);

/* The width recorded for 'level', 0 or above, or NaN if there is none. */
double gpnn_conformal_width(const struct gpnn_parameters *params, double level);

#ifdef __cplusplus
}
#endif

#endif
