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
#ifndef GPNN_DATASET_GRID_H
#define GPNN_DATASET_GRID_H

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

#ifdef __cplusplus
}
#endif

#endif
