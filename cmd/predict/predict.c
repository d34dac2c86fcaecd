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
#include "cmd/predict/predicted.h"
#include "dataset/reader.h"
#include "table/columns.h"
#include "table/skipped.h"

/* Rows read, of which those that are good are predicted. */
struct batch {
  size_t room, n_rows, n_good;
  size_t first_line, last_line;   /* of the table */
  bool *is_good;                  /* owned; 'room', as all that follow */
  double *x, *regressors, *noise; /* owned; by d, by n_regressors, by 1: the good rows */
  struct carried carried;
  struct predicted_batch *predicted; /* owned; n_targets */
};

/* All that a run holds.  Once the batches are under way, the table, the reader and the rows left
 * out belong to reading, the targets to the work, and the sink to writing. */
struct run {
  const struct cli *cli;
  const struct predict_arguments *a;
  struct gpnn_index *index;
  size_t n_targets;
  struct gpnn_parameters *params; /* owned; n_targets */
  struct predicted *predicted;    /* owned; n_targets */
  size_t *targets;                /* owned; n_targets: which of the index's each is */
  struct gpnn_table *table;
  struct gpnn_reader reader;
  struct sink sink;
  struct carry carry;
  struct batch batches[GPNN_PIPELINE_SLOTS];
  size_t n_done, n_unseen;
  struct gpnn_skipped skipped, unread; /* rows without prediction; truths that are no numbers */
};

/* ---- options ------------------------------------------------------------------------------ */

/* How many rows are taken at a time. */
static bool resolve_batch(const struct cli *cli, struct predict_arguments *a)
{
  if (a->unbuffered && a->batch > 0)
    return cli_refuse(cli, "--unbuffered takes rows one by one; give it or --batch");
  if (a->unbuffered && a->share > 1)
    return cli_refuse(cli, "--unbuffered answers a row before it sees the next; none can --share");
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
    return cli_refuse(cli, "--mean-only leaves nothing to make an --interval from");
  if (cli_given(cli, "beyond") && options->max_distance == 0)
    return cli_refuse(cli, "--beyond needs --max-distance");
  if (strcmp(a->params, "-") == 0 && strcmp(cli_operand(cli, 1), "-") == 0)
    return cli_refuse(cli, "parameters and table cannot both be standard input");
  return cli_check_overwrite(cli, cli->output, cli_operand(cli, 0)) &&
         cli_check_overwrite(cli, cli->output, a->params);
}

/* ---- columns ------------------------------------------------------------------------------ */

static bool is_target(const struct run *r, size_t column)
{
  for (size_t t = 0; t < r->n_targets; t++)
    if (column == gpnn_reader_target_column(&r->reader, r->targets[t])) return true;
  return false;
}

/* Drops the targets from the carried columns: they have places of their own. */
static void without_targets(struct run *r)
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
  if (status == GPNN_OK) without_targets(r);
  return status;
}

