#include "stats/moments.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"

/* ---- moments ---- */

/* What the passes find out about each of 'n_columns' columns, as arrays so that loops over the
 * columns of a row can use vectors. */
struct columns {
  size_t n_columns, width;
  double *low, *high;
  double *unit; /* a power of two: values times it are at most 1 in magnitude */
  double *centre, *sum, *squares;
  double *count; /* numbers that are not missing */
};

enum { ARRAYS = 7 };

static bool columns_init(struct columns *columns, size_t n_columns, size_t width)
{
  double *values = gpnn_alloc(n_columns, ARRAYS, sizeof *values);
  if (values == NULL) return false;
  *columns = (struct columns){.n_columns = n_columns, .width = width, .low = values};
  columns->high = columns->low + n_columns;
  columns->unit = columns->high + n_columns;
  columns->centre = columns->unit + n_columns;
  columns->sum = columns->centre + n_columns;
  columns->squares = columns->sum + n_columns;
  columns->count = columns->squares + n_columns;
  for (size_t j = 0; j < n_columns; j++) {
    columns->low[j] = INFINITY;
    columns->high[j] = -INFINITY;
  }
  return true;
}

/* The least of each column of a block, then the greatest of each. */
static void find_ranges(const void *state, size_t count, const double *rows, double *mapped)
{
  const struct columns *columns = state;
  double *low = mapped, *high = mapped + columns->n_columns;
  memcpy(low, rows, columns->n_columns * sizeof *low);
  memcpy(high, rows, columns->n_columns * sizeof *high);
  for (size_t i = 1; i < count; i++) {
    const double *row = rows + i * columns->width;
    for (size_t j = 0; j < columns->n_columns; j++) {
      low[j] = row[j] < low[j] ? row[j] : low[j];
      high[j] = row[j] > high[j] ? row[j] : high[j];
    }
  }
}

static void fold_ranges(void *state, const double *mapped)
{
  const struct columns *columns = state;
  const double *low = mapped, *high = mapped + columns->n_columns;
  for (size_t j = 0; j < columns->n_columns; j++) {
    if (low[j] < columns->low[j]) columns->low[j] = low[j];
    if (high[j] > columns->high[j]) columns->high[j] = high[j];
  }
}

static void add_deviations(const void *state, size_t count, const double *rows, double *sum)
{
  const struct columns *columns = state;
  const double *unit = columns->unit, *centre = columns->centre;
  for (size_t i = 0; i < count; i++) {
    const double *row = rows + i * columns->width;
    for (size_t j = 0; j < columns->n_columns; j++) sum[j] += row[j] * unit[j] - centre[j];
  }
}

static void fold_deviations(void *state, const double *sum)
{
  const struct columns *columns = state;
  for (size_t j = 0; j < columns->n_columns; j++) columns->sum[j] += sum[j];
}

/* The sums of deviations, then those of their squares. */
static void add_squares(const void *state, size_t count, const double *rows, double *mapped)
{
  const struct columns *columns = state;
  const double *unit = columns->unit, *centre = columns->centre;
  double *sum = mapped, *squares = mapped + columns->n_columns;
  for (size_t i = 0; i < count; i++) {
    const double *row = rows + i * columns->width;
    for (size_t j = 0; j < columns->n_columns; j++) {
      double deviation = row[j] * unit[j] - centre[j];
      sum[j] += deviation;
      squares[j] += deviation * deviation;
    }
  }
}

static void fold_squares(void *state, const double *mapped)
{
  const struct columns *columns = state;
  fold_deviations(state, mapped);
  for (size_t j = 0; j < columns->n_columns; j++)
    columns->squares[j] += mapped[columns->n_columns + j];
}

/* ---- the same where NaN stands for a missing number ---- */

