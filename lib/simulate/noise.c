#include "simulate/noise.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "stats/student.h"

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
  return radius * cos(6.283185307179586 * gpnn_rng_uniform(rng));
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
