/* gpnn-calibrate: parameters in, parameters with honest variances out. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "data/rows.h"
#include "methods/calibrate.h"
#include "open.h"

static const size_t not_given = SIZE_MAX;

struct arguments {
  bool leave_one_out, skip_bad;
  const char *with, *params;
  size_t rows, neighbours;
};

/* Reads the table of the user's own, if there is one. */
static enum gpnn_status read_table(const struct cli *cli, const struct arguments *a,
                                   const struct gpnn_index_contents *contents,
                                   const struct gpnn_params *params, struct gpnn_rows *rows,
                                   struct gpnn_error *err)
{
  struct gpnn_table *table = NULL;
  bool has_regressors = params->mean == GPNN_MEAN_REGRESSORS;
  if (a->with == NULL) return GPNN_OK;
  enum gpnn_status status = gpnn_table_open(&table, a->with, &cli->table, err);
  if (status == GPNN_OK)
    status = gpnn_rows_read(rows, contents, table, cli->na, has_regressors, a->skip_bad, err);
  if (status == GPNN_OK && rows->n_skipped > 0)
    cli_warn(cli, "%s: %zu bad rows left out", gpnn_table_name(table), rows->n_skipped);
  if (status == GPNN_OK && rows->n == 0)
    status = gpnn_fail(err, GPNN_EDATA, "%s: no rows to calibrate on", gpnn_table_name(table));
  gpnn_table_close(table);
  return status;
}

static enum gpnn_status calibrate(const struct cli *cli, const struct arguments *a,
                                  const struct gpnn_index_contents *contents,
                                  struct gpnn_rows *given, const struct gpnn_localgp *gp,
                                  struct gpnn_calibration *calibration, struct gpnn_error *err)
{
  enum { DEFAULT_LEFT_OUT = 1000 };
  if (a->leave_one_out) {
    size_t wanted = a->rows == not_given ? DEFAULT_LEFT_OUT : a->rows;
    return gpnn_calibrate_left_out(gp, wanted, cli->seed, calibration, err);
  }
  if (a->with == NULL)
    return gpnn_calibrate_rows(gp, contents->n_calibration, contents->calibration_x,
                               contents->calibration_y, a->rows, calibration, err);
  gpnn_rows_shuffle(given, contents->d, cli->seed);
  return gpnn_calibrate_rows(gp, given->n, given->x, given->y, a->rows, calibration, err);
}

/* A factor that hangs on few rows should not pass without a word. */
static void warn_if_uncertain(const struct cli *cli, const struct arguments *a,
                              const struct gpnn_calibration *calibration)
{
  enum { FEW_ROWS = 100 };
  static const double large = 0.25;
  if (calibration->n_rows >= FEW_ROWS && calibration->standard_error <= large * calibration->alpha)
    return;
  bool has_more = !a->leave_one_out && a->with == NULL;
  cli_warn(cli, "the factor %.3g, from %zu rows, has a standard error of %.2g%s",
           calibration->alpha, calibration->n_rows, calibration->standard_error,
           has_more ? "; --loo -c auto uses training rows too" : "");
}

static enum gpnn_status report(const struct cli *cli, const struct arguments *a,
                               const struct gpnn_calibration *calibration,
                               struct gpnn_params *params, struct gpnn_error *err)
{
  report_counts(cli, &calibration->counts);
  cli_note(cli, "alpha %.6g, standard error %.2g, from %zu rows", calibration->alpha,
           calibration->standard_error, calibration->n_rows);
  warn_if_uncertain(cli, a, calibration);
  return gpnn_params_comment(params, err,
                             "calibration: factor %.6g, standard error %.2g, from %zu %s rows",
                             calibration->alpha, calibration->standard_error, calibration->n_rows,
                             a->with != NULL    ? "given"
                             : a->leave_one_out ? "left-out training"
                                                : "held-out");
}

static enum gpnn_status run(const struct cli *cli, const struct arguments *a,
                            struct gpnn_error *err)
{
  struct gpnn_index *index = NULL;
  struct gpnn_params params = {0};
  struct gpnn_rows rows = {0};
  struct gpnn_localgp *gp = NULL;
  struct gpnn_output *output = NULL;
  struct gpnn_calibration calibration = {0};
  enum gpnn_status status =
      open_pair(cli, cli_operand(cli, 0), a->params, false, &index, &params, err);
  if (status == GPNN_OK && a->with == NULL && !a->leave_one_out &&
      gpnn_index_contents(index)->n_calibration == 0)
    status = gpnn_fail(err, GPNN_EDATA, "%s: holds no calibration rows; use --loo or --with TABLE",
                       gpnn_index_path(index));
  if (status == GPNN_OK)
    status = read_table(cli, a, gpnn_index_contents(index), &params, &rows, err);
  if (status == GPNN_OK)
    status = open_localgp(cli, index, &params, a->params, a->neighbours, &gp, err);
  if (status == GPNN_OK)
    status = calibrate(cli, a, gpnn_index_contents(index), &rows, gp, &calibration, err);
  if (status == GPNN_OK) {
    gpnn_calibrate_apply(&calibration, &params);
    params.neighbours = a->neighbours > 0 ? a->neighbours : params.neighbours;
    status = report(cli, a, &calibration, &params, err);
  }
  if (status == GPNN_OK) status = cli_open_output(cli->output, &output, err);
  if (status == GPNN_OK) status = gpnn_params_write(&params, output, err);
  status = cli_close_output(output, status, err);
  gpnn_localgp_free(gp);
  gpnn_rows_release(&rows);
  gpnn_params_release(&params);
  gpnn_index_close(index);
  return status;
}

int main(int argc, char **argv)
{
  struct arguments a = {.params = "-", .rows = not_given};
  const struct cli_option options[] = {
      {"loo", 0, CLI_FLAG, &a.leave_one_out, NULL, "on training rows left out one at a time", 0, 0},
      {"with", 0, CLI_TEXT, &a.with, "TABLE", "on the rows of TABLE", 0, 0},
      {"rows", 'c', CLI_AUTO, &a.rows, "N|auto", "how many rows (all held out; 1000 with --loo)", 1,
       1e12},
      {"params", 'p', CLI_TEXT, &a.params, "FILE", "parameters (standard input)", 0, 0},
      {"neighbours", 'm', CLI_COUNT, &a.neighbours, "M", "neighbours (as the parameters say)", 1,
       1e6},
      {"skip-bad", 0, CLI_FLAG, &a.skip_bad, NULL, "leave bad rows of TABLE out", 0, 0},
  };
  const struct cli_tool tool = {
      "gpnn-calibrate",
      "[OPTION...] INDEX < PARAMS",
      "Find the one factor that makes predicted variances right on average, on rows\n"
      "that no prediction used, and print the parameters multiplied by it.",
      CLI_OUTPUT | CLI_TABLE | CLI_SEEDED | CLI_THREADS,
      1,
      1};
  struct cli cli;
  struct gpnn_error err = {0};
  int status;
  if (!cli_begin(&cli, &tool, options, sizeof options / sizeof options[0], argc, argv, &status))
    return status;
  if (a.leave_one_out && a.with != NULL)
    return cli_usage_error(&cli, "--loo and --with exclude each other");
  if (a.with == NULL && a.skip_bad)
    return cli_usage_error(&cli, "--skip-bad is about the rows of --with TABLE");
  if (a.with != NULL && strcmp(a.with, "-") == 0 && strcmp(a.params, "-") == 0)
    return cli_usage_error(&cli, "parameters and table cannot both be standard input");
  return cli_end(&cli, run(&cli, &a, &err), &err);
}
