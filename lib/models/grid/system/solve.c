#include <stdlib.h>

#include "base/memory.h"
#include "models/grid/system/precondition_private.h"

#define MEMORY_FOR "for solving the equations of a grid"

/* Blocks of vectors that a batch takes: right-hand sides and solutions here, four in
 * gpnn_cg_solve(). */
enum { BLOCKS = 6 };

/* What the products of a batch need. */
struct batch {
  const struct gpnn_grid_system *system;
  double *scratch;
};

static enum gpnn_status multiply(void *context, size_t columns, const double *x, double *y,
                                 struct gpnn_error *err)
{
  const struct batch *batch = context;
  return gpnn_grid_cells_multiply(&batch->system->reduced, columns, x, y, batch->scratch,
                                  batch->system->options.threads, err);
}

static enum gpnn_status precondition(void *context, size_t columns, const double *x, double *y,
                                     struct gpnn_error *err)
{
  const struct batch *batch = context;
  return gpnn_grid_precondition_apply(batch->system->preconditioner, columns, x, y, batch->scratch,
                                      batch->system->options.threads, err);
}

static bool is_preconditioned(const struct gpnn_grid_system *system)
{
  return system->preconditioner->kind != GPNN_GRID_PRECONDITION_NONE;
}

/* The numbers of scratch that a column needs. */
static size_t column_scratch(const struct gpnn_grid_system *system)
{
  const struct gpnn_grid_cells *cells = &system->reduced;
  size_t product = cells->outer * cells->inner;
  size_t preconditioner = gpnn_grid_precondition_scratch(system->preconditioner, cells, 1);
  return product > preconditioner ? product : preconditioner;
}

/* How many of 'columns' vectors fit the memory together that the preconditioner leaves, and at
 * least a quarter of it: batches of nearly equal size. */
static size_t batch_columns(const struct gpnn_grid_system *system, size_t columns)
{
  size_t column =
      (BLOCKS * system->reduced.outer * system->reduced.inner + column_scratch(system)) *
      sizeof(double);
  size_t memory = system->options.memory, taken = system->preconditioner->bytes;
  size_t most = (taken < memory / 4 * 3 ? memory - taken : memory / 4) / column;
  if (most == 0) most = 1;
  size_t batches = (columns + most - 1) / most;
  return (columns + batches - 1) / batches;
}

/* Solves for 'count' columns from 'first' on; 'blocks' has two of 'size' numbers, and scratch. */
static enum gpnn_status solve_batch(const struct gpnn_grid_system *system, size_t columns,
                                    size_t first, size_t count, const double *b, double *x,
                                    double *blocks, size_t size,
                                    const struct gpnn_cg_options *options,
                                    struct gpnn_cg_report *report, struct gpnn_error *err)
{
  struct batch batch = {.system = system, .scratch = blocks + 2 * size};
  struct gpnn_cg_matrix matrix = {.outer = system->reduced.outer,
                                  .inner = system->reduced.inner,
                                  .multiply = multiply,
                                  .precondition = is_preconditioned(system) ? precondition : NULL,
                                  .context = &batch};
  gpnn_grid_gather(system, columns, first, count, b, blocks);
  gpnn_grid_gather(system, columns, first, count, x, blocks + size);
  enum gpnn_status status =
      gpnn_cg_solve(&matrix, count, blocks, blocks + size, options, NULL, report, err);
  if (status == GPNN_OK) gpnn_grid_scatter(system, columns, first, count, blocks + size, x);
  return status;
}

enum gpnn_status gpnn_grid_system_solve(const struct gpnn_grid_system *system, size_t columns,
                                        const double *b, double *x,
                                        const struct gpnn_cg_options *options,
                                        struct gpnn_cg_report *report, struct gpnn_error *err)
{
  struct gpnn_cg_report all = {.converged = true}, one;
  size_t most = columns == 0 ? 0 : batch_columns(system, columns), size;
  if (!gpnn_multiply(system->reduced.outer * system->reduced.inner, most, &size))
    return gpnn_fail_memory(err, MEMORY_FOR);
  double *blocks = gpnn_alloc(2 * size + column_scratch(system) * most, 1, sizeof *blocks);
  if (blocks == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = GPNN_OK;
  for (size_t first = 0; first < columns && status == GPNN_OK; first += most) {
    size_t count = columns - first < most ? columns - first : most;
    status = solve_batch(system, columns, first, count, b, x, blocks, size, options, &one, err);
    if (status != GPNN_OK) break;
    all.iterations = one.iterations > all.iterations ? one.iterations : all.iterations;
    all.residual = one.residual > all.residual ? one.residual : all.residual;
    all.converged = all.converged && one.converged;
  }
  free(blocks);
  if (status == GPNN_OK) *report = all;
  return status;
}
