/*
 * workflow: gpnn, from its arguments to predictions and report.
 */
#ifndef GPNN_CMD_GPNN_WORKFLOW_H
#define GPNN_CMD_GPNN_WORKFLOW_H

#include <stdbool.h>

#include "base/status.h"
#include "cmd/common/cli.h"
#include "cmd/common/skip.h"
#include "cmd/gpnn/findings.h"
#include "cmd/gpnn/places.h"

struct workflow_arguments {
  const char *save, *update, *forget, *page; /* NULL: not given */
  /* Of options that are handed on as they stand on the command line (struct cli_given); nothing
   * looks at these. */
  const char *handed_on;
  bool classes, append, unique;
  bool force; /* replace a model of another target or other inputs */
  enum skip_bad skip_bad;
};

/* Checks the arguments: a struct cli_tool's 'resolve'. */
bool workflow_resolve(const struct cli *cli, void *arguments);

/* Runs the other tools and reports: a struct cli_tool's 'run'. */
GPNN_MUST_CHECK enum gpnn_status workflow_run(const struct cli *cli, void *arguments,
                                              struct gpnn_error *err);

/* ---- update.c: a model that was kept, brought up to date ------------------------------------- */

/* Refuses what an update has no use for. */
bool update_resolve(const struct cli *cli);

/*
 * Predicts the rows of 'table' with the model at 'model', adds them to it, leaves out those that
 * 'forget' says as gpnn-index does (NULL: none), and calibrates it; where the predictions were
 * worse than expected by more than chance, or there are few rows to calibrate on, the parameters
 * are estimated again, from what they were.  Says which and why, or reports it as JSON.  The model
 * is replaced at once, in the end; another update of it waits until then.
 *
 * GPNN_EIO: the model cannot be locked or replaced; outcomes of steps_run() otherwise.
 */
GPNN_MUST_CHECK enum gpnn_status update(const struct cli *cli, const char *model, const char *table,
                                        const char *forget, struct gpnn_error *err);

/* ---- effects.c: whether groups have effects that nobody said --------------------------------- */

/*
 * Where the working index has inputs that look like names of groups (estimate/group_effects.h),
 * and no option rules that out, runs the steps once more with effects of these groups.  The rows
 * that both indexes hold out decide which files are the working ones from then on; 'trial' says
 * what was found.  That a model with effects cannot be made is no failure.  GPNN_ENOMEM, and
 * outcomes of open_files() for the files that were there before.
 */
GPNN_MUST_CHECK enum gpnn_status effects_try(const struct cli *cli, struct places *places,
                                             struct effects_trial *trial, struct gpnn_error *err);

#endif
