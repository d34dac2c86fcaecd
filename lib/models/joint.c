#include "models/joint.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/rng.h"
#include "kernel/rotation.h"
#include "likelihood/count.h"
#include "likelihood/head.h"
#include "linalg/arrays.h"
#include "linalg/blas.h"
#include "linalg/blas_threads.h"
#include "linalg/factors/cholesky.h"
#include "search/nearest.h"
#include "search/proximity.h"
#include "stats/distributions/student.h"

struct gpnn_joint {
  const struct gpnn_predictor *predictor;
  const struct gpnn_model *model;
  const struct gpnn_predict_rows *rows;
  const struct gpnn_distribution *distributions; /* channels by n, as are the following */
  double *process, *trend;    /* owned: what the errors of the process, and those due to the mean's
                                 coefficients, are multiplied by */
  double *own;                /* owned: the variance of the rest of the error */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* ---- life --------------------------------------------------------------------------------- */

void gpnn_joint_free(struct gpnn_joint *joint)
{
  if (joint == NULL) return;
  gpnn_arrays_free(joint->arrays);
  free(joint);
}

/* The latent functions at all rows; arrays are owned, channels by n. */
struct functions {
  double *mean, *variance, *mean_variance, *misfit, *nearest, *noise;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static enum gpnn_status functions_predict(struct functions *f, const struct gpnn_joint *joint,
                                          struct gpnn_error *err)
{
  const struct gpnn_predict_rows *rows = joint->rows;
  const struct gpnn_query query = {.n = rows->n, .x = rows->x, .regressors = rows->regressors};
  size_t n = rows->n, n_channels = gpnn_model_n_channels(joint->model);
  struct gpnn_counts *counts = gpnn_alloc(n_channels, 1, sizeof *counts);
  f->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(f->mean, n_channels, n), GPNN_ARRAY(f->variance, n_channels, n),
                  GPNN_ARRAY(f->mean_variance, n_channels, n), GPNN_ARRAY(f->misfit, n_channels, n),
                  GPNN_ARRAY(f->nearest, n_channels, n), GPNN_ARRAY(f->noise, n_channels, n));
  const struct gpnn_latent latent = {.mean = f->mean,
                                     .variance = f->variance,
                                     .mean_variance = f->mean_variance,
                                     .misfit = f->misfit,
                                     .nearest = f->nearest,
                                     .noise = f->noise};
  enum gpnn_status status = counts != NULL && f->arrays != NULL
                                ? gpnn_model_predict(joint->model, &query, &latent, counts, err)
                                : gpnn_fail_memory(err, "for joint predictions");
  free(counts);
  return status;
}

/* An atom moves the location, on which the scale of other numbers depends: by what it multiplies
 * the sd of a row's errors. */
static double scale_of_atom(const struct gpnn_distribution *distribution, double unit,
                            const struct gpnn_latent_row *latent,
                            const struct gpnn_head_parts *parts)
{
  double of_mean = latent->mean_variance;
  double variance = parts->process * parts->process * (latent->variance - of_mean) +
                    parts->mean * parts->mean * of_mean + parts->own;
  if (!(distribution->atom.probability > 0 && variance > 0)) return 1;
  return distribution->sd / (unit * sqrt(variance));
}

/* Fills in how the errors of a channel's rows come about. */
static void fill_parts(const struct gpnn_joint *joint, size_t channel, const struct functions *f)
{
  const struct gpnn_channel *of = gpnn_model_channel(joint->model, channel);
  const struct gpnn_predict_options *options = gpnn_predictor_options(joint->predictor);
  const struct gpnn_scaling *scaling = &of->dataset->scaling;
  const struct gpnn_head head = gpnn_head_of(of->parameters);
  double unit = gpnn_predictor_unit(joint->predictor, channel);
  size_t n = joint->rows->n;
  for (size_t i = 0; i < n; i++) {
    size_t at = channel * n + i;
    const struct gpnn_latent_row latent = {.mean = f->mean[at],
                                           .variance = f->variance[at],
                                           .mean_variance = f->mean_variance[at],
                                           .misfit = f->misfit[at],
                                           .nearest = f->nearest[at]};
    const double *noise = joint->rows->noise;
    double known = f->noise[at] + (noise == NULL ? 0 : gpnn_scaling_noise(scaling, noise[i]));
    struct gpnn_head_parts parts = gpnn_head_parts(&head, &latent, known, options->latent);
    double factor = unit * scale_of_atom(&joint->distributions[at], unit, &latent, &parts);
    joint->process[at] = factor * parts.process;
    joint->trend[at] = factor * parts.mean;
    joint->own[at] = factor * factor * parts.own;
  }
}

enum gpnn_status gpnn_joint_new(struct gpnn_joint **joint, const struct gpnn_predictor *predictor,
                                const struct gpnn_predict_rows *rows,
                                const struct gpnn_distribution *distributions,
                                struct gpnn_error *err)
{
  const struct gpnn_model *model = gpnn_predictor_model(predictor);
  size_t n_channels = gpnn_model_n_channels(model);
  struct functions functions = {0};
  struct gpnn_joint *new = calloc(1, sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "for joint predictions");
  *new = (struct gpnn_joint){
      .predictor = predictor, .model = model, .rows = rows, .distributions = distributions};
  new->arrays = GPNN_ARRAYS(GPNN_ARRAY(new->process, n_channels, rows->n),
                            GPNN_ARRAY(new->trend, n_channels, rows->n),
                            GPNN_ARRAY(new->own, n_channels, rows->n));
  enum gpnn_status status = new->arrays != NULL ? functions_predict(&functions, new, err)
                                                : gpnn_fail_memory(err, "for joint predictions");
  for (size_t c = 0; c < n_channels && status == GPNN_OK; c++) fill_parts(new, c, &functions);
  gpnn_arrays_free(functions.arrays);
  if (status == GPNN_OK)
    *joint = new;
  else
    gpnn_joint_free(new);
  return status;
}

/* ---- some of the rows --------------------------------------------------------------------- */

/* Copies of some rows of a channel, for the model. */
struct chosen {
  size_t n;
  double *x, *regressors;  /* owned, as are the following */
  double *process, *trend; /* n of each */
  bool has_regressors;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static enum gpnn_status choose(struct chosen *chosen, const struct gpnn_joint *joint,
                               size_t channel, size_t n, const size_t *members,
                               struct gpnn_error *err)
{
  const struct gpnn_predict_rows *rows = joint->rows;
  const struct gpnn_dataset *dataset = gpnn_model_channel(joint->model, channel)->dataset;
  size_t d = dataset->d, p = rows->regressors == NULL ? 0 : dataset->n_regressors;
  *chosen = (struct chosen){.n = n, .has_regressors = rows->regressors != NULL};
  chosen->arrays = GPNN_ARRAYS(GPNN_ARRAY(chosen->x, n, d), GPNN_ARRAY(chosen->regressors, n, p),
                               GPNN_ARRAY(chosen->process, n, 1), GPNN_ARRAY(chosen->trend, n, 1));
  if (chosen->arrays == NULL) return gpnn_fail_memory(err, "for joint predictions");
  for (size_t a = 0; a < n; a++) {
    size_t i = members[a], at = channel * rows->n + i;
    memcpy(chosen->x + a * d, rows->x + i * d, d * sizeof *chosen->x);
    if (p > 0)
      memcpy(chosen->regressors + a * p, rows->regressors + i * p, p * sizeof *chosen->regressors);
    chosen->process[a] = joint->process[at];
    chosen->trend[a] = joint->trend[at];
  }
  return GPNN_OK;
}

/* The covariance of the chosen rows' errors without their own, or the variance of their total. */
static enum gpnn_status covariance_of(const struct gpnn_joint *joint, size_t channel,
                                      const struct chosen *chosen, bool total, double *covariance,
                                      struct gpnn_error *err)
{
  const struct gpnn_query query = {.n = chosen->n,
                                   .x = chosen->x,
                                   .regressors =
                                       chosen->has_regressors ? chosen->regressors : NULL};
  const struct gpnn_errors errors = {chosen->process, chosen->trend, total};
  return gpnn_model_joint(joint->model, channel, &query, &errors, covariance, err);
}

/* ---- sums --------------------------------------------------------------------------------- */

/* By what an atom multiplies the sd of a row: its errors keep their correlations. */
static double spread_by_atom(const struct gpnn_distribution *distribution)
{
  double mean, sd;
  if (!(distribution->atom.probability > 0 && distribution->sd > 0)) return 1;
  gpnn_distribution_moments(distribution, &mean, &sd);
  return sd / distribution->sd;
}

/* The sd of the sum of at least two rows. */
static enum gpnn_status find_sd(const struct gpnn_joint *joint, size_t channel, size_t n,
                                const size_t *members, double *sd, struct gpnn_error *err)
{
  struct chosen chosen = {0};
  double variance = 0;
  enum gpnn_status status = choose(&chosen, joint, channel, n, members, err);
  size_t first = channel * joint->rows->n;
  for (size_t a = 0; a < n && status == GPNN_OK; a++) {
    double factor = spread_by_atom(&joint->distributions[first + members[a]]);
    chosen.process[a] *= factor;
    chosen.trend[a] *= factor;
  }
  if (status == GPNN_OK) status = covariance_of(joint, channel, &chosen, true, &variance, err);
  for (size_t a = 0; a < n; a++) {
    double factor = spread_by_atom(&joint->distributions[first + members[a]]);
    variance += factor * factor * joint->own[first + members[a]];
  }
  gpnn_arrays_free(chosen.arrays);
  if (status == GPNN_OK) *sd = sqrt(variance);
  return status;
}

enum gpnn_status gpnn_joint_sum(const struct gpnn_joint *joint, size_t channel, size_t n,
                                const size_t *members, double weight, double *mean, double *sd,
                                struct gpnn_error *err)
{
  const struct gpnn_distribution *distributions = joint->distributions + channel * joint->rows->n;
  double sum = 0, spread = 0;
  enum gpnn_status status = GPNN_OK;
  for (size_t a = 0; a < n; a++) {
    if (distributions[members[a]].warp != NULL)
      return gpnn_fail(err, GPNN_EINVAL, "sums of transformed targets have no closed form");
    double of_row, sd_of_row;
    gpnn_distribution_moments(&distributions[members[a]], &of_row, &sd_of_row);
    sum += of_row;
    if (n == 1) spread = sd_of_row;
  }
  if (n > 1) status = find_sd(joint, channel, n, members, &spread, err);
  if (status != GPNN_OK) return status;
  sum *= weight;
  spread *= fabs(weight);
  if (!isfinite(sum) || !isfinite(spread))
    return gpnn_fail(err, GPNN_ENUMERIC, "a sum of predictions is larger than any number");
  *mean = sum;
  *sd = spread;
  return GPNN_OK;
}

double gpnn_joint_half_width(const struct gpnn_predictor *predictor, size_t channel, double level,
                             const char **source)
{
  const struct gpnn_model *model = gpnn_predictor_model(predictor);
  const struct gpnn_head head = gpnn_head_of(gpnn_model_channel(model, channel)->parameters);
  return gpnn_head_half_width(&head, level, true, source);
}

/* ---- draws -------------------------------------------------------------------------------- */

/* Draws of all rows of a channel; 'draws' holds normal errors until they are completed. */
struct drawing {
  const struct gpnn_joint *joint;
  const struct gpnn_channel *channel;
  size_t number; /* of the channel */
  size_t n, d, n_draws;
  uint64_t seed;
  size_t whole;                /* rows drawn at once */
  size_t *order;               /* owned; n */
  double *z;                   /* owned; n by d: the rows along the axes of the lengthscales */
  struct gpnn_neighbour *near; /* owned; n */
  double *draws;
};

/* Rows that are drawn, given the rows before them: 'row' has both. */
struct block {
  const struct drawing *drawing;
  size_t n_given, n;
  const size_t *row;    /* n_given + n */
  struct chosen chosen; /* owned, as are the following: of these rows */
  double *saved,
      *factor; /* the covariance of their errors, (n_given + n) squared, and its factor */
  double *work;
  double *before, *now;       /* n_given by n_draws and n by n_draws */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static void block_release(struct block *block)
{
  gpnn_arrays_free(block->chosen.arrays);
  gpnn_arrays_free(block->arrays);
}

static bool block_init(struct block *block)
{
  size_t total = block->n_given + block->n, n_draws = block->drawing->n_draws;
  block->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(block->saved, total, total), GPNN_ARRAY(block->factor, total, total),
                  GPNN_ARRAY(block->work, gpnn_cholesky_work(total), 1),
                  GPNN_ARRAY(block->before, block->n_given, n_draws),
                  GPNN_ARRAY(block->now, block->n, n_draws));
  return block->arrays != NULL;
}

static void refill(void *context, double *k)
{
  const struct block *block = context;
  size_t total = block->n_given + block->n;
  memcpy(k, block->saved, total * total * sizeof *k);
}

/* Factors the covariance of the rows' errors. */
static enum gpnn_status factor_block(struct block *block, struct gpnn_error *err)
{
  /* Of the prior variance: where neighbours leave hardly any, rounding is relative to it. */
  static const double least = 1e-4;
  double kernelscale = block->drawing->channel->parameters->covariance.kernelscale;
  const struct drawing *drawing = block->drawing;
  const struct gpnn_joint *joint = drawing->joint;
  size_t total = block->n_given + block->n;
  double largest = 0;
  enum gpnn_status status = choose(&block->chosen, joint, drawing->number, total, block->row, err);
  if (status == GPNN_OK)
    status = covariance_of(joint, drawing->number, &block->chosen, false, block->saved, err);
  if (status != GPNN_OK) return status;
  for (size_t a = 0; a < total; a++) {
    double *variance = &block->saved[a * total + a], process = block->chosen.process[a];
    *variance += joint->own[drawing->number * drawing->n + block->row[a]];
    largest = fmax(largest, fmax(*variance, least * process * process * kernelscale));
  }
  refill(block, block->factor);
  return gpnn_cholesky_factor(total, block->factor, block->work, largest, refill, block, NULL, err);
}

/* Draws the block's rows from their distribution given the errors of those before them: with the
 * factor L in blocks, L_bg L_gg^-1 e_g + L_bb times independent deviates.  A column-major L is L'
 * in row-major order. */
static void draw_rows(const struct block *block)
{
  const struct drawing *drawing = block->drawing;
  size_t g = block->n_given, n = block->n, total = g + n, k = drawing->n_draws;
  const double *factor = block->factor;
  for (size_t a = 0; a < n; a++) {
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, drawing->seed, GPNN_RNG_DRAW, block->row[g + a]);
    gpnn_rng_normals(&rng, k, block->now + a * k);
  }
  cblas_dtrmm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, (int)n, (int)k, 1,
              factor + g * total + g, (int)total, block->now, (int)k);
  if (g > 0) {
    for (size_t a = 0; a < g; a++)
      memcpy(block->before + a * k, drawing->draws + block->row[a] * k, k * sizeof(double));
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, (int)g, (int)k, 1,
                factor, (int)total, block->before, (int)k);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)n, (int)k, (int)g, 1, factor + g,
                (int)total, block->before, (int)k, 1, block->now, (int)k);
  }
  for (size_t a = 0; a < n; a++)
    memcpy(drawing->draws + block->row[g + a] * k, block->now + a * k, k * sizeof(double));
}

