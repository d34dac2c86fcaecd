/*
 * The likelihood of all cells of a grid: exact where the grid is complete, otherwise a gradient
 * that is estimated from random vectors.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "linalg/blas.h"
#include "linalg/factors/eigen.h"
#include "linalg/iterative/probes.h"
#include "models/grid/fit/fit_private.h"
#include "models/grid/fit/likelihood.h"
#include "models/grid/root.h"
#include "models/grid/system/system.h"
#include "stats/distributions/normal.h"

/* ---- complete grids -------------------------------------------------------------------------- */

/* A complete grid in the basis of its factors' eigenvectors. */
struct complete {
  const struct gpnn_grid_view *view;
  const struct gpnn_parameters *parameters;
  struct gpnn_grid_subset levels; /* borrows the view's: all levels, no cells */
  struct gpnn_grid_factors factors;
  size_t dims[GPNN_GRID_FACTORS], n;
  double *vector[GPNN_GRID_FACTORS]; /* rows are eigenvectors */
  double *value[GPNN_GRID_FACTORS];  /* eigenvalues */
  double *y, *other;                 /* n: targets in that basis; scratch */
  double noise;                      /* of a cell */
};

bool gpnn_grid_likelihood_is_complete(const struct gpnn_grid *grid,
                                      const struct gpnn_parameters *parameters)
{
  bool is_complete = grid->n_cells == gpnn_grid_size(grid) && parameters->grid.noise_factor == 0;
  for (size_t c = 0; is_complete && grid->counts != NULL && c < grid->n_cells; c++)
    is_complete = grid->counts[c] == grid->counts[0];
  return is_complete;
}

static enum gpnn_status decompose(struct complete *c, size_t a, struct gpnn_error *err)
{
  size_t n = c->dims[a];
  c->vector[a] = gpnn_alloc(n, n, sizeof(double));
  c->value[a] = gpnn_alloc(n, 1, sizeof(double));
  if (c->vector[a] == NULL || c->value[a] == NULL) return gpnn_fail_memory(err, "for eigenvectors");
  memcpy(c->vector[a], c->factors.k[a], n * n * sizeof(double));
  enum gpnn_status status = gpnn_eigen(n, c->vector[a], c->value[a], "a factor's covariance", err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < n; i++) c->value[a][i] = fmax(c->value[a][i], 0);
  return GPNN_OK;
}

/* The targets in the basis of the eigenvectors. */
static enum gpnn_status rotate(struct complete *c, struct gpnn_error *err)
{
  const struct gpnn_grid *grid = c->view->grid;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < c->n; i++)
    c->y[i] = grid->y[i] - (c->view->mean == NULL ? 0 : c->view->mean[i]);
  for (size_t a = 0; a < grid->n_factors && status == GPNN_OK; a++) {
    status = gpnn_grid_contract_axis(grid->n_factors, c->dims, 1, a, c->dims[a], c->vector[a], c->y,
                                     c->other, 1, err);
    double *swapped = c->y;
    c->y = c->other;
    c->other = swapped;
  }
  return status;
}

/* The product of the eigenvalues that belong to number 'i', without that of factor 'skip'. */
static double multiply_values(const struct complete *c, size_t i, size_t skip)
{
  double product = 1;
  for (size_t a = c->view->grid->n_factors; a-- > 0;) {
    if (a != skip) product *= c->value[a][i % c->dims[a]];
    i /= c->dims[a];
  }
  return product;
}

/* The derivatives in the elements of factor 'a's matrix: first in the basis of its eigenvectors.
 * 'y' holds A^-1 y there by now. */
