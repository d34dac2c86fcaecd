#include "models/missing.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "dataset/missing.h"
#include "linalg/arrays.h"

/* ---- rows in place of rows ----------------------------------------------------------------- */

/* Some rows of a query, with draws in place of each that lacks inputs, and none of one without any.
 * Draws of a row that are alike, as those of a category often are, are predicted once. */
struct drawn {
  const struct gpnn_dataset *dataset;
  struct gpnn_query given, query;
  size_t *first;           /* given.n + 1: where the draws of each row begin */
  size_t *place;           /* first[given.n]: the row of 'query' that each draw is */
  size_t n_draws, n_coded; /* for a row, and for one that lacks a code */
  double *x, *regressors;
  int64_t *self, *candidates;
  uint32_t *group;
  struct gpnn_arrays *first_array, *arrays; /* owned: those above */
};

bool gpnn_missing_any(const struct gpnn_model *model, const struct gpnn_query *query)
{
  const struct gpnn_dataset *dataset = gpnn_model_channel(model, 0)->dataset;
  return query->x != NULL && dataset->x != NULL &&
         gpnn_row_is_incomplete(query->n * dataset->d, query->x);
}

/* True if a row lacks the code of a category. */
static bool lacks_code(const struct gpnn_dataset *dataset, const double *x)
{
  for (size_t j = 0; j < dataset->d && dataset->coordinates != NULL; j++) {
    const struct gpnn_column *input = &dataset->schema.inputs[dataset->coordinates[j].input];
    if (isnan(x[j]) && input->kind == GPNN_COLUMN_CODED && !gpnn_schema_is_ordered(input))
      return true;
  }
  return false;
}

/* How many rows are predicted in place of one. */
static size_t rows_for(const struct drawn *drawn, size_t i)
{
  size_t d = drawn->dataset->d;
  const double *x = drawn->given.x + i * d;
  if (gpnn_row_is_empty(d, x)) return 0;
  if (!gpnn_row_is_incomplete(d, x)) return 1;
  return lacks_code(drawn->dataset, x) ? drawn->n_coded : drawn->n_draws;
}

static enum gpnn_status make_room(struct drawn *drawn, struct gpnn_error *err)
{
  const struct gpnn_query *given = &drawn->given;
  size_t p = drawn->dataset->n_regressors, n = 0;
  drawn->first_array = GPNN_ARRAYS(GPNN_ARRAY(drawn->first, given->n + 1, 1));
  if (drawn->first_array == NULL) return gpnn_fail_memory(err, "for rows that lack inputs");
  for (size_t i = 0; i < given->n; i++) {
    drawn->first[i] = n;
    n += rows_for(drawn, i);
  }
  drawn->first[given->n] = n;
  drawn->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(drawn->x, n, drawn->dataset->d), GPNN_ARRAY(drawn->place, n, 1),
      GPNN_ARRAY_IF(given->regressors != NULL, drawn->regressors, n, p),
      GPNN_ARRAY_IF(given->self != NULL, drawn->self, n, 1),
      GPNN_ARRAY_IF(given->group != NULL, drawn->group, n, 1),
      GPNN_ARRAY_IF(given->candidates != NULL, drawn->candidates, n, given->n_candidates));
  if (drawn->arrays == NULL) return gpnn_fail_memory(err, "for rows that lack inputs");
  drawn->query = *given;
  drawn->query.n = 0;
  drawn->query.x = drawn->x;
  drawn->query.regressors = drawn->regressors;
  drawn->query.self = drawn->self;
  drawn->query.group = drawn->group;
  drawn->query.candidates = drawn->candidates;
  return GPNN_OK;
}

/* Everything of a row but its inputs is that of the row that it stands for. */
static void copy_rest(const struct drawn *drawn, size_t i, size_t to)
{
  const struct gpnn_query *given = &drawn->given;
  size_t p = drawn->dataset->n_regressors, c = given->n_candidates;
  if (drawn->regressors != NULL)
    memcpy(drawn->regressors + to * p, given->regressors + i * p, p * sizeof *given->regressors);
  if (drawn->self != NULL) drawn->self[to] = given->self[i];
  if (drawn->group != NULL) drawn->group[to] = given->group[i];
  if (drawn->candidates != NULL)
    memcpy(drawn->candidates + to * c, given->candidates + i * c, c * sizeof *given->candidates);
}

