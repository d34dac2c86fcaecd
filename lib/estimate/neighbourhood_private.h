/*
 * neighbourhood_private: shared by the files of neighbourhood.
 *
 * neighbourhood.c goes through all rows, has the memory that they need, and the loss of classes;
 * neighbourhood_term.c evaluates a single row, and neighbourhood_lanes.c several at once, one in
 * each lane of the processor's vectors.
 */
#ifndef GPNN_ESTIMATE_NEIGHBOURHOOD_PRIVATE_H
#define GPNN_ESTIMATE_NEIGHBOURHOOD_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"
#include "likelihood/categorical.h"

/* ---- classes: neighbourhood.c ----------------------------------------------------------- */

/* What a thread needs for the class of a row with k neighbours. */
struct gpnn_labels {
  struct gpnn_categorical classes;
  double *latent, *probability; /* n classes each */
  struct gpnn_categorical_slopes slopes;
  double *w, *by_w;           /* k each: weights of the neighbours, and derivatives by them */
  size_t *label;              /* k: the neighbours' classes */
  struct gpnn_arrays *arrays; /* owned; all of these */
};

/* Derivatives by a link: by the logarithms of its numbers, and by the biases. */
size_t gpnn_labels_width(const struct gpnn_labels *labels);

/*
 * Minus the log probability of class 'label', given labels->w and labels->label of 'k' neighbours
 * and the conditional variance 'v' of the latent function.  Unless 'by_link' is NULL, it gets the
 * derivatives of the log probability by the link, '*by_variance' that by v, and labels->by_w those
 * by the weights (gpnn-methods-classes(7), equations 13.7 to 13.12).
 */
double gpnn_labels_loss(struct gpnn_labels *labels, size_t label, size_t k, double v,
                        double *by_link, double *by_variance);

/* After that: 1 if another class is more probable than 'label', otherwise 0. */
double gpnn_labels_error(const struct gpnn_labels *labels, size_t label);

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
  size_t *row;                          /* s: the rows added */
  struct gpnn_arrays *arrays;           /* owned; all of the above */
};

/* The evaluation of one row. */
struct gpnn_term {
  const struct gpnn_dataset *data;
  const struct gpnn_parameters *params;
  const double *inverse; /* d: 1 / lengthscale */
  const double *map;     /* d by d, used instead of 'inverse'; or NULL */
  size_t k, stride;      /* neighbours; numbers from one column of z to the next */
  struct gpnn_term_scratch *scratch;
  struct gpnn_labels *labels; /* NULL: the target is a number */
};

/* What a row contributes, apart from its gradient. */
struct gpnn_term_outcome {
  double loss, z2, jitter;
};

/* Makes training row 'row' the i-th row of the term, with its inputs relative to those of row
 * 'centre'. */
void gpnn_term_add(const struct gpnn_term *term, size_t i, size_t row, size_t centre);

/* Log density of training row 'row' given the rows added.  'gradient' and 'by_map' may be NULL.
 * GPNN_ENUMERIC: a covariance is not positive definite, even with jitter. */
GPNN_MUST_CHECK enum gpnn_status gpnn_term_conditional(struct gpnn_term *term, size_t row,
                                                       struct gpnn_term_outcome *outcome,
                                                       double *gradient, double *by_map,
                                                       struct gpnn_error *err);

/* Log probability of the class of training row 'row'; likewise. */
GPNN_MUST_CHECK enum gpnn_status gpnn_term_labels(struct gpnn_term *term, size_t row,
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
 * here, one per row.  Lanes do not affect each other.  There are as many as fit into a register of
 * most processors: GCC keeps sums of wider vectors in memory, and needs twice the time.
 * GPNN_LANES_COLUMNS columns of z are multiplied at a time.
 */
enum { GPNN_LANES = 4, GPNN_LANES_COLUMNS = 4 };

typedef double gpnn_lanes_vector __attribute__((vector_size(GPNN_LANES * sizeof(double))));

/* What is evaluated, and what one thread needs for GPNN_LANES rows of k neighbours and d inputs. */
struct gpnn_lanes {
  const struct gpnn_dataset *data;
  const struct gpnn_parameters *params;
  const double *inverse;      /* d: 1 / lengthscale */
  const double *map;          /* d by d, used instead of 'inverse'; or NULL */
  size_t k, padded;           /* padded: columns of z and t, d or up to 3 more, which stay zero */
  bool with_map;              /* derivatives by a map are wanted */
  struct gpnn_labels *labels; /* borrowed; NULL: the target is a number */
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
  gpnn_lanes_vector *by_map;  /* d by d with a map, otherwise only the diagonal, d */
  struct gpnn_arrays *arrays; /* owned; all of these vectors */
};

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

/* The same for the log probability of a row's class; 'error' gets gpnn_labels_error(), and the
 * derivatives by the link come before those by E. */
void gpnn_lanes_labels(struct gpnn_lanes *lanes, const int64_t *row, const int64_t *neighbour,
                       const double *squares, double *loss, double *error, double *gradients,
                       size_t stride);

#endif
