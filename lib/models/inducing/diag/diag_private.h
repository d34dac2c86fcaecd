/*
 * What the sources of diag share: passes over rows, tile by tile.
 */
#ifndef GPNN_MODELS_INDUCING_DIAG_DIAG_PRIVATE_H
#define GPNN_MODELS_INDUCING_DIAG_DIAG_PRIVATE_H

#include <stdbool.h>

#include "base/threads.h"
#include "models/inducing/cross.h"
#include "models/inducing/diag/diag.h"
#include "models/inducing/diag/fit.h"

struct gpnn_diag {
  struct gpnn_diag_problem problem;
  struct gpnn_cross kernel;
  size_t n_tiles; /* threads */
  struct gpnn_cross_tile *tile;
  double *partial;            /* GPNN_DIAG_TILES partial sums */
  double *inverse;            /* m by m: B, its factor, its inverse */
  double *middle;             /* m by m: B^-1 N B^-1; NULL until gpnn_diag_reserve() */
  double *rows;               /* GPNN_DIAG_BLOCK by m: rows times B^-1; likewise */
  double *kuu_mu;             /* m */
  double *lengthscale;        /* n_lengthscales */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* Rows whose products with B^-1 are kept at a time. */
enum { GPNN_DIAG_BLOCK = 1024, GPNN_DIAG_TILES = GPNN_DIAG_BLOCK / GPNN_CROSS_TILE };

/* The kernel at 'point'. */
void gpnn_diag_set(struct gpnn_diag *diag, const double *point);

/* ---- passes over rows --------------------------------------------------------------------- */

/* Memory for 'middle' and 'rows', unless they have it. */
GPNN_MUST_CHECK enum gpnn_status gpnn_diag_reserve(struct gpnn_diag *diag, struct gpnn_error *err);

/* Of a partial sum: the derivatives by mu and by the logarithms of the kernel, as a point has them
 * but without rho, and the bound. */
size_t gpnn_diag_partial_size(const struct gpnn_diag_problem *problem);

/* A pass over rows, in blocks, of which threads share the tiles. */
struct gpnn_diag_pass {
  struct gpnn_diag *diag;
  const struct gpnn_diag_batch *batch;
  struct gpnn_cross_points points;
  const double *point;
  const double *vector; /* what else a step needs */
  size_t size;          /* of a partial sum */
  double *partial;      /* GPNN_DIAG_TILES by size */
  double *kept;         /* where a step leaves something */
  size_t first, n;      /* rows of the block */
  bool keeps_rows;      /* steps write diag->rows, whose product is added to diag->middle */
};

/* The number of row 'i' of the pass among all rows, and its weight: the batch's scale over the
 * noise variance. */
size_t gpnn_diag_row(const struct gpnn_diag_pass *pass, size_t i);
double gpnn_diag_weight(const struct gpnn_diag_pass *pass, size_t row);

/* What a step begins with: its rows, the first of them counted from that of the pass. */
struct gpnn_diag_piece {
  const struct gpnn_cross_tile *tile; /* with covariances, and slopes if they are wanted */
  size_t first, n;
  double *partial; /* zeroed */
};

struct gpnn_diag_piece gpnn_diag_begin(const struct gpnn_diag_pass *pass, size_t thread,
                                       size_t piece, bool with_slope);

/* Works through 'total' rows; each tile, which is a piece for 'step', writes a partial sum to
 * pass->partial, and these are added to 'sum' in their order. */
void gpnn_diag_pass_over(struct gpnn_diag_pass *pass, size_t total, gpnn_threads_step *step,
                         double *sum);

/* Adds 'sign' R'R to the lower triangle (i >= j of [i * m + j]) of diag->middle, where R is the
 * first 'n' of diag->rows. */
void gpnn_diag_add_product(struct gpnn_diag *diag, size_t n, double sign);

/* Copies the lower triangle of diag->middle to the upper. */
void gpnn_diag_symmetrise(struct gpnn_diag *diag);

/* to (n by m) = a (n by m) times b (m by m), all row-major. */
void gpnn_diag_multiply(const struct gpnn_diag *diag, size_t n, const double *a, const double *b,
                        double *to);

/* After gpnn_diag_set(), B^-1 to diag->inverse, all of it, Kuu mu to diag->kuu_mu, and log|B|.
 * GPNN_ENUMERIC as for gpnn_diag_bound(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_diag_invert(struct gpnn_diag *diag, const double *point,
                                                  double *logdet, struct gpnn_error *err);

/* Kuu to 'k' (m by m), and exp(rho) of 'point', unless that is NULL, added to its diagonal.  The
 * kernel has been set. */
void gpnn_diag_fill(struct gpnn_diag *diag, const double *point, double *k);

/* ---- fit.c, descend.c, polish.c: the parts of a fit ------------------------------------------ */

/* Operations that computing a matrix of inducing points from rows may take; more rows are used
 * evenly spaced, or by conjugate gradients. */
#define GPNN_DIAG_MOST_OPERATIONS 4e11

/* Rows within these operations. */
size_t gpnn_diag_affordable_rows(const struct gpnn_diag_problem *problem);

/* Takes the steps of an optimiser from 'point', and counts what it did in the report. */
GPNN_MUST_CHECK enum gpnn_status gpnn_diag_descend(struct gpnn_diag *diag,
                                                   const struct gpnn_diag_options *options,
                                                   double *point, struct gpnn_diag_report *report,
                                                   struct gpnn_error *err);

/* Improves rho, given everything else, by at most 50 steps (equation 17.26), with the solver that
 * the report names. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_diag_polish_covariance(struct gpnn_diag *diag, const struct gpnn_diag_options *options,
                            double *point, struct gpnn_diag_report *report, struct gpnn_error *err);

/* Steps of a solution after which it is given up: min(m, 1000), but at least 50. */
size_t gpnn_diag_most_steps(const struct gpnn_diag_problem *problem);

/* Lowest and highest value of each number of a point whose kernel scale is 'kernelscale'. */
void gpnn_diag_bounds(const struct gpnn_diag_problem *problem, double kernelscale, double *lower,
                      double *upper);

#endif
