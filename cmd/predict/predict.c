#include "cmd/predict/predict.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pipeline.h"
#include "cmd/common/carry.h"
#include "cmd/common/cli.h"
#include "cmd/common/open.h"
#include "cmd/common/progress.h"
#include "cmd/common/report.h"
#include "cmd/predict/columns.h"
#include "dataset/reader.h"
#include "table/columns.h"
#include "table/skipped.h"

/* A batch of rows.  Only good rows, which could be read, are predicted. */
struct batch {
  size_t capacity, n_rows, n_good;
  size_t first_line, last_line;   /* of the table */
  bool *is_good;                  /* owned; 'capacity', as for all the following arrays */
  double *x, *regressors, *noise; /* owned; by d, by n_regressors, by 1: the good rows */
  double *offset;                 /* owned; by n_offsets: the good rows */
  struct carried carried;
  double *truth;     /* owned; targets by capacity: of all rows; NaN: missing */
  double *mean, *sd; /* owned; targets by n_good */
};

/* The state of a run.  While batches are processed, the table, the reader and the skipped rows
 * belong to the stage that reads, the predictor and the counts to the one that predicts, and the
 * sink to the one that writes. */
struct run {
  const struct cli *cli;
  const struct predict_arguments *a;
  struct opened opened;
  struct gpnn_model *model;
  struct gpnn_predictor *predictor;
  struct columns *columns;    /* owned; one for each target, like the counts */
  struct gpnn_counts *counts; /* owned */
  struct gpnn_table *table;
  struct gpnn_reader reader;
  struct sink sink;
  struct carry carry;
  struct batch batches[GPNN_PIPELINE_SLOTS];
  size_t n_done, n_unseen;
  struct gpnn_skipped skipped, unread; /* rows without prediction; truths that are not numbers */
};

/* ---- options ------------------------------------------------------------------------------ */

/* Determines the number of rows per batch. */
static bool resolve_batch(const struct cli *cli, struct predict_arguments *a)
{
  if (a->unbuffered && a->batch > 0)
    return cli_refuse(cli, "--unbuffered takes rows one by one; give it or --batch");
  if (a->unbuffered && a->share > 1)
    return cli_refuse(
        cli, "--unbuffered answers each row before it reads the next, which rules out --share");
  if (a->unbuffered) a->batch = 1;
  if (a->batch == 0) a->batch = a->share > 1 ? 131072 : 8192;
  return true;
}

bool predict_resolve(const struct cli *cli, void *arguments)
{
  struct predict_arguments *a = arguments;
  const struct gpnn_predict_options *options = &a->plan.options;
  if (!open_default_params(cli, &a->params) || !resolve_batch(cli, a)) return false;
  if (a->append && a->keep != NULL)
    return cli_refuse(cli, "--append keeps all columns already; give it or --keep");
  if (options->mean_only && a->plan.intervals.n > 0)
    return cli_refuse(cli, "--mean-only computes no sd, which --interval needs");
  if (cli_given(cli, "beyond") && options->max_distance == 0)
    return cli_refuse(cli, "--beyond needs --max-distance");
  if (strcmp(a->params, "-") == 0 && strcmp(cli_operand(cli, 1), "-") == 0)
    return cli_refuse(cli, "parameters and table cannot both be standard input");
  return cli_check_overwrite(cli, cli->output, cli_operand(cli, 0)) &&
         cli_check_overwrite(cli, cli->output, a->params);
}

/* ---- columns ------------------------------------------------------------------------------ */

/* The table's column for target 't'; SIZE_MAX: none. */
static size_t target_column(const struct run *r, size_t t)
{
  return gpnn_reader_target_column(&r->reader, r->opened.channels[t].dataset->target);
}

static bool is_target(const struct run *r, size_t column)
{
  for (size_t t = 0; t < r->opened.n; t++)
    if (column == target_column(r, t)) return true;
  return false;
}

/* Drops the targets from the carried columns, because they are written anyway. */
static void drop_targets(struct run *r)
{
  size_t kept = 0;
  for (size_t i = 0; i < r->carry.n_columns; i++)
    if (!is_target(r, r->carry.columns[i])) r->carry.columns[kept++] = r->carry.columns[i];
  r->carry.n_columns = kept;
}

