/*
 * cli_private: the parts of the command line that cli.c puts together.
 */
#ifndef GPNN_CMD_COMMON_CLI_PRIVATE_H
#define GPNN_CMD_COMMON_CLI_PRIVATE_H

#include "base/status.h"
#include "cmd/common/cli.h"

/* Exit statuses, apart from EXIT_SUCCESS. */
enum { EXIT_WORK = 1, EXIT_USAGE = 2, EXIT_LIMIT = 3 };

enum { CLI_MAX_OPTIONS = 64 };

/* A row and the struct that its value goes to. */
struct cli_row {
  const struct cli_option *option;
  void *arguments;
  int usual; /* default of a choice */
};

/* ---- read.c --------------------------------------------------------------------------------- */

/* The tool's own rows, which come first, and the shared ones it wants; returns their number. */
size_t cli_rows(struct cli *cli, void *arguments, struct cli_row rows[CLI_MAX_OPTIONS]);

/* Reads options and operands.  False after saying what is wrong. */
bool cli_read(struct cli *cli, size_t n, const struct cli_row rows[], int argc, char **argv);

/* ---- value.c -------------------------------------------------------------------------------- */

/* Where the value of a row is kept. */
void *cli_value(const struct cli_row *row);

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

/* Prints the warnings that were kept for the end. */
void cli_print_warnings(const struct cli *cli);

/* ---- warnings.c ------------------------------------------------------------------------------ */

/*
 * Warnings that wait until a tool ends, so that one about several targets is a single line, and
 * that a report can list them all.  A zeroed object is empty; it belongs to one thread at a time.
 */
enum { WARNINGS_BYTES = GPNN_ERROR_BYTES + 256, WARNINGS_NAMES = 3 };

struct warning {
  const char *kind; /* borrowed: warnings of one kind have the same pointer */
  char *text;       /* owned: that about the first target */
  bool differs;     /* the texts about other targets are not the same */
  size_t n_targets; /* 0: it is not about a target */
  char names[WARNINGS_NAMES][GPNN_MASK_BYTES]; /* of the first targets, masked */
};

struct warnings {
  size_t n, capacity;
  struct warning *of; /* owned */
};

/* Adds a warning about 'target' (NULL: about none).  One of the same kind about another target only
 * gets this target's name.  False if there is not enough memory: then say it at once. */
bool warnings_add(struct warnings *warnings, const char *kind, const char *text,
                  const char *target);

/* Warning 'i' in words, "targets 'a', 'b' and 12 more: ...".  If its texts differ, it is that about
 * the first target, and says so.  Returns 'text'. */
char *warnings_text(const struct warnings *warnings, size_t i, char text[2 * WARNINGS_BYTES]);

void warnings_release(struct warnings *warnings);

#endif
