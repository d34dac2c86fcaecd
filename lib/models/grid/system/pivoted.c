#include <stdlib.h>

#include "base/memory.h"
#include "linalg/pivoted_cholesky.h"
#include "linalg/woodbury.h"
#include "models/grid/system/precondition_private.h"

#define MEMORY_FOR "for the preconditioner of a grid"

/* L L' from the largest pivots of the observed cells, plus the noise. */
struct gpnn_grid_pivoted {
  struct gpnn_pivoted_cholesky cholesky;
  double *precision; /* owned; outer by inner: 1 / noise, 0 where nothing was observed */
  struct gpnn_woodbury woodbury;
};

void gpnn_grid_pivoted_free(struct gpnn_grid_pivoted *pivoted)
{
  if (pivoted == NULL) return;
  gpnn_woodbury_release(&pivoted->woodbury);
  gpnn_pivoted_cholesky_release(&pivoted->cholesky);
  free(pivoted->precision);
  free(pivoted);
}

/* The product of the covariances between the levels of cells 'a' and 'b' of all factors but the
 * first. */
static double inner_covariance(const struct gpnn_grid_cells *cells, size_t a, size_t b)
{
  double k = 1;
  for (size_t f = cells->n_factors; f-- > 1; a /= cells->n[f], b /= cells->n[f])
    k *= cells->k[f][a % cells->n[f] * cells->n[f] + b % cells->n[f]];
  return k;
}

/* The row of one cell; its inner covariances are kept where the first level's will be written,
 * which is last. */
static enum gpnn_status fill_row(void *context, size_t cell, double *row, struct gpnn_error *err)
{
  const struct gpnn_grid_cells *cells = context;
  size_t p = cells->outer, q = cells->inner;
  const double *outer = cells->k[0] + cell / q * p;
  (void)err;
  for (size_t j = 0; j < q; j++) row[j] = inner_covariance(cells, cell % q, j);
  for (size_t i = p; i-- > 0;)
    for (size_t j = 0; j < q; j++)
      row[i * q + j] = cells->observed[i * q + j] ? outer[i] * row[j] : 0;
  return GPNN_OK;
}

static enum gpnn_status factor(struct gpnn_grid_pivoted *pivoted,
                               const struct gpnn_grid_cells *cells, size_t rank, int threads,
                               struct gpnn_error *err)
{
  size_t p = cells->outer, q = cells->inner;
  double *diagonal = gpnn_alloc(p, q, sizeof *diagonal);
  if (diagonal == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t i = 0; i < p * q; i++)
    if (cells->observed[i])
      diagonal[i] = cells->k[0][i / q * p + i / q] * inner_covariance(cells, i % q, i % q);
  union {
    const struct gpnn_grid_cells *given;
    void *context;
  } borrowed = {.given = cells}; /* which fill_row() only reads */
  struct gpnn_pivoted_matrix matrix = {
      .n = p * q, .diagonal = diagonal, .row = fill_row, .context = borrowed.context};
  enum gpnn_status status =
      gpnn_pivoted_cholesky(&matrix, rank, 0, threads, &pivoted->cholesky, err);
  free(diagonal);
  return status;
}

static enum gpnn_status make(struct gpnn_grid_pivoted *pivoted, const struct gpnn_grid_cells *cells,
                             size_t rank, int threads, struct gpnn_error *err)
{
  size_t p = cells->outer, q = cells->inner;
  pivoted->precision = gpnn_alloc(p, q, sizeof *pivoted->precision);
  if (pivoted->precision == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t i = 0; i < p * q; i++)
    pivoted->precision[i] = cells->observed[i] ? 1 / cells->noise[i] : 0;
  enum gpnn_status status = factor(pivoted, cells, rank, threads, err);
  if (status != GPNN_OK) return status;
  return gpnn_woodbury_make(&pivoted->woodbury, p, q, pivoted->cholesky.rank, pivoted->cholesky.l,
                            pivoted->precision, threads, err);
}

enum gpnn_status gpnn_grid_pivoted_new(struct gpnn_grid_pivoted **made,
                                       const struct gpnn_grid_cells *cells, size_t rank,
                                       int threads, struct gpnn_error *err)
{
  struct gpnn_grid_pivoted *pivoted = gpnn_alloc(1, 1, sizeof *pivoted);
  if (pivoted == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = make(pivoted, cells, rank, threads, err);
  if (status == GPNN_OK)
    *made = pivoted;
  else
    gpnn_grid_pivoted_free(pivoted);
  return status;
}

size_t gpnn_grid_pivoted_rank(const struct gpnn_grid_pivoted *pivoted)
{
  return pivoted->cholesky.rank;
}

enum gpnn_status gpnn_grid_pivoted_apply(const struct gpnn_grid_pivoted *pivoted, size_t columns,
                                         const double *x, double *y, struct gpnn_error *err)
{
  return gpnn_woodbury_solve(&pivoted->woodbury, columns, x, y, err);
}
