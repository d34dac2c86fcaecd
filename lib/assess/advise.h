/*
 * advise: what would improve predictions most: more rows, more neighbours, or other parameters.
 *
 * Random training rows, the test rows, are predicted, each left out of its own prediction,
 *   from random subsamples of n/16, n/8, n/4 and n/2 rows, up to four of each size;
 *   from all rows with a quarter, half and twice as many neighbours;
 *   from all rows with lengthscales, noise or kernel changed, one at a time.
 * RMSE is the error of the means.  NLL is computed after all variances are multiplied by the factor
 * that minimises it (assess/calibrate.h; gpnn-methods-simulate(7), equation 12.1), which is found
 * on one half of the test rows for the other.
 *
 * More rows: mean squared error and NLL are extrapolated from n to 2n and 10n rows, along the slope
 * over the last three sizes (of the logarithm of the squared error, and of the NLL, against the
 * logarithm of the rows).  The value lies halfway between a slope that stays the same and one that
 * flattens as the learning curve through all sizes does (stats/scores/learning_curve.h).  So few
 * sizes cannot tell a nearby floor from a steady fall, nor show where errors will fall faster: the
 * interval covers both courses, and lets the slope drift by a factor of standard deviation 0.2 per
 * doubling.  Subsamples with no more rows than neighbours are skipped.
 * More neighbours: twice as many.  Other parameters: the change with the lowest NLL on one half of
 * the test rows, measured on the other, because the best of many looks better than it is on the
 * rows it was chosen on.  Better parameters gain at least as much. What helps most is decided
 * between twice the rows and twice the neighbours: ten times the rows nearly always win, and cost
 * most.
 *
 * Everything is measured on the same rows.  Intervals range from the .05 to the .95 quantile of a
 * bootstrap over them, for differences as well; for more rows they include the course of the curve.
 */
#ifndef GPNN_ASSESS_ADVISE_H
#define GPNN_ASSESS_ADVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "models/model.h"
#include "stats/scores/learning_curve.h"

/* A value and the interval that it probably lies in. */
struct gpnn_advise_value {
  double value, low, high;
};

/* What can be changed. */
enum gpnn_advise_about {
  GPNN_ADVISE_ROWS = 0,
  GPNN_ADVISE_NEIGHBOURS = 1,
  GPNN_ADVISE_PARAMETERS = 2,
  GPNN_ADVISE_NOTHING = 3, /* also the number of things that can be changed */
};

enum { GPNN_ADVISE_LINES = 24, GPNN_ADVISE_BYTES = 64 };

/* The effect of a change, in standardised units. */
struct gpnn_advise_line {
  enum gpnn_advise_about about;
  char change[GPNN_ADVISE_BYTES]; /* "rows x 10", "lengthscale x 2", "kernel exp", "none" */
  double rows;
  size_t neighbours;
  bool measured; /* false: extrapolated */
  struct gpnn_advise_value rmse, nll;
  struct gpnn_advise_value rmse_gain; /* the fraction of the RMSE that it saves */
  struct gpnn_advise_value nll_gain;  /* by how much it lowers the NLL */
};

/* The gain from twice the rows, twice the neighbours or other parameters. */
struct gpnn_advise_help {
  size_t line; /* the change, among gpnn_advice.lines */
  struct gpnn_advise_value rmse_gain, nll_gain;
  bool helps; /* lowers the NLL by at least 0.01, and by more than the error of measurement */
};

struct gpnn_advice {
  size_t n_test, neighbours;
  size_t n_duplicates; /* test rows with the inputs of another training row, which gives the answer
                          away if it is a copy */
  size_t n_lines;
  struct gpnn_advise_line lines[GPNN_ADVISE_LINES]; /* in the order of 'about' */
  size_t now;                                       /* the first line without a change, */
  size_t doubled, tenfold;                          /* those of 2n and of 10n rows */
  struct gpnn_learning_curve curve;                 /* of the mean squared error */
  struct gpnn_advise_value floor;                   /* RMSE that the curve tends to */
  double limit_rmse, limit_nll; /* as rows grow without bound with these neighbours, if the
                                   noise is right (gpnn-methods-simulate(7), equation
                                   11.14) */
  struct gpnn_advise_help helps[GPNN_ADVISE_NOTHING]; /* by enum gpnn_advise_about */
  enum gpnn_advise_about most;                        /* what lowers the NLL most, or NOTHING */
  struct gpnn_counts counts;
};

struct gpnn_advise_options {
  size_t test_rows; /* > 0; never more than n */
  uint64_t seed;
  void (*progress)(size_t n_done, size_t n_all); /* called after each prediction of all test rows;
                                                    or NULL */
};

/*
 * Advises on the predictions of 'model', which has one channel and predicts from neighbours, in the
 * precision that it was made with; only predictions from several numbers of neighbours are always
 * in double precision.  GPNN_EDATA: a quarter of the rows is not more than the neighbours.
 * GPNN_EMISMATCH: the model is a stack.
 * GPNN_ENUMERIC: predictions without uncertainty, or all without error; changes of parameters that
 * lead to such are skipped.  Cost: about 30 predictions of the test rows, one of them from twice
 * the neighbours, and copies of at most half the rows, each with a search of its own.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_advise(const struct gpnn_model *model,
                                             const struct gpnn_advise_options *options,
                                             struct gpnn_advice *advice, struct gpnn_error *err);

#endif
