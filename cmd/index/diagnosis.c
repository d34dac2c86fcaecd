#include "cmd/index/index_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cmd/common/shell.h"
#include "table/columns.h"

enum { LOOKS_BYTES = 256 }; /* for a few words on what the cells of a column look like */

/* ---- composing ----------------------------------------------------------------------------- */

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

/* How many places 'text' takes in a terminal, if each character takes one. */
static int width_of(const char *text)
{
  int width = 0;
  for (; *text != '\0'; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
  return width;
}

/* ---- what it looks like -------------------------------------------------------------------- */

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
             n_levels > GPNN_CODED_MAX ? " or more" : "", n_levels == 1 ? "" : "s");
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

/* Says what column 'j' looks like, with an example and its line. */
static const char *describe_looks(char text[LOOKS_BYTES], const struct gpnn_profile *profile,
                                  const struct gpnn_advice *advice, size_t j)
{
  const struct gpnn_column_profile *column = &profile->columns[j];
  const struct gpnn_column_advice *this = &advice->columns[j];
  text[0] = '\0';
  if (this->kind == GPNN_ADVICE_DROP)
    describe_dropped(text, column, this);
  else if (this->kind == GPNN_ADVICE_DATES)
    describe_dates(text, column);
  else if (this->kind == GPNN_ADVICE_CATEGORY || this->kind == GPNN_ADVICE_ORDERED ||
           this->kind == GPNN_ADVICE_CODED || this->kind == GPNN_ADVICE_CLASSES)
    describe_texts(text, column, this);
  else
    describe_numbers(text, column, this);
  return text;
}

/* ---- options ------------------------------------------------------------------------------- */

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

