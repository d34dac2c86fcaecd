/*
 * split: assigning rows at random to the parts of a split.
 *
 * By rows: gpnn_split_init(), then gpnn_split_next() for each row.  Each part gets an exact number
 * of rows, and all ways to choose them are equally likely (selection sampling: Knuth, The Art of
 * Computer Programming 2, 3.4.2, algorithm S, here for several parts).  Rows are assigned one at a
 * time and in constant memory, but their number must be known beforehand.
 * By groups: gpnn_split_init(), then gpnn_split_group() for each row.  Rows of the same group go to
 * the same part, which follows from a hash of the group's name, so that parts have their shares
 * only on average.
 *
 * Threads: gpnn_split_next() changes the split, which belongs to one thread at a time.
 */
#ifndef GPNN_TABLE_SPLIT_H
#define GPNN_TABLE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"
#include "table/table.h"

enum { GPNN_SPLIT_PARTS = 500 };

/* Holds no memory of its own: nothing to release. */
struct gpnn_split {
  size_t n_parts;
  double share[GPNN_SPLIT_PARTS];       /* of all rows, for each part; they sum to 1 */
  uint64_t remaining[GPNN_SPLIT_PARTS]; /* rows that each part is still to get */
  uint64_t n_remaining;                 /* their sum */
  uint64_t seed;
  struct gpnn_rng rng;
};

/*
 * Prepares to split 'n_rows' rows into 'n_parts' parts (2 to GPNN_SPLIT_PARTS) in proportion to
 * 'weights' (> 0).  Shares are rounded to whole rows by the largest remainders.  GPNN_EDATA: some
 * part would get no row, as with fewer rows than parts.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_split_init(struct gpnn_split *split, size_t n_parts,
                                                 const double *weights, uint64_t n_rows,
                                                 uint64_t seed, struct gpnn_error *err);

/* Draws the part of the next row, from 0.  GPNN_EDATA: there have been 'n_rows' already. */
GPNN_MUST_CHECK enum gpnn_status gpnn_split_next(struct gpnn_split *split, size_t *part,
                                                 struct gpnn_error *err);

/* The part of the group called 'name' ('length' bytes), from 0; depends on nothing but the name,
 * the shares and the seed. */
size_t gpnn_split_group(const struct gpnn_split *split, const char *name, size_t length);

/* ---- rows that come last ------------------------------------------------------------------ */

/*
 * Which rows of a table come last by the values of one of its columns.
 *
 * Calling sequence: gpnn_order_add() for each record of a table, from a zeroed struct gpnn_order
 * whose 'column' is set; gpnn_order_last(); gpnn_order_release(), whatever happened.
 *
 * The first value decides how the column is compared.  If it is a number, all must be, and they
 * ascend as numbers do.  Otherwise values are compared byte by byte, which puts dates and times in
 * order if they have the year first and leading zeros (ISO 8601); the first that does not begin
 * like such a date is remembered, for a warning.  Rows with equal values stay in the table's order.
 *
 * Memory: 16 bytes a row, and the text of the column if it is compared as text.
 * Threads: an order belongs to one thread at a time.
 */

/* A number and its row. */
struct gpnn_order_number {
  double value;
  size_t row; /* from 0 */
};

struct gpnn_order {
  size_t column;                     /* from 0 */
  size_t n;                          /* rows so far */
  struct gpnn_order_number *numbers; /* owned; n, unless the column is compared as text */
  char *text;                        /* owned; else: the n values, each with its NUL */
  size_t numbers_capacity, text_length, text_capacity;
  bool is_text;
  size_t doubtful_line; /* of the first text that is no date with its year first; 0: none */
  char doubtful[GPNN_MASK_BYTES]; /* that text, masked */
};

/* Adds the next row.  GPNN_EDATA: its value is missing, or it is not a number although the first
 * one was.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_order_add(struct gpnn_order *order,
                                                const struct gpnn_table *table,
                                                const struct gpnn_record *record,
                                                struct gpnn_error *err);

/* Finds the 'n_last' rows, at most n, that come last: '(*is_last)[i]' tells of row i, from 0; for
 * the caller to free().  To be called once.  GPNN_ENOMEM: '*is_last' is not set. */
GPNN_MUST_CHECK enum gpnn_status gpnn_order_last(struct gpnn_order *order, size_t n_last,
                                                 bool **is_last, struct gpnn_error *err);

/* Frees what an order owns and zeroes it. */
void gpnn_order_release(struct gpnn_order *order);

#endif
