/*
 * mapping: giving back memory while reading through a mapped file.
 *
 * Every page of a mapped file that a process has read counts towards its memory until the system
 * reclaims it.  Code that reads a large file once can evict what lies behind it on the way.
 */
#ifndef GPNN_BASE_MAPPING_H
#define GPNN_BASE_MAPPING_H

#include <stddef.h>

/* A read-only, shared mapping of a file, borrowed.  A zeroed object is no mapping. */
struct gpnn_mapping {
  const void *start;
  size_t length; /* in bytes */
};

/*
 * Evicts the pages that lie entirely within the 'length' bytes from 'bytes' on: they are read from
 * the file again when next used, so this is always safe.  Does nothing unless all of these bytes
 * belong to 'mapping', so that callers need not know whether an array is mapped or in memory.
 */
void gpnn_mapping_evict(struct gpnn_mapping mapping, const void *bytes, size_t length);

/* How many bytes to read before evicting them, so that the calls cost next to nothing. */
enum { GPNN_MAPPING_STRIDE = 1 << 24 };

#endif
