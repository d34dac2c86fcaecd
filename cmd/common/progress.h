/*
 * progress: a line on standard error that shows how far a long run has got, and when it will end.
 *
 * Shown when standard error is a terminal and the work has lasted over a second (or always,
 * or never, as asked); redrawn at most four times a second; erased before any message.
 *
 * A run does one thing after another: each 'what' begins anew.  The time left is that of the
 * present one, if it goes on at the speed it has had so far.
 */
#ifndef GPNN_CMD_COMMON_PROGRESS_H
#define GPNN_CMD_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Seconds by a clock that never goes back. */
double progress_now(void);

/* Overrides the automatic choice; called once, when the options are known. */
void progress_mode(bool always, bool never);

/* Reports that 'done' things ('what', plural) are done, of 'total' (0: not known). */
void progress_update(const char *what, size_t done, size_t total);

/* The same where not the total is known, but the share that they are (NaN: not known either). */
void progress_share(const char *what, size_t done, double share);

/* The same of the rows of a table that are read. */
void progress_rows_read(size_t n_rows, double share);

/* The same where 'most' is an upper bound of the total, which tells nothing of the time. */
void progress_at_most(const char *what, size_t done, size_t most);

/* Removes the line, if there is one. */
void progress_erase(void);

enum { PROGRESS_TIME_BYTES = 40 };

/* ", about 3 min left" in 'text' for a number of seconds; returns 'text'. */
const char *progress_time_left(double seconds, char text[PROGRESS_TIME_BYTES]);

#endif
