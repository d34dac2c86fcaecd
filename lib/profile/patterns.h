/*
 * patterns: in how many rows which columns lack a usable value together.
 *
 * Add the columns of each row that lacks some, and count later the rows that would have to be left
 * out if some of these columns were not needed.  Rows that lack the same columns share a pattern.
 * A zeroed object is empty and may be released.
 *
 * Memory: at most 16 MiB; rows whose pattern finds no place any more are counted together, as if
 * they lacked a value that is always needed.  Threads: an object belongs to one thread at a time.
 */
#ifndef GPNN_PROFILE_PATTERNS_H
#define GPNN_PROFILE_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "table/groups.h"

/* A column, and one of up to eight reasons why its value cannot be used. */
struct gpnn_lack {
  uint32_t column;
  uint32_t why;
};

struct gpnn_patterns {
  size_t n_placeless; /* rows without a place */
  struct gpnn_groups groups;
  size_t n, capacity;
  struct gpnn_pattern {
    size_t begin, length; /* in 'lacks' */
    size_t n_rows;
  } * patterns; /* owned */
  size_t n_lacks, lacks_capacity;
  struct gpnn_lack *lacks; /* owned */
};

/* Adds a row that lacks 'n' > 0 values, by ascending columns.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_patterns_add(struct gpnn_patterns *patterns, size_t n,
                                                   const struct gpnn_lack *lacks,
                                                   struct gpnn_error *err);

/* How many rows lack a value that 'is_needed' by 'context'. */
size_t gpnn_patterns_count(const struct gpnn_patterns *patterns,
                           bool (*is_needed)(const void *context, const struct gpnn_lack *lack),
                           const void *context);

/* Frees what it owns and empties it. */
void gpnn_patterns_release(struct gpnn_patterns *patterns);

#endif
