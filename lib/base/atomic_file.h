/*
 * atomic_file: a new file that appears whole or not at all.
 *
 * Calling sequence: gpnn_atomic_file_create() makes a temporary file beside the target; write to
 * its descriptor; then call either gpnn_atomic_file_commit(), which flushes it to disk, renames it
 * over the target and flushes the directory, or gpnn_atomic_file_abandon(), which removes it.
 * Either leaves the object empty.
 *
 * A program that may be interrupted sets 'watch' before it creates the file; its signal handler
 * removes the file that '*watch' then names.
 *
 * Threads: no shared state; an object belongs to one thread at a time.
 */
#ifndef GPNN_BASE_ATOMIC_FILE_H
#define GPNN_BASE_ATOMIC_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"

/* The temporary file of "NAME" is "." NAME and this, with random letters in place of each X.  The
 * name of the toolkit is part of it, so that what a killed program left can be told from files that
 * other programs have given such names (base/scratch.h). */
#define GPNN_ATOMIC_FILE_SUFFIX ".gpnn-XXXXXX"

struct gpnn_atomic_file {
  int fd;          /* open for reading and writing; -1 if empty or prepared */
  char *target;    /* owned; the file to replace or create, symbolic links resolved */
  char *temporary; /* owned; the file being written */
  bool replaces;   /* the target exists, with this mode, owner and group: */
  mode_t mode;
  uid_t owner;
  gid_t group;
  /* Borrowed, or NULL.  '*watch' names the temporary file from just before it exists until it is
   * gone, and is NULL at all other times. */
  const char *volatile *watch;
  int directory; /* owned; the target's directory once prepared, or -1 */
  bool is_prepared;
};

#define GPNN_ATOMIC_FILE_INIT                       \
  {                                                 \
    -1, NULL, NULL, false, 0, 0, 0, NULL, -1, false \
  }

/*
 * Creates the temporary file in the target's directory, under an unpredictable name that did not
 * exist, so that nobody who shares the directory can redirect what is written.
 *
 * GPNN_EIO: the system refused; or the target exists and is not a regular file, since renaming
 * would replace a device or directory; or it is a symbolic link to nothing; or it is a name of an
 * open descriptor (gpnn_atomic_file_is_open()).  A symbolic link to a regular file stays, and that
 * file is replaced.  On failure the object is empty.
 *
 * Permissions: a new file gets those that the umask allows.  A file that replaces another one is
 * readable by its owner alone until the commit gives it the old one's mode and access control list,
 * and its owner and group where the process may set them; if group or list cannot be kept, the
 * group gets no more rights than others have.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_atomic_file_create(struct gpnn_atomic_file *file, const char *target, struct gpnn_error *err);

/* Flushes what has been written so far to disk, still under the temporary name.  GPNN_EIO: the
 * disk is full or fails. */
GPNN_MUST_CHECK enum gpnn_status gpnn_atomic_file_sync(const struct gpnn_atomic_file *file,
                                                       struct gpnn_error *err);

/*
 * Does all of a commit but the renaming: sets the permissions, flushes and closes the file.  A
 * caller that replaces several files, or none of them, prepares all before it commits the first,
 * as renaming seldom fails.  After a failure (GPNN_EIO) the file can only be abandoned.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_atomic_file_prepare(struct gpnn_atomic_file *file,
                                                          struct gpnn_error *err);

/* Makes what was written durable under the target's name.  GPNN_EIO: the temporary file has been
 * removed and the target is as it was, unless flushing the directory failed, the last step: then
 * the target is already the new file, but might not survive a power failure. */
GPNN_MUST_CHECK enum gpnn_status gpnn_atomic_file_commit(struct gpnn_atomic_file *file,
                                                         struct gpnn_error *err);

/* Closes and removes the temporary file; does nothing to an empty object. */
void gpnn_atomic_file_abandon(struct gpnn_atomic_file *file);

/*
 * True if 'path' names a file that some process has open, rather than a place for a new file:
 * /dev/stdout, /dev/fd/N and links to them, where the system represents these as links in /proc.
 * Renaming over such a file would take it away from those who write to it.  If true, '*fd' is our
 * own descriptor for it, or -1 if it belongs to another process.
 */
bool gpnn_atomic_file_is_open(const char *path, int *fd);

/* True if two targets, which need not exist, are the same file under different names: "./a" is "a",
 * and a symbolic link is its destination.  False if that cannot be established. */
bool gpnn_atomic_file_same(const char *a, const char *b);

#endif
