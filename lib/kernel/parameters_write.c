#include <inttypes.h>
#include <string.h>

#include "kernel/parameters.h"
#include "kernel/parameters_private.h"

/* A tab and a number. */
static enum gpnn_status write_field(struct gpnn_output *output, double value,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_text(output, "\t", err);
  return status == GPNN_OK ? gpnn_output_number(output, value, err) : status;
}

static enum gpnn_status write_list(struct gpnn_output *output, const char *name, size_t n,
                                   const double *values, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_text(output, name, err);
  for (size_t j = 0; j < n && status == GPNN_OK; j++) status = write_field(output, values[j], err);
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

static enum gpnn_status write_real(struct gpnn_output *output, const char *name, double value,
                                   struct gpnn_error *err)
{
  return write_list(output, name, 1, &value, err);
}

static enum gpnn_status write_kernel(struct gpnn_output *output,
                                     const struct gpnn_parameters *params, struct gpnn_error *err)
{
  char kernel[GPNN_KERNEL_BYTES];
  gpnn_kernel_write(params->covariance.kernel, params->covariance.smoothness, kernel);
  return gpnn_output_printf(output, err, "kernel\t%s\n", kernel);
}

/* The lower triangle, row by row, behind one name. */
static enum gpnn_status write_covariance(struct gpnn_output *output,
                                         const struct gpnn_parameters *params,
                                         struct gpnn_error *err)
{
  size_t p = params->mean.n_coefficients;
  enum gpnn_status status = gpnn_output_text(output, "covariance", err);
  for (size_t i = 0; i < p; i++)
    for (size_t j = 0; j <= i && status == GPNN_OK; j++)
      status = write_field(output, params->mean.covariance[i * p + j], err);
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

static enum gpnn_status write_mean(struct gpnn_output *output, const struct gpnn_parameters *params,
                                   struct gpnn_error *err)
{
  if (params->mean.kind == GPNN_MEAN_ZERO) return GPNN_OK;
  enum gpnn_status status =
      gpnn_output_printf(output, err, "mean\t%s\n", gpnn_mean_name(params->mean.kind));
  if (status == GPNN_OK)
    status = write_list(output, "coefficients", params->mean.n_coefficients,
                        params->mean.coefficients, err);
  if (status == GPNN_OK && params->mean.covariance != NULL)
    status = write_covariance(output, params, err);
  return status;
}

static enum gpnn_status write_conformal(struct gpnn_output *output,
                                        const struct gpnn_parameters *params,
                                        struct gpnn_error *err)
{
  if (params->calibration.n_conformal == 0) return GPNN_OK;
  enum gpnn_status status = gpnn_output_text(output, "conformal", err);
  for (size_t i = 0; i < params->calibration.n_conformal && status == GPNN_OK; i++) {
    status = write_field(output, params->calibration.conformal_level[i], err);
    if (status == GPNN_OK)
      status = write_field(output, params->calibration.conformal_width[i], err);
  }
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

/* All lines of a block but its comments and its target. */
static enum gpnn_status write_values(struct gpnn_output *output,
                                     const struct gpnn_parameters *params, struct gpnn_error *err)
{
  enum gpnn_status status = write_kernel(output, params, err);
  if (status == GPNN_OK && params->covariance.n_rotation > 0)
    status = write_list(output, "rotation", params->covariance.n_rotation,
                        params->covariance.rotation, err);
  if (status == GPNN_OK)
    status = write_list(output, "lengthscale", params->covariance.n_lengthscales,
                        params->covariance.lengthscale, err);
  if (status == GPNN_OK)
    status = write_real(output, "kernelscale", params->covariance.kernelscale, err);
  if (status == GPNN_OK) status = write_real(output, "noise", params->covariance.noise, err);
  if (status == GPNN_OK) status = write_mean(output, params, err);
  if (status == GPNN_OK && params->degrees > 0)
    status = write_real(output, "degrees", params->degrees, err);
  if (status == GPNN_OK)
    status = gpnn_output_printf(output, err, "neighbours\t%zu\n", params->neighbours);
  if (status == GPNN_OK && params->provenance.fit_rows > 0)
    status = gpnn_output_printf(output, err, "fit-rows\t%zu\n", params->provenance.fit_rows);
  if (status == GPNN_OK && params->calibration.has_factor)
    status = write_real(output, "calibration", params->calibration.factor, err);
  if (status == GPNN_OK) status = write_conformal(output, params, err);
  if (status == GPNN_OK && params->calibration.has_distance)
    status = write_list(output, "distances", GPNN_N_DISTANCES, params->calibration.distance, err);
  if (status == GPNN_OK && params->provenance.has_index)
    status = gpnn_output_printf(output, err, "index\t%016" PRIx64 "\n", params->provenance.index);
  return status;
}

static enum gpnn_status write_target(struct gpnn_output *output, const char *target,
                                     struct gpnn_error *err)
{
  if (target == NULL) return GPNN_OK;
  enum gpnn_status status = gpnn_output_text(output, "target\t", err);
  if (status == GPNN_OK) status = gpnn_output_text(output, target, err);
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

enum gpnn_status gpnn_parameters_check_target(const char *name, struct gpnn_error *err)
{
  static const char blanks[] = " \t\r";
  char shown[GPNN_MASK_BYTES];
  size_t length = strlen(name);
  if (length > 0 && strchr(name, '\n') == NULL && strchr(blanks, name[0]) == NULL &&
      strchr(blanks, name[length - 1]) == NULL)
    return GPNN_OK;
  return gpnn_fail(
      err, GPNN_EDATA,
      "target \"%s\": parameters cannot hold a name that is empty, has a line end, or a "
      "blank at either end",
      gpnn_mask(shown, name, length));
}

static enum gpnn_status check_targets(const struct gpnn_parameters *params, size_t n,
                                      struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  for (size_t i = 0; i < n; i++) {
    const char *target = params[i].target;
    if (target == NULL && n == 1) return GPNN_OK;
    if (target == NULL)
      return gpnn_fail(err, GPNN_EINVAL, "parameters of several targets need their names");
    enum gpnn_status status = gpnn_parameters_check_target(target, err);
    if (status != GPNN_OK) return status;
    for (size_t k = 0; k < i; k++)
      if (strcmp(params[k].target, target) == 0)
        return gpnn_fail(err, GPNN_EINVAL, "target \"%s\": has parameters twice",
                         gpnn_mask(shown, target, strlen(target)));
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_parameters_write_all(const struct gpnn_parameters *params, size_t n,
                                           struct gpnn_output *output, struct gpnn_error *err)
{
  enum gpnn_status status = check_targets(params, n, err);
  if (status == GPNN_OK)
    status = gpnn_output_printf(output, err, "%s %d\n", GPNN_PARAMETERS_FIRST_LINE,
                                GPNN_PARAMETERS_VERSION);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    /* Above the first target comments are of the first block, like those below it. */
    if (i > 0) status = write_target(output, params[i].target, err);
    if (status == GPNN_OK && params[i].provenance.comments != NULL)
      status = gpnn_output_text(output, params[i].provenance.comments, err);
    if (status == GPNN_OK && i == 0) status = write_target(output, params[i].target, err);
    if (status == GPNN_OK) status = write_values(output, &params[i], err);
  }
  return status;
}

enum gpnn_status gpnn_parameters_write(const struct gpnn_parameters *params,
                                       struct gpnn_output *output, struct gpnn_error *err)
{
  return gpnn_parameters_write_all(params, 1, output, err);
}
