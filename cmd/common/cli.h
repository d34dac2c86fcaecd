/*
 * cli: what every tool's command line shares: options from one table, messages, the exit
 * status, standard output closed with its errors seen, unfinished files removed.
 *
 * A main has five steps: cli_begin() reads the options; open and check everything that can
 * be refused early; run; close; return cli_end().  getopt_long's arrays, --help and the
 * manual's checks all come from the table of options.
 */
#ifndef GPNN_CMD_COMMON_CLI_H
#define GPNN_CMD_COMMON_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "table/stream.h"
#include "table/table.h"

enum cli_type {
  CLI_FLAG,          /* bool */
  CLI_FLAG_OR,       /* enum cli_given: a flag, or with =WORD, which is 'argument' */
  CLI_TEXT,          /* const char * */
  CLI_COUNT,         /* size_t, within low and high */
  CLI_AUTO,          /* size_t as CLI_COUNT, or "auto", stored as 0 */
  CLI_REAL,          /* double, within low and high */
  CLI_SEED,          /* uint64_t */
  CLI_DELIMITER,     /* char: one byte, or "tab", "\t" */
  CLI_LIST,          /* struct cli_list: the option may be given several times */
  CLI_PROBABILITIES, /* struct cli_probabilities: P[,P...], each between 0 and 1, once */
};

enum cli_given { CLI_GIVEN_NOT, CLI_GIVEN_ALONE, CLI_GIVEN_WORD };

enum { CLI_LIST_ITEMS = 64, CLI_PROBABILITIES_MAX = 32 };

struct cli_list {
  size_t n;
  const char *items[CLI_LIST_ITEMS];
};

struct cli_probabilities {
  size_t n;
  double p[CLI_PROBABILITIES_MAX];
};

struct cli_option {
  const char *name; /* long name */
  char letter;      /* 0: long only */
  enum cli_type type;
  void *value;          /* where it goes, already holding the default */
  const char *argument; /* name of the argument in help; NULL for a flag */
  const char *help;     /* what it does, with the default in parentheses */
  double low, high;     /* CLI_COUNT, CLI_AUTO and CLI_REAL: the range allowed */
};

/* Groups of shared options; -h -V -q -v are always there. */
enum {
  CLI_THREADS = 1,   /* -j */
  CLI_SEEDED = 2,    /* -s */
  CLI_OUTPUT = 4,    /* -o */
  CLI_TABLE = 8,     /* -d, --no-header, --na */
  CLI_PROGRESS = 16, /* --progress */
};

struct cli_tool {
  const char *name;     /* "gpnn-x", or "gpnn-x mode" where modes have options of their own */
  const char *synopsis; /* what follows the name in usage */
  const char *purpose;  /* one sentence or two, lines of at most 80 columns */
  unsigned groups;
  size_t min_operands, max_operands;
};

enum cli_progress { CLI_PROGRESS_AUTO, CLI_PROGRESS_ALWAYS, CLI_PROGRESS_NEVER };

struct cli {
  const struct cli_tool *tool;
  bool quiet, verbose;
  int threads;
  uint64_t seed;
  const char *output; /* "-" unless -o */
  const char *about;  /* what messages begin with, set in copies for a target of several; or NULL */
  struct gpnn_table_options table;
  const char *na;
  enum cli_progress progress;
  size_t n_operands;
  char **operands;
  struct timespec_pair {
    double wall, cpu;
  } started;
};

enum { CLI_ABOUT_BYTES = GPNN_MASK_BYTES + 16 };

/* "target NAME" in 'text', for 'about'. */
const char *cli_target(char text[CLI_ABOUT_BYTES], const char *name);

/*
 * Reads the command line.  Returns true to go on; false when the tool is done already
 * (--help, --version, a mistake), with the exit status in '*status'.
 */
bool cli_begin(struct cli *cli, const struct cli_tool *tool, const struct cli_option *options,
               size_t n_options, int argc, char **argv, int *status);

/* Finds 'text' among words[n]; '*at' is its number there.  False if it is none of them: '*at' is as
 * it was. */
bool cli_find_word(const char *text, size_t n, const char *const words[], size_t *at);

/* Whether 'output' is no regular file, or another one than 'input' ("-": standard input or a file
 * of that name; NULL: none), which it would replace by something of another kind; if not, says so
 * as cli_usage_error().  Names do not matter: links, hard ones too, are the file that they lead to.
 */
bool cli_spares(const struct cli *cli, const char *output, const char *input);

/* A mistake on the command line: one line, a hint at --help, and the exit status 2. */
GPNN_PRINTF(2, 3) int cli_usage_error(const struct cli *cli, const char *format, ...);

/* "gpnn-x: ..." on standard error: warnings unless --quiet, notes only with --verbose. */
GPNN_PRINTF(2, 3) void cli_warn(const struct cli *cli, const char *format, ...);
GPNN_PRINTF(2, 3) void cli_note(const struct cli *cli, const char *format, ...);

/* Operand 'i', or "-" where it is absent. */
const char *cli_operand(const struct cli *cli, size_t i);

/*
 * Opens 'path' ("-": standard output) for writing.  Its unfinished file is removed should the tool
 * be interrupted.
 */
GPNN_MUST_CHECK enum gpnn_status cli_open_output(const char *path, struct gpnn_output **output,
                                                 struct gpnn_error *err);

/* Closes 'output' (may be NULL): completes it if 'status' is GPNN_OK, else leaves nothing
 * behind.  Returns 'status', or what closing came to. */
GPNN_MUST_CHECK enum gpnn_status cli_close_output(struct gpnn_output *output,
                                                  enum gpnn_status status, struct gpnn_error *err);

/* Names a variable that holds the path of an unfinished file (or NULL) as long as there is
 * one: the signals that can be caught and end a tool remove that file. */
void cli_guard(const char *volatile *path);

/* The process of another program that works for this one (0: none), which they end: nobody is left
 * to tell what it does. */
volatile pid_t *cli_helper(void);

/* Says what went wrong, if anything, prints the summary of --verbose, and returns the exit
 * status: the one place where a status becomes one. */
int cli_end(const struct cli *cli, enum gpnn_status status, const struct gpnn_error *err);

#endif
