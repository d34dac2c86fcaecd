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

static inline void gpnn_store_u32(unsigned char *to, uint32_t value)
{
  for (unsigned i = 0; i < 4; i++) to[i] = (unsigned char)(value >> 8 * i);
}

static inline uint32_t gpnn_load_u32(const unsigned char *from)
{
  uint32_t value = 0;
  for (unsigned i = 0; i < 4; i++) value |= (uint32_t)from[i] << 8 * i;
  return value;
}

static inline void gpnn_store_u64(unsigned char *to, uint64_t value)
{
  for (unsigned i = 0; i < 8; i++) to[i] = (unsigned char)(value >> 8 * i);
}

static inline uint64_t gpnn_load_u64(const unsigned char *from)
{
  uint64_t value = 0;
  for (unsigned i = 0; i < 8; i++) value |= (uint64_t)from[i] << 8 * i;
  return value;
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
