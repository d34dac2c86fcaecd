/*
 * kernel: normalised covariance functions c(r), c(0) = 1 (specification section 1).
 *
 * r^2 = sum_j (x_j - x'_j)^2 / lengthscale_j^2.
 *   rbf       exp(-r^2/2)
 *   exp       exp(-r)
 *   matern32  (1 + sqrt3 r) exp(-sqrt3 r)
 *   matern52  (1 + sqrt5 r + 5r^2/3) exp(-sqrt5 r)
 * The covariance of two observations is kernelscale * c(r) + noise * [same row].
 *
 * Derivative: dc/d log lengthscale_j = g(r) (x_j - x'_j)^2 / lengthscale_j^2, with the slope
 *   rbf c;  exp exp(-r)/r (0 at r = 0);  matern32 3 exp(-sqrt3 r);
 *   matern52 (5/3)(1 + sqrt5 r) exp(-sqrt5 r).
 * With one lengthscale for all columns the sum over j gives g(r) r^2.
 *
 * Adding a kernel is adding a row to the table in kernel.c.
 */
#ifndef GPNN_MODELS_KERNEL_H
#define GPNN_MODELS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

struct gpnn_kernel {
  const char *name;
  /* Variance of noise, in units of the target's, under which random rows cannot tell noise from
   * the roughness of the process: a search for parameters should not go below it. */
  double least_noise;
  /* Replaces n values of r^2 by c(r).  'smoothness' is nu of the general Matern kernel; the
   * others take no notice of it. */
  void (*correlation)(double smoothness, size_t n, double *r2);
  /* From n values of r^2, writes c(r) to 'c' and g(r) to 'slope'. */
  void (*with_slope)(double smoothness, size_t n, const double *r2, double *c, double *slope);
};

/* The kernel called 'name' ("matern12" is "exp"), or NULL. */
const struct gpnn_kernel *gpnn_kernel_by_name(const char *name);

/* Kernel 'i' of the table, or NULL past the last. */
const struct gpnn_kernel *gpnn_kernel_at(size_t i);

/*
 * Squared distances of scaled columns: r2[i] = sum_j (columns[j*stride + i] - point[j])^2
 * for i in [0, n).  'columns' holds the rows one column after another ('stride' >= n numbers
 * each), so that the inner loop runs over rows.  By explicit differences: no cancellation.
 */
void gpnn_kernel_distances(size_t n, size_t d, size_t stride, const double *columns,
                           const double *point, double *r2);

#endif