/* Prints the option that gives a column the order that its texts show. */
static void print_order(const struct gpnn_advice *advice, const struct column_names *names,
                        size_t j, FILE *to)
{
  char *value = NULL;
  size_t length;
  FILE *composed = open_memstream(&value, &length);
  if (composed == NULL) return;
  changes_print_order(names, advice, j, composed);
  if (fclose(composed) == 0) {
    fputs("--ordered ", to);
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
  bool is_missing =
      column->n_missing + advice->n_codes > 0 || (odd != NULL && odd->n_like_missing > 0);
  bool is_bad = odd != NULL && odd->n_text + odd->n_not_finite > 0;
  if (is_bad || (is_missing && !advice->may_lack)) fprintf(to, "%s--skip-bad", *gap);
}

/* Prints the options that use column 'j', or that leave out what cannot be used of it. */
static void print_options(const struct gpnn_profile *profile, const struct gpnn_advice *advice,
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
  case GPNN_ADVICE_CODED:
  case GPNN_ADVICE_ORDERED:
    if (this->kind == GPNN_ADVICE_ORDERED)
      print_order(advice, names, j, to);
    else
      print_for_column(this->kind == GPNN_ADVICE_CODED ? "--coded" : "--one-hot", names, j, NULL,
                       to);
    if (column->n_missing > 0 && !this->may_lack) fputs(" --skip-bad", to);
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

/* ---- the report ---------------------------------------------------------------------------- */

/* Columns shown, of a table that may have thousands that are alike; and rows that say more than the
 * first bad one does. */
enum { SHOWN = 30, FEW_ROWS = 5 };

/* How the report calls a column: by its name, and by its number where options need that. */
static const char *column_name(const struct column_names *names, size_t j,
                               char shown[GPNN_COLUMN_BYTES])
{
  const char *name = gpnn_table_column(names->table, j);
  char masked[GPNN_MASK_BYTES];
  gpnn_mask(masked, name, strlen(name));
  if (names->are_usable[j])
    snprintf(shown, GPNN_COLUMN_BYTES, "%s", masked);
  else if (name[0] == '\0')
    snprintf(shown, GPNN_COLUMN_BYTES, "column %zu", j + 1);
  else
    snprintf(shown, GPNN_COLUMN_BYTES, "column %zu: %s", j + 1, masked);
  return shown;
}

/* ---- what to say about columns ------------------------------------------------------------- */

static bool is_listed(const struct gpnn_advice *advice, size_t j)
{
  const struct gpnn_column_advice *column = &advice->columns[j];
  return column->kind != GPNN_ADVICE_UNUSED &&
         (column->n_bad + column->n_codes > 0 || column->needs_classes ||
          column->kind == GPNN_ADVICE_DROP);
}

/* How wide the columns of the report are. */
struct widths {
  int name, looks;
  size_t n; /* columns of the table that are listed */
};

static struct widths measure(const struct gpnn_profile *profile, const struct gpnn_advice *advice,
                             const struct column_names *names)
{
  struct widths widths = {(int)strlen("column"), (int)strlen("looks like"), 0};
  char shown[GPNN_COLUMN_BYTES], text[LOOKS_BYTES];
  for (size_t j = 0; j < advice->n_columns; j++) {
    if (!is_listed(advice, j) || widths.n++ >= SHOWN) continue;
    int name = width_of(column_name(names, j, shown));
    int looks = width_of(describe_looks(text, profile, advice, j));
    if (name > widths.name) widths.name = name;
    if (looks > widths.looks) widths.looks = looks;
  }
  return widths;
}

/* Prints 'text' and as many blanks as make it 'width' wide. */
static void print_padded(const char *text, int width, FILE *to)
{
  fprintf(to, "%s%*s", text, width - width_of(text), "");
}

static void print_columns(const struct gpnn_profile *profile, const struct gpnn_advice *advice,
                          const struct column_names *names, struct widths widths, FILE *to)
{
  char shown[GPNN_COLUMN_BYTES], text[LOOKS_BYTES];
  size_t n = 0;
  if (widths.n == 0) return;
  fprintf(to, "  %-*s  %9s  %-*s  %s\n", widths.name, "column", "bad cells", widths.looks,
          "looks like", "option");
  for (size_t j = 0; j < advice->n_columns && n < SHOWN; j++) {
    if (!is_listed(advice, j)) continue;
    n++;
    fputs("  ", to);
    print_padded(column_name(names, j, shown), widths.name, to);
    fprintf(to, "  %9zu  ", advice->columns[j].n_bad + advice->columns[j].n_codes);
    print_padded(describe_looks(text, profile, advice, j), widths.looks, to);
    fputs("  ", to);
    print_options(profile, advice, names, j, to);
    fputc('\n', to);
  }
  if (widths.n > n) fprintf(to, "  and %zu more columns\n", widths.n - n);
}

/* ---- what to say about the table ----------------------------------------------------------- */

/* True of values that are taken for classes only if the user says so. */
static bool may_be_classes(const struct gpnn_column_advice *column)
{
  return column->kind == GPNN_ADVICE_DATES ||
         (column->kind == GPNN_ADVICE_DROP && column->reason == GPNN_DROP_MIXED_UNITS);
}

static void print_targets(const struct gpnn_profile *profile, const struct gpnn_advice *advice,
                          const struct column_names *names, FILE *to)
{
  enum { NAMED = 8 };
  char shown[GPNN_COLUMN_BYTES];
  size_t n = 0;
  if (!advice->is_stuck) return;
  bool is_target = profile->columns[advice->stuck_column].role == GPNN_PROFILE_TARGET;
  fprintf(to, "  '%s' is %s", column_name(names, advice->stuck_column, shown),
          is_target ? "the target (-y) and has to be numbers or classes"
          : profile->columns[advice->stuck_column].is_named
              ? "named by -x, but cannot be an input as it is: leave it out of -x"
              : "no input and has to be numbers");
  if (profile->columns[advice->stuck_column].is_named) {
    fputc('\n', to);
    return;
  }
  if (is_target && may_be_classes(&advice->columns[advice->stuck_column]))
    fputs(" (--classes)", to);
  if (is_target) fputs(": choose another by -y", to);
  for (size_t j = 0; j < advice->n_columns; j++) {
    if (advice->columns[j].kind != GPNN_ADVICE_NUMBERS ||
        gpnn_profile_numbers(&profile->columns[j]) == 0)
      continue;
    if (n++ < NAMED)
      fprintf(to, "%s%s", n == 1 ? "\n  columns that could be a target: " : ", ",
              column_name(names, j, shown));
  }
  fprintf(to, "%s\n", n > NAMED ? ", ..." : "");
}

/* Says of dates in which days cannot be told from months how else they can be read. */
static void print_ambiguous(const struct gpnn_advice *advice, const struct column_names *names,
                            FILE *to)
{
  char shown[GPNN_COLUMN_BYTES];
  for (size_t j = 0; j < advice->n_columns; j++) {
    const struct gpnn_column_advice *column = &advice->columns[j];
    if (column->kind == GPNN_ADVICE_DATES && column->other_format != NULL)
      fprintf(to, "  '%s' is read as %s, but could also be %s: no day is above 12\n",
              column_name(names, j, shown), column->format, column->other_format);
  }
}

/* What may repeat in dates of a format, of which 'first' is one; static. */
static const char *periods_of(const char *format, const char *first, const char **other)
{
  bool has_time = strchr(first, ':') != NULL;
  bool has_day = strcmp(format, GPNN_DATE_ISO) == 0 || strstr(format, "%d") != NULL;
  *other = NULL;
  if (!has_day) return has_time ? "day" : "year";
  *other = has_time ? "day" : "week";
  return "year";
}

/* Says of dates that are inputs that they are a trend, in which nothing repeats unless that is
 * said. */
static void print_periods(const struct gpnn_profile *profile, const struct gpnn_advice *advice,
                          const struct column_names *names, FILE *to)
{
  char shown[GPNN_COLUMN_BYTES];
  for (size_t j = 0; j < advice->n_columns; j++) {
    if (advice->columns[j].kind != GPNN_ADVICE_DATES ||
        profile->columns[j].role != GPNN_PROFILE_INPUT || profile->columns[j].is_named)
      continue;
    column_name(names, j, shown);
    const struct gpnn_odd_cells *odd = profile->columns[j].odd;
    const char *other, *first = odd == NULL ? "" : odd->first[GPNN_EXAMPLE_DATE].text;
    const char *period = periods_of(advice->columns[j].format, first, &other);
    fprintf(to, "  '%s' is a trend; what repeats is said by, say, --period %s=%s", shown, shown,
            period);
    if (other != NULL) fprintf(to, ",%s=%s", shown, other);
    fputc('\n', to);
    return;
  }
}

static void print_rows(const struct gpnn_profile *profile, const struct gpnn_advice *advice,
                       FILE *to)
{
  size_t n_malformed = profile->n_malformed - profile->n_comments;
  if (profile->n_comments > 0)
    fprintf(to, "  %zu line%s begin%s with #: --comment '#' skips comments\n", profile->n_comments,
            profile->n_comments == 1 ? "" : "s", profile->n_comments == 1 ? "s" : "");
  if (n_malformed > 0)
    fprintf(to,
            "  %zu row%s ha%s another number of fields than the header, or text after a quote"
            " (the first on line %zu)\n",
            n_malformed, n_malformed == 1 ? "" : "s", n_malformed == 1 ? "s" : "ve",
            profile->malformed_line);
  if (advice->skip == GPNN_SKIP_SOME)
    fprintf(to, "  %zu of %zu rows lack a value and are left out by --skip-bad\n", advice->n_lost,
            advice->n_rows);
  if (advice->skip == GPNN_SKIP_ALL)
    fprintf(to, "  %zu of %zu rows lack a value: more than a fifth, which takes --skip-bad=all\n",
            advice->n_lost, advice->n_rows);
  if (advice->is_ambiguous)
    fprintf(to, "  the comma in these numbers %s; if that is wrong, %s\n",
            advice->decimal == ',' ? "is taken for the decimal mark"
                                   : "is taken to group thousands",
            advice->decimal == ',' ? "use --thousands instead of --decimal ,"
                                   : "use --decimal , instead of --thousands");
}

/* ---- the report ---------------------------------------------------------------------------- */

enum gpnn_status diagnosis_make(struct diagnosis *d, const struct cli *cli,
                                const struct index_arguments *arguments,
                                const struct gpnn_profile *profile, size_t n_before,
                                struct gpnn_error *err)
{
  *d = (struct diagnosis){.cli = cli, .arguments = arguments, .profile = profile};
  enum gpnn_status status = gpnn_advice_make(&d->advice, profile, n_before, err);
  if (status == GPNN_OK) status = column_names_make(&d->names, profile->table, err);
  const struct changes_source from = {cli, arguments, profile, &d->advice, &d->names};
  return status == GPNN_OK ? changes_make(&d->changes, &from, err) : status;
}

void diagnosis_release(struct diagnosis *d)
{
  gpnn_advice_release(&d->advice);
  column_names_release(&d->names);
  changes_release(&d->changes);
}

bool diagnosis_is_possible(const struct diagnosis *d)
{
  enum { LEAST_ROWS = 2 };
  const struct gpnn_advice *advice = &d->advice;
  size_t n_inputs = 0;
  for (size_t j = 0; j < advice->n_columns; j++) {
    enum gpnn_profile_role role = d->profile->columns[j].role;
    bool is_kept = role != GPNN_PROFILE_UNUSED && advice->columns[j].kind != GPNN_ADVICE_DROP;
    bool is_target = role == GPNN_PROFILE_TARGET || role == GPNN_PROFILE_LABELS;
    n_inputs += is_kept && !is_target;
  }
  return !advice->is_stuck && n_inputs > 0 && advice->n_rows - advice->n_lost >= LEAST_ROWS;
}

bool diagnosis_is_worth_telling(const struct diagnosis *d)
{
  return !gpnn_advice_is_none(&d->advice) &&
         (d->advice.is_stuck ? d->profile->n_rows >= FEW_ROWS : diagnosis_is_possible(d));
}

/* True if a single cell or record is bad. */
static bool is_single(const struct diagnosis *d)
{
  size_t n_bad = d->profile->n_malformed, n_columns = 0;
  for (size_t j = 0; j < d->advice.n_columns; j++) {
    if (!is_listed(&d->advice, j)) continue;
    n_bad += d->advice.columns[j].n_bad + d->advice.columns[j].n_codes;
    n_columns++;
  }
  return n_bad == 1 && n_columns < 2;
}

static void print_report(const struct diagnosis *d, const char *why, FILE *to)
{
  struct widths widths = measure(d->profile, &d->advice, &d->names);
  bool says_why = why != NULL && (widths.n == 0 || is_single(d));
  changes_print_line(says_why ? why : gpnn_table_name(d->profile->table), to);
  if (says_why)
    fputc('\n', to);
  else if (widths.n == 0)
    fputs(": is not read as it is:\n", to);
  else
    fprintf(to, ": %zu of %zu columns %s\n", widths.n, d->advice.n_columns,
            why != NULL ? "cannot be used as they are:" : "are not used as they are:");
  if (!says_why || !is_single(d)) {
    print_columns(d->profile, &d->advice, &d->names, widths, to);
    print_targets(d->profile, &d->advice, &d->names, to);
    print_ambiguous(&d->advice, &d->names, to);
    print_periods(d->profile, &d->advice, &d->names, to);
    print_rows(d->profile, &d->advice, to);
  }
  if (diagnosis_is_possible(d))
    changes_print_indented(d->cli, &d->changes, why != NULL ? "try this" : "the same, spelled out",
                           to);
}

enum gpnn_status diagnosis_tell(const struct diagnosis *diagnosis, const char *why,
                                struct gpnn_error *err)
{
  char *text = NULL;
  size_t length;
  FILE *to = open_memstream(&text, &length);
  if (to == NULL) return gpnn_fail_memory(err, "for the report");
  print_report(diagnosis, why, to);
  bool is_whole = fclose(to) == 0;
  if (is_whole) cli_tell(diagnosis->cli, text);
  free(text);
  return is_whole ? GPNN_OK : gpnn_fail_memory(err, "for the report");
}
