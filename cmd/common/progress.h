/*
 * progress: a line on standard error that shows how far a long run has got.
 *
 * Shown when standard error is a terminal and the work has lasted over a second (or always,
 * or never, as asked); redrawn at most four times a second; erased before any message.
 */
#ifndef GPNN_CMD_COMMON_PROGRESS_H
#define GPNN_CMD_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Overrides the automatic choice; called once, when the options are known. */
void progress_mode(bool always, bool never);

/* Reports that 'done' things ('what', plural) are done, of 'total' (0: not known). */
void progress_update(const char *what, size_t done, size_t total);

/* Removes the line, if there is one. */
void progress_erase(void);

#endif
