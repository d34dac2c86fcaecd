/*
 * The pairs of an eigenvector of the first factor and one of the others with the largest products
 * of eigenvalues, and products with them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/arrays.h"
#include "models/grid/system/system_private.h"

#define MEMORY_FOR "for the eigenvectors of a grid's covariance"

/* ---- choosing them ------------------------------------------------------------------------ */

size_t gpnn_grid_take_pairs(const struct gpnn_grid_spectrum *outer,
                            const struct gpnn_grid_spectrum *inner, size_t n, size_t *count,
                            double *left, double *next)
{
  for (size_t taken = 0;; taken++) {
    size_t best = 0;
    *next = 0;
    for (size_t j = 0; j < inner->n; j++) {
      double value = count[j] < outer->n ? outer->values[count[j]] * inner->values[j] : 0;
      if (value > *next) {
        *next = value;
        best = j;
      }
      if (count[j] == 0) break; /* later ones have smaller products yet */
    }
    if (taken == n || *next <= 0) return taken;
    count[best]++;
    *left -= *next;
  }
}

size_t gpnn_grid_pairs_from(const struct gpnn_grid_spectrum *outer,
                            const struct gpnn_grid_spectrum *inner, double least, size_t *count)
{
  size_t n = 0, i = outer->n;
  for (size_t j = 0; j < inner->n; j++) {
    while (i > 0 && outer->values[i - 1] * inner->values[j] < least) i--;
    if (count != NULL) count[j] = i;
    n += i;
  }
  return n;
}

/* ---- keeping them ------------------------------------------------------------------------- */

enum gpnn_status gpnn_grid_pairs_keep(struct gpnn_grid_pairs *pairs,
                                      const struct gpnn_grid_spectrum *outer,
                                      const struct gpnn_grid_spectrum *inner, size_t *count,
                                      struct gpnn_error *err)
{
  size_t rank = 0, used = 0;
  for (; used < inner->n && count[used] > 0; used++) rank += count[used];
  *pairs = (struct gpnn_grid_pairs){
      .p = outer->n, .q = inner->n, .rank = rank, .used = used, .widest = count[0]};
  pairs->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(pairs->count, used, 1), GPNN_ARRAY(pairs->first, used + 1, 1),
      GPNN_ARRAY(pairs->root, rank, 1), GPNN_ARRAY(pairs->outer, pairs->widest, pairs->p),
      GPNN_ARRAY(pairs->inner, used, pairs->q));
  if (pairs->arrays == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  memcpy(pairs->count, count, used * sizeof *count);
  memcpy(pairs->outer, outer->vectors, pairs->widest * pairs->p * sizeof *pairs->outer);
  memcpy(pairs->inner, inner->vectors, used * pairs->q * sizeof *pairs->inner);
  for (size_t j = 0; j < used; j++) {
    pairs->first[j + 1] = pairs->first[j] + count[j];
    for (size_t i = 0; i < count[j]; i++)
      pairs->root[pairs->first[j] + i] = sqrt(outer->values[i] * inner->values[j]);
  }
  return GPNN_OK;
}

void gpnn_grid_pairs_release(struct gpnn_grid_pairs *pairs)
{
  gpnn_arrays_free(pairs->arrays);
  *pairs = (struct gpnn_grid_pairs){0};
}

/* ---- products ----------------------------------------------------------------------------- */

static void scale_roots(const struct gpnn_grid_pairs *pairs, size_t columns, double *u)
{
  for (size_t r = 0; r < pairs->rank; r++)
    for (size_t c = 0; c < columns; c++) u[r * columns + c] *= pairs->root[r];
}

enum gpnn_status gpnn_grid_pairs_project(const struct gpnn_grid_pairs *pairs, size_t columns,
                                         const double *x, double *u, double *turned, int threads,
                                         struct gpnn_error *err)
{
  struct gpnn_grid_contraction inner = {.left = pairs->used,
                                        .d = pairs->q,
                                        .right = 1,
                                        .n_to = pairs->p * columns,
                                        .k = x,
                                        .stride = pairs->q};
  enum gpnn_status status = gpnn_grid_contract(&inner, pairs->inner, turned, threads, err);
  for (size_t j = 0; j < pairs->used && status == GPNN_OK; j++) {
    struct gpnn_grid_contraction outer = {.left = 1,
                                          .d = pairs->p,
                                          .right = columns,
                                          .n_to = pairs->count[j],
                                          .k = pairs->outer,
                                          .stride = pairs->p};
    status = gpnn_grid_contract(&outer, turned + j * pairs->p * columns,
                                u + pairs->first[j] * columns, threads, err);
  }
  scale_roots(pairs, columns, u);
  return status;
}

enum gpnn_status gpnn_grid_pairs_expand(const struct gpnn_grid_pairs *pairs, size_t columns,
                                        double *u, double *y, double *turned, int threads,
                                        struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  scale_roots(pairs, columns, u);
  for (size_t j = 0; j < pairs->used && status == GPNN_OK; j++) {
    struct gpnn_grid_contraction outer = {.left = 1,
                                          .d = pairs->count[j],
                                          .right = columns,
                                          .n_to = pairs->p,
                                          .k = pairs->outer,
                                          .stride = pairs->p,
                                          .transposed = true};
    status = gpnn_grid_contract(&outer, u + pairs->first[j] * columns,
                                turned + j * pairs->p * columns, threads, err);
  }
  struct gpnn_grid_contraction inner = {.left = 1,
                                        .d = pairs->used,
                                        .right = pairs->q,
                                        .n_to = pairs->p * columns,
                                        .k = turned,
                                        .stride = pairs->p * columns,
                                        .transposed = true};
  return status == GPNN_OK ? gpnn_grid_contract(&inner, pairs->inner, y, threads, err) : status;
}

double gpnn_grid_pairs_operations(double p, double q, double rank, double used)
{
  return 4 * p * rank + 4 * p * q * used;
}

size_t gpnn_grid_pairs_scratch(const struct gpnn_grid_pairs *pairs, size_t columns)
{
  return columns * (pairs->used * pairs->p + pairs->rank);
}

enum gpnn_status gpnn_grid_pairs_spread(const struct gpnn_grid_pairs *pairs, size_t columns,
                                        const double *x, double *y, double *scratch, int threads,
                                        struct gpnn_error *err)
{
  double *u = scratch + pairs->used * pairs->p * columns;
  enum gpnn_status status = gpnn_grid_pairs_project(pairs, columns, x, u, scratch, threads, err);
  if (status != GPNN_OK) return status;
  return gpnn_grid_pairs_expand(pairs, columns, u, y, scratch, threads, err);
}
