/* Batches through reading, work and writing, in turn and at the same time. */
#include <time.h>
#include <unistd.h>

#include "base/pipeline.h"
#include "random.h"
#include "unit.h"

enum { NEVER = -1 };

/* A run of 'n' batches, one of which may fail in each stage.  Each stage has its own counts. */
struct trial {
  int n, fails[GPNN_PIPELINE_COUNT], done[GPNN_PIPELINE_COUNT];
  int places[GPNN_PIPELINE_SLOTS]; /* the batch in each place */
  int blocks, pipe[2];             /* reading waits for the pipe instead of for this batch */
  bool dawdles;
  struct gpnn_rng rngs[GPNN_PIPELINE_COUNT];
};

/* The common part of all stages: checks that the batch is the next one, and may fail. */
static enum gpnn_status pass(struct trial *t, int stage, size_t slot, struct gpnn_error *err)
{
  static const char *const names[] = {"read", "work", "write"};
  int batch = t->done[stage];
  struct timespec pause = {0, (long)gpnn_rng_below(&t->rngs[stage], 60000)};
  if (t->dawdles) nanosleep(&pause, NULL);
  if (batch == t->fails[stage]) return gpnn_fail(err, GPNN_EDATA, "%s %d", names[stage], batch);
  /* Passed from stage to stage in the batch's slot. */
  int expected = GPNN_PIPELINE_COUNT * batch + stage - 1;
  if (stage != GPNN_PIPELINE_READ && t->places[slot] != expected)
    return gpnn_fail(err, GPNN_EINVAL, "place %d has %d", (int)slot, t->places[slot]);
  t->places[slot] = expected + 1;
  t->done[stage]++;
  return GPNN_OK;
}

static enum gpnn_status read_step(void *context, size_t slot, struct gpnn_error *err)
{
  struct trial *t = context;
  if (t->blocks == t->done[GPNN_PIPELINE_READ]) {
    char byte;
    ssize_t got = read(t->pipe[0], &byte, 1);
    return gpnn_fail(err, GPNN_EIO, "interrupted by %d byte", (int)got);
  }
  enum gpnn_status status = pass(t, GPNN_PIPELINE_READ, slot, err);
  return status == GPNN_OK && t->done[GPNN_PIPELINE_READ] == t->n ? GPNN_END : status;
}

static enum gpnn_status work_step(void *context, size_t slot, struct gpnn_error *err)
{
  return pass(context, GPNN_PIPELINE_WORK, slot, err);
}

static enum gpnn_status write_step(void *context, size_t slot, struct gpnn_error *err)
{
  return pass(context, GPNN_PIPELINE_WRITE, slot, err);
}

static void interrupt(void *context)
{
  struct trial *t = context;
  if (t->blocks != NEVER && write(t->pipe[1], "", 1) != 1) abort();
}

static enum gpnn_status run_trial(struct trial *t, bool overlap, struct gpnn_error *err)
{
  const struct gpnn_pipeline pipeline = {{read_step, work_step, write_step}, interrupt, t};
  memset(t->done, 0, sizeof t->done);
  for (int k = 0; k < GPNN_PIPELINE_COUNT; k++)
    gpnn_rng_init(&t->rngs[k], (uint64_t)k + 1, GPNN_RNG_TEST);
  return gpnn_pipeline_run(&pipeline, overlap, err);
}

/* The first batch that fails, and the stage it fails in; t->n if none does. */
static int first_failure(const struct trial *t, int *stage)
{
  int first = t->n;
  for (int k = 0; k < GPNN_PIPELINE_COUNT; k++)
    if (t->fails[k] != NEVER && t->fails[k] < first) {
      first = t->fails[k];
      *stage = k;
    }
  return first;
}

static void every_batch_passes_every_stage_in_order(void **state)
{
  (void)state;
  for (int n = 1; n < 40; n++)
    for (int overlap = 0; overlap < 2; overlap++) {
      struct trial t = {.n = n, .fails = {NEVER, NEVER, NEVER}, .blocks = NEVER, .dawdles = n % 2};
      assert_ok(run_trial(&t, overlap, &err));
      for (int k = 0; k < GPNN_PIPELINE_COUNT; k++) assert_int_equal(t.done[k], n);
    }
}

static void the_first_failure_in_the_order_of_batches_ends_the_run(void **state)
{
  (void)state;
  static const char *const names[] = {"read", "work", "write"};
  struct gpnn_rng rng = seeded(1);
  for (int i = 0; i < 600; i++) {
    struct trial t = {.n = 1 + (int)gpnn_rng_below(&rng, 12), .blocks = NEVER, .dawdles = i % 2};
    for (int k = 0; k < GPNN_PIPELINE_COUNT; k++)
      t.fails[k] = gpnn_rng_below(&rng, 2) == 0 ? NEVER : (int)gpnn_rng_below(&rng, 12);
    int stage = 0, first = first_failure(&t, &stage);
    struct gpnn_error err = {0};
    enum gpnn_status status = run_trial(&t, i % 4 < 3, &err);
    assert_int_equal(t.done[GPNN_PIPELINE_WRITE], first);
    assert_int_equal(status, first < t.n ? GPNN_EDATA : GPNN_OK);
    if (status == GPNN_OK) continue;
    char expected[20];
    snprintf(expected, sizeof expected, "%s %d", names[stage], first);
    assert_string_equal(err.text, expected);
  }
}

static void reading_is_ahead_of_writing_by_at_most_the_slots(void **state)
{
  (void)state;
  /* Writing fails at the first batch, while reading would go on for ever. */
  for (int i = 0; i < 50; i++) {
    struct trial t = {.n = 1000000, .fails = {NEVER, NEVER, 0}, .blocks = NEVER, .dawdles = i % 2};
    assert_fails(run_trial(&t, true, &err), GPNN_EDATA, "write 0");
    assert_true(t.done[GPNN_PIPELINE_READ] <= GPNN_PIPELINE_SLOTS);
  }
}

static void a_failure_interrupts_reading(void **state)
{
  (void)state;
  for (int stage = GPNN_PIPELINE_WORK; stage < GPNN_PIPELINE_COUNT; stage++) {
    struct trial t = {.n = 9, .fails = {NEVER, NEVER, NEVER}, .blocks = 2};
    assert_int_equal(pipe(t.pipe), 0);
    t.fails[stage] = 1;
    const char *said = stage == GPNN_PIPELINE_WORK ? "work 1" : "write 1";
    assert_fails(run_trial(&t, true, &err), GPNN_EDATA, said);
    assert_int_equal(t.done[GPNN_PIPELINE_WRITE], 1);
    for (int i = 0; i < 2; i++) close(t.pipe[i]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_batch_passes_every_stage_in_order),
      cmocka_unit_test(the_first_failure_in_the_order_of_batches_ends_the_run),
      cmocka_unit_test(reading_is_ahead_of_writing_by_at_most_the_slots),
      cmocka_unit_test(a_failure_interrupts_reading),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
