/*
 * normal: the standard normal distribution.
 */
#ifndef GPNN_STATS_NORMAL_H
#define GPNN_STATS_NORMAL_H

/* Density, distribution function (accurate in both tails), and quantile of p in (0, 1),
 * each to a few units in the last place. */
double gpnn_normal_density(double z);
double gpnn_normal_cdf(double z);
double gpnn_normal_quantile(double p);

/* Half the width of the central interval of probability p in (0, 1): the (1+p)/2 quantile. */
double gpnn_normal_half_width(double p);

/* Negative log density at 'error' from the mean, standard deviation 'sd' > 0. */
double gpnn_normal_nll(double error, double sd);

#endif
