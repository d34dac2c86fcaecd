/* Products of densities some of which are Student's t, as the Student's t that is closest. */
#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "combine/combine_private.h"
#include "stats/student.h"

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

/* ---- the density ---------------------------------------------------------------------------- */

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

/* ---- Student's t ---------------------------------------------------------------------------- */

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

bool gpnn_combine_density(const struct product *product, struct gpnn_combined *result)
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
