/*
 * memory: allocation whose sizes cannot overflow.
 *
 * Blocks come from the C allocator and go back with free().  Nothing here aborts: a
 * failure is NULL or false, and the caller turns it into GPNN_ENOMEM.
 */
#ifndef GPNN_BASE_MEMORY_H
#define GPNN_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Stores a*b in '*product' and returns true, or returns false if it does not fit. */
bool gpnn_multiply(size_t a, size_t b, size_t *product);

/*
 * Returns a zeroed block of n*m items of 'item_bytes' bytes, 64-byte aligned, or NULL.
 * A count of zero gives a valid block of no items.
 */
void *gpnn_alloc(size_t n, size_t m, size_t item_bytes);

/*
 * Makes room for at least 'needed' items of 'item_bytes' bytes in the growing array
 * '*array' (NULL at first; malloc alignment), whose room is '*capacity' items, by growing
 * it by half or more.  On false the array and its capacity are unchanged.
 */
bool gpnn_grow(void *array, size_t *capacity, size_t needed, size_t item_bytes);

/* A NUL-terminated copy of 'length' bytes of 'text', or NULL. */
char *gpnn_copy_text(const char *text, size_t length);

#endif
