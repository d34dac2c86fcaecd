#include "assess/advise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assess/advise_private.h"
#include "base/memory.h"
#include "base/rng.h"
#include "dataset/sample.h"
#include "linalg/arrays.h"
#include "simulate/theory.h"
#include "stats/distributions/normal.h"
#include "stats/sum.h"

/* The smallest subsamples are this part of the rows, the next ones twice as large. */
enum { FIRST_PART = 1 << GPNN_ADVISE_SIZES };

/* The most subsamples of one size. */
enum { SUBSAMPLES = 4 };

struct work {
  const struct gpnn_model *model;
  const struct gpnn_dataset *data;      /* of model */
  const struct gpnn_parameters *params; /* of model */
  const struct gpnn_advise_options *options;
  size_t m;                           /* neighbours */
  uint64_t *order;                    /* owned; n: rows in random order, test rows first */
  double *x, *regressors, *y, *noise; /* owned; of the test rows */
  int64_t *self;                      /* owned; q */
  uint32_t *group;                    /* owned; q: of the test rows, if training rows have groups */
  double *mean, *latent;              /* owned; GPNN_ADVISE_NUMBERS by q */
  double *nearest;                    /* owned; q: distances to the nearest other row */
  struct gpnn_advise_sets sets;       /* its arrays are owned */
  struct gpnn_advice *advice;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* ---- test rows ------------------------------------------------------------------------------ */

static bool work_alloc(struct work *w)
{
  size_t q = w->sets.q;
  w->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(w->order, w->data->n, 1), GPNN_ARRAY(w->x, q, w->data->d),
      GPNN_ARRAY(w->regressors, q, w->data->n_regressors), GPNN_ARRAY(w->y, q, 1),
      GPNN_ARRAY(w->noise, q, 1), GPNN_ARRAY(w->self, q, 1), GPNN_ARRAY(w->group, q, 1),
      GPNN_ARRAY(w->mean, GPNN_ADVISE_NUMBERS, q), GPNN_ARRAY(w->latent, GPNN_ADVISE_NUMBERS, q),
      GPNN_ARRAY(w->nearest, q, 1), GPNN_ARRAY(w->sets.square, GPNN_ADVISE_SETS, q),
      GPNN_ARRAY(w->sets.nll, GPNN_ADVISE_SETS, q));
  return w->arrays != NULL;
}

/* Puts all rows in random order; the first are the test rows. */
static enum gpnn_status draw(struct work *w, struct gpnn_error *err)
{
  const struct gpnn_dataset *data = w->data;
  size_t q = w->sets.q, d = data->d, p = data->n_regressors;
  if (!work_alloc(w)) return gpnn_fail_memory(err, "for test rows");
  struct gpnn_rng rng;
  gpnn_rng_init_at(&rng, w->options->seed, GPNN_RNG_ADVISE, 0);
  for (size_t i = 0; i < data->n; i++) { /* Fisher-Yates, from inside out */
    size_t at = (size_t)gpnn_rng_below(&rng, i + 1);
    w->order[i] = w->order[at];
    w->order[at] = i;
  }
  for (size_t i = 0; i < q; i++) {
    size_t row = (size_t)w->order[i];
    memcpy(w->x + i * d, data->x + row * d, d * sizeof *w->x);
    if (p > 0) memcpy(w->regressors + i * p, data->regressors + row * p, p * sizeof *w->regressors);
    w->y[i] = data->y[row];
    w->noise[i] = data->noise == NULL ? 0 : data->noise[row];
    w->group[i] = data->row_group == NULL ? 0 : data->row_group[row];
  }
  return GPNN_OK;
}

/* ---- predictions ---------------------------------------------------------------------------- */

/* Adds the errors of the given means and latent variances of the test rows to a set, with a
 * weight. */
static enum gpnn_status add_to_set(struct work *w, size_t set, double weight, double noise,
                                   const double *mean, const double *latent, struct gpnn_error *err)
{
  size_t q = w->sets.q, n_half[] = {(q + 1) / 2, q / 2};
  double *square = w->sets.square + set * q, *nll = w->sets.nll + set * q, factor[2];
  struct gpnn_sum ratios[2] = {{0}};
  for (size_t i = 0; i < q; i++) {
    double error = w->y[i] - mean[i];
    square[i] += weight * error * error;
    gpnn_sum_add(&ratios[i % 2], error * error / (latent[i] + noise + w->noise[i]));
  }
  for (size_t half = 0; half < 2; half++) factor[half] = gpnn_sum_mean(&ratios[half], n_half[half]);
  for (size_t i = 0; i < q; i++) {
    double variance = factor[1 - i % 2] * (latent[i] + noise + w->noise[i]);
    nll[i] += weight * gpnn_normal_nll(w->y[i] - mean[i], sqrt(variance));
    if (!isfinite(nll[i]))
      return gpnn_fail(err, GPNN_ENUMERIC,
                       "test rows are predicted without uncertainty, or all without error");
  }
  return GPNN_OK;
}