/* Draws rows row[n_given] to row[n_given + n - 1] given those before. */
static enum gpnn_status draw_block(const struct drawing *drawing, size_t n_given, size_t n,
                                   const size_t *row, struct gpnn_error *err)
{
  struct block block = {.drawing = drawing, .n_given = n_given, .n = n, .row = row};
  enum gpnn_status status =
      block_init(&block) ? factor_block(&block, err) : gpnn_fail_memory(err, "for joint draws");
  if (status == GPNN_OK) draw_rows(&block);
  block_release(&block);
  return status;
}

/* ---- more rows than are drawn at once ----------------------------------------------------- */

/* Rows from all over that come first, and that all others are given: otherwise a smooth function
 * would be extrapolated, block after block, from draws that are only nearly those of one function,
 * and errors would grow without bound. */
static size_t n_spread(const struct drawing *drawing)
{
  return drawing->whole / 4;
}

/* Writes those of the 'begin' rows before a block that it is given, the first and the nearest to
 * its centre, 'n_given' of them, and then the block's 'n' rows, to 'row'. */
static void choose_given(const struct drawing *drawing, size_t begin, size_t n, size_t n_given,
                         double *centre, size_t *row)
{
  size_t d = drawing->d, first = begin > 0 ? n_spread(drawing) : 0;
  memset(centre, 0, d * sizeof *centre);
  for (size_t a = begin; a < begin + n; a++)
    for (size_t j = 0; j < d; j++) centre[j] += drawing->z[drawing->order[a] * d + j] / (double)n;
  for (size_t a = first; a < begin; a++) {
    const double *z = drawing->z + drawing->order[a] * d;
    struct gpnn_neighbour *near = &drawing->near[a - first];
    *near = (struct gpnn_neighbour){0, (int64_t)drawing->order[a]};
    for (size_t j = 0; j < d; j++) near->distance += (z[j] - centre[j]) * (z[j] - centre[j]);
  }
  gpnn_nearest_select(begin - first, drawing->near, n_given - first);
  memcpy(row, drawing->order, first * sizeof *row);
  for (size_t a = first; a < n_given; a++) row[a] = (size_t)drawing->near[a - first].row;
  memcpy(row + n_given, drawing->order + begin, n * sizeof *row);
}

