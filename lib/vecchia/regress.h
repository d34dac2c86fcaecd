/*
 * regress: coefficients of the mean's terms by generalised least squares (gpnn-methods(7),
 * equations 6.6 and 6.7).
 *
 * With the terms T (n by p) of the mean (kernel/mean.h) and M the covariance of the target,
 *   b = (T'M^-1 T)^-1 T'M^-1 y,   covariance (T'M^-1 T)^-1,
 * M in Vecchia's form (vecchia/vecchia.h, vecchia/whiten.h): rows whitened given their nearest
 * earlier ones, and sums over rows of products of what that leaves.  With as many neighbours as
 * there are rows M is exact.
 */
#ifndef GPNN_VECCHIA_REGRESS_H
#define GPNN_VECCHIA_REGRESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"
#include "dataset/index.h"
#include "kernel/parameters.h"
#include "vecchia/whiten.h"

/* ---- coefficients ------------------------------------------------------------------------- */

struct gpnn_regress_options {
  size_t most_rows;  /* rows used: all, or this many random ones, so that the cost does not
                        grow with n */
  size_t neighbours; /* earlier rows that each is conditioned on */
  uint64_t seed;
  int threads;
};

#define GPNN_REGRESS_OPTIONS_INIT \
  {                               \
    20000, 30, 1, 1               \
  }

struct gpnn_regress_report {
  size_t n_rows;             /* that the coefficients come from */
  struct gpnn_jitter jitter; /* of their neighbours' covariances, in standardised y squared */
};

/*
 * Estimates the coefficients of params->mean under the kernel, the lengthscales, the kernel scale
 * and the noise of 'params' (and the known noise of 'dataset'), and puts them and their
 * covariance into 'params' in the place of others.
 * Rows are conditioned on one another in random order.
 * GPNN_EDATA: the terms are collinear; the sentence names the first that is a combination of
 * those before it.  GPNN_EMISMATCH: lengthscales of other inputs.  GPNN_ENUMERIC: a covariance is
 * not positive definite.  Cost O(rows (m^3/3 + m^2 (d + p)) + a search); the result does not
 * depend on the number of threads.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_regress(const struct gpnn_dataset *dataset,
                                              const struct gpnn_regress_options *options,
                                              struct gpnn_parameters *params,
                                              struct gpnn_regress_report *report,
                                              struct gpnn_error *err);

/* ---- in the table's units ----------------------------------------------------------------- */

/* Names of the mean's terms, the constant's first, and how terms and target were standardised:
 * (value - mean) / sd.  Zeroed, it may be released. */
struct gpnn_regress_units {
  size_t n_terms;
  char **names;               /* owned, n_terms of them; masked */
  struct gpnn_moments *terms; /* owned; n_terms; of the constant 0 and 1 */
  struct gpnn_moments target;
};

/*
 * Fills 'units', which must be zeroed, for 'mean' over 'dataset'.  Terms that are no column of
 * the table (inputs that were mixed, coordinates of a point) stay as they are standardised.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_regress_units_init(struct gpnn_regress_units *units,
                                                         const struct gpnn_dataset *dataset,
                                                         enum gpnn_mean mean,
                                                         struct gpnn_error *err);

void gpnn_regress_units_release(struct gpnn_regress_units *units);

/*
 * Writes the coefficients of params->mean for terms and target in the table's units, and their
 * standard errors, n_terms of each.  The constant is then the mean where every term is zero in
 * the table.  A standard error is NaN where the parameters have no covariance.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_regress_in_units(const struct gpnn_parameters *params, const struct gpnn_regress_units *units,
                      double *coefficients, double *standard_errors, struct gpnn_error *err);

/*
 * Adds them to the comments of 'params', a line each, as in
 *   # coefficient PTC 0.1432 (standard error 0.0021) in FCH per unit of PTC
 * 'dataset' are those they were estimated from.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_regress_describe(struct gpnn_parameters *params,
                                                       const struct gpnn_dataset *dataset,
                                                       struct gpnn_error *err);

/* ---- parts, for methods that build on them ------------------------------------------------ */

/* Random rows of an index in random order, as gpnn_whiten() takes them; values are the terms of
 * the mean and then the target.  Zeroed, it may be released.  Arrays are owned. */
struct gpnn_regress_rows {
  size_t n, d, n_terms;
  double *x;      /* n by d */
  double *values; /* n by n_terms + 1 */
  double *noise;  /* n known noise variances, or NULL */
};

/* Draws 'n' <= contents->n of them, by the random numbers of 'purpose'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_regress_draw(struct gpnn_regress_rows *rows,
                                                   const struct gpnn_dataset *dataset,
                                                   enum gpnn_mean mean, size_t n, uint64_t seed,
                                                   enum gpnn_rng_purpose purpose,
                                                   struct gpnn_error *err);

/* What gpnn_whiten() takes, with 'm' neighbours a row. */
struct gpnn_whiten_rows gpnn_regress_view(const struct gpnn_regress_rows *rows, size_t m,
                                          const int64_t *neighbours);

void gpnn_regress_rows_release(struct gpnn_regress_rows *rows);

/* Sums over rows of z z' / variance, z = (what is left of the terms, of the target). */
struct gpnn_regress_sums {
  size_t n_terms, n_rows;
  double
      *products; /* owned; (n_terms + 1) squared; only [j * (n_terms + 1) + i], i >= j, is used */
  struct gpnn_jitter jitter; /* of the rows that were whitened */
};

/* Sets sums to nothing; GPNN_ENOMEM.  The caller releases them. */
GPNN_MUST_CHECK enum gpnn_status gpnn_regress_sums_init(struct gpnn_regress_sums *sums,
                                                        size_t n_terms, struct gpnn_error *err);

/* Adds one row: 'residuals' (n_terms + 1) of 'variance', as gpnn_whiten() leaves them. */
void gpnn_regress_add(struct gpnn_regress_sums *sums, const double *residuals, double variance);

/* Adds all 'rows', whitened under 'params' and 'lengthscale' (d), in their order. */
GPNN_MUST_CHECK enum gpnn_status gpnn_regress_add_all(struct gpnn_regress_sums *sums,
                                                      const struct gpnn_whiten_rows *rows,
                                                      const struct gpnn_covariance *covariance,
                                                      const double *lengthscale, int threads,
                                                      struct gpnn_error *err);

/*
 * Writes the coefficients g = V T'M^-1 y (n_terms), V = (T'M^-1 T)^-1 (n_terms squared) and
 * '*left' = y'M^-1 y - g'V^-1 g.  GPNN_EDATA as in gpnn_regress(); 'names' (n_terms) are the
 * terms', for its sentence.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_regress_solve(const struct gpnn_regress_sums *sums,
                                                    char *const *names, double *coefficients,
                                                    double *covariance, double *left,
                                                    struct gpnn_error *err);

/* The same, put into 'params' in the place of other coefficients. */
GPNN_MUST_CHECK enum gpnn_status gpnn_regress_apply(const struct gpnn_regress_sums *sums,
                                                    char *const *names,
                                                    struct gpnn_parameters *params, double *left,
                                                    struct gpnn_error *err);

void gpnn_regress_sums_release(struct gpnn_regress_sums *sums);

#endif
