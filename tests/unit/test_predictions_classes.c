/* Which columns of a table of predictions are of classes, their names, and their rows. */
#include "scratch.h"
#include "table/predictions.h"

static const struct gpnn_predictions_wanted usual = {NULL, NULL, NULL, NULL};

static struct gpnn_table *open_text(const char *text)
{
  struct gpnn_table *table = NULL;
  const struct gpnn_table_options options = GPNN_TABLE_OPTIONS_INIT;
  assert_ok(gpnn_table_open(&table, scratch_text("t.csv", text), &options, &err));
  return table;
}

static struct gpnn_predictions found_in(const char *header)
{
  struct gpnn_predictions p = {0};
  struct gpnn_table *table = open_text(header);
  assert_ok(gpnn_predictions_find(&p, table, &usual, &err));
  gpnn_table_close(table);
  return p;
}

static void assert_name(const struct gpnn_predictions_classes *classes, size_t c, const char *name)
{
  struct gpnn_field field = gpnn_predictions_class_name(classes, c);
  assert_int_equal(field.length, strlen(name));
  assert_memory_equal(field.text, name, field.length);
}

static void probabilities_name_the_classes(void **state)
{
  (void)state;
  struct gpnn_predictions p = found_in("x,y,label,p_b,p_10,\"p_a,\"\"b\",p_9\n");
  assert_int_equal(p.n_targets, 1);
  assert_int_equal(p.targets[0].truth, 1);
  const struct gpnn_predictions_classes *c = p.targets[0].classes;
  assert_non_null(c);
  assert_int_equal(gpnn_predictions_n_classes(c), 4);
  assert_int_equal(gpnn_predictions_n_probabilities(c), 4);
  assert_true(gpnn_predictions_has_top(c));
  assert_name(c, 0, "b");
  assert_name(c, 2, "a,\"b");
  /* numbers by value, then texts by bytes */
  const char *const sorted[] = {"9", "10", "a,\"b", "b"};
  for (size_t i = 0; i < 4; i++) assert_name(c, gpnn_predictions_class_at(c, i), sorted[i]);
  gpnn_predictions_release(&p);
}

/* What the only target of a table is. */
static bool is_class(const char *header)
{
  struct gpnn_predictions p = found_in(header);
  bool is = p.targets[0].classes != NULL;
  assert_int_equal(p.n_targets, 1);
  gpnn_predictions_release(&p);
  return is;
}

static void kinds_are_told_by_the_columns(void **state)
{
  (void)state;
  assert_true(is_class("y,label\n"));
  assert_true(is_class("y,label,p_a\n"));
  assert_true(is_class("mean,y,label,p_a,p_b\n")); /* a mean of the predicted table */
  assert_true(is_class("mean,y,label,probability,label2,probability2\n"));
  assert_true(is_class("quality,label_quality,y,label,p_a,p_b\n"));
  assert_true(is_class("label,label,p_a,p_b\n")); /* the target is called label */
  assert_false(is_class("label,y,mean,sd\n"));
  assert_false(is_class("y,mean,sd,label\n"));
  assert_false(is_class("label,p_a,y,mean,sd\n"));
  assert_false(is_class("label,p_x,mean_p_x,sd_p_x\n"));
  assert_false(is_class("label_y,y,mean_y\n")); /* what has a mean is a number */
}

static void the_truth_may_be_named_and_has_to_be_there(void **state)
{
  (void)state;
  struct gpnn_predictions p = {0};
  struct gpnn_table *table = open_text("label,p_a,y\n");
  assert_fails(gpnn_predictions_find(&p, table, &usual, &err), GPNN_EINVAL,
               "no column before 'label'");
  const struct gpnn_predictions_wanted wanted = {.truth = "y"};
  assert_ok(gpnn_predictions_find(&p, table, &wanted, &err));
  assert_int_equal(p.targets[0].truth, 2);
  gpnn_predictions_release(&p);
  const struct gpnn_predictions_wanted mean = {.mean = "p_a", .truth = "y"};
  assert_ok(gpnn_predictions_find(&p, table, &mean, &err)); /* asks for a number */
  assert_null(p.targets[0].classes);
  gpnn_predictions_release(&p);
  gpnn_table_close(table);
}

static void several_targets_may_be_of_both_kinds(void **state)
{
  (void)state;
  struct gpnn_predictions p =
      found_in("b,label_b,p_x_a_b,p_y_b,a_b,label_a_b,p_x_a_b,c,mean_c,sd_c,d,label_d\n");
  assert_int_equal(p.n_targets, 4);
  assert_string_equal(p.targets[0].name, "b");
  /* p_x_a_b: of class x_a behind the label of b, of class x behind that of a_b */
  assert_int_equal(gpnn_predictions_n_probabilities(p.targets[0].classes), 2);
  assert_name(p.targets[0].classes, 0, "x_a");
  assert_int_equal(gpnn_predictions_n_probabilities(p.targets[1].classes), 1);
  assert_name(p.targets[1].classes, 0, "x");
  assert_null(p.targets[2].classes);
  assert_true(p.targets[2].has_sd);
  assert_false(gpnn_predictions_has_top(p.targets[3].classes));
  assert_int_equal(p.targets[3].truth, 10);
  gpnn_predictions_release(&p);
}

