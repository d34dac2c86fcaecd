#include "stats/row_source.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

size_t gpnn_row_source_block(size_t width)
{
  const size_t numbers = (size_t)1 << 20;
  if (width <= numbers / GPNN_ROW_SOURCE_BLOCK) return GPNN_ROW_SOURCE_BLOCK;
  return width < numbers ? numbers / width : 1;
}

/* One pass over the rows. */
struct pass {
  const struct gpnn_row_source *source;
  const struct gpnn_row_reduction *reduction;
  double *room;       /* owned; for each thread the mapped numbers, then a block of rows */
  size_t thread_room; /* numbers of a thread's part of it */
};

static enum gpnn_status map_block(void *context, size_t thread, size_t block,
                                  struct gpnn_error *err)
{
  const struct pass *pass = context;
  const struct gpnn_row_source *source = pass->source;
  size_t most = gpnn_row_source_block(source->width), n_mapped = pass->reduction->n_mapped;
  size_t from = block * most, left = source->n - from;
  size_t count = left < most ? left : most;
  double *mapped = pass->room + thread * pass->thread_room, *rows = mapped + n_mapped;
  enum gpnn_status status = source->read(source->context, from, count, rows, err);
  if (status != GPNN_OK) return status;
  memset(mapped, 0, n_mapped * sizeof *mapped);
  pass->reduction->map(pass->reduction->state, count, rows, mapped);
  return GPNN_OK;
}

static enum gpnn_status fold_block(void *context, size_t thread, size_t block,
                                   struct gpnn_error *err)
{
  const struct pass *pass = context;
  (void)block;
  (void)err;
  pass->reduction->fold(pass->reduction->state, pass->room + thread * pass->thread_room);
  return GPNN_OK;
}

enum gpnn_status gpnn_row_source_reduce(const struct gpnn_row_source *source,
                                        const struct gpnn_row_reduction *reduction,
                                        struct gpnn_error *err)
{
  struct pass pass = {.source = source, .reduction = reduction};
  size_t most = gpnn_row_source_block(source->width), block, n_mapped = reduction->n_mapped;
  size_t n_blocks = source->n / most + (source->n % most > 0);
  int threads = gpnn_threads_for(source->threads, n_blocks);
  if (gpnn_multiply(most, source->width, &block) && block <= SIZE_MAX - n_mapped)
    pass.thread_room = block + n_mapped;
  if (pass.thread_room > 0)
    pass.room = gpnn_alloc((size_t)threads, pass.thread_room, sizeof *pass.room);
  if (pass.room == NULL) return gpnn_fail_memory(err, "for a block of rows");
  enum gpnn_status status =
      gpnn_threads_in_order(threads, n_blocks, map_block, fold_block, &pass, err);
  free(pass.room);
  return status;
}
