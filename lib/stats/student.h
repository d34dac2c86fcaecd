/*
 * student: Student's t distribution of location 0 and scale 1.
 *
 * 'df' >= 1 are its degrees of freedom, not necessarily whole; INFINITY is the normal
 * distribution.  A prediction whose standard deviation is sd has the scale sd times
 * gpnn_student_unit_scale(df): t = error / scale.
 */
#ifndef GPNN_STATS_STUDENT_H
#define GPNN_STATS_STUDENT_H

/* Density, and distribution function (accurate in both tails), each to a relative error below
 * 1e-12 where it is above 1e-280. */
double gpnn_student_density(double t, double df);
double gpnn_student_cdf(double t, double df);

/* The quantile of p in (0, 1), to a relative error below 1e-12 but for what rounding has done to
 * a 'p' near 1/2 or 1. */
double gpnn_student_quantile(double p, double df);

/* Half the width, in scales, of the central interval of probability p in (0, 1). */
double gpnn_student_half_width(double p, double df);

/* The scale of the distribution whose standard deviation is 1: sqrt((df - 2) / df), for
 * df > 2. */
double gpnn_student_unit_scale(double df);

/* Negative log density at 'error' from the location, for 'scale' > 0. */
double gpnn_student_nll(double error, double scale, double df);

/*
 * Continuous ranked probability score of an observation 't' for df > 1, in scales:
 *   t (2 F(t) - 1) + 2 f(t) (df + t^2) / (df - 1)
 *     - 2 sqrt(df) / (df - 1) B(1/2, df - 1/2) / B(df/2, 1/2)^2
 * (Jordan et al. 2019, appendix A.2; gpnn-methods(7), equation 9.9).
 */
double gpnn_student_crps(double t, double df);

#endif
