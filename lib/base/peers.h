/*
 * peers: processes that do the same with rows of which each holds a part.
 *
 * All call the functions that take peers in the same order, and what these compute is the same on
 * each.  Every such function begins with gpnn_peers_agree(); one that fails by itself calls that
 * next, so that the others learn of it in whichever function they are.  From then on nobody says
 * anything any more, and all these functions fail.
 *
 * Where a function takes peers or parts, NULL stands for a process that has all rows itself.
 * Threads: one at a time.
 */
#ifndef GPNN_BASE_PEERS_H
#define GPNN_BASE_PEERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Bytes from or for one process; owned by whoever has the message.  Zeroed: none. */
struct gpnn_message {
  size_t length;
  unsigned char *bytes;
};

/* Frees the bytes of 'n' messages, which are then zeroed; NULL is allowed. */
void gpnn_messages_release(size_t n, struct gpnn_message *messages);

/* What processes say to each other, with the contracts of shard/comm.h. */
struct gpnn_peers {
  size_t rank, size; /* which of how many this is, from 0 */
  void (*broadcast)(void *context, size_t root, void *bytes, size_t n);
  enum gpnn_status (*exchange)(void *context, struct gpnn_message *send,
                               struct gpnn_message *receive, struct gpnn_error *err);
  enum gpnn_status (*agree)(void *context, enum gpnn_status status, struct gpnn_error *err);
  void *context;
  struct gpnn_error failure; /* what they have failed with; zeroed: nothing */
};

/* GPNN_OK if 'status' is that on every rank.  Otherwise 'status' if it is a failure, which stays as
 * it is in 'err', or what another rank has failed with. */
GPNN_MUST_CHECK enum gpnn_status gpnn_peers_agree(struct gpnn_peers *peers, enum gpnn_status status,
                                                  struct gpnn_error *err);

/* Completes 'all', which has 'bytes' bytes of each rank, in their order: each has filled in its
 * own, unless its 'status' is a failure.  GPNN_OK, or as gpnn_peers_agree(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_peers_share(struct gpnn_peers *peers, size_t bytes, void *all,
                                                  enum gpnn_status status, struct gpnn_error *err);

/* Which rows are where: rank r holds those from first[r] up to first[r + 1]. */
struct gpnn_parts {
  struct gpnn_peers *peers; /* borrowed */
  uint64_t *first;          /* of size + 1 */
};

/* The first row here, and the one after the last, of 'n'. */
uint64_t gpnn_parts_first(const struct gpnn_parts *parts);
uint64_t gpnn_parts_end(const struct gpnn_parts *parts, uint64_t n);

/*
 * Completes 'n' items of 'bytes' bytes each, item i of which is about row number[i], in ascending
 * order, or row i if 'number' is NULL: each rank has filled in those about its own rows, unless its
 * 'status' is a failure.  GPNN_OK, or as gpnn_peers_agree().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_parts_gather(const struct gpnn_parts *parts, size_t n,
                                                   const uint64_t *number, size_t bytes,
                                                   void *items, enum gpnn_status status,
                                                   struct gpnn_error *err);

#endif
