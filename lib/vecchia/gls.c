#include "vecchia/gls.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernel/coefficients.h"
#include "linalg/factors/cholesky.h"

/* Rows whose residuals are held at a time: bounds memory, changes no result. */
enum { CHUNK = 4096 };

/* A term that keeps less than this fraction of its squares when the terms before it are projected
 * out is a combination of them, to within rounding. */
static const double collinear = 1e-10;

/* ---- rows --------------------------------------------------------------------------------- */

void gpnn_gls_rows_release(struct gpnn_gls_rows *rows)
{
  free(rows->x);
  free(rows->values);
  free(rows->noise);
  free(rows->group);
  *rows = (struct gpnn_gls_rows){0};
}

static void copy_row(struct gpnn_gls_rows *rows, size_t i, const struct gpnn_dataset *dataset,
                     enum gpnn_mean mean, size_t row)
{
  size_t d = rows->d, p = dataset->n_regressors, w = rows->n_terms + 1;
  const double *x = dataset->x + row * d;
  memcpy(rows->x + i * d, x, d * sizeof *x);
  gpnn_mean_terms(mean, d, x, p, p == 0 ? NULL : dataset->regressors + row * p,
                  rows->values + i * w);
  rows->values[i * w + rows->n_terms] = dataset->y[row];
  if (rows->noise != NULL) rows->noise[i] = dataset->noise[row];
  if (rows->group != NULL) rows->group[i] = dataset->row_group[row];
}

enum gpnn_status gpnn_gls_draw_rows(struct gpnn_gls_rows *rows, const struct gpnn_dataset *dataset,
                                    enum gpnn_mean mean, size_t n, uint64_t seed,
                                    enum gpnn_rng_purpose purpose, struct gpnn_error *err)
{
  struct gpnn_gls_rows drawn = {.n = n, .d = dataset->d, .n_groups = dataset->n_row_groups};
  drawn.n_terms = gpnn_mean_width(mean, dataset->d, dataset->n_regressors);
  uint64_t *chosen = gpnn_alloc(n, 1, sizeof *chosen);
  drawn.x = gpnn_alloc(n, drawn.d, sizeof *drawn.x);
  drawn.values = gpnn_alloc(n, drawn.n_terms + 1, sizeof *drawn.values);
  if (dataset->noise != NULL) drawn.noise = gpnn_alloc(n, 1, sizeof *drawn.noise);
  if (dataset->row_group != NULL) drawn.group = gpnn_alloc(n, 1, sizeof *drawn.group);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, purpose);
  enum gpnn_status status = chosen == NULL || drawn.x == NULL || drawn.values == NULL ||
                                    (dataset->noise != NULL && drawn.noise == NULL) ||
                                    (dataset->row_group != NULL && drawn.group == NULL)
                                ? gpnn_fail_memory(err, "for the rows to regress on")
                                : gpnn_rng_sample(&rng, dataset->n, n, chosen, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    copy_row(&drawn, i, dataset, mean, (size_t)chosen[i]);
  free(chosen);
  if (status == GPNN_OK)
    *rows = drawn;
  else
    gpnn_gls_rows_release(&drawn);
  return status;
}

/* Groups take turns in the order in which they appear; 'seen' has 1 + the turn of each, or 0. */
static enum gpnn_status divide_groups(const struct gpnn_gls_rows *rows, size_t n_folds,
                                      size_t *seen, size_t *fold, struct gpnn_error *err)
{
  size_t n_seen = 0;
  for (size_t i = 0; i < rows->n; i++) {
    if (rows->group[i] >= rows->n_groups)
      return gpnn_fail(err, GPNN_EFORMAT, "damaged: a row has a group that is not there");
    size_t *turn = &seen[rows->group[i]];
    if (*turn == 0) *turn = ++n_seen;
    fold[i] = (*turn - 1) % n_folds;
  }
  if (n_seen > 1) return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA, "all rows are of one group, so that none can be left out");
}

