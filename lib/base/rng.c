#include "base/rng.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

static const uint64_t golden = 0x9e3779b97f4a7c15u;

/* The finaliser of SplitMix64: a bijection of 64-bit words whose every output bit depends
 * on every input bit. */
static uint64_t mix(uint64_t z)
{
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

void gpnn_rng_init(struct gpnn_rng *rng, uint64_t seed, enum gpnn_rng_purpose purpose)
{
  rng->state = mix(mix(seed + golden) + golden * (uint64_t)purpose);
}

void gpnn_rng_init_at(struct gpnn_rng *rng, uint64_t seed, enum gpnn_rng_purpose purpose,
                      uint64_t index)
{
  gpnn_rng_init(rng, seed, purpose);
  /* The start is a hash of all three.  If the index were merely added to the counter, the sequences
   * of neighbouring items would overlap. */
  rng->state = mix(rng->state ^ mix(index + golden));
}

uint64_t gpnn_rng_next(struct gpnn_rng *rng)
{
  rng->state += golden;
  return mix(rng->state);
}

uint64_t gpnn_rng_below(struct gpnn_rng *rng, uint64_t bound)
{
  assert(bound > 0);
  /* Words below 2^64 mod bound are rejected, so that every remainder is equally likely. */
  uint64_t rejected = -bound % bound, word;
  do word = gpnn_rng_next(rng);
  while (word < rejected);
  return word % bound;
}

double gpnn_rng_uniform(struct gpnn_rng *rng)
{
  return (double)(gpnn_rng_next(rng) >> 11) * 0x1p-53;
}

/* The radius and the angle of a point whose coordinates are independent normal deviates. */
static double polar_normal(struct gpnn_rng *rng, double *angle)
{
  double radius = sqrt(-2 * log(1 - gpnn_rng_uniform(rng)));
  *angle = 2 * M_PI * gpnn_rng_uniform(rng);
  return radius;
}

double gpnn_rng_normal(struct gpnn_rng *rng)
{
  double angle, radius = polar_normal(rng, &angle);
  return radius * cos(angle);
}

void gpnn_rng_normals(struct gpnn_rng *rng, size_t n, double *x)
{
  for (size_t j = 0; j < n; j += 2) {
    double angle, radius = polar_normal(rng, &angle);
    x[j] = radius * cos(angle);
    if (j + 1 < n) x[j + 1] = radius * sin(angle);
  }
}

double gpnn_rng_exponential(struct gpnn_rng *rng)
{
  /* -log(1 - u), with u measured from the nearer end of (0, 1), so that small and large deviates
   * alike have all their digits. */
  uint64_t word = gpnn_rng_next(rng);
  if (word >> 63 == 0) return -log1p(-((double)word + 0.5) * 0x1p-64);
  return -log(((double)~word + 0.5) * 0x1p-64);
}

double gpnn_rng_gamma(struct gpnn_rng *rng, double shape)
{
  double power = 1;
  if (shape < 1) { /* the deviate of shape + 1 times a power of a uniform one */
    power = exp(-gpnn_rng_exponential(rng) / shape);
    shape += 1;
  }
  double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
  for (;;) {
    double z = gpnn_rng_normal(rng), v = 1 + c * z;
    if (v <= 0) continue;
    v = v * v * v;
    if (-gpnn_rng_exponential(rng) < z * z / 2 + d * (1 - v + log(v))) return power * d * v;
  }
}

/* The log of the probability of k. */
static double poisson_log(double mean, double k)
{
  if (k < 10) {
    double factorial = 1;
    for (double i = 2; i <= k; i++) factorial *= i;
    return k * log(mean) - mean - log(factorial);
  }
  /* With Stirling's series for log k!, in a form whose digits do not cancel if k is large. */
  double x = (mean - k) / k, series = (1 - (1 - 2 / (7 * k * k)) / (30 * k * k)) / (12 * k);
  return k * (log1p(x) - x) - log(2 * M_PI * k) / 2 - series;
}

/* Counts the events of a process of rate 1 in the time 'mean'. */
static uint64_t poisson_by_events(struct gpnn_rng *rng, double mean)
{
  uint64_t events = 0;
  for (double time = gpnn_rng_exponential(rng); time < mean; time += gpnn_rng_exponential(rng))
    events++;
  return events;
}

uint64_t gpnn_rng_poisson(struct gpnn_rng *rng, double mean)
{
  assert(mean >= 0 && mean <= GPNN_RNG_MOST_MEAN);
  if (mean < 10) return poisson_by_events(rng, mean);
  double b = 0.931 + 2.53 * sqrt(mean), a = 0.02483 * b - 0.059;
  double height = 1.1239 + 1.1328 / (b - 3.4), squeeze = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    double u = gpnn_rng_uniform(rng) - 0.5, v = 1 - gpnn_rng_uniform(rng);
    double left = 0.5 - fabs(u), k = floor((2 * a / left + b) * u + mean + 0.43);
    if (left >= 0.07 && v <= squeeze) return (uint64_t)k;
    if (k < 0 || (left < 0.013 && v > left)) continue;
    if (log(v * height / (a / (left * left) + b)) <= poisson_log(mean, k)) return (uint64_t)k;
  }
}

uint64_t gpnn_rng_hash(uint64_t seed, const void *bytes, size_t length)
{
  const unsigned char *b = bytes;
  uint64_t hash = mix(seed + golden);
  for (size_t i = 0; i < length; i++) hash = mix((hash ^ b[i]) + golden);
  return mix(hash ^ length);
}

/*
 * The entries of a permutation that have moved: a hash table with open addressing, at most half
 * full.  It stores key + 1, so that 0 marks an empty slot.
 */
struct moved {
  uint64_t *keys, *values;
  size_t mask;
};

static uint64_t *slot(const struct moved *map, uint64_t key)
{
  size_t i = (size_t)mix(key) & map->mask;
  while (map->keys[i] != 0 && map->keys[i] != key + 1) i = (i + 1) & map->mask;
  if (map->keys[i] == 0) {
    map->keys[i] = key + 1;
    map->values[i] = key;
  }
  return &map->values[i];
}

enum gpnn_status gpnn_rng_sample(struct gpnn_rng *rng, uint64_t n, size_t k, uint64_t *out,
                                 struct gpnn_error *err)
{
  assert(k <= n);
  /* The first k steps of a Fisher-Yates shuffle of 0 ... n-1, of which only the entries that have
   * moved are stored.  Each step touches two of them, hence at most 2k. */
  struct moved map = {.mask = 63};
  while (map.mask < 4 * k) map.mask = map.mask * 2 + 1;
  map.keys = gpnn_alloc(map.mask + 1, 1, sizeof *map.keys);
  map.values = gpnn_alloc(map.mask + 1, 1, sizeof *map.values);
  enum gpnn_status status = GPNN_OK;
  if (map.keys == NULL || map.values == NULL) {
    status = gpnn_fail_memory(err, "for a random sample");
  } else {
    for (size_t i = 0; i < k; i++) {
      uint64_t *chosen = slot(&map, i + gpnn_rng_below(rng, n - i));
      out[i] = *chosen;
      *chosen = *slot(&map, i);
    }
  }
  free(map.keys);
  free(map.values);
  return status;
}
