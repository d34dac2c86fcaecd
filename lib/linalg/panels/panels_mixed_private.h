/*
 * panels_mixed: solutions with a factor of floats, and products with a matrix of doubles, in panels
 * (linalg/panels/panels.h); a template included by linalg/panels/panels_set_private.h, with LANES
 * for floats.
 */

typedef float half_vec __attribute__((vector_size(DOUBLES * sizeof(float)), may_alias));

static void narrow(size_t n, size_t n_rows, const double *a, float *narrowed)
{
  size_t panel = gpnn_panel_size(n, DOUBLES), panel_float = gpnn_panel_size(n, LANES);
  size_t n_panels = (n_rows + DOUBLES - 1) / DOUBLES;
  for (size_t p = 0; p < (n_panels + 1) / 2 * 2; p++) {
    const vec_double *from = (const vec_double *)(a + p * panel);
    float *to = narrowed + p / 2 * panel_float + p % 2 * DOUBLES;
    size_t end = (p / 2 + 1) * LANES < n ? (p / 2 + 1) * LANES : n;
    for (size_t j = 0; j < end; j++)
      *(half_vec *)(to + j * LANES) =
          p < n_panels ? __builtin_convertvector(from[j], half_vec) : (half_vec){0};
  }
}

/* Solves the 'width' unknowns of a block on the diagonal, where 'rest' is b minus the products with
 * the unknowns before. */
static void forward_block(size_t width, const float *block, vec_float rest, float *b)
{
  float left[LANES];
  memcpy(left, &rest, sizeof left);
  for (size_t j = 0; j < width; j++) {
    float solved = b[j] = left[j] / block[j * LANES + j];
    for (size_t i = 0; i < LANES; i++) left[i] -= solved * block[j * LANES + i];
  }
}

static void forward(size_t n, const float *factor, float *b)
{
  size_t panel = gpnn_panel_size(n, LANES);
  enum { SUMS = 4 }; /* independent sums, as additions take several cycles */
  for (size_t i = 0; i < n; i += LANES, factor += panel) {
    vec_float sum[SUMS] = {0};
    for (size_t j = 0; j < i; j += SUMS)
      EACH (s, 0, SUMS) sum[s] += *(const vec_float *)(factor + (j + s) * LANES) * b[j + s];
    vec_float rest = *(const vec_float *)(b + i) - (sum[0] + sum[1] + (sum[2] + sum[3]));
    forward_block(n - i < LANES ? n - i : LANES, factor + i * LANES, rest, b + i);
  }
}

/* Solves the 'width' unknowns of a block on the diagonal; 'rest' is to be subtracted from b. */
static void backward_block(size_t width, const float *block, const float *rest, float *b)
{
  for (size_t i = width; i-- > 0;) {
    float left = b[i] - rest[i];
    for (size_t k = i + 1; k < width; k++) left -= block[i * LANES + k] * b[k];
    b[i] = left / block[i * LANES + i];
  }
}

static void backward(size_t n, const float *factor, float *b)
{
  size_t panel = gpnn_panel_size(n, LANES), n_panels = (n + LANES - 1) / LANES;
  for (size_t i = n; i < n_panels * LANES; i++) b[i] = 0;
  for (size_t q = n_panels; q-- > 0;) {
    vec_float sum[LANES] = {0};
    float rest[LANES] = {0};
    for (size_t p = q + 1; p < n_panels; p++) {
      vec_float below = *(const vec_float *)(b + p * LANES);
      const vec_float *column = (const vec_float *)(factor + p * panel + q * LANES * LANES);
      EACH (j, 0, LANES) sum[j] += column[j] * below;
    }
    for (size_t j = 0; j < LANES; j++)
      for (size_t lane = 0; lane < LANES; lane++) rest[j] += sum[j][lane];
    backward_block(n - q * LANES < LANES ? n - q * LANES : LANES,
                   factor + q * panel + q * LANES * LANES, rest, b + q * LANES);
  }
}

/* The products with the stored part, left of and on the diagonal, and with its mirror image. */
static void subtract_product(size_t n, const double *a, const double *x, double *r)
{
  size_t panel = gpnn_panel_size(n, DOUBLES), n_panels = (n + DOUBLES - 1) / DOUBLES;
  for (size_t q = 0; q < n_panels; q++) {
    vec_double row = {0}, other = {0}, sum[DOUBLES] = {0};
    const vec_double *own = (const vec_double *)(a + q * panel);
    for (size_t j = 0; j < (q + 1) * DOUBLES; j += 2) {
      row += own[j] * x[j];
      other += own[j + 1] * x[j + 1];
    }
    for (size_t p = q + 1; p < n_panels; p++) {
      vec_double below = *(const vec_double *)(x + p * DOUBLES);
      const vec_double *column = (const vec_double *)(a + p * panel) + q * DOUBLES;
      EACH (j, 0, DOUBLES) sum[j] += column[j] * below;
    }
    row += other;
    for (size_t j = 0; j < DOUBLES; j++)
      for (size_t lane = 0; lane < DOUBLES; lane++) row[j] += sum[j][lane];
    *(vec_double *)(r + q * DOUBLES) -= row;
  }
}
