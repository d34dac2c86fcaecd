/*
 * bytes: little-endian integers and IEEE 754 doubles at any address, aligned or not.
 *
 * The headers of binary files are composed and parsed with these functions, never by reading or
 * writing a struct, so that files are the same on every machine.
 */
#ifndef GPNN_BASE_BYTES_H
#define GPNN_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

/* The lowest 'n' bytes of an integer, n at most 8, the least significant one first. */
static inline void gpnn_store_bytes(unsigned char *to, uint64_t value, unsigned n)
{
  for (unsigned i = 0; i < n; i++) to[i] = (unsigned char)(value >> 8 * i);
}

static inline uint64_t gpnn_load_bytes(const unsigned char *from, unsigned n)
{
  uint64_t value = 0;
  for (unsigned i = 0; i < n; i++) value |= (uint64_t)from[i] << 8 * i;
  return value;
}

static inline void gpnn_store_u32(unsigned char *to, uint32_t value)
{
  gpnn_store_bytes(to, value, 4);
}

static inline uint32_t gpnn_load_u32(const unsigned char *from)
{
  return (uint32_t)gpnn_load_bytes(from, 4);
}

static inline void gpnn_store_u64(unsigned char *to, uint64_t value)
{
  gpnn_store_bytes(to, value, 8);
}

static inline uint64_t gpnn_load_u64(const unsigned char *from)
{
  return gpnn_load_bytes(from, 8);
}

static inline void gpnn_store_f64(unsigned char *to, double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  gpnn_store_u64(to, bits);
}

static inline double gpnn_load_f64(const unsigned char *from)
{
  uint64_t bits = gpnn_load_u64(from);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

#endif
