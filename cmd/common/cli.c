#include "cmd/common/cli.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "base/threads.h"
#include "cmd/common/cli_signals.h"
#include "cmd/common/progress.h"
#include "linalg/blas_threads.h"
#include "search/search.h"
#include "version.h"

enum { EXIT_USAGE = 2, MAX_OPTIONS = 64, FIRST_LONG_ONLY = 256 };

/* ---- messages ----------------------------------------------------------------------------- */

GPNN_PRINTF(2, 0)
static void message(const struct cli *cli, const char *format, va_list args)
{
  char text[GPNN_ERROR_BYTES + 256] = "";
  if (cli->about != NULL) snprintf(text, CLI_ABOUT_BYTES + 2, "%s: ", cli->about);
  size_t used = strlen(text);
  vsnprintf(text + used, sizeof text - used, format, args);
  gpnn_mask_all(text, ""); /* names of files may be anything, and could command the terminal */
  progress_erase();
  const char *name = cli->tool->name;
  fprintf(stderr, "%.*s: %s\n", (int)strcspn(name, " "), name, text);
}

GPNN_PRINTF(2, 3)
static void say(const struct cli *cli, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  message(cli, format, args);
  va_end(args);
}

int cli_usage_error(const struct cli *cli, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  message(cli, format, args);
  va_end(args);
  fprintf(stderr, "try '%s --help'\n", cli->tool->name);
  return EXIT_USAGE;
}

void cli_warn(const struct cli *cli, const char *format, ...)
{
  if (cli->quiet) return;
  va_list args;
  va_start(args, format);
  message(cli, format, args);
  va_end(args);
}

void cli_note(const struct cli *cli, const char *format, ...)
{
  if (!cli->verbose) return;
  va_list args;
  va_start(args, format);
  message(cli, format, args);
  va_end(args);
}

const char *cli_target(char text[CLI_ABOUT_BYTES], const char *name)
{
  char shown[GPNN_MASK_BYTES];
  snprintf(text, CLI_ABOUT_BYTES, "target %s", gpnn_mask(shown, name, strlen(name)));
  return text;
}

/* ---- help --------------------------------------------------------------------------------- */

static void print_option(const struct cli_option *option)
{
  enum { HELP_COLUMN = 27 };
  char left[80];
  bool may_be = option->type == CLI_FLAG_OR;
  int used =
      snprintf(left, sizeof left, "  %c%c%s--%s%s%s%s", option->letter ? '-' : ' ',
               option->letter ? option->letter : ' ', option->letter ? ", " : "  ", option->name,
               may_be             ? "[="
               : option->argument ? " "
                                  : "",
               option->argument ? option->argument : "", may_be ? "]" : "");
  bool fits = used < HELP_COLUMN;
  printf("%-*s%s", HELP_COLUMN, left, fits ? "" : " ");
  printf("%s\n", option->help);
}

static void print_help(const struct cli_tool *tool, const struct cli_option *options, size_t n)
{
  printf("usage: %s %s\n%s\n\n", tool->name, tool->synopsis, tool->purpose);
  for (size_t i = 0; i < n; i++) print_option(&options[i]);
  size_t length = strcspn(tool->name, " ");
  const char *mode = tool->name + length;
  printf("\nManual: man %.*s%s%s, man gpnn\n", (int)length, tool->name, *mode != '\0' ? "-" : "",
         *mode != '\0' ? mode + 1 : "");
}

static void print_version(const struct cli_tool *tool)
{
  printf("%s (gpnn) %s\nparameters format 1, index format 1\nFAISS %s\n%s\n", tool->name,
         GPNN_VERSION, gpnn_search_engine_version(), gpnn_blas_version());
}

/* ---- values ------------------------------------------------------------------------------- */

