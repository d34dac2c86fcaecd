/* Targets that are classes, and exposures: from a table through training and an index to the rows
 * of later tables. */
#include "container_bytes.h"
#include "dataset/index/index.h"
#include "dataset/reader.h"
#include "dataset/sample.h"
#include "dataset/transformed.h"
#include "stats/moments.h"
#include "trained.h"

static const struct gpnn_training_options usual = GPNN_TRAINING_OPTIONS_INIT;

static const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;

/* Trains on 'text' without holding rows out. */
static const struct gpnn_dataset *train_all(struct gpnn_training *training, const char *text,
                                            const struct gpnn_roles *roles)
{
  train(training, text, roles, GPNN_SCALING_NONE, 0);
  return &training->dataset;
}

/* The names of the classes of target 't', with bars between. */
static const char *names_of(const struct gpnn_dataset *dataset, size_t t)
{
  static char names[400];
  const struct gpnn_column *column = gpnn_schema_target(&dataset->schema, t);
  names[0] = '\0';
  for (size_t c = 0; c < column->n_levels; c++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", c > 0 ? "|" : "",
             column->levels[c]);
  return names;
}

static void check_numbers(size_t n, const double *y, const double *expected)
{
  for (size_t i = 0; i < n; i++)
    assert_true(y[i] == expected[i] || (isnan(y[i]) && isnan(expected[i])));
}

/* ---- which targets are classes ------------------------------------------------------------- */

static void texts_are_classes_in_the_order_of_their_bytes(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  const struct gpnn_dataset *c =
      train_all(&training, "x,y\n1,pear\n2,Apple\n3,\xc3\xa4\n4,pear\n5,apple\n6, Apple \n",
                &(struct gpnn_roles){0});
  assert_string_equal(names_of(c, 0), "Apple|apple|pear|\xc3\xa4");
  check_numbers(6, c->y, (const double[]){2, 0, 3, 2, 1, 0});
  assert_int_equal(gpnn_dataset_n_classes(c), 4);
  assert_near(c->scaling.y_mean, 0, 0);
  assert_near(c->scaling.y_sd, 1, 0);
  size_t counts[4];
  gpnn_dataset_count_classes(c, counts);
  assert_int_equal(counts[0], 2);
  assert_int_equal(counts[3], 1);
  gpnn_training_release(&training);
}

static void numbers_are_classes_if_asked_for_in_the_order_of_their_values(void **state)
{
  (void)state;
  const char *text = "x,y\n1,10\n2,9\n3,9.0\n4,1e1\n5,-1\n6,b\n7,+9\n";
  struct gpnn_training training = GPNN_TRAINING_INIT;
  const struct gpnn_dataset *c = train_all(&training, text, &(struct gpnn_roles){.classes = true});
  assert_string_equal(names_of(c, 0), "-1|9|10|b");
  check_numbers(7, c->y, (const double[]){2, 1, 1, 2, 0, 3, 1});
  gpnn_training_release(&training);
  assert_fails(try_to_train(&training, text, &(struct gpnn_roles){0}, &usual, &err), GPNN_EDATA,
               "t.tsv:7: column 'y': not a number: \"b\"");
  gpnn_training_release(&training);
}

/* Stray texts, dates, numbers with a unit and texts for missing values make no classes. */
static void a_target_that_is_not_mostly_texts_is_a_number(void **state)
{
  (void)state;
  static const char *const bad[] = {
      "x,y\n1,m/s\n2,3\n3,4\n4,5\n", "x,y\n1,2014-05-02\n2,2014-05-03\n",
      "x,y\n1,5 km\n2,6 km\n3,6 km\n", "x,y\n1,n/a\n2,n/a\n3,?\n", "x,y\n1,a\n2,b\n3,1\n4,2\n"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct gpnn_training training = GPNN_TRAINING_INIT;
    assert_fails(try_to_train(&training, bad[i], &(struct gpnn_roles){0}, &usual, &err), GPNN_EDATA,
                 "t.tsv:2: column 'y': not a number");
    gpnn_training_release(&training);
  }
}

