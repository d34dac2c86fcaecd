/*
 * Matrices are trapezoids in panels (linalg/panels/panels.h): a column and a row for each
 * neighbour, and below them one row for the point.  Factoring C + ratio I = L L', with ratio =
 * noise / kernelscale, leaves v = L^-1 c in that last row; then w = L^-T v and k'w = kernelscale
 * v'v.
 */
#include "simulate/kriging.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernel/kernel.h"
#include "linalg/arrays.h"
#include "linalg/factors/cholesky.h"
#include "linalg/panels/panels.h"
#include "linalg/simd.h"

/* What a matrix of correlations depends on besides the points; without a kernel: nothing yet. */
struct correlation {
  const struct gpnn_kernel *kernel;
  double smoothness, lengthscale;
};

/* Correlations of the neighbours with each other and with the point, kept for reuse. */
struct correlations {
  struct correlation of;
  double *trapezoid; /* owned */
};

struct gpnn_kriging {
  const struct gpnn_panel_set *set;
  size_t max_neighbours, d, m;
  size_t stride;             /* from one coordinate to the next: whole vectors */
  double *offsets, *columns; /* d by stride: the neighbours and then the point, one coordinate
                                after another; as given, and divided by a lengthscale */
  struct correlations assumed, actual;
  const double *given;        /* the trapezoid of 'assumed' or 'actual' that was factored last, */
  double ratio;               /* and noise / kernelscale then */
  double *k;                  /* trapezoid: C + ratio I, then its factor */
  struct correlation solved;  /* what 'w' was found for, with 'ratio' */
  double explained;           /* v'v */
  double jitter;              /* divided by the kernel scale */
  double *w, *product;        /* m numbers and zeros up to a whole vector; scratch of that size */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* Rounding may leave a variance below zero.  A NaN stays one. */
static double not_negative(double variance)
{
  return variance < 0 ? 0 : variance;
}

/* ---- memory ------------------------------------------------------------------------------- */

enum { MAX_LANES = 8 }; /* of any panel set */

static size_t whole_vectors(size_t n)
{
  return (n + MAX_LANES - 1) / MAX_LANES * MAX_LANES;
}

enum gpnn_status gpnn_kriging_new(struct gpnn_kriging **kriging, size_t max_neighbours, size_t d,
                                  struct gpnn_error *err)
{
  struct gpnn_kriging *s = gpnn_alloc(1, 1, sizeof *s);
  if (s == NULL) return gpnn_fail_memory(err, "for kriging");
  s->set = gpnn_panels_best();
  s->max_neighbours = max_neighbours;
  s->d = d;
  s->stride = whole_vectors(max_neighbours + 1);
  size_t lanes = s->set->lanes, n_panels = (max_neighbours + lanes) / lanes;
  size_t panel = gpnn_panel_size(max_neighbours, lanes);
  s->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(s->offsets, d, s->stride), GPNN_ARRAY(s->columns, d, s->stride),
      GPNN_ARRAY(s->assumed.trapezoid, n_panels, panel),
      GPNN_ARRAY(s->actual.trapezoid, n_panels, panel), GPNN_ARRAY(s->k, n_panels, panel),
      GPNN_ARRAY(s->w, s->stride, 1), GPNN_ARRAY(s->product, s->stride, 1));
  if (s->arrays == NULL) {
    gpnn_kriging_free(s);
    return gpnn_fail_memory(err, "for kriging");
  }
  *kriging = s;
  return GPNN_OK;
}

void gpnn_kriging_free(struct gpnn_kriging *s)
{
  if (s == NULL) return;
  gpnn_arrays_free(s->arrays);
  free(s);
}

/* ---- correlations ------------------------------------------------------------------------- */

void gpnn_kriging_set_neighbours(struct gpnn_kriging *s, size_t m, const double *offsets)
{
  assert(m > 0 && m <= s->max_neighbours);
  s->m = m;
  s->assumed.of.kernel = s->actual.of.kernel = s->solved.kernel = NULL;
  memset(s->offsets, 0, s->d * s->stride * sizeof *s->offsets);
  for (size_t j = 0; j < s->d; j++)
    for (size_t i = 0; i < m; i++) s->offsets[j * s->stride + i] = offsets[i * s->d + j];
}

