/*
 * student: Student's t distribution with location 0 and scale 1.
 *
 * 'df' >= 1 is its degrees of freedom, not necessarily an integer; INFINITY means the normal
 * distribution.  A prediction with standard deviation sd has the scale sd times
 * gpnn_student_unit_scale(df), and t = error / scale.
 * Threads: no shared state.
 */
#ifndef GPNN_STATS_STUDENT_H
#define GPNN_STATS_STUDENT_H

/* The density, and the distribution function (accurate in both tails), each with a relative error
 * below 1e-12 where its value is above 1e-280. */
double gpnn_student_density(double t, double df);
double gpnn_student_cdf(double t, double df);

/* The quantile of p in (0, 1), with a relative error below 1e-12 in addition to that from the
 * rounding of a 'p' near 1/2 or 1. */
double gpnn_student_quantile(double p, double df);

/* Half the width, in scales, of the central interval of probability p in (0, 1). */
double gpnn_student_half_width(double p, double df);

/* The scale at which the standard deviation is 1: sqrt((df - 2) / df), for df > 2. */
double gpnn_student_unit_scale(double df);

/* The negative log density at distance 'error' from the location, for 'scale' > 0. */
double gpnn_student_nll(double error, double scale, double df);

/*
 * The continuous ranked probability score of an observation 't', for df > 1, in units of the scale:
 *   t (2 F(t) - 1) + 2 f(t) (df + t^2) / (df - 1)
 *     - 2 sqrt(df) / (df - 1) B(1/2, df - 1/2) / B(df/2, 1/2)^2
 * (Jordan et al. 2019, appendix A.2; gpnn-methods(7), equation 9.9).
 */
double gpnn_student_crps(double t, double df);

#endif
