/*
 * optimize: minimisers of smooth functions, behind one interface.
 *
 * lbfgs is a library's limited-memory BFGS; adam is first-order, for objectives that are
 * samples too, with beta (0.9, 0.999) and epsilon 1e-8 (gpnn-methods(7), equation 4.24).
 */
#ifndef GPNN_LINALG_OPTIMIZE_H
#define GPNN_LINALG_OPTIMIZE_H

#include <stdbool.h>
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
 * At most 'most' evaluations, fewer once the value changes by less than 1e-8 of itself.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_optimize_lbfgs(gpnn_objective *objective, void *context,
                                                     size_t n, size_t most, const double *lower,
                                                     const double *upper, double *x,
                                                     struct gpnn_optimize_report *report,
                                                     struct gpnn_error *err);

struct gpnn_adam {
  size_t n_steps;
  double rate;
  bool falling;                /* the rate falls in a line to zero */
  const double *lower, *upper; /* bounds, n numbers each, or NULL: none */
};

/*
 * Steps of Adam from 'x'; x becomes the last iterate, as in the paper.  Gradients may be of random
 * samples; the objective without a gradient is asked for once, at the end, for report->end.  Any
 * failure of the objective ends it and is returned.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_optimize_adam(gpnn_objective *objective, void *context,
                                                    size_t n, const struct gpnn_adam *adam,
                                                    double *x, struct gpnn_optimize_report *report,
                                                    struct gpnn_error *err);

#endif
