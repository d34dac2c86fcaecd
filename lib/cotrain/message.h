/*
 * message: what the rows of one owner say of the latent function at rows that another asks about,
 * as the Bayesian committee machine sends it (gpnn-methods(7), equation 18.7).  Both owners'
 * models are of the same latent function: same inputs, same parameters, other rows.
 *
 * With K of the kernel among the asked rows q and the own rows b, A = K_bq K_qq^-1 and
 * D = noise + K_bb - A K_qb, the message on f(q) is exp(h'f - f'J f / 2), J = A'D^-1 A and
 * h = A'D^-1 y.  J is C^-1 - K_qq^-1 for the predictive covariance C, without that difference.
 *
 * Threads: no shared state.
 */
#ifndef GPNN_COTRAIN_MESSAGE_H
#define GPNN_COTRAIN_MESSAGE_H

#include <stddef.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"

/*
 * Writes h to 'shift' (n) and J to 'precision' (n by n, both triangles), in standardised units, for
 * n asked rows 'x' (n by d).  'parts' (n by the rows of the view, one column of n after another)
 * gets A'D^-1, by which h depends on y; NULL: it is not wanted.  Outcomes as for gpnn_fusion_new();
 * after a failure the arrays are partly written.  n = 0 does nothing.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_fusion_message(const struct gpnn_dataset *view,
                                                     const struct gpnn_parameters *params, size_t n,
                                                     const double *x, double *shift,
                                                     double *precision, double *parts,
                                                     struct gpnn_error *err);

#endif
