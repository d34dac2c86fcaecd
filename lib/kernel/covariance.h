/*
 * covariance: the covariance of a Gaussian process and of its noisy observations,
 *   cov(y(x), y(x')) = kernelscale c(r) + noise [same row],  r = |(R x - R x') / lengthscale|,
 * for a correlation c (kernel/kernel.h), lengthscales and a rotation R of the inputs
 * (gpnn-methods(7), equations 2.2 and 2.3).
 *
 * Every model, simulation and file of parameters describes its process by this one structure.
 */
#ifndef GPNN_KERNEL_COVARIANCE_H
#define GPNN_KERNEL_COVARIANCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "kernel/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A zeroed object is empty.  Whoever holds it says who owns its arrays; an isotropic covariance
 * made by gpnn_covariance_isotropic() has none, so that copies of it are independent of each other.
 */
struct gpnn_covariance {
  const struct gpnn_kernel *kernel; /* a row of the table in kernel.c */
  double smoothness;                /* nu > 0 of the general Matern kernel, otherwise 0 */
  size_t n_rotation;                /* 0, or d squared: */
  double *rotation;                 /* d by d: maps standardised inputs to those of the kernel
                                       (kernel/rotation.h); NULL: they are the same */
  size_t n_lengthscales;            /* 1, or with ARD one per group of inputs (dataset/dataset.h) */
  double *lengthscale;              /* n_lengthscales of them, > 0; NULL: 'isotropic' is the only */
  double isotropic;                 /* > 0: the lengthscale where 'lengthscale' is NULL */
  double kernelscale;               /* > 0; in a simulated truth also 0: noise alone */
  double noise;                     /* >= 0 */
};

/* A covariance with one lengthscale, which it holds itself, and no rotation. */
struct gpnn_covariance gpnn_covariance_isotropic(const struct gpnn_kernel *kernel,
                                                 double smoothness, double lengthscale,
                                                 double kernelscale, double noise);

/* The n_lengthscales lengthscales, wherever they are held; valid as long as '*covariance' is. */
const double *gpnn_covariance_lengthscales(const struct gpnn_covariance *covariance);

/* Writes the lengthscale of each of 'd' inputs to 'lengthscale': that of its group ('group', d of
 * them, as in struct gpnn_dataset), or the single one, and then 'group' may be NULL. */
void gpnn_covariance_expand(const struct gpnn_covariance *covariance, size_t d,
                            const uint32_t *group, double *lengthscale);

/*
 * Writes the covariances of the process, without noise, at 'n' points with the one at 'point' (d)
 * to 'k' (n).  All inputs are rotated and divided by their lengthscales; 'columns' as
 * gpnn_kernel_distances() takes them.
 */
void gpnn_covariance_vector(const struct gpnn_covariance *covariance, size_t n, size_t d,
                            size_t stride, const double *columns, const double *point, double *k);

/*
 * Writes the covariance matrix of noisy observations at 'n' points, lower triangle in column-major
 * order, to 'k' (n by n).  'row_noise' has n known variances to add to the noise, or is NULL;
 * 'columns' as for gpnn_covariance_vector(); 'point' (d) is scratch.
 */
void gpnn_covariance_matrix(const struct gpnn_covariance *covariance, size_t n, size_t d,
                            size_t stride, const double *columns, const double *row_noise,
                            double *point, double *k);

/* ---- all pairs of rows ---------------------------------------------------------------------- */

/*
 * the covariance matrix of given points, stored in full.
 *
 * Threads: those given share the rows; the matrix does not depend on their number.
 */

/*
 * Writes to 'k' (n by n, both triangles) the covariances of the process, without noise, at 'n'
 * points 'x' (n by d, row-major, in standardised units), with 'diagonal' (n; NULL: nothing) added
 * to the diagonal.  'group' (d) has the group of each input, as gpnn_covariance_expand() takes it.
 * GPNN_ENOMEM: 'k' is untouched.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_gram(const struct gpnn_covariance *covariance, size_t n,
                                           size_t d, const uint32_t *group, const double *x,
                                           const double *diagonal, int threads, double *k,
                                           struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
