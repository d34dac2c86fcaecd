#include "simulate/neighbours.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/threads.h"
#include "search/search.h"
#include "stats/distributions/chisquare.h"

/* ---- inputs ------------------------------------------------------------------------------- */

void gpnn_inputs_draw(const struct gpnn_inputs *inputs, struct gpnn_rng *rng, double *x)
{
  if (inputs->law == GPNN_INPUTS_DISK) {
    double radius = inputs->scale * sqrt(gpnn_rng_uniform(rng));
    double angle = 2 * M_PI * gpnn_rng_uniform(rng);
    x[0] = radius * cos(angle);
    x[1] = radius * sin(angle);
  } else if (inputs->law == GPNN_INPUTS_NORMAL) {
    gpnn_rng_normals(rng, inputs->d, x);
    for (size_t j = 0; j < inputs->d; j++) x[j] *= inputs->scale;
  } else {
    for (size_t j = 0; j < inputs->d; j++) x[j] = inputs->scale * (2 * gpnn_rng_uniform(rng) - 1);
  }
}

/* ---- drawn -------------------------------------------------------------------------------- */

/*
 * Neighbours of a point, drawn without a cloud of rows (gpnn-methods-simulate(7), equations 11.3 to
 * 11.8).
 *
 * Normal inputs: squared distances over s^2 are non-central chi-squared with d degrees of freedom
 * and non-centrality |x*|^2 / s^2.  Given the distance r, directions are von Mises-Fisher: their
 * density on the unit sphere is proportional to e^(kappa w), where w is the cosine of the angle
 * with -x* and kappa = r |x*| / s^2.
 *
 * Disk, in units of its radius: rows within r of x* fill the lens that the disk shares with the
 * circle of radius r about x*; given the distance r, they are uniform on the arc of that circle
 * inside the disk.
 */

/* The order statistics of n uniform deviates, one after another. */
struct order_statistics {
  uint64_t n, taken;
  double cumulated; /* -log(1 - U_(j)) of the last */
};

/* Draws the next U: returns log U and sets '*cumulated' to -log(1 - U), each accurate where it is
 * small. */
static double next_uniform(struct order_statistics *order, struct gpnn_rng *rng, double *cumulated)
{
  order->cumulated += gpnn_rng_exponential(rng) / (double)(order->n - order->taken++);
  *cumulated = order->cumulated;
  return log(-expm1(-order->cumulated));
}

/* ---- normal inputs ------------------------------------------------------------------------ */

/* log U from here up has fewer digits than log(1 - U). */
static const double log_half = -0.69314718055994530942;

/* A point of a normal cloud, relative to the centre. */
struct position {
  size_t d;
  double lambda, norm; /* |x*|^2 / s^2; |x*|, or 0 at the centre */
  const double *x;
};

static struct position locate(const struct gpnn_inputs *inputs, const double *x)
{
  struct position position = {.d = inputs->d, .x = x};
  for (size_t j = 0; j < inputs->d; j++) {
    double scaled = x[j] / inputs->scale;
    position.lambda += scaled * scaled;
  }
  /* Closer to the centre, no direction is preferred to within rounding. */
  if (position.lambda < 1e-200) position.lambda = 0;
  position.norm = sqrt(position.lambda) * inputs->scale;
  return position;
}

/*
 * Draws a von Mises-Fisher direction about the first axis, d > 1, by the rejection method of Wood
 * (1994), rearranged.  With b = (d-1) / (2 kappa + sqrt(4 kappa^2 + (d-1)^2)) and a uniform
 * direction u of first coordinate v, his proposal is
 *   w = ((1 - b) - (1 + b) v) / (2 D),   D = ((1 + b) - (1 - b) v) / 2,
 * as (1 + v) / 2 is his beta variable.  Then sqrt(1 - w^2) = sqrt(b (1 - v^2)) / D, so that
 * sqrt(b) / D times the other coordinates of u completes a direction; and its log probability of
 * acceptance is
 *   (d - 1) (log(1 + q) - q),   q = t / (1 - t),   t = (1 - b) / (1 + b) v:
 * nothing cancels, whether kappa is 0 or huge.
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
 * with -x* or x*, whichever is farther from it.  It also rotates the other coordinates, whose
 * distribution is the same in all directions.
 */
