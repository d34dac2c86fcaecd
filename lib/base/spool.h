/*
 * spool: an array of doubles in an unnamed temporary file, for more than memory may hold.
 *
 * Calling sequence: gpnn_spool_create(); gpnn_spool_write() any number of times, in any order;
 * gpnn_spool_map(), which is called again once more was written; gpnn_spool_release().  The file is
 * unlinked before anything is written to it, so that it disappears with the process, however that
 * ends.
 */
#ifndef GPNN_BASE_SPOOL_H
#define GPNN_BASE_SPOOL_H

#include <stddef.h>

#include "base/mapping.h"
#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An object of GPNN_SPOOL_INIT is empty and may be released. */
struct gpnn_spool {
  int fd;                /* -1 while empty */
  char *beside;          /* owned; the file that messages name */
  const double *numbers; /* the mapping, or NULL */
  size_t n;              /* the length: one more than the last position written */
  size_t n_mapped;       /* what it was when it was mapped */
};

#define GPNN_SPOOL_INIT  \
  {                      \
    -1, NULL, NULL, 0, 0 \
  }

/*
 * Makes an empty spool in the directory of the file 'beside', which need not exist but must be fit
 * for gpnn_atomic_file_create(), whose failures these are; messages name that file.  'watch' (or
 * NULL) is that of base/atomic_file.h, for the moment that the temporary file has a name.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_spool_create(struct gpnn_spool *spool, const char *beside,
                                                   const char *volatile *watch,
                                                   struct gpnn_error *err);

/* Writes 'n' numbers to the positions from 'at' on.  Several threads may write at once, to
 * different positions; positions never written hold zeros.  GPNN_EIO: the disk is full or fails. */
GPNN_MUST_CHECK enum gpnn_status gpnn_spool_write(struct gpnn_spool *spool, size_t at, size_t n,
                                                  const double *numbers, struct gpnn_error *err);

/* Maps what was written, at least one number, read-only as 'numbers', until the spool is released
 * or mapped again.  GPNN_EIO, GPNN_ENOMEM: the system refused. */
GPNN_MUST_CHECK enum gpnn_status gpnn_spool_map(struct gpnn_spool *spool, struct gpnn_error *err);

/* The mapping, for gpnn_mapping_evict(); that of an empty or unmapped spool is none. */
struct gpnn_mapping gpnn_spool_mapping(const struct gpnn_spool *spool);

void gpnn_spool_release(struct gpnn_spool *spool);

#ifdef __cplusplus
}
#endif

#endif
