#include <unistd.h>

#include "data/rows.h"
#include "data/training.h"
#include "unit.h"

enum { ROWS = 300 };

/* A table whose target tells the row, and whose input is ten times the target. */
static void write_table(char *path)
{
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  FILE *file = fdopen(fd, "w");
  assert_non_null(file);
  fprintf(file, "x\ty\n");
  for (int i = 0; i < ROWS; i++) fprintf(file, "%d\t%d\n", 10 * i, i);
  assert_int_equal(fclose(file), 0);
}

static void every_row_is_trained_on_or_held_out_with_its_own_target(void **state)
{
  (void)state;
  char path[] = "/tmp/gpnn-training.XXXXXX";
  const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;
  const struct gpnn_roles roles = {0};
  struct gpnn_training_options options = GPNN_TRAINING_OPTIONS_INIT;
  struct gpnn_training training = {0};
  struct gpnn_table *table = NULL;
  enum gpnn_status status = GPNN_OK;
  size_t seen[ROWS] = {0}, out_of_order = 0;
  write_table(path);
  options.standardise = GPNN_STANDARD_NONE;
  options.default_calibration = false;
  options.calibration_rows = 100;
  assert_ok(gpnn_table_open(&table, path, &as_usual, &err));
  assert_ok(gpnn_training_begin(&training, table, &roles, &err));
  while (status == GPNN_OK) status = gpnn_training_next(&training, table, "NA", false, NULL);
  assert_int_equal(status, GPNN_END);
  assert_ok(gpnn_training_finish(&training, &options, path, &err));
  const struct gpnn_index_contents *c = &training.contents;
  assert_int_equal(c->n, ROWS - 100);
  assert_int_equal(c->n_calibration, 100);
  for (size_t i = 0; i < ROWS; i++) {
    bool held_out = i >= c->n;
    const double *x = held_out ? c->calibration_x + (i - c->n) : c->x + i;
    const double *y = held_out ? c->calibration_y + (i - c->n) : c->y + i;
    assert_near(*x, 10 * (c->standard.y_mean + c->standard.y_sd * *y), 1e-9);
    seen[(size_t)(*x / 10 + 0.5)]++;
    if (held_out && i > c->n) out_of_order += *x < x[-1];
  }
  for (size_t i = 0; i < ROWS; i++) assert_int_equal(seen[i], 1);
  assert_true(out_of_order > 25 && out_of_order < 75); /* the first few are a sample too */
  gpnn_training_release(&training);
  gpnn_table_close(table);
  unlink(path);
}

static void shuffled_rows_keep_their_targets_and_lose_their_order(void **state)
{
  (void)state;
  enum { N = 200, D = 2 };
  double x[N * D], y[N];
  size_t seen[N] = {0}, descents = 0;
  for (size_t i = 0; i < N; i++) {
    y[i] = (double)i;
    x[i * D] = 2 * y[i];
    x[i * D + 1] = 3 * y[i];
  }
  struct gpnn_rows rows = {.n = N, .x = x, .y = y};
  gpnn_rows_shuffle(&rows, D, 1);
  for (size_t i = 0; i < N; i++) {
    assert_near(x[i * D], 2 * y[i], 0);
    assert_near(x[i * D + 1], 3 * y[i], 0);
    seen[(size_t)y[i]]++;
    descents += i > 0 && y[i] < y[i - 1];
  }
  for (size_t i = 0; i < N; i++) assert_int_equal(seen[i], 1);
  assert_true(descents > 70 && descents < 130);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_is_trained_on_or_held_out_with_its_own_target),
      cmocka_unit_test(shuffled_rows_keep_their_targets_and_lose_their_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
