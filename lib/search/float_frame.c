/*
 * The coordinate frame of engines that work in single precision.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "linalg/simd.h"
#include "search/search_private.h"

static double median_of(double a, double b, double c)
{
  return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

enum { BLOCK = 64 };

/*
 * Writes up to BLOCK coordinates of a row, from number 'from' on; returns how many.  Each is a sum
 * in the order of the inputs, so that it rounds the same on every machine.
 */
GPNN_SIMD static size_t coordinates(const struct gpnn_float_frame *frame, const double *row,
                                    size_t from, double z[BLOCK])
{
  size_t d = frame->d, n = d - from < BLOCK ? d - from : BLOCK;
  if (frame->map == NULL) {
    for (size_t j = 0; j < n; j++)
      z[j] = (row[from + j] - frame->origin[from + j]) * frame->factor[from + j];
    return n;
  }
  for (size_t j = 0; j < n; j++) z[j] = 0;
  for (size_t i = 0; i < d; i++) {
    const double *column = frame->map + i * d + from, offset = row[i] - frame->origin[i];
#pragma omp simd
    for (size_t j = 0; j < n; j++) z[j] += column[j] * offset;
  }
  return n;
}

/* The largest finite magnitude among the coordinates of 64 evenly spaced rows. */
static double largest_coordinate(const struct gpnn_float_frame *frame,
                                 const struct gpnn_search_points *points)
{
  enum { SAMPLE = 64 };
  size_t n = points->n, d = points->d;
  double largest = 0;
  for (size_t i = 0; i < SAMPLE; i++) {
    /* row floor(i n / SAMPLE), without overflow */
    const double *row = points->x + (n / SAMPLE * i + n % SAMPLE * i / SAMPLE) * d;
    double z[BLOCK];
    for (size_t from = 0, count; from < d; from += count) {
      count = coordinates(frame, row, from, z);
      for (size_t j = 0; j < count; j++)
        if (fabs(z[j]) > largest && fabs(z[j]) <= DBL_MAX) largest = fabs(z[j]);
    }
  }
  return largest;
}

bool gpnn_float_frame_alloc(struct gpnn_float_frame *frame, size_t d, bool has_map)
{
  *frame = (struct gpnn_float_frame){.d = d, .scale = 1};
  frame->origin = gpnn_alloc(d, 1, sizeof *frame->origin);
  if (has_map)
    frame->map = gpnn_alloc(d, d, sizeof *frame->map);
  else
    frame->factor = gpnn_alloc(d, 1, sizeof *frame->factor);
  if (frame->origin != NULL && (has_map ? frame->map : frame->factor) != NULL) return true;
  gpnn_float_frame_release(frame);
  return false;
}

bool gpnn_float_frame_init(struct gpnn_float_frame *frame, const struct gpnn_search_points *points)
{
  size_t n = points->n, d = points->d;
  const double *x = points->x;
  if (!gpnn_float_frame_alloc(frame, d, points->map != NULL)) return false;
  for (size_t j = 0; j < d; j++)
    frame->origin[j] = median_of(x[j], x[n / 2 * d + j], x[(n - 1) * d + j]);
  for (size_t i = 0; i < d * d && frame->map != NULL; i++)
    frame->map[i % d * d + i / d] = points->map[i];
  for (size_t j = 0; j < d && frame->map == NULL; j++)
    frame->factor[j] = points->inverse == NULL ? 1 : points->inverse[j];
  double largest = largest_coordinate(frame, points);
  int exponent = 0;
  if (largest >= DBL_MIN) frexp(largest, &exponent);
  frame->scale = ldexp(1, -exponent);
  for (size_t j = 0; j < d * d && frame->map != NULL; j++)
    frame->map[j] = ldexp(frame->map[j], -exponent);
  for (size_t j = 0; j < d && frame->map == NULL; j++)
    frame->factor[j] = ldexp(frame->factor[j], -exponent);
  return true;
}

void gpnn_float_frame_release(struct gpnn_float_frame *frame)
{
  free(frame->origin);
  free(frame->factor);
  free(frame->map);
  *frame = (struct gpnn_float_frame){0};
}

/* Outliers are clamped to the edge: their squares would overflow single precision. */
double gpnn_float_frame_apply(const struct gpnn_float_frame *frame, const double *row,
                              float *framed)
{
  const double edge = GPNN_FLOAT_FRAME_EDGE;
  double z[BLOCK], squares = 0;
  for (size_t from = 0, count; from < frame->d; from += count) {
    count = coordinates(frame, row, from, z);
    for (size_t j = 0; j < count; j++) {
      squares += z[j] * z[j];
      double least = z[j] > -edge ? z[j] : -edge; /* also for what is no number */
      framed[from + j] = (float)(least < edge ? least : edge);
    }
  }
  return sqrt(squares);
}

/*
 * Rounding moves each coordinate c by at most 2^-24 |c|, and so a row at distance r from query q by
 * at most 2^-24 (|q| + r); the sum of d squares adds its own rounding.  The bound is generous.
 */
double gpnn_float_frame_error(const struct gpnn_float_frame *frame, double norm, double distance)
{
  double d = (double)frame->d;
  return 0x1p-22 * (norm + (sqrt(d) + d / 4) * distance) + 0x1p-60 * sqrt(d);
}
