#include "models/inducing/cross.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/panels/panels.h"
#include "linalg/simd.h"

#define MEMORY_FOR "for inducing points"

enum { TILE = GPNN_INDUCING_TILE, STRIP = GPNN_PANEL_STRIP };

size_t gpnn_inducing_tile_size(size_t m)
{
  return gpnn_panel_size(m, 1) * TILE;
}

/* ---- panels ------------------------------------------------------------------------------- */

/* Copies two panels of doubles into one of floats, whose rows are those of the first and then those
 * of the second. */
GPNN_SIMD static void round_two(size_t m, size_t lanes, const double *restrict first,
                                const double *restrict second, float *restrict to)
{
  for (size_t j = 0; j < m; j++) {
#pragma omp simd
    for (size_t i = 0; i < lanes; i++) to[2 * j * lanes + i] = (float)first[j * lanes + i];
#pragma omp simd
    for (size_t i = 0; i < lanes; i++) to[(2 * j + 1) * lanes + i] = (float)second[j * lanes + i];
  }
}

static void round_tile(size_t m, const double *panels, float *rounded)
{
  size_t lanes = gpnn_panels_best()->lanes, panel = gpnn_panel_size(m, lanes);
  for (size_t p = 0; p < TILE / lanes; p += 2)
    round_two(m, lanes, panels + p * panel, panels + (p + 1) * panel, rounded + p * panel);
}

/* Adds the squares that a strip makes of a tile. */
static void add_precise(size_t m, const struct gpnn_inducing_strip *strip, const double *panels,
                        double *squares)
{
  gpnn_panels_best()->squares(m, strip->begin, strip->end, strip->precise, TILE, panels, squares);
}

/* Their sum over the strip alone is in single precision. */
static void add_approximate(size_t m, const struct gpnn_inducing_strip *strip, const float *panels,
                            double *squares)
{
  _Alignas(64) float own[TILE] = {0};
  gpnn_panels_best()->squares_float(m, strip->begin, strip->end, strip->approximate, TILE, panels,
                                    own);
  for (size_t i = 0; i < TILE; i++) squares[i] += own[i];
}

void gpnn_inducing_squares(const struct gpnn_inducing_root *root, const double *panels,
                           float *rounded, double *squares)
{
  memset(squares, 0, TILE * sizeof *squares);
  round_tile(root->m, panels, rounded);
  for (size_t s = 0; s < root->n_strips; s++)
    if (root->strips[s].precise != NULL)
      add_precise(root->m, &root->strips[s], panels, squares);
    else
      add_approximate(root->m, &root->strips[s], rounded, squares);
}

/* ---- strips ------------------------------------------------------------------------------- */

/* Finds the columns of n rows that are not all zero. */
static void find_columns(size_t n, size_t m, const double *rows, struct gpnn_inducing_strip *strip)
{
  strip->begin = m;
  for (size_t w = 0; w < n; w++)
    for (size_t j = 0; j < m; j++)
      if (rows[w * m + j] != 0) {
        strip->begin = j < strip->begin ? j : strip->begin;
        strip->end = j + 1 > strip->end ? j + 1 : strip->end;
      }
  if (strip->begin > strip->end) strip->begin = strip->end;
}

static enum gpnn_status pack(size_t n, size_t m, const double *rows,
                             struct gpnn_inducing_strip *strip, struct gpnn_error *err)
{
  find_columns(n, m, rows, strip);
  strip->precise = gpnn_alloc(strip->end - strip->begin, STRIP, sizeof *strip->precise);
  if (strip->precise == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t w = 0; w < n; w++)
    for (size_t j = strip->begin; j < strip->end; j++)
      strip->precise[(j - strip->begin) * STRIP + w] = rows[w * m + j];
  return GPNN_OK;
}

/* Trial rows, rounded, and the errors that single precision has made in their squares so far. */
struct trial {
  const struct gpnn_inducing_trial *rows;
  float *rounded;
  double *error; /* as many as rows, and then those with the next strip */
};

