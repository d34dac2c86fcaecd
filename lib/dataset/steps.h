/*
 * steps: what is done to the inputs of a row, one step after another, before they are standardised:
 * outliers are clipped to limits, then long tails are compressed.
 *
 * A step learns some numbers of each feature from the training rows, as the steps before it leave
 * them; these are a section of the index (gpnn-index(5)), and gpnn-info shows them.  All steps are
 * in one table (steps.c); each has a source of its own.
 */
#ifndef GPNN_DATASET_STEPS_H
#define GPNN_DATASET_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_feature;    /* table/schema.h */
struct gpnn_row_source; /* stats/row_source.h */

/* In the order in which they are learnt and applied. */
enum gpnn_step_number { GPNN_STEP_LIMITS, GPNN_STEP_TAILS, GPNN_STEPS };

/* The numbers that a step has learnt.  A zeroed object does nothing and may be released. */
struct gpnn_learnt {
  size_t n_features;
  size_t n;        /* numbers */
  double *numbers; /* owned; NULL: the step leaves all features as they are */
};

/* Which steps are wanted, where they are needed. */
struct gpnn_step_options {
  struct gpnn_outlier_columns *outliers; /* limits, and where they are described; NULL: none */
  size_t n_described; /* columns that follow the features, as targets do, and only have their
                         outliers described; 'features' has them too, and a cell may be NaN */
  bool compresses;    /* long tails */
};

enum { GPNN_STEP_SHOWN = 2 };

struct gpnn_step {
  const char *name;                   /* of the list in which gpnn-info shows it */
  const char *shown[GPNN_STEP_SHOWN]; /* names of the numbers of a feature there */

  /* Learns the first 'n' columns of 'rows', described by 'features' (NULL: numbers without unit),
   * if the step is wanted; 'learnt' is zeroed, and stays so if there is nothing to do. GPNN_ENOMEM,
   * and whatever 'rows' fails with. */
  enum gpnn_status (*learn)(struct gpnn_learnt *learnt, const struct gpnn_step_options *options,
                            size_t n, const struct gpnn_feature *features,
                            const struct gpnn_row_source *rows, struct gpnn_error *err);

  /* True if numbers that were read from a file, all of them finite, could have been learnt. */
  bool (*is_valid)(const struct gpnn_learnt *learnt);

  /* True if feature 'j' is changed at all. */
  bool (*has)(const struct gpnn_learnt *learnt, size_t j);

  /* A value of feature 'j', changed; and the one that counts when later steps and moments are
   * learnt. */
  double (*apply)(const struct gpnn_learnt *learnt, size_t j, double value);
  double (*stand_in)(const struct gpnn_learnt *learnt, size_t j, double value);

  /* A value of feature 'j' that becomes 'value'; NULL: one that it can become is itself. */
  double (*undo)(const struct gpnn_learnt *learnt, size_t j, double value);

  /* Number 'k' of those shown of feature 'j'. */
  double (*show)(const struct gpnn_learnt *learnt, size_t j, size_t k);
};

const struct gpnn_step *gpnn_step(enum gpnn_step_number number);

/* ---- what learning the limits found -------------------------------------------------------- */

/* The outliers of a column. */
struct gpnn_outliers {
  size_t column;
  size_t n;
  double value;     /* the most frequent of the least and greatest outliers on either side */
  size_t n_equal;   /* cells of that value */
  double low, high; /* range of the other cells */
};

/* The columns that got limits, or have outliers that are only described.  A zeroed object is empty
 * and may be released. */
struct gpnn_outlier_columns {
  size_t n;
  struct gpnn_outliers *of; /* owned; n, by column */
};

void gpnn_outlier_columns_release(struct gpnn_outlier_columns *outliers);

#ifdef __cplusplus
}
#endif

#endif
