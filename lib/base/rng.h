/*
 * rng: the one source of random numbers: counter-based, keyed by seed and purpose.
 *
 * Output i of a generator is mix(key + i * golden), the SplitMix64 sequence (Steele, Lea
 * and Flood 2014), whose start is a hash of the user's seed and of the purpose.  Draws for
 * one purpose therefore never move because another purpose drew more or fewer, and equal
 * seeds give equal results on every machine and for any number of threads.
 */
#ifndef GPNN_BASE_RNG_H
#define GPNN_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Values are part of reproducibility: never renumber. */
enum gpnn_rng_purpose {
  GPNN_RNG_SPLIT = 1,         /* rows to parts of a table */
  GPNN_RNG_HOLD_OUT = 2,      /* calibration rows of an index */
  GPNN_RNG_SEARCH_TRAIN = 3,  /* rows that train the search */
  GPNN_RNG_SEARCH_SAMPLE = 4, /* queries that measure recall */
  GPNN_RNG_ESTIMATE = 5,      /* rows of the estimation blocks */
  GPNN_RNG_LEAVE_ONE_OUT = 6, /* rows of leave-one-out calibration */
  GPNN_RNG_GIVEN_ROWS = 7,    /* order of rows given to calibrate on */
  GPNN_RNG_CLUSTERS = 8,      /* centres of clusters left out in calibration */
  GPNN_RNG_LIKE = 9,          /* rows that calibration is to be like */
  GPNN_RNG_STAND_IN = 10,     /* which training row stands for such a row */
  GPNN_RNG_ORDER = 20,        /* order in which rows are conditioned on one another */
  GPNN_RNG_REGRESS = 21,      /* rows that coefficients are estimated from */
  GPNN_RNG_FOLDS = 22,        /* rows of a cross-validation and their folds */
  GPNN_RNG_SAMPLE = 23,       /* rows that stand for all of an index */
  GPNN_RNG_BATCH = 15,        /* minibatches of an estimation */
  GPNN_RNG_POINT = 30,        /* inputs of simulated rows to predict */
  GPNN_RNG_CLOUD = 31,        /* inputs of simulated training rows */
  GPNN_RNG_NEAR = 32,         /* nearest neighbours drawn without their cloud */
  GPNN_RNG_RESPONSE = 33,     /* a simulated process at those places */
  GPNN_RNG_NOISE = 34,        /* the noise on it */
  GPNN_RNG_ADVISE = 35,       /* rows that a learning curve is measured on */
  GPNN_RNG_LIMITS = 36,       /* rows that the limits of inputs come from */
  GPNN_RNG_TEST = 99,         /* tests only */
};

struct gpnn_rng {
  uint64_t state;
};

void gpnn_rng_init(struct gpnn_rng *rng, uint64_t seed, enum gpnn_rng_purpose purpose);

/*
 * The generator of item 'index' of a purpose: rows, points or draws that have one each can be made
 * in any order, by any thread, and apart.
 */
void gpnn_rng_init_at(struct gpnn_rng *rng, uint64_t seed, enum gpnn_rng_purpose purpose,
                      uint64_t index);

/* A uniform 64-bit word. */
uint64_t gpnn_rng_next(struct gpnn_rng *rng);

/* A uniform integer in [0, bound), bound > 0, without bias. */
uint64_t gpnn_rng_below(struct gpnn_rng *rng, uint64_t bound);

/* A uniform real in [0, 1), with 53 random bits. */
double gpnn_rng_uniform(struct gpnn_rng *rng);

/* A standard normal deviate (Box-Muller; two words of the sequence each). */
double gpnn_rng_normal(struct gpnn_rng *rng);

/* 'n' independent standard normal deviates: two of them, or the last alone, from two words. */
void gpnn_rng_normals(struct gpnn_rng *rng, size_t n, double *x);

/* A standard exponential deviate, > 0. */
double gpnn_rng_exponential(struct gpnn_rng *rng);

/* A 64-bit hash of 'length' bytes under 'seed': for assigning named groups. */
uint64_t gpnn_rng_hash(uint64_t seed, const void *bytes, size_t length);

/*
 * Draws 'k' distinct integers of [0, n), k <= n, uniformly and in random order, into 'out'
 * (k entries).  Time and memory O(k), whatever n.  GPNN_ENOMEM if its table cannot be had.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_rng_sample(struct gpnn_rng *rng, uint64_t n, size_t k,
                                                 uint64_t *out, struct gpnn_error *err);

#endif
