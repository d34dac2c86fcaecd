/* Parallel loops: every piece once; failures and turns in the order of pieces. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "base/threads.h"
#include "unit.h"

enum { MOST_THREADS = 8, MOST_PIECES = 300, NEVER = -1 };

static void there_is_a_processor(void **state)
{
  (void)state;
  assert_true(gpnn_threads_available() >= 1);
}

static void there_are_no_more_threads_than_pieces(void **state)
{
  (void)state;
  assert_int_equal(gpnn_threads_for(8, 1), 1);
  assert_int_equal(gpnn_threads_for(8, 7), 7);
  assert_int_equal(gpnn_threads_for(8, 8), 8);
  assert_int_equal(gpnn_threads_for(8, 9), 8);
  assert_int_equal(gpnn_threads_for(1, 1000), 1);
  assert_int_equal(gpnn_threads_for(INT_MAX, SIZE_MAX), INT_MAX);
}

static void there_is_always_one_thread(void **state)
{
  (void)state;
  assert_int_equal(gpnn_threads_for(8, 0), 1);
  assert_int_equal(gpnn_threads_for(0, 8), 1);
  assert_int_equal(gpnn_threads_for(-3, 8), 1);
}

/* ---- loops -------------------------------------------------------------------------------- */

/* A loop under test.  Each thread writes to elements of its own, or of its piece. */
struct trial {
  int threads;                            /* that may take part */
  int fails[2];                           /* pieces whose work fails, or NEVER */
  int take_fails;                         /* the piece that is not taken, or NEVER */
  bool dawdles;                           /* even pieces take longer */
  int done[MOST_PIECES];                  /* how often */
  atomic_int busy[MOST_THREADS], n_wrong; /* times that two had one scratch, or one none */
  int n_taken, taken[MOST_PIECES];
  pthread_t taker[MOST_PIECES], worker[MOST_PIECES];
};

static void pause_for(long microseconds)
{
  struct timespec pause = {0, microseconds * 1000};
  nanosleep(&pause, NULL);
}

static void step(void *context, size_t thread, size_t piece)
{
  struct trial *t = context;
  if (thread >= (size_t)t->threads || atomic_fetch_add(&t->busy[thread % MOST_THREADS], 1) != 0)
    atomic_fetch_add(&t->n_wrong, 1);
  if (t->dawdles && piece % 2 == 0) pause_for((long)(piece % 7) * 20);
  t->done[piece]++;
  t->worker[piece] = pthread_self();
  atomic_fetch_sub(&t->busy[thread % MOST_THREADS], 1);
}

static enum gpnn_status work(void *context, size_t thread, size_t piece, struct gpnn_error *err)
{
  const struct trial *t = context;
  step(context, thread, piece);
  for (int i = 0; i < 2; i++)
    if (t->fails[i] == (int)piece) return gpnn_fail(err, GPNN_EDATA, "piece %zu", piece);
  return GPNN_OK;
}

static enum gpnn_status take(void *context, size_t thread, size_t piece, struct gpnn_error *err)
{
  struct trial *t = context;
  (void)thread;
  if (t->take_fails == (int)piece) return gpnn_fail(err, GPNN_EIO, "taking %zu", piece);
  t->taker[t->n_taken] = pthread_self();
  t->taken[t->n_taken++] = (int)piece; /* no guard: they come one after another */
  return GPNN_OK;
}

static struct trial trial(bool dawdles)
{
  return (struct trial){
      .threads = MOST_THREADS, .fails = {NEVER, NEVER}, .take_fails = NEVER, .dawdles = dawdles};
}

static void assert_done_once(const struct trial *t, int n)
{
  for (int i = 0; i < MOST_PIECES; i++) assert_int_equal(t->done[i], i < n);
  assert_int_equal(t->n_wrong, 0);
}

static void every_piece_is_done_once(void **state)
{
  static const int numbers[] = {0, 1, 2, 3, 7, 8, 9, 64, MOST_PIECES};
  static const size_t together[] = {1, 3, 64, SIZE_MAX};
  (void)state;
  for (int threads = -1; threads <= MOST_THREADS; threads++)
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
      for (size_t k = 0; k < sizeof together / sizeof together[0]; k++) {
        struct trial each = trial(false), try = trial(false), order = trial(false);
        size_t n = (size_t)numbers[i];
        gpnn_threads_each(threads, n, together[k], step, &each);
        assert_done_once(&each, numbers[i]);
        assert_ok(gpnn_threads_try(threads, n, together[k], work, &try, &err));
        assert_done_once(&try, numbers[i]);
        assert_ok(gpnn_threads_in_order(threads, n, work, take, &order, &err));
        assert_done_once(&order, numbers[i]);
        assert_int_equal(order.n_taken, numbers[i]);
      }
}

