/*
 * means: a mean for each level of one factor of a grid, which is removed from the cells before they
 * are modelled, and put back into predictions (gpnn-methods-grid(7), equations 16.13 and 16.14).
 *
 * The mean of a level is that of its observed cells, shrunk towards 0 as if one more cell had been
 * observed there, of value 0, the mean of all cells.  Levels without any, and those that the grid
 * does not have, are predicted from these as a series, with a variance;
 * where levels have no order, or several coordinates, they are independent about 0.
 *
 * Threads: read-only once made.
 */
#ifndef GPNN_MODELS_GRID_MEANS_H
#define GPNN_MODELS_GRID_MEANS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rng.h"
#include "base/status.h"
#include "dataset/grid/grid.h"

/* ---- series.c -------------------------------------------------------------------------------- */

/*
 * A stationary process in one dimension, which the means of a grid's levels are taken to follow
 * where no cell of a level was observed: a wave, the season, and about it a process whose
 * correlation falls exponentially (gpnn-methods-grid(7), equations 16.14 and 16.68 to 16.70).
 *
 * That process is Markov: what a place is predicted from are the values observed next to it on
 * either side.  Far from all of them the season remains, and the variance of the whole process.
 *
 * Threads: read-only once fitted.
 */

/* A zeroed object is one without values, of variance 0. */
struct gpnn_grid_series {
  size_t n;
  double *x, *rest; /* owned; n: ascending places, and the values there less the season */
  double period;    /* 0: there is no season */
  double wave[2];   /* of the cosine and of the sine */
  double range;     /* > 0: how far apart correlation is 1 / e */
  double variance;  /* about the season */
};

/*
 * Estimates the process of 'n' values 'y' at ascending places 'x' by maximum likelihood, about 0.
 * A season needs two periods in the values, and has to raise the log likelihood by more than
 * searching a period does by chance.  Time O(n) for each of up to 2000 periods, a few times.
 * GPNN_ENOMEM: 'series', which must be zeroed, stays so.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_series_fit(struct gpnn_grid_series *series, size_t n,
                                                      const double *x, const double *y,
                                                      struct gpnn_error *err);

/* The mean and the variance at a place, given all values; 0 at one of theirs. */
void gpnn_grid_series_predict(const struct gpnn_grid_series *series, double x, double *mean,
                              double *variance);

/* Draws how far the process is from that mean at 'n' ascending places together. */
void gpnn_grid_series_draw(const struct gpnn_grid_series *series, struct gpnn_rng *rng, size_t n,
                           const double *x, double *error);

void gpnn_grid_series_release(struct gpnn_grid_series *series);

/* ---- means.c --------------------------------------------------------------------------------- */

/* A zeroed object is that of no factor: all means are 0. */
struct gpnn_grid_means {
  size_t factor;   /* 1 + the factor whose levels have means; 0: none */
  double *mean;    /* owned; of each level of it that has an observation */
  bool *is_known;  /* owned; whether it has */
  bool is_ordered; /* levels are places in a series */
  struct gpnn_grid_series series;
};

/*
 * Makes the means of the levels of 'factor' (1 + its number; 0: none) that have cells, whose values
 * are 'y' (n_cells).  'means' must be zeroed, and stays so after GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_means_make(struct gpnn_grid_means *means,
                                                      const struct gpnn_grid *grid, size_t factor,
                                                      const double *y, struct gpnn_error *err);

/* Estimates what the other levels are like.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_means_extend(struct gpnn_grid_means *means,
                                                        const struct gpnn_grid *grid,
                                                        struct gpnn_error *err);

/* The mean of an observed cell with these levels (n_factors). */
double gpnn_grid_means_at(const struct gpnn_grid_means *means, const size_t *level);

void gpnn_grid_means_release(struct gpnn_grid_means *means);

#endif
