#include "table/split.h"

#include <assert.h>
#include <math.h>

/* Rounds the shares of 'n_rows' down; the rows left over go to the largest remainders. */
static void apportion(struct gpnn_split *split, uint64_t n_rows)
{
  double remainder[GPNN_SPLIT_PARTS];
  uint64_t given = 0;
  for (size_t k = 0; k < split->n_parts; k++) {
    double exact = split->share[k] * (double)n_rows;
    split->remaining[k] = (uint64_t)exact;
    remainder[k] = exact - floor(exact);
    given += split->remaining[k];
  }
  for (; given < n_rows; given++) {
    size_t largest = 0;
    for (size_t k = 1; k < split->n_parts; k++)
      if (remainder[k] > remainder[largest]) largest = k;
    split->remaining[largest]++;
    remainder[largest] = -1;
  }
  split->n_remaining = n_rows;
}

enum gpnn_status gpnn_split_init(struct gpnn_split *split, size_t n_parts, const double *weights,
                                 uint64_t n_rows, uint64_t seed, struct gpnn_error *err)
{
  assert(n_parts >= 2 && n_parts <= GPNN_SPLIT_PARTS);
  double sum = 0;
  split->n_parts = n_parts;
  split->seed = seed;
  for (size_t k = 0; k < n_parts; k++) sum += weights[k];
  for (size_t k = 0; k < n_parts; k++) split->share[k] = weights[k] / sum;
  apportion(split, n_rows);
  gpnn_rng_init(&split->rng, seed, GPNN_RNG_SPLIT);
  for (size_t k = 0; k < n_parts; k++)
    if (split->remaining[k] == 0)
      return gpnn_fail(err, GPNN_EDATA, "%llu rows are too few: part %zu would have none",
                       (unsigned long long)n_rows, k + 1);
  return GPNN_OK;
}

enum gpnn_status gpnn_split_next(struct gpnn_split *split, size_t *part, struct gpnn_error *err)
{
  if (split->n_remaining == 0)
    return gpnn_fail(err, GPNN_EDATA, "there are more rows than were counted");
  uint64_t drawn = gpnn_rng_below(&split->rng, split->n_remaining--);
  size_t k = 0;
  for (; drawn >= split->remaining[k]; k++) drawn -= split->remaining[k];
  split->remaining[k]--;
  *part = k;
  return GPNN_OK;
}

size_t gpnn_split_group(const struct gpnn_split *split, const char *name, size_t length)
{
  double u = (double)(gpnn_rng_hash(split->seed, name, length) >> 11) * 0x1p-53;
  size_t k = 0;
  for (; k + 1 < split->n_parts && u >= split->share[k]; k++) u -= split->share[k];
  return k;
}
