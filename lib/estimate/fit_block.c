/*
 * Estimation from blocks of random rows (gpnn-methods(7), equations 4.2 to 4.9).
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "estimate/fit_private.h"
#include "kernel/kernel.h"
#include "likelihood/logistic.h"
#include "linalg/arrays.h"
#include "linalg/factors/cholesky.h"
#include "linalg/simd.h"
#include "stats/distributions/normal.h"

/* ---- the objective -------------------------------------------------------------------- */

/* What a thread needs to evaluate a block of s rows and d columns. */
struct scratch {
  double *k;                 /* s by s, lower triangle: K, its factor, its inverse, the weights W */
  double *slope;             /* s by s, lower triangle: g(r) */
  double *columns;           /* s by d, column-major: x_j / lengthscale_j */
  double *point;             /* d: one row of 'columns' */
  double *r2;                /* s by s, lower triangle: squared distances */
  double *alpha;             /* s: K^-1 y */
  double *work;              /* gpnn_cholesky_work(s) */
  struct gpnn_jitter jitter; /* of all factorisations so far */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* A block and the parameters it is evaluated at. */
struct block {
  const struct gpnn_parameters *params;
  size_t s, d;
  const uint32_t *group; /* d */
  const double *x, *y;   /* s by d, row-major; s */
  const double *noise;   /* s known noise variances, or NULL */
  struct scratch *scratch;
};

static bool scratch_init(struct scratch *scratch, size_t s, size_t d)
{
  scratch->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(scratch->k, s, s), GPNN_ARRAY(scratch->slope, s, s),
                  GPNN_ARRAY(scratch->columns, s, d), GPNN_ARRAY(scratch->point, d, 1),
                  GPNN_ARRAY(scratch->r2, s, s), GPNN_ARRAY(scratch->alpha, s, 1),
                  GPNN_ARRAY(scratch->work, gpnn_cholesky_work(s), 1));
  return scratch->arrays != NULL;
}

static void scale_columns(const struct block *block)
{
  const struct gpnn_parameters *params = block->params;
  for (size_t j = 0; j < block->d; j++) {
    double l = params->covariance
                   .lengthscale[params->covariance.n_lengthscales == 1 ? 0 : block->group[j]];
    double *column = block->scratch->columns + j * block->s;
    for (size_t i = 0; i < block->s; i++) column[i] = block->x[i * block->d + j] / l;
  }
}

GPNN_SIMD static void multiply(size_t n, double factor, double *x)
{
#pragma omp simd
  for (size_t i = 0; i < n; i++) x[i] *= factor;
}

/* Writes the lower triangles of K to 'k' and of r^2 and g(r) to the scratch. */
static void fill_covariance(void *context, double *k)
{
  const struct block *block = context;
  const struct scratch *scratch = block->scratch;
  size_t s = block->s, d = block->d;
  for (size_t q = 0; q < s; q++) {
    size_t at = q * s + q;
    for (size_t j = 0; j < d; j++) scratch->point[j] = scratch->columns[j * s + q];
    gpnn_kernel_distances(s - q, d, s, scratch->columns + q, scratch->point, scratch->r2 + at);
    block->params->covariance.kernel->with_slope(block->params->covariance.smoothness, s - q,
                                                 scratch->r2 + at, k + at, scratch->slope + at);
    multiply(s - q, block->params->covariance.kernelscale, k + at);
    k[at] += block->params->covariance.noise + (block->noise == NULL ? 0 : block->noise[q]);
  }
}

/* Replaces K^-1 by the weights W of equation 4.5, in n rows of one column: 'alpha' and 'r2' begin
 * at these rows, 'own' is alpha_k of the column.  Returns the sum of W r^2. */
GPNN_SIMD static double weigh(size_t n, double scale, const double *slope, const double *alpha,
                              double own, const double *r2, double *weight)
{
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; i++) {
    weight[i] = scale * slope[i] * (weight[i] - alpha[i] * own);
    sum += weight[i] * r2[i];
  }
  return sum;
}

/*
 * Equations 4.5 to 4.8.  W is symmetric and the differences on its diagonal are 0, so that half the
 * sum of 4.6 is the sum over the lower triangle: O(s^2 d) after the inverse, and O(s^2) for one
 * lengthscale, where the sum over j of the squared differences is r^2.
 */
