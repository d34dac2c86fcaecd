/* Normal scores of inputs: their curves, their file, and what is seen by them. */
#include "base/rng.h"
#include "container_bytes.h"
#include "dataset/index/index.h"
#include "dataset/scores.h"
#include "dataset/transformed.h"
#include "stats/distributions/normal.h"
#include "trained.h"

/* ---- learning ------------------------------------------------------------------------------ */

/* A dataset of inputs x1 ... xd, of which some rows are given, and a target that is the row's
 * number. */
static void train_on(struct gpnn_training *training, size_t n, size_t d, const double *x,
                     const struct gpnn_roles *roles, enum gpnn_scaling_method method)
{
  size_t length = 0;
  char *text = malloc(64 * (d + 1) * (n + 1));
  for (size_t j = 0; j < d; j++) length += (size_t)sprintf(text + length, "x%zu\t", j + 1);
  length += (size_t)sprintf(text + length, "y\n");
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < d; j++)
      length += (size_t)sprintf(text + length, "%.17g\t", x[i * d + j]);
    length += (size_t)sprintf(text + length, "%zu\n", i);
  }
  train(training, text, roles, method, 0);
  free(text);
}

static const struct gpnn_roles usual = {0};

/* What the definition says of the score of row 'i' by input 'j'. */
static double defined(const struct gpnn_dataset *dataset, size_t i, size_t j)
{
  size_t below = 0, equal = 0, d = dataset->d;
  for (size_t k = 0; k < dataset->n; k++) {
    below += dataset->x[k * d + j] < dataset->x[i * d + j];
    equal += dataset->x[k * d + j] == dataset->x[i * d + j];
  }
  return gpnn_normal_quantile(((double)below + (double)equal / 2) / (double)dataset->n);
}

static void draw(size_t n, double *values)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
  for (size_t i = 0; i < n; i++) values[i] = gpnn_rng_normal(&rng);
}

static void scores_of_few_rows_are_as_defined(void **state)
{
  enum { N = 370, D = 3 };
  (void)state;
  struct gpnn_training t = {0};
  static double x[N * D];
  draw(N * D, x);
  for (size_t i = 0; i < N; i++) {
    x[i * D + 1] = exp(3 * x[i * D + 1]);
    x[i * D + 2] = floor(3 * x[i * D + 2]); /* ties */
  }
  train_on(&t, N, D, x, &usual, GPNN_SCALING_SCALE);
  const struct gpnn_scores *scores = t.dataset.scores;
  assert_non_null(scores);
  assert_true(gpnn_scores_are_valid(scores));
  for (size_t j = 0; j < D; j++)
    for (size_t i = 0; i < N; i++)
      assert_near(gpnn_scores_of(scores, j, t.dataset.x[i * D + j]) * sqrt(D),
                  defined(&t.dataset, i, j), 1e-14);
  gpnn_training_release(&t);
}

static void scores_are_not_divided_where_inputs_are_not(void **state)
{
  enum { N = 40, D = 2 };
  (void)state;
  struct gpnn_training t = {0};
  double x[N * D];
  draw(N * D, x);
  train_on(&t, N, D, x, &usual, GPNN_SCALING_NONE);
  for (size_t i = 0; i < N; i++)
    assert_near(gpnn_scores_of(t.dataset.scores, 1, x[i * D + 1]), defined(&t.dataset, i, 1),
                1e-14);
  gpnn_training_release(&t);
}

static void three_rows_are_enough(void **state)
{
  (void)state;
  struct gpnn_training t = {0};
  train_on(&t, 3, 1, (const double[]){2, 1, 100}, &usual, GPNN_SCALING_SCALE);
  const double *x = t.dataset.x;
  assert_non_null(t.dataset.scores);
  assert_near(gpnn_scores_of(t.dataset.scores, 0, x[0]), 0, 1e-15);
  assert_near(gpnn_scores_of(t.dataset.scores, 0, x[1]), gpnn_normal_quantile(1.0 / 6), 1e-14);
  assert_near(gpnn_scores_of(t.dataset.scores, 0, (x[0] + x[2]) / 2),
              gpnn_normal_quantile(5.0 / 6) / 2, 1e-14);
  gpnn_training_release(&t);
}

