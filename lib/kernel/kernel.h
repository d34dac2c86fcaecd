/*
 * kernel: normalised covariance functions c(r), c(0) = 1 (gpnn-methods(7), equations 2.4 to 2.17).
 *
 * r^2 = sum_j (x_j - x'_j)^2 / lengthscale_j^2.
 *   rbf       exp(-r^2/2)
 *   exp       exp(-r)
 *   matern32  (1 + sqrt3 r) exp(-sqrt3 r)
 *   matern52  (1 + sqrt5 r + 5r^2/3) exp(-sqrt5 r)
 *   matern    2^(1-nu) / Gamma(nu) z^nu K_nu(z),  z = sqrt(2 nu) r, for a given smoothness nu;
 *             exp, matern32, matern52 and rbf are those of 1/2, 3/2, 5/2 and infinity
 * The covariance of two observations is kernelscale * c(r) + noise * [same row].
 *
 * Derivative: dc/d log lengthscale_j = g(r) (x_j - x'_j)^2 / lengthscale_j^2, with the slope
 *   rbf c;  exp exp(-r)/r (0 at r = 0);  matern32 3 exp(-sqrt3 r);
 *   matern52 (5/3)(1 + sqrt5 r) exp(-sqrt5 r);
 *   matern 2 nu 2^(1-nu) / Gamma(nu) z^(nu-1) K_(nu-1)(z) (0 at r = 0 where it has no limit).
 * With one lengthscale for all columns the sum over j gives g(r) r^2.
 *
 * A new kernel is a new row of the table in kernel.c.
 */
#ifndef GPNN_KERNEL_KERNEL_H
#define GPNN_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_panel_set; /* linalg/panels/panels.h */

/* Bytes of a kernel's text with its NUL, and the largest smoothness, at which c is within 0.004 of
 * its limit, rbf. */
enum { GPNN_KERNEL_BYTES = 48, GPNN_KERNEL_SMOOTHEST = 100 };

/* A row of the table in kernel.c; functions take no other. */
struct gpnn_kernel {
  const char *name;
  double smoothness; /* nu; 0: passed with each call */
  /* From n values of r^2, writes c(r) to 'c' and g(r) to 'slope'; 'smoothness' as for
   * gpnn_kernel_correlate(). */
  void (*with_slope)(double smoothness, size_t n, const double *r2, double *c, double *slope);
};

/* The kernel called 'name' ("matern12" is "exp"), or NULL if there is none. */
const struct gpnn_kernel *gpnn_kernel_by_name(const char *name);

/* Replaces 'n' values of r^2, which may be none, by c(r).  'smoothness' is nu, in
 * (0, GPNN_KERNEL_SMOOTHEST], if the kernel's own is 0; otherwise it is ignored. */
void gpnn_kernel_correlate(const struct gpnn_kernel *kernel, double smoothness, size_t n,
                           double *r2);

/* True if the kernel takes a smoothness with each call. */
bool gpnn_kernel_needs_smoothness(const struct gpnn_kernel *kernel);

/*
 * Reads a kernel as people write it: "matern52" or, with a smoothness, "matern:1.2";
 * '*smoothness' is 0 for kernels without one.  False, with nothing set: an unknown kernel, or a
 * smoothness that is missing, not in (0, GPNN_KERNEL_SMOOTHEST], or not wanted.
 */
bool gpnn_kernel_parse(const char *text, const struct gpnn_kernel **kernel, double *smoothness);

/* Writes what gpnn_kernel_parse() reads, and a NUL. */
void gpnn_kernel_write(const struct gpnn_kernel *kernel, double smoothness,
                       char text[GPNN_KERNEL_BYTES]);

/* The noise variance, in units of the target's, below which random rows cannot distinguish noise
 * from the roughness of the process: estimates of parameters should not go below it. */
double gpnn_kernel_least_noise(const struct gpnn_kernel *kernel, double smoothness);

/* Kernel 'i' of the table, or NULL past the last.  They are in the order of their smoothness, and
 * those that are given one come last. */
const struct gpnn_kernel *gpnn_kernel_at(size_t i);

/* The kernel 'by' steps smoother than this (negative: rougher); NULL: there is none, or its
 * smoothness is given. */
const struct gpnn_kernel *gpnn_kernel_next(const struct gpnn_kernel *kernel, int by);

/*
 * Squared distances of scaled columns: r2[i] = sum_j (columns[j*stride + i] - point[j])^2
 * for i in [0, n).  'columns' holds the rows one column after another ('stride' >= n numbers
 * each), so that the inner loop runs over rows.  Computed from differences, without cancellation.
 * n and d may be 0.
 */
void gpnn_kernel_distances(size_t n, size_t d, size_t stride, const double *columns,
                           const double *point, double *r2);

/* sum_i weight[i] (x[i] - here)^2, of which derivatives by lengthscales are made. */
double gpnn_kernel_weighted_squares(size_t n, const double *weight, const double *x, double here);

/*
 * Fills a trapezoid, laid out for 'set', with the correlations of points i and j, i < n_rows and
 * j < n; 'columns' as in gpnn_panel_set.fill(), 'smoothness' as for
 * gpnn_kernel_correlate().
 */
void gpnn_kernel_fill_panels(const struct gpnn_kernel *kernel, double smoothness,
                             const struct gpnn_panel_set *set, size_t n, size_t n_rows, size_t d,
                             size_t stride, const double *columns, double *a);

#ifdef __cplusplus
}
#endif

#endif
