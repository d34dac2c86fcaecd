/*
 * dataset_private: the source of a dataset: where its other views and its search come from.
 */
#ifndef GPNN_DATASET_DATASET_PRIVATE_H
#define GPNN_DATASET_DATASET_PRIVATE_H

#include "dataset/dataset.h"

/* Shared by all views of a dataset. */
struct gpnn_dataset_source {
  const struct gpnn_dataset *first; /* the view of the first target */
  struct gpnn_dataset *views;       /* owned array, of the further targets */
  struct gpnn_search_report report;
  struct gpnn_search_metric metric; /* of the search; borrowed */
  /* Loads the stored search; NULL: none is stored, and one is built as 'report' says. */
  enum gpnn_status (*load)(const void *context, struct gpnn_search **search,
                           struct gpnn_error *err);
  const void *context; /* of load() */
};

/* Makes the views of the further targets of 'first', and 'source' the source of all.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_dataset_set_views(struct gpnn_dataset_source *source,
                                                        struct gpnn_dataset *first,
                                                        struct gpnn_error *err);

#endif
