/*
 * observation: the target of a simulated row, given the values of one or several latent functions
 * there (gpnn-methods-simulate(7), equations 11.26 to 11.29).
 *
 *   GAUSSIAN     y = mean + f + noise, of any law
 *   CATEGORICAL  one of n_classes >= 1, each with a function of its own, with the probabilities
 *                softmax(f_1 ... f_K); numbered from 0
 *   POISSON      a count of expectation lambda = exposure exp(mean + f), and of this variance
 *   NEGBIN       a count of expectation lambda and variance lambda + lambda^2 / dispersion
 *
 * What is known about a row before its target is drawn is its truth: the function, for classes
 * their probabilities, for counts the expectation.  Threads: no shared state.
 */
#ifndef GPNN_SIMULATE_OBSERVATION_H
#define GPNN_SIMULATE_OBSERVATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rng.h"
#include "kernel/parameters.h"

/* Independent deviates with mean 0 and a given variance, from several distributions. */
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

struct gpnn_observation {
  enum gpnn_likelihood likelihood; /* one of those above */
  struct gpnn_noise noise;         /* GAUSSIAN */
  double mean;                     /* of the function; not CATEGORICAL */
  size_t n_classes;                /* CATEGORICAL: >= 1 */
  double dispersion;               /* NEGBIN: > 0 */
};

/* True if the target is a count. */
bool gpnn_observation_counts(const struct gpnn_observation *observation);

/* How many latent functions a row has, and how many numbers its truth is: the classes, or 1. */
size_t gpnn_observation_functions(const struct gpnn_observation *observation);

/* Replaces the values of the latent functions of a row by its truth.  'exposure' > 0 is 1 unless
 * the target is a count. */
void gpnn_observation_truth(const struct gpnn_observation *observation, double exposure,
                            double *values);

/* Draws the target of a row from its truth.  NaN: the truth is not finite, or the expectation of a
 * count is above GPNN_RNG_MOST_MEAN. */
double gpnn_observation_draw(const struct gpnn_observation *observation, const double *truth,
                             struct gpnn_rng *rng);

#endif