static void a_class_has_one_probability(void **state)
{
  (void)state;
  struct gpnn_predictions p = {0};
  struct gpnn_table *table = open_text("y,label,p_1,p_2,p_1.0\n");
  assert_fails(gpnn_predictions_find(&p, table, &usual, &err), GPNN_EDATA,
               "column 'p_1' and column 'p_1.0' have probabilities of the same class");
  assert_null(p.targets);
  gpnn_table_close(table);
}

static void rows_have_numbers_of_classes(void **state)
{
  (void)state;
  struct gpnn_predictions p = {0};
  struct gpnn_predictions_class_row row;
  struct gpnn_record record;
  struct gpnn_table *table =
      open_text("y,label,p_1,p_b\n1.0,b,0.25,0.75\n, b,0,1\nz,01,1,0\nb,b,,1\nb,b,x,1\n");
  assert_ok(gpnn_predictions_find(&p, table, &usual, &err));
  struct gpnn_predictions_target *t = &p.targets[0];
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_predictions_read_class(t, table, &record, &row, &err));
  assert_true(row.truth == 0 && row.label == 1); /* 1 and 1.0 are one class */
  assert_near(row.p[0], 0.25, 0);
  assert_near(row.p[1], 0.75, 0);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_int_equal(gpnn_predictions_read_class(t, table, &record, &row, NULL), GPNN_END);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_predictions_read_class(t, table, &record, &row, &err));
  assert_true(row.truth == 2 && row.label == 0); /* z is new */
  assert_name(t->classes, 2, "z");
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_int_equal(gpnn_predictions_read_class(t, table, &record, &row, NULL), GPNN_END);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_predictions_read_class(t, table, &record, &row, &err), GPNN_EDATA,
               "t.csv:6: column 'p_1': not a number: \"x\"");
  gpnn_predictions_release(&p);
  gpnn_table_close(table);
}

static void the_most_probable_classes_of_a_row_are_read(void **state)
{
  (void)state;
  struct gpnn_predictions p = {0};
  struct gpnn_predictions_class_row row;
  struct gpnn_record record;
  struct gpnn_table *table = open_text(
      "y,label,probability,label2,probability2,logp\na,b,0.3,a,0.6,-inf\nc,b,0.5,NA,NA,NA\n");
  assert_ok(gpnn_predictions_find(&p, table, &usual, &err));
  struct gpnn_predictions_target *t = &p.targets[0];
  assert_true(gpnn_predictions_has_top(t->classes));
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_predictions_read_class(t, table, &record, &row, &err));
  assert_null(row.p);
  assert_true(row.label != row.top && row.top == row.truth); /* costs moved the label */
  assert_near(row.top_probability, 0.6, 0);
  assert_true(isinf(row.logp) && row.logp < 0);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_predictions_read_class(t, table, &record, &row, &err));
  assert_true(row.top == row.label && isnan(row.logp));
  assert_int_equal(gpnn_predictions_n_classes(t->classes), 3);
  gpnn_predictions_release(&p);
  gpnn_table_close(table);
}

static void too_many_classes_are_not_classes(void **state)
{
  (void)state;
  enum { ROWS = 1001, BYTES = 16 };
  struct gpnn_predictions p = {0};
  struct gpnn_predictions_class_row row;
  struct gpnn_record record;
  char *text = malloc(ROWS * BYTES + BYTES);
  size_t used = (size_t)sprintf(text, "y,label\n");
  for (int i = 0; i < ROWS; i++) used += (size_t)sprintf(text + used, "%d,1\n", i);
  struct gpnn_table *table = open_text(text);
  free(text);
  assert_ok(gpnn_predictions_find(&p, table, &usual, &err));
  for (int i = 0; i < ROWS - 1; i++) {
    assert_ok(gpnn_table_next(table, &record, &err));
    assert_ok(gpnn_predictions_read_class(&p.targets[0], table, &record, &row, &err));
    assert_int_equal(row.truth, i);
  }
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_predictions_read_class(&p.targets[0], table, &record, &row, &err), GPNN_EDATA,
               "column 'y': has more than 1000 different values");
  gpnn_predictions_release(&p);
  gpnn_table_close(table);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(probabilities_name_the_classes),
      cmocka_unit_test(kinds_are_told_by_the_columns),
      cmocka_unit_test(the_truth_may_be_named_and_has_to_be_there),
      cmocka_unit_test(several_targets_may_be_of_both_kinds),
      cmocka_unit_test(a_class_has_one_probability),
      cmocka_unit_test(rows_have_numbers_of_classes),
      cmocka_unit_test(the_most_probable_classes_of_a_row_are_read),
      cmocka_unit_test(too_many_classes_are_not_classes),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
