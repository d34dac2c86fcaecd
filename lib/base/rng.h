/*
 * rng: the one source of random numbers, counter-based and keyed by seed and purpose.
 *
 * Output i of a generator is mix(key + i * golden), the SplitMix64 sequence (Steele, Lea and Flood
 * 2014, Fast splittable pseudorandom number generators), where the key is a hash of the user's seed
 * and the purpose.  What is drawn for one purpose therefore does not depend on how much was drawn
 * for another, and equal seeds give equal results on every machine and for any number of threads.
 *
 * Calling sequence: gpnn_rng_init() or gpnn_rng_init_at(), then draws.  A generator is a plain
 * value: copying it copies the sequence, and nothing needs to be released.  Threads: one generator
 * per thread, or one per item by gpnn_rng_init_at().
 */
#ifndef GPNN_BASE_RNG_H
#define GPNN_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What numbers are drawn for.  The values determine the results for a seed: never renumber. */
enum gpnn_rng_purpose {
  GPNN_RNG_SPLIT = 1,          /* rows to parts of a table */
  GPNN_RNG_HOLD_OUT = 2,       /* calibration rows of an index */
  GPNN_RNG_SEARCH_TRAIN = 3,   /* rows that train the search */
  GPNN_RNG_SEARCH_SAMPLE = 4,  /* queries that measure recall */
  GPNN_RNG_ESTIMATE = 5,       /* rows of the estimation blocks */
  GPNN_RNG_LEAVE_ONE_OUT = 6,  /* rows of leave-one-out calibration */
  GPNN_RNG_GIVEN_ROWS = 7,     /* order of rows given to calibrate on */
  GPNN_RNG_CLUSTERS = 8,       /* centres of clusters left out in calibration */
  GPNN_RNG_LIKE = 9,           /* rows of the file of --like */
  GPNN_RNG_STAND_IN = 10,      /* which training row represents such a row */
  GPNN_RNG_ORDER = 20,         /* order in which rows are conditioned on one another */
  GPNN_RNG_REGRESS = 21,       /* rows that coefficients are estimated from */
  GPNN_RNG_FOLDS = 22,         /* rows of a cross-validation and their folds */
  GPNN_RNG_SAMPLE = 23,        /* rows that represent all of an index */
  GPNN_RNG_TRANSFORM = 24,     /* targets that a transform is fitted to */
  GPNN_RNG_BATCH = 15,         /* minibatches of an estimation */
  GPNN_RNG_POINT = 30,         /* inputs of simulated rows to predict */
  GPNN_RNG_CLOUD = 31,         /* inputs of simulated training rows */
  GPNN_RNG_NEAR = 32,          /* nearest neighbours drawn without all other training rows */
  GPNN_RNG_RESPONSE = 33,      /* a simulated process at these inputs */
  GPNN_RNG_NOISE = 34,         /* the noise on it */
  GPNN_RNG_FUNCTION = 41,      /* further simulated functions of the same rows */
  GPNN_RNG_EXPOSURE = 42,      /* exposures of simulated counts */
  GPNN_RNG_HOLES = 71,         /* cells of a simulated grid that are not observed */
  GPNN_RNG_VIEWS = 92,         /* objects that two parties see in different columns */
  GPNN_RNG_ASK = 90,           /* rows of a pool to ask about */
  GPNN_RNG_ADVISE = 35,        /* rows that a learning curve is measured on */
  GPNN_RNG_SCORES = 77,        /* rows that the scores of inputs are learnt from */
  GPNN_RNG_LIMITS = 36,        /* rows that the limits of inputs are estimated from */
  GPNN_RNG_DRAW = 37,          /* draws of rows that are predicted together */
  GPNN_RNG_MIXING = 38,        /* the scale that Student's t gives each such draw */
  GPNN_RNG_AUGMENT = 43,       /* Polya-Gamma variables of an estimation */
  GPNN_RNG_COUNT = 39,         /* counts drawn, given their mean */
  GPNN_RNG_COUNTS = 40,        /* rows that the dispersion of counts is estimated from */
  GPNN_RNG_TIES = 50,          /* the PIT of rows with the same truth */
  GPNN_RNG_LABELS = 51,        /* labels from the probabilities that were predicted */
  GPNN_RNG_ROW_WEIGHTS = 54,   /* rows that weights of rows are judged on */
  GPNN_RNG_PROBES = 60,        /* vectors that traces are estimated by */
  GPNN_RNG_GRID_DRAW = 62,     /* draws of a process at the levels of a grid */
  GPNN_RNG_GRID_NEW = 63,      /* their continuation to new levels */
  GPNN_RNG_GRID_NOISE = 64,    /* the noise on them */
  GPNN_RNG_GRID_SAMPLE = 65,   /* cells that the parameters of a grid are estimated from */
  GPNN_RNG_GRID_HOLES = 66,    /* cells held out in the pattern of a grid's holes */
  GPNN_RNG_GRID_PROBES = 67,   /* random vectors of an estimated likelihood */
  GPNN_RNG_GRID_LEVELS = 68,   /* means of levels of a grid that were not observed */
  GPNN_RNG_INDUCING = 72,      /* inducing points */
  GPNN_RNG_SVGP = 73,          /* minibatches of a sparse process */
  GPNN_RNG_TRUNCATION = 75,    /* when conjugate gradients of a random length end */
  GPNN_RNG_DIAG_BATCH = 76,    /* the order in which an epoch of batches takes rows */
  GPNN_RNG_TUCKER_BEGIN = 83,  /* factors of a Tucker model before they are estimated */
  GPNN_RNG_TUCKER_SAMPLE = 85, /* rows that its lengthscales are estimated from */
  GPNN_RNG_CODES = 94,         /* folds of rows for the codes of levels */
  GPNN_RNG_PERMUTE = 101,      /* rows that others get the values of a column from */
  GPNN_RNG_EFFECT = 102,       /* rows that effects are averaged over, and those resampled */
  GPNN_RNG_HALTON = 103,       /* digits of quasi-random points */
  GPNN_RNG_RESAMPLE = 104,     /* pairs of such points, again and again */
  GPNN_RNG_TEST = 99,          /* tests only */
};

