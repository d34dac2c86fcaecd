/*
 * signals: how a tool ends when something else ends it.
 *
 * Unfinished files and another program under way do not outlive it.
 */
#ifndef GPNN_CMD_COMMON_SIGNALS_H
#define GPNN_CMD_COMMON_SIGNALS_H

#include <stdbool.h>
#include <sys/types.h>

/* Most calls of cli_guard(). */
enum { CLI_MAX_GUARDED = 1024 };

/* Begins to watch for signals; 'name' (borrowed) is the tool's, for messages. */
void cli_watch_signals(const char *name);

/* Names a variable that holds the path of an unfinished file (or NULL) as long as there is
 * one: the signals that can be caught and end a tool remove that file.  So they do a directory,
 * which has to come after the files in it. */
void cli_guard(const char *volatile *path);

/* The process of another program that works for this one (0: none).  It is ended too, as nobody
 * would be left to read what it writes. */
volatile pid_t *cli_helper(void);

/* The variable of the environment in which a tool that runs others tells them its process id.  They
 * then end when it does, however that was, where the system has a way to find out (Linux). */
#define CLI_PARENT "GPNN_STEP_OF"

/* The process of another tool that works for this one (0: none).  It is asked to end, and waited
 * for, as it has unfinished files of its own to remove. */
volatile pid_t *cli_step(void);

/* True if another tool runs this one: its files are unfinished ones of that tool. */
bool cli_is_step(void);

#endif
