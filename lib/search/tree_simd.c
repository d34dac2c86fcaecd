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

/* ---- portable ---- */

GPNN_SIMD static size_t scan_portable(size_t d, const float *block, const float *query, float bound,
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

GPNN_SIMD static void boxes_portable(size_t d, const float *block, const float *query,
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

const struct gpnn_tree_loops gpnn_tree_loops_portable = {scan_portable, measure_portable,
                                                         boxes_portable};

/* ---- AVX-512 ---- */

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f")))

AVX512 static size_t scan_avx512(size_t d, const float *block, const float *query, float bound,
                                 uint32_t first, float *distances, uint32_t *positions)
{
  const __m512i order = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512 sum = _mm512_setzero_ps(), limit = _mm512_set1_ps(bound);
  __mmask16 near = 0;
  for (size_t from = 0; from < d; from += STRIDE) {
    size_t end = d - from < STRIDE ? d : from + STRIDE;
    for (size_t j = from; j < end; j++) {
      __m512 x = _mm512_loadu_ps(block + j * LANES);
      __m512 difference = _mm512_sub_ps(x, _mm512_set1_ps(query[j]));
      sum = _mm512_fmadd_ps(difference, difference, sum);
    }
    near = _mm512_cmp_ps_mask(sum, limit, _CMP_LE_OQ);
    if (near == 0) return 0;
  }
  __m512i position = _mm512_add_epi32(order, _mm512_set1_epi32((int)first));
  _mm512_storeu_ps(distances, _mm512_maskz_compress_ps(near, sum));
  _mm512_storeu_si512(positions, _mm512_maskz_compress_epi32(near, position));
  return (size_t)__builtin_popcount(near);
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

AVX512 static void boxes_avx512(size_t d, const float *block, const float *query,
                                float distances[LANES])
{
  __m512 sum = _mm512_setzero_ps();
  for (size_t j = 0; j < d; j++) {
    __m512 here = _mm512_set1_ps(query[j]);
    __m512 below = _mm512_sub_ps(_mm512_loadu_ps(block + 2 * j * LANES), here);
    __m512 above = _mm512_sub_ps(here, _mm512_loadu_ps(block + (2 * j + 1) * LANES));
    __m512 outside = _mm512_max_ps(_mm512_max_ps(below, above), _mm512_setzero_ps());
    sum = _mm512_fmadd_ps(outside, outside, sum);
  }
  _mm512_storeu_ps(distances, sum);
}

const struct gpnn_tree_loops *gpnn_tree_loops(void)
{
  static const struct gpnn_tree_loops avx512 = {scan_avx512, measure_avx512, boxes_avx512};
  return __builtin_cpu_supports("avx512f") ? &avx512 : &gpnn_tree_loops_portable;
}

#else

const struct gpnn_tree_loops *gpnn_tree_loops(void)
{
  return &gpnn_tree_loops_portable;
}

#endif
