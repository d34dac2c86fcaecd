/*
 * inducing: the model that predicts from inducing points, for the families collapsed, svgp,
 * diag and augmented: the covariances k of a row with the points decide everything
 * (gpnn-methods-sparse(7), equation 17.3).  The points of an augmented model are its training rows,
 * and those that another's model was asked about (cotrain/absorb.h).  Families may differ from
 * channel to channel.
 *
 * The arrays of a target in the model file (dataset/stored.h):
 *
 *   inducing   m by d: the points, in standardised units, one after another
 *   weights    m: the mean is k'weights
 *   root       all but diag: rank by m, rank <= m: the variance is kernelscale - |root k|^2
 *   rho        diag: m: the variance is kernelscale - k'B^-1 k with B = Kuu + diag(exp(rho))
 */
#ifndef GPNN_MODELS_INDUCING_INDUCING_H
#define GPNN_MODELS_INDUCING_INDUCING_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "container/state.h"
#include "dataset/dataset.h"
#include "kernel/covariance.h"
#include "models/model.h"

#define GPNN_INDUCING_POINTS "inducing"
#define GPNN_INDUCING_WEIGHTS "weights"
#define GPNN_INDUCING_ROOT "root"
#define GPNN_INDUCING_RHO "rho"

extern const struct gpnn_model_ops gpnn_inducing_ops;

/* The arrays of a collapsed or an augmented model; borrowed. */
struct gpnn_inducing_arrays {
  size_t m, d, rank;
  const double *points, *weights, *root;
};

/* Adds them to a state.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_inducing_keep(const struct gpnn_inducing_arrays *model,
                                                    const char *target, struct gpnn_state *arrays,
                                                    struct gpnn_error *err);

/* ---- where the points are ----------------------------------------------------------------- */

/*
 * Where inducing points are.
 *
 * Distances are those of the kernel, that is, in lengthscales.  All ways choose from a random
 * sample of the rows where these are many, so that the time taken does not grow with them: at most
 * 20 rows for each point by k-means++ and at random, and 8 by conditional variance, but never fewer
 * than 10000 and 2000.  No two points are equal.
 *
 * Sources: Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding; Burt,
 * Rasmussen and van der Wilk (2020), Convergence of sparse variational inference in Gaussian
 * processes regression, section 4.2; gpnn-methods-sparse(7), equations 17.8 and 17.9.
 */

enum gpnn_inducing_how {
  GPNN_INDUCING_KMEANS, /* means of clusters that begin at rows drawn by k-means++ */
  GPNN_INDUCING_GREEDY, /* rows, each the one whose value is least certain given those before it;
                           once nothing but rounding is left, random rows */
  GPNN_INDUCING_SUBSET  /* random rows */
};

/*
 * Writes 'm' >= 1 points to 'z' (m by d, standardised), and to '*n_distinct' how many there are:
 * fewer than m if fewer different rows were among those to choose from, and then the rest of 'z' is
 * undefined.  'covariance' has no rotation and one lengthscale or one for each group of inputs of
 * 'view', whose rows these are; only by conditional variance does its kernel matter.
 *
 * Takes about 20 m^2 d operations, times some six for k-means++ with its steps, and 8 m^3 by
 * conditional variance, whose memory is 8 m^2 numbers.  The seed determines the points; threads do
 * not.  GPNN_EDATA: there are no rows.  GPNN_ENOMEM.  Nothing useful has been written then.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_inducing_choose(enum gpnn_inducing_how how, const struct gpnn_dataset *view,
                     const struct gpnn_covariance *covariance, size_t m, uint64_t seed, int threads,
                     double *z, size_t *n_distinct, struct gpnn_error *err);

/* Removes every point of 'z' (m by d) that equals an earlier one; '*n_distinct' are left, in their
 * order, at its beginning.  For points that the user gives.  m = 0 does nothing.  GPNN_ENOMEM: 'z'
 * is untouched. */
GPNN_MUST_CHECK enum gpnn_status gpnn_inducing_distinct(size_t m, size_t d, double *z,
                                                        size_t *n_distinct, struct gpnn_error *err);

/* ---- their matrix ------------------------------------------------------------------------- */

/*
 * The matrix that inducing points are about, Kuu with something added to its
 * diagonal, for whoever wants to look at it or to solve with it.
 *
 * Models of the family diag have B = Kuu + diag(exp(rho)); those of collapsed and svgp, which have
 * no such numbers, Kuu + noise I.
 */

/*
 * Finds the 'm' inducing points 'z' (m by d, row-major; borrowed from the dataset) of a channel
 * whose dataset has 'stored', and makes what is added to the diagonal (m), for the caller to
 * free().  GPNN_EMISMATCH: the family has no inducing points of this kind.  GPNN_EFORMAT: an array
 * is missing, or not as long or in such a range as it must be.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_inducing_system(const struct gpnn_channel *channel, size_t *m,
                                                      const double **z, double **diagonal,
                                                      struct gpnn_error *err);

#endif
