/*
 * comm: ranks, processes that work together and may be on several machines, and what they say to
 * each other.
 *
 * Calling sequence: gpnn_comm_serial(), a single rank that needs no other library, or
 * gpnn_comm_start(), the ranks that mpirun or srun has started; any number of the functions
 * between, each of which all ranks call in the same order; gpnn_comm_stop().  Nothing else of the
 * library knows MPI.
 *
 * Failures: a rank that fails goes on to the next gpnn_comm_agree(), where all ranks learn of it,
 * so that none waits for another in vain.  What MPI itself cannot do ends all ranks, with its
 * message. Waiting costs next to no processor time.  Threads: one at a time may use it, whichever
 * it is.
 */
#ifndef GPNN_SHARD_COMM_H
#define GPNN_SHARD_COMM_H

#include <stddef.h>
#include <stdint.h>

#include "base/peers.h"
#include "base/status.h"

enum { GPNN_COMM_HOST_BYTES = 64 };

struct gpnn_comm {
  size_t rank, size;               /* which of how many this is, from 0 */
  char host[GPNN_COMM_HOST_BYTES]; /* the name of its machine */
  uint64_t sent;                   /* bytes that this rank has sent to others by exchange */
  const struct gpnn_comm_ops *ops;
};

/* One rank, alone. */
void gpnn_comm_serial(struct gpnn_comm *comm);

/* The ranks that MPI has started.  GPNN_EEXTERNAL: this program was built without MPI, and what to
 * install. */
GPNN_MUST_CHECK enum gpnn_status gpnn_comm_start(struct gpnn_comm *comm, struct gpnn_error *err);
void gpnn_comm_stop(struct gpnn_comm *comm);

/* The ranks as processes that share rows (base/peers.h), which use 'comm'; it is borrowed. */
void gpnn_comm_peers(struct gpnn_comm *comm, struct gpnn_peers *peers);

/* Copies 'n' bytes of rank 'root' to those of all others. */
void gpnn_comm_broadcast(struct gpnn_comm *comm, size_t root, void *bytes, size_t n);

/* Copies the 'n' bytes of each rank to 'all' (size by n) of every rank, in the order of ranks. */
void gpnn_comm_share(struct gpnn_comm *comm, const void *own, size_t n, void *all);

/*
 * Sends message send[r] to rank r, for all r at once, and takes the bytes of 'send' away;
 * receive[r] is what rank r has sent here, which the caller frees.  Both have 'size' entries.
 * GPNN_ENOMEM, on every rank: one of them lacks memory; 'receive' is then zeroed.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_comm_exchange(struct gpnn_comm *comm,
                                                    struct gpnn_message *send,
                                                    struct gpnn_message *receive,
                                                    struct gpnn_error *err);

/* GPNN_EMISMATCH, on every rank: the text 'version', of at most 31 bytes, is another than that of
 * rank 0.  It is the first that ranks say to each other. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_comm_check_version(struct gpnn_comm *comm, const char *version, struct gpnn_error *err);

/* GPNN_OK if 'status' is that on every rank; otherwise, on all of them, what the first rank that
 * failed has in 'err', which begins with its number and machine where there are several. */
GPNN_MUST_CHECK enum gpnn_status gpnn_comm_agree(struct gpnn_comm *comm, enum gpnn_status status,
                                                 struct gpnn_error *err);

/* ---- what an implementation does, with the contracts of the functions above ---------------- */

struct gpnn_comm_ops {
  void (*broadcast)(size_t root, void *bytes, size_t n);
  void (*share)(const void *own, size_t n, void *all);
  /* Replaces a number by the least of those that ranks have there. */
  void (*least)(double *number);
  /* Sends own[r] to rank r, and receives received[s] from rank s: as many as ranks. */
  void (*trade)(const uint64_t *own, uint64_t *received);
  /* Sends and receives messages whose lengths are known, and for which there is room. */
  void (*deliver)(const struct gpnn_comm *comm, const struct gpnn_message *send,
                  struct gpnn_message *receive);
  void (*stop)(void);
};

#endif
