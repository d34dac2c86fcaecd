/*
 * neighbourhood: likelihoods of training rows given, or together with, their neighbours alone
 * (Jankowiak and Pleiss 2021; gpnn-methods(7), equations 4.10 to 4.23).
 *
 * With A = kernelscale C + noise I over the k neighbours of row i, kappa their covariances with
 * it and r their targets less the mean:
 *   conditional  log N(y_i; mean_i, v_i),  mean_i = t_i'b + kappa' A^-1 r,
 *                v_i = kernelscale + noise - kappa' A^-1 kappa;
 *                LOO-k where the neighbours are the nearest of all other rows, Vecchia's
 *                approximation where they are the nearest of the rows before it;
 *   joint        log N of row i and its neighbours together (MLL-k: k - 1 nearest).
 * Known noise variances of the rows are added to the diagonal and to v_i.
 *
 * Derivatives are exact for the neighbours given: that they may change with the lengthscales
 * is not in them.
 */
#ifndef GPNN_MODELS_LOCAL_NEIGHBOURHOOD_H
#define GPNN_MODELS_LOCAL_NEIGHBOURHOOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/threads.h"
#include "dataset/index.h"
#include "kernel/parameters.h"
#include "linalg/jitter.h"

enum gpnn_density {
  GPNN_DENSITY_CONDITIONAL = 0,
  GPNN_DENSITY_JOINT = 1,
};

/* Rows and their neighbours, as training rows; all borrowed. */
struct gpnn_neighbourhoods {
  size_t n;                 /* rows */
  size_t k;                 /* neighbours of each, at most */
  const int64_t *row;       /* n */
  const int64_t *neighbour; /* n by k; -1 after the last of a row */
  const double *squares;    /* n by GPNN_HOOD_SQUARES(k), or NULL: gpnn_neighbourhood_squares() */
};

/* Squared distances among k neighbours and their row. */
#define GPNN_HOOD_SQUARES(k) ((k) * ((k) + 1) / 2)

/*
 * Fills 'squares' with the squared distances between the inputs in each of 'hoods', for later
 * calls: with one lengthscale and no map, evaluations then need no inputs, however many there are.
 * Rows with fewer than k neighbours are left out.
 */
void gpnn_neighbourhood_squares(const struct gpnn_dataset *dataset,
                                const struct gpnn_neighbourhoods *hoods, int threads,
                                double *squares);

/* What to compute; pointers may be NULL. */
struct gpnn_neighbourhood_result {
  double value;     /* mean negative log density of the rows */
  double *gradient; /* n_lengthscales + 3: by the logarithms of the lengthscales, of the kernel
                       scale and of the noise variance, and by the constant of the mean (zero where
                       the mean has none) */
  double *by_map;   /* d by d: by E, where z becomes (I + E) z; needs 'gradient' */
  double *loss;     /* n: each row's negative log density */
  double *z2;       /* n: each row's squared standardised error; conditional density only */
  struct gpnn_jitter jitter; /* of covariances, but for those of rows that are left out */
};

/*
 * Evaluates the density of 'hoods' in standardised units.  The kernel sees differences z of rows:
 * 'map' (d by d, row-major) times those of the inputs; without one (NULL), those of the inputs
 * divided by the lengthscales.
 *
 * A row whose covariance is not positive definite even with jitter is left out, with NaN in
 * 'loss'; GPNN_ENUMERIC if that leaves none, or nothing finite.  Up to 'threads' threads, of 'team'
 * if it is not NULL, share the rows; the result does not depend on them.  Cost: O(n (k^3 + k^2 d)),
 * with 'by_map' O(n k d^2) more.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_neighbourhood_objective(
    const struct gpnn_dataset *dataset, const struct gpnn_parameters *params, const double *map,
    enum gpnn_density density, const struct gpnn_neighbourhoods *hoods, struct gpnn_team *team,
    int threads, struct gpnn_neighbourhood_result *result, struct gpnn_error *err);

#endif
