/*
 * series: a stationary process in one dimension, which the means of a grid's levels are taken to
 * follow where no cell of a level was observed: a wave, the season, and about it a process whose
 * correlation falls exponentially (gpnn-methods-grid(7), equations 16.14 and 16.68 to 16.70).
 *
 * That process is Markov: what a place is predicted from are the values observed next to it on
 * either side.  Far from all of them the season remains, and the variance of the whole process.
 *
 * Threads: read-only once fitted.
 */
#ifndef GPNN_MODELS_GRID_SERIES_H
#define GPNN_MODELS_GRID_SERIES_H

#include <stddef.h>

#include "base/rng.h"
#include "base/status.h"

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

#endif