static enum gpnn_status draw_blocks(const struct drawing *drawing, struct gpnn_error *err)
{
  size_t half = drawing->whole / 2;
  double *centre = gpnn_alloc(drawing->d, 1, sizeof *centre);
  size_t *row = gpnn_alloc(drawing->whole, 1, sizeof *row);
  enum gpnn_status status =
      centre != NULL && row != NULL ? GPNN_OK : gpnn_fail_memory(err, "for joint draws");
  for (size_t begin = 0, n; begin < drawing->n && status == GPNN_OK; begin += n) {
    n = drawing->n - begin < half ? drawing->n - begin : half;
    size_t n_given = begin < half ? begin : half;
    choose_given(drawing, begin, n, n_given, centre, row);
    status = draw_block(drawing, n_given, n, row, err);
  }
  free(centre);
  free(row);
  return status;
}

/* Moves rows from all over the order to its front. */
static enum gpnn_status spread_first(const struct drawing *drawing, struct gpnn_error *err)
{
  size_t n = drawing->n, many = n_spread(drawing), first = 0, rest = many;
  size_t *order = gpnn_alloc(n, 1, sizeof *order);
  if (order == NULL) return gpnn_fail_memory(err, "for the order of rows");
  for (size_t i = 0; i < n; i++) {
    bool is_first = first < many && (double)i * (double)many >= (double)first * (double)n;
    order[is_first ? first++ : rest++] = drawing->order[i];
  }
  memcpy(drawing->order, order, n * sizeof *order);
  free(order);
  return GPNN_OK;
}

