#include "cmd/index/index_private.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "cmd/common/json.h"
#include "dataset/missing.h"
#include "table/date.h"

/* ---- targets that are classes, or could be ------------------------------------------------- */

/* Warns about classes of one row, of which the first is named. */
static void warn_of_single(const struct cli *cli, const char *name,
                           const struct gpnn_column *column, const size_t *n_rows)
{
  char target[GPNN_MASK_BYTES], shown[GPNN_MASK_BYTES];
  size_t n_single = 0, first = 0;
  for (size_t c = column->n_levels; c-- > 0;) {
    if (n_rows[c] != 1) continue;
    first = c;
    n_single++;
  }
  if (n_single == 0) return;
  gpnn_schema_column_name(column, target);
  gpnn_mask(shown, column->levels[first], column->level_lengths[first]);
  if (n_single == 1)
    cli_warn(cli, "%s: column '%s': class '%s' has a single row", name, target, shown);
  else
    cli_warn(cli, "%s: column '%s': %zu of %zu classes have a single row, '%s' for one", name,
             target, n_single, column->n_levels, shown);
}

/* Warns about classes without training rows, which only groups of rows leave; the first is named.
 */
static void warn_of_held_out(const struct cli *cli, const char *name,
                             const struct gpnn_dataset *dataset, size_t t)
{
  const struct gpnn_column *column = gpnn_schema_target(&dataset->schema, t);
  const double *y = t == 0 ? dataset->y : dataset->more + (t - 1) * dataset->n;
  char target[GPNN_MASK_BYTES], shown[GPNN_MASK_BYTES];
  bool is_there[GPNN_LEVELS_MAX] = {false};
  size_t n_held_out = 0, first = 0;
  for (size_t i = 0; i < dataset->n; i++)
    if (!isnan(y[i])) is_there[(size_t)y[i]] = true;
  for (size_t c = column->n_levels; c-- > 0;) {
    if (is_there[c]) continue;
    first = c;
    n_held_out++;
  }
  if (n_held_out == 0) return;
  cli_warn(
      cli,
      "%s: column '%s': %zu of %zu classes have no training row, as their groups are held out, "
      "'%s' for one",
      name, gpnn_schema_column_name(column, target), n_held_out, column->n_levels,
      gpnn_mask(shown, column->levels[first], column->level_lengths[first]));
}

/* A level without the blanks around it. */
struct spelling {
  const char *text;
  size_t length, level;
};

static struct spelling spelling_of(const struct gpnn_column *column, size_t level)
{
  struct spelling s = {column->levels[level], column->level_lengths[level], level};
  while (s.length > 0 && isspace((unsigned char)s.text[s.length - 1])) s.length--;
  for (; s.length > 0 && isspace((unsigned char)*s.text); s.text++) s.length--;
  return s;
}

