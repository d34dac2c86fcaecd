/*
 * threads: how many, loops that they share, and the BLAS kept to one inside ours.
 *
 * All loops of the library that are shared between threads are run here.  The number of threads is
 * an argument of every function that uses them, and no result depends on it.
 */
#ifndef GPNN_BASE_THREADS_H
#define GPNN_BASE_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* The number of processors this process may use, at least 1. */
int gpnn_threads_available(void);

/*
 * Gives the caller's thread, and those that it starts, all processors that OpenMP may use, where
 * OMP_PROC_BIND or OMP_PLACES had its runtime bind the thread that loaded it to the first of them.
 * For a program whose threads are those of this library: once, before all else.
 */
void gpnn_threads_unbind(void);

/*
 * How many of 'threads' to share 'n' pieces of work between: no more than there are pieces, and at
 * least 1.  To wake a thread that finds nothing to do takes longer than to predict a row.
 */
int gpnn_threads_for(int threads, size_t n);

/*
 * Starts a thread, for pthread_join(); false: it cannot be had.  It has a stack of 1 MiB at least:
 * what a limit on that of the program (ulimit -s), or a C library, leaves others may be too little
 * for the BLAS and FAISS.
 */
bool gpnn_threads_start(pthread_t *thread, void *(*run)(void *), void *context);

/*
 * What is done for one piece of a loop.  'thread', less than how many there are and 0 for the
 * caller's, says whose scratch to use: two pieces of the same thread are never under way at once.
 */
typedef void gpnn_threads_step(void *context, size_t thread, size_t piece);
typedef enum gpnn_status gpnn_threads_task(void *context, size_t thread, size_t piece,
                                           struct gpnn_error *err);

/*
 * Loops over pieces 0 to n_pieces - 1, which are handed out in their order, 'together' at a time,
 * to up to 'threads' threads: the caller's, and others that are started for the loop and have
 * ended when it returns.  As many pieces together should take some 100 us, for to start a thread
 * takes 20: if there are no more, none is started.  Where no thread can be had, those that there
 * are do all the work.  Who has to wait sleeps.  Threads that are started leave signals to those of
 * the program, but for those that tell of mistakes of their own.
 *
 * Of tasks that fail, the failure of the first in the order of pieces is returned, however they
 * were shared out: all pieces before it have been done, and some after it perhaps.
 *
 * In order: one at a time, and after its 'work' each piece is given to 'take', in the order of
 * pieces and by the thread that did the work, one after another; no piece from the first failure
 * on, of either, is taken.
 */
void gpnn_threads_each(int threads, size_t n_pieces, size_t together, gpnn_threads_step *step,
                       void *context);
GPNN_MUST_CHECK enum gpnn_status gpnn_threads_try(int threads, size_t n_pieces, size_t together,
                                                  gpnn_threads_task *task, void *context,
                                                  struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_threads_in_order(int threads, size_t n_pieces,
                                                       gpnn_threads_task *work,
                                                       gpnn_threads_task *take, void *context,
                                                       struct gpnn_error *err);

/*
 * A team: threads that are started with the first loop they are called to and sleep between loops,
 * for loops so many and so short that threads started for each would take longer.  A loop does not
 * wait for a thread that sleeps on.  To be called takes a thread some 10 us.
 *
 * Calling sequence: gpnn_team_new(), gpnn_team_try() for one loop after another, gpnn_team_free(),
 * which NULL is fit for.  gpnn_team_try() is gpnn_threads_try() on up to 'threads' of the team's;
 * with a team of NULL it is that itself.
 */
struct gpnn_team;

GPNN_MUST_CHECK enum gpnn_status gpnn_team_new(struct gpnn_team **team, int threads,
                                               struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_team_try(struct gpnn_team *team, int threads, size_t n_pieces,
                                               size_t together, gpnn_threads_task *task,
                                               void *context, struct gpnn_error *err);
void gpnn_team_free(struct gpnn_team *team);

#endif
