#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "cmd/common/cli_private.h"
#include "cmd/common/progress.h"

/* Prints a line: names of files may be anything, and could command the terminal. */
static void print(const struct cli *cli, char *text)
{
  const char *name = cli->tool->name;
  gpnn_mask_all(text, "");
  progress_erase();
  fprintf(stderr, "%.*s: %s\n", (int)strcspn(name, " "), name, text);
}

GPNN_PRINTF(3, 0)
static void compose(const struct cli *cli, char text[WARNINGS_BYTES], const char *format,
                    va_list args)
{
  text[0] = '\0';
  if (cli->about != NULL) snprintf(text, CLI_ABOUT_BYTES + 2, "%s: ", cli->about);
  size_t used = strlen(text);
  vsnprintf(text + used, WARNINGS_BYTES - used, format, args);
}

/* Prints a message, after the target that it is about. */
GPNN_PRINTF(2, 0)
static void message(const struct cli *cli, const char *format, va_list args)
{
  char text[WARNINGS_BYTES], whole[WARNINGS_BYTES + 2 * GPNN_MASK_BYTES],
      target[GPNN_MASK_BYTES] = "";
  compose(cli, text, format, args);
  if (cli->target != NULL) gpnn_mask(target, cli->target, strlen(cli->target));
  snprintf(whole, sizeof whole, "%s%s%s%s", cli->target == NULL ? "" : "target '", target,
           cli->target == NULL ? "" : "': ", text);
  print(cli, whole);
}

bool cli_refuse(const struct cli *cli, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  message(cli, format, args);
  va_end(args);
  fprintf(stderr, "try '%s --help'\n", cli->tool->name);
  return false;
}

void cli_fail(const struct cli *cli, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  message(cli, format, args);
  va_end(args);
}

/* Keeps a warning for the end, if it is to be told only then. */
static bool is_kept(const struct cli *cli, const char *format, const char *text)
{
  bool waits = cli->target != NULL || cli->report != NULL;
  return waits && warnings_add(cli->warnings, format, text, cli->target);
}

void cli_warn(const struct cli *cli, const char *format, ...)
{
  char text[WARNINGS_BYTES];
  va_list args, again;
  if (cli->quiet) return;
  va_start(args, format);
  va_copy(again, args);
  compose(cli, text, format, args);
  if (!is_kept(cli, format, text)) message(cli, format, again);
  va_end(again);
  va_end(args);
}

void cli_note(const struct cli *cli, const char *format, ...)
{
  if (!cli->verbose || cli->report != NULL) return;
  va_list args;
  va_start(args, format);
  message(cli, format, args);
  va_end(args);
}

void cli_say(const struct cli *cli, const char *format, ...)
{
  if (cli->quiet || cli->report != NULL) return;
  va_list args;
  va_start(args, format);
  message(cli, format, args);
  va_end(args);
}

void cli_tell(const struct cli *cli, char *text)
{
  gpnn_mask_all(text, "\n");
  progress_erase();
  const char *name = cli->tool->name;
  fprintf(stderr, "%.*s: %s", (int)strcspn(name, " "), name, text);
}

void cli_print_warnings(const struct cli *cli)
{
  char text[2 * WARNINGS_BYTES];
  for (size_t i = 0; i < cli->warnings->n; i++) print(cli, warnings_text(cli->warnings, i, text));
}
