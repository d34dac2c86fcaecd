/*
 * The covariances of a factor and the contraction of their derivatives.  Work goes through tiles of
 * columns that fit the first cache, so that no scratch memory is needed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "kernel/factor.h"
#include "linalg/simd.h"

enum { TILE = 128, ROWS = 16 };

/* ---- one row of a tile --------------------------------------------------------------------- */

/* Squared distances, in lengthscales, of 'n' <= TILE levels 'b' (n by d) from 'a' (d). */
static void find_distances(const struct gpnn_factor_term *term, size_t d, const double *a, size_t n,
                           const double *b, double *r2)
{
  memset(r2, 0, n * sizeof *r2);
  for (size_t j = 0; j < d; j++) {
    const double scale = 1 / term->lengthscale[term->n_lengthscales > 1 ? j : 0];
    for (size_t i = 0; i < n; i++) {
      double z = (a[j] - b[i * d + j]) * scale;
      r2[i] += z * z;
    }
  }
}

/* How many periods a distance has, finite even where it overflows. */
static inline double count_turns(double distance, double period)
{
  const double most = 1e300;
  double turns = fabs(distance) / period;
  return turns > most ? most : turns;
}

/* A periodic correlation, c, at 'n' <= TILE levels from 'a'.  Sines are cosines, for which there is
 * a vector form, of less than half a turn. */
GPNN_SIMD static void correlate_periodic(double period, double lengthscale, double a, size_t n,
                                         const double *restrict b, double *restrict c)
{
#pragma omp simd
  for (size_t i = 0; i < n; i++) {
    double turns = count_turns(a - b[i], period);
    double s = cos(M_PI * (turns - floor(turns) - 0.5)) / lengthscale;
    c[i] = exp(-2 * s * s);
  }
}

/* The same, with its derivatives by the logarithms of lengthscale and period. */
GPNN_SIMD static void differentiate_periodic(double period, double lengthscale, double a, size_t n,
                                             const double *restrict b, double *restrict c,
                                             double *restrict by_lengthscale,
                                             double *restrict by_period)
{
#pragma omp simd
  for (size_t i = 0; i < n; i++) {
    double turns = count_turns(a - b[i], period), part = M_PI * (turns - floor(turns));
    double s = cos(part - 0.5 * M_PI) / lengthscale, e = exp(-2 * s * s);
    c[i] = e;
    by_lengthscale[i] = 4 * e * s * s;
    by_period[i] = 4 * e * M_PI * turns * s * cos(part) / lengthscale;
  }
}

static void correlate(const struct gpnn_factor_term *term, size_t d, const double *a, size_t n,
                      const double *b, double *c)
{
  if (term->kernel != NULL) {
    find_distances(term, d, a, n, b, c);
    gpnn_kernel_correlate(term->kernel, term->smoothness, n, c);
    return;
  }
  correlate_periodic(term->period, term->lengthscale[0], *a, n, b, c);
}

static double task_covariance(const struct gpnn_factor *factor, double a, double b)
{
  size_t i = (size_t)a, j = (size_t)b, rank = factor->rank;
  double sum = i == j ? factor->own[i] : 0;
  for (size_t r = 0; r < rank; r++)
    sum += factor->loadings[i * rank + r] * factor->loadings[j * rank + r];
  return sum;
}

/* Covariances, without nugget, of 'n' <= TILE levels with 'a'. */
static void fill_tile(const struct gpnn_factor *factor, size_t d, const double *a, size_t n,
                      const double *b, double *k)
{
  double c[TILE];
  for (size_t i = 0; i < n; i++)
    k[i] = factor->n_terms == 0 ? task_covariance(factor, *a, b[i]) : 1;
  for (size_t t = 0; t < factor->n_terms; t++) {
    correlate(&factor->term[t], d, a, n, b, c);
    for (size_t i = 0; i < n; i++) k[i] *= c[i];
  }
}

