/*
 * monitor: gpnn-eval --monitor: a night's scores in a history, and whether they lie outside chance.
 */
#ifndef GPNN_CMD_EVAL_MONITOR_H
#define GPNN_CMD_EVAL_MONITOR_H

#include "cmd/eval/eval.h"

/* What is counted besides the scores. */
struct monitor {
  size_t far; /* the column that says which rows are far from the training rows; SIZE_MAX: none */
  size_t n_na, n_flagged, n_far; /* rows without prediction; those that are far or not; far */
};

/* Checks and completes the arguments. */
bool monitor_resolve(const struct cli *cli, struct eval_arguments *a);

/* GPNN_EINVAL: there are several targets. */
GPNN_MUST_CHECK enum gpnn_status monitor_find(struct monitor *monitor,
                                              const struct gpnn_predictions *predictions,
                                              const struct gpnn_table *table,
                                              struct gpnn_error *err);

/* Counts a row. */
GPNN_MUST_CHECK enum gpnn_status monitor_count(struct monitor *monitor,
                                               const struct gpnn_predictions *predictions,
                                               const struct gpnn_table *table,
                                               const struct gpnn_record *record,
                                               struct gpnn_error *err);

/* Adds the night to its history, and raises an alarm if it is outside; 'target' is the name of the
 * target and 'n_read' the number of rows. */
GPNN_MUST_CHECK enum gpnn_status
monitor_finish(const struct monitor *monitor, const struct cli *cli, const struct eval_arguments *a,
               const char *target, size_t n_read, struct scores_cell *cell, struct gpnn_error *err);

#endif
