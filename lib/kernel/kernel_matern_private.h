/*
 * kernel_matern: the Matern correlation of any smoothness nu, a row of the table in kernel.c.
 *
 *   c(r) = 2^(1-nu) / Gamma(nu) z^nu K_nu(z),  z = sqrt(2 nu) r
 * and its slope, as kernel.h defines it, g(r) = 2 nu 2^(1-nu) / Gamma(nu) z^(nu-1) K_(nu-1)(z).
 * Both are within 1e-13, relative, down to 1e-200; somewhere below that they become 0.
 */
#ifndef GPNN_KERNEL_KERNEL_MATERN_PRIVATE_H
#define GPNN_KERNEL_KERNEL_MATERN_PRIVATE_H

#include <stddef.h>

/* c(r) in place of r^2, and c(r) with its slope; 0 < smoothness <= GPNN_KERNEL_SMOOTHEST. */
void gpnn_kernel_matern(double smoothness, size_t n, double *r2);
void gpnn_kernel_matern_slope(double smoothness, size_t n, const double *r2, double *c,
                              double *slope);

#endif
