#include "methods/fit.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/simd.h"
#include "models/cholesky.h"
#include "models/kernel.h"

static const double log_two_pi = 1.83787706640934548356;

/* ---- the objective -------------------------------------------------------------------- */

/* What a thread needs to evaluate a block of s rows and d columns. */
struct scratch {
  double *k;       /* s by s, lower triangle: K, its factor, its inverse, the weights W */
  double *slope;   /* s by s, lower triangle: g(r) */
  double *columns; /* s by d, one column after another: x_j / lengthscale_j */
  double *point;   /* d: one row of it */
  double *r2;      /* s */
  double *alpha;   /* s: K^-1 y */
};

/* A block and the parameters it is evaluated at. */
struct block {
  const struct gpnn_params *params;
  size_t s, d;
  const double *x, *y; /* s by d, row-major; s */
  struct scratch *scratch;
};

static void scratch_release(struct scratch *scratch)
{
  free(scratch->k);
  free(scratch->slope);
  free(scratch->columns);
  free(scratch->point);
  free(scratch->r2);
  free(scratch->alpha);
}

static bool scratch_init(struct scratch *scratch, size_t s, size_t d)
{
  scratch->k = gpnn_alloc(s, s, sizeof(double));
  scratch->slope = gpnn_alloc(s, s, sizeof(double));
  scratch->columns = gpnn_alloc(s, d, sizeof(double));
  scratch->point = gpnn_alloc(d, 1, sizeof(double));
  scratch->r2 = gpnn_alloc(s, 1, sizeof(double));
  scratch->alpha = gpnn_alloc(s, 1, sizeof(double));
  return scratch->k != NULL && scratch->slope != NULL && scratch->columns != NULL &&
         scratch->point != NULL && scratch->r2 != NULL && scratch->alpha != NULL;
}

static void scale_columns(const struct block *block)
{
  const struct gpnn_params *params = block->params;
  for (size_t j = 0; j < block->d; j++) {
    double l = params->lengthscale[params->n_lengthscales == 1 ? 0 : j];
    double *column = block->scratch->columns + j * block->s;
    for (size_t i = 0; i < block->s; i++) column[i] = block->x[i * block->d + j] / l;
  }
}

/* Writes the lower triangles of K to 'k' and of g(r) to the scratch. */
static void fill_covariance(void *context, double *k)
{
  const struct block *block = context;
  const struct scratch *scratch = block->scratch;
  size_t s = block->s, d = block->d;
  for (size_t q = 0; q < s; q++) {
    double *column = k + q * s;
    for (size_t j = 0; j < d; j++) scratch->point[j] = scratch->columns[j * s + q];
    gpnn_kernel_distances(s - q, d, s, scratch->columns + q, scratch->point, scratch->r2);
    block->params->kernel->with_slope(block->params->smoothness, s - q, scratch->r2, column + q,
                                      scratch->slope + q * s + q);
    for (size_t i = q; i < s; i++) column[i] *= block->params->kernelscale;
    column[q] += block->params->noise;
  }
}

/* sum_i weight_i (x_i - here)^2 */
GPNN_SIMD static double weighted_squares(size_t n, const double *weight, const double *x,
                                         double here)
{
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; i++) sum += weight[i] * (x[i] - here) * (x[i] - here);
  return sum;
}

/*
 * With W = kernelscale g o (K^-1 - a a'), the derivative by log lengthscale_j is
 *   1/2 sum_ik W_ik (x_ij - x_kj)^2 / l_j^2,
 * that is, the sum over the lower triangle: O(s^2 d) after the inverse.  For the other two
 * no second matrix is needed, for kernelscale C = K - noise I.
 */