/* ---- matrices ----------------------------------------------------------------------------- */

struct filling {
  const struct gpnn_factor *factor;
  size_t d, n_a, n_b;
  const double *a, *b;
  bool same;
  double *k;
};

/* Of a symmetric matrix only what is left of the diagonal is computed, and then written twice. */
static void fill_rows(void *context, size_t thread, size_t piece)
{
  const struct filling *f = context;
  size_t begin = piece * ROWS, end = begin + ROWS < f->n_a ? begin + ROWS : f->n_a;
  (void)thread;
  for (size_t i = begin; i < end; i++) {
    double *row = f->k + i * f->n_b;
    size_t n = f->same ? i + 1 : f->n_b;
    for (size_t j = 0; j < n; j += TILE)
      fill_tile(f->factor, f->d, f->a + i * f->d, n - j < TILE ? n - j : TILE, f->b + j * f->d,
                row + j);
    if (f->same && f->factor->n_terms > 0) row[i] += f->factor->nugget;
  }
  for (size_t j = 0; f->same && j < end; j++)
    for (size_t i = begin > j ? begin : j; i < end; i++)
      f->k[j * f->n_b + i] = f->k[i * f->n_b + j];
}

void gpnn_factor_matrix(const struct gpnn_factor *factor, size_t d, size_t n_a, const double *a,
                        size_t n_b, const double *b, bool same, int threads, double *k)
{
  struct filling f = {factor, d, n_a, n_b, a, b, same, k};
  gpnn_threads_each(threads, (n_a + ROWS - 1) / ROWS, 1, fill_rows, &f);
}

double gpnn_factor_variance(const struct gpnn_factor *factor, const double *x)
{
  return factor->n_terms == 0 ? task_covariance(factor, *x, *x) : 1 + factor->nugget;
}

/* ---- derivatives -------------------------------------------------------------------------- */

/* Correlations and slopes of all terms in a tile; of a periodic term the slope is the derivative by
 * the logarithm of its lengthscale, and 'by_period' that by the logarithm of its period. */
struct tile {
  double c[GPNN_FACTOR_TERMS][TILE], slope[GPNN_FACTOR_TERMS][TILE];
  double by_period[GPNN_FACTOR_TERMS][TILE];
};

static void differentiate(const struct gpnn_factor *factor, size_t d, const double *a, size_t n,
                          const double *b, struct tile *tile)
{
  double r2[TILE];
  for (size_t t = 0; t < factor->n_terms; t++) {
    const struct gpnn_factor_term *term = &factor->term[t];
    if (term->kernel != NULL) {
      find_distances(term, d, a, n, b, r2);
      term->kernel->with_slope(term->smoothness, n, r2, tile->c[t], tile->slope[t]);
      continue;
    }
    differentiate_periodic(term->period, term->lengthscale[0], *a, n, b, tile->c[t], tile->slope[t],
                           tile->by_period[t]);
  }
}

/* Replaces each term's correlation by twice 'gamma' times the correlations of all other terms. */
static void weigh(size_t n_terms, size_t n, const double *gamma, struct tile *tile)
{
  for (size_t i = 0; i < n; i++) {
    double c[GPNN_FACTOR_TERMS];
    for (size_t t = 0; t < n_terms; t++) c[t] = tile->c[t][i];
    for (size_t t = 0; t < n_terms; t++) {
      double weight = 2 * gamma[i];
      for (size_t s = 0; s < n_terms; s++)
        if (s != t) weight *= c[s];
      tile->c[t][i] = weight;
    }
  }
}

