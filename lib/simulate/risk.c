#include "simulate/risk.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

/* Test points are numbered from 0, those held out from here: neither depends on how many the others
 * are. */
static const uint64_t first_held = (uint64_t)1 << 31;

/* What one thread needs for a point: of the neighbours, and of itself. */
struct place {
  struct gpnn_kriging *weights;
  double *x;      /* d: a neighbour */
  double *known;  /* m: the part of the truth that is no process */
  double *y;      /* m: the responses, or what is known of them */
  double *square; /* m: |x|^2 */
  double known_here, square_here;
  double f, noise; /* drawn; or what is known, and 0 */
  struct gpnn_jitter jitter;
};

/* Points that are simulated at a time. */
struct block {
  uint64_t first; /* number of the first */
  size_t n, room;
  double *x;       /* owned; room by d */
  double *offsets; /* owned; room by m by d */
};

/* Where the results of a block's points go: rows of 'n' numbers, an assumption each, of which the
 * block's begin at 'at'.  What is NULL is not kept. */
struct target {
  size_t n, at;
  double *risk, *mse, *log_variance, *z2;
};

struct run {
  const struct gpnn_simulate_options *options;
  struct gpnn_neighbours *near;
  uint64_t draw;
  struct place *places; /* owned; one a thread */
  struct block block;
};

/* ---- room --------------------------------------------------------------------------------- */

static enum gpnn_status place_init(struct place *place, size_t m, size_t d, struct gpnn_error *err)
{
  place->x = gpnn_alloc(d, 1, sizeof *place->x);
  place->known = gpnn_alloc(m, 1, sizeof *place->known);
  place->y = gpnn_alloc(m, 1, sizeof *place->y);
  place->square = gpnn_alloc(m, 1, sizeof *place->square);
  if (!place->x || !place->known || !place->y || !place->square)
    return gpnn_fail_memory(err, "for a simulation");
  return gpnn_kriging_new(&place->weights, m, d, err);
}

static enum gpnn_status block_init(struct block *block, const struct gpnn_simulate_options *o,
                                   struct gpnn_error *err)
{
  /* Bounds memory, changes no result: about 32 MiB. */
  enum { NUMBERS = 1 << 22, MOST = 4096, LEAST = 16 };
  size_t d = o->inputs.d, numbers, more = o->n_points > o->n_held ? o->n_points : o->n_held;
  if (!gpnn_multiply(o->m, d, &numbers)) return gpnn_fail_memory(err, "for a simulation");
  size_t room = NUMBERS / numbers;
  room = room > MOST ? MOST : room < LEAST ? LEAST : room;
  block->room = room < more ? room : more;
  block->x = gpnn_alloc(block->room, d, sizeof *block->x);
  block->offsets = gpnn_alloc(block->room, numbers, sizeof *block->offsets);
  return block->x && block->offsets ? GPNN_OK : gpnn_fail_memory(err, "for a simulation");
}

static void run_release(struct run *run)
{
  for (int t = 0; run->places != NULL && t < run->options->threads; t++) {
    struct place *place = &run->places[t];
    gpnn_kriging_free(place->weights);
    free(place->x);
    free(place->known);
    free(place->y);
    free(place->square);
  }
  free(run->places);
  free(run->block.x);
  free(run->block.offsets);
  gpnn_neighbours_free(run->near);
}

static enum gpnn_status run_init(struct run *run, struct gpnn_error *err)
{
  const struct gpnn_simulate_options *o = run->options;
  enum gpnn_status status = block_init(&run->block, o, err);
  if (status != GPNN_OK) return status;
  run->places = gpnn_alloc((size_t)o->threads, 1, sizeof *run->places);
  if (run->places == NULL) return gpnn_fail_memory(err, "for a simulation");
  for (int t = 0; t < o->threads && status == GPNN_OK; t++)
    status = place_init(&run->places[t], o->m, o->inputs.d, err);
  return status;
}

static enum gpnn_status results_init(struct gpnn_simulated *s,
                                     const struct gpnn_simulate_options *o, struct gpnn_error *err)
{
  s->n_assumed = o->n_assumed;
  s->n_points = o->n_points;
  s->n_held = o->n_held;
  s->m = o->m;
  s->risk = gpnn_alloc(o->n_assumed, o->n_points, sizeof *s->risk);
  s->mse = gpnn_alloc(o->n_assumed, o->n_points, sizeof *s->mse);
  s->log_variance = gpnn_alloc(o->n_assumed, o->n_points, sizeof *s->log_variance);
  s->z2 = gpnn_alloc(o->n_assumed, o->n_points, sizeof *s->z2);
  s->held_z2 = gpnn_alloc(o->n_assumed, o->n_held, sizeof *s->held_z2);
  if (s->risk && s->mse && s->log_variance && s->z2 && s->held_z2) return GPNN_OK;
  return gpnn_fail_memory(err, "for the results of a simulation");
}

