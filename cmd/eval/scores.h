/*
 * scores: what gpnn-eval counts, for each target and each group of rows, and how it is written.
 */
#ifndef GPNN_CMD_EVAL_SCORES_H
#define GPNN_CMD_EVAL_SCORES_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/common/cli.h"
#include "stats/scores/classification.h"
#include "stats/scores/coverage.h"
#include "stats/scores/metrics.h"
#include "table/predictions.h"

/* What is written.  PIT is of numbers; CONFUSION, ROC and CLASSES are of classes. */
enum scores_table {
  SCORES_METRICS,
  SCORES_RELIABILITY,
  SCORES_PIT,
  SCORES_CONFUSION,
  SCORES_ROC,
  SCORES_CLASSES
};

/* One target in one group of rows. */
struct scores_cell {
  struct gpnn_metrics metrics;
  struct gpnn_coverage *given;         /* owned: the intervals that the table has */
  struct gpnn_classification *classes; /* owned: in place of both, if the target is classes */
  bool has_result;
  struct gpnn_classification_result result; /* once there is one */
};

/* The rows of one value of the --by column, or all rows. */
struct scores_group {
  char *name; /* owned; NULL: all rows */
  size_t name_length;
  struct scores_cell *cells; /* owned: one for each target */
};

/* A zeroed object may be released. */
struct scores {
  const struct gpnn_predictions *predictions; /* borrowed */
  struct cli_probabilities levels;
  bool ranks; /* rows of classes */
  struct scores_group all;
  struct scores_group *groups; /* owned; sorted by name */
  size_t n_groups, groups_capacity;
};

/* For what 'table' needs.  'predictions' must outlive 'scores', which is zeroed before. */
GPNN_MUST_CHECK enum gpnn_status scores_init(struct scores *scores,
                                             const struct gpnn_predictions *predictions,
                                             const struct cli_probabilities *levels,
                                             enum scores_table table, struct gpnn_error *err);

/* Counts a prediction of target 't' in all rows and, where 'name' is not NULL, in the group of
 * that name. */
GPNN_MUST_CHECK enum gpnn_status scores_add(struct scores *scores, size_t t,
                                            const struct gpnn_field *name,
                                            const struct gpnn_predictions_row *prediction,
                                            struct gpnn_error *err);

/* The same for a prediction of a class. */
GPNN_MUST_CHECK enum gpnn_status
scores_add_class(struct scores *scores, size_t t, const struct gpnn_field *name,
                 const struct gpnn_predictions_class_row *prediction, struct gpnn_error *err);

/* How many rows were counted in a cell. */
size_t scores_count(const struct scores_cell *cell);

void scores_release(struct scores *scores);

struct scores_form {
  enum scores_table table;
  bool json;
  size_t bins;           /* SCORES_PIT */
  double y_sd;           /* the unit of the standardised metrics; 0: none */
  double interval_level; /* of intervals whose columns do not name one; NaN: not known */
  char delimiter;
  const char *na; /* spelling of a missing value */
  const char *by; /* name of the column of groups; NULL: none */
};

GPNN_MUST_CHECK enum gpnn_status scores_write(struct scores *scores, const struct scores_form *form,
                                              struct gpnn_output *output, struct gpnn_error *err);

#endif