static void of_several_targets_each_is_classes_or_a_number_by_itself(void **state)
{
  (void)state;
  const char *text = "x,a,b,c\n1,u,5,\n2,v,,q\n3,,7,p\n4,u,8,q\n5,,8,\n";
  const struct gpnn_roles roles = {.target = "a,b,c"};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  const struct gpnn_dataset *c = train_all(&training, text, &roles);
  check_numbers(5, c->y, (const double[]){0, 1, NAN, 0, NAN});
  check_numbers(5, c->more + 5, (const double[]){NAN, 1, 0, 1, NAN});
  assert_near(c->scaling.more[0].mean, 7, 1e-12);
  assert_near(c->scaling.more[1].sd, 1, 0);
  assert_string_equal(names_of(c, 1), "");
  assert_string_equal(names_of(c, 2), "p|q");
  gpnn_training_release(&training);
  const struct gpnn_roles all = {.target = "a,b,c", .classes = true};
  assert_string_equal(names_of(train_all(&training, text, &all), 1), "5|7|8");
  gpnn_training_release(&training);
}

/* ---- bad input ----------------------------------------------------------------------------- */

static void a_label_that_is_missing_is_a_bad_row(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  assert_fails(
      try_to_train(&training, "x,y\n1,a\n2,a\n3,\n4,b\n", &(struct gpnn_roles){0}, &usual, &err),
      GPNN_EDATA, "t.tsv:4: column 'y': missing value");
  gpnn_training_release(&training);
}

/* A row that is left out leaves no class behind. */
static void a_bad_row_brings_no_class(void **state)
{
  (void)state;
  const struct gpnn_training_reading how = {.skip_bad = true, .threads = 1};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_table *table = NULL;
  const char *path = scratch_text("t.csv", "x,z,y\n1,1,b\n?,2,a\n3,?,c\n4,5,b\n6,7,d\n");
  assert_ok(gpnn_table_open(&table, path, &as_usual, &err));
  assert_ok(
      gpnn_training_begin(&training, table, &(struct gpnn_roles){0}, scratch_path("t.gpi"), &err));
  assert_ok(gpnn_training_read(&training, table, &how, &err));
  assert_ok(gpnn_training_finish(&training, &usual, "t.csv", &err));
  assert_string_equal(names_of(&training.dataset, 0), "b|d");
  assert_int_equal(training.dataset.n_skipped, 2);
  gpnn_table_close(table);
  gpnn_training_release(&training);
}

static void too_many_classes_are_refused_even_if_bad_rows_are_left_out(void **state)
{
  (void)state;
  char *text = malloc(1 << 20);
  int length = sprintf(text, "x,y\n");
  for (int i = 0; i < 5000; i++) length += sprintf(text + length, "%d,id%d\n", i, i);
  for (int skip_bad = 0; skip_bad < 2; skip_bad++) {
    const struct gpnn_training_reading how = {.skip_bad = skip_bad == 1, .threads = 1};
    struct gpnn_training training = GPNN_TRAINING_INIT;
    struct gpnn_table *table = NULL;
    assert_ok(gpnn_table_open(&table, scratch_text("t.csv", text), &as_usual, &err));
    assert_ok(gpnn_training_begin(&training, table, &(struct gpnn_roles){0}, scratch_path("t.gpi"),
                                  &err));
    assert_fails(gpnn_training_read(&training, table, &how, &err), GPNN_EDATA,
                 "t.csv:1002: column 'y': has more than 1000 different labels: is it an id?");
    gpnn_table_close(table);
    gpnn_training_release(&training);
  }
  free(text);
}

static void one_class_or_none_that_is_repeated_is_refused(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  assert_fails(
      try_to_train(&training, "x,y\n1,a\n2,a\n3,a\n", &(struct gpnn_roles){0}, &usual, &err),
      GPNN_EDATA, "t.tsv: column 'y': all rows are of class 'a'");
  gpnn_training_release(&training);
  assert_fails(
      try_to_train(&training, "x,y\n1,a\n2,b\n3,c\n", &(struct gpnn_roles){0}, &usual, &err),
      GPNN_EDATA, "t.tsv: column 'y': all 3 labels are different: is it an id?");
  gpnn_training_release(&training);
}

