#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "cmd/common/cli_private.h"
#include "cmd/common/progress.h"

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
