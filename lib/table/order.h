/*
 * order: which rows of a table come last by the values of one of its columns.
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
#ifndef GPNN_TABLE_ORDER_H
#define GPNN_TABLE_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "table/table.h"

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
