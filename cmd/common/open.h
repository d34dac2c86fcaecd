/*
 * open: the index and the parameters that most tools begin with.
 */
#ifndef GPNN_CMD_COMMON_OPEN_H
#define GPNN_CMD_COMMON_OPEN_H

#include "cmd/common/cli.h"
#include "dataset/index.h"
#include "kernel/parameters.h"
#include "models/local/localgp.h"

/*
 * Where '*params_path' is NULL, as without -p, it becomes "-".  But from a terminal nobody types
 * parameters: then says that they are missing, as cli_refuse().
 */
bool open_default_params(const struct cli *cli, const char **params_path);

/* GPNN_EMISMATCH: 'path', which should be an index, is a table or parameters, but 'other' is one.
 */
GPNN_MUST_CHECK enum gpnn_status open_check_order(const char *path, const char *other,
                                                  struct gpnn_error *err);

/*
 * Opens the index at 'path' (checking every byte if 'verify'), reads the parameters of all their
 * '*n' targets from 'params_path' ("-": standard input) and checks that they go together; warns if
 * the parameters name another index.  '*params' must be NULL; the caller closes and releases both,
 * also after a failure.
 */
GPNN_MUST_CHECK enum gpnn_status open_all(const struct cli *cli, const char *path,
                                          const char *params_path, bool verify,
                                          struct gpnn_index **index,
                                          struct gpnn_parameters **params, size_t *n,
                                          struct gpnn_error *err);

/* The same for the parameters of one target; 'params' must be zeroed. */
GPNN_MUST_CHECK enum gpnn_status open_pair(const struct cli *cli, const char *path,
                                           const char *params_path, bool verify,
                                           struct gpnn_index **index,
                                           struct gpnn_parameters *params, struct gpnn_error *err);

/*
 * Prepares predictions; if the search had to be built again for the parameters' metric, says
 * once which command saves that.
 */
GPNN_MUST_CHECK enum gpnn_status open_localgp(const struct cli *cli, const struct gpnn_index *index,
                                              const struct gpnn_parameters *params,
                                              const char *params_path, size_t neighbours,
                                              struct gpnn_localgp **gp, struct gpnn_error *err);

/* The same for 'n' targets, of parameters and objects an array each. */
GPNN_MUST_CHECK enum gpnn_status open_localgps(const struct cli *cli,
                                               const struct gpnn_index *index, size_t n,
                                               const struct gpnn_parameters *params,
                                               const char *params_path, size_t neighbours,
                                               struct gpnn_localgp *gps[], struct gpnn_error *err);

#endif
