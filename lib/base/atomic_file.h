/*
 * atomic_file: a file that appears whole or not at all.
 *
 * Calling sequence: gpnn_atomic_file_create() makes a temporary file beside the target; write
 * to its descriptor; then either gpnn_atomic_file_commit() (flush to disk, rename over the
 * target, flush the directory) or gpnn_atomic_file_abandon().  Both leave the object empty.
 * A program that may be interrupted sets 'watch' before it creates the file, and removes what that
 * names in its signal handler.
 */
#ifndef GPNN_BASE_ATOMIC_FILE_H
#define GPNN_BASE_ATOMIC_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"

struct gpnn_atomic_file {
  int fd;          /* open for reading and writing; -1 while empty, and once settled */
  char *target;    /* owned; the file that will be replaced, symbolic links followed */
  char *temporary; /* owned; the file being written */
  bool replaces;   /* a file that is there, whose these are: */
  mode_t mode;
  uid_t owner;
  gid_t group;
  /* Borrowed, or NULL.  '*watch' names the temporary file from before it is there until it is gone,
   * and is NULL otherwise. */
  const char *volatile *watch;
  int directory; /* owned; that of the target once settled, or -1 */
  bool is_settled;
};

#define GPNN_ATOMIC_FILE_INIT                       \
  {                                                 \
    -1, NULL, NULL, false, 0, 0, 0, NULL, -1, false \
  }

/*
 * Creates the temporary file, under a name that nobody can foresee and that was not there, so that
 * in a directory shared with others nothing of theirs is written to.  A target that exists and is
 * not a regular file (a device, a directory) is refused: renaming over it would replace the device.
 * A symbolic link to a file stays, and the file is replaced; one that leads nowhere is refused, and
 * so is one to an open descriptor (gpnn_atomic_file_is_open()).
 *
 * The permissions are what the process's umask allows, or those of the target if it exists: then
 * nobody else can read the new file before the commit gives it the old one's mode and access
 * control list, and owner and group where the process may; where group or list cannot be kept, the
 * group gets no more than all others.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_atomic_file_create(struct gpnn_atomic_file *file, const char *target, struct gpnn_error *err);

/* Makes what was written so far durable, without its name. */
GPNN_MUST_CHECK enum gpnn_status gpnn_atomic_file_sync(const struct gpnn_atomic_file *file,
                                                       struct gpnn_error *err);

/* The same, and closes the file: a commit has only the renaming left, which seldom fails.  For who
 * commits several files, and none if one of them cannot be written. */
GPNN_MUST_CHECK enum gpnn_status gpnn_atomic_file_settle(struct gpnn_atomic_file *file,
                                                         struct gpnn_error *err);

/* Makes the written bytes durable under the target's name; on failure removes them.  Should the
 * directory alone fail, at the very end, the target is the new file already. */
GPNN_MUST_CHECK enum gpnn_status gpnn_atomic_file_commit(struct gpnn_atomic_file *file,
                                                         struct gpnn_error *err);

/* Closes and removes the temporary file; does nothing on an empty object. */
void gpnn_atomic_file_abandon(struct gpnn_atomic_file *file);

/*
 * Whether 'path' names a file that somebody has open, not a place for a new one: /dev/stdout,
 * /dev/fd/N and whatever leads to them, where the system makes these links to the open file.  To
 * rename over that file would take it away from those who write to it.  '*fd' is the number of our
 * descriptor for it, or -1 if it is another process's.
 */
bool gpnn_atomic_file_is_open(const char *path, int *fd);

/* Whether two targets, which need not be there, are one file, however it is named: './a' is 'a',
 * and a symbolic link is what it leads to.  False where that cannot be told. */
bool gpnn_atomic_file_same(const char *a, const char *b);

#endif
