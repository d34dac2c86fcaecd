/*
 * The parts of the estimation and prediction of Tucker models (models/tucker/tucker.h), each with
 * its source: core, matrices, rows, bound, als, tune, start.
 */
#ifndef GPNN_MODELS_TUCKER_TUCKER_PRIVATE_H
#define GPNN_MODELS_TUCKER_TUCKER_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "models/tucker/tucker.h"

/* ---- the core ----------------------------------------------------------------------------- */

/*
 * Contractions of a Tucker tensor, the core W and a matrix or vector for each of its p
 * modes.  Tensors are row-major, the first index slowest; a diagonal core (shape.is_diagonal) is
 * its diagonal.
 *
 * Sources: gpnn-methods-sparse(7), equations 17.35, 17.37 and 17.42.
 * Threads: no shared state.
 */

/*
 * Y = (A_1 kron ... kron A_p) x.  A_l is rows[l] by columns[l], row-major; x has as many numbers as
 * the product of columns, y as that of rows.  'work' has room for the largest tensor on the way,
 * where modes of columns become modes of rows from the last; so has 'y'.  x and y may not overlap.
 */
void gpnn_kronecker_multiply(size_t p, const size_t *rows, const size_t *columns,
                             const double *const *matrix, const double *x, double *y, double *work);

/* Size of 'work' for the following functions, in doubles. */
size_t gpnn_tucker_core_work(const struct gpnn_tucker_shape *shape);

/* The core contracted with a vector v_l (q_l) in every mode: a number. */
double gpnn_tucker_core_value(const struct gpnn_tucker_shape *shape, const double *core,
                              const double *const *v, double *work);

/* The derivatives of that by the core (n_core) and by each v_l, h_l (q_l): the core contracted in
 * all other modes.  'by_core' or 'h' may be NULL. */
void gpnn_tucker_core_partials(const struct gpnn_tucker_shape *shape, const double *core,
                               const double *const *v, double *by_core, double *const *h,
                               double *work);

/* W x_1 G_1 ... x_p G_p for symmetric G_l (q_l by q_l), into 'product' (n_core); for a diagonal
 * core the diagonal of that.  Returns <W, product>. */
double gpnn_tucker_core_quadratic(const struct gpnn_tucker_shape *shape, const double *core,
                                  const double *const *g, double *product, double *work);

/* H_l of 'mode': its unfolding times the same of W with every other mode multiplied by G, q_l by
 * q_l. */
void gpnn_tucker_core_gram(const struct gpnn_tucker_shape *shape, size_t mode, const double *core,
                           const double *const *g, double *gram, double *work);

/* Replaces the core by W x_mode A for A of 'rows' by q_mode, row-major, rows <= q_mode; not for a
 * diagonal core. */
void gpnn_tucker_core_transform(const struct gpnn_tucker_shape *shape, size_t mode, size_t rows,
                                const double *a, double *core, double *work);

/* ---- matrices of each dimension ----------------------------------------------------------- */

/*
 * What the numbers of a Tucker model make of each dimension's grid: the
 * correlation matrix R_l of its points, C_l = R_l + diag(s_l), and the divergence of the
 * covariance of q(u) from the prior's (gpnn-methods-sparse(7), equations 17.34, 17.39 and 17.40).
 *
 * Matrices are column-major.  Calling sequence: gpnn_tucker_matrices_new() for a shape,
 * gpnn_tucker_matrices_set() whenever numbers have changed, gpnn_tucker_matrices_release().
 * Threads: between calls of set() it may be shared.
 */

/* Of one dimension; arrays are owned by the whole. */
struct gpnn_tucker_matrix {
  double *r;        /* m by m: R_l, the jitter included */
  double *slope;    /* m by m: its derivative by the log lengthscale */
  double *root_r;   /* m by m: lower triangle, the Cholesky factor of R_l */
  double *root_c;   /* m by m: that of C_l, if there is a covariance */
  double *s;        /* m: exp(rho_l) */
  double mean;      /* of the eigenvalues of C_l^-1 R_l */
  double mean_rest; /* of -log(1 - lambda) - lambda of these */
};

