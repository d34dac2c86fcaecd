#include "simulate/observation.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "stats/distributions/student.h"

/* ---- noise -------------------------------------------------------------------------------- */

bool gpnn_noise_parse(const char *text, struct gpnn_noise *noise)
{
  static const char student[] = "student:";
  enum { PREFIX = sizeof student - 1 };
  if (strcmp(text, "normal") == 0) {
    noise->law = GPNN_NOISE_NORMAL;
  } else if (strcmp(text, "laplace") == 0) {
    noise->law = GPNN_NOISE_LAPLACE;
  } else {
    double degrees = 0;
    if (strncmp(text, student, PREFIX) != 0 ||
        gpnn_number_read(text + PREFIX, strlen(text + PREFIX), &degrees) != GPNN_NUMBER_OK ||
        !(degrees > 2))
      return false;
    noise->law = GPNN_NOISE_STUDENT;
    noise->degrees = degrees;
  }
  return true;
}

/* A deviate of variance 2, which is finite because exponential deviates are. */
static double laplace(struct gpnn_rng *rng)
{
  double size = gpnn_rng_exponential(rng);
  return gpnn_rng_next(rng) >> 63 != 0 ? -size : size;
}

/* The polar method of Box and Muller with the radius of Student's t: exact for any 'degrees' (R. W.
 * Bailey 1994, Polar generation of random variates with the t-distribution, Math. Comp. 62). */
static double student(double degrees, struct gpnn_rng *rng)
{
  double radius = sqrt(degrees * expm1(-2 / degrees * log(1 - gpnn_rng_uniform(rng))));
  return radius * cos(2 * M_PI * gpnn_rng_uniform(rng));
}

double gpnn_noise_draw(const struct gpnn_noise *noise, struct gpnn_rng *rng)
{
  switch (noise->law) {
  case GPNN_NOISE_LAPLACE:
    return sqrt(noise->variance / 2) * laplace(rng);
  case GPNN_NOISE_STUDENT:
    return sqrt(noise->variance) * gpnn_student_unit_scale(noise->degrees) *
           student(noise->degrees, rng);
  case GPNN_NOISE_NORMAL:
    break;
  }
  return sqrt(noise->variance) * gpnn_rng_normal(rng);
}

#include "stats/sum.h"

bool gpnn_observation_counts(const struct gpnn_observation *observation)
{
  return observation->likelihood == GPNN_LIKELIHOOD_POISSON ||
         observation->likelihood == GPNN_LIKELIHOOD_NEGBIN;
}

size_t gpnn_observation_functions(const struct gpnn_observation *observation)
{
  return observation->likelihood == GPNN_LIKELIHOOD_CATEGORICAL ? observation->n_classes : 1;
}

/* ---- truths ------------------------------------------------------------------------------- */

void gpnn_observation_truth(const struct gpnn_observation *observation, double exposure,
                            double *values)
{
  if (observation->likelihood == GPNN_LIKELIHOOD_CATEGORICAL) {
    gpnn_softmax(observation->n_classes, values);
    return;
  }
  values[0] += observation->mean;
  if (gpnn_observation_counts(observation)) values[0] = exposure * exp(values[0]);
}

/* ---- targets ------------------------------------------------------------------------------ */

static double draw_class(size_t n, const double *p, struct gpnn_rng *rng)
{
  double u = gpnn_rng_uniform(rng), sum = 0;
  size_t last = 0; /* the class for a 'u' that rounding leaves above the sum of all */
  for (size_t c = 0; c < n; c++) {
    if (!(p[c] > 0)) continue;
    last = c;
    sum += p[c];
    if (u < sum) break;
  }
  return isnan(p[0]) ? NAN : (double)last;
}

static double draw_count(double mean, struct gpnn_rng *rng)
{
  if (!(mean <= GPNN_RNG_MOST_MEAN)) return NAN;
  uint64_t count = gpnn_rng_poisson(rng, mean);
  return (double)count;
}

double gpnn_observation_draw(const struct gpnn_observation *o, const double *truth,
                             struct gpnn_rng *rng)
{
  switch (o->likelihood) {
  case GPNN_LIKELIHOOD_CATEGORICAL:
    return draw_class(o->n_classes, truth, rng);
  case GPNN_LIKELIHOOD_POISSON:
    return draw_count(truth[0], rng);
  case GPNN_LIKELIHOOD_NEGBIN: /* a Poisson variable whose mean is gamma */
    return draw_count(truth[0] * gpnn_rng_gamma(rng, o->dispersion) / o->dispersion, rng);
  default:
    return truth[0] + gpnn_noise_draw(&o->noise, rng);
  }
}
