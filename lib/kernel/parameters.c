#include "kernel/parameters.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum gpnn_status gpnn_parameters_comment(struct gpnn_parameters *params, struct gpnn_error *err,
                                         const char *format, ...)
{
  char line[512] = "# ";
  va_list args;
  va_start(args, format);
  int printed = vsnprintf(line + 2, sizeof line - 3, format, args);
  va_end(args);
  size_t length = printed < 0 ? 2 : strlen(line);
  for (size_t i = 0; i < length; i++)
    if (line[i] == '\n' || line[i] == '\r') line[i] = ' '; /* a comment stays one line */
  gpnn_mask_all(line, "\t");
  line[length++] = '\n';
  size_t old = params->provenance.comments == NULL ? 0 : strlen(params->provenance.comments);
  char *comments = realloc(params->provenance.comments, old + length + 1);
  if (comments == NULL) return gpnn_fail_memory(err, "for a comment");
  memcpy(comments + old, line, length);
  comments[old + length] = '\0';
  params->provenance.comments = comments;
  return GPNN_OK;
}

enum gpnn_status gpnn_parameters_check(const struct gpnn_parameters *params,
                                       const struct gpnn_dataset *dataset, bool *other_index,
                                       struct gpnn_error *err)
{
  if (params->covariance.n_lengthscales != 1 &&
      params->covariance.n_lengthscales != dataset->n_groups)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters have %zu lengthscales, the index has %zu inputs",
                     params->covariance.n_lengthscales, dataset->n_groups);
  size_t square = 0;
  bool is_square = gpnn_multiply(dataset->d, dataset->d, &square);
  if (params->covariance.n_rotation > 0 &&
      (!is_square || params->covariance.n_rotation != square || dataset->n_groups != dataset->d))
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters' rotation has %zu numbers, which does not fit the %zu inputs "
                     "of the index",
                     params->covariance.n_rotation, dataset->d);
  size_t width = gpnn_mean_width(params->mean.kind, dataset->d, dataset->n_regressors);
  if (params->mean.n_coefficients != width)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters have %zu coefficients, a %s mean has %zu with this index",
                     params->mean.n_coefficients, gpnn_mean_name(params->mean.kind), width);
  /* The upper half is the hash of the columns (dataset/dataset.h). */
  if (params->provenance.has_index && params->provenance.index >> 32 != dataset->fingerprint >> 32)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters were made from an index of other columns");
  *other_index = params->provenance.has_index && params->provenance.index != dataset->fingerprint;
  return GPNN_OK;
}

bool gpnn_parameters_can_have(double kernelscale, double noise)
{
  return kernelscale > 0 && noise >= 0 && isfinite(kernelscale + noise);
}

void gpnn_parameters_release(struct gpnn_parameters *params)
{
  free(params->target);
  free(params->covariance.rotation);
  free(params->covariance.lengthscale);
  free(params->mean.coefficients);
  free(params->mean.covariance);
  free(params->calibration.conformal_level);
  free(params->calibration.conformal_width);
  free(params->provenance.comments);
  *params = (struct gpnn_parameters){0};
}

void gpnn_parameters_free(struct gpnn_parameters *params, size_t n)
{
  for (size_t i = 0; i < n; i++) gpnn_parameters_release(&params[i]);
  free(params);
}
