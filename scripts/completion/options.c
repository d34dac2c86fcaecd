/*
 * options: what the shells need to know about the command lines of all tools, read off the tables
 * by which the tools read them.
 *
 *   options >TABLE
 *
 * The tools are linked in, each main under a name of its own (tools.h, from the Makefile, lists
 * them); the linker is told to --wrap cli_main(), so that what a tool hands to it comes here.
 * Prints lines of fields that are separated by tabs; the first names the tool, or tool and mode:
 *
 *   TOOL operands MOST WORDS        at most so many; the first is one of WORDS, or all are files
 *   TOOL option NAMES TAKES OFFERS WORDS ARGUMENT HELP TIMES
 *
 * NAMES is "-m --neighbours" or "--ard"; TAKES: no value, or one that may or must follow; OFFERS:
 * nothing, files, directories, one of the words, a list of words with commas, or settings, words
 * that an equals sign and a value follow; TIMES: once, or many times.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/cli_private.h"

#define TOOL(name) int main_##name(int argc, char **argv);
#include "tools.h"
#undef TOOL

#define TOOL(name) main_##name,
static int (*const tools[])(int argc, char **argv) = {
#include "tools.h"
};
#undef TOOL

/* ---- options ------------------------------------------------------------------------------ */

static bool is_one_of(const char *text, const char *const *words)
{
  while (text != NULL && *words != NULL)
    if (strcmp(text, *words++) == 0) return true;
  return false;
}

static const char *offers(const struct cli_option *option)
{
  static const char *const files[] = {"FILE", "TABLE", "INDEX", "PARAMS", NULL};
  static const char *const directories[] = {"DIR", NULL};
  if (option->type == CLI_TYPE_SETTINGS) return "settings";
  if (option->type == CLI_TYPE_CHOICES) return "list";
  if (option->words != NULL || option->type == CLI_TYPE_AUTO) return "words";
  if (is_one_of(option->argument, directories)) return "directories";
  return is_one_of(option->argument, files) ? "files" : "nothing";
}

static const char *takes(const struct cli_option *option)
{
  if (option->type == CLI_TYPE_FLAG) return "no";
  return option->type == CLI_TYPE_FLAG_OR ? "may" : "must";
}

/* Those of a FLAG_OR that have no text are left out. */
static void print_words(const struct cli_option *option)
{
  const struct cli_word *word = option->words;
  const struct cli_option *setting = option->settings;
  const char *gap = "";
  if (option->type == CLI_TYPE_AUTO) printf("auto");
  if (option->type == CLI_TYPE_FLAG_OR) word++;
  for (; word != NULL && word->word != NULL; word++, gap = " ") printf("%s%s", gap, word->word);
  for (; setting != NULL && setting->name != NULL; setting++, gap = " ")
    printf("%s%s", gap, setting->name);
}

static void print_option(const char *tool, const struct cli_option *option)
{
  char words[CLI_WORDS_BYTES];
  const char *help = option->help;
  if (help == NULL) return; /* --help does not list it either */
  if (option->words != NULL && (help[0] == '\0' || help[0] == '('))
    help = cli_list_words(words, option->words);
  printf("%s\toption\t", tool);
  if (option->letter != '\0') printf("-%c ", option->letter);
  printf("--%s\t%s\t%s\t", option->name, takes(option), offers(option));
  print_words(option);
  bool is_many = option->type == CLI_TYPE_LIST || option->type == CLI_TYPE_SETTINGS;
  printf("\t%s\t%s\t%s\n", option->argument == NULL ? "" : option->argument, help,
         is_many ? "many" : "once");
}

/* ---- in place of those of cmd/common ------------------------------------------------------ */

int __wrap_cli_main(const struct cli_tool *tool, void *arguments, int argc, char **argv);
int __wrap_cli_main_modes(const char *name, const char *purpose, size_t n,
                          const struct cli_mode modes[], int argc, char **argv);

int __wrap_cli_main(const struct cli_tool *tool, void *arguments, int argc, char **argv)
{
  (void)argc;
  (void)argv;
  struct cli cli = {.tool = tool};
  struct cli_row rows[CLI_MAX_OPTIONS];
  size_t n = cli_rows(&cli, arguments, rows);
  printf("%s\toperands\t%zu\t", tool->name, tool->max_operands);
  for (size_t i = 0; tool->first_operand != NULL && tool->first_operand(i) != NULL; i++)
    printf("%s%s", i == 0 ? "" : " ", tool->first_operand(i));
  putchar('\n');
  for (size_t i = 0; i < n; i++) print_option(tool->name, rows[i].option);
  return EXIT_SUCCESS;
}

/* Before the mode, a tool has the options that every tool has. */
int __wrap_cli_main_modes(const char *name, const char *purpose, size_t n,
                          const struct cli_mode modes[], int argc, char **argv)
{
  (void)purpose;
  struct cli cli = {.tool = &(const struct cli_tool){.name = name}};
  struct cli_row rows[CLI_MAX_OPTIONS];
  printf("%s\toperands\t1\t", name);
  for (size_t i = 0; i < n; i++) printf("%s%s", i == 0 ? "" : " ", modes[i].name);
  putchar('\n');
  size_t n_rows = cli_rows(&cli, NULL, rows);
  for (size_t i = 0; i < n_rows; i++) print_option(name, rows[i].option);
  for (size_t i = 0; i < n; i++)
    if (modes[i].main(argc, argv) != EXIT_SUCCESS) return EXIT_FAILURE;
  return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
  for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
    if (tools[i](argc, argv) != EXIT_SUCCESS) return EXIT_FAILURE;
  return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_SUCCESS : EXIT_FAILURE;
}
