#include "stats/transform.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/compare.h"

/* ---- kinds -------------------------------------------------------------------------------- */

static const char *const names[] = {"none", "log", "asinh", "boxcox", "yeo-johnson", "rank"};
enum { N_KINDS = sizeof names / sizeof names[0] };

const char *gpnn_transform_name(enum gpnn_transform_kind kind)
{
  return names[kind];
}

bool gpnn_transform_by_name(const char *name, enum gpnn_transform_kind *kind)
{
  for (int k = 0; k < N_KINDS; k++)
    if (strcmp(name, names[k]) == 0) {
      *kind = (enum gpnn_transform_kind)k;
      return true;
    }
  return false;
}

bool gpnn_transform_takes(enum gpnn_transform_kind kind, double y)
{
  return y > 0 || (kind != GPNN_TRANSFORM_LOG && kind != GPNN_TRANSFORM_BOXCOX);
}

/* 'value', or the nearest finite number. */
static double finite(double value)
{
  return value > DBL_MAX ? DBL_MAX : value < -DBL_MAX ? -DBL_MAX : value;
}

static double clip(double value, double least, double most)
{
  return value < least ? least : value > most ? most : value;
}

/* ---- powers ------------------------------------------------------------------------------- */

/* P, and the range of l in which it is curved. */
struct power {
  double p, from, to;
};

static struct power power_of(double p, double from, double to)
{
  const double most = 10;
  double end = most / fabs(p); /* infinite for 0, under which P is linear everywhere */
  return (struct power){p, clip(from, -end, end), clip(to, -end, end)};
}

static double curve(double p, double l)
{
  return p == 0 ? l : expm1(p * l) / p;
}

static double power_apply(const struct power *power, double l)
{
  double end = clip(l, power->from, power->to), value = curve(power->p, end);
  return l == end ? value : value + exp(power->p * end) * (l - end);
}

static double power_invert(const struct power *power, double value)
{
  double p = power->p, least = curve(p, power->from), most = curve(p, power->to);
  double end = value < least ? power->from : power->to;
  if (value < least || value > most)
    return end + (value - (value < least ? least : most)) * exp(-p * end);
  return p == 0 ? value : log1p(p * value) / p;
}

/* log dP/dl */
static double power_log_slope(const struct power *power, double l)
{
  return power->p * clip(l, power->from, power->to);
}

static struct power boxcox_power(const struct gpnn_transform *t)
{
  return power_of(t->power, log(t->low / t->centre), log(t->high / t->centre));
}

/* u of yeo-johnson and asinh. */
static double unit_of(const struct gpnn_transform *t, double y)
{
  return finite((y - t->centre) / t->scale);
}

/* The power of one side of yeo-johnson, where l = log(1 + |u|). */
static struct power side_power(const struct gpnn_transform *t, bool positive)
{
  double end = unit_of(t, positive ? t->high : t->low);
  return power_of(positive ? t->power : 2 - t->power, 0, log1p(fmax(0, positive ? end : -end)));
}

/* ---- rank --------------------------------------------------------------------------------- */

static double slope_between(const struct gpnn_transform *t, size_t i, size_t j)
{
  return (t->score[j] - t->score[i]) / (t->value[j] - t->value[i]);
}

/* The slope beyond the first or the last knot: that of the segment next to it, unless this is very
 * different from the others, as where many targets are nearly equal. */
static double tail_slope(const struct gpnn_transform *t, bool upper)
{
  const double most = 10;
  size_t last = t->n_knots - 1;
  double all = slope_between(t, 0, last);
  double own = upper ? slope_between(t, last - 1, last) : slope_between(t, 0, 1);
  return clip(own, all / most, all * most);
}

static double rank_apply(const struct gpnn_transform *t, double y)
{
  size_t last = t->n_knots - 1, i = gpnn_find_segment(t->n_knots, t->value, y);
  if (y < t->value[0]) return t->score[0] + (y - t->value[0]) * tail_slope(t, false);
  if (y > t->value[last]) return t->score[last] + (y - t->value[last]) * tail_slope(t, true);
  double part = (y - t->value[i]) / (t->value[i + 1] - t->value[i]);
  return t->score[i] + part * (t->score[i + 1] - t->score[i]);
}

