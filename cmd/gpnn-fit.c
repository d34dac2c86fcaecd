/* gpnn-fit: an index in, estimated parameters out. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "cmd/common/cli.h"
#include "cmd/common/skip.h"
#include "cmd/fit/conjugate.h"
#include "cmd/fit/options.h"
#include "cmd/fit/report.h"
#include "dataset/index.h"
#include "dataset/reader.h"
#include "linalg/blas_threads.h"
#include "models/local/choose.h"
#include "models/local/localgp.h"

/* Fits what was asked for, or chooses what was left open, for 'n' targets from 'first' on, which
 * share a metric. */
static enum gpnn_status fit_targets(const struct cli *cli, const struct fit_arguments *a,
                                    const struct gpnn_index *index, size_t first, size_t n,
                                    struct gpnn_parameters *params, struct gpnn_error *err)
{
  struct fit_report_tries telling = {cli, 0};
  struct gpnn_choose_report report = {0};
  const struct gpnn_dataset **targets = gpnn_alloc(n, 1, sizeof(const struct gpnn_dataset *));
  if (targets == NULL) return gpnn_fail_memory(err, "for the targets");
  for (size_t t = 0; t < n; t++)
    targets[t] = gpnn_dataset_target(gpnn_index_dataset(index), first + t);
  enum gpnn_status status =
      gpnn_choose(n, targets, &a->choose, fit_report_try, &telling, params, &report, err);
  free(targets);
  for (size_t t = 0; t < n && status == GPNN_OK; t++)
    status = fit_report_annotate(&params[t], index, first + t, &report, err);
  if (status == GPNN_OK) fit_report_found(cli, n, params, a->thin, &report.fit);
  return status;
}

/* Fits every target of the index: all at once, or one by one. */
static enum gpnn_status fit_all(const struct cli *cli, const struct fit_arguments *a,
                                const struct gpnn_index *index, size_t n,
                                struct gpnn_parameters *params, struct gpnn_error *err)
{
  char text[CLI_ABOUT_BYTES];
  struct cli about = *cli;
  enum gpnn_status status = GPNN_OK;
  if (n > 1) about.about = "all targets";
  if (a->is_shared) return fit_targets(&about, a, index, 0, n, params, err);
  for (size_t t = 0; t < n && status == GPNN_OK; t++) {
    if (n > 1)
      about.about =
          cli_target(text, gpnn_dataset_target(gpnn_index_dataset(index), t)->schema.target.name);
    status = a->is_conjugate
                 ? conjugate_fit(&about, &a->conjugate, &a->choose, index, t, &params[t], err)
                 : fit_targets(&about, a, index, t, 1, &params[t], err);
  }
  return status;
}

/* Whether parameters can name the targets of the index, where they have to. */
static enum gpnn_status check_targets(const struct gpnn_index *index, size_t n,
                                      struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < n && n > 1 && status == GPNN_OK; t++)
    status = gpnn_parameters_check_target(
        gpnn_dataset_target(gpnn_index_dataset(index), t)->schema.target.name, err);
  return status;
}

/* Fits and writes the parameters. */
static enum gpnn_status fit_and_write(const struct cli *cli, const struct fit_arguments *a,
                                      const struct gpnn_index *index, struct gpnn_error *err)
{
  size_t n = gpnn_dataset_n_targets(gpnn_index_dataset(index));
  struct gpnn_output *output = NULL;
  struct gpnn_parameters *params = gpnn_alloc(n, 1, sizeof *params);
  if (params == NULL) return gpnn_fail_memory(err, "for parameters");
  enum gpnn_status status = check_targets(index, n, err);
  if (status == GPNN_OK) status = fit_all(cli, a, index, n, params, err);
  if (status == GPNN_OK) status = cli_open_output(cli->output, &output, err);
  if (status == GPNN_OK) status = gpnn_parameters_write_all(params, n, output, err);
  status = cli_close_output(output, status, err);
  gpnn_parameters_release_all(params, n);
  return status;
}

/* Reads the inputs of rows like which candidates are to be scored. */
static enum gpnn_status read_like(const struct cli *cli, const char *path,
                                  const struct gpnn_index *index, struct gpnn_rows *rows,
                                  struct gpnn_error *err)
{
  struct gpnn_table *table = NULL;
  enum gpnn_status status = gpnn_table_open(&table, path, &cli->table, err);
  if (status == GPNN_OK)
    status =
        gpnn_rows_read(rows, gpnn_index_dataset(index), table, cli->na, true, false, true, err);
  if (status == GPNN_OK)
    status = skip_check(cli, CLI_GIVEN_WORD, table, &rows->skipped, rows->n, err);
  if (status == GPNN_OK && rows->n == 0)
    status = gpnn_fail(err, GPNN_EDATA, "%s: no rows", gpnn_table_name(table));
  gpnn_table_close(table);
  return status;
}

