/*
 * The loops of a tree over 16 rows or boxes, for each set of instructions.
 *
 * Rows and boxes add up squared differences of coordinates in the same order, and rounding is
 * monotone: a row is never nearer than its box.
 */
#include <string.h>

#include "linalg/simd.h"
#include "search/search_private.h"

/* Coordinates after which a block is given up if all its rows are too far away from one query, or
 * from several. */
enum { STRIDE = 16, LONG_STRIDE = 64, LANES = GPNN_TREE_LANES, QUERIES = GPNN_TREE_TOGETHER };

/* Queries whose boxes are looked at at once, so that additions do not wait for each other. */
enum { AT_ONCE = 4 };

/* ---- portable ---- */

GPNN_SIMD static size_t scan_block(size_t d, const float *block, const float *query, float bound,
                                   uint32_t first, float *distances, uint32_t *positions)
{
  float sum[LANES] = {0};
  size_t n = 0;
  for (size_t from = 0; from < d; from += STRIDE) {
    size_t end = d - from < STRIDE ? d : from + STRIDE;
    for (size_t j = from; j < end; j++) {
#pragma omp simd
      for (size_t i = 0; i < LANES; i++) {
        float difference = block[j * LANES + i] - query[j];
        sum[i] += difference * difference;
      }
    }
    int any = 0;
    for (size_t i = 0; i < LANES; i++) any |= sum[i] <= bound;
    if (!any) return 0;
  }
  for (size_t i = 0; i < LANES; i++) {
    distances[n] = sum[i];
    positions[n] = first + (uint32_t)i;
    n += sum[i] <= bound;
  }
  return n;
}

static size_t scan_portable(size_t d, const float *rows, size_t n_blocks, const uint32_t *blocks,
                            const float *query, float bound, float *distances, uint32_t *positions)
{
  size_t n = 0;
  for (size_t i = 0; i < n_blocks; i++)
    n += scan_block(d, rows + blocks[i] * d * LANES, query, bound, blocks[i] * LANES, distances + n,
                    positions + n);
  return n;
}

GPNN_SIMD static bool measure_portable(size_t d, const float *block, const float *const *queries,
                                       const float *bounds, float *distances)
{
  float sum[QUERIES][LANES] = {{0}};
  for (size_t from = 0; from < d; from += LONG_STRIDE) {
    size_t end = d - from < LONG_STRIDE ? d : from + LONG_STRIDE;
    for (size_t j = from; j < end; j++) {
      for (size_t q = 0; q < QUERIES; q++) {
        float here = queries[q][j];
#pragma omp simd
        for (size_t i = 0; i < LANES; i++) {
          float difference = block[j * LANES + i] - here;
          sum[q][i] += difference * difference;
        }
      }
    }
    int any = 0;
    for (size_t q = 0; q < QUERIES; q++)
      for (size_t i = 0; i < LANES; i++) any |= sum[q][i] <= bounds[q];
    if (!any) return false;
  }
  memcpy(distances, sum, sizeof sum);
  return true;
}

GPNN_SIMD static void boxes_of(size_t d, const float *block, const float *query,
                               float distances[LANES])
{
  float sum[LANES] = {0};
  for (size_t j = 0; j < d; j++) {
    const float *least = block + 2 * j * LANES, *greatest = least + LANES;
#pragma omp simd
    for (size_t i = 0; i < LANES; i++) {
      float below = least[i] - query[j], above = query[j] - greatest[i];
      float outside = below > above ? below : above;
      outside = outside > 0 ? outside : 0;
      sum[i] += outside * outside;
    }
  }
  for (size_t i = 0; i < LANES; i++) distances[i] = sum[i];
}

static void boxes_portable(size_t d, const float *block, size_t n, const float *const *queries,
                           float (*distances)[LANES])
{
  for (size_t q = 0; q < n; q++) boxes_of(d, block, queries[q], distances[q]);
}

static size_t keep_portable(size_t n, float bound, float *keys, float *others, uint32_t *positions)
{
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    bool is_near = keys[i] <= bound;
    keys[kept] = keys[i];
    if (others != NULL) others[kept] = others[i];
    positions[kept] = positions[i];
    kept += is_near;
  }
  return kept;
}