static double rank_invert(const struct gpnn_transform *t, double score)
{
  size_t last = t->n_knots - 1, i = gpnn_find_segment(t->n_knots, t->score, score);
  if (score < t->score[0]) return t->value[0] + (score - t->score[0]) / tail_slope(t, false);
  if (score > t->score[last])
    return t->value[last] + (score - t->score[last]) / tail_slope(t, true);
  double part = (score - t->score[i]) / (t->score[i + 1] - t->score[i]);
  return t->value[i] + part * (t->value[i + 1] - t->value[i]);
}

static double rank_slope(const struct gpnn_transform *t, double y)
{
  size_t last = t->n_knots - 1, i = gpnn_find_segment(t->n_knots, t->value, y);
  if (y < t->value[0] || y >= t->value[last]) return tail_slope(t, y >= t->value[last]);
  return slope_between(t, i, i + 1);
}

/* ---- all ---------------------------------------------------------------------------------- */

/* T(y) */
static double raw_apply(const struct gpnn_transform *t, double y)
{
  struct power power;
  double u;
  switch (t->kind) {
  case GPNN_TRANSFORM_LOG:
    return log(y);
  case GPNN_TRANSFORM_ASINH:
    return asinh(unit_of(t, y));
  case GPNN_TRANSFORM_BOXCOX:
    power = boxcox_power(t);
    return power_apply(&power, log(y) - log(t->centre));
  case GPNN_TRANSFORM_YEO_JOHNSON:
    u = unit_of(t, y);
    power = side_power(t, u > 0);
    return copysign(power_apply(&power, log1p(fabs(u))), u);
  case GPNN_TRANSFORM_RANK:
    return rank_apply(t, y);
  case GPNN_TRANSFORM_NONE:
    break;
  }
  return y;
}

static double raw_invert(const struct gpnn_transform *t, double value)
{
  struct power power;
  switch (t->kind) {
  case GPNN_TRANSFORM_LOG:
    return exp(value);
  case GPNN_TRANSFORM_ASINH:
    return t->centre + t->scale * sinh(value);
  case GPNN_TRANSFORM_BOXCOX:
    power = boxcox_power(t);
    return exp(log(t->centre) + power_invert(&power, value));
  case GPNN_TRANSFORM_YEO_JOHNSON:
    power = side_power(t, value > 0);
    return t->centre + t->scale * copysign(expm1(power_invert(&power, fabs(value))), value);
  case GPNN_TRANSFORM_RANK:
    return rank_invert(t, value);
  case GPNN_TRANSFORM_NONE:
    break;
  }
  return value;
}

/* log dT/dy */
static double raw_log_slope(const struct gpnn_transform *t, double y)
{
  struct power power;
  double u, l;
  switch (t->kind) {
  case GPNN_TRANSFORM_LOG:
    return -log(y);
  case GPNN_TRANSFORM_ASINH:
    return -log(t->scale) - log(hypot(1, unit_of(t, y)));
  case GPNN_TRANSFORM_BOXCOX:
    power = boxcox_power(t);
    return power_log_slope(&power, log(y) - log(t->centre)) - log(y);
  case GPNN_TRANSFORM_YEO_JOHNSON:
    u = unit_of(t, y);
    l = log1p(fabs(u));
    power = side_power(t, u > 0);
    return power_log_slope(&power, l) - l - log(t->scale);
  case GPNN_TRANSFORM_RANK:
    return log(rank_slope(t, y));
  case GPNN_TRANSFORM_NONE:
    break;
  }
  return 0;
}

double gpnn_transform_apply(const struct gpnn_transform *t, double y)
{
  if (!gpnn_transform_takes(t->kind, y) && !isnan(y)) y = DBL_TRUE_MIN;
  return finite((finite(raw_apply(t, y)) - t->mean) / t->sd);
}

double gpnn_transform_invert(const struct gpnn_transform *t, double z)
{
  double y = finite(raw_invert(t, finite(t->mean + t->sd * z)));
  return y == 0 && !gpnn_transform_takes(t->kind, y) ? DBL_TRUE_MIN : y;
}

double gpnn_transform_log_slope(const struct gpnn_transform *t, double y)
{
  if (isnan(y)) return y;
  return gpnn_transform_takes(t->kind, y) ? raw_log_slope(t, y) - log(t->sd) : -INFINITY;
}

size_t gpnn_transform_n_kinks(const struct gpnn_transform *transform)
{
  return transform->kind == GPNN_TRANSFORM_RANK ? transform->n_knots : 0;
}

double gpnn_transform_kink(const struct gpnn_transform *transform, size_t i)
{
  return (transform->score[i] - transform->mean) / transform->sd;
}

