/*
 * skipped: a count of the rows of a table that were left out as bad, by reason and column.
 *
 * Count each row with gpnn_skipped_add(), then describe them all with gpnn_skipped_describe().
 * Nothing here can fail.
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

enum { GPNN_SKIPPED_KINDS = 12, GPNN_SKIPPED_BYTES = 640 };

/* A zeroed object has no rows. */
struct gpnn_skipped {
  size_t n;       /* all rows left out */
  size_t n_kinds; /* rows of kinds beyond GPNN_SKIPPED_KINDS count in 'n' only */
  struct gpnn_skipped_kind {
    const char *what;           /* what is wrong; static text, but after gpnn_skipped_join() */
    size_t column;              /* where, from 0; SIZE_MAX: the record is malformed */
    size_t n;                   /* rows of this kind */
    size_t line;                /* of the first of them */
    char text[GPNN_MASK_BYTES]; /* of its field; may be empty */
  } kinds[GPNN_SKIPPED_KINDS];
};

/* Counts 'record', which gpnn_columns_number() or gpnn_table_next() refused with 'why'. */
void gpnn_skipped_add(struct gpnn_skipped *skipped, const struct gpnn_record *record,
                      const struct gpnn_error *why);

/* Counts 'n' malformed records, which may be 0; the first is on line 'line'. */
void gpnn_skipped_add_malformed(struct gpnn_skipped *skipped, size_t n, size_t line);

/* Counts the rows that 'more' has, which come behind the others, and borrows what was wrong with
 * them.  False: the kinds may be more than there is room for, and counts are wrong. */
bool gpnn_skipped_join(struct gpnn_skipped *skipped, const struct gpnn_skipped *more);

/* True if more than a fifth of all rows were left out, given that 'n_kept' were not. */
bool gpnn_skipped_too_many(const struct gpnn_skipped *skipped, size_t n_kept);

/* Writes to 'text' up to three kinds, or the two most frequent and how many rows there are of
 * others, as in "column 'price': not a number in 4437 rows, as "2,810" (line 2); ...".  Empty if no
 * row was left out.  'table' is the one the rows are from.  Returns 'text'. */
const char *gpnn_skipped_describe(const struct gpnn_skipped *skipped,
                                  const struct gpnn_table *table, char text[GPNN_SKIPPED_BYTES]);

#ifdef __cplusplus
}
#endif

#endif
