#include "vecchia/mixed.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/optimize.h"

static const double fixed_variance = 1e4; /* of the prior of fixed effects, relative to s */
static const double least_sd = 1e-4, most_sd = 1e4, most_slant = 100;
static const double least_start = 0.05; /* a search would not get away from less, as it is flat */

void gpnn_mixed_release(struct gpnn_mixed *mixed)
{
  free(mixed->effects);
  free(mixed->covariance);
  gpnn_sparse_factor_release(&mixed->factor);
  *mixed = (struct gpnn_mixed){0};
}

size_t gpnn_mixed_n_covariances(const struct gpnn_mixed_data *data)
{
  size_t n = 0;
  for (size_t g = 0; g < data->n_factors; g++) n += data->factor[g].width * data->factor[g].width;
  return n;
}

/* ---- given D ------------------------------------------------------------------------------ */

struct state {
  const struct gpnn_mixed_data *data;
  struct gpnn_sparse_system *system;
  struct gpnn_sparse_blocks *blocks; /* of D^-1: the fixed effects', then each factor's */
  double *products;                  /* R't */
  double scale;                      /* 0: s is estimated */
  double origin;                     /* the deviance at the start of a search */
  double enough;                     /* a search ends once the deviance changes by less */
  bool is_done, is_current;          /* it has; 'to' is at the best point already */
  double *unit, *point;              /* of a search: its coordinates' units, and the last point */
  struct gpnn_mixed *to;
};

static double row_times(const struct gpnn_sparse_rows *rows, size_t i, const double *b)
{
  double sum = 0;
  for (size_t p = rows->start[i]; p < rows->start[i + 1]; p++)
    sum += rows->value[p] * b[rows->column[p]];
  return sum;
}

/* D^-1 of the covariances, and log|D|. */
static enum gpnn_status invert_covariances(struct state *state, double *log_determinant,
                                           struct gpnn_error *err)
{
  const double *d = state->to->covariance;
  *log_determinant = 0;
  for (size_t g = 1; g <= state->data->n_factors; g++) {
    struct gpnn_sparse_blocks *block = &state->blocks[g];
    double determinant = block->width == 1 ? d[0] : d[0] * d[3] - d[1] * d[1];
    if (!(d[0] > 0 && determinant > 0 && isfinite(determinant)))
      return gpnn_fail(err, GPNN_ENUMERIC,
                       "group effect '%s': its covariance is not positive definite",
                       state->data->factor[g - 1].name);
    block->value[0] = (block->width == 1 ? 1 : d[3]) / determinant;
    block->value[1] = block->width == 1 ? 0 : -d[1] / determinant;
    block->value[2] = block->width == 1 ? 0 : d[0] / determinant;
    *log_determinant += (double)block->n * log(determinant);
    d += block->width * block->width;
  }
  return GPNN_OK;
}

/* The product of a block of D^-1 with the sums of squares and products 'sums' of what belongs to
 * it. */
static double trace(const struct gpnn_sparse_blocks *block, const double sums[3])
{
  return block->value[0] * sums[0] + 2 * block->value[1] * sums[1] + block->value[2] * sums[2];
}

/* The sums over the levels of a factor, or over all fixed effects, of b b', as a lower triangle. */
static void sum_squares(const struct gpnn_sparse_blocks *block, const double *b, double sums[3])
{
  memset(sums, 0, 3 * sizeof *sums);
  for (size_t k = 0; k < block->n; k++, b += block->width) {
    sums[0] += b[0] * b[0];
    if (block->width == 1) continue;
    sums[1] += b[0] * b[1];
    sums[2] += b[1] * b[1];
  }
}

/* |t - R b|^2 + b'D^-1 b. */
static double penalised_sum(const struct state *state)
{
  const struct gpnn_mixed_data *data = state->data;
  const double *b = state->to->effects;
  double sum = 0, sums[3];
  for (size_t i = 0; i < data->rows.n; i++) {
    double residual = data->target[i] - row_times(&data->rows, i, b);
    sum += residual * residual;
  }
  for (size_t g = 0; g <= data->n_factors; g++) {
    sum_squares(&state->blocks[g], b, sums);
    sum += trace(&state->blocks[g], sums);
    b += state->blocks[g].n * state->blocks[g].width;
  }
  return sum;
}

