#include "estimate/fit_private.h"

#include <math.h>

#include "kernel/sight.h"
#include "likelihood/categorical.h"
#include "linalg/arrays.h"

static double *link_parameter(struct gpnn_link *link, size_t i)
{
  switch (i) {
  case GPNN_LINK_SLOPE:
    return &link->slope;
  case GPNN_LINK_EVIDENCE:
    return &link->evidence;
  case GPNN_LINK_FLOOR:
    return &link->floor;
  case GPNN_LINK_SPREAD:
    return &link->spread;
  default:
    return link->bias + (i - GPNN_LINK_NUMBERS);
  }
}

double *gpnn_fit_parameter(struct gpnn_parameters *params, size_t i)
{
  size_t k = params->covariance.n_lengthscales;
  if (i < k) return &params->covariance.lengthscale[i];
  if (i == k) return &params->covariance.kernelscale;
  if (i == k + 1) return &params->covariance.noise;
  return i == k + 2 ? params->mean.coefficients : link_parameter(&params->link, i - k - 3);
}

/* The parameter of a link, in the order of gradients, that parameter 'i' is; GPNN_LINK_NUMBERS for
 * the biases, and none, -1, for other parameters. */
static int link_number(const struct gpnn_parameters *params, size_t i)
{
  size_t before = params->covariance.n_lengthscales + 3;
  if (i < before) return -1;
  return i - before < GPNN_LINK_NUMBERS ? (int)(i - before) : GPNN_LINK_NUMBERS;
}

static bool is_logarithmic(const struct gpnn_parameters *params, size_t i)
{
  int number = link_number(params, i);
  return number < 0 ? i < params->covariance.n_lengthscales + 2 : number < GPNN_LINK_NUMBERS;
}

/*
 * Bounds wide enough never to be reached on informative data, where variances are of the order of
 * the target's, which is 1.  The lower bound of the noise depends on the kernel (1e-6 as published,
 * or more) and keeps K well conditioned.
 */
static void bounds(const struct gpnn_parameters *params, size_t i, double scale, double *lower,
                   double *upper)
{
  /* Of the numbers of a link, and the biases. */
  static const double least[] = {1e-2, 1e-4, 1e-7, 1e-4}, most[] = {1e3, 1e2, 1, 1e3}, far = 30;
  size_t k = params->covariance.n_lengthscales;
  int number = link_number(params, i);
  if (!is_logarithmic(params, i)) {
    *upper = number < 0 ? 3 : far;
    *lower = -*upper;
    return;
  }
  if (number >= 0) {
    *lower = log(least[number]);
    *upper = log(most[number]);
    return;
  }
  double least_noise =
      gpnn_kernel_least_noise(params->covariance.kernel, params->covariance.smoothness);
  *lower = log(i < k ? 1e-4 * scale : i == k ? 1e-6 : least_noise);
  *upper = log(i < k ? 1e4 * scale : i == k ? 1e4 : 1e2);
}

/* The centre of the prior; infinite for the constant, which has no prior. */
static double usual(const struct gpnn_parameters *params, size_t i, double scale)
{
  const double usual_noise = 0.1; /* of the target's variance */
  struct gpnn_link link = GPNN_FIT_USUAL_LINK;
  size_t k = params->covariance.n_lengthscales;
  int number = link_number(params, i);
  if (number == GPNN_LINK_NUMBERS) return 0;
  if (number >= 0) return log(*link_parameter(&link, (size_t)number));
  if (!is_logarithmic(params, i)) return INFINITY;
  return log(i < k ? scale : i == k ? 1 : usual_noise);
}

static bool is_free(const struct gpnn_fit_options *options, const struct gpnn_parameters *params,
                    size_t i, bool with_constant)
{
  size_t k = params->covariance.n_lengthscales;
  int number = link_number(params, i);
  struct gpnn_link fixed = options->fixed_link;
  if (number == GPNN_LINK_NUMBERS) return true;
  if (number >= 0) return *link_parameter(&fixed, (size_t)number) == 0;
  bool is_unseen = i < k && options->unseen != NULL && options->unseen[i] >= GPNN_SIGHT_UNSEEN;
  if (i < k) return options->fixed_lengthscale == 0 && !is_unseen;
  if (i == k) return options->fixed_kernelscale == 0;
  return i == k + 1 ? options->fixed_noise == 0 : with_constant;
}

/* True if parameter 'i' of target 't' is shared with an earlier target. */
static bool is_shared(const struct gpnn_parameters *params, size_t t, size_t i)
{
  return t > 0 && i < params->covariance.n_lengthscales;
}

/* True if parameter 'i' of target 't' is determined by others. */
static bool is_determined(const struct gpnn_fit_coordinates *c, size_t t, size_t i)
{
  const struct gpnn_parameters *params = &c->targets->params[t];
  return is_shared(params, t, i) ||
         (c->same_ratio && t > 0 && i == params->covariance.n_lengthscales + 1);
}

static size_t parameters_of(const struct gpnn_parameters *params)
{
  size_t n_bias = params->link.n_bias;
  return params->covariance.n_lengthscales + 3 + (n_bias == 0 ? 0 : GPNN_LINK_NUMBERS + n_bias);
}

static bool coordinates_alloc(struct gpnn_fit_coordinates *c)
{
  size_t n = c->targets->n;
  c->arrays = GPNN_ARRAYS(GPNN_ARRAY(c->parameter, n, c->width), GPNN_ARRAY(c->target, n, c->width),
                          GPNN_ARRAY(c->gradient, n, c->width), GPNN_ARRAY(c->u, 4 * n, c->width));
  if (c->arrays == NULL) return false;
  c->lower = c->u + n * c->width;
  c->upper = c->lower + n * c->width;
  c->usual = c->upper + n * c->width;
  return true;
}

