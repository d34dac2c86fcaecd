#include "linalg/iterative/cg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/arrays.h"
#include "linalg/iterative/cg_blocks_private.h"

/* How often the iteration may start; and what the mean of residuals has to wait for, and where its
 * columns stop by themselves, so that none divides by a residual of zero; and after how many
 * iterations residuals are computed anew while solutions cannot show what they are. */
enum { MOST_STARTS = 3, LEAST_FOR_MEAN = 11, ANEW = 50 };
static const double negligible = 1e-10;

/* How far a residual may be from the true one, relative to that. */
static const double drift = 0.1;

/* ---- a solution ---------------------------------------------------------------------------- */

struct solver {
  const struct gpnn_cg_matrix *matrix;
  const struct gpnn_cg_options *options;
  struct gpnn_cg_steps *steps; /* NULL after the first start */
  struct gpnn_error *err;
  struct gpnn_blocks blocks;
  size_t columns; /* right-hand sides */
  const double *b;
  double *x;
  size_t active;          /* columns of r, z, d, q */
  double *r, *z, *d, *q;  /* residuals, preconditioned; directions, and products with them; z is r
                             if there is no preconditioner */
  double *y, *weight;     /* with weights, active: iterates, and what their next step counts */
  size_t *column;         /* active: which right-hand side each is */
  double *rho, *a, *beta; /* active */
  double *norm;           /* columns: |B_j| */
  double *residual;       /* columns: relative to that */
  double *sum;            /* columns */
  bool *finished;         /* columns */
  size_t iterations;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static enum gpnn_status allocate(struct solver *s)
{
  size_t n, m = s->columns, weighed = s->options->weigh == NULL ? 0 : m;
  if (!gpnn_multiply(s->blocks.outer, s->blocks.inner, &n))
    return gpnn_fail_memory(s->err, "to solve");
  bool has_own_z = s->matrix->precondition != NULL;
  s->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(s->r, n, m), GPNN_ARRAY_IF(has_own_z, s->z, n, m), GPNN_ARRAY(s->d, n, m),
      GPNN_ARRAY(s->q, n, m), GPNN_ARRAY(s->y, n, weighed), GPNN_ARRAY(s->weight, m, 1),
      GPNN_ARRAY(s->column, m, 1), GPNN_ARRAY(s->rho, m, 1), GPNN_ARRAY(s->a, m, 1),
      GPNN_ARRAY(s->beta, m, 1), GPNN_ARRAY(s->norm, m, 1), GPNN_ARRAY(s->residual, m, 1),
      GPNN_ARRAY(s->sum, m, 1), GPNN_ARRAY(s->blocks.partial, s->blocks.n, m),
      GPNN_ARRAY(s->finished, m, 1));
  if (s->arrays == NULL) return gpnn_fail_memory(s->err, "for conjugate gradients");
  if (!has_own_z) s->z = s->r;
  return GPNN_OK;
}

/* ---- residuals and stopping ---------------------------------------------------------------- */

static enum gpnn_status not_finite(struct solver *s, const char *what)
{
  return gpnn_fail(s->err, GPNN_ENUMERIC, "conjugate gradients: %s is not finite", what);
}

/* A solution starts at 0 where its right-hand side is 0. */
static enum gpnn_status measure_right_hand_sides(struct solver *s)
{
  size_t inner = s->blocks.inner;
  gpnn_blocks_dot(&s->blocks, s->columns, s->b, s->b, s->sum);
  for (size_t j = 0; j < s->columns; j++) {
    s->norm[j] = sqrt(s->sum[j]);
    if (!isfinite(s->norm[j])) return not_finite(s, "a right-hand side");
    for (size_t o = 0; o < s->blocks.outer && s->norm[j] == 0; o++)
      memset(s->x + (o * s->columns + j) * inner, 0, inner * sizeof *s->x);
  }
  return GPNN_OK;
}

static bool all_zero(size_t n, const double *x)
{
  for (size_t i = 0; i < n; i++)
    if (x[i] != 0) return false;
  return true;
}

/* r = B - A X in all columns. */
static enum gpnn_status true_residuals(struct solver *s)
{
  size_t n = s->blocks.outer * s->blocks.inner * s->columns;
  bool from_zero = all_zero(n, s->x);
  if (!from_zero) {
    enum gpnn_status status =
        s->matrix->multiply(s->matrix->context, s->columns, s->x, s->q, s->err);
    if (status != GPNN_OK) return status;
  }
  for (size_t j = 0; j < s->columns; j++) s->a[j] = from_zero ? 0 : 1;
  gpnn_blocks_subtract(&s->blocks, s->columns, s->b, s->a, from_zero ? s->b : s->q, s->r, s->sum);
  for (size_t j = 0; j < s->columns; j++) {
    s->residual[j] = s->norm[j] == 0 ? 0 : sqrt(s->sum[j]) / s->norm[j];
    if (!isfinite(s->residual[j])) return not_finite(s, "a product or a starting value");
  }
  return GPNN_OK;
}

