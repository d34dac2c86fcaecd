#include "simulate/synthetic.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct gpnn_synthetic {
  struct gpnn_synthetic_options options;
  double *drawn;                      /* EXACT: the values of all rows */
  struct gpnn_features *features;     /* FEATURES */
  struct gpnn_neighbours *neighbours; /* LOCAL */
};

/* ---- warps -------------------------------------------------------------------------------- */

double gpnn_warp_value(const struct gpnn_warp *warp, double x)
{
  switch (warp->law) {
  case GPNN_WARP_NEGATIVE:
    return x < 0 ? (1 + warp->gamma) * x : x;
  case GPNN_WARP_POWER:
    return x > 0 ? pow(x, 1 + warp->gamma) : x;
  case GPNN_WARP_CUBIC:
    return x + warp->gamma * x * x * x;
  case GPNN_WARP_NONE:
    break;
  }
  return x;
}

/* ---- functions ---------------------------------------------------------------------------- */

static void draw_inputs(const struct gpnn_synthetic_options *o, enum gpnn_rng_purpose purpose,
                        uint64_t first, size_t n, double *x)
{
  for (size_t i = 0; i < n; i++) {
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, o->seed, purpose, first + i);
    gpnn_inputs_draw(&o->inputs, &rng, x + i * o->inputs.d);
  }
}

/* Draws the process at all rows and at those that would complete the last tile, so that no value
 * depends on the number of rows. */
static enum gpnn_status draw_exact(struct gpnn_synthetic *s, struct gpnn_error *err)
{
  const struct gpnn_synthetic_options *o = &s->options;
  if (o->n > GPNN_PROCESS_MOST)
    return gpnn_fail(err, GPNN_EINVAL,
                     "an exact Gaussian process has at most %d rows (which take 4 GiB), not %llu: "
                     "draw it by features",
                     (int)GPNN_PROCESS_MOST, (unsigned long long)o->n);
  size_t n = ((size_t)o->n + GPNN_PROCESS_TILE - 1) / GPNN_PROCESS_TILE * GPNN_PROCESS_TILE;
  double *x = gpnn_alloc(n, o->inputs.d, sizeof *x);
  s->drawn = gpnn_alloc(n, 1, sizeof *s->drawn);
  enum gpnn_status status = GPNN_OK;
  if (x == NULL || s->drawn == NULL) {
    status = gpnn_fail_memory(err, "for the rows");
  } else {
    draw_inputs(o, GPNN_RNG_CLOUD, 0, n, x);
    for (size_t i = 0; i < n; i++) {
      struct gpnn_rng rng;
      gpnn_rng_init_at(&rng, o->seed, GPNN_RNG_RESPONSE, i);
      s->drawn[i] = gpnn_rng_normal(&rng);
    }
    status = gpnn_process_draw(&o->process, n, o->inputs.d, x, o->threads, 1, s->drawn, err);
  }
  free(x);
  return status;
}

static enum gpnn_status prepare(struct gpnn_synthetic *s, struct gpnn_error *err)
{
  const struct gpnn_synthetic_options *o = &s->options;
  if (o->inputs.law == GPNN_INPUTS_DISK && o->inputs.d != 2)
    return gpnn_fail(err, GPNN_EINVAL, "a disk has 2 dimensions, not %zu", o->inputs.d);
  switch (o->kind) {
  case GPNN_SYNTHETIC_FUNCTION:
    assert(gpnn_function_takes(o->function, o->inputs.d));
    return GPNN_OK;
  case GPNN_SYNTHETIC_EXACT:
    return draw_exact(s, err);
  case GPNN_SYNTHETIC_FEATURES:
    return gpnn_features_new(&s->features, &o->process, o->n_features, o->inputs.d, o->seed, err);
  case GPNN_SYNTHETIC_LOCAL:
    break;
  }
  /* One thread: blocks of points are already shared out. */
  struct gpnn_neighbours_options options = {
      .inputs = o->inputs, .n = o->n, .m = o->m, .seed = o->seed, .threads = 1};
  return gpnn_neighbours_new(&s->neighbours, &options, err);
}

enum gpnn_status gpnn_synthetic_new(struct gpnn_synthetic **synthetic,
                                    const struct gpnn_synthetic_options *options,
                                    struct gpnn_error *err)
{
  struct gpnn_synthetic *new = calloc(1, sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "for synthetic rows");
  new->options = *options;
  enum gpnn_status status = prepare(new, err);
  if (status == GPNN_OK)
    *synthetic = new;
  else
    gpnn_synthetic_free(new);
  return status;
}

