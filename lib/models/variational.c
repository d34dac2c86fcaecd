#include "models/variational.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/stored.h"
#include "models/family.h"

#define MEMORY_FOR "for a variational model"

/* ---- the table ---------------------------------------------------------------------------- */

static const struct gpnn_family_ops *const families[] = {
    &gpnn_inducing_ops[0], &gpnn_inducing_ops[1], &gpnn_inducing_ops[2], &gpnn_tucker_ops};

static const struct gpnn_family_ops *find_family(enum gpnn_family family)
{
  for (size_t f = 0; f < sizeof families / sizeof *families; f++)
    if (families[f]->family == family) return families[f];
  return NULL;
}

/* ---- making ------------------------------------------------------------------------------- */

/* A channel's family, and what it has prepared.  Its arrays belong to the kernel scale that they
 * were made for: calibration may have multiplied that by a factor, which multiplies variances and
 * leaves means alone (gpnn-model(5)). */
struct member {
  const struct gpnn_family_ops *ops;
  struct gpnn_parameters parameters; /* borrows all that the channel's own do not differ in */
  struct gpnn_channel channel;
  double factor;
  void *state; /* owned; NULL: not yet */
};

struct variational_model {
  size_t n;
  int threads;
  struct member *members; /* owned; n */
};

static void variational_free(void *state)
{
  struct variational_model *m = state;
  if (m == NULL) return;
  for (size_t c = 0; m->members != NULL && c < m->n; c++)
    if (m->members[c].state != NULL) m->members[c].ops->free(m->members[c].state);
  free(m->members);
  free(m);
}

/* Gives a member the parameters that the arrays of its channel were made for. */
static enum gpnn_status member_init(struct member *member, const struct gpnn_channel *channel,
                                    struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = channel->dataset;
  const struct gpnn_state_array *own = NULL;
  member->ops = find_family(channel->parameters->family);
  if (member->ops == NULL || dataset->stored == NULL)
    return gpnn_fail(err, GPNN_EMISMATCH, "not the parameters of a variational model");
  own = gpnn_state_find(dataset->stored->arrays, dataset->schema.target.name,
                        GPNN_STORED_KERNELSCALE);
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

static enum gpnn_status make_with(void **state, size_t n, const struct gpnn_channel *channels,
                                  int threads, struct gpnn_error *err)
{
  struct variational_model *m = calloc(1, sizeof *m);
  if (m == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  m->n = n;
  m->threads = threads;
  m->members = calloc(n, sizeof *m->members);
  enum gpnn_status status = m->members == NULL ? gpnn_fail_memory(err, MEMORY_FOR) : GPNN_OK;
  for (size_t c = 0; c < n && status == GPNN_OK; c++) {
    struct member *member = &m->members[c];
    status = member_init(member, &channels[c], err);
    if (status == GPNN_OK)
      status = member->ops->make(&member->state, &member->channel, threads, err);
  }
  if (status == GPNN_OK)
    *state = m;
  else
    variational_free(m);
  return status;
}

static enum gpnn_status variational_make(void **state, size_t n,
                                         const struct gpnn_channel *channels,
                                         const struct gpnn_model_options *options,
                                         struct gpnn_error *err)
{
  return make_with(state, n, channels, options->threads, err);
}

static enum gpnn_status variational_with(const void *state, const struct gpnn_channel *channels,
                                         void **other, struct gpnn_error *err)
{
  const struct variational_model *m = state;
  return make_with(other, m->n, channels, m->threads, err);
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

/* Predicts the rows of one member, or copies what is known of them. */
static enum gpnn_status predict_member(const struct member *member, const struct gpnn_query *query,
                                       const struct gpnn_family_latent *latent,
                                       struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (query->known != NULL) {
    copy(latent->mean, query->known->mean, query->n);
    copy(latent->variance, query->known->variance, query->n);
    copy(latent->nearest, query->known->nearest, query->n);
  } else
    status = member->ops->predict(member->state, query->n, query->x, latent, err);
  for (size_t i = 0; i < query->n && latent->variance != NULL && member->factor != 1; i++)
    latent->variance[i] *= member->factor;
  return status;
}

static enum gpnn_status variational_predict(const void *state, const struct gpnn_query *query,
                                            const struct gpnn_latent *latent,
                                            struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct variational_model *m = state;
  enum gpnn_status status = GPNN_OK;
  (void)counts; /* whose events are those of single rows */
  for (size_t c = 0; c < m->n && status == GPNN_OK; c++) {
    const struct gpnn_family_latent own = {.mean = of_channel(latent->mean, c, query->n),
                                           .variance = of_channel(latent->variance, c, query->n),
                                           .nearest = of_channel(latent->nearest, c, query->n)};
    status = predict_member(&m->members[c], query, &own, err);
  }
  for (size_t i = 0; i < m->n * query->n && status == GPNN_OK; i++) {
    if (latent->mean_variance != NULL) latent->mean_variance[i] = 0;
    if (latent->misfit != NULL) latent->misfit[i] = 1;
  }
  return status;
}

/* The covariances of errors: of the process alone, as there is no mean function to be uncertain of.
 */
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

static enum gpnn_status variational_joint(const void *state, size_t channel,
                                          const struct gpnn_query *query,
                                          const struct gpnn_errors *errors, double *covariance,
                                          struct gpnn_error *err)
{
  const struct member *member = &((const struct variational_model *)state)->members[channel];
  if (member->ops->joint == NULL)
    return gpnn_fail(err, GPNN_EINVAL, "this model does not know how errors of rows go together");
  double *all = errors->total ? gpnn_alloc(query->n, query->n, sizeof *all) : covariance;
  if (all == NULL) return gpnn_fail_memory(err, MEMORY_FOR);
  enum gpnn_status status = member->ops->joint(member->state, query->n, query->x, all, err);
  if (status == GPNN_OK) scale_errors(errors, query->n, member->factor, all);
  if (status == GPNN_OK && errors->total) *covariance = total(query->n, all);
  if (errors->total) free(all);
  return status;
}

/* ---- what needs training rows ------------------------------------------------------------- */

static enum gpnn_status variational_predict_each(const void *state, const struct gpnn_query *query,
                                                 size_t n_numbers, const size_t *numbers,
                                                 const struct gpnn_latent *latent,
                                                 struct gpnn_counts *counts, struct gpnn_error *err)
{
  (void)state;
  (void)query;
  (void)n_numbers;
  (void)numbers;
  (void)latent;
  (void)counts;
  return gpnn_fail(err, GPNN_EINVAL, "a variational model has no neighbours to choose");
}

static enum gpnn_status variational_hold_out(const void *state,
                                             const struct gpnn_holdout_options *options,
                                             struct gpnn_heldout *heldout, struct gpnn_error *err)
{
  (void)state;
  (void)options;
  (void)heldout;
  return gpnn_fail(err, GPNN_EINVAL,
                   "a model file has no training rows to leave out: calibrate on those that its "
                   "index held out, or on a table (--with)");
}

static size_t variational_neighbours(const void *state, size_t channel)
{
  (void)state;
  (void)channel;
  return 0;
}

static bool variational_rebuilt_search(const void *state)
{
  (void)state;
  return false;
}

const struct gpnn_model_ops gpnn_variational_ops = {.make = variational_make,
                                                    .with = variational_with,
                                                    .predict = variational_predict,
                                                    .predict_each = variational_predict_each,
                                                    .hold_out = variational_hold_out,
                                                    .joint = variational_joint,
                                                    .neighbours = variational_neighbours,
                                                    .rebuilt_search = variational_rebuilt_search,
                                                    .free = variational_free};
