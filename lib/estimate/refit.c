#include "estimate/refit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/sample.h"
#include "estimate/fit.h"
#include "kernel/effects.h"
#include "linalg/arrays.h"

/* ---- the way of estimation ---------------------------------------------------------------- */

/* A rotation cannot be learnt by every objective; one that was learnt by another is kept. */
static bool relearns_rotation(const struct gpnn_estimation *estimation)
{
  return estimation->learnt_rotation && (estimation->objective == GPNN_OBJECTIVE_LOO ||
                                         estimation->objective == GPNN_OBJECTIVE_MLL_K ||
                                         estimation->objective == GPNN_OBJECTIVE_LABELS);
}

/* Many rows determine parameters so well that a search which stops sooner comes close enough. */
static size_t steps_for(size_t steps, size_t n)
{
  static const double many_rows = 2000, least = 0.25;
  double wanted = ceil(fmin(fmax(many_rows / (double)n, least), 1) * (double)steps);
  return (size_t)wanted;
}

/*
 * The options that 'given' were estimated under, for 'n' rows.  The start is the usual one, not
 * 'given', which have seen the rows that are now left out, but for the likelihood of all rows in
 * one block.  That is followed to a maximum, which the rows left out hardly move, unless there are
 * few rows for each lengthscale, when it has many.  A rotation is learnt in a second stage, after
 * lengthscales without one.
 */
static struct gpnn_fit_options options_of(const struct gpnn_parameters *given, size_t n,
                                          int threads)
{
  const struct gpnn_covariance *covariance = &given->covariance;
  const struct gpnn_estimation *estimation = &given->provenance.estimation;
  struct gpnn_fit_options options = GPNN_FIT_OPTIONS_INIT;
  options.kernel = covariance->kernel;
  options.smoothness = covariance->smoothness;
  options.ard = covariance->n_lengthscales > 1;
  if (options.ard && given->sight != NULL) options.unseen = covariance->lengthscale;
  options.mean = given->mean.kind;
  options.neighbours = given->neighbours;
  options.first = estimation->objective;
  if (estimation->objective == GPNN_OBJECTIVE_BLOCK) {
    options.n_blocks = estimation->n_blocks;
    options.block_size = estimation->block_size;
    if (n <= options.block_size) options.start = given;
    options.n_starts = 1;
  } else {
    options.k = estimation->k;
    options.steps = steps_for(estimation->steps, n);
    options.rows = given->provenance.fit_rows;
  }
  options.thin = estimation->has_thin ? estimation->thin : -1;
  options.same_ratio = estimation->shared_ratio;
  if (estimation->fixed_lengthscale) options.fixed_lengthscale = covariance->lengthscale[0];
  if (estimation->fixed_kernelscale) options.fixed_kernelscale = covariance->kernelscale;
  if (estimation->fixed_noise) options.fixed_noise = covariance->noise;
  bool stays = given->effects.n_variances > 0; /* complete_effects() */
  if (stays) options.steps = 1;
  options.learn_rotation = !stays && relearns_rotation(estimation);
  if (options.learn_rotation) options.second = options.first;
  if (!options.learn_rotation) options.rotation = covariance->rotation;
  options.seed = estimation->seed;
  options.threads = threads;
  return options;
}

/* ---- rows --------------------------------------------------------------------------------- */

/* Copies all rows but those excluded (ascending), one of each set of copies.  GPNN_EDATA: fewer
 * than two remain. */
static enum gpnn_status take_others(struct gpnn_sample **sample, const struct gpnn_dataset *dataset,
                                    size_t n_excluded, const uint64_t *excluded,
                                    struct gpnn_error *err)
{
  enum { FEWEST = 2 };
  size_t n = 0, next = 0, n_distinct = dataset->n;
  if (dataset->n < n_excluded + FEWEST)
    return gpnn_fail(err, GPNN_EDATA, "estimation needs at least %d rows; %zu remain", FEWEST,
                     dataset->n - n_excluded);
  bool has_copies = gpnn_dataset_has_copies(dataset);
  uint64_t *row = gpnn_alloc(dataset->n - n_excluded, 1, sizeof *row);
  bool *is_first = gpnn_alloc(has_copies ? dataset->n : 0, 1, sizeof *is_first);
  if (has_copies && is_first != NULL) n_distinct = gpnn_dataset_distinct(dataset, is_first);
  bool enough = row != NULL && is_first != NULL && n_distinct > 0;
  for (uint64_t i = 0; i < dataset->n && enough; i++) {
    if (next < n_excluded && excluded[next] == i)
      next++;
    else if (!has_copies || is_first[i])
      row[n++] = i;
  }
  enum gpnn_status status = !enough      ? gpnn_fail_memory(err, "for a fit without some rows")
                            : n < FEWEST ? gpnn_fail(err, GPNN_EDATA, "%zu distinct rows remain", n)
                                         : gpnn_sample_take(sample, dataset, n, row, err);
  free(row);
  free(is_first);
  return status;
}

