/*
 * release: how much noise hides a single response in answers, and of what shape
 * (gpnn-methods-share(7), equations 21.1 and 21.4).
 *
 * Answers are linear in the responses y of the answering owner's rows: A y, with q rows, one an
 * answer, and n columns, one a response.  Released are A y + tau g with g normal of covariance M,
 * which is public.  If a response may lie anywhere in an interval of width d, the sensitivity is
 *
 *   d max_j sqrt(A_j' M^-1 A_j)
 *
 * over the columns A_j, and the release is mu-private (stats/privacy.h) with mu = sensitivity /
 * tau. What is protected is a response; the inputs of rows, and parameters that were estimated from
 * responses, are not.
 *
 * Threads: no shared state.
 *
 * Source: Hall, Rinaldo and Wasserman (2013) for 'path'; Smith, Alvarez, Zwiessele and Lawrence
 * (2018) for 'shaped'.
 */
#ifndef GPNN_COTRAIN_RELEASE_H
#define GPNN_COTRAIN_RELEASE_H

#include <stddef.h>

#include "base/status.h"

struct gpnn_secret; /* base/secret.h */

enum gpnn_mechanism {
  GPNN_MECHANISM_NONE,      /* no noise */
  GPNN_MECHANISM_SHAPED,    /* M is the smallest ellipsoid around the columns: the least volume */
  GPNN_MECHANISM_ISOTROPIC, /* M = I */
  GPNN_MECHANISM_PATH, /* M is the prior covariance of the answers, whose noise then is that of a
                          random function */
  GPNN_MECHANISMS
};

/* The word for a mechanism: "none", "shaped", "isotropic" or "path". */
const char *gpnn_mechanism_name(enum gpnn_mechanism mechanism);

/* The noise of a release.  A zeroed object may be released. */
struct gpnn_release {
  size_t q;
  double *m;      /* owned; q by q, both triangles: M */
  double *factor; /* owned; q by q: L of M = L L' below the diagonal (linalg/factors/cholesky.h) */
  double sensitivity; /* 0: nothing depends on any response */
};

/*
 * Chooses M for q answers that depend on n responses by 'parts' (q by n, one column of q after
 * another), each of which may change by 'width' >= 0 at most.  Responses of which no answer depends
 * may be left out of 'parts'.  'prior' (q by q, for PATH alone; else NULL) is the prior covariance
 * of the latent function at the asked rows; its diagonal gets a millionth of its mean, in M and
 * sensitivity alike.  Takes n q^2 operations, SHAPED up to some thousand times as many.
 *
 * GPNN_EINVAL: mechanism NONE, or 'width' < 0.  GPNN_EDATA: a number is not finite.  GPNN_ENUMERIC:
 * 'prior' is not positive definite.  GPNN_ENOMEM.  '*release' is written on success only.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_release_shape(struct gpnn_release *release, enum gpnn_mechanism mechanism, size_t q, size_t n,
                   const double *parts, const double *prior, double width, struct gpnn_error *err);

/* The least delta that the noise can promise: its tails end where less than that is left. */
#define GPNN_RELEASE_LEAST_DELTA 1e-290

/* Adds tau times a draw of the noise to 'answers' (q), and rounds each to a multiple of 'unit' > 0,
 * a power of 2, or of 2^-20 of the least noise's sd, down to a power of 2, if that is more: so that
 * the low bits of a sum, which depend on what was added to what (Mironov 2012), are not released.
 * GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_release_draw(const struct gpnn_release *release, double tau,
                                                   double unit, struct gpnn_secret *secret,
                                                   double *answers, struct gpnn_error *err);

/* Frees everything and zeroes the object. */
void gpnn_release_free(struct gpnn_release *release);

#endif
