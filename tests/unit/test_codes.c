#include <stddef.h>

#include "base/rng.h"
#include "stats/moments.h"
#include "trained.h"

static const struct gpnn_roles coded = {.coded = "c"};

/* The number of a level of the only coded input; SIZE_MAX: it has none of that name. */
static size_t find_level(const struct gpnn_column *column, const char *name)
{
  for (size_t l = 0; l < column->n_levels; l++)
    if (strcmp(column->levels[l], name) == 0) return l;
  return SIZE_MAX;
}

/* Means 2, 6 and 10 of two rows each, all of which are 3 away from theirs: the variance is 18
 * within levels, 7 between them, and 118/6 in all. */
static void codes_are_shrunken_means(void **state)
{
  (void)state;
  static const double y[] = {-1, 3, 7, 5, 9, 13}, lambda = 18.0 / 7;
  const double sd = sqrt(118.0 / 6);
  struct gpnn_training training = GPNN_TRAINING_INIT;
  train(&training, "c\ty\na\t-1\nb\t3\nc\t7\na\t5\nb\t9\nc\t13\n", &coded, GPNN_SCALING_NONE, 0);
  const struct gpnn_dataset *dataset = &training.dataset;
  const struct gpnn_column *column = &dataset->schema.inputs[0];
  assert_int_equal(column->n_levels, 3);
  assert_near(column->shrinkage, lambda, 1e-12);
  for (size_t l = 0; l < 3; l++)
    assert_near(column->codes[l], (y[l] + y[l + 3] - 12) / sd / (2 + lambda), 1e-12);
  size_t n_apart = 0;
  for (size_t i = 0; i < 6; i++) { /* by the other row of the level, or if folds agree by none */
    double other = (y[(i + 3) % 6] - 6) / sd / (1 + lambda);
    n_apart += dataset->x[i] != 0;
    if (dataset->x[i] != 0) assert_near(dataset->x[i], other, 1e-12);
  }
  assert_true(n_apart >= 2);
  gpnn_training_release(&training);
}

/* Nothing is learnt from rows that are held out, be it only the mean of all targets. */
static void codes_are_those_of_training_rows(void **state)
{
  (void)state;
  enum { ALL = 90, LEVELS = 3 };
  struct gpnn_training training = GPNN_TRAINING_INIT;
  char text[ALL * 20];
  double n[LEVELS] = {0}, sum[LEVELS] = {0}, mean = 0, squares = 0;
  int length = sprintf(text, "c\tx\ty\n");
  for (int i = 0; i < ALL; i++)
    length += sprintf(text + length, "l%d\t%d\t%d\n", i * i % 7 % 3, i * 37 % 101, i);
  train(&training, text, &coded, GPNN_SCALING_NONE, 30);
  const struct gpnn_dataset *dataset = &training.dataset;
  const struct gpnn_column *column = &dataset->schema.inputs[0];
  assert_int_equal(dataset->n, 60);
  for (size_t k = 0; k < dataset->n; k++) {
    long i = lround(dataset->y[k] * dataset->scaling.y_sd + dataset->scaling.y_mean);
    n[i * i % 7 % 3]++;
    sum[i * i % 7 % 3] += (double)i;
    mean += (double)i / 60;
    squares += (double)(i * i) / 60;
  }
  double sd = sqrt(squares - mean * mean);
  for (int l = 0; l < LEVELS; l++) {
    char name[16];
    sprintf(name, "l%d", l);
    assert_near(column->codes[find_level(column, name)],
                (sum[l] - n[l] * mean) / sd / (n[l] + column->shrinkage), 1e-10);
  }
  gpnn_training_release(&training);
}

static double shrinkage_of(const char *text)
{
  struct gpnn_training training = GPNN_TRAINING_INIT;
  train(&training, text, &coded, GPNN_SCALING_NONE, 0);
  double shrinkage = training.dataset.schema.inputs[0].shrinkage;
  gpnn_training_release(&training);
  return shrinkage;
}

static void shrinkage_has_bounds(void **state)
{
  (void)state;
  /* Levels that are nothing but far apart; those that hardly differ; and those of a row each. */
  const char *apart = "c\tx\ty\na\t1\t0\na\t2\t0.01\nb\t3\t9\nb\t4\t9.01\nc\t5\t4\nc\t7\t4.01\n";
  const char *alike = "c\tx\ty\na\t1\t-1\na\t2\t1\nb\t3\t0.415\nb\t4\t2.415\n";
  const char *alone = "c\tx\ty\na\t1\t-1\nb\t2\t1\nd\t3\t0.4\ne\t4\t2.4\n";
  assert_near(shrinkage_of(apart), 0.5, 0);
  assert_near(shrinkage_of(alike), 1000, 0);
  assert_near(shrinkage_of(alone), 1000, 0);
}

