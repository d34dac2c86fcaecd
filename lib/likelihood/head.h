/*
 * head: the distribution of an observation, given the latent function that a model predicts.
 *
 * A model (models/model.h) predicts the mean and the variance of a latent function at each row; a
 * head turns them into the distribution of the target there:
 *   gaussian  N(mean, variance + noise)
 *   student   Student's t with the same mean and variance and the parameters' degrees of freedom
 *   scaled    Student's t whose squared scale is that variance times a factor, which is the same
 *             for all rows or depends on the row (likelihood/scale.h)
 *   counts    a count, of which mean and variance are those of the latent function with its noise,
 *             multiplied by the factor (likelihood/count.h)
 *
 * The parameters determine which head applies.  The half-width of an interval is that of the
 * distribution, or one recorded by calibration (likelihood/conformal.h).
 *
 * To add a head, add a row to the table in head.c.  All values are in standardised units.  A head
 * is small and is copied by value; it borrows the parameters that it was made from.
 */
#ifndef GPNN_LIKELIHOOD_HEAD_H
#define GPNN_LIKELIHOOD_HEAD_H

#include <stdbool.h>

#include "kernel/parameters.h"
#include "likelihood/scale.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_head_kind; /* a row of the table in head.c */

struct gpnn_head {
  const struct gpnn_head_kind *kind;
  const struct gpnn_parameters *parameters;
};

/* The predictive mean and variance of the latent function or of an observation. */
struct gpnn_predictive {
  double mean, variance;
};

struct gpnn_head gpnn_head_of(const struct gpnn_parameters *parameters);

/* Degrees of freedom of Student's t; 0: the distribution is not that. */
double gpnn_head_degrees(const struct gpnn_head *head);

/* Mean and variance of an observation of the function 'latent'.  'known_noise' (0: none) is the
 * row's own noise variance, which is added to that of the parameters. */
struct gpnn_predictive gpnn_head_observe(const struct gpnn_head *head,
                                         const struct gpnn_latent_row *latent, double known_noise);

/* Mean and variance of the function itself, which has the same kind of distribution. */
struct gpnn_predictive gpnn_head_latent(const struct gpnn_head *head,
                                        const struct gpnn_latent_row *latent);

/*
 * How the error of a row comes about, for what rows have in common: 'process' times the error of
 * the latent function given the mean's coefficients, 'mean' times what their uncertainty adds, and
 * an independent part of variance 'own'.  So process^2 (variance - mean_variance) + mean^2
 * mean_variance + own is the variance of gpnn_head_observe(), or under 'of_function' that of
 * gpnn_head_latent(), where 'own' is 0.
 */
struct gpnn_head_parts {
  double process, mean, own;
};

struct gpnn_head_parts gpnn_head_parts(const struct gpnn_head *head,
                                       const struct gpnn_latent_row *latent, double known_noise,
                                       bool of_function);

/* True if observations depend on the misfit, the nearest neighbour and the mean's variance of a
 * row. */
bool gpnn_head_needs_row(const struct gpnn_head *head);

/* Negative log density of an observation that differs from its mean by 'error', where 'variance'
 * (> 0) is the variance of the observation. */
double gpnn_head_nll(const struct gpnn_head *head, double error, double variance);

/*
 * Half the width of the central interval of probability 'level' in (0, 1), in standard deviations.
 * If calibration recorded a width for this level, that is used, except for the latent function
 * ('is_latent'), because recorded widths are those of observations.  '*source' says where the width
 * comes from: "conformal", "Gaussian" or "Student's t".
 */
double gpnn_head_half_width(const struct gpnn_head *head, double level, bool is_latent,
                            const char **source);

#ifdef __cplusplus
}
#endif

#endif
