#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/threads.h"
#include "linalg/arrays.h"
#include "simulate/synthetic.h"

enum {
  BLOCK_NUMBERS = 65536, /* that a thread makes at once, unless one item has more */
  OTHERS = 4,            /* most columns besides inputs and truth: point, rank, exposure, y */
};

/* Columns of a row, at most. */
static size_t width_of(const struct gpnn_synthetic *s)
{
  const struct gpnn_synthetic_options *o = gpnn_synthetic_given(s);
  return o->inputs.d + gpnn_observation_functions(&o->observation) + OTHERS;
}

/* ---- rows as text ------------------------------------------------------------------------- */

/* What a thread makes and writes at once. */
struct block {
  struct gpnn_synthetic_rows rows;
  char *text;
  size_t length;              /* of the text */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

static enum gpnn_status block_init(struct block *block, size_t items,
                                   const struct gpnn_synthetic *s, struct gpnn_error *err)
{
  const struct gpnn_synthetic_options *o = gpnn_synthetic_given(s);
  size_t n_rows, n_functions = gpnn_observation_functions(&o->observation);
  *block = (struct block){0};
  struct gpnn_synthetic_rows *rows = &block->rows;
  if (gpnn_multiply(items, gpnn_synthetic_rows_each(s), &n_rows))
    block->arrays = GPNN_ARRAYS(
        GPNN_ARRAY(rows->x, n_rows, o->inputs.d), GPNN_ARRAY(rows->truth, n_rows, n_functions),
        GPNN_ARRAY(rows->y, n_rows, 1), GPNN_ARRAY(rows->exposure, n_rows, 1),
        GPNN_ARRAY(block->text, n_rows, width_of(s) * GPNN_NUMBER_BYTES));
  if (block->arrays != NULL) return GPNN_OK;
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

/* Writes the name of a class, by its number from 0 on, with as many digits as the last one has. */
static char *put_class(char *to, size_t class, size_t n_classes, char end)
{
  size_t digits = 1, number = class + 1;
  for (size_t left = n_classes; left >= 10; left /= 10) digits++;
  to[0] = 'c';
  for (size_t i = digits; i > 0; i--, number /= 10) to[i] = (char)('0' + number % 10);
  to[digits + 1] = end;
  return to + digits + 2;
}

/* Truth and target of a row. */
static char *put_target(char *to, const struct gpnn_observation *o,
                        const struct gpnn_synthetic_format *format, const double *truth, double y)
{
  size_t n_functions = gpnn_observation_functions(o);
  for (size_t c = 0; c < n_functions && format->truth; c++)
    to = put_number(to, truth[c], format->delimiter);
  if (o->likelihood == GPNN_LIKELIHOOD_CATEGORICAL)
    return put_class(to, (size_t)y, n_functions, '\n');
  return put_number(to, y, '\n');
}

/* Makes 'n' items and writes them to the block's text. */
static enum gpnn_status block_fill(struct block *block, const struct gpnn_synthetic *s,
                                   const struct gpnn_synthetic_format *format, uint64_t first,
                                   size_t n, struct gpnn_error *err)
{
  const struct gpnn_synthetic_options *o = gpnn_synthetic_given(s);
  const struct gpnn_synthetic_rows *rows = &block->rows;
  size_t d = o->inputs.d, each = gpnn_synthetic_rows_each(s);
  size_t n_functions = gpnn_observation_functions(&o->observation);
  enum gpnn_status status = gpnn_synthetic_make(s, first, n, rows, err);
  if (status != GPNN_OK) return status;
  char *to = block->text, delimiter = format->delimiter;
  for (size_t i = 0; i < n * each; i++) {
    if (o->kind == GPNN_SYNTHETIC_LOCAL) {
      to = put_count(to, first + i / each, delimiter);
      to = put_count(to, i % each, delimiter);
    }
    for (size_t j = 0; j < d; j++) to = put_number(to, rows->x[i * d + j], delimiter);
    if (gpnn_synthetic_has_exposure(s)) to = put_number(to, rows->exposure[i], delimiter);
    to = put_target(to, &o->observation, format, rows->truth + i * n_functions, rows->y[i]);
  }
  block->length = (size_t)(to - block->text);
  return GPNN_OK;
}

/* ---- tables ------------------------------------------------------------------------------- */

/* The names of the columns of the truth. */
static enum gpnn_status write_truths(const struct gpnn_observation *o, char delimiter,
                                     struct gpnn_output *output, struct gpnn_error *err)
{
  if (o->likelihood != GPNN_LIKELIHOOD_CATEGORICAL)
    return gpnn_output_printf(output, err, "%s%c", gpnn_observation_counts(o) ? "mean" : "f",
                              delimiter);
  enum gpnn_status status = GPNN_OK;
  for (size_t c = 0; c < o->n_classes && status == GPNN_OK; c++) {
    char name[GPNN_NUMBER_BYTES];
    put_class(name, c, o->n_classes, '\0');
    status = gpnn_output_printf(output, err, "p_%s%c", name, delimiter);
  }
  return status;
}

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
  if (status == GPNN_OK && gpnn_synthetic_has_exposure(s))
    status = gpnn_output_printf(output, err, "exposure%c", delimiter);
  if (status == GPNN_OK && format->truth)
    status = write_truths(&o->observation, delimiter, output, err);
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
  if (block->text == NULL) status = block_init(block, (size_t)w->items, w->s, err);
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
  size_t items = BLOCK_NUMBERS / width_of(s) / gpnn_synthetic_rows_each(s);
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
  for (int t = 0; t < threads; t++) gpnn_arrays_free(w.blocks[t].arrays);
  free(w.blocks);
  return status;
}
