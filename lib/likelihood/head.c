#include "likelihood/head.h"

#include <math.h>
#include <stddef.h>

#include "likelihood/conformal.h"
#include "stats/distributions/normal.h"
#include "stats/distributions/student.h"

struct gpnn_head_kind {
  const char *name;
  bool (*applies_to)(const struct gpnn_parameters *parameters);
  bool needs_row;
  struct gpnn_predictive (*observe)(const struct gpnn_parameters *parameters,
                                    const struct gpnn_latent_row *latent, double known_noise);
  struct gpnn_predictive (*of_function)(const struct gpnn_parameters *parameters,
                                        const struct gpnn_latent_row *latent);
  struct gpnn_head_parts (*parts)(const struct gpnn_parameters *parameters,
                                  const struct gpnn_latent_row *latent, double noise,
                                  double known_noise);
  double (*nll)(const struct gpnn_parameters *parameters, double error, double variance);
  double (*half_width)(const struct gpnn_parameters *parameters, double level);
};

/* ---- gaussian ----------------------------------------------------------------------------- */

static bool is_gaussian(const struct gpnn_parameters *parameters)
{
  return parameters->likelihood == GPNN_LIKELIHOOD_GAUSSIAN && parameters->degrees == 0;
}

static struct gpnn_predictive as_predicted(const struct gpnn_parameters *parameters,
                                           const struct gpnn_latent_row *latent)
{
  (void)parameters;
  return (struct gpnn_predictive){latent->mean, latent->variance};
}

static struct gpnn_predictive add_noise(const struct gpnn_parameters *parameters,
                                        const struct gpnn_latent_row *latent, double known_noise)
{
  struct gpnn_predictive value = {latent->mean, latent->variance};
  value.variance += gpnn_parameters_noise(parameters);
  value.variance += known_noise;
  return value;
}

static struct gpnn_head_parts plain_parts(const struct gpnn_parameters *parameters,
                                          const struct gpnn_latent_row *latent, double noise,
                                          double known_noise)
{
  (void)parameters;
  (void)latent;
  return (struct gpnn_head_parts){1, 1, noise + known_noise};
}

static double gaussian_nll(const struct gpnn_parameters *parameters, double error, double variance)
{
  (void)parameters;
  return gpnn_normal_nll(error, sqrt(variance));
}

static double gaussian_half_width(const struct gpnn_parameters *parameters, double level)
{
  (void)parameters;
  return gpnn_normal_half_width(level);
}

/* ---- student ------------------------------------------------------------------------------ */

static bool is_student(const struct gpnn_parameters *parameters)
{
  return parameters->likelihood == GPNN_LIKELIHOOD_GAUSSIAN && parameters->degrees > 0;
}

static double student_nll(const struct gpnn_parameters *parameters, double error, double variance)
{
  double degrees = parameters->degrees;
  return gpnn_student_nll(error, sqrt(variance) * gpnn_student_unit_scale(degrees), degrees);
}

static double student_half_width(const struct gpnn_parameters *parameters, double level)
{
  double degrees = parameters->degrees;
  return gpnn_student_half_width(level, degrees) * gpnn_student_unit_scale(degrees);
}

/* ---- scaled ------------------------------------------------------------------------------- */

static bool is_scaled(const struct gpnn_parameters *parameters)
{
  return parameters->likelihood != GPNN_LIKELIHOOD_GAUSSIAN &&
         !gpnn_likelihood_is_of_counts(parameters->likelihood);
}

/*
 * A factor below 1 was earned by rows near the training rows.  Farther away than any row that
 * calibration saw it tends to 1, so that scales widen with distance at least as the model's
 * variances do (gpnn-methods(7), equation 8.18).
 */
static double trusted(const struct gpnn_calibration *calibration, double nearest, double factor)
{
  double farthest = calibration->distance[GPNN_N_DISTANCES - 1];
  if (!calibration->has_distance || nearest <= farthest || factor >= 1) return factor;
  return pow(factor, farthest / nearest);
}

static double factor_of(const struct gpnn_parameters *parameters,
                        const struct gpnn_latent_row *latent)
{
  double factor = gpnn_scale_factor(&parameters->scale, latent, gpnn_parameters_noise(parameters));
  return trusted(&parameters->calibration, latent->nearest, factor);
}

/* Mean and variance where the function is observed with this noise. */
static struct gpnn_predictive scaled(const struct gpnn_parameters *parameters,
                                     const struct gpnn_latent_row *latent, double noise,
                                     double known_noise)
{
  double factor = factor_of(parameters, latent);
  double square = factor * (gpnn_scale_process(latent) + noise);
  square += latent->mean_variance + known_noise;
  double unit = parameters->degrees == 0 ? 1 : gpnn_student_unit_scale(parameters->degrees);
  return (struct gpnn_predictive){latent->mean, square / (unit * unit)};
}

static struct gpnn_predictive scaled_observation(const struct gpnn_parameters *parameters,
                                                 const struct gpnn_latent_row *latent,
                                                 double known_noise)
{
  return scaled(parameters, latent, gpnn_parameters_noise(parameters), known_noise);
}