/* Effects, s and deviance given the covariances in state->to. */
static enum gpnn_status evaluate(struct state *state, struct gpnn_error *err)
{
  struct gpnn_mixed *to = state->to;
  double of_covariances, freedom = (double)(state->data->rows.n - state->data->n_fixed);
  enum gpnn_status status = invert_covariances(state, &of_covariances, err);
  if (status == GPNN_OK) status = gpnn_sparse_system_factorise(state->system, state->blocks, err);
  if (status == GPNN_OK)
    status = gpnn_sparse_system_solve(state->system, state->products, to->effects, err);
  if (status != GPNN_OK) return status;
  double sum = penalised_sum(state);
  if (!isfinite(sum)) return gpnn_fail(err, GPNN_ENUMERIC, "effects: the target is not finite");
  to->scale = state->scale > 0 ? state->scale : sum / freedom;
  to->deviance = of_covariances + gpnn_sparse_system_log_determinant(state->system) +
                 freedom * log(2 * M_PI * to->scale) + sum / to->scale;
  to->n_evaluations++;
  return GPNN_OK;
}

/* The factor of A as it is now, and its inverse. */
static enum gpnn_status take_factor(struct state *state, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_sparse_system_factor(state->system, &state->to->factor, err);
  return status == GPNN_OK ? gpnn_sparse_factor_inverse(&state->to->factor, err) : status;
}

/* ---- the search ---------------------------------------------------------------------------- */

/*
 * Of each factor the search moves the logarithms of its standard deviations, relative to the
 * residual one, and if it has a slope c, of which the correlation is c / sqrt(1 + c^2).
 */

static double correlation(double c)
{
  return c / sqrt(1 + c * c);
}

static void set_covariances(const struct gpnn_mixed_data *data, const double *x, double *d)
{
  for (size_t g = 0; g < data->n_factors; g++) {
    if (data->factor[g].width == 1) {
      *d++ = exp(2 * *x++);
      continue;
    }
    d[0] = exp(2 * x[0]);
    d[3] = exp(2 * x[1]);
    d[1] = d[2] = correlation(x[2]) * exp(x[0] + x[1]);
    d += 4;
    x += 3;
  }
}

/* The sums over the levels of a factor, whose first column is 'column', of b b' / s + (A^-1)_ll:
 * what is known of b b' / s given the target. */
static void sum_moments(const struct state *state, const struct gpnn_sparse_blocks *block,
                        size_t column, double sums[3])
{
  const struct gpnn_sparse_factor *factor = &state->to->factor;
  sum_squares(block, state->to->effects + column, sums);
  for (int i = 0; i < 3; i++) sums[i] /= state->to->scale;
  for (size_t k = 0; k < block->n; k++, column += block->width) {
    sums[0] += gpnn_sparse_factor_inverse_at(factor, column, column);
    if (block->width == 1) continue;
    sums[1] += gpnn_sparse_factor_inverse_at(factor, column + 1, column);
    sums[2] += gpnn_sparse_factor_inverse_at(factor, column + 1, column + 1);
  }
}

/*
 * The derivatives of the deviance by the coordinates of one factor at 'x', its covariance being
 * 'd'. By D they are H = n D^-1 - D^-1 M D^-1, where M is the sum of moments: s has none, as it is
 * at its best.
 */
static void differentiate(const struct gpnn_sparse_blocks *block, const double m[3],
                          const double *d, const double *x, double *gradient)
{
  const double *v = block->value;
  double n = (double)block->n;
  if (block->width == 1) {
    gradient[0] = 2 * (n - v[0] * m[0]);
    return;
  }
  double vm[4] = {v[0] * m[0] + v[1] * m[1], v[1] * m[0] + v[2] * m[1], v[0] * m[1] + v[1] * m[2],
                  v[1] * m[1] + v[2] * m[2]}; /* D^-1 M, by columns */
  double h11 = n * v[0] - vm[0] * v[0] - vm[2] * v[1];
  double h21 = n * v[1] - vm[1] * v[0] - vm[3] * v[1];
  double h22 = n * v[2] - vm[1] * v[1] - vm[3] * v[2];
  gradient[0] = 2 * (h11 * d[0] + h21 * d[1]);
  gradient[1] = 2 * (h22 * d[3] + h21 * d[1]);
  gradient[2] = 2 * h21 * exp(x[0] + x[1]) * pow(1 + x[2] * x[2], -1.5);
}

/* The deviance less that at the start, so that tolerances are relative to how far it falls; a
 * gpnn_objective. */
