#include "vecchia/regress.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/cholesky.h"
#include "vecchia/vecchia.h"

/* Rows whose residuals are held at a time: bounds memory, changes no result. */
enum { CHUNK = 4096 };

/* A term of which less than this share of its squares is left once the terms before it have been
 * taken out is a combination of them, as far as rounding can tell. */
static const double collinear = 1e-10;

/* ---- rows --------------------------------------------------------------------------------- */

void gpnn_regress_rows_release(struct gpnn_regress_rows *rows)
{
  free(rows->x);
  free(rows->values);
  free(rows->noise);
  *rows = (struct gpnn_regress_rows){0};
}

static void copy_row(struct gpnn_regress_rows *rows, size_t i, const struct gpnn_dataset *dataset,
                     enum gpnn_mean mean, size_t row)
{
  size_t d = rows->d, p = dataset->n_regressors, w = rows->n_terms + 1;
  const double *x = dataset->x + row * d;
  memcpy(rows->x + i * d, x, d * sizeof *x);
  gpnn_mean_terms(mean, d, x, p, p == 0 ? NULL : dataset->regressors + row * p,
                  rows->values + i * w);
  rows->values[i * w + rows->n_terms] = dataset->y[row];
  if (rows->noise != NULL) rows->noise[i] = dataset->noise[row];
}

enum gpnn_status gpnn_regress_draw(struct gpnn_regress_rows *rows,
                                   const struct gpnn_dataset *dataset, enum gpnn_mean mean,
                                   size_t n, uint64_t seed, enum gpnn_rng_purpose purpose,
                                   struct gpnn_error *err)
{
  struct gpnn_regress_rows drawn = {.n = n, .d = dataset->d};
  drawn.n_terms = gpnn_mean_width(mean, dataset->d, dataset->n_regressors);
  uint64_t *chosen = gpnn_alloc(n, 1, sizeof *chosen);
  drawn.x = gpnn_alloc(n, drawn.d, sizeof *drawn.x);
  drawn.values = gpnn_alloc(n, drawn.n_terms + 1, sizeof *drawn.values);
  if (dataset->noise != NULL) drawn.noise = gpnn_alloc(n, 1, sizeof *drawn.noise);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, purpose);
  enum gpnn_status status = chosen == NULL || drawn.x == NULL || drawn.values == NULL ||
                                    (dataset->noise != NULL && drawn.noise == NULL)
                                ? gpnn_fail_memory(err, "for the rows to regress on")
                                : gpnn_rng_sample(&rng, dataset->n, n, chosen, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    copy_row(&drawn, i, dataset, mean, (size_t)chosen[i]);
  free(chosen);
  if (status == GPNN_OK)
    *rows = drawn;
  else
    gpnn_regress_rows_release(&drawn);
  return status;
}

