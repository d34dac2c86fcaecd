/*
 * Preconditioners of the equations of a grid: that of all cells, pivots, and the choice of one.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/factors/pivoted_cholesky.h"
#include "linalg/factors/woodbury.h"
#include "models/grid/system/system_private.h"

#define MEMORY_FOR "for the preconditioner of a grid"

/* ---- all cells ---------------------------------------------------------------------------- */

/* The inverse of the covariance of all cells, as if each had been observed with the mean noise. */
struct gpnn_grid_full {
  const struct gpnn_grid_cells *cells;
  struct gpnn_grid_spectrum spectrum[GPNN_GRID_FACTORS];
  double *inverse; /* owned; outer by inner: of the eigenvalues */
};

static void full_free(struct gpnn_grid_full *full)
{
  if (full == NULL) return;
  for (size_t a = 0; a < GPNN_GRID_FACTORS; a++) gpnn_grid_spectrum_release(&full->spectrum[a]);
  free(full->inverse);
  free(full);
}

static enum gpnn_status invert(struct gpnn_grid_full *full, struct gpnn_error *err)
{
  const struct gpnn_grid_cells *cells = full->cells;
  size_t size = cells->outer * cells->inner;
  double noise = gpnn_grid_mean_noise(cells);
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

/* Of the covariance of all cells, observed or not; 'cells' is borrowed. */
static enum gpnn_status full_new(struct gpnn_grid_full **made, const struct gpnn_grid_cells *cells,
                                 struct gpnn_error *err)
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
    full_free(full);
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

/* 'scratch' is twice as large as 'y'. */
static enum gpnn_status full_apply(const struct gpnn_grid_full *full, size_t columns,
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

/* ---- pivots ------------------------------------------------------------------------------- */

/* L L' from the largest pivots of the observed cells, plus the noise. */
struct gpnn_grid_pivoted {
  struct gpnn_pivoted_cholesky cholesky;
  double *precision; /* owned; outer by inner: 1 / noise, 0 where nothing was observed */
  struct gpnn_woodbury woodbury;
};

static void pivoted_free(struct gpnn_grid_pivoted *pivoted)
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

static enum gpnn_status make_solver(struct gpnn_grid_pivoted *pivoted,
                                    const struct gpnn_grid_cells *cells, size_t rank, int threads,
                                    struct gpnn_error *err)
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

/* 'rank' is the most; 'cells' is borrowed for the call. */
static enum gpnn_status pivoted_new(struct gpnn_grid_pivoted **made,
                                    const struct gpnn_grid_cells *cells, size_t rank, int threads,
                                    struct gpnn_error *err)
{
  struct gpnn_grid_pivoted *pivoted = gpnn_alloc(1, 1, sizeof *pivoted);
  if (pivoted == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = make_solver(pivoted, cells, rank, threads, err);
  if (status == GPNN_OK)
    *made = pivoted;
  else
    pivoted_free(pivoted);
  return status;
}

static size_t pivoted_rank(const struct gpnn_grid_pivoted *pivoted)
{
  return pivoted->cholesky.rank;
}

static enum gpnn_status pivoted_apply(const struct gpnn_grid_pivoted *pivoted, size_t columns,
                                      const double *x, double *y, struct gpnn_error *err)
{
  return gpnn_woodbury_solve(&pivoted->woodbury, columns, x, y, err);
}

/* ---- one of them -------------------------------------------------------------------------- */

void gpnn_grid_precondition_free(struct gpnn_grid_preconditioner_state *state)
{
  if (state == NULL) return;
  gpnn_grid_eigen_free(state->eigen);
  gpnn_grid_pairs_release(&state->leading);
  full_free(state->full);
  pivoted_free(state->pivoted);
  free(state);
}

/* The pairs that solutions to the tolerance of the options see, if products with them alone take
 * clearly less: their number of operations, or those of a product. */
static enum gpnn_status find_leading(struct gpnn_grid_preconditioner_state *state,
                                     const struct gpnn_grid_cells *cells,
                                     const struct gpnn_grid_spectrum *outer,
                                     const struct gpnn_grid_spectrum *inner,
                                     const struct gpnn_grid_system_options *options,
                                     double *operations, struct gpnn_error *err)
{
  const double worthwhile = 0.7;
  double p = (double)cells->outer, q = (double)cells->inner, used = 0;
  double least = gpnn_grid_negligible(cells, options->tolerance);
  *operations = gpnn_grid_product_operations(cells);
  size_t *count = gpnn_alloc(inner->n, 1, sizeof *count);
  if (count == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  size_t n = gpnn_grid_pairs_from(outer, inner, least, count);
  for (size_t j = 0; j < inner->n && count[j] > 0; j++) used++;
  double leading = gpnn_grid_pairs_operations(p, q, (double)n, used);
  enum gpnn_status status = GPNN_OK;
  if (n > 0 && leading < worthwhile * *operations) {
    *operations = leading;
    state->negligible = least;
    status = gpnn_grid_pairs_keep(&state->leading, outer, inner, count, err);
  }
  free(count);
  return status;
}

static enum gpnn_status make_eigen(struct gpnn_grid_preconditioner_state *state,
                                   const struct gpnn_grid_cells *cells,
                                   const struct gpnn_grid_system_options *options,
                                   struct gpnn_error *err)
{
  struct gpnn_grid_spectrum outer = {0}, inner = {0};
  struct gpnn_grid_eigen_plan plan;
  double product = 0;
  enum gpnn_status status = gpnn_grid_decompose(&outer, cells->n[0], cells->k[0], err);
  if (status == GPNN_OK) status = gpnn_grid_decompose_inner(&inner, cells, err);
  if (status == GPNN_OK)
    status = find_leading(state, cells, &outer, &inner, options, &product, err);
  if (status == GPNN_OK)
    status = gpnn_grid_plan_eigen(cells, &outer, &inner, product, options, &plan, err);
  if (status == GPNN_OK)
    status =
        gpnn_grid_eigen_new(&state->eigen, cells, &outer, &inner, &plan, options->threads, err);
  gpnn_grid_spectrum_release(&outer);
  gpnn_grid_spectrum_release(&inner);
  if (status != GPNN_OK) return status;
  state->rank = gpnn_grid_eigen_rank(state->eigen);
  state->bytes = gpnn_grid_eigen_bytes(state->eigen) +
                 state->leading.widest * state->leading.p * sizeof(double);
  return GPNN_OK;
}

static enum gpnn_status make_pivoted(struct gpnn_grid_preconditioner_state *state,
                                     const struct gpnn_grid_cells *cells,
                                     const struct gpnn_grid_system_options *options,
                                     struct gpnn_error *err)
{
  size_t rank = options->rank > 0 ? options->rank : GPNN_GRID_PIVOTS;
  if (rank > cells->n_observed) rank = cells->n_observed;
  enum gpnn_status status = pivoted_new(&state->pivoted, cells, rank, options->threads, err);
  if (status != GPNN_OK) return status;
  state->rank = pivoted_rank(state->pivoted);
  state->bytes = cells->outer * cells->inner * state->rank * sizeof(double);
  return GPNN_OK;
}

static enum gpnn_status make_kind(struct gpnn_grid_preconditioner_state *state,
                                  const struct gpnn_grid_cells *cells,
                                  const struct gpnn_grid_system_options *options,
                                  struct gpnn_error *err)
{
  state->kind = options->preconditioner;
  if (state->kind == GPNN_GRID_PRECONDITION_AUTO) state->kind = gpnn_grid_plan_kind(cells, options);
  switch (state->kind) {
  case GPNN_GRID_PRECONDITION_AUTO:
  case GPNN_GRID_PRECONDITION_EIGEN:
    return make_eigen(state, cells, options, err);
  case GPNN_GRID_PRECONDITION_GRID:
    return full_new(&state->full, cells, err);
  case GPNN_GRID_PRECONDITION_PIVOTED:
    return make_pivoted(state, cells, options, err);
  case GPNN_GRID_PRECONDITION_NONE:
    break;
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_grid_precondition_new(struct gpnn_grid_preconditioner_state **made,
                                            const struct gpnn_grid_cells *cells,
                                            const struct gpnn_grid_system_options *options,
                                            struct gpnn_error *err)
{
  struct gpnn_grid_preconditioner_state *state = gpnn_alloc(1, 1, sizeof *state);
  if (state == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = make_kind(state, cells, options, err);
  if (status == GPNN_OK)
    *made = state;
  else
    gpnn_grid_precondition_free(state);
  return status;
}

size_t gpnn_grid_precondition_scratch(const struct gpnn_grid_preconditioner_state *state,
                                      const struct gpnn_grid_cells *cells, size_t columns)
{
  if (state->eigen != NULL) return gpnn_grid_eigen_scratch(state->eigen, columns);
  return state->full != NULL ? 2 * cells->outer * cells->inner * columns : 0;
}

enum gpnn_status gpnn_grid_precondition_apply(const struct gpnn_grid_preconditioner_state *state,
                                              size_t columns, const double *x, double *y,
                                              double *scratch, int threads, struct gpnn_error *err)
{
  if (state->eigen != NULL)
    return gpnn_grid_eigen_apply(state->eigen, columns, x, y, scratch, threads, err);
  if (state->pivoted != NULL) return pivoted_apply(state->pivoted, columns, x, y, err);
  return full_apply(state->full, columns, x, y, scratch, threads, err);
}
