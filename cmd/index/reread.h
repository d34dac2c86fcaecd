/*
 * reread: a table that is read twice, wherever it comes from.
 *
 * Calling sequence: reread_begin(); read 'path'; reread_again(); read 'path'.  What cannot be read
 * twice, such as a pipe, is copied first, to an unnamed file that takes the place of standard
 * input.
 */
#ifndef GPNN_CMD_INDEX_REREAD_H
#define GPNN_CMD_INDEX_REREAD_H

#include <sys/types.h>

#include "base/status.h"

struct reread {
  const char *path; /* to be read: the one asked for, or "-" */
  off_t start;      /* of standard input */
};

/*
 * Prepares to read 'asked' (borrowed; "-": standard input) twice.  A copy is made in the directory
 * of the file 'beside', as base/spool.h does, with 'watch' as there.  GPNN_EIO: the table cannot be
 * read, or the disk is full.
 */
GPNN_MUST_CHECK enum gpnn_status reread_begin(struct reread *reread, const char *asked,
                                              const char *beside, const char *volatile *watch,
                                              struct gpnn_error *err);

/* Goes back to the beginning. */
GPNN_MUST_CHECK enum gpnn_status reread_again(const struct reread *reread, struct gpnn_error *err);

#endif
