#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "base/number.h"
#include "table/npy.h"
#include "table/stream.h"
#include "table/table_private.h"

enum { OUTPUT_BYTES = 64 * 1024, PRINTF_BYTES = 1024 };

struct gpnn_output {
  int fd; /* of 'file', if there is one */
  char *name;
  struct gpnn_atomic_file file; /* empty for standard output, devices, pipes and memory */
  bool is_memory;               /* written to 'memory', not to 'fd' */
  char *memory;
  size_t length, capacity;
  struct gpnn_npy_text *npy; /* NULL: what is written is not converted */
  size_t used;               /* bytes of 'buffer' not yet written */
  char buffer[OUTPUT_BYTES];
};

/* True if bytes must go to 'path' itself, because it is not a regular file or is open already.
 * '*fd' is then a new descriptor, or -1 with errno set.  A file that we have open is written at its
 * present position, which other programs may share; opening it again would write from its start. */
static bool open_direct(const char *path, int *fd)
{
  struct stat st;
  int own = strcmp(path, "-") == 0 ? STDOUT_FILENO : -1;
  bool is_open = own >= 0 || gpnn_atomic_file_is_open(path, &own);
  if (!is_open && (stat(path, &st) != 0 || S_ISREG(st.st_mode))) return false;
  *fd = own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 0)
                 : gpnn_stream_open(path, is_open ? O_WRONLY | O_APPEND : O_WRONLY);
  return true;
}

enum gpnn_status gpnn_output_open(struct gpnn_output **output, const char *path,
                                  struct gpnn_error *err)
{
  return gpnn_output_open_watched(output, path, NULL, err);
}

/* An output called 'path' that nothing can be written to yet; NULL if there is not enough memory.
 */
static struct gpnn_output *new_output(const char *path)
{
  struct gpnn_output *new = calloc(1, sizeof *new);
  char *name = gpnn_stream_name(path, "(stdout)");
  if (new == NULL || name == NULL) {
    free(new);
    free(name);
    return NULL;
  }
  new->name = name;
  new->fd = -1;
  new->file = (struct gpnn_atomic_file)GPNN_ATOMIC_FILE_INIT;
  return new;
}

enum gpnn_status gpnn_output_open_memory(struct gpnn_output **output, struct gpnn_error *err)
{
  struct gpnn_output *new = new_output("(memory)");
  if (new == NULL) return gpnn_fail_memory(err, "for a text");
  new->is_memory = true;
  *output = new;
  return GPNN_OK;
}

const char *gpnn_output_memory(struct gpnn_output *output, size_t *length)
{
  struct gpnn_error err;
  if (gpnn_output_flush(output, &err) != GPNN_OK) return NULL;
  *length = output->length;
  return output->memory == NULL ? "" : output->memory;
}

enum gpnn_status gpnn_output_open_watched(struct gpnn_output **output, const char *path,
                                          const char *volatile *watch, struct gpnn_error *err)
{
  struct gpnn_output *new = new_output(path);
  if (new == NULL) return gpnn_fail_memory(err, "to open a file");
  new->file.watch = watch;
  enum gpnn_status status = GPNN_OK;
  if (open_direct(path, &new->fd)) {
    if (new->fd < 0) status = gpnn_fail_errno(err, errno, "%s: cannot be opened", new->name);
  } else {
    status = gpnn_atomic_file_create(&new->file, path, err);
    new->fd = new->file.fd;
  }
  if (status != GPNN_OK)
    gpnn_output_abandon(new);
  else
    *output = new;
  return status;
}

