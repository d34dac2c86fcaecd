/*
 * tucker: a sparse Gaussian process whose inducing inputs fill a rectangular grid.  The mean of
 * their values is a Tucker tensor and their covariance a Kronecker product, so that nothing as
 * large as the grid is ever stored (gpnn-methods-sparse(7), equations 17.34 to 17.36).
 *
 * Source: Thomas (2017), Scalable Inference and Private Co-training for Gaussian Processes, chapter
 * 2, in the form that gpnn-methods-sparse(7) gives it.
 *
 * A grid has p dimensions, one for each input; dimension l has m_l points and rank q_l.  The kernel
 * is the product of one-dimensional ones, which for rbf is the usual kernel, and for others a
 * different one.  Everything is in standardised units.
 *
 * Threads: an object that is not written to may be shared.
 */
#ifndef GPNN_MODELS_TUCKER_TUCKER_H
#define GPNN_MODELS_TUCKER_TUCKER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "container/state.h"
#include "kernel/kernel.h"
#include "models/model.h"

/* Dimensions of a grid, at most; points and ranks of one of them, at most. */
enum { GPNN_TUCKER_DIMENSIONS = 8, GPNN_TUCKER_MOST_POINTS = 1000 };

/* The jitter of each dimension's correlation matrix, as it usually is and at most. */
#define GPNN_TUCKER_JITTER 1e-6
#define GPNN_TUCKER_MOST_JITTER 1e-3

/* The sizes of a grid. */
struct gpnn_tucker_shape {
  size_t p;                         /* dimensions, 1 to GPNN_TUCKER_DIMENSIONS */
  size_t m[GPNN_TUCKER_DIMENSIONS]; /* points, 1 to GPNN_TUCKER_MOST_POINTS */
  size_t q[GPNN_TUCKER_DIMENSIONS]; /* ranks, 1 to m_l */
  bool is_diagonal; /* the core is zero off its diagonal: a sum of Kronecker products
                       (17.37); all ranks are then equal, and may exceed m_l */
};

/*
 * All that is estimated lies in 'numbers', so that a gradient is a vector of the same layout: the
 * core, row-major (or its diagonal); U_l, m_l by q_l row-major, of each dimension; rho_l = log s_l
 * of each; log lengthscales (p), log kernel scale, log noise variance.  A zeroed object may be
 * released.
 */
struct gpnn_tucker {
  struct gpnn_tucker_shape shape;
  size_t n_core, n_grid, n_numbers; /* numbers of the core, points of all dimensions, all numbers */
  double n_points;                  /* of the grid: the product of m_l */
  size_t factor[GPNN_TUCKER_DIMENSIONS];  /* where in 'numbers' U_l begins */
  size_t rho[GPNN_TUCKER_DIMENSIONS];     /* where rho_l does */
  size_t lengthscale, kernelscale, noise; /* where these logarithms are */
  const struct gpnn_kernel *kernel;       /* of one dimension; one that has its own smoothness */
  double jitter;                          /* > 0, added to the diagonal of R_l */
  bool has_covariance; /* false: that of q(u) is the prior's, and rho is not used */
  double *points[GPNN_TUCKER_DIMENSIONS]; /* m_l grid coordinates, strictly increasing */
  double *grid;                           /* owned; n_grid: these */
  double *numbers;                        /* owned; n_numbers */
};

extern const struct gpnn_model_ops gpnn_tucker_ops;

/* Numbers of the core of this shape; SIZE_MAX if they cannot be counted. */
size_t gpnn_tucker_core_size(const struct gpnn_tucker_shape *shape);

/* Makes room; every number is 0, and so are the points.  GPNN_ENOMEM: '*tucker' is zeroed. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_new(struct gpnn_tucker *tucker,
                                                 const struct gpnn_tucker_shape *shape,
                                                 const struct gpnn_kernel *kernel,
                                                 struct gpnn_error *err);
void gpnn_tucker_release(struct gpnn_tucker *tucker);

/* Names of the arrays of a target in a model file (dataset/stored.h): p, p, n_grid, n_grid (only if
 * has_covariance), the U_l one after another, the core, one number. */
#define GPNN_TUCKER_GRID_SIZE "grid-size"
#define GPNN_TUCKER_RANK "rank"
#define GPNN_TUCKER_GRID "grid"
#define GPNN_TUCKER_RHO "rho"
#define GPNN_TUCKER_FACTOR "factor"
#define GPNN_TUCKER_CORE "core"
#define GPNN_TUCKER_JITTER_USED "jitter"

/* Arrays of one number that are for people: the bound (17.38) and the shrinkage (17.50). */
#define GPNN_TUCKER_BOUND "bound"
#define GPNN_TUCKER_SHRINKAGE "covariance-shrinkage"

/* Adds these arrays of 'target' to 'arrays'.  Lengthscales, kernel scale and noise belong to the
 * parameters.  GPNN_ENOMEM: some may have been added. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_store(const struct gpnn_tucker *tucker,
                                                   const char *target, struct gpnn_state *arrays,
                                                   struct gpnn_error *err);

/*
 * Makes a model from them; lengthscales, kernel scale and noise are left at 1.
 * GPNN_EFORMAT: an array is missing, not as long as it must be, or has values out of range; for
 * instance, there are not 'p' dimensions.  GPNN_ENOMEM.  '*tucker' is zeroed after a failure.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_tucker_restore(struct gpnn_tucker *tucker, size_t p, const struct gpnn_kernel *kernel,
                    const char *target, const struct gpnn_state *arrays, struct gpnn_error *err);

/* In standardised units; its bounds belong to it. */
struct gpnn_tucker_box {
  size_t p;
  double low[GPNN_TUCKER_DIMENSIONS], high[GPNN_TUCKER_DIMENSIONS];
};

/* The box of a channel of a model file.  GPNN_EMISMATCH: it is not of this family, or of no model
 * file; GPNN_EFORMAT, GPNN_ENOMEM: as gpnn_tucker_restore(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_box_of(struct gpnn_tucker_box *box,
                                                    const struct gpnn_channel *channel,
                                                    struct gpnn_error *err);

/* True if row 'x' (p numbers) lies outside. */
bool gpnn_tucker_box_excludes(const struct gpnn_tucker_box *box, const double *x);

#endif
