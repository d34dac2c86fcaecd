/*
 * localgp: Gaussian-process prediction of a row from its m nearest training rows alone
 * (Allison et al. 2023, equations 5 to 7; gpnn-methods(7), equations 3.1 to 3.9).
 *
 * For a row x*, with N its m nearest training rows, K = kernelscale C_N + noise I = L L',
 * k_j = kernelscale c(x_j, x*), v = L^-1 k, u = L^-1 (y_N - T_N b):
 *   mean = t*'b + v'u,   latent variance = kernelscale - v'v,
 * where b are the coefficients of the mean's terms t (kernel/mean.h).  Where the rows have known
 * noise variances they are added to K's diagonal.  Where the coefficients have a covariance V,
 * q'Vq with q = t* - T_N'K^-1 k is added to the latent variance.
 * The variance of an observation is the latent variance plus the noise variance.
 *
 * Several targets are independent of each other given their parameters; what they have in common
 * (rows, metric, kernel) is worked out once.
 *
 * Neighbours are the nearest in the metric of the kernel: Euclidean after the parameters' rotation,
 * if they have one, and division by the lengthscales.  The index's own search serves if it has that
 * metric; otherwise one is built in memory for the life of the object.
 */
#ifndef GPNN_MODELS_LOCAL_LOCALGP_H
#define GPNN_MODELS_LOCAL_LOCALGP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"
#include "linalg/jitter.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_localgp;

/*
 * How covariances are factored: in double precision; or in single precision, and the result brought
 * to double precision by what the factor leaves over.  Mixed results differ from the others by at
 * most 1e-8 in the mean, in standardised units, and by 1e-7 of the latent variance; rows where that
 * is not assured are factored in double precision as well.
 */
enum gpnn_precision { GPNN_PRECISION_DOUBLE, GPNN_PRECISION_MIXED };

/* Rows to predict. */
struct gpnn_points {
  size_t n;
  const double *x;          /* n by d, standardised */
  const double *regressors; /* n by n_regressors, standardised; NULL: there are none */
  const int64_t *self; /* n: the training row that it is, no neighbour of its own; NULL: none */
  /* n by n_candidates: the training rows to take neighbours from, nearest first, -1 after the last
   * of a point; NULL: all of them, the search finds the nearest. */
  const int64_t *candidates;
  size_t n_candidates;
};

/* What is predicted, in standardised units; any of them may be NULL. */
struct gpnn_prediction {
  double *mean;    /* one a point */
  double *latent;  /* one a point: variance of the function without noise */
  double *nearest; /* one a point: distance to the nearest neighbour, in lengthscales */
};

/* What was out of the ordinary, added up over calls. */
struct gpnn_localgp_counts {
  size_t n_clamped;          /* rows whose latent variance came out under zero and was set to it */
  struct gpnn_jitter jitter; /* of rows, in standardised y squared */
};

/*
 * Prepares predictions from 'dataset' and 'params' (both borrowed, must outlive 'gp') with
 * 'neighbours' rows each (0: as the parameters say; never more than n) on 'threads' threads.
 * The target is that which the parameters name, or the first.  GPNN_EMISMATCH: the parameters do
 * not fit the dataset.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_localgp_new(struct gpnn_localgp **gp,
                                                  const struct gpnn_dataset *dataset,
                                                  const struct gpnn_parameters *params,
                                                  size_t neighbours, int threads,
                                                  struct gpnn_error *err);

/*
 * The same for 'n' targets: 'params' has an array of n, 'gps' gets as many objects, each for
 * gpnn_localgp_free().  Those whose kernels see the same rows in the same metric, and which have as
 * many neighbours, hold one search between them.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_localgp_new_all(struct gpnn_localgp *gps[], size_t n,
                                                      const struct gpnn_dataset *dataset,
                                                      const struct gpnn_parameters *params,
                                                      size_t neighbours, int threads,
                                                      struct gpnn_error *err);

/* True if the search had to be built again because the index's has another metric, and that took
 * noticeable work. */
