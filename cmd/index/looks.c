#include "cmd/index/looks.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cmd/common/shell.h"

/* ---- composing ---------------------------------------------------------------------------- */

/* Appends to 'text', after a semicolon unless it is empty; what does not fit is cut. */
GPNN_PRINTF(2, 3)
static void add(char text[LOOKS_BYTES], const char *format, ...)
{
  size_t used = strlen(text);
  va_list args;
  if (used > 0) used += (size_t)snprintf(text + used, LOOKS_BYTES - used, "; ");
  if (used >= LOOKS_BYTES) return;
  va_start(args, format);
  vsnprintf(text + used, LOOKS_BYTES - used, format, args);
  va_end(args);
}

static void add_example(char text[LOOKS_BYTES], const char *what, const struct gpnn_odd_cells *odd,
                        enum gpnn_profile_example which)
{
  const struct gpnn_example *example = &odd->first[which];
  if (example->line > 0)
    add(text, "%s, \"%.32s\" (line %zu)", what, example->text, example->line);
  else
    add(text, "%s", what);
}

int looks_width(const char *text)
{
  int width = 0;
  for (; *text != '\0'; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
  return width;
}

/* ---- what it looks like ------------------------------------------------------------------- */

/* The example that shows best what a column of texts is. */
static enum gpnn_profile_example text_example(const struct gpnn_odd_cells *odd)
{
  return odd->first[GPNN_EXAMPLE_TEXT].line > 0      ? GPNN_EXAMPLE_TEXT
         : odd->first[GPNN_EXAMPLE_AFFIXED].line > 0 ? GPNN_EXAMPLE_AFFIXED
         : odd->first[GPNN_EXAMPLE_DATE].line > 0    ? GPNN_EXAMPLE_DATE
                                                     : GPNN_EXAMPLE_WRITTEN;
}

static void describe_missing(char text[LOOKS_BYTES], const struct gpnn_column_profile *column)
{
  if (column->n_missing > 0)
    add(text, "missing in %zu row%s (line %zu)", column->n_missing,
        column->n_missing == 1 ? "" : "s", column->missing_line);
  if (column->odd != NULL && column->odd->n_like_missing > 0) {
    const struct gpnn_example *first = &column->odd->first[GPNN_EXAMPLE_LIKE_MISSING];
    add(text, "\"%.32s\" for missing (line %zu)", first->text, first->line);
  }
}

static void describe_codes(char text[LOOKS_BYTES], const struct gpnn_column_profile *column,
                           size_t n_codes)
{
  char value[GPNN_NUMBER_BYTES];
  if (n_codes == 0) return;
  gpnn_number_write(value, column->codes[0].value);
  add(text, "%s for missing (line %zu)", value, column->codes[0].line);
}

static void describe_numbers(char text[LOOKS_BYTES], const struct gpnn_column_profile *column,
                             const struct gpnn_column_advice *advice)
{
  const struct gpnn_odd_cells *odd = column->odd;
  if (odd != NULL && odd->n_written > 0) add_example(text, "numbers", odd, GPNN_EXAMPLE_WRITTEN);
  if (odd != NULL && odd->n_affixed > 0) add_example(text, "numbers", odd, GPNN_EXAMPLE_AFFIXED);
  describe_missing(text, column);
  describe_codes(text, column, advice->n_codes);
  if (odd != NULL && odd->n_text > 0) add_example(text, "not a number", odd, GPNN_EXAMPLE_TEXT);
  if (odd != NULL && odd->n_dates > 0) add_example(text, "not a number", odd, GPNN_EXAMPLE_DATE);
  if (odd != NULL && odd->n_not_finite > 0)
    add_example(text, "not finite", odd, GPNN_EXAMPLE_NOT_FINITE);
}

static void describe_dates(char text[LOOKS_BYTES], const struct gpnn_column_profile *column)
{
  add_example(text, "dates", column->odd, GPNN_EXAMPLE_DATE);
  describe_missing(text, column);
  if (column->odd->n_text > 0) add_example(text, "no date", column->odd, GPNN_EXAMPLE_TEXT);
}

static void describe_texts(char text[LOOKS_BYTES], const struct gpnn_column_profile *column,
                           const struct gpnn_column_advice *advice)
{
  char what[64];
  size_t n_levels = advice->n_levels;
  if (advice->kind == GPNN_ADVICE_CLASSES)
    snprintf(what, sizeof what, "%zu classes", n_levels);
  else
    snprintf(what, sizeof what, "%zu%s different text%s", n_levels,
             n_levels >= GPNN_LEVELS_MAX ? " or more" : "", n_levels == 1 ? "" : "s");
  add_example(text, what, column->odd, text_example(column->odd));
  if (column->n_missing > 0) describe_missing(text, column);
}

static void describe_dropped(char text[LOOKS_BYTES], const struct gpnn_column_profile *column,
                             const struct gpnn_column_advice *advice)
{
  switch (advice->reason) {
  case GPNN_DROP_EMPTY:
    add(text, "no values at all");
    return;
  case GPNN_DROP_ALL_DIFFERENT:
    add_example(text, "texts, all different", column->odd, text_example(column->odd));
    return;
  case GPNN_DROP_MANY_TEXTS:
  case GPNN_DROP_ONE_TEXT:
    describe_texts(text, column, advice);
    return;
  case GPNN_DROP_COUNTS_ROWS:
    add(text, "the number of the row");
    return;
  case GPNN_DROP_MIXED_UNITS:
    add_example(text, "numbers in several units", column->odd, GPNN_EXAMPLE_AFFIXED);
    return;
  case GPNN_DROP_OTHER_MARK:
    add(text, "numbers with another decimal mark than other columns");
    return;
  default:
    describe_numbers(text, column, advice);
  }
}

const char *looks_describe(char text[LOOKS_BYTES], const struct gpnn_profile *profile,
                           const struct gpnn_advice *advice, size_t j)
{
  const struct gpnn_column_profile *column = &profile->columns[j];
  const struct gpnn_column_advice *this = &advice->columns[j];
  text[0] = '\0';
  if (this->kind == GPNN_ADVICE_DROP)
    describe_dropped(text, column, this);
  else if (this->kind == GPNN_ADVICE_DATES)
    describe_dates(text, column);
  else if (this->kind == GPNN_ADVICE_CATEGORY || this->kind == GPNN_ADVICE_CLASSES)
    describe_texts(text, column, this);
  else
    describe_numbers(text, column, this);
  return text;
}

/* ---- options ------------------------------------------------------------------------------ */

/* Prints an option for a column; 'format', of a date, may be NULL. */
static void print_for_column(const char *option, const struct column_names *names, size_t j,
                             const char *format, FILE *to)
{
  char *value = NULL;
  size_t length;
  FILE *composed = open_memstream(&value, &length);
  if (composed == NULL) return;
  column_names_print(names, j, composed);
  if (format != NULL && strcmp(format, GPNN_DATE_ISO) != 0) fprintf(composed, "=%s", format);
  if (fclose(composed) == 0) {
    fprintf(to, "%s ", option);
    shell_print_word(value, to);
  }
  free(value);
}

/* True if the column has numbers that need --thousands, or --decimal. */
static bool has_forms(const struct gpnn_column_profile *column, bool commas)
{
  size_t n_integers = column->forms[GPNN_FORM_INTEGER] + column->forms[GPNN_FORM_POINT] +
                      (commas ? column->forms[GPNN_FORM_POINT_3] : 0);
  return gpnn_profile_numbers(column) > n_integers;
}

static void print_notation(const struct gpnn_column_profile *column,
                           const struct gpnn_advice *advice, const char **gap, FILE *to)
{
  const struct gpnn_odd_cells *odd = column->odd;
  if (odd == NULL) return;
  if (has_forms(column, advice->decimal == '.') && (odd->n_written + odd->n_affixed > 0)) {
    if (advice->decimal == ',') fprintf(to, "%s--decimal ,", *gap), *gap = " ";
    if (advice->thousands) fprintf(to, "%s--thousands", *gap), *gap = " ";
  }
  if (odd->n_affixed > 0) {
    fprintf(to, "%s--strip ", *gap);
    shell_print_word(odd->affixes[0], to);
    *gap = " ";
  }
}

static void print_missing(const struct gpnn_column_profile *column,
                          const struct gpnn_column_advice *advice, const char **gap, FILE *to)
{
  const struct gpnn_odd_cells *odd = column->odd;
  char value[GPNN_NUMBER_BYTES];
  if (advice->needs_na) {
    fprintf(to, "%s--na ", *gap);
    shell_print_word(odd->like_missing[0].text, to);
    *gap = " ";
  }
  if (advice->n_codes > 0) {
    gpnn_number_write(value, column->codes[0].value);
    fprintf(to, "%s--na %s", *gap, value);
    *gap = " ";
  }
  bool lacks = column->n_missing + advice->n_codes > 0 ||
               (odd != NULL && odd->n_like_missing + odd->n_text + odd->n_not_finite > 0);
  if (lacks) fprintf(to, "%s--skip-bad", *gap);
}

void looks_print_options(const struct gpnn_profile *profile, const struct gpnn_advice *advice,
                         const struct column_names *names, size_t j, FILE *to)
{
  const struct gpnn_column_profile *column = &profile->columns[j];
  const struct gpnn_column_advice *this = &advice->columns[j];
  const char *gap = "";
  switch (this->kind) {
  case GPNN_ADVICE_DROP:
    print_for_column("--drop", names, j, NULL, to);
    return;
  case GPNN_ADVICE_CATEGORY:
    print_for_column("--one-hot", names, j, NULL, to);
    if (column->n_missing > 0) fputs(" --skip-bad", to);
    return;
  case GPNN_ADVICE_CLASSES:
    if (this->needs_classes) fputs("--classes", to);
    if (column->n_missing > 0) fprintf(to, "%s--skip-bad", this->needs_classes ? " " : "");
    return;
  case GPNN_ADVICE_DATES:
    print_for_column("--date", names, j, this->format, to);
    gap = " ";
    print_missing(column, this, &gap, to);
    return;
  default:
    print_notation(column, advice, &gap, to);
    print_missing(column, this, &gap, to);
  }
}