static void draw_row(void *context, size_t thread, size_t i)
{
  const struct drawn *drawn = context;
  size_t d = drawn->dataset->d, from = drawn->first[i], n = drawn->first[i + 1] - from;
  const double *x = drawn->given.x + i * d;
  (void)thread;
  if (n == 1 && !gpnn_row_is_incomplete(d, x))
    memcpy(drawn->x + from * d, x, d * sizeof *x);
  else if (n > 0)
    gpnn_missing_draw(drawn->dataset, x, drawn->given.self == NULL ? -1 : drawn->given.self[i], n,
                      drawn->x + from * d);
  for (size_t k = 0; k < n; k++) {
    size_t same = 0;
    while (memcmp(drawn->x + (from + same) * d, drawn->x + (from + k) * d, d * sizeof *x) != 0)
      same++;
    drawn->place[from + k] = from + same;
  }
}

/* Keeps those draws that are the first of their kind. */
static void gather(struct drawn *drawn)
{
  size_t d = drawn->dataset->d;
  for (size_t i = 0; i < drawn->given.n; i++)
    for (size_t k = drawn->first[i]; k < drawn->first[i + 1]; k++) {
      if (drawn->place[k] < k) {
        drawn->place[k] = drawn->place[drawn->place[k]];
        continue;
      }
      size_t to = drawn->query.n++;
      memmove(drawn->x + to * d, drawn->x + k * d, d * sizeof *drawn->x);
      copy_rest(drawn, i, to);
      drawn->place[k] = to;
    }
}

size_t gpnn_missing_draws(const struct gpnn_model *model)
{
  size_t wanted = gpnn_model_options(model)->draws;
  if (wanted == 0) return GPNN_MISSING_DRAWS;
  return wanted < GPNN_MISSING_DRAWS_MOST ? wanted : GPNN_MISSING_DRAWS_MOST;
}

/* The same of one that lacks a code. */
static size_t draws_coded(const struct gpnn_model *model)
{
  return gpnn_model_options(model)->draws == 0 ? GPNN_MISSING_DRAWS_CODED
                                               : gpnn_missing_draws(model);
}

/* How many rows from 'from' on are predicted at a time, so that their draws take some 16 MiB. */
static size_t rows_at_once(const struct gpnn_model *model, const struct gpnn_query *query,
                           size_t from)
{
  enum { NUMBERS = 1 << 21 };
  size_t most = NUMBERS / (draws_coded(model) * gpnn_model_channel(model, 0)->dataset->d) + 1;
  return query->n - from < most ? query->n - from : most;
}

/* Draws for 'n' rows of a query from 'from' on. */
static enum gpnn_status draw(struct drawn *drawn, const struct gpnn_model *model,
                             const struct gpnn_query *query, size_t from, size_t n,
                             struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = gpnn_model_channel(model, 0)->dataset;
  *drawn = (struct drawn){.dataset = dataset,
                          .given = gpnn_query_part(query, dataset, from, n),
                          .n_draws = gpnn_missing_draws(model),
                          .n_coded = draws_coded(model)};
  enum gpnn_status status = make_room(drawn, err);
  if (status != GPNN_OK) return status;
  gpnn_threads_each(gpnn_model_options(model)->threads, n, 1, draw_row, drawn);
  gather(drawn);
  return GPNN_OK;
}

