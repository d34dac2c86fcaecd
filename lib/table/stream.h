/*
 * stream: bytes in from plain or gzip files, bytes out with every write checked.
 *
 * Input: gpnn_input_open(), gpnn_input_read() until it returns GPNN_END, gpnn_input_close().  Gzip
 * data is detected from its magic bytes, on standard input too; concatenated gzip members are read
 * as one stream.
 * Output: gpnn_output_open(), gpnn_output_write() and its relatives, then gpnn_output_close(),
 * whose status must be checked: a full disk may not show before.  After a failed write, call
 * gpnn_output_abandon() instead.
 *
 * The path "-" means standard input or output; messages call these "(stdin)" and "(stdout)".
 * Unless said otherwise a function fails with GPNN_EIO, where the system refuses, or GPNN_ENOMEM,
 * and its message begins with the name of the stream.
 * Threads: a stream belongs to one thread at a time; only gpnn_input_interrupt() may be called from
 * another.
 */
#ifndef GPNN_TABLE_STREAM_H
#define GPNN_TABLE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_input;
struct gpnn_output;
struct gpnn_npy_text_format;

/* Opens 'path' (borrowed for the call) for reading.  GPNN_EIO: it cannot be opened, or is a
 * directory.  '*input' is set on success only.  An empty file opens like any other. */
GPNN_MUST_CHECK enum gpnn_status gpnn_input_open(struct gpnn_input **input, const char *path,
                                                 struct gpnn_error *err);

/*
 * Reads up to 'capacity' > 0 bytes into 'bytes' and stores their number, at least 1, in '*got'.
 * GPNN_END: nothing is left.  GPNN_EFORMAT: corrupt or truncated gzip data.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_input_read(struct gpnn_input *input, void *bytes,
                                                 size_t capacity, size_t *got,
                                                 struct gpnn_error *err);

/*
 * For a stream that one thread reads and another may cancel.  Call gpnn_input_allow_interrupt()
 * before the reading thread starts; from then on gpnn_input_interrupt() makes a gpnn_input_read()
 * that is waiting for data fail with GPNN_EIO, and so every later one that needs data from the
 * system.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_input_allow_interrupt(struct gpnn_input *input,
                                                            struct gpnn_error *err);
void gpnn_input_interrupt(const struct gpnn_input *input);

/* How much of the file has been read, between 0 and 1; of gzip data, of the compressed bytes.  NaN
 * if it is not a regular file, or is empty: its end is not known.  For the thread that reads. */
double gpnn_input_share(const struct gpnn_input *input);

/* True of a regular file that is not compressed, whose bytes can be read from any of them on: the
 * next that gpnn_input_read() gives is number '*at' of '*size'. */
bool gpnn_input_tell(const struct gpnn_input *input, uint64_t *at, uint64_t *size);

/* Goes on at byte 'from' of such a file, as if it ended before byte 'end', which it has. */
GPNN_MUST_CHECK enum gpnn_status gpnn_input_seek(struct gpnn_input *input, uint64_t from,
                                                 uint64_t end, struct gpnn_error *err);

/* The path as messages show it; valid for as long as 'input'. */
const char *gpnn_input_name(const struct gpnn_input *input);

/* Closes and frees; NULL is allowed. */
void gpnn_input_close(struct gpnn_input *input);

/*
 * Opens 'path' for writing; '*output' is set on success only.  A regular file, new or replaced,
 * appears whole at gpnn_output_close() or not at all.  Standard output, devices and pipes are
 * written to directly, whenever the buffer fills or gpnn_output_flush() is called.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_open(struct gpnn_output **output, const char *path,
                                                  struct gpnn_error *err);

/* The same, but '*watch' holds the name of the unfinished file for as long as there is one, so that
 * a signal handler can remove it (base/atomic_file.h). */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_open_watched(struct gpnn_output **output,
                                                          const char *path,
                                                          const char *volatile *watch,
                                                          struct gpnn_error *err);

/* Opens a regular file for writing in place, behind its first 'length' bytes, and cuts off what is
 * behind them; it is created if it does not exist, and stays after a failure.  Until it is closed
 * it is locked (flock()).  GPNN_EIO also if it is shorter, or another has locked it. */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_open_at(struct gpnn_output **output, const char *path,
                                                     uint64_t length, struct gpnn_error *err);

/* Flushes such an output to disk; '*length' is that of the file. */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_sync(struct gpnn_output *output, uint64_t *length,
                                                  struct gpnn_error *err);

/* Opens an output that keeps in memory what is written to it. */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_open_memory(struct gpnn_output **output,
                                                         struct gpnn_error *err);

/* What was written to such an output, without a NUL, and its length; NULL if there was not enough
 * memory for it.  Valid until more is written, or the output is abandoned, as it has to be. */
const char *gpnn_output_memory(struct gpnn_output *output, size_t *length);

/*
 * Turns the text that is written from here on, a table, into a .npy file (table/npy.h, which
 * has 'format').  Call it before anything is written.  GPNN_EINVAL: the output is not a regular
 * file, which it has to be because the number of rows, known at the end, stands at the beginning.
 * Later calls fail with GPNN_EDATA where a field of the text is not a number.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_as_npy(struct gpnn_output *output,
                                                    const struct gpnn_npy_text_format *format,
                                                    struct gpnn_error *err);

/* True after gpnn_output_as_npy(). */
bool gpnn_output_is_npy(const struct gpnn_output *output);

/* Appends bytes to the stream's buffer (64 KiB), which is written out when it is full. */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_write(struct gpnn_output *output, const void *bytes,
                                                   size_t length, struct gpnn_error *err);

/* Appends a NUL-terminated string. */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_text(struct gpnn_output *output, const char *text,
                                                  struct gpnn_error *err);

/* Appends the shortest text that reads back as the same number (base/number.h). */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_number(struct gpnn_output *output, double value,
                                                    struct gpnn_error *err);

/* Appends what printf() would print.  GPNN_EINVAL: that would be more than 1023 bytes. */
GPNN_PRINTF(3, 4)
GPNN_MUST_CHECK enum gpnn_status
gpnn_output_printf(struct gpnn_output *output, struct gpnn_error *err, const char *format, ...);

/* Writes out what is buffered, so that the reader of a pipe sees it. */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_flush(struct gpnn_output *output,
                                                   struct gpnn_error *err);

/* Flushes, and brings a regular file's bytes to disk, still without their name: no more may be
 * written, and gpnn_output_close() has only to rename the file.  For callers that want all of
 * several files or none. */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_prepare(struct gpnn_output *output,
                                                     struct gpnn_error *err);

/* Flushes, makes the file appear under its name, and frees 'output' whatever the outcome. */
GPNN_MUST_CHECK enum gpnn_status gpnn_output_close(struct gpnn_output *output,
                                                   struct gpnn_error *err);

/* Frees 'output' and leaves no new file behind; what stood under the name stays.  NULL is allowed.
 */
void gpnn_output_abandon(struct gpnn_output *output);

#ifdef __cplusplus
}
#endif

#endif
