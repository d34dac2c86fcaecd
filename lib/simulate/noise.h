/*
 * noise: independent deviates of mean 0 and a given variance, of several laws.
 */
#ifndef GPNN_SIMULATE_NOISE_H
#define GPNN_SIMULATE_NOISE_H

#include <stdbool.h>

#include "base/rng.h"

enum gpnn_noise_law {
  GPNN_NOISE_NORMAL,
  GPNN_NOISE_LAPLACE, /* density exp(-|e|/b) / (2b), b = sqrt(variance / 2) */
  GPNN_NOISE_STUDENT, /* Student's t, scaled to the variance */
};

struct gpnn_noise {
  enum gpnn_noise_law law;
  double degrees;  /* of freedom, > 2; STUDENT alone */
  double variance; /* >= 0 */
};

/* Reads "normal", "laplace" or "student:NU" with a finite NU > 2 into 'noise', whose variance
 * stays; false, with nothing set: it is none of them. */
bool gpnn_noise_parse(const char *text, struct gpnn_noise *noise);

/* One deviate, finite; takes two words of the sequence. */
double gpnn_noise_draw(const struct gpnn_noise *noise, struct gpnn_rng *rng);

#endif
