#include "dataset/reader.h"

#include "stats/moments.h"
#include "trained.h"

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
  struct gpnn_reader_rows rows = {.n = N, .x = x, .y = y};
  gpnn_reader_rows_shuffle(&rows, D, 1);
  for (size_t i = 0; i < N; i++) {
    assert_near(x[i * D], 2 * y[i], 0);
    assert_near(x[i * D + 1], 3 * y[i], 0);
    seen[(size_t)y[i]]++;
    descents += i > 0 && y[i] < y[i - 1];
  }
  for (size_t i = 0; i < N; i++) assert_int_equal(seen[i], 1);
  assert_true(descents > 70 && descents < 130);
}

/* Rows of the same table, read again, are the rows trained on. */
static void later_rows_are_read_as_training_rows_are(void **state)
{
  (void)state;
  const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;
  const struct gpnn_roles roles = {.target = "a,b", .regressors = "r,s", .row_noise = "v"};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_table *table = NULL;
  struct gpnn_reader_rows rows = {0};
  char *text = numbered_table();
  train(&training, text, &roles, GPNN_SCALING_SCALE, ROWS / 3);
  const struct gpnn_dataset *c = &training.dataset;
  const char *path = scratch_text("u.tsv", text);
  assert_ok(gpnn_table_open(&table, path, &as_usual, &err));
  assert_ok(gpnn_reader_rows_read(&rows, c, table, false, true, false, &err));
  gpnn_table_close(table);
  assert_int_equal(rows.n, ROWS);
  gpnn_reader_rows_shuffle(&rows, c->d, 3);
  for (size_t i = 0; i < c->n; i++) {
    size_t k = 0;
    while (k < ROWS && rows.y[k] != c->y[i]) k++;
    assert_true(k < ROWS);
    assert_true(rows.x[k] == c->x[i] && rows.noise[k] == c->noise[i]);
    assert_memory_equal(rows.regressors + 2 * k, c->regressors + 2 * i, 2 * sizeof(double));
  }
  gpnn_reader_rows_release(&rows);
  assert_ok(gpnn_table_open(&table, path, &as_usual, &err));
  assert_ok(gpnn_reader_rows_read(&rows, c, table, false, false, false, &err));
  gpnn_table_close(table);
  assert_null(rows.regressors);
  gpnn_reader_rows_release(&rows);
  free(text);
  gpnn_training_release(&training);
}

static void offsets_are_required_where_targets_are_read_and_subtracted(void **state)
{
  (void)state;
  const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;
  const struct gpnn_roles roles = {.target = "a,b", .inputs = "x", .offsets = "r,s"};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_table *table = NULL;
  struct gpnn_reader_rows rows = {0};
  struct gpnn_reader reader = {0};
  struct gpnn_record record;
  double offsets[2], y;
  char *text = numbered_table();
  train(&training, text, &roles, GPNN_SCALING_SCALE, ROWS / 3);
  const struct gpnn_dataset *c = &training.dataset;
  const char *path = scratch_text("u.tsv", "s\ta\tx\tr\n4\t5\t2\t1\nNA\t1e308\t2\t-1e308\n");
  assert_ok(gpnn_table_open(&table, path, &as_usual, &err));
  assert_ok(gpnn_reader_open(&reader, c, table, false, &err));
  assert_ok(gpnn_reader_require_offsets(&reader, &err));
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_reader_offsets(&reader, &record, offsets, &err));
  assert_true(offsets[0] == 1 && offsets[1] == 4);
  assert_ok(gpnn_reader_target(&reader, &record, 0, &y, &err));
  assert_near(y, 5, 0);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_reader_offsets(&reader, &record, offsets, &err), GPNN_EDATA,
               "u.tsv:3: column 's': missing value");
  gpnn_reader_release(&reader);
  gpnn_table_close(table);
  assert_ok(gpnn_table_open(&table, path, &as_usual, &err));
  assert_fails(gpnn_reader_rows_read(&rows, c, table, false, false, false, &err), GPNN_EDATA,
               "u.tsv:3: column 'r': the target minus this offset is too large: \"-1e308\"");
  assert_int_equal(rows.n, 1);
  assert_near(rows.y[0], (5 - 1 - c->scaling.y_mean) / c->scaling.y_sd, 0);
  gpnn_reader_rows_release(&rows);
  gpnn_table_close(table);
  path = scratch_text("u.tsv", "r\ta\tx\n1\t5\t2\n");
  assert_ok(gpnn_table_open(&table, path, &as_usual, &err));
  assert_fails(gpnn_reader_rows_read(&rows, c, table, false, false, false, &err), GPNN_EMISMATCH,
               "u.tsv: lacks 1 of 2 offset columns: 's'");
  assert_ok(gpnn_reader_rows_read(&rows, c, table, true, false, false, &err));
  assert_int_equal(rows.n, 1);
  gpnn_reader_rows_release(&rows);
  gpnn_table_close(table);
  free(text);
  gpnn_training_release(&training);
}

