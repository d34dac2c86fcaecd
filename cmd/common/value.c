#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/number.h"
#include "cmd/common/cli_private.h"

void *cli_value(const struct cli_row *row)
{
  return (char *)row->arguments + row->option->at;
}

/* ---- numbers ------------------------------------------------------------------------------ */

static bool set_number(const struct cli *cli, const struct cli_row *row, const char *text)
{
  const struct cli_option *option = row->option;
  double number = 0;
  bool whole = option->type != CLI_TYPE_REAL;
  bool good = gpnn_number_read(text, strlen(text), &number) == GPNN_NUMBER_OK &&
              number >= option->low && number <= option->high &&
              (!whole || number == (double)(size_t)number);
  if (!good) {
    char shown[GPNN_MASK_BYTES], low[GPNN_NUMBER_BYTES], high[GPNN_NUMBER_BYTES];
    gpnn_number_write(low, option->low);
    gpnn_number_write(high, option->high);
    return cli_refuse(cli, "option --%s: not %s from %s to %s%s: \"%s\"", option->name,
                      whole ? "a whole number" : "a number", low, high,
                      option->type == CLI_TYPE_AUTO ? ", or auto" : "",
                      gpnn_mask(shown, text, strlen(text)));
  }
  uint64_t exact = 0;
  if (whole) /* above 2^53 a double is not exact */
    *(size_t *)cli_value(row) =
        gpnn_number_read_u64(text, strlen(text), &exact) ? (size_t)exact : (size_t)number;
  else
    *(double *)cli_value(row) = number;
  return true;
}

static bool set_auto(const struct cli *cli, const struct cli_row *row, const char *text)
{
  if (strcmp(text, "auto") != 0) return set_number(cli, row, text);
  *(size_t *)cli_value(row) = 0;
  return true;
}

static bool set_seed(const struct cli *cli, const struct cli_row *row, const char *text)
{
  const struct cli_option *option = row->option;
  if (gpnn_number_read_u64(text, strlen(text), cli_value(row))) return true;
  return cli_refuse(cli, "option --%s: not a whole number from 0 to 2^64-1: \"%s\"", option->name,
                    text);
}

static bool set_size(const struct cli *cli, const struct cli_row *row, const char *text)
{
  static const char units[] = "KMGT"; /* powers of 1024 */
  size_t length = strlen(text);
  const char *unit = length == 0 ? NULL : strchr(units, text[length - 1]);
  double size = 0, most = ldexp(1, 60);
  char shown[GPNN_MASK_BYTES];
  bool good = gpnn_number_read(text, length - (unit != NULL), &size) == GPNN_NUMBER_OK;
  if (unit != NULL) size = ldexp(size, 10 * (int)(unit - units + 1));
  if (!good || !(size >= 1 && size <= most))
    return cli_refuse(cli, "option --%s: a size, as in 500M or 1.5G, not \"%s\"", row->option->name,
                      gpnn_mask(shown, text, length));
  *(size_t *)cli_value(row) = (size_t)size;
  return true;
}

static bool set_probabilities(const struct cli *cli, const struct cli_row *row, const char *text)
{
  const struct cli_option *option = row->option;
  struct cli_probabilities *list = cli_value(row);
  const char *item, *rest = text;
  size_t length;
  list->n = 0;
  while ((item = gpnn_list_next(&rest, &length)) != NULL) {
    double p = 0;
    bool good = gpnn_number_read(item, length, &p) == GPNN_NUMBER_OK && p > 0 && p < 1 &&
                list->n < CLI_PROBABILITIES_MAX;
    for (size_t i = 0; i < list->n; i++) good = good && list->p[i] != p;
    if (!good)
      return cli_refuse(cli,
                        "option --%s: up to %d different probabilities between 0 and 1, as in "
                        "0.5,0.95",
                        option->name, CLI_PROBABILITIES_MAX);
    list->p[list->n++] = p;
  }
  return true;
}

/* ---- words -------------------------------------------------------------------------------- */

const char *cli_list_words(char text[CLI_WORDS_BYTES], const struct cli_word *words)
{
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; words[i].word != NULL && used < CLI_WORDS_BYTES; i++) {
    const char *before = i == 0 ? "" : words[i + 1].word == NULL ? " or " : ", ";
    used += (size_t)snprintf(text + used, CLI_WORDS_BYTES - used, "%s%s", before, words[i].word);
  }
  return text;
}

static bool find_word(const struct cli_word *words, const char *text, size_t length, void *value)
{
  for (; words->word != NULL; words++) {
    if (strlen(words->word) != length || memcmp(words->word, text, length) != 0) continue;
    memcpy(value, &words->value, sizeof words->value);
    return true;
  }
  return false;
}

static bool set_choice(const struct cli *cli, const struct cli_row *row, const char *text)
{
  const struct cli_option *option = row->option;
  char shown[GPNN_MASK_BYTES], words[CLI_WORDS_BYTES];
  if (find_word(option->words, text, strlen(text), cli_value(row))) return true;
  return cli_refuse(cli, "option --%s: %s, not \"%s\"", option->name,
                    cli_list_words(words, option->words), gpnn_mask(shown, text, strlen(text)));
}

