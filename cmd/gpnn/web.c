#include "cmd/gpnn/web.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assess/shift.h"
#include "base/memory.h"
#include "base/number.h"
#include "cmd/common/progress.h"
#include "cmd/gpnn/check.h"
#include "cmd/gpnn/html.h"
#include "cmd/gpnn/report.h"
#include "dataset/missing.h"
#include "explain/columns.h"

enum {
  MOST_BYTES = 1900000, /* of the page: pictures that would make it larger are left out */
  MOST_COLUMNS = 200,   /* of the table, that are listed */
  MOST_TARGETS = 6,     /* that are written about at length */
  MOST_LINES = 30       /* of a table that a tool has written */
};

/* ---- running tools ------------------------------------------------------------------------ */

struct command web_command(const char *tool, const char *kind)
{
  struct command command = {0};
  COMMAND_ADD(&command, tool, kind);
  return command;
}

void web_add_model(struct web *web, struct command *command)
{
  const struct files *working = &web->places->working;
  steps_hand_on(web->cli, "threads", command);
  steps_hand_on(web->cli, "seed", command);
  if (web->f->opened.n > 1) COMMAND_ADD(command, "--targets", web->target);
  COMMAND_ADD(command, "-p", working->params, working->index);
}

/* Appends a command as readers can repeat it: with the model in the place of working files, and
 * others in the working directory. */
static void note_command(struct web *web, const struct command *command)
{
  const struct files *working = &web->places->working;
  const char *scratch = web->places->scratch.path;
  struct command shown = {0};
  for (size_t i = 0; i < command->n && !command->failed; i++) {
    const char *word = command->words[i];
    bool is_params = strcmp(word, "-p") == 0 && i + 1 < command->n;
    size_t length = strlen(scratch);
    if (is_params && strcmp(command->words[i + 1], working->params) == 0)
      i++;
    else if (strcmp(word, working->index) == 0)
      command_add(&shown, web->places->kept.model);
    else
      command_add(&shown, strncmp(word, scratch, length) == 0 ? word + length + 1 : word);
  }
  char *line = shown.failed ? NULL : command_line(&shown);
  if (line != NULL) fprintf(web->commands, "%s\n", line);
  free(line);
  command_release(&shown);
}

/* Says what went wrong, without the directory of working files. */
static void tell_error(const struct web *web, struct gpnn_error *err)
{
  const char *scratch = web->places->scratch.path;
  size_t length = strlen(scratch) + 1;
  for (char *at; (at = strstr(err->text, scratch)) != NULL && strlen(at) >= length;)
    memmove(at, at + length, strlen(at + length) + 1);
  html_say(web->to, "%s", err->text);
}

bool web_run(struct web *web, struct command *command, struct gpnn_child *child)
{
  struct gpnn_error err;
  note_command(web, command);
  progress_update("tools run for the page", ++web->n_tools, 0);
  command_add(command, "--quiet");
  enum gpnn_status status = steps_run_tool(command, child, &err);
  if (status != GPNN_OK) tell_error(web, &err);
  command_release(command);
  return status == GPNN_OK;
}

enum gpnn_status web_open_predictions(const struct web *web, const char *path,
                                      struct gpnn_table **table, struct gpnn_error *err)
{
  const struct gpnn_table_options options = steps_predictions_table(web->cli);
  return gpnn_table_open(table, path, &options, err);
}

/* Begins a command that reads predictions. */
static struct command reading_command(struct web *web, const char *tool, const char *kind)
{
  struct command command = web_command(tool, kind);
  steps_hand_on(web->cli, "delimiter", &command);
  steps_hand_on(web->cli, "na", &command);
  return command;
}

