/*
 * joint: predictions of several rows together: draws from their joint distribution, and sums.
 *
 * Predictions of nearby rows err alike, so the variance of a sum is not the sum of the variances.
 * Errors have the covariances of gpnn_model_joint(), in the scale that the head gives each row;
 * noise is independent from row to row (gpnn-methods(7), equations 3.30 to 3.34).  Where the
 * predictive distribution is Student's t, rows that are drawn or added up together share its one
 * random scale: they have a multivariate t distribution, and a sum has the same degrees of freedom
 * as a row.
 *
 * Calling sequence: gpnn_predict_distributions() for all rows, gpnn_joint_new(), gpnn_joint_draw()
 * and gpnn_joint_sum() any number of times, gpnn_joint_free().  The predictor may have no largest
 * distance, and may not be mean only; its units are those of all results, which include the offsets
 * of rows.
 *
 * Failures: besides the outcomes named below, those of gpnn_model_joint().
 * Threads: the model's; no result depends on their number.
 */
#ifndef GPNN_MODELS_JOINT_H
#define GPNN_MODELS_JOINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "models/predict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_joint;

/* Prepares joint predictions of 'rows', for which the predictor gave 'distributions' (channels by
 * n); none may be a training row.  All arguments are borrowed and must outlive the object.  Takes
 * as long as predicting the rows. */
GPNN_MUST_CHECK enum gpnn_status gpnn_joint_new(struct gpnn_joint **joint,
                                                const struct gpnn_predictor *predictor,
                                                const struct gpnn_predict_rows *rows,
                                                const struct gpnn_distribution *distributions,
                                                struct gpnn_error *err);

/* Rows drawn at once.  More are drawn in blocks of half as many, each of which is conditioned on as
 * many of the earlier rows. */
enum { GPNN_JOINT_WHOLE = 1024 };

/*
 * Draws all rows of a channel 'n_draws' times: 'draws' is n by n_draws.  The draws of up to
 * GPNN_JOINT_WHOLE rows, or up to the channel's number of neighbours if that is more, have exactly
 * the covariances described above.  More rows are put into an order in which those close to each
 * other are consecutive, but for some from all over that come first, and each block of them is
 * drawn given these and the earlier rows that are nearest to its centre.  Under a warping function
 * this is drawn from the distribution of w, and gives targets row by row
 * (gpnn_distribution_target()).  Draw k depends on 'seed' and the rows and, but for rounding, not
 * on n_draws. GPNN_ENUMERIC also if a draw is beyond the range of a double.  'draws' may be partly
 * written after a failure.  Without rows or draws nothing is done.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_joint_draw(const struct gpnn_joint *joint, size_t channel,
                                                 size_t n_draws, uint64_t seed, double *draws,
                                                 struct gpnn_error *err);

/*
 * The mean and sd of 'weight' times the sum of the 'n' different rows 'members' of a channel: a
 * total with weight 1, an average with 1/n.  One row with weight 1 has the mean and sd given for
 * it; no rows have a sum of 0.  GPNN_EINVAL: the targets are seen through a warping function, so
 * that nothing simple is known of their sum.  GPNN_ENUMERIC also if mean or sd is beyond the range
 * of a double.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_joint_sum(const struct gpnn_joint *joint, size_t channel,
                                                size_t n, const size_t *members, double weight,
                                                double *mean, double *sd, struct gpnn_error *err);

/* As gpnn_predictor_half_width(), of a sum: widths that calibration recorded are those of single
 * rows, and do not apply. */
double gpnn_joint_half_width(const struct gpnn_predictor *predictor, size_t channel, double level,
                             const char **source);

/* NULL is allowed. */
void gpnn_joint_free(struct gpnn_joint *joint);

#ifdef __cplusplus
}
#endif

#endif
