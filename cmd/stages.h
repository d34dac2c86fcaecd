/*
 * stages: batches that are read, worked on and written, each stage while the others are busy with
 * the batches behind and before it.
 *
 * The batches are kept in STAGES_SLOTS places that take turns: batch b is in place b % STAGES_SLOTS
 * from when it is read until it is written, and so a stage that is ahead waits.
 */
#ifndef GPNN_CMD_STAGES_H
#define GPNN_CMD_STAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum { STAGES_READ, STAGES_WORK, STAGES_WRITE, STAGES_COUNT };

enum { STAGES_SLOTS = STAGES_COUNT };

struct stages {
  /* What each stage does with the batch in a place.  GPNN_END, of reading: it is the last one. */
  enum gpnn_status (*steps[STAGES_COUNT])(void *context, size_t slot, struct gpnn_error *err);
  void *context;
};

/*
 * Takes every batch through the stages.  Each stage has the batches in order, one at a time, and so
 * needs to guard only what it shares with another.  With 'overlap' reading and writing have threads
 * of their own, and the work is done by the caller's; without, all is done in turn.
 *
 * The first batch that fails in any stage, in the order of the batches, ends the run: the batches
 * before it are written, none from it on is, and its failure is returned.  Then reading may be
 * broken off where it waits for the system, but nowhere else.
 */
GPNN_MUST_CHECK enum gpnn_status stages_run(const struct stages *stages, bool overlap,
                                            struct gpnn_error *err);

#endif
