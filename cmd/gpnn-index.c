/* gpnn-index: a table in, an index file out; or an index searched under another metric. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "base/number.h"
#include "cmd/common/cli.h"
#include "cmd/common/open.h"
#include "cmd/common/progress.h"
#include "cmd/common/skip.h"
#include "dataset/index.h"
#include "dataset/training.h"

enum { PAPER_CALIBRATION_ROWS = 1000 };

/* Values of options that were not given. */
static const size_t no_count = SIZE_MAX;
static const double no_number = -1;

struct arguments {
  struct gpnn_roles roles;
  struct cli_list periods, places;
  const char *output, *preset, *standardise, *search_kind, *metric;
  size_t calibration_rows, neighbours;
  double whiten_eps, recall;
  enum cli_given skip_bad;
  struct gpnn_training_options training;
  struct gpnn_search_options search;
};

/* The unfinished index file, for the signal handler. */
static const char *volatile unfinished;

static bool wrong(const struct cli *cli, const char *what)
{
  cli_usage_error(cli, "%s", what);
  return false;
}

/* What only makes sense when a table is read. */
static bool has_table_options(const struct arguments *a)
{
  const struct gpnn_roles *roles = &a->roles;
  return roles->target != NULL || roles->inputs != NULL || roles->drop != NULL ||
         roles->one_hot != NULL || roles->regressors != NULL || roles->row_noise != NULL ||
         a->periods.n > 0 || a->places.n > 0 || a->skip_bad != CLI_GIVEN_NOT || a->preset != NULL ||
         a->standardise != NULL || a->whiten_eps != no_number || a->calibration_rows != no_count;
}

static bool resolve_table(const struct cli *cli, struct arguments *a)
{
  bool paper = a->preset != NULL && strcmp(a->preset, "paper") == 0;
  if (a->preset != NULL && !paper) return wrong(cli, "option --preset: the only preset is paper");
  if (paper && (a->standardise != NULL || a->calibration_rows != no_count))
    return wrong(cli, "--preset paper already says --standardise and --calibration-rows");
  if (a->standardise == NULL) a->standardise = paper ? "whiten" : "scale";
  if (paper) a->calibration_rows = PAPER_CALIBRATION_ROWS;
  a->training.limits = !paper;
  if (!gpnn_scaling_by_name(a->standardise, &a->training.standardise))
    return wrong(cli, "option --standardise: scale, whiten or none");
  if (a->training.standardise == GPNN_SCALING_WHITEN && a->periods.n + a->places.n > 0)
    return wrong(cli, "whiten mixes inputs, so that no period or place on the globe is left: use "
                      "--standardise scale");
  a->roles.periods = a->periods.items;
  a->roles.n_periods = a->periods.n;
  a->roles.places = a->places.items;
  a->roles.n_places = a->places.n;
  if (a->whiten_eps != no_number) a->training.whiten_eps = a->whiten_eps;
  a->training.default_calibration = a->calibration_rows == no_count;
  a->training.calibration_rows = a->calibration_rows;
  a->training.seed = cli->seed;
  a->training.threads = cli->threads;
  return true;
}

static bool resolve_search(const struct cli *cli, struct arguments *a)
{
  if (a->search_kind != NULL && !gpnn_search_by_name(a->search_kind, &a->search.kind))
    return wrong(cli, "option --search: auto, tree, flat, ivf or hnsw");
  if (a->recall != no_number) a->search.recall = a->recall;
  if (a->neighbours != no_count) a->search.neighbours = a->neighbours;
  a->search.seed = cli->seed;
  a->search.threads = cli->threads;
  return true;
}

/* Checks what was asked and fills in the rest.  Returns false after saying what is wrong. */
static bool resolve(const struct cli *cli, struct arguments *a)
{
  if (a->output == NULL || strcmp(a->output, "-") == 0)
    return wrong(cli, "an index is a binary file: name it with -o FILE");
  if (a->metric != NULL && has_table_options(a))
    return wrong(cli, "--metric reads an index: options for tables have no place");
  return resolve_search(cli, a) && (a->metric != NULL || resolve_table(cli, a));
}

