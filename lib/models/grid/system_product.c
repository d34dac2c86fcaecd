#include "base/threads.h"
#include "models/grid/system_private.h"

enum gpnn_status gpnn_grid_cells_spread(const struct gpnn_grid_cells *cells, size_t columns,
                                        const double *x, double *y, double *scratch, int threads,
                                        struct gpnn_error *err)
{
  size_t n_factors = cells->n_factors;
  const double *from = x;
  enum gpnn_status status = GPNN_OK;
  /* The last of the factors writes to y. */
  for (size_t a = 0; a < n_factors && status == GPNN_OK; a++) {
    double *to = (n_factors - a) % 2 == 1 ? y : scratch;
    status = gpnn_grid_contract_axis(n_factors, cells->n, columns, a, cells->n[a], cells->k[a],
                                     from, to, threads, err);
    from = to;
  }
  return status;
}

struct mask {
  const struct gpnn_grid_cells *cells;
  size_t columns;
  const double *x;
  double *y;
};

/* Adds the noise at the observed cells of a level of the first factor, and clears the others. */
static void project(void *context, size_t thread, size_t outer)
{
  const struct mask *m = context;
  size_t inner = m->cells->inner;
  const bool *observed = m->cells->observed + outer * inner;
  const double *noise = m->cells->noise + outer * inner;
  (void)thread;
  for (size_t c = 0; c < m->columns; c++) {
    const double *x = m->x + (outer * m->columns + c) * inner;
    double *y = m->y + (outer * m->columns + c) * inner;
    for (size_t j = 0; j < inner; j++) y[j] = observed[j] ? y[j] + noise[j] * x[j] : 0;
  }
}

enum gpnn_status gpnn_grid_cells_multiply(const struct gpnn_grid_cells *cells, size_t columns,
                                          const double *x, double *y, double *scratch, int threads,
                                          struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_grid_cells_spread(cells, columns, x, y, scratch, threads, err);
  if (status != GPNN_OK) return status;
  struct mask m = {.cells = cells, .columns = columns, .x = x, .y = y};
  size_t chunk = 1 + 100000 / (columns * cells->inner + 1);
  gpnn_threads_each(threads, cells->outer, chunk, project, &m);
  return GPNN_OK;
}
