/*
 * neighbourhood_private: what the files of neighbourhood share.
 *
 * neighbourhood.c goes through all rows; neighbourhood_term.c evaluates one of them, and
 * neighbourhood_lanes.c several at a time, one in each lane of the processor's vectors.
 */
#ifndef GPNN_MODELS_LOCAL_NEIGHBOURHOOD_PRIVATE_H
#define GPNN_MODELS_LOCAL_NEIGHBOURHOOD_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"

/* ---- one row: neighbourhood_term.c -------------------------------------------------------- */

/* What a thread needs for a row of k neighbours and d inputs; s = k + 1. */
struct gpnn_term_scratch {
  double *z;          /* d by s, a column after another: (x - x_i) as the kernel sees it */
  double *t;          /* the same: weights times z */
  double *difference; /* d: of one row */
  double *r2, *slope; /* s (s - 1) / 2: of pairs, columns of the lower triangle, no diagonal */
  double *pair;       /* the same: correlations, later weights */
  double *cross2, *cross, *cross_slope; /* k: the same with the row itself */
  double *a;                            /* s by s, lower triangle */
  double *work;                         /* gpnn_cholesky_work(s) */
  double *diagonal;                     /* s: noise variances */
  double *r, *alpha, *w;                /* s each */
};

/* A row's term under way. */
struct gpnn_term {
  const struct gpnn_dataset *data;
  const struct gpnn_parameters *params;
  const double *inverse; /* d: 1 / lengthscale */
  const double *map;     /* d by d, used instead of 'inverse'; or NULL */
  size_t k, stride;      /* neighbours; numbers from one column of z to the next */
  struct gpnn_term_scratch *scratch;
};

/* What a row contributes; the gradient stands behind it. */
struct gpnn_term_outcome {
  double loss, z2, jitter;
};

/* False: not enough memory; what there is may be released, as may a zeroed object. */
bool gpnn_term_scratch_init(struct gpnn_term_scratch *scratch, size_t k, size_t d);
void gpnn_term_scratch_release(struct gpnn_term_scratch *scratch);

/* Makes training row 'row' number 'i' of the term, with its inputs relative to those of row
 * 'centre'. */
void gpnn_term_add(const struct gpnn_term *term, size_t i, size_t row, size_t centre);

/* The log density of training row 'row' given the rows added. 'gradient' and 'by_map' may be NULL.
 * GPNN_ENUMERIC: a covariance is not positive definite, even with jitter. */
GPNN_MUST_CHECK enum gpnn_status gpnn_term_conditional(struct gpnn_term *term, size_t row,
                                                       struct gpnn_term_outcome *outcome,
                                                       double *gradient, double *by_map,
                                                       struct gpnn_error *err);

/* The log density of the rows added, together; likewise. */
GPNN_MUST_CHECK enum gpnn_status gpnn_term_joint(struct gpnn_term *term,
                                                 struct gpnn_term_outcome *outcome,
                                                 double *gradient, double *by_map,
                                                 struct gpnn_error *err);

/* ---- several rows: neighbourhood_lanes.c -------------------------------------------------- */

/*
 * With few neighbours a row's matrices are too small to fill vectors, so that here every number of
 * the row-by-row computation, which is the reference, becomes GPNN_LANES numbers, one a row.  What
 * a lane computes does not depend on the others.
 */
enum { GPNN_LANES = 8 };

typedef double gpnn_lanes_vector __attribute__((vector_size(GPNN_LANES * sizeof(double))));

/* What is evaluated, and what one thread needs for GPNN_LANES rows of k neighbours and d inputs. */
struct gpnn_lanes {
  const struct gpnn_dataset *data;
  const struct gpnn_parameters *params;
  const double *inverse; /* d: 1 / lengthscale */
  const double *map;     /* d by d, used instead of 'inverse'; or NULL */
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
