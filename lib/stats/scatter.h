/*
 * scatter: what remains of many points in a picture: counts and averages in the cells of a grid,
 * quantiles of y along x.
 */
#ifndef GPNN_STATS_SCATTER_H
#define GPNN_STATS_SCATTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* nx by ny cells; cell (i, j), entry j*nx + i of an array of them, is
 * [x0 + i dx, x0 + (i+1) dx) by [y0 + j dy, y0 + (j+1) dy). */
struct gpnn_scatter_grid {
  size_t nx, ny;
  double x0, y0, dx, dy; /* dx, dy > 0 */
};

/* The cell of (x, y); of points outside the nearest one. */
size_t gpnn_scatter_cell(const struct gpnn_scatter_grid *grid, double x, double y);

/* Fills 'counts' (nx*ny) with the number of points in each cell. */
void gpnn_scatter_count(const struct gpnn_scatter_grid *grid, size_t n, const double *x,
                        const double *y, double *counts);

/* Fills 'averages' (nx*ny) with the mean of 'values' over the points of each cell, given the
 * 'counts' of gpnn_scatter_count(); NaN where there is none. */
void gpnn_scatter_average(const struct gpnn_scatter_grid *grid, size_t n, const double *x,
                          const double *y, const double *values, const double *counts,
                          double *averages);

/*
 * Whether 'n' >= 1 values lie on an equally spaced lattice of at most 'most' places, but for a
 * thousandth of the step: then '*step' > 0 is its step and '*places' >= 1 their number from the
 * least value on (a single place has the step 1).  Only '*regular' is written if they do not.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_scatter_lattice(size_t n, const double *values, size_t most,
                                                      bool *regular, double *step, size_t *places,
                                                      struct gpnn_error *err);

/*
 * Sorts the points by x into 'n_groups' (1 to n) runs of equal numbers, but for one, and fills a
 * row of n_p + 1 numbers for each: its median x, and the quantiles of y at the 'n_p' probabilities
 * 'p' (linear between order statistics).
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_scatter_quantiles(size_t n, const double *x, const double *y,
                                                        size_t n_groups, size_t n_p,
                                                        const double *p, double *rows,
                                                        struct gpnn_error *err);

#endif