/* Orders spellings whatever the case of their letters. */
static int compare_alike(const void *a, const void *b)
{
  const struct spelling *x = a, *y = b;
  size_t n = x->length < y->length ? x->length : y->length;
  int order = strncasecmp(x->text, y->text, n);
  return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

static int compare_levels(const void *a, const void *b)
{
  const struct spelling *x = a, *y = b;
  int order = compare_alike(a, b);
  return order != 0 ? order : (x->level > y->level) - (x->level < y->level);
}

/* Warns about levels or classes that are two for their spelling only: two are named, and all
 * counted. */
static void warn_of_alike(const struct cli *cli, const char *name, const struct gpnn_column *column,
                          const char *what)
{
  char shown[GPNN_MASK_BYTES], one[GPNN_MASK_BYTES], other[GPNN_MASK_BYTES], more[64] = "";
  size_t n = column->n_levels, first = n, n_alike = 0;
  struct spelling *all = gpnn_alloc(n, 1, sizeof *all);
  if (all == NULL) return; /* it would have been a warning */
  for (size_t l = 0; l < n; l++) all[l] = spelling_of(column, l);
  qsort(all, n, sizeof *all, compare_levels);
  for (size_t k = n; k-- > 1;) {
    if (compare_alike(&all[k - 1], &all[k]) != 0) continue;
    first = k - 1;
    n_alike++;
  }
  if (n_alike > 0) {
    size_t a = all[first].level, b = all[first + 1].level;
    if (n_alike > 1) snprintf(more, sizeof more, " (%zu more are like that)", n_alike - 1);
    cli_warn(cli, "%s: column '%s': '%s' and '%s' are two %s: one in two spellings?%s", name,
             gpnn_schema_column_name(column, shown),
             gpnn_mask(one, column->levels[a], column->level_lengths[a]),
             gpnn_mask(other, column->levels[b], column->level_lengths[b]), what, more);
  }
  free(all);
}

/* True of whole numbers from 0 on. */
static bool are_counts(const struct gpnn_training_target *target)
{
  for (size_t i = 0; i < target->n_different; i++)
    if (target->different[i] < 0) return false;
  return true;
}

/* True if a target of numbers may be meant to be classes: few whole numbers, each of many rows. */
static bool looks_like_classes(const struct gpnn_training_target *target, size_t n_rows)
{
  enum { ROWS_A_CLASS = 10 };
  size_t n = target->n_different;
  for (size_t i = 0; i < n; i++)
    if (target->different[i] != floor(target->different[i])) return false;
  return n > 1 && n < GPNN_TRAINING_MANY && n <= n_rows / ROWS_A_CLASS;
}

static void describe_classes(const struct cli *cli, const char *name,
                             const struct gpnn_training *training)
{
  const struct gpnn_schema *schema = &training->dataset.schema;
  char shown[GPNN_MASK_BYTES];
  for (size_t t = 0; t <= schema->n_more; t++) {
    const struct gpnn_training_target *target = &training->targets[t];
    const struct gpnn_column *column = gpnn_schema_target(schema, t);
    if (gpnn_schema_has_classes(schema, t)) {
      warn_of_single(cli, name, column, target->n_rows);
      warn_of_alike(cli, name, column, "classes");
      if (training->row_group != NULL) warn_of_held_out(cli, name, &training->dataset, t);
    } else if (looks_like_classes(target, training->n - training->n_lacking[t])) {
      cli_warn(
          cli,
          "%s: target '%s' has only %zu different values: if they are classes, use --classes%s",
          name, gpnn_schema_column_name(column, shown), target->n_different,
          are_counts(target) ? "; if counts, --likelihood poisson or negbin when it is fitted"
                             : "");
    }
  }
}

static void describe_levels(const struct cli *cli, const char *name,
                            const struct gpnn_schema *schema)
{
  for (size_t i = 0; i < schema->n_inputs; i++)
    if (schema->inputs[i].n_levels > 0) warn_of_alike(cli, name, &schema->inputs[i], "levels");
}

/* ---- what the index is made of ------------------------------------------------------------- */

enum { NAMES_BYTES = 220, LISTED = 5, LONGEST_TAIL = sizeof " (1000 classes), ..." };

/* Appends a name to a list that has room for it. */
static size_t add_name(char names[NAMES_BYTES], size_t used, const struct gpnn_column *column)
{
  char shown[GPNN_MASK_BYTES];
  bool has_classes = column->kind == GPNN_COLUMN_CLASSES;
  gpnn_mask(shown, column->name, strlen(column->name));
  int n = has_classes
              ? snprintf(names + used, NAMES_BYTES - used, "%s%s (%zu classes)",
                         used > 0 ? ", " : "", shown, column->n_levels)
              : snprintf(names + used, NAMES_BYTES - used, "%s%s", used > 0 ? ", " : "", shown);
  return n < 0 ? used : used + (size_t)n;
}

/* Lists the names of the first columns of 'n', with dots where there are more, and counts all;
 * inputs that share a column, as those of a date do, are one. */
static size_t list_names(char names[NAMES_BYTES], size_t n, const struct gpnn_column *columns)
{
  size_t used = 0, n_listed = 0, n_columns = 0;
  names[0] = '\0';
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && columns[i].position == columns[i - 1].position) continue;
    n_columns++;
    if (n_listed == LISTED || used + GPNN_MASK_BYTES + LONGEST_TAIL > NAMES_BYTES) continue;
    used = add_name(names, used, &columns[i]);
    n_listed++;
  }
  if (n_listed < n_columns) snprintf(names + used, NAMES_BYTES - used, ", ...");
  return n_columns;
}