static void differentiate_factor(struct complete *c, size_t a, double *scratch)
{
  size_t n = c->dims[a], right = 1;
  double *gamma = c->factors.gamma[a];
  for (size_t b = a + 1; b < c->view->grid->n_factors; b++) right *= c->dims[b];
  for (size_t i = 0; i < c->n; i++) c->other[i] = 0.5 * c->y[i] * multiply_values(c, i, a);
  for (size_t l = 0; l < c->n / (n * right); l++)
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)n, (int)right, 1,
                c->y + l * n * right, (int)right, c->other + l * n * right, (int)right,
                l == 0 ? 0 : 1, gamma, (int)n);
  for (size_t i = 0; i < c->n; i++) {
    double others = multiply_values(c, i, a);
    size_t k = i / right % n;
    gamma[k * n + k] -= 0.5 * others / (others * c->value[a][k] + c->noise);
  }
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)n, (int)n, 1, gamma, (int)n,
              c->vector[a], (int)n, 0, scratch, (int)n);
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)n, (int)n, (int)n, 1, c->vector[a],
              (int)n, scratch, (int)n, 0, gamma, (int)n);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      gamma[i * n + j] = gamma[j * n + i] = 0.5 * (gamma[i * n + j] + gamma[j * n + i]);
}

/* The value; leaves A^-1 y in 'y', and the derivative in the logarithm of the noise variance. */
static double evaluate(struct complete *c, double *noise_gradient)
{
  const struct gpnn_grid *grid = c->view->grid;
  double count = grid->counts == NULL ? 1 : grid->counts[0], cells = (double)c->n;
  double value = cells * GPNN_LOG_TWO_PI, variance = c->parameters->covariance.noise;
  *noise_gradient = 0.5 * (grid->within / variance - cells * (count - 1));
  for (size_t i = 0; i < c->n; i++) {
    double d = multiply_values(c, i, SIZE_MAX) + c->noise, alpha = c->y[i] / d;
    value += c->y[i] * alpha + log(d);
    *noise_gradient += 0.5 * c->noise * (alpha * alpha - 1 / d);
    c->y[i] = alpha;
  }
  value += cells * ((count - 1) * (GPNN_LOG_TWO_PI + log(variance)) + log(count)) +
           grid->within / variance;
  return -0.5 * value;
}

static enum gpnn_status prepare_complete(struct complete *c, bool derivatives,
                                         struct gpnn_error *err)
{
  const struct gpnn_grid *grid = c->view->grid;
  c->n = grid->n_cells;
  c->noise = c->parameters->covariance.noise / (grid->counts == NULL ? 1 : grid->counts[0]);
  c->levels.n_factors = grid->n_factors;
  for (size_t a = 0; a < grid->n_factors; a++) {
    c->dims[a] = grid->factor[a].n;
    c->levels.factor[a] =
        (struct gpnn_grid_subset_factor){c->dims[a], grid->factor[a].d, c->view->prepared[a], NULL};
  }
  c->y = gpnn_alloc(c->n, 1, sizeof *c->y);
  c->other = gpnn_alloc(c->n, 1, sizeof *c->other);
  if (c->y == NULL || c->other == NULL) return gpnn_fail_memory(err, "for vectors of a grid");
  enum gpnn_status status =
      gpnn_grid_factors_make(&c->factors, &c->levels, c->parameters, derivatives, 1, err);
  for (size_t a = 0; a < grid->n_factors && status == GPNN_OK; a++) status = decompose(c, a, err);
  return status == GPNN_OK ? rotate(c, err) : status;
}

static void release_complete(struct complete *c)
{
  gpnn_grid_factors_release(&c->factors);
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) {
    free(c->vector[a]);
    free(c->value[a]);
  }
  free(c->y);
  free(c->other);
}

