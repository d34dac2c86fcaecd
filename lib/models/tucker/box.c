#include "models/tucker/box.h"

#include "dataset/stored.h"

enum gpnn_status gpnn_tucker_box_of(struct gpnn_tucker_box *box, const struct gpnn_channel *channel,
                                    struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = channel->dataset;
  struct gpnn_tucker tucker;
  if (dataset->stored == NULL || channel->parameters->family != GPNN_FAMILY_TUCKER)
    return gpnn_fail(err, GPNN_EMISMATCH, "not a model on a grid of inducing points");
  enum gpnn_status status =
      gpnn_tucker_restore(&tucker, dataset->d, channel->parameters->covariance.kernel,
                          dataset->schema.target.name, dataset->stored->arrays, err);
  if (status != GPNN_OK) return status;
  box->p = tucker.shape.p;
  for (size_t l = 0; l < box->p; l++) {
    box->low[l] = tucker.points[l][0];
    box->high[l] = tucker.points[l][tucker.shape.m[l] - 1];
  }
  gpnn_tucker_release(&tucker);
  return GPNN_OK;
}

bool gpnn_tucker_box_excludes(const struct gpnn_tucker_box *box, const double *x)
{
  for (size_t l = 0; l < box->p; l++)
    if (!(x[l] >= box->low[l] && x[l] <= box->high[l])) return true;
  return false;
}
