/*
 * output: what tools write, whole or not at all: an unfinished file is removed should the tool
 * fail or be interrupted.
 */
#ifndef GPNN_CMD_COMMON_OUTPUT_H
#define GPNN_CMD_COMMON_OUTPUT_H

#include "base/status.h"
#include "table/npy.h"
#include "table/stream.h"

/* Opens 'path' ("-": standard output) for writing. */
GPNN_MUST_CHECK enum gpnn_status cli_open_output(const char *path, struct gpnn_output **output,
                                                 struct gpnn_error *err);

/* Finds out before the work, not after it, if a file can be created at 'path'; 'watch' names it to
 * a signal handler meanwhile (base/atomic_file.h). */
GPNN_MUST_CHECK enum gpnn_status cli_try_output(const char *path, const char *volatile *watch,
                                                struct gpnn_error *err);

/* Makes an output that was just opened, for a table, a .npy file if its name says so. */
GPNN_MUST_CHECK enum gpnn_status cli_follow_name(struct gpnn_output *output, const char *path,
                                                 const struct gpnn_npy_text_format *format,
                                                 struct gpnn_error *err);

/* Closes 'output' (may be NULL): completes it if 'status' is GPNN_OK, else leaves nothing
 * behind.  Returns 'status', or what closing came to. */
GPNN_MUST_CHECK enum gpnn_status cli_close_output(struct gpnn_output *output,
                                                  enum gpnn_status status, struct gpnn_error *err);

#endif
