#include "stats/moments.h"
#include "trained.h"

static void every_row_is_trained_on_or_held_out_with_its_own_target(void **state)
{
  (void)state;
  const struct gpnn_roles roles = {.target = "y"};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  size_t seen[ROWS] = {0}, descents = 0;
  char *text = malloc(1 << 20);
  int length = sprintf(text, "x\ty\n");
  for (int i = 0; i < ROWS; i++) length += sprintf(text + length, "%d\t%d\n", 10 * i, i);
  train(&training, text, &roles, GPNN_SCALING_NONE, 100);
  const struct gpnn_dataset *c = &training.dataset;
  assert_int_equal(c->n, ROWS - 100);
  assert_int_equal(c->n_calibration, 100);
  for (size_t i = 0; i < ROWS; i++) {
    bool held_out = i >= c->n;
    const double *x = held_out ? c->calibration_x + (i - c->n) : c->x + i;
    const double *y = held_out ? c->calibration_y + (i - c->n) : c->y + i;
    assert_near(*x, 10 * (c->scaling.y_mean + c->scaling.y_sd * *y), 1e-9);
    seen[(size_t)(*x / 10 + 0.5)]++;
    if (held_out && i > c->n) descents += *x < x[-1];
  }
  for (size_t i = 0; i < ROWS; i++) assert_int_equal(seen[i], 1);
  assert_true(descents > 25 && descents < 75); /* the first few are a random sample too */
  free(text);
  gpnn_training_release(&training);
}

/* The numbers of the training rows are all others, in their order. */
static void the_rows_held_out_are_known_from_the_dataset(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  char *text = numbered_table();
  for (size_t c = 0; c <= ROWS / 3; c += ROWS / 3) {
    uint64_t *held_out = NULL;
    size_t before = 0;
    train(&training, text, &(struct gpnn_roles){.target = "a", .inputs = "x"}, GPNN_SCALING_NONE,
          c);
    const struct gpnn_dataset *dataset = &training.dataset;
    assert_ok(gpnn_training_held_out(dataset, &held_out, &err));
    for (size_t i = 0; i < dataset->n; i++) {
      while (before < c && held_out[before] == i + before) before++;
      assert_true(dataset->x[i] == (double)(i + before));
    }
    assert_int_equal(dataset->n_calibration, c);
    free(held_out);
    gpnn_training_release(&training);
  }
  free(text);
}

/* Checks one row of either part; its number follows from its first target. */
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