static void two_values_have_no_scores(void **state)
{
  enum { N = 20, D = 3 };
  (void)state;
  struct gpnn_training t = {0};
  double x[N * D];
  for (size_t i = 0; i < N; i++) {
    x[i * D] = 4; /* dropped, as constants are */
    x[i * D + 1] = i % 3 == 0;
    x[i * D + 2] = (double)(i * i);
  }
  train_on(&t, N, D, x, &usual, GPNN_SCALING_SCALE);
  assert_int_equal(t.dataset.d, 2);
  assert_false(gpnn_scores_has(t.dataset.scores, 0));
  assert_true(gpnn_scores_has(t.dataset.scores, 1));
  gpnn_training_release(&t);
  for (size_t i = 0; i < N; i++) x[i * D + 2] = i > 7;
  train_on(&t, N, D, x, &usual, GPNN_SCALING_SCALE);
  assert_null(t.dataset.scores);
  gpnn_training_release(&t);
}

static void directions_have_no_scores(void **state)
{
  enum { N = 20, D = 2 };
  (void)state;
  struct gpnn_training t = {0};
  double x[N * D];
  draw(N * D, x);
  train_on(&t, N, D, x, &usual, GPNN_SCALING_WHITEN);
  assert_null(t.dataset.scores);
  gpnn_training_release(&t);
}

/* Only numbers on a line have them. */
static void points_and_categories_have_no_scores(void **state)
{
  (void)state;
  struct gpnn_training t = {0};
  const char *const periods[] = {"x2=24"}, *const locations[] = {"x3,x4"};
  const struct gpnn_roles roles = {.n_periods = 1,
                                   .periods = periods,
                                   .n_locations = 1,
                                   .locations = locations,
                                   .one_hot = "x5"};
  enum { N = 60, D = 5 };
  double x[N * D];
  draw(N * D, x);
  for (size_t i = 0; i < N; i++) x[i * D + 4] = (double)(i % 4);
  train_on(&t, N, D, x, &roles, GPNN_SCALING_SCALE);
  assert_true(t.dataset.d > D);
  assert_non_null(t.dataset.scores);
  for (size_t j = 0; j < t.dataset.d; j++)
    assert_true(gpnn_scores_has(t.dataset.scores, j) == (t.dataset.coordinates[j].feature == 0));
  gpnn_training_release(&t);
}

static void many_rows_have_few_knots(void **state)
{
  enum { N = 5000 };
  (void)state;
  struct gpnn_training t = {0};
  static double x[N];
  draw(N, x);
  train_on(&t, N, 1, x, &usual, GPNN_SCALING_SCALE);
  const struct gpnn_scores *scores = t.dataset.scores;
  size_t n = scores->first[1];
  assert_true(n <= GPNN_SCORES_KNOTS && n > GPNN_SCORES_KNOTS / 2);
  for (size_t i = 0; i < n; i++) assert_true(fabs(scores->knots[2 * i + 1]) <= 3);
  for (size_t i = 0; i < N; i += 7) {
    double wanted = defined(&t.dataset, i, 0);
    if (fabs(wanted) < 2.9) assert_near(gpnn_scores_of(scores, 0, t.dataset.x[i]), wanted, 0.02);
  }
  gpnn_training_release(&t);
}

/* ---- curves -------------------------------------------------------------------------------- */

/* Twenty knots: values 0, 1, 4, 9, ... */
static void make_curve(struct gpnn_scores *scores)
{
  enum { N = 20 };
  *scores = (struct gpnn_scores){.d = 1, .first = calloc(2, sizeof(size_t))};
  scores->first[1] = N;
  scores->knots = malloc(2 * N * sizeof(double));
  for (size_t i = 0; i < N; i++) {
    scores->knots[2 * i] = (double)(i * i);
    scores->knots[2 * i + 1] = (double)i / 10 - 1;
  }
}

static void curves_are_linear_between_knots(void **state)
{
  (void)state;
  struct gpnn_scores scores;
  make_curve(&scores);
  for (size_t i = 1; i < 20; i++)
    for (double part = 0; part <= 1; part += 0.25) {
      double a = (double)((i - 1) * (i - 1)), b = (double)(i * i);
      assert_near(gpnn_scores_of(&scores, 0, a + part * (b - a)), ((double)i - 1 + part) / 10 - 1,
                  1e-14);
    }
  gpnn_scores_release(&scores);
}

/* With the slope of the outermost tenth, two of the distances between knots. */
static void far_values_stay_far(void **state)
{
  (void)state;
  struct gpnn_scores scores;
  make_curve(&scores);
  assert_near(gpnn_scores_of(&scores, 0, -40), -1 - 40 * 0.2 / 4, 1e-13);
  assert_near(gpnn_scores_of(&scores, 0, 361 + 72), 0.9 + 0.2, 1e-13);
  assert_true(gpnn_scores_of(&scores, 0, 1e9) > gpnn_scores_of(&scores, 0, 1e8));
  assert_true(gpnn_scores_of(&scores, 0, -1e9) < gpnn_scores_of(&scores, 0, -1e8));
  assert_true(isnan(gpnn_scores_of(&scores, 0, NAN)));
  gpnn_scores_release(&scores);
}

