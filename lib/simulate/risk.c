#include "simulate/risk.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/arrays.h"
#include "simulate/kriging.h"

/* Test points are numbered from 0, held-out points from here, so that neither depend on how many
 * there are of the other. */
static const uint64_t first_heldout = (uint64_t)1 << 31;

/* What a thread needs to score a point. */
struct workspace {
  struct gpnn_kriging *kriging;
  double *x;                        /* d: one neighbour */
  double *trend;                    /* m: the non-random part of the neighbours' responses */
  double *y;                        /* m: their responses; where those are not drawn, the trend */
  double *square;                   /* m: |x|^2 */
  double point_trend, point_square; /* the same of the point itself */
  double f, noise;                  /* there; where they are not drawn, the trend and 0 */
  struct gpnn_jitter jitter;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* Points that are simulated together. */
struct block {
  uint64_t first; /* number of the first */
  size_t n, capacity;
  double *x;       /* owned; capacity by d */
  double *offsets; /* owned; capacity by m by d */
};

/* Where the scores of a block's points are added: arrays with a row of 'n' numbers per assumption,
 * in which the block begins at 'at'.  NULL: not wanted. */
struct scores {
  size_t n, at;
  double *risk, *mse, *log_variance, *z2;
};

struct run {
  const struct gpnn_risk_options *options;
  struct gpnn_neighbours *neighbours;
  uint64_t draw;
  struct workspace *workspaces; /* owned; one per thread */
  struct block block;
};

/* ---- memory ------------------------------------------------------------------------------- */

static enum gpnn_status workspace_init(struct workspace *w, size_t m, size_t d,
                                       struct gpnn_error *err)
{
  w->arrays = GPNN_ARRAYS(GPNN_ARRAY(w->x, d, 1), GPNN_ARRAY(w->trend, m, 1),
                          GPNN_ARRAY(w->y, m, 1), GPNN_ARRAY(w->square, m, 1));
  if (w->arrays == NULL) return gpnn_fail_memory(err, "for a simulation");
  return gpnn_kriging_new(&w->kriging, m, d, err);
}

static enum gpnn_status block_init(struct block *block, const struct gpnn_risk_options *o,
                                   struct gpnn_error *err)
{
  /* Bounds memory, changes no result: about 32 MiB. */
  enum { NUMBERS = 1 << 22, MOST = 4096, LEAST = 16 };
  size_t d = o->inputs.d, numbers,
         n_points = o->n_points > o->n_heldout ? o->n_points : o->n_heldout;
  if (!gpnn_multiply(o->m, d, &numbers)) return gpnn_fail_memory(err, "for a simulation");
  size_t capacity = NUMBERS / numbers;
  capacity = capacity > MOST ? MOST : capacity < LEAST ? LEAST : capacity;
  block->capacity = capacity < n_points ? capacity : n_points;
  block->x = gpnn_alloc(block->capacity, d, sizeof *block->x);
  block->offsets = gpnn_alloc(block->capacity, numbers, sizeof *block->offsets);
  return block->x && block->offsets ? GPNN_OK : gpnn_fail_memory(err, "for a simulation");
}

static void run_release(struct run *run)
{
  for (int t = 0; run->workspaces != NULL && t < run->options->threads; t++) {
    struct workspace *w = &run->workspaces[t];
    gpnn_kriging_free(w->kriging);
    gpnn_arrays_free(w->arrays);
  }
  free(run->workspaces);
  free(run->block.x);
  free(run->block.offsets);
  gpnn_neighbours_free(run->neighbours);
}

static enum gpnn_status run_init(struct run *run, struct gpnn_error *err)
{
  const struct gpnn_risk_options *o = run->options;
  enum gpnn_status status = block_init(&run->block, o, err);
  if (status != GPNN_OK) return status;
  run->workspaces = gpnn_alloc((size_t)o->threads, 1, sizeof *run->workspaces);
  if (run->workspaces == NULL) return gpnn_fail_memory(err, "for a simulation");
  for (int t = 0; t < o->threads && status == GPNN_OK; t++)
    status = workspace_init(&run->workspaces[t], o->m, o->inputs.d, err);
  return status;
}

static enum gpnn_status results_init(struct gpnn_risk_result *s, const struct gpnn_risk_options *o,
                                     struct gpnn_error *err)
{
  s->n_assumed = o->n_assumed;
  s->n_points = o->n_points;
  s->n_heldout = o->n_heldout;
  s->m = o->m;
  size_t n = o->n_points;
  s->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(s->risk, o->n_assumed, n), GPNN_ARRAY(s->mse, o->n_assumed, n),
                  GPNN_ARRAY(s->log_variance, o->n_assumed, n), GPNN_ARRAY(s->z2, o->n_assumed, n),
                  GPNN_ARRAY(s->heldout_z2, o->n_assumed, o->n_heldout));
  return s->arrays != NULL ? GPNN_OK : gpnn_fail_memory(err, "for the results of a simulation");
}

