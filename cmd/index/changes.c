#include "cmd/index/index_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "cmd/common/shell.h"

/* ---- names of columns ---------------------------------------------------------------------- */

struct named {
  const char *name;
  size_t column;
};

static int compare_names(const void *a, const void *b)
{
  const struct named *left = a, *right = b;
  return gpnn_compare_strings(&left->name, &right->name);
}

/* True if a name can stand in a LIST and in a terminal. */
static bool is_plain(const char *name)
{
  if (name[0] == '\0' || strpbrk(name, ",=") != NULL) return false;
  for (const char *s = name; *s != '\0'; s++) {
    size_t n = gpnn_utf8_length(s, strlen(s));
    if (n == 0 || (unsigned char)*s < ' ' || *s == 0x7f) return false;
    s += n - 1;
  }
  return true;
}

enum gpnn_status column_names_make(struct column_names *names, const struct gpnn_table *table,
                                   struct gpnn_error *err)
{
  size_t n = gpnn_table_columns(table);
  struct named *sorted = gpnn_alloc(n, 1, sizeof *sorted);
  bool *are_usable = gpnn_alloc(n, 1, sizeof *are_usable);
  if (sorted == NULL || are_usable == NULL) {
    free(sorted);
    free(are_usable);
    return gpnn_fail_memory(err, "for the column names");
  }
  for (size_t j = 0; j < n; j++) sorted[j] = (struct named){gpnn_table_column(table, j), j};
  qsort(sorted, n, sizeof *sorted, compare_names);
  for (size_t k = 0; k < n; k++) {
    const char *name = sorted[k].name;
    bool is_repeated = (k > 0 && strcmp(sorted[k - 1].name, name) == 0) ||
                       (k + 1 < n && strcmp(sorted[k + 1].name, name) == 0);
    are_usable[sorted[k].column] = !is_repeated && is_plain(name);
  }
  free(sorted);
  *names = (struct column_names){table, are_usable};
  return GPNN_OK;
}

void column_names_print(const struct column_names *names, size_t column, FILE *to)
{
  if (names->are_usable[column])
    fputs(gpnn_table_column(names->table, column), to);
  else
    fprintf(to, "%zu", column + 1);
}

void column_names_release(struct column_names *names)
{
  free(names->are_usable);
  *names = (struct column_names){NULL, NULL};
}

/* ---- lists --------------------------------------------------------------------------------- */

/* A text that is being composed. */
struct text {
  FILE *to;
  char *bytes;
  size_t length;
};

static enum gpnn_status text_begin(struct text *text, struct gpnn_error *err)
{
  *text = (struct text){NULL, NULL, 0};
  text->to = open_memstream(&text->bytes, &text->length);
  return text->to == NULL ? gpnn_fail_memory(err, "for the advice") : GPNN_OK;
}

/* Ends the text; '*bytes' is it, or NULL if it is empty. */
static enum gpnn_status text_end(struct text *text, char **bytes, struct gpnn_error *err)
{
  if (fclose(text->to) != 0) {
    free(text->bytes);
    return gpnn_fail_memory(err, "for the advice");
  }
  *bytes = text->length > 0 ? text->bytes : NULL;
  if (text->length == 0) free(text->bytes);
  return GPNN_OK;
}

/* What a list of columns is about. */
struct listing {
  const struct gpnn_advice *advice;
  const struct column_names *names;
  enum gpnn_advice_kind kind;
  const char *format; /* of dates */
};

static bool is_listed(const struct listing *listing, size_t j)
{
  const struct gpnn_column_advice *column = &listing->advice->columns[j];
  return column->kind == listing->kind && column->format == listing->format;
}

/* Prints the columns as a LIST after the items of 'before', which may be NULL; many beside each
 * other as a range. */
static void print_list(const struct listing *listing, const char *before, FILE *to)
{
  enum { RANGE = 5 };
  const char *comma = before == NULL ? "" : ",";
  if (before != NULL) fputs(before, to);
  for (size_t j = 0, end; j < listing->advice->n_columns; j = end + 1) {
    end = j;
    if (!is_listed(listing, j)) continue;
    while (end < listing->advice->n_columns && is_listed(listing, end)) end++;
    if (end - j >= RANGE) {
      fprintf(to, "%s%zu-%zu", comma, j + 1, end);
      comma = ",";
      continue;
    }
    for (size_t k = j; k < end; k++, comma = ",") {
      fputs(comma, to);
      column_names_print(listing->names, k, to);
    }
  }
}

