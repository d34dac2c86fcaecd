/*
 * texts: texts in the order in which they were added, to be looked up by number.
 */
#ifndef GPNN_CMD_PREDICT_TEXTS_H
#define GPNN_CMD_PREDICT_TEXTS_H

#include <stddef.h>

#include "base/status.h"

/* A zeroed object has none and may be released. */
struct texts {
  size_t n;
  char *bytes; /* owned */
  size_t *end; /* owned; n: where each ends in 'bytes' */
  size_t bytes_capacity, end_capacity;
};

/* Removes all. */
void texts_clear(struct texts *texts);

/* Adds a copy of 'length' bytes, which may be none.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status texts_add(struct texts *texts, const char *text, size_t length,
                                           struct gpnn_error *err);

/* Text number 'i', from 0, of '*length' bytes; valid until one is added. */
const char *texts_get(const struct texts *texts, size_t i, size_t *length);

void texts_release(struct texts *texts);

#endif
