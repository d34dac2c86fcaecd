/*
 * reading: a table of which each rank reads a part.
 *
 * Threads: one at a time.
 */
#ifndef GPNN_SHARD_READING_H
#define GPNN_SHARD_READING_H

#include "base/peers.h"
#include "base/status.h"
#include "dataset/training/training.h"
#include "table/table.h"

/* What is read, with the arguments of gpnn_table_open(), gpnn_training_begin() and
 * gpnn_training_read(); borrowed. */
struct gpnn_shard_reading {
  const char *path;
  const struct gpnn_table_options *options;
  const struct gpnn_roles *roles;
  const char *beside;
  const struct gpnn_training_reading *how;
};

/*
 * Opens the table on every rank and reads the part of this one into 'training', which is empty but
 * for 'watch', and is joined with those of the others: gpnn_training_finish() is next, on all of
 * them.  '*table' is then the caller's to close, and '*why' is NULL.
 *
 * Otherwise '*why' says in static text, the same on every rank, why rank 0 has to read all of it:
 * to tell of whatever cannot be read too.  '*table' is NULL then, and 'training' as it was.
 * GPNN_ENOMEM, and failures of the peers.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_shard_read(struct gpnn_peers *peers,
                                                 const struct gpnn_shard_reading *reading,
                                                 struct gpnn_table **table,
                                                 struct gpnn_training *training, const char **why,
                                                 struct gpnn_error *err);

#endif