static enum gpnn_status choose_carried(struct run *r, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (r->a->keep != NULL)
    status =
        gpnn_columns_find_list(r->table, r->a->keep, &r->carry.columns, &r->carry.n_columns, err);
  if (r->a->append) {
    r->carry.n_columns = gpnn_table_columns(r->table);
    r->carry.columns = calloc(r->carry.n_columns, sizeof *r->carry.columns);
    if (r->carry.columns == NULL) return gpnn_fail_memory(err, "for the columns carried along");
    for (size_t i = 0; i < r->carry.n_columns; i++) r->carry.columns[i] = i;
  }
  if (status == GPNN_OK) drop_targets(r);
  return status;
}

/* Writes the name of a column that is kept, and warns if it is that of a prediction too. */
static enum gpnn_status write_kept_name(struct run *r, const char *name, struct gpnn_error *err)
{
  if (r->opened.n == 1 && (strcmp(name, "mean") == 0 || strcmp(name, "sd") == 0))
    cli_warn(r->cli, "%s: column '%s' is kept and has the same name as a column of predictions",
             gpnn_table_name(r->table), name);
  return sink_text(&r->sink, name, err);
}

static enum gpnn_status write_header(struct run *r, struct gpnn_error *err)
{
  if (!gpnn_table_has_header(r->table)) return GPNN_OK;
  enum gpnn_status status = GPNN_OK;
  r->sink.at_start = true;
  for (size_t i = 0; i < r->carry.n_columns && status == GPNN_OK; i++)
    status = write_kept_name(r, gpnn_table_column(r->table, r->carry.columns[i]), err);
  for (size_t t = 0; t < r->opened.n && status == GPNN_OK; t++)
    status = columns_write_names(&r->columns[t], &r->sink, err);
  if (status == GPNN_OK) status = gpnn_output_text(r->sink.output, "\n", err);
  /* A program that waits for every answer may wait for the header before it sends any row. */
  return status == GPNN_OK && r->a->unbuffered ? gpnn_output_flush(r->sink.output, err) : status;
}

/* ---- a batch: reading ---------------------------------------------------------------------- */

/* The memory that a batch may take; with --share, batches are larger. */
static size_t bytes_of_batch(const struct run *r)
{
  size_t usual = (size_t)16 << 20;
  return r->a->share > 1 ? 16 * usual : usual;
}

/* The most rows of a batch: as --batch says, unless rows are very wide; at least one. */
static size_t rows_of_batch(const struct run *r)
{
  const struct gpnn_dataset *dataset = r->opened.dataset;
  const size_t numbers = 4; /* per target: truth, mean, sd, and the distance to a neighbour */
  size_t row = dataset->d + dataset->n_regressors + numbers * r->opened.n + r->carry.n_columns;
  size_t most = bytes_of_batch(r) / sizeof(double) / row;
  if (most == 0) return 1;
  return most < r->a->batch ? most : r->a->batch;
}

/* Empties a batch, and allocates it when it is first needed: a short table needs only one. */
static enum gpnn_status batch_begin(const struct run *r, struct batch *batch,
                                    struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = r->opened.dataset;
  size_t n = rows_of_batch(r), n_targets = r->opened.n;
  batch->n_rows = batch->n_good = 0;
  carried_clear(&batch->carried);
  if (batch->capacity > 0) return GPNN_OK;
  batch->is_good = gpnn_alloc(n, 1, sizeof *batch->is_good);
  batch->x = gpnn_alloc(n, dataset->d, sizeof *batch->x);
  batch->regressors = gpnn_alloc(n, dataset->n_regressors, sizeof *batch->regressors);
  batch->noise = gpnn_alloc(n, 1, sizeof *batch->noise);
  batch->offset = gpnn_alloc(n, dataset->schema.n_offsets, sizeof *batch->offset);
  batch->truth = gpnn_alloc(n_targets, n, sizeof *batch->truth);
  batch->mean = gpnn_alloc(n_targets, n, sizeof *batch->mean);
  batch->sd = gpnn_alloc(n_targets, n, sizeof *batch->sd);
  if (batch->is_good == NULL || batch->x == NULL || batch->regressors == NULL ||
      batch->noise == NULL || batch->offset == NULL || batch->truth == NULL ||
      batch->mean == NULL || batch->sd == NULL)
    return gpnn_fail_memory(err, "for a batch of rows");
  batch->capacity = n;
  return GPNN_OK;
}