static struct correlation correlation_of(const struct gpnn_covariance *covariance)
{
  return (struct correlation){covariance->kernel, covariance->smoothness,
                              *gpnn_covariance_lengthscales(covariance)};
}

static bool is_same(const struct correlation *a, const struct correlation *b)
{
  return a->kernel == b->kernel && a->smoothness == b->smoothness &&
         a->lengthscale == b->lengthscale;
}

/* Returns the trapezoid of 'wanted', computing it in 'c' unless there is one already. */
static const double *correlate(struct gpnn_kriging *s, struct correlation wanted,
                               struct correlations *c)
{
  if (is_same(&s->assumed.of, &wanted)) return s->assumed.trapezoid;
  if (is_same(&s->actual.of, &wanted)) return s->actual.trapezoid;
  double inverse = 1 / wanted.lengthscale;
  for (size_t i = 0; i < s->d * s->stride; i++) s->columns[i] = s->offsets[i] * inverse;
  c->of = wanted;
  gpnn_kernel_fill_panels(wanted.kernel, wanted.smoothness, s->set, s->m, s->m + 1, s->d, s->stride,
                          s->columns, c->trapezoid);
  return c->trapezoid;
}

/* Row 'i' of a trapezoid, whose numbers are set->lanes apart. */
static const double *row_of(const struct gpnn_kriging *s, const double *trapezoid, size_t i)
{
  return trapezoid + gpnn_panel_at(s->m, s->set->lanes, i, 0);
}

/* ---- the solve ---------------------------------------------------------------------------- */

/* Writes C + ratio I and, below it, c: each panel's columns up to its last row. */
static void fill(void *context, double *k)
{
  const struct gpnn_kriging *s = context;
  size_t lanes = s->set->lanes, panel = gpnn_panel_size(s->m, lanes);
  for (size_t i = 0; i < s->m + 1; i += lanes) {
    size_t n = i + lanes < s->m ? i + lanes : s->m;
    memcpy(k + i / lanes * panel, s->given + i / lanes * panel, n * lanes * sizeof *k);
  }
  for (size_t i = 0; i < s->m; i++) k[gpnn_panel_at(s->m, lanes, i, i)] += s->ratio;
}

/* Factors C + ratio I of 'covariance', computing its correlations in 'c' if need be.  The weights
 * found before are lost. */
static enum gpnn_status factor(struct gpnn_kriging *s, const struct gpnn_covariance *covariance,
                               struct correlations *c, struct gpnn_error *err)
{
  s->solved.kernel = NULL;
  s->given = correlate(s, correlation_of(covariance), c);
  s->ratio = covariance->noise / covariance->kernelscale;
  fill(s, s->k);
  return gpnn_cholesky_factor_panels(s->set, s->m, s->m + 1, s->k, 1, fill, s, &s->jitter, err);
}

/* b[j] -= (column j of a panel)'x for the first n columns. */
GPNN_SIMD static void subtract_rows(size_t lanes, size_t n, const double *panel, const double *x,
                                    double *b)
{
  for (size_t j = 0; j < n; j++) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t lane = 0; lane < lanes; lane++) sum += panel[j * lanes + lane] * x[lane];
    b[j] -= sum;
  }
}

/* Solves L'x = b in place, from the last panel to the first; 'b' ends in zeros. */
static void solve_transposed(const struct gpnn_kriging *s, double *b)
{
  size_t lanes = s->set->lanes, n_panels = (s->m + lanes - 1) / lanes;
  for (size_t q = n_panels; q-- > 0;) {
    size_t begin = q * lanes, end = begin + lanes < s->m ? begin + lanes : s->m;
    for (size_t i = end; i-- > begin;) {
      const double *row = row_of(s, s->k, i);
      b[i] /= row[i * lanes];
      for (size_t j = begin; j < i; j++) b[j] -= row[j * lanes] * b[i];
    }
    subtract_rows(lanes, begin, s->k + q * gpnn_panel_size(s->m, lanes), b + begin, b);
  }
}

