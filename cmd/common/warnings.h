/*
 * warnings: warnings that wait until a tool ends, so that one about several targets is a single
 * line, and that a report can list them all.
 *
 * Calling sequence: a zeroed object; warnings_add(), any number of times; warnings_text() for each
 * of the 'n'; warnings_release().
 * Threads: an object belongs to one thread at a time.
 */
#ifndef GPNN_CMD_COMMON_WARNINGS_H
#define GPNN_CMD_COMMON_WARNINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum { WARNINGS_BYTES = GPNN_ERROR_BYTES + 256, WARNINGS_NAMES = 3 };

struct warning {
  const char *kind; /* borrowed: warnings of one kind have the same pointer */
  char *text;       /* owned: that about the first target */
  bool differs;     /* the texts about other targets are not the same */
  size_t n_targets; /* 0: it is not about a target */
  char names[WARNINGS_NAMES][GPNN_MASK_BYTES]; /* of the first targets, masked */
};

struct warnings {
  size_t n, capacity;
  struct warning *of; /* owned */
};

/* Adds a warning about 'target' (NULL: about none).  One of the same kind about another target only
 * gets this target's name.  False if there is not enough memory: then say it at once. */
bool warnings_add(struct warnings *warnings, const char *kind, const char *text,
                  const char *target);

/* Warning 'i' in words, "targets 'a', 'b' and 12 more: ...".  If its texts differ, it is that about
 * the first target, and says so.  Returns 'text'. */
char *warnings_text(const struct warnings *warnings, size_t i, char text[2 * WARNINGS_BYTES]);

void warnings_release(struct warnings *warnings);

#endif
