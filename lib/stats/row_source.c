#include "stats/row_source.h"

#include <stdbool.h>
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
  size_t n_blocks;    /* here */
  size_t first_row;   /* of the first of them */
  double *kept;       /* owned; of rows in parts, what each block here is mapped to, but for what */
  size_t n_kept;      /* comes after so many numbers, which is not folded */
};

static enum gpnn_status map_block(void *context, size_t thread, size_t block,
                                  struct gpnn_error *err)
{
  const struct pass *pass = context;
  const struct gpnn_row_source *source = pass->source;
  size_t most = gpnn_row_source_block(source->width), n_mapped = pass->reduction->n_mapped;
  size_t from = pass->first_row + block * most, left = source->n - from;
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

static enum gpnn_status keep_block(void *context, size_t thread, size_t block,
                                   struct gpnn_error *err)
{
  const struct pass *pass = context;
  size_t n = pass->n_kept;
  (void)err;
  memcpy(pass->kept + block * n, pass->room + thread * pass->thread_room, n * sizeof *pass->kept);
  return GPNN_OK;
}

/* Lets each rank in turn fold its blocks into the state that those before it have left. */
static enum gpnn_status fold_in_turn(const struct pass *pass, enum gpnn_status status,
                                     struct gpnn_error *err)
{
  const struct gpnn_parts *parts = pass->source->parts;
  const struct gpnn_row_reduction *reduction = pass->reduction;
  struct gpnn_peers *peers = parts->peers;
  status = gpnn_peers_agree(peers, status, err);
  for (size_t r = 0; r < peers->size && status == GPNN_OK; r++) {
    if (parts->first[r] == parts->first[r + 1]) continue;
    for (size_t b = 0; r == peers->rank && b < pass->n_blocks; b++)
      reduction->fold(reduction->state, pass->kept + b * pass->n_kept);
    peers->broadcast(peers->context, r, reduction->folded,
                     reduction->n_folded * sizeof *reduction->folded);
  }
  return status;
}

enum gpnn_status gpnn_row_source_reduce(const struct gpnn_row_source *source,
                                        const struct gpnn_row_reduction *reduction,
                                        struct gpnn_error *err)
{
  bool has_parts = source->parts != NULL;
  struct pass pass = {.source = source,
                      .reduction = reduction,
                      .first_row = (size_t)gpnn_parts_first(source->parts)};
  size_t most = gpnn_row_source_block(source->width), block, n_mapped = reduction->n_mapped;
  size_t n_rows = (size_t)gpnn_parts_end(source->parts, source->n) - pass.first_row;
  pass.n_blocks = n_rows / most + (n_rows % most > 0);
  int threads = gpnn_threads_for(source->threads, pass.n_blocks);
  if (gpnn_multiply(most, source->width, &block) && block <= SIZE_MAX - n_mapped)
    pass.thread_room = block + n_mapped;
  if (pass.thread_room > 0)
    pass.room = gpnn_alloc((size_t)threads, pass.thread_room, sizeof *pass.room);
  pass.n_kept = n_mapped < reduction->n_folded ? n_mapped : reduction->n_folded;
  if (has_parts) pass.kept = gpnn_alloc(pass.n_blocks, pass.n_kept, sizeof *pass.kept);
  enum gpnn_status status = pass.room == NULL || (has_parts && pass.kept == NULL)
                                ? gpnn_fail_memory(err, "for a block of rows")
                                : GPNN_OK;
  if (status == GPNN_OK)
    status = gpnn_threads_in_order(threads, pass.n_blocks, map_block,
                                   has_parts ? keep_block : fold_block, &pass, err);
  if (has_parts) status = fold_in_turn(&pass, status, err);
  free(pass.room);
  free(pass.kept);
  return status;
}

enum gpnn_status gpnn_row_source_pick(const struct gpnn_row_source *source, size_t n,
                                      const uint64_t *number, double *rows, struct gpnn_error *err)
{
  uint64_t first = gpnn_parts_first(source->parts);
  uint64_t end = gpnn_parts_end(source->parts, source->n);
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    if (number[i] >= first && number[i] < end)
      status = source->read(source->context, (size_t)number[i], 1, rows + i * source->width, err);
  return gpnn_parts_gather(source->parts, n, number, source->width * sizeof *rows, rows, status,
                           err);
}
