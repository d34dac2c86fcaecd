/*
 * weights: of the members of a stack, from the errors of candidates on the same rows.
 *
 * The error of an average with weights w that sum to 1 is the average of the errors, so that its
 * importance-weighted sum of squares is w'Ew, with E_kl = sum_i q_i e_ik e_il over rows i of
 * importance q_i.  The weights minimise
 *   1/2 w'Ew + 1/2 (|w - 1/s|/sd)^2,  sum_k w_k = 1,  w_k >= GPNN_WEIGHTS_LEAST,
 * over the subsets of s candidates: the second term is a normal prior around equal weights, which
 * matters only where rows are few (gpnn-methods(7), equations 5.9 to 5.11).  Within a subset the
 * minimum without the bound is w ~ (E + I/sd^2)^-1 1; a subset where it breaks the bound loses to a
 * smaller one.
 */
#ifndef GPNN_ESTIMATE_WEIGHTS_H
#define GPNN_ESTIMATE_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most candidates, and the smallest weight: a member that counts for less is not worth its
 * time. */
enum { GPNN_WEIGHTS_CANDIDATES = 6 };
#define GPNN_WEIGHTS_LEAST 0.05

/*
 * Finds the best subset of 'size' >= 1 of 'n' <= GPNN_WEIGHTS_CANDIDATES candidates that contains
 * the first.  'moments' (n by n) is E.  Writes the weights to 'weight' (n), 0 for candidates
 * outside the subset, and returns true; or returns false and writes nothing, if there is no such
 * subset.
 */
bool gpnn_weights_find(size_t n, const double *moments, size_t size, double *weight);

#ifdef __cplusplus
}
#endif

#endif
