/*
 * pipeline: batches that are read, worked on and written, each stage while the others are busy with
 * the batches behind and before it.
 *
 * The caller keeps the batches in GPNN_PIPELINE_SLOTS places.  From when it is read until it is
 * written a batch has its place, which then takes another one: a stage that is ahead waits.
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
  /* What each stage does with the batch in a place.  GPNN_END, of reading: it is the last one. */
  enum gpnn_status (*steps[GPNN_PIPELINE_COUNT])(void *context, size_t slot,
                                                 struct gpnn_error *err);
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
GPNN_MUST_CHECK enum gpnn_status gpnn_pipeline_run(const struct gpnn_pipeline *pipeline,
                                                   bool overlap, struct gpnn_error *err);

#endif
