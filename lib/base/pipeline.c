#include "base/pipeline.h"

#include <pthread.h>
#include <stdint.h>

#include "base/threads.h"

static enum gpnn_status run_in_turn(const struct gpnn_pipeline *pipeline, struct gpnn_error *err)
{
  enum gpnn_status read = GPNN_OK, status = GPNN_OK;
  while (read == GPNN_OK && status == GPNN_OK) {
    read = pipeline->steps[GPNN_PIPELINE_READ](pipeline->context, 0, err);
    if (read != GPNN_OK && read != GPNN_END) return read;
    for (int stage = GPNN_PIPELINE_WORK; stage < GPNN_PIPELINE_COUNT && status == GPNN_OK; stage++)
      status = pipeline->steps[stage](pipeline->context, 0, err);
  }
  return status;
}

/* ---- stages at the same time --------------------------------------------------------------- */

struct run {
  const struct gpnn_pipeline *pipeline;
  pthread_mutex_t mutex; /* guards all members below; a stage reads its own 'done' without it */
  pthread_cond_t changed;
  size_t done[GPNN_PIPELINE_COUNT]; /* how many batches each stage has finished */
  size_t end;                       /* how many batches there will be; SIZE_MAX: unknown yet */
  enum gpnn_status status;          /* of the first batch that failed, whose number is 'end' */
  struct gpnn_error error;
};

/* Waits for the next batch of a stage; false if there will be none. */
static bool wait_for_batch(struct run *run, int stage)
{
  const size_t *done = run->done;
  pthread_mutex_lock(&run->mutex);
  for (;;) {
    bool is_ready = stage == GPNN_PIPELINE_READ
                        ? done[GPNN_PIPELINE_READ] - done[GPNN_PIPELINE_WRITE] < GPNN_PIPELINE_SLOTS
                        : done[stage] < done[stage - 1];
    if (is_ready || done[stage] >= run->end) break;
    pthread_cond_wait(&run->changed, &run->mutex);
  }
  bool is_there = done[stage] < run->end;
  pthread_mutex_unlock(&run->mutex);
  return is_there;
}

/* Records the outcome of a stage's present batch, and wakes the other stages. */
static void end_batch(struct run *run, int stage, enum gpnn_status status,
                      const struct gpnn_error *error)
{
  pthread_mutex_lock(&run->mutex);
  size_t batch = run->done[stage];
  if (status == GPNN_OK || status == GPNN_END) {
    run->done[stage]++;
    if (status == GPNN_END && batch < run->end) run->end = batch + 1;
  } else if (batch < run->end) {
    run->end = batch;
    run->status = status;
    run->error = *error;
  }
  pthread_cond_broadcast(&run->changed);
  pthread_mutex_unlock(&run->mutex);
}

static void run_stage(struct run *run, int stage)
{
  const struct gpnn_pipeline *pipeline = run->pipeline;
  while (wait_for_batch(run, stage)) {
    struct gpnn_error error = {0};
    size_t slot = run->done[stage] % GPNN_PIPELINE_SLOTS;
    enum gpnn_status status = pipeline->steps[stage](pipeline->context, slot, &error);
    end_batch(run, stage, status, &error);
  }
}

static void *run_reading(void *run)
{
  run_stage(run, GPNN_PIPELINE_READ);
  return NULL;
}

static void *run_writing(void *run)
{
  run_stage(run, GPNN_PIPELINE_WRITE);
  return NULL;
}

/* Ends the stages before their first batch. */
static void cancel(struct run *run)
{
  pthread_mutex_lock(&run->mutex);
  run->end = 0;
  pthread_cond_broadcast(&run->changed);
  pthread_mutex_unlock(&run->mutex);
}

/* False, and nothing has been done, if the system has no threads for it. */
static bool run_all(struct run *run)
{
  pthread_t writer, reader;
  if (!gpnn_threads_start(&writer, run_writing, run)) return false;
  bool has_reader = gpnn_threads_start(&reader, run_reading, run);
  if (has_reader)
    run_stage(run, GPNN_PIPELINE_WORK);
  else
    cancel(run);
  pthread_join(writer, NULL);
  if (!has_reader) return false;
  if (run->status != GPNN_OK) run->pipeline->interrupt(run->pipeline->context);
  pthread_join(reader, NULL);
  return true;
}

enum gpnn_status gpnn_pipeline_run(const struct gpnn_pipeline *pipeline, bool overlap,
                                   struct gpnn_error *err)
{
  if (!overlap) return run_in_turn(pipeline, err);
  struct run run = {.pipeline = pipeline, .end = SIZE_MAX, .status = GPNN_OK};
  pthread_mutex_init(&run.mutex, NULL);
  pthread_cond_init(&run.changed, NULL);
  bool has_run = run_all(&run);
  pthread_cond_destroy(&run.changed);
  pthread_mutex_destroy(&run.mutex);
  if (!has_run) return run_in_turn(pipeline, err);
  if (run.status != GPNN_OK && err != NULL) *err = run.error;
  return run.status;
}