static void classes_have_neither_offsets_nor_noise(void **state)
{
  (void)state;
  const char *text = "x,v,y\n1,1,a\n2,2,a\n3,3,b\n";
  static const struct gpnn_roles offset = {.offsets = "v"}, noise = {.row_noise = "v"},
                                 asked = {.offsets = "v", .classes = true};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  assert_fails(try_to_train(&training, text, &offset, &usual, &err), GPNN_EINVAL,
               "target 'y' holds classes, from which no offset can be subtracted");
  gpnn_training_release(&training);
  assert_fails(try_to_train(&training, text, &asked, &usual, &err), GPNN_EINVAL, "no offset");
  gpnn_training_release(&training);
  assert_fails(try_to_train(&training, text, &noise, &usual, &err), GPNN_EINVAL,
               "target 'y' holds classes, and the noise of rows is that of numbers");
  gpnn_training_release(&training);
}

/* ---- rows held out ------------------------------------------------------------------------- */

/* Pairs of classes of which each has two rows: with half of the rows held out, many classes would
 * lose both. */
static void every_class_keeps_a_training_row_and_row_numbers_stay_known(void **state)
{
  (void)state;
  enum { K = 300 };
  const struct gpnn_roles roles = {.target = "y"};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  uint64_t *held_out = NULL;
  char *text = malloc(1 << 20);
  int length = sprintf(text, "x\ty\n");
  for (int i = 0; i < 2 * K; i++) length += sprintf(text + length, "%d\tc%03d\n", i, i % K);
  train(&training, text, &roles, GPNN_SCALING_NONE, K / 2);
  const struct gpnn_dataset *c = &training.dataset;
  size_t counts[K], before = 0;
  gpnn_dataset_count_classes(c, counts);
  for (size_t k = 0; k < K; k++) assert_true(counts[k] > 0);
  assert_non_null(c->held_out);
  assert_int_equal(c->n_calibration, K / 2);
  assert_ok(gpnn_training_held_out(c, &held_out, &err));
  for (size_t i = 0; i < c->n; i++) {
    while (before < c->n_calibration && held_out[before] == i + before) before++;
    assert_true(c->x[i] == (double)(i + before));
    assert_true(c->y[i] == (double)((i + before) % K));
  }
  for (size_t i = 0; i < c->n_calibration; i++)
    assert_true(c->calibration_y[i] == fmod(c->calibration_x[i], K));
  free(held_out);
  free(text);
  gpnn_training_release(&training);
}

/* Checks one row, whose number is its input: class, further target, regressor and exposure. */
static void check_row(const struct gpnn_dataset *c, double x, double y, double more, double r,
                      double exposure)
{
  assert_near(y, fmod(x, 3), 0);
  assert_near(c->scaling.more[0].mean + c->scaling.more[0].sd * more, 5 * x, 1e-8);
  assert_near(c->scaling.regressors[0].mean + c->scaling.regressors[0].sd * r, x * x, 1e-6);
  assert_near(exposure, x + 1, 0);
}

static void everything_of_a_row_stays_together_in_tables_of_many_blocks(void **state)
{
  (void)state;
  const struct gpnn_roles roles = {
      .target = "y,w", .inputs = "x", .regressors = "r", .exposure = "e", .by = "g"};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  char *text = malloc(1 << 20);
  int length = sprintf(text, "e\tx\tr\ty\tw\tg\n");
  for (int i = 0; i < ROWS; i++)
    length +=
        sprintf(text + length, "%d\t%d\t%d\tc%d\t%d\tg%d\n", i + 1, i, i * i, i % 3, 5 * i, i / 10);
  train(&training, text, &roles, GPNN_SCALING_NONE, ROWS / 3);
  const struct gpnn_dataset *c = &training.dataset;
  assert_true(c->n > 0 && c->n_calibration > 0);
  assert_int_equal(c->n + c->n_calibration, ROWS);
  for (size_t i = 0; i < c->n; i++)
    check_row(c, c->x[i], c->y[i], c->more[i], c->regressors[i], c->exposure[i]);
  for (size_t i = 0; i < c->n_calibration; i++)
    check_row(c, c->calibration_x[i], c->calibration_y[i], c->calibration_more[i],
              c->calibration_regressors[i], c->calibration_exposure[i]);
  free(text);
  gpnn_training_release(&training);
}

