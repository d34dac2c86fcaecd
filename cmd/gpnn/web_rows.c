#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "cmd/common/output.h"
#include "cmd/gpnn/check.h"
#include "cmd/gpnn/html.h"
#include "cmd/gpnn/report.h"
#include "cmd/gpnn/web.h"
#include "dataset/reader.h"
#include "dataset/training/training.h"
#include "table/columns.h"
#include "table/predictions.h"

enum { SAMPLE = 1000, TOLD = 10, SOURCES = 5 };

/* ---- the rows that have most of something ------------------------------------------------- */

struct ranked {
  size_t n;
  struct {
    size_t row; /* of the table of predictions, from 0 */
    double value;
  } of[TOLD]; /* the most first */
};

static void rank(struct ranked *ranked, size_t row, double value)
{
  size_t at = ranked->n;
  while (at > 0 && value > ranked->of[at - 1].value) at--;
  if (isnan(value) || at == TOLD) return;
  if (ranked->n < TOLD) ranked->n++;
  memmove(&ranked->of[at + 1], &ranked->of[at], (ranked->n - at - 1) * sizeof *ranked->of);
  ranked->of[at].row = row;
  ranked->of[at].value = value;
}

/* How bad a prediction is: its error, or what the true class has not of the probability.
 * GPNN_END: truth or prediction is missing. */
static enum gpnn_status judge(struct gpnn_predictions_target *target,
                              const struct gpnn_table *table, const struct gpnn_record *record,
                              double *badness, struct gpnn_error *err)
{
  struct gpnn_predictions_row row;
  struct gpnn_predictions_class_row of_class;
  enum gpnn_status status;
  if (target->classes == NULL) {
    status = gpnn_predictions_read(target, table, record, &row, err);
    if (status == GPNN_OK) *badness = fabs(row.truth - row.mean);
    return status;
  }
  status = gpnn_predictions_read_class(target, table, record, &of_class, err);
  if (status != GPNN_OK) return status;
  size_t n = gpnn_predictions_n_probabilities(target->classes);
  *badness = of_class.p != NULL && of_class.truth < n ? 1 - of_class.p[of_class.truth] : 1;
  return GPNN_OK;
}

static enum gpnn_status find_worst(struct ranked *worst, const struct web *web, const char *path,
                                   struct gpnn_error *err)
{
  const struct gpnn_predictions_wanted usual = {0};
  struct gpnn_predictions found = {0};
  struct gpnn_table *table = NULL;
  struct gpnn_record record;
  double badness;
  enum gpnn_status status = web_open_predictions(web, path, &table, err);
  if (status == GPNN_OK) status = gpnn_predictions_find(&found, table, &usual, err);
  for (size_t row = 0; status == GPNN_OK; row++) {
    status = gpnn_table_next(table, &record, err);
    if (status != GPNN_OK) break;
    status = judge(&found.targets[found.n_targets > 1 ? web->t : 0], table, &record, &badness, err);
    if (status == GPNN_OK) rank(worst, row, badness);
    if (status == GPNN_END) status = GPNN_OK;
  }
  gpnn_predictions_release(&found);
  gpnn_table_close(table);
  return status == GPNN_END ? GPNN_OK : status;
}

/* ---- choosing rows ------------------------------------------------------------------------ */

/* Of so many rows, one in how many is looked at. */
static size_t step_of(size_t n)
{
  return (n + SAMPLE - 1) / SAMPLE;
}

/* Copies those records of a table that are wanted, of its first 'n', and keeps their numbers. */
static enum gpnn_status copy_wanted(struct web_rows *rows, struct gpnn_table *table, size_t n,
                                    const bool *wanted, struct gpnn_output *output,
                                    struct gpnn_error *err)
{
  struct gpnn_field header = gpnn_table_header(table);
  struct gpnn_record record;
  enum gpnn_status status = GPNN_OK;
  rows->has_header = header.length > 0;
  if (rows->has_header) status = gpnn_output_write(output, header.text, header.length, err);
  if (status == GPNN_OK && rows->has_header) status = gpnn_output_text(output, "\n", err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    status = gpnn_table_next(table, &record, err);
    if (status == GPNN_EDATA) status = wanted[i] ? status : GPNN_OK;
    if (status != GPNN_OK || !wanted[i]) continue;
    rows->number[rows->n++] = i + 1;
    status = gpnn_output_write(output, record.raw, record.raw_length, err);
    if (status == GPNN_OK) status = gpnn_output_text(output, "\n", err);
  }
  return status == GPNN_END ? GPNN_OK : status;
}

