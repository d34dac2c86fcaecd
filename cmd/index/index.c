#include "cmd/index/index_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/number.h"
#include "cmd/common/json.h"
#include "cmd/common/open.h"
#include "cmd/common/output.h"
#include "cmd/common/pack.h"
#include "cmd/common/progress.h"
#include "cmd/common/signals.h"
#include "cmd/common/table.h"
#include "dataset/index/index.h"

enum { PAPER_CALIBRATION_ROWS = 1000 };

const char *volatile index_unfinished;

/* ---- options ------------------------------------------------------------------------------- */

/* Reads MEAN,SD. */
static bool read_target_scale(const struct cli *cli, const char *text, struct gpnn_moments *to)
{
  double pair[2];
  char shown[GPNN_MASK_BYTES];
  if (gpnn_list_read_pair(text, pair) && pair[1] > 0) {
    *to = (struct gpnn_moments){pair[0], pair[1]};
    return true;
  }
  return cli_refuse(cli, "option --target-scale: a mean and a positive sd, MEAN,SD, not \"%s\"",
                    gpnn_mask(shown, text, strlen(text)));
}

static bool read_target_scales(const struct cli *cli, struct index_arguments *a)
{
  a->training.n_given = a->target_scales.n;
  a->training.given = a->given;
  for (size_t t = 0; t < a->target_scales.n; t++)
    if (!read_target_scale(cli, a->target_scales.items[t], &a->given[t])) return false;
  return true;
}

/* True of parameters that the index has itself. */
static bool is_own(const struct cli *cli, const char *parameters)
{
  return strcmp(parameters, cli_operand(cli, 0)) == 0;
}

static bool resolve_table(const struct cli *cli, struct index_arguments *a)
{
  struct gpnn_training_options *training = &a->training;
  bool paper = a->preset == INDEX_PAPER, has_rows = cli_given(cli, "calibration-rows");
  if (paper && (cli_given(cli, "standardise") || cli_given(cli, "tails") || has_rows))
    return cli_refuse(cli,
                      "--preset paper already sets --standardise, --tails and --calibration-rows");
  if (paper) training->standardise = GPNN_SCALING_WHITEN;
  if (paper) training->calibration_rows = PAPER_CALIBRATION_ROWS;
  training->default_calibration = !paper && !has_rows;
  training->limits = !paper;
  if (paper) training->tails = GPNN_TAILS_KEEP;
  if (training->standardise == GPNN_SCALING_NONE && training->tails == GPNN_TAILS_COMPRESS)
    return cli_refuse(cli, "--standardise none takes the inputs as they are, but --tails compress "
                           "changes them: use --standardise scale");
  if (training->standardise == GPNN_SCALING_WHITEN && a->periods.n + a->places.n > 0)
    return cli_refuse(cli, "whitening mixes the inputs, which rules out --period and --geo: "
                           "use --standardise scale");
  if (!read_target_scales(cli, a)) return false;
  a->roles.ordered = a->ordered.items;
  a->roles.n_ordered = a->ordered.n;
  a->roles.dates = a->dates.items;
  a->roles.n_dates = a->dates.n;
  a->roles.periods = a->periods.items;
  a->roles.n_periods = a->periods.n;
  a->roles.locations = a->places.items;
  a->roles.n_locations = a->places.n;
  training->seed = cli->seed;
  training->threads = cli->threads;
  return true;
}