/* Differences between values may be so small that slopes are no numbers. */
static void knots_may_be_next_to_each_other(void **state)
{
  (void)state;
  struct gpnn_scores scores = {.d = 1, .first = (size_t[]){0, 3}};
  double knots[] = {0, -1, 5e-324, 0, 1e-323, 1};
  scores.knots = knots;
  assert_true(gpnn_scores_are_valid(&scores));
  for (size_t i = 0; i < 3; i++)
    assert_true(gpnn_scores_of(&scores, 0, knots[2 * i]) == knots[2 * i + 1]);
  assert_true(isfinite(gpnn_scores_of(&scores, 0, 1e300)));
  assert_true(gpnn_scores_of(&scores, 0, -1) < -1e9);
  assert_true(isfinite(gpnn_scores_of(&scores, 0, -1)));
}

static void inputs_are_seen_in_their_order(void **state)
{
  enum { D = 4 };
  (void)state;
  static const unsigned char sight[D] = {GPNN_SIGHT_BOTH, GPNN_SIGHT_VALUE, GPNN_SIGHT_SCORE,
                                         GPNN_SIGHT_BOTH};
  double knots[] = {0, 0, 1, 10, 0, 0, 1, 20, 0, 0, 1, 30};
  struct gpnn_scores scores = {.d = D, .first = (size_t[]){0, 2, 2, 4, 6}, .knots = knots};
  double z[6] = {0.1, 0.2, 0.3, 0.4};
  const double wanted[6] = {0.1, 1, 0.2, 6, 0.4, 12};
  assert_int_equal(gpnn_scores_width(D, sight), 6);
  gpnn_scores_see(&scores, sight, z);
  for (size_t j = 0; j < 6; j++) assert_near(z[j], wanted[j], 1e-14);
}

static void sights_have_names(void **state)
{
  (void)state;
  unsigned char sight = 0;
  for (int s = GPNN_SIGHT_VALUE; s <= GPNN_SIGHT_BOTH; s++) {
    const char *name = gpnn_sight_name((enum gpnn_sight)s);
    assert_true(gpnn_sight_by_name(name, strlen(name), &sight));
    assert_int_equal(sight, s);
  }
  assert_false(gpnn_sight_by_name("bot", 3, &sight));
  assert_false(gpnn_sight_by_name("", 0, &sight));
  assert_false(gpnn_sight_is_special(3, NULL));
  assert_false(gpnn_sight_is_special(2, (const unsigned char[]){1, 1}));
  assert_true(gpnn_sight_is_special(2, (const unsigned char[]){1, 3}));
}

static void curves_that_cannot_be_are_known(void **state)
{
  (void)state;
  double knots[] = {0, 0, 1, 1, 2, 2, 3, 3};
  size_t first[] = {0, 2, 4};
  struct gpnn_scores scores = {.d = 2, .first = first, .knots = knots};
  assert_true(gpnn_scores_are_valid(&scores));
  const struct {
    size_t at[3];
  } wrong[] = {{{1, 2, 4}}, {{0, 3, 4}}, {{0, 1, 4}}, {{0, 400, 4}}, {{0, 0, 0}}, {{0, 513, 513}}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    scores.first = (size_t *)(uintptr_t)wrong[i].at;
    assert_false(gpnn_scores_are_valid(&scores));
  }
  scores.first = first;
  for (size_t i = 2; i < 4; i++) { /* neither values nor scores may fall */
    double kept = knots[i];
    knots[i] = 0;
    assert_false(gpnn_scores_are_valid(&scores));
    knots[i] = kept;
  }
}

/* ---- files --------------------------------------------------------------------------------- */

enum { N = 200, D = 2 };

static const char *written(struct gpnn_training *t, const struct gpnn_dataset *over)
{
  static double x[N * D];
  const char *path = scratch_path("scored.gpi");
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  struct gpnn_search *search = NULL;
  options.kind = GPNN_SEARCH_TREE;
  draw(N * D, x);
  if (t->dataset.d == 0) train_on(t, N, D, x, &usual, GPNN_SCALING_SCALE);
  assert_ok(gpnn_index_make(path, &t->dataset, over, &options, NULL, &search, &err));
  gpnn_search_free(search);
  return path;
}