enum gpnn_status gpnn_gls_divide(const struct gpnn_gls_rows *rows, size_t n_folds, size_t *fold,
                                 struct gpnn_error *err)
{
  for (size_t i = 0; i < rows->n; i++) fold[i] = i % n_folds;
  if (rows->group == NULL) return GPNN_OK;
  size_t *seen = gpnn_alloc(rows->n_groups, 1, sizeof *seen);
  if (seen == NULL) return gpnn_fail_memory(err, "for cross-validation");
  enum gpnn_status status = divide_groups(rows, n_folds, seen, fold, err);
  free(seen);
  return status;
}

struct gpnn_whiten_rows gpnn_gls_with_neighbours(const struct gpnn_gls_rows *rows, size_t m,
                                                 const int64_t *neighbours)
{
  return (struct gpnn_whiten_rows){.n = rows->n,
                                   .d = rows->d,
                                   .n_values = rows->n_terms + 1,
                                   .m = m,
                                   .x = rows->x,
                                   .noise = rows->noise,
                                   .values = rows->values,
                                   .neighbours = neighbours};
}

/* ---- sums --------------------------------------------------------------------------------- */

enum gpnn_status gpnn_gls_sums_init(struct gpnn_gls_sums *sums, size_t n_terms,
                                    struct gpnn_error *err)
{
  double *products = gpnn_alloc(n_terms + 1, n_terms + 1, sizeof *products);
  if (products == NULL) return gpnn_fail_memory(err, "for a regression");
  *sums = (struct gpnn_gls_sums){.n_terms = n_terms, .products = products};
  return GPNN_OK;
}

void gpnn_gls_sums_release(struct gpnn_gls_sums *sums)
{
  free(sums->products);
  *sums = (struct gpnn_gls_sums){0};
}

void gpnn_gls_add(struct gpnn_gls_sums *sums, const double *residuals, double variance)
{
  size_t w = sums->n_terms + 1;
  for (size_t j = 0; j < w; j++) {
    double weight = residuals[j] / variance;
    for (size_t i = j; i < w; i++) sums->products[j * w + i] += weight * residuals[i];
  }
  sums->n_rows++;
}

enum gpnn_status gpnn_gls_add_rows(struct gpnn_gls_sums *sums, const struct gpnn_whiten_rows *rows,
                                   const struct gpnn_covariance *covariance,
                                   const double *lengthscale, int threads, struct gpnn_error *err)
{
  size_t w = rows->n_values;
  double *residuals = gpnn_alloc(CHUNK, w, sizeof *residuals);
  double *variances = gpnn_alloc(CHUNK, 1, sizeof *variances);
  enum gpnn_status status = GPNN_OK;
  if (residuals == NULL || variances == NULL) status = gpnn_fail_memory(err, "for a regression");
  for (size_t begin = 0; begin < rows->n && status == GPNN_OK; begin += CHUNK) {
    size_t end = rows->n - begin < CHUNK ? rows->n : begin + CHUNK;
    status = gpnn_whiten(rows, covariance, lengthscale, begin, end, NULL, threads, residuals,
                         variances, NULL, &sums->jitter, err);
    /* On one thread: the order of additions must not depend on the number of threads. */
    for (size_t i = 0; i < end - begin && status == GPNN_OK; i++)
      gpnn_gls_add(sums, residuals + i * w, variances[i]);
  }
  free(residuals);
  free(variances);
  return status;
}

/* ---- solution ----------------------------------------------------------------------------- */

/* The precision of the coefficient of a term that is dropped. */
static const double of_dropped = 1e12;

static enum gpnn_status fail_collinear(char *const *names, size_t term, struct gpnn_error *err)
{
  return gpnn_fail(err, GPNN_EDATA,
                   "term '%s' of the mean is a combination of those before it: leave it out",
                   names[term]);
}

/*
 * Factors the products in place: column-major, lower triangle, order n_terms + 1.  The target comes
 * last, so that its pivot is the square root of the residual sum of squares.
 */
