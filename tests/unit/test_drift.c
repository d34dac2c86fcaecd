/* Columns of tables to predict that are distributed otherwise than in training. */
#include "base/rng.h"
#include "dataset/drift.h"
#include "dataset/scores.h"
#include "stats/distributions/normal.h"
#include "unit.h"

enum { KNOTS = 400 };

/* A dataset of two columns whose values were standard normal: their scores are the values. */
struct setting {
  double knots[4 * KNOTS];
  size_t first[3];
  struct gpnn_scores scores;
  struct gpnn_column inputs[2];
  struct gpnn_coordinate coordinates[2];
  struct gpnn_dataset dataset;
};

static void make(struct setting *s)
{
  *s = (struct setting){.first = {0, KNOTS, 2 * KNOTS}};
  for (size_t i = 0; i < 2 * KNOTS; i++)
    s->knots[2 * i] = s->knots[2 * i + 1] = 6 * (double)(i % KNOTS) / (KNOTS - 1) - 3;
  s->scores = (struct gpnn_scores){.d = 2, .first = s->first, .knots = s->knots};
  s->coordinates[1] = (struct gpnn_coordinate){.input = 1, .feature = 1, .group = 1};
  s->dataset = (struct gpnn_dataset){
      .n = 1000, .d = 2, .n_groups = 2, .coordinates = s->coordinates, .scores = &s->scores};
  s->dataset.schema.n_inputs = 2;
  s->dataset.schema.inputs = s->inputs;
}

/* What is said of the second column of 'n' rows that are a + b z, but 'code' in one of 'every'. */
static enum gpnn_drift_kind kind_of(uint64_t seed, size_t n, double a, double b, double code,
                                    size_t every, double *share)
{
  struct setting s;
  struct gpnn_drift drift = {0};
  struct gpnn_rng rng;
  make(&s);
  gpnn_rng_init(&rng, seed, GPNN_RNG_TEST);
  assert_ok(gpnn_drift_init(&drift, &s.dataset, &err));
  assert_int_equal(drift.n, 2);
  for (size_t i = 0; i < n; i++) {
    double x[2] = {gpnn_rng_normal(&rng), a + b * gpnn_rng_normal(&rng)};
    if (every > 0 && i % every == 0) x[1] = code;
    gpnn_drift_add(&drift, x);
  }
  double first;
  assert_int_equal(gpnn_drift_of(&drift.columns[0], &first), GPNN_DRIFT_NONE);
  assert_int_equal(drift.columns[1].input, 1);
  enum gpnn_drift_kind kind = gpnn_drift_of(&drift.columns[1], share);
  gpnn_drift_release(&drift);
  return kind;
}

static void chance_moves_no_column(void **state)
{
  (void)state;
  double share;
  for (uint64_t seed = 0; seed < 500; seed++)
    for (size_t n = 1; n < 2000; n *= 6)
      assert_int_equal(kind_of(seed, n, 0, 1, 0, 0, &share), GPNN_DRIFT_NONE);
}

static void a_difference_is_that_of_distribution_functions(void **state)
{
  (void)state;
  double share;
  /* Phi(z) - Phi(z - 2) is largest at 1. */
  assert_int_equal(kind_of(1, 20000, 2, 1, 0, 0, &share), GPNN_DRIFT_MOVED);
  assert_near(share, 2 * gpnn_normal_cdf(1) - 1, 0.01);
  assert_int_equal(kind_of(1, 20000, 0.5, 1, 0, 0, &share), GPNN_DRIFT_NONE); /* 0.2 */
  assert_int_equal(kind_of(1, 20, 2, 1, 0, 0, &share), GPNN_DRIFT_NONE);      /* too few rows */
}

/* All rows are at the 16th level: half of them count as below it, and all as below the next. */
static void half_of_equal_values_are_below(void **state)
{
  (void)state;
  double share;
  size_t knot = 15 * (KNOTS - 1) / 31, after = 16 * (KNOTS - 1) / 31;
  double at = 6 * (double)knot / (KNOTS - 1) - 3, next = 6 * (double)after / (KNOTS - 1) - 3;
  assert_int_equal(kind_of(1, 1000, 0, 1, at, 1, &share), GPNN_DRIFT_MOVED);
  assert_near(share, 1 - gpnn_normal_cdf(next), 1e-12);
}

static void codes_and_other_units_are_outside(void **state)
{
  (void)state;
  double share;
  assert_int_equal(kind_of(1, 1000, 0, 1, -999, 20, &share), GPNN_DRIFT_OUTSIDE);
  assert_near(share, 0.05, 1e-12);
  assert_int_equal(kind_of(1, 1000, 0, 1, -999, 500, &share), GPNN_DRIFT_NONE); /* two rows */
  assert_int_equal(kind_of(1, 100, 32, 1.8, 0, 0, &share), GPNN_DRIFT_OUTSIDE);
}

static void rows_that_lack_a_column_are_counted(void **state)
{
  (void)state;
  double share;
  assert_int_equal(kind_of(1, 1000, 0, 1, NAN, 2, &share), GPNN_DRIFT_MISSING);
  assert_near(share, 0.5, 1e-12);
  assert_int_equal(kind_of(1, 1000, 0, 1, NAN, 4, &share), GPNN_DRIFT_NONE);
  assert_int_equal(kind_of(1, 200, 0, 1, NAN, 2, &share), GPNN_DRIFT_NONE); /* too few rows */
}

static void dates_are_not_looked_at(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_drift drift = {0};
  char iso[] = "iso";
  make(&s);
  s.inputs[1].date = iso;
  assert_ok(gpnn_drift_init(&drift, &s.dataset, &err));
  assert_int_equal(drift.n, 1);
  gpnn_drift_release(&drift);
}

static void scores_alone_are_held_against_scores(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_drift drift = {0};
  make(&s);
  for (size_t i = 0; i < 2 * KNOTS; i++) s.knots[2 * i] = exp(s.knots[2 * i]);
  s.coordinates[1].is_score = true;
  assert_ok(gpnn_drift_init(&drift, &s.dataset, &err));
  assert_int_equal(drift.n, 2);
  assert_near(drift.columns[0].level[0], exp(-3), 1e-12);
  assert_near(drift.columns[1].level[0], -3, 1e-12);
  assert_near(drift.columns[1].margin, 6, 1e-12);
  gpnn_drift_release(&drift);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chance_moves_no_column),
      cmocka_unit_test(a_difference_is_that_of_distribution_functions),
      cmocka_unit_test(half_of_equal_values_are_below),
      cmocka_unit_test(codes_and_other_units_are_outside),
      cmocka_unit_test(rows_that_lack_a_column_are_counted),
      cmocka_unit_test(dates_are_not_looked_at),
      cmocka_unit_test(scores_alone_are_held_against_scores),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
