/*
 * Rows of a tree in a byte a coordinate, from which lower bounds of their distances follow.
 *
 * With many inputs most rows that a query looks at lie just outside its bound.  In single precision
 * it takes two instructions for 16 coordinates to find that out; with bytes, one for 64.  Let c be
 * a centre and s_j a step for each coordinate, and let a row be x - c = s a + r with bytes a and
 * |r| = e.  Likewise let a query be q - c = z, and s z = t b + p with bytes b.  Then
 *
 *   |x - q| >= |s a - z| - e  and  |s a - z|^2 >= |s a|^2 + |z|^2 - 2 t a.b - 2 |a| |p|,
 *
 * and a row that this puts beyond the bound need not be looked at.  All others are compared as if
 * there were no filter, so that the rows found are the same.
 *
 * A step is the range of its coordinate in 254 parts, but at least half the mean of these: smaller
 * ones would gain little in e and cost much in |a|.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "linalg/arrays.h"
#include "linalg/simd.h"
#include "search/search_private.h"

enum { LANES = GPNN_TREE_LANES, FOUR = 4, BYTE_BITS = 8, TERMS = GPNN_TREE_TERMS };

enum {
  FEWEST = 16,    /* coordinates from which on there is something to gain */
  MOST = 1 << 15, /* from which on sums might overflow */
  TOP = 127,      /* the largest magnitude of a byte */
};

/* Relative to all that is added up: many times what single precision loses. */
static const double margin = 0x1p-18;

/* ---- rows ---- */

/* The mean of some rows, as any centre will do, and steps from the boxes of the highest level. */
static void set_steps(const struct gpnn_tree *tree, struct gpnn_tree_filter *filter)
{
  enum { SAMPLE = 256 };
  size_t d = tree->d, top = tree->n_levels - 1, n_full = tree->n / LANES;
  size_t n = n_full < SAMPLE ? n_full : SAMPLE;
  double mean = 0;
  for (size_t j = 0; j < d; j++) {
    const float *least = tree->boxes[top] + 2 * j * LANES, *greatest = least + LANES;
    double low = least[0], high = greatest[0], sum = 0;
    for (size_t i = 1; i < LANES && i < tree->n_children[top]; i++) {
      low = fmin(low, least[i]);
      high = fmax(high, greatest[i]);
    }
    for (size_t i = 0; i < n * LANES; i++)
      sum += tree->rows[(i / LANES * (n_full / n) * d + j) * LANES + i % LANES];
    filter->centre[j] = sum / (double)(n * LANES);
    filter->step[j] = fmax(high - filter->centre[j], filter->centre[j] - low) / TOP;
    mean += filter->step[j] / (double)d;
  }
  for (size_t j = 0; j < d; j++) filter->step[j] = fmax(filter->step[j], fmax(mean / 2, FLT_MIN));
}

/* The nearest byte; one of them whatever the value is. */
static inline double byte_of(double value)
{
  double nearest = rint(value), least = nearest > -TOP ? nearest : -TOP;
  return least < TOP ? least : TOP;
}

/* Codes a block of rows. */
GPNN_SIMD static void code_block(const struct gpnn_tree *tree,
                                 const struct gpnn_tree_filter *filter, size_t block)
{
  double squares[LANES] = {0}, length[LANES] = {0}, error[LANES] = {0};
  uint32_t *codes = filter->codes + block * filter->n_groups * LANES;
  float *terms = filter->terms + block * TERMS * LANES;
  for (size_t j = 0; j < tree->d; j++) {
    const float *x = tree->rows + (block * tree->d + j) * LANES;
    uint32_t *code = codes + j / FOUR * LANES;
    double centre = filter->centre[j], step = filter->step[j], inverse = 1 / step;
#pragma omp simd
    for (size_t i = 0; i < LANES; i++) {
      double offset = x[i] - centre, byte = byte_of(offset * inverse);
      double back = byte * step, rest = offset - back;
      squares[i] += back * back;
      length[i] += byte * byte;
      error[i] += rest * rest;
      code[i] |= (uint32_t)((int)byte + GPNN_TREE_BIAS) << j % FOUR * BYTE_BITS;
    }
  }
  for (size_t i = 0; i < LANES; i++) {
    bool is_row = block * LANES + i < tree->n;
    terms[i] = is_row ? (float)(squares[i] * (1 - margin)) : INFINITY;
    terms[LANES + i] = is_row ? (float)(sqrt(length[i]) * (1 + margin)) : 0;
    terms[2 * LANES + i] = is_row ? (float)(sqrt(error[i]) * (1 + margin)) : 0;
  }
}

