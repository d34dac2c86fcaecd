#include "cotrain/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/sha256.h"

#define HEAD                                                                               \
  "# gpnn ledger 1.0\nrelease\tdate\tanswers\tmechanism\tsensitivity\ttau\tmu\tmu_total\t" \
  "epsilon\tdelta\tnoise\tcheck\n"

enum { FIELDS = 12, RELEASE = 0, MU = 6, MU_TOTAL = 7, NOISE = 10, CHECK = 11, LINE_BYTES = 400 };
#define COUNT "# releases "
enum { COUNT_LENGTH = sizeof COUNT - 1, COUNT_BYTES = 40 };
enum { HEAD_BYTES = sizeof HEAD - 1, CHECK_LENGTH = GPNN_LEDGER_CHECK_BYTES - 1 };

/* A budget is spent, and totals follow from each other, up to rounding. */
static const double slack = 1e-9;

struct ledger {
  const char *path;
  char shown[GPNN_MASK_BYTES];
  int fd;
  char *text;             /* owned; all of it, and a NUL */
  size_t length;          /* of all before the line that counts the releases */
  struct gpnn_sha256 sha; /* of these */
  struct gpnn_ledger_total total;
};

/* ---- reading -------------------------------------------------------------------------------- */

static enum gpnn_status open_ledger(struct ledger *l, const char *path, int flags, int lock,
                                    struct gpnn_error *err)
{
  struct stat info;
  *l = (struct ledger){.path = path, .fd = -1};
  gpnn_mask(l->shown, path, strlen(path));
  l->fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (l->fd < 0 && errno == ENOENT)
    return gpnn_fail(err, GPNN_EIO,
                     "there is no ledger %s: make one by --new-ledger, if nothing "
                     "was ever released about these responses",
                     l->shown);
  if (l->fd < 0) return gpnn_fail_errno(err, errno, "cannot open the ledger %s", l->shown);
  if (fstat(l->fd, &info) != 0)
    return gpnn_fail_errno(err, errno, "cannot read the ledger %s", l->shown);
  if (!S_ISREG(info.st_mode))
    return gpnn_fail(err, GPNN_EIO, "the ledger %s is not a regular file", l->shown);
  while (flock(l->fd, lock) != 0)
    if (errno != EINTR) return gpnn_fail_errno(err, errno, "cannot lock the ledger %s", l->shown);
  return GPNN_OK;
}

/* Closing ends the lock. */
static void close_ledger(struct ledger *l)
{
  if (l->fd >= 0) close(l->fd);
  free(l->text);
}

