/*
 * cli: what every tool's command line shares: the order in which a tool works, messages, and the
 * exit status.
 *
 * A tool is a table of options (option.h), a function that makes sense of them, and one that does
 * the work; its main() is a call of cli_main(), which reads the command line, calls both, and turns
 * what they return into the exit status.
 */
#ifndef GPNN_CMD_COMMON_CLI_H
#define GPNN_CMD_COMMON_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "cmd/common/option.h"
#include "cmd/common/output.h"
#include "table/stream.h"
#include "table/table.h"

struct cli;
struct json;     /* cmd/common/json.h */
struct warnings; /* cmd/common/cli_private.h */

/* Groups of shared options; -h -V -q -v are always there. */
enum {
  CLI_THREADS = 1,   /* -j */
  CLI_SEEDED = 2,    /* -s */
  CLI_OUTPUT = 4,    /* -o */
  CLI_TABLE = 8,     /* -d, --no-header, --na and how else values are written */
  CLI_PROGRESS = 16, /* --progress */
  CLI_REPORT = 32,   /* --json, of tools that write something else to standard output */
};

struct cli_tool {
  const char *name;     /* "gpnn-x", or "gpnn-x mode" where modes have options of their own */
  const char *synopsis; /* what follows the name in usage */
  const char *purpose;  /* a sentence or two, in lines of at most 80 columns */
  const char *related;  /* what other tools there are, likewise; or NULL */
  bool shares_page;     /* a mode that the manual page of "gpnn-x" describes */
  unsigned groups;
  size_t min_operands, max_operands;
  /* The words that the first operand may be, from 0 on; then NULL.  NULL if it is a file. */
  const char *(*first_operand)(size_t i);
  const struct cli_option *options; /* its own; not repeating those of the groups */
  size_t n_options;
  /*
   * Checks the arguments against each other and completes them, before any file is opened.  False
   * after telling the user what is wrong (cli_refuse()).  NULL if there is nothing to check.
   */
  bool (*resolve)(const struct cli *cli, void *arguments);
  /* Does the work, and releases all that it took. */
  enum gpnn_status (*run)(const struct cli *cli, void *arguments, struct gpnn_error *err);
};

/* The options of a struct cli_tool and their number. */
#define CLI_OPTIONS(rows) .options = (rows), .n_options = sizeof(rows) / sizeof(rows)[0]

enum cli_progress { CLI_PROGRESS_AUTO, CLI_PROGRESS_ALWAYS, CLI_PROGRESS_NEVER };

/* An option as it was given; the text of its value, or NULL. */
struct cli_given {
  const struct cli_option *option;
  const char *text;
};

enum { CLI_GIVEN_MAX = 128 };

struct cli {
  const struct cli_tool *tool;
  bool quiet, verbose;
  int threads;
  uint64_t seed;
  const char *output; /* "-" unless -o */
  const char *about;  /* what messages begin with, set in copies; or NULL */
  const char
      *target; /* the one of several targets that messages are about, set in copies; or NULL */
  struct warnings *warnings; /* those to be told at the end */
  struct json *report;       /* an open object, for what is reported; NULL: notes tell it */
  struct gpnn_table_options table;
  char *na; /* owned; what a missing value is written as */
  size_t n_operands;
  char **operands;
  uint64_t given; /* for cli_given(): a bit for each of the tool's options */
  size_t n_as_given;
  struct cli_given as_given[CLI_GIVEN_MAX]; /* in their order */
  struct {                                  /* as it was given, for cli.c */
    bool help, version, no_header, json;
    struct cli_list na;
    size_t threads, memory; /* memory in bytes; 0: not given */
    enum cli_progress progress;
  } asked;
  struct cli_time {
    double wall, cpu;
  } started;
};

/*
 * Runs a tool from its command line to its exit status: 0 done, 1 the work failed, 2 the command
 * line is wrong, 3 done with an alarm.  'arguments' is the struct that the options refer to,
 * holding the defaults.
 */
int cli_main(const struct cli_tool *tool, void *arguments, int argc, char **argv);

/* A mode of a tool: a word that comes before options of its own. */
struct cli_mode {
  const char *name, *summary;
  int (*main)(int argc,
              char **argv); /* argv[0] is the tool's name; what follows comes after the mode */
};

/* The main() of a tool with modes; 'purpose' says what they have in common. */
int cli_main_modes(const char *name, const char *purpose, size_t n, const struct cli_mode modes[],
                   int argc, char **argv);

/* True if the tool's own option 'name' was given, whatever its value. */
bool cli_given(const struct cli *cli, const char *name);

/* The first of the tool's own options 'names', a list separated by commas, that was given; NULL:
 * none was. */
const char *cli_given_of(const struct cli *cli, const char *names);

/* The value of an option that takes one, the shared ones included, as it was given; NULL: it was
 * not. */
const char *cli_text_given(const struct cli *cli, const char *name);

/* The first option given, the shared ones included, that is of something (CLI_OF_...) that this run
 * lacks; NULL: none. */
const char *cli_misplaced(const struct cli *cli, unsigned lacks);

/* A mistake on the command line: one line and a hint at --help.  False, for resolve() to return. */
GPNN_PRINTF(2, 3) bool cli_refuse(const struct cli *cli, const char *format, ...);

/* Refuses 'output' if writing it would overwrite 'input' (NULL: none; "-": standard input, or a
 * file of that name), also where links, hard ones too, give the file another name. */
bool cli_check_overwrite(const struct cli *cli, const char *output, const char *input);

/* "gpnn-x: ..." on standard error: warnings unless --quiet, notes only with --verbose.  Warnings of
 * one kind (that is, one 'format') about several targets are a single line, at the end.  If there
 * is a report, warnings are part of it, and what notes would say should be too. */
GPNN_PRINTF(2, 3) void cli_warn(const struct cli *cli, const char *format, ...);
GPNN_PRINTF(2, 3) void cli_note(const struct cli *cli, const char *format, ...);

/* The same for the few lines that every run says, unless --quiet. */
GPNN_PRINTF(2, 3) void cli_say(const struct cli *cli, const char *format, ...);

/* "gpnn-x: " and 'text', which may have several lines and of which control characters are masked,
 * on standard error, whatever --quiet says.  A failure that is told like this is returned with an
 * empty message. */
void cli_tell(const struct cli *cli, char *text);

/* The most memory that this tool, or one that it has run, has had so far, in bytes. */
uint64_t cli_peak_memory(void);

/* Says why the work failed, whatever --quiet says. */
GPNN_PRINTF(2, 3) void cli_fail(const struct cli *cli, const char *format, ...);

enum { CLI_ABOUT_BYTES = 80 }; /* room for 'about' */

/* Operand 'i', or "-" where it is absent. */
const char *cli_operand(const struct cli *cli, size_t i);

#endif
