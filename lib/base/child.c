#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

enum { N_STREAMS = 3, PIECE_BYTES = 64 * 1024 };

/* The child's standard input, output and error: our end of each and its own; -1 once closed. */
struct streams {
  int ours[N_STREAMS], its[N_STREAMS];
};

static void close_end(int *fd)
{
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static void close_all(struct streams *s)
{
  for (int i = 0; i < N_STREAMS; i++) {
    close_end(&s->ours[i]);
    close_end(&s->its[i]);
  }
}

/* Gives a descriptor a number above those of the standard streams.  We may have been started
 * without these, and a descriptor that is passed on under its own number would be closed in the
 * child, as all of ours are.  -1: there is no such number; the descriptor is closed. */
static int move_end(int fd)
{
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, N_STREAMS);
  int errnum = errno;
  close(fd);
  errno = errnum;
  return moved;
}

/* Sockets rather than pipes, as send() can be told not to raise SIGPIPE. */
static bool open_streams(struct streams *s)
{
  for (int i = 0; i < N_STREAMS; i++) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return false;
    s->ours[i] = move_end(pair[0]);
    s->its[i] = move_end(pair[1]);
    if (s->ours[i] < 0 || s->its[i] < 0) return false;
  }
  return true;
}

/* Starts the program with the descriptors 'its' as standard streams (-1: ours) and the signal mask
 * 'mask'; returns 0 or an error number. */
