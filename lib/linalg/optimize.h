/*
 * optimize: minimisers of smooth functions of n variables, behind one interface.
 *
 * lbfgs is the limited-memory BFGS method of NLopt, for deterministic objectives with gradients;
 * adam is a first-order method with beta (0.9, 0.999) and epsilon 1e-8, which also serves
 * objectives that are random samples (gpnn-methods(7), equation 4.24); so is adagrad, whose steps
 * shrink as gradients accumulate (equation 17.27).  Threads: no shared state.
 */
#ifndef GPNN_LINALG_OPTIMIZE_H
#define GPNN_LINALG_OPTIMIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes f(x) to '*f' and, unless it is NULL, the n derivatives of f to 'gradient'.  GPNN_ENUMERIC
 * means that f cannot be computed at 'x'. */
typedef enum gpnn_status gpnn_objective(void *context, size_t n, const double *x, double *f,
                                        double *gradient, struct gpnn_error *err);

struct gpnn_optimize_report {
  size_t n_evaluations;
  double start, end;   /* values of the objective before and after */
  const char *outcome; /* why it stopped; static text */
};

/*
 * Minimises the objective from the point 'x' (n >= 1 numbers), which is replaced by the best point
 * found, within the bounds 'lower' and 'upper' (n numbers each).  It evaluates the objective at
 * most 'most' times, and stops earlier once a step changes the value by less than 1e-8 of itself,
 * or four evaluations in a row gain less than 'least'.
 *
 * A point at which the objective fails with GPNN_ENUMERIC, or is not finite, counts as infinitely
 * bad, except the first point; there, and after any other failure, the search ends with that
 * failure.  GPNN_EEXTERNAL: NLopt refused to start.  After a failure 'x' and '*report' are
 * untouched.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_optimize_lbfgs(gpnn_objective *objective, void *context,
                                                     size_t n, size_t most, double least,
                                                     const double *lower, const double *upper,
                                                     double *x, struct gpnn_optimize_report *report,
                                                     struct gpnn_error *err);

struct gpnn_adam {
  size_t n_steps;
  double rate;
  bool falling;                /* the rate decreases linearly to zero */
  double half_life;            /* > 0: the rate of step t is divided by sqrt(1 + t / half_life); 0:
                                  it is not */
  size_t n_drops;              /* 0, or the rate becomes a fifth of what it was at each of these */
  const double *drop;          /* n_drops: fractions of the steps, ascending */
  const double *lower, *upper; /* bounds, n numbers each, or both NULL */
  double least_move;           /* it stops once no number has moved as far in ten steps; 0: never */
};

/*
 * Takes the steps of Adam from 'x', which becomes the last iterate (as published, not the best
 * one). Gradients may be those of random samples.  At the end the objective is evaluated once
 * without a gradient, for report->end.  Any failure of the objective ends the search and is
 * returned, with 'x' and '*report' untouched.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_optimize_adam(gpnn_objective *objective, void *context,
                                                    size_t n, const struct gpnn_adam *adam,
                                                    double *x, struct gpnn_optimize_report *report,
                                                    struct gpnn_error *err);

struct gpnn_adagrad {
  size_t n_steps;
  double rate;
  const double *lower, *upper; /* bounds, n numbers each, or both NULL */
};

/* The same by Adagrad (Duchi, Hazan and Singer 2011): each number moves by the rate times its
 * gradient over the root of the sum of all squares of it so far, and 1e-8. */
GPNN_MUST_CHECK enum gpnn_status gpnn_optimize_adagrad(gpnn_objective *objective, void *context,
                                                       size_t n, const struct gpnn_adagrad *adagrad,
                                                       double *x,
                                                       struct gpnn_optimize_report *report,
                                                       struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
