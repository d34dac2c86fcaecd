#include "kernel/covariance.h"

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
