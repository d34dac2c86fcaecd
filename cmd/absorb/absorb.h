/*
 * absorb: gpnn-absorb, from its arguments to rows made of answers, or a model file.
 */
#ifndef GPNN_CMD_ABSORB_ABSORB_H
#define GPNN_CMD_ABSORB_ABSORB_H

#include <stdbool.h>

#include "cmd/common/cli.h"
#include "cmd/common/open.h"
#include "cmd/common/pool.h"
#include "cotrain/absorb.h"

struct absorb_arguments {
  const char *params, *target, *id, *answers, *own; /* NULL: not given */
  struct gpnn_absorb_options how;
};

/* A run. */
struct absorbing {
  const struct cli *cli;
  const struct absorb_arguments *a;
  struct opened opened;            /* of the rules that make a model */
  struct gpnn_index *index;        /* of those that make rows; NULL: that of 'opened' */
  const struct gpnn_dataset *view; /* of the target */
  struct gpnn_answers answers;
  struct ids ids; /* of the answers */
  struct pool pool;
};

/* A struct cli_tool's 'resolve' and 'run'. */
bool absorb_resolve(const struct cli *cli, void *arguments);
GPNN_MUST_CHECK enum gpnn_status absorb_run(const struct cli *cli, void *arguments,
                                            struct gpnn_error *err);

/* Writes the table of rows, or the model. */
GPNN_MUST_CHECK enum gpnn_status absorb_write_rows(struct absorbing *r, struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status absorb_write_model(struct absorbing *r, struct gpnn_error *err);

#endif