static void describe_search(const struct cli *cli, const struct gpnn_search *search)
{
  const struct gpnn_search_report *report = gpnn_search_describe(search);
  cli_note(cli, "search %s, recall %.4f of %zu neighbours", gpnn_search_name(report->kind),
           report->recall, report->neighbours);
}

/* Writes finished contents and a search over them. */
static enum gpnn_status write_index(const struct cli *cli, const char *output,
                                    const struct gpnn_dataset *dataset,
                                    const struct gpnn_search_options *options,
                                    struct gpnn_error *err)
{
  struct gpnn_search *search = NULL;
  enum gpnn_status status = gpnn_index_make(output, dataset, options, &unfinished, &search, err);
  if (status != GPNN_OK) return status;
  describe_search(cli, search);
  if (gpnn_search_describe(search)->recall < options->recall)
    cli_warn(cli, "the search finds %.4f of the nearest rows, less than the %g asked",
             gpnn_search_describe(search)->recall, options->recall);
  gpnn_search_free(search);
  return GPNN_OK;
}

/* Name of target 't', masked. */
static const char *target_name(const struct gpnn_schema *schema, size_t t,
                               char name[GPNN_MASK_BYTES])
{
  const char *full = t == 0 ? schema->target.name : schema->more[t - 1].name;
  return gpnn_mask(name, full, strlen(full));
}

static void warn_of_outlier(const struct cli *cli, const char *name,
                            const struct gpnn_training *training)
{
  static const double most = 0.5;
  char target[GPNN_MASK_BYTES];
  if (training->dataset.n <= 2 || training->largest_share <= most) return;
  target_name(&training->dataset.schema, training->outlier_target, target);
  cli_warn(
      cli, "%s: one row, whose target%s%s is %.6g, has %.0f %% of the target's variance: a slip?",
      name, training->dataset.n_more > 0 ? " " : "", training->dataset.n_more > 0 ? target : "",
      training->outlier, 100 * training->largest_share);
}

/* A number as it would be typed. */
static void write_value(char out[GPNN_NUMBER_BYTES], double value)
{
  gpnn_number_write(out, value);
  if (value > -1e15 && value < 1e15 && value == (double)(int64_t)value)
    snprintf(out, GPNN_NUMBER_BYTES, "%.0f", value);
}

/* Warns of cells of one input that lie far outside the rest.  A value that is there twice is no
 * slip but has been meant. */
static void warn_of_far(const struct cli *cli, const char *name, const struct gpnn_schema *schema,
                        struct gpnn_feature_cursor *at, const struct gpnn_far *far)
{
  char shown[GPNN_MASK_BYTES], value[GPNN_NUMBER_BYTES];
  gpnn_schema_feature_name(schema, at, far->column, shown);
  write_value(value, far->value);
  if (far->n_equal > 1)
    cli_warn(cli,
             "%s: column '%s': %zu cells are %s, far outside the rest (%.6g to %.6g): a code for "
             "\"missing\"? --na %s --skip-bad",
             name, shown, far->n_equal, value, far->low, far->high, value);
  else if (far->n == 1)
    cli_warn(cli, "%s: column '%s': one cell is %s, far outside the rest (%.6g to %.6g): a slip?",
             name, shown, value, far->low, far->high);
  else
    cli_warn(cli,
             "%s: column '%s': %zu cells, %s one of them, are far outside the rest (%.6g to %.6g): "
             "slips?",
             name, shown, far->n, value, far->low, far->high);
}

