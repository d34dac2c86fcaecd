/*
 * calibrate_private: the calibration of scales and of temperatures, apart from that of Gaussian
 * variances.
 */
#ifndef GPNN_ASSESS_CALIBRATE_PRIVATE_H
#define GPNN_ASSESS_CALIBRATE_PRIVATE_H

#include "assess/calibrate.h"

/*
 * Predicts 'rows', by options->crossfit if they are those, and estimates the scale that suits them:
 * sets the law, alpha, its standard error, 'z' and 'nearest' of 'result', whose arrays have room
 * for the rows.  GPNN_ENUMERIC: every row is predicted without error, or one with an sd of 0 but
 * with an error.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_calibrate_scale(const struct gpnn_model *model,
                                                      const struct gpnn_calibrate_options *options,
                                                      const struct gpnn_heldout *rows,
                                                      struct gpnn_calibrate_report *result,
                                                      struct gpnn_error *err);

/* The same for classes: estimates the temperature, and sets the losses as well. */
GPNN_MUST_CHECK enum gpnn_status gpnn_calibrate_temperature(
    const struct gpnn_model *model, const struct gpnn_calibrate_options *options,
    const struct gpnn_heldout *rows, struct gpnn_calibrate_report *result, struct gpnn_error *err);

/* The same for counts, whose law is a factor alone; 'z' gets the half-width, in standard deviations
 * of a normal, of the shortest interval between quantiles of opposite probabilities that contains
 * each count.  GPNN_EDATA: a row has no count. */
GPNN_MUST_CHECK enum gpnn_status gpnn_calibrate_counts(const struct gpnn_model *model,
                                                       const struct gpnn_heldout *rows,
                                                       struct gpnn_calibrate_report *result,
                                                       struct gpnn_error *err);

#endif
