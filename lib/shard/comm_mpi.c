/*
 * The ranks of MPI.  It is asked again and again whether it is done, with pauses between, since its
 * own functions wait by keeping a processor busy.
 */
#include "shard/comm.h"

#ifdef GPNN_MPI
#include <mpi.h>
#include <string.h>
#include <time.h>

enum { LONGEST = 1 << 30 }; /* of one message of MPI, which counts by int */

static void wait_for(MPI_Request *request)
{
  enum { EAGER = 2000 };
  const struct timespec pause = {.tv_nsec = 100000};
  int is_done = 0;
  for (size_t tries = 0;; tries++) {
    MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
    if (is_done) return;
    if (tries > EAGER) nanosleep(&pause, NULL);
  }
}

static void mpi_broadcast(size_t root, void *bytes, size_t n)
{
  for (size_t at = 0; at < n; at += LONGEST) {
    size_t length = n - at < LONGEST ? n - at : LONGEST;
    MPI_Request request;
    MPI_Ibcast((char *)bytes + at, (int)length, MPI_BYTE, (int)root, MPI_COMM_WORLD, &request);
    wait_for(&request);
  }
}

static void mpi_share(const void *own, size_t n, void *all)
{
  MPI_Datatype item;
  MPI_Request request;
  MPI_Type_contiguous((int)n, MPI_BYTE, &item);
  MPI_Type_commit(&item);
  MPI_Iallgather(own, 1, item, all, 1, item, MPI_COMM_WORLD, &request);
  wait_for(&request);
  MPI_Type_free(&item);
}

static void mpi_least(double *number)
{
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, number, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD, &request);
  wait_for(&request);
}

static void mpi_trade(const uint64_t *own, uint64_t *received)
{
  MPI_Request request;
  MPI_Ialltoall(own, 1, MPI_UINT64_T, received, 1, MPI_UINT64_T, MPI_COMM_WORLD, &request);
  wait_for(&request);
}

/* Sends to the rank 'ahead' and receives from the one as far behind. */
static void pass(const struct gpnn_message *send, int ahead, struct gpnn_message *receive,
                 int behind)
{
  size_t most = send->length > receive->length ? send->length : receive->length;
  for (size_t at = 0; at < most; at += LONGEST) {
    size_t out = at >= send->length ? 0 : send->length - at;
    size_t in = at >= receive->length ? 0 : receive->length - at;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (in > 0)
      MPI_Irecv(receive->bytes + at, (int)(in < LONGEST ? in : LONGEST), MPI_BYTE, behind, 0,
                MPI_COMM_WORLD, &requests[0]);
    if (out > 0)
      MPI_Isend(send->bytes + at, (int)(out < LONGEST ? out : LONGEST), MPI_BYTE, ahead, 0,
                MPI_COMM_WORLD, &requests[1]);
    wait_for(&requests[0]);
    wait_for(&requests[1]);
  }
}

static void mpi_deliver(const struct gpnn_comm *comm, const struct gpnn_message *send,
                        struct gpnn_message *receive)
{
  for (size_t step = 1; step < comm->size; step++) {
    size_t ahead = (comm->rank + step) % comm->size;
    size_t behind = (comm->rank + comm->size - step) % comm->size;
    pass(&send[ahead], (int)ahead, &receive[behind], (int)behind);
  }
}

static void mpi_stop(void)
{
  MPI_Finalize();
}

static const struct gpnn_comm_ops mpi_ops = {mpi_broadcast, mpi_share,   mpi_least,
                                             mpi_trade,     mpi_deliver, mpi_stop};

enum gpnn_status gpnn_comm_start(struct gpnn_comm *comm, struct gpnn_error *err)
{
  int rank, size, provided;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_SERIALIZED)
    return gpnn_fail(err, GPNN_EEXTERNAL, "MPI cannot be used by threads");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  gpnn_comm_serial(comm); /* the host */
  comm->rank = (size_t)rank;
  comm->size = (size_t)size;
  comm->ops = &mpi_ops;
  return GPNN_OK;
}

#else

enum gpnn_status gpnn_comm_start(struct gpnn_comm *comm, struct gpnn_error *err)
{
  (void)comm;
  return gpnn_fail(err, GPNN_EEXTERNAL,
                   "built without MPI: install it (on Debian: openmpi-bin libopenmpi-dev), and "
                   "build again");
}

#endif
