#include "table/stream.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "base/number.h"
#include "table/npy_text.h"

enum { INPUT_BYTES = 256 * 1024, OUTPUT_BYTES = 64 * 1024, PRINTF_BYTES = 1024 };

/* ---- input -------------------------------------------------------------------------------
 * zlib's own gzread() would do most of this, but it waits until its buffer is full, loses data when
 * a signal interrupts a read, and ignores junk after the compressed data.
 */

struct gpnn_input {
  int fd;
  bool is_interruptible;
  int interrupt[2]; /* a pipe that stays empty until reading is to be interrupted */
  char *name;
  bool is_gzip;
  bool is_open;   /* inside a gzip member */
  bool at_end;    /* the system has no more bytes */
  off_t n_read;   /* bytes from the system so far */
  off_t size;     /* of the file, from where reading began; 0: not known */
  size_t n_ahead; /* plain: bytes in 'buffer', read while looking for gzip's magic bytes */
  z_stream z;     /* next_in and avail_in walk through 'buffer' */
  unsigned char buffer[INPUT_BYTES];
};

/* A copy of what messages call 'path': 'standard' if it is "-". */
static char *name_of(const char *path, const char *standard)
{
  const char *name = strcmp(path, "-") == 0 ? standard : path;
  return gpnn_copy_text(name, strlen(name));
}

static int open_path(const char *path, int flags)
{
  int fd;
  do fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
  while (fd < 0 && errno == EINTR);
  return fd;
}

/* Waits until read() would return at once, or reading is interrupted. */
static enum gpnn_status wait_for_bytes(const struct gpnn_input *input, struct gpnn_error *err)
{
  struct pollfd waits[] = {{.fd = input->fd, .events = POLLIN},
                           {.fd = input->interrupt[0], .events = POLLIN}};
  int n;
  do n = poll(waits, 2, -1);
  while (n < 0 && errno == EINTR);
  if (n < 0) return gpnn_fail_errno(err, errno, "%s: cannot be read", input->name);
  if (waits[1].revents == 0) return GPNN_OK;
  return gpnn_fail(err, GPNN_EIO, "%s: reading was interrupted", input->name);
}

/* read(), started again when a signal interrupts it. */
static enum gpnn_status read_bytes(struct gpnn_input *input, void *bytes, size_t capacity,
                                   size_t *got, struct gpnn_error *err)
{
  enum gpnn_status status = input->is_interruptible ? wait_for_bytes(input, err) : GPNN_OK;
  if (status != GPNN_OK) return status;
  ssize_t n;
  do n = read(input->fd, bytes, capacity);
  while (n < 0 && errno == EINTR);
  if (n < 0) return gpnn_fail_errno(err, errno, "%s: cannot be read", input->name);
  input->at_end = n == 0;
  input->n_read += n;
  *got = (size_t)n;
  return GPNN_OK;
}

/* Reads the first two bytes, or as many as there are, and prepares to inflate if they are gzip's.
 */
static enum gpnn_status detect_gzip(struct gpnn_input *input, struct gpnn_error *err)
{
  while (input->n_ahead < 2 && !input->at_end) {
    size_t got;
    enum gpnn_status status = read_bytes(input, input->buffer + input->n_ahead,
                                         sizeof input->buffer - input->n_ahead, &got, err);
    if (status != GPNN_OK) return status;
    input->n_ahead += got;
  }
  input->z.next_in = input->buffer;
  if (input->n_ahead < 2 || input->buffer[0] != 0x1f || input->buffer[1] != 0x8b) return GPNN_OK;
  enum { GZIP_ONLY = 16 };
  if (inflateInit2(&input->z, MAX_WBITS + GZIP_ONLY) != Z_OK)
    return gpnn_fail_memory(err, "to read gzip data");
  input->is_gzip = true;
  input->z.avail_in = (uInt)input->n_ahead;
  input->n_ahead = 0;
  return GPNN_OK;
}

