/*
 * index_writing_private: how sections of an index are written and hashed, for index_write.c and
 * index_grid.c.
 */
#ifndef GPNN_DATASET_INDEX_WRITING_PRIVATE_H
#define GPNN_DATASET_INDEX_WRITING_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "container/container.h"
#include "dataset/dataset.h"
#include "dataset/index_bytes_private.h"
#include "dataset/index_fingerprint_private.h"
#include "dataset/index_parts_private.h"

struct gpnn_index_writing {
  struct gpnn_container_writer *writer;
  struct gpnn_index_present *present; /* owned; NULL: all rows have all targets */
  struct gpnn_fingerprint fingerprint;
  struct gpnn_mapping mapping; /* of the dataset's rows */
};

/* Writes a section, and adds it to the fingerprint if 'is_hashed'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_write_section(struct gpnn_index_writing *writing,
                                                          const char *tag, bool is_hashed,
                                                          const void *bytes, size_t length,
                                                          struct gpnn_error *err);

/* The same with bytes that were composed, which it frees.  GPNN_ENOMEM: they could not be. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_write_blob(struct gpnn_index_writing *writing,
                                                       const char *tag, bool is_hashed,
                                                       struct blob *blob, struct gpnn_error *err);

/* Writes and hashes n by d numbers block by block, while each is in the cache, evicting pages
 * behind it. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_write_rows(struct gpnn_index_writing *writing,
                                                       const char *tag, size_t n, size_t d,
                                                       const double *rows, struct gpnn_error *err);

/* Writes the sections about columns and their standardisation. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_write_metadata(struct gpnn_index_writing *writing,
                                                           const struct gpnn_dataset *dataset,
                                                           struct gpnn_error *err);

#endif
