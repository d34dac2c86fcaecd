/*
 * ranks: threads that take the place of the ranks of MPI.
 */
#ifndef GPNN_TESTS_RANKS_H
#define GPNN_TESTS_RANKS_H

#include <pthread.h>

#include "shard/comm.h"
#include "unit.h"

enum { RANKS_MOST = 8 };

static pthread_barrier_t ranks_barrier;
static size_t ranks_size;
static _Thread_local size_t ranks_own;
static const void *ranks_board[RANKS_MOST];

/* Shows something to all ranks; what they show can be read until they call ranks_hide(). */
static void ranks_show(const void *what)
{
  ranks_board[ranks_own] = what;
  pthread_barrier_wait(&ranks_barrier);
}

static void ranks_hide(void)
{
  pthread_barrier_wait(&ranks_barrier);
}

static void ranks_broadcast(size_t root, void *bytes, size_t n)
{
  ranks_show(bytes);
  if (ranks_own != root) memcpy(bytes, ranks_board[root], n);
  ranks_hide();
}

static void ranks_share(const void *own, size_t n, void *all)
{
  ranks_show(own);
  for (size_t r = 0; r < ranks_size; r++) memcpy((char *)all + r * n, ranks_board[r], n);
  ranks_hide();
}

static void ranks_least(double *number)
{
  double least = *number;
  ranks_show(number);
  for (size_t r = 0; r < ranks_size; r++) least = fmin(least, *(const double *)ranks_board[r]);
  ranks_hide();
  *number = least;
}

static void ranks_trade(const uint64_t *own, uint64_t *received)
{
  ranks_show(own);
  for (size_t r = 0; r < ranks_size; r++)
    received[r] = ((const uint64_t *)ranks_board[r])[ranks_own];
  ranks_hide();
}

static void ranks_deliver(const struct gpnn_comm *comm, const struct gpnn_message *send,
                          struct gpnn_message *receive)
{
  ranks_show(send);
  for (size_t r = 0; r < ranks_size; r++) {
    const struct gpnn_message *from = (const struct gpnn_message *)ranks_board[r] + comm->rank;
    if (r != comm->rank && from->length > 0) memcpy(receive[r].bytes, from->bytes, from->length);
  }
  ranks_hide();
}

static void ranks_stop(void)
{
}

static const struct gpnn_comm_ops ranks_ops = {ranks_broadcast, ranks_share,   ranks_least,
                                               ranks_trade,     ranks_deliver, ranks_stop};

struct ranks_thread {
  pthread_t thread;
  struct gpnn_comm comm;
  void (*run)(struct gpnn_comm *comm, void *context);
  void *context;
};

static void *ranks_begin(void *of)
{
  struct ranks_thread *thread = of;
  ranks_own = thread->comm.rank;
  thread->run(&thread->comm, thread->context);
  return NULL;
}

/* Calls run() as each of 'n' ranks at once.  Checks of cmocka belong to rank 0, the caller's own
 * thread. */
static void ranks_run(size_t n, void (*run)(struct gpnn_comm *comm, void *context), void *context)
{
  struct ranks_thread threads[RANKS_MOST] = {{.run = NULL}};
  ranks_size = n;
  assert_int_equal(pthread_barrier_init(&ranks_barrier, NULL, (unsigned)n), 0);
  for (size_t r = n; r-- > 0;) {
    threads[r] = (struct ranks_thread){.run = run, .context = context};
    gpnn_comm_serial(&threads[r].comm);
    threads[r].comm.rank = r;
    threads[r].comm.size = n;
    threads[r].comm.ops = &ranks_ops;
    if (r > 0)
      assert_int_equal(pthread_create(&threads[r].thread, NULL, ranks_begin, &threads[r]), 0);
  }
  ranks_begin(&threads[0]);
  for (size_t r = 1; r < n; r++) pthread_join(threads[r].thread, NULL);
  pthread_barrier_destroy(&ranks_barrier);
}

#endif
