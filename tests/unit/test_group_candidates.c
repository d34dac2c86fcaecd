/* Which inputs look like names of groups. */
#include "estimate/group_effects.h"

#include "base/rng.h"
#include "unit.h"

enum { N = 600, LEVELS = 30, D = 5 };

/* Inputs: the number of a group, a year, a fraction that takes few values, a category whose levels
 * differ, and one whose levels do not. */
struct rows {
  double x[N * D], y[N], mean[D], weight[D];
  struct gpnn_coordinate coordinates[D];
  struct gpnn_column inputs[D];
  struct gpnn_dataset data;
};

/* Targets differ by groups, as much as 'effect', and with the year. */
static void rows_init(struct rows *r, double effect)
{
  static const char *const names[D] = {"group", "year", "fraction", "town", "street"};
  struct gpnn_rng rng;
  double of_group[LEVELS];
  gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
  *r = (struct rows){.data = {.n = N, .d = D, .x = r->x, .y = r->y}};
  for (size_t g = 0; g < LEVELS; g++) of_group[g] = effect * gpnn_rng_normal(&rng);
  for (size_t j = 0; j < D; j++) {
    r->mean[j] = 3.5 * (double)j;
    r->weight[j] = 0.1;
    r->coordinates[j] = (struct gpnn_coordinate){.input = (uint32_t)j, .feature = j};
    r->inputs[j] = (struct gpnn_column){.name = (char *)(uintptr_t)names[j]};
  }
  for (size_t i = 0; i < N; i++) {
    uint64_t group = gpnn_rng_below(&rng, LEVELS), year = gpnn_rng_below(&rng, LEVELS);
    const double value[D] = {(double)group, (double)year, (double)group + 0.25};
    for (size_t j = 0; j < D; j++) r->x[i * D + j] = (value[j] - r->mean[j]) * r->weight[j];
    r->y[i] = of_group[group] + 2 * sin((double)year / 6) + 0.5 * gpnn_rng_normal(&rng);
  }
  r->inputs[3] = (struct gpnn_column){.kind = GPNN_COLUMN_CODED, .shrinkage = 3};
  r->inputs[4] = (struct gpnn_column){.kind = GPNN_COLUMN_CODED, .shrinkage = 1000};
  r->data.coordinates = r->coordinates;
  r->data.schema = (struct gpnn_schema){.n_inputs = D, .inputs = r->inputs};
  r->data.scaling = (struct gpnn_scaling){
      .method = GPNN_SCALING_SCALE, .mean = r->mean, .weight = r->weight, .y_sd = 1};
}

static void numbers_whose_order_says_nothing_are_names(void **state)
{
  (void)state;
  static struct rows r;
  bool are[D];
  rows_init(&r, 1);
  assert_ok(gpnn_group_candidates(&r.data, are, &err));
  assert_true(are[0]);
  assert_false(are[1] || are[2]); /* a quantity, and no whole numbers */
}

static void levels_that_do_not_differ_are_no_candidates(void **state)
{
  (void)state;
  static struct rows r;
  bool are[D];
  rows_init(&r, 0);
  assert_ok(gpnn_group_candidates(&r.data, are, &err));
  assert_false(are[0] || are[1]);
  assert_true(are[3]);
  assert_false(are[4]);
}

static void few_levels_and_few_rows_of_each_are_no_candidates(void **state)
{
  (void)state;
  static struct rows r;
  bool are[D];
  rows_init(&r, 1);
  r.data.n = LEVELS;
  assert_ok(gpnn_group_candidates(&r.data, are, &err));
  assert_false(are[0]);
  rows_init(&r, 1); /* most rows have the same value, and two have each other one */
  for (size_t i = 0; i < N; i++) {
    r.x[i * D] = ((double)(i < N / 2 ? 0 : i / 2) - r.mean[0]) * r.weight[0];
    r.y[i] = i < N / 2 ? 0.1 * (double)(i % 2) : (double)(i / 2 * 7 % 11);
  }
  assert_ok(gpnn_group_candidates(&r.data, are, &err));
  assert_false(are[0]);
  rows_init(&r, 1);
  for (size_t i = 0; i < N; i++) r.x[i * D] = (double)(i % 9) - r.mean[0];
  r.weight[0] = 1;
  for (size_t i = 0; i < N; i++) r.y[i] = (double)(i % 9 * 7 % 9);
  assert_ok(gpnn_group_candidates(&r.data, are, &err));
  assert_false(are[0]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_whose_order_says_nothing_are_names),
      cmocka_unit_test(levels_that_do_not_differ_are_no_candidates),
      cmocka_unit_test(few_levels_and_few_rows_of_each_are_no_candidates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
