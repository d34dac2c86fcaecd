#define _DEFAULT_SOURCE /* getentropy() */
#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif
#include <unistd.h>

#include "base/memory.h"
#include "base/number.h"

static void set_watch(const struct gpnn_atomic_file *file)
{
  if (file->watch != NULL) *file->watch = file->temporary;
}

static void empty(struct gpnn_atomic_file *file)
{
  if (file->watch != NULL) *file->watch = NULL; /* first: a signal may come at any moment */
  if (file->directory >= 0) close(file->directory);
  free(file->target);
  free(file->temporary);
  *file = (struct gpnn_atomic_file)GPNN_ATOMIC_FILE_INIT;
}

/* The length of the directory part of 'path', with its last slash; 0 if there is none. */
static size_t directory_length(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* The directory of 'path', to be freed by the caller; NULL if there is no memory. */
static char *directory_of(const char *path)
{
  size_t length = directory_length(path);
  return length == 0 ? gpnn_copy_text(".", 1) : gpnn_copy_text(path, length);
}

/* "dir/name" -> "dir/.name" GPNN_ATOMIC_FILE_SUFFIX */
static char *temporary_name(const char *target)
{
  static const char suffix[] = GPNN_ATOMIC_FILE_SUFFIX;
  size_t length = strlen(target), dir = directory_length(target);
  char *name = malloc(length + 1 + sizeof suffix);
  if (name == NULL) return NULL;
  /* File names are limited to 255 bytes, so that a long one has to be shortened. */
  int keep = length - dir > 200 ? 200 : (int)(length - dir);
  snprintf(name, length + 1 + sizeof suffix, "%.*s.%.*s%s", (int)dir, target, keep, target + dir,
           suffix);
  return name;
}

/* mkstemp() with a mode: tries random letters at the end of 'name' until no file has that name. */
static int create_unique(char *name, mode_t mode)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
  enum { LENGTH = 6, TRIES = 100 };
  char *end = name + strlen(name) - LENGTH;
  for (int tries = 0; tries < TRIES; tries++) {
    unsigned char chosen[LENGTH];
    if (getentropy(chosen, sizeof chosen) != 0) return -1;
    for (int i = 0; i < LENGTH; i++) end[i] = letters[chosen[i] % 32];
    int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd >= 0 || (errno != EEXIST && errno != EINTR)) return fd;
  }
  return -1;
}