/* No comparison with NaN is true. */
static void find_present_ranges(const void *state, size_t count, const double *rows, double *mapped)
{
  const struct columns *columns = state;
  size_t n_columns = columns->n_columns;
  double *low = mapped, *high = mapped + n_columns, *present = mapped + 2 * n_columns;
  for (size_t j = 0; j < n_columns; j++) {
    low[j] = INFINITY;
    high[j] = -INFINITY;
  }
  for (size_t i = 0; i < count; i++) {
    const double *row = rows + i * columns->width;
    for (size_t j = 0; j < n_columns; j++) {
      low[j] = row[j] < low[j] ? row[j] : low[j];
      high[j] = row[j] > high[j] ? row[j] : high[j];
      present[j] += isnan(row[j]) ? 0 : 1;
    }
  }
}

static void fold_present_ranges(void *state, const double *mapped)
{
  const struct columns *columns = state;
  fold_ranges(state, mapped);
  for (size_t j = 0; j < columns->n_columns; j++)
    columns->count[j] += mapped[2 * columns->n_columns + j];
}

/* The deviation of a number from the centre of its column; 0 if it is missing. */
static double deviation_of(const struct columns *columns, size_t j, double value)
{
  return isnan(value) ? 0 : value * columns->unit[j] - columns->centre[j];
}

static void add_present_deviations(const void *state, size_t count, const double *rows, double *sum)
{
  const struct columns *columns = state;
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < columns->n_columns; j++)
      sum[j] += deviation_of(columns, j, rows[i * columns->width + j]);
}

static void add_present_squares(const void *state, size_t count, const double *rows, double *mapped)
{
  const struct columns *columns = state;
  double *sum = mapped, *squares = mapped + columns->n_columns;
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < columns->n_columns; j++) {
      double deviation = deviation_of(columns, j, rows[i * columns->width + j]);
      sum[j] += deviation;
      squares[j] += deviation * deviation;
    }
}

/* ---- from passes to moments ---- */

/* The passes: ranges; deviations from the middles of these; and, from means, their squares too. */
struct pass {
  void (*map)(const void *state, size_t count, const double *rows, double *mapped);
  void (*fold)(void *state, const double *mapped);
  size_t n_mapped; /* numbers a column */
};

enum { RANGES, DEVIATIONS, SQUARES, PASSES };

static const struct pass of_all[PASSES] = {{find_ranges, fold_ranges, 2},
                                           {add_deviations, fold_deviations, 1},
                                           {add_squares, fold_squares, 2}};

static const struct pass of_present[PASSES] = {{find_present_ranges, fold_present_ranges, 3},
                                               {add_present_deviations, fold_deviations, 1},
                                               {add_present_squares, fold_squares, 2}};

static enum gpnn_status reduce(const struct pass *pass, const struct gpnn_row_source *source,
                               struct columns *columns, struct gpnn_error *err)
{
  size_t n = columns->n_columns;
  const struct gpnn_row_reduction reduction = {pass->map,          pass->fold,   columns,
                                               pass->n_mapped * n, columns->low, ARRAYS * n};
  return gpnn_row_source_reduce(source, &reduction, err);
}

static bool varies(const struct columns *columns, size_t j)
{
  double low = columns->low[j], high = columns->high[j], largest = fmax(fabs(low), fabs(high));
  return high - low > fmax(4 * DBL_EPSILON * largest, DBL_MIN);
}

/* Sets units and centres from the ranges; a column that does not vary keeps the unit 0. */
static void set_centres(struct columns *columns)
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

/* Moves the centres from the middles of the ranges to the means. */
static void move_centres(struct columns *columns)
{
  for (size_t j = 0; j < columns->n_columns; j++) {
    columns->centre[j] += columns->sum[j] / fmax(columns->count[j], 1);
    columns->sum[j] = 0;
  }
}

static void compute_moments(const struct columns *columns, struct gpnn_moments *moments)
{
  for (size_t j = 0; j < columns->n_columns; j++) {
    double n = columns->count[j];
    moments[j] = (struct gpnn_moments){n > 0 ? columns->low[j] : NAN, 0};
    if (columns->unit[j] == 0) continue;
    double rest = columns->sum[j] / n, squares = columns->squares[j] / n;
    moments[j].mean = (columns->centre[j] + rest) / columns->unit[j];
    moments[j].sd = sqrt(fmax(squares - rest * rest, 0)) / columns->unit[j];
    if (isinf(columns->high[j] - columns->low[j])) moments[j].sd = INFINITY;
  }
}

