/*
 * bytes_private: the bytes of a section, as they are composed and as they are decoded.
 */
#ifndef GPNN_DATASET_INDEX_BYTES_PRIVATE_H
#define GPNN_DATASET_INDEX_BYTES_PRIVATE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

/* ---- composing ---- */

/* A growing array of bytes.  After a failed allocation nothing more is added, so that 'failed' need
 * be checked only once, at the end. */
struct blob {
  unsigned char *bytes;
  size_t length, capacity;
  bool failed;
};

static inline void put(struct blob *blob, const void *bytes, size_t length)
{
  if (blob->failed || length > SIZE_MAX - blob->length ||
      !gpnn_grow(&blob->bytes, &blob->capacity, blob->length + length, 1)) {
    blob->failed = true;
    return;
  }
  if (length > 0) memcpy(blob->bytes + blob->length, bytes, length);
  blob->length += length;
}

static inline void put_u32(struct blob *blob, uint32_t value)
{
  unsigned char bytes[4];
  gpnn_store_u32(bytes, value);
  put(blob, bytes, sizeof bytes);
}

static inline void put_u64(struct blob *blob, uint64_t value)
{
  unsigned char bytes[8];
  gpnn_store_u64(bytes, value);
  put(blob, bytes, sizeof bytes);
}

static inline void put_f64(struct blob *blob, double value)
{
  unsigned char bytes[8];
  gpnn_store_f64(bytes, value);
  put(blob, bytes, sizeof bytes);
}

static inline void put_f64s(struct blob *blob, size_t n, const double *values)
{
  for (size_t i = 0; i < n; i++) put_f64(blob, values[i]);
}

static inline void put_text(struct blob *blob, const char *text, size_t length)
{
  if (length > UINT32_MAX) blob->failed = true;
  put_u32(blob, (uint32_t)length);
  put(blob, text, length);
}

/* ---- decoding ---- */

/* The bytes of a section still to be read.  After a failure everything that is read is 0, so that
 * it need be checked only once, at the end. */
struct cursor {
  const unsigned char *at;
  size_t left;
  bool failed; /* the section is too short or has a value that is not allowed, or: */
  bool out_of_memory;
};

static inline const unsigned char *take(struct cursor *cursor, size_t length)
{
  if (cursor->failed || length > cursor->left) {
    cursor->failed = true;
    return NULL;
  }
  const unsigned char *from = cursor->at;
  cursor->at += length;
  cursor->left -= length;
  return from;
}

static inline void require(struct cursor *cursor, bool condition)
{
  if (!condition) cursor->failed = true;
}

static inline uint32_t take_u32(struct cursor *cursor)
{
  const unsigned char *from = take(cursor, 4);
  return from == NULL ? 0 : gpnn_load_u32(from);
}

static inline uint64_t take_u64(struct cursor *cursor)
{
  const unsigned char *from = take(cursor, 8);
  return from == NULL ? 0 : gpnn_load_u64(from);
}

static inline size_t take_size(struct cursor *cursor)
{
  uint64_t value = take_u64(cursor);
  require(cursor, value <= SIZE_MAX);
  return (size_t)value;
}

static inline bool take_bool(struct cursor *cursor)
{
  uint32_t value = take_u32(cursor);
  require(cursor, value <= 1);
  return value == 1;
}

static inline double take_f64(struct cursor *cursor)
{
  const unsigned char *from = take(cursor, 8);
  double value = from == NULL ? 0 : gpnn_load_f64(from);
  require(cursor, isfinite(value));
  return value;
}

/* A zeroed array for the next n items, each of which takes at least 'least' bytes of the section.
 * It is not allocated unless the section is long enough, so that a damaged count cannot exhaust
 * memory. */
static inline void *take_array(struct cursor *cursor, size_t n, size_t least, size_t item_bytes)
{
  require(cursor, n <= cursor->left / least);
  if (cursor->failed) return NULL;
  void *block = gpnn_alloc(n, 1, item_bytes);
  if (block == NULL) cursor->failed = cursor->out_of_memory = true;
  return block;
}

/* n by m numbers, in a new array. */
static inline double *take_f64s(struct cursor *cursor, size_t n, size_t m)
{
  size_t count = 0;
  require(cursor, gpnn_multiply(n, m, &count));
  double *values = take_array(cursor, count, 8, sizeof *values);
  if (values == NULL) return NULL;
  for (size_t i = 0; i < count; i++) values[i] = take_f64(cursor);
  return values;
}

static inline char *take_text(struct cursor *cursor, size_t *length)
{
  *length = take_u32(cursor);
  const unsigned char *from = take(cursor, *length);
  if (from == NULL) return NULL;
  char *copy = gpnn_copy_text((const char *)from, *length);
  if (copy == NULL) cursor->failed = cursor->out_of_memory = true;
  return copy;
}

#endif