static void an_index_keeps_the_curves(void **state)
{
  (void)state;
  struct gpnn_training t = {0};
  struct gpnn_index *index = NULL;
  assert_ok(gpnn_index_open(&index, written(&t, NULL), true, &err));
  const struct gpnn_scores *own = t.dataset.scores, *read = gpnn_index_dataset(index)->scores;
  assert_non_null(read);
  assert_memory_equal(read->first, own->first, (D + 1) * sizeof *own->first);
  assert_memory_equal(read->knots, own->knots, 2 * own->first[D] * sizeof *own->knots);
  gpnn_index_close(index);
  gpnn_training_release(&t);
}

static void damaged_curves_are_refused(void **state)
{
  (void)state;
  struct gpnn_training t = {0};
  const char *path = written(&t, NULL);
  struct bytes whole = read_bytes(path);
  unsigned char *section = section_of(whole, "SCOR");
  static const struct {
    size_t at;
    uint64_t value;
  } changes[] = {
      {0, 1},                    /* knots of no input */
      {8, UINT64_MAX},           /* more knots than there are in all, */
      {8, 500},                  /* or than the section has */
      {16, 3},                   /* bytes left over */
      {16, UINT64_MAX / 8},      /* more knots than memory has */
      {24, 0x7ff8000000000000u}, /* not a number */
      {24, 0x4059000000000000u}, /* values that fall */
      {32, 0x4059000000000000u}, /* scores that fall */
  };
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    struct gpnn_index *index = NULL;
    unsigned char kept[8];
    memcpy(kept, section + changes[i].at, 8);
    gpnn_store_u64(section + changes[i].at, changes[i].value);
    write_sealed(path, whole);
    assert_fails(gpnn_index_open(&index, path, false, &err), GPNN_EFORMAT, "SCOR");
    memcpy(section + changes[i].at, kept, 8);
  }
  free(whole.at);
  gpnn_training_release(&t);
}

static struct gpnn_transformed *see(const struct gpnn_dataset *dataset, enum gpnn_sight sight)
{
  struct gpnn_transformed *seen = NULL;
  unsigned char *list = gpnn_scores_list_sight(dataset, sight);
  assert_ok(gpnn_transformed_new(&seen, dataset, &(struct gpnn_changes){.sight = list}, &err));
  free(list);
  return seen;
}

/* The stored search is of use to those only who see as it does. */
static void a_search_over_scores_is_kept(void **state)
{
  (void)state;
  struct gpnn_training t = {0};
  struct gpnn_index *index = NULL;
  written(&t, NULL);
  struct gpnn_transformed *over = see(&t.dataset, GPNN_SIGHT_BOTH);
  assert_ok(gpnn_index_open(&index, written(&t, gpnn_transformed_dataset(over)), true, &err));
  for (int s = GPNN_SIGHT_VALUE; s <= GPNN_SIGHT_BOTH; s++) {
    struct gpnn_transformed *seen = see(gpnn_index_dataset(index), (enum gpnn_sight)s);
    const struct gpnn_dataset *dataset = gpnn_transformed_dataset(seen);
    struct gpnn_search *search = NULL;
    int64_t id[3];
    double distance[3];
    assert_int_equal(dataset->d, s == GPNN_SIGHT_BOTH ? 2 * D : D);
    assert_ok(gpnn_dataset_search(dataset, &search, &err));
    assert_ok(gpnn_search_query(search, 1, dataset->x + 7 * dataset->d, 3, id, distance, 1, &err));
    assert_int_equal(id[0], 7);
    assert_int_equal(gpnn_dataset_search_report(dataset).kind == GPNN_SEARCH_TREE,
                     s == GPNN_SIGHT_BOTH);
    gpnn_search_free(search);
    gpnn_transformed_free(seen);
  }
  gpnn_index_close(index);
  gpnn_transformed_free(over);
  gpnn_training_release(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scores_of_few_rows_are_as_defined),
      cmocka_unit_test(scores_are_not_divided_where_inputs_are_not),
      cmocka_unit_test(three_rows_are_enough),
      cmocka_unit_test(two_values_have_no_scores),
      cmocka_unit_test(directions_have_no_scores),
      cmocka_unit_test(points_and_categories_have_no_scores),
      cmocka_unit_test(many_rows_have_few_knots),
      cmocka_unit_test(curves_are_linear_between_knots),
      cmocka_unit_test(far_values_stay_far),
      cmocka_unit_test(knots_may_be_next_to_each_other),
      cmocka_unit_test(inputs_are_seen_in_their_order),
      cmocka_unit_test(sights_have_names),
      cmocka_unit_test(curves_that_cannot_be_are_known),
      cmocka_unit_test(an_index_keeps_the_curves),
      cmocka_unit_test(damaged_curves_are_refused),
      cmocka_unit_test(a_search_over_scores_is_kept),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
