#include "profile/advice.h"
#include "scratch.h"
#include "unit.h"

/* A table in the making: a header, and rows that are made from their number. */
struct made {
  struct gpnn_table *table;
  struct gpnn_profile profile;
  struct gpnn_advice advice;
};

/* Advises on 'rows' rows that begin with 'first', in which a '%' is the row's number. */
static void advise(struct made *made, const char *header, size_t rows,
                   void (*write)(char *, size_t), const struct gpnn_roles *roles)
{
  const struct gpnn_table_options as_usual = GPNN_TABLE_OPTIONS_INIT;
  struct gpnn_schema schema = {0};
  struct gpnn_record record;
  enum gpnn_status status;
  char *text = malloc(strlen(header) + 200 * rows + 2), *to = text + sprintf(text, "%s\n", header);
  for (size_t i = 0; i < rows; i++) {
    write(to, i);
    to += strlen(to);
    *to++ = '\n';
  }
  *to = '\0';
  *made = (struct made){NULL, {0}, {0}};
  assert_ok(gpnn_table_open(&made->table, scratch_text("t.csv", text), &as_usual, &err));
  assert_ok(gpnn_schema_choose(&schema, made->table, roles, &err));
  assert_ok(gpnn_profile_make(&made->profile, made->table, &schema, &err));
  while ((status = gpnn_table_next(made->table, &record, NULL)) != GPNN_END) {
    if (status == GPNN_OK)
      assert_ok(gpnn_profile_add(&made->profile, &record, &err));
    else
      gpnn_profile_add_malformed(&made->profile, 1, record.raw[0] == '#', record.line);
  }
  assert_ok(gpnn_advice_make(&made->advice, &made->profile, 0, &err));
  gpnn_schema_release(&schema);
  free(text);
}

static void release(struct made *made)
{
  gpnn_advice_release(&made->advice);
  gpnn_profile_release(&made->profile);
  gpnn_table_close(made->table);
}

static const struct gpnn_roles no_roles = {0};

static void write_clean(char *to, size_t i)
{
  sprintf(to, "%zu,%g,%zu", i % 17, (double)i / 7, i * i);
}

static void nothing_is_said_about_a_clean_table(void **state)
{
  (void)state;
  struct made made;
  advise(&made, "a,b,y", 100, write_clean, &no_roles);
  assert_true(gpnn_advice_is_none(&made.advice));
  assert_int_equal(made.advice.decimal, '.');
  assert_false(made.advice.thousands);
  assert_null(made.advice.strip);
  assert_null(made.advice.missing);
  assert_int_equal(made.advice.skip, GPNN_SKIP_NONE);
  release(&made);
}

static void write_kinds(char *to, size_t i)
{
  sprintf(to, "u%zu,%s,c%zu,%zu/%zu/2020,%zu,same,%zu", i, i % 3 ? "red" : "blue", i % 70,
          1 + i % 28, 1 + i % 12, i, i % 11);
}

static void columns_are_judged_by_what_they_hold(void **state)
{
  (void)state;
  struct made made;
  advise(&made, "u,few,many,d,row_id,same,y", 200, write_kinds, &no_roles);
  const struct gpnn_column_advice *columns = made.advice.columns;
  assert_int_equal(columns[0].kind, GPNN_ADVICE_DROP);
  assert_int_equal(columns[0].reason, GPNN_DROP_ALL_DIFFERENT);
  assert_int_equal(columns[1].kind, GPNN_ADVICE_CATEGORY);
  assert_int_equal(columns[1].n_levels, 2);
  assert_int_equal(columns[2].kind, GPNN_ADVICE_CODED);
  assert_int_equal(columns[2].n_levels, 70);
  assert_int_equal(columns[3].kind, GPNN_ADVICE_DATES);
  assert_string_equal(columns[3].format, "%d/%m/%Y");
  assert_null(columns[3].other_format);
  assert_int_equal(columns[4].kind, GPNN_ADVICE_DROP);
  assert_int_equal(columns[4].reason, GPNN_DROP_COUNTS_ROWS);
  assert_int_equal(columns[5].reason, GPNN_DROP_ONE_TEXT);
  assert_int_equal(columns[6].kind, GPNN_ADVICE_NUMBERS);
  assert_int_equal(columns[1].n_bad, 200);
  assert_int_equal(columns[6].n_bad, 0);
  release(&made);
}

