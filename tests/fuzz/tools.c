/*
 * tools: in place of what a tool does once because it ends soon, where a harness runs it again and
 * again.  The linker is told to --wrap these.
 */
#include <signal.h>

#include "fuzz.h"

/* Signals, above all of failed assertions, are the fuzzer's. */
int __wrap_sigaction(int signal_number, const struct sigaction *action, struct sigaction *old);

int __wrap_sigaction(int signal_number, const struct sigaction *action, struct sigaction *old)
{
  (void)signal_number;
  (void)action;
  if (old != NULL) *old = (struct sigaction){.sa_handler = SIG_DFL};
  return 0;
}

int __wrap_atexit(void (*function)(void));

int __wrap_atexit(void (*function)(void))
{
  (void)function;
  return 0;
}

/* The standard streams outlive the tool. */
int __real_fclose(FILE *stream);
int __wrap_fclose(FILE *stream);

int __wrap_fclose(FILE *stream)
{
  return stream == stdout ? fflush(stream) : __real_fclose(stream);
}

/* There is room for the unfinished files of one run. */
void __wrap_cli_guard(const char *volatile *path);

void __wrap_cli_guard(const char *volatile *path)
{
  (void)path;
}
