/*
 * memory: allocation with sizes that cannot overflow.
 *
 * Blocks come from the C allocator and are returned with free().  Nothing here aborts: a failure is
 * NULL or false, which the caller reports with gpnn_fail_memory().  Threads: no shared state.
 */
#ifndef GPNN_BASE_MEMORY_H
#define GPNN_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Stores a*b in '*product' and returns true, or returns false if it does not fit. */
bool gpnn_multiply(size_t a, size_t b, size_t *product);

/*
 * Returns a zeroed block of n*m items of 'item_bytes' bytes, 64-byte aligned, or NULL if there is
 * no memory or the size does not fit.  A count of zero gives a valid block without items.
 */
void *gpnn_alloc(size_t n, size_t m, size_t item_bytes);

/*
 * Makes room for at least 'needed' items of 'item_bytes' bytes in a growing array.  'array' is the
 * address of the pointer to it (NULL at first; aligned as by malloc()) and '*capacity' the number
 * of items that it has room for.  It grows by at least half, so that appending items one by one
 * takes linear time; new items are not initialised.  False: the array and its capacity are
 * unchanged.
 */
bool gpnn_grow(void *array, size_t *capacity, size_t needed, size_t item_bytes);

/* A copy of 'length' bytes of 'text' and a terminating NUL, to be freed by the caller, or NULL. */
char *gpnn_copy_text(const char *text, size_t length);

/*
 * Bytes of memory that this process may have: those of the machine or, if that is less, the limit
 * of its address space or data (ulimit -v, ulimit -d) or of the control groups that it is in
 * (memory.max).  0: the system does not say.
 */
size_t gpnn_memory_allowed(void);

/* Refuses, before it is begun, work that needs 'bytes' of memory more if that exceeds what is
 * allowed: GPNN_ENOMEM, with a message that begins with 'what' needs them ("the search"). */
GPNN_MUST_CHECK enum gpnn_status gpnn_memory_check(const char *what, double bytes,
                                                   struct gpnn_error *err);

#endif
