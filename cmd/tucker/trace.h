/*
 * trace: how an estimation goes, on the progress line and in a table of its steps.
 *
 * Calling sequence: trace_open() if there is to be a table; for each target trace_begin() and
 * trace_step(), as gpnn_tucker_options.progress; trace_close().
 */
#ifndef GPNN_CMD_TUCKER_TRACE_H
#define GPNN_CMD_TUCKER_TRACE_H

#include <time.h>

#include "cmd/common/cli.h"
#include "dataset/dataset.h"
#include "models/tucker/fit.h"

struct trace {
  const struct gpnn_tucker_options *fit;
  bool names_targets;              /* there are several */
  struct gpnn_output *output;      /* NULL: no table */
  const struct gpnn_dataset *view; /* of the target that steps are of */
  struct timespec start;
  bool has_header;
  enum gpnn_status status; /* of writing so far, and its message */
  struct gpnn_error err;
};

GPNN_MUST_CHECK enum gpnn_status trace_open(struct trace *trace, const char *path,
                                            struct gpnn_error *err);

/* From now on steps are of the target of 'view'. */
void trace_begin(struct trace *trace, const struct gpnn_dataset *view);

/* Shows a step; 'context' is the trace.  A failure shows in trace_close(). */
void trace_step(void *context, const struct gpnn_tucker_progress *progress);

/* Completes the table if 'status' is GPNN_OK, else leaves nothing behind.  Returns 'status', or
 * what writing came to. */
GPNN_MUST_CHECK enum gpnn_status trace_close(struct trace *trace, enum gpnn_status status,
                                             struct gpnn_error *err);

#endif