/* '*list' becomes the LIST of all such columns, unless there are none. */
static enum gpnn_status make_list(char **list, const struct listing *listing, const char *before,
                                  struct gpnn_error *err)
{
  struct text text;
  size_t j = 0;
  while (j < listing->advice->n_columns && !is_listed(listing, j)) j++;
  if (j == listing->advice->n_columns) return GPNN_OK;
  enum gpnn_status status = text_begin(&text, err);
  if (status != GPNN_OK) return status;
  print_list(listing, before, text.to);
  return text_end(&text, list, err);
}

/* ---- changes ------------------------------------------------------------------------------- */

/* Adds "LIST=FORMAT" for the dates in the format of column 'j', or "LIST" for ISO 8601. */
static enum gpnn_status add_dates(struct index_changes *changes, struct listing *listing, size_t j,
                                  struct gpnn_error *err)
{
  struct text text;
  char *item;
  listing->format = listing->advice->columns[j].format;
  enum gpnn_status status = text_begin(&text, err);
  if (status != GPNN_OK) return status;
  print_list(listing, NULL, text.to);
  if (strcmp(listing->format, GPNN_DATE_ISO) != 0) fprintf(text.to, "=%s", listing->format);
  status = text_end(&text, &item, err);
  if (status == GPNN_OK) changes->dates[changes->n_dates++] = item;
  return status;
}

static enum gpnn_status make_dates(struct index_changes *changes, struct listing listing,
                                   struct gpnn_error *err)
{
  const struct gpnn_advice *advice = listing.advice;
  enum gpnn_status status = GPNN_OK;
  listing.kind = GPNN_ADVICE_DATES;
  for (size_t j = 0; j < advice->n_columns && status == GPNN_OK; j++) {
    size_t first = 0;
    if (advice->columns[j].kind != GPNN_ADVICE_DATES) continue;
    while (advice->columns[first].format != advice->columns[j].format) first++;
    if (first == j && changes->n_dates < CLI_LIST_ITEMS)
      status = add_dates(changes, &listing, j, err);
  }
  return status;
}

void changes_print_order(const struct column_names *names, const struct gpnn_advice *advice,
                         size_t j, FILE *to)
{
  const struct gpnn_column_advice *column = &advice->columns[j];
  column_names_print(names, j, to);
  for (size_t l = 0; l < column->n_levels; l++)
    fprintf(to, "%s%s", l == 0 ? "=" : " < ", column->order[l]);
}

static enum gpnn_status make_ordered(struct index_changes *changes,
                                     const struct changes_source *from, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t j = 0; j < from->advice->n_columns && status == GPNN_OK; j++) {
    struct text text;
    if (from->advice->columns[j].kind != GPNN_ADVICE_ORDERED) continue;
    status = text_begin(&text, err);
    if (status != GPNN_OK) break;
    changes_print_order(from->names, from->advice, j, text.to);
    status = text_end(&text, &changes->ordered[changes->n_ordered], err);
    changes->n_ordered += status == GPNN_OK;
  }
  return status;
}

/* True if 'item' is one of a LIST, which may be NULL. */
static bool has_item(const char *list, const char *item)
{
  size_t n = strlen(item);
  for (const char *at = list; at != NULL; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, item, n) == 0 && (at[n] == '\0' || at[n] == ',')) return true;
  }
  return false;
}

enum gpnn_status changes_join(char **list, const char *before, const char *more,
                              struct gpnn_error *err)
{
  struct text text;
  if (more == NULL) return GPNN_OK;
  enum gpnn_status status = text_begin(&text, err);
  if (status != GPNN_OK) return status;
  if (has_item(before, more))
    fputs(before, text.to);
  else
    fprintf(text.to, "%s%s%s", before == NULL ? "" : before, before == NULL ? "" : ",", more);
  return text_end(&text, list, err);
}

/* The spellings of missing values that the table has so far, if there are any; NULL: NA is the only
 * one, and is not there. */
static const char *present_missing(const struct changes_source *from)
{
  const char *missing = from->cli->table.notation.missing;
  for (size_t j = 0; j < from->profile->n_columns && missing == NULL; j++)
    if (from->profile->columns[j].n_missing_text > 0) missing = "NA";
  return missing;
}

static enum gpnn_status make_notation(struct index_changes *changes,
                                      const struct changes_source *from, struct gpnn_error *err)
{
  const struct gpnn_notation *asked = &from->cli->table.notation;
  const struct gpnn_advice *advice = from->advice;
  char decimal = asked->decimal == 0 ? '.' : asked->decimal;
  changes->decimal = advice->decimal != decimal ? advice->decimal : 0;
  changes->thousands = advice->thousands && !asked->thousands;
  if (from->profile->n_comments > 0) changes->comment = "#";
  enum gpnn_status status = changes_join(&changes->strip, asked->strip, advice->strip, err);
  return status == GPNN_OK
             ? changes_join(&changes->missing, present_missing(from), advice->missing, err)
             : status;
}