/* The delimiter in words, where it was detected and is none that goes without saying. */
static const char *assumed_delimiter(const struct cli *cli, const struct gpnn_table *table)
{
  if (cli->table.delimiter != 0) return "";
  switch (gpnn_table_delimiter(table)) {
  case ';':
    return ", fields separated by semicolons";
  case '|':
    return ", fields separated by vertical bars";
  case ' ':
    return ", fields separated by blanks";
  default:
    return "";
  }
}

static void say_summary(const struct cli *cli, const struct gpnn_table *table,
                        const struct gpnn_dataset *dataset)
{
  const struct gpnn_schema *schema = &dataset->schema;
  char target[NAMES_BYTES], more[NAMES_BYTES], inputs[NAMES_BYTES];
  list_names(target, 1, &schema->target);
  list_names(more, schema->n_more, schema->more);
  size_t n_inputs = list_names(inputs, schema->n_inputs, schema->inputs);
  cli_say(cli, "%s%s: target%s %s%s%s, %zu input%s (%s), %zu row%s and %zu held out",
          gpnn_table_name(table), assumed_delimiter(cli, table), schema->n_more > 0 ? "s" : "",
          target, schema->n_more > 0 ? ", " : "", more, n_inputs, n_inputs == 1 ? "" : "s", inputs,
          dataset->n, dataset->n == 1 ? "" : "s", dataset->n_calibration);
}

/* ---- what is odd --------------------------------------------------------------------------- */

/* The name of target 't', masked. */
static const char *target_name(const struct gpnn_schema *schema, size_t t,
                               char name[GPNN_MASK_BYTES])
{
  return gpnn_schema_column_name(t == 0 ? &schema->target : &schema->more[t - 1], name);
}

enum { VALUE_BYTES = 40 }; /* room for a number or a date */

/* Writes a number as a user would type it. */
static const char *write_value(char out[VALUE_BYTES], const struct gpnn_column *column,
                               double value)
{
  if (column->date != NULL) return gpnn_date_write(out, value);
  gpnn_number_write(out, value);
  if (value > -1e15 && value < 1e15 && value == (double)(int64_t)value)
    snprintf(out, VALUE_BYTES, "%.0f", value);
  return out;
}

/* Writes one of the limits of what is not far. */
static const char *write_limit(char out[VALUE_BYTES], const struct gpnn_column *column,
                               double value)
{
  if (column->date != NULL) return gpnn_date_write(out, value);
  snprintf(out, VALUE_BYTES, "%.6g", value);
  return out;
}

/* The column of outliers and, shown, its name: an input, or after all features a target. */
static const struct gpnn_column *column_of(const struct gpnn_schema *schema,
                                           struct gpnn_feature_cursor *at,
                                           const struct gpnn_outliers *outliers,
                                           char shown[GPNN_MASK_BYTES])
{
  size_t n_features = gpnn_schema_features(schema), t = outliers->column - n_features;
  if (outliers->column < n_features) {
    gpnn_schema_feature_name(schema, at, outliers->column, shown);
    return gpnn_schema_feature_input(schema, at, outliers->column);
  }
  target_name(schema, t, shown);
  return t == 0 ? &schema->target : &schema->more[t - 1];
}

/* Warns about cells of one column that lie far outside the rest.  A value that occurs twice is more
 * likely a code than a slip. */
static void warn_of_far(const struct cli *cli, const char *name, const struct gpnn_schema *schema,
                        struct gpnn_feature_cursor *at, const struct gpnn_outliers *outliers)
{
  char shown[GPNN_MASK_BYTES], value[VALUE_BYTES], low[VALUE_BYTES], high[VALUE_BYTES];
  const struct gpnn_column *column = column_of(schema, at, outliers, shown);
  bool is_target = outliers->column >= gpnn_schema_features(schema);
  bool is_rest = is_target && schema->n_offsets > 0; /* which no cell of the table shows */
  const char *what = is_target ? "target" : "column", *minus = is_rest ? " minus its offset" : "";
  write_value(value, column, outliers->value);
  write_limit(low, column, outliers->low);
  write_limit(high, column, outliers->high);
  /* The table may write a date in another way. */
  bool is_date = column->date != NULL;
  if (outliers->n_equal > 1 && !is_rest)
    cli_warn(cli,
             "%s: %s '%s': %zu cells are %s, far outside the rest (%s to %s): a code for "
             "\"missing\"? --na %s --skip-bad%s",
             name, what, shown, outliers->n_equal, value, low, high, is_date ? "TEXT" : value,
             is_date ? ", with its text in the table" : "");
  else if (outliers->n == 1)
    cli_warn(cli, "%s: %s '%s'%s: one cell is %s, far outside the rest (%s to %s): a slip?", name,
             what, shown, minus, value, low, high);
  else
    cli_warn(cli,
             "%s: %s '%s'%s: %zu cells, %s one of them, are far outside the rest (%s to %s): "
             "slips?",
             name, what, shown, minus, outliers->n, value, low, high);
}

