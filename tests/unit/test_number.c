/* Reading and writing of numbers, against the C library and by hand. */
#include <float.h>
#include <inttypes.h>

#include "base/number.h"
#include "random.h"
#include "unit.h"

static enum gpnn_number read_text(const char *text, double *value)
{
  return gpnn_number_read(text, strlen(text), value);
}

static void plain_numbers_read_as_strtod_reads_them(void **state)
{
  (void)state;
  static const char *const texts[] = {"0",
                                      "-0",
                                      "+5",
                                      "5",
                                      " 5 ",
                                      "\t5",
                                      "007",
                                      "1.",
                                      ".5",
                                      "-.5",
                                      "1e3",
                                      "1E3",
                                      "1e+3",
                                      "1e-3",
                                      "+1.5",
                                      "3.141592653589793",
                                      "5e-5",
                                      "1e308",
                                      "-2.5e-300",
                                      "4.9e-324",
                                      "4e-320",
                                      "2.2250738585072011e-308",
                                      "0e999999",
                                      "0.1",
                                      "123456789012345678901234567890"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    double value = 99, expected = strtod(texts[i], NULL);
    if (read_text(texts[i], &value) != GPNN_NUMBER_OK || memcmp(&value, &expected, sizeof value))
      fail_msg("\"%s\" reads as %.17g, not %.17g", texts[i], value, expected);
  }
}

static void bad_numbers_are_refused_and_leave_the_value_alone(void **state)
{
  (void)state;
  static const char *const texts[] = {"",    " ",   "+",   "-",   "+-5",   "-+5",   "--5",
                                      "++5", "5 5", "5x",  "x5",  "abc",   "0x10",  "1e",
                                      "1e+", "e5",  ".",   "-.",  "1,5",   "1.2.3", "5%",
                                      "+ 5", "- 5", "5\n", "1_0", "\"5",   "nanx",  "1d3",
                                      "0x",  "\v5", "$5",  "NA",  "1e5.5", "infx",  "5\xc2\xa0"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    double value = 99;
    if (read_text(texts[i], &value) != GPNN_NUMBER_BAD || value != 99)
      fail_msg("\"%s\" reads as a number", texts[i]);
  }
}

static void values_that_are_not_finite_are_refused(void **state)
{
  (void)state;
  static const char *const texts[] = {"nan",
                                      "NaN",
                                      "-nan",
                                      "inf",
                                      "-inf",
                                      "+inf",
                                      "INF",
                                      "Infinity",
                                      "1e400",
                                      "-1e400",
                                      "1e999999999999",
                                      " inf ",
                                      "1e309",
                                      "17976931348623159e292"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    double value = 99;
    if (read_text(texts[i], &value) != GPNN_NUMBER_NOT_FINITE || value != 99)
      fail_msg("\"%s\" reads as %g", texts[i], value);
  }
}

static void numbers_too_small_for_a_double_are_zero_of_their_sign(void **state)
{
  (void)state;
  static const char *const texts[] = {
      "1e-400", "-1e-400", "0.001e-330", "-123456e-999", "+1e-99999999999999", "0.0000000001e-320"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    double value = 99;
    if (read_text(texts[i], &value) != GPNN_NUMBER_OK || value != 0)
      fail_msg("\"%s\" reads as %g", texts[i], value);
    assert_int_equal(signbit(value) != 0, texts[i][0] == '-');
  }
}

static void hundreds_of_digits_do_not_overflow_or_vanish(void **state)
{
  (void)state;
  char text[1300];
  double value;
  memset(text, '0', sizeof text);
  text[0] = '1';
  assert_int_equal(gpnn_number_read(text, 500, &value), GPNN_NUMBER_NOT_FINITE);
  memcpy(text + 500, "e-500", 5); /* 1 and 499 zeros, divided by 10^500 */
  assert_int_equal(gpnn_number_read(text, 505, &value), GPNN_NUMBER_OK);
  assert_close(value, 0.1, 1e-15);
  memset(text, '0', sizeof text);
  text[1] = '.';
  text[900] = '7'; /* the 899th decimal */
  assert_int_equal(gpnn_number_read(text, 901, &value), GPNN_NUMBER_OK);
  assert_true(value == 0);
  memcpy(text + 901, "e899", 4);
  assert_int_equal(gpnn_number_read(text, 905, &value), GPNN_NUMBER_OK);
  assert_true(value == 7);
}

