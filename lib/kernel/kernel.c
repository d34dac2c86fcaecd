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

static void rbf(double smoothness, size_t n, double *r2)
{
  (void)smoothness;
  gpnn_panels_best()->correlate(GPNN_PANEL_RBF, n, r2);
}

GPNN_SIMD static void rbf_slope(double smoothness, size_t n, const double *restrict r2,
                                double *restrict c, double *restrict slope)
{
  (void)smoothness;
#pragma omp simd
  for (size_t i = 0; i < n; i++) c[i] = slope[i] = exp(-0.5 * r2[i]);
}

static void exponential(double smoothness, size_t n, double *r2)
{
  (void)smoothness;
  gpnn_panels_best()->correlate(GPNN_PANEL_EXP, n, r2);
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

static void matern32(double smoothness, size_t n, double *r2)
{
  (void)smoothness;
  gpnn_panels_best()->correlate(GPNN_PANEL_MATERN32, n, r2);
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

static void matern52(double smoothness, size_t n, double *r2)
{
  (void)smoothness;
  gpnn_panels_best()->correlate(GPNN_PANEL_MATERN52, n, r2);
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

static const struct gpnn_kernel kernels[] = {
    {"exp", 0.5, exponential, exponential_slope},
    {"matern32", 1.5, matern32, matern32_slope},
    {"matern52", 2.5, matern52, matern52_slope},
    {"rbf", INFINITY, rbf, rbf_slope},
    {"matern", 0, gpnn_kernel_matern, gpnn_kernel_matern_slope},
};

const struct gpnn_kernel *gpnn_kernel_by_name(const char *name)
{
  if (strcmp(name, "matern12") == 0) name = "exp";
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    if (strcmp(kernels[i].name, name) == 0) return &kernels[i];
  return NULL;
}

const struct gpnn_kernel *gpnn_kernel_at(size_t i)
{
  return i < sizeof kernels / sizeof *kernels ? &kernels[i] : NULL;
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

/* The kernel's form in panels, or GPNN_PANEL_DISTANCE if they have none for it. */
static enum gpnn_panel_form form_of(const struct gpnn_kernel *kernel)
{
  if (kernel->correlation == exponential) return GPNN_PANEL_EXP;
  if (kernel->correlation == matern32) return GPNN_PANEL_MATERN32;
  if (kernel->correlation == matern52) return GPNN_PANEL_MATERN52;
  return kernel->correlation == rbf ? GPNN_PANEL_RBF : GPNN_PANEL_DISTANCE;
}

void gpnn_kernel_fill_panels(const struct gpnn_kernel *kernel, double smoothness,
                             const struct gpnn_panel_set *set, size_t n, size_t n_rows, size_t d,
                             size_t stride, const double *columns, double *a)
{
  enum gpnn_panel_form form = form_of(kernel);
  size_t lanes = set->lanes, panel = gpnn_panel_size(n, lanes);
  set->fill(form, n, n_rows, d, stride, columns, a);
  if (form != GPNN_PANEL_DISTANCE) return;
  for (size_t i = 0; i < n_rows; i += lanes, a += panel) {
    kernel->correlation(smoothness, (i + lanes < n ? i + lanes : n) * lanes, a);
    /* Unused lanes must be finite, which distances need not be. */
    if (i + lanes > n) memset(a + n * lanes, 0, (panel - n * lanes) * sizeof *a);
  }
}
