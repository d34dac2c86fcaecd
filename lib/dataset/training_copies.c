/*
 * Rows that are copies of each other: one observation read several times, as after a bad join, or
 * repeats of which each equals the others.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/training_private.h"

enum { NEVER_FEWER_SETS = 5 };

/* Mixes numbers into a hash, each by a bijection; -0 is 0. */
static uint64_t add_numbers(uint64_t hash, size_t n, const double *numbers)
{
  for (size_t i = 0; i < n; i++) {
    uint64_t bits;
    double positive = numbers[i] == 0 ? 0 : numbers[i];
    memcpy(&bits, &positive, sizeof bits);
    hash = (hash ^ bits) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

uint64_t gpnn_training_hash(const struct gpnn_training *training, const double *row)
{
  return add_numbers(0x9e3779b97f4a7c15u, training->width, row);
}

/* Sets of rows that have the same numbers in some columns. */
struct sets {
  size_t n;       /* of them */
  size_t n_rows;  /* that are in a set with others */
  double n_pairs; /* of rows in the same set */
};

/* Finds the sets of rows that are equal in 'width' columns from 'first' on; their numbers go to
 * 'set'. */
static enum gpnn_status divide(const struct gpnn_training *training, size_t first, size_t width,
                               uint32_t *set, struct sets *sets, struct gpnn_error *err)
{
  struct gpnn_groups groups = {0};
  enum gpnn_status status = GPNN_OK;
  size_t stretch = GPNN_MAPPING_STRIDE / (training->width * sizeof(double)) + 1;
  for (size_t i = 0; i < training->n && status == GPNN_OK; i++) {
    const double *row = training->read.numbers + i * training->width;
    uint64_t hash = add_numbers(0x9e3779b97f4a7c15u, width, row + first);
    status = gpnn_groups_number(&groups, (const char *)&hash, sizeof hash, &set[i], err);
    if (i > 0 && i % stretch == 0)
      gpnn_mapping_evict(gpnn_spool_mapping(&training->read), row - stretch * training->width,
                         stretch * training->width * sizeof *row);
  }
  size_t n = groups.n;
  gpnn_groups_release(&groups);
  if (status != GPNN_OK) return status;
  size_t *count = gpnn_alloc(n, 1, sizeof *count);
  if (count == NULL) return gpnn_fail_memory(err, "to find copies of rows");
  *sets = (struct sets){.n = n};
  for (size_t i = 0; i < training->n; i++) sets->n_pairs += (double)count[set[i]]++;
  for (size_t g = 0; g < n; g++) sets->n_rows += count[g] > 1 ? count[g] : 0;
  free(count);
  return GPNN_OK;
}

/*
 * Whether rows equal in inputs agree in their targets because they are copies.  Repeated
 * observations agree by chance where a target has few values, at most about as often as the noise
 * lets them, but hardly ever always, nor many times as often as any two rows do.
 */
static enum gpnn_status are_copies(const struct gpnn_training *training, double n_pairs,
                                   uint32_t *work, bool *are, struct gpnn_error *err)
{
  static const double always = 0.99, times = 20;
  const struct gpnn_schema *schema = &training->dataset.schema;
  double all = 0.5 * (double)training->n * ((double)training->n - 1);
  struct sets same = {0}, alike = {0};
  enum gpnn_status status = divide(training, 0, schema->n_inputs, work, &same, err);
  if (status == GPNN_OK)
    status = divide(training, schema->n_inputs, 1 + schema->n_more, work, &alike, err);
  double share = n_pairs / same.n_pairs, chance = alike.n_pairs / all;
  *are = share >= always || share > times * chance;
  return status;
}

enum gpnn_status gpnn_training_find_copies(struct gpnn_training *training, struct gpnn_error *err)
{
  static const double least_share = 0.01;
  struct sets sets = {0};
  bool are = false;
  if (training->dataset.schema.has_by || training->n < 2) return GPNN_OK;
  uint32_t *set = gpnn_alloc(training->n, 2, sizeof *set);
  if (set == NULL) return gpnn_fail_memory(err, "to find copies of rows");
  enum gpnn_status status = divide(training, 0, training->width, set, &sets, err);
  if (status == GPNN_OK && sets.n >= NEVER_FEWER_SETS &&
      (double)sets.n_rows >= least_share * (double)training->n && sets.n_rows > 0)
    status = are_copies(training, sets.n_pairs, set + training->n, &are, err);
  if (status != GPNN_OK || !are) {
    free(set);
    return status;
  }
  training->set = set;
  training->n_sets = sets.n;
  training->n_copied = sets.n_rows;
  return GPNN_OK;
}