/* Draws what the command, of gpnn-plot, says of 'path', if there are pictures. */
static bool draw(struct web *web, struct command *command, const char *path,
                 const char *alternative)
{
  struct gpnn_child child = {0};
  COMMAND_ADD(command, "--width", "12", path); /* legible on a telephone */
  bool drawn = web->draws && web_run(web, command, &child);
  if (!web->draws) command_release(command);
  if (drawn && (size_t)ftello(web->to) + child.n_output > MOST_BYTES)
    html_say(web->to, "%s: not shown, as the page would be larger than 2 MB.", alternative);
  else if (drawn)
    html_picture(web->to, ++web->n_pictures, child.output, child.n_output, alternative);
  gpnn_child_release(&child);
  return drawn;
}

static bool draw_kind(struct web *web, const char *kind, const char *path, const char *alternative)
{
  struct command command = reading_command(web, "gpnn-plot", kind);
  return draw(web, &command, path, alternative);
}

/* What tools that read the predictions in 'path' put between their fields: what is there. */
static char delimiter_of(const struct web *web, const char *path)
{
  struct gpnn_table *table = NULL;
  char delimiter = '\t';
  if (web_open_predictions(web, path, &table, NULL) == GPNN_OK)
    delimiter = gpnn_table_delimiter(table);
  gpnn_table_close(table);
  return delimiter == ' ' ? '\t' : delimiter;
}

/* Runs the command, of a tool that reads 'path' (NULL: none), and shows the table that it writes;
 * false after saying why it cannot. */
static bool show(struct web *web, struct command *command, const char *path, const char *caption,
                 size_t n_rows, size_t n_columns)
{
  struct gpnn_child child = {0};
  struct gpnn_error err;
  const char *table = web->places->page.table;
  COMMAND_ADD(command, "-o", table, path);
  bool shown = web_run(web, command, &child);
  gpnn_child_release(&child);
  if (!shown) return false;
  char delimiter = path == NULL ? '\t' : delimiter_of(web, path);
  shown = html_file(web->to, caption, table, delimiter, n_rows, n_columns, &err) == GPNN_OK;
  if (!shown) tell_error(web, &err);
  return shown;
}

/* ---- the table ---------------------------------------------------------------------------- */

/* Compares the table to predict with the training rows; false after saying why it cannot. */
static bool find_shift(struct web *web, struct gpnn_shift *shift)
{
  const struct places *places = web->places;
  const struct gpnn_dataset *dataset = gpnn_index_dataset(web->f->opened.index);
  struct gpnn_table *table = NULL;
  struct gpnn_error err;
  if (places->test == NULL || !check_can_reread(places->test) || dataset->coordinates == NULL)
    return false;
  enum gpnn_status status =
      check_open(web->cli, dataset, places->test, &places->test_begins, &table, &err);
  if (status == GPNN_OK) status = gpnn_shift_find(shift, dataset, table, &err);
  gpnn_table_close(table);
  if (status != GPNN_OK) tell_error(web, &err);
  return status == GPNN_OK;
}

/* The shift of what is made of an input: where it is largest. */
static struct gpnn_shift_input shift_of(const struct gpnn_dataset *dataset,
                                        const struct gpnn_shift *shift, size_t input)
{
  struct gpnn_shift_input largest = {NAN, NAN, NAN, NAN};
  for (size_t j = 0; j < dataset->d; j++) {
    const struct gpnn_shift_input *one = &shift->inputs[j];
    if (dataset->coordinates[j].input == input &&
        (isnan(largest.missing) || fabs(one->shift) > fabs(largest.shift)))
      largest = *one;
  }
  return largest;
}