/* Adds a weighted tile of 'term' to the gradient of its lengthscales. */
static void add_lengthscales(const struct gpnn_factor_term *term, size_t d, const double *a,
                             size_t n, const double *b, double *weight, const double *slope,
                             double *gradient)
{
  for (size_t i = 0; i < n; i++) weight[i] *= slope[i];
  if (term->kernel == NULL) {
    for (size_t i = 0; i < n; i++) gradient[0] += weight[i];
    return;
  }
  for (size_t j = 0; j < d; j++) {
    const size_t at = term->n_lengthscales > 1 ? j : 0;
    const double scale = 1 / term->lengthscale[at];
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
      double z = (a[j] - b[i * d + j]) * scale;
      sum += weight[i] * z * z;
    }
    gradient[at] += sum;
  }
}

/* Adds what a tile left of the diagonal and its mirror image contribute. */
static void add_tile(const struct gpnn_factor *factor, size_t d, const double *a, size_t n,
                     const double *b, const double *gamma, double *gradient)
{
  struct tile tile;
  differentiate(factor, d, a, n, b, &tile);
  weigh(factor->n_terms, n, gamma, &tile);
  for (size_t t = 0; t < factor->n_terms; t++) {
    const struct gpnn_factor_term *term = &factor->term[t];
    if (term->kernel == NULL)
      for (size_t i = 0; i < n; i++) gradient[1] += tile.c[t][i] * tile.by_period[t][i];
    add_lengthscales(term, d, a, n, b, tile.c[t], tile.slope[t], gradient);
    gradient += term->n_lengthscales + (term->kernel == NULL);
  }
}

static void add_task_row(const struct gpnn_factor *factor, size_t n, const double *x, size_t row,
                         const double *gamma, double *gradient)
{
  size_t rank = factor->rank, i = (size_t)x[row];
  double *own = gradient + factor->n_tasks * rank;
  for (size_t j = 0; j < n; j++) {
    size_t other = (size_t)x[j];
    for (size_t r = 0; r < rank; r++)
      gradient[i * rank + r] += 2 * gamma[j] * factor->loadings[other * rank + r];
    if (other == i) own[i] += gamma[j] * factor->own[i];
  }
}

struct contraction {
  const struct gpnn_factor *factor;
  size_t d, n, n_coordinates;
  const double *x, *gamma;
  double *sums; /* n_coordinates for each piece */
};

static void contract_rows(void *context, size_t thread, size_t piece)
{
  const struct contraction *c = context;
  double *sums = c->sums + piece * c->n_coordinates;
  size_t end = (piece + 1) * ROWS < c->n ? (piece + 1) * ROWS : c->n;
  (void)thread;
  for (size_t i = piece * ROWS; i < end; i++) {
    const double *gamma = c->gamma + i * c->n;
    if (c->factor->n_terms == 0) {
      add_task_row(c->factor, c->n, c->x, i, gamma, sums);
      continue;
    }
    for (size_t j = 0; j < i; j += TILE) /* on the diagonal only the nugget varies */
      add_tile(c->factor, c->d, c->x + i * c->d, i - j < TILE ? i - j : TILE, c->x + j * c->d,
               gamma + j, sums);
    if (c->factor->nugget > 0) sums[c->n_coordinates - 1] += gamma[i] * c->factor->nugget;
  }
}

enum gpnn_status gpnn_factor_contract(const struct gpnn_factor *factor, size_t d, size_t n,
                                      const double *x, const double *gamma, int threads,
                                      double *gradient, struct gpnn_error *err)
{
  size_t n_coordinates = gpnn_factor_n_coordinates(factor), n_pieces = (n + ROWS - 1) / ROWS;
  double *sums = gpnn_alloc(n_pieces, n_coordinates, sizeof *sums);
  if (sums == NULL) return gpnn_fail_memory(err, "for a gradient");
  struct contraction c = {factor, d, n, n_coordinates, x, gamma, sums};
  gpnn_threads_each(threads, n_pieces, 1, contract_rows, &c);
  for (size_t piece = 0; piece < n_pieces; piece++)
    for (size_t i = 0; i < n_coordinates; i++) gradient[i] += sums[piece * n_coordinates + i];
  free(sums);
  return GPNN_OK;
}
