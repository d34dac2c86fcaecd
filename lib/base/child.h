/*
 * child: another program run to its end, with bytes for it to read and what it writes kept.
 *
 * The program is started as it is, without a shell.  It is fed and listened to at once, so that
 * neither side can wait for the other for ever; a program that stops reading early is no failure
 * and raises no signal.
 */
#ifndef GPNN_BASE_CHILD_H
#define GPNN_BASE_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"

enum { GPNN_CHILD_SAID_BYTES = 400 };

/* A zeroed object is empty and may be released. */
struct gpnn_child {
  char *output; /* owned; what it wrote to standard output */
  size_t n_output, capacity;
  char said[GPNN_CHILD_SAID_BYTES]; /* the beginning of what it wrote to standard error */
  size_t n_said;                    /* bytes of it; no NUL behind */
  int exit_status;                  /* -1: it was ended by a signal */
};

/*
 * Runs the program 'arguments[0]', searched for in PATH, with the 'arguments' and 'environment'
 * (both end with NULL), gives it the 'n' bytes 'input' as standard input, and waits for its end.
 * 'child' must be zeroed.  How the program ended is for the caller to judge.  GPNN_EEXTERNAL: there
 * is no such program.  GPNN_EIO, GPNN_ENOMEM: the system refused.
 *
 * 'watch' (or NULL) is for who may be interrupted and would leave the program behind: '*watch' is
 * its process as long as there is one, and 0 otherwise.  A signal handler may end what it names.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_child_run(struct gpnn_child *child, char *const *arguments,
                                                char *const *environment, const char *input,
                                                size_t n, volatile pid_t *watch,
                                                struct gpnn_error *err);

void gpnn_child_release(struct gpnn_child *child);

#endif
