/*
 * expected: how good predictions of new rows will be, as far as rows can tell whose targets are
 * known and that the predictions do not use.
 *
 * These are the rows that the dataset holds out for calibration, or at most 10000 of them.  If they
 * are too few (gpnn_dataset_holds_out_enough()), and fewer than the training rows, gpnn_calibrate()
 * has training rows to choose from as well, and so has this: a random 1000 of them, or all, are
 * predicted each from all others. If the fit used so many that it knows them too well
 * (gpnn_calibrate_is_circular()), the parameters are estimated again without them, a fifth at a
 * time (assess/crossfit.h); where that is impossible, the rows held out have to do.
 *
 * Training rows that are copies of each other are left out together, so that these are the scores
 * of new rows.  Rows that have copies are predicted better: how well, is told by the random 1000
 * training rows, each predicted from all others, with its copies.
 *
 * The scale of errors is usually calibrated on the same rows, by a handful of numbers, so that NLL
 * and coverage are a little better than on new rows; RMSE and R^2 do not depend on it.  Of classes
 * that is true of the temperature and the NLL, on which the error does not depend.
 */
#ifndef GPNN_ASSESS_EXPECTED_H
#define GPNN_ASSESS_EXPECTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "models/model.h"
#include "stats/scores/classification.h"
#include "stats/scores/metrics.h"

/* The level of the interval whose coverage is reported. */
#define GPNN_EXPECTED_LEVEL 0.95

enum { GPNN_EXPECTED_PARTS = 10 };

enum gpnn_expected_on {
  GPNN_EXPECTED_HELD_OUT = 0,     /* rows that the dataset holds out */
  GPNN_EXPECTED_LEFT_OUT = 1,     /* training rows, each left out of its own prediction */
  GPNN_EXPECTED_CROSS_FITTED = 2, /* the same, by parameters that have not seen them either */
};

struct gpnn_expected {
  enum gpnn_expected_on on;
  double unit; /* the standard deviation of the training targets, minus offsets */
  /* In the units of the target, from which offsets are subtracted; there is one level, the first.
   * gpnn_metrics_in_units() converts them. */
  struct gpnn_metrics_result scores; /* of numbers; of classes it has n alone */
  bool has_parts;                    /* options.parts have been written */
  bool of_counts;
  bool of_classes;
  struct gpnn_classification_result classes; /* of classes */
  double nll_of_shares; /* of classes: the NLL if every row got their shares in the training rows */
  size_t n_copies; /* training rows that are copies of others (dataset/training/training.h), which
                      are left out with them; 0: none.  For rows that have as many copies among the
                      training rows as these have: */
  struct gpnn_metrics_result scores_with_copies;
  struct gpnn_classification_result classes_with_copies;
};

struct gpnn_expected_options {
  uint64_t seed;
  int threads; /* at least 1; results do not depend on them */
  /* Of numbers, the scores of the rows dealt into GPNN_EXPECTED_PARTS parts are written here, if
   * there are 10 rows for each; NULL: not wanted. */
  struct gpnn_metrics_result *parts;
  /* What gpnn_calibrate()'s cross-fit estimated, if it is known, for gpnn_crossfit_again(). */
  size_t n_known;
  struct gpnn_parameters *known;
};

/*
 * Scores predictions of channel number 'target' of 'n' > 0 channels, which belong to one dataset
 * and were estimated together if they share their lengthscales.  'truths' is the view of its target
 * in the dataset itself: the channel's own view unless that is transformed.
 *
 * GPNN_EDATA: there is no row to score, or one is predicted with an sd of 0.  Further outcomes as
 * gpnn_model_new(), gpnn_predict_distributions() and, where no row is held out, gpnn_crossfit_new()
 * have them.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_expected_scores(size_t n, const struct gpnn_channel *channels, size_t target,
                     const struct gpnn_dataset *truths, const struct gpnn_expected_options *options,
                     struct gpnn_expected *expected, struct gpnn_error *err);

#endif
