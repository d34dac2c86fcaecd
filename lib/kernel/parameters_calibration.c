/*
 * A calibration alone, which a model file is given from outside.
 */
#include <stdlib.h>
#include <string.h>

#include "container/state.h"
#include "kernel/parameters_private.h"

void gpnn_parameters_forget_calibration(struct gpnn_parameters *params)
{
  free(params->calibration.conformal_level);
  free(params->calibration.conformal_width);
  params->calibration = (struct gpnn_calibration){0};
  if (params->likelihood == GPNN_LIKELIHOOD_GAUSSIAN) return;
  params->scale = (struct gpnn_scale){0};
  params->degrees = 0;
}

/* The calibration of the target of 'params', or NULL. */
static struct gpnn_parameters *find(const struct gpnn_parameters_reader *reader,
                                    const struct gpnn_parameters *params)
{
  for (size_t i = 0; i < reader->n_blocks; i++) {
    const char *name = reader->blocks[i].target;
    bool is_same = name == NULL || params->target == NULL ? name == params->target
                                                          : strcmp(name, params->target) == 0;
    if (is_same) return &reader->blocks[i];
  }
  return NULL;
}

/* A factor takes the place of one that the variances have been multiplied by already. */
static enum gpnn_status multiply(struct gpnn_parameters *params,
                                 const struct gpnn_calibration *calibration, const char *name,
                                 struct gpnn_error *err)
{
  double before = params->calibration.has_factor ? params->calibration.factor : 1;
  double factor = (calibration->has_factor ? calibration->factor : 1) / before;
  params->covariance.kernelscale *= factor;
  params->covariance.noise *= factor;
  if (gpnn_parameters_can_have(params->covariance.kernelscale, params->covariance.noise))
    return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA,
                   "%s: calibration: a factor that leaves the variances outside the range of "
                   "numbers",
                   name);
}

/* Replaces the calibration of a target; what it owned is in 'from' afterwards. */
static enum gpnn_status apply(struct gpnn_parameters *params, struct gpnn_parameters *from,
                              const char *name, struct gpnn_error *err)
{
  enum gpnn_status status = multiply(params, &from->calibration, name, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_calibration before = params->calibration;
  params->calibration = from->calibration;
  from->calibration = before;
  params->likelihood = from->likelihood;
  params->scale = from->scale;
  params->degrees = from->degrees;
  if (from->provenance.has_index) {
    params->provenance.has_index = true;
    params->provenance.index = from->provenance.index;
  }
  return GPNN_OK;
}

static enum gpnn_status apply_all(const struct gpnn_parameters_reader *reader,
                                  struct gpnn_parameters *params, size_t n, const char *name,
                                  struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    char shown[GPNN_MASK_BYTES] = "";
    const char *target = params[i].target == NULL ? "" : params[i].target;
    struct gpnn_parameters *own = find(reader, &params[i]);
    gpnn_mask(shown, target, strlen(target));
    status = own != NULL ? apply(&params[i], own, name, err)
                         : gpnn_fail(err, GPNN_EMISMATCH,
                                     "%s: no calibration of target '%s' of the model", name, shown);
  }
  return status;
}

enum gpnn_status gpnn_parameters_read_calibration_alone(struct gpnn_parameters **params, size_t *n,
                                                        const char *path, struct gpnn_error *err)
{
  struct gpnn_parameters_reader reader = {.err = err, .calibration_alone = true};
  struct gpnn_state *state = NULL;
  enum gpnn_status status = gpnn_parameters_read_stream(&reader, path, &state);
  gpnn_state_free(state);
  if (status != GPNN_OK) {
    gpnn_parameters_free(reader.blocks, reader.n_blocks);
    return status;
  }
  *params = reader.blocks;
  *n = reader.n_blocks;
  return GPNN_OK;
}

enum gpnn_status gpnn_parameters_read_calibration(struct gpnn_parameters *params, size_t n,
                                                  const char *path, struct gpnn_error *err)
{
  struct gpnn_parameters_reader reader = {.err = err, .calibration_alone = true};
  struct gpnn_state *state = NULL;
  const char *name = strcmp(path, "-") == 0 ? "(stdin)" : path;
  enum gpnn_status status = gpnn_parameters_read_stream(&reader, path, &state);
  if (status == GPNN_OK) status = apply_all(&reader, params, n, name, err);
  gpnn_state_free(state);
  gpnn_parameters_free(reader.blocks, reader.n_blocks);
  return status;
}