/* True if the errors stay small with this strip in single precision; they are then added. */
static bool is_harmless(size_t m, const struct gpnn_inducing_strip *strip, struct trial *trial)
{
  size_t size = gpnn_inducing_tile_size(m), n = trial->rows->n_tiles * TILE;
  bool is_small = true;
  for (size_t t = 0; t < trial->rows->n_tiles; t++) {
    _Alignas(64) double precise[TILE] = {0}, approximate[TILE] = {0};
    add_precise(m, strip, trial->rows->panels + t * size, precise);
    add_approximate(m, strip, trial->rounded + t * size, approximate);
    for (size_t i = 0; i < TILE; i++) {
      double error =
          trial->error[t * TILE + i] + trial->rows->scale * (approximate[i] - precise[i]);
      is_small = is_small && fabs(error) <= GPNN_INDUCING_ERROR;
      trial->error[n + t * TILE + i] = error;
    }
  }
  if (is_small) memcpy(trial->error, trial->error + n, n * sizeof *trial->error);
  return is_small;
}

/* Keeps the strip in single precision if that is harmless. */
static enum gpnn_status choose_precision(size_t m, struct trial *trial,
                                         struct gpnn_inducing_strip *strip, struct gpnn_error *err)
{
  size_t n = (strip->end - strip->begin) * STRIP;
  strip->approximate = gpnn_alloc(n, 1, sizeof *strip->approximate);
  if (strip->approximate == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t i = 0; i < n; i++) strip->approximate[i] = (float)strip->precise[i];
  if (is_harmless(m, strip, trial)) {
    free(strip->precise);
    strip->precise = NULL;
  } else {
    free(strip->approximate);
    strip->approximate = NULL;
  }
  return GPNN_OK;
}

static enum gpnn_status prepare(size_t m, struct trial *trial, struct gpnn_error *err)
{
  size_t size = gpnn_inducing_tile_size(m), n_tiles = trial->rows->n_tiles;
  trial->rounded = gpnn_alloc(n_tiles, size, sizeof *trial->rounded);
  trial->error = gpnn_alloc(n_tiles, (size_t)2 * TILE, sizeof *trial->error);
  if (trial->rounded == NULL || trial->error == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  for (size_t t = 0; t < n_tiles; t++)
    round_tile(m, trial->rows->panels + t * size, trial->rounded + t * size);
  return GPNN_OK;
}

enum gpnn_status gpnn_inducing_root_new(struct gpnn_inducing_root *root, size_t rank, size_t m,
                                        const double *rows,
                                        const struct gpnn_inducing_trial *trial_rows,
                                        struct gpnn_error *err)
{
  struct trial trial = {.rows = trial_rows};
  *root = (struct gpnn_inducing_root){.m = m, .n_strips = (rank + STRIP - 1) / STRIP};
  root->strips = gpnn_alloc(root->n_strips, 1, sizeof *root->strips);
  if (root->strips == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = prepare(m, &trial, err);
  for (size_t s = 0; s < root->n_strips && status == GPNN_OK; s++) {
    size_t n = rank - s * STRIP < STRIP ? rank - s * STRIP : STRIP;
    status = pack(n, m, rows + s * STRIP * m, &root->strips[s], err);
    if (status == GPNN_OK && trial_rows->n_tiles > 0)
      status = choose_precision(m, &trial, &root->strips[s], err);
  }
  free(trial.rounded);
  free(trial.error);
  return status;
}

void gpnn_inducing_root_release(struct gpnn_inducing_root *root)
{
  for (size_t s = 0; root->strips != NULL && s < root->n_strips; s++) {
    free(root->strips[s].precise);
    free(root->strips[s].approximate);
  }
  free(root->strips);
  *root = (struct gpnn_inducing_root){0};
}