static enum gpnn_status factor_products(size_t n_terms, double *products, char *const *names,
                                        bool drops, struct gpnn_error *err)
{
  size_t w = n_terms + 1;
  for (size_t j = 0; j < w; j++) {
    double whole = products[j * w + j], pivot = whole;
    for (size_t k = 0; k < j; k++) pivot -= products[k * w + j] * products[k * w + j];
    if (!isfinite(pivot)) return gpnn_fail(err, GPNN_ENUMERIC, "the regression is not finite");
    bool is_dropped = j < n_terms && !(pivot > collinear * whole);
    if (is_dropped && !drops) return fail_collinear(names, j, err);
    /* If the terms explain the target almost exactly, rounding may make this negative. */
    pivot = sqrt(is_dropped ? of_dropped : fmax(pivot, 0));
    products[j * w + j] = pivot;
    for (size_t i = j + 1; i < w; i++) {
      if (is_dropped) products[j * w + i] = 0;
      if (is_dropped) continue;
      for (size_t k = 0; k < j; k++)
        products[j * w + i] -= products[k * w + i] * products[k * w + j];
      products[j * w + i] /= pivot;
    }
  }
  return GPNN_OK;
}

/* From the factor L of the terms and the target's row l: L'g = l, V = (L L')^-1. */
static void finish_solution(size_t n_terms, const double *factor, double *coefficients,
                            double *covariance)
{
  size_t w = n_terms + 1;
  for (size_t j = n_terms; j-- > 0;) {
    coefficients[j] = factor[j * w + n_terms];
    for (size_t i = j + 1; i < n_terms; i++) coefficients[j] -= factor[j * w + i] * coefficients[i];
    coefficients[j] /= factor[j * w + j];
    for (size_t i = j; i < n_terms; i++) covariance[j * n_terms + i] = factor[j * w + i];
  }
  gpnn_cholesky_invert(n_terms, covariance, NULL);
  for (size_t j = 0; j < n_terms; j++)
    for (size_t i = j + 1; i < n_terms; i++)
      covariance[i * n_terms + j] = covariance[j * n_terms + i];
}

enum gpnn_status gpnn_gls_solve(const struct gpnn_gls_sums *sums, char *const *names, bool drops,
                                double *coefficients, double *covariance, double *residual,
                                struct gpnn_error *err)
{
  size_t p = sums->n_terms, w = p + 1;
  double *factor = gpnn_alloc(w, w, sizeof *factor);
  if (factor == NULL) return gpnn_fail_memory(err, "for a regression");
  memcpy(factor, sums->products, w * w * sizeof *factor);
  enum gpnn_status status = factor_products(p, factor, names, drops, err);
  if (status == GPNN_OK) {
    finish_solution(p, factor, coefficients, covariance);
    *residual = factor[p * w + p] * factor[p * w + p];
  }
  free(factor);
  return status;
}

enum gpnn_status gpnn_gls_set_coefficients(const struct gpnn_gls_sums *sums, char *const *names,
                                           struct gpnn_mean_function *mean, double *residual,
                                           struct gpnn_error *err)
{
  size_t p = sums->n_terms;
  double *coefficients = gpnn_alloc(p, 1, sizeof *coefficients);
  double *covariance = gpnn_alloc(p, p, sizeof *covariance);
  enum gpnn_status status = coefficients == NULL || covariance == NULL
                                ? gpnn_fail_memory(err, "for a regression")
                                : gpnn_gls_solve(sums, names, mean->kind == GPNN_MEAN_LINEAR,
                                                 coefficients, covariance, residual, err);
  if (status != GPNN_OK) {
    free(coefficients);
    free(covariance);
    return status;
  }
  free(mean->coefficients);
  free(mean->covariance);
  mean->n_coefficients = p;
  mean->coefficients = coefficients;
  mean->covariance = covariance;
  return GPNN_OK;
}

/* ---- whole data sets ---------------------------------------------------------------------- */

