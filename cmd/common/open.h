/*
 * open: the index and the parameters that most tools begin with, and the model that is made of
 * them.
 */
#ifndef GPNN_CMD_COMMON_OPEN_H
#define GPNN_CMD_COMMON_OPEN_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/common/cli.h"
#include "dataset/index/index.h"
#include "kernel/parameters.h"
#include "models/model.h"

/* Makes models in place of gpnn_model_new(), whose contract this is. */
struct open_maker {
  enum gpnn_status (*make)(const struct open_maker *maker, struct gpnn_model **model, size_t n,
                           const struct gpnn_channel *channels,
                           const struct gpnn_model_options *options, struct gpnn_error *err);
};

/* An index with the parameters of some of its targets.  A zeroed object may be released. */
struct opened {
  const char *targets;       /* borrowed; the names of those that are wanted, in their order,
                                with commas between; NULL: all that there are parameters of */
  const char *without_model; /* borrowed; what to do instead, if a model file will not do; NULL:
                                it will */
  const struct open_maker *maker; /* borrowed; NULL: gpnn_model_new() */
  size_t draws;                   /* for its rows that lack inputs (models/model.h); 0: as usual */
  size_t share; /* rows that open_single()'s model may predict from the same neighbours; 0: each
                   has its own */
  const char *parameters_path; /* borrowed; NULL: those that the index or model file has itself */
  struct gpnn_index *index;
  const struct gpnn_dataset *dataset;   /* of the index, all rows, and transformed as the
                                           parameters say */
  size_t n;                             /* targets that there are parameters of */
  struct gpnn_parameters *parameters;   /* n */
  struct gpnn_state *state;             /* that came with them; NULL: none did */
  struct gpnn_transformed *transformed; /* NULL: no target is */
  struct gpnn_channel *channels;        /* n: the view of each target, and its parameters */
};

/*
 * Where '*params_path' is NULL, as without -p, it becomes "-", unless the first operand has
 * parameters of its own.  But from a terminal nobody types parameters: then says
 * that they are missing, as cli_refuse(), and returns false.
 */
bool open_default_params(const struct cli *cli, const char **params_path);

/* GPNN_EMISMATCH: 'path', which should be an index, is a table or parameters, but 'other' is one.
 */
GPNN_MUST_CHECK enum gpnn_status open_check_order(const char *path, const char *other,
                                                  struct gpnn_error *err);

/* For tools that need rows.  GPNN_EMISMATCH: the index is a grid; 'advice' says what to do instead.
 */
GPNN_MUST_CHECK enum gpnn_status open_refuse_grid(const struct gpnn_index *index,
                                                  const char *advice, struct gpnn_error *err);

/* For tools that need training rows.  GPNN_EMISMATCH: the index is a model file; 'advice' says what
 * to do instead. */
GPNN_MUST_CHECK enum gpnn_status open_refuse_model(const struct gpnn_index *index,
                                                   const char *advice, struct gpnn_error *err);

/*
 * Opens the index at 'path' (checking every byte if 'verify'), reads all parameters of
 * 'parameters_path' ("-": standard input; NULL: those that were packed with the index) and checks
 * that they go together; warns if the parameters name another index.  A model file's parameters are
 * its own, to which 'parameters_path' adds a calibration, unless it is NULL.  GPNN_EMISMATCH: one
 * is of rows, the other of a grid; or there are no packed ones.  'opened' must be zeroed but for
 * the members before 'parameters_path'; the caller releases it, also after a failure. GPNN_EINVAL:
 * there are no parameters of a target that is wanted.
 */
GPNN_MUST_CHECK enum gpnn_status open_files(const struct cli *cli, const char *path,
                                            const char *parameters_path, bool verify,
                                            struct opened *opened, struct gpnn_error *err);

/*
 * Makes the model of 'n' targets from number 'first' on; it borrows from 'opened'.  If a search had
 * to be built again for the metric of the parameters, says which command saves that.
 */
GPNN_MUST_CHECK enum gpnn_status open_model(const struct cli *cli, const struct opened *opened,
                                            size_t first, size_t n,
                                            const struct gpnn_model_options *options,
                                            struct gpnn_model **model, struct gpnn_error *err);

/* Opens index and parameters and makes the model of one target: 'target', or the only one there are
 * parameters of.  GPNN_EMISMATCH: it is a grid, of which 'advice' says what to do instead.
 * GPNN_EINVAL: there are several targets.  Both have to be released, also after a failure. */
GPNN_MUST_CHECK enum gpnn_status open_single(const struct cli *cli, const char *parameters_path,
                                             const char *target, const char *advice,
                                             struct opened *opened, struct gpnn_model **model,
                                             struct gpnn_error *err);

/* Opens a table that is to be read by the columns of 'dataset': it is written as its training table
 * is, unless the command line says otherwise; where that had no names, it need not have any. */
GPNN_MUST_CHECK enum gpnn_status open_table(const struct cli *cli,
                                            const struct gpnn_dataset *dataset, const char *path,
                                            struct gpnn_table **table, struct gpnn_error *err);

void open_release(struct opened *opened);

#endif