/* ---- indexes ------------------------------------------------------------------------------- */

/* Labels with whatever a field may hold, for two targets that some rows lack, and an exposure. */
static char *rich_table(void)
{
  static const char *const labels[] = {"\"a\ttab\"", "\"a \"\"quote\"\"\"", "\"two\nlines\"",
                                       "\xc3\xa9t\xc3\xa9", "plain"};
  char *text = malloc(1 << 16);
  int n = sprintf(text, "x,z,e,b,a\n");
  for (int i = 0; i < 200; i++)
    n += sprintf(text + n, "%d,%d,%g,%s,%s\n", i, i * i % 37, 0.5 + i,
                 i % 7 == 0 ? ""
                 : i % 2    ? "q"
                            : "p",
                 i % 7 > 0 && i % 11 == 5 ? "" : labels[i % 5]);
  return text;
}

static const struct gpnn_roles rich_roles = {.target = "a,b", .inputs = "x,z", .exposure = "e"};

/* Writes an index of the rich table. */
static void write_rich(struct gpnn_training *training, const char *path)
{
  const struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  struct gpnn_search *search = NULL;
  char *text = rich_table();
  train(training, text, &rich_roles, GPNN_SCALING_SCALE, 40);
  assert_ok(gpnn_index_make(path, &training->dataset, NULL, &options, NULL, &search, &err));
  gpnn_search_free(search);
  free(text);
}

static void an_index_keeps_classes_and_exposures(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_index *index = NULL;
  const char *path = scratch_path("r.gpi");
  write_rich(&training, path);
  assert_ok(gpnn_index_open(&index, path, true, &err));
  const struct gpnn_dataset *c = gpnn_index_dataset(index), *from = &training.dataset;
  assert_string_equal(names_of(c, 0), "a\ttab|a \"quote\"|plain|two\nlines|\xc3\xa9t\xc3\xa9");
  assert_string_equal(names_of(c, 1), "p|q");
  assert_memory_equal(c->exposure, from->exposure, c->n * sizeof(double));
  assert_memory_equal(c->calibration_exposure, from->calibration_exposure,
                      c->n_calibration * sizeof(double));
  for (size_t t = 0; t < 2; t++) {
    const struct gpnn_dataset *view = gpnn_dataset_target(c, t);
    const double *y = t == 0 ? from->y : from->more;
    size_t k = 0;
    assert_int_equal(gpnn_dataset_n_classes(view), t == 0 ? 5 : 2);
    for (size_t i = 0; i < from->n; i++) {
      if (isnan(y[i])) continue;
      assert_true(view->y[k] == y[i] && view->exposure[k] == from->exposure[i]);
      k++;
    }
    assert_int_equal(view->n, k);
    assert_near(view->scaling.y_sd, 1, 0);
  }
  gpnn_index_close(index);
  gpnn_training_release(&training);
}

static void a_sample_has_the_exposures_of_its_rows(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_sample *sample = NULL;
  const struct gpnn_dataset *c = train_all(&training, "x,e,y\n1,1,a\n2,2,a\n3,3,b\n4,4,b\n5,5,a\n",
                                           &(struct gpnn_roles){.exposure = "e"});
  const uint64_t taken[] = {4, 1};
  assert_ok(gpnn_sample_take(&sample, c, 2, taken, &err));
  const struct gpnn_dataset *view = gpnn_sample_target(sample, 0);
  check_numbers(2, view->exposure, (const double[]){5, 2});
  check_numbers(2, view->y, (const double[]){0, 0});
  assert_int_equal(gpnn_dataset_n_classes(view), 2);
  gpnn_sample_free(sample);
  gpnn_training_release(&training);
}

