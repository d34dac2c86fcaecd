/*
 * npy_text: text that is written as a table becomes the bytes of a .npy file.
 *
 * Calling sequence: gpnn_npy_text_new(); write GPNN_NPY_HEADER_BYTES bytes of anything; then write
 * what gpnn_npy_text_convert() makes of each piece of the text; at the end replace the first bytes
 * by gpnn_npy_text_header(), which knows how many rows there were; gpnn_npy_text_free().
 *
 * The text is what table/table.h reads: lines of fields, the same number in each.  The names of the
 * columns are not kept, since a .npy file has none.  A missing value becomes NaN.
 * Memory: that of the longest line and the longest piece.  Threads: one at a time.
 */
#ifndef GPNN_TABLE_NPY_TEXT_H
#define GPNN_TABLE_NPY_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "table/npy.h"

struct gpnn_npy_text;

/* How the text is written. */
struct gpnn_npy_text_format {
  char delimiter;
  bool has_header;  /* the first line names the columns */
  const char *na;   /* the text of a missing value, besides no text; must outlive the conversion */
  size_t n_columns; /* needed without a header, as there may be no rows either; else 0 */
};

/* True if the name of a file ends in ".npy". */
bool gpnn_npy_text_is_wanted(const char *path);

/* 'name' is what messages call the file; a copy is made.  '*text' is set on success only.
 * GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_npy_text_new(struct gpnn_npy_text **text, const char *name,
                                                   const struct gpnn_npy_text_format *format,
                                                   struct gpnn_error *err);

/* Converts the lines that end in 'piece', which is the next piece of the text; '*bytes' belong to
 * the object until the next call.  GPNN_EDATA: a field is not a number. */
GPNN_MUST_CHECK enum gpnn_status gpnn_npy_text_convert(struct gpnn_npy_text *text,
                                                       const char *piece, size_t length,
                                                       const char **bytes, size_t *n_bytes,
                                                       struct gpnn_error *err);

void gpnn_npy_text_header(const struct gpnn_npy_text *text, char header[GPNN_NPY_HEADER_BYTES]);

/* NULL is allowed. */
void gpnn_npy_text_free(struct gpnn_npy_text *text);

#endif