void gpnn_transform_bounds(const struct gpnn_transform *t, double *lower, double *upper)
{
  double width = t->high - t->low;
  *lower = finite(t->low - width);
  *upper = finite(t->high + width);
  if (!gpnn_transform_takes(t->kind, *lower)) *lower = DBL_TRUE_MIN;
}

/* ---- as numbers --------------------------------------------------------------------------- */

/* Where the numbers of a kind after the first four belong, up to three of them; none for rank. */
static size_t members(struct gpnn_transform *t, double *at[3])
{
  switch (t->kind) {
  case GPNN_TRANSFORM_ASINH:
    at[0] = &t->centre, at[1] = &t->scale;
    return 2;
  case GPNN_TRANSFORM_BOXCOX:
    at[0] = &t->power, at[1] = &t->centre;
    return 2;
  case GPNN_TRANSFORM_YEO_JOHNSON:
    at[0] = &t->power, at[1] = &t->centre, at[2] = &t->scale;
    return 3;
  case GPNN_TRANSFORM_NONE:
  case GPNN_TRANSFORM_LOG:
  case GPNN_TRANSFORM_RANK:
    break;
  }
  return 0;
}

size_t gpnn_transform_numbers(const struct gpnn_transform *transform,
                              double numbers[GPNN_TRANSFORM_NUMBERS])
{
  struct gpnn_transform t = *transform;
  double *at[3];
  size_t n = 4, more = members(&t, at);
  memcpy(numbers, (double[]){t.mean, t.sd, t.low, t.high}, n * sizeof *numbers);
  for (size_t i = 0; i < more; i++) numbers[n++] = *at[i];
  for (size_t i = 0; i < t.n_knots; i++) {
    numbers[n++] = t.value[i];
    numbers[n++] = t.score[i];
  }
  return n;
}

static const char *check_knots(const struct gpnn_transform *t)
{
  if (t->n_knots < 2) return "fewer than two knots";
  for (size_t i = 1; i < t->n_knots; i++) {
    if (!(t->value[i] > t->value[i - 1]) || !(t->score[i] > t->score[i - 1]))
      return "the knots do not rise";
    if (!isnormal(slope_between(t, i - 1, i))) return "the knots are too far apart or too near";
  }
  return isnormal(slope_between(t, 0, t->n_knots - 1)) ? NULL : "the knots are too far apart";
}

/* What is wrong with the numbers of a transform, or NULL. */
static const char *check(const struct gpnn_transform *t)
{
  const double most = 10;
  bool has_scale = t->kind == GPNN_TRANSFORM_ASINH || t->kind == GPNN_TRANSFORM_YEO_JOHNSON;
  if (!(t->sd > 0)) return "its sd is not positive";
  if (!(t->low < t->high) || !isfinite(t->high - t->low)) return "its range is empty or too large";
  if (!gpnn_transform_takes(t->kind, t->low)) return "its range is not positive";
  if (t->kind == GPNN_TRANSFORM_BOXCOX && !(t->centre > 0)) return "its centre is not positive";
  if (has_scale && !(t->scale > 0)) return "its scale is not positive";
  if (fabs(t->power) > most) return "its power is not between -10 and 10";
  return t->kind == GPNN_TRANSFORM_RANK ? check_knots(t) : NULL;
}

bool gpnn_transform_set(struct gpnn_transform *transform, enum gpnn_transform_kind kind, size_t n,
                        const double *numbers, const char **why)
{
  struct gpnn_transform t = {.kind = kind};
  double *at[3];
  bool is_rank = kind == GPNN_TRANSFORM_RANK;
  size_t first = 4, more = members(&t, at);
  *why = "it has too many or too few numbers";
  if (is_rank ? n < first || n % 2 != 0 || n > GPNN_TRANSFORM_NUMBERS : n != first + more)
    return false;
  t.mean = numbers[0], t.sd = numbers[1], t.low = numbers[2], t.high = numbers[3];
  for (size_t i = 0; i < more; i++) *at[i] = numbers[first + i];
  t.n_knots = is_rank ? (n - first) / 2 : 0;
  for (size_t i = 0; i < t.n_knots; i++) {
    t.value[i] = numbers[first + 2 * i];
    t.score[i] = numbers[first + 2 * i + 1];
  }
  *why = check(&t);
  if (*why == NULL) *transform = t;
  return *why == NULL;
}
