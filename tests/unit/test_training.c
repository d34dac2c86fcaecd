#include <unistd.h>

#include "dataset/reader.h"
#include "dataset/training.h"
#include "scratch.h"
#include "unit.h"

/* More than are worked on at once. */
enum { ROWS = 2 * GPNN_ROW_SOURCE_BLOCK + 500 };

static const struct gpnn_training_reading in_turn = {"NA", false, 1, NULL};

/* A table whose target tells the row, and whose input is ten times the target. */
static void write_table(const char *path)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "x\ty\n");
  for (int i = 0; i < ROWS; i++) fprintf(file, "%d\t%d\n", 10 * i, i);
  assert_int_equal(fclose(file), 0);
}

static void every_row_is_trained_on_or_held_out_with_its_own_target(void **state)
{
  (void)state;
  char path[512];
  const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;
  const struct gpnn_roles roles = {0};
  struct gpnn_training_options options = GPNN_TRAINING_OPTIONS_INIT;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_table *table = NULL;
  size_t seen[ROWS] = {0}, out_of_order = 0;
  snprintf(path, sizeof path, "%s", scratch_path("rows.tsv"));
  write_table(path);
  options.standardise = GPNN_SCALING_NONE;
  options.default_calibration = false;
  options.calibration_rows = 100;
  assert_ok(gpnn_table_open(&table, path, &as_usual, &err));
  assert_ok(gpnn_training_begin(&training, table, &roles, path, &err));
  assert_ok(gpnn_training_read(&training, table, &in_turn, &err));
  assert_ok(gpnn_training_finish(&training, &options, path, &err));
  const struct gpnn_dataset *c = &training.dataset;
  assert_int_equal(c->n, ROWS - 100);
  assert_int_equal(c->n_calibration, 100);
  for (size_t i = 0; i < ROWS; i++) {
    bool held_out = i >= c->n;
    const double *x = held_out ? c->calibration_x + (i - c->n) : c->x + i;
    const double *y = held_out ? c->calibration_y + (i - c->n) : c->y + i;
    assert_near(*x, 10 * (c->scaling.y_mean + c->scaling.y_sd * *y), 1e-9);
    seen[(size_t)(*x / 10 + 0.5)]++;
    if (held_out && i > c->n) out_of_order += *x < x[-1];
  }
  for (size_t i = 0; i < ROWS; i++) assert_int_equal(seen[i], 1);
  assert_true(out_of_order > 25 && out_of_order < 75); /* the first few are a sample too */
  gpnn_training_release(&training);
  gpnn_table_close(table);
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

/* Trains on 'text' with a third of its rows held out. */
static void train(struct gpnn_training *training, const char *text, const struct gpnn_roles *roles)
{
  const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;
  struct gpnn_training_options options = GPNN_TRAINING_OPTIONS_INIT;
  struct gpnn_table *table = NULL;
  options.default_calibration = false;
  options.calibration_rows = ROWS / 3;
  assert_ok(gpnn_table_open(&table, scratch_text("t.tsv", text), &as_usual, &err));
  assert_ok(gpnn_training_begin(training, table, roles, scratch_path("t.gpi"), &err));
  assert_ok(gpnn_training_read(training, table, &in_turn, &err));
  assert_ok(gpnn_training_finish(training, &options, "t.tsv", &err));
  gpnn_table_close(table);
}

/* Columns x a b r s v, all functions of the row's number; v is a variance. */
static char *other_columns(void)
{
  char *text = malloc(1 << 20);
  int n = sprintf(text, "x\ta\tb\tr\ts\tv\n");
  for (int i = 0; i < ROWS; i++)
    n += sprintf(text + n, "%d\t%d\t%d\t%d\t%d\t%g\n", i, 3 * i + 7, i * i, 1000 - i,
                 i * (i % 2 ? 1 : -1), 0.5 * i);
  return text;
}

/* Checks one row of either part, whose number its first target tells. */
static void check_row(const struct gpnn_dataset *c, double y, double b, const double *regressors,
                      double noise, double noise_of_b)
{
  const struct gpnn_scaling *s = &c->scaling;
  double i = (y * s->y_sd + s->y_mean - 7) / 3, sign = fmod(round(i), 2) == 0 ? -1 : 1;
  assert_near(b * s->more[0].sd + s->more[0].mean, i * i, 1e-6);
  assert_near(regressors[0] * s->regressors[0].sd + s->regressors[0].mean, 1000 - i, 1e-9);
  assert_near(regressors[1] * s->regressors[1].sd + s->regressors[1].mean, i * sign, 1e-9);
  assert_near(noise * s->y_sd * s->y_sd, 0.5 * i, 1e-9);
  assert_near(noise_of_b * s->more[0].sd * s->more[0].sd, 0.5 * i, 1e-9);
}

static void columns_that_are_no_inputs_stay_with_their_rows(void **state)
{
  (void)state;
  const struct gpnn_roles roles = {.target = "a,b", .regressors = "r,s", .row_noise = "v"};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  char *text = other_columns();
  train(&training, text, &roles);
  const struct gpnn_dataset *c = &training.dataset;
  size_t n = c->n, h = c->n_calibration;
  assert_int_equal(c->d, 1);
  assert_int_equal(c->n_more, 1);
  assert_int_equal(c->n_regressors, 2);
  assert_int_equal(n + h, ROWS);
  for (size_t i = 0; i < n; i++)
    check_row(c, c->y[i], c->more[i], c->regressors + 2 * i, c->noise[i], c->noise[n + i]);
  for (size_t i = 0; i < h; i++)
    check_row(c, c->calibration_y[i], c->calibration_more[i], c->calibration_regressors + 2 * i,
              c->calibration_noise[i], c->calibration_noise[h + i]);
  free(text);
  gpnn_training_release(&training);
}

static void a_further_target_is_what_it_would_be_alone(void **state)
{
  (void)state;
  struct gpnn_training both = GPNN_TRAINING_INIT, alone = GPNN_TRAINING_INIT;
  char *text = other_columns();
  train(&both, text, &(struct gpnn_roles){.target = "a,b", .inputs = "x,r"});
  train(&alone, text, &(struct gpnn_roles){.target = "b", .inputs = "x,r"});
  const struct gpnn_dataset *c = &both.dataset, *o = &alone.dataset;
  assert_int_equal(c->n, o->n);
  assert_memory_equal(c->x, o->x, o->n * o->d * sizeof *o->x);
  assert_memory_equal(c->more, o->y, o->n * sizeof *o->y);
  assert_memory_equal(c->calibration_more, o->calibration_y, o->n_calibration * sizeof *o->y);
  assert_true(c->scaling.more[0].mean == o->scaling.y_mean);
  assert_true(c->scaling.more[0].sd == o->scaling.y_sd);
  assert_null(o->more);
  assert_null(o->regressors);
  assert_null(o->noise);
  free(text);
  gpnn_training_release(&both);
  gpnn_training_release(&alone);
}

/* Levels and points come out as features, in whichever block a row is. */
static void inputs_become_features(void **state)
{
  (void)state;
  const struct gpnn_roles roles = {
      .one_hot = "kind", .n_periods = 1, .periods = (const char *const[]){"hour=24"}};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  char *text = malloc(1 << 20);
  int n = sprintf(text, "kind\thour\ty\n");
  for (int i = 0; i < ROWS; i++)
    n += sprintf(text + n, "%s\t%d\t%d\n", i > ROWS / 2 ? "late" : "early", i % 24, i);
  train(&training, text, &roles);
  const struct gpnn_dataset *c = &training.dataset;
  const struct gpnn_scaling *s = &c->scaling;
  assert_int_equal(c->d, 4);
  for (size_t k = 0; k < c->n + c->n_calibration; k++) {
    bool held_out = k >= c->n;
    const double *x = held_out ? c->calibration_x + (k - c->n) * c->d : c->x + k * c->d;
    double y = held_out ? c->calibration_y[k - c->n] : c->y[k], i = round(y * s->y_sd + s->y_mean);
    double angle = 2 * 3.14159265358979 * fmod(i, 24) / 24;
    const double expected[] = {i <= ROWS / 2, i > ROWS / 2, sin(angle), cos(angle)};
    for (size_t j = 0; j < c->d; j++)
      assert_near(x[j] / s->weight[j] + s->mean[j], expected[j], 1e-9);
  }
  free(text);
  gpnn_training_release(&training);
}

static enum gpnn_status refuse(const char *text, const struct gpnn_roles *roles,
                               struct gpnn_error *err)
{
  const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;
  struct gpnn_training_options options = GPNN_TRAINING_OPTIONS_INIT;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_table *table = NULL;
  enum gpnn_status status = gpnn_table_open(&table, scratch_text("t.tsv", text), &as_usual, err);
  if (status == GPNN_OK)
    status = gpnn_training_begin(&training, table, roles, scratch_path("t.gpi"), err);
  if (status == GPNN_OK) status = gpnn_training_read(&training, table, &in_turn, err);
  if (status == GPNN_OK) status = gpnn_training_finish(&training, &options, "t.tsv", err);
  gpnn_training_release(&training);
  gpnn_table_close(table);
  return status;
}

/* A table of two columns with the given lines among good ones, at those numbers. */
static char *broken_table(size_t n_lines, const size_t *at, const char *const *lines, size_t n)
{
  char *text = malloc(1 << 20);
  size_t length = (size_t)sprintf(text, "c\ty\n");
  for (size_t line = 2, next = 0; line <= n_lines; line++) {
    bool is_bad = next < n && at[next] == line;
    length += is_bad ? (size_t)sprintf(text + length, "%s\n", lines[next])
                     : (size_t)sprintf(text + length, "%c\t%zu\n", (char)('a' + line / 500), line);
    next += is_bad;
  }
  return text;
}

/* Reads 'text' with so many threads; rows, bad rows and levels are counted in 'found'. */
static enum gpnn_status read_broken(const char *text, bool skip_bad, int threads, size_t found[3],
                                    struct gpnn_error *error)
{
  const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;
  const struct gpnn_roles roles = {.one_hot = "c"};
  const struct gpnn_training_reading how = {"NA", skip_bad, threads, NULL};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_table *table = NULL;
  assert_ok(gpnn_table_open(&table, scratch_text("t.tsv", text), &as_usual, &err));
  assert_ok(gpnn_training_begin(&training, table, &roles, scratch_path("t.gpi"), &err));
  enum gpnn_status status = gpnn_training_read(&training, table, &how, error);
  found[0] = training.n;
  found[1] = training.dataset.n_skipped;
  found[2] = training.dataset.schema.inputs[0].n_levels;
  gpnn_training_release(&training);
  gpnn_table_close(table);
  return status;
}

static void the_first_bad_row_is_told_whatever_is_wrong_with_it(void **state)
{
  (void)state;
  static const size_t at[] = {2500, 2501, 2503};
  static const char *const number_first[] = {"a\tx", "a", "\"a"};
  static const char *const width_first[] = {"a", "a\tx", "\"a"};
  static const char *const quote_first[] = {"\"a", "a", "a\tx"};
  char *texts[] = {broken_table(4000, at, number_first, 3), broken_table(4000, at, width_first, 3),
                   broken_table(4000, at, quote_first, 3)};
  size_t found[3];
  for (int threads = 1; threads <= 2; threads++) {
    assert_fails(read_broken(texts[0], false, threads, found, &err), GPNN_EDATA,
                 "t.tsv:2500: column 'y': not a number: \"x\"");
    assert_fails(read_broken(texts[1], false, threads, found, &err), GPNN_EDATA,
                 "t.tsv:2500: has 1 field, the header has 2");
    assert_fails(read_broken(texts[1], true, threads, found, &err), GPNN_EFORMAT,
                 "t.tsv:2503: a quote opened here is never closed");
    assert_fails(read_broken(texts[2], true, threads, found, &err), GPNN_EFORMAT,
                 "t.tsv:2500: a quote opened here is never closed");
  }
  for (size_t i = 0; i < 3; i++) free(texts[i]);
}

static void bad_rows_of_every_kind_are_left_out_and_counted(void **state)
{
  (void)state;
  static const size_t at[] = {2, 2500, 2501, 4000};
  static const char *const lines[] = {"only", "q\tx", "a\t1\t2", "r\t"};
  char *text = broken_table(4000, at, lines, 4);
  for (int threads = 1; threads <= 3; threads++) {
    size_t found[3];
    assert_ok(read_broken(text, true, threads, found, &err));
    assert_int_equal(found[0], 3995);
    assert_int_equal(found[1], 4);
    assert_int_equal(found[2], 8); /* a to h: those of bad rows are none */
  }
  free(text);
}

static void contents_do_not_depend_on_threads(void **state)
{
  (void)state;
  const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;
  const struct gpnn_roles roles = {.target = "a,b", .regressors = "r,s", .row_noise = "v"};
  struct gpnn_training trained[2] = {GPNN_TRAINING_INIT, GPNN_TRAINING_INIT};
  char *text = other_columns();
  for (int i = 0; i < 2; i++) {
    struct gpnn_training_options options = GPNN_TRAINING_OPTIONS_INIT;
    const struct gpnn_training_reading how = {"NA", false, i == 0 ? 1 : 3, NULL};
    struct gpnn_table *table = NULL;
    options.threads = how.threads;
    assert_ok(gpnn_table_open(&table, scratch_text("t.tsv", text), &as_usual, &err));
    assert_ok(gpnn_training_begin(&trained[i], table, &roles, scratch_path("t.gpi"), &err));
    assert_ok(gpnn_training_read(&trained[i], table, &how, &err));
    assert_ok(gpnn_training_finish(&trained[i], &options, "t.tsv", &err));
    gpnn_table_close(table);
  }
  assert_int_equal(trained[0].rows.n, trained[1].rows.n);
  assert_memory_equal(trained[0].rows.numbers, trained[1].rows.numbers,
                      trained[0].rows.n * sizeof(double));
  assert_true(trained[0].outlier == trained[1].outlier);
  for (int i = 0; i < 2; i++) gpnn_training_release(&trained[i]);
  free(text);
}

static void a_column_that_cannot_serve_is_named(void **state)
{
  (void)state;
  struct gpnn_roles roles = {.target = "y", .inputs = "x", .regressors = "r,s"};
  assert_fails(refuse("x\tr\ts\ty\n1\t1\t4\t1\n2\t3\t4\t4\n3\t2\t4\t9\n", &roles, &err), GPNN_EDATA,
               "t.tsv: column 's': does not vary");
  assert_fails(refuse("x\tr\ts\ty\n1\t1\t2\t1\n2\t3\t6\t4\n3\t2\t4\t9\n", &roles, &err), GPNN_EDATA,
               "t.tsv: column 's': is a linear combination");
  assert_fails(refuse("x\tr\ts\ty\n1\t1\t2\t1\n2\tred\t6\t4\n", &roles, &err), GPNN_EDATA,
               "t.tsv:3: column 'r': not a number");
  roles = (struct gpnn_roles){.target = "y,r", .inputs = "x", .row_noise = "s"};
  assert_fails(refuse("x\tr\ts\ty\n1\t4\t0\t1\n2\t4\t1\t4\n", &roles, &err), GPNN_EDATA,
               "t.tsv: column 'r': does not vary");
  assert_fails(refuse("x\tr\ts\ty\n1\t4\t0\t1\n2\t5\t-1\t4\n", &roles, &err), GPNN_EDATA,
               "t.tsv:3: column 's': a variance is not negative: \"-1\"");
  assert_fails(refuse("x\tr\ts\ty\n1\t4\t0\t1\n2\t5\t\t4\n", &roles, &err), GPNN_EDATA,
               "t.tsv:3: column 's': missing value");
  assert_fails(refuse("x\tr\ts\ty\n1\t4\t0\t1\n2\tNA\t0\t4\n", &roles, &err), GPNN_EDATA,
               "t.tsv:3: column 'r': missing value");
}

/* Rows of the same table, read again, are the rows trained on. */
static void later_rows_are_read_as_training_rows_are(void **state)
{
  (void)state;
  const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;
  const struct gpnn_roles roles = {.target = "a,b", .regressors = "r,s", .row_noise = "v"};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_table *table = NULL;
  struct gpnn_rows rows = {0};
  char *text = other_columns();
  train(&training, text, &roles);
  const struct gpnn_dataset *c = &training.dataset;
  const char *path = scratch_text("u.tsv", text);
  assert_ok(gpnn_table_open(&table, path, &as_usual, &err));
  assert_ok(gpnn_rows_read(&rows, c, table, "NA", false, true, false, &err));
  gpnn_table_close(table);
  assert_int_equal(rows.n, ROWS);
  gpnn_rows_shuffle(&rows, c->d, 3);
  for (size_t i = 0; i < c->n; i++) {
    size_t k = 0;
    while (k < ROWS && rows.y[k] != c->y[i]) k++;
    assert_true(k < ROWS);
    assert_true(rows.x[k] == c->x[i] && rows.noise[k] == c->noise[i]);
    assert_memory_equal(rows.regressors + 2 * k, c->regressors + 2 * i, 2 * sizeof(double));
  }
  gpnn_rows_release(&rows);
  assert_ok(gpnn_table_open(&table, path, &as_usual, &err));
  assert_ok(gpnn_rows_read(&rows, c, table, "NA", false, false, false, &err));
  gpnn_table_close(table);
  assert_null(rows.regressors);
  gpnn_rows_release(&rows);
  free(text);
  gpnn_training_release(&training);
}

static void a_later_table_needs_only_what_is_asked_of_it(void **state)
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
  char *text = other_columns();
  train(&training, text, &roles);
  const struct gpnn_dataset *c = &training.dataset;
  const char *path = scratch_text("u.tsv", "s\tb\tx\nred\t4\t2\n1\tNA\t2\n1\tred\t3\n");
  assert_ok(gpnn_table_open(&table, path, &as_usual, &err));
  assert_fails(gpnn_reader_open(&reader, c, table, "NA", true, &err), GPNN_EMISMATCH,
               "lacks 1 of 2 regressor columns: 'r'");
  assert_null(reader.features);
  assert_ok(gpnn_reader_open(&reader, c, table, "NA", false, &err));
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
  assert_ok(gpnn_reader_open(&reader, c, table, "NA", true, &err));
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_reader_read(&reader, &record, &x, regressors, &noise, &n_unseen, &err));
  assert_near(noise, 8, 0);
  assert_near(regressors[0] * c->scaling.regressors[0].sd + c->scaling.regressors[0].mean, 900,
              1e-9);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_reader_read(&reader, &record, &x, regressors, &noise, &n_unseen, &err),
               GPNN_EDATA, "u.tsv:3: column 'v': a variance is not negative");
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
      cmocka_unit_test(every_row_is_trained_on_or_held_out_with_its_own_target),
      cmocka_unit_test(shuffled_rows_keep_their_targets_and_lose_their_order),
      cmocka_unit_test(columns_that_are_no_inputs_stay_with_their_rows),
      cmocka_unit_test(a_further_target_is_what_it_would_be_alone),
      cmocka_unit_test(inputs_become_features),
      cmocka_unit_test(the_first_bad_row_is_told_whatever_is_wrong_with_it),
      cmocka_unit_test(bad_rows_of_every_kind_are_left_out_and_counted),
      cmocka_unit_test(contents_do_not_depend_on_threads),
      cmocka_unit_test(a_column_that_cannot_serve_is_named),
      cmocka_unit_test(later_rows_are_read_as_training_rows_are),
      cmocka_unit_test(a_later_table_needs_only_what_is_asked_of_it),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
