/*
 * shard: the rows of one rank, which are an index file of their own, and the manifest of all.
 *
 * A folder DIR has, for R ranks, the indexes DIR/0.gpi to DIR/R-1.gpi, which have schema, scaling
 * and calibration rows in common; DIR/0.rows and so on, the numbers of their rows among all; and
 * DIR/manifest, a text which is written last.  Every rank has to see the folder under this name.
 *
 * All functions are called by all ranks at once, and have the same outcome on each; messages name
 * the rank that failed.  Threads: one at a time.
 */
#ifndef GPNN_SHARD_SHARD_H
#define GPNN_SHARD_SHARD_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "dataset/index/index.h"
#include "shard/comm.h"

/* What a rank has open; zeroed, it may be closed. */
struct gpnn_shard {
  struct gpnn_comm *comm;             /* borrowed */
  struct gpnn_index *index;           /* owned */
  const struct gpnn_dataset *dataset; /* of the index */
  uint64_t *number;                   /* owned; dataset->n: that of each row among all, ascending */
  uint32_t *set;                      /* owned; dataset->n: the set of copies that each row is of
                                         (gpnn_dataset_has_copies()), which no index of a shard has;
                                         NULL: there are none */
  struct gpnn_shards {
    uint64_t n;           /* rows of all shards */
    uint64_t n_sets;      /* of copies, as in their dataset; 0: no rows are copies */
    uint64_t n_distinct;  /* rows, each set of copies counted once */
    uint64_t fingerprint; /* of the index of all rows, which one machine would have */
  } all;
};

/* Rows of the sample at most. */
enum { GPNN_SHARD_SAMPLE = 1 << 17 };

#define GPNN_SHARD_COMMON SIZE_MAX

/* The name of a file of the folder: "DIR/2.gpi" if 'what' is "gpi", and "DIR/what" if 'rank' is
 * GPNN_SHARD_COMMON.  The caller frees it; NULL: not enough memory. */
char *gpnn_shard_path(const char *directory, size_t rank, const char *what);

/* Makes 'directory', which is to become 'target' when what is in it is whole.  GPNN_EIO: either
 * exists, or the system refuses. */
GPNN_MUST_CHECK enum gpnn_status gpnn_shard_folder(const char *directory, const char *target,
                                                   struct gpnn_error *err);

/*
 * Deals the rows of 'dataset' to all ranks, and lets each write its shard with an exact search,
 * made by as many threads as 'options' says.  Each rank has the dataset, and of its rows those that
 * are there by 'parts' (base/peers.h); or 'parts' is NULL, and rank 0 has all rows and the others,
 * whose 'dataset' is NULL, none.  'directory' appears when it is whole: before, it has ".part"
 * behind its name, and after a failure is removed with all that is in it.  'watch' is that of
 * base/atomic_file.h.
 *
 * GPNN_EINVAL: the dataset has what shards cannot have yet, which the message names.  GPNN_EDATA:
 * there are fewer than two rows a rank.  GPNN_EIO: the folder exists, or a rank cannot write to it.
 * GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_shard_deal(struct gpnn_comm *comm, const char *directory, const struct gpnn_dataset *dataset,
                const struct gpnn_parts *parts, const struct gpnn_search_options *options,
                const char *volatile *watch, struct gpnn_error *err);

/*
 * Opens the shard of this rank.  GPNN_EMISMATCH: the shards are of another number of ranks, or of
 * several runs.  GPNN_EIO: there is no manifest, or a shard is missing.  GPNN_EFORMAT: a file is
 * damaged or truncated.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_shard_open(struct gpnn_shard *shard, struct gpnn_comm *comm,
                                                 const char *directory, struct gpnn_error *err);
void gpnn_shard_close(struct gpnn_shard *shard);

#endif
