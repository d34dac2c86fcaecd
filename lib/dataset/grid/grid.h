/*
 * grid: observations indexed by several things, usually a site and a time, where most but not all
 * combinations have been observed (gpnn-methods-grid(7), equations 16.10 to 16.12).
 *
 * Each thing is a factor with levels, the distinct sites or times, numbered in order of first
 * appearance (sites) or ascending (a factor with one numeric column).  A cell is one level of each;
 * its number is row-major over the factors, the last varying fastest: site * q + time.  Only
 * observed cells are stored, in ascending order; one that was observed several times has the mean
 * of its observations and their number.
 *
 * Coordinates are in the units that kernels work in: those of a factor with several columns, or
 * called "site", are centred and scaled to sd 1 over its levels; those of others are as the table
 * has them, so that a period is in days.  The scaling of the dataset that holds the grid says so,
 * column by column, in the order of the factors: query rows are scaled in the same way.
 *
 * Threads: a grid is read-only and may be shared freely.
 */
#ifndef GPNN_DATASET_GRID_GRID_H
#define GPNN_DATASET_GRID_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One thing that cells are indexed by. */
struct gpnn_grid_factor {
  const char *name;          /* "site", "time", or what the user calls it */
  size_t n;                  /* levels */
  size_t n_columns;          /* of the table */
  size_t d;                  /* those of them that vary; 1 where levels are texts */
  const double *x;           /* n by d, row-major: their coordinates; of texts the number of the
                                level, from 0 */
  const char *const *labels; /* n: the levels' texts; NULL: they are numbers */
};

/* All arrays belong to whoever made the grid. */
struct gpnn_grid {
  size_t n_factors; /* at least 2 */
  const struct gpnn_grid_factor *factor;
  size_t n_cells;         /* observed, at least 2 */
  const int64_t *cell;    /* n_cells: their numbers, ascending */
  const double *y;        /* n_cells: mean of the observations of each, standardised */
  const uint32_t *counts; /* n_cells: how many there were; NULL: one of each */
  double within;          /* sum of squares of the observations around their cell's mean,
                             standardised; 0 if 'counts' is NULL */
  size_t n_observations;  /* sum of the counts */
};

/* The number of all cells, observed or not: the product of the numbers of levels. */
size_t gpnn_grid_size(const struct gpnn_grid *grid);

/* Writes the level of each factor of cell 'cell' to 'level' (n_factors). */
void gpnn_grid_levels(const struct gpnn_grid *grid, int64_t cell, size_t *level);

/* ---- what predictions on a grid will cost -------------------------------------------------- */

/* What the figures assume: draws solved together, the arrays of conjugate gradients for each,
 * pivots and eigenpairs of a preconditioner. */
enum {
  GPNN_GRID_COST_DRAWS = 64,
  GPNN_GRID_COST_ARRAYS = 5,
  GPNN_GRID_COST_PIVOTS = 100,
  GPNN_GRID_COST_EIGENPAIRS = 4000
};

/* Bytes but for the last three.  With a single solve at a time, 'draws' is 'vector' times the
 * arrays. */
struct gpnn_grid_cost {
  double factors; /* the matrices of all factors */
  double vector;  /* a number for each cell of the grid */
  double draws;   /* conjugate gradients for all draws at a time */
  double pivoted; /* preconditioner: pivoted Cholesky, 100 columns */
  double eigen;   /* preconditioner: at most 4000 eigenpairs, and a block for each level of the
                     first factor */
  double flops;   /* of a product of the covariance with a vector */
  double missing_time, missing_memory; /* the share of missing cells above which products with the
                                          matrix of the observed cells alone are faster, or smaller;
                                          negative: any */
};

/* Numbers are doubles, as some are too large for integers (gpnn-methods-grid(7), equation 16.12).
 */
struct gpnn_grid_cost gpnn_grid_cost(const struct gpnn_grid *grid);

#ifdef __cplusplus
}
#endif

#endif