static void warn_of_all_far(const struct cli *cli, const char *name,
                            const struct gpnn_training *training)
{
  enum { SHOWN = 10 };
  const struct gpnn_outlier_columns *outliers = &training->outlier_columns;
  struct gpnn_feature_cursor at = {0};
  for (size_t f = 0; f < outliers->n && f < SHOWN; f++)
    warn_of_far(cli, name, &training->dataset.schema, &at, &outliers->of[f]);
  if (outliers->n > SHOWN)
    cli_warn(cli, "%s: %zu more columns have cells far outside the rest", name,
             outliers->n - SHOWN);
}

static void describe_copies(const struct cli *cli, const char *name,
                            const struct gpnn_training *training)
{
  if (training->n_dropped > 0)
    cli_warn(cli, "%s: %zu rows equal an earlier one and are left out: %zu remain", name,
             training->n_dropped, training->n);
  if (training->set != NULL)
    cli_warn(
        cli,
        "%s: %zu of %zu rows equal others in inputs and target (%zu are different): copies are "
        "left out together when errors are estimated; if a row is one observation read "
        "several times, use --unique",
        name, training->n_copied, training->n, training->n_sets);
}

/* Warns about an input that is the target in other units, which is seldom known beforehand. */
static void warn_of_target(const struct cli *cli, const char *name,
                           const struct gpnn_dataset *dataset)
{
  char shown[GPNN_MASK_BYTES];
  size_t j = dataset->coordinates == NULL ? SIZE_MAX : gpnn_dataset_find_copy_of_target(dataset);
  if (j == SIZE_MAX) return;
  gpnn_schema_feature_name(&dataset->schema, NULL, dataset->coordinates[j].feature, shown);
  cli_warn(cli, "%s: input '%s' is the target in other units: is it known before that? (--drop)",
           name, shown);
}

/* Says what rows lack, which otherwise shows nowhere. */
static void describe_missing(const struct cli *cli, const char *name,
                             const struct gpnn_training *training)
{
  struct gpnn_missing_count count = gpnn_missing_count(&training->dataset);
  bool is_mixed = training->n_incomplete > 0 && training->dataset.lacks == NULL; /* by whitening */
  if (cli_given(cli, "shown-as")) return;
  if (is_mixed)
    cli_say(
        cli,
        "%s: %zu of %zu rows lack inputs, which are filled in; after whitening, rows to predict "
        "must have them all",
        name, training->n_incomplete, training->n);
  if (count.n_cells == 0) return;
  cli_say(cli,
          "%s: %.3g %% of the cells are missing in %zu input%s; rows are used, and predicted, with "
          "what they have (--missing drop: they are not)",
          name, 100 * count.share, count.n_inputs, count.n_inputs == 1 ? "" : "s");
}

