#include "profile/cell.h"
#include "unit.h"

static struct gpnn_cell look(const char *text)
{
  struct gpnn_date_guess dates = {0};
  struct gpnn_cell cell;
  gpnn_cell_look(&(struct gpnn_field){text, strlen(text)}, &dates, &cell);
  return cell;
}

static void numbers_have_the_form_they_are_written_in(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    enum gpnn_cell_form form;
  } known[] = {
      {"7", GPNN_FORM_INTEGER},
      {" -1234 ", GPNN_FORM_INTEGER},
      {"12e3", GPNN_FORM_INTEGER},
      {"12.5", GPNN_FORM_POINT},
      {".5", GPNN_FORM_POINT},
      {"5.", GPNN_FORM_POINT},
      {"0.123", GPNN_FORM_POINT},
      {"1234.567", GPNN_FORM_POINT},
      {"1.234e5", GPNN_FORM_POINT},
      {"1.234", GPNN_FORM_POINT_3},
      {"12,5", GPNN_FORM_COMMA},
      {",5", GPNN_FORM_COMMA},
      {"0,123", GPNN_FORM_COMMA},
      {"1234,567", GPNN_FORM_COMMA},
      {"1,2345", GPNN_FORM_COMMA},
      {"1,234", GPNN_FORM_COMMA_3},
      {"-999,999", GPNN_FORM_COMMA_3},
      {"1,234,567", GPNN_FORM_COMMA_GROUPS},
      {"1,234.5", GPNN_FORM_COMMA_GROUPS},
      {"1,234,567.25", GPNN_FORM_COMMA_GROUPS},
      {"1.234.567", GPNN_FORM_POINT_GROUPS},
      {"1.234,5", GPNN_FORM_POINT_GROUPS},
      {"1 234", GPNN_FORM_OTHER_GROUPS},
      {"1'234'567", GPNN_FORM_OTHER_GROUPS},
      {"1\xc2\xa0"
       "234",
       GPNN_FORM_OTHER_GROUPS},
      {"1\xa0"
       "234",
       GPNN_FORM_OTHER_GROUPS},
      {"1 234.5", GPNN_FORM_OTHER_POINT},
      {"1 234,5", GPNN_FORM_OTHER_COMMA},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    enum gpnn_cell_form form = GPNN_FORMS;
    if (!gpnn_cell_number(known[i].text, strlen(known[i].text), &form) || form != known[i].form)
      fail_msg("\"%s\" has form %d, not %d", known[i].text, (int)form, (int)known[i].form);
    assert_int_equal(look(known[i].text).kind, GPNN_CELL_NUMBER);
  }
}

static void other_texts_are_no_numbers(void **state)
{
  (void)state;
  static const char *const others[] = {
      "",     " ",       "-",           ".",      ",",           "1,23,456", "1..2",
      "1,,2", "12,34.5", "1 2",         "1 2345", "1.2.3",       "e5",       "1e",
      "--5",  "1,234 5", "1'234,567.8", "0x1f",   "1.234,567.8", "12 345 6"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    enum gpnn_cell_form form;
    if (gpnn_cell_number(others[i], strlen(others[i]), &form))
      fail_msg("\"%s\" counts as a number of form %d", others[i], (int)form);
  }
}

static void texts_for_missing_values_are_known_in_either_case(void **state)
{
  (void)state;
  static const char *const known[] = {"n/a", "N/A", "NaN",  "null", "None",    "-",   "--",
                                      "?",   ".",   "#N/A", " NA ", "unknown", "\\N", "#DIV/0!"};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    assert_int_equal(look(known[i]).kind, GPNN_CELL_LIKE_MISSING);
  assert_int_equal(look("nab").kind, GPNN_CELL_TEXT);
  assert_int_equal(look("inf").kind, GPNN_CELL_NOT_FINITE);
  assert_int_equal(look("1e999").kind, GPNN_CELL_NOT_FINITE);
}

static void a_currency_or_a_unit_beside_a_number_is_an_affix(void **state)
{
  (void)state;
  static const struct {
    const char *text, *affix;
    enum gpnn_cell_form form;
    bool is_currency;
  } known[] = {
      {"$5", "$", GPNN_FORM_INTEGER, true},
      {"-$1,234.50", "$", GPNN_FORM_COMMA_GROUPS, true},
      {"$-5", "$", GPNN_FORM_INTEGER, true},
      {"EUR 12,5", "EUR", GPNN_FORM_COMMA, true},
      {"12,5 \xe2\x82\xac", "\xe2\x82\xac", GPNN_FORM_COMMA, true},
      {"12%", "%", GPNN_FORM_INTEGER, false},
      {"3.5 km/h", "km/h", GPNN_FORM_POINT, false},
      {"21 \xc2\xb0"
       "C",
       "\xc2\xb0"
       "C",
       GPNN_FORM_INTEGER, false},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    struct gpnn_cell cell = look(known[i].text);
    if (cell.kind != GPNN_CELL_AFFIXED) fail_msg("\"%s\" is %d", known[i].text, (int)cell.kind);
    assert_string_equal(cell.affix, known[i].affix);
    assert_int_equal(cell.form, known[i].form);
    assert_int_equal(cell.is_currency, known[i].is_currency);
  }
}

/* What would be lost by stripping is no affix. */
static void marks_that_mean_something_are_no_affixes(void **state)
{
  (void)state;
  static const char *const others[] = {"<5",    ">0.1",  "5*", "5+",   "A12",
                                       "12-14", "5 (a)", "~5", "$5 M", "12 a long comment",
                                       "5\xb0", "x5"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (look(others[i]).kind != GPNN_CELL_TEXT)
      fail_msg("\"%s\" is %d", others[i], (int)look(others[i]).kind);
}

static void negative_numbers_of_accounts_are_numbers(void **state)
{
  (void)state;
  assert_int_equal(look("(5)").kind, GPNN_CELL_NUMBER);
  assert_int_equal(look("(4,896)").kind, GPNN_CELL_NUMBER);
  assert_int_equal(look("5-").kind, GPNN_CELL_NUMBER);
  assert_int_equal(look("($5)").kind, GPNN_CELL_AFFIXED);
  assert_int_equal(look("(-5)").kind, GPNN_CELL_TEXT);
}

static void dates_are_dates_only_in_the_formats_left(void **state)
{
  (void)state;
  struct gpnn_date_guess dates = {0};
  struct gpnn_cell cell;
  const struct gpnn_field first = {"31/12/2014", 10}, second = {"12/31/2014", 10};
  gpnn_cell_look(&first, &dates, &cell);
  assert_int_equal(cell.kind, GPNN_CELL_DATE);
  gpnn_cell_look(&second, &dates, &cell);
  assert_int_equal(cell.kind, GPNN_CELL_TEXT);
  gpnn_cell_look(&first, NULL, &cell);
  assert_int_equal(cell.kind, GPNN_CELL_TEXT);
  assert_int_equal(look("01.02.2020").kind, GPNN_CELL_DATE);
  assert_int_equal(look("2020-02-01T12:30:00").kind, GPNN_CELL_DATE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_have_the_form_they_are_written_in),
      cmocka_unit_test(other_texts_are_no_numbers),
      cmocka_unit_test(texts_for_missing_values_are_known_in_either_case),
      cmocka_unit_test(a_currency_or_a_unit_beside_a_number_is_an_affix),
      cmocka_unit_test(marks_that_mean_something_are_no_affixes),
      cmocka_unit_test(negative_numbers_of_accounts_are_numbers),
      cmocka_unit_test(dates_are_dates_only_in_the_formats_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
