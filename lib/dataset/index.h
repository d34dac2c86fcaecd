/*
 * index: the file of a dataset and a search over its rows (the format of gpnn-index(5)).
 *
 * Making one: fill in a struct gpnn_dataset, then gpnn_index_make() or gpnn_index_write().  Using
 * one: gpnn_index_open(), gpnn_index_dataset(), gpnn_index_close().  The rows are used where they
 * are mapped: opening costs nothing that grows with n, and processes share the pages.
 *
 * Threads: an open index is read-only and may be shared freely.
 */
#ifndef GPNN_DATASET_INDEX_H
#define GPNN_DATASET_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "search/search.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_index;

/*
 * Writes an index file whole or not at all.  'search' is over the rows of 'dataset'.
 * 'watch', which may be NULL, is told of the unfinished file (base/atomic_file.h).
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_write(const char *path,
                                                  const struct gpnn_dataset *dataset,
                                                  const struct gpnn_search *search,
                                                  const char *volatile *watch,
                                                  struct gpnn_error *err);

/*
 * The same for a search that is built meanwhile, as gpnn_search_build() would over the rows of
 * 'dataset' (and their pages, whatever 'options' says of those); at the same time if 'options' has
 * more threads than one.  '*search' is the caller's.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_index_make(const char *path, const struct gpnn_dataset *dataset,
                const struct gpnn_search_options *options, const char *volatile *watch,
                struct gpnn_search **search, struct gpnn_error *err);

/*
 * Opens 'path'.  Header, lengths and small sections are checked at once; rows and search
 * too, byte for byte, if 'verify'.  GPNN_EFORMAT: damaged or truncated, the sentence says
 * where; GPNN_EVERSION: of a newer format; GPNN_EMISMATCH: no index at all (a table, say:
 * "train.tsv is a table, not an index: make one with gpnn-index").  The search structure
 * is not loaded before gpnn_dataset_search() asks for it.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_open(struct gpnn_index **index, const char *path,
                                                 bool verify, struct gpnn_error *err);

/* What it holds, in the view of the first target; lasts as long as the index. */
const struct gpnn_dataset *gpnn_index_dataset(const struct gpnn_index *index);

/* The sections of the file, for gpnn-info: four-letter tag, offset, length; returns false
 * past the last. */
bool gpnn_index_section(const struct gpnn_index *index, size_t i, char tag[5], uint64_t *offset,
                        uint64_t *length);

const char *gpnn_index_path(const struct gpnn_index *index);

/* True if 'path' begins as an index does, and as no other kind of container. */
bool gpnn_index_recognise(const char *path);

/* What the regular file 'path' looks like: "a table", "a parameters file", or a kind of
 * container ("an index"); NULL: like nothing we know. */
const char *gpnn_index_look(const char *path);

void gpnn_index_close(struct gpnn_index *index);

#ifdef __cplusplus
}
#endif

#endif