static void put_notation(struct web *web)
{
  const struct gpnn_dataset *dataset = gpnn_index_dataset(web->f->opened.index);
  const struct gpnn_notation *notation = &dataset->schema.notation;
  FILE *to = web->to;
  fputs("<p>", to);
  html_text(to, dataset->schema.has_header ? "The first line names the columns"
                                           : "Columns have numbers, as no line names them");
  fprintf(to, "; the decimal mark is a %s%s", notation->decimal == ',' ? "comma" : "point",
          notation->thousands ? ", and digits before it are in groups" : "");
  html_text(to, "; missing cells are empty or ");
  html_text(to, notation->missing == NULL ? "NA" : notation->missing);
  html_text(to, notation->strip == NULL ? "" : "; ignored beside numbers: ");
  html_text(to, notation->strip == NULL ? "" : notation->strip);
  html_text(to, notation->comment == NULL ? "" : "; comments begin with ");
  html_text(to, notation->comment == NULL ? "" : notation->comment);
  fputs(".</p>\n", to);
}

static void put_column(struct web *web, size_t i, const struct gpnn_shift *shift)
{
  static const char *const kinds[] = {"number",   "category", "number",
                                      "position", "position", "classes",
                                      "names",    "category", "groups of rows"};
  const struct gpnn_dataset *dataset = gpnn_index_dataset(web->f->opened.index);
  const struct gpnn_column *column = &dataset->schema.inputs[i];
  char name[GPNN_MASK_BYTES];
  FILE *to = web->to;
  html_row(to);
  html_cell(to, name, strlen(gpnn_schema_column_name(column, name)));
  fprintf(to, "<td>%s", kinds[column->kind]);
  words_kind(to, column);
  size_t n_missing = gpnn_missing_rows(dataset, i);
  html_share(to, (double)n_missing / (double)dataset->n);
  if (shift == NULL) return;
  struct gpnn_shift_input of = shift_of(dataset, shift, i);
  html_share(to, of.missing);
  html_number(to, of.shift);
  html_number(to, of.spread);
  html_share(to, of.beyond);
}

static void put_columns(struct web *web)
{
  const struct gpnn_schema *schema = &gpnn_index_dataset(web->f->opened.index)->schema;
  struct gpnn_shift shift = {0};
  FILE *to = web->to;
  size_t n = 0;
  bool has_shift = find_shift(web, &shift);
  html_table(to, has_shift ? "Inputs, and how they differ in the table to predict" : "Inputs",
             has_shift
                 ? "column|taken for|missing|missing there|shift of the mean, in sds|ratio of sds|"
                   "beyond all training rows"
                 : "column|taken for|missing");
  for (size_t i = 0; i < schema->n_inputs; i++)
    if (!gpnn_schema_is_repeat(schema, i) && n++ < MOST_COLUMNS)
      put_column(web, i, has_shift ? &shift : NULL);
  html_table_end(to);
  if (n > MOST_COLUMNS) html_say(to, "%zu further inputs are not listed.", n - MOST_COLUMNS);
  if (has_shift && shift.n_unseen > 0)
    html_say(to, "%zu cells there are of levels that no training row has.", shift.n_unseen);
  if (has_shift && shift.n_bad > 0) html_say(to, "%zu rows there are bad.", shift.n_bad);
  if (has_shift)
    html_say(to, "Of an input that is several numbers, as a category is, the one that differs "
                 "most.");
  gpnn_shift_release(&shift);
}

/* Writes definitions that the report has, too. */
static enum gpnn_status put_report(struct web *web, enum report_part part, struct gpnn_error *err)
{
  fputs("<dl>\n", web->to);
  enum gpnn_status status = report_html(web->to, part, web->cli, web->places, web->f, web->t, err);
  fputs("</dl>\n", web->to);
  return status;
}

static enum gpnn_status put_table(struct web *web, struct gpnn_error *err)
{
  fputs("<h2>The table</h2>\n", web->to);
  enum gpnn_status status = put_report(web, REPORT_TABLE, err);
  put_notation(web);
  put_columns(web);
  return status;
}

/* ---- how good it is ----------------------------------------------------------------------- */

/* The scores that gpnn-eval has written, those of intervals apart. */
struct scores {
  size_t n;
  struct {
    char name[GPNN_MASK_BYTES];
    double value;
  } of[2 * MOST_LINES];
};

