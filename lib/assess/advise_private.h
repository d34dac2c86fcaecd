/*
 * advise_private: what advise.c measures and advise_estimate.c evaluates.
 */
#ifndef GPNN_ASSESS_ADVISE_PRIVATE_H
#define GPNN_ASSESS_ADVISE_PRIVATE_H

#include "assess/advise.h"

/* The most sets of predictions: sizes of subsamples, numbers of neighbours, changed parameters. */
enum {
  GPNN_ADVISE_SIZES = 4,
  GPNN_ADVISE_NUMBERS = 4,
  GPNN_ADVISE_VARIANTS = 12,
  GPNN_ADVISE_SETS = GPNN_ADVISE_SIZES + GPNN_ADVISE_NUMBERS + GPNN_ADVISE_VARIANTS
};

/* Errors of the predictions of the test rows, one set after another.  The rows are in random order;
 * even ones form one half, odd ones the other. */
struct gpnn_advise_sets {
  size_t q;             /* test rows */
  size_t n;             /* sets so far */
  size_t now;           /* the set predicted with nothing changed */
  double *square, *nll; /* GPNN_ADVISE_SETS by q: squared errors and calibrated NLLs */
  size_t line_set[GPNN_ADVISE_LINES]; /* the set that each measured line is from */
};

/* Fills in the estimates of all lines of 'advice', its curve, floor, helps and 'most'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_advise_estimate(const struct gpnn_advise_sets *sets,
                                                      uint64_t seed, struct gpnn_advice *advice,
                                                      struct gpnn_error *err);

#endif
