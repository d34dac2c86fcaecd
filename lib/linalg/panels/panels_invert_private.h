/*
 * panels_invert: copies matrices into panels (linalg/panels/panels.h) and back, and solves with or
 * inverts a matrix from its factor; a template for doubles, included by
 * linalg/panels/panels_set_private.h after panels_factor_private.h.
 *
 * The rows of X = L^-T solve X L' = I: right-hand sides like any others, except that they begin
 * with zeros.  Then K^-1 = X X'.
 */

/* True if rows [i, i + LANES) of column j are all in the lower triangle. */
INLINE bool is_whole(size_t n, size_t i, size_t j)
{
  return j <= i && i + LANES <= n;
}

/* Columns copied at a time, so that both sides use whole cache lines. */
enum { COPIED = 8 };

static void pack(size_t n, const double *k, double *a)
{
  size_t panel = gpnn_panel_size(n, LANES), columns = panel / LANES;
  for (size_t c = 0; c < columns; c += COPIED)
    for (size_t i = c / LANES * LANES; i < n; i += LANES)
      for (size_t j = c; j < c + COPIED && j < i + LANES; j++) {
        double *to = a + i / LANES * panel + j * LANES;
        if (is_whole(n, i, j))
          memcpy(to, k + j * n + i, LANES * sizeof *to);
        else
          for (size_t l = 0; l < LANES; l++) to[l] = j <= i + l && i + l < n ? k[j * n + i + l] : 0;
      }
}

static void unpack(size_t n, const double *a, double *k)
{
  size_t panel = gpnn_panel_size(n, LANES);
  for (size_t c = 0; c < n; c += COPIED)
    for (size_t i = c / LANES * LANES; i < n; i += LANES)
      for (size_t j = c; j < c + COPIED && j < n && j < i + LANES; j++) {
        const double *from = a + i / LANES * panel + j * LANES;
        if (is_whole(n, i, j))
          memcpy(k + j * n + i, from, LANES * sizeof *from);
        else
          for (size_t l = j > i ? j - i : 0; l < LANES && i + l < n; l++)
            k[j * n + i + l] = from[l];
      }
}

/* Columns [c, c + width) of the factor in 'a', as a block of which nothing has been subtracted yet;
 * 'inverse' (BLOCK) receives the inverses of its diagonal. */
static struct block_double factored_block(const double *a, size_t panel, size_t c, size_t width,
                                          double *inverse)
{
  const double *own = a + c / LANES * panel + c % LANES;
  for (size_t j = 0; j < BLOCK; j++) inverse[j] = j < width ? 1 / own[(c + j) * LANES + j] : 0;
  return (struct block_double){0, c, width, own, inverse};
}

static void solve(size_t n, size_t n_rows, const double *a, double *b)
{
  size_t panel = gpnn_panel_size(n, LANES);
  for (size_t c = 0; c < n; c += BLOCK) {
    double inverse[BLOCK];
    const struct block_double block =
        factored_block(a, panel, c, n - c < BLOCK ? n - c : BLOCK, inverse);
    solve_panels_double(&block, b, panel, (n_rows + LANES - 1) / LANES);
  }
}

/* Solves columns [begin, end) of X, from which those before 'begin' have been subtracted. */
static void solve_slab(const struct matrix_double *m, size_t begin, size_t end, double *x)
{
  for (size_t c = begin; c < end; c += BLOCK) {
    double inverse[BLOCK];
    struct block_double block =
        factored_block(m->a, m->panel, c, end - c < BLOCK ? end - c : BLOCK, inverse);
    for (size_t p = 0, tall; p <= c / LANES; p += tall) {
      block.begin = p * LANES > begin ? p * LANES : begin; /* all before are zeros */
      tall = c / LANES + 1 - p < TALL ? 1 : TALL;
      solve_panels_double(&block, x + p * m->panel, m->panel, tall);
    }
  }
}

/* Subtracts columns [begin, end) of X from those to their right. */
static void subtract_solved(const struct matrix_double *m, size_t begin, size_t end, double *x)
{
  for (size_t p = 0, tall; p < end / LANES; p += tall) {
    size_t from = p * LANES > begin ? p * LANES : begin;
    tall = end / LANES - p < TALL ? 1 : TALL;
    if (tall == 1)
      subtract_slab_double(1, m, from, end, m->n, x + p * m->panel);
    else
      subtract_slab_double(TALL, m, from, end, m->n, x + p * m->panel);
  }
}

/* Writes X = L^-T to 'x'. */
static void invert_factor(const struct matrix_double *m, double *x)
{
  for (size_t k = 0; k < m->n_panels * m->panel; k++) x[k] = 0;
  for (size_t i = 0; i < m->n; i++) x[gpnn_panel_at(m->n, LANES, i, i)] = 1;
  for (size_t begin = 0, end; begin < m->n; begin = end) {
    end = m->n - begin <= DEPTH ? m->n : begin + DEPTH;
    solve_slab(m, begin, end, x);
    if (end < m->n) subtract_solved(m, begin, end, x);
  }
}

/* Adds the contribution of columns [begin, end) to X X' in 'tall' panels of 'a' from panel 'p' on.
 */
INLINE void multiply_slab(size_t tall, const struct matrix_double *m, size_t begin, size_t end,
                          size_t p, const double *x)
{
  size_t last = (p + tall) * LANES < m->n ? (p + tall) * LANES : m->n;
  double *a = m->a + p * m->panel;
  for (size_t c = 0; c < last; c += BLOCK, a += BLOCK * LANES) {
    vec_double tile[TALL][BLOCK];
    const double *rows = x + c / LANES * m->panel + c % LANES;
    load_double(tall, a, m->panel, tile);
    EACH (t, 0, tall)
      EACH (w, 0, BLOCK) tile[t][w] = -tile[t][w];
    subtract_double(tall, begin, end, x + p * m->panel, m->panel, rows, tile);
    EACH (t, 0, tall)
      EACH (w, 0, BLOCK) tile[t][w] = -tile[t][w];
    store_double(tall, BLOCK, a, m->panel, tile);
  }
}

static void invert(size_t n, double *a, double *work)
{
  size_t panel = gpnn_panel_size(n, LANES), n_panels = (n + LANES - 1) / LANES;
  const struct matrix_double m = {a, n, panel, n_panels};
  invert_factor(&m, work);
  for (size_t k = 0; k < n_panels * panel; k++) a[k] = 0;
  for (size_t begin = 0; begin < n; begin += DEPTH) {
    size_t end = n - begin < DEPTH ? n : begin + DEPTH;
    for (size_t p = 0, tall; p * LANES < end; p += tall) {
      size_t from = p * LANES > begin ? p * LANES : begin;
      tall = (end + LANES - 1) / LANES - p < TALL ? 1 : TALL;
      if (tall == 1)
        multiply_slab(1, &m, from, end, p, work);
      else
        multiply_slab(TALL, &m, from, end, p, work);
    }
  }
}
