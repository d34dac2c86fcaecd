/*
 * tucker_rows: a few rows at a time, as a Tucker model sees them: their correlations with the
 * points of each dimension, what the factors make of these, and the shares of the variance that
 * the grid explains (gpnn-methods(7), equations 17.34 to 17.36).
 *
 * Calling sequence: gpnn_tucker_tile_new() for a model, one for each thread; then for each tile of
 * rows gpnn_tucker_tile_project(), and gpnn_tucker_tile_variances() where these are wanted;
 * gpnn_tucker_tile_release().  Matrices of a tile have a row for each row, row-major.
 *
 * Threads: each has a tile of its own; models and matrices are shared.
 */
#ifndef GPNN_MODELS_TUCKER_ROWS_H
#define GPNN_MODELS_TUCKER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "models/tucker/matrices.h"
#include "models/tucker/tucker.h"

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

#endif
