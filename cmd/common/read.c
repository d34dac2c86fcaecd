#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/common/cli_private.h"

enum { FIRST_LONG_ONLY = 256 };

/* ---- the rows ----------------------------------------------------------------------------- */

#define ARGUMENTS struct cli

static const struct cli_word when[] = {{"auto", CLI_PROGRESS_AUTO},
                                       {"always", CLI_PROGRESS_ALWAYS},
                                       {"never", CLI_PROGRESS_NEVER},
                                       CLI_END_OF_WORDS};

static const struct {
  unsigned group; /* 0: every tool's */
  struct cli_option option;
} shared[] = {
    {CLI_TABLE,
     CLI_DELIMITER('d', "delimiter", table.delimiter, "C",
                   "field delimiter (detected from the first lines)", .of = CLI_OF_TEXT)},
    {CLI_TABLE, CLI_COUNT(0, "skip-lines", table.skip_lines, "N",
                          "lines before the table to ignore (0)", 0, 1e9, .of = CLI_OF_TABLE)},
    {CLI_TABLE, CLI_FLAG(0, "no-header", asked.no_header, "the first line is data, not names",
                         .of = CLI_OF_TEXT)},
    {CLI_TABLE, CLI_LIST(0, "na", asked.na, "LIST", "missing values (NA, and the empty field)",
                         .of = CLI_OF_TEXT)},
    {CLI_TABLE, CLI_DELIMITER(0, "decimal", table.notation.decimal, "C", "decimal mark (a point)",
                              .of = CLI_OF_TABLE)},
    {CLI_TABLE, CLI_FLAG(0, "thousands", table.notation.thousands,
                         "digits are grouped, as in 1,234.5", .of = CLI_OF_TABLE)},
    {CLI_TABLE, CLI_TEXT(0, "strip", table.notation.strip, "LIST",
                         "texts to ignore beside a number, as in '$,%'", .of = CLI_OF_TABLE)},
    {CLI_TABLE, CLI_TEXT(0, "comment", table.notation.comment, "TEXT",
                         "skip lines that begin with TEXT", .of = CLI_OF_TABLE)},
    {CLI_OUTPUT,
     CLI_TEXT('o', "output", output, "FILE", "write FILE, whole or not at all (standard output)")},
    {CLI_SEEDED, CLI_SEED('s', "seed", seed, "N", "seed of every random choice (1)")},
    {CLI_THREADS, CLI_COUNT('j', "threads", asked.threads, "N",
                            "threads (the cores this process may use)", 1, 1024)},
    {0, CLI_SIZE(0, "memory", asked.memory, "SIZE",
                 "memory at most, as in 2G (what the system allows)")},
    {CLI_PROGRESS, CLI_CHOICE(0, "progress", asked.progress, "WHEN", "progress line", when)},
    {CLI_REPORT, CLI_FLAG(0, "json", asked.json, "report as one JSON object on standard error")},
    {0, CLI_FLAG('q', "quiet", quiet, "no warnings")},
    {0, CLI_FLAG('v', "verbose", verbose, "report what is done, and a summary")},
    {0, CLI_FLAG('h', "help", asked.help, "print this help")},
    {0, CLI_FLAG('V', "version", asked.version, "print versions")},
};

static struct cli_row make_row(const struct cli_option *option, void *arguments)
{
  struct cli_row row = {option, arguments, 0};
  if (option->type == CLI_TYPE_CHOICE) memcpy(&row.usual, cli_value(&row), sizeof row.usual);
  return row;
}

size_t cli_rows(struct cli *cli, void *arguments, struct cli_row rows[CLI_MAX_OPTIONS])
{
  const struct cli_tool *tool = cli->tool;
  size_t n = 0;
  assert(tool->n_options + sizeof shared / sizeof shared[0] <= CLI_MAX_OPTIONS);
  for (; n < tool->n_options; n++) rows[n] = make_row(&tool->options[n], arguments);
  for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
    if (shared[i].group == 0 || (tool->groups & shared[i].group) != 0)
      rows[n++] = make_row(&shared[i].option, cli);
  return n;
}

bool cli_given(const struct cli *cli, const char *name)
{
  for (size_t i = 0; i < cli->tool->n_options; i++)
    if (strcmp(cli->tool->options[i].name, name) == 0) return (cli->given >> i & 1) != 0;
  assert(false && "an option of the tool");
  return false;
}