void describe_training(const struct cli *cli, const struct gpnn_table *table,
                       const struct gpnn_training *training)
{
  const char *name = gpnn_table_name(table);
  const struct gpnn_dataset *dataset = &training->dataset;
  const struct gpnn_scaling *scaling = &dataset->scaling;
  char shown[GPNN_MASK_BYTES];
  struct gpnn_feature_cursor at = {0};
  describe_copies(cli, name, training);
  warn_of_all_far(cli, name, training);
  describe_classes(cli, name, training);
  describe_levels(cli, name, &dataset->schema);
  warn_of_target(cli, name, dataset);
  if (scaling->n_out < scaling->n_in)
    cli_warn(cli, "%s: %zu of %zu %s do not vary and are dropped", name,
             scaling->n_in - scaling->n_out, scaling->n_in,
             scaling->method == GPNN_SCALING_WHITEN ? "directions of the inputs" : "inputs");
  for (size_t j = 0; j < scaling->n_in; j++)
    if (!gpnn_scaling_keeps(&dataset->scaling, j))
      cli_note(cli, "dropped: column '%s'",
               gpnn_schema_feature_name(&dataset->schema, &at, j, shown));
  for (size_t t = 0; t <= dataset->n_more; t++)
    if (training->n_lacking[t] > 0)
      cli_note(cli, "%s: %zu of %zu rows lack target '%s'", name, training->n_lacking[t],
               training->n, target_name(&dataset->schema, t, shown));
  describe_missing(cli, name, training);
  if (!cli_given(cli, "shown-as")) say_summary(cli, table, dataset); /* else it is reported there */
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* How many rows were left out for each reason. */
static void put_skipped(struct json *report, const struct gpnn_table *table,
                        const struct gpnn_skipped *skipped)
{
  json_open(report, "skipped", '[');
  for (size_t i = 0; i < skipped->n_kinds; i++) {
    const struct gpnn_skipped_kind *kind = &skipped->kinds[i];
    bool has_column = kind->column != SIZE_MAX;
    json_open(report, NULL, '{');
    json_text(report, "column", has_column ? gpnn_table_column(table, kind->column) : NULL);
    json_text(report, "reason", kind->what);
    json_count(report, "rows", kind->n);
    json_count(report, "line", kind->line);
    json_text(report, "example", kind->text);
    json_close(report, '}');
  }
  json_close(report, ']');
}

/* The names of the inputs that are kept or dropped. */
static void put_inputs(struct json *report, const struct gpnn_dataset *dataset, bool kept)
{
  char name[GPNN_MASK_BYTES];
  struct gpnn_feature_cursor at = {0};
  json_open(report, kept ? "input" : "dropped", '[');
  for (size_t j = 0; j < dataset->scaling.n_in; j++)
    if (gpnn_scaling_keeps(&dataset->scaling, j) == kept)
      json_text(report, NULL, gpnn_schema_feature_name(&dataset->schema, &at, j, name));
  json_close(report, ']');
}

/* The targets and, if any are classes, how many classes each has; if some rows lack one, how many
 * rows lack each. */
static void put_targets(struct json *report, const struct gpnn_training *training)
{
  const struct gpnn_schema *schema = &training->dataset.schema;
  size_t n_lacking = 0;
  json_open(report, "targets", '[');
  json_text(report, NULL, schema->target.name);
  for (size_t t = 0; t < schema->n_more; t++) json_text(report, NULL, schema->more[t].name);
  json_close(report, ']');
  if (training->has_classes) {
    json_open(report, "classes", '[');
    for (size_t t = 0; t <= schema->n_more; t++)
      json_count(report, NULL, gpnn_schema_target(schema, t)->n_levels);
    json_close(report, ']');
  }
  for (size_t t = 0; t <= schema->n_more; t++) n_lacking += training->n_lacking[t];
  if (n_lacking == 0) return;
  json_open(report, "rows-lacking-target", '[');
  for (size_t t = 0; t <= schema->n_more; t++) json_count(report, NULL, training->n_lacking[t]);
  json_close(report, ']');
}

void report_training(const struct cli *cli, const struct gpnn_table *table,
                     const struct gpnn_training *training)
{
  const struct gpnn_dataset *dataset = &training->dataset;
  struct json *report = cli->report;
  json_text(report, "table", gpnn_table_name(table));
  json_count(report, "rows", dataset->n);
  json_count(report, "calibration-rows", dataset->n_calibration);
  json_count(report, "skipped-rows", training->skipped.n);
  put_skipped(report, table, &training->skipped);
  put_targets(report, training);
  json_count(report, "inputs", dataset->d);
  put_inputs(report, dataset, true);
  put_inputs(report, dataset, false);
}

void report_search(const struct cli *cli, const struct gpnn_search_report *search)
{
  struct json *report = cli->report;
  json_text(report, "search", gpnn_search_name(search->kind));
  json_number(report, "search-recall-asked", search->asked);
  json_number(report, "search-recall", search->recall);
  json_count(report, "search-recall-neighbours", search->neighbours);
}