enum gpnn_status gpnn_fit_coordinates_init(struct gpnn_fit_coordinates *coordinates,
                                           const struct gpnn_fit_options *options,
                                           const struct gpnn_fit_targets *targets, double scale,
                                           bool with_constant, struct gpnn_error *err)
{
  struct gpnn_fit_coordinates own = {.targets = targets,
                                     .width = parameters_of(targets->params),
                                     .prior_sd = log(options->prior_factor),
                                     .same_ratio =
                                         options->same_ratio && options->fixed_noise == 0};
  if (!coordinates_alloc(&own)) {
    gpnn_fit_coordinates_release(&own);
    return gpnn_fail_memory(err, "for the parameters");
  }
  for (size_t at = 0; at < targets->n * own.width; at++) {
    size_t t = at / own.width, i = at % own.width;
    struct gpnn_parameters *params = &targets->params[t];
    if (is_determined(&own, t, i) || !is_free(options, params, i, with_constant)) continue;
    double value = *gpnn_fit_parameter(params, i);
    bounds(params, i, scale, &own.lower[own.n], &own.upper[own.n]);
    own.usual[own.n] = usual(params, i, scale);
    if (is_logarithmic(params, i)) value = log(value);
    own.u[own.n] = fmin(fmax(value, own.lower[own.n]), own.upper[own.n]);
    own.target[own.n] = t;
    own.parameter[own.n++] = i;
  }
  *coordinates = own;
  return GPNN_OK;
}

void gpnn_fit_coordinates_put(const struct gpnn_fit_coordinates *coordinates, size_t i,
                              double value)
{
  const struct gpnn_fit_targets *targets = coordinates->targets;
  size_t p = coordinates->parameter[i], own = coordinates->target[i];
  for (size_t t = own; t < targets->n; t++)
    if (t == own || is_shared(&targets->params[t], t, p))
      *gpnn_fit_parameter(&targets->params[t], p) = value;
}

void gpnn_fit_coordinates_complete(const struct gpnn_fit_coordinates *coordinates)
{
  const struct gpnn_fit_targets *targets = coordinates->targets;
  struct gpnn_parameters *params = targets->params;
  double ratio = params[0].covariance.noise / params[0].covariance.kernelscale;
  for (size_t t = 1; coordinates->same_ratio && t < targets->n; t++)
    params[t].covariance.noise = ratio * params[t].covariance.kernelscale;
}

void gpnn_fit_coordinates_set(const struct gpnn_fit_coordinates *coordinates, const double *u)
{
  for (size_t i = 0; i < coordinates->n; i++) {
    bool logarithmic = is_logarithmic(coordinates->targets->params, coordinates->parameter[i]);
    gpnn_fit_coordinates_put(coordinates, i, logarithmic ? exp(u[i]) : u[i]);
  }
  gpnn_fit_coordinates_complete(coordinates);
}

/*
 * Under same_ratio the noise of a further target is noise_1 / kernelscale_1 times its own
 * kernelscale, so its derivative also counts towards the logarithms of these three parameters.
 */
static double by_ratio(const struct gpnn_fit_coordinates *c, size_t i)
{
  size_t k = c->targets->params->covariance.n_lengthscales, p = c->parameter[i], own = c->target[i];
  double sum = 0;
  if (!c->same_ratio || (p != k && p != k + 1)) return 0;
  if (own > 0) return c->gradient[own * c->width + k + 1];
  for (size_t t = 1; t < c->targets->n; t++) sum += c->gradient[t * c->width + k + 1];
  return p == k ? -sum : sum;
}

void gpnn_fit_coordinates_gradient(const struct gpnn_fit_coordinates *coordinates, double *gradient)
{
  const struct gpnn_fit_targets *targets = coordinates->targets;
  for (size_t i = 0; i < coordinates->n; i++) {
    size_t p = coordinates->parameter[i], own = coordinates->target[i];
    gradient[i] = by_ratio(coordinates, i);
    for (size_t t = own; t < targets->n; t++)
      if (t == own || is_shared(&targets->params[t], t, p))
        gradient[i] += coordinates->gradient[t * coordinates->width + p];
    gradient[i] /= (double)targets->n;
  }
}

double gpnn_fit_coordinates_prior(const struct gpnn_fit_coordinates *coordinates, double n_rows,
                                  const double *u, double *gradient)
{
  const double sd = coordinates->prior_sd;
  const struct gpnn_fit_targets *targets = coordinates->targets;
  size_t n_lengthscales = targets->params->covariance.n_lengthscales;
  double sum = 0;
  for (size_t i = 0; i < coordinates->n; i++) {
    if (isinf(coordinates->usual[i])) continue;
    bool is_of_all = is_shared(targets->params, targets->n, coordinates->parameter[i]);
    double weight = 1 / (is_of_all ? n_rows : n_rows * (double)targets->n);
    if (coordinates->parameter[i] < n_lengthscales) weight /= (double)n_lengthscales;
    double z = (u[i] - coordinates->usual[i]) / sd;
    sum += weight * z * z / 2;
    if (gradient != NULL) gradient[i] += weight * z / sd;
  }
  return sum;
}

void gpnn_fit_coordinates_release(struct gpnn_fit_coordinates *coordinates)
{
  gpnn_arrays_free(coordinates->arrays);
  *coordinates = (struct gpnn_fit_coordinates){0};
}
