#include "cmd/common/open.h"

#include <string.h>
#include <unistd.h>

bool open_default_params(const struct cli *cli, const char **params_path)
{
  if (*params_path != NULL) return true;
  *params_path = "-";
  if (!isatty(STDIN_FILENO)) return true;
  return cli_refuse(cli, "the parameters are missing: give them as -p FILE");
}

enum gpnn_status open_check_order(const char *path, const char *other, struct gpnn_error *err)
{
  if (gpnn_index_recognise(path) || !gpnn_index_recognise(other)) return GPNN_OK;
  const char *look = gpnn_index_look(path);
  if (look == NULL) return GPNN_OK; /* not there, for instance: who opens it can say */
  return gpnn_fail(err, GPNN_EMISMATCH, "%s is %s, not an index: did you swap the operands?", path,
                   look);
}

/* Checks that parameters go with the index; '*other_index' becomes true if they name another. */
static enum gpnn_status check_pair(const struct gpnn_dataset *dataset,
                                   const struct gpnn_parameters *params, const char *params_path,
                                   bool *other_index, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  bool other = false;
  enum gpnn_status status = GPNN_OK;
  if (params->target != NULL) dataset = gpnn_dataset_find_target(dataset, params->target);
  if (dataset == NULL)
    status = gpnn_fail(err, GPNN_EMISMATCH, "the index has no target '%s'",
                       gpnn_mask(shown, params->target, strlen(params->target)));
  if (status == GPNN_OK)
    status = gpnn_parameters_check(params, dataset, dataset->fingerprint, &other, err);
  *other_index = *other_index || other;
  if (status == GPNN_OK) return status;
  return gpnn_prefix(err, status, "%s", strcmp(params_path, "-") == 0 ? "(stdin)" : params_path);
}

static void warn_of_other_index(const struct cli *cli, const char *params_path, const char *path)
{
  cli_warn(cli, "%s: made from another index than %s",
           strcmp(params_path, "-") == 0 ? "(stdin)" : params_path, path);
}

enum gpnn_status open_all(const struct cli *cli, const char *path, const char *params_path,
                          bool verify, struct gpnn_index **index, struct gpnn_parameters **params,
                          size_t *n, struct gpnn_error *err)
{
  bool other_index = false;
  enum gpnn_status status = open_check_order(path, params_path, err);
  if (status == GPNN_OK) status = gpnn_index_open(index, path, verify, err);
  if (status == GPNN_OK) status = gpnn_parameters_read(params, n, params_path, err);
  for (size_t t = 0; t < *n && status == GPNN_OK; t++)
    status = check_pair(gpnn_index_dataset(*index), &(*params)[t], params_path, &other_index, err);
  if (status == GPNN_OK && other_index) warn_of_other_index(cli, params_path, path);
  return status;
}

enum gpnn_status open_pair(const struct cli *cli, const char *path, const char *params_path,
                           bool verify, struct gpnn_index **index, struct gpnn_parameters *params,
                           struct gpnn_error *err)
{
  bool other_index = false;
  enum gpnn_status status = gpnn_index_open(index, path, verify, err);
  if (status == GPNN_OK) status = gpnn_parameters_read_one(params, params_path, err);
  if (status == GPNN_OK)
    status = check_pair(gpnn_index_dataset(*index), params, params_path, &other_index, err);
  if (status == GPNN_OK && other_index) warn_of_other_index(cli, params_path, path);
  return status;
}

enum gpnn_status open_localgps(const struct cli *cli, const struct gpnn_index *index, size_t n,
                               const struct gpnn_parameters *params, const char *params_path,
                               size_t neighbours, struct gpnn_localgp *gps[],
                               struct gpnn_error *err)
{
  bool rebuilt = false;
  enum gpnn_status status = gpnn_localgp_new_all(gps, n, gpnn_index_dataset(index), params,
                                                 neighbours, cli->threads, err);
  for (size_t t = 0; t < n && status == GPNN_OK; t++)
    if (gpnn_localgp_rebuilt_search(gps[t])) rebuilt = true;
  if (rebuilt)
    cli_warn(cli,
             "the search is rebuilt in memory for the metric of these parameters; to save the "
             "time: gpnn-index --metric %s -o NEW.gpi %s",
             strcmp(params_path, "-") == 0 ? "PARAMS" : params_path, gpnn_index_path(index));
  return status;
}

enum gpnn_status open_localgp(const struct cli *cli, const struct gpnn_index *index,
                              const struct gpnn_parameters *params, const char *params_path,
                              size_t neighbours, struct gpnn_localgp **gp, struct gpnn_error *err)
{
  return open_localgps(cli, index, 1, params, params_path, neighbours, gp, err);
}