static void drawn_release(struct drawn *drawn)
{
  gpnn_arrays_free(drawn->first_array);
  gpnn_arrays_free(drawn->arrays);
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* Mean and variance of a target over the training rows, but for the noise. */
static void find_marginal(const struct gpnn_channel *channel, double *mean, double *variance)
{
  const struct gpnn_dataset *dataset = channel->dataset;
  double sum = 0, squares = 0;
  for (size_t i = 0; i < dataset->n; i++) sum += dataset->y[i];
  *mean = sum / (double)dataset->n;
  for (size_t i = 0; i < dataset->n; i++)
    squares += (dataset->y[i] - *mean) * (dataset->y[i] - *mean);
  *variance = fmax(0, squares / (double)dataset->n - gpnn_parameters_noise(channel->parameters));
}

/* Writes the mean of those of the numbers that are at 'n' places, if they are wanted. */
static void average(size_t n, const size_t *place, const double *from, double *to)
{
  double sum = 0;
  if (to == NULL) return;
  for (size_t k = 0; k < n; k++) sum += from[place[k]];
  *to = sum / (double)n;
}

/* What the differences between the draws' means add to the variance. */
static double disagreement(size_t n, const size_t *place, const double *mean)
{
  double centre, sum = 0;
  if (n < 2) return 0;
  average(n, place, mean, &centre);
  for (size_t k = 0; k < n; k++) sum += (mean[place[k]] - centre) * (mean[place[k]] - centre);
  return sum / (double)n * (double)(n + 1) / (double)(n - 1);
}

static double *at(double *array, size_t i)
{
  return array == NULL ? NULL : array + i;
}

static void put(double *array, size_t i, double value)
{
  if (array != NULL) array[i] = value;
}

/* Combines the predictions of the draws for row 'i', entry 'to' of what is asked for. */
static void combine_row(const struct drawn *drawn, const struct gpnn_latent *of, size_t channel,
                        size_t i, size_t to, const struct gpnn_latent *latent)
{
  const size_t *place = drawn->place + drawn->first[i];
  size_t n = drawn->first[i + 1] - drawn->first[i], from = channel * drawn->query.n;
  average(n, place, at(of->mean, from), at(latent->mean, to));
  average(n, place, at(of->variance, from), at(latent->variance, to));
  average(n, place, at(of->mean_variance, from), at(latent->mean_variance, to));
  average(n, place, at(of->misfit, from), at(latent->misfit, to));
  average(n, place, at(of->nearest, from), at(latent->nearest, to));
  average(n, place, at(of->noise, from), at(latent->noise, to));
  average(n, place, at(of->share, from), at(latent->share, to));
  /* No local scale is to multiply what the draws add (likelihood/scale.h), so that it counts as the
   * mean's variance too. */
  double between = disagreement(n, place, of->mean + from);
  if (latent->variance != NULL) latent->variance[to] += between;
  if (latent->mean_variance != NULL) latent->mean_variance[to] += between;
}

/* The same for all rows drawn for, which are those from 'from' on of 'n_rows' predicted. */
static void combine(const struct gpnn_model *model, const struct drawn *drawn, size_t from,
                    size_t n_rows, const struct gpnn_latent *of, const struct gpnn_latent *latent)
{
  for (size_t c = 0; c < gpnn_model_n_channels(model); c++) {
    double mean = NAN, variance = NAN;
    for (size_t i = 0; i < drawn->given.n; i++) {
      size_t to = c * n_rows + from + i;
      if (drawn->first[i + 1] > drawn->first[i]) {
        combine_row(drawn, of, c, i, to, latent);
        continue;
      }
      if (isnan(mean)) find_marginal(gpnn_model_channel(model, c), &mean, &variance);
      put(latent->mean, to, mean);
      put(latent->variance, to, variance);
      put(latent->mean_variance, to, 0);
      put(latent->misfit, to, 1);
      put(latent->nearest, to, INFINITY);
      put(latent->share, to, NAN);
    }
  }
}

static enum gpnn_status predict_rows(const struct gpnn_model *model, const struct gpnn_query *query,
                                     size_t from, size_t n_rows, const struct gpnn_latent *latent,
                                     struct gpnn_counts *counts, struct gpnn_error *err)
{
  struct drawn drawn;
  struct gpnn_latent of = {.atom = latent->atom};
  size_t channels = gpnn_model_n_channels(model);
  enum gpnn_status status = draw(&drawn, model, query, from, n_rows, err);
  size_t n = status == GPNN_OK ? drawn.query.n : 0;
  struct gpnn_arrays *arrays =
      GPNN_ARRAYS(GPNN_ARRAY(of.mean, channels, n),
                  GPNN_ARRAY_IF(latent->variance != NULL, of.variance, channels, n),
                  GPNN_ARRAY_IF(latent->mean_variance != NULL, of.mean_variance, channels, n),
                  GPNN_ARRAY_IF(latent->misfit != NULL, of.misfit, channels, n),
                  GPNN_ARRAY_IF(latent->nearest != NULL, of.nearest, channels, n),
                  GPNN_ARRAY_IF(latent->noise != NULL, of.noise, channels, n),
                  GPNN_ARRAY_IF(latent->share != NULL, of.share, channels, n));
  if (status == GPNN_OK && arrays == NULL)
    status = gpnn_fail_memory(err, "for rows that lack inputs");
  if (status == GPNN_OK) status = gpnn_model_predict(model, &drawn.query, &of, counts, err);
  if (status == GPNN_OK) combine(model, &drawn, from, query->n, &of, latent);
  gpnn_arrays_free(arrays);
  drawn_release(&drawn);
  return status;
}

enum gpnn_status gpnn_missing_predict(const struct gpnn_model *model,
                                      const struct gpnn_query *query,
                                      const struct gpnn_latent *latent, struct gpnn_counts *counts,
                                      struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t from = 0, n; from < query->n && status == GPNN_OK; from += n) {
    n = rows_at_once(model, query, from);
    status = predict_rows(model, query, from, n, latent, counts, err);
  }
  return status;
}

