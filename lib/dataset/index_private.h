/*
 * index_private: what the files of index share.
 */
#ifndef GPNN_DATASET_INDEX_PRIVATE_H
#define GPNN_DATASET_INDEX_PRIVATE_H

#include <pthread.h>

#include "container/container.h"
#include "dataset/dataset_private.h"
#include "dataset/index.h"

struct gpnn_index {
  struct gpnn_container *container; /* owned */
  struct gpnn_dataset dataset;
  struct gpnn_dataset_source source; /* dataset.source */
  double *lengthscale, *rotation;    /* owned; source.metric; each may be NULL */
  uint32_t *group;                   /* owned; dataset.group */
  char *provenance;                  /* owned; dataset.provenance */
  bool is_verified;
  pthread_mutex_t *loading; /* owned: streams of one index share their place in it
                               (container/container.h), so that one search is loaded at a time */
};

/* The sections of an index, and the minor version of gpnn-index(5) that introduced each. */
extern const struct gpnn_container_format gpnn_index_format;

/* Takes back everything but the search: small sections checked and copied, rows where they are
 * mapped, unchecked. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_read(struct gpnn_index *index, struct gpnn_error *err);

/* All checksums, the fingerprint, and that rows are finite. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_verify(const struct gpnn_index *index,
                                                   struct gpnn_error *err);

/* Finds a section that must be there. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_index_find_section(const struct gpnn_index *index, const char *tag,
                        const struct gpnn_container_section **section, struct gpnn_error *err);

#endif