static void warn_of_all_far(const struct cli *cli, const char *name,
                            const struct gpnn_training *training)
{
  enum { SHOWN = 10 };
  const struct gpnn_far_columns *far = &training->far;
  struct gpnn_feature_cursor at = {0};
  for (size_t f = 0; f < far->n && f < SHOWN; f++)
    warn_of_far(cli, name, &training->dataset.schema, &at, &far->of[f]);
  if (far->n > SHOWN)
    cli_warn(cli, "%s: %zu more columns have cells far outside the rest", name, far->n - SHOWN);
}

static void describe_training(const struct cli *cli, const char *name,
                              const struct gpnn_training *training)
{
  const struct gpnn_dataset *dataset = &training->dataset;
  const struct gpnn_scaling *scaling = &dataset->scaling;
  char shown[GPNN_MASK_BYTES];
  struct gpnn_feature_cursor at = {0};
  warn_of_outlier(cli, name, training);
  warn_of_all_far(cli, name, training);
  if (scaling->n_out < scaling->n_in)
    cli_warn(cli, "%s: %zu of %zu %s do not vary and are dropped", name,
             scaling->n_in - scaling->n_out, scaling->n_in,
             scaling->method == GPNN_SCALING_WHITEN ? "directions of the inputs" : "inputs");
  for (size_t j = 0; j < scaling->n_in; j++)
    if (!gpnn_dataset_keeps(dataset, j))
      cli_note(cli, "dropped: column '%s'",
               gpnn_schema_feature_name(&dataset->schema, &at, j, shown));
  cli_note(cli, "%s: %zu training rows, %zu calibration rows, %zu inputs, target '%s'", name,
           dataset->n, dataset->n_calibration, dataset->d, target_name(&dataset->schema, 0, shown));
  for (size_t t = 1; t <= dataset->n_more; t++)
    cli_note(cli, "%s: target '%s'", name, target_name(&dataset->schema, t, shown));
}

/* Whether the file can be created is told before the work, not after it. */
static enum gpnn_status check_output(const char *path, struct gpnn_error *err)
{
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  file.watch = &unfinished;
  enum gpnn_status status = gpnn_atomic_file_create(&file, path, err);
  gpnn_atomic_file_abandon(&file);
  return status;
}

static void show_rows_read(size_t n_rows)
{
  progress_update("rows read", n_rows, 0);
}

static enum gpnn_status read_rows(const struct cli *cli, struct gpnn_table *table,
                                  const struct arguments *a, struct gpnn_training *training,
                                  struct gpnn_error *err)
{
  const struct gpnn_training_reading how = {cli->na, a->skip_bad != CLI_GIVEN_NOT, cli->threads,
                                            show_rows_read};
  enum gpnn_status status = gpnn_training_begin(training, table, &a->roles, a->output, err);
  if (status == GPNN_OK) status = gpnn_training_read(training, table, &how, err);
  if (status == GPNN_OK)
    status = skip_check(cli, a->skip_bad, table, &training->skipped, training->n, err);
  if (status != GPNN_OK) return status;
  progress_erase();
  return gpnn_training_finish(training, &a->training, gpnn_table_name(table), err);
}

/* Warns of names that are all numbers: a row, rather. */
static void warn_of_numbers(const struct cli *cli, const struct gpnn_table *table)
{
  double value;
  if (!gpnn_table_has_header(table)) return;
  for (size_t j = 0; j < gpnn_table_columns(table); j++) {
    const char *name = gpnn_table_column(table, j);
    if (gpnn_number_read(name, strlen(name), &value) != GPNN_NUMBER_OK) return;
  }
  cli_warn(cli,
           "%s:1: nothing but numbers, taken for the names of columns: --no-header makes it a row",
           gpnn_table_name(table));
}

