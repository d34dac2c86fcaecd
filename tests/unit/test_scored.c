/* What became of the rows of a table of predictions. */
#include <math.h>

#include "assess/scored.h"
#include "scratch.h"

static const struct gpnn_table_options usual = GPNN_TABLE_OPTIONS_INIT;

static enum gpnn_status score(struct gpnn_scored *scored, size_t n, const char *const *names,
                              const char *text, struct gpnn_error *error)
{
  *scored = (struct gpnn_scored){0};
  return gpnn_scored_read(scored, n, names, scratch_text("p.tsv", text), &usual, error);
}

static void rows_are_counted_and_scored_where_they_can_be(void **state)
{
  (void)state;
  const char *const names[] = {"y"};
  struct gpnn_scored s;
  assert_ok(score(&s, 1, names, "y\tmean\tsd\n1\t2\t1\nNA\t3\t1\n4\tNA\tNA\n7\t4\t2\n", &err));
  assert_int_equal(s.n_rows, 4);
  assert_true(s.targets[0].has_mean);
  assert_int_equal(s.targets[0].n_predicted, 3);
  assert_int_equal(s.targets[0].n_scored, 2);
  assert_near(s.targets[0].scores.rmse, sqrt((1. + 9) / 2), 1e-15);
  assert_near(s.targets[0].scores.r2, 1 - 10. / 18, 1e-15);
  assert_near(s.targets[0].scores.coverage[0], 1, 0);
  gpnn_scored_release(&s);
}

static void a_column_that_was_carried_along_is_no_truth(void **state)
{
  (void)state;
  const char *const names[] = {"y"};
  struct gpnn_scored s;
  assert_ok(score(&s, 1, names, "id,mean,sd\n1,2,1\n2,3,1\n", &err));
  assert_int_equal(s.targets[0].n_predicted, 2);
  assert_int_equal(s.targets[0].n_scored, 0);
  gpnn_scored_release(&s);
  /* The first mean was carried along; the second is ours. */
  assert_ok(score(&s, 1, names, "mean,mean,sd\n1,2,1\nNA,3,1\n", &err));
  assert_int_equal(s.targets[0].n_predicted, 2);
  assert_int_equal(s.targets[0].n_scored, 0);
  gpnn_scored_release(&s);
}

static void without_truth_or_rows_nothing_is_scored(void **state)
{
  (void)state;
  const char *const names[] = {"y"};
  struct gpnn_scored s;
  assert_ok(score(&s, 1, names, "mean,sd\n2,1\n", &err));
  assert_int_equal(s.targets[0].n_predicted, 1);
  assert_int_equal(s.targets[0].n_scored, 0);
  gpnn_scored_release(&s);
  assert_ok(score(&s, 1, names, "y,mean,sd\n", &err));
  assert_int_equal(s.n_rows, 0);
  assert_int_equal(s.targets[0].n_scored, 0);
  gpnn_scored_release(&s);
}

static void each_of_several_targets_is_scored_by_its_own_columns(void **state)
{
  (void)state;
  const char *const names[] = {"a", "b"};
  struct gpnn_scored s;
  assert_ok(score(&s, 2, names,
                  "a,mean_a,sd_a,b,mean_b,sd_b\n1,2,1,5,5,1\n3,3,1,NA,6,1\n5,5,1,7,9,1\n", &err));
  assert_int_equal(s.targets[0].n_scored, 3);
  assert_int_equal(s.targets[1].n_predicted, 3);
  assert_int_equal(s.targets[1].n_scored, 2);
  assert_near(s.targets[0].scores.mse, 1. / 3, 1e-15);
  assert_near(s.targets[1].scores.mse, 2, 1e-15);
  gpnn_scored_release(&s);
  /* Without the truths of one target, or of both. */
  assert_ok(score(&s, 2, names, "mean_a,sd_a,b,mean_b,sd_b\n2,1,5,5,1\n3,1,6,6,1\n", &err));
  assert_int_equal(s.targets[0].n_predicted, 2);
  assert_int_equal(s.targets[0].n_scored, 0);
  assert_int_equal(s.targets[1].n_scored, 2);
  gpnn_scored_release(&s);
  assert_ok(score(&s, 2, names, "mean_a,sd_a,mean_b,sd_b\n2,1,5,1\n", &err));
  assert_int_equal(s.targets[1].n_predicted, 1);
  gpnn_scored_release(&s);
}

