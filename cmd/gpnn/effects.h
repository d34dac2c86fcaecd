/*
 * effects: whether groups of rows have effects of their own, which nobody said: a second model is
 * made, and the better one kept.
 */
#ifndef GPNN_CMD_GPNN_EFFECTS_H
#define GPNN_CMD_GPNN_EFFECTS_H

#include "base/status.h"
#include "cmd/common/cli.h"
#include "cmd/gpnn/findings.h"
#include "cmd/gpnn/places.h"

/*
 * Where the working index has inputs that look like names of groups (estimate/group_candidates.h),
 * and no option rules that out, runs the steps once more with effects of these groups.  The rows
 * that both indexes hold out decide which files are the working ones from then on; 'trial' says
 * what was found.  That a model with effects cannot be made is no failure.  GPNN_ENOMEM, and
 * outcomes of open_files() for the files that were there before.
 */
GPNN_MUST_CHECK enum gpnn_status effects_try(const struct cli *cli, struct places *places,
                                             struct effects_trial *trial, struct gpnn_error *err);

#endif
