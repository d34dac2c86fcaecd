/*
 * scratch: a directory for files that are needed for a while.
 *
 * Calling sequence: gpnn_scratch_create(); make plain files in it, no directories; move away those
 * that are to stay; gpnn_scratch_remove(), which removes the others too.
 *
 * A program that is killed leaves its directory behind.  While a directory is in use it is locked
 * (flock()), also by the processes that its owner starts, so that those left behind can be told:
 * gpnn_scratch_sweep() removes them.
 *
 * A program that may be interrupted sets 'watch' before; its signal handler removes the directory
 * that '*watch' then names, once it has removed the files in it.
 *
 * Threads: no shared state; an object belongs to one thread at a time.
 */
#ifndef GPNN_BASE_SCRATCH_H
#define GPNN_BASE_SCRATCH_H

#include "base/status.h"

/* A zeroed object is empty and may be removed. */
struct gpnn_scratch {
  char *path; /* owned; NULL: there is none */
  int lock;   /* 1 + the descriptor of the directory, which is locked; 0: it cannot be */
  /* Borrowed, or NULL.  '*watch' is the path from just before the directory exists until it is
   * gone, and NULL at all other times. */
  const char *volatile *watch;
};

/* Creates a directory in 'parent', for its owner alone, under a name that did not exist and begins
 * with ".gpnn-tmp-".  GPNN_EIO: the system refuses.  GPNN_ENOMEM.  The object is then empty. */
GPNN_MUST_CHECK enum gpnn_status gpnn_scratch_create(struct gpnn_scratch *scratch,
                                                     const char *parent, struct gpnn_error *err);

/*
 * Removes from 'parent' what programs of this user that were killed have left: directories of
 * gpnn_scratch_create() that nobody has locked, and unfinished files of 'name' (base/atomic_file.h;
 * NULL: none), in which nothing has changed for half a day; the latter as other machines may share
 * the place but not the locks.
 */
void gpnn_scratch_sweep(const char *parent, const char *name);

/* Removes the directory and the files in it as far as the system lets it, and empties the object,
 * but for 'watch'. */
void gpnn_scratch_remove(struct gpnn_scratch *scratch);

#endif