static enum gpnn_status read_scores(struct scores *scores, const char *path, struct gpnn_error *err)
{
  const struct gpnn_table_options options = {.delimiter = '\t'};
  struct gpnn_table *table = NULL;
  struct gpnn_record record;
  enum gpnn_status status = gpnn_table_open(&table, path, &options, err);
  while (status == GPNN_OK && scores->n < 2 * MOST_LINES) {
    status = gpnn_table_next(table, &record, err);
    if (status != GPNN_OK || record.n_fields != 2) continue;
    const struct gpnn_field *name = &record.fields[0], *value = &record.fields[1];
    gpnn_mask(scores->of[scores->n].name, name->text, name->length);
    scores->n += gpnn_number_read(value->text, value->length, &scores->of[scores->n].value) ==
                 GPNN_NUMBER_OK;
  }
  gpnn_table_close(table);
  return status == GPNN_END ? GPNN_OK : status;
}

/* The score whose name is 'prefix' with 'rest' behind it; NaN: there is none. */
static double score_of(const struct scores *scores, const char *prefix, const char *rest)
{
  size_t length = strlen(prefix);
  for (size_t i = 0; i < scores->n; i++)
    if (strncmp(scores->of[i].name, prefix, length) == 0 &&
        strcmp(scores->of[i].name + length, rest) == 0)
      return scores->of[i].value;
  return NAN;
}

static void put_intervals(FILE *to, const struct scores *scores)
{
  static const char coverage[] = "coverage";
  html_table(to, "Intervals", "level|truths inside|mean width");
  for (size_t i = 0; i < scores->n; i++) {
    const char *level = scores->of[i].name + sizeof coverage - 1;
    if (strncmp(scores->of[i].name, coverage, sizeof coverage - 1) != 0) continue;
    html_row(to);
    fputs("<td class=\"n\">", to);
    html_text(to, level);
    fputs(" %", to);
    html_share(to, scores->of[i].value);
    html_number(to, score_of(scores, "width", level));
  }
  html_table_end(to);
}

static void put_scores(struct web *web, const struct web_rows *rows)
{
  static const char *const apart[] = {"coverage", "width", "score", "pit", "interval"};
  struct scores scores = {0};
  struct gpnn_child child = {0};
  struct gpnn_error err;
  struct command command = reading_command(web, "gpnn-eval", "-o");
  COMMAND_ADD(&command, web->places->page.table, rows->scored);
  bool ran = web_run(web, &command, &child);
  gpnn_child_release(&child);
  if (!ran) return;
  if (read_scores(&scores, web->places->page.table, &err) != GPNN_OK) tell_error(web, &err);
  html_table(web->to, "Scores, as gpnn-eval(1) explains them", "score|value");
  for (size_t i = 0, k; i < scores.n; i++) {
    for (k = 0; k < 5 && strncmp(scores.of[i].name, apart[k], strlen(apart[k])) != 0;) k++;
    if (k < 5) continue;
    html_row(web->to);
    html_cell(web->to, scores.of[i].name, strlen(scores.of[i].name));
    html_number(web->to, scores.of[i].value);
  }
  html_table_end(web->to);
  if (!web->of_classes) put_intervals(web->to, &scores);
}

static void put_pictures_of_numbers(struct web *web, const struct web_rows *rows)
{
  draw_kind(web, "calibration", rows->scored,
            "Calibration: the share of truths inside central intervals, against their level");
  if (!draw_kind(web, "pit", rows->scored,
                 "Histogram of the probability that predictions gave to values below the truth")) {
    struct command command = reading_command(web, "gpnn-eval", "--table");
    command_add(&command, "pit");
    show(web, &command, rows->scored,
         "Share of rows by the probability that predictions gave to values below the truth (PIT): "
         "all alike, if predictions are right",
         MOST_LINES, 3);
  }
  draw_kind(web, "predicted", rows->points, "Observed values against predicted ones");
  draw_kind(web, "residuals", rows->points,
            "Errors in standard deviations against predicted values");
}