/* The same numbers in four notations. */
static void write_commas(char *to, size_t i)
{
  sprintf(to, "\"%zu,%zu\";%zu;\"%zu\"", i, i % 10, i, i);
}

static void write_thousands(char *to, size_t i)
{
  sprintf(to, "\"%zu,%03zu\",%zu.5,%zu", 1 + i % 900, i % 1000, i, i);
}

static void write_european(char *to, size_t i)
{
  sprintf(to, "%zu.%03zu;%zu,5;%zu", 1 + i % 900, i % 1000, i, i);
}

static void write_either(char *to, size_t i)
{
  sprintf(to, "\"%zu,%03zu\",%zu", 1 + i % 900, i % 1000, i);
}

static void decimal_mark_and_thousands_are_those_of_the_whole_table(void **state)
{
  (void)state;
  struct made made;
  advise(&made, "a;b;y", 50, write_commas, &no_roles);
  assert_int_equal(made.advice.decimal, ',');
  assert_false(made.advice.thousands);
  release(&made);
  advise(&made, "a,b,y", 50, write_thousands, &no_roles);
  assert_int_equal(made.advice.decimal, '.');
  assert_true(made.advice.thousands);
  assert_false(made.advice.is_ambiguous);
  release(&made);
  advise(&made, "a;b;y", 50, write_european, &no_roles);
  assert_int_equal(made.advice.decimal, ',');
  assert_true(made.advice.thousands);
  assert_int_equal(made.advice.columns[0].kind, GPNN_ADVICE_NUMBERS);
  release(&made);
  advise(&made, "a,y", 50, write_either, &no_roles);
  assert_int_equal(made.advice.decimal, '.');
  assert_true(made.advice.thousands);
  assert_true(made.advice.is_ambiguous);
  release(&made);
}

static void write_mixed(char *to, size_t i)
{
  sprintf(to, "\"%zu,5\";\"%zu,25\";%zu.75;%zu", i, i, i, i);
}

static void a_column_with_the_other_mark_is_dropped(void **state)
{
  (void)state;
  struct made made;
  advise(&made, "a;b;c;y", 50, write_mixed, &no_roles);
  assert_int_equal(made.advice.decimal, ',');
  assert_int_equal(made.advice.columns[2].kind, GPNN_ADVICE_DROP);
  assert_int_equal(made.advice.columns[2].reason, GPNN_DROP_OTHER_MARK);
  release(&made);
}

static void write_affixes(char *to, size_t i)
{
  sprintf(to, "$%zu,%zu%%,%zu %s,%zu%s,%zu", i, i, i, i % 2 ? "km" : "m", i, i % 2 ? "" : "kg", i);
}

/* $5 and 5 are the same; 5 km and 5 m are not, nor are 5 kg and 5 of who knows what. */
static void affixes_are_stripped_where_nothing_is_lost(void **state)
{
  (void)state;
  struct made made;
  advise(&made, "price,share,length,weight,y", 50, write_affixes, &no_roles);
  assert_string_equal(made.advice.strip, "$,%");
  assert_int_equal(made.advice.columns[2].reason, GPNN_DROP_MIXED_UNITS);
  assert_int_equal(made.advice.columns[3].reason, GPNN_DROP_MIXED_UNITS);
  release(&made);
}

static void write_missing(char *to, size_t i)
{
  static const char *const none[] = {"n/a", "-", "?"};
  if (i % 20 == 3)
    sprintf(to, "%s,%s,%zu,%zu", none[i / 20 % 3], i % 40 == 3 ? "?" : "red", i, i);
  else
    sprintf(to, "%zu,%s,%s,%zu", i, i % 2 ? "red" : "blue", i % 10 ? "-999" : "5", i);
}