/* Whatever the checksums say, a number of a class is one of those there are. */
static void an_index_with_a_class_that_is_not_there_is_refused(void **state)
{
  (void)state;
  static const double wrong[] = {5, -1, 0.5, 1e300, NAN, INFINITY};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  const char *path = scratch_path("r.gpi"), *tags[] = {"YVAL", "CALY", "PART"};
  write_rich(&training, path);
  struct bytes whole = read_bytes(path);
  for (size_t k = 0; k < 3; k++)
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
      struct gpnn_index *index = NULL;
      struct bytes copy = {malloc(whole.length), whole.length};
      memcpy(copy.at, whole.at, whole.length);
      size_t at = (size_t)gpnn_load_u64(entry_of(copy, tags[k]) + 8);
      /* In PART the targets come after two inputs for each row. */
      const struct gpnn_dataset *c = &training.dataset;
      size_t n = 0;
      for (size_t i = 0; i < c->n; i++) n += isnan(c->y[i]) ? 0 : 1;
      if (k == 2) at += 2 * n * sizeof(double);
      gpnn_store_f64(copy.at + at, wrong[w]);
      write_bytes(path, copy.at, copy.length);
      bool may_lack = isnan(wrong[w]) && k < 2;
      if (may_lack) {
        assert_ok(gpnn_index_open(&index, path, false, &err));
        gpnn_index_close(index);
      } else {
        assert_fails(gpnn_index_open(&index, path, false, &err), GPNN_EFORMAT,
                     "damaged: a target has a class that is not there");
      }
      free(copy.at);
    }
  free(whole.at);
  gpnn_training_release(&training);
}

/* Uses all that an index says of classes, if it opens. */
static void use_classes(const char *path)
{
  struct gpnn_error reason = {0};
  struct gpnn_index *index = NULL;
  enum gpnn_status status = gpnn_index_open(&index, path, false, &reason);
  if (status != GPNN_OK) {
    assert_true(status == GPNN_EFORMAT && reason.text[0] != '\0');
    return;
  }
  const struct gpnn_dataset *c = gpnn_index_dataset(index);
  uint64_t *held_out = NULL;
  for (size_t t = 0; t < gpnn_dataset_n_targets(c); t++) {
    const struct gpnn_dataset *view = gpnn_dataset_target(c, t);
    size_t counts[GPNN_LEVELS_MAX], n = 0, length, k = gpnn_dataset_n_classes(view);
    if (k > 0) gpnn_dataset_count_classes(view, counts);
    for (size_t class = 0; class < k; class ++) {
      assert_non_null(gpnn_dataset_class(view, class, &length));
      n += counts[class];
    }
    assert_true(k == 0 || n == view->n);
  }
  assert_ok(gpnn_training_held_out(c, &held_out, &err));
  for (size_t i = 0; held_out != NULL && i < c->n_calibration; i++)
    assert_true(held_out[i] < c->n + c->n_calibration);
  free(held_out);
  gpnn_index_close(index);
}

/* Bytes of all sorts in all places of the sections, with checksums that are right. */
static void no_sealed_nonsense_in_classes_does_harm(void **state)
{
  (void)state;
  static const char *const tags[] = {"CLAS", "ECOL", "HELD", "EXPO"};
  static const unsigned char values[] = {0, 1, 0x7f, 0xff};
  const char *path = scratch_path("n.gpi");
  const struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  const struct gpnn_roles roles = {.exposure = "e"};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_search *search = NULL;
  char text[2000];
  int length = sprintf(text, "x,e,y\n");
  for (int i = 0; i < 40; i++) length += sprintf(text + length, "%d,%d,c%d\n", i, i + 1, i / 2);
  train(&training, text, &roles, GPNN_SCALING_SCALE, 18);
  assert_non_null(training.dataset.held_out);
  assert_ok(gpnn_index_make(path, &training.dataset, NULL, &options, NULL, &search, &err));
  gpnn_search_free(search);
  gpnn_training_release(&training);
  struct bytes whole = read_bytes(path);
  for (size_t s = 0; s < sizeof tags / sizeof *tags; s++) {
    unsigned char *section = section_of(whole, tags[s]);
    size_t n = (size_t)gpnn_load_u64(entry_of(whole, tags[s]) + 16);
    for (size_t at = 0; at < n; at++)
      for (size_t v = 0; v < sizeof values; v++) {
        unsigned char kept = section[at];
        section[at] = values[v];
        write_sealed(path, whole);
        use_classes(path);
        section[at] = kept;
      }
  }
  free(whole.at);
}

