/*
 * standard: standardisation of inputs and target (gpnn-methods(7), equations 1.1 to 1.7).
 *
 * y <- (y - mean) / sd with the training mean and population standard deviation.
 *   whiten  x <- W (x - mean) / sqrt(d),  W = diag(1/sqrt(lambda + eps)) U',  from the
 *           symmetric eigendecomposition U diag(lambda) U' of the population covariance.
 *           eps is absolute, in raw units squared; a direction whose variance is rounding
 *           (under 1e-12 of what it would be were the columns uncorrelated) is dropped.
 *   scale   x_j <- (x_j - mean_j) / (sqrt(d) sd_j); a constant column is dropped.
 *   none    inputs as they are (the target is standardised all the same).
 * Where an input has limits (dataset/limits.h) x is within them, and a cell beyond them counts for
 * mean, sd and covariance as the middle between them.  The factor 1/sqrt(d) uses the number of
 * features that remain.  For whiten that is the number of features given, so that published runs
 * are reproduced.
 *
 * Features of one group (table/schema.h) are coordinates of one point, whose distances are to keep
 * their proportions: under scale they take one factor, 1 / (sqrt(d) s), with s^2 the sum of their
 * variances and d the number of groups that remain (of features, where each is its own group), and
 * are dropped only if none of them varies.  Features that have a unit are centred, their factor
 * is 1.  whiten mixes all and takes no groups.
 *
 * Every target has a mean and sd of its own.  Regressors t <- (t - mean) / sd; known noise
 * variances v <- v / y_sd^2.
 */
#ifndef GPNN_DATASET_SCALING_H
#define GPNN_DATASET_SCALING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "dataset/limits.h"
#include "stats/moments.h"
#include "table/schema.h"

enum gpnn_scaling_method {
  GPNN_SCALING_NONE = 0,
  GPNN_SCALING_SCALE = 1,
  GPNN_SCALING_WHITEN = 2,
};

/* A zeroed object is empty and may be released.  Arrays are owned. */
struct gpnn_scaling {
  enum gpnn_scaling_method method;
  size_t n_in;               /* features that come in */
  size_t n_out;              /* standardised inputs d that go out */
  struct gpnn_limits limits; /* of the features that come in, before all else */
  double *mean;              /* n_in */
  double *weight;            /* none: NULL.  scale: n_in factors, 0 for a dropped column.
                                whiten: n_out by n_in, row-major */
  double eps;                /* whiten only */
  double y_mean, y_sd;
  size_t n_more;
  struct gpnn_moments *more; /* n_more: of the further targets */
  size_t n_regressors;
  struct gpnn_moments *regressors; /* n_regressors */
};

/* "scale" -> GPNN_SCALING_SCALE and so on; false if 'name' is none of them. */
bool gpnn_scaling_by_name(const char *name, enum gpnn_scaling_method *method);
const char *gpnn_scaling_name(enum gpnn_scaling_method method);

/* What the first columns of rows are to learn from: inputs' features, then the first target, then
 * the rest. */
struct gpnn_scaling_columns {
  size_t n_in;
  const struct gpnn_feature *features; /* n_in of them; NULL: no groups, no units */
  size_t n_more;                       /* further targets */
  size_t n_regressors;
  /* NULL: inputs get no limits.  Otherwise, but for none, they get them where they need them
   * (dataset/limits.h), and this receives which. */
  struct gpnn_far_columns *far;
};

/*
 * Learns the standardisation of 'columns' from 'rows'.  'scaling' must be zeroed.  GPNN_EDATA:
 * fewer than 2 rows, a constant target, no input that varies; or '*at', the number of a column, is
 * a further target or regressor that is constant, a regressor that is a combination of a constant
 * and those before it (by a Cholesky factor of their correlations: of its variance less than 1e-12
 * is its own), has values whose difference is beyond all numbers, or under whiten a variance that
 * is.  Otherwise '*at' is SIZE_MAX; 'at' may be NULL.  GPNN_EINVAL: groups under whiten.
 * Columns far from zero lose no digits; columns of magnitude 1e+-150 neither overflow nor vanish
 * under scale.  What 'rows' fails with is passed on.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_scaling_learn_rows(struct gpnn_scaling *scaling, enum gpnn_scaling_method method, double eps,
                        const struct gpnn_scaling_columns *columns,
                        const struct gpnn_row_source *rows, size_t *at, struct gpnn_error *err);

/* The same from inputs and targets in memory: 'x' is n by n_in, row-major, 'y' has n numbers. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_scaling_learn(struct gpnn_scaling *scaling, enum gpnn_scaling_method method, double eps,
                   size_t n, size_t n_in, const struct gpnn_feature *features, const double *x,
                   const double *y, struct gpnn_error *err);

/* Standardises one row: 'x' has n_in numbers, 'z' n_out; they may not overlap except that
 * z == x is allowed under none and scale. */
void gpnn_scaling_apply(const struct gpnn_scaling *scaling, const double *x, double *z);

/* Standardises the n_regressors regressors of one row in place. */
void gpnn_scaling_apply_regressors(const struct gpnn_scaling *scaling, double *values);

/* A variance in units of 'sd' squared; one beyond all numbers is the largest of them, and says as
 * little. */
double gpnn_scaling_variance(double variance, double sd);

/* A noise variance in units of the target squared, standardised so. */
double gpnn_scaling_noise(const struct gpnn_scaling *scaling, double variance);

void gpnn_scaling_release(struct gpnn_scaling *scaling);

#endif
