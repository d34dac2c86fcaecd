#include "models/grouped/grouped.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "kernel/effects.h"
#include "linalg/arrays.h"
#include "linalg/blas_threads.h"
#include "models/heldout.h"

/* Rows whose weights are in memory at once. */
enum { CHUNK = 1024 };

struct grouped {
  size_t n;                            /* channels */
  const struct gpnn_channel *channels; /* n; borrowed, as are the options */
  const struct gpnn_model_options *options;
  struct gpnn_model *process;         /* owned; of the same channels without effects */
  struct gpnn_channel *own;           /* owned; n: its channels */
  struct gpnn_parameters *parameters; /* owned; n: theirs, which borrow all that they point to */
  struct gpnn_effect_design *designs; /* owned; n: zeroed where a channel has no effects */
  struct gpnn_sparse_factor *factors; /* owned; n: those of their posteriors, but for an inverse of
                                         their own, unless they have one */
  uint32_t **owners; /* owned; n: of each column of a design, the group of training rows that alone
                        have it, or SHARED; NULL: training rows have no groups */
};

/* The owner of what rows of several groups have, and the group of rows that have none. */
static const uint32_t SHARED = UINT32_MAX, NOBODY = UINT32_MAX - 1;

/* ---- life ------------------------------------------------------------------------------------ */

static bool has_inverse(const struct gpnn_channel *channel)
{
  const struct gpnn_effect_posterior *posterior = channel->parameters->effects.posterior;
  return posterior != NULL && posterior->factor.inverse != NULL;
}

static void grouped_free(void *state)
{
  struct grouped *grouped = state;
  if (grouped == NULL) return;
  gpnn_model_free(grouped->process);
  for (size_t c = 0; c < grouped->n && grouped->designs != NULL; c++)
    gpnn_effect_design_release(&grouped->designs[c]);
  for (size_t c = 0; c < grouped->n && grouped->factors != NULL; c++)
    if (!has_inverse(&grouped->channels[c])) free(grouped->factors[c].inverse);
  for (size_t c = 0; c < grouped->n && grouped->owners != NULL; c++) free(grouped->owners[c]);
  free(grouped->own);
  free(grouped->parameters);
  free(grouped->designs);
  free(grouped->factors);
  free(grouped->owners);
  free(grouped);
}

/* Takes the factor of a channel's posterior.  Its inverse makes predictions faster, and takes as
 * long as two factorisations do. */
static enum gpnn_status make_factor(const struct gpnn_channel *channel,
                                    struct gpnn_sparse_factor *factor, struct gpnn_error *err)
{
  enum { MOST = 2000000 }; /* numbers, which a second is enough for */
  if (channel->parameters->effects.n_variances == 0) return GPNN_OK;
  *factor = channel->parameters->effects.posterior->factor;
  if (has_inverse(channel) || factor->start[factor->n] > MOST) return GPNN_OK;
  if (gpnn_blas_claim(1) < 1) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  return gpnn_sparse_factor_inverse(factor, err);
}

/* Finds which effects are those of a single group of training rows: these are left out together. */
static enum gpnn_status find_owners(const struct gpnn_dataset *dataset,
                                    const struct gpnn_effect_design *design, uint32_t **owners,
                                    struct gpnn_error *err)
{
  if (dataset->row_group == NULL) return GPNN_OK;
  uint32_t *owner = *owners = gpnn_alloc(design->n_columns, 1, sizeof *owner);
  uint32_t *columns = gpnn_alloc(design->n_numbers, 1, sizeof *columns);
  double *values = gpnn_alloc(design->n_numbers, 1, sizeof *values);
  bool enough = owner != NULL && columns != NULL && values != NULL;
  for (size_t j = 0; j < design->n_columns && enough; j++) owner[j] = NOBODY;
  for (size_t i = 0; i < dataset->n && enough; i++) {
    size_t n = gpnn_effect_design_row(design, dataset->x + i * dataset->d, columns, values);
    for (size_t k = 0; k < n; k++) {
      uint32_t *of = &owner[columns[k]];
      *of = *of == NOBODY || *of == dataset->row_group[i] ? dataset->row_group[i] : SHARED;
    }
  }
  free(columns);
  free(values);
  return enough ? GPNN_OK : gpnn_fail_memory(err, "for the effects");
}