static struct gpnn_predictive scaled_function(const struct gpnn_parameters *parameters,
                                              const struct gpnn_latent_row *latent)
{
  return scaled(parameters, latent, 0, 0);
}

static struct gpnn_head_parts scaled_parts(const struct gpnn_parameters *parameters,
                                           const struct gpnn_latent_row *latent, double noise,
                                           double known_noise)
{
  double factor = factor_of(parameters, latent);
  double unit = parameters->degrees == 0 ? 1 : gpnn_student_unit_scale(parameters->degrees);
  return (struct gpnn_head_parts){sqrt(factor) / unit, 1 / unit,
                                  (factor * noise + known_noise) / (unit * unit)};
}

static double scaled_nll(const struct gpnn_parameters *parameters, double error, double variance)
{
  return parameters->degrees == 0 ? gaussian_nll(parameters, error, variance)
                                  : student_nll(parameters, error, variance);
}

static double scaled_half_width(const struct gpnn_parameters *parameters, double level)
{
  return parameters->degrees == 0 ? gaussian_half_width(parameters, level)
                                  : student_half_width(parameters, level);
}

/* ---- counts ------------------------------------------------------------------------------- */

static bool is_of_counts(const struct gpnn_parameters *parameters)
{
  return gpnn_likelihood_is_of_counts(parameters->likelihood);
}

/* A factor widens what is known of f about another mean, so that of the counts stays what it was
 * (gpnn-methods-classes(7), equation 14.4). */
static double counted_mean(const struct gpnn_parameters *parameters,
                           const struct gpnn_latent_row *latent, double factor)
{
  return latent->mean + 0.5 * (1 - factor) * (latent->variance + parameters->covariance.noise);
}

/* Known noise is that of numbers. */
static struct gpnn_predictive counted(const struct gpnn_parameters *parameters,
                                      const struct gpnn_latent_row *latent, double known_noise)
{
  (void)known_noise;
  double variance = latent->variance + parameters->covariance.noise;
  double factor = factor_of(parameters, latent);
  return (struct gpnn_predictive){counted_mean(parameters, latent, factor), factor * variance};
}

static struct gpnn_predictive counted_function(const struct gpnn_parameters *parameters,
                                               const struct gpnn_latent_row *latent)
{
  double factor = factor_of(parameters, latent);
  return (struct gpnn_predictive){counted_mean(parameters, latent, factor),
                                  factor * latent->variance};
}

static struct gpnn_head_parts counted_parts(const struct gpnn_parameters *parameters,
                                            const struct gpnn_latent_row *latent, double noise,
                                            double known_noise)
{
  (void)known_noise;
  double factor = factor_of(parameters, latent);
  return (struct gpnn_head_parts){sqrt(factor), sqrt(factor), factor * noise};
}

/* ---- the table ---------------------------------------------------------------------------- */

static const struct gpnn_head_kind kinds[] = {
    {"Gaussian", is_gaussian, false, add_noise, as_predicted, plain_parts, gaussian_nll,
     gaussian_half_width},
    {"Student's t", is_student, false, add_noise, as_predicted, plain_parts, student_nll,
     student_half_width},
    {"counts", is_of_counts, false, counted, counted_function, counted_parts, gaussian_nll,
     gaussian_half_width},
    {"Student's t", is_scaled, true, scaled_observation, scaled_function, scaled_parts, scaled_nll,
     scaled_half_width},
};

struct gpnn_head gpnn_head_of(const struct gpnn_parameters *parameters)
{
  size_t i = 0;
  while (!kinds[i].applies_to(parameters)) i++; /* one of the kinds applies to any parameters */
  return (struct gpnn_head){&kinds[i], parameters};
}

double gpnn_head_degrees(const struct gpnn_head *head)
{
  return head->parameters->degrees;
}

bool gpnn_head_needs_row(const struct gpnn_head *head)
{
  return head->kind->needs_row;
}

struct gpnn_predictive gpnn_head_observe(const struct gpnn_head *head,
                                         const struct gpnn_latent_row *latent, double known_noise)
{
  return head->kind->observe(head->parameters, latent, known_noise);
}

struct gpnn_predictive gpnn_head_latent(const struct gpnn_head *head,
                                        const struct gpnn_latent_row *latent)
{
  return head->kind->of_function(head->parameters, latent);
}

struct gpnn_head_parts gpnn_head_parts(const struct gpnn_head *head,
                                       const struct gpnn_latent_row *latent, double known_noise,
                                       bool of_function)
{
  double noise = of_function ? 0 : gpnn_parameters_noise(head->parameters);
  return head->kind->parts(head->parameters, latent, noise, of_function ? 0 : known_noise);
}

double gpnn_head_nll(const struct gpnn_head *head, double error, double variance)
{
  return head->kind->nll(head->parameters, error, variance);
}

double gpnn_head_half_width(const struct gpnn_head *head, double level, bool is_latent,
                            const char **source)
{
  double width = is_latent ? NAN : gpnn_conformal_width(head->parameters, level);
  *source = isnan(width) ? head->kind->name : "conformal";
  return isnan(width) ? head->kind->half_width(head->parameters, level) : width;
}
