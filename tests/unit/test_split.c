#include "table/split.h"
#include "unit.h"

static void shares_are_exact_and_the_rest_goes_to_the_largest_remainder(void **state)
{
  (void)state;
  struct gpnn_split split;
  const double weights[] = {7, 2};
  assert_ok(gpnn_split_init(&split, 2, weights, 5875, 1, &err));
  assert_int_equal(split.remaining[0], 4569);
  assert_int_equal(split.remaining[1], 1306);
  size_t counts[2] = {0}, part = 0;
  for (size_t i = 0; i < 5875; i++) {
    assert_ok(gpnn_split_next(&split, &part, &err));
    counts[part]++;
  }
  assert_int_equal(counts[0], 4569);
  assert_int_equal(counts[1], 1306);
  assert_fails(gpnn_split_next(&split, &part, &err), GPNN_EDATA, "more rows");
}

/* All six ways to give two of four rows to the second part occur equally often. */
static void every_split_is_equally_likely(void **state)
{
  (void)state;
  enum { DRAWS = 12000 };
  const double weights[] = {1, 1};
  size_t counts[16] = {0};
  for (uint64_t seed = 0; seed < DRAWS; seed++) {
    struct gpnn_split split;
    size_t pattern = 0, part = 0;
    assert_ok(gpnn_split_init(&split, 2, weights, 4, seed, &err));
    for (size_t i = 0; i < 4; i++) {
      assert_ok(gpnn_split_next(&split, &part, &err));
      pattern = 2 * pattern + part;
    }
    counts[pattern]++;
  }
  size_t ways = 0;
  for (size_t pattern = 0; pattern < 16; pattern++) {
    if (counts[pattern] == 0) continue;
    ways++;
    assert_near((double)counts[pattern], DRAWS / 6.0, 5 * sqrt(DRAWS * 5.0 / 36));
  }
  assert_int_equal(ways, 6);
}

static void a_group_stays_together_and_shares_are_right_on_average(void **state)
{
  (void)state;
  enum { GROUPS = 9000 };
  struct gpnn_split split;
  const double weights[] = {0.7, 0.2, 0.1};
  size_t counts[3] = {0};
  assert_ok(gpnn_split_init(&split, 3, weights, 100, 5, &err));
  for (int i = 0; i < GROUPS; i++) {
    char name[16];
    size_t length = (size_t)snprintf(name, sizeof name, "station%d", i);
    size_t part = gpnn_split_group(&split, name, length);
    assert_int_equal(part, gpnn_split_group(&split, name, length));
    counts[part]++;
  }
  for (size_t k = 0; k < 3; k++)
    assert_near((double)counts[k], weights[k] * GROUPS,
                5 * sqrt(GROUPS * weights[k] * (1 - weights[k])));
}

static void a_part_without_rows_is_refused(void **state)
{
  (void)state;
  struct gpnn_split split;
  const double weights[] = {100, 1};
  assert_fails(gpnn_split_init(&split, 2, weights, 5, 1, &err), GPNN_EDATA, "too few");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shares_are_exact_and_the_rest_goes_to_the_largest_remainder),
      cmocka_unit_test(every_split_is_equally_likely),
      cmocka_unit_test(a_group_stays_together_and_shares_are_right_on_average),
      cmocka_unit_test(a_part_without_rows_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