static bool fill(const struct gpnn_tree *tree, struct gpnn_tree_filter *filter)
{
  size_t d = tree->d, n_blocks = (tree->n + LANES - 1) / LANES;
  filter->n_groups = (d + FOUR - 1) / FOUR;
  size_t block_bytes = filter->n_groups * LANES * sizeof *filter->codes;
  if (gpnn_memory_check("", (double)n_blocks * (double)block_bytes, NULL) != GPNN_OK) return false;
  filter->arrays = GPNN_ARRAYS(GPNN_ARRAY(filter->centre, d, 1), GPNN_ARRAY(filter->step, d, 1),
                               GPNN_ARRAY(filter->codes, n_blocks, filter->n_groups * LANES),
                               GPNN_ARRAY(filter->terms, n_blocks, TERMS * LANES));
  if (filter->arrays == NULL) return false;
  set_steps(tree, filter);
  for (size_t block = 0; block < n_blocks; block++) code_block(tree, filter, block);
  return true;
}

enum { NONE, BEING_MADE, READY }; /* a filter; without memory it is being made for ever */

const struct gpnn_tree_filter *gpnn_tree_filter_of(const struct gpnn_tree *tree, bool make)
{
  struct gpnn_tree_filter *filter = tree->filter;
  int state = __atomic_load_n(&filter->state, __ATOMIC_ACQUIRE);
  if (make && state == NONE && gpnn_tree_loops()->pass != NULL && tree->d >= FEWEST &&
      tree->d < MOST && tree->n >= LANES &&
      __atomic_compare_exchange_n(&filter->state, &state, BEING_MADE, false, __ATOMIC_ACQUIRE,
                                  __ATOMIC_ACQUIRE)) {
    state = fill(tree, filter) ? READY : BEING_MADE;
    __atomic_store_n(&filter->state, state, __ATOMIC_RELEASE);
  }
  return state == READY ? filter : NULL;
}

void gpnn_tree_filter_free(struct gpnn_tree_filter *filter)
{
  if (filter == NULL) return;
  gpnn_arrays_free(filter->arrays);
  free(filter);
}

/* ---- queries ---- */

/* Takes a coordinate that would leave few values for the others out of those to be coded, which are
 * 'scaled'; false if none would. */
static bool take_large(size_t d, double *scaled, struct gpnn_tree_coded *coded)
{
  const double much = 64;
  double squares = 0;
  size_t at = 0;
  for (size_t j = 0; j < d; j++) {
    squares += scaled[j] * scaled[j];
    if (fabs(scaled[j]) > fabs(scaled[at])) at = j;
  }
  double largest = scaled[at] * scaled[at], mean = (squares - largest) / (double)d;
  if (coded->n_large == GPNN_TREE_LARGE || !(largest > much * mean)) return false;
  coded->large[coded->n_large] = (uint32_t)at;
  coded->factors[coded->n_large++] = (float)(-2 * scaled[at]);
  scaled[at] = 0;
  return true;
}

void gpnn_tree_filter_code(const struct gpnn_tree_filter *filter, size_t d, const float *query,
                           double *scaled, struct gpnn_tree_coded *coded)
{
  double largest = 0, squares = 0, rest = 0;
  int sum = 0;
  for (size_t j = 0; j < d; j++) {
    double offset = query[j] - filter->centre[j];
    squares += offset * offset;
    scaled[j] = offset * filter->step[j];
  }
  coded->n_large = 0;
  while (take_large(d, scaled, coded)) continue;
  for (size_t j = 0; j < d; j++) largest = fmax(largest, fabs(scaled[j]));
  double step = largest > 0 ? largest / TOP : 1;
  for (size_t g = 0; g < filter->n_groups; g++) coded->codes[g] = 0;
  for (size_t j = 0; j < d; j++) {
    double byte = byte_of(scaled[j] / step), left = scaled[j] - step * byte;
    rest += left * left;
    sum += (int)byte;
    coded->codes[j / FOUR] |= (uint32_t)(unsigned char)(int)byte << j % FOUR * BYTE_BITS;
  }
  coded->start = -GPNN_TREE_BIAS * sum;
  coded->step = (float)(-2 * step);
  coded->rest = (float)(2 * sqrt(rest) * (1 + margin));
  coded->squares = (float)(squares * (1 - margin) - FLT_MIN);
}

/* Sums of d squares in single precision lose less than d + 2 units in the last place. */
void gpnn_tree_filter_bound(struct gpnn_tree_coded *coded, size_t d, float bound)
{
  coded->radius = (float)(sqrt(bound * (1 + (double)(d + 2) * FLT_EPSILON)) * (1 + margin));
}

/* Of damaged rows, which are no numbers, nothing is known. */
struct gpnn_tree_estimate gpnn_tree_filter_estimate(const struct gpnn_tree_coded *coded,
                                                    const float *terms, const float *squares,
                                                    size_t i)
{
  double error = terms[2 * LANES + i], at_least = squares[i];
  double spread = 2 * (double)coded->rest * terms[LANES + i] +
                  3 * margin * ((double)terms[i] + coded->squares) + 3 * FLT_MIN;
  double least = fmax(sqrt(fmax(at_least, 0)) - error, 0);
  double most = fmin(sqrt(fmax(at_least + spread, 0)) + error, INFINITY);
  return (struct gpnn_tree_estimate){(float)(least * least * (1 - margin)),
                                     (float)(most * most * (1 + margin))};
}
