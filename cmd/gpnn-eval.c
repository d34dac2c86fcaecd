/* gpnn-eval: a table with truths and predictions in, metrics out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "cli.h"
#include "data/columns.h"
#include "data/index.h"
#include "methods/metrics.h"
#include "progress.h"

enum { MAX_VALUES = GPNN_METRICS_LEVELS + GPNN_METRICS_PIT_BINS + 20 };

struct arguments {
  const char *truth, *mean, *sd, *by, *index;
  bool json;
  struct cli_probabilities levels;
};

/* The rows of one value of the --by column, or all rows. */
struct group {
  char *name;
  size_t name_length;
  struct gpnn_metrics metrics;
};

struct run {
  const struct cli *cli;
  const struct arguments *a;
  struct gpnn_table *table;
  struct gpnn_output *output;
  size_t truth, mean, sd, by;
  bool has_sd;
  double y_sd; /* of the index; 0: none given */
  struct group all;
  struct group *groups; /* sorted by name */
  size_t n_groups, groups_capacity, n_left_out;
};

/* One metric with its name, ready to be written. */
struct value {
  char name[40];
  double value;
};

/* ---- columns ------------------------------------------------------------------------------ */

/* The column 'wanted', or what it is by default: "mean" and "sd" by name; without a header
 * the columns 1, 2 and 3 are truth, mean and sd. */
static enum gpnn_status find(struct run *r, const char *wanted, const char *name,
                             const char *number, size_t *column, struct gpnn_error *err)
{
  if (wanted == NULL) wanted = gpnn_table_has_header(r->table) ? name : number;
  return gpnn_columns_find(r->table, wanted, column, err);
}

static enum gpnn_status find_columns(struct run *r, struct gpnn_error *err)
{
  const struct arguments *a = r->a;
  bool has_header = gpnn_table_has_header(r->table);
  enum gpnn_status status = find(r, a->mean, "mean", "2", &r->mean, err);
  if (status != GPNN_OK) return status;
  if (a->truth != NULL || !has_header) {
    status = find(r, a->truth, "", "1", &r->truth, err);
  } else if (r->mean == 0) {
    status = gpnn_fail(err, GPNN_EINVAL,
                       "%s: no column before 'mean' holds the truth: name it "
                       "with --truth",
                       gpnn_table_name(r->table));
  } else {
    r->truth = r->mean - 1;
  }
  struct gpnn_error no_sd = {0};
  if (status == GPNN_OK) {
    enum gpnn_status found = find(r, a->sd, "sd", "3", &r->sd, &no_sd);
    r->has_sd = found == GPNN_OK;
    if (a->sd != NULL && found != GPNN_OK) {
      *err = no_sd;
      status = found;
    }
  }
  if (status == GPNN_OK && a->by != NULL) status = gpnn_columns_find(r->table, a->by, &r->by, err);
  return status;
}

/* ---- rows --------------------------------------------------------------------------------- */

static int compare_names(const struct group *group, const struct gpnn_field *name)
{
  size_t n = group->name_length < name->length ? group->name_length : name->length;
  int order = n == 0 ? 0 : memcmp(group->name, name->text, n);
  return order != 0 ? order
                    : (group->name_length > name->length) - (group->name_length < name->length);
}

