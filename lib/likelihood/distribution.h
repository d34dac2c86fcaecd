/*
 * distribution: the predictive distribution of one row.
 *
 * A variable w is normal, or Student's t, with a given mean and standard deviation.  The target is
 * w itself, or a function of it: the value y whose image under an increasing function g, the
 * warping function, is w (a warped Gaussian process: Snelson, Rasmussen and Ghahramani 2004;
 * gpnn-methods(7), equations 3.27 to 3.29 and 9.17), plus an offset.  Quantiles, the distribution
 * function and the density of y follow exactly from those of w.  Its moments and its CRPS are
 * integrals, computed by Gauss and Legendre's rule to about eight digits where g is smooth.  They
 * are taken over a bounded range, because the exponential of Student's t has no mean: values beyond
 * either end count as that end.
 *
 * Or the target is a count (likelihood/count.h), and w the latent function, which is normal.  Its
 * quantiles are whole, the distribution function at a count is that of the middle of its step, and
 * the density is a probability.
 *
 * Any of these but a count may be mixed with an atom, one number that the target is exactly with
 * some probability (likelihood/atom.h).  Moments, quantiles, distribution function and CRPS are
 * those of the mixture; the distribution function at the atom is that of the middle of its step.
 * The density is taken with respect to Lebesgue's measure and one point mass at the atom: there it
 * is the probability of the atom, elsewhere that of the other law times the probability of that.
 *
 * A distribution is a small value; it borrows the warping function and the law of counts.  A NaN as
 * mean of w, or as truth, gives NaN. Threads: no shared state.
 */
#ifndef GPNN_LIKELIHOOD_DISTRIBUTION_H
#define GPNN_LIKELIHOOD_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The warping function w = g(y), in the units that y and w have in a distribution; y is the target
 * without its offset. */
struct gpnn_warp {
  const void *context; /* borrowed; passed to the functions */
  double (*forward)(const void *context, double y);
  double (*inverse)(const void *context, double w);
  double (*log_derivative)(const void *context, double y); /* log g'(y); -INFINITY where the target
                                                              cannot be */
  double lower, upper; /* the range of y that moments and CRPS are taken over; lower < upper */
  size_t n_kinks;      /* where the slope of g jumps, */
  double (*kink)(const void *context, size_t i); /* at these w, ascending; not called if there are
                                                    none */
};

struct gpnn_count_law; /* likelihood/count.h */

/* One number that the target may be exactly. */
struct gpnn_distribution_atom {
  double at, within;  /* targets that differ from 'at' by up to 'within' are at the atom */
  double probability; /* in [0, 1); 0: there is no atom */
};

struct gpnn_distribution {
  double location; /* the mean of w */
  double sd;       /* the standard deviation of w, >= 0; 0: all probability is at one point */
  double degrees;  /* > 2: degrees of freedom of Student's t; INFINITY: w is normal */
  const struct gpnn_warp *warp; /* borrowed; NULL: the target is w */
  double offset; /* added to the target; 0 unless there is a warping function, as the location
                    includes it otherwise */
  const struct gpnn_count_law
      *count; /* borrowed; that of the target, given w; NULL: it is no
                 count.  Without a warping function, an offset and an atom */
  struct gpnn_distribution_atom atom;
  bool is_far; /* of a row farther from the training rows than calibration has seen; for reports */
};

/* How well a distribution predicted the truth. */
struct gpnn_distribution_score {
  double logp; /* the log of the density at the truth; of a count or an atom, of its probability */
  double crps; /* the continuous ranked probability score, in the unit of the target */
  double pit;  /* the probability of values below the truth; of a count, with half its own, and of
                  an atom likewise */
  double step; /* the probability of an atom that the truth is at; 0: it is at none */
};

/* Mean and standard deviation of the target. */
void gpnn_distribution_moments(const struct gpnn_distribution *distribution, double *mean,
                               double *sd);

/* The target at which the variable is 'w', for draws of it; not of counts.  Values beyond the range
 * of a warping function count as its ends, so that draws have the moments above. */
double gpnn_distribution_target(const struct gpnn_distribution *distribution, double w);

/* The quantile of p in (0, 1), and the probability of values up to 'y', of a count with half its
 * own. */
double gpnn_distribution_quantile(const struct gpnn_distribution *distribution, double p);
double gpnn_distribution_cdf(const struct gpnn_distribution *distribution, double y);

/* The interval from location - half_width sd to location + half_width sd of w, as the target's; of
 * counts, between the quantiles of the same probabilities. */
void gpnn_distribution_interval(const struct gpnn_distribution *distribution, double half_width,
                                double *lower, double *upper);

/* The log density at 'y': -INFINITY where the target cannot be. */
double gpnn_distribution_log_density(const struct gpnn_distribution *distribution, double y);

double gpnn_distribution_crps(const struct gpnn_distribution *distribution, double y);

struct gpnn_distribution_score gpnn_distribution_score(const struct gpnn_distribution *distribution,
                                                       double truth);

/* ---- target_warp.c --------------------------------------------------------------------------- */

struct gpnn_transform; /* stats/transform.h */

/* The transform of a target as the warping function of predictive distributions, in any units of
 * the target.  The target of a distribution is (y - centre) / scale, where y is that of the table;
 * w is what the transform makes of y.  Moments and CRPS are taken over the transform's bounds. */
struct gpnn_target_warp {
  const struct gpnn_transform *transform; /* borrowed */
  double centre, scale;                   /* of the units; scale > 0 */
};

/* The warping function, which borrows 'target'. */
struct gpnn_warp gpnn_target_warp_function(const struct gpnn_target_warp *target);

#ifdef __cplusplus
}
#endif

#endif