/* ---- classes ------------------------------------------------------------------------------- */

/* Writes the frequencies of the classes. */
static enum gpnn_status find_frequencies(const struct gpnn_dataset *dataset, size_t n_classes,
                                         double *p, struct gpnn_error *err)
{
  size_t *counts = gpnn_alloc(n_classes, 1, sizeof *counts);
  if (counts == NULL) return gpnn_fail_memory(err, "for the classes");
  gpnn_dataset_count_classes(dataset, counts);
  for (size_t c = 0; c < n_classes; c++) p[c] = (double)counts[c] / (double)dataset->n;
  free(counts);
  return GPNN_OK;
}

/* The same for one row as combine_row(). */
static enum gpnn_status combine_classes(const struct drawn *drawn,
                                        const struct gpnn_dataset *dataset, size_t n_classes,
                                        size_t i, const double *of, const double *of_nearest,
                                        double *p, double *nearest, struct gpnn_error *err)
{
  const size_t *place = drawn->place + drawn->first[i];
  size_t n = drawn->first[i + 1] - drawn->first[i];
  if (nearest != NULL) nearest[i] = INFINITY;
  if (n == 0) return find_frequencies(dataset, n_classes, p + i * n_classes, err);
  if (nearest != NULL) average(n, place, of_nearest, &nearest[i]);
  for (size_t c = 0; c < n_classes; c++) {
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += of[place[k] * n_classes + c];
    p[i * n_classes + c] = sum / (double)n;
  }
  return GPNN_OK;
}

static enum gpnn_status classify_rows(const struct gpnn_model *model, size_t channel,
                                      const struct gpnn_query *query, size_t from, size_t n_rows,
                                      double *p, double *nearest, struct gpnn_counts *counts,
                                      struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = gpnn_model_channel(model, channel)->dataset;
  size_t n_classes = gpnn_dataset_n_classes(dataset);
  double *of = NULL, *of_nearest = NULL;
  struct drawn drawn;
  enum gpnn_status status = draw(&drawn, model, query, from, n_rows, err);
  size_t n = status == GPNN_OK ? drawn.query.n : 0;
  struct gpnn_arrays *arrays =
      GPNN_ARRAYS(GPNN_ARRAY(of, n, n_classes), GPNN_ARRAY(of_nearest, n, 1));
  if (status == GPNN_OK && arrays == NULL)
    status = gpnn_fail_memory(err, "for rows that lack inputs");
  if (status == GPNN_OK)
    status = gpnn_model_classify(model, channel, &drawn.query, of, of_nearest, counts, err);
  for (size_t i = 0; i < n_rows && status == GPNN_OK; i++)
    status = combine_classes(&drawn, dataset, n_classes, i, of, of_nearest, p, nearest, err);
  gpnn_arrays_free(arrays);
  drawn_release(&drawn);
  return status;
}

enum gpnn_status gpnn_missing_classify(const struct gpnn_model *model, size_t channel,
                                       const struct gpnn_query *query, double *p, double *nearest,
                                       struct gpnn_counts *counts, struct gpnn_error *err)
{
  size_t n_classes = gpnn_dataset_n_classes(gpnn_model_channel(model, channel)->dataset);
  enum gpnn_status status = GPNN_OK;
  for (size_t from = 0, n; from < query->n && status == GPNN_OK; from += n) {
    n = rows_at_once(model, query, from);
    status = classify_rows(model, channel, query, from, n, p + from * n_classes,
                           nearest == NULL ? NULL : nearest + from, counts, err);
  }
  return status;
}