/* True if some targets are known for classes only if that is said, and all others are classes too.
 */
static bool needs_classes(const struct changes_source *from)
{
  bool any = false;
  for (size_t j = 0; j < from->advice->n_columns; j++) {
    const struct gpnn_column_advice *column = &from->advice->columns[j];
    any = any || column->needs_classes;
    bool is_target = from->profile->columns[j].role == GPNN_PROFILE_TARGET;
    if (is_target && column->kind != GPNN_ADVICE_CLASSES) return false;
  }
  return any && !from->arguments->roles.classes;
}

enum gpnn_status changes_make(struct index_changes *changes, const struct changes_source *from,
                              struct gpnn_error *err)
{
  const struct gpnn_advice *advice = from->advice;
  const struct gpnn_roles *roles = &from->arguments->roles;
  struct listing listing = {advice, from->names, GPNN_ADVICE_DROP, NULL};
  changes->classes = needs_classes(from);
  enum gpnn_status status = make_list(&changes->drop, &listing, roles->drop, err);
  listing.kind = GPNN_ADVICE_CATEGORY;
  if (status == GPNN_OK) status = make_list(&changes->one_hot, &listing, roles->one_hot, err);
  listing.kind = GPNN_ADVICE_CODED;
  if (status == GPNN_OK) status = make_list(&changes->coded, &listing, roles->coded, err);
  if (status == GPNN_OK) status = make_ordered(changes, from, err);
  if (status == GPNN_OK) status = make_dates(changes, listing, err);
  if (status == GPNN_OK) status = make_notation(changes, from, err);
  enum skip_bad skip = advice->skip == GPNN_SKIP_ALL ? SKIP_ALL : SKIP_SOME;
  if (advice->skip != GPNN_SKIP_NONE && skip > from->arguments->skip_bad) changes->skip_bad = skip;
  return status;
}

bool changes_are_none(const struct index_changes *c)
{
  return !c->drop && !c->one_hot && !c->coded && !c->strip && !c->missing && !c->comment &&
         c->n_ordered + c->n_dates == 0 && c->decimal == 0 && !c->thousands && !c->classes &&
         c->skip_bad == SKIP_NONE && !c->no_header && c->skip_lines == 0;
}

void changes_release(struct index_changes *changes)
{
  free(changes->drop);
  free(changes->one_hot);
  free(changes->coded);
  free(changes->strip);
  free(changes->missing);
  for (size_t i = 0; i < changes->n_ordered; i++) free(changes->ordered[i]);
  for (size_t i = 0; i < changes->n_dates; i++) free(changes->dates[i]);
  *changes = (struct index_changes){.drop = NULL};
}

void changes_apply(const struct index_changes *changes, struct cli *cli, struct index_arguments *a)
{
  struct gpnn_notation *notation = &cli->table.notation;
  if (changes->classes) a->roles.classes = true;
  if (changes->drop != NULL) a->roles.drop = changes->drop;
  if (changes->one_hot != NULL) a->roles.one_hot = changes->one_hot;
  if (changes->coded != NULL) a->roles.coded = changes->coded;
  if (changes->decimal != 0) notation->decimal = changes->decimal;
  if (changes->thousands) notation->thousands = true;
  if (changes->strip != NULL) notation->strip = changes->strip;
  if (changes->missing != NULL) notation->missing = changes->missing;
  if (changes->comment != NULL) notation->comment = changes->comment;
  if (changes->no_header) cli->table.has_header = false;
  if (changes->skip_lines > 0) cli->table.skip_lines = changes->skip_lines;
  if (changes->skip_bad != SKIP_NONE) a->skip_bad = changes->skip_bad;
  for (size_t i = 0; i < changes->n_ordered && a->ordered.n < CLI_LIST_ITEMS; i++)
    a->ordered.items[a->ordered.n++] = changes->ordered[i];
  a->roles.ordered = a->ordered.items;
  a->roles.n_ordered = a->ordered.n;
  for (size_t i = 0; i < changes->n_dates && a->dates.n < CLI_LIST_ITEMS; i++)
    a->dates.items[a->dates.n++] = changes->dates[i];
  a->roles.dates = a->dates.items;
  a->roles.n_dates = a->dates.n;
}

/* ---- the command --------------------------------------------------------------------------- */

/* Prints an option unless its value is NULL. */
static void print_option(const char *name, const char *value, FILE *to)
{
  if (value == NULL) return;
  fprintf(to, " %s ", name);
  shell_print_word(value, to);
}

