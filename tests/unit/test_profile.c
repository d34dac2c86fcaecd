#include "profile/profile.h"
#include "scratch.h"
#include "unit.h"

/* Profiles all rows of 'text', with the last column as target. */
static struct gpnn_table *profile_text(const char *text, const struct gpnn_roles *roles,
                                       struct gpnn_profile *profile)
{
  const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;
  struct gpnn_table *table = NULL;
  struct gpnn_schema schema = {0};
  struct gpnn_record record;
  enum gpnn_status status;
  *profile = (struct gpnn_profile){0};
  assert_ok(gpnn_table_open(&table, scratch_text("t.csv", text), &as_usual, &err));
  assert_ok(gpnn_schema_choose(&schema, table, roles, &err));
  assert_ok(gpnn_profile_make(profile, table, &schema, &err));
  while ((status = gpnn_table_next(table, &record, NULL)) != GPNN_END) {
    if (status == GPNN_OK)
      assert_ok(gpnn_profile_add(profile, &record, &err));
    else
      gpnn_profile_add_malformed(profile, 1, record.raw[0] == '#', record.line);
  }
  gpnn_schema_release(&schema);
  return table;
}

static void release(struct gpnn_table *table, struct gpnn_profile *profile)
{
  gpnn_profile_release(profile);
  gpnn_table_close(table);
}

static void cells_are_counted_by_column_with_the_first_of_each_kind(void **state)
{
  (void)state;
  struct gpnn_profile profile;
  const struct gpnn_roles roles = {0};
  struct gpnn_table *table = profile_text("a,b,c,y\n1,2020-01-31,red,1\n\"2,000\",n/a,blue,2\n"
                                          "x,2020-02-28,red,3\n,inf,NA,\n$5,7,red,-999\n1,2\n",
                                          &roles, &profile);
  const struct gpnn_column_profile *a = &profile.columns[0], *b = &profile.columns[1];
  const struct gpnn_column_profile *c = &profile.columns[2], *y = &profile.columns[3];
  assert_int_equal(profile.n_rows, 5);
  assert_int_equal(profile.n_malformed, 1);
  assert_int_equal(profile.malformed_line, 7);
  assert_int_equal(gpnn_profile_numbers(a), 3);
  assert_int_equal(a->forms[GPNN_FORM_COMMA_3], 1);
  assert_int_equal(a->n_missing, 1);
  assert_int_equal(a->missing_line, 5);
  assert_int_equal(a->n_missing_text, 0);
  assert_int_equal(a->odd->n_written, 1);
  assert_int_equal(a->odd->n_text, 1);
  assert_int_equal(a->odd->first[GPNN_EXAMPLE_TEXT].line, 4);
  assert_string_equal(a->odd->first[GPNN_EXAMPLE_TEXT].text, "x");
  assert_int_equal(a->odd->n_affixed, 1);
  assert_string_equal(a->odd->affixes[0], "$");
  assert_true(a->odd->are_currencies);
  assert_int_equal(b->odd->n_dates, 2);
  assert_int_equal(b->odd->n_like_missing, 1);
  assert_string_equal(b->odd->like_missing[0].text, "n/a");
  assert_int_equal(b->odd->n_not_finite, 1);
  assert_int_equal(c->odd->n_text, 4);
  assert_int_equal(c->odd->levels.n, 2);
  assert_int_equal(c->n_missing_text, 1);
  assert_null(y->odd);
  assert_int_equal(y->n_codes, 1);
  assert_near(y->codes[0].value, -999, 0);
  assert_near(y->low, 1, 0);
  assert_near(y->high, 3, 0);
  release(table, &profile);
}

static void columns_without_a_role_are_not_looked_at(void **state)
{
  (void)state;
  struct gpnn_profile profile;
  const struct gpnn_roles roles = {.drop = "a", .one_hot = "b"};
  struct gpnn_table *table = profile_text("a,b,y\nx,x,1\ny,,2\n", &roles, &profile);
  assert_null(profile.columns[0].odd);
  assert_null(profile.columns[1].odd);
  assert_int_equal(profile.columns[0].n_missing, 0);
  assert_int_equal(profile.columns[1].n_missing, 1);
  assert_int_equal(profile.columns[1].role, GPNN_PROFILE_CODED);
  release(table, &profile);
}

