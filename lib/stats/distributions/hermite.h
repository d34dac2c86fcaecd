/*
 * hermite: Gauss-Hermite quadrature, for expectations under a normal distribution:
 *
 *   E f(mean + sd Z)  ~=  sum of weight[q] f(mean + sd z[q]),  Z standard normal
 *
 * which is exact where f is a polynomial of degree below 2n.  Threads: no shared state.
 */
#ifndef GPNN_STATS_HERMITE_H
#define GPNN_STATS_HERMITE_H

#include <stddef.h>

enum { GPNN_HERMITE_MOST = 32 };

/* The nodes, ascending, and their weights, whose sum is 1. */
struct gpnn_hermite {
  size_t n;
  double z[GPNN_HERMITE_MOST], weight[GPNN_HERMITE_MOST];
};

/* Finds the 'n' nodes, 1 to GPNN_HERMITE_MOST of them, and their weights; takes about a
 * millisecond, so do it once. */
void gpnn_hermite_init(struct gpnn_hermite *rule, size_t n);

#endif