static void columns_that_are_not_inputs_stay_with_their_rows(void **state)
{
  (void)state;
  const struct gpnn_roles roles = {.target = "a,b", .regressors = "r,s", .row_noise = "v"};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  char *text = numbered_table();
  train(&training, text, &roles, GPNN_SCALING_SCALE, ROWS / 3);
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
  char *text = numbered_table();
  train(&both, text, &(struct gpnn_roles){.target = "a,b", .inputs = "x,r"}, GPNN_SCALING_SCALE,
        ROWS / 3);
  train(&alone, text, &(struct gpnn_roles){.target = "b", .inputs = "x,r"}, GPNN_SCALING_SCALE,
        ROWS / 3);
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

/* As if its offset had been subtracted in the table. */
static void a_target_is_what_its_offset_leaves(void **state)
{
  (void)state;
  struct gpnn_training with = GPNN_TRAINING_INIT, without = GPNN_TRAINING_INIT;
  const struct gpnn_roles given = {.target = "a,b", .row_noise = "v", .offsets = "p,q"},
                          subtracted = {.target = "a,b", .row_noise = "v", .inputs = "x"};
  char *text = malloc(1 << 20), *plain = malloc(1 << 20);
  int n = sprintf(text, "q\ta\tx\tv\tb\tp\n"), m = sprintf(plain, "a\tx\tv\tb\n");
  for (int i = 0; i < ROWS; i++) {
    int a = i * 37 % 101, b = i * i % 97, p = 5 * i, q = -i;
    n += sprintf(text + n, "%d\t%d\t%d\t%d\t%d\t%d\n", q, a + p, i % 50, i, b + q, p);
    m += sprintf(plain + m, "%d\t%d\t%d\t%d\n", a, i % 50, i, b);
  }
  train(&with, text, &given, GPNN_SCALING_SCALE, ROWS / 3);
  train(&without, plain, &subtracted, GPNN_SCALING_SCALE, ROWS / 3);
  const struct gpnn_dataset *c = &with.dataset, *o = &without.dataset;
  assert_int_equal(c->d, 1);
  assert_memory_equal(c->y, o->y, o->n * sizeof *o->y);
  assert_memory_equal(c->more, o->more, o->n * sizeof *o->y);
  assert_memory_equal(c->noise, o->noise, 2 * o->n * sizeof *o->y);
  assert_memory_equal(c->calibration_y, o->calibration_y, o->n_calibration * sizeof *o->y);
  assert_memory_equal(c->calibration_more, o->calibration_more, o->n_calibration * sizeof *o->y);
  assert_true(c->scaling.y_sd == o->scaling.y_sd &&
              c->scaling.more[0].mean == o->scaling.more[0].mean);
  for (size_t i = 0; i < c->n; i++) {
    double row = round(c->noise[i] * c->scaling.y_sd * c->scaling.y_sd);
    assert_near(c->offset[i], 5 * row, 0);
    assert_near(c->offset[c->n + i], -row, 0);
  }
  for (size_t i = 0, h = c->n_calibration; i < h; i++) {
    double row = round(c->calibration_noise[i] * c->scaling.y_sd * c->scaling.y_sd);
    assert_near(c->calibration_offset[i], 5 * row, 0);
    assert_near(c->calibration_offset[h + i], -row, 0);
  }
  assert_null(o->offset);
  assert_null(o->calibration_offset);
  free(text);
  free(plain);
  gpnn_training_release(&with);
  gpnn_training_release(&without);
}

static enum gpnn_status refuse(const char *text, const struct gpnn_roles *roles,
                               struct gpnn_error *err)
{
  const struct gpnn_training_options options = GPNN_TRAINING_OPTIONS_INIT;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  enum gpnn_status status = try_to_train(&training, text, roles, &options, err);
  gpnn_training_release(&training);
  return status;
}

/* Rows of 'n_groups' groups, where each of the first 'large' is 'times' as large as one of the
 * others.  x is the row, y ten times its group and a little more. */
static char *grouped_table(int n_groups, int large, int times, int n)
{
  char *text = malloc(1 << 20);
  int length = sprintf(text, "x\ty\tsite\n"), weight = n_groups + large * (times - 1);
  for (int i = 0; i < n; i++) {
    int k = i * 7 % weight, group = k < large * times ? k / times : k - large * (times - 1);
    length += sprintf(text + length, "%d\t%d\ts%d\n", i, 10 * group + i % 3, group);
  }
  return text;
}

static size_t group_of(const struct gpnn_dataset *data, double y)
{
  double value = (y * data->scaling.y_sd + data->scaling.y_mean) / 10 + 0.05;
  return (size_t)value;
}

/* Trains on such a table; returns how many groups are held out, all of whose rows must be, and
 * checks that the others have numbers of their own. */
static size_t groups_held_out(int n_groups, int large, int times, int n, size_t wanted, size_t *c)
{
  const struct gpnn_roles roles = {.target = "y", .by = "site"};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  char *text = grouped_table(n_groups, large, times, n);
  size_t held_out[1000] = {0}, trained[1000] = {0}, n_held_out = 0;
  uint32_t number[1000] = {0};
  train(&training, text, &roles, GPNN_SCALING_NONE, wanted);
  const struct gpnn_dataset *data = &training.dataset;
  assert_int_equal(data->d, 1);
  assert_int_equal(data->n + data->n_calibration, n);
  for (size_t i = 0; i < data->n_calibration; i++)
    held_out[group_of(data, data->calibration_y[i])]++;
  for (size_t i = 0; i < data->n; i++) {
    size_t group = group_of(data, data->y[i]);
    assert_true(data->row_group[i] < data->n_row_groups);
    if (trained[group]++ > 0) assert_int_equal(data->row_group[i], number[group]);
    number[group] = data->row_group[i];
  }
  for (int g = 0; g < n_groups; g++) {
    assert_true((held_out[g] == 0) != (trained[g] == 0));
    n_held_out += held_out[g] > 0;
    for (int h = 0; h < g; h++)
      assert_true(trained[g] == 0 || trained[h] == 0 || number[g] != number[h]);
  }
  assert_int_equal(data->n_row_groups, (size_t)n_groups - n_held_out);
  *c = data->n_calibration;
  free(text);
  gpnn_training_release(&training);
  return n_held_out;
}

static void groups_are_held_out_whole(void **state)
{
  (void)state;
  size_t c;
  const int size = ROWS / 500;
  assert_int_equal(groups_held_out(500, 0, 1, 500 * size, 100, &c), (100 + size - 1) / size);
  assert_int_equal(c, (100 + size - 1) / size * size);
  assert_int_equal(groups_held_out(1000, 0, 1, 1000, 0, &c), 0);
  assert_int_equal(c, 0);
}

static void large_groups_are_held_out_only_if_there_are_no_others(void **state)
{
  (void)state;
  size_t c;
  for (int n = 1000; n < 1100; n += 20) {
    groups_held_out(51, 1, 50, n, 40, &c); /* half of the rows in one group */
    assert_true(c >= 40 && c <= 80);
  }
  assert_int_equal(groups_held_out(3, 0, 1, 999, 50, &c), 1);
  assert_int_equal(c, 333);
}

static void rows_without_a_group_are_bad_and_one_group_cannot_be_held_out(void **state)
{
  (void)state;
  const struct gpnn_roles roles = {.target = "y", .by = "site"};
  assert_fails(refuse("x\tsite\ty\n1\ta\t1\n2\tNA\t2\n", &roles, &err), GPNN_EDATA,
               "t.tsv:3: column 'site': missing value");
  char text[1000];
  int n = sprintf(text, "x\tsite\ty\n");
  for (int i = 0; i < 20; i++) n += sprintf(text + n, "%d\ta\t%d\n", i, i * i);
  assert_fails(refuse(text, &roles, &err), GPNN_EDATA,
               "t.tsv: column 'site' has the same value in all rows");
  n = sprintf(text, "x\tsite\ty\n");
  for (int i = 0; i < 20; i++) n += sprintf(text + n, "%d\t%d\t%d\n", i, i % 2, i * i);
  assert_fails(refuse(text, &roles, &err), GPNN_EDATA, "2 groups of rows are too few");
  n = sprintf(text, "x\tsite\ty\n");
  for (int i = 0; i < 20; i++) n += sprintf(text + n, "%d\t%d\t%d\n", i, i / 19 * i, i * i);
  assert_fails(refuse(text, &roles, &err), GPNN_EDATA, "2 groups of rows are too few");
}

/* Levels and points become features in every block of rows. */
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
  train(&training, text, &roles, GPNN_SCALING_SCALE, ROWS / 3);
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

/* Rows go from pole to pole as 'a' does; two whose latitude is missing have an 'a' from beyond. */
static void positions_are_filled_in_no_farther_than_the_poles(void **state)
{
  (void)state;
  const char *const places[] = {"lat,lon"};
  const struct gpnn_roles located = {.target = "y", .locations = places, .n_locations = 1};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  char text[8000];
  int length = sprintf(text, "a,lat,lon,y\n");
  for (int sign = -1; sign < 2; sign += 2)
    for (int i = 0; i < 90; i++)
      length += sprintf(text + length, "%d,%d,%d,%d\n", sign * i, sign * i, i % 7, i % 11);
  sprintf(text + length, "130,,3,1\n-130,,4,2\n");
  train(&training, text, &located, GPNN_SCALING_NONE, 0);
  const struct gpnn_dataset *dataset = &training.dataset;
  assert_int_equal(dataset->n, 182);
  for (size_t i = 180; i < 182; i++) {
    const double *x = dataset->x + i * dataset->d;
    assert_true(fabs(x[0]) == 130);
    assert_near(x[1], 0, 1e-9);
    assert_near(x[2], 0, 1e-9);
    assert_near(x[3], copysign(GPNN_EARTH_RADIUS, x[0]), 1e-9);
  }
  gpnn_training_release(&training);
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

/* Reads 'text'; 'found' counts rows, bad rows and levels. */
static enum gpnn_status read_broken(const char *text, bool skip_bad, int threads, size_t found[3],
                                    struct gpnn_error *error)
{
  const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;
  const struct gpnn_roles roles = {.one_hot = "c"};
  const struct gpnn_training_reading how = {.skip_bad = skip_bad, .threads = threads};
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

static void the_first_bad_row_is_reported_whatever_is_wrong_with_it(void **state)
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
    assert_int_equal(found[2], 8); /* a to h, but not those of bad rows */
  }
  free(text);
}

static void datasets_do_not_depend_on_threads(void **state)
{
  (void)state;
  const struct gpnn_roles roles = {.target = "a,b", .regressors = "r,s", .row_noise = "v"};
  struct gpnn_training trained[2] = {GPNN_TRAINING_INIT, GPNN_TRAINING_INIT};
  char *text = numbered_table();
  for (int i = 0; i < 2; i++) {
    struct gpnn_training_options options = GPNN_TRAINING_OPTIONS_INIT;
    options.threads = i == 0 ? 1 : 3;
    assert_ok(try_to_train(&trained[i], text, &roles, &options, &err));
  }
  assert_int_equal(trained[0].rows.n, trained[1].rows.n);
  assert_memory_equal(trained[0].rows.numbers, trained[1].rows.numbers,
                      trained[0].rows.n * sizeof(double));
  for (int i = 0; i < 2; i++) gpnn_training_release(&trained[i]);
  free(text);
}

static void a_column_that_cannot_be_used_is_named(void **state)
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
               "t.tsv:3: column 's': a negative variance: \"-1\"");
  assert_fails(refuse("x\tr\ts\ty\n1\t4\t0\t1\n2\t5\t\t4\n", &roles, &err), GPNN_EDATA,
               "t.tsv:3: column 's': missing value");
  assert_fails(refuse("x\tr\ts\ty\n1\t4\t0\t1\n2\tNA\t0\tNA\n", &roles, &err), GPNN_EDATA,
               "t.tsv:3: column 'y': missing value, as in all other targets");
  assert_fails(refuse("x\tr\ts\ty\n1\t4\t0\t1\n2\tNA\t0\t4\n", &roles, &err), GPNN_EDATA,
               "t.tsv: column 'r': does not vary");
}

