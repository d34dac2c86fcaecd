#include "assess/combine.h"

#include <math.h>

/* A variance that is nothing but noise is this share of a usual one above it. */
static const double least_variance = 1e-6;

static const struct rule {
  const char *name;
  bool needs_variance, needs_prior, needs_weights;
} rules[GPNN_COMBINE_RULES] = {{"fuse", true, true, false},    {"poe", true, false, false},
                               {"gpoe", true, true, false},    {"bcm", true, true, false},
                               {"rbcm", true, true, false},    {"grbcm", true, false, false},
                               {"weights", true, false, true}, {"stack", false, false, true}};

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

/* ---- products of densities ------------------------------------------------------------------ */

/* The predictions of a row, without the noise. */
struct row {
  const struct gpnn_combine_settings *settings;
  const double *mean, *variance;
  size_t first, present; /* the first model that has a prediction, and how many have */
  double floor;          /* variances are at least this */
  double prior;          /* prior variance */
};

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
    return (struct gpnn_combined){row->mean[row->first], variance_of(row, row->first)};
  return (struct gpnn_combined){s->prior_mean, row->prior};
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

static struct gpnn_combined multiply(const struct row *row, double *share)
{
  const struct gpnn_combine_settings *s = row->settings;
  double powers = 0, precision = 0, sum = 0;
  for (size_t i = 0; i < s->n; i++) {
    const double power = is_here(row->mean, i) ? power_of(row, i) : 0;
    const double part = power == 0 ? 0 : power / variance_of(row, i);
    if (share != NULL) share[i] = part;
    powers += power;
    precision += part;
    sum += part == 0 ? 0 : part * row->mean[i];
  }
  if (powers == 0 && !has_base(s->rule)) /* no model has learnt anything */
    return (struct gpnn_combined){s->prior_mean, row->prior + s->noise};
  const bool is_based = has_base(s->rule) && add_base(row, powers, &precision, &sum);
  if (is_based && s->rule == GPNN_COMBINE_GRBCM && share != NULL)
    share[row->first] += (1 - powers) / variance_of(row, row->first);
  for (size_t i = 0; i < s->n && share != NULL; i++) share[i] /= precision;
  const double certain = has_base(s->rule) && !is_based ? least_precision(row) : precision;
  return (struct gpnn_combined){sum / precision, 1 / certain + s->noise};
}

static struct row make_row(const struct gpnn_combine_settings *s, const double *mean,
                           const double *variance)
{
  struct row row = {.settings = s, .mean = mean, .variance = variance};
  double usual = rules[s->rule].needs_prior ? s->prior_variance : 0;
  for (size_t i = 0; i < s->n; i++) {
    if (!is_here(mean, i)) continue;
    if (row.present++ == 0) row.first = i;
    if (!rules[s->rule].needs_prior) usual = fmax(usual, variance[i]);
  }
  row.floor = least_variance * usual;
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
                                    const double *variance, double *share)
{
  const bool is_mixture = s->rule == GPNN_COMBINE_WEIGHTS;
  struct gpnn_combined c = {0, 0};
  double weights[2] = {0, 0};
  for (size_t i = 0; i < s->n; i++) {
    const double weight = weight_of(s, mean, i);
    if (share != NULL) share[i] = weight;
    if (weight > 0) c.mean += weight * mean[i];
    weights[0] += weight;
  }
  for (size_t i = 0; i < s->n; i++) {
    const double weight = weight_of(s, mean, i);
    if (weight == 0) continue;
    const double away = is_mixture ? mean[i] - c.mean : 0;
    const double own = isnan(variance[i]) ? s->spare_variance : variance[i];
    c.variance += weight * (own + away * away);
  }
  if (!is_mixture) c.variance *= s->spread;
  return weights[0] > 0 ? c : (struct gpnn_combined){NAN, NAN};
}

struct gpnn_combined gpnn_combine(const struct gpnn_combine_settings *settings, const double *mean,
                                  const double *variance, double *share)
{
  if (rules[settings->rule].needs_weights) return average(settings, mean, variance, share);
  const struct row row = make_row(settings, mean, variance);
  return row.present == 0 ? (struct gpnn_combined){NAN, NAN} : multiply(&row, share);
}