static bool set_number(const struct cli *cli, const struct cli_option *option, const char *text)
{
  double value = 0;
  bool whole = option->type != CLI_REAL;
  bool good = gpnn_number_read(text, strlen(text), &value) == GPNN_NUMBER_OK &&
              value >= option->low && value <= option->high &&
              (!whole || value == (double)(size_t)value);
  if (!good) {
    char shown[GPNN_MASK_BYTES], low[GPNN_NUMBER_BYTES], high[GPNN_NUMBER_BYTES];
    gpnn_number_write(low, option->low);
    gpnn_number_write(high, option->high);
    cli_usage_error(cli, "option --%s: not %s from %s to %s%s: \"%s\"", option->name,
                    whole ? "a whole number" : "a number", low, high,
                    option->type == CLI_AUTO ? ", or auto" : "",
                    gpnn_mask(shown, text, strlen(text)));
    return false;
  }
  uint64_t exact = 0;
  if (whole) /* above 2^53 a double is not exact */
    *(size_t *)option->value =
        gpnn_number_read_u64(text, strlen(text), &exact) ? (size_t)exact : (size_t)value;
  else
    *(double *)option->value = value;
  return true;
}

static bool set_delimiter(const struct cli *cli, const struct cli_option *option, const char *text)
{
  char *delimiter = option->value;
  if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0)
    *delimiter = '\t';
  else if (strlen(text) == 1 && strchr("\"\r\n", text[0]) == NULL)
    *delimiter = text[0];
  else {
    cli_usage_error(cli, "option --%s: one character, or tab", option->name);
    return false;
  }
  return true;
}

static bool set_probabilities(const struct cli *cli, const struct cli_option *option,
                              const char *text)
{
  struct cli_probabilities *list = option->value;
  list->n = 0;
  do {
    size_t length = strcspn(text, ",");
    double p = 0;
    bool good = gpnn_number_read(text, length, &p) == GPNN_NUMBER_OK && p > 0 && p < 1 &&
                list->n < CLI_PROBABILITIES_MAX;
    for (size_t i = 0; i < list->n; i++) good = good && list->p[i] != p;
    if (!good) {
      cli_usage_error(cli,
                      "option --%s: up to %d different probabilities between 0 and 1, as in "
                      "0.5,0.95",
                      option->name, CLI_PROBABILITIES_MAX);
      return false;
    }
    list->p[list->n++] = p;
    text += length;
  } while (*text++ == ',');
  return true;
}

/* 'text' is NULL where the option stands alone. */
static bool set_given(const struct cli *cli, const struct cli_option *option, const char *text)
{
  if (text != NULL && strcmp(text, option->argument) != 0) {
    char shown[GPNN_MASK_BYTES];
    cli_usage_error(cli, "option --%s: alone, or --%s=%s: \"%s\"", option->name, option->name,
                    option->argument, gpnn_mask(shown, text, strlen(text)));
    return false;
  }
  *(enum cli_given *)option->value = text == NULL ? CLI_GIVEN_ALONE : CLI_GIVEN_WORD;
  return true;
}

static bool set_option(const struct cli *cli, const struct cli_option *option, const char *text)
{
  struct cli_list *list = option->value;
  bool is_text =
      option->type == CLI_TEXT || option->type == CLI_LIST || option->type == CLI_PROBABILITIES;
  if (is_text && text[0] == '\0' && option->value != (const void *)&cli->na) {
    cli_usage_error(cli, "option --%s: its value is empty", option->name);
    return false;
  }
  switch (option->type) {
  case CLI_FLAG:
    *(bool *)option->value = true;
    return true;
  case CLI_FLAG_OR:
    return set_given(cli, option, text);
  case CLI_TEXT:
    *(const char **)option->value = text;
    return true;
  case CLI_AUTO:
    if (strcmp(text, "auto") != 0) return set_number(cli, option, text);
    *(size_t *)option->value = 0;
    return true;
  case CLI_COUNT:
  case CLI_REAL:
    return set_number(cli, option, text);
  case CLI_SEED:
    if (gpnn_number_read_u64(text, strlen(text), option->value)) return true;
    cli_usage_error(cli, "option --%s: not a whole number from 0 to 2^64-1: \"%s\"", option->name,
                    text);
    return false;
  case CLI_DELIMITER:
    return set_delimiter(cli, option, text);
  case CLI_PROBABILITIES:
    return set_probabilities(cli, option, text);
  case CLI_LIST:
    if (list->n == CLI_LIST_ITEMS) {
      cli_usage_error(cli, "option --%s: given more than %d times", option->name, CLI_LIST_ITEMS);
      return false;
    }
    list->items[list->n++] = text;
    return true;
  }
  return false;
}