static int spawn(const int its[N_STREAMS], char *const *arguments, char *const *environment,
                 const sigset_t *mask, pid_t *pid)
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int failed = posix_spawn_file_actions_init(&actions);
  if (failed != 0) return failed;
  failed = posix_spawnattr_init(&attributes);
  if (failed == 0) {
    failed = posix_spawnattr_setsigmask(&attributes, mask);
    if (failed == 0) failed = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    for (int i = 0; i < N_STREAMS && failed == 0; i++)
      if (its[i] >= 0) failed = posix_spawn_file_actions_adddup2(&actions, its[i], i);
    if (failed == 0)
      failed = posix_spawnp(pid, arguments[0], &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

/* The same, with all signals blocked until the new process is watched. */
static int start(const int its[N_STREAMS], char *const *arguments, char *const *environment,
                 volatile pid_t *watch, pid_t *pid)
{
  sigset_t all, before;
  sigfillset(&all);
  int failed = pthread_sigmask(SIG_SETMASK, &all, &before);
  if (failed != 0) return failed;
  failed = spawn(its, arguments, environment, &before, pid);
  if (failed == 0) *watch = *pid;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failed;
}

/* Sends some of the input, and closes our end once all is sent or the child has stopped reading. */
static enum gpnn_status feed(struct streams *s, const char **input, size_t *left,
                             struct gpnn_error *err)
{
  ssize_t sent = 0;
  if (*left > 0) sent = send(s->ours[0], *input, *left, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return GPNN_OK;
  if (sent < 0 && errno != EPIPE && errno != ECONNRESET)
    return gpnn_fail_errno(err, errno, "cannot send input to another program");
  if (sent > 0) {
    *input += sent;
    *left -= (size_t)sent;
  }
  if (sent < 0 || *left == 0) close_end(&s->ours[0]);
  return GPNN_OK;
}

static enum gpnn_status take_output(struct streams *s, struct gpnn_child *child,
                                    struct gpnn_error *err)
{
  if (!gpnn_grow(&child->output, &child->capacity, child->n_output + PIECE_BYTES, 1))
    return gpnn_fail_memory(err, "for what another program writes");
  ssize_t got = read(s->ours[1], child->output + child->n_output, PIECE_BYTES);
  if (got < 0 && errno == EINTR) return GPNN_OK;
  /* A child that ends before it has read all of its input resets the connection. */
  if (got < 0 && errno != ECONNRESET)
    return gpnn_fail_errno(err, errno, "cannot read what another program writes");
  if (got > 0)
    child->n_output += (size_t)got;
  else
    close_end(&s->ours[1]);
  return GPNN_OK;
}

/* Once there is no more room, what is read is dropped: the child must not wait for us. */
static void take_message(struct streams *s, struct gpnn_child *child)
{
  char piece[GPNN_CHILD_MESSAGE_BYTES];
  ssize_t got = read(s->ours[2], piece, sizeof piece);
  if (got < 0 && errno == EINTR) return;
  if (got <= 0) {
    close_end(&s->ours[2]);
    return;
  }
  size_t room = sizeof child->message - child->n_message;
  size_t kept = (size_t)got < room ? (size_t)got : room;
  memcpy(child->message + child->n_message, piece, kept);
  child->n_message += kept;
}

/* Serves the streams until the child has closed its output and its error stream. */
static enum gpnn_status serve(struct streams *s, struct gpnn_child *child, const char *input,
                              size_t left, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  while (status == GPNN_OK && (s->ours[1] >= 0 || s->ours[2] >= 0)) {
    struct pollfd waits[N_STREAMS] = {{.fd = s->ours[0], .events = POLLOUT},
                                      {.fd = s->ours[1], .events = POLLIN},
                                      {.fd = s->ours[2], .events = POLLIN}};
    if (poll(waits, N_STREAMS, -1) < 0) {
      if (errno == EINTR) continue;
      return gpnn_fail_errno(err, errno, "cannot wait for another program");
    }
    if (waits[0].revents != 0) status = feed(s, &input, &left, err);
    if (status == GPNN_OK && waits[1].revents != 0) status = take_output(s, child, err);
    if (waits[2].revents != 0) take_message(s, child);
  }
  return status;
}

/* Waits for the end, described in '*how' as by waitpid().  The process id stays ours until
 * waitpid() has collected it, so it is no longer watched by then: the handler could end another
 * process. */
static bool wait_for_end(pid_t pid, volatile pid_t *watch, int *how)
{
  siginfo_t info;
  pid_t ended;
  while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) continue;
  *watch = 0;
  do ended = waitpid(pid, how, 0);
  while (ended < 0 && errno == EINTR);
  return ended >= 0;
}

static enum gpnn_status fail_to_start(const char *program, int failed, struct gpnn_error *err)
{
  if (failed == ENOENT)
    return gpnn_fail(err, GPNN_EEXTERNAL, "%s: there is no such program", program);
  return gpnn_fail_errno(err, failed, "%s: cannot be started", program);
}

static enum gpnn_status fail_to_wait(const char *program, struct gpnn_error *err)
{
  return gpnn_fail_errno(err, errno, "%s: cannot find out how it ended", program);
}

enum gpnn_status gpnn_child_run(struct gpnn_child *child, char *const *arguments,
                                char *const *environment, const char *input, size_t n,
                                volatile pid_t *watch, struct gpnn_error *err)
{
  struct streams s = {{-1, -1, -1}, {-1, -1, -1}};
  pid_t pid;
  volatile pid_t unwatched;
  if (watch == NULL) watch = &unwatched;
  int failed = open_streams(&s) ? start(s.its, arguments, environment, watch, &pid) : errno;
  if (failed != 0) {
    close_all(&s);
    return fail_to_start(arguments[0], failed, err);
  }
  for (int i = 0; i < N_STREAMS; i++) close_end(&s.its[i]);
  struct gpnn_child run = {0};
  enum gpnn_status status = serve(&s, &run, input, n, err);
  close_all(&s); /* after a failure a child that goes on writing gets SIGPIPE, and ends */
  int how;
  if (!wait_for_end(pid, watch, &how) && status == GPNN_OK)
    status = fail_to_wait(arguments[0], err);
  if (status != GPNN_OK) {
    gpnn_child_release(&run);
    return status;
  }
  run.exit_status = WIFEXITED(how) ? WEXITSTATUS(how) : -1;
  *child = run;
  return GPNN_OK;
}

void gpnn_child_release(struct gpnn_child *child)
{
  free(child->output);
  *child = (struct gpnn_child){0};
}

enum gpnn_status gpnn_child_run_attached(char *const *arguments, char *const *environment,
                                         const int streams[N_STREAMS], volatile pid_t *watch,
                                         struct gpnn_child_end *end, struct gpnn_error *err)
{
  pid_t pid;
  volatile pid_t unwatched;
  if (watch == NULL) watch = &unwatched;
  int failed = start(streams, arguments, environment, watch, &pid);
  if (failed != 0) return fail_to_start(arguments[0], failed, err);
  int how;
  if (!wait_for_end(pid, watch, &how)) return fail_to_wait(arguments[0], err);
  *end = (struct gpnn_child_end){WIFEXITED(how) ? WEXITSTATUS(how) : -1,
                                 WIFSIGNALED(how) ? WTERMSIG(how) : 0};
  return GPNN_OK;
}