/* Sets the channels of the process. */
static bool make_channels(struct grouped *grouped)
{
  grouped->own = gpnn_alloc(grouped->n, 1, sizeof *grouped->own);
  grouped->parameters = gpnn_alloc(grouped->n, 1, sizeof *grouped->parameters);
  grouped->designs = gpnn_alloc(grouped->n, 1, sizeof *grouped->designs);
  grouped->factors = gpnn_alloc(grouped->n, 1, sizeof *grouped->factors);
  grouped->owners = gpnn_alloc(grouped->n, 1, sizeof *grouped->owners);
  if (grouped->own == NULL || grouped->parameters == NULL || grouped->designs == NULL ||
      grouped->factors == NULL || grouped->owners == NULL)
    return false;
  for (size_t c = 0; c < grouped->n; c++) {
    grouped->parameters[c] = *grouped->channels[c].parameters;
    grouped->parameters[c].effects = (struct gpnn_effects){0};
    grouped->own[c] = (struct gpnn_channel){grouped->channels[c].dataset, &grouped->parameters[c]};
  }
  return true;
}

/* Makes all but the model of the process. */
static enum gpnn_status begin(struct grouped **grouped, size_t n,
                              const struct gpnn_channel *channels,
                              const struct gpnn_model_options *options, struct gpnn_error *err)
{
  struct grouped *new = calloc(1, sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "for a model");
  *new = (struct grouped){.n = n, .channels = channels, .options = options};
  enum gpnn_status status = make_channels(new) ? GPNN_OK : gpnn_fail_memory(err, "for a model");
  for (size_t c = 0; c < n && status == GPNN_OK; c++)
    if (channels[c].parameters->effects.n_variances > 0)
      status = gpnn_effect_design_of(&new->designs[c], channels[c].dataset,
                                     &channels[c].parameters->effects, err);
  for (size_t c = 0; c < n && status == GPNN_OK; c++)
    status = make_factor(&channels[c], &new->factors[c], err);
  for (size_t c = 0; c < n && status == GPNN_OK; c++)
    status = find_owners(channels[c].dataset, &new->designs[c], &new->owners[c], err);
  if (status == GPNN_OK)
    *grouped = new;
  else
    grouped_free(new);
  return status;
}

static enum gpnn_status finish(struct grouped *grouped, enum gpnn_status status, void **state)
{
  if (status == GPNN_OK)
    *state = grouped;
  else
    grouped_free(grouped);
  return status;
}

static enum gpnn_status grouped_make(void **state, size_t n, const struct gpnn_channel *channels,
                                     const struct gpnn_model_options *options,
                                     struct gpnn_error *err)
{
  struct grouped *grouped = NULL;
  enum gpnn_status status = begin(&grouped, n, channels, options, err);
  if (status != GPNN_OK) return status;
  return finish(grouped, gpnn_model_new(&grouped->process, n, grouped->own, options, err), state);
}

static enum gpnn_status grouped_with(const void *state, const struct gpnn_channel *channels,
                                     void **other, struct gpnn_error *err)
{
  const struct grouped *from = state;
  struct grouped *grouped = NULL;
  enum gpnn_status status = begin(&grouped, from->n, channels, from->options, err);
  if (status != GPNN_OK) return status;
  return finish(grouped, gpnn_model_with(from->process, grouped->own, &grouped->process, err),
                other);
}

/* ---- predictions ----------------------------------------------------------------------------- */

/* What a thread needs to add the effects of one row after another. */
struct scratch {
  uint32_t *columns;
  double *values, *solved;
  struct gpnn_arrays *arrays; /* owned; what frees them */
};

/* The rows of a query from 'from' on, in one channel. */
struct adding {
  const struct grouped *grouped;
  size_t channel;
  const struct gpnn_query *query; /* all of it */
  size_t from, m;           /* the first row; neighbours of each, 0: they have no part in it */
  const int64_t *neighbour; /* rows by m */
  const double *weight;
  double *mean, *variance, *mean_variance; /* of all rows; the last may be NULL */
  struct scratch *scratch;                 /* one for each thread */
};

static bool scratch_init(struct scratch *scratch, const struct gpnn_effect_design *design, size_t m,
                         const struct gpnn_sparse_factor *factor)
{
  size_t n = (1 + m) * design->n_numbers;
  scratch->arrays =
      GPNN_ARRAYS(GPNN_ARRAY(scratch->columns, n, 1), GPNN_ARRAY(scratch->values, n, 1),
                  GPNN_ARRAY(scratch->solved, gpnn_sparse_factor_scratch(factor), 1));
  return scratch->arrays != NULL;
}

/* The training row that a row is, or -1. */
static int64_t self_of(const struct adding *adding, size_t row)
{
  return adding->query->self == NULL ? -1 : adding->query->self[adding->from + row];
}

