/*
 * steps: the tools that gpnn runs, as commands, and the options that it hands on to them.
 */
#ifndef GPNN_CMD_GPNN_STEPS_H
#define GPNN_CMD_GPNN_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/child.h"
#include "base/status.h"
#include "cmd/common/cli.h"
#include "cmd/common/option.h"
#include "cmd/gpnn/places.h"

/* ---- the words of a command, to be run or to be shown ---------------------------------------- */

/* A zeroed object is empty and may be released.  Running out of memory shows only in
 * command_check(): until then nothing needs to be checked. */
struct command {
  size_t n, capacity;
  char **words; /* owned, as they are; a NULL follows the last */
  bool failed;
};

/* Appends a word. */
void command_add(struct command *command, const char *word);

/* Appends several words; a NULL among them ends them. */
#define COMMAND_ADD(command, ...) \
  command_add_words(command, (const char *const[]){__VA_ARGS__, NULL})
void command_add_words(struct command *command, const char *const *words);

/* Appends an option: "-y" and "cnt", or "--drop=id" where it has no letter; 'text' NULL: no value.
 */
void command_add_option(struct command *command, const struct cli_option *option, const char *text);

/* Appends a file as an operand: one that begins with a dash, which is not standard input or output,
 * gets a directory before it. */
void command_add_file(struct command *command, const char *path);

GPNN_MUST_CHECK enum gpnn_status command_check(const struct command *command,
                                               struct gpnn_error *err);

/* The command as a line that a shell understands, without a line end; for the caller to free. NULL:
 * there is no memory. */
char *command_line(const struct command *command);

void command_release(struct command *command);

/* ---- steps ----------------------------------------------------------------------------------- */

enum step { STEP_INDEX, STEP_FIT, STEP_CALIBRATE, STEP_PREDICT, STEPS };

/* "index", "fit" ... */
const char *steps_name(enum step step);

/* The name of an option, given on the command line, of which only a step that is not run has use;
 * NULL if there is none.  Predictions are made if 'predicts'. */
const char *steps_misplaced(const struct cli *cli, bool predicts);

/* Appends to 'command', which is empty, the tool of a step and the options that it is handed on. */
void steps_begin(const struct cli *cli, enum step step, struct command *command);

/* Appends to 'command' how to run a step on 'files'.  Where these have no 'fitted', gpnn-fit writes
 * to standard output and gpnn-calibrate reads standard input; where they have no 'predictions',
 * gpnn-predict writes to standard output too; where they have a 'model', it needs no parameters.
 * 'places' has the tables. */
void steps_command(const struct cli *cli, const struct places *places, const struct files *files,
                   enum step step, struct command *command);

/* Appends to 'command' how to make the model of index and parameters. */
void steps_pack_command(const struct files *files, struct command *command);

/* Runs a command that is, or belongs to, a step: outcomes as of steps_run(). */
GPNN_MUST_CHECK enum gpnn_status steps_run_command(struct command *command, enum step step,
                                                   int standard_output, struct gpnn_error *err);
/* Appends how gpnn was run, without the options that are of the steps in 'but' (a bit each) and,
 * unless 'with_files', without its tables. */
void steps_given(const struct cli *cli, unsigned but, bool with_files, struct command *command);

/* Appends an option as it was given to gpnn, if it was. */
void steps_hand_on(const struct cli *cli, const char *name, struct command *command);

/* Lets the steps up to 'last' read their options, and do nothing else.  Outcomes as of
 * steps_run(). */
GPNN_MUST_CHECK enum gpnn_status steps_check(const struct cli *cli, const struct places *places,
                                             enum step last, struct gpnn_error *err);

/* Runs a step on the working files.  It has our standard streams, so that it says itself why it
 * fails: then the message in 'err' is empty.  GPNN_EINVAL: the command line is wrong; GPNN_EIO: the
 * work failed.  GPNN_ELIMIT: more rows lie far from training rows than allowed, and GPNN_EEXTERNAL:
 * the tool is missing, or was ended by a signal; there is a message then. */
GPNN_MUST_CHECK enum gpnn_status steps_run(const struct cli *cli, const struct places *places,
                                           enum step step, struct gpnn_error *err);

/* How predictions that a step has written are read: gpnn-predict writes its table as usual,
 * whatever it reads. */
struct gpnn_table_options steps_predictions_table(const struct cli *cli);

/* Runs another tool, the first word of 'command', and keeps what it writes in 'child', which is
 * zeroed and which the caller releases.  GPNN_EIO: the work failed, and the message is the tool's;
 * otherwise outcomes as of gpnn_child_run(). */
GPNN_MUST_CHECK enum gpnn_status steps_run_tool(struct command *command, struct gpnn_child *child,
                                                struct gpnn_error *err);

#endif