static enum gpnn_status learn(const struct pass *passes, const struct gpnn_row_source *source,
                              size_t n_columns, struct gpnn_moments *moments,
                              struct gpnn_error *err)
{
  struct columns columns;
  if (!columns_init(&columns, n_columns, source->width))
    return gpnn_fail_memory(err, "for the moments of columns");
  for (size_t j = 0; j < n_columns && passes == of_all; j++) columns.count[j] = (double)source->n;
  enum gpnn_status status = reduce(&passes[RANGES], source, &columns, err);
  if (status == GPNN_OK) {
    set_centres(&columns);
    status = reduce(&passes[DEVIATIONS], source, &columns, err);
  }
  if (status == GPNN_OK) {
    move_centres(&columns);
    status = reduce(&passes[SQUARES], source, &columns, err);
  }
  if (status == GPNN_OK) compute_moments(&columns, moments);
  free(columns.low);
  return status;
}

enum gpnn_status gpnn_moments_learn(const struct gpnn_row_source *source, size_t n_columns,
                                    struct gpnn_moments *moments, struct gpnn_error *err)
{
  return learn(of_all, source, n_columns, moments, err);
}

enum gpnn_status gpnn_moments_learn_present(const struct gpnn_row_source *source, size_t n_columns,
                                            struct gpnn_moments *moments, struct gpnn_error *err)
{
  return learn(of_present, source, n_columns, moments, err);
}

/* ---- covariance ---- */

/* The number of rows centred at once, as the columns of a d by CENTRED column-major matrix. */
enum { CENTRED = 256 };

struct products {
  size_t width, first, d;
  const struct gpnn_moments *moments;
  bool scaled;
  double *cov; /* d by d */
};

/* The sum of products, d by d; after it there is room for the centred rows, d by CENTRED. */
static void add_products(const void *state, size_t count, const double *rows, double *mapped)
{
  const struct products *p = state;
  size_t d = p->d;
  double *centred = mapped + d * d;
  for (size_t from = 0; from < count; from += CENTRED) {
    size_t n = count - from < CENTRED ? count - from : CENTRED;
    for (size_t i = 0; i < n; i++) {
      const double *row = rows + (from + i) * p->width + p->first;
      for (size_t j = 0; j < d; j++)
        centred[i * d + j] = (row[j] - p->moments[j].mean) / (p->scaled ? p->moments[j].sd : 1);
    }
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (blasint)d, (blasint)n, 1, centred,
                (blasint)d, 1, mapped, (blasint)d);
  }
}

static void fold_products(void *state, const double *mapped)
{
  const struct products *p = state;
  for (size_t i = 0; i < p->d * p->d; i++) p->cov[i] += mapped[i];
}

enum gpnn_status gpnn_moments_covariance(const struct gpnn_row_source *source, size_t first,
                                         size_t d, const struct gpnn_moments *moments, bool scaled,
                                         double *cov, struct gpnn_error *err)
{
  struct products products = {source->width, first, d, moments, scaled, cov};
  struct gpnn_row_source rows = *source;
  size_t n_mapped;
  rows.threads = gpnn_blas_claim(source->threads > 1 ? source->threads : 1);
  if (rows.threads == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  if (d > SIZE_MAX - CENTRED || !gpnn_multiply(d, d + CENTRED, &n_mapped))
    return gpnn_fail_memory(err, "for a covariance");
  const struct gpnn_row_reduction reduction = {add_products, fold_products, &products,
                                               n_mapped,     cov,           d * d};
  enum gpnn_status status = gpnn_row_source_reduce(&rows, &reduction, err);
  for (size_t i = 0; i < d * d; i++) cov[i] /= (double)source->n;
  return status;
}