/* The group of training rows that a row belongs to, or NOBODY. */
static uint32_t group_of(const struct adding *adding, size_t row)
{
  const struct gpnn_dataset *data = adding->grouped->channels[adding->channel].dataset;
  int64_t self = self_of(adding, row);
  if (data->row_group == NULL) return NOBODY;
  if (adding->query->group != NULL) return adding->query->group[adding->from + row];
  return self < 0 ? NOBODY : data->row_group[self];
}

/* Writes z, without what only rows of its own group tell, and returns how many numbers it has. */
static size_t gather_own(const struct adding *adding, const struct scratch *s, size_t row)
{
  const struct gpnn_dataset *data = adding->grouped->channels[adding->channel].dataset;
  const uint32_t *owners = adding->grouped->owners[adding->channel], group = group_of(adding, row);
  size_t kept = 0;
  size_t n = gpnn_effect_design_row(&adding->grouped->designs[adding->channel],
                                    adding->query->x + (adding->from + row) * data->d, s->columns,
                                    s->values);
  if (group == NOBODY) return n;
  for (size_t i = 0; i < n; i++) {
    s->columns[kept] = s->columns[i];
    s->values[kept] = s->values[i];
    kept += owners[s->columns[i]] != group;
  }
  return kept;
}

/* Adds the numbers of -Z_N'w to the 'n' that there are, and returns how many there are now. */
static size_t gather_neighbours(const struct adding *adding, const struct scratch *s, size_t row,
                                size_t n)
{
  const struct gpnn_dataset *data = adding->grouped->channels[adding->channel].dataset;
  for (size_t k = 0; k < adding->m; k++) {
    int64_t neighbour = adding->neighbour[row * adding->m + k];
    double weight = adding->weight[row * adding->m + k];
    if (neighbour < 0 || weight == 0) continue;
    size_t added = gpnn_effect_design_row(&adding->grouped->designs[adding->channel],
                                          data->x + (size_t)neighbour * data->d, s->columns + n,
                                          s->values + n);
    for (size_t i = n; i < n + added; i++) s->values[i] *= -weight;
    n += added;
  }
  return n;
}

/* Takes back what a training row has told of the effects: they have the variance 'spread' in it. */
static void leave_out(const struct adding *adding, size_t row, double *mean, double *spread)
{
  static const double most = 0.99;
  size_t at = adding->from + row, self = (size_t)self_of(adding, row);
  const struct gpnn_channel *own = &adding->grouped->own[adding->channel];
  double variance = adding->variance[at] + gpnn_channel_noise(own->dataset, own->parameters, self);
  double share = fmin(most, *spread / variance);
  *mean -= share / (1 - share) * (own->dataset->y[self] - adding->mean[at]);
  *spread /= 1 - share;
}

static void add_row(void *context, size_t thread, size_t row)
{
  const struct adding *adding = context;
  const struct scratch *s = &adding->scratch[thread];
  const struct gpnn_channel *channel = &adding->grouped->channels[adding->channel];
  const struct gpnn_effects *effects = &channel->parameters->effects;
  size_t at = adding->from + row, n_own = gather_own(adding, s, row);
  size_t n = gather_neighbours(adding, s, row, n_own);
  double mean = 0;
  for (size_t i = 0; i < n_own; i++) mean += s->values[i] * effects->posterior->mean[s->columns[i]];
  double unseen =
      gpnn_effects_unseen(&adding->grouped->designs[adding->channel], effects,
                          adding->query->x + at * channel->dataset->d, n_own, s->columns);
  double spread =
      effects->unit * gpnn_sparse_factor_form(&adding->grouped->factors[adding->channel], n,
                                              s->columns, s->values, s->solved);
  /* A row whose own effects are unseen has told them alone. */
  if (self_of(adding, row) >= 0 && unseen == 0) leave_out(adding, row, &mean, &spread);
  spread += effects->unit * unseen;
  adding->mean[at] += mean;
  adding->variance[at] += spread;
  if (adding->mean_variance != NULL) adding->mean_variance[at] += spread;
}

