/* Histories of nights, and limits that chance exceeds once in a thousand nights. */
#include "assess/monitor.h"
#include "base/rng.h"
#include "stats/distributions/binomial.h"
#include "table/stream.h"
#include "unit.h"

#include <unistd.h>

/* A night of 100 rows whose only figure is the RMSE. */
static struct gpnn_night night_of(size_t day, double rmse)
{
  const struct gpnn_metrics_result scores = {.n = 100, .rmse = rmse};
  struct gpnn_night night = gpnn_night_of_numbers(100, &scores);
  gpnn_date_write(night.date, (double)(20000 + day));
  return night;
}

static struct gpnn_night add(struct gpnn_monitor *monitor, struct gpnn_night night)
{
  size_t at = 0;
  assert_ok(gpnn_monitor_add(monitor, &night, 0, NULL, &at, &err));
  return monitor->nights[at];
}

static void a_limit_is_that_of_another_observation(void **state)
{
  (void)state;
  struct gpnn_monitor monitor = {0};
  /* Logarithms 0 and 1 in turn: mean 3/7, sum of squares 3 - 9/7. */
  for (size_t i = 0; i < 7; i++)
    assert_false(add(&monitor, night_of(i, i % 2 == 0 ? 1 : exp(1))).high[0] > 0);
  struct gpnn_night night = add(&monitor, night_of(7, 1));
  /* The quantile of Student's t with 6 degrees of freedom at 1 - 0.001/8. */
  const double t = 7.7076839985275, sd = sqrt((3 - 9.0 / 7) / 6);
  assert_near(log(night.high[0]), 3.0 / 7 + t * sd * sqrt(8.0 / 7), 1e-9);
  assert_false(gpnn_night_is_outside(&night));
  night = add(&monitor, night_of(8, 1e6));
  assert_true(night.is_outside[0]);
  gpnn_monitor_release(&monitor);
}

static void nights_with_an_alarm_set_no_limits(void **state)
{
  (void)state;
  struct gpnn_monitor monitor = {0};
  for (size_t i = 0; i < 10; i++) add(&monitor, night_of(i, i % 2 == 0 ? 1 : 1.1));
  double before = add(&monitor, night_of(10, 50)).high[0];
  assert_near(add(&monitor, night_of(11, 50)).high[0], before, 0);
  gpnn_monitor_release(&monitor);
}

static void a_night_comes_in_its_place_and_replaces_itself(void **state)
{
  (void)state;
  struct gpnn_monitor monitor = {0};
  add(&monitor, night_of(3, 1));
  add(&monitor, night_of(1, 2));
  add(&monitor, night_of(2, 3));
  assert_int_equal(monitor.n, 3);
  assert_near(monitor.nights[1].value[0], 3, 0);
  add(&monitor, night_of(2, 4));
  assert_int_equal(monitor.n, 3);
  assert_near(monitor.nights[1].value[0], 4, 0);
  gpnn_monitor_release(&monitor);
}

static void shares_that_have_always_been_zero_have_limits(void **state)
{
  (void)state;
  struct gpnn_monitor monitor = {0};
  for (size_t i = 0; i < 20; i++) {
    struct gpnn_night night = night_of(i, 1);
    gpnn_night_set(&night, false, "na", 0);
    add(&monitor, night);
  }
  struct gpnn_night night = night_of(20, 1);
  gpnn_night_set(&night, false, "na", 0.02);
  assert_false(add(&monitor, night).is_outside[5]);
  gpnn_night_set(&night, false, "na", 0.05);
  assert_true(add(&monitor, night).is_outside[5]);
  gpnn_monitor_release(&monitor);
}

/* A night of a hundredth of the rows varies ten times as much; shares of all rows go by all rows.
 */
static void nights_of_fewer_rows_have_wider_limits(void **state)
{
  (void)state;
  struct gpnn_monitor monitor = {0};
  struct gpnn_night night;
  for (size_t i = 0; i < 20; i++) {
    night = night_of(i, i % 2 == 0 ? 1 : 1.1);
    night.rows = night.n = 1000;
    gpnn_night_set(&night, false, "pit_distance", i % 2 == 0 ? 1 : 1.2);
    gpnn_night_set(&night, false, "na", 0);
    add(&monitor, night);
  }
  night = night_of(20, 1);
  gpnn_night_set(&night, false, "pit_distance", 1);
  gpnn_night_set(&night, false, "na", 0.5);
  night.rows = night.n = 1000;
  const struct gpnn_night many = add(&monitor, night);
  night.n = 10;
  const struct gpnn_night few = add(&monitor, night);
  const double centre = log(1.1) / 2;
  assert_near((log(few.high[0]) - centre) / (log(many.high[0]) - centre), 10, 1e-6);
  /* The distance from uniform is itself ten times as large, and varies as much more. */
  const double distance = log(1.2) / 2;
  assert_near(log(few.high[4]) - log(10) - distance, 10 * (log(many.high[4]) - distance), 1e-6);
  assert_near(few.high[5], many.high[5], 0);
  gpnn_monitor_release(&monitor);
}