static size_t order_portable(const float *distances, float bound, unsigned char *order)
{
  size_t n = 0;
  for (size_t i = 0; i < LANES; i++) {
    if (!(distances[i] <= bound)) continue;
    size_t at = n++;
    for (; at > 0 && distances[order[at - 1]] < distances[i]; at--) order[at] = order[at - 1];
    order[at] = (unsigned char)i;
  }
  return n;
}

const struct gpnn_tree_loops gpnn_tree_loops_portable = {
    scan_portable, measure_portable, boxes_portable, keep_portable, order_portable, NULL};

/* ---- AVX-512 ---- */

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,popcnt")))

/* Appends the rows of 'mask' of a block. */
AVX512 static inline size_t append(__mmask16 mask, __m512 sum, uint32_t first, float *distances,
                                   uint32_t *positions)
{
  const __m512i order = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512i position = _mm512_add_epi32(order, _mm512_set1_epi32((int)first));
  _mm512_storeu_ps(distances, _mm512_maskz_compress_ps(mask, sum));
  _mm512_storeu_si512(positions, _mm512_maskz_compress_epi32(mask, position));
  return (size_t)__builtin_popcount(mask);
}

/* Two blocks at a time, so that additions wait for each other half as long; the last may be alone
 * twice. */
AVX512 static size_t scan_avx512(size_t d, const float *rows, size_t n_blocks,
                                 const uint32_t *blocks, const float *query, float bound,
                                 float *distances, uint32_t *positions)
{
  const __m512 limit = _mm512_set1_ps(bound);
  size_t n = 0;
  for (size_t at = 0; at < n_blocks; at += 2) {
    uint32_t first = blocks[at], second = blocks[at + 1 < n_blocks ? at + 1 : at];
    const float *x = rows + first * d * LANES, *y = rows + second * d * LANES;
    __m512 a = _mm512_setzero_ps(), b = a;
    __mmask16 near_a = 1, near_b = 1;
    for (size_t from = 0; from < d && (near_a | near_b) != 0; from += STRIDE) {
      size_t end = d - from < STRIDE ? d : from + STRIDE;
      for (size_t j = from; j < end; j++) {
        __m512 here = _mm512_set1_ps(query[j]);
        __m512 from_x = _mm512_sub_ps(_mm512_loadu_ps(x + j * LANES), here);
        __m512 from_y = _mm512_sub_ps(_mm512_loadu_ps(y + j * LANES), here);
        a = _mm512_fmadd_ps(from_x, from_x, a);
        b = _mm512_fmadd_ps(from_y, from_y, b);
      }
      near_a = _mm512_cmp_ps_mask(a, limit, _CMP_LE_OQ);
      near_b = _mm512_cmp_ps_mask(b, limit, _CMP_LE_OQ);
    }
    n += append(near_a, a, first * LANES, distances + n, positions + n);
    if (second != first) n += append(near_b, b, second * LANES, distances + n, positions + n);
  }
  return n;
}

/* One sum per query, so that no addition waits for the previous one. */
AVX512 static bool measure_avx512(size_t d, const float *block, const float *const *queries,
                                  const float *bounds, float *distances)
{
  __m512 sum[QUERIES];
  const float *query[QUERIES];
#pragma GCC unroll 8
  for (size_t q = 0; q < QUERIES; q++) {
    sum[q] = _mm512_setzero_ps();
    query[q] = queries[q];
  }
  for (size_t from = 0; from < d; from += LONG_STRIDE) {
    size_t end = d - from < LONG_STRIDE ? d : from + LONG_STRIDE;
    unsigned near = 0;
    for (size_t j = from; j < end; j++) {
      __m512 x = _mm512_loadu_ps(block + j * LANES);
#pragma GCC unroll 8
      for (size_t q = 0; q < QUERIES; q++) {
        __m512 difference = _mm512_sub_ps(x, _mm512_set1_ps(query[q][j]));
        sum[q] = _mm512_fmadd_ps(difference, difference, sum[q]);
      }
    }
#pragma GCC unroll 8
    for (size_t q = 0; q < QUERIES; q++)
      near |= _mm512_cmp_ps_mask(sum[q], _mm512_set1_ps(bounds[q]), _CMP_LE_OQ);
    if (near == 0) return false;
  }
#pragma GCC unroll 8
  for (size_t q = 0; q < QUERIES; q++) _mm512_storeu_ps(distances + q * LANES, sum[q]);
  return true;
}