const struct gpnn_synthetic_options *gpnn_synthetic_given(const struct gpnn_synthetic *s)
{
  return &s->options;
}

size_t gpnn_synthetic_rows_each(const struct gpnn_synthetic *s)
{
  return s->options.kind == GPNN_SYNTHETIC_LOCAL ? s->options.m + 1 : 1;
}

void gpnn_synthetic_free(struct gpnn_synthetic *s)
{
  if (s == NULL) return;
  free(s->drawn);
  gpnn_features_free(s->features);
  gpnn_neighbours_free(s->neighbours);
  free(s);
}

/* ---- rows --------------------------------------------------------------------------------- */

/* Inputs and function of rows that share one function. */
static void make_rows(const struct gpnn_synthetic *s, uint64_t first, size_t n, double *x,
                      double *f)
{
  const struct gpnn_synthetic_options *o = &s->options;
  size_t d = o->inputs.d;
  draw_inputs(o, GPNN_RNG_CLOUD, first, n, x);
  if (o->kind == GPNN_SYNTHETIC_FUNCTION) {
    for (size_t i = 0; i < n; i++) f[i] = o->function->value(d, x + i * d);
  } else if (o->kind == GPNN_SYNTHETIC_EXACT) {
    assert(first + n <= o->n);
    memcpy(f, s->drawn + first, n * sizeof *f);
  } else {
    gpnn_features_values(s->features, n, x, f);
  }
}

/* A point and its neighbours.  The process is drawn at their offsets from the point, which differ
 * even where the neighbours' coordinates are the same to within rounding. */
static enum gpnn_status make_point(const struct gpnn_synthetic *s, uint64_t number, double *x,
                                   double *f, struct gpnn_error *err)
{
  const struct gpnn_synthetic_options *o = &s->options;
  size_t d = o->inputs.d, n_rows = o->m + 1;
  double *point = gpnn_alloc(d, 1, sizeof *point);
  if (point == NULL) return gpnn_fail_memory(err, "for a point");
  draw_inputs(o, GPNN_RNG_POINT, number, 1, point);
  memset(x, 0, d * sizeof *x);
  enum gpnn_status status = gpnn_neighbours_find(s->neighbours, number, 1, point, x + d, err);
  if (status == GPNN_OK) {
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, o->seed, GPNN_RNG_RESPONSE, number);
    for (size_t i = 0; i < n_rows; i++) f[i] = gpnn_rng_normal(&rng);
    status = gpnn_process_draw(&o->process, n_rows, d, x, 1, 1, f, err);
  }
  for (size_t i = 0; i < n_rows; i++)
    for (size_t j = 0; j < d; j++) x[i * d + j] += point[j];
  free(point);
  return status;
}

static bool are_finite(size_t n, const double *values)
{
  for (size_t i = 0; i < n; i++)
    if (!isfinite(values[i])) return false;
  return true;
}

/* Adds noise to all rows and warps their inputs. */
static enum gpnn_status finish(const struct gpnn_synthetic *s, uint64_t first, size_t n, double *x,
                               const double *f, double *y, struct gpnn_error *err)
{
  const struct gpnn_synthetic_options *o = &s->options;
  size_t each = gpnn_synthetic_rows_each(s), n_inputs = n * each * o->inputs.d;
  for (size_t i = 0; i < n; i++) {
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, o->seed, GPNN_RNG_NOISE, first + i);
    for (size_t r = i * each; r < (i + 1) * each; r++)
      y[r] = f[r] + gpnn_noise_draw(&o->noise, &rng);
  }
  for (size_t i = 0; i < n_inputs && o->warp.law != GPNN_WARP_NONE; i++)
    x[i] = gpnn_warp_value(&o->warp, x[i]);
  if (are_finite(n_inputs, x) && are_finite(n * each, y)) return GPNN_OK;
  return gpnn_fail(err, GPNN_ENUMERIC, "a value is not finite: scales or parameters are extreme");
}

enum gpnn_status gpnn_synthetic_make(const struct gpnn_synthetic *s, uint64_t first, size_t n,
                                     double *x, double *f, double *y, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  size_t each = gpnn_synthetic_rows_each(s);
  if (s->options.kind != GPNN_SYNTHETIC_LOCAL) make_rows(s, first, n, x, f);
  for (size_t i = 0; i < n && s->options.kind == GPNN_SYNTHETIC_LOCAL && status == GPNN_OK; i++)
    status = make_point(s, first + i, x + i * each * s->options.inputs.d, f + i * each, err);
  return status == GPNN_OK ? finish(s, first, n, x, f, y, err) : status;
}