/* An index may be replaced by what is made of it, but not by mistake the parameters. */
static bool resolve_index(const struct cli *cli, const struct index_arguments *a)
{
  const char *name = a->metric != NULL ? "metric" : "pack";
  const char *parameters = a->metric != NULL ? a->metric : a->pack;
  const char *of_table = cli_misplaced(cli, CLI_OF_TABLE | CLI_OF_TEXT);
  const char *of_search = a->pack != NULL ? cli_misplaced(cli, CLI_OF_OWN) : NULL;
  if (cli->n_operands == 0)
    return cli_refuse(cli, "--%s reads an index: name it after the options", name);
  if (a->metric != NULL && a->pack != NULL)
    return cli_refuse(cli, "--metric keeps the parameters that an index has: give it or --pack");
  if (of_table == NULL && a->metric != NULL && cli_given(cli, "skip-bad")) of_table = "skip-bad";
  if (of_table != NULL)
    return cli_refuse(cli, "--%s reads an index, but --%s applies to a table", name, of_table);
  if (of_search != NULL)
    return cli_refuse(cli, "--pack leaves the search as it is, but --%s applies to it", of_search);
  return is_own(cli, parameters) || cli_check_overwrite(cli, a->output, parameters);
}

bool index_resolve(const struct cli *cli, void *arguments)
{
  struct index_arguments *a = arguments;
  if (a->output == NULL || strcmp(a->output, "-") == 0)
    return cli_refuse(cli, "an index is a binary file: name it with -o FILE");
  a->search.seed = cli->seed;
  a->search.threads = cli->threads;
  if (a->add != NULL || a->forget != NULL) return grow_resolve(cli, a);
  if (a->metric != NULL || a->pack != NULL) return resolve_index(cli, a);
  return resolve_table(cli, a) && cli_check_overwrite(cli, a->output, cli_operand(cli, 0));
}

/* ---- writing ------------------------------------------------------------------------------- */

static void describe_search(const struct cli *cli, const struct gpnn_search *search)
{
  const struct gpnn_search_report *report = gpnn_search_describe(search);
  report_search(cli, report);
  cli_note(cli, "search %s, recall %.4f of %zu neighbours", gpnn_search_name(report->kind),
           report->recall, report->neighbours);
}

enum gpnn_status index_write(const struct cli *cli, const char *output,
                             const struct gpnn_dataset *dataset, const struct gpnn_dataset *over,
                             const struct gpnn_search_options *options, struct gpnn_error *err)
{
  struct gpnn_search *search = NULL;
  enum gpnn_status status =
      gpnn_index_make(output, dataset, over, options, &index_unfinished, &search, err);
  if (status != GPNN_OK) return status;
  describe_search(cli, search);
  if (gpnn_search_describe(search)->recall < options->recall)
    cli_warn(cli, "the search finds %.4f of the nearest rows, less than the %g asked for",
             gpnn_search_describe(search)->recall, options->recall);
  gpnn_search_free(search);
  return GPNN_OK;
}

static enum gpnn_status read_table(const struct cli *cli, struct gpnn_table *table,
                                   const struct index_arguments *a, struct gpnn_training *training,
                                   struct gpnn_error *err)
{
  struct gpnn_profile profile = {.n_columns = 0};
  const struct gpnn_training_reading how = {a->skip_bad != SKIP_NONE, a->unique, cli->threads,
                                            progress_rows_read, &profile};
  enum gpnn_status status = gpnn_training_begin(training, table, &a->roles, a->output, err);
  if (status == GPNN_OK) status = gpnn_training_read(training, table, &how, err);
  bool is_single_column = status == GPNN_EINVAL && gpnn_table_columns(table) < 2;
  if (profile.table != NULL || is_single_column)
    status = survey_report(cli, a, &profile, training->n, err);
  gpnn_profile_release(&profile);
  return status;
}

static enum gpnn_status read_rows(const struct cli *cli, struct gpnn_table *table,
                                  const struct index_arguments *a, struct gpnn_training *training,
                                  struct gpnn_error *err)
{
  enum gpnn_status status = a->read == NULL ? read_table(cli, table, a, training, err) : GPNN_OK;
  if (status == GPNN_OK)
    status = skip_check(cli, a->skip_bad, table, &training->skipped, training->n, err);
  progress_erase();
  if (status == GPNN_OK)
    status = gpnn_training_finish(training, &a->training, gpnn_table_name(table), err);
  return training->has_bad_classes ? survey_report_classes(cli, a, err) : status;
}