struct gpnn_tucker_matrices {
  struct gpnn_tucker_matrix dimension[GPNN_TUCKER_DIMENSIONS];
  double divergence; /* of the covariance of q(u) (17.39); 0 if it is the prior's */
  double *block;     /* owned */
};

/* GPNN_ENOMEM: '*matrices' is zeroed. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_matrices_new(struct gpnn_tucker_matrices *matrices,
                                                          const struct gpnn_tucker *tucker,
                                                          struct gpnn_error *err);
void gpnn_tucker_matrices_release(struct gpnn_tucker_matrices *matrices);

/* Computes them for the tucker's numbers.  GPNN_ENUMERIC: the matrix of a dimension, which is named
 * by its number from 1, is not positive definite. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_matrices_set(struct gpnn_tucker_matrices *matrices,
                                                          const struct gpnn_tucker *tucker,
                                                          struct gpnn_error *err);

/* The same, with ten times the tucker's jitter as often as that helps, up to
 * GPNN_TUCKER_MOST_JITTER. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_tucker_matrices_escalate(struct gpnn_tucker_matrices *matrices, struct gpnn_tucker *tucker,
                              struct gpnn_error *err);

/* Multiplies U_l in 'u' (m by q, row-major) by the transposed factor of R_l, so that U_l'R_l U_l
 * becomes a plain product; or, with 'back', by its inverse. */
void gpnn_tucker_whiten(const struct gpnn_tucker_matrices *matrices,
                        const struct gpnn_tucker *tucker, size_t l, bool back, double *u);

/* -log(1 - lambda) - lambda for lambda in [0, 1), accurate to rounding however small it is. */
double gpnn_tucker_rest(double lambda);

/* The divergence (17.39) of p dimensions, from the means of the eigenvalues and of their rests. */
double gpnn_tucker_divergence(size_t p, double n_points, const double *mean,
                              const double *mean_rest);

/* ---- tiles of rows ------------------------------------------------------------------------ */

/*
 * A few rows at a time, as a Tucker model sees them: their correlations with the
 * points of each dimension, what the factors make of these, and the shares of the variance that
 * the grid explains (gpnn-methods-sparse(7), equations 17.34 to 17.36).
 *
 * Calling sequence: gpnn_tucker_tile_new() for a model, one for each thread; then for each tile of
 * rows gpnn_tucker_tile_project(), and gpnn_tucker_tile_variances() where these are wanted;
 * gpnn_tucker_tile_release().  Matrices of a tile have a row for each row, row-major.
 *
 * Threads: each has a tile of its own; models and matrices are shared.
 */

enum { GPNN_TUCKER_TILE = 64 };

/* Rows; borrowed. */
struct gpnn_tucker_data {
  size_t n;            /* rows; n = 0 is allowed */
  const double *x;     /* p numbers for each row */
  const double *y;     /* a number for each */
  const uint64_t *row; /* n: which rows of x and y they are; NULL: in order */
  double weight;       /* what sums over rows are multiplied by: 1, or all rows over those of a
                          batch */
  int threads;
};

/* One dimension of a tile; GPNN_TUCKER_TILE rows each. */
struct gpnn_tucker_view {
  double *r;     /* m: correlations with the points */
  double *slope; /* m: their derivatives by the log lengthscale */
  double *white; /* m: L_R^-1 r */
  double *e, *w; /* m: R^-1 r and C^-1 r */
  double *v;     /* q: U'r */
  double *h;     /* q: the core contracted with v of the other dimensions */
  double *a, *c; /* 1: r'e, and what of it is left: sum_j s_j e_j w_j */
};

struct gpnn_tucker_tile {
  struct gpnn_tucker_view dimension[GPNN_TUCKER_DIMENSIONS];
  double *mean;    /* of each row */
  double *work;    /* gpnn_tucker_core_work() */
  double *moment;  /* GPNN_TUCKER_TILE by the most m */
  double *by_core; /* n_core */
  double *block;   /* owned: all of these */
};

