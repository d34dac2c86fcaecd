/*
 * Input, and what it shares with output (stream_output.c).
 */
#include "table/stream.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "base/memory.h"
#include "table/table_private.h"

enum { INPUT_BYTES = 256 * 1024 };

/* zlib's own gzread() would do most of this, but it waits until its buffer is full, loses data when
 * a signal interrupts a read, and ignores junk after the compressed data. */

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
  bool has_end;   /* reading ends after so many bytes */
  size_t n_ahead; /* plain: bytes in 'buffer', read while looking for gzip's magic bytes */
  z_stream z;     /* next_in and avail_in walk through 'buffer' */
  unsigned char buffer[INPUT_BYTES];
};

char *gpnn_stream_name(const char *path, const char *standard)
{
  const char *name = strcmp(path, "-") == 0 ? standard : path;
  return gpnn_copy_text(name, strlen(name));
}

int gpnn_stream_open(const char *path, int flags)
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
  char *name = gpnn_stream_name(path, "(stdin)");
  if (new == NULL || name == NULL) {
    free(new);
    free(name);
    return gpnn_fail_memory(err, "to open a file");
  }
  new->name = name;
  /* Every stream has its own descriptor, which it closes. */
  new->fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                   : gpnn_stream_open(path, O_RDONLY);
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
  } else if (input->has_end && input->n_read == input->size) {
    return GPNN_END;
  } else if (!input->at_end) {
    size_t left = (size_t)(input->size - input->n_read);
    if (input->has_end && left < capacity) capacity = left;
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

bool gpnn_input_tell(const struct gpnn_input *input, uint64_t *at, uint64_t *size)
{
  struct stat st;
  if (input->is_gzip || input->size == 0 || fstat(input->fd, &st) != 0) return false;
  off_t next = lseek(input->fd, 0, SEEK_CUR);
  if (next < (off_t)input->n_ahead || st.st_size < next) return false;
  *at = (uint64_t)next - input->n_ahead;
  *size = (uint64_t)st.st_size;
  return true;
}

enum gpnn_status gpnn_input_seek(struct gpnn_input *input, uint64_t from, uint64_t end,
                                 struct gpnn_error *err)
{
  if (lseek(input->fd, (off_t)from, SEEK_SET) < 0)
    return gpnn_fail_errno(err, errno, "%s: cannot be read", input->name);
  input->n_ahead = 0;
  input->n_read = 0;
  input->size = (off_t)(end - from);
  input->has_end = true;
  input->at_end = false;
  return GPNN_OK;
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
