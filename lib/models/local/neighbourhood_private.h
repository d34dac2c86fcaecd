/*
 * neighbourhood_private: shared by the files of neighbourhood.
 *
 * neighbourhood.c goes through all rows; neighbourhood_term.c evaluates a single row, and
 * neighbourhood_lanes.c several at once, one in each lane of the processor's vectors.
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

/* What a thread needs for a row with k neighbours and d inputs; s = k + 1. */
struct gpnn_term_scratch {
  double *z;          /* s by d, column-major: x - x_i, mapped or divided by the lengthscales */
  double *t;          /* of the same shape: weights times z */
  double *difference; /* d: x - x_i of one neighbour */
  double *r2, *slope; /* s (s - 1) / 2: of pairs, columns of the lower triangle, no diagonal */
  double *pair;       /* of the same shape: correlations, later weights */
  double *cross2, *cross, *cross_slope; /* k: r2, correlations and slopes with the row itself */
  double *a;                            /* s by s, lower triangle */
  double *work;                         /* gpnn_cholesky_work(s) */
  double *diagonal;                     /* s: noise variances */
  double *r, *alpha, *w;                /* s each */
};

/* The evaluation of one row. */
struct gpnn_term {
  const struct gpnn_dataset *data;
  const struct gpnn_parameters *params;
  const double *inverse; /* d: 1 / lengthscale */
  const double *map;     /* d by d, used instead of 'inverse'; or NULL */
  size_t k, stride;      /* neighbours; numbers from one column of z to the next */
  struct gpnn_term_scratch *scratch;
};

/* What a row contributes, apart from its gradient. */
struct gpnn_term_outcome {
  double loss, z2, jitter;
};

/* False: not enough memory.  The object may be released even then, and also if it is zeroed. */
bool gpnn_term_scratch_init(struct gpnn_term_scratch *scratch, size_t k, size_t d);
void gpnn_term_scratch_release(struct gpnn_term_scratch *scratch);

/* Makes training row 'row' the i-th row of the term, with its inputs relative to those of row
 * 'centre'. */
void gpnn_term_add(const struct gpnn_term *term, size_t i, size_t row, size_t centre);

/* Log density of training row 'row' given the rows added.  'gradient' and 'by_map' may be NULL.
 * GPNN_ENUMERIC: a covariance is not positive definite, even with jitter. */
GPNN_MUST_CHECK enum gpnn_status gpnn_term_conditional(struct gpnn_term *term, size_t row,
                                                       struct gpnn_term_outcome *outcome,
                                                       double *gradient, double *by_map,
                                                       struct gpnn_error *err);

/* Joint log density of the rows added; likewise. */
GPNN_MUST_CHECK enum gpnn_status gpnn_term_joint(struct gpnn_term *term,
                                                 struct gpnn_term_outcome *outcome,
                                                 double *gradient, double *by_map,
                                                 struct gpnn_error *err);

/* ---- several rows: neighbourhood_lanes.c -------------------------------------------------- */

/*
 * With few neighbours the matrices of a single row are too small to fill vectors.  So every number
 * of the row-by-row computation, which is the reference, becomes a vector of GPNN_LANES numbers
 * here, one per row.  Lanes do not affect each other.
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
  bool with_map;         /* derivatives by a map are wanted */
  gpnn_lanes_vector *difference; /* d: x - x_i of one neighbour */
  gpnn_lanes_vector *z;          /* k by padded: x - x_i, mapped or divided by the lengthscales */
  gpnn_lanes_vector *t;          /* of the same shape: weights times z */
  gpnn_lanes_vector *r2, *slope; /* k (k - 1) / 2: of pairs, rows of the lower triangle */
  gpnn_lanes_vector *pair;       /* of the same shape: correlations, later weights */
  gpnn_lanes_vector *cross2, *cross, *cross_slope; /* k: r2, correlations and slopes with the row
                                                      itself */
  gpnn_lanes_vector *factor; /* rows of the lower triangle, then the right-hand sides */
  gpnn_lanes_vector *diagonal, *inverse_diagonal, *sum; /* k each */
  gpnn_lanes_vector *gradient;                          /* n_lengthscales + 3 */
  gpnn_lanes_vector *by_map; /* d by d with a map, otherwise only the diagonal, d */
};

/* 'data', 'params', 'inverse' and 'map' are borrowed.  False: not enough memory.  The object may be
 * released even then, and also if it is zeroed. */
bool gpnn_lanes_init(struct gpnn_lanes *lanes, const struct gpnn_dataset *data,
                     const struct gpnn_parameters *params, const double *inverse, const double *map,
                     size_t k, bool with_map);
void gpnn_lanes_release(struct gpnn_lanes *lanes);

/*
 * Evaluates the density of each of GPNN_LANES training rows, 'row', given its k neighbours,
 * 'neighbour' (GPNN_LANES by k, none missing).  'squares' has squared distances as in struct
 * gpnn_neighbourhoods, or is NULL.  'loss' gets the negative log density, or NaN if the covariance
 * is not positive definite without jitter, and 'z2' the squared standardised error.
 *
 * Unless 'gradients' is NULL, it gets 'stride' numbers per row: the derivatives of the log density
 * by the logarithms of the lengthscales, the kernel scale and the noise variance, and by the mean's
 * constant; then, if 'with_map' was set, d by d derivatives by E, where z becomes (I - E) z.
 */
void gpnn_lanes_conditional(struct gpnn_lanes *lanes, const int64_t *row, const int64_t *neighbour,
                            const double *squares, double *loss, double *z2, double *gradients,
                            size_t stride);

#endif
