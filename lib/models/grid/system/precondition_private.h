/*
 * system_precondition_private: approximate inverses of the covariance of the observed cells
 * (gpnn-methods(7), equations 16.43 to 16.48).
 *
 * All work on blocks of vectors of the reduced grid, 0 at cells that were not observed, before and
 * after.
 */
#ifndef GPNN_MODELS_GRID_SYSTEM_PRECONDITION_PRIVATE_H
#define GPNN_MODELS_GRID_SYSTEM_PRECONDITION_PRIVATE_H

#include "models/grid/system/system_private.h"

/* ---- system_decompose.c ------------------------------------------------------------------- */

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

/* ---- system_blocks.c ---------------------------------------------------------------------- */

/* The inverse of a symmetric matrix that has a block for each level of the first factor, or of its
 * diagonal alone, over the observed cells; 0 at the others. */
struct gpnn_grid_blocks {
  size_t outer, inner;
  bool diagonal;   /* only that is kept */
  double *inverse; /* owned; outer by inner by inner, or outer by inner */
};

/* The bytes that blocks take. */
double gpnn_grid_blocks_bytes(const struct gpnn_grid_cells *cells, bool diagonal);

/*
 * Of block s, E_T' diag(weight[s]) E_T plus the noise, where the rows of E_T are the eigenvectors
 * of 'inner' and 'weight' is outer by inner.n, none below 0.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_blocks_make(struct gpnn_grid_blocks *blocks,
                                                       const struct gpnn_grid_cells *cells,
                                                       const struct gpnn_grid_spectrum *inner,
                                                       const double *weight, bool diagonal,
                                                       int threads, struct gpnn_error *err);

/* Multiplies 'columns' vectors by the inverse; 'x' and 'y' do not overlap. */
void gpnn_grid_blocks_apply(const struct gpnn_grid_blocks *blocks, size_t columns, const double *x,
                            double *y, int threads);

void gpnn_grid_blocks_release(struct gpnn_grid_blocks *blocks);

/* ---- system_eigen.c ----------------------------------------------------------------------- */

struct gpnn_grid_eigen;

struct gpnn_grid_eigen_plan {
  size_t rank;       /* pairs wanted: fewer, if the other products are 0 */
  bool diagonal;     /* of the blocks only their diagonal */
  double operations; /* that solving with it is expected to take */
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

/* ---- system_full.c ------------------------------------------------------------------------ */

struct gpnn_grid_full;

/* Of the covariance of all cells, observed or not; 'cells' is borrowed. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_full_new(struct gpnn_grid_full **made,
                                                    const struct gpnn_grid_cells *cells,
                                                    struct gpnn_error *err);

/* 'scratch' is twice as large as 'y'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_full_apply(const struct gpnn_grid_full *full,
                                                      size_t columns, const double *x, double *y,
                                                      double *scratch, int threads,
                                                      struct gpnn_error *err);

void gpnn_grid_full_free(struct gpnn_grid_full *full);

/* ---- system_pivoted.c --------------------------------------------------------------------- */

struct gpnn_grid_pivoted;

/* 'rank' is the most; 'cells' is borrowed for the call. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_pivoted_new(struct gpnn_grid_pivoted **made,
                                                       const struct gpnn_grid_cells *cells,
                                                       size_t rank, int threads,
                                                       struct gpnn_error *err);

size_t gpnn_grid_pivoted_rank(const struct gpnn_grid_pivoted *pivoted);

GPNN_MUST_CHECK enum gpnn_status gpnn_grid_pivoted_apply(const struct gpnn_grid_pivoted *pivoted,
                                                         size_t columns, const double *x, double *y,
                                                         struct gpnn_error *err);

void gpnn_grid_pivoted_free(struct gpnn_grid_pivoted *pivoted);

/* ---- system_plan.c ------------------------------------------------------------------------ */

/* Pivots unless a rank is given, as Lin et al. 2025 have it; so few holes that the inverse of the
 * full grid needs few iterations. */
enum { GPNN_GRID_PIVOTS = 100, GPNN_GRID_FEW_HOLES = 50 };

/* Operations of a product with one vector. */
double gpnn_grid_product_operations(const struct gpnn_grid_cells *cells);

/* The rank of the least work for the right-hand sides and the tolerance of the options, unless they
 * have a rank, and whether blocks fit the memory. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_plan_eigen(const struct gpnn_grid_cells *cells, const struct gpnn_grid_spectrum *outer,
                     const struct gpnn_grid_spectrum *inner,
                     const struct gpnn_grid_system_options *options,
                     struct gpnn_grid_eigen_plan *plan, struct gpnn_error *err);

/* The kind of the least work that fits the memory. */
enum gpnn_grid_preconditioner gpnn_grid_plan_kind(const struct gpnn_grid_cells *cells,
                                                  const struct gpnn_grid_system_options *options);

/* ---- system_precondition.c ---------------------------------------------------------------- */

struct gpnn_grid_preconditioner_state {
  enum gpnn_grid_preconditioner kind;
  size_t rank;                       /* of those that have one */
  size_t bytes;                      /* about the memory that it takes */
  struct gpnn_grid_eigen *eigen;     /* owned; NULL unless it is of this kind, as are the others */
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
