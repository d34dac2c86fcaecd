/*
 * skipped: rows of a table that were left out as bad: how many, and why, column by column.
 */
#ifndef GPNN_TABLE_SKIPPED_H
#define GPNN_TABLE_SKIPPED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "table/table.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GPNN_SKIPPED_KINDS = 12, GPNN_SKIPPED_BYTES = 512 };

/* A zeroed object has no rows. */
struct gpnn_skipped {
  size_t n;
  size_t n_kinds; /* more than there is room for count in 'n' alone */
  struct gpnn_skipped_kind {
    const char *what; /* is wrong: static text */
    size_t column;    /* 0-based; SIZE_MAX: the record is malformed */
    size_t n;
    size_t line;                /* of the first of them */
    char text[GPNN_MASK_BYTES]; /* that stands there; may be empty */
  } kinds[GPNN_SKIPPED_KINDS];
};

/* Counts 'record', which is bad because of 'why', as gpnn_columns_number() or gpnn_table_next()
 * said. */
void gpnn_skipped_add(struct gpnn_skipped *skipped, const struct gpnn_record *record,
                      const struct gpnn_error *why);

/* Counts 'n' malformed records, the first on line 'line'. */
void gpnn_skipped_add_malformed(struct gpnn_skipped *skipped, size_t n, size_t line);

/* Whether they are more than a fifth of all rows, of which 'n_kept' are good. */
bool gpnn_skipped_is_much(const struct gpnn_skipped *skipped, size_t n_kept);

/* "column 'price': not a number in 4437 rows, as "2,810" (line 2); ...", the most frequent first.
 * Returns 'text'. */
const char *gpnn_skipped_describe(const struct gpnn_skipped *skipped,
                                  const struct gpnn_table *table, char text[GPNN_SKIPPED_BYTES]);

#ifdef __cplusplus
}
#endif

#endif
