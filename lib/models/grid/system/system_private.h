/*
 * system_private: shared by the files of the system of a grid (models/grid/system/system.h).
 *
 * Solves work on the reduced grid: the levels of each factor that have any observation.
 * Preconditioners are approximate inverses of the covariance of the observed cells
 * (gpnn-methods-grid(7), equations 16.43 to 16.48); they work on blocks of vectors of the reduced
 * grid, 0 at cells that were not observed, before and after.
 */
#ifndef GPNN_MODELS_GRID_SYSTEM_SYSTEM_PRIVATE_H
#define GPNN_MODELS_GRID_SYSTEM_SYSTEM_PRIVATE_H

#include "models/grid/system/system.h"

struct gpnn_grid_preconditioner_state; /* below */

/* A product kernel on a grid of cells, not all of them observed.  A zeroed object may be released.
 */
struct gpnn_grid_cells {
  size_t n_factors;
  size_t n[GPNN_GRID_FACTORS];
  double *k[GPNN_GRID_FACTORS]; /* owned; the factors' matrices, n[a] by n[a] */
  size_t rank;                  /* of the second of two factors, if that saves work; 0: no */
  double *root;                 /* owned; n[1] by rank: k[1] = root root', up to rounding */
  size_t outer, inner;          /* n[0], and the product of the others */
  size_t n_observed;
  double *noise;  /* owned; outer by inner: the variance of observed cells, 0 of others */
  bool *observed; /* owned; outer by inner */
};

struct gpnn_grid_system {
  struct gpnn_grid_cells all;
  struct gpnn_grid_cells reduced;
  size_t *level[GPNN_GRID_FACTORS];        /* owned; reduced.n[a]: which levels of all these are */
  size_t *inner;                           /* owned; reduced.inner: which of all.inner these are */
  struct gpnn_grid_system_options options; /* memory and threads filled in */
  struct gpnn_grid_preconditioner_state *preconditioner; /* owned; NULL: none */
};

/*
 * As gpnn_grid_system_new() for given matrices: 'k[a]' is n[a] by n[a], symmetric, row-major; the
 * kernel scale is part of k[0].  'cell' has the n_cells observed ones, ascending, and 'noise' their
 * variances, > 0.  All are copied.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_system_from_matrices(struct gpnn_grid_system **system, size_t n_factors, const size_t *n,
                               const double *const *k, size_t n_cells, const int64_t *cell,
                               const double *noise, const struct gpnn_grid_system_options *options,
                               struct gpnn_error *err);

/* ---- cells.c ------------------------------------------------------------------------------ */

/* Copies matrices and noise into 'cells' (zeroed). */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_cells_fill(struct gpnn_grid_cells *cells,
                                                      size_t n_factors, const size_t *n,
                                                      const double *const *k, size_t n_cells,
                                                      const int64_t *cell, const double *noise,
                                                      struct gpnn_error *err);

void gpnn_grid_cells_release(struct gpnn_grid_cells *cells);

/* Makes system->reduced with its levels of system->all. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_reduce(struct gpnn_grid_system *system,
                                                  struct gpnn_error *err);

/* Vectors 'first' to first + count - 1 of the 'columns' in 'all', at the observed cells, as 'count'
 * vectors of the reduced grid; and back, with 0 at all other cells. */
void gpnn_grid_gather(const struct gpnn_grid_system *system, size_t columns, size_t first,
                      size_t count, const double *all, double *reduced);
void gpnn_grid_scatter(const struct gpnn_grid_system *system, size_t columns, size_t first,
                       size_t count, const double *reduced, double *all);

/* A vector or block as left by d by right, whose middle axis is multiplied: element (l, t, r) of
 * 'y', left by n_to by right, is sum_j k[t * stride + j] x(l, j, r), or of k[j * stride + t] if
 * 'transposed'. */
struct gpnn_grid_contraction {
  size_t left, d, right, n_to;
  const double *k;
  size_t stride;
  bool transposed;
};

/* Fails if a length exceeds what the BLAS can count; 'x' and 'y' do not overlap. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_contract(const struct gpnn_grid_contraction *contraction,
                                                    const double *x, double *y, int threads,
                                                    struct gpnn_error *err);

/* Y = K X over all cells; 'scratch' is as large as 'y', and x is neither. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_cells_spread(const struct gpnn_grid_cells *cells,
                                                        size_t columns, const double *x, double *y,
                                                        double *scratch, int threads,
                                                        struct gpnn_error *err);

/* Makes A X of Y = K X: adds the noise times X, and clears the cells that were not observed. */
void gpnn_grid_cells_project(const struct gpnn_grid_cells *cells, size_t columns, const double *x,
                             double *y, int threads);