void gpnn_risk_release(struct gpnn_risk_result *s)
{
  gpnn_arrays_free(s->arrays);
  *s = (struct gpnn_risk_result){0};
}

/* ---- responses ---------------------------------------------------------------------------- */

/* The non-random part of the response at 'x', and |x|^2. */
static double trend_at(const struct gpnn_risk_options *o, const double *x, double *square)
{
  double value = o->actual.function == NULL ? 0 : o->actual.function->value(o->inputs.d, x);
  *square = 0;
  for (size_t j = 0; j < o->inputs.d; j++) *square += x[j] * x[j];
  return value + o->actual.coefficient * *square;
}

/* Moves on to the point 'x', with the trend there and at its neighbours. */
static void set_point(struct workspace *w, const struct gpnn_risk_options *o, const double *x,
                      const double *offsets)
{
  size_t d = o->inputs.d;
  gpnn_kriging_set_neighbours(w->kriging, o->m, offsets);
  w->point_trend = trend_at(o, x, &w->point_square);
  for (size_t i = 0; i < o->m; i++) {
    for (size_t j = 0; j < d; j++) w->x[j] = x[j] + offsets[i * d + j];
    w->trend[i] = trend_at(o, w->x, &w->square[i]);
  }
}

/* Draws the responses or, if they are averaged over, sets them to their means. */
static enum gpnn_status set_responses(struct workspace *w, const struct run *run, uint64_t number,
                                      struct gpnn_error *err)
{
  const struct gpnn_risk_options *o = run->options;
  struct gpnn_rng rng;
  w->noise = 0;
  w->f = w->point_trend;
  memcpy(w->y, w->trend, o->m * sizeof *w->y);
  if (!o->drawn) return GPNN_OK;
  double f, jitter;
  gpnn_rng_init_at(&rng, o->seed, GPNN_RNG_RESPONSE, run->draw << 32 | number);
  enum gpnn_status status =
      gpnn_kriging_draw(w->kriging, &o->actual.covariance, &rng, w->y, &f, &jitter, err);
  if (status != GPNN_OK) return status;
  gpnn_jitter_note(&w->jitter, jitter > 0, jitter);
  for (size_t i = 0; i < o->m; i++) w->y[i] += w->trend[i];
  w->f += f;
  w->noise = sqrt(o->actual.covariance.noise) * gpnn_rng_normal(&rng);
  return GPNN_OK;
}

/* ---- predictions -------------------------------------------------------------------------- */

/* Scores the prediction of point 'i' of the block under assumption 'a'. */
static enum gpnn_status score(struct workspace *w, const struct gpnn_risk_options *o, size_t a,
                              const struct scores *to, size_t i, struct gpnn_error *err)
{
  const struct gpnn_assumed_model *assumed = &o->assumed[a];
  const struct gpnn_covariance *c = &assumed->covariance;
  const double *weights;
  double latent, jitter, per_draw = 1 / (double)o->n_draws, mean = 0;
  double factor = o->debias ? 1 + c->noise / ((double)o->m * c->kernelscale) : 1;
  enum gpnn_status status = gpnn_kriging_weights(w->kriging, c, &weights, &latent, &jitter, err);
  if (status != GPNN_OK) return status;
  for (size_t j = 0; j < o->m; j++)
    mean += weights[j] * (w->y[j] - assumed->coefficient * w->square[j]);
  double error = assumed->coefficient * w->point_square + factor * mean - w->f;
  double risk = error * error, mse = (error - w->noise) * (error - w->noise);
  if (!o->drawn) {
    risk += gpnn_kriging_risk(w->kriging, &o->actual.covariance, factor);
    mse = risk + o->actual.covariance.noise;
  }
  double variance = latent + c->noise, z2 = mse / variance;
  if (!isfinite(mse) || !isfinite(variance) || !isfinite(z2))
    return gpnn_fail(err, GPNN_ENUMERIC,
                     "a prediction is not finite: scales or parameters are extreme");
  size_t at = a * to->n + to->at + i;
  if (to->risk != NULL) to->risk[at] += per_draw * risk;
  if (to->mse != NULL) to->mse[at] += per_draw * mse;
  if (to->log_variance != NULL) to->log_variance[at] += per_draw * log(variance);
  to->z2[at] += per_draw * z2;
  gpnn_jitter_note(&w->jitter, jitter > 0, jitter);
  return GPNN_OK;
}

/* A block's points, and where their scores are added. */
struct scoring {
  const struct run *run;
  const struct scores *to;
};