static void without_a_header_rows_are_counted(void **state)
{
  (void)state;
  const char *const names[] = {"3"};
  const struct gpnn_table_options bare = {.has_header = false};
  struct gpnn_scored s = {0};
  assert_ok(
      gpnn_scored_read(&s, 1, names, scratch_text("p.tsv", "1\t2\t3\n4\t5\t6\n"), &bare, &err));
  assert_int_equal(s.n_rows, 2);
  assert_false(s.targets[0].has_mean);
  gpnn_scored_release(&s);
}

static enum gpnn_status compare(struct gpnn_scored_gain *gain, size_t n, const char *const *names,
                                const char *before, const char *after, struct gpnn_error *why)
{
  const struct gpnn_table_options options = GPNN_TABLE_OPTIONS_INIT;
  char *first = strdup(scratch_text("a.tsv", before));
  enum gpnn_status status = gpnn_scored_compare(gain, n, names, n - 1, first,
                                                scratch_text("b.tsv", after), &options, why);
  free(first);
  return status;
}

static void losses_are_compared_row_by_row(void **state)
{
  (void)state;
  const char *const names[] = {"a", "y"};
  struct gpnn_scored_gain gain;
  /* Squared errors are 1, 4 and 0, and then 0, 1 and 1; the row without a truth counts nowhere. */
  assert_ok(compare(&gain, 2, names, "mean_a,y,mean_y,sd_y\n0,1,2,1\n0,1,3,1\n0,NA,1,1\n0,1,1,1\n",
                    "mean_a,y,mean_y,sd_y\n0,1,1,1\n0,1,2,1\n0,NA,1,1\n0,1,2,1\n", &err));
  assert_int_equal(gain.n, 3);
  assert_near(gain.loss, (1 + 3 - 1) / 3., 1e-15);
  assert_near(gain.loss_error, sqrt((0 + 4 + 4) / 2. / 3), 1e-15);
  assert_near(gain.nll, gain.loss / 2, 1e-15);
  assert_near(gain.nll_error, gain.loss_error / 2, 1e-15);
  assert_ok(compare(&gain, 1, names + 1, "y,mean,sd,logp\n1,1,1,-3\n1,1,1,-4\n",
                    "y,mean,sd,logp\n1,1,1,-1\n1,1,1,-1\n", &err));
  assert_near(gain.nll, 2.5, 1e-15);
  assert_near(gain.loss, 0, 0);
  assert_ok(compare(&gain, 1, names + 1, "y,label,p_u,p_v\nu,v,0.4,0.6\nv,v,0.2,0.8\n",
                    "y,label,p_u,p_v\nu,u,0.8,0.2\nv,u,0.6,0.4\n", &err));
  assert_near(gain.nll, 0, 1e-15);
  assert_near(gain.loss, 0, 0);
  assert_near(gain.loss_error, 1, 1e-15);
  assert_ok(compare(&gain, 1, names + 1, "mean,sd\n1,1\n", "mean,sd\n1,1\n", &err));
  assert_int_equal(gain.n, 0);
  assert_fails(compare(&gain, 1, names + 1, "y,mean,sd\n1,1,1\n", "y,mean,sd\n", &err), GPNN_EDATA,
               "b.tsv has 0");
}

static void a_bad_prediction_is_named(void **state)
{
  (void)state;
  const char *const names[] = {"y"};
  struct gpnn_scored s;
  assert_fails(score(&s, 1, names, "y,mean,sd\n1,2,0\n", &err), GPNN_EDATA, "p.tsv:2");
  gpnn_scored_release(&s);
  assert_fails(score(&s, 1, names, "y,mean,sd\n1,x,1\n", &err), GPNN_EDATA, "p.tsv:2: column");
  gpnn_scored_release(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_counted_and_scored_where_they_can_be),
      cmocka_unit_test(a_column_that_was_carried_along_is_no_truth),
      cmocka_unit_test(without_truth_or_rows_nothing_is_scored),
      cmocka_unit_test(each_of_several_targets_is_scored_by_its_own_columns),
      cmocka_unit_test(without_a_header_rows_are_counted),
      cmocka_unit_test(losses_are_compared_row_by_row),
      cmocka_unit_test(a_bad_prediction_is_named),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
