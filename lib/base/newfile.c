#include "base/newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static void empty(struct gpnn_newfile *file)
{
  free(file->target);
  free(file->temporary);
  *file = (struct gpnn_newfile)GPNN_NEWFILE_INIT;
}

/* Length of the directory part of 'path', its last slash included; 0 if it has none. */
static size_t directory_length(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* "dir/name" -> "dir/.name.XXXXXX" */
static char *temporary_name(const char *target)
{
  static const char suffix[] = ".XXXXXX";
  size_t length = strlen(target), dir = directory_length(target);
  char *name = malloc(length + 1 + sizeof suffix);
  if (name == NULL) return NULL;
  /* A name of 255 bytes leaves no room for more, so the temporary one keeps less of it. */
  int keep = length - dir > 200 ? 200 : (int)(length - dir);
  snprintf(name, length + 1 + sizeof suffix, "%.*s.%.*s%s", (int)dir, target, keep, target + dir,
           suffix);
  return name;
}

static mode_t new_file_mode(void)
{
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

static bool is_link(const char *path)
{
  struct stat st;
  return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* Where the file is to be: 'target', or what it leads to as a symbolic link.  NULL and errno: there
 * is no memory, or no name for that place. */
static char *resolve(const char *target)
{
  return is_link(target) ? realpath(target, NULL) : gpnn_copy_text(target, strlen(target));
}

static enum gpnn_status create_failed(struct gpnn_newfile *file, const char *target, int errnum,
                                      struct gpnn_error *err)
{
  if (file->fd >= 0)
    gpnn_newfile_abandon(file);
  else
    empty(file);
  return gpnn_fail_errno(err, errnum, "%s: cannot be created", target);
}

enum gpnn_status gpnn_newfile_create(struct gpnn_newfile *file, const char *target,
                                     struct gpnn_error *err)
{
  struct stat st;
  bool exists = stat(target, &st) == 0;
  if (exists && !S_ISREG(st.st_mode))
    return gpnn_fail(err, GPNN_EIO, "%s: is %s, not a regular file", target,
                     S_ISDIR(st.st_mode) ? "a directory" : "a device or pipe");
  if (!exists && errno == ENOENT && is_link(target))
    return gpnn_fail(err, GPNN_EIO, "%s: is a symbolic link that leads nowhere", target);
  file->target = resolve(target);
  file->temporary = file->target == NULL ? NULL : temporary_name(file->target);
  if (file->temporary == NULL) return create_failed(file, target, errno, err);
  file->fd = mkstemp(file->temporary);
  mode_t mode = exists ? st.st_mode & 0777 : new_file_mode();
  if (file->fd < 0 || fcntl(file->fd, F_SETFD, FD_CLOEXEC) != 0 || fchmod(file->fd, mode) != 0)
    return create_failed(file, target, errno, err);
  return GPNN_OK;
}

/* A rename is durable once its directory is on disk; systems that cannot sync a directory
 * say EINVAL, and then there is nothing more to do. */
static int sync_directory(const char *path)
{
  size_t length = directory_length(path);
  char *dir = length == 0 ? gpnn_copy_text(".", 1) : gpnn_copy_text(path, length);
  if (dir == NULL) return ENOMEM;
  int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  free(dir);
  if (fd < 0) return errno == EACCES ? 0 : errno;
  int failed = fsync(fd) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
  close(fd);
  return failed;
}

enum gpnn_status gpnn_newfile_commit(struct gpnn_newfile *file, struct gpnn_error *err)
{
  int failed = 0;
  if (fsync(file->fd) != 0 && errno != EINVAL) failed = errno;
  if (close(file->fd) != 0 && failed == 0) failed = errno;
  file->fd = -1;
  if (failed == 0 && rename(file->temporary, file->target) != 0) failed = errno;
  if (failed != 0) {
    enum gpnn_status status = gpnn_fail_errno(err, failed, "%s: cannot be written", file->target);
    gpnn_newfile_abandon(file);
    return status;
  }
  failed = sync_directory(file->target);
  enum gpnn_status status =
      failed == 0 ? GPNN_OK : gpnn_fail_errno(err, failed, "%s: its directory", file->target);
  empty(file);
  return status;
}

void gpnn_newfile_abandon(struct gpnn_newfile *file)
{
  if (file->temporary == NULL) return;
  if (file->fd >= 0) close(file->fd);
  unlink(file->temporary);
  empty(file);
}