struct gpnn_whiten_rows gpnn_regress_view(const struct gpnn_regress_rows *rows, size_t m,
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

enum gpnn_status gpnn_regress_sums_init(struct gpnn_regress_sums *sums, size_t n_terms,
                                        struct gpnn_error *err)
{
  double *products = gpnn_alloc(n_terms + 1, n_terms + 1, sizeof *products);
  if (products == NULL) return gpnn_fail_memory(err, "for a regression");
  *sums = (struct gpnn_regress_sums){.n_terms = n_terms, .products = products};
  return GPNN_OK;
}

void gpnn_regress_sums_release(struct gpnn_regress_sums *sums)
{
  free(sums->products);
  *sums = (struct gpnn_regress_sums){0};
}

void gpnn_regress_add(struct gpnn_regress_sums *sums, const double *residuals, double variance)
{
  size_t w = sums->n_terms + 1;
  for (size_t j = 0; j < w; j++) {
    double weight = residuals[j] / variance;
    for (size_t i = j; i < w; i++) sums->products[j * w + i] += weight * residuals[i];
  }
  sums->n_rows++;
}

enum gpnn_status gpnn_regress_add_all(struct gpnn_regress_sums *sums,
                                      const struct gpnn_whiten_rows *rows,
                                      const struct gpnn_covariance *covariance,
                                      const double *lengthscale, int threads,
                                      struct gpnn_error *err)
{
  size_t w = rows->n_values;
  double *residuals = gpnn_alloc(CHUNK, w, sizeof *residuals);
  double *variances = gpnn_alloc(CHUNK, 1, sizeof *variances);
  enum gpnn_status status = GPNN_OK;
  if (residuals == NULL || variances == NULL) status = gpnn_fail_memory(err, "for a regression");
  for (size_t begin = 0; begin < rows->n && status == GPNN_OK; begin += CHUNK) {
    size_t end = rows->n - begin < CHUNK ? rows->n : begin + CHUNK;
    status = gpnn_whiten(rows, covariance, lengthscale, begin, end, NULL, threads, residuals,
                         variances, &sums->jitter, err);
    /* By one thread, so that rounding does not depend on how rows were shared out. */
    for (size_t i = 0; i < end - begin && status == GPNN_OK; i++)
      gpnn_regress_add(sums, residuals + i * w, variances[i]);
  }
  free(residuals);
  free(variances);
  return status;
}

/* ---- solution ----------------------------------------------------------------------------- */

static enum gpnn_status fail_collinear(char *const *names, size_t term, struct gpnn_error *err)
{
  return gpnn_fail(err, GPNN_EDATA,
                   "term '%s' of the mean is a combination of those before it: leave it out",
                   names[term]);
}

/*
 * Factors the products in place, the target's column last, so that its pivot is the square root
 * of what the terms leave of the target.  Column-major, lower triangle, order n_terms + 1.
 */
static enum gpnn_status factor_products(size_t n_terms, double *products, char *const *names,
                                        struct gpnn_error *err)
{
  size_t w = n_terms + 1;
  for (size_t j = 0; j < w; j++) {
    double whole = products[j * w + j], pivot = whole;
    for (size_t k = 0; k < j; k++) pivot -= products[k * w + j] * products[k * w + j];
    if (!isfinite(pivot)) return gpnn_fail(err, GPNN_ENUMERIC, "the regression is not finite");
    if (j < n_terms && !(pivot > collinear * whole)) return fail_collinear(names, j, err);
    /* Terms that explain the target all but exactly may leave it less than nothing. */
    pivot = sqrt(fmax(pivot, 0));
    products[j * w + j] = pivot;
    for (size_t i = j + 1; i < w; i++) {
      for (size_t k = 0; k < j; k++)
        products[j * w + i] -= products[k * w + i] * products[k * w + j];
      products[j * w + i] /= pivot;
    }
  }
  return GPNN_OK;
}

/* From the factor: L'g = l with l the target's row, V = (L L')^-1. */
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

enum gpnn_status gpnn_regress_solve(const struct gpnn_regress_sums *sums, char *const *names,
                                    double *coefficients, double *covariance, double *left,
                                    struct gpnn_error *err)
{
  size_t p = sums->n_terms, w = p + 1;
  double *factor = gpnn_alloc(w, w, sizeof *factor);
  if (factor == NULL) return gpnn_fail_memory(err, "for a regression");
  memcpy(factor, sums->products, w * w * sizeof *factor);
  enum gpnn_status status = factor_products(p, factor, names, err);
  if (status == GPNN_OK) {
    finish_solution(p, factor, coefficients, covariance);
    *left = factor[p * w + p] * factor[p * w + p];
  }
  free(factor);
  return status;
}

enum gpnn_status gpnn_regress_apply(const struct gpnn_regress_sums *sums, char *const *names,
                                    struct gpnn_parameters *params, double *left,
                                    struct gpnn_error *err)
{
  size_t p = sums->n_terms;
  double *coefficients = gpnn_alloc(p, 1, sizeof *coefficients);
  double *covariance = gpnn_alloc(p, p, sizeof *covariance);
  enum gpnn_status status =
      coefficients == NULL || covariance == NULL
          ? gpnn_fail_memory(err, "for a regression")
          : gpnn_regress_solve(sums, names, coefficients, covariance, left, err);
  if (status != GPNN_OK) {
    free(coefficients);
    free(covariance);
    return status;
  }
  free(params->mean.coefficients);
  free(params->mean.covariance);
  params->mean.n_coefficients = p;
  params->mean.coefficients = coefficients;
  params->mean.covariance = covariance;
  return GPNN_OK;
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* Sums over the rows drawn under the parameters' covariance. */
static enum gpnn_status sum_rows(const struct gpnn_regress_rows *rows, const uint32_t *group,
                                 const struct gpnn_regress_options *options,
                                 const struct gpnn_parameters *params,
                                 struct gpnn_regress_sums *sums, struct gpnn_error *err)
{
  size_t m = options->neighbours < rows->n ? options->neighbours : rows->n;
  double *lengthscale = gpnn_alloc(rows->d, 1, sizeof *lengthscale);
  int64_t *order = gpnn_alloc(rows->n, 1, sizeof *order);
  int64_t *neighbours = gpnn_alloc(rows->n, m, sizeof *neighbours);
  struct gpnn_vecchia_options search = GPNN_VECCHIA_OPTIONS_INIT;
  enum gpnn_status status = GPNN_OK;
  if (lengthscale == NULL || order == NULL || neighbours == NULL) {
    status = gpnn_fail_memory(err, "for a regression");
    goto out;
  }
  gpnn_covariance_expand(&params->covariance, rows->d, group, lengthscale);
  for (size_t i = 0; i < rows->n; i++) order[i] = (int64_t)i; /* drawn in random order */
  search.neighbours = m;
  search.lengthscale = lengthscale;
  search.threads = options->threads;
  status =
      gpnn_vecchia_neighbours(rows->n, rows->d, rows->x, order, 0, NULL, &search, neighbours, err);
  struct gpnn_whiten_rows view = gpnn_regress_view(rows, m, neighbours);
  if (status == GPNN_OK)
    status =
        gpnn_regress_add_all(sums, &view, &params->covariance, lengthscale, options->threads, err);
out:
  free(lengthscale);
  free(order);
  free(neighbours);
  return status;
}

enum gpnn_status gpnn_regress(const struct gpnn_dataset *dataset,
                              const struct gpnn_regress_options *options,
                              struct gpnn_parameters *params, struct gpnn_regress_report *report,
                              struct gpnn_error *err)
{
  size_t n = dataset->n < options->most_rows ? dataset->n : options->most_rows;
  struct gpnn_regress_rows rows = {0};
  struct gpnn_regress_sums sums = {0};
  struct gpnn_regress_units units = {0};
  double left;
  if (n == 0 || options->neighbours == 0)
    return gpnn_fail(err, GPNN_EINVAL, "a regression needs rows and neighbours");
  if (params->covariance.n_lengthscales != 1 &&
      params->covariance.n_lengthscales != dataset->n_groups)
    return gpnn_fail(err, GPNN_EMISMATCH, "%zu lengthscales do not fit %zu inputs",
                     params->covariance.n_lengthscales, dataset->n_groups);
  enum gpnn_status status =
      gpnn_regress_draw(&rows, dataset, params->mean.kind, n, options->seed, GPNN_RNG_REGRESS, err);
  if (status == GPNN_OK) status = gpnn_regress_sums_init(&sums, rows.n_terms, err);
  if (status == GPNN_OK) status = sum_rows(&rows, dataset->group, options, params, &sums, err);
  if (status == GPNN_OK) status = gpnn_regress_units_init(&units, dataset, params->mean.kind, err);
  if (status == GPNN_OK) status = gpnn_regress_apply(&sums, units.names, params, &left, err);
  if (status == GPNN_OK) *report = (struct gpnn_regress_report){n, sums.jitter};
  gpnn_regress_units_release(&units);
  gpnn_regress_sums_release(&sums);
  gpnn_regress_rows_release(&rows);
  return status;
}

/* ---- units -------------------------------------------------------------------------------- */

void gpnn_regress_units_release(struct gpnn_regress_units *units)
{
  for (size_t t = 0; units->names != NULL && t < units->n_terms; t++) free(units->names[t]);
  free(units->names);
  free(units->terms);
  *units = (struct gpnn_regress_units){0};
}

/* The name of input 'j', and its moments where it is a column of the table. */
static void describe_input(const struct gpnn_dataset *dataset, size_t j, char name[GPNN_MASK_BYTES],
                           struct gpnn_moments *moments)
{
  const struct gpnn_scaling *scaling = &dataset->scaling;
  size_t feature = 0, kept = 0;
  if (dataset->n_groups != dataset->d) {
    snprintf(name, GPNN_MASK_BYTES, "coordinate %zu", j + 1);
    return;
  }
  gpnn_dataset_group_name(dataset, dataset->group[j], name);
  if (scaling->method != GPNN_SCALING_SCALE) return;
  for (; feature < scaling->n_in; feature++)
    if (scaling->weight[feature] != 0 && kept++ == j) break;
  *moments = (struct gpnn_moments){scaling->mean[feature], 1 / scaling->weight[feature]};
}

/* The name and moments of term 't' of 'mean', of which 'moments' are 0 and 1. */
static void describe_term(const struct gpnn_dataset *dataset, enum gpnn_mean mean, size_t t,
                          char name[GPNN_MASK_BYTES], struct gpnn_moments *moments)
{
  if (t == 0) {
    snprintf(name, GPNN_MASK_BYTES, "constant");
  } else if (mean == GPNN_MEAN_REGRESSORS) {
    const char *column = dataset->schema.regressors[t - 1].name;
    gpnn_mask(name, column, strlen(column));
    *moments = dataset->scaling.regressors[t - 1];
  } else {
    describe_input(dataset, t - 1, name, moments);
  }
}

enum gpnn_status gpnn_regress_units_init(struct gpnn_regress_units *units,
                                         const struct gpnn_dataset *dataset, enum gpnn_mean mean,
                                         struct gpnn_error *err)
{
  struct gpnn_regress_units made = {.n_terms =
                                        gpnn_mean_width(mean, dataset->d, dataset->n_regressors),
                                    .target = {dataset->scaling.y_mean, dataset->scaling.y_sd}};
  made.names = gpnn_alloc(made.n_terms, 1, sizeof *made.names);
  made.terms = gpnn_alloc(made.n_terms, 1, sizeof *made.terms);
  bool enough = made.names != NULL && made.terms != NULL;
  for (size_t t = 0; t < made.n_terms && enough; t++) {
    char name[GPNN_MASK_BYTES];
    made.terms[t] = (struct gpnn_moments){0, 1};
    describe_term(dataset, mean, t, name, &made.terms[t]);
    made.names[t] = gpnn_copy_text(name, strlen(name));
    enough = made.names[t] != NULL;
  }
  if (!enough) {
    gpnn_regress_units_release(&made);
    return gpnn_fail_memory(err, "for the terms of a mean");
  }
  *units = made;
  return GPNN_OK;
}

/* Value and standard error of sum_t weight_t coefficient_t. */
static void combine(const struct gpnn_parameters *params, const double *weight, double *value,
                    double *standard_error)
{
  size_t p = params->mean.n_coefficients;
  double variance = params->mean.covariance == NULL ? NAN : 0;
  *value = 0;
  for (size_t i = 0; i < p; i++) {
    *value += weight[i] * params->mean.coefficients[i];
    for (size_t j = 0; j < p && params->mean.covariance != NULL; j++)
      variance += weight[i] * params->mean.covariance[i * p + j] * weight[j];
  }
  *standard_error = sqrt(variance);
}

enum gpnn_status gpnn_regress_in_units(const struct gpnn_parameters *params,
                                       const struct gpnn_regress_units *units, double *coefficients,
                                       double *standard_errors, struct gpnn_error *err)
{
  size_t p = units->n_terms;
  double *weight = gpnn_alloc(p, 1, sizeof *weight);
  if (weight == NULL) return gpnn_fail_memory(err, "for coefficients");
  for (size_t t = 0; t < p; t++) {
    /* sum_j c_j (x_j - mean_j) / sd_j: the constant takes what the terms' means come to. */
    for (size_t j = 0; j < p; j++)
      weight[j] = t == 0 ? -units->terms[j].mean / units->terms[j].sd : 0;
    weight[t] = 1 / units->terms[t].sd;
    combine(params, weight, coefficients + t, standard_errors + t);
    coefficients[t] = coefficients[t] * units->target.sd + (t == 0 ? units->target.mean : 0);
    standard_errors[t] *= units->target.sd;
  }
  free(weight);
  return GPNN_OK;
}

/* One line of gpnn_regress_describe(). */
static enum gpnn_status comment_one(struct gpnn_parameters *params, const char *term,
                                    const char *target, bool is_constant, double coefficient,
                                    double standard_error, struct gpnn_error *err)
{
  char error[64] = "";
  if (!isnan(standard_error))
    snprintf(error, sizeof error, " (standard error %.2g)", standard_error);
  return gpnn_parameters_comment(params, err, "coefficient %s %.6g%s in %s%s%s", term, coefficient,
                                 error, target, is_constant ? "" : " per unit of ",
                                 is_constant ? "" : term);
}

enum gpnn_status gpnn_regress_describe(struct gpnn_parameters *params,
                                       const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  char target[GPNN_MASK_BYTES];
  const char *column = dataset->schema.target.name;
  struct gpnn_regress_units units = {0};
  double *coefficients = gpnn_alloc(params->mean.n_coefficients, 2, sizeof *coefficients);
  enum gpnn_status status = coefficients == NULL
                                ? gpnn_fail_memory(err, "for coefficients")
                                : gpnn_regress_units_init(&units, dataset, params->mean.kind, err);
  if (status == GPNN_OK) {
    double *standard_errors = coefficients + units.n_terms;
    gpnn_mask(target, column, strlen(column));
    status = gpnn_regress_in_units(params, &units, coefficients, standard_errors, err);
    for (size_t t = 0; t < units.n_terms && status == GPNN_OK; t++)
      status = comment_one(params, units.names[t], target, t == 0, coefficients[t],
                           standard_errors[t], err);
  }
  gpnn_regress_units_release(&units);
  free(coefficients);
  return status;
}