static double worst(const struct solver *s)
{
  double most = 0;
  for (size_t j = 0; j < s->columns; j++) most = fmax(most, s->residual[j]);
  return most;
}

/* What has to come below the tolerance. */
static double measure(const struct solver *s)
{
  double sum = 0;
  if (!s->options->stops_at_mean) return worst(s);
  for (size_t j = 0; j < s->columns; j++) sum += s->residual[j];
  return sum / (double)s->columns;
}

/* Below which residual a column stops on its own. */
static double column_tolerance(const struct solver *s)
{
  double tolerance = s->options->tolerance;
  return s->options->stops_at_mean ? fmin(tolerance, negligible) : tolerance;
}

/* ---- iterations ---------------------------------------------------------------------------- */

/* Leaves out the finished columns of r and d; 'kept' has room for all. */
static void compact(struct solver *s, size_t *kept)
{
  size_t n = 0;
  for (size_t j = 0; j < s->active; j++)
    if (!s->finished[s->column[j]]) kept[n++] = j;
  gpnn_blocks_keep(&s->blocks, s->active, s->r, n, kept);
  gpnn_blocks_keep(&s->blocks, s->active, s->d, n, kept);
  if (s->options->weigh != NULL) gpnn_blocks_keep(&s->blocks, s->active, s->y, n, kept);
  for (size_t j = 0; j < n; j++) {
    s->column[j] = s->column[kept[j]];
    s->rho[j] = s->rho[kept[j]];
    s->weight[j] = s->weight[kept[j]];
  }
  s->active = n;
}

static size_t count_finished(const struct solver *s)
{
  size_t n = 0;
  for (size_t j = 0; j < s->active; j++) n += s->finished[s->column[j]];
  return n;
}

static enum gpnn_status compact_if_worthwhile(struct solver *s)
{
  size_t n = count_finished(s);
  if (n == 0 || 4 * n < s->active) return GPNN_OK;
  size_t *kept = gpnn_alloc(s->active, 1, sizeof *kept);
  if (kept == NULL) return gpnn_fail_memory(s->err, "for conjugate gradients");
  compact(s, kept);
  free(kept);
  return GPNN_OK;
}

/* The first start records steps: room for those of one more iteration. */
static enum gpnn_status make_room(struct solver *s)
{
  struct gpnn_cg_steps *steps = s->steps;
  size_t n = s->columns, a_items = steps == NULL ? 0 : steps->capacity * n, b_items = a_items;
  if (steps == NULL || s->iterations < steps->capacity) return GPNN_OK;
  if (!gpnn_grow(&steps->a, &a_items, (s->iterations + 1) * n, sizeof *steps->a) ||
      !gpnn_grow(&steps->b, &b_items, (s->iterations + 1) * n, sizeof *steps->b))
    return gpnn_fail_memory(s->err, "for the steps of conjugate gradients");
  steps->capacity = (a_items < b_items ? a_items : b_items) / n;
  return GPNN_OK;
}

static void record(struct solver *s, size_t j)
{
  size_t at = s->iterations * s->columns + s->column[j];
  if (s->steps == NULL) return;
  s->steps->a[at] = s->a[j];
  s->steps->b[at] = 0;
  s->steps->n[s->column[j]] = s->iterations + 1;
}

/* a = rho / d'Ad, and 0 where the column has finished. */
static enum gpnn_status choose_lengths(struct solver *s)
{
  for (size_t j = 0; j < s->active; j++) {
    double curvature = s->sum[j];
    s->a[j] = s->beta[j] = 0;
    if (s->finished[s->column[j]]) continue;
    if (!isfinite(curvature)) return not_finite(s, "a product with the matrix");
    if (!(curvature > 0))
      return gpnn_fail(s->err, GPNN_ENUMERIC,
                       "conjugate gradients: the matrix is not positive definite: d'Ad = %.3g in "
                       "iteration %zu",
                       curvature, s->iterations + 1);
    s->a[j] = s->rho[j] / curvature;
    record(s, j);
  }
  return GPNN_OK;
}

static void set(size_t n, double *x, double value)
{
  for (size_t j = 0; j < n; j++) x[j] = value;
}

/* The iterates: y += a d. */
static void follow(struct solver *s)
{
  for (size_t j = 0; j < s->active; j++) s->beta[j] = -s->a[j];
  gpnn_blocks_subtract(&s->blocks, s->active, s->y, s->beta, s->d, s->y, s->sum);
  set(s->active, s->beta, 0);
}

