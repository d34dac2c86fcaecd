#include "search/nearest.h"

#include <string.h>

/* ---- selecting values ---- */

static float middle_of(float a, float b, float c)
{
  float low = a < b ? a : b, high = a < b ? b : a;
  return c < low ? low : c > high ? high : c;
}

/*
 * Moves values below 'pivot', or for 'ties' those not above it, to the front; returns how many
 * there are.  Without branches, which no processor could predict.  Inlined for each value of
 * 'ties'.
 */
static inline size_t partition(size_t n, float *values, float pivot, bool ties)
{
  size_t front = 0;
  for (size_t i = 0; i < n; i++) {
    float value = values[i];
    values[i] = values[front];
    values[front] = value;
    front += ties ? value <= pivot : value < pivot;
  }
  return front;
}

static void insertion_sort(size_t n, float *values)
{
  for (size_t i = 1; i < n; i++) {
    float value = values[i];
    size_t at = i;
    for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
    values[at] = value;
  }
}

float gpnn_nearest_select_float(size_t n, float *values, size_t k)
{
  enum { FEW = 12 };
  while (n > FEW) {
    float third = middle_of(values[n / 6], values[n / 2], values[n - 1 - n / 6]);
    float pivot = middle_of(middle_of(values[0], values[n / 3], values[n / 4]), third,
                            middle_of(values[n - 1], values[n - 1 - n / 3], values[n - 1 - n / 4]));
    size_t less = partition(n, values, pivot, false);
    if (k < less) {
      n = less;
      continue;
    }
    values += less;
    n -= less;
    k -= less;
    size_t equal = partition(n, values, pivot, true);
    if (k < equal) return pivot;
    values += equal;
    n -= equal;
    k -= equal;
  }
  insertion_sort(n, values);
  return values[k];
}

/* ---- selecting neighbours ---- */

/* Hoare's selection; no two neighbours compare equal. */
void gpnn_nearest_select(size_t n, struct gpnn_neighbour *neighbours, size_t k)
{
  size_t begin = 0, end = n;
  while (end - begin > 1 && k > begin && k < end) {
    struct gpnn_neighbour pivot = neighbours[begin + (end - begin) / 2];
    size_t i = begin, j = end - 1;
    for (;; i++, j--) {
      while (gpnn_nearest_precedes(neighbours[i], pivot)) i++;
      while (gpnn_nearest_precedes(pivot, neighbours[j])) j--;
      if (i >= j) break;
      struct gpnn_neighbour swapped = neighbours[i];
      neighbours[i] = neighbours[j];
      neighbours[j] = swapped;
    }
    /* Those before i precede all others; scans that met did so at the pivot. */
    if (k <= i)
      end = i;
    else
      begin = i == j ? i + 1 : i;
  }
}

/* ---- sorting ---- */

/* Sorts a list that is nearly sorted; gives up and returns false after 'most' moves. */
static bool insert_in_order(size_t n, struct gpnn_neighbour *neighbours, size_t most)
{
  size_t moves = 0;
  for (size_t i = 1; i < n && moves <= most; i++) {
    struct gpnn_neighbour item = neighbours[i];
    size_t at = i;
    for (; at > 0 && gpnn_nearest_precedes(item, neighbours[at - 1]); at--)
      neighbours[at] = neighbours[at - 1];
    neighbours[at] = item;
    moves += i - at;
  }
  return moves <= most;
}

/* Merges the sorted parts [0, middle) and [middle, n) of 'from' into 'to'. */
static void merge(const struct gpnn_neighbour *from, size_t middle, size_t n,
                  struct gpnn_neighbour *to)
{
  size_t left = 0, right = middle, at = 0;
  while (left < middle && right < n) {
    bool take_right = gpnn_nearest_precedes(from[right], from[left]);
    to[at++] = from[take_right ? right : left];
    right += take_right;
    left += !take_right;
  }
  memcpy(to + at, from + left, (middle - left) * sizeof *to);
  memcpy(to + at + middle - left, from + right, (n - right) * sizeof *to);
}

static void merge_sort(size_t n, struct gpnn_neighbour *neighbours, struct gpnn_neighbour *spare)
{
  enum { RUN = 8 };
  struct gpnn_neighbour *from = neighbours, *to = spare;
  for (size_t begin = 0; begin < n; begin += RUN)
    (void)insert_in_order(n - begin < RUN ? n - begin : RUN, from + begin, RUN * RUN);
  for (size_t run = RUN; run < n; run *= 2) {
    for (size_t begin = 0; begin < n; begin += 2 * run) {
      size_t left = n - begin, middle = left < run ? left : run;
      merge(from + begin, middle, left < 2 * run ? left : 2 * run, to + begin);
    }
    struct gpnn_neighbour *kept = from;
    from = to;
    to = kept;
  }
  if (from != neighbours) memcpy(neighbours, from, n * sizeof *from);
}

enum { DIGIT_BITS = 8, DIGITS = 4, VALUES = 1 << DIGIT_BITS };

static size_t digit_of(struct gpnn_neighbour item, size_t digit)
{
  uint64_t bits;
  memcpy(&bits, &item.distance, sizeof bits);
  return bits >> (64 - DIGITS * DIGIT_BITS + digit * DIGIT_BITS) & (VALUES - 1);
}

/* Sorts by the upper half of the distances' bits, which are ordered as the distances are, since
 * none is negative. */
static void radix_sort(size_t n, struct gpnn_neighbour *neighbours, struct gpnn_neighbour *spare)
{
  size_t starts[DIGITS][VALUES] = {{0}};
  for (size_t i = 0; i < n; i++)
    for (size_t digit = 0; digit < DIGITS; digit++) starts[digit][digit_of(neighbours[i], digit)]++;
  for (size_t digit = 0; digit < DIGITS; digit++) {
    size_t before = 0, *start = starts[digit];
    for (size_t value = 0; value < VALUES; value++) {
      size_t count = start[value];
      start[value] = before;
      before += count;
    }
    for (size_t i = 0; i < n; i++) spare[start[digit_of(neighbours[i], digit)]++] = neighbours[i];
    struct gpnn_neighbour *kept = neighbours;
    neighbours = spare;
    spare = kept;
  }
}

void gpnn_nearest_sort(size_t n, struct gpnn_neighbour *neighbours, struct gpnn_neighbour *spare)
{
  enum { MANY = 128 };
  if (n >= MANY) {
    radix_sort(n, neighbours, spare);
    if (insert_in_order(n, neighbours, n)) return;
  }
  merge_sort(n, neighbours, spare);
}

/* ---- heaps ---- */

void gpnn_nearest_replace(struct gpnn_neighbour *heap, size_t k, struct gpnn_neighbour item)
{
  size_t at = 0;
  for (size_t child = 1; child < k; child = 2 * at + 1) {
    if (child + 1 < k && gpnn_nearest_precedes(heap[child], heap[child + 1])) child++;
    if (!gpnn_nearest_precedes(item, heap[child])) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = item;
}
