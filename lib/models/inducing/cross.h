/*
 * cross: what estimation and prediction of inducing points share: covariances of rows with
 * the points, and the root that variances come from.
 */
#ifndef GPNN_MODELS_INDUCING_CROSS_H
#define GPNN_MODELS_INDUCING_CROSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "kernel/kernel.h"

/* ---- covariances -------------------------------------------------------------------------- */

/*
 * Covariances of rows with inducing inputs, tile by tile, and what a function of them says
 * of the kernel's parameters.
 *
 * Calling sequence: gpnn_cross_new() for inducing inputs, gpnn_cross_set() for parameters, as often
 * as wanted; then for each tile of rows gpnn_cross_covariances() and, where derivatives are wanted,
 * gpnn_cross_contract().  gpnn_cross_release().
 *
 * Threads: between calls of gpnn_cross_set() it may be shared; each thread has a tile of its own.
 */

/* Rows of a tile, the unit of work that threads share. */
enum { GPNN_CROSS_TILE = 64 };

/* Inducing inputs and the kernel; arrays are borrowed. */
struct gpnn_cross_problem {
  size_t m, d;     /* inducing inputs, at least 1, and their numbers */
  const double *z; /* m by d, row-major, in standardised units */
  const struct gpnn_kernel *kernel;
  double smoothness;     /* of the kernel, if it needs one */
  size_t n_lengthscales; /* 1, or one for each group of inputs */
  const uint32_t *group; /* d: the group of each input; may be NULL for one lengthscale */
};

