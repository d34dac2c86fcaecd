#include "combine/combine.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"
#include "stats/distributions/student.h"

/* A variance that is nothing but noise is this share of a usual one above it, and at least so much
 * in any case. */
static const double least_variance = 1e-6, least_of_all = 1e-200;

static const struct rule {
  const char *name;
  bool needs_variance, needs_prior, needs_weights;
} rules[GPNN_COMBINE_RULES] = {{"fuse", true, true, false},   {"poe", true, false, false},
                               {"gpoe", true, true, false},   {"rbcm", true, true, false},
                               {"grbcm", true, false, false}, {"weights", true, false, true},
                               {"stack", false, false, true}};

const char *gpnn_combine_name(enum gpnn_combine_rule rule)
{
  return rules[rule].name;
}

bool gpnn_combine_needs_variance(enum gpnn_combine_rule rule)
{
  return rules[rule].needs_variance;
}

bool gpnn_combine_needs_prior(enum gpnn_combine_rule rule)
{
  return rules[rule].needs_prior;
}

bool gpnn_combine_needs_weights(enum gpnn_combine_rule rule)
{
  return rules[rule].needs_weights;
}

static bool is_here(const double *mean, size_t i)
{
  return !isnan(mean[i]);
}

/* ---- products of densities of Student's t ---------------------------------------------------- */

/* A normal density, or of Student's t. */
struct factor {
  double mean, variance, df;
};

struct product {
  size_t n; /* at least 1 */
  const struct factor *factors;
};

/* The nodes lie around all factors, as densely as each of them needs: at its location and its scale
 * times the hyperbolic sine of equal steps up to this. */
static const double farthest = 10;
enum { NODES = 400, HALVINGS = 50 };

/* The probabilities of the two central intervals by which scale and degrees are found, and the
 * fewest of these. */
static const double inner = 0.5, outer = 0.95, fewest = 2.01;

/* The product at nodes, and its integral up to each. */
struct curve {
  const struct product *product;
  double node[NODES], total[NODES];
  double mean;
};

static double scale_of(const struct factor *f)
{
  return sqrt(f->variance) * gpnn_student_unit_scale(f->df);
}

static double log_density(const struct product *p, double y)
{
  double sum = 0;
  for (size_t i = 0; i < p->n; i++) {
    const double z = (y - p->factors[i].mean) / scale_of(&p->factors[i]), df = p->factors[i].df;
    sum -= isinf(df) ? 0.5 * z * z : (df + 1) * log(hypot(1, z / sqrt(df)));
  }
  return sum;
}

static void place_nodes(struct curve *c)
{
  for (size_t k = 0; k < NODES; k++) {
    const struct factor *f = &c->product->factors[k % c->product->n];
    const double step = farthest * (2 * ((double)k + 0.5) / NODES - 1);
    c->node[k] = f->mean + scale_of(f) * sinh(step);
  }
  qsort(c->node, NODES, sizeof *c->node, gpnn_compare_doubles);
}

/* Integrates the product between nodes by Simpson's rule.  False: nothing is left of it. */
static bool integrate(struct curve *c)
{
  double value[2 * NODES - 1], peak = -INFINITY, first = 0;
  size_t top = 0;
  for (size_t k = 0; k < 2 * NODES - 1; k++) {
    const double y = k % 2 == 0 ? c->node[k / 2] : c->node[k / 2] / 2 + c->node[k / 2 + 1] / 2;
    value[k] = log_density(c->product, y);
    if (value[k] > peak) {
      peak = value[k];
      top = k / 2;
    }
  }
  for (size_t k = 0; k < 2 * NODES - 1; k++) value[k] = exp(value[k] - peak);
  c->total[0] = 0;
  for (size_t k = 1; k < NODES; k++) {
    const double a = c->node[k - 1] - c->node[top], b = c->node[k] - c->node[top];
    const double *v = value + 2 * k - 2;
    c->total[k] = c->total[k - 1] + (b - a) / 6 * (v[0] + 4 * v[1] + v[2]);
    first += (b - a) / 6 * (a * v[0] + 2 * (a + b) * v[1] + b * v[2]);
  }
  c->mean = c->node[top] + first / c->total[NODES - 1];
  return isfinite(c->mean);
}