static void block_gradient(const struct block *block, double *gradient)
{
  const struct gpnn_params *params = block->params;
  const struct scratch *scratch = block->scratch;
  const double *alpha = scratch->alpha;
  size_t s = block->s, n_lengthscales = params->n_lengthscales;
  double trace = 0, squares = 0, fit = 0;
  gpnn_cholesky_invert(s, scratch->k);
  for (size_t j = 0; j < n_lengthscales; j++) gradient[j] = 0;
  for (size_t q = 0; q < s; q++) {
    double *weight = scratch->k + q * s;
    const double *slope = scratch->slope + q * s;
    trace += weight[q];
    squares += alpha[q] * alpha[q];
    fit += alpha[q] * block->y[q];
    for (size_t i = q; i < s; i++)
      weight[i] = params->kernelscale * slope[i] * (weight[i] - alpha[i] * alpha[q]);
    for (size_t j = 0; j < block->d; j++) {
      const double *column = scratch->columns + j * s;
      gradient[n_lengthscales == 1 ? 0 : j] +=
          weighted_squares(s - q, weight + q, column + q, column[q]);
    }
  }
  double by_noise = 0.5 * params->noise * (trace - squares);
  gradient[n_lengthscales] = 0.5 * ((double)s - fit) - by_noise;
  gradient[n_lengthscales + 1] = by_noise;
}

/* The block's term of L in '*value' and, unless NULL, of its gradient. */
static enum gpnn_status block_objective(struct block *block, double *value, double *gradient,
                                        struct gpnn_error *err)
{
  struct scratch *scratch = block->scratch;
  size_t s = block->s;
  double jitter, fit = 0;
  scale_columns(block);
  fill_covariance(block, scratch->k);
  enum gpnn_status status = gpnn_cholesky_factor(s, scratch->k, block->params->kernelscale,
                                                 fill_covariance, block, &jitter, err);
  if (status != GPNN_OK) return status;
  memcpy(scratch->alpha, block->y, s * sizeof *block->y);
  gpnn_cholesky_solve(s, scratch->k, scratch->alpha);
  for (size_t i = 0; i < s; i++) fit += scratch->alpha[i] * block->y[i];
  *value = 0.5 * (fit + gpnn_cholesky_logdet(s, scratch->k) + (double)s * log_two_pi);
  if (!isfinite(*value)) return gpnn_fail(err, GPNN_ENUMERIC, "the likelihood is not finite");
  if (gradient != NULL) block_gradient(block, gradient);
  return GPNN_OK;
}

/*
 * Evaluates all blocks, each into its own row of 'terms' (value, then the gradient if it is
 * asked for).  Of several failing blocks the first is reported, however they were shared out.
 */
static enum gpnn_status evaluate_blocks(const struct block *first, size_t n_blocks, int n_threads,
                                        struct scratch *scratch, bool with_gradient, size_t width,
                                        double *terms, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  size_t failed = n_blocks;
#pragma omp parallel for num_threads(n_threads) schedule(dynamic)
  for (size_t b = 0; b < n_blocks; b++) {
    struct block block = *first;
    struct gpnn_error own = {0};
    block.x += b * block.s * block.d;
    block.y += b * block.s;
    block.scratch = &scratch[omp_get_thread_num()];
    double *term = terms + b * width;
    enum gpnn_status outcome = block_objective(&block, term, with_gradient ? term + 1 : NULL, &own);
#pragma omp critical(gpnn_fit_block)
    if (outcome != GPNN_OK && b < failed) {
      failed = b;
      status = outcome;
      if (err != NULL) *err = own;
    }
  }
  return status;
}

enum gpnn_status gpnn_fit_block_objective(const struct gpnn_params *params, size_t n_blocks,
                                          size_t block_size, size_t d, const double *x,
                                          const double *y, int threads, double *value,
                                          double *gradient, struct gpnn_error *err)
{
  size_t width = params->n_lengthscales + 3;
  size_t n_threads = threads < 1 ? 1 : (size_t)threads < n_blocks ? (size_t)threads : n_blocks;
  struct block first = {.params = params, .s = block_size, .d = d, .x = x, .y = y};
  struct scratch *scratch = gpnn_alloc(n_threads, 1, sizeof *scratch);
  double *terms = gpnn_alloc(n_blocks, width, sizeof *terms);
  double rows = (double)n_blocks * (double)block_size;
  enum gpnn_status status = GPNN_OK;
  bool enough = scratch != NULL && terms != NULL;
  for (size_t t = 0; enough && t < n_threads; t++)
    enough = scratch_init(&scratch[t], block_size, d);
  if (!enough) {
    status = gpnn_fail_memory(err, "for the covariance of a block");
    goto out;
  }
  status = evaluate_blocks(&first, n_blocks, (int)n_threads, scratch, gradient != NULL, width,
                           terms, err);
  if (status != GPNN_OK) goto out;
  /* In block order, so that rounding does not depend on who computed what. */
  for (size_t b = 1; b < n_blocks; b++)
    for (size_t i = 0; i < width; i++) terms[i] += terms[b * width + i];
  *value = terms[0] / rows;
  for (size_t i = 0; gradient != NULL && i < width - 1; i++) gradient[i] = terms[1 + i] / rows;
out:
  for (size_t t = 0; scratch != NULL && t < n_threads; t++) scratch_release(&scratch[t]);
  free(scratch);
  free(terms);
  return status;
}