static double correlation(size_t n, const double *a, const double *b)
{
  double mean[2] = {0, 0}, aa = 0, bb = 0, ab = 0;
  for (size_t i = 0; i < n; i++) {
    mean[0] += a[i] / (double)n;
    mean[1] += b[i] / (double)n;
  }
  for (size_t i = 0; i < n; i++) {
    aa += (a[i] - mean[0]) * (a[i] - mean[0]);
    bb += (b[i] - mean[1]) * (b[i] - mean[1]);
    ab += (a[i] - mean[0]) * (b[i] - mean[1]);
  }
  return ab / sqrt(aa * bb);
}

/* Means over all rows, their own included, would be correlated by 0.5. */
static void a_training_row_does_not_see_its_own_target(void **state)
{
  (void)state;
  enum { LEVELS = 500, EACH = 4 };
  char *text = malloc(1 << 20);
  for (uint64_t seed = 1; seed <= 5; seed++) {
    struct gpnn_training training = GPNN_TRAINING_INIT;
    struct gpnn_rng rng;
    gpnn_rng_init(&rng, seed, GPNN_RNG_TEST);
    int length = sprintf(text, "c\ty\n");
    for (int i = 0; i < LEVELS * EACH; i++)
      length += sprintf(text + length, "level %d\t%.17g\n", i % LEVELS, gpnn_rng_normal(&rng));
    train(&training, text, &coded, GPNN_SCALING_NONE, 0);
    const struct gpnn_dataset *dataset = &training.dataset;
    assert_int_equal(dataset->n, LEVELS * EACH);
    assert_true(correlation(dataset->n, dataset->x, dataset->y) < 3 / sqrt(LEVELS * EACH));
    gpnn_training_release(&training);
  }
  free(text);
}

/* Twice as many rows as levels, some of which are held out as a whole. */
static void check_held_out(const struct gpnn_roles *roles, bool drops)
{
  struct gpnn_training training = GPNN_TRAINING_INIT;
  char *text = malloc(1 << 20), name[32];
  size_t n_unseen = 0;
  int length = sprintf(text, "c\tx\ty\n");
  for (int i = 0; i < ROWS; i++)
    length += sprintf(text + length, "l%d\t%d\t%d\n", i % (ROWS / 2), i * 7919 % ROWS, i);
  train(&training, text, roles, GPNN_SCALING_NONE, ROWS / 3);
  const struct gpnn_dataset *dataset = &training.dataset;
  const struct gpnn_column *column = &dataset->schema.inputs[0];
  for (size_t k = 0; k < dataset->n_calibration; k++) {
    const struct gpnn_scaling *scaling = &dataset->scaling;
    long row = lround(dataset->calibration_y[k] * scaling->y_sd + scaling->y_mean);
    double code = dataset->calibration_x[k * dataset->d];
    sprintf(name, "l%ld", row % (ROWS / 2));
    size_t level = find_level(column, name);
    n_unseen += level == SIZE_MAX;
    if (level != SIZE_MAX)
      assert_true(code == column->codes[level]);
    else
      assert_true(drops ? code == 0 : isnan(code));
  }
  assert_int_equal(column->n_levels + n_unseen / 2, ROWS / 2);
  assert_true(n_unseen > ROWS / 30);
  for (size_t i = 0; i < dataset->n * dataset->d; i++) assert_true(isfinite(dataset->x[i]));
  free(text);
  gpnn_training_release(&training);
}

static void levels_that_training_has_not_seen_are_missing(void **state)
{
  (void)state;
  check_held_out(&coded, false);
}

static void or_have_the_code_of_the_mean_where_rows_may_lack_nothing(void **state)
{
  (void)state;
  check_held_out(&(struct gpnn_roles){.coded = "c", .missing = GPNN_MISSING_DROP}, true);
}

