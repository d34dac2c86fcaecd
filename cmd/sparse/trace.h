/*
 * trace: the table of the steps of gpnn-sparse --family diag, one for all targets.
 *
 * Calling sequence: sparse_trace_open() if there is to be a table; for each target
 * sparse_trace_begin() and sparse_trace_step(), as gpnn_diag_options.record; sparse_trace_close().
 */
#ifndef GPNN_CMD_SPARSE_TRACE_H
#define GPNN_CMD_SPARSE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "cmd/common/cli.h"
#include "dataset/dataset.h"
#include "models/inducing/diag/fit.h"
#include "table/stream.h"

struct sparse_trace {
  bool names_targets;              /* there are several */
  struct gpnn_output *output;      /* NULL: no table */
  const struct gpnn_dataset *view; /* of the target that steps are of */
  struct timespec start;
  bool has_header;         /* the names of columns are written */
  enum gpnn_status status; /* of writing so far, and its message */
  struct gpnn_error err;
};

GPNN_MUST_CHECK enum gpnn_status sparse_trace_open(struct sparse_trace *trace, const char *path,
                                                   struct gpnn_error *err);

/* From now on steps are of the target of 'view'. */
void sparse_trace_begin(struct sparse_trace *trace, const struct gpnn_dataset *view);

/* Writes a step, if there is a table; 'context' is the trace.  A failure shows in
 * sparse_trace_close(). */
void sparse_trace_step(void *context, const struct gpnn_diag_record *step);

/* Completes the table if 'status' is GPNN_OK, else leaves nothing behind.  Returns 'status', or
 * what writing came to. */
GPNN_MUST_CHECK enum gpnn_status
sparse_trace_close(struct sparse_trace *trace, enum gpnn_status status, struct gpnn_error *err);

#endif
