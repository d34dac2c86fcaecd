#include "models/inducing/system.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "dataset/stored.h"
#include "models/inducing/inducing.h"

static const struct gpnn_state_array *array_of(const struct gpnn_channel *channel, const char *name)
{
  return gpnn_state_find(channel->dataset->stored->arrays, channel->dataset->schema.target.name,
                         name);
}

/* exp(rho), or the noise where there is no rho. */
static enum gpnn_status fill_diagonal(const struct gpnn_channel *channel, size_t m,
                                      double *diagonal, struct gpnn_error *err)
{
  const struct gpnn_state_array *rho = array_of(channel, GPNN_INDUCING_RHO);
  if (channel->parameters->family == GPNN_FAMILY_COLLAPSED) {
    for (size_t i = 0; i < m; i++) diagonal[i] = channel->parameters->covariance.noise;
    return GPNN_OK;
  }
  if (rho == NULL || rho->n != m)
    return gpnn_fail(err, GPNN_EFORMAT, "the model has no valid array '" GPNN_INDUCING_RHO "'");
  for (size_t i = 0; i < m; i++) {
    diagonal[i] = exp(rho->values[i]);
    if (!(diagonal[i] > 0 && isfinite(diagonal[i])))
      return gpnn_fail(err, GPNN_EFORMAT, "array '" GPNN_INDUCING_RHO "' of the model: %g",
                       rho->values[i]);
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_inducing_system(const struct gpnn_channel *channel, size_t *m,
                                      const double **z, double **diagonal, struct gpnn_error *err)
{
  enum gpnn_family family = channel->parameters->family;
  size_t d = channel->dataset->d;
  if (family != GPNN_FAMILY_COLLAPSED && family != GPNN_FAMILY_DIAG)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the model is not one of inducing points that gpnn-sparse makes");
  const struct gpnn_state_array *points = array_of(channel, GPNN_INDUCING_POINTS);
  if (points == NULL || d == 0 || points->n == 0 || points->n % d != 0)
    return gpnn_fail(err, GPNN_EFORMAT, "the model has no valid array '" GPNN_INDUCING_POINTS "'");
  double *made = gpnn_alloc(points->n / d, 1, sizeof *made);
  if (made == NULL) return gpnn_fail_memory(err, "for inducing points");
  enum gpnn_status status = fill_diagonal(channel, points->n / d, made, err);
  if (status != GPNN_OK) {
    free(made);
    return status;
  }
  *m = points->n / d;
  *z = points->values;
  *diagonal = made;
  return GPNN_OK;
}