/* q_j = B_j - q_j, and its square; '*off' is that of its difference from r_j. */
static double true_residual(struct solver *s, size_t j, double *off)
{
  size_t inner = s->blocks.inner;
  double squares = 0, differences = 0;
  for (size_t o = 0; o < s->blocks.outer; o++) {
    const double *b = s->b + (o * s->columns + s->column[j]) * inner;
    double *q = s->q + (o * s->active + j) * inner, *r = s->r + (o * s->active + j) * inner;
    for (size_t i = 0; i < inner; i++) {
      q[i] = b[i] - q[i];
      squares += q[i] * q[i];
      differences += (q[i] - r[i]) * (q[i] - r[i]);
    }
  }
  *off = differences;
  return squares;
}

/* Computes residuals anew from the iterates, with r'r in s->sum.  Those that have hardly moved
 * stay as they are, as the next directions are orthogonal to them. */
static enum gpnn_status renew_residuals(struct solver *s)
{
  size_t inner = s->blocks.inner;
  enum gpnn_status status = s->matrix->multiply(s->matrix->context, s->active, s->y, s->q, s->err);
  for (size_t j = 0; j < s->active && status == GPNN_OK; j++) {
    double off = 0, squares = true_residual(s, j, &off);
    if (off <= drift * drift * squares) continue;
    for (size_t o = 0; o < s->blocks.outer; o++)
      memcpy(s->r + (o * s->active + j) * inner, s->q + (o * s->active + j) * inner,
             inner * sizeof *s->r);
    s->sum[j] = squares;
  }
  return status;
}

/* Whether column 'j', which took a step, has finished; else what its next one counts. */
static bool finishes(struct solver *s, size_t j, double residual)
{
  const struct gpnn_cg_options *o = s->options;
  bool is_good = residual <= column_tolerance(s);
  if (o->weigh == NULL) return is_good;
  s->a[j] *= s->weight[j];
  s->weight[j] = o->weigh(o->weigh_context, s->column[j], s->iterations + 1, residual);
  return is_good || s->weight[j] == 0;
}

static enum gpnn_status look_at_residuals(struct solver *s)
{
  for (size_t j = 0; j < s->active; j++) {
    size_t c = s->column[j];
    if (s->finished[c]) continue;
    s->residual[c] = sqrt(s->sum[j]) / s->norm[c];
    if (!isfinite(s->residual[c])) return not_finite(s, "a residual");
    s->finished[c] = finishes(s, j, s->residual[c]);
  }
  return GPNN_OK;
}

/* The step along d: r -= a q, and which columns that finishes. */
static enum gpnn_status take_step(struct solver *s)
{
  enum gpnn_status status = make_room(s);
  if (status == GPNN_OK)
    status = s->matrix->multiply(s->matrix->context, s->active, s->d, s->q, s->err);
  if (status != GPNN_OK) return status;
  gpnn_blocks_dot(&s->blocks, s->active, s->d, s->q, s->sum);
  status = choose_lengths(s);
  if (status != GPNN_OK) return status;
  if (s->options->weigh != NULL) follow(s);
  gpnn_blocks_subtract(&s->blocks, s->active, s->r, s->a, s->q, s->r, s->sum);
  if (s->options->weigh != NULL && (s->iterations + 1) % ANEW == 0) status = renew_residuals(s);
  if (status == GPNN_OK) status = look_at_residuals(s);
  if (status != GPNN_OK) return status;
  s->iterations++;
  if (s->options->progress != NULL)
    s->options->progress(s->options->progress_context, s->iterations, worst(s));
  return GPNN_OK;
}

/* z = M^-1 r, with r'z in s->sum. */
static enum gpnn_status precondition(struct solver *s)
{
  if (s->matrix->precondition != NULL) {
    enum gpnn_status status =
        s->matrix->precondition(s->matrix->context, s->active, s->r, s->z, s->err);
    if (status != GPNN_OK) return status;
  }
  gpnn_blocks_dot(&s->blocks, s->active, s->r, s->z, s->sum);
  for (size_t j = 0; j < s->active; j++) {
    if (s->finished[s->column[j]]) continue;
    if (!isfinite(s->sum[j])) return not_finite(s, "a product with the preconditioner");
    if (!(s->sum[j] > 0))
      return gpnn_fail(s->err, GPNN_ENUMERIC,
                       "conjugate gradients: the preconditioner is not positive definite: r'z = "
                       "%.3g after iteration %zu",
                       s->sum[j], s->iterations);
  }
  return GPNN_OK;
}