static enum gpnn_status run(const struct cli *cli, struct fit_arguments *a, struct gpnn_error *err)
{
  struct gpnn_rows like = {0};
  struct gpnn_points points = {0};
  struct gpnn_index *index = NULL;
  struct gpnn_parameters start = {0};
  a->choose.fit.threads = gpnn_blas_claim(cli->threads);
  if (a->choose.fit.threads == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  enum gpnn_status status = gpnn_index_open(&index, cli_operand(cli, 0), false, err);
  if (status == GPNN_OK && a->start != NULL) {
    status = gpnn_parameters_read(&start, a->start, err);
    if (status == GPNN_OK) fit_options_start(a, &start);
  }
  if (status == GPNN_OK && a->like != NULL) {
    status = read_like(cli, a->like, index, &like, err);
    points = (struct gpnn_points){.n = like.n, .x = like.x};
    a->choose.like = &points;
  }
  if (status == GPNN_OK) status = fit_and_write(cli, a, index, err);
  gpnn_rows_release(&like);
  gpnn_parameters_release(&start);
  gpnn_index_close(index);
  return status;
}

int main(int argc, char **argv)
{
  enum { MOST = 1000000, MOST_NEIGHBOURS = 20000 };
  struct fit_arguments a = FIT_ARGUMENTS_INIT;
  struct gpnn_fit_options *fit = &a.choose.fit;
  const struct cli_option options[] = {
      {"preset", 0, CLI_TEXT, &a.preset, "paper", "the published method: one lengthscale, adam", 0,
       0},
      {"method", 0, CLI_TEXT, &a.conjugate.method, "NAME", "local or conjugate (local)", 0, 0},
      {"effort", 0, CLI_TEXT, &a.effort, "E", "what to try: fast, normal or thorough (normal)", 0,
       0},
      {"kernel", 'k', CLI_TEXT, &a.kernel, "KERNEL",
       "auto, exp, matern32, matern52, rbf, matern:NU (auto)", 0, 0},
      {"ard", 0, CLI_TEXT, &a.ard, "A", "one lengthscale for each input: auto, yes, no (auto)", 0,
       0},
      {"rotate", 0, CLI_TEXT, &a.rotate, "R", "mix inputs: auto, none, whiten, learn (auto)", 0, 0},
      {"neighbours", 'm', CLI_AUTO, &a.neighbours, "M",
       "neighbours to predict from, or auto (auto)", 1, 1e6},
      {"metric", 0, CLI_TEXT, &a.metric, "M", "of several targets: shared, ratio or own (shared)",
       0, 0},
      {"mean", 0, CLI_TEXT, &a.mean, "MEAN", "zero, constant, linear or regressors (zero)", 0, 0},
      {"objective", 0, CLI_TEXT, &a.objective, "O[,O]", "block, loo, mll-k or vecchia (by effort)",
       0, 0},
      {"optimizer", 0, CLI_TEXT, &a.optimizer, "NAME", "lbfgs or adam (by objective)", 0, 0},
      {"blocks", 0, CLI_COUNT, &fit->n_blocks, "N", "block: blocks of training rows (10)", 1, MOST},
      {"block-size", 0, CLI_COUNT, &fit->block_size, "N", "block: rows a block (300)", 2,
       MOST_NEIGHBOURS},
      {"k", 0, CLI_AUTO, &a.k, "K", "others: neighbours a row, or auto (32)", 1, MOST_NEIGHBOURS},
      {"rows", 0, CLI_COUNT, &fit->rows, "N", "others: rows to learn from (8000)", 1, 1e9},
      {"steps", 0, CLI_COUNT, &fit->steps, "N", "others: steps of adam (1500)", 1, MOST},
      {"batch", 0, CLI_COUNT, &fit->batch, "N", "others: rows a step (64)", 1, MOST},
      {"refresh", 0, CLI_COUNT, &fit->refresh, "N",
       "others: steps between neighbour searches (250)", 1, MOST},
      {"thin", 0, CLI_REAL, &a.thin, "EPS", "others: pass over neighbours within EPS (off)", 0,
       1e6},
      {"like", 0, CLI_TEXT, &a.like, "TABLE", "choose for rows like those of TABLE", 0, 0},
      {"fix", 0, CLI_LIST, &a.fix, "NAME=V", "hold lengthscale, kernelscale or noise at V", 0, 0},
      {"folds", 0, CLI_COUNT, &a.conjugate.n_folds, "K",
       "conjugate: folds of the cross-validation (5)", 2, 1000},
      {"score", 0, CLI_TEXT, &a.conjugate.score, "S", "conjugate: choose by rmspe or crps (rmspe)",
       0, 0},
      {"start", 0, CLI_TEXT, &a.start, "PARAMS", "start from these parameters", 0, 0},
  };
  const struct cli_tool tool = {
      "gpnn-fit",
      "[OPTION...] INDEX",
      "Estimate lengthscales, kernel scale and noise variance from rows of an index.",
      CLI_OUTPUT | CLI_SEEDED | CLI_THREADS | CLI_TABLE | CLI_PROGRESS,
      1,
      1};
  struct cli cli;
  struct gpnn_error err = {0};
  int status;
  if (!cli_begin(&cli, &tool, options, sizeof options / sizeof options[0], argc, argv, &status))
    return status;
  if (!fit_options_resolve(&cli, &a)) return 2;
  return cli_end(&cli, run(&cli, &a, &err), &err);
}