static void put_pictures_of_classes(struct web *web, const struct web_rows *rows)
{
  struct command command = reading_command(web, "gpnn-eval", "--table");
  command_add(&command, "classes");
  show(web, &command, rows->scored, "Each class", MOST_LINES, SIZE_MAX);
  if (!draw_kind(web, "reliability", rows->scored,
                 "Reliability: how often the most probable class is the true one, against its "
                 "probability")) {
    command = reading_command(web, "gpnn-eval", "--table");
    command_add(&command, "reliability");
    show(web, &command, rows->scored, "How often the most probable class is the true one",
         MOST_LINES, SIZE_MAX);
  }
  draw_kind(web, "confusion", rows->scored, "Rows of each class by the class predicted");
  draw_kind(web, "roc", rows->scored,
            "True against false positives of each class, for all thresholds");
}

static enum gpnn_status put_quality(struct web *web, const struct web_rows *rows,
                                    struct gpnn_error *err)
{
  fputs("<h3>How good predictions are</h3>\n", web->to);
  enum gpnn_status status = put_report(web, REPORT_SCORES, err);
  if (status != GPNN_OK || rows->scored == NULL) return status;
  html_say(web->to, "What follows is of %s%s.", rows->of,
           rows->are_some ? "; scores and calibration are of all" : "");
  fputs("<div class=\"pictures\">\n", web->to);
  put_scores(web, rows);
  fputs("</div>\n<div class=\"pictures\">\n", web->to);
  if (web->of_classes)
    put_pictures_of_classes(web, rows);
  else
    put_pictures_of_numbers(web, rows);
  fputs("</div>\n", web->to);
  return status;
}

/* ---- what it has learnt ------------------------------------------------------------------- */

/* Reads the names in the first column of what gpnn-explain importance has written. */
static void read_leading(struct web *web)
{
  const struct gpnn_table_options options = {.delimiter = '\t', .has_header = true};
  struct gpnn_table *table = NULL;
  struct gpnn_record record;
  if (gpnn_table_open(&table, web->places->page.table, &options, NULL) != GPNN_OK) return;
  while (web->n_leading < WEB_LEADING && gpnn_table_next(table, &record, NULL) == GPNN_OK) {
    const struct gpnn_field *name = &record.fields[0];
    gpnn_mask(web->leading[web->n_leading++], name->text, name->length);
  }
  gpnn_table_close(table);
}

/* Names the columns that go along with the target most, with commas between, for the caller to
 * free; NULL: all can be looked at, or there is no memory. */
static char *choose_columns(const struct web *web, const struct gpnn_explain_columns *columns,
                            double *share)
{
  const struct gpnn_schema *schema = &web->f->opened.dataset->schema;
  char *list = NULL;
  size_t length;
  FILE *to = columns->n > MOST_LINES ? open_memstream(&list, &length) : NULL;
  for (size_t n = 0; n < MOST_LINES && to != NULL; n++) {
    size_t best = 0;
    for (size_t k = 1; k < columns->n; k++)
      if (share[k] > share[best]) best = k;
    const struct gpnn_column *column = &schema->inputs[columns->of[best].input];
    bool is_named = column->occurrence == 0 && strchr(column->name, ',') == NULL;
    if (is_named) fprintf(to, "%s%s", ftello(to) > 0 ? "," : "", column->name);
    share[best] = -1;
  }
  if (to == NULL || fclose(to) == 0) return list;
  free(list);
  return NULL;
}

