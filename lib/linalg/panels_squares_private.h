/*
 * panels_squares: squared lengths of what a matrix makes of the rows of panels (linalg/panels.h); a
 * template included by linalg/panels_set_private.h once for each type of number, after
 * panels_factor, whose tiles these are too.
 *
 * A tile is BLOCK rows of the matrix, out of the GPNN_PANEL_STRIP of a strip, by up to TALL panels;
 * its products stay in registers until their squares are added.
 */

/* Adds to a tile the products over columns [begin, end). */
INLINE void NAME(add_products)(size_t tall, size_t begin, size_t end, const REAL *a, size_t panel,
                               const REAL *strip, NAME(vec) tile[][BLOCK])
{
  NAME(vec) part[TALL][BLOCK] = {0};
  for (size_t k = begin; k < end; k++, strip += GPNN_PANEL_STRIP) {
    NAME(vec) left[TALL];
    EACH (t, 0, tall) left[t] = *(const NAME(vec) *)(a + t * panel + k * LANES);
    EACH (w, 0, BLOCK) {
      REAL right = strip[w];
      EACH (t, 0, tall) part[t][w] += left[t] * right;
    }
  }
  EACH (t, 0, tall)
    EACH (w, 0, BLOCK) tile[t][w] += part[t][w];
}

/* Sums of floats are made of CHUNK columns at a time, as the rounding errors of long sums grow. */
INLINE void NAME(square_tile)(size_t tall, size_t begin, size_t end, const REAL *a, size_t panel,
                              const REAL *strip, REAL *sum)
{
  enum { CHUNK = sizeof(REAL) == sizeof(float) ? 64 : 4096 };
  NAME(vec) tile[TALL][BLOCK] = {0};
  for (size_t k = begin, next; k < end; k = next) {
    next = end - k < CHUNK ? end : k + CHUNK;
    NAME(add_products)(tall, k, next, a, panel, strip + (k - begin) * GPNN_PANEL_STRIP, tile);
  }
  EACH (t, 0, tall) {
    NAME(vec) all = *(const NAME(vec) *)(sum + t * LANES);
    EACH (w, 0, BLOCK) all += tile[t][w] * tile[t][w];
    *(NAME(vec) *)(sum + t * LANES) = all;
  }
}

INLINE void NAME(square_panels)(size_t begin, size_t end, size_t n_panels, const REAL *a,
                                size_t panel, const REAL *strip, REAL *sum)
{
  for (; n_panels >= TALL; n_panels -= TALL, a += TALL * panel, sum += TALL * LANES)
    NAME(square_tile)(TALL, begin, end, a, panel, strip, sum);
  for (; n_panels > 0; n_panels--, a += panel, sum += LANES)
    NAME(square_tile)(1, begin, end, a, panel, strip, sum);
}

static void NAME(squares)(size_t n, size_t begin, size_t end, const REAL *strip, size_t n_rows,
                          const REAL *a, REAL *sum)
{
  for (size_t w = 0; w < GPNN_PANEL_STRIP; w += BLOCK) NAME(square_panels)
  (begin, end, (n_rows + LANES - 1) / LANES, a, gpnn_panel_size(n, LANES), strip + w, sum);
}
