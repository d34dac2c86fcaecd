/*
 * gather: rows of all shards in the memory of rank 0, as a dataset to estimate from.
 *
 * Threads: one at a time.
 */
#ifndef GPNN_SHARD_GATHER_H
#define GPNN_SHARD_GATHER_H

#include "base/status.h"
#include "dataset/dataset.h"
#include "shard/shard.h"

struct gpnn_gathered;

/*
 * Called by all ranks, whose arguments are the same.  Brings all rows to rank 0; or, if there are
 * more than 'most' > 0, each set of copies counted once, 'most' of these, without sets: those that
 * gpnn_sample_draw() draws by 'seed' from the gpnn_sample_distinct() of all rows.  The other ranks
 * get a dataset without rows.  All borrow from the shard, and are freed before it.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_gather(struct gpnn_gathered **gathered,
                                             const struct gpnn_shard *shard, uint64_t most,
                                             uint64_t seed, struct gpnn_error *err);

/* The rows in their order, with the fingerprint of the index of all; searches over them are built
 * when asked for, and are exact. */
const struct gpnn_dataset *gpnn_gathered_dataset(const struct gpnn_gathered *gathered);

/* NULL is allowed. */
void gpnn_gathered_free(struct gpnn_gathered *gathered);

#endif
