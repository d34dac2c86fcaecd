#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "models/grid/posterior_private.h"

#define MEMORY_FOR "for predictions of a grid"
#define MEMORY_FOR_ROWS "for covariances with a grid"

/* ---- levels ------------------------------------------------------------------------------- */

/* Numbers the levels of factor 'a' that occur, in order of appearance. */
static enum gpnn_status number_levels(struct gpnn_grid_rows *rows,
                                      const struct gpnn_grid_posterior *p,
                                      const struct gpnn_grid_places *places, const size_t *chosen,
                                      uint32_t *number, size_t a, struct gpnn_error *err)
{
  size_t f = p->grid->n_factors, levels = p->dims[a] + places->n_new[a];
  size_t most = rows->n < levels ? rows->n : levels;
  uint32_t *known = gpnn_alloc(levels, 1, sizeof *known); /* 1 + its number */
  rows->level[a] = gpnn_alloc(most, 1, sizeof *rows->level[a]);
  bool fits = known != NULL && rows->level[a] != NULL;
  for (size_t i = 0; fits && i < rows->n; i++) {
    uint32_t level = places->level[chosen[i] * f + a];
    if (known[level] == 0) {
      rows->level[a][rows->n_rows[a]] = level;
      known[level] = (uint32_t)++rows->n_rows[a];
    }
    number[i * f + a] = known[level] - 1;
  }
  free(known);
  return fits ? GPNN_OK : gpnn_fail_memory(err, MEMORY_FOR_ROWS);
}

/* The covariances of new levels: those of 'rows' that are, whose rows are then filled. */
static enum gpnn_status fill_new(struct gpnn_grid_rows *rows, const struct gpnn_grid_posterior *p,
                                 const struct gpnn_grid_places *places, size_t a,
                                 struct gpnn_error *err)
{
  const struct gpnn_grid_factor *levels = &p->grid->factor[a];
  const struct gpnn_factor *factor = &p->parameters->grid.factor[a];
  size_t n = levels->n, d = levels->d;
  double scale = a == 0 ? p->parameters->covariance.kernelscale : 1, *x;
  if (factor->n_terms == 0 || levels->labels != NULL)
    return gpnn_fail(err, GPNN_EDATA, "factor %s has names for levels, and cannot have new ones",
                     levels->name);
  size_t n_new = 0;
  x = gpnn_alloc(rows->n_rows[a], d, sizeof *x);
  if (x == NULL) return gpnn_fail_memory(err, MEMORY_FOR_ROWS);
  for (size_t i = 0; i < rows->n_rows[a]; i++)
    if (rows->level[a][i] >= n)
      memcpy(x + n_new++ * d, places->x[a] + (rows->level[a][i] - n) * d, d * sizeof *x);
  enum gpnn_status status = gpnn_factor_prepare(factor, d, n, levels->x, n_new, x, x, err);
  const double *next = x;
  for (size_t i = 0; i < rows->n_rows[a] && status == GPNN_OK; i++) {
    if (rows->level[a][i] < n) continue;
    double *k = rows->k[a] + i * n;
    gpnn_factor_matrix(factor, d, 1, next, n, p->prepared[a], false, 1, k);
    for (size_t j = 0; j < n; j++) k[j] *= scale;
    rows->own[a][i] = scale * gpnn_factor_variance(factor, next);
    next += d;
  }
  free(x);
  return status;
}

static enum gpnn_status fill_rows(struct gpnn_grid_rows *rows, const struct gpnn_grid_posterior *p,
                                  const struct gpnn_grid_places *places, size_t a,
                                  struct gpnn_error *err)
{
  size_t n = p->dims[a];
  const double *k = gpnn_grid_system_factor(p->system, a);
  bool has_new = false;
  rows->k[a] = gpnn_alloc(rows->n_rows[a], n, sizeof *rows->k[a]);
  rows->own[a] = gpnn_alloc(rows->n_rows[a], 1, sizeof *rows->own[a]);
  if (rows->k[a] == NULL || rows->own[a] == NULL) return gpnn_fail_memory(err, MEMORY_FOR_ROWS);
  for (size_t i = 0; i < rows->n_rows[a]; i++) {
    size_t level = rows->level[a][i];
    has_new = has_new || level >= n;
    if (level >= n) continue;
    memcpy(rows->k[a] + i * n, k + level * n, n * sizeof *k);
    rows->own[a][i] = k[level * n + level];
  }
  return has_new ? fill_new(rows, p, places, a, err) : GPNN_OK;
}

