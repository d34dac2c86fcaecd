#include "cmd/fit/fit.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "cmd/common/skip.h"
#include "cmd/fit/conjugate.h"
#include "cmd/fit/report.h"
#include "dataset/index.h"
#include "dataset/reader.h"
#include "linalg/blas_threads.h"

/* Fits 'n' targets from 'first' on, which share their lengthscales, choosing whatever was left
 * open.
 */
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
  if (status != GPNN_OK) return status;
  fit_report_found(cli, n, params, a->choose.fit.thin, &report.fit);
  fit_report_stack(cli, &report.stack);
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
    status = a->method == FIT_CONJUGATE ? fit_conjugate(&about, a, index, t, &params[t], err)
                                        : fit_targets(&about, a, index, t, 1, &params[t], err);
  }
  return status;
}

/* Checks that parameters can name the targets of the index, if there are several. */
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
  if (status == GPNN_OK) status = gpnn_parameters_write(params, n, output, err);
  status = cli_close_output(output, status, err);
  gpnn_parameters_free(params, n);
  return status;
}

/* Reads the inputs of rows that candidates are to be scored for. */
static enum gpnn_status read_like(const struct cli *cli, const char *path,
                                  const struct gpnn_index *index, struct gpnn_reader_rows *rows,
                                  struct gpnn_error *err)
{
  struct gpnn_table *table = NULL;
  enum gpnn_status status = gpnn_table_open(&table, path, &cli->table, err);
  if (status == GPNN_OK)
    status = gpnn_reader_rows_read(rows, gpnn_index_dataset(index), table, cli->na, true, false,
                                   true, err);
  if (status == GPNN_OK) status = skip_check(cli, SKIP_ALL, table, &rows->skipped, rows->n, err);
  if (status == GPNN_OK && rows->n == 0)
    status = gpnn_fail(err, GPNN_EDATA, "%s: no rows", gpnn_table_name(table));
  gpnn_table_close(table);
  return status;
}

enum gpnn_status fit_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct fit_arguments *a = arguments;
  struct gpnn_reader_rows like = {0};
  struct gpnn_query query = {0};
  struct gpnn_index *index = NULL;
  struct gpnn_parameters start = {0};
  a->choose.fit.threads = gpnn_blas_claim(cli->threads);
  if (a->choose.fit.threads == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  enum gpnn_status status = gpnn_index_open(&index, cli_operand(cli, 0), false, err);
  if (status == GPNN_OK && a->start != NULL) {
    status = gpnn_parameters_read_one(&start, a->start, err);
    if (status == GPNN_OK) fit_start(cli, a, &start);
  }
  if (status == GPNN_OK && a->like != NULL) {
    status = read_like(cli, a->like, index, &like, err);
    query = (struct gpnn_query){.n = like.n, .x = like.x};
    a->choose.like = &query;
  }
  if (status == GPNN_OK) status = fit_and_write(cli, a, index, err);
  gpnn_reader_rows_release(&like);
  gpnn_parameters_release(&start);
  gpnn_index_close(index);
  return status;
}
