#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "models/grid/system/system_private.h"

/* Costs are counted in operations of matrix products and never measured by a clock, so that the
 * same system is always solved in the same way. */

/* Ranks that are tried grow by steps of sqrt(2), from the first to the last. */
enum { FIRST_RANK = 32, LAST_RANK = 20000 };

/* An eigenvalue decomposition of order n takes as long as about 10 n^3 operations of products. */
static double decomposition(double n)
{
  return 10 * n * n * n;
}

static double right_hand_sides(const struct gpnn_grid_system_options *options)
{
  return options->columns > 0 ? (double)options->columns : 64;
}

size_t gpnn_grid_shared_columns(const struct gpnn_grid_cells *cells)
{
  enum { MOST = 64, LEVELS_FOR_EACH = 16 };
  size_t levels = 0;
  for (size_t a = 0; a < cells->n_factors; a++) levels += cells->n[a];
  levels /= LEVELS_FOR_EACH;
  return levels > MOST ? MOST : levels + (levels == 0);
}

/* Conjugate gradients at a condition number need about so many iterations (16.48), and fewer where
 * columns share their directions (16.76). */
static double iterations(const struct gpnn_grid_cells *cells, double condition,
                         const struct gpnn_grid_system_options *options)
{
  double tolerance = options->tolerance > 0 ? options->tolerance : 0.01;
  size_t shared = gpnn_grid_shared_columns(cells);
  double sharing = fmin(right_hand_sides(options), (double)shared);
  return ceil(sqrt(condition) / 2 * log(2 / tolerance) / (1 + log2(sharing) / 4));
}

double gpnn_grid_mean_noise(const struct gpnn_grid_cells *cells)
{
  double sum = 0;
  for (size_t i = 0; i < cells->outer * cells->inner; i++) sum += cells->noise[i];
  return sum / (double)cells->n_observed;
}

double gpnn_grid_product_operations(const struct gpnn_grid_cells *cells)
{
  double size = (double)cells->outer * (double)cells->inner, sum = 0;
  if (cells->rank > 0) /* in, across and out */
    return 2 * (double)cells->outer * (double)cells->rank *
           ((double)cells->outer + 2 * (double)cells->inner);
  for (size_t a = 0; a < cells->n_factors; a++) sum += (double)cells->n[a];
  return 2 * size * sum;
}

double gpnn_grid_negligible(const struct gpnn_grid_cells *cells, double tolerance)
{
  double noise = gpnn_grid_mean_noise(cells), variance = 1;
  for (size_t a = 0; a < cells->n_factors; a++) {
    double sum = 0;
    for (size_t i = 0; i < cells->n[a]; i++) sum += cells->k[a][i * cells->n[a] + i];
    variance *= sum / (double)cells->n[a];
  }
  return tolerance / 2 * sqrt(noise * (noise + variance));
}

/* What making and using 'rank' pairs costs, all right-hand sides together. */
static double eigen_operations(const struct gpnn_grid_cells *cells, double product, double rank,
                               double used, bool diagonal, double iterations, double columns)
{
  double p = (double)cells->outer, q = (double)cells->inner, block = diagonal ? 1 : q;
  double once = p * rank * rank + rank * rank * rank / 3 + 2 * p * q * block * block;
  double each = 4 * p * rank + 2 * rank * rank + 4 * p * q * block + 4 * p * q * used;
  return once + columns * iterations * (product + each);
}

/* Walks up the ranks with what is left of the trace and the largest product that is left. */
static void try_ranks(const struct gpnn_grid_cells *cells, const struct gpnn_grid_spectrum *outer,
                      const struct gpnn_grid_spectrum *inner, double product,
                      const struct gpnn_grid_system_options *options, size_t *count,
                      struct gpnn_grid_eigen_plan *plan)
{
  double noise = gpnn_grid_mean_noise(cells), size = (double)outer->n * (double)inner->n;
  double trace = 0, sum = 0, least = INFINITY, next;
  double most = sqrt((double)options->memory / 4 / sizeof(double));
  size_t rank = 0, used = 0;
  for (size_t i = 0; i < outer->n; i++) trace += outer->values[i];
  for (size_t j = 0; j < inner->n; j++) sum += inner->values[j];
  trace *= sum;
  for (double goal = FIRST_RANK; goal <= LAST_RANK && (goal <= most || rank == 0);
       goal *= M_SQRT2) {
    size_t wanted = (size_t)goal - rank;
    size_t taken = gpnn_grid_take_pairs(outer, inner, wanted, count, &trace, &next);
    rank += taken;
    while (used < inner->n && count[used] > 0) used++;
    double left = fmax(trace, 0) / size;
    /* The blocks have most of what is left, but not evenly: an eighth of it is seen to help. */
    double condition = (noise + left + next) / (noise + left / 8);
    double cost =
        eigen_operations(cells, product, (double)rank, (double)used, plan->diagonal,
                         iterations(cells, condition, options), right_hand_sides(options));
    if (cost < least) {
      least = cost;
      plan->rank = rank;
    }
    if (taken < wanted) break;
  }
  plan->operations = least;
}

