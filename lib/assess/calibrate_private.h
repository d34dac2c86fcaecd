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

/* Rows that may be at an atom, with what a model predicted there; all borrowed. */
struct gpnn_calibrate_atom_rows {
  const struct gpnn_scale_rows *rows;
  const struct gpnn_parameters *params;
  const struct gpnn_atom *atom; /* as gpnn_atom_find() found it */
  double at;                    /* standardised */
  const double *share;          /* of each row (struct gpnn_latent) */
  const bool *is_at;            /* of each row */
};

/*
 * Estimates the atom's probability, and the law of the rows that are not at it, from parts of the
 * rows; if that lowers the CRPS of the others, compared with one law for all, by more than one
 * standard error, 'result', which has such a law, gets both as estimated from all rows.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_calibrate_atom(const struct gpnn_calibrate_atom_rows *rows,
                                                     struct gpnn_calibrate_report *result,
                                                     struct gpnn_error *err);

/* The standard deviation of row 'i' under a law. */
double gpnn_calibrate_sd(const struct gpnn_scale_rows *rows, const struct gpnn_parameters *given,
                         const struct gpnn_scale_law *law, size_t i);

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
