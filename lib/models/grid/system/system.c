#include "models/grid/system/system.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "linalg/iterative/block_cg.h"
#include "models/grid/system/system_private.h"

#define MEMORY_FOR "for the covariance of a grid"

/* A quarter of what is allowed. */
static size_t default_memory(void)
{
  size_t memory = gpnn_memory_allowed();
  return memory > 0 ? memory / 4 : (size_t)1 << 30;
}

static enum gpnn_status check_finite(size_t n, const double *k, struct gpnn_error *err)
{
  for (size_t i = 0; i < n * n; i++)
    if (!isfinite(k[i]))
      return gpnn_fail(err, GPNN_ENUMERIC, "the covariance of a factor of the grid is not finite");
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_system_from_matrices(struct gpnn_grid_system **made, size_t n_factors,
                                                const size_t *n, const double *const *k,
                                                size_t n_cells, const int64_t *cell,
                                                const double *noise,
                                                const struct gpnn_grid_system_options *options,
                                                struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t a = 0; a < n_factors && status == GPNN_OK; a++)
    status = check_finite(n[a], k[a], err);
  if (status != GPNN_OK) return status;
  struct gpnn_grid_system *system = gpnn_alloc(1, 1, sizeof *system);
  if (system == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  system->options = *options;
  if (options->threads < 1) system->options.threads = 1;
  if (options->memory == 0) system->options.memory = default_memory();
  status = gpnn_grid_cells_fill(&system->all, n_factors, n, k, n_cells, cell, noise, err);
  if (status == GPNN_OK) status = gpnn_grid_reduce(system, err);
  if (status == GPNN_OK)
    status = gpnn_grid_precondition_new(&system->preconditioner, &system->reduced, &system->options,
                                        err);
  if (status == GPNN_OK)
    *made = system;
  else
    gpnn_grid_system_free(system);
  return status;
}

void gpnn_grid_system_free(struct gpnn_grid_system *system)
{
  if (system == NULL) return;
  gpnn_grid_cells_release(&system->all);
  gpnn_grid_cells_release(&system->reduced);
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) free(system->level[a]);
  free(system->inner);
  gpnn_grid_precondition_free(system->preconditioner);
  free(system);
}

/* ---- accessors ---------------------------------------------------------------------------- */

size_t gpnn_grid_system_outer(const struct gpnn_grid_system *system)
{
  return system->all.outer;
}

size_t gpnn_grid_system_inner(const struct gpnn_grid_system *system)
{
  return system->all.inner;
}

const double *gpnn_grid_system_factor(const struct gpnn_grid_system *system, size_t a)
{
  return system->all.k[a];
}

const double *gpnn_grid_system_noise(const struct gpnn_grid_system *system)
{
  return system->all.noise;
}

const char *gpnn_grid_system_preconditioner(const struct gpnn_grid_system *system, size_t *rank)
{
  static const char *const names[] = {[GPNN_GRID_PRECONDITION_AUTO] = "auto",
                                      [GPNN_GRID_PRECONDITION_EIGEN] = "eigen",
                                      [GPNN_GRID_PRECONDITION_PIVOTED] = "pivoted",
                                      [GPNN_GRID_PRECONDITION_GRID] = "grid",
                                      [GPNN_GRID_PRECONDITION_NONE] = "none"};
  *rank = system->preconditioner->rank;
  return names[system->preconditioner->kind];
}

/* ---- products ----------------------------------------------------------------------------- */

/* The leading pairs of eigenvectors, if a product with them alone is as exact as the tolerance. */
static const struct gpnn_grid_pairs *pairs_for(const struct gpnn_grid_system *system,
                                               double tolerance)
{
  const struct gpnn_grid_preconditioner_state *state = system->preconditioner;
  bool suffice = state->leading.rank > 0 &&
                 state->negligible <= gpnn_grid_negligible(&system->reduced, tolerance);
  return suffice ? &state->leading : NULL;
}

/* Whether all levels stay. */
static bool is_whole(const struct gpnn_grid_system *system)
{
  return system->reduced.outer * system->reduced.inner == system->all.outer * system->all.inner;
}

