#include "cmd/index/diagnosis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/index/looks.h"
#include "table/columns.h"

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

/* ---- what to say about columns ------------------------------------------------------------ */

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
    int name = looks_width(column_name(names, j, shown));
    int looks = looks_width(looks_describe(text, profile, advice, j));
    if (name > widths.name) widths.name = name;
    if (looks > widths.looks) widths.looks = looks;
  }
  return widths;
}

/* Prints 'text' and as many blanks as make it 'width' wide. */
static void print_padded(const char *text, int width, FILE *to)
{
  fprintf(to, "%s%*s", text, width - looks_width(text), "");
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
    print_padded(looks_describe(text, profile, advice, j), widths.looks, to);
    fputs("  ", to);
    looks_print_options(profile, advice, names, j, to);
    fputc('\n', to);
  }
  if (widths.n > n) fprintf(to, "  and %zu more columns\n", widths.n - n);
}

/* ---- what to say about the table ---------------------------------------------------------- */

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
    if (advice->columns[j].kind != GPNN_ADVICE_NUMBERS) continue;
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

/* ---- the report --------------------------------------------------------------------------- */

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
