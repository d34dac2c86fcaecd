/* Estimates the parameters of a local model again, as they were estimated but without some rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/sample.h"
#include "models/local/fit.h"
#include "models/local/local_private.h"

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
 * 'given', which have seen the rows that are now left out.  A rotation is learnt in a second stage,
 * after lengthscales without one.
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
  options.mean = given->mean.kind;
  options.neighbours = given->neighbours;
  options.first = estimation->objective;
  if (estimation->objective == GPNN_OBJECTIVE_BLOCK) {
    options.n_blocks = estimation->n_blocks;
    options.block_size = estimation->block_size;
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
  options.learn_rotation = relearns_rotation(estimation);
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

/* Gives new parameters what is not estimated from rows. */
static enum gpnn_status complete(const struct gpnn_parameters *given,
                                 struct gpnn_parameters *params, struct gpnn_error *err)
{
  params->transform = given->transform;
  params->likelihood = given->likelihood;
  params->scale = given->scale;
  params->degrees = given->degrees;
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

bool gpnn_local_can_refit(const struct gpnn_channel *channel)
{
  const struct gpnn_provenance *provenance = &channel->parameters->provenance;
  return provenance->estimation.objective != GPNN_OBJECTIVE_NONE && provenance->fit_rows > 0;
}

enum gpnn_status gpnn_local_refit(size_t n, const struct gpnn_channel *channels,
                                  const struct gpnn_model_options *options, size_t n_excluded,
                                  const uint64_t *excluded, struct gpnn_parameters *params,
                                  struct gpnn_error *err)
{
  bool is_shared = channels[0].parameters->provenance.estimation.shared_lengthscales;
  size_t together = is_shared ? n : 1;
  struct gpnn_sample *sample = NULL;
  enum gpnn_status status = take_others(&sample, channels[0].dataset, n_excluded, excluded, err);
  for (size_t t = 0; t < n && status == GPNN_OK; t += together)
    status = fit_channels(sample, together, channels + t, options->threads, params + t, err);
  gpnn_sample_free(sample);
  return status;
}