enum gpnn_status gpnn_grid_rows_make(struct gpnn_grid_rows *rows,
                                     const struct gpnn_grid_posterior *p,
                                     const struct gpnn_grid_places *places, size_t count,
                                     const size_t *chosen, uint32_t *number, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  rows->n = count;
  rows->number = number;
  for (size_t a = 0; a < p->grid->n_factors && status == GPNN_OK; a++) {
    status = number_levels(rows, p, places, chosen, number, a, err);
    if (status == GPNN_OK) status = fill_rows(rows, p, places, a, err);
  }
  return status;
}

void gpnn_grid_rows_release(struct gpnn_grid_rows *rows, size_t n_factors)
{
  for (size_t a = 0; a < n_factors; a++) {
    free(rows->level[a]);
    free(rows->k[a]);
    free(rows->own[a]);
  }
  memset(rows, 0, sizeof *rows);
}

/* The same rows of roots (models/grid/root.h), to 'b[a]', n_rows by the factor's levels, to be
 * freed by the caller whatever the outcome. */
static enum gpnn_status rows_roots(const struct gpnn_grid_rows *rows,
                                   const struct gpnn_grid_posterior *p, double **b,
                                   struct gpnn_error *err)
{
  for (size_t a = 0; a < p->grid->n_factors; a++) {
    size_t n = p->dims[a];
    b[a] = gpnn_alloc(rows->n_rows[a], n, sizeof *b[a]);
    if (b[a] == NULL) return gpnn_fail_memory(err, MEMORY_FOR_ROWS);
    memcpy(b[a], rows->k[a], rows->n_rows[a] * n * sizeof *b[a]);
    enum gpnn_status status = gpnn_grid_root_extend(&p->root[a], rows->n_rows[a], b[a], err);
    if (status != GPNN_OK) return status;
    for (size_t i = 0; i < rows->n_rows[a]; i++)
      if (rows->level[a][i] < n)
        memcpy(b[a] + i * n, p->root[a].f + rows->level[a][i] * n, n * sizeof *b[a]);
  }
  return GPNN_OK;
}

/* ---- sums of products --------------------------------------------------------------------- */

/* Rows of the first factor that are multiplied together: always as many, so that what becomes of
 * one does not depend on the others. */
enum { GROUP = 32 };

struct evaluation {
  size_t n_factors;
  const size_t *dims;
  double *const *k;
  const uint32_t *number; /* of the places */
  size_t columns, inner;
  const size_t *order; /* places by their row of the first factor */
  size_t first_row;    /* of the group */
  const double *along; /* GROUP by columns by inner: multiplied along the first factor */
  double *rows;        /* for each thread inner numbers */
  double *values;
};

void gpnn_grid_inner_row(size_t n_factors, double *const *k, const size_t *dims,
                         const uint32_t *number, double *inner)
{
  size_t size = 1;
  inner[0] = 1;
  for (size_t a = n_factors; a-- > 1;) { /* from the last, which varies fastest */
    const double *row = k[a] + number[a] * dims[a];
    for (size_t l = dims[a]; l-- > 0;)
      for (size_t j = size; j-- > 0;) inner[l * size + j] = row[l] * inner[j];
    size *= dims[a];
  }
}

static void sum_place(void *context, size_t thread, size_t piece)
{
  const struct evaluation *e = context;
  size_t i = e->order[piece];
  const uint32_t *number = e->number + i * e->n_factors;
  double *row = e->rows + thread * e->inner;
  const double *along = e->along + (number[0] - e->first_row) * e->columns * e->inner;
  gpnn_grid_inner_row(e->n_factors, e->k, e->dims, number, row);
  for (size_t c = 0; c < e->columns; c++)
    e->values[i * e->columns + c] = cblas_ddot((int)e->inner, along + c * e->inner, 1, row, 1);
}

/* Orders the places by their row of the first factor, of which there are 'n_rows'; start[r] is
 * where those of row r begin. */
static void sort_places(size_t n_factors, size_t n, const uint32_t *number, size_t n_rows,
                        size_t *start, size_t *order)
{
  for (size_t i = 0; i < n; i++) start[number[i * n_factors] + 1]++;
  for (size_t r = 0; r < n_rows; r++) start[r + 1] += start[r];
  for (size_t i = 0; i < n; i++) order[start[number[i * n_factors]]++] = i;
  for (size_t r = n_rows; r-- > 0;) start[r + 1] = start[r];
  start[0] = 0;
}

