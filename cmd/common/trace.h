/*
 * trace: the table of the steps of an estimation (--trace), one for all targets.
 *
 * Calling sequence: trace_open() if there is to be a table; trace_begin() for each target; for each
 * step, if there is an output, trace_is_first() and the names of columns, trace_target(), and the
 * numbers; trace_close().  Writing goes on while 'status' is GPNN_OK, and trace_close() tells how
 * it went.
 */
#ifndef GPNN_CMD_COMMON_TRACE_H
#define GPNN_CMD_COMMON_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "cmd/common/output.h"
#include "dataset/dataset.h"

/* Zeroed but for 'names_targets', there is no table. */
struct trace {
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

/* Seconds since then. */
double trace_seconds(const struct trace *trace);

/* True once, when the names of columns are to be written. */
bool trace_is_first(struct trace *trace);

/* Writes 'text' as it is. */
void trace_text(struct trace *trace, const char *text);

/* Writes a tab, and lengthscale_1 and so on with tabs between: the names of 'n' columns. */
void trace_lengthscale_names(struct trace *trace, size_t n);

/* Writes the target and a tab, if there are several. */
void trace_target(struct trace *trace);

/* Completes the table if 'status' is GPNN_OK, else leaves nothing behind.  Returns 'status', or
 * what writing came to. */
GPNN_MUST_CHECK enum gpnn_status trace_close(struct trace *trace, enum gpnn_status status,
                                             struct gpnn_error *err);

#endif
