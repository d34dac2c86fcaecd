#define _GNU_SOURCE /* sched_getaffinity() */
#include "base/threads.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"

int gpnn_threads_available(void)
{
  cpu_set_t set;
  long n =
      sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : n > INT_MAX ? INT_MAX : (int)n;
}

int gpnn_threads_for(int threads, size_t n)
{
  if (threads < 1 || n < 1) return 1;
  return n < (size_t)threads ? (int)n : threads;
}

/* NULL unless the program has an OpenMP runtime, which FAISS needs. */
#pragma weak omp_get_num_places
#pragma weak omp_get_place_num_procs
#pragma weak omp_get_place_proc_ids
extern int omp_get_num_places(void);
extern int omp_get_place_num_procs(int place);
extern void omp_get_place_proc_ids(int place, int *ids);

void gpnn_threads_unbind(void)
{
  cpu_set_t set;
  int n = omp_get_num_places == NULL ? 0 : omp_get_num_places();
  CPU_ZERO(&set);
  for (int place = 0; place < n; place++) {
    int count = omp_get_place_num_procs(place);
    int *ids = gpnn_alloc(count < 1 ? 1 : (size_t)count, 1, sizeof *ids);
    if (ids == NULL) return;
    omp_get_place_proc_ids(place, ids);
    for (int i = 0; i < count; i++)
      if (ids[i] >= 0 && ids[i] < CPU_SETSIZE) CPU_SET((size_t)ids[i], &set);
    free(ids);
  }
  if (n > 0) sched_setaffinity(0, sizeof set, &set);
}

bool gpnn_threads_start(pthread_t *thread, void *(*run)(void *), void *context)
{
  const size_t stack = (size_t)1 << 20;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  bool is_started = pthread_attr_setstacksize(&attributes, stack) == 0 &&
                    pthread_create(thread, &attributes, run, context) == 0;
  pthread_attr_destroy(&attributes);
  return is_started;
}

/* ---- loops -------------------------------------------------------------------------------- */

struct loop {
  size_t n_pieces, chunk_size;
  gpnn_threads_step *step;        /* or NULL: */
  gpnn_threads_task *work, *take; /* 'take' may be NULL */
  void *context;
  atomic_size_t next;    /* the chunk to hand out next, which may be past the last */
  pthread_mutex_t mutex; /* guards all members below */
  pthread_cond_t changed;
  size_t n_taken;          /* pieces passed to 'take' */
  size_t failed;           /* the first piece that failed, or n_pieces */
  enum gpnn_status status; /* of that one */
  struct gpnn_error error;
};

static size_t divide_up(size_t a, size_t b)
{
  return a / b + (a % b > 0);
}

/* Keeps the failure if it is the first in the order of pieces, and hands out no more chunks: all
 * pieces before this one have been handed out already. */
static void note_failure(struct loop *loop, size_t piece, enum gpnn_status status,
                         const struct gpnn_error *error)
{
  atomic_store(&loop->next, divide_up(loop->n_pieces, loop->chunk_size));
  pthread_mutex_lock(&loop->mutex);
  if (piece < loop->failed) {
    loop->failed = piece;
    loop->status = status;
    loop->error = *error;
  }
  pthread_cond_broadcast(&loop->changed);
  pthread_mutex_unlock(&loop->mutex);
}

/* Sleeps until all pieces before this one have been taken; false if one of them has failed. */
static bool wait_for_turn(struct loop *loop, size_t piece)
{
  pthread_mutex_lock(&loop->mutex);
  while (loop->n_taken < piece && loop->failed > piece)
    pthread_cond_wait(&loop->changed, &loop->mutex);
  bool is_next = loop->failed > piece;
  pthread_mutex_unlock(&loop->mutex);
  return is_next;
}

static void end_turn(struct loop *loop)
{
  pthread_mutex_lock(&loop->mutex);
  loop->n_taken++;
  pthread_cond_broadcast(&loop->changed);
  pthread_mutex_unlock(&loop->mutex);
}