void gpnn_simulated_release(struct gpnn_simulated *s)
{
  free(s->risk);
  free(s->mse);
  free(s->log_variance);
  free(s->z2);
  free(s->held_z2);
  *s = (struct gpnn_simulated){0};
}

/* ---- the truth at a point ----------------------------------------------------------------- */

/* The part of the truth at 'x' that is no process, and |x|^2. */
static double known_at(const struct gpnn_simulate_options *o, const double *x, double *square)
{
  double value = o->truth.function == NULL ? 0 : o->truth.function->value(o->inputs.d, x);
  *square = 0;
  for (size_t j = 0; j < o->inputs.d; j++) *square += x[j] * x[j];
  return value + o->truth.coefficient * *square;
}

/* Puts the place there, with what is known of its neighbours. */
static void put(struct place *place, const struct gpnn_simulate_options *o, const double *x,
                const double *offsets)
{
  size_t d = o->inputs.d;
  gpnn_kriging_put(place->weights, o->m, offsets);
  place->known_here = known_at(o, x, &place->square_here);
  for (size_t i = 0; i < o->m; i++) {
    for (size_t j = 0; j < d; j++) place->x[j] = x[j] + offsets[i * d + j];
    place->known[i] = known_at(o, place->x, &place->square[i]);
  }
}

/* Draws the responses, or takes what is known of them for their means. */
static enum gpnn_status respond(struct place *place, const struct run *run, uint64_t number,
                                struct gpnn_error *err)
{
  const struct gpnn_simulate_options *o = run->options;
  struct gpnn_rng rng;
  place->noise = 0;
  place->f = place->known_here;
  memcpy(place->y, place->known, o->m * sizeof *place->y);
  if (!o->drawn) return GPNN_OK;
  double f, jitter;
  gpnn_rng_init_at(&rng, o->seed, GPNN_RNG_RESPONSE, run->draw << 32 | number);
  enum gpnn_status status =
      gpnn_kriging_draw(place->weights, &o->truth.covariance, &rng, place->y, &f, &jitter, err);
  if (status != GPNN_OK) return status;
  gpnn_jitter_note(&place->jitter, jitter > 0, jitter);
  for (size_t i = 0; i < o->m; i++) place->y[i] += place->known[i];
  place->f += f;
  place->noise = sqrt(o->truth.covariance.noise) * gpnn_rng_normal(&rng);
  return GPNN_OK;
}

/* ---- predictions -------------------------------------------------------------------------- */

/* Judges the prediction of place number 'i' of the block with assumption 'a'. */
static enum gpnn_status judge(struct place *place, const struct gpnn_simulate_options *o, size_t a,
                              const struct target *to, size_t i, struct gpnn_error *err)
{
  const struct gpnn_assumed *assumed = &o->assumed[a];
  const struct gpnn_isotropic *c = &assumed->covariance;
  const double *w;
  double latent, jitter, share = 1 / (double)o->n_draws, mean = 0;
  double factor = o->debias ? 1 + c->noise / ((double)o->m * c->kernelscale) : 1;
  enum gpnn_status status = gpnn_kriging_find(place->weights, c, &w, &latent, &jitter, err);
  if (status != GPNN_OK) return status;
  for (size_t j = 0; j < o->m; j++)
    mean += w[j] * (place->y[j] - assumed->coefficient * place->square[j]);
  double miss = assumed->coefficient * place->square_here + factor * mean - place->f;
  double risk = miss * miss, mse = (miss - place->noise) * (miss - place->noise);
  if (!o->drawn) {
    risk += gpnn_kriging_error(place->weights, &o->truth.covariance, factor);
    mse = risk + o->truth.covariance.noise;
  }
  double variance = latent + c->noise, z2 = mse / variance;
  if (!isfinite(mse) || !isfinite(variance) || !isfinite(z2))
    return gpnn_fail(err, GPNN_ENUMERIC,
                     "a prediction is not finite: scales or parameters are extreme");
  size_t at = a * to->n + to->at + i;
  if (to->risk != NULL) to->risk[at] += share * risk;
  if (to->mse != NULL) to->mse[at] += share * mse;
  if (to->log_variance != NULL) to->log_variance[at] += share * log(variance);
  to->z2[at] += share * z2;
  gpnn_jitter_note(&place->jitter, jitter > 0, jitter);
  return GPNN_OK;
}

/* A block's points, and where their results go. */
struct judging {
  const struct run *run;
  const struct target *to;
};

