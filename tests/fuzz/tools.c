/*
 * tools: in place of what a tool does once because it ends soon, where a harness runs it again and
 * again.  The linker is told to --wrap these.
 */
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>

#include "fuzz.h"

static bool runs; /* a tool does; else it is the fuzzer that calls */

int fuzz_tool(int (*tool)(int argc, char **argv), int argc, char **argv)
{
  optind = 0; /* getopt begins anew */
  runs = true;
  int status = tool(argc, argv);
  runs = false;
  return status;
}

/* Signals, above all of failed assertions, are the fuzzer's. */
int __real_sigaction(int signal_number, const struct sigaction *action, struct sigaction *old);
int __wrap_sigaction(int signal_number, const struct sigaction *action, struct sigaction *old);

int __wrap_sigaction(int signal_number, const struct sigaction *action, struct sigaction *old)
{
  if (!runs) return __real_sigaction(signal_number, action, old);
  if (old != NULL) *old = (struct sigaction){.sa_handler = SIG_DFL};
  return 0;
}

int __real_atexit(void (*function)(void));
int __wrap_atexit(void (*function)(void));

int __wrap_atexit(void (*function)(void))
{
  return runs ? 0 : __real_atexit(function);
}

/* The standard streams outlive the tool. */
int __real_fclose(FILE *stream);
int __wrap_fclose(FILE *stream);

int __wrap_fclose(FILE *stream)
{
  return runs && stream == stdout ? fflush(stream) : __real_fclose(stream);
}

/* There is room for the unfinished files of one run. */
void __wrap_cli_guard(const char *volatile *path);

void __wrap_cli_guard(const char *volatile *path)
{
  (void)path;
}