static char *find_columns(const struct web *web)
{
  const struct gpnn_channel *channel = &web->f->opened.channels[web->t];
  const struct gpnn_dataset *view =
      gpnn_dataset_target(gpnn_index_dataset(web->f->opened.index), channel->dataset->target);
  struct gpnn_explain_columns columns = {0};
  char *list = NULL;
  if (gpnn_explain_columns_find(&columns, view, false, NULL) != GPNN_OK) return NULL;
  double *share = gpnn_alloc(columns.n, 1, sizeof *share);
  if (share != NULL && gpnn_explain_columns_share(&columns, view, share, NULL) == GPNN_OK)
    list = choose_columns(web, &columns, share);
  free(share);
  gpnn_explain_columns_release(&columns);
  return list;
}

static void put_importance(struct web *web)
{
  char *columns = find_columns(web);
  fputs("<h3>What matters</h3>\n", web->to);
  html_say(
      web->to,
      "What predictions of at most 1000 rows, fewer if columns are many, lose without a column, "
      "in the mean %s, with standard errors (se): if its values are permuted among rows, which "
      "shows what the model relies on, and if they are missing, which shows what the column "
      "adds to the others. Of two columns that say the same, the first shows both, and the "
      "second neither. All levels of a category, and all that is made of a date, count as one.",
      web->of_classes ? "log loss" : "CRPS and in the RMSE");
  if (columns != NULL)
    html_say(
        web->to,
        "Of all columns, the %d that correlate most with the target; gpnn-explain importance -x "
        "tells of others, and of groups.",
        MOST_LINES);
  struct command command = web_command("gpnn-explain", "importance");
  if (columns != NULL) COMMAND_ADD(&command, "-x", columns);
  web_add_model(web, &command);
  if (show(web, &command, NULL, "Importance of columns", MOST_LINES, SIZE_MAX)) read_leading(web);
  free(columns);
}

/* So many rows that six effects take no longer than a fit; draws of them take the cube of it. */
static size_t effect_rows(const struct web *web)
{
  enum { BUDGET = 30000, LEAST = 100, MOST = 350 };
  size_t n = BUDGET / web->f->opened.dataset->d;
  return n < LEAST ? LEAST : n > MOST ? MOST : n;
}

static void put_effect(struct web *web, const char *column)
{
  char rows[24];
  struct gpnn_child child = {0};
  char caption[GPNN_MASK_BYTES + 80];
  struct gpnn_error err;
  struct command command = web_command("gpnn-explain", "effect");
  snprintf(rows, sizeof rows, "%zu", effect_rows(web));
  COMMAND_ADD(&command, "-x", column, "-c", rows, "-o", web->places->page.table);
  web_add_model(web, &command);
  snprintf(caption, sizeof caption, "Effect of %s on the prediction, with its 95 %% interval",
           column);
  fputs("<div>\n", web->to);
  if (web_run(web, &command, &child)) {
    command = web_command("gpnn-plot", "effect");
    bool drawn = draw(web, &command, web->places->page.table, caption);
    if (drawn) fputs("<details><summary>Numbers</summary>\n", web->to);
    if (html_file(web->to, caption, web->places->page.table, '\t', MOST_LINES, 5, &err) != GPNN_OK)
      tell_error(web, &err);
    if (drawn) fputs("</details>\n", web->to);
  }
  fputs("</div>\n", web->to);
  gpnn_child_release(&child);
}

static void put_effects(struct web *web)
{
  fputs("<h3>What columns do</h3>\n", web->to);
  if (web->of_classes) {
    html_say(web->to, "Effects are those of targets that are numbers.");
    return;
  }
  html_say(
      web->to,
      "How predictions change with one column, averaged over those of %zu random training "
      "rows that are near each value of it: accumulated local effects, whose mean is 0; of the "
      "columns that matter most, %d at most.",
      effect_rows(web), WEB_LEADING);
  fputs("<div class=\"pictures\">\n", web->to);
  for (size_t k = 0; k < web->n_leading; k++) put_effect(web, web->leading[k]);
  fputs("</div>\n", web->to);
}