static void only_the_given_bytes_are_read(void **state)
{
  (void)state;
  double value;
  assert_int_equal(gpnn_number_read("12345", 2, &value), GPNN_NUMBER_OK);
  assert_true(value == 12);
  assert_int_equal(gpnn_number_read("12\0", 3, &value), GPNN_NUMBER_BAD);
  assert_int_equal(gpnn_number_read(NULL, 0, &value), GPNN_NUMBER_BAD);
}

static void integers_are_digits_only(void **state)
{
  (void)state;
  uint64_t value = 99;
  assert_true(gpnn_number_read_u64("18446744073709551615", 20, &value));
  assert_true(value == UINT64_MAX);
  assert_true(gpnn_number_read_u64("007", 3, &value) && value == 7);
  static const char *const bad[] = {"",    "-1",  "+1",  " 1", "1 ",
                                    "1.0", "1e3", "0x1", "a",  "18446744073709551616"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    value = 99;
    if (gpnn_number_read_u64(bad[i], strlen(bad[i]), &value) || value != 99)
      fail_msg("\"%s\" reads as %" PRIu64, bad[i], value);
  }
}

static void written_numbers_are_the_shortest(void **state)
{
  (void)state;
  static const struct {
    double value;
    const char *text;
  } cases[] = {{0, "0"},
               {-0.0, "-0"},
               {1, "1"},
               {0.1, "0.1"},
               {0.5, "0.5"},
               {-2.5, "-2.5"},
               {100, "100"},
               {1e300, "1e+300"},
               {1.0 / 3, "0.3333333333333333"},
               {INFINITY, "inf"},
               {-INFINITY, "-inf"},
               {NAN, "nan"},
               {DBL_MAX, "1.7976931348623157e+308"},
               {5e-324, "5e-324"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[GPNN_NUMBER_BYTES];
    assert_int_equal(gpnn_number_write(text, cases[i].value), strlen(cases[i].text));
    assert_string_equal(text, cases[i].text);
  }
  char text[GPNN_NUMBER_BYTES];
  gpnn_number_write(text, copysign(NAN, -1));
  assert_string_equal(text, "nan");
}

/* The length of the shortest printf form that reads back the same. */
static size_t shortest_length(double value)
{
  char text[64];
  for (int digits = 1; digits < 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) return strlen(text);
  }
  return (size_t)snprintf(text, sizeof text, "%.17g", value);
}

static void any_double_survives_writing_and_reading_at_its_shortest(void **state)
{
  (void)state;
  struct gpnn_rng rng = seeded(1);
  for (int i = 0; i < 200000; i++) {
    uint64_t bits = gpnn_rng_next(&rng);
    double value, back = 0;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) continue;
    char text[GPNN_NUMBER_BYTES];
    size_t length = gpnn_number_write(text, value);
    assert_true(length > 0 && length < GPNN_NUMBER_BYTES && strlen(text) == length);
    assert_int_equal(gpnn_number_read(text, length, &back), GPNN_NUMBER_OK);
    if (memcmp(&back, &value, sizeof value) != 0) fail_msg("%s reads back as %.17g", text, back);
    if (i < 20000 && length > shortest_length(value)) fail_msg("%s is longer than needed", text);
  }
}

static size_t digits_at_random(struct gpnn_rng *rng, char *text, size_t n)
{
  for (size_t i = 0; i < n; i++) text[i] = (char)('0' + gpnn_rng_below(rng, 10));
  return n;
}

/* Digits around a point that may be missing, a sign and an exponent now and then: about one in two
 * is short enough to be read in one step. */
static size_t decimal_at_random(struct gpnn_rng *rng, char *text)
{
  size_t n = 0, whole = gpnn_rng_below(rng, 18), decimals = gpnn_rng_below(rng, 18);
  bool has_point = gpnn_rng_below(rng, 4) > 0;
  if (gpnn_rng_below(rng, 3) == 0) text[n++] = '-';
  n += digits_at_random(rng, text + n, whole);
  if (has_point) text[n++] = '.';
  if (has_point) n += digits_at_random(rng, text + n, decimals);
  if (gpnn_rng_below(rng, 8) == 0)
    n += (size_t)sprintf(text + n, "e%d", (int)gpnn_rng_below(rng, 60) - 30);
  text[n] = '\0';
  return n;
}