static void texts_for_missing_values_are_listed_unless_a_category_has_them(void **state)
{
  (void)state;
  struct made made;
  advise(&made, "a,c,b,y", 120, write_missing, &no_roles);
  assert_string_equal(made.advice.missing, "n/a,-");
  assert_int_equal(made.advice.columns[1].kind, GPNN_ADVICE_CATEGORY);
  assert_int_equal(made.advice.columns[1].n_levels, 3);
  assert_int_equal(made.advice.n_lost, 6);
  assert_int_equal(made.advice.skip, GPNN_SKIP_SOME);
  release(&made);
}

static void write_codes(char *to, size_t i)
{
  sprintf(to, "%s,%s,%s,%zu", i % 25 ? "12.5" : "-999",
          i % 25   ? "1"
          : i % 50 ? "-99"
                   : "-120",
          i == 7 ? "-9999" : "3", i);
}

/* -999 is far from the rest and occurs often; -99 is among the numbers; -9999 occurs once. */
static void numbers_far_from_the_rest_stand_for_missing_values(void **state)
{
  (void)state;
  struct made made;
  advise(&made, "a,b,c,y", 200, write_codes, &no_roles);
  assert_string_equal(made.advice.missing, "-999");
  assert_int_equal(made.advice.columns[0].n_codes, 8);
  assert_int_equal(made.advice.n_lost, 8);
  release(&made);
}

static void write_codes_elsewhere(char *to, size_t i)
{
  sprintf(to, "%s,%zu,%zu", i % 25 ? "12.5" : "-999", i, i * 10);
  if (i % 50 == 1) sprintf(to, "12.5,-999,%zu", i * 10);
  if (i == 2) sprintf(to, "12.5,-5000,%zu", i * 10);
}

static void a_code_that_is_a_number_elsewhere_is_left_alone(void **state)
{
  (void)state;
  struct made made;
  advise(&made, "a,b,y", 200, write_codes_elsewhere, &no_roles);
  assert_null(made.advice.missing);
  assert_int_equal(made.advice.n_lost, 0);
  release(&made);
}

static void write_gaps(char *to, size_t i)
{
  sprintf(to, "%s,%s,%s,%zu", i % 5 < 3 ? "" : "1", i % 10 == 0 ? "" : "2", "3", i);
}

static void a_column_that_is_mostly_missing_is_dropped_rather_than_rows(void **state)
{
  (void)state;
  struct made made;
  advise(&made, "a,b,c,y", 100, write_gaps, &no_roles);
  assert_int_equal(made.advice.columns[0].reason, GPNN_DROP_MOSTLY_MISSING);
  assert_int_equal(made.advice.columns[1].kind, GPNN_ADVICE_NUMBERS);
  assert_int_equal(made.advice.n_lost, 10);
  assert_int_equal(made.advice.skip, GPNN_SKIP_SOME);
  release(&made);
}

static void write_holes(char *to, size_t i)
{
  sprintf(to, "%s,%s,%s,%zu", i % 10 < 4 ? "" : "1", i % 10 >= 4 && i % 10 < 7 ? "" : "2",
          i % 10 == 9 ? "" : "3", i);
}

/* Each column by itself lacks less than half, together they lack 8 of 10. */
static void columns_are_dropped_until_half_of_the_rows_remain(void **state)
{
  (void)state;
  struct made made;
  advise(&made, "a,b,c,y", 100, write_holes, &no_roles);
  assert_int_equal(made.advice.columns[0].reason, GPNN_DROP_FOR_ROWS);
  assert_int_equal(made.advice.columns[0].kind, GPNN_ADVICE_DROP);
  assert_int_equal(made.advice.columns[1].kind, GPNN_ADVICE_NUMBERS);
  assert_int_equal(made.advice.n_lost, 40);
  assert_int_equal(made.advice.skip, GPNN_SKIP_ALL);
  release(&made);
}

static void write_trailing(char *to, size_t i)
{
  sprintf(to, "%zu,%zu,%s,", i, i * 2, i % 2 ? "red" : "blue");
}