enum gpnn_status gpnn_grid_likelihood_complete(const struct gpnn_grid_view *view,
                                               const struct gpnn_parameters *parameters,
                                               double *value, double *gradient,
                                               struct gpnn_error *err)
{
  struct complete c = {.view = view, .parameters = parameters};
  size_t at = gpnn_grid_first_coordinate(parameters, view->grid->n_factors) + 1;
  double found = 0, noise_gradient = 0;
  enum gpnn_status status = prepare_complete(&c, gradient != NULL, err);
  if (status == GPNN_OK) found = evaluate(&c, &noise_gradient);
  for (size_t a = 0; a < view->grid->n_factors && status == GPNN_OK && gradient != NULL; a++) {
    double *scratch = gpnn_alloc(c.dims[a], c.dims[a], sizeof *scratch);
    if (scratch == NULL) status = gpnn_fail_memory(err, "for derivatives");
    if (status == GPNN_OK) differentiate_factor(&c, a, scratch);
    free(scratch);
  }
  if (status == GPNN_OK && gradient != NULL) {
    status = gpnn_grid_factors_contract(&c.factors, &c.levels, parameters, 1, gradient, err);
    gradient[at] = noise_gradient;
  }
  if (status == GPNN_OK) *value = found;
  release_complete(&c);
  return status;
}

/* ---- estimates ------------------------------------------------------------------------------- */

/* An estimate in the making.  Blocks are padded: [outer][columns][inner], the targets first. */
struct estimate {
  const struct gpnn_grid_view *view;
  const struct gpnn_parameters *parameters;
  const struct gpnn_grid_estimate_options *options;
  struct gpnn_grid_system *system;
  size_t outer, inner, columns, size; /* of a block */
  size_t dims[GPNN_GRID_FACTORS];
  double *b, *x, *w, *other; /* right-hand sides, solutions, scratch */
  double *own_x;             /* 'x' if the caller has none */
};

static double weight(const struct estimate *e, size_t column)
{
  return column == 0 ? 0.5 : -0.5 / (double)e->options->probes;
}

/* ---- right-hand sides ------------------------------------------------------------------------ */

/* Draws of the process without noise, to all columns of 'b': standard normal ones times the roots
 * of the factors. */
static enum gpnn_status colour(struct estimate *e, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t a = 0; a < e->view->grid->n_factors && status == GPNN_OK; a++) {
    struct gpnn_grid_root root = {0};
    size_t n = e->dims[a];
    status = gpnn_grid_root_make(&root, n, gpnn_grid_system_factor(e->system, a), err);
    if (status == GPNN_OK)
      status = gpnn_grid_contract_axis(e->view->grid->n_factors, e->dims, e->columns, a, n, root.f,
                                       e->b, e->w, e->options->system.threads, err);
    gpnn_grid_root_release(&root);
    double *swapped = e->b;
    e->b = e->w;
    e->w = swapped;
  }
  return status;
}

static enum gpnn_status draw_paths(struct estimate *e, struct gpnn_error *err)
{
  const struct gpnn_grid *grid = e->view->grid;
  const double *noise = gpnn_grid_system_noise(e->system);
  gpnn_probes_draw(GPNN_PROBES_NORMALS, e->options->seed, 0, e->outer, e->columns, e->inner, NULL,
                   e->options->system.threads, e->b);
  enum gpnn_status status = colour(e, err);
  if (status != GPNN_OK) return status;
  memcpy(e->w, e->b, e->size * sizeof *e->w);
  memset(e->b, 0, e->size * sizeof *e->b);
  for (size_t m = 1; m < e->columns; m++) {
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, e->options->seed, GPNN_RNG_GRID_PROBES, m);
    for (size_t c = 0; c < grid->n_cells; c++) {
      size_t cell = (size_t)grid->cell[c];
      size_t at = (cell / e->inner * e->columns + m) * e->inner + cell % e->inner;
      e->b[at] = e->w[at] + sqrt(noise[cell]) * gpnn_rng_normal(&rng);
    }
  }
  return GPNN_OK;
}

/* The targets, and the probes. */
static enum gpnn_status fill_sides(struct estimate *e, struct gpnn_error *err)
{
  const struct gpnn_grid_view *view = e->view;
  enum gpnn_status status = GPNN_OK;
  if (e->options->estimator == GPNN_GRID_ESTIMATOR_PATHWISE)
    status = draw_paths(e, err);
  else
    gpnn_probes_draw(GPNN_PROBES_SIGNS, e->options->seed, 0, e->outer, e->columns, e->inner,
                     gpnn_grid_system_noise(e->system), e->options->system.threads, e->b);
  for (size_t i = 0; i < e->outer; i++)
    memset(e->b + i * e->columns * e->inner, 0, e->inner * sizeof *e->b);
  for (size_t c = 0; c < view->grid->n_cells; c++) {
    size_t cell = (size_t)view->grid->cell[c];
    e->b[cell / e->inner * e->columns * e->inner + cell % e->inner] =
        view->grid->y[c] - (view->mean == NULL ? 0 : view->mean[c]);
  }
  return status;
}

