#include "stats/incomplete.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"

static const double RIDGE = 1e-3;  /* added to variances, which are about 1 */
static const double ENOUGH = 1e-3; /* a step that changes no moment by more is the last */
static const double WORK = 1e9;    /* operations of a step */
enum { MOST_STEPS = 25 };

static enum gpnn_status fail(struct gpnn_error *err)
{
  return gpnn_fail(err, GPNN_ENUMERIC, "the covariance of the inputs cannot be computed");
}

/* ---- one row ------------------------------------------------------------------------------- */

/* A cell in the units of its column; one that is missing stays so. */
static double standardise(const struct gpnn_incomplete *fitted, size_t j, double value)
{
  if (isnan(value)) return value;
  return (fmin(fmax(value, fitted->least[j]), fitted->most[j]) - fitted->centre[j]) /
         fitted->unit[j];
}

/* What a row lacks, in scratch memory. */
struct gap {
  size_t m, *column;  /* which columns */
  double *covariance; /* m by m, column-major, lower triangle: of these given the others */
  double *offset;     /* m: where their mean lies from that of the distribution */
};

size_t gpnn_incomplete_scratch(size_t d)
{
  return d * d + 3 * d;
}

static struct gap gap_of(size_t d, const double *row, double *scratch)
{
  struct gap gap = {.covariance = scratch, .offset = scratch + d * d};
  gap.column = (size_t *)(void *)(scratch + d * d + d);
  for (size_t j = 0; j < d; j++)
    if (isnan(row[j])) gap.column[gap.m++] = j;
  return gap;
}

/* Fills a row in, which is in the units of the columns; leaves the covariance of what it lacked if
 * that 'is_wanted', otherwise its factor. */
static enum gpnn_status fill(const struct gpnn_incomplete *fitted, double *row, struct gap *gap,
                             bool is_wanted, struct gpnn_error *err)
{
  size_t d = fitted->d, m = gap->m;
  lapack_int order = (lapack_int)m;
  for (size_t j = 0; j < d; j++)
    if (!isnan(row[j])) row[j] -= fitted->mean[j];
  for (size_t a = 0; a < m; a++) row[gap->column[a]] = 0;
  for (size_t a = 0; a < m; a++) {
    const double *precision = fitted->precision + gap->column[a] * d;
    gap->offset[a] = -cblas_ddot((int)d, precision, 1, row, 1);
    for (size_t b = 0; b <= a; b++) gap->covariance[b * m + a] = precision[gap->column[b]];
  }
  if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', order, gap->covariance, order) != 0) return fail(err);
  LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'L', order, 1, gap->covariance, order, gap->offset, order);
  if (is_wanted) LAPACKE_dpotri(LAPACK_COL_MAJOR, 'L', order, gap->covariance, order);
  for (size_t a = 0; a < m; a++) row[gap->column[a]] = gap->offset[a];
  for (size_t j = 0; j < d; j++) row[j] += fitted->mean[j];
  return GPNN_OK;
}

enum gpnn_status gpnn_incomplete_complete(const struct gpnn_incomplete *fitted, double *row,
                                          double *scratch, struct gpnn_error *err)
{
  size_t d = fitted->d;
  double *standardised = scratch + d * d + 2 * d;
  struct gap gap = gap_of(d, row, scratch);
  if (gap.m == 0) return GPNN_OK;
  for (size_t j = 0; j < d; j++) standardised[j] = standardise(fitted, j, row[j]);
  enum gpnn_status status = fill(fitted, standardised, &gap, false, err);
  for (size_t a = 0; a < gap.m && status == GPNN_OK; a++) {
    size_t j = gap.column[a];
    row[j] = fitted->centre[j] + fitted->unit[j] * standardised[j];
    if (!isfinite(row[j])) status = fail(err);
  }
  return status;
}

/* ---- all rows ------------------------------------------------------------------------------ */

/* The sums that a step is made of. */
struct sums {
  size_t n, d;
  double *rows;    /* n by d: standardised */
  double *values;  /* n: of one column */
  double *row;     /* d */
  double *total;   /* d */
  double *scatter; /* d by d, column-major, lower triangle */
  double *scratch;
};

