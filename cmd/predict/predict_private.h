/*
 * predict_private: the state of gpnn-predict while it works, for the files that share the work.
 */
#ifndef GPNN_CMD_PREDICT_PREDICT_PRIVATE_H
#define GPNN_CMD_PREDICT_PREDICT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pipeline.h"
#include "cmd/common/open.h"
#include "cmd/predict/batch.h"
#include "cmd/predict/columns.h"
#include "cmd/predict/predict.h"
#include "cmd/predict/source.h"
#include "cmd/predict/together.h"
#include "dataset/copies.h"
#include "dataset/drift.h"

enum { RESUME_LINE = 64 };

/* How far --resume has come. */
struct resume {
  char *part_name, *log_name; /* owned */
  struct gpnn_output *log;    /* owned */
  uint64_t n_rows, n_bytes;   /* that are on the disk */
};

/* While batches are processed, the source belongs to the stage that reads, the predictor and the
 * counts to the one that predicts, and the sink to the one that writes. */
struct run {
  const struct cli *cli;
  const struct predict_arguments *a;
  struct opened opened;
  struct source source;
  size_t n_together;
  struct together *together;  /* owned; n_together: models and predictors of all targets */
  struct columns *columns;    /* owned; one for each target, like all that follows */
  struct classes *classes;    /* owned */
  struct gpnn_counts *counts; /* owned */
  struct sink sink;
  struct resume resume; /* if the arguments say so */
  struct batch batches[GPNN_PIPELINE_SLOTS];
  struct gpnn_copies copies; /* rows of a table, to find training rows among them */
  struct gpnn_drift drift;   /* how the rows of a table are distributed */
  size_t n_done;
  unsigned char *told; /* owned; what all parts of a table have told, which skipped rows borrow */
};

/* ---- what a table has to be like, and what is told of it (checks.c) -------------------------- */

/* GPNN_EINVAL: rows are to be known to be far, but calibration has not recorded what is. */
GPNN_MUST_CHECK enum gpnn_status checks_distances(const struct run *run, struct gpnn_error *err);

/* GPNN_EDATA: more rows than allowed have no prediction, or are far from the training rows. */
GPNN_MUST_CHECK enum gpnn_status checks_rows(const struct run *run, struct gpnn_error *err);

/* Warns of columns that are distributed otherwise than in training.  GPNN_EDATA: there are some,
 * and this is not allowed. */
GPNN_MUST_CHECK enum gpnn_status checks_drift(const struct run *run, struct gpnn_error *err);

/* What --json reports of the rows. */
void checks_report(const struct run *run);

/* ---- rows together: draws, and sums over groups (joint.c) ----------------------------------- */

/* Checks and completes the options that concern this, as a struct cli_tool's 'resolve' does. */
bool joint_resolve(const struct cli *cli, struct predict_arguments *arguments);

/* GPNN_EINVAL: the targets are of a kind that cannot be added up. */
GPNN_MUST_CHECK enum gpnn_status joint_check_targets(const struct run *run, struct gpnn_error *err);

/* Draws the rows of a batch that is predicted. */
GPNN_MUST_CHECK enum gpnn_status joint_draw(const struct run *run, struct batch *batch,
                                            struct gpnn_error *err);

/* The names of a target's draws, and those of the row whose prediction is entry 'good' (SIZE_MAX:
 * none); nothing if there are no draws. */
GPNN_MUST_CHECK enum gpnn_status joint_write_draw_names(struct run *run, size_t target,
                                                        struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status joint_write_draws(struct run *run, const struct batch *batch,
                                                   size_t target, size_t good,
                                                   struct gpnn_error *err);

/* Writes a line for each group, in the order in which the table begins them. */
GPNN_MUST_CHECK enum gpnn_status joint_write_groups(struct run *run, const struct batch *batch,
                                                    struct gpnn_error *err);

/* ---- predictions that go on where an earlier run ended (resume.c) ---------------------------- */

/* Checks the options that concern this, as a struct cli_tool's 'resolve' does. */
bool resume_resolve(const struct cli *cli, const struct predict_arguments *arguments);

/* Opens the output behind what earlier runs have written, and passes over these rows of the table.
 * GPNN_EMISMATCH: they are other predictions. */
GPNN_MUST_CHECK enum gpnn_status resume_open(struct run *run, struct gpnn_error *err);

/* Brings what was written, 'n_rows' more, to disk, and notes that. */
GPNN_MUST_CHECK enum gpnn_status resume_note(struct run *run, size_t n_rows,
                                             struct gpnn_error *err);

/* Closes the output, also if it could not be opened: if 'status' is GPNN_OK, it gets its name, else
 * a later run may go on.  Returns 'status', or what this came to. */
GPNN_MUST_CHECK enum gpnn_status resume_finish(struct run *run, enum gpnn_status status,
                                               struct gpnn_error *err);

/* ---- tables in parts (parts.c) --------------------------------------------------------------- */

/* Waits until the other parts are predicted.  The first process then knows what all know of their
 * rows, and the others nothing. */
GPNN_MUST_CHECK enum gpnn_status parts_join(struct run *run, struct gpnn_error *err);

/* ---- where the index is a grid (grid.c) ------------------------------------------------------ */

/* Checks and completes the options that concern this, as a struct cli_tool's 'resolve' does. */
bool grid_resolve(const struct cli *cli, struct predict_arguments *arguments);

/* GPNN_EMISMATCH: a grid is wanted, and the index is none.  GPNN_EINVAL: an option is not for
 * grids. */
GPNN_MUST_CHECK enum gpnn_status grid_check(const struct run *run, struct gpnn_error *err);

/* Notes how the grid was solved, and warns if it was not solved to the tolerance. */
void grid_report(const struct run *run);

#endif