/* Writes the rows along the axes of the lengthscales, and their order. */
static enum gpnn_status order_rows(const struct drawing *drawing, struct gpnn_error *err)
{
  const struct gpnn_channel *channel = drawing->channel;
  const struct gpnn_covariance *covariance = &channel->parameters->covariance;
  const double *x = drawing->joint->rows->x;
  size_t n = drawing->n, d = drawing->d;
  double *lengthscale = gpnn_alloc(d, 1, sizeof *lengthscale);
  if (lengthscale == NULL) return gpnn_fail_memory(err, "for the order of rows");
  gpnn_covariance_expand(covariance, d, channel->dataset->group, lengthscale);
  if (covariance->rotation != NULL)
    gpnn_rotation_apply(d, covariance->rotation, n, x, drawing->z);
  else
    memcpy(drawing->z, x, n * d * sizeof *x);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < d; j++) drawing->z[i * d + j] /= lengthscale[j];
  gpnn_proximity_order(n, d, drawing->z, drawing->order);
  free(lengthscale);
  return spread_first(drawing, err);
}

static enum gpnn_status draw_all(struct drawing *drawing, struct gpnn_error *err)
{
  size_t n = drawing->n, d = drawing->d;
  bool is_whole = n <= drawing->whole;
  struct gpnn_arrays *arrays =
      GPNN_ARRAYS(GPNN_ARRAY(drawing->order, n, 1), GPNN_ARRAY_IF(!is_whole, drawing->z, n, d),
                  GPNN_ARRAY_IF(!is_whole, drawing->near, n, 1));
  enum gpnn_status status;
  if (arrays == NULL) {
    status = gpnn_fail_memory(err, "for joint draws");
  } else if (is_whole) {
    for (size_t i = 0; i < n; i++) drawing->order[i] = i;
    status = draw_block(drawing, 0, n, drawing->order, err);
  } else {
    status = order_rows(drawing, err);
    if (status == GPNN_OK) status = draw_blocks(drawing, err);
  }
  gpnn_arrays_free(arrays);
  return status;
}

