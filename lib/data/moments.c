#include "data/moments.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/blas.h"
#include "base/mem.h"

/* Goes through all rows: 'visit' gets block after block. */
static enum gpnn_status go_through(const struct gpnn_row_source *source,
                                   void (*visit)(void *state, size_t count, const double *rows),
                                   void *state, struct gpnn_error *err)
{
  double *rows = gpnn_alloc(GPNN_SOURCE_BLOCK, source->width, sizeof *rows);
  enum gpnn_status status = rows == NULL ? gpnn_fail_memory(err, "for a block of rows") : GPNN_OK;
  for (size_t from = 0; from < source->n && status == GPNN_OK; from += GPNN_SOURCE_BLOCK) {
    size_t left = source->n - from, count = left < GPNN_SOURCE_BLOCK ? left : GPNN_SOURCE_BLOCK;
    status = source->read(source->context, from, count, rows, err);
    if (status == GPNN_OK) visit(state, count, rows);
  }
  free(rows);
  return status;
}

/* ---- moments ---- */

/* What is known of each of 'n_columns' columns: one array after another, so that a row is worked
 * on column after column. */
struct columns {
  size_t n_columns, width;
  double *low, *high;
  double *unit; /* a power of two: values times it are at most 1 in magnitude */
  double *centre, *sum, *squares;
};

static bool columns_init(struct columns *columns, size_t n_columns, size_t width)
{
  enum { ARRAYS = 6 };
  double *values = gpnn_alloc(n_columns, ARRAYS, sizeof *values);
  if (values == NULL) return false;
  *columns = (struct columns){.n_columns = n_columns, .width = width, .low = values};
  columns->high = columns->low + n_columns;
  columns->unit = columns->high + n_columns;
  columns->centre = columns->unit + n_columns;
  columns->sum = columns->centre + n_columns;
  columns->squares = columns->sum + n_columns;
  for (size_t j = 0; j < n_columns; j++) {
    columns->low[j] = INFINITY;
    columns->high[j] = -INFINITY;
  }
  return true;
}

static void find_ranges(void *state, size_t count, const double *rows)
{
  const struct columns *columns = state;
  double *low = columns->low, *high = columns->high;
  for (size_t i = 0; i < count; i++) {
    const double *row = rows + i * columns->width;
    for (size_t j = 0; j < columns->n_columns; j++) {
      low[j] = row[j] < low[j] ? row[j] : low[j];
      high[j] = row[j] > high[j] ? row[j] : high[j];
    }
  }
}

static void add_deviations(void *state, size_t count, const double *rows)
{
  const struct columns *columns = state;
  const double *unit = columns->unit, *centre = columns->centre;
  double *sum = columns->sum;
  for (size_t i = 0; i < count; i++) {
    const double *row = rows + i * columns->width;
    for (size_t j = 0; j < columns->n_columns; j++) sum[j] += row[j] * unit[j] - centre[j];
  }
}

static void add_squares(void *state, size_t count, const double *rows)
{
  const struct columns *columns = state;
  const double *unit = columns->unit, *centre = columns->centre;
  double *sum = columns->sum, *squares = columns->squares;
  for (size_t i = 0; i < count; i++) {
    const double *row = rows + i * columns->width;
    for (size_t j = 0; j < columns->n_columns; j++) {
      double deviation = row[j] * unit[j] - centre[j];
      sum[j] += deviation;
      squares[j] += deviation * deviation;
    }
  }
}

static bool varies(const struct columns *columns, size_t j)
{
  double low = columns->low[j], high = columns->high[j], largest = fmax(fabs(low), fabs(high));
  return high - low > fmax(4 * DBL_EPSILON * largest, DBL_MIN);
}

/* Units and middles of the ranges; a column that does not vary keeps a unit of 0. */
static void set_middles(struct columns *columns)
{
  for (size_t j = 0; j < columns->n_columns; j++) {
    if (!varies(columns, j)) continue;
    double low = columns->low[j], high = columns->high[j];
    int exponent;
    frexp(fmax(fabs(low), fabs(high)), &exponent);
    columns->unit[j] = ldexp(1, -exponent);
    columns->centre[j] = ldexp(low, -exponent) / 2 + ldexp(high, -exponent) / 2;
  }
}

/* From sums about the middles to sums about the means. */
static void move_centres(struct columns *columns, size_t n)
{
  for (size_t j = 0; j < columns->n_columns; j++) {
    columns->centre[j] += columns->sum[j] / (double)n;
    columns->sum[j] = 0;
  }
}

static void take_moments(const struct columns *columns, size_t n, struct gpnn_moments *moments)
{
  for (size_t j = 0; j < columns->n_columns; j++) {
    moments[j] = (struct gpnn_moments){columns->low[j], 0};
    if (columns->unit[j] == 0) continue;
    double rest = columns->sum[j] / (double)n, squares = columns->squares[j] / (double)n;
    moments[j].mean = (columns->centre[j] + rest) / columns->unit[j];
    moments[j].sd = sqrt(fmax(squares - rest * rest, 0)) / columns->unit[j];
  }
}

enum gpnn_status gpnn_moments_learn(const struct gpnn_row_source *source, size_t n_columns,
                                    struct gpnn_moments *moments, struct gpnn_error *err)
{
  struct columns columns;
  if (!columns_init(&columns, n_columns, source->width))
    return gpnn_fail_memory(err, "for the moments of columns");
  enum gpnn_status status = go_through(source, find_ranges, &columns, err);
  if (status == GPNN_OK) {
    set_middles(&columns);
    status = go_through(source, add_deviations, &columns, err);
  }
  if (status == GPNN_OK) {
    move_centres(&columns, source->n);
    status = go_through(source, add_squares, &columns, err);
  }
  if (status == GPNN_OK) take_moments(&columns, source->n, moments);
  free(columns.low);
  return status;
}

/* ---- covariance ---- */

/* Rows centred at once: a d by CENTRED column-major matrix, our rows being its columns. */
enum { CENTRED = 256 };

struct products {
  size_t width, first, d;
  const struct gpnn_moments *moments;
  bool scaled;
  double *centred; /* CENTRED by d */
  double *cov;     /* d by d */
};

static void add_products(void *state, size_t count, const double *rows)
{
  const struct products *p = state;
  size_t d = p->d;
  for (size_t from = 0; from < count; from += CENTRED) {
    size_t n = count - from < CENTRED ? count - from : CENTRED;
    for (size_t i = 0; i < n; i++) {
      const double *row = rows + (from + i) * p->width + p->first;
      for (size_t j = 0; j < d; j++)
        p->centred[i * d + j] = (row[j] - p->moments[j].mean) / (p->scaled ? p->moments[j].sd : 1);
    }
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (blasint)d, (blasint)n, 1, p->centred,
                (blasint)d, 1, p->cov, (blasint)d);
  }
}

enum gpnn_status gpnn_moments_covariance(const struct gpnn_row_source *source, size_t first,
                                         size_t d, const struct gpnn_moments *moments, bool scaled,
                                         double *cov, struct gpnn_error *err)
{
  struct products products = {source->width, first, d, moments, scaled, NULL, cov};
  products.centred = gpnn_alloc(CENTRED, d, sizeof *products.centred);
  if (products.centred == NULL) return gpnn_fail_memory(err, "for a covariance");
  enum gpnn_status status = go_through(source, add_products, &products, err);
  free(products.centred);
  for (size_t i = 0; i < d * d; i++) cov[i] /= (double)source->n;
  return status;
}
