/*
 * panels_kernel: fills panels (linalg/panels/panels.h) with the correlations of points, or with
 * distances of rows to points, and what becomes of the rows of a panel; a template for doubles,
 * included by linalg/panels/panels_set_private.h.
 *
 * A tile is the rows of a panel by COLUMNS columns.  Its squared distances, from explicit
 * differences, and their correlations stay in registers.
 */

enum { COLUMNS = 8 };

typedef uint64_t bits __attribute__((vector_size(LANES * sizeof(uint64_t)), may_alias));

/* The minimum of x and limit; NaN if x is NaN. */
INLINE vec_double at_most(vec_double x, double limit)
{
#if AVX == 512
  return (vec_double)_mm512_min_pd(_mm512_set1_pd(limit), (__m512d)x);
#elif AVX == 256
  return (vec_double)_mm256_min_pd(_mm256_set1_pd(limit), (__m256d)x);
#else
  EACH (i, 0, LANES) x[i] = x[i] > limit ? limit : x[i];
  return x;
#endif
}

/*
 * The square root of numbers from 0 to 1e6, or of NaN.  That of AVX-512 is slow.  So its estimate
 * of the inverse root, of 14 bits, is improved to 28 by a Newton step for the root and half its
 * inverse together, and to full precision by the residual.  (Below 1e-300 the estimate is that for
 * 1e-300, and the result is not exact but as small.)
 */
INLINE vec_double root(vec_double x)
{
#if AVX == 512
  __m512d held = _mm512_max_pd(_mm512_set1_pd(1e-300), (__m512d)x);
  vec_double inverse = (vec_double)_mm512_rsqrt14_pd(held);
  vec_double s = x * inverse, half = 0.5 * inverse, error = 0.5 - s * half;
  s += s * error;
  half += half * error;
  return s + half * (x - s * s);
#elif AVX == 256
  return (vec_double)_mm256_sqrt_pd((__m256d)x);
#else
  EACH (i, 0, LANES) x[i] = sqrt(x[i]);
  return x;
#endif
}

/* x 2^n, rounded once, where 'shifted' is n + 1.5 2^52 and n from -1500 to 0. */
INLINE vec_double scaled(vec_double x, vec_double shifted)
{
#if AVX == 512
  return (vec_double)_mm512_scalef_pd((__m512d)x, (__m512d)(shifted - 0x1.8p52));
#else
  /* In two steps of half the exponent each, as 2^n may be subnormal. */
  bits twice = (bits)shifted - 0x4338000000000000u + 2046, half = twice >> 1;
  return x * (vec_double)(half << 52) * (vec_double)((twice - half) << 52);
#endif
}

/*
 * exp(x) for x from -1000 to 0, or NaN: 2^n exp(r) with |r| <= log(2) / 2, and exp(r) from the
 * polynomial 1 + r + r^2 q(r), where q interpolates at Chebyshev points with a relative error of
 * exp(r) of 1.3e-17.  exp(0) is exactly 1.
 */
INLINE vec_double exponential(vec_double x)
{
  vec_double shifted = x * 0x1.71547652b82fep+0 + 0x1.8p52, n = shifted - 0x1.8p52;
  vec_double r = x - n * 0x1.62e42fefa3800p-1 - n * 0x1.ef35793c76730p-45;
  vec_double q = 0x1.af38d53857513p-26 * r + 0x1.2891a8c1d838dp-22;
  q = q * r + 0x1.71de0d9c145d0p-19;
  q = q * r + 0x1.a019b8ef67c6cp-16;
  q = q * r + 0x1.a01a01a7c8d47p-13;
  q = q * r + 0x1.6c16c17893833p-10;
  q = q * r + 0x1.11111111109adp-7;
  q = q * r + 0x1.5555555553d4fp-5;
  q = q * r + 0x1.5555555555556p-3;
  q = q * r + 0x1.0000000000001p-1;
  return scaled(1 + (r + r * r * q), shifted);
}

/* The correlation at r^2, by the formulas of kernel/kernel.h.  Arguments are limited to where exp
 * is already zero, as a polynomial times exp must not become infinity times zero. */
INLINE vec_double correlation(enum gpnn_panel_form form, vec_double r2)
{
  if (form == GPNN_PANEL_DISTANCE) return r2;
  if (form == GPNN_PANEL_RBF) return exponential(-at_most(0.5 * r2, 1000));
  double factor = form == GPNN_PANEL_MATERN52 ? 5 : form == GPNN_PANEL_MATERN32 ? 3 : 1;
  vec_double s = root(at_most(factor * r2, 1e6)), e = exponential(-s);
  if (form == GPNN_PANEL_MATERN32) return (1 + s) * e;
  if (form == GPNN_PANEL_MATERN52) return (1 + s + s * s * (1.0 / 3)) * e;
  return e;
}

