#include "dataset/scaling.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/factors/eigen.h"
#include "stats/moments.h"
#include "stats/row_source.h"
#include "table/schema.h"

static const char *const names[] = {
    [GPNN_SCALING_NONE] = "none",
    [GPNN_SCALING_SCALE] = "scale",
    [GPNN_SCALING_WHITEN] = "whiten",
};

const char *gpnn_scaling_name(enum gpnn_scaling_method method)
{
  return names[method];
}

static uint32_t group_of(const struct gpnn_feature *features, size_t j)
{
  return features == NULL ? (uint32_t)j : features[j].group;
}

/* The first feature after 'j' that is not in its group. */
static size_t group_end(const struct gpnn_feature *features, size_t n_in, size_t j)
{
  size_t end = j + 1;
  while (end < n_in && group_of(features, end) == group_of(features, j)) end++;
  return end;
}

/* Root of the sum of squares, without overflow or underflow. */
static double length_of(size_t n, const double *values)
{
  double length = 0;
  for (size_t i = 0; i < n; i++) length = hypot(length, values[i]);
  return length;
}

/* True of the number of a level, which stays as it is. */
static bool is_level_of(const struct gpnn_feature *features, size_t j)
{
  return features != NULL && features[j].is_level;
}

/* weight_j = 1 / (sqrt(kept groups) sd of the group), 0 for one that does not vary. */
static enum gpnn_status learn_scale(struct gpnn_scaling *scaling,
                                    const struct gpnn_feature *features,
                                    const struct gpnn_moments *inputs, struct gpnn_error *err)
{
  size_t n_in = scaling->n_in, n_groups = 0;
  double *weight = scaling->weight = gpnn_alloc(n_in, 1, sizeof *weight);
  if (weight == NULL) return gpnn_fail_memory(err, "for the standardisation");
  for (size_t j = 0; j < n_in; j++) weight[j] = inputs[j].sd;
  for (size_t j = 0, end; j < n_in; j = end) {
    end = group_end(features, n_in, j);
    double sd = length_of(end - j, weight + j);
    for (size_t k = j; k < end; k++) weight[k] = sd;
    bool is_level = is_level_of(features, j);
    if (sd > 0 || is_level) scaling->n_out += end - j;
    n_groups += sd > 0 && !is_level;
  }
  double root = sqrt((double)n_groups);
  for (size_t j = 0; j < n_in; j++) {
    bool stays = is_level_of(features, j) || (features != NULL && features[j].has_unit);
    if (is_level_of(features, j) || weight[j] > 0) weight[j] = stays ? 1 : 1 / root / weight[j];
  }
  return GPNN_OK;
}

/* The sign that makes the entry of largest magnitude positive: an eigenvector's own is arbitrary.
 */
static double sign_of(size_t d, const double *vector)
{
  size_t largest = 0;
  for (size_t j = 1; j < d; j++)
    if (fabs(vector[j]) > fabs(vector[largest])) largest = j;
  return vector[largest] < 0 ? -1 : 1;
}

/*
 * True unless the variance of a direction is rounding, compared with what it would be if the
 * columns were uncorrelated.  Comparing with the largest eigenvalue instead would drop columns for
 * their units: in one of the published data sets, a column whose standard deviation is 1e-7 of
 * another's.
 */
static bool direction_varies(size_t d, double lambda, const double *u, const double *variance)
{
  double uncorrelated = 0;
  for (size_t j = 0; j < d; j++) uncorrelated += u[j] * u[j] * variance[j];
  return lambda > 1e-12 * uncorrelated;
}

/* Rows of W = diag(1/sqrt(lambda + eps)) U' / sqrt(d) for the directions that vary, in
 * ascending order of lambda; 'vectors' holds U column-major. */
static enum gpnn_status fill_weights(struct gpnn_scaling *scaling, const double *lambda,
                                     const double *vectors, const double *variance,
                                     struct gpnn_error *err)
{
  size_t d = scaling->n_in;
  scaling->weight = gpnn_alloc(d, d, sizeof *scaling->weight);
  if (scaling->weight == NULL) return gpnn_fail_memory(err, "for the standardisation");
  for (size_t i = 0; i < d; i++) {
    const double *u = vectors + i * d;
    if (!direction_varies(d, lambda[i], u, variance)) continue;
    double *row = scaling->weight + scaling->n_out++ * d;
    double factor = sign_of(d, u) / sqrt(lambda[i] + scaling->eps) / sqrt((double)d);
    for (size_t j = 0; j < d; j++) row[j] = factor * u[j];
  }
  return GPNN_OK;
}

