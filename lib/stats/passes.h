/*
 * passes: going through rows that need not fit into memory, a block at a time.
 *
 * Something is found of each block, by several threads, and taken block after block in their
 * order: what comes of it depends on neither memory nor threads.
 */
#ifndef GPNN_STATS_PASSES_H
#define GPNN_STATS_PASSES_H

#include <stddef.h>

#include "base/status.h"

/* Rows that can be gone through again and again. */
struct gpnn_row_source {
  size_t n;     /* rows */
  size_t width; /* numbers a row */
  /* Fills 'rows' (count by width, row-major; at most gpnn_source_block()) with the rows from number
   * 'from' on; asked for in order, block after block, and then from row 0 again; roughly so by
   * several threads.  Some are asked for one by one, rising. */
  enum gpnn_status (*read)(void *context, size_t from, size_t count, double *rows,
                           struct gpnn_error *err);
  void *context;
  int threads; /* that may ask at a time; 0 is 1 */
};

/* Rows that are asked of a source at once, at most; where they are wide fewer, though one at least,
 * so that a block takes 8 MiB.  What is found depends on the width alone. */
enum { GPNN_SOURCE_BLOCK = 1024 };
size_t gpnn_source_block(size_t width);

/* What is done with all rows. */
struct gpnn_pass {
  /* Finds 'n_found' numbers of a block, which are zero before; may be called by several threads. */
  void (*visit)(const void *state, size_t count, const double *rows, double *found);
  void (*take)(void *state, const double *found);
  void *state;
  size_t n_found;
};

/* Goes through all rows.  The failure is that of the first block that 'source' fails to read. */
GPNN_MUST_CHECK enum gpnn_status gpnn_pass_run(const struct gpnn_row_source *source,
                                               const struct gpnn_pass *pass,
                                               struct gpnn_error *err);

#endif
