#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "models/grid/posterior_private.h"

#define MEMORY_FOR "for predictions of a grid"

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

double gpnn_grid_mean_of_level(const struct gpnn_grid_posterior *p,
                               const struct gpnn_grid_places *places, size_t i)
{
  if (p->means.factor == 0) return 0;
  size_t a = p->means.factor - 1, level = places->level[i * p->grid->n_factors + a];
  if (level < p->dims[a]) return p->means.mean[level];
  return p->grid->factor[a].d == 1
             ? gpnn_grid_means_between(&p->means, places->x[a][level - p->dims[a]])
             : 0;
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
  enum gpnn_status status = sum == NULL || squares == NULL
                                ? gpnn_fail_memory(err, MEMORY_FOR)
                                : gpnn_grid_rows_roots(rows, p, root, err);
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
    if (mean != NULL && is_new(p, places, i))
      mean[i] = piece->mean[j] + gpnn_grid_mean_of_level(p, places, i);
    if (variance != NULL) variance[i] = piece->variance[j];
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
  if (mean != NULL) mean[i] = p->mean[cell] + gpnn_grid_mean_of_level(p, places, i);
  if (variance != NULL && p->variance != NULL) variance[i] = p->variance[cell];
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
