/*
 * jitter: counts the covariance matrices that were not positive definite until something was added
 * to their diagonal.  gpnn_cholesky_factor() has the policy (linalg/factors/cholesky.h).
 */
#ifndef GPNN_LINALG_JITTER_H
#define GPNN_LINALG_JITTER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A zeroed object counts none. */
struct gpnn_jitter {
  size_t n;    /* matrices that needed jitter */
  double most; /* the largest added to any of them */
};

/* Counts 'n' more matrices, to each of which at most 'jitter' was added. */
void gpnn_jitter_note(struct gpnn_jitter *to, size_t n, double jitter);

#ifdef __cplusplus
}
#endif

#endif