/* Predicts the test rows from 'model' with each number of neighbours, and adds the errors, with a
 * weight, to the next sets. */
static enum gpnn_status measure(struct work *w, const struct gpnn_model *model, size_t n_numbers,
                                const size_t *numbers, double weight, struct gpnn_error *err)
{
  size_t q = w->sets.q;
  double noise = gpnn_model_channel(model, 0)->parameters->covariance.noise;
  const struct gpnn_query query = {.n = q,
                                   .x = w->x,
                                   .regressors = w->data->n_regressors == 0 ? NULL : w->regressors,
                                   .self = w->self,
                                   .group = w->data->row_group == NULL ? NULL : w->group};
  const struct gpnn_latent latent = {.mean = w->mean, .variance = w->latent, .nearest = w->nearest};
  enum gpnn_status status =
      gpnn_model_predict_each(model, &query, n_numbers, numbers, &latent, &w->advice->counts, err);
  for (size_t k = 0; k < n_numbers && status == GPNN_OK; k++)
    status = add_to_set(w, w->sets.n + k, weight, noise, w->mean + k * q, w->latent + k * q, err);
  if (status == GPNN_OK && w->options->progress != NULL)
    w->options->progress(w->sets.n, GPNN_ADVISE_SETS);
  return status;
}

/* Adds a line for a change that was measured in the given set. */
static struct gpnn_advise_line *add_line(struct work *w, enum gpnn_advise_about about, double rows,
                                         size_t neighbours, size_t set)
{
  struct gpnn_advice *advice = w->advice;
  struct gpnn_advise_line *line = &advice->lines[advice->n_lines];
  *line = (struct gpnn_advise_line){
      .about = about, .rows = rows, .neighbours = neighbours, .measured = true, .change = "none"};
  w->sets.line_set[advice->n_lines++] = set;
  return line;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Predicts from the 'n' rows from number 'begin' of the random order on. */
static enum gpnn_status measure_subsample(struct work *w, size_t begin, size_t n, double weight,
                                          struct gpnn_error *err)
{
  struct gpnn_sample *sample = NULL;
  struct gpnn_model *model = NULL;
  struct gpnn_model_options options = *gpnn_model_options(w->model);
  options.neighbours = w->m;
  enum gpnn_status status = gpnn_sample_take(&sample, w->data, n, w->order + begin, err);
  if (status == GPNN_OK) {
    const struct gpnn_channel channel = {gpnn_sample_target(sample, w->data->target), w->params};
    status = gpnn_model_new(&model, 1, &channel, &options, err);
  }
  for (size_t i = 0; i < w->sets.q; i++)
    w->self[i] = i >= begin && i - begin < n ? (int64_t)(i - begin) : -1;
  if (status == GPNN_OK) status = measure(w, model, 1, &w->m, weight, err);
  gpnn_model_free(model);
  gpnn_sample_free(sample);
  return status;
}

/* Averages several disjoint subsamples of each size, so that chance does not bend the curve. */
static enum gpnn_status measure_rows(struct work *w, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t part = FIRST_PART; part > 1 && status == GPNN_OK; part /= 2) {
    size_t n = w->data->n / part, times = part < SUBSAMPLES ? part : SUBSAMPLES;
    if (n <= w->m) continue;
    for (size_t i = 0; i < times && status == GPNN_OK; i++)
      status = measure_subsample(w, i * n, n, 1 / (double)times, err);
    struct gpnn_advise_line *line = add_line(w, GPNN_ADVISE_ROWS, (double)n, w->m, w->sets.n++);
    snprintf(line->change, sizeof line->change, "rows / %zu", part);
  }
  return status;
}

/* ---- neighbours ----------------------------------------------------------------------------- */