static enum gpnn_status score_point(void *context, size_t thread, size_t i, struct gpnn_error *err)
{
  const struct scoring *scoring = context;
  const struct run *run = scoring->run;
  struct workspace *w = &run->workspaces[thread];
  const struct gpnn_risk_options *o = run->options;
  const struct block *block = &run->block;
  size_t d = o->inputs.d;
  set_point(w, o, block->x + i * d, block->offsets + i * o->m * d);
  enum gpnn_status status = set_responses(w, run, block->first + i, err);
  for (size_t a = 0; a < o->n_assumed && status == GPNN_OK; a++)
    status = score(w, o, a, scoring->to, i, err);
  return status;
}

/* ---- blocks of points --------------------------------------------------------------------- */

/* Draws the points of a block and finds their neighbours. */
static enum gpnn_status fill_block(struct run *run, struct gpnn_error *err)
{
  const struct gpnn_risk_options *o = run->options;
  struct block *block = &run->block;
  for (size_t i = 0; i < block->n; i++) {
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, o->seed, GPNN_RNG_POINT, block->first + i);
    gpnn_inputs_draw(&o->inputs, &rng, block->x + i * o->inputs.d);
  }
  return gpnn_neighbours_find(run->neighbours, block->first, block->n, block->x, block->offsets,
                              err);
}

static enum gpnn_status score_block(const struct run *run, const struct scores *to,
                                    struct gpnn_error *err)
{
  struct scoring scoring = {run, to};
  return gpnn_threads_try(run->options->threads, run->block.n, 1, score_point, &scoring, err);
}

/* Simulates the 'to->n' points from number 'first' on. */
static enum gpnn_status run_points(struct run *run, uint64_t first, struct scores *to,
                                   struct gpnn_error *err)
{
  const struct gpnn_risk_options *o = run->options;
  enum gpnn_status status = GPNN_OK;
  for (to->at = 0; to->at < to->n && status == GPNN_OK; to->at += run->block.n) {
    size_t left = to->n - to->at;
    run->block.first = first + to->at;
    run->block.n = left < run->block.capacity ? left : run->block.capacity;
    status = fill_block(run, err);
    if (status == GPNN_OK) status = score_block(run, to, err);
    if (status == GPNN_OK && o->progress != NULL) o->progress(o->context, run->block.n);
  }
  return status;
}

static enum gpnn_status run_draw(struct run *run, struct gpnn_risk_result *s,
                                 struct gpnn_error *err)
{
  const struct gpnn_risk_options *o = run->options;
  const struct gpnn_neighbours_options options = {.inputs = o->inputs,
                                                  .n = o->n,
                                                  .m = o->m,
                                                  .by_search = o->by_search,
                                                  .seed = o->seed,
                                                  .draw = run->draw,
                                                  .threads = o->threads};
  struct scores test = {.n = o->n_points,
                        .risk = s->risk,
                        .mse = s->mse,
                        .log_variance = s->log_variance,
                        .z2 = s->z2};
  struct scores heldout = {.n = o->n_heldout, .z2 = s->heldout_z2};
  gpnn_neighbours_free(run->neighbours);
  run->neighbours = NULL;
  enum gpnn_status status = gpnn_neighbours_new(&run->neighbours, &options, err);
  if (status == GPNN_OK) status = run_points(run, 0, &test, err);
  if (status == GPNN_OK) status = run_points(run, first_heldout, &heldout, err);
  return status;
}

enum gpnn_status gpnn_risk_simulate(struct gpnn_risk_result *result,
                                    const struct gpnn_risk_options *o, struct gpnn_error *err)
{
  assert(o->m > 0 && o->n_points > 0 && o->n_points <= GPNN_RISK_MOST_POINTS &&
         o->n_heldout <= GPNN_RISK_MOST_POINTS);
  const struct gpnn_function *function = o->actual.function;
  if (function != NULL && !gpnn_function_takes(function, o->inputs.d))
    return gpnn_fail(err, GPNN_EINVAL, "the function %s has %s%zu inputs, not %zu", function->name,
                     function->d > 0 ? "" : "a multiple of ",
                     function->d > 0 ? function->d : function->multiple, o->inputs.d);
  struct run run = {.options = o};
  struct gpnn_risk_result simulated = {0};
  enum gpnn_status status = results_init(&simulated, o, err);
  if (status == GPNN_OK) status = run_init(&run, err);
  for (; run.draw < o->n_draws && status == GPNN_OK; run.draw++)
    status = run_draw(&run, &simulated, err);
  for (int t = 0; t < o->threads && status == GPNN_OK; t++)
    gpnn_jitter_note(&simulated.jitter, run.workspaces[t].jitter.n, run.workspaces[t].jitter.most);
  run_release(&run);
  if (status == GPNN_OK)
    *result = simulated;
  else
    gpnn_risk_release(&simulated);
  return status;
}