/* ---- targets ------------------------------------------------------------------------------ */

/* Copies 'n' numbers to '*to', which it replaces; false: there is no memory. */
static bool replace(double **to, const double *from, size_t n)
{
  double *copy = n == 0 ? NULL : gpnn_alloc(n, 1, sizeof *copy);
  if (n > 0 && copy == NULL) return false;
  if (n > 0) memcpy(copy, from, n * sizeof *copy);
  free(*to);
  *to = copy;
  return true;
}

/* Where groups have effects, the process stays as it is: effects and process were found for each
 * other, and rows that are left out are left out of the effects where they are predicted. */
static enum gpnn_status complete_effects(const struct gpnn_parameters *given,
                                         struct gpnn_parameters *params, struct gpnn_error *err)
{
  const struct gpnn_covariance *from = &given->covariance;
  struct gpnn_covariance *to = &params->covariance;
  if (given->effects.n_variances == 0) return GPNN_OK;
  if (!replace(&to->lengthscale, from->lengthscale, from->n_lengthscales) ||
      !replace(&to->rotation, from->rotation, from->n_rotation))
    return gpnn_fail_memory(err, "for parameters");
  to->n_lengthscales = from->n_lengthscales;
  to->n_rotation = from->n_rotation;
  to->kernelscale = from->kernelscale;
  to->noise = from->noise;
  return gpnn_effects_copy(&params->effects, &given->effects, err);
}

/* Gives new parameters what is not estimated from rows. */
static enum gpnn_status complete(const struct gpnn_parameters *given,
                                 struct gpnn_parameters *params, struct gpnn_error *err)
{
  params->transform = given->transform;
  params->likelihood = given->likelihood;
  params->scale = given->scale;
  params->degrees = given->degrees;
  enum gpnn_status status = complete_effects(given, params, err);
  if (status != GPNN_OK) return status;
  params->provenance.has_index = given->provenance.has_index;
  params->provenance.index = given->provenance.index;
  if (given->target == NULL) return GPNN_OK;
  params->target = gpnn_copy_text(given->target, strlen(given->target));
  return params->target == NULL ? gpnn_fail_memory(err, "for parameters") : GPNN_OK;
}

/* Fits 'n' channels together. */
static enum gpnn_status fit_channels(const struct gpnn_sample *sample, size_t n,
                                     const struct gpnn_channel *channels, int threads,
                                     struct gpnn_parameters *params, struct gpnn_error *err)
{
  size_t n_rows = gpnn_sample_target(sample, channels[0].dataset->target)->n;
  const struct gpnn_fit_options options = options_of(channels[0].parameters, n_rows, threads);
  struct gpnn_fit_report report;
  const struct gpnn_dataset **targets = gpnn_alloc(n, 1, sizeof(const struct gpnn_dataset *));
  if (targets == NULL) return gpnn_fail_memory(err, "for a fit without some rows");
  for (size_t t = 0; t < n; t++)
    targets[t] = gpnn_sample_target(sample, channels[t].dataset->target);
  enum gpnn_status status = gpnn_fit(n, targets, &options, params, &report, err);
  for (size_t t = 0; t < n && status == GPNN_OK; t++)
    status = complete(channels[t].parameters, &params[t], err);
  free(targets);
  return status;
}

/* Fits 'n' channels without members: together if they share their lengthscales. */
static enum gpnn_status refit_alone(const struct gpnn_sample *sample, size_t n,
                                    const struct gpnn_channel *channels, int threads,
                                    struct gpnn_parameters *params, struct gpnn_error *err)
{
  bool is_shared = channels[0].parameters->provenance.estimation.shared_lengthscales;
  size_t together = is_shared ? n : 1;
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < n && status == GPNN_OK; t += together)
    status = fit_channels(sample, together, channels + t, threads, params + t, err);
  return status;
}

/* ---- members ------------------------------------------------------------------------------ */