/* Reads all bytes; '*n' is how many. */
static enum gpnn_status read_bytes(struct ledger *l, size_t *n, struct gpnn_error *err)
{
  size_t capacity = 0;
  for (*n = 0;;) {
    if (!gpnn_grow(&l->text, &capacity, *n + 4096, 1)) return gpnn_fail_memory(err, "for a ledger");
    const ssize_t got = read(l->fd, l->text + *n, capacity - *n - 1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return gpnn_fail_errno(err, errno, "cannot read the ledger %s", l->shown);
    *n += (size_t)got;
    l->text[*n] = '\0';
    if (got == 0) return GPNN_OK;
  }
}

static enum gpnn_status fail_line(const struct ledger *l, size_t number, const char *what,
                                  struct gpnn_error *err)
{
  return gpnn_fail(err, GPNN_EFORMAT,
                   "%s:%zu: %s: the ledger was damaged or changed, and what has been released is "
                   "not known: see REPAIR in gpnn-ledger(5)",
                   l->shown, number + 2, what);
}

/* Writes the beginning of the checksum of all that was added. */
static void write_check(const struct gpnn_sha256 *sha, char check[GPNN_LEDGER_CHECK_BYTES])
{
  uint32_t value[8];
  gpnn_sha256_value(sha, value);
  snprintf(check, GPNN_LEDGER_CHECK_BYTES, "%08" PRIx32 "%08" PRIx32, value[0], value[1]);
}

/* Adds a line, and its end, to the checksum, and finds the one that the line should end with:
 * that of all before it in the file. */
static void add_to_check(struct ledger *l, const char *line, size_t length)
{
  gpnn_sha256_add(&l->sha, line, length - CHECK_LENGTH);
  write_check(&l->sha, l->total.check);
  gpnn_sha256_add(&l->sha, line + length - CHECK_LENGTH, CHECK_LENGTH + 1);
}

/* Reads the line of release 'number', from 1, and adds it to the total. */
static enum gpnn_status read_line(struct ledger *l, const char *line, size_t length, size_t number,
                                  struct gpnn_error *err)
{
  const char *field[FIELDS + 1] = {line};
  size_t n = 1;
  uint64_t release;
  double mu, total;
  for (size_t i = 0; i < length && n <= FIELDS; i++)
    if (line[i] == '\t') field[n++] = line + i + 1;
  if (n != FIELDS) return fail_line(l, number, "not the fields of a release", err);
  field[FIELDS] = line + length + 1;
#define WIDTH(f) ((size_t)(field[(f) + 1] - field[f]) - 1)
  if (!gpnn_number_read_u64(field[RELEASE], WIDTH(RELEASE), &release) || release != number)
    return fail_line(l, number, "releases are not numbered from 1 on", err);
  if (gpnn_number_read(field[MU], WIDTH(MU), &mu) != GPNN_NUMBER_OK || mu < 0 ||
      gpnn_number_read(field[MU_TOTAL], WIDTH(MU_TOTAL), &total) != GPNN_NUMBER_OK)
    return fail_line(l, number, "mu is not a number from 0 on", err);
  const double expected = hypot(l->total.mu, mu);
  if (!(fabs(total - expected) <= slack * expected))
    return fail_line(l, number, "mu_total does not follow from the lines before", err);
  if (WIDTH(CHECK) == CHECK_LENGTH) add_to_check(l, line, length);
  if (WIDTH(CHECK) != CHECK_LENGTH || memcmp(field[CHECK], l->total.check, CHECK_LENGTH) != 0)
    return fail_line(l, number, "check is not that of what stands before it", err);
  l->total.releases = number;
  l->total.insecure += WIDTH(NOISE) == 8 && memcmp(field[NOISE], "insecure", 8) == 0;
  l->total.mu = total;
#undef WIDTH
  return GPNN_OK;
}

/* Reads the line at the end of the file, which tells if releases were taken away before it. */
static enum gpnn_status read_count(const struct ledger *l, const char *line, size_t length,
                                   size_t left, size_t number, struct gpnn_error *err)
{
  uint64_t count;
  if (length < left) return fail_line(l, number, "something follows the count of releases", err);
  if (length < 1 + COUNT_LENGTH || memcmp(line, COUNT, COUNT_LENGTH) != 0 ||
      !gpnn_number_read_u64(line + COUNT_LENGTH, length - COUNT_LENGTH - 1, &count) ||
      count != l->total.releases)
    return fail_line(l, number, "does not count the releases before it", err);
  return GPNN_OK;
}

static enum gpnn_status read_lines(struct ledger *l, struct gpnn_error *err)
{
  size_t n = 0, number = 1;
  enum gpnn_status status = read_bytes(l, &n, err);
  if (status != GPNN_OK) return status;
  if (n < HEAD_BYTES && memcmp(l->text, HEAD, n) == 0)
    return gpnn_fail(err, GPNN_EFORMAT,
                     "%s: is empty or was cut short, and what has been released is not known: see "
                     "REPAIR in gpnn-ledger(5)",
                     l->shown);
  if (n < HEAD_BYTES || memcmp(l->text, HEAD, HEAD_BYTES) != 0)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: is not a ledger, or of another version", l->shown);
  gpnn_sha256_begin(&l->sha);
  gpnn_sha256_add(&l->sha, HEAD, HEAD_BYTES);
  for (l->length = HEAD_BYTES; l->length < n && status == GPNN_OK; number++) {
    const char *line = l->text + l->length;
    const char *end = memchr(line, '\n', n - l->length);
    if (end == NULL) return fail_line(l, number, "the last line has no end", err);
    if (line[0] == '#')
      return read_count(l, line, (size_t)(end - line) + 1, n - l->length, number, err);
    status = read_line(l, line, (size_t)(end - line), number, err);
    l->length += (size_t)(end - line) + 1;
  }
  return status != GPNN_OK ? status : fail_line(l, number, "the count of releases is missing", err);
}

enum gpnn_status gpnn_ledger_read(const char *path, struct gpnn_ledger_total *total,
                                  struct gpnn_error *err)
{
  struct ledger l;
  enum gpnn_status status = open_ledger(&l, path, O_RDONLY, LOCK_SH, err);
  if (status == GPNN_OK) status = read_lines(&l, err);
  if (status == GPNN_OK) *total = l.total;
  close_ledger(&l);
  return status;
}

/* ---- charging ------------------------------------------------------------------------------- */

static bool write_bytes(int fd, const char *bytes, size_t n)
{
  while (n > 0) {
    const ssize_t written = write(fd, bytes, n);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      if (written == 0) errno = ENOSPC;
      return false;
    }
    bytes += written;
    n -= (size_t)written;
  }
  return true;
}

static bool flush(int fd)
{
  while (fsync(fd) != 0)
    if (errno != EINTR) return false;
  return true;
}

/* A new file is on the disk only when its directory is. */
static bool flush_directory(const char *path)
{
  char *copy = gpnn_copy_text(path, strlen(path));
  const int fd = copy == NULL ? -1 : open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool done = fd >= 0 && (flush(fd) || errno == EINVAL); /* not all file systems can */
  const int saved = copy == NULL ? ENOMEM : errno;
  if (fd >= 0) close(fd);
  free(copy);
  errno = saved;
  return done;
}

