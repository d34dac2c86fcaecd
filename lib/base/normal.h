/*
 * normal: the standard normal distribution.
 */
#ifndef GPNN_BASE_NORMAL_H
#define GPNN_BASE_NORMAL_H

/* Density, distribution function (accurate in both tails), and quantile of p in (0, 1),
 * each to a few units in the last place. */
double gpnn_normal_density(double z);
double gpnn_normal_below(double z);
double gpnn_normal_quantile(double p);

#endif
