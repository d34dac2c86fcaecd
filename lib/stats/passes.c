#include "stats/passes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

size_t gpnn_source_block(size_t width)
{
  const size_t numbers = (size_t)1 << 20;
  if (width <= numbers / GPNN_SOURCE_BLOCK) return GPNN_SOURCE_BLOCK;
  return width < numbers ? numbers / width : 1;
}

/* All rows being gone through. */
struct going {
  const struct gpnn_row_source *source;
  const struct gpnn_pass *pass;
  double *room; /* owned; 'each' numbers a thread: what is found, then a block of rows */
  size_t each;
};

/* Reads a block and visits it. */
static enum gpnn_status visit_block(void *context, size_t thread, size_t block,
                                    struct gpnn_error *err)
{
  const struct going *g = context;
  const struct gpnn_row_source *source = g->source;
  size_t most = gpnn_source_block(source->width), n_found = g->pass->n_found;
  size_t from = block * most, left = source->n - from;
  size_t count = left < most ? left : most;
  double *found = g->room + thread * g->each, *rows = found + n_found;
  enum gpnn_status status = source->read(source->context, from, count, rows, err);
  if (status != GPNN_OK) return status;
  memset(found, 0, n_found * sizeof *found);
  g->pass->visit(g->pass->state, count, rows, found);
  return GPNN_OK;
}

static enum gpnn_status take_block(void *context, size_t thread, size_t block,
                                   struct gpnn_error *err)
{
  const struct going *g = context;
  (void)block;
  (void)err;
  g->pass->take(g->pass->state, g->room + thread * g->each);
  return GPNN_OK;
}

enum gpnn_status gpnn_pass_run(const struct gpnn_row_source *source, const struct gpnn_pass *pass,
                               struct gpnn_error *err)
{
  struct going going = {.source = source, .pass = pass};
  size_t most = gpnn_source_block(source->width), block;
  size_t n_blocks = source->n / most + (source->n % most > 0);
  int threads = gpnn_threads_for(source->threads, n_blocks);
  if (gpnn_multiply(most, source->width, &block) && block <= SIZE_MAX - pass->n_found)
    going.each = block + pass->n_found;
  if (going.each > 0) going.room = gpnn_alloc((size_t)threads, going.each, sizeof *going.room);
  if (going.room == NULL) return gpnn_fail_memory(err, "for a block of rows");
  enum gpnn_status status =
      gpnn_threads_in_order(threads, n_blocks, visit_block, take_block, &going, err);
  free(going.room);
  return status;
}