static enum gpnn_status index_table(const struct cli *cli, const struct arguments *a,
                                    struct gpnn_error *err)
{
  struct gpnn_table *table = NULL;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  char provenance[256];
  training.watch = &unfinished;
  enum gpnn_status status = gpnn_table_open(&table, cli_operand(cli, 0), &cli->table, err);
  if (status == GPNN_OK) warn_of_numbers(cli, table);
  if (status == GPNN_OK) status = read_rows(cli, table, a, &training, err);
  if (status == GPNN_OK) {
    describe_training(cli, gpnn_table_name(table), &training);
    snprintf(provenance, sizeof provenance, "asked-search\t%s\nwhiten-eps\t%g\n",
             gpnn_search_name(a->search.kind), a->training.whiten_eps);
    training.dataset.provenance = provenance;
    status = write_index(cli, a->output, &training.dataset, &a->search, err);
  }
  gpnn_training_release(&training);
  gpnn_table_close(table);
  return status;
}

/* The parameters that --metric names, and the metric of all their targets. */
struct metric {
  struct gpnn_parameters *params;
  size_t n, neighbours; /* targets; the most neighbours of any */
  double *lengthscale;  /* owned; one target's after another */
};

static void metric_release(struct metric *metric)
{
  gpnn_parameters_release_all(metric->params, metric->n);
  free(metric->lengthscale);
}

/* What a search in memory would do for these parameters, unless something else is asked. */
static void complete_search(struct arguments *a, const struct gpnn_index *old,
                            const struct metric *metric)
{
  const struct gpnn_search_report stored = gpnn_dataset_search_report(gpnn_index_dataset(old));
  if (a->recall == no_number) a->search.recall = gpnn_search_recall_again(&stored);
  if (a->neighbours == no_count) a->search.neighbours = metric->neighbours;
  a->search.seed = gpnn_index_dataset(old)->seed;
  a->search.rotation = metric->params->covariance.rotation;
  /* One lengthscale for all inputs orders neighbours as none does. */
  if (metric->params->covariance.n_lengthscales > 1) a->search.lengthscale = metric->lengthscale;
}

/* Takes the metric, which has to be the same for all targets. */
static enum gpnn_status take_metric(const struct gpnn_dataset *dataset, const char *path,
                                    struct metric *metric, struct gpnn_error *err)
{
  size_t d = dataset->d;
  metric->lengthscale = gpnn_alloc(metric->n, d, sizeof *metric->lengthscale);
  if (metric->lengthscale == NULL) return gpnn_fail_memory(err, "for the lengthscales");
  const struct gpnn_search_metric first = {metric->lengthscale,
                                           metric->params->covariance.rotation};
  for (size_t t = 0; t < metric->n; t++) {
    const struct gpnn_parameters *params = &metric->params[t];
    double *own = metric->lengthscale + t * d;
    gpnn_parameters_expand(params, d, dataset->group, own);
    if (params->neighbours > metric->neighbours) metric->neighbours = params->neighbours;
    if (!gpnn_search_same_metric(d, first,
                                 (struct gpnn_search_metric){own, params->covariance.rotation}))
      return gpnn_fail(err, GPNN_EMISMATCH,
                       "%s: its targets have different metrics, and an index has one search: give "
                       "the parameters of one target",
                       strcmp(path, "-") == 0 ? "(stdin)" : path);
  }
  return GPNN_OK;
}

/* Writes the index again with a search under the metric of given parameters. */
static enum gpnn_status change_metric(const struct cli *cli, struct arguments *a,
                                      struct gpnn_error *err)
{
  struct gpnn_index *old = NULL;
  struct metric metric = {0};
  enum gpnn_status status =
      open_all(cli, cli_operand(cli, 0), a->metric, true, &old, &metric.params, &metric.n, err);
  if (status == GPNN_OK) status = take_metric(gpnn_index_dataset(old), a->metric, &metric, err);
  if (status == GPNN_OK) {
    complete_search(a, old, &metric);
    status = write_index(cli, a->output, gpnn_index_dataset(old), &a->search, err);
  }
  gpnn_index_close(old);
  metric_release(&metric);
  return status;
}

