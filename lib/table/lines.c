#include "table/lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "table/table_private.h"

/* ---- taking lines ------------------------------------------------------------------------ */

/* False if lines of the table need not be records of as many fields. */
static bool has_lines(const struct gpnn_table *table)
{
  return table->n_records > 0 && gpnn_table_is_text(table) && !gpnn_table_is_json(table) &&
         table->delimiter != ' ' && table->values.notation.comment == NULL;
}

/* Finds the lines to take in the buffer; false if it does not have them all, and '*rest' is how
 * much it has of the line that it does not have wholly. */
static bool find_lines(const struct gpnn_table *table, size_t most, size_t most_bytes,
                       struct gpnn_extent *extent, bool *has_blank, size_t *rest)
{
  const char *begin = table->buffer + table->start, *end = table->buffer + table->end;
  const char *s = begin;
  *extent = (struct gpnn_extent){0};
  *has_blank = false;
  while (extent->n_lines < most && extent->length < most_bytes) {
    const char *lf = memchr(s, '\n', (size_t)(end - s));
    *rest = (size_t)(end - s);
    if (lf == NULL) return false;
    size_t length = (size_t)(lf - s);
    if (length > 0 && lf[-1] == '\r') length--;
    *has_blank = *has_blank || length == 0;
    extent->length += length;
    extent->n_lines++;
    s = lf + 1;
  }
  extent->n_bytes = (size_t)(s - begin);
  return true;
}

enum gpnn_status gpnn_lines_take(struct gpnn_table *table, size_t most, size_t most_bytes,
                                 struct gpnn_lines *lines, struct gpnn_error *err)
{
  struct gpnn_extent extent;
  bool has_blank;
  size_t rest;
  lines->n = 0;
  if (!has_lines(table)) return GPNN_OK;
  /* A long line may be endless, of a binary file: gpnn_table_next() looks at its bytes only once,
   * and sees what they are. */
  while (!find_lines(table, most, most_bytes, &extent, &has_blank, &rest))
    if (rest >= most_bytes || table->at_end || gpnn_table_fill(table, &table->failure) != GPNN_OK)
      return GPNN_OK;
  const char *begin = table->buffer + table->start;
  if (has_blank || memchr(begin, '"', extent.n_bytes) != NULL ||
      memchr(begin, '\0', extent.n_bytes) != NULL)
    return GPNN_OK;
  if (!gpnn_grow(&lines->bytes, &lines->capacity, extent.n_bytes + BLOCK_BYTES, 1))
    return gpnn_fail_memory(err, "for a batch of rows");
  memcpy(lines->bytes, begin, extent.n_bytes);
  lines->n = extent.n_lines;
  lines->first = table->line;
  lines->length = extent.n_bytes;
  gpnn_table_consume(table, &extent);
  return GPNN_OK;
}

/* ---- a table of lines -------------------------------------------------------------------- */

enum gpnn_status gpnn_lines_open(struct gpnn_table **of_lines, const struct gpnn_table *table,
                                 struct gpnn_error *err)
{
  struct gpnn_table *new = malloc(sizeof *new);
  if (new == NULL) return gpnn_fail_memory(err, "to read a table");
  *new = *table;
  new->buffer = new->unquoted = NULL;
  new->fields = NULL;
  new->fields_capacity = new->unquoted_capacity = 0;
  new->start = new->end = 0;
  new->at_end = true;
  new->n_records = 1; /* none of them is the first of the table */
  *of_lines = new;
  return GPNN_OK;
}

void gpnn_lines_set(struct gpnn_table *of_lines, const struct gpnn_lines *lines)
{
  of_lines->buffer = lines->bytes;
  of_lines->start = 0;
  of_lines->end = lines->length;
  of_lines->line = lines->first;
}

void gpnn_lines_close(struct gpnn_table *of_lines)
{
  if (of_lines == NULL) return;
  free(of_lines->fields);
  free(of_lines->unquoted);
  free(of_lines);
}