/* Y = A X. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_cells_multiply(const struct gpnn_grid_cells *cells,
                                                          size_t columns, const double *x,
                                                          double *y, double *scratch, int threads,
                                                          struct gpnn_error *err);

/* ---- decompose.c -------------------------------------------------------------------------- */

/* The eigenvalues of a matrix, the largest first, none below 0; row i of 'vectors' is the
 * eigenvector of value i. */
struct gpnn_grid_spectrum {
  size_t n;
  double *values;  /* owned; n */
  double *vectors; /* owned; n by n, row-major */
};

GPNN_MUST_CHECK enum gpnn_status gpnn_grid_decompose(struct gpnn_grid_spectrum *spectrum, size_t n,
                                                     const double *k, struct gpnn_error *err);

/* Of the product of all factors but the first. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_decompose_inner(struct gpnn_grid_spectrum *spectrum,
                                                           const struct gpnn_grid_cells *cells,
                                                           struct gpnn_error *err);

void gpnn_grid_spectrum_release(struct gpnn_grid_spectrum *spectrum);

/* ---- pairs.c ------------------------------------------------------------------------------ */

/* F = sqrt(value) x eigenvector for some pairs of eigenvectors of K_S and K_T.  Those of the first
 * count[j] of K_S with that of number j of K_T are pairs first[j] to first[j + 1] - 1.  A zeroed
 * object may be released. */
