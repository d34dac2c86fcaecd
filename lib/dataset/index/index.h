/*
 * index: the file that holds a dataset and a search over its rows (the format of gpnn-index(5)).
 *
 * Writing: read a table with dataset/training/training.h, or fill in a struct gpnn_dataset, then
 * call gpnn_index_make(), which builds the search too, or gpnn_index_write(). Reading:
 *
 *   struct gpnn_index *index = NULL;
 *   struct gpnn_search *search = NULL;
 *   struct gpnn_error err;
 *   enum gpnn_status status = gpnn_index_open(&index, path, false, &err);
 *   if (status == GPNN_OK) status = gpnn_dataset_search(gpnn_index_dataset(index), &search, &err);
 *   ... use the rows of gpnn_index_dataset(index) and the search ...
 *   if (status != GPNN_OK) ... err.text says what is wrong ...
 *   gpnn_search_free(search);
 *   gpnn_index_close(index);
 *
 * Rows are used where the file is mapped: opening takes no time that grows with their number, and
 * processes share the pages.  An index has at least one row and one input; calibration rows may be
 * missing (n_calibration == 0).
 *
 * Failures: besides the outcomes named below, GPNN_EIO where the system refuses, and GPNN_ENOMEM.
 * Messages begin with the path.
 * Threads: an open index is read-only and may be shared freely.
 */
#ifndef GPNN_DATASET_INDEX_INDEX_H
#define GPNN_DATASET_INDEX_INDEX_H

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
struct gpnn_parts; /* base/peers.h */

/*
 * Writes an index file, whole or not at all.  'dataset' is that of all rows, of which there is at
 * least one.  All its numbers are finite, but for targets that a row lacks and inputs that a
 * calibration row lacks, which are NaN; every row has a target, and every target a training row.
 * Its schema and scaling must be complete, as training or gpnn_schema_choose() and
 * gpnn_scaling_learn() leave them; groups, fingerprint and source are ignored, as opening an index
 * computes them.  'search' is over its rows.  Both are borrowed for the call.
 * '*watch' holds the name of the unfinished file while there is one, so that a signal handler can
 * remove it (base/atomic_file.h); 'watch' may be NULL.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_write(const char *path,
                                                  const struct gpnn_dataset *dataset,
                                                  const struct gpnn_search *search,
                                                  const char *volatile *watch,
                                                  struct gpnn_error *err);

/* The fingerprint that the index of 'dataset' would have, whose arrays have those training rows
 * that are here by 'parts' (base/peers.h); NULL: all.  GPNN_ENOMEM, and failures of the peers that
 * have the others. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_fingerprint(const struct gpnn_dataset *dataset,
                                                        const struct gpnn_parts *parts,
                                                        uint64_t *fingerprint,
                                                        struct gpnn_error *err);

/*
 * gpnn_index_write() with a search that is built over the rows of 'over' as gpnn_search_build()
 * builds it, where 'over' is 'dataset' with inputs seen by their scores (dataset/transformed.h), or
 * NULL for 'dataset' itself; while the rows are written if 'options' allows more than one thread.
 * The mapping and 'to_save' in 'options' are ignored, and that of 'dataset' is used.  On success
 * '*search' is the caller's, to be freed with gpnn_search_free() before the rows; after a failure,
 * whose outcomes are also those of gpnn_search_build(), it is not set.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_index_make(const char *path, const struct gpnn_dataset *dataset,
                const struct gpnn_dataset *over, const struct gpnn_search_options *options,
                const char *volatile *watch, struct gpnn_search **search, struct gpnn_error *err);

/*
 * Writes an index of kind grid: 'dataset' has a grid, and its schema and scaling are those of the
 * factors' columns, as dataset/grid/reading.h leaves them.  Otherwise as gpnn_index_write().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_write_grid(const char *path,
                                                       const struct gpnn_dataset *dataset,
                                                       const char *volatile *watch,
                                                       struct gpnn_error *err);

/*
 * Writes a model file (gpnn-model(5)): 'dataset' is that of all rows of the index that the model
 * was estimated from, with 'stored', whose arrays and text are written instead of its rows.
 * Otherwise as gpnn_index_write(); models/model_file.h is for those who have a model.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_write_stored(const char *path,
                                                         const struct gpnn_dataset *dataset,
                                                         const char *volatile *watch,
                                                         struct gpnn_error *err);

/*
 * Writes a model as one file: the open 'index', of rows or of kind grid, with 'reading' and
 * 'packed' in place of what it has, whole or not at all.  'path' may be that of the index, which
 * stays as it is for those who have it open.  Rows and search do not pass through memory; where the
 * file system can, both files share them.  'watch' as for gpnn_index_write().  GPNN_EFORMAT: what
 * the index has packed is not at its end.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_pack(const char *path, const struct gpnn_index *index,
                                                 const struct gpnn_reading *reading,
                                                 const struct gpnn_packed *packed,
                                                 const char *volatile *watch,
                                                 struct gpnn_error *err);

/*
 * Opens 'path', a regular file, which is an index of rows or of kind grid, or a model file: the
 * dataset of a grid has that, and the one of a model file 'stored' (dataset/stored.h), and neither
 * has rows nor a search.  Of a model file all sections are checked at once.  Header, lengths and
 * small sections are checked at once; rows and search only if 'verify', which reads the whole file
 * and compares all checksums. The search is not loaded before gpnn_dataset_search() asks for it.
 * '*index' is set on success only.
 *
 *   GPNN_EMISMATCH  the file is not an index: "train.tsv is a table, not an index: make one with
 *                   gpnn-index"
 *   GPNN_EVERSION   this program does not know the version of its format
 *   GPNN_EFORMAT    it is damaged, truncated, or from a machine with another byte order
 *   GPNN_EIO        the system refuses, or 'path' is not a regular file
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_open(struct gpnn_index **index, const char *path,
                                                 bool verify, struct gpnn_error *err);

/* The dataset that the index holds, of all rows: the view of its first target too, unless that is
 * missing in some (dataset/dataset.h).  Valid until the index is closed. */