static void batch_release(struct batch *batch)
{
  free(batch->is_good);
  free(batch->x);
  free(batch->regressors);
  free(batch->noise);
  free(batch->offset);
  free(batch->truth);
  free(batch->mean);
  free(batch->sd);
  carried_release(&batch->carried);
}

/* Reads the targets of a row.  Predictions do not need them, so one that cannot be read counts as
 * missing. */
static void read_targets(struct run *r, struct batch *batch, const struct gpnn_record *record)
{
  struct gpnn_error why;
  for (size_t t = 0; t < r->opened.n; t++) {
    double *y = &batch->truth[t * batch->capacity + batch->n_rows];
    *y = nan("");
    if (record->n_fields > 0 &&
        gpnn_reader_target(&r->reader, record, r->opened.channels[t].dataset->target, y, &why) !=
            GPNN_OK)
      gpnn_skipped_add(&r->unread, record, &why);
  }
}

/* Reads one row into the batch.  GPNN_EDATA: the row is bad; its fields are carried if possible. */
static enum gpnn_status read_row(struct run *r, struct batch *batch, struct gpnn_record *record,
                                 struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = r->opened.dataset;
  enum gpnn_status status = gpnn_table_next(r->table, record, err);
  if (status != GPNN_OK && status != GPNN_EDATA) return status;
  if (status == GPNN_EDATA) record->n_fields = 0;
  if (batch->n_rows == 0) batch->first_line = record->line;
  batch->last_line = record->line;
  enum gpnn_status carried = carry_add(&r->carry, &batch->carried, record, r->cli->na, err);
  if (carried != GPNN_OK) return carried;
  read_targets(r, batch, record);
  if (status == GPNN_OK)
    status = gpnn_reader_read(&r->reader, record, batch->x + batch->n_good * dataset->d,
                              batch->regressors + batch->n_good * dataset->n_regressors,
                              &batch->noise[batch->n_good], &r->n_unseen, err);
  if (status == GPNN_OK)
    status = gpnn_reader_offsets(&r->reader, record,
                                 batch->offset + batch->n_good * dataset->schema.n_offsets, err);
  return status;
}

/* Fills a batch.  GPNN_END: the table is exhausted; the batch may still hold rows. */
static enum gpnn_status read_batch(void *run, size_t slot, struct gpnn_error *err)
{
  struct run *r = run;
  struct batch *batch = &r->batches[slot];
  struct gpnn_record record;
  struct gpnn_error why = {0};
  enum gpnn_status status = batch_begin(r, batch, err);
  if (status != GPNN_OK) return status;
  while (batch->n_rows < batch->capacity && batch->carried.text_length < bytes_of_batch(r)) {
    status = read_row(r, batch, &record, &why);
    if (status == GPNN_EDATA && r->a->skip_bad) {
      gpnn_skipped_add(&r->skipped, &record, &why);
    } else if (status != GPNN_OK) {
      if (err != NULL) *err = why;
      return status;
    }
    batch->is_good[batch->n_rows++] = status == GPNN_OK;
    batch->n_good += status == GPNN_OK;
  }
  return GPNN_OK;
}

/* ---- a batch: predicting and writing -------------------------------------------------------- */

static bool has_offsets(const struct run *r)
{
  return r->opened.dataset->schema.n_offsets > 0;
}

