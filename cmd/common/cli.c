#include "cmd/common/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/threads.h"
#include "cmd/common/cli_private.h"
#include "cmd/common/json.h"
#include "cmd/common/progress.h"
#include "cmd/common/signals.h"
#include "linalg/blas_threads.h"

/* A tool is linked with a BLAS only if it needs one. */
#pragma weak gpnn_blas_single_thread

/* ---- the process -------------------------------------------------------------------------- */

/* If a standard stream is closed, the next file opened would get its number, and our messages would
 * end up in that file: fills the gap with something that can be neither read nor written. */
static void hold_standard_descriptors(void)
{
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    int held = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (held > STDERR_FILENO) close(held);
  }
}

/*
 * Replaces OpenBLAS's function of this name, which its shared library calls when it is loaded,
 * before main(), and which starts a thread per core.  Each takes 128 MiB of address space, and
 * under a limit (ulimit -v) OpenBLAS tries for ever to get it.  The tools use the BLAS on the
 * calling thread only.  Weak, so that a statically linked OpenBLAS keeps its own.
 */
extern int blas_thread_init(void);
__attribute__((weak)) int blas_thread_init(void)
{
  return 0;
}

/* Processor seconds; '*peak' becomes the most memory, in KiB, if it is more. */
static double usage_of(int whose, long *peak)
{
  struct rusage usage;
  getrusage(whose, &usage);
  if (usage.ru_maxrss > *peak) *peak = usage.ru_maxrss;
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Of this tool and of those that it has run. */
static struct cli_time time_now(void)
{
  struct timespec wall;
  long peak = 0;
  clock_gettime(CLOCK_MONOTONIC, &wall);
  return (struct cli_time){(double)wall.tv_sec + 1e-9 * (double)wall.tv_nsec,
                           usage_of(RUSAGE_SELF, &peak) + usage_of(RUSAGE_CHILDREN, &peak)};
}

uint64_t cli_peak_memory(void)
{
  long peak = 0;
  usage_of(RUSAGE_SELF, &peak);
  usage_of(RUSAGE_CHILDREN, &peak);
  return 1024 * (uint64_t)peak;
}

/* ---- checks ------------------------------------------------------------------------------- */

static bool check_operands(const struct cli *cli)
{
  const struct cli_tool *tool = cli->tool;
  if (cli->n_operands < tool->min_operands)
    return cli_refuse(cli, "an operand is missing: %s %s", tool->name, tool->synopsis);
  for (size_t i = 0; i < cli->n_operands; i++)
    if (cli->operands[i][0] == '\0')
      return cli_refuse(cli, "an operand is empty; write - for standard input");
  if (cli->n_operands > tool->max_operands) {
    char shown[GPNN_MASK_BYTES];
    const char *extra = cli->operands[tool->max_operands];
    return cli_refuse(cli, "one operand too many: \"%s\"", gpnn_mask(shown, extra, strlen(extra)));
  }
  return true;
}

const char *cli_operand(const struct cli *cli, size_t i)
{
  return i < cli->n_operands ? cli->operands[i] : "-";
}

/* True if 'st' is of 'input': that file or, for "-", standard input. */
static bool is_input(const struct stat *st, const char *input)
{
  struct stat from;
  if (stat(input, &from) == 0 && from.st_dev == st->st_dev && from.st_ino == st->st_ino)
    return true;
  return strcmp(input, "-") == 0 && fstat(STDIN_FILENO, &from) == 0 && from.st_dev == st->st_dev &&
         from.st_ino == st->st_ino;
}

bool cli_check_overwrite(const struct cli *cli, const char *output, const char *input)
{
  char shown[GPNN_MASK_BYTES];
  struct stat to;
  if (input == NULL || strcmp(output, "-") == 0 || stat(output, &to) != 0) return true;
  if (!S_ISREG(to.st_mode) || !is_input(&to, input)) return true;
  return cli_refuse(cli, "option --output: \"%s\" is an input, which would be overwritten",
                    gpnn_mask(shown, output, strlen(output)));
}

/* ---- the run ------------------------------------------------------------------------------ */

/* --help or --version, whose reader may be a full disk. */
static int print_and_end(const struct cli *cli, size_t n, const struct cli_row rows[])
{
  if (cli->asked.help)
    cli_print_help(cli->tool, n, rows);
  else
    cli_print_version(cli->tool);
  bool failed = ferror(stdout) != 0;
  if (fclose(stdout) == 0 && !failed) return EXIT_SUCCESS;
  cli_fail(cli, "(stdout): cannot be written: %s", strerror(errno));
  return EXIT_WORK;
}

/* Sets the limit of --memory for this tool and those that it runs: the system then refuses more,
 * wherever it is asked for, and whoever knows a need beforehand finds the limit there.  Files that
 * are mapped do not count, as the system may take their pages back. */
static bool limit_memory(const struct cli *cli)
{
  struct rlimit limit;
  rlim_t asked = (rlim_t)cli->asked.memory;
  if (asked == 0) return true;
  bool done = getrlimit(RLIMIT_DATA, &limit) == 0;
  if (done && (limit.rlim_cur == RLIM_INFINITY || asked < limit.rlim_cur)) {
    limit.rlim_cur = asked;
    done = setrlimit(RLIMIT_DATA, &limit) == 0;
  }
  return done ||
         cli_refuse(cli, "option --memory: the system cannot set a limit: %s", strerror(errno));
}

/* Reads the command line.  True to go on; false when the tool is done already (--help, --version,
 * a mistake), with the exit status in '*status', which is EXIT_USAGE before. */
static bool begin(struct cli *cli, void *arguments, int argc, char **argv, int *status)
{
  hold_standard_descriptors();
  cli_watch_signals(cli->tool->name);
  struct cli_row rows[CLI_MAX_OPTIONS];
  size_t n = cli_rows(cli, arguments, rows);
  if (!cli_read(cli, n, rows, argc, argv)) return false;
  if (cli->asked.help || cli->asked.version) {
    *status = print_and_end(cli, n, rows);
    return false;
  }
  if (!check_operands(cli) || !limit_memory(cli)) return false;
  cli->table.has_header = !cli->asked.no_header;
  gpnn_threads_unbind();
  cli->threads = cli->asked.threads != 0 ? (int)cli->asked.threads : gpnn_threads_available();
  if (gpnn_blas_single_thread != NULL) gpnn_blas_single_thread();
  progress_mode(cli->asked.progress == CLI_PROGRESS_ALWAYS,
                cli->asked.progress == CLI_PROGRESS_NEVER);
  return true;
}

/* Joins the lists of missing values, and finds what a missing value is written as: the first. */
static bool collect_missing(struct cli *cli, char **missing)
{
  const struct cli_list *asked = &cli->asked.na;
  size_t length = 0;
  char *to = NULL;
  for (size_t i = 0; i < asked->n; i++) length += strlen(asked->items[i]) + 1;
  if (asked->n > 0) *missing = to = malloc(length);
  for (size_t i = 0; i < asked->n && to != NULL; i++)
    to += sprintf(to, "%s%s", i > 0 ? "," : "", asked->items[i]);
  if (asked->n > 0 && to == NULL) return false;
  cli->table.notation.missing = *missing;
  const char *first = asked->n == 0 ? "NA" : *missing;
  size_t n = asked->n == 0 ? 2 : strcspn(first, ",");
  cli->na = strndup(first, n);
  return cli->na != NULL;
}

static void summary(const struct cli *cli)
{
  struct cli_time now = time_now();
  double wall = now.wall - cli->started.wall, cpu = now.cpu - cli->started.cpu;
  uint64_t peak = cli_peak_memory();
  cli_note(cli, "wall %.2f s, processor %.2f s, peak memory %.1f MiB, threads %d", wall, cpu,
           (double)peak / (1024 * 1024), cli->threads);
  if (cli->report == NULL) return;
  json_number(cli->report, "seconds", wall);
  json_number(cli->report, "processor-seconds", cpu);
  json_count(cli->report, "peak-memory", peak);
  json_count(cli->report, "threads", (uint64_t)cli->threads);
}

/* Completes and prints the report, if there is one.  False: there is not enough memory for it. */
static bool print_report(const struct cli *cli)
{
  if (cli->report == NULL) return true;
  char text[2 * WARNINGS_BYTES];
  struct json *report = cli->report;
  json_open(report, "warnings", '[');
  for (size_t i = 0; i < cli->warnings->n; i++)
    json_text(report, NULL, warnings_text(cli->warnings, i, text));
  json_close(report, ']');
  json_close(report, '}');
  if (report->failed) {
    cli_fail(cli, "not enough memory for the report");
    return false;
  }
  fwrite(report->text, 1, report->length, stderr);
  fputc('\n', stderr);
  return true;
}

/* Says what went wrong, if anything, and returns the exit status: the one place where a status
 * becomes one.  After resolve() has accepted the command line, GPNN_EINVAL says that it asks for
 * what the files it names turn out not to have, such as a column; a fault that no other command
 * line could mend has another status.  Work that is done is reported, also where what came of it is
 * beyond a limit.  No text: it has been told, by cli_fail(), cli_tell() or another tool. */
static int end(const struct cli *cli, enum gpnn_status status, const struct gpnn_error *err)
{
  progress_erase();
  bool is_done = status == GPNN_OK || status == GPNN_ELIMIT;
  bool is_usage = status == GPNN_EINVAL, has_text = status != GPNN_OK && err->text[0] != '\0';
  if (!is_done || cli->report == NULL) cli_print_warnings(cli);
  const char *allowed = status == GPNN_ENOMEM ? cli_text_given(cli, "memory") : NULL;
  if (has_text && is_usage) cli_refuse(cli, "%s", err->text);
  if (has_text && !is_usage)
    cli_fail(cli, "%s%s%s%s", err->text, allowed == NULL ? "" : " (--memory ",
             allowed == NULL ? "" : allowed, allowed == NULL ? "" : ")");
  if (!is_done) return is_usage ? EXIT_USAGE : EXIT_WORK;
  summary(cli);
  if (!print_report(cli)) return EXIT_WORK;
  return status == GPNN_ELIMIT ? EXIT_LIMIT : EXIT_SUCCESS;
}

int cli_main(const struct cli_tool *tool, void *arguments, int argc, char **argv)
{
  struct warnings warnings = {0};
  struct json report = {0};
  struct gpnn_error err = {0};
  struct cli cli = {.tool = tool,
                    .seed = 1,
                    .output = "-",
                    .warnings = &warnings,
                    .report = &report,
                    .table = GPNN_TABLE_OPTIONS_INIT,
                    .started = time_now()};
  char *missing = NULL;
  int status = EXIT_USAGE;
  json_open(&report, NULL, '{');
  json_text(&report, "tool", tool->name);
  if (begin(&cli, arguments, argc, argv, &status)) {
    if (!collect_missing(&cli, &missing))
      status = end(&cli, gpnn_fail_memory(&err, "for the command line"), &err);
    else if (tool->resolve == NULL || tool->resolve(&cli, arguments))
      status = end(&cli, tool->run(&cli, arguments, &err), &err);
  }
  json_release(&report);
  warnings_release(&warnings);
  free(missing);
  free(cli.na);
  return status;
}
