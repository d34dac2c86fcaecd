/*
 * update: a model that was kept, brought up to date with the rows of a table.
 */
#ifndef CMD_GPNN_UPDATE_H
#define CMD_GPNN_UPDATE_H

#include <stdbool.h>

#include "base/status.h"
#include "cmd/common/cli.h"

/* Refuses what an update has no use for. */
bool update_resolve(const struct cli *cli);

/*
 * Predicts the rows of 'table' with the model at 'model', adds them to it, leaves out those that
 * 'forget' says as gpnn-index does (NULL: none), and calibrates it; where
 * the predictions were worse than expected by more than chance, or there are few rows to calibrate
 * on, the parameters are estimated again, from what they were.  Says which and why, or reports it
 * as JSON.  The model is replaced at once, in the end; another update of it waits until then.
 *
 * GPNN_EIO: the model cannot be locked or replaced; outcomes of steps_run() otherwise.
 */
GPNN_MUST_CHECK enum gpnn_status update(const struct cli *cli, const char *model, const char *table,
                                        const char *forget, struct gpnn_error *err);

#endif
