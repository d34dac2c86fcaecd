/*
 * mapping: mapped files, and giving back memory while reading through one.
 *
 * Every page of a mapped file that a process has read counts towards its memory until the system
 * reclaims it.  Code that reads a large file once can evict what lies behind it on the way.
 */
#ifndef GPNN_BASE_MAPPING_H
#define GPNN_BASE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A read-only, shared mapping of a file.  A zeroed object is no mapping.  Whoever made it with
 * gpnn_mapping_open() owns it; copies are borrowed. */
struct gpnn_mapping {
  const void *start;
  size_t length; /* in bytes */
};

/* Maps the first 'length' bytes (1 or more) of the file open as 'fd', which may then be closed.
 * False: 'errno' says why. */
bool gpnn_mapping_open(struct gpnn_mapping *mapping, int fd, size_t length);

/* Undoes that, if there is a mapping, and zeroes the object. */
void gpnn_mapping_close(struct gpnn_mapping *mapping);

/*
 * Evicts the pages that lie entirely within the 'length' bytes from 'bytes' on: they are read from
 * the file again when next used, so this is always safe.  Does nothing unless all of these bytes
 * belong to 'mapping', so that callers need not know whether an array is mapped or in memory.
 */
void gpnn_mapping_evict(struct gpnn_mapping mapping, const void *bytes, size_t length);

/* How many bytes to read before evicting them, so that the calls cost next to nothing. */
enum { GPNN_MAPPING_STRIDE = 1 << 24 };

#ifdef __cplusplus
}
#endif

#endif
