#include "base/compare.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int gpnn_compare_doubles(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  if (isnan(x) || isnan(y)) return (isnan(x) != 0) - (isnan(y) != 0);
  return (x > y) - (x < y);
}

int gpnn_compare_int64s(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

int gpnn_compare_uint64s(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

int gpnn_compare_sizes(const void *a, const void *b)
{
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

int gpnn_compare_strings(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* ---- sorting numbers by the bytes of their keys, from the lowest on ---- */

enum { BYTES = sizeof(uint64_t), BYTE = 8, VALUES = 1 << BYTE };

/* The integer that is in the same order as the number; false if another number is equal, or if it
 * is none. */
static bool key_of(double value, uint64_t *key)
{
  uint64_t bits, sign = UINT64_C(1) << 63;
  memcpy(&bits, &value, sizeof bits);
  *key = (bits & sign) != 0 ? ~bits : bits | sign;
  return !isnan(value) && bits != sign;
}

static double value_of(uint64_t key)
{
  double value;
  uint64_t sign = UINT64_C(1) << 63, bits = (key & sign) != 0 ? key ^ sign : ~key;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Sorts 'n' keys by byte 'b', of which 'count' says how many have each value; '*from' and '*to'
 * change places. */
static void sort_by_byte(size_t n, size_t b, size_t count[VALUES], uint64_t **from, uint64_t **to)
{
  uint64_t *keys = *from, *sorted = *to;
  if (count[keys[0] >> BYTE * b & (VALUES - 1)] == n) return;
  for (size_t v = 0, before = 0, here; v < VALUES; v++, before += here) {
    here = count[v];
    count[v] = before;
  }
  for (size_t i = 0; i < n; i++) sorted[count[keys[i] >> BYTE * b & (VALUES - 1)]++] = keys[i];
  *from = sorted;
  *to = keys;
}

void gpnn_sort_doubles(size_t n, double *values)
{
  enum { FEW = 200 };
  size_t count[BYTES][VALUES] = {{0}};
  uint64_t *room = n < FEW || n > SIZE_MAX / 2 / BYTES ? NULL : malloc(2 * n * BYTES);
  bool are_keys = room != NULL;
  for (size_t i = 0; i < n && are_keys; i++) {
    are_keys = key_of(values[i], &room[i]);
    for (size_t b = 0; b < BYTES; b++) count[b][room[i] >> BYTE * b & (VALUES - 1)]++;
  }
  if (are_keys) {
    uint64_t *keys = room, *sorted = room + n;
    for (size_t b = 0; b < BYTES; b++) sort_by_byte(n, b, count[b], &keys, &sorted);
    for (size_t i = 0; i < n; i++) values[i] = value_of(keys[i]);
  } else {
    qsort(values, n, sizeof *values, gpnn_compare_doubles);
  }
  free(room);
}

size_t gpnn_find_segment(size_t n, const double *rising, double x)
{
  size_t low = 0, high = n - 1;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (rising[middle] <= x)
      low = middle;
    else
      high = middle;
  }
  return low;
}
