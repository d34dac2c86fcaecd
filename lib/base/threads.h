/*
 * threads: starting threads, and loops whose iterations they share.
 *
 * All parallel loops of the library run here.  Every function that uses threads takes their number
 * as an argument, and no result depends on it.  Nothing is kept between calls, except in a team.
 */
#ifndef GPNN_BASE_THREADS_H
#define GPNN_BASE_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number of processors this process may use, at least 1. */
int gpnn_threads_available(void);

/*
 * Lets the calling thread, and those that it starts, run on all processors that OpenMP may use.
 * With OMP_PROC_BIND or OMP_PLACES set, the OpenMP runtime binds the thread that loads it to the
 * first of these processors, and our threads would inherit that.  A program calls this once, at its
 * start.
 */
void gpnn_threads_unbind(void);

/*
 * How many of 'threads' threads should share 'n' pieces of work: no more than there are pieces, and
 * at least 1.  (Waking a thread that finds nothing to do takes longer than predicting a row.)
 */
int gpnn_threads_for(int threads, size_t n);

/*
 * Starts a thread, which the caller joins with pthread_join(); false if the system has none.  Its
 * stack is 1 MiB: the default, which ulimit -s and the C library determine, may be too small for
 * the BLAS and FAISS, or so large that a limit of memory leaves nothing for the thread's work.
 */
bool gpnn_threads_start(pthread_t *thread, void *(*run)(void *), void *context);

/*
 * What a loop does for one piece of its work.  'thread' is 0 for the caller's thread and less than
 * the number of threads of the loop; it selects scratch memory, as no two pieces with the same
 * 'thread' are worked on at the same time.  A step cannot fail; a task can.
 */
typedef void gpnn_threads_step(void *context, size_t thread, size_t piece);
typedef enum gpnn_status gpnn_threads_task(void *context, size_t thread, size_t piece,
                                           struct gpnn_error *err);

/*
 * Loops over pieces 0 to n_pieces - 1, handed out in this order, 'chunk' (at least 1) at a time, to
 * up to 'threads' threads: the caller's own, and others that are started for the loop and have
 * ended when it returns.  A chunk should take about 100 us, as starting a thread takes 20; with a
 * single chunk no thread is started.  If the system has no more threads, those that there are do
 * all the work.  Threads that wait sleep.  Signals are left to the program's other threads, apart
 * from those that report a fault in the thread itself.  Without pieces, nothing is done.
 *
 * gpnn_threads_try(): if tasks fail, the failure returned is that of the first failing piece in the
 * order of pieces, whichever thread met it first.  All pieces before it have been done, and some of
 * those after it may have been.
 *
 * gpnn_threads_in_order(): chunks are single pieces.  After its 'work' each piece is passed to
 * 'take', by the same thread, one piece at a time and in the order of pieces.  From the first
 * failure of either on, no piece is taken.
 */
void gpnn_threads_each(int threads, size_t n_pieces, size_t chunk, gpnn_threads_step *step,
                       void *context);
GPNN_MUST_CHECK enum gpnn_status gpnn_threads_try(int threads, size_t n_pieces, size_t chunk,
                                                  gpnn_threads_task *task, void *context,
                                                  struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_threads_in_order(int threads, size_t n_pieces,
                                                       gpnn_threads_task *work,
                                                       gpnn_threads_task *take, void *context,
                                                       struct gpnn_error *err);

/*
 * A team: threads that are started for its first loop and sleep between loops, where loops are so
 * many and so short that starting threads for each would take too long.  Waking takes a thread
 * about 10 us, and a loop does not wait for threads that have not woken.
 *
 * Calling sequence: gpnn_team_new(), gpnn_team_try() for one loop at a time, gpnn_team_free(),
 * which accepts NULL.  gpnn_team_try() is gpnn_threads_try() with up to 'threads' of the team's
 * threads, or with threads of its own if the team is NULL.  GPNN_ENOMEM: no memory for a team.
 */
struct gpnn_team;

GPNN_MUST_CHECK enum gpnn_status gpnn_team_new(struct gpnn_team **team, int threads,
                                               struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_team_try(struct gpnn_team *team, int threads, size_t n_pieces,
                                               size_t chunk, gpnn_threads_task *task, void *context,
                                               struct gpnn_error *err);
void gpnn_team_free(struct gpnn_team *team);

#ifdef __cplusplus
}
#endif

#endif