static enum gpnn_status predict_batch(void *run, size_t slot, struct gpnn_error *err)
{
  struct run *r = run;
  struct batch *batch = &r->batches[slot];
  const struct gpnn_predict_rows rows = {.n = batch->n_good,
                                         .x = batch->x,
                                         .regressors =
                                             r->reader.reads_regressors ? batch->regressors : NULL,
                                         .noise = r->reader.map.has_noise ? batch->noise : NULL,
                                         .offset = has_offsets(r) ? batch->offset : NULL};
  enum gpnn_status status =
      gpnn_predict(r->predictor, &rows, batch->mean, batch->sd, r->counts, err);
  if (status == GPNN_ENUMERIC && batch->first_line == batch->last_line)
    status = gpnn_prefix(err, status, "%s:%zu", gpnn_table_name(r->table), batch->first_line);
  else if (status == GPNN_ENUMERIC)
    status = gpnn_prefix(err, status, "%s:%zu-%zu", gpnn_table_name(r->table), batch->first_line,
                         batch->last_line);
  r->n_done += batch->n_rows;
  progress_update("rows predicted", r->n_done, 0);
  return status;
}

/* Writes row 'i', whose prediction is entry 'good' (SIZE_MAX: none). */
static enum gpnn_status write_row(struct run *r, const struct batch *batch, size_t i, size_t good,
                                  struct carry_cursor *at, struct gpnn_error *err)
{
  enum gpnn_status status =
      carry_write(&r->carry, &batch->carried, at, r->sink.output, r->sink.delimiter, err);
  r->sink.at_start = true; /* carried fields are followed by a delimiter already */
  for (size_t t = 0; t < r->opened.n && status == GPNN_OK; t++) {
    bool is_predicted = good != SIZE_MAX;
    size_t from = t * batch->n_good + (is_predicted ? good : 0);
    double mean = is_predicted ? batch->mean[from] : nan("");
    double sd = is_predicted ? batch->sd[from] : nan("");
    status = columns_write_row(&r->columns[t], &r->sink, batch->truth[t * batch->capacity + i],
                               mean, sd, err);
  }
  return status == GPNN_OK ? gpnn_output_text(r->sink.output, "\n", err) : status;
}

static enum gpnn_status write_batch(void *run, size_t slot, struct gpnn_error *err)
{
  struct run *r = run;
  const struct batch *batch = &r->batches[slot];
  struct carry_cursor at = {0};
  enum gpnn_status status = GPNN_OK;
  size_t good = 0;
  for (size_t i = 0; i < batch->n_rows && status == GPNN_OK; i++)
    status = write_row(r, batch, i, batch->is_good[i] ? good++ : SIZE_MAX, &at, err);
  return status == GPNN_OK ? gpnn_output_flush(r->sink.output, err) : status;
}

static void interrupt_reading(void *run)
{
  struct run *r = run;
  gpnn_input_interrupt(gpnn_table_input(r->table));
}

/* With one thread the stages run in turn.  So they do for small batches, because handing those from
 * thread to thread would take longer than reading them, while somebody waits for each answer. */
static enum gpnn_status predict_batches(struct run *r, struct gpnn_error *err)
{
  enum { SMALL_BATCH = 64 };
  const struct gpnn_pipeline pipeline = {
      {read_batch, predict_batch, write_batch}, interrupt_reading, r};
  bool overlap = r->cli->threads > 1 && r->a->batch >= SMALL_BATCH;
  enum gpnn_status status = GPNN_OK;
  if (overlap) status = gpnn_input_allow_interrupt(gpnn_table_input(r->table), err);
  return status == GPNN_OK ? gpnn_pipeline_run(&pipeline, overlap, err) : status;
}

/* ---- the tool ----------------------------------------------------------------------------- */

/* Makes the model, the predictor and the columns. */
static enum gpnn_status open_predictor(struct run *r, struct gpnn_error *err)
{
  const struct predict_arguments *a = r->a;
  const struct gpnn_model_options options = {.neighbours = a->neighbours,
                                             .precision = a->precision,
                                             .share = a->share,
                                             .threads = r->cli->threads};
  size_t n = r->opened.n;
  r->columns = calloc(n, sizeof *r->columns);
  r->counts = calloc(n, sizeof *r->counts);
  if (r->columns == NULL || r->counts == NULL) return gpnn_fail_memory(err, "for the targets");
  enum gpnn_status status = open_model(r->cli, &r->opened, 0, n, &options, &r->model, err);
  if (status == GPNN_OK)
    status = gpnn_predictor_new(&r->predictor, r->model, &a->plan.options, err);
  for (size_t t = 0; t < n && status == GPNN_OK; t++) {
    r->columns[t] = (struct columns){.plan = &a->plan,
                                     .channel = &r->opened.channels[t],
                                     .has_truth = target_column(r, t) != SIZE_MAX,
                                     .is_one_of_several = n > 1};
    columns_complete(&r->columns[t], r->predictor, t, r->cli);
  }
  return status;
}