static enum gpnn_status objective(void *context, size_t n, const double *u, double *f,
                                  double *gradient, struct gpnn_error *err)
{
  struct state *state = context;
  const struct gpnn_mixed_data *data = state->data;
  double *x = state->point, before = state->to->deviance;
  if (state->is_done) {
    *f = before - state->origin;
    for (size_t k = 0; k < n && gradient != NULL; k++) gradient[k] = 0;
    return GPNN_OK;
  }
  for (size_t k = 0; k < n; k++) x[k] = u[k] * state->unit[k];
  set_covariances(data, x, state->to->covariance);
  enum gpnn_status status = evaluate(state, err);
  if (status == GPNN_OK && gradient != NULL) status = take_factor(state, err);
  if (status != GPNN_OK) return status;
  if (state->to->n_evaluations == 1) state->origin = state->to->deviance;
  *f = state->to->deviance - state->origin;
  state->is_done =
      state->to->n_evaluations > 1 && fabs(state->to->deviance - before) < state->enough;
  if (gradient == NULL) return GPNN_OK;
  const double *d = state->to->covariance;
  size_t column = data->n_fixed;
  for (size_t g = 1; g <= data->n_factors; g++) {
    const struct gpnn_sparse_blocks *block = &state->blocks[g];
    double moments[3];
    sum_moments(state, block, column, moments);
    differentiate(block, moments, d, x, gradient);
    column += block->n * block->width;
    d += block->width * block->width;
    x += block->width == 1 ? 1 : 3;
    gradient += block->width == 1 ? 1 : 3;
  }
  for (size_t k = 0; k < n; k++) (gradient - n)[k] *= state->unit[k];
  return GPNN_OK;
}

/* The point at which covariances, all positive definite, are 'd', or near it. */
static void find_point(const struct gpnn_mixed_data *data, const double *d, double *x)
{
  for (size_t g = 0; g < data->n_factors; g++) {
    *x++ = fmax(log(d[0]) / 2, log(least_start));
    if (data->factor[g].width == 1) {
      d++;
      continue;
    }
    *x++ = fmax(log(d[3]) / 2, log(least_start));
    *x++ = d[1] / sqrt(d[0] * d[3] - d[1] * d[1]);
    d += 4;
  }
}

/*
 * The unit of each coordinate: the standard error of the logarithm of the standard deviation of so
 * many effects that are known, or of their correlation, so that the search begins with steps of a
 * length that suits.  Returns how many coordinates there are.
 */
static size_t find_units(const struct gpnn_mixed_data *data, double *unit)
{
  size_t n = 0;
  for (size_t g = 0; g < data->n_factors; g++) {
    double levels = (double)data->factor[g].n_levels;
    unit[n++] = 1 / sqrt(4 * levels);
    if (data->factor[g].width == 1) continue;
    unit[n++] = 1 / sqrt(4 * levels);
    unit[n++] = 1 / sqrt(levels);
  }
  return n;
}

static enum gpnn_status search(struct state *state, const double *start, struct gpnn_error *err)
{
  enum { MOST = 200 };
  const struct gpnn_mixed_data *data = state->data;
  struct gpnn_optimize_report report;
  size_t most = 3 * data->n_factors;
  double *u = gpnn_alloc(most, 5, sizeof *u);
  if (u == NULL) return gpnn_fail_memory(err, "for grouped effects");
  double *lower = u + most, *upper = lower + most;
  state->unit = upper + most;
  state->point = state->unit + most;
  size_t n = find_units(data, state->unit);
  if (start != NULL) find_point(data, start, state->point);
  for (size_t g = 0, k = 0; g < data->n_factors; g++)
    for (size_t i = 0; i < (data->factor[g].width == 1 ? 1 : 3); i++, k++) {
      lower[k] = (i < 2 ? log(least_sd) : -most_slant) / state->unit[k];
      upper[k] = (i < 2 ? log(most_sd) : most_slant) / state->unit[k];
      u[k] = fmin(fmax(state->point[k] / state->unit[k], lower[k]), upper[k]);
    }
  enum gpnn_status status =
      gpnn_optimize_lbfgs(objective, state, n, MOST, 0, lower, upper, u, &report, err);
  state->is_current = status == GPNN_OK;
  for (size_t k = 0; k < n; k++) {
    double best = u[k] * state->unit[k];
    state->is_current = state->is_current && best == state->point[k];
    state->point[k] = best;
  }
  if (status == GPNN_OK) set_covariances(data, state->point, state->to->covariance);
  free(u);
  return status;
}

/* ---- entry points -------------------------------------------------------------------------- */

static enum gpnn_status check(const struct gpnn_mixed_data *data, struct gpnn_error *err)
{
  double most = 0;
  if (data->rows.n <= data->n_fixed)
    return gpnn_fail(err, GPNN_EDATA, "%zu rows are too few for %zu fixed effects", data->rows.n,
                     data->n_fixed);
  for (size_t i = 0; i < data->rows.n; i++) most = fmax(most, fabs(data->target[i]));
  if (most == 0) return gpnn_fail(err, GPNN_EDATA, "the target does not vary");
  return GPNN_OK;
}