static void reflect(const struct position *position, double *direction)
{
  const double *x = position->x;
  double norm = position->norm, sign = x[0] < 0 ? -1 : 1;
  if (norm == 0) return;
  direction[0] *= sign;
  /* v = e1 + sign x / |x|, half of whose square is 1 + |x_1| / |x| */
  double dot = direction[0];
  for (size_t j = 0; j < position->d; j++) dot += sign * (x[j] / norm) * direction[j];
  dot /= 1 + fabs(x[0]) / norm;
  direction[0] -= dot;
  for (size_t j = 0; j < position->d; j++) direction[j] -= dot * sign * (x[j] / norm);
}

/* On a line: towards the centre with probability 1 / (1 + e^(-2 kappa)). */
static void draw_side(const struct position *position, double kappa, struct gpnn_rng *rng,
                      double *direction)
{
  double inward = position->x[0] > 0 ? -1 : 1;
  direction[0] = gpnn_rng_uniform(rng) * (1 + exp(-2 * kappa)) < 1 ? inward : -inward;
}

static void draw_normal(const struct gpnn_inputs *inputs, uint64_t n, size_t m, const double *x,
                        struct gpnn_rng *rng, double *offsets)
{
  struct position position = locate(inputs, x);
  struct order_statistics order = {.n = n};
  size_t d = inputs->d;
  double square = 0, cumulated;
  for (size_t k = 0; k < m; k++, offsets += d) {
    double log_p = next_uniform(&order, rng, &cumulated);
    double next = log_p < log_half
                      ? gpnn_chisquare_quantile_lower(log_p, d, position.lambda, square)
                      : gpnn_chisquare_quantile_upper(-cumulated, d, position.lambda, square);
    square = fmax(square, next);
    double kappa = sqrt(square * position.lambda), r = inputs->scale * sqrt(square);
    if (d == 1) {
      draw_side(&position, kappa, rng, offsets);
    } else {
      draw_direction(d, kappa, rng, offsets);
      reflect(&position, offsets);
    }
    for (size_t j = 0; j < d; j++) offsets[j] *= r;
  }
}

/* ---- disk --------------------------------------------------------------------------------- */

/*
 * The lens that the unit disk shares with a circle of radius r centred 1 - gap away from its own
 * centre.  alpha and beta are half the angles between its corners, seen from the centre of that
 * circle and of the disk.
 */
struct lens {
  double area, alpha;
};

/* t - sin(2 t) / 2: the area of the segment of a unit circle that subtends the angle 2 t. */
static double segment(double t)
{
  double u = 2 * t;
  if (u > 1) return (u - sin(u)) / 2;
  double sum = 1; /* of the series, from its seventh term */
  for (int k = 7; k > 0; k--) sum = 1 - u * u / ((2 * k + 2) * (2 * k + 3)) * sum;
  return u * u * u / 12 * sum;
}

/* The angles come from the tangents of their halves, in the triangle with sides 1, r, 1 - gap. */
static struct lens lens_at(double r, double gap)
{
  if (r <= gap) return (struct lens){M_PI * r * r, M_PI};
  double p = fmax(r + gap, 0), q = fmax(2 - gap - r, 0), u = fmax(r - gap, 0), v = 2 - gap + r;
  double alpha = 2 * atan2(sqrt(p * q), sqrt(u * v)), beta = 2 * atan2(sqrt(p * u), sqrt(q * v));
  return (struct lens){r * r * segment(alpha) + segment(beta), alpha};
}

/*
 * The r, at least 'least', whose lens covers the fraction e^log_p of the disk, for a point whose
 * circle of that area reaches beyond the disk.  Newton steps on the logarithm of the area as a
 * function of log r, whose slope is the length 2 r alpha of the arc times r / area.  The lens is
 * smaller than the circle, so that exp(log_p / 2) bounds r from below; the steps start there and
 * are kept between the bounds found so far.
 */