/* Writes the name of a column that is kept; if it is one of ours too, readers may ask which. */
static enum gpnn_status write_kept_name(struct run *r, const char *name, struct gpnn_error *err)
{
  if (r->n_targets == 1 && (strcmp(name, "mean") == 0 || strcmp(name, "sd") == 0))
    cli_warn(r->cli, "%s: column '%s' is kept, beside that of the prediction",
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
  for (size_t t = 0; t < r->n_targets && status == GPNN_OK; t++)
    status = predicted_write_names(&r->predicted[t], &r->sink, err);
  if (status == GPNN_OK) status = gpnn_output_text(r->sink.output, "\n", err);
  /* Whoever waits for every answer may wait for this one too, before there is any row. */
  return status == GPNN_OK && r->a->unbuffered ? gpnn_output_flush(r->sink.output, err) : status;
}

/* ---- a batch: reading ---------------------------------------------------------------------- */

/* What a batch may take: as long as rows are not very wide, what --batch says. */
static size_t bytes_of_batch(const struct run *r)
{
  size_t usual = (size_t)16 << 20;
  return r->a->share > 1 ? 16 * usual : usual;
}

/* How many rows a batch has, at most; one always. */
static size_t rows_of_batch(const struct run *r)
{
  const struct gpnn_dataset *dataset = gpnn_index_dataset(r->index);
  const size_t numbers = 4; /* of each target: in struct predicted_batch */
  size_t row = dataset->d + dataset->n_regressors + numbers * r->n_targets + r->carry.n_columns;
  size_t most = bytes_of_batch(r) / sizeof(double) / row;
  if (most == 0) return 1;
  return most < r->a->batch ? most : r->a->batch;
}

/* Makes room where there is none yet: a short table needs no second batch. */
static enum gpnn_status batch_begin(const struct run *r, struct batch *batch,
                                    struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = gpnn_index_dataset(r->index);
  size_t n = rows_of_batch(r);
  batch->n_rows = batch->n_good = 0;
  carried_clear(&batch->carried);
  if (batch->predicted != NULL) return GPNN_OK;
  batch->room = n;
  enum gpnn_status status = GPNN_OK;
  batch->is_good = gpnn_alloc(n, 1, sizeof *batch->is_good);
  batch->x = gpnn_alloc(n, dataset->d, sizeof *batch->x);
  batch->regressors = gpnn_alloc(n, dataset->n_regressors, sizeof *batch->regressors);
  batch->noise = gpnn_alloc(n, 1, sizeof *batch->noise);
  batch->predicted = gpnn_alloc(r->n_targets, 1, sizeof *batch->predicted);
  if (batch->is_good == NULL || batch->x == NULL || batch->regressors == NULL ||
      batch->noise == NULL || batch->predicted == NULL)
    return gpnn_fail_memory(err, "for a batch of rows");
  for (size_t t = 0; t < r->n_targets && status == GPNN_OK; t++)
    status = predicted_batch_new(&batch->predicted[t], n, err);
  return status;
}

static void batch_release(const struct run *r, struct batch *batch)
{
  for (size_t t = 0; t < r->n_targets && batch->predicted != NULL; t++)
    predicted_batch_release(&batch->predicted[t]);
  free(batch->predicted);
  free(batch->is_good);
  free(batch->x);
  free(batch->regressors);
  free(batch->noise);
  carried_release(&batch->carried);
}

/* Reads the targets of a row, any of which may be missing; no prediction needs them, and so what
 * cannot be read is missing too. */
static void read_targets(struct run *r, struct batch *batch, const struct gpnn_record *record)
{
  struct gpnn_error why;
  for (size_t t = 0; t < r->n_targets; t++) {
    double *y = &batch->predicted[t].target[batch->n_rows];
    *y = nan("");
    if (record->n_fields > 0 &&
        gpnn_reader_target(&r->reader, record, r->targets[t], y, &why) != GPNN_OK)
      gpnn_skipped_add(&r->unread, record, &why);
  }
}

/* Reads one row into the batch.  GPNN_EDATA: it is bad; what can be carried is. */
static enum gpnn_status read_row(struct run *r, struct batch *batch, struct gpnn_record *record,
                                 struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = gpnn_index_dataset(r->index);
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
  while (batch->n_rows < batch->room && batch->carried.text_length < bytes_of_batch(r)) {
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

static enum gpnn_status predict_batch(void *run, size_t slot, struct gpnn_error *err)
{
  struct run *r = run;
  struct batch *batch = &r->batches[slot];
  const double *regressors = r->reader.reads_regressors ? batch->regressors : NULL;
  const double *noise = r->reader.map.has_noise ? batch->noise : NULL;
  enum gpnn_status status = predicted_fill_all(r->predicted, batch->predicted, r->n_targets,
                                               batch->n_good, batch->x, regressors, noise, err);
  if (status == GPNN_ENUMERIC && batch->first_line == batch->last_line)
    status = gpnn_prefix(err, status, "%s:%zu", gpnn_table_name(r->table), batch->first_line);
  else if (status == GPNN_ENUMERIC)
    status = gpnn_prefix(err, status, "%s:%zu-%zu", gpnn_table_name(r->table), batch->first_line,
                         batch->last_line);
  r->n_done += batch->n_rows;
  progress_update("rows predicted", r->n_done, 0);
  return status;
}

/* Writes row 'i', whose prediction is entry 'good' (SIZE_MAX: it has none). */
static enum gpnn_status write_row(struct run *r, const struct batch *batch, size_t i, size_t good,
                                  struct carry_cursor *at, struct gpnn_error *err)
{
  enum gpnn_status status =
      carry_write(&r->carry, &batch->carried, at, r->sink.output, r->sink.delimiter, err);
  r->sink.at_start = true; /* carried fields bring the delimiter behind them */
  for (size_t t = 0; t < r->n_targets && status == GPNN_OK; t++)
    status = predicted_write_row(&r->predicted[t], &batch->predicted[t], &r->sink, i, good, err);
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

/* With one thread all is done in turn, and so are small batches: whoever asks for those waits for
 * each answer, and handing them from thread to thread would take longer than reading them. */
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

/* Prepares the prediction of every target that the parameters are of. */
static enum gpnn_status open_targets(struct run *r, struct gpnn_error *err)
{
  struct gpnn_localgp **gps = gpnn_alloc(r->n_targets, 1, sizeof(struct gpnn_localgp *));
  if (gps == NULL) return gpnn_fail_memory(err, "for the targets");
  enum gpnn_status status = open_localgps(r->cli, r->index, r->n_targets, r->params, r->a->params,
                                          r->a->neighbours, gps, err);
  for (size_t t = 0; t < r->n_targets && status == GPNN_OK; t++) {
    gpnn_localgp_set_precision(gps[t], r->a->precision);
    gpnn_localgp_set_share(gps[t], r->a->share);
    r->predicted[t] = (struct predicted){
        .plan = &r->a->plan,
        .dataset = gpnn_localgp_data(gps[t]),
        .params = &r->params[t],
        .gp = gps[t],
        .has_target = gpnn_reader_target_column(&r->reader, r->targets[t]) != SIZE_MAX,
        .is_one_of_several = r->n_targets > 1};
    predicted_begin(&r->predicted[t], r->cli);
  }
  free(gps);
  return status;
}

/* Finds which targets of the index the parameters are of, and whether any needs regressors. */
static enum gpnn_status find_targets(struct run *r, bool *reads_regressors, struct gpnn_error *err)
{
  r->predicted = calloc(r->n_targets, sizeof *r->predicted);
  r->targets = calloc(r->n_targets, sizeof *r->targets);
  if (r->predicted == NULL || r->targets == NULL) return gpnn_fail_memory(err, "for the targets");
  *reads_regressors = false;
  for (size_t t = 0; t < r->n_targets; t++) {
    const struct gpnn_parameters *params = &r->params[t];
    if (params->target != NULL)
      r->targets[t] =
          gpnn_dataset_find_target(gpnn_index_dataset(r->index), params->target)->target;
    if (params->mean.kind == GPNN_MEAN_REGRESSORS) *reads_regressors = true;
  }
  return GPNN_OK;
}

static enum gpnn_status prepare(struct run *r, struct gpnn_error *err)
{
  const struct cli *cli = r->cli;
  bool reads_regressors = false;
  enum gpnn_status status = open_check_order(cli_operand(cli, 0), cli_operand(cli, 1), err);
  if (status == GPNN_OK)
    status = open_all(cli, cli_operand(cli, 0), r->a->params, false, &r->index, &r->params,
                      &r->n_targets, err);
  if (status == GPNN_OK) status = find_targets(r, &reads_regressors, err);
  if (status == GPNN_OK) status = gpnn_table_open(&r->table, cli_operand(cli, 1), &cli->table, err);
  if (status == GPNN_OK)
    status = gpnn_reader_open(&r->reader, gpnn_index_dataset(r->index), r->table, cli->na,
                              reads_regressors, err);
  /* An sd of the function, and none at all, are without noise. */
  if (r->a->plan.options.latent || r->a->plan.options.mean_only) r->reader.map.has_noise = false;
  if (status == GPNN_OK) status = choose_carried(r, err);
  if (status == GPNN_OK) status = open_targets(r, err);
  if (status != GPNN_OK) return status;
  r->sink.delimiter = gpnn_table_delimiter(r->table);
  r->sink.na = cli->na;
  return cli_open_output(cli->output, &r->sink.output, err);
}

static void report(const struct run *r)
{
  char why[GPNN_SKIPPED_BYTES];
  const char *name = gpnn_table_name(r->table);
  if (r->skipped.n > 0)
    cli_warn(r->cli, "%s: %zu of %zu rows have no prediction: %s", name, r->skipped.n, r->n_done,
             gpnn_skipped_describe(&r->skipped, r->table, why));
  if (r->unread.n > 0)
    cli_warn(r->cli, "%s: %zu truth%s cannot be read, and so missing: %s", name, r->unread.n,
             r->unread.n == 1 ? "" : "s", gpnn_skipped_describe(&r->unread, r->table, why));
  if (r->n_unseen > 0)
    cli_warn(r->cli, "%s: %zu values of categories were never seen in training", name, r->n_unseen);
  for (size_t t = 0; t < r->n_targets; t++) predicted_report(&r->predicted[t], r->cli);
  cli_note(r->cli, "%zu rows, %zu neighbours each", r->n_done,
           gpnn_localgp_neighbours(r->predicted[0].gp));
}

static void release(struct run *r)
{
  for (size_t t = 0; t < r->n_targets && r->predicted != NULL; t++)
    predicted_release(&r->predicted[t]);
  free(r->predicted);
  free(r->targets);
  for (size_t i = 0; i < GPNN_PIPELINE_SLOTS; i++) batch_release(r, &r->batches[i]);
  carry_release(&r->carry);
  gpnn_reader_release(&r->reader);
  gpnn_table_close(r->table);
  gpnn_parameters_free(r->params, r->n_targets);
  gpnn_index_close(r->index);
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
