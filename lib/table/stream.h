/*
 * stream: bytes in from plain or gzip files, bytes out with every write checked.
 *
 * Input: gpnn_input_open(), gpnn_input_read() until GPNN_END, gpnn_input_close().  Gzip is
 * told by its magic bytes, also on standard input; several members in a row are one stream.
 * Output: gpnn_output_open(), gpnn_output_write() and friends, then gpnn_output_close(),
 * which is where a full disk may first be noticed.
 *
 * A path of "-" is standard input or output; messages call them "(stdin)" and "(stdout)".
 * Threads: one stream belongs to one thread at a time; gpnn_input_interrupt() alone may be called
 * from any.
 */
#ifndef GPNN_TABLE_STREAM_H
#define GPNN_TABLE_STREAM_H

#include <stddef.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_input;
struct gpnn_output;

/* Opens 'path' (borrowed for the call) for reading.  A directory is refused with GPNN_EIO. */
GPNN_MUST_CHECK enum gpnn_status gpnn_input_open(struct gpnn_input **input, const char *path,
                                                 struct gpnn_error *err);

/*
 * Reads up to 'room' > 0 bytes into 'bytes' and stores their number, at least 1, in '*got'.
 * GPNN_END: nothing is left.  GPNN_EFORMAT: corrupt or truncated gzip data.  GPNN_EIO: the
 * system refused.  The sentence begins with the stream's name.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_input_read(struct gpnn_input *input, void *bytes, size_t room,
                                                 size_t *got, struct gpnn_error *err);

/*
 * For a stream that is read in one thread and may be given up in another: after
 * gpnn_input_allow_interrupt(), which comes before the threads part, gpnn_input_interrupt() makes a
 * gpnn_input_read() that waits for the system, and every later one that would ask it, fail with
 * GPNN_EIO.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_input_allow_interrupt(struct gpnn_input *input,
                                                            struct gpnn_error *err);
void gpnn_input_interrupt(const struct gpnn_input *input);

/* The path as messages show it; lives as long as 'input'. */
const char *gpnn_input_name(const struct gpnn_input *input);

/* Closes and frees; NULL is allowed. */
void gpnn_input_close(struct gpnn_input *input);

/*
 * Opens 'path' for writing.  A regular file (or a name not yet there) appears whole at
 * gpnn_output_close() or not at all; standard output, devices and pipes are written as the
 * bytes come, in pieces that end at a gpnn_output_flush() or when the buffer fills.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_open(struct gpnn_output **output, const char *path,
                                                  struct gpnn_error *err);

/* The same; 'watch' is told of the unfinished file, if there is one (base/atomic_file.h). */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_open_watched(struct gpnn_output **output,
                                                          const char *path,
                                                          const char *volatile *watch,
                                                          struct gpnn_error *err);

/* Appends bytes to the stream's buffer (64 KiB), writing it out as it fills. */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_write(struct gpnn_output *output, const void *bytes,
                                                   size_t length, struct gpnn_error *err);

/* Appends a NUL-terminated text. */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_text(struct gpnn_output *output, const char *text,
                                                  struct gpnn_error *err);

/* Appends a number in its shortest form (base/number.h). */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_number(struct gpnn_output *output, double value,
                                                    struct gpnn_error *err);

/* Appends what printf would print; at most 1023 bytes. */
GPNN_PRINTF(3, 4)
GPNN_MUST_CHECK enum gpnn_status
gpnn_output_printf(struct gpnn_output *output, struct gpnn_error *err, const char *format, ...);

/* Writes out what is buffered, so that a reader at the other end of a pipe sees it. */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_flush(struct gpnn_output *output,
                                                   struct gpnn_error *err);

/* The same, and a file's bytes, which have no name yet, are on disk: nothing is written any more,
 * and gpnn_output_close() has only to name them. */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_settle(struct gpnn_output *output,
                                                    struct gpnn_error *err);

/* Flushes, makes the file appear, and frees 'output' whatever the outcome. */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_close(struct gpnn_output *output,
                                                   struct gpnn_error *err);

/* Frees 'output' and leaves no file behind; NULL is allowed. */
void gpnn_output_abandon(struct gpnn_output *output);

#ifdef __cplusplus
}
#endif

#endif
