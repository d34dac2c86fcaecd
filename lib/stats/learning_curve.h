/*
 * learning_curve: a power law of the number of rows above a floor,
 *   value(n) = floor + scale (n / unit)^-exponent,
 * which is how errors of predictions from nearest neighbours fall (gpnn-methods(7), equations 11.17
 * and 12.2): the floor is what no number of rows removes, noise above all.
 */
#ifndef GPNN_STATS_LEARNING_CURVE_H
#define GPNN_STATS_LEARNING_CURVE_H

#include <stddef.h>

struct gpnn_learning_curve {
  double floor;
  double scale;    /* >= 0; in units of the value */
  double exponent; /* in [GPNN_LEARNING_CURVE_SLOWEST, GPNN_LEARNING_CURVE_FASTEST]; 0 where the
                      scale is */
  double unit;     /* rows: the largest number fitted */
};

#define GPNN_LEARNING_CURVE_SLOWEST 0.02
#define GPNN_LEARNING_CURVE_FASTEST 2.0

/*
 * Finds the curve of least squares through 'n_points' (at least 1) values at numbers of rows 'n'
 * > 0, rising, with weights 'weight' > 0, whose floor is at least 'least_floor' (-INFINITY: any);
 * no value may be below that.  For each exponent, floor and scale solve a linear problem with
 * bounds; the exponent is found on a grid and then by golden section.  Of fewer than three
 * different numbers of rows many curves are best, and one of them is found.
 */
void gpnn_learning_curve_fit(size_t n_points, const double *n, const double *value,
                             const double *weight, double least_floor,
                             struct gpnn_learning_curve *curve);

/* The curve at 'n' rows; INFINITY gives the floor. */
double gpnn_learning_curve_at(const struct gpnn_learning_curve *curve, double n);

#endif
