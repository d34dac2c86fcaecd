/*
 * dataset_private: what sources of this folder share: the source of a dataset, where its other
 * views and its search come from, and its coordinates.
 */
#ifndef GPNN_DATASET_DATASET_PRIVATE_H
#define GPNN_DATASET_DATASET_PRIVATE_H

#include "dataset/dataset.h"

/* Shared by all views of a dataset. */
struct gpnn_dataset_source {
  size_t n_targets;
  struct gpnn_dataset *views; /* owned; n_targets: without rows where there is no view */
  struct gpnn_search_report report;
  struct gpnn_search_metric metric; /* of the search; borrowed */
  const unsigned char *sight; /* how the search sees the inputs of the index; borrowed; NULL: as
                                 they are.  A dataset that sees them otherwise has no use for it */
  /* Loads the stored search over the rows of 'dataset'; NULL: none is stored, and one is built as
   * 'report' says. */
  enum gpnn_status (*load)(const void *context, const struct gpnn_dataset *dataset,
                           struct gpnn_search **search, struct gpnn_error *err);
  const void *context; /* of load() */
};

/* Makes 'source' the source of 'rows', all rows of a dataset, and gives it views of all targets,
 * with all rows.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_dataset_set_views(struct gpnn_dataset_source *source,
                                                        struct gpnn_dataset *rows,
                                                        struct gpnn_error *err);

/* Makes 'source', whose number of targets is set, the source of views that are still zeroed but for
 * their targets.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_dataset_new_views(struct gpnn_dataset_source *source,
                                                        struct gpnn_error *err);

/* How many different values 'key' has where 'y' is not NaN (n each), at most GPNN_DATASET_GROUPS.
 */
size_t gpnn_dataset_count_groups(size_t n, const uint64_t *key, const double *y);

/* True if the search of the source of 'dataset' is over what the dataset sees of its rows. */
bool gpnn_dataset_sees_as_search(const struct gpnn_dataset *dataset);

/* Lists what the standardised inputs of a dataset are, as its schema and scaling say; sets its
 * 'coordinates' and 'n_groups'.  The caller frees '*list', which is NULL after whitening.
 * GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_dataset_list_coordinates(struct gpnn_dataset *dataset,
                                                               struct gpnn_coordinate **list,
                                                               struct gpnn_error *err);

#endif
