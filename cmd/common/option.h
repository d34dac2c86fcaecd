/*
 * option: one row of a table of options.
 *
 * A tool's command line is data: a constant table of rows, each naming the member of the tool's
 * arguments (a struct) that its value goes to.  Parsing, --help, messages and whatever else needs
 * to know the options (completions, checks of the manual) read the same rows.
 *
 * Write rows with the macros below, in a file that defines ARGUMENTS as the struct:
 *
 *   #define ARGUMENTS struct predict_arguments
 *   static const struct cli_option options[] = {
 *       CLI_TEXT('p', "params", params, "FILE", "parameters (standard input)"),
 *       CLI_COUNT('m', "neighbours", neighbours, "M", "neighbours (50)", 1, 1e6),
 *   };
 *
 * A letter of 0 stands for none.  A member of the wrong type does not compile.  The members hold
 * the defaults before parsing begins; a default in parentheses ends the help.  Shells complete the
 * names of files where 'argument' is FILE, TABLE, INDEX or PARAMS, of directories where it is DIR,
 * and elsewhere 'words'.
 */
#ifndef GPNN_CMD_COMMON_OPTION_H
#define GPNN_CMD_COMMON_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_type {
  CLI_TYPE_FLAG,
  CLI_TYPE_TEXT,
  CLI_TYPE_COUNT,
  CLI_TYPE_AUTO,
  CLI_TYPE_REAL,
  CLI_TYPE_SEED,
  CLI_TYPE_SIZE,
  CLI_TYPE_DELIMITER,
  CLI_TYPE_CHOICE,
  CLI_TYPE_CHOICES,
  CLI_TYPE_FLAG_OR,
  CLI_TYPE_LIST,
  CLI_TYPE_PROBABILITIES,
  CLI_TYPE_SETTINGS,
};

/* A word that may be chosen, and what it stands for.  Lists end with CLI_END_OF_WORDS. */
struct cli_word {
  const char *word;
  int value;
};

#define CLI_END_OF_WORDS \
  {                      \
    NULL, 0              \
  }

enum { CLI_CHOICES_MAX = 4, CLI_LIST_ITEMS = 64, CLI_PROBABILITIES_MAX = 32 };

/* The values of words, in the order given; none: the option was not given. */
struct cli_choices {
  size_t n;
  int of[CLI_CHOICES_MAX];
};

struct cli_list {
  size_t n;
  const char *items[CLI_LIST_ITEMS];
};

struct cli_probabilities {
  size_t n;
  double p[CLI_PROBABILITIES_MAX];
};

struct cli_option {
  const char *name; /* long name */
  char letter;      /* 0: long only */
  enum cli_type type;
  size_t at;            /* where in the arguments its value goes */
  const char *argument; /* name of its value in help; NULL for a flag */
  const char *help;     /* what it does, (default) at the end; NULL: not listed in help */
  double low, high;     /* numbers: the range allowed */
  const struct cli_word *words;
  const struct cli_option *settings; /* the last has no name */
  unsigned of; /* what a run has to have for it to make sense: bits, some of the tool's own */
};

/* What a run may lack, for cli_misplaced(). */
enum {
  CLI_OF_TABLE = 1,    /* a table to read */
  CLI_OF_TEXT = 2,     /* a table to read or to write */
  CLI_OF_INDEX = 4,    /* an index, as distinct from a model file */
  CLI_OF_MODEL = 8,    /* a model file */
  CLI_OF_NUMBERS = 16, /* targets that are numbers */
  CLI_OF_CLASSES = 32,
  CLI_OF_OWN = 64 /* the first of the tool's own */
};

/* The place of 'member', which has to be of type 'type'. */
#define CLI_AT(type, member) \
  _Generic(((ARGUMENTS *)NULL)->member, type : offsetof(ARGUMENTS, member))
#define CLI_AT_ENUM(member)                        \
  _Generic(((ARGUMENTS *)NULL)->member, int        \
           : offsetof(ARGUMENTS, member), unsigned \
           : offsetof(ARGUMENTS, member))
#define CLI_ROW(kind, letter, name, at, argument, ...)       \
  {                                                          \
    name, letter, CLI_TYPE_##kind, at, argument, __VA_ARGS__ \
  }

/*
 * The rows.  The last argument may be followed by '.of = ...', what a run has to have.
 */

