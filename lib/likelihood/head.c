#include "likelihood/head.h"

#include <math.h>
#include <stddef.h>

#include "likelihood/conformal.h"
#include "stats/normal.h"
#include "stats/student.h"

struct gpnn_head_kind {
  const char *name;
  bool (*applies_to)(const struct gpnn_parameters *parameters);
  struct gpnn_predictive (*observe)(const struct gpnn_parameters *parameters,
                                    struct gpnn_predictive latent, double known_noise);
  double (*nll)(const struct gpnn_parameters *parameters, double error, double variance);
  double (*half_width)(const struct gpnn_parameters *parameters, double level);
};

/* ---- gaussian ----------------------------------------------------------------------------- */

static bool is_gaussian(const struct gpnn_parameters *parameters)
{
  return parameters->degrees == 0;
}

static struct gpnn_predictive add_noise(const struct gpnn_parameters *parameters,
                                        struct gpnn_predictive latent, double known_noise)
{
  latent.variance += parameters->covariance.noise;
  latent.variance += known_noise;
  return latent;
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
  return parameters->degrees > 0;
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

/* ---- the table ---------------------------------------------------------------------------- */

static const struct gpnn_head_kind kinds[] = {
    {"Gaussian", is_gaussian, add_noise, gaussian_nll, gaussian_half_width},
    {"Student's t", is_student, add_noise, student_nll, student_half_width},
};

struct gpnn_head gpnn_head_of(const struct gpnn_parameters *parameters)
{
  size_t i = 0;
  while (!kinds[i].applies_to(parameters)) i++; /* the kinds cover every value of degrees */
  return (struct gpnn_head){&kinds[i], parameters};
}

double gpnn_head_degrees(const struct gpnn_head *head)
{
  return head->parameters->degrees;
}

struct gpnn_predictive gpnn_head_observe(const struct gpnn_head *head,
                                         struct gpnn_predictive latent, double known_noise)
{
  return head->kind->observe(head->parameters, latent, known_noise);
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
