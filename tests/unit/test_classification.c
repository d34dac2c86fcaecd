/* Scores of predictions of classes, against other ways to compute them. */
#include "stats/scores/classification.h"

#include "random.h"

enum { ROWS = 400, CLASSES = 5 };

/* Rows whose classes are drawn from their probabilities. */
struct drawn {
  double p[ROWS][CLASSES];
  uint32_t truth[ROWS], label[ROWS];
};

static void draw(struct drawn *d, size_t n_classes, uint64_t seed)
{
  struct gpnn_rng rng = seeded(seed);
  for (size_t i = 0; i < ROWS; i++) {
    double sum = 0, below = 0, u = gpnn_rng_uniform(&rng);
    for (size_t c = 0; c < n_classes; c++) sum += d->p[i][c] = gpnn_rng_exponential(&rng);
    d->label[i] = 0;
    d->truth[i] = (uint32_t)n_classes - 1;
    for (size_t c = n_classes; c-- > 0;) d->p[i][c] /= sum;
    for (size_t c = 0; c < n_classes; c++) {
      if (u >= below && u < below + d->p[i][c]) d->truth[i] = (uint32_t)c;
      below += d->p[i][c];
      if (d->p[i][c] > d->p[i][d->label[i]]) d->label[i] = (uint32_t)c;
    }
  }
}

static struct gpnn_classification_row row_of(const struct drawn *d, size_t i)
{
  return (struct gpnn_classification_row){.truth = d->truth[i],
                                          .label = d->label[i],
                                          .p = d->p[i],
                                          .top_probability = NAN,
                                          .logp = NAN};
}

static void add_all(struct gpnn_classification *c, const struct drawn *d, size_t n_classes)
{
  gpnn_classification_init(c, n_classes, true);
  for (size_t i = 0; i < ROWS; i++) {
    struct gpnn_classification_row row = row_of(d, i);
    assert_ok(gpnn_classification_add(c, &row, &err));
  }
}

/* The probability that a row of the class has a higher score than another, ties counting half. */
static double area_of_pairs(const struct drawn *d, size_t class)
{
  double won = 0, pairs = 0;
  for (size_t i = 0; i < ROWS; i++)
    for (size_t j = 0; j < ROWS; j++) {
      if (d->truth[i] != class || d->truth[j] == class) continue;
      double difference = d->p[i][class] - d->p[j][class];
      won += difference > 0 ? 1 : difference == 0 ? 0.5 : 0;
      pairs++;
    }
  return won / pairs;
}

static void scores_follow_from_their_definitions(void **state)
{
  (void)state;
  struct drawn d;
  struct gpnn_classification c = {0};
  struct gpnn_classification_result r;
  double nll = 0, brier = 0, wrong = 0, auc = 0, area;
  draw(&d, CLASSES, 1);
  add_all(&c, &d, CLASSES);
  assert_ok(gpnn_classification_result(&c, &r, &err));
  for (size_t i = 0; i < ROWS; i++) {
    double squares = 0; /* sum p^2 - 2 p_y + 1 */
    for (size_t k = 0; k < CLASSES; k++) squares += d.p[i][k] * d.p[i][k];
    brier += (squares - 2 * d.p[i][d.truth[i]] + 1) / ROWS;
    nll -= log(d.p[i][d.truth[i]]) / ROWS;
    wrong += d.label[i] != d.truth[i];
  }
  for (size_t k = 0; k < CLASSES; k++) {
    assert_ok(gpnn_classification_area(&c, k, &area, &err));
    assert_near(area, area_of_pairs(&d, k), 1e-14);
    auc += area / CLASSES;
  }
  assert_int_equal(r.n, ROWS);
  assert_near(r.error, wrong / ROWS, 1e-15);
  assert_near(r.nll, nll, 1e-13);
  assert_near(r.brier, brier, 1e-13);
  assert_near(r.auc, auc, 1e-14);
  gpnn_classification_release(&c);
}