enum gpnn_status gpnn_grid_system_spread(const struct gpnn_grid_system *system, double tolerance,
                                         size_t columns, const double *x, double *y,
                                         struct gpnn_error *err)
{
  size_t cells = system->all.outer * system->all.inner;
  const struct gpnn_grid_pairs *pairs = is_whole(system) ? pairs_for(system, tolerance) : NULL;
  if (columns == 0) return GPNN_OK;
  size_t each = pairs == NULL ? cells : gpnn_grid_pairs_scratch(pairs, 1);
  int threads = system->options.threads;
  double *scratch = gpnn_alloc(each, columns, sizeof *scratch);
  if (scratch == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status =
      pairs == NULL ? gpnn_grid_cells_spread(&system->all, columns, x, y, scratch, threads, err)
                    : gpnn_grid_pairs_spread(pairs, columns, x, y, scratch, threads, err);
  free(scratch);
  return status;
}

enum gpnn_status gpnn_grid_system_multiply(const struct gpnn_grid_system *system, size_t columns,
                                           const double *x, double *y, struct gpnn_error *err)
{
  const struct gpnn_grid_cells *reduced = &system->reduced;
  bool whole = is_whole(system);
  int threads = system->options.threads;
  size_t size;
  if (columns == 0) return GPNN_OK;
  if (!gpnn_multiply(reduced->outer * reduced->inner, columns, &size))
    return gpnn_fail_memory(err, MEMORY_FOR);
  double *scratch = gpnn_alloc(size, whole ? 1 : 3, sizeof *scratch);
  if (scratch == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status;
  if (whole) {
    status = gpnn_grid_cells_multiply(reduced, columns, x, y, scratch, threads, err);
  } else {
    double *from = scratch + size, *to = from + size;
    gpnn_grid_gather(system, columns, 0, columns, x, from);
    status = gpnn_grid_cells_multiply(reduced, columns, from, to, scratch, threads, err);
    if (status == GPNN_OK) gpnn_grid_scatter(system, columns, 0, columns, to, y);
  }
  free(scratch);
  return status;
}

/* ---- memory ------------------------------------------------------------------------------- */

/* Matrices of each factor at a time: as computed, of all levels, and of those observed.  For each
 * cell: noise and whether it was observed, of both, and the vectors of conjugate gradients. */
enum { MATRICES = 3, CELL_BYTES = 2 * (sizeof(double) + sizeof(bool)), VECTORS = 6 };

static double needed_bytes(const struct gpnn_grid *grid, size_t vectors)
{
  double cells = 1, squares = 0;
  for (size_t a = 0; a < grid->n_factors; a++) {
    double n = (double)grid->factor[a].n;
    cells *= n;
    squares += n * n;
  }
  return MATRICES * sizeof(double) * squares +
         (CELL_BYTES + sizeof(double) * (VECTORS + (double)vectors)) * cells;
}

/* Writes "30 levels of site x 4 of time". */
static void write_sizes(const struct gpnn_grid *grid, char *text, size_t size)
{
  size_t length = 0;
  text[0] = '\0';
  for (size_t a = 0; a < grid->n_factors && length < size; a++)
    length += (size_t)snprintf(text + length, size - length, "%s%zu%s of %s", a > 0 ? " x " : "",
                               grid->factor[a].n, a > 0 ? "" : " levels", grid->factor[a].name);
}

enum gpnn_status gpnn_grid_check_memory(const struct gpnn_grid *grid, size_t vectors,
                                        struct gpnn_error *err)
{
  enum { SIZES = 300 };
  size_t memory = gpnn_memory_allowed();
  double there = (double)memory, needed = needed_bytes(grid, vectors);
  char sizes[SIZES];
  if (memory == 0 || needed <= there) return GPNN_OK;
  write_sizes(grid, sizes, sizeof sizes);
  return gpnn_fail(err, GPNN_ENOMEM,
                   "%s: their covariances and %zu vectors with a number for each cell need %.3g GB "
                   "of memory at least, and %.3g GB are allowed: take fewer levels or draws, "
                   "or nearest neighbours (gpnn-index)",
                   sizes, VECTORS + vectors, needed / 1e9, there / 1e9);
}

/* ---- parts -------------------------------------------------------------------------------- */

/* The matrices of the factors and the noise of the observed cells. */
struct parts {
  size_t n[GPNN_GRID_FACTORS];
  double *k[GPNN_GRID_FACTORS];
  double *noise; /* n_cells */
};

static void release_parts(struct parts *parts)
{
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) free(parts->k[a]);
  free(parts->noise);
}

/* Fills the matrix of factor 'a'. */
static enum gpnn_status fill_factor(struct parts *parts, const struct gpnn_grid *grid,
                                    const struct gpnn_parameters *parameters, size_t a, int threads,
                                    struct gpnn_error *err)
{
  const struct gpnn_grid_factor *levels = &grid->factor[a];
  const struct gpnn_factor *factor = &parameters->grid.factor[a];
  size_t n = levels->n;
  double *x = gpnn_alloc(n, levels->d, sizeof *x);
  parts->n[a] = n;
  parts->k[a] = gpnn_alloc(n, n, sizeof *parts->k[a]);
  enum gpnn_status status =
      x == NULL || parts->k[a] == NULL
          ? gpnn_fail_memory(err, MEMORY_FOR)
          : gpnn_factor_prepare(factor, levels->d, n, levels->x, n, levels->x, x, err);
  if (status == GPNN_OK) {
    gpnn_factor_matrix(factor, levels->d, n, x, n, x, true, threads, parts->k[a]);
    double scale = a == 0 ? parameters->covariance.kernelscale : 1;
    for (size_t i = 0; i < n * n; i++) parts->k[a][i] *= scale;
  }
  free(x);
  return status == GPNN_OK ? GPNN_OK : gpnn_prefix(err, status, "factor %s", levels->name);
}

/* The noise variance of each observed cell: less where the mean of several was observed. */
static void fill_noise(double *noise, const struct gpnn_grid *grid,
                       const struct gpnn_parameters *parameters)
{
  const struct gpnn_grid_process *process = &parameters->grid;
  size_t level[GPNN_GRID_FACTORS];
  for (size_t i = 0; i < grid->n_cells; i++) {
    noise[i] = parameters->covariance.noise;
    if (process->noise_factor > 0) {
      gpnn_grid_levels(grid, grid->cell[i], level);
      noise[i] = process->noise[level[process->noise_factor - 1]];
    }
    if (grid->counts != NULL) noise[i] /= grid->counts[i];
  }
}

enum gpnn_status gpnn_grid_system_new(struct gpnn_grid_system **system,
                                      const struct gpnn_grid *grid,
                                      const struct gpnn_parameters *parameters,
                                      const struct gpnn_grid_system_options *options,
                                      struct gpnn_error *err)
{
  struct parts parts = {0};
  int threads = options->threads > 1 ? options->threads : 1;
  enum gpnn_status status = gpnn_grid_check_memory(grid, 0, err);
  if (status != GPNN_OK) return status;
  parts.noise = gpnn_alloc(grid->n_cells, 1, sizeof *parts.noise);
  if (parts.noise == NULL) status = gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t a = 0; a < grid->n_factors && status == GPNN_OK; a++)
    status = fill_factor(&parts, grid, parameters, a, threads, err);
  if (status == GPNN_OK) {
    fill_noise(parts.noise, grid, parameters);
    status = gpnn_grid_system_from_matrices(system, grid->n_factors, parts.n,
                                            (const double *const *)parts.k, grid->n_cells,
                                            grid->cell, parts.noise, options, err);
  }
  release_parts(&parts);
  return status;
}

