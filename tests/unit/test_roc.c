/* Areas and curves against counts of all pairs and of all thresholds. */
#include "stats/scores/classification.h"

#include "random.h"

enum { ROWS = 300 };

/* Rows with few different scores, so that many are tied. */
static void draw(struct gpnn_rng *rng, size_t n, uint64_t different, struct gpnn_roc_row *rows)
{
  for (size_t i = 0; i < n; i++) {
    uint64_t level = gpnn_rng_below(rng, different);
    double score = (double)level / (double)different;
    rows[i] = (struct gpnn_roc_row){score, gpnn_rng_uniform(rng) < 0.2 + 0.5 * score};
  }
}

/* The share of pairs that are in order, ties counting half. */
static double area_of_pairs(size_t n, const struct gpnn_roc_row *rows)
{
  double won = 0, pairs = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      if (!rows[i].is_positive || rows[j].is_positive) continue;
      won += rows[i].score > rows[j].score ? 1 : rows[i].score == rows[j].score ? 0.5 : 0;
      pairs++;
    }
  return won / pairs;
}

static void the_area_is_the_share_of_pairs_in_order(void **state)
{
  (void)state;
  struct gpnn_rng rng = seeded(1);
  struct gpnn_roc_row rows[ROWS];
  for (uint64_t different = 2; different < 1000; different *= 3) {
    draw(&rng, ROWS, different, rows);
    double wanted = area_of_pairs(ROWS, rows);
    assert_near(gpnn_roc_area(ROWS, rows), wanted, 1e-14);
  }
}

static void perfect_reversed_and_constant_scores_have_their_areas(void **state)
{
  (void)state;
  struct gpnn_roc_row right[] = {{0.1, false}, {0.9, true}, {0.2, false}};
  struct gpnn_roc_row wrong[] = {{-1, true}, {0.9, false}};
  struct gpnn_roc_row same[] = {{0.5, true}, {0.5, false}, {0.5, true}};
  struct gpnn_roc_row one[] = {{0.5, true}, {0.7, true}};
  assert_near(gpnn_roc_area(3, right), 1, 0);
  assert_near(gpnn_roc_area(2, wrong), 0, 0);
  assert_near(gpnn_roc_area(3, same), 0.5, 0);
  assert_true(isnan(gpnn_roc_area(2, one)));
  assert_true(isnan(gpnn_roc_area(0, one)));
}

static void the_curve_counts_rows_from_each_threshold_on(void **state)
{
  (void)state;
  struct gpnn_rng rng = seeded(2);
  struct gpnn_roc_row rows[ROWS];
  struct gpnn_roc_point points[ROWS + 1];
  draw(&rng, ROWS, 40, rows);
  gpnn_roc_area(ROWS, rows);
  size_t n = gpnn_roc_curve(ROWS, rows, ROWS + 1, points), positives = 0;
  assert_true(n > 30 && n <= 41);
  for (size_t i = 0; i < ROWS; i++) positives += rows[i].is_positive;
  for (size_t k = 0; k < n; k++) {
    double found = 0, taken = 0;
    for (size_t i = 0; i < ROWS; i++) {
      found += rows[i].is_positive && rows[i].score >= points[k].threshold;
      taken += !rows[i].is_positive && rows[i].score >= points[k].threshold;
    }
    assert_near(points[k].true_positive, found / (double)positives, 1e-15);
    assert_near(points[k].false_positive, taken / (double)(ROWS - positives), 1e-15);
  }
}

static void a_thinned_curve_keeps_its_ends_and_its_shape(void **state)
{
  (void)state;
  enum { N = 5000, MOST = 50 };
  struct gpnn_rng rng = seeded(3);
  struct gpnn_roc_row *rows = gpnn_alloc(N, 1, sizeof *rows);
  struct gpnn_roc_point points[MOST];
  draw(&rng, N, 1u << 30, rows);
  double area = gpnn_roc_area(N, rows), trapezia = 0;
  size_t n = gpnn_roc_curve(N, rows, MOST, points);
  assert_true(n > MOST / 2 && n <= MOST);
  assert_true(isinf(points[0].threshold));
  assert_near(points[n - 1].true_positive + points[n - 1].false_positive, 2, 0);
  for (size_t k = 1; k < n; k++)
    trapezia += (points[k].false_positive - points[k - 1].false_positive) *
                (points[k].true_positive + points[k - 1].true_positive) / 2;
  assert_near(trapezia, area, 0.002);
  free(rows);
}

static void there_is_no_curve_of_one_kind(void **state)
{
  (void)state;
  const struct gpnn_roc_row rows[] = {{0.9, true}, {0.5, true}};
  struct gpnn_roc_point points[3];
  assert_int_equal(gpnn_roc_curve(2, rows, 3, points), 0);
  assert_int_equal(gpnn_roc_curve(0, rows, 3, points), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_area_is_the_share_of_pairs_in_order),
      cmocka_unit_test(perfect_reversed_and_constant_scores_have_their_areas),
      cmocka_unit_test(the_curve_counts_rows_from_each_threshold_on),
      cmocka_unit_test(a_thinned_curve_keeps_its_ends_and_its_shape),
      cmocka_unit_test(there_is_no_curve_of_one_kind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
