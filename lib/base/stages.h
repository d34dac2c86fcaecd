/*
 * stages: batches that are read, worked on and written, each stage while the others are busy with
 * the batches behind and before it.
 *
 * The caller keeps the batches in GPNN_STAGES_SLOTS places.  From when it is read until it is
 * written a batch has its place, which then takes another one: a stage that is ahead waits.
 */
#ifndef GPNN_BASE_STAGES_H
#define GPNN_BASE_STAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum {
  GPNN_STAGES_READ,
  GPNN_STAGES_WORK,
  GPNN_STAGES_WRITE,
  GPNN_STAGES_COUNT,
  GPNN_STAGES_SLOTS = GPNN_STAGES_COUNT
};

struct gpnn_stages {
  /* What each stage does with the batch in a place.  GPNN_END, of reading: it is the last one. */
  enum gpnn_status (*steps[GPNN_STAGES_COUNT])(void *context, size_t slot, struct gpnn_error *err);
  /* Makes a reading that waits, and every later one, fail soon; called from another thread. */
  void (*interrupt)(void *context);
  void *context;
};

/*
 * Takes every batch through the stages.  Each stage has the batches in order, one at a time, and so
 * needs to guard only what it shares with another.  With 'overlap' reading and writing have threads
 * of their own, and the work is done by the caller's; without, and where no threads can be had, all
 * is done in turn.
 *
 * The first batch that fails in any stage, in the order of the batches, ends the run: the batches
 * before it are written, none from it on is, and its failure is returned.  So that it does not
 * wait for what a slow pipe may still bring, reading is then interrupted.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_stages_run(const struct gpnn_stages *stages, bool overlap,
                                                 struct gpnn_error *err);

#endif