/* ---- how exactly --------------------------------------------------------------------------- */

double gpnn_grid_noise_tolerance(const struct gpnn_parameters *parameters)
{
  const double least = 1e-6, most = 0.01, noise_share = 0.03;
  const struct gpnn_grid_process *process = &parameters->grid;
  double noise = parameters->covariance.noise;
  for (size_t i = 0; i < process->n_noise; i++)
    noise = i == 0 ? process->noise[0] : fmin(noise, process->noise[i]);
  double share = noise / (noise + parameters->covariance.kernelscale);
  return fmax(least, fmin(most, noise_share * sqrt(share)));
}

/* ---- solving ------------------------------------------------------------------------------ */

#define MEMORY_FOR_SOLVING "for solving the equations of a grid"

/* Blocks of vectors that a batch takes: right-hand sides and solutions here, four in
 * gpnn_block_cg_solve(). */
enum { BLOCKS = 6 };

/* What the products of a batch need. */
struct batch {
  const struct gpnn_grid_system *system;
  const struct gpnn_grid_pairs *pairs; /* NULL: exact products */
  double *scratch;
};

static enum gpnn_status multiply(void *context, size_t columns, const double *x, double *y,
                                 struct gpnn_error *err)
{
  const struct batch *batch = context;
  const struct gpnn_grid_cells *cells = &batch->system->reduced;
  int threads = batch->system->options.threads;
  if (batch->pairs == NULL)
    return gpnn_grid_cells_multiply(cells, columns, x, y, batch->scratch, threads, err);
  enum gpnn_status status =
      gpnn_grid_pairs_spread(batch->pairs, columns, x, y, batch->scratch, threads, err);
  if (status == GPNN_OK) gpnn_grid_cells_project(cells, columns, x, y, threads);
  return status;
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
  size_t pairs = gpnn_grid_pairs_scratch(&system->preconditioner->leading, 1);
  if (pairs > product) product = pairs;
  return product > preconditioner ? product : preconditioner;
}

