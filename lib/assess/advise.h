/*
 * advise: what would improve predictions most: more rows, more neighbours, or other parameters.
 *
 * Random training rows, the test rows, are predicted, each left out of its own prediction,
 *   from random subsamples of n/16, n/8, n/4 and n/2 rows, up to four of each size;
 *   from all rows with a quarter, half and twice as many neighbours;
 *   from all rows with lengthscales, noise or kernel changed, one at a time.
 * The RMSE is of the means; the NLL is after all variances were multiplied by the factor that
 * minimises it (assess/calibrate.h; gpnn-methods(7), equation 12.1), found on one half of the test
 * rows for the other.
 *
 * More rows: how mean squared error and NLL go on from n to 2n and 10n.  The value is where the
 * slope of the last three sizes leads (of the logarithm of the squared error, and of the NLL, by
 * the logarithm of the rows), halfway between its going on and its flattening as the curves of
 * stats/learning_curve.h through all sizes do.  Few sizes cannot tell a floor that is near from a
 * steady fall, nor where errors will fall faster: the interval has both courses, and lets the slope
 * wander by a factor of standard deviation 0.2 with each doubling.  Subsamples that do not exceed
 * the neighbours are left out. More neighbours: twice as many.  Other parameters: of the changes
 * the one with the lowest NLL on one half of the test rows, measured on the other, as the best of
 * many looks better than it is on the rows that it was chosen on.  It is what better parameters
 * give at least. What helps most is told for twice the rows beside twice the neighbours: ten times
 * the rows nearly always win, and cost most.
 *
 * Everything is measured on the same rows, and uncertainty is the bootstrap's over them, and for
 * more rows that of the course: intervals are from the quantile .05 to the quantile .95, of
 * differences too.
 */
#ifndef GPNN_ASSESS_ADVISE_H
#define GPNN_ASSESS_ADVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "models/local/localgp.h"
#include "stats/learning_curve.h"

/* A value and the interval that it is likely in. */
struct gpnn_advise_value {
  double value, low, high;
};

/* What can be changed. */
enum gpnn_advise_about {
  GPNN_ADVISE_ROWS = 0,
  GPNN_ADVISE_NEIGHBOURS = 1,
  GPNN_ADVISE_PARAMETERS = 2,
  GPNN_ADVISE_NOTHING = 3, /* as many as can be changed */
};

enum { GPNN_ADVISE_LINES = 24, GPNN_ADVISE_BYTES = 64 };

/* What a change comes to; standardised units. */
struct gpnn_advise_line {
  enum gpnn_advise_about about;
  char change[GPNN_ADVISE_BYTES]; /* "rows x 10", "lengthscale x 2", "kernel exp", "none" */
  double rows;
  size_t neighbours;
  bool measured; /* false: extrapolated */
  struct gpnn_advise_value rmse, nll;
  struct gpnn_advise_value rmse_gain; /* the share of the RMSE that the change saves */
  struct gpnn_advise_value nll_gain;  /* by how much the NLL falls */
};

/* What twice the rows, twice the neighbours or other parameters give. */
struct gpnn_advise_help {
  size_t line; /* which change */
  struct gpnn_advise_value rmse_gain, nll_gain;
  bool helps; /* lowers the NLL by 0.01 at least, and beyond the error of measurement */
};

struct gpnn_advice {
  size_t n_test, neighbours;
  size_t n_in_place; /* test rows whose inputs are those of another training row: if that is a copy,
                        it tells the answer */
  size_t n_lines;
  struct gpnn_advise_line lines[GPNN_ADVISE_LINES]; /* in the order of 'about' */
  size_t now;                                       /* the first line without a change, */
  size_t doubled, tenfold;                          /* those of 2n and of 10n rows */
  struct gpnn_learning_curve curve;                 /* of the mean squared error */
  struct gpnn_advise_value floor;                   /* RMSE at the curve's end */
  double limit_rmse, limit_nll; /* what any number of rows comes to at this number of neighbours,
                                   if the parameters' noise is right (gpnn-methods(7), equation
                                   11.14) */
  struct gpnn_advise_help helps[GPNN_ADVISE_NOTHING]; /* of each that can be changed */
  enum gpnn_advise_about most; /* that which helps most, by the NLL; or NOTHING */
  struct gpnn_localgp_counts counts;
};

struct gpnn_advise_options {
  size_t test_rows; /* > 0; never more than n */
  uint64_t seed;
  void (*progress)(size_t n_done, size_t n_all); /* told after each prediction of all test rows; or
                                                    NULL */
};

/*
 * Advises on the predictions of 'gp', which was made alone, and is of double
 * precision; parameters, precision and number of neighbours change while this runs, and are what
 * they were when it returns.  GPNN_EDATA: a quarter of the rows is not more
 * than the neighbours.  GPNN_ENUMERIC: predictions have no uncertainty, or all no error; a change
 * of parameters that leads there is passed over.  Cost: about 30 predictions of the test rows, one
 * of them from twice the neighbours; copies of at most half the rows, each with a search.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_advise(struct gpnn_localgp *gp,
                                             const struct gpnn_advise_options *options,
                                             struct gpnn_advice *advice, struct gpnn_error *err);

#endif