/* Prints an option as it was given. */
static void print_given(const struct cli_given *given, FILE *to)
{
  const struct cli_option *option = given->option;
  if (option->letter != 0)
    fprintf(to, " -%c", option->letter);
  else
    fprintf(to, " --%s", option->name);
  if (given->text == NULL) return;
  fputc(option->type == CLI_TYPE_FLAG_OR ? '=' : ' ', to);
  shell_print_word(given->text, to);
}

/* True if a value given for the option is no longer needed. */
static bool is_replaced(const struct index_changes *changes, const char *name)
{
  const struct {
    const char *name;
    bool is_new;
  } all[] = {{"drop", changes->drop != NULL},
             {"one-hot", changes->one_hot != NULL},
             {"coded", changes->coded != NULL},
             {"decimal", changes->decimal != 0},
             {"strip", changes->strip != NULL},
             {"na", changes->missing != NULL},
             {"auto", true},
             {"skip-bad", changes->skip_bad != SKIP_NONE}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    if (strcmp(all[i].name, name) == 0) return all[i].is_new;
  return false;
}

/* What --shown-as says: the command of a tool that runs this one, where INDEX_OPTIONS_HERE stands
 * for our options; NULL: we run by ourselves. */
static const char *find_shown_as(const struct cli *cli)
{
  for (size_t i = 0; i < cli->n_as_given; i++)
    if (strcmp(cli->as_given[i].option->name, "shown-as") == 0) return cli->as_given[i].text;
  return NULL;
}

/* Prints the command up to the options that change.  A tool that runs this one chooses our output
 * itself. */
static void print_head(const struct cli *cli, const struct index_changes *changes, FILE *to)
{
  const char *as = find_shown_as(cli), *place = as == NULL ? NULL : strstr(as, INDEX_OPTIONS_HERE);
  if (place == NULL)
    fputs(cli->tool->name, to);
  else
    fwrite(as, 1, (size_t)(place - as), to);
  for (size_t i = 0; i < cli->n_as_given; i++) {
    const char *name = cli->as_given[i].option->name;
    bool is_ours = strcmp(name, "output") == 0 || strcmp(name, "shown-as") == 0;
    if (!is_replaced(changes, name) && (place == NULL || !is_ours))
      print_given(&cli->as_given[i], to);
  }
}

/* Prints what follows the options. */
static void print_tail(const struct cli *cli, FILE *to)
{
  const char *as = find_shown_as(cli), *place = as == NULL ? NULL : strstr(as, INDEX_OPTIONS_HERE);
  if (place != NULL) {
    fputs(place + strlen(INDEX_OPTIONS_HERE), to);
    return;
  }
  for (size_t i = 0; i < cli->n_operands; i++) {
    fputc(' ', to);
    shell_print_word(cli->operands[i], to);
  }
}

void changes_print_command(const struct cli *cli, const struct index_changes *changes, FILE *to)
{
  print_head(cli, changes, to);
  if (changes->no_header) fputs(" --no-header", to);
  if (changes->skip_lines > 0) fprintf(to, " --skip-lines %zu", changes->skip_lines);
  print_option("--comment", changes->comment, to);
  if (changes->classes) fputs(" --classes", to);
  print_option("--drop", changes->drop, to);
  print_option("--one-hot", changes->one_hot, to);
  print_option("--coded", changes->coded, to);
  for (size_t i = 0; i < changes->n_ordered; i++)
    print_option("--ordered", changes->ordered[i], to);
  for (size_t i = 0; i < changes->n_dates; i++) print_option("--date", changes->dates[i], to);
  if (changes->decimal != 0) print_option("--decimal", changes->decimal == ',' ? "," : ".", to);
  if (changes->thousands) fputs(" --thousands", to);
  print_option("--strip", changes->strip, to);
  print_option("--na", changes->missing, to);
  if (changes->skip_bad != SKIP_NONE)
    fputs(changes->skip_bad == SKIP_ALL ? " --skip-bad=all" : " --skip-bad", to);
  print_tail(cli, to);
}

void changes_print_line(const char *text, FILE *to)
{
  char *line = gpnn_copy_text(text, strlen(text));
  if (line == NULL) return;
  gpnn_mask_all(line, "");
  fputs(line, to);
  free(line);
}

void changes_print_indented(const struct cli *cli, const struct index_changes *changes,
                            const char *what, FILE *to)
{
  char *command = NULL;
  size_t length;
  FILE *composed = open_memstream(&command, &length);
  if (composed == NULL) return;
  changes_print_command(cli, changes, composed);
  if (fclose(composed) == 0) {
    fprintf(to, "  %s:\n    ", what);
    changes_print_line(command, to);
    fputc('\n', to);
  }
  free(command);
}