/* Copies those of the first 'n' records of an open table that are wanted to the page's table of
 * rows. */
static enum gpnn_status copy_rows(struct web_rows *rows, const struct web *web,
                                  struct gpnn_table *table, size_t n, const bool *wanted,
                                  struct gpnn_error *err)
{
  struct gpnn_output *output = NULL;
  size_t n_wanted = 0;
  for (size_t i = 0; i < n; i++) n_wanted += wanted[i];
  rows->number = gpnn_alloc(n_wanted, 1, sizeof *rows->number);
  enum gpnn_status status = rows->number == NULL
                                ? gpnn_fail_memory(err, "for the rows of a page")
                                : cli_open_output(web->places->page.rows, &output, err);
  if (status == GPNN_OK) status = copy_wanted(rows, table, n, wanted, output, err);
  return cli_close_output(output, status, err);
}

/* Rows of the table to predict: evenly spaced ones, or those that were predicted worst. */
static enum gpnn_status take_test(struct web_rows *rows, const struct web *web, bool are_worst,
                                  struct gpnn_error *err)
{
  const struct places *places = web->places;
  const struct gpnn_dataset *dataset = gpnn_index_dataset(web->f->opened.index);
  size_t n = web->f->scored.n_rows;
  struct ranked worst = {0};
  struct gpnn_table *table = NULL;
  bool *wanted = calloc(n, sizeof *wanted);
  if (wanted == NULL) return gpnn_fail_memory(err, "for the rows of a page");
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < n && !are_worst; i += step_of(n)) wanted[i] = true;
  if (are_worst) status = find_worst(&worst, web, places->working.predictions, err);
  for (size_t k = 0; k < worst.n; k++) wanted[worst.of[k].row] = true;
  if (status == GPNN_OK)
    status = check_open(web->cli, dataset, places->test, &places->test_begins, &table, err);
  if (status == GPNN_OK) status = copy_rows(rows, web, table, n, wanted, err);
  gpnn_table_close(table);
  rows->has_cells = status == GPNN_OK;
  free(wanted);
  return status;
}

/* ---- rows of the training table ----------------------------------------------------------- */

/* The rows of the training table that training has kept, one after the other.  A zeroed object may
 * be closed. */
struct kept {
  struct gpnn_table *table;
  struct gpnn_reader reader;
  struct gpnn_record record; /* the last */
  double *x;
  size_t n_records, n; /* read so far, and kept of these */
};

static enum gpnn_status kept_open(struct kept *kept, const struct web *web, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = gpnn_index_dataset(web->f->opened.index);
  const struct beginning begins = {.no_header = !dataset->schema.has_header};
  kept->x = gpnn_alloc(dataset->d, 1, sizeof *kept->x);
  if (kept->x == NULL) return gpnn_fail_memory(err, "for the rows of a page");
  enum gpnn_status status =
      check_open(web->cli, dataset, web->places->train, &begins, &kept->table, err);
  if (status == GPNN_OK) status = gpnn_reader_open(&kept->reader, dataset, kept->table, false, err);
  if (status == GPNN_OK) gpnn_reader_take_missing(&kept->reader);
  return status;
}

static bool is_kept(struct kept *kept)
{
  const struct gpnn_reader *reader = &kept->reader;
  const struct gpnn_schema *schema = &reader->dataset->schema;
  double noise, y;
  size_t n_unseen = 0;
  bool any = false;
  if (gpnn_reader_read(reader, &kept->record, kept->x, NULL, &noise, &n_unseen, NULL) != GPNN_OK)
    return false;
  if (schema->has_id &&
      gpnn_columns_present(kept->table, &kept->record, schema->id.position, NULL) != GPNN_OK)
    return false;
  for (size_t t = 0; t <= schema->n_more; t++) {
    if (gpnn_reader_target(reader, &kept->record, t, &y, NULL) != GPNN_OK) return false;
    any = any || !isnan(y);
  }
  return any;
}

