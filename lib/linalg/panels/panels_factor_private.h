/*
 * panels_factor: the factorisation of a trapezoid in panels (linalg/panels/panels.h), as a
 * template.
 *
 * Included by linalg/panels/panels_set_private.h once for each type of number, with
 *   REAL, ROOT   the type and its square root function
 *   NAME(x)      the name x with a suffix for this type
 *   LARGEST      its largest finite number
 *   LANES        numbers in a vector, and rows in a panel
 *
 * The columns are processed in blocks of BLOCK from the left.  A tile, BLOCK columns of up to TALL
 * panels, is loaded once; the products with the columns to its left are subtracted; it is solved
 * with the block on the diagonal, and stored.  Panels are laid out in the order in which the
 * products read them, so that nothing needs to be packed.  Matrices of order above SHALLOW are
 * processed in slabs of DEPTH columns, each of which is subtracted from everything to its right
 * before the next slab begins, so that a tile's rows of the slab stay in the cache.
 *
 * Lanes above the diagonal and columns beyond the last one are computed like all others and never
 * used: no result in a row depends on another row.
 */

typedef REAL NAME(vec) __attribute__((vector_size(LANES * sizeof(REAL)), may_alias));

/* A matrix being factored: 'n' columns, and 'panel' numbers from one panel to the next. */
struct NAME(matrix) {
  REAL *a;
  size_t n, panel, n_panels;
};

INLINE void NAME(load)(size_t tall, const REAL *a, size_t panel, NAME(vec) tile[][BLOCK])
{
  EACH (t, 0, tall)
    EACH (w, 0, BLOCK) tile[t][w] = *(const NAME(vec) *)(a + t * panel + w * LANES);
}

INLINE void NAME(store)(size_t tall, size_t width, REAL *a, size_t panel, NAME(vec) tile[][BLOCK])
{
  EACH (t, 0, tall)
    EACH (w, 0, BLOCK)
      if (w < width) *(NAME(vec) *)(a + t * panel + w * LANES) = tile[t][w];
}

/* Subtracts from a tile the product of its rows 'a' with the rows 'b' over columns [begin, end). */
INLINE void NAME(subtract)(size_t tall, size_t begin, size_t end, const REAL *a, size_t panel,
                           const REAL *b, NAME(vec) tile[][BLOCK])
{
  for (size_t k = begin; k < end; k++) {
    NAME(vec) left[TALL];
    EACH (t, 0, tall) left[t] = *(const NAME(vec) *)(a + t * panel + k * LANES);
    EACH (w, 0, BLOCK) {
      REAL right = b[k * LANES + w];
      EACH (t, 0, tall) tile[t][w] -= left[t] * right;
    }
  }
}

/* Factors the block of 'width' columns whose first diagonal element is '*corner', in lane 'lane' of
 * 'tile'; writes the inverses of the diagonal.  False if a pivot is not positive and finite. */
INLINE bool NAME(factor_block)(size_t width, REAL *corner, size_t lane, REAL *inverse,
                               NAME(vec) tile[][BLOCK])
{
  EACH (j, 0, BLOCK) {
    if (j >= width) continue;
    NAME(vec) *column = (NAME(vec) *)(corner - lane + j * LANES);
    *column = tile[0][j];
    REAL pivot = corner[j * LANES + j];
    if (!(pivot > 0 && pivot <= LARGEST)) return false;
    inverse[j] = 1 / ROOT(pivot);
    *column = tile[0][j] *= inverse[j];
    EACH (k, j + 1, BLOCK) tile[0][k] -= tile[0][j] * corner[j * LANES + k];
  }
  return true;
}

/* Solves a tile with a factored block, in place. */
INLINE void NAME(divide)(size_t tall, size_t width, const REAL *corner, const REAL *inverse,
                         NAME(vec) tile[][BLOCK])
{
  EACH (j, 0, BLOCK) {
    if (j >= width) continue;
    EACH (t, 0, tall) tile[t][j] *= inverse[j];
    EACH (k, j + 1, BLOCK) {
      REAL right = corner[j * LANES + k];
      EACH (t, 0, tall) tile[t][k] -= tile[t][j] * right;
    }
  }
}

/* A block of 'width' columns from 'c' on.  Of the columns to its left, those from 'begin' on have
 * yet to be subtracted.  'rows' points to its first row in the panel that contains its diagonal. */