/* The same of a model that draws all rows itself, to which only their own parts are added. */
static enum gpnn_status draw_by_model(struct drawing *drawing, struct gpnn_error *err)
{
  const struct gpnn_joint *joint = drawing->joint;
  const struct gpnn_query query = {.n = drawing->n, .x = joint->rows->x};
  enum gpnn_status status =
      gpnn_model_draw(joint->model, drawing->number, &query, drawing->n_draws, drawing->draws, err);
  for (size_t i = 0; status == GPNN_OK && i < drawing->n; i++) {
    size_t at = drawing->number * drawing->n + i;
    double sd = sqrt(joint->own[at]);
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, drawing->seed, GPNN_RNG_DRAW, i);
    for (size_t k = 0; k < drawing->n_draws; k++) {
      double *draw = &drawing->draws[i * drawing->n_draws + k];
      *draw = joint->process[at] * *draw + sd * gpnn_rng_normal(&rng);
    }
  }
  return status;
}

/* The target of row 'i' in draw 'k', of which 'error' is the error of the variable.  A count, given
 * its mean, has a random number of its own, which depends on nothing but row and draw. */
static double target_of(const struct drawing *drawing, const struct gpnn_distribution *distribution,
                        size_t i, size_t k, double error)
{
  double w = distribution->location + error;
  if (distribution->count == NULL) return gpnn_distribution_target(distribution, w);
  struct gpnn_rng rng;
  gpnn_rng_init_at(&rng, drawing->seed, GPNN_RNG_COUNT, i * drawing->n_draws + k);
  const struct gpnn_count_latent known = {w, 0};
  return gpnn_count_quantile(distribution->count, &known, gpnn_rng_uniform(&rng));
}