static enum gpnn_status learn_whiten(struct gpnn_scaling *scaling,
                                     const struct gpnn_row_source *rows,
                                     const struct gpnn_moments *inputs, size_t *at,
                                     struct gpnn_error *err)
{
  size_t d = scaling->n_in;
  double *cov = gpnn_alloc(d, d, sizeof *cov), *lambda = gpnn_alloc(d, 1, sizeof *lambda);
  double *variance = gpnn_alloc(d, 1, sizeof *variance);
  bool varies = false;
  enum gpnn_status status = GPNN_OK;
  if (cov == NULL || lambda == NULL || variance == NULL) {
    status = gpnn_fail_memory(err, "for the covariance of the inputs");
    goto out;
  }
  for (size_t j = 0; j < d; j++) {
    variance[j] = inputs[j].sd * inputs[j].sd;
    varies = varies || inputs[j].sd > 0;
    if (isfinite(variance[j])) continue;
    *at = j;
    status = gpnn_fail(err, GPNN_EDATA, "its values are too large for whitening");
    goto out;
  }
  if (!varies) goto out; /* the caller says so */
  status = gpnn_moments_covariance(rows, 0, d, inputs, false, cov, err);
  for (size_t i = 0; i < d * d && status == GPNN_OK; i++)
    if (!isfinite(cov[i]))
      status =
          gpnn_fail(err, GPNN_ENUMERIC, "the covariance of the inputs is too large for whitening");
  if (status != GPNN_OK) goto out;
  status = gpnn_eigen(d, cov, lambda, "the covariance of the inputs", err);
  if (status == GPNN_OK) status = fill_weights(scaling, lambda, cov, variance, err);
out:
  free(cov);
  free(lambda);
  free(variance);
  return status;
}

static bool has_groups(const struct gpnn_feature *features, size_t n_in)
{
  for (size_t j = 0; j < n_in; j++)
    if (group_end(features, n_in, j) > j + 1 || is_level_of(features, j)) return true;
  return false;
}

static enum gpnn_status learn_inputs(struct gpnn_scaling *scaling,
                                     const struct gpnn_feature *features,
                                     const struct gpnn_row_source *rows,
                                     const struct gpnn_moments *inputs, size_t *at,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (scaling->method == GPNN_SCALING_NONE) {
    scaling->n_out = scaling->n_in;
    return GPNN_OK;
  }
  for (size_t j = 0; j < scaling->n_in; j++)
    scaling->mean[j] = is_level_of(features, j) ? 0 : inputs[j].mean;
  if (scaling->method == GPNN_SCALING_SCALE)
    status = learn_scale(scaling, features, inputs, err);
  else if (has_groups(features, scaling->n_in))
    status = gpnn_fail(err, GPNN_EINVAL,
                       "whitening mixes inputs, points and groups with effects among them too");
  else
    status = learn_whiten(scaling, rows, inputs, at, err);
  if (status == GPNN_OK && scaling->n_out == 0)
    status = gpnn_fail(err, GPNN_EDATA, "no input varies");
  return status;
}

/* ---- further targets and regressors ---- */

/* Factorises correlations (lower triangle, column-major) in place; false if a column has hardly any
 * variance of its own, and '*at' is the first such column. */
static bool is_independent(size_t d, double *r, size_t *at)
{
  static const double least = 1e-12;
  for (size_t j = 0; j < d; j++) {
    *at = j;
    if (r[j * d + j] < least) return false;
    double root = sqrt(r[j * d + j]);
    for (size_t i = j; i < d; i++) r[j * d + i] /= root;
    for (size_t k = j + 1; k < d; k++)
      for (size_t i = k; i < d; i++) r[k * d + i] -= r[j * d + i] * r[j * d + k];
  }
  return true;
}

