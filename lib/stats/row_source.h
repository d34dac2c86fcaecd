/*
 * row_source: rows that need not fit into memory, read block by block and reduced to a few numbers.
 *
 * A reduction maps each block to numbers, in several threads at once, and folds these into its
 * state block after block, in the order of the rows: what comes out depends neither on the memory
 * there is nor on the number of threads.  Nor does it depend on how the rows are spread over
 * processes: each maps its own blocks, and they fold them in turn.
 */
#ifndef GPNN_STATS_ROW_SOURCE_H
#define GPNN_STATS_ROW_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/peers.h"
#include "base/status.h"

/* Rows that can be read any number of times. */
struct gpnn_row_source {
  size_t n;     /* rows */
  size_t width; /* numbers per row, at least 1 */
  /*
   * Fills 'rows' (count by width, row-major) with the rows from number 'from' on; count is at most
   * gpnn_row_source_block(width).  A pass asks for the blocks in their order, or nearly so when
   * several threads do; a new pass starts from row 0.  Some callers ask for single rows, in
   * ascending order.
   */
  enum gpnn_status (*read)(void *context, size_t from, size_t count, double *rows,
                           struct gpnn_error *err);
  void *context;
  int threads; /* how many may call read() at once; 0 means 1 */
  /* NULL: all rows can be read.  Otherwise only those here, whole blocks but for the last. */
  const struct gpnn_parts *parts;
};

/* The number of rows in a block: GPNN_ROW_SOURCE_BLOCK, or fewer, but at least one, where rows are
 * so wide that a block would take more than 8 MiB.  It depends on the width alone, and so do the
 * results of reductions. */
enum { GPNN_ROW_SOURCE_BLOCK = 1024 };
size_t gpnn_row_source_block(size_t width);

struct gpnn_row_reduction {
  /* Writes 'n_mapped' numbers about the 'count' rows of a block to 'mapped', which is zeroed
   * before.  May be called in several threads at once. */
  void (*map)(const void *state, size_t count, const double *rows, double *mapped);
  /* Takes the numbers of the next block into the state; one call at a time.  It reads the first of
   * them, no more than 'n_folded'. */
  void (*fold)(void *state, const double *mapped);
  void *state;
  size_t n_mapped;
  double *folded; /* all of the state that fold() changes: 'n_folded' numbers */
  size_t n_folded;
};

/* Reads all rows once; without rows, nothing is called.  If 'source' fails, the failure is that of
 * the first block that could not be read, and the state holds the blocks before it.  GPNN_ENOMEM:
 * no room for a block per thread or, of rows in parts, for what all blocks here are mapped
 * to. */
GPNN_MUST_CHECK enum gpnn_status gpnn_row_source_reduce(const struct gpnn_row_source *source,
                                                        const struct gpnn_row_reduction *reduction,
                                                        struct gpnn_error *err);

/* Reads the 'n' rows with these ascending numbers, wherever they are, into 'rows' (n by width).
 * Failures are those of the source, and of its peers. */
GPNN_MUST_CHECK enum gpnn_status gpnn_row_source_pick(const struct gpnn_row_source *source,
                                                      size_t n, const uint64_t *number,
                                                      double *rows, struct gpnn_error *err);

#endif