static void block_gradient(const struct block *block, double *gradient)
{
  const struct gpnn_parameters *params = block->params;
  const struct scratch *scratch = block->scratch;
  const double *alpha = scratch->alpha;
  size_t s = block->s, n_lengthscales = params->covariance.n_lengthscales;
  double trace = 0, squares = 0, fit = 0, by_known_noise = 0;
  gpnn_cholesky_invert(s, scratch->k, scratch->work);
  for (size_t j = 0; j < n_lengthscales; j++) gradient[j] = 0;
  for (size_t q = 0; q < s; q++) {
    size_t at = q * s + q;
    double *weight = scratch->k + at;
    trace += weight[0];
    squares += alpha[q] * alpha[q];
    fit += alpha[q] * block->y[q];
    if (block->noise != NULL) by_known_noise += block->noise[q] * (weight[0] - alpha[q] * alpha[q]);
    double sum = weigh(s - q, params->covariance.kernelscale, scratch->slope + at, alpha + q,
                       alpha[q], scratch->r2 + at, weight);
    if (n_lengthscales == 1) gradient[0] += sum;
    for (size_t j = 0; n_lengthscales > 1 && j < block->d; j++) {
      const double *column = scratch->columns + j * s + q;
      gradient[block->group[j]] += gpnn_kernel_weighted_squares(s - q, weight, column, column[0]);
    }
  }
  double by_noise = 0.5 * params->covariance.noise * (trace - squares);
  gradient[n_lengthscales] = 0.5 * ((double)s - fit - by_known_noise) - by_noise;
  gradient[n_lengthscales + 1] = by_noise;
}

/* The block's L_B (equation 4.2) in '*value', and its gradient unless that is NULL. */
static enum gpnn_status block_objective(struct block *block, double *value, double *gradient,
                                        struct gpnn_error *err)
{
  struct scratch *scratch = block->scratch;
  size_t s = block->s;
  double jitter, fit = 0;
  scale_columns(block);
  fill_covariance(block, scratch->k);
  enum gpnn_status status =
      gpnn_cholesky_factor(s, scratch->k, scratch->work, block->params->covariance.kernelscale,
                           fill_covariance, block, &jitter, err);
  if (status != GPNN_OK) return status;
  gpnn_jitter_note(&scratch->jitter, jitter > 0, jitter);
  memcpy(scratch->alpha, block->y, s * sizeof *block->y);
  gpnn_cholesky_solve(s, scratch->k, scratch->alpha);
  for (size_t i = 0; i < s; i++) fit += scratch->alpha[i] * block->y[i];
  *value = 0.5 * (fit + gpnn_cholesky_logdet(s, scratch->k) + (double)s * GPNN_LOG_TWO_PI);
  if (!isfinite(*value)) return gpnn_fail(err, GPNN_ENUMERIC, "the likelihood is not finite");
  if (gradient != NULL) block_gradient(block, gradient);
  return GPNN_OK;
}

/* Memory and threads for evaluations of the same blocks. */
struct workspace {
  size_t n_threads;
  struct gpnn_team *team;
  struct scratch *scratch; /* n_threads */
  double *terms;           /* n_blocks by width */
};

static void workspace_release(struct workspace *space)
{
  for (size_t t = 0; space->scratch != NULL && t < space->n_threads; t++)
    gpnn_arrays_free(space->scratch[t].arrays);
  gpnn_team_free(space->team);
  free(space->scratch);
  free(space->terms);
}

static enum gpnn_status workspace_init(struct workspace *space, size_t n_blocks, size_t block_size,
                                       size_t d, size_t width, int threads, struct gpnn_error *err)
{
  space->n_threads = (size_t)gpnn_threads_for(threads, n_blocks);
  space->scratch = gpnn_alloc(space->n_threads, 1, sizeof *space->scratch);
  space->terms = gpnn_alloc(n_blocks, width, sizeof *space->terms);
  bool enough = space->scratch != NULL && space->terms != NULL;
  for (size_t t = 0; enough && t < space->n_threads; t++)
    enough = scratch_init(&space->scratch[t], block_size, d);
  if (!enough) return gpnn_fail_memory(err, "for the covariance of a block");
  return gpnn_team_new(&space->team, (int)space->n_threads, err);
}

/* An evaluation of the blocks that begin with 'first'.  Each writes its own row of 'terms': the
 * value, then the gradient if it is wanted. */
