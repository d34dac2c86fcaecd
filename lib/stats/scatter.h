/*
 * scatter: summaries of many points (x, y) for a plot: counts and averages in the cells of a grid,
 * and quantiles of y along x.  Coordinates are finite.  Threads: no shared state.
 */
#ifndef GPNN_STATS_SCATTER_H
#define GPNN_STATS_SCATTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* A grid of nx by ny cells.  Cell (i, j), which has index j*nx + i in arrays, is
 * [x0 + i dx, x0 + (i+1) dx) by [y0 + j dy, y0 + (j+1) dy). */
struct gpnn_scatter_grid {
  size_t nx, ny;
  double x0, y0, dx, dy; /* dx, dy > 0 */
};

/* The index of the cell that contains (x, y), or of the nearest one if the point is outside. */
size_t gpnn_scatter_cell(const struct gpnn_scatter_grid *grid, double x, double y);

/* Fills 'counts' (nx*ny) with the number of points in each cell. */
void gpnn_scatter_count(const struct gpnn_scatter_grid *grid, size_t n, const double *x,
                        const double *y, double *counts);

/* Fills 'averages' (nx*ny) with the mean of 'values' over the points in each cell, NaN for empty
 * cells.  'counts' are those of gpnn_scatter_count() for the same points. */
void gpnn_scatter_average(const struct gpnn_scatter_grid *grid, size_t n, const double *x,
                          const double *y, const double *values, const double *counts,
                          double *averages);

/*
 * Sets '*regular' to whether 'n' >= 1 values lie on an equally spaced lattice of at most 'most'
 * points, to within a thousandth of its step.  If so, sets '*step' > 0 and '*points', the number of
 * lattice points from the least value to the greatest, at least 1 (a single point has step 1); if
 * not, both are untouched.  GPNN_ENOMEM: nothing is set.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_scatter_lattice(size_t n, const double *values, size_t most,
                                                      bool *regular, double *step, size_t *points,
                                                      struct gpnn_error *err);

/*
 * True if a line through 'n' points, in ascending order of x, would show a function of x.  It would
 * not where y also depends on something else: where the variance of y among points with the same x
 * exceeds 1 % of the variance of all y, or, of at least 20 points, that of the differences between
 * neighbours exceeds twice 25 % of it (von Neumann's ratio; a sine needs 9 points a period).  Equal
 * y, and fewer than two points, are a function.
 */
bool gpnn_scatter_is_function(size_t n, const double *x, const double *y);

/*
 * Divides the points, sorted by x, into 'n_groups' (1 to n) groups whose sizes differ by at most
 * one, and fills a row of n_p + 1 numbers for each: its median x, and the quantiles of y at the
 * 'n_p' probabilities 'p' in [0, 1] (interpolated linearly between order statistics).  GPNN_ENOMEM:
 * 'rows' is untouched.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_scatter_quantiles(size_t n, const double *x, const double *y,
                                                        size_t n_groups, size_t n_p,
                                                        const double *p, double *rows,
                                                        struct gpnn_error *err);

#endif