/* Whichever piece happens to fail first in time. */
static void the_first_failure_in_the_order_of_pieces_is_returned(void **state)
{
  (void)state;
  for (int threads = 1; threads <= MOST_THREADS; threads++)
    for (int first = 0; first < 60; first++) {
      struct trial t = trial(first % 2 == 0);
      struct gpnn_error err = {0};
      char expected[32];
      t.fails[0] = first + 1 + first % 5;
      t.fails[1] = first;
      snprintf(expected, sizeof expected, "piece %d", first);
      assert_int_equal(gpnn_threads_try(threads, 100, 1 + (size_t)first % 3, work, &t, &err),
                       GPNN_EDATA);
      assert_string_equal(err.text, expected);
      for (int i = 0; i <= first; i++) assert_int_equal(t.done[i], 1);
      if (threads == 1) assert_int_equal(t.done[t.fails[0] + 1], 0);
      assert_int_equal(gpnn_threads_try(threads, 100, 1, work, &t, NULL), GPNN_EDATA);
    }
}

static void pieces_are_taken_in_order_by_the_thread_that_worked_on_them(void **state)
{
  (void)state;
  for (int threads = 1; threads <= MOST_THREADS; threads++) {
    struct trial t = trial(true);
    assert_ok(gpnn_threads_in_order(threads, 100, work, take, &t, &err));
    assert_int_equal(t.n_taken, 100);
    for (int i = 0; i < 100; i++) {
      assert_int_equal(t.taken[i], i);
      assert_true(pthread_equal(t.taker[i], t.worker[i]));
    }
  }
}

static void nothing_is_taken_from_the_first_failure_on(void **state)
{
  (void)state;
  for (int threads = 1; threads <= MOST_THREADS; threads++)
    for (int at = 0; at < 30; at++) {
      struct trial t = trial(at % 2 == 0);
      struct gpnn_error err = {0};
      char expected[32];
      t.take_fails = at % 3 == 0 ? at + 1 : at;
      t.fails[0] = at % 3 == 0 ? at : at + 2;
      snprintf(expected, sizeof expected, at % 3 == 0 ? "piece %d" : "taking %d", at);
      assert_int_equal(gpnn_threads_in_order(threads, 100, work, take, &t, &err),
                       at % 3 == 0 ? GPNN_EDATA : GPNN_EIO);
      assert_string_equal(err.text, expected);
      assert_int_equal(t.n_taken, at);
      for (int i = 0; i < at; i++) assert_int_equal(t.taken[i], i);
    }
}

/* ---- loops in loops ----------------------------------------------------------------------- */

static void run_inside(void *context, size_t thread, size_t piece)
{
  struct trial *trials = context;
  (void)thread;
  gpnn_threads_each(3, 50, 4, step, &trials[piece]);
}

static void loops_may_be_run_inside_loops(void **state)
{
  enum { OUTER = 6 };
  struct trial trials[OUTER];
  (void)state;
  for (size_t i = 0; i < OUTER; i++) trials[i] = trial(true);
  gpnn_threads_each(4, OUTER, 1, run_inside, trials);
  for (size_t i = 0; i < OUTER; i++) assert_done_once(&trials[i], 50);
}

/* ---- teams -------------------------------------------------------------------------------- */

static void a_team_runs_one_loop_after_another(void **state)
{
  (void)state;
  for (int threads = 0; threads <= MOST_THREADS; threads++) {
    struct gpnn_team *team = NULL;
    assert_ok(gpnn_team_new(&team, threads, &err));
    for (int i = 0; i < 200; i++) {
      struct trial t = trial(i % 2 == 0);
      int n = 1 + i % 40;
      t.threads = 1 + i % MOST_THREADS;
      t.fails[0] = i % 3 == 0 ? i % 50 : NEVER;
      struct gpnn_error err = {0};
      enum gpnn_status status =
          gpnn_team_try(team, t.threads, (size_t)n, 1 + (size_t)i % 2, work, &t, &err);
      bool fails = i % 3 == 0 && i % 50 < n;
      assert_int_equal(status, fails ? GPNN_EDATA : GPNN_OK);
      for (int k = 0; k < (fails ? i % 50 : n); k++) assert_int_equal(t.done[k], 1);
      assert_int_equal(t.n_wrong, 0);
    }
    gpnn_team_free(team);
  }
  gpnn_team_free(NULL);
}

