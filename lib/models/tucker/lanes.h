/*
 * tucker_lanes: predictions of a Tucker model for a fixed number of rows side by side, as fast as
 * they can be: every loop is over rows, which are the lanes of vectors, and each lane is computed
 * alike wherever in the tile its row is (gpnn-methods(7), equations 17.35, 17.37 and 17.51).
 *
 * In a tile of LANES = GPNN_TUCKER_LANES rows, number j of row i is at [j * LANES + i].
 * Threads: each has a tile of its own.
 */
#ifndef GPNN_MODELS_TUCKER_LANES_H
#define GPNN_MODELS_TUCKER_LANES_H

#include <stddef.h>

#include "models/tucker/tucker.h"

enum { GPNN_TUCKER_LANES = 32 };

/* to[k] = sum_j a[j * n_to + k] from[j] for n_from numbers of each row; k < n_to. */
void gpnn_tucker_lanes_multiply(size_t n_from, size_t n_to, const double *a, const double *from,
                                double *to);

/* r[j]: the squared distance of x, one number of each row, from point j in lengthscales. */
void gpnn_tucker_lanes_distances(size_t m, const double *points, double inverse_lengthscale,
                                 const double *x, double *r);

/* Adds to 'outside' the squared distance of x from [low, high] in lengthscales. */
void gpnn_tucker_lanes_outside(double low, double high, double inverse_lengthscale, const double *x,
                               double *outside);

/* Multiplies 'explained' by sum_k h[k]^2, and 'kept' by sum_k share[k] h[k]^2; k < m. */
void gpnn_tucker_lanes_explain(size_t m, const double *share, const double *h, double *explained,
                               double *kept);

/* The core contracted with the vectors v[l] (q_l numbers of each row) in every mode.  'work' has
 * GPNN_TUCKER_DIMENSIONS numbers for each row. */
void gpnn_tucker_lanes_contract(const struct gpnn_tucker_shape *shape, const double *core,
                                const double *const *v, double *work, double *mean);

#endif