/* Regressors are the columns from 'first' on; '*at' is the one that is dependent. */
static enum gpnn_status check_independent(const struct gpnn_scaling *scaling,
                                          const struct gpnn_row_source *rows, size_t first,
                                          size_t *at, struct gpnn_error *err)
{
  size_t d = scaling->n_regressors, wrong = 0;
  if (d == 0) return GPNN_OK;
  double *r = gpnn_alloc(d, d, sizeof *r);
  enum gpnn_status status =
      r == NULL ? gpnn_fail_memory(err, "for the correlations of the regressors")
                : gpnn_moments_covariance(rows, first, d, scaling->regressors, true, r, err);
  if (status == GPNN_OK && !is_independent(d, r, &wrong)) {
    *at = first + wrong;
    status = gpnn_fail(err, GPNN_EDATA,
                       "is a linear combination of a constant and the regressors before it");
  }
  free(r);
  return status;
}

/* Copies the moments of 'n' columns, each of which must vary. */
static enum gpnn_status copy_moments(size_t first, size_t n, const struct gpnn_moments *moments,
                                     struct gpnn_moments **kept, size_t *at, struct gpnn_error *err)
{
  *kept = gpnn_alloc(n, 1, sizeof **kept);
  if (*kept == NULL) return gpnn_fail_memory(err, "for the standardisation");
  for (size_t j = 0; j < n; j++) {
    (*kept)[j] = moments[first + j];
    if (moments[first + j].sd > 0) continue;
    *at = first + j;
    return gpnn_fail(err, GPNN_EDATA, "does not vary");
  }
  return GPNN_OK;
}

/* ---- learning ---- */

static bool is_classes(const struct gpnn_scaling_columns *columns, size_t t)
{
  return columns->are_classes != NULL && columns->are_classes[t];
}

/* Checks the moments of all columns but the inputs; '*at' is the one that is wrong. */
static enum gpnn_status check_moments(const struct gpnn_scaling_columns *columns,
                                      const struct gpnn_moments *moments, size_t *at,
                                      struct gpnn_error *err)
{
  size_t n_in = columns->n_in, regressors = n_in + 1 + columns->n_more;
  for (size_t j = n_in; j < regressors; j++)
    if (isnan(moments[j].mean)) {
      *at = j;
      return gpnn_fail(err, GPNN_EDATA, "is missing in all training rows");
    }
  if (moments[n_in].sd == 0 && columns->n_more > 0) {
    *at = n_in;
    return gpnn_fail(err, GPNN_EDATA, "does not vary");
  }
  if (moments[n_in].sd == 0)
    return gpnn_fail(err, GPNN_EDATA,
                     "the target does not vary: it is %.10g in all rows to train on",
                     moments[n_in].mean);
  for (size_t j = 0; j < regressors + columns->n_regressors; j++)
    if (isinf(moments[j].sd)) {
      *at = j;
      return gpnn_fail(err, GPNN_EDATA, "its values are too far apart for a difference");
    }
  return GPNN_OK;
}

static enum gpnn_status learn(struct gpnn_scaling *learnt,
                              const struct gpnn_scaling_columns *columns,
                              const struct gpnn_row_source *rows,
                              const struct gpnn_moments *moments, size_t *at,
                              struct gpnn_error *err)
{
  size_t n_in = columns->n_in, more = n_in + 1, regressors = more + columns->n_more;
  learnt->mean = gpnn_alloc(n_in, 1, sizeof *learnt->mean);
  if (learnt->mean == NULL) return gpnn_fail_memory(err, "for the standardisation");
  learnt->y_mean = moments[n_in].mean;
  learnt->y_sd = moments[n_in].sd;
  learnt->n_more = columns->n_more;
  learnt->n_regressors = columns->n_regressors;
  enum gpnn_status status = check_moments(columns, moments, at, err);
  if (status == GPNN_OK) status = learn_inputs(learnt, columns->features, rows, moments, at, err);
  if (status == GPNN_OK)
    status = copy_moments(more, columns->n_more, moments, &learnt->more, at, err);
  if (status == GPNN_OK)
    status = copy_moments(regressors, columns->n_regressors, moments, &learnt->regressors, at, err);
  if (status == GPNN_OK) status = check_independent(learnt, rows, regressors, at, err);
  return status;
}