/* Trains on 'text' by mean 10 and 'sd', whatever comes of it. */
static enum gpnn_status train_by(struct gpnn_training *training, const char *text, double sd,
                                 const char *target, struct gpnn_error *error)
{
  struct gpnn_training_options options = GPNN_TRAINING_OPTIONS_INIT;
  const struct gpnn_moments given = {10, sd};
  options.n_given = 1;
  options.given = &given;
  return try_to_train(training, text, &(struct gpnn_roles){.target = target, .inputs = "x"},
                      &options, error);
}

/* Inputs are scaled as usual, and a target that does not vary is one like others. */
static void a_target_may_have_a_mean_and_sd_of_its_own(void **state)
{
  (void)state;
  for (int constant = 0; constant < 2; constant++) {
    struct gpnn_training own = GPNN_TRAINING_INIT;
    const char *text = constant ? "x\ty\n1\t14\n2\t14\n4\t14\n" : "x\ty\n1\t4\n2\t14\n4\t11\n";
    const double values[] = {constant ? 14 : 4, 14, constant ? 14 : 11};
    assert_ok(train_by(&own, text, 4, "y", &err));
    assert_true(own.dataset.scaling.y_mean == 10 && own.dataset.scaling.y_sd == 4);
    for (size_t i = 0; i < 3; i++) assert_true(own.dataset.y[i] == (values[i] - 10) / 4);
    assert_near(own.dataset.x[0] + own.dataset.x[1] + own.dataset.x[2], 0, 1e-15);
    gpnn_training_release(&own);
  }
}

