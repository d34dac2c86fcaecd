/*
 * repeats: which of many hashes may have come before, in a few bytes a hash.
 *
 * A Bloom filter whose bits of a hash are in one word (Putze, Sanders and Singler 2009, Cache-,
 * hash- and space-efficient Bloom filters): a hash that has come before is always found to repeat,
 * and of others hardly one in some hundreds.  So it costs little to see that there are no repeats,
 * or too few to matter, where a table of all hashes would take ten times the memory and time.
 *
 * Calling sequence: gpnn_repeats_init(), gpnn_repeats_add() for all hashes, gpnn_repeats_release().
 */
#ifndef GPNN_BASE_REPEATS_H
#define GPNN_BASE_REPEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A zeroed object is empty and may be released. */
struct gpnn_repeats {
  uint64_t *words; /* owned */
  size_t mask;     /* number of words, a power of two, less one */
};

/* Makes room for 'n' hashes, in 2 to 4 bytes each; false if there is no memory. */
bool gpnn_repeats_init(struct gpnn_repeats *repeats, size_t n);

/* Adds 'n' hashes; returns how many of them may have been added before, and copies these to 'again'
 * (room for 'n', or NULL). */
size_t gpnn_repeats_add(struct gpnn_repeats *repeats, size_t n, const uint64_t *hash,
                        uint64_t *again);

void gpnn_repeats_release(struct gpnn_repeats *repeats);

#endif