/* Multiplies the rows of a group along the first factor, and sums up its places. */
static enum gpnn_status evaluate_group(struct evaluation *e, size_t n_rows, const size_t *start,
                                       const double *x, double *group, double *along, int threads,
                                       struct gpnn_error *err)
{
  size_t count = n_rows - e->first_row < GROUP ? n_rows - e->first_row : GROUP;
  memset(group, 0, GROUP * e->dims[0] * sizeof *group);
  memcpy(group, e->k[0] + e->first_row * e->dims[0], count * e->dims[0] * sizeof *group);
  enum gpnn_status status = gpnn_grid_contract_axis(2, (size_t[]){e->dims[0], e->inner}, e->columns,
                                                    0, GROUP, group, x, along, threads, err);
  if (status != GPNN_OK) return status;
  size_t first = start[e->first_row];
  struct evaluation here = *e;
  here.order += first;
  gpnn_threads_each(threads, start[e->first_row + count] - first, 1 + 100000 / (e->inner + 1),
                    sum_place, &here);
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_evaluate(size_t n_factors, const size_t *dims, double *const *k,
                                    size_t n, const uint32_t *number, size_t columns,
                                    const double *x, int threads, double *values,
                                    struct gpnn_error *err)
{
  size_t inner = 1, n_rows = 0;
  for (size_t a = 1; a < n_factors; a++) inner *= dims[a];
  for (size_t i = 0; i < n; i++)
    if (number[i * n_factors] >= n_rows) n_rows = number[i * n_factors] + (size_t)1;
  threads = gpnn_blas_claim(threads);
  if (threads == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  size_t *order = gpnn_alloc(n, 1, sizeof *order),
         *start = gpnn_alloc(n_rows + 1, 1, sizeof *start);
  double *group = gpnn_alloc(dims[0], GROUP, sizeof *group);
  double *along = gpnn_alloc(inner * columns, GROUP, sizeof *along);
  double *rows = gpnn_alloc(inner, (size_t)threads, sizeof *rows);
  struct evaluation e = {n_factors, dims, k, number, columns, inner, order, 0, along, rows, values};
  enum gpnn_status status = GPNN_OK;
  if (order == NULL || start == NULL || group == NULL || along == NULL || rows == NULL)
    status = gpnn_fail_memory(err, MEMORY_FOR_ROWS);
  else
    sort_places(n_factors, n, number, n_rows, start, order);
  for (; status == GPNN_OK && e.first_row < n_rows; e.first_row += GROUP)
    status = evaluate_group(&e, n_rows, start, x, group, along, threads, err);
  free(order);
  free(start);
  free(group);
  free(along);
  free(rows);
  return status;
}

/* ---- predictions -------------------------------------------------------------------------- */

/* Variances below this share of the kernel scale are rounding. */
static const double LEAST_VARIANCE = 1e-12;

/* Places whose covariances are held at once. */
enum { PIECE = 4096 };

static bool is_new(const struct gpnn_grid_posterior *p, const struct gpnn_grid_places *places,
                   size_t i)
{
  for (size_t a = 0; a < p->grid->n_factors; a++)
    if (places->level[i * p->grid->n_factors + a] >= p->dims[a]) return true;
  return false;
}

static size_t cell_of(const struct gpnn_grid_posterior *p, const uint32_t *level)
{
  size_t cell = 0;
  for (size_t a = 0; a < p->grid->n_factors; a++) cell = cell * p->dims[a] + level[a];
  return cell;
}

struct gpnn_grid_level gpnn_grid_find_level(const struct gpnn_grid_posterior *p,
                                            const struct gpnn_grid_places *places, size_t number)
{
  const struct gpnn_grid_means *means = &p->means;
  size_t a = means->factor - 1, n = p->dims[a];
  struct gpnn_grid_level level = {.x = (double)number};
  if (means->is_ordered)
    level.x = number < n ? p->grid->factor[a].x[number] : places->x[a][number - n];
  level.is_known = number < n && means->is_known[number];
  if (level.is_known)
    level.mean = means->mean[number];
  else
    gpnn_grid_series_predict(&means->series, level.x, &level.mean, &level.variance);
  return level;
}

struct gpnn_grid_level gpnn_grid_level_of(const struct gpnn_grid_posterior *p,
                                          const struct gpnn_grid_places *places, size_t i)
{
  if (p->means.factor == 0) return (struct gpnn_grid_level){.mean = 0};
  size_t number = places->level[i * p->grid->n_factors + p->means.factor - 1];
  return gpnn_grid_find_level(p, places, number);
}

/* ---- from draws --------------------------------------------------------------------------- */

/* Adds what the draws of block 'b' say of the places to sums of their differences from the mean,
 * and of the squares of these. */
static enum gpnn_status add_block(const struct gpnn_grid_posterior *p,
                                  const struct gpnn_grid_rows *rows, double *const *root, size_t b,
                                  const double *mean, double *sum, double *squares,
                                  struct gpnn_error *err)
{
  size_t columns = gpnn_grid_block_draws(p, b), f = p->grid->n_factors;
  int threads = p->options.system.threads;
  double *z = gpnn_alloc(p->outer * p->inner, columns, sizeof *z);
  double *f_prior = gpnn_alloc(rows->n, columns, sizeof *f_prior);
  double *update = gpnn_alloc(rows->n, columns, sizeof *update);
  enum gpnn_status status =
      z == NULL || f_prior == NULL || update == NULL ? gpnn_fail_memory(err, MEMORY_FOR) : GPNN_OK;
  if (status == GPNN_OK) {
    gpnn_grid_draw_normals(p, b * p->width, columns, z);
    status = gpnn_grid_evaluate(f, p->dims, root, rows->n, rows->number, columns, z, threads,
                                f_prior, err);
  }
  if (status == GPNN_OK)
    status = gpnn_grid_evaluate(f, p->dims, rows->k, rows->n, rows->number, columns, p->blocks[b],
                                threads, update, err);
  for (size_t i = 0; status == GPNN_OK && i < rows->n; i++) {
    for (size_t c = 0; c < columns; c++) {
      double off = f_prior[i * columns + c] + update[i * columns + c] - mean[i];
      sum[i] += off;
      squares[i] += off * off;
    }
  }
  free(z);
  free(f_prior);
  free(update);
  return status;
}

/* The variance of the part of a place's draws that does not follow from the grid's (equation
 * 16.26), which is known without draws. */
static double innovation(const struct gpnn_grid_posterior *p, const struct gpnn_grid_rows *rows,
                         double *const *root, size_t i)
{
  double own = 1, explained = 1;
  for (size_t a = 0; a < p->grid->n_factors; a++) {
    size_t number = rows->number[i * p->grid->n_factors + a], n = p->dims[a];
    double square = 0;
    for (size_t j = 0; j < n; j++) square += root[a][number * n + j] * root[a][number * n + j];
    own *= rows->own[a][number];
    explained *= rows->level[a][number] < n ? rows->own[a][number] : square;
  }
  return own - explained < 0 ? 0 : own - explained; /* a NaN stays one */
}

/* Means (of the draws, if wanted so) and variances of places at new levels. */
static enum gpnn_status sum_draws(const struct gpnn_grid_posterior *p,
                                  const struct gpnn_grid_rows *rows, double *mean, double *variance,
                                  struct gpnn_error *err)
{
  double *root[GPNN_GRID_FACTORS] = {0}, draws = (double)p->options.draws;
  double *sum = gpnn_alloc(rows->n, 1, sizeof *sum);
  double *squares = gpnn_alloc(rows->n, 1, sizeof *squares);
  enum gpnn_status status = sum == NULL || squares == NULL ? gpnn_fail_memory(err, MEMORY_FOR)
                                                           : rows_roots(rows, p, root, err);
  for (size_t b = 0; status == GPNN_OK && b < gpnn_grid_n_blocks(p); b++)
    status = add_block(p, rows, root, b, mean, sum, squares, err);
  for (size_t i = 0; status == GPNN_OK && i < rows->n; i++) {
    variance[i] = innovation(p, rows, root, i);
    if (p->options.mean == GPNN_GRID_MEAN_SAMPLE) {
      mean[i] += sum[i] / draws;
      variance[i] += (squares[i] - sum[i] * sum[i] / draws) / (draws - 1);
    } else
      variance[i] += squares[i] / draws;
  }
  for (size_t a = 0; a < p->grid->n_factors; a++) free(root[a]);
  free(sum);
  free(squares);
  return status;
}

/* ---- pieces ------------------------------------------------------------------------------- */

/* Some places that the grid's own numbers do not answer. */
struct piece {
  size_t n;
  bool has_new;
  size_t chosen[PIECE];
  uint32_t number[PIECE * GPNN_GRID_FACTORS];
  double mean[PIECE], variance[PIECE];
};

static enum gpnn_status compute(const struct gpnn_grid_posterior *p,
                                const struct gpnn_grid_places *places, struct piece *piece,
                                bool wants_variance, struct gpnn_error *err)
{
  struct gpnn_grid_rows rows = {0};
  enum gpnn_status status =
      gpnn_grid_rows_make(&rows, p, places, piece->n, piece->chosen, piece->number, err);
  bool sampled =
      wants_variance && !p->exact_variance && p->options.variance != GPNN_GRID_VARIANCE_NONE;
  bool of_draws = piece->has_new && (sampled || p->options.mean == GPNN_GRID_MEAN_SAMPLE);
  if (status == GPNN_OK)
    status = gpnn_grid_evaluate(p->grid->n_factors, p->dims, rows.k, rows.n, rows.number, 1,
                                p->weights, p->options.system.threads, piece->mean, err);
  if (status == GPNN_OK && of_draws && p->blocks == NULL)
    status = gpnn_fail(err, GPNN_EINVAL, "draws were not kept for new levels of the grid");
  if (status == GPNN_OK && of_draws)
    status = sum_draws(p, &rows, piece->mean, piece->variance, err);
  if (status == GPNN_OK && wants_variance && p->exact_variance)
    status = p->ops->variance(p, &rows, piece->variance, err);
  gpnn_grid_rows_release(&rows, p->grid->n_factors);
  return status;
}

/* Computes a piece and empties it. */
static enum gpnn_status finish(const struct gpnn_grid_posterior *p,
                               const struct gpnn_grid_places *places, struct piece *piece,
                               double *mean, double *variance, struct gpnn_error *err)
{
  enum gpnn_status status = compute(p, places, piece, variance != NULL, err);
  for (size_t j = 0; status == GPNN_OK && j < piece->n; j++) {
    size_t i = piece->chosen[j];
    struct gpnn_grid_level level = gpnn_grid_level_of(p, places, i);
    if (mean != NULL && is_new(p, places, i)) mean[i] = piece->mean[j] + level.mean;
    if (variance != NULL) variance[i] = piece->variance[j] + level.variance;
  }
  piece->n = 0;
  piece->has_new = false;
  return status;
}

/* True if the place's numbers are those of a cell of the grid, which are then written. */
static bool look_up(const struct gpnn_grid_posterior *p, const struct gpnn_grid_places *places,
                    size_t i, double *mean, double *variance)
{
  if (is_new(p, places, i)) return false;
  size_t cell = cell_of(p, places->level + i * p->grid->n_factors);
  struct gpnn_grid_level level = gpnn_grid_level_of(p, places, i);
  if (mean != NULL) mean[i] = p->mean[cell] + level.mean;
  if (variance != NULL && p->variance != NULL) variance[i] = p->variance[cell] + level.variance;
  return variance == NULL || p->variance != NULL || p->options.variance == GPNN_GRID_VARIANCE_NONE;
}

enum gpnn_status gpnn_grid_posterior_predict(const struct gpnn_grid_posterior *p,
                                             const struct gpnn_grid_places *places, double *mean,
                                             double *variance, struct gpnn_error *err)
{
  struct piece *piece = gpnn_alloc(1, 1, sizeof *piece);
  if (piece == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < places->n && status == GPNN_OK; i++) {
    if (look_up(p, places, i, mean, variance)) continue;
    piece->chosen[piece->n++] = i;
    piece->has_new = piece->has_new || is_new(p, places, i);
    if (piece->n == PIECE) status = finish(p, places, piece, mean, variance, err);
  }
  if (status == GPNN_OK && piece->n > 0) status = finish(p, places, piece, mean, variance, err);
  free(piece);
  double least = LEAST_VARIANCE * p->parameters->covariance.kernelscale;
  bool none = p->options.variance == GPNN_GRID_VARIANCE_NONE;
  for (size_t i = 0; status == GPNN_OK && variance != NULL && i < places->n; i++)
    variance[i] = none ? NAN : variance[i] < least ? least : variance[i];
  return status;
}
