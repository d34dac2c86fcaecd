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

static float select_portable(size_t n, float *values, size_t k)
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

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,popcnt")))
enum { LANES = 16 };

/* The values from 'i' on that there are, others greater than any, and which there are. */
AVX512 static inline __m512 load_some(size_t n, const float *values, size_t i, __mmask16 *which)
{
  *which = (__mmask16)(n - i < LANES ? (1u << (n - i)) - 1 : 0xffff);
  return _mm512_mask_loadu_ps(_mm512_set1_ps(__builtin_inff()), *which, values + i);
}

/* How many values are below 'pivot', and how many equal to it. */
AVX512 static void count_around(size_t n, const float *values, float pivot, size_t *less,
                                size_t *equal)
{
  const __m512 middle = _mm512_set1_ps(pivot);
  *less = *equal = 0;
  for (size_t i = 0; i < n; i += LANES) {
    __mmask16 which;
    __m512 some = load_some(n, values, i, &which);
    *less += (size_t)__builtin_popcount(_mm512_mask_cmp_ps_mask(which, some, middle, _CMP_LT_OQ));
    *equal += (size_t)__builtin_popcount(_mm512_mask_cmp_ps_mask(which, some, middle, _CMP_EQ_OQ));
  }
}

/* Moves the values on one side of 'pivot' to the front; returns how many there are. */
AVX512 static size_t keep_side(size_t n, float *values, float pivot, bool below)
{
  const __m512 middle = _mm512_set1_ps(pivot);
  size_t kept = 0;
  for (size_t i = 0; i < n; i += LANES) {
    __mmask16 which;
    __m512 some = load_some(n, values, i, &which);
    __mmask16 side = below ? _mm512_mask_cmp_ps_mask(which, some, middle, _CMP_LT_OQ)
                           : _mm512_mask_cmp_ps_mask(which, some, middle, _CMP_NLE_UQ);
    size_t more = (size_t)__builtin_popcount(side);
    _mm512_mask_storeu_ps(values + kept, (__mmask16)((1u << more) - 1),
                          _mm512_maskz_compress_ps(side, some));
    kept += more;
  }
  return kept;
}

AVX512 static float select_avx512(size_t n, float *values, size_t k)
{
  size_t less, equal;
  while (n > LANES) {
    float pivot = middle_of(values[n / 6], values[n / 2], values[n - 1 - n / 6]);
    count_around(n, values, pivot, &less, &equal);
    if (k >= less && k < less + equal) return pivot;
    bool below = k < less;
    if (!below) k -= less + equal;
    n = keep_side(n, values, pivot, below);
  }
  for (size_t i = 0; i + 1 < n; i++) {
    count_around(n, values, values[i], &less, &equal);
    if (k >= less && k < less + equal) return values[i];
  }
  return values[n - 1];
}

float gpnn_nearest_select_float(size_t n, float *values, size_t k)
{
  return __builtin_cpu_supports("avx512f") ? select_avx512(n, values, k)
                                           : select_portable(n, values, k);
}

#else

float gpnn_nearest_select_float(size_t n, float *values, size_t k)
{
  return select_portable(n, values, k);
}

#endif

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

enum { MANY = 128 }; /* for radix_sort() */

#ifdef AVX512
/* Counts how many distances each of 'n' < MANY exceeds. */
AVX512 static void rank(size_t n, const struct gpnn_neighbour *neighbours, int64_t ranks[MANY])
{
  enum { EIGHT = 8 };
  double distances[MANY];
  for (size_t i = 0; i < MANY; i++) distances[i] = i < n ? neighbours[i].distance : 0;
  for (size_t i = 0; i < n; i += 2 * EIGHT) {
    __m512d a = _mm512_loadu_pd(distances + i), b = _mm512_loadu_pd(distances + i + EIGHT);
    __m512i below_a = _mm512_setzero_si512(), below_b = below_a, one = _mm512_set1_epi64(1);
    for (size_t j = 0; j < n; j++) {
      __m512d other = _mm512_set1_pd(distances[j]);
      below_a =
          _mm512_mask_add_epi64(below_a, _mm512_cmp_pd_mask(other, a, _CMP_LT_OQ), below_a, one);
      below_b =
          _mm512_mask_add_epi64(below_b, _mm512_cmp_pd_mask(other, b, _CMP_LT_OQ), below_b, one);
    }
    _mm512_storeu_si512(ranks + i, below_a);
    _mm512_storeu_si512(ranks + i + EIGHT, below_b);
  }
}

/* Puts neighbours where they belong, but for those at the same distance. */
static void rank_sort(size_t n, struct gpnn_neighbour *neighbours, struct gpnn_neighbour *spare)
{
  int64_t ranks[MANY];
  unsigned char taken[MANY] = {0};
  rank(n, neighbours, ranks);
  memcpy(spare, neighbours, n * sizeof *spare);
  for (size_t i = 0; i < n; i++) {
    size_t at = (size_t)ranks[i];
    neighbours[at + taken[at]++] = spare[i];
  }
}
#endif

void gpnn_nearest_sort(size_t n, struct gpnn_neighbour *neighbours, struct gpnn_neighbour *spare)
{
  bool is_nearly_sorted = n >= MANY;
  if (n < 2) return;
  if (n >= MANY) radix_sort(n, neighbours, spare);
#ifdef AVX512
  if (n < MANY && __builtin_cpu_supports("avx512f")) {
    rank_sort(n, neighbours, spare);
    is_nearly_sorted = true;
  }
#endif
  if (is_nearly_sorted && insert_in_order(n, neighbours, n)) return;
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
