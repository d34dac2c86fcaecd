/*
 * inducing_root: what inducing points take away from the variance of rows: |R c|^2 for the
 * correlations c of a row with the points and a root R (gpnn-methods(7), equations 17.3 and 17.10).
 *
 * R is kept in strips of a few rows, each without the columns in which it is zero, so that
 * triangular roots take half the time.  Strips are kept in single precision, which halves it again,
 * as long as the errors of all of them together stay below GPNN_INDUCING_ERROR of the kernel scale
 * on trial rows; on other rows they are two or three times as large at the most.
 *
 * Rows come in tiles of GPNN_INDUCING_TILE, as panels of gpnn_panels_best() (linalg/panels.h) with
 * a column for each point.  Results of a row depend on nothing else in its tile.
 * Threads: read-only once made.
 */
#ifndef GPNN_MODELS_INDUCING_ROOT_H
#define GPNN_MODELS_INDUCING_ROOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* A multiple of the lanes of every set of panels, for doubles and for floats. */
enum { GPNN_INDUCING_TILE = 48 };

#define GPNN_INDUCING_ERROR 5e-7

struct gpnn_inducing_strip {
  size_t begin, end;  /* columns that are not all zero */
  double *precise;    /* owned, as linalg/panels.h has strips; NULL: */
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