/* GPNN_ENOMEM: the tile is zeroed. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_tile_new(struct gpnn_tucker_tile *tile,
                                                      const struct gpnn_tucker *tucker,
                                                      struct gpnn_error *err);
void gpnn_tucker_tile_release(struct gpnn_tucker_tile *tile);

/* Fills 'r' and 'v' of n <= GPNN_TUCKER_TILE rows of data, the first of which is 'first', and
 * 'slope' if wanted. */
void gpnn_tucker_tile_project(const struct gpnn_tucker *tucker, const struct gpnn_tucker_data *data,
                              size_t first, size_t n, bool with_slope,
                              const struct gpnn_tucker_tile *tile);

/* After that, 'mean' of the rows. */
void gpnn_tucker_tile_means(const struct gpnn_tucker *tucker, size_t n,
                            const struct gpnn_tucker_tile *tile);

/* After project(), 'white' of one dimension. */
void gpnn_tucker_tile_whiten(const struct gpnn_tucker *tucker,
                             const struct gpnn_tucker_matrices *matrices, size_t l, size_t n,
                             const struct gpnn_tucker_tile *tile);

/* After project(), 'white', 'e', 'w', 'a' and 'c' of all dimensions; the model has a covariance. */
void gpnn_tucker_tile_variances(const struct gpnn_tucker *tucker,
                                const struct gpnn_tucker_matrices *matrices, size_t n,
                                const struct gpnn_tucker_tile *tile);

/* After that, the share of the prior variance that is left at row i of the tile (17.36): in
 * [0, 1]. */
double gpnn_tucker_tile_left(const struct gpnn_tucker *tucker, const struct gpnn_tucker_tile *tile,
                             size_t i);

/* Where row i of data is in x and y. */
static inline size_t gpnn_tucker_row(const struct gpnn_tucker_data *data, size_t i)
{
  return data->row == NULL ? i : (size_t)data->row[i];
}

/* ---- the bound ---------------------------------------------------------------------------- */

/*
 * The bound on the log marginal likelihood that a Tucker model has, and its
 * derivatives by all its numbers (gpnn-methods-sparse(7), equations 17.38 to 17.43).
 *
 * Calling sequence: gpnn_tucker_bound_new() for a model's shape; gpnn_tucker_bound_at() for numbers
 * and rows, as often as wanted; gpnn_tucker_bound_free().
 *
 * Threads: those given share the rows; results do not depend on their number.  An object has
 * scratch memory and serves one caller at a time.
 */

struct gpnn_tucker_bound;

/* What a model says of rows. */
struct gpnn_tucker_value {
  double bound;     /* (17.38) */
  double squares;   /* sum over rows of the squared residual, with their weight */
  double left;      /* the same of the share of the prior variance that is left (17.36) */
  double quadratic; /* <W, W x_l G_l> */
  double shrinkage; /* what is left of the variance that the grid could explain, a share (17.50) */
};

/* Scratch memory for models of this shape and up to 'threads' threads.  GPNN_ENOMEM: '*bound' is
 * not set. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_bound_new(struct gpnn_tucker_bound **bound,
                                                       const struct gpnn_tucker *tucker,
                                                       int threads, struct gpnn_error *err);

/* NULL is allowed. */
void gpnn_tucker_bound_free(struct gpnn_tucker_bound *bound);

/*
 * The value at the tucker's numbers, and unless 'gradient' (n_numbers) is NULL the derivatives of
 * the bound by each of them.  GPNN_ENUMERIC: as gpnn_tucker_matrices_set(), or the bound is not
 * finite.  GPNN_ENOMEM.  Nothing has been set then but 'gradient', which is undefined.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_bound_at(struct gpnn_tucker_bound *bound,
                                                      const struct gpnn_tucker *tucker,
                                                      const struct gpnn_tucker_data *data,
                                                      struct gpnn_tucker_value *value,
                                                      double *gradient, struct gpnn_error *err);

/* ---- least squares in turn ---------------------------------------------------------------- */

