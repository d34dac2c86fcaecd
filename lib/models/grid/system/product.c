#include "base/threads.h"
#include "models/grid/system/system_private.h"

/* Y = K_1 X K_2 by the root of K_2: inwards, across and outwards.  'y' has room for what comes
 * first, as the rank is at most K_2's order. */
static enum gpnn_status spread_by_root(const struct gpnn_grid_cells *cells, size_t columns,
                                       const double *x, double *y, double *scratch, int threads,
                                       struct gpnn_error *err)
{
  size_t p = cells->outer, q = cells->inner, rank = cells->rank;
  struct gpnn_grid_contraction in = {.left = p * columns, .d = q, .right = 1, .n_to = rank};
  in.k = cells->root;
  in.stride = rank;
  in.transposed = true;
  struct gpnn_grid_contraction across = {.left = 1, .d = p, .right = columns * rank, .n_to = p};
  across.k = cells->k[0];
  across.stride = p;
  struct gpnn_grid_contraction out = {.left = p * columns, .d = rank, .right = 1, .n_to = q};
  out.k = cells->root;
  out.stride = rank;
  enum gpnn_status status = gpnn_grid_contract(&in, x, y, threads, err);
  if (status == GPNN_OK) status = gpnn_grid_contract(&across, y, scratch, threads, err);
  return status == GPNN_OK ? gpnn_grid_contract(&out, scratch, y, threads, err) : status;
}

enum gpnn_status gpnn_grid_cells_spread(const struct gpnn_grid_cells *cells, size_t columns,
                                        const double *x, double *y, double *scratch, int threads,
                                        struct gpnn_error *err)
{
  size_t n_factors = cells->n_factors;
  const double *from = x;
  if (cells->rank > 0) return spread_by_root(cells, columns, x, y, scratch, threads, err);
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
