#include "cmd/index/reread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/memory.h"

static bool is_standard_input(const char *path)
{
  return strcmp(path, "-") == 0;
}

/* read(), started again when a signal interrupts it. */
static ssize_t read_bytes(int fd, char *bytes, size_t capacity)
{
  ssize_t n;
  do n = read(fd, bytes, capacity);
  while (n < 0 && errno == EINTR);
  return n;
}

/* write() until all is written; false with errno set. */
static bool write_bytes(int fd, const char *bytes, size_t length)
{
  while (length > 0) {
    ssize_t n = write(fd, bytes, length);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes += n;
    length -= (size_t)n;
  }
  return true;
}

static enum gpnn_status copy(int from, int to, const char *name, const char *beside,
                             struct gpnn_error *err)
{
  enum { PIECE = 64 * 1024 };
  char *bytes = gpnn_alloc(PIECE, 1, 1); /* stacks may be small */
  enum gpnn_status status = bytes == NULL ? gpnn_fail_memory(err, "for a table") : GPNN_OK;
  for (ssize_t n = 1; status == GPNN_OK && n > 0;) {
    n = read_bytes(from, bytes, PIECE);
    if (n < 0)
      status = gpnn_fail_errno(err, errno, "%s: cannot be read", name);
    else if (!write_bytes(to, bytes, (size_t)n))
      status = gpnn_fail_errno(err, errno, "%s: cannot write a temporary file beside it", beside);
  }
  free(bytes);
  return status;
}

/* Copies 'from' to an unnamed file, which becomes standard input. */
static enum gpnn_status replace_input(int from, const char *name, const char *beside,
                                      const char *volatile *watch, struct gpnn_error *err)
{
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  file.watch = watch;
  enum gpnn_status status = gpnn_atomic_file_create(&file, beside, err);
  if (status != GPNN_OK) return status;
  int to = fcntl(file.fd, F_DUPFD_CLOEXEC, 0);
  int errnum = errno;
  gpnn_atomic_file_abandon(&file); /* removes the name; our descriptor keeps the file */
  if (to < 0) return gpnn_fail_errno(err, errnum, "%s: cannot write beside it", beside);
  status = copy(from, to, name, beside, err);
  if (status == GPNN_OK && (lseek(to, 0, SEEK_SET) != 0 || dup2(to, STDIN_FILENO) < 0))
    status = gpnn_fail_errno(err, errno, "%s: cannot be read again", name);
  close(to);
  return status;
}

enum gpnn_status reread_begin(struct reread *reread, const char *asked, const char *beside,
                              const char *volatile *watch, struct gpnn_error *err)
{
  struct stat st;
  bool is_input = is_standard_input(asked);
  int found = is_input ? fstat(STDIN_FILENO, &st) : stat(asked, &st);
  *reread = (struct reread){asked, 0};
  /* Whatever is wrong with the table, opening it will say. */
  if (found != 0 || S_ISDIR(st.st_mode)) return GPNN_OK;
  if (S_ISREG(st.st_mode)) {
    if (is_input) reread->start = lseek(STDIN_FILENO, 0, SEEK_CUR);
    return GPNN_OK;
  }
  int from = is_input ? STDIN_FILENO : open(asked, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (from < 0) return GPNN_OK;
  enum gpnn_status status = replace_input(from, is_input ? "(stdin)" : asked, beside, watch, err);
  if (!is_input) close(from);
  reread->path = "-";
  return status;
}

enum gpnn_status reread_again(const struct reread *reread, struct gpnn_error *err)
{
  if (!is_standard_input(reread->path) || lseek(STDIN_FILENO, reread->start, SEEK_SET) >= 0)
    return GPNN_OK;
  return gpnn_fail_errno(err, errno, "(stdin): cannot be read again");
}
