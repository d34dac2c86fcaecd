/*
 * cli_signals: how a tool ends where it does not end by itself; for cli.c.
 *
 * Unfinished files (cli_guard()) and another program under way (cli_helper()) do not outlive it.
 */
#ifndef GPNN_CMD_COMMON_CLI_SIGNALS_H
#define GPNN_CMD_COMMON_CLI_SIGNALS_H

/* The exit status of work that failed; and how many files may be guarded. */
enum { EXIT_WORK = 1, MAX_GUARDED = 1024 };

/* Begins to watch for signals; 'name' (borrowed) is the tool's, for messages. */
void cli_watch_signals(const char *name);

#endif