/* Rows as the steps learnt so far leave them for learning. */
struct stepped {
  const struct gpnn_row_source *rows;
  const struct gpnn_scaling *scaling;
};

static enum gpnn_status read_stepped(void *context, size_t from, size_t count, double *rows,
                                     struct gpnn_error *err)
{
  const struct stepped *stepped = context;
  const struct gpnn_learnt *learnt = stepped->scaling->steps;
  size_t width = stepped->rows->width;
  enum gpnn_status status = stepped->rows->read(stepped->rows->context, from, count, rows, err);
  for (size_t s = 0; s < GPNN_STEPS && status == GPNN_OK; s++)
    for (size_t i = 0; i < count && learnt[s].numbers != NULL; i++)
      for (size_t j = 0; j < stepped->scaling->n_in; j++)
        rows[i * width + j] = gpnn_step(s)->stand_in(&learnt[s], j, rows[i * width + j]);
  return status;
}

/* Puts the moments that are given of targets in place of those of their 'n' rows, none of which is
 * farther than sqrt(n) sd from their mean. */
static enum gpnn_status set_targets(const struct gpnn_scaling_columns *columns, size_t n,
                                    struct gpnn_moments *moments, size_t *at,
                                    struct gpnn_error *err)
{
  static const double most = 1e9;
  for (size_t t = 0; t < columns->n_given; t++) {
    const struct gpnn_moments *given = &columns->given[t];
    const double farthest = fabs(moments[t].mean - given->mean) + sqrt((double)n) * moments[t].sd;
    *at = columns->n_in + t;
    if (!(farthest / given->sd <= most))
      return gpnn_fail(err, GPNN_EDATA,
                       "its values may be more than %g times the sd that is given from the mean "
                       "that is given",
                       most);
    moments[t] = *given;
  }
  return GPNN_OK;
}

/* Means and sds are given of all targets or of none, and not of classes. */
static enum gpnn_status check_given(const struct gpnn_scaling_columns *columns,
                                    struct gpnn_error *err)
{
  if (columns->n_given > 0 && columns->n_given != 1 + columns->n_more)
    return gpnn_fail(err, GPNN_EINVAL, "mean and sd are given of %zu targets, where there are %zu",
                     columns->n_given, 1 + columns->n_more);
  for (size_t t = 0; t < columns->n_given; t++)
    if (is_classes(columns, t))
      return gpnn_fail(err, GPNN_EINVAL, "mean and sd are given of a target of classes");
  return GPNN_OK;
}

/* Learns the steps, then moments, then everything else. */
static enum gpnn_status learn_in_turn(struct gpnn_scaling *learnt,
                                      const struct gpnn_scaling_columns *columns,
                                      const struct gpnn_row_source *rows, size_t *at,
                                      struct gpnn_error *err)
{
  size_t n_columns = columns->n_in + 1 + columns->n_more + columns->n_regressors;
  struct stepped stepped = {rows, learnt};
  const struct gpnn_row_source source = {rows->n,  rows->width,   read_stepped,
                                         &stepped, rows->threads, rows->parts};
  enum gpnn_status status = GPNN_OK;
  for (size_t s = 0; s < GPNN_STEPS && learnt->method != GPNN_SCALING_NONE; s++) {
    struct gpnn_learnt of_step = {0}; /* until it is complete, rows are read without it */
    status = gpnn_step(s)->learn(&of_step, &columns->steps, columns->n_in, columns->features,
                                 &source, err);
    if (status != GPNN_OK) return status;
    learnt->steps[s] = of_step;
  }
  struct gpnn_moments *moments = gpnn_alloc(n_columns, 1, sizeof *moments);
  if (moments == NULL) return gpnn_fail_memory(err, "for the standardisation");
  status = columns->n_more > 0 ? gpnn_moments_learn_present(&source, n_columns, moments, err)
                               : gpnn_moments_learn(&source, n_columns, moments, err);
  for (size_t t = 0; t <= columns->n_more; t++)
    if (is_classes(columns, t) && !isnan(moments[columns->n_in + t].mean))
      moments[columns->n_in + t] = (struct gpnn_moments){.mean = 0, .sd = 1};
  if (status == GPNN_OK) status = set_targets(columns, rows->n, &moments[columns->n_in], at, err);
  learnt->y_given = columns->n_given > 0;
  if (status == GPNN_OK) status = learn(learnt, columns, &source, moments, at, err);
  free(moments);
  return status;
}

