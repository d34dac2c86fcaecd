#include "methods/fit_coordinates.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

double *gpnn_fit_parameter(struct gpnn_params *params, size_t i)
{
  size_t k = params->n_lengthscales;
  if (i < k) return &params->lengthscale[i];
  if (i == k) return &params->kernelscale;
  return i == k + 1 ? &params->noise : params->coefficients;
}

static bool is_logarithmic(const struct gpnn_params *params, size_t i)
{
  return i < params->n_lengthscales + 2;
}

/*
 * Wide enough not to bind on data that say anything: variances about the target's, which is 1.
 * The least noise is the kernel's, or the published 1e-6; it keeps K well conditioned.
 */
static void bounds(const struct gpnn_params *params, size_t i, double scale, double *lower,
                   double *upper)
{
  size_t k = params->n_lengthscales;
  if (!is_logarithmic(params, i)) {
    *lower = -10;
    *upper = 10;
    return;
  }
  double least_noise = gpnn_kernel_least_noise(params->kernel, params->smoothness);
  *lower = log(i < k ? 1e-4 * scale : i == k ? 1e-6 : least_noise);
  *upper = log(i < k ? 1e4 * scale : i == k ? 1e4 : 1e2);
}

static bool is_free(const struct gpnn_fit_options *options, const struct gpnn_params *params,
                    size_t i, bool with_constant)
{
  size_t k = params->n_lengthscales;
  if (i < k) return options->fixed_lengthscale == 0;
  if (i == k) return options->fixed_kernelscale == 0;
  return i == k + 1 ? options->fixed_noise == 0 : with_constant;
}

enum gpnn_status gpnn_fit_coordinates_init(struct gpnn_fit_coordinates *coordinates,
                                           const struct gpnn_fit_options *options,
                                           struct gpnn_params *params, double scale,
                                           bool with_constant, struct gpnn_error *err)
{
  size_t n_all = params->n_lengthscales + 3;
  struct gpnn_fit_coordinates own = {.params = params};
  own.parameter = gpnn_alloc(n_all, 1, sizeof *own.parameter);
  own.gradient = gpnn_alloc(n_all, 1, sizeof *own.gradient);
  own.u = gpnn_alloc(n_all, 3, sizeof *own.u);
  if (own.parameter == NULL || own.gradient == NULL || own.u == NULL) {
    gpnn_fit_coordinates_release(&own);
    return gpnn_fail_memory(err, "for the parameters");
  }
  own.lower = own.u + n_all;
  own.upper = own.lower + n_all;
  for (size_t i = 0; i < n_all; i++) {
    if (!is_free(options, params, i, with_constant)) continue;
    double value = *gpnn_fit_parameter(params, i);
    bounds(params, i, scale, &own.lower[own.n], &own.upper[own.n]);
    if (is_logarithmic(params, i)) value = log(value);
    own.u[own.n] = fmin(fmax(value, own.lower[own.n]), own.upper[own.n]);
    own.parameter[own.n++] = i;
  }
  *coordinates = own;
  return GPNN_OK;
}

void gpnn_fit_coordinates_set(const struct gpnn_fit_coordinates *coordinates, const double *u)
{
  struct gpnn_params *params = coordinates->params;
  for (size_t i = 0; i < coordinates->n; i++) {
    size_t p = coordinates->parameter[i];
    *gpnn_fit_parameter(params, p) = is_logarithmic(params, p) ? exp(u[i]) : u[i];
  }
}

void gpnn_fit_coordinates_gradient(const struct gpnn_fit_coordinates *coordinates, double *gradient)
{
  for (size_t i = 0; i < coordinates->n; i++)
    gradient[i] = coordinates->gradient[coordinates->parameter[i]];
}

void gpnn_fit_coordinates_release(struct gpnn_fit_coordinates *coordinates)
{
  free(coordinates->parameter);
  free(coordinates->gradient);
  free(coordinates->u);
  *coordinates = (struct gpnn_fit_coordinates){0};
}
