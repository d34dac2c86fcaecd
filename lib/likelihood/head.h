/*
 * head: from the latent function that a model predicts to the distribution of an observation.
 *
 * A model (models/model.h) predicts the mean and the variance of a latent function at each row; a
 * head says what this makes of the target there:
 *   gaussian  N(mean, variance + noise)
 *   student   Student's t with that mean and that variance, and the parameters' degrees of freedom
 * Which one it is follows from the parameters.  Half the width of an interval is that of the
 * distribution, or one that calibration recorded (likelihood/conformal.h).
 *
 * To add one, add a row to the table in head.c.  All values are in standardised units.  A head is a
 * small value to copy; it borrows the parameters that it was made of.
 */
#ifndef GPNN_LIKELIHOOD_HEAD_H
#define GPNN_LIKELIHOOD_HEAD_H

#include <stdbool.h>

#include "kernel/parameters.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_head_kind; /* a row of the table in head.c */

struct gpnn_head {
  const struct gpnn_head_kind *kind;
  const struct gpnn_parameters *parameters;
};

/* What is known of one value, of the latent function or of an observation. */
struct gpnn_predictive {
  double mean, variance;
};

struct gpnn_head gpnn_head_of(const struct gpnn_parameters *parameters);

/* Degrees of freedom of Student's t; 0: the distribution is not that. */
double gpnn_head_degrees(const struct gpnn_head *head);

/* An observation of the function 'latent', whose own known noise variance, besides the parameters',
 * is 'known_noise' (0: none). */
struct gpnn_predictive gpnn_head_observe(const struct gpnn_head *head,
                                         struct gpnn_predictive latent, double known_noise);

/* Negative log density of an observation that is 'error' away from its mean, under a variance of
 * 'variance' > 0. */
double gpnn_head_nll(const struct gpnn_head *head, double error, double variance);

/*
 * Half the width of the central interval of probability 'level' in (0, 1), in standard deviations.
 * The width that calibration recorded for this level is used where there is one, but not for the
 * latent function ('is_latent'): it is a width of observations.  '*source' says in a word or two
 * where the width comes from: "conformal", "Gaussian" or "Student's t".
 */
double gpnn_head_half_width(const struct gpnn_head *head, double level, bool is_latent,
                            const char **source);

#ifdef __cplusplus
}
#endif

#endif
