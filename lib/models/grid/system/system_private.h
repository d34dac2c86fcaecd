/*
 * system_private: shared by the files of the system of a grid (models/grid/system/system.h).
 *
 * Solves work on the reduced grid: the levels of each factor that have any observation.
 */
#ifndef GPNN_MODELS_GRID_SYSTEM_SYSTEM_PRIVATE_H
#define GPNN_MODELS_GRID_SYSTEM_SYSTEM_PRIVATE_H

#include "models/grid/system/system.h"

struct gpnn_grid_preconditioner_state; /* models/grid/system/precondition_private.h */

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

/* ---- system_cells.c ----------------------------------------------------------------------- */

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

/* ---- system_contract.c -------------------------------------------------------------------- */

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

/* ---- system_root.c ------------------------------------------------------------------------ */

/* Finds the root of a second factor whose numerical rank is so low that products save work. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_find_root(struct gpnn_grid_cells *cells,
                                                     struct gpnn_error *err);

/* ---- system_product.c --------------------------------------------------------------------- */

/* Y = K X over all cells; 'scratch' is as large as 'y', and x is neither. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_cells_spread(const struct gpnn_grid_cells *cells,
                                                        size_t columns, const double *x, double *y,
                                                        double *scratch, int threads,
                                                        struct gpnn_error *err);

/* Y = A X. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_cells_multiply(const struct gpnn_grid_cells *cells,
                                                          size_t columns, const double *x,
                                                          double *y, double *scratch, int threads,
                                                          struct gpnn_error *err);

#endif
