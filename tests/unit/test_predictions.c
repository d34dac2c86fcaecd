/* Which columns of a table of predictions are what, and its rows. */
#include "scratch.h"
#include "table/predictions.h"

static struct gpnn_table *open_text(const char *text, bool has_header)
{
  struct gpnn_table *table = NULL;
  struct gpnn_table_options options = {.has_header = has_header};
  assert_ok(gpnn_table_open(&table, scratch_text("t.csv", text), &options, &err));
  return table;
}

static struct gpnn_predictions found_in(const char *header)
{
  struct gpnn_predictions p = {0};
  struct gpnn_table *table = open_text(header, true);
  assert_ok(gpnn_predictions_find(&p, table, &(struct gpnn_predictions_wanted){0}, &err));
  gpnn_table_close(table);
  return p;
}

static void assert_refused_as(enum gpnn_status status, const char *header, const char *why)
{
  struct gpnn_predictions p = {0};
  struct gpnn_table *table = open_text(header, true);
  assert_fails(gpnn_predictions_find(&p, table, &(struct gpnn_predictions_wanted){0}, &err), status,
               why);
  assert_null(p.targets);
  gpnn_table_close(table);
}

static void assert_refused(const char *header, const char *why)
{
  assert_refused_as(GPNN_EINVAL, header, why);
}

static void one_target_has_columns_without_its_name(void **state)
{
  (void)state;
  struct gpnn_predictions p = found_in("x,y,mean,sd,df,lower,upper\n");
  assert_int_equal(p.n_targets, 1);
  const struct gpnn_predictions_target *t = &p.targets[0];
  assert_null(t->name);
  assert_int_equal(t->truth, 1);
  assert_int_equal(t->mean, 2);
  assert_true(t->has_sd && t->sd == 3 && t->has_df && t->df == 4);
  assert_int_equal(t->n_intervals, 1);
  assert_true(t->intervals[0].lower == 5 && t->intervals[0].upper == 6);
  assert_true(isnan(t->intervals[0].level));
  gpnn_predictions_release(&p);
}

static void scores_are_found_after_the_mean(void **state)
{
  (void)state;
  struct gpnn_predictions p = found_in("pit,y,mean,sd,logp,crps\n");
  const struct gpnn_predictions_target *t = &p.targets[0];
  assert_true(t->has_score[GPNN_PREDICTIONS_LOGP] && t->score[GPNN_PREDICTIONS_LOGP] == 4);
  assert_true(t->has_score[GPNN_PREDICTIONS_CRPS] && t->score[GPNN_PREDICTIONS_CRPS] == 5);
  assert_false(t->has_score[GPNN_PREDICTIONS_PIT]); /* that of the table predicted */
  gpnn_predictions_release(&p);
  p = found_in("pitstep,y,mean,sd,logp,crps,pit,pitstep\n");
  assert_true(p.targets[0].has_score[GPNN_PREDICTIONS_PITSTEP]);
  assert_int_equal(p.targets[0].score[GPNN_PREDICTIONS_PITSTEP], 7);
  gpnn_predictions_release(&p);
  p = found_in("a,mean_a,sd_a,pit_a,b,mean_b,sd_b,pit_b\n");
  assert_true(p.targets[1].has_score[GPNN_PREDICTIONS_PIT]);
  assert_int_equal(p.targets[1].score[GPNN_PREDICTIONS_PIT], 7);
  gpnn_predictions_release(&p);
  p = found_in("a,mean_a,sd_a,df_a,b,mean_b,sd_b,pit_b\n"); /* a count beside a number */
  assert_true(p.targets[0].has_df && !p.targets[0].has_score[GPNN_PREDICTIONS_PIT]);
  assert_true(p.targets[1].has_score[GPNN_PREDICTIONS_PIT] && !p.targets[1].has_df);
  gpnn_predictions_release(&p);
  assert_refused("y,mean,pit,pit\n", "'pit'");
}

static void levels_are_told_from_the_names_of_the_ends(void **state)
{
  (void)state;
  struct gpnn_predictions p =
      found_in("y,mean,sd,lower90,upper90,lower97.5,upper97.5,lower5x,upper5x,lower100,upper100,"
               "lower80\n");
  const struct gpnn_predictions_target *t = &p.targets[0];
  assert_int_equal(t->n_intervals, 2); /* the others are no levels, or have one end */
  assert_close(t->intervals[0].level, 0.9, 1e-15);
  assert_close(t->intervals[1].level, 0.975, 1e-15);
  assert_true(t->intervals[1].lower == 5 && t->intervals[1].upper == 6);
  gpnn_predictions_release(&p);
}

