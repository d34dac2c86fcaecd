/*
 * index_fingerprint: what writing and reading an index share; not for other modules.
 */
#ifndef GPNN_DATASET_INDEX_FINGERPRINT_PRIVATE_H
#define GPNN_DATASET_INDEX_FINGERPRINT_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

/* The columns apart from the rest, so that parameters can tell an index of other columns from
 * one of other rows.  A zeroed object has nothing in it yet. */
struct gpnn_fingerprint {
  uint64_t columns, rest;
};

/* Adds a section's tag and length; its bytes follow. */
void gpnn_fingerprint_begin(struct gpnn_fingerprint *print, const char *tag, uint64_t length);

/* Adds bytes of the section with 'tag': in any number of parts, each but the last a multiple of 8
 * bytes long. */
void gpnn_fingerprint_add(struct gpnn_fingerprint *print, const char *tag, const void *bytes,
                          size_t length);

/* The fingerprint: of the columns in the upper half, of the rest in the lower. */
uint64_t gpnn_fingerprint_value(const struct gpnn_fingerprint *print);

#endif
