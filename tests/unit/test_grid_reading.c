/* Grids of observations: read from long and wide tables, kept in an index, found again by name. */
#include "dataset/grid/reading.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "dataset/grid/grid.h"
#include "dataset/index/index.h"
#include "dataset/reader.h"
#include "scratch.h"
#include "unit.h"

static struct gpnn_table *open_text(const char *text)
{
  const struct gpnn_table_options options = GPNN_TABLE_OPTIONS_INIT;
  struct gpnn_table *table = NULL;
  assert_ok(gpnn_table_open(&table, scratch_text("t.tsv", text), &options, &err));
  return table;
}

static const struct gpnn_grid_roles site_and_day = {
    .n_factors = 2, .factor = {{"site", "lat,lon"}, {"time", "day"}}};

static enum gpnn_status read_text(struct gpnn_grid_reading *reading, const char *text,
                                  const struct gpnn_grid_roles *roles, bool skip_bad,
                                  struct gpnn_error *err)
{
  struct gpnn_table *table = open_text(text);
  *reading = (struct gpnn_grid_reading){.n = 0};
  enum gpnn_status status = gpnn_grid_reading_begin(reading, table, roles, err);
  if (status == GPNN_OK) status = gpnn_grid_reading_read(reading, table, skip_bad, NULL, err);
  if (status == GPNN_OK) status = gpnn_grid_reading_finish(reading, "t", err);
  gpnn_table_close(table);
  return status;
}

static void refused(const char *text, const struct gpnn_grid_roles *roles, enum gpnn_status wanted,
                    const char *message)
{
  struct gpnn_grid_reading reading;
  assert_fails(read_text(&reading, text, roles, false, &err), wanted, message);
  gpnn_grid_reading_release(&reading);
}

/* Three sites and three days in no order, the first site written in two ways, one cell twice, one
 * hole that is a row, one site without any value. */
static const char long_text[] = "day\tlat\tlon\ty\n"
                                "7\t50\t8\t4\n"
                                "3\t50.0\t+8\t1\n"
                                "5\t51\t8\t2\n"
                                "3\t51\t8\t6\n"
                                "3\t5e1\t8\t3\n"
                                "7\t51\t8\tNA\n"
                                "5\t52\t9\t\n";

static void a_long_table_becomes_sorted_cells_with_means(void **state)
{
  (void)state;
  struct gpnn_grid_reading reading;
  const int64_t cells[] = {0, 2, 3, 4}; /* site * 3 + day, days being 3, 5, 7 */
  const double table_y[] = {2, 4, 6, 2};
  assert_ok(read_text(&reading, long_text, &site_and_day, false, &err));
  const struct gpnn_grid *grid = &reading.grid;
  assert_int_equal(grid->n_cells, 4);
  assert_int_equal(grid->n_observations, 5);
  assert_int_equal(gpnn_grid_size(grid), 9);
  /* Mean and population sd of 4 1 2 6 3. */
  double mean = 3.2, sd = sqrt((0.64 + 4.84 + 1.44 + 7.84 + 0.04) / 5);
  assert_close(reading.dataset.scaling.y_mean, mean, 1e-14);
  assert_close(reading.dataset.scaling.y_sd, sd, 1e-14);
  for (size_t c = 0; c < 4; c++) {
    assert_int_equal(grid->cell[c], cells[c]);
    assert_close(grid->y[c], (table_y[c] - mean) / sd, 1e-13);
    assert_int_equal(grid->counts[c], c == 0 ? 2 : 1);
  }
  assert_close(grid->within, 2 / (sd * sd), 1e-13); /* 1 and 3 around 2 */
  assert_int_equal(reading.axis[0].n_empty, 1);
  assert_int_equal(reading.axis[1].n_empty, 0);
  assert_int_equal(reading.n_holes, 2);
  gpnn_grid_reading_release(&reading);
}

