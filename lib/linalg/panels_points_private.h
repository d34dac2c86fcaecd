/*
 * panels_points: distances of rows to points, and what becomes of the rows of a panel
 * (linalg/panels.h); a template included by linalg/panels_set_private.h, with LANES for doubles,
 * after panels_kernel, whose tiles these are too.
 */

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
