#include "models/stored_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/stored.h"

#define MEMORY_FOR "for a stored model"

struct member {
  struct gpnn_parameters parameters; /* borrows all that the channel's own do not differ in */
  struct gpnn_channel channel;
  double factor; /* of the kernel scale */
  void *state;   /* owned; NULL: not yet */
};

struct stored_model {
  size_t n;
  int threads;
  gpnn_stored_make *make;
  gpnn_stored_free *free;
  struct member *members; /* owned; n */
};

/* ---- making ------------------------------------------------------------------------------- */

void gpnn_stored_model_free(void *model)
{
  struct stored_model *m = model;
  if (m == NULL) return;
  for (size_t c = 0; m->members != NULL && c < m->n; c++) m->free(m->members[c].state);
  free(m->members);
  free(m);
}

/* Gives a member the parameters that the arrays of its channel were made for. */
static enum gpnn_status member_init(struct member *member, const struct gpnn_channel *channel,
                                    struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = channel->dataset;
  if (dataset->stored == NULL)
    return gpnn_fail(err, GPNN_EMISMATCH, "parameters of a model file, whose arrays are not here");
  const struct gpnn_state_array *own = gpnn_state_find(
      dataset->stored->arrays, dataset->schema.target.name, GPNN_STORED_KERNELSCALE);
  member->parameters = *channel->parameters;
  member->channel = (struct gpnn_channel){dataset, &member->parameters};
  member->factor = 1;
  if (own == NULL) return GPNN_OK;
  if (own->n != 1 || !gpnn_parameters_can_have(own->values[0], 0))
    return gpnn_fail(err, GPNN_EFORMAT, "the model has no valid array '%s'",
                     GPNN_STORED_KERNELSCALE);
  member->factor = channel->parameters->covariance.kernelscale / own->values[0];
  member->parameters.covariance.kernelscale = own->values[0];
  member->parameters.covariance.noise /= member->factor;
  return GPNN_OK;
}

enum gpnn_status gpnn_stored_model_new(void **model, size_t n, const struct gpnn_channel *channels,
                                       int threads, gpnn_stored_make *make,
                                       gpnn_stored_free *release, struct gpnn_error *err)
{
  struct stored_model *m = calloc(1, sizeof *m);
  if (m == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  *m = (struct stored_model){.n = n, .threads = threads, .make = make, .free = release};
  m->members = calloc(n, sizeof *m->members);
  enum gpnn_status status = m->members == NULL ? gpnn_fail_memory(err, MEMORY_FOR) : GPNN_OK;
  for (size_t c = 0; c < n && status == GPNN_OK; c++) {
    struct member *member = &m->members[c];
    status = member_init(member, &channels[c], err);
    if (status == GPNN_OK) status = make(&member->state, &member->channel, threads, err);
  }
  if (status == GPNN_OK)
    *model = m;
  else
    gpnn_stored_model_free(m);
  return status;
}

enum gpnn_status gpnn_stored_model_with(const void *model, const struct gpnn_channel *channels,
                                        void **other, struct gpnn_error *err)
{
  const struct stored_model *m = model;
  return gpnn_stored_model_new(other, m->n, channels, m->threads, m->make, m->free, err);
}

/* ---- predictions -------------------------------------------------------------------------- */

static double *of_channel(double *values, size_t channel, size_t n)
{
  return values == NULL ? NULL : values + channel * n;
}

static void copy(double *to, const double *from, size_t n)
{
  if (to != NULL) memcpy(to, from, n * sizeof *to);
}

/* Predicts the rows of one member, or copies what is known of those held out. */
static enum gpnn_status predict_member(const struct member *member, const struct gpnn_query *query,
                                       const struct gpnn_latent *latent,
                                       gpnn_stored_predict *predict, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (query->n > 0 && query->x != NULL)
    status = predict(member->state, query->n, query->x, latent, err);
  else if (query->n > 0) {
    const struct gpnn_stored_latent *known = &member->channel.dataset->stored->held_out;
    copy(latent->mean, known->mean, query->n);
    copy(latent->variance, known->variance, query->n);
    copy(latent->nearest, known->nearest, query->n);
  }
  for (size_t i = 0; i < query->n && latent->variance != NULL && member->factor != 1; i++)
    latent->variance[i] *= member->factor;
  return status;
}

enum gpnn_status gpnn_stored_model_predict(const void *model, const struct gpnn_query *query,
                                           const struct gpnn_latent *latent,
                                           gpnn_stored_predict *predict, struct gpnn_error *err)
{
  const struct stored_model *m = model;
  enum gpnn_status status = GPNN_OK;
  for (size_t c = 0; c < m->n && status == GPNN_OK; c++) {
    const struct gpnn_latent own = {.mean = of_channel(latent->mean, c, query->n),
                                    .variance = of_channel(latent->variance, c, query->n),
                                    .nearest = of_channel(latent->nearest, c, query->n)};
    status = predict_member(&m->members[c], query, &own, predict, err);
  }
  for (size_t i = 0; i < m->n * query->n && status == GPNN_OK; i++) {
    if (latent->mean_variance != NULL) latent->mean_variance[i] = 0;
    if (latent->misfit != NULL) latent->misfit[i] = 1;
  }
  return status;
}

/* The covariances of errors: of the process alone, as no mean function is uncertain. */
static void scale_errors(const struct gpnn_errors *errors, size_t n, double factor,
                         double *covariance)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      covariance[i * n + j] *= factor * errors->process[i] * errors->process[j];
}

static double total(size_t n, const double *matrix)
{
  double sum = 0;
  for (size_t i = 0; i < n * n; i++) sum += matrix[i];
  return sum;
}

enum gpnn_status gpnn_stored_model_joint(const void *model, size_t channel,
                                         const struct gpnn_query *query,
                                         const struct gpnn_errors *errors, double *covariance,
                                         gpnn_stored_joint *joint, struct gpnn_error *err)
{
  const struct member *member = &((const struct stored_model *)model)->members[channel];
  double *all = errors->total ? gpnn_alloc(query->n, query->n, sizeof *all) : covariance;
  if (all == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status =
      query->n == 0 ? GPNN_OK : joint(member->state, query->n, query->x, all, err);
  if (status == GPNN_OK) scale_errors(errors, query->n, member->factor, all);
  if (status == GPNN_OK && errors->total) *covariance = total(query->n, all);
  if (errors->total) free(all);
  return status;
}
