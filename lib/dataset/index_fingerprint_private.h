/*
 * index_fingerprint_private: the fingerprint of an index, which is computed when it is written and
 * when it is verified.
 *
 * For each section in turn, gpnn_fingerprint_begin() and any number of gpnn_fingerprint_add(); then
 * gpnn_fingerprint_value().
 */
#ifndef GPNN_DATASET_INDEX_FINGERPRINT_PRIVATE_H
#define GPNN_DATASET_INDEX_FINGERPRINT_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

/* Columns and rows have separate hashes, so that parameters can distinguish an index with other
 * columns from one with other rows.  Begins zeroed. */
struct gpnn_fingerprint {
  uint64_t columns, rest;
};

/* Begins a section: adds its tag and length. */
void gpnn_fingerprint_begin(struct gpnn_fingerprint *print, const char *tag, uint64_t length);

/* Adds bytes of the section with this tag.  Each block but the last must be a multiple of 8 bytes
 * long. */
void gpnn_fingerprint_add(struct gpnn_fingerprint *print, const char *tag, const void *bytes,
                          size_t length);

/* The fingerprint: the hash of the columns in the upper 32 bits, of the rest in the lower. */
uint64_t gpnn_fingerprint_value(const struct gpnn_fingerprint *print);

#endif