/* The share of the product below y. */
static double share_below(const struct curve *c, double y)
{
  size_t low = 0, high = NODES - 1;
  if (y <= c->node[low]) return 0;
  if (y >= c->node[high]) return 1;
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if (c->node[middle] <= y)
      low = middle;
    else
      high = middle;
  }
  const double along = (y - c->node[low]) / (c->node[high] - c->node[low]);
  return (c->total[low] + along * (c->total[high] - c->total[low])) / c->total[NODES - 1];
}

/* Half the width of the interval around the mean that holds a share 'p'. */
static double half_width(const struct curve *c, double p)
{
  double low = 0, high = fmax(c->node[NODES - 1] - c->mean, c->mean - c->node[0]);
  for (int i = 0; i < HALVINGS; i++) {
    const double middle = low + (high - low) / 2;
    if (share_below(c, c->mean + middle) - share_below(c, c->mean - middle) < p)
      low = middle;
    else
      high = middle;
  }
  return high;
}

static double ratio_of(double df)
{
  return gpnn_student_half_width(outer, df) / gpnn_student_half_width(inner, df);
}

/* The degrees of freedom with which two central intervals have widths of this ratio. */
static double find_degrees(double ratio)
{
  double low = 0, high = 1 / fewest; /* of the inverse */
  if (ratio <= ratio_of(INFINITY)) return INFINITY;
  if (ratio >= ratio_of(fewest)) return fewest;
  for (int i = 0; i < HALVINGS / 2; i++) {
    const double middle = (low + high) / 2;
    if (ratio_of(1 / middle) < ratio)
      low = middle;
    else
      high = middle;
  }
  return 2 / (low + high);
}

/*
 * Finds the Student's t with the mean of the product of densities, of which those around it hold 50
 * % and 95 % in the same intervals: exactly, unless that would take tails lighter than the normal's
 * or degrees of freedom below 2.01; then the widths of both are wrong by the same factor.  Takes
 * some thousand logarithms for each factor.  False: the product is 0 for all that a double can
 * tell.
 */
static bool find_density(const struct product *product, struct gpnn_combined *result)
{
  struct curve c = {.product = product};
  place_nodes(&c);
  if (!integrate(&c)) return false;
  const double widths[2] = {half_width(&c, inner), half_width(&c, outer)};
  const double df = find_degrees(widths[1] / widths[0]);
  const double scale = sqrt(widths[0] / gpnn_student_half_width(inner, df) * widths[1] /
                            gpnn_student_half_width(outer, df));
  const double sd = scale / gpnn_student_unit_scale(df);
  *result = (struct gpnn_combined){c.mean, sd * sd, df};
  return sd > 0 && isfinite(sd);
}

/* ---- products of densities ------------------------------------------------------------------ */

/* The predictions of a row, without the noise. */
struct row {
  const struct gpnn_combine_settings *settings;
  const double *mean, *variance, *df;
  size_t first, present; /* the first model that has a prediction, and how many have */
  double floor;          /* variances are at least this */
  double prior;          /* prior variance */
};

static double degrees_of(const double *df, size_t i)
{
  return df == NULL ? INFINITY : df[i];
}

static double variance_of(const struct row *row, size_t i)
{
  return fmax(row->variance[i] - row->settings->noise, row->floor);
}

/* What a model learnt, as half the logarithm of how much narrower than 'wide' it is. */
static double learnt(double wide, double narrow)
{
  return fmax(0.5 * log(wide / narrow), 0);
}

/* The power that a model's density gets. */
static double power_of(const struct row *row, size_t i)
{
  const struct gpnn_combine_settings *s = row->settings;
  switch (s->rule) {
  case GPNN_COMBINE_GPOE:
    if (s->weights != NULL) return s->weights[i];
    return learnt(row->prior, variance_of(row, i));
  case GPNN_COMBINE_RBCM:
    return learnt(row->prior, variance_of(row, i));
  case GPNN_COMBINE_GRBCM:
    if (i == row->first) return 0;
    return i == row->first + 1 ? 1 : learnt(variance_of(row, row->first), variance_of(row, i));
  default:
    return 1;
  }
}

