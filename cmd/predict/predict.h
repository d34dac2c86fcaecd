/*
 * predict: gpnn-predict, from its arguments to its output.
 */
#ifndef GPNN_CMD_PREDICT_PREDICT_H
#define GPNN_CMD_PREDICT_PREDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/common/cli.h"
#include "models/grid/grid.h"
#include "models/predict.h"

struct open_maker; /* cmd/common/open.h */

/* What is made of the rows of a group. */
enum predict_aggregate { PREDICT_SUM, PREDICT_AVERAGE };

/* Which cells of a grid are predicted, instead of the rows of a table. */
enum predict_cells { PREDICT_TABLE, PREDICT_HOLES, PREDICT_ALL_CELLS };

/* What to predict, for every target. */
struct predict_plan {
  struct gpnn_predict_options options;
  struct cli_probabilities intervals;
};

struct gpnn_table;

/* One of several parts of a table, each predicted by another process into an output of its own,
 * whose beginning is that of the first. */
struct predict_part {
  /* Lets the table, of which no row was read, be the part alone. */
  enum gpnn_status (*take)(const struct predict_part *part, struct gpnn_table *table,
                           struct gpnn_error *err);
  /* Waits until all parts are predicted.  The first then gets the 'n' bytes that each of
   * '*n_parts' gives, in their order, for the caller to free; the others none. */
  enum gpnn_status (*gather)(const struct predict_part *part, size_t n, const void *own,
                             unsigned char **all, size_t *n_parts, struct gpnn_error *err);
  bool is_first;
};

struct predict_arguments {
  const char *params, *targets, *keep, *group, *max_distance, *cost;
  enum gpnn_precision precision;
  bool append, skip_bad, unbuffered;
  bool resumes;        /* go on where an earlier run ended */
  bool names;          /* write them though the table has none */
  bool loo;            /* predict the training rows, each from the others */
  bool cross_fit;      /* by parameters that have not seen them */
  bool fails_on_moved; /* if a column is distributed otherwise than in training */
  bool flags_far;      /* say which rows are far from the training rows */
  bool flags_outside;  /* of a model on a grid: which rows lie outside it */
  bool labels_only;    /* of classes: no probabilities */
  enum predict_aggregate aggregate;
  double most_na, most_far;                             /* shares of the rows */
  size_t neighbours, share, draws, batch, samples, top; /* all but share may be 0: not given */
  bool is_of_grids; /* for gpnn-grid predict, which lacks options that are for rows: the index has
                       to be a grid */
  enum predict_cells complete;             /* of a grid */
  size_t most_cells;                       /* that these may be; 0: the usual */
  struct gpnn_grid_posterior_options grid; /* how one is predicted */
  const struct open_maker *maker;          /* of models; NULL: the usual */
  const struct predict_part *part;         /* NULL: the whole table */
  /* predict_resolve() determines: */
  size_t batch_bytes; /* memory that a batch may take */
  bool needs_all;     /* all rows have to be one batch: they are drawn, or added up */
  struct predict_plan plan;
};

#define PREDICT_ARGUMENTS_INIT                                   \
  {                                                              \
    .share = 1, .most_na = 1, .most_far = 1,                     \
    .grid = gpnn_grid_default_options() /* of local arguments */ \
  }

/* The options of gpnn-predict, for arguments that begin with struct predict_arguments. */
extern const struct cli_tool predict_tool;

/* Checks and completes the arguments: a struct cli_tool's 'resolve'. */
bool predict_resolve(const struct cli *cli, void *arguments);

/* Predicts: a struct cli_tool's 'run'. */
GPNN_MUST_CHECK enum gpnn_status predict_run(const struct cli *cli, void *arguments,
                                             struct gpnn_error *err);

#endif
