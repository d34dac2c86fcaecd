/*
 * atom: targets of which a large share are exactly one number, as the zeros of rain or of counts of
 * comments are (gpnn-methods(7), equations 8.20 to 8.23).
 *
 * Their predictive distribution is a mixture: the number itself, the atom, with a probability that
 * depends on the row, and otherwise a law estimated from the rows that are not at the atom.  What
 * the probability depends on is the share of the atom among the row's nearest training rows
 * (struct gpnn_latent of models/model.h), of which the logit is transformed linearly:
 *
 *   logit p = intercept + slope logit s,   s = (k + 1/2) / (m + 1)
 *
 * where k of the m nearest are at the atom.  A target is at the atom if it differs
 * from it by no more than the rounding of standardisation.  Threads: no shared state.
 */
#ifndef GPNN_LIKELIHOOD_ATOM_H
#define GPNN_LIKELIHOOD_ATOM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The least share of the training targets that makes a number an atom. */
#define GPNN_ATOM_LEAST_SHARE 0.2

/* By how much targets at the atom may differ from it, in standardised units. */
#define GPNN_ATOM_WITHIN 1e-9

/*
 * Finds the most frequent of the training targets, the smallest of equally frequent ones: its
 * value and its share, with intercept 0, slope 1 and power 0, which calibration sets
 * (assess/calibrate.h).  atom->share stays 0 if it is below
 * GPNN_ATOM_LEAST_SHARE, or if no atom can be predicted from the dataset by the parameters: their
 * likelihood has to be Student's t with a scale, and the targets plain numbers, without offsets,
 * of training rows.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_atom_find(const struct gpnn_dataset *dataset,
                                                const struct gpnn_parameters *parameters,
                                                struct gpnn_atom *atom, struct gpnn_error *err);

/* The atom as the training rows have it: standardised and, if the parameters say so, transformed.
 * NaN: they have no atom. */
double gpnn_atom_standardised(const struct gpnn_atom *atom,
                              const struct gpnn_parameters *parameters,
                              const struct gpnn_dataset *dataset);

/* True if two targets, in standardised units, are the same; never of NaN. */
bool gpnn_atom_is(double atom, double y);

/* s of the 'm' nearest training rows, of which 'k' are at the atom; NaN: there are none. */
double gpnn_atom_share(size_t m, size_t k);

/* The probability of the atom at a row of this s; if that is NaN, the share of all rows. */
double gpnn_atom_probability(const struct gpnn_atom *atom, double share);

/*
 * The location of the law of other numbers at a row where the mean of all targets is predicted to
 * be 'mean', and the probability of the atom, which is 'at', to be 'p': at + (mean - at) / (1 -
 * p)^power, where 1 - p counts as at least 0.05.  With power 1 the mean of the mixture is 'mean',
 * which the rows at the atom have a part in; with 0 the law stays where it was.
 */
double gpnn_atom_location(const struct gpnn_atom *atom, double at, double mean, double p);

/*
 * Sets intercept and slope to those that make 'n' rows most likely, of which 'is_at' says whether
 * they are at the atom, given the shares among their neighbours, with a weak prior that draws them
 * to 0 and 1.  Rows of 'skip' (NULL: none) are left out.
 */
void gpnn_atom_fit(size_t n, const double *share, const bool *is_at, const bool *skip,
                   struct gpnn_atom *atom);

#ifdef __cplusplus
}
#endif

#endif
