#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "models/grid/system/precondition_private.h"

#define MEMORY_FOR "for the preconditioner of a grid"

/* The inverse of the covariance of all cells, as if each had been observed with the mean noise. */
struct gpnn_grid_full {
  const struct gpnn_grid_cells *cells;
  struct gpnn_grid_spectrum spectrum[GPNN_GRID_FACTORS];
  double *inverse; /* owned; outer by inner: of the eigenvalues */
};

void gpnn_grid_full_free(struct gpnn_grid_full *full)
{
  if (full == NULL) return;
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) gpnn_grid_spectrum_release(&full->spectrum[a]);
  free(full->inverse);
  free(full);
}

static double mean_noise(const struct gpnn_grid_cells *cells)
{
  double sum = 0;
  for (size_t i = 0; i < cells->outer * cells->inner; i++) sum += cells->noise[i];
  return sum / (double)cells->n_observed;
}

static enum gpnn_status invert(struct gpnn_grid_full *full, struct gpnn_error *err)
{
  const struct gpnn_grid_cells *cells = full->cells;
  size_t size = cells->outer * cells->inner;
  double noise = mean_noise(cells);
  full->inverse = gpnn_alloc(size, 1, sizeof *full->inverse);
  if (full->inverse == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t i = 0; i < size; i++) {
    double value = 1;
    for (size_t a = cells->n_factors, rest = i; a-- > 0; rest /= cells->n[a])
      value *= full->spectrum[a].values[rest % cells->n[a]];
    if (value + noise <= 0)
      return gpnn_fail(err, GPNN_ENUMERIC, "the noise is too small for the equations of a grid");
    full->inverse[i] = 1 / (value + noise);
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_full_new(struct gpnn_grid_full **made,
                                    const struct gpnn_grid_cells *cells, struct gpnn_error *err)
{
  struct gpnn_grid_full *full = gpnn_alloc(1, 1, sizeof *full);
  enum gpnn_status status = full == NULL ? gpnn_fail_memory(err, MEMORY_FOR) : GPNN_OK;
  if (status == GPNN_OK) full->cells = cells;
  for (size_t a = 0; a < cells->n_factors && status == GPNN_OK; a++)
    status = gpnn_grid_decompose(&full->spectrum[a], cells->n[a], cells->k[a], err);
  if (status == GPNN_OK) status = invert(full, err);
  if (status == GPNN_OK)
    *made = full;
  else
    gpnn_grid_full_free(full);
  return status;
}

/* Multiplies every axis by its eigenvectors, or by their transpose; the last result is in 'y'. */
static enum gpnn_status turn(const struct gpnn_grid_full *full, size_t columns, bool back,
                             const double *x, double *y, double *scratch, int threads,
                             struct gpnn_error *err)
{
  const struct gpnn_grid_cells *cells = full->cells;
  struct gpnn_grid_contraction c = {.left = 1, .right = cells->inner * columns, .transposed = back};
  enum gpnn_status status = GPNN_OK;
  for (size_t a = 0; a < cells->n_factors && status == GPNN_OK; a++) {
    double *to = (cells->n_factors - a) % 2 == 1 ? y : scratch;
    if (a > 0) c.right /= a == 1 ? columns * cells->n[a] : cells->n[a];
    c.d = c.n_to = c.stride = cells->n[a];
    c.k = full->spectrum[a].vectors;
    status = gpnn_grid_contract(&c, x, to, threads, err);
    c.left *= a == 0 ? columns * cells->n[a] : cells->n[a];
    x = to;
  }
  return status;
}

struct scaling {
  const struct gpnn_grid_full *full;
  size_t columns;
  double *y;
};

static void scale(void *context, size_t thread, size_t outer)
{
  const struct scaling *s = context;
  size_t inner = s->full->cells->inner;
  (void)thread;
  for (size_t c = 0; c < s->columns; c++)
    for (size_t j = 0; j < inner; j++)
      s->y[(outer * s->columns + c) * inner + j] *= s->full->inverse[outer * inner + j];
}

static void clear_missing(void *context, size_t thread, size_t outer)
{
  const struct scaling *s = context;
  const struct gpnn_grid_cells *cells = s->full->cells;
  size_t inner = cells->inner;
  (void)thread;
  for (size_t c = 0; c < s->columns; c++)
    for (size_t j = 0; j < inner; j++)
      if (!cells->observed[outer * inner + j]) s->y[(outer * s->columns + c) * inner + j] = 0;
}

enum gpnn_status gpnn_grid_full_apply(const struct gpnn_grid_full *full, size_t columns,
                                      const double *x, double *y, double *scratch, int threads,
                                      struct gpnn_error *err)
{
  size_t p = full->cells->outer, size = p * full->cells->inner * columns;
  double *turned = scratch + size;
  struct scaling s = {.full = full, .columns = columns, .y = turned};
  size_t chunk = 1 + 100000 / (columns * full->cells->inner);
  enum gpnn_status status = turn(full, columns, false, x, turned, scratch, threads, err);
  if (status != GPNN_OK) return status;
  gpnn_threads_each(threads, p, chunk, scale, &s);
  status = turn(full, columns, true, turned, y, scratch, threads, err);
  s.y = y;
  if (status == GPNN_OK) gpnn_threads_each(threads, p, chunk, clear_missing, &s);
  return status;
}
