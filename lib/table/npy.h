/*
 * npy: the header of NumPy's .npy files, and their numbers.
 *
 * A .npy file is an array: magic bytes, a version, the length of a header, the header itself, which
 * is a Python dictionary of the type, the order and the shape of the array, and then its numbers
 * and nothing else.  The format is that of numpy.lib.format, "Format Version" 1.0 to 3.0.
 *
 * Tables are arrays of float32 or float64, in either byte order, stored row by row (C order), with
 * one dimension, which is a table of one column, or two.
 *
 * Threads: no shared state.
 */
#ifndef GPNN_TABLE_NPY_H
#define GPNN_TABLE_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define GPNN_NPY_MAGIC "\x93NUMPY"

enum {
  GPNN_NPY_MAGIC_BYTES = 6,
  GPNN_NPY_PREFIX_BYTES = 12, /* with which gpnn_npy_header_length() can tell the length */
  GPNN_NPY_COLUMNS_MAX = 1 << 20,
  GPNN_NPY_HEADER_BYTES = 128 /* what gpnn_npy_header_write() writes */
};

struct gpnn_npy {
  uint64_t n_rows;
  size_t n_columns;    /* 1 to GPNN_NPY_COLUMNS_MAX */
  size_t number_bytes; /* of a number: 4, float32, or 8, float64 */
  bool is_big_endian;
};

/*
 * The bytes from the beginning of a file to its first number, of which 'prefix' has
 * GPNN_NPY_PREFIX_BYTES, which begin with the magic bytes.  GPNN_EFORMAT: the version is unknown,
 * or the header longer than any array of numbers needs; 'name' is the file's in the message.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_npy_header_length(const char *prefix, const char *name,
                                                        size_t *length, struct gpnn_error *err);

/* Reads the header, 'length' bytes as gpnn_npy_header_length() says.  GPNN_EFORMAT: it is not what
 * the format says.  GPNN_EDATA: the array is no table; the message says how to save one. */
GPNN_MUST_CHECK enum gpnn_status gpnn_npy_header_read(struct gpnn_npy *npy, const char *header,
                                                      size_t length, const char *name,
                                                      struct gpnn_error *err);

/* Writes the header, of version 1.0, of little-endian float64 in rows and columns; its length does
 * not depend on their numbers, so that these may be filled in later. */
void gpnn_npy_header_write(char header[GPNN_NPY_HEADER_BYTES], uint64_t n_rows, size_t n_columns);

/* Reads the 'n_columns' numbers of a row, at any address.  A float32 becomes the double of the same
 * value. */
void gpnn_npy_row_read(const struct gpnn_npy *npy, const char *bytes, double *numbers);

/* ---- text becomes .npy -------------------------------------------------------------------- */

/*
 * Text that is written as a table becomes the bytes of a .npy file.
 *
 * Calling sequence: gpnn_npy_text_new(); write GPNN_NPY_HEADER_BYTES bytes of anything; then write
 * what gpnn_npy_text_convert() makes of each piece of the text; at the end replace the first bytes
 * by gpnn_npy_text_header(), which knows how many rows there were; gpnn_npy_text_free().
 *
 * The text is what table/table.h reads: lines of fields, the same number in each.  The names of the
 * columns are not kept, since a .npy file has none.  A missing value becomes NaN.
 * Memory: that of the longest line and the longest piece.  Threads: one at a time.
 */

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
