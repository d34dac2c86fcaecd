/* Counts of labels against a matrix. */
#include "stats/scores/classification.h"

#include "random.h"

enum { CLASSES = 40 };

static void counts_are_those_of_a_matrix(void **state)
{
  (void)state;
  enum { N = 20000 };
  static size_t matrix[CLASSES][CLASSES];
  struct gpnn_confusion confusion = {0};
  struct gpnn_confusion_class classes[CLASSES];
  struct gpnn_rng rng = seeded(1);
  size_t n_right = 0;
  for (size_t i = 0; i < N; i++) {
    uint32_t truth = (uint32_t)gpnn_rng_below(&rng, CLASSES - 1);
    uint32_t label = i % 3 ? truth : (uint32_t)gpnn_rng_below(&rng, CLASSES - 2) + 2;
    matrix[truth][label]++;
    n_right += truth == label;
    assert_ok(gpnn_confusion_add(&confusion, truth, label, &err));
  }
  assert_int_equal(confusion.n, N);
  assert_int_equal(confusion.n_right, n_right);
  gpnn_confusion_classes(&confusion, CLASSES, classes);
  for (uint32_t c = 0; c < CLASSES; c++) {
    size_t row = 0, column = 0;
    for (uint32_t k = 0; k < CLASSES; k++) {
      assert_int_equal(gpnn_confusion_count(&confusion, c, k), matrix[c][k]);
      row += matrix[c][k];
      column += matrix[k][c];
    }
    assert_int_equal(classes[c].n_true, row);
    assert_int_equal(classes[c].n_labelled, column);
    if (column > 0) assert_near(classes[c].precision, (double)matrix[c][c] / (double)column, 1e-15);
    if (row > 0) assert_near(classes[c].recall, (double)matrix[c][c] / (double)row, 1e-15);
  }
  assert_true(isnan(classes[CLASSES - 1].recall)); /* no row is of the last class */
  gpnn_confusion_release(&confusion);
}

static void an_empty_object_counts_nothing(void **state)
{
  (void)state;
  struct gpnn_confusion confusion = {0};
  struct gpnn_confusion_class class;
  assert_int_equal(gpnn_confusion_count(&confusion, 3, 4), 0);
  gpnn_confusion_classes(&confusion, 1, &class);
  assert_true(class.n_true == 0 && isnan(class.precision) && isnan(class.recall));
  gpnn_confusion_release(&confusion);
}

static void the_largest_numbers_are_classes_too(void **state)
{
  (void)state;
  struct gpnn_confusion confusion = {0};
  struct gpnn_confusion_class class;
  assert_ok(gpnn_confusion_add(&confusion, UINT32_MAX, 0, &err));
  assert_ok(gpnn_confusion_add(&confusion, 0, UINT32_MAX, &err));
  assert_int_equal(gpnn_confusion_count(&confusion, UINT32_MAX, 0), 1);
  gpnn_confusion_classes(&confusion, 1, &class); /* those that are not asked for do no harm */
  assert_true(class.n_true == 1 && class.n_labelled == 1 && class.recall == 0);
  gpnn_confusion_release(&confusion);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_are_those_of_a_matrix),
      cmocka_unit_test(an_empty_object_counts_nothing),
      cmocka_unit_test(the_largest_numbers_are_classes_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