/* A zeroed object may be released. */
struct gpnn_cross {
  struct gpnn_cross_problem problem;
  double kernelscale;
  double *inverse; /* owned; d: one over the lengthscale of each input */
  double *columns; /* owned; d by m: inducing inputs over lengthscales, one input after another */
  double *scaled;  /* owned; m by d: the same, row-major */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* Rows whose covariances with the inducing inputs are wanted. */
struct gpnn_cross_points {
  size_t n;
  const double *x;     /* their inputs, d each */
  const uint64_t *row; /* n: where in x each is; NULL: in order */
};

/* Scratch memory of one thread: covariances of a tile's rows and what comes of them, m each. */
struct gpnn_cross_tile {
  double *k, *slope, *adjoint, *product; /* owned, as are all */
  double *scaled;                        /* TILE by d: inputs over lengthscales */
  double *moment;                        /* TILE by d */
  struct gpnn_arrays *arrays;            /* what frees them */
};

/* GPNN_ENOMEM: 'cross' may be released. */
GPNN_MUST_CHECK enum gpnn_status gpnn_cross_new(struct gpnn_cross *cross,
                                                const struct gpnn_cross_problem *problem,
                                                struct gpnn_error *err);
void gpnn_cross_release(struct gpnn_cross *cross);

/* Takes these lengthscales (n_lengthscales, > 0) and kernel scale. */
void gpnn_cross_set(struct gpnn_cross *cross, const double *lengthscale, double kernelscale);

/* GPNN_ENOMEM: the tile may be released. */
GPNN_MUST_CHECK enum gpnn_status gpnn_cross_tile_new(struct gpnn_cross_tile *tile, size_t m,
                                                     size_t d, struct gpnn_error *err);
void gpnn_cross_tile_release(struct gpnn_cross_tile *tile);

/* Writes the covariances of rows 'first' to first + n - 1 of 'points' with the inducing inputs to
 * tile->k (n <= GPNN_CROSS_TILE by m), the inputs of the rows over the lengthscales to
 * tile->scaled, and if wanted kernelscale times the slope of kernel/kernel.h to tile->slope.
 * tile->product is overwritten. */
void gpnn_cross_covariances(const struct gpnn_cross *cross, const struct gpnn_cross_points *points,
                            size_t first, size_t n, bool with_slope,
                            const struct gpnn_cross_tile *tile);

/* How many tiles 'n' rows are, and how many of the rows are in one of them. */
size_t gpnn_cross_n_tiles(size_t n);
size_t gpnn_cross_tile_rows(size_t n, size_t tile);

/* Writes the covariances of all 'points' with the inducing inputs to 'k' (n by m), tile by tile. */
void gpnn_cross_fill(const struct gpnn_cross *cross, const struct gpnn_cross_points *points,
                     const struct gpnn_cross_tile *tile, double *k);

/* Writes to 'factor' (m by m) that of the covariance of the inducing inputs, with 'jitter' times
 * the kernel scale added to its diagonal.  GPNN_ENUMERIC: it is not positive definite even with the
 * jitter of linalg/factors/cholesky.h. */
GPNN_MUST_CHECK enum gpnn_status gpnn_cross_factor(const struct gpnn_cross *cross,
                                                   const struct gpnn_cross_tile *tile,
                                                   double jitter, double *factor,
                                                   struct gpnn_error *err);

/*
 * After gpnn_cross_covariances() of n rows, adds to 'gradient' (n_lengthscales) the sum over rows i
 * and inducing inputs j of adjoint_ij slope_ij (x_il - z_jl)^2 / lengthscale_l^2, by expanding the
 * squares, which leaves one product of matrices; returns the sum of adjoint_ij k_ij.  'adjoint',
 * 'product' and 'moment' of the tile are overwritten.
 */
double gpnn_cross_contract(const struct gpnn_cross *cross, const struct gpnn_cross_tile *tile,
                           size_t n, double *gradient);

/* The same for the inducing inputs as rows, whose adjoints are 'adjoint' (m by m), with what they
 * say of the logarithm of the kernel scale: 'gradient' has n_lengthscales + 1 numbers. */
void gpnn_cross_contract_inducing(const struct gpnn_cross *cross,
                                  const struct gpnn_cross_tile *tile, const double *adjoint,
                                  double *gradient);

/* The inducing inputs as points. */
struct gpnn_cross_points gpnn_cross_inducing(const struct gpnn_cross *cross);

/* ---- the root ----------------------------------------------------------------------------- */

/*
 * What inducing points take away from the variance of rows: |R c|^2 for the
 * correlations c of a row with the points and a root R (gpnn-methods-sparse(7), equations 17.3 and
 * 17.10).
 *
 * R is kept in strips of a few rows, each without the columns in which it is zero, so that
 * triangular roots take half the time.  Strips are kept in single precision, which halves it again,
 * as long as the errors of all of them together stay below GPNN_INDUCING_ERROR of the kernel scale
 * on trial rows; on other rows they are two or three times as large at the most.
 *
 * Rows come in tiles of GPNN_INDUCING_TILE, as panels of gpnn_panels_best()
 * (linalg/panels/panels.h) with a column for each point.  Results of a row depend on nothing else
 * in its tile. Threads: read-only once made.
 */

/* A multiple of the lanes of every set of panels, for doubles and for floats. */
enum { GPNN_INDUCING_TILE = 48 };

#define GPNN_INDUCING_ERROR 5e-7

struct gpnn_inducing_strip {
  size_t begin, end;  /* columns that are not all zero */
  double *precise;    /* owned, as linalg/panels/panels.h has strips; NULL: */
  float *approximate; /* owned */
};

/* A zeroed object is empty and may be released. */
struct gpnn_inducing_root {
  size_t m, n_strips;
  struct gpnn_inducing_strip *strips; /* owned */
};

/* Rows whose errors decide on the precision: n_tiles tiles of panels, one after another. */
struct gpnn_inducing_trial {
  size_t n_tiles; /* 0: everything is kept in double precision */
  const double *panels;
  double scale; /* what |R c|^2 is multiplied by to be a share of the kernel scale */
};

/* Takes a root of 'rank' rows by m, row-major, which is copied; 'rank' may be 0.  GPNN_ENOMEM:
 * '*root' may be released. */
GPNN_MUST_CHECK enum gpnn_status gpnn_inducing_root_new(struct gpnn_inducing_root *root,
                                                        size_t rank, size_t m, const double *rows,
                                                        const struct gpnn_inducing_trial *trial,
                                                        struct gpnn_error *err);
void gpnn_inducing_root_release(struct gpnn_inducing_root *root);

/* The numbers in one tile of panels. */
size_t gpnn_inducing_tile_size(size_t m);

/* Writes |R c|^2 of each row of a tile to 'squares' (GPNN_INDUCING_TILE).  'rounded' is scratch
 * memory for as many floats as the tile has numbers.  Both are 64-byte aligned. */
void gpnn_inducing_squares(const struct gpnn_inducing_root *root, const double *panels,
                           float *rounded, double *squares);

#endif
