/*
 * panels: lower trapezoids stored in panels of a few rows, and the innermost loops over them.
 *
 * A trapezoid has n columns and n_rows >= n rows: the lower triangle of a covariance matrix
 * K = L L', and below it right-hand sides, one per row.  Factoring it row by row leaves L in the
 * triangle, and in a row b' below it the solution (L^-1 b)': forward substitution comes out of the
 * same sweep.
 *
 * A panel consists of as many rows as a vector of the processor has numbers ("lanes").  Panels
 * follow one another in memory, each one column-major:
 *   element (i, j) is a[i / lanes * panel + j * lanes + i % lanes],
 * where 'panel' is gpnn_panel_size(n, lanes).  Arrays are 64-byte aligned and have room for whole
 * panels.  Elements above the diagonal in the last block of columns of a panel, in rows from n_rows
 * on and in columns from n on are scratch, but must be finite.
 *
 * The loops are compiled once for each instruction set (panels_avx512.c, panels_avx2.c and
 * panels_portable.c include the templates panels_*_private.h) and chosen at run time.  With a given
 * set, the results in a row depend on the data of that row alone.
 *
 * Threads: no shared state.  For the library and its tests; not installed.
 */
#ifndef GPNN_LINALG_PANELS_H
#define GPNN_LINALG_PANELS_H

#include <stdbool.h>
#include <stddef.h>

/* The correlation as a function of a squared distance r^2; the formulas are in kernel/kernel.h. */
enum gpnn_panel_form {
  GPNN_PANEL_DISTANCE, /* r^2 itself */
  GPNN_PANEL_EXP,
  GPNN_PANEL_MATERN32,
  GPNN_PANEL_MATERN52,
  GPNN_PANEL_RBF
};

/* Rows of a matrix that squares() takes at a time. */
enum { GPNN_PANEL_STRIP = 8 };

struct gpnn_panel_set {
  const char *name;
  size_t lanes; /* doubles in a vector; there are twice as many floats */

  /* Factors a trapezoid in place.  False if a pivot is not positive and finite, which a NaN or an
   * infinity anywhere in the lower triangle of K always causes; 'a' is then undefined. */
  bool (*factor)(size_t n, size_t n_rows, double *a);
  bool (*factor_float)(size_t n, size_t n_rows, float *a);

  /* Copy the lower triangle of a column-major n by n matrix to panels, with zeros around it, and
   * back. */
  void (*pack)(size_t n, const double *k, double *a);
  void (*unpack)(size_t n, const double *a, double *k);

  /* Replaces the 'n_rows' rows b' of 'b' (n columns) by (L^-1 b)', with the factor in the n rows of
   * 'a': what factoring leaves of rows below the triangle, when the factor is there already. */
  void (*solve)(size_t n, size_t n_rows, const double *a, double *b);

  /* Replaces the factor in the n rows of 'a' by K^-1; 'work' is scratch of the same size. */
  void (*invert)(size_t n, double *a, double *work);

  /* Fills a trapezoid with the correlations of points i and j.  'columns' contains the d
   * coordinates of the points, one array of 'stride' numbers after another; 'stride' is a multiple
   * of 8 and at least n_rows, and 'columns' 64-byte aligned. */
  void (*fill)(enum gpnn_panel_form form, size_t n, size_t n_rows, size_t d, size_t stride,
               const double *columns, double *a);

  /* Replaces n values of r^2 by correlations.  The exponential, subnormal results included, and the
   * square root are each accurate to 1 unit in the last place. */
  void (*correlate)(enum gpnn_panel_form form, size_t n, double *r2);

  /* Writes to one panel the squared distances of its rows to 'n' points.  'rows' has the 'd'
   * coordinates of the rows, one array of 'row_stride' numbers after another, and 'points' those of
   * the points, 'stride' numbers each: a multiple of 8, and at least n. */
  void (*distances)(size_t n, size_t d, size_t stride, const double *points, size_t row_stride,
                    const double *rows, double *a);

  /* Adds to 'sum' (lanes) the products of the rows of one panel with 'weights' (n). */
  void (*weigh)(size_t n, const double *a, const double *weights, double *sum);

  /* Writes the least number in each row of one panel of n >= 1 columns to 'smallest' (lanes). */
  void (*least)(size_t n, const double *a, double *smallest);

  /* Adds to 'sum' (n_rows) the squares of the products of each row of the panels 'a', of n columns,
   * with GPNN_PANEL_STRIP rows of another matrix, which are zero but for columns [begin, end):
   * element (w, j) of these is strip[(j - begin) * GPNN_PANEL_STRIP + w].  'sum' has room for whole
   * panels. */
  void (*squares)(size_t n, size_t begin, size_t end, const double *strip, size_t n_rows,
                  const double *a, double *sum);
  void (*squares_float)(size_t n, size_t begin, size_t end, const float *strip, size_t n_rows,
                        const float *a, float *sum);

  /* Rounds a trapezoid of doubles to one of floats, in their own layout. */
  void (*narrow)(size_t n, size_t n_rows, const double *a, float *narrowed);

  /* Solve L z = b and L' z = b in place with a factor of floats; 'b' has room for whole panels. */
  void (*forward)(size_t n, const float *factor, float *b);
  void (*backward)(size_t n, const float *factor, float *b);

  /* Subtracts K x from r, for K as fill() leaves it, with complete blocks on the diagonal.  'x' and
   * 'r' are 64-byte aligned and have room for whole panels; 'x' is padded with zeros. */
  void (*subtract_product)(size_t n, const double *a, const double *x, double *r);
};

/* The best set that the processor has. */
const struct gpnn_panel_set *gpnn_panels_best(void);

/* The 'i'th of the sets that the processor has, the best first; NULL after the last. */
const struct gpnn_panel_set *gpnn_panels_at(size_t i);

/* The distance from one panel to the next, in numbers: columns are padded to a multiple of 16,
 * which suits the blocks of all sets. */
static inline size_t gpnn_panel_size(size_t n, size_t lanes)
{
  return (n + 15) / 16 * 16 * lanes;
}

/* The size of a trapezoid in numbers; the caller makes sure that it does not overflow. */
static inline size_t gpnn_panel_room(size_t n, size_t n_rows, size_t lanes)
{
  return (n_rows + lanes - 1) / lanes * gpnn_panel_size(n, lanes);
}

/* The index of element (i, j). */
static inline size_t gpnn_panel_at(size_t n, size_t lanes, size_t i, size_t j)
{
  return i / lanes * gpnn_panel_size(n, lanes) + j * lanes + i % lanes;
}

/* The sets.  Those for other processors than the one compiled for are declared, but do not exist.
 */
extern const struct gpnn_panel_set gpnn_panels_avx512, gpnn_panels_avx2, gpnn_panels_portable;

#endif