/* Members of the same rank: the first of all channels, the second, and so on. */
struct rank {
  size_t n;                         /* channels that have a member of this rank */
  size_t *channel;                  /* owned; n: which they are */
  struct gpnn_channel *own;         /* owned; n: with the member alone */
  struct gpnn_parameters *given;    /* owned; n: its parameters, which belong to the channel */
  struct gpnn_parameters *refitted; /* owned; n */
  struct gpnn_arrays *arrays;       /* owned; what frees the arrays */
};

static void free_rank(struct rank *rank)
{
  gpnn_parameters_free(rank->refitted, rank->n);
  gpnn_arrays_free(rank->arrays);
}

static enum gpnn_status make_rank(struct rank *rank, size_t r, size_t n,
                                  const struct gpnn_channel *channels, struct gpnn_error *err)
{
  rank->arrays = GPNN_ARRAYS(GPNN_ARRAY(rank->channel, n, 1), GPNN_ARRAY(rank->own, n, 1),
                             GPNN_ARRAY(rank->given, n, 1));
  rank->refitted = gpnn_alloc(n, 1, sizeof *rank->refitted);
  if (rank->arrays == NULL || rank->refitted == NULL)
    return gpnn_fail_memory(err, "for parameters");
  for (size_t c = 0; c < n; c++) {
    const struct gpnn_parameters *all = channels[c].parameters;
    if (r >= gpnn_parameters_n_members(all)) continue;
    struct gpnn_parameters *given = &rank->given[rank->n];
    *given = gpnn_parameters_alone(all, r);
    rank->own[rank->n] = (struct gpnn_channel){channels[c].dataset, given};
    rank->channel[rank->n++] = c;
  }
  return GPNN_OK;
}

/* Moves the parameters of rank 'r' to those of the channels, with the weights that they had. */
static enum gpnn_status take_refitted(struct rank *rank, size_t r,
                                      const struct gpnn_channel *channels,
                                      struct gpnn_parameters *params, struct gpnn_error *err)
{
  for (size_t i = 0; i < rank->n; i++) {
    struct gpnn_parameters *to = &params[rank->channel[i]], *from = &rank->refitted[i];
    size_t n_members = channels[rank->channel[i]].parameters->n_members;
    if (r == 1) to->members = gpnn_alloc(n_members, 1, sizeof *to->members);
    if (r == 1 && to->members == NULL) return gpnn_fail_memory(err, "for parameters");
    from->weight = rank->given[i].weight;
    if (r > 0) from->likelihood = GPNN_LIKELIHOOD_GAUSSIAN; /* only the first records it */
    *(r == 0 ? to : &to->members[to->n_members++]) = *from;
    *from = (struct gpnn_parameters){0};
  }
  return GPNN_OK;
}

/* ---- channels ----------------------------------------------------------------------------- */

/* Grids, inducing points and Polya-Gamma variables have estimations of their own. */
static bool is_recorded(const struct gpnn_parameters *params)
{
  const struct gpnn_provenance *provenance = &params->provenance;
  return params->grid.n_factors == 0 && params->family == GPNN_FAMILY_NONE &&
         params->inference == GPNN_INFERENCE_LINK &&
         provenance->estimation.objective != GPNN_OBJECTIVE_NONE && provenance->fit_rows > 0;
}

bool gpnn_channels_can_refit(size_t n, const struct gpnn_channel *channels)
{
  for (size_t c = 0; c < n; c++)
    for (size_t r = 0; r < gpnn_parameters_n_members(channels[c].parameters); r++)
      if (!is_recorded(gpnn_parameters_member(channels[c].parameters, r))) return false;
  return true;
}

enum gpnn_status gpnn_channels_refit(size_t n, const struct gpnn_channel *channels, int threads,
                                     size_t n_excluded, const uint64_t *excluded,
                                     struct gpnn_parameters *params, struct gpnn_error *err)
{
  struct gpnn_sample *sample = NULL;
  enum gpnn_status status = take_others(&sample, channels[0].dataset, n_excluded, excluded, err);
  bool is_last = false;
  for (size_t r = 0; !is_last && status == GPNN_OK; r++) {
    struct rank rank = {0};
    status = make_rank(&rank, r, n, channels, err);
    is_last = rank.n == 0;
    if (status == GPNN_OK && !is_last)
      status = refit_alone(sample, rank.n, rank.own, threads, rank.refitted, err);
    if (status == GPNN_OK) status = take_refitted(&rank, r, channels, params, err);
    free_rank(&rank);
  }
  gpnn_sample_free(sample);
  return status;
}