/* Sets what cells of a column count as at least and at most, from those that are there, ascending:
 * one wild cell must not decide what others are filled in with. */
static void find_limits(struct gpnn_incomplete *fitted, size_t j, size_t n, const double *values)
{
  static const double beyond = 5, any = 1e100; /* spreads of the middle half; if that has none */
  double low = n > 0 ? values[n / 4] : 0, high = n > 0 ? values[3 * n / 4] : 0;
  double reach = high > low ? beyond * (high - low) : any;
  fitted->least[j] = fmax(low - reach, -any);
  fitted->most[j] = fmin(high + reach, any);
}

/* Finds limits, mean and sd of what there is of each column. */
static void find_units(struct gpnn_incomplete *fitted, const struct sums *sums)
{
  for (size_t j = 0; j < fitted->d; j++) {
    double *values = sums->values, mean = 0, squares = 0;
    size_t n = 0;
    for (size_t i = 0; i < sums->n; i++) {
      values[n] = sums->rows[i * fitted->d + j];
      n += isnan(values[n]) ? 0 : 1;
    }
    qsort(values, n, sizeof *values, gpnn_compare_doubles);
    find_limits(fitted, j, n, values);
    for (size_t i = 0; i < n; i++) {
      double off = fmin(fmax(values[i], fitted->least[j]), fitted->most[j]) - mean;
      mean += off / (double)(i + 1);
      squares += off * off * (double)i / (double)(i + 1);
    }
    double sd = n > 0 ? sqrt(squares / (double)n) : 0;
    fitted->centre[j] = mean;
    fitted->unit[j] = sd > 0 ? sd : 1;
  }
}

/* Rows to look at, of which each takes d^2 operations and m^3 where m numbers are missing. */
static size_t choose_rows(size_t n, size_t d, const double *rows)
{
  enum { LOOKED_AT = 1000, LEAST = 200 };
  size_t looked = n < LOOKED_AT ? n : LOOKED_AT;
  double work = 0;
  for (size_t i = 0; i < looked; i++) {
    const double *row = rows + i * (n / looked) * d;
    double m = 0;
    for (size_t j = 0; j < d; j++) m += isnan(row[j]);
    work += (double)d * (double)d + m * m * m;
  }
  double most = fmax(LEAST, WORK * (double)looked / work);
  return (double)n < most ? n : (size_t)most;
}

/* E: adds a row, its missing numbers replaced by their mean, and the covariance of these. */
static enum gpnn_status add_row(const struct gpnn_incomplete *fitted, struct sums *sums, size_t i,
                                struct gpnn_error *err)
{
  size_t d = sums->d;
  memcpy(sums->row, sums->rows + i * d, d * sizeof *sums->row);
  struct gap gap = gap_of(d, sums->row, sums->scratch);
  enum gpnn_status status = gap.m == 0 ? GPNN_OK : fill(fitted, sums->row, &gap, true, err);
  if (status != GPNN_OK) return status;
  for (size_t j = 0; j < d; j++) sums->total[j] += sums->row[j];
  cblas_dsyr(CblasColMajor, CblasLower, (int)d, 1, sums->row, 1, sums->scatter, (int)d);
  for (size_t a = 0; a < gap.m; a++)
    for (size_t b = 0; b <= a; b++)
      sums->scatter[gap.column[b] * d + gap.column[a]] += gap.covariance[b * gap.m + a];
  return GPNN_OK;
}

/* M: sets mean and precision; '*change' is the largest of any moment's, of which 'scatter' has the
 * last covariance in its upper triangle. */
