/* gpnn-predict: an index, parameters and a table in, the table's predictions out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/normal.h"
#include "base/number.h"
#include "carry.h"
#include "cli.h"
#include "data/columns.h"
#include "methods/predict.h"
#include "open.h"
#include "progress.h"

struct arguments {
  const char *params, *units, *keep;
  bool append, skip_bad;
  size_t neighbours, batch;
  struct gpnn_predict_options predict;
  struct cli_probabilities intervals;
  double half_widths[CLI_PROBABILITIES_MAX];
};

/* All that a run holds. */
struct run {
  const struct cli *cli;
  const struct arguments *a;
  struct gpnn_index *index;
  const struct gpnn_index_contents *contents;
  struct gpnn_params params;
  struct gpnn_localgp *gp;
  struct gpnn_table *table;
  struct gpnn_output *output;
  struct gpnn_columns_map map;
  struct carry carry;
  char delimiter;
  /* one batch: rows read, of which those that are good are predicted */
  size_t n_rows, n_good;
  bool *is_good;        /* batch */
  double *features, *z; /* batch by n_in, batch by d: the good rows */
  double *target;       /* batch; NaN: missing */
  double *mean, *sd;    /* batch */
  size_t n_done, n_skipped, n_unseen;
  struct gpnn_localgp_counts counts;
};

/* ---- options ------------------------------------------------------------------------------ */

static bool resolve(const struct cli *cli, struct arguments *a)
{
  if (strcmp(a->units, "standard") == 0)
    a->predict.units = GPNN_UNITS_STANDARD;
  else if (strcmp(a->units, "original") != 0) {
    cli_usage_error(cli, "option --units: original or standard");
    return false;
  }
  if (a->append && a->keep != NULL) {
    cli_usage_error(cli, "--append keeps all columns already; give it or --keep");
    return false;
  }
  if (a->predict.mean_only && a->intervals.n > 0) {
    cli_usage_error(cli, "--mean-only leaves nothing to make an --interval from");
    return false;
  }
  for (size_t i = 0; i < a->intervals.n; i++)
    a->half_widths[i] = gpnn_normal_half_width(a->intervals.p[i]);
  return true;
}

/* ---- columns ------------------------------------------------------------------------------ */

/* Drops the target from the carried columns: it has a place of its own. */
static void without_target(struct run *r)
{
  size_t kept = 0;
  for (size_t i = 0; i < r->carry.n_columns; i++)
    if (!r->map.has_target || r->carry.columns[i] != r->map.target)
      r->carry.columns[kept++] = r->carry.columns[i];
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
  if (status == GPNN_OK) without_target(r);
  return status;
}

static enum gpnn_status write_name(struct run *r, const char *name, bool first,
                                   struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (!first) status = gpnn_output_write(r->output, &r->delimiter, 1, err);
  if (status != GPNN_OK) return status;
  return gpnn_table_write_field(r->output, r->delimiter, name, strlen(name), err);
}

/* "lower" and "upper"; with several intervals "lower90" and so on. */
static enum gpnn_status write_interval_names(struct run *r, size_t i, struct gpnn_error *err)
{
  char lower[48] = "lower", upper[48] = "upper", percent[GPNN_NUMBER_BYTES];
  if (r->a->intervals.n > 1) {
    snprintf(percent, sizeof percent, "%.10g", 100 * r->a->intervals.p[i]);
    snprintf(lower, sizeof lower, "lower%s", percent);
    snprintf(upper, sizeof upper, "upper%s", percent);
  }
  enum gpnn_status status = write_name(r, lower, false, err);
  return status == GPNN_OK ? write_name(r, upper, false, err) : status;
}

static enum gpnn_status write_header(struct run *r, struct gpnn_error *err)
{
  if (!gpnn_table_has_header(r->table)) return GPNN_OK;
  enum gpnn_status status = GPNN_OK;
  bool first = true;
  for (size_t i = 0; i < r->carry.n_columns && status == GPNN_OK; i++, first = false)
    status = write_name(r, gpnn_table_column(r->table, r->carry.columns[i]), first, err);
  if (status == GPNN_OK && r->map.has_target) {
    status = write_name(r, r->contents->schema.target.name, first, err);
    first = false;
  }
  if (status == GPNN_OK) status = write_name(r, "mean", first, err);
  if (status == GPNN_OK && !r->a->predict.mean_only) status = write_name(r, "sd", false, err);
  for (size_t i = 0; i < r->a->intervals.n && status == GPNN_OK; i++)
    status = write_interval_names(r, i, err);
  return status == GPNN_OK ? gpnn_output_text(r->output, "\n", err) : status;
}

/* ---- batches ------------------------------------------------------------------------------ */

static enum gpnn_status batch_new(struct run *r, struct gpnn_error *err)
{
  size_t n = r->a->batch;
  const struct gpnn_standard *standard = &r->contents->standard;
  r->is_good = gpnn_alloc(n, 1, sizeof *r->is_good);
  r->features = gpnn_alloc(n, standard->n_in, sizeof *r->features);
  r->z = gpnn_alloc(n, standard->n_out, sizeof *r->z);
  r->target = gpnn_alloc(n, 1, sizeof *r->target);
  r->mean = gpnn_alloc(n, 1, sizeof *r->mean);
  r->sd = gpnn_alloc(n, 1, sizeof *r->sd);
  bool enough = r->is_good && r->features && r->z && r->target && r->mean && r->sd;
  return enough ? GPNN_OK : gpnn_fail_memory(err, "for a batch of rows");
}

