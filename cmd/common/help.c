#include <stdio.h>
#include <string.h>

#include "cmd/common/cli_private.h"
#include "linalg/blas_threads.h"
#include "search/search.h"
#include "version.h"

enum { HELP_COLUMN = 27, HELP_WIDTH = 80 };

/* Prints 'text' from HELP_COLUMN on, in two lines if it is too long for one. */
static void print_wrapped(char *text)
{
  size_t room = HELP_WIDTH - HELP_COLUMN, at = room;
  if (strlen(text) <= room) {
    fputs(text, stdout);
    return;
  }
  while (at > 0 && text[at] != ' ') at--;
  printf("%.*s\n%*s%s", (int)at, text, HELP_COLUMN, "", text + at + (text[at] == ' '));
}

/* "what: a, b or c (b)", where b is the default, or "a, b or c (otherwise)". */
static void print_words(const struct cli_row *row)
{
  const struct cli_word *words = row->option->words;
  const char *help = row->option->help, *usual = "";
  bool names_default = help[0] == '(', is_choice = row->option->type == CLI_TYPE_CHOICE;
  char text[CLI_WORDS_BYTES], whole[2 * CLI_WORDS_BYTES];
  for (size_t i = 0; words[i].word != NULL && !names_default && is_choice; i++)
    if (words[i].value == row->usual) usual = words[i].word;
  snprintf(whole, sizeof whole, "%s%s%s%s%s%s%s%s", names_default ? "" : help,
           help[0] != '\0' && !names_default ? ": " : "", cli_list_words(text, words),
           names_default ? " " : "", names_default ? help : "", usual[0] != '\0' ? " (" : "", usual,
           usual[0] != '\0' ? ")" : "");
  print_wrapped(whole);
}

/* A choice of a single word shows it as the option's argument already. */
static bool has_choice(const struct cli_option *option)
{
  return (option->type == CLI_TYPE_CHOICE || option->type == CLI_TYPE_CHOICES) &&
         option->words[1].word != NULL;
}

static void print_option(const struct cli_row *row)
{
  const struct cli_option *option = row->option;
  bool may_be = option->type == CLI_TYPE_FLAG_OR;
  char left[80];
  int used =
      snprintf(left, sizeof left, "  %c%c%s--%s%s%s%s", option->letter ? '-' : ' ',
               option->letter ? option->letter : ' ', option->letter ? ", " : "  ", option->name,
               may_be             ? "[="
               : option->argument ? " "
                                  : "",
               option->argument ? option->argument : "", may_be ? "]" : "");
  printf("%-*s%s", HELP_COLUMN, left, used < HELP_COLUMN ? "" : " ");
  if (has_choice(option))
    print_words(row);
  else
    fputs(option->help, stdout);
  putchar('\n');
}

void cli_print_help(const struct cli_tool *tool, size_t n, const struct cli_row rows[])
{
  printf("usage: %s %s\n%s\n\n", tool->name, tool->synopsis, tool->purpose);
  for (size_t i = 0; i < n; i++)
    if (!cli_is_alias(rows[i].option) && rows[i].option->help != NULL) print_option(&rows[i]);
  size_t length = strcspn(tool->name, " ");
  const char *mode = tool->name + length;
  printf("\nManual: man %.*s%s%s, man 7 gpnn\n", (int)length, tool->name, *mode != '\0' ? "-" : "",
         *mode != '\0' ? mode + 1 : "");
}

void cli_print_version(const struct cli_tool *tool)
{
  printf("%s (gpnn) %s\nparameters format 1, index format 1\nFAISS %s\n%s\n", tool->name,
         GPNN_VERSION, gpnn_search_engine_version(), gpnn_blas_version());
}
