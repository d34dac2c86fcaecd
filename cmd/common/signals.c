#include "cmd/common/signals.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include "base/out_of_memory.h"
#include "cmd/common/cli_private.h"

/* What a signal handler needs must be global: the variables that hold the paths of unfinished
 * files. */
static const char *volatile *guarded[CLI_MAX_GUARDED];
static volatile sig_atomic_t n_guarded;
static const char *volatile running; /* name of the tool */
static volatile pid_t helper;        /* process of another program that is running for us, or 0 */
static volatile pid_t step;          /* the same of another tool */
static bool is_step;                 /* another tool runs this one */

/* It may have been stopped, and would not learn that it should end. */
static void end_step(void)
{
  kill(step, SIGTERM);
  kill(step, SIGCONT);
  while (waitpid(step, NULL, 0) < 0 && errno == EINTR) continue;
}

static void leave_nothing(void)
{
  if (helper > 0) kill(helper, SIGKILL);
  if (step > 0) end_step();
  for (int i = 0; i < n_guarded; i++) {
    const char *path = *guarded[i];
    if (path != NULL && unlink(path) != 0) rmdir(path);
  }
}

static void end_by_signal(int signal_number)
{
  leave_nothing();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

/* Ends the tool when nothing can be trusted any more: prints 'why' and does nothing else. */
static void end_with_word(const char *why)
{
  static atomic_flag is_printed = ATOMIC_FLAG_INIT;
  const char *name = running == NULL ? "gpnn" : running; /* not known before main() */
  while (atomic_flag_test_and_set(&is_printed)) pause(); /* another thread prints it */
  leave_nothing();
  if (write(STDERR_FILENO, name, strcspn(name, " ")) > 0)
    (void)!write(STDERR_FILENO, why, strlen(why));
  _exit(EXIT_WORK);
}

/* A page of a mapped file is not there: the file was cut short while in use, or its disk failed. */
static void end_by_lost_page(int signal_number)
{
  (void)signal_number;
  end_with_word(": an index was cut short while it was in use, or cannot be read\n");
}

static void end_out_of_memory(void)
{
  end_with_word(": not enough memory\n");
}

/* Runs before other libraries construct their objects, which takes memory. */
__attribute__((constructor(101))) static void watch_memory(void)
{
  gpnn_out_of_memory_call(end_out_of_memory);
}

static void handle(int signal_number, void (*handler)(int))
{
  struct sigaction action = {.sa_handler = handler};
  sigemptyset(&action.sa_mask);
  sigaction(signal_number, &action, NULL);
}

/* Not even a parent that is killed outright leaves this tool at work. */
static void follow_parent(void)
{
  const char *parent = getenv(CLI_PARENT);
  if (parent == NULL) return;
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != (pid_t)atol(parent)) raise(SIGTERM); /* it was too late */
#endif
  unsetenv(CLI_PARENT);
  is_step = true;
}

bool cli_is_step(void)
{
  return is_step;
}

void cli_watch_signals(const char *name)
{
  /* SIGXCPU: the limit of "ulimit -t".  SIGABRT: a library has given up. */
  static const int signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGALRM,
                                SIGUSR1, SIGUSR2, SIGXCPU, SIGPIPE, SIGABRT};
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    struct sigaction action;
    /* A signal that our parent ignores (nohup) stays ignored, except that we always end, quietly,
     * when nobody reads our output. */
    if (signals[i] != SIGPIPE && sigaction(signals[i], NULL, &action) == 0 &&
        action.sa_handler == SIG_IGN)
      continue;
    handle(signals[i], end_by_signal);
  }
  running = name;
  follow_parent();
  handle(SIGBUS, end_by_lost_page);
  /* Libraries may call exit(): the OpenMP runtime that FAISS needs does when memory runs out. */
  (void)atexit(leave_nothing);
  signal(SIGXFSZ,
         SIG_IGN); /* exceeding the file size limit then fails the write, which is reported */
}

void cli_guard(const char *volatile *path)
{
  assert(n_guarded < CLI_MAX_GUARDED);
  guarded[n_guarded] = path;
  n_guarded++;
}

volatile pid_t *cli_helper(void)
{
  return &helper;
}

volatile pid_t *cli_step(void)
{
  return &step;
}