static void columns_before_the_mean_are_carried_along(void **state)
{
  (void)state;
  struct gpnn_predictions p = found_in("df,lower,upper,mean_x,x,y,mean,sd\n");
  const struct gpnn_predictions_target *t = &p.targets[0];
  assert_int_equal(p.n_targets, 1);
  assert_true(!t->has_df && t->n_intervals == 0 && t->truth == 5);
  gpnn_predictions_release(&p);
}

static void several_targets_are_told_by_the_ends_of_the_names(void **state)
{
  (void)state;
  struct gpnn_predictions p =
      found_in("id,a,mean_a,sd_a,lower90_a,upper90_a,b_2,mean_b_2,sd_b_2,lower90_b_2,upper90_b_2,"
               "mean_untold,sd_untold\n");
  assert_int_equal(p.n_targets, 2); /* one has no truth */
  assert_string_equal(p.targets[0].name, "a");
  assert_string_equal(p.targets[1].name, "b_2");
  assert_true(p.targets[0].truth == 1 && p.targets[0].mean == 2 && p.targets[0].sd == 3);
  assert_true(p.targets[1].truth == 6 && p.targets[1].mean == 7 && p.targets[1].sd == 8);
  assert_int_equal(p.targets[1].n_intervals, 1);
  assert_true(p.targets[1].intervals[0].lower == 9 && p.targets[1].intervals[0].upper == 10);
  gpnn_predictions_release(&p);
}

static void columns_that_are_asked_for_make_one_target(void **state)
{
  (void)state;
  struct gpnn_predictions p = {0};
  struct gpnn_table *table = open_text("a,mean_a,sd_a\n", true);
  struct gpnn_predictions_wanted wanted = {.mean = "mean_a", .sd = "3"};
  assert_ok(gpnn_predictions_find(&p, table, &wanted, &err));
  assert_true(p.n_targets == 1 && p.targets[0].name == NULL && p.targets[0].truth == 0);
  assert_true(p.targets[0].has_sd && p.targets[0].sd == 2);
  gpnn_predictions_release(&p);
  wanted.df = "nu";
  assert_fails(gpnn_predictions_find(&p, table, &wanted, &err), GPNN_EINVAL, "no column 'nu'");
  gpnn_table_close(table);
}

static void without_a_header_columns_go_by_number(void **state)
{
  (void)state;
  struct gpnn_predictions p = {0};
  struct gpnn_table *table = open_text("1,2,3\n", false);
  assert_ok(gpnn_predictions_find(&p, table, &(struct gpnn_predictions_wanted){0}, &err));
  assert_true(p.targets[0].truth == 0 && p.targets[0].mean == 1 && p.targets[0].sd == 2);
  gpnn_predictions_release(&p);
  gpnn_table_close(table);
  table = open_text("1,2\n", false);
  assert_ok(gpnn_predictions_find(&p, table, &(struct gpnn_predictions_wanted){0}, &err));
  assert_false(p.targets[0].has_sd);
  gpnn_predictions_release(&p);
  gpnn_table_close(table);
}

static void what_leaves_a_column_open_is_refused(void **state)
{
  (void)state;
  assert_refused("y,sd\n", "no column 'mean'");
  assert_refused("mean,sd\n", "no column before 'mean'");
  assert_refused("y,mean,sd,sd\n", "'sd'");
  assert_refused("y,mean,df,df\n", "'df'");
  assert_refused("y,mean,lower,upper,upper\n", "'upper'");
  assert_refused("a,mean_a,mean_a\n", "'mean_a'");
  assert_refused("a,a,mean_a\n", "'a'");
  assert_refused_as(GPNN_EDATA, "a,mean_a,sd_a,b,mean_b\n", "target 'b' has other intervals");
  assert_refused("mean_a,sd_a\n", "no column 'mean'");
}