/* ---- the estimation ------------------------------------------------------------------- */

/* The drawn rows, the parameters being tried, and which of them are free. */
struct problem {
  const struct gpnn_fit_options *options;
  size_t n_blocks, block_size, d;
  double *x, *y;
  struct gpnn_params *params;
  double *gradient;   /* by the logarithms of all parameters */
  size_t n_free;      /* coordinates of the search */
  size_t *free_index; /* place of each of them in the gradient */
};

/* Parameter 'i' in the order of the gradient. */
static double *parameter(struct gpnn_params *params, size_t i)
{
  if (i < params->n_lengthscales) return &params->lengthscale[i];
  return i == params->n_lengthscales ? &params->kernelscale : &params->noise;
}

static const double paper_noise_floor = 1e-6;

static double floor_of(const struct gpnn_params *params, size_t i)
{
  return i > params->n_lengthscales ? paper_noise_floor : 0;
}

/* log(1 + exp(u)), for large u too. */
static double softplus(double u)
{
  return u > 0 ? u + log1p(exp(-u)) : log1p(exp(u));
}

/* Free coordinates to parameters: logarithms under lbfgs, softplus's inverse under adam. */
static void set_parameters(struct problem *problem, size_t n, const double *u)
{
  bool paper = problem->options->optimizer == GPNN_OPTIMIZER_ADAM;
  for (size_t i = 0; i < n; i++) {
    size_t p = problem->free_index[i];
    *parameter(problem->params, p) =
        paper ? floor_of(problem->params, p) + softplus(u[i]) : exp(u[i]);
  }
}

/* The objective over the free coordinates; under adam the paper's, sum_b L_b / s. */
static enum gpnn_status search_objective(void *context, size_t n, const double *u, double *f,
                                         double *gradient, struct gpnn_error *err)
{
  struct problem *problem = context;
  struct gpnn_params *params = problem->params;
  bool paper = problem->options->optimizer == GPNN_OPTIMIZER_ADAM;
  double factor = paper ? (double)problem->n_blocks : 1;
  set_parameters(problem, n, u);
  enum gpnn_status status = gpnn_fit_block_objective(
      params, problem->n_blocks, problem->block_size, problem->d, problem->x, problem->y,
      problem->options->threads, f, gradient == NULL ? NULL : problem->gradient, err);
  if (status != GPNN_OK) return status;
  *f *= factor;
  for (size_t i = 0; gradient != NULL && i < n; i++) {
    size_t p = problem->free_index[i];
    double by_log = factor * problem->gradient[p];
    gradient[i] = paper ? by_log / *parameter(params, p) / (1 + exp(-u[i])) : by_log;
  }
  return GPNN_OK;
}

