/*
 * ordered: the order of categories, where their texts show it.
 *
 * Texts are in order if all of them are
 *   words      of one list of months, days of the week, qualities, amounts, sizes, frequencies or
 *              answers (Fair, Good, Very Good), each a degree of its own; case does not count, and
 *              underscores and hyphens are blanks; or
 *   ranges     of numbers (5-10, < 5, 65+, 10 to 20 km), with the same unit, of which none lies
 *              within another; some may be single numbers.
 *
 * Nothing here can fail.  Threads: no shared state.
 */
#ifndef GPNN_PROFILE_ORDERED_H
#define GPNN_PROFILE_ORDERED_H

#include <stdbool.h>
#include <stddef.h>

/* How many texts may be in order, and how long they are at most, with their NUL. */
enum { GPNN_ORDERED_MOST = 24, GPNN_ORDERED_BYTES = 32 };

/* Puts 'n' different texts into the order that they show, from the least to the greatest; false:
 * they show none, and stay as they are.  Fewer than 3 have none that matters. */
bool gpnn_ordered_find(size_t n, char texts[][GPNN_ORDERED_BYTES]);

#endif