/* ---- the command line --------------------------------------------------------------------- */

/* Where a standard stream is closed, the next file opened would take its number, and receive
 * our messages: puts something there that can be neither read nor written. */
static void hold_standard_descriptors(void)
{
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    int held = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (held > STDERR_FILENO) close(held);
  }
}

struct shared_values {
  bool help, version, no_header;
  const char *progress;
  size_t threads;
};

/* Puts the tool's own rows and the shared ones it wants into 'rows'. */
static size_t all_options(struct cli *cli, struct shared_values *shared,
                          const struct cli_option *own, size_t n_own, struct cli_option *rows)
{
  const struct {
    unsigned group;
    struct cli_option option;
  } common[] = {
      {CLI_TABLE,
       {"delimiter", 'd', CLI_DELIMITER, &cli->table.delimiter, "C",
        "field delimiter (told from the first line)", 0, 0}},
      {CLI_TABLE,
       {"no-header", 0, CLI_FLAG, &shared->no_header, NULL, "the first line is data, not names", 0,
        0}},
      {CLI_TABLE,
       {"na", 0, CLI_TEXT, &cli->na, "STRING",
        "spelling of a missing value (NA, and the empty field)", 0, 0}},
      {CLI_OUTPUT,
       {"output", 'o', CLI_TEXT, &cli->output, "FILE",
        "write FILE, whole or not at all (standard output)", 0, 0}},
      {CLI_SEEDED,
       {"seed", 's', CLI_SEED, &cli->seed, "N", "seed of every random choice (1)", 0, 0}},
      {CLI_THREADS,
       {"threads", 'j', CLI_COUNT, &shared->threads, "N",
        "threads (the cores this process may use)", 1, 1024}},
      {CLI_PROGRESS,
       {"progress", 0, CLI_TEXT, &shared->progress, "WHEN",
        "progress line: auto, always or never (auto)", 0, 0}},
      {0, {"quiet", 'q', CLI_FLAG, &cli->quiet, NULL, "no warnings", 0, 0}},
      {0, {"verbose", 'v', CLI_FLAG, &cli->verbose, NULL, "say what is done, and a summary", 0, 0}},
      {0, {"help", 'h', CLI_FLAG, &shared->help, NULL, "print this help", 0, 0}},
      {0, {"version", 'V', CLI_FLAG, &shared->version, NULL, "print versions", 0, 0}},
  };
  size_t n = 0;
  for (; n < n_own; n++) rows[n] = own[n];
  for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
    if (common[i].group == 0 || (cli->tool->groups & common[i].group) != 0)
      rows[n++] = common[i].option;
  assert(n <= MAX_OPTIONS);
  return n;
}

/* Fills what getopt_long wants from the rows. */
static void getopt_tables(const struct cli_option *rows, size_t n, struct option *longs,
                          char *shorts)
{
  char *s = shorts;
  for (size_t i = 0; i < n; i++) {
    bool takes_value = rows[i].type != CLI_FLAG && rows[i].type != CLI_FLAG_OR;
    int argument = takes_value                   ? required_argument
                   : rows[i].type == CLI_FLAG_OR ? optional_argument
                                                 : no_argument;
    longs[i] = (struct option){rows[i].name, argument, NULL, FIRST_LONG_ONLY + (int)i};
    if (rows[i].letter != 0) {
      *s++ = rows[i].letter;
      if (takes_value) *s++ = ':';
    }
  }
  longs[n] = (struct option){NULL, 0, NULL, 0};
  *s = '\0';
}

static const struct cli_option *find_option(const struct cli_option *rows, size_t n, int code)
{
  if (code >= FIRST_LONG_ONLY) return &rows[code - FIRST_LONG_ONLY];
  for (size_t i = 0; i < n && code != 0; i++)
    if (rows[i].letter == code) return &rows[i];
  return NULL;
}

/* Says what getopt_long() found wrong, which would show what was written as it stands: 'argument'
 * is the one it stopped in, 'option' the row where that is known. */