/* Under the inverse of the full grid few directions are left to share. */
static bool shares_directions(const struct gpnn_grid_system *system)
{
  return system->preconditioner->kind != GPNN_GRID_PRECONDITION_GRID;
}

/* How many of 'columns' vectors are solved for together: as many as share directions and fit the
 * memory that the preconditioner leaves, or a quarter of it; batches of nearly equal size. */
static size_t batch_columns(const struct gpnn_grid_system *system, size_t columns)
{
  size_t column =
      (BLOCKS * system->reduced.outer * system->reduced.inner + column_scratch(system)) *
      sizeof(double);
  size_t memory = system->options.memory, taken = system->preconditioner->bytes;
  size_t most = (taken < memory / 4 * 3 ? memory - taken : memory / 4) / column;
  size_t shared = gpnn_grid_shared_columns(&system->reduced);
  if (shares_directions(system) && most > shared) most = shared;
  if (most == 0) most = 1;
  size_t batches = (columns + most - 1) / most;
  return (columns + batches - 1) / batches;
}

/* The most that a matrix without negligible eigenvectors leaves out of a residual. */
static double left_out(const struct gpnn_grid_system *system, size_t columns, const double *b,
                       const double *x)
{
  const struct gpnn_grid_cells *cells = &system->reduced;
  double most = 0;
  for (size_t c = 0; c < columns; c++) {
    double right = 0, solution = 0;
    for (size_t i = 0; i < cells->outer; i++)
      for (size_t j = 0; j < cells->inner; j++) {
        size_t at = (i * columns + c) * cells->inner + j;
        right += b[at] * b[at];
        solution += x[at] * x[at];
      }
    if (right > 0) most = fmax(most, sqrt(solution / right));
  }
  return most * system->preconditioner->negligible;
}

/* Solves for 'count' columns from 'first' on; 'blocks' has two of 'size' numbers, and scratch. */
static enum gpnn_status solve_batch(const struct gpnn_grid_system *system, size_t columns,
                                    size_t first, size_t count, const double *b, double *x,
                                    double *blocks, size_t size,
                                    const struct gpnn_cg_options *options,
                                    struct gpnn_cg_report *report, struct gpnn_error *err)
{
  struct batch batch = {.system = system,
                        .pairs = pairs_for(system, options->tolerance),
                        .scratch = blocks + 2 * size};
  struct gpnn_cg_matrix matrix = {.outer = system->reduced.outer,
                                  .inner = system->reduced.inner,
                                  .multiply = multiply,
                                  .precondition = is_preconditioned(system) ? precondition : NULL,
                                  .context = &batch};
  gpnn_grid_gather(system, columns, first, count, b, blocks);
  gpnn_grid_gather(system, columns, first, count, x, blocks + size);
  double *solution = blocks + size;
  enum gpnn_status status =
      shares_directions(system)
          ? gpnn_block_cg_solve(&matrix, count, blocks, solution, options, report, err)
          : gpnn_cg_solve(&matrix, count, blocks, solution, options, NULL, report, err);
  if (status != GPNN_OK) return status;
  if (batch.pairs != NULL) report->residual += left_out(system, count, blocks, solution);
  gpnn_grid_scatter(system, columns, first, count, solution, x);
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_system_solve(const struct gpnn_grid_system *system, size_t columns,
                                        const double *b, double *x,
                                        const struct gpnn_cg_options *options,
                                        struct gpnn_cg_report *report, struct gpnn_error *err)
{
  struct gpnn_cg_report all = {.converged = true}, one;
  size_t most = columns == 0 ? 0 : batch_columns(system, columns), size;
  if (!gpnn_multiply(system->reduced.outer * system->reduced.inner, most, &size))
    return gpnn_fail_memory(err, MEMORY_FOR_SOLVING);
  double *blocks = gpnn_alloc(2 * size + column_scratch(system) * most, 1, sizeof *blocks);
  if (blocks == NULL) return gpnn_fail_memory(err, MEMORY_FOR_SOLVING);
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