static void write_names(char *to, size_t i)
{
  sprintf(to, "%zu,%zu,name %zu", i, i * 2, i);
}

/* Whether it was asked for, or is the last column. */
static void no_other_target_is_taken_for_one_that_cannot_be_used(void **state)
{
  (void)state;
  struct made made;
  advise(&made, "a,b,c", 50, write_names, &(struct gpnn_roles){.target = "c"});
  assert_true(made.advice.is_stuck);
  assert_int_equal(made.advice.stuck_column, 2);
  release(&made);
  advise(&made, "a,b,c", 50, write_names, &no_roles);
  assert_true(made.advice.is_stuck);
  assert_int_equal(made.advice.stuck_column, 2);
  release(&made);
  advise(&made, "a,b,c,", 50, write_trailing, &no_roles);
  assert_false(made.advice.is_stuck);
  assert_int_equal(made.advice.columns[3].reason, GPNN_DROP_EMPTY);
  assert_int_equal(made.advice.columns[2].kind, GPNN_ADVICE_CLASSES);
  release(&made);
}

static void write_classes(char *to, size_t i)
{
  static const char *const classes[] = {"red", "blue", "?", "", "7", "3 km"};
  sprintf(to, "%zu,%s", i, classes[i % 20 < 14 ? i % 2 : i % 6]);
}

/* Texts that usually stand for a missing value are classes too; those of which some are numbers
 * have to be asked for. */
static void a_target_of_repeated_texts_is_classes(void **state)
{
  (void)state;
  struct made made;
  advise(&made, "a,c", 120, write_classes, &no_roles);
  const struct gpnn_column_advice *c = &made.advice.columns[1];
  assert_int_equal(c->kind, GPNN_ADVICE_CLASSES);
  assert_int_equal(c->n_levels, 5);
  assert_int_equal(c->n_bad, made.profile.columns[1].n_missing);
  assert_true(c->n_bad > 0 && c->needs_classes);
  assert_int_equal(made.advice.n_lost, c->n_bad);
  assert_true(made.advice.missing == NULL);
  assert_false(made.advice.is_stuck);
  release(&made);
  advise(&made, "a,b,c,", 50, write_trailing, &(struct gpnn_roles){.target = "c", .drop = "4"});
  assert_int_equal(made.advice.columns[2].kind, GPNN_ADVICE_CLASSES);
  assert_true(gpnn_advice_is_none(&made.advice));
  release(&made);
}

/* What the user says is classes is not judged. */
static void classes_that_were_asked_for_may_be_anything(void **state)
{
  (void)state;
  struct made made;
  advise(&made, "a,b,c", 50, write_names, &(struct gpnn_roles){.classes = true});
  assert_int_equal(made.advice.columns[2].kind, GPNN_ADVICE_AS_ASKED);
  assert_true(gpnn_advice_is_none(&made.advice));
  release(&made);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_said_about_a_clean_table),
      cmocka_unit_test(columns_are_judged_by_what_they_hold),
      cmocka_unit_test(decimal_mark_and_thousands_are_those_of_the_whole_table),
      cmocka_unit_test(a_column_with_the_other_mark_is_dropped),
      cmocka_unit_test(affixes_are_stripped_where_nothing_is_lost),
      cmocka_unit_test(texts_for_missing_values_are_listed_unless_a_category_has_them),
      cmocka_unit_test(numbers_far_from_the_rest_stand_for_missing_values),
      cmocka_unit_test(a_code_that_is_a_number_elsewhere_is_left_alone),
      cmocka_unit_test(a_column_that_is_mostly_missing_is_dropped_rather_than_rows),
      cmocka_unit_test(columns_are_dropped_until_half_of_the_rows_remain),
      cmocka_unit_test(no_other_target_is_taken_for_one_that_cannot_be_used),
      cmocka_unit_test(a_target_of_repeated_texts_is_classes),
      cmocka_unit_test(classes_that_were_asked_for_may_be_anything),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
