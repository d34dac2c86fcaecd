#include "shard/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* ---- a single rank -------------------------------------------------------------------------- */

static void serial_broadcast(size_t root, void *bytes, size_t n)
{
  (void)root;
  (void)bytes;
  (void)n;
}

static void serial_share(const void *own, size_t n, void *all)
{
  memcpy(all, own, n);
}

static void serial_least(double *number)
{
  (void)number;
}

static void serial_trade(const uint64_t *own, uint64_t *received)
{
  *received = *own;
}

static void serial_deliver(const struct gpnn_comm *comm, const struct gpnn_message *send,
                           struct gpnn_message *receive)
{
  (void)comm;
  (void)send;
  (void)receive;
}

static void serial_stop(void)
{
}

static const struct gpnn_comm_ops serial_ops = {serial_broadcast, serial_share,   serial_least,
                                                serial_trade,     serial_deliver, serial_stop};

void gpnn_comm_serial(struct gpnn_comm *comm)
{
  *comm = (struct gpnn_comm){.size = 1, .ops = &serial_ops};
  if (gethostname(comm->host, sizeof comm->host - 1) != 0) comm->host[0] = '\0';
}

/* ---- any ------------------------------------------------------------------------------------ */

void gpnn_comm_stop(struct gpnn_comm *comm)
{
  if (comm->ops != NULL) comm->ops->stop();
  *comm = (struct gpnn_comm){0};
}

static void broadcast_to_peers(void *context, size_t root, void *bytes, size_t n)
{
  gpnn_comm_broadcast(context, root, bytes, n);
}

static enum gpnn_status exchange_with_peers(void *context, struct gpnn_message *send,
                                            struct gpnn_message *receive, struct gpnn_error *err)
{
  return gpnn_comm_exchange(context, send, receive, err);
}

static enum gpnn_status agree_with_peers(void *context, enum gpnn_status status,
                                         struct gpnn_error *err)
{
  return gpnn_comm_agree(context, status, err);
}

void gpnn_comm_peers(struct gpnn_comm *comm, struct gpnn_peers *peers)
{
  *peers = (struct gpnn_peers){.rank = comm->rank,
                               .size = comm->size,
                               .broadcast = broadcast_to_peers,
                               .exchange = exchange_with_peers,
                               .agree = agree_with_peers,
                               .context = comm};
}

void gpnn_comm_broadcast(struct gpnn_comm *comm, size_t root, void *bytes, size_t n)
{
  if (n > 0) comm->ops->broadcast(root, bytes, n);
}

void gpnn_comm_share(struct gpnn_comm *comm, const void *own, size_t n, void *all)
{
  if (n > 0) comm->ops->share(own, n, all);
}

/* Makes room for what will be received; the message of a rank to itself is handed over. */
static enum gpnn_status make_room(const struct gpnn_comm *comm, struct gpnn_message *send,
                                  const uint64_t *lengths, struct gpnn_message *receive,
                                  struct gpnn_error *err)
{
  for (size_t r = 0; r < comm->size; r++) {
    receive[r] = (struct gpnn_message){.length = (size_t)lengths[r]};
    if (r == comm->rank) {
      receive[r] = send[r];
      send[r] = (struct gpnn_message){0};
    } else if (lengths[r] > 0) {
      receive[r].bytes = malloc(receive[r].length);
      if (receive[r].bytes == NULL) return gpnn_fail_memory(err, "for a message of another rank");
    }
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_comm_exchange(struct gpnn_comm *comm, struct gpnn_message *send,
                                    struct gpnn_message *receive, struct gpnn_error *err)
{
  size_t size = comm->size;
  uint64_t *own = calloc(size, sizeof *own), *lengths = calloc(size, sizeof *lengths);
  enum gpnn_status status =
      own == NULL || lengths == NULL ? gpnn_fail_memory(err, "for messages") : GPNN_OK;
  memset(receive, 0, size * sizeof *receive);
  status = gpnn_comm_agree(comm, status, err);
  if (status == GPNN_OK) {
    for (size_t r = 0; r < size; r++) own[r] = send[r].length;
    for (size_t r = 0; r < size; r++) comm->sent += r == comm->rank ? 0 : own[r];
    comm->ops->trade(own, lengths);
    status = gpnn_comm_agree(comm, make_room(comm, send, lengths, receive, err), err);
  }
  if (status == GPNN_OK) comm->ops->deliver(comm, send, receive);
  if (status != GPNN_OK) gpnn_messages_release(size, receive);
  gpnn_messages_release(size, send);
  free(own);
  free(lengths);
  return status;
}

enum gpnn_status gpnn_comm_check_version(struct gpnn_comm *comm, const char *version,
                                         struct gpnn_error *err)
{
  char first[32] = "";
  enum gpnn_status status = GPNN_OK;
  snprintf(first, sizeof first, "%s", version);
  gpnn_comm_broadcast(comm, 0, first, sizeof first);
  if (strcmp(first, version) != 0)
    status =
        gpnn_fail(err, GPNN_EMISMATCH,
                  "gpnn %s, but %s on rank 0: all machines need the same version", version, first);
  return gpnn_comm_agree(comm, status, err);
}

enum gpnn_status gpnn_comm_agree(struct gpnn_comm *comm, enum gpnn_status status,
                                 struct gpnn_error *err)
{
  struct {
    int status;
    char text[GPNN_ERROR_BYTES], host[GPNN_COMM_HOST_BYTES];
  } told;
  if (comm->size == 1) return status;
  double failed = (double)(status == GPNN_OK ? comm->size : comm->rank);
  comm->ops->least(&failed);
  size_t first = (size_t)failed;
  if (first == comm->size) return GPNN_OK;
  memset(&told, 0, sizeof told);
  if (first == comm->rank) {
    told.status = (int)status;
    memcpy(told.text, err->text, sizeof told.text);
    memcpy(told.host, comm->host, sizeof told.host);
  }
  gpnn_comm_broadcast(comm, first, &told, sizeof told);
  return gpnn_fail(err, (enum gpnn_status)told.status, "rank %zu on %s: %s", first, told.host,
                   told.text);
}