/* ECE, with bins found by comparison. */
static void the_calibration_error_is_that_of_the_largest_probability(void **state)
{
  (void)state;
  struct drawn d;
  struct gpnn_classification c = {0};
  struct gpnn_classification_result r;
  double ece = 0;
  draw(&d, CLASSES, 2);
  add_all(&c, &d, CLASSES);
  assert_ok(gpnn_classification_result(&c, &r, &err));
  for (size_t b = 0; b < 15; b++) {
    double distance = 0;
    for (size_t i = 0; i < ROWS; i++) {
      double top = d.p[i][d.label[i]];
      if (top > (double)b / 15 && top <= (double)(b + 1) / 15)
        distance += top - (d.label[i] == d.truth[i]);
    }
    ece += fabs(distance) / ROWS;
  }
  assert_near(r.ece, ece, 1e-13);
  assert_true(r.ece < 1.5 * r.ece_chance);
  gpnn_classification_release(&c);
}

static void two_classes_have_one_area(void **state)
{
  (void)state;
  struct drawn d;
  struct gpnn_classification c = {0};
  struct gpnn_classification_result r;
  double zero, one;
  draw(&d, 2, 3);
  add_all(&c, &d, 2);
  assert_ok(gpnn_classification_result(&c, &r, &err));
  assert_ok(gpnn_classification_area(&c, 0, &zero, &err));
  assert_ok(gpnn_classification_area(&c, 1, &one, &err));
  assert_near(r.auc, area_of_pairs(&d, 1), 1e-14);
  assert_near(one, r.auc, 0);
  assert_near(zero, r.auc, 1e-14);
  gpnn_classification_release(&c);
}

static void rows_by_hand_have_the_scores_by_hand(void **state)
{
  (void)state;
  const double p[3][2] = {{0.8, 0.2}, {0.3, 0.7}, {0.6, 0.4}};
  struct gpnn_classification c = {0};
  struct gpnn_classification_result r;
  gpnn_classification_init(&c, 2, true);
  for (uint32_t i = 0; i < 3; i++) {
    struct gpnn_classification_row row = {.truth = i > 0, .label = i == 1, .p = p[i]};
    assert_ok(gpnn_classification_add(&c, &row, &err));
  }
  assert_ok(gpnn_classification_result(&c, &r, &err));
  assert_near(r.error, 1.0 / 3, 1e-15);
  assert_near(r.nll, -log(0.8 * 0.7 * 0.4) / 3, 1e-15);
  assert_near(r.brier, 2 * (0.04 + 0.09 + 0.36) / 3, 1e-15); /* both classes count */
  assert_near(r.ece, (0.2 + 0.3 + 0.6) / 3, 1e-15);
  assert_near(r.auc, 1, 0); /* 0.7 and 0.4 against 0.2 */
  gpnn_classification_release(&c);
}

static void unseen_classes_count_as_wrong_and_nowhere_else(void **state)
{
  (void)state;
  const double sure[] = {1, 0}, half[] = {0.5, 0.5};
  struct gpnn_classification c = {0};
  struct gpnn_classification_result r;
  gpnn_classification_init(&c, 2, true);
  const struct gpnn_classification_row rows[] = {{.truth = 0, .label = 0, .p = half},
                                                 {.truth = 2, .label = 0, .p = sure}};
  assert_ok(gpnn_classification_add(&c, &rows[0], &err));
  assert_ok(gpnn_classification_add(&c, &rows[1], &err));
  assert_ok(gpnn_classification_result(&c, &r, &err));
  assert_true(r.n == 2 && r.n_unseen == 1);
  assert_near(r.error, 0.5, 0);
  assert_near(r.nll, log(2), 1e-15);
  assert_near(r.brier, 0.5, 1e-15);
  assert_near(r.ece, 0.5, 1e-15);
  assert_true(isnan(r.auc)); /* of one class alone */
  gpnn_classification_release(&c);
}

static void an_impossible_truth_costs_the_floor(void **state)
{
  (void)state;
  const double p[] = {1, 0};
  struct gpnn_classification c = {0};
  struct gpnn_classification_result r;
  gpnn_classification_init(&c, 2, false);
  struct gpnn_classification_row row = {.truth = 1, .label = 0, .p = p};
  assert_ok(gpnn_classification_add(&c, &row, &err));
  assert_ok(gpnn_classification_result(&c, &r, &err));
  assert_int_equal(c.n_floored, 1);
  assert_near(r.nll, 300 * log(10), 1e-9);
  assert_true(isnan(r.auc)); /* nothing was ranked */
  gpnn_classification_release(&c);
}