/* For a constant 'n'. */
AVX512 static inline __attribute__((always_inline)) void boxes_some(size_t n, size_t d,
                                                                    const float *block,
                                                                    const float *const *queries,
                                                                    float (*distances)[LANES])
{
  __m512 sum[AT_ONCE];
#pragma GCC unroll 4
  for (size_t q = 0; q < n; q++) sum[q] = _mm512_setzero_ps();
  for (size_t j = 0; j < d; j++) {
    __m512 least = _mm512_loadu_ps(block + 2 * j * LANES);
    __m512 greatest = _mm512_loadu_ps(block + (2 * j + 1) * LANES);
#pragma GCC unroll 4
    for (size_t q = 0; q < n; q++) {
      __m512 here = _mm512_set1_ps(queries[q][j]);
      __m512 below = _mm512_sub_ps(least, here), above = _mm512_sub_ps(here, greatest);
      __m512 outside = _mm512_max_ps(_mm512_max_ps(below, above), _mm512_setzero_ps());
      sum[q] = _mm512_fmadd_ps(outside, outside, sum[q]);
    }
  }
#pragma GCC unroll 4
  for (size_t q = 0; q < n; q++) _mm512_storeu_ps(distances[q], sum[q]);
}

AVX512 static void boxes_avx512(size_t d, const float *block, size_t n, const float *const *queries,
                                float (*distances)[LANES])
{
  size_t q = 0;
  for (; q + AT_ONCE <= n; q += AT_ONCE) boxes_some(AT_ONCE, d, block, queries + q, distances + q);
  for (; q < n; q++) boxes_some(1, d, block, queries + q, distances + q);
}

AVX512 static size_t keep_avx512(size_t n, float bound, float *keys, float *others,
                                 uint32_t *positions)
{
  size_t kept = 0;
  for (size_t i = 0; i < n; i += LANES) {
    __mmask16 some = (__mmask16)(n - i < LANES ? (1u << (n - i)) - 1 : 0xffff);
    __m512 key = _mm512_maskz_loadu_ps(some, keys + i);
    __m512i position = _mm512_maskz_loadu_epi32(some, positions + i);
    __mmask16 near = _mm512_mask_cmp_ps_mask(some, key, _mm512_set1_ps(bound), _CMP_LE_OQ);
    unsigned n_near = (unsigned)__builtin_popcount(near);
    __mmask16 first = (__mmask16)((1u << n_near) - 1);
    if (others != NULL)
      _mm512_mask_storeu_ps(
          others + kept, first,
          _mm512_maskz_compress_ps(near, _mm512_maskz_loadu_ps(some, others + i)));
    _mm512_mask_storeu_ps(keys + kept, first, _mm512_maskz_compress_ps(near, key));
    _mm512_mask_storeu_epi32(positions + kept, first, _mm512_maskz_compress_epi32(near, position));
    kept += n_near;
  }
  return kept;
}

/* Each goes where so many come before it as do. */
AVX512 static size_t order_avx512(const float *distances, float bound, unsigned char *order)
{
  __m512 all = _mm512_loadu_ps(distances);
  unsigned near = _mm512_cmp_ps_mask(all, _mm512_set1_ps(bound), _CMP_LE_OQ);
  for (unsigned left = near; left != 0; left &= left - 1) {
    unsigned i = (unsigned)__builtin_ctz(left);
    __m512 here = _mm512_set1_ps(distances[i]);
    unsigned farther = _mm512_cmp_ps_mask(all, here, _CMP_GT_OQ);
    unsigned equal = _mm512_cmp_ps_mask(all, here, _CMP_EQ_OQ) & ((1u << i) - 1);
    order[__builtin_popcount((farther | equal) & near)] = (unsigned char)i;
  }
  return (size_t)__builtin_popcount(near);
}