/* Gives each draw its scale and the rows their locations, and finds the targets. */
static enum gpnn_status complete(const struct drawing *drawing, struct gpnn_error *err)
{
  const struct gpnn_distribution *distributions =
      drawing->joint->distributions + drawing->number * drawing->n;
  double degrees = gpnn_predictor_degrees(drawing->joint->predictor, drawing->number);
  for (size_t k = 0; k < drawing->n_draws; k++) {
    double scale = 1;
    if (degrees > 0) {
      struct gpnn_rng rng;
      gpnn_rng_init_at(&rng, drawing->seed, GPNN_RNG_MIXING, k);
      scale = gpnn_student_unit_scale(degrees) *
              sqrt(degrees / (2 * gpnn_rng_gamma(&rng, degrees / 2)));
    }
    for (size_t i = 0; i < drawing->n; i++) {
      double *draw = &drawing->draws[i * drawing->n_draws + k];
      *draw = target_of(drawing, &distributions[i], i, k, scale * *draw);
      if (!isfinite(*draw))
        return gpnn_fail(err, GPNN_ENUMERIC, "a draw is larger than any number");
    }
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_joint_draw(const struct gpnn_joint *joint, size_t channel, size_t n_draws,
                                 uint64_t seed, double *draws, struct gpnn_error *err)
{
  const struct gpnn_channel *of = gpnn_model_channel(joint->model, channel);
  unsigned char number[sizeof(uint64_t)];
  size_t m = gpnn_model_neighbours(joint->model, channel);
  struct drawing drawing = {.joint = joint,
                            .channel = of,
                            .number = channel,
                            .n = joint->rows->n,
                            .d = of->dataset->d,
                            .n_draws = n_draws,
                            .whole = m > GPNN_JOINT_WHOLE ? m : GPNN_JOINT_WHOLE,
                            .draws = draws};
  gpnn_store_u64(number, channel);
  drawing.seed = gpnn_rng_hash(seed, number, sizeof number);
  if (drawing.n == 0 || n_draws == 0) return GPNN_OK;
  if (gpnn_blas_claim(1) == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  enum gpnn_status status =
      gpnn_model_can_draw(joint->model) ? draw_by_model(&drawing, err) : draw_all(&drawing, err);
  return status == GPNN_OK ? complete(&drawing, err) : status;
}
