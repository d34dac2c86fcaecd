/*
 * cli_private: the parts of the command line that cli.c puts together.
 */
#ifndef GPNN_CMD_COMMON_CLI_PRIVATE_H
#define GPNN_CMD_COMMON_CLI_PRIVATE_H

#include "base/status.h"
#include "cmd/common/cli.h"
#include "cmd/common/warnings.h"

/* Exit statuses, apart from EXIT_SUCCESS. */
enum { EXIT_WORK = 1, EXIT_USAGE = 2 };

enum { CLI_MAX_OPTIONS = 64 };

/* A row and the struct that its value goes to. */
struct cli_row {
  const struct cli_option *option;
  void *arguments;
  int usual; /* default of a choice */
};

/* Where the value of a row is kept. */
void *cli_value(const struct cli_row *row);

/* ---- read.c --------------------------------------------------------------------------------- */

/* The tool's own rows, which come first, and the shared ones it wants; returns their number. */
size_t cli_rows(struct cli *cli, void *arguments, struct cli_row rows[CLI_MAX_OPTIONS]);

/* Reads options and operands.  False after saying what is wrong. */
bool cli_read(struct cli *cli, size_t n, const struct cli_row rows[], int argc, char **argv);

/* ---- value.c -------------------------------------------------------------------------------- */

/* Sets the value of a row as 'text' says; NULL: none was given.  False after saying what is wrong
 * with it. */
bool cli_set_value(const struct cli *cli, const struct cli_row *row, const char *text);

enum { CLI_WORDS_BYTES = 256 };

/* "a, b or c". */
const char *cli_list_words(char text[CLI_WORDS_BYTES], const struct cli_word *words);

/* ---- help.c --------------------------------------------------------------------------------- */

void cli_print_help(const struct cli_tool *tool, size_t n, const struct cli_row rows[]);
void cli_print_version(const struct cli_tool *tool);

/* ---- message.c ------------------------------------------------------------------------------ */

/* Says why the work failed, whatever --quiet says. */
GPNN_PRINTF(2, 3) void cli_fail(const struct cli *cli, const char *format, ...);

/* Prints the warnings that were kept for the end. */
void cli_print_warnings(const struct cli *cli);

#endif
