/*
 * panels: lower trapezoids in panels of a few rows, and the innermost loops over them.
 *
 * A trapezoid has n columns and n_rows >= n rows: a covariance matrix K = L L', lower triangle,
 * and below it right-hand sides, one a row.  Factoring it by the rows of the triangle leaves L
 * there, and in row b' below it the solution (L^-1 b)': forward solves fall out of the same sweep.
 *
 * A panel is as many rows as the processor has numbers in a vector ("lanes").  Panels follow one
 * another, each with its columns one after another:
 *   element (i, j) is a[i / lanes * panel + j * lanes + i % lanes],
 * where 'panel' is gpnn_panel_size(n, lanes).  Blocks are 64-byte aligned and have room for whole
 * panels; what is above the diagonal within the last block of columns of a panel, in rows from
 * n_rows on and in columns from n on is scratch that holds finite numbers.
 *
 * The loops are compiled once for each set of instructions (lib/linalg/panels_*.c, from templates)
 * and chosen at run time.  With a given set a row's numbers depend on its own data alone.
 *
 * Private to lib and its tests.
 */
#ifndef GPNN_LINALG_PANELS_H
#define GPNN_LINALG_PANELS_H

#include <stdbool.h>
#include <stddef.h>

/* What becomes of a squared distance r^2: see kernel/kernel.h. */
enum gpnn_panel_form {
  GPNN_PANEL_DISTANCE, /* r^2 itself */
  GPNN_PANEL_EXP,
  GPNN_PANEL_MATERN32,
  GPNN_PANEL_MATERN52,
  GPNN_PANEL_RBF
};

struct gpnn_panel_set {
  const char *name;
  size_t lanes; /* doubles; twice as many floats */

  /* Factors a trapezoid in place.  False: a pivot is not positive and finite, and 'a' is undefined.
   * A NaN or an infinity in the lower triangle of K is always noticed. */
  bool (*factor)(size_t n, size_t n_rows, double *a);
  bool (*factor_float)(size_t n, size_t n_rows, float *a);

  /* Copies the lower triangle of a matrix of n columns, one after another, to panels, with zeros
   * around it; and copies the lower triangle back. */
  void (*pack)(size_t n, const double *k, double *a);
  void (*unpack)(size_t n, const double *a, double *k);

  /* Replaces the factor in the n rows of 'a' by K^-1.  'work' is scratch as large. */
  void (*invert)(size_t n, double *a, double *work);

  /* Fills a trapezoid with the correlations of points i and j.  'columns' has the coordinates, one
   * after another, each of 'stride' numbers, a multiple of 8 and no less than n_rows; 64-byte
   * aligned. */
  void (*fill)(enum gpnn_panel_form form, size_t n, size_t n_rows, size_t d, size_t stride,
               const double *columns, double *a);

  /* Replaces n values of r^2 by correlations: exp is within 1 unit in the last place, results
   * below the normal numbers included, the square root within 1 as well. */
  void (*correlate)(enum gpnn_panel_form form, size_t n, double *r2);

  /* Rounds a trapezoid of doubles to one of floats. */
  void (*narrow)(size_t n, size_t n_rows, const double *a, float *narrowed);

  /* Solve L z = b and L' z = b in place with the factor of K; 'b' has room for whole panels. */
  void (*forward)(size_t n, const float *factor, float *b);
  void (*backward)(size_t n, const float *factor, float *b);

  /* Subtracts K x from r, K being as fill() leaves it: the blocks on the diagonal are whole.  'x'
   * and 'r' have room for whole panels, those of 'x' ending in zeros; 64-byte aligned. */
  void (*subtract_product)(size_t n, const double *a, const double *x, double *r);
};

/* The best set that the processor has. */
const struct gpnn_panel_set *gpnn_panels_best(void);

/* Set 'i' of those that the processor has, the best first; NULL past the last. */
const struct gpnn_panel_set *gpnn_panels_at(size_t i);

/* Numbers from one panel to the next: columns come in sixteens, whatever a loop's block of them. */
static inline size_t gpnn_panel_size(size_t n, size_t lanes)
{
  return (n + 15) / 16 * 16 * lanes;
}

/* Numbers in a trapezoid; the caller checks that they fit a size. */
static inline size_t gpnn_panel_room(size_t n, size_t n_rows, size_t lanes)
{
  return (n_rows + lanes - 1) / lanes * gpnn_panel_size(n, lanes);
}

/* Where element (i, j) is. */
static inline size_t gpnn_panel_at(size_t n, size_t lanes, size_t i, size_t j)
{
  return i / lanes * gpnn_panel_size(n, lanes) + j * lanes + i % lanes;
}

/* The sets; those that this compiler does not make are not to be named. */
extern const struct gpnn_panel_set gpnn_panels_avx512, gpnn_panels_avx2, gpnn_panels_portable;

#endif
