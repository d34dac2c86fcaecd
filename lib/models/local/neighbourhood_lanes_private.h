/*
 * neighbourhood_lanes: conditional densities of several rows at a time, one in each lane of the
 * processor's vectors.
 *
 * With few neighbours a row's matrices are too small to fill vectors, so that here every number of
 * the row-by-row computation in neighbourhood.c, which is the reference, becomes GPNN_LANES
 * numbers, one a row.  What a lane computes does not depend on the others.
 *
 * Private to lib/methods/neighbourhood*.c.
 */
#ifndef GPNN_MODELS_LOCAL_NEIGHBOURHOOD_LANES_PRIVATE_H
#define GPNN_MODELS_LOCAL_NEIGHBOURHOOD_LANES_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dataset/index.h"
#include "kernel/parameters.h"

enum { GPNN_LANES = 8 };

typedef double gpnn_lanes_vector __attribute__((vector_size(GPNN_LANES * sizeof(double))));

/* What is evaluated, and what one thread needs for GPNN_LANES rows of k neighbours and d inputs. */
struct gpnn_lanes {
  const struct gpnn_dataset *data;
  const struct gpnn_parameters *params;
  const double *inverse; /* d: 1 / lengthscale */
  const double *map;     /* d by d, or NULL: in the place of 'inverse' */
  size_t k, padded;      /* padded: columns of z and t, d or up to 3 more, which stay zero */
  bool with_map;         /* the derivatives by a map are wanted */
  gpnn_lanes_vector *difference; /* d: of one place */
  gpnn_lanes_vector *z;          /* k by padded: x - x_i as the kernel sees it */
  gpnn_lanes_vector *t;          /* the same: weights times z */
  gpnn_lanes_vector *r2, *slope; /* k (k - 1) / 2: of pairs, rows of the lower triangle */
  gpnn_lanes_vector *pair;       /* the same: correlations, later weights */
  gpnn_lanes_vector *cross2, *cross, *cross_slope; /* k: the same with the row itself */
  gpnn_lanes_vector *factor; /* rows of the lower triangle, then the right-hand sides */
  gpnn_lanes_vector *diagonal, *inverse_diagonal, *sum; /* k each */
  gpnn_lanes_vector *gradient;                          /* n_lengthscales + 3 */
  gpnn_lanes_vector *by_map; /* d by d with a map, else the d on its diagonal */
};

/* 'data', 'params', 'inverse' and 'map' are borrowed.  False: not enough memory; the object may be
 * released, as may a zeroed one. */
bool gpnn_lanes_init(struct gpnn_lanes *lanes, const struct gpnn_dataset *data,
                     const struct gpnn_parameters *params, const double *inverse, const double *map,
                     size_t k, bool with_map);
void gpnn_lanes_release(struct gpnn_lanes *lanes);

/*
 * Log density of each of GPNN_LANES training rows, 'row', given its k neighbours, 'neighbour'
 * (GPNN_LANES by k, none missing), with the squared distances of inputs in 'squares' (of
 * struct gpnn_neighbourhoods, or NULL): the negative to 'loss', NaN where the covariance is not
 * positive definite as it is, and the squared standardised error to 'z2'.
 *
 * Unless 'gradients' is NULL, its entries of 'stride' numbers, one a row, get the derivatives of
 * the log density by the logarithms of lengthscales, kernel scale and noise variance and by the
 * mean's constant; and, if 'with_map' was given, behind them the d by d by E where z becomes (I -
 * E) z.
 */
void gpnn_lanes_conditional(struct gpnn_lanes *lanes, const int64_t *row, const int64_t *neighbour,
                            const double *squares, double *loss, double *z2, double *gradients,
                            size_t stride);

#endif