static enum gpnn_status create_failed(const char *target, int errnum, struct gpnn_error *err)
{
  return gpnn_fail_errno(err, errnum, "%s: cannot be created", target);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* What the symbolic link 'link' points to, resolved against its own directory but no further; to be
 * freed by the caller.  NULL: unknown. */
static char *next_link(const char *link)
{
  enum { ROOM = 4096 };
  size_t dir = directory_length(link);
  char *next = malloc(dir + ROOM);
  if (next == NULL) return NULL;
  ssize_t length = readlink(link, next + dir, ROOM);
  if (length <= 0 || length == ROOM) {
    free(next);
    return NULL;
  }
  next[dir + (size_t)length] = '\0';
  if (next[dir] == '/')
    memmove(next, next + dir, (size_t)length + 1);
  else
    memcpy(next, link, dir);
  return next;
}

/* Our own descriptor that the link 'link' in /proc represents, or -1. */
static int descriptor_of(const char *link)
{
  struct stat named, held;
  uint64_t number;
  const char *digits = link + directory_length(link);
  bool is_ours = gpnn_number_read_u64(digits, strlen(digits), &number) && number <= INT_MAX &&
                 stat(link, &named) == 0 && fstat((int)number, &held) == 0 &&
                 is_same(&named, &held);
  return is_ours ? (int)number : -1;
}

bool gpnn_atomic_file_is_open(const char *path, int *fd)
{
  enum { MOST_LINKS = 40 };
  struct stat links, st;
  if (stat("/proc/self/fd", &links) != 0) return false;
  char *at = gpnn_copy_text(path, strlen(path));
  bool is_open = false;
  for (int i = 0; i < MOST_LINKS && at != NULL; i++) {
    if (lstat(at, &st) != 0 || !S_ISLNK(st.st_mode)) break;
    is_open = st.st_dev == links.st_dev;
    if (is_open) {
      *fd = descriptor_of(at);
      break;
    }
    char *next = next_link(at);
    free(at);
    at = next;
  }
  free(at);
  return is_open;
}

/*
 * The path that a symbolic link leads to, to be freed by the caller, and the file's state in 'st'.
 * In directories that everyone may write to, the system may refuse to follow a link though it lets
 * us read it.  So we insist that stat(), which obeys that protection, arrives at the very file that
 * realpath() found; otherwise somebody may be changing the link under us.  NULL, and errno is set:
 * it leads to nothing, or may not be followed.
 */
static char *follow(const char *link, struct stat *st)
{
  enum { TRIES = 10 }; /* as the file may be replaced between the two calls */
  for (int tries = 0; tries < TRIES; tries++) {
    struct stat named;
    char *resolved = realpath(link, NULL);
    if (resolved == NULL) return NULL;
    int failed = stat(link, st) == 0 && lstat(resolved, &named) == 0 ? 0 : errno;
    if (failed == 0 && is_same(st, &named)) return resolved;
    free(resolved);
    errno = failed == 0 ? ELOOP : failed;
    if (failed != 0 && failed != ENOENT) return NULL;
  }
  return NULL;
}

/* Sets target and 'replaces', and 'st' if there is a file to replace. */
static enum gpnn_status locate(struct gpnn_atomic_file *file, const char *target, struct stat *st,
                               struct gpnn_error *err)
{
  int fd;
  if (gpnn_atomic_file_is_open(target, &fd))
    return gpnn_fail(err, GPNN_EIO, "%s: is an open stream, not a name for a file", target);
  file->replaces = lstat(target, st) == 0;
  /* If we may not look, there may be something that must not be replaced. */
  if (!file->replaces && errno != ENOENT) return create_failed(target, errno, err);
  bool is_link = file->replaces && S_ISLNK(st->st_mode);
  file->target = is_link ? follow(target, st) : gpnn_copy_text(target, strlen(target));
  if (file->target == NULL && is_link && errno == ENOENT)
    return gpnn_fail(err, GPNN_EIO, "%s: is a symbolic link that leads nowhere", target);
  if (file->target == NULL) return create_failed(target, errno, err);
  if (file->replaces && !S_ISREG(st->st_mode))
    return gpnn_fail(err, GPNN_EIO, "%s: is %s, not a regular file", target,
                     S_ISDIR(st->st_mode) ? "a directory" : "a device or pipe");
  return GPNN_OK;
}

enum gpnn_status gpnn_atomic_file_create(struct gpnn_atomic_file *file, const char *target,
                                         struct gpnn_error *err)
{
  const mode_t ours = S_IRUSR | S_IWUSR, all = 0666; /* less the umask */
  struct stat st = {0};
  enum gpnn_status status = locate(file, target, &st, err);
  if (status == GPNN_OK) {
    file->mode = st.st_mode & 0777;
    file->owner = st.st_uid;
    file->group = st.st_gid;
    file->temporary = temporary_name(file->target);
    if (file->temporary == NULL) status = create_failed(target, errno, err);
  }
  if (status == GPNN_OK) {
    set_watch(file); /* before the file exists; the name is completed in place */
    file->fd = create_unique(file->temporary, file->replaces ? ours : all);
    if (file->fd < 0) status = create_failed(target, errno, err);
  }
  if (status != GPNN_OK) empty(file);
  return status;
}

/* Gives the new file the access control list of the old one, or removes what it inherited from its
 * directory if the old one had none.  False if the system refuses. */
static bool copy_access_list(const struct gpnn_atomic_file *file)
{
#ifdef __linux__
  static const char name[] = "system.posix_acl_access";
  char list[4096];
  ssize_t n = lgetxattr(file->target, name, list, sizeof list);
  bool is_readable = n >= 0 || errno == ENODATA || errno == ENOTSUP;
  if (n > 0) return fsetxattr(file->fd, name, list, (size_t)n, 0) == 0;
  return (fremovexattr(file->fd, name) == 0 || errno == ENODATA || errno == ENOTSUP) && is_readable;
#else
  (void)file;
  return true;
#endif
}

/* Gives the new file the owner, group, list and mode of the old one.  If the group or the list
 * cannot be kept, the group gets what others have; as these bits also mask the entries of an access
 * control list, no entry then grants more.  False, and errno is set: the mode cannot be set. */
static bool copy_permissions(const struct gpnn_atomic_file *file)
{
  mode_t mode = file->mode, others = mode & S_IRWXO;
  bool is_kept = (fchown(file->fd, file->owner, file->group) == 0 ||
                  fchown(file->fd, (uid_t)-1, file->group) == 0) &&
                 copy_access_list(file);
  if (!is_kept) mode = (mode & ~(mode_t)S_IRWXG) | (others << 3 & mode);
  return fchmod(file->fd, mode) == 0;
}

/* Flushes a file or directory to disk; returns 0 or an error number.  File systems that cannot do
 * it answer EINVAL or EROFS, and there is nothing more that we could do. */
static int sync_descriptor(int fd)
{
  int failed;
  do failed = fsync(fd) == 0 ? 0 : errno;
  while (failed == EINTR);
  return failed == EINVAL || failed == EROFS ? 0 : failed;
}

static enum gpnn_status write_failed(const struct gpnn_atomic_file *file, int errnum,
                                     struct gpnn_error *err)
{
  return gpnn_fail_errno(err, errnum, "%s: cannot be written", file->target);
}

enum gpnn_status gpnn_atomic_file_sync(const struct gpnn_atomic_file *file, struct gpnn_error *err)
{
  int failed = sync_descriptor(file->fd);
  return failed == 0 ? GPNN_OK : write_failed(file, failed, err);
}

/* Opens the directory of 'path' in order to flush it.  Returns 0 or an error number; '*fd' is -1,
 * without an error, if we may write to the directory but not read it. */
static int open_directory(const char *path, int *fd)
{
  char *dir = directory_of(path);
  if (dir == NULL) return ENOMEM;
  do *fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (*fd < 0 && errno == EINTR);
  int failed = *fd >= 0 || errno == EACCES ? 0 : errno;
  free(dir);
  return failed;
}

enum gpnn_status gpnn_atomic_file_prepare(struct gpnn_atomic_file *file, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (file->replaces && !copy_permissions(file)) status = write_failed(file, errno, err);
  if (status == GPNN_OK) status = gpnn_atomic_file_sync(file, err);
  close(file->fd); /* all is on disk, so a failure does not matter */
  file->fd = -1;
  if (status != GPNN_OK) return status;
  int failed = open_directory(file->target, &file->directory);
  file->is_prepared = failed == 0;
  return failed == 0 ? GPNN_OK : write_failed(file, failed, err);
}

enum gpnn_status gpnn_atomic_file_commit(struct gpnn_atomic_file *file, struct gpnn_error *err)
{
  enum gpnn_status status = file->is_prepared ? GPNN_OK : gpnn_atomic_file_prepare(file, err);
  if (status == GPNN_OK && rename(file->temporary, file->target) != 0)
    status = write_failed(file, errno, err);
  if (status != GPNN_OK) {
    gpnn_atomic_file_abandon(file);
    return status;
  }
  /* The new name is durable once the directory is on disk. */
  int failed = file->directory < 0 ? 0 : sync_descriptor(file->directory);
  if (failed != 0) status = gpnn_fail_errno(err, failed, "%s: its directory", file->target);
  empty(file);
  return status;
}

void gpnn_atomic_file_abandon(struct gpnn_atomic_file *file)
{
  if (file->temporary == NULL) return;
  if (file->fd >= 0) close(file->fd);
  unlink(file->temporary);
  empty(file);
}

/* The file name in 'path', after following a symbolic link, and the state of its directory. */
static bool locate_name(const char *path, char **name, struct stat *directory)
{
  struct stat st;
  bool is_link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
  char *resolved = is_link ? realpath(path, NULL) : gpnn_copy_text(path, strlen(path));
  char *dir = resolved == NULL ? NULL : directory_of(resolved);
  bool found = dir != NULL && stat(dir, directory) == 0;
  if (found) {
    const char *last = resolved + directory_length(resolved);
    *name = gpnn_copy_text(last, strlen(last));
  }
  free(dir);
  free(resolved);
  return found && *name != NULL;
}

bool gpnn_atomic_file_same(const char *a, const char *b)
{
  struct stat a_directory, b_directory;
  char *a_name = NULL, *b_name = NULL;
  bool same = locate_name(a, &a_name, &a_directory) && locate_name(b, &b_name, &b_directory) &&
              is_same(&a_directory, &b_directory) && strcmp(a_name, b_name) == 0;
  free(a_name);
  free(b_name);
  return same;
}