static void a_later_table_needs_only_the_columns_to_be_read(void **state)
{
  (void)state;
  const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;
  const struct gpnn_roles roles = {.target = "a,b", .regressors = "r,s", .row_noise = "v"};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_table *table = NULL;
  struct gpnn_reader reader = {0};
  struct gpnn_record record;
  double x, noise, y, regressors[2];
  size_t n_unseen = 0;
  char *text = numbered_table();
  train(&training, text, &roles, GPNN_SCALING_SCALE, ROWS / 3);
  const struct gpnn_dataset *c = &training.dataset;
  const char *path = scratch_text("u.tsv", "s\tb\tx\nred\t4\t2\n1\tNA\t2\n1\tred\t3\n");
  assert_ok(gpnn_table_open(&table, path, &as_usual, &err));
  assert_fails(gpnn_reader_open(&reader, c, table, true, &err), GPNN_EMISMATCH,
               "lacks 1 of 2 regressor columns: 'r'");
  assert_null(reader.features);
  assert_ok(gpnn_reader_open(&reader, c, table, false, &err));
  assert_int_equal(gpnn_reader_target_column(&reader, 0), SIZE_MAX);
  assert_int_equal(gpnn_reader_target_column(&reader, 1), 1);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_reader_read(&reader, &record, &x, NULL, &noise, &n_unseen, &err));
  assert_near(x, (2 - c->scaling.mean[0]) * c->scaling.weight[0], 0);
  assert_near(noise, 0, 0);
  assert_ok(gpnn_reader_target(&reader, &record, 0, &y, &err));
  assert_true(isnan(y));
  assert_ok(gpnn_reader_target(&reader, &record, 1, &y, &err));
  assert_near(y, 4, 0);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_reader_target(&reader, &record, 1, &y, &err));
  assert_true(isnan(y));
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_reader_target(&reader, &record, 1, &y, &err), GPNN_EDATA,
               "u.tsv:4: column 'b': not a number");
  gpnn_reader_release(&reader);
  gpnn_table_close(table);
  path = scratch_text("u.tsv", "v\tr\ts\tx\n8\t900\t1\t2\n-8\t900\t1\t2\n8\t900\tp\t2\n");
  assert_ok(gpnn_table_open(&table, path, &as_usual, &err));
  assert_ok(gpnn_reader_open(&reader, c, table, true, &err));
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_reader_read(&reader, &record, &x, regressors, &noise, &n_unseen, &err));
  assert_near(noise, 8, 0);
  assert_near(regressors[0] * c->scaling.regressors[0].sd + c->scaling.regressors[0].mean, 900,
              1e-9);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_reader_read(&reader, &record, &x, regressors, &noise, &n_unseen, &err),
               GPNN_EDATA, "u.tsv:3: column 'v': a negative variance");
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_reader_read(&reader, &record, &x, regressors, &noise, &n_unseen, &err),
               GPNN_EDATA, "u.tsv:4: column 's': not a number");
  gpnn_reader_release(&reader);
  gpnn_table_close(table);
  free(text);
  gpnn_training_release(&training);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shuffled_rows_keep_their_targets_and_lose_their_order),
      cmocka_unit_test(offsets_are_required_where_targets_are_read_and_subtracted),
      cmocka_unit_test(later_rows_are_read_as_training_rows_are),
      cmocka_unit_test(a_later_table_needs_only_the_columns_to_be_read),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
