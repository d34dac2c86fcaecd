#include "simulate/synthetic.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct gpnn_synthetic {
  struct gpnn_synthetic_options options;
  size_t n_functions;
  size_t n_drawn;                     /* EXACT: rows of a draw, with those of the last tile */
  double *drawn;                      /* EXACT: the values of all rows, n_functions by n_drawn */
  struct gpnn_features **features;    /* FEATURES: n_functions of them */
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

/* The seed of function 'c': functions are independent, and the first has the seed of the table. */
static uint64_t seed_of(const struct gpnn_synthetic_options *o, size_t c)
{
  struct gpnn_rng rng;
  gpnn_rng_init_at(&rng, o->seed, GPNN_RNG_FUNCTION, c);
  return c == 0 ? o->seed : gpnn_rng_next(&rng);
}

/* Deviates of all functions and rows. */
static void draw_deviates(struct gpnn_synthetic *s)
{
  for (size_t c = 0; c < s->n_functions; c++) {
    uint64_t seed = seed_of(&s->options, c);
    for (size_t i = 0; i < s->n_drawn; i++) {
      struct gpnn_rng rng;
      gpnn_rng_init_at(&rng, seed, GPNN_RNG_RESPONSE, i);
      s->drawn[c * s->n_drawn + i] = gpnn_rng_normal(&rng);
    }
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
  s->n_drawn = n;
  s->drawn = gpnn_alloc(s->n_functions, n, sizeof *s->drawn);
  enum gpnn_status status = GPNN_OK;
  if (x == NULL || s->drawn == NULL) {
    status = gpnn_fail_memory(err, "for the rows");
  } else {
    draw_inputs(o, GPNN_RNG_CLOUD, 0, n, x);
    draw_deviates(s);
    status = gpnn_process_draw(&o->process, n, o->inputs.d, x, o->threads, s->n_functions, s->drawn,
                               err);
  }
  free(x);
  return status;
}

static enum gpnn_status draw_features(struct gpnn_synthetic *s, struct gpnn_error *err)
{
  const struct gpnn_synthetic_options *o = &s->options;
  s->features = calloc(s->n_functions, sizeof(struct gpnn_features *));
  enum gpnn_status status = GPNN_OK;
  if (s->features == NULL) status = gpnn_fail_memory(err, "for random features");
  for (size_t c = 0; c < s->n_functions && status == GPNN_OK; c++)
    status = gpnn_features_new(&s->features[c], &o->process, o->n_features, o->inputs.d,
                               seed_of(o, c), err);
  return status;
}

static enum gpnn_status prepare(struct gpnn_synthetic *s, struct gpnn_error *err)
{
  const struct gpnn_synthetic_options *o = &s->options;
  if (o->inputs.law == GPNN_INPUTS_DISK && o->inputs.d != 2)
    return gpnn_fail(err, GPNN_EINVAL, "a disk has 2 dimensions, not %zu", o->inputs.d);
  switch (o->kind) {
  case GPNN_SYNTHETIC_FUNCTION:
    assert(gpnn_function_takes(o->function, o->inputs.d) && s->n_functions == 1);
    return GPNN_OK;
  case GPNN_SYNTHETIC_EXACT:
    return draw_exact(s, err);
  case GPNN_SYNTHETIC_FEATURES:
    return draw_features(s, err);
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
  new->n_functions = gpnn_observation_functions(&options->observation);
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

bool gpnn_synthetic_has_exposure(const struct gpnn_synthetic *s)
{
  return s->options.exposure_range > 1;
}

size_t gpnn_synthetic_rows_each(const struct gpnn_synthetic *s)
{
  return s->options.kind == GPNN_SYNTHETIC_LOCAL ? s->options.m + 1 : 1;
}

void gpnn_synthetic_free(struct gpnn_synthetic *s)
{
  if (s == NULL) return;
  free(s->drawn);
  for (size_t c = 0; c < s->n_functions && s->features != NULL; c++)
    gpnn_features_free(s->features[c]);
  free(s->features);
  gpnn_neighbours_free(s->neighbours);
  free(s);
}

/* ---- rows --------------------------------------------------------------------------------- */

/* Copies the values of function 'c' at 'n' rows to their places among those of all functions. */
static void put_values(const struct gpnn_synthetic *s, size_t c, size_t n, const double *values,
                       double *f)
{
  for (size_t i = 0; i < n; i++) f[i * s->n_functions + c] = values[i];
}

/* Inputs and functions of rows that share their functions. */
static enum gpnn_status make_rows(const struct gpnn_synthetic *s, uint64_t first, size_t n,
                                  double *x, double *f, struct gpnn_error *err)
{
  const struct gpnn_synthetic_options *o = &s->options;
  size_t d = o->inputs.d;
  draw_inputs(o, GPNN_RNG_CLOUD, first, n, x);
  if (o->kind == GPNN_SYNTHETIC_FUNCTION) {
    for (size_t i = 0; i < n; i++) f[i] = o->function->value(d, x + i * d);
  } else if (o->kind == GPNN_SYNTHETIC_EXACT) {
    assert(first + n <= o->n);
    for (size_t c = 0; c < s->n_functions; c++)
      put_values(s, c, n, s->drawn + c * s->n_drawn + first, f);
  } else {
    double *values = gpnn_alloc(n, 1, sizeof *values);
    if (values == NULL) return gpnn_fail_memory(err, "for a block of rows");
    for (size_t c = 0; c < s->n_functions; c++) {
      gpnn_features_values(s->features[c], n, x, values);
      put_values(s, c, n, values, f);
    }
    free(values);
  }
  return GPNN_OK;
}

/* A point and its neighbours.  The process is drawn at their offsets from the point, which differ
 * even where the neighbours' coordinates are the same to within rounding. */
static enum gpnn_status make_point(const struct gpnn_synthetic *s, uint64_t number, double *x,
                                   double *f, struct gpnn_error *err)
{
  const struct gpnn_synthetic_options *o = &s->options;
  size_t d = o->inputs.d, n_rows = o->m + 1, n_functions = s->n_functions;
  double *point = gpnn_alloc(d, 1, sizeof *point);
  double *values = gpnn_alloc(n_functions, n_rows, sizeof *values);
  enum gpnn_status status = GPNN_OK;
  if (point == NULL || values == NULL) {
    status = gpnn_fail_memory(err, "for a point");
  } else {
    draw_inputs(o, GPNN_RNG_POINT, number, 1, point);
    memset(x, 0, d * sizeof *x);
    status = gpnn_neighbours_find(s->neighbours, number, 1, point, x + d, err);
  }
  if (status == GPNN_OK) {
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, o->seed, GPNN_RNG_RESPONSE, number);
    for (size_t i = 0; i < n_functions * n_rows; i++) values[i] = gpnn_rng_normal(&rng);
    status = gpnn_process_draw(&o->process, n_rows, d, x, 1, n_functions, values, err);
  }
  for (size_t c = 0; c < n_functions && status == GPNN_OK; c++)
    put_values(s, c, n_rows, values + c * n_rows, f);
  for (size_t i = 0; i < n_rows && status == GPNN_OK; i++)
    for (size_t j = 0; j < d; j++) x[i * d + j] += point[j];
  free(point);
  free(values);
  return status;
}

static bool are_finite(size_t n, const double *values)
{
  for (size_t i = 0; i < n; i++)
    if (!isfinite(values[i])) return false;
  return true;
}

static double draw_exposure(const struct gpnn_synthetic *s, struct gpnn_rng *rng)
{
  if (!gpnn_synthetic_has_exposure(s)) return 1;
  return exp((2 * gpnn_rng_uniform(rng) - 1) * log(s->options.exposure_range));
}

/* Draws exposures and targets of all rows. */
static void observe(const struct gpnn_synthetic *s, uint64_t first, size_t n,
                    const struct gpnn_synthetic_rows *rows)
{
  const struct gpnn_synthetic_options *o = &s->options;
  size_t each = gpnn_synthetic_rows_each(s);
  for (size_t i = 0; i < n; i++) {
    struct gpnn_rng target, exposure;
    gpnn_rng_init_at(&target, o->seed, GPNN_RNG_NOISE, first + i);
    gpnn_rng_init_at(&exposure, o->seed, GPNN_RNG_EXPOSURE, first + i);
    for (size_t r = i * each; r < (i + 1) * each; r++) {
      double *truth = rows->truth + r * s->n_functions;
      rows->exposure[r] = draw_exposure(s, &exposure);
      gpnn_observation_truth(&o->observation, rows->exposure[r], truth);
      rows->y[r] = gpnn_observation_draw(&o->observation, truth, &target);
    }
  }
}

static enum gpnn_status check(const struct gpnn_synthetic *s, size_t n_rows,
                              const struct gpnn_synthetic_rows *rows, struct gpnn_error *err)
{
  bool finite = are_finite(n_rows * s->options.inputs.d, rows->x) &&
                are_finite(n_rows * s->n_functions, rows->truth);
  if (finite && are_finite(n_rows, rows->y)) return GPNN_OK;
  bool counts = gpnn_observation_counts(&s->options.observation);
  return gpnn_fail(err, GPNN_ENUMERIC, "a value is not finite%s: scales or parameters are extreme",
                   counts ? ", or the expectation of a count is above 1e15" : "");
}

enum gpnn_status gpnn_synthetic_make(const struct gpnn_synthetic *s, uint64_t first, size_t n,
                                     const struct gpnn_synthetic_rows *rows, struct gpnn_error *err)
{
  const struct gpnn_synthetic_options *o = &s->options;
  enum gpnn_status status = GPNN_OK;
  size_t each = gpnn_synthetic_rows_each(s), n_inputs = n * each * o->inputs.d;
  if (o->kind != GPNN_SYNTHETIC_LOCAL) status = make_rows(s, first, n, rows->x, rows->truth, err);
  for (size_t i = 0; i < n && o->kind == GPNN_SYNTHETIC_LOCAL && status == GPNN_OK; i++)
    status = make_point(s, first + i, rows->x + i * each * o->inputs.d,
                        rows->truth + i * each * s->n_functions, err);
  if (status != GPNN_OK) return status;
  observe(s, first, n, rows);
  for (size_t i = 0; i < n_inputs && o->warp.law != GPNN_WARP_NONE; i++)
    rows->x[i] = gpnn_warp_value(&o->warp, rows->x[i]);
  return check(s, n * each, rows, err);
}