static bool set_choices(const struct cli *cli, const struct cli_row *row, const char *text)
{
  const struct cli_option *option = row->option;
  struct cli_choices *list = cli_value(row);
  char shown[GPNN_MASK_BYTES], words[CLI_WORDS_BYTES];
  const char *item, *rest = text;
  size_t length;
  list->n = 0;
  while ((item = gpnn_list_next(&rest, &length)) != NULL) {
    if (list->n == (size_t)option->high ||
        !find_word(option->words, item, length, &list->of[list->n]))
      return cli_refuse(cli, "option --%s: %s, or %.0f of them with a comma between, not \"%s\"",
                        option->name, cli_list_words(words, option->words), option->high,
                        gpnn_mask(shown, text, strlen(text)));
    list->n++;
  }
  return true;
}

/* 'text' is NULL if the option stands alone. */
static bool set_flag_or(const struct cli *cli, const struct cli_row *row, const char *text)
{
  const struct cli_option *option = row->option;
  char shown[GPNN_MASK_BYTES];
  if (text == NULL) text = "";
  if (find_word(option->words, text, strlen(text), cli_value(row))) return true;
  return cli_refuse(cli, "option --%s: alone, or --%s=%s, not \"%s\"", option->name, option->name,
                    option->argument, gpnn_mask(shown, text, strlen(text)));
}

/* ---- text and flags ------------------------------------------------------------------------- */

static bool set_flag(const struct cli *cli, const struct cli_row *row, const char *text)
{
  (void)cli, (void)text;
  *(bool *)cli_value(row) = true;
  return true;
}

static bool set_text(const struct cli *cli, const struct cli_row *row, const char *text)
{
  (void)cli;
  *(const char **)cli_value(row) = text;
  return true;
}

static bool set_delimiter(const struct cli *cli, const struct cli_row *row, const char *text)
{
  const struct cli_option *option = row->option;
  char *delimiter = cli_value(row);
  if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0)
    *delimiter = '\t';
  else if (strlen(text) == 1 && strchr("\"\r\n", text[0]) == NULL)
    *delimiter = text[0];
  else
    return cli_refuse(cli, "option --%s: one character, or tab", option->name);
  return true;
}

static bool add_item(const struct cli *cli, const struct cli_row *row, const char *text)
{
  const struct cli_option *option = row->option;
  struct cli_list *list = cli_value(row);
  if (list->n == CLI_LIST_ITEMS)
    return cli_refuse(cli, "option --%s: given more than %d times", option->name, CLI_LIST_ITEMS);
  list->items[list->n++] = text;
  return true;
}

/* ---- settings ----------------------------------------------------------------------------- */

static const struct cli_option *find_setting(const struct cli_option *option, const char *name,
                                             size_t length)
{
  const struct cli_option *setting = option->settings;
  for (; setting->name != NULL; setting++)
    if (strlen(setting->name) == length && memcmp(setting->name, name, length) == 0) return setting;
  return NULL;
}

/* Says which names there are. */
static bool refuse_setting(const struct cli *cli, const struct cli_option *option, const char *text)
{
  enum { MOST = 16 };
  struct cli_word words[MOST + 1] = {CLI_END_OF_WORDS};
  char names[CLI_WORDS_BYTES], shown[GPNN_MASK_BYTES];
  for (size_t i = 0; i < MOST && option->settings[i].name != NULL; i++)
    words[i] = (struct cli_word){option->settings[i].name, 0};
  return cli_refuse(cli, "option --%s: NAME=VALUE, where NAME is %s, not \"%s\"", option->name,
                    cli_list_words(names, words), gpnn_mask(shown, text, strlen(text)));
}

static bool set_setting(const struct cli *cli, const struct cli_row *row, const char *text)
{
  const struct cli_option *option = row->option;
  size_t length = strcspn(text, "=");
  const struct cli_option *setting = find_setting(option, text, length);
  if (setting == NULL || text[length] == '\0') return refuse_setting(cli, option, text);
  char name[64];
  snprintf(name, sizeof name, "%s %s", option->name, setting->name);
  struct cli_option named = *setting;
  named.name = name; /* for messages */
  return cli_set_value(cli, &(struct cli_row){&named, row->arguments, 0}, text + length + 1);
}

/* ---- all of them -------------------------------------------------------------------------- */

/* How each type reads its value, and whether an empty one is refused beforehand; the other types
 * say what they expect instead. */
static const struct {
  bool (*set)(const struct cli *cli, const struct cli_row *row, const char *text);
  bool refuses_empty;
} types[] = {
    [CLI_TYPE_FLAG] = {set_flag, false},
    [CLI_TYPE_TEXT] = {set_text, true},
    [CLI_TYPE_COUNT] = {set_number, false},
    [CLI_TYPE_AUTO] = {set_auto, false},
    [CLI_TYPE_REAL] = {set_number, false},
    [CLI_TYPE_SEED] = {set_seed, false},
    [CLI_TYPE_SIZE] = {set_size, true},
    [CLI_TYPE_DELIMITER] = {set_delimiter, false},
    [CLI_TYPE_CHOICE] = {set_choice, true},
    [CLI_TYPE_CHOICES] = {set_choices, true},
    [CLI_TYPE_FLAG_OR] = {set_flag_or, false},
    [CLI_TYPE_LIST] = {add_item, true},
    [CLI_TYPE_PROBABILITIES] = {set_probabilities, true},
    [CLI_TYPE_SETTINGS] = {set_setting, true},
};

bool cli_set_value(const struct cli *cli, const struct cli_row *row, const char *text)
{
  const struct cli_option *option = row->option;
  bool is_na = cli_value(row) == (const void *)&cli->asked.na; /* may be spelt as the empty text */
  if (types[option->type].refuses_empty && text[0] == '\0' && !is_na)
    return cli_refuse(cli, "option --%s: its value is empty", option->name);
  return types[option->type].set(cli, row, text);
}
