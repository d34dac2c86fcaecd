#include "shard/shard_private.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

/* A row of the sample along the direction of a cut. */
struct place {
  double value, number;
  size_t row;
};

static int compare_places(const void *a, const void *b)
{
  const struct place *p = a, *q = b;
  if (p->value != q->value) return p->value < q->value ? -1 : 1;
  return p->number < q->number ? -1 : p->number > q->number;
}

/* The direction in which the rows are widest. */
static size_t widest(size_t n, size_t d, const double *x, const struct place *places)
{
  size_t best = 0;
  double most = -1;
  for (size_t j = 0; j < d; j++) {
    double low = x[places[0].row * d + j], high = low;
    for (size_t i = 1; i < n; i++) {
      double value = x[places[i].row * d + j];
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (high - low > most) {
      most = high - low;
      best = j;
    }
  }
  return best;
}

/* Cuts 'n' rows between ranks [first, end). */
static void cut(size_t n, size_t d, const double *x, struct place *places, size_t first, size_t end,
                struct gpnn_cut *cuts)
{
  if (end - first < 2) return;
  size_t middle = first + (end - first) / 2, left = n * (middle - first) / (end - first);
  if (n == 0) { /* fewer rows than ranks: the first rank of them gets whatever there is */
    for (size_t r = first + 1; r < end; r++) cuts[r] = (struct gpnn_cut){0, INFINITY, INFINITY};
    return;
  }
  size_t axis = widest(n, d, x, places);
  for (size_t i = 0; i < n; i++) places[i].value = x[places[i].row * d + axis];
  qsort(places, n, sizeof *places, compare_places);
  cuts[middle] = (struct gpnn_cut){axis, places[left].value, places[left].number};
  cut(left, d, x, places, first, middle, cuts);
  cut(n - left, d, x, places + left, middle, end, cuts);
}

enum gpnn_status gpnn_deal_cuts(size_t n, size_t d, const double *x, const double *number,
                                size_t n_ranks, struct gpnn_cut *cuts, struct gpnn_error *err)
{
  struct place *places = gpnn_alloc(n, 1, sizeof *places);
  if (places == NULL) return gpnn_fail_memory(err, "for dealing rows");
  for (size_t i = 0; i < n; i++) places[i] = (struct place){.number = number[i], .row = i};
  cut(n, d, x, places, 0, n_ranks, cuts);
  free(places);
  return GPNN_OK;
}

size_t gpnn_deal_rank(size_t n_ranks, const struct gpnn_cut *cuts, const double *x, double number)
{
  size_t first = 0, end = n_ranks;
  while (end - first > 1) {
    size_t middle = first + (end - first) / 2;
    double value = x[cuts[middle].axis];
    bool is_before =
        value != cuts[middle].value ? value < cuts[middle].value : number < cuts[middle].number;
    if (is_before)
      end = middle;
    else
      first = middle;
  }
  return first;
}