static bool reads_regressors(const struct opened *opened)
{
  for (size_t t = 0; t < opened->n; t++)
    if (gpnn_parameters_use_regressors(&opened->parameters[t])) return true;
  return false;
}

static enum gpnn_status prepare(struct run *r, struct gpnn_error *err)
{
  const struct cli *cli = r->cli;
  enum gpnn_status status = open_check_order(cli_operand(cli, 0), cli_operand(cli, 1), err);
  if (status == GPNN_OK)
    status = open_files(cli, cli_operand(cli, 0), r->a->params, false, &r->opened, err);
  if (status == GPNN_OK) status = gpnn_table_open(&r->table, cli_operand(cli, 1), &cli->table, err);
  if (status == GPNN_OK)
    status = gpnn_reader_open(&r->reader, r->opened.dataset, r->table, cli->na,
                              reads_regressors(&r->opened), err);
  if (status == GPNN_OK) status = gpnn_reader_require_offsets(&r->reader, err);
  /* Without an sd, or with that of the function, noise is not needed. */
  if (r->a->plan.options.latent || r->a->plan.options.mean_only) r->reader.map.has_noise = false;
  if (status == GPNN_OK) status = choose_carried(r, err);
  if (status == GPNN_OK) status = open_predictor(r, err);
  if (status != GPNN_OK) return status;
  r->sink.delimiter = gpnn_table_delimiter(r->table);
  r->sink.na = cli->na;
  return cli_open_output(cli->output, &r->sink.output, err);
}

/* Reports anything unusual about the predictions of a target. */
static void report_target(const struct run *r, size_t t)
{
  const struct gpnn_parameters *parameters = &r->opened.parameters[t];
  char text[CLI_ABOUT_BYTES];
  struct cli about = *r->cli;
  if (r->opened.n > 1) about.about = cli_target(text, parameters->target);
  report_counts(&about, &r->counts[t]);
  report_distances(&about, &r->counts[t], &parameters->calibration);
}

static void report(const struct run *r)
{
  char why[GPNN_SKIPPED_BYTES];
  const char *name = gpnn_table_name(r->table);
  if (r->skipped.n > 0)
    cli_warn(r->cli, "%s: %zu of %zu rows have no prediction: %s", name, r->skipped.n, r->n_done,
             gpnn_skipped_describe(&r->skipped, r->table, why));
  if (r->unread.n > 0)
    cli_warn(r->cli, "%s: %zu truth%s cannot be read and count%s as missing: %s", name, r->unread.n,
             r->unread.n == 1 ? "" : "s", r->unread.n == 1 ? "s" : "",
             gpnn_skipped_describe(&r->unread, r->table, why));
  if (r->n_unseen > 0)
    cli_warn(r->cli, "%s: %zu values of categories were never seen in training", name, r->n_unseen);
  for (size_t t = 0; t < r->opened.n; t++) report_target(r, t);
  cli_note(r->cli, "%zu rows, %zu neighbours each", r->n_done, gpnn_model_neighbours(r->model, 0));
}

static void release(struct run *r)
{
  gpnn_predictor_free(r->predictor);
  gpnn_model_free(r->model);
  free(r->columns);
  free(r->counts);
  for (size_t i = 0; i < GPNN_PIPELINE_SLOTS; i++) batch_release(&r->batches[i]);
  carry_release(&r->carry);
  gpnn_reader_release(&r->reader);
  gpnn_table_close(r->table);
  open_release(&r->opened);
}

enum gpnn_status predict_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct run r = {.cli = cli, .a = arguments};
  enum gpnn_status status = prepare(&r, err);
  if (status == GPNN_OK) status = write_header(&r, err);
  if (status == GPNN_OK) status = predict_batches(&r, err);
  if (status == GPNN_OK) report(&r);
  status = cli_close_output(r.sink.output, status, err);
  release(&r);
  return status;
}