/* The bytes of a regular file that are still to be read; 0 of any other. */
static off_t size_left(int fd, const struct stat *st)
{
  off_t at = S_ISREG(st->st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
  return at >= 0 && at < st->st_size ? st->st_size - at : 0;
}

enum gpnn_status gpnn_input_open(struct gpnn_input **input, const char *path,
                                 struct gpnn_error *err)
{
  struct gpnn_input *new = calloc(1, sizeof *new);
  char *name = name_of(path, "(stdin)");
  if (new == NULL || name == NULL) {
    free(new);
    free(name);
    return gpnn_fail_memory(err, "to open a file");
  }
  new->name = name;
  /* Every stream has its own descriptor, which it closes. */
  new->fd =
      strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open_path(path, O_RDONLY);
  struct stat st;
  enum gpnn_status status;
  if (new->fd < 0 || fstat(new->fd, &st) != 0)
    status = gpnn_fail_errno(err, errno, "%s: cannot be opened", name);
  else if (S_ISDIR(st.st_mode))
    status = gpnn_fail(err, GPNN_EIO, "%s: is a directory", name);
  else {
    new->size = size_left(new->fd, &st);
    status = detect_gzip(new, err);
  }
  if (status != GPNN_OK)
    gpnn_input_close(new);
  else
    *input = new;
  return status;
}

static enum gpnn_status read_plain(struct gpnn_input *input, void *bytes, size_t capacity,
                                   size_t *got, struct gpnn_error *err)
{
  size_t n = 0;
  if (input->n_ahead > 0) {
    n = input->n_ahead < capacity ? input->n_ahead : capacity;
    memcpy(bytes, input->z.next_in, n);
    input->z.next_in += n;
    input->n_ahead -= n;
  } else if (!input->at_end) {
    enum gpnn_status status = read_bytes(input, bytes, capacity, &n, err);
    if (status != GPNN_OK) return status;
  }
  if (n == 0) return GPNN_END;
  *got = n;
  return GPNN_OK;
}

/* Makes sure that there are compressed bytes to inflate, unless the file is at its end. */
static enum gpnn_status fill(struct gpnn_input *input, struct gpnn_error *err)
{
  if (input->z.avail_in > 0 || input->at_end) return GPNN_OK;
  size_t got = 0;
  enum gpnn_status status = read_bytes(input, input->buffer, sizeof input->buffer, &got, err);
  if (status != GPNN_OK) return status;
  input->z.next_in = input->buffer;
  input->z.avail_in = (uInt)got;
  return GPNN_OK;
}

/* Between members: zeros may pad the end (as on tapes); anything else begins the next member. */
static enum gpnn_status next_member(struct gpnn_input *input, struct gpnn_error *err)
{
  for (;;) {
    enum gpnn_status status = fill(input, err);
    if (status != GPNN_OK) return status;
    if (input->z.avail_in == 0) return GPNN_END;
    if (*input->z.next_in != 0) break;
    input->z.next_in++;
    input->z.avail_in--;
  }
  inflateReset(&input->z);
  input->is_open = true;
  return GPNN_OK;
}

static enum gpnn_status read_gzip(struct gpnn_input *input, void *bytes, size_t capacity,
                                  size_t *got, struct gpnn_error *err)
{
  enum { MOST = 1 << 30 }; /* zlib counts in unsigned int */
  uInt wanted = capacity < MOST ? (uInt)capacity : MOST;
  input->z.next_out = bytes;
  input->z.avail_out = wanted;
  while (input->z.avail_out == wanted) {
    enum gpnn_status status = input->is_open ? fill(input, err) : next_member(input, err);
    if (status != GPNN_OK) return status;
    if (input->z.avail_in == 0)
      return gpnn_fail(err, GPNN_EFORMAT, "%s: the gzip data are truncated", input->name);
    int result = inflate(&input->z, Z_NO_FLUSH);
    if (result == Z_STREAM_END)
      input->is_open = false;
    else if (result == Z_MEM_ERROR)
      return gpnn_fail_memory(err, "to read gzip data");
    else if (result != Z_OK && result != Z_BUF_ERROR)
      return gpnn_fail(err, GPNN_EFORMAT, "%s: the gzip data are corrupt: %s", input->name,
                       input->z.msg == NULL ? "unknown method" : input->z.msg);
  }
  *got = wanted - input->z.avail_out;
  return GPNN_OK;
}

enum gpnn_status gpnn_input_read(struct gpnn_input *input, void *bytes, size_t capacity,
                                 size_t *got, struct gpnn_error *err)
{
  assert(capacity > 0);
  return input->is_gzip ? read_gzip(input, bytes, capacity, got, err)
                        : read_plain(input, bytes, capacity, got, err);
}

enum gpnn_status gpnn_input_allow_interrupt(struct gpnn_input *input, struct gpnn_error *err)
{
  if (input->is_interruptible) return GPNN_OK;
  if (pipe(input->interrupt) != 0)
    return gpnn_fail_errno(err, errno, "%s: cannot be read", input->name);
  for (int i = 0; i < 2; i++) fcntl(input->interrupt[i], F_SETFD, FD_CLOEXEC);
  input->is_interruptible = true;
  return GPNN_OK;
}

void gpnn_input_interrupt(const struct gpnn_input *input)
{
  assert(input->is_interruptible);
  ssize_t n;
  do n = write(input->interrupt[1], "", 1); /* nobody reads it, so the pipe stays readable */
  while (n < 0 && errno == EINTR);
}

double gpnn_input_share(const struct gpnn_input *input)
{
  size_t ahead = input->is_gzip ? input->z.avail_in : input->n_ahead;
  if (input->size == 0) return NAN;
  return fmin(1, (double)(input->n_read - (off_t)ahead) / (double)input->size);
}

const char *gpnn_input_name(const struct gpnn_input *input)
{
  return input->name;
}

void gpnn_input_close(struct gpnn_input *input)
{
  if (input == NULL) return;
  if (input->is_gzip) inflateEnd(&input->z);
  if (input->fd >= 0) close(input->fd);
  for (int i = 0; i < 2 && input->is_interruptible; i++) close(input->interrupt[i]);
  free(input->name);
  free(input);
}

/* ---- output ------------------------------------------------------------------------------ */

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
                 : open_path(path, is_open ? O_WRONLY | O_APPEND : O_WRONLY);
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
  char *name = name_of(path, "(stdout)");
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