/* The next directions: beta. */
static enum gpnn_status turn(struct solver *s)
{
  enum gpnn_status status = precondition(s);
  for (size_t j = 0; j < s->active && status == GPNN_OK; j++) {
    size_t c = s->column[j];
    if (s->finished[c]) continue;
    s->beta[j] = s->sum[j] / s->rho[j];
    s->rho[j] = s->sum[j];
    if (s->steps != NULL) s->steps->b[(s->iterations - 1) * s->columns + c] = s->beta[j];
  }
  return status;
}

static bool may_stop(const struct solver *s, size_t since_start)
{
  if (s->iterations == s->options->most_iterations) return true;
  if (count_finished(s) == s->active) return true;
  return s->options->stops_at_mean && since_start >= LEAST_FOR_MEAN &&
         measure(s) <= s->options->tolerance;
}

/* Columns that are good enough, within 'factor' times their tolerance, take no part in a start. */
static enum gpnn_status start(struct solver *s, double factor)
{
  size_t n = 0;
  for (size_t j = 0; j < s->columns; j++) {
    s->finished[j] = s->residual[j] <= factor * column_tolerance(s);
    if (!s->finished[j]) s->column[n++] = j;
    s->weight[j] = 1;
  }
  s->active = s->columns;
  gpnn_blocks_keep(&s->blocks, s->active, s->r, n, s->column);
  s->active = n;
  enum gpnn_status status = precondition(s);
  if (status != GPNN_OK) return status;
  memcpy(s->rho, s->sum, n * sizeof *s->rho);
  memcpy(s->d, s->z, s->blocks.outer * s->blocks.inner * n * sizeof *s->d);
  return GPNN_OK;
}

/* One start: iterations until all columns have finished, by the residuals that they update. */
static enum gpnn_status iterate(struct solver *s, double factor)
{
  size_t before = s->iterations;
  enum gpnn_status status = start(s, factor);
  bool stops = false;
  while (status == GPNN_OK && !stops) {
    status = take_step(s);
    stops = status == GPNN_OK && may_stop(s, s->iterations - before);
    if (status == GPNN_OK && !stops) status = turn(s);
    if (status != GPNN_OK) break;
    gpnn_blocks_advance(&s->blocks, s->active, s->a, s->beta, s->z, s->d, s->column, s->columns,
                        s->x);
    status = compact_if_worthwhile(s);
  }
  return status;
}

/* Starts again while true residuals are not what updated ones promised. */
static enum gpnn_status solve(struct solver *s, struct gpnn_cg_report *report)
{
  enum gpnn_status status = measure_right_hand_sides(s);
  for (int starts = 0; status == GPNN_OK; starts++) {
    double factor = starts == 0 ? 1 : 2;
    status = true_residuals(s);
    bool good = measure(s) <= factor * s->options->tolerance;
    if (status != GPNN_OK || good || starts == MOST_STARTS ||
        s->iterations >= s->options->most_iterations)
      break;
    status = iterate(s, factor);
    s->steps = NULL;
    if (s->options->weigh != NULL) break;
  }
  if (status != GPNN_OK) return status;
  *report = (struct gpnn_cg_report){.iterations = s->iterations, .residual = worst(s)};
  report->converged = measure(s) <= 2 * s->options->tolerance;
  return GPNN_OK;
}

enum gpnn_status gpnn_cg_solve(const struct gpnn_cg_matrix *matrix, size_t columns, const double *b,
                               double *x, const struct gpnn_cg_options *options,
                               struct gpnn_cg_steps *steps, struct gpnn_cg_report *report,
                               struct gpnn_error *err)
{
  struct solver s = {.matrix = matrix,
                     .options = options,
                     .steps = steps,
                     .err = err,
                     .columns = columns,
                     .b = b,
                     .x = x};
  enum gpnn_status status = GPNN_OK;
  *report = (struct gpnn_cg_report){.converged = true};
  if (columns == 0 || matrix->outer == 0 || matrix->inner == 0) return GPNN_OK;
  if (options->weigh != NULL) memset(x, 0, matrix->outer * matrix->inner * columns * sizeof *x);
  s.blocks = gpnn_blocks_of(matrix->outer, matrix->inner, options->threads);
  if (steps != NULL) {
    steps->columns = columns;
    steps->n = gpnn_alloc(columns, 1, sizeof *steps->n);
    if (steps->n == NULL) return gpnn_fail_memory(err, "for the steps of conjugate gradients");
  }
  status = allocate(&s);
  if (status == GPNN_OK) status = solve(&s, report);
  gpnn_arrays_free(s.arrays);
  return status;
}

void gpnn_cg_steps_release(struct gpnn_cg_steps *steps)
{
  free(steps->n);
  free(steps->a);
  free(steps->b);
  *steps = (struct gpnn_cg_steps){0};
}