const struct gpnn_dataset *gpnn_index_dataset(const struct gpnn_index *index);

/* The search that the file holds, which may be over what is seen of its rows by their scores
 * (dataset/scores.h).  All of it belongs to the index. */
struct gpnn_index_search {
  size_t d; /* of the rows that it is over */
  struct gpnn_search_report report;
  struct gpnn_search_metric metric;
  const unsigned char *sight; /* of each input of the index; NULL: it is over the rows themselves */
};

struct gpnn_index_search gpnn_index_search(const struct gpnn_index *index);

/* Tag (four letters), offset and length, in bytes, of section 'i' of the file, for gpnn-info; false
 * if there is no such section. */
bool gpnn_index_section(const struct gpnn_index *index, size_t i, char tag[5], uint64_t *offset,
                        uint64_t *length);

/* The path that it was opened with; belongs to the index. */
const char *gpnn_index_path(const struct gpnn_index *index);

/* True if 'path' is a regular file that begins as what gpnn_index_open() opens does, or is cut
 * short before its kind shows, as that then says.  It may still be damaged. */
bool gpnn_index_recognise(const char *path);

/* True if 'path' is a regular file that begins as a model file does. */
bool gpnn_index_is_model(const char *path);

/* True if 'path' is a regular file whose beginning says that it has parameters of its own: it is a
 * model file, or an index that they were packed with. */
bool gpnn_index_has_parameters(const char *path);

/* What the regular file 'path' looks like from its first bytes, as static text: "a table",
 * "a parameters file", or a kind of container ("an index").  NULL: unknown, or it cannot be read.
 */
const char *gpnn_index_look(const char *path);

/* Unmaps and frees; datasets and searches taken from it must not be used any more.  NULL is
 * allowed. */
void gpnn_index_close(struct gpnn_index *index);

#ifdef __cplusplus
}
#endif

#endif