struct gpnn_rng {
  uint64_t state;
};

void gpnn_rng_init(struct gpnn_rng *rng, uint64_t seed, enum gpnn_rng_purpose purpose);

/*
 * The generator of item 'index' of a purpose.  Where each row, point or draw has its own, they can
 * be made in any order, in any thread, and one without the others.
 */
void gpnn_rng_init_at(struct gpnn_rng *rng, uint64_t seed, enum gpnn_rng_purpose purpose,
                      uint64_t index);

/* A uniform 64-bit word. */
uint64_t gpnn_rng_next(struct gpnn_rng *rng);

/* A uniform integer in [0, bound), for bound > 0, without bias. */
uint64_t gpnn_rng_below(struct gpnn_rng *rng, uint64_t bound);

/* A uniform real in [0, 1), with 53 random bits. */
double gpnn_rng_uniform(struct gpnn_rng *rng);

/* A standard normal deviate (Box and Muller 1958); takes two words of the sequence. */
double gpnn_rng_normal(struct gpnn_rng *rng);

/* 'n' independent standard normal deviates; each pair of them, or the last one alone, takes two
 * words. */
void gpnn_rng_normals(struct gpnn_rng *rng, size_t n, double *x);

/* A standard exponential deviate, > 0. */
double gpnn_rng_exponential(struct gpnn_rng *rng);

/* A gamma deviate of 'shape' > 0 and scale 1 (Marsaglia and Tsang 2000); 2 times that of shape k/2
 * is chi-squared with k degrees of freedom. */
double gpnn_rng_gamma(struct gpnn_rng *rng, double shape);

/* The largest mean of a Poisson deviate: what is drawn is a whole number without rounding. */
#define GPNN_RNG_MOST_MEAN 1e15

/* A Poisson deviate of 'mean' from 0 to GPNN_RNG_MOST_MEAN, exact up to rounding: from a mean of 10
 * on by transformed rejection (Hoermann 1993, algorithm PTRS). */
uint64_t gpnn_rng_poisson(struct gpnn_rng *rng, double mean);

/* A 64-bit hash of 'length' bytes and 'seed', for assigning named groups at random. */
uint64_t gpnn_rng_hash(uint64_t seed, const void *bytes, size_t length);

/*
 * Draws 'k' <= 'n' distinct integers from [0, n), uniformly and in random order, into 'out' (k
 * entries).  Time and memory are O(k), whatever n.  GPNN_ENOMEM: no memory for its table; 'out' is
 * untouched.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_rng_sample(struct gpnn_rng *rng, uint64_t n, size_t k,
                                                 uint64_t *out, struct gpnn_error *err);

#ifdef __cplusplus
}
#endif

#endif