/* bool: true if it is given; the last argument is its help */
#define CLI_FLAG(letter, name, member, ...) \
  CLI_ROW(FLAG, letter, name, CLI_AT(bool, member), NULL, .help = __VA_ARGS__)
/* const char *: not empty */
#define CLI_TEXT(letter, name, member, argument, ...) \
  CLI_ROW(TEXT, letter, name, CLI_AT(const char *, member), argument, .help = __VA_ARGS__)
/* const char *: not empty, usually one of 'words', whose values mean nothing: resolve() decides */
#define CLI_TEXT_OF(letter, name, member, argument, text, ...)                      \
  CLI_ROW(TEXT, letter, name, CLI_AT(const char *, member), argument, .help = text, \
          .words = __VA_ARGS__)
/* size_t, within least and the last argument */
#define CLI_COUNT(letter, name, member, argument, text, least, ...)                          \
  CLI_ROW(COUNT, letter, name, CLI_AT(size_t, member), argument, .help = text, .low = least, \
          .high = __VA_ARGS__)
/* size_t, the same, or 0 for "auto" */
#define CLI_AUTO(letter, name, member, argument, text, least, ...)                          \
  CLI_ROW(AUTO, letter, name, CLI_AT(size_t, member), argument, .help = text, .low = least, \
          .high = __VA_ARGS__)
/* double, the same */
#define CLI_REAL(letter, name, member, argument, text, least, ...)                          \
  CLI_ROW(REAL, letter, name, CLI_AT(double, member), argument, .help = text, .low = least, \
          .high = __VA_ARGS__)
/* uint64_t */
#define CLI_SEED(letter, name, member, argument, ...) \
  CLI_ROW(SEED, letter, name, CLI_AT(uint64_t, member), argument, .help = __VA_ARGS__)
/* size_t: bytes, as 500M, 1.5G or 2000000 */
#define CLI_SIZE(letter, name, member, argument, ...) \
  CLI_ROW(SIZE, letter, name, CLI_AT(size_t, member), argument, .help = __VA_ARGS__)
/* char: one byte, or "tab" or "\t" for a tab */
#define CLI_DELIMITER(letter, name, member, argument, ...) \
  CLI_ROW(DELIMITER, letter, name, CLI_AT(char, member), argument, .help = __VA_ARGS__)
/* an enum or int: the value of one of the words, which are listed behind the help, as is the word
 * that is the default, if one is.  A help that begins with a parenthesis names the default itself,
 * and follows the words. */
#define CLI_CHOICE(letter, name, member, argument, text, ...) \
  CLI_ROW(CHOICE, letter, name, CLI_AT_ENUM(member), argument, .help = text, .words = __VA_ARGS__)
/* struct cli_choices: WORD[,WORD...], at most as many as the last argument says */
#define CLI_CHOICES(letter, name, member, argument, text, list, ...)                         \
  CLI_ROW(CHOICES, letter, name, CLI_AT(struct cli_choices, member), argument, .help = text, \
          .words = list, .high = __VA_ARGS__)
/* an enum: words[0], which has no text, if it stands alone, or words[1] as --name=WORD */
#define CLI_FLAG_OR(letter, name, member, argument, text, ...) \
  CLI_ROW(FLAG_OR, letter, name, CLI_AT_ENUM(member), argument, .help = text, .words = __VA_ARGS__)
/* struct cli_list: the option may be given several times */
#define CLI_LIST(letter, name, member, argument, ...) \
  CLI_ROW(LIST, letter, name, CLI_AT(struct cli_list, member), argument, .help = __VA_ARGS__)
/* struct cli_probabilities: P[,P...], different ones between 0 and 1 */
#define CLI_PROBABILITIES(letter, name, member, argument, ...)                             \
  CLI_ROW(PROBABILITIES, letter, name, CLI_AT(struct cli_probabilities, member), argument, \
          .help = __VA_ARGS__)
/* NAME=VALUE, once or several times, where NAME is that of one of the settings: rows like others,
 * without letters, that end with CLI_END_OF_SETTINGS */
#define CLI_SETTINGS(letter, name, argument, text, ...) \
  CLI_ROW(SETTINGS, letter, name, 0, argument, .help = text, .settings = __VA_ARGS__)
#define CLI_END_OF_SETTINGS \
  {                         \
    NULL                    \
  }

#endif
