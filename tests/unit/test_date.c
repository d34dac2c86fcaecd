/* Dates as days. */
#define _DEFAULT_SOURCE /* timegm() */

#include <time.h>

#include "table/date.h"
#include "unit.h"

static enum gpnn_date read(const char *format, const char *text, double *days)
{
  return gpnn_date_read(format, text, strlen(text), days);
}

/* The days of 'text' are those of a calendar, by the C library, and a fraction. */
static void assert_reads(const char *format, const char *text, int year, int month, int day,
                         double seconds)
{
  struct tm tm = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
  time_t expected = timegm(&tm);
  double days = -1e9;
  if (read(format, text, &days) != GPNN_DATE_OK) fail_msg("%s does not read %s", format, text);
  assert_near(days, (double)expected / 86400 + seconds / 86400, 1e-11);
}

static void every_day_is_that_of_the_c_library(void **state)
{
  (void)state;
  double first, days;
  assert_int_equal(read("%Y-%m-%d", "1599-12-31", &first), GPNN_DATE_OK);
  time_t start = (time_t)first * 86400;
  for (long i = 1; i < 330000; i++) { /* to the year 2503 */
    char text[40], ordinal[40];
    time_t at = start + 86400 * i;
    struct tm tm;
    gmtime_r(&at, &tm);
    strftime(text, sizeof text, "%Y-%m-%d", &tm);
    strftime(ordinal, sizeof ordinal, "%j/%Y", &tm);
    assert_int_equal(read(GPNN_DATE_ISO, text, &days), GPNN_DATE_OK);
    assert_true(days == first + (double)i);
    assert_int_equal(read("%j/%Y", ordinal, &days), GPNN_DATE_OK);
    assert_true(days == first + (double)i);
  }
  assert_int_equal(read("%Y-%m-%d", "0000-01-01", &days), GPNN_DATE_OK);
  assert_true(days == -719528);
  assert_int_equal(read("%Y-%m-%d", "0001-01-01", &days), GPNN_DATE_OK);
  assert_true(days == -719162);
}

static void seconds_are_right_to_a_microsecond(void **state)
{
  (void)state;
  for (int i = 0; i < 20000; i++) {
    long second = 4 * i + i % 7, micro = (i * 7919L) % 1000000;
    char text[60];
    snprintf(text, sizeof text, "%d-01-01T%02ld:%02ld:%02ld.%06ld", 1900 + i % 200, second / 3600,
             second / 60 % 60, second % 60, micro);
    char date[11] = {0};
    memcpy(date, text, 10);
    double whole, days;
    assert_int_equal(read(GPNN_DATE_ISO, date, &whole), GPNN_DATE_OK);
    assert_int_equal(read(GPNN_DATE_ISO, text, &days), GPNN_DATE_OK);
    assert_near((days - whole) * 86400, (double)second + (double)micro * 1e-6, 1e-6);
  }
}

static void reads_the_forms_of_iso(void **state)
{
  (void)state;
  static const char *const dates[] = {"2014-05-02", "20140502",      " 2014-05-02\t",
                                      "2014-5-2",   "2014-05-02T00", "2014-05-01T24:00"};
  for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++)
    assert_reads(GPNN_DATE_ISO, dates[i], 2014, 5, 2, 0);
  assert_reads(GPNN_DATE_ISO, "2014-05", 2014, 5, 1, 0);
  static const char *const times[] = {"2014-05-02T13:05:06.25Z",      "2014-05-02 13:05:06.250",
                                      "20140502T130506,25",           "2014-05-02t13:05:06.25 UTC",
                                      "2014-05-02T15:05:06.25+02:00", "20140502T093506.25-0330",
                                      "2014-05-03T01:05:06.25+12",    "2014-05-02   13:05:06.25 z"};
  double first, days;
  assert_int_equal(read(GPNN_DATE_ISO, times[0], &first), GPNN_DATE_OK);
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
    assert_reads(GPNN_DATE_ISO, times[i], 2014, 5, 2, 13 * 3600 + 5 * 60 + 6.25);
    assert_int_equal(read(GPNN_DATE_ISO, times[i], &days), GPNN_DATE_OK);
    assert_true(days == first); /* the same instant is the same number */
  }
  assert_reads(GPNN_DATE_ISO, "1969-12-31T23:59:60Z", 1970, 1, 1, 0);
}

