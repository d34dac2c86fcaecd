/*
 * index_reading_private: how sections of an index are found, checked and decoded, for index_read.c
 * and index_grid.c.
 */
#ifndef GPNN_DATASET_INDEX_READING_PRIVATE_H
#define GPNN_DATASET_INDEX_READING_PRIVATE_H

#include <stdbool.h>

#include "dataset/index_bytes_private.h"
#include "dataset/index_private.h"

/* Verifies a small section and decodes it with 'decode', which must use all of it. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_read_section(struct gpnn_index *index, const char *tag,
                                                         void (*decode)(struct cursor *,
                                                                        struct gpnn_index *),
                                                         struct gpnn_error *err);

/* The same for a section that an index may lack. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_read_optional(struct gpnn_index *index, const char *tag,
                                                          void (*decode)(struct cursor *,
                                                                         struct gpnn_index *),
                                                          struct gpnn_error *err);

/* Points '*rows' to a section of n by d numbers where it is mapped. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_find_rows(const struct gpnn_index *index,
                                                      const char *tag, size_t n, size_t d,
                                                      const double **rows, struct gpnn_error *err);

/* Reads the sections about columns and their standardisation and, unless it is a grid, the search.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_read_metadata(struct gpnn_index *index, bool is_grid,
                                                          struct gpnn_error *err);

#endif
