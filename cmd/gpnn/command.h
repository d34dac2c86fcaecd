/*
 * command: the words of a command, to be run or to be shown.
 *
 * A zeroed object is empty and may be released.  Running out of memory shows only in
 * command_check(): until then nothing needs to be checked.
 */
#ifndef GPNN_CMD_GPNN_COMMAND_H
#define GPNN_CMD_GPNN_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "cmd/common/option.h"

struct command {
  size_t n, capacity;
  char **words; /* owned, as they are; a NULL follows the last */
  bool failed;
};

/* Appends a word. */
void command_add(struct command *command, const char *word);

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

#endif