static void refuses_what_is_no_date(void **state)
{
  (void)state;
  static const char *const bad[] = {"",
                                    " ",
                                    "2014",
                                    "201405",
                                    "14-05-02",
                                    "2014-05-02x",
                                    "2014-05-",
                                    "2014/05/02",
                                    "2014-05-02T",
                                    "2014-05-0213:05",
                                    "2014-05T13:05",
                                    "2014-05-02T13:",
                                    "2014-05-02T13:05:",
                                    "2014-05-02T13:05:06.",
                                    "2014-05-02T13:05+",
                                    "2014-05-02T13:05+2",
                                    "2014-05-02T13:05+02:",
                                    "abc",
                                    "-2014-05-02"};
  static const char *const impossible[] = {"2014-02-30",
                                           "2015-02-29",
                                           "1900-02-29",
                                           "2014-13-01",
                                           "2014-00-01",
                                           "2014-04-31",
                                           "2014-05-00",
                                           "2014-05-02T25:00",
                                           "2014-05-02T24:01",
                                           "2014-05-02T13:60",
                                           "2014-05-02T13:05:61",
                                           "2014-05-02T13:05+24:00",
                                           "2014-05-02T13:05+01:60",
                                           "2014-05-02T24:00:00.5"};
  double days = 7;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    if (read(GPNN_DATE_ISO, bad[i], &days) != GPNN_DATE_BAD) fail_msg("read '%s'", bad[i]);
  for (size_t i = 0; i < sizeof impossible / sizeof impossible[0]; i++)
    if (read(GPNN_DATE_ISO, impossible[i], &days) != GPNN_DATE_IMPOSSIBLE)
      fail_msg("read '%s'", impossible[i]);
  assert_true(days == 7);
  assert_reads(GPNN_DATE_ISO, "2000-02-29", 2000, 2, 29, 0);
}

static void reads_formats(void **state)
{
  (void)state;
  assert_reads("%d/%m/%Y", "2/5/2014", 2014, 5, 2, 0);
  assert_reads("%m/%d/%Y", "05/02/2014", 2014, 5, 2, 0);
  assert_reads("%d-%b-%y", "02-MAY-14", 2014, 5, 2, 0);
  assert_reads("%d-%b-%y", "02-may-69", 1969, 5, 2, 0);
  assert_reads("%d-%b-%y", "02-may-68", 2068, 5, 2, 0);
  assert_reads("%d%b%Y", "02Sept2014", 2014, 9, 2, 0);
  assert_reads("%B %d, %Y", "September 2, 2014", 2014, 9, 2, 0);
  assert_reads("%a %b %e %H:%M:%S %Y", "Fri May  2 13:05:06 2014", 2014, 5, 2, 47106);
  assert_reads("%F %T", "2014-05-02 13:05:06.5", 2014, 5, 2, 47106.5);
  assert_reads("%D %R", "05/02/14 13:05", 2014, 5, 2, 47100);
  assert_reads("%Y-%m-%d %H:%M:%S.%f", "2014-05-02 13:05:06.123456", 2014, 5, 2, 47106.123456);
  assert_reads("%d.%m.%Y %I:%M %p", "02.05.2014 12:00 AM", 2014, 5, 2, 0);
  assert_reads("%d.%m.%Y %I:%M %p", "02.05.2014 12:30 pm", 2014, 5, 2, 45000);
  assert_reads("%d.%m.%Y %I:%M %p", "02.05.2014 1:05p.m.", 2014, 5, 2, 47100);
  assert_reads("%d/%b/%Y:%T %z", "02/May/2014:13:05:06 -0700", 2014, 5, 2, 47106 + 7 * 3600);
  assert_reads("%Y%%", "2014%", 2014, 1, 1, 0);
  assert_reads("%H:%M", "13:05", 1970, 1, 1, 47100);
  assert_reads("%j %Y", "060 2016", 2016, 2, 29, 0);
  double days;
  assert_int_equal(read("%d/%m/%Y", "2/5/14", &days), GPNN_DATE_BAD);
  assert_int_equal(read("%d/%m/%Y", "2/5/20145", &days), GPNN_DATE_BAD);
  assert_int_equal(read("%d %b %Y", "2 Mayor 2014", &days), GPNN_DATE_BAD);
  assert_int_equal(read("%d %b %Y", "2 Ma 2014", &days), GPNN_DATE_BAD);
  assert_int_equal(read("%H:%M:%S.%f", "13:05:06", &days), GPNN_DATE_BAD);
  assert_int_equal(read("%m/%d/%Y", "13/05/2014", &days), GPNN_DATE_IMPOSSIBLE);
  assert_int_equal(read("%j %Y", "366 2015", &days), GPNN_DATE_IMPOSSIBLE);
  assert_int_equal(read("%j %Y", "0 2015", &days), GPNN_DATE_BAD);
  assert_int_equal(read("%I %p", "13 PM", &days), GPNN_DATE_IMPOSSIBLE);
  assert_int_equal(read("%I %p", "0 PM", &days), GPNN_DATE_IMPOSSIBLE);
}

