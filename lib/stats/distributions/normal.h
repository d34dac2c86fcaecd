/*
 * normal: the standard normal distribution.  Threads: no shared state.
 */
#ifndef GPNN_STATS_NORMAL_H
#define GPNN_STATS_NORMAL_H

/* log(2 pi), which is in every Gaussian log density. */
#define GPNN_LOG_TWO_PI 1.83787706640934548356

/* The density, the distribution function (accurate in both tails), and the quantile of p in (0, 1),
 * each to a few units in the last place.  A NaN gives NaN. */
double gpnn_normal_density(double z);
double gpnn_normal_cdf(double z);
double gpnn_normal_quantile(double p);

/* Half the width of the central interval of probability p in (0, 1): the (1 + p)/2 quantile. */
double gpnn_normal_half_width(double p);

/* The negative log density at distance 'error' from the mean, for the standard deviation 'sd' > 0.
 */
double gpnn_normal_nll(double error, double sd);

#endif
