/*
 * optimize: minimisers of smooth functions, behind one interface.
 *
 * lbfgs is a library's limited-memory BFGS; adam is first-order with the constants of the
 * paper (A, E.2): 200 steps, learning rate 0.1, beta (0.9, 0.999), epsilon 1e-8.
 */
#ifndef GPNN_METHODS_OPTIMIZE_H
#define GPNN_METHODS_OPTIMIZE_H

#include <stddef.h>

#include "base/status.h"

/* Writes f(x) to '*f' and, unless NULL, its n derivatives to 'gradient'. */
typedef enum gpnn_status gpnn_objective(void *context, size_t n, const double *x, double *f,
                                        double *gradient, struct gpnn_error *err);

struct gpnn_optimize_report {
  size_t n_evaluations;
  double start, end;   /* objective values */
  const char *outcome; /* one static phrase: why it stopped */
};

/*
 * Minimises from 'x' (n numbers, start in, best point out).  'lower' and 'upper' bound x, n
 * numbers each.  A point where the objective fails with GPNN_ENUMERIC is treated as
 * infinitely bad, except the first one; any other failure ends the search and is returned.
 * At most 400 evaluations, fewer once the value changes by less than 1e-8 of itself.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_optimize_lbfgs(gpnn_objective *objective, void *context,
                                                     size_t n, const double *lower,
                                                     const double *upper, double *x,
                                                     struct gpnn_optimize_report *report,
                                                     struct gpnn_error *err);

/*
 * 'n_steps' of Adam from 'x', unbounded; x becomes the last iterate, as in the paper.  Any
 * failure of the objective ends it and is returned.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_optimize_adam(gpnn_objective *objective, void *context,
                                                    size_t n, size_t n_steps, double rate,
                                                    double *x, struct gpnn_optimize_report *report,
                                                    struct gpnn_error *err);

#endif
