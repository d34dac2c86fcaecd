/*
 * text_table: tables from texts, in the folder of scratch.h.
 */
#ifndef GPNN_TESTS_TEXT_TABLE_H
#define GPNN_TESTS_TEXT_TABLE_H

#include "scratch.h"
#include "table/table.h"

static inline struct gpnn_table *open_text(const char *text, bool has_header)
{
  struct gpnn_table *table = NULL;
  struct gpnn_table_options options = {0, has_header};
  assert_ok(gpnn_table_open(&table, scratch_text("t.csv", text), &options, &err));
  return table;
}

#endif