static void sites_are_scaled_over_levels_and_times_stay_as_they_are(void **state)
{
  (void)state;
  struct gpnn_grid_reading reading;
  assert_ok(read_text(&reading, long_text, &site_and_day, false, &err));
  const struct gpnn_grid_factor *site = &reading.grid.factor[0], *time = &reading.grid.factor[1];
  double lat = sqrt(2.0 / 3), lon = sqrt(2.0) / 3;
  assert_int_equal(site->n, 3);
  assert_int_equal(site->d, 2);
  for (size_t l = 0; l < 3; l++) {
    assert_close(site->x[2 * l], ((double)l - 1) / lat, 1e-13);
    assert_close(site->x[2 * l + 1], ((l == 2 ? 9 : 8) - 25.0 / 3) / lon, 1e-13);
    assert_true(time->x[l] == 3 + 2 * (double)l);
  }
  assert_string_equal(time->name, "time");
  assert_null(time->labels);
  gpnn_grid_reading_release(&reading);
}

static void levels_invert_the_number_of_a_cell(void **state)
{
  (void)state;
  const struct gpnn_grid_factor factor[] = {{.n = 3}, {.n = 4}, {.n = 5}};
  const struct gpnn_grid grid = {.n_factors = 3, .factor = factor};
  size_t level[3];
  for (int64_t cell = 0; cell < 60; cell++) {
    gpnn_grid_levels(&grid, cell, level);
    assert_int_equal((level[0] * 4 + level[1]) * 5 + level[2], cell);
    assert_true(level[0] < 3 && level[1] < 4 && level[2] < 5);
  }
}

/* The same table as a wide one, its columns in another order. */
static void a_wide_table_is_the_same_grid(void **state)
{
  (void)state;
  static const char wide[] = "lat\tt7\tlon\tt3\tt5\n"
                             "50\t4\t8\t1\tNA\n"
                             "51\tNA\t8\t6\t2\n"
                             "50\t\t8\t3\tNA\n"
                             "52\tNA\t9\tNA\tNA\n";
  const struct gpnn_grid_roles roles = {.target = "y",
                                        .n_factors = 2,
                                        .factor = {{"site", "lat,lon"}, {"time", "day"}},
                                        .is_wide = true};
  struct gpnn_grid_reading a, b;
  assert_ok(read_text(&a, long_text, &site_and_day, false, &err));
  assert_ok(read_text(&b, wide, &roles, false, &err));
  assert_int_equal(a.grid.n_cells, b.grid.n_cells);
  assert_memory_equal(a.grid.cell, b.grid.cell, 4 * sizeof *a.grid.cell);
  assert_memory_equal(a.grid.counts, b.grid.counts, 4 * sizeof *a.grid.counts);
  for (size_t c = 0; c < 4; c++) assert_close(a.grid.y[c], b.grid.y[c], 1e-14);
  assert_memory_equal(a.grid.factor[1].x, b.grid.factor[1].x, 3 * sizeof(double));
  assert_string_equal(b.dataset.schema.target.name, "y");
  assert_string_equal(b.dataset.schema.inputs[2].name, "day");
  gpnn_grid_reading_release(&a);
  gpnn_grid_reading_release(&b);
}

/* The times of a wide table with three columns of these names: their kind and values. */
static void times_are(const char *names, bool has_names, bool are_dates, double first, double last)
{
  char text[200];
  struct gpnn_grid_reading reading;
  const struct gpnn_grid_roles roles = {
      .n_factors = 2, .factor = {{"site", "s"}, {"time", "time"}}, .is_wide = true};
  snprintf(text, sizeof text, "s,%s\n1,1,2,3\n2,5,6,8\n", names);
  assert_ok(read_text(&reading, text, &roles, false, &err));
  const struct gpnn_grid_factor *time = &reading.grid.factor[1];
  assert_int_equal(time->labels != NULL, has_names);
  assert_int_equal(reading.dataset.schema.inputs[1].date != NULL, are_dates);
  assert_true(time->x[0] == first && time->x[2] == last);
  gpnn_grid_reading_release(&reading);
}