/* The density that comes back into the product with the power that is left to make the sum 1. */
static struct gpnn_combined base_of(const struct row *row)
{
  const struct gpnn_combine_settings *s = row->settings;
  if (s->rule == GPNN_COMBINE_GRBCM)
    return (struct gpnn_combined){row->mean[row->first], variance_of(row, row->first), INFINITY};
  return (struct gpnn_combined){s->prior_mean, row->prior, INFINITY};
}

static bool has_base(enum gpnn_combine_rule rule)
{
  return rule != GPNN_COMBINE_POE && rule != GPNN_COMBINE_GPOE;
}

/* A product is at least as certain as the least certain model. */
static double least_precision(const struct row *row)
{
  double widest = 0;
  for (size_t i = 0; i < row->settings->n; i++)
    if (is_here(row->mean, i)) widest = fmax(widest, variance_of(row, i));
  return 1 / widest;
}

/* Adds the base to a product.  False, and nothing is added, where less certainty than the least
 * certain model's would be left: such models are not what the rule takes them for, and a mean
 * divided by so little would be far from all of theirs. */
static bool add_base(const struct row *row, double powers, double *precision, double *sum)
{
  const struct gpnn_combined base = base_of(row);
  const double part = (1 - powers) / base.variance;
  if (*precision > 0 && *precision + part < least_precision(row)) return false;
  *precision += part;
  *sum += part * base.mean;
  return true;
}

/* True if the densities themselves are to be multiplied, as some are not normal.  Powers are of
 * what normal densities tell. */
static bool has_tails(const struct row *row)
{
  const enum gpnn_combine_rule rule = row->settings->rule;
  if (rule != GPNN_COMBINE_FUSE && rule != GPNN_COMBINE_POE) return false;
  for (size_t i = 0; i < row->settings->n && row->present > 1; i++)
    if (is_here(row->mean, i) && isfinite(degrees_of(row->df, i))) return true;
  return false;
}

/*
 * The factors of a product: those that are Student's t, and after them one normal factor for all
 * others and the base.  Where these together have no precision, as the base takes more off than
 * normal models bring, what is missing is taken off the others, an equal part each.
 */
static size_t find_factors(const struct row *row, const struct gpnn_combined *base, double powers,
                           struct factor *factors)
{
  double precision = (1 - powers) / base->variance, sum = precision * base->mean;
  size_t n = 0;
  for (size_t i = 0; i < row->settings->n; i++) {
    if (!is_here(row->mean, i)) continue;
    const struct factor f = {row->mean[i], variance_of(row, i), degrees_of(row->df, i)};
    if (isfinite(f.df)) {
      factors[n++] = f;
    } else {
      precision += 1 / f.variance;
      sum += f.mean / f.variance;
    }
  }
  if (precision > 0) factors[n++] = (struct factor){sum / precision, 1 / precision, INFINITY};
  for (size_t i = 0; i < n && precision <= 0; i++) {
    const double left = 1 / factors[i].variance + precision / (double)n;
    if (left <= 0) return 0;
    factors[i].mean = (factors[i].mean / factors[i].variance + sum / (double)n) / left;
    factors[i].variance = 1 / left;
  }
  return n;
}

/* The product of the densities of a row, some of which are Student's t.  False: there is none. */
static bool multiply_densities(const struct row *row, struct gpnn_combined *result)
{
  const bool based = has_base(row->settings->rule);
  const struct gpnn_combined base = base_of(row);
  struct factor *factors = gpnn_alloc(row->settings->n + 1, 1, sizeof *factors);
  if (factors == NULL) return false;
  const size_t n = find_factors(row, &base, based ? (double)row->present : 1, factors);
  const struct product product = {n, factors};
  const bool done = n > 0 && find_density(&product, result);
  free(factors);
  return done;
}

/* Adds a normal variance of noise: degrees of freedom follow the shares of the variance. */
static struct gpnn_combined add_noise(struct gpnn_combined c, double noise)
{
  if (noise > 0) c.df *= (c.variance + noise) / c.variance;
  c.variance += noise;
  return c;
}

