/*
 * sharded: a model of the rows of all shards, that predicts as the same model of one machine does,
 * to the last bit, if the searches of that are exact.
 *
 * Rank 0 makes such models and uses them as any other (models/model.h), while the others are in
 * gpnn_sharded_serve().  Or all ranks are peers: each makes the same models in the same order, and
 * predicts rows of its own until it has no more; then it is in gpnn_server_leave() until all are.
 *
 * The rank whose box a row to predict lies in, or is nearest to, finds its nearest rows there; the
 * last of them bounds how near those of other ranks must be, and only ranks whose box is as near
 * are asked.  Each rank then solves its share of the batches that all ranks have, from the union of
 * the neighbours that it was sent, by the ordinary model of these few rows.  As many further rows
 * as make them more than a row has neighbours are always among them, and those with the extreme
 * targets, since models depend on whether there are more, and on these.
 *
 * Models of nearest rows alone can be sharded, stacks among them.  Their channel is the view of the
 * only target.  Threads: one at a time, whichever it is.
 */
#ifndef GPNN_SHARD_SHARDED_H
#define GPNN_SHARD_SHARDED_H

#include "base/status.h"
#include "models/model.h"
#include "shard/shard.h"

/* What a server has counted so far. */
struct gpnn_sharded_counts {
  uint64_t n_rows;  /* predicted */
  uint64_t n_sent;  /* bytes, from one rank to another */
  uint64_t n_asked; /* ranks asked for the neighbours of a row, its owner among them, in all */
};

struct gpnn_server; /* what a rank serves from */

/* Makes a rank ready, with so many threads; 'shard' is borrowed, and so is 'peers'
 * (gpnn_comm_peers()), which is NULL where rank 0 leads.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_server_new(struct gpnn_server **server,
                                                 struct gpnn_shard *shard, int threads,
                                                 struct gpnn_peers *peers, struct gpnn_error *err);

/* Models that were made by it come first.  NULL is allowed. */
void gpnn_server_free(struct gpnn_server *server);

/* For all ranks but 0: does what rank 0 asks for until gpnn_server_dismiss(). */
void gpnn_sharded_serve(struct gpnn_server *server);
void gpnn_server_dismiss(struct gpnn_server *server);

/* For peers: predicts what others have until all are here.  GPNN_OK, or as gpnn_peers_agree(): a
 * rank that fails comes here, and the others, which are here or in a model, learn of it. */
GPNN_MUST_CHECK enum gpnn_status gpnn_server_leave(struct gpnn_server *server,
                                                   enum gpnn_status status, struct gpnn_error *err);

/*
 * For rank 0, or peers: as gpnn_model_new().  'server' has to outlive the model.
 * GPNN_EINVAL: parameters or options want what shards cannot do yet, which the message names.
 * Failures of other ranks are told as gpnn_comm_agree() does.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_sharded_new(struct gpnn_model **model,
                                                  struct gpnn_server *server, size_t n,
                                                  const struct gpnn_channel *channels,
                                                  const struct gpnn_model_options *options,
                                                  struct gpnn_error *err);

/* Those of all ranks, on rank 0. */
struct gpnn_sharded_counts gpnn_sharded_counts(const struct gpnn_server *server);

#endif