static double invert(double log_p, double gap, double least)
{
  enum { STEPS = 200 };
  const double tolerance = 1e-15;
  double most = 2 - gap;
  least = fmax(fmax(least, exp(log_p / 2)), -gap);
  double r = least > -gap ? least : (least + most) / 2; /* a lens of no area has no logarithm */
  for (int step = 0; step < STEPS && r < most; step++) {
    struct lens lens = lens_at(r, gap);
    double change = (log_p - log(lens.area / M_PI)) * lens.area / (2 * r * r * lens.alpha);
    if (fabs(change) < tolerance) break;
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

static void draw_disk(const struct gpnn_inputs *inputs, uint64_t n, size_t m, const double *x,
                      struct gpnn_rng *rng, double *offsets)
{
  /* The distance of the edge, up to the rounding of |x*|: 1e-7 of the nearest distance among 1e18
   * rows. */
  double norm = hypot(x[0], x[1]), gap = (inputs->scale - norm) / inputs->scale, r = 0, cumulated;
  /* direction of the centre; at the centre, any */
  double c = norm > 0 ? -x[0] / norm : 1, s = norm > 0 ? -x[1] / norm : 0;
  struct order_statistics order = {.n = n};
  for (size_t k = 0; k < m; k++, offsets += 2) {
    double log_p = next_uniform(&order, rng, &cumulated);
    r = fmax(r, exp(log_p / 2) <= gap ? exp(log_p / 2) : invert(log_p, gap, r));
    double angle = lens_at(r, gap).alpha * (2 * gpnn_rng_uniform(rng) - 1);
    offsets[0] = inputs->scale * r * (cos(angle) * c - sin(angle) * s);
    offsets[1] = inputs->scale * r * (cos(angle) * s + sin(angle) * c);
  }
}

/* Draws the 'm' nearest of 'n' rows to 'x' as gpnn_neighbours_find() says; of normal inputs or of a
 * disk. */
static void draw_neighbours(const struct gpnn_inputs *inputs, uint64_t n, size_t m, const double *x,
                            struct gpnn_rng *rng, double *offsets)
{
  if (inputs->law == GPNN_INPUTS_DISK)
    draw_disk(inputs, n, m, x, rng, offsets);
  else
    draw_normal(inputs, n, m, x, rng, offsets);
}

/* ---- drawn or found ----------------------------------------------------------------------- */

/* What a thread takes at a time. */
enum { ROWS_AT_ONCE = 1024, POINTS_AT_ONCE = 4 };

struct gpnn_neighbours {
  struct gpnn_neighbours_options options;
  uint64_t seed;              /* of this draw: a hash of the options' seed and draw */
  double *rows;               /* owned: the cloud, n by d; NULL: none */
  struct gpnn_search *search; /* owned: over the cloud, or NULL */
};

/* ---- search in a cloud -------------------------------------------------------------------- */

/* Each row has its own generator, so that threads do not matter. */
static void draw_row(void *context, size_t thread, size_t row)
{
  const struct gpnn_neighbours *neighbours = context;
  const struct gpnn_inputs *inputs = &neighbours->options.inputs;
  struct gpnn_rng rng;
  (void)thread;
  gpnn_rng_init_at(&rng, neighbours->seed, GPNN_RNG_CLOUD, row);
  gpnn_inputs_draw(inputs, &rng, neighbours->rows + row * inputs->d);
}

static enum gpnn_status make_cloud(struct gpnn_neighbours *neighbours, struct gpnn_error *err)
{
  const struct gpnn_neighbours_options *options = &neighbours->options;
  struct gpnn_search_options wanted = GPNN_SEARCH_OPTIONS_INIT;
  wanted.recall = 1;
  wanted.brief = true; /* there is nothing to tune at this recall */
  wanted.neighbours = options->m;
  wanted.seed = neighbours->seed;
  wanted.threads = options->threads;
  if (options->n <= SIZE_MAX)
    neighbours->rows = gpnn_alloc((size_t)options->n, options->inputs.d, sizeof *neighbours->rows);
  if (neighbours->rows == NULL) return gpnn_fail_memory(err, "for a cloud of training rows");
  gpnn_threads_each(options->threads, (size_t)options->n, ROWS_AT_ONCE, draw_row, neighbours);
  return gpnn_search_build(&neighbours->search, (size_t)options->n, options->inputs.d,
                           neighbours->rows, &wanted, err);
}

/* Writes the rows found minus their points. */
static void subtract(const struct gpnn_neighbours *neighbours, size_t n_points, const double *x,
                     const int64_t *found, double *offsets)
{
  size_t d = neighbours->options.inputs.d, m = neighbours->options.m;
  for (size_t i = 0; i < n_points; i++)
    for (size_t k = 0; k < m; k++) {
      const double *row = neighbours->rows + (size_t)found[i * m + k] * d;
      for (size_t j = 0; j < d; j++) *offsets++ = row[j] - x[i * d + j];
    }
}

static enum gpnn_status search_cloud(const struct gpnn_neighbours *neighbours, size_t n_points,
                                     const double *x, double *offsets, struct gpnn_error *err)
{
  size_t m = neighbours->options.m;
  int64_t *found = gpnn_alloc(n_points, m, sizeof *found);
  double *distances = gpnn_alloc(n_points, m, sizeof *distances);
  enum gpnn_status status = GPNN_OK;
  if (found == NULL || distances == NULL)
    status = gpnn_fail_memory(err, "for nearest neighbours");
  else
    status = gpnn_search_query(neighbours->search, n_points, x, m, found, distances,
                               neighbours->options.threads, err);
  if (status == GPNN_OK) subtract(neighbours, n_points, x, found, offsets);
  free(found);
  free(distances);
  return status;
}

/* ---- either way --------------------------------------------------------------------------- */

static enum gpnn_status check(const struct gpnn_neighbours_options *options, struct gpnn_error *err)
{
  const struct gpnn_inputs *inputs = &options->inputs;
  if (options->n == 0 || options->n > GPNN_NEIGHBOURS_MOST)
    return gpnn_fail(err, GPNN_EINVAL, "the number of training rows is not in 1 to %llu",
                     (unsigned long long)GPNN_NEIGHBOURS_MOST);
  if (options->m > options->n)
    return gpnn_fail(err, GPNN_EINVAL, "%zu neighbours are more than the %llu training rows",
                     options->m, (unsigned long long)options->n);
  if (inputs->d == 0) return gpnn_fail(err, GPNN_EINVAL, "a row has at least 1 input");
  if (inputs->law == GPNN_INPUTS_DISK && inputs->d != 2)
    return gpnn_fail(err, GPNN_EINVAL, "a disk has 2 inputs, not %zu", inputs->d);
  if (!(inputs->scale > 0) || isinf(inputs->scale))
    return gpnn_fail(err, GPNN_EINVAL, "the scale of the inputs is not a positive number");
  if (inputs->law == GPNN_INPUTS_CUBE && !options->by_search)
    return gpnn_fail(err, GPNN_EINVAL, "neighbours in a cube can only be found by search");
  return GPNN_OK;
}

enum gpnn_status gpnn_neighbours_new(struct gpnn_neighbours **neighbours,
                                     const struct gpnn_neighbours_options *options,
                                     struct gpnn_error *err)
{
  unsigned char draw[8];
  enum gpnn_status status = check(options, err);
  if (status != GPNN_OK) return status;
  assert(options->threads > 0);
  struct gpnn_neighbours *made = calloc(1, sizeof *made);
  if (made == NULL) return gpnn_fail_memory(err, "for nearest neighbours");
  made->options = *options;
  gpnn_store_u64(draw, options->draw);
  made->seed = gpnn_rng_hash(options->seed, draw, sizeof draw);
  if (options->by_search) status = make_cloud(made, err);
  if (status == GPNN_OK)
    *neighbours = made;
  else
    gpnn_neighbours_free(made);
  return status;
}

/* Points whose neighbours are drawn. */
struct drawing {
  const struct gpnn_neighbours *neighbours;
  uint64_t first;
  const double *x;
  double *offsets;
};

static void draw_point(void *context, size_t thread, size_t i)
{
  const struct drawing *drawing = context;
  const struct gpnn_neighbours_options *options = &drawing->neighbours->options;
  size_t d = options->inputs.d;
  struct gpnn_rng rng;
  (void)thread;
  gpnn_rng_init_at(&rng, drawing->neighbours->seed, GPNN_RNG_NEAR, drawing->first + i);
  draw_neighbours(&options->inputs, options->n, options->m, drawing->x + i * d, &rng,
                  drawing->offsets + i * options->m * d);
}

enum gpnn_status gpnn_neighbours_find(const struct gpnn_neighbours *neighbours, uint64_t first,
                                      size_t n_points, const double *x, double *offsets,
                                      struct gpnn_error *err)
{
  const struct gpnn_neighbours_options *options = &neighbours->options;
  struct drawing drawing = {neighbours, first, x, offsets};
  if (options->by_search) return search_cloud(neighbours, n_points, x, offsets, err);
  gpnn_threads_each(options->threads, n_points, POINTS_AT_ONCE, draw_point, &drawing);
  return GPNN_OK;
}

void gpnn_neighbours_free(struct gpnn_neighbours *neighbours)
{
  if (neighbours == NULL) return;
  gpnn_search_free(neighbours->search);
  free(neighbours->rows);
  free(neighbours);
}