static void what_never_changes_raises_no_alarm(void **state)
{
  (void)state;
  for (int k = 1; k <= 300; k++) {
    struct gpnn_monitor monitor = {0};
    struct gpnn_night night = {0};
    for (size_t i = 0; i < 9; i++) {
      night = night_of(i, 0.0137 * k);
      gpnn_night_set(&night, false, "nll", 0.31 * k);
      gpnn_night_set(&night, false, "coverage95", k / 301.0);
      night = add(&monitor, night);
    }
    assert_true(night.high[0] > 0);
    assert_false(gpnn_night_is_outside(&night));
    gpnn_monitor_release(&monitor);
  }
}

static void beta_binomial_quantiles_are_those_of_sums(void **state)
{
  (void)state;
  /* a = b = 1: all of 0 to n are equally probable. */
  assert_int_equal(gpnn_beta_binomial_quantile(9, 1, 1, 0.55), 5);
  assert_int_equal(gpnn_beta_binomial_quantile(9, 1, 1, 0.05), 0);
  /* Sharp: as the binomial distribution. */
  assert_int_equal(gpnn_beta_binomial_quantile(1000, 3e8, 7e8, 0.999),
                   gpnn_binomial_quantile(1000, 0.3, 0.999));
  assert_int_equal(gpnn_beta_binomial_quantile(10000000, 95000.5, 5000.5, 1e-9) > 9400000, 1);
}

static void chance_seldom_raises_an_alarm(void **state)
{
  (void)state;
  enum { NIGHTS = 4000, ROWS = 100 };
  const double level[] = {GPNN_MONITOR_LEVEL};
  struct gpnn_monitor monitor = {0};
  struct gpnn_rng rng;
  size_t alarms = 0;
  gpnn_rng_init(&rng, 1, GPNN_RNG_TEST);
  for (size_t i = 0; i < NIGHTS; i++) {
    struct gpnn_metrics metrics = {0};
    struct gpnn_metrics_result scores;
    gpnn_metrics_levels(&metrics, 1, level);
    for (size_t k = 0; k < ROWS; k++)
      assert_ok(gpnn_metrics_add(&metrics, gpnn_rng_normal(&rng), 0, 1, INFINITY, &err));
    assert_ok(gpnn_metrics_result(&metrics, &scores, &err));
    gpnn_metrics_release(&metrics);
    struct gpnn_night night = gpnn_night_of_numbers(ROWS, &scores);
    gpnn_date_write(night.date, (double)i);
    night = add(&monitor, night);
    alarms += gpnn_night_is_outside(&night);
  }
  assert_true(alarms <= 8); /* 4 are allowed */
  gpnn_monitor_release(&monitor);
}

static void a_history_is_read_as_it_was_written(void **state)
{
  (void)state;
  char folder[200], path[220];
  struct gpnn_monitor monitor = {0}, again = {0}, other = {.of_classes = true};
  struct gpnn_output *output = NULL;
  assert_int_equal(unit_make_folder(folder, sizeof folder), 0);
  snprintf(path, sizeof path, "%s/history.tsv", folder);
  assert_ok(gpnn_monitor_read(&again, path, &err));
  assert_int_equal(again.n, 0);
  for (size_t i = 0; i < 9; i++) add(&monitor, night_of(i, i < 8 ? 1 + 0.01 * (double)i : 9));
  assert_ok(gpnn_output_open(&output, path, &err));
  assert_ok(gpnn_monitor_write(&monitor, output, &err));
  assert_ok(gpnn_output_close(output, &err));
  assert_ok(gpnn_monitor_read(&again, path, &err));
  assert_int_equal(again.n, 9);
  assert_string_equal(again.nights[8].date, monitor.nights[8].date);
  assert_near(again.nights[7].high[0], monitor.nights[7].high[0], 0);
  assert_true(isnan(again.nights[8].value[1]));
  assert_true(again.nights[8].is_outside[0]);
  assert_false(gpnn_night_is_outside(&again.nights[7]));
  assert_fails(gpnn_monitor_read(&other, path, &err), GPNN_EDATA, "no column 'error'");
  gpnn_monitor_release(&monitor);
  gpnn_monitor_release(&again);
  gpnn_monitor_release(&other);
  unlink(path);
  rmdir(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_limit_is_that_of_another_observation),
      cmocka_unit_test(nights_with_an_alarm_set_no_limits),
      cmocka_unit_test(a_night_comes_in_its_place_and_replaces_itself),
      cmocka_unit_test(shares_that_have_always_been_zero_have_limits),
      cmocka_unit_test(nights_of_fewer_rows_have_wider_limits),
      cmocka_unit_test(what_never_changes_raises_no_alarm),
      cmocka_unit_test(beta_binomial_quantiles_are_those_of_sums),
      cmocka_unit_test(chance_seldom_raises_an_alarm),
      cmocka_unit_test(a_history_is_read_as_it_was_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
