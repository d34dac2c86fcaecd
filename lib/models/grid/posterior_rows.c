#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "models/grid/posterior_private.h"

#define MEMORY_FOR "for covariances with a grid"

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
  return fits ? GPNN_OK : gpnn_fail_memory(err, MEMORY_FOR);
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
  if (x == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
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
  if (rows->k[a] == NULL || rows->own[a] == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
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

enum gpnn_status gpnn_grid_rows_roots(const struct gpnn_grid_rows *rows,
                                      const struct gpnn_grid_posterior *p, double **b,
                                      struct gpnn_error *err)
{
  for (size_t a = 0; a < p->grid->n_factors; a++) {
    size_t n = p->dims[a];
    b[a] = gpnn_alloc(rows->n_rows[a], n, sizeof *b[a]);
    if (b[a] == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
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
    status = gpnn_fail_memory(err, MEMORY_FOR);
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
