#include "models/inducing/cross.h"

#include <string.h>

#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"

enum gpnn_status gpnn_cross_new(struct gpnn_cross *cross, const struct gpnn_cross_problem *problem,
                                struct gpnn_error *err)
{
  *cross = (struct gpnn_cross){.problem = *problem};
  cross->arrays = GPNN_ARRAYS(GPNN_ARRAY(cross->inverse, problem->d, 1),
                              GPNN_ARRAY(cross->columns, problem->m, problem->d),
                              GPNN_ARRAY(cross->scaled, problem->m, problem->d));
  if (cross->arrays != NULL) return GPNN_OK;
  gpnn_cross_release(cross);
  return gpnn_fail_memory(err, "for inducing inputs");
}

void gpnn_cross_release(struct gpnn_cross *cross)
{
  gpnn_arrays_free(cross->arrays);
  *cross = (struct gpnn_cross){0};
}

static size_t group_of(const struct gpnn_cross_problem *problem, size_t input)
{
  return problem->n_lengthscales == 1 ? 0 : problem->group[input];
}

void gpnn_cross_set(struct gpnn_cross *cross, const double *lengthscale, double kernelscale)
{
  const struct gpnn_cross_problem *p = &cross->problem;
  cross->kernelscale = kernelscale;
  for (size_t l = 0; l < p->d; l++) cross->inverse[l] = 1 / lengthscale[group_of(p, l)];
  for (size_t j = 0; j < p->m; j++)
    for (size_t l = 0; l < p->d; l++)
      cross->columns[l * p->m + j] = cross->scaled[j * p->d + l] =
          p->z[j * p->d + l] * cross->inverse[l];
}

struct gpnn_cross_points gpnn_cross_inducing(const struct gpnn_cross *cross)
{
  return (struct gpnn_cross_points){.n = cross->problem.m, .x = cross->problem.z};
}

enum gpnn_status gpnn_cross_tile_new(struct gpnn_cross_tile *tile, size_t m, size_t d,
                                     struct gpnn_error *err)
{
  tile->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(tile->k, GPNN_CROSS_TILE, m), GPNN_ARRAY(tile->slope, GPNN_CROSS_TILE, m),
      GPNN_ARRAY(tile->adjoint, GPNN_CROSS_TILE, m), GPNN_ARRAY(tile->product, GPNN_CROSS_TILE, m),
      GPNN_ARRAY(tile->scaled, GPNN_CROSS_TILE, d), GPNN_ARRAY(tile->moment, GPNN_CROSS_TILE, d));
  return tile->arrays != NULL ? GPNN_OK : gpnn_fail_memory(err, "for rows");
}

void gpnn_cross_tile_release(struct gpnn_cross_tile *tile)
{
  gpnn_arrays_free(tile->arrays);
}

/* k and slope of one row. */
static void fill_row(const struct gpnn_cross_problem *p, const double *columns, const double *point,
                     double *r2, double *k, double *slope)
{
  gpnn_kernel_distances(p->m, p->d, p->m, columns, point, slope == NULL ? k : r2);
  if (slope == NULL)
    gpnn_kernel_correlate(p->kernel, p->smoothness, p->m, k);
  else
    p->kernel->with_slope(p->smoothness, p->m, r2, k, slope);
}

static void multiply_by(size_t n, double factor, double *x)
{
  for (size_t i = 0; i < n; i++) x[i] *= factor;
}

void gpnn_cross_covariances(const struct gpnn_cross *cross, const struct gpnn_cross_points *points,
                            size_t first, size_t n, bool with_slope,
                            const struct gpnn_cross_tile *tile)
{
  const struct gpnn_cross_problem *p = &cross->problem;
  for (size_t i = 0; i < n; i++) {
    size_t row = points->row == NULL ? first + i : (size_t)points->row[first + i];
    double *here = tile->scaled + i * p->d;
    for (size_t l = 0; l < p->d; l++) here[l] = points->x[row * p->d + l] * cross->inverse[l];
    fill_row(p, cross->columns, here, tile->product, tile->k + i * p->m,
             with_slope ? tile->slope + i * p->m : NULL);
  }
  multiply_by(n * p->m, cross->kernelscale, tile->k);
  if (with_slope) multiply_by(n * p->m, cross->kernelscale, tile->slope);
}

size_t gpnn_cross_n_tiles(size_t n)
{
  return (n + GPNN_CROSS_TILE - 1) / GPNN_CROSS_TILE;
}

size_t gpnn_cross_tile_rows(size_t n, size_t tile)
{
  size_t left = n - tile * GPNN_CROSS_TILE;
  return left < GPNN_CROSS_TILE ? left : GPNN_CROSS_TILE;
}

