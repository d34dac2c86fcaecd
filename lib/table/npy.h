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

#endif