/* What is missing is filled in, as in an input of numbers. */
static void a_missing_cell_is_no_level(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  char *text = malloc(1 << 20);
  int length = sprintf(text, "c\tx\ty\n");
  for (int i = 0; i < 200; i++) {
    length += i % 10 == 3 ? 0 : sprintf(text + length, "l%d", i % 4);
    length += sprintf(text + length, "\t%d\t%d\n", i % 7, i * 37 % 101);
  }
  train(&training, text, &coded, GPNN_SCALING_SCALE, 0);
  assert_int_equal(training.dataset.schema.inputs[0].n_levels, 4);
  assert_int_equal(training.n_incomplete, 20);
  assert_non_null(training.dataset.lacks);
  for (size_t i = 0; i < 200 * training.dataset.d; i++)
    assert_true(isfinite(training.dataset.x[i]));
  free(text);
  gpnn_training_release(&training);
}

/* Where all rows of a level are of one group, there is nothing to learn about new groups. */
static void rows_of_a_group_do_not_see_each_other(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  const struct gpnn_roles roles = {.coded = "c", .by = "g"};
  char *text = malloc(1 << 20);
  int length = sprintf(text, "c\tx\tg\ty\n");
  for (int i = 0; i < 300; i++)
    length += sprintf(text + length, "l%d\t%d\tg%d\t%d\n", i % 30, i * 37 % 101, i % 30, i % 30);
  train(&training, text, &roles, GPNN_SCALING_SCALE, 0);
  assert_int_equal(training.dataset.d, 1); /* a constant is dropped */
  free(text);
  gpnn_training_release(&training);
}

/* Nor do rows that are copies of each other: of levels of one row each, which stands twice, nothing
 * is learnt. */
static void copies_of_a_row_do_not_see_each_other(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  char *text = malloc(1 << 20);
  int length = sprintf(text, "c\tx\ty\n");
  for (int i = 0; i < 200; i++)
    length += sprintf(text + length, "l%d\t%d\t%d\n", i % 100, i % 100 * 37 % 101, i % 100);
  train(&training, text, &coded, GPNN_SCALING_SCALE, 0);
  assert_int_equal(training.dataset.d, 1);
  free(text);
  gpnn_training_release(&training);
}

static void of_two_classes_a_code_is_a_share(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  const char *text =
      "c\ty\na\tyes\na\tyes\na\tyes\na\tno\nb\tno\nb\tno\nb\tyes\nb\tno\nc\tno\nc\tno\n";
  train(&training, text, &coded, GPNN_SCALING_NONE, 0);
  const struct gpnn_column *column = &training.dataset.schema.inputs[0];
  double lambda = column->shrinkage;
  assert_near(column->codes[0], (3 - 4 * 0.4) / (4 + lambda), 1e-12);
  assert_near(column->codes[1], (1 - 4 * 0.4) / (4 + lambda), 1e-12);
  assert_near(column->codes[2], (0 - 2 * 0.4) / (2 + lambda), 1e-12);
  gpnn_training_release(&training);
}

static void assert_refuses(const char *text, const struct gpnn_training_options *options,
                           enum gpnn_status status, const char *message)
{
  struct gpnn_training training = GPNN_TRAINING_INIT;
  assert_fails(try_to_train(&training, text, &coded, options, &err), status, message);
  gpnn_training_release(&training);
}

static void what_has_no_mean_to_code_by_is_refused(void **state)
{
  (void)state;
  struct gpnn_training_options options = GPNN_TRAINING_OPTIONS_INIT;
  static const struct gpnn_moments given = {0, 1};
  options.default_calibration = false;
  assert_refuses("c\ty\na\tp\na\tp\nb\tq\nb\tr\n", &options, GPNN_EINVAL,
                 "target 'y' has 3 classes");
  assert_refuses("c\tx\ty\n\t1\t1\n\t2\t3\n\t4\t2\n", &options, GPNN_EDATA,
                 "column 'c': cannot be coded");
  options.n_given = 1;
  options.given = &given;
  assert_refuses("c\ty\na\t1\na\t2\nb\t1\nb\t3\n", &options, GPNN_EINVAL, "to hide");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(codes_are_shrunken_means),
      cmocka_unit_test(codes_are_those_of_training_rows),
      cmocka_unit_test(shrinkage_has_bounds),
      cmocka_unit_test(a_training_row_does_not_see_its_own_target),
      cmocka_unit_test(levels_that_training_has_not_seen_are_missing),
      cmocka_unit_test(or_have_the_code_of_the_mean_where_rows_may_lack_nothing),
      cmocka_unit_test(a_missing_cell_is_no_level),
      cmocka_unit_test(rows_of_a_group_do_not_see_each_other),
      cmocka_unit_test(copies_of_a_row_do_not_see_each_other),
      cmocka_unit_test(of_two_classes_a_code_is_a_share),
      cmocka_unit_test(what_has_no_mean_to_code_by_is_refused),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