enum gpnn_status gpnn_gls_add_dataset(struct gpnn_gls_sums *sums,
                                      const struct gpnn_dataset *dataset, enum gpnn_mean mean,
                                      const struct gpnn_covariance *covariance, size_t n,
                                      enum gpnn_rng_purpose purpose,
                                      const struct gpnn_vecchia_options *options,
                                      struct gpnn_error *err)
{
  size_t m = options->neighbours < n ? options->neighbours : n;
  struct gpnn_gls_rows rows = {0};
  double *lengthscale = gpnn_alloc(dataset->d, 1, sizeof *lengthscale);
  int64_t *order = gpnn_alloc(n, 1, sizeof *order);
  int64_t *neighbours = gpnn_alloc(n, m, sizeof *neighbours);
  struct gpnn_vecchia_options search = *options;
  enum gpnn_status status = GPNN_OK;
  if (lengthscale == NULL || order == NULL || neighbours == NULL) {
    status = gpnn_fail_memory(err, "for a regression");
    goto out;
  }
  gpnn_covariance_expand(covariance, dataset->d, dataset->group, lengthscale);
  for (size_t i = 0; i < n; i++) order[i] = (int64_t)i; /* the rows are drawn in random order */
  search.neighbours = m;
  search.lengthscale = lengthscale;
  status = gpnn_gls_draw_rows(&rows, dataset, mean, n, options->seed, purpose, err);
  if (status == GPNN_OK)
    status = gpnn_vecchia_neighbours(n, rows.d, rows.x, order, 0, NULL, &search, neighbours, err);
  struct gpnn_whiten_rows view = gpnn_gls_with_neighbours(&rows, m, neighbours);
  if (status == GPNN_OK)
    status = gpnn_gls_add_rows(sums, &view, covariance, lengthscale, options->threads, err);
out:
  gpnn_gls_rows_release(&rows);
  free(lengthscale);
  free(order);
  free(neighbours);
  return status;
}

/* ---- coefficients of a data set ----------------------------------------------------------- */

enum gpnn_status gpnn_regress(const struct gpnn_dataset *dataset,
                              const struct gpnn_regress_options *options,
                              struct gpnn_parameters *params, struct gpnn_regress_report *report,
                              struct gpnn_error *err)
{
  size_t n = dataset->n < options->most_rows ? dataset->n : options->most_rows;
  struct gpnn_gls_sums sums = {0};
  struct gpnn_coefficient_units units = {0};
  struct gpnn_vecchia_options vecchia = GPNN_VECCHIA_OPTIONS_INIT;
  double residual;
  if (n == 0 || options->neighbours == 0)
    return gpnn_fail(err, GPNN_EINVAL, "a regression needs rows and neighbours");
  vecchia.neighbours = options->neighbours;
  vecchia.seed = options->seed;
  vecchia.threads = options->threads;
  if (params->covariance.n_lengthscales != 1 &&
      params->covariance.n_lengthscales != dataset->n_groups)
    return gpnn_fail(err, GPNN_EMISMATCH, "%zu lengthscales do not fit %zu inputs",
                     params->covariance.n_lengthscales, dataset->n_groups);
  size_t n_terms = gpnn_mean_width(params->mean.kind, dataset->d, dataset->n_regressors);
  enum gpnn_status status = gpnn_gls_sums_init(&sums, n_terms, err);
  if (status == GPNN_OK)
    status = gpnn_gls_add_dataset(&sums, dataset, params->mean.kind, &params->covariance, n,
                                  GPNN_RNG_REGRESS, &vecchia, err);
  if (status == GPNN_OK)
    status = gpnn_coefficient_units_init(&units, dataset, params->mean.kind, err);
  if (status == GPNN_OK)
    status = gpnn_gls_set_coefficients(&sums, units.names, &params->mean, &residual, err);
  if (status == GPNN_OK) *report = (struct gpnn_regress_report){n, sums.jitter};
  gpnn_coefficient_units_release(&units);
  gpnn_gls_sums_release(&sums);
  return status;
}