static struct gpnn_combined multiply(const struct row *row, double *share)
{
  const struct gpnn_combine_settings *s = row->settings;
  double powers = 0, precision = 0, sum = 0, heavy = 0;
  for (size_t i = 0; i < s->n; i++) {
    const double power = is_here(row->mean, i) ? power_of(row, i) : 0;
    const double part = power == 0 ? 0 : power / variance_of(row, i);
    if (share != NULL) share[i] = part;
    powers += power;
    precision += part;
    sum += part == 0 ? 0 : part * row->mean[i];
    heavy += part == 0 ? 0 : part / degrees_of(row->df, i);
  }
  if (powers == 0 && !has_base(s->rule)) /* no model has learnt anything */
    return (struct gpnn_combined){s->prior_mean, row->prior + s->noise, INFINITY};
  const double models = precision;
  const bool is_based = has_base(s->rule) && add_base(row, powers, &precision, &sum);
  if (is_based && s->rule == GPNN_COMBINE_GRBCM) {
    const double back = (1 - powers) / variance_of(row, row->first);
    if (share != NULL) share[row->first] += back;
    heavy += fmax(back, 0) / degrees_of(row->df, row->first);
  }
  for (size_t i = 0; i < s->n && share != NULL; i++) share[i] /= precision;
  const double certain = has_base(s->rule) && !is_based ? least_precision(row) : precision;
  struct gpnn_combined c = {sum / precision, 1 / certain, fmax(models, precision) / heavy};
  if (has_tails(row) && (is_based || !has_base(s->rule))) multiply_densities(row, &c);
  return add_noise(c, s->noise);
}

static struct row make_row(const struct gpnn_combine_settings *s, const double *mean,
                           const double *variance, const double *df)
{
  struct row row = {.settings = s, .mean = mean, .variance = variance, .df = df};
  double usual = rules[s->rule].needs_prior ? s->prior_variance : 0;
  for (size_t i = 0; i < s->n; i++) {
    if (!is_here(mean, i)) continue;
    if (row.present++ == 0) row.first = i;
    if (!rules[s->rule].needs_prior) usual = fmax(usual, variance[i]);
  }
  row.floor = fmax(least_variance * usual, least_of_all);
  row.prior = fmax(s->prior_variance - s->noise, row.floor);
  return row;
}

/* ---- weighted means ------------------------------------------------------------------------- */

/* The weight of a model among those that have a prediction. */
static double weight_of(const struct gpnn_combine_settings *s, const double *mean, size_t i)
{
  double sum = 0;
  size_t present = 0;
  if (!is_here(mean, i)) return 0;
  for (size_t k = 0; k < s->n; k++) {
    if (!is_here(mean, k)) continue;
    sum += s->weights == NULL ? 1 : s->weights[k];
    present++;
  }
  if (sum > 0) return (s->weights == NULL ? 1 : s->weights[i]) / sum;
  return 1 / (double)present;
}

static struct gpnn_combined average(const struct gpnn_combine_settings *s, const double *mean,
                                    const double *variance, const double *df, double *share)
{
  const bool is_mixture = s->rule == GPNN_COMBINE_WEIGHTS;
  struct gpnn_combined c = {0, 0, INFINITY};
  double weights = 0, heavy = 0;
  for (size_t i = 0; i < s->n; i++) {
    const double weight = weight_of(s, mean, i);
    if (share != NULL) share[i] = weight;
    if (weight > 0) c.mean += weight * mean[i];
    weights += weight;
  }
  for (size_t i = 0; i < s->n; i++) {
    const double weight = weight_of(s, mean, i);
    if (weight == 0) continue;
    const double away = is_mixture ? mean[i] - c.mean : 0;
    const double own = isnan(variance[i]) ? s->spare_variance : variance[i];
    c.variance += weight * (own + away * away);
    heavy += weight * own / degrees_of(df, i);
  }
  if (heavy > 0) c.df = c.variance / heavy;
  if (!is_mixture) c.variance *= s->spread;
  return weights > 0 ? c : (struct gpnn_combined){NAN, NAN, INFINITY};
}

struct gpnn_combined gpnn_combine(const struct gpnn_combine_settings *settings, const double *mean,
                                  const double *variance, const double *df, double *share)
{
  if (rules[settings->rule].needs_weights) return average(settings, mean, variance, df, share);
  const struct row row = make_row(settings, mean, variance, df);
  return row.present == 0 ? (struct gpnn_combined){NAN, NAN, INFINITY} : multiply(&row, share);
}