/* Warns if all names are numbers: then the first line is probably a row. */
static void warn_of_numbers(const struct cli *cli, const struct gpnn_table *table)
{
  double value;
  if (!gpnn_table_has_header(table) || gpnn_table_is_json(table)) return;
  for (size_t j = 0; j < gpnn_table_columns(table); j++) {
    const char *name = gpnn_table_column(table, j);
    if (gpnn_number_read(name, strlen(name), &value) != GPNN_NUMBER_OK) return;
  }
  cli_warn(cli, "%s:1: only numbers, taken as names of columns; if it is a row, use --no-header",
           gpnn_table_name(table));
}

static enum gpnn_status index_table(const struct cli *cli, const struct index_arguments *a,
                                    const char *path, struct gpnn_error *err)
{
  struct index_read own = {.training = GPNN_TRAINING_INIT},
                    *read = a->read != NULL ? a->read : &own;
  struct gpnn_training *training = &read->training;
  char provenance[256];
  enum gpnn_status status = GPNN_OK;
  training->watch = &index_unfinished;
  if (a->read == NULL) status = gpnn_table_open(&own.table, path, &cli->table, err);
  if (status == GPNN_OK) warn_of_numbers(cli, read->table);
  if (status == GPNN_OK) status = read_rows(cli, read->table, a, training, err);
  if (status == GPNN_OK) {
    describe_training(cli, read->table, training);
    survey_suggest(cli, a, read->table, training);
    report_training(cli, read->table, training);
    snprintf(provenance, sizeof provenance, "asked-search\t%s\nwhiten-eps\t%g\n",
             gpnn_search_name(a->search.kind), a->training.whiten_eps);
    training->dataset.provenance = provenance;
    training->dataset.reading = (struct gpnn_reading){
        cli->table.delimiter, a->skip_bad != SKIP_NONE, (uint32_t)cli->table.skip_lines};
    status = a->writer != NULL
                 ? a->writer->write(a->writer, a, &training->dataset, err)
                 : index_write(cli, a->output, &training->dataset, NULL, &a->search, err);
  }
  gpnn_training_release(&own.training);
  if (status == GPNN_OK) table_warn_if_torn(cli, read->table);
  gpnn_table_close(own.table);
  return status;
}

/* Finds out first how the table can be used. */
static enum gpnn_status index_surveyed(const struct cli *cli, const struct index_arguments *a,
                                       struct gpnn_error *err)
{
  struct cli changed = *cli;
  struct index_arguments arguments = *a;
  struct index_changes changes = {.drop = NULL};
  struct reread reread;
  enum gpnn_status status =
      reread_begin(&reread, cli_operand(cli, 0), a->output, &index_unfinished, err);
  if (status == GPNN_OK) status = survey_make(&changes, cli, a, &reread, err);
  if (status == GPNN_OK) {
    changes_apply(&changes, &changed, &arguments);
    status = index_table(&changed, &arguments, reread.path, err);
  }
  changes_release(&changes);
  return status;
}

/* The parameters that --metric names, and the metric that all their targets share: that of the
 * first members, if there are several.  A target that some rows lack is not among them, as the
 * search of the index is over all rows. */
struct metric {
  size_t n;
  const struct gpnn_parameters **params; /* owned; n, one per target */
  size_t neighbours;                     /* the largest number of any target */
  double *lengthscale;                   /* owned; n by d */
};

/* Defaults to what a search rebuilt in memory for these parameters would use. */
static void complete_search(const struct cli *cli, struct index_arguments *a,
                            const struct gpnn_dataset *old, const struct metric *metric)
{
  const struct gpnn_search_report stored = gpnn_dataset_search_report(old);
  if (!cli_given(cli, "recall")) a->search.recall = gpnn_search_recall_again(&stored);
  if (!cli_given(cli, "neighbours")) a->search.neighbours = metric->neighbours;
  a->search.seed = old->seed;
  a->search.rotation = metric->params[0]->covariance.rotation;
  /* A single lengthscale does not change the order of neighbours. */
  if (metric->params[0]->covariance.n_lengthscales > 1) a->search.lengthscale = metric->lengthscale;
}