static enum gpnn_status do_piece(struct loop *loop, size_t thread, size_t piece,
                                 struct gpnn_error *error)
{
  enum gpnn_status status = GPNN_OK;
  if (loop->step != NULL)
    loop->step(loop->context, thread, piece);
  else
    status = loop->work(loop->context, thread, piece, error);
  if (status != GPNN_OK || loop->take == NULL || !wait_for_turn(loop, piece)) return status;
  status = loop->take(loop->context, thread, piece, error);
  if (status == GPNN_OK) end_turn(loop);
  return status;
}

static void work_on(struct loop *loop, size_t thread)
{
  struct gpnn_error error = {0};
  size_t n_chunks = divide_up(loop->n_pieces, loop->chunk_size), chunk;
  while ((chunk = atomic_fetch_add(&loop->next, 1)) < n_chunks) {
    size_t piece = chunk * loop->chunk_size, left = loop->n_pieces - piece;
    size_t end = piece + (left < loop->chunk_size ? left : loop->chunk_size);
    enum gpnn_status status = GPNN_OK;
    for (; piece < end && status == GPNN_OK; piece++) {
      status = do_piece(loop, thread, piece, &error);
      if (status != GPNN_OK) note_failure(loop, piece, status, &error);
    }
  }
}

/* ---- teams -------------------------------------------------------------------------------- */

struct gpnn_team {
  size_t n_helpers; /* the most threads to have besides the caller's */
  size_t n_started;
  bool has_tried; /* to start them */
  pthread_t *helpers;
  pthread_mutex_t mutex; /* guards all members below */
  pthread_cond_t called, left;
  struct loop *loop;          /* open to helpers, or NULL */
  size_t n_loops;             /* so far, which numbers them */
  size_t n_wanted, n_entered; /* helpers of the present loop */
  size_t n_inside;            /* helpers that are still working on a loop */
  bool ends;
};

/* A helper's thread: works on every loop that it wakes up for in time. */
static void *help(void *context)
{
  struct gpnn_team *team = context;
  size_t last = 0;
  pthread_mutex_lock(&team->mutex);
  while (!team->ends) {
    if (team->loop == NULL || team->n_loops == last || team->n_entered == team->n_wanted) {
      pthread_cond_wait(&team->called, &team->mutex);
      continue;
    }
    struct loop *loop = team->loop;
    size_t thread = ++team->n_entered;
    last = team->n_loops;
    team->n_inside++;
    pthread_mutex_unlock(&team->mutex);
    work_on(loop, thread);
    pthread_mutex_lock(&team->mutex);
    team->n_inside--;
    if (team->n_inside == 0) pthread_cond_signal(&team->left);
  }
  pthread_mutex_unlock(&team->mutex);
  return NULL;
}

/* Starts as many helpers as the system has threads for. */
static void start(struct gpnn_team *team)
{
  /* Signals that a thread brings on itself: blocked faults would end the program without its
   * handlers, and a blocked SIGPIPE would let a tool complain of a reader that went away. */
  static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGABRT, SIGPIPE};
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) sigdelset(&blocked, own[i]);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  while (team->n_started < team->n_helpers &&
         gpnn_threads_start(&team->helpers[team->n_started], help, team))
    team->n_started++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  team->has_tried = true;
}

static void team_init(struct gpnn_team *team, int threads)
{
  *team = (struct gpnn_team){.n_helpers = threads > 1 ? (size_t)threads - 1 : 0};
  if (team->n_helpers > 0) team->helpers = gpnn_alloc(team->n_helpers, 1, sizeof(pthread_t));
  if (team->helpers == NULL) team->n_helpers = 0;
  pthread_mutex_init(&team->mutex, NULL);
  pthread_cond_init(&team->called, NULL);
  pthread_cond_init(&team->left, NULL);
}

static void team_release(struct gpnn_team *team)
{
  pthread_mutex_lock(&team->mutex);
  team->ends = true;
  pthread_cond_broadcast(&team->called);
  pthread_mutex_unlock(&team->mutex);
  for (size_t i = 0; i < team->n_started; i++) pthread_join(team->helpers[i], NULL);
  pthread_cond_destroy(&team->left);
  pthread_cond_destroy(&team->called);
  pthread_mutex_destroy(&team->mutex);
  free(team->helpers);
}

