/*
 * Matrices are trapezoids in panels (linalg/panels.h): a column and a row for each neighbour, and
 * below them one row for the place.  C + ratio I = L L' is factored, ratio being noise by kernel
 * scale, which leaves v = L^-1 c in the last row; then w = L^-T v and k'w = kernelscale v'v.
 */
#include "simulate/kriging.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernel/kernel.h"
#include "linalg/cholesky.h"
#include "linalg/panels.h"
#include "linalg/simd.h"

/* Correlations between the neighbours, and with the place; good where 'kernel' is not NULL. */
struct correlations {
  const struct gpnn_kernel *kernel;
  double smoothness, lengthscale;
  double *trapezoid; /* owned */
};

struct gpnn_kriging {
  const struct gpnn_panel_set *set;
  size_t most, d, m;
  size_t stride;             /* of coordinates: whole vectors */
  double *offsets, *columns; /* d by stride: neighbours and then the place, coordinate after
                                coordinate; as put, and divided by a lengthscale */
  struct correlations assumed, truth;
  double *k;           /* a trapezoid, then its factor; C + ratio I, of these correlations: */
  const double *given; /* trapezoid, of assumed or truth */
  double ratio;
  struct correlations solved; /* what weights were found for, with 'ratio'; it has no trapezoid */
  double explained;           /* v'v */
  double jitter;              /* by kernel scale */
  double *w, *product;        /* m and zeros up to a whole vector; scratch as large */
};

/* Rounding may leave a variance under zero; what is no number stays that. */
static double not_negative(double variance)
{
  return variance < 0 ? 0 : variance;
}

/* ---- room --------------------------------------------------------------------------------- */

enum { MOST_LANES = 8 }; /* of any set */

static size_t whole(size_t n)
{
  return (n + MOST_LANES - 1) / MOST_LANES * MOST_LANES;
}

static double *trapezoid_new(const struct gpnn_kriging *s)
{
  size_t lanes = s->set->lanes, n_panels = (s->most + lanes) / lanes;
  return gpnn_alloc(n_panels, gpnn_panel_size(s->most, lanes), sizeof(double));
}

enum gpnn_status gpnn_kriging_new(struct gpnn_kriging **weights, size_t most, size_t d,
                                  struct gpnn_error *err)
{
  struct gpnn_kriging *s = gpnn_alloc(1, 1, sizeof *s);
  if (s == NULL) return gpnn_fail_memory(err, "for weights");
  s->set = gpnn_panels_best();
  s->most = most;
  s->d = d;
  s->stride = whole(most + 1);
  s->offsets = gpnn_alloc(d, s->stride, sizeof *s->offsets);
  s->columns = gpnn_alloc(d, s->stride, sizeof *s->columns);
  s->assumed.trapezoid = trapezoid_new(s);
  s->truth.trapezoid = trapezoid_new(s);
  s->k = trapezoid_new(s);
  s->w = gpnn_alloc(s->stride, 1, sizeof *s->w);
  s->product = gpnn_alloc(s->stride, 1, sizeof *s->product);
  if (!s->offsets || !s->columns || !s->assumed.trapezoid || !s->truth.trapezoid || !s->k ||
      !s->w || !s->product) {
    gpnn_kriging_free(s);
    return gpnn_fail_memory(err, "for weights");
  }
  *weights = s;
  return GPNN_OK;
}

void gpnn_kriging_free(struct gpnn_kriging *s)
{
  if (s == NULL) return;
  free(s->offsets);
  free(s->columns);
  free(s->assumed.trapezoid);
  free(s->truth.trapezoid);
  free(s->k);
  free(s->w);
  free(s->product);
  free(s);
}

/* ---- correlations ------------------------------------------------------------------------- */

void gpnn_kriging_put(struct gpnn_kriging *s, size_t m, const double *offsets)
{
  assert(m > 0 && m <= s->most);
  s->m = m;
  s->assumed.kernel = s->truth.kernel = s->solved.kernel = NULL;
  memset(s->offsets, 0, s->d * s->stride * sizeof *s->offsets);
  for (size_t j = 0; j < s->d; j++)
    for (size_t i = 0; i < m; i++) s->offsets[j * s->stride + i] = offsets[i * s->d + j];
}

static bool are_of(const struct correlations *c, const struct gpnn_isotropic *covariance)
{
  return c->kernel == covariance->kernel && c->smoothness == covariance->smoothness &&
         c->lengthscale == covariance->lengthscale;
}

/* The correlations of 'covariance': those kept for either purpose, or made in 'c'. */
static const double *correlate(struct gpnn_kriging *s, const struct gpnn_isotropic *covariance,
                               struct correlations *c)
{
  if (are_of(&s->assumed, covariance)) return s->assumed.trapezoid;
  if (are_of(&s->truth, covariance)) return s->truth.trapezoid;
  double inverse = 1 / covariance->lengthscale;
  for (size_t i = 0; i < s->d * s->stride; i++) s->columns[i] = s->offsets[i] * inverse;
  c->kernel = covariance->kernel;
  c->smoothness = covariance->smoothness;
  c->lengthscale = covariance->lengthscale;
  gpnn_kernel_fill_panels(c->kernel, c->smoothness, s->set, s->m, s->m + 1, s->d, s->stride,
                          s->columns, c->trapezoid);
  return c->trapezoid;
}

