/*
 * posterior: what the observed cells of a grid say about all of its cells, and about cells at
 * levels that it does not have (gpnn-methods-grid(7), equations 16.18 to 16.29).
 *
 * With A = P K P' + noise, alpha = A^-1 y and U = P' alpha, the posterior mean at any cell is the
 * sum of its covariances with the grid's cells times U.  A posterior draw is a draw f of the
 * process, corrected by its error at the observed cells: f + K P' A^-1 (y - P f - e),   e ~ N(0,
 * noise), whose covariance is the exact one; its variance around the mean, over draws, estimates
 * that of the posterior.  At new levels draws are continued from the grid's (models/grid/root.h),
 * so that old and new ones belong to the same function.
 *
 * Three engines give the same numbers:
 *   dense     the Cholesky factor of A: 8 n^2 bytes and n^3 / 3 operations; variances are exact
 *   complete  a grid without holes, all of whose cells were observed equally often: eigenvectors of
 *             the factors; variances are exact
 *   latent    conjugate gradients (models/grid/system/system.h), to a tolerance
 *
 * Source: Lin, Ament, Balandat, Eriksson, Hernandez-Lobato and Bakshy (2025), sections 3 and 4.
 *
 * Calling sequence: gpnn_grid_posterior_new(), any of the others, gpnn_grid_posterior_free().
 * Units are the standardised ones of the grid; means of levels are put back.
 * Threads: a posterior never changes and may be shared; results do not depend on the threads, nor
 * does that of one place on the other places.
 */
#ifndef GPNN_MODELS_GRID_POSTERIOR_H
#define GPNN_MODELS_GRID_POSTERIOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "container/state.h"
#include "dataset/grid/grid.h"
#include "kernel/parameters.h"
#include "models/grid/system/system.h"

struct gpnn_grid_posterior;

enum gpnn_grid_engine {
  GPNN_GRID_ENGINE_AUTO = 0, /* complete where that is possible; dense up to GPNN_GRID_DENSE_CELLS
                                observed cells of at most 20 times as many; otherwise latent */
  GPNN_GRID_ENGINE_LATENT,
  GPNN_GRID_ENGINE_DENSE,
  GPNN_GRID_ENGINE_COMPLETE,
};

enum gpnn_grid_variance {
  GPNN_GRID_VARIANCE_AUTO = 0, /* exact but for the engine latent: from draws */
  GPNN_GRID_VARIANCE_SAMPLES,  /* the mean square of draws around the mean */
  GPNN_GRID_VARIANCE_EXACT,    /* by the engine latent with a solve for each place: never below the
                                  exact one, and above it by the square of what the tolerance
                                  leaves */
  GPNN_GRID_VARIANCE_NONE,
};

enum gpnn_grid_mean {
  GPNN_GRID_MEAN_EXACT = 0,
  GPNN_GRID_MEAN_SAMPLE, /* that of the draws, around which the variance is then divided by one less
                            than their number, as Lin et al. (2025) do */
};

/* Observed cells that the dense engine is chosen for. */
enum { GPNN_GRID_DENSE_CELLS = 5000 };

struct gpnn_grid_posterior_options {
  enum gpnn_grid_engine engine;
  struct gpnn_grid_system_options system; /* the threads are those of everything */
  double tolerance;                       /* relative residual of solves; 0: by the noise, as
                                             gpnn_grid_noise_tolerance() */
  double exact_tolerance; /* the same for means and exact variances, whose errors are divided by the
                             noise, if it is smaller; 0: the same */
  size_t most_iterations;
  bool accept; /* solves that do not converge: report them, instead of GPNN_ENUMERIC */
  enum gpnn_grid_variance variance;
  size_t draws; /* how many are made, if the variance or the mean comes from them or 'keep_draws' is
                   set */
  enum gpnn_grid_mean mean;
  bool keep_draws;     /* for variances from draws at new levels, and for
                          gpnn_grid_posterior_draws() */
  size_t block;        /* draws that are made together, at most; 0: as many as 1 GiB holds */
  uint64_t seed;       /* of the draws */
  const double *alpha; /* n_cells: a guess at alpha to start from; NULL: none */
  const double *start; /* n_start times n_cells: the same for the first draws; NULL: none */
  size_t n_start;
  /* Called after every iteration of the engine latent, if not NULL: columns solved before those in
   * work, and all of them (0: not known, of exact variances); from the caller's thread. */
  void (*progress)(void *context, size_t solved, size_t columns, size_t iteration, double residual);
  void *progress_context;
};

