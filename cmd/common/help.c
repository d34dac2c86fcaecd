#include <stdio.h>
#include <string.h>

#include "cmd/common/cli_private.h"
#include "linalg/blas_threads.h"
#include "search/search.h"
#include "version.h"

enum { HELP_COLUMN = 27, LINE_WIDTH = 80 };

/* "what: a, b or c (b)", where b is the default, or "a, b or c (otherwise)". */
static void describe_words(const struct cli_row *row, size_t size, char *text)
{
  const struct cli_word *words = row->option->words;
  const char *help = row->option->help;
  bool names_default = help[0] == '(', has_help = help[0] != '\0' && !names_default;
  char list[CLI_WORDS_BYTES];
  size_t used = (size_t)snprintf(text, size, "%s%s%s%s%s", has_help ? help : "",
                                 has_help ? ": " : "", cli_list_words(list, words),
                                 names_default ? " " : "", names_default ? help : "");
  for (; words->word != NULL && !names_default && row->option->type == CLI_TYPE_CHOICE; words++)
    if (words->value == row->usual && used < size) {
      snprintf(text + used, size - used, " (%s)", words->word);
      break; /* the first of two words for the same */
    }
}

/* Prints a text from the column of help on, in as many lines as it takes. */
static void print_folded(const char *text)
{
  size_t most = LINE_WIDTH - HELP_COLUMN;
  while (strlen(text) > most) {
    size_t length = most;
    while (length > 0 && text[length] != ' ') length--;
    if (length == 0) break; /* a single word */
    printf("%.*s\n%*s", (int)length, text, HELP_COLUMN, "");
    text += length + 1;
  }
  printf("%s", text);
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
  char left[80], words[2 * CLI_WORDS_BYTES];
  int used =
      snprintf(left, sizeof left, "  %c%c%s--%s%s%s%s", option->letter ? '-' : ' ',
               option->letter ? option->letter : ' ', option->letter ? ", " : "  ", option->name,
               may_be             ? "[="
               : option->argument ? " "
                                  : "",
               option->argument ? option->argument : "", may_be ? "]" : "");
  printf("%-*s%s", HELP_COLUMN, left, used < HELP_COLUMN ? "" : " ");
  if (has_choice(option)) {
    describe_words(row, sizeof words, words);
    print_folded(words);
  } else {
    fputs(option->help, stdout);
  }
  putchar('\n');
}

void cli_print_help(const struct cli_tool *tool, size_t n, const struct cli_row rows[])
{
  printf("usage: %s %s\n%s\n\n", tool->name, tool->synopsis, tool->purpose);
  for (size_t i = 0; i < n; i++)
    if (rows[i].option->help != NULL) print_option(&rows[i]);
  size_t length = strcspn(tool->name, " ");
  const char *mode = tool->shares_page ? "" : tool->name + length;
  if (tool->related != NULL) printf("\n%s\n", tool->related);
  printf("\nManual: man %.*s%s%s, man 7 gpnn\n", (int)length, tool->name, *mode != '\0' ? "-" : "",
         *mode != '\0' ? mode + 1 : "");
}

/* A tool is linked with the libraries that it needs: these do not need them. */
#pragma weak gpnn_search_engine_version
#pragma weak gpnn_blas_version

void cli_print_version(const struct cli_tool *tool)
{
  printf("%s (gpnn) %s\nparameters format 1, index format 1\n", tool->name, GPNN_VERSION);
  if (gpnn_search_engine_version != NULL) printf("FAISS %s\n", gpnn_search_engine_version());
  if (gpnn_blas_version != NULL) printf("%s\n", gpnn_blas_version());
}