/* Finds the group called 'name', making it if it is new. */
static struct group *find_group(struct run *r, const struct gpnn_field *name)
{
  size_t low = 0, high = r->n_groups;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = compare_names(&r->groups[middle], name);
    if (order == 0) return &r->groups[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (!gpnn_grow(&r->groups, &r->groups_capacity, r->n_groups + 1, sizeof *r->groups)) return NULL;
  char *copy = gpnn_copy_text(name->text, name->length);
  if (copy == NULL) return NULL;
  memmove(r->groups + low + 1, r->groups + low, (r->n_groups - low) * sizeof *r->groups);
  r->n_groups++;
  r->groups[low] = (struct group){.name = copy, .name_length = name->length};
  gpnn_metrics_levels(&r->groups[low].metrics, r->a->levels.n, r->a->levels.p);
  return &r->groups[low];
}

static enum gpnn_status read_row(struct run *r, struct gpnn_error *err)
{
  const char *na = r->cli->na;
  struct gpnn_record record;
  double truth = 0, mean = 0, sd = NAN;
  enum gpnn_status status = gpnn_table_next(r->table, &record, err);
  if (status != GPNN_OK) return status;
  if (gpnn_field_is_missing(&record.fields[r->truth], na) ||
      gpnn_field_is_missing(&record.fields[r->mean], na)) {
    r->n_left_out++;
    return GPNN_OK;
  }
  status = gpnn_columns_number(r->table, &record, r->truth, na, &truth, err);
  if (status == GPNN_OK) status = gpnn_columns_number(r->table, &record, r->mean, na, &mean, err);
  if (status == GPNN_OK && r->has_sd)
    status = gpnn_columns_number(r->table, &record, r->sd, na, &sd, err);
  if (status != GPNN_OK) return status;
  status = gpnn_metrics_add(&r->all.metrics, truth, mean, sd, err);
  if (status == GPNN_OK && r->a->by != NULL) {
    struct group *group = find_group(r, &record.fields[r->by]);
    if (group == NULL) return gpnn_fail_memory(err, "for the groups");
    status = gpnn_metrics_add(&group->metrics, truth, mean, sd, err);
  }
  if (status == GPNN_EDATA)
    return gpnn_prefix(err, status, "%s:%zu", gpnn_table_name(r->table), record.line);
  return status;
}

/* ---- results ------------------------------------------------------------------------------ */

static void put(struct value *values, size_t *n, const char *name, double value)
{
  struct value *v = &values[(*n)++];
  snprintf(v->name, sizeof v->name, "%s", name);
  v->value = value;
}

/* The same for one of a numbered family: "coverage95", "pit3". */
static void put_numbered(struct value *values, size_t *n, const char *family, double number,
                         double value)
{
  char name[40];
  snprintf(name, sizeof name, "%s%.10g", family, number);
  put(values, n, name, value);
}

/* The metrics with a unit, in units of the training standard deviation. */
static void put_standard(const struct gpnn_metrics_result *m, struct value *values, size_t *n)
{
  put(values, n, "rmse_standard", m->rmse);
  put(values, n, "mse_standard", m->mse);
  put(values, n, "mae_standard", m->mae);
  if (!m->has_sd) return;
  put(values, n, "nll_standard", m->nll);
  put(values, n, "crps_standard", m->crps);
}

/* All metrics of a group, '*n' of them, in the order in which they are written. */
static enum gpnn_status list_values(const struct run *r, struct group *group,
                                    struct value values[MAX_VALUES], size_t *n,
                                    struct gpnn_error *err)
{
  struct gpnn_metrics_result m;
  enum gpnn_status status = gpnn_metrics_result(&group->metrics, &m, err);
  if (status != GPNN_OK) return status;
  *n = 0;
  put(values, n, "n", (double)m.n);
  put(values, n, "rmse", m.rmse);
  put(values, n, "mse", m.mse);
  put(values, n, "mae", m.mae);
  put(values, n, "r2", m.r2);
  if (m.has_sd) {
    put(values, n, "nll", m.nll);
    put(values, n, "cal", m.cal);
    put(values, n, "crps", m.crps);
    for (size_t i = 0; i < r->a->levels.n; i++)
      put_numbered(values, n, "coverage", 100 * r->a->levels.p[i], m.coverage[i]);
    put(values, n, "pit_distance", m.pit_distance);
    for (size_t i = 0; i < GPNN_METRICS_PIT_BINS; i++)
      put_numbered(values, n, "pit", (double)(i + 1), m.pit[i]);
  }
  if (r->y_sd > 0) {
    m = gpnn_metrics_in_units(&m, r->y_sd);
    put_standard(&m, values, n);
  }
  return GPNN_OK;
}

static enum gpnn_status write_lines(struct run *r, struct gpnn_error *err)
{
  struct value values[MAX_VALUES];
  size_t n = 0;
  enum gpnn_status status = list_values(r, &r->all, values, &n, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    status = gpnn_output_printf(r->output, err, "%s\t", values[i].name);
    if (status == GPNN_OK) status = gpnn_output_number(r->output, values[i].value, err);
    if (status == GPNN_OK) status = gpnn_output_text(r->output, "\n", err);
  }
  return status;
}

/* One row a group: its name, then its metrics. */
static enum gpnn_status write_group_row(struct run *r, struct group *group, bool header,
                                        struct gpnn_error *err)
{
  struct value values[MAX_VALUES];
  size_t n = 0;
  char delimiter = gpnn_table_delimiter(r->table);
  const char *by = gpnn_table_column(r->table, r->by);
  enum gpnn_status status = list_values(r, group, values, &n, err);
  if (status == GPNN_OK)
    status =
        header ? gpnn_table_write_field(r->output, delimiter, by, strlen(by), err)
               : gpnn_table_write_field(r->output, delimiter, group->name, group->name_length, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    status = gpnn_output_write(r->output, &delimiter, 1, err);
    if (status != GPNN_OK) break;
    status = header ? gpnn_output_text(r->output, values[i].name, err)
                    : gpnn_output_number(r->output, values[i].value, err);
  }
  return status == GPNN_OK ? gpnn_output_text(r->output, "\n", err) : status;
}

static enum gpnn_status write_groups(struct run *r, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (r->n_groups == 0)
    return gpnn_fail(err, GPNN_EDATA, "%s: no row with a truth and a prediction",
                     gpnn_table_name(r->table));
  for (size_t i = 0; i < r->n_groups && status == GPNN_OK; i++) {
    if (i == 0) status = write_group_row(r, &r->groups[i], true, err);
    if (status == GPNN_OK) status = write_group_row(r, &r->groups[i], false, err);
  }
  return status;
}

static enum gpnn_status json_text(struct run *r, const char *text, size_t length,
                                  struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_text(r->output, "\"", err);
  for (size_t i = 0; i < length && status == GPNN_OK; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c < 0x20)
      status = gpnn_output_printf(r->output, err, "\\u%04x", c);
    else if (c == '"' || c == '\\')
      status = gpnn_output_printf(r->output, err, "\\%c", c);
    else
      status = gpnn_output_write(r->output, &text[i], 1, err);
  }
  return status == GPNN_OK ? gpnn_output_text(r->output, "\"", err) : status;
}

