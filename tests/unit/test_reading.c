/* A table of which each rank reads a part. */
#include "shard/reading.h"

#include "base/rng.h"
#include "dataset/index/index.h"
#include "ranks.h"
#include "scratch.h"

enum { N = 9000, BYTES = 1 << 20 };

struct run {
  char path[512], beside[512];
  struct gpnn_roles roles;
  struct gpnn_training_reading how;
  struct gpnn_training_options options;
  struct gpnn_training one; /* that of one machine */
  uint64_t fingerprint;
  const char *why[RANKS_MOST];
  enum gpnn_status status[RANKS_MOST];
  struct gpnn_error told[RANKS_MOST];
  bool is_same[RANKS_MOST];
};

/* Writes the table that is read. */
static void set_table(struct run *run, const char *text)
{
  snprintf(run->path, sizeof run->path, "%s", scratch_text("t.csv", text));
  snprintf(run->beside, sizeof run->beside, "%s", scratch_path("t.gpi"));
}

/* A table of 'n' rows; of those that are a multiple of 'every', cell 'column' is 'odd'. */
static void make_table(struct run *run, size_t n, size_t every, size_t column, const char *odd)
{
  struct gpnn_rng rng;
  char *text = malloc(BYTES);
  size_t at = (size_t)sprintf(text, "a,b,r,v,y\n");
  gpnn_rng_init(&rng, 2, GPNN_RNG_TEST);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < 5; j++) {
      double value = gpnn_rng_normal(&rng);
      bool is_odd = every > 0 && i > 0 && i % every == 0 && j == column;
      if (i == 7000 && j == 0) value = 1e9;
      if (is_odd)
        at += (size_t)sprintf(text + at, "%s", odd);
      else
        at += (size_t)sprintf(text + at, "%.4f", j == 3 ? value * value : value);
      at += (size_t)sprintf(text + at, j == 4 ? "\n" : ",");
    }
  set_table(run, text);
  free(text);
}

static enum gpnn_status read_alone(struct run *run, struct gpnn_error *err)
{
  const struct gpnn_table_options options = GPNN_TABLE_OPTIONS_INIT;
  struct gpnn_table *table = NULL;
  struct gpnn_training *one = &run->one;
  *one = (struct gpnn_training)GPNN_TRAINING_INIT;
  enum gpnn_status status = gpnn_table_open(&table, run->path, &options, err);
  if (status == GPNN_OK) status = gpnn_training_begin(one, table, &run->roles, run->beside, err);
  if (status == GPNN_OK) status = gpnn_training_read(one, table, &run->how, err);
  if (status == GPNN_OK) status = gpnn_training_finish(one, &run->options, run->path, err);
  if (status == GPNN_OK)
    status = gpnn_index_fingerprint(&one->dataset, NULL, &run->fingerprint, err);
  gpnn_table_close(table);
  return status;
}

static bool is_equal(const double *a, const double *b, size_t n)
{
  return (a == NULL && b == NULL) || memcmp(a, b, n * sizeof *a) == 0;
}

/* Whether a rank has those rows of one machine that it should have, and all else. */
static bool compare(const struct run *run, const struct gpnn_training *training,
                    uint64_t fingerprint)
{
  const struct gpnn_dataset *all = &run->one.dataset, *own = &training->dataset;
  const struct gpnn_parts *parts = gpnn_training_parts(training);
  size_t first = (size_t)gpnn_parts_first(parts), n = (size_t)gpnn_parts_end(parts, own->n) - first;
  size_t c = all->n_calibration, d = all->d, p = all->n_regressors;
  return own->n == all->n && own->d == d && own->n_calibration == c &&
         own->n_skipped == all->n_skipped &&
         training->skipped.n_kinds == run->one.skipped.n_kinds &&
         training->targets[0].n_different == run->one.targets[0].n_different &&
         training->outlier_columns.n == run->one.outlier_columns.n &&
         is_equal(own->x, all->x + first * d, n * d) && is_equal(own->y, all->y + first, n) &&
         (p == 0 || is_equal(own->regressors, all->regressors + first * p, n * p)) &&
         (all->noise == NULL || is_equal(own->noise, all->noise + first, n)) &&
         is_equal(own->calibration_x, all->calibration_x, c * d) &&
         is_equal(own->calibration_y, all->calibration_y, c) && fingerprint == run->fingerprint;
}

static void read_part(struct gpnn_comm *comm, void *context)
{
  struct run *run = context;
  const struct gpnn_table_options options = GPNN_TABLE_OPTIONS_INIT;
  const struct gpnn_shard_reading reading = {run->path, &options, &run->roles, run->beside,
                                             &run->how};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_table *table = NULL;
  struct gpnn_peers peers;
  uint64_t fingerprint = 0;
  size_t r = comm->rank;
  struct gpnn_error *told = &run->told[r];
  gpnn_comm_peers(comm, &peers);
  run->status[r] = gpnn_shard_read(&peers, &reading, &table, &training, &run->why[r], told);
  if (run->status[r] == GPNN_OK && table != NULL) {
    run->status[r] = gpnn_training_finish(&training, &run->options, run->path, told);
    if (run->status[r] == GPNN_OK)
      run->status[r] = gpnn_index_fingerprint(&training.dataset, gpnn_training_parts(&training),
                                              &fingerprint, told);
    run->status[r] = gpnn_peers_agree(&peers, run->status[r], told);
    run->is_same[r] = run->status[r] == GPNN_OK && compare(run, &training, fingerprint);
  }
  gpnn_training_release(&training);
  gpnn_table_close(table);
}