static void a_mean_and_sd_that_do_not_go_with_the_target_are_refused(void **state)
{
  (void)state;
  const struct {
    const char *text, *target, *message;
    double sd;
    enum gpnn_status status;
  } wrong[] = {
      {"x\ty\tz\n1\t4\t1\n2\t5\t2\n", "y,z", "given of 1 targets, where there are 2", 4,
       GPNN_EINVAL},
      {"x\ty\n1\ta\n2\tb\n3\tb\n", "y", "of a target of classes", 4, GPNN_EINVAL},
      {"x\ty\n1\t4\n2\t1e300\n", "y", "column 'y': its values may be more than", 4, GPNN_EDATA},
      {"x\ty\n1\t4\n2\t5\n", "y", "column 'y': its values may be more than", 1e-300, GPNN_EDATA},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    struct gpnn_training training = GPNN_TRAINING_INIT;
    assert_fails(train_by(&training, wrong[i].text, wrong[i].sd, wrong[i].target, &err),
                 wrong[i].status, wrong[i].message);
    gpnn_training_release(&training);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_is_trained_on_or_held_out_with_its_own_target),
      cmocka_unit_test(the_rows_held_out_are_known_from_the_dataset),
      cmocka_unit_test(columns_that_are_not_inputs_stay_with_their_rows),
      cmocka_unit_test(a_further_target_is_what_it_would_be_alone),
      cmocka_unit_test(a_target_is_what_its_offset_leaves),
      cmocka_unit_test(groups_are_held_out_whole),
      cmocka_unit_test(large_groups_are_held_out_only_if_there_are_no_others),
      cmocka_unit_test(rows_without_a_group_are_bad_and_one_group_cannot_be_held_out),
      cmocka_unit_test(inputs_become_features),
      cmocka_unit_test(positions_are_filled_in_no_farther_than_the_poles),
      cmocka_unit_test(the_first_bad_row_is_reported_whatever_is_wrong_with_it),
      cmocka_unit_test(bad_rows_of_every_kind_are_left_out_and_counted),
      cmocka_unit_test(datasets_do_not_depend_on_threads),
      cmocka_unit_test(a_column_that_cannot_be_used_is_named),
      cmocka_unit_test(a_target_may_have_a_mean_and_sd_of_its_own),
      cmocka_unit_test(a_mean_and_sd_that_do_not_go_with_the_target_are_refused),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