/* The members of one JSON object; what has no value is null. */
static enum gpnn_status json_members(struct run *r, struct group *group, struct gpnn_error *err)
{
  struct value values[MAX_VALUES];
  size_t n = 0;
  enum gpnn_status status = list_values(r, group, values, &n, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    status = gpnn_output_printf(r->output, err, "%s\"%s\": ", i > 0 ? ", " : "", values[i].name);
    if (status != GPNN_OK) break;
    status = isfinite(values[i].value) ? gpnn_output_number(r->output, values[i].value, err)
                                       : gpnn_output_text(r->output, "null", err);
  }
  return status;
}

static enum gpnn_status write_json(struct run *r, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_text(r->output, "{", err);
  if (status == GPNN_OK) status = json_members(r, &r->all, err);
  for (size_t i = 0; i < r->n_groups && status == GPNN_OK; i++) {
    status = gpnn_output_text(r->output, i == 0 ? ", \"groups\": [{\"by\": " : ", {\"by\": ", err);
    if (status == GPNN_OK) status = json_text(r, r->groups[i].name, r->groups[i].name_length, err);
    if (status == GPNN_OK) status = gpnn_output_text(r->output, ", ", err);
    if (status == GPNN_OK) status = json_members(r, &r->groups[i], err);
    if (status == GPNN_OK) status = gpnn_output_text(r->output, "}", err);
  }
  if (status == GPNN_OK && r->n_groups > 0) status = gpnn_output_text(r->output, "]", err);
  return status == GPNN_OK ? gpnn_output_text(r->output, "}\n", err) : status;
}