/* Row 'i' of a trapezoid; its numbers are set->lanes apart. */
static const double *row_of(const struct gpnn_kriging *s, const double *trapezoid, size_t i)
{
  return trapezoid + gpnn_panel_at(s->m, s->set->lanes, i, 0);
}

/* ---- the solve ---------------------------------------------------------------------------- */

/* Writes C + ratio I, and c below it: of each panel, the columns as far as its last row. */
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

/* Factors C + ratio I of 'covariance', whose correlations are made in 'c' where there are none;
 * whatever was solved before is gone. */
static enum gpnn_status factor(struct gpnn_kriging *s, const struct gpnn_isotropic *covariance,
                               struct correlations *c, struct gpnn_error *err)
{
  s->solved.kernel = NULL;
  s->given = correlate(s, covariance, c);
  s->ratio = covariance->noise / covariance->kernelscale;
  fill(s, s->k);
  return gpnn_cholesky_factor_panels(s->set, s->m, s->m + 1, s->k, 1, fill, s, &s->jitter, err);
}

/* b[j] -= (number j of the rows of a panel)'x for the first n columns. */
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

/* Copies v to s->w, and finds v'v. */
static void take_solution(struct gpnn_kriging *s)
{
  const double *v = row_of(s, s->k, s->m);
  memset(s->w, 0, s->stride * sizeof *s->w);
  s->explained = 0;
  for (size_t i = 0; i < s->m; i++) {
    s->w[i] = v[i * s->set->lanes];
    s->explained += s->w[i] * s->w[i];
  }
}

enum gpnn_status gpnn_kriging_find(struct gpnn_kriging *s, const struct gpnn_isotropic *assumed,
                                   const double **w, double *latent, double *jitter,
                                   struct gpnn_error *err)
{
  double scale = assumed->kernelscale;
  if (!are_of(&s->solved, assumed) || s->ratio != assumed->noise / scale) {
    enum gpnn_status status = factor(s, assumed, &s->assumed, err);
    if (status != GPNN_OK) return status;
    take_solution(s);
    solve_transposed(s, s->w);
    s->solved =
        (struct correlations){assumed->kernel, assumed->smoothness, assumed->lengthscale, NULL};
  }
  *w = s->w;
  *latent = not_negative(scale * (1 - s->explained));
  *jitter = s->jitter * scale;
  return GPNN_OK;
}

/* ---- the truth ---------------------------------------------------------------------------- */

double gpnn_kriging_error(struct gpnn_kriging *s, const struct gpnn_isotropic *truth, double factor)
{
  double ww = 0, wc = 0, wcw = 0;
  for (size_t i = 0; i < s->m; i++) ww += s->w[i] * s->w[i];
  double noise = truth->noise * factor * factor * ww;
  if (truth->kernelscale == 0) return noise;
  const double *correlation = correlate(s, truth, &s->truth);
  memset(s->product, 0, s->stride * sizeof *s->product);
  s->set->subtract_product(s->m, correlation, s->w, s->product);
  const double *c = row_of(s, correlation, s->m);
  for (size_t i = 0; i < s->m; i++) {
    wc += s->w[i] * c[i * s->set->lanes];
    wcw -= s->w[i] * s->product[i];
  }
  return noise + truth->kernelscale * not_negative(1 - factor * (2 * wc - factor * wcw));
}

/* y = L z, in the first m places of both. */
static void multiply(const struct gpnn_kriging *s, const double *z, double *y)
{
  for (size_t i = 0; i < s->m; i++) {
    const double *row = row_of(s, s->k, i);
    double sum = 0;
    for (size_t j = 0; j <= i; j++) sum += row[j * s->set->lanes] * z[j];
    y[i] = sum;
  }
}

enum gpnn_status gpnn_kriging_draw(struct gpnn_kriging *s, const struct gpnn_isotropic *truth,
                                   struct gpnn_rng *rng, double *y, double *f, double *jitter,
                                   struct gpnn_error *err)
{
  double root = sqrt(truth->kernelscale), sum = 0;
  for (size_t i = 0; i < s->m; i++) s->product[i] = gpnn_rng_normal(rng);
  double here = gpnn_rng_normal(rng);
  *jitter = 0;
  if (truth->kernelscale == 0) {
    for (size_t i = 0; i < s->m; i++) y[i] = sqrt(truth->noise) * s->product[i];
    *f = 0;
    return GPNN_OK;
  }
  enum gpnn_status status = factor(s, truth, &s->truth, err);
  if (status != GPNN_OK) return status;
  take_solution(s);
  for (size_t i = 0; i < s->m; i++) sum += s->w[i] * s->product[i];
  multiply(s, s->product, y);
  for (size_t i = 0; i < s->m; i++) y[i] *= root;
  *f = root * (sum + sqrt(not_negative(1 - s->explained)) * here);
  *jitter = s->jitter * truth->kernelscale;
  return GPNN_OK;
}
