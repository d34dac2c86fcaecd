/*
 * scratch: a directory for files that are needed for a while.
 *
 * Calling sequence: gpnn_scratch_create(); make plain files in it, no directories; move away those
 * that are to stay; gpnn_scratch_remove(), which removes the others too.
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
  /* Borrowed, or NULL.  '*watch' is the path from just before the directory exists until it is
   * gone, and NULL at all other times. */
  const char *volatile *watch;
};

/* Creates a directory in 'parent', for its owner alone, under a name that did not exist and begins
 * with ".gpnn-".  GPNN_EIO: the system refuses.  GPNN_ENOMEM.  The object is then empty. */
GPNN_MUST_CHECK enum gpnn_status gpnn_scratch_create(struct gpnn_scratch *scratch,
                                                     const char *parent, struct gpnn_error *err);

/* Removes the directory and the files in it as far as the system lets it, and empties the object,
 * but for 'watch'. */
void gpnn_scratch_remove(struct gpnn_scratch *scratch);

#endif
