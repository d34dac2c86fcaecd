/*
 * calibrate: gpnn-calibrate, from its arguments to its output.
 */
#ifndef GPNN_CMD_CALIBRATE_CALIBRATE_H
#define GPNN_CMD_CALIBRATE_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>

#include "assess/calibrate.h"
#include "cmd/common/cli.h"
#include "cmd/common/skip.h"

struct open_maker; /* cmd/common/open.h */

struct calibrate_arguments {
  bool leave_one_out;
  enum skip_bad skip_bad;
  const char *with, *like, *params; /* NULL: not given */
  const char *folds;                /* where to write what a cross-fit estimates; or NULL */
  enum gpnn_calibrate_by by;
  int atom;                   /* 1: none */
  size_t blocked, neighbours; /* 0: not given */
  size_t rows;                /* 0: auto, or not given */
  struct cli_probabilities conformal;
  const struct open_maker *maker; /* of models, which have more training rows than the index; NULL:
                                     the usual */
};

/* The options of gpnn-calibrate, for arguments that begin with struct calibrate_arguments. */
extern const struct cli_tool calibrate_tool;

/* Checks and completes the arguments: a struct cli_tool's 'resolve'. */
bool calibrate_resolve(const struct cli *cli, void *arguments);

/* Calibrates: a struct cli_tool's 'run'. */
GPNN_MUST_CHECK enum gpnn_status calibrate_run(const struct cli *cli, void *arguments,
                                               struct gpnn_error *err);

#endif
