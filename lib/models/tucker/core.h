/*
 * tucker_core: contractions of a Tucker tensor, the core W and a matrix or vector for each of its p
 * modes.  Tensors are row-major, the first index slowest; a diagonal core (shape.is_diagonal) is
 * its diagonal.
 *
 * Sources: gpnn-methods(7), equations 17.35, 17.37 and 17.42.
 * Threads: no shared state.
 */
#ifndef GPNN_MODELS_TUCKER_CORE_H
#define GPNN_MODELS_TUCKER_CORE_H

#include <stddef.h>

#include "models/tucker/tucker.h"

/*
 * y = (A_1 kron ... kron A_p) x.  A_l is rows[l] by columns[l], row-major; x has as many numbers as
 * the product of columns, y as that of rows.  'work' has room for the largest tensor on the way,
 * where modes of columns become modes of rows from the last; so has 'y'.  x and y may not overlap.
 */
void gpnn_kronecker_multiply(size_t p, const size_t *rows, const size_t *columns,
                             const double *const *matrix, const double *x, double *y, double *work);

/* Size of 'work' for the following functions, in doubles. */
size_t gpnn_tucker_core_work(const struct gpnn_tucker_shape *shape);

/* The core contracted with a vector v_l (q_l) in every mode: a number. */
double gpnn_tucker_core_value(const struct gpnn_tucker_shape *shape, const double *core,
                              const double *const *v, double *work);

/* The derivatives of that by the core (n_core) and by each v_l, h_l (q_l): the core contracted in
 * all other modes.  'by_core' or 'h' may be NULL. */
void gpnn_tucker_core_partials(const struct gpnn_tucker_shape *shape, const double *core,
                               const double *const *v, double *by_core, double *const *h,
                               double *work);

/* W x_1 G_1 ... x_p G_p for symmetric G_l (q_l by q_l), into 'product' (n_core); for a diagonal
 * core the diagonal of that.  Returns <W, product>. */
double gpnn_tucker_core_quadratic(const struct gpnn_tucker_shape *shape, const double *core,
                                  const double *const *g, double *product, double *work);

/* H_l of 'mode': its unfolding times the same of W with every other mode multiplied by G, q_l by
 * q_l. */
void gpnn_tucker_core_gram(const struct gpnn_tucker_shape *shape, size_t mode, const double *core,
                           const double *const *g, double *gram, double *work);

/* Replaces the core by W x_mode A for A of 'rows' by q_mode, row-major, rows <= q_mode; not for a
 * diagonal core. */
void gpnn_tucker_core_transform(const struct gpnn_tucker_shape *shape, size_t mode, size_t rows,
                                const double *a, double *core, double *work);

#endif