static void texts_are_told_apart_up_to_a_hundred_thousand(void **state)
{
  (void)state;
  enum { ROWS = GPNN_CODED_MAX + 500 };
  struct gpnn_profile profile;
  const struct gpnn_roles roles = {0};
  char *text = malloc(40 * ROWS), *to = text + sprintf(text, "few,many,y\n");
  for (size_t i = 0; i < ROWS; i++) to += sprintf(to, "f%zu,m%zu,1\n", i % 7, i);
  struct gpnn_table *table = profile_text(text, &roles, &profile);
  assert_int_equal(profile.columns[0].odd->levels.n, 7);
  assert_int_equal(profile.columns[0].odd->n_counted, ROWS);
  assert_int_equal(profile.columns[1].odd->levels.n, GPNN_CODED_MAX + 1);
  assert_int_equal(profile.columns[1].odd->n_counted, GPNN_CODED_MAX + 1);
  release(table, &profile);
  free(text);
}

static void a_column_that_counts_the_rows_is_known_by_its_steps(void **state)
{
  (void)state;
  struct gpnn_profile profile;
  const struct gpnn_roles roles = {0};
  struct gpnn_table *table =
      profile_text("id,t,y\n7,1,1\n8,2,1\n9,4,1\n10,5,1\n", &roles, &profile);
  assert_int_equal(profile.columns[0].n_rows_counted, 4);
  assert_int_equal(profile.columns[1].n_rows_counted, 2);
  release(table, &profile);
}

/* ---- patterns ---------------------------------------------------------------------------- */

static bool needs_column(const void *context, const struct gpnn_lack *lack)
{
  const bool *needed = context;
  return needed[lack->column];
}

/* Against a count over all rows. */
static void rows_are_counted_that_lack_a_column_that_is_needed(void **state)
{
  (void)state;
  enum { ROWS = 500, COLUMNS = 6 };
  struct gpnn_patterns patterns = {0};
  static bool lacks[ROWS][COLUMNS];
  unsigned random = 1;
  for (size_t i = 0; i < ROWS; i++) {
    struct gpnn_lack row[COLUMNS];
    size_t n = 0;
    for (uint32_t j = 0; j < COLUMNS; j++) {
      random = random * 1664525 + 1013904223;
      lacks[i][j] = random >> 24 < 30;
      if (lacks[i][j]) row[n++] = (struct gpnn_lack){j, 0};
    }
    if (n > 0) assert_ok(gpnn_patterns_add(&patterns, n, row, &err));
  }
  for (unsigned set = 0; set < 1 << COLUMNS; set++) {
    bool needed[COLUMNS];
    size_t expected = 0;
    for (size_t j = 0; j < COLUMNS; j++) needed[j] = set >> j & 1;
    for (size_t i = 0; i < ROWS; i++) {
      bool lost = false;
      for (size_t j = 0; j < COLUMNS; j++) lost = lost || (needed[j] && lacks[i][j]);
      expected += lost;
    }
    assert_int_equal(gpnn_patterns_count(&patterns, needs_column, needed), expected);
  }
  gpnn_patterns_release(&patterns);
}

static void rows_without_a_place_count_as_lost(void **state)
{
  (void)state;
  enum { ROWS = 70000 };
  struct gpnn_patterns patterns = {0};
  for (uint32_t i = 0; i < ROWS; i++) {
    const struct gpnn_lack row[] = {{0, i % 8}, {1 + i, 0}};
    assert_ok(gpnn_patterns_add(&patterns, 2, row, &err));
  }
  assert_true(patterns.n_placeless > 0);
  assert_int_equal(patterns.n + patterns.n_placeless, ROWS);
  bool *none = calloc(ROWS + 1, sizeof *none);
  assert_int_equal(gpnn_patterns_count(&patterns, needs_column, none), patterns.n_placeless);
  none[0] = true;
  assert_int_equal(gpnn_patterns_count(&patterns, needs_column, none), ROWS);
  free(none);
  gpnn_patterns_release(&patterns);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cells_are_counted_by_column_with_the_first_of_each_kind),
      cmocka_unit_test(columns_without_a_role_are_not_looked_at),
      cmocka_unit_test(texts_are_told_apart_up_to_a_hundred_thousand),
      cmocka_unit_test(a_column_that_counts_the_rows_is_known_by_its_steps),
      cmocka_unit_test(rows_are_counted_that_lack_a_column_that_is_needed),
      cmocka_unit_test(rows_without_a_place_count_as_lost),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
