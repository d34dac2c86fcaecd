/*
 * groups: numbers for the groups of rows that have the same text in a column.
 *
 * A zeroed object is empty: call gpnn_groups_number() for each row, then gpnn_groups_release().
 * Groups are distinguished by 64-bit hashes of their texts: two of a million groups are mistaken
 * for one with a probability of 3e-8, and then only share a number.
 *
 * Memory: at most 32 bytes a group, or of the room asked for.  Threads: an object belongs to one
 * thread at a time.
 */
#ifndef GPNN_TABLE_GROUPS_H
#define GPNN_TABLE_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_groups {
  size_t n; /* groups so far */
  struct gpnn_groups_slot {
    uint64_t hash;
    uint32_t number; /* 1 + the group's; 0: the slot is empty */
  } * slots;         /* owned; a power of two of them */
  size_t n_slots;
};

/* The hash of a group's name. */
uint64_t gpnn_groups_key(const char *name, size_t length);

/* Finds the number of the group called 'name' ('length' bytes), which for a new group is 'n'.
 * GPNN_EDATA: 2^32 - 2 groups are there already.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_groups_number(struct gpnn_groups *groups, const char *name,
                                                    size_t length, uint32_t *number,
                                                    struct gpnn_error *err);

/* The same for 'n' names of eight bytes, whose numbers go to 'number' (n): many times as fast where
 * groups are too many for the caches.  'room' is how many there may be; more are found as well. */
GPNN_MUST_CHECK enum gpnn_status gpnn_groups_number_all(struct gpnn_groups *groups, size_t room,
                                                        size_t n, const uint64_t *name,
                                                        uint32_t *number, struct gpnn_error *err);

/* Frees what it owns and empties it. */
void gpnn_groups_release(struct gpnn_groups *groups);

#ifdef __cplusplus
}
#endif

#endif