enum gpnn_status gpnn_scaling_learn_rows(struct gpnn_scaling *scaling,
                                         enum gpnn_scaling_method method, double eps,
                                         const struct gpnn_scaling_columns *columns,
                                         const struct gpnn_row_source *rows, size_t *at,
                                         struct gpnn_error *err)
{
  size_t n = rows->n, n_in = columns->n_in, wrong = SIZE_MAX;
  if (n < 2) return gpnn_fail(err, GPNN_EDATA, "%zu rows are too few, at least 2 are needed", n);
  enum gpnn_status checked = check_given(columns, err);
  if (checked != GPNN_OK) return checked;
  if (n_in == 0 || n_in > INT_MAX)
    return gpnn_fail(err, GPNN_EDATA, "%zu inputs, not from 1 to %d", n_in, INT_MAX);
  struct gpnn_scaling learnt = {.method = method, .n_in = n_in};
  learnt.eps = method == GPNN_SCALING_WHITEN ? eps : 0;
  enum gpnn_status status = learn_in_turn(&learnt, columns, rows, &wrong, err);
  if (status == GPNN_OK)
    *scaling = learnt;
  else
    gpnn_scaling_release(&learnt);
  if (at != NULL) *at = wrong;
  return status;
}

/* Inputs and targets in memory. */
struct arrays {
  size_t d;
  const double *x, *y;
};