static int compare_doubles(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Median distance between up to 300 rows of the first block; where most rows are alike, the
 * largest instead; 1 where all are. */
static enum gpnn_status median_distance(const struct problem *problem, double *median,
                                        struct gpnn_error *err)
{
  enum { MOST = 300 };
  size_t s = problem->block_size < MOST ? problem->block_size : MOST, d = problem->d, n = 0;
  double *r2 = gpnn_alloc(s, s, sizeof *r2);
  if (r2 == NULL) return gpnn_fail_memory(err, "for distances");
  for (size_t i = 1; i < s; i++)
    for (size_t k = 0; k < i; k++, n++)
      for (size_t j = 0; j < d; j++) {
        double difference = problem->x[i * d + j] - problem->x[k * d + j];
        r2[n] += difference * difference;
      }
  qsort(r2, n, sizeof *r2, compare_doubles);
  double typical = r2[n / 2] > 0 ? r2[n / 2] : r2[n - 1];
  *median = typical > 0 ? sqrt(typical) : 1;
  free(r2);
  return GPNN_OK;
}

/* Draws the rows: as many whole blocks as there are rows for, or one smaller block. */
static enum gpnn_status draw_rows(const struct gpnn_index_contents *contents,
                                  struct problem *problem, struct gpnn_error *err)
{
  const struct gpnn_fit_options *options = problem->options;
  size_t s = options->block_size < contents->n ? options->block_size : contents->n;
  size_t room = contents->n / s, d = contents->d;
  problem->block_size = s;
  problem->n_blocks = options->n_blocks < room ? options->n_blocks : room;
  problem->d = d;
  size_t n = s * problem->n_blocks;
  uint64_t *rows = gpnn_alloc(n, 1, sizeof *rows);
  problem->x = gpnn_alloc(n, d, sizeof *problem->x);
  problem->y = gpnn_alloc(n, 1, sizeof *problem->y);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, options->seed, GPNN_RNG_ESTIMATE);
  enum gpnn_status status = rows == NULL || problem->x == NULL || problem->y == NULL
                                ? gpnn_fail_memory(err, "for the rows to estimate from")
                                : gpnn_rng_sample(&rng, contents->n, n, rows, err);
  for (size_t i = 0; status == GPNN_OK && i < n; i++) {
    memcpy(problem->x + i * d, contents->x + rows[i] * d, d * sizeof *problem->x);
    problem->y[i] = contents->y[rows[i]];
  }
  free(rows);
  return status;
}

/* The lengthscales of 'start', given to a fit with as many or fewer: the geometric mean. */
static void start_lengthscales(const struct gpnn_params *start, struct gpnn_params *params)
{
  double sum = 0;
  if (params->n_lengthscales > 1 || start->n_lengthscales == 1) {
    for (size_t j = 0; j < params->n_lengthscales; j++)
      params->lengthscale[j] = start->lengthscale[start->n_lengthscales == 1 ? 0 : j];
    return;
  }
  for (size_t j = 0; j < start->n_lengthscales; j++) sum += log(start->lengthscale[j]);
  params->lengthscale[0] = exp(sum / (double)start->n_lengthscales);
}

/* Gives every parameter its start and says which are free. */
static void start_parameters(struct problem *problem, double median)
{
  const struct gpnn_fit_options *options = problem->options;
  struct gpnn_params *params = problem->params;
  bool paper = options->optimizer == GPNN_OPTIMIZER_ADAM;
  double fixed[] = {options->fixed_lengthscale, options->fixed_kernelscale, options->fixed_noise};
  double initial[] = {median, 0.9, 0.1};
  size_t k = params->n_lengthscales;
  for (size_t i = 0; i < k + 2; i++)
    *parameter(params, i) =
        paper ? floor_of(params, i) + softplus(0) : initial[i < k ? 0 : i - k + 1];
  if (options->start != NULL && !paper) {
    start_lengthscales(options->start, params);
    params->kernelscale = options->start->kernelscale;
    params->noise = options->start->noise;
  }
  for (size_t i = 0; i < k + 2; i++) {
    double held = fixed[i < k ? 0 : i - k + 1];
    if (held > 0)
      *parameter(params, i) = held;
    else
      problem->free_index[problem->n_free++] = i;
  }
}

/*
 * The box of the logarithmic search, wide enough not to bind on data that say anything: four
 * decades about the median distance either way, beyond which a kernel is a constant or white
 * noise; variances about the target's, which is 1.  The least noise is the paper's, and keeps
 * K well conditioned.
 */
static void search_bounds(const struct gpnn_params *params, size_t i, double median, double *lower,
                          double *upper)
{
  size_t k = params->n_lengthscales;
  double noise = gpnn_kernel_least_noise(params->kernel, params->smoothness);
  *lower = log(i < k ? 1e-4 * median : i == k ? 1e-6 : noise);
  *upper = log(i < k ? 1e4 * median : i == k ? 1e4 : 1e2);
}