/* Opens a loop to 'n' helpers. */
static void call(struct gpnn_team *team, struct loop *loop, size_t n)
{
  pthread_mutex_lock(&team->mutex);
  team->loop = loop;
  team->n_loops++;
  team->n_wanted = n;
  team->n_entered = 0;
  for (size_t i = 0; i < n; i++) pthread_cond_signal(&team->called);
  pthread_mutex_unlock(&team->mutex);
  if (!team->has_tried) start(team);
}

/* Closes the loop to helpers that have not entered it, and waits for those that have. */
static void dismiss(struct gpnn_team *team)
{
  pthread_mutex_lock(&team->mutex);
  team->loop = NULL;
  while (team->n_inside > 0) pthread_cond_wait(&team->left, &team->mutex);
  pthread_mutex_unlock(&team->mutex);
}

/* Runs a loop on up to 'threads' threads: the caller's and helpers of the team. */
static void run_in_team(struct gpnn_team *team, struct loop *loop, int threads)
{
  size_t n_chunks = divide_up(loop->n_pieces, loop->chunk_size);
  size_t n = (size_t)gpnn_threads_for(threads, n_chunks) - 1;
  if (n > team->n_helpers) n = team->n_helpers;
  atomic_init(&loop->next, 0);
  pthread_mutex_init(&loop->mutex, NULL);
  pthread_cond_init(&loop->changed, NULL);
  loop->failed = loop->n_pieces;
  if (n > 0) call(team, loop, n);
  work_on(loop, 0);
  if (n > 0) dismiss(team);
  pthread_cond_destroy(&loop->changed);
  pthread_mutex_destroy(&loop->mutex);
}

static void run(struct loop *loop, int threads)
{
  struct gpnn_team team;
  team_init(&team, gpnn_threads_for(threads, divide_up(loop->n_pieces, loop->chunk_size)));
  run_in_team(&team, loop, threads);
  team_release(&team);
}

static enum gpnn_status outcome_of(const struct loop *loop, struct gpnn_error *err)
{
  if (loop->status != GPNN_OK && err != NULL) *err = loop->error;
  return loop->status;
}

/* ---- the interface -------------------------------------------------------------------------- */

void gpnn_threads_each(int threads, size_t n_pieces, size_t chunk, gpnn_threads_step *step,
                       void *context)
{
  struct loop loop = {.n_pieces = n_pieces, .chunk_size = chunk, .step = step, .context = context};
  run(&loop, threads);
}

enum gpnn_status gpnn_threads_try(int threads, size_t n_pieces, size_t chunk,
                                  gpnn_threads_task *task, void *context, struct gpnn_error *err)
{
  return gpnn_team_try(NULL, threads, n_pieces, chunk, task, context, err);
}

enum gpnn_status gpnn_threads_in_order(int threads, size_t n_pieces, gpnn_threads_task *work,
                                       gpnn_threads_task *take, void *context,
                                       struct gpnn_error *err)
{
  struct loop loop = {
      .n_pieces = n_pieces, .chunk_size = 1, .work = work, .take = take, .context = context};
  run(&loop, threads);
  return outcome_of(&loop, err);
}

enum gpnn_status gpnn_team_new(struct gpnn_team **team, int threads, struct gpnn_error *err)
{
  struct gpnn_team *made = malloc(sizeof *made);
  if (made == NULL) return gpnn_fail_memory(err, "for threads");
  team_init(made, threads);
  *team = made;
  return GPNN_OK;
}

enum gpnn_status gpnn_team_try(struct gpnn_team *team, int threads, size_t n_pieces, size_t chunk,
                               gpnn_threads_task *task, void *context, struct gpnn_error *err)
{
  struct loop loop = {.n_pieces = n_pieces, .chunk_size = chunk, .work = task, .context = context};
  if (team == NULL)
    run(&loop, threads);
  else
    run_in_team(team, &loop, threads);
  return outcome_of(&loop, err);
}

void gpnn_team_free(struct gpnn_team *team)
{
  if (team == NULL) return;
  team_release(team);
  free(team);
}