enum gpnn_status gpnn_grid_plan_eigen(const struct gpnn_grid_cells *cells,
                                      const struct gpnn_grid_spectrum *outer,
                                      const struct gpnn_grid_spectrum *inner, double product,
                                      const struct gpnn_grid_system_options *options,
                                      struct gpnn_grid_eigen_plan *plan, struct gpnn_error *err)
{
  *plan = (struct gpnn_grid_eigen_plan){.rank = options->rank};
  plan->diagonal = gpnn_grid_blocks_bytes(cells, false) > (double)options->memory / 4;
  if (plan->rank > 0) return GPNN_OK;
  size_t *count = gpnn_alloc(inner->n, 1, sizeof *count);
  if (count == NULL) return gpnn_fail_memory(err, "for the preconditioner of a grid");
  try_ranks(cells, outer, inner, product, options, count, plan);
  free(count);
  return GPNN_OK;
}

/* ---- the kind ----------------------------------------------------------------------------- */

/* At most the largest eigenvalue of the covariance of all cells, and no less than it. */
static double largest_row(const struct gpnn_grid_cells *cells)
{
  double product = 1;
  for (size_t a = 0; a < cells->n_factors; a++) {
    double most = 0;
    for (size_t i = 0; i < cells->n[a]; i++) {
      double sum = 0;
      for (size_t j = 0; j < cells->n[a]; j++) sum += fabs(cells->k[a][i * cells->n[a] + j]);
      most = fmax(most, sum);
    }
    product *= most;
  }
  return product;
}

static bool has_equal_noise(const struct gpnn_grid_cells *cells)
{
  double least = INFINITY, most = 0;
  for (size_t i = 0; i < cells->outer * cells->inner; i++) {
    if (!cells->observed[i]) continue;
    least = fmin(least, cells->noise[i]);
    most = fmax(most, cells->noise[i]);
  }
  return most <= least * (1 + 1e-12);
}

/* Whether eigenvectors of both sides may take their room. */
static bool fits_decomposition(const struct gpnn_grid_cells *cells, size_t memory)
{
  double p = (double)cells->outer, q = (double)cells->inner;
  return 4 * (p * p + q * q) * sizeof(double) <= (double)memory / 2;
}

enum gpnn_grid_preconditioner gpnn_grid_plan_kind(const struct gpnn_grid_cells *cells,
                                                  const struct gpnn_grid_system_options *options)
{
  double p = (double)cells->outer, q = (double)cells->inner, m = right_hand_sides(options);
  double product = gpnn_grid_product_operations(cells), noise = gpnn_grid_mean_noise(cells),
         sizes = 0;
  double holes = p * q - (double)cells->n_observed;
  double plain = m * product * iterations(cells, 1 + largest_row(cells) / noise, options);
  for (size_t a = 0; a < cells->n_factors; a++) sizes += decomposition((double)cells->n[a]);
  /* Besides its own two products for each of an iteration. */
  double grid = sizes + 3 * m * product * (holes + 1);
  if (holes > GPNN_GRID_FEW_HOLES || !has_equal_noise(cells)) grid = INFINITY;
  if (plain <= fmin(grid, sizes)) return GPNN_GRID_PRECONDITION_NONE;
  if (grid < INFINITY && (holes == 0 || grid < plain)) return GPNN_GRID_PRECONDITION_GRID;
  if (fits_decomposition(cells, options->memory)) return GPNN_GRID_PRECONDITION_EIGEN;
  double pivots = p * q * GPNN_GRID_PIVOTS * sizeof(double);
  return pivots <= (double)options->memory / 4 ? GPNN_GRID_PRECONDITION_PIVOTED
                                               : GPNN_GRID_PRECONDITION_NONE;
}
