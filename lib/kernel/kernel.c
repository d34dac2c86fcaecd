#include "kernel/kernel.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "kernel/kernel_matern_private.h"
#include "linalg/panels.h"
#include "linalg/simd.h"

/*
 * sqrt(factor r^2), capped where exp(-s) has long been zero, so that polynomial times exp(-s) does
 * not become infinity times zero.  A NaN stays one.
 */
static inline double scaled_root(double factor, double r2)
{
  double s = sqrt(factor * r2);
  return s > 1000 ? 1000 : s;
}

GPNN_SIMD static void rbf_slope(double smoothness, size_t n, const double *restrict r2,
                                double *restrict c, double *restrict slope)
{
  (void)smoothness;
#pragma omp simd
  for (size_t i = 0; i < n; i++) c[i] = slope[i] = exp(-0.5 * r2[i]);
}

GPNN_SIMD static void exponential_slope(double smoothness, size_t n, const double *restrict r2,
                                        double *restrict c, double *restrict slope)
{
  (void)smoothness;
#pragma omp simd
  for (size_t i = 0; i < n; i++) {
    double r = sqrt(r2[i]), e = exp(-r);
    c[i] = e;
    slope[i] = e / (r == 0 ? INFINITY : r); /* 0 at r = 0 */
  }
}

GPNN_SIMD static void matern32_slope(double smoothness, size_t n, const double *restrict r2,
                                     double *restrict c, double *restrict slope)
{
  (void)smoothness;
#pragma omp simd
  for (size_t i = 0; i < n; i++) {
    double s = scaled_root(3, r2[i]), e = exp(-s);
    c[i] = (1 + s) * e;
    slope[i] = 3 * e;
  }
}

GPNN_SIMD static void matern52_slope(double smoothness, size_t n, const double *restrict r2,
                                     double *restrict c, double *restrict slope)
{
  (void)smoothness;
#pragma omp simd
  for (size_t i = 0; i < n; i++) {
    double s = scaled_root(5, r2[i]), e = exp(-s);
    c[i] = (1 + s + s * s * (1.0 / 3)) * e;
    slope[i] = (5.0 / 3) * (1 + s) * e;
  }
}

/* A kernel, and how c(r) alone is computed: by panels if they have a form for it, otherwise by a
 * function. */
struct row {
  struct gpnn_kernel kernel;
  enum gpnn_panel_form form; /* GPNN_PANEL_DISTANCE: they have none */
  void (*correlation)(double smoothness, size_t n, double *r2); /* then replaces r^2 by c(r) */
};

static const struct row rows[] = {
    {{"exp", 0.5, exponential_slope}, GPNN_PANEL_EXP, NULL},
    {{"matern32", 1.5, matern32_slope}, GPNN_PANEL_MATERN32, NULL},
    {{"matern52", 2.5, matern52_slope}, GPNN_PANEL_MATERN52, NULL},
    {{"rbf", INFINITY, rbf_slope}, GPNN_PANEL_RBF, NULL},
    {{"matern", 0, gpnn_kernel_matern_slope}, GPNN_PANEL_DISTANCE, gpnn_kernel_matern},
};

enum { N_ROWS = sizeof rows / sizeof *rows };

static const struct row *row_of(const struct gpnn_kernel *kernel)
{
  const struct row *row = rows;
  while (&row->kernel != kernel) row++; /* every kernel is in the table */
  return row;
}

const struct gpnn_kernel *gpnn_kernel_by_name(const char *name)
{
  if (strcmp(name, "matern12") == 0) name = "exp";
  for (size_t i = 0; i < N_ROWS; i++)
    if (strcmp(rows[i].kernel.name, name) == 0) return &rows[i].kernel;
  return NULL;
}

const struct gpnn_kernel *gpnn_kernel_at(size_t i)
{
  return i < N_ROWS ? &rows[i].kernel : NULL;
}

