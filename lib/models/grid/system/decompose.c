#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "linalg/factors/eigen.h"
#include "models/grid/system/system_private.h"

#define MEMORY_FOR "for the eigenvectors of a grid's covariance"

void gpnn_grid_spectrum_release(struct gpnn_grid_spectrum *spectrum)
{
  free(spectrum->values);
  free(spectrum->vectors);
  *spectrum = (struct gpnn_grid_spectrum){0};
}

static enum gpnn_status allocate(struct gpnn_grid_spectrum *spectrum, size_t n,
                                 struct gpnn_error *err)
{
  *spectrum = (struct gpnn_grid_spectrum){.n = n,
                                          .values = gpnn_alloc(n, 1, sizeof *spectrum->values),
                                          .vectors = gpnn_alloc(n, n, sizeof *spectrum->vectors)};
  if (spectrum->values != NULL && spectrum->vectors != NULL) return GPNN_OK;
  gpnn_grid_spectrum_release(spectrum);
  return gpnn_fail_memory(err, MEMORY_FOR);
}

/* LAPACK has eigenvalues in ascending order. */
static void reverse(struct gpnn_grid_spectrum *spectrum)
{
  size_t n = spectrum->n;
  for (size_t i = 0; i < n / 2; i++) {
    double value = spectrum->values[i], *low = spectrum->vectors + i * n;
    double *high = spectrum->vectors + (n - 1 - i) * n;
    spectrum->values[i] = spectrum->values[n - 1 - i];
    spectrum->values[n - 1 - i] = value;
    for (size_t j = 0; j < n; j++) {
      double x = low[j];
      low[j] = high[j];
      high[j] = x;
    }
  }
  for (size_t i = 0; i < n; i++)
    if (spectrum->values[i] < 0) spectrum->values[i] = 0;
}

enum gpnn_status gpnn_grid_decompose(struct gpnn_grid_spectrum *spectrum, size_t n, const double *k,
                                     struct gpnn_error *err)
{
  if (gpnn_blas_claim(1) == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  enum gpnn_status status = allocate(spectrum, n, err);
  if (status != GPNN_OK) return status;
  memcpy(spectrum->vectors, k, n * n * sizeof *k);
  status = gpnn_eigen(n, spectrum->vectors, spectrum->values, "a factor's covariance", err);
  if (status != GPNN_OK) {
    gpnn_grid_spectrum_release(spectrum);
    return status;
  }
  reverse(spectrum);
  return GPNN_OK;
}

/* ---- products of factors ------------------------------------------------------------------ */

struct entry {
  double value;
  size_t row;
};

static int by_value(const void *a, const void *b)
{
  const struct entry *x = a, *y = b;
  int order = gpnn_compare_doubles(&y->value, &x->value);
  return order != 0 ? order : gpnn_compare_sizes(&x->row, &y->row);
}

/* Eigenpairs of the Kronecker product of two matrices: all products, sorted into 'product'. */
static void combine(const struct gpnn_grid_spectrum *a, const struct gpnn_grid_spectrum *b,
                    struct entry *order, struct gpnn_grid_spectrum *product)
{
  size_t n = product->n;
  for (size_t r = 0; r < n; r++)
    order[r] = (struct entry){.value = a->values[r / b->n] * b->values[r % b->n], .row = r};
  qsort(order, n, sizeof *order, by_value);
  for (size_t r = 0; r < n; r++) {
    const double *x = a->vectors + order[r].row / b->n * a->n;
    const double *y = b->vectors + order[r].row % b->n * b->n;
    product->values[r] = order[r].value;
    for (size_t j = 0; j < n; j++) product->vectors[r * n + j] = x[j / b->n] * y[j % b->n];
  }
}

/* Replaces '*a' by its product with '*b'. */
static enum gpnn_status join(struct gpnn_grid_spectrum *a, const struct gpnn_grid_spectrum *b,
                             struct gpnn_error *err)
{
  struct gpnn_grid_spectrum product = {0};
  size_t n = a->n * b->n;
  struct entry *order = gpnn_alloc(n, 1, sizeof *order);
  enum gpnn_status status =
      order == NULL ? gpnn_fail_memory(err, MEMORY_FOR) : allocate(&product, n, err);
  if (status == GPNN_OK) {
    combine(a, b, order, &product);
    gpnn_grid_spectrum_release(a);
    *a = product;
  }
  free(order);
  return status;
}

enum gpnn_status gpnn_grid_decompose_inner(struct gpnn_grid_spectrum *spectrum,
                                           const struct gpnn_grid_cells *cells,
                                           struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_grid_decompose(spectrum, cells->n[1], cells->k[1], err);
  for (size_t a = 2; a < cells->n_factors && status == GPNN_OK; a++) {
    struct gpnn_grid_spectrum next = {0};
    status = gpnn_grid_decompose(&next, cells->n[a], cells->k[a], err);
    if (status == GPNN_OK) status = join(spectrum, &next, err);
    gpnn_grid_spectrum_release(&next);
  }
  if (status != GPNN_OK) gpnn_grid_spectrum_release(spectrum);
  return status;
}