/*
 * Core and factors of a Tucker model by least squares in turn: given the others, each
 * of them has a closed form (gpnn-methods-sparse(7), equations 17.44 to 17.46).
 *
 * Calling sequence: gpnn_tucker_als_new() for a model's shape; gpnn_tucker_als_sweep() as often as
 * wanted, or the steps of a sweep one by one, after gpnn_tucker_als_set(); gpnn_tucker_als_free().
 *
 * Threads: those given share the rows; results do not depend on their number.  An object has
 * scratch memory and serves one caller at a time.
 */

struct gpnn_tucker_als;

/* Up to so many unknowns are solved for by a factorisation; more by conjugate gradients, whose
 * matrix is not stored. */
enum { GPNN_TUCKER_MOST_DENSE = 2048 };

/* For models of this shape and up to 'threads' threads.  'most_dense' is usually
 * GPNN_TUCKER_MOST_DENSE.  Memory: for each thread the square of the unknowns of a step, if these
 * are no more than that.  GPNN_ENOMEM: '*als' is not set. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_als_new(struct gpnn_tucker_als **als,
                                                     const struct gpnn_tucker *tucker,
                                                     size_t most_dense, int threads,
                                                     struct gpnn_error *err);

/* NULL is allowed. */
void gpnn_tucker_als_free(struct gpnn_tucker_als *als);

/* Takes the lengthscales of 'tucker'; needed before the steps below whenever they have changed.
 * GPNN_ENUMERIC: as gpnn_tucker_matrices_set(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_als_set(struct gpnn_tucker_als *als,
                                                     const struct gpnn_tucker *tucker,
                                                     struct gpnn_error *err);

/*
 * Each replaces what it is called after by the best given everything else (17.44, 17.45), which
 * cannot lower the bound.  The weight of 'data' is to be 1.  GPNN_ENUMERIC: the equations cannot be
 * solved.  GPNN_ENOMEM.  The numbers are then as before.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_als_core(struct gpnn_tucker_als *als,
                                                      struct gpnn_tucker *tucker,
                                                      const struct gpnn_tucker_data *data,
                                                      struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_als_factor(struct gpnn_tucker_als *als,
                                                        struct gpnn_tucker *tucker,
                                                        const struct gpnn_tucker_data *data,
                                                        size_t l, struct gpnn_error *err);

/* Makes U_l'R_l U_l the identity, or for a diagonal core its diagonal 1, without changing the model
 * (17.46).  GPNN_ENUMERIC, GPNN_ENOMEM: nothing has changed. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_als_gauge(struct gpnn_tucker_als *als,
                                                       struct gpnn_tucker *tucker, size_t l,
                                                       struct gpnn_error *err);

/* The core, then the factors in order, each followed by the gauge of its dimension. */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_als_sweep(struct gpnn_tucker_als *als,
                                                       struct gpnn_tucker *tucker,
                                                       const struct gpnn_tucker_data *data,
                                                       struct gpnn_error *err);

/* ---- lengthscales and covariance ---------------------------------------------------------- */

/*
 * Lengthscales of a Tucker model, and the covariance of its grid's values, while core
 * and whitened factors stay (gpnn-methods-sparse(7), equation 17.48).
 *
 * Threads: those of the data share the rows; results do not depend on their number.
 */

/* Which lengthscales are equal. */
struct gpnn_tucker_groups {
  size_t n;
  const uint32_t *group; /* p: that of each dimension */
};

/* Limits of lengthscales: of the points' distance, and of their range. */
#define GPNN_TUCKER_SHORTEST 0.5
#define GPNN_TUCKER_LONGEST 20

/* Bounds of every number of a tucker's (n_numbers each), within which estimates stay. */
void gpnn_tucker_limits(const struct gpnn_tucker *tucker, double *lower, double *upper);

/* Those of the log lengthscale of one dimension alone. */
void gpnn_tucker_limit_lengthscale(const struct gpnn_tucker *tucker, size_t l, double *lower,
                                   double *upper);

