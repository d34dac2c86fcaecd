/*
 * tucker_als: core and factors of a Tucker model by least squares in turn: given the others, each
 * of them has a closed form (gpnn-methods(7), equations 17.44 to 17.46).
 *
 * Calling sequence: gpnn_tucker_als_new() for a model's shape; gpnn_tucker_als_sweep() as often as
 * wanted, or the steps of a sweep one by one, after gpnn_tucker_als_set(); gpnn_tucker_als_free().
 *
 * Threads: those given share the rows; results do not depend on their number.  An object has
 * scratch memory and serves one caller at a time.
 */
#ifndef GPNN_MODELS_TUCKER_ALS_H
#define GPNN_MODELS_TUCKER_ALS_H

#include <stddef.h>

#include "base/status.h"
#include "models/tucker/rows.h"
#include "models/tucker/tucker.h"

struct gpnn_tucker_als;

/* Up to so many unknowns are solved for by a factorisation; more by conjugate gradients, whose
 * matrix is not stored. */
enum { GPNN_TUCKER_MOST_DENSE = 2048 };

/* For models of this shape and up to 'threads' threads.  'most_dense' is usually
 * GPNN_TUCKER_MOST_DENSE.  Memory: for each thread the square of the unknowns of a step, if these
 * are no more than that.  GPNN_ENOMEM: '*als' is not set. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_als_new(struct gpnn_tucker_als **als,
                                                     const struct gpnn_tucker *tucker,
                                                     size_t most_dense, int threads,
                                                     struct gpnn_error *err);

/* NULL is allowed. */
void gpnn_tucker_als_free(struct gpnn_tucker_als *als);

/* Takes the lengthscales of 'tucker'; needed before the steps below whenever they have changed.
 * GPNN_ENUMERIC: as gpnn_tucker_matrices_set(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_als_set(struct gpnn_tucker_als *als,
                                                     const struct gpnn_tucker *tucker,
                                                     struct gpnn_error *err);

/*
 * Each replaces what it is called after by the best given everything else (17.44, 17.45), which
 * cannot lower the bound.  The weight of 'data' is to be 1.  GPNN_ENUMERIC: the equations cannot be
 * solved.  GPNN_ENOMEM.  The numbers are then as before.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_als_core(struct gpnn_tucker_als *als,
                                                      struct gpnn_tucker *tucker,
                                                      const struct gpnn_tucker_data *data,
                                                      struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_als_factor(struct gpnn_tucker_als *als,
                                                        struct gpnn_tucker *tucker,
                                                        const struct gpnn_tucker_data *data,
                                                        size_t l, struct gpnn_error *err);

/* Makes U_l'R_l U_l the identity, or for a diagonal core its diagonal 1, without changing the model
 * (17.46).  GPNN_ENUMERIC, GPNN_ENOMEM: nothing has changed. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_als_gauge(struct gpnn_tucker_als *als,
                                                       struct gpnn_tucker *tucker, size_t l,
                                                       struct gpnn_error *err);

/* The core, then the factors in order, each followed by the gauge of its dimension. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_als_sweep(struct gpnn_tucker_als *als,
                                                       struct gpnn_tucker *tucker,
                                                       const struct gpnn_tucker_data *data,
                                                       struct gpnn_error *err);

#endif