static void what_is_known_of_the_most_probable_class_is_scored(void **state)
{
  (void)state;
  struct gpnn_classification c = {0};
  struct gpnn_classification_result r;
  gpnn_classification_init(&c, 0, true);
  const struct gpnn_classification_row rows[] = {
      {.truth = 7, .label = 7, .top = 7, .top_probability = 0.9, .logp = log(0.9)},
      {.truth = 7, .label = 3, .top = 4, .top_probability = 0.5, .logp = -INFINITY},
      {.truth = 4, .label = 4, .top_probability = NAN, .logp = NAN}};
  for (size_t i = 0; i < 3; i++) assert_ok(gpnn_classification_add(&c, &rows[i], &err));
  assert_ok(gpnn_classification_result(&c, &r, &err));
  assert_near(r.error, 1.0 / 3, 1e-15);
  assert_near(r.nll, (-log(0.9) + 300 * log(10)) / 2, 1e-9);
  assert_near(r.ece, (0.1 + 0.5) / 2, 1e-15);
  assert_true(isnan(r.brier) && isnan(r.auc) && r.n_unseen == 0);
  gpnn_classification_release(&c);
}

/* Costs may move a label; the largest probability is judged all the same. */
static void moved_labels_change_the_error_alone(void **state)
{
  (void)state;
  struct drawn d;
  struct gpnn_classification as_is = {0}, moved = {0};
  struct gpnn_classification_result a, b;
  draw(&d, CLASSES, 4);
  add_all(&as_is, &d, CLASSES);
  for (size_t i = 0; i < ROWS; i++) d.label[i] = 0;
  add_all(&moved, &d, CLASSES);
  assert_ok(gpnn_classification_result(&as_is, &a, &err));
  assert_ok(gpnn_classification_result(&moved, &b, &err));
  assert_true(b.error > a.error);
  assert_true(a.nll == b.nll && a.brier == b.brier && a.ece == b.ece && a.auc == b.auc);
  gpnn_classification_release(&as_is);
  gpnn_classification_release(&moved);
}

static void what_is_no_probability_is_refused(void **state)
{
  (void)state;
  struct gpnn_classification c = {0};
  const double low[] = {-0.01, 1.01}, rounded[] = {1 + 1e-9, -1e-9}, more[] = {0.9, 0.9};
  struct gpnn_classification_row row = {.p = low};
  gpnn_classification_init(&c, 2, false);
  assert_fails(gpnn_classification_add(&c, &row, &err), GPNN_EDATA,
               "not between 0 and 1 but -0.01");
  row.p = rounded;
  assert_ok(gpnn_classification_add(&c, &row, &err));
  assert_int_equal(c.n_unequal, 0);
  row.p = more;
  assert_ok(gpnn_classification_add(&c, &row, &err));
  assert_int_equal(c.n_unequal, 1);
  gpnn_classification_release(&c);
  gpnn_classification_init(&c, 0, false);
  row = (struct gpnn_classification_row){.top_probability = 0.5, .logp = 0.5};
  assert_fails(gpnn_classification_add(&c, &row, &err), GPNN_EDATA, "logp is above 0");
  row = (struct gpnn_classification_row){.top_probability = 1.5, .logp = NAN};
  assert_fails(gpnn_classification_add(&c, &row, &err), GPNN_EDATA, "not between 0 and 1 but 1.5");
  gpnn_classification_release(&c);
}

static void without_rows_there_is_no_result(void **state)
{
  (void)state;
  struct gpnn_classification c = {0};
  struct gpnn_classification_result r;
  gpnn_classification_init(&c, 2, true);
  assert_fails(gpnn_classification_result(&c, &r, &err), GPNN_EDATA, "no row");
  gpnn_classification_release(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scores_follow_from_their_definitions),
      cmocka_unit_test(the_calibration_error_is_that_of_the_largest_probability),
      cmocka_unit_test(two_classes_have_one_area),
      cmocka_unit_test(rows_by_hand_have_the_scores_by_hand),
      cmocka_unit_test(unseen_classes_count_as_wrong_and_nowhere_else),
      cmocka_unit_test(an_impossible_truth_costs_the_floor),
      cmocka_unit_test(what_is_known_of_the_most_probable_class_is_scored),
      cmocka_unit_test(moved_labels_change_the_error_alone),
      cmocka_unit_test(what_is_no_probability_is_refused),
      cmocka_unit_test(without_rows_there_is_no_result),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