/* Writes the line; its check goes into the total. */
static void write_line(struct ledger *l, const struct gpnn_ledger_line *line, char text[LINE_BYTES])
{
  const double values[] = {line->sensitivity, line->tau,     line->mu,
                           l->total.mu,       line->epsilon, line->delta};
  char date[32], number[6][GPNN_NUMBER_BYTES];
  struct timespec now = {0};
  struct tm at = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  gmtime_r(&now.tv_sec, &at);
  const size_t whole = strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &at);
  snprintf(date + whole, sizeof date - whole, ".%06ldZ", now.tv_nsec / 1000);
  for (size_t i = 0; i < 6; i++) gpnn_number_write(number[i], values[i]);
  const int length = snprintf(
      text, LINE_BYTES, "%zu\t%s\t%zu\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t", l->total.releases, date,
      line->answers, gpnn_mechanism_name(line->mechanism), number[0], number[1], number[2],
      number[3], number[4], number[5], line->is_insecure ? "insecure" : "secret");
  gpnn_sha256_add(&l->sha, text, (size_t)length);
  write_check(&l->sha, l->total.check);
  snprintf(text + length, (size_t)(LINE_BYTES - length), "%s\n", l->total.check);
}

static bool write_end(const struct ledger *l, const char *text)
{
  return lseek(l->fd, (off_t)l->length, SEEK_SET) >= 0 && write_bytes(l->fd, text, strlen(text));
}

/* Puts the line, and a new count, in the place of the count.  What does not reach the disk whole is
 * taken back, if that is possible; otherwise the ledger is damaged, and nobody will charge it. */
static enum gpnn_status append(struct ledger *l, const struct gpnn_ledger_line *line,
                               struct gpnn_error *err)
{
  char text[LINE_BYTES + COUNT_BYTES], before[COUNT_BYTES];
  write_line(l, line, text);
  snprintf(text + strlen(text), COUNT_BYTES, COUNT "%zu\n", l->total.releases);
  if (write_end(l, text) && flush(l->fd)) return GPNN_OK;
  const int errnum = errno;
  snprintf(before, sizeof before, COUNT "%zu\n", l->total.releases - 1);
  if (!write_end(l, before) || ftruncate(l->fd, (off_t)(l->length + strlen(before))) != 0)
    errno = errnum;
  return gpnn_fail_errno(err, errnum, "cannot write the ledger %s", l->shown);
}

static enum gpnn_status charge(struct ledger *l, const struct gpnn_ledger_line *line,
                               double most_mu, struct gpnn_error *err)
{
  const double total = hypot(l->total.mu, line->mu);
  if (!isfinite(line->mu) || line->mu < 0)
    return gpnn_fail(err, GPNN_EINVAL, "a release without noise cannot be charged");
  if (isfinite(most_mu) && (l->total.insecure > 0 || line->is_insecure))
    return gpnn_fail(
        err, GPNN_EDATA,
        "noise of a seed is not private, and no budget covers it: nothing was released");
  if (total > most_mu * (1 + slack))
    return gpnn_fail(
        err, GPNN_EDATA,
        "the budget is spent: %zu releases have mu = %.6g, this one has %.6g, together "
        "more than %.6g; nothing was released",
        l->total.releases, l->total.mu, line->mu, most_mu);
  l->total.releases++;
  l->total.insecure += line->is_insecure;
  l->total.mu = total;
  return append(l, line, err);
}

enum gpnn_status gpnn_ledger_charge(const char *path, const struct gpnn_ledger_line *line,
                                    double most_mu, struct gpnn_ledger_total *total,
                                    struct gpnn_error *err)
{
  struct ledger l;
  enum gpnn_status status = open_ledger(&l, path, O_RDWR, LOCK_EX, err);
  if (status == GPNN_OK) status = read_lines(&l, err);
  if (status == GPNN_OK) status = charge(&l, line, most_mu, err);
  if (status == GPNN_OK) *total = l.total;
  close_ledger(&l);
  return status;
}

/* ---- beginning ------------------------------------------------------------------------------ */

enum gpnn_status gpnn_ledger_new(const char *path, struct gpnn_error *err)
{
  static const char start[] = HEAD COUNT "0\n";
  char shown[GPNN_MASK_BYTES];
  gpnn_mask(shown, path, strlen(path));
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 && errno == EEXIST)
    return gpnn_fail(err, GPNN_EIO, "%s exists already: it is not replaced by a new ledger", shown);
  if (fd < 0) return gpnn_fail_errno(err, errno, "cannot make the ledger %s", shown);
  bool done = write_bytes(fd, start, sizeof start - 1) && flush(fd);
  done = done && flush_directory(path);
  const int errnum = errno;
  close(fd);
  if (done) return GPNN_OK;
  unlink(path);
  return gpnn_fail_errno(err, errnum, "cannot make the ledger %s", shown);
}
