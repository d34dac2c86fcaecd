#include "cmd/gpnn/forget.h"

#include <stdio.h>

#include "assess/scored.h"
#include "cmd/gpnn/steps.h"

/* Runs a tool whose words so far are in 'command', and releases these. */
static enum gpnn_status run(const struct forget_trial *trial, struct command *command,
                            const char *table, const char *output, struct gpnn_error *err)
{
  struct gpnn_child child = {0};
  steps_hand_on(trial->cli, "threads", command);
  steps_hand_on(trial->cli, "memory", command);
  COMMAND_ADD(command, "-q", "-o");
  command_add_file(command, output);
  if (table != NULL) command_add_file(command, trial->index);
  command_add_file(command, table != NULL ? table : trial->model);
  enum gpnn_status status = steps_run_tool(command, &child, err);
  gpnn_child_release(&child);
  command_release(command);
  return status;
}

/* Predicts the new rows from the 'n' newest of the model. */
static enum gpnn_status predict(const struct forget_trial *trial, size_t n, struct gpnn_error *err)
{
  struct command forget = {0}, predict = {0};
  char number[24];
  snprintf(number, sizeof number, "%zu", trial->n_rows - n);
  COMMAND_ADD(&forget, "gpnn-index", "--forget", number);
  enum gpnn_status status = run(trial, &forget, NULL, trial->index, err);
  if (status != GPNN_OK) return status;
  COMMAND_ADD(&predict, "gpnn-predict", "--names", "--skip-bad");
  return run(trial, &predict, trial->table, trial->predictions, err);
}

enum gpnn_status forget_find(const struct forget_trial *trial, size_t *n, struct gpnn_error *err)
{
  enum { FEWEST = 100 };
  const struct gpnn_table_options options = steps_predictions_table(trial->cli);
  enum gpnn_status status = GPNN_OK;
  double best = 0;
  *n = trial->n_rows;
  for (size_t k = trial->n_rows / 2; k >= FEWEST && status == GPNN_OK; k /= 2) {
    struct gpnn_scored_gain gain;
    status = predict(trial, k, err);
    if (status == GPNN_EIO) { /* as where no row of a class is left */
      cli_note(trial->cli, "fewer than the %zu newest rows are not tried: %s", 2 * k, err->text);
      return GPNN_OK;
    }
    if (status == GPNN_OK)
      status = gpnn_scored_compare(&gain, trial->n_targets, trial->names, trial->target,
                                   trial->before, trial->predictions, &options, err);
    if (status != GPNN_OK || !gpnn_scored_gain_is_certain(&gain) || gain.nll <= best) continue;
    best = gain.nll;
    *n = k;
  }
  return status;
}