/* The input of this name; NULL: it is none, as two joined by a comma are. */
static const struct gpnn_column *input_called(const struct web *web, const char *name)
{
  const struct gpnn_schema *schema = &gpnn_index_dataset(web->f->opened.index)->schema;
  for (size_t i = 0; i < schema->n_inputs; i++)
    if (strcmp(schema->inputs[i].name, name) == 0) return &schema->inputs[i];
  return NULL;
}

/* True if the cells of this column are texts, each of which may be that of many rows. */
static bool is_of_levels(const struct gpnn_column *column)
{
  return column->kind == GPNN_COLUMN_CATEGORY || column->kind == GPNN_COLUMN_CODED ||
         column->kind == GPNN_COLUMN_EFFECT;
}

/* Errors along a column: a picture of numbers, or scores of each level. */
static void put_residuals_along(struct web *web, const struct web_rows *rows,
                                const struct gpnn_column *column)
{
  char caption[GPNN_MASK_BYTES + 80], name[GPNN_MASK_BYTES];
  gpnn_mask(name, column->name, strlen(column->name));
  if (is_of_levels(column)) {
    struct command command = reading_command(web, "gpnn-eval", "--by");
    command_add(&command, column->name);
    snprintf(caption, sizeof caption, "Scores by %s", name);
    show(web, &command, rows->points, caption, MOST_LINES, 5);
  } else if (!web->of_classes) {
    struct command command = reading_command(web, "gpnn-plot", "residuals");
    COMMAND_ADD(&command, "-x", column->name);
    snprintf(caption, sizeof caption, "Errors in standard deviations along %s", name);
    draw(web, &command, rows->points, caption);
  }
}

/* Along those that matter most and are neither dates nor positions. */
static void put_residuals(struct web *web, const struct web_rows *rows)
{
  enum { MOST = 3 };
  if (!rows->has_cells || rows->points == NULL) return;
  html_say(web->to, "Along the numbers and categories that matter most, %d at most.", MOST);
  fputs("<div class=\"pictures\">\n", web->to);
  for (size_t k = 0, n = 0; n < MOST && k < web->n_leading; k++) {
    const struct gpnn_column *column = input_called(web, web->leading[k]);
    if (column == NULL || column->date != NULL) continue;
    put_residuals_along(web, rows, column);
    n++;
  }
  fputs("</div>\n", web->to);
}

static enum gpnn_status put_target(struct web *web, struct gpnn_error *err)
{
  const struct gpnn_dataset *view = web->f->opened.channels[web->t].dataset;
  struct web_rows rows = {0};
  web->target = view->schema.target.name;
  web->of_classes = gpnn_dataset_n_classes(view) > 0;
  web->n_leading = 0;
  fputs("<h2>", web->to);
  html_text(web->to, "Target ");
  html_bytes(web->to, web->target, strlen(web->target));
  fputs("</h2>\n", web->to);
  enum gpnn_status status = put_report(web, REPORT_MODEL, err);
  if (status == GPNN_OK) status = web_rows_find(&rows, web, err);
  if (status == GPNN_OK) status = put_quality(web, &rows, err);
  if (status == GPNN_OK) {
    put_importance(web);
    put_effects(web);
    fputs("<h3>Where errors are</h3>\n", web->to);
    put_residuals(web, &rows);
    status = web_rows_tell(&rows, web, err);
  }
  web_rows_release(&rows);
  return status;
}

/* ---- the page ----------------------------------------------------------------------------- */

static bool has_gnuplot(void)
{
  struct gpnn_child child = {0};
  struct command command = {0};
  COMMAND_ADD(&command, "gnuplot", "--version");
  bool has = steps_run_tool(&command, &child, NULL) == GPNN_OK;
  command_release(&command);
  gpnn_child_release(&child);
  return has;
}