void gpnn_kernel_correlate(const struct gpnn_kernel *kernel, double smoothness, size_t n,
                           double *r2)
{
  const struct row *row = row_of(kernel);
  if (row->form == GPNN_PANEL_DISTANCE)
    row->correlation(smoothness, n, r2);
  else
    gpnn_panels_best()->correlate(row->form, n, r2);
}

bool gpnn_kernel_needs_smoothness(const struct gpnn_kernel *kernel)
{
  return kernel->smoothness == 0;
}

bool gpnn_kernel_parse(const char *text, const struct gpnn_kernel **kernel, double *smoothness)
{
  char name[GPNN_KERNEL_BYTES] = "";
  const char *colon = strchr(text, ':');
  size_t length = colon == NULL ? strlen(text) : (size_t)(colon - text);
  double nu = 0;
  if (length >= sizeof name) return false;
  memcpy(name, text, length);
  const struct gpnn_kernel *found = gpnn_kernel_by_name(name);
  if (found == NULL || gpnn_kernel_needs_smoothness(found) != (colon != NULL)) return false;
  if (colon != NULL && (gpnn_number_read(colon + 1, strlen(colon + 1), &nu) != GPNN_NUMBER_OK ||
                        !(nu > 0) || nu > GPNN_KERNEL_SMOOTHEST))
    return false;
  *kernel = found;
  *smoothness = nu;
  return true;
}

void gpnn_kernel_write(const struct gpnn_kernel *kernel, double smoothness,
                       char text[GPNN_KERNEL_BYTES])
{
  char number[GPNN_NUMBER_BYTES] = "";
  bool needed = gpnn_kernel_needs_smoothness(kernel);
  if (needed) gpnn_number_write(number, smoothness);
  snprintf(text, GPNN_KERNEL_BYTES, "%s%s%s", kernel->name, needed ? ":" : "", number);
}

/*
 * Without a floor, fits of exp to blocks of random rows often end without noise: the process is
 * rough enough to explain everything at the distances that the blocks see.  Rows alike in all
 * inputs but not in the target are then predicted with next to no variance, and a single one of
 * them outweighs all others in a calibration factor.  On the public data sets tried, noise held
 * at 3e-3 to 1e-2 predicted as well or better wherever a free fit had gone below.  Processes
 * without a derivative are taken to be like exp in this.
 */
double gpnn_kernel_least_noise(const struct gpnn_kernel *kernel, double smoothness)
{
  double nu = gpnn_kernel_needs_smoothness(kernel) ? smoothness : kernel->smoothness;
  return nu < 1 ? 3e-3 : 1e-6;
}

GPNN_SIMD void gpnn_kernel_distances(size_t n, size_t d, size_t stride, const double *columns,
                                     const double *point, double *r2)
{
  for (size_t i = 0; i < n; i++) r2[i] = 0;
  for (size_t j = 0; j < d; j++) {
    const double *column = columns + j * stride;
    double here = point[j];
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
      double difference = column[i] - here;
      r2[i] += difference * difference;
    }
  }
}

void gpnn_kernel_fill_panels(const struct gpnn_kernel *kernel, double smoothness,
                             const struct gpnn_panel_set *set, size_t n, size_t n_rows, size_t d,
                             size_t stride, const double *columns, double *a)
{
  const struct row *row = row_of(kernel);
  size_t lanes = set->lanes, panel = gpnn_panel_size(n, lanes);
  set->fill(row->form, n, n_rows, d, stride, columns, a);
  if (row->form != GPNN_PANEL_DISTANCE) return;
  for (size_t i = 0; i < n_rows; i += lanes, a += panel) {
    row->correlation(smoothness, (i + lanes < n ? i + lanes : n) * lanes, a);
    /* Unused lanes must be finite, which distances need not be. */
    if (i + lanes > n) memset(a + n * lanes, 0, (panel - n * lanes) * sizeof *a);
  }
}
