/*
 * run: the state of gpnn-predict while it works, for the files that share the work.
 */
#ifndef GPNN_CMD_PREDICT_RUN_H
#define GPNN_CMD_PREDICT_RUN_H

#include <stddef.h>

#include "base/pipeline.h"
#include "cmd/common/open.h"
#include "cmd/predict/batch.h"
#include "cmd/predict/classes.h"
#include "cmd/predict/columns.h"
#include "cmd/predict/predict.h"
#include "cmd/predict/source.h"
#include "cmd/predict/together.h"
#include "dataset/copies.h"

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
  struct batch batches[GPNN_PIPELINE_SLOTS];
  struct gpnn_copies copies; /* rows of a table, to find training rows among them */
  size_t n_done;
};

/* The rows of a batch that are predicted; borrowed from it. */
struct gpnn_predict_rows run_rows(const struct run *run, const struct batch *batch);

#endif