/* Computes the metric, which must be the same for all targets. */
static enum gpnn_status find_metric(const struct gpnn_dataset *dataset, const char *path,
                                    struct metric *metric, struct gpnn_error *err)
{
  size_t d = dataset->d;
  metric->lengthscale = gpnn_alloc(metric->n, d, sizeof *metric->lengthscale);
  if (metric->lengthscale == NULL) return gpnn_fail_memory(err, "for the lengthscales");
  const struct gpnn_search_metric first = {metric->lengthscale,
                                           metric->params[0]->covariance.rotation};
  for (size_t t = 0; t < metric->n; t++) {
    const struct gpnn_parameters *params = metric->params[t];
    double *own = metric->lengthscale + t * d;
    gpnn_covariance_expand(&params->covariance, d, dataset->group, own);
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

/* Lists the parameters of targets that all rows have. */
static enum gpnn_status list_parameters(const struct opened *old, const char *path,
                                        struct metric *metric, struct gpnn_error *err)
{
  metric->params = gpnn_alloc(old->n, 1, sizeof(const struct gpnn_parameters *));
  if (metric->params == NULL) return gpnn_fail_memory(err, "for the metric");
  for (size_t t = 0; t < old->n; t++)
    if (!old->channels[t].dataset->is_partial) metric->params[metric->n++] = &old->parameters[t];
  if (metric->n > 0) return GPNN_OK;
  return gpnn_fail(err, GPNN_EMISMATCH,
                   "%s: some rows lack its targets, and the search of an index is over all rows: "
                   "that over the others is built when they are predicted",
                   strcmp(path, "-") == 0 ? "(stdin)" : path);
}

/* Writes the index again with a search under the metric of given parameters. */
static enum gpnn_status change_metric(const struct cli *cli, struct index_arguments *a,
                                      struct gpnn_error *err)
{
  struct opened old = {.without_model = "it has no search to change"};
  const char *parameters = is_own(cli, a->metric) ? NULL : a->metric;
  enum gpnn_status status = open_files(cli, cli_operand(cli, 0), parameters, true, &old, err);
  if (status == GPNN_OK) status = open_refuse_grid(old.index, "it has no search to change", err);
  struct metric metric = {0};
  if (status == GPNN_OK) status = list_parameters(&old, a->metric, &metric, err);
  if (status == GPNN_OK) status = find_metric(old.dataset, a->metric, &metric, err);
  if (status == GPNN_OK) {
    complete_search(cli, a, old.dataset, &metric);
    /* The index itself, whose targets are not those that a transform makes of them. */
    status =
        index_write(cli, a->output, gpnn_index_dataset(old.index), old.dataset, &a->search, err);
  }
  free(metric.params);
  free(metric.lengthscale);
  open_release(&old);
  return status;
}

/* Writes the index again with parameters inside. */
static enum gpnn_status pack(const struct cli *cli, const struct index_arguments *a,
                             struct gpnn_error *err)
{
  struct opened old = {.without_model = "it has parameters of its own already"};
  enum gpnn_status status = open_files(cli, cli_operand(cli, 0), a->pack, false, &old, err);
  if (status == GPNN_OK)
    status = pack_write(&old, a->skip_bad != SKIP_NONE, NULL, a->output, &index_unfinished, err);
  open_release(&old);
  return status;
}

enum gpnn_status index_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct index_arguments *a = arguments;
  cli_guard(&index_unfinished);
  json_text(cli->report, "index", a->output);
  enum gpnn_status status = cli_try_output(a->output, &index_unfinished, err);
  if (status != GPNN_OK) return status;
  if (a->metric != NULL) return change_metric(cli, a, err);
  if (a->pack != NULL) return pack(cli, a, err);
  if (a->add != NULL || a->forget != NULL) return grow(cli, a, err);
  return a->surveys ? index_surveyed(cli, a, err) : index_table(cli, a, cli_operand(cli, 0), err);
}