struct NAME(block) {
  size_t begin, c, width;
  const REAL *rows, *inverse;
};

/* Computes the block's columns of the 'tall' panels from 'a' on. */
INLINE void NAME(solve_tile)(size_t tall, const struct NAME(block) * block, REAL *a, size_t panel)
{
  NAME(vec) tile[TALL][BLOCK];
  size_t at = block->c * LANES;
  NAME(load)(tall, a + at, panel, tile);
  NAME(subtract)(tall, block->begin, block->c, a, panel, block->rows, tile);
  NAME(divide)(tall, block->width, block->rows + at, block->inverse, tile);
  NAME(store)(tall, block->width, a + at, panel, tile);
}

/* The same for 'n' panels. */
static void NAME(solve_panels)(const struct NAME(block) * block, REAL *a, size_t panel, size_t n)
{
  for (; n >= TALL; n -= TALL, a += TALL * panel) NAME(solve_tile)(TALL, block, a, panel);
  for (; n >= 2; n -= 2, a += 2 * panel) NAME(solve_tile)(2, block, a, panel);
  if (n > 0) NAME(solve_tile)(1, block, a, panel);
}

/* Factors columns [begin, end), from which those before 'begin' have been subtracted. */
static bool NAME(factor_slab)(const struct NAME(matrix) * m, size_t begin, size_t end)
{
  for (size_t c = begin; c < end; c += BLOCK) {
    REAL inverse[BLOCK] = {0}, *own = m->a + c / LANES * m->panel;
    size_t lane = c % LANES, at = c * LANES, width = end - c < BLOCK ? end - c : BLOCK;
    NAME(vec) tile[1][BLOCK];
    NAME(load)(1, own + at, m->panel, tile);
    NAME(subtract)(1, begin, c, own, m->panel, own + lane, tile);
    if (!NAME(factor_block)(width, own + lane + at, lane, inverse, tile)) return false;
    const struct NAME(block) block = {begin, c, width, own + lane, inverse};
    NAME(solve_panels)(&block, own + m->panel, m->panel, m->n_panels - c / LANES - 1);
  }
  return true;
}

/* Subtracts the slab [begin, end) from columns [end, last) of the 'tall' panels from 'a' on. */
INLINE void NAME(subtract_slab)(size_t tall, const struct NAME(matrix) * m, size_t begin,
                                size_t end, size_t last, REAL *a)
{
  for (size_t c = end; c < last; c += BLOCK) {
    NAME(vec) tile[TALL][BLOCK];
    const REAL *rows = m->a + c / LANES * m->panel + c % LANES;
    NAME(load)(tall, a + c * LANES, m->panel, tile);
    NAME(subtract)(tall, begin, end, a, m->panel, rows, tile);
    NAME(store)(tall, BLOCK, a + c * LANES, m->panel, tile);
  }
}

/* Subtracts the slab [begin, end) from everything to its right. */
static void NAME(subtract_right)(const struct NAME(matrix) * m, size_t begin, size_t end)
{
  for (size_t p = end / LANES, tall; p < m->n_panels; p += tall) {
    tall = m->n_panels - p < TALL ? 1 : TALL;
    size_t last = (p + tall) * LANES < m->n ? (p + tall) * LANES : m->n;
    REAL *a = m->a + p * m->panel;
    if (tall == 1)
      NAME(subtract_slab)(1, m, begin, end, last, a);
    else
      NAME(subtract_slab)(TALL, m, begin, end, last, a);
  }
}

static bool NAME(factor)(size_t n, size_t n_rows, REAL *a)
{
  struct NAME(matrix) m = {a, n, gpnn_panel_size(n, LANES), (n_rows + LANES - 1) / LANES};
  size_t depth = n <= SHALLOW ? n : DEPTH;
  for (size_t begin = 0, end; begin < n; begin = end) {
    end = n - begin <= depth ? n : begin + depth;
    if (!NAME(factor_slab)(&m, begin, end)) return false;
    if (end < n) NAME(subtract_right)(&m, begin, end);
  }
  return true;
}

/* ---- squared lengths of what a matrix makes of the rows of panels --------------------------- */

/* A tile is BLOCK rows of the matrix, out of the GPNN_PANEL_STRIP of a strip, by up to TALL panels;
 * its products stay in registers until their squares are added. */

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