/* Reads the target of a row, which may be missing. */
static enum gpnn_status read_target(struct run *r, const struct gpnn_record *record,
                                    struct gpnn_error *err)
{
  double *target = &r->target[r->n_rows];
  *target = strtod("nan", NULL);
  if (!r->map.has_target || record->n_fields == 0 ||
      gpnn_field_is_missing(&record->fields[r->map.target], r->cli->na))
    return GPNN_OK;
  return gpnn_columns_number(r->table, record, r->map.target, r->cli->na, target, err);
}

/* Reads one row into the batch.  GPNN_EDATA: it is bad; what can be carried is. */
static enum gpnn_status read_row(struct run *r, struct gpnn_error *err)
{
  struct gpnn_record record;
  double *features = r->features + r->n_good * r->contents->standard.n_in;
  enum gpnn_status status = gpnn_table_next(r->table, &record, err);
  if (status != GPNN_OK && status != GPNN_EDATA) return status;
  if (status == GPNN_EDATA) record.n_fields = 0;
  enum gpnn_status carried = carry_add(&r->carry, &record, r->cli->na, err);
  if (carried != GPNN_OK) return carried;
  enum gpnn_status target = read_target(r, &record, err);
  if (status == GPNN_OK) status = target;
  if (status == GPNN_OK)
    status = gpnn_schema_encode(&r->contents->schema, &r->map, r->table, &record, r->cli->na,
                                features, &r->n_unseen, err);
  return status;
}

/* Fills a batch.  GPNN_END: the table is exhausted; the batch may still hold rows. */
static enum gpnn_status read_batch(struct run *r, struct gpnn_error *err)
{
  r->n_rows = r->n_good = 0;
  carry_clear(&r->carry);
  while (r->n_rows < r->a->batch) {
    enum gpnn_status status = read_row(r, err);
    if (status == GPNN_EDATA && r->a->skip_bad)
      r->n_skipped++;
    else if (status != GPNN_OK)
      return status;
    r->is_good[r->n_rows++] = status == GPNN_OK;
    r->n_good += status == GPNN_OK;
  }
  return GPNN_OK;
}

static enum gpnn_status write_value(struct run *r, double value, bool known, char before,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (before != '\0') status = gpnn_output_write(r->output, &before, 1, err);
  if (status != GPNN_OK) return status;
  return known
             ? gpnn_output_number(r->output, value, err)
             : gpnn_table_write_field(r->output, r->delimiter, r->cli->na, strlen(r->cli->na), err);
}

/* Writes row 'i', whose prediction is entry 'good' if it has one. */
static enum gpnn_status write_row(struct run *r, size_t i, size_t good, struct carry_cursor *at,
                                  struct gpnn_error *err)
{
  const struct arguments *a = r->a;
  bool known = r->is_good[i], has_target = r->map.has_target;
  double mean = r->mean[good], sd = r->sd[good], y = r->target[i];
  enum gpnn_status status = carry_write(&r->carry, at, r->output, r->delimiter, err);
  if (status == GPNN_OK && has_target)
    status =
        write_value(r, gpnn_predict_target(r->contents, a->predict.units, y), y == y, '\0', err);
  if (status == GPNN_OK)
    status = write_value(r, mean, known, has_target ? r->delimiter : '\0', err);
  if (status == GPNN_OK && !a->predict.mean_only)
    status = write_value(r, sd, known, r->delimiter, err);
  for (size_t k = 0; k < a->intervals.n && status == GPNN_OK; k++) {
    double half = a->half_widths[k] * sd;
    status = write_value(r, mean - half, known, r->delimiter, err);
    if (status == GPNN_OK) status = write_value(r, mean + half, known, r->delimiter, err);
  }
  return status == GPNN_OK ? gpnn_output_text(r->output, "\n", err) : status;
}

static enum gpnn_status write_batch(struct run *r, struct gpnn_error *err)
{
  struct carry_cursor at = {0};
  enum gpnn_status status = GPNN_OK;
  size_t good = 0;
  for (size_t i = 0; i < r->n_rows && status == GPNN_OK; i++) {
    status = write_row(r, i, good < r->n_good ? good : 0, &at, err);
    good += r->is_good[i];
  }
  return status == GPNN_OK ? gpnn_output_flush(r->output, err) : status;
}

static enum gpnn_status predict_batches(struct run *r, struct gpnn_error *err)
{
  enum gpnn_status read = GPNN_OK;
  while (read == GPNN_OK) {
    read = read_batch(r, err);
    if (read != GPNN_OK && read != GPNN_END) return read;
    enum gpnn_status status = gpnn_predict_rows(r->gp, &r->a->predict, r->n_good, r->features, r->z,
                                                r->mean, r->sd, &r->counts, err);
    if (status == GPNN_OK) status = write_batch(r, err);
    if (status != GPNN_OK) return status;
    r->n_done += r->n_rows;
    progress_update("rows predicted", r->n_done, 0);
  }
  return GPNN_OK;
}

