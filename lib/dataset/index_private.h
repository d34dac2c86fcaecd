/*
 * index_parts: what the files of index share.
 *
 * Private to lib/data/index*.c.
 */
#ifndef GPNN_DATASET_INDEX_PRIVATE_H
#define GPNN_DATASET_INDEX_PRIVATE_H

#include <pthread.h>

#include "dataset/index.h"
#include "dataset/sections.h"

struct gpnn_index {
  struct gpnn_sections *sections; /* owned, but for a sample */
  struct gpnn_dataset dataset;
  struct gpnn_search_report report;
  double *lengthscale;        /* owned, but for a sample, or NULL */
  double *rotation;           /* likewise */
  uint32_t *group;            /* owned, but for a sample; contents.group */
  struct gpnn_dataset *views; /* owned, of the further targets; what is in them is not */
  char *provenance;           /* owned, but for a sample; contents.provenance */
  double *rows; /* owned: of a sample, all that its contents have a number of for each row; the rest
                   belongs to the index that it is of.  NULL: no sample */
  bool is_verified;
  /* Owned, but NULL for a sample: streams of one index share their place in it
   * (dataset/sections.h), so that one search is loaded at a time. */
  pthread_mutex_t *loading;
};

/* Takes back everything but the search: small sections checked and copied, rows where they are
 * mapped, unchecked. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_read(struct gpnn_index *index, struct gpnn_error *err);

/* All checksums, the fingerprint, and that rows are finite. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_verify(const struct gpnn_index *index,
                                                   struct gpnn_error *err);

/* Finds a section that must be there. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_find_section(const struct gpnn_index *index,
                                                         const char *tag,
                                                         const struct gpnn_section **section,
                                                         struct gpnn_error *err);

/* Sets the views of the further targets from the contents. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_set_views(struct gpnn_index *index,
                                                      struct gpnn_error *err);

/* Builds the search of a sample. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_search_sample(const struct gpnn_index *sample,
                                                          struct gpnn_search **search,
                                                          struct gpnn_error *err);

#endif