void gpnn_cross_fill(const struct gpnn_cross *cross, const struct gpnn_cross_points *points,
                     const struct gpnn_cross_tile *tile, double *k)
{
  size_t m = cross->problem.m;
  for (size_t t = 0; t < gpnn_cross_n_tiles(points->n); t++) {
    size_t first = t * GPNN_CROSS_TILE, n = gpnn_cross_tile_rows(points->n, t);
    gpnn_cross_covariances(cross, points, first, n, false, tile);
    memcpy(k + first * m, tile->k, n * m * sizeof *k);
  }
}

/* Kuu with jitter, its lower triangle. */
struct kuu {
  const struct gpnn_cross *cross;
  const struct gpnn_cross_tile *tile;
  double jitter;
};

static void fill_kuu(void *context, double *k)
{
  const struct kuu *kuu = context;
  const struct gpnn_cross_points points = gpnn_cross_inducing(kuu->cross);
  size_t m = kuu->cross->problem.m;
  gpnn_cross_fill(kuu->cross, &points, kuu->tile, k);
  for (size_t j = 0; j < m; j++) k[j * m + j] += kuu->jitter * kuu->cross->kernelscale;
}

enum gpnn_status gpnn_cross_factor(const struct gpnn_cross *cross,
                                   const struct gpnn_cross_tile *tile, double jitter,
                                   double *factor, struct gpnn_error *err)
{
  struct kuu kuu = {cross, tile, jitter};
  size_t m = cross->problem.m;
  fill_kuu(&kuu, factor);
  enum gpnn_status status =
      gpnn_cholesky_factor(m, factor, NULL, cross->kernelscale, fill_kuu, &kuu, NULL, err);
  return status == GPNN_OK ? GPNN_OK : gpnn_prefix(err, status, "%zu inducing points", m);
}

/* Sums of the rows and of the columns of P, n by m. */
static void sum_both_ways(size_t n, size_t m, const double *p, double *rows, double *columns)
{
  for (size_t j = 0; j < m; j++) columns[j] = 0;
  for (size_t i = 0; i < n; i++) {
    double sum = 0;
    for (size_t j = 0; j < m; j++) {
      sum += p[i * m + j];
      columns[j] += p[i * m + j];
    }
    rows[i] = sum;
  }
}

/* Adds sum_i weight_i x_il^2 to the numbers of each input's group. */
static void add_squares(const struct gpnn_cross_problem *p, size_t n, const double *weight,
                        const double *x, double *gradient)
{
  for (size_t i = 0; i < n; i++)
    for (size_t l = 0; l < p->d; l++)
      gradient[group_of(p, l)] += weight[i] * x[i * p->d + l] * x[i * p->d + l];
}

double gpnn_cross_contract(const struct gpnn_cross *cross, const struct gpnn_cross_tile *tile,
                           size_t n, double *gradient)
{
  const struct gpnn_cross_problem *p = &cross->problem;
  double rows[GPNN_CROSS_TILE] = {0}, *columns = tile->product, sum = 0;
  int m = (int)p->m, d = (int)p->d;
  for (size_t i = 0; i < n * p->m; i++) {
    sum += tile->adjoint[i] * tile->k[i];
    tile->adjoint[i] *= tile->slope[i];
  }
  sum_both_ways(n, p->m, tile->adjoint, rows, columns);
  add_squares(p, n, rows, tile->scaled, gradient);
  add_squares(p, p->m, columns, cross->scaled, gradient);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, d, m, -2, tile->adjoint, m,
              cross->scaled, d, 0, tile->moment, d);
  for (size_t i = 0; i < n; i++)
    for (size_t l = 0; l < p->d; l++)
      gradient[group_of(p, l)] += tile->moment[i * p->d + l] * tile->scaled[i * p->d + l];
  return sum;
}

void gpnn_cross_contract_inducing(const struct gpnn_cross *cross,
                                  const struct gpnn_cross_tile *tile, const double *adjoint,
                                  double *gradient)
{
  const struct gpnn_cross_points points = gpnn_cross_inducing(cross);
  size_t m = cross->problem.m;
  for (size_t t = 0; t < gpnn_cross_n_tiles(m); t++) {
    size_t first = t * GPNN_CROSS_TILE, n = gpnn_cross_tile_rows(m, t);
    gpnn_cross_covariances(cross, &points, first, n, true, tile);
    memcpy(tile->adjoint, adjoint + first * m, n * m * sizeof *adjoint);
    gradient[cross->problem.n_lengthscales] += gpnn_cross_contract(cross, tile, n, gradient);
  }
}
