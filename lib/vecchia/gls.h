/*
 * gls: coefficients of the mean by generalised least squares, from whitened rows (gpnn-methods(7),
 * equations 6.6 and 6.7).
 *
 * With the terms T (n by p) of the mean (kernel/mean.h) and the covariance M of the target,
 *   g = V T'M^-1 y,   V = (T'M^-1 T)^-1,   residual y'M^-1 y - g'V^-1 g.
 * M is in Vecchia's form (vecchia/vecchia.h): each row is whitened given its nearest earlier rows
 * (vecchia/whiten.h), which leaves nothing but sums over rows to be formed.  With as many
 * neighbours as there are rows M is exact.
 *
 * Calling sequence: gpnn_gls_sums_init(), any of gpnn_gls_add*(), gpnn_gls_solve() or
 * gpnn_gls_set_coefficients(), gpnn_gls_sums_release().
 */
#ifndef GPNN_VECCHIA_GLS_H
#define GPNN_VECCHIA_GLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/covariance.h"
#include "kernel/mean.h"
#include "kernel/parameters.h"
#include "linalg/factors/jitter.h"
#include "vecchia/vecchia.h"
#include "vecchia/whiten.h"

/* ---- rows --------------------------------------------------------------------------------- */

/* Random rows of a data set in random order; their values are the terms of the mean and then the
 * target.  Arrays are owned; a zeroed object may be released. */
struct gpnn_gls_rows {
  size_t n, d, n_terms;
  double *x;       /* n by d */
  double *values;  /* n by n_terms + 1 */
  double *noise;   /* n known noise variances, or NULL */
  uint32_t *group; /* n: which of n_groups each belongs to (dataset/dataset.h), or NULL */
  size_t n_groups;
};

/* Draws 'n' <= dataset->n rows with the random numbers of 'purpose'.  'rows' must be zeroed, and
 * still is after a failure, which is GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_gls_draw_rows(struct gpnn_gls_rows *rows,
                                                    const struct gpnn_dataset *dataset,
                                                    enum gpnn_mean mean, size_t n, uint64_t seed,
                                                    enum gpnn_rng_purpose purpose,
                                                    struct gpnn_error *err);

/* Divides the rows evenly among 'n_folds' folds, or their groups if they have any: 'fold' (n) gets
 * the fold of each, from 0.  Folds may be empty.  GPNN_EDATA: all rows are of one group.
 * GPNN_EFORMAT: a group is not among those there are.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_gls_divide(const struct gpnn_gls_rows *rows, size_t n_folds,
                                                 size_t *fold, struct gpnn_error *err);

/* The same rows with the lists of 'm' neighbours each that gpnn_whiten() takes; both borrowed. */
struct gpnn_whiten_rows gpnn_gls_with_neighbours(const struct gpnn_gls_rows *rows, size_t m,
                                                 const int64_t *neighbours);

void gpnn_gls_rows_release(struct gpnn_gls_rows *rows);

/* ---- sums --------------------------------------------------------------------------------- */

/* Sums over rows of z z' / variance, where z are the residuals of the terms and of the target. */
struct gpnn_gls_sums {
  size_t n_terms, n_rows;
  double *products; /* owned; (n_terms + 1) squared, lower triangle in column-major order */
  struct gpnn_jitter jitter; /* of the rows whitened */
};

/* Sets sums to zero; the caller releases them.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_gls_sums_init(struct gpnn_gls_sums *sums, size_t n_terms,
                                                    struct gpnn_error *err);

/* Adds one row: 'residuals' (n_terms + 1) with 'variance', as gpnn_whiten() writes them. */
void gpnn_gls_add(struct gpnn_gls_sums *sums, const double *residuals, double variance);

/* Whitens 'rows' as gpnn_whiten() does, and adds them in their order. */
GPNN_MUST_CHECK enum gpnn_status gpnn_gls_add_rows(struct gpnn_gls_sums *sums,
                                                   const struct gpnn_whiten_rows *rows,
                                                   const struct gpnn_covariance *covariance,
                                                   const double *lengthscale, int threads,
                                                   struct gpnn_error *err);

/*
 * Draws 'n' <= dataset->n rows with the random numbers of 'purpose', finds the nearest earlier rows
 * of each under the lengthscales of 'covariance', and adds them.  'options' say how many neighbours
 * (at most n are used), how to search, seed and threads; their lengthscale is ignored.
 * Cost O(n (m^3/3 + m^2 (d + p))) and the search; memory O(n m).  Fails as gpnn_whiten() and
 * gpnn_vecchia_neighbours() do.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_gls_add_dataset(struct gpnn_gls_sums *sums, const struct gpnn_dataset *dataset,
                     enum gpnn_mean mean, const struct gpnn_covariance *covariance, size_t n,
                     enum gpnn_rng_purpose purpose, const struct gpnn_vecchia_options *options,
                     struct gpnn_error *err);

void gpnn_gls_sums_release(struct gpnn_gls_sums *sums);

/* ---- solution ----------------------------------------------------------------------------- */

/*
 * Writes g (n_terms) to 'coefficients', V (n_terms squared) to 'covariance', and '*residual'.
 * Without terms only '*residual' is written.  GPNN_EDATA: the terms are collinear; the message
 * names the first that is a combination of those before it, out of 'names' (n_terms).  If 'drops',
 * such a term gets the coefficient 0 instead, of next to no variance, as one level of a category
 * has to.  GPNN_ENUMERIC: a sum is not finite.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_gls_solve(const struct gpnn_gls_sums *sums,
                                                char *const *names, bool drops,
                                                double *coefficients, double *covariance,
                                                double *residual, struct gpnn_error *err);

/* The same, with g and V put into 'mean' in place of what it held; a linear mean drops terms. */
GPNN_MUST_CHECK enum gpnn_status gpnn_gls_set_coefficients(const struct gpnn_gls_sums *sums,
                                                           char *const *names,
                                                           struct gpnn_mean_function *mean,
                                                           double *residual,
                                                           struct gpnn_error *err);

/* ---- coefficients of a data set ----------------------------------------------------------- */

/*
 * Estimates the coefficients of a mean on a data set, by generalised least squares
 * (vecchia/gls.h).
 */

struct gpnn_regress_options {
  size_t most_rows;  /* rows used: all, or this many random ones, so that the cost does not
                        grow with n */
  size_t neighbours; /* earlier rows that each is conditioned on; >= 1 */
  uint64_t seed;
  int threads;
};

#define GPNN_REGRESS_OPTIONS_INIT \
  {                               \
    20000, 30, 1, 1               \
  }

struct gpnn_regress_report {
  size_t n_rows;             /* used */
  struct gpnn_jitter jitter; /* of their neighbours' covariance matrices, in standardised
                                y squared */
};

/*
 * Estimates the coefficients of params->mean under params->covariance and the known noise of
 * 'dataset', and puts them and their covariance into 'params' in place of others.  Rows are
 * conditioned on one another in random order.
 * GPNN_EDATA: the terms are collinear; the message names the first that is a combination of those
 * before it.  GPNN_EINVAL: no rows or no neighbours.  GPNN_EMISMATCH: the number of lengthscales
 * does not fit the inputs.  GPNN_ENUMERIC: a covariance matrix is not positive definite.  After a
 * failure 'params' are unchanged.  Cost O(rows (m^3/3 + m^2 (d + p)) + a search); the result does
 * not depend on the number of threads.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_regress(const struct gpnn_dataset *dataset,
                                              const struct gpnn_regress_options *options,
                                              struct gpnn_parameters *params,
                                              struct gpnn_regress_report *report,
                                              struct gpnn_error *err);

#endif
