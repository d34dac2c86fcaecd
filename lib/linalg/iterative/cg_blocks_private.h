/*
 * blocks: passes over blocks of vectors, in the layout of linalg/iterative/cg.h, that do as much as
 * they can with each element while they have it.
 *
 * The vectors are cut into pieces, the same for each column and whatever the other columns: ranges
 * of the outer index, or of the inner one where that alone is long.  Threads share the pieces; sums
 * are made over each and then over all in order, so they do not depend on the number of threads.
 */
#ifndef GPNN_LINALG_CG_BLOCKS_PRIVATE_H
#define GPNN_LINALG_CG_BLOCKS_PRIVATE_H

#include <stddef.h>

struct gpnn_blocks {
  size_t outer, inner;
  size_t rows, length; /* of a piece: outer indices and inner ones, of which one is 1 or all */
  size_t across;       /* pieces along the inner index */
  size_t n;            /* pieces */
  int threads;
  double *partial; /* the caller's: n by columns of the widest block */
};

/* All but 'partial'; outer and inner are at least 1. */
struct gpnn_blocks gpnn_blocks_of(size_t outer, size_t inner, int threads);

/* sum_j = x_j'y_j for each of 'columns' columns. */
void gpnn_blocks_dot(const struct gpnn_blocks *blocks, size_t columns, const double *x,
                     const double *y, double *sum);

/* z_j = x_j - a_j y_j, which may be in place, and sum_j = z_j'z_j. */
void gpnn_blocks_subtract(const struct gpnn_blocks *blocks, size_t columns, const double *x,
                          const double *a, const double *y, double *z, double *sum);

/* The end of an iteration, which reads the directions d once: column[j] of the n_solutions columns
 * of 'solution' += a_j d_j; then d_j = z_j + b_j d_j. */
void gpnn_blocks_advance(const struct gpnn_blocks *blocks, size_t columns, const double *a,
                         const double *b, const double *z, double *d, const size_t *column,
                         size_t n_solutions, double *solution);

/* Moves 'n_kept' of the 'columns' columns of a block, kept[0] < kept[1] < ..., together in place.
 */
void gpnn_blocks_keep(const struct gpnn_blocks *blocks, size_t columns, double *block,
                      size_t n_kept, const size_t *kept);

#endif