/* Copies v to s->w and computes v'v. */
static void read_solution(struct gpnn_kriging *s)
{
  const double *v = row_of(s, s->k, s->m);
  memset(s->w, 0, s->stride * sizeof *s->w);
  s->explained = 0;
  for (size_t i = 0; i < s->m; i++) {
    s->w[i] = v[i * s->set->lanes];
    s->explained += s->w[i] * s->w[i];
  }
}

enum gpnn_status gpnn_kriging_weights(struct gpnn_kriging *s, const struct gpnn_covariance *assumed,
                                      const double **w, double *latent, double *jitter,
                                      struct gpnn_error *err)
{
  struct correlation wanted = correlation_of(assumed);
  double scale = assumed->kernelscale;
  if (!is_same(&s->solved, &wanted) || s->ratio != assumed->noise / scale) {
    enum gpnn_status status = factor(s, assumed, &s->assumed, err);
    if (status != GPNN_OK) return status;
    read_solution(s);
    solve_transposed(s, s->w);
    s->solved = wanted;
  }
  *w = s->w;
  *latent = not_negative(scale * (1 - s->explained));
  *jitter = s->jitter * scale;
  return GPNN_OK;
}

/* ---- under the true process --------------------------------------------------------------- */

double gpnn_kriging_risk(struct gpnn_kriging *s, const struct gpnn_covariance *actual,
                         double factor)
{
  double ww = 0, wc = 0, wcw = 0;
  for (size_t i = 0; i < s->m; i++) ww += s->w[i] * s->w[i];
  double noise = actual->noise * factor * factor * ww;
  if (actual->kernelscale == 0) return noise;
  const double *correlation = correlate(s, correlation_of(actual), &s->actual);
  memset(s->product, 0, s->stride * sizeof *s->product);
  s->set->subtract_product(s->m, correlation, s->w, s->product);
  const double *c = row_of(s, correlation, s->m);
  for (size_t i = 0; i < s->m; i++) {
    wc += s->w[i] * c[i * s->set->lanes];
    wcw -= s->w[i] * s->product[i];
  }
  return noise + actual->kernelscale * not_negative(1 - factor * (2 * wc - factor * wcw));
}

/* y = L z, for the m neighbours. */
static void multiply(const struct gpnn_kriging *s, const double *z, double *y)
{
  for (size_t i = 0; i < s->m; i++) {
    const double *row = row_of(s, s->k, i);
    double sum = 0;
    for (size_t j = 0; j <= i; j++) sum += row[j * s->set->lanes] * z[j];
    y[i] = sum;
  }
}

enum gpnn_status gpnn_kriging_draw(struct gpnn_kriging *s, const struct gpnn_covariance *actual,
                                   struct gpnn_rng *rng, double *y, double *f, double *jitter,
                                   struct gpnn_error *err)
{
  double root = sqrt(actual->kernelscale), sum = 0;
  for (size_t i = 0; i < s->m; i++) s->product[i] = gpnn_rng_normal(rng);
  double z_point = gpnn_rng_normal(rng);
  *jitter = 0;
  if (actual->kernelscale == 0) {
    for (size_t i = 0; i < s->m; i++) y[i] = sqrt(actual->noise) * s->product[i];
    *f = 0;
    return GPNN_OK;
  }
  enum gpnn_status status = factor(s, actual, &s->actual, err);
  if (status != GPNN_OK) return status;
  read_solution(s);
  for (size_t i = 0; i < s->m; i++) sum += s->w[i] * s->product[i];
  multiply(s, s->product, y);
  for (size_t i = 0; i < s->m; i++) y[i] *= root;
  *f = root * (sum + sqrt(not_negative(1 - s->explained)) * z_point);
  *jitter = s->jitter * actual->kernelscale;
  return GPNN_OK;
}