/* A quarter, half, all and twice the neighbours, as far as these differ. */
static size_t choose_numbers(size_t m, size_t numbers[GPNN_ADVISE_NUMBERS])
{
  const size_t wanted[GPNN_ADVISE_NUMBERS] = {m / 4, m / 2, m, 2 * m};
  size_t n = 0;
  for (size_t k = 0; k < GPNN_ADVISE_NUMBERS; k++)
    if (wanted[k] > (k == 0 ? 0 : wanted[k - 1])) numbers[n++] = wanted[k];
  return n;
}

/* Adds the measured end of the curve and the points to extrapolate to. */
static void add_further_rows(struct work *w)
{
  static const double times[] = {2, 10};
  double n = (double)w->data->n;
  struct gpnn_advice *advice = w->advice;
  advice->now = advice->n_lines;
  add_line(w, GPNN_ADVISE_ROWS, n, w->m, w->sets.now);
  advice->doubled = advice->n_lines;
  advice->tenfold = advice->n_lines + 1;
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
    struct gpnn_advise_line *line = add_line(w, GPNN_ADVISE_ROWS, times[i] * n, w->m, 0);
    line->measured = false;
    snprintf(line->change, sizeof line->change, "rows x %g", times[i]);
  }
}

/* Predicts from all rows, with these and other numbers of neighbours. */
static enum gpnn_status measure_neighbours(struct work *w, struct gpnn_error *err)
{
  size_t numbers[GPNN_ADVISE_NUMBERS], n_numbers = choose_numbers(w->m, numbers);
  size_t first = w->sets.n;
  for (size_t i = 0; i < w->sets.q; i++) w->self[i] = (int64_t)w->order[i];
  enum gpnn_status status = measure(w, w->model, n_numbers, numbers, 1, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < w->sets.q; i++) w->advice->n_duplicates += w->nearest[i] == 0;
  while (numbers[w->sets.now] != w->m) w->sets.now++;
  w->sets.now += first;
  w->sets.n += n_numbers;
  add_further_rows(w);
  for (size_t k = 0; k < n_numbers; k++) {
    struct gpnn_advise_line *line =
        add_line(w, GPNN_ADVISE_NEIGHBOURS, (double)w->data->n, numbers[k], first + k);
    if (numbers[k] != w->m)
      snprintf(line->change, sizeof line->change, "neighbours %zu", numbers[k]);
  }
  w->advice->helps[GPNN_ADVISE_NEIGHBOURS].line = w->advice->n_lines - 1;
  return GPNN_OK;
}

/* ---- parameters ----------------------------------------------------------------------------- */

/* Clears a set that could not be completed. */
static void clear_set(struct work *w, size_t set)
{
  size_t q = w->sets.q;
  memset(w->sets.square + set * q, 0, q * sizeof *w->sets.square);
  memset(w->sets.nll + set * q, 0, q * sizeof *w->sets.nll);
}

/* Predicts from all rows under other parameters.  Those that cannot predict are skipped. */
static enum gpnn_status measure_variant(struct work *w, const struct gpnn_parameters *params,
                                        const char *change, double times, struct gpnn_error *err)
{
  const struct gpnn_channel channel = {w->data, params};
  struct gpnn_model *model = NULL;
  enum gpnn_status status = gpnn_model_with(w->model, &channel, &model, err);
  if (status == GPNN_OK) status = measure(w, model, 1, &w->m, 1, err);
  gpnn_model_free(model);
  if (status == GPNN_ENUMERIC) {
    clear_set(w, w->sets.n);
    return GPNN_OK;
  }
  if (status != GPNN_OK) return status;
  struct gpnn_advise_line *line =
      add_line(w, GPNN_ADVISE_PARAMETERS, (double)w->data->n, w->m, w->sets.n++);
  if (times == 1)
    snprintf(line->change, sizeof line->change, "%s", change);
  else
    snprintf(line->change, sizeof line->change, "%s %c %g", change, times > 1 ? 'x' : '/',
             times > 1 ? times : 1 / times);
  return GPNN_OK;
}

static enum gpnn_status measure_lengthscales(struct work *w, struct gpnn_error *err)
{
  static const double times[] = {0.25, 0.5, 2, 4};
  struct gpnn_parameters params = *w->params; /* all borrowed except the lengthscales */
  size_t n = params.covariance.n_lengthscales;
  enum gpnn_status status = GPNN_OK;
  params.covariance.lengthscale = gpnn_alloc(n, 1, sizeof *params.covariance.lengthscale);
  if (params.covariance.lengthscale == NULL) return gpnn_fail_memory(err, "for changed parameters");
  for (size_t i = 0; i < sizeof times / sizeof times[0] && status == GPNN_OK; i++) {
    for (size_t j = 0; j < n; j++)
      params.covariance.lengthscale[j] = times[i] * w->params->covariance.lengthscale[j];
    status = measure_variant(w, &params, "lengthscale", times[i], err);
  }
  free(params.covariance.lengthscale);
  return status;
}

