/*
 * state: arrays that belong to parameters and are as long as the training rows, which text would
 * not be the place for: pseudo-targets, and whatever else has a number for each row.
 *
 * A state is written together with the text of the parameters, as one container (gpnn-state(5));
 * what the text says, and what an array means, is the business of those who use them.  An array is
 * found by the name of its target and its own.
 *
 * Building one: gpnn_state_new(), gpnn_state_add() for each array, gpnn_state_pour(),
 * gpnn_state_free().  Reading one: gpnn_state_read(), gpnn_state_find(), gpnn_state_free().
 * Containers of other kinds may have arrays too: gpnn_state_list(), gpnn_state_of_container().
 * Threads: a state that nothing is added to may be shared.
 */
#ifndef GPNN_CONTAINER_STATE_H
#define GPNN_CONTAINER_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "container/container.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_state_array {
  char *target, *name; /* owned */
  size_t n;
  double *values; /* owned; n, which may be any numbers */
};

struct gpnn_state {
  uint64_t fingerprint; /* of the index whose rows the arrays belong to */
  size_t n;
  struct gpnn_state_array *arrays; /* owned; n, in the order in which they were added */
  size_t capacity;
};

/* An empty state.  GPNN_ENOMEM: '*state' is not set. */
GPNN_MUST_CHECK enum gpnn_status gpnn_state_new(struct gpnn_state **state, uint64_t fingerprint,
                                                struct gpnn_error *err);

/* Adds an array of 'n' numbers, of which there is none with this target and name; they are copied.
 * GPNN_ENOMEM: nothing is added. */
GPNN_MUST_CHECK enum gpnn_status gpnn_state_add(struct gpnn_state *state, const char *target,
                                                const char *name, size_t n, const double *values,
                                                struct gpnn_error *err);

/* The array of this target and name, or NULL.  Valid until one is added. */
const struct gpnn_state_array *gpnn_state_find(const struct gpnn_state *state, const char *target,
                                               const char *name);

/* Writes the state and the 'length' bytes of 'text' through 'sink' (container/container.h), whose
 * failures are passed on.  GPNN_ENOMEM: nothing was written. */
GPNN_MUST_CHECK enum gpnn_status gpnn_state_pour(const struct gpnn_state *state, const char *text,
                                                 size_t length, gpnn_container_sink *sink,
                                                 void *context, struct gpnn_error *err);

/*
 * Reads what gpnn_state_pour() wrote from 'bytes' (aligned as by malloc()); messages call it
 * 'name'.
 * '*text' is the place of the text in 'bytes'.  Everything is checked: see
 * gpnn_container_of_bytes() and gpnn_container_check() for the outcomes, and GPNN_EFORMAT: a
 * section is missing or contradicts another one.  After a failure nothing is set.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_state_read(struct gpnn_state **state, const char **text,
                                                 size_t *text_length, const char *name,
                                                 const void *bytes, size_t length,
                                                 struct gpnn_error *err);

/* ---- in containers of another kind --------------------------------------------------------- */

/*
 * The list of the arrays as section LIST of a container has it (gpnn-state(5)); their numbers, one
 * array after another, are its section DATA.  The caller frees '*list'.  GPNN_ENOMEM: neither is
 * set.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_state_list(const struct gpnn_state *state,
                                                 unsigned char **list, size_t *length,
                                                 struct gpnn_error *err);

/*
 * A state of the sections LIST and DATA of 'container', with its fingerprint; the numbers are
 * copied.  Outcomes as for gpnn_state_read(): the checksums of both sections are compared.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_state_of_container(struct gpnn_state **state,
                                                         const struct gpnn_container *container,
                                                         struct gpnn_error *err);

/* NULL is allowed. */
void gpnn_state_free(struct gpnn_state *state);

#ifdef __cplusplus
}
#endif

#endif
