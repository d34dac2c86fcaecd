#include "base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/memory.h"

static enum gpnn_status write_failed(const struct gpnn_spool *spool, int errnum,
                                     struct gpnn_error *err)
{
  return gpnn_fail_errno(err, errnum, "%s: cannot be written", spool->beside);
}

enum gpnn_status gpnn_spool_create(struct gpnn_spool *spool, const char *beside,
                                   const char *volatile *watch, struct gpnn_error *err)
{
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  file.watch = watch;
  enum gpnn_status status = gpnn_atomic_file_create(&file, beside, err);
  if (status != GPNN_OK) return status;
  struct gpnn_spool made = {.beside = gpnn_copy_text(beside, strlen(beside))};
  made.fd = fcntl(file.fd, F_DUPFD_CLOEXEC, 0);
  int errnum = errno;
  gpnn_atomic_file_abandon(&file); /* removes the name; our descriptor keeps the file */
  if (made.beside == NULL)
    status = gpnn_fail_memory(err, "for a file name");
  else if (made.fd < 0)
    status = write_failed(&made, errnum, err);
  if (status == GPNN_OK)
    *spool = made;
  else
    gpnn_spool_release(&made);
  return status;
}

/* Raises the length to 'end', in whichever order threads write. */
static void extend(struct gpnn_spool *spool, size_t end)
{
  size_t n = __atomic_load_n(&spool->n, __ATOMIC_RELAXED);
  while (n < end && !__atomic_compare_exchange_n(&spool->n, &n, end, true, __ATOMIC_RELAXED,
                                                 __ATOMIC_RELAXED)) {
  }
}

enum gpnn_status gpnn_spool_write(struct gpnn_spool *spool, size_t at, size_t n,
                                  const double *numbers, struct gpnn_error *err)
{
  const size_t most = PTRDIFF_MAX / sizeof *numbers; /* as more could not be mapped */
  if (at > most || n > most - at) return write_failed(spool, EFBIG, err);
  const char *bytes = (const char *)numbers;
  size_t left = n * sizeof *numbers;
  off_t to = (off_t)(at * sizeof *numbers);
  while (left > 0) {
    ssize_t put = pwrite(spool->fd, bytes, left, to);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return write_failed(spool, put < 0 ? errno : EIO, err);
    bytes += put;
    to += put;
    left -= (size_t)put;
  }
  extend(spool, at + n);
  return GPNN_OK;
}

enum gpnn_status gpnn_spool_map(struct gpnn_spool *spool, struct gpnn_error *err)
{
  struct gpnn_mapping mapping;
  if (!gpnn_mapping_open(&mapping, spool->fd, spool->n * sizeof *spool->numbers))
    return gpnn_fail_errno(err, errno, "%s: cannot map a temporary file beside it", spool->beside);
  struct gpnn_mapping before = gpnn_spool_mapping(spool);
  gpnn_mapping_close(&before);
  spool->numbers = mapping.start;
  spool->n_mapped = spool->n;
  return GPNN_OK;
}

struct gpnn_mapping gpnn_spool_mapping(const struct gpnn_spool *spool)
{
  return (struct gpnn_mapping){spool->numbers, spool->n_mapped * sizeof *spool->numbers};
}

void gpnn_spool_release(struct gpnn_spool *spool)
{
  struct gpnn_mapping mapping = gpnn_spool_mapping(spool);
  gpnn_mapping_close(&mapping);
  if (spool->fd >= 0) close(spool->fd);
  free(spool->beside);
  *spool = (struct gpnn_spool)GPNN_SPOOL_INIT;
}
