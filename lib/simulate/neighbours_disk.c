/*
 * Neighbours of a point of a uniform disk, by theory (gpnn-methods(7), equation 11.8).
 *
 * In units of the disk's radius, rows within r of x* fill the lens that the disk shares with the
 * circle of radius r about x*; given the distance r, they lie anywhere on the arc of that circle
 * inside the disk.
 */
#include <math.h>

#include "simulate/neighbours_private.h"

static const double pi = 3.14159265358979323846;

/*
 * A lens between the unit circle and one of radius r whose centre is 1 - gap away, where they
 * cross. alpha and beta are half the angles that its corners are apart, seen from the centre of the
 * small circle and of the unit one.
 */
struct lens {
  double area, alpha;
};

/* t - sin(2 t) / 2, the area that a chord seen under the angle 2 t cuts off a unit circle. */
static double segment(double t)
{
  double u = 2 * t;
  if (u > 1) return (u - sin(u)) / 2;
  double sum = 1; /* of the series, from its seventh term */
  for (int k = 7; k > 0; k--) sum = 1 - u * u / ((2 * k + 2) * (2 * k + 3)) * sum;
  return u * u * u / 12 * sum;
}

/* Angles by the tangents of their halves in the triangle of sides 1, r and 1 - gap. */
static struct lens lens_at(double r, double gap)
{
  if (r <= gap) return (struct lens){pi * r * r, pi};
  double p = fmax(r + gap, 0), q = fmax(2 - gap - r, 0), u = fmax(r - gap, 0), v = 2 - gap + r;
  double alpha = 2 * atan2(sqrt(p * q), sqrt(u * v)), beta = 2 * atan2(sqrt(p * u), sqrt(q * v));
  return (struct lens){r * r * segment(alpha) + segment(beta), alpha};
}

/*
 * The r whose lens has the share e^log_p of the disk, at least 'least', for a point that the circle
 * of this area about it leaves the disk at: by Newton's steps on the log of the area as a function
 * of log r, whose slope is the arc's length 2 r alpha times r over the area.  As r sqrt(pi) bounds
 * the root of the area they start from the left, and are kept between what is known of the root.
 */
static double invert(double log_p, double gap, double least)
{
  enum { STEPS = 200 };
  const double near = 1e-15;
  double most = 2 - gap;
  least = fmax(fmax(least, exp(log_p / 2)), -gap);
  double r = least > -gap ? least : (least + most) / 2; /* a lens of no area has no logarithm */
  for (int step = 0; step < STEPS && r < most; step++) {
    struct lens lens = lens_at(r, gap);
    double change = (log_p - log(lens.area / pi)) * lens.area / (2 * r * r * lens.alpha);
    if (fabs(change) < near) break;
    if (change > 0)
      least = r;
    else
      most = r;
    r *= exp(change);
    if (!(r > least && r < most)) r = (least + most) / 2;
    if (r <= least) break;
  }
  return fmin(r, most);
}

void gpnn_neighbours_disk(const struct gpnn_inputs *inputs, uint64_t n, size_t m, const double *x,
                          struct gpnn_rng *rng, double *offsets)
{
  /* How far the edge is: to the last digit of |x*|, 1e-7 of the distance of the nearest of 1e18. */
  double norm = hypot(x[0], x[1]), gap = (inputs->scale - norm) / inputs->scale, r = 0, cumulated;
  /* towards the middle; in the middle, anywhere */
  double c = norm > 0 ? -x[0] / norm : 1, s = norm > 0 ? -x[1] / norm : 0;
  struct gpnn_neighbours_order order = {.n = n};
  for (size_t k = 0; k < m; k++, offsets += 2) {
    double log_p = gpnn_neighbours_next(&order, rng, &cumulated);
    r = fmax(r, exp(log_p / 2) <= gap ? exp(log_p / 2) : invert(log_p, gap, r));
    double angle = lens_at(r, gap).alpha * (2 * gpnn_rng_uniform(rng) - 1);
    offsets[0] = inputs->scale * r * (cos(angle) * c - sin(angle) * s);
    offsets[1] = inputs->scale * r * (cos(angle) * s + sin(angle) * c);
  }
}
