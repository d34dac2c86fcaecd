/*
 * noise: independent deviates with mean 0 and a given variance, from several distributions.
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
  double degrees;  /* of freedom, > 2; for STUDENT only */
  double variance; /* >= 0 */
};

/* Reads "normal", "laplace" or "student:NU", with a finite NU > 2, into 'noise', whose variance is
 * left alone.  False, with nothing set, for anything else. */
bool gpnn_noise_parse(const char *text, struct gpnn_noise *noise);

/* Draws one deviate, which is finite; takes two words of the generator's sequence. */
double gpnn_noise_draw(const struct gpnn_noise *noise, struct gpnn_rng *rng);

#endif