const char *cli_given_of(const struct cli *cli, const char *names)
{
  for (size_t length; *names != '\0'; names += length + (names[length] == ',')) {
    length = strcspn(names, ",");
    size_t i = 0;
    while (i < cli->tool->n_options && (strncmp(cli->tool->options[i].name, names, length) != 0 ||
                                        cli->tool->options[i].name[length] != '\0'))
      i++;
    assert(i < cli->tool->n_options && "options of the tool");
    if ((cli->given >> i & 1) != 0) return cli->tool->options[i].name;
  }
  return NULL;
}

const char *cli_text_given(const struct cli *cli, const char *name)
{
  const char *text = NULL;
  for (size_t i = 0; i < cli->n_as_given; i++)
    if (strcmp(cli->as_given[i].option->name, name) == 0) text = cli->as_given[i].text;
  return text;
}

const char *cli_misplaced(const struct cli *cli, unsigned lacks)
{
  for (size_t i = 0; i < cli->n_as_given; i++)
    if ((cli->as_given[i].option->of & lacks) != 0) return cli->as_given[i].option->name;
  return NULL;
}

/* ---- getopt_long -------------------------------------------------------------------------- */

static int argument_of(const struct cli_option *option)
{
  if (option->type == CLI_TYPE_FLAG) return no_argument;
  return option->type == CLI_TYPE_FLAG_OR ? optional_argument : required_argument;
}

/* Fills what getopt_long wants from the rows. */
static void getopt_tables(size_t n, const struct cli_row rows[], struct option *longs, char *shorts)
{
  char *s = shorts;
  for (size_t i = 0; i < n; i++) {
    const struct cli_option *option = rows[i].option;
    int argument = argument_of(option);
    *longs++ = (struct option){option->name, argument, NULL, FIRST_LONG_ONLY + (int)i};
    if (option->letter == 0) continue;
    *s++ = option->letter;
    if (argument == required_argument) *s++ = ':';
  }
  *longs = (struct option){NULL, 0, NULL, 0};
  *s = '\0';
}

/* The row that getopt_long means by 'code'; 'n' if it is none. */
static size_t find_row(size_t n, const struct cli_row rows[], int code)
{
  if (code >= FIRST_LONG_ONLY) return (size_t)(code - FIRST_LONG_ONLY);
  for (size_t i = 0; i < n && code != 0; i++)
    if (rows[i].option->letter == code) return i;
  return n;
}

/* Reports what getopt_long() found wrong, which would print the argument unmasked itself:
 * 'argument' is the one it stopped in, 'option' its row, or NULL if there is none. */
static bool refuse_option(const struct cli *cli, size_t n, const struct cli_row rows[],
                          const char *argument, const struct cli_option *option)
{
  char shown[GPNN_MASK_BYTES];
  const char letter = (char)optopt;
  size_t length = strcspn(argument, "="), n_like = 0;
  if (option != NULL)
    return cli_refuse(cli, "option --%s: %s", option->name,
                      option->type == CLI_TYPE_FLAG ? "takes no value" : "its value is missing");
  if (optopt != 0) return cli_refuse(cli, "no such option: \"-%s\"", gpnn_mask(shown, &letter, 1));
  for (size_t i = 0; i < n; i++)
    n_like += strncmp(rows[i].option->name, argument + 2, length - 2) == 0;
  return cli_refuse(cli, "%s: \"%s\"",
                    n_like > 1 ? "more than one option begins so" : "no such option",
                    gpnn_mask(shown, argument, length));
}

/* Keeps an option as it was given. */
static bool remember(struct cli *cli, const struct cli_option *option, const char *text)
{
  if (cli->n_as_given == CLI_GIVEN_MAX)
    return cli_refuse(cli, "more than %d options", CLI_GIVEN_MAX);
  cli->as_given[cli->n_as_given++] = (struct cli_given){option, text};
  return true;
}

bool cli_read(struct cli *cli, size_t n, const struct cli_row rows[], int argc, char **argv)
{
  struct option longs[CLI_MAX_OPTIONS + 1];
  char shorts[2 * CLI_MAX_OPTIONS + 1];
  getopt_tables(n, rows, longs, shorts);
  opterr = 0;
  for (;;) {
    int code = getopt_long(argc, argv, shorts, longs, NULL);
    if (code == -1) break;
    size_t i = find_row(n, rows, code == '?' ? optopt : code);
    if (code == '?')
      return refuse_option(cli, n, rows, argv[optind - 1], i < n ? rows[i].option : NULL);
    if (!cli_set_value(cli, &rows[i], optarg) || !remember(cli, rows[i].option, optarg))
      return false;
    if (i < cli->tool->n_options) cli->given |= (uint64_t)1 << i;
  }
  if (!cli->asked.json) cli->report = NULL; /* only now known */
  cli->n_operands = (size_t)(argc - optind);
  cli->operands = argv + optind;
  return true;
}
