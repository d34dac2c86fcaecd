/*
 * panels_invert: matrices into panels (models/panels.h) and back, and the inverse of a matrix from
 * its factor, as a template.  Included by models/panels_set.h after panels_factor.h, of double
 * numbers.
 *
 * The rows of X = L^-T are the solutions of X L' = I, right-hand sides as any others but for the
 * zeros that they begin with; and K^-1 = X X'.
 */

/* Whether rows i to i + LANES of column j are all in the lower triangle. */
INLINE bool is_whole(size_t n, size_t i, size_t j)
{
  return j <= i && i + LANES <= n;
}

static void pack(size_t n, const double *k, double *a)
{
  size_t panel = gpnn_panel_size(n, LANES), columns = panel / LANES;
  for (size_t i = 0; i < n; i += LANES, a += panel)
    for (size_t j = 0; j < columns && j < i + LANES; j++) {
      double *to = a + j * LANES;
      if (is_whole(n, i, j))
        memcpy(to, k + j * n + i, LANES * sizeof *to);
      else
        for (size_t l = 0; l < LANES; l++) to[l] = j <= i + l && i + l < n ? k[j * n + i + l] : 0;
    }
}

static void unpack(size_t n, const double *a, double *k)
{
  size_t panel = gpnn_panel_size(n, LANES);
  for (size_t i = 0; i < n; i += LANES, a += panel)
    for (size_t j = 0; j < n && j < i + LANES; j++) {
      const double *from = a + j * LANES;
      if (is_whole(n, i, j))
        memcpy(k + j * n + i, from, LANES * sizeof *from);
      else
        for (size_t l = j > i ? j - i : 0; l < LANES && i + l < n; l++) k[j * n + i + l] = from[l];
    }
}

/* Writes X = L^-T to 'x'. */
static void invert_factor(size_t n, const double *a, double *x)
{
  size_t panel = gpnn_panel_size(n, LANES), n_panels = (n + LANES - 1) / LANES;
  for (size_t k = 0; k < n_panels * panel; k++) x[k] = 0;
  for (size_t i = 0; i < n; i++) x[gpnn_panel_at(n, LANES, i, i)] = 1;
  for (size_t c = 0; c < n; c += BLOCK) {
    double inverse[BLOCK] = {0};
    size_t lane = c % LANES, width = n - c < BLOCK ? n - c : BLOCK;
    const double *own = a + c / LANES * panel + lane;
    for (size_t j = 0; j < width; j++) inverse[j] = 1 / own[(c + j) * LANES + j];
    for (size_t p = 0, tall; p <= c / LANES; p += tall) {
      const struct block_double block = {p * LANES, c, width, own, inverse};
      tall = c / LANES + 1 - p < TALL ? 1 : TALL;
      solve_panels_double(&block, x + p * panel, panel, tall);
    }
  }
}

/* Writes rows of X X' to the 'tall' panels from number 'p' on. */
INLINE void multiply_tile(size_t tall, size_t n, size_t p, const double *x, double *a)
{
  size_t panel = gpnn_panel_size(n, LANES);
  size_t last = (p + tall) * LANES < n ? (p + tall) * LANES : n;
  for (size_t c = 0; c < last; c += BLOCK) {
    vec_double tile[TALL][BLOCK] = {0};
    const double *rows = x + c / LANES * panel + c % LANES;
    size_t begin = c / LANES > p ? c / LANES * LANES : p * LANES;
    subtract_double(tall, begin, n, x + p * panel, panel, rows, tile);
    EACH (t, 0, tall)
      EACH (w, 0, BLOCK) tile[t][w] = -tile[t][w];
    store_double(tall, BLOCK, a + p * panel + c * LANES, panel, tile);
  }
}

static void invert(size_t n, double *a, double *work)
{
  size_t n_panels = (n + LANES - 1) / LANES;
  invert_factor(n, a, work);
  for (size_t p = 0, tall; p < n_panels; p += tall) {
    tall = n_panels - p < TALL ? 1 : TALL;
    if (tall == 1)
      multiply_tile(1, n, p, work, a);
    else
      multiply_tile(TALL, n, p, work, a);
  }
}
