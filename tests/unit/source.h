/*
 * source: rows in memory as a source of rows.
 */
#ifndef GPNN_TESTS_SOURCE_H
#define GPNN_TESTS_SOURCE_H

#include "stats/moments.h"
#include "unit.h"

/* 'values' is n by width, row-major, borrowed; 'next' is where the next block has to begin. */
struct source_rows {
  size_t n, width, next;
  const double *values;
};

static inline enum gpnn_status source_read(void *context, size_t from, size_t count, double *rows,
                                           struct gpnn_error *error)
{
  struct source_rows *given = context;
  (void)error;
  assert_true(from == given->next || from == 0);
  assert_true(count > 0 && count <= gpnn_row_source_block(given->width) &&
              from + count <= given->n);
  given->next = from + count;
  memcpy(rows, given->values + from * given->width, count * given->width * sizeof *rows);
  return GPNN_OK;
}

static inline struct gpnn_row_source source_of(struct source_rows *given)
{
  return (struct gpnn_row_source){
      .n = given->n, .width = given->width, .read = source_read, .context = given};
}

#endif
