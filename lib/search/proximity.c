#include "search/proximity.h"

#include <stdbool.h>

/* Rows being put in order. */
struct ordering {
  size_t d;
  const double *z; /* d coordinates per row */
  size_t *order;
};

/* The coordinate with the widest range over rows [begin, end) of the order. */
static size_t widest(const struct ordering *o, size_t begin, size_t end)
{
  size_t best = 0;
  double most = -1;
  for (size_t j = 0; j < o->d; j++) {
    double low = o->z[o->order[begin] * o->d + j], high = low;
    for (size_t i = begin + 1; i < end; i++) {
      double here = o->z[o->order[i] * o->d + j];
      low = here < low ? here : low;
      high = here > high ? here : high;
    }
    if (!(high - low > most)) continue;
    most = high - low;
    best = j;
  }
  return best;
}

/* True if row 'a' comes before 'b' along coordinate 'j'; ties are broken by row number. */
static bool is_before(const struct ordering *o, size_t j, size_t a, size_t b)
{
  double x = o->z[a * o->d + j], y = o->z[b * o->d + j];
  return x < y || (x == y && a < b);
}

/* Quickselect: rearranges rows [begin, end) so that those that come first along coordinate 'j' are
 * before position 'middle'. */
static void partition(struct ordering *o, size_t j, size_t begin, size_t end, size_t middle)
{
  while (end - begin > 1) {
    size_t *order = o->order, pivot = order[begin + (end - begin) / 2], i = begin, k = end - 1;
    for (;; i++, k--) {
      while (is_before(o, j, order[i], pivot)) i++;
      while (is_before(o, j, pivot, order[k])) k--;
      if (i >= k) break;
      size_t swapped = order[i];
      order[i] = order[k];
      order[k] = swapped;
    }
    /* No two rows compare equal, so rows before position i precede all others; if the scans met,
     * they met at the pivot, which is then in its final position. */
    if (middle == i) return;
    if (middle < i)
      end = i;
    else
      begin = i == k ? i + 1 : i;
  }
}

/* Halves the rows along their widest coordinate, recursively down to single rows. */
static void order_rows(struct ordering *o, size_t begin, size_t end)
{
  while (end - begin > 1) {
    size_t middle = begin + (end - begin) / 2;
    partition(o, widest(o, begin, end), begin, end, middle);
    order_rows(o, begin, middle);
    begin = middle;
  }
}

void gpnn_proximity_order(size_t n, size_t d, const double *z, size_t *order)
{
  struct ordering o = {d, z, order};
  for (size_t i = 0; i < n; i++) order[i] = i;
  order_rows(&o, 0, n);
}
