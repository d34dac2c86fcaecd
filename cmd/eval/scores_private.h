/*
 * scores_private: what scores_write.c, which writes, has from scores_numbers.c and
 * scores_classes.c, which know what.
 */
#ifndef GPNN_CMD_EVAL_SCORES_PRIVATE_H
#define GPNN_CMD_EVAL_SCORES_PRIVATE_H

#include "cmd/eval/scores.h"

/* Per level: coverage, width, score, and the last two in standardised units. */
enum {
  SCORES_VALUES =
      5 * (GPNN_METRICS_LEVELS + GPNN_PREDICTIONS_INTERVALS) + GPNN_METRICS_PIT_BINS + 20
};

/* Values with their names, ready to be written: one row of a table. */
struct scores_row {
  size_t n;
  struct scores_value {
    char name[64];
    double value;
    struct gpnn_field text; /* in place of the value, if its text is not NULL; borrowed */
  } values[SCORES_VALUES];
};

/* A point of the curve of a class. */
struct scores_point {
  size_t class;
  struct gpnn_roc_point point;
};

/* What tables with several rows are made from; zeroed at first, and released by
 * scores_parts_release(). */
struct scores_parts {
  size_t n;                             /* rows of the table */
  double *shares;                       /* owned; SCORES_PIT: form->bins */
  struct gpnn_confusion_class *classes; /* owned; SCORES_CLASSES: of all classes */
  struct scores_point *points;          /* owned; SCORES_ROC */
};

void scores_put(struct scores_row *row, const char *name, double value);
void scores_put_text(struct scores_row *row, const char *name, struct gpnn_field text);

/* All metrics of target 't' in a group, in the order in which they are written. */
GPNN_MUST_CHECK enum gpnn_status scores_list_numbers(const struct scores *scores,
                                                     const struct scores_form *form,
                                                     struct scores_group *group, size_t t,
                                                     struct scores_row *row,
                                                     struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status scores_list_classes(struct scores_cell *cell,
                                                     const struct gpnn_predictions_classes *names,
                                                     struct scores_row *row,
                                                     struct gpnn_error *err);

/* Prepares the rows of another table for a cell. */
GPNN_MUST_CHECK enum gpnn_status scores_prepare_numbers(struct scores_parts *parts,
                                                        const struct scores_form *form,
                                                        struct scores_cell *cell,
                                                        struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status
scores_prepare_classes(struct scores_parts *parts, const struct scores_form *form,
                       struct scores_cell *cell, const struct gpnn_predictions_classes *names,
                       struct gpnn_error *err);

/* Row 'i' of it; where there are no rows, 0 has the names of the columns. */
void scores_row_of_numbers(const struct scores_parts *parts, const struct scores_form *form,
                           const struct scores_cell *cell, size_t i, struct scores_row *row);
GPNN_MUST_CHECK enum gpnn_status
scores_row_of_classes(const struct scores_parts *parts, const struct scores_form *form,
                      const struct scores_cell *cell, const struct gpnn_predictions_classes *names,
                      size_t i, struct scores_row *row, struct gpnn_error *err);

void scores_parts_release(struct scores_parts *parts);

#endif
