/*
 * steps: the tools that gpnn runs, and the options that it hands on to them.
 */
#ifndef GPNN_CMD_GPNN_STEPS_H
#define GPNN_CMD_GPNN_STEPS_H

#include "cmd/common/cli.h"
#include "cmd/gpnn/command.h"
#include "cmd/gpnn/places.h"

enum step { STEP_INDEX, STEP_FIT, STEP_CALIBRATE, STEP_PREDICT, STEPS };

/* "index", "fit" ... */
const char *steps_name(enum step step);

/* The name of an option, given on the command line, of which only a step that is not run has use;
 * NULL if there is none.  Predictions are made if 'predicts'. */
const char *steps_misplaced(const struct cli *cli, bool predicts);

/* Appends to 'command' how to run a step on 'files'.  Where these have no 'fitted', gpnn-fit writes
 * to standard output and gpnn-calibrate reads standard input; where they have no 'predictions',
 * gpnn-predict writes to standard output too.  'places' has the tables. */
void steps_command(const struct cli *cli, const struct places *places, const struct files *files,
                   enum step step, struct command *command);

/* Lets the steps up to 'last' read their options, and do nothing else.  Outcomes as of
 * steps_run(). */
GPNN_MUST_CHECK enum gpnn_status steps_check(const struct cli *cli, const struct places *places,
                                             enum step last, struct gpnn_error *err);

/* Runs a step on the working files.  It has our standard streams, so that it says itself why it
 * fails: then the message in 'err' is empty.  GPNN_EINVAL: the command line is wrong; GPNN_EIO: the
 * work failed.  GPNN_EEXTERNAL: the tool is missing, or was ended by a signal; there is a message
 * then. */
GPNN_MUST_CHECK enum gpnn_status steps_run(const struct cli *cli, const struct places *places,
                                           enum step step, struct gpnn_error *err);

#endif