struct evaluation {
  const struct block *first;
  const struct workspace *space;
  size_t width;
  bool with_gradient;
};

static enum gpnn_status evaluate_block(void *context, size_t thread, size_t b,
                                       struct gpnn_error *err)
{
  const struct evaluation *e = context;
  struct block block = *e->first;
  double *term = e->space->terms + b * e->width;
  block.x += b * block.s * block.d;
  block.y += b * block.s;
  if (block.noise != NULL) block.noise += b * block.s;
  block.scratch = &e->space->scratch[thread];
  return block_objective(&block, term, e->with_gradient ? term + 1 : NULL, err);
}

/* gpnn_fit_block_objective() over the blocks that begin with 'first'. */
static enum gpnn_status objective(const struct block *first, size_t n_blocks,
                                  const struct workspace *space, double *value, double *gradient,
                                  struct gpnn_error *err)
{
  size_t width = first->params->covariance.n_lengthscales + 3;
  double *terms = space->terms, rows = (double)n_blocks * (double)first->s;
  struct evaluation e = {first, space, width, gradient != NULL};
  enum gpnn_status status =
      gpnn_team_try(space->team, (int)space->n_threads, n_blocks, 1, evaluate_block, &e, err);
  if (status != GPNN_OK) return status;
  /* In block order, so that rounding does not depend on the threads. */
  for (size_t b = 1; b < n_blocks; b++)
    for (size_t i = 0; i < width; i++) terms[i] += terms[b * width + i];
  *value = terms[0] / rows;
  for (size_t i = 0; gradient != NULL && i < width - 1; i++) gradient[i] = terms[1 + i] / rows;
  return GPNN_OK;
}

enum gpnn_status gpnn_fit_block_objective(const struct gpnn_parameters *params, size_t n_blocks,
                                          size_t block_size, size_t d, const uint32_t *group,
                                          const double *x, const double *y, const double *noise,
                                          int threads, double *value, double *gradient,
                                          struct gpnn_error *err)
{
  const struct block first = {
      .params = params, .s = block_size, .d = d, .group = group, .x = x, .y = y, .noise = noise};
  struct workspace space = {0};
  enum gpnn_status status = workspace_init(&space, n_blocks, block_size, d,
                                           params->covariance.n_lengthscales + 3, threads, err);
  if (status == GPNN_OK) status = objective(&first, n_blocks, &space, value, gradient, err);
  workspace_release(&space);
  return status;
}

/* ---- the estimation ------------------------------------------------------------------- */

/* The drawn rows, and the parameters being tried. */
struct problem {
  const struct gpnn_fit_targets *targets;
  const struct gpnn_fit_options *options;
  struct gpnn_fit_coordinates coordinates;
  struct workspace space;
  size_t n_blocks, block_size;
  double *x, *y, *noise; /* of all drawn rows; 'y' and 'noise' one target after another; 'noise' is
                            NULL if none is known */
};

static enum gpnn_status problem_alloc(struct problem *problem, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = problem->targets->dataset;
  size_t n = problem->block_size * problem->n_blocks, n_targets = problem->targets->n;
  problem->x = gpnn_alloc(n, dataset->d, sizeof *problem->x);
  problem->y = gpnn_alloc(2 * n_targets, n, sizeof *problem->y);
  if (problem->x == NULL || problem->y == NULL)
    return gpnn_fail_memory(err, "for the rows to estimate from");
  if (dataset->noise != NULL) problem->noise = problem->y + n_targets * n;
  return GPNN_OK;
}

/* Copies the values of target 't' at 'n' rows, with the mean subtracted. */
static void copy_target(struct problem *problem, size_t t, size_t n, const uint64_t *rows)
{
  const struct gpnn_dataset *dataset = &problem->targets->dataset[t];
  const struct gpnn_parameters *params = &problem->targets->params[t];
  size_t d = dataset->d, p = dataset->n_regressors;
  for (size_t i = 0; i < n; i++) {
    const double *regressors = p == 0 ? NULL : dataset->regressors + rows[i] * p;
    problem->y[t * n + i] =
        dataset->y[rows[i]] - gpnn_mean_value(params->mean.kind, params->mean.coefficients, d,
                                              dataset->x + rows[i] * d, p, regressors);
    if (dataset->noise != NULL) problem->noise[t * n + i] = dataset->noise[rows[i]];
  }
}

