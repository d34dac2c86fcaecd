#include "table/date.h"
#include "table/table_private.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- texts --------------------------------------------------------------------------------- */

/* The text still to be read.  Every reader below returns false, having read who knows how much, if
 * the text does not go on as it must. */
struct scan {
  const char *at, *end;
};

static char lower(char c)
{
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool goes_on_with(const struct scan *scan, char c)
{
  return scan->at < scan->end && *scan->at == c;
}

static bool skip(struct scan *scan, char c)
{
  bool is_there = goes_on_with(scan, c);
  scan->at += is_there;
  return is_there;
}

static void skip_blanks(struct scan *scan)
{
  while (scan->at < scan->end && gpnn_is_blank(*scan->at)) scan->at++;
}

/* A number of at least 'least' digits, and no more than 'most' of them. */
static bool read_digits(struct scan *scan, int least, int most, int *value)
{
  int n = 0;
  *value = 0;
  for (; n < most && scan->at < scan->end && isdigit((unsigned char)*scan->at); n++)
    *value = 10 * *value + (*scan->at++ - '0');
  return n >= least;
}

/* Digits after a decimal mark; those beyond the fifteenth are too small to matter. */
static bool read_fraction(struct scan *scan, double *fraction)
{
  enum { MOST = 15 };
  int n = 0;
  double digits = 0, scale = 1;
  for (; scan->at < scan->end && isdigit((unsigned char)*scan->at); n++, scan->at++) {
    if (n >= MOST) continue;
    digits = 10 * digits + (*scan->at - '0');
    scale *= 10;
  }
  *fraction = digits / scale;
  return n > 0;
}

/* The word if the text goes on with it, in either case. */
static bool skip_word(struct scan *scan, const char *word)
{
  size_t n = strlen(word);
  if ((size_t)(scan->end - scan->at) < n) return false;
  for (size_t i = 0; i < n; i++)
    if (lower(scan->at[i]) != word[i]) return false;
  scan->at += n;
  return true;
}

/* One of 'n' names, of which at least the first three letters must be there; '*which' counts from
 * 1. */
static bool read_name(struct scan *scan, const char *const *names, int n, int *which)
{
  size_t length = 0, left = (size_t)(scan->end - scan->at);
  while (length < left && lower(scan->at[length]) >= 'a' && lower(scan->at[length]) <= 'z')
    length++;
  for (int i = 0; i < n && length >= 3; i++) {
    size_t same = 0;
    while (same < length && lower(scan->at[same]) == names[i][same]) same++;
    if (same < length) continue;
    scan->at += length;
    *which = i + 1;
    return true;
  }
  return false;
}

/* ---- parts of a date ----------------------------------------------------------------------- */

struct parts {
  int year, month, day;
  int day_of_year; /* 0: month and day say it */
  int hour, minute, second;
  double fraction;                  /* of a second */
  bool has_half, is_afternoon;      /* the hour is one of 12 */
  int offset_hours, offset_minutes; /* east of UTC; both have the sign */
};

static const struct parts epoch = {.year = 1970, .month = 1, .day = 1};

static bool read_month_name(struct scan *scan, struct parts *parts)
{
  static const char *const names[] = {"january",   "february", "march",    "april",
                                      "may",       "june",     "july",     "august",
                                      "september", "october",  "november", "december"};
  return read_name(scan, names, 12, &parts->month);
}

static bool read_weekday(struct scan *scan)
{
  static const char *const names[] = {"monday", "tuesday",  "wednesday", "thursday",
                                      "friday", "saturday", "sunday"};
  int which;
  return read_name(scan, names, 7, &which);
}

static bool read_short_year(struct scan *scan, struct parts *parts)
{
  if (!read_digits(scan, 2, 2, &parts->year)) return false;
  parts->year += parts->year < 69 ? 2000 : 1900;
  return true;
}

static bool read_half(struct scan *scan, struct parts *parts)
{
  parts->has_half = true;
  parts->is_afternoon = skip_word(scan, "pm") || skip_word(scan, "p.m.");
  return parts->is_afternoon || skip_word(scan, "am") || skip_word(scan, "a.m.");
}

/* Seconds may have a fraction, unless 'next', what the format goes on with, is its mark. */
static bool read_seconds(struct scan *scan, char next, struct parts *parts)
{
  if (!read_digits(scan, 1, 2, &parts->second)) return false;
  char mark = scan->at < scan->end ? *scan->at : '\0';
  if ((mark != '.' && mark != ',') || mark == next) return true;
  scan->at++;
  return read_fraction(scan, &parts->fraction);
}

static bool read_zone(struct scan *scan, struct parts *parts)
{
  skip_blanks(scan);
  if (skip_word(scan, "z") || skip_word(scan, "utc") || skip_word(scan, "gmt")) return true;
  int sign = goes_on_with(scan, '-') ? -1 : 1;
  if (!skip(scan, '-') && !skip(scan, '+')) return false;
  int minutes = 0;
  if (!read_digits(scan, 2, 2, &parts->offset_hours)) return false;
  bool has_colon = skip(scan, ':');
  if ((has_colon || (scan->at < scan->end && isdigit((unsigned char)*scan->at))) &&
      !read_digits(scan, 2, 2, &minutes))
    return false;
  parts->offset_hours *= sign;
  parts->offset_minutes = sign * minutes;
  return true;
}

/* ---- days ---------------------------------------------------------------------------------- */

static bool is_leap(int year)
{
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_in_month(int year, int month)
{
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days from 1970-01-01 to the first of January; 'year' >= 0. */
static int64_t days_to_year(int year)
{
  enum { DAYS_TO_1970 = 719528 }; /* from the beginning of the year 0 */
  int64_t before = year > 0 ? year - 1 : 0;
  int64_t leap_days = year > 0 ? 1 + before / 4 - before / 100 + before / 400 : 0;
  return 365 * (int64_t)year + leap_days - DAYS_TO_1970;
}

/* The day since the epoch; false if there is no such day. */
static bool find_day(const struct parts *parts, int64_t *day)
{
  int64_t first = days_to_year(parts->year);
  if (parts->day_of_year > 0) {
    *day = first + parts->day_of_year - 1;
    return parts->day_of_year <= 365 + is_leap(parts->year);
  }
  if (parts->month < 1 || parts->month > 12) return false;
  for (int m = 1; m < parts->month; m++) first += days_in_month(parts->year, m);
  *day = first + parts->day - 1;
  return parts->day >= 1 && parts->day <= days_in_month(parts->year, parts->month);
}

/* The second of the day, of the clock that is shown; false if there is no such time. */
static bool find_second(const struct parts *parts, int64_t *second)
{
  int hour = parts->hour;
  if (parts->has_half && (hour < 1 || hour > 12)) return false;
  if (parts->has_half) hour = hour % 12 + (parts->is_afternoon ? 12 : 0);
  *second = 3600 * hour + 60 * parts->minute + parts->second;
  if (hour == 24) return *second == 24 * 3600 && parts->fraction == 0;
  return hour < 24 && parts->minute < 60 && parts->second <= 60;
}

static enum gpnn_date convert(const struct parts *parts, double *days)
{
  enum { DAY = 24 * 3600 };
  int64_t day, second;
  if (!find_day(parts, &day) || !find_second(parts, &second)) return GPNN_DATE_IMPOSSIBLE;
  int offset_hours = parts->offset_hours < 0 ? -parts->offset_hours : parts->offset_hours;
  int offset_minutes = parts->offset_minutes < 0 ? -parts->offset_minutes : parts->offset_minutes;
  if (offset_hours >= 24 || offset_minutes >= 60) return GPNN_DATE_IMPOSSIBLE;
  second -= 3600 * parts->offset_hours + 60 * parts->offset_minutes;
  /* Whole days first, so that the same instant has the same fraction. */
  for (; second < 0; day--) second += DAY;
  for (; second >= DAY; day++) second -= DAY;
  *days = (double)day + ((double)second + parts->fraction) / DAY;
  return GPNN_DATE_OK;
}

const char *gpnn_date_write(char out[GPNN_DATE_BYTES], double days)
{
  enum { DAY = 24 * 3600 };
  const int64_t first = days_to_year(0), last = days_to_year(10000);
  if (!(days >= (double)first && days < (double)last)) {
    snprintf(out, GPNN_DATE_BYTES, "%.15g", days);
    return out;
  }
  int64_t seconds = llround(days * DAY);
  int64_t day = seconds >= 0 ? seconds / DAY : -((DAY - 1 - seconds) / DAY);
  int second = (int)(seconds - day * DAY), year = 1970 + (int)(day / 366), month = 1;
  while (days_to_year(year) > day) year--;
  while (days_to_year(year + 1) <= day) year++;
  for (day -= days_to_year(year); day >= days_in_month(year, month); month++)
    day -= days_in_month(year, month);
  int n = snprintf(out, GPNN_DATE_BYTES, "%04d-%02d-%02d", year, month, (int)day + 1);
  if (second > 0)
    snprintf(out + n, GPNN_DATE_BYTES - (size_t)n, "T%02d:%02d:%02d", second / 3600,
             second / 60 % 60, second % 60);
  return out;
}

/* ---- formats ------------------------------------------------------------------------------- */

/* What a conversion gives, for those that give the same. */
enum {
  YEAR = 1,
  MONTH = 2,
  DAY_OF_MONTH = 4,
  DAY_OF_YEAR = MONTH | DAY_OF_MONTH,
  WEEKDAY = 8,
  HOUR = 16,
  MINUTE = 32,
  SECOND = 64,
  FRACTION = 128,
  ZONE = 256,
  HALF = 512,
  HOUR_OF_12 = 1024 | HOUR,
};

static const struct {
  char letter;
  unsigned gives;
  const char *means; /* NULL: a conversion of its own */
} conversions[] = {
    {'Y', YEAR, NULL},
    {'y', YEAR, NULL},
    {'m', MONTH, NULL},
    {'b', MONTH, NULL},
    {'B', MONTH, NULL},
    {'h', MONTH, NULL},
    {'d', DAY_OF_MONTH, NULL},
    {'e', DAY_OF_MONTH, NULL},
    {'j', DAY_OF_YEAR, NULL},
    {'a', WEEKDAY, NULL},
    {'A', WEEKDAY, NULL},
    {'H', HOUR, NULL},
    {'I', HOUR_OF_12, NULL},
    {'p', HALF, NULL},
    {'M', MINUTE, NULL},
    {'S', SECOND, NULL},
    {'f', FRACTION, NULL},
    {'z', ZONE, NULL},
    {'F', 0, "%Y-%m-%d"},
    {'D', 0, "%m/%d/%y"},
    {'T', 0, "%H:%M:%S"},
    {'R', 0, "%H:%M"},
    {'%', 0, NULL},
};

enum { N_CONVERSIONS = sizeof conversions / sizeof conversions[0] };

/* The row of the table, or N_CONVERSIONS. */
static int find_conversion(char letter)
{
  int i = 0;
  while (i < N_CONVERSIONS && conversions[i].letter != letter) i++;
  return i;
}

/* Adds to '*gives' what 'format' gives; false with a message if it is wrong. */
static enum gpnn_status collect(const char *format, unsigned *gives, struct gpnn_error *err)
{
  for (const char *at = format; *at != '\0'; at++) {
    if (*at != '%') continue;
    at++;
    int i = find_conversion(*at);
    if (i == N_CONVERSIONS) {
      char shown[GPNN_MASK_BYTES];
      return gpnn_fail(err, GPNN_EINVAL, "no conversion '%%%s'", gpnn_mask(shown, at, *at != '\0'));
    }
    if (*gives & conversions[i].gives)
      return gpnn_fail(err, GPNN_EINVAL, "'%%%c' gives what another conversion gives", *at);
    *gives |= conversions[i].gives;
    if (conversions[i].means == NULL) continue;
    enum gpnn_status status = collect(conversions[i].means, gives, err);
    if (status != GPNN_OK) return status;
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_date_check(const char *format, struct gpnn_error *err)
{
  unsigned gives = 0;
  char shown[GPNN_MASK_BYTES];
  gpnn_mask(shown, format, strlen(format));
  if (strcmp(format, GPNN_DATE_ISO) == 0) return GPNN_OK;
  enum gpnn_status status = collect(format, &gives, err);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "format of dates '%s'", shown);
  bool of_12 = (gives & HOUR_OF_12) == HOUR_OF_12;
  if (of_12 != ((gives & HALF) != 0))
    return gpnn_fail(err, GPNN_EINVAL, "format of dates '%s': %%I and %%p need each other", shown);
  if ((gives & ~(unsigned)(WEEKDAY | ZONE)) == 0)
    return gpnn_fail(err, GPNN_EINVAL, "format of dates '%s': has neither date nor time, as in %s",
                     shown, "%Y-%m-%d");
  return GPNN_OK;
}

static bool read_conversion(struct scan *scan, char letter, char next, struct parts *parts)
{
  switch (letter) {
  case 'Y':
    return read_digits(scan, 4, 4, &parts->year);
  case 'y':
    return read_short_year(scan, parts);
  case 'm':
    return read_digits(scan, 1, 2, &parts->month);
  case 'b':
  case 'B':
  case 'h':
    return read_month_name(scan, parts);
  case 'd':
  case 'e':
    skip_blanks(scan); /* some writers fill up with blanks instead of zeros */
    return read_digits(scan, 1, 2, &parts->day);
  case 'j':
    return read_digits(scan, 1, 3, &parts->day_of_year) && parts->day_of_year > 0;
  case 'a':
  case 'A':
    return read_weekday(scan);
  case 'H':
  case 'I':
    return read_digits(scan, 1, 2, &parts->hour);
  case 'p':
    return read_half(scan, parts);
  case 'M':
    return read_digits(scan, 1, 2, &parts->minute);
  case 'S':
    return read_seconds(scan, next, parts);
  case 'f':
    return read_fraction(scan, &parts->fraction);
  case 'z':
    return read_zone(scan, parts);
  default:
    return skip(scan, letter);
  }
}

static bool read_format(struct scan *scan, const char *format, struct parts *parts)
{
  for (; *format != '\0'; format++) {
    bool is_right = true;
    if (gpnn_is_blank(*format)) {
      skip_blanks(scan);
    } else if (*format != '%') {
      is_right = skip(scan, *format);
    } else {
      int i = find_conversion(*++format);
      is_right = conversions[i].means != NULL ? read_format(scan, conversions[i].means, parts)
                                              : read_conversion(scan, *format, format[1], parts);
    }
    if (!is_right) return false;
  }
  return true;
}

/* ---- ISO 8601 ------------------------------------------------------------------------------ */

/* The date; '*has_day' is false if it ends with the month. */
static bool read_iso_date(struct scan *scan, bool *has_day, struct parts *parts)
{
  *has_day = true;
  if (!read_digits(scan, 4, 4, &parts->year)) return false;
  if (!skip(scan, '-'))
    return read_digits(scan, 2, 2, &parts->month) && read_digits(scan, 2, 2, &parts->day);
  if (!read_digits(scan, 1, 2, &parts->month)) return false;
  *has_day = skip(scan, '-');
  return !*has_day || read_digits(scan, 1, 2, &parts->day);
}

static bool read_iso_time(struct scan *scan, struct parts *parts)
{
  if (!read_digits(scan, 1, 2, &parts->hour)) return false;
  bool has_colons = skip(scan, ':');
  if (!has_colons && (scan->at == scan->end || !isdigit((unsigned char)*scan->at))) return true;
  if (!read_digits(scan, 2, 2, &parts->minute)) return false;
  bool has_seconds =
      has_colons ? skip(scan, ':') : scan->at < scan->end && isdigit((unsigned char)*scan->at);
  return !has_seconds || read_seconds(scan, '\0', parts);
}

static bool read_iso(struct scan *scan, struct parts *parts)
{
  bool has_day;
  if (!read_iso_date(scan, &has_day, parts)) return false;
  if (scan->at == scan->end) return true;
  if (!has_day) return false;
  if (gpnn_is_blank(*scan->at))
    skip_blanks(scan);
  else if (!skip_word(scan, "t"))
    return false;
  if (!read_iso_time(scan, parts)) return false;
  return scan->at == scan->end || read_zone(scan, parts);
}

enum gpnn_date gpnn_date_read(const char *format, const char *text, size_t length, double *days)
{
  struct scan scan = {text, text + length};
  struct parts parts = epoch;
  skip_blanks(&scan);
  while (scan.end > scan.at && gpnn_is_blank(scan.end[-1])) scan.end--;
  bool is_right = strcmp(format, GPNN_DATE_ISO) == 0 ? read_iso(&scan, &parts)
                                                     : read_format(&scan, format, &parts);
  return is_right && scan.at == scan.end ? convert(&parts, days) : GPNN_DATE_BAD;
}

/* ---- guesses ------------------------------------------------------------------------------ */

/* A date alone, and with the ways in which times are written. */
#define WITH_TIMES(date)                                                                        \
  date, date " %H:%M", date " %H:%M:%S", date " %I:%M %p", date " %I:%M:%S %p", date ", %H:%M", \
      date ", %H:%M:%S", date ", %I:%M %p", date ", %I:%M:%S %p"

/* Of two that read the same text, the first is preferred. */
static const char *const formats[] = {
    GPNN_DATE_ISO,
    WITH_TIMES("%d/%m/%Y"),
    WITH_TIMES("%m/%d/%Y"),
    WITH_TIMES("%Y/%m/%d"),
    WITH_TIMES("%d.%m.%Y"),
    WITH_TIMES("%d-%m-%Y"),
    WITH_TIMES("%m-%d-%Y"),
    WITH_TIMES("%Y.%m.%d"),
    WITH_TIMES("%d-%b-%Y"),
    WITH_TIMES("%d %b %Y"),
    "%d%b%Y:%H:%M",
    "%d%b%Y:%H:%M:%S",
    WITH_TIMES("%d/%b/%Y"),
    WITH_TIMES("%b %d %Y"),
    WITH_TIMES("%b %d, %Y"),
    WITH_TIMES("%Y-%b-%d"),
    WITH_TIMES("%d/%m/%y"),
    WITH_TIMES("%m/%d/%y"),
    WITH_TIMES("%d.%m.%y"),
    WITH_TIMES("%d-%b-%y"),
    "%b %Y",
    "%b-%Y",
    "%b-%y",
    "%Y-%m-%d %I:%M %p",
    "%Y-%m-%d %I:%M:%S %p",
    "%d/%b/%Y:%H:%M:%S %z",
    "%a %b %d %H:%M:%S %Y",
    "%a %b %d %H:%M:%S %z %Y",
    "%a, %d %b %Y %H:%M:%S %z",
    "%a, %d %b %Y",
    "%a, %b %d, %Y",
    "%H:%M",
    "%H:%M:%S",
    "%I:%M %p",
    "%I:%M:%S %p",
};

enum { N_FORMATS = sizeof formats / sizeof formats[0] };

_Static_assert(N_FORMATS <= 64 * GPNN_DATE_GUESS_WORDS, "a bit for each format");

static bool is_rejected(const struct gpnn_date_guess *guess, size_t i)
{
  return guess->rejected[i / 64] >> i % 64 & 1;
}

bool gpnn_date_guess_add(struct gpnn_date_guess *guess, const char *text, size_t length)
{
  struct gpnn_date_guess narrowed = *guess;
  bool any = false;
  double days;
  for (size_t i = 0; i < N_FORMATS; i++) {
    if (is_rejected(guess, i)) continue;
    if (gpnn_date_read(formats[i], text, length, &days) == GPNN_DATE_OK)
      any = true;
    else
      narrowed.rejected[i / 64] |= (uint64_t)1 << i % 64;
  }
  if (!any) return false;
  narrowed.n++;
  *guess = narrowed;
  return true;
}

const char *gpnn_date_guess_format(const struct gpnn_date_guess *guess, const char **other)
{
  const char *first = NULL;
  *other = NULL;
  for (size_t i = 0; i < N_FORMATS && guess->n > 0 && *other == NULL; i++) {
    if (is_rejected(guess, i)) continue;
    if (first == NULL)
      first = formats[i];
    else
      *other = formats[i];
  }
  return first;
}
