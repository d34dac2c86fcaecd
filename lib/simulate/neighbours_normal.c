/*
 * Neighbours of a point of a normal cloud, by theory (gpnn-methods(7), equations 11.3 to 11.7).
 *
 * Squared distances over s^2 are non-central chi-squared with d degrees of freedom and
 * non-centrality |x*|^2 / s^2.  Given the distance r, directions are von Mises-Fisher: their
 * density on the unit sphere is as e^(kappa w), w the cosine of the angle with -x*, kappa = r |x*|
 * / s^2.
 */
#include <math.h>

#include "simulate/neighbours_private.h"
#include "stats/chisquare.h"

/* From here down log(1 - U) has more digits than log U. */
static const double log_half = -0.69314718055994530942;

/* A point's place: squared distance from the middle in squared scales, and the direction back. */
struct place {
  size_t d;
  double lambda, norm; /* |x*|^2 / s^2; |x*|, or 0 at the middle */
  const double *x;
};

static struct place locate(const struct gpnn_inputs *inputs, const double *x)
{
  struct place place = {.d = inputs->d, .x = x};
  for (size_t j = 0; j < inputs->d; j++) {
    double scaled = x[j] / inputs->scale;
    place.lambda += scaled * scaled;
  }
  /* Nearer to the middle, no direction is preferred by any digit. */
  if (place.lambda < 1e-200) place.lambda = 0;
  place.norm = sqrt(place.lambda) * inputs->scale;
  return place;
}

/*
 * A von Mises-Fisher direction about the first axis, d > 1, by Wood's rejection (1994), in other
 * terms.  With b = (d-1) / (2 kappa + sqrt(4
 * kappa^2 + (d-1)^2)) and a uniform direction u of first coordinate v, his proposal is w = ((1 - b)
 * - (1 + b) v) / (2 D),   D = ((1 + b) - (1 - b) v) / 2, as (1 + v) / 2 is his beta variable.  Then
 * sqrt(1 - w^2) = sqrt(b (1 - v^2)) / D, so that sqrt(b) / D times the other coordinates of u
 * completes a direction; and its log probability of acceptance is (d - 1) (log(1 + q) - q), q = t /
 * (1 - t), t = (1 - b) / (1 + b) v: nothing cancels, whether kappa is 0 or huge.
 */
static void draw_direction(size_t d, double kappa, struct gpnn_rng *rng, double *direction)
{
  double order = (double)(d - 1);
  double b = order / (2 * kappa + sqrt(4 * kappa * kappa + order * order));
  double v, q;
  do {
    double squares = 0;
    gpnn_rng_normals(rng, d, direction);
    for (size_t j = 0; j < d; j++) squares += direction[j] * direction[j];
    double length = sqrt(squares);
    for (size_t j = 0; j < d; j++) direction[j] /= length;
    v = direction[0];
    double t = (1 - b) / (1 + b) * v;
    q = t / (1 - t);
  } while (order * (log1p(q) - q) < -gpnn_rng_exponential(rng));
  double twice = (1 + b) - (1 - b) * v;
  direction[0] = ((1 - b) - (1 + b) * v) / twice;
  for (size_t j = 1; j < d; j++) direction[j] *= 2 * sqrt(b) / twice;
}

/*
 * Maps the first axis to the direction -x*, in place: by the reflection that exchanges the axis
 * with -x* or with x*, whichever is farther from it, after which the first coordinate's sign is
 * right. The other coordinates' law does not mind being turned.
 */
static void turn(const struct place *place, double *direction)
{
  const double *x = place->x;
  double norm = place->norm, sign = x[0] < 0 ? -1 : 1;
  if (norm == 0) return;
  direction[0] *= sign;
  /* v = e1 + sign x / |x|, half of whose square is 1 + |x_1| / |x| */
  double dot = direction[0];
  for (size_t j = 0; j < place->d; j++) dot += sign * (x[j] / norm) * direction[j];
  dot /= 1 + fabs(x[0]) / norm;
  direction[0] -= dot;
  for (size_t j = 0; j < place->d; j++) direction[j] -= dot * sign * (x[j] / norm);
}

/* Towards the middle with probability 1 / (1 + e^(-2 kappa)), on a line. */
static void draw_side(const struct place *place, double kappa, struct gpnn_rng *rng,
                      double *direction)
{
  double back = place->x[0] > 0 ? -1 : 1;
  direction[0] = gpnn_rng_uniform(rng) * (1 + exp(-2 * kappa)) < 1 ? back : -back;
}

void gpnn_neighbours_normal(const struct gpnn_inputs *inputs, uint64_t n, size_t m, const double *x,
                            struct gpnn_rng *rng, double *offsets)
{
  struct place place = locate(inputs, x);
  struct gpnn_neighbours_order order = {.n = n};
  size_t d = inputs->d;
  double square = 0, cumulated;
  for (size_t k = 0; k < m; k++, offsets += d) {
    double log_p = gpnn_neighbours_next(&order, rng, &cumulated);
    double next = log_p < log_half
                      ? gpnn_chisquare_quantile_lower(log_p, d, place.lambda, square)
                      : gpnn_chisquare_quantile_upper(-cumulated, d, place.lambda, square);
    square = fmax(square, next);
    double kappa = sqrt(square * place.lambda), r = inputs->scale * sqrt(square);
    if (d == 1) {
      draw_side(&place, kappa, rng, offsets);
    } else {
      draw_direction(d, kappa, rng, offsets);
      turn(&place, offsets);
    }
    for (size_t j = 0; j < d; j++) offsets[j] *= r;
  }
}