static void put_cost(struct web *web, double began)
{
  const struct findings *f = web->f;
  fputs("<h2>Time and memory</h2>\n", web->to);
  html_table(web->to, "Seconds", "step|seconds");
  for (enum step step = STEP_INDEX; step < STEPS; step++) {
    if (!f->ran[step]) continue;
    html_row(web->to);
    html_cell(web->to, steps_name(step), strlen(steps_name(step)));
    html_number(web->to, f->seconds[step]);
  }
  html_row(web->to);
  html_cell(web->to, "scores", strlen("scores"));
  html_number(web->to, f->scoring);
  html_row(web->to);
  html_cell(web->to, "this page", strlen("this page"));
  html_number(web->to, progress_now() - began);
  html_table_end(web->to);
  uint64_t peak = cli_peak_memory();
  html_say(web->to, "The most memory that a step took: %.0f MiB.", (double)peak / (1024 * 1024));
}

/* All that was run, for readers to run again. */
static enum gpnn_status put_commands(struct web *web, const char *page_commands,
                                     struct gpnn_error *err)
{
  struct command given = {0};
  fputs("<h2>Commands</h2>\n", web->to);
  html_say(web->to, "This repeats all of it:");
  steps_given(web->cli, 0, true, &given);
  char *line = given.failed ? NULL : command_line(&given);
  fputs("<pre>", web->to);
  html_text(web->to, line == NULL ? "" : line);
  fputs("</pre>\n", web->to);
  free(line);
  command_release(&given);
  html_say(web->to, "Step by step, the same is:");
  fputs("<pre>", web->to);
  enum gpnn_status status =
      report_html(web->to, REPORT_STEPS, web->cli, web->places, web->f, 0, err);
  fputs("</pre>\n", web->to);
  html_say(web->to, "The parts of this page were made by:");
  fputs("<pre>", web->to);
  html_text(web->to, page_commands);
  fputs("</pre>\n", web->to);
  return status;
}

static enum gpnn_status put_page(struct web *web, char *const *page_commands,
                                 struct gpnn_error *err)
{
  double began = progress_now();
  size_t n = web->f->opened.n;
  char title[2 * GPNN_MASK_BYTES], train[GPNN_MASK_BYTES];
  const char *path = web->places->train;
  gpnn_mask(train, path, strlen(path));
  snprintf(title, sizeof title, "What gpnn learnt from %s",
           strcmp(path, "-") == 0 ? "standard input" : train);
  html_begin(web->to, title);
  web->draws = has_gnuplot();
  if (!web->draws)
    html_say(web->to, "There are no pictures, as gnuplot is not installed: its Debian package is "
                      "gnuplot-nox.");
  enum gpnn_status status = put_table(web, err);
  for (web->t = 0; web->t < n && web->t < MOST_TARGETS && status == GPNN_OK; web->t++)
    status = put_target(web, err);
  if (n > MOST_TARGETS)
    html_say(web->to, "There are %zu further targets; name those to be shown with -y.",
             n - MOST_TARGETS);
  put_cost(web, began);
  fflush(web->commands);
  if (status == GPNN_OK) status = put_commands(web, *page_commands, err);
  html_end(web->to);
  return status;
}

enum gpnn_status web_compose(char **page, size_t *length, const struct cli *cli,
                             const struct places *places, const struct findings *findings,
                             struct gpnn_error *err)
{
  struct web web = {.cli = cli, .places = places, .f = findings};
  char *text = NULL, *commands = NULL;
  size_t n, n_commands;
  web.to = open_memstream(&text, &n);
  web.commands = open_memstream(&commands, &n_commands);
  enum gpnn_status status = web.to == NULL || web.commands == NULL
                                ? gpnn_fail_memory(err, "for the page")
                                : put_page(&web, &commands, err);
  bool failed = web.to != NULL && fclose(web.to) != 0;
  if (web.commands != NULL) fclose(web.commands);
  free(commands);
  if (failed && status == GPNN_OK) status = gpnn_fail_memory(err, "for the page");
  if (status == GPNN_OK) {
    *page = text;
    *length = n;
  } else {
    free(text);
  }
  return status;
}
