#include "cmd/index/diagnosis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/index/changes.h"
#include "cmd/index/looks.h"

/* Columns shown, of a table that may have thousands that are alike; and rows that say more than the
 * first bad one does. */
enum { SHOWN = 30, FEW_ROWS = 5 };

static const char *column_name(const struct gpnn_profile *profile, size_t j,
                               char shown[GPNN_MASK_BYTES])
{
  const char *name = gpnn_table_column(profile->table, j);
  return gpnn_mask(shown, name, strlen(name));
}

/* ---- what to say about columns ------------------------------------------------------------ */

static bool is_listed(const struct gpnn_advice *advice, size_t j)
{
  const struct gpnn_column_advice *column = &advice->columns[j];
  return column->kind != GPNN_ADVICE_UNUSED &&
         (column->n_bad + column->n_codes > 0 || column->kind == GPNN_ADVICE_DROP);
}

/* How wide the columns of the report are. */
struct widths {
  int name, looks;
  size_t n; /* columns of the table that are listed */
};

static struct widths measure(const struct gpnn_profile *profile, const struct gpnn_advice *advice)
{
  struct widths widths = {(int)strlen("column"), (int)strlen("looks like"), 0};
  char shown[GPNN_MASK_BYTES], text[LOOKS_BYTES];
  for (size_t j = 0; j < advice->n_columns; j++) {
    if (!is_listed(advice, j) || widths.n++ >= SHOWN) continue;
    int name = looks_width(column_name(profile, j, shown));
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
  char shown[GPNN_MASK_BYTES], text[LOOKS_BYTES];
  size_t n = 0;
  if (widths.n == 0) return;
  fprintf(to, "  %-*s  %9s  %-*s  %s\n", widths.name, "column", "bad cells", widths.looks,
          "looks like", "option");
  for (size_t j = 0; j < advice->n_columns && n < SHOWN; j++) {
    if (!is_listed(advice, j)) continue;
    n++;
    fputs("  ", to);
    print_padded(column_name(profile, j, shown), widths.name, to);
    fprintf(to, "  %9zu  ", advice->columns[j].n_bad + advice->columns[j].n_codes);
    print_padded(looks_describe(text, profile, advice, j), widths.looks, to);
    fputs("  ", to);
    looks_print_options(profile, advice, names, j, to);
    fputc('\n', to);
  }
  if (widths.n > n) fprintf(to, "  and %zu more columns\n", widths.n - n);
}

/* ---- what to say about the table ---------------------------------------------------------- */

static void print_targets(const struct gpnn_profile *profile, const struct gpnn_advice *advice,
                          FILE *to)
{
  enum { NAMED = 8 };
  char shown[GPNN_MASK_BYTES];
  size_t n = 0;
  if (!advice->is_stuck && !advice->moves_target) return;
  fprintf(to, "  column '%s' is %s and has to be numbers",
          column_name(profile, advice->stuck_column, shown),
          profile->columns[advice->stuck_column].role == GPNN_PROFILE_TARGET ? "the target (-y)"
                                                                             : "no input");
  if (advice->moves_target && !advice->is_stuck)
    fprintf(to, "; '%s', the last column of numbers, takes its place",
            column_name(profile, advice->target, shown));
  for (size_t j = 0; j < advice->n_columns; j++) {
    if (advice->columns[j].kind != GPNN_ADVICE_NUMBERS) continue;
    if (n++ < NAMED)
      fprintf(to, "%s%s", n == 1 ? "\n  columns that could be a target: " : ", ",
              column_name(profile, j, shown));
  }
  fprintf(to, "%s\n", n > NAMED ? ", ..." : "");
}

static void print_rows(const struct gpnn_profile *profile, const struct gpnn_advice *advice,
                       FILE *to)
{
  if (profile->n_malformed > 0)
    fprintf(to,
            "  %zu row%s ha%s another number of fields than the header, or text after a quote"
            " (line %zu)\n",
            profile->n_malformed, profile->n_malformed == 1 ? "" : "s",
            profile->n_malformed == 1 ? "s" : "ve", profile->malformed_line);
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

/* Prints text that may have line ends of its own, from names of files. */
static void print_line(const char *text, FILE *to)
{
  char *line = gpnn_copy_text(text, strlen(text));
  if (line == NULL) return;
  gpnn_mask_all(line, "");
  fprintf(to, "%s", line);
  free(line);
}

/* Prints the command that does all this. */
static void print_command(const struct cli *cli, const struct index_changes *changes, FILE *to)
{
  char *command = NULL;
  size_t length;
  FILE *composed = open_memstream(&command, &length);
  if (composed == NULL) return;
  changes_print_command(cli, changes, composed);
  if (fclose(composed) == 0) {
    fputs("  try this:\n    ", to);
    print_line(command, to);
    fputc('\n', to);
  }
  free(command);
}

/* True if the advice leaves a table to train on. */
static bool is_possible(const struct gpnn_profile *profile, const struct gpnn_advice *advice)
{
  enum { LEAST_ROWS = 2 };
  size_t n_inputs = 0;
  for (size_t j = 0; j < advice->n_columns; j++) {
    enum gpnn_profile_role role = profile->columns[j].role;
    bool is_kept = role != GPNN_PROFILE_UNUSED && advice->columns[j].kind != GPNN_ADVICE_DROP;
    n_inputs += is_kept && role != GPNN_PROFILE_TARGET;
  }
  if (advice->moves_target && n_inputs > 0) n_inputs--;
  return !advice->is_stuck && n_inputs > 0 && advice->n_rows - advice->n_lost >= LEAST_ROWS;
}

static void print_report(const struct cli *cli, const struct gpnn_profile *profile,
                         const struct gpnn_advice *advice, const struct column_names *names,
                         const struct index_changes *changes, const struct gpnn_error *why,
                         FILE *to)
{
  struct widths widths = measure(profile, advice);
  size_t n_bad = profile->n_malformed;
  for (size_t j = 0; j < advice->n_columns; j++)
    n_bad += is_listed(advice, j) ? advice->columns[j].n_bad + advice->columns[j].n_codes : 0;
  bool is_alone = n_bad == 1 && widths.n < 2;
  print_line(is_alone || widths.n == 0 ? why->text : gpnn_table_name(profile->table), to);
  if (is_alone) {
    fputc('\n', to);
  } else if (widths.n == 0) {
    fputc('\n', to);
    print_rows(profile, advice, to);
  } else {
    fprintf(to, ": %zu of %zu columns cannot be used as they are:\n", widths.n, advice->n_columns);
    print_columns(profile, advice, names, widths, to);
    print_targets(profile, advice, to);
    print_rows(profile, advice, to);
  }
  if (is_possible(profile, advice)) print_command(cli, changes, to);
}

/* Says it all, in one piece. */
static enum gpnn_status tell(const struct cli *cli, const struct index_arguments *a,
                             const struct gpnn_profile *profile, const struct gpnn_advice *advice,
                             const struct gpnn_error *why, struct gpnn_error *err)
{
  struct index_changes changes = {.target = NULL};
  struct column_names names = {NULL, NULL};
  char *text = NULL;
  size_t length;
  enum gpnn_status status = column_names_make(&names, profile->table, err);
  if (status == GPNN_OK) status = changes_make(&changes, cli, a, profile, advice, err);
  FILE *to = status == GPNN_OK ? open_memstream(&text, &length) : NULL;
  if (status == GPNN_OK && to == NULL) status = gpnn_fail_memory(err, "for the report");
  if (to != NULL) {
    print_report(cli, profile, advice, &names, &changes, why, to);
    if (fclose(to) != 0) status = gpnn_fail_memory(err, "for the report");
  }
  if (status == GPNN_OK) cli_tell(cli, text);
  free(text);
  column_names_release(&names);
  changes_release(&changes);
  return status;
}

enum gpnn_status diagnosis_report(const struct cli *cli, const struct index_arguments *a,
                                  const struct gpnn_profile *profile, size_t n_before,
                                  const struct gpnn_error *why, struct gpnn_error *err)
{
  struct gpnn_advice advice = {.n_columns = 0};
  const struct gpnn_advice_about about = {a->roles.target != NULL, n_before};
  const struct gpnn_error first = *why; /* which may be 'err' */
  enum gpnn_status status = gpnn_advice_make(&advice, profile, &about, err);
  bool is_worth = advice.is_stuck ? profile->n_rows >= FEW_ROWS : is_possible(profile, &advice);
  bool tells = status == GPNN_OK && !gpnn_advice_is_none(&advice) && is_worth;
  if (tells) status = tell(cli, a, profile, &advice, &first, err);
  gpnn_advice_release(&advice);
  if (status != GPNN_OK) return status;
  *err = first;
  if (tells) err->text[0] = '\0';
  return first.status;
}
