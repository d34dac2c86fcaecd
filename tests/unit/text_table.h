/*
 * text_table: tables from texts, in the folder of scratch.h.
 */
#ifndef GPNN_TESTS_TEXT_TABLE_H
#define GPNN_TESTS_TEXT_TABLE_H

#include "scratch.h"
#include "table/table.h"

static inline struct gpnn_table *open_notation(const char *text, bool has_header,
                                               const struct gpnn_notation *notation)
{
  struct gpnn_table *table = NULL;
  const struct gpnn_table_options options = {.has_header = has_header, .notation = *notation};
  assert_ok(gpnn_table_open(&table, scratch_text("t.csv", text), &options, &err));
  return table;
}

static inline struct gpnn_table *open_text(const char *text, bool has_header)
{
  return open_notation(text, has_header, &(struct gpnn_notation){.missing = NULL});
}

#endif
