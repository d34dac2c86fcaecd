/*
 * child: runs another program to its end.  gpnn_child_run() feeds it input and keeps what it
 * writes; gpnn_child_run_attached() leaves it to the caller's own streams.
 *
 * The program is started directly, without a shell.  Input, output and messages are served at the
 * same time, so that neither side can wait for the other for ever.  A program that stops reading
 * its input early causes neither a failure nor a SIGPIPE.
 *
 * Threads: no shared state, but a child inherits whatever its parent has open without FD_CLOEXEC.
 */
#ifndef GPNN_BASE_CHILD_H
#define GPNN_BASE_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"

enum { GPNN_CHILD_MESSAGE_BYTES = 400 };

/* A zeroed object is empty and may be released. */
struct gpnn_child {
  char *output; /* owned; standard output; NULL if there was none */
  size_t n_output, capacity;
  char message[GPNN_CHILD_MESSAGE_BYTES]; /* the beginning of its standard error */
  size_t n_message;                       /* bytes of it; there is no terminating NUL */
  int exit_status;                        /* -1 if a signal ended it */
};

/*
 * Runs the program 'arguments[0]', found by way of PATH, with these arguments and environment
 * (both end with NULL), gives it the 'n' bytes 'input' as standard input, and waits for its end.
 * 'child' must be zeroed before, and is released by the caller.
 *
 * GPNN_OK: it ran; whether it succeeded is for the caller to judge by exit_status.  GPNN_EEXTERNAL:
 * there is no such program.  GPNN_EIO, GPNN_ENOMEM: the system refused.  After a failure 'child' is
 * untouched, and no process is left.
 *
 * A caller that a signal may interrupt passes 'watch', or else NULL: '*watch' is the process id
 * while the process exists, and 0 otherwise, so that a signal handler can end it.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_child_run(struct gpnn_child *child, char *const *arguments,
                                                char *const *environment, const char *input,
                                                size_t n, volatile pid_t *watch,
                                                struct gpnn_error *err);

void gpnn_child_release(struct gpnn_child *child);

/* How a program ended. */
struct gpnn_child_end {
  int exit_status;   /* -1 if a signal ended it: */
  int signal_number; /* 0 if none did */
};

/*
 * Runs a program as gpnn_child_run() does, but with streams that are the caller's: 'streams' has
 * the descriptors of its standard input, output and error, of which -1 stands for the caller's own.
 * Outcomes and 'watch' as there; '*end' is set on success only.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_child_run_attached(char *const *arguments, char *const *environment, const int streams[3],
                        volatile pid_t *watch, struct gpnn_child_end *end, struct gpnn_error *err);

#endif
