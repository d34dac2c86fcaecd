/*
 * Keeps means within what the targets of training rows can say (gpnn-methods(7), equations 3.36 and
 * 3.37).  A smooth kernel with little noise follows neighbours that disagree with it wherever they
 * lead, and one with short lengthscales falls back on the mean function where all neighbours say
 * otherwise.
 */
#include <math.h>
#include <stdlib.h>

#include "models/local/local_private.h"

static const double tenth = 0.1;

/* The published predictors, whose parameters have no likelihood, are left as they are; so are
 * counts, whose pseudo-targets are no observations. */
bool gpnn_local_is_bounded(const struct gpnn_local_channel *channel)
{
  return channel->params->likelihood == GPNN_LIKELIHOOD_LOCAL ||
         channel->params->likelihood == GPNN_LIKELIHOOD_STUDENT;
}

static struct gpnn_local_range widened(struct gpnn_local_range range, double residual)
{
  return (struct gpnn_local_range){fmin(range.least, residual), fmax(range.most, residual)};
}

struct gpnn_local_range gpnn_local_range_of(const struct gpnn_local_channel *channel, size_t n,
                                            const int64_t *row)
{
  struct gpnn_local_range range = {INFINITY, -INFINITY};
  if (n < 2 || !gpnn_local_is_bounded(channel))
    return (struct gpnn_local_range){-INFINITY, INFINITY};
  for (size_t a = 0; a < n; a++)
    range = widened(range, gpnn_channel_residual(channel->data, channel->params, (size_t)row[a]));
  return range;
}

/* The range of all training rows.  Few predictions ask for it, so that it is found by the first. */
static struct gpnn_local_range range_of_all(const struct gpnn_local_channel *channel)
{
  struct gpnn_local_ends *ends = channel->ends;
  if (!atomic_load(&ends->are_known)) {
    struct gpnn_local_range range = {INFINITY, -INFINITY};
    for (size_t i = 0; i < channel->data->n; i++)
      range = widened(range, gpnn_channel_residual(channel->data, channel->params, i));
    atomic_store(&ends->least, range.least);
    atomic_store(&ends->most, range.most);
    atomic_store(&ends->are_known, true);
  }
  return (struct gpnn_local_range){atomic_load(&ends->least), atomic_load(&ends->most)};
}

bool gpnn_local_leaves(struct gpnn_local_range range, double mean)
{
  return isfinite(mean) && (mean < range.least || mean > range.most);
}

double gpnn_local_bound(const struct gpnn_local_channel *channel,
                        const struct gpnn_local_evidence *evidence, double variance)
{
  const struct gpnn_local_range range = evidence->range;
  if (!gpnn_local_leaves(range, evidence->mean)) return evidence->mean;
  double misfit = evidence->misfit / channel->params->covariance.kernelscale / (double)evidence->m;
  double share = fmin(fmax(evidence->explained, 0), 1);
  double beyond =
      share * (range.most - range.least) / fmax(1, misfit) + tenth * sqrt(fmax(variance, 0));
  const struct gpnn_local_range all = range_of_all(channel);
  double edge = tenth * (all.most - all.least);
  double low = fmax(range.least - beyond, all.least - edge);
  double high = fmin(range.most + beyond, all.most + edge);
  return fmin(fmax(evidence->mean, low), high);
}
