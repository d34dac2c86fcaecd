/*
 * cg: solving A X = B by preconditioned conjugate gradients, for a positive definite matrix that is
 * known only by its products with vectors (gpnn-methods-grid(7), equations 16.30 to 16.33).
 *
 * All right-hand sides are solved together, so that products are of matrices with matrices; each
 * column takes its own steps and stops by its own residual.
 *
 * Layout of a block of 'columns' vectors of outer * inner numbers: element (o, i) of vector j is at
 * (o * columns + j) * inner + i.  With outer = 1 the vectors lie one after another; with inner = 1
 * their elements are interleaved; a vector on a grid of p by q has outer = p and inner = q.
 *
 * Threads: sums are made in pieces whose size does not depend on the number of threads, so the
 * results do not either, provided that those of the products do not.
 */
#ifndef GPNN_LINALG_CG_H
#define GPNN_LINALG_CG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Writes to 'y' what the matrix makes of 'columns' vectors 'x', both blocks as described above;
 * they do not overlap.  Fails as it likes. */
typedef enum gpnn_status gpnn_cg_product(void *context, size_t columns, const double *x, double *y,
                                         struct gpnn_error *err);

struct gpnn_cg_matrix {
  size_t outer, inner;
  gpnn_cg_product *multiply;
  gpnn_cg_product *precondition; /* by an approximate inverse, positive definite; NULL: none */
  void *context;                 /* of both */
};

/* When a solution is good enough. */
struct gpnn_cg_options {
  double tolerance;       /* > 0: of |B - A X| / |B|, column by column */
  size_t most_iterations; /* at least 1 */
  bool stops_at_mean;     /* stop when the mean over columns is below the tolerance, after at least
                             11 iterations, instead of each column at its own */
  int threads;            /* of the vectors' sums; at least 1 */
  /* Called after every iteration, if not NULL, with the worst residual of all columns; not from
   * another thread. */
  void (*progress)(void *context, size_t iteration, double residual);
  void *progress_context;
  /* Unless NULL, decides after each step of a column, by how many it has taken and its residual,
   * what the next one shall count in its solution: usually 1; 0: it has finished.  The first step
   * counts 1.  The answer for a column that is within its tolerance is ignored. */
  double (*weigh)(void *context, size_t column, size_t steps, double residual);
  void *weigh_context;
};

/* The steps a_k and b_k that columns took, from which follows a tridiagonal matrix with the
 * spectrum of M^-1 A as the column sees it (linalg/iterative/lanczos.h).  A zeroed object may be
 * released. */
struct gpnn_cg_steps {
  size_t columns, capacity;
  size_t *n;     /* columns: how many iterations each took */
  double *a, *b; /* capacity by columns: of iteration k of column j at [k * columns + j] */
};

struct gpnn_cg_report {
  size_t iterations; /* of the column that took most, restarts included */
  double residual;   /* the worst true residual, |B - A X| / |B|, computed anew at the end; with
                        weights the worst of the iterates, which the solutions are not */
  bool converged; /* all columns are within twice the tolerance, or under stops_at_mean their mean
                     is */
};

/*
 * Solves for 'columns' right-hand sides 'b'.  'x' has the starting values, and gets the solutions;
 * a column of zeros has the solution 0.  If the true residuals turn out above twice the tolerance,
 * the iteration starts again from 'x', at most twice.  A solution that has not converged is not a
 * failure: '*report' says so.  'steps' (zeroed, or NULL if unwanted) gets those of the first start,
 * and is the caller's to release, after a failure too.  Memory: four more blocks, or three without
 * a preconditioner.  columns = 0 does nothing.
 *
 * With weights, solutions start at 0, and as they are not the iterates that residuals belong to,
 * the iteration starts only once; residuals are computed anew from the iterates every 50 steps
 * instead, which takes one more block.
 *
 * GPNN_ENUMERIC: the matrix is not positive definite, or a number is not finite.  GPNN_ENOMEM, and
 * what the products fail with.  'x' is then undefined.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_cg_solve(const struct gpnn_cg_matrix *matrix, size_t columns, const double *b, double *x,
              const struct gpnn_cg_options *options, struct gpnn_cg_steps *steps,
              struct gpnn_cg_report *report, struct gpnn_error *err);

void gpnn_cg_steps_release(struct gpnn_cg_steps *steps);

#endif