struct gpnn_grid_pairs {
  size_t p, q;
  size_t rank;                /* pairs */
  size_t used;                /* eigenvectors of K_T that occur: the first ones */
  size_t widest;              /* eigenvectors of K_S that occur: count[0] */
  size_t *count;              /* used: never growing */
  size_t *first;              /* used + 1 */
  double *root;               /* rank: the roots of the products */
  double *outer;              /* widest by p: eigenvectors of K_S */
  double *inner;              /* used by q: eigenvectors of K_T */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/*
 * Takes the 'n' pairs with the next largest products of an eigenvalue of either: those of value j
 * of 'inner' with the first count[j] of 'outer' have been taken (zeros at first).  Returns how many
 * there were, fewer than 'n' if the others are 0; takes their sum from '*left', and writes the
 * largest of the others to '*next'.
 */
size_t gpnn_grid_take_pairs(const struct gpnn_grid_spectrum *outer,
                            const struct gpnn_grid_spectrum *inner, size_t n, size_t *count,
                            double *left, double *next);

/* How many pairs have products of at least 'least'; 'count' (inner.n, or NULL) as above. */
size_t gpnn_grid_pairs_from(const struct gpnn_grid_spectrum *outer,
                            const struct gpnn_grid_spectrum *inner, double least, size_t *count);

/* Keeps those of 'count', which are at least one; 'pairs' is released by the caller whatever the
 * outcome. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_pairs_keep(struct gpnn_grid_pairs *pairs,
                                                      const struct gpnn_grid_spectrum *outer,
                                                      const struct gpnn_grid_spectrum *inner,
                                                      size_t *count, struct gpnn_error *err);

void gpnn_grid_pairs_release(struct gpnn_grid_pairs *pairs);

/* u = F'x, rank by columns; and y = F u, which changes 'u' and clears no cells.  'turned' has used
 * by p by columns. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_pairs_project(const struct gpnn_grid_pairs *pairs,
                                                         size_t columns, const double *x, double *u,
                                                         double *turned, int threads,
                                                         struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_pairs_expand(const struct gpnn_grid_pairs *pairs,
                                                        size_t columns, double *u, double *y,
                                                        double *turned, int threads,
                                                        struct gpnn_error *err);

/* y = F F'x; what it takes for a vector, and the numbers of scratch for several. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_pairs_spread(const struct gpnn_grid_pairs *pairs,
                                                        size_t columns, const double *x, double *y,
                                                        double *scratch, int threads,
                                                        struct gpnn_error *err);
double gpnn_grid_pairs_operations(double p, double q, double rank, double used);
size_t gpnn_grid_pairs_scratch(const struct gpnn_grid_pairs *pairs, size_t columns);

/* ---- eigen.c ------------------------------------------------------------------------------ */

/* The bytes that blocks take. */
double gpnn_grid_blocks_bytes(const struct gpnn_grid_cells *cells, bool diagonal);

struct gpnn_grid_eigen;

struct gpnn_grid_eigen_plan {
  size_t rank;       /* pairs wanted: fewer, if the other products are 0 */
  bool diagonal;     /* of the blocks only their diagonal */
  double operations; /* that solving with it is expected to take */
};

GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_eigen_new(struct gpnn_grid_eigen **made, const struct gpnn_grid_cells *cells,
                    const struct gpnn_grid_spectrum *outer, const struct gpnn_grid_spectrum *inner,
                    const struct gpnn_grid_eigen_plan *plan, int threads, struct gpnn_error *err);

size_t gpnn_grid_eigen_rank(const struct gpnn_grid_eigen *eigen);

/* About the memory that it takes. */
size_t gpnn_grid_eigen_bytes(const struct gpnn_grid_eigen *eigen);

/* The numbers of scratch that an application to 'columns' vectors needs. */
size_t gpnn_grid_eigen_scratch(const struct gpnn_grid_eigen *eigen, size_t columns);

GPNN_MUST_CHECK enum gpnn_status gpnn_grid_eigen_apply(const struct gpnn_grid_eigen *eigen,
                                                       size_t columns, const double *x, double *y,
                                                       double *scratch, int threads,
                                                       struct gpnn_error *err);

void gpnn_grid_eigen_free(struct gpnn_grid_eigen *eigen);

/* ---- plan.c ------------------------------------------------------------------------------- */

/* The mean noise variance of an observed cell. */
double gpnn_grid_mean_noise(const struct gpnn_grid_cells *cells);

/* Pivots unless a rank is given, as Lin et al. 2025 have it; so few holes that the inverse of the
 * full grid needs few iterations. */
enum { GPNN_GRID_PIVOTS = 100, GPNN_GRID_FEW_HOLES = 50 };

/* Operations of a product with one vector. */
double gpnn_grid_product_operations(const struct gpnn_grid_cells *cells);

/* How many right-hand sides share their directions at most (linalg/iterative/block_cg.h): more save
 * few iterations yet, and what sharing takes grows with their square and is to stay below a
 * product. */
size_t gpnn_grid_shared_columns(const struct gpnn_grid_cells *cells);

/* The eigenvalue of the covariance of all cells, without noise, below which a residual of half the
 * tolerance is left whatever becomes of its eigenvector (16.75). */
double gpnn_grid_negligible(const struct gpnn_grid_cells *cells, double tolerance);

/* The rank of the least work for the right-hand sides and the tolerance of the options, unless they
 * have a rank, and whether blocks fit the memory; 'product' is the operations of a product. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_plan_eigen(const struct gpnn_grid_cells *cells, const struct gpnn_grid_spectrum *outer,
                     const struct gpnn_grid_spectrum *inner, double product,
                     const struct gpnn_grid_system_options *options,
                     struct gpnn_grid_eigen_plan *plan, struct gpnn_error *err);

/* The kind of the least work that fits the memory. */
enum gpnn_grid_preconditioner gpnn_grid_plan_kind(const struct gpnn_grid_cells *cells,
                                                  const struct gpnn_grid_system_options *options);

/* ---- precondition.c ----------------------------------------------------------------------- */

struct gpnn_grid_preconditioner_state {
  enum gpnn_grid_preconditioner kind;
  size_t rank;                       /* of those that have one */
  size_t bytes;                      /* about the memory that it takes */
  struct gpnn_grid_eigen *eigen;     /* owned; NULL unless it is of this kind, as are the others */
  struct gpnn_grid_pairs leading;    /* beside it: those that are not negligible; rank 0: products
                                        with them alone would save little */
  double negligible;                 /* the eigenvalue below which the others are */
  struct gpnn_grid_full *full;       /* owned */
  struct gpnn_grid_pivoted *pivoted; /* owned */
};

/* As the options say, for the reduced grid 'cells', which is borrowed.  The memory of the options
 * is for vectors as well. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_precondition_new(struct gpnn_grid_preconditioner_state **made,
                           const struct gpnn_grid_cells *cells,
                           const struct gpnn_grid_system_options *options, struct gpnn_error *err);

/* The numbers of scratch that an application to 'columns' vectors needs. */
size_t gpnn_grid_precondition_scratch(const struct gpnn_grid_preconditioner_state *state,
                                      const struct gpnn_grid_cells *cells, size_t columns);

GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_precondition_apply(const struct gpnn_grid_preconditioner_state *state, size_t columns,
                             const double *x, double *y, double *scratch, int threads,
                             struct gpnn_error *err);

void gpnn_grid_precondition_free(struct gpnn_grid_preconditioner_state *state);

#endif