static enum gpnn_status check_factors(const struct gpnn_mixed_data *data, struct gpnn_error *err)
{
  for (size_t g = 0; g < data->n_factors; g++) {
    const struct gpnn_mixed_factor *factor = &data->factor[g];
    if (factor->n_levels < 2)
      return gpnn_fail(err, GPNN_EDATA,
                       "group effect '%s' has one level only, which the constant stands for "
                       "already: leave it out",
                       factor->name);
    if (factor->n_levels * factor->width >= data->rows.n)
      return gpnn_fail(
          err, GPNN_EDATA,
          "group effect '%s' has %zu effects in %zu rows, which cannot be told from noise",
          factor->name, factor->n_levels * factor->width, data->rows.n);
  }
  return GPNN_OK;
}

static void release(struct state *state)
{
  gpnn_sparse_system_free(state->system);
  free(state->blocks);
  free(state->products);
}

/* Sets up 'state' for 'data', whose result is to be 'to'. */
static enum gpnn_status begin(struct state *state, const struct gpnn_mixed_data *data,
                              struct gpnn_mixed *to, struct gpnn_error *err)
{
  const struct gpnn_sparse_rows *rows = &data->rows;
  *state = (struct state){.data = data, .to = to};
  *to = (struct gpnn_mixed){.n_effects = rows->n_columns,
                            .n_covariances = gpnn_mixed_n_covariances(data)};
  to->effects = gpnn_alloc(to->n_effects, 1, sizeof *to->effects);
  to->covariance = gpnn_alloc(to->n_covariances, 1, sizeof *to->covariance);
  state->blocks = gpnn_alloc(data->n_factors + 1, 1, sizeof *state->blocks);
  state->products = gpnn_alloc(to->n_effects, 1, sizeof *state->products);
  if (to->effects == NULL || to->covariance == NULL || state->blocks == NULL ||
      state->products == NULL)
    return gpnn_fail_memory(err, "for grouped effects");
  state->blocks[0] =
      (struct gpnn_sparse_blocks){.n = data->n_fixed, .width = 1, .value = {1 / fixed_variance}};
  for (size_t g = 0; g < data->n_factors; g++) {
    state->blocks[g + 1].n = data->factor[g].n_levels;
    state->blocks[g + 1].width = data->factor[g].width;
  }
  for (size_t i = 0; i < rows->n; i++)
    for (size_t p = rows->start[i]; p < rows->start[i + 1]; p++)
      state->products[rows->column[p]] += rows->value[p] * data->target[i];
  return gpnn_sparse_system_new(rows, data->n_factors + 1, state->blocks, &state->system, err);
}

/* Everything given the covariances in 'to', which is released after any failure, now or before. */
static enum gpnn_status finish(struct state *state, enum gpnn_status status, struct gpnn_error *err)
{
  if (status == GPNN_OK && !state->is_current) status = evaluate(state, err);
  if (status == GPNN_OK && !state->is_current) status = take_factor(state, err);
  if (status != GPNN_OK) gpnn_mixed_release(state->to);
  release(state);
  return status;
}

enum gpnn_status gpnn_mixed_estimate(const struct gpnn_mixed_data *data, const double *start,
                                     struct gpnn_mixed *to, struct gpnn_error *err)
{
  static const double enough = 1e-4; /* of the deviance, a row */
  struct state state;
  enum gpnn_status status = check(data, err);
  if (status == GPNN_OK) status = check_factors(data, err);
  if (status != GPNN_OK) return status;
  status = begin(&state, data, to, err);
  if (start != NULL) state.enough = enough * (double)data->rows.n;
  if (status == GPNN_OK && data->n_factors > 0) status = search(&state, start, err);
  return finish(&state, status, err);
}

enum gpnn_status gpnn_mixed_solve(const struct gpnn_mixed_data *data, const double *covariance,
                                  double scale, struct gpnn_mixed *to, struct gpnn_error *err)
{
  struct state state;
  enum gpnn_status status = check(data, err);
  if (status != GPNN_OK) return status;
  status = begin(&state, data, to, err);
  state.scale = scale;
  if (status == GPNN_OK) memcpy(to->covariance, covariance, to->n_covariances * sizeof *covariance);
  return finish(&state, status, err);
}

/* ---- without a row ------------------------------------------------------------------------- */

void gpnn_mixed_left_out(const struct gpnn_mixed_data *data, const struct gpnn_mixed *mixed,
                         double *leverage, double *contribution)
{
  const struct gpnn_sparse_rows *rows = &data->rows;
  for (size_t i = 0; i < rows->n; i++) {
    double h = 0, fitted = row_times(rows, i, mixed->effects);
    for (size_t p = rows->start[i]; p < rows->start[i + 1]; p++)
      for (size_t k = rows->start[i]; k <= p; k++)
        h += (k < p ? 2 : 1) * rows->value[p] * rows->value[k] *
             gpnn_sparse_factor_inverse_at(&mixed->factor, rows->column[p], rows->column[k]);
    leverage[i] = h;
    contribution[i] = fitted - h / (1 - h) * (data->target[i] - fitted);
  }
}
