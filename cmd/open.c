#include "open.h"

#include <string.h>

enum gpnn_status open_pair(const struct cli *cli, const char *path, const char *params_path,
                           bool verify, struct gpnn_index **index, struct gpnn_params *params,
                           struct gpnn_error *err)
{
  bool other_index = false;
  enum gpnn_status status = gpnn_index_open(index, path, verify, err);
  if (status == GPNN_OK) status = gpnn_params_read(params, params_path, err);
  if (status != GPNN_OK) return status;
  const char *name = strcmp(params_path, "-") == 0 ? "(stdin)" : params_path;
  status = gpnn_params_check(params, gpnn_index_contents(*index), gpnn_index_fingerprint(*index),
                             &other_index, err);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "%s", name);
  if (other_index) cli_warn(cli, "%s: made from another index than %s", name, path);
  return GPNN_OK;
}

enum gpnn_status open_localgp(const struct cli *cli, const struct gpnn_index *index,
                              const struct gpnn_params *params, const char *params_path,
                              size_t neighbours, struct gpnn_localgp **gp, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_localgp_new(gp, index, params, neighbours, cli->threads, err);
  if (status != GPNN_OK) return status;
  if (gpnn_localgp_rebuilt_search(*gp))
    cli_warn(cli,
             "the search is rebuilt in memory for the metric of these parameters; to save the "
             "time: gpnn-index --metric %s -o NEW.gpi %s",
             strcmp(params_path, "-") == 0 ? "PARAMS" : params_path, gpnn_index_path(index));
  return GPNN_OK;
}

void report_counts(const struct cli *cli, const struct gpnn_localgp_counts *counts)
{
  if (counts->n_jittered > 0)
    cli_warn(cli,
             "%zu rows had a covariance that is not positive definite; up to %.1e was added "
             "to its diagonal",
             counts->n_jittered, counts->max_jitter);
  if (counts->n_clamped > 0)
    cli_note(cli, "%zu rows had a variance that rounding made negative; set to zero",
             counts->n_clamped);
}