static enum gpnn_status judge_all(void *context, size_t thread, size_t i, struct gpnn_error *err)
{
  const struct judging *judging = context;
  const struct run *run = judging->run;
  struct place *place = &run->places[thread];
  const struct gpnn_simulate_options *o = run->options;
  const struct block *block = &run->block;
  size_t d = o->inputs.d;
  put(place, o, block->x + i * d, block->offsets + i * o->m * d);
  enum gpnn_status status = respond(place, run, block->first + i, err);
  for (size_t a = 0; a < o->n_assumed && status == GPNN_OK; a++)
    status = judge(place, o, a, judging->to, i, err);
  return status;
}

/* ---- blocks of points --------------------------------------------------------------------- */

/* Draws the points of a block, and finds their neighbours. */
static enum gpnn_status fill_block(struct run *run, struct gpnn_error *err)
{
  const struct gpnn_simulate_options *o = run->options;
  struct block *block = &run->block;
  for (size_t i = 0; i < block->n; i++) {
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, o->seed, GPNN_RNG_POINT, block->first + i);
    gpnn_inputs_draw(&o->inputs, &rng, block->x + i * o->inputs.d);
  }
  return gpnn_neighbours_find(run->near, block->first, block->n, block->x, block->offsets, err);
}

static enum gpnn_status judge_block(const struct run *run, const struct target *to,
                                    struct gpnn_error *err)
{
  struct judging judging = {run, to};
  return gpnn_threads_try(run->options->threads, run->block.n, 1, judge_all, &judging, err);
}

/* Simulates the 'to->n' points from number 'first' on. */
static enum gpnn_status run_points(struct run *run, uint64_t first, struct target *to,
                                   struct gpnn_error *err)
{
  const struct gpnn_simulate_options *o = run->options;
  enum gpnn_status status = GPNN_OK;
  for (to->at = 0; to->at < to->n && status == GPNN_OK; to->at += run->block.n) {
    size_t left = to->n - to->at;
    run->block.first = first + to->at;
    run->block.n = left < run->block.room ? left : run->block.room;
    status = fill_block(run, err);
    if (status == GPNN_OK) status = judge_block(run, to, err);
    if (status == GPNN_OK && o->tell != NULL) o->tell(o->context, run->block.n);
  }
  return status;
}

static enum gpnn_status run_draw(struct run *run, struct gpnn_simulated *s, struct gpnn_error *err)
{
  const struct gpnn_simulate_options *o = run->options;
  const struct gpnn_neighbours_options near = {.inputs = o->inputs,
                                               .n = o->n,
                                               .m = o->m,
                                               .by_search = o->by_search,
                                               .seed = o->seed,
                                               .draw = run->draw,
                                               .threads = o->threads};
  struct target test = {.n = o->n_points,
                        .risk = s->risk,
                        .mse = s->mse,
                        .log_variance = s->log_variance,
                        .z2 = s->z2};
  struct target held = {.n = o->n_held, .z2 = s->held_z2};
  gpnn_neighbours_free(run->near);
  run->near = NULL;
  enum gpnn_status status = gpnn_neighbours_new(&run->near, &near, err);
  if (status == GPNN_OK) status = run_points(run, 0, &test, err);
  if (status == GPNN_OK) status = run_points(run, first_held, &held, err);
  return status;
}

enum gpnn_status gpnn_simulate(struct gpnn_simulated *simulated,
                               const struct gpnn_simulate_options *o, struct gpnn_error *err)
{
  assert(o->m > 0 && o->n_points > 0 && o->n_points <= GPNN_SIMULATE_MOST &&
         o->n_held <= GPNN_SIMULATE_MOST);
  const struct gpnn_function *function = o->truth.function;
  if (function != NULL && !gpnn_function_takes(function, o->inputs.d))
    return gpnn_fail(err, GPNN_EINVAL, "the function %s has %s%zu inputs, not %zu", function->name,
                     function->d > 0 ? "" : "a multiple of ",
                     function->d > 0 ? function->d : function->multiple, o->inputs.d);
  struct run run = {.options = o};
  struct gpnn_simulated results = {0};
  enum gpnn_status status = results_init(&results, o, err);
  if (status == GPNN_OK) status = run_init(&run, err);
  for (; run.draw < o->n_draws && status == GPNN_OK; run.draw++)
    status = run_draw(&run, &results, err);
  for (int t = 0; t < o->threads && status == GPNN_OK; t++) {
    gpnn_jitter_note(&results.jitter, run.places[t].jitter.n, run.places[t].jitter.most);
  }
  run_release(&run);
  if (status == GPNN_OK)
    *simulated = results;
  else
    gpnn_simulated_release(&results);
  return status;
}