/* What is estimated. */
enum gpnn_tucker_tuned {
  GPNN_TUCKER_TUNED_LENGTHSCALES, /* one for each group, by how well the mean fits: as if the
                                     covariance were the prior's.  (Where the grid has more points
                                     than there are rows, the covariance would make them too long.)
                                   */
  GPNN_TUCKER_TUNED_COVARIANCE,   /* rho, of a model that has a covariance */
};

/*
 * Raises the bound of the rows of 'data' by at most 'most' evaluations of it.  As lengthscales
 * change, so do the factors U_l with R_l = L L', so that L'U_l stays: that belongs to the prior at
 * any lengthscale, and lets them move.  Failures are those of the bound, and GPNN_EEXTERNAL of
 * linalg/optimize.h; the tucker is then as before.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_tucker_tune(struct gpnn_tucker_bound *bound, struct gpnn_tucker *tucker,
                 const struct gpnn_tucker_data *data, const struct gpnn_tucker_groups *groups,
                 enum gpnn_tucker_tuned what, size_t most, struct gpnn_error *err);

/* ---- where numbers begin ------------------------------------------------------------------ */

/*
 * Where the points of a Tucker model's grid lie, and what its numbers are before they
 * are estimated.
 *
 * Threads: no shared state.
 */

/*
 * Places 'm' points for the values of column 'l' of n >= 1 rows x (p numbers each): equally spaced
 * over the values and 'margin' times their range on either side, or at their quantiles, the
 * outermost as far out.  Quantiles that coincide become one.  Writes them to 'points' (m) and
 * returns how many they are, at least 1; a column of one value gets one point.  SIZE_MAX: no
 * memory.
 */
size_t gpnn_tucker_place(size_t n, size_t p, size_t l, const double *x, bool at_quantiles,
                         double margin, size_t m, double *points);

/*
 * Sets everything that is estimated to where it begins (gpnn-methods-sparse(7), 17.47): the
 * lengthscales to 1, or the points' distance where that is larger; U_l to eigenvectors of R_l, and
 * a little noise drawn with 'seed', unless the core is diagonal, all noise; rho to 0.  The core
 * becomes 0, or with 'core_scale' > 0 that times normal deviates over the root of their number.
 * Kernel scale and noise are left alone.  GPNN_ENUMERIC: as gpnn_tucker_matrices_set() after all
 * jitter, which may have grown.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_begin(struct gpnn_tucker *tucker, uint64_t seed,
                                                   double factor, double core_scale,
                                                   struct gpnn_error *err);

/* ---- lengthscales to begin with ----------------------------------------------------------- */

/*
 * Lengthscales to begin with, by how well rows left out are predicted
 * (gpnn-methods-sparse(7), equation 17.47).
 *
 * Threads: those of the data share the rows; results do not depend on their number.
 */

/*
 * Sets all of 'tucker' to where least squares should begin, as gpnn_tucker_begin() does, but tries
 * several lengthscales: a few sweeps over most of at most 20000 random rows, and the lengthscales
 * that predict the other fifth best are kept.  They change only for a clear gain.  With fewer than
 * 50 rows nothing is compared.  Outcomes as gpnn_tucker_begin() and gpnn_tucker_als_sweep().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_choose(struct gpnn_tucker *tucker,
                                                    const struct gpnn_tucker_data *data,
                                                    const struct gpnn_tucker_groups *groups,
                                                    uint64_t seed, struct gpnn_error *err);

/* ---- lower ranks -------------------------------------------------------------------------- */

/*
 * Lower ranks for a Tucker model (gpnn-methods-sparse(7), equation 17.49).
 */

/*
 * Rotates the factors, in the gauge of (17.46), so that the core's unfolding of each dimension has
 * orthogonal rows, and drops those shorter than 'share' of the longest, with their columns of the
 * factor.  Nothing is done for a diagonal core.  GPNN_ENOMEM, GPNN_ENUMERIC (LAPACK finds no
 * eigenvectors): the tucker may have been rotated, which is the same model.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_tucker_reduce(struct gpnn_tucker *tucker, double share,
                                                    struct gpnn_error *err);

#endif