/* What became of the options. */
struct gpnn_grid_posterior_report {
  const char *engine;         /* "latent", "dense", "complete" */
  const char *preconditioner; /* of the engine latent, otherwise "none" */
  size_t rank;
  size_t iterations; /* most of any column */
  double residual;   /* the worst true residual, relative */
  bool converged;
  bool exact_variance;
  double jitter; /* the largest added to a factor's covariance, for draws, relative to its mean
                    diagonal; under the engine dense to that of A; usually 0 */
};

/*
 * Makes the posterior of 'grid' under 'parameters' (parameters->grid), both borrowed; 'y' has the
 * values of the observed cells, or is NULL for those of the grid.
 *
 * GPNN_EMISMATCH: the factors are not those of the grid.  GPNN_EINVAL: the engine complete, for a
 * grid with holes, with cells observed more often than others, or with noise of their own.
 * GPNN_ENUMERIC: a matrix is not positive definite or not finite; a solve did not converge, and the
 * message has the worst residual.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_posterior_new(struct gpnn_grid_posterior **posterior, const struct gpnn_grid *grid,
                        const double *y, const struct gpnn_parameters *parameters,
                        const struct gpnn_grid_posterior_options *options, struct gpnn_error *err);

/* Where to predict. */
struct gpnn_grid_places {
  size_t n;
  const uint32_t *level; /* n by n_factors: a level of the grid, or its number of levels plus the
                            number of a new one */
  size_t n_new[GPNN_GRID_FACTORS];    /* new levels of each factor */
  const double *x[GPNN_GRID_FACTORS]; /* n_new by d: their coordinates, as the grid has its own */
};

/*
 * Predicts the latent function at 'places': writes n means and n variances, either of which may be
 * NULL.  A variance is at least 1e-12 kernel scales, and NaN under GPNN_GRID_VARIANCE_NONE.
 * Predicting at the grid's levels costs next to nothing unless variances are exact.
 *
 * GPNN_EDATA: a new level has no logarithm, or is of a factor of tasks, or one of names.
 * GPNN_EINVAL: variances from draws at new levels, without keep_draws.  GPNN_ENUMERIC: a solve for
 * an exact variance did not converge.  GPNN_ENOMEM.  n = 0 does nothing.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_posterior_predict(const struct gpnn_grid_posterior *posterior,
                            const struct gpnn_grid_places *places, double *mean, double *variance,
                            struct gpnn_error *err);

/*
 * Writes draws first to first + count - 1 of the latent function at 'places' to 'draws', n by
 * count. All places are drawn together, with one exception: new levels of the first factor are
 * drawn in chunks of GPNN_GRID_CHUNK, each jointly with the grid's levels but not with the other
 * chunks'. A draw depends on the seed, its number and the places, but not on 'first' and 'count'.
 * Requires keep_draws and first + count <= draws.  Outcomes as for gpnn_grid_posterior_predict().
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_posterior_draws(const struct gpnn_grid_posterior *posterior,
                          const struct gpnn_grid_places *places, size_t first, size_t count,
                          double *draws, struct gpnn_error *err);

enum { GPNN_GRID_CHUNK = 512 };

/* The noise variance of an observation at one of the places, numbered 'i'. */
double gpnn_grid_posterior_noise(const struct gpnn_grid_posterior *posterior,
                                 const struct gpnn_grid_places *places, size_t i);

struct gpnn_grid_posterior_report
gpnn_grid_posterior_report(const struct gpnn_grid_posterior *posterior);

/* NULL is allowed. */
void gpnn_grid_posterior_free(struct gpnn_grid_posterior *posterior);

/* ---- solutions kept with the parameters (container/state.h) ------------------------------- */

/* Solutions are only where solving starts: if the parameters have been changed since, solving takes
 * longer and gives the same.  Starting from a solution within the tolerance takes no iteration. */

/* Adds to 'state' the arrays "alpha" and, if the posterior keeps draws, "draws": for each of them
 * in turn A^-1 (y - P f - e) of the observed cells.  'target' is the name of the target.
 * GPNN_ENOMEM: some may have been added. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_state_store(const struct gpnn_grid_posterior *posterior,
                                                       const char *target, struct gpnn_state *state,
                                                       struct gpnn_error *err);

/* Lets 'options' start from what 'state' (NULL: nothing) has for this target of the index with this
 * fingerprint; borrowed.  What is of another index or length is left out. */
void gpnn_grid_state_find(const struct gpnn_state *state, uint64_t fingerprint, const char *target,
                          size_t n_cells, struct gpnn_grid_posterior_options *options);

#endif