static void rows_are_read_with_what_may_be_infinite_or_missing(void **state)
{
  (void)state;
  struct gpnn_predictions p = {0};
  struct gpnn_predictions_row row;
  struct gpnn_record record;
  struct gpnn_table *table =
      open_text("y,mean,sd,df,lower,upper\n1,2,3,4,-5,6\n1,2,3,NA,-Inf,infinity\n1,2,3,inf,,6\n"
                "NA,2,3,4,5,6\n1,2,3,x,5,6\n1,2,inf,5,5,6\n",
                true);
  assert_ok(gpnn_predictions_find(&p, table, &(struct gpnn_predictions_wanted){0}, &err));
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_predictions_read(&p.targets[0], table, &record, &row, &err));
  assert_true(row.truth == 1 && row.mean == 2 && row.sd == 3 && row.df == 4);
  assert_true(row.lower[0] == -5 && row.upper[0] == 6);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_predictions_read(&p.targets[0], table, &record, &row, &err));
  assert_true(isinf(row.df) && row.lower[0] == -INFINITY && row.upper[0] == INFINITY);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_predictions_read(&p.targets[0], table, &record, &row, &err));
  assert_true(isinf(row.df) && isnan(row.lower[0]) && row.upper[0] == 6);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_int_equal(gpnn_predictions_read(&p.targets[0], table, &record, &row, NULL), GPNN_END);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_predictions_read(&p.targets[0], table, &record, &row, &err), GPNN_EDATA,
               ":6: column 'df': not a number");
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_predictions_read(&p.targets[0], table, &record, &row, &err), GPNN_EDATA,
               ":7: column 'sd'");
  gpnn_predictions_release(&p);
  gpnn_table_close(table);
}

static void scores_may_be_infinite_or_missing(void **state)
{
  (void)state;
  struct gpnn_predictions p = {0};
  struct gpnn_predictions_row row;
  struct gpnn_record record;
  struct gpnn_table *table =
      open_text("y,mean,sd,logp,crps,pit\n1,2,3,-inf,4,0\n1,2,3,NA,,0.5\n1,2,3,-1,x,0\n", true);
  assert_ok(gpnn_predictions_find(&p, table, &(struct gpnn_predictions_wanted){0}, &err));
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_predictions_read(&p.targets[0], table, &record, &row, &err));
  assert_true(row.score[0] == -INFINITY && row.score[1] == 4 && row.score[2] == 0);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_predictions_read(&p.targets[0], table, &record, &row, &err));
  assert_true(isnan(row.score[0]) && isnan(row.score[1]) && row.score[2] == 0.5);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_predictions_read(&p.targets[0], table, &record, &row, &err), GPNN_EDATA,
               ":4: column 'crps': not a number");
  gpnn_predictions_release(&p);
  gpnn_table_close(table);
}

static void the_first_cell_that_is_no_number_is_told_though_others_are_fine(void **state)
{
  (void)state;
  static const char *const columns[] = {"y", "mean", "sd", "df", "lower", "upper"};
  struct gpnn_predictions p = {0};
  struct gpnn_record record;
  struct gpnn_table *table =
      open_text("y,mean,sd,df,lower,upper\nx,2,3,4,5,6\n1,x,3,4,5,6\n1,2,x,4,5,6\n1,2,3,x,5,6\n"
                "1,2,3,4,x,6\n1,2,3,4,5,x\n",
                true);
  assert_ok(gpnn_predictions_find(&p, table, &(struct gpnn_predictions_wanted){0}, &err));
  for (size_t i = 0; i < 6; i++) {
    struct gpnn_predictions_row row = {.truth = 77};
    char told[64];
    snprintf(told, sizeof told, ":%zu: column '%s': not a number", i + 2, columns[i]);
    assert_ok(gpnn_table_next(table, &record, &err));
    assert_fails(gpnn_predictions_read(&p.targets[0], table, &record, &row, &err), GPNN_EDATA,
                 told);
    assert_true(row.truth == 77);
  }
  gpnn_predictions_release(&p);
  gpnn_table_close(table);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_target_has_columns_without_its_name),
      cmocka_unit_test(scores_are_found_after_the_mean),
      cmocka_unit_test(levels_are_told_from_the_names_of_the_ends),
      cmocka_unit_test(columns_before_the_mean_are_carried_along),
      cmocka_unit_test(several_targets_are_told_by_the_ends_of_the_names),
      cmocka_unit_test(columns_that_are_asked_for_make_one_target),
      cmocka_unit_test(without_a_header_columns_go_by_number),
      cmocka_unit_test(what_leaves_a_column_open_is_refused),
      cmocka_unit_test(rows_are_read_with_what_may_be_infinite_or_missing),
      cmocka_unit_test(scores_may_be_infinite_or_missing),
      cmocka_unit_test(the_first_cell_that_is_no_number_is_told_though_others_are_fine),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