static enum gpnn_status search(struct problem *problem, double median,
                               struct gpnn_optimize_report *report, struct gpnn_error *err)
{
  struct gpnn_params *params = problem->params;
  size_t n = problem->n_free;
  double *u = gpnn_alloc(n, 3, sizeof *u);
  if (u == NULL) return gpnn_fail_memory(err, "for the search");
  double *lower = u + n, *upper = lower + n;
  enum gpnn_status status;
  if (problem->options->optimizer == GPNN_OPTIMIZER_ADAM) {
    /* Zero in every coordinate, as gpnn_alloc() left them. */
    status = gpnn_optimize_adam(search_objective, problem, n, 200, 0.1, u, report, err);
  } else {
    for (size_t i = 0; i < n; i++) {
      size_t p = problem->free_index[i];
      search_bounds(params, p, median, &lower[i], &upper[i]);
      double start = log(*parameter(params, p));
      u[i] = fmin(fmax(start, lower[i]), upper[i]);
    }
    status = gpnn_optimize_lbfgs(search_objective, problem, n, lower, upper, u, report, err);
  }
  if (status == GPNN_OK) set_parameters(problem, n, u);
  free(u);
  return status;
}

static enum gpnn_status check_options(const struct gpnn_index_contents *contents,
                                      const struct gpnn_fit_options *options,
                                      struct gpnn_error *err)
{
  const struct gpnn_params *start = options->start;
  if (options->n_blocks < 1 || options->block_size < 2)
    return gpnn_fail(err, GPNN_EINVAL, "estimation needs a block of at least 2 rows");
  if (contents->n < 2)
    return gpnn_fail(err, GPNN_EDATA, "estimation needs at least 2 rows, there are %zu",
                     contents->n);
  if (start != NULL && start->n_lengthscales != 1 && start->n_lengthscales != contents->d)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters to start from have %zu lengthscales, the index has %zu inputs",
                     start->n_lengthscales, contents->d);
  return GPNN_OK;
}

static enum gpnn_status estimate(struct problem *problem, struct gpnn_fit_report *report,
                                 struct gpnn_error *err)
{
  double median = 1;
  enum gpnn_status status = median_distance(problem, &median, err);
  if (status != GPNN_OK) return status;
  start_parameters(problem, median);
  status = search(problem, median, &report->optimize, err);
  if (status != GPNN_OK) return status;
  report->n_blocks = problem->n_blocks;
  report->block_size = problem->block_size;
  return gpnn_fit_block_objective(problem->params, problem->n_blocks, problem->block_size,
                                  problem->d, problem->x, problem->y, problem->options->threads,
                                  &report->objective, NULL, err);
}

enum gpnn_status gpnn_fit_block(const struct gpnn_index_contents *contents,
                                const struct gpnn_fit_options *options, struct gpnn_params *params,
                                struct gpnn_fit_report *report, struct gpnn_error *err)
{
  enum gpnn_status status = check_options(contents, options, err);
  if (status != GPNN_OK) return status;
  size_t n_lengthscales = options->ard ? contents->d : 1;
  struct gpnn_params fitted = {.kernel = options->kernel,
                               .smoothness = options->smoothness,
                               .n_lengthscales = n_lengthscales,
                               .neighbours = options->neighbours};
  struct gpnn_fit_report own = {0};
  struct problem problem = {.options = options, .params = &fitted};
  fitted.lengthscale = gpnn_alloc(n_lengthscales, 1, sizeof *fitted.lengthscale);
  problem.gradient = gpnn_alloc(n_lengthscales + 2, 1, sizeof *problem.gradient);
  problem.free_index = gpnn_alloc(n_lengthscales + 2, 1, sizeof *problem.free_index);
  if (fitted.lengthscale == NULL || problem.gradient == NULL || problem.free_index == NULL)
    status = gpnn_fail_memory(err, "for the parameters");
  if (status == GPNN_OK) status = draw_rows(contents, &problem, err);
  if (status == GPNN_OK) status = estimate(&problem, &own, err);
  if (status == GPNN_OK) {
    *params = fitted;
    *report = own;
  } else {
    gpnn_params_release(&fitted);
  }
  free(problem.x);
  free(problem.y);
  free(problem.gradient);
  free(problem.free_index);
  return status;
}