/* Calls 'function' with 'form' as a constant, so that its loops are compiled for each form. */
#define WITH_CONSTANT_FORM(form, function, ...) \
  switch (form) {                               \
  case GPNN_PANEL_DISTANCE:                     \
    function(GPNN_PANEL_DISTANCE, __VA_ARGS__); \
    break;                                      \
  case GPNN_PANEL_EXP:                          \
    function(GPNN_PANEL_EXP, __VA_ARGS__);      \
    break;                                      \
  case GPNN_PANEL_MATERN32:                     \
    function(GPNN_PANEL_MATERN32, __VA_ARGS__); \
    break;                                      \
  case GPNN_PANEL_MATERN52:                     \
    function(GPNN_PANEL_MATERN52, __VA_ARGS__); \
    break;                                      \
  case GPNN_PANEL_RBF:                          \
    function(GPNN_PANEL_RBF, __VA_ARGS__);      \
    break;                                      \
  }

INLINE void cross_tile(enum gpnn_panel_form form, size_t d, size_t row_stride, const double *rows,
                       size_t stride, const double *columns, double *a)
{
  vec_double r2[COLUMNS] = {0};
  for (size_t c = 0; c < d; c++, rows += row_stride, columns += stride) {
    vec_double x = *(const vec_double *)rows;
    EACH (w, 0, COLUMNS) {
      vec_double difference = x - columns[w];
      r2[w] += difference * difference;
    }
  }
  EACH (w, 0, COLUMNS) *(vec_double *)(a + w * LANES) = correlation(form, r2[w]);
}

INLINE void fill_form(enum gpnn_panel_form form, size_t n, size_t n_rows, size_t d, size_t stride,
                      const double *columns, double *a)
{
  size_t panel = gpnn_panel_size(n, LANES);
  for (size_t i = 0; i < n_rows; i += LANES, a += panel)
    for (size_t j = 0; j < n && j < i + LANES; j += COLUMNS)
      cross_tile(form, d, stride, columns + i, stride, columns + j, a + j * LANES);
}

static void fill(enum gpnn_panel_form form, size_t n, size_t n_rows, size_t d, size_t stride,
                 const double *columns, double *a)
{
  WITH_CONSTANT_FORM(form, fill_form, n, n_rows, d, stride, columns, a);
}

/* Replaces 'n' values, at most as many as a vector has. */
INLINE void correlate_some(enum gpnn_panel_form form, size_t n, double *r2)
{
  vec_double some = {0};
  memcpy(&some, r2, n * sizeof *r2);
  some = correlation(form, some);
  memcpy(r2, &some, n * sizeof *r2);
}

INLINE void correlate_form(enum gpnn_panel_form form, size_t n, double *r2)
{
  for (; n >= LANES; n -= LANES, r2 += LANES) correlate_some(form, LANES, r2);
  if (n > 0) correlate_some(form, n, r2);
}

static void correlate(enum gpnn_panel_form form, size_t n, double *r2)
{
  WITH_CONSTANT_FORM(form, correlate_form, n, r2);
}

#undef WITH_CONSTANT_FORM

/* ---- rows and points --------------------------------------------------------------------- */

static void distances(size_t n, size_t d, size_t stride, const double *points, size_t row_stride,
                      const double *rows, double *a)
{
  for (size_t j = 0; j < n; j += COLUMNS)
    cross_tile(GPNN_PANEL_DISTANCE, d, row_stride, rows, stride, points + j, a + j * LANES);
}

/* Adds to 'sum' the products of the rows of a panel with 'weights'. */
static void weigh(size_t n, const double *a, const double *weights, double *sum)
{
  enum { SUMS = 4 }; /* independent sums, as additions take several cycles */
  vec_double part[SUMS] = {*(const vec_double *)sum};
  size_t j = 0;
  for (; j + SUMS <= n; j += SUMS)
    EACH (s, 0, SUMS) part[s] += *(const vec_double *)(a + (j + s) * LANES) * weights[j + s];
  for (; j < n; j++) part[0] += *(const vec_double *)(a + j * LANES) * weights[j];
  *(vec_double *)sum = part[0] + part[1] + (part[2] + part[3]);
}

INLINE vec_double lesser(vec_double x, vec_double y)
{
#if AVX == 512
  return (vec_double)_mm512_min_pd((__m512d)x, (__m512d)y);
#elif AVX == 256
  return (vec_double)_mm256_min_pd((__m256d)x, (__m256d)y);
#else
  EACH (i, 0, LANES) x[i] = x[i] < y[i] ? x[i] : y[i];
  return x;
#endif
}

static void least(size_t n, const double *a, double *smallest)
{
  const vec_double *column = (const vec_double *)a;
  vec_double one = column[0], other = one;
  for (size_t j = 0; j + 1 < n; j += 2) {
    one = lesser(column[j], one);
    other = lesser(column[j + 1], other);
  }
  *(vec_double *)smallest = lesser(lesser(column[n - 1], one), other);
}
