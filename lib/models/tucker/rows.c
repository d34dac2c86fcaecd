#include "models/tucker/tucker_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/factors/cholesky.h"

enum { TILE = GPNN_TUCKER_TILE };

/* ---- memory -------------------------------------------------------------------------------- */

static size_t most_points(const struct gpnn_tucker_shape *shape)
{
  size_t most = 0;
  for (size_t l = 0; l < shape->p; l++) most = shape->m[l] > most ? shape->m[l] : most;
  return most;
}

enum gpnn_status gpnn_tucker_tile_new(struct gpnn_tucker_tile *tile,
                                      const struct gpnn_tucker *tucker, struct gpnn_error *err)
{
  const struct gpnn_tucker_shape *shape = &tucker->shape;
  size_t work = gpnn_tucker_core_work(shape), most = most_points(shape);
  size_t size = TILE + work + TILE * most + tucker->n_core;
  for (size_t l = 0; l < shape->p; l++) size += TILE * (5 * shape->m[l] + 2 * shape->q[l] + 2);
  *tile = (struct gpnn_tucker_tile){.block = gpnn_alloc(size, 1, sizeof(double))};
  double *at = tile->block;
  if (at == NULL) return gpnn_fail_memory(err, "for rows seen from a grid");
  for (size_t l = 0; l < shape->p; l++) {
    struct gpnn_tucker_view *own = &tile->dimension[l];
    double **const wide[] = {&own->r, &own->slope, &own->white, &own->e, &own->w};
    double **const narrow[] = {&own->v, &own->h};
    double **const single[] = {&own->a, &own->c};
    for (size_t i = 0; i < 5; i++, at += TILE * shape->m[l]) *wide[i] = at;
    for (size_t i = 0; i < 2; i++, at += TILE * shape->q[l]) *narrow[i] = at;
    for (size_t i = 0; i < 2; i++, at += TILE) *single[i] = at;
  }
  tile->mean = at;
  tile->work = tile->mean + TILE;
  tile->moment = tile->work + work;
  tile->by_core = tile->moment + TILE * most;
  return GPNN_OK;
}

void gpnn_tucker_tile_release(struct gpnn_tucker_tile *tile)
{
  free(tile->block);
  *tile = (struct gpnn_tucker_tile){0};
}

/* ---- means --------------------------------------------------------------------------------- */

static void correlate(const struct gpnn_tucker *t, const struct gpnn_tucker_data *data,
                      size_t first, size_t n, size_t l, bool with_slope,
                      const struct gpnn_tucker_tile *tile)
{
  const struct gpnn_tucker_view *own = &tile->dimension[l];
  size_t m = t->shape.m[l];
  double inverse = exp(-t->numbers[t->lengthscale + l]);
  double *r2 = with_slope ? tile->moment : own->r;
  for (size_t i = 0; i < n; i++) {
    double x = data->x[gpnn_tucker_row(data, first + i) * t->shape.p + l];
    for (size_t j = 0; j < m; j++) {
      double distance = (x - t->points[l][j]) * inverse;
      r2[i * m + j] = distance * distance;
    }
  }
  if (!with_slope) {
    gpnn_kernel_correlate(t->kernel, 0, n * m, r2);
    return;
  }
  t->kernel->with_slope(0, n * m, r2, own->r, own->slope);
  for (size_t i = 0; i < n * m; i++) own->slope[i] *= own->slope[i] == 0 ? 0 : r2[i];
}

void gpnn_tucker_tile_project(const struct gpnn_tucker *tucker, const struct gpnn_tucker_data *data,
                              size_t first, size_t n, bool with_slope,
                              const struct gpnn_tucker_tile *tile)
{
  for (size_t l = 0; l < tucker->shape.p && n > 0; l++) {
    int m = (int)tucker->shape.m[l], q = (int)tucker->shape.q[l];
    correlate(tucker, data, first, n, l, with_slope, tile);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, q, m, 1, tile->dimension[l].r, m,
                tucker->numbers + tucker->factor[l], q, 0, tile->dimension[l].v, q);
  }
}

void gpnn_tucker_tile_means(const struct gpnn_tucker *tucker, size_t n,
                            const struct gpnn_tucker_tile *tile)
{
  const double *v[GPNN_TUCKER_DIMENSIONS];
  for (size_t i = 0; i < n; i++) {
    for (size_t l = 0; l < tucker->shape.p; l++)
      v[l] = tile->dimension[l].v + i * tucker->shape.q[l];
    tile->mean[i] = gpnn_tucker_core_value(&tucker->shape, tucker->numbers, v, tile->work);
  }
}

/* ---- variances ----------------------------------------------------------------------------- */

void gpnn_tucker_tile_whiten(const struct gpnn_tucker *tucker,
                             const struct gpnn_tucker_matrices *matrices, size_t l, size_t n,
                             const struct gpnn_tucker_tile *tile)
{
  const struct gpnn_tucker_view *own = &tile->dimension[l];
  size_t m = tucker->shape.m[l];
  memcpy(own->white, own->r, n * m * sizeof *own->r);
  gpnn_cholesky_forward(m, matrices->dimension[l].root_r, n, own->white);
}

void gpnn_tucker_tile_variances(const struct gpnn_tucker *tucker,
                                const struct gpnn_tucker_matrices *matrices, size_t n,
                                const struct gpnn_tucker_tile *tile)
{
  for (size_t l = 0; l < tucker->shape.p; l++) {
    const struct gpnn_tucker_view *own = &tile->dimension[l];
    const struct gpnn_tucker_matrix *matrix = &matrices->dimension[l];
    size_t m = tucker->shape.m[l];
    gpnn_tucker_tile_whiten(tucker, matrices, l, n, tile);
    memcpy(own->e, own->white, n * m * sizeof *own->e);
    gpnn_cholesky_backward(m, matrix->root_r, n, own->e);
    memcpy(own->w, own->r, n * m * sizeof *own->w);
    gpnn_cholesky_forward(m, matrix->root_c, n, own->w);
    gpnn_cholesky_backward(m, matrix->root_c, n, own->w);
    for (size_t i = 0; i < n; i++) {
      own->a[i] = own->c[i] = 0;
      for (size_t j = i * m; j < (i + 1) * m; j++) {
        own->a[i] += own->white[j] * own->white[j];
        own->c[i] += matrix->s[j - i * m] * own->e[j] * own->w[j];
      }
    }
  }
}

double gpnn_tucker_tile_left(const struct gpnn_tucker *tucker, const struct gpnn_tucker_tile *tile,
                             size_t i)
{
  double a = 1, c = 1;
  for (size_t l = 0; l < tucker->shape.p; l++) {
    a *= tile->dimension[l].a[i];
    c *= tile->dimension[l].c[i];
  }
  return fmin(fmax(1 - a + c, 0), 1);
}