static enum gpnn_status set_moments(struct gpnn_incomplete *fitted, struct sums *sums,
                                    double *change, struct gpnn_error *err)
{
  size_t d = sums->d;
  lapack_int order = (lapack_int)d;
  double n = (double)sums->n;
  *change = 0;
  for (size_t j = 0; j < d; j++) {
    double mean = sums->total[j] / n;
    *change = fmax(*change, fabs(mean - fitted->mean[j]));
    fitted->mean[j] = mean;
  }
  for (size_t a = 0; a < d; a++)
    for (size_t b = 0; b <= a; b++) {
      double value = sums->scatter[b * d + a] / n - fitted->mean[a] * fitted->mean[b];
      if (a == b) value += RIDGE;
      fitted->precision[b * d + a] = value;
      if (a == b) continue;
      *change = fmax(*change, fabs(value - sums->scatter[a * d + b]));
      sums->scatter[a * d + b] = value;
    }
  if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', order, fitted->precision, order) != 0) return fail(err);
  LAPACKE_dpotri(LAPACK_COL_MAJOR, 'L', order, fitted->precision, order);
  for (size_t a = 0; a < d; a++)
    for (size_t b = 0; b < a; b++) fitted->precision[a * d + b] = fitted->precision[b * d + a];
  return GPNN_OK;
}

static enum gpnn_status climb(struct gpnn_incomplete *fitted, struct sums *sums,
                              struct gpnn_error *err)
{
  size_t d = sums->d;
  double change = INFINITY;
  enum gpnn_status status = GPNN_OK;
  for (size_t j = 0; j < d; j++) fitted->precision[j * (d + 1)] = 1;
  while (fitted->n_steps < MOST_STEPS && change > ENOUGH && status == GPNN_OK) {
    memset(sums->total, 0, d * sizeof *sums->total);
    for (size_t j = 0; j < d; j++)
      memset(sums->scatter + j * (d + 1), 0, (d - j) * sizeof *sums->scatter);
    for (size_t i = 0; i < sums->n && status == GPNN_OK; i++)
      status = add_row(fitted, sums, i, err);
    if (status == GPNN_OK) status = set_moments(fitted, sums, &change, err);
    fitted->n_steps++;
  }
  return status;
}

enum gpnn_status gpnn_incomplete_fit(struct gpnn_incomplete *fitted, size_t n, size_t d,
                                     const double *rows, struct gpnn_error *err)
{
  if (gpnn_blas_claim(1) < 1) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  struct sums sums = {.n = choose_rows(n, d, rows), .d = d};
  struct gpnn_arrays *arrays = GPNN_ARRAYS(
      GPNN_ARRAY(sums.rows, sums.n, d), GPNN_ARRAY(sums.values, sums.n, 1),
      GPNN_ARRAY(sums.row, d, 1), GPNN_ARRAY(sums.total, d, 1), GPNN_ARRAY(sums.scatter, d, d),
      GPNN_ARRAY(sums.scratch, gpnn_incomplete_scratch(d), 1));
  fitted->d = d;
  fitted->arrays = GPNN_ARRAYS(GPNN_ARRAY(fitted->least, d, 1), GPNN_ARRAY(fitted->most, d, 1),
                               GPNN_ARRAY(fitted->centre, d, 1), GPNN_ARRAY(fitted->unit, d, 1),
                               GPNN_ARRAY(fitted->mean, d, 1), GPNN_ARRAY(fitted->precision, d, d));
  enum gpnn_status status = arrays == NULL || fitted->arrays == NULL
                                ? gpnn_fail_memory(err, "for what rows lack")
                                : GPNN_OK;
  if (status == GPNN_OK) {
    for (size_t i = 0; i < sums.n; i++)
      memcpy(sums.rows + i * d, rows + (size_t)((double)i / (double)sums.n * (double)n) * d,
             d * sizeof *rows);
    find_units(fitted, &sums);
    for (size_t i = 0; i < sums.n * d; i++) sums.rows[i] = standardise(fitted, i % d, sums.rows[i]);
    status = climb(fitted, &sums, err);
  }
  gpnn_arrays_free(arrays);
  return status;
}

void gpnn_incomplete_release(struct gpnn_incomplete *fitted)
{
  gpnn_arrays_free(fitted->arrays);
  *fitted = (struct gpnn_incomplete){0};
}