static void names_of_columns_say_when(void **state)
{
  (void)state;
  times_are("t0,t1,t2", false, false, 0, 2);
  times_are("t10,t11,t12", false, false, 10, 12);
  times_are("day 30,day 2,day 12", false, false, 2, 30);
  times_are("3,1,2", false, false, 1, 3);
  times_are("0.5h,1.5h,2.25h", false, false, 0.5, 2.25);
  times_are("t-1,t0,t1", false, false, -1, 1);
  times_are("1970-02,1970-01,1970-03", false, true, 0, 59);
  times_are("pm2.5_1,pm2.5_2,pm2.5_10", false, false, 1, 10);
  times_are("heat,noise,power", true, false, 0, 2);
  times_are("t1,t01,t2", true, false, 0, 2); /* not distinct */
  times_are("a1,b1,c2", true, false, 0, 2);
}

static void names_are_levels_with_labels(void **state)
{
  (void)state;
  static const char text[] = "who,what,y\nann,7,1\nbob,8,2\n ann ,8,4\nbob,7.0,3\n";
  struct gpnn_grid_roles roles = {.n_factors = 2, .factor = {{"who", "who"}, {"what", "what"}}};
  struct gpnn_grid_reading reading;
  assert_ok(read_text(&reading, text, &roles, false, &err));
  assert_string_equal(reading.grid.factor[0].labels[1], "bob");
  assert_null(reading.grid.factor[1].labels);
  assert_int_equal(reading.grid.n_cells, 4);
  gpnn_grid_reading_release(&reading);
  roles.names = "what";
  assert_ok(read_text(&reading, text, &roles, false, &err));
  assert_string_equal(reading.grid.factor[1].labels[0], "7");
  assert_int_equal(reading.grid.n_cells, 4);
  assert_true(reading.grid.factor[1].x[1] == 1);
  gpnn_grid_reading_release(&reading);
}

static void tables_that_are_no_grid_are_refused(void **state)
{
  (void)state;
  const struct gpnn_grid_roles *roles = &site_and_day;
  refused("lat\tlon\tday\ty\n", roles, GPNN_EDATA, "has no rows");
  refused("lat\tlon\tday\ty\n1\t1\t1\t1\n1\t1\t2\t2\n", roles, GPNN_EDATA, "one site only");
  refused("lat\tlon\tday\ty\n1\t1\t1\t1\n2\t1\t1\t2\n", roles, GPNN_EDATA, "one time only");
  refused("lat\tlon\tday\ty\n1\t1\t1\t4\n2\t1\t2\t4\n", roles, GPNN_EDATA, "constant");
  refused("lat\tlon\tday\ty\n1\t1\t1\t4\n2\t1\t2\tNA\n", roles, GPNN_EDATA, "1 observation,");
  refused("lat\tlon\tday\ty\n1\t1\t1\t4\n1\t1\t1\t3\n2\t2\t2\t\n", roles, GPNN_EDATA,
          "in one cell only");
  refused("lat\tlon\tday\ty\n1\t1\t1\t4\n2\tx\t2\t3\n", roles, GPNN_EDATA, ":3: column 'lon'");
  refused("lat\tlon\tday\ty\n1\t1\t1\t4\n2\t\t2\t3\n", roles, GPNN_EDATA, "missing");
  refused("lat\tlon\tday\ty\n1\t1\t1\t4\n2\t1\tx\t3\n", roles, GPNN_EDATA, "column 'day'");
  refused("lat\tlon\tday\ty\n1\t1\t1\t4\n2\t1\t2\tx\n", roles, GPNN_EDATA, "column 'y'");
  refused("lat\tlon\tday\ty\n1\t1\t1\t1e308\n2\t1\t2\t-1e308\n", roles, GPNN_EDATA, "overflow");
  refused("lat\tlon\tday\ty\n1e308\t1\t1\t1\n-1e308\t1\t2\t2\n", roles, GPNN_EDATA,
          "too large, or too close");
  refused("lat\tday\ty\n1\t1\t1\n", roles, GPNN_EINVAL, "lon");
}