static enum gpnn_status measure_noises(struct work *w, struct gpnn_error *err)
{
  static const double times[] = {0.1, 1 / 3.0, 3, 10};
  struct gpnn_parameters params = *w->params;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < sizeof times / sizeof times[0] && status == GPNN_OK; i++) {
    if (w->params->covariance.noise == 0) continue;
    params.covariance.noise = times[i] * w->params->covariance.noise;
    status = measure_variant(w, &params, "noise", times[i], err);
  }
  return status;
}

static enum gpnn_status measure_kernels(struct work *w, struct gpnn_error *err)
{
  const struct gpnn_kernel *kernel;
  struct gpnn_parameters params = *w->params;
  enum gpnn_status status = GPNN_OK;
  params.covariance.smoothness = 0;
  for (size_t i = 0; (kernel = gpnn_kernel_at(i)) != NULL && status == GPNN_OK; i++) {
    char change[GPNN_KERNEL_BYTES + sizeof "kernel "];
    if (kernel == w->params->covariance.kernel || gpnn_kernel_needs_smoothness(kernel)) continue;
    params.covariance.kernel = kernel;
    snprintf(change, sizeof change, "kernel %s", kernel->name);
    status = measure_variant(w, &params, change, 1, err);
  }
  return status;
}

static enum gpnn_status measure_parameters(struct work *w, struct gpnn_error *err)
{
  add_line(w, GPNN_ADVISE_PARAMETERS, (double)w->data->n, w->m, w->sets.now);
  enum gpnn_status status = measure_lengthscales(w, err);
  if (status == GPNN_OK) status = measure_noises(w, err);
  if (status == GPNN_OK) status = measure_kernels(w, err);
  return status;
}

/* ---- advice --------------------------------------------------------------------------------- */

/* gpnn-methods-simulate(7), equations 11.14 and 11.16, assuming the parameters are right. */
static void set_limits(struct gpnn_advice *advice, const struct gpnn_parameters *params)
{
  struct gpnn_theory_limits limits =
      gpnn_theory_limits(params->covariance.noise, params->covariance.noise, advice->neighbours);
  advice->limit_rmse = sqrt(limits.mse);
  advice->limit_nll = params->covariance.noise == 0 ? -INFINITY : limits.nll;
}

enum gpnn_status gpnn_advise(const struct gpnn_model *model,
                             const struct gpnn_advise_options *options, struct gpnn_advice *advice,
                             struct gpnn_error *err)
{
  enum { FEWEST_SIZES = 3 }; /* all rows, half and a quarter of them: a curve has three numbers */
  const struct gpnn_channel *channel = gpnn_model_channel(model, 0);
  const struct gpnn_dataset *data = channel->dataset;
  size_t m = gpnn_model_neighbours(model, 0);
  if (channel->parameters->n_members > 0)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "advice is about the parameters of one member, not of several");
  if (data->n >> (FEWEST_SIZES - 1) <= m)
    return gpnn_fail(err, GPNN_EDATA,
                     "%zu training rows are too few to measure what more of them would do with %zu "
                     "neighbours: that takes %zu, or fewer neighbours",
                     data->n, m, (m + 1) << (FEWEST_SIZES - 1));
  struct gpnn_advice result = {.neighbours = m};
  struct work w = {.model = model,
                   .data = data,
                   .params = channel->parameters,
                   .options = options,
                   .m = m,
                   .advice = &result};
  result.n_test = w.sets.q = options->test_rows < data->n ? options->test_rows : data->n;
  enum gpnn_status status = draw(&w, err);
  if (status == GPNN_OK) status = measure_rows(&w, err);
  if (status == GPNN_OK) status = measure_neighbours(&w, err);
  if (status == GPNN_OK) status = measure_parameters(&w, err);
  if (status == GPNN_OK) status = gpnn_advise_estimate(&w.sets, options->seed, &result, err);
  set_limits(&result, w.params);
  if (status == GPNN_OK) *advice = result;
  gpnn_arrays_free(w.arrays);
  return status;
}
