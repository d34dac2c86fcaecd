/*
 * conformal: intervals with guaranteed coverage, whatever the distribution of errors (split
 * conformal prediction: Lei et al. 2018, section 2.2 and, for residuals scaled by a standard
 * deviation, 5.2; gpnn-methods(7), equations 8.9 and 8.10).
 *
 * For c rows that no prediction used, let s_i = |y_i - mean_i| / sd_i and let w be the k-th
 * smallest s, where k = ceil((c + 1) P).  Then the interval mean -+ w sd contains the target of a
 * new row with probability at least P, and less than P + 1/(c + 1) if no two s are equal.  These
 * bounds are exact, on average over rows and calibrations, if the new row and the c rows are
 * exchangeable and the means and standard deviations were found without them.  Multiplying all
 * standard deviations by a common factor changes nothing, even if the factor was found on the same
 * rows.
 */
#ifndef GPNN_LIKELIHOOD_CONFORMAL_H
#define GPNN_LIKELIHOOD_CONFORMAL_H

#include <stddef.h>

#include "base/status.h"
#include "kernel/parameters.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The smallest number of rows c from which an interval of probability 'level' can be found. */
size_t gpnn_conformal_rows(double level);

/*
 * Finds the width for each of 'n_levels' (> 0) probabilities in (0, 1), all different and in any
 * order, from 'n' standardised residuals 'z', whose signs are ignored; levels and widths replace
 * those in 'params'.  GPNN_EDATA: too few residuals for a level, as with none at all.  GPNN_ENOMEM.
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