static void any_decimal_reads_as_strtod_reads_it(void **state)
{
  (void)state;
  struct gpnn_rng rng = seeded(2);
  for (int i = 0; i < 2000000; i++) {
    char text[80], *stop;
    size_t length = decimal_at_random(&rng, text);
    double value = 0, expected = strtod(text, &stop);
    bool is_number = length > 0 && *stop == '\0';
    enum gpnn_number outcome = gpnn_number_read(text, length, &value);
    if ((outcome == GPNN_NUMBER_OK) != is_number ||
        (is_number && memcmp(&value, &expected, sizeof value) != 0))
      fail_msg("\"%s\" reads as %.17g, not %.17g", text, value, expected);
  }
}

/* Numbers halfway between two doubles, and one unit of the last digit to either side. */
static void ties_round_to_even_and_their_neighbours_to_the_nearest(void **state)
{
  (void)state;
  struct gpnn_rng rng = seeded(3);
  for (int i = 0; i < 200000; i++) {
    /* Odd numbers above 2^53 lie halfway; and fractions of them by powers of two do. */
    uint64_t tie = ((uint64_t)1 << 53) + 2 * gpnn_rng_below(&rng, (uint64_t)1 << 52) + 1;
    unsigned scale = (unsigned)gpnn_rng_below(&rng, 40);
    char text[80];
    int length =
        snprintf(text, sizeof text, "%.*Lf", (int)scale, ldexpl((long double)tie, -(int)scale));
    for (int step = -1; step <= 1; step++) {
      char near[80];
      memcpy(near, text, sizeof near);
      char *last = near + length - 1;
      if (*last + step < '0' || *last + step > '9') continue;
      *last = (char)(*last + step);
      double value = 0, expected = strtod(near, NULL);
      assert_int_equal(read_text(near, &value), GPNN_NUMBER_OK);
      if (value != expected) fail_msg("\"%s\" reads as %.17g, not %.17g", near, value, expected);
    }
  }
}

static void any_bytes_read_alike_at_the_end_and_in_the_middle_of_text(void **state)
{
  (void)state;
  static const char letters[] = "0123456789....--+eE x,\t/:";
  struct gpnn_rng rng = seeded(4);
  for (int i = 0; i < 500000; i++) {
    char middle[60];
    for (size_t k = 0; k < sizeof middle; k++)
      middle[k] = letters[gpnn_rng_below(&rng, sizeof letters - 1)];
    size_t length = gpnn_rng_below(&rng, 20);
    char *alone = malloc(length + 1), *stop;
    memcpy(alone, middle + 20, length);
    alone[length] = '\0';
    double a = 0, b = 0;
    enum gpnn_number outcome = gpnn_number_read(middle + 20, length, &a);
    assert_int_equal(gpnn_number_read(alone, length, &b), outcome);
    assert_true(memcmp(&a, &b, sizeof a) == 0);
    double expected = strtod(alone, &stop);
    if (outcome == GPNN_NUMBER_OK && *stop == '\0' && a != expected)
      fail_msg("\"%s\" reads as %.17g, not %.17g", alone, a, expected);
    free(alone);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_numbers_read_as_strtod_reads_them),
      cmocka_unit_test(bad_numbers_are_refused_and_leave_the_value_alone),
      cmocka_unit_test(values_that_are_not_finite_are_refused),
      cmocka_unit_test(numbers_too_small_for_a_double_are_zero_of_their_sign),
      cmocka_unit_test(hundreds_of_digits_do_not_overflow_or_vanish),
      cmocka_unit_test(only_the_given_bytes_are_read),
      cmocka_unit_test(integers_are_digits_only),
      cmocka_unit_test(written_numbers_are_the_shortest),
      cmocka_unit_test(any_decimal_reads_as_strtod_reads_it),
      cmocka_unit_test(ties_round_to_even_and_their_neighbours_to_the_nearest),
      cmocka_unit_test(any_bytes_read_alike_at_the_end_and_in_the_middle_of_text),
      cmocka_unit_test(any_double_survives_writing_and_reading_at_its_shortest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