static void checks_formats(void **state)
{
  (void)state;
  static const struct {
    const char *format, *sentence;
  } bad[] = {{"", "neither date nor time"},      {"yyyy-mm-dd", "as in %Y-%m-%d"},
             {"%Y-%q", "no conversion '%q'"},    {"%Y%", "no conversion '%'"},
             {"%d %d", "'%d' gives what"},       {"%Y %D", "gives what another"},
             {"%j %m", "'%m' gives what"},       {"%I:%M", "%I and %p need"},
             {"%H:%M %p", "%I and %p need"},     {"%H %I %p", "'%I' gives what"},
             {"%a %z", "neither date nor time"}, {"\033%Y %Y", "'?%Y %Y'"}};
  static const char *const good[] = {"iso", "%d/%m/%y", "%F %T", "%I %p", "%j", "%H:%M", "%f%%"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_fails(gpnn_date_check(bad[i].format, &err), GPNN_EINVAL, bad[i].sentence);
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
    assert_ok(gpnn_date_check(good[i], &err));
}

static void what_is_written_is_read_again(void **state)
{
  (void)state;
  char text[GPNN_DATE_BYTES];
  double days;
  for (int i = 0; i < 100000; i++) {
    double wanted = -719528 + i * 36.52 - i * 36 % 7 / 7. + i % 86400 / 86400.;
    gpnn_date_write(text, wanted);
    assert_int_equal(read(GPNN_DATE_ISO, text, &days), GPNN_DATE_OK);
    assert_near(days * 86400, wanted * 86400, 0.51);
  }
  assert_string_equal(gpnn_date_write(text, 0), "1970-01-01");
  assert_string_equal(gpnn_date_write(text, -1), "1969-12-31");
  assert_string_equal(gpnn_date_write(text, -0.25), "1969-12-31T18:00:00");
  assert_string_equal(gpnn_date_write(text, 2932896), "9999-12-31");
  assert_string_equal(gpnn_date_write(text, 2932897), "2932897");
  assert_string_equal(gpnn_date_write(text, 1e300), "1e+300");
}

static void assert_guesses(const char *texts, const char *format, const char *other)
{
  struct gpnn_date_guess guess = {0};
  for (const char *end; *texts != '\0'; texts = *end == '|' ? end + 1 : end) {
    end = strchr(texts, '|');
    if (end == NULL) end = texts + strlen(texts);
    gpnn_date_guess_add(&guess, texts, (size_t)(end - texts));
  }
  const char *second, *first = gpnn_date_guess_format(&guess, &second);
  if (format == NULL) {
    assert_null(first);
  } else {
    assert_non_null(first);
    assert_string_equal(first, format);
    assert_ok(gpnn_date_check(first, &err));
  }
  if (other == NULL)
    assert_null(second);
  else
    assert_string_equal(second, other);
}

static void guesses_the_format_that_reads_all(void **state)
{
  (void)state;
  assert_guesses("", NULL, NULL);
  assert_guesses("abc|12|1.5|2014", NULL, NULL);
  assert_guesses("20140502", "iso", NULL);
  assert_guesses("29MAY2020|1jun2020", "%d %b %Y", NULL);
  assert_guesses("29MAY2020:13:05:00", "%d%b%Y:%H:%M:%S", NULL);
  assert_guesses("2014-05-02|2014-05-02T13:05Z|2014-06", "iso", NULL);
  assert_guesses("05/02/2014|1/12/2014", "%d/%m/%Y", "%m/%d/%Y");
  assert_guesses("05/02/2014|1/13/2014", "%m/%d/%Y", NULL);
  assert_guesses("05/02/2014|31/1/2014", "%d/%m/%Y", NULL);
  assert_guesses("05/02/2014|n/a|31/1/2014|2014-05-02", "%d/%m/%Y", NULL); /* the others are bad */
  assert_guesses("2.5.2014 13:05", "%d.%m.%Y %H:%M", NULL);
  assert_guesses("02-May-14", "%d-%b-%y", NULL);
  assert_guesses("May 2 2014|Jun 12 2014", "%b %d %Y", NULL);
  assert_guesses("May 2, 2014 1:05 PM", "%b %d, %Y %I:%M %p", NULL);
  assert_guesses("2014/05/02 13:05:06.25", "%Y/%m/%d %H:%M:%S", NULL);
  assert_guesses("Fri, 02 May 2014 13:05:06 +0200", "%a, %d %b %Y %H:%M:%S %z", NULL);
  assert_guesses("13:05|0:10", "%H:%M", NULL);
}

static void a_text_that_is_no_date_leaves_the_guess_alone(void **state)
{
  (void)state;
  struct gpnn_date_guess guess = {0};
  assert_true(gpnn_date_guess_add(&guess, "31/1/2014", 9));
  assert_false(gpnn_date_guess_add(&guess, "1/31/2014", 9));
  assert_false(gpnn_date_guess_add(&guess, "", 0));
  assert_true(gpnn_date_guess_add(&guess, "1/2/2014", 8));
  assert_int_equal(guess.n, 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_day_is_that_of_the_c_library),
      cmocka_unit_test(seconds_are_right_to_a_microsecond),
      cmocka_unit_test(reads_the_forms_of_iso),
      cmocka_unit_test(refuses_what_is_no_date),
      cmocka_unit_test(reads_formats),
      cmocka_unit_test(checks_formats),
      cmocka_unit_test(what_is_written_is_read_again),
      cmocka_unit_test(guesses_the_format_that_reads_all),
      cmocka_unit_test(a_text_that_is_no_date_leaves_the_guess_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
