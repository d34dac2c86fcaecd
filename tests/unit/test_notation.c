/*
 * Values in the notations that tables use.
 */
#include <math.h>
#include <string.h>

#include "scratch.h"
#include "table/notation.h"

static void missing_values_are_empty_or_as_named(void **state)
{
  (void)state;
  static const struct {
    const char *text, *na;
    bool missing;
  } cases[] = {{"", "NA", true},
               {"NA", "NA", true},
               {"na", "NA", false},
               {"NAN", "NA", false},
               {"N", "NA", false},
               {" NA\t", "NA", true},
               {"  ", "NA", true},
               {"NA", NULL, true},
               {"NA", "", false},
               {"-", "n/a,-", true},
               {"n/a", " n/a ,-", true},
               {"-999.0", "x,-999", true},
               {"", "", true},
               {"", NULL, true},
               {"-99999", "-99999", true},
               {"-99999.0", "-99999", true},
               {" -9.9999e4 ", "-99999", true},
               {"-99998", "-99999", false},
               {"+5", "5", true},
               {".5", "0.5", true},
               {"0.50", ".5", true},
               {"05", "5", true},
               {"100000", "1e+05", true},
               {"5x", "5", false},
               {"5", "5x", false},
               {"0", "NA", false},
               {"nan", "nan", true},
               {"-", "-", true},
               {"-0", "0", true},
               {"-1", "-", false},
               {"-999", "-999", true},
               {"0", "", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct gpnn_notation notation = {.missing = cases[i].na};
    struct gpnn_values values;
    assert_ok(gpnn_values_make(&values, &notation, &err));
    if (gpnn_values_missing(&values, cases[i].text, strlen(cases[i].text)) != cases[i].missing)
      fail_msg("\"%s\" is taken wrongly", cases[i].text);
    gpnn_values_release(&values);
  }
}

/* The usual notation; German; with everything. */
static const struct gpnn_notation usual = {.missing = NULL}, comma = {.decimal = ','},
                                  german = {.decimal = ',', .thousands = true},
                                  groups = {.thousands = true},
                                  money = {.thousands = true, .strip = "$,EUR,%,\xe2\x82\xac"};

struct number_case {
  const struct gpnn_notation *notation;
  const char *text;
  double value; /* NAN: not a number */
};

static void check_numbers(size_t n, const struct number_case *cases)
{
  for (size_t i = 0; i < n; i++) {
    struct gpnn_values values;
    double value = 99;
    assert_ok(gpnn_values_make(&values, cases[i].notation, &err));
    enum gpnn_number read =
        gpnn_values_number(&values, cases[i].text, strlen(cases[i].text), &value);
    bool is_good = cases[i].value == cases[i].value
                       ? read == GPNN_NUMBER_OK && value == cases[i].value
                       : read == GPNN_NUMBER_BAD && value == 99;
    if (!is_good) fail_msg("\"%s\" is read wrongly", cases[i].text);
    gpnn_values_release(&values);
  }
}

static const double BAD = 0.0 / 0.0;

static void a_number_is_read_as_it_is_written(void **state)
{
  (void)state;
  const struct number_case cases[] = {
      {&usual, "1.5", 1.5},
      {&usual, "1,5", BAD},
      {&usual, "1,500", BAD},
      {&comma, "1,5", 1.5},
      {&comma, "-1,5e3", -1500},
      {&comma, "1.5", BAD},
      {&comma, "1.500", BAD},
      {&comma, "12", 12},
      {&comma, "1,5,2", BAD},
      {&comma, ",", BAD},
      {&german, "1.234.567,25", 1234567.25},
      {&german, "1.234", 1234},
      {&german, "1,234", 1.234},
      {&german, "1.23", BAD},
      {&groups, "1,234,567.25", 1234567.25},
      {&groups, "-12,345", -12345},
      {&groups, "+12,345e1", 123450},
      {&groups, "1234567", 1234567},
      {&groups, "1234,567", BAD},
      {&groups, "1,23", BAD},
      {&groups, "1,2345", BAD},
      {&groups, "1,234 567", BAD},
      {&groups, "1 234 567", 1234567},
      {&groups, "1'234'567.5", 1234567.5},
      {&groups, "1_234", 1234},
      {&groups,
       "1\xc2\xa0"
       "234",
       1234},
      {&groups,
       "1\xe2\x80\xaf"
       "234",
       1234},
      {&groups,
       "1\xa0"
       "234",
       1234},
      {&groups,
       "1\x92"
       "234.5",
       1234.5},
      {&groups, ",234", BAD},
      {&groups, "1,234,", BAD},
      {&groups, " 1,234 ", 1234},
  };
  check_numbers(sizeof cases / sizeof *cases, cases);
}

static void what_stands_beside_a_number_is_stripped(void **state)
{
  (void)state;
  const struct number_case cases[] = {
      {&money, "$1,234.50", 1234.5},
      {&money, "-$5", -5},
      {&money, "$-5", -5},
      {&money, "- $ 5", -5},
      {&money, "-$-5", BAD},
      {&money, "5 %", 5},
      {&money, "5%", 5},
      {&money, "EUR 7.5", 7.5},
      {&money, "7.5EUR", 7.5},
      {&money, "\xe2\x82\xac 9", 9},
      {&money, "$", BAD},
      {&money, "", BAD},
      {&money, "EU 7", BAD},
      {&money, "$ 5 %", 5},
      {&money, "12", 12},
  };
  check_numbers(sizeof cases / sizeof *cases, cases);
}

static void negative_numbers_are_read_as_accounts_write_them(void **state)
{
  (void)state;
  const struct number_case cases[] = {{&usual, "(5)", -5},
                                      {&usual, " ( 5.5 ) ", -5.5},
                                      {&usual, "5-", -5},
                                      {&usual,
                                       "\xe2\x88\x92"
                                       "5",
                                       -5},
                                      {&usual, "(1e3)", -1000},
                                      {&usual, "-(5)", BAD},
                                      {&usual, "(-5)", BAD},
                                      {&usual, "((5))", BAD},
                                      {&usual, "5--", BAD},
                                      {&usual, "(5", BAD},
                                      {&usual, "5)", BAD},
                                      {&usual, "()", BAD},
                                      {&usual, "-", BAD},
                                      {&usual, "(4,896)", BAD},
                                      {&groups, "(4,896)", -4896},
                                      {&groups, "4,896-", -4896},
                                      {&german, "(4.896,5)", -4896.5},
                                      {&comma,
                                       "\xe2\x88\x92"
                                       "1,5",
                                       -1.5},
                                      {&money, "($4,896)", -4896},
                                      {&money, "$(4,896)", -4896},
                                      {&money, "(5) %", -5},
                                      {&money, "5- EUR", -5},
                                      {&money, "\xe2\x88\x92$5", -5},
                                      {&money, "(-$5)", BAD}};
  double zero = 1;
  struct gpnn_values values;
  check_numbers(sizeof cases / sizeof *cases, cases);
  assert_ok(gpnn_values_make(&values, &(struct gpnn_notation){.missing = "-999"}, &err));
  assert_true(gpnn_values_missing(&values, "(999)", 5));
  assert_true(gpnn_values_missing(&values, "999-", 4));
  assert_true(gpnn_values_missing(&values,
                                  "\xe2\x88\x92"
                                  "999",
                                  6));
  assert_int_equal(gpnn_values_number(&values, "(0)", 3, &zero), GPNN_NUMBER_OK);
  assert_true(zero == 0 && !signbit(zero));
  gpnn_values_release(&values);
}

static void a_notation_that_cannot_be_is_refused(void **state)
{
  (void)state;
  struct gpnn_values values = {.n_missing = 0};
  assert_fails(gpnn_values_make(&values, &(struct gpnn_notation){.decimal = ';'}, &err),
               GPNN_EINVAL, "the decimal mark must be a point or a comma");
  assert_fails(gpnn_values_make(&values, &(struct gpnn_notation){.comment = ""}, &err), GPNN_EINVAL,
               "every line begins with the empty text");
  assert_fails(gpnn_values_make(&values, &(struct gpnn_notation){.strip = "$,(,)"}, &err),
               GPNN_EINVAL, "the texts to strip must not be signs");
  assert_fails(gpnn_values_make(&values, &(struct gpnn_notation){.strip = "-"}, &err), GPNN_EINVAL,
               "the texts to strip must not be signs");
  gpnn_values_release(&values);
}

static void what_is_left_open_is_completed(void **state)
{
  (void)state;
  struct gpnn_notation notation = {.missing = "-", .thousands = true};
  const struct gpnn_notation stored = {.missing = "x", .strip = "$", .decimal = ','};
  assert_true(gpnn_notation_is_usual(&usual) && !gpnn_notation_is_usual(&stored));
  gpnn_notation_complete(&notation, &stored);
  assert_string_equal(notation.missing, "-");
  assert_string_equal(notation.strip, "$");
  assert_true(notation.decimal == ',' && notation.thousands && notation.comment == NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(missing_values_are_empty_or_as_named),
      cmocka_unit_test(a_number_is_read_as_it_is_written),
      cmocka_unit_test(what_stands_beside_a_number_is_stripped),
      cmocka_unit_test(negative_numbers_are_read_as_accounts_write_them),
      cmocka_unit_test(a_notation_that_cannot_be_is_refused),
      cmocka_unit_test(what_is_left_open_is_completed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