int main(int argc, char **argv)
{
  struct arguments a = {.calibration_rows = no_count,
                        .neighbours = no_count,
                        .whiten_eps = no_number,
                        .recall = no_number,
                        .training = GPNN_TRAINING_OPTIONS_INIT,
                        .search = GPNN_SEARCH_OPTIONS_INIT};
  const struct cli_option options[] = {
      {"output", 'o', CLI_TEXT, &a.output, "FILE", "the index to write, whole or not at all", 0, 0},
      {"target", 'y', CLI_TEXT, &a.roles.target, "LIST", "columns to predict (the last)", 0, 0},
      {"inputs", 'x', CLI_TEXT, &a.roles.inputs, "LIST", "input columns (all the others)", 0, 0},
      {"drop", 0, CLI_TEXT, &a.roles.drop, "LIST", "columns that are no inputs", 0, 0},
      {"one-hot", 0, CLI_TEXT, &a.roles.one_hot, "LIST", "inputs that are categories", 0, 0},
      {"period", 0, CLI_LIST, &a.periods, "COL=P", "inputs that repeat, as in hour=24,doy=365.25",
       0, 0},
      {"geo", 0, CLI_LIST, &a.places, "LAT,LON", "inputs in degrees: a place on the globe", 0, 0},
      {"regressors", 0, CLI_TEXT, &a.roles.regressors, "LIST", "columns that the mean depends on",
       0, 0},
      {"row-noise", 0, CLI_TEXT, &a.roles.row_noise, "COL", "known variance of each row's noise", 0,
       0},
      SKIP_OPTION(&a.skip_bad, "leave bad rows out; all: be they many"),
      {"preset", 0, CLI_TEXT, &a.preset, "paper", "whiten, exactly 1000 calibration rows", 0, 0},
      {"standardise", 0, CLI_TEXT, &a.standardise, "HOW", "scale, whiten or none (scale)", 0, 0},
      {"whiten-eps", 0, CLI_REAL, &a.whiten_eps, "E", "added to variances when whitening (1e-5)", 0,
       1e300},
      {"calibration-rows", 0, CLI_COUNT, &a.calibration_rows, "N",
       "rows held out (1000, at most a tenth; 0: none)", 0, 1e15},
      {"search", 0, CLI_TEXT, &a.search_kind, "KIND", "auto, tree, flat, ivf or hnsw (auto)", 0, 0},
      {"recall", 0, CLI_REAL, &a.recall, "R", "share of true neighbours to find (0.99)", 1e-3, 1},
      {"neighbours", 'm', CLI_COUNT, &a.neighbours, "M",
       "neighbours to tune for (400; those of PARAMS)", 1, 1e6},
      {"metric", 0, CLI_TEXT, &a.metric, "PARAMS", "search by the metric of PARAMS; reads an INDEX",
       0, 0},
  };
  const struct cli_tool tool = {
      "gpnn-index",
      "[OPTION...] -o INDEX [TABLE]\n       gpnn-index --metric PARAMS -o INDEX OLD-INDEX",
      "Standardise the rows of a table, hold some out for calibration, build the\n"
      "neighbour search, and write it all to one index file.",
      CLI_TABLE | CLI_SEEDED | CLI_THREADS | CLI_PROGRESS,
      0,
      1};
  struct cli cli;
  struct gpnn_error err = {0};
  int status;
  if (!cli_begin(&cli, &tool, options, sizeof options / sizeof options[0], argc, argv, &status))
    return status;
  if (!resolve(&cli, &a)) return 2;
  if (!cli_spares(&cli, a.output, a.metric != NULL ? a.metric : cli_operand(&cli, 0))) return 2;
  cli_guard(&unfinished);
  enum gpnn_status done = check_output(a.output, &err);
  if (done == GPNN_OK)
    done = a.metric != NULL ? change_metric(&cli, &a, &err) : index_table(&cli, &a, &err);
  return cli_end(&cli, done, &err);
}