/* ---- later tables -------------------------------------------------------------------------- */

static void later_tables_have_the_same_classes_and_others(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_reader reader = {0};
  struct gpnn_table *table = NULL;
  struct gpnn_record record;
  const struct gpnn_dataset *c =
      train_all(&training, "x,y\n1,2\n2,2.0\n3,b\n4,10\n", &(struct gpnn_roles){.classes = true});
  static const double expected[] = {0, 2, GPNN_CLASS_UNSEEN, NAN, 1};
  static const char *const texts[] = {"+2", " b", "B", NULL, "1e1"};
  assert_ok(gpnn_table_open(
      &table, scratch_text("u.csv", "y,x\n+2,1\n b,2\n\"B\",3\nNA,4\n1e1,5\n"), &as_usual, &err));
  assert_ok(gpnn_reader_open(&reader, c, table, false, &err));
  for (size_t i = 0; i < 5; i++) {
    double y = 99;
    assert_ok(gpnn_table_next(table, &record, &err));
    assert_ok(gpnn_reader_target(&reader, &record, 0, &y, &err));
    check_numbers(1, &y, &expected[i]);
    const struct gpnn_field *text = gpnn_reader_target_text(&reader, &record, 0);
    assert_true((text == NULL) == (texts[i] == NULL));
    if (text == NULL) continue;
    assert_int_equal(text->length, strlen(texts[i]));
    assert_memory_equal(text->text, texts[i], text->length);
  }
  gpnn_reader_release(&reader);
  gpnn_table_close(table);
  gpnn_training_release(&training);
}

static void rows_of_unseen_classes_are_left_out_of_those_read_together(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_reader_rows rows = {0};
  struct gpnn_table *table = NULL;
  const struct gpnn_dataset *c =
      train_all(&training, "x,e,y\n1,1,a\n2,2,a\n3,4,b\n", &(struct gpnn_roles){.exposure = "e"});
  const char *path = scratch_text("u.csv", "y,x,e\nb,1,10\nc,2,20\na,3,30\n");
  assert_ok(gpnn_table_open(&table, path, &as_usual, &err));
  assert_ok(gpnn_reader_rows_read(&rows, c, table, false, false, false, &err));
  gpnn_table_close(table);
  assert_int_equal(rows.n, 2);
  assert_int_equal(rows.n_unseen, 1);
  check_numbers(2, rows.y, (const double[]){1, 0});
  check_numbers(2, rows.exposure, (const double[]){10, 30});
  gpnn_reader_rows_release(&rows);
  gpnn_training_release(&training);
}

static void an_exposure_is_required_and_above_0(void **state)
{
  (void)state;
  const char *text = "x,e,y\n1,1,5\n2,2,6\n3,4,7\n";
  const struct gpnn_roles roles = {.exposure = "e"};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_reader reader = {0};
  struct gpnn_reader_rows rows = {0};
  struct gpnn_table *table = NULL;
  struct gpnn_record record;
  double exposure;
  const struct gpnn_dataset *c = train_all(&training, text, &roles);
  assert_int_equal(c->d, 1);
  check_numbers(3, c->exposure, (const double[]){1, 2, 4});
  assert_ok(gpnn_table_open(&table, scratch_text("u.csv", "x,y\n1,2\n"), &as_usual, &err));
  assert_ok(gpnn_reader_open(&reader, c, table, false, &err));
  assert_fails(gpnn_reader_require_exposure(&reader, &err), GPNN_EMISMATCH,
               "u.csv: lacks 1 of 1 exposure column: 'e'");
  gpnn_reader_release(&reader);
  assert_fails(gpnn_reader_rows_read(&rows, c, table, false, false, false, &err), GPNN_EMISMATCH,
               "exposure");
  gpnn_reader_rows_release(&rows);
  gpnn_table_close(table);
  assert_ok(gpnn_table_open(&table, scratch_text("u.csv", "e,x\n3,1\n0,1\n-1,1\nz,1\n,1\n"),
                            &as_usual, &err));
  assert_ok(gpnn_reader_open(&reader, c, table, false, &err));
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_reader_exposure(&reader, &record, &exposure, &err));
  assert_near(exposure, 3, 0);
  for (size_t i = 0; i < 4; i++) {
    static const char *const what[] = {
        "u.csv:3: column 'e': an exposure that is not above 0: \"0\"", "not above 0: \"-1\"",
        "not a number", "missing value"};
    assert_ok(gpnn_table_next(table, &record, &err));
    assert_fails(gpnn_reader_exposure(&reader, &record, &exposure, &err), GPNN_EDATA, what[i]);
  }
  gpnn_reader_release(&reader);
  gpnn_table_close(table);
  gpnn_training_release(&training);
}

