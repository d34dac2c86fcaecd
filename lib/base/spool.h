/*
 * spool: numbers in a file without a name, where there may be more than memory holds.
 *
 * Calling sequence: gpnn_spool_create(); gpnn_spool_write() any number of times, in any order;
 * gpnn_spool_map(), after which nothing is written; gpnn_spool_release().  The file has lost its
 * name before anything is written to it: it is gone with the process, however that ends.
 */
#ifndef GPNN_BASE_SPOOL_H
#define GPNN_BASE_SPOOL_H

#include <stddef.h>

#include "base/mapping.h"
#include "base/status.h"

/* An object of GPNN_SPOOL_INIT is empty and may be released. */
struct gpnn_spool {
  int fd;                /* -1 while empty */
  char *beside;          /* owned; for messages */
  const double *numbers; /* the mapping, or NULL */
  size_t n;              /* numbers up to the last one written */
};

#define GPNN_SPOOL_INIT \
  {                     \
    -1, NULL, NULL, 0   \
  }

/* Makes a spool in the directory of the file 'beside', which need not exist; messages are about
 * that file, as those of base/atomic_file.h, and 'watch', which may be NULL, is what it is there,
 * for the moment that the file has a name. */
GPNN_MUST_CHECK enum gpnn_status gpnn_spool_create(struct gpnn_spool *spool, const char *beside,
                                                   const char *volatile *watch,
                                                   struct gpnn_error *err);

/* Writes 'n' numbers as those from number 'at' on; threads may write to different places at a time.
 * GPNN_EIO: the disk is full, or fails. */
GPNN_MUST_CHECK enum gpnn_status gpnn_spool_write(struct gpnn_spool *spool, size_t at, size_t n,
                                                  const double *numbers, struct gpnn_error *err);

/* Maps what was written, read-only, as 'numbers', until the spool is released.  There must be
 * some. */
GPNN_MUST_CHECK enum gpnn_status gpnn_spool_map(struct gpnn_spool *spool, struct gpnn_error *err);

/* The mapping, parts of which may be let go. */
struct gpnn_mapping gpnn_spool_mapping(const struct gpnn_spool *spool);

void gpnn_spool_release(struct gpnn_spool *spool);

#endif