static void refuse_option(const struct cli *cli, const struct cli_option *rows, size_t n,
                          const char *argument, const struct cli_option *option)
{
  char shown[GPNN_MASK_BYTES];
  const char letter = (char)optopt;
  size_t length = strcspn(argument, "="), n_like = 0;
  if (option != NULL) {
    cli_usage_error(cli, "option --%s: %s", option->name,
                    option->type == CLI_FLAG ? "takes no value" : "its value is missing");
  } else if (optopt != 0) {
    cli_usage_error(cli, "no such option: \"-%s\"", gpnn_mask(shown, &letter, 1));
  } else {
    for (size_t i = 0; i < n; i++) n_like += strncmp(rows[i].name, argument + 2, length - 2) == 0;
    cli_usage_error(cli, "%s: \"%s\"",
                    n_like > 1 ? "more than one option begins so" : "no such option",
                    gpnn_mask(shown, argument, length));
  }
}

static bool read_options(struct cli *cli, const struct cli_option *rows, size_t n, int argc,
                         char **argv)
{
  struct option longs[MAX_OPTIONS + 1];
  char shorts[2 * MAX_OPTIONS + 1];
  getopt_tables(rows, n, longs, shorts);
  opterr = 0;
  for (;;) {
    int code = getopt_long(argc, argv, shorts, longs, NULL);
    if (code == -1) break;
    const struct cli_option *option = find_option(rows, n, code == '?' ? optopt : code);
    if (code == '?') {
      refuse_option(cli, rows, n, argv[optind - 1], option);
      return false;
    }
    if (!set_option(cli, option, optarg)) return false;
  }
  cli->n_operands = (size_t)(argc - optind);
  cli->operands = argv + optind;
  return true;
}

bool cli_find_word(const char *text, size_t n, const char *const words[], size_t *at)
{
  for (size_t i = 0; i < n; i++) {
    if (strcmp(text, words[i]) != 0) continue;
    *at = i;
    return true;
  }
  return false;
}

/* Whether 'st' is of 'input': of that file or, where that is "-", of standard input. */
static bool is_input(const struct stat *st, const char *input)
{
  struct stat from;
  if (stat(input, &from) == 0 && from.st_dev == st->st_dev && from.st_ino == st->st_ino)
    return true;
  return strcmp(input, "-") == 0 && fstat(STDIN_FILENO, &from) == 0 && from.st_dev == st->st_dev &&
         from.st_ino == st->st_ino;
}

bool cli_spares(const struct cli *cli, const char *output, const char *input)
{
  char shown[GPNN_MASK_BYTES];
  struct stat to;
  if (input == NULL || strcmp(output, "-") == 0 || stat(output, &to) != 0) return true;
  if (!S_ISREG(to.st_mode) || !is_input(&to, input)) return true;
  cli_usage_error(cli, "option --output: \"%s\" is a file to read from, and would be lost",
                  gpnn_mask(shown, output, strlen(output)));
  return false;
}

static bool check_options(struct cli *cli, const struct shared_values *shared)
{
  static const char *const when[] = {"auto", "always", "never"};
  const struct cli_tool *tool = cli->tool;
  size_t choice = 0;
  if (!cli_find_word(shared->progress, 3, when, &choice)) {
    cli_usage_error(cli, "option --progress: auto, always or never");
    return false;
  }
  cli->progress = (enum cli_progress)choice;
  if (cli->n_operands < tool->min_operands) {
    cli_usage_error(cli, "an operand is missing: %s %s", tool->name, tool->synopsis);
    return false;
  }
  for (size_t i = 0; i < cli->n_operands; i++) {
    if (cli->operands[i][0] != '\0') continue;
    cli_usage_error(cli, "an operand is empty: file names are not, and - is standard input");
    return false;
  }
  if (cli->n_operands > tool->max_operands) {
    char shown[GPNN_MASK_BYTES];
    const char *extra = cli->operands[tool->max_operands];
    cli_usage_error(cli, "one operand too many: \"%s\"", gpnn_mask(shown, extra, strlen(extra)));
    return false;
  }
  return true;
}