static void a_training_row_whose_exposure_is_not_above_0_is_bad(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  assert_fails(try_to_train(&training, "x,e,y\n1,1,5\n2,0,6\n3,4,7\n",
                            &(struct gpnn_roles){.exposure = "e"}, &usual, &err),
               GPNN_EDATA, "t.tsv:3: column 'e': an exposure that is not above 0: \"0\"");
  gpnn_training_release(&training);
}

static void the_roles_of_an_exposure_do_not_contradict_each_other(void **state)
{
  (void)state;
  static const struct {
    struct gpnn_roles roles;
    const char *what;
  } bad[] = {{{.exposure = "y"}, "is a target or a regressor, so it cannot be the exposure"},
             {{.exposure = "e", .inputs = "x,e"}, "is both exposure and input"},
             {{.exposure = "e", .offsets = "x"}, "neither row noise nor offsets"},
             {{.exposure = "e", .row_noise = "x"}, "neither row noise nor offsets"},
             {{.exposure = "q"}, "no column 'q'"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct gpnn_training training = GPNN_TRAINING_INIT;
    assert_fails(
        try_to_train(&training, "x,z,e,y\n1,2,1,5\n2,3,1,6\n", &bad[i].roles, &usual, &err),
        GPNN_EINVAL, bad[i].what);
    gpnn_training_release(&training);
  }
}

static void classes_are_never_transformed(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  const struct gpnn_dataset *c =
      train_all(&training, "x,y\n1,a\n2,a\n3,b\n", &(struct gpnn_roles){0});
  assert_fails(gpnn_transformed_check(c, GPNN_TRANSFORM_LOG, &err), GPNN_EDATA,
               "target 'y': classes are not transformed");
  gpnn_training_release(&training);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts_are_classes_in_the_order_of_their_bytes),
      cmocka_unit_test(numbers_are_classes_if_asked_for_in_the_order_of_their_values),
      cmocka_unit_test(a_target_that_is_not_mostly_texts_is_a_number),
      cmocka_unit_test(of_several_targets_each_is_classes_or_a_number_by_itself),
      cmocka_unit_test(a_label_that_is_missing_is_a_bad_row),
      cmocka_unit_test(a_bad_row_brings_no_class),
      cmocka_unit_test(too_many_classes_are_refused_even_if_bad_rows_are_left_out),
      cmocka_unit_test(one_class_or_none_that_is_repeated_is_refused),
      cmocka_unit_test(classes_have_neither_offsets_nor_noise),
      cmocka_unit_test(every_class_keeps_a_training_row_and_row_numbers_stay_known),
      cmocka_unit_test(everything_of_a_row_stays_together_in_tables_of_many_blocks),
      cmocka_unit_test(an_index_keeps_classes_and_exposures),
      cmocka_unit_test(a_sample_has_the_exposures_of_its_rows),
      cmocka_unit_test(an_index_with_a_class_that_is_not_there_is_refused),
      cmocka_unit_test(no_sealed_nonsense_in_classes_does_harm),
      cmocka_unit_test(later_tables_have_the_same_classes_and_others),
      cmocka_unit_test(rows_of_unseen_classes_are_left_out_of_those_read_together),
      cmocka_unit_test(an_exposure_is_required_and_above_0),
      cmocka_unit_test(a_training_row_whose_exposure_is_not_above_0_is_bad),
      cmocka_unit_test(the_roles_of_an_exposure_do_not_contradict_each_other),
      cmocka_unit_test(classes_are_never_transformed),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
