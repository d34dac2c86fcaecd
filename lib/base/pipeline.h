/*
 * pipeline: batches that are read, worked on and written, the three stages working at the same
 * time on successive batches.
 *
 * The caller keeps the batches in GPNN_PIPELINE_SLOTS slots, numbered from 0.  A batch occupies its
 * slot from being read until it has been written, and then the slot is used again: a stage that is
 * ahead waits.
 */
#ifndef GPNN_BASE_PIPELINE_H
#define GPNN_BASE_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum {
  GPNN_PIPELINE_READ,
  GPNN_PIPELINE_WORK,
  GPNN_PIPELINE_WRITE,
  GPNN_PIPELINE_COUNT,
  GPNN_PIPELINE_SLOTS = GPNN_PIPELINE_COUNT
};

struct gpnn_pipeline {
  /* What each stage does to the batch in a slot.  The read stage returns GPNN_END with the last
   * batch, which may be empty and still passes through the other stages. */
  enum gpnn_status (*steps[GPNN_PIPELINE_COUNT])(void *context, size_t slot,
                                                 struct gpnn_error *err);
  /* Called from another thread: makes the read stage fail soon, even if it is waiting for input,
   * and whenever it is called again. */
  void (*interrupt)(void *context);
  void *context;
};

/*
 * Takes every batch through the three stages.  Each stage gets the batches in order, one at a time,
 * so that it need only protect what it shares with other stages.  With 'overlap', reading and
 * writing have threads of their own and the caller's thread works; without it, and if no threads
 * can be started, the caller's thread does everything in turn, in slot 0.
 *
 * The first batch, in the order of batches, that fails in any stage ends the run: the batches
 * before it are written, it and all later ones are not, and its failure is returned.  Reading is
 * then interrupted, so as not to wait for what a slow pipe may still deliver.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_pipeline_run(const struct gpnn_pipeline *pipeline,
                                                   bool overlap, struct gpnn_error *err);

#endif
