/*
 * forget: whether a model would do better without its older rows, as after a break in the data.
 */
#ifndef CMD_GPNN_FORGET_H
#define CMD_GPNN_FORGET_H

#include <stddef.h>

#include "base/status.h"
#include "cmd/common/cli.h"

struct forget_trial {
  const struct cli *cli;
  const char *model, *table;       /* the model, and rows that it has not seen */
  const char *before;              /* its predictions of these */
  const char *index, *predictions; /* files for what is tried */
  size_t n_rows;                   /* of the model, those held out included */
  size_t n_targets, target;        /* that it is of, and the one that counts */
  const char *const *names;        /* of the targets */
};

/*
 * Tries the newest half of the rows with the parameters as they are, a quarter, and so on down to
 * 100 rows.  '*n' becomes how many to keep: those that give the new rows the highest densities, if
 * that is more than all give them, by 0.01 and by three standard errors of the paired difference,
 * and squared errors are smaller by three of theirs, as densities alone would prefer a vague model
 * where targets are wrong; or else all.  Outcomes as of steps_run_tool(), but that a model cannot
 * be tried with fewer rows is none.
 */
GPNN_MUST_CHECK enum gpnn_status forget_find(const struct forget_trial *trial, size_t *n,
                                             struct gpnn_error *err);

#endif
