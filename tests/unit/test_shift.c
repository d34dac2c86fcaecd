/* How the inputs of a table differ from those of the training rows. */
#include <math.h>

#include "assess/shift.h"
#include "trained.h"

static const char training_table[] = "a\tb\ty\n1\t5\t1\n2\t6\t2\n3\t5\t4\n4\t8\t3\n5\t6\t5\n";

static enum gpnn_status find(struct gpnn_shift *shift, const char *text, struct gpnn_error *error)
{
  const struct gpnn_table_options usual = GPNN_TABLE_OPTIONS_INIT;
  const struct gpnn_roles roles = {0};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_table *table = NULL;
  train(&training, training_table, &roles, GPNN_SCALING_SCALE, 0);
  assert_ok(gpnn_table_open(&table, scratch_text("u.tsv", text), &usual, &err));
  *shift = (struct gpnn_shift){0};
  enum gpnn_status status = gpnn_shift_find(shift, &training.dataset, table, error);
  gpnn_table_close(table);
  gpnn_training_release(&training);
  return status;
}

static void means_and_spreads_are_in_units_of_the_training_rows(void **state)
{
  (void)state;
  struct gpnn_shift shift;
  /* Of a: mean 3 and variance 2 in training, 5 and 8/3 here. */
  assert_ok(find(&shift, "b\ta\n5\t3\n6\t5\nNA\t7\n", &err));
  assert_int_equal(shift.n_rows, 3);
  assert_int_equal(shift.n_bad, 0);
  assert_near(shift.inputs[0].shift, 2 / sqrt(2), 1e-12);
  assert_near(shift.inputs[0].spread, sqrt(8. / 3 / 2), 1e-12);
  assert_near(shift.inputs[0].beyond, 1. / 3, 1e-15);
  assert_near(shift.inputs[0].missing, 0, 0);
  assert_near(shift.inputs[1].shift, (5.5 - 6) / sqrt(1.2), 1e-12);
  assert_near(shift.inputs[1].beyond, 0, 0);
  assert_near(shift.inputs[1].missing, 1. / 3, 1e-15);
  gpnn_shift_release(&shift);
}

static void the_training_rows_have_no_shift(void **state)
{
  (void)state;
  struct gpnn_shift shift;
  assert_ok(find(&shift, training_table, &err));
  for (size_t j = 0; j < 2; j++) {
    assert_near(shift.inputs[j].shift, 0, 1e-12);
    assert_near(shift.inputs[j].spread, 1, 1e-12);
    assert_near(shift.inputs[j].beyond, 0, 0);
  }
  gpnn_shift_release(&shift);
}

static void bad_rows_are_counted_and_an_input_that_no_row_has_is_not_known(void **state)
{
  (void)state;
  struct gpnn_shift shift;
  assert_ok(find(&shift, "a\tb\n1\tNA\nx\t3\n2\n", &err));
  assert_int_equal(shift.n_rows, 1);
  assert_int_equal(shift.n_bad, 2);
  assert_true(isnan(shift.inputs[1].shift) && isnan(shift.inputs[1].beyond));
  assert_near(shift.inputs[1].missing, 1, 0);
  gpnn_shift_release(&shift);
  assert_fails(find(&shift, "a\tb\n", &err), GPNN_EDATA, "u.tsv: no row that can be read");
  gpnn_shift_release(&shift);
  assert_fails(find(&shift, "a\tc\n1\t2\n", &err), GPNN_EMISMATCH, "u.tsv");
  gpnn_shift_release(&shift);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(means_and_spreads_are_in_units_of_the_training_rows),
      cmocka_unit_test(the_training_rows_have_no_shift),
      cmocka_unit_test(bad_rows_are_counted_and_an_input_that_no_row_has_is_not_known),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
