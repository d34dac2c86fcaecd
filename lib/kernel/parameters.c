#include "kernel/parameters.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum gpnn_status gpnn_params_comment(struct gpnn_params *params, struct gpnn_error *err,
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
  size_t old = params->comments == NULL ? 0 : strlen(params->comments);
  char *comments = realloc(params->comments, old + length + 1);
  if (comments == NULL) return gpnn_fail_memory(err, "for a comment");
  memcpy(comments + old, line, length);
  comments[old + length] = '\0';
  params->comments = comments;
  return GPNN_OK;
}

enum gpnn_status gpnn_params_check(const struct gpnn_params *params,
                                   const struct gpnn_index_contents *contents, uint64_t fingerprint,
                                   bool *other_index, struct gpnn_error *err)
{
  if (params->n_lengthscales != 1 && params->n_lengthscales != contents->n_groups)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters have %zu lengthscales, the index has %zu inputs",
                     params->n_lengthscales, contents->n_groups);
  size_t square = 0;
  bool is_square = gpnn_multiply(contents->d, contents->d, &square);
  if (params->n_rotation > 0 &&
      (!is_square || params->n_rotation != square || contents->n_groups != contents->d))
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters' rotation has %zu numbers, which does not fit the %zu inputs "
                     "of the index",
                     params->n_rotation, contents->d);
  size_t width = gpnn_mean_width(params->mean, contents->d, contents->n_regressors);
  if (params->n_coefficients != width)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters have %zu coefficients, a %s mean has %zu with this index",
                     params->n_coefficients, gpnn_mean_name(params->mean), width);
  /* The upper half is of the columns (dataset/index.h). */
  if (params->has_index && params->index >> 32 != fingerprint >> 32)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters were made from an index of other columns");
  *other_index = params->has_index && params->index != fingerprint;
  return GPNN_OK;
}

bool gpnn_params_can_have(double kernelscale, double noise)
{
  return kernelscale > 0 && noise >= 0 && isfinite(kernelscale + noise);
}

void gpnn_params_expand(const struct gpnn_params *params, size_t d, const uint32_t *group,
                        double *lengthscale)
{
  for (size_t j = 0; j < d; j++)
    lengthscale[j] = params->lengthscale[params->n_lengthscales == 1 ? 0 : group[j]];
}

void gpnn_params_release(struct gpnn_params *params)
{
  free(params->target);
  free(params->rotation);
  free(params->lengthscale);
  free(params->coefficients);
  free(params->covariance);
  free(params->conformal_level);
  free(params->conformal_width);
  free(params->comments);
  *params = (struct gpnn_params){0};
}

void gpnn_params_release_all(struct gpnn_params *params, size_t n)
{
  for (size_t i = 0; i < n; i++) gpnn_params_release(&params[i]);
  free(params);
}
