#include "likelihood/atom.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"
#include "likelihood/logistic.h"
#include "stats/transform.h"

/* ---- which number ------------------------------------------------------------------------- */

static bool is_possible(const struct gpnn_dataset *dataset, const struct gpnn_parameters *p)
{
  bool is_scaled =
      p->likelihood == GPNN_LIKELIHOOD_STUDENT || p->likelihood == GPNN_LIKELIHOOD_LOCAL;
  return is_scaled && p->family == GPNN_FAMILY_NONE && p->grid.n_factors == 0 &&
         dataset->stored == NULL && dataset->observed == NULL && dataset->offset == NULL &&
         gpnn_dataset_n_classes(dataset) == 0;
}

/* The number with the fewest decimals that is 'value' but for an error of 'within'. */
static double shortest(double value, double within)
{
  enum { MOST_DECIMALS = 15 };
  double power = 1;
  for (int i = 0; i <= MOST_DECIMALS; i++, power *= 10) {
    double rounded = round(value * power) / power;
    if (fabs(rounded - value) <= within) return rounded + 0.0;
  }
  return value;
}

/* The start of the longest run of equal numbers among 'n' > 0 sorted ones. */
static size_t longest_run(size_t n, const double *sorted, size_t *length)
{
  size_t at = 0;
  *length = 0;
  for (size_t begin = 0, end; begin < n; begin = end) {
    for (end = begin + 1; end < n && gpnn_atom_is(sorted[begin], sorted[end]);) end++;
    if (end - begin <= *length) continue;
    *length = end - begin;
    at = begin;
  }
  return at;
}

enum gpnn_status gpnn_atom_find(const struct gpnn_dataset *dataset,
                                const struct gpnn_parameters *parameters, struct gpnn_atom *atom,
                                struct gpnn_error *err)
{
  enum { MOST = 100000 }; /* targets to look at, evenly spaced */
  size_t step = dataset->n / MOST + 1, n = (dataset->n + step - 1) / step, length;
  double mean = dataset->scaling.y_mean, sd = dataset->scaling.y_sd;
  *atom = (struct gpnn_atom){0};
  if (n == 0 || !is_possible(dataset, parameters)) return GPNN_OK;
  double *sorted = gpnn_alloc(n, 1, sizeof *sorted);
  if (sorted == NULL) return gpnn_fail_memory(err, "for the targets in order");
  for (size_t i = 0; i < n; i++) sorted[i] = dataset->y[i * step];
  qsort(sorted, n, sizeof *sorted, gpnn_compare_doubles);
  size_t at = longest_run(n, sorted, &length);
  double value = parameters->transform.kind == GPNN_TRANSFORM_NONE
                     ? mean + sd * sorted[at]
                     : gpnn_transform_invert(&parameters->transform, sorted[at]);
  struct gpnn_atom found = {.share = (double)length / (double)n, .slope = 1};
  found.value = shortest(value, GPNN_ATOM_WITHIN / 10 * sd);
  double again = gpnn_atom_standardised(&found, parameters, dataset);
  if (found.share >= GPNN_ATOM_LEAST_SHARE && gpnn_atom_is(again, sorted[at])) *atom = found;
  free(sorted);
  return GPNN_OK;
}

double gpnn_atom_standardised(const struct gpnn_atom *atom,
                              const struct gpnn_parameters *parameters,
                              const struct gpnn_dataset *dataset)
{
  if (!(atom->share > 0)) return nan("");
  return parameters->transform.kind == GPNN_TRANSFORM_NONE
             ? (atom->value - dataset->scaling.y_mean) / dataset->scaling.y_sd
             : gpnn_transform_apply(&parameters->transform, atom->value);
}

bool gpnn_atom_is(double atom, double y)
{
  return fabs(y - atom) <= GPNN_ATOM_WITHIN;
}

/* ---- its probability ---------------------------------------------------------------------- */

static double logit(double share)
{
  static const double least = 1e-6;
  double p = fmin(fmax(share, least), 1 - least);
  return log(p) - log1p(-p);
}

double gpnn_atom_share(size_t m, size_t k)
{
  return m == 0 ? nan("") : ((double)k + 0.5) / ((double)m + 1);
}

double gpnn_atom_probability(const struct gpnn_atom *atom, double share)
{
  if (isnan(share)) return atom->share;
  return gpnn_logistic_sigmoid(atom->intercept + atom->slope * logit(share));
}

double gpnn_atom_location(const struct gpnn_atom *atom, double at, double mean, double p)
{
  static const double least = 0.05;
  if (atom->power == 0) return mean;
  return at + (mean - at) / pow(fmax(1 - p, least), atom->power);
}

/* The gradient of the log likelihood with its prior, normal with sd 1 on both numbers, and the
 * Hessian's negative. */
struct curve {
  double gradient[2], hessian[3]; /* of intercept, of both, of slope */
  double value;
};

static struct curve curve_at(size_t n, const double *share, const bool *is_at, const bool *skip,
                             double intercept, double slope)
{
  double off = slope - 1;
  struct curve c = {{-intercept, -off}, {1, 0, 1}, -0.5 * (intercept * intercept + off * off)};
  for (size_t i = 0; i < n; i++) {
    if (skip != NULL && skip[i]) continue;
    double x = isnan(share[i]) ? 0 : logit(share[i]), u = intercept + slope * x,
           p = gpnn_logistic_sigmoid(u);
    double error = (is_at[i] ? 1 : 0) - p, weight = p * (1 - p);
    c.value -= gpnn_logistic_softplus(u) - (is_at[i] ? u : 0);
    c.gradient[0] += error;
    c.gradient[1] += error * x;
    c.hessian[0] += weight;
    c.hessian[1] += weight * x;
    c.hessian[2] += weight * x * x;
  }
  return c;
}

void gpnn_atom_fit(size_t n, const double *share, const bool *is_at, const bool *skip,
                   struct gpnn_atom *atom)
{
  enum { MOST_STEPS = 50, MOST_HALVINGS = 30 };
  static const double precise = 1e-10;
  double intercept = 0, slope = 1;
  struct curve c = curve_at(n, share, is_at, skip, intercept, slope);
  for (int step = 0; step < MOST_STEPS; step++) {
    double determinant = c.hessian[0] * c.hessian[2] - c.hessian[1] * c.hessian[1];
    double by[2] = {(c.hessian[2] * c.gradient[0] - c.hessian[1] * c.gradient[1]) / determinant,
                    (c.hessian[0] * c.gradient[1] - c.hessian[1] * c.gradient[0]) / determinant};
    struct curve next = {.value = -INFINITY};
    double t = 1;
    for (int i = 0; i < MOST_HALVINGS; i++, t /= 2) {
      next = curve_at(n, share, is_at, skip, intercept + t * by[0], slope + t * by[1]);
      if (next.value >= c.value) break;
    }
    if (!(next.value >= c.value)) break;
    intercept += t * by[0];
    slope += t * by[1];
    bool done = next.value - c.value < precise;
    c = next;
    if (done) break;
  }
  atom->intercept = intercept;
  atom->slope = slope;
}
