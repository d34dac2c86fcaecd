/*
 * localgp: Gaussian-process prediction of a row from its m nearest training rows alone
 * (A eqs 5-7; T eqs 4-5; specification section 4).
 *
 * For a row x*, with N its m nearest training rows, K = kernelscale C_N + noise I = L L',
 * k_j = kernelscale c(x_j, x*), v = L^-1 k, u = L^-1 y_N:
 *   mean = v'u,   latent variance = kernelscale - v'v.
 * The variance of an observation is the latent variance plus the noise variance.
 *
 * Neighbours are the nearest in the metric of the kernel: Euclidean after division by the
 * lengthscales.  The index's own search serves if it has that metric; otherwise one is
 * built in memory for the life of the object.
 */
#ifndef GPNN_MODELS_LOCALGP_H
#define GPNN_MODELS_LOCALGP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "data/index.h"
#include "models/params.h"

struct gpnn_localgp;

/* What was out of the ordinary, added up over calls. */
struct gpnn_localgp_counts {
  size_t n_jittered; /* rows whose covariance needed jitter */
  double max_jitter; /* the largest, in standardised y squared */
  size_t n_clamped;  /* rows whose latent variance came out under zero and was set to it */
};

/*
 * Prepares predictions from 'index' and 'params' (both borrowed, must outlive 'gp') with
 * 'neighbours' rows each (0: as the parameters say; never more than n) on 'threads' threads.
 * GPNN_EMISMATCH: the parameters do not fit the index.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_localgp_new(struct gpnn_localgp **gp,
                                                  const struct gpnn_index *index,
                                                  const struct gpnn_params *params,
                                                  size_t neighbours, int threads,
                                                  struct gpnn_error *err);

/* True if the search had to be built again because the index's has another metric. */
bool gpnn_localgp_rebuilt_search(const struct gpnn_localgp *gp);

/* What predictions are made from, as given to gpnn_localgp_new(). */
const struct gpnn_index_contents *gpnn_localgp_data(const struct gpnn_localgp *gp);
const struct gpnn_params *gpnn_localgp_params(const struct gpnn_localgp *gp);

/* Neighbours in use: m, or n if that is less; and another number of them from now on. */
size_t gpnn_localgp_neighbours(const struct gpnn_localgp *gp);
void gpnn_localgp_set_neighbours(struct gpnn_localgp *gp, size_t neighbours);

/*
 * Predicts 'n_rows' rows of standardised inputs 'x' (n_rows by d).  'self', if not NULL,
 * holds for each row the training row that it is, which is then no neighbour of its own.
 * Writes 'mean' and, unless it is NULL, 'latent' (variance), n_rows numbers each, in
 * standardised units.  Adds to '*counts'.  A row's result does not depend on the others, on
 * their number, or on the threads.  GPNN_ENUMERIC: even with jitter not positive definite.
 * Cost: O(m^3/3 + m^2 d) a row; memory O(threads m^2 + 1024 m).
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_localgp_predict(const struct gpnn_localgp *gp, size_t n_rows,
                                                      const double *x, const int64_t *self,
                                                      double *mean, double *latent,
                                                      struct gpnn_localgp_counts *counts,
                                                      struct gpnn_error *err);

void gpnn_localgp_free(struct gpnn_localgp *gp);

#endif
