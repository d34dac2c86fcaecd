/*
 * index_private: the state of an open index, and what its sources share.
 */
#ifndef GPNN_DATASET_INDEX_PRIVATE_H
#define GPNN_DATASET_INDEX_PRIVATE_H

#include <pthread.h>

#include "container/container.h"
#include "dataset/dataset_private.h"
#include "dataset/grid.h"
#include "dataset/index.h"
#include "dataset/index_parts_private.h"
#include "dataset/stored.h"

struct gpnn_index {
  struct gpnn_container *container; /* owned */
  struct gpnn_dataset dataset;
  struct gpnn_dataset_source source;  /* dataset.source */
  double *lengthscale, *rotation;     /* owned; source.metric; NULL: none */
  uint32_t *group;                    /* owned; dataset.group */
  char *provenance;                   /* owned; dataset.provenance */
  uint64_t *exchanged;                /* owned; dataset.exchanged; NULL: none */
  struct gpnn_index_present *present; /* owned; for each target; NULL: all rows have all of them */
  struct gpnn_grid grid;              /* dataset.grid points to it, if the file is a grid */
  struct gpnn_grid_factor *factor;    /* owned; those of the grid */
  char **factor_name;                 /* owned; n_factor_names texts, theirs */
  size_t n_factor_names;
  struct gpnn_state *arrays;  /* owned; of a model file; NULL: it is none */
  struct gpnn_stored *stored; /* owned; those of the views and of all rows, for a model file */
  bool is_verified;
  pthread_mutex_t *loading; /* owned; loading a search uses the container's stream, of which only
                               one may be open at a time */
};

/* The sections that an index may have. */
extern const struct gpnn_container_format gpnn_index_format;

/* Reads everything but the search from the open container: small sections are checked and copied;
 * rows stay where they are mapped, unchecked. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_read(struct gpnn_index *index, struct gpnn_error *err);

/* The same for a file of kind grid, whose sections are: */
extern const struct gpnn_container_format gpnn_index_grid_format;
GPNN_MUST_CHECK enum gpnn_status gpnn_index_read_grid(struct gpnn_index *index,
                                                      struct gpnn_error *err);

/* The same for a model file, whose sections are below; and then, once the inputs have their groups,
 * its views. */
extern const struct gpnn_container_format gpnn_index_model_format;
GPNN_MUST_CHECK enum gpnn_status gpnn_index_read_model(struct gpnn_index *index,
                                                       struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_index_set_model(struct gpnn_index *index,
                                                      struct gpnn_error *err);

/* Checks all checksums and the fingerprint, that numbers of rows are finite, that variances are
 * not negative, and that targets are missing where the counts say so. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_verify(const struct gpnn_index *index,
                                                   struct gpnn_error *err);

/* Finds a section that every index must have.  GPNN_EFORMAT: it is missing. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_index_find_section(const struct gpnn_index *index, const char *tag,
                        const struct gpnn_container_section **section, struct gpnn_error *err);

#endif