/* Adds the effects to rows [from, from + n), whose neighbours go into arrays that are 'adding's. */
static enum gpnn_status add_part(struct adding *adding, size_t from, size_t n, int64_t *neighbour,
                                 double *weight, struct gpnn_error *err)
{
  const struct grouped *grouped = adding->grouped;
  const struct gpnn_dataset *dataset = grouped->channels[adding->channel].dataset;
  const struct gpnn_query part = gpnn_query_part(adding->query, dataset, from, n);
  const struct gpnn_weights weights = {.neighbour = neighbour, .weight = weight};
  struct gpnn_counts counts = {0}; /* the process has counted these events already */
  enum gpnn_status status = GPNN_OK;
  adding->from = from;
  if (adding->m > 0)
    status = gpnn_model_weights(grouped->process, adding->channel, &part, &weights, &counts, err);
  if (status == GPNN_OK)
    gpnn_threads_each(gpnn_threads_for(grouped->options->threads, n), n, 1, add_row, adding);
  return status;
}

/* Adds the effects of a channel to its predictions of all rows. */
static enum gpnn_status add_effects(const struct grouped *grouped, size_t c,
                                    const struct gpnn_query *query, double *mean, double *variance,
                                    double *mean_variance, struct gpnn_error *err)
{
  const struct gpnn_parameters *parameters = grouped->channels[c].parameters;
  int threads = gpnn_threads_for(grouped->options->threads, query->n);
  size_t chunk = query->n < CHUNK ? query->n : CHUNK;
  size_t m =
      gpnn_parameters_lack_process(parameters) ? 0 : gpnn_model_n_weights(grouped->process, c);
  int64_t *neighbour = gpnn_alloc(chunk, m, sizeof *neighbour);
  double *weight = gpnn_alloc(chunk, m, sizeof *weight);
  struct scratch *scratch = gpnn_alloc((size_t)threads, 1, sizeof *scratch);
  struct adding adding = {grouped, c,        query,         0,      m, neighbour, weight,
                          mean,    variance, mean_variance, scratch};
  bool enough = neighbour != NULL && weight != NULL && scratch != NULL;
  for (int t = 0; t < threads && enough; t++)
    enough = scratch_init(&scratch[t], &grouped->designs[c], m, &grouped->factors[c]);
  enum gpnn_status status = enough ? GPNN_OK : gpnn_fail_memory(err, "for the effects");
  for (size_t from = 0; from < query->n && status == GPNN_OK; from += chunk) {
    size_t n = query->n - from < chunk ? query->n - from : chunk;
    status = add_part(&adding, from, n, neighbour, weight, err);
  }
  for (int t = 0; t < threads && scratch != NULL; t++) gpnn_arrays_free(scratch[t].arrays);
  free(neighbour);
  free(weight);
  free(scratch);
  return status;
}

static enum gpnn_status grouped_predict(const void *state, const struct gpnn_query *query,
                                        const struct gpnn_latent *latent,
                                        struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct grouped *grouped = state;
  struct gpnn_latent wanted = *latent;
  double *mean = NULL, *variance = NULL;
  size_t n = query->n;
  struct gpnn_arrays *arrays =
      GPNN_ARRAYS(GPNN_ARRAY_IF(latent->mean == NULL, mean, grouped->n, n),
                  GPNN_ARRAY_IF(latent->variance == NULL, variance, grouped->n, n));
  if (arrays == NULL) return gpnn_fail_memory(err, "for the effects");
  if (wanted.mean == NULL) wanted.mean = mean;
  if (wanted.variance == NULL) wanted.variance = variance;
  enum gpnn_status status = gpnn_model_predict(grouped->process, query, &wanted, counts, err);
  for (size_t c = 0; c < grouped->n && status == GPNN_OK; c++)
    if (grouped->designs[c].n_effects > 0)
      status = add_effects(grouped, c, query, wanted.mean + c * n, wanted.variance + c * n,
                           wanted.mean_variance == NULL ? NULL : wanted.mean_variance + c * n, err);
  gpnn_arrays_free(arrays);
  return status;
}

/* ---- what the process does --------------------------------------------------------------- */

static enum gpnn_status grouped_hold_out(const void *state,
                                         const struct gpnn_holdout_options *options,
                                         struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  return gpnn_model_hold_out(((const struct grouped *)state)->process, options, heldout, err);
}

static size_t grouped_neighbours(const void *state, size_t channel)
{
  return gpnn_model_neighbours(((const struct grouped *)state)->process, channel);
}

static bool grouped_rebuilt_search(const void *state)
{
  return gpnn_model_rebuilt_search(((const struct grouped *)state)->process);
}

const struct gpnn_model_ops gpnn_grouped_ops = {.make = grouped_make,
                                                .with = grouped_with,
                                                .predict = grouped_predict,
                                                .hold_out = grouped_hold_out,
                                                .neighbours = grouped_neighbours,
                                                .rebuilt_search = grouped_rebuilt_search,
                                                .free = grouped_free};