static enum gpnn_status kept_next(struct kept *kept, struct gpnn_error *err)
{
  enum gpnn_status status;
  do {
    status = gpnn_table_next(kept->table, &kept->record, err);
    kept->n_records += status == GPNN_OK || status == GPNN_EDATA;
  } while (status == GPNN_EDATA || (status == GPNN_OK && !is_kept(kept)));
  kept->n += status == GPNN_OK;
  return status;
}

static void kept_close(struct kept *kept)
{
  gpnn_reader_release(&kept->reader);
  gpnn_table_close(kept->table);
  free(kept->x);
}

/* Marks the records that the index holds out, of 'n'; true if it is certain which they are. */
static bool mark_held_out(struct kept *kept, const struct gpnn_dataset *dataset, size_t n,
                          const uint64_t *held_out, bool *wanted)
{
  size_t n_marked = 0, n_held_out = dataset->n_calibration;
  enum gpnn_status status;
  while ((status = kept_next(kept, NULL)) == GPNN_OK && kept->n_records <= n)
    if (n_marked < n_held_out && held_out[n_marked] + 1 == kept->n) {
      wanted[kept->n_records - 1] = true;
      n_marked++;
    }
  return status == GPNN_END && kept->n == dataset->n + n_held_out && n_marked == n_held_out;
}

/* The rows that the index holds out, if they can be found again. */
static enum gpnn_status take_held_out(struct web_rows *rows, const struct web *web,
                                      struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = gpnn_index_dataset(web->f->opened.index);
  size_t n = dataset->n + dataset->n_calibration + dataset->n_skipped;
  struct kept kept = {0}, again = {0};
  uint64_t *held_out = NULL;
  bool *wanted = calloc(n, sizeof *wanted);
  enum gpnn_status status = wanted == NULL ? gpnn_fail_memory(err, "for the rows of a page")
                                           : gpnn_training_held_out(dataset, &held_out, err);
  if (status == GPNN_OK) status = kept_open(&kept, web, err);
  bool found =
      status == GPNN_OK && held_out != NULL && mark_held_out(&kept, dataset, n, held_out, wanted);
  if (found) status = kept_open(&again, web, err);
  if (found && status == GPNN_OK) status = copy_rows(rows, web, again.table, n, wanted, err);
  rows->has_cells = found && status == GPNN_OK;
  snprintf(rows->of, sizeof rows->of, "the %zu rows held out of training", rows->n);
  kept_close(&kept);
  kept_close(&again);
  free(held_out);
  free(wanted);
  return status;
}

/* ---- predicting them ---------------------------------------------------------------------- */

/* Writes the cells of a training row and then those of its prediction but for the first, which is
 * its number; 'prediction' NULL: names of columns. */