static void a_team_that_is_never_called_ends(void **state)
{
  struct gpnn_team *team = NULL;
  (void)state;
  assert_ok(gpnn_team_new(&team, 4, &err));
  gpnn_team_free(team);
}

static void without_a_team_threads_are_started_for_the_loop(void **state)
{
  struct trial t = trial(true);
  (void)state;
  assert_ok(gpnn_team_try(NULL, 3, 50, 1, work, &t, &err));
  assert_done_once(&t, 50);
}

/* ---- what the system gives ---------------------------------------------------------------- */

static bool threads_are_forbidden = false;

/* In place of the C library's, which it calls unless there are to be no more threads. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *context)
{
  int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  void *found = dlsym(RTLD_NEXT, "pthread_create");
  memcpy(&create, &found, sizeof create);
  return threads_are_forbidden ? EAGAIN : create(thread, attributes, run, context);
}

static void without_further_threads_the_caller_does_all_the_work(void **state)
{
  struct trial each = trial(false), order = trial(false), called = trial(false);
  struct gpnn_team *team = NULL;
  (void)state;
  threads_are_forbidden = true;
  gpnn_threads_each(4, 100, 1, step, &each);
  enum gpnn_status in_order = gpnn_threads_in_order(4, 100, work, take, &order, NULL);
  assert_ok(gpnn_team_new(&team, 4, &err));
  enum gpnn_status in_team = gpnn_team_try(team, 4, 100, 1, work, &called, NULL);
  gpnn_team_free(team);
  threads_are_forbidden = false;
  assert_int_equal(in_order, GPNN_OK);
  assert_int_equal(in_team, GPNN_OK);
  assert_done_once(&each, 100);
  assert_done_once(&order, 100);
  assert_done_once(&called, 100);
  for (int i = 0; i < 100; i++) {
    assert_true(pthread_equal(each.worker[i], pthread_self()));
    assert_int_equal(order.taken[i], i);
  }
}

/* For each piece, whether its thread is the caller's, and whether it accepts a signal. */
struct masks {
  pthread_t caller;
  bool is_own[MOST_PIECES], takes_term[MOST_PIECES], takes_bus[MOST_PIECES];
};

static void note_mask(void *context, size_t thread, size_t piece)
{
  struct masks *masks = context;
  sigset_t set;
  (void)thread;
  pause_for(200);
  pthread_sigmask(SIG_SETMASK, NULL, &set);
  masks->is_own[piece] = pthread_equal(masks->caller, pthread_self());
  masks->takes_term[piece] = !sigismember(&set, SIGTERM);
  masks->takes_bus[piece] = !sigismember(&set, SIGBUS);
}

static void signals_are_left_to_the_program(void **state)
{
  struct masks masks = {.caller = pthread_self()};
  (void)state;
  gpnn_threads_each(4, 40, 1, note_mask, &masks);
  for (int i = 0; i < 40; i++) {
    assert_int_equal(masks.takes_term[i], masks.is_own[i]);
    assert_true(masks.takes_bus[i]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(there_is_a_processor),
      cmocka_unit_test(there_are_no_more_threads_than_pieces),
      cmocka_unit_test(there_is_always_one_thread),
      cmocka_unit_test(every_piece_is_done_once),
      cmocka_unit_test(the_first_failure_in_the_order_of_pieces_is_returned),
      cmocka_unit_test(pieces_are_taken_in_order_by_the_thread_that_worked_on_them),
      cmocka_unit_test(nothing_is_taken_from_the_first_failure_on),
      cmocka_unit_test(loops_may_be_run_inside_loops),
      cmocka_unit_test(a_team_runs_one_loop_after_another),
      cmocka_unit_test(a_team_that_is_never_called_ends),
      cmocka_unit_test(without_a_team_threads_are_started_for_the_loop),
      cmocka_unit_test(without_further_threads_the_caller_does_all_the_work),
      cmocka_unit_test(signals_are_left_to_the_program),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
