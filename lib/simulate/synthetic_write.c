#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/threads.h"
#include "simulate/synthetic.h"

enum {
  BLOCK_NUMBERS = 65536, /* that a thread makes at once, unless one item has more */
  OTHERS = 4,            /* most columns that are not inputs: point, rank, f, y */
};

/* ---- rows as text ------------------------------------------------------------------------- */

/* What a thread makes and writes at once. */
struct block {
  double *x, *f, *y;
  char *text;
  size_t length; /* of the text */
};

static void block_release(struct block *block)
{
  free(block->x);
  free(block->f);
  free(block->y);
  free(block->text);
}

static enum gpnn_status block_init(struct block *block, size_t items,
                                   const struct gpnn_synthetic *s, struct gpnn_error *err)
{
  size_t d = gpnn_synthetic_given(s)->inputs.d, each = gpnn_synthetic_rows_each(s), n_rows;
  bool fits = gpnn_multiply(items, each, &n_rows);
  *block = (struct block){
      .x = fits ? gpnn_alloc(n_rows, d, sizeof *block->x) : NULL,
      .f = fits ? gpnn_alloc(n_rows, 1, sizeof *block->f) : NULL,
      .y = fits ? gpnn_alloc(n_rows, 1, sizeof *block->y) : NULL,
      .text = fits ? gpnn_alloc(n_rows, d + OTHERS, GPNN_NUMBER_BYTES) : NULL,
  };
  if (block->x != NULL && block->f != NULL && block->y != NULL && block->text != NULL)
    return GPNN_OK;
  return gpnn_fail_memory(err, "for a block of rows");
}

static char *put_number(char *to, double value, char end)
{
  to += gpnn_number_write(to, value);
  *to = end;
  return to + 1;
}

static char *put_count(char *to, uint64_t value, char end)
{
  return to + snprintf(to, GPNN_NUMBER_BYTES, "%llu%c", (unsigned long long)value, end);
}

/* Makes 'n' items and writes them to the block's text. */
static enum gpnn_status block_fill(struct block *block, const struct gpnn_synthetic *s,
                                   const struct gpnn_synthetic_format *format, uint64_t first,
                                   size_t n, struct gpnn_error *err)
{
  const struct gpnn_synthetic_options *o = gpnn_synthetic_given(s);
  size_t d = o->inputs.d, each = gpnn_synthetic_rows_each(s);
  enum gpnn_status status = gpnn_synthetic_make(s, first, n, block->x, block->f, block->y, err);
  if (status != GPNN_OK) return status;
  char *to = block->text, delimiter = format->delimiter;
  for (size_t i = 0; i < n * each; i++) {
    if (o->kind == GPNN_SYNTHETIC_LOCAL) {
      to = put_count(to, first + i / each, delimiter);
      to = put_count(to, i % each, delimiter);
    }
    for (size_t j = 0; j < d; j++) to = put_number(to, block->x[i * d + j], delimiter);
    if (format->truth) to = put_number(to, block->f[i], delimiter);
    to = put_number(to, block->y[i], '\n');
  }
  block->length = (size_t)(to - block->text);
  return GPNN_OK;
}

/* ---- tables ------------------------------------------------------------------------------- */

enum gpnn_status gpnn_synthetic_write_header(const struct gpnn_synthetic *s,
                                             const struct gpnn_synthetic_format *format,
                                             struct gpnn_output *output, struct gpnn_error *err)
{
  const struct gpnn_synthetic_options *o = gpnn_synthetic_given(s);
  char delimiter = format->delimiter;
  enum gpnn_status status = GPNN_OK;
  if (o->kind == GPNN_SYNTHETIC_LOCAL)
    status = gpnn_output_printf(output, err, "point%crank%c", delimiter, delimiter);
  for (size_t j = 1; j <= o->inputs.d && status == GPNN_OK; j++)
    status = gpnn_output_printf(output, err, "x%zu%c", j, delimiter);
  if (status == GPNN_OK && format->truth)
    status = gpnn_output_printf(output, err, "f%c", delimiter);
  return status == GPNN_OK ? gpnn_output_text(output, "y\n", err) : status;
}

/* What all threads share. */
struct writing {
  const struct gpnn_synthetic *s;
  const struct gpnn_synthetic_format *format;
  uint64_t first, n;    /* items to write */
  uint64_t items;       /* per block */
  struct block *blocks; /* owned; one per thread, made when first needed */
  struct gpnn_output *output;
};

static enum gpnn_status fill_block(void *context, size_t thread, size_t b, struct gpnn_error *err)
{
  const struct writing *w = context;
  struct block *block = &w->blocks[thread];
  uint64_t from = b * w->items, left = w->n - from;
  enum gpnn_status status = GPNN_OK;
  if (block->x == NULL) status = block_init(block, (size_t)w->items, w->s, err);
  if (status != GPNN_OK) return status;
  return block_fill(block, w->s, w->format, w->first + from,
                    (size_t)(left < w->items ? left : w->items), err);
}

static enum gpnn_status write_block(void *context, size_t thread, size_t b, struct gpnn_error *err)
{
  const struct writing *w = context;
  const struct block *block = &w->blocks[thread];
  (void)b;
  return gpnn_output_write(w->output, block->text, block->length, err);
}

/* Items per block. */
static size_t block_items(const struct gpnn_synthetic *s)
{
  size_t width = gpnn_synthetic_given(s)->inputs.d + OTHERS;
  size_t items = BLOCK_NUMBERS / width / gpnn_synthetic_rows_each(s);
  return items > 0 ? items : 1;
}

enum gpnn_status gpnn_synthetic_write(const struct gpnn_synthetic *s,
                                      const struct gpnn_synthetic_format *format, uint64_t first,
                                      uint64_t n, struct gpnn_output *output,
                                      struct gpnn_error *err)
{
  uint64_t items = block_items(s), n_blocks = n / items + (n % items > 0);
  int threads = gpnn_threads_for(gpnn_synthetic_given(s)->threads, (size_t)n_blocks);
  struct writing w = {.s = s,
                      .format = format,
                      .first = first,
                      .n = n,
                      .items = n < items ? n : items,
                      .output = output};
  w.blocks = gpnn_alloc((size_t)threads, 1, sizeof *w.blocks);
  if (w.blocks == NULL) return gpnn_fail_memory(err, "for a block of rows");
  enum gpnn_status status =
      gpnn_threads_in_order(threads, (size_t)n_blocks, fill_block, write_block, &w, err);
  for (int t = 0; t < threads; t++) block_release(&w.blocks[t]);
  free(w.blocks);
  return status;
}