/* Reads on 'size' ranks, and checks that rows are as on one machine. */
static void check_same(struct run *run, size_t size)
{
  ranks_run(size, read_part, run);
  for (size_t r = 0; r < size; r++) {
    if (run->status[r] != GPNN_OK) fail_msg("%s", run->told[r].text);
    if (run->why[r] != NULL) fail_msg("%s", run->why[r]);
    if (!run->is_same[r]) fail_msg("rank %zu of %zu differs", r, size);
  }
}

static void rows_are_those_of_one_machine(void **state)
{
  (void)state;
  const struct {
    size_t n, every;
    const char *odd;
    struct gpnn_roles roles;
    enum gpnn_scaling_method method;
    size_t calibration_rows;
  } cases[] = {
      {N, 0, "", {.target = "y"}, GPNN_SCALING_SCALE, 1000},
      {N, 0, "", {.target = "y"}, GPNN_SCALING_WHITEN, N - 50},
      {N, 700, "x", {.target = "y", .regressors = "r", .row_noise = "v"}, GPNN_SCALING_SCALE, 5000},
      {2500, 9, "\"1\"", {.target = "y"}, GPNN_SCALING_SCALE, 0},
      {20, 0, "", {.target = "y"}, GPNN_SCALING_SCALE, 2},
      {3, 0, "", {.target = "y"}, GPNN_SCALING_SCALE, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct run run = {.roles = cases[i].roles,
                      .how = {.skip_bad = cases[i].every > 0, .threads = 2},
                      .options = GPNN_TRAINING_OPTIONS_INIT};
    make_table(&run, cases[i].n, cases[i].every, 1, cases[i].odd);
    run.options.standardise = cases[i].method;
    run.options.default_calibration = false;
    run.options.calibration_rows = cases[i].calibration_rows;
    assert_ok(read_alone(&run, &err));
    for (size_t size = 1; size <= RANKS_MOST; size++) check_same(&run, size);
    gpnn_training_release(&run.one);
  }
}

static void what_takes_all_rows_in_one_place_is_left_to_one(void **state)
{
  (void)state;
  enum { RANKS = 3 };
  const struct {
    size_t every, column;
    const char *odd;
    struct gpnn_roles roles;
    bool skip_bad, is_unique;
    const char *why;
  } cases[] = {
      {8000, 1, "x", {.target = "y"}, false, false, "rows are bad"},
      {8000, 1, "", {.target = "y"}, false, false, "rows are bad"},
      {8000, 1, "\"1\n\"", {.target = "y"}, false, false, "lines end inside quotes"},
      {0, 0, "", {.target = "y,r"}, false, false, "rows are bad"},
      {0, 0, "", {.target = "y", .one_hot = "r"}, true, false, "rows are bad"},
      {0, 0, "", {.target = "y"}, true, true, "not all ranks can read it"},
      {0, 0, "", {.target = "nothing"}, true, false, "not all ranks can read it"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct run run = {.roles = cases[i].roles,
                      .how = {.skip_bad = cases[i].skip_bad, .unique = cases[i].is_unique},
                      .options = GPNN_TRAINING_OPTIONS_INIT};
    make_table(&run, N, cases[i].every, cases[i].column, cases[i].odd);
    ranks_run(RANKS, read_part, &run);
    for (size_t r = 0; r < RANKS; r++) {
      assert_int_equal(run.status[r], GPNN_OK);
      assert_non_null(run.why[r]);
      assert_int_equal(strncmp(run.why[r], cases[i].why, strlen(cases[i].why)), 0);
    }
  }
}

static void copies_are_left_to_one(void **state)
{
  (void)state;
  struct run run = {.roles = {.target = "y"}, .options = GPNN_TRAINING_OPTIONS_INIT};
  char *text = malloc(BYTES);
  size_t at = (size_t)sprintf(text, "a,y\n");
  for (size_t i = 0; i < 4000; i++)
    at += (size_t)sprintf(text + at, "%zu,%zu\n", i % 3900, i % 3900 * 7 % 3900);
  set_table(&run, text);
  free(text);
  ranks_run(4, read_part, &run);
  for (size_t r = 0; r < 4; r++) {
    assert_int_equal(run.status[r], GPNN_OK);
    assert_non_null(run.why[r]);
    assert_string_equal(run.why[r], "rows are copies of others");
  }
}

static void what_is_wrong_with_all_rows_is_told_as_by_one(void **state)
{
  (void)state;
  struct run run = {.roles = {.target = "y"}, .options = GPNN_TRAINING_OPTIONS_INIT};
  set_table(&run, "a,y\n1,2\n2,2\n3,2\n4,2\n5,2\n6,2\n7,2\n");
  ranks_run(3, read_part, &run);
  for (size_t r = 0; r < 3; r++) {
    assert_int_equal(run.status[r], GPNN_EDATA);
    assert_string_equal(strstr(run.told[r].text, ": ") + 2,
                        "the target does not vary: it is 2 in all rows to train on");
    assert_null(strstr(run.told[r].text, "rank"));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_those_of_one_machine),
      cmocka_unit_test(what_takes_all_rows_in_one_place_is_left_to_one),
      cmocka_unit_test(copies_are_left_to_one),
      cmocka_unit_test(what_is_wrong_with_all_rows_is_told_as_by_one),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
