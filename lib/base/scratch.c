#include "base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "DIRECTORY/NAME", or NULL. */
static char *join(const char *directory, const char *name)
{
  size_t length = strlen(directory) + strlen(name) + 2;
  char *path = malloc(length);
  if (path != NULL) snprintf(path, length, "%s/%s", directory, name);
  return path;
}

enum gpnn_status gpnn_scratch_create(struct gpnn_scratch *scratch, const char *parent,
                                     struct gpnn_error *err)
{
  char *path = join(parent, ".gpnn-XXXXXX");
  if (path == NULL) return gpnn_fail_memory(err, "for the name of a directory");
  if (scratch->watch != NULL) *scratch->watch = path; /* mkdtemp() completes the name in place */
  if (mkdtemp(path) != NULL) {
    scratch->path = path;
    return GPNN_OK;
  }
  int errnum = errno;
  if (scratch->watch != NULL) *scratch->watch = NULL;
  free(path);
  return gpnn_fail_errno(err, errnum, "%s: no directory can be made in it", parent);
}

static void remove_files(const char *path)
{
  DIR *directory = opendir(path);
  if (directory == NULL) return;
  for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      (void)unlinkat(dirfd(directory), entry->d_name, 0);
  closedir(directory);
}

void gpnn_scratch_remove(struct gpnn_scratch *scratch)
{
  if (scratch->path == NULL) return;
  remove_files(scratch->path);
  (void)rmdir(scratch->path);
  if (scratch->watch != NULL) *scratch->watch = NULL;
  free(scratch->path);
  scratch->path = NULL;
}