static struct timespec_pair time_now(void)
{
  struct timespec wall;
  clock_gettime(CLOCK_MONOTONIC, &wall);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (struct timespec_pair){(double)wall.tv_sec + 1e-9 * (double)wall.tv_nsec,
                                (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                                    1e-6 *
                                        (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)};
}

/* --help or --version, whose reader may be a full disk. */
static int print_and_end(const struct cli *cli, const struct cli_option *rows, size_t n, bool help)
{
  if (help)
    print_help(cli->tool, rows, n);
  else
    print_version(cli->tool);
  bool failed = ferror(stdout) != 0;
  if (fclose(stdout) == 0 && !failed) return EXIT_SUCCESS;
  say(cli, "(stdout): cannot be written: %s", strerror(errno));
  return EXIT_WORK;
}

/*
 * In the place of OpenBLAS's own, which a shared library of it calls as it is loaded, before
 * main(): it starts a thread for each core, each of which takes 128 MiB of address space, and looks
 * for it for ever where there is a limit (ulimit -v).  The tools keep the BLAS to the calling
 * thread.  Weak, so that a static library of it has its way.
 */
extern int blas_thread_init(void);
__attribute__((weak)) int blas_thread_init(void)
{
  return 0;
}

bool cli_begin(struct cli *cli, const struct cli_tool *tool, const struct cli_option *options,
               size_t n_options, int argc, char **argv, int *status)
{
  *cli = (struct cli){.tool = tool,
                      .seed = 1,
                      .output = "-",
                      .table = GPNN_TABLE_OPTIONS_INIT,
                      .na = "NA",
                      .started = time_now()};
  hold_standard_descriptors();
  cli_watch_signals(tool->name);
  struct shared_values shared = {.progress = "auto"};
  struct cli_option rows[MAX_OPTIONS];
  size_t n = all_options(cli, &shared, options, n_options, rows);
  *status = EXIT_USAGE;
  if (!read_options(cli, rows, n, argc, argv)) return false;
  if (shared.help || shared.version) {
    *status = print_and_end(cli, rows, n, shared.help);
    return false;
  }
  if (!check_options(cli, &shared)) return false;
  cli->table.has_header = !shared.no_header;
  gpnn_threads_unbind();
  cli->threads = shared.threads != 0 ? (int)shared.threads : gpnn_threads_available();
  gpnn_blas_single_thread();
  progress_mode(cli->progress == CLI_PROGRESS_ALWAYS, cli->progress == CLI_PROGRESS_NEVER);
  return true;
}

const char *cli_operand(const struct cli *cli, size_t i)
{
  return i < cli->n_operands ? cli->operands[i] : "-";
}

/* ---- output ------------------------------------------------------------------------------- */

enum gpnn_status cli_open_output(const char *path, struct gpnn_output **output,
                                 struct gpnn_error *err)
{
  static const char *volatile unfinished[MAX_GUARDED / 2];
  static size_t n_unfinished;
  assert(n_unfinished < MAX_GUARDED / 2);
  const char *volatile *watch = &unfinished[n_unfinished++];
  cli_guard(watch);
  return gpnn_output_open_watched(output, path, watch, err);
}

enum gpnn_status cli_close_output(struct gpnn_output *output, enum gpnn_status status,
                                  struct gpnn_error *err)
{
  if (output == NULL) return status;
  if (status == GPNN_OK) return gpnn_output_close(output, err);
  gpnn_output_abandon(output);
  return status;
}

/* ---- the end ------------------------------------------------------------------------------ */

static void summary(const struct cli *cli)
{
  struct timespec_pair now = time_now();
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  cli_note(cli, "wall %.2f s, processor %.2f s, peak memory %.1f MiB, threads %d",
           now.wall - cli->started.wall, now.cpu - cli->started.cpu, (double)usage.ru_maxrss / 1024,
           cli->threads);
}

int cli_end(const struct cli *cli, enum gpnn_status status, const struct gpnn_error *err)
{
  progress_erase();
  if (status == GPNN_OK) {
    summary(cli);
    return EXIT_SUCCESS;
  }
  if (status == GPNN_EINVAL) return cli_usage_error(cli, "%s", err->text);
  say(cli, "%s", err->text);
  return EXIT_WORK;
}
