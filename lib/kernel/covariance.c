#include "kernel/covariance.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "kernel/rotation.h"

struct gpnn_covariance gpnn_covariance_isotropic(const struct gpnn_kernel *kernel,
                                                 double smoothness, double lengthscale,
                                                 double kernelscale, double noise)
{
  return (struct gpnn_covariance){.kernel = kernel,
                                  .smoothness = smoothness,
                                  .n_lengthscales = 1,
                                  .isotropic = lengthscale,
                                  .kernelscale = kernelscale,
                                  .noise = noise};
}

const double *gpnn_covariance_lengthscales(const struct gpnn_covariance *covariance)
{
  return covariance->lengthscale == NULL ? &covariance->isotropic : covariance->lengthscale;
}

void gpnn_covariance_expand(const struct gpnn_covariance *covariance, size_t d,
                            const uint32_t *group, double *lengthscale)
{
  const double *own = gpnn_covariance_lengthscales(covariance);
  for (size_t j = 0; j < d; j++)
    lengthscale[j] = own[covariance->n_lengthscales == 1 ? 0 : group[j]];
}

void gpnn_covariance_vector(const struct gpnn_covariance *covariance, size_t n, size_t d,
                            size_t stride, const double *columns, const double *point, double *k)
{
  gpnn_kernel_distances(n, d, stride, columns, point, k);
  gpnn_kernel_correlate(covariance->kernel, covariance->smoothness, n, k);
  for (size_t i = 0; i < n; i++) k[i] *= covariance->kernelscale;
}

void gpnn_covariance_matrix(const struct gpnn_covariance *covariance, size_t n, size_t d,
                            size_t stride, const double *columns, const double *row_noise,
                            double *point, double *k)
{
  for (size_t a = 0; a < n; a++) {
    double *diagonal = k + a * n + a;
    for (size_t j = 0; j < d; j++) point[j] = columns[j * stride + a];
    gpnn_covariance_vector(covariance, n - a, d, stride, columns + a, point, diagonal);
    *diagonal += covariance->noise + (row_noise == NULL ? 0 : row_noise[a]);
  }
}

/* ---- all pairs of rows ---------------------------------------------------------------------- */

struct gram {
  const struct gpnn_covariance *covariance;
  size_t n, d;
  const double *scaled;  /* n by d: what the kernel sees, in lengthscales */
  const double *columns; /* d by n: the same, one input after another */
  const double *diagonal;
  double *k;
};

static void fill_row(void *context, size_t thread, size_t i)
{
  (void)thread;
  const struct gram *g = context;
  double *row = g->k + i * g->n;
  gpnn_covariance_vector(g->covariance, g->n, g->d, g->n, g->columns, g->scaled + i * g->d, row);
  if (g->diagonal != NULL) row[i] += g->diagonal[i];
}

/* Rotates the points, divides them by the lengthscales, and transposes them. */
static void scale(const struct gram *g, const uint32_t *group, const double *x, double *scaled,
                  double *columns, double *lengthscale)
{
  const double *rotation = g->covariance->rotation;
  if (rotation != NULL)
    gpnn_rotation_apply(g->d, rotation, g->n, x, scaled);
  else if (g->n * g->d > 0)
    memcpy(scaled, x, g->n * g->d * sizeof *scaled);
  gpnn_covariance_expand(g->covariance, g->d, group, lengthscale);
  for (size_t i = 0; i < g->n; i++)
    for (size_t j = 0; j < g->d; j++)
      columns[j * g->n + i] = scaled[i * g->d + j] /= lengthscale[j];
}

enum gpnn_status gpnn_gram(const struct gpnn_covariance *covariance, size_t n, size_t d,
                           const uint32_t *group, const double *x, const double *diagonal,
                           int threads, double *k, struct gpnn_error *err)
{
  double *scaled = gpnn_alloc(n, d, sizeof *scaled), *columns = gpnn_alloc(n, d, sizeof *columns);
  double *lengthscale = gpnn_alloc(d, 1, sizeof *lengthscale);
  bool done = scaled != NULL && columns != NULL && lengthscale != NULL;
  if (done) {
    struct gram g = {covariance, n, d, scaled, columns, diagonal, k};
    scale(&g, group, x, scaled, columns, lengthscale);
    gpnn_threads_each(threads, n, 16, fill_row, &g);
  }
  free(scaled);
  free(columns);
  free(lengthscale);
  return done ? GPNN_OK : gpnn_fail_memory(err, "for a covariance matrix");
}
