/*
 * transform: increasing functions that make the distribution of a target more nearly normal, with
 * their inverses and slopes (gpnn-methods(7), equations 1.8 to 1.13).
 *
 * A transform takes a target y in its own units to z = (T(y) - mean) / sd, where mean and sd are
 * those of T over the training targets.  T is one of
 *   log          log y
 *   asinh        asinh((y - centre) / scale)
 *   boxcox       P(log(y / centre), power)
 *   yeo-johnson  with u = (y - centre) / scale: P(log(1 + u), power) if u is positive, and
 *                otherwise -P(log(1 - u), 2 - power)
 *   rank         linear between knots, which take quantiles of the target to those of a normal
 *                distribution, and linear beyond the first and the last knot
 * where P(l, p) = (exp(p l) - 1) / p, or l if p is 0.  Powers alone would be bounded on one side,
 * and would overflow on the other.  So from the ends of the range of the training targets on, and
 * wherever |p l| exceeds 10, P goes on linearly in l.  Each T is continuous, strictly increasing
 * but for rounding, and takes all real numbers (log and boxcox: all positive ones) to all real
 * numbers.
 *
 * Threads: a transform is plain data; those passed as const may be shared.
 */
#ifndef GPNN_STATS_TRANSFORM_H
#define GPNN_STATS_TRANSFORM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gpnn_transform_kind {
  GPNN_TRANSFORM_NONE = 0,
  GPNN_TRANSFORM_LOG = 1,
  GPNN_TRANSFORM_ASINH = 2,
  GPNN_TRANSFORM_BOXCOX = 3,
  GPNN_TRANSFORM_YEO_JOHNSON = 4,
  GPNN_TRANSFORM_RANK = 5,
};

/* Most knots of a rank transform, and most numbers that describe a transform. */
enum { GPNN_TRANSFORM_KNOTS = 100, GPNN_TRANSFORM_NUMBERS = 4 + 2 * GPNN_TRANSFORM_KNOTS };

/* A zeroed transform has the kind none, and no functions but those that name kinds take it. */
struct gpnn_transform {
  enum gpnn_transform_kind kind;
  double mean, sd;      /* of T over the training targets; sd > 0 */
  double low, high;     /* range of the training targets, low < high */
  double centre, scale; /* of the target, in its own units; scale > 0 */
  double power;         /* from -10 to 10 */
  size_t n_knots;       /* at least 2 */
  double value[GPNN_TRANSFORM_KNOTS], score[GPNN_TRANSFORM_KNOTS]; /* both rising */
};

/* "none", "log", "asinh", "boxcox", "yeo-johnson" or "rank"; and the kind of that name. */
const char *gpnn_transform_name(enum gpnn_transform_kind kind);
bool gpnn_transform_by_name(const char *name, enum gpnn_transform_kind *kind);

/* True for a target that transforms of this kind are defined for: under log and boxcox only if it
 * is positive. */
bool gpnn_transform_takes(enum gpnn_transform_kind kind, double y);

/*
 * Fits a transform of a kind other than none to 'n' >= 2 targets, which should be a sample of the
 * training targets that includes the least and the greatest.  Powers, and centre and scale of
 * asinh, maximise the likelihood of a normal distribution of T (Box and Cox 1964); 'mean', 'sd',
 * 'low' and 'high' are those of the sample.
 *
 * GPNN_EDATA: the targets are all equal, or one of them is not positive under log or boxcox.
 * GPNN_ENOMEM.  'transform' is then untouched.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_transform_fit(struct gpnn_transform *transform,
                                                    enum gpnn_transform_kind kind, size_t n,
                                                    const double *y, struct gpnn_error *err);

/* z for a target, and the target for a z: each is finite for every finite number.  A target that
 * the kind does not take counts as the smallest that it does.  The inverse is exact but for
 * rounding.  A NaN gives NaN. */
double gpnn_transform_apply(const struct gpnn_transform *transform, double y);
double gpnn_transform_invert(const struct gpnn_transform *transform, double z);

/* log dz/dy: what the log density of z lacks to be that of y.  -INFINITY for a target that the kind
 * does not take, whose density is zero.  At a knot, where the slope changes, it is that above it.
 */
double gpnn_transform_log_slope(const struct gpnn_transform *transform, double y);

/* How many z there are at which the slope jumps, those of the knots of a rank transform; and these,
 * ascending. */
size_t gpnn_transform_n_kinks(const struct gpnn_transform *transform);
double gpnn_transform_kink(const struct gpnn_transform *transform, size_t i);

/* The range that moments are to be taken over: that of the training targets, widened by its own
 * width on either side; under log and boxcox above 0.  A transform may turn a moderate z into a
 * target beyond all bounds, which a mean would follow. */
void gpnn_transform_bounds(const struct gpnn_transform *transform, double *lower, double *upper);

/* The numbers that describe a transform besides its kind: mean, sd, low, high; asinh: centre,
 * scale; boxcox: power, centre; yeo-johnson: power, centre, scale; rank: value and score of each
 * knot in turn.  Returns how many there are. */
size_t gpnn_transform_numbers(const struct gpnn_transform *transform,
                              double numbers[GPNN_TRANSFORM_NUMBERS]);

/* The transform that finite 'numbers' describe.  If none does, '*why' says so in words that go on
 * from the kind's name, as in "log: 3 numbers, not 4", and false is returned; '*transform' is then
 * untouched. */
bool gpnn_transform_set(struct gpnn_transform *transform, enum gpnn_transform_kind kind, size_t n,
                        const double *numbers, const char **why);

#ifdef __cplusplus
}
#endif

#endif
