#include "models/grid/state.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "models/grid/posterior_private.h"

static const char alpha_name[] = "alpha", draws_name[] = "draws";

/* ---- out ---------------------------------------------------------------------------------- */

/* Copies all draws, one after another, from the padded blocks. */
static void take_draws(const struct gpnn_grid_posterior *p, double *draws)
{
  size_t n = p->grid->n_cells;
  for (size_t b = 0; b < gpnn_grid_n_blocks(p); b++) {
    size_t columns = gpnn_grid_block_draws(p, b);
    for (size_t c = 0; c < columns; c++)
      for (size_t o = 0; o < n; o++) {
        size_t cell = (size_t)p->grid->cell[o];
        *draws++ = p->blocks[b][(cell / p->inner * columns + c) * p->inner + cell % p->inner];
      }
  }
}

enum gpnn_status gpnn_grid_state_store(const struct gpnn_grid_posterior *p, const char *target,
                                       struct gpnn_state *state, struct gpnn_error *err)
{
  size_t n = p->grid->n_cells;
  enum gpnn_status status = gpnn_state_add(state, target, alpha_name, n, p->alpha, err);
  if (status != GPNN_OK || p->blocks == NULL) return status;
  double *draws = gpnn_alloc(n, p->options.draws, sizeof *draws);
  if (draws == NULL) return gpnn_fail_memory(err, "for the draws of a grid");
  take_draws(p, draws);
  status = gpnn_state_add(state, target, draws_name, n * p->options.draws, draws, err);
  free(draws);
  return status;
}

/* ---- in ----------------------------------------------------------------------------------- */

static bool is_finite(const struct gpnn_state_array *array)
{
  for (size_t i = 0; i < array->n; i++)
    if (!isfinite(array->values[i])) return false;
  return true;
}

void gpnn_grid_state_find(const struct gpnn_state *state, uint64_t fingerprint, const char *target,
                          size_t n_cells, struct gpnn_grid_posterior_options *options)
{
  if (state == NULL || state->fingerprint != fingerprint) return;
  const struct gpnn_state_array *alpha = gpnn_state_find(state, target, alpha_name);
  const struct gpnn_state_array *draws = gpnn_state_find(state, target, draws_name);
  if (alpha != NULL && alpha->n == n_cells && is_finite(alpha)) options->alpha = alpha->values;
  if (draws != NULL && draws->n % n_cells == 0 && is_finite(draws)) {
    options->start = draws->values;
    options->n_start = draws->n / n_cells;
  }
}
