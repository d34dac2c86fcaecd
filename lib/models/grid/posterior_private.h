/*
 * posterior_private: shared by the files of the posterior of a grid (models/grid/posterior.h).
 *
 * A block of 'columns' vectors is padded as in models/grid/system/system.h: [p][columns][q].
 */
#ifndef GPNN_MODELS_GRID_POSTERIOR_PRIVATE_H
#define GPNN_MODELS_GRID_POSTERIOR_PRIVATE_H

#include "models/grid/means.h"
#include "models/grid/posterior.h"
#include "models/grid/root.h"

/* Some places, and the covariances of their levels with the grid's. */
struct gpnn_grid_rows {
  size_t n;               /* places */
  const uint32_t *number; /* n by n_factors: which row of each factor's matrix is theirs */
  size_t n_rows[GPNN_GRID_FACTORS];
  uint32_t *level[GPNN_GRID_FACTORS]; /* owned; n_rows: whose rows they are, as places have them */
  double *k[GPNN_GRID_FACTORS];   /* owned; n_rows by the factor's levels: of the first factor times
                                     the kernel scale */
  double *own[GPNN_GRID_FACTORS]; /* owned; n_rows: the variance of each level, likewise */
};

struct gpnn_grid_engine_ops {
  const char *name;
  bool exact_variance; /* unless asked for samples */
  /* Prepares solves; 'state' gets what free() takes.  NULL: the posterior's system is all that is
   * needed, and there is nothing to free. */
  enum gpnn_status (*make)(const struct gpnn_grid_posterior *posterior, void **state,
                           struct gpnn_error *err);
  /* Solves A x = b for padded blocks; 'x' has starting values.  Adds to 'report'. */
  enum gpnn_status (*solve)(const struct gpnn_grid_posterior *posterior, double tolerance,
                            size_t columns, const double *b, double *x,
                            struct gpnn_cg_report *report, struct gpnn_error *err);
  /* Exact variances of the places of 'rows', or bounds above them. */
  enum gpnn_status (*variance)(const struct gpnn_grid_posterior *posterior,
                               const struct gpnn_grid_rows *rows, double *variance,
                               struct gpnn_error *err);
  double (*jitter)(const void *state); /* what was added to A; NULL: it never adds any */
  void (*free)(void *state);
};

extern const struct gpnn_grid_engine_ops gpnn_grid_dense_ops;
extern const struct gpnn_grid_engine_ops gpnn_grid_complete_ops;
extern const struct gpnn_grid_engine_ops gpnn_grid_latent_ops;

struct gpnn_grid_posterior {
  const struct gpnn_grid *grid;
  const struct gpnn_parameters *parameters;
  struct gpnn_grid_posterior_options options;
  size_t dims[GPNN_GRID_FACTORS];      /* levels of each factor */
  size_t outer, inner;                 /* p and q */
  double *prepared[GPNN_GRID_FACTORS]; /* owned; the levels as kernels see them */
  struct gpnn_grid_means means;
  struct gpnn_grid_system *system; /* owned */
  const struct gpnn_grid_engine_ops *ops;
  void *engine; /* owned */
  bool has_draws, exact_variance;
  struct gpnn_grid_root root[GPNN_GRID_FACTORS]; /* if there are draws */
  double *y;        /* owned; padded: values of the observed cells without the means of levels */
  double *alpha;    /* owned; n_cells */
  double *weights;  /* owned; padded: alpha */
  double *mean;     /* owned; outer by inner: of all cells, without the means of levels */
  double *variance; /* owned; likewise, from draws; NULL: exact, or none */
  size_t width;     /* draws in a block, but for the last */
  double **blocks;  /* owned, with its elements: A^-1 (y - P f - e) of the draws, padded blocks of
                       'width'; NULL: not kept */
  struct gpnn_cg_report report;
  size_t solved;              /* columns so far, for progress */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* How many blocks of draws there are; draws in block 'b'. */
size_t gpnn_grid_n_blocks(const struct gpnn_grid_posterior *posterior);
size_t gpnn_grid_block_draws(const struct gpnn_grid_posterior *posterior, size_t b);

/* Fails with the worst residual. */
enum gpnn_status gpnn_grid_not_converged(double tolerance, const struct gpnn_cg_report *report,
                                         struct gpnn_error *err);

/* The tolerance of means and exact variances. */
double gpnn_grid_exact_tolerance(const struct gpnn_grid_posterior *posterior);

/* Solves A x = b by the engine, and adds to the report.  GPNN_ENUMERIC: without success, unless
 * that is accepted. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_posterior_solve(struct gpnn_grid_posterior *posterior,
                                                           double tolerance, size_t columns,
                                                           const double *b, double *x,
                                                           struct gpnn_error *err);

/* ---- posterior_draws.c -------------------------------------------------------------------- */

/* Fills the standard normal numbers behind the 'columns' draws from 'first' on, padded. */
void gpnn_grid_draw_normals(const struct gpnn_grid_posterior *posterior, size_t first,
                            size_t columns, double *z);

/* Makes the roots, solves for all draws, and sums up the variance of the grid's cells, and their
 * mean if that is wanted of draws.  posterior->mean is that of alpha. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_make_draws(struct gpnn_grid_posterior *posterior,
                                                      struct gpnn_error *err);

/* ---- posterior_predict.c ------------------------------------------------------------------ */

/* Finds the rows of covariances of 'count' places, numbered 'chosen'.  'number' has room for count
 * * n_factors, and is borrowed.  'rows' must be zeroed, and is released by the caller whatever the
 * outcome: GPNN_EDATA, of a new level that cannot be; GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_rows_make(struct gpnn_grid_rows *rows,
                                                     const struct gpnn_grid_posterior *posterior,
                                                     const struct gpnn_grid_places *places,
                                                     size_t count, const size_t *chosen,
                                                     uint32_t *number, struct gpnn_error *err);

void gpnn_grid_rows_release(struct gpnn_grid_rows *rows, size_t n_factors);

/* The mean of a level of the factor that has means: 'number' is as places have it. */
struct gpnn_grid_level {
  bool is_known; /* it was removed from the values of the level's cells */
  double x;      /* where it is in the series of means */
  double mean, variance;
};

struct gpnn_grid_level gpnn_grid_find_level(const struct gpnn_grid_posterior *posterior,
                                            const struct gpnn_grid_places *places, size_t number);

/* That of the level of place 'i'; zeroed if there are no means. */
struct gpnn_grid_level gpnn_grid_level_of(const struct gpnn_grid_posterior *posterior,
                                          const struct gpnn_grid_places *places, size_t i);

/* The products of a place's rows of all factors but the first, those of factor a having dims[a]
 * numbers: one for each combination, to 'inner'. */
void gpnn_grid_inner_row(size_t n_factors, double *const *k, const size_t *dims,
                         const uint32_t *number, double *inner);

/*
 * Values of 'columns' padded vectors 'x' at places, as sums of products with the rows of 'k', whose
 * rows have 'dims' numbers: writes n by columns.  What the value of one place is does not depend on
 * the others.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_evaluate(size_t n_factors, const size_t *dims,
                                                    double *const *k, size_t n,
                                                    const uint32_t *number, size_t columns,
                                                    const double *x, int threads, double *values,
                                                    struct gpnn_error *err);

#endif