/* ---- derivatives ----------------------------------------------------------------------------- */

/* The other vector of each pair, times its weight, to 'b' (equation 16.54): the solution itself, or
 * under Hutchinson's estimator of probes the probe. */
static void pair(struct estimate *e)
{
  bool probes = e->options->estimator == GPNN_GRID_ESTIMATOR_HUTCHINSON;
  for (size_t i = 0; i < e->outer; i++)
    for (size_t m = 0; m < e->columns; m++) {
      double *v = e->b + (i * e->columns + m) * e->inner;
      const double *u = e->x + (i * e->columns + m) * e->inner;
      for (size_t j = 0; j < e->inner; j++) v[j] = weight(e, m) * (probes && m > 0 ? v[j] : u[j]);
    }
}

/* Writes sum_m U_m K V_m' along axis 'a' to 'gamma', where K has the other factors. */
static enum gpnn_status gather_pairs(struct estimate *e, size_t a, double *gamma,
                                     struct gpnn_error *err)
{
  size_t f = e->view->grid->n_factors, n = e->dims[a], right = 1, left = e->columns;
  enum gpnn_status status = GPNN_OK;
  memcpy(e->w, e->x, e->size * sizeof *e->w);
  for (size_t b = 0; b < f && status == GPNN_OK; b++) {
    if (b == a) continue;
    status = gpnn_grid_contract_axis(f, e->dims, e->columns, b, e->dims[b],
                                     gpnn_grid_system_factor(e->system, b), e->w, e->other,
                                     e->options->system.threads, err);
    double *swapped = e->w;
    e->w = e->other;
    e->other = swapped;
  }
  if (status != GPNN_OK) return status;
  for (size_t b = a + 1; b < f; b++) right *= e->dims[b];
  for (size_t b = 0; b < a; b++) left *= e->dims[b];
  if (a == 0) right *= e->columns;
  if (a == 0) left = 1;
  for (size_t l = 0; l < left; l++)
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)n, (int)right, 1,
                e->w + l * n * right, (int)right, e->b + l * n * right, (int)right, l == 0 ? 0 : 1,
                gamma, (int)n);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      gamma[i * n + j] = gamma[j * n + i] = 0.5 * (gamma[i * n + j] + gamma[j * n + i]);
  return GPNN_OK;
}

/* Derivatives in the logarithms of the noise variances, from the pairs and from repeated cells. */
static void differentiate_noise(const struct estimate *e, double *gradient)
{
  const struct gpnn_grid *grid = e->view->grid;
  const double *noise = gpnn_grid_system_noise(e->system);
  size_t level[GPNN_GRID_FACTORS], a = e->parameters->grid.noise_factor;
  double degrees = (double)(grid->n_observations - grid->n_cells);
  for (size_t i = 0; i < gpnn_grid_n_noise(e->parameters); i++) gradient[i] = 0;
  for (size_t c = 0; c < grid->n_cells; c++) {
    size_t cell = (size_t)grid->cell[c], row = cell / e->inner * e->columns, number = 0;
    double sum = 0, more = grid->counts == NULL ? 0 : grid->counts[c] - 1;
    for (size_t m = 0; m < e->columns; m++) {
      size_t at = (row + m) * e->inner + cell % e->inner;
      sum += e->x[at] * e->b[at];
    }
    if (a > 0) gpnn_grid_levels(grid, grid->cell[c], level);
    if (a > 0) number = level[a - 1];
    gradient[number] += noise[cell] * sum;
    if (more > 0)
      gradient[number] +=
          0.5 * more * (grid->within / degrees / gpnn_grid_noise_value(e->parameters, number) - 1);
  }
}

