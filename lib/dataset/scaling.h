/*
 * scaling: standardising inputs and targets (gpnn-methods(7), equations 1.1 to 1.7).
 *
 * y <- (y - mean) / sd with the training mean and population standard deviation.
 *   whiten  x <- W (x - mean) / sqrt(d),  W = diag(1/sqrt(lambda + eps)) U',  from the symmetric
 *           eigendecomposition U diag(lambda) U' of the population covariance.  eps is absolute, in
 *           table units squared.  A direction is dropped if its variance is less than 1e-12 of what
 *           it would be if the columns were uncorrelated: that is rounding.
 *   scale   x_j <- (x_j - mean_j) / (sqrt(d) sd_j); a constant column is dropped.
 *   none    inputs as they are; targets are standardised all the same.
 * Steps come first (dataset/steps.h), except under none: inputs that have limits are clipped to
 * them, where for mean, sd and covariance a cell beyond them counts as the middle between them;
 * then long tails are compressed, if that is wanted.  d is the number of features that remain; for
 * whiten it is the number of features given, so that published runs are reproduced.
 *
 * Features of one group (table/schema.h) are coordinates of one point, and distances between points
 * keep their proportions: scale divides them all by sqrt(d) s, where s^2 is the sum of their
 * variances and d the number of groups that remain, and drops them only if none of them varies.
 * Features that have a unit are only centred.  whiten mixes all inputs and accepts no groups.
 *
 * Every target has its own mean and sd, of the rows that have it; the numbers of classes are left
 * as they are.  Regressors t <- (t - mean) / sd; known noise variances v <- v / y_sd^2.
 */
#ifndef GPNN_DATASET_SCALING_H
#define GPNN_DATASET_SCALING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "dataset/scores.h"
#include "dataset/steps.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_feature;    /* table/schema.h */
struct gpnn_moments;    /* stats/moments.h */
struct gpnn_row_source; /* stats/row_source.h */

enum gpnn_scaling_method {
  GPNN_SCALING_NONE = 0,
  GPNN_SCALING_SCALE = 1,
  GPNN_SCALING_WHITEN = 2,
};

/* What was learnt.  A zeroed object is empty and may be released.  Arrays are owned. */
struct gpnn_scaling {
  enum gpnn_scaling_method method;
  size_t n_in;                          /* features before */
  size_t n_out;                         /* d, standardised inputs after */
  struct gpnn_learnt steps[GPNN_STEPS]; /* of the n_in features */
  double *mean;                         /* n_in */
  double *weight;                       /* none: NULL.  scale: n_in factors, 0 for a dropped column.
                                           whiten: n_out by n_in, row-major */
  double eps;                           /* whiten only */
  double y_mean, y_sd;
  bool y_given; /* they, and those of further targets, were given: no row had a part in them */
  size_t n_more;
  struct gpnn_moments *more; /* n_more: of the further targets */
  size_t n_regressors;
  struct gpnn_moments *regressors; /* n_regressors */
  /* Of a dataset that sees inputs by their scores (dataset/transformed.h): how it sees each of the
   * n_out, borrowed; NULL: as they are. */
  const unsigned char *sight;
  const struct gpnn_scores *scores;
};

/* True unless column 'j' was dropped because it does not vary. */
bool gpnn_scaling_keeps(const struct gpnn_scaling *scaling, size_t j);

/* "none", "scale" or "whiten". */
const char *gpnn_scaling_name(enum gpnn_scaling_method method);

/* What the columns of rows are: the features of inputs, the first target, further targets, then
 * regressors. */
struct gpnn_scaling_columns {
  size_t n_in;
  const struct gpnn_feature *features; /* n_in of them; NULL: no groups, no units */
  size_t n_more;                       /* further targets */
  size_t n_regressors;
  const bool *are_classes; /* 1 + n_more: targets that are classes and stay as they are, with mean 0
                              and sd 1; NULL: none are */
  struct gpnn_step_options steps;   /* ignored under none */
  size_t n_given;                   /* 0, or 1 + n_more: */
  const struct gpnn_moments *given; /* mean and sd to standardise each target by, all of numbers,
                                        whatever its rows; NULL: those of its rows */
};

/*
 * Learns the scaling of 'columns' from 'rows'.  'scaling' must be zeroed, and stays so on failure.
 *
 * A row that lacks one of several targets has NaN there.
 *
 * GPNN_EDATA, and '*at' is the number of the column concerned: a target is missing in all rows; a
 * further target or a regressor is constant; a regressor is a linear combination of a constant and
 * those before it (less than 1e-12 of its variance is its own, by a Cholesky factor of their
 * correlations); differences between values overflow, or under whiten their variance does.
 * GPNN_EDATA, and '*at' is that of a target: its values may be more than 1e9 times the sd that is
 * given from the mean that is given. GPNN_EDATA, and '*at' is SIZE_MAX: fewer than 2 rows, a
 * constant target, or no input varies. GPNN_EINVAL: groups under whiten, or means and sds are given
 * of another number of targets than there are, or of classes. GPNN_ENUMERIC: the covariance
 * overflows or has no eigenvalues. GPNN_ENOMEM, and whatever 'rows' fails with.  'at' may be NULL.
 *
 * Columns far from zero lose no digits; under scale, columns of magnitude 1e+-150 neither overflow
 * nor vanish.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_scaling_learn_rows(struct gpnn_scaling *scaling, enum gpnn_scaling_method method, double eps,
                        const struct gpnn_scaling_columns *columns,
                        const struct gpnn_row_source *rows, size_t *at, struct gpnn_error *err);

/* The same without limits from arrays: 'x' is n by n_in, row-major, and 'y' has n targets. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_scaling_learn(struct gpnn_scaling *scaling, enum gpnn_scaling_method method, double eps,
                   size_t n, size_t n_in, const struct gpnn_feature *features, const double *x,
                   const double *y, struct gpnn_error *err);

/* How many numbers a standardised row has: n_out, or more if inputs are seen by their scores. */
size_t gpnn_scaling_width(const struct gpnn_scaling *scaling);

/* Standardises one row: 'x' has n_in numbers, 'z' gpnn_scaling_width().  They must not overlap, but
 * under none and scale z == x is allowed. */
void gpnn_scaling_apply(const struct gpnn_scaling *scaling, const double *x, double *z);

/* Standardises the n_regressors regressors of one row in place. */
void gpnn_scaling_apply_regressors(const struct gpnn_scaling *scaling, double *values);

/* 'variance' in units of sd^2, or DBL_MAX if that overflows. */
double gpnn_scaling_variance(double variance, double sd);

/* A noise variance in the target's units squared, standardised. */
double gpnn_scaling_noise(const struct gpnn_scaling *scaling, double variance);

/* The target whose standardised value, without its offset (0: it has none), is 'z', in its own
 * units.  Decimal digits that rounding may have changed are dropped, which restores targets of up
 * to some 14 digits exactly. */
double gpnn_scaling_restore(const struct gpnn_scaling *scaling, double z, double offset);

/* A value of feature 'j' that the steps turn into 'value', which is one that they can.  Where they
 * change it, it has no more digits than are right. */
double gpnn_scaling_undo_steps(const struct gpnn_scaling *scaling, size_t j, double value);

/* A value of feature 'j' that the method scale standardises to exactly 'z', of few decimal digits
 * (at least 15), so that it joins with the table's text; the nearest there is if none does, and the
 * only value of a feature that was dropped. */
double gpnn_scaling_restore_input(const struct gpnn_scaling *scaling, size_t j, double z);

void gpnn_scaling_release(struct gpnn_scaling *scaling);

#ifdef __cplusplus
}
#endif

#endif
