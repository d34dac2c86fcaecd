#include "base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic_file.h"

/* Not ".gpnn-" alone: a user may well have a directory ".gpnn-models", which must not be swept. */
#define PREFIX ".gpnn-tmp-"

/* "DIRECTORY/NAME", or NULL. */
static char *join(const char *directory, const char *name)
{
  size_t length = strlen(directory) + strlen(name) + 2;
  char *path = malloc(length);
  if (path != NULL) snprintf(path, length, "%s/%s", directory, name);
  return path;
}

/* Locks a directory as long as 'scratch' has it.  False: it has been swept away just before. */
static bool lock(struct gpnn_scratch *scratch, const char *path)
{
  struct stat locked, named;
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (fd < 0) return errno != ENOENT;
  while (flock(fd, LOCK_EX) != 0 && errno == EINTR) {
  }
  scratch->lock = 1 + fd;
  if (fstat(fd, &locked) == 0 && stat(path, &named) == 0 && locked.st_ino == named.st_ino)
    return true;
  close(fd);
  scratch->lock = 0;
  return false;
}

enum gpnn_status gpnn_scratch_create(struct gpnn_scratch *scratch, const char *parent,
                                     struct gpnn_error *err)
{
  static const char pattern[] = PREFIX "XXXXXX";
  char *path = join(parent, pattern);
  if (path == NULL) return gpnn_fail_memory(err, "for the name of a directory");
  char *name = path + strlen(path) - strlen(pattern);
  if (scratch->watch != NULL) *scratch->watch = path; /* mkdtemp() completes the name in place */
  while (mkdtemp(path) != NULL) {
    scratch->path = path;
    if (lock(scratch, path)) return GPNN_OK;
    strcpy(name, pattern);
  }
  int errnum = errno;
  scratch->path = NULL;
  if (scratch->watch != NULL) *scratch->watch = NULL;
  free(path);
  return gpnn_fail_errno(err, errnum, "%s: no directory can be made in it", parent);
}

/* Removes the files in an open directory, and closes it. */
static void remove_files(int fd)
{
  DIR *directory = fdopendir(fd);
  if (directory == NULL) {
    close(fd);
    return;
  }
  for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      (void)unlinkat(dirfd(directory), entry->d_name, 0);
  closedir(directory);
}

/* ---- what is left behind ------------------------------------------------------------------- */

/* True if a file or directory is ours, and nothing has changed in it for long. */
static bool is_old(const struct stat *st)
{
  enum { HALF_A_DAY = 12 * 60 * 60 };
  return st->st_uid == geteuid() && time(NULL) - st->st_mtime > HALF_A_DAY;
}

static void sweep_directory(int parent, const char *name)
{
  struct stat st;
  int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  if (fstat(fd, &st) != 0 || !is_old(&st) || flock(fd, LOCK_EX | LOCK_NB) != 0) {
    close(fd);
    return;
  }
  int files = dup(fd); /* the lock stays until the directory is gone */
  if (files >= 0) remove_files(files);
  (void)unlinkat(parent, name, AT_REMOVEDIR);
  close(fd);
}

/* True if 'entry' is an unfinished file of 'name': "." NAME GPNN_ATOMIC_FILE_SUFFIX. */
static bool is_unfinished(const char *entry, const char *name)
{
  static const char suffix[] = GPNN_ATOMIC_FILE_SUFFIX;
  size_t length = name == NULL ? 0 : strlen(name);
  return length > 0 && strlen(entry) == strlen(".") + length + strlen(suffix) && entry[0] == '.' &&
         strncmp(entry + 1, name, length) == 0 &&
         strncmp(entry + 1 + length, suffix, strcspn(suffix, "X")) == 0;
}

void gpnn_scratch_sweep(const char *parent, const char *name)
{
  struct stat st;
  DIR *directory = opendir(parent);
  if (directory == NULL) return;
  for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    const char *at = entry->d_name;
    if (strncmp(at, PREFIX, strlen(PREFIX)) == 0 && strlen(at) == strlen(PREFIX "XXXXXX"))
      sweep_directory(dirfd(directory), at);
    else if (is_unfinished(at, name) &&
             fstatat(dirfd(directory), at, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
             is_old(&st))
      (void)unlinkat(dirfd(directory), at, 0);
  }
  closedir(directory);
}

/* ---- the end ------------------------------------------------------------------------------- */

void gpnn_scratch_remove(struct gpnn_scratch *scratch)
{
  if (scratch->path == NULL) return;
  int fd = open(scratch->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0) remove_files(fd);
  (void)rmdir(scratch->path);
  if (scratch->lock > 0) close(scratch->lock - 1);
  scratch->lock = 0;
  if (scratch->watch != NULL) *scratch->watch = NULL;
  free(scratch->path);
  scratch->path = NULL;
}