static void bad_rows_are_left_out_and_leave_nothing_behind(void **state)
{
  (void)state;
  struct gpnn_grid_reading reading;
  assert_ok(read_text(&reading,
                      "lat\tlon\tday\ty\n1\t1\t1\t4\n2\t1\t2\t3\n3\tx\t1\t5\n2\t1\t1\tx\n1\n"
                      "3\tx\t1\t5\n",
                      &site_and_day, true, &err));
  assert_int_equal(reading.skipped.n, 4);
  assert_int_equal(reading.dataset.n_skipped, 4);
  assert_int_equal(reading.grid.factor[0].n, 2);
  assert_int_equal(reading.grid.n_cells, 2);
  gpnn_grid_reading_release(&reading);
}

static void a_constant_column_of_a_site_is_left_out(void **state)
{
  (void)state;
  struct gpnn_grid_reading reading;
  assert_ok(read_text(&reading, "lat\tlon\tday\ty\n1\t7\t1\t4\n2\t7\t2\t3\n", &site_and_day, false,
                      &err));
  assert_int_equal(reading.grid.factor[0].d, 1);
  assert_int_equal(reading.grid.factor[0].n_columns, 2);
  assert_int_equal(reading.dataset.d, 2);
  assert_true(reading.grid.factor[0].x[0] == -1 && reading.grid.factor[0].x[1] == 1);
  gpnn_grid_reading_release(&reading);
}

/* ---- the index ---------------------------------------------------------------------------- */

static const char with_names[] = "station,kind,date,z,pm\n"
                                 "north,a,2003-01-05,1,4\nsouth,a,2003-01-07,1,5\n"
                                 "north,b,2003-01-05,1,9\nnorth,b,2003-01-05,1,7\n"
                                 "south,b,2003-01-06,1,NA\n";
static const char *const dates[] = {"date"};
static const struct gpnn_grid_roles of_three = {
    .n_factors = 3,
    .factor = {{"station", "station"}, {"kind", "kind"}, {"time", "date,z"}},
    .n_dates = 1,
    .dates = dates};

static struct gpnn_index *keep(const struct gpnn_grid_reading *reading)
{
  struct gpnn_index *index = NULL;
  const char *path = scratch_path("grid");
  assert_ok(gpnn_index_write_grid(path, &reading->dataset, NULL, &err));
  assert_ok(gpnn_index_open(&index, path, true, &err));
  return index;
}

static void an_index_holds_the_grid_that_was_written(void **state)
{
  (void)state;
  struct gpnn_grid_reading reading;
  assert_ok(read_text(&reading, with_names, &of_three, false, &err));
  struct gpnn_index *index = keep(&reading);
  const struct gpnn_dataset *dataset = gpnn_index_dataset(index);
  const struct gpnn_grid *grid = dataset->grid, *wanted = &reading.grid;
  assert_non_null(grid);
  assert_null(dataset->x);
  assert_int_equal(dataset->n, 3);
  assert_int_equal(dataset->d, 3);
  assert_int_equal(dataset->n_groups, 3);
  assert_int_equal(grid->n_observations, 4);
  assert_true(grid->within == wanted->within && grid->within > 0);
  assert_memory_equal(grid->cell, wanted->cell, 3 * sizeof *grid->cell);
  assert_memory_equal(grid->y, wanted->y, 3 * sizeof *grid->y);
  assert_memory_equal(grid->counts, wanted->counts, 3 * sizeof *grid->counts);
  for (size_t a = 0; a < 3; a++) {
    const struct gpnn_grid_factor *factor = &grid->factor[a], *own = &wanted->factor[a];
    assert_string_equal(factor->name, own->name);
    assert_int_equal(factor->n, own->n);
    assert_int_equal(factor->d, own->d);
    assert_int_equal(factor->n_columns, own->n_columns);
    assert_memory_equal(factor->x, own->x, own->n * own->d * sizeof *own->x);
  }
  assert_string_equal(grid->factor[0].labels[1], "south");
  assert_null(grid->factor[2].labels);
  gpnn_index_close(index);
  gpnn_grid_reading_release(&reading);
}

