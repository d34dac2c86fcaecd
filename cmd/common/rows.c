#include "cmd/common/rows.h"

#include "cmd/common/open.h"
#include "cmd/common/table.h"

enum gpnn_status rows_read(const struct cli *cli, const char *path,
                           const struct gpnn_channel *channel, bool inputs_only,
                           enum skip_bad skip_bad, const char *purpose,
                           struct gpnn_reader_rows *rows, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = channel->dataset;
  struct gpnn_table *table = NULL;
  bool reads_regressors = !inputs_only && gpnn_parameters_use_regressors(channel->parameters);
  enum gpnn_status status = open_table(cli, dataset, path, &table, err);
  if (status == GPNN_OK)
    status = gpnn_reader_rows_read(rows, dataset, table, inputs_only, reads_regressors,
                                   skip_bad != SKIP_NONE, err);
  if (status == GPNN_OK) status = skip_check(cli, skip_bad, table, &rows->skipped, rows->n, err);
  if (status == GPNN_OK && rows->n_lacking > 0)
    cli_note(cli, "%s: %zu rows lack the target", gpnn_table_name(table), rows->n_lacking);
  if (status == GPNN_OK && rows->n_unseen > 0)
    cli_warn(cli, "%s: %zu row%s of classes that no training row is of %s left out",
             gpnn_table_name(table), rows->n_unseen, rows->n_unseen == 1 ? "" : "s",
             rows->n_unseen == 1 ? "is" : "are");
  if (status == GPNN_OK && rows->n == 0)
    status = gpnn_fail(err, GPNN_EDATA, "%s: no rows %s", gpnn_table_name(table), purpose);
  if (status == GPNN_OK) table_warn_if_torn(cli, table);
  gpnn_table_close(table);
  if (status == GPNN_OK && !inputs_only) gpnn_reader_rows_shuffle(rows, dataset->d, cli->seed);
  return status;
}