#define VNNI __attribute__((target("avx512f,avx512vnni,popcnt")))

/* What the large coordinates of a query add to |s a - z|^2. */
VNNI static inline __m512 add_large(const struct gpnn_tree_coded *query, const uint32_t *codes,
                                    __m512 sum)
{
  enum { FOUR = 4, BYTE_BITS = 8, BYTE = 255, BIAS = GPNN_TREE_BIAS };
  for (size_t l = 0; l < query->n_large; l++) {
    size_t j = query->large[l];
    __m512i four = _mm512_loadu_si512(codes + j / FOUR * LANES);
    __m512i one = _mm512_srl_epi32(four, _mm_cvtsi32_si128((int)(j % FOUR * BYTE_BITS)));
    one = _mm512_sub_epi32(_mm512_and_si512(one, _mm512_set1_epi32(BYTE)), _mm512_set1_epi32(BIAS));
    sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(one), _mm512_set1_ps(query->factors[l]), sum);
  }
  return sum;
}

/* For a constant 'n'.  Not a number, as of damaged rows, passes. */
VNNI static inline __attribute__((always_inline)) void
pass_some(size_t n, size_t n_groups, const uint32_t *codes, const float *terms,
          const struct gpnn_tree_coded *const *queries, uint16_t *passed, float *squares)
{
  __m512i sum[QUERIES];
  const uint32_t *query[QUERIES];
#pragma GCC unroll 8
  for (size_t q = 0; q < n; q++) {
    sum[q] = _mm512_set1_epi32(queries[q]->start);
    query[q] = queries[q]->codes;
  }
  for (size_t g = 0; g < n_groups; g++) {
    __m512i rows = _mm512_loadu_si512(codes + g * LANES);
    __builtin_prefetch(codes + (n_groups + g) * LANES);
#pragma GCC unroll 8
    for (size_t q = 0; q < n; q++)
      sum[q] = _mm512_dpbusd_epi32(sum[q], rows, _mm512_set1_epi32((int)query[q][g]));
  }
  __m512 own = _mm512_loadu_ps(terms), length = _mm512_loadu_ps(terms + LANES);
  __m512 error = _mm512_loadu_ps(terms + 2 * LANES);
#pragma GCC unroll 8
  for (size_t q = 0; q < n; q++) {
    __m512 least = _mm512_add_ps(own, _mm512_set1_ps(queries[q]->squares));
    least = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[q]), _mm512_set1_ps(queries[q]->step), least);
    least = _mm512_fnmadd_ps(length, _mm512_set1_ps(queries[q]->rest), least);
    least = add_large(queries[q], codes, least);
    __m512 most = _mm512_add_ps(error, _mm512_set1_ps(queries[q]->radius));
    passed[q] = _mm512_cmp_ps_mask(least, _mm512_mul_ps(most, most), _CMP_NGT_UQ);
    _mm512_storeu_ps(squares + q * LANES, least);
  }
}

VNNI static void pass_vnni(size_t n, size_t n_groups, const uint32_t *codes, const float *terms,
                           const struct gpnn_tree_coded *const *queries, uint16_t *passed,
                           float *squares)
{
  if (n == 1)
    pass_some(1, n_groups, codes, terms, queries, passed, squares);
  else
    pass_some(QUERIES, n_groups, codes, terms, queries, passed, squares);
}

const struct gpnn_tree_loops *gpnn_tree_loops(void)
{
  static const struct gpnn_tree_loops avx512 = {scan_avx512, measure_avx512, boxes_avx512,
                                                keep_avx512, order_avx512,   NULL};
  static const struct gpnn_tree_loops vnni = {scan_avx512, measure_avx512, boxes_avx512,
                                              keep_avx512, order_avx512,   pass_vnni};
  if (__builtin_cpu_supports("avx512vnni")) return &vnni;
  return __builtin_cpu_supports("avx512f") ? &avx512 : &gpnn_tree_loops_portable;
}

#else

const struct gpnn_tree_loops *gpnn_tree_loops(void)
{
  return &gpnn_tree_loops_portable;
}

#endif
