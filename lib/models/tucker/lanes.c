#include "models/tucker/lanes.h"

#include <string.h>

#include "linalg/simd.h"

enum { LANES = GPNN_TUCKER_LANES };

GPNN_SIMD void gpnn_tucker_lanes_multiply(size_t n_from, size_t n_to, const double *restrict a,
                                          const double *restrict from, double *restrict to)
{
  for (size_t k = 0; k < n_to; k++) {
    double sum[LANES] = {0};
    for (size_t j = 0; j < n_from; j++) {
      double factor = a[j * n_to + k];
#pragma omp simd
      for (size_t i = 0; i < LANES; i++) sum[i] += factor * from[j * LANES + i];
    }
    memcpy(to + k * LANES, sum, sizeof sum);
  }
}

/* Distances are limited so that their squares stay finite. */
static const double most_distance = 1e100;

GPNN_SIMD void gpnn_tucker_lanes_distances(size_t m, const double *restrict points,
                                           double inverse_lengthscale, const double *restrict x,
                                           double *restrict r)
{
  for (size_t j = 0; j < m; j++) {
#pragma omp simd
    for (size_t i = 0; i < LANES; i++) {
      double distance = (x[i] - points[j]) * inverse_lengthscale;
      distance = distance < 0 ? -distance : distance;
      distance = distance > most_distance ? most_distance : distance;
      r[j * LANES + i] = distance * distance;
    }
  }
}

GPNN_SIMD void gpnn_tucker_lanes_outside(double low, double high, double inverse_lengthscale,
                                         const double *restrict x, double *restrict outside)
{
#pragma omp simd
  for (size_t i = 0; i < LANES; i++) {
    double beyond = x[i] < low ? low - x[i] : x[i] > high ? x[i] - high : 0;
    beyond *= inverse_lengthscale;
    beyond = beyond > most_distance ? most_distance : beyond;
    outside[i] += beyond * beyond;
  }
}

GPNN_SIMD void gpnn_tucker_lanes_explain(size_t m, const double *restrict share,
                                         const double *restrict h, double *restrict explained,
                                         double *restrict kept)
{
  double all[LANES] = {0}, part[LANES] = {0};
  for (size_t k = 0; k < m; k++) {
    double factor = share[k];
#pragma omp simd
    for (size_t i = 0; i < LANES; i++) {
      double square = h[k * LANES + i] * h[k * LANES + i];
      all[i] += square;
      part[i] += factor * square;
    }
  }
#pragma omp simd
  for (size_t i = 0; i < LANES; i++) {
    explained[i] *= all[i];
    kept[i] *= part[i];
  }
}

/* ---- the core ----------------------------------------------------------------------------- */

/* sum_k w_k prod_l v_lk. */
GPNN_SIMD static void contract_diagonal(size_t p, size_t q, const double *restrict core,
                                        const double *const *v, double *restrict mean)
{
  memset(mean, 0, LANES * sizeof *mean);
  for (size_t k = 0; k < q; k++) {
    double product[LANES];
    for (size_t i = 0; i < LANES; i++) product[i] = core[k];
    for (size_t l = 0; l < p; l++) {
      const double *restrict own = v[l] + k * LANES;
#pragma omp simd
      for (size_t i = 0; i < LANES; i++) product[i] *= own[i];
    }
#pragma omp simd
    for (size_t i = 0; i < LANES; i++) mean[i] += product[i];
  }
}

GPNN_SIMD static void add_product(const double *restrict a, const double *restrict b,
                                  double *restrict sum)
{
#pragma omp simd
  for (size_t i = 0; i < LANES; i++) sum[i] += a[i] * b[i];
}

/* Contracts the modes from 'mode' on of a part of the core, to which the indices of the modes
 * before have led, into 'to'; returns the end of that part. */
static const double *contract(const struct gpnn_tucker_shape *shape, size_t mode,
                              const double *core, const double *const *v, double *work, double *to)
{
  size_t q = shape->q[mode];
  if (mode + 1 == shape->p) {
    gpnn_tucker_lanes_multiply(q, 1, core, v[mode], to);
    return core + q;
  }
  memset(to, 0, LANES * sizeof *to);
  for (size_t k = 0; k < q; k++) {
    core = contract(shape, mode + 1, core, v, work + LANES, work);
    add_product(v[mode] + k * LANES, work, to);
  }
  return core;
}

void gpnn_tucker_lanes_contract(const struct gpnn_tucker_shape *shape, const double *core,
                                const double *const *v, double *work, double *mean)
{
  if (shape->is_diagonal)
    contract_diagonal(shape->p, shape->q[0], core, v, mean);
  else
    contract(shape, 0, core, v, work, mean);
}
