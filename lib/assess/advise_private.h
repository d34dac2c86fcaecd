/*
 * advise_parts: what the files of advise share.
 *
 * Private to lib/methods/advise*.c.
 */
#ifndef GPNN_ASSESS_ADVISE_PRIVATE_H
#define GPNN_ASSESS_ADVISE_PRIVATE_H

#include "assess/advise.h"

/* Most sets of predictions: subsamples, numbers of neighbours, changes of parameters. */
enum {
  GPNN_ADVISE_SIZES = 4,
  GPNN_ADVISE_NUMBERS = 4,
  GPNN_ADVISE_VARIANTS = 12,
  GPNN_ADVISE_SETS = GPNN_ADVISE_SIZES + GPNN_ADVISE_NUMBERS + GPNN_ADVISE_VARIANTS
};

/* How far predictions of the test rows are off, one set of them after another.  The rows are in
 * random order; even ones make one half of them, odd ones the other. */
struct gpnn_advise_sets {
  size_t q;              /* test rows */
  size_t n;              /* sets so far */
  size_t now;            /* the set of predictions as they are */
  double *square, *loss; /* GPNN_ADVISE_SETS by q: squared error, calibrated negative log density */
  size_t line_set[GPNN_ADVISE_LINES]; /* of each measured line its set */
};

/* Fills the estimates of the lines of 'advice', its curve, floor, helps and verdict. */
GPNN_MUST_CHECK enum gpnn_status gpnn_advise_estimate(const struct gpnn_advise_sets *sets,
                                                      uint64_t seed, struct gpnn_advice *advice,
                                                      struct gpnn_error *err);

#endif
