/*
 * predictions_private: what predictions.c and predictions_classes.c share.
 */
#ifndef GPNN_TABLE_PREDICTIONS_PRIVATE_H
#define GPNN_TABLE_PREDICTIONS_PRIVATE_H

#include "table/predictions.h"

/* Finds the part of 'name' between 'prefix' and the suffix "_TARGET" (no suffix if 'target' is
 * NULL); false if the name lacks either. */
bool gpnn_predictions_strip(const char *name, const char *prefix, const char *target,
                            const char **text, size_t *length);

/* Finds the column, 'first' or after it, whose name is 'prefix', 'what' ('what_length' bytes) and
 * the target's suffix.  GPNN_END: there is none.  GPNN_EINVAL: there are several. */
GPNN_MUST_CHECK enum gpnn_status gpnn_predictions_find_affixed(const struct gpnn_table *table,
                                                               size_t first, const char *prefix,
                                                               const char *what, size_t what_length,
                                                               const char *target, size_t *column,
                                                               struct gpnn_error *err);

/* True if column 'j' is the mean or the label of one of several targets. */
bool gpnn_predictions_is_target(const struct gpnn_table *table, size_t j);

/* Finds the other columns of a target that is classes, whose label is column 'label'.  Outcomes as
 * gpnn_predictions_find(); after a failure, too, gpnn_predictions_free_classes() is due. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_predictions_find_classes(struct gpnn_predictions_target *target,
                              const struct gpnn_table *table, size_t label, struct gpnn_error *err);

/* True if the table has predictions of one target, which is classes; '*label' is its label. */
bool gpnn_predictions_are_classes(const struct gpnn_table *table, size_t *label);

/* Reads a number that may be infinite; '*value' is 'missing' if there is none.  GPNN_EDATA: it is
 * not a number. */
GPNN_MUST_CHECK enum gpnn_status gpnn_predictions_read_infinite(const struct gpnn_table *table,
                                                                const struct gpnn_record *record,
                                                                size_t column, double missing,
                                                                double *value,
                                                                struct gpnn_error *err);

/* NULL is allowed. */
void gpnn_predictions_free_classes(struct gpnn_predictions_classes *classes);

#endif