static enum gpnn_status read_arrays(void *context, size_t from, size_t count, double *rows,
                                    struct gpnn_error *err)
{
  const struct arrays *arrays = context;
  size_t d = arrays->d;
  (void)err;
  for (size_t i = 0; i < count; i++) {
    memcpy(rows + i * (d + 1), arrays->x + (from + i) * d, d * sizeof *rows);
    rows[i * (d + 1) + d] = arrays->y[from + i];
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_scaling_learn(struct gpnn_scaling *scaling, enum gpnn_scaling_method method,
                                    double eps, size_t n, size_t n_in,
                                    const struct gpnn_feature *features, const double *x,
                                    const double *y, struct gpnn_error *err)
{
  struct arrays arrays = {n_in, x, y};
  const struct gpnn_scaling_columns columns = {.n_in = n_in, .features = features};
  const struct gpnn_row_source rows = {n, n_in + 1, read_arrays, &arrays, 1, NULL};
  return gpnn_scaling_learn_rows(scaling, method, eps, &columns, &rows, NULL, err);
}

/* ---- applying ---- */

static void standardise(size_t n, const struct gpnn_moments *learnt, double *values)
{
  for (size_t j = 0; j < n; j++) values[j] = (values[j] - learnt[j].mean) / learnt[j].sd;
}

void gpnn_scaling_apply_regressors(const struct gpnn_scaling *scaling, double *values)
{
  standardise(scaling->n_regressors, scaling->regressors, values);
}

double gpnn_scaling_variance(double variance, double sd)
{
  return fmin(variance / sd / sd, DBL_MAX);
}

double gpnn_scaling_noise(const struct gpnn_scaling *scaling, double variance)
{
  return gpnn_scaling_variance(variance, scaling->y_sd);
}

/* Feature 'j' as the steps leave it; one that is missing stays so. */
static double step(const struct gpnn_scaling *scaling, size_t j, double value)
{
  if (isnan(value)) return value;
  for (size_t s = 0; s < GPNN_STEPS; s++)
    if (scaling->steps[s].numbers != NULL)
      value = gpnn_step(s)->apply(&scaling->steps[s], j, value);
  return value;
}

double gpnn_scaling_undo_steps(const struct gpnn_scaling *scaling, size_t j, double value)
{
  double undone = value;
  for (size_t s = GPNN_STEPS; s-- > 0;)
    if (scaling->steps[s].numbers != NULL && gpnn_step(s)->undo != NULL)
      undone = gpnn_step(s)->undo(&scaling->steps[s], j, undone);
  if (undone == value || undone == 0 || !isfinite(undone)) return undone;
  const double digits = 12;
  double unit = pow(10, digits - 1 - floor(log10(fabs(undone))));
  return isfinite(unit) && unit > 0 ? nearbyint(undone * unit) / unit : undone;
}

bool gpnn_scaling_keeps(const struct gpnn_scaling *scaling, size_t j)
{
  return scaling->method != GPNN_SCALING_SCALE || scaling->weight[j] != 0;
}

size_t gpnn_scaling_width(const struct gpnn_scaling *scaling)
{
  return scaling->sight == NULL ? scaling->n_out
                                : gpnn_scores_width(scaling->n_out, scaling->sight);
}

void gpnn_scaling_apply(const struct gpnn_scaling *scaling, const double *x, double *z)
{
  size_t n_in = scaling->n_in, kept = 0;
  const double *mean = scaling->mean, *weight = scaling->weight;
  switch (scaling->method) {
  case GPNN_SCALING_NONE:
    memmove(z, x, n_in * sizeof *z);
    break;
  case GPNN_SCALING_SCALE:
    for (size_t j = 0; j < n_in; j++)
      if (weight[j] != 0) z[kept++] = (step(scaling, j, x[j]) - mean[j]) * weight[j];
    break;
  case GPNN_SCALING_WHITEN:
    /* Column by column, so that no sum waits for another. */
    for (size_t i = 0; i < scaling->n_out; i++) z[i] = 0;
    for (size_t j = 0; j < n_in; j++) {
      double deviation = step(scaling, j, x[j]) - mean[j];
      for (size_t i = 0; i < scaling->n_out; i++) z[i] += weight[i * n_in + j] * deviation;
    }
    break;
  }
  if (scaling->sight != NULL) gpnn_scores_see(scaling->scores, scaling->sight, z);
}

/* mean + sd * z + offset, without the digits that rounding may have changed. */
static double restore(double mean, double sd, double z, double offset)
{
  const double most_digits = 300; /* so that powers of ten stay in the range of a double */
  double y = mean + sd * z + offset;
  /* Subtracting offset and mean, dividing by the sd, and undoing all this, each rounds once. */
  double rounding = 2 * DBL_EPSILON * (fabs(mean) + fabs(sd * z) + fabs(offset));
  double digits = -ceil(log10(2 * rounding));
  if (!(fabs(digits) < most_digits)) return y;
  double unit = pow(10, fabs(digits));
  return digits >= 0 ? rint(y * unit) / unit : rint(y / unit) * unit;
}

double gpnn_scaling_restore(const struct gpnn_scaling *scaling, double z, double offset)
{
  return restore(scaling->y_mean, scaling->y_sd, z, offset);
}

/* The decimal number nearest to 'x' with as few digits as are standardised to 'z' without loss;
 * false if even those of 'x' itself are not. */
static bool shorten(double mean, double weight, double z, double x, double *value)
{
  enum { FEWEST = 15, MOST = 17, TEXT = 40 };
  for (int digits = FEWEST; digits <= MOST; digits++) {
    char text[TEXT];
    snprintf(text, sizeof text, "%.*g", digits, x);
    *value = strtod(text, NULL);
    if ((*value - mean) * weight == z) return true;
  }
  return false;
}

double gpnn_scaling_restore_input(const struct gpnn_scaling *scaling, size_t j, double z)
{
  double mean = scaling->mean[j], weight = scaling->weight[j], value;
  if (weight == 0) return mean;
  if (mean == 0 && weight == 1) return z;
  double x = mean + z / weight;
  /* Rounding may have moved 'x' off the number that 'z' was made of. */
  const double near[] = {x, nextafter(x, -INFINITY), nextafter(x, INFINITY)};
  for (size_t i = 0; i < sizeof near / sizeof near[0]; i++)
    if (shorten(mean, weight, z, near[i], &value)) return value;
  return restore(mean, 1 / weight, z, 0);
}

void gpnn_scaling_release(struct gpnn_scaling *scaling)
{
  for (size_t s = 0; s < GPNN_STEPS; s++) free(scaling->steps[s].numbers);
  free(scaling->mean);
  free(scaling->weight);
  free(scaling->more);
  free(scaling->regressors);
  *scaling = (struct gpnn_scaling){0};
}