/* Draws the rows for up to n_blocks whole blocks, or one smaller block if there are too few. */
static enum gpnn_status draw_rows(struct problem *problem, struct gpnn_error *err)
{
  const struct gpnn_fit_options *options = problem->options;
  const struct gpnn_dataset *dataset = problem->targets->dataset;
  size_t s = options->block_size < dataset->n ? options->block_size : dataset->n;
  size_t most = dataset->n / s, d = dataset->d;
  problem->block_size = s;
  problem->n_blocks = options->n_blocks < most ? options->n_blocks : most;
  size_t n = s * problem->n_blocks;
  uint64_t *rows = gpnn_alloc(n, 1, sizeof *rows);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, options->seed, GPNN_RNG_ESTIMATE);
  enum gpnn_status status = rows == NULL ? gpnn_fail_memory(err, "for the rows to estimate from")
                                         : problem_alloc(problem, err);
  if (status == GPNN_OK) status = gpnn_rng_sample(&rng, dataset->n, n, rows, err);
  for (size_t i = 0; status == GPNN_OK && i < n; i++)
    memcpy(problem->x + i * d, dataset->x + rows[i] * d, d * sizeof *problem->x);
  for (size_t t = 0; status == GPNN_OK && t < problem->targets->n; t++)
    copy_target(problem, t, n, rows);
  free(rows);
  return status;
}

/* Computes the mean of the targets' objectives, and each one's gradient. */
static enum gpnn_status evaluate(struct problem *problem, double *value, bool with_gradient,
                                 struct gpnn_error *err)
{
  const struct gpnn_fit_targets *targets = problem->targets;
  struct gpnn_fit_coordinates *coordinates = &problem->coordinates;
  size_t n = problem->n_blocks * problem->block_size;
  double sum = 0, own;
  for (size_t t = 0; t < targets->n; t++) {
    const struct gpnn_dataset *dataset = &targets->dataset[t];
    const struct block first = {.params = &targets->params[t],
                                .s = problem->block_size,
                                .d = dataset->d,
                                .group = dataset->group,
                                .x = problem->x,
                                .y = problem->y + t * n,
                                .noise = problem->noise == NULL ? NULL : problem->noise + t * n};
    enum gpnn_status status =
        objective(&first, problem->n_blocks, &problem->space, &own,
                  with_gradient ? coordinates->gradient + t * coordinates->width : NULL, err);
    if (status != GPNN_OK) return status;
    sum += own;
  }
  *value = sum / (double)targets->n;
  return GPNN_OK;
}

/* ---- lbfgs ---------------------------------------------------------------------------- */

static enum gpnn_status lbfgs_objective(void *context, size_t n, const double *u, double *f,
                                        double *gradient, struct gpnn_error *err)
{
  struct problem *problem = context;
  const struct gpnn_fit_coordinates *coordinates = &problem->coordinates;
  (void)n;
  gpnn_fit_coordinates_set(coordinates, u);
  enum gpnn_status status = evaluate(problem, f, gradient != NULL, err);
  if (status != GPNN_OK) return status;
  if (gradient != NULL) gpnn_fit_coordinates_gradient(coordinates, gradient);
  double n_rows = (double)(problem->n_blocks * problem->block_size);
  *f += gpnn_fit_coordinates_prior(coordinates, n_rows, u, gradient);
  return GPNN_OK;
}

static enum gpnn_status search_lbfgs(struct problem *problem, struct gpnn_optimize_report *report,
                                     struct gpnn_error *err)
{
  enum { MOST_EVALUATIONS = 400 };
  static const double least = 0.01; /* of the log likelihood of all rows */
  struct gpnn_fit_coordinates *c = &problem->coordinates;
  double n_rows = (double)(problem->n_blocks * problem->block_size);
  enum gpnn_status status =
      gpnn_optimize_lbfgs(lbfgs_objective, problem, c->n, MOST_EVALUATIONS, least / n_rows,
                          c->lower, c->upper, c->u, report, err);
  if (status == GPNN_OK) gpnn_fit_coordinates_set(c, c->u);
  return status;
}

/* ---- adam as published ---------------------------------------------------------------- */

static const double paper_noise_floor = 1e-6;