/* ---- the tool ----------------------------------------------------------------------------- */

static enum gpnn_status prepare(struct run *r, struct gpnn_error *err)
{
  const struct cli *cli = r->cli;
  enum gpnn_status status =
      open_pair(cli, cli_operand(cli, 0), r->a->params, false, &r->index, &r->params, err);
  if (status != GPNN_OK) return status;
  r->contents = gpnn_index_contents(r->index);
  status = gpnn_table_open(&r->table, cli_operand(cli, 1), &cli->table, err);
  if (status == GPNN_OK) status = gpnn_schema_match(&r->contents->schema, r->table, &r->map, err);
  if (status == GPNN_OK) status = choose_carried(r, err);
  if (status == GPNN_OK)
    status = open_localgp(cli, r->index, &r->params, r->a->params, r->a->neighbours, &r->gp, err);
  if (status == GPNN_OK) status = batch_new(r, err);
  if (status != GPNN_OK) return status;
  r->delimiter = gpnn_table_delimiter(r->table);
  return cli_open_output(cli->output, &r->output, err);
}

static void report(const struct run *r)
{
  if (r->n_skipped > 0)
    cli_warn(r->cli, "%s: %zu bad rows have no prediction", gpnn_table_name(r->table),
             r->n_skipped);
  if (r->n_unseen > 0)
    cli_warn(r->cli, "%s: %zu values of categories were never seen in training",
             gpnn_table_name(r->table), r->n_unseen);
  report_counts(r->cli, &r->counts);
  cli_note(r->cli, "%zu rows, %zu neighbours each", r->n_done, gpnn_localgp_neighbours(r->gp));
}

static void release(struct run *r)
{
  free(r->is_good);
  free(r->features);
  free(r->z);
  free(r->target);
  free(r->mean);
  free(r->sd);
  carry_release(&r->carry);
  gpnn_columns_map_release(&r->map);
  gpnn_localgp_free(r->gp);
  gpnn_table_close(r->table);
  gpnn_params_release(&r->params);
  gpnn_index_close(r->index);
}

int main(int argc, char **argv)
{
  struct arguments a = {.params = "-", .units = "original", .batch = 2048};
  const struct cli_option options[] = {
      {"params", 'p', CLI_TEXT, &a.params, "FILE", "parameters; - is standard input (-)", 0, 0},
      {"neighbours", 'm', CLI_COUNT, &a.neighbours, "M", "neighbours (as the parameters say)", 1,
       1e6},
      {"interval", 0, CLI_PROBABILITIES, &a.intervals, "P[,P...]",
       "add central intervals, as in 0.95", 0, 0},
      {"latent", 0, CLI_FLAG, &a.predict.latent, NULL, "sd of the function, without noise", 0, 0},
      {"debias", 0, CLI_FLAG, &a.predict.debias, NULL, "mean unbiased for few neighbours", 0, 0},
      {"mean-only", 0, CLI_FLAG, &a.predict.mean_only, NULL, "no sd", 0, 0},
      {"units", 0, CLI_TEXT, &a.units, "UNITS", "original or standard (original)", 0, 0},
      {"keep", 0, CLI_TEXT, &a.keep, "LIST", "carry these columns along", 0, 0},
      {"append", 0, CLI_FLAG, &a.append, NULL, "carry all columns along", 0, 0},
      {"skip-bad", 0, CLI_FLAG, &a.skip_bad, NULL, "predict NA for bad rows", 0, 0},
      {"batch", 0, CLI_COUNT, &a.batch, "N", "rows read and predicted at a time (2048)", 1, 1e7},
  };
  const struct cli_tool tool = {
      "gpnn-predict",
      "[OPTION...] -p PARAMS INDEX [TABLE]",
      "Predict every row of a table from its nearest training rows: the mean and the\n"
      "standard deviation of the target, in the order of the rows.",
      CLI_OUTPUT | CLI_TABLE | CLI_THREADS | CLI_PROGRESS,
      1,
      2};
  struct cli cli;
  struct gpnn_error err = {0};
  int exit_status;
  if (!cli_begin(&cli, &tool, options, sizeof options / sizeof options[0], argc, argv,
                 &exit_status))
    return exit_status;
  if (!resolve(&cli, &a)) return 2;
  if (strcmp(a.params, "-") == 0 && strcmp(cli_operand(&cli, 1), "-") == 0)
    return cli_usage_error(&cli, "parameters and table cannot both be standard input");
  struct run r = {.cli = &cli, .a = &a};
  enum gpnn_status status = prepare(&r, &err);
  if (status == GPNN_OK) status = write_header(&r, &err);
  if (status == GPNN_OK) status = predict_batches(&r, &err);
  if (status == GPNN_OK) report(&r);
  status = cli_close_output(r.output, status, &err);
  release(&r);
  return cli_end(&cli, status, &err);
}