bool gpnn_localgp_rebuilt_search(const struct gpnn_localgp *gp);

/* What predictions are made from, as given to gpnn_localgp_new(). */
const struct gpnn_dataset *gpnn_localgp_data(const struct gpnn_localgp *gp);
const struct gpnn_parameters *gpnn_localgp_params(const struct gpnn_localgp *gp);

/* Threads it works on. */
int gpnn_localgp_threads(const struct gpnn_localgp *gp);

/*
 * Predicts by 'params' (borrowed) from now on, which differ from those before in the kernel, its
 * scale, the noise, or in all lengthscales by one factor: nearest rows stay the nearest, and so the
 * search stays.  Not for objects that were made together.
 */
void gpnn_localgp_set_params(struct gpnn_localgp *gp, const struct gpnn_parameters *params);

/* Neighbours in use: m, or n if that is less; and another number of them from now on. */
size_t gpnn_localgp_neighbours(const struct gpnn_localgp *gp);
void gpnn_localgp_set_neighbours(struct gpnn_localgp *gp, size_t neighbours);

/* The precision from now on; it is double at first.  gpnn_localgp_predict_each() of several numbers
 * of neighbours stays with double.  Objects that predict together have the same. */
void gpnn_localgp_set_precision(struct gpnn_localgp *gp, enum gpnn_precision precision);

/*
 * From now on up to 'share' (> 0; 1 at first) points that lie together may be predicted from the
 * union of their neighbours, by one factorisation, where that takes fewer operations.  Which those
 * are depends on the points predicted in one call; no point is predicted from fewer than its own
 * neighbours.  Points that are training rows, that bring candidates, or that are predicted with
 * several numbers of neighbours do not share, and those that do are predicted in double precision.
 * Objects that predict together have the same.
 */
void gpnn_localgp_set_share(struct gpnn_localgp *gp, size_t share);

/*
 * Predicts rows.  Writes those arrays of 'prediction' that are not NULL and adds to '*counts'.  A
 * row's result does not depend on the others, on their number, or on the threads.
 * GPNN_ENUMERIC: even with jitter not positive definite.  Cost: O(m^3/3 + m^2 d) a row; memory
 * O(threads m^2 + 1024 m).
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_localgp_predict(const struct gpnn_localgp *gp,
                                                      const struct gpnn_points *points,
                                                      const struct gpnn_prediction *prediction,
                                                      struct gpnn_localgp_counts *counts,
                                                      struct gpnn_error *err);

/*
 * The same for several numbers of neighbours, rising and none above the object's own, at the cost
 * of the largest: 'mean' and 'latent' get one block of points after another, a block a number.
 * Neighbours are factored nearest first, so that the fewer ones' factor is the leading part.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_localgp_predict_each(const struct gpnn_localgp *gp,
                                                           const struct gpnn_points *points,
                                                           size_t n_numbers, const size_t *numbers,
                                                           const struct gpnn_prediction *prediction,
                                                           struct gpnn_localgp_counts *counts,
                                                           struct gpnn_error *err);

/*
 * gpnn_localgp_predict() for 'n' targets: of the objects made together, those that share a metric,
 * a kernel and the number of neighbours have one search a row and one matrix of correlations; and
 * of those, targets whose ratio of noise to kernel scale is the same (but for rounding), known
 * noise included, have one factorisation and cost hardly more than one target.  'predictions' and
 * 'counts' have n entries.  Results are those of the targets one by one, but for rounding.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_localgp_predict_all(size_t n,
                                                          const struct gpnn_localgp *const gps[],
                                                          const struct gpnn_points *points,
                                                          const struct gpnn_prediction *predictions,
                                                          struct gpnn_localgp_counts *counts,
                                                          struct gpnn_error *err);

void gpnn_localgp_free(struct gpnn_localgp *gp);

#ifdef __cplusplus
}
#endif

#endif