static double floor_of(const struct gpnn_parameters *params, size_t i)
{
  return i > params->covariance.n_lengthscales ? paper_noise_floor : 0;
}

static void set_softplus(const struct gpnn_fit_coordinates *coordinates, const double *u)
{
  const struct gpnn_parameters *params = coordinates->targets->params;
  for (size_t i = 0; i < coordinates->n; i++)
    gpnn_fit_coordinates_put(
        coordinates, i, floor_of(params, coordinates->parameter[i]) + gpnn_logistic_softplus(u[i]));
  gpnn_fit_coordinates_complete(coordinates);
}

/* The published objective, sum_b L_b / s. */
static enum gpnn_status paper_objective(void *context, size_t n, const double *u, double *f,
                                        double *gradient, struct gpnn_error *err)
{
  struct problem *problem = context;
  const struct gpnn_fit_coordinates *coordinates = &problem->coordinates;
  double factor = (double)problem->n_blocks;
  set_softplus(coordinates, u);
  enum gpnn_status status = evaluate(problem, f, gradient != NULL, err);
  if (status != GPNN_OK) return status;
  *f *= factor;
  if (gradient == NULL) return GPNN_OK;
  gpnn_fit_coordinates_gradient(coordinates, gradient);
  for (size_t i = 0; i < n; i++) {
    struct gpnn_parameters *params = &coordinates->targets->params[coordinates->target[i]];
    gradient[i] = factor * gradient[i] / *gpnn_fit_parameter(params, coordinates->parameter[i]) /
                  (1 + exp(-u[i]));
  }
  return GPNN_OK;
}

/* 200 steps of rate 0.1 from zero in every coordinate. */
static enum gpnn_status search_adam(struct problem *problem, struct gpnn_optimize_report *report,
                                    struct gpnn_error *err)
{
  const struct gpnn_adam paper = {.n_steps = 200, .rate = 0.1};
  struct gpnn_fit_coordinates *c = &problem->coordinates;
  for (size_t i = 0; i < c->n; i++) c->u[i] = 0;
  enum gpnn_status status =
      gpnn_optimize_adam(paper_objective, problem, c->n, &paper, c->u, report, err);
  if (status == GPNN_OK) set_softplus(c, c->u);
  return status;
}

/* ---- either optimiser ----------------------------------------------------------------- */

/* Reports the objective at the result. */
static enum gpnn_status finish(struct problem *problem, struct gpnn_fit_report *report,
                               struct gpnn_error *err)
{
  const struct workspace *space = &problem->space;
  report->objective = GPNN_OBJECTIVE_BLOCK;
  report->n_blocks = problem->n_blocks;
  report->block_size = problem->block_size;
  report->n_rows = problem->n_blocks * problem->block_size;
  report->jitter = (struct gpnn_jitter){0, 0};
  for (size_t t = 0; t < space->n_threads; t++) space->scratch[t].jitter = report->jitter;
  enum gpnn_status status = evaluate(problem, &report->value, false, err);
  for (size_t t = 0; t < space->n_threads; t++) {
    const struct gpnn_jitter *own = &space->scratch[t].jitter;
    gpnn_jitter_note(&report->jitter, own->n, own->most);
  }
  return status;
}

enum gpnn_status gpnn_fit_blocks(const struct gpnn_fit_targets *targets,
                                 const struct gpnn_fit_options *options, double scale,
                                 struct gpnn_fit_report *report, struct gpnn_error *err)
{
  struct problem problem = {.targets = targets, .options = options};
  enum gpnn_status status =
      gpnn_fit_coordinates_init(&problem.coordinates, options, targets, scale, false, err);
  if (status == GPNN_OK) status = draw_rows(&problem, err);
  if (status == GPNN_OK)
    status =
        workspace_init(&problem.space, problem.n_blocks, problem.block_size, targets->dataset->d,
                       targets->params->covariance.n_lengthscales + 3, options->threads, err);
  if (status == GPNN_OK)
    status = options->optimizer == GPNN_OPTIMIZER_ADAM
                 ? search_adam(&problem, &report->optimize, err)
                 : search_lbfgs(&problem, &report->optimize, err);
  if (status == GPNN_OK) status = finish(&problem, report, err);
  gpnn_fit_coordinates_release(&problem.coordinates);
  workspace_release(&problem.space);
  free(problem.x);
  free(problem.y);
  return status;
}