enum gpnn_status gpnn_output_open_at(struct gpnn_output **output, const char *path, uint64_t length,
                                     struct gpnn_error *err)
{
  struct gpnn_output *new = new_output(path);
  struct stat st;
  if (new == NULL) return gpnn_fail_memory(err, "to open a file");
  new->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  bool is_fit = new->fd >= 0 && fstat(new->fd, &st) == 0 && S_ISREG(st.st_mode) &&
                (uint64_t)st.st_size >= length;
  bool is_taken = is_fit && flock(new->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (is_fit && !is_taken && ftruncate(new->fd, (off_t)length) == 0 &&
      lseek(new->fd, 0, SEEK_END) >= 0) {
    *output = new;
    return GPNN_OK;
  }
  enum gpnn_status status =
      new->fd < 0 ? gpnn_fail_errno(err, errno, "%s: cannot be opened", new->name)
                  : gpnn_fail(err, GPNN_EIO, "%s: %s", new->name,
                              is_taken ? "another run writes it" : "cannot be written on");
  gpnn_output_abandon(new);
  return status;
}

static enum gpnn_status keep_bytes(struct gpnn_output *output, const char *bytes, size_t length,
                                   struct gpnn_error *err)
{
  if (!gpnn_grow(&output->memory, &output->capacity, output->length + length, 1))
    return gpnn_fail_memory(err, "for a text");
  if (length > 0) memcpy(output->memory + output->length, bytes, length);
  output->length += length;
  return GPNN_OK;
}

/* write() until all is written. */
static enum gpnn_status write_bytes(struct gpnn_output *output, const char *bytes, size_t length,
                                    struct gpnn_error *err)
{
  if (output->is_memory) return keep_bytes(output, bytes, length, err);
  while (length > 0) {
    ssize_t n = write(output->fd, bytes, length);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return gpnn_fail_errno(err, errno, "%s: cannot be written", output->name);
    bytes += n;
    length -= (size_t)n;
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_output_flush(struct gpnn_output *output, struct gpnn_error *err)
{
  enum gpnn_status status = write_bytes(output, output->buffer, output->used, err);
  if (status == GPNN_OK) output->used = 0;
  return status;
}

enum gpnn_status gpnn_output_sync(struct gpnn_output *output, uint64_t *length,
                                  struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_flush(output, err);
  off_t at = status == GPNN_OK ? lseek(output->fd, 0, SEEK_CUR) : 0;
  if (status == GPNN_OK && (at < 0 || fdatasync(output->fd) != 0))
    status = gpnn_fail_errno(err, errno, "%s: cannot be written", output->name);
  *length = (uint64_t)at;
  return status;
}

/* Appends bytes to the buffer. */
static enum gpnn_status append(struct gpnn_output *output, const void *bytes, size_t length,
                               struct gpnn_error *err)
{
  if (length > sizeof output->buffer - output->used) {
    enum gpnn_status status = gpnn_output_flush(output, err);
    if (status != GPNN_OK) return status;
    if (length > sizeof output->buffer) return write_bytes(output, bytes, length, err);
  }
  if (length > 0) memcpy(output->buffer + output->used, bytes, length);
  output->used += length;
  return GPNN_OK;
}

enum gpnn_status gpnn_output_write(struct gpnn_output *output, const void *bytes, size_t length,
                                   struct gpnn_error *err)
{
  const char *converted;
  if (output->npy == NULL) return append(output, bytes, length, err);
  enum gpnn_status status =
      gpnn_npy_text_convert(output->npy, bytes, length, &converted, &length, err);
  return status == GPNN_OK ? append(output, converted, length, err) : status;
}

enum gpnn_status gpnn_output_as_npy(struct gpnn_output *output,
                                    const struct gpnn_npy_text_format *format,
                                    struct gpnn_error *err)
{
  char header[GPNN_NPY_HEADER_BYTES] = {0};
  assert(output->npy == NULL && output->used == 0);
  if (output->file.temporary == NULL)
    return gpnn_fail(err, GPNN_EINVAL,
                     "%s: only a regular file can be a .npy file: its first bytes are written last",
                     output->name);
  enum gpnn_status status = append(output, header, sizeof header, err);
  return status == GPNN_OK ? gpnn_npy_text_new(&output->npy, output->name, format, err) : status;
}

bool gpnn_output_is_npy(const struct gpnn_output *output)
{
  return output->npy != NULL;
}

/* Completes a .npy file: the rows are counted. */
static enum gpnn_status finish_npy(struct gpnn_output *output, struct gpnn_error *err)
{
  char header[GPNN_NPY_HEADER_BYTES];
  if (output->npy == NULL) return GPNN_OK;
  gpnn_npy_text_header(output->npy, header);
  gpnn_npy_text_free(output->npy);
  output->npy = NULL;
  if (lseek(output->fd, 0, SEEK_SET) != 0)
    return gpnn_fail_errno(err, errno, "%s: cannot be written", output->name);
  return write_bytes(output, header, sizeof header, err);
}

enum gpnn_status gpnn_output_text(struct gpnn_output *output, const char *text,
                                  struct gpnn_error *err)
{
  return gpnn_output_write(output, text, strlen(text), err);
}

enum gpnn_status gpnn_output_number(struct gpnn_output *output, double value,
                                    struct gpnn_error *err)
{
  char text[GPNN_NUMBER_BYTES];
  return gpnn_output_write(output, text, gpnn_number_write(text, value), err);
}

enum gpnn_status gpnn_output_printf(struct gpnn_output *output, struct gpnn_error *err,
                                    const char *format, ...)
{
  char text[PRINTF_BYTES];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (length < 0 || (size_t)length >= sizeof text)
    return gpnn_fail(err, GPNN_EINVAL, "%s: the formatted text is too long", output->name);
  return gpnn_output_write(output, text, (size_t)length, err);
}

enum gpnn_status gpnn_output_prepare(struct gpnn_output *output, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_flush(output, err);
  if (status == GPNN_OK) status = finish_npy(output, err);
  if (status != GPNN_OK || output->file.temporary == NULL) return status;
  return gpnn_atomic_file_prepare(&output->file, err);
}

enum gpnn_status gpnn_output_close(struct gpnn_output *output, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_flush(output, err);
  if (status == GPNN_OK) status = finish_npy(output, err);
  if (status == GPNN_OK && output->file.temporary != NULL) {
    status = gpnn_atomic_file_commit(&output->file, err);
    output->fd = -1;
  } else if (status == GPNN_OK) {
    if (close(output->fd) != 0 && errno != EINTR) /* EINTR: closed all the same */
      status = gpnn_fail_errno(err, errno, "%s: cannot be written", output->name);
    output->fd = -1;
  }
  gpnn_output_abandon(output);
  return status;
}

void gpnn_output_abandon(struct gpnn_output *output)
{
  if (output == NULL) return;
  if (output->file.temporary == NULL && output->fd >= 0) close(output->fd);
  gpnn_atomic_file_abandon(&output->file);
  free(output->memory);
  gpnn_npy_text_free(output->npy);
  free(output->name);
  free(output);
}