static enum gpnn_status differentiate(struct estimate *e, double *gradient, struct gpnn_error *err)
{
  const struct gpnn_grid *grid = e->view->grid;
  struct gpnn_grid_factors factors = {.n_factors = grid->n_factors};
  struct gpnn_grid_subset levels = {.n_factors = grid->n_factors}; /* borrows the view's */
  enum gpnn_status status = GPNN_OK;
  size_t at = gpnn_grid_first_coordinate(e->parameters, grid->n_factors) + 1;
  pair(e);
  differentiate_noise(e, gradient + at);
  for (size_t a = 0; a < grid->n_factors && status == GPNN_OK; a++) {
    size_t n = e->dims[a];
    levels.factor[a] =
        (struct gpnn_grid_subset_factor){n, grid->factor[a].d, e->view->prepared[a], NULL};
    factors.gamma[a] = gpnn_alloc(n, n, sizeof(double));
    factors.k[a] = gpnn_alloc(n, a == 0 ? n : 0, sizeof(double));
    if (factors.gamma[a] == NULL || factors.k[a] == NULL)
      status = gpnn_fail_memory(err, "for derivatives");
    if (status == GPNN_OK) status = gather_pairs(e, a, factors.gamma[a], err);
    if (status == GPNN_OK && a == 0)
      memcpy(factors.k[a], gpnn_grid_system_factor(e->system, a), n * n * sizeof(double));
  }
  if (status == GPNN_OK)
    status = gpnn_grid_factors_contract(&factors, &levels, e->parameters,
                                        e->options->system.threads, gradient, err);
  gpnn_grid_factors_release(&factors);
  return status;
}

/* ---- all together ---------------------------------------------------------------------------- */

static enum gpnn_status reserve_estimate(struct estimate *e, double *x, struct gpnn_error *err)
{
  e->outer = gpnn_grid_system_outer(e->system);
  e->inner = gpnn_grid_system_inner(e->system);
  e->columns = 1 + e->options->probes;
  for (size_t a = 0; a < e->view->grid->n_factors; a++) e->dims[a] = e->view->grid->factor[a].n;
  size_t row = e->columns * e->inner;
  e->size = e->outer * row;
  e->b = gpnn_alloc(e->outer, row, sizeof *e->b);
  e->w = gpnn_alloc(e->outer, row, sizeof *e->w);
  e->other = gpnn_alloc(e->outer, row, sizeof *e->other);
  if (x == NULL) e->own_x = gpnn_alloc(e->outer, row, sizeof *e->own_x);
  e->x = x == NULL ? e->own_x : x;
  bool is_complete = e->b != NULL && e->w != NULL && e->other != NULL && e->x != NULL;
  return is_complete ? GPNN_OK : gpnn_fail_memory(err, "for vectors of a grid");
}

enum gpnn_status gpnn_grid_likelihood_estimate(const struct gpnn_grid_view *view,
                                               const struct gpnn_parameters *parameters,
                                               const struct gpnn_grid_estimate_options *options,
                                               double *x, double *gradient,
                                               struct gpnn_cg_report *report,
                                               struct gpnn_error *err)
{
  struct estimate e = {.view = view, .parameters = parameters, .options = options};
  enum gpnn_status status =
      gpnn_grid_system_new(&e.system, view->grid, parameters, &options->system, err);
  if (status == GPNN_OK) status = reserve_estimate(&e, x, err);
  if (status == GPNN_OK) status = fill_sides(&e, err);
  if (status == GPNN_OK)
    status = gpnn_grid_system_solve(e.system, e.columns, e.b, e.x, &options->solve, report, err);
  if (status == GPNN_OK && gradient != NULL) status = differentiate(&e, gradient, err);
  free(e.b);
  free(e.w);
  free(e.other);
  free(e.own_x);
  gpnn_grid_system_free(e.system);
  return status;
}
