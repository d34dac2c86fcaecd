/*
 * learning_curve: the error of predictions as a function of the number of rows, a power law above a
 * floor,
 *   value(n) = floor + scale (n / unit)^-exponent,
 * which is how errors of predictions from nearest neighbours fall (gpnn-methods-simulate(7),
 * equations 11.17 and 12.2).  The floor is what no number of rows removes, above all the noise.
 * Threads: no shared state.
 */
#ifndef GPNN_STATS_LEARNING_CURVE_H
#define GPNN_STATS_LEARNING_CURVE_H

#include <stddef.h>

struct gpnn_learning_curve {
  double floor;
  double scale;    /* >= 0; in units of the value */
  double exponent; /* in [GPNN_LEARNING_CURVE_SLOWEST, GPNN_LEARNING_CURVE_FASTEST]; 0 where the
                      scale is */
  double unit;     /* in rows: the largest number fitted */
};

#define GPNN_LEARNING_CURVE_SLOWEST 0.02
#define GPNN_LEARNING_CURVE_FASTEST 2.0

/*
 * Fits the curve by weighted least squares to 'n_points' >= 1 values at the numbers of rows 'n' >
 * 0, ascending, with weights 'weight' > 0, all finite.  The floor is at least 'least_floor', which
 * no value may be below (-INFINITY: any floor).  For a given exponent, floor and scale are the
 * solution of a linear problem with bounds; the exponent is found on a grid and then by golden
 * section.  With fewer than three different numbers of rows the best curve is not unique, and one
 * of them is found.
 */
void gpnn_learning_curve_fit(size_t n_points, const double *n, const double *value,
                             const double *weight, double least_floor,
                             struct gpnn_learning_curve *curve);

/* The curve at 'n' > 0 rows; the floor at INFINITY. */
double gpnn_learning_curve_at(const struct gpnn_learning_curve *curve, double n);

#endif