/* ---- the tool ----------------------------------------------------------------------------- */

static enum gpnn_status prepare(struct run *r, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (r->a->index != NULL) {
    struct gpnn_index *index = NULL;
    status = gpnn_index_open(&index, r->a->index, false, err);
    if (status == GPNN_OK) r->y_sd = gpnn_index_contents(index)->standard.y_sd;
    gpnn_index_close(index);
  }
  if (status == GPNN_OK)
    status = gpnn_table_open(&r->table, cli_operand(r->cli, 0), &r->cli->table, err);
  if (status == GPNN_OK) status = find_columns(r, err);
  gpnn_metrics_levels(&r->all.metrics, r->a->levels.n, r->a->levels.p);
  return status;
}

static enum gpnn_status evaluate(struct run *r, struct gpnn_error *err)
{
  enum gpnn_status status = prepare(r, err);
  while (status == GPNN_OK) {
    progress_update("rows read", r->all.metrics.n, 0);
    status = read_row(r, err);
  }
  if (status != GPNN_END) return status;
  if (r->n_left_out > 0)
    cli_warn(r->cli, "%s: %zu rows without truth or prediction left out", gpnn_table_name(r->table),
             r->n_left_out);
  if (r->all.metrics.n == 0)
    return gpnn_fail(err, GPNN_EDATA, "%s: no row with a truth and a prediction",
                     gpnn_table_name(r->table));
  status = cli_open_output(r->cli->output, &r->output, err);
  if (status == GPNN_OK)
    status = r->a->json         ? write_json(r, err)
             : r->a->by != NULL ? write_groups(r, err)
                                : write_lines(r, err);
  return cli_close_output(r->output, status, err);
}

static void release(struct run *r)
{
  for (size_t i = 0; i < r->n_groups; i++) {
    free(r->groups[i].name);
    gpnn_metrics_release(&r->groups[i].metrics);
  }
  free(r->groups);
  gpnn_metrics_release(&r->all.metrics);
  gpnn_table_close(r->table);
}

int main(int argc, char **argv)
{
  struct arguments a = {.levels = {5, {0.5, 0.8, 0.9, 0.95, 0.99}}};
  const struct cli_option options[] = {
      {"truth", 'y', CLI_TEXT, &a.truth, "COL", "the true values (the column before 'mean')", 0, 0},
      {"mean", 0, CLI_TEXT, &a.mean, "COL", "the predicted means (mean)", 0, 0},
      {"sd", 0, CLI_TEXT, &a.sd, "COL", "the standard deviations (sd, if there is one)", 0, 0},
      {"by", 0, CLI_TEXT, &a.by, "COL", "a row of metrics for each value of COL", 0, 0},
      {"levels", 0, CLI_PROBABILITIES, &a.levels, "P[,P...]", "coverages (0.5,0.8,0.9,0.95,0.99)",
       0, 0},
      {"index", 0, CLI_TEXT, &a.index, "INDEX", "metrics in its standardised units too", 0, 0},
      {"json", 0, CLI_FLAG, &a.json, NULL, "one JSON object", 0, 0},
  };
  const struct cli_tool tool = {
      "gpnn-eval",
      "[OPTION...] [TABLE]",
      "Score predictions against the truth: accuracy, log likelihood, calibration.",
      CLI_OUTPUT | CLI_TABLE | CLI_PROGRESS,
      0,
      1};
  struct cli cli;
  struct gpnn_error err = {0};
  int exit_status;
  if (!cli_begin(&cli, &tool, options, sizeof options / sizeof options[0], argc, argv,
                 &exit_status))
    return exit_status;
  struct run r = {.cli = &cli, .a = &a};
  enum gpnn_status status = evaluate(&r, &err);
  release(&r);
  return cli_end(&cli, status, &err);
}