static void a_grid_has_no_rows_to_search(void **state)
{
  (void)state;
  struct gpnn_grid_reading reading;
  struct gpnn_search *search = NULL;
  assert_ok(read_text(&reading, with_names, &of_three, false, &err));
  struct gpnn_index *index = keep(&reading);
  assert_fails(gpnn_dataset_search(gpnn_index_dataset(index), &search, &err), GPNN_EMISMATCH,
               "a grid has cells");
  assert_int_equal(gpnn_dataset_n_targets(gpnn_index_dataset(index)), 1);
  gpnn_index_close(index);
  gpnn_grid_reading_release(&reading);
}

static void rows_to_predict_are_read_by_name_in_units_of_the_levels(void **state)
{
  (void)state;
  struct gpnn_grid_reading reading;
  struct gpnn_reader reader;
  struct gpnn_record record;
  double x[3], noise;
  size_t n_unseen = 0;
  assert_ok(read_text(&reading, with_names, &of_three, false, &err));
  struct gpnn_index *index = keep(&reading);
  const struct gpnn_dataset *dataset = gpnn_index_dataset(index);
  struct gpnn_table *table = open_text("z,date,kind,station\n1,2003-01-07,b,south\n"
                                       "5,2003-01-09,a,north\n1,2003-01-07,c,south\n");
  assert_ok(gpnn_reader_open(&reader, dataset, table, false, &err));
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_reader_read(&reader, &record, x, NULL, &noise, &n_unseen, &err));
  assert_true(x[0] == 1 && x[1] == 1);
  assert_true(x[2] == dataset->grid->factor[2].x[1]); /* that of 7 January, the second level */
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_reader_read(&reader, &record, x, NULL, &noise, &n_unseen, &err));
  assert_true(x[0] == 0 && x[1] == 0);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_reader_read(&reader, &record, x, NULL, &noise, &n_unseen, &err), GPNN_EDATA,
               "column 'kind': not one of the names that the index has: \"c\"");
  gpnn_reader_release(&reader);
  gpnn_table_close(table);
  gpnn_index_close(index);
  gpnn_grid_reading_release(&reading);
}

/* ---- cost --------------------------------------------------------------------------------- */

/* The table of Lin et al. 2025, appendix A. */
static void break_even_shares_are_those_published(void **state)
{
  (void)state;
  static const struct {
    size_t p, q;
    double time, memory;
  } of[] = {{5000, 7, 0.622, 0.857}, {2000, 52, 0.860, 0.981}, {5000, 1000, 0.965, 0.999}};
  for (size_t i = 0; i < 3; i++) {
    const struct gpnn_grid_factor factor[] = {{.n = of[i].p}, {.n = of[i].q}};
    const struct gpnn_grid grid = {.n_factors = 2, .factor = factor, .n_cells = 10};
    struct gpnn_grid_cost cost = gpnn_grid_cost(&grid);
    double p = (double)of[i].p, q = (double)of[i].q;
    assert_close(cost.missing_time, of[i].time, 6e-4);
    assert_close(cost.missing_memory, of[i].memory, 6e-4);
    assert_close(cost.missing_time, 1 - sqrt(1 / p + 1 / q), 1e-12);
    assert_close(cost.flops, 2 * p * p * q + 2 * p * q * q, 1e-12 * cost.flops);
    assert_true(cost.factors == 8 * (p * p + q * q) && cost.pivoted == 8000);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_long_table_becomes_sorted_cells_with_means),
      cmocka_unit_test(sites_are_scaled_over_levels_and_times_stay_as_they_are),
      cmocka_unit_test(levels_invert_the_number_of_a_cell),
      cmocka_unit_test(a_wide_table_is_the_same_grid),
      cmocka_unit_test(names_of_columns_say_when),
      cmocka_unit_test(names_are_levels_with_labels),
      cmocka_unit_test(tables_that_are_no_grid_are_refused),
      cmocka_unit_test(bad_rows_are_left_out_and_leave_nothing_behind),
      cmocka_unit_test(a_constant_column_of_a_site_is_left_out),
      cmocka_unit_test(an_index_holds_the_grid_that_was_written),
      cmocka_unit_test(a_grid_has_no_rows_to_search),
      cmocka_unit_test(rows_to_predict_are_read_by_name_in_units_of_the_levels),
      cmocka_unit_test(break_even_shares_are_those_published),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
