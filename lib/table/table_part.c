/*
 * Parts of a table, cut at line ends.
 */
#include <stdint.h>
#include <string.h>

#include "table/table_private.h"

/* Where the next record and the end of the file are; false: it cannot be read from there on. */
static bool find_rest(const struct gpnn_table *table, uint64_t *begin, uint64_t *end)
{
  uint64_t n_buffered = table->end - table->start;
  if (!gpnn_input_tell(table->input, begin, end) || *begin < n_buffered) return false;
  *begin -= n_buffered;
  return true;
}

bool gpnn_table_has_parts(const struct gpnn_table *table)
{
  uint64_t begin, end;
  return gpnn_table_is_text(table) && find_rest(table, &begin, &end);
}

enum { BLOCK = 1 << 16 };

/* Moves '*at' to the first byte of a line that is not before it. */
static enum gpnn_status find_line(struct gpnn_table *table, uint64_t end, uint64_t *at,
                                  struct gpnn_error *err)
{
  char block[BLOCK];
  size_t got;
  uint64_t from = *at - 1;
  enum gpnn_status status = gpnn_input_seek(table->input, from, end, err);
  while (status == GPNN_OK) {
    status = gpnn_input_read(table->input, block, sizeof block, &got, err);
    if (status != GPNN_OK) break;
    const char *lf = memchr(block, '\n', got);
    if (lf != NULL) {
      *at = from + (uint64_t)(lf - block) + 1;
      return GPNN_OK;
    }
    from += got;
  }
  *at = end;
  return status == GPNN_END ? GPNN_OK : status;
}

/* Lets the table go on with a part. */
static enum gpnn_status begin(struct gpnn_table *table, const struct gpnn_table_part *part,
                              struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_input_seek(table->input, part->begin, part->end, err);
  if (status != GPNN_OK) return status;
  table->start = table->end = 0;
  table->at_end = table->ends_in_line = false;
  table->bytes_dropped = true;
  return GPNN_OK;
}

/* Finds out whether a line of a part ends inside quotes.  Where none does in any part, each begins
 * outside them, as the first does. */
static enum gpnn_status check_quotes(struct gpnn_table *table, struct gpnn_table_part *part,
                                     struct gpnn_error *err)
{
  size_t line = table->line;
  enum gpnn_status status = begin(table, part, err);
  while (status == GPNN_OK && !part->ends_in_quotes) {
    struct gpnn_extent extent;
    status = gpnn_table_find_quotes(table, &extent, &part->ends_in_quotes, err);
    if (status == GPNN_OK) gpnn_table_consume(table, &extent);
  }
  table->line = line;
  return status == GPNN_END ? GPNN_OK : status;
}

/* Counts the lines of a part; '*has_quotes' becomes true if there are any. */
static enum gpnn_status count_lines(struct gpnn_table *table, struct gpnn_table_part *part,
                                    bool *has_quotes, struct gpnn_error *err)
{
  char block[BLOCK];
  enum gpnn_status status = gpnn_input_seek(table->input, part->begin, part->end, err);
  while (status == GPNN_OK) {
    size_t got;
    status = gpnn_input_read(table->input, block, sizeof block, &got, err);
    if (status != GPNN_OK) break;
    const char *end = block + got;
    for (const char *s = block; (s = memchr(s, '\n', (size_t)(end - s))) != NULL; s++)
      part->n_lines++;
    *has_quotes = *has_quotes || memchr(block, '"', got) != NULL;
    part->is_torn = end[-1] != '\n';
  }
  return status == GPNN_END ? GPNN_OK : status;
}

enum gpnn_status gpnn_table_find_part(struct gpnn_table *table, size_t k, size_t n,
                                      struct gpnn_table_part *part, struct gpnn_error *err)
{
  uint64_t begin, end;
  bool has_quotes = false;
  struct gpnn_table_part found = {0};
  if (!find_rest(table, &begin, &end))
    return gpnn_fail(err, GPNN_EIO, "%s: cannot be read in parts", gpnn_table_name(table));
  uint64_t share = (end - begin) / n, rest = (end - begin) % n;
  uint64_t cuts[2] = {begin + k * share + (k < rest ? k : rest),
                      begin + (k + 1) * share + (k + 1 < rest ? k + 1 : rest)};
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < 2 && status == GPNN_OK; i++)
    if (cuts[i] > begin && cuts[i] < end) status = find_line(table, end, &cuts[i], err);
  found.begin = cuts[0];
  found.end = cuts[1];
  if (status == GPNN_OK) status = count_lines(table, &found, &has_quotes, err);
  if (status == GPNN_OK && has_quotes && !gpnn_table_is_json(table))
    status = check_quotes(table, &found, err);
  if (status == GPNN_OK) *part = found;
  return status;
}

enum gpnn_status gpnn_table_take_part(struct gpnn_table *table, const struct gpnn_table_part *part,
                                      uint64_t n_before, struct gpnn_error *err)
{
  enum gpnn_status status = begin(table, part, err);
  if (status != GPNN_OK) return status;
  table->is_torn = part->is_torn;
  table->line += (size_t)n_before;
  return GPNN_OK;
}