static enum gpnn_status write_joined(struct gpnn_output *output, const struct kept *kept,
                                     const struct gpnn_table *predictions,
                                     const struct gpnn_record *prediction, struct gpnn_error *err)
{
  size_t n = gpnn_table_columns(kept->table), n_all = n + gpnn_table_columns(predictions) - 1;
  enum gpnn_status status = GPNN_OK;
  for (size_t j = 0; j < n_all && status == GPNN_OK; j++) {
    const struct gpnn_table *table = j < n ? kept->table : predictions;
    size_t column = j < n ? j : j - n + 1;
    const char *name = gpnn_table_column(table, column);
    struct gpnn_field field = {name, strlen(name)};
    if (prediction != NULL)
      field = j < n ? kept->record.fields[column] : prediction->fields[column];
    if (j > 0) status = gpnn_output_text(output, "\t", err);
    if (status == GPNN_OK)
      status = gpnn_table_write_field(output, '\t', field.text, field.length, err);
  }
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

/* Joins one in 'step' of the predictions of training rows to the rows. */
static enum gpnn_status join(struct web_rows *rows, struct kept *kept, struct gpnn_table *table,
                             size_t step, struct gpnn_output *output, struct gpnn_error *err)
{
  struct gpnn_record record;
  uint64_t number;
  enum gpnn_status status = write_joined(output, kept, table, NULL, err);
  for (size_t i = 0; status == GPNN_OK; i++) {
    status = gpnn_table_next(table, &record, err);
    if (status != GPNN_OK || i % step != 0) continue;
    if (!gpnn_number_read_u64(record.fields[0].text, record.fields[0].length, &number))
      return gpnn_fail(err, GPNN_EDATA, "a prediction has no number");
    while (status == GPNN_OK && kept->n < number) status = kept_next(kept, err);
    if (status != GPNN_OK) break;
    rows->number[rows->n++] = number;
    status = write_joined(output, kept, table, &record, err);
  }
  return status == GPNN_END ? GPNN_OK : status;
}

/* Makes 'points' of predictions of training rows, with the cells of the rows. */
static enum gpnn_status join_training(struct web_rows *rows, const struct web *web,
                                      struct gpnn_error *err)
{
  size_t n = web->f->opened.channels[web->t].dataset->n;
  struct kept kept = {0};
  struct gpnn_table *table = NULL;
  struct gpnn_output *output = NULL;
  rows->number = gpnn_alloc(n, 1, sizeof *rows->number);
  enum gpnn_status status = rows->number == NULL ? gpnn_fail_memory(err, "for the rows of a page")
                                                 : kept_open(&kept, web, err);
  if (status == GPNN_OK) status = web_open_predictions(web, rows->scored, &table, err);
  if (status == GPNN_OK) status = cli_open_output(web->places->page.rows, &output, err);
  if (status == GPNN_OK) status = join(rows, &kept, table, step_of(n), output, err);
  status = cli_close_output(output, status, err);
  gpnn_table_close(table);
  kept_close(&kept);
  rows->has_cells = status == GPNN_OK;
  return status;
}

/* The training rows, each predicted from the others; if they are many, 'points' are fewer. */
static enum gpnn_status leave_out(struct web_rows *rows, struct web *web, struct gpnn_error *err)
{
  const struct gpnn_dataset *view = web->f->opened.channels[web->t].dataset;
  struct gpnn_child child = {0};
  struct command command = web_command("gpnn-predict", "--loo");
  COMMAND_ADD(&command, "-o", web->places->page.predicted);
  web_add_model(web, &command);
  bool ran = web_run(web, &command, &child);
  gpnn_child_release(&child);
  rows->are_training = true;
  if (!ran) return GPNN_OK;
  rows->scored = rows->points = web->places->page.predicted;
  snprintf(rows->of, sizeof rows->of, "the %zu training rows, each predicted from the others",
           view->n);
  if (!check_can_reread(web->places->train)) return GPNN_OK;
  enum gpnn_status status = join_training(rows, web, err);
  if (status == GPNN_OK) rows->points = web->places->page.rows;
  rows->are_some = status == GPNN_OK && step_of(view->n) > 1;
  return status;
}

static void predict(struct web_rows *rows, struct web *web)
{
  const struct places *places = web->places;
  struct gpnn_child child = {0};
  struct command command = web_command("gpnn-predict", "--append");
  COMMAND_ADD(&command, "--skip-bad", "--fail-on-na", "1");
  if (!rows->has_header) COMMAND_ADD(&command, "--no-header", "--names");
  COMMAND_ADD(&command, "-o", places->page.predicted);
  web_add_model(web, &command);
  command_add(&command, places->page.rows);
  if (web_run(web, &command, &child)) rows->scored = rows->points = places->page.predicted;
  gpnn_child_release(&child);
  /* All rows are scored where their table has one target. */
  if (rows->points == NULL || !rows->of_test || web->f->opened.n > 1) return;
  rows->scored = places->working.predictions;
  rows->are_some = step_of(web->f->scored.n_rows) > 1;
}

/* Says which rows of the table to predict are looked at. */
static void name_test(struct web_rows *rows, const struct web *web)
{
  size_t n = web->f->scored.n_rows, step = step_of(n);
  char shown[GPNN_MASK_BYTES];
  gpnn_mask(shown, web->places->test, strlen(web->places->test));
  if (step > 1)
    snprintf(rows->of, sizeof rows->of, "one in %zu of the %zu rows of %s", step, n, shown);
  else
    snprintf(rows->of, sizeof rows->of, "the %zu rows of %s", n, shown);
}

enum gpnn_status web_rows_find(struct web_rows *rows, struct web *web, struct gpnn_error *err)
{
  const struct places *places = web->places;
  const struct outlook *outlook = &web->f->outlooks[web->t];
  enum gpnn_status status = GPNN_OK;
  *rows = (struct web_rows){0};
  rows->of_test = places->test != NULL && web->f->scored.targets[web->t].n_scored > 0 &&
                  check_can_reread(places->test);
  if (rows->of_test)
    status = take_test(rows, web, false, err);
  else if (outlook->is_known && outlook->expected.on == GPNN_EXPECTED_HELD_OUT &&
           check_can_reread(places->train))
    status = take_held_out(rows, web, err);
  if (status == GPNN_OK && !rows->has_cells) return leave_out(rows, web, err);
  if (rows->of_test) name_test(rows, web);
  fprintf(web->commands, "# rows.tsv: %s\n", rows->of);
  if (status == GPNN_OK) predict(rows, web);
  return status;
}

void web_rows_release(struct web_rows *rows)
{
  free(rows->number);
  *rows = (struct web_rows){0};
}

/* ---- what rows are predicted from --------------------------------------------------------- */

/* What gpnn-explain tells of a row. */
struct explained {
  double nearest; /* NaN: it tells nothing */
  size_t n;
  struct source {
    double distance, weight;
    char name[GPNN_MASK_BYTES], target[GPNN_MASK_BYTES];
  } of[SOURCES]; /* those with most weight first */
};

static void add_source(struct explained *row, const struct source *source)
{
  size_t at = row->n;
  row->nearest = fmin(row->nearest, source->distance);
  while (at > 0 && fabs(source->weight) > fabs(row->of[at - 1].weight)) at--;
  if (at == SOURCES) return;
  if (row->n < SOURCES) row->n++;
  memmove(&row->of[at + 1], &row->of[at], (row->n - at - 1) * sizeof *row->of);
  row->of[at] = *source;
}

enum { ROW, SOURCE, TRAINING, DISTANCE, WEIGHT, TARGET, ID, EXPLAINED };

static double number_in(const struct gpnn_field *field)
{
  double value;
  bool is_number = gpnn_number_read(field->text, field->length, &value) == GPNN_NUMBER_OK;
  return is_number ? value : NAN;
}

/* The column of this name, the last if there are several; SIZE_MAX: there is none. */
static size_t column_of(const struct gpnn_table *table, const char *name)
{
  size_t j = gpnn_table_columns(table);
  while (j > 0 && strcmp(gpnn_table_column(table, j - 1), name) != 0) j--;
  return j == 0 ? SIZE_MAX : j - 1;
}

/* What gpnn-explain calls a row. */
static double number_of(const struct web_rows *rows, size_t i)
{
  return rows->are_training ? (double)rows->number[i] : (double)(i + 1);
}

/* Names a training row: by its id, if it has one, or its number. */
static void name_source(struct source *source, const struct gpnn_record *record,
                        const size_t column[EXPLAINED])
{
  const struct gpnn_field *id = &record->fields[column[ID] == SIZE_MAX ? 0 : column[ID]];
  if (column[ID] != SIZE_MAX)
    gpnn_mask(source->name, id->text, id->length);
  else
    snprintf(source->name, sizeof source->name, "row %.0f",
             number_in(&record->fields[column[TRAINING]]));
}

/* Reads what gpnn-explain has written of the rows, in their order. */
static enum gpnn_status read_explained(const char *path, const struct web_rows *rows,
                                       struct explained *explained, struct gpnn_error *err)
{
  static const char *const names[EXPLAINED] = {"row",    "source", "training", "distance",
                                               "weight", "target", "id"};
  const struct gpnn_table_options options = {.delimiter = '\t', .has_header = true};
  struct gpnn_table *table = NULL;
  struct gpnn_record record;
  size_t column[EXPLAINED], i = 0;
  enum gpnn_status status = gpnn_table_open(&table, path, &options, err);
  for (size_t k = 0; k < EXPLAINED && status == GPNN_OK; k++)
    column[k] = column_of(table, names[k]);
  while (status == GPNN_OK && (status = gpnn_table_next(table, &record, err)) == GPNN_OK) {
    const struct gpnn_field *source = &record.fields[column[SOURCE]];
    const struct gpnn_field *target = &record.fields[column[TARGET]];
    double row = number_in(&record.fields[column[ROW]]);
    while (i < rows->n && number_of(rows, i) < row) i++;
    if (i == rows->n || number_of(rows, i) > row || source->length != 3 ||
        memcmp(source->text, "row", 3) != 0)
      continue;
    struct source read = {.distance = number_in(&record.fields[column[DISTANCE]]),
                          .weight = number_in(&record.fields[column[WEIGHT]])};
    name_source(&read, &record, column);
    gpnn_mask(read.target, target->text, target->length);
    add_source(&explained[i], &read);
  }
  gpnn_table_close(table);
  return status == GPNN_END ? GPNN_OK : status;
}

/* Finds what all rows are predicted from: '*explained', for the caller to free; NULL: that cannot
 * be told. */
static enum gpnn_status explain(struct explained **explained, const struct web_rows *rows,
                                struct web *web, struct gpnn_error *err)
{
  enum { MOST_TRAINING = 5000 };
  const struct places *places = web->places;
  struct gpnn_child child = {0};
  if (!rows->has_cells) return GPNN_OK;
  if (rows->are_training && web->f->opened.channels[web->t].dataset->n > MOST_TRAINING) {
    html_say(web->to,
             "What a row is predicted from is told of at most %d training rows; name a "
             "table to predict that has the target.",
             MOST_TRAINING);
    return GPNN_OK;
  }
  struct command command = web_command("gpnn-explain", "rows");
  COMMAND_ADD(&command, "--top", "5", "-o", places->page.table);
  if (rows->are_training) command_add(&command, "--loo");
  if (!rows->are_training) command_add(&command, "--skip-bad=all");
  if (!rows->are_training && !rows->has_header) command_add(&command, "--no-header");
  web_add_model(web, &command);
  if (!rows->are_training) command_add(&command, places->page.rows);
  bool ran = web_run(web, &command, &child);
  gpnn_child_release(&child);
  if (!ran) return GPNN_OK;
  *explained = gpnn_alloc(rows->n, 1, sizeof **explained);
  if (*explained == NULL) return gpnn_fail_memory(err, "for the rows of a page");
  for (size_t i = 0; i < rows->n; i++) (*explained)[i] = (struct explained){.nearest = NAN};
  return read_explained(places->page.table, rows, *explained, err);
}

/* ---- lists -------------------------------------------------------------------------------- */

enum { OBSERVED, PREDICTED, SD, OWN_ROW, OWN_ID, LEADING, SHOWN = LEADING + WEB_LEADING };

/* Rows that are listed, with their cells and what they are predicted from.  A zeroed object may be
 * released. */
struct list {
  struct ranked ranked;
  char text[TOLD][SHOWN][GPNN_MASK_BYTES];
  struct explained of[TOLD];
  bool is_explained;
};

/* Collects the cells of the rows that are listed. */
static enum gpnn_status read_cells(struct list *list, const struct web_rows *rows,
                                   const struct web *web, struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &gpnn_index_dataset(web->f->opened.index)->schema;
  const char *names[SHOWN] = {web->target, web->of_classes ? "label" : "mean", "sd", "row",
                              schema->has_id ? schema->id.name : "row"};
  size_t n = LEADING + (rows->has_cells ? web->n_leading : 0), column[SHOWN];
  struct gpnn_table *table = NULL;
  struct gpnn_record record;
  for (size_t k = LEADING; k < n; k++) names[k] = web->leading[k - LEADING];
  enum gpnn_status status = web_open_predictions(web, rows->points, &table, err);
  for (size_t k = 0; k < n && status == GPNN_OK; k++) column[k] = column_of(table, names[k]);
  for (size_t row = 0; status == GPNN_OK; row++) {
    status = gpnn_table_next(table, &record, err);
    for (size_t i = 0; i < list->ranked.n && status == GPNN_OK; i++)
      for (size_t k = 0; k < n && list->ranked.of[i].row == row; k++)
        if (column[k] != SIZE_MAX)
          gpnn_mask(list->text[i][k], record.fields[column[k]].text,
                    record.fields[column[k]].length);
  }
  gpnn_table_close(table);
  for (size_t i = 0; i < list->ranked.n && rows->has_cells; i++)
    snprintf(list->text[i][OWN_ROW], GPNN_MASK_BYTES, "%" PRIu64,
             rows->number[list->ranked.of[i].row]);
  return status == GPNN_END ? GPNN_OK : status;
}

/* Keeps what gpnn-explain tells of the rows that are listed. */
static void keep_explained(struct list *list, const struct explained *explained)
{
  list->is_explained = explained != NULL;
  for (size_t i = 0; i < list->ranked.n && list->is_explained; i++)
    list->of[i] = explained[list->ranked.of[i].row];
}

static void put_text(FILE *to, const char *text)
{
  const struct gpnn_field field = {text, strlen(text)};
  double value = number_in(&field);
  if (isnan(value))
    html_cell(to, text, field.length);
  else
    html_number(to, value);
}

/* Writes a text that may be a number, which is then short. */
static void put_short(FILE *to, const char *text)
{
  const struct gpnn_field field = {text, strlen(text)};
  double value = number_in(&field);
  char number[WORDS_NUMBER_BYTES];
  html_text(to, isnan(value) ? text : words_number(number, value));
}

static void put_sources(FILE *to, const struct explained *explained)
{
  fputs("<td class=\"from\">", to);
  for (size_t k = 0; k < explained->n; k++) {
    const struct source *s = &explained->of[k];
    html_text(to, k > 0 ? "; " : "");
    html_text(to, s->name);
    html_text(to, ": ");
    put_short(to, s->target);
    fprintf(to, " (%.2f, %.2g)", s->weight, s->distance);
  }
}

static bool has_ids(const struct web *web)
{
  return gpnn_index_dataset(web->f->opened.index)->schema.has_id;
}

static void put_row(const struct list *list, const struct web *web, size_t i, bool are_worst)
{
  const char(*text)[GPNN_MASK_BYTES] = list->text[i];
  FILE *to = web->to;
  html_row(to);
  put_text(to, text[OWN_ROW]);
  if (has_ids(web)) html_cell(to, text[OWN_ID], strlen(text[OWN_ID]));
  put_text(to, text[OBSERVED]);
  put_text(to, text[PREDICTED]);
  if (!web->of_classes) put_text(to, text[SD]);
  if (are_worst) html_number(to, list->ranked.of[i].value);
  if (list->is_explained) html_number(to, list->of[i].nearest);
  for (size_t k = 0; k < web->n_leading && list->is_explained; k++)
    html_cell(to, text[LEADING + k], strlen(text[LEADING + k]));
  if (list->is_explained) put_sources(to, &list->of[i]);
}

static void put_list(const struct list *list, const struct web *web, bool are_worst,
                     const char *caption)
{
  FILE *to = web->to;
  const struct gpnn_schema *schema = &gpnn_index_dataset(web->f->opened.index)->schema;
  html_table(to, caption, "row");
  if (has_ids(web)) html_head(to, schema->id.name);
  html_head(to, "observed");
  html_head(to, "predicted");
  if (!web->of_classes) html_head(to, "sd");
  if (are_worst) html_head(to, web->of_classes ? "probability of other classes" : "error");
  if (list->is_explained) html_head(to, "distance");
  for (size_t k = 0; k < web->n_leading && list->is_explained; k++) html_head(to, web->leading[k]);
  if (list->is_explained)
    html_head(to, "predicted from, most weight first: target (weight, distance)");
  for (size_t i = 0; i < list->ranked.n; i++) put_row(list, web, i, are_worst);
  html_table_end(to);
}

static enum gpnn_status find_farthest(struct list *list, const struct web_rows *rows,
                                      const struct web *web, const struct explained *explained,
                                      struct gpnn_error *err)
{
  for (size_t i = 0; i < rows->n && explained != NULL; i++)
    rank(&list->ranked, i, explained[i].nearest);
  keep_explained(list, explained);
  return list->ranked.n > 0 ? read_cells(list, rows, web, err) : GPNN_OK;
}

/* The worst of all rows of a table to predict, which are predicted and explained once more, or
 * those of the rows that have been looked at. */
static enum gpnn_status find_worst_list(struct list *list, const struct web_rows *rows,
                                        struct web *web, struct explained *explained,
                                        struct gpnn_error *err)
{
  struct web_rows again = {.of_test = true};
  struct explained *own = NULL;
  enum gpnn_status status = GPNN_OK;
  if (rows->of_test && rows->n < web->f->scored.n_rows) {
    status = take_test(&again, web, true, err);
    fputs("# rows.tsv: the rows that were predicted worst\n", web->commands);
    if (status == GPNN_OK) predict(&again, web);
    if (status == GPNN_OK && again.points != NULL) status = explain(&own, &again, web, err);
    explained = own;
    rows = &again;
  }
  if (status == GPNN_OK && rows->points != NULL)
    status = find_worst(&list->ranked, web, rows->points, err);
  if (status == GPNN_OK && list->ranked.n > 0) status = read_cells(list, rows, web, err);
  keep_explained(list, explained);
  free(own);
  web_rows_release(&again);
  return status;
}

/* The farthest rows of a table to predict whose truths are not known. */
static enum gpnn_status tell_of_test(struct web *web, struct gpnn_error *err)
{
  struct web_rows rows = {0};
  struct explained *explained = NULL;
  struct list *list = calloc(1, sizeof *list);
  enum gpnn_status status = list == NULL ? gpnn_fail_memory(err, "for the rows of a page")
                                         : take_test(&rows, web, false, err);
  name_test(&rows, web);
  fprintf(web->commands, "# rows.tsv: %s\n", rows.of);
  if (status == GPNN_OK) predict(&rows, web);
  if (status == GPNN_OK && rows.points != NULL) status = explain(&explained, &rows, web, err);
  if (status == GPNN_OK) status = find_farthest(list, &rows, web, explained, err);
  if (status == GPNN_OK && list->ranked.n > 0)
    put_list(list, web, false, "Farthest from all training rows, of the table to predict");
  free(explained);
  free(list);
  web_rows_release(&rows);
  return status;
}

enum gpnn_status web_rows_tell(const struct web_rows *rows, struct web *web, struct gpnn_error *err)
{
  struct explained *explained = NULL;
  struct list *worst = calloc(2, sizeof *worst), *farthest = worst + 1;
  enum gpnn_status status =
      worst == NULL ? gpnn_fail_memory(err, "for the rows of a page") : GPNN_OK;
  if (rows->points == NULL) goto out;
  if (status == GPNN_OK) status = explain(&explained, rows, web, err);
  if (status == GPNN_OK) status = find_farthest(farthest, rows, web, explained, err);
  if (status == GPNN_OK) status = find_worst_list(worst, rows, web, explained, err);
  if (status != GPNN_OK) goto out;
  put_list(worst, web, true, "Predicted worst");
  if (farthest->ranked.n > 0) put_list(farthest, web, false, "Farthest from all training rows");
  if (web->places->test != NULL && !rows->of_test && check_can_reread(web->places->test))
    status = tell_of_test(web, err);
out:
  free(explained);
  free(worst);
  return status;
}
