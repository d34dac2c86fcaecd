/*
 * neighbourhood: likelihoods of training rows conditional on, or jointly with, their neighbours
 * (Jankowiak and Pleiss 2021; gpnn-methods(7), equations 4.10 to 4.23).
 *
 * Let A = kernelscale C + noise I be the covariance of the k neighbours of row i, kappa their
 * covariances with it, and r their targets minus the mean:
 *   conditional  log N(y_i; mean_i, v_i),  mean_i = t_i'b + kappa' A^-1 r,
 *                v_i = kernelscale + noise - kappa' A^-1 kappa;
 *                this is LOO-k if the neighbours are the nearest of all other rows, and Vecchia's
 *                approximation if they are the nearest of the rows before it;
 *   joint        log N of row i together with its neighbours (MLL-k: the k - 1 nearest);
 *   labels       log probability of the class of row i, if the target holds classes:
 *                regression on the labels of the neighbours, seen through the link of the
 *                parameters (likelihood/categorical.h, gpnn-methods-classes(7), section 13).
 *                The kernel scale must be 1, and there is no mean function.
 * Known noise variances of the rows are added to the diagonal and to v_i.
 *
 * Derivatives are exact for fixed neighbours: they do not include changes of the neighbours with
 * the lengthscales.
 */
#ifndef GPNN_ESTIMATE_NEIGHBOURHOOD_H
#define GPNN_ESTIMATE_NEIGHBOURHOOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/threads.h"
#include "dataset/index/index.h"
#include "kernel/parameters.h"
#include "linalg/factors/jitter.h"

enum gpnn_density {
  GPNN_DENSITY_CONDITIONAL = 0,
  GPNN_DENSITY_JOINT = 1,
  GPNN_DENSITY_LABELS = 2,
};

/* Rows and their neighbours, as training rows; all borrowed. */
struct gpnn_neighbourhoods {
  size_t n;                 /* rows */
  size_t k;                 /* neighbours of each, at most */
  const int64_t *row;       /* n */
  const int64_t *neighbour; /* n by k, each row padded with -1 */
  const double *squares;    /* n by GPNN_HOOD_SQUARES(k), or NULL: gpnn_neighbourhood_squares() */
  const double *share;      /* of each class in the training rows (gpnn_categorical_shares()); for
                               the density of labels only */
};

/* Number of squared distances between k neighbours and their row. */
#define GPNN_HOOD_SQUARES(k) ((k) * ((k) + 1) / 2)

/*
 * Fills 'squares' with the squared distances between the inputs in each neighbourhood.  With a
 * single lengthscale and no map, later evaluations then need no inputs, so that their cost does not
 * depend on d.  Rows with fewer than k neighbours are skipped.
 */
void gpnn_neighbourhood_squares(const struct gpnn_dataset *dataset,
                                const struct gpnn_neighbourhoods *hoods, int threads,
                                double *squares);

/* What to compute; pointers may be NULL: not wanted. */
struct gpnn_neighbourhood_result {
  double value;     /* mean negative log density of the rows */
  double *gradient; /* n_lengthscales + 3 derivatives of 'value': by the logarithms of the
                       lengthscales, the kernel scale and the noise variance, and by the constant of
                       the mean; of labels then GPNN_LINK_NUMBERS by the logarithms of the link's
                       numbers, and one by the bias of each class */
  double *by_map;   /* d by d: by E, where z becomes (I + E) z; requires 'gradient' */
  double *loss;     /* n: each row's negative log density */
  double *z2; /* n: each row's squared standardised error; conditional density only.  Of labels
                 1 where another class is more probable than the row's own, and 0 elsewhere */
  struct gpnn_jitter jitter; /* of covariances, except those of rows that are left out */
};

/*
 * Evaluates the density of 'hoods' in standardised units.  The kernel is applied to differences z
 * between rows: those of the inputs times 'map' (d by d, row-major) or, if that is NULL, divided by
 * the lengthscales.
 *
 * A row whose covariance is not positive definite, even with jitter, is left out and gets NaN in
 * 'loss'; GPNN_ENUMERIC if no row remains or the result is not finite.  Up to 'threads' threads, of
 * 'team' unless it is NULL, share the rows; the result does not depend on them.  Cost:
 * O(n (k^3 + k^2 d)), plus O(n k d^2) for 'by_map', and O(n K) for labels of K classes.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_neighbourhood_objective(
    const struct gpnn_dataset *dataset, const struct gpnn_parameters *params, const double *map,
    enum gpnn_density density, const struct gpnn_neighbourhoods *hoods, struct gpnn_team *team,
    int threads, struct gpnn_neighbourhood_result *result, struct gpnn_error *err);

#endif
